#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Many flows: that they are told apart, found again, forgotten when idle, and moved when
# the table gets another size.
. "$(dirname "$0")/onramp_lib.sh"

# Datagrams of so many flows, from two ports to half as many; nobody hears most of them.
many=100000

# swarm [NAME=VALUE]...
swarm() {
	local each=$((many / 2))

	send wait=0 group=x n=$each ports=$each sport=5555 len=20 "$@" \
		group=y n=$each ports=$each sport=5556 len=20 "$@"
}

thousands() {
	ns_set "$B" ipv4/icmp_ratelimit 100000
	fresh limit 200000 orphan_mask 0xffffff buckets 1024 horizon 60s
	# They wait for their time, so all of them are there at once.
	swarm at=15000000
	expect qlen "$(stat qlen)" -eq $many
	# Some hashes of 24 bits are the same, of 100,000 numbers 298 on average.
	expect flows "$(stat flows)" -ge $((many - 600))
	expect flows "$(stat flows)" -le $many
	echo "measured: $(stat flows) flows"
	change buckets 2
	expect flows "$(stat flows)" -ge $((many - 600))
	change buckets 65536
	holds $many $((many * $(frame 20)))
	# They are all found again.
	swarm at=15000000
	holds $((2 * many)) $((2 * many * $(frame 20)))
	expect flows "$(stat flows)" -le $many
	# And all leave.
	wait_for 60 inactive
	holds 0 0
	expect packets "$(stat packets)" -ge $((2 * many))
}

inactive() {
	[ "$(stat qlen)" = 0 ]
}

# Idle flows make place for others after three seconds.
collected() {
	local flows many=20000

	fresh limit 100000 orphan_mask 0xffffff buckets 64
	swarm at=500000
	wait_for 20 inactive
	flows=$(stat flows)
	expect flows_gc "$(stat flows_gc)" -eq 0
	expect flows_inactive "$(stat flows_inactive)" -ge $((flows - 1))
	sleep 3.5
	# From other ports: other flows.
	send wait=0 group=x n=2000 ports=2000 len=20 at=100000
	send wait=0 group=z n=2000 ports=7 len=21 at=100000
	expect flows_gc "$(stat flows_gc)" -gt 500
	expect flows "$(stat flows)" -lt "$((flows + 2000))"
	echo "measured: $(stat flows_gc) of $flows collected"
	wait_for 20 inactive
	holds 0 0
}

# The mask bounds how many there can be.
orphan_mask() {
	local many=20000

	fresh limit 100000 flow_limit 100000 orphan_mask 7
	swarm at=1000000
	expect flows "$(stat flows)" -le 8
	expect flows "$(stat flows)" -ge 5
	wait_for 20 inactive
}

ksft_plan 3
ready
ksft_case "100,000 flows at once, through changes of the table's size" thousands
ksft_case "idle flows are forgotten as others come" collected
ksft_case "orphan_mask bounds their number" orphan_mask
