#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Sender and receiver with each other, sch_onramp on A and or_acker on B, over all that
# may be between them.
. "$(dirname "$0")/onramp_lib.sh"

B6=fd77:1:2:3::b
BV=10.77.7.2

# Whatever the machine does meanwhile; and veth is faster than the 10 Gbit/s it says.
unpaused='threshold 10s line_rate 400gbit'

# OR-ACKs about flows to an address count, and none is refused.
understood() {
	# shellcheck disable=SC2086
	fresh $unpaused
	spawn_load "$A" --to "$1" --flows 2 --duration 600
	wait_for 100 stats_reach acks 20
	stop "$SPAWNED" KILL
	shot
	expect pauses "$(shown pauses)" -eq 0
	none_refused
}

# offloads FUNCTION...: with and without what cuts and merges packets; unless THOROUGH with all of it, and
# with none.
offloads() {
	local tso gro

	for tso in on off; do
		for gro in on off; do
			[ "$THOROUGH" -eq 1 ] || [ $tso = $gro ] || continue
			echo "tso $tso gro $gro"
			in_ns "$A" ethtool -K a0 tso $tso gso $tso
			in_ns "$B" ethtool -K b0 gro $gro
			"$@"
		done
	done
}

vlan() {
	local name

	for name in a b; do
		eval "ip -n \"\$${name^}\" link add link ${name}0 name ${name}0.7 up type vlan id 7"
	done
	ip -n "$A" addr add 10.77.7.1/24 dev a0.7
	ip -n "$B" addr add $BV/24 dev b0.7
	offloads understood $BV
}

# The qdisc is on the device below the VLAN that a link-local address belongs to.
link_local() {
	ip -n "$A" addr add fe80::7:a/64 dev a0.7 nodad
	ip -n "$B" addr add fe80::7:b/64 dev b0.7 nodad
	understood fe80::7:b%a0.7
}

# shown_by NAMESPACE NAME KIND LOCAL REMOTE: by netlink.
shown_by() {
	"$KSFT_DIR/genl_helper" -n "$1" "$3" "local=$4" "remote=$5" | awk -v name="$2" '{
		for (i = 1; i <= NF; i++)
			if (index($i, name "=") == 1) print substr($i, length(name) + 2)
	}'
}

# Data goes both ways between the two, so each host is a sender and a receiver. B tells by how much its
# timestamps are ahead of the clock that both have here: A's baseline is that, and the empty path.
both_ways() {
	local forth ahead

	# shellcheck disable=SC2086
	fresh $unpaused
	# shellcheck disable=SC2086
	tc -n "$B" qdisc replace dev b0 root onramp $unpaused
	serve "$A"
	spawn_load "$A" --to "$B4" --flows 2 --duration 600
	forth=$SPAWNED
	wait_for 100 stats_reach acks 20
	spawn_load "$B" --to "$V4_A" --flows 2 --duration 600
	wait_for 100 b_has 20
	wait_for 100 stats_reach acks $(($(stat acks) + 20))
	ahead=$(shown_by "$B" clock_ns sub "$B4" "$V4_A")
	expect "delay of the empty path, ns" $(($(shown_by "$A" baseline_ns path "$V4_A" "$B4") - ahead)) -ge -1000000
	expect "delay of the empty path, ns" $(($(shown_by "$A" baseline_ns path "$V4_A" "$B4") - ahead)) -lt 1000000000
	expect "domain" "$(shown_by "$A" domain path "$V4_A" "$B4")" -eq "$(shown_by "$B" domain sub "$B4" "$V4_A")"
	stop "$SPAWNED" KILL
	stop "$forth" KILL
	tc -n "$B" qdisc del dev b0 root
}

b_has() {
	tc -n "$B" -s -j qdisc show dev b0 >"$KSFT_TMP/shot"
	[ "$(shown acks)" -ge "$1" ]
}

