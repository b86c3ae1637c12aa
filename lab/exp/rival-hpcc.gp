# SPDX-License-Identifier: GPL-2.0
#
# HPCC: queue by U, from table.txt; the line is the law's.

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 700,480 font 'sans,14' background rgb 'white'
	} else {
		set terminal pngcairo size 700,480 font 'sans,12'
	}
	set output dir . '/hpcc.' . format
	set title 'HPCC: flows of 16 hosts into 100 Gbit/s'
	set xlabel 'U by the law: 0.95 + flows * W_{AI} / (B T)'
	set ylabel 'mean queue (KB)'
	set y2label 'goodput of the link'
	set xrange [0.94:*]
	set yrange [0:*]
	set y2range [0:1.1]
	set y2tics
	set ytics nomirror
	set key bottom right
	set grid lc rgb '#d0d0d0'
	table = dir . '/table.txt'
	plot (x > 1 ? (x - 1) * 250 : 0) with lines lw 1 lc rgb '#808080' title 'the law: queue', \
		table using 3:5 every ::2 with points pt 7 lc rgb '#2166ac' title 'queue', \
		table using 3:4 every ::2 axes x1y2 with points pt 6 lc rgb '#b2182b' title 'goodput'
	unset output
}
