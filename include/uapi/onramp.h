/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Netlink attributes of the qdisc "onramp", shared by the module and its tc plugin.
 *
 *	TCA_KIND			"onramp"
 *	TCA_OPTIONS			nested; RTM_NEWQDISC and dumps
 *	  TCA_ONRAMP_VERSION		u32, ONRAMP_UAPI_VERSION; of a request: the lowest that
 *					has all of its attributes, ONRAMP_UAPI_STEPS
 *	  TCA_ONRAMP_PRIOMAP		16 bytes: the band of each priority
 *	  TCA_ONRAMP_LIMIT ...		u64 each, ONRAMP_PARAMS below
 *	TCA_STATS2
 *	  TCA_STATS_APP			nested; dumps
 *	    ONRAMP_STATS_FLOWS ...	u64 each, ONRAMP_STATS below
 *
 * A request with one bad value changes nothing. Attributes are only ever added, at the
 * end. ONRAMP_UAPI_VERSION grows by one with the first setting after a release. The module
 * refuses a request that needs a newer version than its own.
 * Readers of dumps skip unknown attributes. Attributes are in the byte order of the host.
 *
 * Integers only, so that it builds in userspace as it is.
 */
#ifndef _UAPI_ONRAMP_H
#define _UAPI_ONRAMP_H

#define ONRAMP_UAPI_VERSION	6

/* ONRAMP_V(version, NAME): the first setting of a version. Those before the first row are of 5. */
#define ONRAMP_UAPI_OLDEST	5
#define ONRAMP_UAPI_STEPS \
ONRAMP_V(6, FORWARD)

/* Bands of priority inside the qdisc; band 0 is the one of highest priority. */
#define ONRAMP_BANDS		3
/* Values of skb->priority that are told apart: its four low bits. */
#define ONRAMP_PRIOS		16

/*
 * ONRAMP_X(NAME, field, KIND, minimum, maximum, default, "help")
 *
 * KIND, the unit of the value:
 *	COUNT	a number
 *	PACKETS	packets
 *	BYTES	bytes
 *	RATE	bytes per second
 *	TIME	nanoseconds
 *	US	nanoseconds; tc takes and shows whole microseconds, as for fq
 *	NS	nanoseconds; tc takes a number without a unit as such, as for fq
 *	MASK	a bit mask
 *	BOOL	0 or 1
 *	PPM	millionths
 *	WORD	one of a list of words, by its number in there
 *
 * Up to WEIGHT2 names, meanings, defaults and ranges are those of fq in Linux 6.12;
 * Documentation/sch_onramp.md lists the differences. New ones go to the end: their order is
 * the interface.
 */
#define ONRAMP_PARAMS \
ONRAMP_X(LIMIT, limit, PACKETS, 1, 4294967295, 10000, \
	 "most packets in a band") \
ONRAMP_X(FLOW_LIMIT, flow_limit, PACKETS, 1, 4294967295, 100, \
	 "most packets in a flow") \
ONRAMP_X(QUANTUM, quantum, BYTES, 256, 1048576, 3028, \
	 "bytes that a flow sends per round; default: two MTUs") \
ONRAMP_X(INITIAL_QUANTUM, initial_quantum, BYTES, 0, 1048576, 15140, \
	 "bytes that a new flow sends in its first round; default: ten MTUs") \
ONRAMP_X(PACING, pacing, BOOL, 0, 1, 1, \
	 "pace the packets of a flow by its rate") \
ONRAMP_X(MAXRATE, maxrate, RATE, 0, 1000000000000, 0, \
	 "highest rate of a flow; 0: no limit") \
ONRAMP_X(LOW_RATE_THRESHOLD, low_rate_threshold, RATE, 0, 1000000000000, 68750, \
	 "flows up to this rate are paced packet by packet, without bursts of a quantum") \
ONRAMP_X(REFILL_DELAY, refill_delay, US, 0, 4294967295000, 40000000, \
	 "a flow that was idle for longer than this gets a new quantum") \
ONRAMP_X(BUCKETS, buckets, COUNT, 2, 262144, 1024, \
	 "hash buckets for flows, a power of two") \
ONRAMP_X(ORPHAN_MASK, orphan_mask, MASK, 0, 4294967295, 1023, \
	 "hash bits that distinguish flows of packets without a socket") \
