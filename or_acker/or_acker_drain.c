// SPDX-License-Identifier: GPL-2.0
/*
 * or_acker, drains: senders are silent at the same time, so that each measures its path empty.
 *
 *	a sender has come that knows nothing:
 *		begin a drain soon
 *	by the work:
 *		OR-ACKs say DRAIN from now on, for OR_ACKER_DRAIN_ON_NS
 *		for each subscriber with data of the last 10 ms:
 *			an OR-ACK of its newest flow at once
 *		again later, see or_acker_drain_ran()
 *
 * No packet decides about drains, and an OR-ACK reads one time. A sender whose first OR-ACK was
 * lost finds the bit in its next ones.
 *
 * One OR-ACK tells a sender, however many flows it has: all of them share the path.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>

#include "or_acker.h"
#include "or_acker_trace.h"

static void or_acker_drain_look(struct or_acker_net *an, void *entry)
{
	struct or_acker_sub *sub = entry;

	if (!(READ_ONCE(sub->caps) & OR_CAP_DRAIN) || READ_ONCE(sub->dead))
		return;
	an->drain_able++;
	/* Nobody would drain with those that are told later. */
	if (or_acker_drain_on(&an->drain, ktime_get_ns()))
		an->drain_notified += or_acker_notify(sub);
}

/* Tell the senders, for as long as OR-ACKs say DRAIN. */
static void or_acker_drain_notify(struct or_acker_net *an)
{
	struct or_acker_walk walk = {};

	an->drain_able = 0;
	an->drain_notified = 0;
	while (!or_acker_walk(&walk, &an->subs, or_acker_drain_look, an) &&
	       or_acker_drain_on(&an->drain, ktime_get_ns()))
		;
	or_acker_walk_exit(&walk);
}

/* or_acker_drain_work() - begin a drain, if data flows */
void or_acker_drain_work(struct work_struct *work)
{
	struct or_acker_net *an = container_of(to_delayed_work(work), struct or_acker_net,
					       drain_work);
	u64 from_ns = ktime_get_ns();
	bool on;

	rcu_read_lock();
	on = rcu_dereference(an->conf)->drain;
	rcu_read_unlock();
	spin_lock_bh(&an->lock);
	or_acker_drain_run(&an->drain, from_ns, on);
	spin_unlock_bh(&an->lock);
	if (!on)
		return;
	or_acker_drain_notify(an);
	if (an->drain_notified)
		or_acker_count(an, OR_ACKER_DRAINS);
	spin_lock_bh(&an->lock);
	if (or_acker_drain_ran(&an->drain, from_ns, an->drain_able, an->drain_notified))
		or_acker_drain_arm(an);
	trace_or_acker_drain(&an->drain, an->drain_able, an->drain_notified, from_ns);
	spin_unlock_bh(&an->lock);
}
