#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The link's rate is halved under a flow, and doubled again.
#
#	A a0 ---- r0 R r1 ==== b0 B
#	  fq        20, 10, 20 Mbit/s
TIMELY_PROFILE=paper
. "$(dirname "$0")/onramp.sh"

mbit=20
half=$((mbit / 2))

run() {
	trace_on timely_update
	spawn dcload client --netns "$A" --to "$V4_B" --cc timely \
		--rtt-sample-us 0 --duration 11 --interval-ms 100 \
		--csv "$KSFT_TMP/csv" --json "$KSFT_TMP/load.json"
	sleep 4
	shape "$half"
	echo halved >"$KSFT_TRACE/trace_marker"
	sleep 4
	shape "$mbit"
	echo doubled >"$KSFT_TRACE/trace_marker"
	wait "$SPAWNED"
	trace_off "$KSFT_TMP/trace"
	grep -q halved "$KSFT_TMP/trace"
	grep -q doubled "$KSFT_TMP/trace"
}

# Lines of the trace by time since the marker, ms: "ms rtt_ms rate_kbit".
since() {
	awk "$TRACE_AWK"'
		/halved/ { from["halved"] = when() }
		/doubled/ { from["doubled"] = when() }
		/timely_update/ {
			t[++n] = when(); rtt[n] = v("rtt") / 1e6; rate[n] = v("rate") / 125
		}
		END {
			to = mark == "halved" ? from["doubled"] : 1e9
			for (i = 1; i <= n; i++)
				if (t[i] > from[mark] && t[i] < to)
					printf "%d %.3f %.0f\n", (t[i] - from[mark]) * 1e3,
						rtt[i], rate[i]
		}' mark="$1" "$KSFT_TMP/trace"
}

# The base RTT is 5 ms, Tlow 15 ms: what 1 s is in RTTs, and more.
settle_ms=1000

slows_down() {
	local first worst

	since halved >"$KSFT_TMP/halved"
	first=$(awk -v limit=$((half * 1050)) '$3 <= limit { print $1; exit }' \
		"$KSFT_TMP/halved")
	worst=$(awk -v s=$settle_ms '$1 > s && $2 > m { m = $2 } END { print m }' \
		"$KSFT_TMP/halved")
	echo "measured: at the new rate after $first ms, RTT after $settle_ms ms at most $worst ms"
	expect "ms to get down to the new rate" "$first" -le $settle_ms
	expect "largest RTT from then on, ms" "$worst" -le 150
}

# Not far below it either. A segment takes 13 ms of that link, more than minRTT:
# one more or less is a gradient above one, so the rate swings.
keeps_busy() {
	local rate

	rate=$(mean 5.5 7.9)
	echo "measured: $rate kbit/s of $half Mbit/s"
	expect "goodput on half the link, kbit/s" "$rate" -ge $((half * 300))
	expect "goodput on half the link, kbit/s" "$rate" -le $((half * 1000))
}

speeds_up() {
	local rate

	rate=$(mean 9.5 10.9)
	echo "measured: $rate kbit/s of $mbit Mbit/s"
	expect "goodput on the whole link again, kbit/s" "$rate" -ge $((mbit * 800))
}

# mean FROM TO: goodput between two times of the run, kbit/s.
mean() {
	awk -F, -v from="$1" -v to="$2" '
		NR > 1 && $1 > from && $1 <= to { sum += $3; n++ }
		END { printf "%.0f\n", n ? sum / n / 1e3 : 0 }' "$KSFT_TMP/csv"
}

ksft_plan 4
need_module
net_line
shape $mbit
ack_delay 5
timely_slow "$A" $mbit
tc -n "$A" qdisc replace dev a0 root fq
serve "$B"
ksft_case "a flow lives through both" run
ksft_case "the rate follows the halved link within 1 s, the queue with it" slows_down
ksft_case "and stays there" keeps_busy
ksft_case "the rate follows the doubled link" speeds_up
