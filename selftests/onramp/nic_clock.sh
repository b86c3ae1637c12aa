#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# `owd synced clock nic`: delays by the clocks of NICs, which are synchronised with each
# other and with nothing else. The test NICs' clocks differ from CLOCK_TAI by 100 s.
#
#	A a0 ---------- b0 B, with or_acker
. "$(dirname "$0")/onramp_lib.sh"

# Far above what a packet takes here, on a busy machine too.
nic='owd synced clock nic nobound line_rate 400gbit threshold 500ms ack_timeout 10s noinherit'

# CLOCK_TAI less CLOCK_MONOTONIC_RAW, about, and 100 s: too many digits for awk.
offset_s=$(($(date +%s) - $(cut -d. -f1 /proc/uptime) + 100))

pair() {
	ns_add "$A" "$B"
	labnic add a0 netns "$A" address "$MAC_A" phc_offset ${offset_s}s \
		peer b0 netns "$B" address "$MAC_B" phc_offset ${offset_s}s
	for name in "$A" "$B"; do
		ns_set "$name" ipv6/conf/all/disable_ipv6 1 \
			ipv6/conf/default/disable_ipv6 1
	done
	link_up "$A" a0 "$V4_A"
	link_up "$B" b0 $B4
}

# phc [NAMESPACE DEVICE]: the clock of that NIC, or of A's.
phc() {
	in_ns "${1:-$A}" nic_ts devices | awk -v dev="${2:-a0}" '
		$1 == "device" { here = $2 == dev }
		here && $1 == "phc" { print "phc" $2 }'
}

clock_is() {
	nic_clock_is "$(phc)" "$1"
}

# feed: from now on the NIC's clock of A has a map.
feed() {
	spawn nic_ts clock "$(phc)" feed interval 300
	FEEDER=$SPAWNED
	wait_for 20 clock_is valid
}

unfeed() {
	stop "$FEEDER"
	nic_ts clock "$(phc)" del
}

# receiver NAME VALUE...: settings of or_acker.
receiver() {
	params_set "$B" or_acker "$@"
}

# open_for_all: no OR-ACK counted, none had an effect.
open_for_all() {
	shot
	expect acks "$(shown acks)" -eq 0
	expect pauses "$(shown pauses)" -eq 0
	expect acks_implausible "$(shown acks_implausible)" -eq 0
}

# The bus is not even loaded. The receiver is acker_helper, since or_acker would load it.
no_bus() {
	refused test -d /sys/module/nic_ts
	# shellcheck disable=SC2086
	fresh $nic
	acker_start
	acker nic 1
	load_until acks_no_map 20 --to "$B4" --flows 2
	open_for_all
	acker nic 0
	load_until acks_unsynced 20 --to "$B4" --flows 2
	open_for_all
	stop "$ACKER" KILL
	# A has a subscription there.
	ns_del "$A"
	ns_del "$B"
	pair
	serve "$B"
}

no_map() {
	# shellcheck disable=SC2086
	fresh $nic
	load_until acks_no_map 20 --to "$B4" --flows 2
	open_for_all
}

# The delay is that of the wire, by a clock that has nothing to do with CLOCK_TAI.
fed() {
	# shellcheck disable=SC2086
	fresh $nic clock_error 3us
	feed
	load_until acks_below 20 --to "$B4" --flows 2
	shot
	expect pauses "$(shown pauses)" -eq 0
	expect acks_implausible "$(shown acks_implausible)" -eq 0
	expect "median delay" "$(shown owd_p50_ns)" -gt 0
	# The receiver's 2 us, 3 us, and those of the map.
	expect owd_error_ns "$(shown owd_error_ns)" -gt 5000
	echo "measured: median delay $(shown owd_p50_ns) ns, T is widened by $(
		shown owd_error_ns) ns"
	unfeed
}

# sub ATTRIBUTE: of the subscriber A, in B.
sub() {
	"$KSFT_DIR/genl_helper" -n "$B" sub "local=$B4" "remote=$V4_A" | tr ' ' '\n' |
		sed -n "s/^$1=//p"
}

# What to add to the NIC's timestamps to have those of OR-ACKs, which hide how long it has been up.
told() {
	local hidden

	receiver clock_error_ns 0
	# shellcheck disable=SC2086
	fresh $nic
	load_until acks_unsynced 20 --to "$B4" --flows 2
	expect_same "without a map" "$(sub phc_ns)" ""
	nic_ts clock "$(phc "$B" b0)" feed count 2 interval 100
	hidden=$(sub phc_ns)
	expect "the NIC's clock, less that of OR-ACKs" $((-hidden)) -gt 1000000000000
	expect "the NIC's clock, s" $((($(sub clock_ns) - hidden) / 1000000000 - offset_s)) -ge -2
	expect "the NIC's clock, s" $((($(sub clock_ns) - hidden) / 1000000000 - offset_s)) -le 2
	nic_ts clock "$(phc "$B" b0)" del
	receiver clock_error_ns 2000 stamps software
	# shellcheck disable=SC2086
	fresh $nic
	load_until acks_unsynced 20 --to "$B4" --flows 2
	expect_same "by no NIC" "$(sub phc_ns)" ""
	receiver stamps hardware
}

