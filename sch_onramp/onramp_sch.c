// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: fair queueing of flows, each sent at its own pace
 *
 * A flow is a socket, or for packets without one a value of the flow hash. Attributes,
 * their meanings and what happens to packets are those of the kernel's fq as of Linux
 * 6.12, on all kernels that this builds for; Documentation/sch_onramp.md lists what
 * differs.
 *
 *	enqueue(packet):
 *	  band = priomap[priority]; full: drop
 *	  send = the time its sender asks for (EDT), or now
 *	    beyond the horizon: drop, or send at the horizon
 *	  nothing else could leave now, and no rate is to be kept: the fast queue
 *	  otherwise the queue of its flow, by send; full: drop
 *	  a flow that had been idle becomes a fresh one of its band
 *
 *	dequeue:
 *	  the fast queue first
 *	  flows whose time has come go to the end of their band's old flows
 *	  band = next with credit, in turn; each round gives it its weight in bytes
 *	  flow = first of the band's fresh flows, or else of the old ones
 *	    no credit: gets a quantum, goes to the end of the old ones
 *	    no packet: fresh ones become old, old ones idle
 *	    its next packet may not leave yet: throttled until then
 *	  send its packet, and take the length from both credits
 *	  without an EDT, and if the flow has spent its credit:
 *	    it goes on after length / rate, less what it was late (half of it at most)
 *
 * A flow that has been throttled takes its turn as an old one of its band, so that
 * waiting gives no priority. Fresh flows go first, for a quantum, and are then made old
 * even if they are empty: who sends one packet at a time can't starve the others.
 *
 * The rate of a flow is the lower one of sk_pacing_rate, which TCP and
 * SO_MAX_PACING_RATE set, and maxrate. TCP is told that it need not pace itself.
 *
 * Settings, statistics: onramp_netlink.c. Flows and their tables: onramp_flow.c.
 */
#include <linux/math64.h>
#include <linux/module.h>
#include <net/inet_ecn.h>
#include <net/sock.h>

#include "onramp.h"

/*
 * Packets in the fast queue while others wait for their time. It is not fair, so it is
 * kept short.
 */
#define ONRAMP_FAST_MAX		8

/*
 * Longest pause between two packets of a flow, ns. Its rate may have been raised long
 * before an absurdly long one would end.
 */
#define ONRAMP_PAUSE_MAX_NS	NSEC_PER_SEC

/* Share of a new sample in the average of wakeup_late_ns: 2^-3. */
#define ONRAMP_LATE_SHIFT	3

/* Turns ------------------------------------------------------------------- */

static void onramp_list_add(struct onramp_list *list, struct onramp_flow *f)
{
	f->state = ONRAMP_LISTED;
	f->next = NULL;
	if (list->first)
		list->last->next = f;
	else
		list->first = f;
	list->last = f;
}

static struct onramp_flow *onramp_list_pop(struct onramp_list *list)
{
	struct onramp_flow *f = list->first;

	list->first = f->next;
	return f;
}

/* The list whose first flow has its turn, NULL if no flow has a packet for now. */
static struct onramp_list *onramp_turn(struct onramp_sched *q)
{
	unsigned int empty = 0;

	/*
	 * A band with flows may have to be passed by for some rounds, until its weight
	 * makes up for the packet that was longer than its credit.
	 */
	while (empty < ONRAMP_BANDS) {
		struct onramp_band *band = &q->bands[q->turn];
		bool idle = !band->fresh.first && !band->old.first;

		if (!idle && band->credit > 0)
			return band->fresh.first ? &band->fresh : &band->old;
		empty = idle ? empty + 1 : 0;
		q->turn = (q->turn + 1) % ONRAMP_BANDS;
		band = &q->bands[q->turn];
		/* What an idle band has not used is no credit for later. */
		band->credit = min_t(s64, band->credit, 0) + q->cfg.weight[q->turn];
	}
	return NULL;
}

/* Departure times --------------------------------------------------------- */

/**
 * onramp_departure_ns() - when the next packet of a flow may leave, at the earliest
 * @f: the flow
 * @skb: its next packet
 *
 * The one place that decides it: whatever else has to hold a flow back is one more
 * term of the maximum. It is asked before each packet leaves, and again when a flow
 * that was throttled has its turn, so a time that has moved on while the flow waited
 * is seen. To have a flow go on earlier than it was told, call onramp_unthrottle().
 * What it returns is also what lateness is measured from, for pacing and marks.
 *
 * Packets in the fast queue are not asked about: see onramp_may_be_fast().
 *
 * Context: the qdisc's lock.
 * Return: CLOCK_MONOTONIC, ns.
 */
