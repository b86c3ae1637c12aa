#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What marks do. R's port to B sends 50 Mbit/s, and marks what waited for more than 2 ms.
#
#	A a0 ---------- r0 R r1 ---------- b0 B
#	   R_max: 100 Mbit/s  tbf, fq_codel ce_threshold
. "$(dirname "$0")/onramp.sh"

helper=$KSFT_DIR/timely_helper
mbit=50

lipd_count() {
	proc_count lipd "$@"
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

# snapshot: of all counters, and what became of one since.
snapshot() {
	in_ns "$A" cat /proc/net/lipd >"$KSFT_TMP/A"
	in_ns "$B" cat /proc/net/lipd >"$KSFT_TMP/B"
}

grown() {
	local before

	before=$(awk -v name="$2" '$1 == name { print $2 }' "$KSFT_TMP/${1%-*}")
	echo $(($(lipd_count "$1" "$2") - before))
}

delivered_ce() {
	in_ns "$A" nstat -asz TcpExtTCPDeliveredCE | awk '/DeliveredCE/ { print $2 }'
}

# One packet in each segment: as many are marked as R marks, B echoes, A counts, and TCP says.
exact() {
	local to before marked

	params_set "$A" ipv4/lipd segment_bytes 1000
	for to in "$V4_B" "$V6_B"; do
		bottleneck
		snapshot
		before=$(delivered_ce)
		in_ns "$A" "$helper" send "$to" 5001 "$1" 1500000
		marked=$(of_codel ce_mark)
		echo "measured: $1 to $to: $marked marked, $(grown "$A" PacketsUnmarked) not"
		expect "packets marked by R" "$marked" -gt 5
		expect "dropped by R" "$(of_codel drops)" -eq 0
		expect "received with CE" "$(grown "$B" PacketsWithCE)" -eq "$marked"
		expect "acknowledged with ECE" "$(grown "$A" PacketsMarked)" -eq "$marked"
		expect "by TCP's own count" "$(($(delivered_ce) - before))" -eq "$marked"
		expect "all packets" "$(($(grown "$A" PacketsUnmarked) + marked))" -ge 1036
		expect "all packets" "$(($(grown "$A" PacketsUnmarked) + marked))" -le 1060
		expect "decreases" "$(($(grown "$A" Decreases) + $(grown "$A" MarkedAtRmin)))" \
			-le "$marked"
		expect "loss cuts" "$(grown "$A" LossCuts)" -eq 0
	done
	params_set "$A" ipv4/lipd segment_bytes 16384
}

# Each decision is the paper's formula, and each begins where the last one ended.
replay() {
	bottleneck
	params_set "$A" ipv4/lipd marks_per_rtt "$2"
	trace_on lipd_update lipd_set
	in_ns "$A" "$helper" send "$V4_B" 5001 "$1" 1500000
	trace_off "$KSFT_TMP/trace"
	params_set "$A" ipv4/lipd marks_per_rtt 1
	echo "$TRACE_AWK" >"$KSFT_TMP/trace.awk"
	awk -f "$KSFT_TMP/trace.awk" -f "$KSFT_DIR/replay.awk" law="$1" N=256 \
		all="$(($2 == 0))" "$KSFT_TMP/trace"
}

# One flow alone has the delay of the marks against it; many use what is there.
fills() {
	local goodput cc=$1 flows=$2

	bottleneck
	snapshot
	load "$A" --to "$V4_B" --cc "$cc" --flows "$flows" --warmup 1 --duration 3
	goodput=$(loaded goodput_bit_s)
	echo "measured: $cc, $flows flows: $(calc "$goodput / 1e6") Mbit/s," \
		"$(grown "$A" PacketsMarked) marked, $(of_codel drops) dropped"
	expect "goodput" "$goodput" -ge $((mbit * 1000000 * $3 / 100))
	expect "dropped by R" "$(of_codel drops)" -eq 0
	expect "loss cuts" "$(grown "$A" LossCuts)" -eq 0
	expect "timeouts" "$(grown "$A" TimeoutCuts)" -eq 0
	expect "marks" "$(grown "$A" PacketsMarked)" -gt 5
}

# Rates of whole delays are those of InfiniBand: Rmax by 1, 2, 3, ...
discrete() {
	params_set "$A" ipv4/lipd rates discrete
	bottleneck
	trace_on lipd_update
	in_ns "$A" "$helper" send "$V4_B" 5001 lipd 3000000
	trace_off "$KSFT_TMP/trace"
	params_set "$A" ipv4/lipd rates continuous
	wc -l "$KSFT_TMP/trace"
	awk "$TRACE_AWK"'{
		ipd = int(v("x") / 1e6 + 0.5)
		want = v("cap") / ipd
		# x is rounded for the trace.
		off = v("rate") - want
		if ((off > 2 || off < -2) && v("x") % 1000000 != 500000) {
			print "want", want, "in:", $0
			exit bad = 1
		}
		seen[ipd] = 1
	} END { exit bad || !(1 in seen) || !(2 in seen) }' "$KSFT_TMP/trace"
}

# Without a mark nothing happens, and the line rate is sent.
unmarked() {
	bottleneck 400ms
	tc -n "$R" qdisc change dev r1 root handle 1: tbf rate 400mbit burst 64k limit 1000000
	snapshot
	load "$A" --to "$V4_B" --cc lipd --warmup 0.5 --duration 1
	expect "marked" "$(grown "$A" PacketsMarked)" -eq 0
	expect "decreases" "$(grown "$A" Decreases)" -eq 0
	# 100 Mbit/s, headers and framing of it.
	expect "goodput" "$(loaded goodput_bit_s)" -ge 88000000
	expect "goodput" "$(loaded goodput_bit_s)" -le 95000000
}

