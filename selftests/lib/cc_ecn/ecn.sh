#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Who has ECN, who falls back, and who echoes.
#
#	A a0 ---------- b0 B
. "$(dirname "$0")/onramp.sh"
. "$(dirname "$0")/law.sh"

helper=$KSFT_DIR/timely_helper
cc=${ccs[0]}
last=${ccs[-1]}

cc_count() {
	proc_count "$cc" "$@"
}

# grows COUNTER BY COMMAND...: a counter of A grows by exactly so much.
grows() {
	local counter=$1 by=$2 before
	shift 2

	before=$(cc_count "$A" "$counter")
	"$@"
	expect "growth of $counter" "$(($(cc_count "$A" "$counter") - before))" -eq "$by"
}

# send CC TO PORT [BYTES]
send() {
	in_ns "$A" "$helper" send "$2" "$3" "$1" "${4:-100000}"
}

negotiated() {
	local to name

	for name in "${ccs[@]}"; do
		for to in "$V4_B" "$V6_B" "::ffff:$V4_B"; do
			grows Starts 1 grows FallbackNoEcn 0 send "$name" "$to" 5001
		done
	done
	expect "received without CE" "$(cc_count "$B" PacketsWithoutCE)" -gt 9
	expect "received with CE" "$(cc_count "$B" PacketsWithCE)" -eq 0
	expect "marked" "$(cc_count "$A" PacketsMarked)" -eq 0
	# shellcheck disable=SC2154 # of law.sh
	expect "decreases" "$(cc_count "$A" "$decreases")" -eq 0
}

by_route() {
	local family to

	for family in -4 -6; do
		[ $family = -4 ] && to=$V4_B || to=$V6_B
		ip -n "$A" $family route add "$to" dev a0 congctl "$last"
		grows Starts 1 send - "$to" 5001
		ip -n "$A" $family route del "$to" dev a0 congctl "$last"
		grows Starts 0 send - "$to" 5001
	done
}

# A peer whose congestion control does not echo each mark refuses ECN, also if its host
# would take ECN from others; so does one that has ECN turned off.
without_ecn() {
	local ecn

	for ecn in 0 1 2; do
		ns_set "$B" ipv4/tcp_ecn $ecn
		grows FallbackNoEcn 1 grows Starts 0 in_ns "$A" "$helper" \
			falls "$V4_B" 5002 "$cc" "$cc-reno" 1000000
		grows FallbackNoEcn 1 grows Starts 0 in_ns "$A" "$helper" \
			falls "$V6_B" 5002 "$last" "$cc-reno" 1000000
	done
}

# What falls back sends no ECT, so that nobody marks it.
falls_to_not_ect() {
	tc -n "$A" qdisc replace dev a0 root handle 1: tbf rate 100mbit burst 16k limit 1000000
	tc -n "$A" qdisc add dev a0 parent 1:1 fq_codel ce_threshold 100us
	in_ns "$A" "$helper" falls "$V4_B" 5002 "$cc" "$cc-reno" 1000000
	expect "marked packets" "$(ce_marked a0)" -eq 0
	send "$cc" "$V4_B" 5001 1000000
	expect "marked packets" "$(ce_marked a0)" -gt 0
	tc -n "$A" qdisc del dev a0 root
}

ce_marked() {
	tc -n "$A" -s -j qdisc show dev "$1" | tr ',' '\n' |
		sed -n 's/.*"ce_mark":\([0-9]*\).*/\1/p' | awk '$1 > n { n = $1 } END { print n + 0 }'
}

# Chosen while the SYN is on its way; it asked for ECN, and the answer is no, or yes.
late() {
	tc -n "$B" qdisc add dev b0 root netem delay 200ms
	ns_set "$A" ipv4/tcp_ecn 1
	ns_set "$B" ipv4/tcp_ecn 0
	grows FallbackNoEcn 1 in_ns "$A" "$helper" late "$V4_B" 5002 "$cc" "$cc-reno" 10000
	# With RFC 3168 on, a plain SYN with ECN is taken.
	ns_set "$B" ipv4/tcp_ecn 1
	grows FallbackNoEcn 0 grows Starts 1 in_ns "$A" "$helper" \
		late "$V4_B" 5002 "$cc" "$cc" 10000
	ns_set "$A" ipv4/tcp_ecn 2
	ns_set "$B" ipv4/tcp_ecn 2
	tc -n "$B" qdisc del dev b0 root
}

