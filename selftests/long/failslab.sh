#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Each allocation of each module fails once. alloc_fault, the module, says which ones there
# are, and what has failed; `alloc_sites` is a list of all calls of allocators in the modules,
# which has to be covered. What is tested is what the kernel says meanwhile, and what the
# runner of the VM finds in the end: no warning, nothing that leaks; and that all works when
# memory is back.
. "$(dirname "$0")/long_lib.sh"

FAULT=/sys/module/alloc_fault/parameters
PLACES=/sys/kernel/debug/alloc_fault
ALL='or_port nic_ts_hook nic_ts or_acker sch_onramp tcp_timely tcp_lipd tcp_dcqcn'
C=$(ns_name C)
BEHIND=10.77.9.9

fault() {
	echo "$2" >"$FAULT/$1"
}

failures() {
	cat $FAULT/failures
}

# without_memory NAME COMMAND...: again and again, until nothing is left that has not failed
# yet. What the command says does not count, but the last time.
without_memory() {
	local name=$1 n=0 before first=0 status start=$SECONDS
	shift

	first=$(failures)
	fault phase 1
	while :; do
		[ $((n += 1)) -le 400 ] || fail "there is no end to $name"
		before=$(failures)
		fault begin 1
		fault active 1
		status=0
		"$@" >"$KSFT_TMP/said" 2>&1 || status=$?
		fault active 0
		[ "$(failures)" -ne "$before" ] || break
	done
	echo "measured: $name: $(($(failures) - first)) failures in $n rounds, $((SECONDS - start)) s"
	[ "$status" -eq 0 ] || { cat "$KSFT_TMP/said"; fail "$name: status $status"; }
	[ "$(failures)" -gt "$first" ] || fail "no allocation of $name failed"
}

# As modprobe does, but without what it looks up each time.
load_again() {
	[ ! -d "/sys/module/$1" ] || rmmod "$1" || return
	insmod "$2"
}

# In the first namespace that has memory, and the next that has none.
loads() {
	local skip file

	file=$(modinfo -n "$1")
	for skip in 0 1; do
		fault skip $skip
		without_memory "loading $1, namespace $skip" load_again "$1" "$file"
	done
	fault skip 0
}

namespace() {
	ip netns del "$C" 2>/dev/null || :
	ip netns add "$C" && ip -n "$C" link set lo up && ip netns del "$C"
}

devices() {
	ip -n "$A" link del vlan7 2>/dev/null || :
	ip -n "$A" link del c0 2>/dev/null || :
	ip -n "$A" link add link a0 name vlan7 type vlan id 7 &&
	ip -n "$A" link set vlan7 up &&
	ip link add c0 netns "$A" type veth peer c1 netns "$B" &&
	link_up "$A" c0 10.77.8.1 && link_up "$B" c1 10.77.8.2 &&
	params_set "$A" or_acker mode all && sleep 0.5 &&
	params_set "$A" or_acker mode subscribed &&
	ip -n "$A" link del vlan7 && ip -n "$A" link del c0
}

qdiscs() {
	local status=0

	tc -n "$A" qdisc del dev a0 root 2>/dev/null || :
	tc -n "$A" qdisc add dev a0 root handle 1: onramp || status=1
	tc -n "$A" qdisc change dev a0 root onramp buckets 65536 || status=1
	tc -n "$A" qdisc change dev a0 root onramp buckets 64 threshold 50us || status=1
	tc -n "$A" -s qdisc show dev a0 || status=1
	tc -n "$A" -s class show dev a0 || status=1
	tc -n "$A" qdisc replace dev a0 root handle 2: mq || status=1
	tc -n "$A" qdisc add dev a0 parent 2:1 onramp || status=1
	tc -n "$A" qdisc del dev a0 root || status=1
	return $status
}

