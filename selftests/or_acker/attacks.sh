#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Datagrams and data that are not what they should be: they change nothing, are never
# answered, and are counted.
#
#	A a0 ---------- b0 B
#
# And A with a container, C, whose addresses it translates to its own:
#
#	C c0 ---- h0 A
#	 10.77.3.2
#	 fd77:3::2
. "$(dirname "$0")/or_acker_lib.sh"

C=$(ns_name C)
C4=10.77.3.2 C6=fd77:3::2

TIMES=$(often 400 3000)

# forge FROM TO KIND COUNTER [OPTION...]: a flood while there is a subscriber.
forge() {
	local from=$1 to=$2 kind=$3 counter=$4 icmp
	shift 4

	[ "${RENEW:-1}" = 0 ] || renew "$from" "$to"
	wait_for 10 calm "$B"
	mark "$B"
	icmp=$(unreachables "$B")
	in_ns "$A" "$HELPER" forge "$from" "$to" "$kind" "$TIMES" "$@"
	wait_for 10 since_is "$B" "$counter" -eq "$TIMES"
	expect "subscribers" "$(acker "$B" Subscribers)" -eq "$(was "$B" Subscribers)"
	expect "accepted" "$(since "$B" SubscribeAccepted)" -eq 0
	expect "flows" "$(acker "$B" Flows)" -eq "$(was "$B" Flows)"
	expect "answers" "$(since "$B" TxSent)" -eq 0
	expect "ICMP messages" "$(unreachables "$B")" -eq "$icmp"
}

# renew FROM TO: the subscription outlives the next flood, however slow the machine is.
renew() {
	mark "$B"
	subscribe "$A" "$1" "$2" lifetime=120
	wait_for 10 accepted "$B"
}

was() {
	awk -v name="$2" '$1 == name { print $2 }' "$KSFT_TMP/mark-$1"
}

# unproven FROM TO KIND COUNTER [OPTION...]: right but for a proof of the address. Nothing is
# kept, and less goes out than came in: what a receiver of CHALLENGEs was not asked for is
# no more than what was sent in its name.
unproven() {
	local from=$1 to=$2 kind=$3 counter=$4
	shift 4

	renew "$from" "$to"
	wait_for 10 calm "$B"
	mark "$B"
	in_ns "$A" "$HELPER" forge "$from" "$to" "$kind" "$TIMES" "$@"
	wait_for 10 since_is "$B" "$counter" -eq "$TIMES"
	wait_for 10 challenged_all
	expect "subscribers" "$(acker "$B" Subscribers)" -eq "$(was "$B" Subscribers)"
	expect "accepted" "$(since "$B" SubscribeAccepted)" -eq 0
	expect "CHALLENGEs" "$(since "$B" ChallengeSent)" -le "$TIMES"
	expect "all that was sent" "$(since "$B" TxSent)" -eq "$(since "$B" ChallengeSent)"
	expect "bytes sent" "$(since "$B" TxBytes)" -lt "$(since "$B" RxBytes)"
}

challenged_all() {
	[ $(($(since "$B" ChallengeSent) + $(since "$B" ChallengeLimit))) -eq \
		"$(since "$B" SubscribeNoCookie)" ]
}

# The rate of CHALLENGEs is the namespace's.
challenge_rate() {
	acker_set "$B" challenge_rate 10
	unproven "$V4_A" "$V4_B" cookie SubscribeNoCookie
	expect "CHALLENGEs" "$(since "$B" ChallengeSent)" -le 100
	expect "held back" "$(since "$B" ChallengeLimit)" -ge $((TIMES - 100))
	# Who has a subscription renews it without one.
	mark "$B"
	subscribe "$A" "$V4_A" "$V4_B" lifetime=120 answer=0
	wait_for 10 accepted "$B"
	expect "CHALLENGEs" "$(since "$B" ChallengeSent)" -eq 0
	acker_set "$B" challenge_rate 10000
}

