#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In place of fq: the same commands, given to tc with fq and with onramp, have the same
# status, and tc shows the same, apart from the name and the settings of On-Ramp behind.
. "$(dirname "$0")/onramp_lib.sh"

# An expression of each of the kernel's own cases for fq, tools/testing/selftests/tc-testing
# fq.json, by its number there: what is done to a qdisc, its arguments, the status, what
# tc then shows, and how often. Those with "on" begin with a qdisc of defaults.
tdc_cases() {
	cat <<-'END'
	983b|add||0|qdisc QDISC 1: root refcnt [0-9]+ limit|1
	38a1|add|limit 3000|0|qdisc QDISC 1: root refcnt [0-9]+ limit 3000p|1
	0a18|add|flow_limit 300|0|limit 10000p flow_limit 300p|1
	2390|add|quantum 9000|0|limit 10000p flow_limit 100p.*quantum 9000b|1
	845b|add|initial_quantum 900000|0|flow_limit 100p buckets.*initial_quantum 900000b|1
	10f7|add|initial_quantum 0x80000000|2|qdisc QDISC 1: root.*initial_quantum 2048Mb|0
	9398|add|maxrate 100000|0|flow_limit 100p buckets.*maxrate 100Kbit|1
	342c|add|nopacing|0|limit 10000p flow_limit 100p.*nopacing|1
	6391|add|refill_delay 100ms|0|limit 10000p flow_limit 100p.*refill_delay 100ms|1
	238b|add|low_rate_threshold 10000|0|flow_limit 100p.*low_rate_threshold 10Kbit|1
	7582|add|orphan_mask 255|0|limit 10000p flow_limit 100p.*orphan_mask 255|1
	4894|add|timer_slack 100|0|limit 10000p flow_limit 100p.*timer_slack 100ns|1
	324c|add|ce_threshold 100|0|limit 10000p flow_limit 100p|1
	424a|add|horizon 100|0|limit 10000p flow_limit 100p.*horizon 100us|1
	89e1|add|horizon_cap|0|limit 10000p flow_limit 100p.*horizon_cap|1
	32e1|on del||0|qdisc QDISC 1: root refcnt [0-9]+ limit 10000p|0
	49b0|on replace|limit 5000|0|qdisc QDISC 1: root refcnt [0-9]+ limit 5000p|1
	9478|on change|limit 100|0|qdisc QDISC 1: root refcnt [0-9]+ limit 100p|1
	9479|on change|limit 1|0|qdisc QDISC 1: root refcnt [0-9]+ limit 1p|1
	END
}

none() {
	tc -n "$A" qdisc del dev a0 root 2>/dev/null || :
}

# tdc QDISC: all of them with that one.
tdc() {
	local id action args status text count got n=0

	while IFS='|' read -r id action args status text count; do
		none
		case $action in
		on*)	tc -n "$A" qdisc add dev a0 handle 1: root "$1" ;;
		esac
		got=0
		# shellcheck disable=SC2086
		case $action in
		*del)	tc -n "$A" qdisc del dev a0 handle 1: root ;;
		*)	tc -n "$A" qdisc "${action#on }" dev a0 handle 1: root "$1" $args ;;
		esac 2>"$KSFT_TMP/said" || got=$?
		expect "$1: status of $id" "$got" -eq "$status"
		tc -n "$A" qdisc show dev a0 >"$KSFT_TMP/shown"
		got=$(grep -cE "${text/QDISC/$1}" "$KSFT_TMP/shown" || :)
		[ "$got" -eq "$count" ] || cat "$KSFT_TMP/shown"
		expect "$1: '$text' of $id" "$got" -eq "$count"
		n=$((n + 1))
	done < <(tdc_cases)
	expect cases "$n" -eq 19
}

tdc_of_the_kernel() {
	tdc fq
	tdc onramp
}

