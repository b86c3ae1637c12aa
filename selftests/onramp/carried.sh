#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Containers and virtual machines whose packets leave by the host's NIC, with no route of the host
# in between: the qdisc is on that NIC, and nothing is set in the container.
#
#	C c0 ---- (bridge, tap, macvlan, ipvlan, macvtap) A a0 ---- b0 B
#	 10.77.1.3                                               10.77.1.2
#	 fd77:1::c                                               fd77:1::b
. "$(dirname "$0")/workloads_lib.sh"

C4=10.77.1.3 C6=fd77:1::c
A6=fd77:1::a B6=fd77:1::b
MAC_C=02:00:00:00:00:0c
MAC_X=02:00:00:00:00:0e

hosts() {
	local name pid

	# What is left of another case.
	while read -r pid; do
		kill -KILL -- "-$pid" 2>/dev/null || :
	done <"$KSFT_TMP/pids"
	: >"$KSFT_TMP/pids"
	for name in "$A" "$B" "$C"; do
		[ ! -e "/run/netns/$name" ] || ns_del "$name"
	done
	quiet_pair
	ns_add "$C"
	for name in "$A" "$B" "$C"; do
		ns_set "$name" ipv6/conf/all/disable_ipv6 0 ipv6/conf/default/disable_ipv6 0 \
			ipv6/conf/default/accept_dad 0
		! ns_has "$name" or_acker || ns_set "$name" or_acker/busy_share 0
	done
	ns_set "$A" ipv6/conf/a0/disable_ipv6 0
	ns_set "$B" ipv6/conf/b0/disable_ipv6 0
	ip -n "$B" addr add $B6/64 dev b0 nodad
	serve "$B"
}

# resolved MAC: C and B know each other's MAC address.
resolved() {
	ip -n "$B" neigh replace $C4 lladdr "$1" dev b0 nud permanent
	ip -n "$B" neigh replace $C6 lladdr "$1" dev b0 nud permanent
}

# guest: c0 of C has its addresses.
guest() {
	ip -n "$C" -batch - <<-END
		addr add $C4/24 dev c0
		addr add $C6/64 dev c0 nodad
		link set c0 up
		neigh replace $B4 lladdr $MAC_B dev c0 nud permanent
		neigh replace $B6 lladdr $MAC_B dev c0 nud permanent
	END
	resolved "$MAC_C"
}

# in_one_order NAMESPACE DEVICE: as in quiet_pair.
in_one_order() {
	ip netns exec "$1" sh -c "echo 1 | tee /sys/class/net/$2/queues/rx-*/rps_cpus" >/dev/null
}

# bridge: a0 is a port of br0, which has A's address.
bridge() {
	hosts
	ip -n "$A" -batch - <<-END
		link add br0 address $MAC_A type bridge mcast_snooping 0
		addr flush dev a0
		addr add $V4_A/24 dev br0
		addr add $A6/64 dev br0 nodad
		link set a0 master br0
		link set br0 up
		neigh replace $B4 lladdr $MAC_B dev br0 nud permanent
	END
}

bridged() {
	bridge
	ip link add c0 netns "$C" address $MAC_C type veth peer hc netns "$A"
	ip -n "$A" link set hc master br0 up
	in_one_order "$A" hc
	in_one_order "$C" c0
	guest
}

# in_vlan NAMESPACE DEVICE V4 V6 PEER4 PEER6 MAC: it has its addresses in VLAN 10, and knows
# the peer's MAC address.
in_vlan() {
	ip -n "$1" addr flush dev "$2"
	ip -n "$1" -batch - <<-END
		link add link $2 name $2.10 type vlan id 10
		addr add $3/24 dev $2.10
		addr add $4/64 dev $2.10 nodad
		link set $2.10 up
		neigh replace $5 lladdr $7 dev $2.10 nud permanent
		neigh replace $6 lladdr $7 dev $2.10 nud permanent
	END
}

# vlan: C is in VLAN 10 of the bridge. B takes nothing of C's from outside of it.
vlan() {
	bridged
	in_vlan "$B" b0 $B4 $B6 $C4 $C6 $MAC_C
	ns_set "$B" ipv4/conf/all/rp_filter 1
	in_vlan "$C" c0 $C4 $C6 $B4 $B6 $MAC_B
}