ONRAMP_X(CE_THRESHOLD, ce_threshold, US, 0, 4294967295000, 4294967295000, \
	 "set CE on packets that leave this long after their departure time") \
ONRAMP_X(TIMER_SLACK, timer_slack, NS, 0, 4294967295, 10000, \
	 "a timer may be this late, to serve several flows at once") \
ONRAMP_X(HORIZON, horizon, US, 0, 4294967295000, 10000000000, \
	 "how far in the future a departure time may be") \
ONRAMP_X(HORIZON_DROP, horizon_drop, BOOL, 0, 1, 1, \
	 "drop packets beyond the horizon; otherwise send them at the horizon") \
ONRAMP_X(WEIGHT0, weight[0], BYTES, 16384, 2147483647, 589824, \
	 "bytes that band 0 sends per round") \
ONRAMP_X(WEIGHT1, weight[1], BYTES, 16384, 2147483647, 196608, \
	 "bytes that band 1 sends per round") \
ONRAMP_X(WEIGHT2, weight[2], BYTES, 16384, 2147483647, 65536, \
	 "bytes that band 2 sends per round") \
ONRAMP_X(MODE, mode, WORD, 0, 3, 0, \
	 "On-Ramp: final, off, or for comparison strawman or printed (the paper's equations)") \
ONRAMP_X(THRESHOLD, threshold, TIME, 0, 10000000000, 0, \
	 "T: pause a flow while the delay of its path is above this; 0 or auto: from the path") \
ONRAMP_X(GAIN, gain, PPM, 1000, 1000000, 62500, \
	 "g, the EWMA gain of beta") \
ONRAMP_X(MAX_PAUSE, max_pause, TIME, 1000, 10000000000, 20000000, \
	 "longest time that a packet is held") \
ONRAMP_X(ACK_TIMEOUT, ack_timeout, TIME, 1000, 10000000000, 100000000, \
	 "ignore OR-ACKs about packets that left longer ago than this") \
ONRAMP_X(OWD, owd, WORD, 0, 1, 0, \
	 "one-way delay: relative to the empty path, or from synchronised clocks") \
ONRAMP_X(CLOCK_ERROR, clock_error, TIME, 0, 1000000000, 0, \
	 "error bound of this host's clock, for owd synced") \
ONRAMP_X(INHERIT, inherit, BOOL, 0, 1, 1, \
	 "a new connection starts with the last known delay of its path") \
ONRAMP_X(LINE_RATE, line_rate, RATE, 0, 1000000000000, 0, \
	 "rate of the link; 0: the device's speed, or none if it has no wire") \
ONRAMP_X(CLOCK, clock, WORD, 0, 1, 0, \
	 "this host's clock for owd synced: system (CLOCK_TAI) or nic (the NIC's clock)") \
ONRAMP_X(BOUND, bound, BOOL, 0, 1, 1, \
	 "limit each delay to the round trip") \
ONRAMP_X(PEERS, peers, TIME, 0, 10000000000, 5000000, \
	 "ask hosts for OR-ACKs whose shortest RTT is below this; 0 or all: any host") \
ONRAMP_X(FORWARD, forward, WORD, 0, 1, 0, \
	 "On-Ramp for TCP connections that this host forwards: off or on")

/* Words of the settings of that kind, from 0 on. */
#define ONRAMP_MODE_WORDS	"final", "strawman", "off", "printed"
#define ONRAMP_OWD_WORDS	"relative", "synced"
#define ONRAMP_CLOCK_WORDS	"system", "nic"
#define ONRAMP_FORWARD_WORDS	"off", "on"

enum onramp_owd_mode {
	ONRAMP_OWD_RELATIVE,
	ONRAMP_OWD_SYNCED,
};

