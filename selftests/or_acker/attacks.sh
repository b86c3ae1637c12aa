#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Datagrams and data that are not what they should be: they change nothing, are never
# answered, and are counted.
#
#	A a0 ---------- b0 B
. "$(dirname "$0")/or_acker_lib.sh"

TIMES=3000

# forge FROM TO KIND COUNTER [OPTION...]: a flood while there is a subscriber.
forge() {
	local from=$1 to=$2 kind=$3 counter=$4 icmp
	shift 4

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

was() {
	awk -v name="$2" '$1 == name { print $2 }' "$KSFT_TMP/mark-$1"
}

# Valid segments, from the subscriber's address, that no socket waits for.
forged_data() {
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
	ksft_case "$ip: other version" forge "$from" "$to" version RxOtherVersion
	ksft_case "$ip: unknown type" forge "$from" "$to" type RxNoUser
	ksft_case "$ip: reserved bits" forge "$from" "$to" reserved SubscribeReserved
	ksft_case "$ip: bad value" forge "$from" "$to" value SubscribeValue
	ksft_case "$ip: bad tag" forge "$from" "$to" tag SubscribeTag
	ksft_case "$ip: another nonce" forge "$from" "$to" nonce SubscribeTag
	ksft_case "$ip: replayed" forge "$from" "$to" replay SubscribeReplay \
		"count=$(cat "$KSFT_TMP/count")"
	ksft_case "$ip: other source port" forge "$from" "$to" port RxOtherPort
	ksft_case "$ip: data of no connection" forged_data "$from" "$to"
	ksft_case "$ip: the subscriber is one as before" still_works "$from" "$to"
}

ksft_plan 29
need_acker
net_pair
sink "$B"
# None ages meanwhile.
acker_set "$B" flow_age_s 3600
attack "$V4_A" "$V4_B" IPv4
attack "$V6_A" "$V6_B" IPv6
ksft_case "OR-ACKs of no flow" stray_acks