# redirected: C's packets do not go through the bridge, but by tc's mirred to the NIC, as with
# bpf_redirect().
redirected() {
	bridged
	tc -n "$A" qdisc add dev hc clsact
	tc -n "$A" filter add dev hc ingress matchall action mirred egress redirect dev a0
}

# And so does what comes in for it: the hook does not see that.
redirected_both() {
	redirected
	tc -n "$A" qdisc add dev a0 clsact
	tc -n "$A" filter add dev a0 ingress protocol all u32 match ether dst $MAC_C \
		action mirred egress redirect dev hc
	fresh forward on $unpaused peers all
	load "$C" --to $B4 --flows 2 --rate-limit 1mbit --duration 1
	shot
	expect connections "$(shown connections)" -ge 2
	expect acks "$(shown acks)" -eq 0
	expect pauses "$(shown pauses)" -eq 0
	expect goodput "$(loaded goodput_bit_s)" -ge 1000000
}

# tap: C is a guest on a tap that is a port of the bridge.
tap() {
	bridge
	taps "$C" c0 "$A" hc
	ip -n "$A" link set hc master br0 up
	ip -n "$C" link set c0 address $MAC_C
	guest
}

# vhost: the same by vhost-net, which has a thread in the kernel for what the guest sends.
vhost() {
	[ -e /dev/vhost-net ] || modprobe vhost_net
	TAPS=vhost_helper
	tap
}

# taps ARG...: see tap_helper.c and vhost_helper.c
taps() {
	[ -e /dev/net/tun ] || modprobe tun
	spawn "$KSFT_DIR/${TAPS:-tap_helper}" "$@"
	wait_for 10 has_device "$C" c0
	wait_for 10 has_device "$3" "$4"
}

has_device() {
	ip -n "$1" link show "$2" >/dev/null 2>&1
}

macvtap() {
	local dev

	hosts
	ip -n "$A" link add link a0 name hc address $MAC_C type macvtap mode bridge
	ip -n "$A" link set hc up
	dev=$(ip netns exec "$A" sh -c 'cat /sys/class/net/hc/tap*/dev')
	rm -f "$KSFT_TMP/macvtap"
	mknod "$KSFT_TMP/macvtap" c "${dev%:*}" "${dev#*:}"
	taps "$C" c0 "$A" hc "$KSFT_TMP/macvtap"
	ip -n "$C" link set c0 address $MAC_C
	guest
}

macvlan() {
	hosts
	ip -n "$A" link add link a0 name c0 netns "$C" address $MAC_C type macvlan mode bridge
	guest
}

# ipvlan MODE
ipvlan() {
	hosts
	ip -n "$A" addr add $A6/64 dev a0 nodad
	ip -n "$A" neigh replace $B6 lladdr $MAC_B dev a0 nud permanent
	ip -n "$A" link add link a0 name c0 netns "$C" type ipvlan mode "$1"
	guest
	resolved $MAC_A
}

# overlay TYPE OPTION...: C and D are in one network, by a tunnel between A and B.
overlay() {
	local name

	! [ -e "/run/netns/$D" ] || ns_del "$D"
	hosts
	ns_add "$D"
	overlay_end "$A" $V4_A $B4 "$C" c0 10.77.8.3 fd77:8::3 "$@"
	overlay_end "$B" $B4 $V4_A "$D" d0 10.77.8.4 fd77:8::4 "$@"
	serve "$D"
}

