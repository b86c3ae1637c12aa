# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What marks do to a congestion control. R's port to B sends 50 Mbit/s, and marks packets that
# waited for more than 2 ms.
#
#	A a0 ---------- r0 R r1 ---------- b0 B
#	      100 Mbit/s      tbf, fq_codel ce_threshold
#
# Source it first in marks.sh.
. "$(dirname "$0")/onramp.sh"
. "$(dirname "$0")/law.sh"

helper=$KSFT_DIR/timely_helper
mbit=50
cc=${ccs[0]}

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
	in_ns "$A" cat "/proc/net/$cc" >"$KSFT_TMP/A"
	in_ns "$B" cat "/proc/net/$cc" >"$KSFT_TMP/B"
}

grown() {
	local before

	before=$(awk -v name="$2" '$1 == name { print $2 }' "$KSFT_TMP/${1%-*}")
	echo $(($(proc_count "$cc" "$1" "$2") - before))
}

delivered_ce() {
	in_ns "$A" nstat -asz TcpExtTCPDeliveredCE | awk '/DeliveredCE/ { print $2 }'
}

# topology: the two links, and all of A's and B's traffic with the first of the congestion controls.
topology() {
	local ns

	need_module "tcp_$cc"
	net_line
	for ns in "$A" "$B"; do
		ns_set "$ns" ipv4/tcp_congestion_control "$cc"
	done
	in_ns "$A" ethtool -K a0 tso off >/dev/null
	in_ns "$B" ethtool -K b0 gro off >/dev/null
	serve "$B"
}

# exact NAME CHECK: one packet in each segment: as many are marked as R marks, B echoes, A
# counts, and TCP says. CHECK MARKED is called for each.
exact() {
	local to before marked

	params_set "$A" "ipv4/$cc" segment_bytes 1000
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
		expect "loss cuts" "$(grown "$A" LossCuts)" -eq 0
		"$2" "$marked"
	done
	params_set "$A" "ipv4/$cc" segment_bytes 16384
}

# fills NAME FLOWS SHARE SECONDS: that share of the bottleneck in percent at least.
fills() {
	local goodput

	bottleneck
	snapshot
	load "$A" --to "$V4_B" --cc "$1" --flows "$2" --warmup 1 --duration "$4"
	goodput=$(loaded goodput_bit_s)
	echo "measured: $1, $2 flows: $(calc "$goodput / 1e6") Mbit/s," \
		"$(grown "$A" PacketsMarked) marked, $(of_codel drops) dropped"
	expect "goodput" "$goodput" -ge $((mbit * 1000000 * $3 / 100))
	expect "dropped by R" "$(of_codel drops)" -eq 0
	expect "loss cuts" "$(grown "$A" LossCuts)" -eq 0
	expect "timeouts" "$(grown "$A" TimeoutCuts)" -eq 0
	# shellcheck disable=SC2154 # of law.sh
	expect "marks that lowered a rate" "$(grown "$A" "$decreases")" -gt 5
}

# unmarked COUNTER...: without a mark nothing happens, and the line rate is sent.
unmarked() {
	local name

	bottleneck 400ms
	tc -n "$R" qdisc change dev r1 root handle 1: tbf rate 400mbit burst 64k limit 1000000
	snapshot
	load "$A" --to "$V4_B" --cc "$cc" --warmup 0.5 --duration 1
	for name in PacketsMarked "$@"; do
		expect "$name" "$(grown "$A" "$name")" -eq 0
	done
	# 100 Mbit/s, headers and framing of it.
	expect "goodput" "$(loaded goodput_bit_s)" -ge 88000000
	expect "goodput" "$(loaded goodput_bit_s)" -le 95000000
}

# lossy NAME: a fabric that drops instead: the rate is halved once per round trip, and the data
# arrives.
lossy() {
	data_lost 1
	snapshot
	in_ns "$A" "$helper" send "$V4_B" 5001 "$1" 3000000
	echo "measured: $1: $(grown "$A" LossCuts) cuts, $(grown "$A" TimeoutCuts) timeouts," \
		"$(grown "$A" Undos) undone"
	expect "cuts" "$(grown "$A" LossCuts)" -ge 1
	expect "cuts" "$(grown "$A" LossCuts)" -le 60
}

# shown_by_ss NAME MIN MAX: ss shows alpha, of 1024, in that range; bytes of marked and of all
# packets, and the rate.
shown_by_ss() {
	local line alpha marked all

	bottleneck
	spawn load "$A" --to "$V4_B" --cc "$1" --duration 60
	wait_for 10 shown "$1"
	line=$(in_ns "$A" ss -Htni dst "$V4_B" | grep dctcp | tail -n 1)
	stop "$SPAWNED"
	echo "$line"
	[[ $line == *" $1 "* && $line == *"pacing_rate "* ]]
	[[ $line =~ alpha:([0-9]+),ab_ecn:([0-9]+),ab_tot:([0-9]+) ]]
	alpha=${BASH_REMATCH[1]} marked=${BASH_REMATCH[2]} all=${BASH_REMATCH[3]}
	expect "alpha" "$alpha" -ge "$2"
	expect "alpha" "$alpha" -le "$3"
	expect "marked bytes" "$marked" -ge 1448
	expect "all bytes" "$all" -gt "$marked"
	expect "a whole number of packets" $((marked % 1448)) -eq 0
}

shown() {
	in_ns "$A" ss -Htni dst "$V4_B" | grep -q " $1 .*ab_ecn:[1-9]"
}

# qdisc_gone SHARE: fq paces, then nobody does: TCP takes over, and the line is not overrun.
qdisc_gone() {
	bottleneck
	tc -n "$A" qdisc replace dev a0 root fq
	snapshot
	spawn load "$A" --to "$V4_B" --cc "$cc" --warmup 1 --duration 2
	sleep 1
	tc -n "$A" qdisc del dev a0 root
	wait "$SPAWNED"
	echo "measured: $(calc "$(loaded goodput_bit_s) / 1e6") Mbit/s, taken over" \
		"$(grown "$A" PacedByTcp) times, $(grown "$A" PacketsMarked) marked," \
		"$(grown "$A" LossCuts) cuts, $(grown "$A" TimeoutCuts) timeouts"
	expect "goodput" "$(loaded goodput_bit_s)" -ge $((mbit * 1000000 * $1 / 100))
	expect "taken over" "$(grown "$A" PacedByTcp)" -ge 1
}
