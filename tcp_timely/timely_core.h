/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TIMELY rate computation: pure functions on integers.
 *
 * On every completion event (an ACK that covers the end of a sent segment):
 *
 *	rtt      = t_completion - t_send - wire_bytes / line_rate
 *	rtt_diff = (1 - alpha) * rtt_diff + alpha * (rtt - prev_rtt)
 *	gradient = rtt_diff / minRTT
 *	s        = min(1, time since the last completion / minRTT)
 *
 *	rtt < Tlow:     rate += delta * s
 *	rtt > Thigh:    rate *= 1 - s * beta * (1 - Thigh / rtt)
 *	gradient <= 0:  rate += N * delta * s
 *	                N = 5 from the fifth completion in a row with
 *	                gradient < 0 on (hyperactive increase), else 1
 *	else:           rate *= 1 - s * beta * gradient
 *
 * Source: Mittal et al., "TIMELY: RTT-based Congestion Control for the
 * Datacenter", SIGCOMM 2015, Algorithm 1, sections 3.1, 4.3 and 5.
 *
 * In "patched" mode the two gradient branches become one (Zhu et al., "ECN or
 * Delay: Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT 2016,
 * Algorithm 2), which gives the flows a single fixed point:
 *
 *	w     = clamp(2 * gradient + 1/2, 0, 1)
 *	error = (rtt - Tlow) / Tlow
 *	rate  = rate * (1 - s * beta_patched * w * error) + s * delta * (1 - w)
 *
 * Tlow == Thigh makes it the queue-size controller of TIMELY section 4.4.
 *
 * Documentation/tcp_timely.md lists the differences from the paper, and why. Here they are: s
 * by the time between completions (section 5 counts these); an update takes half of the rate at
 * most; the rate has a floor; a smoothed difference below 1 ns is no gradient; an RTT below
 * rtt_floor counts as that, without a difference; Tlow grows with segments above 16 KB.
 *
 * Nothing in this file depends on the kernel but fixed-size integers and
 * div64_u64(): it is compiled into the module, the unit tests and the fuzzer.
 */
#ifndef _TIMELY_CORE_H
#define _TIMELY_CORE_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include "q30.h"

/*
 * Fraction: unsigned Q30, one is 1 << 30. Range 0 to 2^34 - 2^-30 as u64; the
 * factors a rate is multiplied by are at most one. Resolution 9.3e-10: a truncation
 * changes a rate by far less than one packet does.
 */
#define TIMELY_FRAC_SHIFT	Q30_SHIFT
#define TIMELY_ONE		(1ULL << TIMELY_FRAC_SHIFT)

/*
 * Rate: bytes/s in unsigned Q16. TIMELY_MAX_RATE_BPS is 1.6 Tbit/s, 2e11
 * bytes/s < 2^38, so a rate needs 54 bits; see q30_mul() for products.
 */
#define TIMELY_RATE_SHIFT	16
#define TIMELY_MAX_RATE_BPS	200000000000ULL

/* Rates that are kept for later: 32 bits in units of 64 bytes/s, or 25 in units of 8192. */
#define TIMELY_UNIT_SHIFT	6
#define TIMELY_COARSE_SHIFT	13

/* Lowest rate a flow can be configured to keep: 8 kbit/s, in bytes/s. */
#define TIMELY_MIN_RATE_BPS	1000ULL

/*
 * RTT differences: ns in signed Q16. RTTs are clamped to 10 s < 2^33.3 ns, so
 * a difference needs 50 bits and sign, and still fits after << 14 (64 bits,
 * unsigned), which timely_update() uses to divide in Q30.
 */
#define TIMELY_DIFF_SHIFT	16
#define TIMELY_MAX_RTT_NS	10000000000ULL

/*
 * A smoothed difference below 1 ns is none. Of a constant RTT an ever smaller
 * rest of the last change would remain, and its sign would decide for ever.
 */
#define TIMELY_DIFF_ZERO	(1LL << TIMELY_DIFF_SHIFT)

/* Largest gradient that a trace tells apart: 1024, in Q30. The law's does not saturate. */
#define TIMELY_GRADIENT_MAX	(1024ULL << TIMELY_FRAC_SHIFT)

