#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What becomes an RTT sample: the end of a segment, not every ACK.
#
#	A a0 ---- r0 R r1 ---- b0 B
#	  no TSO               no GRO: B acknowledges every second packet
TIMELY_PROFILE=paper
. "$(dirname "$0")/onramp.sh"

bytes=2000000
line_bps=$((200 * 125000))

transfer() {
	local acks

	trace_on timely_update timely_drop
	in_ns "$A" "$KSFT_DIR/timely_helper" send "$V4_B" 5001 timely $bytes
	trace_off "$KSFT_TMP/trace"
	acks=$(in_ns "$B" nstat -az TcpOutSegs | awk '/TcpOutSegs/ { print $2 }')
	echo "measured: $(grep -c timely_update "$KSFT_TMP/trace") samples, $(
		grep -c timely_drop "$KSFT_TMP/trace" || :) dropped, $acks ACKs"
	# One ACK for two packets of 1448 bytes, or the test shows nothing.
	expect "ACKs" "$acks" -ge $((bytes / 1448 / 3))
	# Where a segment ends in an odd packet, its ACK may be late: dropped for that.
	expect "samples dropped for another reason" \
		"$(grep timely_drop "$KSFT_TMP/trace" | grep -vc reason=delayed_ack || :)" -eq 0
	# While the receiver opens its window TCP sends what it has room for, single
	# packets too: that takes two round trips.
	expect "samples dropped after the first 60 ms" \
		"$(awk '{ at = $4 + 0 }
			/timely_(update|drop)/ && !first { first = at }
			/timely_drop/ && at > first + 0.06 { n++ }
			END { print n + 0 }' "$KSFT_TMP/trace")" -eq 0
	expect "dropped samples" "$(grep -c timely_drop "$KSFT_TMP/trace" || :)" -le 5
}

# Segments are what the trace says, and all that was sent was sent in them.
per_segment() {
	awk "$TRACE_AWK"'
		/timely_update/ {
			n++
			sum += v("bytes")
			if (v("bytes") > segment) { print "too long:", $0; bad = 1 }
			if (v("bytes") > m) m = v("bytes")
		}
		END {
			printf "measured: %d bytes in %d samples of at most %d bytes\n", sum, n, m
			# An ACK that ends two segments is one sample.
			if (sum > total || sum < total * 0.9) bad = 1
			# The first segments are short, then all are whole.
			if (n > total / (m * 0.7)) bad = 1
			exit bad
		}' segment=16384 total=$bytes "$KSFT_TMP/trace"
}

# 20 ms on the way back. The RTT begins when the segment is handed over, so all
# but serialisation at the NIC is in it. These NICs take no time, so that what is
# subtracted is missing.
delay() {
	awk "$TRACE_AWK"'
		/timely_update/ {
			rtt = v("rtt")
			if (!least || rtt < least) least = rtt
			if (rtt + v("serialisation") < 20000000) { print "too short:", $0; bad = 1 }
		}
		END {
			printf "measured: smallest RTT %.3f ms\n", least / 1e6
			if (least > 19900000) bad = 1
			exit bad
		}' "$KSFT_TMP/trace"
}

# ACKs that the path back has lost so far.
acks_lost() {
	tc -n "$R" -s qdisc show dev r0 | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p'
}

# Six of seven ACKs are lost, and the others cover several segments: the newest is
# measured. Segments are 0.7 ms apart, and by the oldest RTTs would be up to 5 ms longer.
# Neither the connection nor its end waits for ACKs that are lost again and again.
lost_acks() {
	local lost

	trace_on timely_update
	spawn in_ns "$A" "$KSFT_DIR/timely_helper" send "$V4_B" 5001 timely $((6 * bytes))
	sleep 0.1
	tc -n "$R" qdisc replace dev r0 root netem delay 20ms loss 85% limit 100000
	echo lossy >"$KSFT_TRACE/trace_marker"
	sleep 1
	echo ended >"$KSFT_TRACE/trace_marker"
	lost=$(acks_lost)
	ack_delay 20
	wait "$SPAWNED"
	trace_off "$KSFT_TMP/trace"
	expect "ACKs lost" "$lost" -ge 100
	awk "$TRACE_AWK"'
		/lossy/ { from = when() }
		/ended/ { from = 0 }
		/timely_update/ && from && when() > from + 0.02 {
			n++
			rtt = v("rtt") + v("serialisation")
			if (rtt < 20e6) { print "too short:", $0; bad = 1 }
			if (rtt > 21.5e6 && ++long < 5) print "too long:", $0
			if (rtt > most) most = rtt
		}
		END {
			printf "measured: %d RTTs, %d above 21.5 ms, the longest %.3f ms\n", n, long, most / 1e6
			exit bad || n < 20 || long > n / 20 || most > 23e6
		}' "$KSFT_TMP/trace"
}

