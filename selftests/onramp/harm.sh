#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# On-Ramp takes no throughput where there is nothing to gain: goodput of each second with
# mode final, of that with mode off. This is the short form of selftests/onramp/matrix. Its
# bounds are wider, as each side is one run of TCP.
HARM_SECONDS=4
# shellcheck source=selftests/onramp/harm_lib.sh
. "$(dirname "$0")/harm_lib.sh"

# compare CASE FLOWS FIRST REST [PAUSES]: shares that each of the first two seconds has at
# least, and each one after them; pauses, at most.
compare() {
	local off first rest pauses

	harm_run "$1" "$2" off
	off=$HARM_GOODPUT
	harm_run "$1" "$2" final
	pauses=$(shown pauses || echo 0)
	echo "measured: $pauses pauses; off   $off Mbit/s"
	echo "measured: final $HARM_GOODPUT Mbit/s"
	read -r first rest <<<"$(harm_worst "$off" "$HARM_GOODPUT")"
	expect "share in the first two seconds" "$first" -ge "$3"
	expect "share after them" "$rest" -ge "$4"
	[ $# -lt 5 ] || expect pauses "$pauses" -le "$5"
}

# case_of CASE FLOWS FIRST REST [PAUSES]
case_of() {
	ksft_case "${HARM_WHAT[$1]}, flows: $2" compare "$@"
}

ksft_plan 6
for module in or_acker labnic sch_onramp; do
	need_module $module
done
harm_settle
# The wait for tokens, or for the other class, is not in what the path delays.
case_of tbf_5000 1 0.7 0.9 100
case_of drr 1 0.7 0.9 100
case_of wire_then_right 1 0.7 0.9
# The CPU limits these, and OR-ACKs take a small part of it.
case_of rate_then_right 8 0.7 0.85
case_of veth 1 0.7 0.85
case_of veth 8 0.7 0.85
