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
 *	  a flow that had been idle becomes a new flow of its band
 *
 *	dequeue:
 *	  the fast queue first
 *	  flows whose time has come go to the end of their band's old flows
 *	  band = next with credit, in turn; each round gives it its weight in bytes
 *	  flow = first of the band's new flows, or else of the old ones
 *	    no credit: gets a quantum, goes to the end of the old ones
 *	    no packet: new flows become old, old ones idle
 *	    its next packet may not leave yet: throttled until then
 *	      data of a connection that On-Ramp has paused: until the end of the pause
 *	      data to a host whose path is being drained: until the end of the silence
 *	      it would start a burst while others to that host are in flight: retry soon
 *	  the first one in a drain: one packet of its batch, and all others wait on
 *	  data of a paused connection on a link or path of up to 1 Gbit/s: packet by packet
 *	  send its packet, and take the length from both credits
 *	  without an EDT, and if the flow has spent its credit:
 *	    it goes on after length / rate, less its lateness: after a pause all of it, else at
 *	    most half of length / rate
 *
 *	peek (tbf, drr, qfq, ets, hfsc ask for the next packet, and take it later):
 *	  choose the packet as dequeue does, and set it aside
 *	  dequeue then takes that one, whatever has come since; marks, the record for
 *	  On-Ramp and the flow's pace are of that time
 *
 * A flow that has been throttled takes its turn as an old one of its band, so that
 * waiting gives no priority. Fresh flows go first, for a quantum, and are then made old
 * even if they are empty: a flow that sends one packet at a time can't starve the others.
 *
 * The rate of a flow is the lower one of sk_pacing_rate, which TCP and
 * SO_MAX_PACING_RATE set, and maxrate. TCP is told that it need not pace itself.
 *
 * Settings, statistics: onramp_netlink.c. Flows and their tables: onramp_flow.c. Turns:
 * onramp_turn.c. Departure times, rates: onramp_pace.c.
 */
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <net/gso.h>
#include <net/inet_ecn.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "onramp_attach.h"
#include "onramp_flow.h"
#include "onramp_pace.h"
#include "onramp_turn.h"

/*
 * Packets in the fast queue while others wait for their time. It is not fair, so it is
 * kept short.
 */
#define ONRAMP_FAST_MAX		8

/* Links up to this rate, bytes/s, 10 Gbit/s: a CPU can send packet by packet where it has to. */
#define ONRAMP_LOSSY_LINK_BPS	1250000000ULL

/* On other links no more than that is cut: a batch of 64 KB in this time, ns. */
#define ONRAMP_CUT_GAP_NS	52000ULL

/* onramp_recheck(), if there are any. */
static noinline void onramp_recheck_some(struct onramp_sched *q)
{
	struct onramp_conn *conn, *next;

	llist_for_each_entry_safe(conn, next, llist_del_all(&q->shared->recheck), recheck) {
		struct onramp_flow *f = onramp_flow_find(q, READ_ONCE(conn->waiter));

		/*
		 * From here on it can be queued again. If the flow waits on, onramp_conn_wait()
		 * takes the connection's lock after this: an OR-ACK that had the lock before is
		 * seen by the flow, one that has it later finds the bit clear.
		 */
		clear_bit(0, &conn->queued);
		if (f && f->conn == conn && f->state == ONRAMP_THROTTLED)
			onramp_unthrottle(q, f);
		onramp_conn_put(conn);
	}
}

/* Flows whose pause has become shorter, or whose gap after one. */
static __always_inline void onramp_recheck(struct onramp_sched *q)
{
	if (unlikely(!llist_empty(&q->shared->recheck)))
		onramp_recheck_some(q);
}

/* A packet leaves: mark it if it is late, be it by others' packets or by a timer. */
static void onramp_mark(struct onramp_sched *q, struct sk_buff *skb, u64 departure, u64 now)
{
	departure = max(departure, onramp_cb(skb)->time_to_send);
	if (now - departure > q->cfg.ce_threshold && INET_ECN_set_ce(skb))
		q->stats[ONRAMP_STATS_CE_MARK]++;
}

/* Enqueue ------------------------------------------------------------------ */

static u8 onramp_band_of(const struct onramp_sched *q, const struct sk_buff *skb)
{
	return (q->cfg.priomap >> (2 * (skb->priority % ONRAMP_PRIOS))) & 3;
}

/* Are there packets that have to leave before one that is queued now? */
static bool onramp_busy(struct Qdisc *sch)
{
	struct onramp_sched *q = qdisc_priv(sch);

	if (!sch->q.qlen)
		return false;
	/* Flows that may send now, or that nobody has woken up yet. */
	return q->stats[ONRAMP_STATS_FLOWS] != q->stats[ONRAMP_STATS_INACTIVE] +
					       q->stats[ONRAMP_STATS_FLOWS_THROTTLED] ||
	       q->fast.qlen >= ONRAMP_FAST_MAX ||
	       (q->wake_ns != U64_MAX && q->wake_ns <= onramp_clock(q));
}

