#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A socket of the kernel whose timer fires when its namespace is almost gone.
#
#	C c0 ---------- d0 B
#	  goes             its ACKs take 500 ms
TIMELY_PROFILE=paper
. "$(dirname "$0")/onramp.sh"

params=/sys/module/timely_ksock/parameters

# What C has in common with tcp_timely is gone before the socket is: the module whose
# socket it is was loaded before.
load_in_order() {
	[ ! -d /sys/module/tcp_timely ] || rmmod tcp_timely
	[ ! -d /sys/module/nic_ts ] || rmmod nic_ts
	need_module timely_ksock
	need_module nic_ts
	need_module
}

have_result() {
	[ -s "$params/result" ] && grep -q timeouts "$params/result"
}

outlive() {
	local timeouts changed

	ns_add "$C"
	veth_pair "$C" c0 10.77.4.1 "$B" d0 10.77.4.2
	tc -n "$B" qdisc add dev d0 root netem delay 500ms
	ns_set "$C" ipv4/tcp_congestion_control timely
	timely_set "$C" line_rate_mbit 1000 loss_beta_permille 100
	trace_on timely_loss
	in_ns "$C" bash -c "echo 10.77.4.2 5001 >$params/connect"
	ns_del "$C"
	wait_for 30 have_result
	trace_off "$KSFT_TMP/trace"
	read -r _ timeouts _ changed <"$params/result"
	echo "measured: $timeouts timeouts after the exit, $changed bytes changed"
	expect "timeouts after the exit" "$timeouts" -ge 1
	expect "changed bytes" "$changed" -eq 0
	# By the defaults, a half: what the namespace had is not used any more.
	awk "$TRACE_AWK"'
		{ print; event = v("event"); rate = v("rate"); half = v("old_rate") / 2 }
		END { exit event != "timeout" || rate < half - 1 || rate > half + 1 }
		' "$KSFT_TMP/trace"
	wait_for 20 held_by_nobody
}

held_by_nobody() {
	[ "$(cat /sys/module/tcp_timely/refcnt)" -eq 0 ]
}

ksft_plan 1
C=$(ns_name C)
load_in_order
ns_add "$B"
serve "$B"
ksft_case "a kernel socket outlives its namespace's tcp_timely" outlive
