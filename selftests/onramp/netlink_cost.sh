#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a dump of connections costs, in virtual time: one instruction for each ns.
#
#	A a0 ---- b0 B, with 10.78.0.0/15
. "$(dirname "$0")/onramp_lib.sh"

# Addresses of B.
SERVED=10.78.0.0/15
# DUMP_CONNECTIONS may come from the kernel's command line.
COUNT=${DUMP_CONNECTIONS:-$(often 2000 20000)}
# To each of B's addresses. A namespace has 16384 peers at most.
EACH=$((COUNT > 20000 ? 100 : 8))
BUCKETS=$((COUNT > 20000 ? 262144 : 1024))

# A dump of 100,000 connections may take half a second: 5000 ns for each. A CPU of 3 GHz that
# executes two instructions in a ns or more takes 4000 ns for these.
LIMIT_NS=8000

genl() {
	"$KSFT_DIR/genl_helper" -n "$A" "$@"
}

# cost_ns OBJECTS ARGUMENT...: time of a dump for each of so many that are looked at.
cost_ns() {
	local n=$1
	shift

	genl -c dump "$@" >"$KSFT_TMP/count"
	awk -v n="$n" '{ printf "%d\n", $5 * 1000 / n }' "$KSFT_TMP/count"
}

# times_us FUNCTION OBJECTS ARGUMENT...: the 99th percentile and the longest of the times that a
# function of sch_onramp takes in a dump which calls it for so many, us. Calls with an
# interrupt, or with softirqs, which run when the function has unlocked, do not count. The longest
# one may have a turn of the other CPU in it, as both have the same virtual time.
times_us() {
	local name=$1 n=$2 event events=/sys/kernel/tracing/kprobe_events
	shift 2

	trace_on
	echo $((8192 + COUNT / 4)) >"$KSFT_TRACE/buffer_size_kb"
	printf '%s\n' "p:held/begin sch_onramp:$name" "r:held/end sch_onramp:$name" >$events
	for event in held irq irq_vectors; do
		[ ! -e "$KSFT_TRACE/events/$event" ] || echo 1 >"$KSFT_TRACE/events/$event/enable"
	done
	genl -c dump "$@" >/dev/null
	trace_off "$KSFT_TMP/trace"
	echo >$events
	awk '
		match($0, / [0-9]+\.[0-9]+: /) { us = substr($0, RSTART, RLENGTH - 2) * 1000000 }
		/ begin: / { began = us; alone = 1; next }
		!/ end: / { alone = 0; next }
		alone { printf "%d\n", us - began + 0.5 }' "$KSFT_TMP/trace" | sort -n >"$KSFT_TMP/us"
	awk -v n="$n" '
		{ us[NR] = $1 }
		END {
			if (NR < 0.9 * n)
				print "only", NR, "calls"
			else
				print us[int(0.99 * NR) + 1], us[NR]
		}' "$KSFT_TMP/us"
}

# A dump copies an object under its lock, and lets go of that before the next one. No lock may
# be held for longer than 50 us.
locks() {
	local conn peer

	conn=$(times_us onramp_genl_put_conn "$COUNT" conn)
	peer=$(times_us onramp_genl_put_peer $((COUNT / EACH)) path)
	echo "measured: us for one of $COUNT connections, p99 and most: $conn; for a peer: $peer"
	expect "us for a connection" "${conn% *}" -le 25
	expect "us for a peer" "${peer% *}" -le 25
}

# top once a second may take 3 % of such a CPU with 10,000 connections: 9000 ns for each, as above
# two instructions in each.
LIMIT_TOP_NS=18000

connected_all() {
	stat connections -eq "$COUNT"
}

sent_is() {
	[ "$(grep -c sent "$KSFT_TMP/out")" -eq "$1" ]
}

