// SPDX-License-Identifier: GPL-2.0
/*
 * labnic: priority flow control. See labnic_main.c for the model.
 *
 * Frames carry state, not changes. Each end has a set of priorities that the other end must hold
 * back, and a pause frame carries the whole set. If the set changes again before the frame gets
 * onto the wire, only the last set is sent.
 */
#include <linux/netdevice.h>
#include <linux/slab.h>

#include "labnic.h"

/* Without memory for a pause frame, try again this much later. */
#define LABNIC_PFC_RETRY_NS	NSEC_PER_USEC

/* A pause frame is as short as frames get. */
#define LABNIC_PFC_BYTES	LABNIC_MIN_FRAME_BYTES

/**
 * struct labnic_pfc_frame - a pause frame on the wire
 * @list: in labnic_pfc.frames
 * @arrive_ns: its last bit arrives
 * @prios: priorities to hold back; the others may be sent
 */
struct labnic_pfc_frame {
	struct list_head list;
	u64 arrive_ns;
	u8 prios;
};

/* This end may send all but @prios from @now on. Returns priorities that it may send again. */
static u8 labnic_pfc_hold(struct labnic_priv *priv, u8 prios, u64 now)
{
	struct labnic_pfc *pfc = &priv->pfc;
	u8 resumed = pfc->paused & ~prios;
	int prio;

	lockdep_assert_held(&priv->tx.lock);
	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		if (pfc->paused & BIT(prio))
			pfc->paused_ns[prio] += now - pfc->since_ns;
		/* labnic_pfc_state() reads it without a lock. */
		if ((pfc->paused ^ prios) & BIT(prio))
			WRITE_ONCE(pfc->changed_ns[prio], now);
	}
	pfc->since_ns = now;
	/* Paused packets do not start before, even if the wire was free. */
	if (resumed && priv->tx.wire.ns < now)
		priv->tx.wire = (struct labnic_time){ .ns = now };
	/* labnic_pfc_paused() reads it without a lock. */
	WRITE_ONCE(pfc->paused, prios);
	return resumed;
}

/* Forget the pause frames that are on the wire to this end. */
static void labnic_pfc_purge(struct labnic_priv *priv)
{
	struct labnic_pfc_frame *frame, *next;

	spin_lock(&priv->pfc.lock);
	list_for_each_entry_safe(frame, next, &priv->pfc.frames, list)
		kfree(frame);
	INIT_LIST_HEAD(&priv->pfc.frames);
	WRITE_ONCE(priv->pfc.next_ns, U64_MAX);
	spin_unlock(&priv->pfc.lock);
}

/* labnic_pfc_receive() - heed the pause frames that have arrived at an end; tx.lock */
void labnic_pfc_receive(struct labnic_priv *priv, u64 now)
{
	struct labnic_pfc *pfc = &priv->pfc;
	struct labnic_pfc_frame *frame;
	u8 resumed = 0;

	lockdep_assert_held(&priv->tx.lock);
	/* Who adds one sets the timer after it, which gets here again. */
	if (likely(READ_ONCE(pfc->next_ns) > now))
		return;
	spin_lock(&pfc->lock);
	while ((frame = list_first_entry_or_null(&pfc->frames, struct labnic_pfc_frame,
						 list)) &&
	       frame->arrive_ns <= now) {
		list_del(&frame->list);
		resumed |= labnic_pfc_hold(priv, frame->prios, frame->arrive_ns);
		labnic_count(&priv->tx, pauses_received, 1);
		kfree(frame);
	}
	WRITE_ONCE(pfc->next_ns, frame ? frame->arrive_ns : U64_MAX);
	if (frame && pfc->running)
		hrtimer_start(&pfc->timer, ns_to_ktime(frame->arrive_ns),
			      HRTIMER_MODE_ABS_SOFT);
	spin_unlock(&pfc->lock);
	/* A qdisc that knows of pauses holds packets back as well. */
	if (resumed & ~pfc->paused)
		netif_tx_schedule_all(priv->dev);
}

