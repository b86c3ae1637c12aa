/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TIMELY with parameters that follow from the path: profile "auto".
 *
 * Algorithm 1 of TIMELY (see timely_core.h) with constants is for one network: a step of
 * 10 Mbit/s is nothing for two flows at 100 Gbit/s and all there is for 256 flows at
 * 10 Gbit/s; an RTT of 50 us is a queue of 40 us on one path and none on the next. Here
 * the law is the same, and its parameters are computed from the state of a flow: C, the
 * payload that its line carries; R, its own rate; D, the lowest RTT of the path; v, the
 * mean difference of successive RTTs; S, the size of a segment or of four packets, and
 * q = S / C; and L, the payload that the slowest link of the path carries, R to C; and W, by
 * how much an RTT is longer without a queue, because NICs wait before they interrupt.
 *
 *	RTT      = max(D, measured RTT - S / L + S / C)
 *	x        = sqrt(C / R)			grows with the number of flows: x ~ sqrt(N)
 *	base     = max(D + W + q / 2, 23 us + q)
 *	w        = (4 us + 0.15 q) x
 *	Thigh    = base + v + w + max(0, 9/4 v - W - q - 8 us), the last on noisy hosts
 *	Tlow     = (D + W + Thigh) / 2
 *	delta    = C / 500 / x, times 2 D / 35 us within 1 to 8
 *	update   = 2 (D + W) after the last one, with the mean of the RTTs since; or the next
 *	           segment's, if segments are further apart
 *	gradient = (1 - alpha) gradient + alpha d(RTT)/dt
 *
 *	RTT < Tlow:	R += max(N delta, g R)
 *	RTT > Thigh:	R *= 1 - 0.3 (1 - Thigh / RTT)
 *	gradient <= 0, or RTT < the one before, or t > 5/2 Thigh:
 *			R += delta
 *	else:		R *= 1 - 0.3 max(0, gradient - (0.1 v + 0.4 max(0, v - w / 3)) / t)
 *
 *	g        = smaller of (Tlow - RTT) / (Tlow - D - W) * t / 4 ms and (Tlow - RTT) / 8 t,
 *	           t: time between updates
 *
 *	L        = C / max(1, r - 1), r: how much longer the time between two ACKs of one
 *		   segment is than these bytes take at C, smoothed
 *
 * with alpha = 1/4, N = 5 once RTTs were below Tlow for seven updates and a millisecond,
 * where the RTT is below D + (Thigh - D - W) / 6, else 1. No update takes more than half.
 *
 * Why each of them:
 *  - x. N flows send N segments in the time of one; where they meet by chance the queue
 *    varies by about sqrt(N) segments (a Brownian bridge, 0.6 sqrt(N) on average), which is
 *    no congestion. So Thigh grows with sqrt(N), and N ~ C / R. It is lower for the faster
 *    of two flows, and so there is one fixed point, at equal rates: the law of the paper
 *    has none (Zhu et al., CoNEXT 2016). A step of C / 500 / x is a share of x / 500 of R,
 *    of all flows together x / 500 of C: 0.3 % of the link for 2, 3 % for 256 of them.
 *  - base. Two flows know the same path by different D: the later one never saw it empty.
 *    Below 23 us, the delay of a datacenter's switches, and q the difference has no effect.
 *    And an ACK waits at the receiver's NIC for segments that this host sends: 9 to 21 us in the
 *    lab, behind one that leaves and another one. This is no queue of the flow's own path, but
 *    without q in base the flow gave way to it: of two hosts that sent to each other, one had a
 *    third of 10 Gbit/s. Now both have 96 %. The price is q in RTTs: those of 40 flows are 69 us
 *    in place of 54.
 *  - g. Others' bursts cut a rate within tens of microseconds, and with steps of delta alone it
 *    needs 20 ms from a tenth of C to C. So where there is room a rate grows in proportion to
 *    itself, by e in 4 ms at most. If all flows of a link grow by g in the time t that passes
 *    before they see it, the queue becomes longer by g t: that is an eighth of the room.
 *  - gradient. The paper divides a difference of RTTs by minRTT whatever time has passed
 *    between them; flows with few segments see larger differences, and are cut more often:
 *    the winner takes all. Divided by the time it is (sum of rates - C) / C, for all flows.
 *  - update. A cut takes an RTT to show; cuts by samples from before are cuts for nothing.
 *  - v. Timers, interrupts and hypervisors make RTTs vary. This is not congestion either.
 *    Segments that meet make RTTs vary, too, and there the gradient is right, mostly: up to
 *    w / 3, v is theirs. Without the second term two flows with noise of 20 us have 49 % of
 *    10 Gbit/s in place of 97.
 *  - noisy hosts. Interrupts that are late at random make single RTTs longer than their mean by
 *    several v. Two flows with up to 100 us of that keep 5 % of 10 Gbit/s with v once, and 60 %
 *    so. But flows that meet on a slow link make v long as well, and with it Thigh, and v. What
 *    tells the two apart is that the mean of noise is 1 to 1.5 v above D, and that of a queue
 *    2.4 v and more: noise is what leaves RTTs within q and 7/4 v of D + W, for most of 63 updates.
 *  - L. A host knows the speed of its own link. If another one of the path is slower, a
 *    segment takes longer there, S / L in place of S / C, and this is no queue: a segment of
 *    16 KB takes 131 us at 1 Gbit/s, of which 118 us would be delay to get rid of, and one flow
 *    of hosts with 10 Gbit/s would use 63 % of the link. The packets of a segment leave a slow
 *    link that far apart, and so do their ACKs. Others' packets get between them, but in the
 *    time S / C in which the segment arrives, no more than S L / C on average: hence r - 1,
 *    and L is C where all links are alike. A receiver that acknowledges a whole segment at once
 *    tells nothing: then L remains as it is, C at first. L is not below R, so that no more than
 *    the time from one segment to the next is ever taken from an RTT; and D is the lowest one
 *    as measured, so that an L too low cannot make D too low.
 *
 *  - W. Packets that come close together share an interrupt; one that comes alone waits for its
 *    own, at both ends. So the lowest RTT is one of a fast flow, by luck, and without a queue
 *    RTTs grow by up to both times as the rate falls. Without W one flow keeps 42 % of 10 Gbit/s
 *    where NICs wait for 20 us, and four 17 % where they wait for 50. It need not be exact: 1.25
 *    to 2 times the wait of one NIC is as good. Increase is hyperactive near D only, or each
 *    decision, which comes late with W, overshoots: two flows with 50 us have 85 % then.
 *
 * D is the lowest RTT, and becomes the mean RTT of the moment if it is too short: a path has become
 * longer, or one RTT was measured too short. Lower RTTs make it shorter again at once. Three things
 * show it:
 *
 *  - Few flows empty their queue every few ms by themselves. So a flow of C / 8 or more in the last
 *    0.1 s sees an RTT within an eighth of D, or within 3/2 q, in each 33 ms. Without this, eight
 *    flows whose route becomes 50 us longer would keep a third of the link, since cuts end where x
 *    has raised Thigh to the new RTT; and data of CUBIC in the other direction, for which ACKs wait
 *    for 60 to 110 us, would leave four flows a half. Of many flows some would take the others'
 *    queue for the path after 33 ms;
 *  - after 2.1 s without such an RTT these are wrong as well;
 *  - and at once if cuts are in vain: a run of them has taken half of the rate, or led to the
 *    lowest one, or the RTT is within an eighth of D, and for eight updates above Thigh the RTT
 *    stays as it is. A queue would have drained. A route that becomes 1 ms longer would take 98 %
 *    of the rate for 2 s otherwise.
 *
 * Start: C / (N + 1) as in the paper, and a window of 10 packets that grows by the
 * acknowledged bytes. The first RTT above Tlow, and above D by more than 1/8, ends it: the
 * rate becomes the window per RTT. Forty flows that start at once send 40 windows, not 40
 * line rates. Until then D is the RTT of the handshake or, if that has met a queue, the lowest one
 * of other connections, see or_path.h: a flow whose first data waits behind that of others would
 * take the queue as part of the path, and open its window once more.
 *
 * Idleness: a flow starts over at C, however many others are active, with its window from
 * before. It has a message to send, whose first 64 KB leave as one segment; their RTTs change
 * nothing but the window. 64 KB are a segment of the paper, and a rate decides when the next
 * one leaves. At C / (N + 1) a message stays slow after the other flows have ended, and at the
 * rate of the first RTT above Tlow it is over before the rate has risen: with eight hosts, whose
 * messages of 1 to 64 KB are 60 % of their links, the median takes 125 us in place of 89.
 *
 * Loss: a bad cable loses packets without a queue, and a halved rate takes 3 ms to return: with
 * 0.1 % of loss two flows would have 45 % of 10 Gbit/s. The share of a window that was lost is what
 * the path does not carry:
 *
 *	R *= 1 - lost / sent - max(0, RTT - Thigh) / (Thigh - D - W)	not below R / 2
 *
 * RTT is that of the packets behind the lost one, when TCP enters a recovery. Later losses of that
 * recovery count by the first term only. A buffer that is shorter than Thigh drops without that
 * RTT, as a policer does: there R becomes what gets through. A full queue halves R, as in Swift,
 * and so does a timeout; CUBIC keeps 0.7 in any case. BBR forgives 2 % of loss, which a short
 * buffer would lose for ever.
 *
 * No wire: a veth, a tun, or a device of a hypervisor sends as fast as a CPU does. To take a
 * segment's time at C out of its RTT would make D too short: 6 us of 60, where 64 KB pass at once.
 * One flow over veth has 5 % of CUBIC's goodput then. There may be a wire behind the device all
 * the same. So
 *
 *	D     = lowest RTT, with serialisation
 *	RTT   = max(D, measured RTT - S / L)
 *	base  = max(D + W, 23 us + q)		D contains up to q
 *	Thigh = base + v + w + max(0, v - w)	what v is above w is the work of a CPU
 *
 * With v once one flow has a third of CUBIC's goodput. Where hosts have a wire, v is not above w
 * but for moments, and 40 flows have RTTs of 79 us in place of 49.
 *
 * The constants are from a search over 24 cases of selftests/unit/timely_auto_test.c's star,
 * 1 to 400 Gbit/s, 2 to 256 flows, RTTs of 5 to 400 us, noise up to 300 us.
 *
 * Differences from the paper, beside those of timely_core.h:
 *  - RTTs below Tlow count for hyperactive increase, and a millisecond of them is needed:
 *    five RTTs of a fast flow are less than the dips of a queue in its steady state. It
 *    is over where the RTT rises: 40 flows that raise 1 Gbit/s by 5 % with each update have
 *    a queue of 500 us before they notice, empty it by their cuts, and so on.
 *  - The window is 2 R (Thigh + q) and two segments, instead of 2 C Thigh. It grows to that
 *    by half, or by a segment, with each update that is no cut. If it grew by a segment only,
 *    a flow whose start ends by chance would take seconds where the RTT is 5 ms.
 *  - A segment has the bytes that R sends in 250 us, and not more than configured. On a long
 *    path it has those of D / 16, up to 64 KB: if all flows of a link send one at once, the
 *    queue is D / 16. A flow that sends less than its rate for another reason than its window
 *    has up to 64 KB, too: the host is busy with something, and larger segments are less work.
 *    One connection on a CPU that carries 8.5 Gbit/s with CUBIC has 8.0; with segments of
 *    16 KB it has 3.9.
 *  - A flow that is application-limited is not cut by the gradient either.
 *  - Where no wire limits the device, C is a first guess, and rises: line_shown.h.
 *
 * Nothing in this file depends on the kernel but fixed-size integers and division.
 */
