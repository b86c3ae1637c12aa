# SPDX-License-Identifier: GPL-2.0
#
# Completion times relative to DCQCN's, by sizes of flows, load and congestion control.

array sizes[4] = ['hadoop', 'webserver', 'cachefollower', 'websearch']
array ccs[5] = ['dcqcn', 'mercury', 'timely', 'dctcp', 'tcd']
array colours[5] = ['#2166ac', '#b2182b', '#1b7837', '#e08214', '#7570b3']
share(cc, column) = sprintf( \
	"< awk '{ c = $1 \"-\" $3 } NR > 2 && $2 == \"dcqcn\" { b[c] = $%d } " . \
	"NR > 2 && $2 == \"%s\" { v[c] = $%d; if (!(c in n)) { n[c]; o[++k] = c } } " . \
	"END { for (i = 1; i <= k; i++) print o[i], v[o[i]] / b[o[i]] }' %s/table", \
	column, cc, column, dir)
do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 900,400 font 'sans,14' background rgb 'white'
	} else {
		set terminal pngcairo size 900,400 font 'sans,12'
	}
	set output dir . '/fig11-14.' . format
	set multiplot layout 1,2 title 'completion times, as a share of those with DCQCN'
	set style data histograms
	set style fill solid 0.8
	set yrange [0:*]
	set grid ytics lc rgb '#d0d0d0'
	set xtics rotate by -30
	set key outside top horizontal font ',9'
	do for [part = 1:2] {
		set title part == 1 ? 'mean' : '99th percentile'
		plot for [i = 1:5] share(ccs[i], 5 + part) using 2:xtic(1) lc rgb colours[i] title ccs[i]
	}
	unset multiplot
	unset output
}
