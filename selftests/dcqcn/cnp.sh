#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# CNPs that switches send, and attacks with them. B plays the switch as well.
#
#	A a0 ---------- b0 B
#	   mercury, 20 Mbit/s
. "$(dirname "$0")/onramp.sh"

helper=$KSFT_DIR/dcqcn_helper
key=00000000000000000000000000000001

dcqcn_count() {
	awk -v name="$1" '
		$1 == name { print $2; found = 1 }
		END { exit !found }' "$KSFT_TMP/counters"
}

read_counters() {
	in_ns "$A" cat /proc/net/dcqcn >"$KSFT_TMP/counters"
}

# cnp ADDRESS-OF-A ADDRESS-OF-B PORT-OF-A [OPTION]...: newer than the last one.
cnp() {
	local a=$1 b=$2 port=$3 count
	shift 3

	count=$(($(cat "$KSFT_TMP/count") + 1000000))
	echo "$count" >"$KSFT_TMP/count"
	in_ns "$B" "$helper" "$b" "$a" "$port" "${dport:-5001}" count="$count" "$@"
}

# port_of ADDRESS: A's end of the one connection to there that sends.
port_of() {
	in_ns "$A" ss -Htn state established dst "[$1]" | awk '
		{ n = split($3, part, ":"); port = part[n] }
		END { print port }'
}

connected() {
	[ -n "$(port_of "$1")" ] && in_ns "$A" ss -Htin dst "[$1]" | grep -q 'bytes_acked:[0-9]\{5\}'
}

# cwnd_of ADDRESS: of that connection.
cwnd_of() {
	in_ns "$A" ss -Htin dst "[$1]" | grep -o ' cwnd:[0-9]*' | tail -n 1 | cut -d: -f2
}

# begin ADDRESS [CC [OPTION...]]: a connection that sends all the time, from $port.
begin() {
	spawn load "$A" --to "$1" --cc "${2:-mercury}" --flows 1 --duration 300 "${@:3}"
	client=$SPAWNED
	wait_for 20 connected "$1"
	port=$(port_of "$1")
}

# grows COUNTER BY COMMAND...: a counter of A grows by exactly so much. A CNP that comes while the
# program uses its connection is taken a moment later.
grows() {
	local counter=$1 by=$2 before grew
	shift 2

	read_counters
	cp "$KSFT_TMP/counters" "$KSFT_TMP/before-$counter"
	before=$(dcqcn_count "$counter")
	"$@"
	wait_for 5 grown "$counter" $((before + by)) || :
	read_counters
	grew=$(($(dcqcn_count "$counter") - before))
	[ "$grew" -eq "$by" ] || diff "$KSFT_TMP/before-$counter" "$KSFT_TMP/counters" || :
	expect "growth of $counter" "$grew" -eq "$by"
}

grown() {
	read_counters
	[ "$(dcqcn_count "$1")" -ge "$2" ]
}

# A packet of 1448 bytes has 1538 on the wire (IPv4), and of 1428 as many (IPv6): 19 in 30000.
window() {
	local a=$1 b=$2 client port

	begin "$b"
	expect "cwnd before" "$(cwnd_of "$b")" -gt 1000
	trace_on dcqcn_cnp dcqcn_update
	grows SwitchCnps 1 grows Cnps 1 cnp "$a" "$b" "$port" window=30000
	expect "cwnd" "$(cwnd_of "$b")" -eq 19
	grows SwitchCnps 1 cnp "$a" "$b" "$port" window=1
	expect "cwnd" "$(cwnd_of "$b")" -eq 1
	grows SwitchWindowsEnded 1 sleep 1.2
	expect "cwnd after its time" "$(cwnd_of "$b")" -gt 1000
	trace_off "$KSFT_TMP/trace"
	stop "$client"
	grep -c 'dcqcn_cnp: .*switch=1 .*window=30000 hold_us=1000000 verdict=taken cwnd=19' \
		"$KSFT_TMP/trace"
	grep -q 'dcqcn_cnp: .*window=1 .*verdict=taken cwnd=1$' "$KSFT_TMP/trace"
	# The cut is DCQCN's, by an alpha that is 1 at the first CNP.
	grep 'dcqcn_update: .*cnp=1' "$KSFT_TMP/trace" | head -n 1 | tee "$KSFT_TMP/first"
	awk '{ for (i = 1; i <= NF; i++) { split($i, a, "="); v[a[1]] = a[2] } }
		END { exit !(v["marked"] == 0 && v["rate"] <= 0.51 * v["old_rate"]) }' "$KSFT_TMP/first"
}

# Without a CNP, C * base RTT and two goes: 20 Mbit/s, 50 ms, packets of 1538 bytes: 82.
initial() {
	local client port

	params_set "$A" ipv4/dcqcn base_rtt_ns 50000000 segment_bytes 1448
	begin "$V4_B"
	wait_for 5 cwnd_is 84
	params_set "$A" ipv4/dcqcn base_rtt_ns 0 segment_bytes 16384
	wait_for 5 cwnd_above 1000
	stop "$client"
}

