#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The tracepoints carry all that a decision is made from: replay.awk makes them
# again.
#
#	A a0 ---- r0 R r1 ==== b0 B
#	  fq        20 Mbit/s
TIMELY_PROFILE=paper
. "$(dirname "$0")/onramp.sh"

# replay FILE LEAST BRANCHES
replay() {
	local args=() name value

	for name in t_low_ns t_high_ns min_rtt_ns rtt_floor_ns delta_kbit min_rate_kbit \
		    alpha_permille beta_permille beta_patched_permille \
		    hai_thresh hai_factor; do
		read -r value < <(ns_get "$A" "ipv4/timely/$name")
		args+=("$name=$value")
	done
	for value in "${args[@]}"; do
		echo "$value"
	done
	# BEGIN needs them, so they cannot be operands.
	awk "${args[@]/#/-v}" -v patched="$([ "$(ns_get "$A" ipv4/timely/mode)" = patched ] &&
		echo 1 || echo 0)" -v least="$2" -v branches="$3" \
		"$TRACE_AWK $(cat "$KSFT_DIR/replay.awk")" "$1"
}

# traffic OPTION...: of dcload, traced.
traffic() {
	trace_on timely_start timely_idle timely_loss timely_update
	load "$A" --to "$V4_B" --cc timely "$@"
	trace_off "$KSFT_TMP/trace"
}

original() {
	timely_set "$A" mode original
	traffic --flows 2 --start-gap 500 --duration 8
	replay "$KSFT_TMP/trace" 250 "low high increase hai decrease"
}

patched() {
	timely_set "$A" mode patched
	traffic --flows 2 --start-gap 500 --duration 8
	replay "$KSFT_TMP/trace" 250 "low high weighted"
}

# The queue-size controller of TIMELY section 4.4.
single_threshold() {
	timely_set "$A" mode original t_high_ns 12000000
	traffic --flows 1 --duration 2
	replay "$KSFT_TMP/trace" 100 "low high"
	timely_set "$A" t_high_ns 25000000
}

held() {
	traffic --flows 1 --rate-limit 2mbit --duration 3
	replay "$KSFT_TMP/trace" 100 held
}

# traced N PATTERN: the trace has so many lines with it.
traced() {
	[ "$(grep -c "$2" "$KSFT_TRACE/trace")" -ge "$1" ]
}

# netem decides when a packet is lost, so the load is there until some were.
losses() {
	tc -n "$R" qdisc replace dev r1 root netem rate 20mbit delay 5ms loss 2%
	trace_on timely_start timely_idle timely_loss timely_update
	spawn load "$A" --to "$V4_B" --cc timely --flows 1 --duration 600
	wait_for 60 traced 100 timely_update:
	wait_for 60 traced 2 event=loss
	stop "$SPAWNED" KILL
	trace_off "$KSFT_TMP/trace"
	replay "$KSFT_TMP/trace" 100 low
}

# A checker that finds nothing wrong in anything would find nothing wrong here.
checker() {
	local field

	for field in rate old_rate prev_rtt rtt_diff gradient negative branch; do
		sed "100,\$s/ $field=\\([^ ]\\)/ $field=7\\1/" "$KSFT_TMP/good" >"$KSFT_TMP/forged"
		refused replay "$KSFT_TMP/forged" 1 "" >/dev/null
	done
}

ksft_plan 6
need_module
net_line
shape 20
ack_delay 5
tc -n "$A" qdisc replace dev a0 root fq
timely_slow "$A" 20
timely_set "$A" t_low_ns 12000000 t_high_ns 25000000 hai_thresh 2
serve "$B"
ksft_case "every decision of the original mode follows from its inputs" original
head -n 130 "$KSFT_TMP/trace" >"$KSFT_TMP/good"
ksft_case "the replay finds forged fields" checker
ksft_case "every decision of the patched mode does" patched
ksft_case "Tlow = Thigh leaves two branches" single_threshold
ksft_case "application-limited flows are held" held
ksft_case "cuts at losses are part of the story" losses
