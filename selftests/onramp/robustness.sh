#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# On-Ramp takes no throughput where there is nothing to gain: goodput of each second with
# mode final, of that with mode off. This is the short form of selftests/onramp/matrix,
# where the CPU has nine tenths of its time to spare; busy.sh is for where it has none.
ROBUST_SECONDS=3
# shellcheck source=selftests/onramp/robustness_lib.sh
. "$(dirname "$0")/robustness_lib.sh"

ksft_plan 3
for module in or_acker labnic sch_onramp; do
	need_module $module
done
robust_settle
# The wait for tokens, or for the other class, is not in what the path delays.
case_of tbf_5000 1 0.97 0.97 100
case_of drr 1 0.97 0.97 100
case_of wire_then_right 1 0.97 0.97
