#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# When an OR-ACK is due, what it may cost, and the bounds of the tables.
#
#	A a0 ---------- b0 B
. "$(dirname "$0")/or_acker_lib.sh"

BYTES=1000000

defaults() {
	acker_set "$B" ack_packets 10 ack_bytes 65536 ack_delay_ns 50000 \
		path_interval_ns 0 subscriber_rate 1000000 cpu_rate 1000000 max_flows 65536 \
		max_subscribers 4096 flow_age_s 30 mode subscribed
}

# transfer [OPTION...]: subscribed, send BYTES; mark is set before it.
transfer() {
	subscribed "$A" "$V4_A" "$V4_B" "$B"
	mark "$B"
	send "$A" "$V4_A" "$V4_B" "$BYTES" "$@"
	wait_for 10 calm "$B"
}

by_packets() {
	acker_set "$B" ack_packets 20 ack_delay_ns 10000000
	transfer
	expect "OR-ACKs after 20 packets" "$(since "$B" AckByPackets)" -gt 0
	expect "OR-ACKs" "$(since "$B" AckSent)" -le \
		"$(calc "$(since "$B" AckedPackets) / 20 + $(since "$B" AckByTime)")"
	expect "OR-ACKs by bytes" "$(since "$B" AckByBytes)" -eq 0
	defaults
}

by_bytes() {
	acker_set "$B" ack_packets 255 ack_bytes 14480 ack_delay_ns 10000000
	transfer
	expect "OR-ACKs after 10 segments" "$(since "$B" AckByBytes)" -gt 0
	expect "OR-ACKs" "$(since "$B" AckSent)" -le \
		"$(calc "$(since "$B" AckedBytes) / 14480 + $(since "$B" AckByTime) + 1")"
	expect "OR-ACKs by packets" "$(since "$B" AckByPackets)" -eq 0
	defaults
}

# Less than any threshold: the timer acknowledges it, all of it. One packet, since the hold
# is that of the newest.
by_time() {
	acker_set "$B" ack_packets 255 ack_bytes 16777216 ack_delay_ns 1000000
	listen "$A" "$V4_A" "$V4_B"
	BYTES=1000 transfer chunk=1000 wait=1
	heard
	all_good
	expect "longest hold, ns" "$(said hold_max_ns)" -ge 1000000
	expect "OR-ACKs" "$(since "$B" AckSent)" -gt 0
	expect "OR-ACKs by time" "$(since "$B" AckByTime)" -eq "$(since "$B" AckSent)"
	expect "bytes acknowledged" "$(since "$B" AckedBytes)" -ge 1000
	defaults
}

# The first packet has one at once. What ends there and then is left to the next: 1 s is
# the longest there is.
by_path() {
	subscribed "$A" "$V4_A" "$V4_B" "$B"
	acker_set "$B" ack_packets 255 ack_bytes 16777216 ack_delay_ns 1000 \
		path_interval_ns 1000000000
	sleep 1.1
	mark "$B"
	send "$A" "$V4_A" "$V4_B" 1000
	wait_for 10 since_is "$B" AckByPath -eq 1
	expect "bytes acknowledged" "$(since "$B" AckedBytes)" -eq 1000
	wait_for 60 left_out
	expect "OR-ACKs by time" "$(since "$B" AckByTime)" -eq 0
	unsubscribe "$A" "$V4_A" "$V4_B" "$B"
	defaults
}

# left_out: a message within that time has no OR-ACK.
left_out() {
	local before

	before=$(since "$B" AckNotAtEnd)
	send "$A" "$V4_A" "$V4_B" 1000
	since_is "$B" AckNotAtEnd -gt "$before"
}

# The last packet of what there is to send has PSH. Without it there is more, which may be
# paused: 1 ms apart each packet has its OR-ACK.
not_at_end() {
	acker_set "$B" ack_packets 255 ack_bytes 16777216 path_interval_ns 1000000000
	tc -n "$A" qdisc add dev a0 root tbf rate 12mbit burst 3000 limit 1000000
	BYTES=65536 transfer
	expect "OR-ACKs by time" "$(since "$B" AckByTime)" -ge 10
	tc -n "$A" qdisc del dev a0 root
	defaults
}

