#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Forwarded connections on two CPUs and two queues, while all that they need changes and goes.
#
#	C c0 ---- h0 A a0 ==== b0 B
. "$(dirname "$0")/workloads_lib.sh"

hosts() {
	local cpus

	quiet_pair 2
	# On all CPUs: reordering is no matter here.
	cpus=$(printf '%x' $(((1 << $(nproc)) - 1)))
	for name in "$A" "$B"; do
		ns_set "$name" ipv4/ip_forward 1 ipv4/tcp_orphan_retries 1 \
			ipv6/conf/all/disable_ipv6 0 ipv6/conf/default/disable_ipv6 0
		ip netns exec "$name" sh -c \
			"echo $cpus | tee /sys/class/net/[ab]0/queues/rx-*/rps_cpus" >/dev/null
	done
	container "$C" c0 "$A" h0 10.77.3.2 fd77:3::2
	ns_set "$C" ipv4/tcp_orphan_retries 1
	ip -n "$B" route add 10.77.3.0/24 via $V4_A
	serve "$B"
}

# fresh_queues [WORD...]: an onramp for each queue.
fresh_queues() {
	tc -n "$A" qdisc del dev a0 root 2>/dev/null || :
	tc -n "$A" qdisc add dev a0 root handle 1: mq
	# shellcheck disable=SC2086
	tc -n "$A" qdisc replace dev a0 parent 1:1 onramp $unpaused peers all "$@"
	# shellcheck disable=SC2086
	tc -n "$A" qdisc replace dev a0 parent 1:2 onramp $unpaused peers all "$@"
}

# change_queues WORD...: of both.
change_queues() {
	tc -n "$A" qdisc change dev a0 parent 1:1 onramp "$@"
	tc -n "$A" qdisc change dev a0 parent 1:2 onramp "$@"
}

# busy: long flows, and connections that begin and end, on both queues, from C and from A.
busy() {
	local churn=100 parallel=8 pause=0 slow=()

	# A kernel that checks all it does has no CPU for the test beside that.
	[ "$SLOW" -eq 1 ] || churn=2 parallel=1 pause=1 slow=(--rate-limit 1mbit)
	spawn dcload client --netns "$C" --rtt-sample-us 0 --to $B4 --flows 4 --duration 3600 \
		"${slow[@]}"
	LONG=$SPAWNED
	spawn bash -c "while sleep $pause; do
		dcload client --netns '$C,$A' --rtt-sample-us 0 --to $B4 --flow-churn $churn \
			--parallel $parallel --size 20K >/dev/null 2>&1 || sleep 0.1
	done"
	SHORT=$SPAWNED
}

idle() {
	stop "$SHORT" KILL
	stop "$LONG" KILL
}

# steps N M: often(), but few on a kernel that checks all it does, where each takes half a minute.
steps() {
	[ "$SLOW" -eq 1 ] || set -- "$1" "$1"
	often "$@"
}

# OR-ACKs of forwarded connections count again.
works() {
	wait_for 30 stats_reach forwarded 1
	wait_for 30 stats_reach acks $(($(stat acks) + 1))
}

# A path has one baseline, for one rate of the link: with another one on each queue it would be
# learned anew all the time.
switched() {
	local i

	busy
	for i in $(seq "$(steps 3 30)"); do
		fresh_queues forward on
		works
		change_queues forward off
		change_queues forward on mode off
		change_queues mode final
		tc -n "$A" qdisc replace dev a0 parent 1:2 fq
		# shellcheck disable=SC2086
		tc -n "$A" qdisc replace dev a0 parent 1:2 onramp $unpaused peers all forward on
	done
	works
	idle
}

# Room for few, and for all; entries age, and small ones have none.
bounded() {
	local i of=/sys/module/sch_onramp/parameters

	undo "[ ! -e $of ] || { echo 65536 >$of/max_forwarded; echo 4096 >$of/few_forwarded; }"
	busy
	fresh_queues forward on
	for i in $(seq "$(steps 3 30)"); do
		echo 2 >$of/max_forwarded
		sleep 0.2
		echo 65536 >$of/max_forwarded
		echo 1 >$of/few_forwarded
		sleep 0.2
		echo 4096 >$of/few_forwarded
		works
	done
	idle
}

# The container's device, and the host's.
devices() {
	local i

	busy
	fresh_queues forward on
	for i in $(seq "$(steps 2 20)"); do
		works
		ip -n "$A" link set h0 down
		ip -n "$A" link set a0 down
		ip -n "$A" link set a0 up
		ip -n "$A" link set h0 up
		ip -n "$A" neigh replace $B4 lladdr $MAC_B dev a0 nud permanent
	done
	works
	idle
}

# The namespaces, and the modules, with packets in the qdiscs.
goes() {
	local i name

	for i in 1 2; do
		busy
		fresh_queues forward on
		works
		if [ "$i" -eq 2 ]; then
			ns_del "$C"
		fi
		ns_del "$A"
		idle
		# A namespace is gone some time after that.
		wait_for 60 rmmod sch_onramp
		rmmod or_acker
		modprobe sch_onramp
		modprobe or_acker
		for name in "$B" "$C"; do
			[ ! -e "/run/netns/$name" ] || ns_del "$name"
		done
		hosts
	done
}

ksft_plan 4
need_module sch_onramp
need_module nic_ts
need_module or_acker
hosts
ksft_case "forwarding is switched on and off, by queue" switched
ksft_case "the table is bounded, and is not" bounded
ksft_case "devices go down, and come back" devices
ksft_case "namespaces and modules go" goes
