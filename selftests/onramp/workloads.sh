#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Containers that a host routes for: the qdisc is on the host's NIC, and nothing is set in
# the container.
#
#	C c0 ---- h0 A a0 ---- b0 B h1 ---- d0 D
#	 10.77.3.2                            10.77.4.2
#	 fd77:3::2                            fd77:4::2
. "$(dirname "$0")/workloads_lib.sh"

C4=10.77.3.2 C6=fd77:3::2
D4=10.77.4.2 D6=fd77:4::2
A6=fd77:1::a B6=fd77:1::b

hosts() {
	quiet_pair
	for name in "$A" "$B"; do
		ns_set "$name" ipv4/ip_forward 1 ipv6/conf/all/disable_ipv6 0 \
			ipv6/conf/default/disable_ipv6 0 ipv6/conf/all/forwarding 1
	done
	ns_set "$A" ipv6/conf/a0/disable_ipv6 0
	ns_set "$B" ipv6/conf/b0/disable_ipv6 0
	ip -n "$A" addr add $A6/64 dev a0 nodad
	ip -n "$B" addr add $B6/64 dev b0 nodad
	container "$C" c0 "$A" h0 $C4 $C6
	container "$D" d0 "$B" h1 $D4 $D6
	ip -n "$B" route add 10.77.3.0/24 via $V4_A
	ip -n "$B" route add fd77:3::/64 via $A6
	ip -n "$A" route add 10.77.4.0/24 via $B4
	ip -n "$A" route add fd77:4::/64 via $B6
}

# by_forgery: a connection of C that stays open, and the receiver that the test has.
by_forgery() {
	fresh forward on owd synced nobound line_rate 400gbit threshold 500ms ack_timeout 10s
	spawn_load "$C" --to $B4 --flows 1 --rate-limit 10mbit --duration 600
	wait_for 60 stats_reach acks 20
	asked $B4 $C4
	# SUBSCRIBEs were believed, and CHALLENGEs taken at the host.
	expect challenges "$(stat challenges)" -ge 1
	acker answer 0
	sleep 0.5
}

# What a believed OR-ACK changes.
state() {
	echo "$(shown pauses) $(shown acks) $(shown peers) $(shown connections)"
}

# refuses KIND STATISTIC
refuses() {
	local before counted

	shot
	before=$(state)
	counted=$(shown "$2")
	acker forge "$1" 200
	wait_for 20 stats_reach "$2" $((counted + 200))
	shot
	expect_same "pauses, OR-ACKs, peers, connections" "$(state)" "$before"
}

forged() {
	by_forgery
	refuses tag acks_tag
	refuses short acks_short
	refuses replay acks_replay
	refuses old acks_old
	refuses flow acks_no_flow
	refuses seq acks_not_in_flight
	refuses other acks_unsupported
	acker answer 1
	wait_for 20 stats_reach acks $(($(stat acks) + 20))
	stop "$SPAWNED" KILL
}

# four OPTION...: four connections of C to B that On-Ramp follows; sets SPAWNED.
four() {
	spawn_load "$C" --to $B4 --flows 4 --duration 600 "$@"
	wait_for 60 forwarded_are 4
	wait_for 20 connections_are 4
}

# Connections that were closed are forgotten, and nobody is asked for them any more.
closed() {
	fresh forward on $unpaused peers all
	wait_for 40 forwarded_are 0
	# They send for longer than the table keeps silent ones.
	four --rate-limit 100kbit --idle 0.02:0.5
	sleep 33
	expect "connections that send, in the table" "$(stat forwarded)" -eq 4
	# They are kept for 2 s after FIN, of which nothing came in the 3 s before that.
	kill -STOP -- "-$SPAWNED"
	sleep 3
	stop "$SPAWNED" KILL
	sleep 1.2
	# Kernels that check all they do may need longer than that.
	[ "$SLOW" -gt 1 ] || expect "closed connections, in the table" "$(stat forwarded)" -eq 4
	wait_for 20 forwarded_are 0
	wait_for 20 connections_are 0
	# FIN comes right behind data.
	four --rate-limit 10mbit
	stop "$SPAWNED" KILL
	wait_for 20 forwarded_are 0
	wait_for 20 connections_are 0
}