# The receiver's module goes in the middle of it, and comes back.
comes_and_goes() {
	local packets

	# shellcheck disable=SC2086
	fresh $unpaused
	# Until A asks again, which may take 20 s.
	spawn_load "$A" --to "$B4" --flows 2 --rate-limit 2mbit --duration 600
	wait_for 100 stats_reach acks 20
	rmmod or_acker
	packets=$(stat packets)
	wait_for 100 stats_reach packets $((packets + 500))
	expect pauses "$(stat pauses)" -eq 0
	modprobe or_acker
	wait_for 100 stats_reach acks $(($(stat acks) + 20))
	stop "$SPAWNED" KILL
}

# b_acker COUNTER: of B's or_acker.
b_acker() {
	proc_count or_acker "$B" "$1"
}

subscribers() {
	[ "$(b_acker Subscribers)" -eq "$1" ]
}

# leaves COMMAND...: after it no qdisc of A follows the data that goes on, and B sends no more OR-ACKs.
leaves() {
	local acks

	wait_for 5 stats_reach acks 20
	acks=$(b_acker AckSent)
	"$@"
	wait_for 10 subscribers 0
	acks=$(($(b_acker AckSent) - acks))
	echo "measured: $acks OR-ACKs after $*"
	expect "OR-ACKs until the end" "$acks" -le 2000
	acks=$(b_acker AckSent)
	sleep 1
	expect "OR-ACKs after the end" $(($(b_acker AckSent) - acks)) -eq 0
}

# Data goes on at 20 Mbit/s, 1,700 packets a second, in all of them.
unsubscribes() {
	local acks ended first rule="to $B4 ipproto 17 dport 299"

	# shellcheck disable=SC2086
	fresh $unpaused
	spawn_load "$A" --to "$B4" --flows 2 --rate-limit 20mbit --duration 600
	leaves change mode off
	# It asks again at once.
	change mode final
	leaves tc -n "$A" qdisc replace dev a0 root fq
	# shellcheck disable=SC2086
	fresh $unpaused
	leaves change peers 1us
	# The message is lost, and sent again.
	change peers all
	wait_for 100 stats_reach acks $(($(stat acks) + 20))
	# shellcheck disable=SC2086
	ip -n "$A" rule add $rule prohibit
	ended=$(stat subscribe_errors)
	change mode off
	wait_for 10 stats_reach subscribe_errors $((ended + 2))
	expect "subscribers" "$(b_acker Subscribers)" -eq 1
	# shellcheck disable=SC2086
	ip -n "$A" rule del $rule prohibit
	wait_for 10 subscribers 0
	# One of two qdiscs goes; the other one follows data to that host as before.
	tc -n "$A" -batch - <<-END
		qdisc replace dev a0 root handle 2: prio bands 2 priomap 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0
		qdisc replace dev a0 parent 2:1 onramp $PEERS $unpaused
		qdisc replace dev a0 parent 2:2 onramp $PEERS $unpaused
	END
	first=$SPAWNED
	spawn_load "$A" --to "$B4" --flows 1 --dscp 2 --rate-limit 5mbit --duration 600
	wait_for 10 subscribers 1
	sleep 1
	ended=$(b_acker SubscribeAccepted)
	tc -n "$A" qdisc replace dev a0 parent 2:2 pfifo
	acks=$(b_acker AckSent)
	sleep 2
	expect "OR-ACKs of the other one" $(($(b_acker AckSent) - acks)) -ge 100
	expect "SUBSCRIBEs meanwhile" "$(b_acker SubscribeAccepted)" -le $((ended + 1))
	stop "$first" KILL
	stop "$SPAWNED" KILL
	fresh
}

# of DEVICE STATISTIC: that of its qdisc.
of() {
	local DEV=$1

	stat "$2"
}

# on DEVICE [WORD VALUE]...: it has a qdisc of its own.
on() {
	local DEV=$1
	shift

	# shellcheck disable=SC2086
	fresh $unpaused "$@"
}

