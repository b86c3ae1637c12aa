// SPDX-License-Identifier: GPL-2.0
/*
 * labnic: the direction an end receives in. See labnic_main.c for the model.
 *
 * Packets are known before they arrive, so that nothing needs to happen when they
 * do: the queues are brought up to date when somebody looks. Timers run for
 * interrupts only.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/jhash.h>
#include <net/flow_dissector.h>

#include "labnic.h"

/* Key of the hash that spreads flows over RX queues: any constant will do. */
#define LABNIC_RSS_KEY		0x6f6e7261

/*
 * Packets on the wire are bounded by what it holds, unless the receiver's CPU
 * falls behind: then look after every so many what has arrived and overflowed.
 */
#define LABNIC_RX_LOOK		256

/* Two VLAN tags are let through on top of the MTU. */
#define LABNIC_RX_SLACK		(ETH_HLEN + 2 * VLAN_HLEN)

/* Drop a frame. Its slot is free. */
static void labnic_rx_drop(struct labnic_priv *priv, struct sk_buff *skb)
{
	if (LABNIC_RX_CB(skb)->credit)
		labnic_credit_give(priv, LABNIC_RX_CB(skb)->prio, ktime_get_ns());
	kfree_skb(skb);
}

static void labnic_rx_purge(struct labnic_priv *priv, struct sk_buff_head *drop)
{
	struct sk_buff *skb;

	local_bh_disable();
	while ((skb = __skb_dequeue(drop)))
		labnic_rx_drop(priv, skb);
	local_bh_enable();
}

/* What has arrived by @now moves to the ring, or overflows to @drop. */
static void labnic_rx_advance(struct labnic_rxq *q, const struct labnic_config *cfg,
			      u64 now, struct sk_buff_head *drop)
{
	u32 dropped = 0;
	struct sk_buff *skb;

	lockdep_assert_held(&q->lock);
	while ((skb = skb_peek(&q->wire)) && LABNIC_RX_CB(skb)->arrive_ns <= now) {
		__skb_unlink(skb, &q->wire);
		if (skb_queue_len(&q->ring) < cfg->rx_ring) {
			__skb_queue_tail(&q->ring, skb);
		} else {
			__skb_queue_tail(drop, skb);
			dropped++;
		}
	}
	if (dropped)
		labnic_count(q, ring_full, dropped);
}

/*
 * Set the interrupt: rx_usecs after the first packet that waits, or when the
 * rx_frames'th arrives, and then some latency.
 */
static void labnic_rx_arm(struct labnic_rxq *q, const struct labnic_config *cfg)
{
	u64 wait_ns = cfg->rx_usecs * NSEC_PER_USEC, irq_ns;
	struct sk_buff *skb, *first;

	lockdep_assert_held(&q->lock);
	first = skb_peek(&q->ring) ?: skb_peek(&q->wire);
	if (!first)
		return;
	irq_ns = LABNIC_RX_CB(first)->arrive_ns + wait_ns;
	if (wait_ns && cfg->rx_frames) {
		s64 missing = cfg->rx_frames - skb_queue_len(&q->ring);

		if (missing <= 0) {
			irq_ns = LABNIC_RX_CB(first)->arrive_ns;
		} else if (missing <= skb_queue_len(&q->wire)) {
			skb_queue_walk(&q->wire, skb) {
				if (LABNIC_RX_CB(skb)->arrive_ns >= irq_ns)
					break;
				if (!--missing) {
					irq_ns = LABNIC_RX_CB(skb)->arrive_ns;
					break;
				}
			}
		}
	}
	if (!q->armed) {
		q->latency_ns = labnic_dist_sample(&q->rng[LABNIC_RNG_IRQ], cfg->irq_dist,
						   cfg->irq_base_ns, cfg->irq_spread_ns);
		labnic_count(q, irqs, 1);
	}
	irq_ns += q->latency_ns;
	if (q->armed && irq_ns >= q->irq_ns)
		return;
	q->armed = true;
	q->irq_ns = irq_ns;
	hrtimer_start(&q->timer, ns_to_ktime(irq_ns), HRTIMER_MODE_ABS_HARD);
}