# program ARGUMENT...: onrampctl in A; sets MS and KB, the most memory that it had.
program() {
	local began kb pid

	began=${EPOCHREALTIME/./}
	onrampctl -n "$A" "$@" >"$KSFT_TMP/out" &
	pid=$!
	KB=0
	while kb=$(awk '$1 == "VmHWM:" { print $2 }' "/proc/$pid/status" 2>/dev/null) && [ -n "$kb" ]; do
		KB=$kb
		sleep 0.1
	done
	wait "$pid"
	MS=$(((${EPOCHREALTIME/./} - began) / 1000))
}

# All of them in a list, and one of them.
lists() {
	local all

	program show flows dst "$SERVED"
	expect "lines" "$(wc -l <"$KSFT_TMP/out")" -gt "$COUNT"
	all="$MS ms, $KB KiB"
	program show flows dst 10.78.0.1
	expect "lines" "$(wc -l <"$KSFT_TMP/out")" -eq $((EACH + 1))
	echo "measured: onrampctl show flows with $COUNT connections: $all; with a filter for $EACH of them: $MS ms, $KB KiB"
	expect "KiB for a few of them" "$KB" -le $((16384 + COUNT / 8))
}

run_top() {
	exec onrampctl -n "$A" -i 0.1 top >"$KSFT_TMP/top"
}

screens_are() {
	[ "$(grep -c "connections" "$KSFT_TMP/top")" -ge "$1" ]
}

# What top costs a screen, and how many series Prometheus is given: both have bars for a host
# with many connections.
screens() {
	local pid each series before after cpu_before cpu_after

	spawn run_top
	pid=$SPAWNED
	wait_for 60 screens_are 2
	read -r cpu_before _ <"/proc/$pid/schedstat"
	before=$(grep -c "connections" "$KSFT_TMP/top")
	wait_for 60 screens_are $((before + 4))
	read -r cpu_after _ <"/proc/$pid/schedstat"
	after=$(grep -c "connections" "$KSFT_TMP/top")
	stop "$pid" TERM
	each=$(((cpu_after - cpu_before) / (after - before) / COUNT))
	program prometheus
	series=$(grep -vc '^#' "$KSFT_TMP/out")
	echo "measured: top with $COUNT connections: $each ns for each and screen; $series series"
	expect "ns of top for a connection" "$each" -le $LIMIT_TOP_NS
	expect "series" "$series" -le 300
}

dumps() {
	local all none tries=0

	connect 10.78.0.1 $((COUNT / EACH)) "$EACH"
	# The qdisc forgets flows that were idle for 3 s for new ones in their buckets.
	until connected_all || [ $tries -eq 5 ]; do
		again
		tries=$((tries + 1))
		wait_for 120 sent_is $tries
	done
	connected_all || {
		tc -n "$A" -s qdisc show dev $DEV
		cat /proc/sys/fs/file-nr
		in_ns "$A" cat /proc/net/sockstat
		return 1
	}
	all=$(cost_ns "$COUNT" flow)
	expect "connections in a dump" "$(cut -d' ' -f1 <"$KSFT_TMP/count")" -eq "$COUNT"
	expect "bytes of a connection" "$(awk '{ printf "%d", $3 / $1 }' <"$KSFT_TMP/count")" -le 400
	none=$(cost_ns "$COUNT" flow rport=1)
	expect "connections that match" "$(cut -d' ' -f1 <"$KSFT_TMP/count")" -eq 0
	echo "measured: $all ns for each connection of a dump, $none ns for one that a filter leaves out"
	expect "ns for a connection" "$all" -le $LIMIT_NS
	expect "ns for one that is left out" "$none" -le $((all / 3))
	locks
	lists
	screens
}

ksft_plan 1
need_module sch_onramp
quiet_pair
ip -n "$B" route add local 10.78.0.0/15 dev lo
ip -n "$A" route add 10.78.0.0/15 via "$B4"
spawn "$KSFT_DIR/connect_helper" serve "$B" $PORT
fresh buckets "$BUCKETS"
ksft_case "a dump of connections" dumps
