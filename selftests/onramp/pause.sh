#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Pauses: a path that delays more than the threshold holds data back, for as long as it
# should and no longer, and in order. B is acker_helper, whose clock is A's: what it adds
# to the time of arrival is the delay.
. "$(dirname "$0")/onramp_lib.sh"

# Far above what a packet takes here, on a busy machine too.
quiet='owd synced nobound threshold 500ms ack_timeout 10s'

# transfer [OPTION...]: two connections, for a while. They leave B's program time for OR-ACKs:
# late ones find no record any more.
transfer() {
	load "$A" --to "$B4" --flows 2 --rate-limit 200mbit --duration 0.5 "$@"
}

below() {
	# shellcheck disable=SC2086
	fresh $quiet
	acker delay 0
	transfer
	# All at once: a second later the connections are no more.
	shot
	expect acks_below "$(shown acks_below)" -gt 0
	expect acks "$(shown acks)" -eq "$(shown acks_below)"
	expect peers "$(shown peers)" -eq 1
	expect connections "$(shown connections)" -ge 2
	expect pauses "$(stat pauses)" -eq 0
	expect "packets held" "$(stat held)" -eq 0
	expect "median delay" "$(stat owd_p50_ns)" -lt 500000000
	echo "measured: $(stat acks) OR-ACKs, median delay $(stat owd_p50_ns) ns"
}

# The path is 3 s long, whatever is done.
above() {
	local limit=10000000

	# shellcheck disable=SC2086
	fresh $quiet max_pause ${limit}ns
	acker delay 3000000
	transfer
	acker delay 0
	expect pauses "$(stat pauses)" -gt 5
	expect "packets held" "$(stat held)" -gt 5
	expect acks_capped "$(stat acks_capped)" -gt 5
	# A pause is over when a packet may leave; the next one begins with the OR-ACK
	# for that. On a busy host it may already be here.
	expect pause_max_ns "$(stat pause_max_ns)" -ge $limit
	expect pause_max_ns "$(stat pause_max_ns)" -le $((limit * 4))
	expect paused_ns "$(stat paused_ns)" -gt $((limit * 5))
	expect goodput "$(loaded goodput_bit_s)" -gt 0
	expect reordered "$(acked reordered)" -le "$(retransmitted "$A")"
	echo "measured: $(stat pauses) pauses, longest $(stat pause_max_ns) ns, $(
		stat held) packets held, late by $(stat held_late_ns) ns on average"
}

# A connection of 2 MB is held for a second, the qdisc's counters being exact all the
# while, and then goes on.
resumes() {
	local before

	# shellcheck disable=SC2086
	fresh $quiet max_pause 10s noinherit
	acker delay 1500000
	before=$(acked data)
	spawn_load "$A" --to "$B4" --flow-churn 1 --size 2M --duration 30
	wait_for 20 stats_reach pauses 1
	wait_for 20 stats_reach flows_throttled 1
	expect acks_paused "$(stat acks_paused)" -ge 1
	acker delay 0
	shot
	expect "packets in bands" "$(($(shown band0_pkts) + $(shown band1_pkts) +
		$(shown band2_pkts)))" -eq "$(shown qlen)"
	wait_for 30 gone "$SPAWNED"
	expect "held for more than" "$(stat pause_max_ns)" -ge 500000000
	expect "data after that" "$(($(acked data) - before))" -gt 20
	# TCP takes what is held for so long for lost, and sends it again.
	expect reordered "$(acked reordered)" -le "$(retransmitted "$A")"
	holds 0 0
}

# A threshold that is raised lets them go on at once: the 10 s are not waited for.
changed() {
	local was

	# shellcheck disable=SC2086
	fresh $quiet max_pause 10s
	acker delay 9000000
	spawn_load "$A" --to "$B4" --flow-churn 1 --size 2M --duration 60
	wait_for 20 stats_reach flows_throttled 1
	was=$(now_ms)
	change mode off
	expect connections "$(stat connections)" -eq 0
	acker delay 0
	wait_for 30 gone "$SPAWNED"
	expect "end after" $(($(now_ms) - was)) -lt 5000
	holds 0 0
}

