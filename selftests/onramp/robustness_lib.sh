# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Cases in which On-Ramp must not cost anything, sourced by robustness.sh, busy.sh and robustness_matrix.sh
# as the first thing they do. robust_case makes one, robust_run runs it.
#
# Each run has namespaces of its own, so that no subscription, baseline or connection is
# left from the one before.
. "$(dirname "${BASH_SOURCE[0]}")/onramp_lib.sh"

# The default.
BUSY_SHARE=default

# Seconds of load.
ROBUST_SECONDS=${ROBUST_SECONDS:-6}

# Names of all cases, in order, and what is special of each.
ROBUST_CASES=
declare -A ROBUST_WHAT ROBUST_NET ROBUST_PLACE ROBUST_ARGS ROBUST_DURING ROBUST_BESIDE ROBUST_FLOWS

# robust_case NAME WHAT [KEY=WORDS]...
#	net	command that makes the hosts A and B; sets TO (default: two veths)
#	place	command that puts an onramp on a0; the qdisc's settings are appended
#	args	settings of the case, on top of the defaults
#	during	command that runs beside the load, from its start
#	beside	command that runs beside the load, and is not measured
#	flows	numbers of flows (default: 1 and 8)
robust_case() {
	local name=$1 word
	shift

	ROBUST_CASES+=" $name"
	ROBUST_WHAT[$name]=$1
	ROBUST_NET[$name]=quiet_pair
	ROBUST_PLACE[$name]=as_root
	ROBUST_FLOWS[$name]='1 8'
	shift
	for word; do
		case $word in
		net=*)		ROBUST_NET[$name]=${word#*=} ;;
		place=*)	ROBUST_PLACE[$name]=${word#*=} ;;
		args=*)		ROBUST_ARGS[$name]=${word#*=} ;;
		during=*)	ROBUST_DURING[$name]=${word#*=} ;;
		beside=*)	ROBUST_BESIDE[$name]=${word#*=} ;;
		flows=*)	ROBUST_FLOWS[$name]=${word#*=} ;;
		*)		fail "robust_case $name: $word" ;;
		esac
	done
}

ROBUST_RUNS=0

# robust_settle: wait until the CPUs have nothing to do. The kernel tests its ciphers after boot,
# which takes half a minute of a slow CPU, and half of the goodput of the first run.
robust_settle() {
	wait_for 120 robust_idle
}

# Are the CPUs idle for nine tenths of a second?
robust_idle() {
	local before after

	before=$(awk '$1 == "cpu" { print $5 + $6, $2 + $3 + $4 + $7 + $8 }' /proc/stat)
	sleep 1
	after=$(awk '$1 == "cpu" { print $5 + $6, $2 + $3 + $4 + $7 + $8 }' /proc/stat)
	awk -v a="$before" -v b="$after" 'BEGIN {
		split(a, x, " ")
		split(b, y, " ")
		exit !(y[1] - x[1] > 9 * (y[2] - x[2]))
	}'
}

# robust_run CASE FLOWS MODE: sets ROBUST_GOODPUT to the goodput of each second, Mbit/s. What tc
# says of the qdisc at the end is in $KSFT_TMP/shot.
robust_run() {
	local name=$1 flows=$2 mode=$3 pids='' pid

	# A case that failed may have left those of its last run.
	ROBUST_RUNS=$((ROBUST_RUNS + 1))
	pid=$((KSFT_RAN * 100 + ROBUST_RUNS))
	A=$(ns_name "A$pid") B=$(ns_name "B$pid") R=$(ns_name "R$pid")
	TO=$B4
	${ROBUST_NET[$name]}
	# Far hosts as well, and those that are only slow to answer.
	${ROBUST_PLACE[$name]} ${ROBUST_ARGS[$name]:-} peers all mode "$mode"
	for pid in 5001 5002; do
		spawn dcload server --netns "$B" --port $pid
		pids+=" $SPAWNED"
	done
	wait_for 10 listening "$B"
	if [ -n "${ROBUST_BESIDE[$name]:-}" ]; then
		spawn ${ROBUST_BESIDE[$name]}
		pids+=" $SPAWNED"
		sleep 0.2
	fi
	if [ -n "${ROBUST_DURING[$name]:-}" ]; then
		spawn ${ROBUST_DURING[$name]}
		pids+=" $SPAWNED"
	fi
	dcload client --netns "$A" --to "$TO" --flows "$flows" --connect-timeout 20 \
		--duration "$ROBUST_SECONDS" --rtt-sample-us 0 --interval-ms 1000 \
		--csv "$KSFT_TMP/load.csv" >"$KSFT_TMP/load.txt" 2>&1 || {
		cat "$KSFT_TMP/load.txt"
		return 1
	}
	shot
	ROBUST_GOODPUT=$(awk -F, 'NR > 1 { sum[int($1 + 0.5)] += $3 }
		END { for (i = 1; i in sum; i++) printf "%s%.2f", (i > 1 ? " " : ""), sum[i] / 1e6
		}' "$KSFT_TMP/load.csv")
	for pid in $pids; do
		stop "$pid" KILL
	done
	for pid in "$A" "$B" "$R"; do
		[ ! -e "/run/netns/$pid" ] || ns_del "$pid"
	done
}

# robust_worst OFF FINAL: of two of these lines, the lowest share in the first two seconds,
# and after them; of the same second or, after those two, of the mean if that is less.
robust_worst() {
	awk -v off="$1" -v on="$2" 'BEGIN {
		n = split(off, a, " ")
		split(on, b, " ")
		for (i = 3; i <= n; i++)
			mean += a[i] / (n - 2)
		first = rest = 9.999
		for (i = 1; i <= n; i++) {
			least = i <= 2 || a[i] < mean ? a[i] + 0 : mean
			share = least > 0 ? b[i] / least : 1
			if (i <= 2 && share < first)
				first = share
			if (i > 2 && share < rest)
				rest = share
		}
		printf "%.3f %.3f", first, rest
	}'
}

