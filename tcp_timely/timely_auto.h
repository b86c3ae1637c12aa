/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TIMELY with parameters that follow from the path: profile "auto".
 *
 * Four layers, each of which uses those before it only:
 *
 *	timely_path.h	D, W and L: an RTT without a queue, and the slowest link
 *	timely_signal.h	an RTT, its gradient, and how far hosts make it vary
 *	timely_law.h	the change of a rate
 *	timely_window.h	what leaves at once, and what may be outstanding
 *
 * Here they meet: one completion, and the begin of a flow.
 *
 *	completion:	RTT = signal(event, path)
 *			start, no queue:  open the window
 *			start, a queue:   R = window / RTT, and the start is over
 *			2 (D + W) after the last update:
 *				D too short:  D = RTT
 *				else:         law(R, RTT, gradient)
 *
 * Start: C / (N + 1) as in the paper, and a window of 10 packets that grows by the acknowledged
 * bytes. The first RTT above Tlow, and above D by more than 1/8, ends it: the rate becomes the
 * window per RTT. Flows that start at once send a window each, not the line rate. Until then D is
 * the RTT of the handshake or of other connections, see timely_path.h.
 *
 * Idleness: a flow starts over at C, however many others are active, with its window from before.
 * It has a message to send, whose first 64 KB leave as one segment; their RTTs change nothing but
 * the window. At C / (N + 1) a message stays slow after the other flows have ended, and at the rate
 * of the first RTT above Tlow it is over before the rate has risen.
 *
 * Where no wire limits the device, C is a first guess, and rises: line_shown.h.
 *
 * Nothing in these files depends on the kernel but fixed-size integers and division.
 */
#ifndef _TIMELY_AUTO_H
#define _TIMELY_AUTO_H

#include "timely_window.h"

/* Nothing but C limits a flow whose rate is C less 1/8 of it or more. */
#define TIMELY_AUTO_CAP_SHIFT	3

/* Without data for ten times D, and for that long at least, a flow starts over, ns. */
#define TIMELY_AUTO_IDLE_RTTS	10U
#define TIMELY_AUTO_IDLE_NS	200000U

/** timely_auto_idle_ns() - return the time without data after which a flow starts over, ns */
static inline u64 timely_auto_idle_ns(const struct timely_flow *f)
{
	return max_t(u64, (u64)f->base_ns * TIMELY_AUTO_IDLE_RTTS, TIMELY_AUTO_IDLE_NS);
}

/**
 * timely_auto_start() - start a flow
 * @f: flow
 * @bps: C / (N + 1), bytes/s
 * @cap_bps: C, bytes/s
 * @path_ns: RTT of the handshake, ns; 0: unknown
 * @now_ns: current time, ns
 */
static inline void timely_auto_start(struct timely_flow *f, u64 bps, u64 cap_bps,
				     u32 path_ns, u64 now_ns)
{
	if (!f->base_ns)
		f->base_ns = path_ns;
	f->rate_q = timely_bps_to_rate(bps);
	timely_auto_clamp(f, cap_bps);
	f->by_rule = 1;
	f->starting = 1;
	f->doubted = 0;
	f->goes_back = 0;
	f->slope_q = 0;
	f->mean_ns = 0;
	f->samples = 0;
	f->neg_count = 0;
	f->wide = 0;
	f->unseen = 0;
	f->turn = timely_auto_turn(now_ns);
	f->last_ns = now_ns;
	f->app_limited = 0;
	timely_auto_open(f);
}

/**
 * timely_auto_resume() - start a flow over after idleness
 * @f: flow
 * @cap_bps: C, bytes/s
 * @path_ns: RTT of the handshake, ns; 0: unknown
 * @now_ns: current time, ns
 *
 * The window from before limits the flow, not the rate. As long as a flow starts,
 * timely_flow.win_sent is what is left of its message.
 */
static inline void timely_auto_resume(struct timely_flow *f, u64 cap_bps, u32 path_ns, u64 now_ns)
{
	timely_auto_start(f, cap_bps, cap_bps, path_ns, now_ns);
	f->win_sent = TIMELY_AUTO_MESSAGE;
	/* R' of the law is the rate with which this start will end. */
	f->before = 0;
	f->goes_back = 1;
}

/** timely_auto_message() - return the bytes that a flow may send before RTTs end its start */
static inline u32 timely_auto_message(const struct timely_flow *f)
{
	return f->starting ? f->win_sent : 0;
}

/** timely_auto_sent() - account @bytes that a flow that starts has sent */
static inline void timely_auto_sent(struct timely_flow *f, u32 bytes)
{
	f->win_sent -= min_t(u32, f->win_sent, bytes);
}

/** timely_auto_started() - end the start of a flow, if it has not ended */
static inline void timely_auto_started(struct timely_flow *f)
{
	if (!f->starting)
		return;
	f->starting = 0;
	timely_auto_open(f);
}

/**
 * timely_auto_loss() - cut the rate on packet loss
 * @f: flow
 * @p: parameters; loss_beta is the most that one call takes
 * @cut: share of the rate, Q30, see timely_auto_lost(); %TIMELY_ONE: a timeout
 * @cap_bps: C, bytes/s
 */
