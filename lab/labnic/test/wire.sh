#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Times on the wire, taken from hardware stamps, so that they do not depend on how
# fast this machine is; queueing in front of it; interrupts behind it.
. "$(dirname "$0")/labnic_lib.sh"

# near WHAT GOT WANTED SLACK
near() {
	expect "$1" "$2" -ge "$(calc "$3 - $4")"
	expect "$1" "$2" -le "$(calc "$3 + $4")"
}

# Stamps of the two ends, the propagation delay apart. They are on
# CLOCK_MONOTONIC_RAW, the wire on CLOCK_MONOTONIC; of a real machine both are
# rounded down each for itself, so that their distance changes by a nanosecond.
apart() {
	expect "stamps of delay $1" "$(got owd_min_ns)" -ge $(($1 - 2))
	expect "stamps of delay $1" "$(got owd_max_ns)" -le $(($1 + 2))
}

delay_exact() {
	local delay

	for delay in 0 1 1234 500000; do
		pair delay "$delay" tx_stamp_slots 64
		udp count=20 gap_us=1000
		apart "$delay"
		expect "TX stamps" "$(got tx_hw)" -eq 20
	done
}

# One write of 40 datagrams, cut by the NIC: (1472 + 42 + 24) * 8 bits apart each.
serialisation() {
	local rate

	for rate in 100 1000 10000 40000 100000; do
		pair rate "${rate}mbit"
		udp count=40 gso=40 wait_ms=500
		expect received "$(got received)" -eq 40
		# The stamps are rounded, see apart().
		near "39 frames at $rate Mbit/s" "$(got span_ns)" \
			"39 * 1538 * 8 * 1000 / $rate" 3
		expect posted "$(count "$A" a0 tx0_posted)" -eq 1
		expect "cut packets" "$(count "$A" a0 tx0_segmented)" -eq 1
		expect "wire packets" "$(count "$A" a0 tx0_packets)" -eq 40
		expect "wire bytes" "$(count "$A" a0 tx0_bytes)" -eq $((40 * 1514))
	done
}

# A transmitter whose oscillator is wrong by 1000 ppm: 100 us in 100 ms.
drift() {
	local ppm

	for ppm in -1000 1000; do
		pair rate 10mbit rate_drift "${ppm}ppm" peer rate_drift 0
		udp count=40 gso=40 wait_ms=500
		near "39 frames at $ppm ppm" "$(got span_ns)" \
			"39 * 1538 * 800 / (1 + $ppm / 1000000)" 3
		in_ns "$A" ethtool a0 | grep -q 'Speed: 10Mb/s'
		expect "the other end's drift" "$(shown "$B" b0 rate_drift_ppb)" -eq 0
	done
}

# Small frames are padded: 84 bytes of wire for each.
padding() {
	pair rate 1gbit
	udp count=40 gso=40 size=4
	near "39 padded frames" "$(got span_ns)" "39 * 84 * 8" 3
}

no_bql() {
	# shellcheck disable=SC2016
	in_ns "$A" bash -euc '
		mkdir -p /mnt
		mount -t sysfs sysfs /mnt
		echo 100000000 >/mnt/class/net/a0/queues/tx-0/byte_queue_limits/limit_min
		umount /mnt'
}

# Without BQL the ring never runs dry, however late a slow machine refills it:
# 20 writes posted faster than they leave are one uninterrupted row of frames.
backlog_exact() {
	pair rate 50mbit
	tc -n "$A" qdisc replace dev a0 root pfifo limit 10000
	no_bql
	# The limit is looked at when something has left.
	udp count=40 gso=40
	udp count=800 gso=40 wait_ms=1000
	expect received "$(got received)" -eq 800
	near "799 frames" "$(got span_ns)" "799 * 1538 * 8 * 20" 3
}

pacing() {
	pair rate 10gbit pace 2500mbit
	udp count=40 gso=40
	near "39 paced frames" "$(got span_ns)" "39 * 1538 * 8 * 0.4" 3
	labnic -n "$A" set a0 pace 0
	udp count=40 gso=40
	near "39 frames" "$(got span_ns)" "39 * 1538 * 8 * 0.1" 3
}

