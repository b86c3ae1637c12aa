#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The port is taken, a firewall drops, the peer has no module; devices, namespaces and
# the module go under load.
#
#	A a0 ---------- b0 B
. "$(dirname "$0")/or_acker_lib.sh"

C=$(ns_name C)

# What came with the module goes, and comes back.
reload() {
	unload_all
	modprobe or_acker
	no_ends_left_out "$B"
}

unload_all() {
	local module

	for module in or_acker or_port nic_ts; do
		wait_for 20 unloaded "$module"
	done
}

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

# busy NAMESPACE FROM TO: data and SUBSCRIBEs without end; sets BUSY.
busy() {
	spawn bash -c "
		n=1000
		while :; do
			n=\$((n + 1))
			nsenter --net=/run/netns/$1 '$HELPER' subscribe $2 $3 count=\$n >/dev/null
			nsenter --net=/run/netns/$1 '$HELPER' send $2 $3 7001 \
				1000000 flows=4
		done"
	BUSY=$SPAWNED
}

acking() {
	wait_for 20 acker_is "$1" AckSent -gt 0
}

unload() {
	local i

	busy "$A" "$V4_A" "$V4_B"
	for i in $(seq "$(often 4 10)"); do
		acking "$B"
		rmmod or_acker
		modprobe or_acker
	done
	acking "$B"
	stop "$BUSY" KILL
	reload
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

settings() {
	local i

	busy "$A" "$V4_A" "$V4_B"
	acking "$B"
	for i in $(seq "$(often 15 50)"); do
		acker_set "$B" mode all ack_packets 1 max_flows 1 stamps hardware \
			max_subscribers 1 flow_age_s 1
		acker_set "$B" mode subscribed ack_packets 10 max_flows 65536 \
			stamps software max_subscribers 4096 flow_age_s 30
	done
	stop "$BUSY" KILL
	reload
}

namespace_exit() {
	local i

	for i in 1 2 3 4 5; do
		ns_add "$C"
		veth_pair "$A" "a$i" "10.79.$i.1" "$C" c0 "10.79.$i.2"
		sink "$C"
		busy "$A" "10.79.$i.1" "10.79.$i.2"
		acking "$C"
		# The socket of the sink would keep it.
		stop "$SPAWNED" KILL
		spawn in_ns "$A" "$HELPER" forge "10.79.$i.1" "10.79.$i.2" replay 100000
		ns_del "$C"
		pkill_sink
		stop "$SPAWNED" KILL
	done
}

# Sinks of namespaces that have no name any more.
pkill_sink() {
	local pid

	while read -r pid; do
		[ "$pid" = "$SINK" ] || kill -9 -- "-$pid" 2>/dev/null || :
	done <"$KSFT_TMP/pids"
}

device_gone() {
	local i

	for i in 1 2 3 4 5; do
		veth_pair "$A" x0 "10.80.$i.1" "$B" y0 "10.80.$i.2"
		busy "$A" "10.80.$i.1" "10.80.$i.2"
		mark "$B"
		wait_for 20 acked_more
		ip -n "$B" link del y0
		stop "$BUSY" KILL
	done
	reload
}

acked_more() {
	[ "$(since "$B" AckSent)" -gt 0 ]
}

ksft_plan 12
need_acker
net_pair
sink "$B"
SINK=$SPAWNED
ksft_case "the port is taken, IPv4" port_taken 0.0.0.0
ksft_case "the port is taken, IPv6" port_taken ::
ksft_case "the port is held" port_held
ksft_case "a host without the module" no_module
ksft_case "a firewall at the receiver" firewall_at_receiver
ksft_case "a firewall at the sender" firewall_at_sender
ksft_case "the module goes under load" unload
ksft_case "modprobe -r removes or_acker, and not nic_ts" modprobe_removes
ksft_case "settings change under load" settings
ksft_case "devices go under load" device_gone
ksft_case "namespaces go under load" namespace_exit
ksft_case "and it works as before" exact "$A" "$V4_A" "$V4_B" "$B" 500000
