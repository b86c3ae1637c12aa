# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# bench_cost HELPER ROUNDS: what or_acker costs a packet of data, by nic_ts_bench; sourced by
# those who know on what machine. Lines "MODE FLOWS TRAIN NS OR-ACKS", the mean for a packet
# times 1000, and OR-ACKs per packet times 1000; in each round one for each of
#
#	none	neither or_acker nor nic_ts is loaded
#	idle	or_acker is, and has no subscriber
#	few	it sends OR-ACKs, one for 255 packets
#	acks	one for 32, the default
#
# with 1 connection, and with 64 of which 16 packets, or one, come in a row. OR-ACKs go out
# by the device, which drops them.
bench_cost() {
	bench_prepare "$1" || return
	_round=0
	while [ $_round -lt "$2" ]; do
		bench_all none
		modprobe or_acker
		bench_all idle
		bench_open
		bench_begin || return
		echo 255 >$_acker/ack_packets
		bench_all few
		echo 32 >$_acker/ack_packets
		bench_all acks
		modprobe -r or_acker
		modprobe -r nic_ts
		sleep 2
		_round=$((_round + 1))
	done
	kill $_sockets
	wait $_sockets
	rmmod nic_ts_bench
}

# bench_prepare HELPER: the device, and sockets for data on it.
bench_prepare() {
	_params=/sys/module/nic_ts_bench/parameters
	_acker=/proc/sys/net/or_acker
	modprobe nic_ts_bench || return
	ip addr add 198.18.0.1/15 dev bench0
	ip link set bench0 up
	ethtool -K bench0 gro off
	"$1" socket 198.18.0.1 198.18.0.2 5001 40000 64 1000000 >/tmp/bench-sockets &
	_sockets=$!
	until grep -q ready /tmp/bench-sockets; do
		kill -0 $_sockets || return
		sleep 0.01
	done
}

# or_acker as the benchmark wants it: nothing limits it but ack_packets.
bench_open() {
	echo 0 >$_acker/busy_share
	echo 16777216 >$_acker/ack_bytes
	echo 10000000 >$_acker/ack_delay_ns
	echo 3600 >$_acker/flow_age_s
	echo all >$_acker/mode
}

# bench_insns HELPER FLOWS TRAIN ROUNDS: only mode acks, and so many runs; for who counts instructions by
# function. Each run has 17152 packets.
bench_insns() {
	bench_prepare "$1" || return
	modprobe or_acker
	bench_open
	bench_begin || return
	_round=0
	while [ $_round -lt "$4" ]; do
		bench_run acks "$2" "$3"
		_round=$((_round + 1))
	done
	cat /proc/kallsyms >/results/kallsyms
	kill $_sockets
}

# All connections have a flow, and have their path learned: 0.25 s.
bench_begin() {
	echo 64 >$_params/flows
	echo 1 >$_params/train
	_tries=0
	until [ "$(bench_count Flows)" = 64 ]; do
		[ $_tries -lt 1000 ] || { echo "no flows" >&2; return 1; }
		_tries=$((_tries + 1))
		sleep 0.01
		echo data >$_params/run
	done
	sleep 0.3
}

bench_count() {
	[ ! -e /proc/net/or_acker ] || awk -v name="$1" '$1 == name { print $2 }' /proc/net/or_acker
}

bench_all() {
	bench_run "$1" 1 1
	bench_run "$1" 64 16
	bench_run "$1" 64 1
}

# bench_run MODE FLOWS TRAIN
bench_run() {
	echo "$2" >$_params/flows
	echo "$3" >$_params/train
	_sent=$(bench_count AckSent)
	echo data >$_params/run
	_cost=$(awk '{ print $4 }' $_params/run)
	# 67 batches of 256.
	_sent=$(($(bench_count AckSent) + 0 - ${_sent:-0}))
	echo "$1 $2 $3 $_cost $((_sent * 1000 / 17152))"
}
