#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Departure times: order, horizon, marks. Times are of a machine that counts
# instructions, so that the host's load does not matter.
. "$(dirname "$0")/onramp_lib.sh"

# Longest time, in microseconds, that a packet may be late.
late=4000

# on_time GROUP NUMBER US
on_time() {
	local us

	us=$(at "$1" "$2")
	expect "arrival of $1 $2" "$us" -ge "$3"
	expect "arrival of $1 $2" "$us" -le $(($3 + late))
}

order() {
	awk '{ printf "%s%s ", $1, $2 }' "$KSFT_TMP/got"
}

between_flows() {
	fresh
	send group=a at=60000 group=b at=30000 group=c at=90000 group=d
	expect_same order "$(order)" "d0 b0 a0 c0 "
	on_time b 0 30000
	on_time a 0 60000
	on_time c 0 90000
	on_time d 0 0
	expect throttled "$(stat throttled)" -ge 3
	holds 0 0
}

# Each datagram is to leave 20 ms before the one that was sent before it: as with fq the flow
# waits for the time of the first one.
within_a_flow() {
	fresh
	send group=a n=5 at=120000 step=-20000
	expect_same order "$(order)" "a4 a3 a2 a1 a0 "
	on_time a 4 120000
	on_time a 0 120000
	# The same time keeps the order, and times in the past count as now.
	send group=a n=20 at=40000 group=b n=5 at=-50000
	in_order a b
	expect a "$(got a)" -eq 20
	on_time b 4 0
}

# same_as_fq OPTION...: what is sent arrives in the same order under fq, and when it did there.
same_as_fq() {
	local kind

	for kind in fq onramp; do
		tc -n "$A" qdisc del dev a0 root
		tc -n "$A" qdisc add dev a0 root $kind
		send "$@"
		cp "$KSFT_TMP/got" "$KSFT_TMP/$kind"
	done
	paste "$KSFT_TMP/fq" "$KSFT_TMP/onramp" | awk -v late=$late -v n="$(wc -l <"$KSFT_TMP/fq")" '
		{ off = $7 - $3 }
		$1 != $5 || $2 != $6 || off > late || off < -late { print "not as fq: " $0; bad = 1 }
		END { exit bad || NR == 0 || NR != n }'
}

# As the kernel's selftest so_txtime has it, two at a time; and more than that.
order_of_fq() {
	fresh
	same_as_fq group=a at=10000
	same_as_fq group=a n=2 at=10000 step=10000
	same_as_fq group=a n=2 at=20000 step=-10000
	same_as_fq group=a n=5 at=120000 step=-20000
	same_as_fq group=a n=3 at=200000 step=-70000 mix=1 group=b n=2 at=100000
	same_as_fq group=a n=4 at=30000 group=b n=3 at=-1000 group=c n=3 at=90000 step=-30000
}

horizon_drop() {
	fresh horizon 100ms
	send group=a at=90000 group=b at=3000000 group=c n=7 at=200000
	expect_same order "$(order)" "a0 "
	expect horizon_drops "$(stat horizon_drops)" -eq 8
	expect drops "$(stat drops)" -eq 8
	# Before the clock began: not a time at all.
	send group=a at=-100000000000
	expect a "$(got a)" -eq 0
	expect horizon_drops "$(stat horizon_drops)" -eq 9
	holds 0 0
}

horizon_cap() {
	fresh horizon 100ms horizon_cap
	send group=a at=60000 group=b at=3000000
	expect_same order "$(order)" "a0 b0 "
	# 100 ms after it was sent, which was a little after the start.
	on_time b 0 100000
	expect horizon_caps "$(stat horizon_caps)" -eq 1
	expect drops "$(stat drops)" -eq 0
}

# 20 datagrams of 1042 bytes at 1 Mbyte/s: those that waited for more than 10 ms.
marks() {
	local marked

	below tbf rate 8mbit burst 2000 limit 1000000
	tc -n "$A" qdisc change dev a0 parent 2:1 onramp ce_threshold 10ms flow_limit 1000
	send group=a n=40 tos=2 group=b n=3
	marked=$(awk '$4 == 3 { n++ } END { print n + 0 }' "$KSFT_TMP/got")
	expect "marks that arrived" "$marked" -eq "$(stat ce_mark)"
	expect "marks" "$marked" -ge 25
	expect "marks" "$marked" -le 36
	awk '$1 == "a" && $4 == 3 && $3 < 9000 { print; exit 1 }' "$KSFT_TMP/got"
	awk '$1 == "a" && $4 != 3 && $3 > 15000 { print; exit 1 }' "$KSFT_TMP/got"
	# Without ECN there is nothing to mark.
	expect "b with marks" "$(awk '$1 == "b" && $4 { n++ } END { print n + 0 }' \
		"$KSFT_TMP/got")" -eq 0
	# Waiting for its own time is not being late.
	fresh ce_threshold 5ms
	send group=a n=5 tos=2 at=30000 step=10000
	expect "marks" "$(stat ce_mark)" -eq 0
	expect a "$(got a)" -eq 5
}

# A program at egress of the device gives all packets together 1 Mbyte/s.
by_bpf() {
	mkdir -p "$KSFT_TMP/bpf"
	mount -t bpf bpf "$KSFT_TMP/bpf"
	"$KSFT_DIR/tstamp_helper" "$KSFT_TMP/bpf/edt" 1000
	tc -n "$A" qdisc add dev a0 clsact
	tc -n "$A" filter add dev a0 egress bpf direct-action object-pinned "$KSFT_TMP/bpf/edt"
	fresh
	send group=a n=40
	in_order a
	expect a "$(got a)" -eq 40
	# Each has 1042 bytes.
	expect "microseconds" "$(span a)" -ge $((39 * 1042 - late))
	expect "microseconds" "$(span a)" -le $((39 * 1042 + late))
	expect throttled "$(stat throttled)" -gt 10
	same_as_fq group=a n=20 group=b n=20
	# What is beyond the horizon is dropped, as by fq.
	fresh horizon 20ms
	send group=a n=40
	expect horizon_drops "$(stat horizon_drops)" -ge 15
	expect a "$(got a)" -eq $((40 - $(stat horizon_drops)))
	tc -n "$A" qdisc del dev a0 clsact
	umount "$KSFT_TMP/bpf"
}

ksft_plan 7
ready
ksft_case "flows leave in the order of their times, and at them" between_flows
ksft_case "packets of a flow leave in the order of their times" within_a_flow
ksft_case "times that are out of order have the order of fq" order_of_fq
ksft_case "packets beyond the horizon are dropped" horizon_drop
ksft_case "or sent at it" horizon_cap
ksft_case "packets that others made late are marked" marks
ksft_case "departure times that a program of BPF sets" by_bpf