# overlay_end HOST ADDRESS REMOTE GUEST DEVICE V4 V6 TYPE OPTION...
overlay_end() {
	local host=$1 ends="local $2 remote $3" guest=$4 dev=$5 v4=$6 v6=$7 type=$8
	shift 8

	# It has no other.
	[ "$type" != geneve ] || ends=${ends#local * }

	ns_set "$guest" ipv6/conf/all/disable_ipv6 0 ipv6/conf/default/disable_ipv6 0
	ip link add "$dev" netns "$guest" type veth peer "h$dev" netns "$host"
	# shellcheck disable=SC2086
	ip -n "$host" -batch - <<-END
		link add br1 type bridge mcast_snooping 0
		link add tun0 type $type $ends $@
		link set tun0 master br1 up
		link set h$dev master br1 up
		link set br1 up
	END
	ip -n "$guest" -batch - <<-END
		link set $dev mtu 1400
		addr add $v4/24 dev $dev
		addr add $v6/64 dev $dev nodad
		link set $dev up
	END
	in_one_order "$host" "h$dev"
	in_one_order "$guest" "$dev"
}

# The qdisc is on the tunnel, where the container's packets are not yet in another one.
works_on_tunnel() {
	overlay "$@"
	DEV=tun0
	answered "$C" 10.77.8.4 10.77.8.3
	answered "$C" fd77:8::4 fd77:8::3
}

# On the NIC the connection is hidden: nothing is followed, and nothing is lost.
hidden() {
	overlay "$@"
	fresh forward on $unpaused peers all
	load "$C" --to 10.77.8.4 --flows 2 --rate-limit 1mbit --duration 1
	shot
	expect connections "$(shown connections)" -eq 0
	expect forwarded "$(shown forwarded)" -eq 0
	expect subscribes "$(shown subscribes)" -eq 0
	expect goodput "$(loaded goodput_bit_s)" -ge 1000000
}

# between TYPE OPTION...: a tunnel between A and B, which send and receive in it themselves. With
# "dev" as the last word it is made with the NIC.
between() {
	hosts
	between_end "$A" a0 $V4_A $B4 1 "$@"
	between_end "$B" b0 $B4 $V4_A 2 "$@"
	DEV=tun0
}

# between_end HOST NIC ADDRESS REMOTE NUMBER TYPE OPTION...
between_end() {
	local host=$1 nic=$2 ends="local $3 remote $4" local=$3 remote=$4 n=$5 type=$6
	shift 6

	case $type in
	geneve)	ends="remote $remote" ;;
	wireguard|xfrm) ends='' ;;
	esac
	[ "${*: -1}" != dev ] || set -- "$@" "$nic"
	case $type in
	tun)
		[ -e /dev/net/tun ] || modprobe tun
		spawn "$KSFT_DIR/tun_helper" "$host" tun0 "$local" "$remote"
		wait_for 10 has_device "$host" tun0
		;;
	*)
		# shellcheck disable=SC2086
		ip -n "$host" link add tun0 type $type $ends "$@"
		;;
	esac
	case $type in
	wireguard)	"$KSFT_DIR/wg_helper" "$host" tun0 $((n - 1)) "$remote" ;;
	vti)		ipsec_tunnel "$host" "$local" "$remote" mark 7 ;;
	xfrm)		ipsec_tunnel "$host" "$local" "$remote" if_id 7 ;;
	esac
	ip -n "$host" -batch - <<-END
		link set tun0 mtu 1400 up
		addr add 10.77.9.$n/24 dev tun0
		addr add fd77:9::$n/64 dev tun0 nodad
	END
}

# esp HOST FROM TO WORD...: an association of IPsec, with a key for tests.
esp() {
	local host=$1 from=$2 to=$3
	shift 3

	ip -n "$host" xfrm state add src "$from" dst "$to" proto esp spi 7 "$@" replay-window 32 \
		aead 'rfc4106(gcm(aes))' 0x000102030405060708090a0b0c0d0e0f10111213 128
}

# ipsec_tunnel HOST LOCAL REMOTE WORD...: one end of a tunnel for all packets that WORDs select: a
# mark, or the number of an interface.
ipsec_tunnel() {
	local host=$1 local=$2 remote=$3 net
	shift 3

	esp "$host" "$local" "$remote" mode tunnel flag af-unspec "$@"
	esp "$host" "$remote" "$local" mode tunnel flag af-unspec "$@"
	for net in 0.0.0.0/0 ::/0; do
		ip -n "$host" -batch - <<-END
			xfrm policy add src $net dst $net dir out $@ tmpl src $local dst $remote proto esp mode tunnel
			xfrm policy add src $net dst $net dir in $@ tmpl src $remote dst $local proto esp mode tunnel
			xfrm policy add src $net dst $net dir fwd $@ tmpl src $remote dst $local proto esp mode tunnel
		END
	done
}

