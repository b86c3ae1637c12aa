#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# net.ipv4.timely.*: defaults, ranges, cross-constraints, isolation.
#
#	A a0 ---------- b0 B
. "$(dirname "$0")/onramp.sh"
. "$(dirname "$0")/params.sh"

dir=ipv4/timely

reset() {
	# Thigh first: the others must stay below it at every step.
	in_shell "$1" 'echo paper >profile
		echo 0 >line_rate_mbit
		echo 10000000000 >t_high_ns
		while read -r name _ _ def _; do
			case $name in
			profile)	profile=$def ;;
			t_high_ns)	;;
			*)		echo "$def" >"$name" ;;
			esac
		done
		echo 500000 >t_high_ns
		echo "$profile" >profile' <"$table"
	expect_defaults "$1"
}

isolated() {
	timely_set "$A" profile paper t_low_ns 60000 mode patched segment_bytes 8192
	expect_same "A's Tlow" "$(ns_get "$A" $dir/t_low_ns)" 60000
	expect_same "A's mode" "$(ns_get "$A" $dir/mode)" patched
	expect_defaults "$B"
	ns_add "$C"
	expect_defaults "$C"
	cat /proc/sys/net/$dir/t_low_ns
	reset "$A"
}

# A value that is written reads back; the extremes are allowed by the other
# parameters being out of the way.
extremes() {
	in_shell "$A" '
	echo paper >profile
	echo 10000000000 >t_high_ns
	echo 536 >segment_bytes
	echo 1048576 >max_outstanding_bytes
	while read -r name min max def words; do
		[ "$name" != profile ] || continue
		if [ -n "$words" ]; then
			check "$name" "${words##*|}"
			check "$name" "${words%%|*}"
			continue
		fi
		case $name in
		t_high_ns)	continue ;;
		max_outstanding_bytes) min=32768; check $name 0 ;;
		esac
		check "$name" "$min"
		check "$name" "$max"
		check "$name" "$def"
	done
	echo 0 >t_low_ns
	echo 0 >rtt_floor_ns
	check t_high_ns 0
	check t_high_ns 10000000000' <"$table"
	reset "$A"
}

# What is not a number in the range is refused and changes nothing.
garbage() {
	in_shell "$A" '
	two=$(printf "1000\n1000")
	while read -r name min max _ words; do
		read -r before <"$name"
		if [ -z "$words" ]; then
			[ "$min" = 0 ] || bad "$name" "$((min - 1))"
			bad "$name" "$((max + 1))"
			bad "$name" 1000000001.5
		fi
		for text in -1 -0x1 0x3e8 "1e3" abc " " "1000 2000" "1000x" \
			    "1000,1000" 18446744073709551616 \
			    99999999999999999999999999999999999999 \
			    00000000000000000000000000000000000001000 \
			    patchedoriginal Original "original patched"; do
			bad "$name" "$text"
		done
		# Bash would write two lines with two calls.
		if cat >"$name" 2>/dev/null <<<$two; then
			echo "$name took two lines"; exit 1
		fi
		read -r after <"$name"
		[ "$after" = "$before" ] || {
			echo "$name changed from $before to $after"; exit 1; }
	done
	echo "$n values refused"
	[ "$n" -ge 280 ]' <"$table"
	expect_defaults "$A"
}

# With and without the newline, and with blanks around.
spelling() {
	timely_set "$A" profile paper
	in_shell "$A" '
	printf 61000 >t_low_ns;		[ "$(cat t_low_ns)" = 61000 ]
	printf "62000\n" >t_low_ns;	[ "$(cat t_low_ns)" = 62000 ]
	printf " 63000 \n" >t_low_ns;	[ "$(cat t_low_ns)" = 63000 ]
	printf 064000 >t_low_ns;	[ "$(cat t_low_ns)" = 64000 ]'
	# An empty write is no write.
	in_shell "$A" ': >t_low_ns'
	expect_same Tlow "$(ns_get "$A" $dir/t_low_ns)" 64000
	reset "$A"
}

