# SPDX-License-Identifier: GPL-2.0
#
# Completion times of requests, and of flows by size, by fq and by On-Ramp under each congestion control: means,
# and 95th percentiles as whiskers, as the paper has them.

table = dir . '/table.txt'
# Lines of fq are even, those of On-Ramp odd, after one of names.
sizes = exp eq 'onramp-fig16'
panels = sizes ? '3:requests 5:all_flows' : '3:requests 7:flows_up_to_10_KB 9:up_to_1_MB 11:up_to_30_MB'
column_of(panel) = int(word(panels, panel)[1:strstrt(word(panels, panel), ':') - 1])
name_of(panel) = word(panels, panel)[strstrt(word(panels, panel), ':') + 1:]

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 1000,800 font 'sans,13' background rgb 'white'
	} else {
		set terminal pngcairo size 1000,800 font 'sans,11'
	}
	set output dir . '/completion.' . format
	set multiplot layout (sizes ? 1 : 2),2 title exp . ': means, and p95 above; 100 and 400 Gbit/s, PFC'
	set grid y lc rgb '#d0d0d0'
	set key top right
	set logscale y
	set style fill solid 0.85 noborder
	set boxwidth 0.35
	set xrange [-0.6:*]
	set xtics rotate by -30
	set ylabel 'us'
	do for [p = 1:words(panels)] {
		c = column_of(p)
		set title name_of(p) noenhanced
		plot table using ($0 - 0.2):c every 2::1 with boxes lc rgb '#8c8c8c' title 'fq', \
			table using ($0 - 0.2):c:c:(column(c + 1)) every 2::1 with yerrorbars pt 0 lc rgb '#404040' notitle, \
			table using ($0 + 0.2):c:xtic(1) every 2::2 with boxes lc rgb '#1f6fb4' title 'On-Ramp', \
			table using ($0 + 0.2):c:c:(column(c + 1)) every 2::2 with yerrorbars pt 0 lc rgb '#404040' notitle
	}
	unset multiplot
	unset output
}
