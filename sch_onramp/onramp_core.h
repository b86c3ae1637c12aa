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
 * added nothing to the queue.
 *
 * Source: Liu et al., "Breaking the Transience-Equilibrium Nexus: A New Approach
 * to Datacenter Packet Transport", NSDI 2021, sections 3.1, 3.2 and 4.1.
 *
 * The mode "printed" is (3) and (4) as they stand there, the mode "strawman" is (2). The final mode
 * differs from (3) and (4):
 *  - A pause below T / 2 gives no beta_m: the data that the flow itself sends between two
 *    OR-ACKs changes the delay as much. Nor does one after which G was sent more than stale_ns
 *    after B.
 *  - If the queue is empty when G arrives, beta_m is one: the pause drained the whole queue, and
 *    was too long. If O_G is below T, beta does not fall, for the same reason. Otherwise a pause
 *    that is too long would make beta smaller, and a small beta makes pauses longer: one flow
 *    alone lost a quarter of its link.
 *  - beta * P_rtt is at least the time for which the flow has had nothing to send. All of that
 *    counts, not beta of it: a queue whose senders are silent drains by 1 ns per ns.
 *
 * Where the paper leaves a choice, in all modes:
 *  - beta starts at one, the strongest belief in the flow's own pauses: it
 *    pauses for the shortest time until it has measured.
 *  - An OR-ACK about a packet that was sent before B is ignored.
 *  - No packet of a flow is held for longer than max_pause_ns: the time is
 *    counted from the first pause after a packet left, over all pauses that
 *    follow without one.
 *  - A new flow starts with the path's last delay, less the time since: a queue
 *    drains by at most 1 ns per ns.
 *  - An implausible OR-ACK changes nothing, and a pause ends by itself.
 *
 * Nothing in this file depends on the kernel but fixed-size integers, fls64() and
 * div_u64(): it is compiled into the module, the unit tests and the fuzzer.
 */
#ifndef _ONRAMP_CORE_H
#define _ONRAMP_CORE_H

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include "q30.h"

/* Fraction (beta, g): unsigned Q30, 0 to 1. Resolution 9.3e-10. */
#define ONRAMP_FRAC_SHIFT	Q30_SHIFT
#define ONRAMP_ONE		Q30_ONE

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

/* Links up to this rate, bytes/s, are slow: 1 Gbit/s. */
#define ONRAMP_SLOW_LINK_BPS	125000000ULL

enum onramp_mode {
	ONRAMP_MODE_FINAL,	/* equations (3) and (4), with the differences above */
	ONRAMP_MODE_STRAWMAN,	/* equation (2) */
	ONRAMP_MODE_OFF,	/* no pauses */
	ONRAMP_MODE_PRINTED,	/* equations (3) and (4) as printed */
};

/* Verdict on an OR-ACK; shown by tracepoints and counters. */
enum onramp_verdict {
	ONRAMP_BELOW,		/* delay below the threshold: nothing to do */
	ONRAMP_PAUSED,		/* t_next_pkt set */
	ONRAMP_CAPPED,		/* the same, shortened to max_pause_ns */
	ONRAMP_PROGRESS,	/* due for a pause, but a packet has to leave first */
	ONRAMP_IS_OFF,		/* mode off */
	ONRAMP_STALE,		/* about a packet sent before the last acked one */
	ONRAMP_DUPLICATE,	/* about the last acked packet itself */
	ONRAMP_IMPLAUSIBLE,	/* times out of order or out of range */
	ONRAMP_VERDICTS,
	ONRAMP_UNDECIDED = 0xff,	/* none yet: it has passed all checks so far */
};

/**
 * struct onramp_ctrl_params - parameters in the units of the arithmetic
 * @mode:	enum onramp_mode
 * @gain:	g of the moving average (3), Q30, <= 1
 * @threshold_ns: T, ns, <= 10 s; with the error of the clocks already in it
 * @empty_ns:	a queue is empty whose delay is below this, ns
 * @max_pause_ns: longest time that a packet is held, ns, <= 10 s
 * @stale_ns:	age at which a signal no longer counts, ns, <= 10 s
 * @coexist_share:	share by which each pause is shortened, Q30, <= 1
 */
