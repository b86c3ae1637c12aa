#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# OR-ACKs come to who subscribed, for each packet of data once, and are right,
# whatever devices the packets come through.
#
#	A a0 ---------- b0 B
. "$(dirname "$0")/or_acker_lib.sh"

BYTES=2000000

plain() {
	exact "$A" "$1" "$2" "$B" "$BYTES" flows=1
}

several() {
	subscribed "$A" "$V4_A" "$V4_B" "$B"
	listen "$A" "$V4_A" "$V4_B"
	mark "$B"
	send "$A" "$V4_A" "$V4_B" 1000000 flows=20
	wait_for 10 acked_bytes "$B" -ge 20000000
	heard
	all_good
	expect "flows" "$(said flows)" -eq 20
	unsubscribe "$A" "$V4_A" "$V4_B" "$B"
}

dscp() {
	subscribed "$A" "$V4_A" "$V4_B" "$B"
	listen "$A" "$V4_A" "$V4_B"
	mark "$B"
	send "$A" "$V4_A" "$V4_B" 100000 tos=0x48
	wait_for 10 acked_bytes "$B" -ge 100000
	heard
	all_good
	expect "type of service of OR-ACKs" "$(said tos)" -eq "$((0x48))"
	unsubscribe "$A" "$V4_A" "$V4_B" "$B"
	wait_for 20 since_is "$B" FlowsUnsubscribed -ge 1
}

# offloads GRO TSO
offloads() {
	in_ns "$A" ethtool -K a0 tso "$2" gso "$2"
	in_ns "$B" ethtool -K b0 gro "$1"
}

# Packets are counted as they were on the wire: none has more than an MSS, 1448 bytes.
wire() {
	offloads "$1" "$2"
	exact "$A" "$V4_A" "$V4_B" "$B" "$BYTES"
	expect "bytes per packet" "$(since "$B" AckedBytes)" -le \
		"$(calc "1448 * $(since "$B" AckedPackets)")"
	offloads off on
}

# called FUNCTION: how often the kernel has called it since it was probed.
called() {
	awk -v name="$1" '$1 == name { print $2; found = 1 } END { exit !found }' \
		/sys/kernel/tracing/kprobe_profile
}

# trains ADDRESS ADDRESS: single packets that come in one behind the other are looked up once for
# several of them, and each is in OR-ACKs once all the same. netem takes them from their socket,
# as a wire does.
trains() {
	local events=/sys/kernel/tracing/kprobe_events

	offloads off off
	tc -n "$A" qdisc replace dev a0 root netem delay 100us limit 10000
	acker_set "$B" ack_delay_ns 10000000
	echo "p:looked_up or_acker:or_acker_rx_any" >>$events
	undo "echo 0 >/sys/kernel/tracing/events/kprobes/enable; echo >$events"
	echo 1 >/sys/kernel/tracing/events/kprobes/looked_up/enable
	exact "$A" "$1" "$2" "$B" "$BYTES"
	echo "measured: $(since "$B" AckedPackets) packets, $(called looked_up) looked up"
	expect "packets looked up" "$(called looked_up)" -le $((BYTES / 1448 / 3))
	# Two connections at once, with packets of each in between.
	subscribed "$A" "$1" "$2" "$B"
	mark "$B"
	send "$A" "$1" "$2" "$BYTES" flows=2
	wait_for 10 acked_bytes "$B" -ge $((2 * BYTES))
	expect "bytes of data" "$(since "$B" DataBytes)" -ge $((2 * BYTES))
	expect "bytes acknowledged" "$(since "$B" AckedBytes)" -le "$(since "$B" DataBytes)"
	unsubscribe "$A" "$1" "$2" "$B"
	echo 0 >/sys/kernel/tracing/events/kprobes/looked_up/enable
	echo >$events
	acker_set "$B" ack_delay_ns 50000
	tc -n "$A" qdisc del dev a0 root
	offloads off on
}

