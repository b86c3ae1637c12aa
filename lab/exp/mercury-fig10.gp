# SPDX-License-Identifier: GPL-2.0
#
# The mean and the 99th percentile of the completion times, and the longest queue, of each run.

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 900,450 font 'sans,14' background rgb 'white'
	} else {
		set terminal pngcairo size 900,450 font 'sans,12'
	}
	set output dir . '/fig10.' . format
	set multiplot layout 1,2 title "Hadoop's flows at 80 % load; mercury\\_k5: K of 5 KB"
	set style data histograms
	set style fill solid 0.8
	set yrange [0:*]
	set grid ytics lc rgb '#d0d0d0'
	set xtics rotate by -40 noenhanced
	set key top right
	set title 'completion time (us)'
	plot dir . '/table' every ::2 using 2:xtic(1) lc rgb '#2166ac' title 'mean', \
		'' every ::2 using 4 lc rgb '#b2182b' title 'p99'
	set title 'longest queue (KB)'
	plot dir . '/table' every ::2 using 5:xtic(1) lc rgb '#1b7837' notitle
	unset multiplot
	unset output
}