#ifndef _TIMELY_AUTO_H
#define _TIMELY_AUTO_H

#include "timely_core.h"

/* Lowest base of the thresholds, ns. */
#define TIMELY_AUTO_BASE_NS	23000U

/* Thigh - base, ns, for a flow that has the link for itself: this and 0.15 q. */
#define TIMELY_AUTO_TARGET_NS	4000U

/* One for x and for q's share in Thigh: Q10. 0.15 is 154 / 1024. */
#define TIMELY_AUTO_SHIFT	10
#define TIMELY_AUTO_SEGMENT_Q10	154U

/* Slope of the RTT: ns per ns in Q20, at most 32 either way. */
#define TIMELY_SLOPE_SHIFT	20
#define TIMELY_SLOPE_MAX	((1LL << 25) - 1)

/*
 * D is too short if the rate was C / 8 or more in one of the last three windows of 2^25 ns, and no
 * RTT of the last one came within 1/8 of D or within 3/2 q of D + W.
 */
#define TIMELY_AUTO_TURN_SHIFT	25
#define TIMELY_AUTO_WIDE_SHIFT	3
#define TIMELY_AUTO_WIDE	3U

/* Or, at any rate, if none of so many did. */
#define TIMELY_AUTO_UNSEEN	63U

/*
 * And if cuts are in vain: so many updates in a row, all above Thigh, have an RTT that changes by
 * less than 1/16 of the time between them. Four of them occur where many flows start at once.
 */