# train_ends ADDRESS ADDRESS: packets of a train are known when the wait is over: the last one ends a
# burst of eight, which then has no OR-ACK.
train_ends() {
	offloads off off
	tc -n "$A" qdisc replace dev a0 root netem delay 100us limit 10000
	subscribed "$A" "$1" "$2" "$B"
	acker_set "$B" ack_delay_ns 10000000 path_interval_ns 1000000000
	send "$A" "$1" "$2" 1000
	mark "$B"
	# Within a second: then the sender has an OR-ACK in any case.
	for _ in 1 2 3 4 5; do
		send "$A" "$1" "$2" 11584
		sleep 0.05
	done
	expect "ends without an OR-ACK" "$(since "$B" AckNotAtEnd)" -ge 4
	expect "OR-ACKs by time" "$(since "$B" AckByTime)" -le 1
	unsubscribe "$A" "$1" "$2" "$B"
	acker_set "$B" ack_delay_ns 50000 path_interval_ns 0
	tc -n "$A" qdisc del dev a0 root
	offloads off on
}

# same_number ADDRESS ADDRESS: behind packets in a row comes one of another connection, with the number
# that would be next. They come at once, before B's host answers.
same_number() {
	offloads off off
	tc -n "$A" qdisc replace dev a0 root netem delay 50ms limit 10000
	spawn in_ns "$B" "$HELPER" socket "$2" "$1" 7002 2000 2 1000000
	wait_for 10 two_sockets
	subscribed "$A" "$1" "$2" "$B"
	acker_set "$B" ack_delay_ns 10000000
	mark "$B"
	in_ns "$A" "$HELPER" turn "$1" "$2" 2000 7002 1000000
	wait_for 10 since_is "$B" DataBytes -ge 9000
	expect "connections" "$(since "$B" FlowsNew)" -eq 2
	stop "$SPAWNED" KILL
	unsubscribe "$A" "$1" "$2" "$B"
	acker_set "$B" ack_delay_ns 50000
	tc -n "$A" qdisc del dev a0 root
	offloads off on
}

two_sockets() {
	[ "$(ss -N "$B" -Htn 'sport = 7002' | wc -l)" -eq 2 ]
}

# routes ADDRESS ADDRESS [IP-OPTION]: OR-ACKs follow the routes of B, though the last one is kept. One
# connection: the first data of another drops what is kept.
routes() {
	local rule="to $1 ipproto 17 dport 299"

	acker_set "$B" ack_delay_ns 50000
	subscribed "$A" "$1" "$2" "$B"
	mark "$B"
	spawn send "$A" "$1" "$2" $((10000 * BYTES)) rate=2000000
	wait_for 10 since_is "$B" AckSent -ge 5
	# shellcheck disable=SC2086
	ip -n "$B" $3 rule add $rule prohibit
	mark "$B"
	wait_for 10 since_is "$B" AckSendFailed -ge 5
	expect "OR-ACKs without a route" "$(since "$B" AckSent)" -eq 0
	# shellcheck disable=SC2086
	ip -n "$B" $3 rule del $rule prohibit
	mark "$B"
	wait_for 10 since_is "$B" AckSent -ge 5
	expect "OR-ACKs that failed" "$(since "$B" AckSendFailed)" -eq 0
	stop "$SPAWNED"
	unsubscribe "$A" "$1" "$2" "$B"
}

vlan() {
	ip -n "$A" link add link a0 name a.10 type vlan id 10
	ip -n "$B" link add link b0 name b.10 type vlan id 10
	link_up "$A" a.10 10.78.1.1
	link_up "$B" b.10 10.78.1.2
	exact "$A" 10.78.1.1 10.78.1.2 "$B" "$BYTES"
	expect "devices" "$(acker "$B" Devices)" -eq 0
	ip -n "$A" link del a.10
	ip -n "$B" link del b.10
}

# vlans ID...: on both ends, each with the same link-local addresses.
vlans() {
	local id

	for id; do
		ip -n "$A" link add link a0 name "a.$id" type vlan id "$id"
		ip -n "$B" link add link b0 name "b.$id" type vlan id "$id"
		link_up "$A" "a.$id" fe80::1:a
		link_up "$B" "b.$id" fe80::1:b
	done
}

no_vlans() {
	local id

	for id; do
		ip -n "$A" link del "a.$id"
		ip -n "$B" link del "b.$id"
	done
}

