#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# All that happens to a host in years, at once, for $SOAK seconds (60): traffic, other
# qdiscs, settings, modules that go and come, namespaces, links and clocks that do, and
# attacks. What counts is what the kernel says: the runner of the VM looks for warnings,
# leaks, and whatever a debug kernel finds.
. "$(dirname "$0")/long_lib.sh"

SOAK=${SOAK:-60}
C=$(ns_name C)
# While it is there, no traffic: modules in use cannot be unloaded.
HUSH=$KSFT_TMP/hush

# pick WORD...: one of them. Bash's generator; each activity has its own.
pick() {
	local n=$((RANDOM % $#))

	shift $n
	echo "$1"
}

# may_load NAME: one that has tc load sch_onramp. Not while modules are unloaded: modprobe
# does not expect one that it needs to go.
may_load() {
	local flag=$KSFT_TMP/loading-$1 status=0

	touch "$flag"
	while [ -e "$HUSH" ]; do
		rm -f "$flag"
		sleep 0.2
		touch "$flag"
	done
	"$1" || status=$?
	rm -f "$flag"
	return $status
}

nobody_loads() {
	! ls "$KSFT_TMP"/loading-* >/dev/null 2>&1
}

# activity COMMAND...: run it until the end, and count how often; one that fails now and
# then meets what the others do.
activity() {
	local rounds=0 failed=0 name=${!#}

	RANDOM=$((20150817 + ${#name}))
	while [ ! -e "$KSFT_TMP/over" ]; do
		if "$@"; then
			rounds=$((rounds + 1))
		else
			failed=$((failed + 1))
		fi
		echo "$rounds $failed" >"$KSFT_TMP/rounds-$name.new"
		mv "$KSFT_TMP/rounds-$name.new" "$KSFT_TMP/rounds-$name"
		sleep 0.1
	done
}

# client NAMESPACE OPTION...: for some seconds, or until traffic has to stop.
client() {
	local name=$1 pid
	shift

	[ ! -e "$HUSH" ] || { sleep 1; return 0; }
	timeout -k 5 40 dcload client --netns "$name" --rtt-sample-us 0 "$@" &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		[ ! -e "$HUSH" ] || kill "$pid" 2>/dev/null
		sleep 0.2
	done
	wait "$pid"
}

forward() {
	client "$A" --to "$(pick "$V4_B" "[$V6_B]" $B2)" --cc timely \
		--flows "$(pick 1 4 16)" --duration "$(pick 1 3)"
}

backward() {
	client "$B" --to "$(pick "$V4_A" "[$V6_A]" $A2)" --cc "$(pick timely cubic)" \
		--flows "$(pick 1 4)" --duration 2
}

short_ones() {
	client "$A" --to "$(pick "$V4_B" $B2)" --cc timely --flow-churn 100 \
		--parallel 16 --size "$(pick 100 2K 100K)"
}

qdiscs() {
	local dev settings

	dev=$(pick a0 a1)
	settings="mode $(pick off final strawman) threshold $(pick auto 50us 1ms) \
		buckets $(pick 1 64 1024) max_pause $(pick 1ms 10ms) peers $(pick all near)"
	# shellcheck disable=SC2086 # several settings
	case $(pick root root change mq prio tbf fq none) in
	root)	tc -n "$A" qdisc replace dev "$dev" root handle 1: onramp $settings ;;
	change)	tc -n "$A" qdisc change dev "$dev" root onramp $settings ;;
	mq)	tc -n "$A" qdisc replace dev "$dev" root handle 2: mq &&
		tc -n "$A" qdisc replace dev "$dev" parent 2:1 onramp &&
		tc -n "$A" qdisc replace dev "$dev" parent 2:2 onramp ;;
	prio)	tc -n "$A" qdisc replace dev "$dev" root handle 3: prio &&
		tc -n "$A" qdisc replace dev "$dev" parent 3:2 onramp ;;
	tbf)	tc -n "$A" qdisc replace dev "$dev" root handle 4: tbf rate 200mbit \
			burst 64k latency 50ms &&
		tc -n "$A" qdisc replace dev "$dev" parent 4:1 onramp ;;
	fq)	tc -n "$A" qdisc replace dev "$dev" root fq ;;
	none)	tc -n "$A" qdisc del dev "$dev" root ;;
	esac
	tc -n "$A" -s qdisc show dev "$dev" >/dev/null
	tc -n "$A" -s class show dev "$dev" >/dev/null
}