# What both take, in words of tc 6.1.
taken() {
	cat <<-'END'

	limit 3000
	limit 1
	limit 0x100
	limit 010
	limit 4294967295
	limit 5 limit 6
	flow_limit 300
	flow_limit 4294967295
	quantum 256
	quantum 2048
	quantum 9000
	quantum 15360
	quantum 15361
	quantum 0x1000
	quantum 1048576
	initial_quantum 0
	initial_quantum 900000
	initial_quantum 1048576
	maxrate 100000
	maxrate 12345bps
	maxrate 1.5gbit
	maxrate 1kibit
	maxrate 10gbit
	maxrate 34359738360
	maxrate 4294967295bps
	maxrate 50%
	buckets 0
	buckets 2
	buckets 3
	buckets 1000
	buckets 1024
	buckets 1025
	buckets 262144
	orphan_mask 0
	orphan_mask 255
	orphan_mask 0xffffffff
	pacing
	nopacing
	nopacing pacing
	low_rate_threshold 0
	low_rate_threshold 10000
	low_rate_threshold 8mbit
	refill_delay 0
	refill_delay 40000
	refill_delay 4e4
	refill_delay 100ms
	refill_delay 4s
	ce_threshold 0
	ce_threshold 100
	ce_threshold 1.5ms
	ce_threshold 1.5us
	ce_threshold 2s
	ce_threshold 4294967295
	timer_slack 0
	timer_slack 100
	timer_slack 1e3
	timer_slack 0x10
	timer_slack 50us
	timer_slack 1ms
	timer_slack 2s
	timer_slack 4294967295
	horizon 0
	horizon 100
	horizon 999us
	horizon 12345678
	horizon 2s
	horizon 4294967295
	horizon_cap
	horizon_drop
	horizon_cap horizon_drop
	defrate 10mbit
	limit 77 flow_limit 5 buckets 64 orphan_mask 7 nopacing quantum 5000 initial_quantum 7000 maxrate 8mbit low_rate_threshold 1mbit refill_delay 20ms ce_threshold 3ms timer_slack 5us horizon 3s horizon_cap
	END
	knows weights || return 0
	cat <<-'END'
	bands 3 priomap 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 2
	weights 16384 65536 2147483647
	END
}

# What both refuse.
refused_by_both() {
	cat <<-'END'
	limit x
	limit -1
	limit ""
	limit 1.5
	limit 3000b
	limit 4294967296
	flow_limit x
	flow_limit 4294967296
	quantum x
	quantum -1
	initial_quantum x
	initial_quantum 0x80000000
	maxrate x
	maxrate 10foo
	maxrate 200%
	low_rate_threshold x
	buckets x
	buckets 1
	buckets 262145
	buckets 524288
	orphan_mask x
	orphan_mask 4294967296
	refill_delay x
	refill_delay 10foo
	refill_delay 500ns
	ce_threshold 1h
	timer_slack x
	timer_slack 1h
	timer_slack 5s
	horizon x
	horizon 5ns
	defrate x
	pacing 1
	nopacing 0
	nosuch
	nosuch 3
	help
	END
	knows weights || return 0
	cat <<-'END'
	bands 4
	bands 3 limit 4
	bands 3 priomap 0 1 2
	bands 3 priomap 0 1 2 3 0 1 2 0 1 2 0 1 2 0 1 2
	weights 1 65536 65536
	weights 65536
	weights x 65536 65536
	END
}

# knows WORD: the fq of this tc has it.
knows() {
	tc qdisc add dev lo root fq help 2>&1 | grep -qw "$1"
}

# common KIND: tc's output, in text or JSON, without the name and what only one of them has.
# An older tc does not show the bands of fq, a newer kernel's fq has offload_horizon.
common() {
	local bands=''

	knows weights || bands='s/ bands 3 priomap [0-2 ]*weights [0-9 ]* quantum/ quantum/
		s/"bands":3,"priomap ":[[][0-9,]*],"weights ":[[][0-9,]*],//'
	case $1 in
	fq)	sed -e 's/ offload_horizon 0us//' -e 's/,"offload_horizon":0//' ;;
	onramp)	sed -e 's/^qdisc onramp/qdisc fq/' -e 's/"kind":"onramp"/"kind":"fq"/' \
			-e 's/ mode final .*/ /' -e 's/,"mode":"final"[^}]*}/}/' -e "$bands" ;;
	esac
}