mptcp() {
	ns_set "$A" mptcp/enabled 1 ipv4/tcp_congestion_control "$cc"
	grows Starts 0 in_ns "$A" "$helper" mptcp "$cc" "$cc-reno" 300000 >"$KSFT_TMP/ss"
	ns_set "$A" ipv4/tcp_congestion_control cubic
	expect "refusals" "$(cc_count "$A" FallbackMptcp)" -ge 1
	expect "subflows with Reno" "$(grep -c "$cc-reno" "$KSFT_TMP/ss")" -ge 1
}

# delayed: ACKs that B has sent by its timer of 40 ms.
delayed() {
	in_ns "$B" awk '/^TcpExt:/ && !n { for (i = 1; i <= NF; i++) if ($i == "DelayedACKs") n = i; next }
		/^TcpExt:/ { print $n }' /proc/net/netstat
}

# one_by_one NAME PORT: 100 packets to B.
one_by_one() {
	local before

	before=$(delayed)
	send "$1" "$V4_B" "$2" $((1448 * 100))
	echo "measured: 100 packets with $1 to port $2: $(($(delayed) - before)) delayed ACKs"
	expect "delayed ACKs of 100 packets" $(($(delayed) - before)) -lt 30
}

# One packet at a time: each waits for the ACK of the one before, and few for a timer.
no_delayed_ack() {
	local name

	params_set "$A" "ipv4/$cc" window_packets 1 segment_bytes 1448
	for name in "${ccs[@]}"; do
		one_by_one "$name" 5001
	done
	params_set "$A" "ipv4/$cc" window_packets 0 segment_bytes 16384
	# DCTCP delays ACKs, and without a parameter no window is one packet.
	one_by_one "$cc" 5003
}

switched() {
	grows FallbackNoEcn 0 in_ns "$A" "$helper" switch "$V4_B" 5001 "$cc" cubic 100 30000
	grows FallbackNoEcn 0 in_ns "$A" "$helper" switch "$V4_B" 5001 "$cc" "$last" 100 30000
	# To one that has negotiated none, it falls back in mid-flow as well.
	grows Starts 0 grows FallbackNoEcn 1 in_ns "$A" "$helper" \
		fallen "$V4_B" 5002 cubic "$cc" "$cc-reno" 300000
}

# Segments are bounded while it is used, and no longer.
segment_bound() {
	local size

	params_set "$A" "ipv4/$cc" segment_bytes 2900
	size=$(packet_size send "$cc" "$V4_B" 5001 1000000)
	expect "bytes per packet before" "$size" -le 2962
	expect "bytes per packet before" "$size" -ge 2000
	size=$(packet_size in_ns "$A" "$helper" then "$cc" cubic "$V4_B" 5001 3000 3000000)
	expect "bytes per packet after the switch to cubic" "$size" -ge 6000
	params_set "$A" "ipv4/$cc" segment_bytes 16384
}

# listen CC PORT
listen() {
	serve "$B" --cc "$1" --port "$2"
	wait_for 10 listening "$B" "$2"
}

no_refs() {
	[ "$(cat "/sys/module/tcp_$cc/refcnt")" -eq 0 ]
}

nobody_left() {
	stop "$marks_server"
	wait_for 20 no_refs
}

ksft_plan 10
need_module "tcp_$cc"
modprobe tcp_dctcp
net_pair
listen "$cc" 5001
marks_server=$SPAWNED
listen cubic 5002
listen dctcp 5003
ksft_case "ECN is negotiated over IPv4, IPv6 and v4-mapped addresses" negotiated
ksft_case "a route's congctl, IPv4 and IPv6" by_route
ksft_case "a peer without such ECN: Reno, counted" without_ecn
ksft_case "what falls back sends no ECT" falls_to_not_ect
ksft_case "chosen between SYN and SYN-ACK" late
ksft_mptcp_case "MPTCP subflows run Reno" mptcp
ksft_case "a window of one packet waits for no delayed ACK" no_delayed_ack
ksft_case "switched to and fro under traffic" switched
ksft_case "segments are bounded, and no longer after a switch" segment_bound
ksft_case "nothing holds the module" nobody_left
