/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The RTT of an empty path, from all RTTs that its users ever saw: pure functions on integers.
 *
 * An RTT is that of the empty path, or longer by a queue. So the lowest one is kept for as long as
 * the route is the same. For each RTT that a user tells:
 *
 *	lower:			it replaces the value
 *	up to 1/8 above:	the value is right
 *	else:			a doubt; after a minute of doubts the lowest of them replaces
 *				the value: the route is longer
 *	else, and changed:	it replaces the value at once
 *
 * A gap of half a minute ends a minute of doubts: after a rest, one look at a full queue does not
 * count. Changed is an RTT if the law of its user refutes the one before, as that of tcp_timely
 * does where rate cuts change nothing.
 *
 * A user must not tell an RTT that it has only read: a value would show itself to be right.
 *
 * Nothing in this file depends on the kernel but fixed-size integers and WRITE_ONCE(): it is
 * compiled into the module and the unit tests.
 */
#ifndef _OR_PATH_CORE_H
#define _OR_PATH_CORE_H

#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/types.h>

/* RTTs of different kinds cannot be compared. */
enum or_path_kind {
	OR_PATH_TCP,	/* by TCP's clock, from socket to socket */
	OR_PATH_ACK,	/* from the sender's qdisc to its OR-ACK, without the hold time */
	OR_PATH_KINDS,
};

/* How an RTT is known. */
enum or_path_how {
	OR_PATH_SEEN,		/* measured, with the queue of that moment */
	OR_PATH_PROOF,		/* the path was empty there, and perhaps on the way back */
	OR_PATH_CHANGED,	/* its user takes the route for a longer one than before */
};

/* An RTT that is longer by up to this part, as a shift, shows that the value is right. */
#define OR_PATH_NEAR_SHIFT	3

/* Doubts for this long replace the value; they start over after a gap of this length, ns. */
#define OR_PATH_DOUBT_NS	60000000000ULL
#define OR_PATH_GAP_NS		30000000000ULL

/**
 * struct or_path_rtt - the RTT of an empty path
 * @rtt_ns: the lowest; 0: none. May be read beside updates
 * @low_ns: the lowest one since doubts began
 * @seen_ns: when an RTT last was @rtt_ns or near it
 * @from_ns: when doubts began; 0: there are none
 * @last_ns: when the last doubt came
 * @longer: how often a longer one has replaced the value
 * @shorter: how often one that was shorter by more than 1/8 has
 * @how: enum or_path_how of the value
 *
 * Times are of CLOCK_MONOTONIC, ns. The caller serialises updates.
 */
struct or_path_rtt {
	u32	rtt_ns;
	u32	low_ns;
	u64	seen_ns;
	u64	from_ns;
	u64	last_ns;
	u32	longer;
	u32	shorter;
	u8	how;
};

/* or_path_near() - return whether an RTT shows that a value is right, or too high; ns */
static inline bool or_path_near(u32 rtt_ns, u32 value_ns)
{
	return rtt_ns <= value_ns || rtt_ns - value_ns <= value_ns >> OR_PATH_NEAR_SHIFT;
}

/**
 * or_path_error() - return by how much a value may be too low, ns
 * @p: the value
 */
static inline u32 or_path_error(const struct or_path_rtt *p)
{
	return p->from_ns ? p->low_ns - p->rtt_ns : 0;
}

/**
 * or_path_lower_kind() - return the kind of the lower RTT
 * @rtts: of a path, by enum or_path_kind
 *
 * One that is known is lower than one that is not.
 */
static inline enum or_path_kind or_path_lower_kind(const struct or_path_rtt *rtts)
{
	u32 tcp_ns = rtts[OR_PATH_TCP].rtt_ns, ack_ns = rtts[OR_PATH_ACK].rtt_ns;

	return tcp_ns && (!ack_ns || tcp_ns <= ack_ns) ? OR_PATH_TCP : OR_PATH_ACK;
}

static inline void or_path_set(struct or_path_rtt *p, u32 rtt_ns, u8 how)
{
	/* Read without a lock. */
	WRITE_ONCE(p->rtt_ns, rtt_ns);
	p->how = how;
}

/**
 * or_path_add() - add an RTT
 * @p: value
 * @now_ns: current time, > 0
 * @rtt_ns: the RTT, > 0
 * @how: enum or_path_how
 *
 * Return: whether there is another value now, and not near the one before.
 */
static inline bool or_path_add(struct or_path_rtt *p, u64 now_ns, u32 rtt_ns, u8 how)
{
	u32 before_ns = p->rtt_ns;

	if (!before_ns || or_path_near(rtt_ns, before_ns)) {
		p->seen_ns = now_ns;
		p->from_ns = 0;
		if (!before_ns || rtt_ns < before_ns)
			or_path_set(p, rtt_ns, how);
		else if (how == OR_PATH_PROOF)
			p->how = how;
		if (!before_ns)
			return true;
		if (or_path_near(before_ns, p->rtt_ns))
			return false;
		p->shorter++;
		return true;
	}
	if (!p->from_ns || now_ns - p->last_ns >= OR_PATH_GAP_NS) {
		p->from_ns = now_ns;
		p->low_ns = rtt_ns;
	}
	p->last_ns = now_ns;
	p->low_ns = min_t(u32, p->low_ns, rtt_ns);
	if (how != OR_PATH_CHANGED) {
		if (now_ns - p->from_ns < OR_PATH_DOUBT_NS)
			return false;
		rtt_ns = p->low_ns;
	}
	or_path_set(p, rtt_ns, how);
	p->seen_ns = now_ns;
	p->from_ns = 0;
	p->longer++;
	return true;
}

#endif /* _OR_PATH_CORE_H */