# Each VLAN is a network of its own: two senders subscribe, and both have their OR-ACKs.
link_local() {
	local id

	vlans 20 21
	mark "$B"
	for id in 20 21; do
		subscribe "$A" "fe80::1:a%a.$id" "fe80::1:b%a.$id" "nonce=$id"
		wait_for 10 since_is "$B" SubscribeAccepted -eq $((id - 19))
	done
	expect "subscribers" "$(acker "$B" Subscribers)" -eq 2
	wait_for 10 acker_is "$B" Devices -gt 0
	for id in 20 21; do
		wait_for 10 captured "$A" "fe80::1:a%a.$id" "fe80::1:b%a.$id" "$B"
		wait_for 10 calm "$B"
		listen "$A" "fe80::1:a%a.$id" "fe80::1:b%a.$id" "nonce=$id"
		mark "$B"
		send "$A" "fe80::1:a%a.$id" "fe80::1:b%a.$id" "$BYTES"
		wait_for 10 acked_bytes "$B" -ge "$BYTES"
		wait_for 10 calm "$B"
		heard
		all_good
		expect "OR-ACKs" "$(said acks)" -gt 0
		expect "OR-ACKs heard" "$(said acks)" -eq "$(since "$B" AckSent)"
	done
	for id in 20 21; do
		subscribe "$A" "fe80::1:a%a.$id" "fe80::1:b%a.$id" "nonce=$id" lifetime=0
	done
	wait_for 10 acker_is "$B" Devices -eq 0
	no_vlans 20 21
}

# Nobody told which device it is.
link_local_all() {
	vlans 22
	acker_set "$B" mode all
	wait_for 10 acker_is "$B" Devices -gt 0
	mark "$B"
	wait_for 10 captured "$A" fe80::1:a%a.22 fe80::1:b%a.22 "$B"
	wait_for 10 calm "$B"
	listen "$A" fe80::1:a%a.22 fe80::1:b%a.22 nonce=0
	mark "$B"
	send "$A" fe80::1:a%a.22 fe80::1:b%a.22 "$BYTES"
	wait_for 10 acked_bytes "$B" -ge "$BYTES"
	wait_for 10 calm "$B"
	heard
	all_good
	expect "OR-ACKs heard" "$(said acks)" -eq "$(since "$B" AckSent)"
	acker_set "$B" mode subscribed
	wait_for 10 acker_is "$B" Devices -eq 0
	no_vlans 22
}

# The device below is in another namespace than the VLAN.
foreign_vlan() {
	ns_add "$C"
	ip -n "$A" link add link a0 name a.11 type vlan id 11
	ip -n "$B" link add link b0 name b.11 type vlan id 11
	ip -n "$B" link set b.11 netns "$C"
	link_up "$A" a.11 10.78.2.1
	link_up "$C" b.11 10.78.2.2
	sink "$C"
	exact "$A" 10.78.2.1 10.78.2.2 "$C" "$BYTES"
	# It goes with a subscriber.
	subscribed "$A" 10.78.2.1 10.78.2.2 "$C"
	ip -n "$A" link del a.11
	ns_del "$C"
}

bridge() {
	ip -n "$B" link add br0 type bridge
	ip -n "$B" addr flush dev b0 scope global
	ip -n "$B" link set b0 master br0
	link_up "$B" br0 10.77.1.2
	exact "$A" "$V4_A" "$V4_B" "$B" "$BYTES"
	ip -n "$B" link del br0
	link_up "$B" b0 10.77.1.2 "$V6_B"
}

bond() {
	veth_pair "$A" a1 "" "$B" b1 ""
	ip -n "$B" link add bond0 type bond mode active-backup
	ip -n "$B" link set b1 down
	ip -n "$B" link set b1 master bond0
	link_up "$B" bond0 10.78.3.2
	link_up "$A" a1 10.78.3.1
	exact "$A" 10.78.3.1 10.78.3.2 "$B" "$BYTES"
	ip -n "$B" link del bond0
	ip -n "$A" link del a1
}

# Both ends are the same host.
loopback() {
	exact "$B" "$1" "$1" "$B" "$BYTES"
}

# Everybody gets OR-ACKs, with a key that all know.
mode_all() {
	acker_set "$B" mode all
	wait_for 10 acker_is "$B" Devices -gt 0
	mark "$B"
	wait_for 10 captured "$A" "$V4_A" "$V4_B" "$B"
	wait_for 10 calm "$B"
	listen "$A" "$V4_A" "$V4_B" nonce=0
	mark "$B"
	send "$A" "$V4_A" "$V4_B" "$BYTES"
	wait_for 10 acked_bytes "$B" -ge "$BYTES"
	heard
	all_good
	expect "OR-ACKs" "$(said acks)" -gt 0
	acker_set "$B" mode subscribed
	wait_for 10 acker_is "$B" Subscribers -eq 0
	wait_for 10 acker_is "$B" Devices -eq 0
}

