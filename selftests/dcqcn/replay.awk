# SPDX-License-Identifier: GPL-2.0
#
# Does each decision of tcp_dcqcn in a trace follow from the one before and its inputs, by the
# paper's equations?
#
#	awk -f TRACE_AWK -f replay.awk g=G F=F ai=R_AI hai=R_HAI least=RATE TRACE
#
# Rates in bytes/s.

function max(a, b) { return a > b ? a : b }
function min(a, b) { return a < b ? a : b }
function off(a, b) { return a > b ? a - b : b - a }
function increase() {
	if (max(T, BC) < F) kind["recovery"]++
	else if (min(T, BC) > F) { rt += hai; kind["hyper"]++ }
	else { rt += ai; kind["additive"]++ }
	rt = min(rt, cap)
	rc = (rt + rc) / 2
}
/dcqcn_set/ { last = v("rate"); T = BC = 0; next }
/dcqcn_update/ {
	n++
	cap = v("cap")
	rc = v("old_rate")
	rt = v("old_target")
	alpha = v("old_alpha") / 1e6
	if (last != "" && rc != last) { print "a gap before:", $0; exit bad = 1 }
	for (i = 0; i < v("decays"); i++) alpha *= 1 - g
	for (i = 0; i < v("timer"); i++) { increase(); T = min(T + 1, 255) }
	for (i = 0; i < v("bytes"); i++) { increase(); BC = min(BC + 1, 255) }
	if (v("cnp")) {
		if (!v("marked")) { print "a CNP without a mark:", $0; exit bad = 1 }
		rt = rc
		rc = max(rc * (1 - alpha / 2), least)
		alpha = (1 - g) * alpha + g
		T = BC = 0
		cnps++
	}
	if (v("T") != T || v("BC") != BC) { print "want", T, BC, "in:", $0; exit bad = 1 }
	if (off(alpha * 1e6, v("alpha")) > 3) { print "want", alpha, "in:", $0; exit bad = 1 }
	# Alpha is rounded to millionths, rates to bytes/s in each step.
	if (off(rc, v("rate")) > 4 + 3e-6 * rc || off(rt, v("target")) > 4) {
		print "want", rc, rt, "in:", $0
		exit bad = 1
	}
	last = v("rate")
}
END {
	printf "measured: %d decisions, %d CNPs; %d recoveries, %d additive, %d hyper\n",
		n, cnps, kind["recovery"], kind["additive"], kind["hyper"]
	exit bad || n < 50 || cnps < 2 || kind["recovery"] < 5 || kind["additive"] < 5 ||
		kind["hyper"] < 1
}
