#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Who is asked for OR-ACKs, and for how long: hosts nearby, while there is a connection to
# them, and none is kept out by those that do not answer. What is not about distance asks
# for "peers all", as a busy machine may take its time for what is near.
#
#	A a0 ---- b0 B b1 ---- c0 C: all of 10.78.0.0/15, nobody there answers
PEERS=''
. "$(dirname "$0")/onramp_lib.sh"

SILENT=10.78.0.1

# What there is room for then, in place of 16384 hosts.
MOST=256

three_hosts() {
	quiet_pair 2
	ns_add "$C"
	ns_set "$C" ipv6/conf/all/disable_ipv6 1 ipv6/conf/default/disable_ipv6 1
	ip link add b1 netns "$B" type veth peer c0 netns "$C"
	ip -n "$B" addr add 10.77.2.1/24 dev b1
	ip -n "$B" link set b1 up
	ip -n "$C" addr add 10.77.2.2/24 dev c0
	ip -n "$C" link set c0 up
	ip -n "$B" route add 10.78.0.0/15 via 10.77.2.2
	ip -n "$C" route add local 10.78.0.0/15 dev lo
	ip -n "$C" route add default via 10.77.2.1
	ip -n "$A" route add 10.78.0.0/15 via "$B4"
	ns_set "$B" ipv4/ip_forward 1
	spawn "$KSFT_DIR/connect_helper" serve "$B" $PORT
	SERVER=$SPAWNED
	spawn "$KSFT_DIR/connect_helper" serve "$C" $PORT
}

# delay TIME: each way from B.
delay() {
	tc -n "$B" qdisc replace dev b0 root netem delay "$1" limit 10000
}

# sent_and NAME NUMBER: with data, a statistic is that.
sent_and() {
	again
	sleep 0.3
	stat_is "$@"
}

stat_is() {
	stat "$1" -eq "$2"
}

# listed ADDRESS FIELD: of the list of peers.
listed() {
	in_ns "$A" awk -v addr="$1" -v name="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) field[$i] = i; next }
		$2 == addr { print $field[name]; found = 1 }
		END { exit !found }' /proc/net/onramp_peers
}

listed_as() {
	[ "$(listed "$1" "$2")" = "$3" ]
}

# A host of an RTT of 10 ms is sent nothing, however long a connection lasts.
far() {
	fresh
	delay 10ms
	connect "$B4" 1 3
	for _ in 1 2 3 4 5; do
		again
		sleep 0.4
	done
	expect subscribes "$(stat subscribes)" -eq 0
	expect peers "$(stat peers)" -eq 0
	expect connections "$(stat connections)" -eq 0
	expect far "$(stat far)" -eq 3
	# If asked to.
	change peers all
	again
	wait_for 10 stats_reach subscribes 2
	expect peers "$(stat peers)" -eq 1
	expect connections "$(stat connections)" -eq 3
	expect "its RTT, us" "$(listed "$B4" rtt_us)" -ge 10000
	# And not any more; nor is it later, though the peer is still known.
	change peers near
	expect connections "$(stat connections)" -eq 0
	again
	sleep 0.5
	again
	expect connections "$(stat connections)" -eq 0
	change peers 50ms
	again
	wait_for 5 stat_is connections 3
	stop "$CLIENT" KILL
	delay 0ms
}

# A queue that makes the RTT long makes no host far that is not.
queue() {
	fresh
	delay 0ms
	connect "$B4" 1
	# An RTT of a busy machine is a long one.
	wait_for 10 sent_and connections 1
	expect subscribes "$(stat subscribes)" -ge 1
	# Until then it may have been far.
	far=$(stat far)
	delay 20ms
	for _ in 1 2 3 4 5 6 7 8; do
		again
		sleep 0.3
	done
	expect connections "$(stat connections)" -eq 1
	# And for new connections.
	exec 8>&9
	first=$CLIENT
	connect "$B4" 1 4
	expect connections "$(stat connections)" -eq 5
	expect far "$(stat far)" -eq "$far"
	stop "$CLIENT" KILL
	stop "$first" KILL
	exec 8>&-
	delay 0ms
}

# What was far at first, a route that was long or a neighbour that was looked for, is near
# when that is over.
nearer() {
	fresh
	delay 20ms
	connect 10.78.0.9 1 2
	expect connections "$(stat connections)" -eq 0
	delay 0ms
	wait_for 10 sent_and connections 2
	stop "$CLIENT" KILL
}

# closes HOW...: eight connections, which HOW closes; what is left of them?
closes() {
	fresh peers all
	connect "$B4" 1 8
	wait_for 5 stat_is connections 8
	# Open and idle is not closed.
	sleep 4
	expect "connections that are idle" "$(stat connections)" -eq 8
	closed=$(stat connections_closed)
	"$@"
	wait_for 6 stat_is connections 0
	expect "control blocks given up" $(($(stat connections_closed) - closed)) -eq 8
	expect "flows" "$(stat flows)" -ge 8
	asked=$(stat subscribes)
	# Else the next ones come after 1.6, 3.2, 6.4 s.
	sleep 10
	expect subscribes "$(stat subscribes)" -eq "$asked"
	wait_for 5 listed_as "$B4" connections 0
}