cwnd_is() {
	[ "$(cwnd_of "$V4_B")" -eq "$1" ]
}

cwnd_above() {
	[ "$(cwnd_of "$V4_B")" -gt "$1" ]
}

# unmoved COUNTER [OPTION]...: A refuses such a CNP, counts it, and the window stays.
unmoved() {
	local counter=$1
	shift

	grows "$counter" 1 cnp "$V4_A" "$V4_B" "$port" "$@"
	expect "cwnd" "$(cwnd_of "$V4_B")" -gt 1000
}

attacks() {
	local client port at seen first=0

	begin "$V4_B"
	read_counters
	cp "$KSFT_TMP/counters" "$KSFT_TMP/before"
	unmoved SwitchCnpsTag key=2
	# Each field is under the tag: switch, ports, window, time, count, addresses, tag.
	for at in 2 3 4 7 9 10 13 20 31 39; do
		unmoved SwitchCnpsTag flip=$at
	done
	unmoved SwitchCnpsMalformed flip=1
	unmoved SwitchCnpsMalformed window=0
	unmoved SwitchCnpsMalformed hold=0
	unmoved SwitchCnpsMalformed hold=1000001
	unmoved SwitchCnpsMalformed len=39
	unmoved SwitchCnpsMalformed len=41
	unmoved SwitchCnpsMalformed len=200
	# Of another pair.
	unmoved SwitchCnpsMalformed sender=10.77.1.9
	unmoved SwitchCnpsNoFlow receiver=10.77.1.9
	grows SwitchCnpsNoFlow 1 cnp "$V4_A" "$V4_B" $((port - 1))
	# A message of the past, and one that was seen.
	grows SwitchCnps 1 cnp "$V4_A" "$V4_B" "$port" switch=7 hold=1 window=4000000000
	seen=$(cat "$KSFT_TMP/count")
	unmoved SwitchCnpsReplayed switch=7 count="$seen"
	unmoved SwitchCnpsReplayed switch=7 count=$((seen - 1))
	# Another switch has counts of its own.
	grows SwitchCnps 1 by_another
	read_counters
	expect "taken" "$(($(dcqcn_count SwitchCnps) - $(awk '$1 == "SwitchCnps" { print $2 }' \
		"$KSFT_TMP/before")))" -eq 2
	stop "$client"
}

by_another() {
	first=$((first + 1))
	cnp "$V4_A" "$V4_B" "$port" switch=8 count="$first" hold=1 window=4000000000
}

# A flood without the key costs counters, and nothing else.
flood() {
	local client port many

	many=$(often 500 5000)
	begin "$V4_B"
	grows SwitchCnpsTag "$many" grows SwitchCnps 0 cnp "$V4_A" "$V4_B" "$port" key=3 \
		times="$many"
	expect "cwnd" "$(cwnd_of "$V4_B")" -gt 1000
	stop "$client"
}

# Connections with another congestion control know no CNP.
others() {
	local client port cc

	for cc in dcqcn cubic; do
		begin "$V4_B" $cc --rate-limit 2mbit
		grows SwitchCnpsNoFlow 1 grows SwitchCnps 0 cnp "$V4_A" "$V4_B" "$port" window=1
		stop "$client"
	done
}

# Without a key the port is closed, and what was told holds no longer than it says.
keys() {
	local holder

	expect_same "a key" "$(ns_get "$A" or_port/fabric_key)" set
	[ -n "$(in_ns "$A" ss -Hlun 'sport = 299')" ]
	ns_set "$A" or_port/fabric_key none
	expect_same "no key" "$(ns_get "$A" or_port/fabric_key)" none
	[ -z "$(in_ns "$A" ss -Hlun 'sport = 299')" ]
	refused ns_set "$A" or_port/fabric_key 00000000000000000000000000000000 2>/dev/null
	refused ns_set "$A" or_port/fabric_key 1234 2>/dev/null
	expect_same "still none" "$(ns_get "$A" or_port/fabric_key)" none
	# A program has the port.
	spawn in_ns "$A" "$helper" hold "$V4_A"
	holder=$SPAWNED
	wait_for 5 held
	refused ns_set "$A" or_port/fabric_key $key 2>/dev/null
	expect_same "still none" "$(ns_get "$A" or_port/fabric_key)" none
	stop "$holder"
	wait_for 5 ns_set "$A" or_port/fabric_key $key
	# Keys of namespaces are their own.
	expect_same "B's" "$(ns_get "$B" or_port/fabric_key)" none
}

# use write|read [CC]: a process of A has its connection in use; $port is its port.
use() {
	coproc USER { in_ns "$A" "$helper" own "$V4_B" "$dport" "$@"; }
	echo "$USER_PID" >>"$KSFT_TMP/pids"
	read -r -u "${USER[0]}" port
}

