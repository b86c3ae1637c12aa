#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Links that disappear, move and change while both directions are busy.
. "$(dirname "$0")/labnic_lib.sh"

# Microseconds between eight datagrams. The links have 20 Mbit/s, so their rings are full
# with 4000 as well.
pause=$(often 4000 500)

# busy: flood both ways, with frames that take a while to arrive.
busy() {
	spawn "$KSFT_DIR/labnic_helper" flood "$A" "$B4" "$pause"
	flood_a=$SPAWNED
	spawn "$KSFT_DIR/labnic_helper" flood "$B" "$V4_A" "$pause"
	flood_b=$SPAWNED
}

stop_busy() {
	stop "$flood_a" KILL
	stop "$flood_b" KILL
}

received_some() {
	[ "$(count "$B" b0 rx0_packets)" -gt 0 ]
}

deleted() {
	local i

	busy
	for i in $(seq "$(often 4 16)"); do
		pair rate 20mbit delay 20ms rx_usecs 20 duplicate 1% reorder 1% host_dist uniform \
			host_spread 10us irq_dist exponential irq_spread 10us
		wait_for 5 received_some
		if [ $((i % 2)) -eq 0 ]; then
			ip -n "$A" link del a0
		else
			ip -n "$B" link del b0
		fi
		refused ip -n "$A" link show a0 2>/dev/null
		refused ip -n "$B" link show b0 2>/dev/null
	done
	stop_busy
}

toggled() {
	local i

	pair rate 20mbit delay 20ms
	busy
	for i in $(seq "$(often 5 20)"); do
		ip -n "$A" link set a0 down
		ip -n "$A" link set a0 up
		labnic -n "$B" set b0 link off
		labnic -n "$B" set b0 link on
		in_ns "$B" ethtool -G b0 tx $((64 + i)) rx $((i + 1))
		labnic -n "$A" set a0 rate $((i * 3))mbit seed "$i" pace $((i % 3 * 5))mbit
	done
	wait_for 5 received_some
	stop_busy
	in_ns "$A" ping -c 2 -W 2 "$B4"
}

namespace_gone() {
	local i ns

	ip -n "$A" link del a0
	for i in $(seq 5); do
		ns=$(ns_name "X$i")
		hosts "$ns"
		labnic add a0 netns "$A" rate 20mbit delay 1ms peer b0 netns "$ns"
		end_up "$A" a0 "$V4_A" "$B4" "$MAC_B"
		end_up "$ns" b0 "$B4" "$V4_A" "$MAC_A"
		spawn "$KSFT_DIR/labnic_helper" flood "$A" "$B4" "$pause"
		sleep 0.05
		ns_del "$ns"
		wait_for 10 no_device "$A" a0
		stop "$SPAWNED" KILL
	done
}

no_device() {
	! ip -n "$1" link show "$2" >/dev/null 2>&1
}

moved() {
	local i

	hosts "$(ns_name C)"
	pair rate 20mbit delay 1ms
	busy
	for i in $(seq "$(often 3 10)"); do
		ip -n "$B" link set b0 netns "$(ns_name C)"
		ip -n "$(ns_name C)" link set b0 up
		ip -n "$(ns_name C)" link set b0 netns "$B"
		end_up "$B" b0 "$B4" "$V4_A" "$MAC_A" 2>/dev/null
	done
	stop_busy
	wait_for 5 carrier "$A" a0
	in_ns "$A" ping -c 2 -W 2 "$B4"
}

# Removing the module takes links with it, traffic or not, and leaves nothing.
removed() {
	local i clocks

	rmmod labnic
	clocks=$(find /sys/class/ptp/ -name 'ptp*' | wc -l)
	busy
	for i in 1 2 3; do
		modprobe labnic
		pair rate 20mbit delay 20ms
		wait_for 5 received_some
		exec 9</dev/ptp"$(shown "$A" a0 phc_index)"
		rmmod labnic
		exec 9<&-
		no_device "$A" a0
		no_device "$B" b0
		expect "clocks left" "$(find /sys/class/ptp/ -name 'ptp*' | wc -l)" -eq "$clocks"
	done
	stop_busy
	modprobe labnic
}

# Memory in use does not grow with the number of links made.
no_leak() {
	local i before after

	for i in $(seq 3); do pair; done
	ip -n "$A" link del a0
	sleep 1
	before=$(awk '/^(Slab|Percpu|VmallocUsed):/ { n += $2 } END { print n }' /proc/meminfo)
	for i in $(seq 12); do
		pair rate 20mbit delay 20ms
		udp count=50 hw=1 wait_ms=1
	done
	ip -n "$A" link del a0
	sleep 1
	after=$(awk '/^(Slab|Percpu|VmallocUsed):/ { n += $2 } END { print n }' /proc/meminfo)
	echo "measured: kernel memory grew by $((after - before)) KiB over 12 links"
	# One link with its packets in flight is some 200 KiB.
	expect "KiB of kernel memory that stayed" $((after - before)) -lt 1200
}

ksft_plan 6
need_module labnic
hosts "$A" "$B"
ksft_case "links deleted under load" deleted
ksft_case "up, down and settings under load" toggled
ksft_case "a namespace that goes takes its link along" namespace_gone
ksft_case "an end moves between namespaces under load" moved
ksft_case "rmmod under load leaves nothing" removed
ksft_case "no memory stays behind" no_leak