now_ms() {
	awk '{ printf "%d\n", $1 * 1000 }' /proc/uptime
}

# Data that finds the qdisc empty waits as well.
alone() {
	# shellcheck disable=SC2086
	fresh $quiet max_pause 10s
	acker delay 9000000
	spawn_load "$A" --to "$B4" --flows 1 --rate-limit 1mbit --duration 60
	wait_for 20 stats_reach flows_throttled 1
	expect pauses "$(stat pauses)" -ge 1
	acker delay 0
	stop "$SPAWNED" KILL
}

# writes: a connection of A that sends a full packet for each line of its input.
writes() {
	# shellcheck disable=SC2016
	in_ns "$A" bash -c 'exec 3<>"/dev/tcp/$0/5001"
		while read -r; do printf %01448d 0 >&3; done' "$B4" <"$KSFT_TMP/lines"
}

# first_pause: each line is a packet, until one of them begins a pause. Then B falls silent.
first_pause() {
	local until=$((SECONDS + 20)) i

	while [ "$SECONDS" -le "$until" ]; do
		echo >&8
		for i in $(seq 60); do
			if stat pauses -ge 1; then
				acker answer 0
				return
			fi
		done
	done
	fail "no pause"
}

# Two packets of 1500 bytes in flight and 200 ms: 36 KB/s at most after a pause, 40 ms a packet.
next_is_held() {
	local before throttled=0

	# shellcheck disable=SC2086
	fresh $quiet max_pause 200ms noinherit
	acker answer 1
	rm -f "$KSFT_TMP/lines"
	mkfifo "$KSFT_TMP/lines"
	spawn writes
	exec 8>"$KSFT_TMP/lines"
	first_pause || return
	before=$(acked data)
	echo >&8
	until [ "$(acked data)" -gt "$before" ]; do :; done
	# If more of the pause's data waits, that keeps the rate.
	if stat qlen -eq 0; then
		throttled=$(stat throttled)
		echo >&8
		wait_for 5 data_is $((before + 2))
		throttled=$(($(stat throttled) - throttled))
	fi
	exec 8>&-
	stop "$SPAWNED" KILL
	[ "$throttled" -ge 1 ]
}

data_is() {
	[ "$(acked data)" -ge "$1" ]
}

# But for those that listen or wait for nothing.
nothing_is_open() {
	in_ns "$A" awk 'NR > 1 && $4 != "0A" && $4 != "06" { exit 1 }' /proc/net/tcp
}

# Data that comes right after the last packet of a pause, and finds the qdisc empty, keeps the
# rate. If the machine is too busy for that, it comes later: not eight times in a row.
after() {
	local try held=0

	ip -n "$A" route add "$B4" dev a0 initcwnd 2
	tc -n "$B" qdisc replace dev b0 root netem delay 200ms limit 10000
	acker delay 3000000
	for try in 1 2 3 4 5 6 7 8; do
		# What a killed program left sends on by itself, and would be taken for this one's data.
		wait_for 20 nothing_is_open
		if next_is_held; then
			held=$try
			break
		fi
	done
	acker answer 1
	acker delay 0
	tc -n "$B" qdisc del dev b0 root
	ip -n "$A" route del "$B4" dev a0
	expect "held in a try" "$held" -ge 1
	echo "measured: held in try $held"
}

# What B sends is acknowledged by A, whose data is paused.
pure_acks() {
	# shellcheck disable=SC2086
	fresh $quiet max_pause 10s
	acker delay 9000000
	spawn_load "$A" --to "$B4" --flows 1 --duration 60
	wait_for 20 stats_reach flows_throttled 1
	load "$B" --to $V4_A --flows 1 --duration 0.3
	expect goodput "$(loaded goodput_bit_s)" -gt 1000000
	expect "still throttled" "$(stat flows_throttled)" -ge 1
	acker delay 0
	stop "$SPAWNED" KILL
}

