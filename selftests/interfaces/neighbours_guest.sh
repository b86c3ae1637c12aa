# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# usage: neighbours_guest.sh tools|sender|receiver
#
# In the VM: what ./neighbours runs. "tools" has a sender in the namespace A and a receiver; the
# other two are a host each, with the other one at the end of their wire.
set -u

role=$1
number=0 status=0
log=/tmp/log
here4=10.77.1.1 there4=10.77.1.2

# check NAME COMMAND...: a line of the report.
check() {
	local name=$1
	shift

	number=$((number + 1))
	if "$@" >"$log" 2>&1; then
		echo "ok $number $name"
	else
		tail -n 20 "$log" | sed 's/^/# /'
		echo "not ok $number $name"
		status=1
	fi
}

# soon COMMAND...: it succeeds within two minutes.
soon() {
	local i

	for i in $(seq 120); do
		! "$@" || return 0
		sleep 1
	done
	echo "not within two minutes: $*"
	return 1
}

# Where the sender is: a namespace's tc, programs and /proc.
A() {
	if [ "$role" = tools ]; then
		ip netns exec A "$@"
	else
		"$@"
	fi
}

# stat NAME: a statistic of the qdisc, as JSON has it.
stat() {
	A tc -s -j qdisc show dev eth0 | tr ',{}' '\n\n\n' | sed -n "s/^\"$1\": *\([0-9]*\)\$/\1/p" | tail -n 1
}

# reaches COUNT VALUE...: the value is that at least.
reaches() {
	echo "${2:-no} value, $1 wanted: ${*:3}"
	[ "${2:-0}" -ge "$1" ]
}

stat_reaches() {
	reaches "$2" "$(stat "$1")" "$1"
}

# count FILE NAME: a counter of /proc/net/FILE.
count() {
	awk -v name="$2" '$1 == name || $1 == name ":" { print $2 }' "/proc/net/$1"
}

# Who sends ------------------------------------------------------------------------------------

subscribed() {
	A cat /proc/net/onramp_peers
	A grep -q "^$here4 $there4 subscribed " /proc/net/onramp_peers
}

# refusals: OR-ACKs that were not understood. Times are not looked at: in real time the clocks of two
# VMs on a busy machine may differ by more than the protocol takes for possible.
refusals() {
	local why n bad=0

	for why in short long version type reserved protocol value tag no_peer replay unsynced; do
		n=$(stat "acks_$why")
		echo "acks_$why ${n:-?}"
		[ "${n:-1}" = 0 ] || bad=1
	done
	return "$bad"
}

# from_sender: data to the other host, whose OR-ACKs are about it.
from_sender() {
	local before load result=0 namespace=

	[ "$role" != tools ] || namespace='--netns A'
	A tc qdisc replace dev eth0 root onramp peers all || return
	before=$(stat acks)
	# shellcheck disable=SC2086	# two words, or none
	dcload client $namespace --to $there4 --flows 2 --rate-limit 20mbit --duration 3600 \
		--rtt-sample-us 0 >/tmp/load 2>&1 &
	load=$!
	soon subscribed && soon stat_reaches acks $((${before:-0} + 50)) || result=1
	kill "$load" || {
		cat /tmp/load
		result=1
	}
	wait "$load"
	return "$result"
}

# key KEY: both hosts are given it, and ask again.
key() {
	echo "$1" >/proc/sys/net/or_port/key
}

# Between hosts ----------------------------------------------------------------------------------

# wire_up ADDRESS: the NIC of the wire is eth0.
wire_up() {
	local dev

	modprobe virtio_pci
	modprobe virtio_net
	for dev in /sys/class/net/*; do
		case $(readlink "$dev/device/driver") in
		*/virtio_net) dev=${dev##*/}; break ;;
		esac
	done
	[ "$dev" = eth0 ] || ip link set dev "$dev" name eth0 || return
	ip addr add "$1/24" dev eth0 && ip link set eth0 up
}

other_there() {
	ping -q -c 1 -W 1 "$1"
}

# tell WORD: the sender is done with a part, for which the receiver waits with told WORD.
tell() {
	echo "$1" | nc -w 5 $there4 9
}

told() {
	[ "$(nc -l -p 9)" = "$1" ]
}

receiver() {
	echo 1..6
	check 'the wire' wire_up $there4
	modprobe or_acker
	dcload server >/dev/null 2>&1 &
	check 'the sender is there' soon other_there $here4
	check 'it sends' told open
	check 'OR-ACKs' reaches 50 "$(count or_acker AckSent)" "$(cat /proc/net/or_acker)"
	key 000102030405060708090a0b0c0d0e0f
	check 'it sends, with a key' told keyed
	check 'no message was wrong' nothing_wrong
}

