#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Subscribers and counters by the netlink family "onramp": as /proc has them.
#
#	A a0 ---------- b0 B
. "$(dirname "$0")/or_acker_lib.sh"

# genl ARGUMENT...: of ../onramp/genl_helper.c, in B.
genl() {
	"$KSFT_DIR/genl_helper" -n "$B" "$@"
}

# field NAME: of each line on stdin.
field() {
	awk -v name="$1" '{
		for (i = 1; i <= NF; i++)
			if (index($i, name "=") == 1)
				print substr($i, length(name) + 2)
	}'
}

objects() {
	genl dump sub "$@" | wc -l
}

ifindex() {
	ip -n "$B" -o link show "$1" | cut -d: -f1
}

# What the module counts is what it shows of its one subscriber.
subscriber() {
	local line

	subscribed "$A" "$V4_A" "$V4_B" "$B"
	send "$A" "$V4_A" "$V4_B" 1000000
	wait_for 10 calm "$B"
	line=$(genl sub "local=$V4_B" "remote=$V4_A")
	echo "$line"
	expect "OR-ACKs" "$(field acks <<<"$line")" -eq "$(acker "$B" AckSent)"
	expect "flows" "$(field flows <<<"$line")" -eq "$(acker "$B" Flows)"
	expect "flows" "$(field flows <<<"$line")" -ge 1
	expect "seconds left" "$(field lifetime_s <<<"$line")" -ge 1
	expect "seconds left" "$(field lifetime_s <<<"$line")" -le 3600
	expect "time since an OR-ACK, ns" "$(field acked_ns <<<"$line")" -le 100000000000
	expect_same "device" "$(field ifindex <<<"$line")" "$(ifindex b0)"
}

filters() {
	subscribe "$A" "$V6_A" "$V6_B"
	wait_for 10 acker_is "$B" Subscribers -eq 2
	expect all "$(objects)" -eq 2
	expect IPv4 "$(objects family=2)" -eq 1
	expect IPv6 "$(objects family=10)" -eq 1
	expect "a network" "$(objects remote=2001:db8:: remote_prefix=32)" -eq 1
	expect "another one" "$(objects remote=2001:db9:: remote_prefix=32)" -eq 0
	expect "a network of IPv4" "$(objects local=10.77.1.0 local_prefix=24)" -eq 1
	expect "a device" "$(objects "ifindex=$(ifindex b0)")" -eq 2
	expect "another one" "$(objects ifindex=1)" -eq 0
	expect_same "by its name" "$(genl sub "local=$V6_B" "remote=$V6_A" | field remote)" "$V6_A"
	refused genl sub "local=$V6_B" "remote=$V4_A"
	refused genl sub "local=$V4_A" "remote=$V4_B"
	refused genl -u dump sub
	refused genl -u sub "local=$V4_B" "remote=$V4_A"
	expect "subscribers of A" "$("$KSFT_DIR/genl_helper" -n "$A" dump sub | wc -l)" -eq 0
}

# Two devices with the same pair of link-local addresses.
link_local() {
	local id line

	for id in 20 21; do
		ip -n "$A" link add link a0 name "a.$id" type vlan id "$id"
		ip -n "$B" link add link b0 name "b.$id" type vlan id "$id"
		link_up "$A" "a.$id" fe80::1:a
		link_up "$B" "b.$id" fe80::1:b
		subscribe "$A" "fe80::1:a%a.$id" "fe80::1:b%a.$id" "nonce=$id"
	done
	wait_for 10 acker_is "$B" Subscribers -eq 4
	expect "both" "$(objects remote=fe80::1:a)" -eq 2
	for id in 20 21; do
		line=$(genl sub local=fe80::1:b remote=fe80::1:a "scope=$(ifindex b.$id)")
		expect_same "its device" "$(field scope <<<"$line")" "$(ifindex b.$id)"
		expect "one of them" "$(objects "scope=$(ifindex b.$id)")" -eq 1
	done
	refused genl sub local=fe80::1:b remote=fe80::1:a
}

same_counters() {
	genl dump stats | awk '$2 == "name=or_acker" {
		for (i = 4; i < NF; i += 2) {
			sub(/^name=/, "", $i)
			sub(/^value=/, "", $(i + 1))
			print $i, $(i + 1)
		}
	}' >"$KSFT_TMP/netlink"
	in_ns "$B" cat /proc/net/or_acker >"$KSFT_TMP/proc"
	cmp -s "$KSFT_TMP/netlink" "$KSFT_TMP/proc"
}

counters() {
	wait_for 10 same_counters
	expect "counters" "$(wc -l <"$KSFT_TMP/proc")" -gt 50
	genl info | grep -q "module.name=or_acker "
}

ksft_plan 4
need_acker
net_pair
sink "$B"
ksft_case "what is shown of a subscriber" subscriber
ksft_case "filters, names and privileges" filters
ksft_case "link-local addresses" link_local
ksft_case "counters are those of /proc" counters
