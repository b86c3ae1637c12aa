# SPDX-License-Identifier: GPL-2.0
#
# Rates of 2, then 12 DCQCN flows, for two pairs of timers, with and without On-Ramp.

array run[4] = ['fq-55', 'fq-300', 'onramp-55', 'onramp-300']
array what[4] = ['Ti 55, Td 50 us, fq', 'Ti 300, Td 4 us, fq', 'Ti 55, Td 50 us, On-Ramp', 'Ti 300, Td 4 us, On-Ramp']
do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 1100,800 font 'sans,13' background rgb 'white'
	} else {
		set terminal pngcairo size 1100,800 font 'sans,11'
	}
	set output dir . '/rates.' . format
	set multiplot layout 2,2 title '12 DCQCN flows at 100 Gbit/s, ten of which join two'
	set grid lc rgb '#d0d0d0'
	set xlabel 'virtual time (ms)'
	set ylabel 'rate (Gbit/s)'
	set yrange [0:110]
	set key outside bottom center horizontal
	do for [i = 1:4] {
		set title what[i]
		series = dir . '/' . run[i] . '.series'
		plot series using ($1 * 1e3):2 with lines lw 1.5 lc rgb 'black' title 'all', \
			'' using ($1 * 1e3):3 with lines lc rgb '#0072b2' title 'one of the first', \
			'' using ($1 * 1e3):4 with lines lc rgb '#d55e00' title 'one of the others'
	}
	unset multiplot
	unset output
}
