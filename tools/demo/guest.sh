#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The demo inside the VM, done as an operator would: modprobe, sysctl, tc.
#
#	sender1 --\
#	sender2 ---+--- switch (routes) ---[ bottleneck ]--- receiver
#	  ...   --/
#	  fq                        tbf, codel as a marking FIFO
#
# Every host is a network namespace, every line a veth pair. Data goes through
# the same bottleneck whatever the congestion control: a rate limiter, a finite
# buffer that drops at its tail, and CE marks on ECN-capable packets that waited
# longer than the threshold. Only DCTCP's packets are ECN-capable.
#
# Then requests to all senders at once, beside a long flow from each, with fq and with onramp
# as the senders' qdisc.
#
# Leaves one directory in $RESULTS for each congestion control, and for each with each qdisc.
set -eu

here=$(dirname "$0")
# shellcheck source=tools/demo/config.sh
. "$here/config.sh"
RESULTS=${RESULTS:-/results}
DEV=bottleneck

say() {
	printf 'demo: %s\n' "$*"
}

die() {
	printf 'demo: %s\n' "$*" >&2
	exit 1
}

senders() {
	i=1
	while [ "$i" -le "$SENDERS" ]; do
		printf '%s\n' "sender$i"
		i=$((i + 1))
	done
}

load_modules() {
	say "modprobe tcp_timely, and what it is compared with"
	modprobe -a veth ifb sch_fq sch_netem sch_tbf sch_codel \
		sch_ingress cls_matchall act_mirred tcp_timely ||
		die "a kernel module is missing"
	for cc in $CCS; do
		case $cc in
		cubic|reno)	;;
		*)		modprobe "tcp_$cc" ||
				die "the module tcp_$cc is missing" ;;
		esac
	done
}

build_network() {
	say "network: $SENDERS senders with $NIC_MBIT Mbit/s, a receiver behind $RATE_MBIT Mbit/s"
	{
		echo "netns add switch"
		echo "netns add receiver"
		for s in $(senders); do
			echo "netns add $s"
		done
	} | ip -batch -
	{
		echo "link add $DEV mtu $MTU type veth peer name eth0 netns receiver"
		echo "addr add 10.0.0.254/24 dev $DEV"
		echo "link set $DEV up"
		i=1
		for s in $(senders); do
			echo "link add port$i mtu $MTU type veth peer name eth0 netns $s"
			echo "addr add 10.0.$i.254/24 dev port$i"
			echo "link set port$i up"
			i=$((i + 1))
		done
	} | ip -n switch -batch -
	ip netns exec switch sysctl -qw net.ipv4.ip_forward=1
	join_host receiver 0
	# The propagation delay, all of it on the way of the ACKs.
	tc -n receiver qdisc replace dev eth0 root netem \
		delay "${BASE_RTT_US}us" limit 10000
	i=1
	for s in $(senders); do
		join_host "$s" "$i"
		tc -n "$s" qdisc replace dev eth0 root fq
		add_nic "port$i" "nic$i"
		i=$((i + 1))
	done
}

join_host() {
	ip -n "$1" -batch - <<-BATCH
		link set lo up
		link set eth0 mtu $MTU
		addr add 10.0.$2.1/24 dev eth0
		link set eth0 up
		route add default via 10.0.$2.254
	BATCH
	# What one run learned about the path must not help the next.
	ip netns exec "$1" sysctl -qw net.ipv4.tcp_no_metrics_save=1
}

# A sender's NIC serialises at the line rate what the stack hands over in one piece. Here the
# sender's packets pass a rate limiter where they arrive at the switch. It loses none, and cuts
# GSO packets.
add_nic() {
	ip -n switch link add "$2" type ifb
	ip -n switch link set "$2" up
	tc -n switch -batch - <<-BATCH
		qdisc replace dev $2 root tbf rate ${NIC_MBIT}mbit burst $BURST limit 100m
		qdisc replace dev $1 ingress
		filter replace dev $1 ingress protocol all pref 1 matchall action mirred egress redirect dev $2
	BATCH
}

# A veth says that it has 10 Gbit/s. The rest TIMELY learns from the path.
configure_timely() {
	say "sysctl net.ipv4.timely.line_rate_mbit=$NIC_MBIT"
	for s in $(senders); do
		ip netns exec "$s" sysctl -qw net.ipv4.timely.line_rate_mbit="$NIC_MBIT" \
			net.ipv4.timely.segment_bytes="$SEGMENT_BYTES"
	done
}

# A new bottleneck has empty buffers and zero counters. CoDel itself never acts
# (its target is a minute): it is then a FIFO that marks by sojourn time.
new_bottleneck() {
	tc -n switch qdisc add dev $DEV root handle 1: tbf \
		rate "${RATE_MBIT}mbit" burst "$BURST" \
		limit $((BUFFER_PKTS * (MTU + 100)))
	tc -n switch qdisc replace dev $DEV parent 1:1 handle 10: codel \
		limit "$BUFFER_PKTS" target 60s interval 600s noecn \
		ce_threshold "${MARK_US}us"
}