#define TIMELY_AUTO_FLAT_SHIFT	4
#define TIMELY_AUTO_VAIN	8U

/* So many halves of Thigh after an RTT the queue is another one. */
#define TIMELY_AUTO_LASTS	5U

/* Weights: alpha of the gradient 1/4, of v 1/32. */
#define TIMELY_AUTO_ALPHA_SHIFT	2
#define TIMELY_AUTO_DEV_SHIFT	5

/* An RTT of a start that is longer than D by no more than 1/8 of it is no queue. */
#define TIMELY_AUTO_NEAR_SHIFT	3

/* Of v, tenths that are noise beside the first, above that part of what chance makes. */
#define TIMELY_AUTO_NOISE	4U
#define TIMELY_AUTO_OWN		3U

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

/* beta, of both decreases, in Q30: 0.3. */
#define TIMELY_AUTO_BETA	322122547U

/* C / delta of a flow that has the link for itself. */
#define TIMELY_AUTO_STEPS	500U

/* RTT at which an update, 2 D, has that step, ns; and the most that longer ones have. */
#define TIMELY_AUTO_STEP_NS	35000U
#define TIMELY_AUTO_STEP_MAX	8U

/*
 * Below Tlow a rate grows by e in that time at most, ns; and by no more than what fills 1/8 of the
 * room before the next update, if all flows of a link do the same.
 */
#define TIMELY_AUTO_RISE_NS	4000000U
#define TIMELY_AUTO_RISE_SHIFT	20
#define TIMELY_AUTO_ROOM_SHIFT	3

/*
 * Hyperactive increase: each update below Tlow counts its time in units of 2^14 ns, 1 to
 * 10 of them, and 64 are needed: a millisecond, and seven updates.
 */
#define TIMELY_AUTO_HAI_SHIFT	14
#define TIMELY_AUTO_HAI_MOST	10U
#define TIMELY_AUTO_HAI_COUNT	64U
#define TIMELY_AUTO_HAI_FACTOR	5U

/* And it is over where the RTT is longer than D by that part of Thigh - D - W. */
#define TIMELY_AUTO_HAI_PART	6U

/* timely_flow.wait is in units of 2^13 ns, at most 1.04 ms. */
#define TIMELY_AUTO_WAIT_SHIFT	13
#define TIMELY_AUTO_WAIT_MOST	127U

/* Lowest rate: C / 1000, at most 10 Mbit/s; in bytes/s. */
#define TIMELY_AUTO_FLOOR_SHARE	1000U
#define TIMELY_AUTO_FLOOR_BPS	1250000U

/* timely_flow.slow: one octave of r has 16 steps, and 255 are 2^15.9. */
#define TIMELY_AUTO_SLOW_SHIFT	4
#define TIMELY_AUTO_SLOW_ONE	(1U << TIMELY_AUTO_SLOW_SHIFT)
#define TIMELY_AUTO_SLOW_MOST	255U

/*
 * Of a gap's excess over the known r, 1/8 octave / 16 is learnt; half of that step where the gap
 * and the one before are four times what r explains: the noise of a host makes one gap longer and
 * the next one shorter. A gap counts for 32 times that, and for 1.05 ms, at most.
 */
#define TIMELY_AUTO_GAP_SHIFT	3
#define TIMELY_AUTO_FAR_SHIFT	1
#define TIMELY_AUTO_FAR		(4U << TIMELY_AUTO_SLOW_SHIFT)
#define TIMELY_AUTO_GAP_MOST	(32U << TIMELY_AUTO_SLOW_SHIFT)
#define TIMELY_AUTO_GAP_MAX_NS	(1U << 20)

/* Nothing but C limits a flow whose rate is C less 1/8 of it or more. */
#define TIMELY_AUTO_CAP_SHIFT	3

/* A segment has the bytes that the rate sends in this time, ns. */
#define TIMELY_AUTO_SEGMENT_NS	250000U

/* S has so many packets, at least. */
#define TIMELY_AUTO_PACKETS	4U

/* And up to TIMELY_AUTO_MESSAGE what it sends in 1/16 of D, at most 2^24 ns. */
#define TIMELY_AUTO_PART_SHIFT	4
#define TIMELY_AUTO_PART_MAX	(1ULL << 24)

/* Without data for ten times D, and for that long at least, a flow starts over, ns. */
#define TIMELY_AUTO_IDLE_RTTS	10U
#define TIMELY_AUTO_IDLE_NS	200000U

