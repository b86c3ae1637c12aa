/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State of the qdisc. onramp_sch.c describes what it does.
 *
 * Locks: the root lock of the qdisc's tree, which enqueue and dequeue are called with,
 * protects everything here. Writing settings takes RTNL as well, so a reader needs either.
 */
#ifndef _SCH_ONRAMP_H
#define _SCH_ONRAMP_H

#include <linux/ktime.h>
#include <linux/rbtree.h>
#include <linux/skbuff.h>
#include <net/pkt_sched.h>
#include <net/sock.h>
#include <net/tcp_states.h>
#include <uapi/onramp.h>

#include "onramp_conn.h"

/* enum onramp_state - where a flow is */
enum onramp_state {
	ONRAMP_IDLE,		/* in no list; it has no packet */
	ONRAMP_LISTED,		/* in a list of its band */
	ONRAMP_THROTTLED,	/* in the tree of those that wait for their time */
};

/* enum onramp_cuts - when data of connections with pauses leaves packet by packet */
enum onramp_cuts {
	ONRAMP_CUTS_SLOW,	/* to hosts by a slow path */
	ONRAMP_CUTS_LOSSY,	/* also to hosts whose path has lost packets lately */
	ONRAMP_CUTS_ALWAYS,	/* the link is slow */
};

/**
 * struct onramp_flow - the packets of one socket, or of one hash value
 * @head: all packets but @reordered, in the order of both their arrival and their departure
 * @tail: last of @head, if there is any
 * @idle_ns: when the flow became ONRAMP_IDLE, or a bit earlier; @tail is not used then
 * @next: in the list, ONRAMP_LISTED
 * @throttled_until: end of ONRAMP_THROTTLED
 * @time_next_packet: the earliest departure by its rate, 0 before any
 * @conn: its connection; NULL: On-Ramp does not follow it, and does not pause it
 * @key: of onramp_flow_sk(), onramp_flow_acks_key() or onramp_flow_hash_key(), or of an entry, to
 *	find it by
 * @hash: of the socket, to notice that another socket now has its memory
 * @bound: of a forwarded connection: it holds a reference of its entry
 * @qlen: packets in @reordered and @head
 * @credit: bytes that it may send in this round: a quantum or two at most, 2^22, and less
 *	than zero by one packet at most
 * @state: enum onramp_state
 * @sorts: there are packets in @reordered
 * @rated: there is a @rate
 * @band: that it is listed in, the one of its latest packet
 * @tried: without @conn: next attempt to get one is after this onramp_tick(); 0: at once
 * @next_record: with @conn: index of its next record, to prefetch it
 * @waited: with @conn: it has waited for the end of a pause, and packets without an EDT have the
 *	exact time at which they came
 * @node: in a bucket
 * @rate_node: in onramp_sched.delayed, by @throttled_until
 * @reordered: packets with an earlier EDT than one that had been queued before them
 * @rate: its recent rate, units of 64 bytes/s, while packets leave that a pause held
 * @rate_at: time of that rate, units of 64 ns; it wraps after four minutes
 *
 * Once a flow is found, a packet that neither waits nor overtakes another needs the first 64 bytes
 * only; to find it in its bucket takes the others too. Both lines come from memory together: the
 * struct has 128 bytes, aligned.
 */
struct onramp_flow {
	struct sk_buff		*head;
	union {
		struct sk_buff	*tail;
		u64		idle_ns;
	};
	union {
		struct onramp_flow *next;
		u64		throttled_until;
	};
	u64			time_next_packet;
	struct onramp_conn	*conn;
	unsigned long		key;
	union {
		u32		hash;
		bool		bound;
	};
	u32			qlen;
	s32			credit;
	u8			state:2;
	u8			sorts:1;
	u8			rated:1;
	u8			band;
	union {
		u16		tried;
		struct {
			u8	next_record;
			bool	waited;
		};
	};

	struct rb_node		node;
	struct rb_node		rate_node;
	struct rb_root		reordered;
	u32			rate;
	u32			rate_at;
};

/* struct onramp_list - flows in the order of their turns */
struct onramp_list {
	struct onramp_flow	*first;
	struct onramp_flow	*last;
};

/**
 * struct onramp_band - flows of one priority
 * @new_flows: flows that had been idle: they go first, once
 * @old_flows: all others
 * @credit: bytes that the band may send in this round
 */
struct onramp_band {
	struct onramp_list	new_flows;
	struct onramp_list	old_flows;
	s64			credit;
};

