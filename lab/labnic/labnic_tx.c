// SPDX-License-Identifier: GPL-2.0
/*
 * labnic: the direction an end sends in. See labnic_main.c for the model.
 *
 * Nothing but the times matters, so a frame is handed to the other end, with its
 * time of arrival, at the moment it gets onto the wire. That makes one timer
 * event do for each packet that the stack posts, however many frames it is cut
 * into: the one at which its last bit leaves. Without another packet, a stopped queue,
 * or a socket that waits for that, there is no timer: the packet's descriptors and
 * bytes are given back when the next packet is posted.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/dst_metadata.h>
#include <net/ip6_checksum.h>
#include <net/tcp.h>
#include <net/udp.h>

#include "labnic.h"

/* Faults ------------------------------------------------------------------- */

/*
 * Where bits are covered by a checksum that the stack verifies: the transport
 * header and what follows it. Returns an offset from skb->data, 0 for none.
 */
static u32 labnic_checked_offset(const struct sk_buff *skb)
{
	u32 nhoff = ETH_HLEN;
	__be16 proto = eth_hdr(skb)->h_proto;
	u8 l4;

	while (eth_type_vlan(proto)) {
		struct vlan_hdr _vlan;
		const struct vlan_hdr *vlan = skb_header_pointer(skb, nhoff, sizeof(_vlan),
								 &_vlan);

		if (!vlan)
			return 0;
		proto = vlan->h_vlan_encapsulated_proto;
		nhoff += VLAN_HLEN;
	}
	if (proto == htons(ETH_P_IP)) {
		struct iphdr _ip;
		const struct iphdr *ip = skb_header_pointer(skb, nhoff, sizeof(_ip), &_ip);

		if (!ip || ip->ihl < 5)
			return 0;
		/* The first fragment's checksum is of all of them. */
		if (ip_is_fragment(ip))
			return nhoff;
		l4 = ip->protocol;
		nhoff += ip->ihl * 4;
	} else if (proto == htons(ETH_P_IPV6)) {
		struct ipv6hdr _ip6;
		const struct ipv6hdr *ip6 = skb_header_pointer(skb, nhoff, sizeof(_ip6),
							       &_ip6);

		if (!ip6)
			return 0;
		l4 = ip6->nexthdr;
		nhoff += sizeof(_ip6);
	} else {
		return 0;
	}
	switch (l4) {
	case IPPROTO_UDP: {
		struct udphdr _uh;
		const struct udphdr *uh = skb_header_pointer(skb, nhoff, sizeof(_uh), &_uh);

		return uh && (uh->check || skb->ip_summed == CHECKSUM_PARTIAL) ? nhoff : 0;
	}
	case IPPROTO_TCP:
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return nhoff;
	}
	return 0;
}

/*
 * Flip one bit. The checksum that the NIC was to fill in is computed first, and
 * the receiver is told to verify it; a frame without one is caught by its FCS.
 */
static struct sk_buff *labnic_corrupt(struct labnic_tx *tx, struct sk_buff *skb)
{
	struct sk_buff *broken = skb_copy(skb, GFP_ATOMIC);
	u32 offset, end, bit;

	kfree_skb(skb);
	if (!broken)
		return NULL;
	offset = labnic_checked_offset(broken);
	/* What is longer than its packet says is padding. */
	end = broken->len;
	if (offset && offset < end &&
	    (broken->ip_summed != CHECKSUM_PARTIAL || !skb_checksum_help(broken))) {
		/* 8 bytes: every transport header has them, and its checksum. */
		end = min(end, offset + 8);
		bit = (labnic_rng_next(&tx->rng[LABNIC_RNG_CORRUPT_BIT]) >> 32) *
		      ((end - offset) * 8) >> 32;
		broken->data[offset + bit / 8] ^= BIT(bit % 8);
		broken->ip_summed = CHECKSUM_NONE;
	} else {
		LABNIC_RX_CB(broken)->bad_fcs = true;
	}
	return broken;
}

