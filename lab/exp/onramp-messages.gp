# SPDX-License-Identifier: GPL-2.0
#
# Completion times of messages beside long flows, with fq and with On-Ramp.

rows(qdisc) = sprintf("< awk '$4 == \"%s\"' %s/table.txt", qdisc, dir)

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 800,800 font 'sans,13' background rgb 'white'
	} else {
		set terminal pngcairo size 800,800 font 'sans,11'
	}
	set termoption noenhanced
	set output dir . '/messages.' . format
	set multiplot layout 2,1 title exp . ': link / buffer (KB at 10 Gbit/s) / long flows'
	set style data histograms
	set style fill solid 0.8
	set grid y lc rgb '#d0d0d0'
	set key top left horizontal
	set logscale y
	do for [column in '6 8'] {
		set ylabel 'message, ' . (column eq '6' ? 'p50' : 'p99') . ' (us)'
		plot for [q in 'fq onramp'] rows(q) \
			using int(column):xtic(sprintf("%s/%s/%s", strcol(1), strcol(2), strcol(3))) \
			title q
	}
	unset multiplot
	unset output
}
