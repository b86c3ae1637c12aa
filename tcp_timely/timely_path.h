/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TIMELY, profile auto, layer 1: the path. How long is an RTT without a queue, and how fast is the
 * slowest link?
 *
 *	D	the lowest RTT
 *	W	by how much NICs that wait before they interrupt lengthen an RTT without a queue
 *	L	the payload that the slowest link carries, from R to C
 *
 *	each RTT:			D = min(D, RTT)
 *	each update:			if D is too short, D = mean RTT since the last update
 *	two ACKs of one segment:	r += ((gap / (bytes / C)) / r - 1) / 8, in octaves
 *					L  = C / max(1, r - 1)
 *
 * D. A new flow starts with the RTT of its handshake or, if that has met a queue, with the lowest
 * RTT of other connections to that host, see or_path.h. Lower RTTs shorten D at once. D is too
 * short where a path has become longer, or an RTT was measured too short. Three signs show it:
 *
 *  - Few flows empty their queue every few ms by themselves. So a flow of C / 8 or more in the last
 *    0.1 s sees an RTT within an eighth of D, or within 3/2 q of D + W, in each 33 ms. Of many
 *    flows some would take the others' queue for the path after that time.
 *  - Any flow sees such an RTT in 2.1 s.
 *  - Cuts drain a queue. They are in vain, and D becomes the RTT at once, if the RTT stays as it is
 *    above Thigh for eight updates at least, and these take half of a rate, or the RTT is within an
 *    eighth of D.
 *
 * W. Packets that come close together share an interrupt; one that comes alone waits for its own,
 * at both ends. So the lowest RTT is one of a fast flow, by luck, and RTTs without a queue grow by
 * up to both times as the rate falls. It need not be exact: 1.25 to 2 times the wait of one NIC is
 * as good.
 *
 * L. A host knows the speed of its own link. On a slower link a segment takes longer, S / L in
 * place of S / C, and this is no queue. The packets of a segment leave a slow link that far apart,
 * and so do their ACKs. Others' packets get between them, but in the time S / C in which the
 * segment arrives, no more than S L / C on average: hence r - 1, and L is C where all links are
 * alike. A receiver that acknowledges a whole segment at once tells nothing: L remains as it is, C
 * at first. L is not below R, so no more than the time from one segment to the next is ever taken
 * from an RTT.
 *
 * The paper has none of these. It measures a fixed minRTT in advance, its NICs do not wait, and
 * hosts have the slowest links.
 */
#ifndef _TIMELY_PATH_H
#define _TIMELY_PATH_H

#include "timely_core.h"

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
 * And if cuts are in vain: updates in a row, all above Thigh, whose RTT changes by less than 1/16
 * of the time between them. Each counts its cut in units of which 64 halve a rate, 28 at most as
 * beta is 0.3; but no more than eight. Four such updates occur where many flows start at once.
 */
#define TIMELY_AUTO_FLAT_SHIFT	4
#define TIMELY_AUTO_VAIN	64U
#define TIMELY_AUTO_VAIN_CUT	28U
#define TIMELY_AUTO_VAIN_MOST	8U

/* An RTT of a start that is longer than D by no more than 1/8 of it is no queue. */
#define TIMELY_AUTO_NEAR_SHIFT	3

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

/** timely_auto_floor_bps() - return the lowest rate of a flow for C, bytes/s */
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

/** timely_auto_path_ns() - return D + W, the longest RTT that is no queue, ns */
static inline u64 timely_auto_path_ns(const struct timely_flow *f)
{
	return (u64)f->base_ns + timely_auto_wait_ns(f);
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

/* C, or L if that is below C / 2: in a queue of many flows r is above 2 by chance, too. */
static inline u64 timely_auto_slow_bps(const struct timely_flow *f, u64 cap_bps)
{
	u64 link_bps = timely_auto_link_bps(f, cap_bps);

	return link_bps < cap_bps / 2 ? link_bps : cap_bps;
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

/*
 * Return whether cuts are in vain: those of RTTs above Thigh that stay as they are take half of the
 * rate. A queue would drain. RTTs have 32 bits here: 32, 5 and 10 of them, and 15 times 32.
 */
static inline bool timely_auto_in_vain(struct timely_flow *f, u64 rtt_ns, u64 t_high_ns,
				       u64 elapsed_ns)
{
	u32 slope = f->slope_q < 0 ? -f->slope_q : f->slope_q;
	u64 cut_q10 = div64_u64(TIMELY_AUTO_VAIN_CUT * (rtt_ns - t_high_ns) << 10, rtt_ns);
	u64 cut = div64_u64(cut_q10 * min_t(u64, elapsed_ns, rtt_ns), rtt_ns << 10);

	/* On a long path cuts are small. */
	if (timely_auto_near(f, rtt_ns))
		cut = TIMELY_AUTO_VAIN_MOST;
	if (slope >= 1U << (TIMELY_SLOPE_SHIFT - TIMELY_AUTO_FLAT_SHIFT))
		f->neg_count = 0;
	else
		f->neg_count = (u8)min_t(u64, f->neg_count + min_t(u64, cut, TIMELY_AUTO_VAIN_MOST),
					 TIMELY_AUTO_VAIN);
	return f->neg_count == TIMELY_AUTO_VAIN;
}

/*
 * At the end of a window: return whether D is too short. No RTT came near it, and the flow was fast
 * lately; or none did for many windows.
 */
static inline bool timely_auto_short(struct timely_flow *f, u64 segment_ns, u64 rtt_ns,
				     u64 now_ns, u64 cap_bps)
{
	u8 turn = timely_auto_turn(now_ns);
	bool shorter;

	if (timely_rate_bps(f) >= cap_bps >> TIMELY_AUTO_WIDE_SHIFT)
		f->wide = TIMELY_AUTO_WIDE;
	if (f->app_limited || timely_auto_near(f, rtt_ns) ||
	    2 * rtt_ns <= 2 * timely_auto_path_ns(f) + 3 * segment_ns)
		f->unseen = 0;
	if (turn == f->turn)
		return false;
	f->turn = turn;
	shorter = f->unseen >= (f->wide ? 1 : TIMELY_AUTO_UNSEEN);
	f->unseen += f->unseen < TIMELY_AUTO_UNSEEN;
	f->wide -= !!f->wide;
	return shorter;
}

#endif /* _TIMELY_PATH_H */
