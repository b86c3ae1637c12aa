#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# onrampctl doctor on real qdiscs, sockets and modules: each fault is made, and exactly its code
# appears. doctor_faults.sh has the rest of the faults.
. "$(dirname "$0")/doctor_lib.sh"

# Other addresses of B.
OTHER=10.77.1.3 THIRD=10.77.1.4 FOURTH=10.77.7.2 FIFTH=10.77.1.5

# data [TO]: connections that send, from A, until no_data.
data() {
	spawn dcload client --netns "$A" --to "${1:-$B4}" --flows 2 --duration 600
	DATA=$SPAWNED
	wait_for 20 two_connected
}

two_connected() {
	[ "$(ss -N "$A" -Htn state established | wc -l)" -ge 2 ]
}

no_data() {
	stop "$DATA" KILL
	wait_for 20 no_connections
}

absent() {
	doctor "$A" 0 QDISC_ABSENT
	says 'no device here has the qdisc onramp'
	status "$A" 0 'timely idle no connection uses it' 'sender idle no device here'
}

# Data leaves, and nothing acts on it.
unused() {
	data
	doctor "$A" 1 QDISC_ABSENT TIMELY_UNUSED
	says 'note QDISC_ABSENT       no device here has the qdisc onramp, and data leaves by a0'
	status "$A" 1 'timely NOT ACTING tcp_timely is loaded, and no connection has ever used it' \
		'sender NOT ACTING no device here' 'receiver idle'
	no_data
	dcload client --netns "$A" --to "$B4" --cc timely --flows 1 --duration 0.2 \
		--rtt-sample-us 0 >"$KSFT_TMP/load.json"
}

# The qdisc is on another device than the data leaves by.
elsewhere() {
	veth_pair "$A" a1 10.77.2.1 "$B" b1 10.77.2.2
	tc -n "$A" qdisc del dev a0 root
	DEV=a1 fresh
	data
	doctor "$A" 1 NOT_FOLLOWED
	says 'a1 has the qdisc onramp, and a0 has not'
	says 'do:  onramp-qdisc a0'
	status "$A" 1 "sender NOT ACTING data to $B4 leaves by a0, and On-Ramp follows none of it"
	ip -n "$A" link del a1
	DEV=lo fresh
	doctor "$A" 1 NOT_FOLLOWED
	says 'lo has the qdisc onramp, and a0 has not'
	tc -n "$A" qdisc del dev lo root
	no_data
}

# A container whose data A forwards.
container() {
	local c

	c=$(ns_name C)
	ns_add "$c"
	veth_pair "$c" c0 10.77.3.2 "$A" ac 10.77.3.1
	ip -n "$c" route add default via 10.77.3.1
	ip -n "$B" route add 10.77.3.0/24 via "$V4_A"
	ns_set "$A" ipv4/ip_forward 1
	fresh
	spawn dcload client --netns "$c" --to "$B4" --flows 2 --duration 600
	wait_for 20 sent_by a0 1000
	doctor "$A" 1 NOT_FOLLOWED
	says 'forwarded packets, as those of containers, with forward off'
	says 'do:  onramp-qdisc a0 forward on'
	status "$A" 1 'sender NOT ACTING data leaves by a0, and On-Ramp follows none of it'
	stop "$SPAWNED" KILL
	ns_set "$A" ipv4/ip_forward 0
	ns_del "$c"
}

# forwarding SED: the facts of A, changed, for doctor.
forwarding() {
	$CTL -n "$A" -i 0.5 facts | sed "$1" >"$KSFT_TMP/facts"
	CTL="$CTL --facts $KSFT_TMP/facts" doctor '' 1 "$2"
}

# A kernel without netfilter, and a container that was refused.
guard() {
	ns_set "$A" ipv4/ip_forward 1
	fresh
	doctor "$A" 0
	forwarding 's/"ForwardGuard": 1/"ForwardGuard": 0/' FORWARD_GUARD
	forwarding '/"now":/,$s/"ForwardRefused": 0/"ForwardRefused": 5/' FORWARD_REFUSED
	ns_set "$A" ipv4/ip_forward 0
}

