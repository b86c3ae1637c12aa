#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# onrampctl doctor on faults of the protocol, of receivers, of NICs and their clocks, and of TCP:
# each is made, and exactly its code appears. doctor.sh has those of qdiscs and settings.
#
#	A a0 ---------- b0 B, at first with acker_helper, then with or_acker; then as labnic
. "$(dirname "$0")/doctor_lib.sh"

# A second address of B.
OTHER=10.77.1.3

# meanwhile COMMAND...: again and again, until the end of the case.
meanwhile() {
	rm -f "$KSFT_TMP/enough"
	spawn repeated "$@"
	MEANWHILE=$SPAWNED
	sleep 0.3
}

enough() {
	: >"$KSFT_TMP/enough"
	wait_for 20 gone "$MEANWHILE"
}

repeated() {
	while [ ! -e "$KSFT_TMP/enough" ]; do
		"$@" || :
		sleep 0.05
	done
}

# calm: end what the case before this one has left behind, if it failed.
calm() {
	: >"$KSFT_TMP/enough"
	while read -r pid; do
		kill -9 -- "-$pid" 2>/dev/null || :
	done <"$KSFT_TMP/loads"
	: >"$KSFT_TMP/loads"
	[ ! -S "$KSFT_TMP/acker" ] || {
		acker delay 0
		acker others 0
		acker nic 0
		acker answer 1
		acker clock tai
	}
}

# fault DESCRIPTION FUNCTION [ARG...]: a case.
fault() {
	calm >/dev/null 2>&1
	ksft_case "$@"
}

# load_on [OPTION...]: connections from A to B, until load_off.
load_on() {
	spawn dcload client --netns "$A" --to "$B4" --rtt-sample-us 0 --duration 600 "$@"
	LOAD=$SPAWNED
	echo "$LOAD" >>"$KSFT_TMP/loads"
}

load_off() {
	stop "$LOAD" KILL
	wait_for 60 no_connections
}

# The kernel's note that a module lacks a signature, where it can tell.
unsigned() {
	local status=0

	fresh
	$CTL -n "$A" -i 0 doctor >"$KSFT_TMP/report" || status=$?
	expect status "$status" -eq 0
	grep -q E /sys/module/sch_onramp/taint || return 0
	says 'note MODULE_UNSIGNED'
}

# forged CODE STATUS KIND: messages of that kind come while it looks.
forged() {
	fresh
	load_on --flows 1 --rate-limit 10mbit
	wait_for 15 stats_reach acks 5
	meanwhile acker forge "$3" 10
	doctor "$A" "$2" "$1"
	enough
	load_off
}

# A qdisc that is told a tenth of the rate, or less.
line_rate() {
	fresh line_rate 2mbit threshold 1s
	load_on --flows 2 --rate-limit 40mbit
	wait_for 15 stats_reach acks_implausible 5
	doctor "$A" 1 LINE_RATE
	load_off
}

# Receivers do not promise a synchronised clock.
unsynced() {
	acker clock mono
	fresh owd synced threshold 500ms ack_timeout 10s
	load_on --flows 2 --rate-limit 20mbit
	wait_for 15 stats_reach acks_unsynced 20
	doctor "$A" 1 RECEIVERS_UNSYNCED
	load_off
	acker clock tai
}

# The qdisc is told that its clock is synchronised, and no daemon sets it any more.
promise() {
	fresh owd synced
	"$KSFT_DIR/clock_helper" unsynced
	doctor "$A" 1 CLOCK_PROMISE
	says 'owd synced of the qdisc'
	"$KSFT_DIR/clock_helper" synced
	doctor "$A" 0
}

# The queue is that of hosts without On-Ramp: it stays, whatever is paused.
others_fill() {
	fresh owd synced nobound threshold 500ms ack_timeout 10s max_pause 10ms noinherit
	acker delay 3000000
	acker others 1
	load_on --flows 2 --rate-limit 20mbit
	wait_for 15 stats_reach acks_let_go 20
	doctor "$A" 1 OTHERS_FILL
	load_off
	acker others 0
	acker delay 0
}

# Timers wait for softirqs of packets that come in, on the one CPU.
late_timers() {
	fresh owd synced nobound threshold 500ms ack_timeout 10s max_pause 2ms noinherit
	acker delay 3000000
	load_on --flows 16 --rate-limit 40mbit
	wait_for 20 stats_reach held 100
	doctor "$A" 1 LATE_TIMERS
	load_off
	acker delay 0
}

