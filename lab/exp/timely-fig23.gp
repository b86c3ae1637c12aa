# SPDX-License-Identifier: GPL-2.0
#
# RTTs and times of queries by goodput, with PFC alone and with TIMELY, from table.txt.

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 1000,440 font 'sans,13' background rgb 'white'
	} else {
		set terminal pngcairo size 1000,440 font 'sans,11'
	}
	set output dir . '/fig23.' . format
	set multiplot layout 1,2 title "Queries of eight chunks of 64 KB, 16 hosts, with PFC"
	set grid lc rgb '#d0d0d0'
	array kind[3] = ['pfc', 'paper', 'auto']
	array title[3] = ['PFC alone', "TIMELY, the paper's constants", 'TIMELY, auto']
	array color[3] = ['#8c8c8c', '#e69f00', '#1f6fb4']
	table = dir . '/table.txt'
	set key top left
	set logscale y
	set xlabel 'goodput of all (Gbit/s)'
	set xrange [0:160]
	do for [c in '7 5'] {
		set ylabel (c eq '7' ? 'RTT, p99 (us)' : 'query, p99 (us)')
		plot for [i = 1:3] table using (strcol(1) eq kind[i] ? $3 : NaN):(column(int(c))) \
			every ::2 with linespoints pt 7 lw 2 lc rgb color[i] title title[i]
	}
	unset logscale
	unset multiplot
	unset output
}