# robust_compare CASE FLOWS FIRST REST [PAUSES]: shares that each of the first two seconds has at
# least, and each one after them; pauses, at most.
robust_compare() {
	local off first rest pauses

	robust_run "$1" "$2" off
	off=$ROBUST_GOODPUT
	robust_run "$1" "$2" final
	pauses=$(shown pauses || echo 0)
	echo "measured: $pauses pauses; off   $off Mbit/s"
	echo "measured: final $ROBUST_GOODPUT Mbit/s"
	read -r first rest <<<"$(robust_worst "$off" "$ROBUST_GOODPUT")"
	expect "share in the first two seconds" "$first" -ge "$3"
	expect "share after them" "$rest" -ge "$4"
	[ $# -lt 5 ] || expect pauses "$pauses" -le "$5"
}

# case_of CASE FLOWS FIRST REST [PAUSES]
case_of() {
	ksft_case "${ROBUST_WHAT[$1]}, flows: $2" robust_compare "$@"
}

# Networks -------------------------------------------------------------------

# router_net RATE|- DELAY [LIMIT]: a router in between, which delays by that both ways, and
# limits what goes to B.
router_net() {
	local rate=''

	net_line
	TO=$V4_B
	[ "$1" = - ] || rate="rate $1"
	# shellcheck disable=SC2086
	tc -n "$R" qdisc add dev r1 root netem delay "$2" $rate limit "${3:-2000}"
	tc -n "$R" qdisc add dev r0 root netem delay "$2" limit 10000
}

# wire_net OPTION...: the test NIC, whose driver has rings and BQL.
wire_net() {
	ns_add "$A" "$B"
	labnic add a0 netns "$A" "$@" peer b0 netns "$B"
	link_up "$A" a0 "$V4_A"
	link_up "$B" b0 "$B4"
}

# Places ---------------------------------------------------------------------

as_root() {
	tc -n "$A" qdisc add dev a0 root handle 1: onramp "$@"
}

# below_mq QUEUES SETTING...
below_mq() {
	local i n=$1
	shift

	tc -n "$A" qdisc add dev a0 root handle 2: mq
	for i in $(seq "$n"); do
		tc -n "$A" qdisc replace dev a0 parent "2:$i" onramp "$@"
	done
}

# below_tbf BURST SETTING...
below_tbf() {
	local burst=$1
	shift

	tc -n "$A" qdisc add dev a0 root handle 2: tbf rate 50mbit burst "$burst" limit 1000000
	tc -n "$A" qdisc add dev a0 parent 2:1 handle 1: onramp "$@"
}

below_hfsc() {
	tc -n "$A" qdisc add dev a0 root handle 2: hfsc default 1
	tc -n "$A" class add dev a0 parent 2: classid 2:1 hfsc sc rate 50mbit ul rate 50mbit
	tc -n "$A" qdisc add dev a0 parent 2:1 handle 1: onramp "$@"
}

below_htb() {
	tc -n "$A" qdisc add dev a0 root handle 2: htb default 1
	tc -n "$A" class add dev a0 parent 2: classid 2:1 htb rate 50mbit quantum 60000
	tc -n "$A" qdisc add dev a0 parent 2:1 handle 1: onramp "$@"
}

# scheduler KIND PARENT SETTING...: of two classes at PARENT, the onramp in the first one.
# Port 5002 is the second, see other_class().
scheduler() {
	local kind=$1 parent=$2 i
	shift 2

	case $kind in
	drr|qfq)	tc -n "$A" qdisc add dev a0 parent "$parent" handle 3: "$kind" ;;
	ets)		tc -n "$A" qdisc add dev a0 parent "$parent" handle 3: ets bands 2 \
				quanta 1514 1514 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 ;;
	prio)		tc -n "$A" qdisc add dev a0 parent "$parent" handle 3: prio bands 2 \
				priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 ;;
	esac
	for i in 1 2; do
		case $kind in
		drr)	tc -n "$A" class add dev a0 parent 3: classid "3:$i" drr ;;
		qfq)	tc -n "$A" class add dev a0 parent 3: classid "3:$i" qfq weight 1 ;;
		esac
	done
	tc -n "$A" filter add dev a0 parent 3: protocol ip prio 1 u32 \
		match ip dport 5002 0xffff flowid 3:2
	tc -n "$A" filter add dev a0 parent 3: protocol ip prio 2 matchall flowid 3:1
	tc -n "$A" qdisc add dev a0 parent 3:1 handle 1: onramp "$@"
	tc -n "$A" qdisc add dev a0 parent 3:2 handle 5: pfifo limit 100
}