# follows DEVICE: 20 more OR-ACKs count there.
follows() {
	local DEV=$1

	wait_for 100 stats_reach acks $(($(stat acks) + 20))
}

# Data goes on meanwhile: that of UPPER is left to the qdisc of LOWER while that follows connections.
one_of_two() {
	local upper=$1 lower=$2 acks left

	follows "$lower"
	# If both recorded, they would be all; on a busy machine some are of segments sent again.
	expect "OR-ACKs about data that was recorded twice" "$(of "$lower" acks_ambiguous)" \
		-le $(($(retransmitted "$A") - again))
	expect "OR-ACKs of $upper" "$(of "$upper" acks)" -eq 0
	expect "packets left" "$(of "$upper" stacked)" -ge 20
	expect "packets left by $lower" "$(of "$lower" stacked)" -eq 0
	tc -n "$A" qdisc change dev "$lower" root onramp mode off
	follows "$upper"
	left=$(of "$upper" stacked)
	tc -n "$A" qdisc change dev "$lower" root onramp mode final
	follows "$lower"
	expect "packets left" "$(of "$upper" stacked)" -gt "$left"
	tc -n "$A" qdisc del dev "$lower" root
	follows "$upper"
	on "$lower"
	acks=$(of "$upper" acks)
	follows "$lower"
	expect "OR-ACKs of $upper" "$(of "$upper" acks)" -le $((acks + 2))
}

# steady ADDRESS: data goes there. Sets again, the segments that were sent again until then.
steady() {
	again=$(retransmitted "$A")
	spawn_load "$A" --to "$1" --flows 2 --rate-limit 20mbit --duration 600
}

stacked_vlan() {
	local name

	for name in a b; do
		ip -n "$(host $name)" link add link ${name}0 name vlan8 up type vlan id 8
	done
	ip -n "$A" addr add 10.77.8.1/24 dev vlan8
	ip -n "$B" addr add 10.77.8.2/24 dev vlan8
	on a0
	on vlan8
	steady 10.77.8.2
	one_of_two vlan8 a0
	stop "$SPAWNED" KILL
	ip -n "$A" link del vlan8
}

stacked_macvlan() {
	ip -n "$A" link add link a0 name mv0 type macvlan mode bridge
	ip -n "$A" addr add 10.77.9.1/24 dev mv0
	ip -n "$A" link set mv0 up
	ip -n "$B" addr add 10.77.9.2/24 dev b0
	on a0
	on mv0
	steady 10.77.9.2
	one_of_two mv0 a0
	stop "$SPAWNED" KILL
	ip -n "$A" link del mv0
}

# active NUMBER: of the devices of both bonds.
active() {
	ip -n "$A" link set bond0 type bond active_slave a$1
	ip -n "$B" link set bond0 type bond active_slave b$1
}

# A bond has its qdisc, and gets its devices later. Connections move to the other one, and back.
stacked_bond() {
	local name i

	for name in "$A" "$B"; do
		ip -n "$name" link add bond0 type bond mode active-backup
	done
	for i in 3 4; do
		ip link add a$i netns "$A" type veth peer name b$i netns "$B"
	done
	on bond0
	on a3
	on a4
	for i in a3 a4 b3 b4; do
		ip -n "$(host ${i%?})" link set $i master bond0
	done
	ip -n "$A" addr add 10.77.10.1/24 dev bond0
	ip -n "$B" addr add 10.77.10.2/24 dev bond0
	ip -n "$A" link set bond0 up
	ip -n "$B" link set bond0 up
	steady 10.77.10.2
	for i in 3 4 3 4; do
		active $i
		follows a$i
	done
	expect "OR-ACKs of bond0" "$(of bond0 acks)" -eq 0
	# It has none below, and then one.
	tc -n "$A" qdisc del dev a4 root
	ip -n "$A" link set a3 nomaster
	follows bond0
	ip -n "$A" link set a3 down
	ip -n "$A" link set a3 master bond0
	active 3
	follows a3
	stop "$SPAWNED" KILL
	ip -n "$A" link del bond0
	ip -n "$B" link del bond0
}

