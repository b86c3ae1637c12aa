# SPDX-License-Identifier: GPL-2.0
#
# Goodput against the mean noise, from table.txt.

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 900,560 font 'sans,14' background rgb 'white'
	} else {
		set terminal pngcairo size 900,560 font 'sans,12'
	}
	set output dir . '/fig12.' . format
	set title "40 flows of 10 clients into a port of 20 Gbit/s:\nlate interrupts at the clients, by TIMELY's source of RTTs"
	set xlabel 'mean of the noise (us)'
	set ylabel 'goodput (Gbit/s)'
	set xrange [0:*]
	set yrange [0:20]
	set grid lc rgb '#d0d0d0'
	set key center right
	table = dir . '/table.txt'
	plot table using 2:3 every ::2 with linespoints pt 7 lw 2 lc rgb '#1b7837' \
			title 'NIC stamps', \
		table using 2:4 every ::2 with linespoints pt 5 lw 2 lc rgb '#b2182b' \
			title "TCP's clock"
	unset output
}
