# SPDX-License-Identifier: GPL-2.0
#
# Recomputes every decision of tcp_timely in a trace from the inputs traced with
# it, by the equations of the papers in floating point, and compares. Prepend
# TRACE_AWK of onramp.sh. Variables: the parameters by the names of their sysctls
# (t_low_ns scaled to the segment size), and patched = 0 or 1.
#
# A flow's state between two decisions (smoothed difference, run of negative
# gradients, rate) is carried here; the trace must agree with it.

function abs(x) { return x < 0 ? -x : x }
function min(x, y) { return x < y ? x : y }

function complain(what, got, want) {
	if (bad++ < 10)
		printf "%s is %s, should be %.3f, in: %s\n", what, got, want, $0
}

function near(what, got, want, tolerance) {
	if (abs(got - want) > tolerance)
		complain(what, got, want)
}

function decrease(rate, cut) {
	return rate * (1 - min(cut * s, 0.5))
}

function increase(rate, n) {
	return v("held") ? rate : rate + n * delta * s
}

function clamp(rate) {
	if (rate < floor)
		rate = floor
	return min(rate, v("cap"))
}

BEGIN {
	alpha = alpha_permille / 1000
	beta = beta_permille / 1000
	beta_patched = beta_patched_permille / 1000
	delta = delta_kbit * 125
	floor = min_rate_kbit * 125
}

/ timely_(start|idle): / {
	flow = v("src") v("dest")
	rate[flow] = v("rate")
	known[flow] = 1
	smooth[flow] = negative[flow] = previous[flow] = 0
	next
}

/ timely_loss: / {
	flow = v("src") v("dest")
	if (known[flow] && v("old_rate") != rate[flow])
		complain("old_rate of a loss", v("old_rate"), rate[flow])
	rate[flow] = v("rate")
	if (v("event") != "undo")
		negative[flow] = 0
	next
}

/ timely_update: / {
	flow = v("src") v("dest")
	if (!known[flow])
		next
	n++
	rtt = v("rtt")
	old = v("old_rate")
	s = v("scale") / 1e6
	branch = v("branch")
	seen[branch]++
	if (v("held") == 1)
		seen["held"]++

	if (old != rate[flow])
		complain("old_rate", old, rate[flow])
	if (v("prev_rtt") != previous[flow])
		complain("prev_rtt", v("prev_rtt"), previous[flow])
	if (s < 0 || s > 1)
		complain("scale", v("scale"), 1000000)

	# Below the floor there is no queue, and nothing to compare.
	below = rtt < rtt_floor_ns
	if (below) {
		rtt = rtt_floor_ns
		smooth[flow] = previous[flow] = negative[flow] = 0
	}
	diff = previous[flow] ? rtt - previous[flow] : 0
	smooth[flow] = (1 - alpha) * smooth[flow] + alpha * diff
	near("rtt_diff", v("rtt_diff"), smooth[flow], 2)
	gradient = smooth[flow] / min_rtt_ns
	near("gradient", v("gradient"), gradient * 1e6, 2 + 2e6 / min_rtt_ns)

	# What rounding decides, the trace decides.
	if (abs(smooth[flow]) < 2)
		negative[flow] = v("negative")
	else if (smooth[flow] < 0)
		negative[flow] = min(negative[flow] + 1, 255)
	else
		negative[flow] = 0
	if (v("negative") != negative[flow])
		complain("negative", v("negative"), negative[flow])

	if (rtt < t_low_ns) {
		want = "low"
		new = increase(old, 1)
	} else if (rtt > t_high_ns) {
		want = "high"
		new = decrease(old, beta * (1 - t_high_ns / rtt))
	} else if (patched) {
		want = "weighted"
		w = 2 * gradient + 0.5
		w = w < 0 ? 0 : min(w, 1)
		new = decrease(old, beta_patched * w * (rtt - t_low_ns) / t_low_ns)
		new += increase(0, 1 - w)
	} else if (abs(smooth[flow]) < 2 ? branch != "decrease" : gradient <= 0) {
		hai = negative[flow] >= hai_thresh
		want = hai ? "hai" : "increase"
		new = increase(old, hai ? hai_factor : 1)
	} else {
		want = "decrease"
		new = decrease(old, beta * gradient)
	}
	if (branch != want)
		complain("branch (" want " wanted)", branch, 0)
	near("rate", v("rate"), clamp(new),
	     3 + old * 3e-6 * (1 + abs(gradient)) + delta * hai_factor * 3e-6)

	previous[flow] = below ? 0 : rtt
	rate[flow] = v("rate")
}

END {
	printf "measured: %d decisions:", n
	for (branch in seen)
		printf " %s %d", branch, seen[branch]
	printf "\n"
	if (n < least) {
		printf "that is less than %d\n", least
		bad++
	}
	m = split(branches, list, " ")
	for (i = 1; i <= m; i++)
		if (!seen[list[i]]) {
			printf "no decision was '%s'\n", list[i]
			bad++
		}
	exit bad > 0
}
