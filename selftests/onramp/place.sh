#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Where the qdisc can be: below mq and mqprio, by default; that its module comes when
# it is asked for and stays while it is in use.
. "$(dirname "$0")/onramp_lib.sh"

# kinds: those of a0, each once, the number of them before.
kinds() {
	tc -n "$A" qdisc show dev a0 | awk '{ print $2 }' | sort | uniq -c | awk '{ printf "%s%s ", $1, $2 }'
}

traffic() {
	send group=a n=50 group=b n=50 prio=6 group=c at=30000
	expect a "$(got a)" -eq 50
	expect b "$(got b)" -eq 50
	expect c "$(got c)" -eq 1
	in_order a b
}

mq() {
	tc -n "$A" qdisc replace dev a0 root handle 1: mq
	tc -n "$A" qdisc replace dev a0 parent 1:1 onramp limit 50
	tc -n "$A" qdisc replace dev a0 parent 1:2 onramp limit 60
	traffic
	tc -n "$A" qdisc change dev a0 parent 1:2 onramp limit 70
	expect_same limits "$(tc -n "$A" -j qdisc show dev a0 | grep -o '"limit":[0-9]*' |
		sort | tr '\n' ' ')" '"limit":50 "limit":70 '
	tc -n "$A" qdisc del dev a0 root
}

mqprio() {
	tc -n "$A" qdisc replace dev a0 root handle 1: mqprio num_tc 2 \
		map 0 0 0 0 0 0 1 1 0 0 0 0 0 0 0 0 queues 1@0 1@1 hw 0
	tc -n "$A" qdisc replace dev a0 parent 1:1 onramp
	tc -n "$A" qdisc replace dev a0 parent 1:2 onramp
	traffic
	tc -n "$A" qdisc del dev a0 root
}

by_default() {
	local before

	before=$(cat /proc/sys/net/core/default_qdisc)
	undo "echo $before >/proc/sys/net/core/default_qdisc"
	echo onramp >/proc/sys/net/core/default_qdisc
	# A veth has no queue of its own; with one it gets the default.
	tc -n "$A" qdisc replace dev a0 root handle 1: mq
	expect_same kinds "$(kinds)" "1mq 2onramp "
	traffic
	refused rmmod sch_onramp
	many_queues
	echo "$before" >/proc/sys/net/core/default_qdisc
	tc -n "$A" qdisc del dev a0 root
}

# 128 queues have nothing of their own for each CPU.
many_queues() {
	local before after

	ip -n "$A" link add q0 numtxqueues 128 type veth peer q1
	before=$(percpu)
	tc -n "$A" qdisc replace dev q0 root mq
	after=$(percpu)
	echo "measured: 128 queues take $((after - before)) KB for each CPU"
	expect "qdiscs" "$(tc -n "$A" qdisc show dev q0 | grep -c onramp)" -eq 128
	expect "KB" $((after - before)) -le 32
	ip -n "$A" link del q0
}

percpu() {
	awk '$1 == "Percpu:" { print $2 }' /proc/meminfo
}

module_is_here() {
	[ -d /sys/module/sch_onramp ]
}

comes_and_goes() {
	local sender i

	tc -n "$A" qdisc del dev a0 root 2>/dev/null || :
	wait_for 10 rmmod sch_onramp
	fresh
	module_is_here
	spawn bash -c "while :; do '$KSFT_DIR/onramp_helper' $A $B $B4 wait=0 \
		group=a n=300 group=b n=300 at=50000; done"
	sender=$SPAWNED
	for i in 1 2 3 4; do
		refused rmmod sch_onramp
		tc -n "$A" qdisc del dev a0 root
		wait_for 10 rmmod sch_onramp
		fresh
	done
	stop "$sender"
	# A namespace goes with packets in the queue.
	ns_add "$C"
	ip -n "$A" link add a1 type veth peer b1 netns "$C"
	link_up "$C" b1 10.77.9.2
	link_up "$A" a1 10.77.9.1
	tc -n "$C" qdisc add dev b1 root onramp
	"$KSFT_DIR/onramp_helper" "$C" "$A" 10.77.9.1 wait=0 group=a n=50 at=5000000
	ns_del "$C"
	tc -n "$A" qdisc del dev a0 root
	wait_for 10 rmmod sch_onramp
	modprobe sch_onramp
}

# peek(): tbf, and others that ask for the next packet before they want it.
nested() {
	tc -n "$A" qdisc replace dev a0 root handle 1: prio bands 2 \
		priomap 0 0 0 0 0 0 1 1 0 0 0 0 0 0 0 0
	tc -n "$A" qdisc add dev a0 parent 1:1 handle 2: tbf rate 80mbit burst 20000 \
		limit 1000000
	tc -n "$A" qdisc add dev a0 parent 2:1 handle 3: onramp
	tc -n "$A" qdisc add dev a0 parent 1:2 handle 4: onramp
	traffic
	expect "qlen of prio" "$(stat qlen prio)" -eq 0
	tc -n "$A" qdisc del dev a0 root
}

# ofo: segments of TCP that B received out of order.
ofo() {
	in_ns "$B" nstat -asz TcpExtTCPOFOQueue | awk '/OFOQueue/ { print $2 }'
}

