/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mercury's switch: which egress ports are congested, and the window of each flow of them.
 * Pure functions on integers.
 *
 * A pause holds packets up, so the queue of a paused port tells nothing about the flows in it.
 * Mercury counts the bytes that arrive during a pause instead:
 *
 *	PAUSE:		t0 = now, rx = 0, Undetermined
 *	arrival:	if paused: rx += bytes
 *	RESUME:		Undetermined if Q > K and rx <= C * (now - t0), else Determined
 *	departure:	if Undetermined, and T has passed since the last look:
 *			Determined unless Q > K and Q fell since then
 *
 *	congested:	Determined and Q > K
 *
 * A flow of a congested port gets a share of the link that is its share of the queue:
 *
 *	arrival:	data of its flow += bytes
 *	departure:	data of its flow -= bytes
 *	window:		C * data / (sum of all data) * base RTT
 *
 *	C	rate of the link		K	queue above which a port is congested
 *	Q	bytes of the queue		T	10 us
 *
 * Source: He et al., "Mercury", Journal of Cloud Computing 13:72, 2024, algorithms 1 and 2 as
 * its text describes them.
 *
 * Where the paper is silent, here:
 *  - A port that was never paused is Determined, and so congested above K: "all ports are in the
 *    Determined states" at the beginning.
 *  - A second PAUSE during a pause changes nothing; so does a RESUME without a pause.
 *  - The first look at an Undetermined port is T after its RESUME, and compares with the queue of
 *    then. A queue that is equal did not fall.
 *  - A flow is a key of the caller's. Two flows with one key are one flow.
 *  - The table holds a fixed number of flows. A packet that finds it full counts for no flow
 *    (@full), and its flow gets no window from it.
 *  - A flow without data stays in the table until its place is needed, the one that has been
 *    empty for longest first. So a flow that comes and goes is not told more often.
 *  - A flow is told a window at most once per period, and a window is one byte at least.
 *
 * Nothing in here depends on the kernel but fixed-size integers and div_u64(), so that a qdisc
 * can have it as it is. The caller has the memory and serialises all access.
 */
#ifndef _LABQ_MERCURY_H
#define _LABQ_MERCURY_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define MERCURY_NSEC_PER_SEC	1000000000U

/* Longest time of a pause that is told from longer ones, seconds. */
#define MERCURY_MAX_PAUSE_S	(1U << 20)

/**
 * struct mercury_params - of a port
 * @rate:	C, bytes/s, below 2^38 (2.2 Tbit/s)
 * @k_bytes:	K
 * @period_ns:	T; 10 us in section "Experiment settings"
 */
struct mercury_params {
	u64	rate;
	u64	k_bytes;
	u64	period_ns;
};

enum mercury_state {
	MERCURY_DETERMINED,
	MERCURY_UNDETERMINED,
};

/**
 * struct mercury_port - an egress port, or one priority of it; all 0 at the beginning
 * @state:	enum mercury_state
 * @paused:	a PAUSE holds it
 * @since_ns:	t0 while it is paused; then the last look at the queue
 * @rx_bytes:	bytes that arrived since t0
 * @look_bytes:	queue at the last look
 */
struct mercury_port {
	u8	state;
	bool	paused;
	u64	since_ns;
	u64	rx_bytes;
	u64	look_bytes;
};

/**
 * mercury_bytes() - bytes that a link sends in a time
 * @rate: bytes/s, below 2^38
 * @ns: any; MERCURY_MAX_PAUSE_S at most counts
 *
 * The time is split into seconds, units of 2^15 ns and the rest. No product exceeds 2^58, and
 * the result is exact.
 *
 * Return: bytes, rounded down.
 */
static inline u64 mercury_bytes(u64 rate, u64 ns)
{
	u64 s = div_u64(ns, MERCURY_NSEC_PER_SEC), part, units, whole, rest;

	if (s >= MERCURY_MAX_PAUSE_S)
		return rate * MERCURY_MAX_PAUSE_S;
	part = ns - s * MERCURY_NSEC_PER_SEC;
	units = rate * (part >> 15);
	whole = div_u64(units, MERCURY_NSEC_PER_SEC);
	rest = units - whole * MERCURY_NSEC_PER_SEC;
	return rate * s + (whole << 15) +
	       div_u64((rest << 15) + rate * (part & 0x7fff), MERCURY_NSEC_PER_SEC);
}

/* mercury_pause() - the port may not send from @now on */
static inline void mercury_pause(struct mercury_port *port, u64 now)
{
	if (port->paused)
		return;
	port->paused = true;
	port->state = MERCURY_UNDETERMINED;
	port->since_ns = now;
	port->rx_bytes = 0;
}

