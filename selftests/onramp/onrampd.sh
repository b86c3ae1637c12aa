#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the VM for selftests/onramp/onrampd: the daemons of three hosts. Each namespace has a receive
# clock of its own: or_acker adds an offset to it, by chance.
#
#	A a0 --\
#	B b0 ---- switch, a bridge
#	C c0 --/  its port to C delays all by 40 to 45 ms from the first packet on: the queue
. "$(dirname "$0")/doctor_lib.sh"

C=$(ns_name C)
S=$(ns_name S)
C4=10.77.1.3
B6=2001:db8:1a2b:3c4d:5e6f:7081:92a3:b4c7
C6=2001:db8:1a2b:3c4d:5e6f:7081:92a3:b4c8
QUEUE_NS=40000000

# 1: chronyd is there.
CHRONY=0
! command -v chronyd >/dev/null || CHRONY=1

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
	ip -n "$A" addr add $V6_A/64 dev a0 nodad
	ip -n "$B" addr add $B6/64 dev b0 nodad
	ip -n "$C" addr add $C6/64 dev c0 nodad
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

# queue [MS]: what comes to C waits, from now on; by so much at least, 40 by default.
queue() {
	tc -n "$S" qdisc replace dev sc root netem delay $((${1:-40} + 2))ms 2ms rate 1gbit limit 10000
}

no_queue() {
	tc -n "$S" qdisc del dev sc root
}

genl() {
	"$KSFT_DIR/genl_helper" -n "$A" "$@"
}

