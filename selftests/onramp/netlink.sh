#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The netlink family "onramp": what it shows is what /proc and tc show, of one namespace, to
# those who may see it; filters, errors, events, and dumps while all changes.
#
#	A a0 ---- b0 B b1 ---- c0 C: all of 10.78.0.0/15, nobody there answers
. "$(dirname "$0")/onramp_lib.sh"

SILENT=10.78.0.1

three_hosts() {
	quiet_pair
	ns_add "$C"
	ip link add b1 netns "$B" type veth peer c0 netns "$C"
	ip -n "$B" addr add 10.77.2.1/24 dev b1
	ip -n "$B" link set b1 up
	ip -n "$C" addr add 10.77.2.2/24 dev c0
	ip -n "$C" link set c0 up
	ip -n "$B" route add 10.78.0.0/15 via 10.77.2.2
	ip -n "$C" route add local 10.78.0.0/15 dev lo
	ip -n "$C" route add default via 10.77.2.1
	ip -n "$A" route add 10.78.0.0/15 via "$B4"
	ns_set "$B" ipv4/ip_forward 1
	spawn "$KSFT_DIR/connect_helper" serve "$B" $PORT
	spawn "$KSFT_DIR/connect_helper" serve "$C" $PORT
	serve "$B"
	acker_start
	fresh owd synced nobound line_rate 400gbit threshold 500ms ack_timeout 10s
	connect "$B4" 1 3
	FIRST=$CLIENT
	exec 8>&9
	connect "$SILENT" 4 2
	SECOND=$CLIENT
	exec 7>&9
}

# genl ARGUMENT...: of genl_helper, in A.
genl() {
	"$KSFT_DIR/genl_helper" -n "$A" "$@"
}

# field NAME: of each line on stdin.
field() {
	awk -v name="$1" '{
		for (i = 1; i <= NF; i++)
			if (index($i, name "=") == 1)
				print substr($i, length(name) + 2)
	}'
}

# objects ARGUMENT...: how many there are in a dump.
objects() {
	genl dump "$@" | wc -l
}

# says TEXT ARGUMENT...: a request fails with an error that begins so. Linux 6.1 has no words for
# dumps.
says() {
	local text=$1 got
	shift

	[ "$1" != dump ] || [[ "$(uname -r)" != 6.1.* ]] || text=$(cut -d' ' -f1-2 <<<"$text")
	# A listener that is not refused would listen for ever.
	got=$(timeout 20 "$KSFT_DIR/genl_helper" -n "$A" "$@") &&
		fail "this should have been refused: $*"
	case $got in
	"$text"*) ;;
	*) fail "$*: '$got', not '$text'" ;;
	esac
}

info() {
	genl info >"$KSFT_TMP/info"
	expect_same interface "$(field interface <"$KSFT_TMP/info")" 1
	expect_same protocol "$(field protocol <"$KSFT_TMP/info")" 2
	expect_same "port open" "$(field port_open <"$KSFT_TMP/info")" 1
	expect_same modules "$(field module.name <"$KSFT_TMP/info" | tr '\n' ' ')" \
		"or_port sch_onramp "
	expect_same versions "$(field module.version <"$KSFT_TMP/info" | tr '\n' ' ')" \
		"$(cat /sys/module/or_port/version) $(cat /sys/module/sch_onramp/version) "
	says "error -95 the module or_acker is not loaded" dump sub
	says "error -95 the module or_acker is not loaded" sub "local=$V4_A" "remote=$B4"
}

# stats_of MODULE: "NAME VALUE" of its counters.
stats_of() {
	genl dump stats | awk -v module="name=$1" '$2 == module {
		for (i = 4; i < NF; i += 2) {
			sub(/^name=/, "", $i)
			sub(/^value=/, "", $(i + 1))
			print $i, $(i + 1)
		}
	}'
}

# All counters, with their values, while both were looked at.
same_counters() {
	stats_of or_port >"$KSFT_TMP/netlink"
	in_ns "$A" cat /proc/net/or_port >"$KSFT_TMP/proc"
	cmp -s "$KSFT_TMP/netlink" "$KSFT_TMP/proc"
}

same_statistics() {
	local name value

	shot
	stats_of sch_onramp >"$KSFT_TMP/netlink"
	[ "$(wc -l <"$KSFT_TMP/netlink")" -gt 15 ] || return 1
	while read -r name value; do
		[ "$(shown "$name")" = "$value" ] || return 1
	done <"$KSFT_TMP/netlink"
}

counters() {
	wait_for 20 same_counters
	expect "counters of or_port" "$(wc -l <"$KSFT_TMP/proc")" -ge 13
	wait_for 20 same_statistics
}