# B makes A send an ACK for each old segment, on a connection whose data is paused: they leave at once.
acks_pass() {
	local held packets

	# shellcheck disable=SC2086
	fresh $quiet max_pause 10s noinherit
	acker delay 9000000
	spawn_load "$A" --to "$B4" --flows 1 --duration 60
	wait_for 20 stats_reach flows_throttled 1
	held=$(stat qlen)
	packets=$(stat packets)
	expect "packets held" "$held" -ge 1
	acker segments old 500
	wait_for 5 stats_reach packets $((packets + 500))
	# TCP may have added data of its own, but none of the 500 waits.
	expect "packets held" "$(stat qlen)" -lt $((held + 100))
	expect "still throttled" "$(stat flows_throttled)" -ge 1
	acker delay 0
	stop "$SPAWNED" KILL
}

# They wait for a slow device, and flow_limit bounds them: others lose nothing.
acks_are_limited() {
	local before

	tc -n "$A" qdisc del dev a0 root 2>/dev/null || :
	tc -n "$A" qdisc add dev a0 root handle 2: tbf rate 100kbit burst 5000 limit 10000000
	# shellcheck disable=SC2086
	tc -n "$A" qdisc add dev a0 parent 2:1 handle 1: onramp $PEERS $quiet flow_limit 20 limit 400
	spawn_load "$A" --to "$B4" --flows 1 --duration 60
	wait_for 20 stats_reach connections 1
	before=$(acked data)
	wait_for 20 data_is $((before + 1))
	acker segments old 500
	expect flows_plimit "$(stat flows_plimit)" -ge 400
	expect "drops of band 1" "$(stat band1_drops)" -eq 0
	stop "$SPAWNED" KILL
	fresh
}

# A new connection does not wait for its own first OR-ACK.
inherits() {
	local before

	# Data that killed programs left would inherit, too.
	change mode off
	wait_for 30 no_connections
	# shellcheck disable=SC2086
	fresh $quiet max_pause 10ms
	acker delay 3000000
	transfer
	before=$(stat inherited)
	load "$A" --to "$B4" --flows 3 --duration 0.05
	expect inherited "$(stat inherited)" -eq $((before + 3))
	change noinherit
	load "$A" --to "$B4" --flows 3 --duration 0.05
	expect inherited "$(stat inherited)" -eq $((before + 3))
	acker delay 0
}

# Nobody knows the clocks: a baseline is learned, and what comes on top is delay.
relative() {
	fresh nobound threshold 100ms max_pause 10ms ack_timeout 10s noinherit
	acker clock mono
	acker domain 1
	acker delay 5000000
	transfer
	expect acks_learning "$(stat acks_learning)" -gt 0
	expect acks "$(stat acks)" -gt 0
	expect pauses "$(stat pauses)" -eq 0
	# The device's speed is a fiction, and so is what is taken off for it.
	expect owd_baseline_ns "$(stat owd_baseline_ns)" -ge 4900000000
	acker delay 5400000
	load "$A" --to "$B4" --flows 2 --duration 0.1
	expect pauses "$(stat pauses)" -ge 1
	# It says nothing of its clock's error.
	change owd synced
	load "$A" --to "$B4" --flows 1 --duration 0.05
	expect acks_unsynced "$(stat acks_unsynced)" -gt 0
	acker clock tai
	acker domain 0
	acker delay 0
}

# Others fill the queue, and the receiver says so: no flow waits for it.
let_go() {
	# shellcheck disable=SC2086
	fresh $quiet max_pause 10ms noinherit
	acker delay 3000000
	acker others 1
	transfer
	expect acks_let_go "$(stat acks_let_go)" -gt 5
	# At first pauses become shorter from one OR-ACK to the next.
	expect pauses "$(stat pauses)" -lt 20
	expect "without a pause" "$(stat acks_below)" -gt "$(stat acks_paused)"
	acker others 0
	transfer
	expect pauses "$(stat pauses)" -ge 20
	acker delay 0
}

