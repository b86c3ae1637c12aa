# SPDX-License-Identifier: GPL-2.0
#
# Share of the link that is used, and mean time of a request, with fq and with On-Ramp.

rows(qdisc) = sprintf("< awk '$2 == \"%s\"' %s/table.txt", qdisc, dir)

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 1000,800 font 'sans,13' background rgb 'white'
	} else {
		set terminal pngcairo size 1000,800 font 'sans,11'
	}
	set termoption noenhanced
	set output dir . '/closed-loop.' . format
	set multiplot layout 2,1 title exp . ': rate / batch (KB) / long flows / buffer (KB)'
	set style data histograms
	set style fill solid 0.8
	set grid y lc rgb '#d0d0d0'
	set xtics rotate by 25 right font ',9'
	set key top left horizontal
	set ylabel 'link used'
	set yrange [0:1.15]
	plot for [q in 'fq onramp'] rows(q) using 3:xtic(1) title q
	set ylabel 'request, mean (us)'
	set yrange [*:*]
	set logscale y
	plot for [q in 'fq onramp'] rows(q) using 4:xtic(1) title q
	unset logscale y
	unset multiplot
	unset output
}
