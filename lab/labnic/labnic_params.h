/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The link attributes of kind "labnic", shared by the module and by lab/labnic/tool.
 *
 * RTM_NEWLINK and RTM_GETLINK carry them, all belonging to one end of the pair:
 *
 *	IFLA_LINKINFO
 *	  IFLA_INFO_KIND		"labnic"
 *	  IFLA_INFO_DATA
 *	    IFLA_LABNIC_PEER		struct ifinfomsg, then IFLA_* of the other
 *					end, its own IFLA_LINKINFO among them;
 *					RTM_NEWLINK that creates only
 *	    IFLA_LABNIC_RATE ...	s64 each, LABNIC_PARAMS below
 *	    IFLA_LABNIC_PHC_INDEX	s64, N of /dev/ptpN, -1 without; dump only
 *
 * An end that is given no value takes the default; the other end takes what
 * this one was given. A message with one bad value changes nothing.
 *
 * Integers of 64 bits only, so that it builds in userspace as it is.
 */
#ifndef _LABNIC_PARAMS_H
#define _LABNIC_PARAMS_H

/*
 * LABNIC_X(NAME, field, KIND, minimum, maximum, default, "help")
 *
 * KIND, the unit of the value:
 *	BIT	bit/s			NS	nanoseconds
 *	US	microseconds		COUNT	a number
 *	BYTES	bytes			PPB	probability times 10^9
 *	SNS	nanoseconds, signed	RATIO	10^-9, signed
 *	BOOL	0 or 1			DIST	enum labnic_dist_kind
 *
 * New ones go to the end: their order is the interface.
 */
#define LABNIC_PARAMS \
LABNIC_X(RATE, rate_bit, BIT, 1000, 1600000000000, 10000000000, \
	 "line rate") \
LABNIC_X(DELAY, delay_ns, NS, 0, 1000000000, 0, \
	 "propagation delay from this end to the other") \
LABNIC_X(TX_RING, tx_ring, COUNT, 64, 32768, 512, \
	 "descriptors of each TX queue") \
LABNIC_X(RX_RING, rx_ring, COUNT, 1, 32768, 1024, \
	 "packets each RX queue holds") \
LABNIC_X(TX_BURST, tx_burst, BYTES, 0, 1048576, 65536, \
	 "most a lone TX queue sends without looking at the others") \
LABNIC_X(PACE, pace_bit, BIT, 0, 1600000000000, 0, \
	 "rate of the packets of one TSO segment, 0: line rate") \
LABNIC_X(RX_USECS, rx_usecs, US, 0, 1000000, 0, \
	 "wait before an RX interrupt") \
LABNIC_X(RX_FRAMES, rx_frames, COUNT, 0, 32768, 0, \
	 "packets that end that wait early, 0: never") \
LABNIC_X(IRQ_DIST, irq_dist, DIST, 0, 3, 0, \
	 "distribution of the time from RX interrupt to poll") \
LABNIC_X(IRQ_BASE, irq_base_ns, NS, 0, 1000000000, 0, \
	 "its fixed part, the mean of normal") \
LABNIC_X(IRQ_SPREAD, irq_spread_ns, NS, 0, 1000000000, 0, \
	 "its random part: width, mean or standard deviation") \
LABNIC_X(HOST_DIST, host_dist, DIST, 0, 3, 0, \
	 "distribution of the time from the stack to the TX ring") \
LABNIC_X(HOST_BASE, host_base_ns, NS, 0, 1000000000, 0, \
	 "its fixed part, the mean of normal") \
LABNIC_X(HOST_SPREAD, host_spread_ns, NS, 0, 1000000000, 0, \
	 "its random part: width, mean or standard deviation") \
LABNIC_X(SEED, seed, COUNT, 0, 9223372036854775807, 0, \
	 "of all that is random; 0: number of the device; setting it starts anew") \
LABNIC_X(LOSS, loss_ppb, PPB, 0, 1000000000, 0, \
	 "packets lost on the wire") \
LABNIC_X(DUPLICATE, duplicate_ppb, PPB, 0, 1000000000, 0, \
	 "packets that arrive twice") \
LABNIC_X(REORDER, reorder_ppb, PPB, 0, 1000000000, 0, \
	 "packets delayed by reorder_delay") \