# longer_by DELAY: the round trip of a flow becomes longer by that, 20 ms of it on the way there, which
# the receiver's clock adds, and the rest on the way back. What tc says then is in $KSFT_TMP/shot.
longer_by() {
	fresh owd synced threshold 5ms max_pause 10ms ack_timeout 10s noinherit
	spawn_load "$A" --to "$B4" --flows 1 --rate-limit 20mbit --duration 60
	wait_for 20 stats_reach acks 100
	expect pauses "$(stat pauses)" -eq 0
	expect acks_longer "$(stat acks_longer)" -eq 0
	tc -n "$B" qdisc replace dev b0 root netem delay "$1" limit 10000
	acker delay 20000
	wait_for 20 stats_reach acks $(($(stat acks) + 200))
	shot
	stop "$SPAWNED" KILL
	acker delay 0
	tc -n "$B" qdisc del dev b0 root
	echo "measured: $(shown acks) OR-ACKs, $(shown acks_longer) of a longer path, $(
		shown pauses) pauses, $(shown acks_limited) limited"
}

# Both ways are longer at once: that is a route, and no packet waits for it.
longer() {
	longer_by 40ms
	expect acks_longer "$(shown acks_longer)" -ge 20
	expect pauses "$(shown pauses)" -eq 0
	# The way there alone: that is a queue. An OR-ACK that is late, since B's program had no CPU, looks
	# like a longer way back for a moment.
	longer_by 20ms
	expect acks_longer "$(shown acks_longer)" -le 10
	expect pauses "$(shown pauses)" -ge 10
}

# b_drains 0|1: whether B, which has or_acker, has its senders drain their paths.
b_drains() {
	ns_set "$B" or_acker/drain "$1"
}

# On-Ramp meets connections that keep a queue of netem full, below its qdisc and the qdisc's parent. It
# takes the queue for the path, until the receiver has it drained. Batches are split there, and all
# counters are right in the end.
never_empty() {
	local name before after

	for name in a b; do
		ip -n "$(host $name)" link add link ${name}0 name vlan6 up type vlan id 6
	done
	ip -n "$A" addr add 10.77.6.1/24 dev vlan6
	ip -n "$B" addr add 10.77.6.2/24 dev vlan6
	# 13 ms at most: a path whose RTT is above 18 ms is not drained.
	ip -n "$A" link set vlan6 gso_max_size 16384
	tc -n "$A" qdisc replace dev a0 root netem delay 1us rate 200mbit limit 20
	b_drains 0
	spawn_load "$A" --to 10.77.6.2 --flows 4 --duration 600
	sleep 1
	tc -n "$A" qdisc add dev vlan6 root handle 2: tbf rate 1gbit burst 100000 limit 1000000
	tc -n "$A" qdisc add dev vlan6 parent 2:1 handle 1: onramp peers all
	DEV=vlan6 wait_for 20 stats_reach acks 200
	before=$(DEV=vlan6 stat owd_baseline_ns)
	expect drains "$(DEV=vlan6 stat drains)" -eq 0
	b_drains 1
	# After two that are void the next one comes up to 13 s later.
	DEV=vlan6 wait_for 60 stats_reach drain_proofs 1
	DEV=vlan6 wait_for 20 stats_reach acks $(($(DEV=vlan6 stat acks) + 20))
	after=$(DEV=vlan6 stat owd_baseline_ns)
	expect "queue that counts no more, us" $(((before - after) / 1000)) -gt 1000
	expect drains "$(DEV=vlan6 stat drains)" -ge "$(DEV=vlan6 stat drain_proofs)"
	echo "measured: $(DEV=vlan6 stat drains) drains, $(DEV=vlan6 stat drain_proofs) proofs, $(
		DEV=vlan6 stat drain_voids) void, baseline lower by $(((before - after) / 1000)) us"
	stop "$SPAWNED" KILL
	DEV=vlan6 wait_for 20 idle
	ABOVE=tbf DEV=vlan6 holds 0 0
	ip -n "$A" link del vlan6
	tc -n "$A" qdisc del dev a0 root
}

idle() {
	shot
	[ "$(shown qlen)" = 0 ]
}

host() {
	[ "$1" = a ] && echo "$A" || echo "$B"
}