# Someone off the path, who can't read what goes to $V4_A's host, subscribes in its name: the
# host has one CHALLENGE, and no OR-ACKs. Its own SUBSCRIBE is not locked out; nor does what
# was sent in its name meanwhile end its subscription.
in_its_name() {
	local i

	subscribe "$A" "$V6_A" "$V6_B" lifetime=0 answer=0
	unsubscribe "$A" "$V4_A" "$V4_B" "$B"
	mark "$B"
	subscribe "$A" "$V4_A" "$V4_B" nonce=666 answer=0
	wait_for 10 since_is "$B" ChallengeSent -eq 1
	send "$A" "$V4_A" "$V4_B" 100000
	expect "messages sent" "$(since "$B" TxSent)" -eq 1
	expect "subscribers" "$(acker "$B" Subscribers)" -eq 0
	subscribed "$A" "$V4_A" "$V4_B" "$B"
	for i in 1 2 3; do
		subscribe "$A" "$V4_A" "$V4_B" nonce=$((666 + i)) answer=0
		subscribe "$A" "$V4_A" "$V4_B" nonce=$((666 + i)) answer=0 cookie=$RANDOM
		subscribe "$A" "$V4_A" "$V4_B" nonce=$((666 + i)) answer=0 lifetime=0
	done
	still_works "$V4_A" "$V4_B"
}

# answered OPTION: data of A gets OR-ACKs, which are right for a subscription with this option.
answered() {
	listen "$A" "$V4_A" "$V4_B" "$1"
	send "$A" "$V4_A" "$V4_B" 100000
	wait_for 10 calm "$B"
	heard
	all_good
	expect "OR-ACKs" "$(said acks)" -gt 0
}

# A host that was started again has lost its nonce, while its subscription lives on.
lost_nonce() {
	mark "$B"
	subscribe "$A" "$V4_A" "$V4_B" nonce=77
	wait_for 10 since_is "$B" SubscribersTaken -eq 1
	answered nonce=77
	# And back, for what follows.
	subscribe "$A" "$V4_A" "$V4_B"
	wait_for 10 since_is "$B" SubscribersTaken -eq 2
}

# SUBSCRIBEs in the names of thousands of hosts: no memory, and RTNL is not taken for any.
spoofed() {
	local from n few

	n=$(often 4000 20000)
	few=$(often 300 1000)
	ns_set "$B" ipv4/conf/all/rp_filter 0 ipv4/conf/b0/rp_filter 0
	# What A gets for these addresses it has no use for.
	ip -n "$B" route add 10.99.0.0/16 via "$V4_A"
	mark "$B"
	from=$(syncs)
	in_ns "$A" "$HELPER" spoof 10.99.0.0 "$V4_B" "$n"
	wait_for 60 since_is "$B" SubscribeNoCookie -eq "$n"
	expect "subscribers" "$(acker "$B" Subscribers)" -eq "$(was "$B" Subscribers)"
	expect "added" "$(since "$B" SubscribersNew)" -eq 0
	expect "bytes sent" "$(since "$B" TxBytes)" -lt "$(since "$B" RxBytes)"
	expect "searches for devices" "$(($(syncs) - from))" -eq 0
	# Some that are proven: the devices are there, so none needs a search either.
	ip -n "$A" route add local 10.99.0.0/16 dev lo
	in_ns "$A" "$HELPER" many 10.99.0.0 "$V4_B" "$few" lifetime=3
	wait_for 20 since_is "$B" SubscribersNew -eq "$few"
	expect "searches for devices" "$(($(syncs) - from))" -eq 0
	ip -n "$A" route del local 10.99.0.0/16 dev lo
	wait_for 20 acker_is "$B" Subscribers -eq "$(was "$B" Subscribers)"
}

# syncs: how often B has looked for its devices, which takes RTNL.
syncs() {
	acker "$B" DeviceSearches
}

# A user of A without privileges has the port that version 1 had, and cannot have this one.
# A host without the module is not more to anybody.
unprivileged() {
	local holder n

	spawn bash -c "exec nsenter --net=/run/netns/$A '$HELPER' as 65534 \
		'$HELPER' hold 0.0.0.0 51966 >'$KSFT_TMP/held'"
	holder=$SPAWNED
	wait_for 10 bound "$A" 51966
	refused in_ns "$A" timeout 5 "$HELPER" as 65534 "$HELPER" hold 0.0.0.0 299
	mark "$B"
	send "$A" "$V4_A" "$V4_B" 100000
	in_ns "$A" "$HELPER" forge "$V4_A" "$V4_B" port 1000
	wait_for 10 since_is "$B" RxOtherPort -eq 1000
	expect "subscribers" "$(acker "$B" Subscribers)" -eq "$(was "$B" Subscribers)"
	n=$(wc -l <"$KSFT_TMP/held")
	expect "datagrams to the old port" "$n" -eq 0
	stop "$holder" KILL
}

