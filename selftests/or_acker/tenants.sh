#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two network namespaces of one host, B of its administrator and H of an unprivileged user
# with a user namespace of their own. What H sets and does is no matter of B, and H takes no
# more of the host than the initial namespace allows. Forged data of a connection has no
# effect on its OR-ACKs, nor have many other namespaces on the same device.
#
#	A a0 ---------- b0 B
#	  a1 ---------- h0 H
. "$(dirname "$0")/or_acker_lib.sh"

H=$(ns_name H)
V4_AH=10.88.1.1
V4_H=10.88.1.2

# tenant_add: H, as `unshare -Urn` makes it for uid 65534; sets TENANT, a process in it.
tenant_add() {
	spawn bash -c "exec su -s /bin/sh nobody -c \\
		'echo \$\$; exec unshare -Urn sleep 1000000' >$KSFT_TMP/tenant"
	wait_for 10 tenant_there
	TENANT=$(cat "$KSFT_TMP/tenant")
	ip netns attach "$H" "$TENANT"
	echo "$H" >>"$KSFT_TMP/namespaces"
	ip -n "$H" link set lo up
	veth_pair "$A" a1 "$V4_AH" "$H" h0 "$V4_H"
}

tenant_there() {
	local pid

	pid=$(cat "$KSFT_TMP/tenant" 2>/dev/null) && [ -n "$pid" ] &&
		[ "$(readlink "/proc/$pid/ns/user")" != "$(readlink /proc/self/ns/user)" ] &&
		[ "$(readlink "/proc/$pid/ns/net")" != "$(readlink /proc/self/ns/net)" ] &&
		[ "$(awk '{ print $2 }' "/proc/$pid/uid_map")" -eq 65534 ]
}

# tenant COMMAND...: as root of that user namespace.
tenant() {
	nsenter -U -n -t "$TENANT" "$@"
}

