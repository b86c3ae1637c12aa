#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# On-Ramp takes little throughput where the CPU is what limits: OR-ACKs take a part of its
# time. Goodput of each second with mode final, of that with mode off.
ROBUST_SECONDS=3
# shellcheck source=selftests/onramp/robustness_lib.sh
. "$(dirname "$0")/robustness_lib.sh"

ksft_plan "$(often 2 3)"
for module in or_acker labnic sch_onramp; do
	need_module $module
done
robust_settle
case_of rate_then_right 8 0.7 0.9
[ "$THOROUGH" -eq 0 ] || case_of veth 1 0.7 0.9
case_of veth 8 0.7 0.9