# A receiver that always says so takes 1/64 of the time, and no more.
always_drained() {
	local drains

	fresh nobound threshold 100ms
	acker delay 0
	acker drain 1
	spawn_load "$A" --to "$B4" --flows 2 --rate-limit 200mbit --duration 60
	wait_for 20 stats_reach drains 1
	drains=$(stat drains)
	sleep 2
	shot
	# Once in 100 ms, 20 in 2 s; and one that was due.
	expect drains $(($(shown drains) - drains)) -ge 2
	expect drains $(($(shown drains) - drains)) -le 21
	# A silence may be shorter than the time between packets.
	wait_for 20 stats_reach held 1
	stop "$SPAWNED" KILL
	acker drain 0
	shot
	expect pauses "$(shown pauses)" -eq 0
	expect reordered "$(acked reordered)" -le "$(retransmitted "$A")"
	echo "measured: $(shown drains) drains, $(shown drain_proofs) proofs, $(
		shown drain_voids) void, held late by $(shown held_late_ns) ns on average"
}

# longest RATE DELAY: into LONGEST the longest packet of data that leaves by a link of that rate, bytes, in
# the last quarter of a load; of its two connections the one with shorter packets. DELAY is the
# receiver's, us.
longest() {
	local lines

	# shellcheck disable=SC2086
	fresh $quiet max_pause 10ms line_rate "$1"
	acker delay "$2"
	trace_on onramp_sent
	transfer
	trace_off "$KSFT_TMP/trace"
	acker delay 0
	lines=$(wc -l <"$KSFT_TMP/trace")
	LONGEST=$(tail -n $((lines / 4)) "$KSFT_TMP/trace" | awk "$TRACE_AWK"'/onramp_sent: / {
		len = v("end") - v("start")
		src = v("src")
		if (len > most[src]) most[src] = len
	} END {
		for (src in most)
			if (!least || most[src] < least) least = most[src]
		print least + 0
	}')
	echo "measured: $1, delay $2 us: $(stat pauses) pauses, $(stat held) packets held, longest $LONGEST"
}

# lossy COMMAND...: run it while B loses a packet of 30, but no SYN.
lossy() {
	tc -n "$B" qdisc add dev b0 clsact
	tc -n "$B" filter add dev b0 ingress protocol ip u32 match ip protocol 6 0xff \
		match u8 0x10 0x12 at 33 action pass random netrand drop 30
	"$@"
	tc -n "$B" qdisc del dev b0 clsact
}

# longest_is WHAT TEST BYTES COMMAND...: repeat the command until LONGEST is such. How large batches are, and
# when packets are lost, is chance; that all or none of eight loads is like the others is not.
longest_is() {
	local what=$1 test=$2 bytes=$3

	shift 3
	for _ in 1 2 3 4 5 6 7 8; do
		"$@"
		[ ! "$LONGEST" "$test" "$bytes" ] || return 0
	done
	expect "longest packet, $what," "$LONGEST" "$test" "$bytes"
}

# Up to 1 Gbit/s batches leave packet by packet, since the receiver's queue holds one of each sender; up to
# 10 Gbit/s where packets are lost. But not where nothing is paused.
slow_link() {
	longest_is "1 Gbit/s, pauses" -le 1448 longest 1gbit 3000000
	expect "longest packet, 1 Gbit/s, pauses" "$LONGEST" -gt 1000
	longest_is "1.001 Gbit/s, pauses" -gt 1448 longest 1001mbit 3000000
	longest_is "1 Gbit/s, no pauses" -gt 1448 longest 1gbit 0
	longest_is "10 Gbit/s, pauses and losses" -le 1448 lossy longest 10gbit 3000000
	longest_is "10.001 Gbit/s, pauses and losses" -gt 1448 lossy longest 10001mbit 3000000
	longest_is "10 Gbit/s, losses alone" -gt 1448 lossy longest 10gbit 0
}

# behind HOST DEV ADDRESS: a VLAN, whose device sends at 50 Mbit/s
behind() {
	ip -n "$1" link set "$2" up
	ip -n "$1" link add link "$2" name vlan7 up type vlan id 7
	ip -n "$1" addr add "$3/24" dev vlan7
	tc -n "$1" qdisc replace dev "$2" root tbf rate 50mbit burst 3000 limit 1000000
}

