#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The flow table: its bound, a SYN flood, forged ACKs, VRFs, aging, short rings, retransmissions.
. "$(dirname "$0")/nic_ts_lib.sh"

helper=$KSFT_DIR/nic_ts_helper
BUS=/sys/module/nic_ts/parameters

flows_are() {
	[ "$(bus_stat "$A" Flows)" -eq "$1" ]
}

# RTTs were measured, since counts were last read; the first segments of the first
# flow may have left before capture began.
rtts_came() {
	counts
	[ "$(counted ok)" -gt 0 ]
}

life() {
	counts
	spawn dcload client --netns "$A" --to "$V4_B" --cc nic_ts_test --flows 8 \
		--rtt-sample-us 0 --duration 60
	wait_for 10 flows_are 8
	counts
	expect "attached" "$(counted attached)" -eq 8
	expect "flows listed" "$(in_ns "$A" nic_ts flows | grep -c '^remote_port 5001')" -eq 8
	expect "flows of B" "$(bus_stat "$B" Flows)" -eq 0
	wait_for 20 rtts_came
	stop "$SPAWNED"
	wait_for 20 flows_are 0
	nothing_bad
}

bound() {
	local full

	echo 4 >$BUS/max_flows
	full=$(bus_stat "$A" FlowsRefusedFull)
	counts
	load "$A" --to "$V4_B" --cc nic_ts_test --flows 10 --duration 1
	counts
	expect "attached" "$(counted attached)" -eq 4
	expect "refused" "$(counted refused)" -eq 6
	expect "refused, by the bus" $(($(bus_stat "$A" FlowsRefusedFull) - full)) -eq 6
	expect "bytes of flows with and without" "$(loaded counters.bytes_acked)" -gt 1000000
	nothing_bad
	wait_for 20 flows_are 0
	echo 16384 >$BUS/max_flows
}

# B's listener takes nic_ts_test for whoever gets through the handshake.
flood() {
	local mac before

	mac=$(ip -n "$B" -o link show dev b0 | sed 's/.*ether \([0-9a-f:]*\).*/\1/')
	serve_more
	counts
	before=$(bus_stat "$B" FlowsAttached)
	spawn dcload client --netns "$A" --to "$V4_B" --port 5009 --cc nic_ts_test \
		--flows 2 --rtt-sample-us 0 --duration 60
	wait_for 10 flows_are 2
	in_ns "$A" "$helper" syn a0 "$mac" 10.77.1.20 "$V4_B" 5009 "$(often 4000 20000)"
	expect "flows of the flooded host" "$(bus_stat "$B" Flows)" -eq 2
	expect "ever attached" $(($(bus_stat "$B" FlowsAttached) - before)) -eq 2
	counts
	expect "RTTs meanwhile" "$(counted ok)" -gt 0
	nothing_bad
	stop "$SPAWNED"
	stop "$server"
	wait_for 20 flows_are 0
}

# A host that knows the connection and not its sequence numbers sends 2000 ACKs, spread
# over all that can be acknowledged: nearly all are refused, and RTTs go on.
forged() {
	local mac port before

	mac=$(ip -n "$A" -o link show dev a0 | sed 's/.*ether \([0-9a-f:]*\).*/\1/')
	tc -n "$B" qdisc replace dev b0 root netem delay 20ms limit 100000
	counts
	spawn dcload client --netns "$A" --to "$V4_B" --cc nic_ts_test --flows 1 \
		--rtt-sample-us 0 --duration 60
	wait_for 10 flows_are 1
	wait_for 20 rtts_came
	port=$(in_ns "$A" nic_ts flows | sed -n 's/^local_port //p')
	before=$(refused_acks)
	in_ns "$B" "$helper" acks b0 "$mac" "$V4_B" "$V4_A" 5001 "$port" 2000
	wait_for 20 refused_are $((before + 1990))
	sleep 0.2
	counts
	wait_for 20 rtts_came
	expect "RTT after that" "$(counted min_rtt_ns)" -ge 20000000
	expect "ACKs not found" "$(counted no_ack)" -le "$(counted ok)"
	nothing_bad
	stop "$SPAWNED"
	tc -n "$B" qdisc del dev b0 root
	wait_for 20 flows_are 0
}