# both OPTION... <LINES: tc, with the options, does them with fq in place of QDISC, and with
# onramp. What it shows and the numbers of lines that failed have to be the same.
both() {
	local kind

	cat >"$KSFT_TMP/lines"
	for kind in fq onramp; do
		none
		sed -e "s/QDISC/$kind/" "$KSFT_TMP/lines" >"$KSFT_TMP/batch"
		tc -n "$A" "$@" -force -batch "$KSFT_TMP/batch" 2>"$KSFT_TMP/$kind.said" |
			common $kind >"$KSFT_TMP/$kind.shown" || :
		sed -n 's/^Command failed .*:\([0-9]*\)$/\1/p' "$KSFT_TMP/$kind.said" \
			>"$KSFT_TMP/$kind.failed"
	done
	same shown
	same failed
}

# same WHAT: of both.
same() {
	diff "$KSFT_TMP/fq.$1" "$KSFT_TMP/onramp.$1" >"$KSFT_TMP/differences" || {
		head -n 20 "$KSFT_TMP/differences"
		fail "fq and onramp differ: $1"
	}
}

# each_made: lines that make a qdisc anew with the arguments of each line of input.
each_made() {
	while read -r args; do
		echo "qdisc add dev a0 root handle 1: QDISC $args"
		echo "qdisc show dev a0"
		echo "qdisc del dev a0 root"
	done
}

# each_changed ACTION: lines that change one.
each_changed() {
	while read -r args; do
		echo "qdisc $1 dev a0 root handle 1: QDISC $args"
		echo "qdisc show dev a0"
	done
}

made() {
	taken >"$KSFT_TMP/args"
	each_made <"$KSFT_TMP/args" | both
	expect "failed" "$(wc -l <"$KSFT_TMP/onramp.failed")" -eq 0
	expect "shown" "$(grep -c '^qdisc fq 1: root' "$KSFT_TMP/onramp.shown")" -eq \
		"$(wc -l <"$KSFT_TMP/args")"
	grep -qF 'defrate "10mbit": ignored' "$KSFT_TMP/onramp.said"
	each_made <"$KSFT_TMP/args" | both -j
	each_made <"$KSFT_TMP/args" | both -iec
}

# One after the other: what is not named stays.
changed() {
	{
		echo
		taken
	} >"$KSFT_TMP/args"
	{
		echo "qdisc add dev a0 root handle 1: QDISC"
		each_changed change <"$KSFT_TMP/args"
		each_changed replace <"$KSFT_TMP/args"
	} >"$KSFT_TMP/all"
	both <"$KSFT_TMP/all"
	expect "failed" "$(wc -l <"$KSFT_TMP/onramp.failed")" -eq 0
	both -j <"$KSFT_TMP/all"
}

bad() {
	refused_by_both >"$KSFT_TMP/args"
	each_made <"$KSFT_TMP/args" | both
	# The del that follows an add which failed fails too.
	expect "failed" "$(wc -l <"$KSFT_TMP/onramp.failed")" -eq \
		$((2 * $(wc -l <"$KSFT_TMP/args")))
	{
		echo "qdisc add dev a0 root handle 1: QDISC limit 5 quantum 3000"
		each_changed change <"$KSFT_TMP/args"
	} | both
	expect "failed" "$(wc -l <"$KSFT_TMP/onramp.failed")" -eq "$(wc -l <"$KSFT_TMP/args")"
}

# status COMMAND...: of it, whatever it says.
status() {
	local got=0

	"$@" >"$KSFT_TMP/said" 2>&1 || got=$?
	echo "$got"
}

# tc's own status: 1 if it refuses the words, 2 if the kernel does.
exit_status() {
	local args kind

	for args in 'limit x' 'nosuch' 'initial_quantum 0x80000000' 'buckets 1' help 'limit 5'; do
		for kind in fq onramp; do
			none
			# shellcheck disable=SC2086
			status tc -n "$A" qdisc add dev a0 root $kind $args >"$KSFT_TMP/$kind"
		done
		expect "status of '$args'" "$(cat "$KSFT_TMP/onramp")" -eq "$(cat "$KSFT_TMP/fq")"
	done
}