# ipsec_hosts HOST LOCAL REMOTE MODE: it encrypts all that it sends to the other, without a device.
ipsec_hosts() {
	local there='' back=''

	if [ "$4" = tunnel ]; then
		there="src $2 dst $3" back="src $3 dst $2"
	fi
	esp "$1" "$2" "$3" mode "$4"
	esp "$1" "$3" "$2" mode "$4"
	ip -n "$1" -batch - <<-END
		xfrm policy add src $2 dst $3 dir out tmpl $there proto esp mode $4
		xfrm policy add src $3 dst $2 dir in tmpl $back proto esp mode $4
	END
}

# The host's own data comes out of the tunnel on the tunnel's device.
works_between() {
	between "$@"
	answered "$A" 10.77.9.2 10.77.9.1
	# ipip and wg_helper take IPv4 only.
	case $1 in
	vxlan|geneve) answered "$A" fd77:9::2 fd77:9::1 ;;
	esac
}

# behind [WORD...]: C has a route to B's end of the tunnel, by A. WORDs are of B's route back, which
# is for IPv4 alone then.
behind() {
	ip link add c0 netns "$C" address $MAC_C type veth peer hc netns "$A"
	in_one_order "$A" hc
	in_one_order "$C" c0
	ns_set "$A" ipv4/ip_forward 1 ipv6/conf/all/forwarding 1
	ip -n "$A" -batch - <<-END
		addr add 10.77.8.1/24 dev hc
		addr add fd77:8::1/64 dev hc nodad
		link set hc up
	END
	ip -n "$C" -batch - <<-END
		addr add 10.77.8.3/24 dev c0
		addr add fd77:8::3/64 dev c0 nodad
		link set c0 mtu 1400 up
		route add default via 10.77.8.1
		route add default via fd77:8::1
	END
	ip -n "$B" route add 10.77.8.0/24 dev tun0 "$@"
	[ $# -gt 0 ] || ip -n "$B" route add fd77:8::/64 dev tun0
}

# As Calico has it: the tunnel knows no remote host, routes name it.
ipip_by_routes() {
	hosts
	ip -n "$A" link add tun0 type ipip local $V4_A
	ip -n "$B" link add tun0 type ipip local $B4
	ip -n "$A" addr add 10.77.9.1/32 dev tun0
	ip -n "$B" addr add 10.77.9.2/32 dev tun0
	ip -n "$A" link set tun0 mtu 1400 up
	ip -n "$B" link set tun0 mtu 1400 up
	ip -n "$A" route add 10.77.9.2/32 via $B4 dev tun0 onlink
	ip -n "$B" route add 10.77.9.1/32 via $V4_A dev tun0 onlink
	behind via $V4_A onlink
	DEV=tun0
	answered "$A" 10.77.9.2 10.77.9.1
	answered "$C" 10.77.9.2 10.77.8.3
	expect forwarded "$FORWARDED" -ge 2
}

# As Cilium has it: a program gives each packet of a container its remote host. Messages have none,
# so there are no answers, and data is sent as by fq.
by_metadata() {
	! [ -e "/run/netns/$D" ] || ns_del "$D"
	hosts
	ns_add "$D"
	by_metadata_end "$A" $V4_A $B4 "$C" 3 4
	by_metadata_end "$B" $B4 $V4_A "$D" 4 3
	serve "$D"
	DEV=tun0
	# shellcheck disable=SC2086
	fresh forward on $unpaused peers all
	load "$C" --to 10.77.8.4 --flows 2 --rate-limit 1mbit --duration 1
	shot
	expect acks "$(shown acks)" -eq 0
	expect pauses "$(shown pauses)" -eq 0
	expect "packets" "$(shown packets)" -ge 50
	expect "packets dropped" "$(shown flows_plimit)" -eq 0
	expect goodput "$(loaded goodput_bit_s)" -ge 1000000
}

# by_metadata_end HOST ADDRESS REMOTE GUEST NUMBER NUMBER_OF_THE_OTHER
by_metadata_end() {
	ip link add c0 netns "$4" address 02:00:00:00:01:0$5 type veth peer hc netns "$1"
	in_one_order "$1" hc
	in_one_order "$4" c0
	ip -n "$1" link add tun0 type vxlan external dstport 4789
	ip -n "$1" link set tun0 up
	ip -n "$1" link set hc up
	ip -n "$4" -batch - <<-END
		link set c0 mtu 1400 up
		addr add 10.77.8.$5/24 dev c0
		neigh replace 10.77.8.$6 lladdr 02:00:00:00:01:0$6 dev c0 nud permanent
	END
	tc -n "$1" qdisc add dev hc clsact
	tc -n "$1" qdisc add dev tun0 clsact
	tc -n "$1" filter add dev hc ingress matchall action tunnel_key set src_ip "$2" dst_ip "$3" \
		id 7 dst_port 4789 pipe action mirred egress redirect dev tun0
	tc -n "$1" filter add dev tun0 ingress matchall action tunnel_key unset pipe \
		action mirred egress redirect dev hc
}

# tunnelled TYPE OPTION...: data of A, and of C behind it, goes through a tunnel. The qdisc is on the
# NIC, where it sees nothing of that; then on the tunnel's device as well.
tunnelled() {
	between "$@"
	behind
	# A kernel that checks all it does takes more than 100 ms for a packet in userspace.
	if [ "$SLOW" -ne 1 ] && [ "$1" = tun ]; then
		local unpaused="$unpaused ack_timeout 10s"
	fi
	DEV=a0
	is_hidden "$A" fd77:9::2
	is_hidden "$C" fd77:9::2
	DEV=tun0
	if [ "$1" != sit ]; then
		answered "$A" 10.77.9.2 10.77.9.1
		answered "$C" 10.77.9.2 10.77.8.3
		expect forwarded "$FORWARDED" -ge 2
	fi
	answered "$A" fd77:9::2 fd77:9::1
	answered "$C" fd77:9::2 fd77:8::3
	expect forwarded "$FORWARDED" -ge 2
	DEV=a0
	expect "OR-ACKs for the NIC's qdisc" "$(stat acks)" -eq 0
}

# is_hidden FROM TO: the qdisc is on the NIC, where nothing is followed, and nothing is lost.
is_hidden() {
	# shellcheck disable=SC2086
	fresh forward on $unpaused peers all
	load "$1" --to "$2" --flows 2 --rate-limit 1mbit --duration 1
	shot
	expect acks "$(shown acks)" -eq 0
	expect connections "$(shown connections)" -eq 0
	expect forwarded "$(shown forwarded)" -eq 0
	expect subscribes "$(shown subscribes)" -eq 0
	expect "packets dropped" "$(shown flows_plimit)" -eq 0
	expect goodput "$(loaded goodput_bit_s)" -ge 1000000
}

# Neither host's NIC sees TCP.
without_device() {
	hosts
	ipsec_hosts "$A" $V4_A $B4 "$1"
	ipsec_hosts "$B" $B4 $V4_A "$1"
	is_hidden "$A" $B4
	expect "packets of ESP that B got" "$(ip -n "$B" -s xfrm state list src $V4_A | awk '
		/lifetime current/ { getline; gsub(/[^0-9 ]/, ""); print $2; exit }')" -ge 100
}

# goes_on TRACE: where a gap after a pause ends since the path is empty, a packet leaves by the rate
# that TCP sets, not by the recent one. That is in 0 to 3 ms, not 1 to 25, and behind 43 KB in 7, not 17. Packets
# of 16 KB have gaps of more than 6 ms, so some have to end; those of few segments, as 6.1 may have, are
# shorter than 2 ms.
goes_on() {
	awk "$TRACE_AWK"'
	/onramp_go_on/ && v("dest") ~ /:5001$/ { n++; from[v("src")] = v("now") }
	/onramp_sent/ && (v("src") in from) {
		most = size[v("src")] * 256
		late += v("now") - from[v("src")] > (most > 6000000 ? most : 6000000)
		delete from[v("src")]
	}
	/onramp_sent/ && v("dest") ~ /:5001$/ {
		sent++
		size[v("src")] = (v("end") - v("start") + 4294967296) % 4294967296
		bytes += size[v("src")]
	}
	END {
		bytes = sent ? bytes / sent : 0
		print "measured: " n + 0 " gaps ended, " late + 0 " of them late, of packets of " \
			int(bytes) " bytes"
		exit !sent || late > n / 10 || (bytes >= 16384 && n < 20)
	}' "$1"
}

# A VPN of userspace waits for a slow link: one flow has as much as with fq, whether or not On-Ramp
# is told the rate.
waits_for_link() {
	local fq onramp words fq_sum=0 sum=0

	between tun
	tc -n "$A" qdisc add dev a0 root handle 2: tbf rate 20mbit burst 6k limit 3m
	tc -n "$A" qdisc add dev a0 parent 2:1 fq
	trace_on onramp_sent onramp_go_on
	for words in "" "" "" "line_rate 20mbit"; do
		tc -n "$A" qdisc replace dev tun0 root fq
		load "$A" --to 10.77.9.2 --warmup 0.5 --duration 3
		fq=$(calc "$(loaded goodput_bit_s)")
		# shellcheck disable=SC2086
		fresh $words
		load "$A" --to 10.77.9.2 --warmup 0.5 --duration 3
		onramp=$(calc "$(loaded goodput_bit_s)")
		echo "measured: $((onramp * 1000 / fq))/1000 of fq's $((fq / 1000)) kbit/s," \
			"$(stat pauses) pauses, $(stat acks) OR-ACKs${words:+, with $words}"
		# One for ten packets, of some 6,000, and more in the first quarter of a second.
		expect acks "$(stat acks)" -ge 200
		expect acks "$(stat acks)" -le 2000
		if [ -n "$words" ]; then
			expect "goodput with $words" "$onramp" -ge $((fq * 95 / 100))
		else
			fq_sum=$((fq_sum + fq)) sum=$((sum + onramp))
		fi
	done
	trace_off "$KSFT_TMP/trace"
	goes_on "$KSFT_TMP/trace"
	expect goodput "$((sum / 3))" -ge $((fq_sum * 95 / 300))
}

# On the NIC even the hosts' own sockets are hidden.
hidden_between() {
	between "$@"
	DEV=a0
	# shellcheck disable=SC2086
	fresh $unpaused peers all
	load "$A" --to 10.77.9.2 --flows 2 --rate-limit 1mbit --duration 1
	shot
	expect acks "$(shown acks)" -eq 0
	expect subscribes "$(shown subscribes)" -eq 0
	expect goodput "$(loaded goodput_bit_s)" -ge 1000000
}

# B's end is in a container: what is below it is in another namespace.
in_container() {
	between "$@"
	! [ -e "/run/netns/$D" ] || ns_del "$D"
	ns_add "$D"
	ns_set "$D" or_acker/busy_share 0
	ip -n "$B" link set tun0 netns "$D"
	ip -n "$D" -batch - <<-END
		link set tun0 up
		addr add 10.77.9.2/24 dev tun0
	END
	serve "$D"
	answered "$A" 10.77.9.2 10.77.9.1
}

# works TOPOLOGY...: OR-ACKs count, for IPv4 and IPv6.
works() {
	"$@"
	answered "$C" $B4 $C4
	answered "$C" $B6 $C6
}

# A guest has no socket here: its connections have entries, and their RTT is measured.
works_as_guest() {
	"$@"
	answered "$C" $B4 $C4
	expect forwarded "$FORWARDED" -ge 2
	answered "$C" $B6 $C6
	# Its RTT is measured, or it would not be near.
	fresh forward on peers 1s line_rate 400gbit threshold 10s
	load_in_until "$C" acks 20 --to $B4 --flows 2 --rate-limit 1mbit
	# Its packets have no departure time. They need none for the fast path.
	shot
	expect fastpath "$(shown fastpath)" -ge $(($(shown packets) * 3 / 4))
	echo "measured: $(shown fastpath) of $(shown packets) packets by the fast path"
}

# And what it sends comes in batches, as GSO packets.
works_in_batches() {
	works_as_guest "$@"
	# Only flows at full speed have batches.
	[ "$SLOW" -eq 1 ] || return 0
	expect "bytes of the packets that come from the tap" "$(in_ns "$A" awk '$1 == "hc:" {
		printf "%.0f\n", $2 / $3 }' /proc/net/dev)" -ge 3000
}