# path ADDRESS NAME: of A's path to it, as it is now.
path() {
	local from=$V4_A

	[ "$1" = "${1#*:}" ] || from=$V6_A
	genl path "local=$from" "remote=$1" | awk -v name="$2" '{
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

# daemon NAMESPACE [OPTION]...: its status is in a directory of its own.
daemon() {
	local ns=$1 run=$KSFT_TMP/run-$1

	shift
	mkdir -p "$run"
	chmod 777 "$run"
	spawn in_ns "$ns" "${ONRAMPD:-onrampd}" --key "${KEY:-$KSFT_TMP/key}" --run "$run" "$@"
}

# all_daemons: one on each host; the caller's array daemons has their numbers, in the order A, B, C.
all_daemons() {
	local ns

	for ns in "$A" "$B" "$C"; do
		daemon "$ns"; daemons+=("$SPAWNED")
	done
}

# doctor_has CODE: the doctor in A finds that, by the status of A's daemon.
doctor_has() {
	ln -sfn "$KSFT_TMP/run-$A" /run/onrampd
	$CTL -n "$A" -i 1 doctor >"$KSFT_TMP/report" 2>&1 || :
	grep -q "^WARN $1 " <(tr -s ' ' <"$KSFT_TMP/report")
}

# faults: of onrampd that the doctor finds in A.
faults() {
	$CTL -n "$A" -i 1 doctor 2>/dev/null | awk '/^[A-Z]+ +ONRAMPD_/ { print $2 }'
}

# clock_is STATE: onrampctl clock has it.
clock_is() {
	ln -sfn "$KSFT_TMP/run-$A" /run/onrampd
	onrampctl -j clock status 2>/dev/null | tr -d ' \n' | grep -q "\"set_by\":\"onrampd\",\"state\":\"$1\""
}

stops() {
	local pid

	for pid in "$@"; do
		stop "$pid" KILL
	done
}

# begins A B C: flows of A and B, which know how long an empty path is, and of C to A.
begins() {
	qdiscs
	flow "$A" "$2"; flows+=("$SPAWNED")
	flow "$B" "$1"; flows+=("$SPAWNED")
	flow "$C" "$1"; flows+=("$SPAWNED")
	wait_for 60 path_is "$2" baseline -eq 3
	queue
	flow "$A" "$3"; flows+=("$SPAWNED")
	wait_for 60 path_is "$3" acks -ge 200
	path_is "$3" owd_ns -lt $NOISE_NS || fail "a delay of $(path "$3" owd_ns) ns without onrampd"
}

# Without it A takes the queue for the path.
cold() {
	local flows=() daemons=() before after

	begins $V4_A $B4 $C4
	before=$(path $C4 baseline_ns)
	# No packet since the seed has as short a queue as the lowest round trip.
	queue 50
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
	mkdir "$KSFT_TMP/state"
	chmod 777 "$KSFT_TMP/state"
	daemon "$A" --state "$KSFT_TMP/state"; daemons+=("$SPAWNED")
	wait_for 60 path_is $C4 baseline -eq 5
	wait_for 10 clock_is telling
	expect_same "faults of onrampd" "$(faults)" ""
	wait_for 10 path_is $C4 owd_ns -ge $((QUEUE_NS - NOISE_NS)) || {
		cat "$KSFT_TMP/run-$A/status.json" "$KSFT_TMP/run-$C/status.json"
		genl dump path
		"$KSFT_DIR/genl_helper" -n "$C" dump path
		fail "no delay"
	}
	after=$(path $C4 baseline_ns)
	expect "baseline lower by, ns" $((before - after)) -ge $((QUEUE_NS - NOISE_NS))
	expect "baseline lower by, ns" $((before - after)) -le $((QUEUE_NS + NOISE_NS))
	expect_same "the path to B" "$(path $B4 baseline)" 3
	echo "measured: baseline lower by $(((before - after) / 1000)) us, a delay of $(($(path $C4 owd_ns) / 1000)) us"
	in_ns "$A" onrampd --key "$KSFT_TMP/key" --port 2991 --dry-run --json --count 1 >"$KSFT_TMP/json"
	grep -q '"baseline":"seeded"' "$KSFT_TMP/json" || fail "$(cat "$KSFT_TMP/json")"
	# Ended in good order it leaves no status, and what it knows.
	stop "${daemons[2]}"
	[ ! -e "$KSFT_TMP/run-$A/status.json" ] || fail "a status is left"
	cat "$KSFT_TMP/state/floors"
	daemon "$A"; daemons[2]=$SPAWNED
	wait_for 60 clock_is telling
	# It hangs, and is killed: the kernel forgets what it said.
	kill -STOP -- "-${daemons[2]}"
	wait_for 30 doctor_has ONRAMPD_STOPPED
	stops "${daemons[@]}"
	wait_for 30 path_is $C4 baseline -ne 5
	wait_for 10 path_is $C4 owd_ns -lt $NOISE_NS
	after=$(path $C4 baseline_ns)
	expect "baseline as before, within" $((before > after ? before - after : after - before)) -le $NOISE_NS
	# Started again, while B knows nothing: A and C alone may know how long an empty path is, but say
	# nothing that is wrong.
	daemon "$C"; daemons=("$SPAWNED")
	daemon "$A"
	wait_for 30 reports $C4
	sleep 2
	expect "baseline lower by, ns" $((before - $(path $C4 baseline_ns))) -le $((QUEUE_NS + NOISE_NS))
	stop "$SPAWNED" KILL
	# A knew, and has kept it.
	daemon "$A" --state "$KSFT_TMP/state"; daemons+=("$SPAWNED")
	wait_for 60 path_is $C4 baseline -eq 5
	expect "baseline lower by, ns" $((before - $(path $C4 baseline_ns))) -ge $((QUEUE_NS - NOISE_NS))
	# The queue is gone: the path shows it, and needs nobody.
	no_queue
	wait_for 60 path_is $C4 baseline -eq 3
	stops "${daemons[@]}" "${flows[@]}"
}

# The same over IPv6.
cold6() {
	local flows=() daemons=() before

	begins $V6_A $B6 $C6
	before=$(path $C6 baseline_ns)
	all_daemons
	wait_for 60 path_is $C6 baseline -eq 5
	expect "baseline lower by, ns" $((before - $(path $C6 baseline_ns))) -ge $((QUEUE_NS - NOISE_NS))
	no_queue
	stops "${daemons[@]}" "${flows[@]}"
}

# lower_by ADDRESS BEFORE NS: A's baseline is that much lower than before.
lower_by() {
	[ $(($2 - $(path "$1" baseline_ns))) -ge "$3" ]
}

# C sends no data: PROBEs tell the way back, and no two clocks of or_acker are needed.
one_way() {
	local flows=() daemons=() before to=10.77.1.5

	# An address that A knows no path to.
	ip -n "$C" addr add $to/24 dev c0
	qdiscs
	flow "$A" $B4; flows+=("$SPAWNED")
	flow "$B" $V4_A; flows+=("$SPAWNED")
	wait_for 60 path_is $B4 baseline -eq 3
	queue
	flow "$A" $to; flows+=("$SPAWNED")
	wait_for 60 path_is $to acks -ge 200
	before=$(path $to baseline_ns)
	all_daemons
	wait_for 60 lower_by $to "$before" $((QUEUE_NS - NOISE_NS)) || {
		cat "$KSFT_TMP/run-$A/status.json" "$KSFT_TMP/run-$C/status.json"
		genl dump path
		fail "no seed"
	}
	path_is $to baseline -eq 5 || fail "not by a seed"
	expect "baseline lower by, ns" $((before - $(path $to baseline_ns))) -le $((QUEUE_NS + NOISE_NS))
	grep -o '"probes":[0-9]*,"echoes":[0-9]*,"echoed":[0-9]*' "$KSFT_TMP/run-$C/status.json"
	no_queue
	stops "${daemons[@]}" "${flows[@]}"
}

# C says that its clock is a second ahead of what its packets show: nothing that it says is used, also
# if A's daemon begins while all that the kernel has is a seed.
liar() {
	local flows=() daemons=() before to=10.77.1.7

	ip -n "$C" addr add $to/24 dev c0
	begins $V4_A $B4 $to
	before=$(path $to baseline_ns)
	all_daemons
	wait_for 60 path_is $to baseline -eq 5
	expect_same "faults of onrampd" "$(faults)" ""
	stops "${daemons[0]}" "${daemons[2]}"
	daemon "$A"; daemons[0]=$SPAWNED
	LIE_NS=1000000000 ONRAMPD=onrampd-liar daemon "$C"; daemons[2]=$SPAWNED
	wait_for 30 doctor_has ONRAMPD_REFUTED
	# A's own PROBEs may tell a seed, which is right.
	expect "baseline lower by, ns" $((before - $(path $to baseline_ns))) -le $((QUEUE_NS + NOISE_NS))
	expect_same "the path to B" "$(path $B4 baseline)" 3
	no_queue
	stops "${daemons[@]}" "${flows[@]}"
}

# C says 100 us more than its packets show, which is less than they are late. The path to it still is
# better known than without, and all else as well. Packets that meet no queue refute it.
small_liar() {
	local flows=() daemons=() before clock to=10.77.1.6

	ip -n "$C" addr add $to/24 dev c0
	begins $V4_A $B4 $to
	before=$(path $to baseline_ns)
	daemon "$A"; daemons+=("$SPAWNED")
	daemon "$B"; daemons+=("$SPAWNED")
	wait_for 60 knows $B4
	clock=$(status_of $B4 ahead_ns)
	LIE_NS=100000 ONRAMPD=onrampd-liar daemon "$C"; daemons+=("$SPAWNED")
	wait_for 60 lower_by $to "$before" $((QUEUE_NS - NOISE_NS)) || {
		cat "$KSFT_TMP/run-$A/status.json" "$KSFT_TMP/run-$C/status.json"
		fail "no seed"
	}
	expect "baseline lower by, ns" $((before - $(path $to baseline_ns))) -le $((QUEUE_NS + NOISE_NS))
	expect_same "the path to B" "$(path $B4 baseline)" 3
	knows $B4 || {
		cat "$KSFT_TMP/run-$A/status.json" "$KSFT_TMP/run-$B/status.json"
		fail "no clock of B"
	}
	expect "the clock of B moved, ns" "$(distance "$(status_of $B4 ahead_ns)" "$clock")" -le 500000
	echo "measured: baseline lower by $(((before - $(path $to baseline_ns)) / 1000)) us, the clock of B moved by $(($(status_of $B4 ahead_ns) - clock)) ns"
	no_queue
	wait_for 60 path_is $to baseline -eq 3
	stops "${daemons[@]}" "${flows[@]}"
}

# status_of ADDRESS NAME: of A's daemon.
status_of() {
	tr '{' '\n' 2>/dev/null <"$KSFT_TMP/run-$A/status.json" | grep "\"remote\":\"$1\"" |
		sed -n "s/.*\"$2\":\([^,}]*\).*/\1/p"
}

# reports ADDRESS: A hears that host.
reports() {
	[ "$(status_of "$1" reports)" = true ]
}

# knows ADDRESS: A knows that host's clock.
knows() {
	[ -n "$(status_of "$1" ahead_ns)" ]
}

distance() {
	echo $(($1 > $2 ? $1 - $2 : $2 - $1))
}

# CLOCK_REALTIME is set by 1 ms, again and again: lines and clocks are not by it.
realtime_step() {
	local flows=() daemons=() before i

	qdiscs
	flow "$A" $B4; flows+=("$SPAWNED")
	flow "$B" $V4_A; flows+=("$SPAWNED")
	daemon "$A"; daemons+=("$SPAWNED")
	daemon "$B"; daemons+=("$SPAWNED")
	wait_for 60 knows $B4
	before=$(status_of $B4 ahead_ns)
	for i in 1 2 3 4 5 6; do
		"$KSFT_DIR/clock_helper" step 1000000
		sleep 0.5
	done
	"$KSFT_DIR/clock_helper" step -6000000
	expect_same "refuted" "$(status_of $B4 refuted)" false
	expect_same "left out" "$(status_of $B4 left_out)" false
	# A slow machine's noise is below a step.
	expect "the clock of B moved, ns" "$(distance "$(status_of $B4 ahead_ns)" "$before")" -le 500000
	echo "measured: the clock of B moved by $(($(status_of $B4 ahead_ns) - before)) ns"
	stops "${daemons[@]}" "${flows[@]}"
}

# A tells chronyd the time of B: it is that of the same kernel, so 0.
chrony() {
	local flows=() daemons=() ns

	for ns in "--discipline chrony:relative --reference $B4" "--discipline phc0 --reference $B4" \
		  "--discipline chrony:/run/x" "--reference $B4" "--reference nobody" "--reference 0.0.0.0"; do
		# shellcheck disable=SC2086
		! in_ns "$A" onrampd --key "$KSFT_TMP/key" --count 1 $ns 2>"$KSFT_TMP/error" || fail "$ns"
		grep -q 'expected' "$KSFT_TMP/error" || fail "$ns: $(cat "$KSFT_TMP/error")"
	done
	mkdir -p "$KSFT_TMP/chrony"
	chmod 755 "$KSFT_TMP/chrony"
	cat >"$KSFT_TMP/chrony.conf" <<-EOT
		refclock SOCK $KSFT_TMP/chrony/sock poll 0 refid ORMP
		port 0
		cmdport 0
		bindcmdaddress /
		log refclocks rawmeasurements
		logdir $KSFT_TMP/chrony
		pidfile $KSFT_TMP/chrony.pid
	EOT
	spawn chronyd -x -d -u root -f "$KSFT_TMP/chrony.conf" >"$KSFT_TMP/chronyd.log" 2>&1
	daemons+=("$SPAWNED")
	wait_for 10 test -S "$KSFT_TMP/chrony/sock" || fail "$(cat "$KSFT_TMP/chronyd.log")"
	qdiscs
	flow "$A" $B4; flows+=("$SPAWNED")
	flow "$B" $V4_A; flows+=("$SPAWNED")
	daemon "$A" --discipline "chrony:$KSFT_TMP/chrony/sock" --reference $B4 --max-error 0.001
	daemons+=("$SPAWNED")
	sleep 2
	# B does not answer: nothing is known, and nothing is sent.
	grep -q '"samples":0[,}]' "$KSFT_TMP/run-$A/status.json" || fail "samples without a reference"
	daemon "$B"; daemons+=("$SPAWNED")
	wait_for 30 grep -q '"samples":[4-9]' "$KSFT_TMP/run-$A/status.json" || {
		cat "$KSFT_TMP/run-$A/status.json" "$KSFT_TMP/chronyd.log"
		fail "no samples"
	}
	sed -n 's/.*\("reference":{[^}]*}\).*/\1/p' "$KSFT_TMP/run-$A/status.json"
	wait_for 10 grep -q ORMP "$KSFT_TMP/chrony/refclocks.log" || fail "$(cat "$KSFT_TMP/chronyd.log")"
	cat "$KSFT_TMP/chrony/refclocks.log"
	# Of raw samples the offset is the eighth column, s.
	awk '/ORMP/ && $8 != "-" {
		n++
		off = $8 < 0 ? -$8 : $8
		most = off > most ? off : most
	} END {
		printf "measured: %d samples at chronyd, the largest offset %.1f us\n", n, most * 1e6
		exit !n || most > 0.001
	}' "$KSFT_TMP/chrony/refclocks.log" || fail "offsets"
	stops "${daemons[@]}" "${flows[@]}"
}

