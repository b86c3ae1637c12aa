#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Users, devices, namespaces and the module go under load.
. "$(dirname "$0")/nic_ts_lib.sh"

C=$(ns_name C)

# Packets all the time, and time for what is to happen among them.
busy() {
	spawn dcload client --netns "$A" --to "$V4_B" --cc nic_ts_test --flows 4 \
		--rate-limit 5mbit --chunk 4K --rtt-sample-us 0 --duration 3600
	wait_for 10 has_flows 4
}

has_flows() {
	[ "$(bus_stat "$A" Flows)" -eq "$1" ]
}

refs() {
	cat /sys/module/nic_ts/refcnt
}

no_refs() {
	[ "$(refs)" -eq 0 ]
}

receivers() {
	local i

	busy
	for i in $(seq "$(often 12 100)"); do
		watch "$A" a0
		watch "$B" b0
		unwatch
	done
	counts
	expect "packets seen in between" "$(counted packets)" -gt 0
	nothing_bad
	stop "$SPAWNED"
	wait_for 20 no_refs
}

# Capture goes off a second after the last flow, and on with the first.
on_and_off() {
	local i n

	n=$(often 100 500)
	counts
	for i in 1 2 3; do
		load "$A" --to "$V4_B" --cc nic_ts_test --flows 4 --connect-first --duration 0.2
		sleep 1.2
	done
	load "$A" --to "$V4_B" --cc nic_ts_test --flow-churn "$n" --parallel 20
	counts
	expect "attached" "$(counted attached)" -eq $((3 * 4 + n))
	nothing_bad
	wait_for 20 no_refs
}

unload() {
	local i

	busy
	for i in $(seq "$(often 6 50)"); do
		refused rmmod nic_ts 2>/dev/null
	done
	stop "$SPAWNED"
	wait_for 20 no_refs
	# Connections begin with the bus and without it.
	counts
	spawn bash -c "while :; do
		dcload client --netns $A --to $V4_B --cc nic_ts_test \
			--rtt-sample-us 0 --flow-churn 50 --parallel 4
		sleep 0.1
	done"
	for i in $(seq "$(often 3 12)"); do
		wait_for 20 rmmod nic_ts 2>/dev/null
		sleep 0.3
		modprobe nic_ts
		sleep 0.3
	done
	stop "$SPAWNED"
	counts
	expect "attached" "$(counted attached)" -gt 0
	expect "without a bus" "$(counted refused)" -gt 0
	nothing_bad
	wait_for 20 no_refs
}

device_removed() {
	ip link add a1 netns "$A" type veth peer b1 netns "$B"
	ip -n "$A" addr add 10.77.3.1/24 dev a1
	ip -n "$B" addr add 10.77.3.2/24 dev b1
	ip -n "$A" link set a1 up
	ip -n "$B" link set b1 up
	spawn dcload client --netns "$A" --to 10.77.3.2 --cc nic_ts_test --flows 4 \
		--rtt-sample-us 0 --duration 200
	wait_for 10 has_flows 4
	watch "$A" a1
	watch "$B" b1
	ip -n "$A" link del a1
	unwatch
	stop "$SPAWNED"
	wait_for 20 no_refs
}

# Reading the counts resets them.
has_rtts() {
	counts
	seen=$((seen + $(counted packets)))
	[ "$(counted ok)" -gt 0 ]
}

device_moved() {
	local seen=0

	ns_add "$C"
	ip link add a1 netns "$A" type veth peer b1 netns "$B"
	ip -n "$B" addr add 10.77.3.2/24 dev b1
	ip -n "$B" link set b1 up
	watch "$A" a1
	ip -n "$A" link set a1 netns "$C"
	ip -n "$C" addr add 10.77.3.1/24 dev a1
	ip -n "$C" link set a1 up
	counts
	spawn dcload client --netns "$C" --to 10.77.3.2 --cc nic_ts_test --flows 2 \
		--rtt-sample-us 0 --duration 200
	wait_for 20 has_rtts
	expect "packets seen in the new namespace" "$seen" -eq 0
	stop "$SPAWNED"
	unwatch
	ns_del "$C"
	wait_for 20 no_refs
}

namespace_removed() {
	local i client

	for i in 1 2 3; do
		ns_add "$C"
		ip link add c0 netns "$C" type veth peer d0 netns "$B"
		ip -n "$C" addr add 10.77.4.1/24 dev c0
		ip -n "$B" addr add 10.77.4.2/24 dev d0
		ip -n "$C" link set c0 up
		ip -n "$B" link set d0 up
		spawn dcload client --netns "$C" --to 10.77.4.2 --cc nic_ts_test \
			--flows 4 --rtt-sample-us 0 --duration 60
		client=$SPAWNED
		wait_for 10 in_use 4
		ns_del "$C"
		stop "$client"
		wait_for 20 no_refs
		wait_for 20 link_gone
	done
}

in_use() {
	[ "$(refs)" -ge "$1" ]
}

link_gone() {
	! ip -n "$B" link show dev d0 >/dev/null 2>&1
}

ksft_plan 6
need_bus
net_pair
serve "$B"
ksft_case "receivers come and go under load" receivers
ksft_case "capture goes on and off; hundreds of short connections" on_and_off
ksft_case "rmmod is refused under load; the bus comes and goes under traffic" unload
ksft_case "a device is removed under traffic" device_removed
ksft_case "a device is moved to another namespace" device_moved
ksft_case "a namespace is removed under traffic" namespace_removed
