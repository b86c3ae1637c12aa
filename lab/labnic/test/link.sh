#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# labnic as a link: settings, ethtool, carrier, VLANs, large frames.
. "$(dirname "$0")/labnic_lib.sh"

settings() {
	pair rate 25gbit delay 5us loss 0.1% phc_drift -3ppm irq_dist exponential \
		irq_spread 2us seed 7 peer delay 6us tx_ring 128
	expect rate "$(shown "$A" a0 rate_bit)" -eq 25000000000
	expect delay "$(shown "$A" a0 delay_ns)" -eq 5000
	expect loss "$(shown "$A" a0 loss_ppb)" -eq 1000000
	expect drift "$(shown "$A" a0 phc_drift_ppb)" -eq -3000
	expect_same distribution "$(shown "$A" a0 irq_dist)" exponential
	expect "the default ring" "$(shown "$A" a0 tx_ring)" -eq 512
	# The other end is the same but for what it was given, and has its own seed.
	expect "the peer's rate" "$(shown "$B" b0 rate_bit)" -eq 25000000000
	expect "the peer's delay" "$(shown "$B" b0 delay_ns)" -eq 6000
	expect "the peer's ring" "$(shown "$B" b0 tx_ring)" -eq 128
	expect "the peer's seed" "$(shown "$B" b0 seed)" -eq 8
	labnic -n "$B" set b0 delay 7us rx_usecs 20
	expect "the peer's new delay" "$(shown "$B" b0 delay_ns)" -eq 7000
	expect "this end's old delay" "$(shown "$A" a0 delay_ns)" -eq 5000
}

# One bad value, and nothing changes; the kernel says what is allowed.
all_or_nothing() {
	local setting

	pair
	labnic -n "$A" show a0 >"$KSFT_TMP/before"
	for setting in "rate 999bit" "rate 2tbit" "delay 2s" "tx_ring 8" "tx_ring 65536" \
			"rx_ring 0" "loss 1.1" "phc_drift 2000ppm" "irq_dist weird" \
			"phc off" "link 2" "rx_usecs 1500ms" "no_such 1"; do
		# shellcheck disable=SC2086
		refused labnic -n "$A" set a0 delay 1us $setting 2>"$KSFT_TMP/words"
		cat "$KSFT_TMP/words"
		[ "$(wc -l <"$KSFT_TMP/words")" -eq 1 ]
		labnic -n "$A" show a0 | diff "$KSFT_TMP/before" -
	done
	refused labnic -n "$A" set a0 delay 2s 2>"$KSFT_TMP/words"
	grep -q "delay_ns must be 0 to 1000000000" "$KSFT_TMP/words"
	refused labnic add x0 rate 1bit
	refused labnic add x0 peer x1 rate 1bit
	refused ip link show x0
	refused labnic -n "$A" set lo delay 1us
}

ethtool_says() {
	pair rate 40gbit phc off
	in_ns "$A" ethtool a0 >"$KSFT_TMP/ethtool"
	grep -q 'Speed: 40000Mb/s' "$KSFT_TMP/ethtool"
	grep -q 'Duplex: Full' "$KSFT_TMP/ethtool"
	grep -q 'Link detected: yes' "$KSFT_TMP/ethtool"
	labnic -n "$A" set a0 rate 1500kbit
	in_ns "$A" ethtool a0 | grep -q 'Speed: Unknown!'
	in_ns "$A" ethtool -i a0 | grep -qx 'driver: labnic'
	in_ns "$A" ethtool -G a0 tx 256 rx 99
	expect "TX ring" "$(shown "$A" a0 tx_ring)" -eq 256
	expect "RX ring" "$(shown "$A" a0 rx_ring)" -eq 99
	refused in_ns "$A" ethtool -G a0 tx 16
	in_ns "$A" ethtool -C a0 rx-usecs 30 rx-frames 8
	expect rx_usecs "$(shown "$A" a0 rx_usecs)" -eq 30
	expect rx_frames "$(shown "$A" a0 rx_frames)" -eq 8
	in_ns "$A" ethtool -C a0 tx-usecs 64 tx-frames 32
	expect tx_usecs "$(shown "$A" a0 tx_usecs)" -eq 64
	expect tx_frames "$(shown "$A" a0 tx_frames)" -eq 32
	labnic -n "$A" set a0 tx_usecs_told 0
	in_ns "$A" ethtool -c a0 | grep -q '^tx-usecs:[[:space:]]*0$'
	in_ns "$A" ethtool -T a0 >"$KSFT_TMP/ethtool"
	grep -q 'PTP Hardware Clock: none' "$KSFT_TMP/ethtool"
	grep -q software-transmit "$KSFT_TMP/ethtool"
	refused grep -q hardware-transmit "$KSFT_TMP/ethtool"
	expect "its clock" "$(shown "$A" a0 phc_index)" -eq -1
}

