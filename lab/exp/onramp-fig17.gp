# SPDX-License-Identifier: GPL-2.0
#
# Times of calls beside storage, with fq, On-Ramp and DCTCP.

rows(kind) = sprintf("< awk '$3 == \"%s\" { print $1 \"/\" $2, $5, $6 }' %s/table.txt", kind, dir)

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 1000,800 font 'sans,13' background rgb 'white'
	} else {
		set terminal pngcairo size 1000,800 font 'sans,11'
	}
	set termoption noenhanced
	set output dir . '/fig17.' . format
	set multiplot layout 2,1 title exp . ': reads outstanding / buffer (KB)'
	set style data histograms
	set style fill solid 0.8
	set grid y lc rgb '#d0d0d0'
	set key top left horizontal
	set logscale y
	set yrange [10:*]
	set ylabel 'call, p50 (us)'
	plot for [k in 'fq onramp dctcp'] rows(k) using 2:xtic(1) title k
	set ylabel 'call, p99 (us)'
	plot for [k in 'fq onramp dctcp'] rows(k) using 3:xtic(1) title k
	unset multiplot
	unset output
}
