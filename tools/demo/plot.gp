# SPDX-License-Identifier: GPL-2.0
#
# Called by tools/demo/run with: dir, ccs (names, blank separated), title,
# start and stop (measured interval, s), rate (of the link, Mbit/s), runs (of the
# requests, "CC-QDISC", blank separated).

# Colours of Okabe and Ito, which colour-blind readers can tell apart; and dashes.
set style line 1 lc rgb "#000000" lw 2 dt 1 pt 1
set style line 2 lc rgb "#e69f00" lw 2 dt 2 pt 2
set style line 3 lc rgb "#56b4e9" lw 2 dt 4 pt 4
set style line 4 lc rgb "#0072b2" lw 3 dt 1 pt 7
set style line 5 lc rgb "#d55e00" lw 2 dt 5 pt 6
set style line 6 lc rgb "#009e73" lw 2 dt 3 pt 8
style(i) = (i - 1) % 6 + 1

do for [format in "svg png"] {
	if (format eq "svg") {
		set terminal svg size 1000,1400 font "sans,13" background rgb "white"
	} else {
		set terminal pngcairo size 1000,1400 font "sans,11"
	}
	set output dir . "/demo." . format
	set multiplot layout 4,1 title title
	set grid lc rgb "#d0d0d0"
	set key outside right center

	set title "Distribution of the RTT in the measured interval"
	set xlabel "RTT (ms, logarithmic)"
	set ylabel "share of samples"
	set logscale x
	set xrange [*:*]
	set yrange [0:1]
	plot for [i=1:words(ccs)] dir . "/rtt-cdf-" . word(ccs, i) . ".dat" \
		using 1:2 with steps ls style(i) title word(ccs, i)
	unset logscale x

	set title "Goodput of all flows together (shaded: not measured yet)"
	set xlabel "time (s)"
	set ylabel "Mbit/s"
	set xrange [0:stop]
	set yrange [0:rate * 1.3]
	set object 1 rectangle from 0, graph 0 to start, graph 1 \
		fc rgb "#f2f2f2" fs solid noborder behind
	plot for [i=1:words(ccs)] dir . "/series-" . word(ccs, i) . ".dat" \
		using 1:2 with lines ls style(i) title word(ccs, i)

	set title "RTT, mean over all flows"
	set ylabel "RTT (ms, logarithmic)"
	set logscale y
	set yrange [1:*]
	plot for [i=1:words(ccs)] dir . "/series-" . word(ccs, i) . ".dat" \
		using 1:3 with lines ls style(i) title word(ccs, i)
	unset logscale y
	unset object 1

	set title "Requests to all hosts at once, beside long flows: time until the last answer"
	set xlabel "time (ms, logarithmic)"
	set ylabel "share of requests"
	set logscale x
	set xrange [*:*]
	set yrange [0:1]
	plot for [i=1:words(runs)] dir . "/rct-" . word(runs, i) . ".dat" \
		using 1:2 with linespoints ls style(i) title word(runs, i)
	unset logscale x
	unset multiplot
	unset output
}
