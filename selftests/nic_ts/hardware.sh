#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Hardware stamps, on the test NIC: configuration, RX, TX completions, clocks.
#
#	A a0 ---------- b0 B, each with a clock of its own
. "$(dirname "$0")/nic_ts_lib.sh"

MAC_A=02:00:00:00:00:0a
MAC_B=02:00:00:00:00:0b
B4=10.77.1.2

# pair [PARAMETER VALUE]...: a link, a0 with these; one network for all cases.
pair() {
	labnic add a0 netns "$A" address "$MAC_A" delay 20us "$@" \
		peer b0 netns "$B" address "$MAC_B"
	ip -n "$A" -batch - <<-END
		addr add $V4_A/24 dev a0
		link set a0 up
	END
	ip -n "$B" -batch - <<-END
		addr add $B4/24 dev b0
		link set b0 up
	END
	V4_B=$B4
	wait_for 5 reachable
}

reachable() {
	in_ns "$A" ping -c 1 -W 1 -q "$B4" >/dev/null
}

bus() {
	in_ns "$A" nic_ts "$@"
}

flow() {
	counts
	load "$A" --to "$B4" --cc nic_ts_test --flows 2 --duration "${1:-2}" \
		--rate-limit 20mbit
	counts
	sed 's/^/counted: /' "$KSFT_TMP/counts"
	bus devices | grep -v ' 0$'
	nothing_bad
	expect "RTTs" "$(counted ok)" -gt 5
}

config() {
	in_ns "$A" hwstamp_ctl -i a0
}

phc() {
	dev_show "$A" a0 phc
}

# On by request. Once on, the configuration may be another program's as well, so it stays.
configuration() {
	local on status=0

	refused grep 'rx_filter 1' <(config)
	bus device a0 hw on
	expect_same "hw" "$(dev_show "$A" a0 hw)" on
	expect_same "slots" "$(dev_show "$A" a0 tx_slots)" 1
	on=$(config)
	in_ns "$A" hwstamp_ctl -i a0 -t 1 -r 1
	bus device a0 hw off
	expect_same "hw" "$(dev_show "$A" a0 hw)" off
	expect_same "configuration" "$(config)" "$on"
	in_ns "$A" bash -c "echo $(ifindex "$A" a0) >$PARAMS/hardware"
	expect_same "hw" "$(dev_show "$A" a0 hw)" on
	expect_same "slots, again" "$(dev_show "$A" a0 tx_slots)" 1
	echo 0 >$PARAMS/hardware
	expect_same "configuration" "$(config)" "$on"
	refused in_ns "$A" nic_ts device lo hw on
	in_ns "$A" nic_ts device a0 hw perhaps || status=$?
	expect "status of wrong words" "$status" -eq 255
}

# ptp NAMESPACE DEVICE [OPTION]: in PTP_PID.
ptp() {
	spawn ip netns exec "$1" ptp4l -f "$KSFT_DIR/ptp.conf" -2 -i "$2" -m \
		--tx_timestamp_timeout 20 --uds_address "$KSFT_TMP/uds-$2" "${@:3}"
	PTP_PID=$SPAWNED
}

asks() {
	[ "$(dev_stat "$A" a0 TxHardwareAsked)" -gt "$1" ]
}

# The bus has the NIC's only place for TX timestamps nearly all the time; then ptp4l begins, as
# the master, or as the slave.
ptp_has_the_place() {
	local load a_pid asked yielded

	in_ns "$A" hwstamp_ctl -i a0 -t 0 -r 0
	labnic -n "$A" set a0 tx_stamp_slots 1 tx_stamp_delay 10ms
	asked=$(dev_stat "$A" a0 TxHardwareAsked)
	yielded=$(dev_stat "$A" a0 TxHardwareYielded)
	bus device a0 hw on tx-slots 1
	spawn dcload client --netns "$A" --to "$B4" --cc nic_ts_test --flows 2 \
		--rtt-sample-us 0 --rate-limit 20mbit --duration 100
	load=$SPAWNED
	wait_for 10 asks "$((asked + 100))"
	: >"$KSFT_TMP/spawned"
	# shellcheck disable=SC2086
	ptp "$A" a0 $1
	a_pid=$PTP_PID
	# shellcheck disable=SC2086
	ptp "$B" b0 $2
	sleep 4
	stop "$a_pid"
	stop "$PTP_PID"
	cat "$KSFT_TMP/spawned"
	expect "lines of a slave that has delays" "$(grep -c ' rms .* delay ' "$KSFT_TMP/spawned")" -ge 1
	expect "TX timestamps missed" "$(grep -c 'timed out' "$KSFT_TMP/spawned")" -eq 0
	expect_same "slots of the bus" "$(dev_show "$A" a0 tx_slots)" 0
	expect "yielded" $(($(dev_stat "$A" a0 TxHardwareYielded) - yielded)) -eq 1
	stop "$load"
	bus device a0 tx-slots 1
	expect_same "slots, by request" "$(dev_show "$A" a0 tx_slots)" 1
	bus device a0 hw off
	labnic -n "$A" set a0 tx_stamp_slots 16 tx_stamp_delay 0
}

# Both stamps of the NIC: the RTT is the wire's, whatever the hosts do.
both() {
	labnic -n "$A" set a0 tx_stamp_slots 16
	bus device a0 hw on tx-slots 16
	flow 2
	expect "by hardware" "$(counted of_hardware)" -gt 0
	expect "asked" "$(dev_stat "$A" a0 TxHardwareAsked)" -gt 0
	expect "stamped" "$(dev_stat "$A" a0 TxStampedByHardware)" -gt 0
	expect_same "RX source" "$(dev_show "$A" a0 rx_source)" hardware
	expect_same "TX source" "$(dev_show "$A" a0 tx_source)" hardware
	echo "measured: RTT from $(counted min_rtt_ns) ns"
	expect "RTT" "$(counted min_rtt_ns)" -ge 40000
	# The application finds no stamps of others in its socket.
	expect "errors of dcload" "$(loaded churn.failed 2>/dev/null || echo 0)" -eq 0
	bus device a0 hw off
}

