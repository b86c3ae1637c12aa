#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# With pacing=tcp at most one segment waits in fq, and the next leaves at the newest rate.
#
#	A a0 ---- r0 R r1 ---- b0 B
#	  fq          20 Mbit/s, 10 ms; 10 ms on the way back
TIMELY_PROFILE=paper
. "$(dirname "$0")/onramp.sh"

helper=$KSFT_DIR/timely_helper

path() {
	tc -n "$R" qdisc replace dev r1 root netem rate 20mbit delay 10ms limit 1000 "$@"
}

# throttled: how often fq made a flow wait. The line before says how many wait now.
throttled() {
	tc -n "$A" -s qdisc show dev a0 | grep -o 'throttled [0-9]*' | tail -n 1 | cut -d' ' -f2
}

# transfer PACING: Mbit/s, and how often fq made it wait.
transfer() {
	local before

	timely_set "$A" pacing "$1"
	before=$(throttled)
	load "$A" --to "$V4_B" --cc timely --warmup 0.5 --duration 2 >&2
	echo "$(calc "$(loaded goodput_bit_s) / 1e4")" $(($(throttled) - before))
}

who_paces() {
	local by_qdisc by_tcp n_qdisc n_tcp

	read -r by_qdisc n_qdisc < <(transfer qdisc)
	read -r by_tcp n_tcp < <(transfer tcp)
	echo "measured: by fq $(calc "$by_qdisc / 100") Mbit/s, $n_qdisc waits in it; by TCP $(calc "$by_tcp / 100"), $n_tcp waits"
	expect "waits in fq" "$n_qdisc" -ge 50
	# Of two segments fq has the second: it says at the first one that it paces.
	expect "waits in fq while TCP paces" "$n_tcp" -le $((n_qdisc * 6 / 10))
	expect "throughput where TCP paces" "$by_tcp" -ge $((by_qdisc * 9 / 10))
	expect "times that packets left early" "$(timely_count "$A" PacedByTcp)" -eq 0
}

cuts() {
	timely_count "$A" LossCuts -gt "$1"
}

completions() {
	timely_count "$A" Completions -gt "$1"
}

# rise PACING: s from the last retransmission to the tenth sample. A loss leads to 80 kbit/s
# at once, at which a segment takes 1.6 s; the first sample raises the rate by 20 Mbit/s.
rise() {
	local cuts completions

	timely_set "$A" pacing "$1"
	cuts=$(timely_count "$A" LossCuts)
	completions=$(timely_count "$A" Completions)
	trace_on timely_loss timely_update
	echo 1 >"$KSFT_TRACE/events/tcp/tcp_retransmit_skb/enable"
	spawn_load "$A" --to "$V4_B" --cc timely --duration 100
	wait_for 20 completions $((completions + 100))
	path loss 20%
	wait_for 20 cuts "$cuts"
	path
	sleep 6
	trace_off "$KSFT_TMP/trace"
	stop "$SPAWNED"
	awk "$TRACE_AWK"'
		/timely_loss/ { cut = 1 }
		/tcp_retransmit_skb/ && cut && (!last || n < 10) { last = when(); n = 0 }
		/timely_update/ && last && ++n == 10 { took = when() - last }
		END { print took ? took : 100 }' "$KSFT_TMP/trace"
}

from_the_floor() {
	local by_qdisc by_tcp

	timely_set "$A" min_rate_kbit 80 loss_beta_permille 1000 delta_kbit 20000
	by_qdisc=$(rise qdisc)
	by_tcp=$(rise tcp)
	echo "measured: ten segments after a loss: $by_qdisc s by fq, $by_tcp s by TCP"
	# Or the test shows nothing.
	expect "s by fq" "$by_qdisc" -ge 1.5
	expect "s by TCP" "$by_tcp" -le 0.8
}

ksft_plan 2
need_module
net_line
path
ack_delay 10
tc -n "$A" qdisc replace dev a0 root fq
timely_slow "$A" 20
timely_set "$A" t_low_ns 40000000 max_outstanding_bytes 500000
serve "$B"
ksft_case "fq has every second segment at most of a flow that TCP paces" who_paces
ksft_case "a rate that rises moves the next departure" from_the_floor
