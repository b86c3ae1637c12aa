# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the tests of onrampctl doctor share, sourced as the first thing they do.
. "$(dirname "${BASH_SOURCE[0]}")/onramp_lib.sh"

CTL="onrampctl --state $KSFT_TMP/muted.json"

# doctor NAMESPACE STATUS [CODE]...: what it finds there, or with "" here, is that, and nothing else. A kernel
# that takes modules without a signature says so in a note, which is none of ours.
doctor() {
	local name=$1 want=$2 status=0
	shift 2

	$CTL ${name:+-n "$name"} -i "${INTERVAL:-0.5}" doctor >"$KSFT_TMP/report" 2>&1 || status=$?
	cat "$KSFT_TMP/report"
	expect_same codes "$(awk '/^(CRIT|WARN|note) / && $2 != "MODULE_UNSIGNED" { print $2 }' \
		"$KSFT_TMP/report" | sort -u | tr '\n' ' ')" "${*:+$* }"
	expect status "$status" -eq "$want"
}

# status NAMESPACE STATUS TEXT...: lines of onrampctl status begin with that.
status() {
	local name=$1 want=$2 status=0 text
	shift 2

	$CTL -n "$name" -i 0.5 status >"$KSFT_TMP/report" 2>&1 || status=$?
	cat "$KSFT_TMP/report"
	for text; do
		tr -s ' ' <"$KSFT_TMP/report" | grep -q "^$text" || fail "status lacks '$text'"
	done
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

# sent_by DEVICE PACKETS: as many left A by it.
sent_by() {
	in_ns "$A" awk -v dev="$1:" -v most="$2" '$1 == dev && $11 >= most { found = 1 }
		END { exit !found }' /proc/net/dev
}
