#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# CNPs, timers and bytes. R's port to B sends 50 Mbit/s, and marks packets that waited for more
# than 2 ms. All times are twenty times those of the paper, steps and bytes fit the rate.
#
#	A a0 ---------- r0 R r1 ---------- b0 B
#	      100 Mbit/s      tbf, fq_codel ce_threshold
. "$(dirname "$0")/onramp.sh"

helper=$KSFT_DIR/timely_helper
mbit=50

dcqcn_count() {
	proc_count dcqcn "$@"
}

# r1: the bottleneck. With a new one its counters begin at 0.
bottleneck() {
	tc -n "$R" qdisc del dev r1 root 2>/dev/null || :
	tc -n "$R" qdisc add dev r1 root handle 1: tbf rate ${mbit}mbit burst 16k limit 1000000
	tc -n "$R" qdisc add dev r1 parent 1:1 handle 2: fq_codel ce_threshold "${1:-2ms}" \
		target 500ms interval 1s flows 1
}

# of_codel NAME: one of its statistics; tc leaves some out while they are 0.
of_codel() {
	tc -n "$R" -s -j qdisc show dev r1 | tr ',{' '\n\n' |
		sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" | awk '$1 > n { n = $1 } END { print n + 0 }'
}

# snapshot: of all counters; grown: the growth of one since.
snapshot() {
	in_ns "$A" cat /proc/net/dcqcn >"$KSFT_TMP/A"
	in_ns "$B" cat /proc/net/dcqcn >"$KSFT_TMP/B"
}

grown() {
	local before

	before=$(awk -v name="$2" '$1 == name { print $2 }' "$KSFT_TMP/${1%-*}")
	echo $(($(dcqcn_count "$1" "$2") - before))
}

delivered_ce() {
	in_ns "$A" nstat -asz TcpExtTCPDeliveredCE | awk '/DeliveredCE/ { print $2 }'
}

defaults() {
	params_set "$A" ipv4/dcqcn line_rate_mbit 100 min_rate_kbit 500 cnp_interval_ns 1000000 \
		alpha_timer_ns 1100000 increase_timer_ns 1100000 byte_counter 50000 \
		additive_mbit 1 hyper_mbit 5 window_packets 0 segment_bytes 16384
}

