# SPDX-License-Identifier: GPL-2.0
#
# What the root link, the link between the switches and each group of senders have over time, from
# *.series: one file for each part of figure 3.

array names[4] = ['a', 'b', 'c', 'd']
array titles[4] = ['(a) window 64, 1 remote', '(b) window 1, 1 remote', \
		'(c) window 1, 5 remotes', '(d) window 1, 5 remotes, fixed rates']
do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 900,700 font 'sans,14' background rgb 'white'
	} else {
		set terminal pngcairo size 900,700 font 'sans,12'
	}
	set output dir . '/fig3.' . format
	set multiplot layout 2,2 title '5 locals, 4 packets per input port; % of a link, over 2 ms'
	set xlabel 'time (ms)'
	set yrange [0:110]
	set grid lc rgb '#d0d0d0'
	set key opaque center right font ',10'
	do for [i = 1:4] {
		set title titles[i]
		file = dir . '/' . names[i] . '.series'
		plot file using 1:2 with lines lw 2 lc rgb '#000000' title 'root', \
			file using 1:3 with lines lw 2 lc rgb '#7570b3' title 'between switches', \
			file using 1:4 with lines lw 2 lc rgb '#2166ac' title 'locals', \
			file using 1:5 with lines lw 2 lc rgb '#1b7837' title 'remotes', \
			file using 1:6 with lines lw 2 lc rgb '#b2182b' title 'victim'
	}
	unset multiplot
	unset output
}
