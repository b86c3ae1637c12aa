// SPDX-License-Identifier: GPL-2.0
/*
 * labq: the buffer of a switch, as the root qdisc of its ports
 *
 * All ports with this qdisc in one network namespace are one switch. Their egress queues share
 * its memory; each port has eight strict priorities. The kernel's routing or bridge forwards
 * between the ports. The devices are labnics with one TX queue each. Their parameter tx_limit
 * should be 0, so that all packets that wait for the wire wait here.
 *
 *	forwarded to a port(packet):
 *	  cut a packet of GRO into its frames, and do the rest for each
 *	  prio     = class selector of the DSCP, or PCP
 *	  queue    = of the port, for prio
 *	  held     = bytes here that came in by the same port with the same prio
 *	  lossless = that port has pfc on for prio
 *
 *	  mark if queue > ecn_step, or with RED's probability at the queue's (average)
 *	    length; without ECN: drop, or for the step leave alone
 *	  lossless packets are not limited by their queue, others are dropped if
 *	    queue + packet > limit				tail drop
 *	    queue + packet > alpha * free			dynamic threshold
 *	  free = size of the shared buffer - its use; drop if nothing is free
 *	  put it into the queue
 *
 *	  held > xoff: pause prio at the sender at the other end of the ingress port,
 *	    through labnic; packets that still come are charged to the headroom if there
 *	    is one, else to the shared buffer
 *
 *	wire of a port free:
 *	  send the first packet of the highest priority that the port's other end has
 *	    not paused
 *	  held <= xon, and nothing of it in the headroom: resume
 *
 * With `slots`, each port has an input buffer as well, for each priority, of so many packets. The
 * sender at its other end has a credit for each free slot, and sends nothing without one. A packet
 * holds its slot from its first bit's arrival until its transmission ends. With labnic's
 * `cut_through`, that may begin before the packet has arrived as a whole.
 *
 *	wire of a port free:
 *	  of the packets in its queue, the first one whose input sends fewer than `reads`, if the
 *	    next switch has a slot for it; the first one in the queue is overtaken `bypass` times
 *	    at most
 *	  mark it if labq_marks.h says so; without ECN it is counted
 *	  transmission ends: its slot is free, and the sender's credit goes back
 *
 * With `signal`, congested ports that are not merely paused tell senders: labq_mercury.c.
 *
 * A packet is charged to the bytes reserved for its queue (`reserved`), to the shared buffer, or
 * to the headroom. The shared buffer is `buffer` less all reserved bytes and headrooms.
 *
 * A length is in bytes of frames, padded to 60 and without preamble, check sequence
 * and gap. Packets count from their last bit's arrival (store and forward) until
 * the first one of them leaves: the packet on the wire is not in a queue.
 *
 * Simpler than hardware:
 *  - A byte of a packet takes a byte of the buffer. Real buffers have cells.
 *  - A packet's memory is free, all at once, when it starts to leave.
 *  - All priorities of a port have the same thresholds. A packet is compared with Xoff when one of
 *    its ingress port and priority comes or goes. Other packets change a dynamic Xoff as well,
 *    which takes effect at the next such packet.
 *  - Packets that the switch itself sends, or that come in by a port without this qdisc, are not
 *    accounted to an ingress port.
 *  - RED's average does not decay while the queue is empty, but with the packets
 *    that find it so.
 *
 * struct labq_ingress has the state of ingress ports, apart from the egress queues.
 *
 * Attributes and statistics: labq_params.h. Arithmetic: labq_core.h. Locks: labq.h.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/inet_ecn.h>
#include <net/netns/generic.h>
#include <net/pkt_sched.h>
#include <net/udp.h>	/* skb_gso_segment(), in whichever header it is */

#include "labq.h"
#include "labq_trace.h"

/* labq_switch_of() - the switch that a device is, or may become, a port of. */
struct labq_switch *labq_switch_of(const struct net_device *dev)
{
	return net_generic(dev_net(dev), labq_net_id);
}

/* Ingress ------------------------------------------------------------------ */

static struct labq_ingress *labq_ingress_find(struct labq_switch *sw, int ifindex)
{
	struct labq_ingress *in;

	lockdep_assert_held(&sw->lock);
	if (!ifindex)
		return NULL;
	hlist_for_each_entry(in, &sw->ingress[ifindex % ARRAY_SIZE(sw->ingress)], node)
		if (in->ifindex == ifindex)
			return in;
	return NULL;
}