/* Hand a frame to the other end, unless the wire has other plans for it. */
static void labnic_tx_frame(struct labnic_priv *priv, const struct labnic_config *cfg,
			    struct labnic_priv *peer, struct sk_buff *skb, u8 prio,
			    const struct labnic_slot *slot)
{
	struct labnic_tx *tx = &priv->tx;
	struct labnic_rx_cb *cb = LABNIC_RX_CB(skb);
	struct sk_buff *copy = NULL;

	cb->arrive_ns = labnic_cut_through_ns(slot, rcu_dereference(peer->cfg)->cut_through_ns) +
			cfg->delay_ns;
	cb->sfd_ns = slot->sfd_ns + cfg->delay_ns;
	cb->bad_fcs = false;
	cb->credit = false;

	if (labnic_rng_hit(&tx->rng[LABNIC_RNG_CORRUPT], cfg->corrupt_ppb)) {
		skb = labnic_corrupt(tx, skb);
		if (!skb)
			return;
		cb = LABNIC_RX_CB(skb);
		labnic_count(tx, corrupted, 1);
	}
	if (labnic_rng_hit(&tx->rng[LABNIC_RNG_REORDER], cfg->reorder_ppb)) {
		cb->arrive_ns += cfg->reorder_ns;
		cb->sfd_ns += cfg->reorder_ns;
		labnic_count(tx, reordered, 1);
	}
	if (labnic_rng_hit(&tx->rng[LABNIC_RNG_DUPLICATE], cfg->duplicate_ppb)) {
		copy = pskb_copy(skb, GFP_ATOMIC);
		if (copy)
			labnic_count(tx, duplicated, 1);
	}
	cb->prio = prio;
	cb->credit = labnic_credit_take(peer, prio);
	if (!labnic_rx_arrive(peer, skb))
		labnic_count(tx, down, 1);
	if (copy && !labnic_rx_arrive(peer, copy))
		labnic_count(tx, down, 1);
}

/* Sending ------------------------------------------------------------------ */

/*
 * Cut a packet as the hardware does, from a clone, so that the packet itself goes
 * on to hold its socket's memory. Checksums stay offloaded.
 */
static struct sk_buff *labnic_cut(struct sk_buff *skb)
{
	netdev_features_t features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_HIGHDMA |
				     NETIF_F_HW_VLAN_CTAG_TX | NETIF_F_HW_VLAN_STAG_TX;
	struct sk_buff *clone, *segs;

	clone = skb_clone(skb, GFP_ATOMIC);
	if (!clone)
		return NULL;
	segs = skb_gso_segment(clone, features);
	consume_skb(clone);
	return IS_ERR(segs) ? NULL : segs;
}

/* Only the bytes are on the wire, none of what the sending host knows of them. */
static void labnic_forget(struct sk_buff *skb)
{
	skb_scrub_packet(skb, true);
	skb_clear_hash(skb);
	skb_reset_redirect(skb);
	/* Scrubbing leaves a departure time alone. */
	skb_set_delivery_time(skb, 0, 0);
	skb->priority = 0;
	skb->encapsulation = 0;
}

/* Return whether the packet has no destructor, and shares no part with another one. */
static bool labnic_tx_may_give(struct sk_buff *skb)
{
	return !skb->destructor && !skb_shared(skb) && !skb_cloned(skb) && !skb_zcopy(skb);
}

/*
 * The receiver writes to headers and stamps. @seg is a segment of @skb, and only
 * shares them if @skb was a chain of received packets; NULL is @skb as a whole,
 * which itself is returned if it may be.
 */
static struct sk_buff *labnic_tx_own(struct sk_buff *skb, struct sk_buff *seg)
{
	struct sk_buff *own;

	if (seg && !skb_cloned(seg))
		return seg;
	if (!seg && labnic_tx_may_give(skb)) {
		/* That was how the sender counted it. */
		if (skb_is_tcp_pure_ack(skb))
			skb->truesize = SKB_TRUESIZE(skb_end_offset(skb));
		return skb;
	}
	own = pskb_copy(seg ?: skb, GFP_ATOMIC);
	consume_skb(seg);
	return own;
}