# ACKs in frames that the guest's driver padded are no data.
padded() {
	TAP_PAD=60 tap
	ns_set "$C" ipv4/tcp_timestamps 0
	serve "$C"
	# shellcheck disable=SC2086
	fresh forward on $unpaused peers all
	load "$B" --to $C4 --flows 2 --rate-limit 2mbit --duration 1
	shot
	expect "connections of a guest that receives" "$(shown forwarded)" -eq 0
	expect goodput "$(loaded goodput_bit_s)" -ge 1000000
	# Its own data count.
	load_in_until "$C" acks 20 --to $B4 --flows 2 --rate-limit 1mbit
	expect "OR-ACKs about what was sent twice" "$(stat acks_ambiguous)" -eq 0
}

# A guest's batch that says that its packets have a byte each is not cut into these.
tiny() {
	TAP_GSO_SIZE=1 tap
	acker_start
	fresh forward on peers all owd synced nobound threshold 500ms ack_timeout 10s \
		max_pause 10ms line_rate 1gbit
	acker delay 3000000
	load "$C" --to $B4 --flows 2 --duration 1
	shot
	stop "$ACKER" KILL
	echo "measured: $(shown pauses) pauses, $(shown packets) packets"
	expect pauses "$(shown pauses)" -gt 5
	expect "packets dropped" "$(shown drops)" -eq 0
	expect goodput "$(loaded goodput_bit_s)" -gt 0
}