/* Slope of the RTT, of profile auto: ns per ns in Q20, at most 32 either way. */
#define TIMELY_SLOPE_SHIFT	20
#define TIMELY_SLOPE_MAX	((1LL << 25) - 1)

/* Segment size at which t_low_ns holds as it is, bytes. TIMELY section 6. */
#define TIMELY_TLOW_SEGMENT	16384U

/*
 * A decision on "application limited" needs this many segments of target rate,
 * so that one segment more or less cannot cross the 80 % line.
 */
#define TIMELY_WIN_SEGMENTS	10U

/* Longest such decision window, ns: 1 s. */
#define TIMELY_WIN_MAX_NS	1000000000U

/*
 * Bytes that settle a window before it is one RTT long: at 1.6 Tbit/s 11 ms
 * worth. With less than this in one call, timely_flow.win_sent cannot overflow.
 */
#define TIMELY_WIN_MAX_SENT	(1U << 31)

enum timely_mode {
	TIMELY_MODE_ORIGINAL,	/* Algorithm 1 of the TIMELY paper */
	TIMELY_MODE_PATCHED,	/* Algorithm 2 of Zhu et al. */
};

/* Which line of the algorithm took a decision; exported to tracepoints. */
enum timely_branch {
	TIMELY_BRANCH_LOW,	/* rtt < Tlow: additive increase */
	TIMELY_BRANCH_HIGH,	/* rtt > Thigh: multiplicative decrease */
	TIMELY_BRANCH_INCREASE,	/* gradient <= 0: additive increase */
	TIMELY_BRANCH_HAI,	/* the same, hyperactive */
	TIMELY_BRANCH_DECREASE,	/* gradient > 0: multiplicative decrease */
	TIMELY_BRANCH_WEIGHTED,	/* patched mode between Tlow and Thigh */
	TIMELY_BRANCH_START,	/* timely_auto.h: the window opens */
	TIMELY_BRANCH_PROBE,	/* timely_auto.h: the lowest RTT is old, find it again */
	TIMELY_BRANCH_AVERAGE,	/* timely_auto.h: averaged for the next decision */
};

/**
 * struct timely_params - parameters in the units of the arithmetic
 * @mode:		original or patched
 * @hai_thresh:		completions with gradient < 0 before HAI, >= 1
 * @hai_factor:		N in HAI, 1 to 100
 * @app_limited_percent: share of the target a flow must send to raise it
 * @segment_bytes:	segment size, bytes
 * @t_low_ns:		Tlow for @segment_bytes, ns
 * @t_high_ns:		Thigh, ns, >= @t_low_ns
 * @min_rtt_ns:		minRTT, the normaliser, ns, 1 us to 10 s
 * @rtt_floor_ns:	samples below count as this, ns
 * @delta_q:		additive step, bytes/s in Q16
 * @min_rate_q:		rate floor, bytes/s in Q16
 * @alpha:		EWMA weight of the newest difference, Q30, <= 1
 * @beta:		multiplicative decrease, Q30, <= 1
 * @beta_patched:	the same for the weighted branch, Q30, <= 1
 * @loss_beta:		share of the rate that a loss takes, Q30, <= 1
 */
struct timely_params {
	u8	mode;
	u8	hai_thresh;
	u8	hai_factor;
	u8	app_limited_percent;
	u32	segment_bytes;
	u64	t_low_ns;
	u64	t_high_ns;
	u64	min_rtt_ns;
	u64	rtt_floor_ns;
	u64	delta_q;
	u64	min_rate_q;
	u32	alpha;
	u32	beta;
	u32	beta_patched;
	u32	loss_beta;
};

