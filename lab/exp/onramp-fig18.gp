# SPDX-License-Identifier: GPL-2.0
#
# Times of requests and of flows up to 10 KB by run, from table.txt.

table = dir . '/table.txt'
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.85 noborder

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 1000,500 font 'sans,13' background rgb 'white'
	} else {
		set terminal pngcairo size 1000,500 font 'sans,11'
	}
	set termoption noenhanced
	set output dir . '/times.' . format
	set title exp . ': requests to 40 hosts beside WebSearch at 40 %, 10 Gbit/s'
	set grid y lc rgb '#d0d0d0'
	set key outside right top
	set logscale y
	set ylabel 'us'
	plot table using 2:xtic(1) every ::1 title 'request, mean' lc rgb '#1f6fb4', \
		'' using 3 every ::1 title 'request, p95' lc rgb '#8c8c8c', \
		'' using 4 every ::1 title 'flow up to 10 KB, mean' lc rgb '#2e8b57'
	unset output
}