# longest_behind: into LONGEST the longest packet of the last ones that leave by the VLAN: the path is
# slow, and the link is not. A sees how slow.
longest_behind() {
	behind "$A" a1 10.77.7.1
	behind "$B" b1 10.77.7.2
	tc -n "$A" qdisc add dev vlan7 root handle 1: onramp peers all
	trace_on onramp_sent
	load "$A" --to 10.77.7.2 --flows 2 --duration 2
	trace_off "$KSFT_TMP/trace"
	RATE=$("$KSFT_DIR/genl_helper" -n "$A" path local=10.77.7.1 remote=10.77.7.2 |
		grep -o -E "\<slow_rate=[0-9]+" | cut -d= -f2)
	LONGEST=$(tail -n 200 "$KSFT_TMP/trace" | awk "$TRACE_AWK"'/onramp_sent: / {
		len = v("end") - v("start")
		if (len > most) most = len
	} END { print most + 0 }')
	echo "measured: $(loaded goodput_bit_s) bit/s, link $RATE bytes/s, $(
		DEV=vlan7 stat pauses) pauses, longest $LONGEST"
	expect "payload of 50 Mbit/s, bytes/s" "$RATE" -ge 5500000
	expect "payload of 50 Mbit/s, bytes/s" "$RATE" -le 6250000
	expect goodput "$(loaded goodput_bit_s)" -ge 40000000
	ip -n "$A" link del a1
}

# On a slow path batches leave packet by packet as well, but not where only software is in the way.
slow_path() {
	labnic add a1 netns "$A" rate 10gbit peer b1 netns "$B" rate 10gbit
	longest_behind
	expect "longest packet, by a NIC," "$LONGEST" -le 1448
	ip link add a1 netns "$A" type veth peer b1 netns "$B"
	longest_behind
	expect "longest packet, by a veth," "$LONGEST" -gt 1448
}

# paths: the RTTs of empty paths that or_port has learned or replaced, as traced so far.
paths() {
	grep "or_path: src=$V4_A dest=$B4 .* kind=or_ack " "$KSFT_TRACE/trace"
}

# path_longer: by what was seen of it, in a minute.
path_longer() {
	paths | grep -q ' before=[1-9][0-9]* rtt=[0-9]* how=seen$'
}

# kept NAME: what netlink shows of the RTT that is kept, empty_NAME.
kept() {
	"$KSFT_DIR/genl_helper" -n "$A" path "local=$V4_A" "remote=$B4" |
		grep -o -E "\<empty_$1=[0-9]+" | cut -d= -f2
}

begin_one() {
	load "$A" --to "$B4" --flows 1 --rate-limit 1mbit --duration 0.2
}

# both_longer: RTTs of both kinds, of which netlink shows the lower one. TCP's comes with connections that
# begin.
both_longer() {
	begin_one
	sleep 5
	[ "$(kept longer)" = 1 ]
}

# The RTT of a path outlives all who measured it. It is where the next ones begin, for half a minute; if
# the route has become longer since, it is replaced, and again if it becomes shorter.
recalls() {
	local low high B4=10.77.1.4

	# Other cases have seen RTTs of B's own address, some of them longer ones.
	ip -n "$B" addr add $B4/24 dev b0
	ip -n "$A" neigh replace $B4 lladdr $MAC_B dev a0 nud permanent
	trace_on
	echo 1 >"$KSFT_TRACE/events/or_port/or_path/enable"
	b_drains 1
	fresh
	spawn_load "$A" --to "$B4" --flows 1 --rate-limit 5mbit --duration 600
	wait_for 60 paths
	# A module that goes may take the trace with it.
	low=$(paths | awk "$TRACE_AWK"'{ rtt = v("rtt") } END { print rtt }')
	expect "RTT, ns" "$low" -lt 20000000
	stop "$SPAWNED" KILL
	tc -n "$A" qdisc del dev a0 root
	wait_for 20 rmmod sch_onramp
	modprobe sch_onramp
	tc -n "$B" qdisc add dev b0 root netem delay 40ms
	fresh
	spawn_load "$A" --to "$B4" --flows 1 --rate-limit 1mbit --duration 600
	wait_for 20 stats_reach acks_below 5
	expect "threshold by the path of before" "$(stat threshold_ns)" -lt 20000000
	wait_for 60 stats_reach threshold_ns 20000000
	begin_one
	expect "RTT kept, ns" "$(kept rtt_ns)" -lt 20000000
	expect "its error, ns" "$(kept error_ns)" -ge 20000000
	wait_for 180 both_longer
	path_longer
	high=$(paths | awk "$TRACE_AWK"'{ rtt = v("rtt") } END { print rtt }')
	expect "longer RTT, ns" "$high" -ge 40000000
	expect "longer RTT kept, ns" "$(kept rtt_ns)" -ge 40000000
	expect "its error, ns" "$(kept error_ns)" -lt 5000000
	expect "RTTs that were shorter" "$(kept shorter)" -eq 0
	tc -n "$B" qdisc del dev b0 root
	begin_one
	expect "shorter RTT kept, ns" "$(kept rtt_ns)" -lt 20000000
	expect "RTTs that were shorter" "$(kept shorter)" -eq 1
	expect "RTTs that were longer" "$(kept longer)" -eq 1
	trace_off "$KSFT_TMP/trace"
	stop "$SPAWNED" KILL
	tc -n "$A" qdisc del dev a0 root
	echo "measured: RTT $low ns, then $high ns"
}

