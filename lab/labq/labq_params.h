/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The attributes of the qdisc "labq", shared by the module and by lab/labnic/tool.
 *
 *	TCA_KIND			"labq"
 *	TCA_OPTIONS			RTM_NEWQDISC and dumps
 *	  TCA_LABQ_BUFFER ...		s64 each, LABQ_PARAMS below
 *	  TCA_LABQ_RESET		flag, RTM_NEWQDISC only: statistics start anew
 *	TCA_STATS2
 *	  TCA_STATS_APP			dumps
 *	    LABQ_STATS_SINCE_NS		u64: statistics are of so much time
 *	    LABQ_STATS_SHARED_BYTES	u64: of the shared buffer, all ports together
 *	    LABQ_STATS_SHARED_SIZE	u64: of which there are so many
 *	    LABQ_STATS_CNPS_SENT	u64: CNPs of the switch
 *	    LABQ_STATS_CNPS_UNSENT	u64: ... that had no key or no route
 *	    LABQ_STATS_QUEUE		once for each priority that was used
 *	      LABQ_QUEUE_PRIO ...	u64 each, LABQ_QUEUE_STATS
 *	    LABQ_STATS_INGRESS		once for each priority that was received by
 *					this port and queued at any
 *	      LABQ_INGRESS_PRIO ...	u64 each, LABQ_INGRESS_STATS
 *
 * A message with one bad value changes nothing.
 *
 * Integers of 64 bits only, so that it builds in userspace as it is.
 */
#ifndef _LABQ_PARAMS_H
#define _LABQ_PARAMS_H

/*
 * LABQ_X(NAME, field, KIND, minimum, maximum, default, SCOPE, "help")
 *
 * KIND, the unit of the value: as in labnic_params.h, and
 *	FACTOR	a number times 10^9
 *
 * SCOPE: SWITCH for one value that all ports in the network namespace share, to be
 * given on any of them; PORT for one of each port.
 *
 * New ones go to the end: their order is the interface.
 */
#define LABQ_PARAMS \
LABQ_X(BUFFER, buffer_bytes, BYTES, 1514, 536870912, 12582912, SWITCH, \
	 "buffer of the switch, reserved bytes and headroom included") \
LABQ_X(ALPHA, alpha_ppb, FACTOR, 0, 16000000000, 1000000000, SWITCH, \
	 "a queue holds at most so many times what is free; 0: no such limit") \
LABQ_X(LIMIT, limit_bytes, BYTES, 0, 536870912, 0, PORT, \
	 "most bytes in a queue, 0: no limit") \
LABQ_X(LIMIT_PACKETS, limit_packets, COUNT, 0, 16777216, 0, PORT, \
	 "most packets in a queue, 0: no limit") \
LABQ_X(RESERVED, reserved_bytes, BYTES, 0, 16777216, 0, PORT, \
	 "bytes of the buffer set aside for each queue") \
LABQ_X(ECN_STEP, ecn_step_bytes, BYTES, 0, 536870912, 0, PORT, \
	 "mark what finds more than so many bytes in its queue; 0: off") \
LABQ_X(ECN_DROP, ecn_drop, BOOL, 0, 1, 0, PORT, \
	 "ecn_step drops packets without ECN, in place of leaving them alone") \
LABQ_X(RED_MIN, red_min_bytes, BYTES, 0, 536870912, 0, PORT, \
	 "RED: mark or drop some from this queue length on") \
LABQ_X(RED_MAX, red_max_bytes, BYTES, 0, 536870912, 0, PORT, \
	 "RED: and all from this one on; 0: off") \
LABQ_X(RED_PROB, red_prob_ppb, PPB, 0, 1000000000, 10000000, PORT, \
	 "RED: probability just below red_max") \
LABQ_X(RED_WEIGHT, red_weight, COUNT, 0, 24, 0, PORT, \
	 "RED: the length is an average, each packet weighs 2^-this; 0: length as it is") \
LABQ_X(PFC, pfc, BOOL, 0, 1, 0, PORT, \
	 "pause the sender at the other end of this port") \
LABQ_X(PFC_PRIO, pfc_prio, COUNT, 0, 255, 255, PORT, \
	 "bit mask of the priorities that pfc is for") \
LABQ_X(XOFF, xoff_bytes, BYTES, 0, 536870912, 0, PORT, \
	 "pause a priority of this ingress port when more is held; 0: see xoff_alpha") \
LABQ_X(XOFF_ALPHA, xoff_alpha_ppb, FACTOR, 0, 16000000000, 125000000, PORT, \
	 "without xoff: when more than so many times what is free is held") \
LABQ_X(XON, xon_bytes, BYTES, 0, 536870912, 0, PORT, \
	 "with xoff: resume when no more than this is held") \
