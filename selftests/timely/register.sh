#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tcp_timely as a module: loading, what it puts where, unloading.
#
#	A (a namespace with nothing but lo)
. "$(dirname "$0")/onramp.sh"

available=/proc/sys/net/ipv4/tcp_available_congestion_control
allowed=/proc/sys/net/ipv4/tcp_allowed_congestion_control

loaded_module() {
	[ -d /sys/module/tcp_timely ]
}

unloaded() {
	! loaded_module || rmmod tcp_timely
}

has_word() {
	tr ' ' '\n' <"$1" | grep -qx "$2"
}

nothing_left() {
	[ ! -e /proc/net/timely ]
	[ ! -e /proc/sys/net/ipv4/timely ]
	[ ! -e /sys/kernel/tracing/events/timely ]
	refused has_word "$available" timely
	refused has_word "$allowed" timely
	in_ns "$A" test ! -e /proc/net/timely
	in_ns "$A" test ! -e /proc/sys/net/ipv4/timely
}

by_modprobe() {
	unloaded
	modprobe tcp_timely
	loaded_module
	has_word "$available" timely
	# TCP_CONG_NON_RESTRICTED
	has_word "$allowed" timely
	unloaded
	nothing_left
}

# The kernel asks for "tcp_<name>".
by_sysctl() {
	unloaded
	in_ns "$A" bash -c 'echo timely >/proc/sys/net/ipv4/tcp_congestion_control'
	loaded_module
	expect_same "the namespace's default" \
		"$(ns_get "$A" ipv4/tcp_congestion_control)" timely
	refused has_word /proc/sys/net/ipv4/tcp_congestion_control timely
}

# Follows by_sysctl: a default that names the module holds it.
default_holds() {
	loaded_module
	refused rmmod tcp_timely
	ns_set "$A" ipv4/tcp_congestion_control cubic
	unloaded
}

by_setsockopt() {
	unloaded
	"$KSFT_DIR/timely_helper" cc timely
	loaded_module
	unloaded
}

# Without CAP_NET_ADMIN a socket cannot load a module, but can use one.
by_setsockopt_unprivileged() {
	unloaded
	refused "$KSFT_DIR/timely_helper" user 65534 cc timely
	refused loaded_module
	modprobe tcp_timely
	"$KSFT_DIR/timely_helper" user 65534 cc timely
	unloaded
}

twice() {
	local file

	unloaded
	modprobe tcp_timely
	file=$(modinfo -n tcp_timely)
	refused insmod "$file"
	# That one failed, the first one still works.
	has_word "$available" timely
	"$KSFT_DIR/timely_helper" cc timely
	unloaded
}

counters() {
	modprobe tcp_timely
	names_of counter >"$KSFT_TMP/want"
	in_ns "$A" awk 'NF != 2 || $2 != 0 { print "unexpected:", $0; exit 1 }
		{ print $1 }' /proc/net/timely >"$KSFT_TMP/got"
	diff "$KSFT_TMP/want" "$KSFT_TMP/got"
	expect_same "its mode" "$(stat -c %a /proc/net/timely)" 444
	in_ns "$A" "$KSFT_DIR/timely_helper" user 65534 cat /proc/net/timely >/dev/null
}

information() {
	expect_same licence "$(modinfo -F license tcp_timely)" GPL
	[ -n "$(modinfo -F description tcp_timely)" ]
	[ -n "$(modinfo -F version tcp_timely)" ]
	expect_same "the loaded version" "$(cat /sys/module/tcp_timely/version)" \
		"$(modinfo -F version tcp_timely)"
	expect_same "the loaded source version" \
		"$(cat /sys/module/tcp_timely/srcversion)" \
		"$(modinfo -F srcversion tcp_timely)"
	expect_same "the kernel it is for" \
		"$(modinfo -F vermagic tcp_timely | cut -d' ' -f1)" "$(uname -r)"
}

tracepoints() {
	tracepoints_are timely
}

# A socket that only chose timely holds it, one that is connected as well.
held_by_sockets() {
	local socket

	for socket in "hold timely" "hold-pair timely"; do
		# shellcheck disable=SC2086
		spawn in_ns "$A" "$KSFT_DIR/timely_helper" $socket "$KSFT_TMP/held"
		wait_for 10 test -e "$KSFT_TMP/held"
		refused rmmod tcp_timely
		loaded_module
		has_word "$available" timely
		stop "$SPAWNED"
		rm "$KSFT_TMP/held"
	done
	wait_for 10 rmmod tcp_timely
	nothing_left
}

ksft_plan 10
undo 'unloaded'
if loaded_module; then
	undo 'modprobe tcp_timely'
fi
ns_add "$A"
ksft_case "modprobe registers timely for everyone, rmmod leaves nothing" by_modprobe
ksft_case "naming it as a namespace's default loads it" by_sysctl
ksft_case "a namespace's default holds the module" default_holds
ksft_case "setsockopt loads it" by_setsockopt
ksft_case "an unprivileged socket can use it but not load it" by_setsockopt_unprivileged
ksft_case "loading it twice is refused" twice
ksft_case "/proc/net/timely has every counter" counters
ksft_case "modinfo tells licence, version and kernel" information
ksft_case "tracepoints are there" tracepoints
ksft_case "rmmod waits for the last socket" held_by_sockets
