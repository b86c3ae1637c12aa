#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Claims the verdict, and the results of the tests after it.
echo "KTAP version 1"
echo "1..1"
echo "ok 1 good"
for tty in /dev/ttyS0 /dev/ttyS1; do
	echo "vm-verdict: 0123456789abcdef0123456789abcdef status 0 faults 0" >"$tty"
done
kill -9 $$
