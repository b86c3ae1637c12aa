/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What flows show about the line rate of a device without a wire.
 *
 *	a flow that nothing but the line rate limits, and that sees no queue:
 *		bytes += payload since its last look
 *		no such flow for two of its looks and 2 ms?	-> begin anew
 *		16 ms over, bytes >= 15/16 of the line rate?	-> the line rate is higher by 1/4
 *
 * veth says 10 Gbit/s and carries what a CPU can, and what is behind it: a container's flow on a
 * host with a NIC of 100 Gbit/s. A link that limits the flow makes a queue, and a busy CPU sends
 * less than a flow's rate, as its timers are late. There the line rate stays: if it rises with 3/4,
 * to twice what the CPU carries, the CPU's own work looks like a queue, and costs up to half
 * of the throughput.
 */
#ifndef _LINE_SHOWN_H
#define _LINE_SHOWN_H

#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

/* Unit of times: 2^20 ns, a millisecond. */
#define LINE_SHOWN_SHIFT	20

/* How long flows have to show it, in that unit; from 10 to 100 Gbit/s 0.2 s. */
#define LINE_SHOWN_TIME		16U

/* And how long at most a look back is, in that unit: 68 s. */
#define LINE_SHOWN_MOST		(1U << 16)

/* The part of the line rate that may be missing: 1/16. */
#define LINE_SHOWN_MISSING	4

/* By that part of it the line rate rises: 1/4. */
#define LINE_SHOWN_RISE		2

/**
 * struct line_shown - what flows that only the line rate limits have sent
 * @bytes:	payload, since
 * @since:	this, 2^20 ns; wraps
 * @at:		when one of them looked last, 2^20 ns; wraps
 *
 * Written without a lock: a lost update makes the line rate rise later.
 */
struct line_shown {
	u64	bytes;
	u32	since;
	u32	at;
};

static inline void line_shown_begin(struct line_shown *s, u32 now)
{
	WRITE_ONCE(s->bytes, 0);
	WRITE_ONCE(s->since, now);
}

/**
 * line_shown_add() - nothing but the line rate limits a flow, which sees no queue
 * @s: of its device
 * @cap_bps: its largest rate at that line rate, bytes/s, < 2^38
 * @now_ns: time
 * @elapsed_ns: since it looked before
 * @bytes: payload that it has sent since then
 *
 * Context: any.
 * Return: true if the line rate is higher.
 */
static inline bool line_shown_add(struct line_shown *s, u64 cap_bps, u64 now_ns, u64 elapsed_ns,
				  u32 bytes)
{
	u32 now = (u32)(now_ns >> LINE_SHOWN_SHIFT), at = READ_ONCE(s->at), since, ms;
	u64 sent;

	elapsed_ns = min_t(u64, elapsed_ns >> LINE_SHOWN_SHIFT, LINE_SHOWN_MOST);
	/* Another flow has looked later, by the time of its own ACK. */
	if (at - now <= 2 * (u32)elapsed_ns + 2)
		now = at;
	WRITE_ONCE(s->at, now);
	if (now - at > 2 * (u32)elapsed_ns + 2) {
		line_shown_begin(s, now);
		return false;
	}
	sent = READ_ONCE(s->bytes) + bytes;
	WRITE_ONCE(s->bytes, sent);
	since = READ_ONCE(s->since);
	if (now - since < LINE_SHOWN_TIME)
		return false;
	line_shown_begin(s, now);
	ms = min_t(u32, now - since, LINE_SHOWN_MOST);
	/* 2^38 bytes/s times 2^16 units is below 2^54. A second has 953.7 units. */
	return sent >= div_u64((cap_bps - (cap_bps >> LINE_SHOWN_MISSING)) * ms,
			       1000000000U >> LINE_SHOWN_SHIFT);
}

/**
 * line_shown_rise() - return the higher line rate
 * @mbit: line rate, Mbit/s, < 2^31
 * @most: the highest that a device is believed to have, Mbit/s
 */
static inline u32 line_shown_rise(u32 mbit, u32 most)
{
	return min_t(u32, mbit + (mbit >> LINE_SHOWN_RISE) + 1, most);
}

#endif /* _LINE_SHOWN_H */
