#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Packets that do not leave: counters of the qdisc and of those above it stay exact.
#
# Datagrams that are to leave in 9 s are what is in the queue; 200 bytes of payload.
. "$(dirname "$0")/onramp_lib.sh"

later=at=9000000
bytes=$(frame 200)

# under PARENT: an onramp as root, or below another qdisc.
under() {
	ABOVE=
	case $1 in
	root)	fresh ;;
	tbf)	ABOVE=tbf
		below tbf rate 1gbit burst 100000 limit 10000000 ;;
	prio)	ABOVE=prio
		below prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 ;;
	htb)	ABOVE=htb
		tc -n "$A" qdisc del dev a0 root 2>/dev/null || :
		tc -n "$A" qdisc add dev a0 root handle 2: htb default 1
		tc -n "$A" class add dev a0 parent 2: classid 2:1 htb rate 1gbit \
			quantum 2000
		tc -n "$A" qdisc add dev a0 parent 2:1 handle 1: onramp ;;
	esac
}

child() {
	if [ -n "$ABOVE" ]; then
		tc -n "$A" qdisc change dev a0 parent 2:1 onramp "$@"
	else
		change "$@"
	fi
}

flow_limit() {
	child flow_limit 10
	send wait=0 group=a n=25 len=200 $later group=b n=5 len=200 $later
	holds 15 $((15 * bytes))
	expect flows_plimit "$(stat flows_plimit)" -eq 15
	expect drops "$(stat drops)" -eq 15
}

# Each band has a limit of its own.
band_limit() {
	child limit 20
	send wait=0 group=a n=30 len=200 prio=1 $later group=b n=25 len=200 prio=0 $later \
		group=c n=5 len=200 prio=6 $later
	holds 45 $((45 * bytes))
	expect "drops of band 2" "$(stat band2_drops)" -eq 10
	expect "drops of band 1" "$(stat band1_drops)" -eq 5
	expect "drops of band 0" "$(stat band0_drops)" -eq 0
}

horizon() {
	child horizon 4s
	send wait=0 group=a n=9 len=200 $later group=b n=4 len=200 at=3900000
	expect horizon_drops "$(stat horizon_drops)" -eq 9
	holds 4 $((4 * bytes))
}

# Of what is in the queue, down to the new limit, as many of each flow.
lower_limit() {
	send wait=0 group=a n=40 len=200 $later group=b n=40 len=200 at=9000000 step=-1000 \
		group=c n=40 len=200 $later prio=1
	holds 120 $((120 * bytes))
	child limit 30
	holds 60 $((60 * bytes))
	expect change_drops "$(stat change_drops)" -eq 60
	expect "band 1" "$(stat band1_pkts)" -eq 30
	expect "band 2" "$(stat band2_pkts)" -eq 30
	child limit 1
	holds 2 $((2 * bytes))
	expect change_drops "$(stat change_drops)" -eq 118
}

# What is left leaves, and then nothing is in there.
rest_leaves() {
	send wait=0 group=a n=40 len=200 at=4000000 group=b n=40 len=200 at=4000000 step=-100
	child limit 50
	send wait=6000 group=c n=1 len=200 prio=6
	holds 0 0
	expect change_drops "$(stat change_drops)" -eq 30
	expect packets "$(stat packets)" -eq 51
}

down() {
	send wait=0 group=a n=17 len=200 $later group=b n=3 len=200 at=9000000 step=-1
	holds 20 $((20 * bytes))
	ip -n "$A" link set a0 down
	holds 0 0
	expect purged "$(stat purged)" -eq 20
	expect flows "$(stat flows)" -eq 0
	ip -n "$A" link set a0 up
	ip -n "$A" neigh replace "$B4" lladdr "$MAC_B" dev a0 nud permanent
	send wait=200 group=a n=3 len=200
	expect a "$(got a)" -eq 3
	holds 0 0
}

# tbf asks what the next packet is, and takes it later.
replaced() {
	send wait=0 group=a n=17 len=200 $later
	holds 17 $((17 * bytes))
	if [ -n "$ABOVE" ]; then
		tc -n "$A" qdisc replace dev a0 parent 2:1 handle 3: pfifo
		expect "qlen of $ABOVE" "$(stat qlen "$ABOVE")" -eq 0
		expect "backlog of $ABOVE" "$(stat backlog "$ABOVE")" -eq 0
	else
		tc -n "$A" qdisc replace dev a0 root handle 3: pfifo
	fi
	refused stat qlen
}

all_of() {
	local what

	for what in flow_limit band_limit horizon lower_limit rest_leaves down replaced; do
		echo "$what below $1"
		under "$1"
		$what
	done
}

# Packets that go on coming while limits and tables change. The qdisc above has to know
# of each packet that is dropped, or it would wait for it for ever.
under_load() {
	local i sender

	under "$1"
	spawn bash -c "while :; do '$KSFT_DIR/onramp_helper' $A $B $B4 wait=0 mix=1 \
		group=a n=400 group=b n=400 rate=20000000 group=c n=400 prio=6 \
		group=d n=50 at=20000 step=-100; done"
	sender=$SPAWNED
	for i in $(seq "$(often 9 25)"); do
		child limit $((i % 3 * 40 + 1)) buckets $((2 << i % 10)) \
			flow_limit $((i % 4 * 30 + 1)) quantum $((i * 300 + 256))
		child maxrate $((i % 2 * 10))mbit
	done
	for i in 1 2 3; do
		if [ -n "$ABOVE" ]; then
			tc -n "$A" qdisc replace dev a0 parent 2:1 handle 3: pfifo
			tc -n "$A" qdisc replace dev a0 parent 2:1 handle 1: onramp
		else
			tc -n "$A" qdisc replace dev a0 root handle 3: pfifo
			fresh
		fi
	done
	stop "$sender"
	wait_for 5 empty
	holds 0 0
	send group=a n=100
	expect a "$(got a)" -eq 100
	in_order a
	holds 0 0
}

empty() {
	stat qlen -eq 0
}

ksft_plan 6
ready
ksft_case "counters are exact after every kind of drop, as root" all_of root
ksft_case "and below tbf" all_of tbf
ksft_case "and below prio" all_of prio
ksft_case "and below htb" all_of htb
ksft_case "settings change and qdiscs come and go under load" under_load root
ksft_case "settings change and qdiscs come and go under load, below htb" under_load htb