/**
 * struct timely_flow - state of the controller, one per flow
 * @rate_q:	target rate R(t), bytes/s in Q16
 * @rtt_diff_q:	smoothed RTT difference, ns in Q16
 * @prev_rtt_ns: RTT of the last completion, ns; 0: there was none
 * @slope_q:	profile auto, in its place: smoothed d(RTT)/dt, Q20
 * @noisy:	profile auto: how sure it is that RTTs differ from D by noise, and not by a queue
 * @avg_ns:	profile auto: mean of the RTTs since the last update, ns
 * @mean_ns:	profile auto, in place of @prev_rtt_ns: mean at the last update, ns; 0: none
 * @dev_ns:	profile auto: smoothed difference of RTTs from those before, ns
 * @samples:	profile auto: RTTs in @avg_ns, saturating
 * @under:	profile auto: windows in a row in which it sent less than its share, saturating
 * @last_ns:	time of the last completion or restart, ns; 0: none
 * @win_ns:	length of the open application-limited window, ns
 * @doubted:	profile auto: the rate was cut since the last RTT below Tlow
 * @apart:	profile auto: the last two ACKs of a segment were far apart
 * @win_sent:	bytes sent in it; while @starting, the rest of a message, see
 *		timely_auto_resume()
 * @win_rate:	lowest target in it, units of 64 bytes/s
 * @win_allowed: profile auto, in its place: bytes that the rate has allowed in it, saturating
 * @neg_count:	completions in a row with gradient < 0, saturating; profile auto: time below
 *		Tlow, or cuts by a constant RTT
 * @app_limited: the last closed window sent less than the required share
 * @starting:	profile auto: the window opens, and limits the flow
 * @by_rule:	the state is that of profile auto
 * @goes_back:	profile auto: @before is R' of the law, and where there is room the rate returns
 * @burst:	profile auto: others' burst was the cause of the last run of cuts
 * @turn:	profile auto: the lowest bit of the current window, see timely_auto_turn()
 * @wide:	profile auto: windows for which the flow still counts as fast
 * @slow:	profile auto: by how much ACKs of a segment are apart, in 1/16 octaves, see
 *		timely_auto_ratio_q4()
 * @wait:	profile auto: W, how long NICs wait before interrupts, units of 2^13 ns
 * @unwired:	profile auto: no wire is known to limit the flow's device
 * @base_ns:	lowest RTT, ns, saturating; 0: none
 * @sent:	the caller's, else it would be padding
 * @before:	rate before a loss that may be taken back, or R' of the law; units of 8192 bytes/s
 * @unseen:	profile auto: windows in a row without an RTT near the empty path's
 * @count:	the caller's, else it would be padding
 *
 * The caller serialises all access (in the module: the socket lock).
 */
struct timely_flow {
	u64	rate_q;
	union {
		s64	rtt_diff_q;
		struct {
			s32	slope_q:26;
			u32	noisy:6;
			u32	avg_ns;
		};
	};
	union {
		u64	prev_rtt_ns;
		struct {
			u32	mean_ns;
			u32	dev_ns:22;
			u32	samples:6;
			u32	under:2;
		};
	};
	u64	last_ns;
	u32	win_ns:30;
	u32	doubted:1;
	u32	apart:1;
	u32	win_sent;
	union {
		u32	win_rate;
		u32	win_allowed;
	};
	u8	neg_count;
	u8	app_limited:1;
	u8	starting:1;
	u8	by_rule:1;
	u8	turn:1;
	u8	wide:2;
	u8	goes_back:1;
	u8	burst:1;
	u8	slow;
	u8	wait:7;
	u8	unwired:1;
	u32	base_ns;
	u32	sent;
	u32	before:25;
	u32	unseen:7;
	u32	count;
};

/**
 * struct timely_result - every output of one decision, for tracing and tests
 * @rtt_diff_ns: smoothed RTT difference, ns, rounded towards zero
 * @gradient_ppm: normalised gradient in millionths, saturated at +-1024
 * @scale_ppm:	weight s of this update in millionths
 * @wait_ns:	profile auto: W, see timely_auto_set_wait(), ns; else 0
 * @link_bps:	profile auto: L, see timely_auto_link_bps(), bytes/s; else 0
 * @branch:	enum timely_branch
 * @held:	no change, since the application limits the flow
 * @queued:	profile auto, %TIMELY_BRANCH_START: the RTT is that of a queue
 */
struct timely_result {
	s64	rtt_diff_ns;
	s64	gradient_ppm;
	u64	link_bps;
	u32	scale_ppm;
	u32	wait_ns;
	u8	branch;
	bool	held;
	u8	queued;
};

/** timely_bps_to_rate() - convert bytes/s to Q16, saturating at 1.6 Tbit/s */
static inline u64 timely_bps_to_rate(u64 bps)
{
	return min_t(u64, bps, TIMELY_MAX_RATE_BPS) << TIMELY_RATE_SHIFT;
}

