#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# onrampctl and the netlink families: lists show what the kernel tells, of one namespace, to
# those who may see it.
. "$(dirname "$0")/ctl_lib.sh"

without_modules() {
	ctl 3 show paths
	sentence 'sch_onramp is not loaded'
	ctl 3 show subscribers
	sentence 'or_acker is not loaded'
	ctl 3 show timely flows
	sentence 'tcp_timely is not loaded'
}

paths() {
	ctl 0 -i 0.5 show paths
	says "$B4  $V4_A  subscribed"
	ctl 0 -i 0.5 -j show paths
	expect_same remote "$(member remote)" "$B4"
	expect "OR-ACKs" "$(member acks)" -ge 5
	expect "threshold" "$(member threshold_ns)" -ge 500000000
	expect_same "OR-ACKs a second" "$(member acks_per_s | grep -c .)" 1
	expect_same "share of time paused" "$(member paused_share | grep -c .)" 1
	expect_same "line rate" "$(member line_rate_bit_s)" 400000000000
}

flows() {
	local port

	ctl 0 show flows dst "$B4"
	expect "lines" "$(wc -l <"$KSFT_TMP/out")" -eq 2
	ctl 0 -j show flows dst "$B4"
	expect "pauses" "$(member pauses)" -ge 5
	expect "pauses" "$(member pauses)" -le "$(stat pauses)"
	expect "their sum, ns" "$(member paused_ns)" -ge 1000
	expect_same "source of RTTs" "$(member source | grep -c .)" 1
	port=$(member local_port)
	ctl 0 show timely flows sport "$port"
	says "$V4_A:$port  $B4:5001"
	ctl 0 show timely flows sport 1
	says 'no connection of timely matches' err
}

reasons() {
	ctl 0 -i 3 -j why dst "$B4"
	above "$(member path)" 0.01 || fail "share of pauses: $(member path)"
	# Data is in flight so seldom that no look may have met it: then that time is unknown.
	[ "$(member samples)" -eq 0 ] || above 0.05 "$(member unknown)" ||
		fail "unknown share: $(member unknown)"
	expect "pauses" "$(member pauses)" -ge 1
	expect_same "followed" "$(member followed_by_onramp)" true
	expect_same "device" "$(member device)" a0
	ctl 0 why dst "$B4"
	says 'held by '
	says 'no other connection of this host goes to the same host'
	# A connection that is not On-Ramp's, and has nothing to send.
	onrampctl -n "$B" -i 0.5 why src "$B4" >"$KSFT_TMP/out"
	says 'application 100%'
	ctl 0 -o "$KSFT_TMP/trace.csv" --duration 0.5 trace dst "$B4"
	expect "columns" "$(awk -F , '{ print NF }' "$KSFT_TMP/trace.csv" | sort -u)" -eq 16
	expect "lines with a delay" "$(awk -F , 'NR > 1 && $13 != ""' "$KSFT_TMP/trace.csv" |
		wc -l)" -ge 1
	ctl 0 --count 1 -i 0.5 top dst "$B4"
	says "a0 "
	says "$B4:5001"
}

# As those of /proc, which an older release has alone.
counters() {
	ctl 0 -i 0 facts
	expect_same "OR-ACKs in facts" "$(member acks | grep -c .)" 1
	expect "messages sent" "$(member TxSent)" -le \
		"$(proc_count or_port "$A" TxSent)"
	expect "messages sent" "$(member TxSent)" -ge 1
	ctl 0 -i 0 prometheus
	says 'onramp_path_peers{state="subscribed"} 1'
}

# Peers and connections are for those with the privilege.
nobody() {
	local status=0

	in_ns "$A" su -s /bin/sh nobody -c "onrampctl -i 0 show paths" \
		>"$KSFT_TMP/out" 2>"$KSFT_TMP/err" || status=$?
	cat "$KSFT_TMP/out" "$KSFT_TMP/err"
	expect status "$status" -eq 3
	sentence 'CAP_NET_ADMIN'
	status=0
	in_ns "$A" su -s /bin/sh nobody -c "onrampctl show timely flows" \
		>"$KSFT_TMP/out" 2>"$KSFT_TMP/err" || status=$?
	expect status "$status" -eq 3
	sentence 'CAP_NET_ADMIN'
}