# over_vlan: data over a VLAN, whose device has always the same index; into LEARNED how often its path was
# learned so far.
over_vlan() {
	local name

	if ! ip -n "$A" link show vlan6 >/dev/null 2>&1; then
		for name in a b; do
			ip -n "$(host $name)" link del vlan6 2>/dev/null || :
			ip -n "$(host $name)" link add link ${name}0 name vlan6 index 77 up type vlan id 6
		done
		ip -n "$A" addr add 10.77.6.1/24 dev vlan6
		ip -n "$B" addr add 10.77.6.2/24 dev vlan6
		DEV=vlan6 fresh
	fi
	load "$A" --to 10.77.6.2 --flows 1 --rate-limit 20mbit --duration 0.3
	LEARNED=$(grep -c "or_path: .* ifindex=77 kind=tcp before=0 " "$KSFT_TRACE/trace") || :
}

# A path stays, unless there is room for no more, or its device goes.
forgotten() {
	local of=/sys/module/or_port/parameters/max_paths

	trace_on
	echo 1 >"$KSFT_TRACE/events/or_port/or_path/enable"
	over_vlan
	over_vlan
	expect "paths learned" "$LEARNED" -eq 1
	ip -n "$A" link del vlan6
	over_vlan
	expect "paths learned, on a new device" "$LEARNED" -eq 2
	# With room for one, that which is new takes its place.
	undo "echo 16384 >$of"
	echo 1 >$of
	ip -n "$A" link del vlan6
	over_vlan
	fresh
	transfer
	over_vlan
	expect "paths learned, with room for one" "$LEARNED" -ge 4
	# None at all is no mistake.
	echo 0 >$of
	transfer
	echo 16384 >$of
	trace_off "$KSFT_TMP/trace"
	ip -n "$A" link del vlan6
	tc -n "$A" qdisc del dev a0 root
}

ksft_plan 19
ready
acker_start
serve "$B"
serve "$A"
ksft_case "a path below the threshold pauses nothing" below
ksft_case "one above it pauses data for max_pause, no longer" above
ksft_case "a pause ends, and all goes on in order" resumes
ksft_case "mode off ends all pauses at once" changed
ksft_case "data that is alone is held, too" alone
ksft_case "data that is alone keeps the rate after a pause" after
ksft_case "who sends only ACKs is not held" pure_acks
ksft_case "ACKs do not wait for data that is held" acks_pass
ksft_case "ACKs of a connection that is followed keep flow_limit" acks_are_limited
ksft_case "new connections inherit the delay of their path" inherits
ksft_case "without synchronised clocks" relative
ksft_case "no pauses where others fill the queue" let_go
ksft_case "a path that is longer, both ways at once, pauses nothing" longer
ksft_case "a receiver that always asks for drains" always_drained
ksft_case "on a slow link batches leave packet by packet" slow_link
stop "$ACKER" KILL
need_module or_acker
ksft_case "a path that never was empty is drained" never_empty
need_module labnic
ksft_case "on a slow path batches leave packet by packet" slow_path
ksft_case "the RTT of a path outlives its peer, and not its route" recalls
ksft_case "the RTT of a path goes with its device, and for others" forgotten