# With a pre-shared key: who does not have it is not even challenged, whatever else is right;
# nor do its OR-ACKs count for who has none.
shared_key() {
	local RENEW=0

	renew "$V4_A" "$V4_B"
	ns_set "$B" or_port/key 00000000000000000000000000000005
	expect_same "key" "$(ns_get "$B" or_port/key)" set
	forge "$V4_A" "$V4_B" nonce SubscribeTag
	forge "$V4_A" "$V4_B" nonce SubscribeTag psk=6
	# The subscription lives on, until it has to be renewed.
	forge "$V4_A" "$V4_B" replay SubscribeTag "count=$(($(cat "$KSFT_TMP/count") + 1))"
	mark "$B"
	subscribe "$A" "$V4_A" "$V4_B" psk=5
	wait_for 10 since_is "$B" SubscribeAccepted -eq 1
	answered psk=5
	listen "$A" "$V4_A" "$V4_B"
	send "$A" "$V4_A" "$V4_B" 100000
	wait_for 10 calm "$B"
	heard
	expect "OR-ACKs for who has no key" "$(said acks)" -eq 0
	expect "wrong tags" "$(said bad_tag)" -gt 0
	subscribe "$A" "$V4_A" "$V4_B" psk=5 lifetime=0 answer=0
	ns_set "$B" or_port/key none
	expect_same "key" "$(ns_get "$B" or_port/key)" none
}

# What is no key changes nothing, is not repeated to the log, and only root reads of it.
bad_keys() {
	local value

	ns_set "$B" or_port/key 00000000000000000000000000000005
	for value in '' 5 0000000000000000000000000000000 \
		00000000000000000000000000000000 0000000000000000000000000000000g \
		000000000000000000000000000000005; do
		refused ns_set "$B" or_port/key "$value" 2>/dev/null
		expect_same "key" "$(ns_get "$B" or_port/key)" set
	done
	refused in_ns "$B" "$HELPER" as 65534 cat /proc/sys/net/or_port/key 2>/dev/null
	ns_set "$B" or_port/key none
}

# Valid segments, from the subscriber's address, that no socket waits for.
forged_data() {
	renew "$1" "$2"
	wait_for 10 calm "$B"
	mark "$B"
	in_ns "$A" "$HELPER" data "$1" "$2" "$TIMES"
	wait_for 10 since_is "$B" PacketNoSocket -eq "$TIMES"
	expect "flows" "$(acker "$B" Flows)" -eq "$(was "$B" Flows)"
	expect "OR-ACKs" "$(since "$B" TxSent)" -eq 0
}

# OR-ACKs that nobody waits for, as they would reach a host that only receives.
stray_acks() {
	forge "$V4_A" "$V4_B" ack RxNoUser
}

# A carries C, a container, and gives it its own addresses.
container() {
	ns_add "$C"
	veth_pair "$C" c0 "$C4 $C6" "$A" h0 "10.77.3.1 fd77:3::1"
	ip -n "$C" route add default via 10.77.3.1
	ip -n "$C" route add default via fd77:3::1
	ip -n "$B" route add 10.77.3.0/24 via "$V4_A"
	ip -n "$B" route add fd77:3::/64 via "$V6_A"
	ns_set "$A" ipv4/ip_forward 1 ipv6/conf/all/forwarding 1
	masquerade
}

# What C sends is in A's name, and keeps its port.
masquerade() {
	in_ns "$A" nft -f - <<-END
		table inet nat {
			chain in {
				type nat hook prerouting priority dstnat;
			}
			chain out {
				type nat hook postrouting priority srcnat;
				ip saddr $C4 udp sport 5000 snat ip to $V4_A:299
				ip6 saddr $C6 udp sport 5000 snat ip6 to [$V6_A]:299
				iifname "h0" oifname "a0" masquerade
			}
		}
	END
}

# refused_from NUMBER COMMAND...: A refuses to forward datagrams of that number, and none comes to B.
refused_from() {
	local number=$1
	shift

	mark "$A"
	mark "$B"
	"$@"
	wait_for 10 since_is "$A" ForwardRefused -eq "$number"
	expect "messages that came" "$(since "$B" RxDelivered)" -eq 0
	expect "refused for their port" "$(since "$B" RxOtherPort)" -eq 0
}

