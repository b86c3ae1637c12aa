# SPDX-License-Identifier: GPL-2.0
#
# TIMELY's figure 16: goodput by the NIC's pacing rate, with and without Tlow; the paper's two rates beside.

table = dir . '/table.txt'
$paper << EOD
700 18.9 18.4
10000 11.2 10.2
EOD
rate(x) = x == 0 ? 10000 : x
do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 700,480 font 'sans,14' background rgb 'white'
	} else {
		set terminal pngcairo size 700,480 font 'sans,12'
	}
	set output dir . '/pacing.' . format
	set title 'Segments of 64 KB, paced by the NIC: 40 flows into 20 Gbit/s'
	set xlabel 'rate within a segment (Mbit/s); 10000: not paced'
	set ylabel 'goodput (Gbit/s)'
	set logscale x
	set xrange [500:12000]
	set yrange [0:20]
	set key bottom left
	set grid lc rgb '#d0d0d0'
	plot $paper using 1:2 with points pt 6 ps 1.5 lc rgb '#2166ac' title 'paper, Tlow 50 us', \
		$paper using 1:3 with points pt 6 ps 1.5 lc rgb '#b2182b' title 'paper, no Tlow', \
		table using (rate($1)):($2 == 50 ? $3 : NaN) skip 2 with points pt 7 lc rgb '#2166ac' title 'here, Tlow 50 us', \
		table using (rate($1)):($2 == 0 ? $3 : NaN) skip 2 with points pt 7 lc rgb '#b2182b' title 'here, no Tlow'
	unset output
}
