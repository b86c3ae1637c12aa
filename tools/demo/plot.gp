# SPDX-License-Identifier: GPL-2.0
#
# Called by tools/demo/run with: dir, ccs (names, blank separated), title,
# start and stop (measured interval, s), rate (of the link, Mbit/s), runs (of the
# requests, "CC-QDISC", blank separated).

set style line 1 lc rgb "#7f7f7f" lw 2
set style line 2 lc rgb "#1f77b4" lw 2
set style line 3 lc rgb "#ff7f0e" lw 2
set style line 4 lc rgb "#d62728" lw 3
set style line 5 lc rgb "#2ca02c" lw 2
set style line 6 lc rgb "#9467bd" lw 2
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

	set title "Distribution of the RTT in the measured interval"
	set xlabel "RTT (ms, logarithmic)"
	set ylabel "share of samples"
	set logscale x
	set xrange [*:*]
	set yrange [0:1]
	set key right bottom
	plot for [i=1:words(ccs)] dir . "/rtt-cdf-" . word(ccs, i) . ".dat" \
		using 1:2 with steps ls style(i) title word(ccs, i)
	unset logscale x

	set title "Goodput of all flows together (shaded: not measured yet)"
	set xlabel "time (s)"
	set ylabel "Mbit/s"
	set xrange [0:stop]
	set yrange [0:rate * 1.15]
	set object 1 rectangle from 0, graph 0 to start, graph 1 \
		fc rgb "#f2f2f2" fs solid noborder behind
	plot for [i=1:words(ccs)] dir . "/series-" . word(ccs, i) . ".dat" \
		using 1:2 with lines ls style(i) title word(ccs, i)

	set title "RTT, mean over all flows"
	set ylabel "RTT (ms, logarithmic)"
	set logscale y
	set yrange [1:*]
	set key right top
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
	set key right bottom
	plot for [i=1:words(runs)] dir . "/rct-" . word(runs, i) . ".dat" \
		using 1:2 with linespoints ls style(i) title word(runs, i)
	unset logscale x
	unset multiplot
	unset output
}
