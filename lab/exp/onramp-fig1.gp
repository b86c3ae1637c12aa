# SPDX-License-Identifier: GPL-2.0
#
# Rates and RTT of 2, then 12 TIMELY flows, for two betas or profile auto, with and without
# On-Ramp.

array run[4] = ['fq-200', 'fq-800', 'onramp-200', 'onramp-800']
array what[4] = ['beta 0.2, fq', 'beta 0.8, fq', 'beta 0.2, On-Ramp', 'beta 0.8, On-Ramp']
runs = 4
if (system("ls " . dir . " | grep -c '^fq-auto.series$'") > 0) {
	run[1] = 'fq-auto'
	run[2] = 'onramp-auto'
	what[1] = 'profile auto, fq'
	what[2] = 'profile auto, On-Ramp'
	runs = 2
}

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 1100,800 font 'sans,13' background rgb 'white'
	} else {
		set terminal pngcairo size 1100,800 font 'sans,11'
	}
	set output dir . '/rates.' . format
	set multiplot layout runs / 2,2 title '12 TIMELY flows at 100 Gbit/s, ten of which join two'
	set grid lc rgb '#d0d0d0'
	set xlabel 'virtual time (ms)'
	set ylabel 'rate (Gbit/s)'
	set y2label 'RTT (us)'
	set ytics nomirror
	set y2tics
	set yrange [0:110]
	set y2range [0:*]
	set key top right font ',9'
	do for [i = 1:runs] {
		set title what[i]
		series = dir . '/' . run[i] . '.series'
		plot series using ($1 * 1e3):($2 / 1e9) with lines lw 1.5 lc rgb 'black' title 'all', \
			'' using ($1 * 1e3):($3 / 1e9) with lines lc rgb '#1f6fb4' \
				title 'one of the first', \
			'' using ($1 * 1e3):($4 / 1e9) with lines lc rgb '#2e8b57' \
				title 'one of the others', \
			'' using ($1 * 1e3):5 axes x1y2 with lines lc rgb '#c44e52' title 'RTT'
	}
	unset multiplot
	unset output

	# Figure 22: the flows' rates on top of each other.
	set output dir . '/stack.' . format
	set multiplot layout runs / 2,2 title 'The same, flow upon flow'
	unset y2label
	unset y2tics
	set autoscale xfix
	set key off
	do for [i = 1:runs] {
		set title what[i]
		plot for [k = 13:2:-1] dir . '/' . run[i] . '.stack' using ($1 * 1e3):k \
			with filledcurves y1=0 lc rgb word('#0072b2 #d55e00 #009e73 #cc79a7 #e69f00 #56b4e9', (k - 2) % 6 + 1)
	}
	unset multiplot
	unset output
}
