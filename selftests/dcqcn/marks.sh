#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# CNPs, timers and bytes, in the topology of marks_lib.sh. All times are twenty times those of the
# paper, steps and bytes fit the rate.
. "$(dirname "$0")/marks_lib.sh"

defaults() {
	params_set "$A" ipv4/dcqcn line_rate_mbit 100 min_rate_kbit 500 cnp_interval_ns 1000000 \
		alpha_timer_ns 1100000 increase_timer_ns 1100000 byte_counter 50000 \
		additive_mbit 1 hyper_mbit 5 window_packets 0 segment_bytes 16384
}

cut_by_cnps() {
	local acks

	acks=$(($(grown "$A" Cnps) + $(grown "$A" MarksTooSoon)))
	echo "measured: $(grown "$A" Cnps) CNPs, $(grown "$A" MarksTooSoon) too soon"
	expect "ACKs with marks" "$acks" -le "$1"
	expect "CNPs" "$(grown "$A" Cnps)" -ge 2
}

# Each decision is the paper's, and each begins where the last one ended.
replay() {
	bottleneck
	# Few bytes, so that their count passes F between two CNPs.
	params_set "$A" ipv4/dcqcn byte_counter 5000
	trace_on dcqcn_update dcqcn_set
	in_ns "$A" "$helper" send "$V4_B" 5001 dcqcn 1500000
	trace_off "$KSFT_TMP/trace"
	echo "$TRACE_AWK" >"$KSFT_TMP/trace.awk"
	awk -f "$KSFT_TMP/trace.awk" -f "$KSFT_DIR/replay.awk" g=0.00390625 F=5 \
		ai=125000 hai=625000 least=62500 "$KSFT_TMP/trace"
	defaults
}

# The notification point's interval: none, and so long that one transfer sees the first CNP only.
interval() {
	bottleneck
	snapshot
	params_set "$A" ipv4/dcqcn cnp_interval_ns 0
	in_ns "$A" "$helper" send "$V4_B" 5001 dcqcn 1000000
	expect "too soon" "$(grown "$A" MarksTooSoon)" -eq 0
	expect "CNPs" "$(grown "$A" Cnps)" -gt 2
	bottleneck
	snapshot
	params_set "$A" ipv4/dcqcn cnp_interval_ns 1000000000
	in_ns "$A" "$helper" send "$V4_B" 5001 dcqcn 1000000
	expect "CNPs" "$(grown "$A" Cnps)" -eq 1
	expect "too soon" "$(grown "$A" MarksTooSoon)" -gt 2
	defaults
}

# Without bytes there is no hyper increase, and without a timer nothing but bytes.
stages() {
	bottleneck
	snapshot
	params_set "$A" ipv4/dcqcn byte_counter 1000000000
	in_ns "$A" "$helper" send "$V4_B" 5001 dcqcn 2000000
	expect "by bytes" "$(grown "$A" IncreasesByBytes)" -eq 0
	expect "hyper" "$(grown "$A" HyperIncreases)" -eq 0
	expect "additive" "$(grown "$A" AdditiveIncreases)" -gt 5
	bottleneck
	snapshot
	params_set "$A" ipv4/dcqcn byte_counter 20000 increase_timer_ns 1000000000 \
		min_rate_kbit 5000
	in_ns "$A" "$helper" send "$V4_B" 5001 dcqcn 1000000
	expect "by bytes" "$(grown "$A" IncreasesByBytes)" -gt 5
	expect "hyper" "$(grown "$A" HyperIncreases)" -eq 0
	expect "all" "$(($(grown "$A" FastRecoveries) + $(grown "$A" AdditiveIncreases)))" \
		-ge "$(grown "$A" IncreasesByBytes)"
	defaults
}

# A window that R has no queue for: no mark.
window() {
	params_set "$A" ipv4/dcqcn window_packets 4 segment_bytes 1000
	bottleneck
	snapshot
	load "$A" --to "$V4_B" --cc dcqcn --warmup 0.5 --duration 1
	expect "marks" "$(grown "$A" PacketsMarked)" -eq 0
	expect "goodput" "$(loaded goodput_bit_s)" -ge $((mbit * 1000000 / 2))
	defaults
}

# The timers run while a flow is idle: 400 ms are 363 of its increases and decays, no more.
idle() {
	bottleneck
	trace_on dcqcn_update dcqcn_set
	in_ns "$A" "$helper" bursts "$V4_B" 5001 dcqcn 300000 400 4
	trace_off "$KSFT_TMP/trace"
	awk "$TRACE_AWK"'
		/dcqcn_update/ && v("timer") > 100 {
			print
			n++
			if (v("timer") > 500 || v("decays") < 100 || v("marked")) exit bad = 1
			if (v("rate") != v("cap")) exit bad = 1
		}
		END { exit bad || n != 3 }' "$KSFT_TMP/trace"
}

# Data on its way, and no path any more: the module is not in use for long after the test.
no_path() {
	bottleneck
	spawn load "$A" --to "$V4_B" --cc dcqcn --duration 60
	wait_for 10 shown dcqcn
	ip netns del "$R"
	expect "uses of the module" "$(cat /sys/module/tcp_dcqcn/refcnt)" -gt 2
}

ksft_plan 13
topology
defaults
ksft_case "R, B and A count the same marks, IPv4 and IPv6" exact dcqcn cut_by_cnps
ksft_case "each decision is the paper's equation" replay
ksft_case "half of the bottleneck at least and no drop, one flow" fills dcqcn 1 50 2
ksft_case "three quarters at least and no drop, eight flows" fills dcqcn 8 75 2
ksft_case "one CNP in an interval" interval
ksft_case "stages by timer and by bytes" stages
ksft_case "no mark, no CNP" unmarked Cnps FastRecoveries
ksft_case "a window" window
ksft_case "a fabric that drops" lossy dcqcn
ksft_case "timers run while a flow is idle" idle
ksft_case "ss shows alpha, marks and the rate" shown_by_ss dcqcn 1 1024
ksft_case "TCP paces where fq goes" qdisc_gone 40
ksft_case "what has lost its path ends with the test" no_path