# More connections than there is room for: those beyond are sent as by fq.
full() {
	local of=/sys/module/sch_onramp/parameters/max_forwarded

	undo "[ ! -e $of ] || echo 65536 >$of"
	fresh forward on $unpaused peers all
	wait_for 40 forwarded_are 0
	echo 3 >$of
	# An entry goes when its connection ends.
	spawn_load "$C" --to $B4 --flows 8 --rate-limit 250kbit --duration 600
	wait_for 20 stats_reach forward_full 5
	# It is one more while a packet finds that there is no room.
	wait_for 5 forwarded_are 3
	stop "$SPAWNED" KILL
	load "$C" --to $B4 --flows 8 --rate-limit 250kbit --duration 1
	echo 65536 >$of
	expect goodput "$(loaded goodput_bit_s)" -ge 1000000
	wait_for 20 forwarded_are 0
}

# There are many connections: further ones get an entry if they are large.
many() {
	local of=/sys/module/sch_onramp/parameters/few_forwarded small full

	undo "[ ! -e $of ] || echo 4096 >$of"
	echo 2 >$of
	fresh forward on $unpaused peers all
	wait_for 40 forwarded_are 0
	full=$(stat forward_full)
	# 7 KB of each in the time that counts are of; 64 KB are large.
	spawn_load "$C" --to $B4 --flows 8 --rate-limit 200kbit --duration 600
	small=$SPAWNED
	wait_for 60 stats_reach forward_small 100
	shot
	expect "connections in the table" "$(shown forwarded)" -eq 2
	expect forward_full "$(shown forward_full)" -eq "$full"
	load_in_until "$C" forwarded 3 --to $B4 --flows 1
	stop "$small" KILL
	echo 4096 >$of
	echo "measured: $(shown forward_small) packets of small ones"
	wait_for 20 forwarded_are 0
}

# Off, the default, nothing of it is called, neither at the qdisc nor for what comes in.
off() {
	local name before asked

	probes
	fresh peers all
	wait_for 40 connections_are 0
	asked=$(stat subscribes)
	load "$C" --to $B4 --flows 2 --rate-limit 1mbit --duration 1
	for name in onramp_fwd_flow onramp_fwd_in; do
		expect "calls of $name" "$(calls $name)" -eq 0
	done
	expect connections "$(stat connections)" -eq 0
	expect subscribes "$(stat subscribes)" -eq "$asked"
	change forward on
	load "$C" --to $B4 --flows 2 --rate-limit 1mbit --duration 1
	for name in onramp_fwd_flow onramp_fwd_in; do
		expect "calls of $name" "$(calls $name)" -ge 10
	done
	expect connections "$(stat connections)" -ge 2
	# And off again, with connections.
	change forward off
	expect connections "$(stat connections)" -eq 0
	before=$(calls onramp_fwd_in)
	load "$C" --to $B4 --flows 2 --rate-limit 1mbit --duration 1
	expect "calls after that" "$(calls onramp_fwd_in)" -eq "$before"
	expect connections "$(stat connections)" -eq 0
	# With On-Ramp off as a whole there is no table.
	change forward on mode off
	before=$(calls onramp_fwd_flow)
	load "$C" --to $B4 --flows 2 --rate-limit 1mbit --duration 1
	expect "calls with mode off" "$(calls onramp_fwd_flow)" -eq "$before"
}

# looked_for SEEN SEARCHED COMMAND...: while COMMAND runs, the kernel calls function SEEN, and SEARCHED
# for few of the packets.
looked_for() {
	local seen=$1 searched=$2 of_seen of_searched
	shift 2

	of_seen=$(calls "$seen") of_searched=$(calls "$searched")
	"$@"
	of_seen=$(($(calls "$seen") - of_seen)) of_searched=$(($(calls "$searched") - of_searched))
	expect "calls of $seen" "$of_seen" -ge 100
	expect "calls of $searched" "$of_searched" -le $((of_seen / 4))
}

# A packet that comes in is looked for if it may end the measurement of an RTT.
timed() {
	local far

	probes onramp_fwd_in onramp_fwd_in_tcp onramp_fwd_in_acked
	# shellcheck disable=SC2086
	fresh forward on $unpaused peers 20ms
	wait_for 40 forwarded_are 0
	# Most of the time one RTT is being measured: that of a host that is far, with little data.
	tc -n "$B" qdisc replace dev h1 root netem delay 600ms limit 10000
	spawn_load "$C" --to $D4 --flows 1 --rate-limit 20kbit --duration 600
	far=$SPAWNED
	wait_for 20 forwarded_are 1
	sleep 3
	looked_for onramp_fwd_in_tcp onramp_fwd_in_acked \
		load "$C" --to $B4 --flows 2 --rate-limit 2mbit --duration 3
	stop "$far" KILL
	tc -n "$B" qdisc del dev h1 root
	wait_for 40 forwarded_are 0
	# And now none is.
	looked_for onramp_fwd_in onramp_fwd_in_tcp \
		load "$C" --to $B4 --flows 2 --rate-limit 2mbit --duration 3
}

