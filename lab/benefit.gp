# SPDX-License-Identifier: GPL-2.0
#
# Each row of the matrix of benefit: p99 and p50 of requests, as multiples of those of the paper's equations
# with perfect clocks. lab/benefit gives dir.

cells = dir . '/cells'
rows = system("wc -l <" . cells) - 1
do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 900, 130 + 18 * rows font 'sans,12' background rgb 'white'
	} else {
		set terminal pngcairo size 900, 130 + 18 * rows font 'sans,10'
	}
	set termoption noenhanced
	set output dir . '/benefit.' . format
	set title "Requests, as multiples of the paper's equations with perfect clocks"
	set logscale x
	set xrange [0.5:*]
	set yrange [rows + 0.5:0.5]
	set grid x y lc rgb '#d8d8d8'
	set key outside bottom center horizontal
	set lmargin 20
	set arrow 1 from 1.1, graph 0 to 1.1, graph 1 nohead lc rgb '#2e8b57' dt 2
	# Columns: 2, 3 fq; 4, 5 On-Ramp by fq; 6, 7 by the paper's.
	plot cells skip 1 using ($6 / $4):($0 + 1):ytic(1) with points pt 4 ps 0.6 lc rgb '#a0a0a0' \
			title 'fq, p50', \
		cells skip 1 using ($7 / $5):($0 + 1) with points pt 5 ps 0.6 lc rgb '#a0a0a0' \
			title 'fq, p99', \
		cells skip 1 using 6:($0 + 1) with points pt 6 ps 0.7 lc rgb '#1f6fb4' \
			title 'On-Ramp, p50', \
		cells skip 1 using 7:($0 + 1) with points pt 7 ps 0.7 lc rgb '#1f6fb4' \
			title 'On-Ramp, p99'
	unset output
}