# C has CAP_NET_RAW, and sends as A, to B: by each of A's addresses.
in_its_hosts_name() {
	local from=$1 to=$2 host=$3

	expect "guard" "$(port "$A" ForwardGuard)" -eq 1
	# From its other ports it gets there, in that name.
	mark "$B"
	in_ns "$C" "$HELPER" forge "$from" "$to" port 20
	wait_for 10 since_is "$B" RxOtherPort -eq 20
	refused_from 1 subscribe "$C" "$from" "$to" "as=$host"
	refused_from 20 in_ns "$C" "$HELPER" forge "$from" "$to" tag 20 "as=$host"
	# The host gives it the port.
	refused_from 1 subscribe "$C" "$from" "$to" "as=$host" sport=5000
	[ "$from" = $C4 ] || refused_from 1 subscribe "$C" "$from" "$to" "as=$host" opts=1
	# The host itself.
	mark "$B"
	subscribe "$A" "$host" "$to"
	wait_for 10 accepted "$B"
	subscribe "$A" "$host" "$to" lifetime=0
}

# A forgets its own connections of the port, so that the translation of C's is that of a new one.
forget() {
	ns_set "$A" netfilter/nf_conntrack_udp_timeout 1 netfilter/nf_conntrack_udp_timeout_stream 1
	mark "$B"
	subscribe "$A" "$V4_A" "$V4_B" lifetime=0 answer=0
	wait_for 10 since_is "$B" SubscribeEndsNothing -eq 1
	sleep 2
	ns_set "$A" netfilter/nf_conntrack_udp_timeout 600 \
		netfilter/nf_conntrack_udp_timeout_stream 600
}

# The host publishes its port: what comes to it is not sent on to C, nor are answers of C.
published() {
	forget
	in_ns "$A" nft add rule inet nat in ip daddr "$V4_A" udp dport 299 dnat ip to $C4:5299
	mark "$A"
	subscribe "$B" "$V4_B" "$V4_A" answer=0
	wait_for 10 since_is "$A" ForwardRefused -eq 1
	in_ns "$A" nft flush chain inet nat in
	mark "$A"
	subscribe "$B" "$V4_B" "$V4_A" answer=0
	wait_for 10 since_is "$A" SubscribeNoCookie -eq 1
}

# In its own name C may speak. Without translation A's name is refused as well.
own_name() {
	in_ns "$A" nft delete table inet nat
	mark "$A"
	mark "$B"
	subscribe "$C" $C4 "$V4_B"
	subscribe "$C" $C6 "$V6_B"
	wait_for 10 since_is "$B" SubscribeAccepted -eq 2
	expect "refused" "$(since "$A" ForwardRefused)" -eq 0
	subscribe "$C" $C4 "$V4_B" lifetime=0
	subscribe "$C" $C6 "$V6_B" lifetime=0
	wait_for 10 acker_is "$B" Subscribers -eq 0
	ip -n "$C" addr add "$V6_A/128" dev lo nodad
	refused_from 1 subscribe "$C" "$V6_A" "$V6_B" answer=0
	ip -n "$C" addr del "$V6_A/128" dev lo
	masquerade
}

# C was there before the module: the port is translated for it.
before() {
	forget
	unload_all
	in_ns "$C" "$HELPER" forge $C4 "$V4_B" tag 5
	modprobe or_acker
	no_ends_left_out "$B"
	wait_for 10 acker_is "$A" PortOpen -eq 1
	refused_from 1 subscribe "$C" $C4 "$V4_B" "as=$V4_A"
	# That has ended with it.
	exact "$A" "$V4_A" "$V4_B" "$B" 200000
}

# by_tc: tc translates, which A does not see, as on a host without the module.
by_tc() {
	tc -n "$A" qdisc add dev a0 clsact
	tc -n "$A" filter add dev a0 egress protocol ip flower ip_proto udp src_ip $C4 \
		action nat egress $C4/32 "$V4_A"
}

# takes_answers: and gives C what comes for the port.
takes_answers() {
	tc -n "$A" filter add dev a0 ingress protocol ip pref 7 flower ip_proto udp dst_port 299 \
		action nat ingress "$V4_A/32" $C4
}