# What fq takes, and does something else than it was told, is refused here; Documentation/
# sch_onramp.md says why. Nothing else differs by design, but for maxrate 0.
kept_differences() {
	local args before

	fresh
	before=$(tc -n "$A" qdisc show dev a0)
	for args in 'limit 0' 'flow_limit 0' 'quantum 100' 'quantum 2000000' 'initial_quantum 2000000' \
			'refill_delay -1' 'ce_threshold -1' 'horizon -1' 'horizon 5000s' \
			'offload_horizon 10ms'; do
		# shellcheck disable=SC2086
		expect "status of '$args'" "$(status change $args)" -ne 0
		echo "$args: $(tail -n 1 "$KSFT_TMP/said")"
		expect_same "after '$args'" "$(tc -n "$A" qdisc show dev a0)" "$before"
	done
	change offload_horizon 0
	change maxrate 8mbit
	tc -n "$A" qdisc show dev a0 | grep -q ' maxrate 8Mbit '
	change maxrate 0
	expect_same "maxrate 0" "$(tc -n "$A" qdisc show dev a0)" "$before"
}

# numbers: without those that depend on the moment, and what this tc's fq may not have.
settled() {
	sed -E -e 's/ (latency|next_packet_delay) [0-9.]+[a-z]*//g' \
		-e 's/ (band[012]_pkts|fastpath) [0-9]+//g' \
		-e 's/flows [0-9]+ \(inactive [0-9]+/flows N (inactive N/' -e 's/gc [0-9]+/gc N/'
}

# In place of each other under the same packets: their counters, in text and JSON.
statistics() {
	local kind key

	for kind in fq onramp; do
		none
		tc -n "$A" qdisc add dev a0 root handle 1: $kind flow_limit 10 horizon 100ms
		send group=a n=25 at=50000 group=b n=8 at=3000000
		tc -n "$A" qdisc change dev a0 root $kind horizon_cap
		# One: whether a second one waits once more depends on the moment.
		send group=c n=1 at=3000000
		tc -n "$A" -s qdisc show dev a0 | settled >"$KSFT_TMP/$kind.text"
		tc -n "$A" -s -j qdisc show dev a0 >"$KSFT_TMP/$kind.json"
	done
	cat "$KSFT_TMP/fq.text" "$KSFT_TMP/onramp.text"
	# The lines of fq's own statistics, and the drops of all qdiscs.
	sed -n -E 's/.*\(dropped ([0-9]+),.*/\1/p; /^ +flows/,$p' "$KSFT_TMP/fq.text" \
		>"$KSFT_TMP/fq"
	grep -q 'flows_plimit 15' "$KSFT_TMP/fq"
	grep -q ' horizon_drops 8  horizon_caps 1' "$KSFT_TMP/fq"
	sed -n -E 's/.*\(dropped ([0-9]+),.*/\1/p; /^ +flows/,$p' "$KSFT_TMP/onramp.text" |
		head -n "$(wc -l <"$KSFT_TMP/fq")" | diff "$KSFT_TMP/fq" -
	# JSON: each key of fq's is here.
	grep -oE '"[a-z0-9_]+ ?":' "$KSFT_TMP/fq.json" | sort -u >"$KSFT_TMP/keys"
	expect keys "$(wc -l <"$KSFT_TMP/keys")" -ge 30
	while read -r key; do
		grep -qF "$key" "$KSFT_TMP/onramp.json" || fail "onramp has no key $key"
	done <"$KSFT_TMP/keys"
}

ksft_plan 7
ready
ksft_case "the kernel's own cases of fq, with fq and with onramp" tdc_of_the_kernel
ksft_case "qdiscs are made with the same settings, in text and JSON" made
ksft_case "settings change in the same way" changed
ksft_case "both refuse the same" bad
ksft_case "with the same status of tc" exit_status
ksft_case "what fq would change without a word is refused, and maxrate 0 is none" kept_differences
ksft_case "statistics have the same words and counts" statistics
