#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Profile auto knows how long NICs wait before an interrupt: from the device, also below a
# VLAN and after a change, or as it is set. W, 1.5 times as long, is in the trace. And their
# line rate is that of a wire.
#
#	A a0 ---------- b0 B
TIMELY_PROFILE=auto
. "$(dirname "$0")/onramp.sh"

pair() {
	labnic add a0 netns "$A" address 02:00:00:00:00:0a delay 20us rx_usecs 50us rx_frames 64 \
		peer b0 netns "$B" address 02:00:00:00:00:0b
	ip -n "$A" -batch - <<-END
		addr add 10.77.1.1/24 dev a0
		link set a0 up
		link add link a0 name a0.7 type vlan id 7
		addr add 10.77.7.1/24 dev a0.7
		link set a0.7 up
	END
	ip -n "$B" -batch - <<-END
		addr add 10.77.1.2/24 dev b0
		link set b0 up
		link add link b0 name b0.7 type vlan id 7
		addr add 10.77.7.2/24 dev b0.7
		link set b0.7 up
	END
	wait_for 5 in_ns "$A" ping -c 1 -W 1 -q 10.77.1.2 >/dev/null
	wait_for 5 in_ns "$A" ping -c 1 -W 1 -q 10.77.7.2 >/dev/null
}

# wait_is NS [ADDR]: W of a new connection's decisions, in units of 4096 ns, rounded up.
wait_is() {
	trace_on timely_update
	load "$A" --to "${2:-10.77.1.2}" --cc timely --rate-limit 20mbit --duration 0.3
	trace_off "$KSFT_TMP/trace"
	expect "decisions" "$(grep -c timely_update: "$KSFT_TMP/trace")" -ge 10
	expect_same "W" "$(sed -n 's/.*timely_update:.* wait=\([0-9]*\).*/\1/p' "$KSFT_TMP/trace" |
		sort -u)" "$((($1 + 8191) / 8192 * 8192))"
}

# coalesce OPTION...: and a second, after which a new connection has the device asked again.
coalesce() {
	in_ns "$A" ethtool -C a0 "$@"
	sleep 1.1
	load "$A" --to 10.77.1.2 --cc timely --rate-limit 20mbit --duration 0.1
}

from_the_device() {
	wait_is 75000
	wait_is 75000 10.77.7.2
}

changed() {
	coalesce rx-usecs 20
	wait_is 30000
	wait_is 30000 10.77.7.2
}

# A single packet is enough for an interrupt.
at_once() {
	coalesce rx-usecs 20 rx-frames 1
	wait_is 0
	coalesce rx-usecs 0 rx-frames 64
	wait_is 0
}

bounded() {
	coalesce rx-usecs 900 rx-frames 64
	wait_is 1040384
	coalesce rx-usecs 20
}

by_hand() {
	timely_set "$A" rx_wait_ns 200000
	wait_is 200000
	refused ns_set "$A" ipv4/timely/rx_wait_ns 1000001
	wait_is 200000
	timely_set "$A" rx_wait_ns 0
	wait_is 30000
}

# The speed of a NIC is that of a wire, and what a flow gets shows no other one; on a VLAN, too.
wire() {
	labnic -n "$A" set a0 rate 10mbit
	sleep 1.1
	load "$A" --to 10.77.1.2 --cc timely --duration 0.5
	load "$A" --to 10.77.7.2 --cc timely --duration 0.5
	expect "rises of the line rate" "$(timely_count "$A" LineRateRises)" -eq 0
	expect "increases" "$(timely_count "$A" BranchLow)" -ge 10
	labnic -n "$A" set a0 rate 10gbit
}

# The constants of the paper have nothing of it.
paper() {
	timely_set "$A" profile paper
	wait_is 0
	timely_set "$A" profile auto
	wait_is 30000
}

ksft_plan 7
need_module labnic
need_module
ns_add "$A" "$B"
pair
serve "$B"
# Neighbours, and the receive window of a first connection.
load "$A" --to 10.77.1.2 --cc timely --rate-limit 20mbit --duration 0.5
ksft_case "from the device, and from that below a VLAN" from_the_device
ksft_case "after a change by ethtool" changed
ksft_case "NICs that do not wait" at_once
ksft_case "a millisecond at most" bounded
ksft_case "as it is set" by_hand
ksft_case "not in profile paper" paper
ksft_case "a wire has its speed" wire