LABQ_X(XON_OFFSET, xon_offset_bytes, BYTES, 0, 536870912, 3028, PORT, \
	 "without xoff: resume when so much less is held than it takes to pause") \
LABQ_X(HEADROOM, headroom_bytes, BYTES, 0, 16777216, 0, PORT, \
	 "of the buffer, set aside for each priority of pfc_prio once it is paused") \
LABQ_X(SEED, seed, COUNT, 0, 9223372036854775807, 0, PORT, \
	 "of RED; 0: index of the device; setting it starts anew") \
LABQ_X(SLOTS, slots, COUNT, 0, 32, 0, SWITCH, \
	 "input buffer of each port: packets of each priority, by credits; 0: none") \
LABQ_X(BYPASS, bypass, COUNT, 0, 1000000, 4, PORT, \
	 "times that the first packet of an output is overtaken while its input sends") \
LABQ_X(MARKS, marks, COUNT, 0, 3, 0, SWITCH, \
	 "of input buffers: 0 none, 1 naive, 2 full, 3 root, see labq_marks.h") \
LABQ_X(MARKS_THRESHOLD, marks_threshold, COUNT, 0, 1000000, 0, SWITCH, \
	 "marks 3: packets that may wait for an output without a mark") \
LABQ_X(READS, reads, COUNT, 1, 32, 1, SWITCH, \
	 "packets that an input buffer sends at once, to different outputs") \
LABQ_X(SIGNAL, signal, COUNT, 0, 2, 0, SWITCH, \
	 "congested ports tell, see labq_mercury.c: 0 nothing, 1 mercury: CNPs, 2 tcd: marks") \
LABQ_X(SIGNAL_K, signal_k_bytes, BYTES, 0, 536870912, 0, SWITCH, \
	 "signal: queue above which a port is congested; 0: what it sends in 40 us") \
LABQ_X(SIGNAL_PERIOD, signal_period_ns, NS, 0, 1000000000, 10000, SWITCH, \
	 "mercury: time between looks at an undetermined port, and between CNPs to a flow") \
LABQ_X(SIGNAL_RTT, signal_rtt_ns, NS, 1, 1000000000, 12000, SWITCH, \
	 "mercury: base RTT, for windows") \
LABQ_X(SIGNAL_HOLD, signal_hold_ns, NS, 1, 1000000000, 55000, SWITCH, \
	 "mercury: how long a window holds; rounded up to us") \
LABQ_X(SIGNAL_FLOWS, signal_flows, COUNT, 1, 65534, 1024, SWITCH, \
	 "mercury: flows of a queue that are counted; a queue keeps what it began with") \
LABQ_X(SIGNAL_ADDRESSES, signal_addresses, BOOL, 0, 1, 0, SWITCH, \
	 "mercury: a flow is a pair of addresses, as in the paper, and not a connection") \
LABQ_X(SIGNAL_SWITCH, signal_switch, COUNT, 0, 65535, 0, SWITCH, \
	 "mercury: number of the switch in its fabric") \
LABQ_X(SIGNAL_PRIO, signal_prio, COUNT, 0, 7, 7, SWITCH, \
	 "mercury: priority of CNPs") \
LABQ_X(TCD_TON, tcd_ton_ns, NS, 0, 1000000000, 30000, SWITCH, \
	 "tcd: time without a pause after which a port is congested above signal_k") \
LABQ_X(TELEMETRY, telemetry, BOOL, 0, 1, 0, PORT, \
	 "say in each packet what was sent and what waits, see labq_telemetry.h")

enum {
	TCA_LABQ_UNSPEC,
	TCA_LABQ_PAD,
	TCA_LABQ_RESET,
#define LABQ_X(NAME, ...)	TCA_LABQ_##NAME,
	LABQ_PARAMS
#undef LABQ_X
	__TCA_LABQ_MAX
};

#define TCA_LABQ_MAX		(__TCA_LABQ_MAX - 1)
#define TCA_LABQ_FIRST		TCA_LABQ_BUFFER

enum {
	LABQ_STATS_UNSPEC,
	LABQ_STATS_PAD,
	LABQ_STATS_SINCE_NS,
	LABQ_STATS_SHARED_BYTES,
	LABQ_STATS_SHARED_SIZE,
	LABQ_STATS_QUEUE,
	LABQ_STATS_INGRESS,
	LABQ_STATS_CNPS_SENT,
	LABQ_STATS_CNPS_UNSENT,
	__LABQ_STATS_MAX
};

#define LABQ_STATS_MAX		(__LABQ_STATS_MAX - 1)

/*
 * Of one egress queue. Packets and bytes are frames as on the wire, padded to 60
 * bytes, without preamble, check sequence and gap. Lengths weigh by the time for
 * which they were so, the packet that is being sent does not count.
 *
 *	enqueued = dequeued + purged + in the queue
 *	arrived  = enqueued + all kinds of dropped
 *
 * LABQ_X(NAME, field)
 */
