/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TIMELY, profile auto, layer 3: the law. How does an RTT change a rate?
 *
 * The law is Algorithm 1 of TIMELY (see timely_core.h), whose constants are for one network. Here
 * they follow from the path (D, W, L), the signal (RTT, gradient, v, noise, q), and R, the rate of
 * the flow:
 *
 *	x        = sqrt(L / R)			grows with the number of flows: x ~ sqrt(N)
 *	base     = max(D + W + q / 2, 23 us + q)
 *	w        = (23 us + q) x / 6
 *	Thigh    = base + v + w + noise
 *	Tlow     = (D + W + Thigh) / 2
 *	delta    = L / 500 / x, times D / 23 us within 1 to 8
 *
 *	RTT < Tlow:	R += max(N delta, g R) + h / 2 * max(0, 7/8 R' - R)
 *	RTT > Thigh:	R *= 1 - 0.3 s (1 - Thigh / RTT)
 *	gradient <= 0, or RTT < the one before, or t > 5/2 Thigh:
 *			R += delta
 *	else:		R *= 1 - 0.3 s max(0, gradient - alpha v / t)
 *
 *	s        = min(1, t / RTT)
 *	h        = (Tlow - RTT) / (Tlow - D - W)
 *	g        = smaller of h t / 2 ms and (Tlow - RTT) / 8 (t + RTT)
 *	R'       = highest R at which an RTT was below Tlow since the last loss; each run of
 *	           cuts, from one such RTT to the next, takes 1/8 of it, but not if an RTT was
 *	           above 5/2 Thigh: then R returns to R' in place of 7/8 R'
 *	t        = time since the last update; L = C, if it is not below C / 2
 *	N        = 8 once RTTs were below Tlow for 2 ms and eight updates, where the RTT is below
 *	           D + (Thigh - D - W) / 8; else 1
 *
 * A loss takes lost / sent + max(0, RTT - Thigh) / (Thigh - D - W) of R. Nothing takes more than
 * half.
 *
 *  - x. N flows send N segments in the time of one; where they meet by chance the queue varies by
 *    about sqrt(N) segments (a Brownian bridge, 0.6 sqrt(N) on average), which is no congestion. So
 *    Thigh grows with sqrt(N), and N ~ L / R. It is lower for the faster of two flows, and so there
 *    is one fixed point, at equal rates: the law of the paper has none (Zhu et al., CoNEXT 2016). A
 *    step of L / 500 / x is a share of x / 500 of R, of all flows together x / 500 of L: 0.3 % of
 *    the link for 2, 3 % for 256 of them. By C in place of L the flows of a link of a tenth would
 *    have three times that step, and a Thigh below the time that another's segment takes there.
 *  - base. Two flows know the same path by different D: the later one never saw it empty. Below 23
 *    us, the delay of a datacenter's switches, and q the difference has no effect. And an ACK waits
 *    at the receiver's NIC for segments that this host sends, behind one that leaves and another
 *    one; without q in base the flow would give way to this. If no wire is known D may contain q,
 *    and base is max(D + W, 23 us + q).
 *  - w. A flow that has the link for itself may have a sixth of that base as a queue.
 *  - v. Of independent RTTs the smoothed difference is alpha v, about: alpha sqrt(2 / (2 - alpha))
 *    of their standard deviation, which is 0.9 v. If no wire is known max(0, v - w) is added to
 *    Thigh in place of noise: v above w is then the work of a CPU.
 *  - g. Others' bursts cut a rate within tens of microseconds, and steps of delta alone bring it
 *    back in 20 ms. So where there is room a rate grows in proportion to itself, by e in 2 ms at
 *    most. Flows of a link that grow by g see it with the decision after the next RTT: meanwhile
 *    the queue becomes longer by g (t + RTT), an eighth of the room.
 *  - R'. When a burst of others is over, the capacity that it took is free again. R' is a rate at
 *    which this flow has found room. A burst is one run of cuts, though RTTs between Tlow and Thigh
 *    let the rate rise meanwhile. A connection that joins others has more than its share at first.
 *    It found no room at that rate, which is no R'. The rate returns to 7/8 of R': smaller cuts
 *    stand, those of flows that share a link, since cuts make rates equal. Where cuts go on, R'
 *    becomes less with each run of them. Flows whose rates follow the queue keep it below 2 Thigh.
 *    What makes it longer than 5/2 began without them, and none of R' is lost for it.
 *  - s. A cut shows an RTT later, and in a queue of others' bursts an RTT has several updates. It
 *    is the paper's scale of updates, for the RTT in place of minRTT.
 *  - Which gradients cut. A queue lasts for about its own length in time. Two RTTs further apart
 *    than the longest queue of these flows are independent, and one above Tlow mostly follows one
 *    below it. So the gradient of a flow with few segments would be positive as a rule, and slow
 *    flows would stay slow.
 *  - N. Increase is hyperactive near D only: with W decisions come late, and overshoot. The paper's
 *    five RTTs are less than the dips of a fast flow's queue in its steady state. After a
 *    millisecond in place of two, the first of 256 flows keep ten times the others' rate.
 *  - Loss. A bad cable loses packets without a queue. The share of a window that was lost is what
 *    the path does not carry. RTT is that of the packets behind the lost one, when TCP enters a
 *    recovery. Later losses of that recovery count by the first term only. A buffer that is shorter
 *    than Thigh drops without that RTT, as a policer does: there R becomes what gets through. A
 *    full queue halves R, as in Swift, and so does a timeout. BBR forgives 2 % of loss, which a
 *    short buffer would lose for ever.
 *
 * Documentation/constants.txt says where each constant is from.
 *
 * Unlike in the paper the gradient does not cut a flow that is application-limited.
 */
#ifndef _TIMELY_LAW_H
#define _TIMELY_LAW_H

#include "timely_signal.h"

/* Lowest base of the thresholds, ns. */
#define TIMELY_AUTO_BASE_NS	23000U

/* x and delta's factor in Q10, shares in Q20. */
#define TIMELY_AUTO_SHIFT	10
#define TIMELY_AUTO_RISE_SHIFT	20

/* Thigh - base of a flow that has the link for itself is that part of 23 us + q. */
#define TIMELY_AUTO_TARGET	6U

/* A queue longer than so many halves of Thigh is of others, and after that time it is another. */
#define TIMELY_AUTO_LASTS	5U

/* beta, of both decreases, in Q30: 0.3. */
#define TIMELY_AUTO_BETA	322122547U

/* L / delta of a flow that has the link for itself and a D of 23 us or less. */
#define TIMELY_AUTO_STEPS	500U

/* Below Tlow a rate grows by e in that time at most, ns; after that time it is hyperactive. */
#define TIMELY_AUTO_RISE_NS	(1U << 21)

/*
 * An eighth is little: of the room, what flows fill before they see it; of R', what a run of cuts
 * takes; of Thigh - D - W, a queue that is next to none. Eight are many: updates before hyperactive
 * increase, its steps, and the most by which a long D multiplies delta.
 */
#define TIMELY_AUTO_LITTLE_SHIFT 3

/* Time below Tlow is counted in units of 2^14 ns; and N. */
#define TIMELY_AUTO_HAI_SHIFT	14
#define TIMELY_AUTO_HAI_COUNT	(TIMELY_AUTO_RISE_NS >> TIMELY_AUTO_HAI_SHIFT)
#define TIMELY_AUTO_HAI_FACTOR	(1U << TIMELY_AUTO_LITTLE_SHIFT)

/**
 * struct timely_auto - the parameters of a flow at this moment
 * @link_bps:	L, bytes/s
 * @spread_q10:	x, sqrt(L / R), Q10
 * @segment_ns:	q, time of a segment on the slowest link, ns
 * @t_low_ns:	Tlow, ns
 * @t_high_ns:	Thigh, ns
 * @chance_ns:	how much of Thigh is for segments that meet by chance, ns
 */
struct timely_auto {
	u64	link_bps;
	u32	spread_q10;
	u64	segment_ns;
	u64	t_low_ns;
	u64	t_high_ns;
	u64	chance_ns;
};

/**
 * timely_auto_params() - compute the parameters that follow from the path and the rate
 * @f: flow, with a rate
 * @segment_bytes: largest segment, bytes, < 2^24
 * @cap_bps: C, bytes/s, 1 to TIMELY_MAX_RATE_BPS
 * @a: the result
 *
 * Overflow: C < 2^38, shifted by 20 2^58; x is at most sqrt(2^58 / 1000), 24 bits;
 * q < 2^24 * 1e9 / C; Thigh is limited to 10 s.
 */
static inline void timely_auto_params(const struct timely_flow *f, u32 segment_bytes,
				      u64 cap_bps, struct timely_auto *a)
{
	u64 bps = max_t(u64, timely_rate_bps(f), 1);
	u64 at_cap_ns = timely_serialisation_ns(segment_bytes, cap_bps), base_ns, own_ns;

	a->link_bps = timely_auto_slow_bps(f, cap_bps);
	/* Flows of a slow link have segments of 250 us. */
	a->segment_ns = min_t(u64, timely_serialisation_ns(segment_bytes, a->link_bps),
			      max_t(u64, min_t(u64, at_cap_ns, TIMELY_MAX_RTT_NS),
				    TIMELY_AUTO_SEGMENT_NS));
	a->spread_q10 = 1U << TIMELY_AUTO_SHIFT;
	if (bps < a->link_bps)
		a->spread_q10 = int_sqrt64(div64_u64(a->link_bps << (2 * TIMELY_AUTO_SHIFT), bps));

	/* ACKs wait for the other host's segments. Without a wire D may contain q. */
	base_ns = timely_auto_path_ns(f) + (f->unwired ? 0 : a->segment_ns / 2);
	base_ns = max_t(u64, base_ns, TIMELY_AUTO_BASE_NS + a->segment_ns);
	own_ns = (TIMELY_AUTO_BASE_NS + a->segment_ns) / TIMELY_AUTO_TARGET;
	a->chance_ns = own_ns * a->spread_q10 >> TIMELY_AUTO_SHIFT;
	a->t_high_ns = base_ns + f->dev_ns + a->chance_ns;
	/* What v is above w is the work of a CPU. */
	if (f->unwired && f->dev_ns > a->chance_ns)
		a->t_high_ns += f->dev_ns - a->chance_ns;
	else if (!f->unwired)
		a->t_high_ns += timely_auto_noise_ns(f, a->segment_ns);
	a->t_high_ns = min_t(u64, a->t_high_ns, TIMELY_MAX_RTT_NS);
	a->t_low_ns = (timely_auto_path_ns(f) + a->t_high_ns) / 2;
}

static inline void timely_auto_clamp(struct timely_flow *f, u64 cap_bps)
{
	timely_clamp(f, timely_bps_to_rate(timely_auto_floor_bps(cap_bps)), cap_bps);
}

/* Share by which a rate grows below Tlow, Q20, at most 1. A room of 10 s, ns, and Q20: 54 bits. */
static inline u64 timely_auto_rise_q20(const struct timely_flow *f, const struct timely_auto *a,
				       u64 rtt_ns, u64 elapsed_ns)
{
	u64 empty_ns = a->t_low_ns - timely_auto_path_ns(f), room_ns, time_q20;

	/* An RTT below D + W has no more room than one of an empty queue. */
	room_ns = min_t(u64, a->t_low_ns - rtt_ns, empty_ns);
	time_q20 = div64_u64(min_t(u64, elapsed_ns, TIMELY_AUTO_RISE_NS) <<
			     TIMELY_AUTO_RISE_SHIFT, TIMELY_AUTO_RISE_NS);
	return min_t(u64, div64_u64(time_q20 * room_ns, empty_ns),
		     div64_u64(room_ns << (TIMELY_AUTO_RISE_SHIFT - TIMELY_AUTO_LITTLE_SHIFT),
			       elapsed_ns + rtt_ns));
}

static inline void timely_auto_increase(struct timely_flow *f, const struct timely_auto *a,
					bool hai, u64 rise_q20, struct timely_result *res)
{
	u64 step_q = div64_u64(timely_bps_to_rate(a->link_bps), TIMELY_AUTO_STEPS);
	u32 ns = clamp_t(u32, f->base_ns, TIMELY_AUTO_BASE_NS,
			 TIMELY_AUTO_BASE_NS << TIMELY_AUTO_LITTLE_SHIFT);

	if (f->app_limited) {
		res->held = true;
		return;
	}
	/* L / 500 in Q16 is below 2^46, times Q10 2^56; ns / 23 us in Q10 up to 2^13. */
	step_q = div64_u64(step_q << TIMELY_AUTO_SHIFT, a->spread_q10);
	step_q = (step_q * ((ns << TIMELY_AUTO_SHIFT) / TIMELY_AUTO_BASE_NS)) >> TIMELY_AUTO_SHIFT;
	/* Rates in Q16 have 54 bits: 34 of them times a rise of 21. */
	f->rate_q += max_t(u64, hai ? step_q * TIMELY_AUTO_HAI_FACTOR : step_q,
			   (f->rate_q >> TIMELY_AUTO_RISE_SHIFT) * rise_q20);
}

/* Below Tlow: go half of the way to 7/8 of R', or to R', if all of the room is empty. 54 bits. */
static inline void timely_auto_return(struct timely_flow *f, const struct timely_auto *a,
				      u64 rtt_ns)
{
	u64 path_ns = timely_auto_path_ns(f), share_q20;
	u32 less = f->burst ? 0 : f->before >> TIMELY_AUTO_LITTLE_SHIFT;
	u64 goal_q = timely_coarse_to_rate(f->before - less);

	if (!f->goes_back || f->app_limited || goal_q <= f->rate_q)
		return;
	share_q20 = div64_u64((a->t_low_ns - max_t(u64, rtt_ns, path_ns)) <<
			      TIMELY_AUTO_RISE_SHIFT, a->t_low_ns - path_ns);
	f->rate_q += ((goal_q - f->rate_q) >> (TIMELY_AUTO_RISE_SHIFT + 1)) * share_q20;
}

/*
 * After a decision: keep R' in timely_flow.before, whether the rate was cut since, and whether a
 * queue of others was the cause.
 */
static inline void timely_auto_remember(struct timely_flow *f, const struct timely_auto *a,
					int branch)
{
	u32 before = f->goes_back ? f->before : 0;

	if (branch == TIMELY_BRANCH_INCREASE)
		return;
	if (branch == TIMELY_BRANCH_HIGH || branch == TIMELY_BRANCH_DECREASE) {
		f->burst = (f->doubted && f->burst) ||
			   2 * (u64)f->mean_ns > TIMELY_AUTO_LASTS * a->t_high_ns;
		f->doubted = 1;
		return;
	}
	if (f->doubted && !f->burst)
		before -= before >> TIMELY_AUTO_LITTLE_SHIFT;
	f->before = max_t(u32, before, timely_coarse_rate(f));
	f->goes_back = 1;
	f->doubted = 0;
}

/* Count the time below Tlow. Returns whether an increase is hyperactive. */
static inline bool timely_auto_hai(struct timely_flow *f, const struct timely_auto *a,
				   u64 rtt_ns, u64 elapsed_ns)
{
	u64 time = clamp_t(u64, elapsed_ns >> TIMELY_AUTO_HAI_SHIFT, 1,
			   TIMELY_AUTO_HAI_COUNT >> TIMELY_AUTO_LITTLE_SHIFT);

	if (rtt_ns <= a->t_high_ns ? rtt_ns >= a->t_low_ns || f->doubted : !f->doubted)
		f->neg_count = 0;
	if (rtt_ns < a->t_low_ns)
		f->neg_count = (u8)min_t(u64, f->neg_count + time, 255);
	return f->neg_count >= TIMELY_AUTO_HAI_COUNT && rtt_ns < f->base_ns +
		((a->t_high_ns - timely_auto_path_ns(f)) >> TIMELY_AUTO_LITTLE_SHIFT);
}

/* The share by which RTTs became longer, less what is noise, alpha v, Q30: 22 and 20 bits. */
static inline u64 timely_auto_growth(const struct timely_flow *f, u64 elapsed_ns)
{
	u64 noise = div64_u64((u64)f->dev_ns << (TIMELY_SLOPE_SHIFT - TIMELY_AUTO_ALPHA_SHIFT),
			      elapsed_ns);
	u64 growth = (u64)f->slope_q > noise ? (u64)f->slope_q - noise : 0;

	return growth << (TIMELY_FRAC_SHIFT - TIMELY_SLOPE_SHIFT);
}

/*
 * Return whether the gradient shows that the queue grows. Two RTTs that are further apart than a
 * queue lasts are independent: one above Tlow mostly follows one below, and slow flows would be
 * cut for that alone.
 */
static inline bool timely_auto_grows(const struct timely_flow *f, const struct timely_auto *a,
				     u32 before_ns, u64 elapsed_ns)
{
	return f->slope_q > 0 && f->mean_ns >= before_ns &&
	       2 * elapsed_ns <= TIMELY_AUTO_LASTS * a->t_high_ns;
}

/**
 * timely_auto_decide() - change a rate by an RTT
 * @f: flow, with its gradient
 * @a: its thresholds
 * @before_ns: RTT at the last update, ns
 * @elapsed_ns: time since then, ns
 * @hai: increase is hyperactive, see timely_auto_hai()
 * @res: its branch, and whether it was held
 *
 * The RTT is timely_flow.mean_ns. The rate may be left out of its range.
 */
static inline void timely_auto_decide(struct timely_flow *f, const struct timely_auto *a,
				      u32 before_ns, u64 elapsed_ns, bool hai,
				      struct timely_result *res)
{
	u64 rtt_ns = f->mean_ns, cut, scale;

	if (rtt_ns < a->t_low_ns) {
		res->branch = hai ? TIMELY_BRANCH_HAI : TIMELY_BRANCH_LOW;
		timely_auto_increase(f, a, hai,
				     timely_auto_rise_q20(f, a, rtt_ns, elapsed_ns), res);
		timely_auto_return(f, a, rtt_ns);
		return;
	}
	if (rtt_ns > a->t_high_ns) {
		res->branch = TIMELY_BRANCH_HIGH;
		cut = div64_u64((rtt_ns - a->t_high_ns) << TIMELY_FRAC_SHIFT, rtt_ns);
	} else if (timely_auto_grows(f, a, before_ns, elapsed_ns)) {
		res->branch = TIMELY_BRANCH_DECREASE;
		cut = timely_auto_growth(f, elapsed_ns);
		if (f->app_limited) {
			res->held = true;
			return;
		}
	} else {
		res->branch = TIMELY_BRANCH_INCREASE;
		timely_auto_increase(f, a, false, 0, res);
		return;
	}
	/* t < 2^34 ns. */
	scale = min_t(u64, div64_u64(elapsed_ns << TIMELY_FRAC_SHIFT, rtt_ns), TIMELY_ONE);
	res->scale_ppm = (u32)q30_mul(1000000, (u32)scale);
	timely_decrease(f, q30_mul(cut, TIMELY_AUTO_BETA), scale);
}

/**
 * timely_auto_lost() - return which share of the rate losses take, Q30; above one it is that
 * @f: flow
 * @lost: packets that were lost
 * @sent: packets that were sent in that RTT
 * @rtt_ns: RTT of packets that left after the lost ones, without serialisation, ns
 * @segment_bytes: largest segment, bytes, < 2^24
 * @cap_bps: C, bytes/s, 1 to TIMELY_MAX_RATE_BPS
 *
 * The excess over Thigh is below 2^33 ns.
 */
static inline u64 timely_auto_lost(const struct timely_flow *f, u32 lost, u32 sent, u64 rtt_ns,
				   u32 segment_bytes, u64 cap_bps)
{
	u64 share = div64_u64((u64)lost << TIMELY_FRAC_SHIFT, max_t(u32, sent, 1));
	struct timely_auto a;

	timely_auto_params(f, segment_bytes, cap_bps, &a);
	rtt_ns = min_t(u64, rtt_ns, TIMELY_MAX_RTT_NS);
	if (rtt_ns > a.t_high_ns)
		share += div64_u64((rtt_ns - a.t_high_ns) << TIMELY_FRAC_SHIFT,
				   max_t(u64, a.t_high_ns - timely_auto_path_ns(f), 1));
	return min_t(u64, share, TIMELY_ONE);
}

#endif /* _TIMELY_LAW_H */
