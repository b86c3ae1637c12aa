#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A congestion control as a module: loading, what it puts where, unloading, under load too.
#
#	A a0 ---------- b0 B
. "$(dirname "$0")/onramp.sh"
. "$(dirname "$0")/law.sh"

available=/proc/sys/net/ipv4/tcp_available_congestion_control
helper=$KSFT_DIR/timely_helper
module=tcp_${ccs[0]}
last=${ccs[-1]}

loaded_module() {
	[ -d "/sys/module/$module" ]
}

unloaded() {
	! loaded_module || rmmod "$module"
}

has_word() {
	tr ' ' '\n' <"$1" | grep -qx "$2"
}

nothing_left() {
	local name

	[ ! -e "/proc/net/${ccs[0]}" ]
	[ ! -e "/proc/sys/net/ipv4/${ccs[0]}" ]
	[ ! -e "/sys/kernel/tracing/events/${ccs[0]}" ]
	for name in "${ccs[@]}"; do
		refused has_word "$available" "$name"
	done
	in_ns "$A" test ! -e "/proc/net/${ccs[0]}"
	in_ns "$A" test ! -e "/proc/sys/net/ipv4/${ccs[0]}"
}

by_modprobe() {
	local name

	unloaded
	modprobe "$module"
	for name in "${ccs[@]}"; do
		has_word "$available" "$name"
	done
	# Nobody chooses what it falls back to.
	refused has_word "$available" "${ccs[0]}-reno"
	unloaded
	nothing_left
}

# The kernel asks for "tcp_<name>": each name loads the module.
by_name() {
	local name

	for name in "${ccs[@]}"; do
		unloaded
		"$helper" cc "$name"
		loaded_module
		unloaded
		in_ns "$A" bash -c "echo $name >/proc/sys/net/ipv4/tcp_congestion_control"
		loaded_module
		refused rmmod "$module"
		ns_set "$A" ipv4/tcp_congestion_control cubic
	done
	unloaded
}

unprivileged() {
	unloaded
	refused "$helper" user 65534 cc "${ccs[0]}"
	refused loaded_module
	modprobe "$module"
	"$helper" user 65534 cc "$last"
	unloaded
}

all_counters() {
	modprobe "$module"
	names_of counter >"$KSFT_TMP/want"
	in_ns "$A" awk 'NF != 2 || $2 != 0 { print "unexpected:", $0; exit 1 }
		{ print $1 }' "/proc/net/${ccs[0]}" >"$KSFT_TMP/got"
	diff "$KSFT_TMP/want" "$KSFT_TMP/got"
	expect_same "its mode" "$(stat -c %a "/proc/net/${ccs[0]}")" 444
}

information() {
	expect_same licence "$(modinfo -F license "$module")" GPL
	[ -n "$(modinfo -F description "$module")" ]
	expect_same "the loaded version" "$(cat "/sys/module/$module/version")" \
		"$(modinfo -F version "$module")"
	expect_same "the kernel it is for" \
		"$(modinfo -F vermagic "$module" | cut -d' ' -f1)" "$(uname -r)"
	tracepoints_are "${ccs[0]}"
}

refs() {
	cat "/sys/module/$module/refcnt"
}

no_refs() {
	[ "$(refs)" -eq 0 ]
}

in_use() {
	[ "$(refs)" -ge 16 ]
}

setup() {
	modprobe "$module"
	serve "$B" --cc "${ccs[0]}"
	server=$SPAWNED
}

# What is in use cannot be unloaded, what is not can, with traffic until then.
unload() {
	local client server tries=0

	setup
	spawn_load "$A" --to "$V4_B" --cc "$last" --flows 16 --rate-limit 2mbit --duration 3600
	client=$SPAWNED
	wait_for 10 in_use
	while [ $tries -lt "$(often 20 100)" ]; do
		refused rmmod "$module" 2>/dev/null
		tries=$((tries + 1))
	done
	stop "$client"
	stop "$server"
	wait_for 10 no_refs
	rmmod "$module"
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
	spawn_load "$C" --to 10.77.4.2 --cc "${ccs[0]}" --flows 4 --duration 60
	client=$SPAWNED
	wait_for 10 in_ns "$C" grep -q 'PacketsUnmarked [1-9]' "/proc/net/${ccs[0]}"
	ip -n "$C" link del c0
	ns_del "$C"
	stop "$client"
	stop "$server"
	wait_for 40 no_refs
	rmmod "$module"
}

ksft_plan 7
undo 'unloaded'
C=$(ns_name C)
net_pair
ksft_case "modprobe registers ${ccs[*]}, rmmod leaves nothing" by_modprobe
ksft_case "each name loads the module and holds it" by_name
ksft_case "an unprivileged socket can use it but not load it" unprivileged
ksft_case "its file in /proc/net has every counter" all_counters
ksft_case "modinfo and tracepoints" information
ksft_case "rmmod under load is refused, and works once it ends" unload
ksft_case "a device and a namespace are removed under traffic" removed
