# SPDX-License-Identifier: GPL-2.0
#
# RTTs of three controls (figure 9), and the rate of one connection of each (figure 10).

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 1000,480 font 'sans,14' background rgb 'white'
	} else {
		set terminal pngcairo size 1000,480 font 'sans,12'
	}
	set output dir . '/fig9-10.' . format
	set multiplot layout 1,2 title "40 flows of 10 hosts into a port of 20 Gbit/s"
	set grid lc rgb '#d0d0d0'
	array name[3] = ['gradient', 'target50', 'target500']
	array title[3] = ['gradient, 50 and 500 us', 'target of 50 us', 'target of 500 us']
	array color[3] = ['#1b7837', '#2166ac', '#b2182b']
	set xlabel 'RTT (us)'
	set yrange [0:1]
	set ylabel 'share of RTTs'
	set logscale x
	set key bottom right
	plot for [i = 1:3] dir . '/' . name[i] . '.cdf' with lines lw 2 lc rgb color[i] title title[i]
	unset logscale x
	set xlabel 'time (ms)'
	set ylabel 'rate of one connection (Mbit/s)'
	set yrange [0:1500]
	set key top right
	plot for [i = 1:3] dir . '/' . name[i] . '.rate' with steps lw 1 lc rgb color[i] title title[i]
	unset multiplot
	unset output
}
