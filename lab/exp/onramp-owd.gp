# SPDX-License-Identifier: GPL-2.0
#
# Errors of the delays that decisions were made by over time, from LOAD-PAIR.errors.

loads = system("cd " . dir . " && ls *-ahead.errors | sed 's/-ahead.errors//' | tr '\\n' ' '")
pairs = 'synced nic behind ahead twice perfect'
names = '"synced within 2 us" "NICs synced within 3 us" "relative, -50 ppm" "relative, +50 ppm" "relative, +100 ppm" "perfect clocks"'

do for [format in 'svg png'] {
	do for [load in loads] {
		if (format eq 'svg') {
			set terminal svg size 1000,600 font 'sans,14' background rgb 'white'
		} else {
			set terminal pngcairo size 1000,600 font 'sans,12'
		}
		set output dir . '/owd-' . load . '.' . format
		set title 'Error of the delay of a queue, 10 Gbit/s, 80 % load: ' . load
		set xlabel 'virtual time since the first OR-ACK (s)'
		set ylabel 'error (us)'
		set yrange [-6:6]
		set grid lc rgb '#d0d0d0'
		set key outside bottom center horizontal
		plot for [i = 1:6] dir . '/' . load . '-' . word(pairs, i) . '.errors' \
			using 1:($2 / 1000) with points pt 7 ps 0.25 title word(names, i)
		unset output
	}
}
