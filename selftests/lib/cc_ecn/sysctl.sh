#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The sysctls of a congestion control: defaults, ranges, isolation.
#
#	A a0 ---------- b0 B
. "$(dirname "$0")/onramp.sh"
. "$(dirname "$0")/params.sh"
. "$(dirname "$0")/law.sh"

# shellcheck disable=SC2154 # of law.sh: some, refusals, writer
cc=${ccs[0]}
dir=ipv4/$cc

reset() {
	in_shell "$1" 'while read -r name _ _ def _; do echo "$def" >"$name"; done' <"$table"
	expect_defaults "$1"
}

isolated() {
	local i

	params_set "$A" "$dir" "${some[@]}"
	for ((i = 0; i < ${#some[@]}; i += 2)); do
		expect_same "A's ${some[i]}" "$(ns_get "$A" "$dir/${some[i]}")" "${some[i + 1]}"
	done
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
	[ "$n" -ge '"$((10 * $(wc -l <"$table")))"' ]' <"$table"
	expect_defaults "$A"
}

# logged TEXT PARAMETER VALUE: the kernel limits the rate of these messages.
logged() {
	local before

	before=$(dmesg | grep -cF "$1" || :)
	refused params_set "$A" "$dir" "$2" "$3" 2>/dev/null || exit 1
	[ "$(dmesg | grep -cF "$1" || :)" -gt "$before" ]
}

refusals() {
	local name value expected

	while read -r name value expected; do
		wait_for 12 logged "tcp_$cc: $name '$value': expected $expected" "$name" "$value"
	done <<<"$refusals"
}

unprivileged() {
	only_root_writes "${some[@]:0:2}"
}

# A writer of parameters, while traffic reads them; some become less in mid-flow.
concurrent() {
	ns_set "$A" ipv4/tcp_congestion_control "$cc"
	ns_set "$B" ipv4/tcp_congestion_control "$cc"
	serve "$B"
	spawn in_shell "$A" '
	i=0
	while [ "$i" -lt 400 ]; do
		'"$writer"'
		echo $((i % 3)) >window_packets
		echo $((i % 5 * 60000 + 600)) >segment_bytes
		i=$((i + 1))
	done'
	load "$A" --to "$V4_B" --cc "$cc" --flows 4 --duration 2
	expect "bytes acknowledged" "$(loaded counters.bytes_acked)" -gt 1000000
	wait "$SPAWNED"
	reset "$A"
	ns_set "$A" ipv4/tcp_congestion_control cubic
}

ksft_plan 7
need_module "tcp_$cc"
params_table params_table
C=$(ns_name C)
net_pair
ksft_case "every parameter is there, and no other, with its default" defaults
ksft_case "namespaces do not see each other's values" isolated
ksft_case "smallest and largest values are taken" extremes
ksft_case "what is not a number in the range is refused" garbage
ksft_case "a refused value is logged, with the unit" refusals
ksft_case "only root writes" unprivileged
ksft_case "a writer and traffic do not disturb each other" concurrent
