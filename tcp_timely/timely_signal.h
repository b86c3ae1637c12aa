/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TIMELY, profile auto, layer 2: the signal. What is an RTT worth?
 *
 * q is S / L, but where L is less than C 250 us at most, and S / C at least; S are the bytes of a
 * segment or of four packets, whichever is more. For each completion:
 *
 *	RTT       = max(D, measured RTT - S / L + S / C)
 *	            with signal owd min(that, D + queue of the way there), where On-Ramp knows it
 *	v        += (|RTT - mean| - v) / 32
 *	mean      = mean of the RTTs since the last update
 *
 * and for an update, 2 (D + W) after the last one, or with the next segment if that is later:
 *
 *	gradient += (d(mean) / dt - gradient) / 4
 *	noise     = max(0, 9/4 v - W - q - 8 us), on noisy hosts
 *
 *  - Update. A cut takes an RTT to show; cuts by samples from before are cuts for nothing.
 *  - Gradient. The paper divides a difference of RTTs by minRTT whatever time has passed between
 *    them; flows with few segments see larger differences, and are cut more often. Divided by the
 *    time it is (sum of rates - C) / C, for all flows.
 *  - v. Timers, interrupts and hypervisors make RTTs vary. This is no congestion.
 *  - Noisy hosts. Interrupts that are late at random make single RTTs longer than their mean by
 *    several v. But flows that meet on a slow link make v long as well, and with it Thigh, and v.
 *    The mean of noise is 1 to 1.5 v above D, and that of a queue 2.4 v and more: noise leaves RTTs
 *    within q and 7/4 v of D + W, for most of 63 updates.
 *  - No wire. A veth, a tun, or a device of a hypervisor sends as fast as a CPU does. To take a
 *    segment's time at C out of its RTT would make D too short, where 64 KB pass at once. There may
 *    be a wire behind the device all the same. So D is the lowest RTT with serialisation, and only
 *    other RTTs are without: the RTT is max(D, measured RTT - S / L).
 *
 * Differences from the paper: it has one RTT for each segment, of which it takes S / C, and an
 * update for each; it knows no noise, since NICs take its times. D is the lowest RTT as measured,
 * so an L too low cannot make D too short.
 */
#ifndef _TIMELY_SIGNAL_H
#define _TIMELY_SIGNAL_H

#include "timely_path.h"

/* A segment has the bytes that the rate sends in this time, ns, up to those that are configured. */
#define TIMELY_AUTO_SEGMENT_NS	250000U

/* S has so many packets, at least. */
#define TIMELY_AUTO_PACKETS	4U

/* Weights: alpha of the gradient 1/4, of v 1/32. */
#define TIMELY_AUTO_ALPHA_SHIFT	2
#define TIMELY_AUTO_DEV_SHIFT	5

/*
 * An update whose RTT is within q and 7/4 v of D + W is one of noise, else one of a queue. Noise
 * is what 9/4 v are above W, q and 8 us. It counts from 32 more updates of the first kind than of
 * the second on, in 32nds, until there are 63 more.
 */
#define TIMELY_AUTO_NOISY_NEAR	7U
#define TIMELY_AUTO_NOISY_LEAST	31U
#define TIMELY_AUTO_NOISY_MOST	63U
#define TIMELY_AUTO_NOISY_V	9U
#define TIMELY_AUTO_NOISY_SHIFT	2
#define TIMELY_AUTO_NOISY_NS	8000U

/* RTTs are held in 32 bits here, ns. */
#define TIMELY_AUTO_RTT_MAX	0xffffffffULL

/* Largest v, ns, and largest number of RTTs in a mean. */
#define TIMELY_AUTO_DEV_MAX	((1U << 22) - 1)
#define TIMELY_AUTO_MEAN_MAX	63U

/**
 * struct timely_event - a completion
 * @rtt_ns:	RTT without serialisation at C, ns; above 2^32 - 1 it counts as that
 * @now_ns:	its time
 * @bytes:	payload that was sent in that RTT, < 2^24
 * @window:	window of the flow at the moment, bytes, < 2^31
 * @queue_ns:	the part of @rtt_ns that is the queue of the way there, ns; 0: unknown
 */
struct timely_event {
	u64	rtt_ns;
	u64	now_ns;
	u32	bytes;
	u32	window;
	u32	queue_ns;
};

/*
 * A segment's serialisation at L, ns, without what was taken out of the RTT before: that at C, if
 * a wire is known to limit the device.
 */
static inline u64 timely_auto_own_ns(const struct timely_flow *f, u32 bytes, u64 cap_bps)
{
	u64 link_bps = timely_auto_link_bps(f, cap_bps), own_ns = 0;

	if (f->unwired)
		own_ns = timely_serialisation_ns(bytes, link_bps);
	else if (link_bps < cap_bps)
		own_ns = timely_serialisation_ns(bytes, link_bps) -
			 timely_serialisation_ns(bytes, cap_bps);
	return min_t(u64, own_ns, TIMELY_MAX_RTT_NS);
}

