#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# net.ipv4.lipd.*: defaults, ranges, isolation.
#
#	A a0 ---------- b0 B
. "$(dirname "$0")/onramp.sh"

table=$KSFT_TMP/table
dir=ipv4/lipd

# in_shell NAME SCRIPT [ARG...]: many accesses for the price of one process.
in_shell() {
	local name=$1 script=$2
	shift 2

	in_ns "$name" bash -euc "cd /proc/sys/net/$dir; $script" bash "$@"
}

values() {
	in_shell "$1" 'for f in *; do read -r value <"$f"; echo "$f $value"; done'
}

reset() {
	in_shell "$1" 'while read -r name _ _ def _; do echo "$def" >"$name"; done' <"$table"
	values "$1" | diff - "$KSFT_TMP/defaults"
}

defaults() {
	values "$A" | diff - "$KSFT_TMP/defaults"
	values "$B" | diff - "$KSFT_TMP/defaults"
}

isolated() {
	params_set "$A" $dir rate_levels_log2 10 rates discrete segment_bytes 8192
	expect_same "A's N" "$(ns_get "$A" $dir/rate_levels_log2)" 10
	expect_same "A's rates" "$(ns_get "$A" $dir/rates)" discrete
	values "$B" | diff - "$KSFT_TMP/defaults"
	ns_add "$C"
	values "$C" | diff - "$KSFT_TMP/defaults"
	reset "$A"
}

# A value that is written reads back.
extremes() {
	in_shell "$A" '
	check() {
		echo "$2" >"$1" || { echo "$1=$2 is refused"; exit 1; }
		read -r got <"$1"
		[ "$got" = "$2" ] || { echo "$1=$2 reads $got"; exit 1; }
	}
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
	n=0
	bad() {
		if printf "%b" "$2" 2>/dev/null >"$1"; then
			echo "$1 took <$2> and is now $(cat "$1")"; exit 1
		fi
		n=$((n + 1))
	}
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
	values "$A" | diff - "$KSFT_TMP/defaults"
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
	expect_same "the files' modes" "$(in_shell "$A" 'stat -c %a * | sort -u')" 644
	refused in_ns "$A" "$KSFT_DIR/timely_helper" user 65534 \
		bash -c "echo 9 >/proc/sys/net/$dir/rate_levels_log2"
	values "$A" | diff - "$KSFT_TMP/defaults"
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
"$KSFT_DIR/lipd_params_table" >"$table"
awk '{ print $1, $4 }' "$table" | sort >"$KSFT_TMP/defaults"
C=$(ns_name C)
net_pair
ksft_case "every parameter is there, and no other, with its default" defaults
ksft_case "namespaces do not see each other's values" isolated
ksft_case "smallest and largest values are taken" extremes
ksft_case "what is not a number in the range is refused" garbage
ksft_case "a refused value is logged, with the unit" refusals
ksft_case "only root writes" unprivileged
ksft_case "a writer and traffic do not disturb each other" concurrent
