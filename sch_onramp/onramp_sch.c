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
 *	  data of a paused connection on a link of up to 1 Gbit/s: packet by packet
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
 * Settings, statistics: onramp_netlink.c. Flows and their tables: onramp_flow.c.
 */
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <net/gso.h>
#include <net/inet_ecn.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "onramp.h"
#include "onramp_trace.h"

/*
 * Packets in the fast queue while others wait for their time. It is not fair, so it is
 * kept short.
 */
#define ONRAMP_FAST_MAX		8

/* Flows of a band at most that are looked at together, in onramp_rounds(). */
#define ONRAMP_ROUNDS_FLOWS	16

/*
 * Longest gap between two packets of a flow, ns. Its rate may have been raised long
 * before an absurdly long one would end.
 */
#define ONRAMP_GAP_MAX_NS	NSEC_PER_SEC

/*
 * A gap after a pause of at least this is long, ns: 64 KB at 262 Mbit/s. Then the rate is badly
 * known, and a gap can end early. Where gaps are shorter, many flows share a link, and would all
 * send more whenever its queue is short.
 */
#define ONRAMP_GAP_LONG_NS	(2 * NSEC_PER_MSEC)

/*
 * After a pause, a flow resumes at its recent rate plus the larger of 1/8 of that rate and
 * 1/16 of the gap to sk_pacing_rate, or to the rate of a slow link if that is higher, capped
 * at 5/4 of sk_pacing_rate. So it finds a rate that has become free within some RTTs.
 */
#define ONRAMP_GROWTH_SHIFT	3
#define ONRAMP_SHARE_SHIFT	4
#define ONRAMP_DRAIN_SHIFT	2

/* Links up to this rate, bytes/s, are slow: 1 Gbit/s. */
#define ONRAMP_SLOW_LINK_BPS	125000000ULL

/* Up to this one, 10 Gbit/s, a CPU can send packet by packet where it has to. */
#define ONRAMP_LOSSY_LINK_BPS	1250000000ULL

/*
 * The recent rate is averaged over the time that the last OR-ACK took, from its packet on,
 * within these bounds, ns.
 */
#define ONRAMP_AVERAGE_MIN_NS	(1ULL << 18)
#define ONRAMP_AVERAGE_MAX_NS	(1ULL << 27)

/* Units of struct onramp_flow.rate, 2^6 bytes/s, and of rate_at and times beside it, 2^6 ns. */
#define ONRAMP_RATE_SHIFT	6
#define ONRAMP_RATE_AT_SHIFT	6

/* Rates from here on, bytes/s, are left as they are: rate has no room for more. */
#define ONRAMP_RATE_MAX_BPS	(1ULL << (32 + ONRAMP_RATE_SHIFT))

/* Share of a new sample in the average of latency: 2^-3. */
#define ONRAMP_LATE_SHIFT	3

/*
 * The exact time. Reading the clock is a tenth of the cost of a packet, so each packet reads
 * it once at most, and code that needs no exact time uses q->now_ns.
 */
static u64 onramp_clock(struct onramp_sched *q)
{
	if (!q->exact) {
		q->now_ns = ktime_get_ns();
		q->read_at = jiffies;
		q->exact = true;
	}
	return q->now_ns;
}

/*
 * A time by a jiffy at most before now, for packets without an EDT. All of them read the clock
 * when they leave, if On-Ramp is on. So most need not read it when they come: onramp_is_followed()
 * does that for those that a pause or a rate may hold back.
 */
static u64 onramp_about_now(struct onramp_sched *q)
{
	unsigned long tick = jiffies;

	if (q->rough && q->read_at == tick)
		return q->now_ns;
	return onramp_clock(q);
}

/* Turns -------------------------------------------------------------------- */

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

/* onramp_turn(), if the band being served is not the one. */
static noinline struct onramp_list *onramp_next_band(struct onramp_sched *q)
{
	unsigned int empty = 0;

	/*
	 * A band with flows may have to be passed by for some rounds, until its weight
	 * makes up for the packet that was longer than its credit.
	 */
	while (empty < ONRAMP_BANDS) {
		struct onramp_band *band = &q->bands[q->turn];
		bool idle = !band->new_flows.first && !band->old_flows.first;

		if (!idle && band->credit > 0)
			return band->new_flows.first ? &band->new_flows : &band->old_flows;
		empty = idle ? empty + 1 : 0;
		q->turn = (q->turn + 1) % ONRAMP_BANDS;
		band = &q->bands[q->turn];
		/* An idle band saves no credit for later. */
		band->credit = min_t(s64, band->credit, 0) + q->cfg.weight[q->turn];
	}
	return NULL;
}

