# SPDX-License-Identifier: GPL-2.0
#
# (a) what dynamic and static flows have of the root, with new and with persistent state; (b) use of
# the root by each law, by the mean ON time.

line(law, state, statics, column, slots) = sprintf( \
	"< awk '$1 == \"%s\" && $3 == \"%s\" && ($7 > 0) == %d && $10 == %d { print $2, $%d }' %s/table", \
	law, state, statics, slots, column, dir)
array laws[3] = ['lipd', 'fimd', 'ibaimd']
array colours[3] = ['#2166ac', '#b2182b', '#1b7837']
do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 900,400 font 'sans,14' background rgb 'white'
	} else {
		set terminal pngcairo size 900,400 font 'sans,12'
	}
	set output dir . '/fig7.' . format
	set multiplot layout 1,2 title 'flows that come and go, % of the root'
	set xlabel 'mean ON time (ms)'
	set logscale x
	set xrange [0.015:40]
	set yrange [0:105]
	set grid lc rgb '#d0d0d0'
		set title '(a) lipd, half of the flows static'
	set key outside bottom horizontal font ',9'
	plot line('lipd', 'new', 1, 6, 4) using 1:2 with linespoints lw 2 lc rgb '#b2182b' \
			title 'dynamic', \
		line('lipd', 'new', 1, 7, 4) using 1:2 with linespoints lw 2 lc rgb '#2166ac' \
			title 'static', \
		line('lipd', 'persistent', 1, 6, 4) using 1:2 with linespoints dt 2 lw 2 \
			lc rgb '#b2182b' title 'dynamic, persistent state', \
		line('lipd', 'persistent', 1, 7, 4) using 1:2 with linespoints dt 2 lw 2 \
			lc rgb '#2166ac' title 'static, persistent state'
	set title '(b) all dynamic, persistent state'
	set yrange [60:101]
	plot for [i = 1:3] line(laws[i], 'persistent', 0, 4, 4) using 1:2 with linespoints lw 2 \
			lc rgb colours[i] title laws[i], \
		for [i = 1:3] line(laws[i], 'persistent', 0, 4, 8) using 1:2 with linespoints lw 2 \
			dt 2 lc rgb colours[i] title laws[i] . ', 8 packets'
	unset multiplot
	unset output
}