# The path is 3 s long, whatever is done; without or_acker.
held() {
	bridged
	acker_start
	fresh forward on peers all owd synced nobound threshold 500ms ack_timeout 10s \
		max_pause 10ms
	acker delay 3000000
	load "$C" --to $B4 --flows 2 --duration 1
	shot
	stop "$ACKER" KILL
	expect pauses "$(shown pauses)" -gt 5
	expect "packets held" "$(shown held)" -gt 5
	expect "packets dropped" "$(shown flows_plimit)" -eq 0
	expect goodput "$(loaded goodput_bit_s)" -gt 0
}

# One that sends in the name of the host.
as_the_host() {
	bridged
	ip -n "$C" addr flush dev c0
	ip -n "$C" addr add $V4_A/24 dev c0
	ip -n "$B" neigh replace $V4_A lladdr $MAC_C dev b0 nud permanent
	fresh forward on $unpaused peers all
	load "$C" --to $B4 --flows 2 --rate-limit 1mbit --duration 1
	shot
	expect forward_strays "$(shown forward_strays)" -ge 1
	expect connections "$(shown connections)" -eq 0
	expect goodput "$(loaded goodput_bit_s)" -ge 1000000
}

# One that sends in the name of another container, which has proven its address.
as_another() {
	local strays got

	works bridged
	fresh forward on $unpaused peers all
	strays=$(stat forward_strays)
	got=$(port "$C" RxDelivered)
	ip -n "$C" link set c0 address $MAC_X
	resolved $MAC_X
	load "$C" --to $B4 --flows 2 --rate-limit 1mbit --duration 1
	shot
	expect forward_strays "$(shown forward_strays)" -gt "$strays"
	expect connections "$(shown connections)" -eq 0
	expect goodput "$(loaded goodput_bit_s)" -ge 1000000
	# And messages to that MAC address are not taken, but go on to it.
	expect acks "$(shown acks)" -eq 0
	expect "messages that it got" "$(port "$C" RxDelivered)" -gt "$got"
}

