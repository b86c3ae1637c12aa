# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What experiments are written with; sourced in the guest before one of them.
#
# Starting a process takes tens of milliseconds of real time, so these helpers
# hand as much as they can to one `ip` or `tc`. None of it takes virtual time.
#
# Set for an experiment:
#	LAB_SEED	the run's seed
# It may set, before it builds a topology:
#	LAB_MTU		of all links (default 1500)
#	LAB_QDISC	of all hosts, as tc takes it (default "fq")
#	LAB_BUFFER	of each switch port, packets (default 1000)

: "${LAB_MTU:=1500}" "${LAB_QDISC:=fq}" "${LAB_BUFFER:=1000}"
lab_pids=
lab_batch=/run/lab.batch

lab_die() {
	echo "lab: $*" >&2
	exit 1
}

# lab_now: virtual time since boot in ns, in $now.
lab_now() {
	{
		read -r _
		read -r _
		read -r _ _ now _
	} </proc/timer_list
}

# lab_packets: packets that the network stacks of all hosts and switches have
# received so far, in $packets; one handed up by GRO counts once.
lab_packets() {
	read -r packets _ </proc/net/softnet_stat
	packets=$((0x$packets))
}

# lab_value NAME VALUE: a number (or JSON) for the values of result.json.
lab_value() {
	printf '%s\t%s\n' "$1" "$2" >>/run/lab.values
}

