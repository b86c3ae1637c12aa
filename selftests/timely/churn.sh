#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Many sockets, little memory, and everything removed from under them.
#
#	A a0 ---------- b0 B
. "$(dirname "$0")/onramp.sh"

helper=$KSFT_DIR/timely_helper

refs() {
	cat /sys/module/tcp_timely/refcnt
}

no_refs() {
	[ "$(refs)" -eq 0 ]
}

cycles() {
	local before n

	n=$(often 200 1000)
	before=$(timely_count "$A" Starts)
	load "$A" --to "$V4_B" --cc timely --flow-churn "$n" "$@"
	expect "cycles done" "$(loaded churn.done)" -eq "$n"
	expect "cycles failed" "$(loaded churn.failed)" -eq 0
	expect "starts" "$(($(timely_count "$A" Starts) - before))" -eq "$n"
	wait_for 20 no_refs
}

slab_kib() {
	awk '/^(Slab|Percpu):/ { n += $2 } END { print n }' /proc/meminfo
}

# Memory comes back, but for what the kernel keeps in store.
many() {
	local n before

	n=$(often 2500 10000)
	ulimit -n 30000
	before=$(slab_kib)
	serve "$B" --port 5004
	spawn in_ns "$A" "$helper" many "$V4_B" 5004 timely $n 100 "$KSFT_TMP/many"
	wait_for 60 test -e "$KSFT_TMP/many"
	expect "sockets that hold the module" "$(refs)" -ge $n
	expect "TCP sockets in use" \
		"$(in_ns "$A" awk '/^TCP:/ { print $3 }' /proc/net/sockstat)" -eq $n
	echo "measured: $((($(slab_kib) - before) * 1024 / (2 * n))) bytes of slab per socket"
	stop "$SPAWNED"
	wait_for 60 no_refs
	expect "TCP sockets in use" \
		"$(in_ns "$A" awk '/^TCP:/ { print $3 }' /proc/net/sockstat)" -eq 0
	# They had more than 8 KiB each, the other end among it.
	wait_for 30 slab_below $((before + 4 * n))
}

slab_below() {
	[ "$(slab_kib)" -le "$1" ]
}

# With almost no memory for buffers, connections crawl, but end well.
pressure() {
	local was

	was=$(cat /proc/sys/net/ipv4/tcp_mem)
	echo "echo '$was' >/proc/sys/net/ipv4/tcp_mem" >>"$KSFT_TMP/undo"
	echo "16 32 64" >/proc/sys/net/ipv4/tcp_mem
	spawn dcload client --netns "$A" --to "$V4_B" --cc timely --flows 64 \
		--rtt-sample-us 0 --duration 1 --json "$KSFT_TMP/pressed"
	wait "$SPAWNED" || echo "dcload gave up, as it may under pressure"
	echo "$was" >/proc/sys/net/ipv4/tcp_mem
	wait_for 30 no_refs
	load "$A" --to "$V4_B" --cc timely --flows 8 --duration 0.5
	expect "bytes after the pressure" "$(loaded counters.bytes_acked)" -gt 100000
}

# What is in use cannot be unloaded, what is not can, with traffic until then.
unload() {
	local tries=0 client

	# Sockets of the case before would be taken for those of the load.
	wait_for 60 no_refs
	spawn dcload client --netns "$A" --to "$V4_B" --cc timely --flows 16 \
		--rate-limit 2mbit --rtt-sample-us 0 --duration 3600
	client=$SPAWNED
	wait_for 10 in_use
	while [ $tries -lt "$(often 8 100)" ]; do
		refused rmmod tcp_timely 2>/dev/null
		tries=$((tries + 1))
	done
	stop "$client"
	wait_for 10 rmmod tcp_timely
	modprobe tcp_timely
}

in_use() {
	[ "$(refs)" -ge 16 ]
}

# Loading and unloading meets namespaces that come and go, and devices in them.
reload() {
	local i comer

	rmmod tcp_timely
	spawn bash -c "while :; do
		ip netns add $C; ip -n $C link set lo up
		ip -n $C link add type dummy; ip -n $C link set dummy0 up
		ip netns del $C
	done"
	echo "$C" >>"$KSFT_TMP/namespaces"
	comer=$SPAWNED
	for i in $(seq "$(often 8 50)"); do
		modprobe tcp_timely
		rmmod tcp_timely
	done
	stop "$comer"
	ip netns del "$C" 2>/dev/null || [ ! -e "/run/netns/$C" ]
	modprobe tcp_timely
}

# flow_lives LINK: a flow over A's LINK is under way.
flow_lives() {
	local before

	before=$(timely_count "$A" Starts)
	spawn dcload client --netns "$A" --to "$1" --cc timely --flows 4 \
		--rtt-sample-us 0 --duration 60
	client=$SPAWNED
	wait_for 10 started_since "$before"
}

started_since() {
	timely_count "$A" Starts -ge $(($1 + 4))
}

add_link() {
	veth_pair "$A" a1 10.77.3.1 "$B" b1 10.77.3.2
}

device_removed() {
	add_link
	flow_lives 10.77.3.2
	ip -n "$A" link del a1
	stop "$client"
	wait_for 20 no_refs
}

device_renamed() {
	add_link
	flow_lives 10.77.3.2
	# Older kernels rename no device that is up.
	ip -n "$A" link set a1 down
	ip -n "$A" link set a1 name renamed
	ip -n "$A" link set renamed up
	load "$A" --to 10.77.3.2 --cc timely --duration 0.3
	expect "bytes over the renamed device" "$(loaded counters.bytes_acked)" -gt 10000
	stop "$client"
	ip -n "$A" link del renamed
	wait_for 20 no_refs
}

device_moved() {
	ns_add "$C"
	add_link
	flow_lives 10.77.3.2
	ip -n "$A" link set a1 netns "$C"
	link_up "$C" a1 10.77.3.1
	load "$C" --to 10.77.3.2 --cc timely --duration 0.3
	expect "bytes from the other namespace" "$(loaded counters.bytes_acked)" -gt 10000
	expect "starts there" "$(timely_count "$C" Starts)" -eq 1
	stop "$client"
	ns_del "$C"
	wait_for 20 no_refs
}

# The sockets keep the namespace until they go, then all goes.
namespace_removed() {
	ns_add "$C"
	veth_pair "$C" c0 10.77.4.1 "$B" d0 10.77.4.2
	spawn dcload client --netns "$C" --to 10.77.4.2 --cc timely --flows 4 \
		--rtt-sample-us 0 --duration 60
	client=$SPAWNED
	wait_for 10 in_ns "$C" grep -q 'Completions [1-9]' /proc/net/timely
	ns_del "$C"
	stop "$client"
	wait_for 20 no_refs
	wait_for 20 link_gone
}

# The namespace's end of the link goes with it, and takes the other end along.
link_gone() {
	! ip -n "$B" link show dev d0 >/dev/null 2>&1
}

ksft_plan 11
need_module
C=$(ns_name C)
net_pair
serve "$B"
ksft_case "hundreds of connections one after the other" cycles
ksft_case "hundreds of connections, 50 at once" cycles --parallel 50
ksft_case "thousands of sockets at once, and none left" many
ksft_case "memory pressure" pressure
ksft_case "rmmod under load is refused, and works once it ends" unload
ksft_case "a device is removed under traffic" device_removed
ksft_case "a device is renamed under traffic" device_renamed
ksft_case "a device is moved under traffic" device_moved
ksft_case "a namespace is removed under traffic" namespace_removed
ksft_case "loaded again and again while namespaces come and go" reload
ksft_case "nothing holds the module" no_refs
