#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What marks do, in the topology of marks_lib.sh.
. "$(dirname "$0")/marks_lib.sh"

decreased() {
	expect "decreases" "$(($(grown "$A" Decreases) + $(grown "$A" MarkedAtRmin)))" -le "$1"
	expect "increases" "$(grown "$A" Increases)" -gt 0
}

# Each decision is the paper's formula, and each begins where the last one ended.
replay() {
	bottleneck
	params_set "$A" ipv4/lipd marks_per_rtt "$2"
	trace_on lipd_update lipd_set
	in_ns "$A" "$helper" send "$V4_B" 5001 "$1" 1500000
	trace_off "$KSFT_TMP/trace"
	params_set "$A" ipv4/lipd marks_per_rtt 1
	echo "$TRACE_AWK" >"$KSFT_TMP/trace.awk"
	awk -f "$KSFT_TMP/trace.awk" -f "$KSFT_DIR/replay.awk" law="$1" N=256 \
		all="$(($2 == 0))" "$KSFT_TMP/trace"
}

# Rates of whole delays are those of InfiniBand: Rmax by 1, 2, 3, ...
discrete() {
	params_set "$A" ipv4/lipd rates discrete
	bottleneck
	trace_on lipd_update
	in_ns "$A" "$helper" send "$V4_B" 5001 lipd 3000000
	trace_off "$KSFT_TMP/trace"
	params_set "$A" ipv4/lipd rates continuous
	wc -l "$KSFT_TMP/trace"
	awk "$TRACE_AWK"'{
		ipd = int(v("x") / 1e6 + 0.5)
		want = v("cap") / ipd
		# x is rounded for the trace.
		off = v("rate") - want
		if ((off > 2 || off < -2) && v("x") % 1000000 != 500000) {
			print "want", want, "in:", $0
			exit bad = 1
		}
		seen[ipd] = 1
	} END { exit bad || !(1 in seen) || !(2 in seen) }' "$KSFT_TMP/trace"
}

# Idle for longer than idle_reset_ns: Rmax again. Else what it had.
idle() {
	bottleneck
	snapshot
	params_set "$A" ipv4/lipd idle_reset_ns 150000000
	in_ns "$A" "$helper" bursts "$V4_B" 5001 lipd 300000 400 4
	expect "resets" "$(grown "$A" IdleResets)" -eq 3
	snapshot
	params_set "$A" ipv4/lipd idle_reset_ns 0
	in_ns "$A" "$helper" bursts "$V4_B" 5001 lipd 300000 400 4
	expect "resets" "$(grown "$A" IdleResets)" -eq 0
	params_set "$A" ipv4/lipd idle_reset_ns 100000000
}

timeouts() {
	[ "$(grown "$A" TimeoutCuts)" -ge "$1" ]
}

# After a timeout nothing is in flight for TCP, and the last ACK is old: this is no idleness.
timed_out() {
	bottleneck
	snapshot
	spawn in_ns "$A" "$helper" send "$V4_B" 5001 lipd 3000000
	sleep 0.2
	data_lost 100
	wait_for 30 timeouts 2
	bottleneck
	wait "$SPAWNED"
	echo "measured: $(grown "$A" TimeoutCuts) timeouts"
	expect "resets" "$(grown "$A" IdleResets)" -eq 0
}

# The computed window fills the path with hardly a queue: no flow needs a mark.
short_window() {
	params_set "$A" ipv4/lipd window_packets 0 segment_bytes 1000
	bottleneck
	snapshot
	load "$A" --to "$V4_B" --cc lipd --warmup 1 --duration 2
	params_set "$A" ipv4/lipd window_packets 60 segment_bytes 16384
	echo "measured: $(calc "$(loaded goodput_bit_s) / 1e6") Mbit/s," \
		"$(grown "$A" PacketsMarked) marked"
	expect "goodput" "$(loaded goodput_bit_s)" -ge $((mbit * 1000000 * 85 / 100))
	expect "marks" "$(grown "$A" PacketsMarked)" -eq 0
}

ksft_plan "$(often 16 22)"
topology
# A window of 14 ms at the bottleneck; the computed one alone would keep the queue short.
params_set "$A" ipv4/lipd line_rate_mbit 100 window_packets 60
for name in "${ccs[@]}"; do
	ksft_case "$name: each decision is the paper's formula" replay "$name" 1
	# How marks are counted is the same for all.
	[ "$name" = lipd ] || [ "$THOROUGH" -eq 1 ] || continue
	ksft_case "$name: R, B and A count the same marks, IPv4 and IPv6" exact "$name" decreased
	ksft_case "$name: the same where all marks count" replay "$name" 0
	ksft_case "$name: half of the bottleneck at least and no drop, one flow" fills "$name" 1 50 3
done
ksft_case "lipd: three quarters at least and no drop, eight flows" fills lipd 8 75 3
ksft_case "the computed window leaves no queue" short_window
ksft_case "discrete rates" discrete
ksft_case "no mark, no decrease" unmarked Decreases
ksft_case "lipd: a fabric that drops" lossy lipd
ksft_case "fimd: a fabric that drops" lossy fimd
ksft_case "idle flows start over, or keep what they had" idle
ksft_case "a timeout is no idleness" timed_out
ksft_case "ss shows marks and the rate" shown_by_ss fimd 0 0
ksft_case "TCP paces where fq goes" qdisc_gone 60
