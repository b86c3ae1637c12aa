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

#define ONRAMP_UAPI_VERSION	5

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
 * Documentation/sch_onramp.md lists what differs. New ones go to the end: their order is
 * the interface.
 */
#define ONRAMP_PARAMS \
ONRAMP_X(LIMIT, limit, PACKETS, 1, 4294967295, 10000, \
	 "most packets in each band") \
ONRAMP_X(FLOW_LIMIT, flow_limit, PACKETS, 1, 4294967295, 100, \
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
ONRAMP_X(REFILL_DELAY, refill_delay, US, 0, 4294967295000, 40000000, \
	 "a flow that was idle for longer gets a quantum when it comes back") \
ONRAMP_X(BUCKETS, buckets, COUNT, 2, 262144, 1024, \
	 "hash buckets for flows, a power of two") \
ONRAMP_X(ORPHAN_MASK, orphan_mask, MASK, 0, 4294967295, 1023, \
	 "bits of the hash that tell apart flows of packets without a socket") \
ONRAMP_X(CE_THRESHOLD, ce_threshold, US, 0, 4294967295000, 4294967295000, \
	 "mark packets with ECN that leave later than so long after they might have") \
ONRAMP_X(TIMER_SLACK, timer_slack, NS, 0, 4294967295, 10000, \
	 "a timer may be so late, to serve several flows at once") \
ONRAMP_X(HORIZON, horizon, US, 0, 4294967295000, 10000000000, \
	 "packets may ask to leave so far in the future, no farther") \
ONRAMP_X(HORIZON_DROP, horizon_drop, BOOL, 0, 1, 1, \
	 "drop packets beyond the horizon, in place of sending them at it") \
ONRAMP_X(WEIGHT0, weight[0], BYTES, 16384, 2147483647, 589824, \
	 "bytes that band 0 may send per round") \
ONRAMP_X(WEIGHT1, weight[1], BYTES, 16384, 2147483647, 196608, \
	 "bytes that band 1 may send per round") \
ONRAMP_X(WEIGHT2, weight[2], BYTES, 16384, 2147483647, 65536, \
	 "bytes that band 2 may send per round") \
ONRAMP_X(MODE, mode, WORD, 0, 2, 0, \
	 "On-Ramp: final, strawman (for comparison), or off") \
ONRAMP_X(THRESHOLD, threshold, TIME, 0, 10000000000, 0, \
	 "pause flows when the delay of their path is above this, 0 or auto: by the path") \
ONRAMP_X(GAIN, gain, PPM, 1000, 1000000, 62500, \
	 "share of a new value in what a pause is believed to do to the delay") \
ONRAMP_X(MAX_PAUSE, max_pause, TIME, 1000, 10000000000, 20000000, \
	 "a packet is held for no longer") \
ONRAMP_X(ACK_TIMEOUT, ack_timeout, TIME, 1000, 10000000000, 100000000, \
	 "what an OR-ACK says counts for so long after its packet left") \
ONRAMP_X(OWD, owd, WORD, 0, 1, 0, \
	 "delay: relative to that of the empty path, or by synced clocks") \
ONRAMP_X(CLOCK_ERROR, clock_error, TIME, 0, 1000000000, 0, \
	 "how far this host's clock may be off, for owd synced") \
ONRAMP_X(INHERIT, inherit, BOOL, 0, 1, 1, \
	 "a new connection starts with the delay of its path") \
ONRAMP_X(LINE_RATE, line_rate, RATE, 0, 1000000000000, 0, \
	 "rate of the link, 0: the speed of the device, none if it has no wire") \
ONRAMP_X(CLOCK, clock, WORD, 0, 1, 0, \
	 "of this host, for owd synced: system, CLOCK_TAI, or nic, that of the device's NIC") \
ONRAMP_X(BOUND, bound, BOOL, 0, 1, 1, \
	 "believe no delay that is longer than the round trip allows") \
ONRAMP_X(PEERS, peers, TIME, 0, 10000000000, 5000000, \
	 "ask hosts for OR-ACKs whose shortest RTT is below this, 0 or all: any host")

/* Words of the settings of that kind, from 0 on. */
#define ONRAMP_MODE_WORDS	"final", "strawman", "off"
#define ONRAMP_OWD_WORDS	"relative", "synced"
#define ONRAMP_CLOCK_WORDS	"system", "nic"

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
 * ONRAMP_X(NAME, field, KIND, "help"): of the qdisc since it was made, KIND as above.
 * GAUGEs are as of now, SIGNED is one that may be negative (two's complement), PPM one in
 * millionths; all others only ever grow.
 *
 *	offered to the qdisc = sent + in the queue + all kinds of dropped + purged
 */
#define ONRAMP_STATS \
ONRAMP_X(FLOWS, flows, GAUGE, "flows that are known") \
ONRAMP_X(INACTIVE, inactive, GAUGE, "of those, without a packet") \
ONRAMP_X(FLOWS_THROTTLED, flows_throttled, GAUGE, "of those, waiting for their time") \
ONRAMP_X(GC, gc, COUNT, "idle flows that were forgotten") \
ONRAMP_X(BAND0_PKTS, band[0].pkts, GAUGE, "packets in band 0") \
ONRAMP_X(BAND1_PKTS, band[1].pkts, GAUGE, "packets in band 1") \
ONRAMP_X(BAND2_PKTS, band[2].pkts, GAUGE, "packets in band 2") \
ONRAMP_X(BAND0_DROPS, band[0].drops, COUNT, "packets dropped as band 0 was full") \
ONRAMP_X(BAND1_DROPS, band[1].drops, COUNT, "packets dropped as band 1 was full") \
ONRAMP_X(BAND2_DROPS, band[2].drops, COUNT, "packets dropped as band 2 was full") \
ONRAMP_X(FLOWS_PLIMIT, flows_plimit, COUNT, "packets dropped as their flow was full") \
ONRAMP_X(HORIZON_DROPS, horizon_drops, COUNT, "packets dropped beyond the horizon") \
ONRAMP_X(CHANGE_DROPS, change_drops, COUNT, "packets dropped when limit was lowered") \
ONRAMP_X(PURGED, purged, COUNT, "packets thrown away when the device went down") \
ONRAMP_X(HORIZON_CAPS, horizon_caps, COUNT, "packets sent at the horizon, not beyond") \
ONRAMP_X(FASTPATH, fastpath, COUNT, "packets that needed no flow") \
ONRAMP_X(THROTTLED, throttled, COUNT, "times that a flow had to wait") \
ONRAMP_X(CE_MARK, ce_mark, COUNT, "packets marked with ECN") \
ONRAMP_X(PACING_CAPPED, pacing_capped, COUNT, "pauses between packets cut to 1 s") \
ONRAMP_X(ALLOC_ERRORS, alloc_errors, COUNT, "packets that found no memory for their flow") \
ONRAMP_X(NEXT_PACKET_DELAY, next_packet_delay, GAUGE, "ns until the next flow may go on") \
ONRAMP_X(LATENCY, latency, GAUGE, "ns that flows go on late, averaged") \
ONRAMP_X(PAUSES, pauses, COUNT, "pauses of connections") \
ONRAMP_X(PAUSED_NS, paused_ns, COUNT, "how long these were, all together") \
ONRAMP_X(PAUSE_MAX_NS, pause_max_ns, GAUGE, "the longest of them") \
ONRAMP_X(INHERITED, inherited, COUNT, "connections that began with a pause") \
ONRAMP_X(PAUSE_SHORTER, pause_shorter, COUNT, \
	 "pauses that became shorter while packets waited") \
ONRAMP_X(HELD, held, COUNT, \
	 "packets that waited for the end of a pause as the first of their flow") \
ONRAMP_X(HELD_LATE_NS, held_late_ns, GAUGE, \
	 "how much later than that they left, on average") \
ONRAMP_X(HELD_LATE_MAX_NS, held_late_max_ns, GAUGE, "the same, the most") \
ONRAMP_X(ACKS, acks, COUNT, "OR-ACKs that counted; the next four are parts of these") \
ONRAMP_X(ACKS_BELOW, acks_below, COUNT, \
	 "of a delay below the threshold, or explained by pauses") \
ONRAMP_X(ACKS_PAUSED, acks_paused, COUNT, "that set the end of a pause") \
ONRAMP_X(ACKS_CAPPED, acks_capped, COUNT, "the same, cut to max_pause") \
ONRAMP_X(ACKS_PROGRESS, acks_progress, COUNT, \
	 "that would have, but a packet had to leave first") \
ONRAMP_X(ACKS_STALE, acks_stale, COUNT, \
	 "OR-ACKs older than the last one or than ack_timeout") \
ONRAMP_X(ACKS_DUPLICATE, acks_duplicate, COUNT, "about the packet of the last one") \
ONRAMP_X(ACKS_IMPLAUSIBLE, acks_implausible, COUNT, "whose times can not be") \
ONRAMP_X(ACKS_LEARNING, acks_learning, COUNT, \
	 "while the delay of the empty path was not known") \
ONRAMP_X(ACKS_UNSYNCED, acks_unsynced, COUNT, \
	 "of receivers without a synchronised clock; with clock nic, without a NIC's stamp") \
ONRAMP_X(ACKS_NOT_IN_FLIGHT, acks_not_in_flight, COUNT, \
	 "about data that is not known to be in flight, or was not recorded") \
ONRAMP_X(ACKS_AMBIGUOUS, acks_ambiguous, COUNT, \
	 "about data that was sent more than once") \
ONRAMP_X(ACKS_REPLAY, acks_replay, COUNT, "that had been seen before") \
ONRAMP_X(ACKS_OLD, acks_old, COUNT, "too old to know whether they had been") \
ONRAMP_X(OWD_NS, owd_ns, GAUGE, "delay that the last OR-ACK told") \
ONRAMP_X(OWD_BASELINE_NS, owd_baseline_ns, SIGNED, \
	 "what was taken off for the empty path, with the difference of the clocks") \
ONRAMP_X(OWD_ERROR_NS, owd_error_ns, GAUGE, "what the threshold was widened by") \
ONRAMP_X(OWD_P50_NS, owd_p50_ns, GAUGE, "median of the delays, to a quarter") \
ONRAMP_X(OWD_P99_NS, owd_p99_ns, GAUGE, "their 99th percentile, to a quarter") \
ONRAMP_X(BETA, beta, PPM, \
	 "what a pause is believed to do to the delay, of the last connection") \
ONRAMP_X(PEERS, peers, GAUGE, \
	 "of the namespace, as all from here to acks_no_flow: hosts that data is sent to") \
ONRAMP_X(CONNECTIONS, connections, GAUGE, "connections that can be paused") \
ONRAMP_X(SUBSCRIBES, subscribes, COUNT, "SUBSCRIBEs sent") \
ONRAMP_X(SUBSCRIBE_ERRORS, subscribe_errors, COUNT, "SUBSCRIBEs that could not be sent") \
ONRAMP_X(PORT_ERRORS, port_errors, COUNT, "attempts to open the UDP port in vain") \
ONRAMP_X(NO_CONNECTION, no_connection, COUNT, \
	 "flows sent without On-Ramp for lack of memory") \
ONRAMP_X(CONNECTIONS_FULL, connections_full, COUNT, "the same, as there are too many") \
ONRAMP_X(ACKS_SHORT, acks_short, COUNT, "OR-ACKs that are too short") \
ONRAMP_X(ACKS_LONG, acks_long, COUNT, "that are too long") \
ONRAMP_X(ACKS_VERSION, acks_version, COUNT, "of another version") \
ONRAMP_X(ACKS_TYPE, acks_type, COUNT, "that are no OR-ACKs") \
ONRAMP_X(ACKS_RESERVED, acks_reserved, COUNT, "with a reserved bit") \
ONRAMP_X(ACKS_PROTOCOL, acks_protocol, COUNT, "of another transport protocol than TCP") \
ONRAMP_X(ACKS_VALUE, acks_value, COUNT, "with a value out of range") \
ONRAMP_X(ACKS_TAG, acks_tag, COUNT, "with a wrong tag") \
ONRAMP_X(ACKS_NO_PEER, acks_no_peer, COUNT, "from hosts that no data is sent to") \
ONRAMP_X(ACKS_NO_FLOW, acks_no_flow, COUNT, "for connections that there are not") \
ONRAMP_X(ACKS_NO_MAP, acks_no_map, COUNT, \
	 "of the qdisc: with clock nic, while nic_ts had no valid map of the NIC's clock") \
ONRAMP_X(ACKS_LIMITED, acks_limited, COUNT, \
	 "OR-ACKs that counted, with a delay cut to what their round trip allows") \
ONRAMP_X(PAUSE_ENDS, pause_ends, COUNT, "ends of pauses after which the path was looked at") \
ONRAMP_X(PAUSE_ENDS_EMPTY, pause_ends_empty, COUNT, "those that found an empty queue") \
ONRAMP_X(THRESHOLD_NS, threshold_ns, GAUGE, "threshold of the last OR-ACK, all included") \
ONRAMP_X(SLACK_NS, slack_ns, GAUGE, "part of it that pauses have raised it by") \
ONRAMP_X(ACKS_UNSUPPORTED, acks_unsupported, COUNT, \
	 "of the namespace: OR-ACKs about other addresses, or several connections") \
ONRAMP_X(CHALLENGES, challenges, COUNT, \
	 "of the namespace: CHALLENGEs that were answered with their cookie") \
ONRAMP_X(CHALLENGES_REFUSED, challenges_refused, COUNT, \
	 "of the namespace: CHALLENGEs that were not: forged, late, or more than one") \
ONRAMP_X(FAR, far, COUNT, "of the qdisc: connections whose RTT is not below peers") \
ONRAMP_X(PEERS_EVICTED, peers_evicted, COUNT, \
	 "of the namespace: hosts that had never answered and made room for another one") \
ONRAMP_X(CONNECTIONS_CLOSED, connections_closed, COUNT, \
	 "of the namespace: control blocks given up as their connection was closed") \
ONRAMP_X(ACKS_LET_GO, acks_let_go, COUNT, \
	 "above the threshold, with less of a pause or none: others fill the receiver's queue")

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