static inline void timely_auto_loss(struct timely_flow *f, const struct timely_params *p,
				    u64 cut, u64 cap_bps)
{
	f->rate_q -= q30_mul(f->rate_q, (u32)min_t(u64, cut, p->loss_beta));
	f->neg_count = 0;
	f->doubted = 0;
	f->goes_back = 0;
	f->under = 0;
	timely_auto_clamp(f, cap_bps);
	timely_auto_started(f);
}

/* Too early to decide: the start, or RTTs that are averaged. */
static inline void timely_auto_begin(struct timely_flow *f, u32 rtt_ns, u32 window_bytes,
				     u64 cap_bps, const struct timely_auto *a,
				     struct timely_result *res)
{
	u64 bps, slack_ns = (u64)f->base_ns + (f->base_ns >> TIMELY_AUTO_NEAR_SHIFT);

	/* v is not known yet. On long paths a delay of a datacenter's queue is noise. */
	res->branch = TIMELY_BRANCH_START;
	if (rtt_ns <= max_t(u64, a->t_low_ns, slack_ns))
		return;
	/* There is a queue: the window opens no further. */
	res->queued = 1;
	if (timely_auto_message(f))
		return;
	/* The path carries the window per RTT. */
	bps = div64_u64((u64)window_bytes * 1000000000ULL, rtt_ns + a->segment_ns);
	if (bps < timely_rate_bps(f))
		f->rate_q = timely_bps_to_rate(bps);
	timely_auto_clamp(f, cap_bps);
	timely_auto_started(f);
	f->samples = 0;
	if (f->goes_back)
		f->before = timely_coarse_rate(f);
}

/**
 * timely_auto_update() - process one completion event
 * @f: flow, started by timely_auto_start()
 * @e: the event
 * @segment_bytes: largest segment, bytes, < 2^24
 * @cap_bps: C, bytes/s, 1 to TIMELY_MAX_RATE_BPS
 * @res: the decision
 */
static inline void timely_auto_update(struct timely_flow *f, const struct timely_event *e,
				      u32 segment_bytes, u64 cap_bps,
				      struct timely_result *res)
{
	struct timely_auto a;
	u64 elapsed_ns, now_ns = e->now_ns, rtt_ns;
	u32 before_ns = f->mean_ns;
	bool hai, in_vain, shorter;

	*res = (struct timely_result) {
		.branch = TIMELY_BRANCH_AVERAGE, .link_bps = timely_auto_link_bps(f, cap_bps),
		.wait_ns = timely_auto_wait_ns(f),
	};
	rtt_ns = timely_auto_rtt(f, e, cap_bps);
	timely_auto_sample(f, (u32)rtt_ns);
	if (f->starting) {
		timely_auto_params(f, segment_bytes, cap_bps, &a);
		timely_auto_begin(f, (u32)rtt_ns, e->window, cap_bps, &a, res);
		f->last_ns = max_t(u64, f->last_ns, now_ns);
		f->mean_ns = (u32)rtt_ns;
		f->samples = 0;
		return;
	}
	if (!timely_auto_due(f, now_ns))
		return;

	elapsed_ns = min_t(u64, now_ns - f->last_ns, TIMELY_MAX_RTT_NS);
	f->last_ns = now_ns;
	timely_auto_slope(f, elapsed_ns);
	f->samples = 0;
	rtt_ns = f->mean_ns;
	timely_auto_params(f, segment_bytes, cap_bps, &a);
	timely_auto_judge(f, rtt_ns, a.segment_ns);

	hai = timely_auto_hai(f, &a, rtt_ns, elapsed_ns);
	res->scale_ppm = 1000000;
	res->rtt_diff_ns = before_ns ? (s64)rtt_ns - before_ns : 0;
	/* Below 2^30 * 1e6. */
	res->gradient_ppm = (s64)f->slope_q * 1000000 / (1LL << TIMELY_SLOPE_SHIFT);

	in_vain = rtt_ns > a.t_high_ns && timely_auto_in_vain(f, rtt_ns, a.t_high_ns, elapsed_ns);
	shorter = timely_auto_short(f, a.segment_ns, rtt_ns, now_ns, cap_bps);
	/* A queue that is known by itself says nothing of D. */
	if (!e->queue_ns && (in_vain || shorter)) {
		res->branch = TIMELY_BRANCH_PROBE;
		f->base_ns = (u32)rtt_ns;
		f->unseen = 0;
	} else {
		timely_auto_decide(f, &a, before_ns, elapsed_ns, hai, res);
	}
	timely_auto_clamp(f, cap_bps);
	timely_auto_remember(f, &a, res->branch);
}

/**
 * timely_auto_at_cap() - return whether nothing but C limits a flow
 * @f: flow
 * @cap_bps: C, bytes/s
 * @res: its last decision
 *
 * It sees no queue, sends its rate, and that is C or nearly so: noise cuts it now and then.
 */
static inline bool timely_auto_at_cap(const struct timely_flow *f, u64 cap_bps,
				      const struct timely_result *res)
{
	u64 cap_q = timely_bps_to_rate(cap_bps);

	return (res->branch == TIMELY_BRANCH_LOW || res->branch == TIMELY_BRANCH_HAI) &&
	       !res->held && f->rate_q >= cap_q - (cap_q >> TIMELY_AUTO_CAP_SHIFT);
}

#endif /* _TIMELY_AUTO_H */
