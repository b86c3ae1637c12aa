// SPDX-License-Identifier: GPL-2.0
/*
 * labnic: credits. See labnic_main.c for the model, labnic_credits.h for the counts.
 *
 * The end that receives has the state, for each priority; the other end asks it before each
 * frame. A timer runs only while that one waits.
 */
#include <linux/netdevice.h>

#include "labnic.h"

/* Set the timer to the next return, for the other end, which waits. */
static void labnic_credit_arm(struct labnic_credit *credit)
{
	u64 next = U64_MAX;
	int prio;

	lockdep_assert_held(&credit->lock);
	if (!credit->waiting)
		return;
	for (prio = 0; prio < LABNIC_PRIOS; prio++)
		next = min(next, labnic_credits_next(&credit->prios[prio]));
	if (next != U64_MAX)
		hrtimer_start(&credit->timer, ns_to_ktime(next), HRTIMER_MODE_ABS_SOFT);
}

/**
 * labnic_credit_none() - return the priorities that have no credit
 * @peer: the end that receives, or NULL
 * @now: now
 * @wait: if there are any, have the sender look again when one of them has a credit
 *
 * Context: bottom halves off.
 * Return: bit mask of priorities.
 */
u8 labnic_credit_none(struct labnic_priv *peer, u64 now, bool wait)
{
	struct labnic_credit *credit;
	u8 none = 0;
	int prio;

	if (likely(!peer || !READ_ONCE(peer->credit.slots)))
		return 0;
	credit = &peer->credit;
	spin_lock(&credit->lock);
	for (prio = 0; prio < LABNIC_PRIOS; prio++)
		if (!labnic_credits_left(&credit->prios[prio], now))
			none |= BIT(prio);
	if (none && wait) {
		credit->waiting = true;
		labnic_credit_arm(credit);
	}
	spin_unlock(&credit->lock);
	return none;
}

/**
 * labnic_credit_take() - a frame is being sent
 * @peer: the end that receives
 * @prio: of the frame
 *
 * Context: tx.lock of the end that sends.
 * Return: whether it took a slot.
 */
bool labnic_credit_take(struct labnic_priv *peer, u8 prio)
{
	bool taken;

	if (likely(!READ_ONCE(peer->credit.slots)))
		return false;
	spin_lock(&peer->credit.lock);
	taken = labnic_credits_take(&peer->credit.prios[prio]);
	spin_unlock(&peer->credit.lock);
	return taken;
}

/**
 * labnic_credit_give() - a slot is free, or will be
 * @priv: the end that received the frame
 * @prio: of the frame
 * @free_ns: when
 *
 * The other end learns of it after the propagation delay.
 *
 * Context: bottom halves off.
 */
void labnic_credit_give(struct labnic_priv *priv, u8 prio, u64 free_ns)
{
	struct labnic_credit *credit = &priv->credit;
	u64 delay_ns;

	rcu_read_lock();
	delay_ns = rcu_dereference(priv->cfg)->delay_ns;
	rcu_read_unlock();
	spin_lock(&credit->lock);
	labnic_credits_give(&credit->prios[prio], free_ns + delay_ns);
	labnic_credit_arm(credit);
	spin_unlock(&credit->lock);
}

/* Slots may have become free: the other end sends on. */
static void labnic_credit_notify(struct labnic_priv *priv)
{
	struct net_device *peer;

	rcu_read_lock();
	peer = rcu_dereference(priv->peer);
	if (peer) {
		labnic_tx_kick(netdev_priv(peer));
		/* A qdisc that knows of credits holds packets back as well. */
		netif_tx_schedule_all(peer);
	}
	rcu_read_unlock();
}

static enum hrtimer_restart labnic_credit_timer(struct hrtimer *timer)
{
	struct labnic_priv *priv = container_of(timer, struct labnic_priv, credit.timer);

	spin_lock(&priv->credit.lock);
	priv->credit.waiting = false;
	spin_unlock(&priv->credit.lock);
	labnic_credit_notify(priv);
	return HRTIMER_NORESTART;
}

