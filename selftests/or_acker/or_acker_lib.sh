# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the tests of or_acker share, sourced as the first thing they do.
. "$(dirname "${BASH_SOURCE[0]}")/onramp.sh"

HELPER=$KSFT_DIR/or_acker_helper

# need_acker: load or_acker as an operator does, and unload all that came with it.
need_acker() {
	local module
	local there=()

	for module in or_acker or_port nic_ts nic_ts_hook; do
		[ ! -d "/sys/module/$module" ] || there+=("$module")
	done
	modprobe or_acker || {
		echo "Bail out! the module or_acker cannot be loaded"
		exit 1
	}
	for module in or_acker or_port nic_ts nic_ts_hook; do
		case " ${there[*]} " in
		*" $module "*) ;;
		*) undo "wait_for 20 unloaded $module" ;;
		esac
	done
}

unloaded() {
	[ ! -d "/sys/module/$1" ] || rmmod "$1"
}

# What came with the module goes, and comes back.
reload() {
	unload_all
	modprobe or_acker
	no_ends_left_out "$B"
}

unload_all() {
	local module

	for module in or_acker or_port nic_ts; do
		wait_for 20 unloaded "$module"
	done
}

# acker_set NAMESPACE PARAMETER VALUE...
acker_set() {
	local name=$1
	shift

	params_set "$name" or_acker "$@"
}

# acker NAMESPACE COUNTER, port NAMESPACE COUNTER
acker() {
	proc_count or_acker "$@"
}

port() {
	proc_count or_port "$@"
}

# acker_is NAMESPACE COUNTER OPERATOR VALUE, to be waited for
acker_is() {
	acker "$@"
}

# mark NAMESPACE: from here on since NAMESPACE COUNTER counts.
mark() {
	in_ns "$1" cat /proc/net/or_acker /proc/net/or_port >"$KSFT_TMP/mark-$1"
}

since() {
	"$KSFT_DIR/ksft_helper" since or_acker,or_port "$KSFT_TMP/mark-$1" "$@"
}

# subscribe NAMESPACE FROM TO [OPTION...]: one SUBSCRIBE, with a count of its own; one more
# with the cookie if the receiver has a CHALLENGE.
subscribe() {
	local name=$1 from=$2 to=$3 count=0
	shift 3

	[ ! -e "$KSFT_TMP/count" ] || read -r count <"$KSFT_TMP/count"
	count=$((count + 1))
	echo "$count" >"$KSFT_TMP/count"
	in_ns "$name" "$HELPER" subscribe "$from" "$to" "count=$count" "$@"
}

# unreachables NAMESPACE: ICMP messages of that kind it sent, IPv4 and IPv6.
unreachables() {
	in_ns "$1" awk '
		/^Icmp:/ && !column {
			for (column = 1; $column != "OutDestUnreachs"; column++)
				;
			next
		}
		/^Icmp:/ { n += $column }
		$1 == "Icmp6OutDestUnreachs" { n += $2 }
		END { print n + 0 }' /proc/net/snmp /proc/net/snmp6
}

# since_is NAMESPACE COUNTER OPERATOR VALUE, to be waited for.
since_is() {
	since "$@"
}

# asked NAMESPACE FROM TO RECEIVER [OPTION...], to be waited for: ask, and ask again,
# as data that fills a queue may push a datagram out.
asked() {
	local name=$1 receiver=$4 from=$2 to=$3
	shift 4

	subscribe "$name" "$from" "$to" "$@"
	accepted "$receiver" || {
		sleep 0.2
		accepted "$receiver"
	}
}

# subscribed NAMESPACE FROM TO RECEIVER [OPTION...]: and wait until devices of the
# receiver are captured.
subscribed() {
	local name=$1 receiver=$4 from=$2 to=$3
	shift 4

	mark "$receiver"
	wait_for 20 asked "$name" "$from" "$to" "$receiver" "$@" || {
		in_ns "$receiver" grep -v ' 0$' /proc/net/or_acker /proc/net/or_port
		return 1
	}
	wait_for 10 acker_is "$receiver" Devices -gt 0
	wait_for 10 captured "$name" "$from" "$to" "$receiver"
	wait_for 10 calm "$receiver"
}

# The bus registers its tracepoints when it gets to it.
captured() {
	send "$1" "$2" "$3" 3000
	since "$4" FlowsNew -gt 0
}

# calm RECEIVER: nothing waits to be acknowledged.
calm() {
	local before

	before=$(acker "$1" AckedPackets)
	sleep 0.2
	acker "$1" AckedPackets -eq "$before"
}

# bound NAMESPACE PORT: a program has that UDP port.
bound() {
	[ -n "$(ss -N "$1" -Huln "sport = $2")" ]
}