/* labq_ingress_free() - forget a port that is gone, with its last packet; switch.lock */
void labq_ingress_free(struct labq_switch *sw, struct labq_ingress *in)
{
	lockdep_assert_held(&sw->lock);
	while (in->sending)
		labq_marks_end(&sw->marks[in->ends_prio[--in->sending]], in->index);
	if (in->index < LABQ_MARKS_PORTS)
		__clear_bit(in->index, sw->indices);
	kfree(in);
}

/* Whether the port wants to lose nothing of a priority that comes in by it. */
static bool labq_ingress_lossless(const struct labq_ingress *in, u8 prio)
{
	return in && in->port && in->port->cfg.pfc && in->port->cfg.pfc_prio & BIT(prio);
}

/**
 * labq_pause_apply() - tell the sender at the other end which priorities it may send
 * @sw: the switch
 * @in: the ingress port
 *
 * Context: switch.lock. It is the order of calls that makes the last one count.
 */
void labq_pause_apply(struct labq_switch *sw, struct labq_ingress *in)
{
	lockdep_assert_held(&sw->lock);
	if (in->port && in->port->labnic)
		labnic_pfc_set(in->port->dev, in->paused);
}

/* labq_pause_check() - pause or resume a priority of an ingress port; switch.lock */
void labq_pause_check(struct labq_switch *sw, struct labq_ingress *in, u8 prio)
{
	struct labq_ingress_prio *p = &in->prios[prio];
	bool paused = p->held.paused;
	u64 xoff = 0;

	lockdep_assert_held(&sw->lock);
	if (!paused && !labq_ingress_lossless(in, prio))
		return;
	p->held.paused = false;
	if (labq_ingress_lossless(in, prio)) {
		xoff = labq_xoff(&in->port->cfg, &sw->shared);
		p->held.paused = labq_pause(&in->port->cfg, xoff, &p->held, paused);
	}
	if (p->held.paused == paused)
		return;
	in->paused ^= BIT(prio);
	p->pauses += p->held.paused;
	/* Without a port there is no sender to tell. */
	if (!in->port)
		return;
	trace_labq_pause(in->port, prio, p->held.paused, xoff);
	labq_pause_apply(sw, in);
}

static void labq_ingress_charge(struct labq_switch *sw, const struct labq_cb *cb)
{
	struct labq_ingress *in = cb->ingress;
	struct labq_ingress_prio *p = &in->prios[cb->prio];

	in->packets++;
	p->held.bytes += cb->bytes;
	if (cb->pool == LABQ_POOL_HEADROOM)
		p->held.headroom += cb->bytes;
	p->max_held_bytes = max(p->max_held_bytes, p->held.bytes);
	p->max_headroom_bytes = max(p->max_headroom_bytes, p->held.headroom);
	labq_pause_check(sw, in, cb->prio);
}

static void labq_ingress_release(struct labq_switch *sw, const struct labq_cb *cb)
{
	struct labq_ingress *in = cb->ingress;
	struct labq_ingress_prio *p = &in->prios[cb->prio];

	in->packets--;
	p->held.bytes -= cb->bytes;
	if (cb->pool == LABQ_POOL_HEADROOM)
		p->held.headroom -= cb->bytes;
	labq_pause_check(sw, in, cb->prio);
	/* The last packet of a port that is gone. */
	if (!in->port && !in->packets)
		labq_ingress_free(sw, in);
}

/* Input buffers ------------------------------------------------------------ */

/* Bring the slots of a port up to date. */
static void labq_slots_settle(struct labq_switch *sw, struct labq_ingress *in, u64 now)
{
	u8 i = 0;

	lockdep_assert_held(&sw->lock);
	while (i < in->sending) {
		if (in->ends_ns[i] > now) {
			i++;
			continue;
		}
		labq_marks_end(&sw->marks[in->ends_prio[i]], in->index);
		in->sending--;
		in->ends_ns[i] = in->ends_ns[in->sending];
		in->ends_prio[i] = in->ends_prio[in->sending];
	}
}

/* When an input can send another packet; @now if it can. */
static u64 labq_slots_free_ns(struct labq_switch *sw, struct labq_ingress *in, u64 now)
{
	u64 free_ns = U64_MAX;
	u8 i;

	labq_slots_settle(sw, in, now);
	if (in->sending < sw->cfg.reads)
		return now;
	for (i = 0; i < in->sending; i++)
		free_ns = min(free_ns, in->ends_ns[i]);
	return free_ns;
}

