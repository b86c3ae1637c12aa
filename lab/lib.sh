# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What experiments are written with; sourced in the guest before one of them.
#
# Starting a process takes tens of milliseconds of real time, so these helpers
# hand as much as they can to one. None of it takes a millisecond of virtual time.
#
# Set for an experiment:
#	LAB_EXP		the name of the experiment
#	LAB_SEED	the run's seed
#	LAB_SHORT	1 in a short run, empty in a full one
#	LAB_CASE	what is to be run, of an experiment that has several cases, or empty
#	LAB_PCAP	hosts and SWITCH:PORTs whose packets are captured, or empty
# It may set, before it builds a topology:
#	LAB_MTU		of all links (default 1500)
#	LAB_QDISC	of all hosts, as tc takes it (default "fq")
#	LAB_HOST	of all hosts: parameters of labnic, such as
#			"irq_dist exponential irq_spread 5us"
#	LAB_QUEUES	of all hosts' NICs, TX and RX (default 1)
#	LAB_JITTER	of all hosts of the standard topologies, which is what all but
#			lab_topology makes: interrupts are late by a random time up to
#			this, such as 5us or 0 (default the time of four packets at the
#			rate of the links; 0 with LAB_HOST)
#	LAB_QUEUE	of each switch port: a FIFO of so many packets, 1 to 32767
#			(default 1000), unless one of these is set: then labq, with
#	LAB_BUFFER	a buffer of so many bytes for each switch, and
#	LAB_SWITCH	these parameters of labq, such as "ecn_step 97500"

: "${LAB_QUEUES:=1}" "${LAB_MTU:=1500}" "${LAB_QDISC:=fq}" "${LAB_HOST:=}" "${LAB_JITTER:=}"
: "${LAB_QUEUE:=1000}" "${LAB_BUFFER:=}" "${LAB_SWITCH:=}"
lab_pids='' lab_feeders='' _more='' lab_lowat=1M
lab_dev=eth0			# of hosts: the device whose qdisc is meant
lab_net=/run/lab.net		# the topology, in labnet's words
lab_table=/run/lab.hosts	# IPv4 address, IPv6 address and name of all nodes

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

# lab_costs: timer interrupts and context switches so far, in $timers and $switches.
lab_costs() {
	while read -r _key _count _; do
		case $_key in
		intr) timers=$_count ;;
		ctxt) switches=$_count ;;
		esac
	done </proc/stat
}

