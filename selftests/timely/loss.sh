#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Losses: the rate is cut once per RTT, the data arrives.
#
#	A a0 ---- r0 R r1 ---- b0 B
#	  no TSO      20 Mbit/s, 10 ms, losses; 10 ms on the way back
TIMELY_PROFILE=paper
. "$(dirname "$0")/onramp.sh"

helper=$KSFT_DIR/timely_helper

# path NETEM...
path() {
	tc -n "$R" qdisc replace dev r1 root netem rate 20mbit delay 10ms \
		limit 1000 "$@"
}

# transfer BYTES: the data is checked, byte for byte.
transfer() {
	start_transfer "$1"
	finish_transfer
}

start_transfer() {
	rm -f "$KSFT_TMP/receiving"
	spawn in_ns "$B" "$helper" receive "$V4_B" 5003 "$1" "$KSFT_TMP/receiving"
	receiver=$SPAWNED
	wait_for 10 test -e "$KSFT_TMP/receiving"
	spawn in_ns "$A" "$helper" send "$V4_B" 5003 timely "$1"
	sender=$SPAWNED
}

finish_transfer() {
	wait "$sender"
	wait "$receiver"
}

# grown COUNTER: since the last snapshot.
snapshot() {
	in_ns "$A" cat /proc/net/timely >"$KSFT_TMP/snapshot"
}

grown() {
	echo "$(($(timely_count "$A" "$1") - $(awk -v name="$1" '$1 == name { print $2 }' \
		"$KSFT_TMP/snapshot")))"
}

# random_loss PERCENT BYTES
random_loss() {
	local loss=$1 dropped cuts

	path loss "$loss"
	snapshot
	trace_on timely_loss timely_drop
	transfer "$2"
	trace_off "$KSFT_TMP/trace"
	dropped=$(($(grown DropRetransmitted) + $(grown DropSacked)))
	cuts=$(grown LossCuts)
	echo "measured: $cuts cuts, $(grown TimeoutCuts) at timeouts, $(grown Undos) undone; $dropped samples dropped"
	expect "cuts" "$cuts" -ge 1
	# A retransmission is lost now and then, but does not wait for a timeout.
	expect "timeouts" "$(grown TimeoutCuts)" -le $((cuts / 2 + 1))
	expect "cuts traced" "$(grep -c 'event=loss' "$KSFT_TMP/trace")" -eq "$cuts"
	expect "samples dropped" "$dropped" -ge "$cuts"
	expect "drops traced" "$(grep -Ec 'reason=(retransmitted|sacked)' "$KSFT_TMP/trace")" \
		-eq "$dropped"
}

# Within 20 ms, the shortest RTT there is, there is at most one; after an undo
# or a timeout it is a new matter. Half of the rate, but not below the floor.
once_per_rtt() {
	awk "$TRACE_AWK"'
		/timely_loss/ {
			at = when()
			if (v("event") == "loss") {
				if (last && at - last < 0.020) { print "too soon:", $0; bad = 1 }
				last = at
				want = int(v("old_rate") / 2)
				if (want < 25000) want = 25000
				got = v("rate")
				if (got < want - 1 || got > want + 1) { print "want", want, $0; bad = 1 }
				n++
			} else {
				last = 0
			}
		}
		END { exit bad || !n }' "$KSFT_TMP/trace"
}

# At a floor of 16 kbit/s, which a loss leads to at once, a packet takes 0.7 s. What is
# lost is repaired at one packet for each round trip, however low the rate: 20 ms and up to
# 200 ms that netem has waiting.
repair() {
	path
	timely_set "$A" segment_bytes 2896 min_rate_kbit 16 loss_beta_permille 1000
	snapshot
	trace_on timely_loss
	echo 1 >"$KSFT_TRACE/events/tcp/tcp_retransmit_skb/enable"
	start_transfer 2000000
	wait_for 20 completions 100
	path loss 20%
	wait_for 20 cuts 1
	path
	sleep 3
	trace_off "$KSFT_TMP/trace"
	timely_set "$A" min_rate_kbit 200 segment_bytes 16384 loss_beta_permille 500
	finish_transfer
	awk "$TRACE_AWK"'
		/timely_loss/ && v("event") == "loss" && !cut { cut = when() }
		/tcp_retransmit_skb/ {
			n++
			if (last && when() - last > gap) gap = when() - last
			last = when()
		}
		END {
			printf "measured: %d retransmissions in %.3f s, at most %.3f s apart\n", n, last - cut, gap
			exit n < 10 || gap > 0.5 || last - cut > n * 0.15
		}' "$KSFT_TMP/trace"
}

cuts() {
	[ "$(grown LossCuts)" -ge "$1" ]
}