/* The packet that filled a buffer did not leave at once, or it has left: trigger the event. */
static void labq_slots_trigger(struct labq_switch *sw)
{
	lockdep_assert_held(&sw->lock);
	if (sw->filling)
		labq_marks_trigger(&sw->marks[sw->filling_prio], sw->filled);
	sw->filling = NULL;
}

/* A packet that was let into a queue takes a slot where it came in, if that has slots. */
static void labq_slots_arrive(struct labq_port *port, const struct sk_buff *skb,
			      struct labq_cb *cb)
{
	struct labq_ingress *in = cb->ingress;
	struct labq_switch *sw = port->sw;
	struct labq_ingress_prio *p;

	if (!in || !in->port || !in->port->cfg.slots)
		return;
	p = &in->prios[cb->prio];
	labq_slots_settle(sw, in, ktime_get_ns());
	cb->slot = true;
	labnic_credit_claim(in->port->dev);
	labq_slots_trigger(sw);
	if (labq_marks_come(&sw->marks[cb->prio], in->index, port->index)) {
		sw->filling = skb;
		sw->filled = in->index;
		sw->filling_prio = cb->prio;
	}
	p->max_slots = max(p->max_slots, sw->marks[cb->prio].used[in->index]);
}

/*
 * A packet begins to leave: its input is busy until its transmission ends, and its slot is
 * free then.
 */
static void labq_slots_leave(struct labq_port *port, struct sk_buff *skb)
{
	struct labq_cb *cb = labq_cb(skb);
	struct labq_queue *q = &port->queues[cb->prio];
	struct labq_ingress *in = cb->ingress;
	struct labq_switch *sw = port->sw;
	bool starved = port->starved & BIT(cb->prio);
	u64 end_ns;

	lockdep_assert_held(&sw->lock);
	port->starved &= ~BIT(cb->prio);
	if (!cb->slot)
		return;
	labq_slots_settle(sw, in, ktime_get_ns());
	/* A packet that leaves when it comes cuts through. It does not wait. */
	if (sw->filling != skb || cb->came_ns != (u32)ktime_get_ns())
		labq_slots_trigger(sw);
	if (labq_marks_leave(&sw->marks[cb->prio], in->index, port->index, starved)) {
		if (INET_ECN_set_ce(skb))
			q->marked_buffer++;
		else
			q->unmarked_buffer++;
	}
	labq_slots_trigger(sw);
	end_ns = labnic_tx_ends_ns(port->dev, cb->bytes);
	in->ends_ns[in->sending] = end_ns;
	in->ends_prio[in->sending] = cb->prio;
	in->sending++;
	if (in->port)
		labnic_credit_return(in->port->dev, cb->prio, end_ns);
}

/* A packet is dropped from its queue. */
static void labq_slots_purge(struct labq_port *port, const struct labq_cb *cb)
{
	struct labq_ingress *in = cb->ingress;
	struct labq_switch *sw = port->sw;

	if (!cb->slot)
		return;
	labq_slots_trigger(sw);
	labq_marks_leave(&sw->marks[cb->prio], in->index, port->index, true);
	labq_marks_end(&sw->marks[cb->prio], in->index);
	if (in->port)
		labnic_credit_return(in->port->dev, cb->prio, ktime_get_ns());
}

/*
 * The crossbar: take the first packet of a queue whose input can send one more. The
 * first packet can be overtaken `bypass` times; then the output waits for its input. Without
 * any packet, @wait_ns becomes the time at which to look again, if that is earlier.
 */
static struct sk_buff *labq_pick(struct labq_port *port, struct labq_queue *q, u64 *wait_ns)
{
	struct sk_buff *skb, *prev = NULL;
	u64 now = ktime_get_ns();

	lockdep_assert_held(&port->sw->lock);
	for (skb = q->list.head; skb; prev = skb, skb = skb->next) {
		const struct labq_cb *cb = labq_cb(skb);
		u64 free_ns;

		if (!cb->slot)
			break;
		free_ns = labq_slots_free_ns(port->sw, cb->ingress, now);
		if (free_ns <= now)
			break;
		*wait_ns = min(*wait_ns, free_ns);
		if (!prev && q->bypassed >= port->cfg.bypass)
			return NULL;
	}
	if (!skb)
		return NULL;
	if (!prev) {
		q->bypassed = 0;
		return __qdisc_dequeue_head(&q->list);
	}
	q->bypassed++;
	q->bypasses++;
	prev->next = skb->next;
	if (q->list.tail == skb)
		q->list.tail = prev;
	q->list.qlen--;
	skb->next = NULL;
	return skb;
}

