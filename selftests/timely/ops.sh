#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Ways to get a socket on tcp_timely, and what else happens to such sockets.
#
#	A a0 ---------- b0 B
#
#	C (another namespace, for a socket that is passed on)
TIMELY_PROFILE=paper
. "$(dirname "$0")/onramp.sh"

helper=$KSFT_DIR/timely_helper

# grows COUNTER BY COMMAND...: a counter of A grows by exactly so much.
grows() {
	local counter=$1 by=$2 before
	shift 2

	before=$(timely_count "$A" "$counter")
	"$@"
	expect "growth of $counter" \
		"$(($(timely_count "$A" "$counter") - before))" -eq "$by"
}

# Only flows over that route use it, and without asking for it.
by_route() {
	local family

	for family in -4 -6; do
		[ $family = -4 ] && to=$V4_B || to=$V6_B
		ip -n "$A" $family route add "$to" dev a0 congctl timely
		grows Starts 1 in_ns "$A" "$helper" send "$to" 5001 - 100000
		ip -n "$A" $family route del "$to" dev a0 congctl timely
		grows Starts 0 in_ns "$A" "$helper" send "$to" 5001 - 100000
	done
}

by_user() {
	grows Starts 1 in_ns "$A" "$helper" user 65534 \
		send "$V4_B" 5001 timely 100000
}

by_default() {
	ns_set "$A" ipv4/tcp_congestion_control timely
	grows Starts 1 in_ns "$A" "$helper" send "$V4_B" 5001 - 100000
	expect_same "B's default" "$(ns_get "$B" ipv4/tcp_congestion_control)" \
		"$(ns_get "$C" ipv4/tcp_congestion_control)"
	ns_set "$A" ipv4/tcp_congestion_control cubic
}

by_listener() {
	grows Starts 1 in_ns "$A" "$helper" inherit timely
}

# v4-mapped: an IPv6 socket whose packets are IPv4, headers included.
addresses() {
	local to serialisation

	for to in "$V4_B" "$V6_B" "::ffff:$V4_B"; do
		trace_on timely_update
		grows Starts 1 in_ns "$A" "$helper" send "$to" 5001 timely 400000
		trace_off "$KSFT_TMP/trace"
		# Header sizes: 20 or 40, 20 + 12 of TCP, 14 + 24 of Ethernet.
		serialisation=$(awk "$TRACE_AWK"'{
			header = ip + 32 + 38
			mss = 1500 - ip - 32
			n = int((v("bytes") + mss - 1) / mss)
			wire = v("bytes") + n * header
			want = int(wire * 1000000000 / 1250000000)
			if (v("cap") != int(1250000000 * mss / (mss + header))) {
				print "cap:", $0
				bad = 1
			}
			if (want != v("serialisation")) {
				print "want", want, "in:", $0
				bad = 1
			}
		} END { print NR; exit bad }' \
			ip="$([ "$to" = "$V6_B" ] && echo 40 || echo 20)" "$KSFT_TMP/trace")
		expect "samples to $to" "$serialisation" -ge 5
	done
}

# ss prints TCP's own rtt and minrtt, and the name.
shown_by_ss() {
	local line rtt minrtt

	tc -n "$B" qdisc add dev b0 root netem delay 20ms
	spawn load "$A" --to "$V4_B" --cc timely --duration 60
	wait_for 10 shown
	line=$(in_ns "$A" ss -Htni dst "$V4_B" | tail -n 1)
	stop "$SPAWNED"
	tc -n "$B" qdisc del dev b0 root
	echo "$line"
	rtt=$(echo "$line" | sed -n 's/.* rtt:\([0-9.]*\).*/\1/p')
	minrtt=$(echo "$line" | sed -n 's/.* minrtt:\([0-9.]*\).*/\1/p')
	expect "RTT, ms" "$rtt" -ge 19
	expect "smallest RTT, ms" "$minrtt" -ge 19
	expect "smallest RTT, ms" "$minrtt" -lt 500
	[[ $line == *" timely "* ]]
	[[ $line == *"pacing_rate "* ]]
}