# pair [CAUSE]: a connection over loopback, see tcp_pair.c; sets PORT.
pair() {
	: >"$KSFT_TMP/port"
	spawn pair_into "$@"
	wait_for 20 test -s "$KSFT_TMP/port"
	PORT=$(cat "$KSFT_TMP/port")
	# What it does at first is no part of what it does from then on.
	sleep 1
}

pair_into() {
	exec ip netns exec "$A" "$KSFT_DIR/tcp_pair" "$@" >"$KSFT_TMP/port"
}

# Causes that loopback can have.
causes() {
	ip -n "$A" link set lo up
	pair
	dominant application dport "$PORT"
	stop "$SPAWNED" KILL
	pair receiver
	dominant receiver dport "$PORT"
	above "$(member receiver)" 0.8 || fail "share of the receiver: $(member receiver)"
	stop "$SPAWNED" KILL
	pair rate
	dominant own_rate dport "$PORT"
	above "$(member own_rate)" 0.8 || fail "share of the rate: $(member own_rate)"
	# It always has data to send, so every look is one.
	expect "samples" "$(member samples)" -ge 1
	stop "$SPAWNED" KILL
}

# Known shares of the time, in whole periods.
shares() {
	pair receiver-60
	ctl 0 -i 2 -j why dport "$PORT"
	stop "$SPAWNED" KILL
	near receiver "$(member receiver)" 60
	near application "$(member application)" 40
	near unknown "$(member unknown)" 0
	pair rate-40
	ctl 0 -i 2 -j why dport "$PORT"
	stop "$SPAWNED" KILL
	# The last 64 kB leave at once.
	near own_rate "$(member own_rate)" 37
	near application "$(member application)" 63
	near unknown "$(member unknown)" 0
}

# A peer that answers no more, and then does; JSON is a line for each event.
events() {
	monitor "$KSFT_TMP/lines" -v monitor
	LINES_OF=$SPAWNED
	monitor "$KSFT_TMP/json" -v -j --count 2 monitor
	JSON_OF=$SPAWNED
	wait_for 20 both_listen
	acker answer 0
	load_slow --rate-limit 100mbit
	wait_for 60 grep -q " $V4_A -> $B4  silent: " "$KSFT_TMP/lines"
	acker answer 1
	wait_for 60 grep -q " $V4_A -> $B4  heard: " "$KSFT_TMP/lines"
	# It ends by itself.
	wait_for 20 gone "$JSON_OF"
	expect_same events "$(sed 's/.*"event": *"\([a-z]*\)".*/\1/' "$KSFT_TMP/json" | tr '\n' ' ')" \
		"silent heard "
	stop "$LINES_OF" TERM
	wait_for 20 stats_reach pauses 5
}

# Both have joined the group: the verbose one says so after that.
both_listen() {
	[ "$(grep -c 'waiting for events' "$KSFT_TMP/spawned")" -eq 2 ]
}

subscribers() {
	stop "$(cat "$KSFT_TMP/load")" KILL
	stop "$ACKER" KILL
	wait_for 20 no_connections
	need_module or_acker
	fresh
	spawn_load "$A" --to "$B4" --flows 1 --rate-limit 10mbit --duration 600
	LOAD=$SPAWNED
	wait_for 30 stats_reach acks 20
	onrampctl -n "$B" -j -i 0.5 show subscribers >"$KSFT_TMP/out"
	cat "$KSFT_TMP/out"
	expect_same remote "$(member remote)" "$V4_A"
	expect_same local "$(member local)" "$B4"
	expect "OR-ACKs" "$(member acks)" -ge 20
	expect "flows" "$(member flows)" -ge 1
	expect "seconds left" "$(member lifetime_s)" -ge 1
	ctl 0 -i 0 show subscribers
	says 'no subscribers' err
	stop "$LOAD" KILL
}

ksft_plan 10
quiet_pair
ksft_case "without modules" without_modules
need_module sch_onramp
need_module tcp_timely
serve "$B"
acker_start
ksft_case "events" events
ksft_case "paths" paths
ksft_case "flows" flows
ksft_case "reasons, traces and the busiest" reasons
ksft_case "counters" counters
ksft_case "causes" causes
ksft_case "shares of the time" shares
ksft_case "without the privilege" nobody
ksft_case "subscribers" subscribers