# The wait for tokens is longer than the times between packets: data comes while other packets
# are still there, and goes to its flow.
in_turn() {
	local before fast packets

	below tbf rate 40mbit burst 5000 limit 1000000
	in_ns "$A" ethtool -K a0 tso off gso off >/dev/null
	before=$(ofo)
	load_until packets 500 --to "$B4" --flows 2
	fast=$(stat fastpath) packets=$(stat packets)
	echo "measured: $(($(ofo) - before)) out of order, $fast of $packets fast"
	expect fast "$fast" -le $((packets / 4))
	expect "out of order" "$(($(ofo) - before))" -eq 0
	# In real time a CPU that checks all it does is slower than the link.
	if [ "$SLOW" -eq 1 ]; then
		load "$A" --to "$B4" --flows 2 --duration 0.5
		expect "goodput" "$(loaded goodput_bit_s)" -ge 20000000
	fi
	tc -n "$A" qdisc del dev a0 root
}

# As after "Keep it over a reboot": the default qdisc, and a congestion control, of the first
# namespace. A file there asks for them.
turned_off() {
	local qdisc control etc said

	qdisc=$(cat /proc/sys/net/core/default_qdisc)
	control=$(cat /proc/sys/net/ipv4/tcp_congestion_control)
	undo "echo $qdisc >/proc/sys/net/core/default_qdisc"
	undo "echo $control >/proc/sys/net/ipv4/tcp_congestion_control"
	# A case that failed may have left it.
	tc -n "$A" qdisc del dev a0 root 2>/dev/null || :
	modprobe -a or_acker tcp_timely tcp_lipd tcp_dcqcn nic_ts
	echo onramp >/proc/sys/net/core/default_qdisc
	echo timely >/proc/sys/net/ipv4/tcp_congestion_control
	ip link add off0 numtxqueues 2 type veth peer name off1
	undo "ip link del off0"
	ip link set off0 up
	ip link add off2 type dummy
	undo "ip link del off2"
	tc qdisc replace dev off2 root onramp
	ip link add off3 numtxqueues 2 type dummy
	undo "ip link del off3"
	tc qdisc replace dev off3 root handle 1: mq
	tc qdisc replace dev off3 parent 1:2 onramp
	etc=$(mktemp -d)
	undo "rm -rf $etc"
	mkdir "$etc/sysctl.d" "$etc/modules-load.d"
	echo 'net.core.default_qdisc = onramp' >"$etc/sysctl.d/50-onramp.conf"
	printf '%s\n' '# or_acker' or_acker >"$etc/modules-load.d/onramp.conf"
	refused modprobe -r sch_onramp
	# Another namespace has less settings. It does not remove qdiscs of others.
	tc -n "$A" qdisc replace dev a0 root handle 1: mq
	tc -n "$A" qdisc replace dev a0 parent 1:1 onramp
	ONRAMP_OFF_ETC=$etc in_ns "$A" "$(dirname "$0")/onramp-off" >"$etc/said" || :
	expect_same "qdiscs of A" "$(tc -n "$A" qdisc show | grep onramp)" ""
	tc qdisc show dev off2 | grep -q onramp
	ONRAMP_OFF_ETC=$etc "$(dirname "$0")/onramp-off" >"$etc/said" || expect status $? -eq 0
	said=$(cat "$etc/said")
	expect_same modules "$(lsmod | awk '/^(onramp|sch_onramp|tcp_(timely|lipd|dcqcn)|or_|nic_ts)/ { print $1 }')" ""
	expect_same qdiscs "$(tc qdisc show | grep onramp)" ""
	# A queue of mq without a qdisc drops everything.
	expect "qdiscs of off3" "$(tc qdisc show dev off3 | grep -c 'parent 1:')" -eq 2
	modprobe sch_onramp
	expect files "$(grep -c '^	[12]:\(net.core.default_qdisc = onramp\|or_acker\)$' <<<"$said")" -eq 2
}

C=$(ns_name C)

# by_script ARG...: of tc for a root; then onramp-qdisc has a qdisc on each queue.
by_script() {
	ip -n "$A" link add q0 numtxqueues 2 type dummy
	[ $# -eq 0 ] || tc -n "$A" qdisc replace dev q0 root "$@"
	ip netns exec "$A" "$(dirname "$0")/onramp-qdisc" q0 threshold 70us
	ip netns exec "$A" "$(dirname "$0")/onramp-qdisc" q0 threshold 80us
	expect qdiscs "$(tc -n "$A" qdisc show dev q0 | grep -c '^qdisc onramp.* parent .*threshold 80us')" -eq 2
	ip -n "$A" link del q0
}

scripted() {
	by_script
	by_script handle 1: onramp
	by_script handle 1: mq
	by_script handle 2: pfifo
}

# Linux 6.15 and newer lock some devices where a qdisc begins and where they come up.
locked() {
	modprobe ksft_wire
	timeout 20 tc qdisc replace dev wire0 root onramp
	timeout 20 ip link set wire0 up
	timeout 20 ip link add link wire0 name wire0.5 type vlan id 5
	timeout 20 tc qdisc replace dev wire0.5 root onramp
	timeout 20 ip link set wire0.5 up
	timeout 20 ip link set wire0 down
	timeout 20 ip link set wire0 up
	timeout 20 ip link del wire0.5
	timeout 20 tc qdisc del dev wire0 root
	timeout 20 rmmod ksft_wire
}

ksft_plan 9
ready 2
ksft_case "below mq, a setting of its own for each queue" mq
ksft_case "below mqprio" mqprio
ksft_case "as net.core.default_qdisc" by_default
ksft_case "onramp-qdisc, whatever is at the root" scripted
if modinfo ksft_wire >/dev/null 2>&1; then
	ksft_case "a device whose driver has a lock" locked
else
	ksft_skip "a device whose driver has a lock" "packages have no modules of tests"
fi
ksft_case "the module comes when it is asked for, and goes under load" comes_and_goes
ksft_case "below prio and tbf" nested
serve "$B"
ksft_case "data of TCP takes its turn below tbf" in_turn
ksft_case "onramp-off takes all of it back, in an order that works" turned_off
