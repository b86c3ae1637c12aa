#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# net.ipv4.lipd.*: defaults, ranges, isolation.
#
#	A a0 ---------- b0 B
. "$(dirname "$0")/onramp.sh"
. "$(dirname "$0")/params.sh"

dir=ipv4/lipd

reset() {
	in_shell "$1" 'while read -r name _ _ def _; do echo "$def" >"$name"; done' <"$table"
	expect_defaults "$1"
}

isolated() {
	params_set "$A" $dir rate_levels_log2 10 rates discrete segment_bytes 8192
	expect_same "A's N" "$(ns_get "$A" $dir/rate_levels_log2)" 10
	expect_same "A's rates" "$(ns_get "$A" $dir/rates)" discrete
	expect_defaults "$B"
	ns_add "$C"
	expect_defaults "$C"
	reset "$A"
}

# A value that is written reads back.
extremes() {
	in_shell "$A" '
	while read -r name min max def words; do
		if [ -n "$words" ]; then
			check "$name" "${words##*|}"
			check "$name" "${words%%|*}"
		else
			check "$name" "$min"
			check "$name" "$max"
			check "$name" "$def"
		fi
	done' <"$table"
	reset "$A"
}

# What is not a number in the range is refused and changes nothing.
garbage() {
	in_shell "$A" '
	while read -r name min max _ words; do
		read -r before <"$name"
		if [ -z "$words" ]; then
			[ "$min" = 0 ] || bad "$name" "$((min - 1))"
			bad "$name" "$((max + 1))"
		fi
		for text in -1 0x3e8 1e3 abc " " "1000 2000" 1000x 18446744073709551616 \
			    Discrete "continuous discrete"; do
			bad "$name" "$text"
		done
		read -r after <"$name"
		[ "$after" = "$before" ] || {
			echo "$name changed from $before to $after"; exit 1; }
	done
	echo "$n values refused"
	[ "$n" -ge 65 ]' <"$table"
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
	wait_for 12 logged "tcp_lipd: rate_levels_log2 '13': expected 1 to 12" \
		rate_levels_log2 13
	wait_for 12 logged "tcp_lipd: window_packets '65536': expected 0 to 65535, in packets" \
		window_packets 65536
	wait_for 12 logged "tcp_lipd: rates 'any': expected continuous or discrete" rates any
}

unprivileged() {
	only_root_writes rate_levels_log2 9
}

# A writer of all parameters, while traffic reads them, N becoming less in mid-flow.
concurrent() {
	ns_set "$A" ipv4/tcp_congestion_control lipd
	ns_set "$B" ipv4/tcp_congestion_control lipd
	serve "$B"
	spawn in_shell "$A" '
	i=0
	while [ "$i" -lt 400 ]; do
		echo $((i % 12 + 1)) >rate_levels_log2
		echo $((i % 3)) >window_packets
		echo $((i % 5 * 60000 + 600)) >segment_bytes
		[ $((i % 2)) = 1 ] && echo discrete >rates || echo continuous >rates
		i=$((i + 1))
	done'
	load "$A" --to "$V4_B" --cc lipd --flows 4 --duration 2
	expect "bytes acknowledged" "$(loaded counters.bytes_acked)" -gt 1000000
	wait "$SPAWNED"
	reset "$A"
	ns_set "$A" ipv4/tcp_congestion_control cubic
}

ksft_plan 7
need_module tcp_lipd
params_table lipd_params_table
C=$(ns_name C)
net_pair
ksft_case "every parameter is there, and no other, with its default" defaults
ksft_case "namespaces do not see each other's values" isolated
ksft_case "smallest and largest values are taken" extremes
ksft_case "what is not a number in the range is refused" garbage
ksft_case "a refused value is logged, with the unit" refusals
ksft_case "only root writes" unprivileged
ksft_case "a writer and traffic do not disturb each other" concurrent