/** timely_rate_bps() - return the flow's target rate, bytes/s, rounded down */
static inline u64 timely_rate_bps(const struct timely_flow *f)
{
	return f->rate_q >> TIMELY_RATE_SHIFT;
}

/* The same in units of 64 bytes/s: 1.6 Tbit/s fit in 32 bits. */
static inline u32 timely_rate_units(const struct timely_flow *f)
{
	return (u32)(timely_rate_bps(f) >> TIMELY_UNIT_SHIFT);
}

/* And in units of 8192 bytes/s, for timely_flow.before: 2^38 bytes/s fit in 25 bits. */
static inline u32 timely_coarse_rate(const struct timely_flow *f)
{
	return (u32)(timely_rate_bps(f) >> TIMELY_COARSE_SHIFT);
}

static inline u64 timely_coarse_to_rate(u32 units)
{
	return (u64)units << (TIMELY_RATE_SHIFT + TIMELY_COARSE_SHIFT);
}

/** timely_permille() - return n / 1000 in Q30, n at most 1000 */
static inline u32 timely_permille(u32 n)
{
	return (u32)div64_u64((u64)n << TIMELY_FRAC_SHIFT, 1000);
}

/**
 * timely_t_low_ns() - return Tlow for a segment size
 * @t_low_ns: Tlow at 16 KB, ns, <= 10 s
 * @segment_bytes: segment size, <= 1 MB
 *
 * TIMELY figure 15: smaller segments do not need a smaller Tlow.
 */
static inline u64 timely_t_low_ns(u64 t_low_ns, u32 segment_bytes)
{
	u32 segment = max_t(u32, segment_bytes, TIMELY_TLOW_SEGMENT);

	return min_t(u64, t_low_ns * segment / TIMELY_TLOW_SEGMENT,
		     TIMELY_MAX_RTT_NS);
}

/**
 * timely_serialisation_ns() - return the time that a segment takes to leave the NIC
 * @wire_bytes: segment with all framing, bytes, < 2^24
 * @line_rate_bps: NIC line rate, bytes/s, >= 1
 *
 * TIMELY section 3.1. 2^24 * 1e9 < 2^54, no overflow.
 */
static inline u64 timely_serialisation_ns(u32 wire_bytes, u64 line_rate_bps)
{
	return div64_u64((u64)wire_bytes * 1000000000ULL, line_rate_bps);
}

/*
 * An OR-ACK counts for data that left two RTTs ago, and so much before that, ns; and for as long as
 * so many packets take: receivers send one for 32, or for those of 40 us, and one may get lost.
 */
#define TIMELY_OWD_AGE_NS	50000ULL
#define TIMELY_OWD_PACKETS	64U

/**
 * timely_owd_counts() - return whether an OR-ACK is recent enough for a completion
 * @age_ns:	since its data left, ns
 * @rtt_ns:	of the completion, ns
 * @rate_bps:	of the flow, bytes/s, >= 1
 * @mss:	of the flow, bytes
 *
 * Some RTTs that are whole, between others with the queue of the way there alone, are a gradient
 * that is none. They make a flow slower, which then has OR-ACKs even more rarely.
 */
static inline bool timely_owd_counts(u64 age_ns, u64 rtt_ns, u64 rate_bps, u32 mss)
{
	return age_ns <= 2 * rtt_ns + TIMELY_OWD_AGE_NS +
			 timely_serialisation_ns(TIMELY_OWD_PACKETS * mss, rate_bps);
}

/**
 * timely_way_there() - return an RTT as if the way back were empty, ns
 * @rtt_ns:	the RTT
 * @base_ns:	that of the empty path, ns
 * @queue_ns:	queue of the way there, ns; 0: unknown, it is @rtt_ns
 */
static inline u64 timely_way_there(u64 rtt_ns, u64 base_ns, u32 queue_ns)
{
	return queue_ns ? min_t(u64, rtt_ns, base_ns + queue_ns) : rtt_ns;
}

/**
 * timely_start_bps() - return the rate of a flow that starts beside others
 * @line_rate_bps: NIC line rate, bytes/s
 * @active: other active flows on the same NIC
 *
 * C / (N + 1): protocol note, last paragraph.
 */
