# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Helpers of the kselftests, sourced as the first thing a test does.
#
#	ksft_plan 2
#	ksft_case "what holds" function [ARG...]
#	ksft_case "what else holds" function [ARG...]
#
# A case is a function that runs in a subshell under `set -eu`: it fails with the
# first command that fails, and what it printed is shown. Namespaces,
# processes and settings are undone when the test ends, however it ends.
set -u

KSFT_DIR=$(cd "$(dirname "$0")" && pwd)
KSFT_TMP=$(mktemp -d /tmp/onramp.XXXXXX)
KSFT_ID=${KSFT_TMP##*.}
KSFT_PLAN=0
KSFT_RAN=0
KSFT_FAILED=0
KSFT_SKIP_STATUS=4
# A kernel that checks all it does, by lockdep or KCSAN, takes so many times longer.
SLOW=1
[ ! -e /proc/lockdep_stats ] && [ ! -e /sys/kernel/debug/kcsan ] || SLOW=20
# That kernel, or THOROUGH=1 in the environment, which may come from the kernel's command
# line: everything is done as often as it takes to find what is rare.
THOROUGH=${THOROUGH:-$((SLOW > 1))}
# From there as well: the name of the one case to run, "_" being any character. Others pass and do
# nothing. For selftests/mutate/run.
KSFT_ONLY=${KSFT_ONLY:-}

# Of a script that the file "cases" beside the collections names, these cases alone are there, "_"
# being any character; each has to be in the script once. See selftests/run-check.
# The same for "later", which names cases that are left out.
KSFT_CASES=()
KSFT_LATER=()
ksft_read_cases() {
	local -n list=$2
	local script pattern

	[ -e "$KSFT_DIR/../$1" ] || return 0
	while IFS=/ read -r script pattern; do
		[ "$script" != "${KSFT_DIR##*/}:${0##*/}" ] || list+=("$pattern")
	done <"$KSFT_DIR/../$1"
}
ksft_read_cases cases KSFT_CASES
ksft_read_cases later KSFT_LATER

# What a helper starts or makes in a subshell has to be known out here.
: >"$KSFT_TMP/pids"
: >"$KSFT_TMP/namespaces"
: >"$KSFT_TMP/undo"

# What a process has closed lives on while it has data to send, 100 s where the path is gone,
# and its congestion control's module with it.
ksft_forget_closed() {
	local name

	while read -r name; do
		ns_set "$name" ipv4/tcp_orphan_retries 1
	done <"$KSFT_TMP/namespaces"
}

# orphans: TCP sockets without a process, of all namespaces.
orphans() {
	awk '$1 == "TCP:" { print $5 }' /proc/net/sockstat
}

# ksft_unload MODULE: within 20 s, or when the last timer that TCP has set for such a socket is
# over.
ksft_unload() {
	wait_for 20 rmmod "$1" || { [ "$(orphans)" -gt 0 ] && wait_for 110 rmmod "$1"; }
}

ksft_cleanup() {
	local status=$? pid name line

	trap - EXIT INT TERM HUP
	# The shell reports what it finds killed.
	exec 2>/dev/null
	ksft_forget_closed
	while read -r pid; do
		kill -9 -- "-$pid"
	done <"$KSFT_TMP/pids"
	sed 's/^/netns del /' "$KSFT_TMP/namespaces" | ip -force -batch -
	while read -r line; do
		eval "$line" >/dev/null || {
			echo "# not undone, with $(orphans) sockets without a process: $line"
			status=1
		}
	done <"$KSFT_TMP/undo"
	rm -rf "$KSFT_TMP"
	if [ "$status" -eq 0 ] && [ "$KSFT_RAN" -ne "$KSFT_PLAN" ]; then
		echo "# only $KSFT_RAN of $KSFT_PLAN planned cases ran"
		status=1
	fi
	[ "$KSFT_FAILED" -eq 0 ] || status=1
	exit "$status"
}
trap ksft_cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# ksft_plan N: how many cases there are.
ksft_plan() {
	echo "KTAP version 1"
	[ "$(id -u)" -eq 0 ] || {
		echo "1..0 # SKIP needs root"
		exit "$KSFT_SKIP_STATUS"
	}
	KSFT_PLAN=$1
	KSFT_PLAN=$((${#KSFT_CASES[@]} ? ${#KSFT_CASES[@]} : KSFT_PLAN - ${#KSFT_LATER[@]}))
	echo "1..$KSFT_PLAN"
}

# ksft_matches DESCRIPTION PATTERN...: one of them.
ksft_matches() {
	local what=$1 pattern
	shift

	for pattern; do
		# shellcheck disable=SC2053
		[[ $what != ${pattern//_/?} ]] || return 0
	done
	return 1
}

# ksft_is_there DESCRIPTION: see KSFT_CASES.
ksft_is_there() {
	if [ "${#KSFT_CASES[@]}" -gt 0 ]; then
		ksft_matches "$1" "${KSFT_CASES[@]}"
	else
		! ksft_matches "$1" "${KSFT_LATER[@]}"
	fi
}

# ksft_case DESCRIPTION FUNCTION [ARG...]
ksft_case() {
	local what=$1 status line
	shift

	ksft_is_there "$what" || return 0
	# shellcheck disable=SC2053
	if [ -n "$KSFT_ONLY" ] && [[ $what != ${KSFT_ONLY//_/?} ]]; then
		KSFT_RAN=$((KSFT_RAN + 1))
		echo "ok $KSFT_RAN $what"
		return 0
	fi
	(
		set -euE
		trap 'echo "line $LINENO: $BASH_COMMAND" >&2' ERR
		"$@"
	) >"$KSFT_TMP/log" 2>&1
	status=$?
	KSFT_RAN=$((KSFT_RAN + 1))
	if [ "$status" -eq 0 ]; then
		# Measurements that a case prints are worth a line.
		while read -r line; do
			[[ $line != 'measured: '* ]] || echo "# ${line#measured: }"
		done <"$KSFT_TMP/log"
		echo "ok $KSFT_RAN $what"
		return 0
	fi
	sed 's/^/# /' "$KSFT_TMP/log" | tail -n 40
	KSFT_FAILED=$((KSFT_FAILED + 1))
	echo "not ok $KSFT_RAN $what"
	return 1
}

# ksft_skip DESCRIPTION WHY: count a case that cannot run here.
ksft_skip() {
	ksft_is_there "$1" || return 0
	KSFT_RAN=$((KSFT_RAN + 1))
	echo "ok $KSFT_RAN $1 # SKIP $2"
}

# ksft_mptcp_case DESCRIPTION FUNCTION: where the kernel has MPTCP. The others are in skips.allow.
ksft_mptcp_case() {
	if [ -e /proc/sys/net/mptcp/enabled ]; then
		ksft_case "$@"
	else
		ksft_skip "$1" "this kernel has no MPTCP"
	fi
}

# ksft_fast_case DESCRIPTION FUNCTION [ARG...]: one whose load is too much for a kernel that checks
# all it does, which skips it. Each is in selftests/skips.allow.
ksft_fast_case() {
	if [ "$SLOW" -gt 1 ]; then
		ksft_skip "$1" "its load is too much for this kernel"
	else
		ksft_case "$@"
	fi
}

fail() {
	echo "$*"
	return 1
}

# expect WHAT A OPERATOR B: a comparison of numbers, fractions allowed. Without a process
# if both are whole numbers that the shell has room for.
expect() {
	local whole='^-?[0-9]{1,18}$'

	if [[ $2 =~ $whole && $4 =~ $whole ]]; then
		[ "$2" "$3" "$4" ] || fail "$1 is '$2', not $3 '$4'"
		return
	fi
	awk -v a="$2" -v op="$3" -v b="$4" 'BEGIN {
		number = "^-?[0-9]+([.][0-9]*)?(e[+-]?[0-9]+)?$"
		if (a !~ number || b !~ number)
			exit 1
		a += 0
		b += 0
		exit !(op == "-eq" && a == b || op == "-ne" && a != b ||
		       op == "-lt" && a < b || op == "-le" && a <= b ||
		       op == "-gt" && a > b || op == "-ge" && a >= b)
	}' || fail "$1 is '$2', not $3 '$4'"
}

# show FILE: without a process.
show() {
	local lines

	mapfile -t lines <"$1"
	printf '%s\n' "${lines[@]}"
}

# expect_same WHAT GOT WANTED
expect_same() {
	[ "$2" = "$3" ] || fail "$1 is '$2', not '$3'"
}

# refused COMMAND...: the command fails.
refused() {
	if "$@"; then
		fail "this should have been refused: $*"
	fi
}

# often FEW MANY: how often to do what may go wrong once in a while.
often() {
	if [ "$THOROUGH" -eq 1 ]; then
		echo "$2"
	else
		echo "$1"
	fi
}

# calc EXPRESSION: in awk's arithmetic.
calc() {
	awk "BEGIN { printf \"%.0f\\n\", $1 }"
}

# sleep SECONDS: without a process, by waiting for a pipe that nobody writes to.
exec {KSFT_NEVER}<> <(:)
sleep() {
	read -rt "$1" -u "$KSFT_NEVER" || :
}

# wait_for SECONDS COMMAND...: poll until the command succeeds, less often with time.
wait_for() {
	local limit=$(($1 * SLOW)) end pause_ms=100 pause
	shift

	end=$((SECONDS + limit))
	until "$@"; do
		[ "$SECONDS" -le "$end" ] || {
			echo "after $limit s still not true: $*"
			return 1
		}
		printf -v pause '0.%03d' "$pause_ms"
		sleep "$pause"
		pause_ms=$((pause_ms < 1000 ? pause_ms * 5 / 4 : 1000))
	done
}

gone() {
	! kill -0 -- "-$1" 2>/dev/null
}

# spawn COMMAND...: run in the background as a process group of its own, ended
# with the test; sets SPAWNED.
spawn() {
	set -m
	"$@" >>"$KSFT_TMP/spawned" 2>&1 </dev/null &
	set +m
	SPAWNED=$!
	echo "$SPAWNED" >>"$KSFT_TMP/pids"
}

# stop PID [SIGNAL]: end a spawned process and wait until it is gone.
stop() {
	kill "-${2:-TERM}" -- "-$1" 2>/dev/null || :
	wait "$1" 2>/dev/null || :
	# 10,000 sockets take a while to close.
	wait_for 60 gone "$1"
}

# undo COMMAND: run it when the test ends.
undo() {
	echo "$1" >>"$KSFT_TMP/undo"
}

# Namespaces -----------------------------------------------------------------

# ns_name LETTER: namespaces of two tests never have the same name.
ns_name() {
	echo "$1-$KSFT_ID"
}

# ns_add NAME...
ns_add() {
	local name keys

	for name in "$@"; do
		echo "$name" >>"$KSFT_TMP/namespaces"
		ip netns add "$name"
		# A router whose link-local address is tentative asks for no neighbour, up to 2 s.
		keys=(ipv6/conf/all/accept_dad 0 ipv6/conf/default/accept_dad 0)
		# Tests keep a CPU busy, and count OR-ACKs.
		[ -n "${BUSY_SHARE:-}" ] || keys+=('?or_acker/busy_share' 0)
		"$KSFT_DIR/ksft_helper" up "$name" "${keys[@]}"
		# Tests of the paper's law, and of departure times in a qdisc.
		if [ -n "${TIMELY_PROFILE:-}" ] && ns_has "$name" ipv4/timely; then
			timely_set "$name" profile "$TIMELY_PROFILE" pacing qdisc
		fi
	done
}

# ns_has NAME DIRECTORY: are there such parameters?
ns_has() {
	in_ns "$1" test -d "/proc/sys/net/$2"
}

ns_del() {
	ip netns del "$1"
}

# in_ns NAME COMMAND...: cheaper than `ip netns exec`, which mounts /sys. Give it
# bash for a shell: busybox's would take its own ip and tc.
in_ns() {
	"$KSFT_DIR/ksft_helper" in "$@"
}

# ns_set NAME KEY VALUE [KEY VALUE]...: sysctls of a namespace, / in keys.
ns_set() {
	"$KSFT_DIR/ksft_helper" set "$@"
}

# ns_get NAME KEY
ns_get() {
	in_ns "$1" cat "/proc/sys/net/$2"
}

# params_set NAME DIRECTORY PARAMETER VALUE...: below /proc/sys/net, in the order given.
params_set() {
	local name=$1 dir=$2 args=()
	shift 2

	while [ $# -gt 0 ]; do
		args+=("$dir/$1" "$2")
		shift 2
	done
	ns_set "$name" "${args[@]}"
}

# timely_set NAME PARAMETER VALUE...: net.ipv4.timely.*
timely_set() {
	local name=$1
	shift

	params_set "$name" ipv4/timely "$@"
}

# nic_clock_is CLOCK STATE: that of its map, to be waited for.
nic_clock_is() {
	nic_ts clocks | awk -v clock="$1" -v state="$2" '
		$1 == "clock" { here = $2 == clock }
		here && $1 == "state" { found = $2 == state }
		END { exit !found }'
}

# dev_stat NAMESPACE DEVICE NAME-PATTERN: the sum of its counters of these names.
dev_stat() {
	in_ns "$1" nic_ts devices | awk -v dev="$2" -v name="^($3)\$" '
		$1 == "device" { here = $2 == dev }
		here && $1 ~ name { n += $2; found = 1 }
		END { print n + 0; exit !found }'
}

# dev_show NAMESPACE DEVICE FIELD
dev_show() {
	in_ns "$1" nic_ts devices | awk -v dev="$2" -v name="$3" '
		$1 == "device" { here = $2 == dev }
		here && $1 == name { print $2 }'
}

# proc_count FILE NAME COUNTER: of a namespace's /proc/net/FILE.
proc_count() {
	"$KSFT_DIR/ksft_helper" count "$@"
}

# names_of counter|event: of the congestion control that the collection is for, by its sources.
names_of() {
	sed -n "s/^$1 //p" "$KSFT_DIR/names"
}

# tracepoints_are SYSTEM: those of names_of, all, and no others.
tracepoints_are() {
	names_of event | sort >"$KSFT_TMP/want"
	find "/sys/kernel/tracing/events/$1" -mindepth 1 -type d | sed 's|.*/||' | sort \
		>"$KSFT_TMP/got"
	diff "$KSFT_TMP/want" "$KSFT_TMP/got"
}

# timely_count NAME COUNTER: of /proc/net/timely.
timely_count() {
	proc_count timely "$@"
}

# Modules --------------------------------------------------------------------

# need_module [MODULE]: load tcp_timely, or another one, and unload it at the end if
# it was not there.
need_module() {
	local module=${1:-tcp_timely}

	if [ ! -d "/sys/module/$module" ]; then
		modprobe "$module" || {
			echo "Bail out! the module $module cannot be loaded"
			exit 1
		}
		undo "ksft_unload $module"
	fi
}

# Load -----------------------------------------------------------------------

# serve NAME [OPTION...]: a sink in a namespace; sets SPAWNED.
serve() {
	local name=$1
	shift

	spawn dcload server --netns "$name" "$@"
	wait_for 10 listening "$name"
}

# listening NS [PORT]
listening() {
	local port=''

	[ $# -eq 1 ] || printf -v port ':%04X' "$2"
	# 0A is TCP_LISTEN. ss loads a dozen libraries first.
	[[ $(in_ns "$1" cat /proc/net/tcp /proc/net/tcp6) =~ $port\ 0+:0000\ 0A\  ]]
}

# packet_size COMMAND...: bytes per packet that leave A by a0 meanwhile, as TCP made them.
packet_size() {
	local before after

	before=$(in_ns "$A" awk '$1 == "a0:" { print $10, $11 }' /proc/net/dev)
	"$@"
	after=$(in_ns "$A" awk '$1 == "a0:" { print $10, $11 }' /proc/net/dev)
	echo "$before $after" | awk '{ printf "%d\n", ($3 - $1) / ($4 - $2) }'
}

# load NAME OPTION...: dcload client; its result is in $KSFT_TMP/load.json.
load() {
	local name=$1
	shift

	dcload client --netns "$name" --rtt-sample-us 0 \
		--json "$KSFT_TMP/load.json" "$@"
}

# spawn_load NAME OPTION...: dcload client in the background; sets SPAWNED. A sample of the RTT each
# millisecond would cost more than the data of a slow flow.
spawn_load() {
	local name=$1
	shift

	spawn dcload client --netns "$name" --rtt-sample-us 0 "$@"
}

# loaded PATH: a value of that result.
loaded() {
	dcload get "$KSFT_TMP/load.json" "$1"
}

# throughput CC ADDR WARMUP SECONDS: of one load from A, bit/s.
throughput() {
	load "$A" --to "$2" --cc "$1" --warmup "$3" --duration "$4" >&2
	loaded goodput_bit_s
}

# Memory ---------------------------------------------------------------------

# cgroup_add: one whose memory is counted; sets CGROUP.
cgroup_add() {
	mkdir "$KSFT_TMP/cgroup"
	mount -t cgroup2 none "$KSFT_TMP/cgroup"
	echo +memory >"$KSFT_TMP/cgroup/cgroup.subtree_control"
	CGROUP=$KSFT_TMP/cgroup/tenant
	mkdir "$CGROUP"
	undo "rmdir $CGROUP; umount $KSFT_TMP/cgroup"
}

# slab: bytes of kernel objects that it is charged for.
slab() {
	# Numbers of CPUs are added up every 2 s.
	sleep 3
	awk '$1 == "slab" { print $2 }' "$CGROUP/memory.stat"
}

# Tracing --------------------------------------------------------------------

KSFT_TRACE=/sys/kernel/tracing/instances/onramp-$KSFT_ID

# trace_on EVENT...: into a buffer of our own, from empty. A name begins with its system.
trace_on() {
	local event

	if [ ! -d "$KSFT_TRACE" ]; then
		mkdir "$KSFT_TRACE"
		undo "rmdir $KSFT_TRACE"
		echo 8192 >"$KSFT_TRACE/buffer_size_kb"
	fi
	echo 0 >"$KSFT_TRACE/events/enable"
	: >"$KSFT_TRACE/trace"
	for event in "$@"; do
		echo 1 >"$KSFT_TRACE/events/${event%%_*}/$event/enable"
	done
	echo 1 >"$KSFT_TRACE/tracing_on"
}

# trace_off FILE: stop, and write what was traced to FILE. Lost events fail.
trace_off() {
	local lost

	echo 0 >"$KSFT_TRACE/tracing_on"
	echo 0 >"$KSFT_TRACE/events/enable"
	grep -v '^#' "$KSFT_TRACE/trace" >"$1" || :
	lost=$(awk '/^(overrun|dropped events):/ { n += $NF } END { print n + 0 }' \
		"$KSFT_TRACE"/per_cpu/cpu*/stats)
	: >"$KSFT_TRACE/trace"
	[ "$lost" -eq 0 ] || fail "the trace buffer lost $lost events"
}

# For awk programs over a trace: v("rtt") is the value of "rtt=" in the line,
# when() the time in seconds. In few steps, each of which takes busybox long.
# shellcheck disable=SC2034
TRACE_AWK='
function value(text) {
	return text ~ /^-?[0-9]+$/ ? text + 0 : text
}
function v(key,  at, text) {
	at = index($0, " " key "=")
	if (!at)
		return ""
	text = substr($0, at + length(key) + 2)
	at = index(text, " ")
	return value(at ? substr(text, 1, at - 1) : text)
}
function when(  i) {
	for (i = 1; i <= NF; i++)
		if ($i ~ /^[0-9]+\.[0-9]+:$/)
			return substr($i, 1, length($i) - 1) + 0
}
'

# Topologies -----------------------------------------------------------------
#
# net_pair: two hosts on one link
#
#	A a0 ------------------ b0 B
#	  10.77.1.1              10.77.1.2
#	  fd77:1::  .. see V6_*
#
# net_line: two hosts, a router between them whose port towards B can be shaped
#
#	A a0 --------- r0 R r1 --------- b0 B
#	  10.77.1.1            10.77.2.2
#
# IPv6 addresses have four 32-bit words that are distinct and not zero.

# shellcheck disable=SC2034
{
A=$(ns_name A) B=$(ns_name B) R=$(ns_name R)
V4_A=10.77.1.1
V6_A=2001:db8:1a2b:3c4d:5e6f:7081:92a3:b4c1
V6_AR=2001:db8:1a2b:3c4d:5e6f:7081:92a3:b4c2
V6_BR=2001:db8:4d3c:2b1a:8170:6f5e:c1b4:a391
V6_B2=2001:db8:4d3c:2b1a:8170:6f5e:c1b4:a392
V6_B1=$V6_AR
}

# link_up NAMESPACE DEVICE [ADDRESS]...: with addresses of a /24 or a /64.
link_up() {
	local name=$1 dev=$2 address
	shift 2

	{
		for address in "$@"; do
			case $address in
			*:*)	echo "addr add $address/64 dev $dev nodad" ;;
			*)	echo "addr add $address/24 dev $dev" ;;
			esac
		done
		echo "link set $dev up"
	} | ip -n "$name" -batch -
}

# veth_pair NAMESPACE DEVICE ADDRESSES NAMESPACE DEVICE ADDRESSES: a link between two
# namespaces, up. Addresses of an end are one word, separated by blanks, or empty.
veth_pair() {
	ip link add "$2" netns "$1" type veth peer "$5" netns "$4"
	# shellcheck disable=SC2086
	link_up "$1" "$2" $3
	# shellcheck disable=SC2086
	link_up "$4" "$5" $6
}

net_pair() {
	ns_add "$A" "$B"
	veth_pair "$A" a0 "$V4_A $V6_A" "$B" b0 "10.77.1.2 $V6_B1"
	# shellcheck disable=SC2034
	V4_B=10.77.1.2 V6_B=$V6_B1
}

net_line() {
	ns_add "$A" "$R" "$B"
	ns_set "$R" ipv4/ip_forward 1 ipv6/conf/all/forwarding 1
	veth_pair "$A" a0 "$V4_A $V6_A" "$R" r0 "10.77.1.2 $V6_AR"
	veth_pair "$B" b0 "10.77.2.2 $V6_B2" "$R" r1 "10.77.2.1 $V6_BR"
	ip -n "$A" -batch - <<-END
		route add default via 10.77.1.2
		route add default via $V6_AR
	END
	ip -n "$B" -batch - <<-END
		route add default via 10.77.2.1
		route add default via $V6_BR
	END
	# shellcheck disable=SC2034
	V4_B=10.77.2.2 V6_B=$V6_B2
}

# data_lost PERCENT: the router's port drops so many of the full packets. A lost SYN comes
# without ECN when it is sent again, and a FIN after the end of the test's case.
data_lost() {
	tc -n "$R" qdisc del dev r1 root 2>/dev/null || :
	tc -n "$R" qdisc add dev r1 root handle 1: prio priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
	tc -n "$R" qdisc add dev r1 parent 1:2 netem loss "$1%" limit 1000
	tc -n "$R" filter add dev r1 parent 1: protocol ip u32 match u16 0x400 0x400 at 2 \
		flowid 1:2
}

# shape RATE_MBIT [BUFFER_BYTES]: the router's port towards B.
shape() {
	tc -n "$R" qdisc replace dev r1 root tbf rate "$1mbit" burst 65536 \
		limit "${2:-1000000}"
}

# ack_delay MS: the base RTT of the line, added where it shapes no data.
ack_delay() {
	tc -n "$R" qdisc replace dev r0 root netem delay "$1ms" limit 100000
}

# timely_slow NAME MBIT: parameters for an emulated path with a bottleneck of that
# rate behind a NIC that is a quarter faster. An emulated machine answers within
# milliseconds, not microseconds: times are those of the data center times 300
# to 500, the step is a fiftieth of the bottleneck's rate.
timely_slow() {
	local name=$1 mbit=$2

	timely_set "$name" line_rate_mbit "$((mbit * 5 / 4))" \
		t_high_ns 150000000 t_low_ns 15000000 min_rtt_ns 10000000 \
		delta_kbit "$((mbit * 20))" min_rate_kbit "$((mbit * 10))" \
		idle_restart_ns 2000000000
}
