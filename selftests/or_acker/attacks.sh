#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Datagrams and data that are not what they should be: they change nothing, are never
# answered, and are counted.
#
#	A a0 ---------- b0 B
. "$(dirname "$0")/or_acker_lib.sh"

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

# A host that was started again has lost its nonce, while its subscription lives on.
lost_nonce() {
	mark "$B"
	subscribe "$A" "$V4_A" "$V4_B" nonce=77
	wait_for 10 since_is "$B" SubscribersTaken -eq 1
	listen "$A" "$V4_A" "$V4_B" nonce=77
	send "$A" "$V4_A" "$V4_B" 100000
	wait_for 10 calm "$B"
	heard
	all_good
	expect "OR-ACKs" "$(said acks)" -gt 0
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
	listen "$A" "$V4_A" "$V4_B" psk=5
	send "$A" "$V4_A" "$V4_B" 100000
	wait_for 10 calm "$B"
	heard
	all_good
	expect "OR-ACKs" "$(said acks)" -gt 0
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
	ksft_case "$ip: other source port" forge "$from" "$to" port RxOtherPort
	ksft_case "$ip: data of no connection" forged_data "$from" "$to"
	ksft_case "$ip: the subscriber is one as before" still_works "$from" "$to"
}

ksft_plan 44
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
