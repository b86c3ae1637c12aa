# SPDX-License-Identifier: GPL-2.0
#
# Distribution of RTTs by each clock, from NAME.cdf.

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 900,560 font 'sans,14' background rgb 'white'
	} else {
		set terminal pngcairo size 900,560 font 'sans,12'
	}
	set output dir . '/fig1-11.' . format
	set title "16 KB messages in turn on an idle network of 10 Gbit/s:\nRTTs without serialisation, by where the times were taken"
	set xlabel 'RTT (us)'
	set ylabel 'share of RTTs'
	set xrange [0:40]
	set yrange [0:1]
	set grid lc rgb '#d0d0d0'
	set key bottom right
	plot dir . '/nic.cdf' with steps lw 4 lc rgb '#1b7837' title 'NIC stamps', \
		dir . '/calibrated.cdf' with steps lw 2 lc rgb '#e08214' \
			title 'calibrated: host clock at sending, NIC stamp of the ACK', \
		dir . '/software.cdf' with steps lw 2 lc rgb '#2166ac' \
			title 'software, before GRO and after the qdisc', \
		dir . '/tcp.cdf' with steps lw 2 dt 2 lc rgb '#b2182b' title "TCP's clock"
	unset output
}
