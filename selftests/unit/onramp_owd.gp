# SPDX-License-Identifier: GPL-2.0
#
# Plot what onramp_owd_test leaves: the error of every eighth excess delay over time.
#
#	gnuplot -e "csv='FILE.csv'; png='FILE.png'" onramp_owd.gp

set datafile separator ','
set terminal pngcairo size 1000,700 font 'sans,11'
set output png
set title 'Excess delay without synchronised clocks: error at 80 % load'
set xlabel 'time since the first sample (s)'
set ylabel 'reported - true (ns)'
set grid lc rgb '#d0d0d0'
set xrange [0:3]
set yrange [-1000:1000]
plot for [what in '"packets" "bursts" "64k trains"'] csv \
	using 3:(strcol(1) eq what ? $4 : NaN) skip 1 \
	with points pt 7 ps 0.2 title what
