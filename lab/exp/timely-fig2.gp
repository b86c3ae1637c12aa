# SPDX-License-Identifier: GPL-2.0
#
# Distributions of measured RTTs and of the queue, from NAME.cdf.

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 1200,560 font 'sans,14' background rgb 'white'
	} else {
		set terminal pngcairo size 1200,560 font 'sans,12'
	}
	set output dir . '/fig2.' . format
	set multiplot layout 1,2 title "100 flows of 10 clients into a port of 10 Gbit/s:\n".\
		"RTTs by NIC stamps, less that of the idle path, and the port's queue"
	set xlabel 'delay (us)'
	set ylabel 'share'
	set yrange [0:1]
	set xrange [0:*]
	set grid lc rgb '#d0d0d0'
	set key bottom right
	set title 'by time'
	plot dir . '/each_us.cdf' with steps lw 5 lc rgb '#a6dba0' \
			title 'queue, each microsecond', \
		dir . '/rtts_each_us.cdf' with steps lw 2 lc rgb '#b2182b' \
			title 'as RTTs tell it'
	set title 'by packets'
	plot dir . '/found.cdf' with steps lw 5 lc rgb '#a6dba0' \
			title 'queue, as measured packets found it', \
		dir . '/rtts.cdf' with steps lw 2 lc rgb '#b2182b' \
			title 'measured RTT - idle RTT'
	unset multiplot
	unset output
}
