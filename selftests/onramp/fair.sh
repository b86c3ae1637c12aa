#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Who gets how much of a bottleneck: 1 Mbyte/s, a tbf above the qdisc.
. "$(dirname "$0")/onramp_lib.sh"

bottleneck() {
	below tbf rate 8mbit burst 2000 limit 10000000
	tc -n "$A" qdisc change dev a0 parent 2:1 onramp flow_limit 2000 \
		initial_quantum 1514 quantum 1514 "$@"
}

# first N GROUP: how many of the first N datagrams to arrive are of the group.
first() {
	head -n "$1" "$KSFT_TMP/got" | awk -v name="$2" '$1 == name { n++ } END { print n + 0 }'
}

thin() {
	bottleneck
	# The heavy flow's 800 packets take most of a second; they are there first.
	send group=heavy n=800 group=thin n=5 len=200
	expect heavy "$(got heavy)" -eq 800
	expect thin "$(got thin)" -eq 5
	in_order heavy thin
	expect "arrival of the last thin one" "$(at thin 4)" -le \
		$(($(at heavy 0) + 250000))
	expect "arrival of the last thin one" "$(at thin 4)" -lt "$(at heavy 400)"
	holds 0 0
}

equal() {
	local n

	bottleneck
	# In bytes, whatever their packets' length is.
	send group=a n=300 len=1400 group=b n=600 len=700 group=c n=300 len=1400
	in_order a b c
	n=$(first 600 b)
	expect "share of small packets, in 600" "$n" -ge 260
	expect "share of small packets, in 600" "$n" -le 340
	n=$(first 600 a)
	expect "share of a, in 600" "$n" -ge 120
	expect "share of a, in 600" "$n" -le 190
}

# Bands share by weight, 9 : 3 : 1, whatever the number of flows in them is.
weights() {
	local n

	bottleneck weights 49152 32768 16384 limit 20000
	send group=low n=700 prio=1 group=mid n=700 prio=0 group=high n=700 prio=6
	in_order low mid high
	n=$(first 1000 high)
	expect "share of band 0, in 1000" "$n" -ge 440
	expect "share of band 0, in 1000" "$n" -le 560
	n=$(first 1000 low)
	expect "share of band 2, in 1000" "$n" -ge 130
	expect "share of band 2, in 1000" "$n" -le 210
	# They all arrive: none is starved, none lost.
	for n in low mid high; do
		expect "$n" "$(got $n)" -eq 700
	done
	holds 0 0
}

priomap() {
	bottleneck weights 262144 16384 16384 priomap 2 2 2 0 2 2 2 2 2 2 2 2 2 2 2 2
	send group=default n=300 prio=6 group=raised n=100 prio=3
	expect "share of the raised one, in 150" "$(first 150 raised)" -ge 80
	# A priority above 15 is what its four low bits are.
	send group=default n=300 prio=0 group=raised n=100 prio=19
	expect "share of the raised one, in 150" "$(first 150 raised)" -ge 80
}

ksft_plan 4
ready
ksft_case "a heavy flow does not starve a thin one" thin
ksft_case "flows share in bytes" equal
ksft_case "bands share by their weights, none starves" weights
ksft_case "priorities map to bands as configured" priomap
