#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Profile auto, without any other setting, where nothing is as in a datacenter: a device
# that claims 10 Gbit/s, times of an emulated machine. A shaped link is filled as by cubic,
# and where nothing but the CPU limits, timely is not far from it.
#
#	A a0 ---- r0 R r1 ==== b0 B
#	  fq or none   20 Mbit/s, or no shaper
TIMELY_PROFILE=auto
. "$(dirname "$0")/onramp.sh"

mbit=20

# as_cubic QDISC ADDR SHARE PACING [WARMUP SECONDS [WARMUP-OF-CUBIC]]: at least that share of what
# cubic has here.
as_cubic() {
	local warmup=${5:-1} seconds=${6:-2}
	local cubic timely before

	timely_set "$A" pacing "$4"
	tc -n "$A" qdisc replace dev a0 root "$1"
	cubic=$(throughput cubic "$2" "${7:-$warmup}" "$seconds")
	before=$(timely_count "$A" Completions)
	timely=$(throughput timely "$2" "$warmup" "$seconds")
	tc -n "$A" qdisc del dev a0 root
	echo "measured: cubic $(calc "$cubic / 1e3") kbit/s, timely $(calc "$timely / 1e3") kbit/s"
	expect "timely's throughput" "$timely" -ge "$(calc "$cubic * $3")"
	expect "its samples" "$(timely_count "$A" Completions)" -ge "$((before + 50))"
}

# veth says 10 Gbit/s, and the CPU carries more: that is no cap of a flow, but for the paper's.
no_wire() {
	# The line rate rises within a second.
	as_cubic fq "$V4_B" 0.8 tcp 1.3 0.2 0.2
	expect "rises of the line rate" "$(timely_count "$A" LineRateRises)" -ge 1
	expect "rises of the line rate" "$(timely_count "$A" LineRateRises)" -le 2
	timely_set "$A" profile paper
	before=$(timely_count "$A" LineRateRises)
	trace_on timely_start
	throughput timely "$V4_B" 0.2 0.1 >/dev/null
	trace_off "$KSFT_TMP/trace"
	timely_set "$A" profile auto
	expect_same "C of the paper's profile" "$(sed -n 's/.*timely_start:.* cap=\([0-9]*\).*/\1/p' \
		"$KSFT_TMP/trace" | sort -u)" "$(calc "int(1250000000 * 1448 / 1538)")"
	expect "rises of the line rate" "$(timely_count "$A" LineRateRises)" -eq "$before"
}

# The path becomes longer by 3 ms while a flow fills it: its RTTs are those of no queue.
longer_path() {
	local timely

	tc -n "$A" qdisc replace dev a0 root fq
	spawn eval 'sleep 1; ack_delay 8'
	timely=$(throughput timely "$V4_B" 1.5 1.5)
	wait "$SPAWNED"
	tc -n "$A" qdisc del dev a0 root
	echo "measured: $(calc "$timely / 1e3") kbit/s"
	expect "timely's throughput" "$timely" -ge "$((mbit * 850000))"
	expect "paths learnt anew" "$(timely_count "$A" BranchProbe)" -ge 1
}

# alone: no flow of before is left, whose D lowest() would take for the next one's.
alone() {
	[ -z "$("$KSFT_DIR/genl_helper" -n "$A" dump sock)" ]
}

# lowest: D of the one flow, ns, once it has one; into LOWEST.
lowest() {
	LOWEST=$("$KSFT_DIR/genl_helper" -n "$A" dump sock | sed -n 's/.* min_rtt_ns=\([0-9]*\).*/\1/p')
	[ -n "$LOWEST" ]
}

# The handshake's RTT is longer by 0.2 ms than that of the flow before. Over a veth that may be the work of
# a CPU: it is D, and no queue. From 1 ms on it would be one, and this VM may take 0.5 ms.
busier_flow() {
	tc -n "$A" qdisc replace dev a0 root fq
	ack_delay 0.1
	throughput timely "$V4_B" 0.1 0.2 >/dev/null
	wait_for 20 alone
	ack_delay 0.3
	spawn_load "$A" --to "$V4_B" --cc timely --flows 1 --duration 600
	wait_for 20 lowest
	stop "$SPAWNED" KILL
	tc -n "$A" qdisc del dev a0 root
	echo "measured: $LOWEST ns"
	expect "lowest RTT, ns" "$LOWEST" -ge 300000
}