# ACKs of a container that receives: their connections have no entry.
receives() {
	probes onramp_fwd_flow onramp_fwd_enter
	# shellcheck disable=SC2086
	fresh forward on $unpaused peers all
	serve "$C"
	looked_for onramp_fwd_flow onramp_fwd_enter \
		load "$B" --to $C4 --flows 2 --rate-limit 2mbit --duration 3
}

# The RTT is measured here: a host that is far is not asked.
far() {
	local asked

	fresh forward on peers 5ms
	expect peers "$(stat peers)" -eq 0
	asked=$(stat subscribes)
	tc -n "$B" qdisc replace dev b0 root netem delay 30ms limit 10000
	load "$C" --to $B4 --flows 2 --rate-limit 1mbit --duration 2
	expect forwarded "$(stat forwarded)" -ge 2
	expect connections "$(stat connections)" -eq 0
	expect subscribes "$(stat subscribes)" -eq "$asked"
	expect far "$(stat far)" -ge 1
	tc -n "$B" qdisc del dev b0 root
	# Near, once it is: within 20 ms, whatever this machine does.
	change peers 20ms
	load_in_until "$C" connections 1 --to $B4 --flows 2 --rate-limit 1mbit
	expect "RTT, us" "$(in_ns "$A" awk -v remote=$B4 -v name=$C4 \
		'$2 == remote && $1 == name { print $5 }' /proc/net/onramp_peers)" -lt 20000
}

# The path is 3 s long, whatever is done.
long_path="forward on peers all owd synced nobound threshold 500ms ack_timeout 10s max_pause 10ms"

# A pause holds a container's data, and loses none of it.
pauses() {
	# shellcheck disable=SC2086
	fresh $long_path
	acker delay 3000000
	load "$C" --to $B4 --flows 2 --duration 1
	acker delay 0
	shot
	expect pauses "$(shown pauses)" -gt 5
	expect "packets held" "$(shown held)" -gt 5
	expect pause_max_ns "$(shown pause_max_ns)" -ge 10000000
	expect "packets dropped" "$(shown flows_plimit)" -eq 0
	expect goodput "$(loaded goodput_bit_s)" -gt 0
	expect reordered "$(acked reordered)" -le "$(retransmitted "$C")"
	echo "measured: $(shown pauses) pauses, $(shown held) packets held, late by $(
		shown held_late_ns) ns on average"
}

# OR-ACKs come late: what was sent until then is not in flight, and costs no records.
late() {
	fresh forward on owd synced nobound line_rate 400gbit threshold 500ms ack_timeout 10s
	acker answer 0
	spawn_load "$C" --to $B4 --flows 1 --duration 600
	sleep 2
	acker answer 1
	wait_for 20 stats_reach acks 100
	stop "$SPAWNED" KILL
	shot
	expect "OR-ACKs without a record" "$(shown acks_not_in_flight)" -lt "$(shown acks)"
	echo "measured: $(shown acks) OR-ACKs, $(shown acks_not_in_flight) not in flight"
}

# A container's data that finds no other packet takes the fast path, and is recorded as any other.
lone() {
	local packets

	# shellcheck disable=SC2086
	fresh forward on $unpaused peers all
	load_in_until "$C" acks 40 --to $B4 --flows 1 --rate-limit 1mbit
	shot
	packets=$(shown packets)
	expect fastpath "$(shown fastpath)" -ge $((packets * 3 / 4))
	expect "OR-ACKs without a record" "$(shown acks_not_in_flight)" -lt "$(shown acks)"
	echo "measured: $(shown fastpath) of $packets packets"
}

# Many small packets: a pause ends before it loses one.
spills() {
	in_ns "$C" ethtool -K c0 tso off gso off
	# shellcheck disable=SC2086
	fresh $long_path flow_limit 20
	acker delay 3000000
	load "$C" --to $B4 --flows 2 --duration 1
	acker delay 0
	in_ns "$C" ethtool -K c0 tso on gso on
	expect forward_spills "$(stat forward_spills)" -ge 1
	expect "packets held" "$(stat held)" -ge 1
	expect goodput "$(loaded goodput_bit_s)" -gt 0
}

