#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Baselines that another program tells, by PATH_SEED: on a path that was never empty they show the
# queue, they expire, and the kernel refuses them where it knows better. B is acker_helper, by whose
# clock a packet comes 8 to 12 ms later than it does: that is the queue. One that stands still would be
# taken for the path. All that B sends takes 13 ms, as no OR-ACK arrives before its packet.
. "$(dirname "$0")/onramp_lib.sh"

QUEUE_NS=8000000

# The way back, and what noise a slow machine may have.
RETURN_NS=13000000
NOISE_NS=20000000

# What the model of the device's own wire may take off it.
LEAST_NS=7000000

# genl ARGUMENT...: of genl_helper, in A.
genl() {
	"$KSFT_DIR/genl_helper" -n "$A" "$@"
}

# field NAME: of a line on stdin.
field() {
	awk -v name="$1" '{ for (i = 1; i <= NF; i++) if (index($i, name "=") == 1) print substr($i, length(name) + 2) }'
}

# path NAME: of the path to B, as it is now; nothing if it has none.
path() {
	genl path "local=$V4_A" "remote=$B4" | field "$1"
}

# told NAME=VALUE...: a seed for it, with the clock of A as it is now.
told() {
	local line

	line=$(genl path "local=$V4_A" "remote=$B4")
	genl seed "local=$V4_A" "remote=$B4" "domain=$(field domain <<<"$line")" baseline_ns=0 \
		"baseline_at_ns=$(field baseline_at_ns <<<"$line")" baseline_slope=0 \
		baseline_error_ns=1000000 seed_left_ns=10000000000 "$@"
}

# cold DOMAIN: a flow begins while there is a queue, and nobody has seen the path empty. A domain of its own:
# what was known of the path is forgotten.
cold() {
	fresh nobound threshold 100ms ack_timeout 10s noinherit
	acker clock mono
	acker domain "$1"
	acker delay $((QUEUE_NS / 1000))
	acker wander 4000
	spawn_load "$A" --to "$B4" --flows 1 --rate-limit 20mbit --duration 60
	wait_for 20 stats_reach acks 50
}

# says TEXT SEED...: it is refused, and so is counted or not.
says() {
	local text=$1 got

	shift
	got=$(told "$@") || :
	[[ "$got" == "error $text"* ]] || fail "$*: expected an error $text..., got $got"
}

seeded() {
	[ "$(path baseline)" = 5 ]
}

not_seeded() {
	[ "$(path baseline)" != 5 ]
}

# delay_is OPERATOR NS: that of the path's last OR-ACK.
delay_is() {
	[ "$(path owd_ns)" "$1" "$2" ]
}

# Without it the lowest delay counts as that of the empty path.
shows_queue() {
	cold 1
	expect "baseline, ns" "$(path baseline_ns)" -ge $LEAST_NS
	expect "seeds" "$(stat seeds)" -eq 0
	expect_same "seed left" "$(path seed_left_ns)" ""
	delay_is -lt $LEAST_NS || fail "a delay of $(path owd_ns) ns"
	# The delay of the empty path is above 0, the baseline that is told.
	told
	wait_for 5 seeded
	wait_for 5 delay_is -ge $LEAST_NS
	expect "seeds" "$(stat seeds)" -eq 1
	expect "seed left, ns" "$(path seed_left_ns)" -gt 1000000000
	expect "error, ns" "$(path baseline_error_ns)" -ge 1000000
	# Others follow while it holds, higher ones too.
	told baseline_ns=1000000
	expect "seeds" "$(stat seeds)" -eq 2
	echo "measured: $(path owd_ns) ns above the seed"
	stop "$SPAWNED" KILL
}

# A program that was killed tells no more.
expires() {
	cold 2
	told seed_left_ns=1000000000
	wait_for 5 seeded
	wait_for 20 not_seeded
	wait_for 5 delay_is -lt $LEAST_NS
	expect "baseline, ns" "$(path baseline_ns)" -ge $LEAST_NS
	expect_same "seed left" "$(path seed_left_ns)" ""
	stop "$SPAWNED" KILL
}

# A packet below it shows that it was too high.
lowered() {
	cold 3
	told baseline_ns=$((LEAST_NS - 500000))
	acker delay 1000
	acker wander 0
	wait_for 5 lower_than 5000000
	# A level delay would be a longer route.
	acker wander 4000
	acker delay $((QUEUE_NS / 1000))
	wait_for 5 delay_is -ge 5000000
	stop "$SPAWNED" KILL
}

lower_than() {
	[ "$(path baseline_ns)" -lt "$1" ]
}

refuses() {
	local before seeds

	cold 4
	seeds=$(stat seeds)
	before=$(path baseline_ns)
	says -17 baseline_ns=1000000000
	# OR-ACKs show that a packet takes longer.
	says -17 baseline_ns=-1000000000
	expect "no baseline is below, ns" "$(path baseline_least_ns)" -ge -$((RETURN_NS + NOISE_NS))
	expect "no baseline is below, ns" "$(path baseline_least_ns)" -lt 0
	says -116 "domain=$((($(path domain) + 1) % 256))"
	says -34 baseline_slope=858994
	says -34 baseline_at_ns=1
	says -34 baseline_error_ns=10000001
	says -34 seed_left_ns=10000000001
	says -34 seed_left_ns=0
	expect_same "an unknown path" "$(genl seed "local=$V4_A" remote=10.77.1.9 domain=0 baseline_ns=0 baseline_at_ns=0 \
		baseline_slope=0 baseline_error_ns=0 seed_left_ns=1000000 | cut -d ' ' -f 2)" -2
	expect_same "only its name" "$(genl seed "local=$V4_A" "remote=$B4" | cut -d ' ' -f 2)" -22
	expect_same "no privilege" "$("$KSFT_DIR/genl_helper" -n "$A" -u seed "local=$V4_A" "remote=$B4" |
		cut -d ' ' -f 2)" -1
	# Those three that the path itself refused.
	expect "refused seeds" "$(stat seeds_refused)" -eq 3
	expect "seeds" "$(stat seeds)" -eq "$seeds"
	expect "baseline after all, ns" "$(path baseline_ns)" -ge $((before - 1000000))
	stop "$SPAWNED" KILL
	fresh owd synced nobound threshold 500ms ack_timeout 10s
	acker clock tai
	load "$A" --to "$B4" --flows 1 --rate-limit 20mbit --duration 0.1
	expect_same "a path with owd synced" "$(path baseline_ns)" ""
}

ksft_plan 4
ready
serve "$B"
acker_start
tc -n "$B" qdisc replace dev b0 root netem delay 13ms limit 10000
ksft_case "a seed shows the queue that was there from the first packet" shows_queue
ksft_case "a seed expires" expires
ksft_case "a packet below a seed lowers it" lowered
ksft_case "seeds that are wrong are refused" refuses