# What the module reports of a flow is what it did: the traced decisions.
vegas_info() {
	local info

	trace_on timely_update
	info=$(in_ns "$A" "$helper" info "$V4_B" 5001 timely 1000000)
	trace_off "$KSFT_TMP/trace"
	echo "measured: enabled, samples, newest and smallest RTT in us: $info"
	awk "$TRACE_AWK"'
		/timely_update/ {
			n++
			us = int(v("rtt") / 1000)
			newest = us
			if (us < 1) us = 1
			if (n == 1 || us < least) least = us
		}
		END {
			want = "1 " n " " newest " " least
			if (n < 10 || want != info) { print "want:", want; exit 1 }
		}' info="$info" "$KSFT_TMP/trace"
}

shown() {
	in_ns "$A" ss -Htni dst "$V4_B" | grep -q ' timely .*minrtt:'
}

mptcp() {
	local out

	ns_set "$A" mptcp/enabled 1
	grows Starts 0 in_ns "$A" "$helper" mptcp timely timely-reno 300000 >"$KSFT_TMP/ss"
	cat "$KSFT_TMP/ss"
	expect "refusals" "$(timely_count "$A" MptcpRefused)" -ge 1
	out=$(grep -c timely-reno "$KSFT_TMP/ss")
	expect "subflows with timely-reno" "$out" -ge 1
	# Nothing of it is in the list that users see.
	refused grep -q timely-reno /proc/sys/net/ipv4/tcp_available_congestion_control
}

# The parameters are those of the namespace it was made in; so are the counters.
passed_on() {
	local before_c

	timely_set "$A" line_rate_mbit 123
	timely_set "$C" line_rate_mbit 456
	before_c=$(timely_count "$C" Starts)
	trace_on timely_start
	grows Starts 1 "$helper" pass "$A" "$C" "$V4_B" 5001 timely 100000
	trace_off "$KSFT_TMP/trace"
	expect "starts in the other one" "$(timely_count "$C" Starts)" -eq "$before_c"
	expect "line rate" "$(awk "$TRACE_AWK"'{ print v("cap") }' "$KSFT_TMP/trace")" \
		-eq "$((123 * 125000 * 1448 / 1538))"
	timely_set "$A" line_rate_mbit 0
}

# And when that namespace is gone from under it.
namespace_gone() {
	ns_add "$D"
	veth_pair "$D" d0 10.77.9.1 "$B" e0 10.77.9.2
	spawn load "$D" --to 10.77.9.2 --cc timely --flows 4 --duration 60
	wait_for 10 in_ns "$D" grep -q 'Completions [1-9]' /proc/net/timely
	ns_del "$D"
	# Sockets keep their namespace until they are closed.
	stop "$SPAWNED"
}

fast_open() {
	in_ns "$B" "$helper" true 2>/dev/null || true
	ns_set "$A" ipv4/tcp_fastopen 1
	ns_set "$B" ipv4/tcp_fastopen 2
	spawn in_ns "$B" "$helper" fastopen-listen "$V4_B" 5002 "$KSFT_TMP/tfo"
	wait_for 10 test -e "$KSFT_TMP/tfo"
	grows Starts 2 in_ns "$A" "$helper" fastopen "$V4_B" 5002 timely 100000
	stop "$SPAWNED"
}

reconnect() {
	grows Starts 6 in_ns "$A" "$helper" reconnect "$V4_B" 5001 timely 100000 6
	nothing_active
}

none_active() {
	trace_on timely_start
	in_ns "$A" "$helper" send "$V4_B" 5001 timely 1000
	trace_off "$KSFT_TMP/trace"
	[ "$(awk "$TRACE_AWK"'{ print v("active") }' "$KSFT_TMP/trace")" = 0 ]
}

# nothing_active: a flow that starts now finds no other on its device, once data of sockets without a process is sent.
nothing_active() {
	wait_for 20 none_active
}

switched() {
	local before grown

	before=$(timely_count "$A" Starts)
	in_ns "$A" "$helper" switch "$V4_B" 5001 timely cubic 200 30000
	grown=$(($(timely_count "$A" Starts) - before))
	# On a slow machine a switch back can come before anything was sent.
	expect "most starts" "$grown" -le 100
	expect "least starts" "$grown" -ge 90
	nothing_active
}

