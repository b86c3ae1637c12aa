# SPDX-License-Identifier: GPL-2.0
#
# Completion times of incast requests, and of WebSearch flows relative to fq's mean.

table = dir . '/table.txt'
# Columns: a name, each kind, and for each but fq its ratio.
kinds = words(system('head -n 1 ' . table)) / 2
batches = kinds - 2
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.85 noborder

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 1000,800 font 'sans,13' background rgb 'white'
	} else {
		set terminal pngcairo size 1000,800 font 'sans,11'
	}
	set termoption noenhanced
	set output dir . '/completion.' . format
	set multiplot layout 2,1 title exp . ': requests to 40 hosts beside flows, 10 Gbit/s'
	set grid y lc rgb '#d0d0d0'
	set key outside right top
	set offsets 0, 0, graph 0.1, 0
	set yrange [0:*]
	set ylabel 'request completion time (us)'
	plot table using 2:xtic(1) every ::1::4 title 'fq' lc rgb '#8c8c8c', \
		'' using 3 every ::1::4 title 'On-Ramp' lc rgb '#1f6fb4', \
		for [i = 1:batches] '' using 4 every ::1::4 title 'On-Ramp, 16 KB batches' \
			lc rgb '#2e8b57', \
		'' using ($0):(column(3)):(sprintf('/ %.1f', column(kinds + 2))) every ::1::4 \
			with labels offset 0,0.6 notitle, \
		for [i = 1:batches] '' using ($0 + 0.25):(column(4)):(sprintf('/ %.1f', column(6))) \
			every ::1::4 with labels offset 0,0.6 notitle
	set ylabel 'flow completion time, fq = 1'
	set xtics rotate by -30
	plot table using (1.0):xtic(1) every ::5::16 title 'fq' lc rgb '#8c8c8c', \
		'' using (column(3) / column(2)) every ::5::16 title 'On-Ramp' lc rgb '#1f6fb4', \
		for [i = 1:batches] '' using (column(4) / column(2)) every ::5::16 \
			title 'On-Ramp, 16 KB batches' lc rgb '#2e8b57'
	unset multiplot
	unset output
}
