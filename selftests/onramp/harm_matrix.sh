#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the VM for selftests/onramp/matrix: harm_matrix.sh FILE [CASE]... writes a line to
# FILE for each case and each run; see matrix.awk.
# shellcheck source=selftests/onramp/harm_lib.sh
. "$(dirname "$0")/harm_lib.sh"

out=$1
shift
[ $# -gt 0 ] || eval "set -- $HARM_CASES"

ksft_plan $#
for module in or_acker labnic sch_onramp; do
	need_module $module
done

both() {
	local flows mode

	echo "WHAT $1 ${HARM_WHAT[$1]}" >>"$out"
	for flows in ${FLOWS:-${HARM_FLOWS[$1]}}; do
		for mode in off final; do
			harm_run "$1" "$flows" "$mode"
			echo "RUN $1 $flows $mode $(stat_of pauses) $(stat_of held) $(stat_of acks) $HARM_GOODPUT" \
				>>"$out"
			echo "measured: $flows $mode: $HARM_GOODPUT"
		done
	done
}

# The one in there, if it is not zero, of the first onramp.
stat_of() {
	shown "$1" || echo 0
}

harm_settle
for name; do
	ksft_case "$name: ${HARM_WHAT[$name]}" both "$name"
done