# An OR-ACK has 64 bytes, these packets 41 and some options.
credit() {
	local packets

	acker_set "$B" ack_packets 1
	# What was saved up is used first: 4096 bytes.
	BYTES=1000 transfer chunk=1 wait=1
	packets=$(calc "$(since "$B" AckedPackets) + $(since "$B" AckNoCredit)")
	expect "OR-ACKs held back" "$(since "$B" AckNoCredit)" -gt 0
	expect "bytes out" "$(since "$B" AckBytes)" -le "$(calc "41 * $packets")"
	defaults
}

# rate PARAMETER COUNTER: ten a second are less than are due.
rate() {
	acker_set "$B" "$1" 10 ack_packets 1
	transfer chunk=2000 wait=1
	expect "OR-ACKs held back" "$(since "$B" "$2")" -gt "$(since "$B" AckSent)"
	expect "OR-ACKs" "$(since "$B" AckSent)" -ge 1
	defaults
}

expiry() {
	subscribed "$A" "$V4_A" "$V4_B" "$B" lifetime=5
	wait_for 20 acker_is "$B" Subscribers -eq 0
	wait_for 20 acker_is "$B" Devices -eq 0
	expect "expired" "$(since "$B" SubscribersExpired)" -eq 1
	mark "$B"
	send "$A" "$V4_A" "$V4_B" "$BYTES"
	expect "OR-ACKs after it" "$(since "$B" AckSent)" -eq 0
}

# A subscription lives as long as the last SUBSCRIBE says. A new nonce takes a proof of the
# address.
renewal() {
	subscribed "$A" "$V4_A" "$V4_B" "$B" lifetime=10
	mark "$B"
	subscribe "$A" "$V4_A" "$V4_B" lifetime=120 answer=0
	wait_for 10 since_is "$B" SubscribeAccepted -eq 1
	expect "CHALLENGEs to a renewal" "$(since "$B" ChallengeSent)" -eq 0
	subscribe "$A" "$V4_A" "$V4_B" lifetime=120 nonce=7 count=1
	wait_for 10 since_is "$B" SubscribeAccepted -eq 2
	expect "CHALLENGEs to a new nonce" "$(since "$B" ChallengeSent)" -eq 1
	expect "taken over" "$(since "$B" SubscribersTaken)" -eq 1
	sleep 11
	expect "subscribers" "$(acker "$B" Subscribers)" -eq 1
	listen "$A" "$V4_A" "$V4_B" nonce=7
	mark "$B"
	send "$A" "$V4_A" "$V4_B" "$BYTES"
	wait_for 10 calm "$B"
	heard
	all_good
	expect "OR-ACKs" "$(said acks)" -eq "$(since "$B" AckSent)"
	expect "OR-ACKs" "$(said acks)" -gt 0
	subscribe "$A" "$V4_A" "$V4_B" lifetime=0 nonce=7 count=2 answer=0
	wait_for 10 acker_is "$B" Subscribers -eq 0
}

flows_bound() {
	acker_set "$B" flow_age_s 1
	subscribed "$A" "$V4_A" "$V4_B" "$B"
	wait_for 20 acker_is "$B" Flows -eq 0
	acker_set "$B" max_flows 5 flow_age_s 3600
	mark "$B"
	send "$A" "$V4_A" "$V4_B" "$BYTES" flows=20
	expect "flows" "$(acker "$B" Flows)" -eq 5
	expect "packets without" "$(since "$B" PacketFlowTableFull)" -gt 0
	# They make room when they are old.
	acker_set "$B" flow_age_s 1
	wait_for 20 acker_is "$B" Flows -eq 0
	expect "aged" "$(since "$B" FlowsAged)" -ge 5
	defaults
}

# most_walked: pieces of tables that one run of the aging has looked at, at most.
most_walked() {
	awk '/: aged: / { n = 0 } /: walked: / && ++n > most { most = n } END { print most + 0 }' \
		/sys/kernel/tracing/trace
}

