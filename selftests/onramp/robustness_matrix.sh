#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the VM for selftests/onramp/matrix: robustness_matrix.sh FILE [CASE]... writes a line to
# FILE for each case and each run; see matrix.awk.
# shellcheck source=selftests/onramp/robustness_lib.sh
. "$(dirname "$0")/robustness_lib.sh"

out=$1
shift
[ $# -gt 0 ] || eval "set -- $ROBUST_CASES"

ksft_plan $#
for module in or_acker labnic sch_onramp; do
	need_module $module
done

both() {
	local flows mode

	echo "WHAT $1 ${ROBUST_WHAT[$1]}" >>"$out"
	for flows in ${FLOWS:-${ROBUST_FLOWS[$1]}}; do
		for mode in off final; do
			robust_run "$1" "$flows" "$mode"
			echo "RUN $1 $flows $mode $(stat_of pauses) $(stat_of held) $(stat_of acks) $ROBUST_GOODPUT" \
				>>"$out"
			echo "measured: $flows $mode: $ROBUST_GOODPUT"
		done
	done
}

# The one in there, if it is not zero, of the first onramp.
stat_of() {
	shown "$1" || echo 0
}

robust_settle
for name; do
	ksft_case "$name: ${ROBUST_WHAT[$name]}" both "$name"
done
