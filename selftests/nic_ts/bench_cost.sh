# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# lab: what the timestamp bus costs a packet
#
# bench_cost ROUNDS: what the bus costs a packet, by nic_ts_bench; sourced by those who
# know on what machine. Lines "DIRECTION MODE MEDIAN FIRST-QUARTILE THIRD-QUARTILE",
# ns times 1000, in each round one for each of
#
#	none		nic_ts is not loaded
#	off		it is, and nobody uses it
#	on		the packets are of a flow that is attached
#	other		another flow is
#	driver		as on, and the driver calls the bus itself, as a patched one
#	clock		no packet: to read the clock once, which is part of these three
#
# in turn, so that what else the machine does falls on all of them.
bench_cost() {
	_params=/sys/module/nic_ts_bench/parameters
	modprobe nic_ts_bench
	ip link set bench0 up
	_round=0
	while [ $_round -lt "$1" ]; do
		bench_run clock clock
		bench_mode none
		modprobe nic_ts
		bench_mode off
		bench_flow hit
		bench_mode on
		echo 1 >$_params/driver
		bench_mode driver
		echo 0 >$_params/driver
		bench_flow miss
		bench_mode other
		echo none >$_params/flow
		rmmod nic_ts
		_round=$((_round + 1))
	done
	rmmod nic_ts_bench
}

bench_mode() {
	bench_run rx "$1"
	bench_run tx "$1"
}

# bench_run WHAT MODE
bench_run() {
	echo "$1" >$_params/run
	echo "$1 $2 $(cat $_params/run)"
}

# bench_flow FLOW: attach it, and wait until the bus sees packets.
bench_flow() {
	echo "$1" >$_params/flow
	_tries=0
	_before=$(bench_seen)
	while [ "$(bench_seen)" = "$_before" ]; do
		[ $_tries -lt 200 ] || { echo "the bus sees no packets" >&2; exit 1; }
		_tries=$((_tries + 1))
		sleep 0.01
		echo rx >$_params/run
	done
}

bench_seen() {
	nic_ts devices | awk '$1 == "device" { here = $2 == "bench0" }
		here && $1 == "RxParsedTcp" { print $2 }'
}
