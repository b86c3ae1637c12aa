# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the long tests share, sourced as the first thing they do.
#
#	A a0 ---------- b0 B		veth, four queues
#	  a1 ---------- b1		labnic, with a clock
. "$(dirname "${BASH_SOURCE[0]}")/onramp.sh"

LONG=$KSFT_DIR/long_helper
OR=$KSFT_DIR/../or_acker/or_acker_helper
FRAMES=$KSFT_DIR/../nic_ts/nic_ts_helper
CNP=$KSFT_DIR/../dcqcn/dcqcn_helper
GENL=$KSFT_DIR/../or_acker/genl_helper
MODULES='or_acker sch_onramp nic_ts tcp_timely tcp_lipd tcp_dcqcn'
A2=10.77.9.1
B2=10.77.9.2

load_all() {
	local module

	for module in labnic $MODULES; do
		modprobe "$module" || return
	done
}

# unload_all: in any order; some may be in use, or have been unloaded with another one.
unload_all() {
	local module

	for module in $MODULES or_port nic_ts_hook; do
		[ ! -d "/sys/module/$module" ] || rmmod "$module" 2>/dev/null || :
	done
}

all_unloaded() {
	local module

	unload_all
	for module in $MODULES or_port nic_ts_hook; do
		[ ! -d "/sys/module/$module" ] || return 1
	done
}

hosts() {
	ns_add "$A" "$B"
	ip link add a0 netns "$A" numtxqueues 4 numrxqueues 4 type veth \
		peer b0 netns "$B" numtxqueues 4 numrxqueues 4
	link_up "$A" a0 "$V4_A" "$V6_A"
	link_up "$B" b0 10.77.1.2 "$V6_B1"
	labnic add a1 netns "$A" delay 20us tx_stamp_slots 8 peer b1 netns "$B"
	link_up "$A" a1 $A2
	link_up "$B" b1 $B2
	V4_B=10.77.1.2
	V6_B=$V6_B1
}
