#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A flow whose application sends little does not collect rate for later.
#
#	A a0 ---------- b0 B
#	  fq
#
# Four flows that cannot send make it start at a fifth of 25 Mbit/s, of which 1448 bytes
# in 1538 are payload: what the rate does then, up or down, the application does.
TIMELY_PROFILE=paper
. "$(dirname "$0")/onramp.sh"

helper=$KSFT_DIR/timely_helper

# 1 Mbit/s for three seconds, then 10 MB as fast as possible.
run() {
	spawn in_ns "$B" "$helper" stall-listen "$V4_B" 5002 "$KSFT_TMP/stalling"
	wait_for 10 test -e "$KSFT_TMP/stalling"
	spawn in_ns "$A" "$helper" stall "$V4_B" 5002 timely 4 "$KSFT_TMP/stalled"
	wait_for 10 test -e "$KSFT_TMP/stalled"

	trace_on timely_start timely_update timely_idle
	in_ns "$A" "$helper" trickle "$V4_B" 5001 timely 1250 10 300 10000000
	trace_off "$KSFT_TMP/trace"
	expect "starts" "$(grep -c timely_start "$KSFT_TMP/trace")" -eq 1
	expect "rate at the start" \
		"$(awk "$TRACE_AWK"'/timely_start/ { print v("rate") }' "$KSFT_TMP/trace")" \
		-eq $((25 * 125000 * 1448 / 1538 / 5))
	# Without a completion for so long there would be nothing to see.
	expect "idle restarts" "$(grep -c timely_idle "$KSFT_TMP/trace" || :)" -eq 0
}

# The first verdict needs ten segments' worth of time, 0.26 s; until then the
# rate may rise by one step per minRTT of 10 ms.
bounded() {
	local start peak held

	peak=$(awk "$TRACE_AWK"'
		/timely_start/ { from = when() }
		/timely_update/ && when() < from + 2.9 {
			n++
			if (v("rate") > m) m = v("rate")
			held += v("held")
		}
		END { printf "%d %d %d\n", m / 125, held, n }' "$KSFT_TMP/trace")
	read -r peak held start <<<"$peak"
	echo "measured: at most $peak kbit/s, $held of $start updates held"
	expect "updates" "$start" -ge 100
	expect "highest rate, kbit/s" "$peak" -le $((5000 + 40 * 50))
	expect "updates held" "$held" -ge $((start / 2))
	expect "HeldAppLimited" "$(timely_count "$A" HeldAppLimited)" -ge "$held"
}

rises() {
	local last

	last=$(awk "$TRACE_AWK"'/timely_update/ { r = v("rate") }
		END { printf "%d\n", r / 125 }' "$KSFT_TMP/trace")
	echo "measured: $last kbit/s at the end"
	expect "the rate at the end, kbit/s" "$last" -ge 12000
}

ksft_plan 3
need_module
net_pair
tc -n "$A" qdisc replace dev a0 root fq
# The RTT has to be longer than a segment takes at 25 Mbit/s.
tc -n "$B" qdisc replace dev b0 root netem delay 10ms limit 100000
timely_slow "$A" 20
timely_set "$A" delta_kbit 50 hai_factor 1
serve "$B"
ksft_case "1 Mbit/s from a flow that may send 5" run
ksft_case "its rate stays where the rule leaves it" bounded
ksft_case "and rises when there is data to send" rises