/* A pause frame is on its way to this end. */
static void labnic_pfc_arrive(struct labnic_priv *priv, struct labnic_pfc_frame *frame)
{
	struct labnic_pfc *pfc = &priv->pfc;

	spin_lock(&pfc->lock);
	if (!pfc->running) {
		kfree(frame);
	} else {
		list_add_tail(&frame->list, &pfc->frames);
		if (pfc->next_ns == U64_MAX) {
			WRITE_ONCE(pfc->next_ns, frame->arrive_ns);
			hrtimer_start(&pfc->timer, ns_to_ktime(frame->arrive_ns),
				      HRTIMER_MODE_ABS_SOFT);
		}
	}
	spin_unlock(&pfc->lock);
}

/**
 * labnic_pfc_send() - put a pause frame on the wire, if there is one to send
 * @priv: the end that sends it
 * @cfg: its settings
 * @peer: the other end, or NULL
 * @now: now; the frame on the wire before this one has left
 *
 * Pause frames are not subject to the faults of the wire: a lost one is never
 * told again.
 *
 * Context: tx.lock.
 * Return: 0 if a frame was sent, -EAGAIN if there is none to send, or -ENOMEM.
 */
int labnic_pfc_send(struct labnic_priv *priv, const struct labnic_config *cfg,
		    struct labnic_priv *peer, u64 now)
{
	struct labnic_pfc *pfc = &priv->pfc;
	struct labnic_tx *tx = &priv->tx;
	struct labnic_pfc_frame *frame;
	struct labnic_slot slot;

	lockdep_assert_held(&tx->lock);
	if (likely(pfc->want == pfc->told) || !peer || !READ_ONCE(priv->link_up))
		return -EAGAIN;
	frame = kmalloc(sizeof(*frame), GFP_ATOMIC);
	if (!frame)
		return -ENOMEM;
	slot = labnic_wire_send(&tx->wire, now, LABNIC_PFC_BYTES, tx->rate_bit);
	tx->frame_end_ns = slot.end_ns;
	frame->arrive_ns = slot.end_ns + cfg->delay_ns;
	frame->prios = pfc->want;
	pfc->told = pfc->want;
	labnic_count(tx, pauses_sent, 1);
	labnic_pfc_arrive(peer, frame);
	return 0;
}

/* labnic_pfc_retry_ns() - time of the next attempt after -ENOMEM. */
u64 labnic_pfc_retry_ns(u64 now)
{
	return now + LABNIC_PFC_RETRY_NS;
}

static enum hrtimer_restart labnic_pfc_timer(struct hrtimer *timer)
{
	labnic_tx_kick(container_of(timer, struct labnic_priv, pfc.timer));
	return HRTIMER_NORESTART;
}

/**
 * labnic_pfc_link() - the cable has been plugged in or pulled out
 * @priv: the end
 *
 * The other end holds back nothing then, and needs to be told anew.
 *
 * Context: RTNL, bottom halves on.
 */
void labnic_pfc_link(struct labnic_priv *priv)
{
	u8 resumed;

	spin_lock_bh(&priv->tx.lock);
	labnic_pfc_purge(priv);
	resumed = labnic_pfc_hold(priv, 0, ktime_get_ns());
	priv->pfc.told = 0;
	spin_unlock_bh(&priv->tx.lock);
	local_bh_disable();
	labnic_tx_kick(priv);
	if (resumed)
		netif_tx_schedule_all(priv->dev);
	local_bh_enable();
}

/**
 * labnic_pfc_read() - time for which each priority has been paused
 * @priv: the end
 * @paused_ns: where to put it, LABNIC_PRIOS values; a pause that goes on counts
 *
 * Context: bottom halves on.
 */
void labnic_pfc_read(struct labnic_priv *priv, u64 *paused_ns)
{
	spin_lock_bh(&priv->tx.lock);
	labnic_pfc_hold(priv, priv->pfc.paused, ktime_get_ns());
	memcpy(paused_ns, priv->pfc.paused_ns, sizeof(priv->pfc.paused_ns));
	spin_unlock_bh(&priv->tx.lock);
}

