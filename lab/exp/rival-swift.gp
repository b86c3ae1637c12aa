# SPDX-License-Identifier: GPL-2.0
#
# Swift: mean and p99 of RTTs against the target, from table.txt; the paper's line is the target.

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 700,480 font 'sans,14' background rgb 'white'
	} else {
		set terminal pngcairo size 700,480 font 'sans,12'
	}
	set output dir . '/swift.' . format
	set title 'Swift: 20 flows of 10 hosts into 10 Gbit/s'
	set xlabel 'target (us)'
	set ylabel 'RTT (us)'
	set xrange [0:*]
	set yrange [0:*]
	set key top left
	set grid lc rgb '#d0d0d0'
	table = dir . '/table.txt'
	plot x with lines lw 1 lc rgb '#808080' title 'the paper: at the target', \
		table using ($1 == 20 ? $2 : NaN):6 every ::2 with points pt 7 lc rgb '#2166ac' title 'mean', \
		table using ($1 == 20 ? $2 : NaN):7 every ::2 with points pt 6 lc rgb '#b2182b' title 'p99'
	unset output
}