# big BYTES: a batch of more than that has been recorded.
big() {
	awk -v bytes="$1" "$TRACE_AWK"'/onramp_sent: / && v("end") - v("start") > bytes {
		found = 1
		exit
	} END { exit !found }' /sys/kernel/tracing/trace
}

# batches BYTES: as large ones both hosts send and merge.
batches() {
	local name

	for name in a b; do
		ip -n "$(host $name)" link set ${name}0 gso_max_size "$1" gro_max_size "$1"
		"$KSFT_DIR/link_helper" "$(host $name)" ${name}0 "$1" || [ $? -eq 4 ]
	done
}

# big_tcp ADDRESS: batches of more than 64 KB, for whose length a header of IP has no room.
big_tcp() {
	local tracing=/sys/kernel/tracing name

	batches 185000
	for name in a b; do
		ns_set "$(host $name)" ipv4/tcp_wmem '4096 4000000 16000000' \
			ipv4/tcp_rmem '4096 4000000 16000000'
	done
	# shellcheck disable=SC2086
	fresh $unpaused
	echo >$tracing/trace
	undo "echo 0 >$tracing/events/onramp/onramp_sent/enable; echo >$tracing/trace"
	echo 1 >$tracing/events/onramp/onramp_sent/enable
	spawn_load "$A" --to "$1" --flows 1 --duration 600
	# They are that large once TCP's window is.
	wait_for 60 big 65535
	wait_for 60 stats_reach acks 40
	stop "$SPAWNED" KILL
	echo 0 >$tracing/events/onramp/onramp_sent/enable
	echo >$tracing/trace
	wait_for 60 no_connections
	expect "OR-ACKs that found no record" "$(stat acks_not_in_flight)" -lt "$(stat acks)"
	batches 65536
}

# The two hosts are on a wire as well, with a VLAN and a VXLAN on it. That is made with its device, and
# has its speed.
wires() {
	local name other

	labnic add a1 netns "$A" rate 20mbit peer b1 netns "$B" rate 20mbit
	link_up "$A" a1 10.77.20.1
	link_up "$B" b1 10.77.20.2
	for name in a b; do
		other=$([ $name = a ] && echo 2 || echo 1)
		ip -n "$(host $name)" -batch - <<-END
			link add link ${name}1 name vlan1 type vlan id 7
			link add vxlan1 type vxlan id 7 dev ${name}1 \
				remote 10.77.20.$other dstport 4789
			addr add 10.77.21.$((3 - other))/24 dev vlan1
			addr add 10.77.22.$((3 - other))/24 dev vxlan1
			link set vlan1 up
			link set vxlan1 up
		END
	done
}

host() {
	[ "$1" = a ] && echo "$A" || echo "$B"
}

# waits ADDRESS: data to it is recorded as waiting for the wire, behind other data, so many ns at most.
waits() {
	local tracing=/sys/kernel/tracing

	echo >$tracing/trace
	echo 1 >$tracing/events/onramp/onramp_sent/enable
	load_until acks $(($(stat acks) + 40)) --to "$1" --flows 4
	echo 0 >$tracing/events/onramp/onramp_sent/enable
	awk "$TRACE_AWK"'/onramp_sent: / {
		n++
		wait = v("tx") - v("now")
		if (wait > most) most = wait
	} END { print (n >= 5 ? most + 0 : "of " n + 0 " packets") }' $tracing/trace
	echo >$tracing/trace
}