# lab_short SHORT FULL: the one that is wanted.
lab_short() {
	[ -n "$LAB_SHORT" ] && echo "$1" || echo "$2"
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

# lab_get FILE PATH: one value out of a JSON file of dcload's or udptrain's, in $got.
lab_get() {
	got=$(dcload get "$1" "$2") || lab_die "$1 has no $2"
}

# lab_rate FILE FROM UNTIL: bit/s of all flows between two times, from a series of dcload's, in $got.
lab_rate() {
	got=$(awk -F , -v from="$2" -v until="$3" '
		NR > 1 && $1 > from && $1 <= until + 1e-9 {
			sum += $3
			n += !seen[$1]++
		} END { printf "%.0f", n ? sum / n : 0 }' "$1")
}

# lab_calc EXPRESSION: its value, as awk computes it, with ceil().
lab_calc() {
	awk "function ceil(x) { return x > int(x) ? int(x) + 1 : int(x) }
		BEGIN { printf(\"%.15g\\n\", ($*)) }"
}

# lab_expect NAME MEASURED EXPRESSION TOLERANCE: a value for result.json, which has to
# be that of EXPRESSION within TOLERANCE, which is a number or ends in %. If it is
# not, the run goes on, and fails in the end.
lab_expect() {
	_want=$(lab_calc "$3")
	lab_value "$1" "$2"
	awk -v name="$1" -v got="$2" -v want="$_want" -v tolerance="$4" 'BEGIN {
		off = got - want
		if (off < 0)
			off = -off
		most = tolerance + 0
		if (tolerance ~ /%$/)
			most *= (want < 0 ? -want : want) / 100
		ok = got ~ /^-?[0-9]/ && off <= most
		printf "%s - %s: %s, expected %s within %s\n",
			ok ? "ok" : "not ok", name, got, want, tolerance
		exit !ok
	}' || lab_unexpected=1
}

# lab_check NAME CONDITION: fail the run unless the condition of lab_calc is true.
lab_check() {
	lab_expect "$1" "$(lab_calc "($2) ? 1 : 0")" 1 0
}

# lab_module NAME [PARAMETER=VALUE]...: load a module of this project, and those that
# it needs.
lab_module() {
	modprobe "$@"
}

# lab_quickack HOST...: have them acknowledge each packet, as receivers of Swift and PowerTCP do.
lab_quickack() {
	lab_route "quickack 1" "$@"
}

# lab_route "OPTION..." HOST...: these options on the default routes of hosts, and no others.
lab_route() {
	_options=$1
	shift
	for _h; do
		for _f in -4 -6; do
			ip $_f -n "$_h" route show default |
				sed "s/\(nhid [0-9]*\).*/\1/; s/.*/route replace & proto static $_options/" |
				ip $_f -n "$_h" -batch -
		done
	done
}

# lab_numbers FIRST LAST [PREFIX]: PREFIXFIRST ... PREFIXLAST, in $numbers: a subshell
# would be a process.
lab_numbers() {
	numbers=
	_i=$1
	while [ "$_i" -le "$2" ]; do
		numbers="$numbers${3:-}$_i "
		_i=$((_i + 1))
	done
}

# lab_hosts FIRST LAST: hFIRST ... hLAST
lab_hosts() {
	lab_numbers "$1" "$2" h
	echo "$numbers"
}

# lab_addr HOST, lab_addr6 HOST: its address.
lab_addr() {
	lab_lookup "$1"
	echo "$_addr"
}

lab_addr6() {
	lab_lookup "$1"
	echo "$_addr6"
}

lab_lookup() {
	while read -r _addr _addr6 _name; do
		[ "$_name" != "$1" ] || return 0
	done <$lab_table
	lab_die "the topology has no '$1'"
}

# lab_port SWITCH HOST: the switch's ports that lead to the host, one a line.
lab_port() {
	labnet port $lab_net "$1" "$2"
}

# lab_base_rtt_ns HOST HOST [BYTES [ANSWER]]: time of an IP packet (1500 bytes) and of
# its answer (52) while nothing queues.
lab_base_rtt_ns() {
	labnet rtt $lab_net "$@"
}

# lab_defaults RATE DELAY: print the first lines of a topology, for labnet.
lab_defaults() {
	echo "seed $LAB_SEED"
	echo "default host qdisc \"$LAB_QDISC\" nic \"$LAB_HOST\" queues $LAB_QUEUES"
	if [ -n "$LAB_BUFFER$LAB_SWITCH" ]; then
		echo "default switch labq \"${LAB_BUFFER:+buffer $LAB_BUFFER }$LAB_SWITCH\""
	else
		echo "default switch queue $LAB_QUEUE"
	fi
	echo "default link rate $1 delay $2 mtu $LAB_MTU"
}

# lab_standard RATE DELAY: print the first lines of a standard topology. Without jitter all hosts
# are in step, and any seed gives nearly the same result.
lab_standard() {
	_jitter=$LAB_JITTER
	if [ -z "$_jitter" ] && [ -z "$LAB_HOST" ]; then
		# Frames have 38 bytes more on the wire.
		_jitter=$(echo "$1" | awk -v bytes=$((LAB_MTU + 38)) '{
			unit["gbit"] = 1
			unit["mbit"] = 1000
			unit["kbit"] = 1000000
			rate = $1 + 0
			sub(/^[0-9.]*/, "")
			printf "%.0fns", rate && $0 in unit ? 32 * bytes * unit[$0] / rate : 0
		}')
	fi
	# A receiver that waits for a megabyte has the sender wait for it, once in an RTT.
	case $2 in
	*ms|*[0-9][0-9][0-9]us)	lab_lowat=64K ;;
	esac
	case $_jitter in
	''|0|0ns)
		lab_defaults "$1" "$2" ;;
	*)	_nic=$LAB_HOST
		LAB_HOST="$_nic${_nic:+ }irq_dist uniform irq_spread $_jitter"
		lab_defaults "$1" "$2"
		LAB_HOST=$_nic ;;
	esac
}

# lab_up: make the topology of $lab_net, and describe it in topology.json.
lab_up() {
	lab_module labnic
	lab_module labq
	labnet up $lab_net json topology.json hosts $lab_table
	for _p in ${LAB_PCAP:-}; do
		lab_pcap "${_p%%:*}" "${_p#"${_p%%:*}"}"
	done
}

