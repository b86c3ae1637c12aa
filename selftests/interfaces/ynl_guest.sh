# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# In the VM: what ./ynl runs. A host with a peer that does not answer, and a subscriber of its own.
set -u

# Where Python's files are.
. /ynl/env
export PYTHONDONTWRITEBYTECODE=1
number=0

# ynl SPEC ARGUMENT...
ynl() {
	local spec=$1
	shift

	/ynl/python3 /ynl/ynl/cli.py --no-schema --output-json --spec "/ynl/$spec.yaml" "$@"
}

# shows NAME PATTERN SPEC ARGUMENT...: its output has that.
shows() {
	local name=$1 pattern=$2 got
	shift 2

	number=$((number + 1))
	got=$(ynl "$@" 2>&1)
	if grep -Eq -- "$pattern" <<<"$got"; then
		echo "ok $number $name"
	else
		echo "# $got" | tail -n 20
		echo "not ok $number $name"
	fi
}

echo 'KTAP version 1'
echo 1..12
modprobe sch_onramp
modprobe or_acker
modprobe tcp_timely
ip netns add A
ip link add a0 netns A type veth peer b0
ip -n A addr add 10.77.1.1/24 dev a0
ip -n A link set a0 up
ip -n A link set lo up
ip addr add 10.77.1.2/24 dev b0
ip link set b0 up
tc -n A qdisc add dev a0 root onramp peers all
tc qdisc add dev b0 root onramp peers all
dcload server &
sleep 2
# Python takes half a minute each time, of the guest's.
dcload client --netns A --to 10.77.1.2 --cc timely --flows 2 --rate-limit 5mbit \
	--duration 3600 --rtt-sample-us 0 >/dev/null 2>&1 &
sleep 3
shows 'info-get' '"name": "sch_onramp"' onramp --do info-get
shows 'features by name' '"features": \["(path-p99|conn-verdicts|events)"' onramp --do info-get
shows 'stats-get' '"stat-name": "RxDelivered", "stat-value": [0-9]+' onramp --dump stats-get
shows 'sub-get' '"remote": "10.77.1.1".*"flows": [1-9]' onramp --dump sub-get
shows 'sub-get, one' '"lifetime-s": [0-9]+' onramp --do sub-get \
	--json '{"local": "0a4d0102", "remote": "0a4d0101"}'
shows 'nic_ts: dev-get' '"ifname": "b0"' nic_ts --dump dev-get
shows 'nic_ts: stats-get' '"stat-name": "[A-Za-z]+", "stat-value": [0-9]+' nic_ts --dump stats-get
# The sender's side is in A.
ynl() {
	local spec=$1
	shift

	nsenter --net=/run/netns/A /ynl/python3 /ynl/ynl/cli.py --no-schema --output-json \
		--spec "/ynl/$spec.yaml" "$@"
}
shows 'nic_ts: flow-get' '"rport": [0-9]+' nic_ts --dump flow-get
shows 'timely: sock-get' '"rport": 5001.*"source": "(tcp|stack)"' timely --dump sock-get
shows 'path-get' '"remote": "10.77.1.2".*"state": "subscribed"' onramp --dump path-get
shows 'conn-get, filtered' '"rport": 5001.*"verdicts": \{"[a-z-]+": [0-9]+' onramp --dump conn-get \
	--json '{"remote": "0a4d0100", "remote-prefix": 24, "rport": 5001}'
shows 'conn-get, an error' 'prefix length without its address' onramp --dump conn-get \
	--json '{"remote-prefix": 24}'
