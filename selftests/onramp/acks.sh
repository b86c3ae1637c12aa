#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# OR-ACKs that must not count: each is counted by its reason, and nothing else happens.
. "$(dirname "$0")/onramp_lib.sh"

many=500

# sum NAME...: of statistics in $KSFT_TMP/shot.
sum() {
	local name n=0

	for name; do
		n=$((n + $(shown "$name")))
	done
	echo "$n"
}

# What a believed OR-ACK changes.
state() {
	echo "$(shown pauses) $(shown acks) $(shown peers) $(shown connections) $(
		shown flows) $(shown subscribes)"
}

good() {
	fresh owd synced nobound line_rate 400gbit threshold 500ms ack_timeout 10s
	ip -n "$B" addr add 10.77.1.99/24 dev b0
	load "$A" --to "$B4" --flows 1 --warmup 1 --duration 0.2
	expect acks "$(stat acks)" -gt 0
}

# refuses KIND STATISTIC
refuses() {
	local before after counted

	shot
	before=$(state)
	counted=$(shown "$2")
	acker forge "$1" $many
	wait_for 20 stats_reach "$2" $((counted + many))
	shot
	after=$(state)
	expect "$2" "$(shown "$2")" -eq $((counted + many))
	# The last word is of SUBSCRIBEs, which go on by time.
	expect_same "pauses, OR-ACKs, peers, connections, flows" "${after% *}" "${before% *}"
}

# The last data may have gone out twice, on a busy machine: then it is ambiguous.
late() {
	local before i

	for i in 1 2 3 4 5 6 7 8 9 10; do
		before=$(stat acks_implausible)
		acker forge late 1
		wait_for 2 stats_reach acks_implausible $((before + 1)) && break
		load "$A" --to "$B4" --flows 1 --warmup 1 --duration 0.05
	done
	refuses late acks_implausible
}

# Of another version: the port drops those.
other_version() {
	local before

	before=$(in_ns "$A" awk '$1 == "RxOtherVersion" { print $2 }' /proc/net/or_port)
	acker forge version $many
	wait_for 20 other_versions $((before + many))
}

other_versions() {
	[ "$(in_ns "$A" awk '$1 == "RxOtherVersion" { print $2 }' /proc/net/or_port)" = "$1" ]
}

sent() {
	in_ns "$A" awk '$1 == "TxSent" { print $2 }' /proc/net/or_port
}

# One moment: nothing was sent while both were looked at.
sent_shot() {
	SENT=$(sent)
	shot
	[ "$(sent)" = "$SENT" ]
}

# Nothing is ever answered: A sends SUBSCRIBEs, by time, and nothing else.
answers() {
	local before subscribes

	wait_for 60 sent_shot
	before=$SENT
	subscribes=$(shown subscribes)
	acker forge tag 20000
	wait_for 60 stats_reach acks_tag 20000
	wait_for 60 sent_shot
	expect "messages sent" "$SENT" -eq $((before + $(shown subscribes) - subscribes))
	expect "SUBSCRIBEs" "$(($(shown subscribes) - subscribes))" -le $((20 * SLOW))
}

# Data that went out twice: the receiver can't know which of them it got. At a rate that the
# helper can follow.
ambiguous() {
	fresh owd synced nobound line_rate 400gbit threshold 500ms ack_timeout 10s
	tc -n "$B" qdisc replace dev b0 root netem loss 5%
	load_until acks 1 --to "$B4" --flows 2 --rate-limit 10mbit
	load_until acks_ambiguous 1 --to "$B4" --flows 2 --rate-limit 10mbit
	tc -n "$B" qdisc del dev b0 root
	expect pauses "$(stat pauses)" -eq 0
	echo "measured: $(stat acks_ambiguous) ambiguous, $(stat acks_not_in_flight) not in flight"
}

ksft_plan 16
ready
acker_start
serve "$B"
ksft_case "good ones count" good
for kind in tag short long reserved protocol value replay old; do
	ksft_case "refused: $kind" refuses $kind acks_$kind
done
ksft_case "refused: no such connection" refuses flow acks_no_flow
ksft_case "refused: not in flight" refuses seq acks_not_in_flight
ksft_case "refused: a delay of 20 s" late
ksft_case "refused: from a host that no data is sent to" refuses peer acks_no_peer
ksft_case "refused: of another version" other_version
ksft_case "20,000 forged ones are not answered" answers
ksft_case "OR-ACKs get lost" ambiguous