# A threshold that the path is above without a queue: pauses change nothing.
long_pauses() {
	fresh owd synced nobound threshold 5ms max_pause 20ms noinherit
	acker delay 20000
	load_on --flows 1 --rate-limit 20mbit
	wait_for 20 stats_reach pause_ends_empty 20
	doctor "$A" 1 LONG_PAUSES
	load_off
	acker delay 0
}

# More hosts than a table has room for, all of which answer.
connections_full() {
	local of=/sys/module/sch_onramp/parameters/max_peers

	undo "[ ! -e $of ] || echo 16384 >$of"
	fresh
	load_on --flows 1 --rate-limit 1mbit
	wait_for 30 listed_as "$B4" subscribed
	echo 1 >$of
	meanwhile dcload client --netns "$A" --to $OTHER --flow-churn 2 --size 2k --duration 0.2 \
		--rtt-sample-us 0
	doctor "$A" 1 CONNECTIONS_FULL
	enough
	echo 16384 >$of
	load_off
}

# A peer that has answered, and does not any more.
silent() {
	fresh
	load_on --flows 1 --rate-limit 10mbit
	wait_for 30 listed_as "$B4" subscribed
	acker answer 0
	wait_for 120 listed_as "$B4" silent
	doctor "$A" 1 PEER_SILENT
	says "stopped answering ($B4)"
	acker answer 1
	wait_for 120 listed_as "$B4" subscribed
	doctor "$A" 0
	load_off
}

# pair: the two hosts; B has the qdisc as well.
pair() {
	quiet_pair
	tc -n "$B" qdisc add dev b0 root onramp
	ip -n "$B" addr add $OTHER/24 dev b0
	ip -n "$A" neigh replace $OTHER lladdr $MAC_B dev a0 nud permanent
	serve "$B"
}

# anew: both hosts from the start.
anew() {
	ns_del "$A"
	ns_del "$B"
	pair
}

# One of A's programs has the port.
port_in_use() {
	anew
	spawn "$KSFT_DIR/acker_helper" serve "$A" a0 "$KSFT_TMP/other"
	OTHER_ACKER=$SPAWNED
	wait_for 10 "$KSFT_DIR/acker_helper" "$KSFT_TMP/other" stats
	fresh
	load_on --flows 1 --rate-limit 10mbit
	wait_for 15 stats_reach port_errors 1
	doctor "$A" 2 PORT_IN_USE
	load_off
	stop "$OTHER_ACKER" KILL
	anew
}

# without_plugin ARGUMENT...: onrampctl where tc has no plugin.
without_plugin() {
	# shellcheck disable=SC2016
	unshare -m bash -c 'mount -t tmpfs none "$(dirname "$1")" && shift && exec onrampctl "$@"' \
		bash "$PLUGIN" "$@"
}