/*
 * Could a packet leave at once, before all others in the qdisc? Then its flow does not
 * matter, and is not looked up. Each reason for which onramp_departure_ns() holds a flow
 * back needs a check in here, and in onramp_data_is_fast(). @data: On-Ramp may have to record
 * it, or pause it.
 */
static bool onramp_may_be_fast(struct Qdisc *sch, const struct sk_buff *skb, bool data)
{
	struct onramp_sched *q = qdisc_priv(sch);
	const struct sock *sk = skb->sk;
	u64 time_to_send;

	if (q->cfg.maxrate || data)
		return false;
	/* The flow of a connection's ACK may hold data that came before. */
	if (q->cfg.mode != ONRAMP_MODE_OFF && sch->q.qlen && sk && sk_is_tcp(sk))
		return false;
	time_to_send = onramp_cb(skb)->time_to_send;
	if (time_to_send > q->now_ns && time_to_send > onramp_clock(q))
		return false;
	/* TCP's packets have an EDT; all others have to keep SO_MAX_PACING_RATE. */
	return !sk || !sk_fullsock(sk) || sk_is_tcp(sk) ||
	       READ_ONCE(sk->sk_max_pacing_rate) == ~0UL;
}

/*
 * Return the time at which the first packet of a burst asks again whether it may leave, while
 * other bursts to the same host are on the way; 0: it may leave now. An OR-ACK wakes up no burst,
 * so it need not know which ones wait, and in which qdiscs.
 */
static noinline u64 onramp_burst_asks(struct onramp_sched *q, const struct onramp_flow *f,
				      const struct sk_buff *skb)
{
	u64 now, ask_ns;

	now = onramp_clock(q);
	ask_ns = onramp_conn_ask(f->conn, onramp_skb_sk(skb), skb->len, q->cfg.max_pause, now);
	return ask_ns ? now + ask_ns : 0;
}

static __always_inline u64 onramp_burst_wait(struct onramp_sched *q, const struct onramp_flow *f,
					     const struct sk_buff *skb)
{
	if (!f->conn || !onramp_cb(skb)->headers || q->cfg.mode == ONRAMP_MODE_OFF ||
	    q->cfg.mode == ONRAMP_MODE_PRINTED ||	/* the paper has no such wait */
	    onramp_flow_spills(q, f))
		return 0;
	if (likely(!onramp_conn_first(f->conn, ntohl(tcp_hdr(skb)->seq))) ||
	    !onramp_window_known(&f->conn->peer->window))
		return 0;
	return onramp_burst_asks(q, f, skb);
}

/* Is a time less than 0.13 s ago? */
static bool onramp_is_recent(const struct onramp_sched *q, const atomic64_t *ns)
{
	return onramp_since_ns(q->now_ns, atomic64_read(ns)) < ONRAMP_AVERAGE_MAX_NS;
}

/*
 * Does data of a flow leave packet by packet? Not if no pause has ended lately: no queue would
 * gain by it. And a link that reports a low speed may be a fast one whose CPU has no time for it.
 * On links up to 10 Gbit/s it does while the path loses packets: its buffer is too small
 * for a batch of each sender. On a slow path it does, but not if only software is in the way, which
 * a CPU makes slow.
 */
static bool onramp_is_cut(const struct onramp_sched *q, const struct onramp_flow *f)
{
	const struct onramp_peer *peer = f->conn->peer;

	if (!onramp_is_recent(q, &f->conn->until))
		return false;
	if (q->cuts == ONRAMP_CUTS_ALWAYS ||
	    (q->cuts == ONRAMP_CUTS_LOSSY && onramp_is_recent(q, &peer->lost_ns)))
		return true;
	return READ_ONCE(peer->path.slow_bps) && !READ_ONCE(q->link->software) &&
	       onramp_since_ns(q->now_ns, q->cut_ns) >= ONRAMP_CUT_GAP_NS;
}

/*
 * The same for data of TCP, and for any packet of a forwarded connection, whose flow is known.
 * Only if the qdisc has no other packet: then there is no order to keep. And only if the device
 * takes it at once, so that no pause begins before it leaves. It is recorded when it leaves. As
 * with the fast path of others it is not charged to its flow: nobody waits for that.
 */
