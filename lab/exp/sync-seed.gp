# SPDX-License-Identifier: GPL-2.0
#
# Errors of the delays that decisions were made by over time, from LOAD-KERNEL.errors.

loads = system("cd " . dir . " && ls *-onrampd.errors | sed 's/-onrampd.errors//' | tr '\\n' ' '")

do for [format in 'svg png'] {
	do for [load in loads] {
		if (format eq 'svg') {
			set terminal svg size 1000,600 font 'sans,14' background rgb 'white'
		} else {
			set terminal pngcairo size 1000,600 font 'sans,12'
		}
		set output dir . '/seed-' . load . '.' . format
		set title 'Error of the delay of a queue, 10 Gbit/s, 80 % load: ' . load
		set xlabel 'virtual time since the first OR-ACK of a path (s)'
		set ylabel 'error (us)'
		set grid lc rgb '#d0d0d0'
		set key outside bottom center horizontal
		plot for [kernel in 'alone onrampd'] dir . '/' . load . '-' . kernel . '.errors' \
			using 1:($2 / 1000) with points pt 7 ps 0.25 title kernel
		unset output
	}
}