# lab_pcap NODE [:PORT]: until lab_end, capture what passes eth0 of a host, or the port of a switch. It has
# begun when this returns, at the same time.
lab_pcap() {
	_dev=${2#:}
	_file=$1${_dev:+-$_dev}.pcap
	ip netns exec "$1" tcpdump -i "${_dev:-eth0}" -w "$_file" -U -s 128 -B 65536 -Z root \
		--time-stamp-precision=nano 2>"$_file.log" &
	lab_feeders="$lab_feeders $!"
	# A process that is waited for lets others run.
	until grep -q listening "$_file.log"; do
		kill -0 "${lab_feeders##* }" 2>/dev/null || lab_die "no capture: $(cat "$_file.log")"
	done
}

# lab_need COUNT ARGUMENTS [ARGUMENT]...: fail unless there are this many arguments, and say
# which are meant.
lab_need() {
	_count=$1 _usage=$2
	shift 2
	[ $# -ge "$_count" ] || lab_die "$_usage is needed, not '$*'"
}

# lab_topology RATE DELAY <TEXT: a topology of one's own, see `labnet help`; the rate
# and delay are of links that have none.
lab_topology() {
	lab_need 2 "lab_topology RATE DELAY" "$@"
	{
		lab_defaults "$1" "$2"
		cat
	} >$lab_net
	lab_up
}

# lab_attach SWITCH FIRST LAST: hosts hFIRST ... hLAST, for $lab_net.
lab_attach() {
	lab_numbers "$2" "$3" h
	for _h in $numbers; do
		echo "host $_h"
		echo "link $_h $1"
	done
}

# In all topologies hosts are h1, h2 ..., links send at RATE in both directions, and
# packets arrive DELAY later.

# lab_star N RATE DELAY: N hosts at the switch `sw`.
lab_star() {
	lab_need 3 "lab_star N RATE DELAY" "$@"
	{
		lab_standard "$2" "$3"
		echo "switch sw"
		lab_attach sw 1 "$1"
	} >$lab_net
	lab_up
}

# lab_dumbbell N RATE DELAY [BOTTLENECK]: h1 ... hN at the switch `left`, as many
# more at the switch `right`; between the two a link at BOTTLENECK (default RATE).
lab_dumbbell() {
	lab_need 3 "lab_dumbbell N RATE DELAY [BOTTLENECK]" "$@"
	{
		lab_standard "$2" "$3"
		echo "switch left"
		echo "switch right"
		echo "link left right rate ${4:-$2}"
		lab_attach left 1 "$1"
		lab_attach right $(($1 + 1)) $((2 * $1))
	} >$lab_net
	lab_up
}

# lab_racks RACKS N RATE DELAY [UPLINKS UPLINK_RATE]: N hosts, as evenly as can be at
# the switches rack1, rack2 ...; each of those has UPLINKS links (default one, at RATE)
# to the switch `core`.
lab_racks() {
	lab_need 4 "lab_racks RACKS N RATE DELAY [UPLINKS UPLINK_RATE]" "$@"
	{
		lab_standard "$3" "$4"
		echo "switch core"
		lab_numbers 1 "$1"
		for _r in $numbers; do
			echo "switch rack$_r"
			lab_numbers 1 "${5:-1}"
			for _u in $numbers; do
				echo "link rack$_r core rate ${6:-$3}"
			done
			lab_attach "rack$_r" $(((_r - 1) * $2 / $1 + 1)) $((_r * $2 / $1))
		done
	} >$lab_net
	lab_up
}

# lab_switch NAME [NEIGHBOUR]...: a switch with a link to each neighbour, for $lab_net;
# _more is said of the links.
lab_switch() {
	echo "switch $1"
	_switch=$1
	shift
	for _n; do
		echo "link $_switch $_n${_more:+ $_more}"
	done
}

# lab_leafspine LEAVES SPINES HOSTS RATE UPLINK_RATE DELAY: HOSTS at each of the
# switches leaf1, leaf2 ..., which have one link to each of spine1, spine2 ...
lab_leafspine() {
	lab_need 6 "lab_leafspine LEAVES SPINES HOSTS RATE UPLINK_RATE DELAY" "$@"
	{
		lab_standard "$4" "$6"
		lab_numbers 1 "$2" spine
		_spines=$numbers
		for _s in $_spines; do
			lab_switch "$_s"
		done
		_more="rate $5"
		lab_numbers 1 "$1"
		for _l in $numbers; do
			# shellcheck disable=SC2086
			lab_switch "leaf$_l" $_spines
			lab_attach "leaf$_l" $(((_l - 1) * $3 + 1)) $((_l * $3))
		done
		_more=
	} >$lab_net
	lab_up
}

# lab_fattree K RATE DELAY: K pods of K/2 switches edgeP-I and K/2 switches aggP-I each,
# (K/2)^2 switches coreI, K/2 hosts at each edge switch: K^3/4 hosts, all links alike.
lab_fattree() {
	lab_need 3 "lab_fattree K RATE DELAY" "$@"
	[ $(($1 % 2)) = 0 ] || lab_die "a fat tree's K is even, not '$1'"
	_half=$(($1 / 2))
	{
		lab_standard "$2" "$3"
		lab_numbers 1 $((_half * _half)) core
		for _c in $numbers; do
			lab_switch "$_c"
		done
		lab_numbers 1 "$1"
		for _p in $numbers; do
			lab_pod "$_p" $_half
		done
	} >$lab_net
	lab_up
}

# lab_pod P HALF: pod P of a fat tree, for $lab_net.
lab_pod() {
	lab_numbers 1 "$2"
	_each=$numbers
	for _a in $_each; do
		lab_numbers $(((_a - 1) * $2 + 1)) $((_a * $2)) core
		# shellcheck disable=SC2086
		lab_switch "agg$1-$_a" $numbers
	done
	for _e in $_each; do
		lab_numbers 1 "$2" "agg$1-"
		# shellcheck disable=SC2086
		lab_switch "edge$1-$_e" $numbers
		_first=$(((($1 - 1) * $2 + _e - 1) * $2 + 1))
		lab_attach "edge$1-$_e" $_first $((_first + $2 - 1))
	done
}

# lab_sysctl "NAME=VALUE..." HOST...
lab_sysctl() {
	_set=$1
	shift
	for _h; do
		# shellcheck disable=SC2086
		ip netns exec "$_h" sysctl -qw $_set
	done
}

# lab_timely_paper HOST...: TIMELY with the paper's constants, paced by the qdisc.
lab_timely_paper() {
	lab_sysctl "net.ipv4.timely.profile=paper net.ipv4.timely.pacing=qdisc" "$@"
}

# lab_timely_star: the incast of TIMELY's section 6.1. Ten hosts of 10 Gbit/s, a receiver h11 of
# 20, in the paper of two times 10; the paper's constants, RTTs by the NICs, and segments that
# leave at the newest rate.
lab_timely_star() {
	lab_module tcp_timely
	lab_module nic_ts
	LAB_BUFFER=${LAB_BUFFER:-12m}
	lab_topology 10gbit 4us <<-EOT
		switch sw
		$(lab_attach sw 1 10)
		host h11
		link h11 sw rate 20gbit
	EOT
	# shellcheck disable=SC2046
	set -- $(lab_hosts 1 10)
	lab_nic_stamps 32 "$@"
	# What is in a socket but not sent yet is short, so that RTTs are sampled all the time.
	lab_sysctl "net.ipv4.tcp_notsent_lowat=65536 net.ipv4.timely.profile=paper
		net.ipv4.timely.pacing=tcp" "$@"
	lab_server h11 --cc timely --port 5001
	lab_trace timely/timely_update
}

# lab_timely_load NAME FLOWS WARMUP DURATION: FLOWS of its ten hosts. NAME.rtts gets lines
# "SECONDS FLOW RTT_US MBIT_S" after WARMUP; NAME_mbit_s, NAME_rtt_us (mean), NAME_p99_us,
# NAME_lost and NAME_jain are values of the result, and in $mbit, $mean_us, $p99_us, $lost
# and $jain.
lab_timely_load() {
	lab_client "$1" --netns "$(lab_list 1 10)" --to "$(lab_addr h11)" --port 5001 \
		--flows "$2" --cc timely --connect-first --warmup "$3" --duration "$4" \
		--interval-ms 1 --rtt-sample-us 0 --chunk 16K
	lab_trace_to "$1.trace"
	awk -v from="$3" '$6 == "timely_update:" || $5 == "timely_update:" {
		for (i = 5; i <= NF; i++)
			if ((at = index($i, "=")))
				v[substr($i, 1, at - 1)] = substr($i, at + 1)
		if (!start)
			start = $4 + 0
		if ($4 - start > from)
			print $4 - start, v["src"], v["rtt"] / 1000, v["rate"] * 8 / 1e6
	}' "$1.trace" >"$1.rtts"
	rm "$1.trace"
	cut -d' ' -f3 "$1.rtts" | lab_shares >"$1.cdf"
	mean_us=$(awk '{ sum += $3 } END { printf "%.2f", NR ? sum / NR : 0 }' "$1.rtts")
	p99_us=$(lab_quantile 0.99 <"$1.cdf")
	lab_get "$1.json" goodput_bit_s
	mbit=$(lab_calc "$got / 1e6")
	lab_get "$1.json" jain
	jain=$got
	lab_get "$1.json" counters.retrans_segs
	lost=$got
	lab_value "$1_mbit_s" "$mbit"
	lab_value "$1_rtt_us" "$mean_us"
	lab_value "$1_p99_us" "$p99_us"
	lab_value "$1_lost" "$lost"
	lab_value "$1_jain" "$jain"
	# The next one's SYNs must not meet data that this one's sockets still have to send.
	sleep 0.3
}

# lab_ib_fabric LOCALS REMOTES "LABQ...": figure 1 of InfiniBand's ECN (INFOCOM 2003). Locals h1 ... at
# the switch b and remotes at the switch a send to $root at b; the victim $victim at a sends to $own
# at b; $senders are all that send. Table I: 1 GB/s, packets of 2068 bytes on the wire with 1978 of
# data, cut-through after 40 ns. LABQ says what input buffers hold, and how they mark. ACKs have 84
# bytes on the wire, the paper's 20.
lab_ib_fabric() {
	lab_locals=$1 _n=$(($1 + $2)) lab_port_nr=5001
	victim=h$((_n + 1)) root=h$((_n + 2)) own=h$((_n + 3))
	LAB_MTU=2030 LAB_QDISC="fq timer_slack 0"
	lab_module tcp_lipd
	lab_topology 8gbit 0ns <<-EOT
		default switch nic "cut_through 40ns" labq "buffer 2m alpha 0 $3"
		switch a
		switch b
		$(for _h in $(lab_hosts 1 $((_n + 3))); do echo "host $_h"; done)
		$(for _h in $(lab_hosts $(($1 + 1)) $((_n + 1))); do echo "link $_h a"; done)
		$(for _h in $(lab_hosts 1 "$1") $root $own; do echo "link $_h b"; done)
		link a b
	EOT
	senders=$(lab_hosts 1 $((_n + 1)))
	# shellcheck disable=SC2086
	lab_sysctl "net.ipv4.lipd.segment_bytes=536 net.ipv4.tcp_notsent_lowat=65536" $senders
}

# lab_ib_port SWITCH PORT: "BYTES DROPPED MARKED" of a port: bytes that left it, as on the wire,
# and packets.
lab_ib_port() {
	labnic -n "$1" labq show dev "$2" | tr ',{}' '\n\n\n' | awk -F '[":]+' '
		$2 == "dequeued_packets" { bytes += 24 * $3 }
		$2 == "dequeued_bytes" { bytes += $3 }
		$2 ~ /^dropped_/ { dropped += $3 }
		$2 == "marked_buffer" { marked += $3 }
		END { printf "%.0f %d %d\n", bytes, dropped, marked }'
}

# lab_ib_run NAME CC REMOTES VICTIM_START VICTIM_TIME END: all locals and so many remotes send until
# END s, each starting 100 us after the one before, locals first; the victim for a part of that. In
# the middle half of its time: $link_used, $root_used, $victim_used: per cent of the links ab, of
# $root, and of the victim; $locals_used, $remotes_used: of $root, by the data received. All of
# these, with NAME, become values of the result. Nothing may be dropped.
lab_ib_run() {
	# shellcheck disable=SC2086
	lab_qdisc "$LAB_QDISC" $senders
	lab_server "$root" --cc "$2" --port $lab_port_nr --rcvlowat 64K
	lab_server "$own" --cc "$2" --port $lab_port_nr --rcvlowat 64K
	lab_client "$1-root" --netns "$(lab_list 1 $((lab_locals + $3)))" --to "$(lab_addr "$root")" \
		--port $lab_port_nr --flows $((lab_locals + $3)) --cc "$2" --connect-first \
		--start-gap 0.1 --duration "$6" --interval-ms 1 --rtt-sample-us 0 --chunk 16K &
	_all=$!
	sleep "$4"
	lab_client "$1-victim" --netns "$victim" --to "$(lab_addr "$own")" --port $lab_port_nr \
		--flows 1 --cc "$2" --duration "$5" --interval-ms 1 --rtt-sample-us 0 --chunk 16K &
	_alone=$!
	sleep "$(lab_calc "$5 / 4")"
	{ lab_ib_port a b; lab_ib_port b "$root"; lab_ib_port b "$own"; } >before
	sleep "$(lab_calc "$5 / 2")"
	{ lab_ib_port a b; lab_ib_port b "$root"; lab_ib_port b "$own"; } >after
	wait $_alone
	wait $_all
	paste -d ' ' before after | awk -v s="$(lab_calc "$5 / 2")" \
		'{ printf "%.2f %d %d\n", ($4 - $1) / s / 1e7, $5, $6 - $3 }' >used
	{
		read -r link_used _d1 _
		read -r root_used _d2 root_marked
		read -r victim_used _d3 victim_marked
	} <used
	# Of 1978 in 2068 bytes.
	awk -F , -v from="$(lab_calc "$4 + $5 / 4")" -v to="$(lab_calc "$4 + $5 * 3 / 4")" \
		-v locals="$lab_locals" 'NR > 1 && $1 > from && $1 <= to {
		sum[$2 < locals] += $3
		n[$1]
	} END {
		for (i in n)
			times++
		for (i = 1; i >= 0; i--)
			printf "%.2f\n", sum[i] / times * 2068 / 1978 / 8e7
	}' "$1-root.csv" >used
	{
		read -r locals_used
		read -r remotes_used
	} <used
	rm before after used
	for _what in link_used root_used victim_used locals_used remotes_used root_marked victim_marked; do
		eval "lab_value $1_$_what \$$_what"
	done
	lab_expect "$1_dropped" $((_d1 + _d2 + _d3)) 0 0
	# Lines "MS ROOT LINK LOCALS REMOTES VICTIM" in per cent, over 2 ms each.
	{
		sed 1d "$1-root.csv"
		sed 1d "$1-victim.csv" | awk -F , -v OFS=, -v at="$4" '{ $1 += at; $2 = -1; print }'
	} | awk -F , -v locals="$lab_locals" '{
		sum[sprintf("%.0f", $1 * 1000), $2 < 0 ? "v" : $2 < locals ? "l" : "r"] += $3 / 2
	} function at(ms, kind) {
		return (sum[ms, kind] + sum[ms - 1, kind]) * 2068 / 1978 / 8e7
	} END {
		for (ms = 2; ms <= 1000 * '"$6"'; ms++)
			printf "%d %.2f %.2f %.2f %.2f %.2f\n", ms - 0.5, at(ms, "l") + at(ms, "r"),
				at(ms, "r") + at(ms, "v"), at(ms, "l"), at(ms, "r"), at(ms, "v")
	}' >"$1.series"
	rm "$1-root.csv" "$1-victim.csv"
	lab_port_nr=$((lab_port_nr + 1))
	# The next one shall not meet packets of this one.
	sleep 0.02
}