static __always_inline bool onramp_data_is_fast(struct Qdisc *sch, struct onramp_flow *f,
						const struct sk_buff *skb)
{
	u64 time_to_send = onramp_cb(skb)->time_to_send;
	struct onramp_sched *q = qdisc_priv(sch);

	if (sch->q.qlen || q->cfg.maxrate || f->time_next_packet > time_to_send)
		return false;
	/* A socket's packet without an EDT has to be paced. */
	if ((!skb->tstamp && onramp_skb_sk(skb)) || netif_xmit_frozen_or_stopped(sch->dev_queue))
		return false;
	/* Data that was due in a pause leaves at a rate, see onramp_pace(). */
	if (f->conn && onramp_conn_until(f->conn) > time_to_send)
		return false;
	/* It may have to be split. */
	if (f->conn && (onramp_conn_probes(f->conn) ||
			(skb_is_gso(skb) && onramp_is_cut(q, f))))
		return false;
	if (time_to_send > q->now_ns && time_to_send > onramp_clock(q))
		return false;
	if (onramp_burst_wait(q, f, skb))
		return false;
	f->rated = false;
	if (f->state == ONRAMP_IDLE)
		f->idle_ns = q->now_ns;
	q->fast_flow = f;
	return true;
}

/*
 * A packet without an EDT has come to a flow that a pause or a rate may hold back: note the exact
 * time, to tell it from those that they do hold.
 */
static noinline void onramp_came(struct onramp_sched *q, struct onramp_flow *f,
				 struct sk_buff *skb)
{
	u64 now = onramp_clock(q);

	onramp_cb(skb)->time_to_send = now;
	if (!f->qlen && onramp_conn_until(f->conn) <= now)
		f->waited = false;
}

/* Data of a connection that On-Ramp follows has come to its flow. */
static __always_inline void onramp_is_followed(struct onramp_sched *q, struct onramp_flow *f,
					       struct sk_buff *skb, u32 headers)
{
	onramp_cb(skb)->headers = headers;
	if (!skb->tstamp &&
	    unlikely(f->waited || f->time_next_packet > onramp_cb(skb)->time_to_send))
		onramp_came(q, f, skb);
	/* Both are next needed when the packet leaves. */
	onramp_conn_prefetch(f->conn);
	prefetchw(&f->conn->rec[f->next_record]);
}

/* The flow of a packet of a forwarded connection, or the fast queue; NULL: it is none. */
static noinline struct onramp_flow *onramp_classify_forwarded(struct Qdisc *sch,
							      struct sk_buff *skb)
{
	struct onramp_sched *q = qdisc_priv(sch);
	struct onramp_flow *f;
	u32 headers;

	f = onramp_fwd_flow(sch, skb, onramp_about_now(q), &headers);
	if (!f || f == &q->fast)
		return f;
	if (headers && f->conn)
		onramp_is_followed(q, f, skb, headers);
	if (onramp_data_is_fast(sch, f, skb)) {
		q->stats[ONRAMP_STATS_FASTPATH]++;
		return &q->fast;
	}
	return f;
}

/* Does the qdisc of a device below follow the connection of a socket? Its data comes to it next. */
static noinline bool onramp_is_stacked(struct Qdisc *sch, const struct sock *sk)
{
	const struct onramp_sched *q = qdisc_priv(sch);
	bool other_netns = !net_eq(sock_net(sk), dev_net(qdisc_dev(sch)));

	return READ_ONCE(q->link->below) &
	       (other_netns ? ONRAMP_FOLLOWS_FORWARDED : ONRAMP_FOLLOWS_SOCKETS);
}

/*
 * Return the flow of a packet without data of a connection that On-Ramp follows; @f: that of its
 * data.
 *
 * TCP limits the data that it has here, but not its pure ACKs: it sends one for each segment that
 * the peer chooses to send. They have a flow of their own, with a flow_limit, and do not wait for
 * the end of a pause. The sequence number of a pure ACK is beyond the data that it overtakes. So
 * the peer does not take its timestamp for the last one (RFC 7323, 4.3), with which it would refuse
 * the data (PAWS). FINs, resets and probes stay behind the data: they are few, since a timer or
 * the application sends them, and a probe's sequence number is an old one.
 */
static noinline struct onramp_flow *onramp_classify_other(struct onramp_sched *q,
							  struct onramp_flow *f,
							  const struct sk_buff *skb)
{
	if (!skb_is_tcp_pure_ack(skb))
		return f;
	f = onramp_flow_find_or_create(q, onramp_flow_acks_key(skb->sk), skb->sk);
	if (unlikely(!f)) {
		q->stats[ONRAMP_STATS_ALLOC_ERRORS]++;
		return &q->fast;
	}
	return f;
}

/*
 * The flow of a packet, or the fast queue, also for lack of memory.
 *
 * Sockets that are paced here are told so, whichever queue their packets go to.
 */
