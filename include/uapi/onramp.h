/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Netlink attributes of the qdisc "onramp", shared by the module and its tc plugin.
 *
 *	TCA_KIND			"onramp"
 *	TCA_OPTIONS			nested; RTM_NEWQDISC and dumps
 *	  TCA_ONRAMP_VERSION		u32, ONRAMP_UAPI_VERSION of who sent it
 *	  TCA_ONRAMP_PRIOMAP		16 bytes: the band of each priority
 *	  TCA_ONRAMP_LIMIT ...		u64 each, ONRAMP_PARAMS below
 *	TCA_STATS2
 *	  TCA_STATS_APP			nested; dumps
 *	    ONRAMP_STATS_FLOWS ...	u64 each, ONRAMP_STATS below
 *
 * A request with one bad value changes nothing. Attributes are only ever added, at the
 * end, and then ONRAMP_UAPI_VERSION grows by one: the module refuses requests of a
 * newer version than its own, since it could not do what they ask for. Who reads dumps
 * skips what it does not know. Attributes are in the byte order of the host.
 *
 * Integers only, so that it builds in userspace as it is.
 */
#ifndef _UAPI_ONRAMP_H
#define _UAPI_ONRAMP_H

#define ONRAMP_UAPI_VERSION	1

/* Bands of priority inside the qdisc; band 0 is the one of highest priority. */
#define ONRAMP_BANDS		3
/* Values of skb->priority that are told apart: its four low bits. */
#define ONRAMP_PRIOS		16

/*
 * ONRAMP_X(NAME, field, KIND, minimum, maximum, default, "help")
 *
 * KIND, the unit of the value:
 *	COUNT	a number
 *	BYTES	bytes
 *	RATE	bytes per second
 *	TIME	nanoseconds
 *	MASK	a bit mask
 *	BOOL	0 or 1
 *
 * Names, meanings and defaults are those of fq in Linux 6.12 unless said otherwise.
 * New ones go to the end: their order is the interface.
 */
#define ONRAMP_PARAMS \
ONRAMP_X(LIMIT, limit, COUNT, 1, 16777216, 10000, \
	 "most packets in each band") \
ONRAMP_X(FLOW_LIMIT, flow_limit, COUNT, 1, 16777216, 100, \
	 "most packets in each flow") \
ONRAMP_X(QUANTUM, quantum, BYTES, 256, 1048576, 3028, \
	 "bytes that a flow may send per round; by default two MTUs") \
ONRAMP_X(INITIAL_QUANTUM, initial_quantum, BYTES, 0, 1048576, 15140, \
	 "bytes that a new flow may send in its first round; by default ten MTUs") \
ONRAMP_X(PACING, pacing, BOOL, 0, 1, 1, \
	 "space out the packets of a flow by its rate") \
ONRAMP_X(MAXRATE, maxrate, RATE, 0, 1000000000000, 0, \
	 "highest rate of any flow, 0: no limit") \
ONRAMP_X(LOW_RATE_THRESHOLD, low_rate_threshold, RATE, 0, 1000000000000, 68750, \
	 "flows up to this rate are paced packet by packet, without bursts of a quantum") \
ONRAMP_X(REFILL_DELAY, refill_delay, TIME, 0, 4294967295000, 40000000, \
	 "a flow that was idle for longer gets a quantum when it comes back") \
ONRAMP_X(BUCKETS, buckets, COUNT, 2, 262144, 1024, \
	 "hash buckets for flows, a power of two") \
ONRAMP_X(ORPHAN_MASK, orphan_mask, MASK, 0, 4294967295, 1023, \
	 "bits of the hash that tell apart flows of packets without a socket") \
ONRAMP_X(CE_THRESHOLD, ce_threshold, TIME, 0, 4294967295000, 4294967295000, \
	 "mark packets with ECN that leave later than so long after they might have") \
ONRAMP_X(TIMER_SLACK, timer_slack, TIME, 0, 1000000000, 10000, \
	 "a timer may be so late, to serve several flows at once") \
ONRAMP_X(HORIZON, horizon, TIME, 0, 4294967295000, 10000000000, \
	 "packets may ask to leave so far in the future, no farther") \
ONRAMP_X(HORIZON_DROP, horizon_drop, BOOL, 0, 1, 1, \
	 "drop packets beyond the horizon, in place of sending them at it") \
