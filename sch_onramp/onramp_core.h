/* SPDX-License-Identifier: GPL-2.0 */
/*
 * On-Ramp's controller: pure functions on integers.
 *
 * On every OR-ACK for a packet G of a flow, B being the packet of the same flow
 * that was acked just before it:
 *
 *	O     = one-way delay of G
 *	P_BG  = cum_pause(tx G) - cum_pause(tx B)
 *	P_rtt = cum_pause(now) - cum_pause(tx G)
 *
 *	P_BG > 0:  beta_m = clamp((O_B - O_G) / P_BG, 0, 1)
 *		   beta   = (1 - g) * beta + g * beta_m			(3)
 *
 *	final:     if O - beta * P_rtt > T:
 *			t_next_pkt = now + O - T - beta * P_rtt		(4)
 *	strawman:  if O > T:
 *			t_next_pkt = now + O - T			(2)
 *	else:      t_next_pkt stays as it is
 *
 * cum_pause(t) is the time up to t during which t_next_pkt lay in the future:
 * each nanosecond counts once, however often a pause was extended or shortened.
 * It counts whether or not the flow had data to send: in both cases the flow
 * added nothing to the queue. For the same reason P_rtt is at least the time for which it
 * has had nothing to send, and of that all counts, not beta of it: a queue whose senders
 * are silent drains by 1 ns per ns.
 *
 * Source: Liu et al., "Breaking the Transience-Equilibrium Nexus: A New Approach
 * to Datacenter Packet Transport", NSDI 2021, sections 3.1, 3.2 and 4.1.
 *
 * What the paper leaves open, here:
 *  - beta starts at one, the strongest belief in the flow's own pauses: it
 *    pauses for the shortest time until it has measured.
 *  - An OR-ACK about a packet sent before B is about the past, and ignored.
 *  - B is no reference for (3) when it was sent more than stale_ns before G.
 *  - A pause that is shorter than T / 2 says nothing: what the flow itself sends between
 *    two OR-ACKs is of that order. If the queue is empty when G arrives, beta_m is one: the
 *    pause took all that was there, and was too long. If O_G is below T, beta does not
 *    fall, for the same reason. Else a pause that is too long makes beta smaller,
 *    and a small beta makes pauses longer: one flow alone loses a quarter of its link.
 *  - No packet of a flow is held for longer than max_pause_ns: the time is
 *    counted from the first pause after a packet left, over all pauses that
 *    follow without one.
 *  - A new flow starts with the path's last delay, less the time since: a queue
 *    drains by at most 1 ns per ns.
 *  - Whatever is not plausible changes nothing, and a pause ends by itself.
 *
 * Nothing in this file depends on the kernel but fixed-size integers, fls64(),
 * READ_ONCE() and div_u64(): it is compiled into the module, the unit tests and the fuzzer.
 */
#ifndef _ONRAMP_CORE_H
#define _ONRAMP_CORE_H

#ifdef __KERNEL__
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#else
#include "core_user.h"
#endif

/* Fraction (beta, g): unsigned Q30, 0 to 1. Resolution 9.3e-10. */
#define ONRAMP_FRAC_SHIFT	30
#define ONRAMP_ONE		(1U << ONRAMP_FRAC_SHIFT)

/* The paper's g = 1/16, section 5.1.4. */
#define ONRAMP_GAIN_DEFAULT	(ONRAMP_ONE / 16)

/*
 * Largest one-way delay and round trip that are believed, ns: 10 s. A pause,
 * threshold and sum of pauses within one round trip are at most that as well,
 * < 2^33.3 each; sums of a few of them are far from 2^63.
 */
#define ONRAMP_MAX_NS		10000000000ULL

/* Time per byte: ns in unsigned Q20; see onramp_byte_time(). */
#define ONRAMP_BYTE_SHIFT	20

/* More than TCP's largest window: so far back lies another connection. */
#define ONRAMP_MAX_WINDOW	(1U << 30)

