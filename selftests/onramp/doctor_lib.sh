# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the tests of onrampctl doctor share, sourced as the first thing they do.
. "$(dirname "${BASH_SOURCE[0]}")/onramp_lib.sh"

CTL="onrampctl --state $KSFT_TMP/muted.json"

# doctor NAMESPACE STATUS [CODE]...: what it finds there is that, and nothing else. A kernel
# that takes modules without a signature says so in a note, which is none of ours.
doctor() {
	local name=$1 want=$2 status=0
	shift 2

	$CTL -n "$name" -i 0.5 doctor >"$KSFT_TMP/report" 2>&1 || status=$?
	cat "$KSFT_TMP/report"
	expect_same codes "$(awk '/^(CRIT|WARN|note) / && $2 != "MODULE_UNSIGNED" { print $2 }' \
		"$KSFT_TMP/report" | sort -u | tr '\n' ' ')" "${*:+$* }"
	expect status "$status" -eq "$want"
}

says() {
	grep -qF -- "$1" "$KSFT_TMP/report" || fail "it does not say '$1'"
}

# listed_as ADDRESS STATE: of the list of peers.
listed_as() {
	in_ns "$A" awk -v addr="$1" -v state="$2" '$2 == addr && $3 == state { found = 1 }
		END { exit !found }' /proc/net/onramp_peers
}
