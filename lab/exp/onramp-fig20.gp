# SPDX-License-Identifier: GPL-2.0
#
# Completion times in two groups of hosts, relative to their mean without On-Ramp.

table = dir . '/table.txt'
set style data histograms
set style histogram errorbars gap 1 lw 1
set style fill solid 0.85 noborder

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 1000,420 font 'sans,13' background rgb 'white'
	} else {
		set terminal pngcairo size 1000,420 font 'sans,11'
	}
	set output dir . '/groups.' . format
	set multiplot layout 1,2 title 'Mean, and 95th percentile, of completion times'
	set grid y lc rgb '#d0d0d0'
	set key top right
	set yrange [0:*]
	do for [group in '1 2'] {
		set title 'group ' . group
		first = group == 1 ? 1 : 5
		plot table using 3:3:6:xtic(2) every ::first::first + 3 title 'neither uses On-Ramp' \
				lc rgb '#8c8c8c', \
			'' using 4:4:7 every ::first::first + 3 title 'group 1 does' \
				lc rgb '#1f6fb4', \
			'' using 5:5:8 every ::first::first + 3 title 'both do' lc rgb '#2e8b57'
	}
	unset multiplot
	unset output
}