/* A frame of @len bytes starts at @start_ns: no other of its segment before ... */
static void labnic_tx_pace(struct labnic_txq *q, u64 start_ns, u32 len, u64 pace_bit)
{
	if (start_ns > q->pace.ns)
		q->pace = (struct labnic_time){ .ns = start_ns };
	q->pace = labnic_time_add(q->pace, labnic_wire_bytes(len), pace_bit);
}

/* Cut the first packet in @q, if it is longer than a frame. Returns false without memory. */
static bool labnic_tx_segment(struct labnic_txq *q, struct sk_buff *skb)
{
	struct labnic_tx_cb *cb = LABNIC_TX_CB(skb);

	if (cb->cut || !skb_is_gso(skb))
		return true;
	q->segs = labnic_cut(skb);
	if (!q->segs)
		return false;
	cb->cut = true;
	q->pace = (struct labnic_time){};
	labnic_count(q, segmented, 1);
	return true;
}

/* Take the next segment of the packet that was cut. */
static struct sk_buff *labnic_tx_next_segment(struct labnic_txq *q)
{
	struct sk_buff *seg = q->segs;

	q->segs = seg->next;
	skb_mark_not_on_list(seg);
	return seg;
}

/*
 * Give a frame to the other end, unless the wire loses it. @seg: a segment of the packet
 * @last->skb, or NULL for the whole packet; if the packet itself is given away, @last->skb
 * becomes NULL. Returns false without memory.
 */
static bool labnic_tx_deliver(struct labnic_priv *priv, const struct labnic_config *cfg,
			      struct labnic_priv *peer, struct sk_buff *seg, u8 prio,
			      struct labnic_sent *last, const struct labnic_slot *slot)
{
	struct labnic_tx *tx = &priv->tx;
	struct sk_buff *frame;

	if (!peer || !READ_ONCE(priv->link_up)) {
		labnic_count(tx, down, 1);
		kfree_skb(seg);
		return true;
	}
	if (labnic_rng_hit(&tx->rng[LABNIC_RNG_LOSS], cfg->loss_ppb)) {
		labnic_count(tx, lost, 1);
		kfree_skb(seg);
		return true;
	}
	frame = labnic_tx_own(last->skb, seg);
	if (!frame)
		return false;
	if (frame == last->skb)
		last->skb = NULL;
	labnic_forget(frame);
	labnic_tx_frame(priv, cfg, peer, frame, prio, slot);
	return true;
}

/* The last frame of @last is on the wire, at @slot; or none is, and @slot is NULL. */
static void labnic_tx_sent(struct labnic_priv *priv, const struct labnic_config *cfg,
			   struct labnic_sent *last, struct sk_buff *stamp,
			   const struct labnic_slot *slot)
{
	struct labnic_tx *tx = &priv->tx;

	last->q->pace = (struct labnic_time){};
	last->done_ns = tx->frame_end_ns;
	tx->sent = *last;
	if (!stamp)
		return;
	if (slot)
		labnic_stamp_sent(priv, cfg, stamp, slot->sfd_ns);
	else
		labnic_stamp_put(priv, stamp);
}

/*
 * Send frames of the first packet in @q: one, or as many as its burst has room
 * for if no other queue waits.
 */
static void labnic_tx_send(struct labnic_priv *priv, const struct labnic_config *cfg,
			   struct labnic_priv *peer, struct labnic_txq *q, bool alone)
{
	struct sk_buff *skb = skb_peek(&q->ring), *seg = NULL;
	struct labnic_tx_cb cb = *LABNIC_TX_CB(skb);
	struct labnic_sent last = {
		.q = q,
		.skb = skb,
		.bytes = cb.bytes,
		.descs = cb.descs,
	};
	u32 len, sent = 0, frames = 0, bytes = 0;
	struct labnic_tx *tx = &priv->tx;
	bool more, dropped = false;
	struct labnic_slot slot;
	u64 ready;