accepted() {
	since "$1" SubscribeAccepted -gt 0
}

# no_ends_left_out NAMESPACE...: tests count OR-ACKs up to the last byte. As in ns_add(), for a
# namespace that the module did not know when it was made.
no_ends_left_out() {
	local name

	for name; do
		acker_set "$name" path_interval_ns 0
		[ -n "${BUSY_SHARE:-}" ] || acker_set "$name" busy_share 0
	done
}

# sink NAMESPACE [ADDRESS]: reads what comes to port 7001, over IPv4 and IPv6.
sink() {
	no_ends_left_out "$1"
	spawn in_ns "$1" "$HELPER" sink "${2:-::}" 7001
	wait_for 10 listening "$1"
}

# send NAMESPACE FROM TO BYTES [OPTION...]: over TCP; ends when all is acknowledged, after a minute in
# any case.
send() {
	local name=$1 from=$2 to=$3
	shift 3

	in_ns "$name" "$HELPER" send "$from" "$to" 7001 "$@"
}

# exact NAMESPACE FROM TO RECEIVER BYTES [OPTION...]: subscribe and send; each byte is
# acknowledged by one OR-ACK, all OR-ACKs are heard, and right.
exact() {
	local name=$1 from=$2 to=$3 receiver=$4 bytes=$5 retrans relation=-eq
	shift 5

	subscribed "$name" "$from" "$to" "$receiver"
	listen "$name" "$from" "$to"
	mark "$receiver"
	retrans=$(retransmitted "$name")
	send "$name" "$from" "$to" "$bytes" "$@"
	wait_for 10 acked_bytes "$receiver" -ge "$bytes"
	wait_for 10 calm "$receiver"
	heard
	all_good
	# A slow machine has TCP probe for lost segments that are not; of 64 KB on lo.
	retrans=$(($(retransmitted "$name") - retrans))
	expect "bytes acknowledged" "$(since "$receiver" AckedBytes)" -le \
		$((bytes + retrans * 65483))
	# 255 stands for more as well.
	[ "$(said most)" -eq 0 ] || relation=-le
	expect "packets in OR-ACKs heard" "$(said packets)" $relation \
		"$(since "$receiver" AckedPackets)"
	expect "OR-ACKs heard" "$(said acks)" -eq "$(since "$receiver" AckSent)"
	expect "of which clocks" "$(($(since "$receiver" AckStampSoftware) +
		$(since "$receiver" AckStampTai) + $(since "$receiver" AckStampHardware)))" \
		-eq "$(($(since "$receiver" AckSent) + $(since "$receiver" AckSendFailed)))"
	expect "bytes out" "$(since "$receiver" AckBytes)" -le "$bytes"
	unsubscribe "$name" "$from" "$to" "$receiver"
}

retransmitted() {
	in_ns "$1" awk '/^Tcp:/ && n++ { print $13 }' /proc/net/snmp
}

acked_bytes() {
	since "$1" AckedBytes "$2" "$3"
}

# unsubscribed NAMESPACE FROM TO RECEIVER, to be waited for, as asked is.
unsubscribed() {
	subscribe "$1" "$2" "$3" lifetime=0 answer=0
	acker_is "$4" Subscribers -eq 0 || {
		sleep 0.2
		acker_is "$4" Subscribers -eq 0
	}
}

# unsubscribe NAMESPACE FROM TO RECEIVER
unsubscribe() {
	wait_for 20 unsubscribed "$@"
	wait_for 10 acker_is "$4" Devices -eq 0
}

# listen NAMESPACE FROM TO [OPTION...]: check OR-ACKs until heard is called.
listen() {
	local name=$1
	shift

	set -m
	in_ns "$name" "$HELPER" listen "$@" >"$KSFT_TMP/heard" 2>&1 </dev/null &
	set +m
	LISTENER=$!
	echo "$LISTENER" >>"$KSFT_TMP/pids"
	wait_for 10 raw_socket "$name"
}

# Protocol 17.
raw_socket() {
	in_ns "$1" cat /proc/net/raw /proc/net/raw6 | grep -q ':0011 '
}

# heard: end it; then said NAME is what it found.
heard() {
	kill -TERM -- "-$LISTENER"
	# nsenter may have ended before it.
	wait_for 10 said synced
}

said() {
	local name value

	while read -r name value _; do
		[ "$name" != "$1" ] || { echo "$value"; return; }
	done <"$KSFT_TMP/heard"
	return 1
}

# all_good: what was heard is right, whatever it is.
all_good() {
	local name

	show "$KSFT_TMP/heard"
	for name in bad bad_tag replays backward gaps; do
		expect "OR-ACKs: $name" "$(said "$name")" -eq 0
	done
}
