/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Credits of a link: pure functions on integers.
 *
 * The receiver of a link has a buffer of some slots, one for each frame. A frame takes one when
 * its transmission begins, and none begins without one. When a slot is free again the sender
 * learns of that later, by the propagation delay:
 *
 *	take(now):	used += 1, if used < slots
 *	give(when):	used -= 1, at that time
 *
 *	used	slots that are taken, as the sender knows
 *
 * So at no time are more frames on the link and in the buffer than it has slots.
 *
 * The caller serialises all access.
 */
#ifndef _LABNIC_CREDITS_H
#define _LABNIC_CREDITS_H

#include <linux/limits.h>
#include <linux/types.h>

/* Slots at most: the paper's largest buffer has 32 packets. */
#define LABNIC_CREDITS_MAX	32

/**
 * struct labnic_credits - of one priority
 * @slots: of the buffer; 0: no limit, and nothing is counted
 * @used: of them
 * @coming: returns that are on their way
 * @when_ns: when each of those arrives, in no order
 */
struct labnic_credits {
	u32 slots;
	u32 used;
	u32 coming;
	u64 when_ns[LABNIC_CREDITS_MAX];
};

/* labnic_credits_collect() - count the returns that have arrived by @now */
static inline void labnic_credits_collect(struct labnic_credits *c, u64 now)
{
	u32 i = 0;

	while (i < c->coming) {
		if (c->when_ns[i] > now) {
			i++;
			continue;
		}
		c->when_ns[i] = c->when_ns[--c->coming];
		c->used--;
	}
}

/* labnic_credits_left() - may a frame be sent? */
static inline bool labnic_credits_left(struct labnic_credits *c, u64 now)
{
	labnic_credits_collect(c, now);
	return !c->slots || c->used < c->slots;
}

/**
 * labnic_credits_take() - a frame is being sent, which labnic_credits_left() allowed
 * @c: credits
 *
 * Return: whether it took a slot, which labnic_credits_give() has to give back.
 */
static inline bool labnic_credits_take(struct labnic_credits *c)
{
	if (!c->slots)
		return false;
	c->used++;
	return true;
}

/**
 * labnic_credits_give() - a slot is free again
 * @c: credits
 * @when_ns: the sender learns of it
 */
static inline void labnic_credits_give(struct labnic_credits *c, u64 when_ns)
{
	/* Slots that were taken before the limit was lower are as many as fit at most. */
	if (c->coming < c->used && c->coming < LABNIC_CREDITS_MAX)
		c->when_ns[c->coming++] = when_ns;
}

/* labnic_credits_next() - when the next return arrives, U64_MAX without any */
static inline u64 labnic_credits_next(const struct labnic_credits *c)
{
	u64 next = U64_MAX;
	u32 i;

	for (i = 0; i < c->coming; i++)
		if (c->when_ns[i] < next)
			next = c->when_ns[i];
	return next;
}

#endif /* _LABNIC_CREDITS_H */
