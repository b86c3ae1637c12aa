#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Four flows that start one after the other share a link.
#
#	A a0 ---- r0 R r1 ==== b0 B
#	  fq        20 Mbit/s
TIMELY_PROFILE=paper
. "$(dirname "$0")/onramp.sh"

mbit=20

# shares JAIN PERCENT: at least so fair, once they have had 4 s to find their
# shares, and at least so much of the link together.
shares() {
	local jain rate

	load "$A" --to "$V4_B" --cc timely --flows 4 --start-gap 100 \
		--warmup 4 --duration 16
	jain=$(loaded jain)
	rate=$(loaded goodput_bit_s)
	echo "measured: Jain $jain, together $(calc "$rate / 1e3") kbit/s"
	expect "Jain's index" "$jain" -ge "$1"
	expect "their sum" "$rate" -ge "$(calc "$mbit * 1e4 * $2")"
}

# The original law has no fixed point: shares wander, and only their averages
# are fair. One segment of each flow is 26 ms of the link: Tlow above that.
original() {
	timely_set "$A" t_high_ns 60000000 t_low_ns 30000000 mode original
	shares 0.95 40
}

# The patched one has: the same rate for all, and the link full. A decision every
# few ms, not every few us: beta is larger by what delta is.
patched() {
	timely_set "$A" t_high_ns 400000000 t_low_ns 40000000 mode patched \
		beta_patched_permille 20 delta_kbit 100
	shares 0.99 85
	expect "weighted decisions" "$(timely_count "$A" BranchWeighted)" -gt 10
}

ksft_plan 2
need_module
net_line
shape $mbit
ack_delay 5
timely_slow "$A" $mbit
tc -n "$A" qdisc replace dev a0 root fq
serve "$B"
ksft_case "original: Jain's index of four flows is at least 0.95" original
ksft_case "patched: Jain's index is at least 0.99, on a full link" patched
