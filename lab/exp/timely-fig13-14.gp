# SPDX-License-Identifier: GPL-2.0
#
# RTTs and rates of four connections (figure 13), and the distribution of RTTs (figure 14).

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 1500,460 font 'sans,13' background rgb 'white'
	} else {
		set terminal pngcairo size 1500,460 font 'sans,11'
	}
	set output dir . '/fig13-14.' . format
	set multiplot layout 1,3 title "40 flows of 10 hosts into a port of 20 Gbit/s"
	set grid lc rgb '#d0d0d0'
	array color[4] = ['#1b7837', '#2166ac', '#b2182b', '#e08214']
	set key top right opaque
	set xlabel 'time (ms)'
	set ylabel 'RTT (us)'
	set yrange [0:150]
	plot for [i = 1:4] sprintf('%s/flow%d', dir, i) using 1:2 with points pt 7 ps 0.2 \
		lc rgb color[i] title sprintf('connection %d', i)
	set ylabel 'rate (Mbit/s)'
	set yrange [0:1200]
	plot for [i = 1:4] sprintf('%s/flow%d', dir, i) using 1:3 with lines lw 1 \
		lc rgb color[i] title sprintf('connection %d', i)
	set xlabel 'RTT (us)'
	set ylabel 'share of RTTs'
	set yrange [0:1]
	set logscale x
	set key bottom right
	plot dir . '/timely.cdf' with lines lw 2 lc rgb color[1] title 'TIMELY, NIC stamps', \
		dir . '/dctcp.cdf' with lines lw 2 lc rgb color[2] title 'DCTCP, K = 80 KB', \
		dir . '/cubic.cdf' with lines lw 2 lc rgb color[3] title 'CUBIC'
	unset logscale x
	unset multiplot
	unset output
}
