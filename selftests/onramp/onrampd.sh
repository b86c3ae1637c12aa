#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the VM for selftests/onramp/onrampd: the daemons of three hosts. Each namespace has a receive
# clock of its own: or_acker adds an offset to it, by chance.
#
#	A a0 --\
#	B b0 ---- switch, a bridge
#	C c0 --/  its port to C delays all by 40 to 45 ms from the first packet on: the queue
. "$(dirname "$0")/onramp_lib.sh"

C=$(ns_name C)
S=$(ns_name S)
C4=10.77.1.3
QUEUE_NS=40000000

# What noise a slow machine may have.
NOISE_NS=15000000

three_hosts() {
	local name ns

	ns_add "$A" "$B" "$C" "$S"
	ip -n "$S" link add name switch up type bridge
	for name in a b c; do
		eval "ns=\$${name^}"
		ip link add ${name}0 netns "$ns" type veth peer s$name netns "$S"
		ip -n "$S" link set s$name master switch up
		ip -n "$ns" link set ${name}0 up
	done
	ip -n "$A" addr add $V4_A/24 dev a0
	ip -n "$B" addr add $B4/24 dev b0
	ip -n "$C" addr add $C4/24 dev c0
	modprobe or_acker
	modprobe sch_onramp
	openssl rand -hex 32 >"$KSFT_TMP/key" 2>/dev/null ||
		head -c 64 /dev/urandom >"$KSFT_TMP/key"
	chmod 600 "$KSFT_TMP/key"
	for ns in "$A" "$B" "$C"; do
		serve "$ns"
	done
}

qdiscs() {
	local name ns

	for name in a b c; do
		eval "ns=\$${name^}"
		tc -n "$ns" qdisc replace dev ${name}0 root onramp peers all \
			line_rate 400gbit max_pause 1ms threshold 10s
	done
}

# queue: what comes to C waits, from now on.
queue() {
	tc -n "$S" qdisc replace dev sc root netem delay 42ms 2ms rate 1gbit limit 10000
}

no_queue() {
	tc -n "$S" qdisc del dev sc root
}

genl() {
	"$KSFT_DIR/genl_helper" -n "$A" "$@"
}

# path ADDRESS NAME: of A's path to it, as it is now.
path() {
	genl path "local=$V4_A" "remote=$1" | awk -v name="$2" '{
		for (i = 1; i <= NF; i++)
			if (index($i, name "=") == 1) print substr($i, length(name) + 2)
	}'
}

# path_is ADDRESS NAME OPERATOR VALUE
path_is() {
	local value

	value=$(path "$1" "$2") || return 1
	[ -n "$value" ] && [ "$value" "$3" "$4" ]
}

# flow FROM TO: a flow, until its killing.
flow() {
	spawn dcload client --netns "$1" --to "$2" --flows 1 --rate-limit 20mbit --duration 600
}

daemon() {
	local ns=$1

	shift
	spawn in_ns "$ns" onrampd --key "$KSFT_TMP/key" "$@"
}

stops() {
	local pid

	for pid in "$@"; do
		stop "$pid" KILL
	done
}

