#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Settings: defaults, limits, what is refused and how, the plugin of tc.
PEERS=''
. "$(dirname "$0")/onramp_lib.sh"

table=$KSFT_TMP/table

settings() {
	tc -n "$A" -j qdisc show dev a0
}

# word FIELD NUMBER: of a setting that has words.
word() {
	local mode=(final strawman off printed) owd=(relative synced) clock=(system nic)
	local forward=(off on)
	local -n words=$1

	echo "${words[$2]}"
}

# args FIELD KIND VALUE: what sets it, in tc's words.
args() {
	local i

	case $1:$3 in
	pacing:1)	echo pacing ;;
	pacing:0)	echo nopacing ;;
	horizon_drop:1)	echo horizon_drop ;;
	horizon_drop:0)	echo horizon_cap ;;
	inherit:1)	echo inherit ;;
	inherit:0)	echo noinherit ;;
	bound:1)	echo bound ;;
	bound:0)	echo nobound ;;
	weight*)
		printf weights
		for i in 0 1 2; do
			if [ "$1" = "weight[$i]" ]; then
				printf ' %s' "$3"
			else
				printf ' 65536'
			fi
		done ;;
	*)	case $2 in
		RATE)	echo "$1 $3bps" ;;
		TIME|NS) echo "$1 $3ns" ;;
		US)	echo "$1 $(($3 / 1000))us" ;;
		PPM)	echo "$1 $3/1000000" ;;
		WORD)	echo "$1 $(word "$1" "$3")" ;;
		*)	echo "$1 $3" ;;
		esac ;;
	esac
}

# reads FIELD VALUE: it is what tc has shown of it, in JSON. As for fq, tc does not show pacing
# that is on, or a rate or threshold that limits nothing.
reads() {
	local want=$2 all i value="\"$1\":\"?([0-9a-z]+)" weights='"weights ":[[]([0-9,]*)[]]'

	read -r all <"$KSFT_TMP/shot"
	case $1 in
	weight*)
		i=${1//[^0-9]/}
		[[ $all =~ $weights ]]
		IFS=, read -r -a weights <<<"${BASH_REMATCH[1]}"
		expect_same "$1" "${weights[i]}" "$2" ;;
	horizon_drop)
		[[ $2 == 1 ]] || set -- horizon_cap
		[[ $all == *"\"$1\":null"* ]] || fail "no $1: $all" ;;
	*)	case $1:$2 in
		inherit:1|bound:1) want=true ;;
		pacing:0|inherit:0|bound:0) want=false ;;
		pacing:1|maxrate:0|low_rate_threshold:0|ce_threshold:4294967295000) want='' ;;
		refill_delay:*|ce_threshold:*|horizon:*) want=$(($2 / 1000)) ;;
		mode:*|owd:*|clock:*|forward:*) want=$(word "$1" "$2") ;;
		esac
		if [ -n "$want" ]; then
			[[ $all =~ $value ]] || fail "no $1: $all"
			expect_same "$1" "${BASH_REMATCH[1]}" "$want"
		elif [[ $all =~ $value ]]; then
			fail "$1 is shown: $all"
		fi ;;
	esac
}

defaults() {
	local field kind min max def

	fresh
	settings >"$KSFT_TMP/shot"
	while read -r field kind min max def; do
		reads "$field" "$def"
	done <"$table"
	expect_same priomap "$(settings | grep -o '"priomap ":\[[^]]*\]')" \
		'"priomap ":[1,2,2,2,1,2,0,0,1,1,1,1,1,1,1,1]'
	# Without the plugin as well: it is only words.
	tc -n "$A" qdisc del dev a0 root
	TC_LIB_DIR=/nowhere tc -n "$A" qdisc add dev a0 root onramp
	expect limit "$(setting limit)" -eq 10000
	# The quantum follows the MTU at the time.
	ip -n "$A" link set a0 mtu 9000
	fresh
	expect quantum "$(setting quantum)" -eq 18028
	expect initial_quantum "$(setting initial_quantum)" -eq 90140
	ip -n "$A" link set a0 mtu 1500
}