# wire_rate ADDRESS: of the path to there, bytes/s; 0: unknown.
wire_rate() {
	local path

	path=$("$KSFT_DIR/genl_helper" -n "$A" path "local=${1%.*}.1" "remote=$1")
	case $path in
	*" line_rate="*)
		path=${path#* line_rate=}
		echo "${path%% *}" ;;
	*)	echo 0 ;;
	esac
}

# The rate of the wire is that of the NIC. A VLAN's packets wait for it in turn. Those of a tunnel
# wait in another qdisc, the NIC's, unless line_rate says something else, were it the same rate.
wire() {
	local DEV=$1 to=$2 tunnel=$3 name

	# Of two on the way, OR-ACKs would belong to the lower one.
	for name in a1 vlan1 vxlan1; do
		tc -n "$A" qdisc del dev $name root 2>/dev/null || :
	done
	fresh threshold 10s
	wait_for 20 no_connections
	expect "ns of waiting" "$(waits "$to")" $([ "$tunnel" = 1 ] && echo -eq 0 || echo -ge 5000)
	expect "rate of the wire" "$(wire_rate "$to")" -eq 2500000
	tc -n "$A" qdisc change dev "$DEV" root onramp line_rate 20mbit
	expect "ns of waiting, with line_rate" "$(waits "$to")" -ge 5000
	tc -n "$A" qdisc change dev "$DEV" root onramp line_rate 0
	expect "ns of waiting, without it again" "$(waits "$to")" \
		$([ "$tunnel" = 1 ] && echo -eq 0 || echo -ge 5000)
}

# vmxnet3s: names of its NICs.
vmxnet3s() {
	local dev

	for dev in /sys/class/net/*; do
		case $(readlink "$dev/device/driver") in
		*/vmxnet3) basename "$dev" ;;
		esac
	done
}

# It reports 10 Gbit/s, and no wire has them.
hypervisor() {
	local DEV=a2

	ip link set "$1" netns "$A" name a2
	ip link set "$2" netns "$B" name b2
	link_up "$A" a2 10.77.23.1
	link_up "$B" b2 10.77.23.2
	expect "its speed" "$(ip netns exec "$A" cat /sys/class/net/a2/speed)" -ge 1000
	fresh threshold 10s
	load_until acks $(($(stat acks) + 40)) --to 10.77.23.2 --flows 2
	expect "rate of the wire" "$(wire_rate 10.77.23.2)" -eq 0
	# OR-ACKs about packets that leave faster than line_rate are refused.
	tc -n "$A" qdisc change dev a2 root onramp line_rate 400gbit
	load_until acks $(($(stat acks) + 40)) --to 10.77.23.2 --flows 2
	expect "rate of the wire, with line_rate" "$(wire_rate 10.77.23.2)" -eq 50000000000
}

# Ways of the data -----------------------------------------------------------
#
#	A a0 ---------- b0 B lo	10.7.0.0/24, fd77:7::/64
#	  m0		   m0	the other network of each, which has the default route
#
# Each connection is to another address, so that A has not asked it yet.

A6=fd77:1:2:3::a

# Forget what has been; nothing leads from one to the other but a0 and b0.
networks() {
	local name

	ns_del "$A"
	ns_del "$B"
	quiet_pair
	for name in "$A" "$B"; do
		ns_set "$name" ipv6/conf/all/disable_ipv6 0 ipv6/conf/default/disable_ipv6 0 \
			ipv6/conf/all/keep_addr_on_down 1 ipv4/tcp_l3mdev_accept 1 \
			ipv4/udp_l3mdev_accept 1 or_acker/busy_share 0
		ip -n "$name" -batch - <<-END
			link add m0 type dummy
			link set m0 up
			addr add 192.0.2.1/24 dev m0
			addr add fd77:9::1/64 dev m0 nodad
			route add default via 192.0.2.254
			route add default via fd77:9::254
		END
		in_ns "$name" nft -f - <<-END
			table inet seen {
				counter strays { }
				chain out {
					type filter hook postrouting priority 0;
					oifname "m0" udp dport 299 counter name strays
				}
			}
		END
	done
	ns_set "$A" ipv6/conf/a0/disable_ipv6 0
	ns_set "$B" ipv6/conf/b0/disable_ipv6 0
	ip -n "$A" addr add $A6/64 dev a0 nodad
	ip -n "$B" addr add $B6/64 dev b0 nodad
	ip -n "$B" route add local 10.7.0.0/24 dev lo
	ip -n "$B" route add local fd77:7::/64 dev lo
	# Where a rule leads there, in place of the default route.
	ip -n "$A" route add default via $B4 dev a0 table 100
	ip -n "$A" route add default via $B6 dev a0 table 100
	serve "$B"
}