	if (!labnic_tx_segment(q, skb)) {
		__skb_unlink(skb, &q->ring);
		labnic_tx_sent(priv, cfg, &last, cb.stamp, NULL);
		labnic_count(q, errors, 1);
		return;
	}
	cb.cut = LABNIC_TX_CB(skb)->cut;
	/* If it is given away as it is, its list pointers and its cb go with it. */
	if (!cb.cut)
		__skb_unlink(skb, &q->ring);
	do {
		if (cb.cut)
			seg = labnic_tx_next_segment(q);
		more = cb.cut && q->segs;
		len = labnic_skb_len(seg ?: skb);

		ready = max(cb.ready_ns, q->pace.ns);
		if (cfg->pace_bit && cb.cut)
			labnic_tx_pace(q, max(ready, tx->wire.ns), len, cfg->pace_bit);
		slot = labnic_wire_send(&tx->wire, ready, len, tx->rate_bit);
		tx->frame_end_ns = slot.end_ns;
		frames++;
		bytes += len;
		sent += labnic_wire_bytes(len);
		if (!labnic_tx_deliver(priv, cfg, peer, seg, cb.prio, &last, &slot))
			dropped = true;
	} while (more && alone && !cfg->pace_bit && sent < cfg->tx_burst);
	if (!more) {
		if (cb.cut)
			__skb_unlink(skb, &q->ring);
		labnic_tx_sent(priv, cfg, &last, cb.stamp, &slot);
	}
	u64_stats_update_begin(&q->syncp);
	q->stats.packets += frames;
	q->stats.bytes += bytes;
	q->stats.errors += dropped;
	u64_stats_update_end(&q->syncp);
}

/* The TX interrupt gives back what has left the wire; to be freed without the lock. */
static void labnic_tx_interrupt(struct labnic_priv *priv, struct sk_buff_head *done)
	__must_hold(&priv->tx.lock)
{
	struct labnic_tx *tx = &priv->tx;
	unsigned int i;

	for (i = 0; i < priv->dev->num_tx_queues; i++) {
		struct labnic_txq *q = &priv->txqs[i];

		q->used -= q->held_descs;
		q->done_packets += q->held_packets;
		q->done_bytes += q->held_bytes;
		q->held_descs = 0;
		q->held_packets = 0;
		q->held_bytes = 0;
	}
	skb_queue_splice_tail_init(&tx->held, done);
	tx->held_packets = 0;
}

/* See to what has left the wire by @now, and to the TX interrupt if it is due. */
static void labnic_tx_complete(struct labnic_priv *priv, const struct labnic_config *cfg,
			       u64 now, struct sk_buff_head *done)
	__must_hold(&priv->tx.lock)
{
	struct labnic_tx *tx = &priv->tx;
	struct labnic_sent *sent = &tx->sent;
	struct labnic_txq *q = sent->q;

	if (q && sent->done_ns <= now) {
		if (!tx->held_packets)
			tx->irq_ns = sent->done_ns + cfg->tx_usecs * NSEC_PER_USEC;
		q->held_descs += sent->descs;
		q->held_bytes += sent->bytes;
		q->held_packets++;
		if (sent->skb)
			__skb_queue_tail(&tx->held, sent->skb);
		tx->held_packets++;
		sent->q = NULL;
	}
	if (tx->held_packets && (!cfg->tx_usecs || now >= tx->irq_ns ||
				 (cfg->tx_frames && tx->held_packets >= cfg->tx_frames))) {
		if (cfg->tx_usecs)
			labnic_count(tx, tx_irqs, 1);
		labnic_tx_interrupt(priv, done);
	}
}

/* Tell the stack what is complete. */
static void labnic_tx_report(struct labnic_priv *priv, const struct labnic_config *cfg)
{
	unsigned int i;

	for (i = 0; i < priv->dev->num_tx_queues; i++) {
		struct netdev_queue *txq = netdev_get_tx_queue(priv->dev, i);
		struct labnic_txq *q = &priv->txqs[i];

		if (!q->done_packets)
			continue;
		netdev_tx_completed_queue(txq, q->done_packets, q->done_bytes);
		q->done_packets = 0;
		q->done_bytes = 0;
		if (netif_tx_queue_stopped(txq) &&
		    q->used + LABNIC_TX_WAKE <= cfg->tx_ring) {
			netif_tx_wake_queue(txq);
			labnic_count(q, woken, 1);
		}
	}
}