static enum hrtimer_restart labnic_rx_timer(struct hrtimer *timer)
{
	struct labnic_rxq *q = container_of(timer, struct labnic_rxq, timer);

	napi_schedule_irqoff(&q->napi);
	return HRTIMER_NORESTART;
}

static struct labnic_rxq *labnic_rx_queue(struct labnic_priv *priv, struct sk_buff *skb)
{
	unsigned int n = READ_ONCE(priv->dev->real_num_rx_queues);
	struct flow_keys keys;
	u32 hash;

	if (n <= 1 || !skb_flow_dissect_flow_keys(skb, &keys,
						  FLOW_DISSECTOR_F_STOP_AT_FLOW_LABEL))
		return &priv->rxqs[0];
	hash = keys.control.addr_type == FLOW_DISSECTOR_KEY_IPV6_ADDRS ?
	       jhash2((u32 *)&keys.addrs.v6addrs, sizeof(keys.addrs.v6addrs) / 4,
		      LABNIC_RSS_KEY) :
	       jhash2((u32 *)&keys.addrs.v4addrs, sizeof(keys.addrs.v4addrs) / 4,
		      LABNIC_RSS_KEY);
	hash = jhash_2words(hash, (__force u32)keys.ports.ports, LABNIC_RSS_KEY);
	return &priv->rxqs[reciprocal_scale(hash, n)];
}

/**
 * labnic_rx_arrive() - a frame is on its way to this end
 * @priv: the end
 * @skb: the frame, struct labnic_rx_cb filled in; consumed
 *
 * Context: bottom halves off, tx.lock of the other end held.
 * Return: false if the end is down.
 */
bool labnic_rx_arrive(struct labnic_priv *priv, struct sk_buff *skb)
{
	struct labnic_rxq *q = labnic_rx_queue(priv, skb);
	u64 arrive_ns = LABNIC_RX_CB(skb)->arrive_ns;
	const struct labnic_config *cfg;
	struct sk_buff_head drop;
	struct sk_buff *before;

	__skb_queue_head_init(&drop);
	spin_lock(&q->lock);
	if (!q->running) {
		spin_unlock(&q->lock);
		labnic_rx_drop(priv, skb);
		return false;
	}
	cfg = rcu_dereference_bh(priv->cfg);
	/* In order but for the reordered ones. */
	before = skb_peek_tail(&q->wire);
	while (before && LABNIC_RX_CB(before)->arrive_ns > arrive_ns)
		before = skb_queue_is_first(&q->wire, before) ? NULL :
			 skb_queue_prev(&q->wire, before);
	if (before)
		__skb_queue_after(&q->wire, before, skb);
	else
		__skb_queue_head(&q->wire, skb);
	if (!(skb_queue_len(&q->wire) % LABNIC_RX_LOOK))
		labnic_rx_advance(q, cfg, ktime_get_ns(), &drop);
	/* If it is armed, only another count of frames or order can matter. */
	if (!q->armed || cfg->rx_frames || !before)
		labnic_rx_arm(q, cfg);
	spin_unlock(&q->lock);
	labnic_rx_purge(priv, &drop);
	return true;
}

/* Decide on the stamp of a packet. Returns false if there is none. */
static bool labnic_rx_stamp(struct labnic_rxq *q, const struct labnic_config *cfg,
			    u64 *sfd_ns)
{
	u64 sfd = *sfd_ns;

	if (labnic_rng_hit(&q->rng[LABNIC_RNG_RX_MISS], cfg->stamp_miss_ppb)) {
		labnic_count(q, stamps_missed, 1);
		return false;
	}
	if (q->last_sfd_ns && labnic_rng_hit(&q->rng[LABNIC_RNG_RX_DISORDER],
					     cfg->stamp_disorder_ppb)) {
		labnic_count(q, stamps_disordered, 1);
		*sfd_ns = q->last_sfd_ns;
	}
	q->last_sfd_ns = sfd;
	labnic_count(q, stamps, 1);
	return true;
}