static struct onramp_flow *onramp_classify(struct Qdisc *sch, struct sk_buff *skb)
{
	struct onramp_sched *q = qdisc_priv(sch);
	struct onramp_flow *f;
	unsigned long key;
	u32 headers = 0;
	struct sock *sk;

	sk = onramp_flow_sk(skb);
	if (unlikely(q->forwards) && !sk &&
	    !(READ_ONCE(q->link->below) & ONRAMP_FOLLOWS_FORWARDED)) {
		/* The flow of a forwarded ACK may hold data that came before. */
		f = onramp_classify_forwarded(sch, skb);
		if (f)
			return f;
	}
	key = sk ? (unsigned long)sk : onramp_flow_hash_key(q, skb);
	/* Other qdiscs and setsockopt() write it as well, none of them with a lock. */
	if (sk && q->cfg.pacing && READ_ONCE(sk->sk_pacing_status) != SK_PACING_FQ)
		WRITE_ONCE(sk->sk_pacing_status, SK_PACING_FQ);
	if (sk && q->cfg.mode != ONRAMP_MODE_OFF && sk_is_tcp(sk))
		headers = onramp_tcp_headers(skb);
	if (unlikely(headers && READ_ONCE(q->link->below)) && onramp_is_stacked(sch, sk)) {
		headers = 0;
		q->stats[ONRAMP_STATS_STACKED]++;
	}
	if (!onramp_busy(sch) && onramp_may_be_fast(sch, skb, headers)) {
		q->stats[ONRAMP_STATS_FASTPATH]++;
		return &q->fast;
	}
	f = onramp_flow_find_or_create(q, key, sk);
	if (unlikely(!f)) {
		q->stats[ONRAMP_STATS_ALLOC_ERRORS]++;
		return &q->fast;
	}
	if (!headers)
		return unlikely(f->conn) ? onramp_classify_other(q, f, skb) : f;
	if (!f->conn)
		onramp_attach(sch, f, skb);
	if (f->conn)
		onramp_is_followed(q, f, skb, headers);
	if (onramp_data_is_fast(sch, f, skb)) {
		q->stats[ONRAMP_STATS_FASTPATH]++;
		return &q->fast;
	}
	return f;
}

/* A flow that had no packet has one, @skb. */
static void onramp_activate(struct onramp_sched *q, struct onramp_flow *f,
			    const struct sk_buff *skb)
{
	q->stats[ONRAMP_STATS_INACTIVE]--;
	if (f->state != ONRAMP_IDLE)
		return;
	/* It was idle until its packet may leave. */
	if ((s64)(onramp_cb(skb)->time_to_send - f->idle_ns) > (s64)q->cfg.refill_delay)
		f->credit = max_t(s32, f->credit, q->cfg.quantum);
	/* Having nothing to send says nothing about the rate that it may have. */
	if ((s64)(onramp_cb(skb)->time_to_send - f->idle_ns) > (s64)ONRAMP_AVERAGE_MIN_NS)
		f->rated = false;
	onramp_list_add(&q->bands[f->band].new_flows, f);
}

/*
 * A forwarded connection, or one of another namespace, waits with half of the packets that its flow
 * may have. Of those that it has here this host's TCP limits none: rather than lose some, end the
 * pause, or its burst's wait.
 */
static noinline void onramp_spill(struct onramp_sched *q, struct onramp_flow *f)
{
	if (!f->conn || (onramp_conn_until(f->conn) <= onramp_clock(q) &&
			 !READ_ONCE(f->conn->burst.since_ns)))
		return;
	q->stats[ONRAMP_STATS_FORWARD_SPILLS]++;
	onramp_unthrottle(q, f);
}