# lab_mercury_net "HOST RATE HOST RATE..." "HOST...": the network of Mercury's figure 2: switches s1, s2,
# s3 in a row, the first hosts at s1, and the others at s3 with 40 Gbit/s. All links have 4 us, and
# all switches PFC with the paper's Xoff and Xon.
lab_mercury_net() {
	LAB_QDISC="fq timer_slack 0 limit 100000 flow_limit 100000"
	lab_module tcp_dcqcn
	lab_module tcp_timely
	lab_topology 40gbit 4us <<-EOT
		default switch labq "buffer 128m alpha 0 pfc on xoff 320000 xon 318000"
		switch s1
		switch s2
		switch s3
		link s1 s2
		link s2 s3
		$(for _w in $1; do
			case $_w in
			h*)	echo "host $_w"; _h=$_w ;;
			*)	echo "link $_h s1 rate $_w" ;;
			esac
		done)
		$(for _h in $2; do echo "host $_h"; echo "link $_h s3"; done)
	EOT
	lab_switches="s1 s2 s3"
	lab_mercury_up "${2%% *}"
}

# lab_mercury_clos LEAVES SPINES HOSTS RATE UPLINK_RATE DELAY "LABQ...": HOSTS at each of the first
# switches s1 ..., which have one link to each of the SPINES that follow.
lab_mercury_clos() {
	LAB_QDISC="fq timer_slack 0 limit 100000 flow_limit 100000"
	lab_module tcp_dcqcn
	lab_module tcp_timely
	lab_topology "$4" "$6" <<-EOT
		default switch labq "$7"
		$(_l=1
		while [ $_l -le $(($1 + $2)) ]; do echo "switch s$_l"; _l=$((_l + 1)); done
		_l=1
		while [ $_l -le "$1" ]; do
			lab_attach s$_l $(((_l - 1) * $3 + 1)) $((_l * $3))
			_s=$(($1 + 1))
			while [ $_s -le $(($1 + $2)) ]; do
				echo "link s$_l s$_s rate $5"
				_s=$((_s + 1))
			done
			_l=$((_l + 1))
		done)
	EOT
	lab_numbers 1 $(($1 + $2)) s
	lab_switches=$numbers
	lab_mercury_up h$(($1 * $3))
}

