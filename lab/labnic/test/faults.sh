#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Faults of the wire: exactly as many as the seed says, the same ones each time.
. "$(dirname "$0")/labnic_lib.sh"

N=5000

# faulty [PARAMETER VALUE]...: a link on which nothing gets lost but by its faults,
# however long this machine lets packets wait.
faulty() {
	pair rx_ring 32768 "$@"
}

loss() {
	local want

	want=$(hits 21 1 10000000 "$N")
	expect "losses the seed says" "$want" -gt 20
	faulty seed 21 loss 1%
	udp count="$N" hw=0
	expect lost "$(count "$A" a0 wire_lost)" -eq "$want"
	expect received "$(got received)" -eq $((N - want))
	expect "on the wire" "$(count "$A" a0 tx0_packets)" -eq "$N"
	# The seed set again, and the same happens again.
	labnic -n "$A" set a0 seed 21
	udp count="$N" hw=0
	expect "received again" "$(got received)" -eq $((N - want))
	labnic -n "$A" set a0 seed 22
	udp count="$N" hw=0
	expect "received with another seed" "$(got received)" -eq \
		$((N - $(hits 22 1 10000000 "$N")))
	labnic -n "$A" set a0 loss 100%
	udp count=100 hw=0
	expect received "$(got received)" -eq 0
}

duplicates() {
	local want

	want=$(hits 23 2 50000000 "$N")
	faulty seed 23 duplicate 5%
	udp count="$N" hw=0
	expect duplicates "$(got duplicates)" -eq "$want"
	expect counted "$(count "$A" a0 wire_duplicated)" -eq "$want"
	expect received "$(got received)" -eq $((N + want))
}

reordering() {
	local want

	want=$(hits 24 3 10000000 800)
	faulty seed 24 rate 1gbit reorder 1% reorder_delay 200us
	udp count=800 gso=40 hw=0
	expect counted "$(count "$A" a0 wire_reordered)" -eq "$want"
	expect received "$(got received)" -eq 800
	expect "overtaken" "$(got late)" -gt 0
	expect "overtaken" "$(got late)" -le "$want"
}

# csum_errors: datagrams that B's UDP has thrown away for their checksum.
csum_errors() {
	in_ns "$B" awk '/^Udp:/ { if (!n) { for (i = 1; i <= NF; i++) if ($i == "InCsumErrors") n = i }
		else print $n }' /proc/net/snmp
}

corruption() {
	local want

	want=$(hits 25 4 20000000 "$N")
	faulty seed 25 corrupt 2%
	udp count="$N" hw=0
	expect counted "$(count "$A" a0 wire_corrupted)" -eq "$want"
	expect received "$(got received)" -eq $((N - want))
	# A flipped bit in a length field is found before the checksum is.
	expect "thrown away by UDP" "$(in_ns "$B" awk '/^Udp:/ { if (!n) { for (i = 1; i <= NF; i++)
		if ($i == "InErrors") n = i } else print $n }' /proc/net/snmp)" -le "$want"
	expect "checksum errors" "$(csum_errors)" -gt $((want / 4))
	# Cut by the NIC, too: each frame by itself.
	labnic -n "$A" set a0 seed 26 corrupt 50%
	udp count=400 gso=40 hw=0
	expect received "$(got received)" -eq $((400 - $(hits 26 4 500000000 400)))
}

# What no checksum covers is caught by the frame check sequence.
bad_fcs() {
	faulty corrupt 100%
	ip -n "$A" neigh del "$B4" dev a0
	refused in_ns "$A" ping -c 1 -W 1 "$B4"
	expect "ARP requests with a bad FCS" "$(count "$B" b0 rx0_bad_fcs)" -ge 1
	expect received "$(count "$B" b0 rx0_packets)" -eq 0
}

# TCP gets everything across all of it, and the data is right.
everything() {
	faulty seed 27 rate 1gbit delay 50us loss 0.3% duplicate 1% reorder 0.5% \
		reorder_delay 20us corrupt 0.3%
	serve "$B"
	load "$A" --to "$B4" --flows 4 --duration 1.5
	stop "$SPAWNED"
	for counter in lost duplicated reordered corrupted; do
		expect "$counter" "$(count "$A" a0 wire_$counter)" -gt 0
	done
}

ksft_plan 6
need_module labnic
hosts "$A" "$B"
ksft_case "losses" loss
ksft_case "duplicates" duplicates
ksft_case "reordering" reordering
ksft_case "corrupted packets fail their checksum" corruption
ksft_case "corrupted frames without a checksum are dropped by the NIC" bad_fcs
ksft_case "TCP copes with all of them at once" everything
