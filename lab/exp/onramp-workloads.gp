# SPDX-License-Identifier: GPL-2.0
#
# Requests and long flows of hosts and of containers, with fq and with On-Ramp.

table = dir . '/table.txt'
# rows(NAME): lines "PLACE FQ ONRAMP" of a row.
rows(name) = sprintf("< awk 'NR == 1 { for (i = 2; i <= NF; i++) kind[i] = $i } \
	$1 == \"%s\" { for (i = 2; i < NF; i += 2) { sub(/_fq/, \"\", kind[i]); print kind[i], $i, $(i + 1) } }' %s", \
	name, table)

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 1000,800 font 'sans,13' background rgb 'white'
	} else {
		set terminal pngcairo size 1000,800 font 'sans,11'
	}
	set termoption noenhanced
	set output dir . '/workloads.' . format
	set multiplot layout 2,2 title exp . ': figure 9 from hosts and from containers'
	set style data histograms
	set style fill solid 0.85 noborder
	set grid y lc rgb '#d0d0d0'
	set key top left horizontal
	set offsets 0, 0, graph 0.2, 0
	do for [what in 'rct_mean rct_p90 rct_p99 fct_30M_mean'] {
		set ylabel what . ' (us)'
		if (what eq 'fct_30M_mean') {
			unset logscale y
			set yrange [0:*]
		} else {
			set logscale y
			set yrange [10:*]
		}
		plot rows(what) using 2:xtic(1) title 'fq' lc rgb '#8c8c8c', \
			'' using 3 title 'On-Ramp' lc rgb '#1f6fb4'
	}
	unset multiplot
	unset output
}
