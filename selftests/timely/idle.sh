#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# After a long pause a flow starts over, after a short one it does not.
#
#	A a0 ---------- b0 B
#
# Three flows that cannot send: a flow that starts gets a fourth.
TIMELY_PROFILE=paper
. "$(dirname "$0")/onramp.sh"

helper=$KSFT_DIR/timely_helper
# The payload of 100 Mbit/s.
line_bps=$((100 * 125000 * 1448 / 1538))

# bursts PAUSE_MS RESTARTS [BYTES TIMES]: five bursts, four pauses.
bursts() {
	local before

	before=$(timely_count "$A" IdleRestarts)
	trace_on timely_idle timely_update
	in_ns "$A" "$helper" bursts "$V4_B" 5001 timely "${3:-50000}" "$1" "${4:-5}"
	trace_off "$KSFT_TMP/trace"
	expect "idle restarts" "$(($(timely_count "$A" IdleRestarts) - before))" -eq "$2"
	expect "events of it" "$(grep -c timely_idle "$KSFT_TMP/trace" || :)" -eq "$2"
}

# The RTTs of the path are longer than its floor, below which none is compared with another.
restarts() {
	tc -n "$B" qdisc add dev b0 root netem delay 10ms
	bursts 700 4
	tc -n "$B" qdisc del dev b0 root
	awk "$TRACE_AWK"'
		/timely_update/ {
			if (restarted && (v("prev_rtt") || v("rtt_diff") || v("negative"))) {
				print "compared with an RTT from before:", $0
				bad = 1
			}
			compared += v("prev_rtt") > 0
			restarted = 0
			next
		}
		{ restarted = 1 }
		v("active") != 3 || v("rate") > share || v("rate") > v("old_rate") ||
		v("cap") != line || v("idle") < 500000000 {
			print
			bad = 1
		}
		END { exit bad || !compared }' share=$((line_bps / 4)) line=$line_bps "$KSFT_TMP/trace"
}

# The share is a bound, not a grant: who was slower stays slower.
never_faster() {
	timely_set "$A" app_limited_percent 100
	bursts 700 4
	awk "$TRACE_AWK"'/timely_idle/ && v("rate") > v("old_rate") { print; exit 1 }' \
		"$KSFT_TMP/trace"
	timely_set "$A" app_limited_percent 80
}

not_after_short_ones() {
	bursts 100 0
}

# Single packets, whose ACKs the receiver may have delayed: none of their RTTs is used,
# but the flow is not idle for longer than it was before.
not_without_samples() {
	local before

	# Else a short RTT would say that there is no queue, however late its ACK may be.
	timely_set "$A" t_low_ns 0 rtt_floor_ns 0
	before=$(timely_count "$A" DropDelayedAck)
	bursts 100 0 1000 30
	expect "dropped samples" "$(($(timely_count "$A" DropDelayedAck) - before))" -ge 25
	expect "used samples" "$(grep -c timely_update "$KSFT_TMP/trace" || :)" -le 2
	timely_set "$A" t_low_ns 50000 rtt_floor_ns 1000
}

not_if_off() {
	timely_set "$A" idle_restart_ns 0
	bursts 700 0
	timely_set "$A" idle_restart_ns 500000000
}

# Data that waits for its turn is not idleness, however long it waits: packets
# 300 ms apart, with 100 ms being idle.
not_while_pacing() {
	local before from took

	timely_set "$A" idle_restart_ns 100000000
	before=$(timely_count "$A" IdleRestarts)
	from=$(cut -d' ' -f1 /proc/uptime)
	in_ns "$A" "$helper" paced "$V4_B" 5001 timely 5000 30000
	took=$(awk -v from="$from" '{ print $1 - from }' /proc/uptime)
	expect "seconds it took" "$took" -ge 2
	expect "idle restarts" "$(($(timely_count "$A" IdleRestarts) - before))" -eq 0
	timely_set "$A" idle_restart_ns 500000000
}

ksft_plan 6
need_module
net_pair
timely_set "$A" line_rate_mbit 100 idle_restart_ns 500000000
serve "$B"
spawn in_ns "$B" "$helper" stall-listen "$V4_B" 5002 "$KSFT_TMP/stalling"
wait_for 10 test -e "$KSFT_TMP/stalling"
spawn in_ns "$A" "$helper" stall "$V4_B" 5002 timely 3 "$KSFT_TMP/stalled"
wait_for 10 test -e "$KSFT_TMP/stalled"
ksft_case "0.7 s of silence: at most C/(N+1), each time" restarts
ksft_case "a restart never raises the rate" never_faster
ksft_case "0.1 s: nothing happens" not_after_short_ones
ksft_case "0.1 s without a sample for seconds: nothing happens" not_without_samples
ksft_case "0.7 s with it switched off: nothing happens" not_if_off
ksft_case "gaps from pacing are not idleness" not_while_pacing