static inline u64 timely_start_bps(u64 line_rate_bps, u32 active)
{
	return div64_u64(line_rate_bps, (u64)active + 1);
}

/* A link slower than the floor wins: the cap is applied last. */
static inline void timely_clamp(struct timely_flow *f, u64 floor_q, u64 cap_bps)
{
	f->rate_q = min_t(u64, max_t(u64, f->rate_q, floor_q), timely_bps_to_rate(cap_bps));
}

/* Open a new window for the 80 % rule; the last verdict stands until it closes. */
static inline void timely_window_open(struct timely_flow *f)
{
	f->win_ns = 0;
	f->win_sent = 0;
	f->win_rate = timely_rate_units(f);
}

/**
 * timely_forget_rtts() - forget the past of the signal
 * @f: flow
 *
 * The next RTT has nothing to be compared with: it is the first after a start, after
 * idleness, or by another clock.
 */
static inline void timely_forget_rtts(struct timely_flow *f)
{
	f->rtt_diff_q = 0;
	f->prev_rtt_ns = 0;
	f->neg_count = 0;
}

/**
 * timely_restart() - set a rate and forget the past of the signal
 * @f: flow
 * @p: parameters
 * @bps: new rate, bytes/s
 * @cap_bps: line rate, bytes/s
 * @now_ns: current time, ns
 *
 * For a new flow, and after idleness: an RTT difference across a gap is no gradient.
 */
static inline void timely_restart(struct timely_flow *f,
				  const struct timely_params *p, u64 bps,
				  u64 cap_bps, u64 now_ns)
{
	f->rate_q = timely_bps_to_rate(bps);
	timely_clamp(f, p->min_rate_q, cap_bps);
	timely_forget_rtts(f);
	f->last_ns = now_ns;
	f->app_limited = 0;
	timely_window_open(f);
}

/**
 * timely_restart_idle() - start over after idle
 * @f: flow
 * @p: parameters
 * @bps: rate of a new flow, bytes/s
 * @cap_bps: line rate, bytes/s
 * @now_ns: current time, ns
 *
 * Never raises the rate. The window of the 80 % rule goes on without the silence: a flow of
 * messages is limited by its application if it sends less than its rate between silences.
 */
static inline void timely_restart_idle(struct timely_flow *f,
				       const struct timely_params *p, u64 bps,
				       u64 cap_bps, u64 now_ns)
{
	const struct timely_flow was = *f;

	timely_restart(f, p, min_t(u64, bps, timely_rate_bps(f)), cap_bps, now_ns);
	f->win_ns = was.win_ns;
	f->win_sent = was.win_sent;
	f->win_rate = min_t(u32, f->win_rate, was.win_rate);
	f->app_limited = was.app_limited;
}

/**
 * timely_loss() - cut the rate on packet loss
 * @f: flow
 * @p: parameters
 * @cap_bps: line rate, bytes/s
 *
 * The paper has no such rule, since its fabric is lossless. To be called at most once per
 * round trip.
 */
static inline void timely_loss(struct timely_flow *f, const struct timely_params *p, u64 cap_bps)
{
	f->rate_q -= q30_mul(f->rate_q, p->loss_beta);
	f->neg_count = 0;
	timely_clamp(f, p->min_rate_q, cap_bps);
}

/**
 * timely_window() - apply the 80 % rule for application-limited flows
 * @f: flow
 * @p: parameters
 * @elapsed_ns: time since the last call, ns
 * @sent_bytes: bytes sent since the last call, < 2^31
 * @rtt_ns: newest RTT, ns
 *
 * TIMELY section 5: the target rises only while the application sends at 80 %
 * of it or more. A window is at least one RTT and TIMELY_WIN_SEGMENTS
 * segments of the target rate long, at most one second or TIMELY_WIN_MAX_SENT
 * bytes. The share is taken of the lowest target inside a window, because the rate moves while it
 * is open.
 *
 * Overflow: rate < 2^37.6, window <= 62.5e6 units of 16 ns, product < 1.25e19 <
 * 2^64.
 */
