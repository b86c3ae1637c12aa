#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Reordering: what looked lost was not, and the cut is undone.
#
#	A a0 ---- r0 R r1 ---- b0 B
#	  no TSO      20 ms, a quarter of the packets at once
TIMELY_PROFILE=paper
. "$(dirname "$0")/onramp.sh"

helper=$KSFT_DIR/timely_helper

# transfer COUNTER... -- NETEM...: each of the counters grows.
transfer() {
	local counters=() counter receiver

	while [ "$1" != -- ]; do
		counters+=("$1")
		shift
	done
	shift
	tc -n "$R" qdisc replace dev r1 root netem limit 1000 "$@"
	in_ns "$A" cat /proc/net/timely >"$KSFT_TMP/before"
	rm -f "$KSFT_TMP/receiving"
	spawn in_ns "$B" "$helper" receive "$V6_B" 5003 3000000 "$KSFT_TMP/receiving"
	receiver=$SPAWNED
	wait_for 10 test -e "$KSFT_TMP/receiving"
	trace_on timely_loss timely_update
	in_ns "$A" "$helper" send "$V6_B" 5003 timely 3000000
	wait "$receiver"
	trace_off "$KSFT_TMP/trace"
	in_ns "$A" cat /proc/net/timely | paste "$KSFT_TMP/before" - |
		awk '{ print $1, $4 - $2 }' >"$KSFT_TMP/growth"
	echo "measured: $(awk '$2 && /Cuts|Undos|DropR|DropS/' "$KSFT_TMP/growth" | tr '\n' ' ')"
	for counter in "${counters[@]}"; do
		expect "growth of $counter" \
			"$(awk -v name="$counter" '$1 == name { print $2 }' "$KSFT_TMP/growth")" -ge 1
	done
}

# An undo gives back the rate from before the recovery, and no more; the next
# decision starts from there.
undone() {
	awk "$TRACE_AWK"'
		after && v("old_rate") != after { print "not from", after, $0; bad = 1 }
		{ after = 0 }
		v("event") == "undo" {
			n++
			after = v("rate")
			if (v("rate") <= v("old_rate")) { print; bad = 1 }
			if (v("rate") > top + 64) { print "never was so fast:", $0; bad = 1 }
		}
		{ if (v("old_rate") > top) top = v("old_rate") }
		END { exit bad || !n }' "$KSFT_TMP/trace"
}

ksft_plan 4
need_module
net_line
in_ns "$A" ethtool -K a0 tso off >/dev/null
timely_slow "$A" 20
timely_set "$A" t_low_ns 40000000 max_outstanding_bytes 300000
ksft_case "a quarter of the packets overtakes" \
	transfer DropSacked -- delay 20ms reorder 25% 50%
ksft_case "delays that differ so much that TCP retransmits for nothing" \
	transfer Undos LossCuts -- delay 60ms 50ms
ksft_case "an undo restores the rate" undone
ksft_case "reordering with losses" \
	transfer LossCuts DropSacked -- delay 20ms reorder 25% 50% loss 1%
