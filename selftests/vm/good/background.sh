#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Leaves a process behind that holds the output open and sits in a namespace.
echo "KTAP version 1"
echo "1..1"
ip netns add left || exit 1
ip netns exec left setsid sleep 1000 &
ip netns exec left sysctl -qw net.ipv4.ip_forward=1 || exit 1
echo "ok 1 process in the background"