/* Whether there is anything to send. */
static bool labnic_tx_waits(const struct labnic_priv *priv)
{
	unsigned int i;

	for (i = 0; i < priv->dev->num_tx_queues; i++)
		if (!skb_queue_empty(&priv->txqs[i].ring))
			return true;
	return false;
}

/*
 * Whether anything is to happen when the frame on the wire has left. If nothing
 * is, BQL learns of it before the next packet, which leads to the same limits: only
 * the second after which it lowers one may begin later.
 */
static bool labnic_tx_awaited(struct labnic_priv *priv)
{
	const struct labnic_sent *sent = &priv->tx.sent;

	if (priv->pfc.want != priv->pfc.told)
		return true;
	if (sent->q && (sent->skb ||
			netif_xmit_stopped(netdev_get_tx_queue(priv->dev,
							       sent->q - priv->txqs))))
		return true;
	return labnic_tx_waits(priv);
}

static void labnic_tx_set_timer(struct labnic_tx *tx, u64 when_ns)
{
	tx->timed = true;
	tx->timer_ns = when_ns;
	hrtimer_start(&tx->timer, ns_to_ktime(when_ns), HRTIMER_MODE_ABS_SOFT);
}

/* The queue whose turn it is, and when it can send; NULL if all are of @held priorities. */
static struct labnic_txq *labnic_tx_pick(struct labnic_priv *priv, u8 held, u64 *ready_ns,
					 bool *alone)
{
	unsigned int i, at, n = priv->dev->num_tx_queues;
	struct labnic_tx *tx = &priv->tx;
	struct labnic_txq *best = NULL;
	u64 ready, least = 0;
	unsigned int best_at = 0;

	*alone = true;
	for (i = 1; i <= n; i++) {
		struct labnic_txq *q;

		at = tx->last + i;
		if (at >= n)
			at -= n;
		q = &priv->txqs[at];
		if (skb_queue_empty(&q->ring))
			continue;
		/* What is behind it in the same queue waits with it. */
		if (BIT(LABNIC_TX_CB(skb_peek(&q->ring))->prio) & held)
			continue;
		ready = max(LABNIC_TX_CB(skb_peek(&q->ring))->ready_ns, q->pace.ns);
		/* Who can start when the wire is free has to wait for nothing else. */
		ready = max(ready, tx->wire.ns);
		if (best)
			*alone = false;
		if (!best || ready < least) {
			best = q;
			best_at = at;
			least = ready;
		}
	}
	if (best) {
		tx->last = best_at;
		*ready_ns = max(LABNIC_TX_CB(skb_peek(&best->ring))->ready_ns,
				best->pace.ns);
	}
	return best;
}

/*
 * Send what is first on the wire, if it is due by @now. Returns false if nothing is; @next_ns
 * then becomes the time of the next event, if there is one before it.
 */
static bool labnic_tx_step(struct labnic_priv *priv, const struct labnic_config *cfg,
			   struct labnic_priv *other, u64 now, u64 *next_ns,
			   struct sk_buff_head *done)
	__must_hold(&priv->tx.lock)
{
	struct labnic_tx *tx = &priv->tx;
	unsigned int last = tx->last;
	struct labnic_txq *q;
	bool alone;
	u64 ready;
	u8 none;
	int err;

	if (tx->frame_end_ns > now) {
		if (labnic_tx_awaited(priv))
			*next_ns = tx->frame_end_ns;
		return false;
	}
	labnic_tx_complete(priv, cfg, now, done);
	err = labnic_pfc_send(priv, cfg, other, now);
	if (!err)
		return true;
	if (err == -ENOMEM)
		*next_ns = labnic_pfc_retry_ns(now);
	none = labnic_credit_none(other, now, labnic_tx_waits(priv));
	q = labnic_tx_pick(priv, priv->pfc.paused | none, &ready, &alone);
	if (!q)
		return false;
	if (ready > now) {
		/* Another one may be ready earlier, and then comes first. */
		tx->last = last;
		*next_ns = *next_ns ? min(*next_ns, ready) : ready;
		return false;
	}
	/* It can be paused between any two frames, and each takes a credit. */
	if (other && (READ_ONCE(other->pfc.enabled) || READ_ONCE(other->credit.slots)))
		alone = false;
	labnic_tx_send(priv, cfg, other, q, alone);
	return true;
}