LABNIC_X(REORDER_DELAY, reorder_ns, NS, 1, 1000000000, 10000, \
	 "time by which those are late") \
LABNIC_X(CORRUPT, corrupt_ppb, PPB, 0, 1000000000, 0, \
	 "packets with a flipped bit that a checksum covers") \
LABNIC_X(PHC, phc, BOOL, 0, 1, 1, \
	 "has a PTP hardware clock; at creation only") \
LABNIC_X(PHC_OFFSET, phc_offset_ns, SNS, -4000000000000000000, 4000000000000000000, 0, \
	 "sets the clock to CLOCK_MONOTONIC_RAW plus this") \
LABNIC_X(PHC_DRIFT, phc_drift_ppb, RATIO, -1000000, 1000000, 0, \
	 "frequency error of its oscillator") \
LABNIC_X(PHC_DRIFT_CHANGE, phc_drift_ppb_s, RATIO, -1000, 1000, 0, \
	 "change of that error per second") \
LABNIC_X(TX_STAMP_SLOTS, tx_stamp_slots, COUNT, 0, 1024, 4, \
	 "TX hardware stamps in flight") \
LABNIC_X(TX_STAMP_DELAY, tx_stamp_ns, NS, 0, 1000000000, 0, \
	 "time from the packet to its TX hardware stamp") \
LABNIC_X(STAMP_MISS, stamp_miss_ppb, PPB, 0, 1000000000, 0, \
	 "RX and TX hardware stamps that never come") \
LABNIC_X(STAMP_LATE, stamp_late_ppb, PPB, 0, 1000000000, 0, \
	 "TX hardware stamps that come later by stamp_late_delay") \
LABNIC_X(STAMP_LATE_DELAY, stamp_late_ns, NS, 1, 1000000000, 100000, \
	 "that delay") \
LABNIC_X(STAMP_DISORDER, stamp_disorder_ppb, PPB, 0, 1000000000, 0, \
	 "RX: carry the stamp of the packet before; TX: delivered after the next") \
LABNIC_X(LINK, link, BOOL, 0, 1, 1, \
	 "the cable is plugged in at this end") \
LABNIC_X(TX_LIMIT, tx_limit_bytes, BYTES, 0, 1879048192, 1879048192, \
	 "bytes posted to a TX queue (limit_max of BQL); 0: one packet at a time") \
LABNIC_X(GRO, gro, BOOL, 0, 1, 1, \
	 "received packets go through GRO; off for ports of switches") \
LABNIC_X(RATE_DRIFT, rate_drift_ppb, RATIO, -1000000, 1000000, 0, \
	 "frequency error of the line rate, by the host's clock; no speed that is told has it") \
LABNIC_X(CUT_THROUGH, cut_through_ns, NS, 0, 1000000, 0, \
	 "pass a frame on so long after its first bit has arrived; 0: after its last") \
LABNIC_X(TX_USECS, tx_usecs, US, 0, 1000000, 0, \
	 "wait before a TX interrupt, which frees what has left") \
LABNIC_X(TX_FRAMES, tx_frames, COUNT, 0, 32768, 0, \
	 "packets that end that wait early, 0: never") \
LABNIC_X(TX_USECS_TOLD, tx_usecs_told, BOOL, 0, 1, 1, \
	 "ethtool tells tx_usecs and tx_frames")

enum {
	IFLA_LABNIC_UNSPEC,
	IFLA_LABNIC_PAD,
	IFLA_LABNIC_PEER,
	IFLA_LABNIC_PHC_INDEX,
#define LABNIC_X(NAME, ...)	IFLA_LABNIC_##NAME,
	LABNIC_PARAMS
#undef LABNIC_X
	__IFLA_LABNIC_MAX
};

#define IFLA_LABNIC_MAX		(__IFLA_LABNIC_MAX - 1)
#define IFLA_LABNIC_FIRST	IFLA_LABNIC_RATE

/* A sample is base + spread * X, and never negative. */
enum labnic_dist_kind {
	LABNIC_DIST_CONST,		/* X = 0 */
	LABNIC_DIST_UNIFORM,		/* X uniform in [0, 1) */
	LABNIC_DIST_EXPONENTIAL,	/* X exponential, of mean 1 */
	LABNIC_DIST_NORMAL,		/* X normal, of mean 0 and deviation 1 */
};

#endif /* _LABNIC_PARAMS_H */
