/* SPDX-License-Identifier: GPL-2.0 */
/*
 * or_delay: how long data of a connection waits on its way there, for congestion controls.
 *
 *	sch_onramp	or_delay_register()	it knows from OR-ACKs
 *	tcp_timely	or_delay()
 *
 * The RTT of a congestion control has the queues of the way back as well, and the time for which
 * an ACK waits behind data of its own host. This delay has neither.
 */
#ifndef _OR_DELAY_H
#define _OR_DELAY_H

#include <linux/types.h>

struct sock;

/**
 * struct or_delay - the delay of some data of a connection
 * @age_ns:	time since it left, ns, below 275 s: older data has any age
 * @queue_ns:	by how much the delay was above that of the empty path, ns; longer than a u32 holds:
 *		U32_MAX
 */
struct or_delay {
	u64	age_ns;
	u32	queue_ns;
};

/**
 * typedef or_delay_fn - write the newest delay of a connection
 * @sk: a TCP socket
 * @now_ns: CLOCK_MONOTONIC, ns
 * @delay: written if true
 *
 * Context: RCU.
 * Return: whether any is known.
 */
typedef bool or_delay_fn(const struct sock *sk, u64 now_ns, struct or_delay *delay);

void or_delay_register(or_delay_fn *fn);
void or_delay_unregister(void);
bool or_delay(const struct sock *sk, u64 now_ns, struct or_delay *delay);

#endif /* _OR_DELAY_H */