/* Everything that is due by @now, and a timer for what comes next. */
static void labnic_tx_run(struct labnic_priv *priv, u64 now, struct sk_buff_head *done)
	__must_hold(&priv->tx.lock)
{
	struct labnic_priv *other = NULL;
	struct labnic_tx *tx = &priv->tx;
	const struct labnic_config *cfg;
	struct net_device *peer;
	u64 rate_bit, next = 0;

	rcu_read_lock();
	cfg = rcu_dereference(priv->cfg);
	peer = rcu_dereference(priv->peer);
	if (peer)
		other = netdev_priv(peer);
	rate_bit = labnic_rate_of(cfg);
	if (tx->rate_bit != rate_bit) {
		tx->wire.part = 0;
		tx->rate_bit = rate_bit;
	}
	labnic_pfc_receive(priv, now);
	while (labnic_tx_step(priv, cfg, other, now, &next, done))
		;
	labnic_tx_complete(priv, cfg, now, done);
	labnic_tx_report(priv, cfg);
	rcu_read_unlock();
	if (tx->held_packets)
		next = next ? min(next, tx->irq_ns) : tx->irq_ns;
	if (next)
		labnic_tx_set_timer(tx, next);
}

static void labnic_tx_free(struct sk_buff_head *done)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(done)))
		dev_consume_skb_any(skb);
}

static void labnic_tx_look(struct labnic_priv *priv, bool expired)
{
	struct sk_buff_head done;

	__skb_queue_head_init(&done);
	spin_lock(&priv->tx.lock);
	if (expired)
		priv->tx.timed = false;
	if (priv->tx.running)
		labnic_tx_run(priv, ktime_get_ns(), &done);
	spin_unlock(&priv->tx.lock);
	labnic_tx_free(&done);
}

/* labnic_tx_kick() - something may have become due; bottom halves off, not under tx.lock */
void labnic_tx_kick(struct labnic_priv *priv)
{
	labnic_tx_look(priv, false);
}

static enum hrtimer_restart labnic_tx_timer(struct hrtimer *timer)
{
	labnic_tx_look(container_of(timer, struct labnic_priv, tx.timer), true);
	return HRTIMER_NORESTART;
}

/*
 * A software stamp now, or a slot for a hardware one later. Only a packet that a socket
 * wants a stamp of takes a slot. Returns the clone that holds it, or NULL.
 *
 * The socket is told without tx.lock. The lock of the TX queue keeps others from its ring.
 */
static struct sk_buff *labnic_stamps_of(struct labnic_priv *priv, struct sk_buff *skb,
					u32 slots)
	__must_hold(&priv->tx.lock)
{
	struct sk_buff *stamp = NULL;

	if (likely(!(skb_shinfo(skb)->tx_flags & (SKBTX_HW_TSTAMP | SKBTX_SW_TSTAMP))))
		return NULL;
	spin_unlock(&priv->tx.lock);
	if (skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP && skb->sk &&
	    READ_ONCE(priv->hwtstamp_tx) == HWTSTAMP_TX_ON) {
		stamp = labnic_stamp_get(priv, skb, slots);
		if (!stamp) {
			spin_lock(&priv->tx.lock);
			labnic_count(&priv->tx, stamps_skipped, 1);
			spin_unlock(&priv->tx.lock);
		}
	}
	/* After SKBTX_IN_PROGRESS is known, and before the NIC can see it. */
	skb_tx_timestamp(skb);
	spin_lock(&priv->tx.lock);
	return stamp;
}