/* onramp_enqueue() - queue a packet; the qdisc's lock */
int onramp_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct onramp_sched *q = qdisc_priv(sch);
	struct onramp_flow *f;
	u64 time_to_send;
	u8 band;

	band = onramp_band_of(q, skb);
	if (unlikely(q->stats[ONRAMP_STATS_BAND0_PKTS + band] >= q->cfg.limit)) {
		q->stats[ONRAMP_STATS_BAND0_DROPS + band]++;
		return compat_qdisc_drop(skb, sch, to_free, BAND_LIMIT);
	}
	q->exact = false;
	time_to_send = skb->tstamp ?: onramp_about_now(q);
	/* Negative times are far in the future then. */
	if (unlikely(time_to_send > q->now_ns + q->cfg.horizon) &&
	    time_to_send > onramp_clock(q) + q->cfg.horizon) {
		if (q->cfg.horizon_drop) {
			q->stats[ONRAMP_STATS_HORIZON_DROPS]++;
			return compat_qdisc_drop(skb, sch, to_free, HORIZON_LIMIT);
		}
		q->stats[ONRAMP_STATS_HORIZON_CAPS]++;
		time_to_send = q->now_ns + q->cfg.horizon;
		skb->tstamp = time_to_send;
	}
	onramp_cb(skb)->time_to_send = time_to_send;
	onramp_cb(skb)->band = band;
	/* Until its flow is known to be followed. */
	onramp_cb(skb)->headers = 0;

	f = onramp_classify(sch, skb);
	if (f != &q->fast) {
		if (unlikely(f->qlen >= q->cfg.flow_limit) && onramp_flow_is_limited(f)) {
			q->stats[ONRAMP_STATS_FLOWS_PLIMIT]++;
			return compat_qdisc_drop(skb, sch, to_free, FLOW_LIMIT);
		}
		/* A flow that is listed moves to the other band with its next turn. */
		f->band = band;
		if (!f->qlen)
			onramp_activate(q, f, skb);
	}
	/* As with fq, a throttled flow waits on, though this packet may have an earlier EDT. */
	onramp_flow_add(sch, f, skb);
	if (unlikely(f->state == ONRAMP_THROTTLED && onramp_flow_spills(q, f)))
		onramp_spill(q, f);
	return NET_XMIT_SUCCESS;
}

/* Dequeue ------------------------------------------------------------------ */

/* The next packet of a flow that may leave; NULL if none may for now. */
static struct sk_buff *onramp_next(struct Qdisc *sch, struct onramp_leaving *l)
{
	struct onramp_sched *q = qdisc_priv(sch);
	struct onramp_list *list;

	while ((list = onramp_turn(q))) {
		struct onramp_flow *f = list->first;
		struct sk_buff *skb;
		u64 now, ask_ns;

		if (unlikely(f->credit <= 0)) {
			onramp_refill(q, list);
			continue;
		}
		/* The next one has its turn soon, and may have been idle for long. */
		prefetchw(f->next ?: q->bands[q->turn].old_flows.first);
		skb = onramp_flow_peek(f);
		if (!skb) {
			onramp_exhausted(q, list);
			continue;
		}
		l->flow = f;
		now = q->now_ns;
		l->departure_ns = onramp_departure_ns(q, f, skb, now, &l->held);
		if (unlikely(l->departure_ns > now))
			now = onramp_clock(q);
		if (l->departure_ns > now && (l->held || onramp_gap_is_long(f))) {
			f->waited |= l->held;
			onramp_conn_wait(f->conn, q->shared, f->key, now);
			/* From now on changes are told; it may have changed before. */
			l->departure_ns = onramp_departure_ns(q, f, skb, now, &l->held);
		}
		if (l->departure_ns > now) {
			onramp_throttle(q, onramp_list_pop(list), l->departure_ns);
			continue;
		}
		ask_ns = onramp_burst_wait(q, f, skb);
		if (likely(!ask_ns))
			return skb;
		onramp_throttle(q, onramp_list_pop(list), ask_ns);
	}
	return NULL;
}

/*
 * Bytes that this qdisc has let go and the driver may not have been given yet: one run of
 * a qdisc can take several packets before the driver sees the first of them.
 */
static u64 onramp_on_the_way(struct onramp_sched *q, const struct Qdisc *sch, u32 len)
{
	u64 bytes = q->given;

#ifdef CONFIG_BQL
	u32 queued = READ_ONCE(sch->dev_queue->dql.num_queued);

	/* With many queues, packets go one by one. */
	if (queued != q->driver_queued || !(sch->flags & TCQ_F_ONETXQUEUE)) {
		q->driver_queued = queued;
		bytes = 0;
	}
	q->given = min_t(u64, bytes + len, U32_MAX);
#endif
	return bytes;
}

/* The model's end is at most that of the bytes really in flight. */
static noinline u64 onramp_wire_bound(struct onramp_sched *q, u64 on_the_way, u64 end_q, u64 now)
{
	u64 bytes, bound_q;

	WRITE_ONCE(q->link->checked, now >> ONRAMP_FIFO_CHECK_SHIFT);
	if (!onramp_link_in_flight(q->link, &bytes))
		return end_q;
	bound_q = onramp_fifo_bound(q->byte_ns, bytes + on_the_way, now);
	if ((s64)(end_q - bound_q) <= 0)
		return end_q;
	/* If others add packets meanwhile, none is lost: the next call bounds it. */
	return atomic64_try_cmpxchg(&q->link->fifo_q, (s64 *)&end_q, bound_q) ? bound_q : end_q;
}

/*
 * Add a packet to the model of the queue before the wire, and what this queue owes. @time_q: 0: it
 * is among that. Return: when it starts on the wire.
 */
