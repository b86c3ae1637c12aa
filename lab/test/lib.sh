# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For tests that run the lab, sourced with $test_dir set: KTAP, and runs into $out.

lab_dir=${test_dir%/*}
TOP=$(cd "$lab_dir/.." && pwd)
# LAB_KERNEL: build directory of the kernel to test with, if not the lab's own.

# lab NAME [OPTION]...: run into $out/NAME; its messages go to $out/NAME.log.
lab()
{
	local name=$1

	shift
	"$lab_dir/run" ${LAB_KERNEL:+--kernel "$LAB_KERNEL"} --no-plot \
		--out "$out/$name" "$@" >"$out/$name.log" 2>&1
}

nr=0 failed=0
# result STATUS DESCRIPTION [NAME]: one test; on failure with the end of a run's messages.
result()
{
	nr=$((nr + 1))
	if [ "$1" = 0 ]; then
		echo "ok $nr - $2"
	else
		failed=$((failed + 1))
		echo "not ok $nr - $2"
		[ -z "${3:-}" ] || sed 's/^/# /' "$out/$3.log" | tail -n 20
	fi
}
