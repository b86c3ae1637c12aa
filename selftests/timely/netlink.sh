#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The netlink family "timely": the state of each socket, of this namespace, to who may see it.
#
#	A a0 ---------- b0 B
TIMELY_PROFILE=auto
. "$(dirname "$0")/onramp.sh"

genl() {
	"$KSFT_DIR/genl_helper" -n "$A" "$@"
}

# field NAME: of each line on stdin.
field() {
	awk -v name="$1" '{
		for (i = 1; i <= NF; i++)
			if (index($i, name "=") == 1)
				print substr($i, length(name) + 2)
	}'
}

sockets() {
	genl dump sock "$@" | wc -l
}

has_sockets() {
	[ "$(sockets)" -eq "$1" ] && [ "$(genl dump sock | field rtt_ns | wc -l)" -eq "$1" ]
}

# What tcp_info and VEGASINFO say of the same sockets.
as_ss() {
	local line port

	spawn_load "$A" --to "$V4_B" --cc timely --flows 3 --rate-limit 5mbit --duration 600
	wait_for 20 has_sockets 3
	spawn_load "$A" --to "$V4_B" --cc cubic --flows 2 --rate-limit 5mbit --duration 600
	sleep 0.5
	genl dump sock >"$KSFT_TMP/all"
	expect "sockets, those of cubic left out" "$(wc -l <"$KSFT_TMP/all")" -eq 3
	while read -r line; do
		port=$(field lport <<<"$line")
		expect_same "remote address" "$(field remote <<<"$line")" "$V4_B"
		expect "its rate" "$(field rate <<<"$line")" -gt 0
		expect "its rate" "$(field rate <<<"$line")" -le "$(field line_rate <<<"$line")"
		expect "RTT, ns" "$(field rtt_ns <<<"$line")" -ge 1000
		expect "lowest RTT, ns" "$(field min_rtt_ns <<<"$line")" -ge 1000
		expect "RTTs" "$(field rtts <<<"$line")" -gt 0
		expect "source" "$(field source <<<"$line")" -ge 1
		expect_same "profile auto" "$(field auto <<<"$line")" 1
		# The cookie is that of inet_diag.
		expect "sockets of its cookie" "$(sockets "cookie=$(field cookie <<<"$line")")" -eq 1
		ss -N "$A" -Htne "sport = :$port" | grep -q "sk:$(printf %x \
			"$(field cookie <<<"$line")") " || fail "ss has no such cookie"
		expect "sockets of its port" "$(sockets "lport=$port")" -eq 1
	done <"$KSFT_TMP/all"
	expect "sockets of the other port" "$(sockets rport=5001)" -eq 3
	expect "of none" "$(sockets rport=1)" -eq 0
	expect "in B" "$("$KSFT_DIR/genl_helper" -n "$B" dump sock | wc -l)" -eq 0
}

# It is for those who administer the namespace.
mistakes() {
	genl -u dump sock >"$KSFT_TMP/refused" && fail "a user without privileges sees sockets"
	grep -q "^error -1" "$KSFT_TMP/refused"
	refused genl dump sock raw=3:00000000
	refused genl sock
}

# In many parts, each socket once.
parts() {
	spawn_load "$A" --to "$V4_B" --cc timely --flows 60 --rate-limit 1mbit --duration 600
	wait_for 20 at_least 63
	genl -r 4096 dump sock >"$KSFT_TMP/parts"
	expect "sockets" "$(field lport <"$KSFT_TMP/parts" | sort -u | wc -l)" -eq 63
	expect "lines" "$(wc -l <"$KSFT_TMP/parts")" -eq 63
}

at_least() {
	[ "$(sockets)" -ge "$1" ]
}

ksft_plan 3
need_module
net_pair
serve "$B"
ksft_case "sockets as ss has them" as_ss
ksft_case "privileges and mistakes" mistakes
ksft_case "parts of a dump" parts
