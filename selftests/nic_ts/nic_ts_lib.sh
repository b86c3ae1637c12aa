# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the tests of nic_ts share, sourced as the first thing they do.
. "$(dirname "${BASH_SOURCE[0]}")/onramp.sh"

PARAMS=/sys/module/nic_ts_test/parameters

# need_bus: load the bus and its test user, and unload what was not there.
need_bus() {
	local module

	for module in nic_ts nic_ts_test; do
		[ ! -d "/sys/module/$module" ] || continue
		modprobe "$module" || {
			echo "Bail out! the module $module cannot be loaded"
			exit 1
		}
	done
	undo 'ksft_unload nic_ts_test'
	undo 'ksft_unload nic_ts'
}

# quiet NAMESPACE...: no packets but those of the test.
quiet() {
	local name

	for name; do
		ns_set "$name" ipv6/conf/all/disable_ipv6 1 ipv6/conf/default/disable_ipv6 1
	done
}

ifindex() {
	ip -n "$1" -o link show dev "$2" | cut -d: -f1
}

# watch NAMESPACE DEVICE: the test module counts all its TCP packets.
watch() {
	in_ns "$1" bash -c "echo $(ifindex "$1" "$2") >$PARAMS/watch"
}

unwatch() {
	echo 0 >$PARAMS/watch
}

# counts: read, and reset, what the test module counted; counted NAME.
counts() {
	cat $PARAMS/counts >"$KSFT_TMP/counts"
}

counted() {
	awk -v name="$1" '$1 == name { print $2; found = 1 } END { exit !found }' \
		"$KSFT_TMP/counts"
}

# nothing_bad: of the counts that were read.
nothing_bad() {
	awk '$1 ~ /^(invalid|bad_(domain|future|segment|rtt))$/ { n++; bad += $2 }
		END { exit n != 5 || bad }' "$KSFT_TMP/counts" || {
		cat "$KSFT_TMP/counts"
		return 1
	}
}

# bus_stat NAMESPACE NAME
bus_stat() {
	in_ns "$1" nic_ts stats | awk -v name="$2" '
		$1 == name { print $2; found = 1 } END { exit !found }'
}

# packets NAMESPACE DEVICE rx|tx: as the device counted them.
packets() {
	ip -n "$1" -s -j link show dev "$2" |
		sed -n "s/.*\"$3\":{[^}]*\"packets\":\([0-9]*\).*/\1/p"
}

captured_more() {
	ping_once
	[ "$(dev_stat "$1" "$2" 'Rx(ParsedTcp|Skip.*)')" -gt "$3" ]
}

# ping_once: a packet each way, of no interest to the bus.
ping_once() {
	in_ns "$A" ping -c 1 -W 1 -q "$V4_B" >/dev/null || :
}

# capturing NAMESPACE DEVICE: wait until the tracepoints are on.
capturing() {
	wait_for 10 captured_more "$1" "$2" \
		"$(dev_stat "$1" "$2" 'Rx(ParsedTcp|Skip.*)')"
}