# lab_values FILE NAME=PATH...: values out of a JSON file of dcload's.
lab_values() {
	_file=$1
	shift
	_paths=
	for _arg; do
		_paths="$_paths ${_arg#*=}"
	done
	# shellcheck disable=SC2086
	dcload get "$_file" $_paths >/run/lab.get || lab_die "$_file has not all of:$_paths"
	while [ $# -gt 0 ]; do
		read -r _value
		lab_value "${1%%=*}" "$_value"
		shift
	done </run/lab.get
}

# lab_module NAME [PARAMETER=VALUE]...: load a module of this project.
lab_module() {
	_name=$1
	shift
	insmod "/lib/modules/extra/$_name.ko" "$@"
}

# lab_hosts N: h1 ... hN
lab_hosts() {
	_i=1
	while [ "$_i" -le "$1" ]; do
		printf 'h%d ' "$_i"
		_i=$((_i + 1))
	done
}

# lab_addr HOST: its IPv4 address.
lab_addr() {
	_n=${1#h}
	echo "10.0.$((_n / 250)).$((_n % 250 + 1))"
}

# lab_make_link HOST SWITCH: command for `ip` that makes the link between HOST's
# eth0 and the switch. TSO is off: veth would carry 64 KB as one packet.
lab_make_link() {
	echo "link add name eth0 netns $1 mtu $LAB_MTU gso_max_segs 1 type veth" \
		"peer name p${1#h} netns $2 mtu $LAB_MTU"
}

# lab_switch SWITCH RATE DELAY HOST...: a router with one port for each host. It
# is no bridge, as a packet from a bridge would still belong to the sender's
# socket: a stamp for each hop, and TCP limited by a queue it can't know of.
lab_switch() {
	_sw=$1 _swrate=$2 _swdelay=$3
	shift 3
	for _h; do
		echo "link set p${_h#h} up"
		echo "addr add 169.254.0.1/32 dev p${_h#h}"
		echo "route add $(lab_addr "$_h")/32 dev p${_h#h}"
	done >$lab_batch
	ip -n "$_sw" -batch $lab_batch
	for _h; do
		echo "p${_h#h} $_swrate $_swdelay"
	done | lab_ports >$lab_batch
	tc -n "$_sw" -batch $lab_batch
	lab_sysctl net.ipv4.ip_forward=1 "$_sw"
}

# lab_ports: from lines "PORT RATE DELAY", commands for `tc` that give a switch's
# ports their rate, delay and buffer.
lab_ports() {
	while read -r _port _portrate _portdelay; do
		echo "qdisc add dev $_port root netem rate $_portrate delay $_portdelay" \
			"limit $LAB_BUFFER"
	done
}

# lab_host HOST: address, route and qdisc.
lab_host() {
	ip -n "$1" -batch - <<-EOB
		link set lo up
		addr add $(lab_addr "$1")/32 dev eth0
		link set eth0 up
		route add default via 169.254.0.1 dev eth0 onlink src $(lab_addr "$1")
	EOB
	# shellcheck disable=SC2086
	tc -n "$1" qdisc replace dev eth0 root $LAB_QDISC
}

# lab_star N RATE DELAY: hosts h1 ... hN at the switch `sw`. Every port of it sends
# at RATE (as tc takes it), and what it sends arrives DELAY later.
lab_star() {
	_n=$1
	{
		echo "netns add sw"
		for _h in $(lab_hosts "$_n"); do
			echo "netns add $_h"
		done
		for _h in $(lab_hosts "$_n"); do
			lab_make_link "$_h" sw
		done
	} >$lab_batch
	ip -batch $lab_batch
	# shellcheck disable=SC2046
	lab_switch sw "$2" "$3" $(lab_hosts "$_n")
	for _h in $(lab_hosts "$_n"); do
		lab_host "$_h"
	done
}

# lab_dumbbell N RATE DELAY [BOTTLENECK]: h1 ... hN at the switch `left`, as many
# more at the switch `right`; between the two a link at BOTTLENECK (default RATE).
lab_dumbbell() {
	_n=$1 _rate=$2 _delay=$3 _bottleneck=${4:-$2}
	_left=$(lab_hosts "$_n")
	_right=$(lab_hosts $((2 * _n)))
	_right=${_right#"$_left"}
	{
		echo "netns add left"
		echo "netns add right"
		for _h in $_left $_right; do
			echo "netns add $_h"
		done
		for _h in $_left; do
			lab_make_link "$_h" left
		done
		for _h in $_right; do
			lab_make_link "$_h" right
		done
		echo "link add name trunk netns left mtu $LAB_MTU type veth" \
			"peer name trunk netns right mtu $LAB_MTU"
	} >$lab_batch
	ip -batch $lab_batch
	# shellcheck disable=SC2086
	lab_switch left "$_rate" "$_delay" $_left
	# shellcheck disable=SC2086
	lab_switch right "$_rate" "$_delay" $_right
	lab_trunk left 1 2 "$_bottleneck" "$_delay"
	lab_trunk right 2 1 "$_bottleneck" "$_delay"
	for _h in $_left $_right; do
		lab_host "$_h"
	done
}

# lab_trunk SWITCH ME PEER RATE DELAY: all that is not SWITCH's own goes to the peer.
lab_trunk() {
	ip -n "$1" -batch - <<-EOB
		link set trunk up
		addr add 169.254.1.$2/32 dev trunk
		route add default via 169.254.1.$3 dev trunk onlink
	EOB
	echo "trunk $4 $5" | lab_ports >$lab_batch
	tc -n "$1" -batch $lab_batch
}

# lab_sysctl NAME=VALUE HOST...
lab_sysctl() {
	_set=$1
	shift
	for _h; do
		ip netns exec "$_h" sysctl -qw "$_set"
	done
}

# lab_server HOST [DCLOAD_OPTION]...: a receiver that runs until lab_end.
lab_server() {
	_h=$1
	shift
	dcload server --netns "$_h" --rcvlowat 1M "$@" &
	lab_pids="$lab_pids $!"
}

# lab_client NAME DCLOAD_OPTION...: run a load to its end, for NAME.json and NAME.csv.
lab_client() {
	_name=$1
	shift
	dcload client --seed "$LAB_SEED" --json "$_name.json" --csv "$_name.csv" "$@"
}

# lab_trace EVENT...: record trace events (system/event) until lab_end, for
# trace.txt, without waking any process. LAB_TRACE_KB bounds what is kept.
lab_trace() {
	_t=/sys/kernel/tracing
	echo "${LAB_TRACE_KB:-65536}" >$_t/buffer_size_kb
	echo mono >$_t/trace_clock
	for _e; do
		echo 1 >"$_t/events/$_e/enable"
	done
	lab_traced=1
}

lab_begin() {
	lab_packets
	_packets0=$packets
	lab_now
	_now0=$now
	: >/run/lab.values
	lab_traced=
	: >.begin
}

# lab_end NAME: stop what still runs, and write result.json. All in it follows
# from the experiment and the seed: neither addresses nor wall time.
lab_end() {
	lab_now
	lab_packets
	: >.end
	printf '%s %s\n' $((now - _now0)) $((packets - _packets0)) >.speed
	for _pid in $lab_pids; do
		kill -INT "$_pid"
		wait "$_pid"
	done
	if [ -n "$lab_traced" ]; then
		echo 0 >/sys/kernel/tracing/tracing_on
		cat /sys/kernel/tracing/trace >trace.txt
	fi
	{
		printf '{\n\t"experiment": "%s",\n\t"seed": %s,\n' "$1" "$LAB_SEED"
		printf '\t"virtual_ns": %s,\n\t"packets": %s,\n' \
			$((now - _now0)) $((packets - _packets0))
		printf '\t"values": {'
		_comma=
		while IFS='	' read -r _name _value; do
			printf '%s\n\t\t"%s": %s' "$_comma" "$_name" "$_value"
			_comma=,
		done </run/lab.values
		printf '\n\t}\n}\n'
	} >result.json
}