enum onramp_mode {
	ONRAMP_MODE_FINAL,	/* equations (3) and (4) */
	ONRAMP_MODE_STRAWMAN,	/* equation (2) */
	ONRAMP_MODE_OFF,	/* no pauses */
};

/* What an OR-ACK did; exported to tracepoints and counters. */
enum onramp_verdict {
	ONRAMP_BELOW,		/* delay below the threshold: nothing to do */
	ONRAMP_PAUSED,		/* t_next_pkt set */
	ONRAMP_CAPPED,		/* the same, shortened to max_pause_ns */
	ONRAMP_PROGRESS,	/* due for a pause, but a packet has to leave first */
	ONRAMP_IS_OFF,		/* mode off */
	ONRAMP_STALE,		/* about a packet sent before the last acked one */
	ONRAMP_DUPLICATE,	/* about the last acked packet itself */
	ONRAMP_IMPLAUSIBLE,	/* times out of order or out of range */
	ONRAMP_VERDICTS
};

/**
 * struct onramp_params - parameters in the units of the arithmetic
 * @mode:	enum onramp_mode
 * @gain:	g of the moving average (3), Q30, <= 1
 * @threshold_ns: T, ns, <= 10 s; with the error of the clocks already in it
 * @empty_ns:	a queue is empty whose delay is below this, ns
 * @max_pause_ns: longest time that a packet is held, ns, <= 10 s
 * @stale_ns:	age at which a signal no longer counts, ns, <= 10 s
 * @let_go:	part of all pauses that is left out, Q30, <= 1
 */
struct onramp_params {
	u8	mode;
	u32	gain;
	u32	let_go;
	u64	threshold_ns;
	u64	empty_ns;
	u64	max_pause_ns;
	u64	stale_ns;
};

/**
 * struct onramp_ctrl - state of the controller, one per flow
 * @cum_ns:	time paused before @from_ns, ns
 * @from_ns:	start of the current pause; the last time it was changed
 * @until_ns:	its end, t_next_pkt, >= @from_ns
 * @hold_ns:	start of the first pause since a packet left
 * @last_tx_ns:	packet B: when it was sent
 * @last_cum_ns: cum_pause() then
 * @last_owd_ns: its one-way delay, O_B
 * @last_seq:	its last sequence number
 * @beta:	Q30, <= 1
 * @acked:	there is a packet B
 *
 * Times are of one monotonic clock, ns. The caller serialises onramp_ctrl_update(),
 * onramp_ctrl_inherit() and onramp_ctrl_forget(); a reader beside them needs a sequence
 * counter, except for @until_ns alone.
 */
struct onramp_ctrl {
	u64	cum_ns;
	u64	from_ns;
	u64	until_ns;
	u64	hold_ns;
	u64	last_tx_ns;
	u64	last_cum_ns;
	u64	last_owd_ns;
	u32	last_seq;
	u32	beta;
	bool	acked;
};

/**
 * struct onramp_sample - what an OR-ACK says about packet G
 * @now_ns:	current time
 * @tx_ns:	when G was sent
 * @tx_cum_ns:	onramp_ctrl_cum_pause() of that time, taken then
 * @sent_ns:	when any packet of the flow was last sent
 * @idle_ns:	since then it has had nothing to send: for how long, else 0
 * @owd_ns:	O: one-way delay, or its excess over the path's baseline, without
 *		the sender's own serialisation; < 0 counts as 0
 * @seq:	sequence number after the last byte of G
 */
struct onramp_sample {
	u64	now_ns;
	u64	tx_ns;
	u64	tx_cum_ns;
	u64	sent_ns;
	u64	idle_ns;
	s64	owd_ns;
	u32	seq;
};