static inline void timely_window(struct timely_flow *f,
				 const struct timely_params *p, u64 elapsed_ns,
				 u32 sent_bytes, u64 rtt_ns)
{
	u64 need_bytes = (u64)p->segment_bytes * TIMELY_WIN_SEGMENTS;
	u64 length_ns = f->win_ns + min_t(u64, elapsed_ns, TIMELY_MAX_RTT_NS);
	u64 sent = (u64)f->win_sent + sent_bytes;
	u32 rate = timely_rate_units(f);
	u64 allowed;

	f->win_ns = (u32)min_t(u64, length_ns, TIMELY_WIN_MAX_NS);
	f->win_sent = (u32)min_t(u64, sent, 0xffffffffULL);
	f->win_rate = min_t(u32, f->win_rate, rate);

	allowed = div64_u64(((u64)f->win_rate << TIMELY_UNIT_SHIFT) *
			    (f->win_ns >> 4), TIMELY_WIN_MAX_NS >> 4);
	if (f->win_ns < min_t(u64, rtt_ns, TIMELY_WIN_MAX_NS) &&
	    sent < TIMELY_WIN_MAX_SENT)
		return;
	if (sent < need_bytes && allowed < need_bytes && f->win_ns < TIMELY_WIN_MAX_NS)
		return;

	/* allowed < 2^38 and the share <= 100: no overflow. */
	f->app_limited = sent * 100 < allowed * p->app_limited_percent;
	timely_window_open(f);
}

/* s = min(1, elapsed / minRTT); 10 s << 30 is 1.07e19 < 2^64. */
static inline u32 timely_scale(const struct timely_flow *f,
			       const struct timely_params *p, u64 now_ns)
{
	u64 elapsed_ns;

	if (!f->last_ns)
		return TIMELY_ONE;
	/* Stamps of two sources may be slightly out of order. */
	if (now_ns <= f->last_ns)
		return 0;
	elapsed_ns = now_ns - f->last_ns;
	if (elapsed_ns >= p->min_rtt_ns)
		return TIMELY_ONE;
	return (u32)div64_u64(elapsed_ns << TIMELY_FRAC_SHIFT, p->min_rtt_ns);
}

static inline void timely_increase(struct timely_flow *f,
				   const struct timely_params *p, u32 n,
				   u32 scale, struct timely_result *res)
{
	if (f->app_limited) {
		res->held = true;
		return;
	}
	/* delta_q < 2^54 and n <= 100: the product is below 2^61. */
	f->rate_q += q30_mul(p->delta_q * n, scale);
}

/* @cut: Q30, may exceed one; one update takes at most half of the rate. */
static inline void timely_decrease(struct timely_flow *f, u64 cut, u32 scale)
{
	cut = min_t(u64, q30_mul(cut, scale), TIMELY_ONE / 2);
	f->rate_q -= q30_mul(f->rate_q, (u32)cut);
}

/* rtt_diff += alpha * (new difference - rtt_diff), |.| < 2^51. */
static inline void timely_average_diff(struct timely_flow *f, const struct timely_params *p,
				       u64 rtt_ns)
{
	s64 step_q;

	step_q = ((s64)rtt_ns - (s64)f->prev_rtt_ns) * (1LL << TIMELY_DIFF_SHIFT);
	step_q -= f->rtt_diff_q;
	if (step_q < 0)
		f->rtt_diff_q -= (s64)q30_mul((u64)-step_q, p->alpha);
	else
		f->rtt_diff_q += (s64)q30_mul((u64)step_q, p->alpha);
}

/* Return the absolute value of the normalised gradient, Q30, and its sign in @neg. */
static inline u64 timely_gradient(const struct timely_flow *f, const struct timely_params *p,
				  bool *neg)
{
	u64 gradient;

	*neg = f->rtt_diff_q <= -TIMELY_DIFF_ZERO;
	gradient = f->rtt_diff_q < 0 ? (u64)-f->rtt_diff_q : (u64)f->rtt_diff_q;
	if (gradient < TIMELY_DIFF_ZERO)
		gradient = 0;
	return div64_u64(gradient << (TIMELY_FRAC_SHIFT - TIMELY_DIFF_SHIFT), p->min_rtt_ns);
}

/* Patched TIMELY between Tlow and Thigh: increase and decrease, weighted by the gradient. */
static inline void timely_weighted(struct timely_flow *f, const struct timely_params *p,
				   u64 rtt_ns, u64 gradient, bool neg, u32 scale,
				   struct timely_result *res)
{
	u64 weight, error;

