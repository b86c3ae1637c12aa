# SPDX-License-Identifier: GPL-2.0
#
# What hosts with On-Ramp have of their fair share, and the same hosts with fq.

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 800,500 font 'sans,13' background rgb 'white'
	} else {
		set terminal pngcairo size 800,500 font 'sans,11'
	}
	set termoption noenhanced
	set output dir . '/mixed.' . format
	set title exp . ': part of the fair share of hosts with On-Ramp'
	set style data histograms
	set style fill solid 0.8
	set grid y lc rgb '#d0d0d0'
	set key top right horizontal
	set xlabel 'hosts with On-Ramp, of 8'
	set yrange [0:1.4]
	plot dir . '/table.txt' every ::2 using 2:xtic(1) title 'On-Ramp', \
	     '' every ::2 using 3 title 'its worst second', \
	     '' every ::2 using 4 title 'fq', '' every ::2 using 5 title 'its worst second'
	unset output
}
