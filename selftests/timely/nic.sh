#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# RTTs by the stamps of the bus, nic_ts, on the test NIC: every source, and why it
# falls back to TCP's clock.
#
#	A a0 ---------- b0 B
TIMELY_PROFILE=paper
. "$(dirname "$0")/onramp.sh"

BUS=/sys/module/nic_ts/parameters
B4=10.77.1.2

pair() {
	labnic add a0 netns "$A" address 02:00:00:00:00:0a delay 20us tx_stamp_slots 64 \
		peer b0 netns "$B" address 02:00:00:00:00:0b
	ip -n "$A" -batch - <<-END
		addr add 10.77.1.1/24 dev a0
		link set a0 up
	END
	ip -n "$B" -batch - <<-END
		addr add $B4/24 dev b0
		link set b0 up
	END
	wait_for 5 in_ns "$A" ping -c 1 -W 1 -q $B4 >/dev/null
}

# bus_stat NAME: of A's namespace.
bus_stat() {
	in_ns "$A" nic_ts stats | awk -v name="$1" '
		$1 == name { print $2; found = 1 } END { exit !found }'
}

# since COUNTER: how much it grew after mark.
mark() {
	in_ns "$A" cat /proc/net/timely >"$KSFT_TMP/mark"
}

since() {
	echo $(($(timely_count "$A" "$1") - $(awk -v name="$1" '$1 == name { print $2 }' \
		"$KSFT_TMP/mark")))
}

grew() {
	[ "$(since "$1")" -gt "$2" ]
}

# sum COUNTER...
sum() {
	local name n=0

	for name; do
		n=$((n + $(since "$name")))
	done
	echo "$n"
}

flows() {
	spawn_load "$A" --to "$B4" --cc timely --flows 2 --rate-limit 20mbit --duration 100
	FLOWS=$SPAWNED
}

# for_a_while [SECONDS]: two flows; the counters of it, and what must always hold.
for_a_while() {
	local fallbacks='FallbackSoftware FallbackNoBus FallbackNoFlow FallbackNoSegment FallbackNoAck
		FallbackAmbiguous FallbackInvalid FallbackOld' rtts name

	mark
	load "$A" --to "$B4" --cc timely --flows 2 --duration "${1:-2}" --rate-limit 20mbit
	rtts=$(sum RttTcp RttStack RttDriver RttMapped RttHardware)
	for name in RttTcp RttStack RttMapped RttHardware $fallbacks DropOtherSource \
			SourceChanges Completions; do
		[ "$(since "$name")" = 0 ] || echo "measured: $name $(since "$name")"
	done
	expect "RTTs" "$rtts" -gt 20
	# Each has a source, each by TCP's clock a reason, and each is used or dropped.
	# shellcheck disable=SC2086
	[ "$(ns_get "$A" ipv4/timely/rtt_source)" = tcp ] ||
		expect "reasons" "$(sum $fallbacks)" -eq "$(since RttTcp)"
	expect "outcomes" "$(sum Completions DropDelayedAck DropOtherSource)" \
		-eq "$rtts"
	expect "samples" "$(since Completions)" -gt 10
}

without_bus() {
	refused test -d /sys/module/nic_ts
	for_a_while
	expect "by TCP's clock" "$(since RttTcp)" -eq "$(since FallbackNoBus)"
	expect "by the bus" "$(sum RttStack RttDriver RttMapped RttHardware)" -eq 0
}

# not_compared: in the trace, no RTT is compared with one of another source, nor is its
# gradient that of another one's.
not_compared() {
	awk "$TRACE_AWK"'
		/timely_update/ {
			flow = v("src") v("dest")
			if (flow in source && source[flow] != v("source")) {
				n++
				if (v("prev_rtt") || v("rtt_diff") || v("negative")) {
					print
					bad = 1
				}
			}
			source[flow] = v("source")
		}
		END {
			printf "measured: %d changes of the source\n", n
			exit bad || !n
		}' "$KSFT_TMP/trace"
}