/*
 * An RTT: update D, and return it without its segment's time at L, ns. It is D at least. Where
 * there is perhaps no wire, that time is no part of D either: a CPU passes 64 KB on in no time.
 */
static inline u32 timely_auto_rtt(struct timely_flow *f, const struct timely_event *e, u64 cap_bps)
{
	u64 rtt_ns = min_t(u64, max_t(u64, e->rtt_ns, 1), TIMELY_AUTO_RTT_MAX);
	u64 own_ns = timely_auto_own_ns(f, e->bytes, cap_bps);

	if (!f->base_ns || rtt_ns < f->base_ns)
		f->base_ns = (u32)rtt_ns;
	rtt_ns = max_t(u64, rtt_ns, own_ns + f->base_ns) - own_ns;
	return (u32)timely_way_there(rtt_ns, f->base_ns, e->queue_ns);
}

/* One RTT: v, and the mean of those since the last update. */
static inline void timely_auto_sample(struct timely_flow *f, u32 rtt_ns)
{
	u32 before_ns = f->samples ? f->avg_ns : f->mean_ns;
	u32 dev_ns = f->dev_ns, diff_ns;

	if (before_ns) {
		diff_ns = rtt_ns > before_ns ? rtt_ns - before_ns : before_ns - rtt_ns;
		diff_ns = min_t(u32, diff_ns, TIMELY_AUTO_DEV_MAX);
		if (diff_ns > dev_ns)
			dev_ns += (diff_ns - dev_ns) >> TIMELY_AUTO_DEV_SHIFT;
		else
			dev_ns -= (dev_ns - diff_ns) >> TIMELY_AUTO_DEV_SHIFT;
		f->dev_ns = dev_ns;
	}
	if (f->samples < TIMELY_AUTO_MEAN_MAX)
		f->samples++;
	if (f->samples == 1)
		f->avg_ns = rtt_ns;
	else if (rtt_ns > f->avg_ns)
		f->avg_ns += (rtt_ns - f->avg_ns) / f->samples;
	else
		f->avg_ns -= (f->avg_ns - rtt_ns) / f->samples;
}

/* d(RTT)/dt, smoothed. 2^32 ns shifted by 20 fit in 63 bits, quotients are limited. */
static inline void timely_auto_slope(struct timely_flow *f, u64 elapsed_ns)
{
	s64 slope;

	if (!f->mean_ns)
		f->mean_ns = f->avg_ns;
	slope = ((s64)f->avg_ns - f->mean_ns) * (1LL << TIMELY_SLOPE_SHIFT);
	slope = clamp_t(s64, div64_s64(slope, (s64)elapsed_ns), -TIMELY_SLOPE_MAX,
			TIMELY_SLOPE_MAX);
	/* Rounded towards zero, so that a constant RTT has none in the end. */
	f->slope_q += (s32)((slope - f->slope_q) / (1 << TIMELY_AUTO_ALPHA_SHIFT));
	f->mean_ns = max_t(u32, f->avg_ns, 1);
}

/** timely_auto_due() - return whether an RTT at @now_ns will lead to a decision */
static inline bool timely_auto_due(const struct timely_flow *f, u64 now_ns)
{
	return now_ns > f->last_ns && now_ns - f->last_ns >= 2 * timely_auto_path_ns(f);
}

/* Count an update in timely_flow.noisy. */
static inline void timely_auto_judge(struct timely_flow *f, u64 rtt_ns, u64 segment_ns)
{
	u64 near_ns = (u64)f->dev_ns * TIMELY_AUTO_NOISY_NEAR >> TIMELY_AUTO_NOISY_SHIFT;

	if (rtt_ns >= timely_auto_path_ns(f) + segment_ns + near_ns)
		f->noisy -= !!f->noisy;
	else if (f->noisy < TIMELY_AUTO_NOISY_MOST)
		f->noisy++;
}

/*
 * Return by how much noise makes Thigh longer, beside v. Segments make v as long as q by
 * themselves, and interrupts that wait as long as W. 27 bits times 32.
 */
static inline u64 timely_auto_noise_ns(const struct timely_flow *f, u64 segment_ns)
{
	u64 own_ns = segment_ns + timely_auto_wait_ns(f) + TIMELY_AUTO_NOISY_NS;
	u64 noise_ns = (u64)f->dev_ns * TIMELY_AUTO_NOISY_V >> TIMELY_AUTO_NOISY_SHIFT;

	if (f->noisy <= TIMELY_AUTO_NOISY_LEAST || noise_ns <= own_ns)
		return 0;
	return (noise_ns - own_ns) * (f->noisy - TIMELY_AUTO_NOISY_LEAST) /
	       (TIMELY_AUTO_NOISY_MOST - TIMELY_AUTO_NOISY_LEAST);
}

#endif /* _TIMELY_SIGNAL_H */
