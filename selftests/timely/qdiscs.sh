#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The qdisc is replaced under load, each of four by each other one, and the route leads
# to a device that has another one: the flow is paced at its rate all the time.
#
#	A a0 ---------- b0 B 10.77.9.9
#	  a1 ---------- b1
#
# The line rate is set far below what the link carries: without pacing the flow would
# be faster by tens of times, and its departure times would run ahead by minutes.
TIMELY_PROFILE=paper
. "$(dirname "$0")/onramp.sh"

mbit=50
to=10.77.9.9

received() {
	in_ns "$B" awk '$1 == "b0:" || $1 == "b1:" { n += $2 } END { print n }' /proc/net/dev
}

# paced WHAT: 0.3 s at the line rate.
paced() {
	local bytes

	# What is lost with a qdisc is repaired first.
	sleep 0.2
	bytes=$(received)
	sleep 0.3
	bytes=$(($(received) - bytes))
	echo "measured: $1: $(calc "$bytes * 8e-6 / 0.3") Mbit/s"
	expect "Mbit/s" "$(calc "$bytes * 8e-6 / 0.3")" -ge $((mbit * 80 / 100)) ||
		return
	expect "Mbit/s" "$(calc "$bytes * 8e-6 / 0.3")" -le $((mbit * 110 / 100))
}

# pairs QDISC...: from each to the next. All are tried, and the bad ones named.
pairs() {
	local from='' bad='' next

	for next; do
		tc -n "$A" qdisc replace dev a0 root "$next"
		paced "$from -> $next" || bad+=", $from -> $next"
		from=$next
	done
	[ -z "$bad" ] || fail "not paced${bad#,}"
}

# TCP paces where nothing else does, and is told of it by the first two.
paced_by_tcp() {
	local n

	n=$(timely_count "$A" PacedByTcp)
	echo "measured: TCP took over $n times"
	expect "times that TCP took over" "$n" -ge 4
	expect "times that TCP took over" "$n" -le 8
	expect "events of it" "$(grep -c timely_unpaced "$KSFT_TMP/trace")" -eq "$n"
	# It finds out by one burst, and segments are 2.6 ms apart.
	awk "$TRACE_AWK"'v("ahead") > 200000000 { print; exit 1 }' "$KSFT_TMP/trace"
}

# Cuts are for what was lost in qdiscs that were destroyed, at most one each.
few_cuts() {
	expect "cuts" "$(timely_count "$A" LossCuts)" -le 16
	expect "timeouts" "$(timely_count "$A" TimeoutCuts)" -eq 0
}

# fq -> pfifo_fast and back, by a change of the route.
rerouted() {
	tc -n "$A" qdisc replace dev a0 root fq
	paced "fq on a0"
	ip -n "$A" route replace $to via 10.77.3.2 src "$V4_A"
	paced "pfifo_fast on a1"
	ip -n "$A" route replace $to via "$V4_B"
	paced "fq on a0"
}

# TCP paces from the start: no change of the qdisc makes a difference. A segment that waits in one
# of the five that pace and go is lost before its departure time; if an ACK comes before that
# time, it seems to have left.
by_tcp_always() {
	local before

	before=$(timely_count "$A" PacedByTcp)
	timely_set "$A" pacing tcp
	pairs fq onramp pfifo_fast fq fq_codel onramp fq
	expect "times that TCP took over" "$(timely_count "$A" PacedByTcp)" -le $((before + 5))
}

ksft_plan 5
need_module
need_module sch_onramp
net_pair
veth_pair "$A" a1 10.77.3.1 "$B" b1 10.77.3.2
ns_set "$B" ipv4/conf/all/rp_filter 0 ipv4/conf/b0/rp_filter 0 ipv4/conf/b1/rp_filter 0
ip -n "$B" addr add $to/32 dev lo
ip -n "$A" route add $to via "$V4_B"
tc -n "$A" qdisc replace dev a0 root fq
timely_set "$A" line_rate_mbit $mbit
serve "$B"
trace_on timely_unpaced
spawn_load "$A" --to $to --cc timely --duration 600
ksft_case "each of four qdiscs replaced by each other one" \
	pairs fq onramp fq pfifo_fast fq fq_codel onramp pfifo_fast onramp fq_codel \
	pfifo_fast fq_codel fq
trace_off "$KSFT_TMP/trace"
ksft_case "TCP paces where no qdisc does" paced_by_tcp
ksft_case "nothing else is lost" few_cuts
ksft_case "the route leads past the qdisc that paces" rerouted
ksft_case "the same with pacing=tcp" by_tcp_always