# The same of a socket in another namespace, whose owner lets TCP put any number into a qdisc.
spills_of_sockets() {
	ip -n "$A" link add link a0 name v0 netns "$C" address 02:00:00:00:00:0d type macvlan
	ip -n "$C" -batch - <<-END
		addr add 10.77.1.3/24 dev v0
		link set v0 up
		neigh replace $B4 lladdr $MAC_B dev v0 nud permanent
	END
	ip -n "$B" neigh replace 10.77.1.3 lladdr 02:00:00:00:00:0d dev b0 nud permanent
	ip -n "$C" link set v0 gso_max_segs 1
	ns_set "$C" ipv4/tcp_limit_output_bytes 1000000000
	# shellcheck disable=SC2086
	fresh $long_path flow_limit 20
	acker delay 3000000
	# So many packets that OR-ACKs would find no record of theirs.
	acker first 1
	load "$C" --to $B4 --flows 2 --duration 1
	acker first 0
	acker delay 0
	ip -n "$C" link del v0
	shot
	echo "measured: $(shown forward_spills) spills, $(shown held) packets held"
	expect forward_spills "$(shown forward_spills)" -ge 1
	expect "packets held" "$(shown held)" -ge 1
	expect goodput "$(loaded goodput_bit_s)" -gt 0
}

# bursts_of OPTION...: eight connections that begin at once, again and again. Nothing else holds them
# in the qdisc: they are not paced, no pause is decided, and none follows from the path's delay in
# the case before.
bursts_of() {
	# shellcheck disable=SC2086
	fresh $long_path noinherit "$@"
	load "$C" --to $B4 --flows 8 --size 500000 --duration 1
	shot
	echo "measured: $(shown throttled) throttled, $(shown forward_spills) spills"
	expect pauses "$(shown pauses)" -eq 0
	expect "packets dropped" "$(shown flows_plimit)" -eq 0
}

# Bursts wait for one another, and end their wait before it loses a packet.
bursts() {
	tc -n "$B" qdisc replace dev b0 root netem delay 9ms limit 10000
	bursts_of
	expect throttled "$(shown throttled)" -ge 1000
	expect forward_spills "$(shown forward_spills)" -eq 0
	bursts_of flow_limit 8
	expect throttled "$(shown throttled)" -ge 500
	expect forward_spills "$(shown forward_spills)" -ge 20
	bursts_of mode off
	expect "throttled, mode off" "$(shown throttled)" -eq 0
	tc -n "$B" qdisc del dev b0 root
}

# shares FLOWS: one flow of C beside so many of E. Sets ONE, the first one's part of all, and ALIKE, Jain's
# index of E's; in 1/1000.
shares() {
	local c

	spawn client "$C" --to $B4 --flows 1 --duration 3 --json "$KSFT_TMP/c.json"
	load "$E" --to $B4 --flows "$1" --duration 3
	wait_for 20 gone "$SPAWNED"
	c=$(dcload get "$KSFT_TMP/c.json" goodput_bit_s)
	ONE=$(calc "1000 * $c / ($c + $(loaded goodput_bit_s))")
	ALIKE=$(calc "1000 * $(loaded jain)")
	echo "measured: beside $1 flows $ONE/1000, Jain's index of these $ALIKE/1000"
}

# Flows of one container, and of two, share a link, also after drains: a container gets no more by more
# flows than these have, and each of them has a turn. The link is so slow that the CPU of this machine,
# which may be slow itself, does not limit them. With fq it is 194 to 197 beside four flows.
fair() {
	E=$(ns_name E)
	container "$E" e0 "$A" e1 10.77.5.2 fd77:5::2
	ip -n "$B" route add 10.77.5.0/24 via $V4_A
	tc -n "$A" qdisc del dev a0 root 2>/dev/null || :
	tc -n "$A" qdisc add dev a0 root handle 2: tbf rate 5mbit burst 5000 limit 1000000
	# shellcheck disable=SC2086
	tc -n "$A" qdisc add dev a0 parent 2:1 handle 1: onramp forward on $unpaused peers all
	shares 4
	expect "one of five" "$ONE" -ge 185
	expect "one of five" "$ONE" -le 215
	expect "Jain's index of four" "$ALIKE" -ge 995
	shares 1
	expect "one of two" "$ONE" -ge 485
	expect "one of two" "$ONE" -le 515
	expect forwarded "$(stat forwarded)" -ge 2
	expect "OR-ACKs" "$(stat acks)" -ge 10
	expect drains "$(stat drains)" -ge 1
	ns_del "$E"
}

