#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Packets of every kind that the parser tells apart, from a packet socket: each is
# counted for what it is, at RX and at TX, and traffic goes on.
. "$(dirname "$0")/nic_ts_lib.sh"

helper=$KSFT_DIR/nic_ts_helper

# kinds DIRECTION: the counters of all results.
kinds() {
	local ns=$A dev=a0

	[ "$1" = Tx ] || ns=$B dev=b0
	in_ns "$ns" nic_ts devices | awk -v dev=$dev -v dir="$1" '
		$1 == "device" { here = $2 == dev }
		here && $1 ~ "^" dir "(ParsedTcp|Skip)" { print substr($1, 3), $2 }'
}

differ() {
	paste -d' ' "$1" "$2" | awk '$1 != $3 { exit 1 } { print $1, $4 - $2 }'
}

has_flow() {
	[ "$(bus_stat "$A" Flows)" -ge 1 ]
}

quiet_link() {
	local before

	before=$(packets "$A" a0 tx)
	sleep 0.5
	[ "$(packets "$A" a0 tx)" = "$before" ]
}

# each TIMES
each() {
	watch "$B" b0
	spawn dcload client --netns "$A" --to "$V4_B" --cc nic_ts_test --duration 100 \
		--rtt-sample-us 0 --idle 0.02:100
	wait_for 10 has_flow
	capturing "$B" b0
	wait_for 20 quiet_link
	kinds Rx >"$KSFT_TMP/rx0"
	kinds Tx >"$KSFT_TMP/tx0"
	in_ns "$A" "$helper" inject a0 "$1" | sort >"$KSFT_TMP/want"
	wait_for 20 quiet_link
	kinds Rx >"$KSFT_TMP/rx1"
	kinds Tx >"$KSFT_TMP/tx1"
	differ "$KSFT_TMP/rx0" "$KSFT_TMP/rx1" | sort >"$KSFT_TMP/rx"
	differ "$KSFT_TMP/tx0" "$KSFT_TMP/tx1" | sort >"$KSFT_TMP/tx"
	diff "$KSFT_TMP/want" "$KSFT_TMP/rx"
	diff "$KSFT_TMP/want" "$KSFT_TMP/tx"
	stop "$SPAWNED"
	unwatch
}

# Random bytes behind an Ethernet header: nothing happens but counting.
noise() {
	watch "$B" b0
	spawn dcload client --netns "$A" --to "$V4_B" --cc nic_ts_test --flows 2 \
		--rate-limit 5mbit --chunk 4K --rtt-sample-us 0 --duration 100
	wait_for 10 has_flow
	in_ns "$A" "$helper" noise a0 "$(often 5000 20000)"
	stop "$SPAWNED"
	counts
	expect "RTTs meanwhile" "$(counted ok)" -gt 0
	nothing_bad
	unwatch
}

ksft_plan 2
need_bus
net_pair
quiet "$A" "$B"
serve "$B"
ksft_case "every kind is counted, and counted once" each 20
ksft_case "noise, under load" noise
