#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Devices, namespaces and the module go under load, and settings change.
#
#	A a0 ---------- b0 B
. "$(dirname "$0")/or_acker_lib.sh"

C=$(ns_name C)

# busy NAMESPACE FROM TO: data and SUBSCRIBEs without end, of a sender that drains its path; sets BUSY.
busy() {
	spawn bash -c "
		n=1000
		while :; do
			n=\$((n + 1))
			nsenter --net=/run/netns/$1 '$HELPER' subscribe $2 $3 count=\$n \
				caps=0x11 >/dev/null
			nsenter --net=/run/netns/$1 '$HELPER' send $2 $3 7001 \
				1000000 flows=4
		done"
	BUSY=$SPAWNED
}

acking() {
	wait_for 20 acker_is "$1" AckSent -gt 0
}

unload() {
	local i

	busy "$A" "$V4_A" "$V4_B"
	for i in $(seq "$(often 4 10)"); do
		acking "$B"
		rmmod or_acker
		modprobe or_acker
	done
	acking "$B"
	stop "$BUSY" KILL
	reload
}

settings() {
	local i

	busy "$A" "$V4_A" "$V4_B"
	acking "$B"
	for i in $(seq "$(often 8 50)"); do
		acker_set "$B" mode all ack_packets 1 max_flows 1 stamps hardware \
			max_subscribers 1 flow_age_s 1 drain 0
		acker_set "$B" mode subscribed ack_packets 10 max_flows 65536 \
			stamps software max_subscribers 4096 flow_age_s 30 drain 1
	done
	stop "$BUSY" KILL
	reload
}

# By IPv6 as well: routes are of the namespace, and subscribers keep them.
namespace_exit() {
	local i net

	for i in 1 2 3 4 5; do
		ns_add "$C"
		net=10.79.$i.
		[ $((i % 2)) -eq 0 ] || net=fd79:$i::
		veth_pair "$A" "a$i" "${net}1" "$C" c0 "${net}2"
		# Senders of data that was in a queue are told to drain it.
		tc -n "$A" qdisc add dev "a$i" root netem delay 1us limit 10000
		sink "$C"
		busy "$A" "${net}1" "${net}2"
		acking "$C"
		# The socket of the sink would keep it.
		stop "$SPAWNED" KILL
		spawn in_ns "$A" "$HELPER" forge "${net}1" "${net}2" replay 100000
		ns_del "$C"
		pkill_sink
		stop "$SPAWNED" KILL
	done
}

# Sinks of namespaces that have no name any more.
pkill_sink() {
	local pid

	while read -r pid; do
		[ "$pid" = "$SINK" ] || kill -9 -- "-$pid" 2>/dev/null || :
	done <"$KSFT_TMP/pids"
}

device_gone() {
	local i

	for i in 1 2 3 4 5; do
		veth_pair "$A" x0 "10.80.$i.1" "$B" y0 "10.80.$i.2"
		busy "$A" "10.80.$i.1" "10.80.$i.2"
		mark "$B"
		wait_for 20 acked_more
		ip -n "$B" link del y0
		stop "$BUSY" KILL
	done
	reload
}

acked_more() {
	since "$B" AckSent -gt 0
}

ksft_plan 5
need_acker
net_pair
sink "$B"
SINK=$SPAWNED
ksft_case "the module goes under load" unload
ksft_case "settings change under load" settings
ksft_case "devices go under load" device_gone
ksft_case "namespaces go under load" namespace_exit
ksft_case "and it works as before" exact "$A" "$V4_A" "$V4_B" "$B" 500000