# Masquerading, as by container runtimes: on the wire the host sends.
snat() {
	in_ns "$A" nft -f - <<-END
		table ip nat {
			chain out {
				type nat hook postrouting priority srcnat;
				ip saddr 10.77.3.0/24 oifname "a0" masquerade
			}
		}
	END
	answered "$C" $B4 $V4_A
	# Its RTT is measured, though ACKs come in to the host's address.
	fresh forward on peers 1s line_rate 400gbit threshold 10s
	load_in_until "$C" connections 1 --to $B4 --flows 2 --rate-limit 1mbit
	in_ns "$A" nft delete table ip nat
}

# There is a qdisc, and neither or_acker nor a host that it would ask: C cannot take the port of A's name.
guarded() {
	local mode

	expect "modules of the receiver" "$(grep -c '^or_acker ' /proc/modules)" -eq 0
	in_ns "$A" nft -f - <<-END
		table ip nat {
			chain out {
				type nat hook postrouting priority srcnat;
				ip saddr $C4 udp dport 299 snat to $V4_A:299
			}
		}
	END
	for mode in 'mode off' 'forward off' 'forward on'; do
		# shellcheck disable=SC2086
		fresh $mode
		expect guard "$(port "$A" ForwardGuard)" -eq 1
		refused_before=$(port "$A" ForwardRefused)
		in_ns "$C" bash -c "echo >/dev/udp/$B4/299"
		expect "refused, $mode" $(($(port "$A" ForwardRefused) - refused_before)) -eq 1
	done
	in_ns "$A" nft delete table ip nat
	in_ns "$C" bash -c "echo >/dev/udp/$B4/299"
	expect "refused" $(($(port "$A" ForwardRefused) - refused_before)) -eq 1
	tc -n "$A" qdisc del dev a0 root
	expect guard "$(port "$A" ForwardGuard)" -eq 0
}

# A program sees each packet before it is forwarded.
queued() {
	in_ns "$A" nft -f - <<-END
		table ip seen {
			chain by {
				type filter hook forward priority filter;
				iifname "h0" queue num 7
			}
		}
	END
	spawn "$KSFT_DIR/nfqueue_helper" "$A" 7
	answered "$C" $B4 $C4
	expect forwarded "$FORWARDED" -ge 2
	in_ns "$A" nft delete table ip seen
}

# A published port, as kube-proxy and container runtimes make it: B translates it to D's.
dnat() {
	local family to

	in_ns "$B" nft -f - <<-END
		table inet nat {
			chain in {
				type nat hook prerouting priority dstnat;
				ip daddr $B4 tcp dport 7000 dnat ip to $D4:5001
				ip6 daddr $B6 tcp dport 7000 dnat ip6 to [$D6]:5001
			}
		}
	END
	answered_if_on $V4_A
	answered "$A" $B6 $A6 --port 7000
	# From one container to the other, between two translations.
	answered "$C" $B4 $C4 --port 7000
	ns_set "$B" or_acker/forward off
	in_ns "$B" nft delete table inet nat
}

# kube_iptables NAMESPACE KIND: the rules of kube-proxy's mode iptables for one service, of the
# cluster address 10.96.0.10, port 80, and node port 30080, whose endpoint is D's server. Names end
# in what is a hash there. KIND is nft or legacy.
kube_iptables() {
	in_ns "$1" "xtables-$2-multi" iptables-restore --noflush <<-END
		*filter
		:KUBE-FORWARD - [0:0]
		-A FORWARD -m comment --comment "kubernetes forwarding rules" -j KUBE-FORWARD
		-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP
		-A KUBE-FORWARD -m comment --comment "kubernetes forwarding rules" -m mark --mark 0x4000/0x4000 -j ACCEPT
		-A KUBE-FORWARD -m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
		COMMIT
		*nat
		:KUBE-SERVICES - [0:0]
		:KUBE-NODEPORTS - [0:0]
		:KUBE-POSTROUTING - [0:0]
		:KUBE-MARK-MASQ - [0:0]
		:KUBE-EXT-WEB - [0:0]
		:KUBE-SVC-WEB - [0:0]
		:KUBE-SEP-1 - [0:0]
		:KUBE-SEP-2 - [0:0]
		-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
		-A OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
		-A POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING
		-A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN
		-A KUBE-POSTROUTING -j MARK --set-xmark 0x4000/0x0
		-A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully
		-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000
		-A KUBE-SERVICES -d 10.96.0.10/32 -p tcp -m comment --comment "default/web cluster IP" -m tcp --dport 80 -j KUBE-SVC-WEB
		-A KUBE-SERVICES -m comment --comment "kubernetes service nodeports" -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS
		-A KUBE-NODEPORTS -p tcp -m comment --comment "default/web" -m tcp --dport 30080 -j KUBE-EXT-WEB
		-A KUBE-EXT-WEB -m comment --comment "masquerade traffic for default/web external destinations" -j KUBE-MARK-MASQ
		-A KUBE-EXT-WEB -j KUBE-SVC-WEB
		-A KUBE-SVC-WEB -m comment --comment "default/web -> $D4:5001" -m statistic --mode random --probability 0.5 -j KUBE-SEP-1
		-A KUBE-SVC-WEB -m comment --comment "default/web -> $D4:5001" -j KUBE-SEP-2
		-A KUBE-SEP-1 -s $D4/32 -m comment --comment "default/web" -j KUBE-MARK-MASQ
		-A KUBE-SEP-1 -p tcp -m comment --comment "default/web" -m tcp -j DNAT --to-destination $D4:5001
		-A KUBE-SEP-2 -s $D4/32 -m comment --comment "default/web" -j KUBE-MARK-MASQ
		-A KUBE-SEP-2 -p tcp -m comment --comment "default/web" -m tcp -j DNAT --to-destination $D4:5001
		COMMIT
	END
}