by_tracepoints() {
	trace_on timely_update
	for_a_while
	trace_off "$KSFT_TMP/trace"
	expect "by the stack's stamps" "$(since RttStack)" -gt $(($(since RttTcp) * 4))
	expect "traced" "$(grep -c ' source=stack ' "$KSFT_TMP/trace")" -gt 10
	expect "by hardware" "$(since RttHardware)" -eq 0
	shortest stack
	# Two changes for each flow, at least.
	trace_on timely_update
	spawn load "$A" --to "$B4" --cc timely --flows 2 --duration 1.5 --rate-limit 20mbit
	sleep 0.5
	timely_set "$A" rtt_source tcp
	sleep 0.5
	timely_set "$A" rtt_source auto
	wait_for 20 gone "$SPAWNED"
	trace_off "$KSFT_TMP/trace"
	not_compared
}

# shortest SOURCE: RTT in the trace; no path is shorter than its wires.
shortest() {
	local least

	least=$(awk "$TRACE_AWK"'
		v("source") == source && (!least || v("rtt") < least) { least = v("rtt") }
		END { print least + 0 }' source="$1" "$KSFT_TMP/trace")
	echo "measured: RTTs from $least ns"
	expect "shortest RTT" "$least" -ge 40000
}

said_by_flows() {
	flows
	mark
	wait_for 20 grew RttStack 10
	in_ns "$A" nic_ts flows | tee "$KSFT_TMP/flows"
	stop "$FLOWS"
	expect "flows" "$(grep -c '^local ' "$KSFT_TMP/flows")" -eq 2
	expect "flows by the stack" "$(grep -c '^rx_source stack' "$KSFT_TMP/flows")" -gt 0
	awk '$1 == "RttSoftware" { n += $2 } END { exit n < 10 }' "$KSFT_TMP/flows"
}

by_hardware() {
	in_ns "$A" nic_ts device a0 hw on tx-slots 32
	trace_on timely_update
	for_a_while
	trace_off "$KSFT_TMP/trace"
	# A NIC stamps some segments only: what counts is what is decided by.
	expect "decisions by hardware" "$(grep -c ' source=hardware ' "$KSFT_TMP/trace")" -gt \
		$((4 * $(grep -c -e ' source=stack ' -e ' source=tcp ' "$KSFT_TMP/trace" || :)))
	# That they are better than the stack's is for timely-fig1-11 of the lab.
	shortest hardware
}

# faults PARAMETER VALUE...: of the NIC's stamps.
faults() {
	labnic -n "$A" set a0 "$@"
	for_a_while
	labnic -n "$A" set a0 stamp_miss 0 stamp_late 0 stamp_disorder 0
}

missing() {
	faults stamp_miss 40%
	expect "by hardware" "$(since RttHardware)" -gt 0
	expect "by software" "$(since RttStack)" -gt 0
}

# After the ACK, that is: the time of the stack is used.
late() {
	faults stamp_late 100% stamp_late_delay 200ms
	expect "by hardware" "$(since RttHardware)" -eq 0
	expect "by software" "$(since RttStack)" -gt 10
}

mapped() {
	local feeder phc

	phc=$(in_ns "$A" nic_ts devices | awk '
		$1 == "device" { here = $2 == "a0" } here && $1 == "phc" { print $2 }')
	in_ns "$A" nic_ts device a0 hw on tx-slots 0
	spawn nic_ts clock "phc$phc" feed interval 100
	feeder=$SPAWNED
	for_a_while 4
	stop "$feeder"
	nic_ts clock "phc$phc" del
	in_ns "$A" nic_ts device a0 hw off
	# How good a map is depends on the machine; none is subtracted without one.
	expect "by hardware" "$(since RttHardware)" -eq 0
	expect "by software or a map" "$(sum RttStack RttMapped)" -gt 10
}

# Packets leave one by one, as from a NIC without TSO or a qdisc that cuts batches. Receivers acknowledge
# two at once, and that is no delayed ACK.
packet_by_packet() {
	in_ns "$A" ethtool -K a0 tso off gso off
	labnic -n "$A" set a0 delay 1ms
	for_a_while 1
	labnic -n "$A" set a0 delay 20us
	in_ns "$A" ethtool -K a0 tso on gso on
	expect "by the stack's stamps" "$(since RttStack)" -gt 20
	expect "samples dropped as delayed" "$(since DropDelayedAck)" -le $(($(since Completions) / 4))
}

# ACKs wait in the backlog for 100 ms while a process owns the socket.
owned() {
	labnic -n "$A" set a0 delay 5ms
	trace_on timely_update
	in_ns "$A" "$KSFT_DIR/timely_helper" owned $B4 5001 timely 100 4
	trace_off "$KSFT_TMP/trace"
	labnic -n "$A" set a0 delay 20us
}

longest() {
	awk "$TRACE_AWK"'v("source") == source && v("rtt") > most { most = v("rtt") }
		END { print most + 0 }' source="$1" "$KSFT_TMP/trace"
}

owned_socket() {
	owned
	echo "measured: by the bus at most $(longest stack) ns"
	expect "longest RTT by the bus" "$(longest stack)" -gt 4000000
	expect "longest RTT by the bus" "$(longest stack)" -lt 80000000
	timely_set "$A" rtt_source tcp
	owned
	echo "measured: by TCP's clock at most $(longest tcp) ns"
	expect "longest RTT by TCP's clock" "$(longest tcp)" -gt 80000000
	timely_set "$A" rtt_source auto
}

flows_are() {
	[ "$(bus_stat Flows)" -eq "$1" ]
}

# The entry of an idle flow is given up; its next data attaches anew.
idle() {
	local aged attached

	echo 1 >$BUS/flow_age_s
	aged=$(bus_stat FlowsAged)
	attached=$(bus_stat FlowsAttached)
	in_ns "$A" "$KSFT_DIR/timely_helper" bursts $B4 5001 timely 300000 4000 2
	expect "aged" $(($(bus_stat FlowsAged) - aged)) -ge 1
	expect "attached" $(($(bus_stat FlowsAttached) - attached)) -ge 2
	echo 300 >$BUS/flow_age_s
}

# A flow does without an entry that it is not given.
refused_flows() {
	echo 1 >$BUS/max_flows
	for_a_while
	echo 16384 >$BUS/max_flows
	expect "without an entry" "$(since FallbackNoFlow)" -gt 5
	expect "with one" "$(since RttStack)" -gt 5
}

# A flow without an entry asks for one at some of its bursts only.
refused_bursts() {
	local full

	echo 1 >$BUS/max_flows
	spawn_load "$A" --to "$B4" --cc timely --flows 1 --rate-limit 1mbit --duration 100
	wait_for 20 flows_are 1
	full=$(bus_stat FlowsRefusedFull)
	in_ns "$A" "$KSFT_DIR/timely_helper" bursts $B4 5001 timely 3000 1 200
	full=$(($(bus_stat FlowsRefusedFull) - full))
	stop "$SPAWNED"
	echo 16384 >$BUS/max_flows
	wait_for 20 flows_are 0
	echo "measured: $full refusals in 200 bursts"
	expect "refusals" "$full" -ge 5
	expect "refusals" "$full" -le 20
}

# The bus goes as soon as it is not to be used any more, and comes back, under load.
unload() {
	flows
	mark
	wait_for 20 grew RttStack 10
	refused rmmod nic_ts
	timely_set "$A" rtt_source tcp
	wait_for 20 rmmod nic_ts
	mark
	wait_for 20 grew RttTcp 20
	expect "by the bus" "$(since RttStack)" -eq 0
	expect "samples" "$(since Completions)" -gt 0
	timely_set "$A" rtt_source auto
	mark
	wait_for 20 grew FallbackNoBus 5
	modprobe nic_ts
	# Busy flows ask for it now and then.
	wait_for 100 grew RttStack 10
	stop "$FLOWS"
	wait_for 20 flows_are 0
}

ksft_plan 14
need_module labnic
need_module
ns_add "$A" "$B"
ns_set "$A" ipv6/conf/all/disable_ipv6 1 ipv6/conf/default/disable_ipv6 1
ns_set "$B" ipv6/conf/all/disable_ipv6 1 ipv6/conf/default/disable_ipv6 1
pair
timely_set "$A" t_high_ns 500000000 rtt_floor_ns 0 app_limited_percent 0
serve "$B"
ksft_case "without the bus" without_bus
need_module nic_ts
ksft_case "stamps of tracepoints" by_tracepoints
ksft_case "packets leave one by one" packet_by_packet
ksft_case "flows say which stamps they have" said_by_flows
ksft_case "stamps of the NIC" by_hardware
ksft_case "stamps are missing" missing
ksft_case "stamps are late" late
ksft_case "one stamp of the NIC, and a map of its clock" mapped
ksft_case "a process owns the socket" owned_socket
ksft_case "the entry of an idle flow is given up" idle
ksft_case "the bus has no room" refused_flows
ksft_case "flows that the bus refused ask for it now and then" refused_bursts
ksft_case "the bus is unloaded and loaded under load" unload
ksft_case "and all is as it was" for_a_while