/**
 * struct onramp_result - every output of one decision, for tracing and tests
 * @owd_ns:	O as it was used
 * @p_bg_ns:	P_BG; 0 if it was not used
 * @p_rtt_ns:	P_rtt
 * @beta_m:	measured beta, Q30; only if @p_bg_ns > 0
 * @pause_ns:	t_next_pkt - now, 0 if t_next_pkt stays as it is
 * @verdict:	enum onramp_verdict
 */
struct onramp_result {
	u64	owd_ns;
	u64	p_bg_ns;
	u64	p_rtt_ns;
	u32	beta_m;
	u64	pause_ns;
	u8	verdict;
};

/**
 * onramp_mul() - multiply a time by a Q30 fraction, rounding down
 * @ns: any value
 * @frac: Q30, <= 1
 *
 * The high half contributes (ns >> 32) * frac * 4 without remainder, the low
 * half's product is below 2^62, and their sum is at most @ns: no overflow.
 */
static inline u64 onramp_mul(u64 ns, u32 frac)
{
	return (((ns >> 32) * frac) << 2) +
	       (((ns & 0xffffffffULL) * frac) >> ONRAMP_FRAC_SHIFT);
}

/**
 * onramp_ratio() - a / b in Q30, limited to one
 * @a: dividend
 * @b: divisor, > 0
 *
 * The one division of an OR-ACK, and only where 0 < a < b. Both lose the same
 * low bits until b has 32, so a has at most 32 and a << 30 at most 62; the
 * result is off by less than 2^-30 + 2^-31 of one.
 */
static inline u32 onramp_ratio(u64 a, u64 b)
{
	int shift;

	if (!a)
		return 0;
	if (a >= b)
		return ONRAMP_ONE;
	shift = max_t(int, fls64(b) - 32, 0);
	return (u32)div_u64((a >> shift) << ONRAMP_FRAC_SHIFT, (u32)(b >> shift));
}

/**
 * onramp_ctrl_cum_pause() - time that a flow has been paused, up to a time
 * @f: flow
 * @t_ns: time, not before the pause was last changed; an earlier one counts as
 *	  that
 */
static inline u64 onramp_ctrl_cum_pause(const struct onramp_ctrl *f, u64 t_ns)
{
	if (t_ns <= f->from_ns)
		return f->cum_ns;
	return f->cum_ns + min_t(u64, t_ns, f->until_ns) - f->from_ns;
}

/**
 * onramp_ctrl_paused() - may the flow not send?
 * @f: flow
 * @now_ns: current time
 */
static inline bool onramp_ctrl_paused(const struct onramp_ctrl *f, u64 now_ns)
{
	return now_ns < f->until_ns;
}

/**
 * onramp_ctrl_set_pause() - replace what is left of the pause
 * @f: flow
 * @now_ns: current time
 * @until_ns: new end; the past ends the pause
 *
 * What is over is added to the sum first, which keeps it exact.
 */
static inline void onramp_ctrl_set_pause(struct onramp_ctrl *f, u64 now_ns,
					 u64 until_ns)
{
	/* Clocks of two CPUs may be slightly out of order. */
	now_ns = max_t(u64, now_ns, f->from_ns);
	f->cum_ns = onramp_ctrl_cum_pause(f, now_ns);
	f->from_ns = now_ns;
	f->until_ns = max_t(u64, until_ns, now_ns);
}

/**
 * onramp_ctrl_init() - a flow that has never been paused
 * @f: flow
 */
static inline void onramp_ctrl_init(struct onramp_ctrl *f)
{
	*f = (struct onramp_ctrl) { .beta = ONRAMP_ONE };
}

/**
 * onramp_ctrl_forget() - the next OR-ACK has no packet B
 * @f: flow
 *
 * For one-way delays that cannot be compared with earlier ones: another clock,
 * another baseline. A pause goes on to its end.
 */
static inline void onramp_ctrl_forget(struct onramp_ctrl *f)
{
	f->acked = false;
}