by_fin() {
	stop "$CLIENT" KILL
}

# The other side is gone: A is sent RSTs, which its qdisc does not see.
by_reset() {
	stop "$SERVER" KILL
	again
	spawn "$KSFT_DIR/connect_helper" serve "$B" $PORT
	SERVER=$SPAWNED
}

to_queue() {
	tc -n "$A" filter del dev a0 egress 2>/dev/null || :
	tc -n "$A" filter add dev a0 egress protocol ip matchall \
		action skbedit queue_mapping "$1"
}

# Connections whose data left by two queues have flows in both of them.
queues() {
	tc -n "$A" qdisc del dev a0 root
	tc -n "$A" qdisc add dev a0 root handle 1: mq
	tc -n "$A" qdisc replace dev a0 parent 1:1 onramp peers all
	tc -n "$A" qdisc replace dev a0 parent 1:2 onramp peers all
	tc -n "$A" qdisc add dev a0 clsact
	to_queue 0
	connect "$B4" 1 8
	to_queue 1
	again
	wait_for 10 grep -q sent "$KSFT_TMP/out"
	sleep 0.2
	tc -n "$A" -s -j qdisc show dev a0 parent 1:1 >"$KSFT_TMP/shot"
	expect "flows of queue 1" "$(shown flows)" -ge 8
	tc -n "$A" -s -j qdisc show dev a0 parent 1:2 >"$KSFT_TMP/shot"
	expect "flows of queue 2" "$(shown flows)" -ge 8
	expect connections "$(shown connections)" -eq 8
	stop "$CLIENT" KILL
	wait_for 6 stat_is connections 0
	tc -n "$A" qdisc del dev a0 clsact
}

# Below a class that nothing else is sent in: its qdisc is not run again.
class() {
	tc -n "$A" qdisc del dev a0 root
	tc -n "$A" qdisc add dev a0 root handle 1: htb default 10
	tc -n "$A" class add dev a0 parent 1: classid 1:10 htb rate 1gbit
	tc -n "$A" qdisc add dev a0 parent 1:10 handle 10: onramp peers all
	connect "$B4" 1 8
	wait_for 5 stat_is connections 8
	stop "$CLIENT" KILL
	wait_for 6 stat_is connections 0
	# It goes, and so does its device, while connections are looked at.
	for _ in 1 2 3 4 5; do
		connect "$B4" 1 8
		stop "$CLIENT" KILL
		tc -n "$A" qdisc replace dev a0 parent 1:10 handle 10: onramp peers all
		connect "$B4" 1 8
		stop "$CLIENT" KILL
		sleep 0.7
		tc -n "$A" qdisc replace dev a0 parent 1:10 pfifo
		tc -n "$A" qdisc replace dev a0 parent 1:10 handle 10: onramp peers all
	done
	wait_for 6 stat_is connections 0
}

# More hosts than the table has room for: those that do not answer make room.
full() {
	local of=/sys/module/sch_onramp/parameters/max_peers

	# Forget what has been.
	ns_del "$A"
	ns_del "$B"
	ns_del "$C"
	three_hosts
	fresh peers all
	undo "[ ! -e $of ] || echo 16384 >$of"
	echo $MOST >$of
	forgotten=$(stat peers_evicted)
	connect "$SILENT" $((MOST + 64))
	shot
	expect "more than the table has" "$(shown connections)" -ge "$MOST"
	expect peers "$(shown peers)" -le "$MOST"
	# One is silent after six SUBSCRIBEs.
	wait_for 30 listed_as 10.78.0.200 state silent
	first=$CLIENT
	exec 8>&9
	acker_start
	connect "$B4" 1
	wait_for 5 listed_as "$B4" state subscribed
	expect "evicted" "$(stat peers_evicted)" -gt "$forgotten"
	# As many again: not one of them takes its place.
	second=$CLIENT
	exec 7>&9
	connect 10.79.0.1 $((MOST / 2))
	sleep 1
	again
	wait_for 60 grep -q sent "$KSFT_TMP/out"
	sleep 1
	expect_same "the host that answers" "$(listed "$B4" state)" subscribed
	expect "its connections" "$(listed "$B4" connections)" -eq 1
	expect peers "$(stat peers)" -le "$MOST"
	expect "hosts that made room" $(($(stat peers_evicted) - forgotten)) -ge $((MOST / 4))
	expect "lines of the list" "$(in_ns "$A" sh -c 'wc -l </proc/net/onramp_peers')" \
		-gt $((MOST * 9 / 10))
	echo "measured: $(stat peers) peers, $(stat peers_evicted) evicted, $(
		stat connections_full) times no room, $(stat subscribes) SUBSCRIBEs"
	stop "$CLIENT" KILL
	stop "$second" KILL
	stop "$first" KILL
	wait_for 10 stat_is connections 0
	stop "$ACKER" KILL
	echo 16384 >$of
	exec 7>&- 8>&- 9>&-
}