/* mercury_arrive() - @bytes came for the port */
static inline void mercury_arrive(struct mercury_port *port, u32 bytes)
{
	if (port->paused)
		port->rx_bytes += bytes;
}

/**
 * mercury_resume() - the port may send again
 * @port: the port
 * @p: its parameters
 * @now: the time, ns
 * @queue: Q, bytes
 *
 * If all bytes of the pause can leave in a time as long as the pause, the queue is the pause's
 * and not that of its flows.
 */
static inline void mercury_resume(struct mercury_port *port, const struct mercury_params *p,
				  u64 now, u64 queue)
{
	if (!port->paused)
		return;
	port->paused = false;
	port->state = MERCURY_DETERMINED;
	if (queue > p->k_bytes && port->rx_bytes <= mercury_bytes(p->rate, now - port->since_ns))
		port->state = MERCURY_UNDETERMINED;
	port->since_ns = now;
	port->look_bytes = queue;
}

/**
 * mercury_depart() - a packet left the queue
 * @port: the port
 * @p: its parameters
 * @now: the time, ns
 * @queue: Q without the packet, bytes
 */
static inline void mercury_depart(struct mercury_port *port, const struct mercury_params *p,
				  u64 now, u64 queue)
{
	/* What leaves during a pause had begun before. */
	if (port->paused || port->state != MERCURY_UNDETERMINED)
		return;
	if (now - port->since_ns < p->period_ns)
		return;
	if (queue <= p->k_bytes || queue >= port->look_bytes)
		port->state = MERCURY_DETERMINED;
	port->since_ns = now;
	port->look_bytes = queue;
}

/* mercury_congested() - return whether flows of a port with @queue bytes get windows */
static inline bool mercury_congested(const struct mercury_port *port,
				     const struct mercury_params *p, u64 queue)
{
	return port->state == MERCURY_DETERMINED && queue > p->k_bytes;
}

/**
 * mercury_tcd() - does a port mark packets as TCD marks congestion?
 * @port: the port; without calls of mercury_depart(), which is not TCD's
 * @p: its parameters
 * @now: the time, ns; not 0
 * @queue: Q, bytes
 * @ton_ns: max(Ton), the time without a pause after which a port is determined
 *
 * Zhang et al., "Congestion Detection in Lossless Networks", SIGCOMM 2021, as Mercury's paper
 * has it: a port that was paused is undetermined until max(Ton) has passed. A port that was never
 * paused is determined.
 */
static inline bool mercury_tcd(const struct mercury_port *port, const struct mercury_params *p,
			       u64 now, u64 queue, u64 ton_ns)
{
	if (queue <= p->k_bytes || port->paused)
		return false;
	return !port->since_ns || now - port->since_ns >= ton_ns;
}

/* Shares of flows ---------------------------------------------------------- */

/* No place in the table: of a packet, of a list. */
#define MERCURY_NO_FLOW		0xffffU

/* Bytes of one port that shares are computed of: the most. */
#define MERCURY_MAX_DATA	(1U << 31)

/**
 * struct mercury_flow - a place in the table
 * @key:	of the flow
 * @told_ns:	when it was told a window
 * @data:	its bytes in the queue
 * @told:	it was, ever
 * @next:	in its bucket; of an empty place, in the list of them
 * @older:	without data: the one that has been so for longer
 * @newer:	without data: the one that has been so for less
 */
struct mercury_flow {
	u64	key;
	u64	told_ns;
	u32	data;
	bool	told;
	u16	next;
	u16	older;
	u16	newer;
};

/**
 * struct mercury_table - the flows of a port
 * @flows:	places for them
 * @buckets:	the first flow of each
 * @mask:	number of buckets less 1; it is a power of two
 * @free:	the first place that was never used
 * @places:	their number, below MERCURY_NO_FLOW
 * @oldest:	the flow that has been without data for longest
 * @newest:	the one for which that has been the case for least
 * @data:	sum of all flows' bytes
 * @full:	packets that found no place
 */
struct mercury_table {
	struct mercury_flow	*flows;
	u16			*buckets;
	u32			mask;
	u16			free;
	u16			places;
	u16			oldest;
	u16			newest;
	u64			data;
	u64			full;
};

/**
 * mercury_table_init() - begin with no flow
 * @t: the table
 * @flows: @places of them
 * @places: 1 to MERCURY_NO_FLOW - 1
 * @buckets: @mask + 1 of them
 * @mask: a power of two, less 1
 */
