# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034
#
# The demo's network and load, for both sides: guest.sh builds it, table reads it.
#
# It is the star of the TIMELY paper (section 6.1), one bottleneck port twice as
# fast as the senders' NICs, stretched in time. An emulated machine forwards a
# few thousand packets a second, so NICs have NIC_MBIT instead of 10 Gbit/s. With
# k = 10 Gbit/s / NIC_MBIT the experiment keeps its shape if everything measured
# in bytes stays as it is, and everything measured in time is stretched by k:
#
#	propagation delay (20 us there)			times k
#	line_rate					divided by k
#	buffer, DCTCP's marking threshold		unchanged
#	segment (16 KB)					two packets of 9000 bytes
#
# The second part has the incast of the On-Ramp paper (figures 9 and 10) on the same network.
# The receiver asks all senders at once for a few bytes each, again and again. A long flow from
# each of them fills the bottleneck's buffer meanwhile.
#
# One second here is 1/k of a second there. Packets have 9000 bytes to make the
# most of those the machine can forward.

CCS=${CCS:-cubic bbr dctcp timely}
NIC_MBIT=${NIC_MBIT:-250}
RATE_MBIT=${RATE_MBIT:-500}
SENDERS=${SENDERS:-10}
FLOWS=${FLOWS:-40}		# over all senders
WARMUP_S=${WARMUP_S:-1.5}
DURATION_S=${DURATION_S:-2.5}
START_GAP_MS=${START_GAP_MS:-5}	# between one flow and the next

REQUEST_CCS="cubic bbr"
REQUEST_QDISCS="fq onramp"	# of the senders
REQUEST_WARMUP_S=1
REQUEST_DURATION_S=2
REQUEST_INTERVAL_S=0.01		# between requests, mean of a Poisson process
ANSWER_BYTES=2000		# of each sender

MTU=9000			# bytes, without the Ethernet header
SEGMENT_BYTES=$((2 * (MTU - 52)))	# 52: IPv4, TCP with timestamps
BUFFER_PKTS=111			# 1 MB in front of the bottleneck
MARK_BYTES=80000		# DCTCP's K in the TIMELY paper

# Bytes a limiter lets through at once: one packet, so that GSO packets are cut.
BURST=$((MTU + 100))

K=$((10000 / NIC_MBIT))
MARK_US=$((MARK_BYTES * 8 / RATE_MBIT))
BASE_RTT_US=$((20 * K))		# propagation, there and back