# A run of the aging looks at 4096 flows, 256 at a time, and the next ones at the others.
ages_in_pieces() {
	local tracing=/sys/kernel/tracing n=6000 most

	ulimit -n 10000
	spawn in_ns "$B" "$HELPER" socket "$V4_B" "$V4_A" 9 1024 $n 1
	wait_for 60 many_sockets $n
	subscribed "$A" "$V4_A" "$V4_B" "$B"
	acker_set "$B" flow_age_s 3600
	in_ns "$A" "$HELPER" data "$V4_A" "$V4_B" $n
	wait_for 20 acker_is "$B" Flows -ge $n
	echo "p:aged or_acker:or_acker_age" >>$tracing/kprobe_events
	echo "p:walked or_acker:or_acker_walk_slice" >>$tracing/kprobe_events
	undo "echo 0 >$tracing/events/kprobes/enable; echo >$tracing/kprobe_events"
	echo >$tracing/trace
	echo 1 >$tracing/events/kprobes/enable
	acker_set "$B" flow_age_s 1
	wait_for 20 acker_is "$B" Flows -eq 0
	echo 0 >$tracing/events/kprobes/enable
	most=$(most_walked)
	echo >$tracing/kprobe_events
	echo >$tracing/trace
	echo "measured: $most pieces in a run"
	expect "pieces of a run, at most" "$most" -le 20
	expect "pieces of a run, at most" "$most" -ge 16
	stop "$SPAWNED" KILL
	unsubscribe "$A" "$V4_A" "$V4_B" "$B"
	defaults
}

many_sockets() {
	[ "$(ss -N "$B" -Htn 'sport = 9' | wc -l)" -ge "$1" ]
}

subscribers_bound() {
	local n

	n=$(often 500 2000)
	acker_set "$B" max_subscribers 50
	ns_set "$B" ipv4/conf/all/rp_filter 0 ipv4/conf/b0/rp_filter 0
	subscribed "$A" "$V4_A" "$V4_B" "$B"
	mark "$B"
	# A has all these addresses.
	ip -n "$A" route add local 10.99.0.0/16 dev lo
	ip -n "$B" route add 10.99.0.0/16 via "$V4_A"
	in_ns "$A" "$HELPER" many 10.99.0.0 "$V4_B" "$n" lifetime=5
	wait_for 20 since_is "$B" SubscribeAccepted -ge $((n / 2))
	expect "subscribers" "$(acker "$B" Subscribers)" -le 50
	expect "evicted" "$(since "$B" SubscribersEvicted)" -gt $((n / 2 - 100))
	# Who has flows is not evicted.
	mark "$B"
	send "$A" "$V4_A" "$V4_B" "$BYTES"
	expect "OR-ACKs to who was there" "$(since "$B" AckSent)" -gt 0
	expect "packets without" "$(since "$B" PacketNotSubscribed)" -eq 0
	wait_for 30 acker_is "$B" Subscribers -eq 1
	defaults
}

# loaded: bulk data that takes all of a CPU, as single packets. Sets BUSY to the part of
# them that is ignored, 1/1000.
loaded() {
	local busy packets

	acker_set "$B" busy_share 512
	subscribed "$A" "$V4_A" "$V4_B" "$B"
	mark "$B"
	timeout 60 dcload client --netns "$A" --to "$V4_B:7001" --flows 4 --duration 1 \
		--rtt-sample-us 0
	wait_for 10 calm "$B"
	busy=$(since "$B" PacketBusy)
	packets=$(since "$B" DataBytes)
	packets=$((packets / 1448))
	echo "measured: $busy packets ignored, data of $packets looked at"
	BUSY=$((busy * 1000 / (busy + packets)))
	unsubscribe "$A" "$V4_A" "$V4_B" "$B"
	acker_set "$B" busy_share 0
}

# The sender's socket still has them: there was no queue, and the CPU is its own.
busy_own() {
	loaded
	expect "ignored, 1/1000" "$BUSY" -ge 500
	# Without the limit.
	subscribed "$A" "$V4_A" "$V4_B" "$B"
	mark "$B"
	send "$A" "$V4_A" "$V4_B" "$BYTES"
	expect "ignored" "$(since "$B" PacketBusy)" -eq 0
}