struct onramp_ctrl_params {
	u8	mode;
	u32	gain;
	u32	coexist_share;
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
 * struct onramp_sample - measurements of packet G, from its OR-ACK and its record
 * @now_ns:	current time
 * @tx_ns:	when G was sent
 * @tx_cum_ns:	onramp_ctrl_cum_pause() of that time, taken then
 * @sent_ns:	when any packet of the flow was last sent
 * @idle_ns:	time for which it has had nothing to send, else 0
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
 * onramp_ratio() - divide: a / b in Q30, limited to one
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

/* onramp_ppm() - return a fraction, Q30, in millionths */
static inline u32 onramp_ppm(u32 fraction)
{
	return (u32)(((u64)fraction * 1000000) >> ONRAMP_FRAC_SHIFT);
}

/**
 * onramp_since_ns() - return the time from one event to a later one
 * @now_ns: time of the later one
 * @then_ns: time of the other
 *
 * Who reads the clock before it takes a lock may get the lock after one that read it later; and
 * clocks of two CPUs may be slightly out of order.
 *
 * Return: ns; 0 if @now_ns is the earlier one.
 */
static inline u64 onramp_since_ns(u64 now_ns, u64 then_ns)
{
	return now_ns > then_ns ? now_ns - then_ns : 0;
}

/**
 * onramp_ctrl_cum_pause() - return the time that a flow has been paused, up to a time
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

/* onramp_ctrl_paused() - return whether the flow is paused */
static inline bool onramp_ctrl_paused(const struct onramp_ctrl *f, u64 now_ns)
{
	return now_ns < f->until_ns;
}

/**
 * onramp_ctrl_set_pause() - replace the rest of the pause
 * @f: flow
 * @now_ns: current time
 * @until_ns: new end; the past ends the pause
 *
 * The part that is over is added to the sum first, so the sum stays exact.
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

/* onramp_ctrl_init() - begin a flow that has never been paused */
static inline void onramp_ctrl_init(struct onramp_ctrl *f)
{
	*f = (struct onramp_ctrl) { .beta = ONRAMP_ONE };
}

/**
 * onramp_ctrl_forget() - forget packet B
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
					   const struct onramp_ctrl_params *p, u64 now_ns,
					   u64 sent_ns, u64 want_ns,
					   struct onramp_result *res)
{
	u64 left_ns;

	want_ns -= q30_mul(want_ns, p->coexist_share);
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
				     const struct onramp_ctrl_params *p,
				     const struct onramp_sample *s,
				     struct onramp_result *res)
{
	bool printed = p->mode == ONRAMP_MODE_PRINTED;
	u64 delta;

	if (!f->acked || s->tx_cum_ns <= f->last_cum_ns)
		return;
	if (!printed && (s->tx_ns - f->last_tx_ns > p->stale_ns ||
			 s->tx_cum_ns - f->last_cum_ns < p->threshold_ns / 2))
		return;
	res->p_bg_ns = s->tx_cum_ns - f->last_cum_ns;
	res->beta_m = f->last_owd_ns > res->owd_ns ?
		onramp_ratio(f->last_owd_ns - res->owd_ns, res->p_bg_ns) : 0;
	/* The queue has run empty: the pause could have taken more from it. */
	if (!printed && res->owd_ns < p->empty_ns)
		res->beta_m = ONRAMP_ONE;
	else if (!printed && res->beta_m < f->beta && res->owd_ns < p->threshold_ns)
		return;
	/* Both are fractions up to one: the result is between them. */
	if (res->beta_m >= f->beta) {
		delta = q30_mul(res->beta_m - f->beta, p->gain);
		f->beta += (u32)delta;
	} else {
		delta = q30_mul(f->beta - res->beta_m, p->gain);
		f->beta -= (u32)delta;
	}
}

/* Return ONRAMP_UNDECIDED for a plausible OR-ACK with news, or the verdict on it. */
static inline u8 onramp_ctrl_judge(const struct onramp_ctrl *f,
				   const struct onramp_ctrl_params *p,
				   const struct onramp_sample *s)
{
	if (s->owd_ns > (s64)ONRAMP_MAX_NS || s->tx_ns > s->now_ns ||
	    s->tx_cum_ns > onramp_ctrl_cum_pause(f, s->now_ns))
		return ONRAMP_IMPLAUSIBLE;
	if (s->now_ns - s->tx_ns > p->stale_ns)
		return ONRAMP_STALE;
	if (!f->acked)
		return ONRAMP_UNDECIDED;
	if (s->tx_ns < f->last_tx_ns)
		return ONRAMP_STALE;
	if (s->tx_ns > f->last_tx_ns)
		return ONRAMP_UNDECIDED;
	/* One batch has one time of sending, and many sequence numbers. */
	if (s->seq == f->last_seq)
		return ONRAMP_DUPLICATE;
	return (s32)(s->seq - f->last_seq) < 0 ? ONRAMP_STALE : ONRAMP_UNDECIDED;
}

/**
 * onramp_ctrl_update() - process one OR-ACK
 * @f: flow
 * @p: parameters
 * @s: its measurements
 * @res: the decision, and its inputs
 */
static inline void onramp_ctrl_update(struct onramp_ctrl *f,
				      const struct onramp_ctrl_params *p,
				      const struct onramp_sample *s,
				      struct onramp_result *res)
{
	u64 lag_ns = 0;

	*res = (struct onramp_result) { .verdict = onramp_ctrl_judge(f, p, s) };
	if (res->verdict != ONRAMP_UNDECIDED)
		return;
	res->verdict = ONRAMP_BELOW;
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
	if (p->mode != ONRAMP_MODE_STRAWMAN)
		lag_ns = q30_mul(res->p_rtt_ns, f->beta);
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
 * Section 5.2.1 of the paper: saves the round trip of a first measurement. beta stays as it is.
 *
 * Return: the pause, ns.
 */
static inline u64 onramp_ctrl_inherit(struct onramp_ctrl *f,
				      const struct onramp_ctrl_params *p, u64 owd_ns,
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
 * onramp_byte_time() - return the time on the wire per byte of payload, ns in Q20
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
 * onramp_own_ns() - return the time that a packet waited for its own batch
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

#endif /* _ONRAMP_CORE_H */
