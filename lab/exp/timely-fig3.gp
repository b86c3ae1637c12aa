# SPDX-License-Identifier: GPL-2.0
#
# RTT against the fraction of packets with marks in that round trip: each of them (top), and
# boxes by fraction (bottom). As in the paper, whiskers extend to 1.2 times the box.

loads = system("cd " . dir . " && for load in dctcp dctcp-acks dctcp-40; do" . \
	" [ ! -f $load.rounds ] || echo $load; done")
# A box of no points makes gnuplot crash, so these are the boxes that have some.
boxes(load) = system("cut -d' ' -f2 " . dir . "/" . load . ".bins")
set style boxplot range 1.2 outliers pointtype 7
set style fill solid 0.3
do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 450 * words(loads),800 font 'sans,13' background rgb 'white'
	} else {
		set terminal pngcairo size 450 * words(loads),800 font 'sans,11'
	}
	set termoption noenhanced
	set output dir . '/fig3.' . format
	set multiplot layout 2,words(loads) title \
		"Packets with ECN marks in a round trip, and its RTT: 10 Gbit/s, marks from 80 KB on"
	set grid lc rgb '#d0d0d0'
	set key off
	set xlabel 'fraction of packets with marks'
	set ylabel 'RTT (us)'
	set yrange [0:*]
	set xrange [-0.05:1.05]
	do for [i = 1:words(loads)] {
		set title word(loads, i)
		plot dir . '/' . word(loads, i) . '.rounds' using 2:1 with points pt 7 ps 0.2 \
			lc rgb '#1b7837'
	}
	set xrange [-0.7:5.7]
	set xtics font ',9' ('0' 0, '0-0.25' 1, '0.25-0.5' 2, '0.5-0.75' 3, '0.75-1' 4, '1' 5)
	do for [i = 1:words(loads)] {
		set title word(loads, i)
		plot for [b in boxes(word(loads, i))] dir . '/' . word(loads, i) . '.rounds' \
			using (b + 0):($3 == b + 0 ? $1 : NaN):(0.6) with boxplot lc rgb '#1b7837' \
			pointsize 0.2
	}
	set xtics auto font ''
	unset multiplot
	unset output
}