# Those that nothing needs under load; all of them when traffic has stopped.
modules() {
	note_counters
	rmmod or_acker && modprobe or_acker || return
	rmmod tcp_timely 2>/dev/null && modprobe tcp_timely
	sleep 2
	touch "$HUSH"
	wait_for 10 nobody_loads
	tc -n "$A" qdisc del dev a0 root 2>/dev/null
	tc -n "$A" qdisc del dev a1 root 2>/dev/null
	note_counters
	wait_for 10 all_unloaded
	load_all
	rm -f "$HUSH"
	[ -d /sys/module/or_acker ] && echo 1 >>"$KSFT_TMP/reloaded"
	sleep 3
}

namespaces() {
	ip netns add "$C" || return
	ip -n "$C" link set lo up
	ip link add c0 netns "$C" type veth peer d0 netns "$B"
	link_up "$C" c0 10.77.8.1
	link_up "$B" d0 10.77.8.2
	tc -n "$C" qdisc replace dev c0 root onramp
	# Its sockets, and packets in its qdisc, outlive its name.
	client "$C" --to 10.77.8.2 --cc timely --flows 4 --duration 20 &
	sleep "$(pick 0.2 1 2)"
	ip netns del "$C"
	kill $! 2>/dev/null
	wait $!
	:
}

links() {
	local dev

	dev=$(pick a0 a1)
	case $(pick flap peer mtu offload vlan queues) in
	flap)	ip -n "$A" link set "$dev" down; ip -n "$A" link set "$dev" up ;;
	peer)	ip -n "$B" link set "b${dev#a}" down; ip -n "$B" link set "b${dev#a}" up ;;
	mtu)	ip -n "$A" link set "$dev" mtu "$(pick 1500 1400 9000)" ;;
	offload) in_ns "$A" ethtool -K "$dev" tso "$(pick on off)" gso "$(pick on off)" \
			gro "$(pick on off)" ;;
	vlan)	ip -n "$A" link add link "$dev" name vlan7 type vlan id 7 &&
		ip -n "$A" link set vlan7 up && tc -n "$A" qdisc replace dev vlan7 root onramp
		sleep 0.2
		ip -n "$A" link del vlan7 ;;
	queues)	in_ns "$A" ethtool -L a0 tx "$(pick 1 2 4)" rx "$(pick 1 2 4)" ;;
	esac >/dev/null 2>&1
	# IPv6 loses its address with the link.
	ip -n "$A" addr replace "$V6_A/64" dev a0 nodad
	ip -n "$B" addr replace "$V6_B/64" dev b0 nodad
	sleep 1
}

clocks() {
	"$LONG" step "$(pick 0.001 -0.001 10 -10 1 -1 0.000001)"
	"$LONG" slew "$(pick 500 -500 200 0)"
	"$LONG" tai "$(pick 0 37 36)"
	nic_ts clocks >/dev/null
	sleep 1
}

settings() {
	local name

	for name in "$A" "$B"; do
		params_set "$name" or_acker mode "$(pick all subscribed subscribed)" \
			ack_packets "$(pick 1 10)" max_flows "$(pick 1 100 65536)" \
			flow_age_s "$(pick 1 30)" stamps "$(pick software hardware)"
		timely_set "$name" rtt_source "$(pick auto auto tcp)"
	done
	echo "$(pick 1 16384 16384)" >/sys/module/nic_ts/parameters/max_flows
	echo "$(pick 1 300)" >/sys/module/nic_ts/parameters/flow_age_s
	in_ns "$A" nic_ts device a1 hw "$(pick on off)"
}

observers() {
	local name

	for name in "$A" "$B"; do
		in_ns "$name" cat /proc/net/timely /proc/net/or_acker /proc/net/or_port
		in_ns "$name" nic_ts stats
		in_ns "$name" nic_ts flows
		in_ns "$name" nic_ts devices
		ss -N "$name" -tin
	done >/dev/null
}

