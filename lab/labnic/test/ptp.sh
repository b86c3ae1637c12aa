#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# linuxptp over a labnic link: a slave whose clock is off by 1 ms and 20 ppm.
. "$(dirname "$0")/labnic_lib.sh"

# Nanoseconds between the clocks of the two ends, one read right after the other;
# what CLOCK_MONOTONIC_RAW says has passed in between is taken out.
clocks_apart() {
	local a b

	read -r -a a <<<"$("$KSFT_DIR/labnic_helper" phc "$(shown "$A" a0 phc_index)")"
	read -r -a b <<<"$("$KSFT_DIR/labnic_helper" phc "$(shown "$B" b0 phc_index)")"
	echo $(((b[0] - b[1]) - (a[0] - a[1])))
}

# converges TRANSPORT
converges() {
	local apart delay
	local ptp=(ptp4l -f "$KSFT_DIR/ptp.conf" -m --tx_timestamp_timeout 200
		--step_threshold 0.00001 --first_step_threshold 0.00001)

	pair delay 5us irq_dist exponential irq_spread 20us host_dist exponential \
		host_spread 20us tx_stamp_delay 50us \
		peer phc_offset 1ms phc_drift 20ppm
	ip -n "$A" route replace 224.0.0.0/4 dev a0
	ip -n "$B" route replace 224.0.0.0/4 dev b0
	spawn ip netns exec "$A" "${ptp[@]}" "$1" -i a0 --uds_address "$KSFT_TMP/uds-a" --priority1 1
	spawn ip netns exec "$B" "${ptp[@]}" "$1" -i b0 --uds_address "$KSFT_TMP/uds-b" -s
	sleep 12
	apart=$(clocks_apart)
	cp "$KSFT_TMP/spawned" "$KSFT_TMP/ptp.log"
	while read -r pid; do
		stop "$pid"
	done <"$KSFT_TMP/pids"
	: >"$KSFT_TMP/pids"
	: >"$KSFT_TMP/spawned"
	cat "$KSFT_TMP/ptp.log"
	echo "measured: the clocks are $apart ns apart over ${1#-}"
	expect "ns apart" "$apart" -gt -1000
	expect "ns apart" "$apart" -lt 1000
	# "rms 1 max 2 freq +19998 +/- 1 delay 5000 +/- 0": the delay of the path, which
	# the jitter of the hosts has no part in
	delay=$(awk '/ rms / { for (i = 1; i < NF; i++) if ($i == "delay") n = $(i + 1) }
		END { print n }' "$KSFT_TMP/ptp.log")
	expect "path delay" "$delay" -ge 4980
	expect "path delay" "$delay" -le 5020
}

# CLOCK_REALTIME is brought to a clock that is 10 ppm fast.
phc2sys_follows() {
	local n offset

	pair phc_drift 10ppm
	n=$(shown "$A" a0 phc_index)
	phc_ctl "/dev/ptp$n" set
	spawn phc2sys -s "/dev/ptp$n" -c CLOCK_REALTIME -O 0 -R 8 -m
	sleep 6
	offset=$(awk '/offset/ { for (i = 1; i < NF; i++) if ($i == "offset") n = $(i + 1) }
		END { print n }' "$KSFT_TMP/spawned")
	tail -n 3 "$KSFT_TMP/spawned"
	stop "$SPAWNED"
	echo "measured: phc2sys is $offset ns off"
	expect "offset" "$offset" -gt -1000
	expect "offset" "$offset" -lt 1000
}

ksft_plan 3
need_module labnic
hosts "$A" "$B"
ksft_case "ptp4l synchronises over Ethernet" converges -2
ksft_case "ptp4l synchronises over UDP" converges -4
ksft_case "phc2sys follows the clock" phc2sys_follows
