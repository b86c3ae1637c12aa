#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# onrampctl where it takes longer: events that are lost, a module that goes; causes of why that
# take a path of their own; names that JSON has to escape.
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

# The share of pauses is that of the qdisc's own statistic.
path_share() {
	local us paused

	acker answer 1
	load_slow --rate-limit 100mbit
	wait_for 30 stats_reach pauses 20
	# Long, against the time in which this CPU starts programs, which is in the truth only.
	us=${EPOCHREALTIME/./}
	paused=$(stat paused_ns)
	ctl 0 -i 6 -j why dst "$B4" and dport 5001
	paused=$(($(stat paused_ns) - paused))
	us=$((${EPOCHREALTIME/./} - us))
	expect "share of pauses, %" $((paused / 10 / us)) -ge 20
	near path "$(member path)" $((paused / 10 / us))
	above 0.05 "$(member unknown)" || fail "unknown share: $(member unknown)"
	stop "$SPAWNED" KILL
	change mode off
	wait_for 20 no_connections
}

# A device of 20 Mbit/s.
qdisc_cause() {
	tc -n "$A" qdisc del dev a0 root
	tc -n "$A" qdisc add dev a0 root tbf rate 20mbit burst 10k latency 100ms
	spawn dcload client --netns "$A" --to "$B4" --flows 1 --duration 600 --cc cubic
	sleep 1
	dominant qdisc dst "$B4" and dport 5001
	stop "$SPAWNED" KILL
	wait_for 30 no_connections
}

# sent: bytes that left A's qdisc.
sent() {
	tc -n "$A" -s qdisc show dev a0 root | awk '$1 == "Sent" { print $2 }'
}

# The same device, with data for a part of the time: its queue lasts as long as these bytes take.
qdisc_share() {
	local us bytes

	in_ns "$A" sysctl -qw net.ipv4.tcp_wmem='4096 65536 131072'
	spawn dcload client --netns "$A" --to "$B4" --flows 1 --duration 600 --cc cubic --idle 1:1
	sleep 1
	us=${EPOCHREALTIME/./}
	bytes=$(sent)
	ctl 0 -i 4 -j why dst "$B4" and dport 5001
	bytes=$(($(sent) - bytes))
	us=$((${EPOCHREALTIME/./} - us))
	near qdisc "$(member qdisc)" $((bytes * 8 * 100 / 20 / us))
	above 0.05 "$(member unknown)" || fail "unknown share: $(member unknown)"
	stop "$SPAWNED" KILL
	wait_for 30 no_connections
	in_ns "$A" sysctl -qw net.ipv4.tcp_wmem='4096 16384 4194304'
}

established() {
	[ -n "$(ss -N "$A" -Htn state established dst "$B4")" ]
}

# A packet of three is lost.
loss_cause() {
	fresh mode off
	tc -n "$B" qdisc add dev b0 clsact
	tc -n "$B" filter add dev b0 ingress protocol ip u32 match ip protocol 6 0xff \
		action pass random netrand drop 3
	spawn dcload client --netns "$A" --to "$B4" --flows 1 --duration 600 --cc cubic
	# Its SYN may be lost, too.
	wait_for 60 established
	sleep 1
	dominant loss dst "$B4" and dport 5001
	tc -n "$B" qdisc del dev b0 clsact
	stop "$SPAWNED" KILL
	wait_for 60 no_connections
}

segments_of_b() {
	in_ns "$B" awk '$1 == "Tcp:" && ++n == 2 { print $11 }' /proc/net/snmp
}

arrived() {
	[ "$(segments_of_b)" -gt "$1" ]
}

# A message and its retransmissions are lost for half a second. It is late until the next one,
# and TCP itself knows of a loss after its first timeout only.
loss_share() {
	local from until segments watching truth

	fresh mode off
	spawn "$KSFT_DIR/connect_helper" serve "$B" $PORT
	connect "$B4" 1
	sleep 1
	tc -n "$B" qdisc add dev b0 clsact
	tc -n "$B" filter add dev b0 ingress protocol ip u32 match ip protocol 6 0xff action drop
	segments=$(segments_of_b)
	monitor "$KSFT_TMP/why" -i 4 -j why dst "$B4" and dport $PORT
	watching=$SPAWNED
	sleep 0.5
	from=${EPOCHREALTIME/./}
	again
	sleep 0.5
	tc -n "$B" qdisc del dev b0 clsact
	wait_for 3 arrived "$segments"
	until=${EPOCHREALTIME/./}
	wait_for 20 gone "$watching"
	cat "$KSFT_TMP/why"
	truth=$(((until - from) / 10 / 4000))
	near loss "$(member loss "$KSFT_TMP/why")" $truth
	near application "$(member application "$KSFT_TMP/why")" $((100 - truth))
	stop "$CLIENT" KILL
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

ksft_plan 8
need_module sch_onramp
need_module tcp_timely
quiet_pair
serve "$B"
acker_start
ksft_case "a share of the path" path_share
ksft_case "this host's qdisc is the cause" qdisc_cause
ksft_case "a share of this host's qdisc" qdisc_share
ksft_case "loss is the cause" loss_cause
ksft_case "a share of loss" loss_share
ksft_case "lost events" overrun
ksft_case "a module that goes" unload
ksft_case "names of devices" names