# contradict REASON PARAMETER VALUE...: the last pair is refused, and the log
# tells why.
contradict() {
	local reason=$1 args value parameter
	shift
	args=("$@")
	value=${args[$#-1]}
	parameter=${args[$#-2]}
	unset "args[$#-1]" "args[$#-2]"

	reset "$A"
	timely_set "$A" profile paper
	[ "${#args[@]}" -eq 0 ] || timely_set "$A" "${args[@]}"
	values "$A" >"$KSFT_TMP/before"
	# The kernel limits the rate of these messages: ten in five seconds.
	wait_for 12 contradiction_logged "$parameter" "$value" "$reason"
	values "$A" | diff - "$KSFT_TMP/before"
}

contradiction_logged() {
	local before after shown=$2

	# Modes are numbers in there.
	[ "$1" != mode ] || shown=1
	before=$(dmesg | grep -c "tcp_timely: $1: $shown refused: $3")
	refused timely_set "$A" "$1" "$2" || exit 1
	after=$(dmesg | grep -c "tcp_timely: $1: $shown refused: $3")
	[ "$after" -gt "$before" ]
}

# logged_once TEXT PARAMETER VALUE: sysctl(8) writes twice what is refused. The kernel limits
# the rate of these messages: try until there is one.
logged_once() {
	local before after
	before=$(dmesg | grep -cF "$1" || :)
	refused in_ns "$A" sysctl -qw "net.ipv4.timely.$2=$3" 2>/dev/null || exit 1
	after=$(dmesg | grep -cF "$1" || :)
	[ "$after" -le "$((before + 1))" ] || {
		echo "$2=$3 is logged $((after - before)) times"
		exit 1
	}
	[ "$after" -gt "$before" ]
}

refusals() {
	wait_for 12 logged_once "tcp_timely: hai_thresh '1000': expected 1 to 255, in completions" \
		hai_thresh 1000
	wait_for 12 logged_once "tcp_timely: t_low_ns 'abc': expected 0 to 10000000000, in ns" \
		t_low_ns abc
	wait_for 12 logged_once "tcp_timely: mode 'vegas': expected original or patched" mode vegas
	wait_for 12 logged_once "tcp_timely: t_low_ns: 600000 refused: " t_low_ns 600000
}

contradictions() {
	contradict "t_low_ns, scaled by segment_bytes / 16384" t_low_ns 500001
	contradict "t_low_ns, scaled by segment_bytes / 16384" t_high_ns 49999
	# 128 KB segments make it 400 us, 256 KB would make it 800 us.
	contradict "t_low_ns, scaled by segment_bytes / 16384" \
		segment_bytes 131072 segment_bytes 262144
	contradict "t_low_ns, scaled by segment_bytes / 16384" \
		segment_bytes 131072 t_low_ns 62501
	contradict "rtt_floor_ns must not exceed t_high_ns" rtt_floor_ns 500001
	contradict "mode patched divides by t_low_ns" t_low_ns 999 mode patched
	contradict "mode patched divides by t_low_ns" mode patched t_low_ns 0
	contradict "min_rate_kbit must not exceed line_rate_mbit" \
		line_rate_mbit 100 min_rate_kbit 100001
	contradict "min_rate_kbit must not exceed line_rate_mbit" \
		min_rate_kbit 100001 line_rate_mbit 100
	contradict "max_outstanding_bytes must be 0 or at least two segments" \
		max_outstanding_bytes 32767
	contradict "max_outstanding_bytes must be 0 or at least two segments" \
		max_outstanding_bytes 32768 segment_bytes 16385
	reset "$A"
	contradict "line_rate_mbit x 2 t_high_ns is above 1 GB" \
		line_rate_mbit 10000 t_high_ns 429497000
	contradict "line_rate_mbit x 2 t_high_ns is above 1 GB" \
		line_rate_mbit 0 t_high_ns 10000000000 line_rate_mbit 430
	contradict "line_rate_mbit x 2 t_high_ns is above 1 GB" \
		max_outstanding_bytes 40000 line_rate_mbit 10000 \
		t_high_ns 429497000 max_outstanding_bytes 0
	reset "$A"
}

# The limits themselves are allowed.
limits() {
	timely_set "$A" profile paper
	timely_set "$A" t_low_ns 500000 t_low_ns 50000 \
		segment_bytes 131072 t_low_ns 62500 segment_bytes 16384 \
		rtt_floor_ns 500000 rtt_floor_ns 1000 \
		t_low_ns 1000 mode patched mode original \
		line_rate_mbit 100 min_rate_kbit 100000 \
		max_outstanding_bytes 32768
	reset "$A"
	timely_set "$A" profile paper line_rate_mbit 10000 t_high_ns 429496999
	reset "$A"
}

unprivileged() {
	only_root_writes t_low_ns 60000
}

# A namespace goes while one of its files is open, and while one is written.
deletion() {
	ns_add "$D"
	timely_set "$D" profile paper t_low_ns 70000
	in_ns "$D" bash -c "exec 3</proc/sys/net/$dir/t_low_ns; ip netns del $D; cat <&3"
	ns_add "$D"
	expect_defaults "$D"
	timely_set "$D" profile paper
	spawn in_ns "$D" bash -c "
		while echo 60000 >/proc/sys/net/$dir/t_low_ns; do :; done"
	ns_del "$D"
	stop "$SPAWNED"
}

# Writers of parameters that bound each other, while traffic reads them.
concurrent() {
	timely_set "$A" profile paper
	local writers=() pid i

	serve "$B"
	for i in 1 2 3; do
		spawn in_shell "$A" '
		i=0
		while [ "$i" -lt 400 ]; do
			echo $((i % 2 * 400000 + 1000)) >t_low_ns || :
			echo $((i % 3 * 400000 + 100000)) >t_high_ns || :
			echo $((i % 5 * 60000 + 600)) >segment_bytes || :
			echo $((i % 7 * 32768)) >max_outstanding_bytes || :
			i=$((i + 1))
		done 2>/dev/null'
		writers+=("$SPAWNED")
	done
	load "$A" --to "$V4_B" --cc timely --flows 4 --duration 2
	expect "bytes acknowledged" "$(loaded counters.bytes_acked)" -gt 1000000
	for pid in "${writers[@]}"; do
		wait "$pid"
	done
	# Whatever came last, together it is allowed: Tlow can be written again.
	in_shell "$A" 'echo "$(cat t_low_ns)" >t_low_ns
		echo "$(cat t_high_ns)" >t_high_ns
		echo "$(cat segment_bytes)" >segment_bytes
		echo "$(cat max_outstanding_bytes)" >max_outstanding_bytes
		echo 0 >max_outstanding_bytes
		echo 0 >t_low_ns
		echo 16384 >segment_bytes'
	reset "$A"
}

# What profile auto computes is not taken, rather than taken without effect.
profiles() {
	local name value

	timely_set "$A" profile auto
	values "$A" >"$KSFT_TMP/before"
	while read -r name value; do
		refused timely_set "$A" "$name" "$value" || exit 1
	done <<-END
		mode patched
		t_low_ns 60000
		t_high_ns 600000
		min_rtt_ns 30000
		delta_kbit 20000
		min_rate_kbit 20000
		alpha_permille 500
		beta_permille 400
		beta_patched_permille 9
		hai_thresh 6
		hai_factor 6
		idle_restart_ns 0
	END
	values "$A" | diff - "$KSFT_TMP/before"
	wait_for 12 contradiction_logged beta_permille 400 \
		"profile auto computes it; set profile to paper first"
	# What they are is no change, and all others are.
	timely_set "$A" beta_permille 800 line_rate_mbit 1000 segment_bytes 32768 pacing qdisc
	timely_set "$A" profile paper beta_permille 400 profile auto
	expect_same "beta, kept" "$(ns_get "$A" $dir/beta_permille)" 400
	# Connections follow from one profile to the other.
	serve "$B"
	spawn in_shell "$A" 'for i in 1 2 3 4 5 6; do
		sleep 0.1
		echo paper >profile
		sleep 0.1
		echo auto >profile
	done'
	load "$A" --to "$V4_B" --cc timely --flows 4 --duration 1
	wait "$SPAWNED"
	expect "bytes acknowledged" "$(loaded counters.bytes_acked)" -gt 1000000
	reset "$A"
}

ksft_plan 12
need_module
params_table timely_params_table
C=$(ns_name C)
D=$(ns_name D)
net_pair
ksft_case "every parameter is there, and no other, with its default" defaults
ksft_case "namespaces do not see each other's values" isolated
ksft_case "smallest and largest values are taken" extremes
ksft_case "what is not a number in the range is refused" garbage
ksft_case "blanks and newlines around a number do not matter" spelling
ksft_case "values that contradict others are refused with the reason" contradictions
ksft_case "a refused value is logged once, with the unit" refusals
ksft_case "values on the limits of others are taken" limits
ksft_case "profile auto refuses what it computes" profiles
ksft_case "only root writes" unprivileged
ksft_case "a namespace can be deleted with its files in use" deletion
ksft_case "writers and traffic do not disturb each other" concurrent