# shared KIND SETTING...: that, below htb
shared() {
	local kind=$1
	shift

	# qfq takes no packet that is longer than a frame of the device.
	ip -n "$A" link set a0 gso_max_size 1500 gso_max_segs 1
	tc -n "$A" qdisc add dev a0 root handle 2: htb default 1
	tc -n "$A" class add dev a0 parent 2: classid 2:1 htb rate 50mbit quantum 60000
	scheduler "$kind" 2:1 "$@"
}

# tbf_over KIND SETTING...: that, below tbf
tbf_over() {
	local kind=$1
	shift

	tc -n "$A" qdisc add dev a0 root handle 2: tbf rate 50mbit burst 20000 limit 1000000
	scheduler "$kind" 2:1 "$@"
}

# Beside the load ------------------------------------------------------------

# One flow in the other class.
other_class() {
	exec dcload client --netns "$A" --to "$B4:5002" --flows 1 --connect-timeout 20 \
		--duration 600 --rtt-sample-us 0
}

# after SECONDS SETTING...: of the onramp at the root
after() {
	sleep "$1"
	shift
	tc -n "$A" qdisc change dev a0 root onramp "$@"
}

# there_and_back RATE LONG SHORT: the way through the router is LONG from second 2 to 4
there_and_back() {
	sleep 2
	tc -n "$R" qdisc change dev r1 root netem delay "$2" rate "$1" limit 2000
	sleep 2
	tc -n "$R" qdisc change dev r1 root netem delay "$3" rate "$1" limit 2000
}

# step SECONDS: of the clock that people read, and back
step() {
	local now

	sleep 2
	now=$(date +%s)
	date -s "@$((now + $1))"
	sleep 2
	now=$(date +%s)
	date -s "@$((now - $1))"
}

# Cases ----------------------------------------------------------------------

robust_case veth "two veths; the CPU is what limits"
robust_case rate_low "\`line_rate\` is a tenth of what a veth does" args="line_rate 80mbit"
robust_case rate_high "\`line_rate\` is ten times what a veth does" args="line_rate 8gbit"
robust_case rate_then_right "\`line_rate\` is a twentieth for 2 s, then unset" \
	args="line_rate 40mbit" during="after 2 line_rate 0"
robust_case wire "the test NIC at 60 Mbit/s" net="wire_net rate 60mbit delay 20us"
robust_case wire_low "\`line_rate\` is a tenth of that" \
	net="wire_net rate 60mbit delay 20us" args="line_rate 6mbit"
robust_case wire_high "\`line_rate\` is ten times that" \
	net="wire_net rate 60mbit delay 20us" args="line_rate 600mbit"
robust_case wire_then_right "a tenth for 2 s, then unset" \
	net="wire_net rate 60mbit delay 20us" args="line_rate 6mbit" \
	during="after 2 line_rate 0"
robust_case wire_mq "below \`mq\`, with four queues" \
	net="wire_net rate 60mbit delay 20us queues 4" place="below_mq 4"
robust_case tbf_5000 "below \`tbf\`, 50 Mbit/s, burst 5000" place="below_tbf 5000"
robust_case tbf_20000 "the same, burst 20000" place="below_tbf 20000"
robust_case tbf_100000 "the same, burst 100000" place="below_tbf 100000"
robust_case htb "below \`htb\`, 50 Mbit/s" place=below_htb
robust_case hfsc "below \`hfsc\`, 50 Mbit/s" place=below_hfsc
for kind in drr qfq ets prio; do
	robust_case $kind "below \`$kind\`, which another class has a part of, and \`htb\`" \
		place="shared $kind" beside=other_class
done
for kind in drr prio; do
	robust_case tbf_$kind "below \`$kind\` the same, and \`tbf\`" place="tbf_over $kind" \
		beside=other_class
done
robust_case rtt_10us "a router, 100 Mbit/s, RTT 10 us" net="router_net 100mbit 5us"
robust_case rtt_100us "RTT 100 us" net="router_net 100mbit 50us"
robust_case rtt_1ms "RTT 1 ms" net="router_net 100mbit 500us"
robust_case rtt_10ms "RTT 10 ms" net="router_net 100mbit 5ms"
robust_case rtt_100ms "RTT 100 ms" net="router_net 100mbit 50ms"
robust_case wan "RTT 20 ms, 100 Mbit/s, a buffer of 250 packets" \
	net="router_net 100mbit 10ms 250"
robust_case route "a route that is 1 ms longer for 2 s" net="router_net 100mbit 50us" \
	during="there_and_back 100mbit 1050us 50us"
robust_case step_up "the clock of both hosts is stepped by 10 s, and back" \
	net="router_net 100mbit 50us" during="step 10"
robust_case step_down "the same, backwards first" net="router_net 100mbit 50us" during="step -10"
