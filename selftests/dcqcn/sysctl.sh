#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# net.ipv4.dcqcn.*: defaults, ranges, isolation.
#
#	A a0 ---------- b0 B
. "$(dirname "$0")/onramp.sh"
. "$(dirname "$0")/params.sh"

dir=ipv4/dcqcn

reset() {
	in_shell "$1" 'while read -r name _ _ def _; do echo "$def" >"$name"; done' <"$table"
	expect_defaults "$1"
}

isolated() {
	params_set "$A" $dir alpha_gain_log2 10 additive_mbit 5 segment_bytes 8192
	expect_same "A's gain" "$(ns_get "$A" $dir/alpha_gain_log2)" 10
	expect_same "A's step" "$(ns_get "$A" $dir/additive_mbit)" 5
	expect_defaults "$B"
	ns_add "$C"
	expect_defaults "$C"
	reset "$A"
}

# A value that is written reads back.
extremes() {
	in_shell "$A" '
	while read -r name min max def; do
		check "$name" "$min"
		check "$name" "$max"
		check "$name" "$def"
	done' <"$table"
	reset "$A"
}

# What is not a number in the range is refused and changes nothing.
garbage() {
	in_shell "$A" '
	while read -r name min max _; do
		read -r before <"$name"
		[ "$min" = 0 ] || bad "$name" "$((min - 1))"
		bad "$name" "$((max + 1))"
		for text in -1 0x3e8 1e3 abc " " "1000 2000" 1000x 18446744073709551616; do
			bad "$name" "$text"
		done
		read -r after <"$name"
		[ "$after" = "$before" ] || {
			echo "$name changed from $before to $after"; exit 1; }
	done
	echo "$n values refused"
	[ "$n" -ge 110 ]' <"$table"
	expect_defaults "$A"
}

# logged TEXT PARAMETER VALUE: the kernel limits the rate of these messages.
logged() {
	local before

	before=$(dmesg | grep -cF "$1" || :)
	refused params_set "$A" $dir "$2" "$3" 2>/dev/null || exit 1
	[ "$(dmesg | grep -cF "$1" || :)" -gt "$before" ]
}

refusals() {
	wait_for 12 logged "tcp_dcqcn: alpha_gain_log2 '17': expected 1 to 16" alpha_gain_log2 17
	wait_for 12 logged "tcp_dcqcn: window_packets '65536': expected 0 to 65535, in packets" \
		window_packets 65536
}

unprivileged() {
	only_root_writes alpha_gain_log2 9
}

# A writer of parameters, while traffic reads them; also, the lowest rate above the line rate.
concurrent() {
	ns_set "$A" ipv4/tcp_congestion_control dcqcn
	ns_set "$B" ipv4/tcp_congestion_control dcqcn
	serve "$B"
	spawn in_shell "$A" '
	i=0
	while [ "$i" -lt 400 ]; do
		echo $((i % 16 + 1)) >alpha_gain_log2
		echo $((i % 3)) >window_packets
		echo $((i % 5 * 60000 + 600)) >segment_bytes
		echo $((i % 2 * 99000000 + 1000)) >min_rate_kbit
		echo $((i % 3 * 1000000 + 1000)) >increase_timer_ns
		echo $((i % 4 * 10000 + 1000)) >byte_counter
		i=$((i + 1))
	done'
	load "$A" --to "$V4_B" --cc dcqcn --flows 4 --duration 2
	expect "bytes acknowledged" "$(loaded counters.bytes_acked)" -gt 1000000
	wait "$SPAWNED"
	reset "$A"
	ns_set "$A" ipv4/tcp_congestion_control cubic
}

ksft_plan 7
need_module tcp_dcqcn
params_table dcqcn_params_table
C=$(ns_name C)
net_pair
ksft_case "every parameter is there, and no other, with its default" defaults
ksft_case "namespaces do not see each other's values" isolated
ksft_case "smallest and largest values are taken" extremes
ksft_case "what is not a number in the range is refused" garbage
ksft_case "a refused value is logged, with the unit" refusals
ksft_case "only root writes" unprivileged
ksft_case "a writer and traffic do not disturb each other" concurrent
