# SPDX-License-Identifier: GPL-2.0
#
# What the victim receives over time, from *.series.

array names[6] = ['cubic', 'cubic_onramp', 'timely_auto', 'timely_auto_onramp', 'dcqcn', 'mercury']
array titles[6] = ['CUBIC', 'CUBIC, On-Ramp', 'TIMELY auto', 'TIMELY auto, On-Ramp', 'DCQCN', 'Mercury']
array colours[6] = ['#92c5de', '#2166ac', '#a6dba0', '#1b7837', '#e08214', '#b2182b']
do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 900,450 font 'sans,14' background rgb 'white'
	} else {
		set terminal pngcairo size 900,450 font 'sans,12'
	}
	set output dir . '/victim.' . format
	set title 'eight hosts send to h4 from 5 to 15 ms: the victim F1, over 0.25 ms'
	set xlabel 'time (ms)'
	set ylabel 'Gbit/s of payload'
	set yrange [0:21]
	set xrange [0:25]
	set grid lc rgb '#d0d0d0'
	set key opaque outside right
	plot for [i = 1:6] file = dir . '/' . names[i] . '.series' \
		system('test -e ' . file . ' && echo ' . file . ' || echo /dev/null') \
		using ($1 / 1000):2 with lines lw 2 lc rgb colours[i] title titles[i]
	unset output
}