# A flow that begins behind a full queue knows the path by those before it. If the route has become longer
# since, it finds that out as any other.
later_flow() {
	local filler timely

	tc -n "$A" qdisc replace dev a0 root fq
	ack_delay 5
	throughput timely "$V4_B" 0.2 0.3 >/dev/null
	spawn_load "$A" --to "$V4_B" --cc cubic --flows 1 --duration 600
	filler=$SPAWNED
	sleep 3
	wait_for 20 alone
	spawn_load "$A" --to "$V4_B" --cc timely --flows 1 --duration 600
	wait_for 20 lowest
	stop "$SPAWNED" KILL
	stop "$filler" KILL
	sleep 2
	ack_delay 40
	# It takes 2 to 6 s.
	timely=$(throughput timely "$V4_B" 6 1.5)
	tc -n "$A" qdisc del dev a0 root
	echo "measured: $LOWEST ns, and $(calc "$timely / 1e3") kbit/s"
	expect "lowest RTT, ns" "$LOWEST" -ge 5000000
	expect "lowest RTT, ns" "$LOWEST" -lt 20000000
	expect "timely's throughput" "$timely" -ge "$((mbit * 850000))"
}

# A start is counted, RTTs are averaged, and decisions are taken.
counters() {
	local name

	for name in BranchStart BranchAverage BranchLow; do
		expect "$name" "$(timely_count "$A" $name)" -ge 1
	done
	expect_same "completions" "$(timely_count "$A" Completions)" \
		"$(in_ns "$A" awk '/^Branch/ { n += $2 } END { print n }' /proc/net/timely)"
}

# Software makes a veth, whose timestamps are not worth asking for; with the paper's profile they are.
clock() {
	local name software other

	for name in auto paper; do
		timely_set "$A" profile $name
		software=$(timely_count "$A" FallbackSoftware)
		other=$(timely_count "$A" FallbackNoBus)
		throughput timely "$V4_B" 0.2 0.3 >/dev/null
		software=$(($(timely_count "$A" FallbackSoftware) - software))
		other=$(($(timely_count "$A" FallbackNoBus) - other))
		echo "measured: $name: $software and $other RTTs"
		if [ $name = auto ]; then
			expect "RTTs over software" "$software" -ge 20
			expect "RTTs without nic_ts" "$other" -eq 0
		else
			expect "RTTs over software" "$software" -eq 0
			expect "RTTs without nic_ts" "$other" -ge 20
		fi
	done
	timely_set "$A" profile auto
}

# What SO_MAX_PACING_RATE forbids is no rate of the flow: else no cut would change what it sends.
capped() {
	tc -n "$A" qdisc replace dev a0 root fq
	trace_on timely_update
	in_ns "$A" "$KSFT_DIR/timely_helper" paced "$V4_B" 5001 timely 1000000 2000000
	trace_off "$KSFT_TMP/trace"
	tc -n "$A" qdisc del dev a0 root
	awk "$TRACE_AWK"'
		/timely_update/ && ++n > 3 && v("old_rate") > 1000000 { print; bad = 1 }
		END { exit bad || n < 20 }' "$KSFT_TMP/trace"
}

# Each decision has a name in the trace.
named() {
	tc -n "$A" qdisc replace dev a0 root fq
	trace_on timely_update
	throughput timely "$V4_B" 0.2 0.3 >/dev/null
	trace_off "$KSFT_TMP/trace"
	tc -n "$A" qdisc del dev a0 root
	expect "decisions" "$(grep -c timely_update: "$KSFT_TMP/trace")" -ge 20
	expect "of the start" "$(grep -c branch=start "$KSFT_TMP/trace")" -ge 1
	expect "without a name" "$(grep -c branch=0x "$KSFT_TMP/trace")" -eq 0
}

ksft_plan 12
need_module
net_line
serve "$B"
ksft_case "what the CPU can do, above the line rate of a veth" no_wire
ksft_case "a flow that is more work for the CPU than those before" busier_flow
ack_delay 5
ksft_case "the same with an RTT of 5 ms" as_cubic fq "$V4_B" 0.85 tcp 0.3 0.2
shape $mbit
ksft_case "a shaped link over IPv4, paced by TCP above fq" as_cubic fq "$V4_B" 0.9 tcp
ksft_case "a shaped link over IPv6, paced by TCP" as_cubic pfifo_fast "$V6_B" 0.9 tcp
ksft_case "a shaped link over IPv4, paced by fq" as_cubic fq "$V4_B" 0.9 qdisc
ksft_case "a path that becomes longer" longer_path
ksft_case "a path that others have seen empty, and that became longer" later_flow
ksft_case "RTTs by TCP's clock over a veth" clock
ksft_case "a rate below SO_MAX_PACING_RATE" capped
ksft_case "decisions have names in the trace" named
ksft_case "counters of the profile" counters