# tenant_set PARAMETER VALUE...
tenant_set() {
	# shellcheck disable=SC2016
	tenant bash -euc '
		while [ $# -gt 0 ]; do
			echo "$2" >"/proc/sys/net/or_acker/$1"
			shift 2
		done' bash "$@"
}

is_unprivileged() {
	expect "uid that it is mapped to" "$(awk '{ print $2 }' "/proc/$TENANT/uid_map")" \
		-eq 65534
	refused tenant bash -c "echo 1 >/proc/sys/kernel/panic_on_warn" 2>/dev/null
	tenant_set ack_packets 7
	expect "ack_packets" "$(ns_get "$H" or_acker/ack_packets)" -eq 7
	tenant_set ack_packets 32
}

# Data to both comes in on the CPU that sends it: the same.
ONE_CPU="taskset 1"

# busy_tenant FLOWS: data to H without end; sets BUSY.
busy_tenant() {
	subscribed "$A" "$V4_AH" "$V4_H" "$H"
	spawn bash -c "
		while :; do
			nsenter --net=/run/netns/$A $ONE_CPU '$HELPER' send $V4_AH $V4_H 7001 \
				1000000 chunk=1000 wait=1 flows=$1
		done"
	BUSY=$SPAWNED
	mark "$H"
	wait_for 10 since_is "$H" AckedPackets -gt 0
}

idle_tenant() {
	stop "$BUSY" KILL
	unsubscribe "$A" "$V4_AH" "$V4_H" "$H"
}

# transfer: 500 packets to B, each acknowledged before the next; sets RATE, OR-ACKs in 1 s.
transfer() {
	local from to

	mark "$B"
	from=$EPOCHREALTIME
	# shellcheck disable=SC2086
	in_ns "$A" $ONE_CPU timeout 60 "$HELPER" send "$V4_A" "$V4_B" 7001 500000 \
		chunk=1000 wait=1
	to=$EPOCHREALTIME
	RATE=$(calc "$(since "$B" AckSent) / ($to - $from)")
	wait_for 10 calm "$B"
	echo "measured: $1: $RATE OR-ACKs/s"
}

# defaults: whatever a case before has left.
defaults() {
	acker_set "$B" ack_packets 32 ack_delay_ns 50000 flow_age_s 30
	tenant_set ack_packets 32 ack_bytes 65536 ack_delay_ns 50000 cpu_rate 1000000 \
		busy_share 0
}

cpu_rate() {
	local alone

	defaults
	acker_set "$B" ack_packets 1
	tenant_set ack_packets 1 cpu_rate 1
	subscribed "$A" "$V4_A" "$V4_B" "$B"
	transfer "alone"
	alone=$RATE
	# What is due anyhow costs H as much time.
	busy_tenant 1
	transfer "beside a cpu_rate of 1"
	expect "held back in H" "$(since "$H" AckLimitCpu)" -gt 100
	expect "held back in B" "$(since "$B" AckLimitCpu)" -eq 0
	expect "OR-ACKs of B" "$(since "$B" AckSent)" -ge 490
	expect "OR-ACKs/s of B" "$RATE" -ge "$(calc "$alone / 4")"
	idle_tenant
	unsubscribe "$A" "$V4_A" "$V4_B" "$B"
}

# An OR-ACK by time of B has not waited for one of H. In real time the machine may stop for
# longer than that: not three times.
ack_delay() {
	local hold by_time i

	defaults
	acker_set "$B" ack_packets 255 ack_delay_ns 50000
	tenant_set ack_packets 255 ack_bytes 16777216 ack_delay_ns 10000000
	subscribed "$A" "$V4_A" "$V4_B" "$B"
	busy_tenant 10
	for i in 1 2 3; do
		listen "$A" "$V4_A" "$V4_B"
		transfer "beside an ack_delay_ns of 10 ms"
		heard
		all_good
		by_time=$(since "$B" AckByTime)
		hold=$(said hold_max_ns)
		echo "measured: longest hold in B: $hold ns"
		[ "$hold" -ge 3000000 ] || break
	done
	# What fails here is no matter of other cases.
	idle_tenant
	unsubscribe "$A" "$V4_A" "$V4_B" "$B"
	defaults
	expect "OR-ACKs by time of H" "$(since "$H" AckByTime)" -gt 10
	expect "OR-ACKs by time of B" "$by_time" -gt 100
	expect "longest hold in B, ns" "$hold" -lt 3000000
}

# settings NAMESPACE: all of them, and whether there is a key.
settings() {
	in_ns "$1" bash -c 'cd /proc/sys/net && grep . or_acker/* or_port/key'
}

# H sets a key, a low rate of CHALLENGEs and other stamps. The settings of B stay, and B answers
# SUBSCRIBEs and data as before.
isolated() {
	local before i

	defaults
	before=$(settings "$B")
	tenant_set challenge_rate 1 mode all stamps hardware
	tenant bash -c 'echo 00000000000000000000000000000001 >/proc/sys/net/or_port/key'
	expect_same "key of H" "$(ns_get "$H" or_port/key)" set
	expect_same "settings of B" "$(settings "$B")" "$before"
	mark "$H"
	subscribe "$A" "$V4_AH" "$V4_H" answer=0
	wait_for 10 since_is "$H" SubscribeTag -eq 1
	for i in 1 2 3; do
		exact "$A" "$V4_A" "$V4_B" "$B" 100000
	done
	expect "accepted by H" "$(since "$H" SubscribeAccepted)" -eq 0
	tenant bash -c 'echo none >/proc/sys/net/or_port/key'
	tenant_set challenge_rate 10000 mode subscribed stamps software
}

# max_flows, max_subscribers, cpu_rate: at most those of the initial namespace.
host_limits() {
	local name most

	for name in max_flows max_subscribers cpu_rate; do
		most=$(cat "/proc/sys/net/or_acker/$name")
		expect "$name" "$(ns_get "$H" "or_acker/$name")" -eq "$most"
		refused tenant_set "$name" $((most + 1)) 2>"$KSFT_TMP/error"
		grep -q 'Operation not permitted' "$KSFT_TMP/error"
		expect "$name" "$(ns_get "$H" "or_acker/$name")" -eq "$most"
		tenant_set "$name" 100
		expect "$name" "$(ns_get "$H" "or_acker/$name")" -eq 100
		tenant_set "$name" "$most"
		# The administrator of the host lowers it, for all, and gives more to one.
		echo 1000 >"/proc/sys/net/or_acker/$name"
		expect "$name" "$(ns_get "$H" "or_acker/$name")" -eq 1000
		expect "$name of B" "$(ns_get "$B" "or_acker/$name")" -eq 1000
		refused tenant_set "$name" 1001 2>/dev/null
		acker_set "$H" "$name" 2000
		expect "$name" "$(ns_get "$H" "or_acker/$name")" -eq 2000
		# It may go down from there, and not up again.
		tenant_set "$name" 500
		expect "$name" "$(ns_get "$H" "or_acker/$name")" -eq 500
		refused tenant_set "$name" 2000 2>/dev/null
		echo "$most" >"/proc/sys/net/or_acker/$name"
		tenant_set "$name" "$most"
	done
	dmesg | grep -q 'only the host.s administrator'
}

# They hold, too.
host_limit_holds() {
	echo 5 >/proc/sys/net/or_acker/max_flows
	subscribed "$A" "$V4_AH" "$V4_H" "$H"
	mark "$H"
	send "$A" "$V4_AH" "$V4_H" 100000 flows=20
	expect "flows" "$(acker "$H" Flows)" -eq 5
	expect "packets without" "$(since "$H" PacketFlowTableFull)" -gt 0
	echo 65536 >/proc/sys/net/or_acker/max_flows
	unsubscribe "$A" "$V4_AH" "$V4_H" "$H"
}

# 640 flows of connections that were closed are 160 KB.
charged() {
	local before after i

	cgroup_add
	acker_set "$B" flow_age_s 3600
	# shellcheck disable=SC2016
	spawn bash -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' bash "$CGROUP" \
		nsenter "--net=/run/netns/$B" "$HELPER" sink :: 7002
	wait_for 10 listening "$B" 7002
	subscribed "$A" "$V4_A" "$V4_B" "$B"
	in_ns "$A" "$HELPER" send "$V4_A" "$V4_B" 7002 3000 flows=60
	before=$(slab)
	mark "$B"
	for i in 1 2 3 4 5 6 7 8 9 10; do
		in_ns "$A" "$HELPER" send "$V4_A" "$V4_B" 7002 3000 flows=64
	done
	expect "flows" "$(since "$B" FlowsNew)" -eq 640
	after=$(slab)
	echo "measured: 640 flows: $((after - before)) bytes charged"
	expect "bytes that 640 flows are charged" "$((after - before))" -ge $((640 * 224))
	unsubscribe "$A" "$V4_A" "$V4_B" "$B"
	wait_for 20 acker_is "$B" Flows -eq 0
	after=$(slab)
	expect "bytes that no flow is charged" "$((after - before))" -lt $((640 * 100))
	stop "$SPAWNED" KILL
	defaults
}

# blind FROM TO [PORT]: 3000 segments with the ports of a connection, and sequence numbers all
# around, while it lives.
blind() {
	local port forged=3000 to=${3:-7001}

	subscribed "$A" "$1" "$2" "$B"
	mark "$B"
	spawn in_ns "$A" "$HELPER" send "$1" "$2" "$to" 100000000 chunk=1000 wait=1
	wait_for 10 since_is "$B" FlowsNew -eq 1
	port=$(ss -N "$A" -Htn "dport = $to" | awk '{ sub(".*:", "", $4); print $4 }')
	mark "$B"
	in_ns "$A" "$HELPER" blind "$1" "$2" "$port" "$to" "$forged"
	wait_for 10 since_is "$B" PacketOutsideWindow -ge $((forged * 99 / 100))
	expect "forged packets that were seen" "$(since "$B" PacketOutsideWindow)" \
		-le "$forged"
	# The connection has its OR-ACKs still, for what it sends.
	mark "$B"
	wait_for 10 since_is "$B" AckSent -ge 10
	stop "$SPAWNED" KILL
	unsubscribe "$A" "$1" "$2" "$B"
}

# The same for a connection that B translates, and has no socket of: it believes connection tracking.
# Port 7000 of B is one of a container behind it, D.
blind_forwarded() {
	local name

	name=$(ns_name D)
	ns_add "$name"
	veth_pair "$B" d1 "10.77.6.1 fd77:6::1" "$name" d0 "10.77.6.2 fd77:6::2"
	ip -n "$name" route add default via 10.77.6.1
	ip -n "$name" route add default via fd77:6::1
	ns_set "$B" ipv4/ip_forward 1 ipv6/conf/all/forwarding 1 or_acker/forward on
	in_ns "$B" nft -f - <<-END
		table inet nat {
			chain in {
				type nat hook prerouting priority dstnat;
				ip daddr $V4_B tcp dport 7000 dnat ip to 10.77.6.2:7001
				ip6 daddr $V6_B tcp dport 7000 dnat ip6 to [fd77:6::2]:7001
			}
		}
	END
	spawn in_ns "$name" "$HELPER" sink :: 7001
	wait_for 10 listening "$name"
	blind "$V4_A" "$V4_B" 7000
	blind "$V6_A" "$V6_B" 7000
	expect "flows without a socket" "$(proc_count or_acker "$B" FlowsForwarded)" -ge 2
	ns_set "$B" or_acker/forward off
	in_ns "$B" nft delete table inet nat
}

# More data than any window has: the socket is asked again as the window moves.
long() {
	subscribed "$A" "$V4_A" "$V4_B" "$B"
	mark "$B"
	send "$A" "$V4_A" "$V4_B" 50000000
	wait_for 10 acked_bytes "$B" -ge 50000000
	expect "packets outside" "$(since "$B" PacketOutsideWindow)" -eq 0
	expect "packets without a socket" "$(since "$B" PacketNoSocket)" -eq 0
	unsubscribe "$A" "$V4_A" "$V4_B" "$B"
}

# crowd N: N more namespaces with a macvlan of a device of B, and a subscriber each.
crowd() {
	local i name

	for i in $(seq "$1"); do
		name=$(ns_name "C$i")
		ns_add "$name"
		ip -n "$B" link add link b0 name "m$i" type macvlan mode bridge
		ip -n "$B" link set "m$i" netns "$name"
		link_up "$name" "m$i" "10.77.1.$((100 + i))"
		subscribe "$A" "$V4_A" "10.77.1.$((100 + i))"
		wait_for 10 acker_is "$name" Devices -gt 0
	done
}

# cost: of 10,000 packets to B in ms of virtual time; sets COST.
cost() {
	local from to

	send "$A" "$V4_A" "$V4_B" 100000
	from=$EPOCHREALTIME
	send "$A" "$V4_A" "$V4_B" 14480000
	to=$EPOCHREALTIME
	COST=$(calc "1000 * ($to - $from)")
	echo "measured: $1: $COST ms"
}

# In virtual time, a nanosecond is an instruction.
many_namespaces() {
	local alone

	in_ns "$A" ethtool -K a0 tso off gso off
	subscribed "$A" "$V4_A" "$V4_B" "$B"
	cost "10,000 packets, alone"
	alone=$COST
	crowd 20
	cost "10,000 packets, beside 20 namespaces"
	in_ns "$A" ethtool -K a0 tso on gso on
	expect "ms for 10,000 packets" "$COST" -le "$(calc "$alone * 1.2 + 5")"
	unsubscribe "$A" "$V4_A" "$V4_B" "$B"
}

ksft_plan 12
need_acker
net_pair
tenant_add
sink "$B"
no_ends_left_out "$H"
spawn tenant "$HELPER" sink :: 7001
wait_for 10 listening "$H"
ksft_case "H is of an unprivileged user" is_unprivileged
ksft_case "cpu_rate of H does not hold back OR-ACKs of B" cpu_rate
ksft_case "ack_delay_ns of H does not delay OR-ACKs of B" ack_delay
ksft_case "what H sets is of H alone" isolated
ksft_case "H may set less than the initial namespace has, and not more" host_limits
ksft_case "a limit of the initial namespace holds in H" host_limit_holds
ksft_case "flows are charged to the cgroup of their socket" charged
ksft_case "forged sequence numbers, IPv4" blind "$V4_A" "$V4_B"
ksft_case "forged sequence numbers, IPv6" blind "$V6_A" "$V6_B"
ksft_case "forged sequence numbers of a published port" blind_forwarded
ksft_case "no packet of a long transfer is outside of the window" long
ksft_case "a packet costs no more with many namespaces" many_namespaces
