# SPDX-License-Identifier: GPL-2.0
#
# The next packet's delay by each signal, in twenty groups of as many packets: median, and from the
# 10th to the 90th percentile.

array names[3] = ['owd', 'rtt', 'ntp']
array titles[3] = ['one-way delay, synchronised', 'round trip', 'one-way delay, clocks as of NTP']
do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 1200,420 font 'sans,13' background rgb 'white'
	} else {
		set terminal pngcairo size 1200,420 font 'sans,11'
	}
	set termoption noenhanced
	set output dir . '/fig6.' . format
	set multiplot layout 1,3 title \
		"Delay of the next packet by what the last OR-ACK tells: WebSearch, 40 % load"
	set grid lc rgb '#d0d0d0'
	set key off
	set ylabel 'next packet, one-way delay (us)'
	set yrange [0:*]
	set xtics 400
	do for [i = 1:3] {
		set xlabel titles[i] . ' (us)'
		plot dir . '/' . names[i] . '.bins' using 1:2:4 with filledcurves \
			fs solid 0.25 lc rgb '#2166ac', \
			'' using 1:3 with linespoints pt 7 ps 0.5 lc rgb '#2166ac'
	}
	unset multiplot
	unset output
}