# The same for the connections of a container, X, which this host forwards: they take no more
# than there is room for, and make room for others.
forwarded() {
	local of=/sys/module/sch_onramp/parameters/max_peers forgotten first

	# Forget what has been.
	ns_del "$A"
	ns_del "$B"
	ns_del "$C"
	three_hosts
	ns_add "$X"
	veth_pair "$X" x0 10.77.3.2 "$A" h0 10.77.3.1
	ip -n "$X" route add default via 10.77.3.1
	ip -n "$B" route add 10.77.3.0/24 via "$V4_A"
	ns_set "$A" ipv4/ip_forward 1
	fresh forward on peers all
	undo "[ ! -e $of ] || echo 16384 >$of"
	echo $MOST >$of
	forgotten=$(stat peers_evicted)
	FROM=$X connect "$SILENT" $((MOST + 64))
	shot
	expect "entries" "$(shown forwarded)" -ge $((MOST + 64))
	expect peers "$(shown peers)" -le "$MOST"
	expect peers "$(shown peers)" -ge $((MOST * 9 / 10))
	first=$CLIENT
	exec 8>&9
	wait_for 30 listed_as 10.78.0.200 state silent
	FROM=$X connect 10.79.0.1 $((MOST / 2))
	again
	wait_for 60 grep -q sent "$KSFT_TMP/out"
	expect peers "$(stat peers)" -le "$MOST"
	expect "hosts that made room" $(($(stat peers_evicted) - forgotten)) -ge $((MOST / 4))
	echo "measured: $(stat peers) peers, $(stat peers_evicted) evicted, $(
		stat connections) connections"
	stop "$CLIENT" KILL
	stop "$first" KILL
	wait_for 20 stat_is connections 0
	wait_for 20 stat_is forwarded 0
	echo 16384 >$of
	ns_del "$X"
	exec 8>&- 9>&-
}

# The list: of the namespace, and of no other.
list() {
	# Forget what has been.
	ns_del "$A"
	ns_del "$B"
	ns_del "$C"
	three_hosts
	fresh peers all
	acker_start
	connect "$B4" 1 3
	first=$CLIENT
	exec 8>&9
	connect 10.78.0.7 1 2
	wait_for 5 listed_as "$B4" state subscribed
	wait_for 20 listed_as 10.78.0.7 state silent
	expect_same local "$(listed "$B4" local)" "$V4_A"
	expect connections "$(listed "$B4" connections)" -eq 3
	expect "time since an answer" "$(listed "$B4" heard_ms)" -lt 60000
	expect "its RTT, us" "$(listed "$B4" rtt_us)" -lt 100000
	expect connections "$(listed 10.78.0.7 connections)" -eq 2
	expect unanswered "$(listed 10.78.0.7 unanswered)" -ge 6
	expect_same "time since an answer" "$(listed 10.78.0.7 heard_ms)" -
	expect "peers of B" "$(in_ns "$B" sh -c 'wc -l </proc/net/onramp_peers')" -eq 1
	stop "$CLIENT" KILL
	stop "$first" KILL
	stop "$ACKER" KILL
	exec 8>&- 9>&-
}

# What On-Ramp keeps of a connection and of its host is charged to the cgroup of its socket.
charged() {
	local with without size peers

	cgroup_add
	fresh peers all
	echo "$BASHPID" >"$CGROUP/cgroup.procs"
	connect "$B4" 1 200
	again
	wait_for 20 stat_is connections 200
	with=$(slab)
	change mode off
	wait_for 20 stat_is connections 0
	without=$(slab)
	size=$(cat /sys/kernel/slab/onramp_conn/object_size)
	echo "measured: 200 connections of $size bytes: $((with - without)) bytes charged"
	# The cgroup has other objects as well, of which some go meanwhile.
	expect "bytes charged" "$((with - without))" -ge $((200 * size / 20 * 19))
	stop "$CLIENT"
	# As many connections, to as many hosts.
	fresh peers all
	connect "$SILENT" 200
	again
	wait_for 20 stat_is connections 200
	size=$(cat /sys/kernel/slab/onramp_peer/object_size)
	peers=$(($(slab) - with))
	echo "measured: 199 hosts of $size bytes more: $peers bytes charged"
	expect "bytes charged" "$peers" -ge $((199 * size / 20 * 19))
	stop "$CLIENT"
}

ksft_plan 11
need_module sch_onramp
C=$(ns_name C)
X=$(ns_name X)
three_hosts
ksft_case "hosts that are far are not asked" far
ksft_case "a queue makes no host far" queue
ksft_case "a host that turns out to be near is asked" nearer
ksft_case "connections that are closed" closes by_fin
ksft_case "connections that are reset" closes by_reset
ksft_case "connections of two queues" queues
ksft_case "connections of a class" class
ksft_case "more hosts than there is room for" full
ksft_case "more hosts than there is room for, of forwarded connections" forwarded
ksft_case "the list of peers" list
ksft_case "connections and hosts are charged to the cgroup of their socket" charged
