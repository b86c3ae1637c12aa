#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The port is taken, a firewall drops, the peer has no module.
#
#	A a0 ---------- b0 B
. "$(dirname "$0")/or_acker_lib.sh"

said_in_use() {
	dmesg | grep -c 'UDP port 299 .* is in use by a program' || :
}

port_taken() {
	local holder told

	unload_all
	spawn in_ns "$B" "$HELPER" hold "$1"
	holder=$SPAWNED
	wait_for 10 bound "$B" 299
	told=$(said_in_use)
	modprobe or_acker
	no_ends_left_out "$B"
	expect "open" "$(acker "$B" PortOpen)" -eq 0
	expect "in use" "$(acker "$B" PortInUse)" -ge 1
	expect "messages in the kernel's log" "$(calc "$(said_in_use) - $told")" -eq 1
	expect "open elsewhere" "$(acker "$A" PortOpen)" -eq 1
	subscribe "$A" "$V4_A" "$V4_B"
	stop "$holder"
	wait_for 30 acker_is "$B" PortOpen -eq 1
	expect "subscribers" "$(acker "$B" Subscribers)" -eq 0
	exact "$A" "$V4_A" "$V4_B" "$B" 500000
}

# A program cannot have it meanwhile.
port_held() {
	refused in_ns "$B" timeout 5 "$HELPER" hold 0.0.0.0
	refused in_ns "$B" timeout 5 "$HELPER" hold ::
}

# SUBSCRIBEs to a host without the module: what ICMP the kernel allows itself.
no_module() {
	local before n

	n=$(often 1000 5000)
	unload_all
	before=$(unreachables "$B")
	in_ns "$A" "$HELPER" forge "$V4_A" "$V4_B" replay "$n"
	expect "ICMP messages" "$(calc "$(unreachables "$B") - $before")" -le 100
	send "$A" "$V4_A" "$V4_B" 500000
	reload
}

# drop NAMESPACE DEVICE: datagrams of the protocol.
drop() {
	tc -n "$1" qdisc add dev "$2" clsact
	tc -n "$1" filter add dev "$2" ingress protocol ip u32 \
		match ip protocol 17 0xff match ip dport 299 0xffff action drop
}

firewall_at_receiver() {
	drop "$B" b0
	mark "$B"
	subscribe "$A" "$V4_A" "$V4_B"
	send "$A" "$V4_A" "$V4_B" 500000
	expect "subscribers" "$(acker "$B" Subscribers)" -eq 0
	expect "OR-ACKs" "$(since "$B" AckSent)" -eq 0
	tc -n "$B" qdisc del dev b0 clsact
}

firewall_at_sender() {
	subscribed "$A" "$V4_A" "$V4_B" "$B" lifetime=120
	drop "$A" a0
	listen "$A" "$V4_A" "$V4_B"
	mark "$B"
	send "$A" "$V4_A" "$V4_B" 500000
	wait_for 10 acked_bytes "$B" -ge 500000
	heard
	expect "OR-ACKs" "$(said acks)" -eq 0
	unsubscribe "$A" "$V4_A" "$V4_B" "$B"
	# It has no CHALLENGE, so it proves nothing.
	mark "$B"
	subscribe "$A" "$V4_A" "$V4_B"
	expect "CHALLENGEs" "$(since "$B" ChallengeSent)" -eq 1
	expect "subscribers" "$(acker "$B" Subscribers)" -eq 0
	tc -n "$A" qdisc del dev a0 clsact
}

# own_firewall FROM TO: the receiver's own netfilter drops OR-ACKs, which are counted.
own_firewall() {
	subscribed "$A" "$1" "$2" "$B" lifetime=120
	in_ns "$B" nft add table inet own
	in_ns "$B" nft add chain inet own out '{ type filter hook output priority filter; }'
	in_ns "$B" nft add rule inet own out udp sport 299 drop
	mark "$B"
	send "$A" "$1" "$2" 500000
	wait_for 10 since_is "$B" AckSendFailed -ge 1
	wait_for 10 calm "$B"
	expect "dropped by the stack" "$(since "$B" TxDropped)" -eq "$(since "$B" AckSendFailed)"
	in_ns "$B" nft delete table inet own
	unsubscribe "$A" "$1" "$2" "$B"
}

# modprobe -r takes or_acker and no more, without a complaint; modprobe brings nic_ts.
modprobe_removes() {
	modprobe -r or_acker 2>"$KSFT_TMP/said"
	expect_same "the complaints of modprobe" "$(cat "$KSFT_TMP/said")" ""
	[ ! -d /sys/module/or_acker ]
	[ -d /sys/module/nic_ts ]
	wait_for 20 rmmod nic_ts
	modprobe or_acker
	[ -d /sys/module/nic_ts ]
	reload
}

ksft_plan 9
need_acker
net_pair
sink "$B"
ksft_case "the port is taken, IPv4" port_taken 0.0.0.0
ksft_case "the port is taken, IPv6" port_taken ::
ksft_case "the port is held" port_held
ksft_case "a host without the module" no_module
ksft_case "a firewall at the receiver" firewall_at_receiver
ksft_case "a firewall at the sender" firewall_at_sender
ksft_case "netfilter of the receiver drops, IPv4" own_firewall "$V4_A" "$V4_B"
ksft_case "netfilter of the receiver drops, IPv6" own_firewall "$V6_A" "$V6_B"
ksft_case "modprobe -r removes or_acker, and not nic_ts" modprobe_removes