# Without it A takes the queue for the path.
cold() {
	local flows=() daemons=() before after

	qdiscs
	# A and B know how long an empty path is, and C sends to A.
	flow "$A" $B4; flows+=("$SPAWNED")
	flow "$B" $V4_A; flows+=("$SPAWNED")
	flow "$C" $V4_A; flows+=("$SPAWNED")
	wait_for 60 path_is $B4 baseline -eq 3
	queue
	flow "$A" $C4; flows+=("$SPAWNED")
	wait_for 60 path_is $C4 acks -ge 200
	path_is $C4 owd_ns -lt $NOISE_NS || fail "a delay of $(path $C4 owd_ns) ns without onrampd"
	before=$(path $C4 baseline_ns)
	daemon "$B"; daemons+=("$SPAWNED")
	daemon "$C"; daemons+=("$SPAWNED")
	in_ns "$A" onrampd --key "$KSFT_TMP/key" --dry-run --json --count 20 >"$KSFT_TMP/json"
	grep -q '"wanted":true' "$KSFT_TMP/json" || {
		tail -n 1 "$KSFT_TMP/json"
		genl dump sub
		"$KSFT_DIR/genl_helper" -n "$B" dump path
		"$KSFT_DIR/genl_helper" -n "$C" dump path
		in_ns "$A" cat /proc/net/snmp | grep Udp:
		fail "nothing to tell"
	}
	expect "seeds of a dry run" "$(stat seeds)" -eq 0
	daemon "$A"; daemons+=("$SPAWNED")
	wait_for 60 path_is $C4 baseline -eq 5
	wait_for 10 path_is $C4 owd_ns -ge $((QUEUE_NS - NOISE_NS))
	after=$(path $C4 baseline_ns)
	expect "baseline lower by, ns" $((before - after)) -ge $((QUEUE_NS - NOISE_NS))
	expect "baseline lower by, ns" $((before - after)) -le $((QUEUE_NS + NOISE_NS))
	expect_same "the path to B" "$(path $B4 baseline)" 3
	echo "measured: baseline lower by $(((before - after) / 1000)) us, a delay of $(($(path $C4 owd_ns) / 1000)) us"
	in_ns "$A" onrampd --key "$KSFT_TMP/key" --port 2991 --dry-run --json --count 1 >"$KSFT_TMP/json"
	grep -q '"baseline":"seeded"' "$KSFT_TMP/json" || fail "$(cat "$KSFT_TMP/json")"
	# Killed: the kernel forgets it.
	stops "${daemons[@]}"
	wait_for 30 path_is $C4 baseline -ne 5
	wait_for 10 path_is $C4 owd_ns -lt $NOISE_NS
	after=$(path $C4 baseline_ns)
	expect "baseline as before, within" $((before > after ? before - after : after - before)) -le $NOISE_NS
	# Started again.
	daemon "$A"; daemons=("$SPAWNED")
	daemon "$C"; daemons+=("$SPAWNED")
	daemon "$B"; daemons+=("$SPAWNED")
	wait_for 60 path_is $C4 baseline -eq 5
	# The queue is gone: the path shows it, and needs nobody.
	no_queue
	wait_for 60 path_is $C4 baseline -eq 3
	stops "${daemons[@]}" "${flows[@]}"
}

# Another key: none of its messages counts.
other_key() {
	local flows=() daemons=() before

	qdiscs
	flow "$A" $B4; flows+=("$SPAWNED")
	flow "$B" $V4_A; flows+=("$SPAWNED")
	flow "$C" $V4_A; flows+=("$SPAWNED")
	wait_for 60 path_is $B4 baseline -eq 3
	ip -n "$C" addr add 10.77.1.4/24 dev c0
	queue
	flow "$A" 10.77.1.4; flows+=("$SPAWNED")
	wait_for 60 path_is 10.77.1.4 acks -ge 200
	before=$(stat seeds)
	head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$KSFT_TMP/key2"
	chmod 600 "$KSFT_TMP/key2"
	daemon "$A"; daemons+=("$SPAWNED")
	daemon "$B"; daemons+=("$SPAWNED")
	spawn in_ns "$C" onrampd --key "$KSFT_TMP/key2"; daemons+=("$SPAWNED")
	sleep 3
	expect "seeds" "$(stat seeds)" -eq "$before"
	no_queue
	stops "${daemons[@]}" "${flows[@]}"
}

options() {
	chmod 644 "$KSFT_TMP/key"
	! in_ns "$A" onrampd --key "$KSFT_TMP/key" --count 1 2>"$KSFT_TMP/error" || fail "a key that all can read"
	grep -q 'mode 644' "$KSFT_TMP/error" || fail "$(cat "$KSFT_TMP/error")"
	chmod 600 "$KSFT_TMP/key"
	echo short >"$KSFT_TMP/short"
	chmod 600 "$KSFT_TMP/short"
	! in_ns "$A" onrampd --key "$KSFT_TMP/short" --count 1 2>"$KSFT_TMP/error" || fail "a short key"
	# Root is given up, and CAP_NET_ADMIN kept.
	daemon "$A" --dry-run
	wait_for 10 grep -q '^CapEff:	0000000000001000$' "/proc/$(child_of "$SPAWNED")/status"
	grep -q '^Uid:	65534	65534	65534	65534$' "/proc/$(child_of "$SPAWNED")/status" || fail "root"
	stop "$SPAWNED" KILL
}

# child_of PID: the program that a function in the background runs.
child_of() {
	local pid=$1

	while [ "$(cat "/proc/$pid/comm")" != onrampd ]; do
		pid=$(cut -d ' ' -f 1 "/proc/$pid/task/$pid/children")
		[ -n "$pid" ] || return 1
	done
	echo "$pid"
}

ksft_plan 3
three_hosts
ksft_case "options, a key and privileges" options
ksft_case "a queue from the first packet on, which the kernel alone takes for the path" cold
ksft_case "a host with another key" other_key