/*
 * Start a pause that is due, unless it is let go, within the limit on how long a packet is
 * held. @want_ns > 0, <= 10 s.
 */
static inline void onramp_ctrl_start_pause(struct onramp_ctrl *f,
					   const struct onramp_params *p, u64 now_ns,
					   u64 sent_ns, u64 want_ns,
					   struct onramp_result *res)
{
	u64 left_ns;

	want_ns -= onramp_mul(want_ns, p->let_go);
	if (!want_ns)
		return;
	if (!f->hold_ns || sent_ns > f->hold_ns)
		f->hold_ns = now_ns;
	left_ns = f->hold_ns + p->max_pause_ns;
	left_ns = left_ns > now_ns ? left_ns - now_ns : 0;

	res->verdict = ONRAMP_PAUSED;
	if (want_ns > left_ns) {
		want_ns = left_ns;
		res->verdict = left_ns ? ONRAMP_CAPPED : ONRAMP_PROGRESS;
	}
	res->pause_ns = want_ns;
	onramp_ctrl_set_pause(f, now_ns, now_ns + want_ns);
}

/* Equation (3), if there is a packet B that G can be compared with. */
static inline void onramp_ctrl_learn(struct onramp_ctrl *f,
				     const struct onramp_params *p,
				     const struct onramp_sample *s,
				     struct onramp_result *res)
{
	u64 delta;

	if (!f->acked || s->tx_ns - f->last_tx_ns > p->stale_ns ||
	    s->tx_cum_ns <= f->last_cum_ns ||
	    s->tx_cum_ns - f->last_cum_ns < p->threshold_ns / 2)
		return;
	res->p_bg_ns = s->tx_cum_ns - f->last_cum_ns;
	res->beta_m = f->last_owd_ns > res->owd_ns ?
		onramp_ratio(f->last_owd_ns - res->owd_ns, res->p_bg_ns) : 0;
	/* A queue that has run empty cannot show all that the pause has taken from it. */
	if (res->owd_ns < p->empty_ns)
		res->beta_m = ONRAMP_ONE;
	else if (res->beta_m < f->beta && res->owd_ns < p->threshold_ns)
		return;
	/* Both are fractions up to one: the result is between them. */
	if (res->beta_m >= f->beta) {
		delta = onramp_mul(res->beta_m - f->beta, p->gain);
		f->beta += (u32)delta;
	} else {
		delta = onramp_mul(f->beta - res->beta_m, p->gain);
		f->beta -= (u32)delta;
	}
}

/* Is it plausible, and newer than what is known? */
static inline u8 onramp_ctrl_judge(const struct onramp_ctrl *f,
				   const struct onramp_params *p,
				   const struct onramp_sample *s)
{
	if (s->owd_ns > (s64)ONRAMP_MAX_NS || s->tx_ns > s->now_ns ||
	    s->tx_cum_ns > onramp_ctrl_cum_pause(f, s->now_ns))
		return ONRAMP_IMPLAUSIBLE;
	if (s->now_ns - s->tx_ns > p->stale_ns)
		return ONRAMP_STALE;
	if (!f->acked)
		return ONRAMP_BELOW;
	if (s->tx_ns < f->last_tx_ns)
		return ONRAMP_STALE;
	if (s->tx_ns > f->last_tx_ns)
		return ONRAMP_BELOW;
	/* One batch has one time of sending, and many sequence numbers. */
	if (s->seq == f->last_seq)
		return ONRAMP_DUPLICATE;
	return (s32)(s->seq - f->last_seq) < 0 ? ONRAMP_STALE : ONRAMP_BELOW;
}

/**
 * onramp_ctrl_update() - one OR-ACK
 * @f: flow
 * @p: parameters
 * @s: what it says
 * @res: what was decided and why
 */
static inline void onramp_ctrl_update(struct onramp_ctrl *f,
				      const struct onramp_params *p,
				      const struct onramp_sample *s,
				      struct onramp_result *res)
{
	u64 lag_ns = 0;