# Who did not subscribe gets nothing, though somebody else did.
others() {
	ip -n "$A" addr add 10.77.1.3/24 dev a0
	subscribed "$A" "$V4_A" "$V4_B" "$B"
	mark "$B"
	send "$A" 10.77.1.3 "$V4_B" "$BYTES"
	expect "OR-ACKs" "$(since "$B" AckSent)" -eq 0
	expect "datagrams" "$(since "$B" TxSent)" -eq 0
	expect "packets without" "$(since "$B" PacketNotSubscribed)" -gt 0
	unsubscribe "$A" "$V4_A" "$V4_B" "$B"
	mark "$B"
	send "$A" "$V4_A" "$V4_B" "$BYTES"
	expect "OR-ACKs to one who unsubscribed" "$(since "$B" AckSent)" -eq 0
	expect "packets looked at" "$(since "$B" PacketNotSubscribed)" -eq 0
}

# Nobody else, then much of others at the same time, then nobody again. netem takes packets from their
# sockets, as a wire does.
share() {
	ip -n "$A" addr replace 10.77.1.3/24 dev a0
	tc -n "$A" qdisc replace dev a0 root netem delay 100us limit 10000
	subscribed "$A" "$V4_A" "$V4_B" "$B"
	heard_others -eq
	others_send -gt "$A" 10.77.1.3 "$V4_B"
	heard_others -eq
	# In another queue of a switch, and in the same one.
	others_send -eq "$A" 10.77.1.3 "$V4_B" tos=0x28
	OTHERS_OPTION=tos=0x3c others_send -gt "$A" 10.77.1.3 "$V4_B" tos=0x28
	# A burst is over before the share would be looked at a second time.
	OTHERS_BURST=1 others_send -gt "$A" 10.77.1.3 "$V4_B"
	# From this host: its own address, and a socket that has no wire to here. Band 2 has no netem.
	others_send -eq "$B" "$V4_B" "$V4_B"
	tc -n "$A" qdisc replace dev a0 root handle 1: prio bands 2 priomap 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0
	tc -n "$A" qdisc replace dev a0 parent 1:1 netem delay 100us limit 10000
	others_send -eq "$A" 10.77.1.3 "$V4_B" tos=0x08
	# Through another device.
	veth_pair "$A" a1 10.78.4.1 "$B" b1 10.78.4.2
	tc -n "$A" qdisc replace dev a1 root netem delay 100us limit 10000
	ip -n "$A" route add "$V4_B" dev a1 table 100
	ip -n "$A" rule add from 10.78.4.1 lookup 100
	wait_for 10 acker_is "$B" Devices -ge 3
	others_send -eq "$A" 10.78.4.1 "$V4_B"
	# All take that device.
	ip -n "$A" rule add from "$V4_A" lookup 100
	others_send -gt "$A" 10.78.4.1 "$V4_B"
	ip -n "$A" rule del from "$V4_A" lookup 100
	ip -n "$A" rule del from 10.78.4.1 lookup 100
	ip -n "$A" link del a1
	tc -n "$A" qdisc del dev a0 root
	unsubscribe "$A" "$V4_A" "$V4_B" "$B"
}

# spawn_others NAMESPACE FROM TO [OPTION...]: much data of an address that did not subscribe, and more
# than what one that did sends meanwhile.
spawn_others() {
	mark "$B"
	spawn send "$1" "$2" "$3" $((1000 * BYTES)) rate=8000000 "${@:4}"
	wait_for 10 since_is "$B" DataBytesNotSubscribed -gt 1000000
}

# others_send -eq|-gt NAMESPACE FROM TO [OPTION...]: the same, while OR-ACKs are heard.
others_send() {
	spawn_others "${@:2}"
	heard_others "$1"
	stop "$SPAWNED"
}