/* Packets and bytes of one poll. */
struct labnic_rx_sum {
	u32	packets;
	u32	bytes;
	u32	too_long;
	u32	bad_fcs;
};

/*
 * Give a packet to the stack, or drop it. @raw_offset: CLOCK_MONOTONIC_RAW less
 * CLOCK_MONOTONIC in ns, if the packet has a stamp.
 */
static void labnic_rx_deliver(struct labnic_rxq *q, struct sk_buff *skb, u64 raw_offset,
			      bool gro, struct labnic_rx_sum *sum)
{
	struct labnic_rx_cb cb = *LABNIC_RX_CB(skb);
	struct labnic_priv *priv = q->priv;
	struct net_device *dev = priv->dev;

	if (unlikely(cb.bad_fcs)) {
		sum->bad_fcs++;
		labnic_rx_drop(priv, skb);
		return;
	}
	if (unlikely(skb->len > READ_ONCE(dev->mtu) + LABNIC_RX_SLACK)) {
		sum->too_long++;
		labnic_rx_drop(priv, skb);
		return;
	}
	sum->packets++;
	sum->bytes += skb->len + (skb_vlan_tag_present(skb) ? VLAN_HLEN : 0);
	if (cb.sfd_ns)
		skb_hwtstamps(skb)->hwtstamp =
			ns_to_ktime(labnic_phc_from_raw(priv, cb.sfd_ns + raw_offset));
	skb->protocol = eth_type_trans(skb, dev);
	skb_record_rx_queue(skb, q - priv->rxqs);
	priv->credit.claimed = false;
	if (gro)
		napi_gro_receive(&q->napi, skb);
	else
		netif_receive_skb(skb);
	if (cb.credit && !priv->credit.claimed)
		labnic_credit_give(priv, cb.prio, ktime_get_ns());
}

/* The poll is complete: interrupts may come again. */
static void labnic_rx_rearm(struct labnic_rxq *q)
{
	spin_lock(&q->lock);
	q->armed = false;
	if (q->running) {
		rcu_read_lock();
		labnic_rx_arm(q, rcu_dereference(q->priv->cfg));
		rcu_read_unlock();
	}
	spin_unlock(&q->lock);
}

static int labnic_poll(struct napi_struct *napi, int budget)
{
	struct labnic_rxq *q = container_of(napi, struct labnic_rxq, napi);
	struct labnic_priv *priv = q->priv;
	const struct labnic_config *cfg;
	struct sk_buff_head list, drop;
	struct labnic_rx_sum sum = {};
	u64 raw_offset = 0, now = ktime_get_ns();
	struct sk_buff *skb;
	bool stamp, gro;
	int work = 0;

	__skb_queue_head_init(&list);
	__skb_queue_head_init(&drop);
	stamp = READ_ONCE(priv->hwtstamp_rx) == HWTSTAMP_FILTER_ALL;

	rcu_read_lock();
	cfg = rcu_dereference(priv->cfg);
	gro = cfg->gro;
	spin_lock(&q->lock);
	labnic_rx_advance(q, cfg, now, &drop);
	while (work < budget && (skb = __skb_dequeue(&q->ring))) {
		__skb_queue_tail(&list, skb);
		work++;
		if (!stamp || !labnic_rx_stamp(q, cfg, &LABNIC_RX_CB(skb)->sfd_ns))
			LABNIC_RX_CB(skb)->sfd_ns = 0;
	}
	spin_unlock(&q->lock);
	rcu_read_unlock();
	labnic_rx_purge(priv, &drop);

	if (stamp && work)
		raw_offset = labnic_raw_from_mono(now) - now;
	while ((skb = __skb_dequeue(&list)))
		labnic_rx_deliver(q, skb, raw_offset, gro, &sum);

	spin_lock(&q->lock);
	u64_stats_update_begin(&q->syncp);
	q->stats.polls++;
	q->stats.packets += sum.packets;
	q->stats.bytes += sum.bytes;
	q->stats.too_long += sum.too_long;
	q->stats.bad_fcs += sum.bad_fcs;
	u64_stats_update_end(&q->syncp);
	spin_unlock(&q->lock);

	if (work < budget && napi_complete_done(napi, work))
		labnic_rx_rearm(q);
	return work;
}

