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
	local why

	# shellcheck disable=SC2086
	fresh $unpaused
	spawn dcload client --netns "$A" --to "$1" --flows 2 --duration 600
	wait_for 100 stats_reach acks 20
	stop "$SPAWNED" KILL
	shot
	expect pauses "$(shown pauses)" -eq 0
	for why in short long version type reserved protocol value tag no_peer replay \
			implausible unsynced; do
		expect "refused, $why" "$(shown "acks_$why")" -eq 0
	done
}

# offloads FUNCTION...: with and without what cuts and merges packets.
offloads() {
	local tso gro

	for tso in on off; do
		for gro in on off; do
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

# Data goes both ways between the two, so each host is a sender and a receiver.
both_ways() {
	local forth

	# shellcheck disable=SC2086
	fresh $unpaused
	# shellcheck disable=SC2086
	tc -n "$B" qdisc replace dev b0 root onramp $unpaused
	serve "$A"
	spawn dcload client --netns "$A" --to "$B4" --flows 2 --duration 600
	forth=$SPAWNED
	wait_for 100 stats_reach acks 20
	spawn dcload client --netns "$B" --to "$V4_A" --flows 2 --duration 600
	wait_for 100 b_has 20
	wait_for 100 stats_reach acks $(($(stat acks) + 20))
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
	spawn dcload client --netns "$A" --to "$B4" --flows 2 --rate-limit 20mbit \
		--rtt-sample-us 0 --duration 600
	wait_for 100 stats_reach acks 20
	rmmod or_acker
	packets=$(stat packets)
	wait_for 100 stats_reach packets $((packets + 500))
	expect pauses "$(stat pauses)" -eq 0
	modprobe or_acker
	wait_for 100 stats_reach acks $(($(stat acks) + 20))
	stop "$SPAWNED" KILL
}

ksft_plan 6
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
