# SPDX-License-Identifier: GPL-2.0
#
# The rate from Rmin to Rmax by each law, from *.series, and the formulas of section V.

t_rec = 256 * 2.068e-3
fimd(t) = t < 8 * t_rec ? 2 ** (t / t_rec) / 256 : 1
lipd(t) = t < 255 * t_rec ? 1 / (256 - t / t_rec) : 1
aimd(t) = t < 255 * t_rec ? (1 + t / t_rec) / 256 : 1
do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 800,400 font 'sans,14' background rgb 'white'
	} else {
		set terminal pngcairo size 800,400 font 'sans,12'
	}
	set output dir . '/fig5.' . format
	set title 'From Rmin = Rmax / 256 to Rmax'
	set xlabel 'time (ms)'
	set ylabel 'R / Rmax'
	set xrange [0:150]
	set yrange [0:1.05]
	set samples 2000
	set grid lc rgb '#d0d0d0'
	set key outside right
	plot dir . '/fimd.series' with steps lw 3 lc rgb '#b2182b' title 'fimd', \
		dir . '/lipd.series' with steps lw 3 lc rgb '#2166ac' title 'lipd', \
		dir . '/aimd.series' with steps lw 3 lc rgb '#1b7837' title 'ibaimd', \
		fimd(x) lc rgb 'black' dt 2 title 'formulas', \
		lipd(x) lc rgb 'black' dt 2 notitle, \
		aimd(x) lc rgb 'black' dt 2 notitle
	unset output
}