settings() {
	local name status=0

	for name in timely lipd dcqcn; do
		ns_set "$A" "ipv4/$name/$(first_of "ipv4/$name")" \
			"$(ns_get "$A" "ipv4/$name/$(first_of "ipv4/$name")")" || status=1
	done
	params_set "$A" or_acker max_flows 1000 || status=1
	params_set "$A" or_acker max_flows 65536 || status=1
	params_set "$A" or_port key 000102030405060708090a0b0c0d0e0f || status=1
	params_set "$A" or_port key none || status=1
	for name in timely lipd dcqcn or_acker or_port onramp_peers; do
		in_ns "$A" cat "/proc/net/$name" || status=1
	done
	"$GENL" -n "$A" info || status=1
	for name in stats path flow sub sock; do
		"$GENL" -n "$A" dump "$name" || status=1
	done
	# There is none of this name, if there is memory to say so.
	"$GENL" -n "$A" path local=$V4_A remote=10.99.0.1 | grep -q '^error -2 ' || status=1
	# What the tool does not ask for: a single clock, a single device.
	"$GENL" clock domain=3 || status=1
	"$GENL" -n "$A" dev "ifindex=$(ip -n "$A" -o link show a1 | cut -d: -f1)" || status=1
	nic_ts clocks || status=1
	for name in devices flows stats; do
		in_ns "$A" nic_ts $name || status=1
	done
	nic_ts clock raw set ref-clock 1 ref-host 1 error 1 || status=1
	nic_ts clock raw del || status=1
	in_ns "$A" nic_ts device a1 hw on || status=1
	in_ns "$A" nic_ts device a1 hw off || status=1
	return $status
}

first_of() {
	in_ns "$A" ls "/proc/sys/net/$1" | head -n 1
}

# traffic: over both links, both families, by each congestion control, from new sockets.
traffic() {
	local to cc listener

	# Events of peers are told.
	"$GENL" -n "$A" listen >/dev/null 2>&1 &
	listener=$!
	tc -n "$A" qdisc replace dev a0 root onramp peers all
	in_ns "$A" nic_ts device a1 hw on
	for to in "$V4_B" "[$V6_B]" $B2; do
		timeout -k 5 60 dcload client --netns "$A" --to "$to" --cc timely \
			--rtt-sample-us 0 --flows 4 --duration 2
	done
	for cc in lipd dcqcn; do
		timeout -k 5 60 dcload client --netns "$A" --to "$V4_B" --cc $cc \
			--rtt-sample-us 0 --flows 2 --duration 1
	done
	in_ns "$A" nic_ts device a1 hw off
	tc -n "$A" qdisc del dev a0 root
	kill -9 $listener || :
	wait $listener || :
	return 0
}

# forwarded: by A, data of other hosts' connections. All that comes is B's, and is for nobody.
forwarded() {
	tc -n "$A" qdisc replace dev a1 root onramp forward on &&
	in_ns "$B" timeout 20 "$OR" data "$V4_B" "$BEHIND" 50 &&
	tc -n "$A" qdisc del dev a1 root
}

# cnps: of a switch that A did not know, by a key that opens its port.
switch=0
cnps() {
	local status=0

	switch=$(((switch + 1021) % 65536))
	ns_set "$A" or_port/fabric_key 00000000000000000000000000000001 || return
	in_ns "$B" "$CNP" "$V4_B" "$V4_A" 1234 5001 "switch=$switch" || status=1
	ns_set "$A" or_port/fabric_key none || status=1
	return $status
}

# Where or_acker is, B's port is not free for the switch.
switches() {
	local before

	rmmod or_acker
	without_memory CNPs cnps
	before=$(cnps_known)
	cnps
	wait_for 5 known_more "$before"
	modprobe or_acker
	ns_set "$A" or_acker/busy_share 0
}

cnps_known() {
	in_ns "$A" awk '$1 == "SwitchCnpsNoFlow" { print $2 }' /proc/net/dcqcn
}

known_more() {
	[ "$(cnps_known)" -gt "$1" ]
}

acks_sent() {
	in_ns "$B" awk '$1 == "AckSent" { print $2 }' /proc/net/or_acker
}

# Memory is back, and with it all that modules do.
works() {
	local before

	qdiscs >/dev/null
	settings >/dev/null
	devices
	namespace
	tc -n "$A" qdisc replace dev a0 root onramp peers all
	before=$(acks_sent)
	load "$A" --to "$V4_B" --cc timely --flows 4 --duration 3
	tc -n "$A" qdisc del dev a0 root
	expect "goodput" "$(loaded goodput_bit_s)" -gt $((1000000 / SLOW))
	expect "OR-ACKs" "$(acks_sent)" -gt "$before"
	forwarded
}

