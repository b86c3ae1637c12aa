#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The allowed list names this one.
echo "KTAP version 1"
echo "1..0 # SKIP nothing to do"
exit 4
