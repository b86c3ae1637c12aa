# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What holds of a driver with its patch from nic_ts_patches/, with two of its
# NICs on one cable, each in a namespace of its own:
#
#	A  a0 -------- b0  B		TCP from A to B
#
# nic_ts_count.ko is the bus. It counts what the driver says, and what the stack's
# own tracepoints say of the same packets.
. "$(dirname "$0")/onramp.sh"

A=$(ns_name a)
B=$(ns_name b)

DRIVER=
CALLS='__nic_ts_driver_rx __nic_ts_driver_tx __nic_ts_driver_tx_done'
KPROBES=/sys/kernel/tracing/kprobe_events

# ends: interfaces of the driver that have no namespace of their own yet.
ends() {
	local dev

	for dev in /sys/class/net/*; do
		[ ! -e "$dev/device/driver" ] ||
			[ "$(basename "$(readlink "$dev/device/driver")")" != "$DRIVER" ] ||
			basename "$dev"
	done
}

two_ends() {
	[ "$(ends | wc -l)" -eq 2 ]
}

carrier() {
	ip -n "$1" link show dev "$2" | grep -q LOWER_UP
}

# connect: load the driver, and give each end its namespace.
connect() {
	local end n=1 ns dev

	modprobe virtio_pci
	modprobe "$DRIVER"
	wait_for 10 two_ends
	for end in $(ends); do
		[ "$n" = 1 ] && ns=$A dev=a0 || ns=$B dev=b0
		ip link set dev "$end" netns "$ns" name "$dev"
		ip -n "$ns" addr add "192.0.2.$n/24" dev "$dev"
		ip -n "$ns" addr add "2001:db8::$n/64" dev "$dev" nodad
		ip -n "$ns" link set dev "$dev" up
		n=2
	done
	wait_for 20 carrier "$A" a0
	wait_for 20 carrier "$B" b0
	in_ns "$A" ping -q -c 1 -W 10 192.0.2.2
	in_ns "$A" ping -q -c 1 -W 10 2001:db8::2
}

# send ADDRESS: TCP from A to B.
send() {
	load "$A" --to "$1" --duration 1
	expect "bytes sent" "$(loaded counters.bytes_acked)" -gt 1000000
}

# counted DEVICE COUNTER: of /proc/nic_ts_count, 0 for a device not seen.
counted() {
	awk -v dev="$1" -v name="$2" '
		$1 == dev && $2 == name { n = $3 }
		END { print n + 0 }' /proc/nic_ts_count
}

# received: packets that came in on b0, as the NIC counts them.
received() {
	in_ns "$B" awk '$1 == "b0:" { print $3 }' /proc/net/dev
}

# quiet: nothing comes in, late ACKs and neighbour discovery included.
quiet() {
	RECEIVED=$(received)
	sleep 0.2
	[ "$(received)" = "$RECEIVED" ]
}

# bus_on: with counters at zero and the NIC's own one remembered.
bus_on() {
	modprobe -r nic_ts_count
	wait_for 10 quiet
	modprobe nic_ts_count on=1
}

all_counted() {
	[ "$(counted b0 rx)" -eq $(($(received) - RECEIVED)) ]
}

# expect_all: the driver told of each packet that came in on b0.
expect_all() {
	wait_for 5 all_counted ||
		fail "$(counted b0 rx) stamps, $(($(received) - RECEIVED)) packets"
}

# same DEVICE COUNTER COUNTER: a packet can come in between reading the two, so not at once.
same() {
	wait_for 5 counted_same "$@" ||
		fail "$1 $2 is $(counted "$1" "$2"), $3 $(counted "$1" "$3")"
}

counted_same() {
	[ "$(counted "$1" "$2")" -eq "$(counted "$1" "$3")" ]
}

none() {
	expect "$1 $2" "$(counted "$1" "$2")" -eq 0
}

# Cases ----------------------------------------------------------------------

loads() {
	modinfo -F filename "$DRIVER" | grep /updates/
	modinfo -F depends "$DRIVER" | tr ',' '\n' | grep -x nic_ts_hook
	connect
	[ ! -e /proc/nic_ts_count ]
	[ ! -d /sys/module/nic_ts ]
	send 192.0.2.2
	send "[2001:db8::2]"
}

# A hook that is a NOP does not call nic_ts_hook.ko.
off() {
	local name

	for name in $CALLS; do
		echo "p:$name nic_ts_hook:$name" >>"$KPROBES"
		echo 1 >"/sys/kernel/tracing/events/kprobes/$name/enable"
	done
	send 192.0.2.2
	modprobe nic_ts_count
	expect_same "the key" "$(counted - key)" 0
	send 192.0.2.2
	expect "packets seen by tracepoints" "$(counted b0 rx_entry)" -gt 500
	cat /sys/kernel/tracing/kprobe_profile
	expect "calls" "$(awk '{ n += $2 } END { print n + 0 }' \
		/sys/kernel/tracing/kprobe_profile)" -eq 0
	# Else the probes might just not work.
	echo 1 >/sys/module/nic_ts_count/parameters/on
	send 192.0.2.2
	expect "calls" "$(awk '{ n += $2 } END { print n + 0 }' \
		/sys/kernel/tracing/kprobe_profile)" -gt 500
	for name in $CALLS; do
		echo 0 >"/sys/kernel/tracing/events/kprobes/$name/enable"
	done
	echo >"$KPROBES"
}

before_gro() {
	local rx stack

	in_ns "$B" ethtool -K b0 gro on
	bus_on
	send "$1"
	expect_all
	rx=$(counted b0 rx)
	stack=$(counted b0 rx_stack)
	expect "packets" "$rx" -gt 500
	expect "packets after GRO" $((stack * 2)) -lt "$rx"
	same b0 rx_entry rx
	# Each of them was the driver's before it was the stack's.
	same b0 rx_first rx
	none b0 rx_late
	none b0 rx_bad
	none - no_device
	echo "measured: $rx packets on the wire, $rx stamps, $stack packets after GRO"
}

without_gro() {
	in_ns "$B" ethtool -K b0 gro off
	bus_on
	send 192.0.2.2
	expect_all
	expect "packets" "$(counted b0 rx)" -gt 500
	same b0 rx_stack rx
	same b0 rx_first rx
	none b0 rx_late
	in_ns "$B" ethtool -K b0 gro on
}

# transmit on|off: with TSO the stack has fewer packets than the wire.
transmit() {
	local tx rx before

	in_ns "$A" ethtool -K a0 tso "$1" gso "$1"
	bus_on
	before=$RECEIVED
	send 192.0.2.2
	wait_for 10 quiet
	tx=$(counted a0 tx)
	rx=$((RECEIVED - before))
	expect "packets" "$tx" -gt 20
	if [ "$1" = on ]; then
		expect "packets before TSO" $((tx * 2)) -lt "$rx"
	fi
	same a0 tx tx_start
	same a0 tx_inside tx
	none a0 tx_early
	none a0 tx_bad
	echo "measured: $tx packets given to the driver, $tx stamps, $rx packets on the wire"
}

comes_and_goes() {
	spawn dcload client --netns "$A" --rtt-sample-us 0 --to 192.0.2.2 --duration 60
	for _ in 1 2 3 4 5; do
		modprobe nic_ts_count on=1
		sleep 0.2
		expect "packets" "$(counted b0 rx)" -gt 0
		echo 0 >/sys/module/nic_ts_count/parameters/on
		echo 1 >/sys/module/nic_ts_count/parameters/on
		modprobe -r nic_ts_count
	done
	kill -0 "$SPAWNED"
	stop "$SPAWNED"
	send 192.0.2.2
}

# rtts COUNTER...: of tcp_timely in A, in sum.
rtts() {
	local name n=0

	for name; do
		n=$((n + $(timely_count "$A" "$name")))
	done
	echo "$n"
}

rtts_by_driver() {
	[ "$(rtts RttDriver)" -ge "$1" ]
}

# bus_off WMEM
bus_off() {
	ns_set "$A" ipv4/tcp_wmem "$1"
	wait_for 20 rmmod tcp_timely
	wait_for 20 rmmod nic_ts
}

# The bus itself, and tcp_timely on it, take their times from the driver. How many packets are in
# flight follows from the host's speed as well, and the bus keeps a record of 64: less than that fit
# into this buffer. What is in flight when the first flow switches the bus on has none.
by_the_bus() {
	local driver other name

	modprobe -r nic_ts_count
	# Also if it fails: other cases need their own bus.
	trap "bus_off '$(ns_get "$A" ipv4/tcp_wmem)'" EXIT
	modprobe nic_ts
	modprobe tcp_timely
	ns_set "$A" ipv4/tcp_wmem "4096 65536 65536"
	spawn dcload client --netns "$A" --rtt-sample-us 0 --to 192.0.2.2 --cc timely --duration 60
	wait_for 20 rtts_by_driver 20
	driver=$(rtts RttDriver)
	other=$(rtts RttTcp RttStack)
	wait_for 20 rtts_by_driver $((driver + 100))
	stop "$SPAWNED"
	driver=$(($(rtts RttDriver) - driver))
	other=$(($(rtts RttTcp RttStack) - other))
	in_ns "$A" nic_ts devices | awk '$1 == "device" { here = $2 == "a0" } here' |
		tee "$KSFT_TMP/devices"
	for name in RttTcp RttStack RttDriver SourceChanges DropOtherSource Completions \
			FallbackNoBus FallbackNoFlow FallbackNoSegment FallbackNoAck FallbackOld; do
		echo "measured: $name $(timely_count "$A" "$name")"
	done
	expect "RTTs by others, ten times," $((other * 10)) -lt "$driver"
	grep -x 'rx_source *driver' "$KSFT_TMP/devices"
	grep -x 'tx_source *driver' "$KSFT_TMP/devices"
}

# Interfaces in namespaces go with their driver.
unloads() {
	modprobe nic_ts_count on=1
	spawn dcload client --netns "$A" --rtt-sample-us 0 --to 192.0.2.2 --duration 60
	sleep 0.3
	modprobe -r "$DRIVER"
	[ ! -d "/sys/module/$DRIVER" ]
	stop "$SPAWNED"
	modprobe -r nic_ts_count
}

# wire_test DRIVER tso|no-tso: the latter if the NIC on this cable has none.
wire_test() {
	DRIVER=$1
	if [ "$2" = tso ]; then
		ksft_plan 10
	else
		ksft_plan 9
	fi
	undo "rmmod tcp_timely nic_ts nic_ts_count 2>/dev/null; modprobe -r $DRIVER"
	ns_add "$A" "$B"
	serve "$B"
	ksft_case "the patched driver works without a bus" loads
	ksft_case "without a user its hooks are off" off
	ksft_case "one stamp for each packet on the wire, before GRO and before the stack, IPv4" \
		before_gro 192.0.2.2
	ksft_case "and IPv6" before_gro "[2001:db8::2]"
	ksft_case "and without GRO" without_gro
	[ "$2" = no-tso ] ||
		ksft_case "one TX stamp for each packet, while the driver has it, TSO" transmit on
	ksft_case "one TX stamp for each packet, while the driver has it" transmit off
	ksft_case "nic_ts and tcp_timely have their times from the driver" by_the_bus
	ksft_case "a bus comes and goes under traffic" comes_and_goes
	ksft_case "the driver goes under traffic" unloads
}
