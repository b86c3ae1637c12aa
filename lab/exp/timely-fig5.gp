# SPDX-License-Identifier: GPL-2.0
#
# Distributions of the primary incast's RTTs, of each case.

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 800,480 font 'sans,14' background rgb 'white'
	} else {
		set terminal pngcairo size 800,480 font 'sans,12'
	}
	set output dir . '/fig5.' . format
	set title "RTTs of an incast whose ACKs meet the data of another"
	set xlabel 'RTT (us)'
	set ylabel 'share of RTTs'
	set grid lc rgb '#d0d0d0'
	set xrange [0:500]
	set yrange [0:1]
	set key bottom right
	array color[3] = ['#2166ac', '#b2182b', '#1b7837']
	array name[3] = ['none', 'plain', 'prioritised']
	array text[3] = ['no secondary incast', 'with it', 'with it, ACKs prioritised']
	plot for [i = 1:3] dir . '/' . name[i] . '.cdf' using 1:2 with lines lw 2 lc rgb color[i] title text[i]
	unset output
}