/*
 * After idleness RTTs do not end the start before so much was sent, bytes. It is also the
 * largest segment of a long path, and of a flow that its rate does not limit.
 */
#define TIMELY_AUTO_MESSAGE	65536U

/* RTTs are held in 32 bits here, ns. */
#define TIMELY_AUTO_RTT_MAX	0xffffffffULL

/* Largest v, ns, and largest number of RTTs in a mean. */
#define TIMELY_AUTO_DEV_MAX	((1U << 22) - 1)
#define TIMELY_AUTO_MEAN_MAX	63U

/*
 * So many windows in which a flow sends less than its share, and none in which it does not,
 * before its segments are larger: what it sends in one of ten segments varies by two of them.
 * One window with less than half of the share is enough.
 */
#define TIMELY_AUTO_UNDER	3U

/*
 * A flow whose data waits has its share with that part of what its rate allows, percent; and in a
 * window of so many segments.
 */
#define TIMELY_AUTO_BUSY_PERCENT	92U
#define TIMELY_AUTO_WIN_SEGMENTS	32U

/**
 * struct timely_auto - the parameters of a flow at this moment
 * @spread_q10:	x, sqrt(C / R), Q10
 * @segment_ns:	q, time of a segment at the line rate, ns
 * @t_low_ns:	Tlow, ns
 * @t_high_ns:	Thigh, ns
 * @chance_ns:	how much of Thigh is for segments that meet by chance, ns
 */
struct timely_auto {
	u32	spread_q10;
	u64	segment_ns;
	u64	t_low_ns;
	u64	t_high_ns;
	u64	chance_ns;
};

/**
 * struct timely_event - a completion
 * @rtt_ns:	RTT without serialisation at C, ns; above 2^32 - 1 it counts as that
 * @now_ns:	its time
 * @bytes:	payload that was sent in that RTT, < 2^24
 * @window:	window of the flow at the moment, bytes, < 2^31
 */
struct timely_event {
	u64	rtt_ns;
	u64	now_ns;
	u32	bytes;
	u32	window;
};

