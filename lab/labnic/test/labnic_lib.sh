# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the tests of labnic share, sourced as the first thing they do.
#
#	A a0 ------------------ b0 B
#	  10.77.1.1              10.77.1.2
#
# Nothing but what a test sends is on the wire: no IPv6, no ARP.
. "$(dirname "${BASH_SOURCE[0]}")/onramp.sh"

B4=10.77.1.2
MAC_A=02:00:00:00:00:0a
MAC_B=02:00:00:00:00:0b

# hosts NAMESPACE...: that send nothing of their own.
hosts() {
	local name

	ns_add "$@"
	for name in "$@"; do
		ns_set "$name" ipv6/conf/all/disable_ipv6 1 ipv6/conf/default/disable_ipv6 1
	done
}

# end_up NAMESPACE DEVICE ADDRESS PEER_ADDRESS PEER_MAC
end_up() {
	ip -n "$1" -batch - <<-END
		addr add $3/24 dev $2
		link set $2 up
		neigh replace $4 lladdr $5 dev $2 nud permanent
	END
}

# carrier NAMESPACE DEVICE: the other end has it as well then.
carrier() {
	ip -n "$1" link show "$2" | grep -q LOWER_UP
}

# pair [PARAMETER VALUE]... [peer [PARAMETER VALUE]...]: a link of its own between
# A and B, in place of an earlier one.
pair() {
	local mine=() other=()

	while [ $# -gt 0 ] && [ "$1" != peer ]; do
		mine+=("$1" "$2")
		shift 2
	done
	[ $# -eq 0 ] || shift
	other=("$@")
	ip -n "$A" link del a0 2>/dev/null || :
	labnic add a0 netns "$A" address "$MAC_A" "${mine[@]}" \
		peer b0 netns "$B" address "$MAC_B" "${other[@]}"
	end_up "$A" a0 "$V4_A" "$B4" "$MAC_B"
	end_up "$B" b0 "$B4" "$V4_A" "$MAC_A"
	wait_for 5 carrier "$A" a0
}

# udp [NAME=VALUE]...: datagrams from A to B; got NAME reads what came of them.
udp() {
	"$KSFT_DIR/labnic_helper" udp "$A" "$V4_A" a0 "$B" "$B4" b0 "$@" >"$KSFT_TMP/udp"
	sed 's/^/udp: /' "$KSFT_TMP/udp"
}

got() {
	awk -v name="$1" '$1 == name { print $2; found = 1 } END { exit !found }' \
		"$KSFT_TMP/udp"
}

# count NAMESPACE DEVICE COUNTER: of ethtool -S.
count() {
	in_ns "$1" ethtool -S "$2" | awk -v name="$3:" '
		$1 == name { print $2; found = 1 } END { exit !found }'
}

# shown NAMESPACE DEVICE FIELD: of labnic show.
shown() {
	labnic -n "$1" show "$2" | sed -n "s/^ *\"$3\": \"\{0,1\}\([^,\"]*\)\"\{0,1\},\{0,1\}\$/\1/p"
}

hits() {
	"$KSFT_DIR/labnic_helper" hits "$@"
}