# By netlink: parts of a dump, of which the next is asked for when there is something else, of a
# host or of the namespace that comes and goes; and events. A process that dumps for two seconds
# does it more often than two that start.
dumps() {
	local what got

	what=$(pick flow flow path sub stats sock)
	spawn timeout 3 "$GENL" -n "$A" listen
	got=$(timeout 20 "$GENL" -n "$(pick "$A" "$A" "$B" "$C")" -c -t 2000 -r 4096 \
		-w "$(pick 0 0 100)" dump "$what" | tail -n 1)
	echo "$what $got" >>"$KSFT_TMP/dumped"
	[[ $got == *objects* ]]
}

# dumped WHAT: objects in all dumps of these, or of everything.
dumped() {
	awk -v what="$1" '(!what || $1 == what) && $3 == "objects" { n += $2 } END { print n + 0 }' \
		"$KSFT_TMP/dumped"
}

# What a module counted goes with it.
note_counters() {
	in_ns "$B" cat /proc/net/or_acker >>"$KSFT_TMP/acker"
}

# Each is sent, whatever becomes of the others: links and namespaces come and go.
attacks() {
	local mac sent=1

	in_ns "$A" timeout 20 "$OR" forge "$V4_A" "$V4_B" \
		"$(pick short long empty version version1 type reserved other value tag nonce \
			cookie end port)" 300 &&
		sent=0
	# To the sender of data: OR-ACKs that nobody waits for.
	in_ns "$B" timeout 20 "$OR" forge "$V4_B" "$V4_A" "$(pick ack tag version)" 300 &&
		sent=0
	in_ns "$A" timeout 20 "$OR" data "$V4_A" "$V4_B" 300 && sent=0
	in_ns "$A" timeout 20 "$FRAMES" noise a0 300 && sent=0
	mac=$(ip -n "$A" -o link show dev a0 | sed 's/.*ether \([0-9a-f:]*\).*/\1/')
	in_ns "$B" timeout 20 "$FRAMES" acks b0 "$mac" "$V4_B" "$V4_A" 5001 \
		"$(some_port)" 500 && sent=0
	return $sent
}

# some_port: of a connection of A's, or any.
some_port() {
	ss -N "$A" -Htn state established dst "$V4_B" | awk '
		{ n = split($3, part, ":"); port = part[n] } END { print port + 0 ? port : 7 }'
}

# races_on, races_off: have KCSAN look for data races, where the kernel has it.
KCSAN=/sys/kernel/debug/kcsan

races_on() {
	[ -e $KCSAN ] || return 0
	# The log has its reports, which are many: those of the kernel are among them.
	dmesg -n 1
	# CPUs that are emulated do not get far in 20 us, and on a busy host only one of them runs
	# at a time: an access is watched for as long as the host runs one.
	echo 800 >/sys/module/kcsan/parameters/skip_watch
	echo 1600 >/sys/module/kcsan/parameters/udelay_task
	echo 800 >/sys/module/kcsan/parameters/udelay_interrupt
	echo on >$KCSAN
}

races_off() {
	local n

	[ -e $KCSAN ] || return 0
	echo off >$KCSAN
	n=$(awk '$1 == "setup_watchpoints:" { print $2 }' $KCSAN)
	echo "measured: KCSAN watched $n accesses"
	expect "accesses that KCSAN watched" "$n" -gt 10000
}

ACTIVITIES='forward backward short_ones qdiscs modules namespaces links clocks settings
	observers dumps attacks'