# unuse: no longer; $cwnd is what the process saw right after.
unuse() {
	echo >&"${USER[1]}"
	read -r -u "${USER[0]}" cwnd
}

# ended: that process.
ended() {
	echo >&"${USER[1]}"
	wait "$USER_PID" || :
}

both() {
	cnp "$V4_A" "$V4_B" "$port" window=60000 hold=900000
	cnp "$V4_A" "$V4_B" "$port" window=30000 hold=900000
}

one() {
	cnp "$V4_A" "$V4_B" "$port" window=30000 "$@"
}

kept() {
	local dport=5002 port cwnd sink taken

	spawn in_ns "$B" "$helper" sink "$V4_B" $dport
	sink=$SPAWNED
	wait_for 5 in_ns "$B" sh -c "ss -Htln 'sport = $dport' | grep -q ."

	# Its own data obeys already, and the last CNP counts.
	use write
	grows SwitchCnpsKept 2 grows SwitchCnps 0 both
	grows SwitchCnps 2 grows Cnps 1 unuse
	expect "cwnd of the writer" "$cwnd" -eq 19
	ended

	# It neither sends nor gets an ACK.
	use read
	grows SwitchCnpsKept 1 grows SwitchCnps 0 one
	grows SwitchCnps 1 unuse
	ended
	# The time of the window began when the CNP came.
	use read
	grows SwitchCnpsKept 1 one hold=100000
	sleep 0.3
	grows SwitchCnps 1 grows SwitchWindowsEnded 1 unuse
	ended

	# It is about to have another congestion control, or has it.
	use read cubic
	read_counters
	taken=$(($(dcqcn_count SwitchCnps) + $(dcqcn_count SwitchCnpsNoFlow)))
	grows SwitchCnpsKept 1 one
	unuse
	wait_for 5 settled $((taken + 1))
	ended

	# A second is enough; later windows are gone.
	use read
	grows SwitchCnpsBusy 1 grows SwitchCnps 0 one
	unuse
	expect "cwnd" "$cwnd" -gt 1000
	ended

	# Killed meanwhile.
	use read
	grows SwitchCnpsKept 1 grows SwitchCnpsNoFlow 1 killed
	stop "$sink"
}

killed() {
	one
	kill -KILL -- "-$USER_PID" 2>/dev/null || kill -KILL "$USER_PID"
}

settled() {
	read_counters
	[ $(($(dcqcn_count SwitchCnps) + $(dcqcn_count SwitchCnpsNoFlow))) -eq "$1" ]
}

# None of many is lost beside a program that writes all the time.
none_lost() {
	local client port many

	many=$(often 200 2000)
	begin "$V4_B"
	grows SwitchCnpsBusy 0 grows SwitchCnps "$many" cnp "$V4_A" "$V4_B" "$port" \
		window=1000000000 times="$many"
	stop "$client"
}

held() {
	[ -n "$(in_ns "$A" ss -Hun 'sport = 299'; in_ns "$A" ss -Hlun 'sport = 299')" ]
}

no_refs() {
	[ "$(cat /sys/module/tcp_dcqcn/refcnt)" -eq 0 ]
}

# The module goes while CNPs come, and comes again.
unloads() {
	local flooder

	stop "$server"
	wait_for 20 no_refs
	spawn in_ns "$B" "$helper" "$V4_B" "$V4_A" 1234 5001 times=200000
	flooder=$SPAWNED
	rmmod tcp_dcqcn
	modprobe tcp_dcqcn
	rmmod tcp_dcqcn
	# The key has the port open, and no module takes the messages.
	rmmod or_port
	stop "$flooder"
	modprobe tcp_dcqcn
}

echo 1000000 >"$KSFT_TMP/count"
ksft_plan 11
need_module tcp_dcqcn
net_pair
params_set "$A" ipv4/dcqcn line_rate_mbit 20 min_rate_kbit 1000
ns_set "$A" or_port/fabric_key $key
serve "$B" --cc mercury
server=$SPAWNED
ksft_case "a CNP cuts the rate and sets the window for its time, IPv4" window "$V4_A" "$V4_B"
ksft_case "the same, IPv6" window "$V6_A" "$V6_B"
ksft_case "without a CNP the window is C * base RTT" initial
ksft_case "bad, replayed, and of another pair: refused, counted, the window stays" attacks
ksft_case "a flood with a wrong key changes nothing" flood
ksft_case "dcqcn and cubic take no CNP" others
ksft_case "a CNP that comes while a process uses the connection is kept" kept
ksft_case "none of many is lost beside a program that writes" none_lost
ksft_case "the key opens and closes the port" keys
ksft_case "a new key takes CNPs again, IPv4" window "$V4_A" "$V4_B"
ksft_case "unloaded under a flood of CNPs" unloads
