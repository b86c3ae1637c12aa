# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the tests of "forward on" share, sourced as the first thing they do. C is the container.
. "$(dirname "${BASH_SOURCE[0]}")/onramp_lib.sh"

C=$(ns_name C)

# Whatever the machine does meanwhile; and veth is faster than the 10 Gbit/s it says.
unpaused='threshold 10s line_rate 400gbit'

# container NAME DEVICE HOST DEVICE V4 V6: routed, by the host's .1 and ::1.
container() {
	ns_add "$1"
	veth_pair "$1" "$2" "$5 $6" "$3" "$4" "${5%.*}.1 ${6%::*}::1"
	ip -n "$1" route add default via "${5%.*}.1"
	ip -n "$1" route add default via "${6%::*}::1"
}

# asked REMOTE LOCAL: A asks it in that name.
asked() {
	in_ns "$A" awk -v remote="$1" -v name="$2" '$2 == remote && $1 == name { found = 1 }
		END { exit !found }' /proc/net/onramp_peers
}

# all_stats: of the qdisc, if something failed.
all_stats() {
	tc -n "$A" -s qdisc show dev a0
	in_ns "$A" cat /proc/net/onramp_peers
	in_ns "$B" cat /proc/net/or_acker | awk '$2' | paste -s -d ' ' || :
	return 1
}

# port NAME COUNTER: of a namespace's /proc/net/or_port.
port() {
	proc_count or_port "$@"
}

connections_are() {
	stat connections -eq "$1"
}

forwarded_are() {
	stat forwarded -eq "$1"
}

# calls FUNCTION: how often the kernel has called it, since probes were set.
calls() {
	awk -v name="$1" '$1 == name { print $2; found = 1 } END { exit !found }' \
		/sys/kernel/tracing/kprobe_profile
}

# probes [FUNCTION...]: of these alone, in place of those before.
probes() {
	local events=/sys/kernel/tracing/kprobe_events name
	local all=/sys/kernel/tracing/events/kprobes/enable

	# There is no such file without probes.
	undo "[ ! -e $all ] || echo 0 >$all; echo >$events"
	[ ! -e $all ] || echo 0 >$all
	echo >$events
	[ $# -gt 0 ] || set -- onramp_fwd_flow onramp_fwd_in
	for name; do
		echo "p:$name sch_onramp:$name" >>$events
		echo 1 >/sys/kernel/tracing/events/kprobes/$name/enable
	done
}

# client NAMESPACE OPTION...: of dcload.
client() {
	local name=$1
	shift

	exec dcload client --netns "$name" --rtt-sample-us 0 "$@"
}

# answered FROM TO LOCAL [OPTION...]: OR-ACKs about flows from FROM to TO count, for SUBSCRIBEs in
# the name of LOCAL, and none is refused. With options for dcload. Sets FORWARDED, the entries that
# there were before the flows ended.
answered() {
	local taken_c from=$1 to=$2 name=$3
	shift 3

	# A kernel that checks all it does has no CPU for the test beside flows at full speed.
	[ "$SLOW" -eq 1 ] || set -- --rate-limit 1mbit "$@"
	taken_c=$(port "$C" RxDelivered)
	# shellcheck disable=SC2086
	fresh forward on $unpaused peers all
	spawn client "$from" --to "$to" --flows 2 --duration 600 "$@"
	wait_for 100 stats_reach acks 40 || all_stats
	FORWARDED=$(stat forwarded)
	stop "$SPAWNED" KILL
	shot
	asked "$to" "$name"
	expect pauses "$(shown pauses)" -eq 0
	expect subscribe_errors "$(shown subscribe_errors)" -eq 0
	none_refused
	expect forward_full "$(shown forward_full)" -eq 0
	# The host took them: none went on to the container.
	expect "messages that C got" "$(port "$C" RxDelivered)" -eq "$taken_c"
	echo "measured: $(shown acks) OR-ACKs, $(shown acks_not_in_flight) not in flight"
}

# acker_of NAMESPACE COUNTER: that of or_acker.
acker_of() {
	proc_count or_acker "$@"
}

# answered_if_on LOCAL: for port 7000 of B, which it translates, or_acker answers A with
# net.or_acker.forward on, and not before. Leaves it on.
answered_if_on() {
	# shellcheck disable=SC2086
	fresh $unpaused peers all
	load "$A" --to $B4 --port 7000 --flows 2 --rate-limit 1mbit --duration 1
	expect "OR-ACKs with forward off" "$(stat acks)" -eq 0
	expect PacketNoSocket "$(acker_of "$B" PacketNoSocket)" -ge 1
	expect FlowsForwarded "$(acker_of "$B" FlowsForwarded)" -eq 0
	ns_set "$B" or_acker/forward on
	answered "$A" $B4 "$1" --port 7000
	expect FlowsForwarded "$(acker_of "$B" FlowsForwarded)" -ge 2
}

# A qdisc in the container asks for itself: the host leaves it to that.
own_qdisc() {
	# shellcheck disable=SC2086
	fresh forward on $unpaused peers all
	# shellcheck disable=SC2086
	tc -n "$C" qdisc replace dev c0 root onramp $unpaused peers all
	spawn_load "$C" --to $B4 --flows 2 --rate-limit 1mbit --duration 600
	wait_for 60 stats_reach forward_yields 1
	wait_for 60 c_has 40
	stop "$SPAWNED" KILL
	tc -n "$C" qdisc del dev c0 root
}

c_has() {
	tc -n "$C" -s -j qdisc show dev c0 >"$KSFT_TMP/shot"
	[ "$(shown acks)" -ge "$1" ]
}