# Nothing gets through until TCP has timed out at least twice.
blackhole() {
	path
	snapshot
	trace_on timely_loss
	start_transfer 3000000
	wait_for 20 completions 20
	path loss 100%
	wait_for 30 timeouts 2
	path
	finish_transfer
	trace_off "$KSFT_TMP/trace"
	echo "measured: $(grown TimeoutCuts) timeouts"
	expect "timeouts traced" "$(grep -c 'event=timeout' "$KSFT_TMP/trace")" \
		-eq "$(grown TimeoutCuts)"
}

completions() {
	[ "$(grown Completions)" -ge "$1" ]
}

timeouts() {
	[ "$(grown TimeoutCuts)" -ge "$1" ]
}

# A rate below that of the link makes no queue: a loss takes its share of the packets that were sent in
# its RTT, five or more, and no half. Each loss counts once.
alone() {
	local lost

	path loss 1%
	timely_set "$A" profile auto line_rate_mbit 15
	trace_on timely_loss
	transfer 3000000
	trace_off "$KSFT_TMP/trace"
	lost=$(tc -n "$R" -s qdisc show dev r1 | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p')
	timely_set "$A" profile paper
	timely_slow "$A" 20
	awk -v lost="$lost" "$TRACE_AWK"'
		/event=loss/ {
			n += v("lost")
			events++
			# At the end few packets are in flight, of which one is a large share.
			if (v("rate") < v("old_rate") * (1 - v("lost") / 5)) { print "much:", $0; much++ }
			if (v("lost") && v("rate") == v("old_rate")) { print "nothing:", $0; bad = 1 }
		}
		END {
			printf "measured: %d lost, %d counted, %d large cuts of %d\n", lost, n, much, events
			exit bad || 4 * much > events || n < 5 || n > lost + 3
		}' "$KSFT_TMP/trace"
}

# One packet is lost again and again, and meanwhile the path became longer and more data waits. The window
# is one packet then. Lone packets whose ACKs may be delayed give no RTT, and it has to open without one.
lone() {
	local from took

	path
	timely_set "$A" profile auto
	snapshot
	spawn in_ns "$A" "$helper" trickle "$V4_B" 5001 timely 1000 2000 3 1000000
	sender=$SPAWNED
	wait_for 20 completions 2
	path loss 100%
	wait_for 30 timeouts 2
	sleep 2
	ack_delay 40
	path
	from=$(cut -d' ' -f1 /proc/uptime)
	wait "$sender"
	took=$(awk -v from="$from" '{ print $1 - from }' /proc/uptime)
	ack_delay 10
	timely_set "$A" profile paper
	timely_slow "$A" 20
	echo "measured: $took s after $(grown TimeoutCuts) timeouts, $(grown DropDelayedAck) lone RTTs"
	expect "seconds for 1 MB" "$took" -le 12
}

# And without loss none of this happens.
lossless() {
	path
	snapshot
	transfer 2000000
	expect "cuts" "$(grown LossCuts)" -eq 0
	expect "timeouts" "$(grown TimeoutCuts)" -eq 0
	expect "samples dropped" "$(($(grown DropRetransmitted) + $(grown DropSacked)))" -eq 0
}

# Without SACK, retransmissions are all that TCP knows of losses. What was in flight then
# has no RTT: neither from the first copy, too long, nor from the second, too short.
ambiguous() {
	path loss 2%
	ns_set "$A" ipv4/tcp_sack 0
	snapshot
	trace_on timely_update timely_loss
	transfer 2000000
	trace_off "$KSFT_TMP/trace"
	ns_set "$A" ipv4/tcp_sack 1
	echo "measured: $(grown LossCuts) cuts, $(grown TimeoutCuts) at timeouts, $(grown DropRetransmitted) samples dropped"
	expect "cuts" "$(grown LossCuts)" -ge 3
	expect "samples dropped" "$(grown DropRetransmitted)" -ge "$(grown LossCuts)"
	# 10 ms each way, and 250 ms of queue at most: the window is 500 KB.
	awk "$TRACE_AWK"'
		/timely_update/ && v("rtt") + v("serialisation") < 20e6 {
			print "too short:", $0
			bad = 1
		}
		END { exit bad }' "$KSFT_TMP/trace"
}

ksft_plan 9
need_module
net_line
in_ns "$A" ethtool -K a0 tso off >/dev/null
tc -n "$A" qdisc replace dev a0 root fq
ack_delay 10
timely_slow "$A" 20
# An outstanding limit that the path's buffer holds: losses are netem's alone.
timely_set "$A" t_low_ns 40000000 max_outstanding_bytes 500000
serve "$B"
ksft_case "no losses, no cuts" lossless
ksft_case "1 % of loss" random_loss 1% 3000000
ksft_case "cuts are a round trip apart" once_per_rtt
ksft_case "5 % of loss" random_loss 5% 1000000
ksft_case "what is lost is repaired, whatever the rate" repair
ksft_case "no RTT from what was retransmitted, without SACK" ambiguous
ksft_case "profile auto: without a queue, what is lost" alone
ksft_case "a black hole, and out of it again" blackhole
ksft_case "profile auto: a window of one packet opens again" lone
