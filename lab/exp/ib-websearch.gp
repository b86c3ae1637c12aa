# SPDX-License-Identifier: GPL-2.0
#
# Completion times of small flows and of requests by congestion control, from the table.

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 900,400 font 'sans,14' background rgb 'white'
	} else {
		set terminal pngcairo size 900,400 font 'sans,12'
	}
	set output dir . '/websearch.' . format
	set multiplot layout 1,2 title 'WebSearch at 50 %, incast at 5 %; a switch that marks at 80 KB'
	set style data histograms
	set style fill solid 0.8
	unset logscale
	set yrange [0:*]
	set grid ytics lc rgb '#d0d0d0'
	set xtics rotate by -40 noenhanced
	set key top left
	set title 'mean slowdown of WebSearch'
	plot dir . '/table' every ::2 using 2:xtic(1) lc rgb '#2166ac' notitle
	set title 'requests to ten hosts (us)'
	set yrange [100:300000]
	set logscale y
	plot dir . '/table' every ::2 using 7:xtic(1) lc rgb '#1b7837' title 'p50', \
		'' every ::2 using 8 lc rgb '#b2182b' title 'p99'
	unset multiplot
	unset output
}