# Two VRFs of A, each with a VLAN of the same link, and in each a connection of the same
# addresses and ports: two flows, one of 5 ms and one of 60.
#
#	A: red - a0.10 -----+ a0 == b0 +----- b0.10, in B
#	   blue - a0.20 ----+          +----- b0.20, in R
vrfs() {
	local shared red blue vlan name

	shared=$(bus_stat "$A" FlowsShared)
	ns_add "$R"
	ip -n "$A" -batch - <<-END
		link add red type vrf table 10
		link add blue type vrf table 20
		link set red up
		link set blue up
		link add a0.10 link a0 type vlan id 10
		link add a0.20 link a0 type vlan id 20
		link set a0.10 master red
		link set a0.20 master blue
	END
	ip -n "$B" link add b0.10 link b0 type vlan id 10
	ip -n "$B" link add b0.20 link b0 type vlan id 20
	ip -n "$B" link set b0.20 netns "$R"
	for vlan in 10 20; do
		link_up "$A" a0.$vlan 10.88.0.1
	done
	link_up "$B" b0.10 10.88.0.2
	link_up "$R" b0.20 10.88.0.2
	tc -n "$B" qdisc replace dev b0.10 root netem delay 5ms
	tc -n "$R" qdisc replace dev b0.20 root netem delay 60ms
	serve "$R"
	spawn ip netns exec "$A" "$helper" stream red 10.88.0.2 5001 7777 nic_ts_test
	red=$SPAWNED
	spawn ip netns exec "$A" "$helper" stream blue 10.88.0.2 5001 7777 nic_ts_test
	blue=$SPAWNED
	wait_for 10 flows_are 2
	sleep 0.2
	counts
	wait_for 20 rtts_came
	nothing_bad
	expect "shared entries" $(($(bus_stat "$A" FlowsShared) - shared)) -eq 0
	stop "$red"
	wait_for 20 flows_are 1
	counts
	wait_for 20 rtts_came
	expect "RTT in blue" "$(counted min_rtt_ns)" -ge 60000000
	nothing_bad
	stop "$blue"
	spawn ip netns exec "$A" "$helper" stream red 10.88.0.2 5001 7777 nic_ts_test
	wait_for 10 flows_are 1
	counts
	wait_for 20 rtts_came
	expect "RTT in red" "$(counted min_rtt_ns)" -ge 5000000
	expect "RTT in red" "$(counted min_rtt_ns)" -lt 60000000
	stop "$SPAWNED"
	for name in a0.10 a0.20 red blue; do
		ip -n "$A" link del $name
	done
	ip -n "$B" link del b0.10
	wait_for 20 flows_are 0
}

refused_acks() {
	in_ns "$A" nic_ts stats | awk '/^Acks(Old|Unsent) / { n += $2 } END { print n + 0 }'
}

refused_are() {
	[ "$(refused_acks)" -ge "$1" ]
}

serve_more() {
	spawn dcload server --netns "$B" --port 5009 --cc nic_ts_test
	server=$SPAWNED
	wait_for 10 listening "$B" 5009
}

# Idle for longer than flow_age_s: out of the table, and back in with traffic.
aging() {
	echo 1 >$BUS/flow_age_s
	counts
	spawn dcload client --netns "$A" --to "$V4_B" --cc nic_ts_test --flows 3 \
		--rtt-sample-us 0 --idle 0.3:4 --duration 60
	wait_for 10 flows_are 3
	wait_for 10 flows_are 0
	wait_for 10 flows_are 3
	stop "$SPAWNED"
	wait_for 20 flows_are 0
	counts
	expect "found that they had aged" "$(counted aged)" -ge 3
	nothing_bad
	echo 300 >$BUS/flow_age_s
}

# Rings of eight: segments are overwritten before their ACK comes, and no RTT is
# of another segment.
wrap() {
	in_ns "$A" ethtool -K a0 tso off gso off
	tc -n "$B" qdisc replace dev b0 root netem delay 20ms
	counts
	load "$A" --to "$V4_B" --cc nic_ts_test --flows 2 --duration 2
	counts
	expect "segments overwritten" "$(counted no_tx)" -gt 0
	expect "RTT" "$(counted min_rtt_ns)" -ge 20000000
	nothing_bad
	tc -n "$B" qdisc del dev b0 root
	in_ns "$A" ethtool -K a0 tso on gso on
}

small_rings() {
	wait_for 20 rmmod nic_ts_test
	wait_for 20 rmmod nic_ts
	modprobe nic_ts tx_records="$1"
	modprobe nic_ts_test
}

# Losses: what was sent twice gives no RTT.
losses() {
	local before

	tc -n "$A" qdisc replace dev a0 root netem loss 2% delay 2ms
	before=$(bus_stat "$A" TxRetransmitted)
	counts
	load "$A" --to "$V4_B" --cc nic_ts_test --flows 4 --duration 2
	counts
	expect "retransmissions seen" $(($(bus_stat "$A" TxRetransmitted) - before)) -gt 0
	expect "ambiguous" "$(counted ambiguous)" -gt 0
	expect "RTTs nevertheless" "$(counted ok)" -gt 0
	nothing_bad
	tc -n "$A" qdisc del dev a0 root
}

parameters() {
	wait_for 20 rmmod nic_ts_test
	wait_for 20 rmmod nic_ts
	refused modprobe nic_ts tx_records=4
	refused modprobe nic_ts tx_records=5000
	modprobe nic_ts tx_records=100
	expect "rounded up" "$(cat $BUS/tx_records)" -eq 128
	modprobe nic_ts_test
}

ksft_plan 9
need_bus
net_pair
serve "$B"
ksft_case "flows come, are listed, and go" life
ksft_case "the table is full: no stamps, but traffic" bound
ksft_case "a SYN flood makes no flows" flood
ksft_case "forged ACKs are refused, real ones are not" forged
ksft_case "two VRFs, one pair of addresses and ports" vrfs
ksft_case "idle flows age, and come back" aging
ksft_case "retransmitted segments are ambiguous" losses
ksft_case "tx_records: refused, rounded" parameters
small_rings 8
ksft_case "overwritten records give no RTT" wrap