static inline void mercury_table_init(struct mercury_table *t, struct mercury_flow *flows,
				      u16 places, u16 *buckets, u32 mask)
{
	u32 i;

	*t = (struct mercury_table){
		.flows = flows, .places = places, .buckets = buckets, .mask = mask,
		.oldest = MERCURY_NO_FLOW, .newest = MERCURY_NO_FLOW,
	};
	for (i = 0; i <= mask; i++)
		buckets[i] = MERCURY_NO_FLOW;
}

/* Take a flow without data out of their list. */
static inline void mercury_unlist(struct mercury_table *t, u16 at)
{
	struct mercury_flow *f = &t->flows[at];

	if (f->older == MERCURY_NO_FLOW)
		t->oldest = f->newer;
	else
		t->flows[f->older].newer = f->newer;
	if (f->newer == MERCURY_NO_FLOW)
		t->newest = f->older;
	else
		t->flows[f->newer].older = f->older;
}

/* A flow has no data any more: the last one to make room. */
static inline void mercury_list(struct mercury_table *t, u16 at)
{
	struct mercury_flow *f = &t->flows[at];

	f->older = t->newest;
	f->newer = MERCURY_NO_FLOW;
	if (t->newest == MERCURY_NO_FLOW)
		t->oldest = at;
	else
		t->flows[t->newest].newer = at;
	t->newest = at;
}

/* A place for another flow: a new one, or that of the flow without data for longest. */
static inline u16 mercury_place(struct mercury_table *t)
{
	u16 at = t->oldest, *link;

	if (t->free < t->places)
		return t->free++;
	if (at == MERCURY_NO_FLOW)
		return at;
	mercury_unlist(t, at);
	link = &t->buckets[t->flows[at].key & t->mask];
	while (*link != at)
		link = &t->flows[*link].next;
	*link = t->flows[at].next;
	return at;
}

/**
 * mercury_flow_arrive() - count a packet for its flow
 * @t: the table
 * @key: of the flow, its low bits as good as random
 * @bytes: of the packet
 *
 * Return: the flow's place, for mercury_flow_depart(), or MERCURY_NO_FLOW if the table is full.
 */
static inline u16 mercury_flow_arrive(struct mercury_table *t, u64 key, u32 bytes)
{
	u16 *bucket = &t->buckets[key & t->mask], at;
	struct mercury_flow *f;

	for (at = *bucket; at != MERCURY_NO_FLOW; at = t->flows[at].next)
		if (t->flows[at].key == key)
			break;
	if (at != MERCURY_NO_FLOW) {
		if (!t->flows[at].data)
			mercury_unlist(t, at);
	} else {
		at = mercury_place(t);
		if (at == MERCURY_NO_FLOW) {
			t->full++;
			return at;
		}
		t->flows[at] = (struct mercury_flow){ .key = key, .next = *bucket };
		*bucket = at;
	}
	f = &t->flows[at];
	f->data += bytes;
	t->data += bytes;
	return at;
}

/**
 * mercury_flow_depart() - a packet left the queue, or was dropped from it
 * @t: the table
 * @at: place, of mercury_flow_arrive(); nothing happens for MERCURY_NO_FLOW
 * @bytes: of the packet, 1 or more, as they arrived
 */
static inline void mercury_flow_depart(struct mercury_table *t, u16 at, u32 bytes)
{
	if (at == MERCURY_NO_FLOW)
		return;
	t->flows[at].data -= bytes;
	t->data -= bytes;
	if (!t->flows[at].data)
		mercury_list(t, at);
}

/**
 * mercury_flow_due() - may a flow be told a window now?
 * @t: the table
 * @at: its place, or MERCURY_NO_FLOW
 * @now: the time, ns
 * @period_ns: time from one window to the next
 *
 * Return: whether it may. Then it is told, and the time counts from now on.
 */
static inline bool mercury_flow_due(struct mercury_table *t, u16 at, u64 now, u64 period_ns)
{
	struct mercury_flow *f;

	if (at == MERCURY_NO_FLOW)
		return false;
	f = &t->flows[at];
	if (f->told && now - f->told_ns < period_ns)
		return false;
	f->told = true;
	f->told_ns = now;
	return true;
}

/**
 * mercury_window() - the window of a flow
 * @t: the table
 * @at: place of a flow that has data
 * @bdp: C * base RTT in bytes, 1 or more
 *
 * Its share of the data, which is below 2^31, of a product below 2^32.
 *
 * Return: bytes, 1 to @bdp.
 */
static inline u32 mercury_window(const struct mercury_table *t, u16 at, u32 bdp)
{
	return max_t(u32, 1, div64_u64((u64)bdp * t->flows[at].data, t->data));
}

#endif /* _LABQ_MERCURY_H */