# Up only if both ends are, and plugged in.
link_state() {
	pair
	labnic -n "$B" set b0 link off
	refused carrier "$A" a0
	refused carrier "$B" b0
	refused in_ns "$A" ping -c 1 -W 1 "$B4"
	labnic -n "$B" set b0 link on
	carrier "$A" a0
	in_ns "$A" ping -c 2 -i 0.1 -W 2 "$B4"
	ip -n "$A" link set a0 down
	refused carrier "$B" b0
	ip -n "$A" link set a0 up
	carrier "$B" b0
}

# Taking the link down loses what is on the wire, and says so.
down_loses() {
	pair delay 1s
	udp count=20 hw=0 wait_ms=10
	expect "received in 10 ms" "$(got received)" -eq 0
	labnic -n "$A" set a0 link off
	labnic -n "$A" set a0 link on
	sleep 1.1
	expect "arrived later" "$(count "$B" b0 rx0_packets)" -eq 0
	expect "in order to arrive" "$(count "$A" a0 tx0_packets)" -eq 20
}

vlans() {
	pair
	ip -n "$A" link add link a0 name a0.7 type vlan id 7
	ip -n "$B" link add link b0 name b0.7 type vlan id 7
	ip -n "$A" addr add 10.77.7.1/24 dev a0.7
	ip -n "$B" addr add 10.77.7.2/24 dev b0.7
	ip -n "$A" link set a0.7 up
	ip -n "$B" link set b0.7 up
	local bytes
	in_ns "$A" ping -c 2 -i 0.1 -W 2 10.77.7.2
	# 1000 bytes of data: 8 ICMP, 20 IP, 14 Ethernet and 4 of tag on the wire
	bytes=$(count "$A" a0 tx0_bytes)
	in_ns "$A" ping -c 1 -W 2 -s 1000 10.77.7.2
	expect "bytes of a tagged frame" $(($(count "$A" a0 tx0_bytes) - bytes)) -eq 1046
}

# A packet of so many bytes there and back, whole; busybox has a ping of its own.
whole() {
	ip netns exec "$A" ping -c 1 -W 1 -M 'do' -s $(($1 - 28)) "$B4"
}

large_frames() {
	pair
	ip -n "$A" link set a0 mtu 9000
	whole 1500
	refused whole 9000
	expect "frames too long for b0" "$(count "$B" b0 rx0_too_long)" -eq 1
	ip -n "$B" link set b0 mtu 9000
	whole 9000
}

# Flows spread over the RX queues; each TX queue sends.
queues() {
	pair queues 4 peer queues 4
	serve "$B"
	load "$A" --to "$B4" --flows 32 --duration 0.3
	stop "$SPAWNED"
	for i in 0 1 2 3; do
		expect "packets in RX queue $i" "$(count "$B" b0 "rx${i}_packets")" -gt 0
		expect "packets in TX queue $i" "$(count "$A" a0 "tx${i}_packets")" -gt 0
	done
	in_ns "$B" ethtool -L b0 rx 2 tx 1
	in_ns "$B" ethtool -l b0
	in_ns "$A" ping -c 1 -W 2 "$B4"
	refused in_ns "$B" ethtool -L b0 rx 5
}

# The same addresses whenever the same links are made.
addresses() {
	local i

	for i in 1 2; do
		rmmod labnic
		modprobe labnic
		labnic add x0 peer x1
		cat /sys/class/net/x0/address /sys/class/net/x1/address >"$KSFT_TMP/mac$i"
		ip link del x0
	done
	diff "$KSFT_TMP/mac1" "$KSFT_TMP/mac2"
	expect "different addresses" "$(sort -u "$KSFT_TMP/mac1" | wc -l)" -eq 2
}

ksft_plan 9
need_module labnic
hosts "$A" "$B"
ksft_case "settings are per end and shown" settings
ksft_case "a bad setting changes nothing and is explained" all_or_nothing
ksft_case "ethtool shows and sets" ethtool_says
ksft_case "the link is up when both ends are up and plugged in" link_state
ksft_case "a link that goes down loses what is on the wire" down_loses
ksft_case "VLAN tags cost four bytes" vlans
ksft_case "jumbo frames; too long ones are dropped and counted" large_frames
ksft_case "several queues" queues
ksft_case "addresses repeat" addresses