# kube_nftables NAMESPACE: the same by its mode nftables.
kube_nftables() {
	in_ns "$1" nft -f - <<-END
		table ip kube-proxy {
			set nodeport-ips {
				type ipv4_addr
				elements = { $B4 }
			}
			map service-ips {
				type ipv4_addr . inet_proto . inet_service : verdict
				elements = { 10.96.0.10 . tcp . 80 : goto service-web }
			}
			map service-nodeports {
				type inet_proto . inet_service : verdict
				elements = { tcp . 30080 : goto external-web }
			}
			chain mark-for-masquerade {
				meta mark set meta mark | 0x4000
			}
			chain masquerading {
				meta mark & 0x4000 == 0 return
				meta mark set meta mark ^ 0x4000
				masquerade fully-random
			}
			chain endpoint-1 {
				ip saddr $D4 jump mark-for-masquerade
				meta l4proto tcp dnat to $D4:5001
			}
			chain endpoint-2 {
				ip saddr $D4 jump mark-for-masquerade
				meta l4proto tcp dnat to $D4:5001
			}
			chain service-web {
				numgen random mod 2 vmap { 0 : goto endpoint-1, 1 : goto endpoint-2 }
			}
			chain external-web {
				jump mark-for-masquerade
				goto service-web
			}
			chain services {
				ip daddr . meta l4proto . th dport vmap @service-ips
				ip daddr @nodeport-ips meta l4proto . th dport vmap @service-nodeports
			}
			chain nat-prerouting {
				type nat hook prerouting priority dstnat
				jump services
			}
			chain nat-output {
				type nat hook output priority -100
				jump services
			}
			chain nat-postrouting {
				type nat hook postrouting priority srcnat
				jump masquerading
			}
		}
	END
}

# kube_ipvs NAMESPACE: the same by its mode ipvs: the cluster address is the host's own.
kube_ipvs() {
	local to

	ip -n "$1" link add kube-ipvs0 type dummy
	ip -n "$1" addr add 10.96.0.10/32 dev kube-ipvs0
	in_ns "$1" ipvsadm -C
	ns_set "$1" ipv4/vs/conntrack 1
	for to in 10.96.0.10:80 $B4:30080; do
		in_ns "$1" ipvsadm -A -t "$to" -s rr
		in_ns "$1" ipvsadm -a -t "$to" -r "$D4:5001" -m
	done
	in_ns "$1" nft -f - <<-END
		table ip kube-proxy {
			chain marked {
				type filter hook prerouting priority mangle
				ip daddr $B4 tcp dport 30080 meta mark set meta mark | 0x4000
			}
			chain nat-postrouting {
				type nat hook postrouting priority srcnat
				meta mark & 0x4000 != 0 masquerade fully-random
			}
		}
	END
}

# kube_proxy NAMESPACE KIND: iptables' nft or legacy, nftables, or ipvs.
kube_proxy() {
	case $2 in
	nftables|ipvs)	"kube_$2" "$1" ;;
	*)		kube_iptables "$1" "$2" ;;
	esac
}

# kube_proxy_gone NAMESPACE KIND
kube_proxy_gone() {
	local table

	case $2 in
	ipvs)	in_ns "$1" ipvsadm -C
		ip -n "$1" link del kube-ipvs0
		in_ns "$1" nft delete table ip kube-proxy
		return ;;
	nftables)
		in_ns "$1" nft delete table ip kube-proxy
		return ;;
	esac
	for table in filter nat; do
		in_ns "$1" "xtables-$2-multi" iptables -t $table -F
		in_ns "$1" "xtables-$2-multi" iptables -t $table -X
	done
}

