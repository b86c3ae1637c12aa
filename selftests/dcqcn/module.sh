#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tcp_dcqcn as a module: loading, what it puts where, unloading, under load too.
#
#	A a0 ---------- b0 B
. "$(dirname "$0")/onramp.sh"

available=/proc/sys/net/ipv4/tcp_available_congestion_control
helper=$KSFT_DIR/timely_helper

loaded_module() {
	[ -d /sys/module/tcp_dcqcn ]
}

unloaded() {
	! loaded_module || rmmod tcp_dcqcn
}

has_word() {
	tr ' ' '\n' <"$1" | grep -qx "$2"
}

nothing_left() {
	[ ! -e /proc/net/dcqcn ]
	[ ! -e /proc/sys/net/ipv4/dcqcn ]
	[ ! -e /sys/kernel/tracing/events/dcqcn ]
	refused has_word "$available" dcqcn
	in_ns "$A" test ! -e /proc/net/dcqcn
	in_ns "$A" test ! -e /proc/sys/net/ipv4/dcqcn
}

by_modprobe() {
	unloaded
	modprobe tcp_dcqcn
	has_word "$available" dcqcn
	# Nobody chooses what it falls back to.
	refused has_word "$available" dcqcn-reno
	unloaded
	nothing_left
}

# The kernel asks for "tcp_<name>".
by_name() {
	unloaded
	"$helper" cc dcqcn
	loaded_module
	unloaded
	"$helper" cc mercury
	loaded_module
	unloaded
	in_ns "$A" bash -c "echo dcqcn >/proc/sys/net/ipv4/tcp_congestion_control"
	loaded_module
	refused rmmod tcp_dcqcn
	ns_set "$A" ipv4/tcp_congestion_control cubic
	unloaded
}

unprivileged() {
	unloaded
	refused "$helper" user 65534 cc dcqcn
	refused loaded_module
	modprobe tcp_dcqcn
	"$helper" user 65534 cc dcqcn
	unloaded
}

counters() {
	modprobe tcp_dcqcn
	tr ' ' '\n' >"$KSFT_TMP/want" <<<"Starts PacketsMarked PacketsUnmarked Cnps \
MarksTooSoon FastRecoveries AdditiveIncreases HyperIncreases IncreasesByBytes PacketsWithCE \
PacketsWithoutCE EchoFirst LossCuts TimeoutCuts Undos PacedByTcp LineRateUnknown FallbackNoEcn FallbackMptcp \
SwitchCnps SwitchWindowsEnded SwitchCnpsMalformed SwitchCnpsTag SwitchCnpsReplayed \
SwitchCnpsNoMemory SwitchCnpsNoFlow SwitchCnpsBusy \
SwitchCnpsKept"
	in_ns "$A" awk 'NF != 2 || $2 != 0 { print "unexpected:", $0; exit 1 }
		{ print $1 }' /proc/net/dcqcn >"$KSFT_TMP/got"
	diff "$KSFT_TMP/want" "$KSFT_TMP/got"
	expect_same "its mode" "$(stat -c %a /proc/net/dcqcn)" 444
}

information() {
	expect_same licence "$(modinfo -F license tcp_dcqcn)" GPL
	[ -n "$(modinfo -F description tcp_dcqcn)" ]
	expect_same "the loaded version" "$(cat /sys/module/tcp_dcqcn/version)" \
		"$(modinfo -F version tcp_dcqcn)"
	expect_same "the kernel it is for" \
		"$(modinfo -F vermagic tcp_dcqcn | cut -d' ' -f1)" "$(uname -r)"
	expect "number of tracepoints" \
		"$(find /sys/kernel/tracing/events/dcqcn -mindepth 1 -type d | wc -l)" -eq 6
}

refs() {
	cat /sys/module/tcp_dcqcn/refcnt
}

no_refs() {
	[ "$(refs)" -eq 0 ]
}

in_use() {
	[ "$(refs)" -ge 16 ]
}

setup() {
	modprobe tcp_dcqcn
	serve "$B" --cc dcqcn
	server=$SPAWNED
}

# What is in use cannot be unloaded, what is not can, with traffic until then.
unload() {
	local client server tries=0

	setup
	spawn dcload client --netns "$A" --to "$V4_B" --cc dcqcn --flows 16 \
		--rate-limit 2mbit --rtt-sample-us 0 --duration 60
	client=$SPAWNED
	wait_for 10 in_use
	while [ $tries -lt "$(often 20 100)" ]; do
		refused rmmod tcp_dcqcn 2>/dev/null
		tries=$((tries + 1))
	done
	stop "$client"
	stop "$server"
	wait_for 10 no_refs
	rmmod tcp_dcqcn
	nothing_left
}

# The sockets keep the namespace and the device until they go, then all goes.
removed() {
	local server client

	setup
	ns_add "$C"
	veth_pair "$C" c0 10.77.4.1 "$B" d0 10.77.4.2
	# Nobody will acknowledge a FIN.
	ns_set "$B" ipv4/tcp_orphan_retries 1
	ns_set "$C" ipv4/tcp_orphan_retries 1
	spawn dcload client --netns "$C" --to 10.77.4.2 --cc dcqcn --flows 4 \
		--rtt-sample-us 0 --duration 60
	client=$SPAWNED
	wait_for 10 in_ns "$C" grep -q 'PacketsUnmarked [1-9]' /proc/net/dcqcn
	ip -n "$C" link del c0
	ns_del "$C"
	stop "$client"
	stop "$server"
	wait_for 40 no_refs
	rmmod tcp_dcqcn
}

ksft_plan 7
undo 'unloaded'
C=$(ns_name C)
net_pair
ksft_case "modprobe registers dcqcn, rmmod leaves nothing" by_modprobe
ksft_case "its name loads the module and holds it" by_name
ksft_case "an unprivileged socket can use it but not load it" unprivileged
ksft_case "/proc/net/dcqcn has every counter" counters
ksft_case "modinfo and tracepoints" information
ksft_case "rmmod under load is refused, and works once it ends" unload
ksft_case "a device and a namespace are removed under traffic" removed