/* Post a packet to the ring of @q. The NIC fetches it after the host's delay, in order. */
static void labnic_tx_post(struct labnic_priv *priv, const struct labnic_config *cfg,
			   struct labnic_txq *q, struct sk_buff *skb, struct sk_buff *stamp,
			   u64 now)
	__must_hold(&priv->tx.lock)
{
	u32 descs = skb_shinfo(skb)->nr_frags + 1;
	u64 ready = now;

	if (cfg->host_dist != LABNIC_DIST_CONST || cfg->host_base_ns)
		ready += labnic_dist_sample(&priv->tx.rng[LABNIC_RNG_HOST], cfg->host_dist,
					    cfg->host_base_ns, cfg->host_spread_ns);
	if (!skb_queue_empty(&q->ring))
		ready = max(ready, LABNIC_TX_CB(skb_peek_tail(&q->ring))->ready_ns);

	*LABNIC_TX_CB(skb) = (struct labnic_tx_cb){
		.ready_ns = ready,
		.bytes = skb->len,
		.descs = descs,
		.prio = labnic_skb_prio(skb),
		.stamp = stamp,
	};
	q->used += descs;
	labnic_count(q, posted, 1);
	netdev_tx_sent_queue(skb_get_tx_queue(priv->dev, skb), skb->len);
	__skb_queue_tail(&q->ring, skb);
}

/**
 * labnic_start_xmit() - the stack posts a packet
 * @skb: it
 * @dev: the sending end
 *
 * Context: bottom halves off, the TX queue's own lock held.
 * Return: NETDEV_TX_BUSY only if the ring was made smaller meanwhile.
 */
netdev_tx_t labnic_start_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct netdev_queue *txq = skb_get_tx_queue(dev, skb);
	struct labnic_priv *priv = netdev_priv(dev);
	struct labnic_txq *q = &priv->txqs[skb_get_queue_mapping(skb)];
	u32 descs = skb_shinfo(skb)->nr_frags + 1;
	const struct labnic_config *cfg;
	struct labnic_tx *tx = &priv->tx;
	struct sk_buff_head done;
	struct sk_buff *stamp;
	u64 now;

	/*
	 * TCP takes pure ACKs for 2 bytes, so that they don't hold back data: no use
	 * in waiting until they have left.
	 */
	if (skb_is_tcp_pure_ack(skb) && !skb_shinfo(skb)->tx_flags)
		skb_orphan(skb);

	__skb_queue_head_init(&done);
	spin_lock(&tx->lock);
	now = ktime_get_ns();
	/* Under BH the configuration cannot be freed either. */
	cfg = rcu_dereference_bh(priv->cfg);
	if (tx->sent.q) {
		labnic_tx_complete(priv, cfg, now, &done);
		labnic_tx_report(priv, cfg);
		if (tx->held_packets && (!tx->timed || tx->timer_ns > tx->irq_ns))
			labnic_tx_set_timer(tx, tx->irq_ns);
	}
	/* The ring may have been made smaller since the queue was let run. */
	if (unlikely(q->used + descs > cfg->tx_ring && tx->running)) {
		netif_tx_stop_queue(txq);
		labnic_count(q, stopped, 1);
		spin_unlock(&tx->lock);
		labnic_tx_free(&done);
		return NETDEV_TX_BUSY;
	}
	stamp = labnic_stamps_of(priv, skb, cfg->tx_stamp_slots);
	if (unlikely(!tx->running || !READ_ONCE(priv->link_up))) {
		labnic_count(q, no_carrier, 1);
		spin_unlock(&tx->lock);
		if (stamp)
			labnic_stamp_put(priv, stamp);
		labnic_tx_free(&done);
		dev_kfree_skb_any(skb);
		return NETDEV_TX_OK;
	}

	labnic_tx_post(priv, cfg, q, skb, stamp, now);
	if (q->used + LABNIC_TX_DESCS > cfg->tx_ring) {
		netif_tx_stop_queue(txq);
		labnic_count(q, stopped, 1);
	}
	if (tx->frame_end_ns <= now)
		labnic_tx_run(priv, now, &done);
	else if (!tx->timed || tx->timer_ns > tx->frame_end_ns)
		labnic_tx_set_timer(tx, tx->frame_end_ns);
	spin_unlock(&tx->lock);
	labnic_tx_free(&done);
	return NETDEV_TX_OK;
}

