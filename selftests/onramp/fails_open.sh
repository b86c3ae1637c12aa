#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Whatever is missing, goes away or comes to nothing: data flows as with fq.
. "$(dirname "$0")/onramp_lib.sh"

# Data all the time, of which acker_helper can see each packet.
rate='--rate-limit 1mbit --chunk 4K'

# OR-ACKs are late on a busy machine.
synced='owd synced nobound line_rate 400gbit threshold 500ms ack_timeout 10s'

transfer() {
	load "$A" --to "$B4" --flows 4 --rate-limit 5mbit --warmup 1 --duration 0.3
	expect goodput "$(loaded goodput_bit_s)" -gt $((1000000 / SLOW))
}

# The peer runs nothing: a few SUBSCRIBEs, fewer and fewer, are all that it sees.
nobody() {
	fresh
	transfer
	expect peers "$(stat peers)" -eq 1
	expect acks "$(stat acks)" -eq 0
	expect pauses "$(stat pauses)" -eq 0
	# 0.1, 0.2, 0.4 ... s: six in 3 s, not one in each.
	load "$A" --to "$B4" --flows 1 --rate-limit 5mbit --duration 3
	expect subscribes "$(stat subscribes)" -ge 2
	expect subscribes "$(stat subscribes)" -le 10
}

# The receiver goes away in the middle of pauses.
receiver_dies() {
	# shellcheck disable=SC2086
	fresh $synced max_pause 10ms
	acker_start
	acker delay 3000000
	# shellcheck disable=SC2086
	spawn_load "$A" --to "$B4" --flows 4 $rate --duration 600
	wait_for 60 stats_reach pauses 5
	stop "$ACKER" KILL
	# Nothing is paused any more, though data flows.
	sleep 0.2
	shot
	pauses=$(shown pauses)
	packets=$(shown packets)
	wait_for 20 stats_reach packets $((packets + 500))
	expect pauses "$(stat pauses)" -eq "$pauses"
	stop "$SPAWNED" KILL
}

# Somebody else has the port; it is said once, and counted.
port_taken() {
	ns_del "$A"
	ns_del "$B"
	quiet_pair
	serve "$B"
	spawn "$KSFT_DIR/acker_helper" serve "$A" a0 "$KSFT_TMP/other"
	OTHER=$SPAWNED
	wait_for 10 "$KSFT_DIR/acker_helper" "$KSFT_TMP/other" stats
	fresh
	transfer
	expect port_errors "$(stat port_errors)" -ge 1
	expect subscribes "$(stat subscribes)" -eq 0
	expect pauses "$(stat pauses)" -eq 0
	stop "$OTHER" KILL
}

# forget: a receiver that went away before this case is asked again later and later.
forget() {
	tc -n "$A" qdisc del dev a0 root 2>/dev/null || :
	wait_for 10 rmmod sch_onramp
	modprobe sch_onramp
}

# paused_load: connections that are paused again and again.
paused_load() {
	forget
	acker_start
	acker delay 3000000
	# shellcheck disable=SC2086
	fresh $synced max_pause 5ms "$@"
	# shellcheck disable=SC2086
	spawn_load "$A" --to "$B4" --flows 20 $rate --duration 600
	LOAD=$SPAWNED
	wait_for 60 stats_reach pauses 20
}

# Devices go down and come up, qdiscs are replaced and deleted.
under_load() {
	local i

	paused_load
	for i in $(seq "$(often 3 10)"); do
		ip -n "$A" link set a0 down
		ip -n "$A" link set a0 up
		ip -n "$A" neigh replace "$B4" lladdr $MAC_B dev a0 nud permanent
		# shellcheck disable=SC2086
		fresh $synced max_pause ${i}ms
		sleep 0.1
		change mode strawman
		change buckets $((1 << i))
		change mode off
		sleep 0.05
		change mode final
		sleep 0.1
	done
	wait_for 60 stats_reach pauses 1
	tc -n "$A" qdisc del dev a0 root
	stop "$LOAD" KILL
	stop "$ACKER" KILL
}

# The module goes while connections that it has paused go on.
unloaded() {
	local i

	for i in $(seq "$(often 2 5)"); do
		modprobe sch_onramp
		paused_load
		refused rmmod sch_onramp
		tc -n "$A" qdisc del dev a0 root
		rmmod sch_onramp
		stop "$LOAD" KILL
		stop "$ACKER" KILL
	done
	modprobe sch_onramp
}

# And so does the namespace.
namespace_exits() {
	local i

	for i in $(seq "$(often 2 5)"); do
		paused_load
		ns_del "$A"
		stop "$LOAD" KILL
		stop "$ACKER" KILL
		ns_del "$B"
		quiet_pair
		serve "$B"
	done
	# Nothing of it holds the module.
	wait_for 20 rmmod sch_onramp
	modprobe sch_onramp
}

# making_room: eight hosts that do not answer make room for eight others. Their
# works, which let go of the port, run or are about to.
making_room() {
	local evicted

	forget
	ip -n "$A" route replace 10.78.0.0/15 via "$B4"
	ip -n "$B" route replace local 10.78.0.0/15 dev lo
	spawn "$KSFT_DIR/connect_helper" serve "$B" $PORT
	SERVER=$SPAWNED
	echo 8 >/sys/module/sch_onramp/parameters/max_peers
	fresh
	evicted=$(stat peers_evicted)
	connect 10.78.0.1 8
	# Each has the port.
	wait_for 10 stats_reach subscribes 8
	stop "$CLIENT" KILL
	wait_for 10 stat_is connections 0
	connect 10.79.0.1 8
	stop "$CLIENT" KILL
	expect "hosts that made room" "$(($(stat peers_evicted) - evicted))" -eq 8
}

stat_is() {
	stat "$1" -eq "$2"
}

# The namespace goes, and then the module, while works of peers that are in no list still use it.
making_room_exits() {
	making_room
	ns_del "$A"
	stop "$SERVER" KILL
	ns_del "$B"
	quiet_pair
	making_room
	tc -n "$A" qdisc del dev a0 root
	wait_for 20 rmmod sch_onramp
	stop "$SERVER" KILL
	modprobe sch_onramp
	ns_del "$B"
	ns_del "$A"
	quiet_pair
	serve "$B"
}

# Short connections by the thousand, each followed for as long as fq keeps its flow.
many() {
	forget
	# shellcheck disable=SC2086
	fresh $synced
	acker_start
	load "$A" --to "$B4" --flow-churn "$(often 1000 20000)" --parallel 64 --size 2K --duration 300
	expect connections "$(stat connections)" -le "$(stat flows)"
	expect acks "$(stat acks)" -gt 0
	expect no_connection "$(stat no_connection)" -eq 0
	expect connections_full "$(stat connections_full)" -eq 0
	expect peers "$(stat peers)" -eq 1
	echo "measured: $(stat connections) connections are kept, $(stat acks) OR-ACKs"
	change mode off
	expect connections "$(stat connections)" -eq 0
	stop "$ACKER" KILL
}

ksft_plan 8
ready
serve "$B"
ksft_case "a peer without On-Ramp" nobody
ksft_case "a receiver that goes away" receiver_dies
ksft_case "devices and qdiscs that come and go under load" under_load
ksft_case "thousands of connections" many
ksft_case "the module goes under load" unloaded
ksft_case "the namespace goes under load" namespace_exits
ksft_case "namespace and module go while peers make room" making_room_exits
ksft_case "the port is taken" port_taken