/* The list whose first flow has its turn, NULL if no flow has a packet for now. */
static struct onramp_list *onramp_turn(struct onramp_sched *q)
{
	struct onramp_band *band = &q->bands[q->turn];

	if (likely(band->credit > 0)) {
		if (band->new_flows.first)
			return &band->new_flows;
		if (likely(band->old_flows.first))
			return &band->old_flows;
	}
	return onramp_next_band(q);
}

/* Departure times ---------------------------------------------------------- */

/* The rate that a sender sets for its data, bytes/s; ~0UL: none. */
static u64 onramp_pacing_bps(const struct onramp_sched *q, const struct onramp_flow *f,
			     const struct sock *sk)
{
	return sk ? READ_ONCE(sk->sk_pacing_rate) :
		    onramp_fwd_pacing_bps(&f->conn->meter, q->line_bps);
}

/* The highest rate at which packets leave that a pause has held, bytes/s: 5/4 of @pacing_bps. */
static u64 onramp_limit_bps(const struct sock *sk, u64 pacing_bps)
{
	u64 bps = pacing_bps + (pacing_bps >> ONRAMP_DRAIN_SHIFT);

	return sk ? min_t(u64, bps, READ_ONCE(sk->sk_max_pacing_rate)) : bps;
}

/* The rate at which they leave, if @bps is the recent rate; onramp_release_bps(). */
static u64 onramp_resume_bps(u64 bps, u64 pacing_bps, u64 line_bps)
{
	u64 more_bps = bps >> ONRAMP_GROWTH_SHIFT, aim_bps = pacing_bps;

	if (line_bps <= ONRAMP_SLOW_LINK_BPS)
		aim_bps = max(pacing_bps, line_bps);
	if (bps < aim_bps)
		more_bps = max(more_bps, (aim_bps - bps) >> ONRAMP_SHARE_SHIFT);
	return bps + more_bps;
}

/* True if the gap after a paused packet is long enough to cut short. */
static bool onramp_gap_is_long(const struct onramp_flow *f)
{
	u32 until = f->time_next_packet >> ONRAMP_RATE_AT_SHIFT;

	return unlikely(f->rated) && f->conn &&
	       (s32)(until - f->rate_at) >= (s32)(ONRAMP_GAP_LONG_NS >> ONRAMP_RATE_AT_SHIFT);
}

/*
 * In a long gap after a pause the flow's next packet waits for time_next_packet: return until when,
 * if the packet before it found the path empty. Then the recent rate was less than the path has
 * for the flow, and to wait for it leaves a link idle. So the highest rate counts.
 *
 * @now: the time as last read, ns
 */
static noinline u64 onramp_gap_end(const struct onramp_sched *q, const struct onramp_flow *f,
				   const struct sk_buff *skb, u64 now)
{
	u64 empty_ns = atomic64_read(&f->conn->empty_ns), until_ns = f->time_next_packet;
	const struct sock *sk = onramp_skb_sk(skb);
	u64 pacing_bps, limit_bps, bps, from_ns;

	if (empty_ns >= until_ns || (s64)(now - empty_ns) > (s64)ONRAMP_GAP_MAX_NS ||
	    (s32)((u32)(empty_ns >> ONRAMP_RATE_AT_SHIFT) - f->rate_at) <= 0 || q->cfg.maxrate)
		return until_ns;
	pacing_bps = onramp_pacing_bps(q, f, sk);
	if (pacing_bps >= ONRAMP_RATE_MAX_BPS)
		return empty_ns;
	limit_bps = onramp_limit_bps(sk, pacing_bps);
	bps = onramp_resume_bps((u64)f->rate << ONRAMP_RATE_SHIFT, pacing_bps, q->line_bps);
	if (bps >= limit_bps)
		return until_ns;
	/* When the packet before left. */
	from_ns = empty_ns - ((u64)((u32)(empty_ns >> ONRAMP_RATE_AT_SHIFT) - f->rate_at)
			      << ONRAMP_RATE_AT_SHIFT);
	return max(empty_ns, from_ns + mul_u64_u64_div_u64(until_ns - from_ns, bps, limit_bps));
}