/* Egress ------------------------------------------------------------------- */

/* Account for the time for which a queue has been as long as it is. */
static void labq_hist_add(struct labq_queue *q, u64 ns)
{
	u32 at, chunk = labq_hist_chunk(q->length.bytes, &at);
	struct labq_bin *bin;

	if (!q->hist[chunk]) {
		q->hist[chunk] = kcalloc(LABQ_HIST_BINS, sizeof(*bin),
					 GFP_ATOMIC | __GFP_NOWARN);
		if (!q->hist[chunk]) {
			q->lost_ns += ns;
			return;
		}
	}
	bin = &q->hist[chunk][at];
	bin->ns += ns;
	bin->bytes = max(bin->bytes, q->length.bytes);
}

/* labq_settle() - bring a queue's statistics up to date, before its length changes; switch.lock */
void labq_settle(struct labq_queue *q, u64 now)
{
	u64 ns = now - q->changed_ns;

	if (ns) {
		labq_area_add(&q->area, q->length.bytes, ns);
		labq_hist_add(q, ns);
	}
	q->changed_ns = now;
}

static void labq_charge(struct labq_port *port, const struct labq_cb *cb)
{
	struct labq_queue *q = &port->queues[cb->prio];
	struct labq_switch *sw = port->sw;

	lockdep_assert_held(&sw->lock);
	labq_settle(q, ktime_get_ns());
	q->length.bytes += cb->bytes;
	q->length.packets++;
	if (cb->pool == LABQ_POOL_RESERVED) {
		q->length.reserved += cb->bytes;
	} else if (cb->pool == LABQ_POOL_SHARED) {
		q->length.shared += cb->bytes;
		sw->shared.used += cb->bytes;
	}
	q->max_bytes = max(q->max_bytes, q->length.bytes);
	q->max_packets = max(q->max_packets, q->length.packets);
	q->enqueued_bytes += cb->bytes;
	trace_labq_queue(port, cb->prio);
	if (cb->ingress)
		labq_ingress_charge(sw, cb);
}

static void labq_release(struct labq_port *port, const struct labq_cb *cb)
{
	struct labq_queue *q = &port->queues[cb->prio];
	struct labq_switch *sw = port->sw;

	lockdep_assert_held(&sw->lock);
	labq_settle(q, ktime_get_ns());
	q->length.bytes -= cb->bytes;
	q->length.packets--;
	if (cb->pool == LABQ_POOL_RESERVED) {
		q->length.reserved -= cb->bytes;
	} else if (cb->pool == LABQ_POOL_SHARED) {
		q->length.shared -= cb->bytes;
		sw->shared.used -= cb->bytes;
	}
	trace_labq_queue(port, cb->prio);
	labq_signal_depart(port, cb);
	if (cb->ingress)
		labq_ingress_release(sw, cb);
}

/* Decide on a packet and mark it, or count it as dropped. */
static enum labq_verdict labq_decide(struct labq_port *port, struct sk_buff *skb,
				     struct labq_cb *cb)
{
	struct labq_queue *q = &port->queues[cb->prio];
	struct labq_switch *sw = port->sw;
	const struct labq_held *held = NULL;
	enum labq_verdict verdict;
	enum labq_pool pool;
	enum labq_mark mark;

	if (labq_ingress_lossless(cb->ingress, cb->prio))
		held = &cb->ingress->prios[cb->prio].held;
	q->avg = labq_avg(q->avg, q->length.bytes, port->cfg.red_weight);
	mark = labq_mark(&port->cfg, q->length.bytes, q->avg, &q->rng);
	verdict = labq_admit(&port->cfg, &sw->shared, &q->length, held, cb->bytes, &pool);
	if (verdict == LABQ_ENQUEUE && mark != LABQ_MARK_NONE) {
		if (INET_ECN_set_ce(skb)) {
			q->marks[mark]++;
			trace_labq_mark(port, cb->ingress, cb->prio, cb->bytes, mark, q->avg);
		} else {
			verdict = labq_without_ecn(&port->cfg, mark);
		}
	}
	q->verdicts[verdict]++;
	if (verdict != LABQ_ENQUEUE)
		trace_labq_drop(port, cb->ingress, cb->prio, cb->bytes, verdict, q->avg);
	cb->pool = pool;
	return verdict;
}

