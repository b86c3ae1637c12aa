# SPDX-License-Identifier: GPL-2.0
#
# One-way delays of all flows over time, out of owd-MODE-FLOWS-BATCH-PACKETS.txt, by the
# OR-ACKs of the paper if there are both.

packets = system('ls ' . dir . '/owd-final-2-64K-10.txt 2>/dev/null') eq '' ? '32' : '10'
first(name) = real(system("awk '{ print $1; exit }' " . dir . '/owd-' . name . '.txt'))

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 1200,900 font 'sans,13' background rgb 'white'
	} else {
		set terminal pngcairo size 1200,900 font 'sans,11'
	}
	set output dir . '/fig5-24.' . format
	set multiplot layout 4,2 title "CUBIC flows into 10 Gbit/s, T = 50 us: delay above that of the empty path (us), an OR-ACK for " . packets . " packets"
	set grid lc rgb '#d0d0d0'
	set key off
	set yrange [0:*]
	set xlabel 'virtual time (ms)'
	do for [batch in '64K 16K'] {
		do for [n in '2 12'] {
			do for [mode in 'strawman final'] {
				name = mode . '-' . n . '-' . batch . '-' . packets
				begin = first(name)
				set title sprintf('%s, %s flows, batches of %s', mode, n, batch)
				plot dir . '/owd-' . name . '.txt' using (($1 - begin) * 1e3):3:2 \
					with dots lc variable, 50 lc rgb 'black' dt 2
			}
		}
	}
	unset multiplot
	unset output
}