# lab_mercury_up HOST: keys, base RTT (from h1 to that host) and parameters, once the network is there.
lab_mercury_up() {
	lab_hosts_all=$(sed -n 's/^10\.0*[^ ]* [^ ]* \(h[0-9]*\)$/\1/p' $lab_table)
	_rtt=$(lab_base_rtt_ns h1 "$1")
	# shellcheck disable=SC2086
	lab_sysctl "net.or_port.fabric_key=000102030405060708090a0b0c0d0e0f" $lab_switches $lab_hosts_all
	# shellcheck disable=SC2086
	lab_sysctl "net.ipv4.dcqcn.base_rtt_ns=$_rtt net.ipv4.dcqcn.segment_bytes=1448
		net.ipv4.timely.profile=paper net.ipv4.timely.pacing=qdisc
		net.ipv4.tcp_notsent_lowat=131072" $lab_hosts_all
	for _s in $lab_switches; do
		echo "-n $_s labq set dev $(lab_ports $_s | head -n 1) signal_rtt ${_rtt}ns signal_switch ${_s#s}"
	done | labnic batch -
	lab_port_nr=5000
}

# lab_ports SWITCH: its ports, a line each.
lab_ports() {
	ip -n "$1" -o link | sed -n 's/^[0-9]*: \([hs][0-9]*\)[@:].*/\1/p'
}