# Another key: none of its messages counts.
other_key() {
	local flows=() daemons=() before

	ip -n "$C" addr add 10.77.1.4/24 dev c0
	begins $V4_A $B4 10.77.1.4
	before=$(stat seeds)
	head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$KSFT_TMP/key2"
	chmod 600 "$KSFT_TMP/key2"
	daemon "$A"; daemons+=("$SPAWNED")
	wait_for 30 doctor_has ONRAMPD_ALONE
	clock_is alone || fail "onrampctl clock"
	KEY=$KSFT_TMP/key2 daemon "$C"; daemons+=("$SPAWNED")
	wait_for 30 doctor_has ONRAMPD_KEY
	daemon "$B"; daemons+=("$SPAWNED")
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
	spawn in_ns "$A" onrampd --key "$KSFT_TMP/key" --dry-run
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

ksft_plan $((8 + CHRONY))
three_hosts
ksft_case "options, a key and privileges" options
ksft_case "a queue from the first packet on, which the kernel alone takes for the path" cold
ksft_case "a queue from the first packet on, over IPv6" cold6
ksft_case "a host that sends no data: PROBEs" one_way
ksft_case "a host that lies about its clock" liar
ksft_case "a host that lies by 100 us" small_liar
ksft_case "a host with another key" other_key
ksft_case "CLOCK_REALTIME is set by 1 ms" realtime_step
[ $CHRONY = 0 ] || ksft_case "the time of a reference for chronyd" chrony