	*res = (struct onramp_result) { .verdict = onramp_ctrl_judge(f, p, s) };
	if (res->verdict != ONRAMP_BELOW)
		return;
	res->owd_ns = (u64)max_t(s64, s->owd_ns, 0);
	res->p_rtt_ns = onramp_ctrl_cum_pause(f, s->now_ns) - s->tx_cum_ns;
	onramp_ctrl_learn(f, p, s, res);

	f->acked = true;
	f->last_tx_ns = s->tx_ns;
	f->last_cum_ns = s->tx_cum_ns;
	f->last_owd_ns = res->owd_ns;
	f->last_seq = s->seq;

	if (p->mode == ONRAMP_MODE_OFF) {
		res->verdict = ONRAMP_IS_OFF;
		return;
	}
	if (p->mode == ONRAMP_MODE_FINAL)
		lag_ns = onramp_mul(res->p_rtt_ns, f->beta);
	/* The queue has drained while the flow was silent: a pause now would be too late. */
	if (p->mode == ONRAMP_MODE_FINAL && s->idle_ns > lag_ns)
		lag_ns = s->idle_ns;
	/* Added instead of subtracted: nothing here can go below zero. */
	if (res->owd_ns > p->threshold_ns + lag_ns)
		onramp_ctrl_start_pause(f, p, s->now_ns, s->sent_ns, res->owd_ns -
				   p->threshold_ns - lag_ns, res);
}

/**
 * onramp_ctrl_inherit() - let a new flow start with the delay of its path
 * @f: flow, just initialised
 * @p: parameters
 * @owd_ns: last one-way delay of the path (or excess), as the core used it
 * @at_ns: when its OR-ACK came
 * @now_ns: current time
 *
 * Section 5.2.1 of the paper: spares the round trip that a first measurement
 * takes. beta stays as it is.
 *
 * Return: the pause, ns.
 */
static inline u64 onramp_ctrl_inherit(struct onramp_ctrl *f,
				      const struct onramp_params *p, u64 owd_ns,
				      u64 at_ns, u64 now_ns)
{
	struct onramp_result res = {};
	u64 age_ns;

	if (p->mode == ONRAMP_MODE_OFF || at_ns > now_ns)
		return 0;
	age_ns = now_ns - at_ns;
	if (age_ns > p->stale_ns || owd_ns > ONRAMP_MAX_NS ||
	    owd_ns <= p->threshold_ns + age_ns)
		return 0;
	onramp_ctrl_start_pause(f, p, now_ns, 0, owd_ns - p->threshold_ns - age_ns,
				&res);
	return res.pause_ns;
}

/**
 * onramp_byte_time() - time on the wire per byte of payload, ns in Q20
 * @line_rate_bps: of the link, bytes/s; 0: unknown, nothing is subtracted
 * @payload: bytes of payload in a full packet, 1 to 65535
 * @wire: bytes that such a packet takes on the wire, @payload to 66000
 *
 * For configuration, not per packet. 1e9 << 20 is below 2^50; the quotient is
 * limited to 2^40 (1 ms per byte, 8 kbit/s), and @wire < 2^17: below 2^57.
 */
static inline u64 onramp_byte_time(u64 line_rate_bps, u32 payload, u32 wire)
{
	u64 q;

	if (!line_rate_bps || !payload)
		return 0;
	q = div64_u64(1000000000ULL << ONRAMP_BYTE_SHIFT, line_rate_bps);
	q = min_t(u64, q, 1ULL << 40);
	return min_t(u64, div_u64(q * wire, payload), 1ULL << 40);
}

/**
 * onramp_own_ns() - time that a packet waited for its own batch
 * @byte_time: of onramp_byte_time(), < 2^41
 * @start_seq: of the batch
 * @end_seq: after the last byte of the packet
 *
 * A batch (GSO) has one time of sending, but leaves packet by packet. A distance
 * above 2^20, more than any batch has, counts as 2^20: the product is below 2^62.
 */