# strays NAMESPACE: messages that left by its other network.
strays() {
	in_ns "$1" nft list counter inet seen strays | sed -n 's/.*packets \([0-9]*\).*/\1/p'
}

# goes FROM TO OPTION...: data of such a socket of A is answered, and no message leaves by another network.
goes() {
	spawn "$KSFT_DIR/via_helper" "$A" "$1" "$2" 5001 "${@:3}"
	wait_for 30 stats_reach acks $(($(stat acks) + 20))
	stop "$SPAWNED" KILL
	wait_for 20 no_connections
	nowhere_else
}

nowhere_else() {
	expect "messages by another network, of A" "$(strays "$A")" -eq 0
	expect "messages by another network, of B" "$(strays "$B")" -eq 0
}

# both HOST OPTION...: by both versions of IP, to B's addresses of that number.
both() {
	goes $V4_A "10.7.0.$1" "${@:2}"
	goes $A6 "fd77:7::$1" "${@:2}"
}

# rule WORD...: for both versions.
rule() {
	ip -n "$A" rule "$@"
	ip -n "$A" -6 rule "$@"
}

# remote add|del HOST: the addresses of B have a route of their own by the other network of A, and one by
# a0 as a part of a network.
remote() {
	ip -n "$A" -batch - <<-END
		route $1 10.7.0.$2/32 via 192.0.2.254
		route $1 fd77:7::$2/128 via fd77:9::254
		route $1 10.7.0.0/24 via $B4 dev a0
		route $1 fd77:7::/64 via $B6 dev a0
	END
}

marked() {
	# shellcheck disable=SC2086
	fresh $unpaused
	rule add fwmark 5 lookup 100
	both 11 mark=5
	# Rules of A give it the mark.
	in_ns "$A" nft add chain inet seen marks '{ type route hook output priority mangle; }'
	in_ns "$A" nft add rule inet seen marks tcp dport 5001 meta mark set 5
	both 12
	in_ns "$A" nft flush chain inet seen marks
	in_ns "$A" nft delete chain inet seen marks
	rule del fwmark 5 lookup 100
}

of_tcp() {
	# shellcheck disable=SC2086
	fresh $unpaused
	rule add ipproto 6 dport 5001 lookup 100
	both 21
	rule del ipproto 6 dport 5001 lookup 100
}

bound() {
	# shellcheck disable=SC2086
	fresh $unpaused
	remote add 31
	both 31 device=a0
	remote del 31
}

# The data has lost the mark that it was routed by. A message takes another route by the same device; if
# there is none, it is not sent.
unknown() {
	local before to from

	# shellcheck disable=SC2086
	fresh $unpaused
	rule add fwmark 5 lookup 100
	in_ns "$A" nft add chain inet seen unmark '{ type filter hook postrouting priority 0; }'
	in_ns "$A" nft add rule inet seen unmark tcp dport 5001 meta mark set 0
	for to in 10.7.0.41 fd77:7::41; do
		from=$([ $to = 10.7.0.41 ] && echo $V4_A || echo $A6)
		before=$(proc_count or_port "$A" TxOtherWay)
		spawn "$KSFT_DIR/via_helper" "$A" "$from" $to 5001 mark=5
		wait_for 30 not_sent_since "$before"
		stop "$SPAWNED" KILL
	done
	expect "errors" "$(stat subscribe_errors)" -ge 4
	nowhere_else
	remote add 42
	both 42 mark=5
	remote del 42
	in_ns "$A" nft flush chain inet seen unmark
	in_ns "$A" nft delete chain inet seen unmark
	rule del fwmark 5 lookup 100
}

