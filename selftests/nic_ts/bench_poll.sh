#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the VM for selftests/nic_ts/bench, in virtual time, where an instruction takes 1 ns:
# bench_poll.sh FILE writes lines to FILE:
#
#	WAIT FLOWS POLLS PACKETS MEDIAN P99 MOST PART
#
# WAIT: the NIC's rx-usecs. POLLS that gave GRO more than one packet, and their PACKETS. MEDIAN, P99,
# MOST: ns from the first packet of a poll to a later one, as GRO gets them. PART: of the packets,
# in percent, where that is more than WAIT. One reading of the clock for a poll would be wrong by
# these times at most.
#
# Batches of 64 KB at 10 Gbit/s, 200 Mbit/s in all, which is what the CPU has time for.
#
#	A a0 ------------------ b0 B
#	  fq    test NIC
. "$(dirname "$0")/onramp.sh"

out=$1

# run WAIT_US FLOWS
run() {
	local wait_us=$1 flows=$2 server

	ns_add "$A" "$B"
	labnic add a0 netns "$A" rate 10gbit rx_usecs "${wait_us}us" rx_frames 64 \
		peer b0 netns "$B"
	link_up "$A" a0 "$V4_A"
	link_up "$B" b0 10.77.1.2
	tc -n "$A" qdisc replace dev a0 root fq limit 100000
	serve "$B" --cc cubic
	server=$SPAWNED
	spawn dcload client --netns "$A" --to 10.77.1.2 --cc cubic --flows "$flows" \
		--connect-first --rtt-sample-us 0 --rate-limit $((200 / flows))mbit --duration 60
	sleep 1
	# A name that does not begin with its system.
	trace_on napi_poll
	echo 1 >"$KSFT_TRACE/events/net/napi_gro_receive_entry/enable"
	sleep 0.3
	trace_off "$KSFT_TMP/trace"
	# NAPI of two devices does not run at once on one CPU. The first poll may be a part of one.
	# A packet that is not of a poll has nothing within a millisecond before it.
	awk '
		function ns(t) { split(t, part, "."); return part[1] * 1e9 + part[2] * 1000 }
		{ for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+\.[0-9]+:$/) { t = ns($i); break } }
		/napi_gro_receive_entry/ {
			if (n && t - at[n - 1] > 1e6)
				n = 0
			at[n++] = t
		}
		/ napi_poll:/ {
			if (n > 1 && whole) {
				polls++
				for (i = 0; i < n; i++)
					print at[i] - at[0]
			}
			n = 0
			whole = 1
		}
		END { print "polls", polls >"/dev/stderr" }' "$KSFT_TMP/trace" \
		2>"$KSFT_TMP/polls" | sort -n >"$KSFT_TMP/late"
	awk -v wait="$wait_us" -v flows="$flows" -v polls="$(cut -d ' ' -f 2 "$KSFT_TMP/polls")" '
		{ late[NR] = $1; if ($1 > wait * 1000) above++ }
		END { print wait, flows, polls, NR, late[int(NR / 2) + 1], late[int(NR * 0.99) + 1],
			late[NR], sprintf("%.1f", 100 * above / NR) }' \
		"$KSFT_TMP/late" | tee -a "$out"
	stop "$SPAWNED"
	stop "$server"
	ns_del "$A"
	ns_del "$B"
}

for wait_us in 8 20 50; do
	for flows in 1 8; do
		run $wait_us $flows
	done
done
