#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Behind a token bucket, as clouds have them, the rate does not stand still: a segment that
# finds tokens passes faster than the line rate says, and its RTT comes out below zero.
#
#	A a0 ---- r0 R r1 ==== b0 B
#	  fq             tbf
TIMELY_PROFILE=paper
. "$(dirname "$0")/onramp.sh"

mbit=500

# bucket BYTES PERCENT: at least so much of cubic's throughput, which is measured once.
bucket() {
	local of=$KSFT_TMP/cubic-$1 cubic timely below

	tc -n "$R" qdisc replace dev r1 root tbf rate "${mbit}mbit" burst "$1" limit 1000000
	[ -e "$of" ] || throughput cubic "$V4_B" 0.2 0.3 >"$of"
	read -r cubic <"$of"
	expect "cubic's throughput" "$cubic" -ge "$(calc "$mbit * 1e6 * 0.7")"
	below=$(timely_count "$A" BelowFloor)
	timely=$(throughput timely "$V4_B" 0.2 0.3)
	below=$(($(timely_count "$A" BelowFloor) - below))
	echo "measured: cubic $(calc "$cubic / 1e6") Mbit/s, timely $(calc "$timely / 1e6"), $below samples below the floor"
	expect "timely's throughput" "$timely" -ge "$(calc "$cubic * $2 / 100")"
	# Or the test shows nothing.
	expect "samples below the floor" "$below" -ge 100
}

ksft_plan 4
need_module
net_line
tc -n "$A" qdisc replace dev a0 root fq
timely_set "$A" line_rate_mbit $mbit
serve "$B"
ksft_case "500 Mbit/s, a bucket of 64 KB" bucket 65536 90
# With so few tokens a segment now and then finds a queue, which is a steep gradient.
ksft_case "500 Mbit/s, a bucket of three packets" bucket 5000 60
timely_set "$A" profile auto
ksft_case "profile auto, a bucket of 64 KB" bucket 65536 95
ksft_case "profile auto, a bucket of three packets" bucket 5000 95
