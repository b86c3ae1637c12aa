#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# onrampctl where it takes longer: events that are lost, a module that goes; names that JSON has to
# escape.
. "$(dirname "$0")/ctl_lib.sh"

# Peers of the case that loses events.
MANY=40

# all_are STATE: the many peers, which are sent data once more.
all_are() {
	again
	[ "$(in_ns "$A" awk -v state="$1" '$3 == state { n++ } END { print n + 0 }' \
		/proc/net/onramp_peers)" -ge "$MANY" ]
}

# states JSON: the last state of each peer in there, sorted.
states() {
	tr ',{}' '\n' <"$1" | awk -F '"' '
		$2 == "remote" { remote = $4 }
		$2 == "state" { state = $4 }
		remote != "" && state != "" { last[remote] = state; remote = state = "" }
		END { for (remote in last) print remote, last[remote] }' | sort
}

all_told() {
	[ "$(grep -c '"event": *"now"' "$KSFT_TMP/lost")" -ge "$MANY" ]
}

# A monitor that cannot keep up says so, and ends with the state that a fresh dump has. Its
# socket has room for a few events.
overrun() {
	fresh
	ip -n "$B" route add local 10.78.0.0/15 dev lo
	ip -n "$A" route add 10.78.0.0/15 via "$B4"
	stop "$ACKER" KILL
	spawn "$KSFT_DIR/connect_helper" serve "$B" $PORT
	: >"$KSFT_TMP/spawned"
	undo "echo $(cat /proc/sys/net/core/rmem_max) >/proc/sys/net/core/rmem_max"
	echo 2304 >/proc/sys/net/core/rmem_max
	monitor "$KSFT_TMP/lost" -v -j monitor
	watching=$SPAWNED
	wait_for 20 grep -q 'waiting for events' "$KSFT_TMP/spawned"
	echo 212992 >/proc/sys/net/core/rmem_max
	kill -STOP "$watching"
	connect 10.78.0.1 $MANY
	wait_for 60 all_are silent
	# Its socket has the first ones, which are old by now.
	modprobe or_acker
	undo 'rmmod or_acker 2>/dev/null || :'
	wait_for 120 all_are subscribed
	kill -CONT "$watching"
	wait_for 20 grep -q 'events were lost' "$KSFT_TMP/spawned"
	wait_for 20 all_told
	ctl 0 -i 0 -j show paths
	expect_same states "$(states "$KSFT_TMP/lost")" "$(states "$KSFT_TMP/out")"
	expect "peers" "$(states "$KSFT_TMP/out" | wc -l)" -ge "$MANY"
	expect "events that came" "$(grep -c '"event": *"silent"' "$KSFT_TMP/lost")" -ge 1
	# It goes on.
	seen=$(wc -l <"$KSFT_TMP/lost")
	wait_for 20 rmmod or_acker
	wait_for 60 more_events
	stop "$CLIENT" KILL
	stop "$watching" KILL
}

more_events() {
	again
	[ "$(wc -l <"$KSFT_TMP/lost")" -gt "$seen" ]
}

# The module goes while it is watched: one sentence, and status 3.
unload() {
	local status=0

	tc -n "$A" qdisc del dev a0 root 2>/dev/null || :
	: >"$KSFT_TMP/spawned"
	monitor "$KSFT_TMP/lines" -v monitor
	wait_for 20 grep -q 'waiting for events' "$KSFT_TMP/spawned"
	wait_for 20 rmmod sch_onramp
	wait_for 20 gone "$SPAWNED"
	wait "$SPAWNED" || status=$?
	expect status "$status" -eq 3
	grep -q 'the module was unloaded' "$KSFT_TMP/spawned" || fail "it does not say so"
	modprobe sch_onramp
}

# Devices may have names that JSON has to escape.
names() {
	need_module nic_ts
	ip -n "$B" link add $'x\001"\\y' type veth peer name b9
	in_ns "$B" nic_ts -j devices >"$KSFT_TMP/out"
	says '"x\u0001\"\\y"'
	onrampctl -n "$B" -j show devices -v >"$KSFT_TMP/out"
	says '"x?\"\\y"'
	ip -n "$B" link del b9
}

ksft_plan 3
need_module sch_onramp
need_module tcp_timely
quiet_pair
serve "$B"
acker_start
ksft_case "lost events" overrun
ksft_case "a module that goes" unload
ksft_case "names of devices" names