static u64 onramp_departure_ns(const struct onramp_flow *f, const struct sk_buff *skb)
{
	return max_t(u64, skb->tstamp, f->next_tx_ns);
}

static bool onramp_earlier(struct rb_node *node, const struct rb_node *other)
{
	return rb_entry(node, struct onramp_flow, wait)->wait_ns <
	       rb_entry(other, struct onramp_flow, wait)->wait_ns;
}

/* The flow is in no list any longer, and waits until its time. */
static void onramp_throttle(struct onramp_sched *q, struct onramp_flow *f, u64 until_ns)
{
	f->state = ONRAMP_THROTTLED;
	f->wait_ns = until_ns;
	rb_add_cached(&f->wait, &q->waiting, onramp_earlier);
	q->wake_ns = min(q->wake_ns, until_ns);
	q->stats.flows_throttled++;
	q->stats.throttled++;
}

/**
 * onramp_unthrottle() - a flow need not wait any longer
 * @q: the qdisc
 * @f: the flow, throttled
 *
 * Context: the qdisc's lock.
 */
void onramp_unthrottle(struct onramp_sched *q, struct onramp_flow *f)
{
	struct rb_node *next;

	rb_erase_cached(&f->wait, &q->waiting);
	next = rb_first_cached(&q->waiting);
	q->wake_ns = next ? rb_entry(next, struct onramp_flow, wait)->wait_ns : U64_MAX;
	q->stats.flows_throttled--;
	onramp_list_add(&q->bands[f->band].old, f);
}

/* All flows whose time has come. */
static void onramp_wake(struct onramp_sched *q, u64 now)
{
	u64 *late_ns = &q->stats.wakeup_late_ns;

	if (q->wake_ns > now)
		return;
	*late_ns += ((now - q->wake_ns) >> ONRAMP_LATE_SHIFT) - (*late_ns >> ONRAMP_LATE_SHIFT);
	while (q->wake_ns <= now)
		onramp_unthrottle(q, rb_entry(rb_first_cached(&q->waiting),
					      struct onramp_flow, wait));
}

/* A packet leaves: mark it if it is late, be it by others' packets or by a timer. */
static void onramp_mark(struct onramp_sched *q, struct sk_buff *skb, u64 departure, u64 now)
{
	departure = max(departure, onramp_cb(skb)->send_ns);
	if (now - departure > q->cfg.ce_threshold && INET_ECN_set_ce(skb))
		q->stats.ce_marked++;
}

/*
 * A packet has left: when its flow may go on. With an EDT the sender has seen to its
 * rate; only maxrate is left to keep then.
 */
static void onramp_pace(struct onramp_sched *q, struct onramp_flow *f,
			const struct sk_buff *skb, u64 departure, u64 now)
{
	u64 rate = q->cfg.maxrate ?: U64_MAX, len = qdisc_pkt_len(skb), pause;

	if (!q->cfg.pacing)
		return;
	if (!skb->tstamp) {
		if (skb->sk) {
			unsigned long own = READ_ONCE(skb->sk->sk_pacing_rate);

			if (own != ~0UL)
				rate = min_t(u64, rate, own);
		}
		if (rate <= q->cfg.low_rate_threshold) {
			f->credit = 0;
		} else {
			/* The whole burst of a quantum is paid for with its last packet. */
			len = max(len, q->cfg.quantum);
			if (f->credit > 0)
				return;
		}
	}
	if (rate == U64_MAX)
		return;
	/* A length of 32 bits times 10^9 has 62 bits. */
	pause = len * NSEC_PER_SEC;
	if (rate)
		pause = div64_u64(pause, rate);
	if (pause > ONRAMP_PAUSE_MAX_NS) {
		pause = ONRAMP_PAUSE_MAX_NS;
		q->stats.pacing_capped++;
	}
	/* A late timer must not cost rate; half of the pause at least is kept. */
	if (f->next_tx_ns)
		pause -= min(pause / 2, now - departure);
	f->next_tx_ns = now + pause;
}

/* Enqueue ----------------------------------------------------------------- */

static u8 onramp_band_of(const struct onramp_sched *q, const struct sk_buff *skb)
{
	return (q->cfg.priomap >> (2 * (skb->priority % ONRAMP_PRIOS))) & 3;
}

