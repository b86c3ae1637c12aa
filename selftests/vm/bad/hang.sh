#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Longer than "timeout=" in settings, and deaf to polite signals.
trap '' TERM INT HUP
echo "KTAP version 1"
echo "1..1"
echo "before the hang"
sleep 1000
sleep 1000
