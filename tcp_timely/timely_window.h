/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TIMELY, profile auto, layer 4: window and segments. How much leaves at once, and how much may be
 * outstanding?
 *
 *	segment  = max(min(R 250 us, segment_bytes), min(R D / 16, 64 KB)), and two packets; four if
 *	           L is less than C and sends these in 250 us
 *	window  <= 2 R (Thigh + q) + 2 segments
 *	update that is no cut:	window += max(segment, window / 2)
 *	start, RTT < Tlow:	window += acknowledged bytes
 *
 *	each window of ten segments, or of 32 where its share was sent:
 *		less than a share of what R allowed was sent, three times, or less than half of
 *		that once:	segment_bytes = 64 KB
 *		more was sent:	segment_bytes as configured, if there is a queue
 *
 *  - Segment. Smaller ones of slow flows make a shorter queue where they meet, and more RTTs. On a
 *    long path a segment has the bytes of D / 16: if all flows of a link send one at once, the
 *    queue is D / 16. A flow that sends less than its rate for another reason than its window has
 *    up to 64 KB, too: the host is busy with something, and larger segments are less work.
 *  - Window. It is a safeguard. If it grew by a segment with each update, a flow whose start ends
 *    by chance would take seconds where the RTT is 5 ms.
 *
 * Differences from the paper: its segments have 16 to 64 KB at any rate, and it has no window.
 * Profile paper of this module has one of 2 C Thigh.
 */
#ifndef _TIMELY_WINDOW_H
#define _TIMELY_WINDOW_H

#include "timely_law.h"

/* And up to TIMELY_AUTO_MESSAGE what it sends in 1/16 of D, at most 2^24 ns. */
#define TIMELY_AUTO_PART_SHIFT	4
#define TIMELY_AUTO_PART_MAX	(1ULL << 24)

/*
 * After idleness RTTs do not end the start before so much was sent, bytes. It is also the
 * largest segment of a long path, and of a flow that its rate does not limit.
 */
#define TIMELY_AUTO_MESSAGE	65536U

/*
 * So many windows in which a flow sends less than its share, and none in which it does not, before
 * its segments are larger; one with less than half of the share is enough.
 */
#define TIMELY_AUTO_UNDER	3U

/*
 * A flow whose data waits has its share with that part of what its rate allows, percent; and in a
 * window of so many segments.
 */
#define TIMELY_AUTO_BUSY_PERCENT	92U
#define TIMELY_AUTO_WIN_SEGMENTS	32U

/** timely_auto_most() - return the bytes of the largest segment, from those configured */
static inline u32 timely_auto_most(const struct timely_flow *f, u32 segment_bytes)
{
	if (f->under < TIMELY_AUTO_UNDER)
		return segment_bytes;
	return max_t(u32, segment_bytes, TIMELY_AUTO_MESSAGE);
}

/**
 * timely_auto_least() - return the packets of the smallest segment
 * @f: flow
 * @mss: payload of a full packet, bytes, < 2^16
 * @cap_bps: C, bytes/s
 *
 * Receivers acknowledge two packets at once, so segments of two tell nothing of a slow link. 2^38
 * bytes/s times 2^18 ns.
 */
static inline u32 timely_auto_least(const struct timely_flow *f, u32 mss, u64 cap_bps)
{
	u64 link_bps = timely_auto_slow_bps(f, cap_bps);

	if (link_bps == cap_bps ||
	    div64_u64(link_bps * TIMELY_AUTO_SEGMENT_NS, 1000000000) < TIMELY_AUTO_PACKETS * mss)
		return 2;
	return TIMELY_AUTO_PACKETS;
}

/** timely_auto_segment() - return the bytes of a segment, from those configured */
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
static inline u64 timely_auto_window(const struct timely_flow *f, u32 segment_bytes, u64 cap_bps)
{
	struct timely_auto a;
	u64 us;

	timely_auto_params(f, segment_bytes, cap_bps, &a);
	us = div64_u64(2 * (a.t_high_ns + a.segment_ns), 1000) + 1;
	return div64_u64(timely_rate_bps(f) * us, 1000000) +
	       2 * timely_auto_segment(f, segment_bytes);
}

/**
 * timely_auto_opening() - return by how many packets the window may open
 * @res: the decision
 * @segment: packets of a segment
 * @window: packets of the window
 */
static inline u32 timely_auto_opening(const struct timely_result *res, u32 segment, u32 window)
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

/* Open a window, which finds out what limits the flow. */
static inline void timely_auto_open(struct timely_flow *f)
{
	f->win_ns = 0;
	f->win_sent = 0;
	f->win_allowed = 0;
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
 * A flow that sends less than its rate, though its window is open, is limited by its application
 * or by the CPU. Timers are late on a busy CPU, and a flow whose data waits sends 70 to 90 % of its
 * rate; in a network that limits it, 97 % and more. It takes 32 segments to tell these apart. ACKs
 * are late as well, so that the window is full now and then: that counts neither way, unless not
 * half of the share was sent. With large segments the CPU has time enough: they are over where the
 * flow sends halfway between the share and its rate, and RTTs are above Tlow.
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

#endif /* _TIMELY_WINDOW_H */
