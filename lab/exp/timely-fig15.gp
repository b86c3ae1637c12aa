# SPDX-License-Identifier: GPL-2.0
#
# Goodput and p99 of RTTs against Tlow, for each size of segments, from table.txt.

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 1000,480 font 'sans,14' background rgb 'white'
	} else {
		set terminal pngcairo size 1000,480 font 'sans,12'
	}
	set output dir . '/fig15.' . format
	set multiplot layout 1,2 title "40 flows of 10 hosts into a port of 20 Gbit/s, by Tlow and segment"
	set xlabel 'Tlow (us)'
	set grid lc rgb '#d0d0d0'
	table = dir . '/table.txt'
	array color[3] = ['#2166ac', '#1b7837', '#b2182b']
	array kb[3] = [16, 32, 64]
	set ylabel 'goodput (Gbit/s)'
	set yrange [0:20]
	set key bottom right
	plot for [i = 1:3] table using ($1 == kb[i] ? $2 : NaN):3 every ::2 with linespoints \
		pt 7 lw 2 lc rgb color[i] title sprintf('%d KB', kb[i])
	set ylabel 'RTT, p99 (us)'
	set yrange [0:*]
	set key top left
	plot for [i = 1:3] table using ($1 == kb[i] ? $2 : NaN):5 every ::2 with linespoints \
		pt 7 lw 2 lc rgb color[i] title sprintf('%d KB', kb[i])
	unset multiplot
	unset output
}