# same_paths: as the list of peers.
same_paths() {
	in_ns "$A" awk 'NR > 1 {
		print $1, $2, $3 == "asked" ? 0 : $3 == "subscribed" ? 1 : 2, $4, $5, $6
	}' /proc/net/onramp_peers | sort >"$KSFT_TMP/proc"
	genl dump path | awk '{
		for (i = 1; i <= NF; i++) {
			split($i, part, "=")
			v[part[1]] = part[2]
		}
		print v["local"], v["remote"], v["state"], v["connections"], v["rtt_us"],
			v["unanswered"]
	}' | sort >"$KSFT_TMP/netlink"
	cmp -s "$KSFT_TMP/proc" "$KSFT_TMP/netlink"
}

paths() {
	local line

	wait_for 30 path_is "$SILENT" 2
	wait_for 30 path_is "$B4" 1
	wait_for 20 same_paths
	expect paths "$(wc -l <"$KSFT_TMP/netlink")" -eq 5
	# As fast as the CPU allows, acker_helper would be a thousand packets behind, about which an
	# OR-ACK says nothing any more.
	load_until acks 200 --to "$B4" --flows 1 --rate-limit 20mbit
	line=$(genl path "local=$V4_A" "remote=$B4")
	expect "OR-ACKs" "$(field acks <<<"$line")" -ge 200
	expect "OR-ACKs that counted" "$(field acks_counted <<<"$line")" -eq "$(stat acks)"
	expect "last delay" "$(field owd_ns <<<"$line")" -eq "$(stat owd_ns)"
	expect "its error" "$(field owd_error_ns <<<"$line")" -eq "$(stat owd_error_ns)"
	expect "its T" "$(field threshold_ns <<<"$line")" -eq "$(stat threshold_ns)"
	expect "median" "$(field owd_p50_ns <<<"$line")" -eq "$(stat owd_p50_ns)"
	expect "p99" "$(field owd_p99_ns <<<"$line")" -eq "$(stat owd_p99_ns)"
	expect "line rate" "$(field line_rate <<<"$line")" -eq 50000000000
	expect_same "baseline of synchronised clocks" "$(field baseline <<<"$line")" ""
	# The first RTT of each connection was told of, so that which is kept is no longer.
	expect "RTT of the empty path, ns" "$(field empty_rtt_ns <<<"$line")" -gt 0
	expect "RTT of the empty path, ns" "$(field empty_rtt_ns <<<"$line")" -le \
		"$(($(field rtt_us <<<"$line") * 1000))"
	expect "its age, ns" "$(field empty_age_ns <<<"$line")" -lt 600000000000
	expect "its source" "$(field empty_how <<<"$line")" -le 2
	expect "its kind" "$(field empty_kind <<<"$line")" -le 1
	expect_same "its other attributes" "$(grep -o -E 'empty_(error_ns|longer|shorter)=' <<<"$line" | wc -l)" 3
}

path_is() {
	[ "$(genl path "local=$V4_A" "remote=$1" | field state)" = "$2" ]
}

# The sum of the qdisc's OR-ACKs by verdict, while nothing changes.
settled() {
	local before

	before=$(stat acks)
	sleep 0.3
	stat acks -eq "$before"
}

# One connection sends, whose counters are those of the qdisc then.
flows() {
	local line verdict

	fresh owd synced nobound line_rate 400gbit threshold 500ms ack_timeout 10s max_pause 2ms
	acker delay 2000000
	spawn_load "$A" --to "$B4" --flows 1 --rate-limit 20mbit --duration 600
	LOAD=$SPAWNED
	wait_for 60 stats_reach pauses 5
	acker answer 0
	wait_for 20 settled
	expect "connections with data" "$(objects conn "remote=$B4")" -eq 1
	line=$(genl dump conn "remote=$B4")
	expect_same "its port" "$(field rport <<<"$line")" 5001
	shot
	# Those that are 0 are left out.
	for verdict in below paused capped progress stale duplicate implausible learning unsynced \
		no_map not_in_flight ambiguous replay old; do
		expect "verdicts $verdict" "$(field verdicts.$verdict <<<"$line" | grep . || echo 0)" \
			-eq "$(shown acks_$verdict)"
	done
	expect pauses "$(field pauses <<<"$line")" -eq "$(stat pauses)"
	expect "time paused" "$(field paused_ns <<<"$line")" -ge "$(stat paused_ns)"
	# What has not been counted there yet is the last pause.
	expect "time paused" "$(field paused_ns <<<"$line")" -le $(($(stat paused_ns) + 2000000))
	expect_same "device" "$(field ifindex <<<"$line")" "$(ifindex a0)"
	expect "line rate" "$(field line_rate <<<"$line")" -eq 50000000000
	expect "time since an OR-ACK, ms" "$(field acked_ms <<<"$line")" -lt 60000
	# By its name alone.
	expect_same "one connection" "$(genl conn "local=$V4_A" "remote=$B4" \
		"lport=$(field lport <<<"$line")" rport=5001 | field lport)" \
		"$(field lport <<<"$line")"
	says "error -2 unknown path, connection or subscriber" conn "local=$V4_A" "remote=$B4" lport=1 rport=5001
	stop "$LOAD" KILL
	acker delay 0
	acker answer 1
}

