#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Many flows: that they are told apart, found again, forgotten when idle, and moved when
# the table gets another size.
. "$(dirname "$0")/onramp_lib.sh"

# Datagrams of so many flows, from two ports to half as many; nobody hears most of them.
# More than 16 bits can count.
many=$(often 70000 100000)

# swarm [NAME=VALUE]...
swarm() {
	local each=$((many / 2))

	send wait=0 group=x n=$each ports=$each sport=5555 len=20 "$@" \
		group=y n=$each ports=$each sport=5556 len=20 "$@"
}

thousands() {
	local flows again

	again=$(often 10000 "$many")
	ns_set "$B" ipv4/icmp_ratelimit 100000
	fresh limit 200000 orphan_mask 0xffffff buckets 1024 horizon 200s
	# They wait for their time, so all of them are there at once; a slow machine has
	# sent the last one in a third of it.
	swarm at=40000000
	expect qlen "$(stat qlen)" -eq $many
	# Some hashes of 24 bits are the same, of 100,000 numbers 298 on average, of
	# 70,000 146.
	expect flows "$(stat flows)" -ge $((many - 600))
	expect flows "$(stat flows)" -le $many
	echo "measured: $(stat flows) flows"
	change buckets 2
	expect flows "$(stat flows)" -ge $((many - 600))
	change buckets 65536
	holds $many $((many * $(frame 20)))
	# They are found again.
	flows=$(stat flows)
	many=$again swarm at=40000000
	holds $((many + again)) $(((many + again) * $(frame 20)))
	expect flows "$(stat flows)" -eq "$flows"
	# And all leave.
	sleep 25
	wait_for 120 inactive
	holds 0 0
	expect packets "$(stat packets)" -ge $((many + again))
}

inactive() {
	stat qlen -eq 0
}

# Idle flows make place for others after three seconds.
collected() {
	local flows many=20000

	fresh limit 100000 orphan_mask 0xffffff buckets 64
	swarm at=500000
	wait_for 20 inactive
	flows=$(stat flows)
	expect gc "$(stat gc)" -eq 0
	expect inactive "$(stat inactive)" -ge $((flows - 1))
	sleep 3.5
	# From other ports: other flows.
	send wait=0 group=x n=2000 ports=2000 len=20 at=100000
	send wait=0 group=z n=2000 ports=7 len=21 at=100000
	expect gc "$(stat gc)" -gt 500
	expect flows "$(stat flows)" -lt "$((flows + 2000))"
	echo "measured: $(stat gc) of $flows collected"
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
ksft_case "more than 65,536 flows at once, through changes of the table's size" thousands
ksft_case "idle flows are forgotten as others come" collected
ksft_case "orphan_mask bounds their number" orphan_mask