# One packet in each segment: as many are marked as R marks, B echoes, A counts, and TCP says.
exact() {
	local to before marked acks

	params_set "$A" ipv4/dcqcn segment_bytes 1000
	for to in "$V4_B" "$V6_B"; do
		bottleneck
		snapshot
		before=$(delivered_ce)
		in_ns "$A" "$helper" send "$to" 5001 dcqcn 1500000
		marked=$(of_codel ce_mark)
		acks=$(($(grown "$A" Cnps) + $(grown "$A" MarksTooSoon)))
		echo "measured: to $to: $marked marked, $(grown "$A" PacketsUnmarked) not," \
			"$(grown "$A" Cnps) CNPs, $(grown "$A" MarksTooSoon) too soon"
		expect "packets marked by R" "$marked" -gt 5
		expect "dropped by R" "$(of_codel drops)" -eq 0
		expect "received with CE" "$(grown "$B" PacketsWithCE)" -eq "$marked"
		expect "acknowledged with ECE" "$(grown "$A" PacketsMarked)" -eq "$marked"
		expect "by TCP's own count" "$(($(delivered_ce) - before))" -eq "$marked"
		expect "all packets" "$(($(grown "$A" PacketsUnmarked) + marked))" -ge 1036
		expect "all packets" "$(($(grown "$A" PacketsUnmarked) + marked))" -le 1060
		expect "ACKs with marks" "$acks" -le "$marked"
		expect "CNPs" "$(grown "$A" Cnps)" -ge 2
		expect "loss cuts" "$(grown "$A" LossCuts)" -eq 0
	done
	defaults
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

fills() {
	local goodput flows=$1

	bottleneck
	snapshot
	load "$A" --to "$V4_B" --cc dcqcn --flows "$flows" --warmup 1 --duration 2
	goodput=$(loaded goodput_bit_s)
	echo "measured: $flows flows: $(calc "$goodput / 1e6") Mbit/s," \
		"$(grown "$A" PacketsMarked) marked, $(grown "$A" Cnps) CNPs," \
		"$(of_codel drops) dropped"
	expect "goodput" "$goodput" -ge $((mbit * 1000000 * $2 / 100))
	expect "dropped by R" "$(of_codel drops)" -eq 0
	expect "loss cuts" "$(grown "$A" LossCuts)" -eq 0
	expect "timeouts" "$(grown "$A" TimeoutCuts)" -eq 0
	expect "CNPs" "$(grown "$A" Cnps)" -gt 5
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

# Without a mark nothing happens, and the line rate is sent.
unmarked() {
	bottleneck 400ms
	tc -n "$R" qdisc change dev r1 root handle 1: tbf rate 400mbit burst 64k limit 1000000
	snapshot
	load "$A" --to "$V4_B" --cc dcqcn --warmup 0.5 --duration 1
	expect "marked" "$(grown "$A" PacketsMarked)" -eq 0
	expect "CNPs" "$(grown "$A" Cnps)" -eq 0
	expect "recoveries" "$(grown "$A" FastRecoveries)" -eq 0
	# 100 Mbit/s, headers and framing of it.
	expect "goodput" "$(loaded goodput_bit_s)" -ge 88000000
	expect "goodput" "$(loaded goodput_bit_s)" -le 95000000
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

# A fabric that drops instead: the rate is halved once per round trip, and the data arrives.
lossy() {
	data_lost 1
	snapshot
	in_ns "$A" "$helper" send "$V4_B" 5001 dcqcn 3000000
	echo "measured: $(grown "$A" LossCuts) cuts, $(grown "$A" TimeoutCuts) timeouts," \
		"$(grown "$A" Undos) undone"
	expect "cuts" "$(grown "$A" LossCuts)" -ge 1
	expect "cuts" "$(grown "$A" LossCuts)" -le 60
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

# ss shows alpha of 1024, bytes of marked and of all packets, and the rate.
shown_by_ss() {
	local line alpha marked all

	bottleneck
	spawn load "$A" --to "$V4_B" --cc dcqcn --duration 60
	wait_for 10 shown
	line=$(in_ns "$A" ss -Htni dst "$V4_B" | grep dctcp | tail -n 1)
	stop "$SPAWNED"
	echo "$line"
	[[ $line == *" dcqcn "* && $line == *"pacing_rate "* ]]
	[[ $line =~ alpha:([0-9]+),ab_ecn:([0-9]+),ab_tot:([0-9]+) ]]
	alpha=${BASH_REMATCH[1]} marked=${BASH_REMATCH[2]} all=${BASH_REMATCH[3]}
	expect "alpha" "$alpha" -ge 1
	expect "alpha" "$alpha" -le 1024
	expect "marked bytes" "$marked" -ge 1448
	expect "all bytes" "$all" -gt "$marked"
	expect "a whole number of packets" $((marked % 1448)) -eq 0
}

shown() {
	in_ns "$A" ss -Htni dst "$V4_B" | grep -q ' dcqcn .*ab_ecn:[1-9]'
}

# fq paces, then nobody does: TCP takes over, and the line is not overrun.
qdisc_gone() {
	bottleneck
	tc -n "$A" qdisc replace dev a0 root fq
	snapshot
	spawn load "$A" --to "$V4_B" --cc dcqcn --warmup 1 --duration 2
	sleep 1
	tc -n "$A" qdisc del dev a0 root
	wait "$SPAWNED"
	echo "measured: $(calc "$(loaded goodput_bit_s) / 1e6") Mbit/s, taken over" \
		"$(grown "$A" PacedByTcp) times, $(grown "$A" PacketsMarked) marked," \
		"$(grown "$A" LossCuts) cuts, $(grown "$A" TimeoutCuts) timeouts"
	expect "goodput" "$(loaded goodput_bit_s)" -ge $((mbit * 1000000 * 40 / 100))
	expect "taken over" "$(grown "$A" PacedByTcp)" -ge 1
}

# Data on its way, and no path any more: the module is not in use for long after the test.
no_path() {
	bottleneck
	spawn load "$A" --to "$V4_B" --cc dcqcn --duration 60
	wait_for 10 shown
	ip netns del "$R"
	expect "uses of the module" "$(cat /sys/module/tcp_dcqcn/refcnt)" -gt 2
}

ksft_plan 13
need_module tcp_dcqcn
net_line
for ns in "$A" "$B"; do
	ns_set "$ns" ipv4/tcp_congestion_control dcqcn
done
in_ns "$A" ethtool -K a0 tso off >/dev/null
in_ns "$B" ethtool -K b0 gro off >/dev/null
defaults
serve "$B"
ksft_case "R, B and A count the same marks, IPv4 and IPv6" exact
ksft_case "each decision is the paper's equation" replay
ksft_case "half of the bottleneck at least and no drop, one flow" fills 1 50
ksft_case "three quarters at least and no drop, eight flows" fills 8 75
ksft_case "one CNP in an interval" interval
ksft_case "stages by timer and by bytes" stages
ksft_case "no mark, no CNP" unmarked
ksft_case "a window" window
ksft_case "a fabric that drops" lossy
ksft_case "timers run while a flow is idle" idle
ksft_case "ss shows alpha, marks and the rate" shown_by_ss
ksft_case "TCP paces where fq goes" qdisc_gone
ksft_case "what has lost its path ends with the test" no_path
