# SPDX-License-Identifier: GPL-2.0
#
# What the root link, the link between the switches and each group of senders have over time, from
# *.series: one part for each kind of marks.

array names[2] = ['naive', 'full']
do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 900,400 font 'sans,14' background rgb 'white'
	} else {
		set terminal pngcairo size 900,400 font 'sans,12'
	}
	set output dir . '/fig4.' . format
	set multiplot layout 1,2 title '10 locals, 10 remotes, lipd; % of a link, over 2 ms'
	set xlabel 'time (ms)'
	set yrange [0:110]
	set grid lc rgb '#d0d0d0'
	set key opaque center right font ',10'
	do for [i = 1:2] {
		set title names[i] . ' marks'
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