# Bytes and packets that crossed the bottleneck, by uptime and by a finer clock. Builtins of bash
# only, so that looking costs nothing.
watch_bottleneck() {
	# shellcheck disable=SC2016 # for the inner shell to expand
	exec nice -n 19 ip netns exec switch bash -c '
		while :; do
			read -r up rest </proc/uptime
			while read -r name rest; do
				[ "$name" = "$0:" ] || continue
				set -- $rest
				echo "$up $9 ${10} $EPOCHREALTIME"
			done </proc/net/dev
			sleep 0.25
		done' $DEV
}

# Once during the run: the queue, and the output of ss(8) about one sender. In the
# warm-up and at low priority, because starting programs on a machine with one
# slow processor delays packets.
look_around() {
	sleep "$(awk "BEGIN { print $WARMUP_S / 2 }")"
	nice -n 19 tc -n switch -s -j qdisc show dev $DEV >"$1/qdisc-warmup.json"
	nice -n 19 ip netns exec sender1 ss -tin state established >"$1/ss.txt"
}

stop() {
	kill "$1"
	wait "$1" 2>/dev/null || [ $? -gt 128 ] || die "a helper process failed"
}

run_cc() {
	cc=$1
	dir=$RESULTS/$cc
	list=$(senders | tr '\n' ',')

	mkdir -p "$dir"
	say "$cc: $FLOWS flows for $WARMUP_S + $DURATION_S s"
	new_bottleneck
	# The load generator asks for each by name; ours is made the default too.
	if [ "$cc" = timely ]; then
		for s in $(senders); do
			ip netns exec "$s" sysctl -qw \
				net.ipv4.tcp_congestion_control=timely
		done
	fi
	dcload server --netns receiver --cc "$cc" --json "$dir/server.json" &
	server=$!
	watch_bottleneck >"$dir/crossed.txt" &
	watcher=$!
	look_around "$dir" &
	looker=$!

	dcload client --to 10.0.0.1 --netns "${list%,}" --flows "$FLOWS" \
		--warmup "$WARMUP_S" --duration "$DURATION_S" --cc "$cc" \
		--start-gap "$START_GAP_MS" --connect-first \
		--chunk 16K --rtt-sample-us 1000 --interval-ms 50 \
		--json "$dir/dcload.json" --csv "$dir/series.csv" ||
		die "$cc: the load generator failed"

	wait "$looker" || die "$cc: cannot read the queue's counters"
	tc -n switch -s -j qdisc show dev $DEV >"$dir/qdisc.json"
	tc -n switch qdisc del dev $DEV root
	stop "$watcher"
	stop "$server"
	if [ "$cc" = timely ]; then
		ip netns exec sender1 cat /proc/net/timely >"$dir/proc-net-timely.txt"
		say "ss -ti on sender1, one of its flows:"
		sed -n '2,3p' "$dir/ss.txt"
	fi
}

# The hosts as dcload names them: 1 to SENDERS, and the receiver.
host_list() {
	for s in $(senders); do
		printf '%s,' "$1${s#sender}$2"
	done
	printf '%s\n' "$3"
}

# set_qdisc KIND: of all senders.
set_qdisc() {
	for s in $(senders); do
		tc -n "$s" qdisc del dev eth0 root
		tc -n "$s" qdisc add dev eth0 root "$1"
	done
}

load_onramp() {
	say "modprobe or_acker, for the receiver, and sch_onramp"
	modprobe -a or_acker sch_onramp || die "On-Ramp's modules are missing"
}

# mesh FILE DCLOAD_OPTION...: requests from the receiver to all senders.
mesh() {
	json=$1
	shift
	dcload mesh --seed 1 --json "$json" --hosts "$(host_list 10.0. .1 10.0.0.1)" \
		--netns "$(host_list sender '' receiver)" --link-rate "${RATE_MBIT}mbit" \
		--connect-first --workload "incast:name=requests,from=$last,to=1-$SENDERS,\
fanout=$SENDERS,size=$ANSWER_BYTES,interval=$REQUEST_INTERVAL_S,cc=$cc" "$@" >"$dir/said.txt" ||
		die "$cc, $qdisc: the load generator failed"
	cat "$dir/said.txt"
}

# Cold: the hosts are new, and no packet has shown them the path.
run_requests() {
	cc=$1 qdisc=$2
	dir=$RESULTS/$cc-$qdisc
	last=$((SENDERS + 1))

	mkdir -p "$dir"
	say "requests with $cc, $qdisc: $REQUEST_WARMUP_S + $REQUEST_DURATION_S s, on a new network"
	ip -all netns delete
	build_network >/dev/null
	set_qdisc "$qdisc"
	new_bottleneck
	mesh "$dir/mesh.json" --warmup "$REQUEST_WARMUP_S" --duration "$REQUEST_DURATION_S" \
		--drain 1 --workload "long:name=long,from=1-$SENDERS,to=$last,depth=1,cc=$cc"
	tc -n switch -s -j qdisc show dev $DEV >"$dir/bottleneck.json"
	tc -n sender1 -s -j qdisc show dev eth0 >"$dir/qdisc.json"
	tc -n switch qdisc del dev $DEV root
}

mkdir -p "$RESULTS"
uname -r >"$RESULTS/kernel"
load_modules
build_network
configure_timely
for cc in $CCS; do
	run_cc "$cc"
done
load_onramp
for cc in $REQUEST_CCS; do
	for qdisc in $REQUEST_QDISCS; do
		run_requests "$cc" "$qdisc"
	done
done
ip -all netns delete
say "done"
