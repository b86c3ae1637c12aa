# SPDX-License-Identifier: GPL-2.0
#
# Use of the root link and of the link between the switches by the size of the input buffers.

array laws[3] = ['lipd', 'fimd', 'ibaimd']
array colours[3] = ['#2166ac', '#b2182b', '#1b7837']
line(law, rates, column) = sprintf( \
	"< awk '$1 == \"%s\" && $2 == \"%s\" && $4 == 32 { print $3, $%d }' %s/table", \
	law, rates, column, dir)
do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 900,400 font 'sans,14' background rgb 'white'
	} else {
		set terminal pngcairo size 900,400 font 'sans,12'
	}
	set output dir . '/fig6.' . format
	set multiplot layout 1,2 title 'static flows, % of a link; dashed: discrete rates'
	set xlabel 'packets per input port'
	set logscale x 2
	set xrange [1.8:36]
	set yrange [40:101]
	set grid lc rgb '#d0d0d0'
	set key opaque right bottom
	do for [part = 1:2] {
		set title part == 1 ? 'root' : 'between the switches'
		plot for [i = 1:3] line(laws[i], 'continuous', 4 + part) using 1:2 \
				with linespoints lw 2 lc rgb colours[i] title laws[i], \
			for [i = 1:3] line(laws[i], 'discrete', 4 + part) using 1:2 \
				with lines lw 2 dt 2 lc rgb colours[i] notitle
	}
	unset multiplot
	unset output
}