/* struct onramp_config - settings, see ONRAMP_PARAMS */
struct onramp_config {
	u64	limit;
	u64	flow_limit;
	u64	quantum;
	u64	initial_quantum;
	u64	pacing;
	u64	maxrate;
	u64	low_rate_threshold;
	u64	refill_delay;
	u64	orphan_mask;
	u64	ce_threshold;
	u64	timer_slack;
	u64	horizon;
	u64	horizon_drop;
	u64	weight[ONRAMP_BANDS];
	u64	buckets;
	u64	mode;
	u64	threshold;
	u64	gain;
	u64	max_pause;
	u64	ack_timeout;
	u64	owd;
	u64	clock_error;
	u64	inherit;
	u64	line_rate;
	u64	clock;
	u64	bound;
	u64	peers;
	u64	forward;
	u32	priomap;	/* two bits for each priority, its band */
};

/**
 * struct onramp_leaving - the packet that leaves next, out of its flow
 * @skb: the packet, or NULL
 * @flow: that it was in
 * @departure_ns: of onramp_departure_ns(); this and @held not of the fast queue
 * @held: it has waited for the end of a pause
 */
struct onramp_leaving {
	struct sk_buff		*skb;
	struct onramp_flow	*flow;
	u64			departure_ns;
	bool			held;
};

/**
 * struct onramp_sched - private data of the qdisc
 * @cfg: settings
 * @table: cfg.buckets trees of flows by their key; NULL until there are settings
 * @table_log: binary logarithm of their number
 * @turn: the band that is being served
 * @rounds_skip: refills of flows until onramp_rounds() is tried again
 * @bands: flows with packets to send
 * @fast: packets that need no flow of their own; not in @table, never throttled
 * @fast_flow: the flow of the packet with data in @fast, or @fast: there is none
 * @last: the flow that was last looked up, or @fast, whose key no flow has
 * @peeked: the packet that the parent has peeked at, and not taken yet
 * @shared: what connections may touch of the qdisc
 * @link: of the device, shared by its queues
 * @now_ns: the time when the clock was last read
 * @exact: it was read in this enqueue or dequeue
 * @read_at: jiffies of @now_ns
 * @precise: each dequeue has to read it
 * @marks: there is a threshold for marks
 * @rough: a packet without an EDT need not read it when it comes
 * @cuts: whether data of connections with pauses leaves packet by packet
 * @forwards: On-Ramp follows connections without a socket here
 * @follows: ONRAMP_FOLLOWS_*, by its settings
 * @line_bps: rate of the link that @byte_ns is of, bytes/s
 * @byte_ns: time of a byte on the wire, Q20 ns; 0: unknown
 * @cut_ns: when a batch was last cut
 * @part: of this queue, in the model of @link
 * @owed_max_q: most that it may owe, Q8 ns
 * @given: bytes that left this qdisc since @driver_queued last changed
 * @driver_queued: BQL's count of bytes given to the driver; it wraps
 * @delayed: throttled flows
 * @wake_ns: the earliest time of those, U64_MAX if there is none
 * @watchdog: runs the qdisc at @wake_ns
 * @stats: by ONRAMP_STATS_*; those of the qdisc itself, gauges too, except for
 *	next_packet_delay
 */
struct onramp_sched {
	struct onramp_config	cfg;
	struct rb_root		*table;
	u32			table_log;
	u32			turn;
	u32			rounds_skip;
	struct onramp_band	bands[ONRAMP_BANDS];
	struct onramp_flow	fast;
	struct onramp_flow	*fast_flow;
	struct onramp_flow	*last;
	struct onramp_leaving	peeked;
	u64			now_ns;
	unsigned long		read_at;
	bool			exact;
	bool			precise;
	bool			marks;
	bool			rough;
	enum onramp_cuts	cuts;
	bool			forwards;
	u8			follows;
	struct onramp_qdisc_shared *shared;
	struct onramp_link	*link;
	u64			line_bps;
	u64			byte_ns;
	u64			cut_ns;
	struct onramp_fifo_part	part;
	u32			owed_max_q;
	u32			given;
	u32			driver_queued;
	struct rb_root_cached	delayed;
	u64			wake_ns;
	struct qdisc_watchdog	watchdog;
	u64			stats[ONRAMP_STATS_MAX + 1];
};

/**
 * struct onramp_cb - of a packet in the queue
 * @time_to_send: its EDT, or the time when it was queued
 * @headers: bytes before its payload, if it is data that On-Ramp may pause; else 0
 * @band: the band that counts it
 */
struct onramp_cb {
	u64	time_to_send;
	u16	headers;
	u8	band;
};

/* Statistics of a band are those of band 0, plus its number. */
static_assert(ONRAMP_STATS_BAND2_PKTS - ONRAMP_STATS_BAND0_PKTS ==
	      ONRAMP_BANDS - 1);