# A fabric that drops instead: the rate is halved once per round trip, and the data arrives.
lossy() {
	data_lost 1
	snapshot
	in_ns "$A" "$helper" send "$V4_B" 5001 "$1" 3000000
	echo "measured: $1: $(grown "$A" LossCuts) cuts, $(grown "$A" TimeoutCuts) timeouts," \
		"$(grown "$A" Undos) undone"
	expect "cuts" "$(grown "$A" LossCuts)" -ge 1
	expect "cuts" "$(grown "$A" LossCuts)" -le 60
}

# Idle for longer than idle_reset_ns: Rmax again. Else what it had.
idle() {
	bottleneck
	snapshot
	params_set "$A" ipv4/lipd idle_reset_ns 150000000
	in_ns "$A" "$helper" bursts "$V4_B" 5001 lipd 300000 400 4
	expect "resets" "$(grown "$A" IdleResets)" -eq 3
	snapshot
	params_set "$A" ipv4/lipd idle_reset_ns 0
	in_ns "$A" "$helper" bursts "$V4_B" 5001 lipd 300000 400 4
	expect "resets" "$(grown "$A" IdleResets)" -eq 0
	params_set "$A" ipv4/lipd idle_reset_ns 100000000
}

# ss shows bytes of marked and of all packets, and the rate.
shown_by_ss() {
	local line marked all

	bottleneck
	spawn load "$A" --to "$V4_B" --cc fimd --duration 60
	wait_for 10 shown
	line=$(in_ns "$A" ss -Htni dst "$V4_B" | grep dctcp | tail -n 1)
	stop "$SPAWNED"
	echo "$line"
	[[ $line == *" fimd "* && $line == *"pacing_rate "* ]]
	[[ $line =~ ab_ecn:([0-9]+),ab_tot:([0-9]+) ]]
	marked=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
	expect "marked bytes" "$marked" -ge 1448
	expect "all bytes" "$all" -gt "$marked"
	expect "a whole number of packets" $((marked % 1448)) -eq 0
}

shown() {
	in_ns "$A" ss -Htni dst "$V4_B" | grep -q ' fimd .*ab_ecn:[1-9]'
}

# fq paces, then nobody does: TCP takes over, and the line is not overrun.
qdisc_gone() {
	bottleneck
	tc -n "$A" qdisc replace dev a0 root fq
	snapshot
	spawn load "$A" --to "$V4_B" --cc lipd --warmup 1 --duration 2
	sleep 1
	tc -n "$A" qdisc del dev a0 root
	wait "$SPAWNED"
	echo "measured: $(calc "$(loaded goodput_bit_s) / 1e6") Mbit/s, taken over" \
		"$(grown "$A" PacedByTcp) times, $(grown "$A" PacketsMarked) marked," \
		"$(grown "$A" LossCuts) cuts, $(grown "$A" TimeoutCuts) timeouts"
	expect "goodput" "$(loaded goodput_bit_s)" -ge $((mbit * 1000000 * 60 / 100))
	expect "taken over" "$(grown "$A" PacedByTcp)" -ge 1
}

# The computed window fills the path with hardly a queue: no flow needs a mark.
short_window() {
	params_set "$A" ipv4/lipd window_packets 0 segment_bytes 1000
	bottleneck
	snapshot
	load "$A" --to "$V4_B" --cc lipd --warmup 1 --duration 2
	params_set "$A" ipv4/lipd window_packets 60 segment_bytes 16384
	echo "measured: $(calc "$(loaded goodput_bit_s) / 1e6") Mbit/s," \
		"$(grown "$A" PacketsMarked) marked"
	expect "goodput" "$(loaded goodput_bit_s)" -ge $((mbit * 1000000 * 85 / 100))
	expect "marks" "$(grown "$A" PacketsMarked)" -eq 0
}

ksft_plan "$(often 15 21)"
need_module tcp_lipd
net_line
for ns in "$A" "$B"; do
	ns_set "$ns" ipv4/tcp_congestion_control lipd
done
in_ns "$A" ethtool -K a0 tso off >/dev/null
in_ns "$B" ethtool -K b0 gro off >/dev/null
# A window of 14 ms at the bottleneck; the computed one alone would keep the queue short.
params_set "$A" ipv4/lipd line_rate_mbit 100 window_packets 60
serve "$B"
for cc in lipd fimd ibaimd; do
	ksft_case "$cc: each decision is the paper's formula" replay $cc 1
	# How marks are counted is the same for all.
	[ $cc = lipd ] || [ "$THOROUGH" -eq 1 ] || continue
	ksft_case "$cc: R, B and A count the same marks, IPv4 and IPv6" exact $cc
	ksft_case "$cc: the same where all marks count" replay $cc 0
	ksft_case "$cc: half of the bottleneck at least and no drop, one flow" fills $cc 1 50
done
ksft_case "lipd: three quarters at least and no drop, eight flows" fills lipd 8 75
ksft_case "the computed window leaves no queue" short_window
ksft_case "discrete rates" discrete
ksft_case "no mark, no decrease" unmarked
ksft_case "lipd: a fabric that drops" lossy lipd
ksft_case "fimd: a fabric that drops" lossy fimd
ksft_case "idle flows start over, or keep what they had" idle
ksft_case "ss shows marks and the rate" shown_by_ss
ksft_case "TCP paces where fq goes" qdisc_gone