# TX by software, RX by hardware: of two clocks, so never subtracted without a map.
two_domains() {
	bus device a0 hw on tx-slots 0
	flow
	expect "by hardware" "$(counted of_hardware)" -eq 0
	expect "by a map" "$(counted of_map)" -eq 0
	expect "by software" "$(counted of_software)" -eq "$(counted ok)"
	expect "RX stamps" "$(dev_stat "$A" a0 RxStampedByHardware)" -gt 10
	bus device a0 hw off
}

mapped() {
	local feeder

	bus device a0 hw on tx-slots 0
	spawn nic_ts clock "phc$(phc)" feed interval 100
	feeder=$SPAWNED
	wait_for 10 clock_is valid
	watch "$A" a0
	flow 2
	nic_ts clocks
	expect "stamps taken to the host's clock" "$(counted mapped)" -gt 10
	expect "by hardware" "$(counted of_hardware)" -eq 0
	echo "measured: $(counted of_map) of $(counted ok) RTTs by a map"
	unwatch
	stop "$feeder"
	nic_ts clock "phc$(phc)" del
	bus device a0 hw off
}

clock_is() {
	nic_clock_is "phc$(phc)" "$1"
}

# The clock jumps, either way: the map ends, nothing is subtracted across the jump, and
# hardware stamps are used again after it. By 100 s, since a busy machine can make an RTT
# of a second, but none of the 10 that nothing_bad() allows.
step() {
	local steps

	bus device a0 hw on tx-slots 16
	nic_ts clock "phc$(phc)" feed count 2 interval 100
	clock_is valid
	steps=$(dev_stat "$A" a0 ClockSteps)
	counts
	spawn dcload client --netns "$A" --to "$B4" --cc nic_ts_test --flows 2 \
		--rtt-sample-us 0 --rate-limit 20mbit --duration 100
	sleep 1
	phc_ctl "/dev/ptp$(phc)" -- adj "$1"
	wait_for 10 stepped "$steps"
	sleep 1
	stop "$SPAWNED"
	counts
	nothing_bad
	expect "RTTs" "$(counted ok)" -gt 5
	expect "by hardware" "$(counted of_hardware)" -gt 0
	refused clock_is valid
	bus device a0 hw off
}

stepped() {
	[ "$(dev_stat "$A" a0 ClockSteps)" -gt "$1" ]
}

# Stamps that are missing, late and out of order.
faults() {
	labnic -n "$A" set a0 "$@" tx_stamp_slots 16
	bus device a0 hw on tx-slots 16
	flow 2
	labnic -n "$A" set a0 stamp_miss 0 stamp_late 0 stamp_disorder 0
	bus device a0 hw off
	expect "refused for the clock" "$(counted bad_rtt)" -eq 0
}

# No slot in the NIC: no stamp, and nothing else.
no_slots() {
	local none

	labnic -n "$A" set a0 tx_stamp_slots 0
	bus device a0 hw on tx-slots 16
	none=$(dev_stat "$A" a0 TxHardwareNone)
	flow
	expect "without a stamp" $(($(dev_stat "$A" a0 TxHardwareNone) - none)) -gt 0
	expect "by hardware" "$(counted of_hardware)" -eq 0
	labnic -n "$A" set a0 tx_stamp_slots 16
	bus device a0 hw off
}

vanished() {
	local n

	bus device a0 hw on
	nic_ts clock "phc$(phc)" feed count 2 interval 100
	local n
	n=$(phc)
	spawn dcload client --netns "$A" --to "$B4" --cc nic_ts_test --flows 2 \
		--rtt-sample-us 0 --rate-limit 20mbit --duration 100
	sleep 0.5
	ip -n "$A" link del a0
	nic_ts clocks >"$KSFT_TMP/clocks"
	cat "$KSFT_TMP/clocks"
	grep -A 1 "phc$n\$" "$KSFT_TMP/clocks" | grep -q vanished
	stop "$SPAWNED"
	wait_for 20 unused
}

unused() {
	[ "$(cat /sys/module/nic_ts/refcnt)" -eq 0 ]
}

ksft_plan 13
if ! modprobe labnic; then
	echo "Bail out! the module labnic cannot be loaded"
	exit 1
fi
undo 'wait_for 20 rmmod labnic'
need_bus
ns_add "$A" "$B"
quiet "$A" "$B"
pair tx_stamp_slots 16
serve "$B"
ksft_case "configured on request, and left so" configuration
ksft_case "a ptp4l that comes later is the master" ptp_has_the_place "--priority1 1" -s
ksft_case "a ptp4l that comes later is the slave" ptp_has_the_place -s "--priority1 1"
ksft_case "RTTs of the NIC's clock" both
ksft_case "stamps of two clocks are not subtracted" two_domains
ksft_case "a map takes one to the other" mapped
ksft_case "the clock jumps ahead" step 100.0
ksft_case "the clock jumps back" step -100.0
ksft_case "stamps are missing" faults stamp_miss 30%
ksft_case "stamps are late" faults stamp_late 30% stamp_late_delay 80ms
ksft_case "stamps are out of order" faults stamp_disorder 20%
ksft_case "the NIC has no slot" no_slots
ksft_case "the device with the clock goes" vanished
