#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Stops before its plan is fulfilled.
echo "KTAP version 1"
echo "1..3"
echo "ok 1 good"