/*
 * Whether a packet could leave at once, before all that is here: then its flow does
 * not matter, and need not be looked for. Whatever onramp_departure_ns() holds a flow
 * back by must be seen to in here as well.
 */
static bool onramp_may_be_fast(struct Qdisc *sch, const struct sk_buff *skb, u64 now)
{
	const struct onramp_sched *q = qdisc_priv(sch);
	const struct sock *sk = skb->sk;

	if (onramp_cb(skb)->send_ns > now || q->cfg.maxrate)
		return false;
	if (sch->q.qlen) {
		/* Flows that may send now, or that nobody has woken up yet. */
		if (q->stats.flows != q->stats.flows_inactive + q->stats.flows_throttled ||
		    q->wake_ns <= now)
			return false;
		if (q->fast.qlen >= ONRAMP_FAST_MAX)
			return false;
	}
	/* TCP's packets have an EDT; all others have to keep SO_MAX_PACING_RATE. */
	return !sk || !sk_fullsock(sk) || sk_is_tcp(sk) ||
	       READ_ONCE(sk->sk_max_pacing_rate) == ~0UL;
}

/*
 * The flow of a packet, or the fast queue, which also has to do if there is no memory.
 *
 * Sockets that are paced here are told so, whichever queue their packets go to.
 */
static struct onramp_flow *onramp_classify(struct Qdisc *sch, struct sk_buff *skb, u64 now)
{
	struct onramp_sched *q = qdisc_priv(sch);
	struct onramp_flow *f;
	unsigned long key;
	struct sock *sk;

	key = onramp_flow_key(q, skb, &sk);
	/* Other qdiscs and setsockopt() write it as well, none of them with a lock. */
	if (sk && q->cfg.pacing && READ_ONCE(sk->sk_pacing_status) != SK_PACING_FQ)
		WRITE_ONCE(sk->sk_pacing_status, SK_PACING_FQ);
	if (onramp_may_be_fast(sch, skb, now)) {
		q->stats.fastpath++;
		return &q->fast;
	}
	f = onramp_flow_get(q, key, sk, now);
	if (f)
		return f;
	q->stats.no_memory++;
	return &q->fast;
}

/* A flow that had no packet has one. */
static void onramp_activate(struct onramp_sched *q, struct onramp_flow *f, u64 now)
{
	q->stats.flows_inactive--;
	if (f->state != ONRAMP_IDLE)
		return;
	if (now - f->idle_ns > q->cfg.refill_delay)
		f->credit = max_t(s64, f->credit, q->cfg.quantum);
	onramp_list_add(&q->bands[f->band].fresh, f);
}

static int onramp_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct onramp_sched *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	struct onramp_flow *f;
	u8 band;

	band = onramp_band_of(q, skb);
	if (q->stats.band_packets[band] >= q->cfg.limit) {
		q->stats.band_drops[band]++;
		return compat_qdisc_drop(skb, sch, to_free, BAND_LIMIT);
	}
	/* Negative times are far in the future then. */
	if ((u64)skb->tstamp > now + q->cfg.horizon) {
		if (q->cfg.horizon_drop) {
			q->stats.horizon_drops++;
			return compat_qdisc_drop(skb, sch, to_free, HORIZON_LIMIT);
		}
		q->stats.horizon_caps++;
		skb->tstamp = now + q->cfg.horizon;
	}
	onramp_cb(skb)->send_ns = skb->tstamp ?: now;
	onramp_cb(skb)->band = band;

	f = onramp_classify(sch, skb, now);
	if (f != &q->fast) {
		if (f->qlen >= q->cfg.flow_limit) {
			q->stats.flow_drops++;
			return compat_qdisc_drop(skb, sch, to_free, FLOW_LIMIT);
		}
		/* A flow that is listed moves to the other band with its next turn. */
		f->band = band;
		if (!f->qlen)
			onramp_activate(q, f, now);
	}
	onramp_flow_add(f, skb);
	/* It may leave before the packet that the flow was waiting for. */
	if (f->state == ONRAMP_THROTTLED && onramp_departure_ns(f, skb) < f->wait_ns)
		onramp_unthrottle(q, f);
	q->stats.band_packets[band]++;
	qdisc_qstats_backlog_inc(sch, skb);
	qdisc_qlen_inc(sch);
	return NET_XMIT_SUCCESS;
}

/* Dequeue ----------------------------------------------------------------- */

