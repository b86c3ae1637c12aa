# SPDX-License-Identifier: GPL-2.0
#
# Goodput, RTT and window of every flow over time, out of NAME.csv as lab_client
# leaves it. An experiment's own .gp file sets `name` and `title` and loads this;
# lab/run gives dir (results), lab (this directory), exp.

csv = dir . '/' . name . '.csv'
set datafile separator ','
stats csv using 2 skip 1 nooutput
last = int(STATS_max)

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 1000,1000 font 'sans,13' background rgb 'white'
	} else {
		set terminal pngcairo size 1000,1000 font 'sans,11'
	}
	set output dir . '/' . name . '.' . format
	set multiplot layout 3,1 title title
	set grid lc rgb '#d0d0d0'
	set key outside right top
	set xlabel 'virtual time (ms)'
	set yrange [0:*]

	set ylabel 'goodput (Gbit/s)'
	plot for [i = 0:last] csv using ($1 * 1e3):(int($2) == i ? $3 / 1e9 : NaN) \
		skip 1 with points pt 7 ps 0.3 lc i + 1 title sprintf('flow %d', i)
	set ylabel 'RTT (us)'
	plot for [i = 0:last] csv using ($1 * 1e3):(int($2) == i ? $4 : NaN) \
		skip 1 with points pt 7 ps 0.3 lc i + 1 title sprintf('flow %d', i)
	set ylabel 'congestion window (segments)'
	plot for [i = 0:last] csv using ($1 * 1e3):(int($2) == i ? $9 : NaN) \
		skip 1 with points pt 7 ps 0.3 lc i + 1 title sprintf('flow %d', i)
	unset multiplot
	unset output
}