# Where A cannot refuse it, C takes A's subscription; and not with a key, which C does not have.
keyed_name() {
	in_ns "$A" nft delete table inet nat
	by_tc
	subscribed "$A" "$V4_A" "$V4_B" "$B"
	takes_answers
	mark "$B"
	subscribe "$C" $C4 "$V4_B" "as=$V4_A" nonce=5
	wait_for 10 since_is "$B" SubscribersTaken -eq 1
	subscribe "$C" $C4 "$V4_B" "as=$V4_A" nonce=5 lifetime=0
	wait_for 10 acker_is "$B" Subscribers -eq 0

	ns_set "$A" or_port/key 00000000000000000000000000000005
	ns_set "$B" or_port/key 00000000000000000000000000000005
	tc -n "$A" filter del dev a0 ingress pref 7
	subscribed "$A" "$V4_A" "$V4_B" "$B" psk=5
	takes_answers
	mark "$B"
	subscribe "$C" $C4 "$V4_B" "as=$V4_A" nonce=5
	subscribe "$C" $C4 "$V4_B" "as=$V4_A" nonce=5 lifetime=0
	wait_for 10 since_is "$B" SubscribeTag -eq 2
	expect "CHALLENGEs" "$(since "$B" ChallengeSent)" -eq 0
	# Nothing of the host's OR-ACKs can be made out to be it, and A still has them.
	tc -n "$A" filter del dev a0 ingress pref 7
	answered psk=5
	subscribe "$A" "$V4_A" "$V4_B" psk=5 lifetime=0 answer=0
	ns_set "$A" or_port/key none
	ns_set "$B" or_port/key none
	tc -n "$A" qdisc del dev a0 clsact
}

still_works() {
	renew "$1" "$2"
	listen "$A" "$1" "$2"
	mark "$B"
	send "$A" "$1" "$2" 500000
	wait_for 10 acked_bytes "$B" -ge 500000
	wait_for 10 calm "$B"
	heard
	all_good
	expect "OR-ACKs" "$(said acks)" -eq "$(since "$B" AckSent)"
	expect "bytes out" "$(since "$B" AckBytes)" -le "$(since "$B" AckedBytes)"
}

attack() {
	local from=$1 to=$2 ip=$3

	ksft_case "$ip: a subscriber" subscribed "$A" "$from" "$to" "$B"
	ksft_case "$ip: truncated" forge "$from" "$to" short SubscribeShort
	ksft_case "$ip: oversized" forge "$from" "$to" long SubscribeLong
	ksft_case "$ip: empty" forge "$from" "$to" empty RxEmpty
	ksft_case "$ip: version 1" forge "$from" "$to" version1 RxVersion1
	ksft_case "$ip: other version" forge "$from" "$to" version RxOtherVersion
	ksft_case "$ip: unknown type" forge "$from" "$to" type RxNoUser
	ksft_case "$ip: reserved bits" forge "$from" "$to" reserved SubscribeReserved
	ksft_case "$ip: bad value" forge "$from" "$to" value SubscribeValue
	ksft_case "$ip: bad tag" forge "$from" "$to" tag SubscribeTag
	ksft_case "$ip: about other addresses" forge "$from" "$to" other SubscribeUnsupported
	ksft_case "$ip: another nonce" unproven "$from" "$to" nonce SubscribeNoCookie
	ksft_case "$ip: a wrong cookie" unproven "$from" "$to" cookie SubscribeNoCookie
	ksft_case "$ip: somebody else's end" forge "$from" "$to" end SubscribeEndsNothing
	ksft_case "$ip: replayed" forge "$from" "$to" replay SubscribeReplay \
		"count=$(cat "$KSFT_TMP/count")"
	ksft_case "$ip: an old one" forge "$from" "$to" replay SubscribeOld \
		"count=$((($(cat "$KSFT_TMP/count") - 70) & 0xffffffff))"
	ksft_case "$ip: other source port" forge "$from" "$to" port RxOtherPort
	ksft_case "$ip: data of no connection" forged_data "$from" "$to"
	ksft_case "$ip: the subscriber is one as before" still_works "$from" "$to"
}

ksft_plan 52
need_acker
net_pair
sink "$B"
# None ages meanwhile.
acker_set "$B" flow_age_s 3600
attack "$V4_A" "$V4_B" IPv4
attack "$V6_A" "$V6_B" IPv6
ksft_case "OR-ACKs of no flow" stray_acks
ksft_case "CHALLENGEs have a rate" challenge_rate
ksft_case "a host's name is of no use to others" in_its_name
ksft_case "a host that lost its nonce" lost_nonce
ksft_case "thousands of spoofed SUBSCRIBEs" spoofed
ksft_case "users without privileges" unprivileged
ksft_case "a pre-shared key" shared_key
ksft_case "keys that are none" bad_keys
container
ksft_case "IPv4: a container in its host's name" in_its_hosts_name $C4 "$V4_B" "$V4_A"
ksft_case "IPv6: a container in its host's name" in_its_hosts_name $C6 "$V6_B" "$V6_A"
ksft_case "a container, and the host's published port" published
ksft_case "a container in its own name" own_name
ksft_case "a container that was there before" before
ksft_case "a container in its host's name, and a pre-shared key" keyed_name
