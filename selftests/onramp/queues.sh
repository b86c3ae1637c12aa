#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A device with several queues, IPv6, and VLANs: one state for each connection.
. "$(dirname "$0")/onramp_lib.sh"

# At a rate that acker_helper can follow: what it says of data that TCP has acknowledged long
# ago does not count.
rate='--rate-limit 10mbit'

synced='owd synced nobound threshold 500ms max_pause 5ms ack_timeout 10s noinherit'

# The first onramp below mq is of queue 1, the second of queue 2.
queue() {
	tc -n "$A" -s -j qdisc show dev a0 parent 1:"$1" >"$KSFT_TMP/shot"
	shown "$2"
}

queue_reaches() {
	[ "$(queue "$1" "$2")" -ge "$3" ]
}

to_queue() {
	tc -n "$A" filter del dev a0 egress 2>/dev/null || :
	tc -n "$A" filter add dev a0 egress protocol ip matchall \
		action skbedit queue_mapping "$1"
}

sent() {
	tc -n "$A" -s qdisc show dev a0 parent 1:"$1" | awk '$1 == "Sent" { print $4 }'
}

# queue_is_chosen: by a filter, as since Linux 5.19.
queue_is_chosen() {
	local queue before status=0

	tc -n "$A" qdisc replace dev a0 root handle 1: mq
	tc -n "$A" qdisc add dev a0 clsact
	for queue in 0 1; do
		tc -n "$A" qdisc replace dev a0 parent 1:$((queue + 1)) pfifo
		to_queue $queue
		before=$(sent $((queue + 1)))
		in_ns "$A" ping -q -c 1 "$B4" >"$KSFT_TMP/ping"
		[ "$(sent $((queue + 1)))" -gt "$before" ] || status=1
	done
	tc -n "$A" qdisc del dev a0 clsact
	tc -n "$A" qdisc del dev a0 root
	return "$status"
}

# A connection that changes its queue keeps its state, and its pauses.
moves() {
	tc -n "$A" qdisc replace dev a0 root handle 1: mq
	# shellcheck disable=SC2086
	tc -n "$A" qdisc replace dev a0 parent 1:1 onramp $synced
	# shellcheck disable=SC2086
	tc -n "$A" qdisc replace dev a0 parent 1:2 onramp $synced
	tc -n "$A" qdisc add dev a0 clsact
	to_queue 0
	acker delay 3000000
	spawn dcload client --netns "$A" --to "$B4" --flows 1 --duration 1000
	wait_for 20 queue_reaches 1 pauses 5
	expect "connections" "$(queue 1 connections)" -eq 1
	expect "pauses of queue 2" "$(queue 2 pauses)" -eq 0
	to_queue 1
	wait_for 20 queue_reaches 2 pauses 5
	expect "connections" "$(queue 2 connections)" -eq 1
	to_queue 0
	wait_for 20 queue_reaches 1 pauses $(($(queue 1 pauses) + 5))
	expect "connections" "$(queue 1 connections)" -eq 1
	tc -n "$A" qdisc del dev a0 parent 1:2
	wait_for 20 queue_reaches 1 pauses $(($(queue 1 pauses) + 5))
	stop "$SPAWNED" KILL
	tc -n "$A" qdisc del dev a0 clsact
	tc -n "$A" qdisc del dev a0 root
}

# addresses: of IPv6 on both ends.
ipv6() {
	ns_set "$A" ipv6/conf/a0/disable_ipv6 0
	ns_set "$B" ipv6/conf/b0/disable_ipv6 0
	ip -n "$A" addr add fd77:1:2:3::a/64 dev a0 nodad
	ip -n "$B" addr add fd77:1:2:3::b/64 dev b0 nodad
	# There is data to be held within that time, at this rate.
	# shellcheck disable=SC2086
	fresh $synced max_pause 200ms
	acker delay 3000000
	# shellcheck disable=SC2086
	load_until held 1 --to fd77:1:2:3::b --flows 2 $rate
	expect pauses "$(stat pauses)" -ge 1
	in_ns "$A" grep -q '^fd77:1:2:3::a fd77:1:2:3::b subscribed ' /proc/net/onramp_peers
}

# Tagged by the device, and by software.
vlan() {
	local offload

	ip -n "$B" link add link b0 name b0.7 up type vlan id 7
	ip -n "$B" addr add 10.77.7.2/24 dev b0.7
	ip -n "$A" link add link a0 name a0.7 up type vlan id 7
	ip -n "$A" addr add 10.77.7.1/24 dev a0.7
	stop "$ACKER" KILL
	spawn "$KSFT_DIR/acker_helper" serve "$B" b0.7 "$KSFT_TMP/acker"
	ACKER=$SPAWNED
	wait_for 10 acker stats 2>&1
	for offload in on off; do
		in_ns "$A" ethtool -K a0 txvlan $offload
		# shellcheck disable=SC2086
		fresh $synced
		acker delay 3000000
		# shellcheck disable=SC2086
		load_until pauses 1 --to 10.77.7.2 --flows 2 $rate
	done
}

# Without GSO, and with batches.
segments() {
	local gso

	for gso in off on; do
		in_ns "$A" ethtool -K a0 tso $gso gso $gso
		acker delay 0
		# shellcheck disable=SC2086
		fresh $synced
		# shellcheck disable=SC2086
		load_until acks 20 --to "$B4" --flows 2 $rate
		expect "pauses, gso $gso" "$(stat pauses)" -eq 0
		acker delay 3000000
		# shellcheck disable=SC2086
		load_until pauses 1 --to "$B4" --flows 2 $rate
	done
}

ksft_plan 4
ready 2
acker_start
serve "$B"
if queue_is_chosen; then
	ksft_case "connections that change their queue" moves
else
	ksft_skip "connections that change their queue" "no filter chooses a queue"
fi
ksft_case "with and without segmentation offload" segments
ksft_case "IPv6" ipv6
ksft_case "VLANs" vlan