# A small segment bounds what TCP sends in one go, and only while timely is used.
segment_bound() {
	local size

	timely_set "$A" segment_bytes 2900
	size=$(packet_size in_ns "$A" "$helper" send "$V4_B" 5001 timely 1000000)
	expect "bytes per packet with timely" "$size" -le 2962
	expect "bytes per packet with timely" "$size" -ge 2000
	size=$(packet_size in_ns "$A" "$helper" \
		then timely cubic "$V4_B" 5001 3000 3000000)
	expect "bytes per packet after the switch to cubic" "$size" -ge 6000
	timely_set "$A" segment_bytes 16384
}

# The static limit is not what the next congestion control begins with: that is what
# the rate sends in a round trip, or TCP's first window, and it does not double it.
window_left() {
	local before ssthresh after

	tc -n "$B" qdisc add dev b0 root netem delay 20ms
	timely_set "$A" line_rate_mbit 100 max_outstanding_bytes 10000000
	read -r before _ after ssthresh < <(in_ns "$A" "$helper" \
		window "$V4_B" 5001 timely cubic 1000000)
	timely_set "$A" line_rate_mbit 0 max_outstanding_bytes 0
	tc -n "$B" qdisc del dev b0 root
	echo "measured: cwnd $before, then $after, ssthresh $ssthresh"
	expect "cwnd of timely" "$before" -eq $((10000000 / 1448))
	# At 94 Mbit/s 20 ms are 162 packets; RTTs may be longer, and the rate lower.
	expect "cwnd of cubic" "$after" -ge 10
	expect "cwnd of cubic" "$after" -le 3000
	expect "ssthresh of cubic" "$ssthresh" -eq "$after"
}

# What waits in a qdisc follows no cut: of that there are two segments, or 61 us of the
# rate, and not TCP's millisecond. Here the qdisc lets nothing pass.
little_waits() {
	local bytes

	timely_set "$A" line_rate_mbit 400 segment_bytes 2896
	tc -n "$A" qdisc replace dev a0 root tbf rate 8kbit burst 3100 limit 10000000
	# What connects waits for no token; what is left of them is for one packet.
	spawn in_ns "$A" "$helper" many "$V4_B" 5001 timely 1 1000000 "$KSFT_TMP/waiting"
	sleep 1
	bytes=$(tc -n "$A" -s qdisc show dev a0 |
		awk '$1 == "backlog" { sub("b", "", $2); print $2 + 0; exit }')
	stop "$SPAWNED" KILL
	tc -n "$A" qdisc del dev a0 root
	timely_set "$A" line_rate_mbit 0 segment_bytes 16384
	echo "measured: $bytes bytes wait"
	# A millisecond of 400 Mbit/s is 50 KB, of which cwnd lets 14 KB pass at first.
	expect "bytes that wait" "$bytes" -ge 2800
	expect "bytes that wait" "$bytes" -le 10500
}

held_by_nobody() {
	[ "$(cat /sys/module/tcp_timely/refcnt)" -eq 0 ]
}

ksft_plan 18
need_module
C=$(ns_name C) D=$(ns_name D)
ns_add "$C"
net_pair
serve "$B"
ksft_case "a route's congctl, IPv4 and IPv6" by_route
ksft_case "an unprivileged user's socket option" by_user
ksft_case "a namespace's default" by_default
ksft_case "connections have their listener's" by_listener
ksft_case "IPv4, IPv6 and v4-mapped count their own headers" addresses
ksft_case "ss shows name, RTT and smallest RTT" shown_by_ss
ksft_case "TCP_CC_INFO says what the trace says" vegas_info
ksft_mptcp_case "MPTCP is refused: its subflows run timely-reno" mptcp
ksft_case "a socket passed to another namespace keeps its parameters" passed_on
ksft_case "a socket outlives the name of its namespace" namespace_gone
ksft_case "data in SYN" fast_open
ksft_case "disconnected and connected again" reconnect
ksft_case "switched to and fro under traffic" switched
ksft_case "segments are bounded, and no longer after a switch" segment_bound
ksft_case "cubic does not inherit the static window" window_left
ksft_case "a qdisc holds two segments of a socket, not a millisecond" little_waits
ksft_case "nothing is left active" nothing_active
ksft_case "rmmod has nothing to wait for" wait_for 10 held_by_nobody