/* Up and down -------------------------------------------------------------- */

/* labnic_tx_seed() - start all random streams anew */
void labnic_tx_seed(struct labnic_priv *priv, u64 seed)
{
	int i;

	spin_lock_bh(&priv->tx.lock);
	for (i = 0; i < LABNIC_RNG_TX_MAX; i++)
		labnic_rng_seed(&priv->tx.rng[i], seed, i);
	spin_unlock_bh(&priv->tx.lock);
}

/**
 * labnic_tx_limit() - hand the limit of posted bytes to BQL
 * @priv: the end
 *
 * BQL lets a packet be posted while no more than its limit is under way, so that
 * with a limit of 0 there is one packet at a time. The next completion heeds it.
 *
 * Context: RTNL.
 */
void labnic_tx_limit(struct labnic_priv *priv)
{
#ifdef CONFIG_BQL
	u32 limit = rtnl_dereference(priv->cfg)->tx_limit_bytes;
	unsigned int i;

	/* Others read it without a lock, and sysfs writes it so. */
	for (i = 0; i < priv->dev->num_tx_queues; i++)
		WRITE_ONCE(netdev_get_tx_queue(priv->dev, i)->dql.max_limit, limit);
#endif
}

void labnic_tx_init(struct labnic_priv *priv)
{
	unsigned int i;

	spin_lock_init(&priv->tx.lock);
	hrtimer_setup(&priv->tx.timer, labnic_tx_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
	__skb_queue_head_init(&priv->tx.held);
	u64_stats_init(&priv->tx.syncp);
	for (i = 0; i < priv->dev->num_tx_queues; i++) {
		__skb_queue_head_init(&priv->txqs[i].ring);
		u64_stats_init(&priv->txqs[i].syncp);
	}
}

void labnic_tx_start(struct labnic_priv *priv)
{
	spin_lock_bh(&priv->tx.lock);
	priv->tx.running = true;
	spin_unlock_bh(&priv->tx.lock);
	netif_tx_start_all_queues(priv->dev);
}

/* labnic_tx_stop() - throw away what is not on the wire yet; what has left goes on */
void labnic_tx_stop(struct labnic_priv *priv)
{
	struct labnic_tx *tx = &priv->tx;
	struct sk_buff_head done;
	struct sk_buff *skb;
	unsigned int i;

	netif_tx_disable(priv->dev);
	__skb_queue_head_init(&done);
	spin_lock_bh(&tx->lock);
	tx->running = false;
	tx->timed = false;
	/* Of what has left, nothing waits any more. */
	labnic_tx_complete(priv, rtnl_dereference(priv->cfg), U64_MAX, &done);
	labnic_tx_interrupt(priv, &done);
	for (i = 0; i < priv->dev->num_tx_queues; i++) {
		struct labnic_txq *q = &priv->txqs[i];

		skb_queue_walk(&q->ring, skb)
			if (LABNIC_TX_CB(skb)->stamp)
				labnic_stamp_put(priv, LABNIC_TX_CB(skb)->stamp);
		skb_queue_splice_tail_init(&q->ring, &done);
		kfree_skb_list(q->segs);
		q->segs = NULL;
		q->used = 0;
		q->done_packets = 0;
		q->done_bytes = 0;
		q->pace = (struct labnic_time){};
	}
	tx->frame_end_ns = 0;
	spin_unlock_bh(&tx->lock);
	hrtimer_cancel(&tx->timer);
	labnic_tx_free(&done);
	for (i = 0; i < priv->dev->num_tx_queues; i++)
		netdev_tx_reset_queue(netdev_get_tx_queue(priv->dev, i));
}
