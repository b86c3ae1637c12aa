/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When a packet may leave, and at which rate the next one follows
 */
#ifndef _SCH_ONRAMP_PACE_H
#define _SCH_ONRAMP_PACE_H

#include "onramp.h"

/*
 * A gap after a pause of at least this is long, ns: 64 KB at 262 Mbit/s. Then the rate is badly
 * known, and a gap can end early. Where gaps are shorter, many flows share a link, and would all
 * send more whenever its queue is short.
 */
#define ONRAMP_GAP_LONG_NS	(2 * NSEC_PER_MSEC)

/*
 * The recent rate is averaged over the time that the last OR-ACK took, from its packet on,
 * within these bounds, ns.
 */
#define ONRAMP_AVERAGE_MIN_NS	(1ULL << 18)
#define ONRAMP_AVERAGE_MAX_NS	(1ULL << 27)

/* Units of struct onramp_flow.rate, 2^6 bytes/s, and of rate_at and times beside it, 2^6 ns. */
#define ONRAMP_RATE_SHIFT	6
#define ONRAMP_RATE_AT_SHIFT	6

u64 onramp_departure_ns(const struct onramp_sched *q, const struct onramp_flow *f,
			const struct sk_buff *skb, u64 now, bool *held);
void onramp_pace(struct onramp_sched *q, struct onramp_flow *f, const struct sk_buff *skb,
		 u64 departure);

/* onramp_gap_is_long() - return whether the gap after a paused packet is worth being cut short */
static inline bool onramp_gap_is_long(const struct onramp_flow *f)
{
	u32 until = f->time_next_packet >> ONRAMP_RATE_AT_SHIFT;

	return unlikely(f->rated) && f->conn &&
	       (s32)(until - f->rate_at) >= (s32)(ONRAMP_GAP_LONG_NS >> ONRAMP_RATE_AT_SHIFT);
}

#endif /* _SCH_ONRAMP_PACE_H */