not_sent_since() {
	proc_count or_port "$A" TxOtherWay -ge $(($1 + 2))
}

# The mark that a CHALLENGE reflects, and that of the receiver's socket.
reflected() {
	# shellcheck disable=SC2086
	fresh $unpaused
	rule add fwmark 5 lookup 100
	in_ns "$B" nft add chain inet seen in '{ type filter hook prerouting priority mangle; }'
	in_ns "$B" nft add rule inet seen in iifname b0 meta mark set 6
	ns_set "$B" ipv4/fwmark_reflect 1 ipv6/fwmark_reflect 1 ipv4/tcp_fwmark_accept 1
	ip -n "$B" rule add fwmark 6 lookup 200
	ip -n "$B" -6 rule add fwmark 6 lookup 200
	ip -n "$B" -batch - <<-END
		route add 10.77.1.0/24 dev b0 table 200
		route add fd77:1:2:3::/64 dev b0 table 200
		route add $V4_A/32 via 192.0.2.254
		route add $A6/128 via fd77:9::254
	END
	both 51 mark=5
	ip -n "$B" route del $V4_A/32 via 192.0.2.254
	ip -n "$B" route del $A6/128 via fd77:9::254
	in_ns "$B" nft flush chain inet seen in
	rule del fwmark 5 lookup 100
}

# a0 and b0 are in VRFs, and B's addresses as well.
in_vrfs() {
	ip -n "$A" -batch - <<-END
		link add red type vrf table 10
		link set red up
		link set a0 master red
		addr replace $A6/64 dev a0 nodad
		route add 10.7.0.0/24 via $B4 dev a0 table 10
		route add fd77:7::/64 via $B6 dev a0 table 10
		neigh replace $B4 lladdr $MAC_B dev a0 nud permanent
	END
	ip -n "$B" -batch - <<-END
		link add blue type vrf table 20
		link set blue up
		link set b0 master blue
		addr replace $B6/64 dev b0 nodad
		route add local 10.7.0.0/24 dev blue table 20
		route add local fd77:7::/64 dev blue table 20
		neigh replace $V4_A lladdr $MAC_A dev b0 nud permanent
	END
	# shellcheck disable=SC2086
	fresh $unpaused
	both 61 device=red
	expect_same "peer of the VRF" "$(peer_of 10.7.0.61 red)" subscribed
	both 62 device=a0
	taken_by_device $V4_A 10.7.0.63 0.0.0.0
	taken_by_device $A6 fd77:7::63 ::
}

# taken_by_device FROM TO ANY: the receiver's socket is bound to the device that is in the VRF.
taken_by_device() {
	local listener

	spawn "$KSFT_DIR/via_helper" "$B" listen "$3" 5002 device=b0
	listener=$SPAWNED
	wait_for 10 listening "$B" 5002
	spawn "$KSFT_DIR/via_helper" "$A" "$1" "$2" 5002 device=red
	wait_for 30 stats_reach acks $(($(stat acks) + 20))
	stop "$SPAWNED" KILL
	stop "$listener" KILL
	wait_for 20 no_connections
	nowhere_else
}

# peer_of ADDRESS VRF: the state of A's peer with that address.
peer_of() {
	in_ns "$A" awk -v name="$1%$(ip -n "$A" -o link show dev "$2" | sed 's/:.*//')" \
		'$2 == name { print $3 }' /proc/net/onramp_peers
}