ifindex() {
	ip -n "$A" -o link show "$1" | cut -d: -f1
}

# Each filter leaves what it is for: 8 connections to 4 hosts, 3 to another one.
filters() {
	exec 9>&8
	again
	exec 9>&7
	again
	wait_for 20 connections_are 11
	expect all "$(objects conn)" -eq 11
	expect "a host" "$(objects conn "remote=$SILENT")" -eq 2
	expect "a network" "$(objects conn remote=10.78.0.0 remote_prefix=16)" -eq 8
	expect "a smaller one" "$(objects conn remote=10.78.0.2 remote_prefix=31)" -eq 4
	expect "all addresses" "$(objects conn remote=0.0.0.0 remote_prefix=0)" -eq 11
	expect "a local network" "$(objects conn local=10.77.0.0 local_prefix=16)" -eq 11
	expect "another one" "$(objects conn local=10.79.0.0 local_prefix=16)" -eq 0
	expect "a port" "$(objects conn rport=$PORT "remote=$B4")" -eq 3
	expect "another one" "$(objects conn rport=1)" -eq 0
	expect "a local port" "$(objects conn "lport=$(genl dump conn | head -n 1 | field lport)")" \
		-ge 1
	expect "a device" "$(objects conn "ifindex=$(ifindex a0)")" -eq 11
	expect "another one" "$(objects conn ifindex=1)" -eq 0
	expect "IPv4" "$(objects conn family=2)" -eq 11
	expect "IPv6" "$(objects conn family=10)" -eq 0
	expect "IPv6 addresses" "$(objects conn remote=:: remote_prefix=0)" -eq 0
	expect "silent paths" "$(objects path state=2)" -eq 4
	expect "those that answer" "$(objects path state=1)" -eq 1
	expect "a path" "$(objects path remote=10.78.0.2)" -eq 1
}

connections_are() {
	stat connections -eq "$1"
}

# Each mistake has its reason, and names the attribute.
errors() {
	says "error -22 address: expected 4 or 16 bytes at 20" path raw=3:0102030405 "remote=$B4"
	says "error -34" path raw=3:010203 "remote=$B4"
	says "error -22 address: expected the family of the other address at 28" path "local=$V4_A" remote=::1
	says "error -22 prefix length without its address at 20" dump path local_prefix=8
	says "error -22 prefix length: expected at most 32 for IPv4, 128 for IPv6 at 28" dump conn "remote=$B4" \
		remote_prefix=33
	says "error -97 expected the family AF_INET or AF_INET6 at 20" dump path family=16
	says "error -22 expected a local and a remote address" path "remote=$B4"
	says "error -22 expected a local and a remote address" conn "local=$V4_A" "remote=$B4"
	says "error -22 this attribute is a filter" path "local=$V4_A" "remote=$B4" state=1
	says "error -22 this attribute is a filter" path "local=$V4_A" "remote=$B4" \
		remote_prefix=32
	says "error -34" dump path state=3
	says "error -22" dump path raw=60:00
	says "error -22" dump path raw=14:0000000000000000
	says "error -22" info raw=2:00000000
	says "error -2 unknown path, connection or subscriber" path "local=$V4_A" remote=10.99.0.1
}

# What shows connections is for those who administer the namespace.
permissions() {
	says "error -1" -u dump conn
	says "error -1" -u dump path
	says "error -1" -u dump sub
	says "error -1" -u path "local=$V4_A" "remote=$B4"
	says "error -1" -u listen
	# The file has the same, and asks for no less.
	in_ns "$A" grep -q "^$V4_A $B4 " /proc/net/onramp_peers
	refused in_ns "$A" su -s /bin/sh nobody -c "cat /proc/net/onramp_peers" 2>/dev/null
	genl -u info >/dev/null
	expect "counters" "$(genl -u dump stats | wc -l)" -eq 2
	# Root of a user namespace, in a network namespace of its own, and in that of another.
	expect "its own" "$(unshare -U -r -n "$KSFT_DIR/genl_helper" dump conn | wc -l)" -eq 0
	in_ns "$A" unshare -U -r "$KSFT_DIR/genl_helper" dump conn >"$KSFT_TMP/other" &&
		fail "another user's root sees connections"
	grep -q "^error -1" "$KSFT_TMP/other"
}