# kube KIND: the node port of B, with both translations; and the cluster address, in A.
kube() {
	local before

	kube_proxy "$B" "$1"
	ns_set "$B" or_acker/forward on
	before=$(acker_of "$B" FlowsForwarded)
	answered "$A" $B4 $V4_A --port 30080
	expect FlowsForwarded "$(acker_of "$B" FlowsForwarded)" -ge $((before + 2))
	ns_set "$B" or_acker/forward off
	kube_proxy_gone "$B" "$1"

	kube_proxy "$A" "$1"
	ip -n "$C" route replace 10.96.0.10 via "${C4%.*}.1"
	# shellcheck disable=SC2086
	fresh forward on $unpaused peers all
	load_in_until "$C" acks 40 --to 10.96.0.10 --port 80 --flows 2 --rate-limit 1mbit ||
		all_stats
	expect forwarded "$(stat forwarded)" -ge 2
	asked $D4 $C4
	expect pauses "$(stat pauses)" -eq 0
	ip -n "$C" route del 10.96.0.10
	kube_proxy_gone "$A" "$1"
}

# A container whose connections are masqueraded, and which receives: B's conntrack has the reply's
# direction, and A sends to B's address.
snat_receiver() {
	local before giver

	in_ns "$B" nft -f - <<-END
		table ip nat {
			chain out {
				type nat hook postrouting priority srcnat;
				ip saddr 10.77.4.0/24 oifname "b0" masquerade
			}
		}
	END
	ns_set "$B" or_acker/forward on
	before=$(acker_of "$B" FlowsForwarded)
	# shellcheck disable=SC2086
	fresh $unpaused peers all
	spawn gives
	giver=$SPAWNED
	wait_for 20 has_listener
	spawn takes
	wait_for 100 stats_reach acks 40 || all_stats
	stop "$SPAWNED" KILL
	stop "$giver" KILL
	shot
	asked $B4 $V4_A
	expect pauses "$(shown pauses)" -eq 0
	expect FlowsForwarded "$(acker_of "$B" FlowsForwarded)" -gt "$before"
	echo "measured: $(shown acks) OR-ACKs, $(shown acks_not_in_flight) not in flight"
	ns_set "$B" or_acker/forward off
	in_ns "$B" nft delete table ip nat
}

# gives, takes: A sends all that it can to who connects, and D connects.
gives() {
	exec ip netns exec "$A" busybox nc -l -p 6001 </dev/zero >/dev/null
}

takes() {
	exec ip netns exec "$D" busybox nc "$V4_A" 6001 < <(exec sleep 600) >/dev/null
}

has_listener() {
	in_ns "$A" ss -Hltn 'sport = :6001' | grep -q LISTEN
}

# A program of XDP on the qdisc's device, which passes all.
xdp() {
	local program

	spawn "$KSFT_DIR/xdp_helper" "$A" a0
	program=$SPAWNED
	wait_for 10 xdp_is_there
	answered "$C" $B4 $C4
	expect forwarded "$FORWARDED" -ge 2
	xdp_is_there
	stop "$program" KILL
}

xdp_is_there() {
	ip -n "$A" link show a0 | grep -q xdpgeneric
}

# The qdisc is on the tunnel, where the container's packets are not yet in another one.
ipip() {
	ip -n "$A" link add ip0 type ipip local $V4_A remote $B4
	ip -n "$B" link add ip0 type ipip local $B4 remote $V4_A
	ip -n "$A" link set ip0 up
	ip -n "$B" link set ip0 up
	ip -n "$A" route replace 10.77.4.0/24 dev ip0
	ip -n "$B" route replace 10.77.3.0/24 dev ip0
	DEV=ip0
	answered "$C" $D4 $C4
	ip -n "$A" link del ip0
	ip -n "$B" link del ip0
	ip -n "$B" route replace 10.77.3.0/24 via $V4_A
	ip -n "$A" route replace 10.77.4.0/24 via $B4
}