# A rate that does not divide anything, changed while nothing is sent.
odd_rate() {
	pair rate 9999999967
	udp count=40 gso=40
	near "39 frames" "$(got span_ns)" "39 * 1538 * 8 * 1e9 / 9999999967" 3
	labnic -n "$A" set a0 rate 3333333333
	udp count=40 gso=40
	near "39 frames" "$(got span_ns)" "39 * 1538 * 8 * 1e9 / 3333333333" 3
}

# What a closed connection still sends is on the wire for a moment.
all_arrived() {
	[ "$(count "$B" b0 rx0_packets)" = "$(count "$A" a0 tx0_packets)" ]
}

tso() {
	local packets bytes rate

	pair rate 200mbit
	serve "$B"
	load "$A" --to "$B4" --duration 1 --warmup 0.3
	stop "$SPAWNED"
	wait_for 5 all_arrived || :
	packets=$(count "$A" a0 tx0_packets)
	bytes=$(count "$A" a0 tx0_bytes)
	expect "cut packets" "$(count "$A" a0 tx0_segmented)" -gt 10
	expect "lost in B" "$(count "$B" b0 rx0_packets)" -eq "$packets"
	expect "bytes in B" "$(count "$B" b0 rx0_bytes)" -eq "$bytes"
	# All but a few are full: 1448 of 1538 bytes are payload.
	near "mean frame" "$((bytes / packets))" 1514 25
	rate=$(loaded goodput_bit_s)
	echo "measured: goodput at 200 Mbit/s is $rate bit/s"
	# An emulated machine starts late; what it then sends cannot exceed the wire.
	expect goodput "$rate" -gt $((200000000 * 80 / 100))
	# ACKs that cover 64 KB each blur the ends of the second in which it is measured.
	expect goodput "$rate" -le $((200000000 * 1448 / 1538 + 2 * 65536 * 8))
}

# BQL keeps the ring short; what does not fit waits in the qdisc.
bql() {
	local limit=/sys/class/net/a0/queues/tx-0/byte_queue_limits server

	pair rate 20mbit
	serve "$B"
	server=$SPAWNED
	spawn dcload client --netns "$A" --rtt-sample-us 0 --to "$B4" --flows 8 --duration 30
	sleep 2
	# shellcheck disable=SC2016
	in_ns "$A" bash -euc '
		mkdir -p /mnt
		mount -t sysfs sysfs /mnt
		for i in 1 2 3 4 5 6 7 8 9 10; do
			cat "/mnt${1#/sys}/inflight" "/mnt${1#/sys}/limit" | tr "\n" " "
			echo
			sleep 0.05
		done
		umount /mnt' bash "$limit" >"$KSFT_TMP/bql"
	cat "$KSFT_TMP/bql"
	# A limit is exceeded by the packet that reaches it, at most 64 KB.
	awk '$1 > $2 + 65536 || $2 > 262144 { exit 1 } $1 > 0 { busy++ }
		END { exit !(busy >= 5) }' "$KSFT_TMP/bql"
	tc -n "$A" -s qdisc show dev a0 | tee "$KSFT_TMP/qdisc"
	expect "bytes in the qdisc" "$(sed -n 's/.*backlog \([0-9]*\)\(b\|Kb\|Mb\) \([0-9]*\)p.*/\3/p' \
		"$KSFT_TMP/qdisc" | head -n 1)" -gt 0
	expect "times the ring was full" "$(count "$A" a0 tx0_stopped)" -eq 0
	stop "$SPAWNED"
	stop "$server"
}

# Without BQL the ring fills up and stops the queue; nothing is lost.
ring_full() {
	pair rate 20mbit tx_ring 64
	tc -n "$A" qdisc replace dev a0 root pfifo limit 10000
	no_bql
	udp count=1000 wait_ms=1500 hw=0
	expect received "$(got received)" -eq 1000
	expect late "$(got late)" -eq 0
	expect "times the ring was full" "$(count "$A" a0 tx0_stopped)" -gt 5
	expect "times it was woken" "$(count "$A" a0 tx0_woken)" -eq \
		"$(count "$A" a0 tx0_stopped)"
	expect "drops in the qdisc" \
		"$(tc -n "$A" -s qdisc show dev a0 | sed -n 's/.*dropped \([0-9]*\),.*/\1/p')" -eq 0
}