all_at_once() {
	local name pids=() counted failed

	rm -f "$KSFT_TMP/over"
	# Until a round changes it: RTTs of a slow machine are above those of the default.
	tc -n "$A" qdisc replace dev a0 root handle 1: onramp peers all
	races_on
	for name in $ACTIVITIES; do
		case $name in
		qdiscs|namespaces|links) spawn activity may_load "$name" ;;
		*)	spawn activity "$name" ;;
		esac
		pids+=("$SPAWNED")
	done
	sleep "$SOAK"
	touch "$KSFT_TMP/over"
	for name in "${pids[@]}"; do
		wait_for 60 gone "$name"
	done
	rm -f "$HUSH"
	races_off
	note_counters
	for name in $ACTIVITIES; do
		counted=$(cat "$KSFT_TMP/rounds-$name")
		echo "measured: $name: ${counted% *} rounds, ${counted#* } that met another"
	done
	for name in SubscribersNew FlowsNew PacketNoSocket PacketOutsideWindow AckSent; do
		echo "measured: or_acker: $name $(noted $name)"
	done
	for name in flow path sub stats sock; do
		echo "measured: dumps of $name: $(dumped "$name") in $(grep -c "^$name " "$KSFT_TMP/dumped") times 2 s"
	done
	tail -n 5 "$KSFT_TMP/spawned"
	# A minute on a slow machine is short: some get no further than to be interrupted.
	for name in $ACTIVITIES; do
		read -r counted failed <"$KSFT_TMP/rounds-$name"
		[ "$SOAK" -ge 300 ] || counted=$((counted + failed))
		expect "rounds of $name" "$counted" -gt 0
	done
	expect "times all modules were reloaded" "$(wc -l <"$KSFT_TMP/reloaded")" -gt 0
	[ "$SOAK" -ge 300 ] || return 0
	expect "objects in dumps" "$(dumped '')" -gt 0
	expect "OR-ACKs that were sent" "$(noted AckSent)" -gt 0
}

# Where KCSAN is, for a while packets alone: of all that goes on at once they are little, and
# so are the accesses of theirs that it watches.
packets() {
	local pids=() pid to

	load_all
	tc -n "$A" qdisc replace dev a0 root onramp
	tc -n "$B" qdisc replace dev b0 root onramp
	in_ns "$A" nic_ts device a1 hw on
	races_on
	for to in "$A $V4_B 8" "$B $V4_A 8" "$A $B2 4"; do
		# shellcheck disable=SC2086 # three words
		set -- $to
		spawn dcload client --netns "$1" --to "$2" --flows "$3" --cc timely \
			--rtt-sample-us 0 --duration "$SOAK"
		pids+=("$SPAWNED")
	done
	for pid in "${pids[@]}"; do
		wait_for $((SOAK + 60)) gone "$pid"
	done
	races_off
	tc -n "$A" qdisc del dev a0 root
	tc -n "$B" qdisc del dev b0 root
}

# noted COUNTER: of all times that the module was there.
noted() {
	awk -v name="$1" '$1 == name { n += $2 } END { print n + 0 }' "$KSFT_TMP/acker"
}

# Afterwards it all works as at first.
as_ever() {
	local name

	"$LONG" slew 0
	load_all
	for name in "$A" "$B"; do
		params_set "$name" or_acker mode subscribed max_flows 65536 stamps software
		timely_set "$name" rtt_source auto
	done
	echo 16384 >/sys/module/nic_ts/parameters/max_flows
	ip -n "$A" link set a0 mtu 1500 up
	ip -n "$B" link set b0 up
	tc -n "$A" qdisc replace dev a0 root onramp
	load "$A" --to "$V4_B" --cc timely --flows 4 --duration 3
	expect "goodput" "$(loaded goodput_bit_s)" -gt $((1000000 / SLOW))
	expect "OR-ACKs" "$(in_ns "$B" awk '$1 == "AckSent" { print $2 }' \
		/proc/net/or_acker)" -gt 0
	tc -n "$A" qdisc del dev a0 root
}

ksft_plan $([ -e $KCSAN ] && echo 4 || echo 3)
load_all
undo 'wait_for 30 all_unloaded; rmmod labnic'
hosts
serve "$B"
server_b=$SPAWNED
serve "$A"
server_a=$SPAWNED
ksft_case "$SOAK s of everything at once" all_at_once
ksft_case "traffic and OR-ACKs as ever" as_ever
[ ! -e $KCSAN ] || ksft_case "$SOAK s of packets alone" packets
# They hold the namespaces, and with them the qdiscs.
stop "$server_a"
stop "$server_b"
ip netns del "$A"
ip netns del "$B"
ksft_case "all modules can be unloaded" wait_for 60 all_unloaded