#define LABQ_QUEUE_STATS \
LABQ_X(PRIO, prio) \
LABQ_X(BYTES, bytes)			/* at present */ \
LABQ_X(PACKETS, packets) \
LABQ_X(SHARED_BYTES, shared_bytes)	/* of bytes, in the shared buffer */ \
LABQ_X(ENQUEUED_PACKETS, enqueued_packets) \
LABQ_X(ENQUEUED_BYTES, enqueued_bytes) \
LABQ_X(DEQUEUED_PACKETS, dequeued_packets) \
LABQ_X(DEQUEUED_BYTES, dequeued_bytes) \
LABQ_X(PURGED_PACKETS, purged_packets)	/* thrown away: down, deleted */ \
LABQ_X(DROPPED_LIMIT, dropped_limit)	/* packets: limit, limit_packets */ \
LABQ_X(DROPPED_DYNAMIC, dropped_dynamic)	/* alpha */ \
LABQ_X(DROPPED_FULL, dropped_full)	/* buffer */ \
LABQ_X(DROPPED_HEADROOM, dropped_headroom) \
LABQ_X(DROPPED_RED, dropped_red) \
LABQ_X(DROPPED_STEP, dropped_step)	/* ecn_drop */ \
LABQ_X(MARKED_STEP, marked_step)	/* packets that got a mark */ \
LABQ_X(MARKED_RED, marked_red) \
LABQ_X(MAX_BYTES, max_bytes) \
LABQ_X(MAX_PACKETS, max_packets) \
LABQ_X(MEAN_MILLIBYTES, mean_millibytes)	/* 1/1000 of a byte, rounded down */ \
LABQ_X(P50_BYTES, p50_bytes)		/* see labq_core.h for their resolution */ \
LABQ_X(P90_BYTES, p90_bytes) \
LABQ_X(P99_BYTES, p99_bytes) \
LABQ_X(P999_BYTES, p999_bytes) \
LABQ_X(LOST_NS, lost_ns)		/* no memory: not in the percentiles */ \
LABQ_X(MARKED_BUFFER, marked_buffer)	/* marks: packets that got one */ \
LABQ_X(UNMARKED_BUFFER, unmarked_buffer)	/* should have, but have no ECN */ \
LABQ_X(BYPASSES, bypasses)		/* packets that overtook the first one */ \
LABQ_X(PAUSES_MET, pauses_met)		/* signal: pauses of the port that it met */ \
LABQ_X(UNDETERMINED, undetermined)	/* resumes that left the port undetermined */ \
LABQ_X(RESUMED_CONGESTED, resumed_congested)	/* ... determined, above signal_k */ \
LABQ_X(TOLD, told)			/* mercury: CNPs to flows */ \
LABQ_X(UNTOLD, untold)			/* due, but not TCP, or too many at once */ \
LABQ_X(FLOWS_FULL, flows_full)		/* packets of flows that found no place */ \
LABQ_X(MARKED_TCD, marked_tcd) \
LABQ_X(UNMARKED_TCD, unmarked_tcd)	/* should have, but have no ECN */

/* Of what came in by this port, of one priority, and is held at any. */
#define LABQ_INGRESS_STATS \
LABQ_X(PRIO, prio) \
LABQ_X(HELD_BYTES, held_bytes)		/* at present */ \
LABQ_X(HEADROOM_BYTES, headroom_bytes)	/* of those, in the headroom */ \
LABQ_X(MAX_HELD_BYTES, max_held_bytes) \
LABQ_X(MAX_HEADROOM_BYTES, max_headroom_bytes) \
LABQ_X(PAUSED, paused)			/* at present */ \
LABQ_X(PAUSES, pauses) \
LABQ_X(SLOTS_USED, slots_used)		/* of slots, at present */ \
LABQ_X(MAX_SLOTS, max_slots)

enum {
	LABQ_QUEUE_UNSPEC,
	LABQ_QUEUE_PAD,
#define LABQ_X(NAME, field)	LABQ_QUEUE_##NAME,
	LABQ_QUEUE_STATS
#undef LABQ_X
	__LABQ_QUEUE_MAX
};

#define LABQ_QUEUE_MAX		(__LABQ_QUEUE_MAX - 1)

enum {
	LABQ_INGRESS_UNSPEC,
	LABQ_INGRESS_PAD,
#define LABQ_X(NAME, field)	LABQ_INGRESS_##NAME,
	LABQ_INGRESS_STATS
#undef LABQ_X
	__LABQ_INGRESS_MAX
};

#define LABQ_INGRESS_MAX	(__LABQ_INGRESS_MAX - 1)

#endif /* _LABQ_PARAMS_H */