void labnic_pfc_init(struct labnic_priv *priv)
{
	spin_lock_init(&priv->pfc.lock);
	INIT_LIST_HEAD(&priv->pfc.frames);
	priv->pfc.next_ns = U64_MAX;
	hrtimer_setup(&priv->pfc.timer, labnic_pfc_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
}

void labnic_pfc_start(struct labnic_priv *priv)
{
	spin_lock_bh(&priv->pfc.lock);
	priv->pfc.running = true;
	spin_unlock_bh(&priv->pfc.lock);
}

void labnic_pfc_stop(struct labnic_priv *priv)
{
	spin_lock_bh(&priv->pfc.lock);
	priv->pfc.running = false;
	spin_unlock_bh(&priv->pfc.lock);
	hrtimer_cancel(&priv->pfc.timer);
	spin_lock_bh(&priv->tx.lock);
	labnic_pfc_purge(priv);
	labnic_pfc_hold(priv, 0, ktime_get_ns());
	priv->pfc.told = 0;
	spin_unlock_bh(&priv->tx.lock);
}

/**
 * labnic_pfc_enable() - the switch may pause this port's other end
 * @dev: a labnic, the port
 * @on: it may; otherwise nothing stays paused
 *
 * The other end then looks before each frame whether it may be sent, and not only
 * before each packet.
 *
 * Context: any that may take tx.lock: bottom halves on or off.
 */
void labnic_pfc_enable(struct net_device *dev, bool on)
{
	struct labnic_priv *priv = netdev_priv(dev);

	/* Read without a lock, by the other end. */
	WRITE_ONCE(priv->pfc.enabled, on);
	if (!on)
		labnic_pfc_set(dev, 0);
}
EXPORT_SYMBOL_GPL(labnic_pfc_enable);

/**
 * labnic_pfc_set() - tell the other end which priorities not to send
 * @dev: a labnic, the port
 * @prios: bit mask of the priorities to hold back; the others may be sent
 *
 * Takes effect once a pause frame has got there: it waits for the frame on the
 * wire, but for no other, and takes its own time and the propagation delay.
 *
 * Context: bottom halves on or off; takes tx.lock, so not under it.
 */
void labnic_pfc_set(struct net_device *dev, u8 prios)
{
	struct labnic_priv *priv = netdev_priv(dev);

	local_bh_disable();
	spin_lock(&priv->tx.lock);
	priv->pfc.want = prios;
	spin_unlock(&priv->tx.lock);
	labnic_tx_kick(priv);
	local_bh_enable();
}
EXPORT_SYMBOL_GPL(labnic_pfc_set);

/**
 * labnic_pfc_paused() - return the priorities that may not be sent now
 * @dev: a labnic
 *
 * When that gets less, all TX queues are scheduled.
 *
 * Return: bit mask of priorities.
 */
u8 labnic_pfc_paused(const struct net_device *dev)
{
	const struct labnic_priv *priv = netdev_priv(dev);

	return READ_ONCE(priv->pfc.paused);
}
EXPORT_SYMBOL_GPL(labnic_pfc_paused);

/**
 * labnic_pfc_state() - return whether a priority may not be sent now, and since when
 * @dev: a labnic
 * @prio: the priority
 * @since_ns: when the pause frame arrived that said so; 0: none has
 *
 * Context: bottom halves off, on the CPU that heeds its pause frames.
 */
bool labnic_pfc_state(const struct net_device *dev, u8 prio, u64 *since_ns)
{
	const struct labnic_priv *priv = netdev_priv(dev);

	*since_ns = READ_ONCE(priv->pfc.changed_ns[prio]);
	return READ_ONCE(priv->pfc.paused) & BIT(prio);
}
EXPORT_SYMBOL_GPL(labnic_pfc_state);

/* labnic_rate_bytes() - return the line rate, bytes/s */
u64 labnic_rate_bytes(const struct net_device *dev)
{
	const struct labnic_priv *priv = netdev_priv(dev);
	u64 rate_bit;

	rcu_read_lock();
	rate_bit = labnic_rate_of(rcu_dereference(priv->cfg));
	rcu_read_unlock();
	return rate_bit / BITS_PER_BYTE;
}
EXPORT_SYMBOL_GPL(labnic_rate_bytes);
