#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# C / (N + 1): what a flow starts at, C the payload that the line carries, N the other
# active flows on the same device in the same namespace.
#
#	A a0 ---------- b0 B		C c0 ---------- d0 B
#	A a1 ---------- b1 B
#	A br0 (a2, t0) ---- b2 B
TIMELY_PROFILE=paper
. "$(dirname "$0")/onramp.sh"

helper=$KSFT_DIR/timely_helper

# start_on NAMESPACE ADDR: one flow; prints "rate cap active" of its start.
start_on() {
	trace_on timely_start
	in_ns "$1" "$helper" send "$2" 5001 timely 1000
	trace_off "$KSFT_TMP/trace"
	awk "$TRACE_AWK"'{ print v("rate"), v("cap"), v("active") }' "$KSFT_TMP/trace"
}

# stall NAMESPACE ADDR N: N flows with data that nobody takes.
stall() {
	rm -f "$KSFT_TMP/stalled"
	spawn in_ns "$1" "$helper" stall "$2" 5002 timely "$3" "$KSFT_TMP/stalled"
	wait_for 10 test -e "$KSFT_TMP/stalled"
}

# payload LINE ADDR: of what a line carries: packets have headers of IP, 32 bytes of
# TCP, 14 and 24 of Ethernet.
payload() {
	local ip=20 mss=1448

	case $2 in
	*:*)	ip=40 mss=1428 ;;
	127.*)	mss=32741 ;;	# half of the window
	esac
	echo $(($1 * mss / (mss + 32 + ip + 38)))
}

# expect_start NAMESPACE ADDR LINE N
expect_start() {
	local c

	c=$(payload "$3" "$2")
	expect_same "rate, C and N" "$(start_on "$1" "$2")" "$((c / ($4 + 1))) $c $4"
}

shares() {
	local c=$((1000 * 125000)) pids=()

	timely_set "$A" line_rate_mbit 1000
	expect_start "$A" "$V4_B" $c 0
	stall "$A" "$V4_B" 1
	pids+=("$SPAWNED")
	expect_start "$A" "$V4_B" $c 1
	expect_start "$A" "$V6_B" $c 1
	stall "$A" "$V6_B" 1
	pids+=("$SPAWNED")
	expect_start "$A" "$V4_B" $c 2
	stall "$A" "$V4_B" 4
	pids+=("$SPAWNED")
	expect_start "$A" "$V4_B" $c 6
	# Flows of another congestion control do not count.
	spawn in_ns "$A" "$helper" stall "$V4_B" 5002 cubic 3 "$KSFT_TMP/cubic"
	wait_for 10 test -e "$KSFT_TMP/cubic"
	expect_start "$A" "$V4_B" $c 6
	# The other device, the other namespace.
	expect_start "$A" 10.77.3.2 $c 0
	timely_set "$C" line_rate_mbit 1000
	expect_start "$C" 10.77.4.2 $c 0
	stop "${pids[0]}"
	stop "${pids[1]}"
	wait_for 20 starts_beside 4
	stop "${pids[2]}"
	wait_for 20 starts_beside 0
	expect_start "$A" "$V4_B" $c 0
	timely_set "$A" line_rate_mbit 0
}

starts_beside() {
	[ "$(start_on "$A" "$V4_B" | cut -d' ' -f3)" = "$1" ]
}

# A flow that has delivered all it had is not active, though it is open.
idle_ones() {
	spawn in_ns "$A" "$helper" many "$V4_B" 5001 timely 5 20000 "$KSFT_TMP/many"
	wait_for 10 test -e "$KSFT_TMP/many"
	expect_start "$A" "$V4_B" 1250000000 0
	stop "$SPAWNED"
}

line_rates() {
	local before

	before=$(timely_count "$A" LineRateUnknown)
	# veth says 10 Gbit/s.
	expect_start "$A" "$V4_B" 1250000000 0
	expect "unknown line rates" "$(timely_count "$A" LineRateUnknown)" -eq "$before"
	# What the operator says goes, up to the largest there is.
	timely_set "$A" line_rate_mbit 1600000
	expect_start "$A" "$V4_B" 200000000000 0
	timely_set "$A" line_rate_mbit 0
	# lo says nothing.
	serve "$A"
	expect_start "$A" 127.0.0.1 1250000000 0
	stop "$SPAWNED"
	expect "unknown line rates" "$(timely_count "$A" LineRateUnknown)" \
		-eq "$((before + 1))"
}

# A bridge is as fast as the fastest of its ports, and what a tap says of itself is
# up to us: traffic takes the veth, C is that of the tap.
asks_device() {
	local port tap

	modprobe tun
	veth_pair "$A" a2 '' "$B" b2 10.77.5.2
	spawn in_ns "$A" "$helper" tap t0 "$KSFT_TMP/tap"
	tap=$SPAWNED
	wait_for 10 test -e "$KSFT_TMP/tap"
	in_ns "$A" ethtool -s t0 speed 25000 duplex full autoneg off
	ip -n "$A" link add br0 type bridge
	for port in a2 t0; do
		ip -n "$A" link set $port master br0
		ip -n "$A" link set $port up
	done
	link_up "$A" br0 10.77.5.1
	wait_for 10 bridge_has 3125000000
	absurd_window
	# It is asked again when the device comes up again.
	stop "$tap"
	ip -n "$A" link set br0 down
	ip -n "$A" link set br0 up
	wait_for 10 bridge_has 1250000000
}

# As fast as the NIC can claim to be, with Thigh as long as it can be, the limit on
# outstanding data is still a number of packets that TCP can have.
absurd_window() {
	in_ns "$A" ethtool -s t0 speed 1600000 duplex full autoneg off
	ip -n "$A" link set br0 down
	ip -n "$A" link set br0 up
	wait_for 10 bridge_has 200000000000
	timely_set "$A" t_high_ns 10000000000
	spawn in_ns "$A" "$helper" \
		many 10.77.5.2 5001 timely 1 100000 "$KSFT_TMP/absurd"
	wait_for 10 test -e "$KSFT_TMP/absurd"
	in_ns "$A" ss -Htni dst 10.77.5.2 | grep -o ' cwnd:[0-9]*' >"$KSFT_TMP/cwnd"
	stop "$SPAWNED"
	timely_set "$A" t_high_ns 500000
	expect_same "cwnd" "$(cat "$KSFT_TMP/cwnd")" " cwnd:$(((1 << 29) / (1448 + 2048)))"
}

bridge_has() {
	local c

	c=$(payload "$1" 10.77.5.2)
	[ "$(start_on "$A" 10.77.5.2)" = "$c $c 0" ]
}

ksft_plan 4
need_module
C=$(ns_name C)
net_pair
ns_add "$C"
veth_pair "$A" a1 10.77.3.1 "$B" b1 10.77.3.2
veth_pair "$C" c0 10.77.4.1 "$B" d0 10.77.4.2
serve "$B"
for address in "$V4_B" "$V6_B"; do
	spawn in_ns "$B" "$helper" stall-listen "$address" 5002 "$KSFT_TMP/stalling"
	wait_for 10 test -e "$KSFT_TMP/stalling"
	rm "$KSFT_TMP/stalling"
done
ksft_case "a flow starts at C/(N+1), N on its own device and namespace" shares
ksft_case "open but idle flows are not counted" idle_ones
ksft_case "C is what ethtool says, else 10 Gbit/s, or as configured" line_rates
ksft_case "C follows a device whose speed changes" asks_device
