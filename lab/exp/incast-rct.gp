# SPDX-License-Identifier: GPL-2.0
#
# Request completion times, and slowdown of the flows beside them, from table.txt.

set style data histograms
set style histogram clustered gap 1
set style fill solid 0.85 noborder
table = dir . '/table.txt'
array names[12] = ['', 'mean', 'p50', 'p90', 'p95', 'p99', 'p50, up to 10 KB', \
	'p99, up to 10 KB', 'p50, up to 1 MB', 'p99, up to 1 MB', 'p50, above', 'p99, above']

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 1000,800 font 'sans,13' background rgb 'white'
	} else {
		set terminal pngcairo size 1000,800 font 'sans,11'
	}
	set output dir . '/rct.' . format
	set multiplot layout 2,1 title 'Incast of 40 x 2 KB at 2 %, WebSearch at 40 %, 10 Gbit/s, fq'
	set grid y lc rgb '#d0d0d0'
	set key outside right top
	set logscale y

	set ylabel 'request completion time (us)'
	plot for [i = 2:6] table using i:xtic(1) every ::2 title names[i]
	set ylabel 'slowdown of WebSearch flows'
	plot for [i = 7:12] table using i:xtic(1) every ::2 title names[i]
	unset multiplot
	unset output
}