static u64 onramp_to_wire(struct onramp_sched *q, const struct Qdisc *sch, u32 len, u64 time_q,
			  u64 now)
{
	atomic64_t *fifo_q = &q->link->fifo_q;
	u64 on_the_way = onramp_on_the_way(q, sch, len), start_q;
	s64 end_q = atomic64_read(fifo_q);

	/* Read without a lock: to look twice, or a bit later, does no harm. */
	if (end_q - (s64)(now << ONRAMP_FIFO_SHIFT) > 0 &&
	    (u32)(now >> ONRAMP_FIFO_CHECK_SHIFT) != READ_ONCE(q->link->checked))
		end_q = onramp_wire_bound(q, on_the_way, end_q, now);
	/* Other queues of the device add to it as well. */
	do {
		start_q = onramp_fifo_part_start(&q->part, end_q, now);
	} while (!atomic64_try_cmpxchg(fifo_q, &end_q, start_q + time_q));
	onramp_fifo_settle(&q->part, start_q + time_q);
	return start_q;
}

/* The rate of the link has changed: forget the bytes that wait for it. */
static noinline void onramp_wire_restart(struct onramp_sched *q, const struct Qdisc *sch,
					 u64 line_bps)
{
	q->line_bps = line_bps;
	q->cuts = !line_bps || line_bps > ONRAMP_LOSSY_LINK_BPS ? ONRAMP_CUTS_SLOW :
		  line_bps > ONRAMP_SLOW_LINK_BPS ? ONRAMP_CUTS_LOSSY : ONRAMP_CUTS_ALWAYS;
	/* For who says line_rate, that is the rate at which packets leave in turn. */
	q->byte_ns = q->cfg.line_rate || !READ_ONCE(q->link->tunnel) ?
		     onramp_byte_time(line_bps, 1, 1) : 0;
	onramp_fifo_settle(&q->part, 0);
	/* Of a device with some queues that are not in use, each may owe less. */
	q->owed_max_q = onramp_fifo_owed_max(qdisc_dev(sch)->num_tx_queues);
	onramp_link_restart(q->link);
}

/* Packets that a batch is cut into. A guest's does not say so: it is counted when it is cut. */
static __always_inline u32 onramp_segs(const struct sk_buff *skb)
{
	const struct skb_shared_info *info = skb_shinfo(skb);

	if (likely(info->gso_segs || !info->gso_size))
		return info->gso_segs ?: 1;
	return DIV_ROUND_UP(skb->len - onramp_cb(skb)->headers, info->gso_size);
}

/*
 * A packet leaves: add its time on the wire, @time_q, to the model of that. Return the time at
 * which it begins, if it is to have a @record. If not, other CPUs need not be told of it at once,
 * which takes the cache line of the model from them.
 */
static __always_inline u64 onramp_wire(struct onramp_sched *q, const struct Qdisc *sch,
				       const struct sk_buff *skb, bool record, u64 now,
				       u64 *time_q)
{
	u64 line_bps = q->cfg.line_rate ?: READ_ONCE(q->link->auto_bps);
	u32 segs = onramp_segs(skb);

	if (unlikely(line_bps != q->line_bps))
		onramp_wire_restart(q, sch, line_bps);
	*time_q = 0;
	/* Without a wire there is no queue before it, and before a tunnel's there is any order. */
	if (!q->byte_ns)
		return now << ONRAMP_FIFO_SHIFT;
	*time_q = onramp_fifo_time(q->byte_ns, onramp_fifo_bytes(qdisc_pkt_len(skb), segs));
	if (record)
		return onramp_to_wire(q, sch, qdisc_pkt_len(skb), *time_q, now);
	if (onramp_fifo_owe(&q->part, *time_q, q->owed_max_q, now))
		onramp_on_the_way(q, sch, qdisc_pkt_len(skb));
	else
		onramp_to_wire(q, sch, qdisc_pkt_len(skb), 0, now);
	return 0;
}

/* The same for a packet of a flow; On-Ramp records it if it is data. */
static void onramp_sent(struct onramp_sched *q, const struct Qdisc *sch,
			const struct onramp_leaving *l, u64 now)
{
	u32 headers = onramp_cb(l->skb)->headers;
	struct onramp_flow *f = l->flow;
	bool record = headers && f->conn;
	u64 start_q, time_q;

	start_q = onramp_wire(q, sch, l->skb, record, now, &time_q);
	if (!record)
		return;
	if (l->held)
		onramp_conn_held(f->conn, q->shared, l->departure_ns, now);
	onramp_conn_sent(f->conn, q->shared, l->skb, headers, q->line_bps, start_q, time_q,
			 onramp_cb(l->skb)->time_to_send, f->qlen, now);
	f->next_record = onramp_conn_next_record(f->conn);
	/*
	 * When the flow's next packet comes, it may leave at once, too early for what
	 * onramp_is_followed() fetches then. The ring is larger than the first caches.
	 */
	prefetchw(&f->conn->rec[f->next_record]);
	/* Once in a quarter of the ring another one is looked at, see onramp_tx_wanted(). */
	if (!(f->next_record % (ONRAMP_RECORDS / 4)))
		prefetch(&f->conn->rec[(f->next_record + ONRAMP_RECORDS / 4 - 1) % ONRAMP_RECORDS]);
}