# In a VXLAN, with the qdisc on the device below it.
tunnel() {
	local name

	fresh
	ip -n "$A" link add vx type vxlan id 7 dstport 4789 local "$V4_A" remote "$B4"
	ip -n "$B" link add vx type vxlan id 7 dstport 4789 local "$B4" remote "$V4_A"
	link_up "$A" vx 10.77.4.1
	link_up "$B" vx 10.77.4.2
	data 10.77.4.2
	wait_for 20 sent_by vx 1000
	doctor "$A" 1 NOT_FOLLOWED
	says 'vx is a tunnel: the qdisc of a0 only sees packets that are in it'
	no_data
	for name in "$A" "$B"; do
		ip -n "$name" link del vx
	done
}

# Data flows while it looks, and OR-ACKs come.
healthy() {
	fresh
	data
	wait_for 20 stats_reach acks 50
	doctor "$A" 0
	status "$A" 0 'sender acting 2 of 2 connections followed' 'receiver idle'
	# It receives, and needs no qdisc.
	doctor "$B" 0
	status "$B" 0 'sender idle no data leaves' 'receiver acting 1 subscriber'
	no_data
}

# or_port keeps no RTT of a path that it did not know yet.
unknown_path() {
	local of=/sys/module/or_port/parameters/max_paths

	undo "[ ! -e $of ] || echo 16384 >$of"
	ip -n "$B" addr add $FIFTH/24 dev b0
	ip -n "$A" neigh replace $FIFTH lladdr $MAC_B dev a0 nud permanent
	fresh
	echo 0 >$of
	data $FIFTH
	wait_for 20 stats_reach acks 50
	doctor "$A" 1 EMPTY_PATH
	says "unknown to 1 of 1 hosts with data: $FIFTH"
	says $of
	echo 16384 >$of
	no_data
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

# SUBSCRIBEs do not leave the host.
unsent() {
	fresh
	ip -n "$B" addr add $THIRD/24 dev b0
	ip -n "$A" neigh replace $THIRD lladdr $MAC_B dev a0 nud permanent
	tc -n "$A" qdisc add dev a0 clsact
	tc -n "$A" filter add dev a0 egress protocol ip u32 \
		match ip protocol 17 0xff match ip dport 299 0xffff action drop
	meanwhile_asked
	doctor "$A" 2 SEND_ERRORS
	says 'not sent by this host'
	tc -n "$A" qdisc del dev a0 clsact
	stop "$CLIENT" KILL
}

# A connection to an address that was not asked before, and SUBSCRIBEs that fail while it looks.
meanwhile_asked() {
	connect $THIRD 1
	again
	wait_for 20 stats_reach subscribe_errors 1
}

# new_pair: two hosts that have counted nothing, and do not have tcp_timely, which nothing used there.
new_pair() {
	ns_del "$A"
	ns_del "$B"
	wait_for 20 modprobe -r tcp_timely
	quiet_pair
	serve "$B"
	spawn "$KSFT_DIR/connect_helper" serve "$B" $PORT
}

# A mark leads data by a0. It is gone when the qdisc sees the data, and messages have no route there.
other_way() {
	new_pair
	fresh
	veth_pair "$A" a1 10.77.2.1 "$B" b1 10.77.2.2
	ip -n "$B" addr add $FOURTH/32 dev lo
	ip -n "$A" -batch - <<-END
		neigh replace $FOURTH lladdr $MAC_B dev a0 nud permanent
		route add $FOURTH dev a1 src $V4_A
		route add $FOURTH dev a0 src $V4_A table 100
		rule add fwmark 5 lookup 100
	END
	in_ns "$A" nft -f - <<-END
		table inet doctor {
			chain unmark {
				type filter hook postrouting priority 0
				tcp dport 5001 meta mark set 0
			}
		}
	END
	spawn "$KSFT_DIR/via_helper" "$A" $V4_A $FOURTH 5001 mark=5
	wait_for 20 proc_count or_port "$A" TxOtherWay -ge 1
	doctor "$A" 2 OTHER_WAY
	says 'no route by'
	stop "$SPAWNED" KILL
	new_pair
}

# Large packets do not arrive, and nothing says so.
black_hole() {
	local bit

	fresh
	data
	tc -n "$B" qdisc add dev b0 clsact
	for bit in 0x0400 0x0800 0x1000 0x2000 0x4000 0x8000; do
		tc -n "$B" filter add dev b0 ingress protocol ip u32 \
			match u16 $bit $bit at 2 action drop
	done
	wait_for 60 timeouts 4
	doctor "$A" 1 STALLED
	says '2 connections: no packet with data has arrived for 3 timeouts or more'
	$CTL -n "$A" why dst "$B4" >"$KSFT_TMP/report"
	says 'packets are lost on the way'
	tc -n "$B" qdisc del dev b0 clsact
	no_data
}

# timeouts NUMBER: each connection waits for the timer, as often in a row.
timeouts() {
	[ "$(ss -N "$A" -Htino state established dst "$B4" |
		awk -v most="$1" 'match($0, /backoff:[0-9]+/) &&
			substr($0, RSTART + 8, RLENGTH - 8) + 0 >= most' | wc -l)" -ge 2 ]
}

# The NIC's clock is asked for, and there is none.
no_clock() {
	fresh owd synced clock nic
	doctor "$A" 1 CLOCK_NIC
	says 'a0: clock nic, and the device has no clock'
	fresh clock nic
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
	says 'a filter, or a key there and none here'
	status "$A" 2 'sender NOT ACTING 1 of'
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
	INTERVAL=3 doctor "$B" 2 KEY_MISMATCH
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

# with FILE...: onrampctl, where /lib/modules/RELEASE/extra, and /var/lib, have these files only.
with() {
	# shellcheck disable=SC2016
	unshare -m bash -c '
		extra=/lib/modules/$(uname -r)/extra
		mkdir -p /var/lib
		mount -t tmpfs none $extra && mount -t tmpfs none /var/lib || exit
		mkdir -p /var/lib/dkms/onramp/1.0/source
		while [ "$1" != : ]; do
			printf "ELF" >$extra/$1
			[ "$1" != tcp_lipd.ko ] || printf "onramp_stub=Y\0" >$extra/$1
			shift
		done
		[ -z "$ENFORCE" ] || mount --bind "$ENFORCE" /sys/module/module/parameters/sig_enforce
		shift
		exec onrampctl "$@"' bash "$@"
}

# Modules that are not installed, or not signed; nothing is loaded.
not_loaded() {
	local CTL enforce=$KSFT_TMP/enforce newest=/lib/modules/99.0

	CTL='with :' doctor '' 2 MODULE_MISSING
	says 'its headers are not installed, so DKMS could not build them'
	CTL='with sch_onramp.ko or_acker.ko :' doctor '' 3
	says 'no module of onramp is loaded: modprobe or_acker'
	echo Y >"$enforce"
	ENFORCE=$enforce CTL='with sch_onramp.ko or_acker.ko :' doctor '' 2 MODULE_REFUSED
	says 'these have no signature: sch_onramp, or_acker'
	ENFORCE='' CTL='with sch_onramp.ko tcp_lipd.ko :' doctor '' 3 MODULE_STUB
	undo "rm -rf $newest /boot/vmlinuz-99.0"
	mkdir -p $newest /boot
	: | tee $newest/modules.builtin >/boot/vmlinuz-99.0
	CTL='with sch_onramp.ko :' doctor '' 3 NEXT_KERNEL
	rm -rf $newest /boot/vmlinuz-99.0
}

ksft_plan 21
export ENFORCE=
ksft_case "without modules" no_module
ksft_case "modules that cannot be loaded" not_loaded
need_module tcp_timely
need_module or_acker
ready
"$KSFT_DIR/clock_helper" synced
undo "$KSFT_DIR/clock_helper unsynced"
serve "$B"
spawn "$KSFT_DIR/connect_helper" serve "$B" $PORT
ksft_case "a device without the qdisc" absent
ksft_case "data on which nothing acts" unused
ksft_case "a healthy pair has no finding" healthy
ksft_case "a path whose RTT is not kept" unknown_path
ksft_case "the qdisc on another device" elsewhere
ksft_case "a container, and forward off" container
ksft_case "the qdisc below a tunnel" tunnel
ksft_case "containers in the host's name" guard
ksft_case "qdiscs and queues" queues
ksft_case "settings" settings
ksft_case "clock nic without a clock" no_clock
ksft_case "a path that drops large packets" black_hole
ksft_case "different keys" keys
ksft_case "two programs that set the clock" daemons
ksft_case "ECN under timely" ecn
ksft_case "without root" nobody
ksft_case "SUBSCRIBEs that do not leave" unsent
ksft_case "SUBSCRIBEs that leave by another device" other_way
# Last: a silent peer is not asked again for a while.
ksft_case "a filter, and muting" blocked
# What the end of the test unloads.
modprobe tcp_timely
