# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the tests of onrampctl share, sourced as the first thing they do.
. "$(dirname "${BASH_SOURCE[0]}")/onramp_lib.sh"

# ctl STATUS ARGUMENT...: onrampctl in A; its output is in out and err.
ctl() {
	local want=$1 status=0
	shift

	onrampctl -n "$A" "$@" >"$KSFT_TMP/out" 2>"$KSFT_TMP/err" || status=$?
	cat "$KSFT_TMP/out" "$KSFT_TMP/err"
	expect "status of $*" "$status" -eq "$want"
}

# member KEY [FILE]: its first value in JSON, without quotes.
member() {
	sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p" "${2:-$KSFT_TMP/out}" |
		head -n 1
}

says() {
	grep -qF -- "$1" "$KSFT_TMP/${2:-out}" || fail "it does not say '$1'"
}

# One sentence on stderr, and nothing else.
sentence() {
	expect "lines" "$(cat "$KSFT_TMP/out" "$KSFT_TMP/err" | wc -l)" -eq 1
	says "$1" err
}

# load_slow [OPTION...]: one connection of dcload to B, which answers with OR-ACKs of 2 s. Of a
# fast one these may be late, as a program sends them, and find no record.
load_slow() {
	fresh owd synced nobound line_rate 400gbit threshold 500ms ack_timeout 10s max_pause 2ms
	acker delay 2000000
	spawn_load "$A" --to "$B4" --flows 1 --duration 600 --cc timely "$@"
	echo "$SPAWNED" >"$KSFT_TMP/load"
}

# above A B: numbers with a fraction.
above() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b) }'
}

# monitor FILE ARGUMENT...: in A, in the background; sets SPAWNED.
monitor() {
	MONITOR_FILE=$1
	shift
	spawn monitor_into "$@"
}

monitor_into() {
	exec onrampctl -n "$A" "$@" >"$MONITOR_FILE"
}

# dominant CAUSE FILTER...: why names it, and little is unknown.
dominant() {
	local cause=$1
	shift

	ctl 0 -i 2 -j why "$@"
	expect_same dominant "$(member dominant)" "$cause"
	above 0.05 "$(member unknown)" || fail "unknown share: $(member unknown)"
}

# near WHAT SHARE TRUTH: of the last why, 0 to 1, within ten points of so many percent.
near() {
	local share

	share=$(awk -v v="$2" 'BEGIN { printf "%d", v * 100 + 0.5 }')
	echo "measured: $1 $share %, in truth $3 %"
	expect "share of $1" "$share" -ge $(($3 - 10))
	expect "share of $1" "$share" -le $(($3 + 10))
}