# For a while one of nine, of all allocations of all modules, whoever asks.
now_and_then() {
	local i first what

	first=$(failures)
	fault phase 1
	fault begin 1
	fault every 9
	fault times 1000000
	fault active 1
	for i in 1 2; do
		for what in traffic forwarded qdiscs settings devices namespace; do
			$what || :
		done
	done >/dev/null 2>&1
	fault active 0
	fault every 1
	fault times 1
	echo "measured: now and then: $(($(failures) - first)) failures"
	expect "failures" "$(($(failures) - first))" -gt 30
}

# places: MODULE FUNCTION+0xOFFSET FAILED CALLED of each place, CALLED by that function.
places() {
	awk '{
		failed = $1
		n = split($0, call, " < ")
		split(call[n], ours, " ")
		at = n > 1 ? ours[1] : $3
		module = $NF
		gsub(/[][]/, "", module)
		sub(/\/0x.*/, "", at)
		# One that is probed itself.
		called = "pcpu_alloc_or_kvmalloc"
		if (n > 1) {
			called = call[n - 1]
			if (n == 2)
				sub(/^[0-9]+ [0-9]+ /, "", called)
			sub(/\+0x.*/, "", called)
		}
		print module, at, failed, called
	}' $PLACES
}

# Each call of an allocator has failed.
covered() {
	local dir=/results

	[ -d $dir ] || dir=$KSFT_TMP
	cat $PLACES >$dir/places
	places >"$dir/hit"
	awk '
	FNR == NR { if ($3) hit[$1 " " $2] = 1; next }
	{ print ($1 " " $2 in hit) ? "hit" : "not", $0 }' "$dir/hit" \
		"$KSFT_DIR/sites" >"$dir/covered"
	# The list itself, one place a line.
	awk '$3 > 0 { print "measured:", $1, $2, $4 }' "$dir/hit" | sort -u
	awk '$3 > 0 { n++; of[$1]++ } END {
		print "measured: " n " places failed"
		for (m in of)
			print "measured:   " of[m], "of", m }' "$dir/hit"
	awk '
		{ n++; hit += $1 == "hit" }
		$1 != "hit" { print "measured: never:", $2, $3, $4 }
		END {
			print "measured: " hit, "of", n, "calls of allocators failed"
			exit hit < n || n < 50
		}' "$dir/covered"
	expect "places without room" "$(cat $FAULT/lost)" -eq 0
}

ksft_plan 17
modprobe alloc_fault "modules=${ALL// /,}" || exit 1
undo 'rmmod alloc_fault'
# A namespace that is there when modules are loaded, which their setup fails in.
ns_add "$A" "$B"
modprobe labnic
# It needs no memory.
modprobe nic_ts_hook
for module in or_port nic_ts or_acker sch_onramp tcp_timely tcp_lipd tcp_dcqcn; do
	ksft_case "$module is loaded" loads "$module"
	modprobe "$module"
done
ip netns del "$A"
ip netns del "$B"
undo 'wait_for 30 all_unloaded; rmmod labnic'
hosts
ns_set "$A" or_acker/busy_share 0
# On its way there a packet of B's comes by a0 and leaves by a1.
ns_set "$A" ipv4/ip_forward 1
ip -n "$B" route add $BEHIND via "$V4_A"
ip -n "$A" neigh add $BEHIND lladdr 02:00:00:00:00:09 dev a1
serve "$B"
ksft_case "namespaces" without_memory namespaces namespace
ksft_case "devices" without_memory devices devices
ksft_case "qdiscs" without_memory qdiscs qdiscs
ksft_case "settings and what is read" without_memory settings settings
ksft_case "connections and packets" without_memory packets traffic
ksft_case "packets that are forwarded" without_memory forwarding forwarded
ksft_case "CNPs of switches" switches
ksft_case "now and then" now_and_then
ksft_case "all works with memory" works
ksft_case "each place failed" covered
stop "$SPAWNED"
ip netns del "$A"
ip netns del "$B"