fin_acked() {
	[ -z "$(in_ns "$A" ss -Htn state fin-wait-1)" ]
}

# acks_lost_from BEFORE N: N more than that.
acks_lost_from() {
	[ $(($(acks_lost) - $1)) -ge "$2" ]
}

connected() {
	[ -n "$(in_ns "$A" ss -Htn state established dport = :5001)" ]
}

# Single packets, a millisecond apart, each with an ACK of its own, half of which are lost: an
# ACK ends several segments, and no part of the next one, which has left since. Neither those of
# the handshake nor the last ones are lost: each loss would double the time to the next try.
singles() {
	local before

	before=$(acks_lost)
	ip -n "$B" route change default via 10.77.2.1 quickack 1
	trace_on timely_update
	spawn in_ns "$A" "$KSFT_DIR/timely_helper" trickle "$V4_B" 5001 timely 1448 1 3000 0
	wait_for 10 connected
	tc -n "$R" qdisc replace dev r0 root netem delay 20ms loss 50% limit 100000
	wait_for 10 acks_lost_from "$before" 250
	ack_delay 20
	wait "$SPAWNED"
	trace_off "$KSFT_TMP/trace"
	# The ACK of the FIN may be lost as well, and the socket keeps the module until it comes.
	wait_for 10 fin_acked
	awk "$TRACE_AWK"'
		/timely_update/ {
			n++
			if (v("rtt") + v("serialisation") < 20000000 && ++short < 5)
				print "too short:", $0
		}
		END {
			printf "measured: %d samples, %d too short\n", n, short
			exit n < 50 || short
		}' "$KSFT_TMP/trace"
}

# Payload, and 20 + 32 + 14 + 24 bytes for each packet of 1448.
serialisation() {
	awk "$TRACE_AWK"'
		/timely_update/ {
			wire = v("bytes") + int((v("bytes") + 1447) / 1448) * 90
			if (v("serialisation") != int(wire * 1e9 / line) ||
			    v("cap") != int(line * 1448 / 1538)) {
				print
				bad = 1
			}
		}
		END { exit bad || !NR }' line=$line_bps "$KSFT_TMP/trace"
}

# No RTT here is as long as 100 ms: each says that there is no queue, and is compared
# with no other one.
floor() {
	local completions below

	timely_set "$A" rtt_floor_ns 100000000
	completions=$(timely_count "$A" Completions)
	below=$(timely_count "$A" BelowFloor)
	trace_on timely_update
	in_ns "$A" "$KSFT_DIR/timely_helper" send "$V4_B" 5001 timely 300000
	trace_off "$KSFT_TMP/trace"
	below=$(($(timely_count "$A" BelowFloor) - below))
	expect "samples below the floor" "$below" -ge 10
	expect "samples" "$(($(timely_count "$A" Completions) - completions))" -eq "$below"
	awk "$TRACE_AWK"'
		v("rtt") >= 100000000 || v("branch") != "increase" || v("prev_rtt") ||
		v("rtt_diff") || (v("rate") <= v("old_rate") && v("old_rate") < v("cap") &&
		!v("held")) {
			print
			bad = 1
		}
		END { exit bad || NR < 10 }' "$KSFT_TMP/trace"
	timely_set "$A" rtt_floor_ns 1000
}

ksft_plan 7
need_module
net_line
in_ns "$A" ethtool -K a0 tso off >/dev/null
in_ns "$B" ethtool -K b0 gro off >/dev/null
ack_delay 20
# Twice what the path holds. A flow that its window limits sends as that opens, by an
# ACK's two packets or one, and an odd one is no sample.
timely_set "$A" line_rate_mbit 200 t_high_ns 500000000 max_outstanding_bytes 1000000
serve "$B" --rcvlowat 1
ksft_case "a transfer whose receiver acknowledges every second packet" transfer
ksft_case "one sample for each segment, none for the ACKs between" per_segment
ksft_case "no sample is shorter than the path" delay
ksft_case "the newest segment is measured when ACKs are lost" lost_acks
ksft_case "serialisation is that of all bytes on the wire" serialisation
ksft_case "samples below the floor are counted, and raise the rate" floor
ksft_case "single packets are measured when ACKs are lost" singles