# These may have waited for others.
busy_others() {
	tc -n "$A" qdisc add dev a0 root netem delay 1us limit 10000
	loaded
	tc -n "$A" qdisc del dev a0 root
	expect "ignored, 1/1000" "$BUSY" -eq 0
}

# On a slow link each packet has one. They take no more than an eighth of the CPU's time, so
# some are not sent; with the limit off, all are. How slow depends on the CPU. On Linux 6.1
# one takes less than an eighth of the time from packet to packet here, and all may be sent.
slow_link() {
	local rate held=100

	case $(uname -r) in
	6.1.*)	held=0 ;;
	esac

	# TCP makes segments of a batch only behind the qdisc, all at once.
	ip -n "$A" link set a0 gso_max_segs 1
	acker_set "$B" ack_packets 1
	for rate in 80 100; do
		tc -n "$A" qdisc replace dev a0 root netem delay 1us rate ${rate}mbit limit 10000
		loaded
		echo "measured: $rate Mbit/s, $(since "$B" AckSent) sent, $(
			since "$B" AckLimitTime) not"
		since "$B" AckLimitTime -lt "$held" || break
	done
	expect "not sent" "$(since "$B" AckLimitTime)" -ge "$held"
	expect "sent" "$(since "$B" AckSent)" -ge 100
	subscribed "$A" "$V4_A" "$V4_B" "$B"
	mark "$B"
	send "$A" "$V4_A" "$V4_B" "$BYTES"
	expect "not sent, without the limit" "$(since "$B" AckLimitTime)" -eq 0
	unsubscribe "$A" "$V4_A" "$V4_B" "$B"
	tc -n "$A" qdisc del dev a0 root
	ip -n "$A" link set a0 gso_max_segs 65535
	defaults
}

# stream COMMAND...: run it while data comes from A.
stream() {
	spawn send "$A" "$V4_A" "$V4_B" $((10000 * BYTES))
	wait_for 10 since_is "$B" DataBytes -gt 50000
	"$@"
	stop "$SPAWNED"
}

# drained -eq|-gt -eq|-gt [FROM]: drains of a while, and OR-ACKs to V4_A, or to FROM, that say so, both
# compared with none. A value that is written is as a new sender.
drained() {
	listen "$A" "${3:-$V4_A}" "$V4_B"
	mark "$B"
	acker_set "$B" drain "$(ns_get "$B" or_acker/drain)"
	sleep 0.5
	[ "$1" = -eq ] || wait_for 20 since_is "$B" Drains -gt 0
	heard
	all_good
	expect "OR-ACKs" "$(said acks)" -gt 0
	expect "OR-ACKs heard that say DRAIN" "$(said drains)" "$2" 0
	expect "OR-ACKs that say DRAIN" "$(since "$B" AckDrain)" "$1" 0
	expect "OR-ACKs at the begin of a drain" "$(since "$B" AckByDrain)" "$1" 0
	expect "drains" "$(since "$B" Drains)" "$1" 0
}

# None while others have the queue, which takes some of both's data to see.
undrained() {
	sleep 0.5
	drained -eq -eq
}

# joined SUBSCRIBERS [OPTION...]: 10.77.1.3 asks B until it has so many. Data that fills the queue may
# push a datagram out.
joined() {
	local n=$1
	shift

	subscribe "$A" 10.77.1.3 "$V4_B" "$@"
	sleep 0.2
	acker_is "$B" Subscribers -eq "$n"
}