enum onramp_clock {
	ONRAMP_CLOCK_SYSTEM,
	ONRAMP_CLOCK_NIC,
};

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
 * ONRAMP_X(NAME, name, KIND, "help"): of the qdisc since it was made, KIND as above.
 * GAUGEs are as of now, SIGNED is one that may be negative (two's complement), PPM one in
 * millionths; all others only ever grow.
 *
 *	offered to the qdisc = sent + in the queue + all kinds of dropped + purged
 */
#define ONRAMP_STATS \
ONRAMP_X(FLOWS, flows, GAUGE, "flows in the table") \
ONRAMP_X(INACTIVE, inactive, GAUGE, "flows without a packet") \
ONRAMP_X(FLOWS_THROTTLED, flows_throttled, GAUGE, \
	 "throttled flows: they wait for their time to send") \
ONRAMP_X(GC, gc, COUNT, "idle flows that were removed from the table") \
ONRAMP_X(BAND0_PKTS, band0_pkts, GAUGE, "packets in band 0") \
ONRAMP_X(BAND1_PKTS, band1_pkts, GAUGE, "packets in band 1") \
ONRAMP_X(BAND2_PKTS, band2_pkts, GAUGE, "packets in band 2") \
ONRAMP_X(BAND0_DROPS, band0_drops, COUNT, "packets dropped because band 0 was full") \
ONRAMP_X(BAND1_DROPS, band1_drops, COUNT, "packets dropped because band 1 was full") \
ONRAMP_X(BAND2_DROPS, band2_drops, COUNT, "packets dropped because band 2 was full") \
ONRAMP_X(FLOWS_PLIMIT, flows_plimit, COUNT, "packets dropped because their flow was full") \
ONRAMP_X(HORIZON_DROPS, horizon_drops, COUNT, "packets dropped beyond the horizon") \
ONRAMP_X(CHANGE_DROPS, change_drops, COUNT, "packets dropped because limit was lowered") \
ONRAMP_X(PURGED, purged, COUNT, "packets discarded because the device went down") \
ONRAMP_X(HORIZON_CAPS, horizon_caps, COUNT, "packets beyond the horizon that were sent at it") \
ONRAMP_X(FASTPATH, fastpath, COUNT, "packets that took the fast path, without a flow") \
ONRAMP_X(THROTTLED, throttled, COUNT, "times that a flow was throttled") \
ONRAMP_X(CE_MARK, ce_mark, COUNT, "packets marked CE") \
ONRAMP_X(PACING_CAPPED, pacing_capped, COUNT, "pacing delays cut to 1 s") \
ONRAMP_X(ALLOC_ERRORS, alloc_errors, COUNT, "packets whose flow could not be allocated") \
ONRAMP_X(NEXT_PACKET_DELAY, next_packet_delay, GAUGE, "ns until the next throttled flow may send") \
ONRAMP_X(LATENCY, latency, GAUGE, "ns that throttled flows resume late, on average") \
ONRAMP_X(PAUSES, pauses, COUNT, "pauses of connections by On-Ramp") \
ONRAMP_X(PAUSED_NS, paused_ns, COUNT, "sum of the lengths of all pauses, ns") \
ONRAMP_X(PAUSE_MAX_NS, pause_max_ns, GAUGE, "longest pause, ns") \
ONRAMP_X(INHERITED, inherited, COUNT, "connections that started with a pause") \
ONRAMP_X(PAUSE_SHORTER, pause_shorter, COUNT, \
	 "pauses that were shortened while packets waited") \
ONRAMP_X(HELD, held, COUNT, \
	 "first packets of a flow that waited for the end of a pause") \
ONRAMP_X(HELD_LATE_NS, held_late_ns, GAUGE, \
	 "time from the end of the pause until they left, on average, ns") \
ONRAMP_X(HELD_LATE_MAX_NS, held_late_max_ns, GAUGE, \
	 "time from the end of the pause until they left, longest, ns") \
ONRAMP_X(ACKS, acks, COUNT, "valid OR-ACKs: the sum of the next four") \
ONRAMP_X(ACKS_BELOW, acks_below, COUNT, \
	 "valid OR-ACKs: delay below the threshold, or explained by pauses") \
ONRAMP_X(ACKS_PAUSED, acks_paused, COUNT, \
	 "valid OR-ACKs that started, extended or shortened a pause") \
ONRAMP_X(ACKS_CAPPED, acks_capped, COUNT, "valid OR-ACKs whose pause was cut to max_pause") \
ONRAMP_X(ACKS_PROGRESS, acks_progress, COUNT, \
	 "valid OR-ACKs without a pause, because a packet had to leave first") \
ONRAMP_X(ACKS_STALE, acks_stale, COUNT, \
	 "refused OR-ACKs: older than the last one, or than ack_timeout") \
ONRAMP_X(ACKS_DUPLICATE, acks_duplicate, COUNT, \
	 "refused OR-ACKs: about the same packet as the last one") \
ONRAMP_X(ACKS_IMPLAUSIBLE, acks_implausible, COUNT, "refused OR-ACKs: impossible timestamps") \
ONRAMP_X(ACKS_LEARNING, acks_learning, COUNT, \
	 "unused OR-ACKs: the delay of the empty path is not known yet") \
ONRAMP_X(ACKS_UNSYNCED, acks_unsynced, COUNT, \
	 "refused OR-ACKs: clock not synchronised, or with clock nic no timestamp of a NIC") \
ONRAMP_X(ACKS_NOT_IN_FLIGHT, acks_not_in_flight, COUNT, \
	 "refused OR-ACKs: about data that is not in flight, or not recorded") \
ONRAMP_X(ACKS_AMBIGUOUS, acks_ambiguous, COUNT, \
	 "refused OR-ACKs: about data that was sent more than once") \
ONRAMP_X(ACKS_REPLAY, acks_replay, COUNT, "refused OR-ACKs: replayed") \
ONRAMP_X(ACKS_OLD, acks_old, COUNT, "refused OR-ACKs: too old to tell whether they are replayed") \
ONRAMP_X(OWD_NS, owd_ns, GAUGE, "delay above the empty path, from the last OR-ACK, ns") \
ONRAMP_X(OWD_BASELINE_NS, owd_baseline_ns, SIGNED, \
	 "baseline: delay of the empty path and offset of the clocks, ns") \
ONRAMP_X(OWD_ERROR_NS, owd_error_ns, GAUGE, \
	 "error bound of the delay, which the threshold is raised by, ns") \
ONRAMP_X(OWD_P50_NS, owd_p50_ns, GAUGE, "median of the delays, in steps of a quarter, ns") \
ONRAMP_X(OWD_P99_NS, owd_p99_ns, GAUGE, \
	 "99th percentile of the delays, in steps of a quarter, ns") \
ONRAMP_X(BETA, beta, PPM, \
	 "beta of the last connection: effect of a pause on the delay, millionths") \
ONRAMP_X(PEERS, peers, GAUGE, \
	 "peers: hosts that data is sent to; from here to acks_no_flow: of the namespace") \
ONRAMP_X(CONNECTIONS, connections, GAUGE, "connections that On-Ramp follows, and can pause") \
ONRAMP_X(SUBSCRIBES, subscribes, COUNT, "SUBSCRIBEs sent") \
ONRAMP_X(SUBSCRIBE_ERRORS, subscribe_errors, COUNT, "SUBSCRIBEs that could not be sent") \
ONRAMP_X(PORT_ERRORS, port_errors, COUNT, "failed attempts to open the UDP port") \
ONRAMP_X(NO_CONNECTION, no_connection, COUNT, \
	 "flows sent without On-Ramp: no memory") \
ONRAMP_X(CONNECTIONS_FULL, connections_full, COUNT, \
	 "flows sent without On-Ramp: too many connections or peers") \
ONRAMP_X(ACKS_SHORT, acks_short, COUNT, "refused OR-ACKs: too short") \
ONRAMP_X(ACKS_LONG, acks_long, COUNT, "refused OR-ACKs: too long") \
ONRAMP_X(ACKS_VERSION, acks_version, COUNT, "refused OR-ACKs: another version") \
ONRAMP_X(ACKS_TYPE, acks_type, COUNT, "refused messages: not an OR-ACK") \
ONRAMP_X(ACKS_RESERVED, acks_reserved, COUNT, "refused OR-ACKs: a reserved bit is set") \
ONRAMP_X(ACKS_PROTOCOL, acks_protocol, COUNT, \
	 "refused OR-ACKs: another transport protocol than TCP") \
ONRAMP_X(ACKS_VALUE, acks_value, COUNT, "refused OR-ACKs: a value out of range") \
ONRAMP_X(ACKS_TAG, acks_tag, COUNT, "refused OR-ACKs: wrong tag") \
ONRAMP_X(ACKS_NO_PEER, acks_no_peer, COUNT, "refused OR-ACKs: unknown peer") \
ONRAMP_X(ACKS_NO_FLOW, acks_no_flow, COUNT, "refused OR-ACKs: unknown connection") \
ONRAMP_X(ACKS_NO_MAP, acks_no_map, COUNT, \
	 "unused OR-ACKs of the qdisc, with clock nic: no valid map of the NIC's clock") \
ONRAMP_X(ACKS_LIMITED, acks_limited, COUNT, \
	 "valid OR-ACKs whose delay was limited to their round trip") \
ONRAMP_X(PAUSE_ENDS, pause_ends, COUNT, "ends of pauses after which the queue was evaluated") \
ONRAMP_X(PAUSE_ENDS_EMPTY, pause_ends_empty, COUNT, \
	 "ends of pauses after which the queue was empty") \
ONRAMP_X(THRESHOLD_NS, threshold_ns, GAUGE, \
	 "threshold for the last OR-ACK, with error and slack, ns") \
ONRAMP_X(SLACK_NS, slack_ns, GAUGE, \
	 "slack, a part of threshold_ns: raised because pauses were too long, ns") \
ONRAMP_X(ACKS_UNSUPPORTED, acks_unsupported, COUNT, \
	 "refused OR-ACKs of the namespace: other addresses, or several connections") \
ONRAMP_X(CHALLENGES, challenges, COUNT, \
	 "CHALLENGEs of the namespace that were answered with their cookie") \
ONRAMP_X(CHALLENGES_REFUSED, challenges_refused, COUNT, \
	 "CHALLENGEs of the namespace that were refused: forged, late, or repeated") \
ONRAMP_X(FAR, far, COUNT, "connections of the qdisc to far hosts: RTT not below peers") \
ONRAMP_X(PEERS_EVICTED, peers_evicted, COUNT, \
	 "peers of the namespace evicted: they never answered, and another host needed room") \
ONRAMP_X(CONNECTIONS_CLOSED, connections_closed, COUNT, \
	 "connections of the namespace that are no longer followed: they were closed") \
ONRAMP_X(ACKS_LET_GO, acks_let_go, COUNT, \
	 "valid OR-ACKs with a shorter pause, or none: hosts without On-Ramp fill the queue") \
ONRAMP_X(SWING_NS, swing_ns, GAUGE, \
	 "unused, 0: packets that overtook others once raised threshold_ns") \
ONRAMP_X(FORWARDED, forwarded, GAUGE, \
	 "forwarded connections of the namespace in the table of forward on") \
ONRAMP_X(FORWARD_FULL, forward_full, COUNT, \
	 "packets of the namespace that got no entry there: too many connections") \
ONRAMP_X(FORWARD_YIELDS, forward_yields, COUNT, \
	 "SUBSCRIBEs that a guest sent itself: the namespace then stops subscribing for it") \
ONRAMP_X(FORWARD_SPILLS, forward_spills, COUNT, \
	 "forwarded packets at which a pause, or a wait for other bursts, ended early, as half of "\
	 "flow_limit was queued") \
ONRAMP_X(FORWARD_STRAYS, forward_strays, COUNT, \
	 "packets of the namespace not followed: their address is another MAC's, or the host's") \
ONRAMP_X(FORWARD_SMALL, forward_small, COUNT, \
	 "packets of the namespace that got no entry there: small connections, of many") \
ONRAMP_X(ACKS_LONGER, acks_longer, COUNT, \
	 "valid OR-ACKs whose delay counted less: the path has become longer, both ways at once") \
ONRAMP_X(STACKED, stacked, COUNT, \
	 "data packets left to the onramp of a device below, by which they leave next") \
ONRAMP_X(DRAINS, drains, COUNT, \
	 "drains of a path that the receiver asked for, in which all data to it was silent") \
ONRAMP_X(DRAIN_PROOFS, drain_proofs, COUNT, \
	 "drains after which the first packet showed the delay of the empty path") \
ONRAMP_X(DRAIN_VOIDS, drain_voids, COUNT, \
	 "drains after which it did not: it left too late, or met a queue") \
ONRAMP_X(SEEDS, seeds, COUNT, \
	 "baselines of the namespace that another program told, and that were taken") \
ONRAMP_X(SEEDS_REFUSED, seeds_refused, COUNT, \
	 "those that were refused: of another clock, or the path knows better")

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