static_assert(ONRAMP_STATS_BAND2_DROPS - ONRAMP_STATS_BAND0_DROPS ==
	      ONRAMP_BANDS - 1);

static inline struct onramp_cb *onramp_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct onramp_cb));
	return (struct onramp_cb *)qdisc_skb_cb(skb)->data;
}

/*
 * The exact time. Reading the clock is a tenth of the cost of a packet, so each packet reads
 * it once at most, and code that needs no exact time uses q->now_ns.
 */
static inline u64 onramp_clock(struct onramp_sched *q)
{
	if (!q->exact) {
		q->now_ns = ktime_get_ns();
		q->read_at = jiffies;
		q->exact = true;
	}
	return q->now_ns;
}

/*
 * A time by a jiffy at most before now, for packets without an EDT. All of them read the clock
 * when they leave, if On-Ramp is on. So most need not read it when they come: onramp_is_followed()
 * does that for those that a pause or a rate may hold back.
 */
static inline u64 onramp_about_now(struct onramp_sched *q)
{
	unsigned long tick = jiffies;

	if (q->rough && q->read_at == tick)
		return q->now_ns;
	return onramp_clock(q);
}

/* onramp_flow.tried is at most this far in the future, more than ONRAMP_EVICTED_NS. */
#define ONRAMP_TICKS_AHEAD	256

/**
 * onramp_tick() - return the time in units of onramp_flow.tried
 * @now: CLOCK_MONOTONIC, ns
 *
 * Return: 2^28 ns each, a quarter of a second, never 0; it wraps after five hours, when
 * one of these units more may pass.
 */
static inline u16 onramp_tick(u64 now)
{
	return (u16)(now >> 28) ?: 1;
}

/**
 * onramp_too_early() - return whether it is too early for another attempt to get a connection
 * @tried: onramp_flow.tried
 * @tick: of now
 *
 * Return: whether it is. @tried of five hours ago counts as a future time for some minutes.
 */
static inline bool onramp_too_early(u16 tried, u16 tick)
{
	return tried && (u16)(tried - tick) < ONRAMP_TICKS_AHEAD;
}

/*
 * Lowest bits of a key. The others are those of a socket's address, a hash, or the address of a
 * forwarded connection's entry, see onramp_fwd_out.c.
 */
#define ONRAMP_KEY_SOCKET	0UL
#define ONRAMP_KEY_HASH		1UL
#define ONRAMP_KEY_ACKS		2UL
#define ONRAMP_KEY_FORWARDED	3UL
#define ONRAMP_KEY_SHIFT	2

/* onramp_flow_forwarded() - return whether a flow is a forwarded connection */
static inline bool onramp_flow_forwarded(const struct onramp_flow *f)
{
	return (f->key & ONRAMP_KEY_FORWARDED) == ONRAMP_KEY_FORWARDED;
}

/**
 * onramp_flow_is_limited() - return whether flow_limit holds for a flow
 * @f: the flow
 *
 * TCP limits the data that a socket has in a qdisc, and a pause must lose none of that. But in
 * another namespace its owner sets TCP's limit.
 *
 * Context: the qdisc's lock.
 */
static inline bool onramp_flow_is_limited(const struct onramp_flow *f)
{
	return !f->conn || onramp_flow_forwarded(f) || READ_ONCE(f->conn->other_netns);
}

/* onramp_flow_spills() - return whether a flow has too many packets for a pause; qdisc's lock */
static inline bool onramp_flow_spills(const struct onramp_sched *q, const struct onramp_flow *f)
{
	return unlikely(f->qlen >= max_t(u64, q->cfg.flow_limit / 2, 1)) &&
	       onramp_flow_is_limited(f);
}

/* onramp_sch.c */
int onramp_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free);
struct sk_buff *onramp_dequeue(struct Qdisc *sch);
struct sk_buff *onramp_peek(struct Qdisc *sch);
void onramp_reset(struct Qdisc *sch);
void onramp_destroy(struct Qdisc *sch);

/* onramp_fwd_in.c */
int onramp_fwd_start(struct onramp_qdisc_shared *shared, struct onramp_link *link);
void onramp_fwd_stop(struct onramp_net *onet, struct onramp_link *link);

/* onramp_fwd_out.c */
struct onramp_flow *onramp_fwd_flow(struct Qdisc *sch, struct sk_buff *skb, u64 now,
				    u32 *headers);

/* onramp_netlink.c */
int onramp_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack);
int onramp_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack);
int onramp_dump(struct Qdisc *sch, struct sk_buff *skb);
int onramp_dump_stats(struct Qdisc *sch, struct gnet_dump *d);

#endif /* _SCH_ONRAMP_H */
