#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# onrampctl doctor on real qdiscs, sockets and modules: each fault is made, and exactly its code
# appears. doctor_faults.sh has the rest of the faults.
. "$(dirname "$0")/doctor_lib.sh"

# A second address of B.
OTHER=10.77.1.3

absent() {
	doctor "$A" 1 QDISC_ABSENT
	says 'no device here has the qdisc onramp'
}

# Data flows while it looks, and OR-ACKs come.
healthy() {
	fresh
	tc -n "$B" qdisc add dev b0 root onramp
	spawn dcload client --netns "$A" --to "$B4" --flows 2 --duration 600
	wait_for 20 stats_reach acks 50
	doctor "$A" 0
	doctor "$B" 0
	stop "$SPAWNED" KILL
	wait_for 20 no_connections
}

queues() {
	ip link add a1 netns "$A" numtxqueues 2 numrxqueues 2 type veth \
		peer b1 netns "$B" numtxqueues 2 numrxqueues 2
	in_ns "$A" ethtool -L a1 tx 2 rx 2 || :
	ip -n "$A" link set a1 up
	tc -n "$A" qdisc replace dev a1 root handle 1: onramp
	doctor "$A" 1 MQ_ROOT
	says 'a1: 2 queues behind one qdisc'
	tc -n "$A" qdisc del dev a1 root
	tc -n "$A" qdisc replace dev a1 root handle 1: mq
	tc -n "$A" qdisc replace dev a1 parent 1:1 onramp
	tc -n "$A" qdisc replace dev a1 parent 1:2 fq
	doctor "$A" 1 MIXED_LEAVES
	says 'a1: 1 of 2 queues have fq'
	tc -n "$A" qdisc replace dev a1 parent 1:2 onramp
	doctor "$A" 0
	ip -n "$A" link del a1
}

settings() {
	fresh mode off
	doctor "$A" 0 MODE_OFF
	fresh threshold 50us line_rate 1gbit
	doctor "$A" 1 GSO_SIZE
	says 'a batch of 65536 bytes takes 524 us, the threshold is 50 us'
	fresh threshold 1ms line_rate 1gbit
	doctor "$A" 0
}

# A filter in front of the sender, when it asks an address that it has not heard of.
blocked() {
	fresh
	ip -n "$B" addr add $OTHER/24 dev b0
	ip -n "$A" neigh replace $OTHER lladdr $MAC_B dev a0 nud permanent
	tc -n "$A" qdisc add dev a0 clsact
	tc -n "$A" filter add dev a0 ingress protocol ip u32 \
		match ip protocol 17 0xff match ip dport 299 0xffff action drop
	connect $OTHER 1
	again
	wait_for 60 listed_as $OTHER silent
	doctor "$A" 2 OR_PORT_BLOCKED
	says "never answered ($OTHER)"
	# It can wait.
	$CTL doctor mute OR_PORT_BLOCKED 1h
	doctor "$A" 0
	says 'muted: OR_PORT_BLOCKED'
	$CTL doctor unmute OR_PORT_BLOCKED
	tc -n "$A" qdisc del dev a0 clsact
	stop "$CLIENT" KILL
}

keys() {
	fresh
	ns_set "$A" or_port/key 000102030405060708090a0b0c0d0e0f
	spawn dcload client --netns "$A" --to "$B4" --flows 1 --duration 600
	wait_for 30 wrong_key
	ns_set "$A" or_port/key none
	wait_for 60 listed_as "$B4" subscribed
	stop "$SPAWNED" KILL
	wait_for 20 no_connections
}

# SUBSCRIBEs come every second at first.
wrong_key() {
	doctor "$B" 2 KEY_MISMATCH
}

# A process of that name, which waits.
named() {
	echo "$1" >"/proc/$BASHPID/comm"
	read -r _ <"$KSFT_TMP/never"
}

daemons() {
	local other

	mkfifo "$KSFT_TMP/never"
	spawn named chronyd
	other=$SPAWNED
	spawn named ntpd
	fresh
	doctor "$A" 1 TWO_DAEMONS
	says 'chronyd, ntpd'
	stop "$other" KILL
	doctor "$A" 0
	stop "$SPAWNED" KILL
}

ecn() {
	ns_set "$A" ipv4/tcp_congestion_control timely ipv4/tcp_ecn 1
	doctor "$A" 1 ECN_TIMELY
	ns_set "$A" ipv4/tcp_congestion_control cubic ipv4/tcp_ecn 2
}

# No program sets the clock any more.
clock() {
	ns_set "$A" ipv4/tcp_congestion_control timely
	"$KSFT_DIR/clock_helper" unsynced
	doctor "$A" 0 TIMELY_CLOCK
	ns_set "$A" ipv4/timely/profile paper
	doctor "$A" 0
	"$KSFT_DIR/clock_helper" synced
	ns_set "$A" ipv4/timely/profile auto
	doctor "$A" 0
	ns_set "$A" ipv4/tcp_congestion_control cubic
}

# Nearly all that it looks at is for everybody.
nobody() {
	local status=0

	in_ns "$A" su -s /bin/sh nobody -c "onrampctl -i 0 doctor" \
		>"$KSFT_TMP/report" 2>&1 || status=$?
	cat "$KSFT_TMP/report"
	expect status "$status" -eq 0
}

no_module() {
	local status=0

	$CTL doctor >"$KSFT_TMP/out" 2>"$KSFT_TMP/err" || status=$?
	cat "$KSFT_TMP/out" "$KSFT_TMP/err"
	expect status "$status" -eq 3
	expect lines "$(cat "$KSFT_TMP/out" "$KSFT_TMP/err" | wc -l)" -eq 1
}

ksft_plan 11
ksft_case "without modules" no_module
need_module tcp_timely
need_module or_acker
ready
"$KSFT_DIR/clock_helper" synced
undo "$KSFT_DIR/clock_helper unsynced"
serve "$B"
spawn "$KSFT_DIR/connect_helper" serve "$B" $PORT
ksft_case "a device without the qdisc" absent
ksft_case "a healthy pair has no finding" healthy
ksft_case "qdiscs and queues" queues
ksft_case "settings" settings
ksft_case "different keys" keys
ksft_case "two programs that set the clock" daemons
ksft_case "ECN under timely" ecn
ksft_case "the clock under timely" clock
ksft_case "without root" nobody
# Last: a silent peer is not asked again for a while.
ksft_case "a filter, and muting" blocked
