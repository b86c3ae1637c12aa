# SPDX-License-Identifier: GPL-2.0
#
# Completion times of incast requests over the share of OR-ACKs, a point for each setting.

table = dir . '/table.txt'
ccs = system("awk 'NR > 1 && !seen[$1]++ { print $1 }' " . table)
of(cc, column) = sprintf("< awk '$1 == \"%s\" && $2 != \"-\" { print $4, $%d, $2 \"/\" $3 }' %s", \
			 cc, column, table)

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 1000,600 font 'sans,13' background rgb 'white'
	} else {
		set terminal pngcairo size 1000,600 font 'sans,11'
	}
	set termoption noenhanced
	set output dir . '/acks.' . format
	set title exp . ': requests by the share of OR-ACKs; labels: ack_packets / path_interval, ms'
	set grid lc rgb '#d0d0d0'
	set key outside right top
	set xlabel 'OR-ACKs, % of the data'
	set ylabel 'request completion time (us)'
	set xrange [0:*]
	set yrange [0:*]
	set arrow 1 from 0.2, graph 0 to 0.2, graph 1 nohead lc rgb '#8c8c8c' dt 2
	plot for [cc in ccs] of(cc, 7) using 1:2 with linespoints pt 7 title cc . ', p99', \
	     for [cc in ccs] of(cc, 5) using 1:2 with linespoints pt 5 title cc . ', mean', \
	     of(word(ccs, 1), 5) using 1:2:3 with labels rotate by 60 left offset 0,1 notitle
	unset output
}