void labnic_credit_init(struct labnic_priv *priv)
{
	spin_lock_init(&priv->credit.lock);
	hrtimer_setup(&priv->credit.timer, labnic_credit_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
}

/* labnic_credit_stop() - the end goes down: send no more credits; RTNL, bottom halves on */
void labnic_credit_stop(struct labnic_priv *priv)
{
	spin_lock_bh(&priv->credit.lock);
	priv->credit.waiting = false;
	spin_unlock_bh(&priv->credit.lock);
	hrtimer_cancel(&priv->credit.timer);
}

/* For switches ------------------------------------------------------------- */

/**
 * labnic_credit_set() - have the other end send frames into free slots only
 * @dev: a labnic, the port
 * @slots: for each priority, 0 to LABNIC_CREDITS_MAX; 0: it sends at any time
 *
 * Who receives a frame by this port claims its slot, see labnic_credit_claim(), or else it is
 * free once the stack has the frame.
 *
 * Context: bottom halves on or off.
 */
void labnic_credit_set(struct net_device *dev, u32 slots)
{
	struct labnic_priv *priv = netdev_priv(dev);
	int prio;

	local_bh_disable();
	spin_lock(&priv->credit.lock);
	WRITE_ONCE(priv->credit.slots, slots);
	for (prio = 0; prio < LABNIC_PRIOS; prio++)
		priv->credit.prios[prio].slots = slots;
	spin_unlock(&priv->credit.lock);
	labnic_credit_notify(priv);
	local_bh_enable();
}
EXPORT_SYMBOL_GPL(labnic_credit_set);

/**
 * labnic_credit_claim() - the frame that the stack is being given keeps its slot
 * @dev: a labnic, by which it came, with one RX queue and without GRO
 *
 * Context: called while the stack handles that frame.
 */
void labnic_credit_claim(struct net_device *dev)
{
	struct labnic_priv *priv = netdev_priv(dev);

	priv->credit.claimed = true;
}
EXPORT_SYMBOL_GPL(labnic_credit_claim);

/**
 * labnic_credit_return() - a slot that was claimed is free, or will be
 * @dev: a labnic, by which the frame came
 * @prio: of the frame
 * @free_ns: when
 *
 * Context: bottom halves off.
 */
void labnic_credit_return(struct net_device *dev, u8 prio, u64 free_ns)
{
	labnic_credit_give(netdev_priv(dev), prio, free_ns);
}
EXPORT_SYMBOL_GPL(labnic_credit_return);

/**
 * labnic_credit_lacks() - return the priorities for which the other end has no free slot
 * @dev: a labnic
 *
 * When that gets less, all TX queues are scheduled.
 *
 * Context: bottom halves off.
 * Return: bit mask of priorities.
 */
u8 labnic_credit_lacks(const struct net_device *dev)
{
	const struct labnic_priv *priv = netdev_priv(dev);
	struct net_device *peer;
	u8 none = 0;

	rcu_read_lock();
	peer = rcu_dereference(priv->peer);
	if (peer)
		none = labnic_credit_none(netdev_priv(peer), ktime_get_ns(), true);
	rcu_read_unlock();
	return none;
}
EXPORT_SYMBOL_GPL(labnic_credit_lacks);

/**
 * labnic_may_cut_through() - whether frames that come by one port may leave by another one
 * @in: a labnic
 * @out: a labnic, the same one or another
 *
 * A frame that is passed on before it has arrived as a whole must not leave faster than it comes.
 *
 * Context: RTNL.
 */
bool labnic_may_cut_through(const struct net_device *in, const struct net_device *out)
{
	const struct labnic_priv *from = netdev_priv(in), *to = netdev_priv(out);
	const struct net_device *peer = rtnl_dereference(from->peer);

	if (!rtnl_dereference(from->cfg)->cut_through_ns || !peer)
		return true;
	from = netdev_priv(peer);
	return labnic_rate_of(rtnl_dereference(to->cfg)) <=
	       labnic_rate_of(rtnl_dereference(from->cfg));
}
EXPORT_SYMBOL_GPL(labnic_may_cut_through);

/**
 * labnic_tx_ends_ns() - when the transmission of a frame would end, if it were posted now
 * @dev: a labnic, with nothing in its ring
 * @len: frame in bytes, without check sequence
 *
 * Context: bottom halves off.
 */
u64 labnic_tx_ends_ns(struct net_device *dev, u32 len)
{
	struct labnic_priv *priv = netdev_priv(dev);
	struct labnic_time wire;
	u64 rate_bit;

	spin_lock(&priv->tx.lock);
	rcu_read_lock();
	rate_bit = labnic_rate_of(rcu_dereference(priv->cfg));
	rcu_read_unlock();
	wire = priv->tx.wire;
	if (rate_bit != priv->tx.rate_bit)
		wire.part = 0;
	spin_unlock(&priv->tx.lock);
	return labnic_wire_send(&wire, ktime_get_ns(), len, rate_bit).end_ns;
}
EXPORT_SYMBOL_GPL(labnic_tx_ends_ns);
