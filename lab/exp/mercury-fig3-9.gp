# SPDX-License-Identifier: GPL-2.0
#
# What the victim F1 and the culprit F2 receive over time, from *.series.

array names[5] = ['dcqcn_8', 'tcd_8', 'timely_8', 'dctcp_8', 'mercury_8']
array titles[5] = ['DCQCN', 'DCQCN + TCD', 'TIMELY', 'DCTCP', 'Mercury']
array colours[5] = ['#2166ac', '#7570b3', '#1b7837', '#e08214', '#b2182b']
do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 900,700 font 'sans,14' background rgb 'white'
	} else {
		set terminal pngcairo size 900,700 font 'sans,12'
	}
	set output dir . '/fig9.' . format
	set multiplot layout 2,1 title 'bursts behind h4 from 3 to 3.5 ms; Gbit/s of payload, over 100 us'
	set xlabel 'time (ms)'
	set yrange [0:22]
	set xrange [2:10]
	set grid lc rgb '#d0d0d0'
	set key opaque outside right
	do for [flow = 1:2] {
		set title flow == 1 ? 'the victim F1' : 'the culprit F2'
		plot for [i = 1:5] file = dir . '/' . names[i] . '.series' \
			system('test -e ' . file . ' && echo ' . file . ' || echo /dev/null') \
			using ($1 / 1000):(column(flow + 1)) with lines lw 2 lc rgb colours[i] \
			title titles[i]
	}
	unset multiplot
	unset output
}