# 40 frames, 123 us each, are one interrupt after 10 ms, or several without.
moderation() {
	pair rate 100mbit
	labnic -n "$B" set b0 rx_usecs 10000
	udp count=40 gso=40
	expect interrupts "$(count "$B" b0 rx0_irqs)" -eq 1
	near "stamps, which do not wait" "$(got span_ns)" "39 * 1538 * 8 * 10" 3
	labnic -n "$B" set b0 rx_usecs 100000 rx_frames 40
	udp count=80 gso=40 gap_us=1000 wait_ms=300
	expect interrupts "$(count "$B" b0 rx0_irqs)" -eq 3
	expect received "$(got received)" -eq 80
}

# 20 packets, 123 us each, are freed by one interrupt after 100 ms; or by two of 10 packets.
tx_moderation() {
	pair rate 100mbit
	# It would bound what is in the ring.
	no_bql
	udp count=20
	expect "interrupts without moderation" "$(count "$A" a0 wire_tx_irqs)" -eq 0
	in_ns "$A" ethtool -C a0 tx-usecs 100000
	udp count=20 wait_ms=300
	expect received "$(got received)" -eq 20
	expect interrupts "$(count "$A" a0 wire_tx_irqs)" -eq 1
	in_ns "$A" ethtool -C a0 tx-frames 10
	udp count=20 wait_ms=300
	expect received "$(got received)" -eq 20
	expect interrupts "$(count "$A" a0 wire_tx_irqs)" -eq 3
	# What has left keeps its place in the ring until then.
	labnic -n "$A" set a0 tx_ring 64 tx_usecs 10000 tx_frames 0
	udp count=60 hw=0 wait_ms=500
	expect received "$(got received)" -eq 60
	expect "times the ring was full" "$(count "$A" a0 tx0_stopped)" -gt 0
	expect "times it was woken" "$(count "$A" a0 tx0_woken)" -eq \
		"$(count "$A" a0 tx0_stopped)"
}

# A ring of 8 takes 8 of what arrives before the interrupt.
rx_ring_full() {
	pair peer rx_ring 8 rx_usecs 1000
	udp count=40 gso=40
	expect received "$(got received)" -eq 8
	expect "dropped" "$(count "$B" b0 rx0_ring_full)" -eq 32
	expect "rx_missed_errors" "$(ip -n "$B" -s link show b0 |
		awk '/RX:/ { getline; print $5 }')" -eq 32
}

# Software sees host jitter, the wire's own times stay what they are.
jitter() {
	local rtt

	pair delay 1us host_dist uniform host_base 4ms host_spread 2ms \
		irq_dist exponential irq_base 8ms irq_spread 2ms tx_stamp_slots 64
	udp count=50 gap_us=2000
	expect received "$(got received)" -eq 50
	apart 1000
	# busybox has a ping of its own, which prints no deviation.
	ip netns exec "$A" ping -c 20 -i 0.05 -W 2 "$B4" | tee "$KSFT_TMP/ping"
	IFS=/ read -r -a rtt <<<"$(sed -n 's/^rtt.* = \(.*\) ms.*/\1/p' "$KSFT_TMP/ping")"
	expect "smallest RTT in ms" "${rtt[0]}" -ge 24
	# Of two uniform and two exponential times: sqrt(2 * 0.58^2 + 2 * 2^2) = 2.9 ms
	expect "deviation of the RTT in ms" "${rtt[3]}" -ge 1
}

ksft_plan 14
need_module labnic
hosts "$A" "$B"
ksft_case "propagation delay is exact" delay_exact
ksft_case "USO segments are cut and serialised exactly" serialisation
ksft_case "a line rate that drifts" drift
ksft_case "short frames are padded" padding
ksft_case "a backlog leaves without gaps" backlog_exact
ksft_case "segments are paced" pacing
ksft_case "any rate is exact, and can be changed" odd_rate
ksft_case "TSO is cut, counted per frame, and loses nothing" tso
ksft_case "BQL limits the ring, the rest waits in the qdisc" bql
ksft_case "a full ring stops the queue and loses nothing" ring_full
ksft_case "interrupts are moderated by time and by frames" moderation
ksft_case "interrupts for sent packets are moderated" tx_moderation
ksft_case "a full RX ring drops and counts" rx_ring_full
ksft_case "jitter is in software only" jitter