# Without the one of tc, and with one of an older release.
plugin() {
	local dir=$KSFT_TMP/tc mark='onramp-plugin-interface:'

	fresh
	PLUGIN=$(echo /usr/lib/*/tc/q_onramp.so)
	CTL=without_plugin doctor "$A" 1 PLUGIN_VERSION
	says 'q_onramp.so was not found'
	mkdir "$dir"
	sed "s/${mark}[0-9]/${mark}0/" "$PLUGIN" >"$dir/q_onramp.so"
	TC_LIB_DIR=$dir doctor "$A" 1 PLUGIN_VERSION
	says "tc's plugin has interface 0"
	doctor "$A" 0
}

# or_acker as it is on a kernel without tracepoints: it finds no bus.
no_stamps() {
	anew
	# The last test's module may be there.
	[ ! -d /sys/module/nic_ts ] || wait_for 20 rmmod nic_ts
	undo "echo $(cat /proc/sys/kernel/modprobe) >/proc/sys/kernel/modprobe"
	echo /bin/false >/proc/sys/kernel/modprobe
	modprobe or_acker
	echo /sbin/modprobe >/proc/sys/kernel/modprobe
	fresh
	load_on --flows 1 --rate-limit 10mbit
	wait_for 60 acker_count_is DeviceNoStamps -ge 1
	doctor "$B" 2 NO_STAMPS
	load_off
	wait_for 20 rmmod or_acker
}

# acker_count_is NAME OPERATOR NUMBER: a counter of or_acker in B.
acker_count_is() {
	expect "$1" "$(proc_count or_acker "$B" "$1")" "$2" "$3"
}

# One module was replaced, the other stayed loaded: the version is a string in the file.
versions() {
	local version file=$KSFT_TMP/or_acker.ko

	anew
	version=$(cat /sys/module/or_port/version)
	sed "s/version=$version/version=${version%?}x/" "/lib/modules/$(uname -r)/extra/or_acker.ko" \
		>"$file"
	# For what it depends on.
	modprobe or_acker
	rmmod or_acker
	insmod "$file"
	fresh
	doctor "$A" 1 MODULE_VERSIONS
	says "or_acker ${version%?}x"
	wait_for 20 rmmod or_acker
}

receiver() {
	params_set "$B" or_acker "$@"
}

# limit PARAMETER VALUE CODE COUNTER: or_acker of B reaches that.
limit() {
	fresh
	load_on --flows 4 --rate-limit 20mbit
	wait_for 15 stats_reach acks 10
	receiver ack_packets 1 "$1" "$2"
	wait_for 30 acker_count_is "$4" -ge 1
	doctor "$B" 1 "$3"
	load_off
	receiver ack_packets 32 cpu_rate 1000000 subscriber_rate 1000000
}

receiver_full() {
	local was

	was=$(ns_get "$B" or_acker/max_flows)
	receiver max_flows 1
	fresh
	load_on --flows 4 --rate-limit 20mbit
	wait_for 30 acker_count_is PacketFlowTableFull -ge 1
	doctor "$B" 1 RECEIVER_FULL
	load_off
	receiver max_flows "$was"
}

# Both ends take all of a CPU.
cpu_busy() {
	in_ns "$A" ethtool -K a0 tso off gso off
	receiver busy_share 512
	fresh
	load_on --flows 4
	wait_for 30 acker_count_is PacketBusy -ge 100
	doctor "$B" 1 CPU_BUSY
	load_off
	receiver busy_share 0
	in_ns "$A" ethtool -K a0 tso on gso on
}

# timely_on CC: two of timely and one of that, which is large.
mixed() {
	fresh
	load_on --cc timely --flows 2 --rate-limit 100kbit
	spawn dcload client --netns "$A" --to "$B4" --rtt-sample-us 0 --duration 600 --cc cubic
	CUBIC=$SPAWNED
	wait_for 60 has_sent cubic 2
	doctor "$A" 1 MIXED_CC
	says 'busy connection with cubic beside timely'
	stop "$CUBIC" KILL
	load_off
}

# has_sent CC MBYTES: a connection of it.
has_sent() {
	ss -N "$A" -Htin state established | awk -v cc="$1" -v most="$2" '
		$0 ~ cc && match($0, /bytes_sent:[0-9]+/) {
			if (substr($0, RSTART + 11, RLENGTH - 11) + 0 > most * 1000000)
				found = 1
		}
		END { exit !found }'
}

# nics [PARAMETER VALUE]...: A and B anew, with NICs; those are of a0.
nics() {
	ns_del "$A"
	ns_del "$B"
	ns_add "$A" "$B"
	for name in "$A" "$B"; do
		ns_set "$name" ipv6/conf/all/disable_ipv6 1 ipv6/conf/default/disable_ipv6 1
	done
	labnic add a0 netns "$A" address $MAC_A delay 20us tx_stamp_slots 16 "$@" \
		peer b0 netns "$B" address $MAC_B rate 10gbit
	link_up "$A" a0 "$V4_A"
	link_up "$B" b0 $B4
	serve "$B"
	tc -n "$B" qdisc replace dev b0 root onramp
}

speed() {
	nics rate 1500000001bit
	fresh
	doctor "$A" 1 SPEED_UNKNOWN
	says 'a0: the device reports no speed'
	fresh line_rate 1500mbit threshold 1ms
	doctor "$A" 0
	doctor "$B" 0
	labnic -n "$A" set a0 rate 10gbit
}

# Data leaves by a NIC, and no device has the qdisc.
no_qdisc() {
	tc -n "$A" qdisc del dev a0 root
	load_on --cc timely --flows 1 --rate-limit 100mbit
	wait_for 20 sent_by a0 1000
	doctor "$A" 1 QDISC_ABSENT
	says 'a0: no qdisc onramp, and data leaves'
	load_off
}

coalesced() {
	in_ns "$B" ethtool -C b0 rx-usecs 100 rx-frames 64
	doctor "$B" 1 COALESCE
	in_ns "$B" ethtool -C b0 rx-usecs 0 rx-frames 8
	doctor "$B" 0
}

merged() {
	in_ns "$B" ethtool -K b0 lro on
	doctor "$B" 1 LRO
	in_ns "$B" ethtool -K b0 lro off
	doctor "$B" 0
	# What holds for a bond is what its NICs do.
	ip -n "$B" link add bond0 type bond
	ip -n "$B" link set bond0 up
	doctor "$B" 0
	ip -n "$B" link del bond0
}

# Another program has the NIC stamp packets of PTP only.
held() {
	in_ns "$B" hwstamp_ctl -i b0 -t 1 -r 0
	receiver stamps hardware
	fresh
	load_on --flows 1 --rate-limit 10mbit
	wait_for 15 stats_reach acks 5
	doctor "$B" 1 HW_STAMPS_HELD
	in_ns "$B" hwstamp_ctl -i b0 -t 0 -r 0
	load_off
	receiver stamps software
}

# A NIC that is asked for one timestamp at a time, and has many packets to send.
tx_slots() {
	bus device a0 hw on tx-slots 1
	labnic -n "$A" set a0 host_base 50ms
	in_ns "$A" ethtool -K a0 tso off gso off
	ip netns exec "$A" sh -c \
		'echo 1000000 >/sys/class/net/a0/queues/tx-0/byte_queue_limits/limit_min'
	fresh
	load_on --cc nic_ts_test --flows 4 --rate-limit 20mbit
	wait_for 30 dev_stat_reaches "$A" a0 TxHardwareNoSlot 500
	doctor "$A" 1 TX_SLOTS
	bus device a0 tx-slots 16
	doctor "$A" 0
	load_off
	labnic -n "$A" set a0 host_base 0
	in_ns "$A" ethtool -K a0 tso on gso on
	bus device a0 hw off
}

bus() {
	in_ns "$A" nic_ts "$@"
}

# dev_stat_reaches NAMESPACE DEVICE NAME NUMBER: a counter of nic_ts.
dev_stat_reaches() {
	expect "$3" "$(dev_stat "$1" "$2" "$3")" -ge "$4"
}

# Who read the NIC's clock does not any more.
clock_map() {
	local clock

	bus device a0 hw on
	clock=phc$(dev_show "$A" a0 phc)
	fresh
	nic_ts clock "$clock" feed count 2 interval 100
	doctor "$A" 0
	wait_for 20 nic_clock_is "$clock" expired
	doctor "$A" 1 CLOCK_MAP
	says "$clock: its map is expired"
	nic_ts clock "$clock" del
	doctor "$A" 0
	bus device a0 hw off
}

# The paper's thresholds, and a path whose empty RTT is above them.
rate_floor() {
	timely_set "$A" profile paper
	labnic -n "$A" set a0 delay 2ms
	fresh
	load_on --cc timely --flows 2
	wait_for 60 slow_flows 2
	doctor "$A" 1 RATE_FLOOR
	load_off
	labnic -n "$A" set a0 delay 20us
	timely_set "$A" profile auto
}

# slow_flows NUMBER: so many of A's are paced at 11 Mbit/s or less.
slow_flows() {
	ss -N "$A" -Htin state established dst "$B4" | awk -v want="$1" '
		match($0, /pacing_rate [0-9]+bps/) && substr($0, RSTART + 12) + 0 <= 11000000 {
			n++
		}
		END { exit n < want }'
}

ksft_plan 29
: >"$KSFT_TMP/loads"
"$KSFT_DIR/clock_helper" synced
undo "$KSFT_DIR/clock_helper unsynced"
need_module sch_onramp
pair
acker_start
fault "modules without a signature" unsigned
fault "another key" forged KEY_MISMATCH 2 tag
fault "another version of the protocol" forged OTHER_PROTOCOL 1 version
fault "translated addresses" forged NAT 1 other
fault "line_rate below the rate" line_rate
fault "receivers that are not synchronised" unsynced
fault "a promise without a daemon" promise
fault "others fill the queue" others_fill
fault "timers that are late" late_timers
fault "pauses that change nothing" long_pauses
fault "more hosts than the table has room for" connections_full
fault "a host that does not answer any more" silent
stop "$ACKER" KILL
fault "the port is in use" port_in_use
fault "tc's plugin" plugin
fault "no timestamps" no_stamps
fault "modules of different releases" versions
need_module or_acker
anew
fault "cpu_rate is reached" limit cpu_rate 10 CPU_RATE AckLimitCpu
fault "subscriber_rate is reached" limit subscriber_rate 10 SUBSCRIBER_RATE AckLimitSubscriber
fault "a full table of the receiver" receiver_full
fault "a saturated CPU of the receiver" cpu_busy
need_module tcp_timely
fault "loss-based flows beside timely" mixed
need_module labnic
need_module nic_ts_test
fault "a device without a speed" speed
fault "a NIC without the qdisc" no_qdisc
fault "interrupts for many frames" coalesced
fault "packets that the NIC merges" merged
fault "hardware timestamps that are not for us" held
fault "a path longer than timely's thresholds" rate_floor
fault "a NIC asked for few timestamps at a time" tx_slots
fault "a map that nobody renews" clock_map
