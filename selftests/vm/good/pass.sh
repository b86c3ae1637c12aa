#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Loads a module and leaves it to the runner to unload it; a log line of a test's
# own must not be taken for the kernel's.
echo "KTAP version 1"
echo "1..2"
modprobe vm_fault || exit 1
echo "ok 1 module loads"
echo "WARNING: a test says so" >/dev/kmsg || exit 1
echo "ok 2 log can be annotated"