/**
 * onramp_departure_ns() - return the earliest departure of a flow's next packet
 * @q: the qdisc
 * @f: the flow
 * @skb: its next packet
 * @now: the time as last read, ns
 * @held: set if it is a pause that the packet waits for, not its rate or its EDT
 *
 * Only this function delays a packet. A new reason becomes another term of the
 * maximum. It is called before each packet leaves, and again when a throttled flow has
 * its turn, so it sees a time that has moved while the flow waited. To
 * have a flow go on earlier than it was told, call onramp_unthrottle().
 * Lateness is measured from the time that it returns, for pacing and marks.
 *
 * An OR-ACK on another CPU may move the end of the pause at any time. It is read once, so
 * that the time and the reason for it belong together: a flow that is taken for one that
 * its rate holds back would not be told of a shorter pause. The same is true of an OR-ACK that
 * ends the gap after a packet that a pause held.
 *
 * Packets in the fast queue are not asked about: see onramp_may_be_fast().
 *
 * When a packet without an EDT came may be known only by a jiffy, see onramp_about_now(). Then a
 * pause that is over by @now has held it only if the flow has been throttled.
 *
 * Context: the qdisc's lock.
 * Return: CLOCK_MONOTONIC, ns.
 */
static u64 onramp_departure_ns(const struct onramp_sched *q, const struct onramp_flow *f,
			       const struct sk_buff *skb, u64 now, bool *held)
{
	u64 departure = f->time_next_packet, until_ns;

	if (onramp_gap_is_long(f))
		departure = onramp_gap_end(q, f, skb, now);
	departure = max_t(u64, skb->tstamp, departure);
	*held = false;
	if (!f->conn || !onramp_cb(skb)->headers)
		return departure;
	until_ns = onramp_conn_until(f->conn);
	if (until_ns <= departure || onramp_flow_spills(q, f))
		return departure;
	if (!skb->tstamp && until_ns <= now && !f->waited)
		return departure;
	*held = until_ns > onramp_cb(skb)->time_to_send;
	return until_ns;
}

static bool onramp_earlier(struct rb_node *node, const struct rb_node *other)
{
	return rb_entry(node, struct onramp_flow, rate_node)->throttled_until <
	       rb_entry(other, struct onramp_flow, rate_node)->throttled_until;
}

/* The flow is in no list any longer, and waits until its time. */
static void onramp_throttle(struct onramp_sched *q, struct onramp_flow *f, u64 until_ns)
{
	f->state = ONRAMP_THROTTLED;
	f->throttled_until = until_ns;
	rb_add_cached(&f->rate_node, &q->delayed, onramp_earlier);
	q->wake_ns = min(q->wake_ns, until_ns);
	q->stats[ONRAMP_STATS_FLOWS_THROTTLED]++;
	q->stats[ONRAMP_STATS_THROTTLED]++;
}

/**
 * onramp_unthrottle() - list a flow that no longer has to wait
 * @q: the qdisc
 * @f: the flow, throttled
 *
 * Context: the qdisc's lock.
 */
void onramp_unthrottle(struct onramp_sched *q, struct onramp_flow *f)
{
	struct rb_node *next;

	rb_erase_cached(&f->rate_node, &q->delayed);
	next = rb_first_cached(&q->delayed);
	q->wake_ns = next ? rb_entry(next, struct onramp_flow, rate_node)->throttled_until :
			    U64_MAX;
	q->stats[ONRAMP_STATS_FLOWS_THROTTLED]--;
	onramp_list_add(&q->bands[f->band].old_flows, f);
}

