# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the tests of sch_onramp share, sourced as the first thing they do.
#
#	A a0 ------------------ b0 B
#	  10.77.1.1              10.77.1.2
#
# Nothing but what a test sends is on the wire: no IPv6, no ARP.
. "$(dirname "${BASH_SOURCE[0]}")/onramp.sh"

MAC_A=02:00:00:00:00:0a
MAC_B=02:00:00:00:00:0b
B4=10.77.1.2

# The device of A whose qdisc is tested.
DEV=a0

# A machine that is busy may take its time for what is near.
PEERS=${PEERS-peers all}

# quiet_pair [QUEUES]: the two hosts, with so many queues each.
quiet_pair() {
	local name cpus queues="numtxqueues ${1:-1} numrxqueues ${1:-1}"

	ns_add "$A" "$B"
	for name in "$A" "$B"; do
		ns_set "$name" ipv6/conf/all/disable_ipv6 1 \
			ipv6/conf/default/disable_ipv6 1
	done
	# shellcheck disable=SC2086
	ip link add a0 netns "$A" address $MAC_A $queues type veth \
		peer b0 netns "$B" address $MAC_B $queues
	ip -n "$A" -batch - <<-END
		addr add $V4_A/24 dev a0
		link set a0 up
		neigh replace $B4 lladdr $MAC_B dev a0 nud permanent
	END
	ip -n "$B" -batch - <<-END
		addr add $B4/24 dev b0
		link set b0 up
		neigh replace $V4_A lladdr $MAC_A dev b0 nud permanent
	END
	# veth puts packets into the backlog of the CPU that sends them, and two CPUs reorder a
	# flow that the qdisc had in order. RPS: one backlog for all.
	read -r cpus </sys/devices/system/cpu/online
	[ "$cpus" != 0 ] || return 0
	ip netns exec "$A" sh -c 'echo 1 | tee /sys/class/net/a0/queues/rx-*/rps_cpus' >/dev/null
	ip netns exec "$B" sh -c 'echo 1 | tee /sys/class/net/b0/queues/rx-*/rps_cpus' >/dev/null
}

# fresh [WORD VALUE]...: it has an onramp of its own at its root, in place of all else.
fresh() {
	# Twice, as it would change an onramp that is there. In one process.
	tc -n "$A" -batch - <<-END
		qdisc replace dev $DEV root handle 7f00: pfifo
		qdisc replace dev $DEV root handle 1: onramp $PEERS $*
	END
}

change() {
	tc -n "$A" qdisc change dev a0 root onramp "$@"
}

# below WORD...: a0 has one as the only child of the classless qdisc WORD...
below() {
	tc -n "$A" qdisc del dev a0 root 2>/dev/null || :
	tc -n "$A" qdisc add dev a0 root handle 2: "$@"
	tc -n "$A" qdisc add dev a0 parent 2:1 handle 1: onramp
}

# shot: what tc says of it at this moment, for shown.
shot() {
	tc -n "$A" -s -j qdisc show dev $DEV >"$KSFT_TMP/shot"
}

# shown NAME [KIND]: of the first onramp in there, or of another qdisc. If there are both a
# setting and a statistic of that name it is the statistic.
shown() {
	shown_all "${2:-onramp}" "$1"
}

# shown_all KIND NAME...: the same of several, on one line.
shown_all() {
	local kind=$1
	shift

	awk -v names="$*" -v kind="$kind" '
		BEGIN {
			RS = "[{]\"kind\":\""
			n = split(names, name, " ")
		}
		index($0, kind "\"") != 1 { next }
		{
			rest = $0
			sub(/"options":[{][^}]*[}]/, "", rest)
			for (i = 1; i <= n; i++) {
				pattern = "\"" name[i] "\":\"?[0-9a-z]+"
				text = ""
				if (match($0, pattern))
					text = substr($0, RSTART, RLENGTH)
				# As for any reader of JSON the last of that name counts.
				for (left = rest; match(left, pattern); left = substr(left, RSTART + RLENGTH))
					text = substr(left, RSTART, RLENGTH)
				if (text == "")
					exit
				split(text, field, /:"?/)
				all = all (i > 1 ? " " : "") field[2]
			}
			print all
			found = 1
			exit
		}
		END { exit !found }' "$KSFT_TMP/shot"
}

# stat NAME [KIND]: a statistic at this moment, under the name that tc has for it, but without tc.
stat() {
	"$KSFT_DIR/stat_helper" "$A" "$DEV" "$@"
}

