#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Rates of flows. Times are of a machine that counts instructions.
. "$(dirname "$0")/onramp_lib.sh"

# sends "GROUP=US [GROUP=US]..." WORD...: send WORD..., of which each GROUP takes so long within 5 %.
# It never takes less. What a machine has to do besides may make packets late, once or twice, but
# not three times in a row.
sends() {
	local spans=$1 span try late
	shift

	for try in 1 2 3; do
		send "$@"
		late=0
		for span in $spans; do
			expect "time of ${span%=*}" "$(span "${span%=*}")" \
				-ge "$(calc "${span#*=} * 0.95")" || return
			[ "$(span "${span%=*}")" -le "$(calc "${span#*=} * 1.05")" ] || {
				late=1
				echo "try $try: time of ${span%=*}: $(span "${span%=*}") us"
			}
		done
		[ "$late" = 1 ] || return 0
	done
	fail "three times of $spans were late"
}

# N packets at a rate take N - 1 times their length, less what may go in one burst:
# a new flow's initial quantum.
socket_rate() {
	local bytes

	bytes=$(frame 1000)
	fresh initial_quantum 1000 quantum 1000 flow_limit 1000
	sends "a=$((bytes * 200)) b=$((bytes * 400))" \
		group=a n=201 rate=1000000 group=b n=101 rate=250000
	expect a "$(got a)" -eq 201
	expect b "$(got b)" -eq 101
	in_order a b
	# Bursts of a quantum do not change the rate.
	fresh initial_quantum 5000 quantum 5000 flow_limit 1000
	sends "a=$((bytes * 200))" group=a n=205 rate=1000000
	# Below the threshold every packet waits for the one before it.
	fresh quantum 50000 initial_quantum 50000 low_rate_threshold 8mbit flow_limit 1000
	sends "a=$((bytes * 100))" group=a n=101 rate=1000000
}

max_rate() {
	local bytes

	bytes=$(frame 1000)
	fresh maxrate 8mbit initial_quantum 1000 quantum 1000 flow_limit 1000
	# The last one has departure times as well.
	sends "a=$((bytes * 100)) b=$((bytes * 100)) c=$((bytes * 100)) d=$((bytes * 100))" \
		group=a n=101 group=b n=101 rate=100000000 group=c n=51 rate=500000 \
		group=d n=101 at=0
	in_order a b c d
	# It is lifted while they wait.
	spawn bash -c "sleep 0.3; tc -n $A qdisc change dev a0 root onramp maxrate 0"
	change maxrate 800kbit
	send group=a n=101
	wait "$SPAWNED"
	expect "time of a" "$(span a)" -ge 100000
	expect "time of a" "$(span a)" -le 600000
	expect a "$(got a)" -eq 101
}

no_pacing() {
	fresh nopacing maxrate 800kbit flow_limit 1000
	send group=a n=101 rate=100000
	expect a "$(got a)" -eq 101
	expect "time of a" "$(span a)" -le 100000
	expect throttled "$(stat throttled)" -eq 0
	# But not times that senders ask for.
	send group=a at=50000
	expect a "$(at a 0)" -ge 50000
}

# A packet a second at most, however low the rate.
slowest() {
	fresh initial_quantum 1000 quantum 1000
	sends a=2000000 wait=3000 group=a n=3 rate=1
	expect a "$(got a)" -eq 3
	expect pacing_capped "$(stat pacing_capped)" -ge 2
}

# TCP paces by departure times. Each packet comes alone, and waits for its time all the same.
of_tcp() {
	fresh mode final
	tc -n "$B" qdisc replace dev b0 root netem delay 10ms limit 10000
	load "$A" --to "$B4" --flows 1 --duration 0.5
	tc -n "$B" qdisc del dev b0 root
	expect throttled "$(stat throttled)" -ge 10
	echo "measured: $(stat throttled) of $(stat packets) packets waited"
}

ksft_plan 5
ready
serve "$B"
ksft_case "a flow leaves at the rate of its socket" socket_rate
ksft_case "or at maxrate, if that is lower" max_rate
ksft_case "nopacing lets them go at once" no_pacing
ksft_case "a pause lasts for a second at most" slowest
ksft_case "data of TCP leaves at its departure times" of_tcp
