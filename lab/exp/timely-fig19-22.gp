# SPDX-License-Identifier: GPL-2.0
#
# Accepted load and RTTs by offered load (figures 19 and 20), from table.txt, and what an
# incast costs others (figure 22), from incast.txt.

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 1300,440 font 'sans,13' background rgb 'white'
	} else {
		set terminal pngcairo size 1300,440 font 'sans,11'
	}
	set output dir . '/fig19-22.' . format
	set multiplot layout 1,3 title "RPCs of 64 KB between racks, with PFC"
	set grid lc rgb '#d0d0d0'
	array cc[2] = ['cubic', 'timely']
	array title[2] = ['CUBIC', 'TIMELY']
	array color[2] = ['#b2182b', '#1b7837']
	table = dir . '/table.txt'
	set key top left
	set style fill solid 0.8
	set xlabel 'offered load'
	set ylabel 'accepted load'
	set xrange [0:1]
	set yrange [0:1]
	plot x with lines lc rgb '#a0a0a0' notitle, for [i = 1:2] table \
		every 2::(i + 1) using 2:3 with linespoints pt 7 lw 2 \
		lc rgb color[i] title title[i]
	set ylabel 'RTT (us)'
	set logscale y
	set yrange [*:*]
	plot for [i = 1:2] table every 2::(i + 1) using 2:4 with linespoints \
			pt 7 lw 2 lc rgb color[i] title title[i] . ', p50', \
		for [i = 1:2] table every 2::(i + 1) using 2:5 with linespoints \
			pt 5 dt 2 lw 2 lc rgb color[i] title title[i] . ', p99'
	unset logscale y
	set xlabel 'background load'
	set ylabel 'throughput beside an incast, of that without it'
	set xrange [0:0.6]
	set yrange [0:1.3]
	set boxwidth 0.03
	plot for [i = 1:2] dir . '/incast.txt' \
		using (strcol(2) eq cc[i] ? $1 + (i - 1.5) * 0.035 : NaN):3 with boxes \
		lc rgb color[i] title title[i]
	unset multiplot
	unset output
}
