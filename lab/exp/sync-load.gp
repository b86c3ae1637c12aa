# SPDX-License-Identifier: GPL-2.0
#
# Errors of the clocks that each host says of others, over time, from ROW-ESTIMATOR.errors.

rows = system("cd " . dir . " && ls *-bounds.errors | sed 's/-bounds.errors//' | tr '\\n' ' '")

do for [format in 'svg png'] {
	do for [row in rows] {
		if (format eq 'svg') {
			set terminal svg size 1000,600 font 'sans,14' background rgb 'white'
		} else {
			set terminal pngcairo size 1000,600 font 'sans,12'
		}
		set output dir . '/clocks-' . row . '.' . format
		set title 'Difference of two hosts'' clocks, less the truth: ' . row
		set xlabel 'virtual time (s)'
		set ylabel 'error (us)'
		set grid lc rgb '#d0d0d0'
		set key outside bottom center horizontal
		plot for [estimator in 'huygens bounds'] dir . '/' . row . '-' . estimator . '.errors' \
			using 1:($2 / 1000) with points pt 7 ps 0.4 title estimator
		unset output
	}
}
