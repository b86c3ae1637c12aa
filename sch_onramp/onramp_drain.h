/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Drains of a path, which its receiver coordinates: pure functions on integers.
 *
 * Now and then the receiver sets a bit in its OR-ACKs, and each sender
 *
 *	none:	OR-ACK with the bit, at a round trip of RTT, 3/2 RTT <= 27 ms, or 100 ms if all of
 *		RTT is queue and the baseline never had support; and since the last silence began
 *		at least 100 ms and 64 times its length, 512 times if the last two were void or
 *		if the round trip of the last proof was RTT / 2 or more:
 *			no data to the host leaves for 3/2 RTT			-> silent
 *	silent:	after 5/4 RTT one segment leaves, alone				-> probed
 *	probed:	the first OR-ACK about data that left after 5/4 RTT:
 *			the data left in the silence: proof			-> none
 *			it left later, when others send again: void		-> none
 *
 * One round trip after the last sender has heard of it the queue is empty. The first quarter is
 * for those that hear of it later or have measured a shorter RTT, the second for those whose probe
 * is later. So a proof has the delay of the empty path, unless packets to other receivers share a
 * queue with it: see onramp_owd_proof(). "Drains" of Documentation/sch_onramp.md has what they
 * gain, and what a receiver can do with them at most.
 *
 * Source: BBR's ProbeRTT drains a path to see its delay (Cardwell et al., "BBR: Congestion-Based
 * Congestion Control", ACM Queue 2016). There each sender decides alone.
 *
 * Nothing in this file depends on the kernel but fixed-size integers and WRITE_ONCE(): it is
 * compiled into the module and the unit tests.
 */
#ifndef _ONRAMP_DRAIN_H
#define _ONRAMP_DRAIN_H

#include "onramp_core.h"

/*
 * Longest silence, and shortest time from the begin of one to the next, ns. The first silences of a
 * path may be longer: where hosts begin together on a slow link, the first queue is.
 */
#define ONRAMP_DRAIN_MAX_NS	27000000ULL
#define ONRAMP_DRAIN_FIRST_NS	100000000ULL
#define ONRAMP_DRAIN_AGAIN_NS	100000000ULL

/* The latter is at least this many times the length of the former; if drains are of little use. */
#define ONRAMP_DRAIN_AGAIN	64
#define ONRAMP_DRAIN_RARE	512
#define ONRAMP_DRAIN_VOIDS	2

/*
 * Qdiscs read until when data waits as one word, without a lock: CLOCK_MONOTONIC, ns. Until the
 * probe has left that is its time, and then, with this bit, the end of the silence.
 */
#define ONRAMP_DRAIN_PROBED	1ULL

/**
 * struct onramp_drain - the last drain of a path
 * @from_ns: when the silence began; 0: there was none
 * @probe_ns: when the probe may leave; even
 * @silent_ns: length of the silence, <= ONRAMP_DRAIN_FIRST_NS
 * @rest_ns: length of its part from @probe_ns on
 * @rtt_ns: round trip of the last OR-ACK; 0: unknown
 * @path_ns: round trip of the last proof; 0: there was none
 * @voids: how many have been void since, counted up to ONRAMP_DRAIN_VOIDS
 * @awaits: no OR-ACK about data that left after @probe_ns has come
 *
 * The caller serialises updates. @silent_ns and @rest_ns may be read beside them.
 */
struct onramp_drain {
	u64	from_ns;
	u64	probe_ns;
	u32	silent_ns;
	u32	rest_ns;
	u64	rtt_ns;
	u64	path_ns;
	u8	voids;
	bool	awaits;
};

/* What an OR-ACK says of the empty path. */
enum onramp_drain_says {
	ONRAMP_DRAIN_NOTHING,
	ONRAMP_DRAIN_PROOF,
	ONRAMP_DRAIN_VOID,
};

/**
 * onramp_drain_begin() - begin a silence, if one may begin
 * @d: drain
 * @now_ns: current time, > 0
 * @most_ns: longest silence, <= ONRAMP_DRAIN_FIRST_NS
 *
 * Return: whether it has begun.
 */
static inline bool onramp_drain_begin(struct onramp_drain *d, u64 now_ns, u64 most_ns)
{
	bool rare = d->voids == ONRAMP_DRAIN_VOIDS || 2 * d->path_ns >= d->rtt_ns;
	u32 again = rare ? ONRAMP_DRAIN_RARE : ONRAMP_DRAIN_AGAIN;
	u64 again_ns = max_t(u64, ONRAMP_DRAIN_AGAIN_NS, (u64)again * d->silent_ns);
	u64 silent_ns = d->rtt_ns + d->rtt_ns / 2;

	if (!silent_ns || silent_ns > most_ns ||
	    (d->from_ns && onramp_since_ns(now_ns, d->from_ns) < again_ns))
		return false;
	d->from_ns = now_ns;
	/* Also read without a lock. */
	WRITE_ONCE(d->silent_ns, (u32)silent_ns);
	WRITE_ONCE(d->rest_ns, (u32)silent_ns / 6);
	d->probe_ns = (now_ns + silent_ns - d->rest_ns) & ~ONRAMP_DRAIN_PROBED;
	d->awaits = true;
	return true;
}

/* onramp_drain_end() - note what came of a drain; @path_ns: its proof's round trip, or 0 */
static inline void onramp_drain_end(struct onramp_drain *d, u64 path_ns)
{
	if (path_ns) {
		d->path_ns = path_ns;
		d->voids = 0;
	} else {
		d->voids += d->voids < ONRAMP_DRAIN_VOIDS;
	}
}

/**
 * onramp_drain_acked() - process an OR-ACK
 * @d: drain
 * @tx_ns: when its packet left
 *
 * Return: enum onramp_drain_says. A proof still has to be near the baseline.
 */
static inline u8 onramp_drain_acked(struct onramp_drain *d, u64 tx_ns)
{
	if (!d->awaits || tx_ns < d->probe_ns)
		return ONRAMP_DRAIN_NOTHING;
	d->awaits = false;
	return tx_ns - d->probe_ns < d->rest_ns ? ONRAMP_DRAIN_PROOF : ONRAMP_DRAIN_VOID;
}

/**
 * onramp_drain_after_ns() - return how long the host's data is silent after a packet
 * @d: drain
 * @tx_ns: when the packet left
 *
 * All senders are, so the queue that the packet has met is shorter by this, or empty.
 *
 * Return: ns, also if the silence has not ended yet.
 */
static inline u64 onramp_drain_after_ns(const struct onramp_drain *d, u64 tx_ns)
{
	return min_t(u64, onramp_since_ns(d->from_ns + d->silent_ns, tx_ns), d->silent_ns);
}

/**
 * onramp_drain_part_ns() - return the part of a time that belongs to the last silence
 * @end_ns: end of the silence
 * @silent_ns: its length
 * @now_ns: end of the time
 * @ns: its length
 */
static inline u64 onramp_drain_part_ns(u64 end_ns, u32 silent_ns, u64 now_ns, u64 ns)
{
	u64 begun_ns = min_t(u64, ns, onramp_since_ns(now_ns, end_ns - silent_ns));

	return onramp_since_ns(begun_ns, onramp_since_ns(now_ns, end_ns));
}

#endif /* _ONRAMP_DRAIN_H */