	/* w(g): 0 up to -1/4, 1 from 1/4 on. */
	if (gradient >= TIMELY_ONE / 4)
		weight = neg ? 0 : TIMELY_ONE;
	else
		weight = neg ? TIMELY_ONE / 2 - 2 * gradient :
			       TIMELY_ONE / 2 + 2 * gradient;
	error = div64_u64((rtt_ns - p->t_low_ns) << TIMELY_FRAC_SHIFT,
			  max_t(u64, p->t_low_ns, 1));
	/* Cut first: the decrease does not apply to the increase. */
	timely_decrease(f, q30_mul(q30_mul(error, (u32)weight), p->beta_patched), scale);
	timely_increase(f, p, 1, q30_mul(TIMELY_ONE - weight, scale), res);
}

/**
 * timely_update() - process one completion event
 * @f: flow
 * @p: parameters
 * @rtt_ns: RTT without serialisation, ns; below @p->rtt_floor_ns there is no queue;
 *	    larger than 10 s counts as 10 s
 * @now_ns: time of the completion, ns
 * @cap_bps: line rate, bytes/s
 * @res: the decision and its reason
 */
static inline void timely_update(struct timely_flow *f,
				 const struct timely_params *p, u64 rtt_ns,
				 u64 now_ns, u64 cap_bps,
				 struct timely_result *res)
{
	bool no_queue = rtt_ns < p->rtt_floor_ns;
	u32 scale = timely_scale(f, p, now_ns);
	u64 gradient, cut;
	bool neg;

	if (no_queue) {
		timely_forget_rtts(f);
		rtt_ns = p->rtt_floor_ns;
	}
	rtt_ns = min_t(u64, rtt_ns, TIMELY_MAX_RTT_NS);
	if (!f->prev_rtt_ns)
		f->prev_rtt_ns = rtt_ns;

	timely_average_diff(f, p, rtt_ns);
	f->prev_rtt_ns = no_queue ? 0 : max_t(u64, rtt_ns, 1);
	f->last_ns = max_t(u64, f->last_ns, now_ns);

	gradient = timely_gradient(f, p, &neg);
	if (!neg)
		f->neg_count = 0;
	else if (f->neg_count < 255)
		f->neg_count++;

	res->held = false;
	res->link_bps = 0;
	res->wait_ns = 0;
	res->scale_ppm = (u32)(((u64)scale * 1000000) >> TIMELY_FRAC_SHIFT);
	res->gradient_ppm = (s64)((min_t(u64, gradient, TIMELY_GRADIENT_MAX) *
				   1000000) >> TIMELY_FRAC_SHIFT);
	res->rtt_diff_ns = f->rtt_diff_q / (1LL << TIMELY_DIFF_SHIFT);
	if (neg)
		res->gradient_ppm = -res->gradient_ppm;

	if (rtt_ns < p->t_low_ns) {
		res->branch = TIMELY_BRANCH_LOW;
		timely_increase(f, p, 1, scale, res);
	} else if (rtt_ns > p->t_high_ns) {
		res->branch = TIMELY_BRANCH_HIGH;
		cut = div64_u64((rtt_ns - p->t_high_ns) << TIMELY_FRAC_SHIFT,
				rtt_ns);
		timely_decrease(f, q30_mul(cut, p->beta), scale);
	} else if (p->mode == TIMELY_MODE_PATCHED) {
		res->branch = TIMELY_BRANCH_WEIGHTED;
		timely_weighted(f, p, rtt_ns, gradient, neg, scale, res);
	} else if (neg || !gradient) {
		bool hai = f->neg_count >= p->hai_thresh;

		res->branch = hai ? TIMELY_BRANCH_HAI : TIMELY_BRANCH_INCREASE;
		timely_increase(f, p, hai ? p->hai_factor : 1, scale, res);
	} else {
		res->branch = TIMELY_BRANCH_DECREASE;
		timely_decrease(f, q30_mul(gradient, p->beta), scale);
	}
	timely_clamp(f, p->min_rate_q, cap_bps);
}

#endif /* _TIMELY_CORE_H */