# Other hosts with the same addresses, in another VRF: each has its own peer and its own subscriber.
twins() {
	local first

	ip link add a2 netns "$A" type veth peer b2 netns "$B"
	ip -n "$A" link add green type vrf table 11
	ip -n "$B" link add brown type vrf table 21
	ip -n "$A" link set green up
	ip -n "$B" link set brown up
	ip -n "$A" link set a2 master green
	ip -n "$B" link set b2 master brown
	link_up "$A" a2 "$V4_A"
	link_up "$B" b2 $B4
	# shellcheck disable=SC2086
	DEV=a2 fresh $unpaused
	# shellcheck disable=SC2086
	fresh $unpaused
	spawn "$KSFT_DIR/via_helper" "$A" "$V4_A" $B4 5001 device=red
	first=$SPAWNED
	wait_for 30 stats_reach acks 20
	spawn "$KSFT_DIR/via_helper" "$A" "$V4_A" $B4 5001 device=green
	DEV=a2 wait_for 30 stats_reach acks 20
	expect_same "the peer in red" "$(peer_of $B4 red)" subscribed
	expect_same "the peer in green" "$(peer_of $B4 green)" subscribed
	expect "subscribers of B" "$(proc_count or_acker "$B" Subscribers)" -ge 2
	expect "taken from each other" "$(proc_count or_acker "$B" SubscribersTaken)" -eq 0
	stop "$SPAWNED" KILL
	stop "$first" KILL
	nowhere_else
}

ksft_plan 23
need_module labnic
need_module nic_ts
need_module or_acker
ready
for name in "$A" "$B"; do
	ns_set "$name" ipv6/conf/all/disable_ipv6 0 ipv6/conf/default/disable_ipv6 0
done
ns_set "$A" ipv6/conf/a0/disable_ipv6 0
ns_set "$B" ipv6/conf/b0/disable_ipv6 0
ip -n "$A" addr add fd77:1:2:3::a/64 dev a0 nodad
ip -n "$B" addr add $B6/64 dev b0 nodad
serve "$B"
ksft_case "IPv4" offloads understood "$B4"
ksft_case "IPv6" offloads understood "$B6"
ksft_case "VLANs" vlan
ksft_case "link-local addresses on a VLAN" link_local
ksft_case "both ways at once" both_ways
ksft_case "or_acker goes and comes back" comes_and_goes
ksft_case "data that On-Ramp follows no longer has no OR-ACKs" unsubscribes
ksft_case "BIG TCP, IPv6" big_tcp $B6
if "$KSFT_DIR/link_helper" "$A" a0 65536; then
	ksft_case "BIG TCP, IPv4" big_tcp "$B4"
else
	ksft_skip "BIG TCP, IPv4" "this kernel has none"
fi
ksft_case "a VLAN and its device" stacked_vlan
ksft_case "a macvlan and its device" stacked_macvlan
ksft_case "a bond and its devices" stacked_bond
wires
ksft_case "the wire of a NIC" wire a1 10.77.20.2 0
ksft_case "the wire of a VLAN" wire vlan1 10.77.21.2 0
ksft_case "the wire below a tunnel" wire vxlan1 10.77.22.2 1
modprobe -q vmxnet3 || :
mapfile -t nics < <(vmxnet3s)
if [ "${#nics[@]}" -ge 2 ]; then
	ksft_case "a NIC of a hypervisor has no wire" hypervisor "${nics[@]:0:2}"
else
	ksft_skip "a NIC of a hypervisor has no wire" "no two vmxnet3 NICs"
fi
networks
ksft_case "data by its mark" marked
ksft_case "data by a rule for TCP" of_tcp
ksft_case "data of a socket that is bound to a device" bound
ksft_case "data by a way that is unknown" unknown
ksft_case "OR-ACKs by the mark of what they answer" reflected
ksft_case "VRFs" in_vrfs
ksft_case "the same addresses in two VRFs" twins