/* The flow at the head of the list has no packet. */
static void onramp_exhausted(struct onramp_sched *q, struct onramp_list *list, u64 now)
{
	struct onramp_flow *f = onramp_list_pop(list);

	if (list == &q->bands[q->turn].fresh) {
		onramp_list_add(&q->bands[f->band].old, f);
		return;
	}
	f->state = ONRAMP_IDLE;
	f->idle_ns = now;
}

/* The next packet that may leave, its flow and since when; NULL if none may for now. */
static struct sk_buff *onramp_next(struct onramp_sched *q, struct onramp_flow **from,
				   u64 *departure, u64 now)
{
	struct onramp_list *list;

	while ((list = onramp_turn(q))) {
		struct onramp_flow *f = list->first;
		struct sk_buff *skb;

		if (f->credit <= 0) {
			f->credit += q->cfg.quantum;
			onramp_list_pop(list);
			onramp_list_add(&q->bands[f->band].old, f);
			continue;
		}
		skb = onramp_flow_peek(f);
		if (!skb) {
			onramp_exhausted(q, list, now);
			continue;
		}
		*departure = onramp_departure_ns(f, skb);
		if (*departure <= now) {
			*from = f;
			return skb;
		}
		onramp_throttle(q, onramp_list_pop(list), *departure);
	}
	return NULL;
}

static struct sk_buff *onramp_dequeue(struct Qdisc *sch)
{
	struct onramp_sched *q = qdisc_priv(sch);
	struct onramp_flow *f;
	struct sk_buff *skb;
	u64 departure, now;

	if (!sch->q.qlen)
		return NULL;
	skb = onramp_flow_peek(&q->fast);
	if (skb) {
		onramp_flow_remove(sch, &q->fast, skb);
		goto out;
	}
	now = ktime_get_ns();
	onramp_wake(q, now);
	skb = onramp_next(q, &f, &departure, now);
	if (!skb) {
		if (q->wake_ns != U64_MAX)
			qdisc_watchdog_schedule_range_ns(&q->watchdog, q->wake_ns,
							 q->cfg.timer_slack);
		return NULL;
	}
	onramp_flow_remove(sch, f, skb);
	f->credit -= qdisc_pkt_len(skb);
	q->bands[q->turn].credit -= qdisc_pkt_len(skb);
	onramp_mark(q, skb, departure, now);
	onramp_pace(q, f, skb, departure, now);
out:
	qdisc_bstats_update(sch, skb);
	return skb;
}

/* The device goes down, or the qdisc goes: what is queued is thrown away. */
static void onramp_reset(struct Qdisc *sch)
{
	struct onramp_sched *q = qdisc_priv(sch);

	onramp_purge(sch);
	memset(q->bands, 0, sizeof(q->bands));
	q->waiting = RB_ROOT_CACHED;
	q->wake_ns = U64_MAX;
	qdisc_watchdog_cancel(&q->watchdog);
}

static void onramp_destroy(struct Qdisc *sch)
{
	struct onramp_sched *q = qdisc_priv(sch);

	onramp_reset(sch);
	onramp_table_free(q->table);
}

static struct Qdisc_ops onramp_qdisc_ops __read_mostly = {
	.id		= "onramp",
	.priv_size	= sizeof(struct onramp_sched),
	.enqueue	= onramp_enqueue,
	.dequeue	= onramp_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= onramp_init,
	.reset		= onramp_reset,
	.destroy	= onramp_destroy,
	.change		= onramp_change,
	.dump		= onramp_dump,
	.dump_stats	= onramp_dump_stats,
	.owner		= THIS_MODULE,
};

static int __init onramp_module_init(void)
{
	int err = onramp_flow_cache_create();

	if (err)
		return err;
	err = register_qdisc(&onramp_qdisc_ops);
	if (err)
		onramp_flow_cache_destroy();
	return err;
}

static void __exit onramp_module_exit(void)
{
	unregister_qdisc(&onramp_qdisc_ops);
	onramp_flow_cache_destroy();
}

module_init(onramp_module_init);
module_exit(onramp_module_exit);

/* Kernels before 6.8 ask for sch_onramp, which is the name of the module. */
MODULE_ALIAS("net-sch-onramp");
MODULE_AUTHOR("The onramp authors");
MODULE_DESCRIPTION("Fair queueing of paced flows");
MODULE_LICENSE("GPL");
MODULE_VERSION(ONRAMP_VERSION);