/* A packet of the fast queue leaves; data with the flow that onramp_data_is_fast() saw. */
static __always_inline void onramp_fast_sent(struct onramp_sched *q, const struct Qdisc *sch,
					     struct sk_buff *skb)
{
	struct onramp_leaving l = { .skb = skb, .flow = &q->fast };

	if (onramp_cb(skb)->headers) {
		l.flow = q->fast_flow;
		q->fast_flow = &q->fast;
	}
	onramp_sent(q, sch, &l, onramp_clock(q));
}

/* Replace the batch at the head of a flow by its packets, and return the first of them. */
static struct sk_buff *onramp_split(struct Qdisc *sch, struct onramp_flow *f, struct sk_buff *skb)
{
	netdev_features_t features = netif_skb_features(skb) & ~NETIF_F_GSO_MASK;
	struct sk_buff *rest = skb->next, *segs, *seg, *last = NULL;
	struct onramp_sched *q = qdisc_priv(sch);
	int n = 0, len = 0;

	skb_mark_not_on_list(skb);
	segs = skb_gso_segment(skb, features);
	if (IS_ERR_OR_NULL(segs)) {
		skb->next = rest;
		return skb;
	}
	for (seg = segs; seg; seg = seg->next) {
		compat_qdisc_skb_len(seg, seg->len);
		onramp_flow_added(sch, f, seg);
		len += seg->len;
		last = seg;
		n++;
	}
	q->cut_ns = q->now_ns;
	onramp_flow_removed(sch, f, skb);
	qdisc_tree_reduce_backlog(sch, 1 - n, (int)qdisc_pkt_len(skb) - len);
	f->head = segs;
	last->next = rest;
	if (f->tail == skb)
		f->tail = last;
	consume_skb(skb);
	return segs;
}

/*
 * Data of a connection is next. Return the packet that is to leave: that, or the first one of it.
 *
 * The first packet to a host in a drain of its path has to be alone: the rest of a batch would
 * delay the first ones of other hosts. If the flow is paused now and then, all are on a slow link
 * or path, and on a faster one while packets are lost. For the queue at the receiver holds one
 * batch of each sender, however good the pauses are. But a batch of more than 64 KB (BIG TCP) is
 * not worth hundreds of packets, and no flow gets more of them than a pause may hold.
 */
static noinline struct sk_buff *onramp_alone(struct Qdisc *sch, struct onramp_flow *f,
					     struct sk_buff *skb)
{
	const struct onramp_sched *q = qdisc_priv(sch);

	if (!onramp_cb(skb)->headers ||
	    (!onramp_conn_probe(f->conn, q->now_ns) && !onramp_is_cut(q, f)) ||
	    !skb_is_gso(skb) || skb->len > SZ_64K || skb != f->head ||
	    (onramp_flow_is_limited(f) &&
	     f->qlen + onramp_segs(skb) > q->cfg.flow_limit / 2))
		return skb;
	return onramp_split(sch, f, skb);
}

/*
 * Choose the packet that leaves next, and take it out of its flow; false if none may for
 * now, and then the qdisc runs again when one may.
 */
static __always_inline bool onramp_choose(struct Qdisc *sch, struct onramp_leaving *l)
{
	struct onramp_sched *q = qdisc_priv(sch);
	struct sk_buff *skb;

	skb = onramp_flow_peek(&q->fast);
	if (skb) {
		l->flow = &q->fast;
		onramp_flow_remove(sch, &q->fast, skb);
		l->skb = skb;
		return true;
	}
	if (q->precise || q->wake_ns != U64_MAX) {
		onramp_clock(q);
		if (q->wake_ns <= q->now_ns)
			onramp_wake(q, q->now_ns);
	}
	skb = onramp_next(sch, l);
	if (!skb) {
		if (q->wake_ns != U64_MAX)
			qdisc_watchdog_schedule_range_ns(&q->watchdog, q->wake_ns,
							 q->cfg.timer_slack);
		return false;
	}
	if (l->flow->conn && (onramp_conn_probes(l->flow->conn) ||
			      (skb_is_gso(skb) && onramp_is_cut(q, l->flow))))
		skb = onramp_alone(sch, l->flow, skb);
	onramp_flow_remove(sch, l->flow, skb);
	l->flow->credit -= qdisc_pkt_len(skb);
	q->bands[q->turn].credit -= qdisc_pkt_len(skb);
	l->skb = skb;
	return true;
}

