# SPDX-License-Identifier: GPL-2.0
#
# theta-PowerTCP: RTTs by number of flows, from table.txt; the line is the theorem.

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 700,480 font 'sans,14' background rgb 'white'
	} else {
		set terminal pngcairo size 700,480 font 'sans,12'
	}
	set output dir . '/thpower.' . format
	set title 'theta-PowerTCP: flows of 10 hosts into 10 Gbit/s'
	set xlabel 'flows'
	set ylabel 'RTT (us)'
	set xrange [0:*]
	set yrange [0:*]
	set key top left
	set grid lc rgb '#d0d0d0'
	table = dir . '/table.txt'
	plot 30 + 3 * x with lines lw 1 lc rgb '#808080' title 'the paper: theorem 1', \
		table using 1:3 every ::2 with points pt 7 lc rgb '#2166ac' title 'mean', \
		table using 1:4 every ::2 with points pt 6 lc rgb '#b2182b' title 'p99'
	unset output
}
