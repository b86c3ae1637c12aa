#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Each packet that a device counts is captured once, whatever it looks like.
#
#	A a0 ---------- b0 B
. "$(dirname "$0")/nic_ts_lib.sh"

RX='RxParsedTcp|RxSkip.*'
TX='TxParsedTcp|TxSkip.*'

# offloads GRO TSO: of both ends.
offloads() {
	in_ns "$A" ethtool -K a0 gro "$1" tso "$2" gso "$2"
	in_ns "$B" ethtool -K b0 gro "$1" tso "$2" gso "$2"
}

# given NAMESPACE DEVICE rx|tx: packets that the device came to see; what a driver
# drops it was given.
given() {
	local all packets="\"$3\":[{][^}]*\"packets\":([0-9]+),\"errors\":[0-9]+,\"dropped\":([0-9]+)"

	all=$(ip -n "$1" -s -j link show dev "$2")
	[[ $all =~ $packets ]]
	if [ "$3" = tx ]; then
		echo $((BASH_REMATCH[1] + BASH_REMATCH[2]))
	else
		echo "${BASH_REMATCH[1]}"
	fi
}

# both NAMESPACE DEVICE rx|tx PATTERN: the device's count and the bus's, with no
# packet between the two readings.
both() {
	local before after bus

	after=$(given "$1" "$2" "$3")
	while before=$after; do
		bus=$(dev_stat "$1" "$2" "$4")
		after=$(given "$1" "$2" "$3")
		[ "$before" -ne "$after" ] || break
	done
	echo "$before $bus"
}

snapshot() {
	read -r rx_dev rx_bus <<<"$(both "$B" b0 rx "$RX")"
	read -r tx_dev tx_bus <<<"$(both "$A" a0 tx "$TX")"
}

counters() {
	ip -n "$A" -s link show dev a0
	ip -n "$B" -s link show dev b0
}

# Nothing is under way.
idle_link() {
	local before

	before=$(counters)
	sleep 0.5
	[ "$(counters)" = "$before" ]
}

has_flow() {
	[ "$(bus_stat "$A" Flows)" -ge "$1" ]
}

# exact ADDRESS: data from A to B, every packet captured at both ends. A flow that
# has nothing to send keeps TX capture on before and after it.
exact() {
	local rx_dev rx_bus tx_dev tx_bus tcp rx tx rx_seen tx_seen holder stamped

	watch "$A" a0
	watch "$B" b0
	spawn dcload client --netns "$A" --to "$1" --cc nic_ts_test --duration 100 \
		--rtt-sample-us 0 --idle 0.02:100
	holder=$SPAWNED
	wait_for 10 has_flow 1
	capturing "$B" b0
	wait_for 20 idle_link
	counts
	snapshot
	rx=$rx_dev tx=$tx_dev rx_seen=$rx_bus tx_seen=$tx_bus
	tcp=$(dev_stat "$B" b0 RxParsedTcp)
	stamped=$(dev_stat "$B" b0 RxStampedByStack)
	bus_stats "$A" >"$KSFT_TMP/bus"
	load "$A" --to "$1" --cc nic_ts_test --flows 2 \
		--duration "$(often 0.3 1)"
	wait_for 20 idle_link
	snapshot
	rx=$((rx_dev - rx)) tx=$((tx_dev - tx))
	expect "packets" "$rx" -gt 100
	expect "captured at RX" $((rx_bus - rx_seen)) -eq "$rx"
	expect "captured at TX" $((tx_bus - tx_seen)) -eq "$tx"
	tcp=$(($(dev_stat "$B" b0 RxParsedTcp) - tcp))
	expect "TCP among them" "$tcp" -gt 100
	expect "with the tracepoint's timestamp" \
		$(($(dev_stat "$B" b0 RxStampedByStack) - stamped)) -eq "$tcp"
	counts
	bus_grown
	expect "RTTs" "$(counted ok)" -gt 10
	expect "delivered to the receivers" "$(counted packets)" -gt 100
	nothing_bad
	echo "measured: $rx packets at RX, $tx at TX, RTT from $(counted min_rtt_ns) ns"
	unwatch
	stop "$holder"
}

bus_stats() {
	in_ns "$1" nic_ts stats
	echo "TxStampedByStack $(dev_stat "$1" a0 TxStampedByStack)"
}

# bus_grown: what A's bus has counted since, each thing once: segments and ACKs with records, and
# the requests of its users.
bus_grown() {
	bus_stats "$A" | awk 'NR == FNR { before[$1] = $2; next }
		{ print $1, $2 - before[$1] }' "$KSFT_TMP/bus" - >"$KSFT_TMP/grown"
	expect "segments" "$(grown TxRecorded)" -gt 10
	expect "timestamps of segments" "$(grown TxStampedByStack)" -eq \
		$(($(grown TxRecorded) + $(grown TxRetransmitted)))
	expect "ACKs" "$(grown AcksRecorded)" -gt 10
	expect "RTTs" $(($(grown RttSoftware) + $(grown RttHardwareRejected))) -eq "$(counted ok)"
	expect "requests without a segment" "$(grown RttNoSegment)" -eq "$(counted no_tx)"
	expect "requests without an ACK" "$(grown RttNoAck)" -eq "$(counted no_ack)"
	expect "invalid requests" "$(grown RttInvalid)" -eq "$(counted invalid)"
}

