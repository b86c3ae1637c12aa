# SPDX-License-Identifier: GPL-2.0
#
# Rate of a connection over time, with segments of 16 KB, from *.series.

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 900,480 font 'sans,14' background rgb 'white'
	} else {
		set terminal pngcairo size 900,480 font 'sans,12'
	}
	set output dir . '/fig18.' . format
	set title "Nine of ten connections of each host end at 0: mean of those that stay"
	set xlabel 'time (ms)'
	set ylabel 'rate (Mbit/s)'
	set xrange [-50:100]
	set yrange [0:2000]
	set grid lc rgb '#d0d0d0'
	set key bottom right
	plot dir . '/s16-low50-n5.series' with lines lw 2 lc rgb '#2166ac' \
			title 'N = 5, Tlow 50 us', \
		dir . '/s16-low0-n5.series' with lines lw 2 lc rgb '#1b7837' title 'N = 5, no Tlow', \
		dir . '/s16-low0-n1.series' with lines lw 2 lc rgb '#b2182b' \
			title 'fixed increment, no Tlow'
	unset output
}