# In one run of tc.
extremes() {
	local field kind min max def value shot

	fresh
	while read -r field kind min max def; do
		for value in "$min" "$max" "$def"; do
			echo "qdisc change dev a0 root onramp $(args "$field" "$kind" "$value")"
			echo "qdisc show dev a0"
		done
	done <"$table" >"$KSFT_TMP/batch"
	tc -n "$A" -j -batch "$KSFT_TMP/batch" >"$KSFT_TMP/shots"
	while read -r field kind min max def; do
		for value in "$min" "$max" "$def"; do
			read -r shot <&3
			echo "$shot" >"$KSFT_TMP/shot"
			reads "$field" "$value"
		done
	done <"$table" 3<"$KSFT_TMP/shots"
	change priomap 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 2
	expect_same priomap "$(settings | grep -o '"priomap ":\[[^]]*\]')" \
		'"priomap ":[0,1,2,0,1,2,0,1,2,0,1,2,0,1,2,2]'
	# Those of a qdisc that is being made.
	fresh limit 77 flow_limit 5 quantum 5000 horizon 2s horizon_cap nopacing \
		maxrate 8mbit ce_threshold 3ms weights 20000 30000 40000
	expect limit "$(setting limit)" -eq 77
	expect flow_limit "$(setting flow_limit)" -eq 5
	expect quantum "$(setting quantum)" -eq 5000
	expect horizon "$(setting horizon)" -eq 2000000
	expect maxrate "$(setting maxrate)" -eq 1000000
	expect ce_threshold "$(setting ce_threshold)" -eq 3000
	expect_same pacing "$(setting pacing)" false
	expect_same horizon_cap "$(setting horizon_cap)" null
}

# says TEXT COMMAND...: it is refused, with the text, and changes nothing.
says() {
	local text=$1 before
	shift

	before=$(settings)
	if "$@" >"$KSFT_TMP/said" 2>&1; then
		fail "not refused: $*"
	fi
	grep -qF -e "$text" "$KSFT_TMP/said" || {
		cat "$KSFT_TMP/said"
		fail "no word of '$text': $*"
	}
	expect_same settings "$(settings)" "$before"
}

# all_refused: each line of standard input, "TEXT|WORDS...", is a change that is refused with
# the text, and changes nothing. In one run of tc.
all_refused() {
	local text words n=0

	: >"$KSFT_TMP/texts"
	while IFS='|' read -r text words; do
		echo "$text|$words" >>"$KSFT_TMP/texts"
		echo "qdisc change dev a0 root onramp $words"
		echo "qdisc show dev a0"
		n=$((n + 1))
	done >"$KSFT_TMP/batch"
	settings >"$KSFT_TMP/before"
	if tc -n "$A" -j -force -batch "$KSFT_TMP/batch" \
			>"$KSFT_TMP/shots" 2>"$KSFT_TMP/said"; then
		fail "not one was refused"
	fi
	# What tc says of a line comes before "Command failed FILE:LINE".
	awk -F'|' '
		NR == FNR { text[2 * NR - 1] = $1; words[2 * NR - 1] = $2; next }
		/^Command failed / {
			line = $0
			sub(/.*:/, "", line)
			failed[line + 0] = 1
			if (text[line + 0] != "" && !index(said, text[line + 0])) {
				print said "no word of: " text[line + 0] ": " words[line + 0]
				bad = 1
			}
			said = ""
			next
		}
		{ said = said $0 "\n" }
		END {
			for (line in text)
				if (!(line in failed)) {
					print "not refused: " words[line]
					bad = 1
				}
			exit bad
		}' "$KSFT_TMP/texts" "$KSFT_TMP/said"
	expect "times that settings were shown" "$(wc -l <"$KSFT_TMP/shots")" -eq "$n"
	uniq "$KSFT_TMP/shots" | diff "$KSFT_TMP/before" -
	echo "$n values refused"
}