static inline u64 onramp_own_ns(u64 byte_time, u32 start_seq, u32 end_seq)
{
	u64 bytes = min_t(u32, end_seq - start_seq, 1U << 20);

	return (bytes * byte_time) >> ONRAMP_BYTE_SHIFT;
}

/* --- transmission records --------------------------------------------------- */

/*
 * A packet shares the record before it if it starts on the wire within so many ns of
 * that one's end, and all of the record is no longer than two batches, bytes.
 */
#define ONRAMP_TX_MERGE_NS	16
#define ONRAMP_TX_MERGE_BYTES	(1U << 17)

/**
 * struct onramp_tx - when a range of sequence numbers was sent
 * @tx_ns:	start on the wire, by the model of it; 0: unusable, part of the range was
 *		sent more than once
 * @cum_ns:	onramp_ctrl_cum_pause() then
 * @start:	first sequence number
 * @end:	after the last one
 * @wait_ns:	from the qdisc to @tx_ns, ONRAMP_FIFO_MAX_NS and a batch at most
 */
struct onramp_tx {
	u64	tx_ns;
	u64	cum_ns;
	u32	start;
	u32	end;
	u32	wait_ns;
};

/*
 * Of so many records in flight a full ring keeps every second one; below so many it
 * goes back to more of them. The rest of a ring is for OR-ACKs that come later than
 * the ACK. Fractions of a ring, in quarters: halving and doubling stay between them.
 */
#define ONRAMP_TX_MANY		3
#define ONRAMP_TX_FEW		1

/* One of 2^12 batches of 64 KB is less than one in flight, whatever the window. */
#define ONRAMP_TX_SHIFT_MAX	12

/**
 * struct onramp_txring - records of a flow, in order of sequence
 * @rec:	the records, @mask + 1 of them
 * @mask:	a power of two less one, >= 3
 * @head:	where the next one goes, counts up
 * @count:	valid records, <= @mask + 1
 * @shift:	one of 2^@shift is recorded, <= ONRAMP_TX_SHIFT_MAX
 * @all:	what was last sent was all that there was to send
 * @skipped:	how many were not recorded since the newest record, < 2^@shift
 * @next:	after all that was sent, if there is a record
 * @una:	before it, all was acknowledged when that was last looked at
 * @base:	not after the start of any record, nor much before that of the oldest
 * @sent_ns:	when anything was last sent
 * @end_ns:	about when the newest record ends on the wire, if there is one
 *
 * A packet that does not belong to the newest record reads no record, only these.
 *
 * A ring whose records are all in flight would forget the oldest one before its OR-ACK
 * comes, each time, and the flow would never pause. It keeps every second one, and
 * records every second one from then on. OR-ACKs about the others are unknown and do
 * nothing, but there are always some that are known.
 */
struct onramp_txring {
	struct onramp_tx *rec;
	u32	mask;
	u32	head;
	u32	count;
	u16	shift;
	bool	all;
	u32	skipped;
	u32	next;
	u32	una;
	u32	base;
	u64	sent_ns;
	u64	end_ns;
};

/* The @i-th newest record, from 0 on; @i < r->count. */
static inline struct onramp_tx *onramp_tx_at(const struct onramp_txring *r,
					     u32 i)
{
	return &r->rec[(r->head - 1 - i) & r->mask];
}

/*
 * Newest first: how many records end after @seq? Binary search, since records
 * do not overlap and none is further than half the sequence space from another.
 */