# none_refused: of the OR-ACKs, as tc said it at the last shot.
none_refused() {
	local names=(short long version type reserved protocol value tag no_peer replay implausible
		unsynced) counts i

	read -ra counts <<<"$(shown_all onramp "${names[@]/#/acks_}")"
	for i in "${!names[@]}"; do
		expect "refused, ${names[i]}" "${counts[i]:-unknown}" -eq 0
	done
}

# setting NAME: of the first onramp, at this moment.
setting() {
	tc -n "$A" -j qdisc show dev $DEV >"$KSFT_TMP/shot"
	shown "$1"
}

# send [NAME=VALUE]...: of onramp_helper; what arrives is in $KSFT_TMP/got.
send() {
	"$KSFT_DIR/onramp_helper" "$A" "$B" "$B4" "$@" >"$KSFT_TMP/got"
}

# got GROUP: how many of its datagrams arrived.
got() {
	awk -v name="$1" '$1 == name { n++ } END { print n + 0 }' "$KSFT_TMP/got"
}

# at GROUP NUMBER: when it arrived, in microseconds after the start.
at() {
	awk -v name="$1" -v seq="$2" '$1 == name && $2 == seq { print $3 }' "$KSFT_TMP/got"
}

# span GROUP: microseconds from the first to the last that arrived.
span() {
	awk -v name="$1" '$1 == name { if (!n++) first = $3; last = $3 }
		END { print last - first }' "$KSFT_TMP/got"
}

# in_order GROUP...: what arrived of each did so in the order it was sent in.
in_order() {
	local name

	for name; do
		awk -v name="$name" '$1 == name {
			if (n++ && $2 <= last) { print name " " $2 " after " last; exit 1 }
			last = $2
		}' "$KSFT_TMP/got"
	done
}

# Bytes of a datagram's frame, for a payload of so many.
frame() {
	echo $(($1 + 14 + 20 + 8))
}

# holds PACKETS BYTES: the qdisc's own counters, those of its bands and those of the
# qdisc above it, if there is one, agree with that.
holds() {
	local kind qlen backlog band0 band1 band2 packets bytes

	shot
	read -r qlen backlog band0 band1 band2 <<<"$(shown_all onramp qlen backlog \
		band0_pkts band1_pkts band2_pkts)"
	expect qlen "$qlen" -eq "$1"
	expect backlog "$backlog" -eq "$2"
	expect "packets in bands" "$((band0 + band1 + band2))" -eq "$1"
	for kind in ${ABOVE:-}; do
		read -r packets bytes <<<"$(shown_all "$kind" qlen backlog)"
		expect "qlen of $kind" "$packets" -eq "$1"
		expect "backlog of $kind" "$bytes" -eq "$2"
	done
}

ready() {
	need_module sch_onramp
	quiet_pair "$@"
}

# On-Ramp --------------------------------------------------------------------

# acker COMMAND...: to the receiver of B, see acker_helper.c.
acker() {
	"$KSFT_DIR/acker_helper" "$KSFT_TMP/acker" "$@"
}

# acker_start: B answers data with OR-ACKs.
acker_start() {
	spawn "$KSFT_DIR/acker_helper" serve "$B" b0 "$KSFT_TMP/acker"
	ACKER=$SPAWNED
	wait_for 10 acker stats >/dev/null 2>&1
}

# acked NAME: a counter of the receiver's.
acked() {
	local words i

	read -rd '' -a words <<<"$(acker stats)" || :
	for ((i = 0; i + 1 < ${#words[@]}; i += 2)); do
		[ "${words[i]}" != "$1" ] || echo "${words[i + 1]}"
	done
}

# retransmitted NAME: segments that a host has sent again.
retransmitted() {
	in_ns "$1" awk '/^Tcp:/ && !n { for (i = 1; i <= NF; i++) if ($i == "RetransSegs") n = i; next }
		/^Tcp:/ { print $n }' /proc/net/snmp
}

# stats_reach NAME MIN: a statistic of the qdisc is at least that.
stats_reach() {
	stat "$1" -ge "$2"
}

# But for those that connect_helper keeps.
no_connections() {
	! ss -N "$A" -Htn | grep -qv ":$PORT\b"
}

# load_in_until NAMESPACE STATISTIC MIN OPTION...: connections of it send until the statistic
# is at least that.
load_in_until() {
	local namespace=$1 name=$2 min=$3
	shift 3

	spawn_load "$namespace" --duration 600 "$@"
	wait_for 60 stats_reach "$name" "$min" || {
		stop "$SPAWNED" KILL
		return 1
	}
	stop "$SPAWNED" KILL
}

# load_until STATISTIC MIN OPTION...: the same in A.
load_until() {
	load_in_until "$A" "$@" || return
	# What is in their buffers is sent all the same.
	wait_for 60 no_connections
}

# Where connect_helper serves.
PORT=5700

# connect ADDRESS COUNT [EACH]: connections that A, or FROM, keeps open, see connect_helper.c; sets
# CLIENT. To send a byte on each of them: again.
connect() {
	rm -f "$KSFT_TMP/in" "$KSFT_TMP/out"
	mkfifo "$KSFT_TMP/in"
	spawn connected "$1" "$2" "${3:-1}"
	CLIENT=$SPAWNED
	exec 9>"$KSFT_TMP/in"
	wait_for 300 grep -q ready "$KSFT_TMP/out"
}

connected() {
	exec "$KSFT_DIR/connect_helper" "${FROM:-$A}" "$1" $PORT "$2" "$3" \
		<"$KSFT_TMP/in" >"$KSFT_TMP/out"
}

again() {
	echo >&9
}
