# SPDX-License-Identifier: GPL-2.0
#
# Does each decision of tcp_lipd in a trace follow from the one before and its inputs, by the
# paper's formulas?
#
#	awk -f TRACE_AWK -f replay.awk law=LAW N=N all=0|1 TRACE
#
# all: all marks of a round trip count, else not all of them.

# 2^-y, by its series: this awk may be without it.
function half(y,  i, term, sum) {
	y *= 0.69314718056
	for (term = sum = i = 1; i < 12; i++) {
		term *= -y / i
		sum += term
	}
	return sum
}
function step(x) {
	if (law == "lipd") return x * (1 - 1 / N)
	if (law == "fimd") return x * half(x / N)
	return x / (1 + x / N * x / N)
}
function near(a, b) { return a - b < 3e-6 * b && b - a < 3e-6 * b }
/lipd_set/ { last = v("x") / 1e6; next }
/lipd_update/ {
	n++
	x = v("old_x") / 1e6
	if (n > 1 && x != last) { print "a gap before:", $0; exit bad = 1 }
	if (v("law") != law) { print "law:", $0; exit bad = 1 }
	marked += v("marked")
	for (i = 0; i < v("counted"); i++) {
		x = law == "lipd" ? x + 1 : 2 * x
		if (x > N) x = N
		down++
	}
	for (i = 0; i < v("unmarked"); i++) {
		x = step(x)
		if (x < 1) x = 1
	}
	if (!near(v("x") / 1e6, x)) { print "want", x, "in:", $0; exit bad = 1 }
	off = v("rate") - v("cap") / x
	# Rates are whole bytes/s, and x is rounded here.
	if (off > 2 + 3e-6 * v("rate") || off < -2 - 3e-6 * v("rate")) {
		print "rate:", $0
		exit bad = 1
	}
	last = v("x") / 1e6
}
END {
	printf "measured: %s: %d decisions, %d marks, %d counted, x is %.3f\n",
		law, n, marked, down, last
	if (all && marked != down) { print "not all marks counted"; bad = 1 }
	if (!all && marked <= down) { print "all marks counted"; bad = 1 }
	exit bad || n < 50 || down < 2
}
