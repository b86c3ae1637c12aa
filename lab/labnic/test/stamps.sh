#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Hardware stamps through SO_TIMESTAMPING, their slots and faults; the clock.
. "$(dirname "$0")/labnic_lib.sh"

software_too() {
	pair
	udp count=20 gap_us=1000 hw=0
	expect "software stamps" "$(got tx_sw)" -eq 20
	expect "hardware stamps" "$(got tx_hw)" -eq 0
	expect "RX hardware stamps" "$(got rx_hw)" -eq 0
	udp count=20 gap_us=1000 hw=1
	# Asked for both, a socket gets the better one.
	expect "hardware stamps" "$(got tx_hw)" -eq 20
	expect "software stamps" "$(got tx_sw)" -eq 0
	expect "RX hardware stamps" "$(got rx_hw)" -eq 20
	expect "counted" "$(count "$A" a0 wire_stamps)" -eq 20
	expect "counted" "$(count "$B" b0 rx0_stamps)" -eq 20
}

# Two slots, stamps take 50 ms, ten packets in a row.
slots() {
	pair tx_stamp_slots 2 tx_stamp_delay 50ms
	udp count=10
	expect "hardware stamps" "$(got tx_hw)" -eq 2
	expect "software stamps in their place" "$(got tx_sw)" -eq 8
	expect "skipped" "$(count "$A" a0 wire_stamps_skipped)" -eq 8
	labnic -n "$A" set a0 tx_stamp_slots 0
	udp count=10
	expect "hardware stamps" "$(got tx_hw)" -eq 0
	labnic -n "$A" set a0 tx_stamp_slots 10
	udp count=10
	expect "hardware stamps" "$(got tx_hw)" -eq 10
}

missing() {
	local want_tx want_rx

	pair tx_stamp_slots 1000 seed 11 stamp_miss 20% peer seed 12
	want_tx=$(hits 11 6 200000000 500)
	want_rx=$(hits 12 65 200000000 500)
	udp count=500
	expect "TX stamps" "$(got tx_hw)" -eq $((500 - want_tx))
	expect "RX stamps" "$(got rx_hw)" -eq $((500 - want_rx))
	expect "TX counted" "$(count "$A" a0 wire_stamps_missed)" -eq "$want_tx"
	expect "RX counted" "$(count "$B" b0 rx0_stamps_missed)" -eq "$want_rx"
	# Slots of stamps that never came are free again.
	labnic -n "$A" set a0 stamp_miss 0 tx_stamp_slots 10
	udp count=10
	expect "TX stamps" "$(got tx_hw)" -eq 10
}

# Late ones come after the others, and say the right time nevertheless.
late() {
	pair tx_stamp_slots 1000 seed 13 delay 3us stamp_late 30% stamp_late_delay 80ms
	udp count=100 wait_ms=300
	expect "TX stamps" "$(got tx_hw)" -eq 100
	expect "counted" "$(count "$A" a0 wire_stamps_late)" -eq "$(hits 13 7 300000000 100)"
	expect "overtaken" "$(got tx_disorder)" -gt 0
	expect "delay" "$(got owd_min_ns)" -ge 2998
	expect "delay" "$(got owd_max_ns)" -le 3002
}

disorder() {
	local n

	pair tx_stamp_slots 1000 seed 14 stamp_disorder 20% peer seed 15
	udp count=301
	n=$(count "$A" a0 wire_stamps_disordered)
	expect "TX swaps" "$n" -gt 20
	expect "TX overtaken" "$(got tx_disorder)" -eq "$n"
	n=$(count "$B" b0 rx0_stamps_disordered)
	expect "RX swaps" "$n" -eq "$(hits 15 66 200000000 300)"
	# The second of two in a row has one that is older than its own, and still newer.
	expect "RX not ascending" "$(got rx_disorder)" -le "$n"
	expect "RX not ascending" "$(got rx_disorder)" -gt $((n / 2))
}

# clock NAMESPACE DEVICE: hardware clock and CLOCK_MONOTONIC_RAW, ns.
clock() {
	"$KSFT_DIR/labnic_helper" phc "$(shown "$1" "$2" phc_index)"
}

# clock_error SECONDS: gained by a0's clock meanwhile, in ppb, to 3 digits.
clock_error() {
	local before after

	before=$(clock "$A" a0)
	sleep "$1"
	after=$(clock "$A" a0)
	echo "$before $after" | awk '{ printf "%.3f\n", (($3 - $1) - ($4 - $2)) * 1e9 / ($4 - $2) }'
}

offset() {
	local want read

	pair
	for want in 0 1000000000 -1; do
		labnic -n "$A" set a0 phc_offset "$want"
		read -r -a read <<<"$(clock "$A" a0)"
		expect "offset $want" $((read[0] - read[1])) -eq "$want"
	done
	# The clocks of the two ends are two, and stamps are of the end they are made at.
	labnic -n "$A" set a0 delay 2us phc_offset 0
	labnic -n "$B" set b0 phc_offset 1ms
	udp count=3 gap_us=1000
	expect "stamps" "$(got owd_min_ns)" -ge 1001998
	expect "stamps" "$(got owd_max_ns)" -le 1002002
}

drift() {
	local want got

	pair
	for want in 50000 -50000 1000 1000000; do
		labnic -n "$A" set a0 phc_drift "$want"
		got=$(clock_error 0.2)
		# 0.2 s, read to the nanosecond at both ends: 10 ppb
		expect "drift $want" "$got" -ge $((want - 10))
		expect "drift $want" "$got" -le $((want + 10))
		echo "measured: drift of $want ppb is $got ppb"
	done
	# From 0 at 1000 ppb/s: half of it by the middle.
	labnic -n "$A" set a0 phc_drift 0 phc_drift_change 1ppm
	got=$(clock_error 1)
	expect "drift that grows" "$got" -gt 400
	expect "drift that grows" "$got" -lt 900
}

# The clock is one like any other to linuxptp's tools.
phc_tools() {
	local n

	pair phc_drift 0
	n=$(shown "$A" a0 phc_index)
	phc_ctl "/dev/ptp$n" set 1000000 get | tee "$KSFT_TMP/phc"
	grep -q 'clock time is 1000000\.' "$KSFT_TMP/phc"
	phc_ctl "/dev/ptp$n" freq 20000
	expect "frequency" "$(clock_error 0.2)" -ge 19990
	expect "frequency" "$(clock_error 0.2)" -le 20010
	phc_ctl "/dev/ptp$n" adj 5 get
	phc_ctl "/dev/ptp$n" caps | grep -q 'maximum frequency adjustment'
	ip netns exec "$A" hwstamp_ctl -i a0 -t 1 -r 14 | tee "$KSFT_TMP/hwstamp"
	# PTP packets only is less than it does.
	ip netns exec "$A" hwstamp_ctl -i a0 | tee "$KSFT_TMP/hwstamp"
	grep -q 'rx_filter 1' "$KSFT_TMP/hwstamp"
	refused ip netns exec "$A" hwstamp_ctl -i a0 -t 2 -r 0
}

ksft_plan 8
need_module labnic
hosts "$A" "$B"
ksft_case "software stamps, and hardware stamps once they are on" software_too
ksft_case "TX stamps without a slot are skipped and counted" slots
ksft_case "missing stamps are those the seed says" missing
ksft_case "late stamps are late and right" late
ksft_case "stamps out of order" disorder
ksft_case "clocks have their offsets" offset
ksft_case "clocks have their drifts" drift
ksft_case "phc_ctl and hwstamp_ctl work on it" phc_tools