ONRAMP_X(WEIGHT0, weight[0], BYTES, 16384, 1073741824, 589824, \
	 "bytes that band 0 may send per round") \
ONRAMP_X(WEIGHT1, weight[1], BYTES, 16384, 1073741824, 196608, \
	 "bytes that band 1 may send per round") \
ONRAMP_X(WEIGHT2, weight[2], BYTES, 16384, 1073741824, 65536, \
	 "bytes that band 2 may send per round")

enum {
	TCA_ONRAMP_UNSPEC,
	TCA_ONRAMP_PAD,
	TCA_ONRAMP_VERSION,
	TCA_ONRAMP_PRIOMAP,
#define ONRAMP_X(NAME, ...)	TCA_ONRAMP_##NAME,
	ONRAMP_PARAMS
#undef ONRAMP_X
	__TCA_ONRAMP_MAX
};

#define TCA_ONRAMP_MAX		(__TCA_ONRAMP_MAX - 1)
#define TCA_ONRAMP_FIRST	TCA_ONRAMP_LIMIT

/*
 * ONRAMP_X(NAME, field, KIND, "help"): of the qdisc since it was made, KIND as above.
 * GAUGEs are as of now, all others only ever grow.
 *
 *	offered to the qdisc = sent + in the queue + all kinds of dropped + purged
 */
#define ONRAMP_STATS \
ONRAMP_X(FLOWS, flows, GAUGE, "flows that are known") \
ONRAMP_X(FLOWS_INACTIVE, flows_inactive, GAUGE, "of those, without a packet") \
ONRAMP_X(FLOWS_THROTTLED, flows_throttled, GAUGE, "of those, waiting for their time") \
ONRAMP_X(FLOWS_GC, flows_gc, COUNT, "idle flows that were forgotten") \
ONRAMP_X(BAND0_PACKETS, band_packets[0], GAUGE, "packets in band 0") \
ONRAMP_X(BAND1_PACKETS, band_packets[1], GAUGE, "packets in band 1") \
ONRAMP_X(BAND2_PACKETS, band_packets[2], GAUGE, "packets in band 2") \
ONRAMP_X(BAND0_DROPS, band_drops[0], COUNT, "packets dropped as band 0 was full") \
ONRAMP_X(BAND1_DROPS, band_drops[1], COUNT, "packets dropped as band 1 was full") \
ONRAMP_X(BAND2_DROPS, band_drops[2], COUNT, "packets dropped as band 2 was full") \
ONRAMP_X(FLOW_DROPS, flow_drops, COUNT, "packets dropped as their flow was full") \
ONRAMP_X(HORIZON_DROPS, horizon_drops, COUNT, "packets dropped beyond the horizon") \
ONRAMP_X(CHANGE_DROPS, change_drops, COUNT, "packets dropped when limit was lowered") \
ONRAMP_X(PURGED, purged, COUNT, "packets thrown away when the device went down") \
ONRAMP_X(HORIZON_CAPS, horizon_caps, COUNT, "packets sent at the horizon, not beyond") \
ONRAMP_X(FASTPATH, fastpath, COUNT, "packets that needed no flow") \
ONRAMP_X(THROTTLED, throttled, COUNT, "times that a flow had to wait") \
ONRAMP_X(CE_MARKED, ce_marked, COUNT, "packets marked with ECN") \
ONRAMP_X(PACING_CAPPED, pacing_capped, COUNT, "pauses between packets cut to 1 s") \
ONRAMP_X(NO_MEMORY, no_memory, COUNT, "packets that found no memory for their flow") \
ONRAMP_X(NEXT_FLOW_NS, next_flow_ns, GAUGE, "time until the next flow may go on") \
ONRAMP_X(WAKEUP_LATE_NS, wakeup_late_ns, GAUGE, "how late flows go on, averaged")

enum {
	ONRAMP_STATS_UNSPEC,
	ONRAMP_STATS_PAD,
#define ONRAMP_X(NAME, ...)	ONRAMP_STATS_##NAME,
	ONRAMP_STATS
#undef ONRAMP_X
	__ONRAMP_STATS_MAX
};

#define ONRAMP_STATS_MAX	(__ONRAMP_STATS_MAX - 1)
#define ONRAMP_STATS_FIRST	ONRAMP_STATS_FLOWS

#endif /* _UAPI_ONRAMP_H */
