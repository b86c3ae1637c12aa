# SPDX-License-Identifier: GPL-2.0
#
# What the long flow receives over time, from *.series.

array names[5] = ['dcqcn', 'tcd', 'timely', 'dctcp', 'mercury']
array titles[5] = ['DCQCN', 'DCQCN + TCD', 'TIMELY', 'DCTCP', 'Mercury']
array colours[5] = ['#2166ac', '#7570b3', '#1b7837', '#e08214', '#b2182b']
do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 900,450 font 'sans,14' background rgb 'white'
	} else {
		set terminal pngcairo size 900,450 font 'sans,12'
	}
	set output dir . '/fig4.' . format
	set title 'eight bursts of 120 KB at 0.6 ms: the long flow h1, over 50 us'
	set xlabel 'time (ms)'
	set ylabel 'Gbit/s of payload'
	set yrange [0:42]
	set xrange [0:2]
	set grid lc rgb '#d0d0d0'
	set key opaque outside right
	plot for [i = 1:5] file = dir . '/' . names[i] . '.series' \
		system('test -e ' . file . ' && echo ' . file . ' || echo /dev/null') \
		using ($1 / 1000):2 with lines lw 2 lc rgb colours[i] title titles[i]
	unset output
}
