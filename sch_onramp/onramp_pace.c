// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: departure times, and rates
 */
#include <linux/math64.h>
#include <linux/sizes.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "onramp_pace.h"

/*
 * Longest gap between two packets of a flow, ns. Its rate may have been raised long
 * before an absurdly long one would end.
 */
#define ONRAMP_GAP_MAX_NS	NSEC_PER_SEC

/*
 * After a pause, a flow resumes at its recent rate plus the larger of 1/8 of that rate and
 * 1/16 of the gap to sk_pacing_rate, capped at 5/4 of sk_pacing_rate. So it finds a rate that
 * has become free within some RTTs. On a slow link one that has less than 1/8 of it resumes half
 * way to that at least.
 */
#define ONRAMP_GROWTH_SHIFT	3
#define ONRAMP_SHARE_SHIFT	4
#define ONRAMP_SLOW_SHARE_SHIFT	3
#define ONRAMP_DRAIN_SHIFT	2

/* Rates from here on, bytes/s, are left as they are: rate has no room for more. */
#define ONRAMP_RATE_MAX_BPS	(1ULL << (32 + ONRAMP_RATE_SHIFT))

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
static u64 onramp_resume_bps(const struct onramp_sched *q, const struct onramp_flow *f, u64 bps,
			     u64 pacing_bps)
{
	/* Of the own link, or of the slowest one of a slow path. */
	u64 line_bps = min_not_zero(q->line_bps, (u64)READ_ONCE(f->conn->peer->path.slow_bps));
	u64 more_bps = bps >> ONRAMP_GROWTH_SHIFT, share_bps = line_bps >> ONRAMP_SLOW_SHARE_SHIFT;

	if (bps < pacing_bps)
		more_bps = max(more_bps, (pacing_bps - bps) >> ONRAMP_SHARE_SHIFT);
	if (line_bps <= ONRAMP_SLOW_LINK_BPS && bps < share_bps)
		more_bps = max(more_bps, (share_bps - bps) / 2);
	return bps + more_bps;
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
	bps = onramp_resume_bps(q, f, (u64)f->rate << ONRAMP_RATE_SHIFT, pacing_bps);
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
u64 onramp_departure_ns(const struct onramp_sched *q, const struct onramp_flow *f,
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
static u64 onramp_release_bps(const struct onramp_sched *q, struct onramp_flow *f,
			      const struct sock *sk, u64 len, u64 pacing_bps, u64 now)
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
	return min(onramp_resume_bps(q, f, bps, pacing_bps), limit_bps);
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
			own = onramp_release_bps(q, f, sk, len, own, onramp_clock(q));
		if (own != ~0UL)
			rate = min_t(u64, rate, own);
	} else if (late) {
		own = onramp_pacing_bps(q, f, NULL);
		rate = min(rate, onramp_release_bps(q, f, NULL, len, own, onramp_clock(q)));
	}
	return rate;
}

/**
 * onramp_pace() - a packet has left: set the time of its flow's next packet
 * @q: the qdisc
 * @f: the flow
 * @skb: the packet
 * @departure: of onramp_departure_ns()
 *
 * If the sender sets EDTs it
 * paces itself, and only maxrate is enforced here. But during a pause those times pass, so
 * the packets that it held leave at a rate, not in one burst.
 *
 * Context: the qdisc's lock.
 */
void onramp_pace(struct onramp_sched *q, struct onramp_flow *f, const struct sk_buff *skb,
		 u64 departure)
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
