#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A failing subtest, and an exit status that hides it.
echo "KTAP version 1"
echo "1..2"
echo "ok 1 good"
echo "not ok 2 broken"
