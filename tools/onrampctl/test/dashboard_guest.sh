#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In the VM: what ./dashboard_live runs. Metrics of two hosts, once a second, into
# /results/HOST.N.prom: a sender behind a router that is the bottleneck, and a receiver.
#
#	A a0 -- r0 R r1 -- b0 B
. /selftests/onramp/onramp_lib.sh

SNAPSHOTS=${SNAPSHOTS:-60}

route() {
	ns_add "$A" "$B" "$R"
	ip link add a0 netns "$A" type veth peer r0 netns "$R"
	ip link add b0 netns "$B" type veth peer r1 netns "$R"
	ip -n "$A" -batch - <<-END
		addr add 10.78.1.1/24 dev a0
		link set a0 up
		route add default via 10.78.1.2
	END
	ip -n "$B" -batch - <<-END
		addr add 10.78.2.1/24 dev b0
		link set b0 up
		route add default via 10.78.2.2
	END
	ip -n "$R" -batch - <<-END
		addr add 10.78.1.2/24 dev r0
		addr add 10.78.2.2/24 dev r1
		link set r0 up
		link set r1 up
	END
	ns_set "$R" ipv4/ip_forward 1
	tc -n "$R" qdisc add dev r1 root tbf rate 20mbit burst 10k limit 300k
	tc -n "$A" qdisc add dev a0 root onramp peers all
	tc -n "$B" qdisc add dev b0 root onramp peers all
}

# A NIC whose clock has a map.
nic() {
	need_module labnic
	labnic add n0 netns "$A" peer n1 netns "$B"
	spawn nic_ts clock phc0 feed
}

# record HOST NAMESPACE
record() {
	local i

	for ((i = 0; i < SNAPSHOTS; i++)); do
		onrampctl -n "$2" -i 0.5 -o "/results/$1.$i.prom" prometheus
		sleep 0.3
	done
}

ksft_plan 1
record_all() {
	need_module sch_onramp
	need_module or_acker
	need_module tcp_timely
	route
	nic
	serve "$B"
	spawn dcload client --netns "$A" --to 10.78.2.1 --flows 4 --duration 600
	spawn dcload client --netns "$A" --to 10.78.2.1 --flows 2 --duration 600 --cc timely
	record a "$A" &
	record b "$B"
	wait $!
}
ksft_case "metrics of two hosts" record_all