/* Square root, rounded down: a bit of the result at a time, 32 of them at most. */
static inline u32 timely_sqrt(u64 a)
{
	u64 root = 0, bit = a ? 1ULL << ((fls64(a) - 1) & ~1) : 0;

	for (; bit; bit >>= 2) {
		if (a >= root + bit) {
			a -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return (u32)root;
}

/**
 * timely_auto_floor_bps() - return the lowest rate of a flow, bytes/s
 * @cap_bps: C, bytes/s
 */
static inline u64 timely_auto_floor_bps(u64 cap_bps)
{
	u64 floor_bps = min_t(u64, div64_u64(cap_bps, TIMELY_AUTO_FLOOR_SHARE),
			      TIMELY_AUTO_FLOOR_BPS);

	return max_t(u64, floor_bps, TIMELY_MIN_RATE_BPS);
}

/**
 * timely_auto_set_wait() - set W
 * @f: flow
 * @wait_ns: by how much waiting interrupts lengthen an RTT, ns; above 1.04 ms it is that
 */
static inline void timely_auto_set_wait(struct timely_flow *f, u64 wait_ns)
{
	wait_ns = min_t(u64, wait_ns, TIMELY_AUTO_WAIT_MOST << TIMELY_AUTO_WAIT_SHIFT);
	f->wait = (u8)((wait_ns + (1U << TIMELY_AUTO_WAIT_SHIFT) - 1) >> TIMELY_AUTO_WAIT_SHIFT);
}

/**
 * timely_auto_set_wired() - set whether a wire is known to limit the flow's device
 * @f: flow
 * @wired: it is; else no serialisation was taken out of D
 *
 * Return: true if RTTs so far cannot be compared with those to come.
 */
static inline bool timely_auto_set_wired(struct timely_flow *f, bool wired)
{
	bool changed = f->unwired == wired;

	f->unwired = !wired;
	return changed;
}

/* W, ns. */
static inline u32 timely_auto_wait_ns(const struct timely_flow *f)
{
	return (u32)f->wait << TIMELY_AUTO_WAIT_SHIFT;
}

/**
 * timely_auto_path_ns() - return D + W, the longest RTT that is no queue, ns
 * @f: flow
 */
static inline u64 timely_auto_path_ns(const struct timely_flow *f)
{
	return (u64)f->base_ns + timely_auto_wait_ns(f);
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
	u64 base_ns, own_ns;

	a->segment_ns = min_t(u64, timely_serialisation_ns(segment_bytes, cap_bps),
			      TIMELY_MAX_RTT_NS);
	a->spread_q10 = 1U << TIMELY_AUTO_SHIFT;
	if (bps < cap_bps)
		a->spread_q10 = timely_sqrt(div64_u64(cap_bps << (2 * TIMELY_AUTO_SHIFT), bps));

	/* ACKs wait for the other host's segments. Without a wire D may contain q. */
	base_ns = timely_auto_path_ns(f) + (f->unwired ? 0 : a->segment_ns / 2);
	base_ns = max_t(u64, base_ns, TIMELY_AUTO_BASE_NS + a->segment_ns);
	own_ns = TIMELY_AUTO_TARGET_NS +
		 (a->segment_ns * TIMELY_AUTO_SEGMENT_Q10 >> TIMELY_AUTO_SHIFT);
	own_ns = min_t(u64, own_ns, TIMELY_MAX_RTT_NS);
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

/**
 * timely_auto_most() - return the bytes of the largest segment
 * @f: flow
 * @segment_bytes: as configured
 */
static inline u32 timely_auto_most(const struct timely_flow *f, u32 segment_bytes)
{
	if (f->under < TIMELY_AUTO_UNDER)
		return segment_bytes;
	return max_t(u32, segment_bytes, TIMELY_AUTO_MESSAGE);
}

/**
 * timely_auto_segment() - return the bytes of a segment
 * @f: flow
 * @segment_bytes: largest one, as configured
 *
 * Smaller ones of slow flows make a shorter queue where they meet, and more RTTs. On a long
 * path the part of D limits them: if all flows that fill a link send at once, the queue is
 * that part of D.
 */
static inline u32 timely_auto_segment(const struct timely_flow *f, u32 segment_bytes)
{
	u64 part_ns = min_t(u64, f->base_ns >> TIMELY_AUTO_PART_SHIFT, TIMELY_AUTO_PART_MAX);
	/* 2^38 bytes/s times 2^18 ns, and 2^24 ns. */
	u64 bytes = min_t(u64, div64_u64(timely_rate_bps(f) * TIMELY_AUTO_SEGMENT_NS,
					 1000000000), timely_auto_most(f, segment_bytes));
	u64 part = min_t(u64, div64_u64(timely_rate_bps(f) * part_ns, 1000000000),
			 TIMELY_AUTO_MESSAGE);

	return (u32)max_t(u64, bytes, part);
}

/**
 * timely_auto_window() - return the bytes that a flow may have outstanding
 * @f: flow
 * @segment_bytes: largest segment, bytes
 * @cap_bps: C, bytes/s
 *
 * It is a safeguard for when the signal fails, and does not limit a flow that has RTTs of
 * Thigh: such a limit would split segments, and the receiver delays the ACKs of the parts.
 *
 * Return: bytes that the rate sends in twice Thigh plus q, and two segments.
 * 2^38 bytes/s times 2^26 us.
 */
static inline u64 timely_auto_window(const struct timely_flow *f, u32 segment_bytes,
				     u64 cap_bps)
{
	struct timely_auto a;
	u64 us;

	timely_auto_params(f, segment_bytes, cap_bps, &a);
	us = div64_u64(2 * (a.t_high_ns + a.segment_ns), 1000) + 1;
	return div64_u64(timely_rate_bps(f) * us, 1000000) +
	       2 * timely_auto_segment(f, segment_bytes);
}

/**
 * timely_auto_idle_ns() - return the time without data after which a flow starts over, ns
 * @f: flow
 */
static inline u64 timely_auto_idle_ns(const struct timely_flow *f)
{
	return max_t(u64, (u64)f->base_ns * TIMELY_AUTO_IDLE_RTTS, TIMELY_AUTO_IDLE_NS);
}

/* r in sixteenths: it is piecewise linear in timely_flow.slow, 1, 17/16, ... 31/16, 2, 34/16 ... */
static inline u32 timely_auto_ratio_q4(const struct timely_flow *f)
{
	return (TIMELY_AUTO_SLOW_ONE + (f->slow & (TIMELY_AUTO_SLOW_ONE - 1))) <<
	       (f->slow >> TIMELY_AUTO_SLOW_SHIFT);
}

/**
 * timely_auto_link_bps() - return L, the payload that the slowest link of the path carries
 * @f: flow, with a rate
 * @cap_bps: C, bytes/s, 1 to TIMELY_MAX_RATE_BPS
 *
 * Return: C / max(1, r - 1), but not less than the flow's own rate; bytes/s.
 * C < 2^38, shifted by 4.
 */
static inline u64 timely_auto_link_bps(const struct timely_flow *f, u64 cap_bps)
{
	u32 ratio_q4 = timely_auto_ratio_q4(f);

	/* As a rule: no division. */
	if (ratio_q4 <= 2 * TIMELY_AUTO_SLOW_ONE)
		return cap_bps;
	return max_t(u64, div64_u64(cap_bps << TIMELY_AUTO_SLOW_SHIFT,
				    ratio_q4 - TIMELY_AUTO_SLOW_ONE),
		     max_t(u64, timely_rate_bps(f), 1));
}

/**
 * timely_auto_gap() - learn from two ACKs of parts of one segment how slow a link of the path is
 * @f: flow
 * @bytes: payload that the second one acknowledges beyond the first, 1 to 2^24
 * @gap_ns: time between them, ns
 * @now_ns: time of the second one, ns
 * @cap_bps: C, bytes/s, 1 to TIMELY_MAX_RATE_BPS
 *
 * The steps are in proportion to the excess, so that those of all ACKs of a segment add up to
 * what its first and last one tell, whatever delays the ones between them.
 *
 * Overflow: 2^38 bytes/s, shifted by 4, times 2^20 ns.
 */
static inline void timely_auto_gap(struct timely_flow *f, u32 bytes, u64 gap_ns, u64 now_ns,
				   u64 cap_bps)
{
	u64 sent_q4, expected;
	u32 gap_q4, shift = TIMELY_AUTO_SLOW_SHIFT, chance;
	bool far;
	s32 steps;

	gap_ns = min_t(u64, gap_ns, TIMELY_AUTO_GAP_MAX_NS);
	sent_q4 = div64_u64((cap_bps << TIMELY_AUTO_SLOW_SHIFT) * gap_ns, 1000000000);
	/* The bytes that C sends while the slow link sends these. */
	expected = (u64)bytes * timely_auto_ratio_q4(f) >> TIMELY_AUTO_SLOW_SHIFT;
	gap_q4 = (u32)min_t(u64, div64_u64(sent_q4, max_t(u64, expected, 1)),
			    TIMELY_AUTO_GAP_MOST);
	far = gap_q4 >= TIMELY_AUTO_FAR;
	shift += far && f->apart ? TIMELY_AUTO_FAR_SHIFT : TIMELY_AUTO_GAP_SHIFT;
	f->apart = far;
	/* Rounded by chance, or small excesses would never count. */
	chance = (u32)(now_ns >> 4) & ((1U << shift) - 1);
	steps = (s32)(gap_q4 + chance - TIMELY_AUTO_SLOW_ONE) >> shift;
	f->slow = (u8)clamp_t(s32, f->slow + steps, 0, TIMELY_AUTO_SLOW_MOST);
}

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
static inline u32 timely_auto_rtt(struct timely_flow *f, const struct timely_event *e,
				  u64 cap_bps)
{
	u64 rtt_ns = min_t(u64, max_t(u64, e->rtt_ns, 1), TIMELY_AUTO_RTT_MAX);
	u64 own_ns = timely_auto_own_ns(f, e->bytes, cap_bps);

	if (!f->base_ns || rtt_ns < f->base_ns)
		f->base_ns = (u32)rtt_ns;
	return (u32)(max_t(u64, rtt_ns, own_ns + f->base_ns) - own_ns);
}

/* Of the number of the window that @now_ns is in, the last bit. */
static inline u8 timely_auto_turn(u64 now_ns)
{
	return (now_ns >> TIMELY_AUTO_TURN_SHIFT) & 1;
}

/* Return whether an RTT, not below D, is within an eighth of it. */
static inline bool timely_auto_near(const struct timely_flow *f, u64 rtt_ns)
{
	return rtt_ns - f->base_ns <= f->base_ns >> TIMELY_AUTO_NEAR_SHIFT;
}

static inline void timely_auto_clamp(struct timely_flow *f, u64 cap_bps)
{
	u64 cap_q = timely_bps_to_rate(cap_bps);
	u64 floor_q = timely_bps_to_rate(timely_auto_floor_bps(cap_bps));

	if (f->rate_q < floor_q)
		f->rate_q = floor_q;
	if (f->rate_q > cap_q)
		f->rate_q = cap_q;
}

/* Open a window, which finds out what limits the flow. */
static inline void timely_auto_open(struct timely_flow *f)
{
	f->win_ns = 0;
	f->win_sent = 0;
	f->win_allowed = 0;
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
static inline void timely_auto_resume(struct timely_flow *f, u64 cap_bps, u32 path_ns,
				      u64 now_ns)
{
	timely_auto_start(f, cap_bps, cap_bps, path_ns, now_ns);
	f->win_sent = TIMELY_AUTO_MESSAGE;
}

/**
 * timely_auto_message() - return the bytes that a flow may send before RTTs end its start
 * @f: flow
 */
static inline u32 timely_auto_message(const struct timely_flow *f)
{
	return f->starting ? f->win_sent : 0;
}

/**
 * timely_auto_sent() - account what a flow that starts has sent
 * @f: flow
 * @bytes: since the last call
 */
static inline void timely_auto_sent(struct timely_flow *f, u32 bytes)
{
	f->win_sent -= min_t(u32, f->win_sent, bytes);
}

/**
 * timely_auto_started() - end the start of a flow
 * @f: flow, also one that does not start
 */
static inline void timely_auto_started(struct timely_flow *f)
{
	if (!f->starting)
		return;
	f->starting = 0;
	timely_auto_open(f);
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
	f->under = 0;
	timely_auto_clamp(f, cap_bps);
	timely_auto_started(f);
}

/*
 * Return whether the open window is long enough: an RTT, in which so many bytes were sent or
 * allowed. It ends after a second, or with 2 GB, in any case.
 */
static inline bool timely_auto_long(const struct timely_flow *f, u64 rtt_ns, u64 bytes)
{
	u32 most = max_t(u32, f->win_sent, f->win_allowed);

	if (f->win_ns == TIMELY_WIN_MAX_NS || most >= TIMELY_WIN_MAX_SENT)
		return true;
	return f->win_ns >= rtt_ns && most >= bytes;
}

/* Return whether less than a share was sent of what the rate allowed in the window. */
static inline bool timely_auto_less(const struct timely_flow *f, u32 percent)
{
	return (u64)f->win_sent * 100 < (u64)f->win_allowed * percent;
}

/* Count a window in timely_flow.under; @a has the thresholds at its end. */
static inline void timely_auto_count(struct timely_flow *f, const struct timely_auto *a,
				     u32 percent, bool full)
{
	bool large = f->under == TIMELY_AUTO_UNDER;

	if (large)
		percent += (100 - percent) / 2;
	if (!timely_auto_less(f, percent)) {
		/* Where there is no queue, larger segments do not make one. */
		if (!large || f->mean_ns >= a->t_low_ns)
			f->under = 0;
	} else if (timely_auto_less(f, percent / 2)) {
		f->under = TIMELY_AUTO_UNDER;
	} else if (!full) {
		f->under = min_t(u32, f->under + 1U, TIMELY_AUTO_UNDER);
	}
}

/**
 * timely_auto_account() - find out what limits a flow, before a decision
 * @f: flow
 * @p: parameters
 * @cap_bps: C, bytes/s, 1 to TIMELY_MAX_RATE_BPS
 * @elapsed_ns: time since the last call, ns
 * @sent_bytes: bytes sent since the last call, < 2^31
 * @rtt_ns: newest RTT, ns
 * @waits: data waits that the receiver would take
 * @full: the flow's own window limits it
 *
 * A flow that sends less than its rate, though its window is open, is limited by its host: by
 * its application, or by the CPU, for which four segments of 16 KB are four times the work
 * of one of 64 KB. Timers are late on a busy CPU, and a flow whose data waits sends 70 to 90 %
 * of its rate; in a network that limits it, 97 % and more. It takes 32 segments to tell
 * these apart. ACKs are late as well, so that the window is full now and then: that counts
 * neither way, unless not half of the share was sent.
 *
 * It returns to smaller segments if it sends its rate, halfway between the share and all of it,
 * and RTTs are above Tlow. With large ones the CPU has time enough, and the flow sends its rate.
 *
 * 2^37.6 bytes/s times 2^25.9 units of 16 ns.
 */
static inline void timely_auto_account(struct timely_flow *f, const struct timely_params *p,
				       u64 cap_bps, u64 elapsed_ns, u32 sent_bytes,
				       u64 rtt_ns, bool waits, bool full)
{
	u64 segment = timely_auto_most(f, p->segment_bytes), allowed;
	u32 percent = p->app_limited_percent;
	struct timely_auto a;
	bool less;

	elapsed_ns = min_t(u64, elapsed_ns, TIMELY_WIN_MAX_NS);
	allowed = div64_u64(timely_rate_bps(f) * (elapsed_ns >> 4), TIMELY_WIN_MAX_NS >> 4);
	f->win_ns = (u32)min_t(u64, f->win_ns + elapsed_ns, TIMELY_WIN_MAX_NS);
	f->win_sent += sent_bytes;
	f->win_allowed = (u32)min_t(u64, f->win_allowed + allowed, 0xffffffffULL);
	if (!timely_auto_long(f, rtt_ns, segment * TIMELY_WIN_SEGMENTS))
		return;

	less = timely_auto_less(f, percent);
	/* A flow whose timers are late sends less than its rate, although data waits. */
	f->app_limited = less && !waits;
	if (!less && !timely_auto_long(f, rtt_ns, segment * TIMELY_AUTO_WIN_SEGMENTS))
		return;
	timely_auto_params(f, p->segment_bytes, cap_bps, &a);
	timely_auto_count(f, &a, f->app_limited ? percent : TIMELY_AUTO_BUSY_PERCENT, full);
	timely_auto_open(f);
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

/* d(RTT)/dt, smoothed. 2^32 ns shifted by 20 fit in 64 bits, quotients are limited. */
static inline void timely_auto_slope(struct timely_flow *f, u64 elapsed_ns)
{
	s64 slope;

	if (!f->mean_ns)
		f->mean_ns = f->avg_ns;
	if (f->avg_ns >= f->mean_ns)
		slope = min_t(u64, div64_u64((u64)(f->avg_ns - f->mean_ns) <<
					     TIMELY_SLOPE_SHIFT, elapsed_ns),
			      TIMELY_SLOPE_MAX);
	else
		slope = -(s64)min_t(u64, div64_u64((u64)(f->mean_ns - f->avg_ns) <<
						   TIMELY_SLOPE_SHIFT, elapsed_ns),
				    TIMELY_SLOPE_MAX);
	/* Rounded towards zero, so that a constant RTT has none in the end. */
	f->slope_q += (s32)((slope - f->slope_q) / (1 << TIMELY_AUTO_ALPHA_SHIFT));
	f->mean_ns = max_t(u32, f->avg_ns, 1);
}

/*
 * By which share of itself a rate grows where an RTT is below Tlow, Q20, at most 1. A room of 10 s
 * in ns and Q20 fit in 54 bits.
 */
static inline u64 timely_auto_rise_q20(const struct timely_flow *f, const struct timely_auto *a,
				       u64 rtt_ns, u64 elapsed_ns)
{
	u64 empty_ns = a->t_low_ns - timely_auto_path_ns(f), room_ns, time_q20;

	/* An RTT below D + W has no more room than one of an empty queue. */
	room_ns = min_t(u64, a->t_low_ns - rtt_ns, empty_ns);
	time_q20 = div64_u64(min_t(u64, elapsed_ns, TIMELY_AUTO_RISE_NS) <<
			     TIMELY_AUTO_RISE_SHIFT, TIMELY_AUTO_RISE_NS);
	return min_t(u64, div64_u64(time_q20 * room_ns, empty_ns),
		     div64_u64(room_ns << (TIMELY_AUTO_RISE_SHIFT - TIMELY_AUTO_ROOM_SHIFT),
			       elapsed_ns));
}

static inline void timely_auto_increase(struct timely_flow *f, u64 cap_bps, bool hai,
					const struct timely_auto *a, u64 rise_q20,
					struct timely_result *res)
{
	u64 step_q = div64_u64(timely_bps_to_rate(cap_bps), TIMELY_AUTO_STEPS);
	u64 ns = 2 * (u64)f->base_ns;

	if (f->app_limited) {
		res->held = TIMELY_HELD_APP;
		return;
	}
	ns = min_t(u64, max_t(u64, ns, TIMELY_AUTO_STEP_NS),
		   TIMELY_AUTO_STEP_MAX * TIMELY_AUTO_STEP_NS);
	/* C / 500 in Q16 is below 2^46, times Q10 2^56; ns / 35 us in Q10 below 2^13. */
	step_q = div64_u64(step_q << TIMELY_AUTO_SHIFT, a->spread_q10);
	step_q = (step_q * div64_u64(ns << TIMELY_AUTO_SHIFT, TIMELY_AUTO_STEP_NS)) >>
		 TIMELY_AUTO_SHIFT;
	/* Rates in Q16 have 54 bits: 34 of them times a rise of 21. */
	f->rate_q += max_t(u64, hai ? step_q * TIMELY_AUTO_HAI_FACTOR : step_q,
			   (f->rate_q >> TIMELY_AUTO_RISE_SHIFT) * rise_q20);
}

/*
 * Return whether a run of cuts was in vain: it has taken half of the rate, and the RTT stays as it
 * is. A queue would drain.
 */
static inline bool timely_auto_in_vain(struct timely_flow *f, u64 rtt_ns, u64 cap_bps)
{
	u64 floor_q = timely_bps_to_rate(timely_auto_floor_bps(cap_bps));
	u32 slope = f->slope_q < 0 ? -f->slope_q : f->slope_q;

	if (slope >= 1U << (TIMELY_SLOPE_SHIFT - TIMELY_AUTO_FLAT_SHIFT))
		f->neg_count = 0;
	else if (f->neg_count < TIMELY_AUTO_VAIN)
		f->neg_count++;
	return f->doubted && f->neg_count == TIMELY_AUTO_VAIN &&
	       (timely_coarse_rate(f) < f->before / 2 || f->rate_q <= floor_q ||
		timely_auto_near(f, rtt_ns));
}

/*
 * At the end of a window: return whether D is too short. No RTT came near it, and the flow was fast
 * lately; or none did for many windows.
 */
static inline bool timely_auto_short(struct timely_flow *f, const struct timely_auto *a,
				     u64 rtt_ns, u64 now_ns, u64 cap_bps)
{
	u8 turn = timely_auto_turn(now_ns);
	bool shorter;

	if (timely_rate_bps(f) >= cap_bps >> TIMELY_AUTO_WIDE_SHIFT)
		f->wide = TIMELY_AUTO_WIDE;
	if (f->app_limited || timely_auto_near(f, rtt_ns) ||
	    2 * rtt_ns <= 2 * timely_auto_path_ns(f) + 3 * a->segment_ns)
		f->unseen = 0;
	if (turn == f->turn)
		return false;
	f->turn = turn;
	shorter = f->unseen >= (f->wide ? 1 : TIMELY_AUTO_UNSEEN);
	f->unseen += f->unseen < TIMELY_AUTO_UNSEEN;
	f->wide -= !!f->wide;
	return shorter;
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
}

/**
 * timely_auto_due() - return whether the next RTT will lead to a decision
 * @f: flow
 * @now_ns: time of that RTT
 */
static inline bool timely_auto_due(const struct timely_flow *f, u64 now_ns)
{
	return now_ns > f->last_ns && now_ns - f->last_ns >= 2 * timely_auto_path_ns(f);
}

/* Count the time below Tlow. Returns whether an increase is hyperactive. */
static inline bool timely_auto_hai(struct timely_flow *f, const struct timely_auto *a,
				   u64 rtt_ns, u64 elapsed_ns)
{
	if (rtt_ns <= a->t_high_ns ? rtt_ns >= a->t_low_ns || f->doubted : !f->doubted)
		f->neg_count = 0;
	if (rtt_ns < a->t_low_ns)
		f->neg_count = (u8)min_t(u64, f->neg_count +
					 min_t(u64, max_t(u64, elapsed_ns >>
							  TIMELY_AUTO_HAI_SHIFT, 1),
					       TIMELY_AUTO_HAI_MOST), 255);
	return f->neg_count >= TIMELY_AUTO_HAI_COUNT && rtt_ns < f->base_ns +
		(a->t_high_ns - timely_auto_path_ns(f)) / TIMELY_AUTO_HAI_PART;
}

/* The share by which RTTs became longer, less what is noise, Q30. */
static inline u64 timely_auto_growth(const struct timely_flow *f, const struct timely_auto *a,
				     u64 elapsed_ns)
{
	u64 noise, growth;

	/* 22, 3 and 20 bits; elapsed_ns is at most 10 s. */
	noise = f->dev_ns + TIMELY_AUTO_NOISE *
		(f->dev_ns - min_t(u64, f->dev_ns, a->chance_ns / TIMELY_AUTO_OWN));
	noise = div64_u64(noise << TIMELY_SLOPE_SHIFT, 10 * elapsed_ns);
	growth = (u64)f->slope_q > noise ? (u64)f->slope_q - noise : 0;
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
	u64 cut, elapsed_ns, now_ns = e->now_ns, rtt_ns;
	u32 before_ns = f->mean_ns, rate;
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

	rate = timely_coarse_rate(f);
	in_vain = rtt_ns > a.t_high_ns && timely_auto_in_vain(f, rtt_ns, cap_bps);
	shorter = timely_auto_short(f, &a, rtt_ns, now_ns, cap_bps);
	if (in_vain || shorter) {
		res->branch = TIMELY_BRANCH_PROBE;
		f->base_ns = (u32)rtt_ns;
		f->unseen = 0;
	} else if (rtt_ns < a.t_low_ns) {
		res->branch = hai ? TIMELY_BRANCH_HAI : TIMELY_BRANCH_LOW;
		timely_auto_increase(f, cap_bps, hai, &a,
				     timely_auto_rise_q20(f, &a, rtt_ns, elapsed_ns), res);
	} else if (rtt_ns > a.t_high_ns) {
		res->branch = TIMELY_BRANCH_HIGH;
		cut = div64_u64((rtt_ns - a.t_high_ns) << TIMELY_FRAC_SHIFT, rtt_ns);
		timely_decrease(f, q30_mul(cut, TIMELY_AUTO_BETA), TIMELY_ONE);
	} else if (!timely_auto_grows(f, &a, before_ns, elapsed_ns)) {
		res->branch = TIMELY_BRANCH_INCREASE;
		timely_auto_increase(f, cap_bps, false, &a, 0, res);
	} else {
		res->branch = TIMELY_BRANCH_DECREASE;
		if (f->app_limited)
			res->held = TIMELY_HELD_APP;
		else
			timely_decrease(f, q30_mul(timely_auto_growth(f, &a, elapsed_ns),
						   TIMELY_AUTO_BETA), TIMELY_ONE);
	}
	if (res->branch != TIMELY_BRANCH_HIGH && res->branch != TIMELY_BRANCH_DECREASE) {
		f->doubted = 0;
	} else if (!f->doubted) {
		f->doubted = 1;
		f->before = rate;
	}
	timely_auto_clamp(f, cap_bps);
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

/**
 * timely_auto_opening() - return by how many packets the window may open
 * @res: the decision
 * @segment: packets of a segment
 * @window: packets of the window
 */
static inline u32 timely_auto_opening(const struct timely_result *res, u32 segment,
				      u32 window)
{
	switch (res->branch) {
	case TIMELY_BRANCH_LOW:
	case TIMELY_BRANCH_INCREASE:
	case TIMELY_BRANCH_HAI:
		return max_t(u32, segment, window / 2);
	case TIMELY_BRANCH_START:
		return res->queued ? 0 : segment;
	}
	return 0;
}

#endif /* _TIMELY_AUTO_H */