# netem takes packets from their sockets, as a wire does.
drains() {
	ip -n "$A" addr replace 10.77.1.3/24 dev a0
	acker_set "$B" ack_packets 255 ack_bytes 16777216 ack_delay_ns 1000000
	tc -n "$A" qdisc replace dev a0 root netem delay 1us rate 20mbit limit 50
	subscribed "$A" "$V4_A" "$V4_B" "$B" caps=0x11
	stream drained -gt -gt
	expect "OR-ACKs behind a silence" "$(since "$B" AckBySilence)" -gt 0
	# Others have the queue.
	spawn send "$A" 10.77.1.3 "$V4_B" $((10000 * BYTES))
	OTHERS=$SPAWNED
	wait_for 10 since_is "$B" DataBytesNotSubscribed -gt 100000
	stream undrained
	# They are subscribers, but do not take it.
	wait_for 20 joined 2
	stream drained -gt -eq 10.77.1.3
	stop "$OTHERS"
	wait_for 20 joined 1 lifetime=0 answer=0
	# Its newest flow has ended when the next one would begin.
	acker_set "$B" flow_age_s 1
	wait_for 20 acker_is "$B" Flows -eq 0
	acker_set "$B" drain 1
	sleep 0.5
	tc -n "$A" qdisc del dev a0 root
	unsubscribe "$A" "$V4_A" "$V4_B" "$B"
	defaults
}

# Senders that do not take it; those whose data was in no queue; and none while it is off.
no_drains() {
	tc -n "$A" qdisc replace dev a0 root tbf rate 5mbit burst 3000 limit 100000
	subscribed "$A" "$V4_A" "$V4_B" "$B" caps=0x11
	stream drained -eq -eq
	unsubscribe "$A" "$V4_A" "$V4_B" "$B"
	acker_set "$B" drain 0
	tc -n "$A" qdisc replace dev a0 root netem delay 1us rate 5mbit limit 50
	subscribed "$A" "$V4_A" "$V4_B" "$B" caps=0x11
	stream drained -eq -eq
	acker_set "$B" drain 1
	stream drained -gt -gt
	unsubscribe "$A" "$V4_A" "$V4_B" "$B"
	subscribed "$A" "$V4_A" "$V4_B" "$B"
	stream drained -eq -eq
	unsubscribe "$A" "$V4_A" "$V4_B" "$B"
	tc -n "$A" qdisc del dev a0 root
}

bad_values() {
	local name value before

	while read -r name value; do
		before=$(ns_get "$B" "or_acker/$name")
		refused ns_set "$B" "or_acker/$name" "$value" 2>/dev/null
		expect_same "$name" "$(ns_get "$B" "or_acker/$name")" "$before"
	done <<-END
		mode everybody
		mode 1
		stamps both
		ack_packets 0
		ack_packets 256
		ack_packets -1
		ack_packets ten
		ack_bytes 0
		ack_delay_ns 999
		ack_delay_ns 10000001
		path_interval_ns -1
		path_interval_ns 1000000001
		clock_error_ns 8000000001
		max_subscribers 0
		max_flows 4194305
		flow_age_s 0
		subscriber_rate 0
		challenge_rate 0
		cpu_rate 10000001
		busy_share 65537
		drain 2
	END
}

ksft_plan 20
need_acker
net_pair
# Segments as they come.
in_ns "$A" ethtool -K a0 tso off gso off
sink "$B"
ksft_case "OR-ACK after ack_packets" by_packets
ksft_case "OR-ACK after ack_bytes" by_bytes
ksft_case "OR-ACK after ack_delay_ns" by_time
ksft_case "OR-ACK at once after path_interval_ns, none at the end" by_path
ksft_case "OR-ACK after ack_delay_ns, while there is more" not_at_end
ksft_case "no more bytes go out than came in" credit
ksft_case "rate of a subscriber" rate subscriber_rate AckLimitSubscriber
ksft_case "rate of a CPU" rate cpu_rate AckLimitCpu
ksft_case "a busy CPU, packets of this host" busy_own
ksft_case "a busy CPU, packets that a queue has had" busy_others
ksft_case "a slow link, and a CPU that is slower" slow_link
ksft_case "the table of flows is bounded, flows age" flows_bound
ksft_case "the aging looks at a part of many flows" ages_in_pieces
ksft_case "the table of subscribers is bounded" subscribers_bound
ksft_case "a subscription ends" unsubscribe "$A" "$V4_A" "$V4_B" "$B"
ksft_case "a subscription expires" expiry
ksft_case "a subscription is renewed" renewal
ksft_case "senders are told to drain their paths" drains
ksft_case "senders that are not told to" no_drains
ksft_case "values out of range are refused" bad_values