/* Up and down -------------------------------------------------------------- */

/* labnic_rx_seed() - start all random streams anew */
void labnic_rx_seed(struct labnic_priv *priv, u64 seed)
{
	unsigned int i, j;

	for (i = 0; i < priv->dev->num_rx_queues; i++) {
		struct labnic_rxq *q = &priv->rxqs[i];

		spin_lock_bh(&q->lock);
		for (j = 0; j < LABNIC_RNG_RX_MAX; j++)
			labnic_rng_seed(&q->rng[j], seed,
					LABNIC_RNG_RXQ + i * LABNIC_RNG_RX_MAX + j);
		spin_unlock_bh(&q->lock);
	}
}

void labnic_rx_init(struct labnic_priv *priv)
{
	unsigned int i;

	for (i = 0; i < priv->dev->num_rx_queues; i++) {
		struct labnic_rxq *q = &priv->rxqs[i];

		q->priv = priv;
		spin_lock_init(&q->lock);
		__skb_queue_head_init(&q->wire);
		__skb_queue_head_init(&q->ring);
		u64_stats_init(&q->syncp);
		hrtimer_setup(&q->timer, labnic_rx_timer, CLOCK_MONOTONIC,
			      HRTIMER_MODE_ABS_HARD);
		netif_napi_add(priv->dev, &q->napi, labnic_poll);
	}
}

void labnic_rx_start(struct labnic_priv *priv)
{
	unsigned int i;

	for (i = 0; i < priv->dev->num_rx_queues; i++) {
		struct labnic_rxq *q = &priv->rxqs[i];

		napi_enable(&q->napi);
		spin_lock_bh(&q->lock);
		q->armed = false;
		q->running = true;
		spin_unlock_bh(&q->lock);
	}
}

/* labnic_rx_cut() - cut the wire to this end, and lose the frames on it */
void labnic_rx_cut(struct labnic_priv *priv)
{
	struct sk_buff_head drop;
	unsigned int i;

	for (i = 0; i < priv->dev->num_rx_queues; i++) {
		struct labnic_rxq *q = &priv->rxqs[i];

		__skb_queue_head_init(&drop);
		spin_lock_bh(&q->lock);
		rcu_read_lock();
		labnic_rx_advance(q, rcu_dereference(priv->cfg), ktime_get_ns(), &drop);
		rcu_read_unlock();
		skb_queue_splice_tail_init(&q->wire, &drop);
		spin_unlock_bh(&q->lock);
		labnic_rx_purge(priv, &drop);
	}
}

void labnic_rx_stop(struct labnic_priv *priv)
{
	struct sk_buff_head drop;
	unsigned int i;

	for (i = 0; i < priv->dev->num_rx_queues; i++) {
		struct labnic_rxq *q = &priv->rxqs[i];

		__skb_queue_head_init(&drop);
		spin_lock_bh(&q->lock);
		q->running = false;
		skb_queue_splice_tail_init(&q->wire, &drop);
		skb_queue_splice_tail_init(&q->ring, &drop);
		spin_unlock_bh(&q->lock);
		hrtimer_cancel(&q->timer);
		napi_disable(&q->napi);
		labnic_rx_purge(priv, &drop);
	}
}