# lab_mercury_switches "LABQ...": these parameters on all ports, after none of marks and signals.
lab_mercury_switches() {
	for _s in $lab_switches; do
		for _p in $(lab_ports $_s); do
			echo "-n $_s labq set dev $_p signal 0 red_max 0 red_min 0 ecn_step 0 $1"
			echo "-n $_s labq reset dev $_p"
		done
	done | sed 's/red_max 0 red_min 0\(.*red_max\)/\1/' | labnic batch -
}

# lab_mercury_load NAME CC MESH_OPTION...: the workloads for $time s, on connections and queues of
# their own; before, those of $lab_light, if it is set, for 0.4 s. $began is when they began, ns; NAME.trace has the events of then, if there is a trace.
lab_mercury_load() {
	_run=$1
	shift 2
	# shellcheck disable=SC2086
	lab_qdisc "$LAB_QDISC" $lab_hosts_all
	lab_port_nr=$((lab_port_nr + 100))
	# shellcheck disable=SC2086
	[ -z "${lab_light:-}" ] || lab_mesh "$_run.light" --port $((lab_port_nr + 1)) \
		--link-rate 40gbit --duration 0.4 --drain 0.01 $lab_light >/dev/null
	[ -z "${lab_traced:-}" ] || lab_trace_to /dev/null
	lab_mercury_before
	lab_now
	began=$now
	lab_mesh "$_run" --port $lab_port_nr --duration "$time" --drain 0.01 --connect-first "$@"
	[ -z "${lab_traced:-}" ] || lab_trace_to "$_run.trace"
	pauses=$(for _s in $lab_switches; do
		for _p in $(lab_ports $_s); do labnic -n $_s labq show dev "$_p"; done
	done | grep -o '"pauses": [0-9]*' | awk '{ n += $2 } END { print n + 0 }')
}

# lab_mercury_before: counters count from here.
lab_mercury_before() {
	for _h in $lab_hosts_all; do
		ip netns exec "$_h" cat /proc/net/dcqcn >"/run/dcqcn.$_h"
	done
}

# lab_mercury_count HOST COUNTER: of /proc/net/dcqcn, since then.
lab_mercury_count() {
	ip netns exec "$1" cat /proc/net/dcqcn | awk -v name="$2" '
		NR == FNR { before[$1] = $2; next }
		$1 == name { print $2 - before[$1] }' "/run/dcqcn.$1" -
}