# heard_others -eq|-gt: OR-ACKs of a while, those that tell of others compared with none.
heard_others() {
	sleep 0.5
	listen "$A" "$V4_A" "$V4_B"
	mark "$B"
	if [ -n "${OTHERS_BURST:-}" ]; then
		send "$A" "$V4_A" "$V4_B" 20000
	else
		send "$A" "$V4_A" "$V4_B" 200000 chunk=1000 wait=1 \
			${OTHERS_OPTION:+"$OTHERS_OPTION"}
	fi
	wait_for 10 calm "$B"
	heard
	all_good
	expect "OR-ACKs" "$(said acks)" -gt 0
	expect "OR-ACKs that tell of others" "$(said others)" "$1" 0
}

# An ifb shapes what comes in, and gives it back to its device: each packet counts once.
ifb() {
	ip -n "$B" link add ifb0 type ifb
	ip -n "$B" link set ifb0 up
	tc -n "$B" qdisc add dev b0 clsact
	tc -n "$B" filter add dev b0 ingress matchall action mirred egress redirect dev ifb0
	exact "$A" "$V4_A" "$V4_B" "$B" "$BYTES"
	exact "$A" "$V6_A" "$V6_B" "$B" "$BYTES"
	expect "packets by the ifb" "$(ip netns exec "$B" cat /sys/class/net/ifb0/statistics/tx_packets)" -ge 10
	tc -n "$B" qdisc del dev b0 clsact
	ip -n "$B" link del ifb0
}

C=$(ns_name C)
# near_by COUNT US: distance of two numbers of 32 bits.
near_by() {
	local d=$((($1 - $2) & 0xffffffff))

	echo $((d < 0x80000000 ? d : 0x100000000 - d))
}

# Neither the timestamps of a clock that nobody synchronises nor the counts begin with the uptime.
# Of two counts one may be near it by chance.
uptime_hidden() {
	local up_s rx_ns first second

	subscribed "$A" "$V4_A" "$V4_B" "$B"
	listen "$A" "$V4_A" "$V4_B"
	mark "$B"
	send "$A" "$V4_A" "$V4_B" 100000 flows=2
	wait_for 10 acked_bytes "$B" -ge 200000
	heard
	all_good
	read -r up_s </proc/uptime
	up_s=${up_s%%.*}
	# Signed: it is less than the uptime.
	rx_ns=$(said rx_ns)
	expect "uptime less the timestamp, s" $((up_s - rx_ns / 1000000000)) -ge 3600
	first=$(near_by "$(said count0)" $((up_s * 1000000)))
	second=$(near_by "$(said count1)" $((up_s * 1000000)))
	expect "counts less the uptime, us" $((first > second ? first : second)) -ge 60000000
	unsubscribe "$A" "$V4_A" "$V4_B" "$B"
}

ksft_plan 28
need_acker
net_pair
sink "$B"
ksft_case "IPv4" plain "$V4_A" "$V4_B"
ksft_case "IPv6" plain "$V6_A" "$V6_B"
ksft_case "twenty flows" several
ksft_case "the DSCP of the data" dscp
ksft_case "before GRO, single packets" wire on off
ksft_case "no GRO, single packets" wire off off
ksft_case "GRO and TSO" wire on on
ksft_case "TSO without GRO" wire off on
ksft_case "packets in a row are looked up once, IPv4" trains "$V4_A" "$V4_B"
ksft_case "packets in a row are looked up once, IPv6" trains "$V6_A" "$V6_B"
ksft_case "the end of a burst, in packets in a row" train_ends "$V4_A" "$V4_B"
ksft_case "a connection with the numbers of another" same_number "$V4_A" "$V4_B"
ksft_case "the route changes, IPv4" routes "$V4_A" "$V4_B" -4
ksft_case "the route changes, IPv6" routes "$V6_A" "$V6_B" -6
ksft_case "VLAN" vlan
ksft_case "VLAN in another namespace than its device" foreign_vlan
ksft_case "link-local addresses, the same on two VLANs" link_local
ksft_case "link-local addresses on a VLAN, mode all" link_local_all
ksft_case "bridge" bridge
ksft_case "bond" bond
ksft_case "an ifb that shapes what comes in" ifb
ksft_case "loopback, IPv4" loopback 127.0.0.1
ksft_case "loopback, IPv6" loopback ::1
ksft_case "own address" loopback "$V4_B"
ksft_case "mode all" mode_all
ksft_case "nothing to others, nothing without subscribers" others
ksft_case "no uptime" uptime_hidden
ksft_case "OR-ACKs tell of those who did not subscribe" share