# By the system's clock all of that is 100 s late.
system() {
	# shellcheck disable=SC2086
	fresh $nic clock system
	feed
	load_until acks_implausible 20 --to "$B4" --flows 2
	expect acks "$(stat acks)" -eq 0
	unfeed
}

listener() {
	exec "$KSFT_DIR/genl_helper" -n "$A" listen >"$KSFT_TMP/events"
}

# A delay of 3 s is paused for, and no longer when the map is taken away, which is told once.
withdrawn() {
	local acks pauses no_map

	# shellcheck disable=SC2086
	fresh $nic max_pause 10ms
	spawn listener
	LISTENER=$SPAWNED
	wait_for 10 grep -q listening "$KSFT_TMP/events"
	feed
	labnic -n "$B" set b0 phc_offset $((offset_s + 3))s
	load_until pauses 10 --to "$B4" --flows 2
	unfeed
	shot
	acks=$(shown acks) pauses=$(shown pauses) no_map=$(shown acks_no_map)
	load_until acks_no_map $((no_map + 20)) --to "$B4" --flows 2
	shot
	expect acks "$(shown acks)" -eq "$acks"
	expect pauses "$(shown pauses)" -eq "$pauses"
	expect "events of a lost map" "$(grep -c "^dev_ntf event=5 .*ifindex=$(ip -n "$A" -o \
		link show a0 | cut -d: -f1) " "$KSFT_TMP/events")" -eq 1
	stop "$LISTENER" KILL
	labnic -n "$B" set b0 phc_offset ${offset_s}s
}

# Whoever fed it died: the map holds for ten intervals.
expired() {
	# shellcheck disable=SC2086
	fresh $nic
	nic_ts clock "$(phc)" feed count 2 interval 100
	wait_for 20 clock_is expired
	load_until acks_no_map 20 --to "$B4" --flows 2
	open_for_all
	nic_ts clock "$(phc)" del
}

# Stamps of the host's clock, however well it is synchronised, are not the NIC's.
software() {
	receiver stamps software
	# shellcheck disable=SC2086
	fresh $nic
	feed
	load_until acks_unsynced 20 --to "$B4" --flows 2
	open_for_all
	expect acks_no_map "$(stat acks_no_map)" -eq 0
	unfeed
	receiver stamps hardware
}

# Some packets have no stamp of the NIC: these say nothing, to either clock.
some() {
	labnic -n "$B" set b0 stamp_miss 50%
	# shellcheck disable=SC2086
	fresh $nic
	feed
	load_until acks_unsynced 20 --to "$B4" --flows 2
	load_until acks 20 --to "$B4" --flows 2
	# shellcheck disable=SC2086
	fresh $nic clock system
	load_until acks_unsynced 20 --to "$B4" --flows 2
	unfeed
	labnic -n "$B" set b0 stamp_miss 0
}

on_vlan() {
	local name DEV=v0

	ip -n "$A" link add link a0 name v0 type vlan id 5
	ip -n "$B" link add link b0 name v0 type vlan id 5
	link_up "$A" v0 10.77.5.1
	link_up "$B" v0 10.77.5.2
	# Of two on the way, OR-ACKs would belong to the lower one.
	tc -n "$A" qdisc del dev a0 root
	# shellcheck disable=SC2086
	fresh $nic
	load_until acks_no_map 20 --to 10.77.5.2 --flows 2
	feed
	load_until acks_below 20 --to 10.77.5.2 --flows 2
	for name in "$A" "$B"; do
		ip -n "$name" link del v0
	done
	# The clock is a0's, and goes on.
	clock_is valid
	unfeed
}

# A bond with one NIC has its clock, with two it has none.
on_bond() {
	# shellcheck disable=SC2034
	local DEV=bond0

	ip -n "$A" link add bond0 type bond mode active-backup
	ip -n "$A" link add dummy0 type dummy
	ip -n "$A" link set a0 down
	ip -n "$A" link set a0 master bond0
	ip -n "$A" addr flush dev a0
	tc -n "$A" qdisc del dev a0 root 2>/dev/null || :
	link_up "$A" bond0 "$V4_A"
	# shellcheck disable=SC2086
	fresh $nic
	feed
	load_until acks_below 20 --to "$B4" --flows 2
	expect acks_no_map "$(stat acks_no_map)" -eq 0
	ip -n "$A" link set dummy0 down
	ip -n "$A" link set dummy0 master bond0
	load_until acks_no_map 20 --to "$B4" --flows 2
	unfeed
}

ksft_plan 11
need_module sch_onramp
need_module labnic
pair
serve "$B"
ksft_case "without nic_ts nothing counts" no_bus
need_module or_acker
receiver stamps hardware clock_error_ns 2000
# On 6.1 only a process can ask for it.
in_ns "$B" nic_ts device b0 hw on
ksft_case "without a map nothing counts" no_map
ksft_case "with a map the delay is that between the NICs" fed
ksft_case "the clock of OR-ACKs is told by that of the NIC" told
ksft_case "by the system's clock it is none that can be" system
ksft_case "a map that is taken away ends all pauses" withdrawn
ksft_case "a map that gets too old does not count" expired
ksft_case "stamps of the receiver's system clock do not count" software
ksft_case "packets that the NIC did not stamp do not count" some
ksft_case "a VLAN has the clock of the NIC below it" on_vlan
ksft_case "a bond has the clock of its only NIC" on_bond
