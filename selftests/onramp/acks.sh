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
	# SUBSCRIBE, CHALLENGE, SUBSCRIBE and OR-ACK take a while on a busy machine.
	load_until acks 1 --to "$B4" --flows 1
	# The last one is about a connection that stays open.
	was=$(stat acks)
	wait_for 20 again_and stats_reach acks $((was + 1))
	# On-Ramp no longer follows the other one after some seconds.
	wait_for 60 connections_are 1
}

# again_and COMMAND...: with data
again_and() {
	again
	sleep 0.2
	"$@"
}

connections_are() {
	stat connections -eq "$1"
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
		again
		sleep 0.2
	done
	refuses late acks_implausible
}

# other_version KIND COUNTER: the port drops those.
other_version() {
	local before

	before=$(port "$2")
	acker forge "$1" $many
	wait_for 20 port_is "$2" $((before + many))
}

port() {
	proc_count or_port "$A" "$@"
}

port_is() {
	port "$1" -eq "$2"
}

sent() {
	port TxSent
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

# challenged KIND: CHALLENGEs that are forged, about another SUBSCRIBE or too many have no
# answer.
challenged() {
	local before subscribes refused

	wait_for 60 sent_shot
	before=$SENT
	subscribes=$(shown subscribes)
	refused=$(shown challenges_refused)
	acker forge "$1" 5000
	wait_for 20 stats_reach challenges_refused $((refused + 4990))
	wait_for 60 sent_shot
	expect "messages sent" "$SENT" -eq $((before + $(shown subscribes) - subscribes))
	expect "SUBSCRIBEs" "$(($(shown subscribes) - subscribes))" -le $((20 * SLOW))
}

# forgetful: a receiver that was started again asks for a proof. It has one by the next
# renewal at the latest, 20 s and a quarter, or by the next try, in 37 s at most. Its OR-ACKs count although their counts are lower than before.
forgetful() {
	local challenges acks

	# Often enough that the old counts do not age.
	spawn_load "$A" --to "$B4" --flows 1 --rate-limit 10mbit --duration 600
	challenges=$(acked challenges)
	acker forget
	wait_for 60 challenges_are $((challenges + 1))
	acks=$(stat acks)
	wait_for 10 stats_reach acks $((acks + 1))
	expect "CHALLENGEs" "$(acked challenges)" -eq $((challenges + 1))
	stop "$SPAWNED" KILL
	wait_for 60 no_connections
}

challenges_are() {
	[ "$(acked challenges)" -ge "$1" ]
}

# anew: both hosts from the start, so that nobody has subscribed.
anew() {
	stop "$ACKER" KILL
	ns_del "$A"
	ns_del "$B"
	quiet_pair
	acker_start
	serve "$B"
}

# doubtful: a receiver that is never content makes this host send two SUBSCRIBEs where else
# there is one: not one for each CHALLENGE.
doubtful() {
	local heard

	anew
	fresh
	acker doubt 1
	heard=$(acked heard)
	load "$A" --to "$B4" --flows 1 --rate-limit 10mbit --duration 3
	heard=$(($(acked heard) - heard))
	# By time: six in 3 s.
	expect "SUBSCRIBEs" "$heard" -ge 2
	expect "SUBSCRIBEs" "$heard" -le 20
	acker doubt 0
}

# shared_key: OR-ACKs count for those who have the same key, and for nobody else.
shared_key() {
	anew
	ns_set "$A" or_port/key 00000000000000000000000000000005
	acker psk 6
	fresh owd synced line_rate 400gbit threshold 500ms ack_timeout 10s
	load "$A" --to "$B4" --flows 1 --rate-limit 10mbit --duration 1
	expect "SUBSCRIBEs that were believed" "$(acked heard)" -eq 0
	expect acks "$(stat acks)" -eq 0
	acker psk 5
	load_until acks 1 --to "$B4" --flows 1 --rate-limit 10mbit
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

# lone: data that finds no other packet takes the fast path, and is recorded as any other.
lone() {
	local packets

	fresh owd synced nobound line_rate 400gbit threshold 500ms ack_timeout 10s
	load_until acks 20 --to "$B4" --flows 1 --rate-limit 1mbit
	shot
	packets=$(shown packets)
	expect fastpath "$(shown fastpath)" -ge $((packets * 3 / 4))
	expect "acks_not_in_flight" "$(shown acks_not_in_flight)" -eq 0
	echo "measured: $(shown fastpath) of $packets packets"
}

ksft_plan 27
ready
acker_start
serve "$B"
spawn "$KSFT_DIR/connect_helper" serve "$B" $PORT
connect "$B4" 1
ksft_case "good ones count" good
for kind in tag short long reserved protocol value replay old; do
	ksft_case "refused: $kind" refuses $kind acks_$kind
done
ksft_case "refused: about other addresses" refuses other acks_unsupported
ksft_case "refused: about several connections" refuses several acks_unsupported
ksft_case "refused: no such connection" refuses flow acks_no_flow
ksft_case "refused: not in flight" refuses seq acks_not_in_flight
ksft_case "refused: a delay of 20 s" late
ksft_case "refused: from a host that no data is sent to" refuses peer acks_no_peer
ksft_case "refused: of version 1" other_version version1 RxVersion1
ksft_case "refused: of another version" other_version version RxOtherVersion
ksft_case "20,000 forged ones are not answered" answers
for kind in c-tag c-count c-again c-short; do
	ksft_case "CHALLENGEs that are refused: $kind" challenged $kind
done
ksft_case "a receiver that forgets" forgetful
ksft_case "a receiver that is never content" doubtful
ksft_case "a pre-shared key" shared_key
ksft_case "OR-ACKs get lost" ambiguous
ksft_case "data that is alone" lone