static inline u32 onramp_tx_after(const struct onramp_txring *r, u32 seq)
{
	u32 low = 0, high = r->count, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if ((s32)(onramp_tx_at(r, mid)->end - seq) > 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Part of @start to @end is sent again: which of the two was received is unknown. */
static inline void onramp_tx_spoil(struct onramp_txring *r, u32 start, u32 end)
{
	u32 i, n = onramp_tx_after(r, start);

	for (i = 0; i < n; i++)
		if ((s32)(onramp_tx_at(r, i)->start - end) < 0)
			onramp_tx_at(r, i)->tx_ns = 0;
}

/* Are more than @quarters of the ring's length in flight? */
static inline bool onramp_tx_in_flight(struct onramp_txring *r, u32 quarters,
				       const u32 *una)
{
	u32 i = (r->mask + 1) / 4 * quarters, end;

	if (i >= r->count)
		return false;
	end = onramp_tx_at(r, i)->end;
	if ((s32)(end - r->una) <= 0)
		return false;
	/* It is of another cache line, and of another CPU: only if it matters. */
	r->una = READ_ONCE(*una);
	return (s32)(end - r->una) > 0;
}

/* Is the next one to be recorded? Adapts how many are. */
static inline bool onramp_tx_wanted(struct onramp_txring *r, const u32 *una)
{
	u32 i;

	if (!r->count) {
		r->shift = 0;
		r->skipped = 0;
		r->una = READ_ONCE(*una);
		return true;
	}
	if (r->shift && ++r->skipped < 1U << r->shift)
		return false;
	r->skipped = 0;
	/* Once in a quarter of the ring, as long as the last quarter of it lasts. */
	if (r->head & (r->mask >> 2))
		return true;
	if (r->count > r->mask - (r->mask >> 2) && r->shift < ONRAMP_TX_SHIFT_MAX &&
	    onramp_tx_in_flight(r, ONRAMP_TX_MANY, una)) {
		r->count /= 2;
		for (i = 1; i < r->count; i++)
			*onramp_tx_at(r, i) = *onramp_tx_at(r, 2 * i);
		r->shift++;
	} else if (r->shift && !onramp_tx_in_flight(r, ONRAMP_TX_FEW, una)) {
		r->shift--;
	}
	return true;
}

/* All that is kept fits into half of the sequence space. */
static inline void onramp_tx_forget(struct onramp_txring *r, u32 end)
{
	while (r->count) {
		r->base = onramp_tx_at(r, r->count - 1)->start;
		if (end - r->base <= ONRAMP_MAX_WINDOW)
			return;
		r->count--;
	}
}

/**
 * onramp_tx_add() - a packet or batch leaves
 * @r: ring
 * @start: its first sequence number
 * @end: after its last one; nothing is recorded if it is empty
 * @tx_ns: time, > 0
 * @cum_ns: onramp_ctrl_cum_pause() of that time
 * @una: the connection's first unacknowledged sequence number; it may change meanwhile
 */
static inline void onramp_tx_add(struct onramp_txring *r, u32 start, u32 end,
				 u64 tx_ns, u64 cum_ns, const u32 *una)
{
	r->sent_ns = max_t(u64, r->sent_ns, tx_ns);
	if ((s32)(end - start) <= 0)
		return;
	/* Further back than that is another connection of these ports. */
	if (r->count && r->next - start - 1 < ONRAMP_MAX_WINDOW) {
		onramp_tx_spoil(r, start, end);
		if ((s32)(end - r->next) <= 0)
			return;
		start = r->next;
	}
	r->next = end;
	if (end - r->base > ONRAMP_MAX_WINDOW)
		onramp_tx_forget(r, end);
	if (!r->count)
		r->base = start;
	if (!onramp_tx_wanted(r, una))
		return;
	r->rec[r->head++ & r->mask] = (struct onramp_tx) {
		.tx_ns = tx_ns, .cum_ns = cum_ns, .start = start, .end = end,
	};
	r->count = min_t(u32, r->count + 1, r->mask + 1);
}

/* Does what starts on the wire at @tx_ns follow at once what ends at @end_ns? */
static inline bool onramp_tx_follows(u64 tx_ns, u64 end_ns)
{
	return tx_ns - end_ns + ONRAMP_TX_MERGE_NS <= 2 * ONRAMP_TX_MERGE_NS;
}

/**
 * onramp_tx_append() - onramp_tx_add(), with back-to-back packets in one record
 * @r: ring
 * @start: first sequence number of the packet or batch
 * @end: after its last one
 * @out_ns: the qdisc hands it to the driver, > 0
 * @tx_ns: it starts on the wire, >= @out_ns
 * @cum_ns: onramp_ctrl_cum_pause() of that time
 * @byte_time: of onramp_byte_time()
 * @una: see onramp_tx_add()
 *
 * A packet that starts on the wire when the one before it ends is as good as part of
 * its batch: onramp_own_ns() gives its time. So a ring is as long in bytes without GSO
 * as with it.
 */
static inline void onramp_tx_append(struct onramp_txring *r, u32 start, u32 end,
				    u64 out_ns, u64 tx_ns, u64 cum_ns, u64 byte_time,
				    const u32 *una)
{
	struct onramp_tx *t;
	u64 next_ns;
	u32 head = r->head;

	if (r->count && byte_time && (s32)(end - start) > 0 &&
	    onramp_tx_follows(tx_ns, r->end_ns)) {
		t = onramp_tx_at(r, 0);
		next_ns = t->tx_ns + onramp_own_ns(byte_time, t->start, start);
		if (t->end == start && t->tx_ns && t->cum_ns == cum_ns &&
		    end - t->start <= ONRAMP_TX_MERGE_BYTES &&
		    onramp_tx_follows(tx_ns, next_ns)) {
			t->end = end;
			r->next = end;
			r->sent_ns = max_t(u64, r->sent_ns, tx_ns);
			r->end_ns = t->tx_ns + onramp_own_ns(byte_time, t->start, end);
			return;
		}
	}
	onramp_tx_add(r, start, end, tx_ns, cum_ns, una);
	if (r->head != head)
		onramp_tx_at(r, 0)->wait_ns = (u32)min_t(u64, tx_ns - out_ns, U32_MAX);
	r->end_ns = tx_ns + onramp_own_ns(byte_time, start, end);
}

/**
 * onramp_tx_idle_ns() - for how long has the flow had nothing to send?
 * @r: ring
 * @now_ns: current time
 *
 * Return: ns, 0 if it has, or what it sent last is not on the wire yet.
 */
static inline u64 onramp_tx_idle_ns(const struct onramp_txring *r, u64 now_ns)
{
	return r->all && now_ns > r->sent_ns ? now_ns - r->sent_ns : 0;
}

/**
 * onramp_tx_covering() - the record of the packet that ends at a sequence number
 * @r: ring
 * @seq: sequence number after its last byte
 *
 * Return: the record, whose tx_ns is 0 if it is unusable; NULL if there is none.
 */
static inline const struct onramp_tx *
onramp_tx_covering(const struct onramp_txring *r, u32 seq)
{
	/* Ends at or after seq means: ends after seq - 1. */
	u32 n = onramp_tx_after(r, seq - 1);
	const struct onramp_tx *t;

	if (!n)
		return NULL;
	t = onramp_tx_at(r, n - 1);
	/* For a number far away the search ends anywhere. */
	return seq - 1 - t->start < t->end - t->start ? t : NULL;
}

/**
 * onramp_tx_find() - the same, if it is usable
 * @r: ring
 * @seq: sequence number after its last byte
 *
 * Return: the record, NULL if there is none or it is unusable.
 */
static inline const struct onramp_tx *onramp_tx_find(const struct onramp_txring *r,
						     u32 seq)
{
	const struct onramp_tx *t = onramp_tx_covering(r, seq);

	return t && t->tx_ns ? t : NULL;
}

#endif /* _ONRAMP_CORE_H */