# On the NIC there are only UDP packets between the hosts: nothing is followed, and nothing lost. On
# the tunnel's device packets are not encrypted yet.
wireguard() {
	ip -n "$A" link add wg0 type wireguard
	ip -n "$B" link add wg0 type wireguard
	"$KSFT_DIR/wg_helper" "$A" wg0 0 $B4
	"$KSFT_DIR/wg_helper" "$B" wg0 1 $V4_A
	ip -n "$A" link set wg0 up
	ip -n "$B" link set wg0 up
	ip -n "$C" link set c0 mtu 1400
	ip -n "$D" link set d0 mtu 1400
	ip -n "$A" route replace 10.77.4.0/24 dev wg0
	ip -n "$B" route replace 10.77.3.0/24 dev wg0
	fresh forward on $unpaused peers all
	wait_for 60 forwarded_are 0
	wait_for 60 connections_are 0
	load "$C" --to $D4 --flows 2 --rate-limit 1mbit --duration 1
	shot
	expect connections "$(shown connections)" -eq 0
	expect forwarded "$(shown forwarded)" -eq 0
	expect "packets dropped" "$(shown flows_plimit)" -eq 0
	expect goodput "$(loaded goodput_bit_s)" -ge 1000000
	DEV=wg0
	answered "$C" $D4 $C4
	ip -n "$A" link del wg0
	ip -n "$B" link del wg0
	ip -n "$C" link set c0 mtu 1500
	ip -n "$D" link set d0 mtu 1500
	ip -n "$B" route replace 10.77.3.0/24 via $V4_A
	ip -n "$A" route replace 10.77.4.0/24 via $B4
}

# Nobody is charged for what it keeps of connections, so root of a container may not have it.
not_for_all() {
	unshare -U -r -n bash -ec '
		tc qdisc add dev lo root onramp
		tc qdisc change dev lo root onramp limit 77
		! tc qdisc change dev lo root onramp forward on
		! tc qdisc replace dev lo root handle 2: onramp forward on
		tc qdisc show dev lo' >"$KSFT_TMP/shown" 2>"$KSFT_TMP/error"
	grep -q '^qdisc onramp .* limit 77p ' "$KSFT_TMP/shown"
	refused grep -q 'forward on' "$KSFT_TMP/shown"
	expect "times refused" "$(grep -c 'forward on needs CAP_NET_ADMIN in the initial user namespace' \
		"$KSFT_TMP/error")" -eq 2
}

ksft_plan 34
need_module sch_onramp
D=$(ns_name D)
hosts
serve "$B"
serve "$D"
acker_start
ksft_case "forged OR-ACKs change nothing" forged
ksft_case "a pause holds a container's data" pauses
ksft_case "a pause ends rather than lose packets" spills
ksft_case "and those of a socket in another namespace" spills_of_sockets
ksft_fast_case "bursts wait for one another" bursts
ksft_fast_case "OR-ACKs that begin late" late
# Forget what has been.
stop "$ACKER" KILL
for name in "$A" "$B" "$C" "$D"; do
	ns_del "$name"
done
hosts
serve "$B"
serve "$D"
ksft_case "a container in its host's name, before there is a peer" guarded
need_module nic_ts
need_module or_acker
for name in "$A" "$B" "$C" "$D"; do
	ns_set "$name" or_acker/busy_share 0
done
# No SUBSCRIBE is expected of these: a minute after a host's last connection it is told that it is
# forgotten, so they come before the others.
ksft_case "hosts that are far" far
ksft_case "off, the default, costs nothing" off
ksft_case "routed container to host, IPv4" answered "$C" $B4 $C4
ksft_case "routed container to host, IPv6" answered "$C" $B6 $C6
ksft_case "host to routed container, IPv4" answered "$A" $D4 $V4_A
ksft_case "host to routed container, IPv6" answered "$A" $D6 $A6
ksft_case "routed container to routed container" answered "$C" $D4 $C4
ksft_case "a container's data that is alone" lone
ksft_case "ACKs, while an RTT is being measured" timed
ksft_case "ACKs of a container that receives" receives
ksft_case "container behind SNAT" snat
ksft_case "container whose packets a program sees (NFQUEUE)" queued
ksft_fast_case "flows of containers share as with fq" fair
ksft_case "host to a published port" dnat
ksft_case "kube-proxy's rules, by iptables-nft" kube nft
ksft_case "kube-proxy's rules, by iptables-legacy" kube legacy
ksft_case "kube-proxy's rules, by nftables" kube nftables
ksft_case "kube-proxy's rules, by IPVS" kube ipvs
ksft_case "host to a container behind SNAT" snat_receiver
ksft_case "container, with a program of XDP on the NIC" xdp
ksft_case "container behind IPIP, the qdisc on the tunnel" ipip
ksft_case "container behind WireGuard, the qdisc on the NIC, and on the tunnel" wireguard
ksft_case "a container that asks for itself" own_qdisc
ksft_case "the table is full" full
ksft_case "many connections" many
ksft_case "connections that are closed" closed
ksft_case "not for root of a container" not_for_all
