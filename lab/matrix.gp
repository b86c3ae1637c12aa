# SPDX-License-Identifier: GPL-2.0
#
# Each row of the matrix: what On-Ramp had of `mode off` in the first two seconds and in the
# worst one after that. lab/matrix gives dir.

cells = dir . '/cells'
rows = system("wc -l <" . cells) - 1
set terminal svg size 1000, 120 + 16 * rows font 'sans,12' background rgb 'white'
set output dir . '/robustness.svg'
set title 'Goodput with On-Ramp, as a share of that with mode off'
set xrange [0:1.25]
set yrange [rows + 0.5:0.5]
set xtics 0.1
set grid x lc rgb '#d0d0d0'
set key outside bottom center horizontal
set lmargin 34
set arrow from 0.95, graph 0 to 0.95, graph 1 nohead lc rgb '#2060c0' dt 2
set arrow from 0.70, graph 0 to 0.70, graph 1 nohead lc rgb '#e08020' dt 2
label(w, p, r, c, v, n) = sprintf('%s%s %s %s %s, %s', p eq 'host' ? '' : p . ' ', w, r, c, v, n)
plot cells skip 1 using 12:0:ytic(label(strcol(1), strcol(2), strcol(3), strcol(4), strcol(5), \
			strcol(6))) \
		with points pt 7 ps 0.01 notitle, \
	cells skip 1 using 11:($0 + 1) with points pt 9 ps 0.7 lc rgb '#e08020' title 'first 2 s (bar 0.7)', \
	cells skip 1 using 12:($0 + 1) with points pt 7 ps 0.7 lc rgb '#2060c0' title 'worst second after that (bar 0.95)'