/* onramp_recheck(), if there are any. */
static noinline void onramp_recheck_some(struct onramp_sched *q)
{
	struct onramp_conn *conn, *next;

	llist_for_each_entry_safe(conn, next, llist_del_all(&q->qref->recheck), recheck) {
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
	if (unlikely(!llist_empty(&q->qref->recheck)))
		onramp_recheck_some(q);
}

/**
 * onramp_recheck_all() - re-evaluate every throttled flow, after a change of settings
 * @sch: the qdisc
 *
 * Context: the qdisc's lock; a qdisc that is in use.
 */
void onramp_recheck_all(struct Qdisc *sch)
{
	struct onramp_sched *q = qdisc_priv(sch);
	struct rb_node *node;

	while ((node = rb_first_cached(&q->delayed)))
		onramp_unthrottle(q, rb_entry(node, struct onramp_flow, rate_node));
}

/* All flows whose time has come. */
static noinline void onramp_wake(struct onramp_sched *q, u64 now)
{
	u64 *late_ns = &q->stats[ONRAMP_STATS_LATENCY];

	*late_ns += ((now - q->wake_ns) >> ONRAMP_LATE_SHIFT) - (*late_ns >> ONRAMP_LATE_SHIFT);
	while (q->wake_ns <= now)
		onramp_unthrottle(q, rb_entry(rb_first_cached(&q->delayed),
					      struct onramp_flow, rate_node));
}

/* A packet leaves: mark it if it is late, be it by others' packets or by a timer. */
static void onramp_mark(struct onramp_sched *q, struct sk_buff *skb, u64 departure, u64 now)
{
	departure = max(departure, onramp_cb(skb)->time_to_send);
	if (now - departure > q->cfg.ce_threshold && INET_ECN_set_ce(skb))
		q->stats[ONRAMP_STATS_CE_MARK]++;
}

/* Return TCP's last delivery rate, bytes/s; 0 if it had no more to send, or has no rate. */
static u64 onramp_delivered_bps(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	/* All of one sample or not: a share of it is off by little. */
	u32 packets = READ_ONCE(tp->rate_delivered), us = READ_ONCE(tp->rate_interval_us);

	if (!packets || !us || tp->rate_app_limited)
		return 0;
	/* 2^20 packets of 2^16 bytes, times 10^6: below 2^56. */
	return div_u64((u64)min(packets, 1U << 20) * tp->mss_cache * USEC_PER_SEC, us);
}

/*
 * The rate at which packets leave that a pause has held, bytes/s: the recent rate, pauses included,
 * and more, see onramp_resume_bps(); "After a pause" of Documentation/sch_onramp.md says why.
 *
 * The recent rate is at first TCP's delivery rate. At rates at which 64 KB take long TCP's samples
 * vary by times: there it is the last one that was measured here, if that is higher and no older
 * than ONRAMP_AVERAGE_MAX_NS. From then on it is measured here, as an exponential average over the
 * time until an OR-ACK tells what its growth has done. The silence of a drain is left out.
 *
 * The result may be above sk_pacing_rate, or the queue would never drain: the packets of BBR wait
 * behind others of its own, so that its probes for more bandwidth find none. Without a socket the
 * rates measured here take the place of TCP's, see onramp_fwd.h.
 */
static u64 onramp_release_bps(struct onramp_flow *f, const struct sock *sk, u64 len,
			      u64 pacing_bps, u64 line_bps, u64 now)
{
	u32 at = now >> ONRAMP_RATE_AT_SHIFT, elapsed;
	u64 average, limit_bps, bps, drained_ns;

	if (pacing_bps == ~0UL || pacing_bps >= ONRAMP_RATE_MAX_BPS)
		return pacing_bps;
	limit_bps = onramp_limit_bps(sk, pacing_bps);
	if (f->rated) {
		bps = (u64)f->rate << ONRAMP_RATE_SHIFT;
		average = clamp_t(u64, READ_ONCE(f->conn->trip_ns), ONRAMP_AVERAGE_MIN_NS,
				  ONRAMP_AVERAGE_MAX_NS) >> ONRAMP_RATE_AT_SHIFT;
		elapsed = at - f->rate_at;
		drained_ns = onramp_conn_drained_ns(f->conn, now,
						    (u64)elapsed << ONRAMP_RATE_AT_SHIFT);
		elapsed -= drained_ns >> ONRAMP_RATE_AT_SHIFT;
		/* 2^38 times 2^21, and 2^32 times 2^24: below 2^60. */
		bps = div64_u64(bps * average + (len * NSEC_PER_SEC >> ONRAMP_RATE_AT_SHIFT),
				average + elapsed);
	} else {
		bps = sk ? onramp_delivered_bps(sk) : f->conn->meter.bps;
		if (bps && bps < SZ_64K * (NSEC_PER_SEC / ONRAMP_GAP_LONG_NS) &&
		    at - f->rate_at < ONRAMP_AVERAGE_MAX_NS >> ONRAMP_RATE_AT_SHIFT)
			bps = max(bps, (u64)f->rate << ONRAMP_RATE_SHIFT);
		if (!bps || bps >= limit_bps)
			return limit_bps;
	}
	f->rate = clamp_t(u64, bps >> ONRAMP_RATE_SHIFT, 1, U32_MAX);
	f->rated = true;
	f->rate_at = at;
	return min(onramp_resume_bps(bps, pacing_bps, line_bps), limit_bps);
}

/*
 * Return the rate at which the flow's next packet follows @skb, bytes/s; U64_MAX: no limit.
 * @late: a pause held @skb.
 */
static u64 onramp_next_bps(struct onramp_sched *q, struct onramp_flow *f,
			   const struct sk_buff *skb, bool late)
{
	u64 rate = q->cfg.maxrate ?: U64_MAX, len = qdisc_pkt_len(skb), own;
	const struct sock *sk = onramp_skb_sk(skb);

	if ((!skb->tstamp || late) && sk) {
		own = onramp_pacing_bps(q, f, sk);
		if (late)
			own = onramp_release_bps(f, sk, len, own, q->line_bps,
						 onramp_clock(q));
		if (own != ~0UL)
			rate = min_t(u64, rate, own);
	} else if (late) {
		own = onramp_pacing_bps(q, f, NULL);
		rate = min(rate, onramp_release_bps(f, NULL, len, own, q->line_bps,
						    onramp_clock(q)));
	}
	return rate;
}

/*
 * A packet has left: set the time of the flow's next packet. If the sender sets EDTs it
 * paces itself, and only maxrate is enforced here. But during a pause those times pass, so
 * the packets that it held leave at a rate, not in one burst.
 */
static void onramp_pace(struct onramp_sched *q, struct onramp_flow *f,
			const struct sk_buff *skb, u64 departure)
{
	u64 rate, len = qdisc_pkt_len(skb), gap, credit = 0, now;
	bool late;

	if (!q->cfg.pacing)
		return;
	late = f->conn && onramp_cb(skb)->headers && departure > onramp_cb(skb)->time_to_send;
	/* All packets that a pause held have left. */
	if (unlikely(f->rated) && !late)
		f->rated = false;
	rate = onramp_next_bps(q, f, skb, late);
	if (!skb->tstamp) {
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
	gap = len * NSEC_PER_SEC;
	if (rate)
		gap = div64_u64(gap, rate);
	if (gap > ONRAMP_GAP_MAX_NS) {
		gap = ONRAMP_GAP_MAX_NS;
		q->stats[ONRAMP_STATS_PACING_CAPPED]++;
	}
	now = onramp_clock(q);
	/*
	 * A late timer must not cost rate; half of the gap at least is kept. After a pause the
	 * flow's turn must not cost rate either: the rate is little more than the recent one. Were
	 * half of the gap kept, a flow that waits for others as well would become ever slower. No
	 * later EDT makes up for a timer which is late by more than that, as all are at high rates.
	 */
	if (f->time_next_packet)
		credit = min(late ? max(gap, q->cfg.timer_slack) : gap / 2,
			     now - departure);
	f->time_next_packet = now + gap - credit;
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
 * Does data of a flow leave packet by packet? Not if no pause has ended lately: there is no queue
 * that would gain by it, and a link that is said to be slow may be a fast one whose CPU has no time
 * for it. On links up to 10 Gbit/s it does while the path loses packets: its buffer is too small
 * for a batch of each sender.
 */
static bool onramp_is_cut(const struct onramp_sched *q, const struct onramp_flow *f)
{
	return q->cuts && onramp_is_recent(q, &f->conn->until) &&
	       (q->cuts == ONRAMP_CUTS_ALWAYS || onramp_is_recent(q, &f->conn->peer->lost_ns));
}

/*
 * The same for data of TCP, and for any packet of a forwarded connection, whose flow is known.
 * Only if there is no other packet, so that there is one such packet at most, and no order to
 * keep; and only if the device takes it at once, so that no pause begins before it leaves. It is
 * recorded when it leaves. As with the fast path of others it is not charged to its flow: nobody
 * waits for that.
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

/* @conn is that of a flow; @sk: its socket, @away: of another namespace; NULL: forwarded. */
static void onramp_follow(struct Qdisc *sch, struct onramp_flow *f, struct onramp_conn *conn,
			  const struct sock *sk, bool away)
{
	struct onramp_sched *q = qdisc_priv(sch);

	/* A connection that is closed by now may have had the same addresses and ports. */
	if (conn->sk && conn->sk != f->key)
		onramp_flow_detach(q, conn);
	onramp_conn_own(conn, sk, f->key, away, onramp_clock(q));
	onramp_qref_arm(q->qref, sch);
	f->conn = conn;
	f->slot = onramp_conn_slot(conn);
	f->waited = false;
}

/* Have On-Ramp follow a flow that it does not yet: data of a TCP connection. */
static noinline void onramp_attach(struct Qdisc *sch, struct onramp_flow *f,
				   struct sk_buff *skb)
{
	struct onramp_sched *q = qdisc_priv(sch);
	bool away = !net_eq(sock_net(skb->sk), dev_net(qdisc_dev(sch)));
	u16 tick = onramp_tick(q->now_ns), tried = f->tried;
	struct onramp_conn *conn;
	struct or_way way;
	u32 rtt_us;

	if (onramp_too_early(tried, tick))
		return;
	/* A workload's: its address is none of this namespace, and messages leave as its data. */
	if (away && (!q->forwards || !onramp_forward_way(skb, qdisc_dev(sch), &way)))
		return;
	rtt_us = tcp_min_rtt(tcp_sk(skb->sk));
	/* Data before the first round trip (TFO): the next packet may know. */
	if (rtt_us == U32_MAX && q->cfg.peers)
		return;
	f->tried = tick;
	conn = onramp_conn_find_or_create(q->qref, skb, away ? &way : NULL, rtt_us, q->cfg.peers,
					  onramp_clock(q));
	if (!conn) {
		q->stats[ONRAMP_STATS_FAR] += !tried && !onramp_is_near(rtt_us, q->cfg.peers);
		return;
	}
	onramp_follow(sch, f, conn, skb->sk, away);
}

/* The same for a forwarded connection, with its entry. */
static noinline void onramp_attach_forwarded(struct Qdisc *sch, struct onramp_flow *f,
					     struct sk_buff *skb, struct onramp_forwarded *e)
{
	struct onramp_sched *q = qdisc_priv(sch);
	u16 tick = onramp_tick(q->now_ns), tried = f->tried;
	bool too_early = onramp_too_early(tried, tick);
	struct onramp_conn *conn;
	struct or_way way;
	u32 rtt_us;

	/* A new RTT is a reason to try again at once, but not after an eviction. */
	if (too_early && tried != tick)
		return;
	if (!onramp_forwarded_try(e, too_early, &rtt_us))
		return;
	f->tried = tick;
	if (!onramp_forward_way(skb, qdisc_dev(sch), &way))
		return;
	/* Before its first RTT is known, the host may be one that others have found to be near. */
	conn = onramp_conn_find_or_create(q->qref, skb, &way, rtt_us, q->cfg.peers,
					  onramp_clock(q));
	if (!conn) {
		if (rtt_us != U32_MAX && !onramp_is_near(rtt_us, q->cfg.peers))
			q->stats[ONRAMP_STATS_FAR] += onramp_forwarded_far(e);
		return;
	}
	onramp_forwarded_follow(e);
	onramp_follow(sch, f, conn, NULL, false);
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
	prefetchw(&f->conn->rec[f->slot]);
}

/* The same for a packet of a forwarded connection. */
static noinline struct onramp_flow *onramp_classify_forwarded(struct Qdisc *sch,
							      struct sk_buff *skb,
							      const struct onramp_seen *seen)
{
	struct onramp_sched *q = qdisc_priv(sch);
	struct onramp_flow *f = seen->flow;
	u32 headers = seen->headers;
	bool followed;

	if (!f) {
		f = onramp_flow_find_or_create(q, seen->key, NULL);
		/* A new one takes the entry's reference. */
		onramp_forwarded_bind(seen->entry, q->qref, f, f && !f->bound);
		if (unlikely(!f)) {
			q->stats[ONRAMP_STATS_ALLOC_ERRORS]++;
			return &q->fast;
		}
		f->bound = true;
	}
	followed = f->conn;
	if (headers && !followed)
		onramp_attach_forwarded(sch, f, skb, seen->entry);
	if (f->conn && (!followed || seen->closed != seen->was_closed))
		/* onramp_conn_lives() reads it without a lock. */
		WRITE_ONCE(f->conn->closed, seen->closed);
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
	bool away = !net_eq(sock_net(sk), dev_net(qdisc_dev(sch)));

	return READ_ONCE(q->link->below) &
	       (away ? ONRAMP_FOLLOWS_FORWARDED : ONRAMP_FOLLOWS_SOCKETS);
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
	struct onramp_seen seen;
	struct onramp_flow *f;
	unsigned long key;
	u32 headers = 0;
	struct sock *sk;

	sk = onramp_flow_sk(skb);
	if (unlikely(q->forwards) && !sk &&
	    !(READ_ONCE(q->link->below) & ONRAMP_FOLLOWS_FORWARDED)) {
		/* The flow of a forwarded ACK may hold data that came before. */
		if (onramp_forwarded_packet(q->qref, qdisc_dev(sch), skb, onramp_about_now(q),
					    &seen))
			return onramp_classify_forwarded(sch, skb, &seen);
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

static int onramp_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
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

/* The flow at the head of the list has no packet. */
static void onramp_exhausted(struct onramp_sched *q, struct onramp_list *list)
{
	struct onramp_flow *f = onramp_list_pop(list);

	if (list == &q->bands[q->turn].new_flows) {
		onramp_list_add(&q->bands[f->band].old_flows, f);
		return;
	}
	f->state = ONRAMP_IDLE;
	f->idle_ns = q->now_ns;
}

/*
 * A batch may have twenty times the quantum. Rounds in which no flow of the band, which has
 * no new ones, gets enough credit change nothing else: do all of them at once.
 */
static void onramp_rounds(struct onramp_sched *q, struct onramp_band *band)
{
	u32 quantum = q->cfg.quantum, flows = 0;
	s32 most = S32_MIN, credit;
	struct onramp_flow *f;

	for (f = band->old_flows.first; f; f = f->next) {
		flows++;
		if (f->credit > -(s32)quantum || f->band != q->turn ||
		    flows > ONRAMP_ROUNDS_FLOWS) {
			/* So that each refill costs one more step at most. */
			q->rounds_skip = flows;
			return;
		}
		most = max(most, f->credit);
	}
	credit = (u32)-most / quantum * quantum;
	for (f = band->old_flows.first; f; f = f->next)
		f->credit += credit;
}

/* The flow at the head of the list has used up its credit. */
static void onramp_refill(struct onramp_sched *q, struct onramp_list *list)
{
	struct onramp_band *band = &q->bands[q->turn];
	struct onramp_flow *f = list->first;

	if (q->rounds_skip)
		q->rounds_skip--;
	else if (list == &band->old_flows)
		onramp_rounds(q, band);
	f->credit += q->cfg.quantum;
	onramp_list_pop(list);
	onramp_list_add(&q->bands[f->band].old_flows, f);
}

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
			onramp_conn_wait(f->conn, q->qref, f->key, now);
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
	onramp_fifo_told(&q->part, start_q + time_q);
	return start_q;
}

/* The rate of the link is another one: forget what waits for it. */
static noinline void onramp_wire_restart(struct onramp_sched *q, const struct Qdisc *sch,
					 u64 line_bps)
{
	q->line_bps = line_bps;
	q->cuts = !line_bps || line_bps > ONRAMP_LOSSY_LINK_BPS ? ONRAMP_CUTS_NEVER :
		  line_bps > ONRAMP_SLOW_LINK_BPS ? ONRAMP_CUTS_LOSSY : ONRAMP_CUTS_ALWAYS;
	/* For who says line_rate, that is the rate at which packets leave in turn. */
	q->byte_ns = q->cfg.line_rate || !READ_ONCE(q->link->tunnel) ?
		     onramp_byte_time(line_bps, 1, 1) : 0;
	onramp_fifo_told(&q->part, 0);
	/* Of a device with some queues that are not in use, each may owe less. */
	q->owed_max_q = onramp_fifo_owed_max(qdisc_dev(sch)->num_tx_queues);
	onramp_link_restart(q->link);
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
	u32 segs = skb_shinfo(skb)->gso_segs ?: 1;

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
		onramp_conn_held(f->conn, q->qref, l->departure_ns, now);
	onramp_conn_sent(f->conn, q->qref, l->skb, headers, q->line_bps, start_q, time_q,
			 onramp_cb(l->skb)->time_to_send, f->qlen, now);
	f->slot = onramp_conn_slot(f->conn);
	/*
	 * When the flow's next packet comes, it may leave at once, too early for what
	 * onramp_is_followed() fetches then. The ring is larger than the first caches.
	 */
	prefetchw(&f->conn->rec[f->slot]);
	/* Once in a quarter of the ring another one is looked at, see onramp_tx_wanted(). */
	if (!(f->slot % (ONRAMP_RECORDS / 4)))
		prefetch(&f->conn->rec[(f->slot + ONRAMP_RECORDS / 4 - 1) % ONRAMP_RECORDS]);
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
	int n = 0, len = 0;

	skb_mark_not_on_list(skb);
	segs = skb_gso_segment(skb, features);
	if (IS_ERR_OR_NULL(segs)) {
		skb->next = rest;
		return skb;
	}
	for (seg = segs; seg; seg = seg->next) {
		qdisc_skb_cb(seg)->pkt_len = seg->len;
		onramp_flow_added(sch, f, seg);
		len += seg->len;
		last = seg;
		n++;
	}
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
 * delay the first ones of other hosts. If the flow is paused now and then all are on a slow link,
 * and on a faster one while packets are lost: however good the pauses are, the queue at the
 * receiver holds one batch of each sender. But a batch of more than 64 KB (BIG TCP) is not worth
 * hundreds of packets, and no flow gets more of them than a pause may hold.
 */
static noinline struct sk_buff *onramp_alone(struct Qdisc *sch, struct onramp_flow *f,
					     struct sk_buff *skb)
{
	const struct onramp_sched *q = qdisc_priv(sch);

	if (!onramp_cb(skb)->headers ||
	    (!onramp_conn_probe(f->conn, q->now_ns) && !onramp_is_cut(q, f)) ||
	    !skb_is_gso(skb) || skb->len > SZ_64K || skb != f->head ||
	    (onramp_flow_is_limited(f) &&
	     f->qlen + skb_shinfo(skb)->gso_segs > q->cfg.flow_limit / 2))
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

/*
 * The parent may take the packet much later, when it has tokens for it. The packet counts as
 * queued until then, and its marks, record and pace are of that time. Its flow stays: a flow
 * becomes idle only after a later turn has found it empty. A pause that begins meanwhile does
 * not hold the packet, since the parent relies on it.
 */
static struct sk_buff *onramp_peek(struct Qdisc *sch)
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

static struct sk_buff *onramp_dequeue(struct Qdisc *sch)
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

/* The device goes down, or the qdisc is destroyed: drop all packets. */
static void onramp_reset(struct Qdisc *sch)
{
	struct onramp_sched *q = qdisc_priv(sch);

	/* Flows hold connections that the qref may name. */
	if (q->qref)
		onramp_qref_disarm(q->qref);
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

static void onramp_destroy(struct Qdisc *sch)
{
	struct onramp_sched *q = qdisc_priv(sch);

	onramp_reset(sch);
	onramp_table_free(q->table);
	if (q->cfg.forward)
		onramp_forward_stop(q->qref->onet, q->link);
	onramp_qref_close(q->qref);
	if (q->follows)
		onramp_link_follow(q->link, q->follows, 0);
	onramp_link_put(q->link);
}

static struct Qdisc_ops onramp_qdisc_ops __read_mostly = {
	.id		= "onramp",
	.priv_size	= sizeof(struct onramp_sched),
	.enqueue	= onramp_enqueue,
	.dequeue	= onramp_dequeue,
	.peek		= onramp_peek,
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
	err = onramp_conn_cache_create();
	if (err)
		goto destroy_flows;
	err = onramp_link_module_init();
	if (err)
		goto destroy_conns;
	err = onramp_peer_module_init();
	if (err)
		goto exit_links;
	err = register_qdisc(&onramp_qdisc_ops);
	if (err)
		goto exit_peers;
	onramp_genl_init();
	return 0;

exit_peers:
	onramp_peer_module_exit();
exit_links:
	onramp_link_module_exit();
destroy_conns:
	onramp_conn_cache_destroy();
destroy_flows:
	onramp_flow_cache_destroy();
	return err;
}

static void __exit onramp_module_exit(void)
{
	onramp_genl_exit();
	unregister_qdisc(&onramp_qdisc_ops);
	onramp_peer_module_exit();
	onramp_link_module_exit();
	onramp_conn_cache_destroy();
	onramp_flow_cache_destroy();
}

module_init(onramp_module_init);
module_exit(onramp_module_exit);

/* Kernels before 6.8 ask for sch_onramp, which is the name of the module. */
MODULE_ALIAS("net-sch-onramp");
MODULE_AUTHOR("The onramp authors");
MODULE_DESCRIPTION("On-Ramp sender: fair queueing, pacing, pauses");
MODULE_LICENSE("GPL");
MODULE_VERSION(ONRAMP_VERSION);