# lab_mercury_queue SWITCH PORT: the longest queue, KB.
lab_mercury_queue() {
	labnic -n "$1" labq show dev "$2" | grep -o '"max_bytes": [0-9]*' |
		awk '$2 > n { n = $2 } END { printf "%.0f\n", n / 1000 }'
}

# lab_mercury_dropped: packets that any of the switches dropped for want of room. RED drops what has no
# ECN, such as ACKs.
lab_mercury_dropped() {
	for _s in $lab_switches; do
		for _p in $(lab_ports $_s); do labnic -n $_s labq show dev "$_p"; done
	done | grep -o '"dropped_[a-z]*": [0-9]*' |
		awk '!/dropped_red/ { n += $2 } END { print n + 0 }'
}

# lab_qdisc "KIND OPTION..." HOST...: another qdisc for the hosts, also if it is of the same
# kind: it knows no flow. Queued packets are lost.
lab_qdisc() {
	_qdisc=$1
	shift
	for _host; do
		tc -n "$_host" qdisc replace dev $lab_dev root pfifo
		# shellcheck disable=SC2086
		tc -n "$_host" qdisc replace dev $lab_dev root $_qdisc
	done
}

# lab_forget HOST...: have the hosts with sch_onramp forget what they know of their paths. These
# must be all of them, as the module is loaded again. They have fq then.
lab_forget() {
	lab_qdisc fq "$@"
	modprobe -r sch_onramp
	modprobe sch_onramp
}

# lab_acker_stats HOST...: sums of the counters of or_acker, a line each.
lab_acker_stats() {
	for _host; do
		ip netns exec "$_host" cat /proc/net/or_acker
	done | awk '{ n[$1] += $2 } END { for (name in n) print name, n[name] }'
}

# lab_fields: functions of awk for a line of a trace: of NAME=VALUE a number, or a word.
lab_fields='
	function field(name,	part) {
		split($0, part, " " name "=")
		return part[2] + 0
	}
	function word(name,	part) {
		split($0, part, " " name "=")
		sub(/ .*/, "", part[2])
		return part[2]
	}
'

# lab_key: a key of onrampd, in the file key.
lab_key() {
	head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >key
	chmod 600 key
}

# lab_onramp_stats HOST...: of their qdiscs, sums: lines "NAME VALUE".
lab_onramp_stats() {
	for _host; do
		tc -n "$_host" -s -j qdisc show dev $lab_dev root
	done | tr -d '"[]{} ' | tr ',' '\n' | awk -F: '
		NF == 2 && $2 ~ /^[0-9]+$/ { sum[$1] += $2 }
		END { for (name in sum) printf("%s %.0f\n", name, sum[name]) }' | sort
}

# lab_server HOST [DCLOAD_OPTION]...: a receiver that runs until lab_end. Where only some
# links are long, in lab_topology, it needs --rcvlowat 64K.
lab_server() {
	_h=$1
	shift
	dcload server --netns "$_h" --rcvlowat $lab_lowat "$@" &
	lab_pids="$lab_pids $!"
}

# lab_client NAME DCLOAD_OPTION...: run a load to its end, for NAME.json and NAME.csv.
lab_client() {
	_name=$1
	shift
	dcload client --seed "$LAB_SEED" --json "$_name.json" --csv "$_name.csv" "$@"
}

# lab_mesh NAME DCLOAD_OPTION...: run workloads among all hosts, h1 being the first, for
# NAME.json.
lab_mesh() {
	_name=$1
	shift
	_netns='' _addrs=''
	while read -r _addr _ _host; do
		# A switch.
		[ "${_addr#10.128.}" = "$_addr" ] || continue
		_netns="$_netns${_netns:+,}$_host"
		_addrs="$_addrs${_addrs:+,}$_addr"
	done <$lab_table
	dcload mesh --seed "$LAB_SEED" --json "$_name.json" \
		--hosts "$_addrs" --netns "$_netns" "$@"
}

# lab_list FIRST LAST: hFIRST,...,hLAST
lab_list() {
	lab_numbers "$1" "$2" h
	echo "${numbers% }" | tr ' ' ,
}

# lab_watch_queue NAME SWITCH HOST WARMUP DURATION: from WARMUP seconds on, for DURATION
# write the state of the switch's port to a host into NAME.json, which is
# complete once lab_watched has waited for it. It has to have a labq.
lab_watch_queue() {
	_port=$(lab_port "$2" "$3")
	(
		sleep "$4"
		labnic -n "$2" labq reset dev "$_port"
		sleep "$5"
		labnic -n "$2" labq show dev "$_port" >"$1.json"
	) &
	lab_watcher=$!
}

lab_watched() {
	wait "$lab_watcher"
}

# lab_cdf FILE PATH: from a histogram of dcload's, lines "VALUE SHARE": the share of
# samples up to the value, which is the middle of a bucket.
lab_cdf() {
	dcload get "$1" "$2" | tr -d ' ' | tr '[]' '\n\n' | awk -F, '
		NF == 2 && $2 != "" {
			value[++n] = $1
			sum += $2
			count[n] = sum
		}
		END {
			for (i = 1; i <= n; i++)
				print value[i], count[i] / sum
		}'
}

