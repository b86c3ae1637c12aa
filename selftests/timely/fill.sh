#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# One flow fills a shaped link as well as cubic does.
#
#	A a0 ---- r0 R r1 ==== b0 B
#	  fq or none   20 Mbit/s
TIMELY_PROFILE=paper
. "$(dirname "$0")/onramp.sh"

mbit=20

# cubic ADDR FILE: what there is to be had, into FILE.
cubic() {
	throughput cubic "$1" 0.5 2 >"$2"
	expect "cubic's throughput" "$(cat "$2")" -ge "$(calc "$mbit * 1e6 * 0.5")"
}

# fills QDISC ADDR FILE: an emulated machine may be slow, but it is so for both.
fills() {
	local timely before

	before=$(timely_count "$A" Completions)
	tc -n "$A" qdisc replace dev a0 root "$1"
	timely=$(throughput timely "$2" 1 2)
	tc -n "$A" qdisc del dev a0 root
	echo "measured: cubic $(calc "$(cat "$3") / 1e3") kbit/s, timely $(calc "$timely / 1e3") kbit/s"
	expect "timely's throughput" "$timely" -ge "$(calc "$(cat "$3") * 0.85")"
	expect "its samples" "$(timely_count "$A" Completions)" -ge "$((before + 100))"
}

ksft_plan "$(often 4 6)"
need_module
net_line
shape $mbit
ack_delay 5
timely_slow "$A" $mbit
serve "$B"
ksft_case "cubic fills the link over IPv4" cubic "$V4_B" "$KSFT_TMP/v4"
ksft_case "cubic fills the link over IPv6" cubic "$V6_B" "$KSFT_TMP/v6"
ksft_case "timely fills it over IPv4, paced by fq" fills fq "$V4_B" "$KSFT_TMP/v4"
ksft_case "timely fills it over IPv6, paced by TCP" fills pfifo_fast "$V6_B" "$KSFT_TMP/v6"
if [ "$THOROUGH" -eq 1 ]; then
	ksft_case "timely fills it over IPv4, paced by TCP" fills pfifo_fast "$V4_B" "$KSFT_TMP/v4"
	ksft_case "timely fills it over IPv6, paced by fq" fills fq "$V6_B" "$KSFT_TMP/v6"
fi