out_of_range() {
	local field kind min max def step

	fresh
	while read -r field kind min max def; do
		step=1
		case $kind in
		BOOL|WORD) continue ;;
		US)	step=1000 ;;
		esac
		# What does not fit into tc's 32 bits is refused by tc.
		if [ "$max" -lt 4294967295 ] || [ "$kind" != BYTES ]; then
			echo "$field must be $min to $max|flow_limit 13 $(
				args "$field" "$kind" $((max + step)))"
		fi
		if [ "$min" -gt 0 ]; then
			echo "$field must be $min to $max|flow_limit 13 $(
				args "$field" "$kind" $((min - step)))"
		fi
	done <"$table" >"$KSFT_TMP/lines"
	expect "values to be refused" "$(wc -l <"$KSFT_TMP/lines")" -ge 20
	all_refused <"$KSFT_TMP/lines"
	says "expected bands 0 to 2" change flow_limit 13 priomap 0 1 2 3 0 0 0 0 0 0 0 0 0 0 0 0
	# Of a qdisc that is being made: then there is none, as before.
	tc -n "$A" qdisc del dev a0 root
	says "limit must be 1 to 4294967295 packets" tc -n "$A" qdisc add dev a0 root onramp limit 0
	refused setting limit
}

garbage() {
	local field kind min max def text

	fresh
	while read -r field kind min max def; do
		case $field:$kind in
		*:BOOL|weight*)	continue ;;
		esac
		for text in -1 x 1x '""' 1.2.3 99999999999999999999999; do
			echo "|$field $text"
		done
		echo "expected a value|$field"
	done <"$table" >"$KSFT_TMP/lines"
	expect "values to be refused" "$(wc -l <"$KSFT_TMP/lines")" -ge 140
	all_refused <"$KSFT_TMP/lines"
	says "unknown option \"nosuch\"" change nosuch 3
	says "expected near, all, or a time" change peers far
	says "expected 16 bands" change priomap 0 1 2
	says "expected 3 weights" change weights 20000
	says "bands \"4\": expected 3" change bands 4
	says "expected priomap to follow" change bands 3 limit 4
	says "not supported" change offload_horizon 10ms
	says "expected a rate" change defrate x
	says "Usage: ... onramp" change help
	# A number alone is of one unit here and of another there, as in fq: tc says which.
	change threshold 100 max_pause 5ms timer_slack 100 horizon 3s 2>"$KSFT_TMP/said"
	expect_same said "$(cat "$KSFT_TMP/said")" \
		"onramp: threshold 100: no unit, taken as 100us
onramp: timer_slack 100: no unit, taken as 100ns"
}

# The text of tc has what the JSON has, in a form that tc takes.
round_trip() {
	local words

	fresh limit 123 flow_limit 45 quantum 2000 initial_quantum 30000 maxrate 100mbit \
		low_rate_threshold 1mbit refill_delay 30ms buckets 256 orphan_mask 63 nopacing \
		ce_threshold 5ms timer_slack 50us horizon 3s horizon_cap \
		bands 3 priomap 2 1 0 2 1 0 2 1 0 2 1 0 2 1 0 0 weights 50000 40000 30000 \
		mode strawman threshold 30us gain 1/8 max_pause 5ms ack_timeout 50ms \
		owd synced clock_error 2us noinherit line_rate 10gbit clock nic nobound \
		peers all forward on
	settings >"$KSFT_TMP/first"
	words=$(tc -n "$A" qdisc show dev a0 | sed -e 's/.*refcnt [0-9]* //')
	echo "words: $words"
	fresh
	# shellcheck disable=SC2086
	change $words
	settings | diff "$KSFT_TMP/first" -
}

newer_tc() {
	TC_LIB_DIR=$KSFT_DIR tc -n "$A" "$@"
}

# A plugin that knows more than the module: what the module has works, with a setting that it
# does not have nothing changes.
newer_plugin() {
	fresh
	newer_tc qdisc change dev a0 root onramp limit 6 forward on
	newer_tc qdisc show dev a0 | grep -q 'limit 6p.* forward on'
	says "plugin is newer than the module sch_onramp" \
		newer_tc qdisc change dev a0 root onramp limit 5 later 1
	newer_tc qdisc show dev a0 | grep -q 'limit 6p'
	newer_tc qdisc replace dev a0 root onramp
}

ksft_plan 6
ready
"$KSFT_DIR/onramp_params_table" >"$table"
ksft_case "defaults are those of fq" defaults
ksft_case "smallest and largest values are taken, and read back" extremes
ksft_case "values out of range are refused with the reason, and change nothing" out_of_range
ksft_case "what is no value is refused by tc" garbage
ksft_case "tc takes what it prints" round_trip
ksft_case "plugin newer than the module" newer_plugin