# lab_table: standard input with its columns in line.
lab_table() {
	awk '{
		for (i = 1; i <= NF; i++) {
			cell[NR, i] = $i
			if (length($i) > width[i])
				width[i] = length($i)
		}
		if (NF > n)
			n = NF
	}
	END {
		for (row = 1; row <= NR; row++) {
			line = sprintf("%-" width[1] "s", cell[row, 1])
			for (i = 2; i <= n; i++)
				line = line sprintf("  %" width[i] "s", cell[row, i])
			print line
		}
	}'
}

# lab_cell FILE ROW COLUMN: of a table whose first row has the columns' names, and whose first column
# has the rows'.
lab_cell() {
	awk -v row="$2" -v column="$3" 'NR == 1 { for (i = 2; i <= NF; i++) at[$i] = i }
		$1 == row && column in at { print $at[column]; found = 1 }
		END { exit !found }' "$1" || lab_die "$1 has no column '$3' in a row '$2'"
}

# lab_trace EVENT...: record trace events (system/event) until lab_end, for
# trace.txt, without waking any process. LAB_TRACE_KB limits its size.
lab_trace() {
	_t=/sys/kernel/tracing
	echo "${LAB_TRACE_KB:-65536}" >$_t/buffer_size_kb
	echo mono >$_t/trace_clock
	for _e; do
		echo 1 >"$_t/events/$_e/enable"
	done
	lab_traced=1
}

# lab_trace_to FILE: write the events since lab_trace, or since the last call of this.
lab_trace_to() {
	cat /sys/kernel/tracing/trace >"$1"
	echo >/sys/kernel/tracing/trace
}

# lab_nic_stamps TX_SLOTS HOST...: have nic_ts configure their NICs to stamp all
# packets, and for so many at a time ask when they were sent.
lab_nic_stamps() {
	_slots=$1
	shift
	for _h; do
		ip netns exec "$_h" nic_ts device eth0 hw on tx-slots "$_slots"
	done
}

# lab_nic_clock HOST: until lab_end, keep a map of its NIC's clock to the kernel's.
lab_nic_clock() {
	_phc=$(ip netns exec "$1" nic_ts devices | awk '
		$1 == "device" { here = $2 == "eth0" }
		here && $1 == "phc" { print $2 }')
	nic_ts clock "phc$_phc" feed interval 10 >/dev/null &
	lab_feeders="$lab_feeders $!"
	sleep 0.05
}

# lab_rtts SOURCE <TRACE: RTTs of timely_update events, all sources if it is empty:
# lines "VIRTUAL_SECONDS FLOW RTT_NS".
lab_rtts() {
	awk -v source="$1" '$6 == "timely_update:" || $5 == "timely_update:" {
		for (i = 5; i <= NF; i++)
			if ((at = index($i, "=")))
				v[substr($i, 1, at - 1)] = substr($i, at + 1)
		if (source == "" || v["source"] == source)
			print $4 + 0, v["src"], v["rtt"]
	}'
}

# lab_moments: of a column of numbers: "N MIN MAX MEAN DEVIATION".
lab_moments() {
	awk '{
		sum += $1
		squares += $1 * $1
		if (NR == 1 || $1 < min)
			min = $1
		if (NR == 1 || $1 > max)
			max = $1
	}
	END {
		mean = NR ? sum / NR : 0
		printf "%d %.15g %.15g %.15g %.15g\n", NR, min, max, mean,
			NR ? sqrt(squares / NR - mean * mean) : 0
	}'
}

# lab_shares: of a column of numbers, their distribution: lines "VALUE SHARE", from
# a share of 0 on.
lab_shares() {
	sort -n | awk '{ value[NR] = $1 }
		END {
			if (NR)
				print value[1], 0
			for (i = 1; i <= NR; i++)
				if (i == NR || value[i] != value[i + 1])
					print value[i], i / NR
		}'
}

# lab_quantile SHARE: the smallest value, of lines "VALUE SHARE", that has it.
lab_quantile() {
	awk -v share="$1" '$2 >= share { print $1; exit }'
}

lab_begin() {
	# Timers have their resolution from the kernel's first tick on, at 4 ms.
	sleep 0.01
	lab_packets
	_packets0=$packets
	lab_costs
	_timers0=$timers _switches0=$switches
	lab_now
	_now0=$now
	: >/run/lab.values
	lab_traced=
	lab_unexpected=
	: >.begin
}

# lab_end NAME: stop running processes, and write result.json. All in it follows
# from the experiment and the seed: neither addresses nor wall time. Fails if
# something was not as expected.
lab_end() {
	lab_now
	lab_packets
	: >.end
	lab_costs
	printf '%s %s %s %s\n' $((now - _now0)) $((packets - _packets0)) \
		$((timers - _timers0)) $((switches - _switches0)) >.speed
	for _pid in $lab_pids; do
		kill "$_pid"
		wait "$_pid"
	done
	# Connections end before their hosts do, or modules could not be unloaded for minutes.
	sleep 0.1
	for _pid in $lab_feeders; do
		kill "$_pid"
		wait "$_pid" || :
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
	[ -z "$lab_unexpected" ]
}