own_qdisc_on() {
	"$@"
	own_qdisc
}

off() {
	bridged
	probes
	fresh peers all
	load "$C" --to $B4 --flows 2 --rate-limit 1mbit --duration 1
	expect "calls of the hook" "$(calls onramp_fwd_in)" -eq 0
	expect connections "$(stat connections)" -eq 0
	change forward on
	load_in_until "$C" acks 10 --to $B4 --flows 2 --rate-limit 1mbit
	expect "calls of the hook" "$(calls onramp_fwd_in)" -ge 10
	change forward off
	expect connections "$(stat connections)" -eq 0
}

# Everything goes while data does: settings, the qdisc, the device, the namespace.
goes() {
	local i

	bridged
	# What sockets still have to send does not keep the namespaces for minutes.
	ns_set "$B" ipv4/tcp_orphan_retries 1
	ns_set "$C" ipv4/tcp_orphan_retries 1
	spawn_load "$C" --to $B4 --flows 4 --duration 600
	for i in 1 2 3 4 5; do
		fresh forward on $unpaused peers all
		wait_for 20 stats_reach acks 1
		change forward off
		change forward on
		tc -n "$A" qdisc replace dev br0 root onramp forward on
	done
	ip -n "$A" link set a0 nomaster
	ip -n "$A" link set a0 netns "$C"
	ns_del "$A"
	stop "$SPAWNED" KILL
}