static int labq_enqueue_one(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct labq_port *port = qdisc_priv(sch);
	struct labq_switch *sw = port->sw;
	struct labq_cb cb = {
		.came_ns = (u32)ktime_get_ns(),
		.bytes = labnic_frame_bytes(labnic_skb_len(skb)),
		.prio = labnic_skb_prio(skb),
	};
	enum labq_verdict verdict;

	spin_lock(&sw->lock);
	cb.ingress = labq_ingress_find(sw, skb->skb_iif);
	verdict = labq_decide(port, skb, &cb);
	if (verdict == LABQ_ENQUEUE) {
		labq_charge(port, &cb);
		labq_signal_arrive(port, skb, &cb);
		labq_slots_arrive(port, skb, &cb);
	}
	spin_unlock(&sw->lock);
	if (verdict != LABQ_ENQUEUE)
		return qdisc_drop(skb, sch, to_free);

	*labq_cb(skb) = cb;
	__qdisc_enqueue_tail(skb, &port->queues[cb.prio].list);
	qdisc_qstats_backlog_inc(sch, skb);
	sch->q.qlen++;
	return NET_XMIT_SUCCESS;
}

/* Cut a packet of GRO into the frames that it was on the wire, and will be again. */
static int labq_enqueue_gso(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	netdev_features_t features = netif_skb_features(skb);
	struct sk_buff *segs, *seg, *next;
	int enqueued = 0;

	segs = skb_gso_segment(skb, features & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(segs))
		return qdisc_drop(skb, sch, to_free);
	skb_list_walk_safe(segs, seg, next) {
		skb_mark_not_on_list(seg);
		compat_qdisc_skb_len(seg, seg->len);
		if (labq_enqueue_one(seg, sch, to_free) == NET_XMIT_SUCCESS)
			enqueued++;
	}
	consume_skb(skb);
	return enqueued ? NET_XMIT_SUCCESS : NET_XMIT_DROP;
}

/* labq_enqueue() - queue a packet; the qdisc's lock */
int labq_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	return skb_is_gso(skb) ? labq_enqueue_gso(skb, sch, to_free) :
	       labq_enqueue_one(skb, sch, to_free);
}

/* labq_dequeue() - return the packet that leaves next, or NULL; the qdisc's lock */
struct sk_buff *labq_dequeue(struct Qdisc *sch)
{
	struct labq_port *port = qdisc_priv(sch);
	u64 wait_ns = U64_MAX;
	struct sk_buff *skb = NULL;
	struct labq_queue *q;
	u8 paused = 0;
	int prio;

	if (port->labnic && sch->q.qlen) {
		u8 lacks = labnic_credit_lacks(port->dev);

		port->starved |= lacks;
		paused = labnic_pfc_paused(port->dev) | lacks;
	}
	spin_lock(&port->sw->lock);
	labq_signal_resume(port);
	for (prio = LABNIC_PRIOS - 1; prio >= 0 && !skb; prio--) {
		q = &port->queues[prio];
		if (q->list.qlen && !(paused & BIT(prio)))
			skb = labq_pick(port, q, &wait_ns);
	}
	if (!skb) {
		spin_unlock(&port->sw->lock);
		/* When a pause ends or a credit arrives, labnic has this tried again. */
		if (wait_ns != U64_MAX)
			qdisc_watchdog_schedule_ns(&port->watchdog, wait_ns);
		return NULL;
	}
	labq_slots_leave(port, skb);
	q->dequeued_packets++;
	q->dequeued_bytes += labq_cb(skb)->bytes;
	labq_release(port, labq_cb(skb));
	labq_telemetry_leave(port, skb);
	spin_unlock(&port->sw->lock);
	trace_labq_wait(port, skb);
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_bstats_update(sch, skb);
	sch->q.qlen--;
	return skb;
}

/* labq_reset() - drop all packets: the device goes down, or the qdisc is destroyed */
void labq_reset(struct Qdisc *sch)
{
	struct labq_port *port = qdisc_priv(sch);
	struct sk_buff *skb;
	int prio;

	if (!port->sw)
		return;
	spin_lock_bh(&port->sw->lock);
	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		struct labq_queue *q = &port->queues[prio];

		for (skb = q->list.head; skb; skb = skb->next) {
			q->purged_packets++;
			labq_slots_purge(port, labq_cb(skb));
			labq_release(port, labq_cb(skb));
		}
		q->avg = 0;
		q->bypassed = 0;
	}
	spin_unlock_bh(&port->sw->lock);
	for (prio = 0; prio < LABNIC_PRIOS; prio++)
		__qdisc_reset_queue(&port->queues[prio].list);
	qdisc_watchdog_cancel(&port->watchdog);
}