# nothing_wrong: what the receiver did not understand.
nothing_wrong() {
	local name bad=0

	cat /proc/net/or_acker /proc/net/or_port
	for name in SubscribeShort SubscribeLong SubscribeVersion SubscribeType SubscribeReserved \
			SubscribeProtocol SubscribeValue SubscribeUnsupported ChallengeFailed; do
		[ "$(count or_acker $name)" = 0 ] || bad=1
	done
	for name in RxVersion1 RxOtherVersion RxEmpty; do
		[ "$(count or_port $name)" = 0 ] || bad=1
	done
	return "$bad"
}

sender() {
	echo 1..7
	check 'the wire' wire_up $here4
	modprobe sch_onramp
	check 'the receiver is there' soon other_there $there4
	check 'OR-ACKs' from_sender
	check 'none is refused' refusals
	tell open
	sleep 2
	key 000102030405060708090a0b0c0d0e0f
	tc qdisc del dev eth0 root
	check 'the same with a key' from_sender
	check 'none is refused' refusals
	check 'the receiver is told' tell keyed
	# The qdisc of a NIC goes with nobody else.
	tc qdisc del dev eth0 root
}

# Tools and modules ------------------------------------------------------------------------------

namespaces() {
	ip netns add A &&
		ip link add eth0 netns A type veth peer eth0 &&
		ip -n A addr add $here4/24 dev eth0 &&
		ip -n A link set eth0 up &&
		ip addr add $there4/24 dev eth0 &&
		ip link set eth0 up
}

# own_output: tc takes the settings that it shows.
own_output() {
	local shown

	shown=$(A tc qdisc show dev eth0 root) || return
	shown=${shown#*refcnt }
	shown=${shown#* }
	echo "$shown"
	# shellcheck disable=SC2086	# words
	A tc qdisc replace dev eth0 root onramp $shown &&
		[ "$(A tc qdisc show dev eth0 root | sed 's/.*refcnt [0-9]* //')" = "$shown" ]
}

# newest_setting: one that the plugin knows and the module does not is refused with a sentence
# that says so, and changes nothing; else it is taken. Before 0.1.0 modules called it unknown.
newest_setting() {
	local before

	before=$(A tc qdisc show dev eth0 root)
	if A tc qdisc change dev eth0 root onramp forward on >/tmp/said 2>&1; then
		A tc qdisc show dev eth0 root | grep 'forward on'
		return
	fi
	cat /tmp/said
	grep -Eq 'newer|forward|Unknown attribute' /tmp/said &&
		[ "$(A tc qdisc show dev eth0 root)" = "$before" ]
}

# ends_well STATUS COMMAND...: with that exit status at most, and a sentence if it is not 0.
ends_well() {
	local most=$1 got=0
	shift

	"$@" >/tmp/said 2>&1 || got=$?
	cat /tmp/said
	echo "status $got"
	[ "$got" -le "$most" ] && [ -s /tmp/said ]
}

onrampctl_shows() {
	local what result=0

	for what in devices paths flows subscribers timely counters clocks; do
		ends_well 3 A onrampctl show $what || result=1
		ends_well 3 A onrampctl -j show $what || result=1
	done
	ends_well 3 A onrampctl doctor || result=1
	ends_well 3 A onrampctl facts || result=1
	return "$result"
}

nic_ts_shows() {
	local what

	for what in devices flows clocks stats; do
		nic_ts $what && nic_ts -j $what || return
	done
}

timely_works() {
	modprobe tcp_timely || return
	sysctl -w net.ipv4.tcp_congestion_control=timely || return
	dcload client --to 127.0.0.1 --cc timely --flows 1 --duration 1 || return
	sysctl -w net.ipv4.tcp_congestion_control=cubic
	reaches 1 "$(count timely Completions)" Completions
}

tools() {
	echo 1..11
	check 'two namespaces' namespaces
	check 'modules are loaded' modprobe -a sch_onramp or_acker
	dcload server >/dev/null 2>&1 &
	check 'the default settings' A tc qdisc replace dev eth0 root onramp
	check 'settings by their words' A tc qdisc replace dev eth0 root onramp limit 20000p \
		maxrate 1gbit threshold 200us max_pause 2ms mode strawman
	check 'tc takes its own output' own_output
	check 'a setting that one of them may not know' newest_setting
	check 'onramp-qdisc' A onramp-qdisc eth0 threshold 300us mode final
	check 'On-Ramp, and its statistics' from_sender
	check 'nic_ts' nic_ts_shows
	check 'tcp_timely' timely_works
	if [ -n "$(command -v onrampctl)" ]; then
		check 'onrampctl' onrampctl_shows
	else
		check 'no onrampctl in that version' true
	fi
}

echo 'KTAP version 1'
"$role"
exit "$status"