ksft_plan 39
need_module sch_onramp
D=$(ns_name D)
ksft_case "a pause holds a bridged container's data" held
ksft_case "a batch of packets of a byte" tiny
need_module nic_ts
need_module or_acker
ksft_case "container on a bridge" works bridged
ksft_case "container in a VLAN of a bridge" works vlan
ksft_case "macvlan" works macvlan
ksft_case "ipvlan, l2" works ipvlan l2
ksft_case "ipvlan, l3" works ipvlan l3
ksft_case "container whose packets tc takes to the NIC" works redirected
ksft_case "and back, past the hook" redirected_both
ksft_case "virtual machine on a tap and a bridge" works_in_batches tap
ksft_case "virtual machine whose driver pads short frames" padded
ksft_case "virtual machine by vhost-net, on a tap and a bridge" works_in_batches vhost
ksft_case "virtual machine on a macvtap" works_as_guest macvtap
vxlan='vxlan id 7 dstport 4789'
# shellcheck disable=SC2086
ksft_case "containers in a VXLAN, the qdisc on the tunnel" works_on_tunnel $vxlan
# shellcheck disable=SC2086
ksft_case "containers in a VXLAN, the qdisc on the NIC" hidden $vxlan
ksft_case "containers in Geneve, the qdisc on the tunnel" works_on_tunnel geneve id 7
# shellcheck disable=SC2086
ksft_case "hosts in a VXLAN made with dev" works_between $vxlan dev
# shellcheck disable=SC2086
ksft_case "hosts in a VXLAN made without dev" works_between $vxlan
# shellcheck disable=SC2086
ksft_case "hosts in a VXLAN, the qdisc on the NIC" hidden_between $vxlan dev
# shellcheck disable=SC2086
ksft_case "container that has the host's end of a VXLAN" in_container $vxlan dev
ksft_case "hosts in Geneve" works_between geneve id 7
ksft_case "hosts in IPIP" works_between ipip
ksft_case "hosts in WireGuard" works_between wireguard
ksft_case "containers in GRE with Ethernet, the qdisc on the tunnel" works_on_tunnel gretap key 7
ksft_case "host and container in IPIP whose remote host is that of a route" ipip_by_routes
ksft_case "containers in a VXLAN whose packets name the remote host" by_metadata
ksft_case "host and container in GRE" tunnelled gre
ksft_case "host and container in SIT, IPv6 in IPv4" tunnelled sit
ksft_case "host and container in a VPN of userspace, by a TUN device" tunnelled tun
ksft_fast_case "a VPN of userspace that waits for a slow link" waits_for_link
ksft_case "host and container in IPsec, by an interface of xfrm" tunnelled xfrm if_id 7 dev
ksft_case "host and container in IPsec, by VTI" tunnelled vti key 7
ksft_case "hosts with IPsec without a device, in transport mode" without_device transport
ksft_case "hosts with IPsec without a device, in tunnel mode" without_device tunnel
ksft_case "one that sends in the name of the host" as_the_host
ksft_case "one that sends in the name of another" as_another
ksft_case "a bridged container that asks for itself" own_qdisc_on bridged
ksft_case "off, the default, costs nothing" off
ksft_case "all goes while data does" goes
