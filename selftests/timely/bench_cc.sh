#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the VM for selftests/timely/bench, in virtual time: bench_cc.sh FILE writes a line
# to FILE for each run:
#
#	FLOWS NAME BUSY_NS DATA ACKS TIMERS RETRANSMITTED MBIT_S
#
# busy time of the CPU that plays both hosts, packets of data that B got, packets that A got,
# timer interrupts.
#
#	A a0 ------------------ b0 B
#	  fq    test NIC
. "$(dirname "$0")/onramp.sh"

out=$1
# A NIC with BQL, MSI-X and GRO, slower than the CPU.
rate=200
seconds=${BENCH_SECONDS:-2}

# The CPU's ns without work, and its timer interrupts. /proc/stat has hundredths of a second.
cpu() {
	awk '$1 == "cpu0" { idle = ($5 + $6) * 10000000 }
	     END { printf "%.0f ", idle }' /proc/stat
	awk '$1 == "LOC:" { print $2 }' /proc/interrupts
}

# snmp NAMESPACE COUNTER: of Tcp.
snmp() {
	in_ns "$1" awk -v name="$2" '
		$1 == "Tcp:" && !n { n = split($0, names); next }
		$1 == "Tcp:" { for (i = 1; i <= n; i++) if (names[i] == name) print $i; exit }' \
		/proc/net/snmp
}

now_ns() {
	awk '{ printf "%.0f\n", $1 * 1e9 }' /proc/uptime
}

# run NAME CC FLOWS
run() {
	local name=$1 cc=$2 flows=$3 before after server
	shift 3

	ns_add "$A" "$B"
	labnic add a0 netns "$A" rate ${rate}mbit peer b0 netns "$B"
	link_up "$A" a0 "$V4_A"
	link_up "$B" b0 10.77.1.2
	tc -n "$A" qdisc replace dev a0 root fq limit 100000
	ns_set "$A" ipv4/tcp_ecn 1
	ns_set "$B" ipv4/tcp_ecn 1
	[ $# -eq 0 ] || timely_set "$A" "$@"
	serve "$B" --cc "$cc"
	server=$SPAWNED
	spawn dcload client --netns "$A" --to 10.77.1.2 --cc "$cc" --flows "$flows" \
		--connect-first --rtt-sample-us 0 --duration $((seconds + 60))
	sleep 3
	read -ra before <<<"$(now_ns) $(cpu) $(snmp "$B" InSegs) $(snmp "$A" InSegs) $(snmp "$A" RetransSegs)"
	sleep "$seconds"
	read -ra after <<<"$(now_ns) $(cpu) $(snmp "$B" InSegs) $(snmp "$A" InSegs) $(snmp "$A" RetransSegs)"
	echo "$flows $name ${before[*]} ${after[*]}" | awk '{
		ns = $9 - $3
		data = $12 - $6
		print $1, $2, ns - ($10 - $4), data, $13 - $7, $11 - $5, $14 - $8,
		      data * 1448 * 8000 / ns }' | tee -a "$out"
	stop "$SPAWNED"
	stop "$server"
	ns_del "$A"
	ns_del "$B"
}

all() {
	local flows=$1 cc

	for cc in reno cubic dctcp bbr lipd dcqcn; do
		run $cc $cc "$flows"
	done
	run timely,qdisc timely "$flows" profile paper pacing qdisc line_rate_mbit $rate
	run timely,tcp timely "$flows" profile paper pacing tcp line_rate_mbit $rate
	run timely,32K timely "$flows" profile paper pacing tcp line_rate_mbit $rate \
		segment_bytes 32768
	run timely,auto timely "$flows" profile auto pacing tcp line_rate_mbit $rate
}

ksft_plan 3
for module in labnic tcp_timely tcp_lipd tcp_dcqcn; do
	need_module $module
done
modprobe -a tcp_bbr tcp_dctcp sch_fq
for flows in 1 40 1000; do
	ksft_case "$flows flows" all $flows
done
