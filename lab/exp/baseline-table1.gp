# SPDX-License-Identifier: GPL-2.0
#
# Goodput and fairness, RTTs, and their distribution, from table.txt and CC.cdf.

table = dir . '/table.txt'
ccs = system("awk 'NR > 2 { print $1 }' " . table)

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 1000,1100 font 'sans,13' background rgb 'white'
	} else {
		set terminal pngcairo size 1000,1100 font 'sans,11'
	}
	set output dir . '/table1.' . format
	set multiplot layout 3,1 \
		title '10 hosts of 10 Gbit/s, 4 connections each, into one of 20 Gbit/s'
	set grid y lc rgb '#d0d0d0'
	set key outside right top
	set style fill solid 0.85 noborder
	set style data histograms
	set style histogram clustered gap 1

	set ylabel 'goodput (Gbit/s), Jain index x 10'
	set yrange [0:20]
	plot table using 2:xtic(1) every ::2 title 'goodput', \
		'' using ($3 * 10) every ::2 title 'Jain index'
	set ylabel 'RTT (us)'
	set autoscale y
	set logscale y
	plot table using 4:xtic(1) every ::2 title 'mean', \
		'' using 5 every ::2 title 'p50', '' using 6 every ::2 title 'p99'
	unset logscale y
	set logscale x
	set grid x y lc rgb '#d0d0d0'
	set xlabel 'RTT (us)'
	set ylabel 'share of samples'
	set yrange [0:1]
	plot for [cc in ccs] dir . '/' . cc . '.cdf' using 1:2 with steps lw 2 title cc
	unset multiplot
	unset logscale
	unset xlabel
	unset output
}