/* Send the chosen packet: mark, record and pace it by the time at which it leaves. */
static __always_inline struct sk_buff *onramp_leave(struct Qdisc *sch,
						    const struct onramp_leaving *l)
{
	struct onramp_sched *q = qdisc_priv(sch);

	if (unlikely(l->flow == &q->fast)) {
		if (q->cfg.mode != ONRAMP_MODE_OFF)
			onramp_fast_sent(q, sch, l->skb);
	} else {
		if (q->precise) {
			if (q->marks)
				onramp_mark(q, l->skb, l->departure_ns, onramp_clock(q));
			if (q->cfg.mode != ONRAMP_MODE_OFF)
				onramp_sent(q, sch, l, onramp_clock(q));
		}
		onramp_pace(q, l->flow, l->skb, l->departure_ns);
	}
	qdisc_bstats_update(sch, l->skb);
	return l->skb;
}

/* The packet that was set aside is in the qdisc no more. */
static void onramp_unpeek(struct Qdisc *sch)
{
	struct onramp_sched *q = qdisc_priv(sch);

	q->stats[ONRAMP_STATS_BAND0_PKTS + onramp_cb(q->peeked.skb)->band]--;
	qdisc_qstats_backlog_dec(sch, q->peeked.skb);
	qdisc_qlen_dec(sch);
	q->peeked.skb = NULL;
}

/**
 * onramp_peek() - choose the packet that leaves next, and set it aside
 * @sch: the qdisc
 *
 * The parent may take the packet much later, when it has tokens for it. The packet counts as
 * queued until then, and its marks, record and pace are of that time. Its flow stays: a flow
 * becomes idle only after a later turn has found it empty. A pause that begins meanwhile does
 * not hold the packet, since the parent relies on it.
 *
 * Context: the qdisc's lock.
 * Return: it, or NULL: none may leave for now.
 */
struct sk_buff *onramp_peek(struct Qdisc *sch)
{
	struct onramp_sched *q = qdisc_priv(sch);

	if (q->peeked.skb)
		return q->peeked.skb;
	onramp_recheck(q);
	if (!sch->q.qlen)
		return NULL;
	q->exact = false;
	if (!onramp_choose(sch, &q->peeked))
		return NULL;
	q->stats[ONRAMP_STATS_BAND0_PKTS + onramp_cb(q->peeked.skb)->band]++;
	qdisc_qstats_backlog_inc(sch, q->peeked.skb);
	qdisc_qlen_inc(sch);
	return q->peeked.skb;
}

/* onramp_dequeue() - send the packet that leaves next, NULL: none may for now; the qdisc's lock */
struct sk_buff *onramp_dequeue(struct Qdisc *sch)
{
	struct onramp_sched *q = qdisc_priv(sch);
	struct onramp_leaving l;

	if (unlikely(q->peeked.skb)) {
		l = q->peeked;
		onramp_unpeek(sch);
		q->exact = false;
		return onramp_leave(sch, &l);
	}
	/* It holds references, be there packets or not. */
	onramp_recheck(q);
	if (!sch->q.qlen)
		return NULL;
	q->exact = false;
	if (!onramp_choose(sch, &l))
		return NULL;
	return onramp_leave(sch, &l);
}

/* onramp_reset() - drop all packets: the device goes down, or the qdisc is destroyed */
void onramp_reset(struct Qdisc *sch)
{
	struct onramp_sched *q = qdisc_priv(sch);

	/* Flows hold connections that onramp_qdisc_shared may name. */
	if (q->shared)
		onramp_shared_disarm(q->shared);
	if (q->peeked.skb) {
		struct sk_buff *skb = q->peeked.skb;

		onramp_unpeek(sch);
		rtnl_kfree_skbs(skb, skb);
		q->stats[ONRAMP_STATS_PURGED]++;
	}
	onramp_purge(sch);
	q->fast_flow = &q->fast;
	memset(q->bands, 0, sizeof(q->bands));
	q->delayed = RB_ROOT_CACHED;
	q->wake_ns = U64_MAX;
	qdisc_watchdog_cancel(&q->watchdog);
}

/* onramp_destroy() - free the state of the qdisc; RTNL */
void onramp_destroy(struct Qdisc *sch)
{
	struct onramp_sched *q = qdisc_priv(sch);

	onramp_reset(sch);
	onramp_table_free(q->table);
	if (q->cfg.forward)
		onramp_fwd_stop(q->shared->onet, q->link);
	onramp_shared_close(q->shared);
	if (q->follows)
		onramp_link_follow(q->link, q->follows, 0);
	onramp_link_put(q->link);
}