# Another namespace has nothing of this one.
namespaces() {
	expect "flows of B" "$("$KSFT_DIR/genl_helper" -n "$B" dump conn | wc -l)" -eq 0
	expect "paths of B" "$("$KSFT_DIR/genl_helper" -n "$B" dump path | wc -l)" -eq 0
	expect_same "port of B" "$("$KSFT_DIR/genl_helper" -n "$B" info | field port_open)" 0
}

# event EVENT: it was told of.
event() {
	grep -q "^path_ntf .* event=$1 " "$KSFT_TMP/events"
}

listener() {
	exec "$KSFT_DIR/genl_helper" -n "$A" listen >"$KSFT_TMP/events"
}

# A peer is silent, is heard, and its path is learned.
events() {
	stop "$FIRST" KILL
	stop "$SECOND" KILL
	exec 7>&- 8>&- 9>&-
	ns_del "$A"
	ns_del "$B"
	ns_del "$C"
	stop "$ACKER" KILL
	quiet_pair
	serve "$B"
	acker_start
	acker answer 0
	fresh line_rate 400gbit
	spawn listener
	LISTENER=$SPAWNED
	wait_for 10 grep -q listening "$KSFT_TMP/events"
	spawn_load "$A" --to "$B4" --flows 1 --rate-limit 20mbit --duration 600
	LOAD=$SPAWNED
	# After six SUBSCRIBEs.
	wait_for 30 event 1
	refused event 2
	acker answer 1
	wait_for 30 event 2
	wait_for 30 event 3
	wait_for 30 stats_reach acks 100
	# Pauses and all else that is frequent is none.
	expect "lines" "$(wc -l <"$KSFT_TMP/events")" -eq 4 || {
		cat "$KSFT_TMP/events"
		return 1
	}
	expect_same "states" "$(field state <"$KSFT_TMP/events" | tr '\n' ' ')" "2 1 1 "
	expect_same "peers" "$(field remote <"$KSFT_TMP/events" | sort -u)" "$B4"
	stop "$LOAD" KILL
	stop "$LISTENER" KILL
}

dump_for_ever() {
	while :; do
		genl -r 4096 -w 5 dump conn
		genl -r 4096 dump path
		genl info
		genl dump stats
	done >/dev/null
}

# Dumps while connections come and go, and the qdisc; the module stays, and goes after them.
churn() {
	local i

	spawn "$KSFT_DIR/connect_helper" serve "$B" $PORT
	connect "$B4" 1 300
	wait_for 20 connections_are 300
	# In many parts it is the same as in few, each connection once.
	genl -r 4096 dump conn >"$KSFT_TMP/parts"
	expect "connections in a dump" "$(field lport <"$KSFT_TMP/parts" | sort -u | wc -l)" \
		-eq "$(wc -l <"$KSFT_TMP/parts")"
	expect "connections in a dump" "$(wc -l <"$KSFT_TMP/parts")" -eq 300
	stop "$CLIENT" KILL
	spawn dump_for_ever
	DUMPS=$SPAWNED
	for i in 1 2; do
		connect "$B4" 1 300
		fresh
		again
		genl -r 4096 -w 500 dump conn >"$KSFT_TMP/slow" &
		sleep 0.2
		stop "$CLIENT" KILL
		wait $! || :
	done
	refused rmmod sch_onramp
	stop "$DUMPS" KILL
	# One that has begun keeps the module.
	connect "$B4" 1 300
	again
	genl -r 4096 -w 1500 dump conn >"$KSFT_TMP/slow" &
	SLOW_DUMP=$!
	sleep 0.2
	stop "$CLIENT" KILL
	tc -n "$A" qdisc del dev a0 root
	wait_for 20 no_qdisc
	expect "users of the module" "$(cat /sys/module/sch_onramp/refcnt)" -eq 1
	wait $SLOW_DUMP || :
	expect "users of the module" "$(cat /sys/module/sch_onramp/refcnt)" -eq 0
}

no_qdisc() {
	! tc -n "$A" qdisc show | grep -q onramp
}

ksft_plan 10
need_module sch_onramp
C=$(ns_name C)
three_hosts
ksft_case "versions, features and modules" info
ksft_case "counters are those of /proc and tc" counters
ksft_case "paths are those of /proc and tc" paths
ksft_case "a connection's counters are the qdisc's" flows
ksft_case "filters" filters
ksft_case "errors have a reason" errors
ksft_case "privileges" permissions
ksft_case "namespaces" namespaces
ksft_case "events" events
ksft_case "dumps while all changes" churn
