#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# With signal owd a flow takes the queue of the way there from On-Ramp, as long as OR-ACKs
# tell it, and else its RTTs.
#
#	A a0 onramp ---------- b0 B
. "$(dirname "$0")/onramp.sh"

# Segments follow each other within the time that an OR-ACK counts.
pair() {
	ns_add "$A" "$B"
	labnic add a0 netns "$A" delay 500us peer b0 netns "$B"
	link_up "$A" a0 "$V4_A" "$V6_A"
	link_up "$B" b0 10.77.1.2 "$V6_B1"
	V4_B=10.77.1.2 V6_B=$V6_B1
	wait_for 5 in_ns "$A" ping -c 1 -W 1 -q "$V4_B" >/dev/null
	wait_for 5 in_ns "$A" ping -c 1 -W 1 -q "$V6_B" >/dev/null
}

# used ADDR [DCLOAD_OPTION...]: sets was and got, decisions with On-Ramp's delay before and after a load.
used() {
	local to=$1
	shift

	was=$(timely_count "$A" OwdUsed)
	load "$A" --to "$to" --cc timely --rate-limit 100mbit --duration 1 "$@"
	got=$(timely_count "$A" OwdUsed)
}

rtt_by_default() {
	used "$V4_B"
	expect_same "decisions with On-Ramp's delay" "$got" "$was"
}

# delay_to ADDR
delay_to() {
	timely_set "$A" signal owd
	trace_on timely_update
	used "$1"
	trace_off "$KSFT_TMP/trace"
	expect "decisions with On-Ramp's delay" $((got - was)) -ge 10
	# The tracepoint has the delay; 0 where RTTs count.
	expect "traced" "$(grep -c ' queue=[1-9]' "$KSFT_TMP/trace")" -ge 10
}

# An OR-ACK is about 32 packets of a flow, and these take more than two RTTs.
slow() {
	local none

	timely_set "$A" signal owd line_rate_mbit 20
	none=$(timely_count "$A" OwdUnknown)
	used "$V4_B"
	expect "decisions with On-Ramp's delay" $((got - was)) -ge 10
	expect "decisions by RTTs" $(($(timely_count "$A" OwdUnknown) - none)) -le $(((got - was) / 2))
	timely_set "$A" line_rate_mbit 0
}

profile_paper() {
	timely_set "$A" signal owd
	timely_set "$A" profile paper
	used "$V4_B"
	timely_set "$A" profile auto
	expect "decisions with On-Ramp's delay" $((got - was)) -ge 10
}

# synced OPTION...: both clocks are one kernel's: the delay is that of the whole way, and what TIMELY gets the queue.
synced() {
	in_ns "$B" sysctl -qw net.or_acker.clock_error_ns=1000
	tc -n "$A" qdisc replace dev a0 root onramp peers all owd synced "$@"
	timely_set "$A" signal owd
	trace_on timely_update
	used "$V4_B"
	trace_off "$KSFT_TMP/trace"
	in_ns "$B" sysctl -qw net.or_acker.clock_error_ns=0
	tc -n "$A" qdisc replace dev a0 root onramp peers all owd relative bound threshold auto
	expect "decisions with On-Ramp's delay" $((got - was)) -ge 10
	# An empty path of 500 us: the delay would be that, and the queue is far below.
	awk '{
		for (i = 1; i <= NF; i++)
			if ($i ~ /^queue=/ && substr($i, 7) > 0)
				print substr($i, 7)
	}' "$KSFT_TMP/trace" | sort -n >"$KSFT_TMP/queues"
	median=$(sed -n "$(($(wc -l <"$KSFT_TMP/queues") / 2 + 1))p" "$KSFT_TMP/queues")
	echo "measured: queues of $median ns, the median"
	expect "the median of queues, ns" "$median" -le 400000
}

# tai: OR-ACKs of B with a timestamp of CLOCK_TAI.
tai() {
	in_ns "$B" cat /proc/net/or_acker | awk '$1 == "AckStampTai" { print $2 }'
}

# With clock_error_s a clock's error counts for a second after it was written.
promise_ends() {
	local before

	tc -n "$A" qdisc replace dev a0 root onramp peers all owd synced nobound threshold 10ms
	in_ns "$B" sysctl -qw net.or_acker.clock_error_s=1
	in_ns "$B" sysctl -qw net.or_acker.clock_error_ns=1000
	load "$A" --to "$V4_B" --cc timely --rate-limit 100mbit --duration 0.3
	expect "OR-ACKs of CLOCK_TAI" "$(tai)" -ge 1
	sleep 1.2
	before=$(tai)
	load "$A" --to "$V4_B" --cc timely --rate-limit 100mbit --duration 0.3
	expect_same "OR-ACKs of CLOCK_TAI after that" "$(tai)" "$before"
	# Another parameter is none.
	in_ns "$B" sysctl -qw net.or_acker.flow_age_s=31
	load "$A" --to "$V4_B" --cc timely --rate-limit 100mbit --duration 0.3
	expect_same "OR-ACKs of CLOCK_TAI after that" "$(tai)" "$before"
	in_ns "$B" sysctl -qw net.or_acker.clock_error_ns=1000
	load "$A" --to "$V4_B" --cc timely --rate-limit 100mbit --duration 0.3
	expect "OR-ACKs of CLOCK_TAI" "$(tai)" -gt "$before"
	in_ns "$B" sysctl -qw net.or_acker.clock_error_s=0
	in_ns "$B" sysctl -qw net.or_acker.clock_error_ns=0
	tc -n "$A" qdisc replace dev a0 root onramp peers all owd relative bound threshold auto
}

# without COMMAND...: what tells delays goes by COMMAND while a flow runs, which goes on by its RTTs.
without() {
	local was none

	timely_set "$A" signal owd
	was=$(timely_count "$A" OwdUsed)
	spawn_load "$A" --to "$V4_B" --cc timely --rate-limit 100mbit --duration 1.5
	sleep 0.5
	expect "decisions with On-Ramp's delay" $(($(timely_count "$A" OwdUsed) - was)) -ge 10
	"$@"
	was=$(timely_count "$A" OwdUsed)
	none=$(timely_count "$A" OwdUnknown)
	wait "$SPAWNED"
	expect "decisions with On-Ramp's delay" $(($(timely_count "$A" OwdUsed) - was)) -le 3
	expect "decisions by RTTs" $(($(timely_count "$A" OwdUnknown) - none)) -ge 5
}

sender_goes() {
	without eval 'tc -n "$A" qdisc replace dev a0 root fq; wait_for 5 rmmod sch_onramp'
}

receiver_goes() {
	tc -n "$A" qdisc replace dev a0 root onramp peers all
	without rmmod or_acker
	modprobe or_acker
}

ksft_plan 10
need_module labnic
need_module or_acker
need_module sch_onramp
need_module
pair
tc -n "$A" qdisc replace dev a0 root onramp peers all
serve "$B"
timely_set "$A" profile auto
ksft_case "RTTs by default" rtt_by_default
ksft_case "On-Ramp's delay, IPv4" delay_to "$V4_B"
ksft_case "On-Ramp's delay, IPv6" delay_to "$V6_B"
ksft_case "the same in profile paper" profile_paper
ksft_case "a slow flow, with few OR-ACKs" slow
ksft_case "the delay of clocks that are synchronised" synced
ksft_case "the same with a threshold for the whole delay" synced nobound threshold 10ms
ksft_case "a promise about a clock that expires" promise_ends
ksft_case "sch_onramp is removed under load" sender_goes
ksft_case "OR-ACKs stop" receiver_goes