grown() {
	awk -v name="$1" '$1 == name { print $2; found = 1 } END { exit !found }' "$KSFT_TMP/grown"
}

plain() {
	offloads "$1" "$2"
	exact "$3"
}

# Packets that GRO makes of those that were captured.
merged() {
	local dir=/sys/kernel/tracing/instances/nic_ts-$KSFT_ID before after

	offloads on off
	mkdir "$dir"
	undo "rmdir $dir"
	echo 8192 >"$dir/buffer_size_kb"
	echo 'name == "b0"' >"$dir/events/net/netif_receive_skb/filter"
	watch "$B" b0
	capturing "$B" b0
	wait_for 20 idle_link
	before=$(dev_stat "$B" b0 "$RX")
	echo 1 >"$dir/events/net/netif_receive_skb/enable"
	load "$A" --to "$V4_B" --cc nic_ts_test --flows 1 --duration 0.5
	wait_for 20 idle_link
	echo 0 >"$dir/events/net/netif_receive_skb/enable"
	before=$(($(dev_stat "$B" b0 "$RX") - before))
	after=$(grep -c netif_receive_skb: "$dir/trace")
	echo "measured: $before packets captured, $after after GRO"
	expect "packets after GRO" "$after" -gt 0
	expect "packets before GRO" "$before" -gt $((after * 2))
	unwatch
}

jumbo() {
	ip -n "$A" link set a0 mtu 9000
	ip -n "$B" link set b0 mtu 9000
	offloads on off
	exact "$V4_B"
	ip -n "$A" link set a0 mtu 1500
	ip -n "$B" link set b0 mtu 1500
}

# vlan OUTER-PROTOCOL TXVLAN [INNER]: tags in the packet, or beside it.
vlan() {
	local dev=t0

	offloads on off
	in_ns "$A" ethtool -K a0 tx-vlan-hw-insert "$2" tx-vlan-stag-hw-insert "$2" || :
	ip -n "$A" link add link a0 name t0 type vlan proto "$1" id 10
	ip -n "$B" link add link b0 name t0 type vlan proto "$1" id 10
	if [ $# -eq 3 ]; then
		ip -n "$A" link set t0 up
		ip -n "$B" link set t0 up
		ip -n "$A" link add link t0 name t1 type vlan id 20
		ip -n "$B" link add link t0 name t1 type vlan id 20
		# Devices let one tag more than their MTU pass, and no second one.
		ip -n "$A" link set t1 mtu 1496
		ip -n "$B" link set t1 mtu 1496
		dev=t1
	fi
	ip -n "$A" addr add 10.77.9.1/24 dev $dev
	ip -n "$B" addr add 10.77.9.2/24 dev $dev
	for each in t0 "$dev"; do
		ip -n "$A" link set "$each" up
		ip -n "$B" link set "$each" up
	done
	exact 10.77.9.2
	# The same packets, once.
	expect "captured on top" "$(dev_stat "$A" $dev "$TX|$RX")" -eq 0
	ip -n "$A" link del t0
	ip -n "$B" link del t0
}

# Nobody wants packets: nothing is registered, and nothing is counted.
off() {
	local before

	wait_for 10 no_flow
	sleep 1.5
	before=$(dev_stat "$B" b0 "$RX|$TX")
	load "$A" --to "$V4_B" --cc reno --duration 0.3
	expect "captured" "$(dev_stat "$B" b0 "$RX|$TX")" -eq "$before"
}

no_flow() {
	[ "$(bus_stat "$A" Flows)" -eq 0 ]
}

# A device in another namespace is captured only for those who asked there.
namespace() {
	local before

	watch "$B" b0
	capturing "$B" b0
	before=$(dev_stat "$A" a0 "$RX|$TX")
	load "$A" --to "$V4_B" --cc reno --duration 0.3
	expect "captured in A" "$(dev_stat "$A" a0 "$RX|$TX")" -eq "$before"
	unwatch
}

ksft_plan "$(often 12 13)"
need_bus
net_pair
serve "$B"
ksft_case "IPv4, GRO off, TSO off" plain off off "$V4_B"
ksft_case "IPv4, GRO off, TSO on" plain off on "$V4_B"
ksft_case "IPv4, GRO on, TSO off" plain on off "$V4_B"
ksft_case "IPv4, GRO on, TSO on" plain on on "$V4_B"
[ "$THOROUGH" -eq 0 ] || ksft_case "IPv6, GRO on, TSO off" plain on off "$V6_B"
ksft_case "IPv6, GRO on, TSO on" plain on on "$V6_B"
ksft_case "captured before GRO merges them" merged
ksft_case "jumbo frames" jumbo
ksft_case "VLAN, tag in the packet" vlan 802.1q off
ksft_case "VLAN, tag beside the packet" vlan 802.1q on
ksft_case "QinQ" vlan 802.1ad off inner
ksft_case "another namespace" namespace
ksft_case "nobody wants packets" off
