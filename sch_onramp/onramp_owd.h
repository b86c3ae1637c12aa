/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One-way delay without synchronised clocks: pure functions on integers.
 *
 * The receiver's clock minus the sender's is offset + drift * t. So a packet that is sent at t
 * gives the measurement
 *
 *	d(t) = rx - tx = offset + drift * t + delay of the empty path + queue
 *
 * Without the queue, this is a slowly turning line below all samples. This file keeps that
 * line, the baseline, for each path. The threshold T applies to
 *
 *	excess = max(0, d(t) - baseline(t))
 *
 *	time is cut into buckets of 2 ms; of each bucket its lowest sample is kept, a point
 *	after 32 points: keep the lower one of each two neighbours, and double the bucket,
 *	up to 17 ms; 32 points are half a second then
 *	at the end of a bucket:
 *		if 14 of the newest 16 points lie within 1 us of a line of the known
 *		slope above the baseline (a longer route):
 *			baseline = that line; older points are forgotten
 *		else, of the line below all points, with about the slope from the lowest point
 *		of the older half to that of the newer one:
 *			if a third of the points is within 0.13 us of it, or half of
 *			them within 1 us (support):
 *				baseline = that line
 *		else, if no baseline ever had support:
 *			baseline = the lowest the points allow at 100 ppm, no slope
 *		else:
 *			baseline stays: its slope, and its level for up to 10 s
 *	a sample below the baseline lowers it at once; if it is lower by more than 8 us, it
 *	needs two more such samples in the same bucket, or in buckets without other samples
 *	where most buckets have large packets, smaller ones do not count: they take less
 *	time on each link that stores and forwards
 *
 *	a proof, the first packet after all senders have drained the path (onramp_drain.h):
 *		far above the baseline: void, unless both ways have become longer (onramp_path.h)
 *		else it supports the baseline, and
 *		below: baseline = proof; its slope is from the former reference to the proof
 *		above, and so was the last one: slope = the lower of these two
 *
 *	a seed, a line that other hosts know (PATH_SEED), while this path has no support:
 *		baseline = that line, until it expires or the path has support of its own
 *		samples below it lower it, as ever
 *		if it rises by more than 100 ppm, that is no slope of the path afterwards
 *		no line is below rx - now of an OR-ACK: its packet had arrived before it
 *
 * Why support: packets that find the queue empty have the same delay, within the noise of the
 * timestamps, and their points are on one line. Even at 80 % load these are a fifth of all
 * packets. A standing queue, such as On-Ramp itself keeps near T, has minima that wander, and
 * gives no evidence for a line. Timestamps of NICs are good to tens of ns, so few points that
 * close are a coincidence; with timestamps of software it takes more points. A new line also needs
 * points over 34 ms (within 0.13 us) to 0.27 s (1 us): its slope is then known to 4 ppm.
 *
 * Limits:
 *  - A path that is congested from its first packet on: until the first proof or seed the lowest
 *    delay seen counts as that of the empty path. The excess is too low, never too high, by the
 *    shortest queue so far. There are no proofs where the receiver has senders drain nothing, or
 *    where packets to other receivers fill the queue.
 *  - A queue that stands still, to 1 us, for 14 of 16 buckets, as a full buffer
 *    does under an overload that no sender reacts to, is taken for a longer
 *    path. A queue that moves but never drains is told apart from the path for 10 s after the last
 *    support; after that the lowest samples become the baseline. The next proof ends both.
 *  - A longer route counts as queue until 14 buckets have shown it (0.3 s), a step
 *    of a clock likewise. Both stay within max_pause. The domain of a receiver's
 *    clock is in every OR-ACK: if it changes, the caller starts over.
 *  - Where the sender's link is faster than a later one its own batch queues there, and
 *    OR-ACKs are mostly of the 32nd packet since the last one. The shortest wait of such a
 *    packet for others of its batch counts as delay of the path: from 40 to 10 Gbit/s, 10 us
 *    of the 28 us that it is on average.
 *  - The excess of a small packet is too low, by the time that the missing bytes would take on
 *    each link that stores and forwards but the first. Where large packets are rare, their
 *    excess is too high by as much.
 *  - While the baseline has no support its error grows; see onramp_owd_error().
 *
 * The idea of a line below all samples is that of Moon, Skelly and Towsley,
 * "Estimation and Removal of Clock Skew from Network Delay Measurements", INFOCOM
 * 1999.
 */
#ifndef _ONRAMP_OWD_H
#define _ONRAMP_OWD_H

#include "onramp_core.h"
#include "uapi/onramp_genl.h"

/*
 * Length of a bucket, ns: from 2^21, 2.1 ms, so that 32 of them know a path within
 * 67 ms, to 2^24, 16.8 ms.
 */
#define ONRAMP_OWD_SHIFT_MIN	21
#define ONRAMP_OWD_SHIFT_MAX	24
#define ONRAMP_OWD_BUCKET_NS	(1ULL << ONRAMP_OWD_SHIFT_MAX)

/* Points that are kept, a power of two, and for how long: 537 ms < 2^30 ns. */
#define ONRAMP_OWD_POINTS	32U
#define ONRAMP_OWD_WINDOW_NS	(ONRAMP_OWD_POINTS * ONRAMP_OWD_BUCKET_NS)

/* Points that show a new route alone, all but two of them: 268 ms. */
#define ONRAMP_OWD_RECENT	16U

/* Samples, and time, before an excess is reported without support: 67 ms. */
#define ONRAMP_OWD_MIN_SAMPLES	16U
#define ONRAMP_OWD_MIN_NS	(4 * ONRAMP_OWD_BUCKET_NS)

/*
 * A point this close to a line supports it, ns: 128 << level. Timestamps of NICs have noise of
 * tens of ns, those of software of a microsecond. The closer the points, the fewer are needed.
 * To confirm the baseline: of n points n / 3 at the first level to n / 2 at the last, and at
 * least 8 plus the level. For a new line: n / 2 to 5n / 6, of at least 16 points.
 */
#define ONRAMP_OWD_LEVELS	4U
#define ONRAMP_OWD_NEAR_NS	128
#define ONRAMP_OWD_TOLERANCE_NS	(ONRAMP_OWD_NEAR_NS << (ONRAMP_OWD_LEVELS - 1))
#define ONRAMP_OWD_SUPPORT	8U

/*
 * A new line has points over this time at the first level, ns, twice as long at each next level:
 * 128 ns in that time are 4 ppm. In a shorter time the points of a queue that wanders may lie on
 * a line, whose slope is not that of the clocks.
 */
#define ONRAMP_OWD_NEW_NS	(2 * ONRAMP_OWD_BUCKET_NS)

/*
 * Number of buckets with large packets, less 3 for each without, 0 to 48: it rises if more
 * than three of four have one. From 12 on smaller packets do not count, until it is 0.
 */
#define ONRAMP_OWD_LARGE_MAX	48
#define ONRAMP_OWD_LARGE_ON	12
#define ONRAMP_OWD_LARGE_LESS	3

/* A line confirms the baseline if its slope is that within this, Q32: 5 ppm. */
#define ONRAMP_OWD_SLOPE_NEAR	21475

/* A sample this far below the baseline counts after ONRAMP_OWD_CONFIRM such samples. */
#define ONRAMP_OWD_DROP_NS	8000
#define ONRAMP_OWD_CONFIRM	3

/* How long a baseline without support is kept, ns: 10 s. */
#define ONRAMP_OWD_HOLD_NS	10000000000ULL

/*
 * Slope: ns per ns in signed Q32, resolution 2.3e-10. Two clocks of +-100 ppm drift apart by
 * 200 ppm at most, twice as fast as Ethernet allows: 858993 < 2^20. Times evaluated are within
 * 2^35 ns (34 s) of the reference: products < 2^55.
 */
#define ONRAMP_OWD_SLOPE_SHIFT	32
#define ONRAMP_OWD_SLOPE_MAX	858993
#define ONRAMP_OWD_SPAN_NS	(1LL << 35)

/* How far the drift may wander without support: 3 ppm, ns of error per 2^30 ns. */
#define ONRAMP_OWD_WANDER_NS	3000ULL

/*
 * Proofs this far apart give a slope, ns: 0.27 s. A proof is near the baseline within
 * ONRAMP_OWD_DROP_NS, and 2^-13 of the time since the baseline's reference: 122 ppm. If the slope
 * is known, it is near within three times the former, and 8 ppm since the last support.
 */
#define ONRAMP_OWD_PROOFS_NS	(16 * ONRAMP_OWD_BUCKET_NS)
#define ONRAMP_OWD_PROOF_SHIFT	13
#define ONRAMP_OWD_KNOWN_SHIFT	17

/* A proof counts for this time, ns: 2.1 s. Receivers have senders drain a path once a second. */
#define ONRAMP_OWD_PROVEN_NS	(1ULL << 31)

/**
 * struct onramp_owd_point - a lowest sample
 * @t_ns: when its packet was sent, sender's clock
 * @d_ns: rx - tx
 */
struct onramp_owd_point {
	u64	t_ns;
	s64	d_ns;
};

/**
 * struct onramp_owd - the baseline of a path
 * @ref:	a point of the baseline
 * @slope:	of the baseline, Q32, within +-ONRAMP_OWD_SLOPE_MAX
 * @samples:	counted up to ONRAMP_OWD_MIN_SAMPLES
 * @count:	points in @point, from @head backwards
 * @head:	where the next point goes
 * @low_count:	samples far below the baseline, in the open bucket and in buckets before it
 *		without other samples
 * @shift:	length of a bucket is 2^shift ns
 * @open:	the open bucket has a sample, @min
 * @supported:	the baseline has had support
 * @full:	the open bucket has a large packet
 * @sizes:	smaller packets do not count
 * @large:	buckets with large packets less those without, see above
 * @payload:	of large packets
 * @first_ns:	time of the first sample
 * @support_ns:	when it had support last
 * @proof_ns:	when the last proof left; @support_ns is the same while traffic has given no
 *		support since; 0: there was none
 * @seed_ns:	when the seed was taken that is the baseline; 0: there is none
 * @seed_until_ns: when it expires
 * @seed_error_ns: by which it may be too low
 * @least:	no baseline is below that: rx - now of an OR-ACK that arrived then
 * @rise:	slope of the last proof, if that was above the baseline, else 0
 * @sloped:	proofs have given a slope
 * @bucket:	number of the open bucket: time >> @shift
 * @low:	the highest of the samples that @low_count counts
 * @min:	lowest sample of the open bucket
 * @point:	ring of the last buckets' lowest samples
 *
 * The caller serialises all access. 664 bytes, one for each path, not each flow.
 */
struct onramp_owd {
	struct onramp_owd_point ref;
	s32	slope;
	u8	samples;
	u8	count;
	u8	head;
	u8	low_count;
	u8	shift;
	bool	open;
	bool	supported;
	bool	full;
	bool	sizes;
	bool	sloped;
	u8	large;
	u32	payload;
	u64	first_ns;
	u64	support_ns;
	u64	proof_ns;
	u64	seed_ns;
	u64	seed_until_ns;
	u64	seed_error_ns;
	struct onramp_owd_point least;
	s32	rise;
	u64	bucket;
	struct onramp_owd_point low;
	struct onramp_owd_point min;
	struct onramp_owd_point point[ONRAMP_OWD_POINTS];
};

/* onramp_owd_init() - begin a path whose delays are unknown */
static inline void onramp_owd_init(struct onramp_owd *o)
{
	*o = (struct onramp_owd) { .shift = ONRAMP_OWD_SHIFT_MIN };
}

/* Line through @ref with @slope at @t_ns; farther away than 34 s it is flat. */
static inline s64 onramp_owd_line(const struct onramp_owd_point *ref, s32 slope,
				  u64 t_ns)
{
	s64 span = (s64)(t_ns - ref->t_ns);

	span = clamp_t(s64, span, -ONRAMP_OWD_SPAN_NS, ONRAMP_OWD_SPAN_NS);
	return ref->d_ns + ((span * slope) >> ONRAMP_OWD_SLOPE_SHIFT);
}

/* onramp_owd_baseline() - return d of an empty path, for a packet sent at @t_ns */
static inline s64 onramp_owd_baseline(const struct onramp_owd *o, u64 t_ns)
{
	return onramp_owd_line(&o->ref, o->slope, t_ns);
}

/* The @i-th oldest point. */
static inline const struct onramp_owd_point *
onramp_owd_point(const struct onramp_owd *o, u32 i)
{
	return &o->point[(o->head - o->count + i) % ONRAMP_OWD_POINTS];
}

/*
 * Slope from @a to @b, Q32. Points are less than 2^35 ns apart and after the first comparison d
 * differs by less than 2^23: below 2^55, divided once. The divisor has 31 bits.
 */
static inline s32 onramp_owd_slope(const struct onramp_owd_point *a,
				   const struct onramp_owd_point *b)
{
	s64 d = b->d_ns - a->d_ns, t = (s64)(b->t_ns - a->t_ns);
	s64 most = (t * ONRAMP_OWD_SLOPE_MAX) >> ONRAMP_OWD_SLOPE_SHIFT;

	if (d >= most)
		return ONRAMP_OWD_SLOPE_MAX;
	if (d <= -most)
		return -ONRAMP_OWD_SLOPE_MAX;
	if (t >> 31)
		return (s32)div_s64(d * (1LL << (ONRAMP_OWD_SLOPE_SHIFT - 5)), (s32)(t >> 5));
	return (s32)div_s64(d * (1LL << ONRAMP_OWD_SLOPE_SHIFT), (s32)t);
}

/* How many points from the @i-th oldest on lie within @near_ns of a line? */
static inline u32 onramp_owd_support(const struct onramp_owd *o, u32 i,
				     const struct onramp_owd_point *ref, s32 slope,
				     s64 near_ns)
{
	const struct onramp_owd_point *p;
	u32 support = 0;
	s64 above;

	for (; i < o->count; i++) {
		p = onramp_owd_point(o, i);
		above = p->d_ns - onramp_owd_line(ref, slope, p->t_ns);
		support += above <= near_ns && above >= -near_ns;
	}
	return support;
}

/* The ring is full of short buckets: of each two keep the lower point. */
static inline void onramp_owd_merge(struct onramp_owd *o)
{
	struct onramp_owd_point *a, *b;
	u32 i;

	/* There are as many points as places, so that the oldest one is at @head. */
	for (i = 0; i < ONRAMP_OWD_POINTS; i += 2) {
		a = &o->point[(o->head + i) % ONRAMP_OWD_POINTS];
		b = &o->point[(o->head + i + 1) % ONRAMP_OWD_POINTS];
		if (b->d_ns < onramp_owd_line(a, o->slope, b->t_ns))
			a = b;
		o->point[(o->head + i / 2) % ONRAMP_OWD_POINTS] = *a;
	}
	o->count = ONRAMP_OWD_POINTS / 2;
	o->head = (o->head + o->count) % ONRAMP_OWD_POINTS;
	o->shift++;
}

/* Put the lowest sample of the open bucket into the ring, forget old points. */
static inline void onramp_owd_keep(struct onramp_owd *o)
{
	const struct onramp_owd_point *oldest;

	if (o->count == ONRAMP_OWD_POINTS && o->shift < ONRAMP_OWD_SHIFT_MAX)
		onramp_owd_merge(o);
	o->point[o->head] = o->min;
	o->head = (o->head + 1) % ONRAMP_OWD_POINTS;
	o->count = min_t(u8, o->count + 1, ONRAMP_OWD_POINTS);
	for (; o->count > 1; o->count--) {
		oldest = onramp_owd_point(o, 0);
		if (o->min.t_ns - oldest->t_ns < ONRAMP_OWD_WINDOW_NS)
			break;
	}
}

/* The lowest of the points from the @i-th oldest to before the @end-th, lines with @slope level. */
static inline const struct onramp_owd_point *
onramp_owd_lowest(const struct onramp_owd *o, u32 i, u32 end, s32 slope)
{
	const struct onramp_owd_point *p, *low = onramp_owd_point(o, i);

	for (i++; i < end; i++) {
		p = onramp_owd_point(o, i);
		if (p->d_ns < onramp_owd_line(low, slope, p->t_ns))
			low = p;
	}
	return low;
}

/*
 * No slope yet. Each point limits the baseline at @t_ns, at the drift of two ordinary clocks.
 * So does the last guess, for points that are forgotten, but at the drift of any two clocks, or
 * a change would never show. A baseline that is too high is better than one that is too low:
 * the excess is then too small, and pauses nobody.
 */
static inline void onramp_owd_guess(struct onramp_owd *o, u64 t_ns)
{
	s32 rise = ONRAMP_OWD_SLOPE_MAX / 2;
	s64 d_ns = onramp_owd_line(&o->ref, ONRAMP_OWD_SLOPE_MAX, t_ns);
	u32 i;

	for (i = 0; i < o->count; i++)
		d_ns = min_t(s64, d_ns, onramp_owd_line(onramp_owd_point(o, i),
							rise, t_ns));
	o->ref = (struct onramp_owd_point) { .t_ns = t_ns, .d_ns = d_ns };
}

/*
 * A better slope for a line: least squares over the points within @near_ns of it. The line may
 * come from two points as close as a bucket, and timestamps have noise.
 *
 * Times are in units of 1024 ns around the mean, < 2^20, residuals <= 2^10: sums of 32
 * products are below 2^45 and 2^35, the latter in Q32 and ns below 2^57.
 */
static inline s32 onramp_owd_refine(const struct onramp_owd *o,
				    const struct onramp_owd_point *ref, s32 slope,
				    s64 near_ns)
{
	s64 t[ONRAMP_OWD_POINTS], r[ONRAMP_OWD_POINTS], mean = 0, tr = 0, tt = 0;
	const struct onramp_owd_point *p;
	u32 i, k = 0;

	for (i = 0; i < o->count; i++) {
		p = onramp_owd_point(o, i);
		r[k] = p->d_ns - onramp_owd_line(ref, slope, p->t_ns);
		if (r[k] > near_ns || r[k] < -near_ns)
			continue;
		t[k] = (s64)(p->t_ns - ref->t_ns) >> 10;
		mean += t[k++];
	}
	if (k < 2)
		return slope;
	mean = div_s64(mean, (s32)k);
	for (i = 0; i < k; i++) {
		tr += (t[i] - mean) * r[i];
		tt += (t[i] - mean) * (t[i] - mean);
	}
	/* Both lose 16 bits, so that the divisor has at most 31. */
	tr *= 1LL << (ONRAMP_OWD_SLOPE_SHIFT - 10 - 16);
	slope += (s32)clamp_t(s64, div_s64(tr, (s32)max_t(s64, tt >> 16, 1)),
			      -ONRAMP_OWD_SLOPE_MAX, ONRAMP_OWD_SLOPE_MAX);
	return clamp_t(s32, slope, -ONRAMP_OWD_SLOPE_MAX, ONRAMP_OWD_SLOPE_MAX);
}

/*
 * Does a line confirm the baseline? Its slope has to be the same within 5 ppm, its level within
 * the tolerance. Both limits grow with the time since the baseline last had support.
 */
static inline bool onramp_owd_confirms(const struct onramp_owd *o,
				       const struct onramp_owd_point *ref, s32 slope)
{
	s64 other_slope = slope - o->slope;
	s64 other = ref->d_ns - onramp_owd_baseline(o, ref->t_ns);
	s64 known_slope, known, age;

	if (!o->supported)
		return false;
	/* Units of 1.07 s. */
	age = min_t(u64, onramp_since_ns(o->min.t_ns, o->support_ns), ONRAMP_OWD_HOLD_NS);
	known_slope = ONRAMP_OWD_SLOPE_NEAR +
		      (age >> 30) * ((ONRAMP_OWD_WANDER_NS << ONRAMP_OWD_SLOPE_SHIFT) >> 30);
	known = ONRAMP_OWD_TOLERANCE_NS + (age * (s64)ONRAMP_OWD_WANDER_NS >> 30);
	return other_slope <= known_slope && other_slope >= -known_slope &&
	       other <= known && other >= -known;
}

/* Points that have to be near a line for it to be the baseline. */
static inline u32 onramp_owd_enough(const struct onramp_owd *o, u32 level,
				    const struct onramp_owd_point *ref, s32 slope)
{
	u64 span_ns = o->min.t_ns - onramp_owd_point(o, 0)->t_ns;
	u32 n = o->count;

	if (onramp_owd_confirms(o, ref, slope))
		return max_t(u32, ONRAMP_OWD_SUPPORT + level, n * (6 + level) / 18);
	if (n < ONRAMP_OWD_RECENT || span_ns < ONRAMP_OWD_NEW_NS << level)
		return ONRAMP_OWD_POINTS + 1;
	return n * (9 + 2 * level) / 18;
}

/*
 * Find the line below all points: from the lowest one of the older half to that of the newer one,
 * with the slope of those near it, then of those nearer. It is the baseline if enough points are
 * near.
 */
static inline bool onramp_owd_fit(struct onramp_owd *o)
{
	u32 n = o->count, half = n / 2, level = ONRAMP_OWD_LEVELS;
	const struct onramp_owd_point *ref, *best = NULL;
	s32 slope = o->slope, best_slope = 0;
	s64 near_ns;

	if (n < ONRAMP_OWD_SUPPORT)
		return false;
	slope = onramp_owd_slope(onramp_owd_lowest(o, 0, half, slope),
				 onramp_owd_lowest(o, half, n, slope));
	ref = onramp_owd_lowest(o, 0, n, slope);
	while (level--) {
		near_ns = ONRAMP_OWD_NEAR_NS << level;
		slope = onramp_owd_refine(o, ref, slope, near_ns);
		ref = onramp_owd_lowest(o, 0, n, slope);
		if (onramp_owd_support(o, 0, ref, slope, near_ns) <
		    onramp_owd_enough(o, level, ref, slope))
			continue;
		best = ref;
		best_slope = slope;
	}
	if (!best)
		return false;
	o->ref = *best;
	o->slope = best_slope;
	return true;
}

/*
 * If the newest points lie on a line of the known slope above the baseline, the route has
 * changed: the drift of the clocks is the same on all routes.
 */
static inline bool onramp_owd_reroute(struct onramp_owd *o)
{
	u32 old = o->count - ONRAMP_OWD_RECENT;
	const struct onramp_owd_point *ref;
	s64 rise;

	if (!o->supported || o->count <= ONRAMP_OWD_RECENT ||
	    o->shift < ONRAMP_OWD_SHIFT_MAX)
		return false;
	ref = onramp_owd_lowest(o, old, o->count, o->slope);
	rise = ref->d_ns - onramp_owd_baseline(o, ref->t_ns);
	if (rise <= ONRAMP_OWD_TOLERANCE_NS ||
	    onramp_owd_support(o, old, ref, o->slope,
			       ONRAMP_OWD_TOLERANCE_NS) < ONRAMP_OWD_RECENT - 2)
		return false;
	o->ref = *ref;
	o->count = ONRAMP_OWD_RECENT;
	return true;
}

/* onramp_owd_seeded() - return whether the baseline is a seed */
static inline bool onramp_owd_seeded(const struct onramp_owd *o)
{
	return o->seed_ns;
}

/* A seed has ended. One that is only a bound rises as no two ordinary clocks do. */
static inline void onramp_owd_unseed(struct onramp_owd *o)
{
	if (o->seed_ns && (!o->supported || o->slope > ONRAMP_OWD_SLOPE_MAX / 2))
		o->slope = 0;
	o->seed_ns = 0;
}

/* A bucket has ended: find the baseline again. */
static inline void onramp_owd_close(struct onramp_owd *o, u64 t_ns)
{
	if (onramp_owd_reroute(o) || onramp_owd_fit(o)) {
		/* The evidence is as old as the bucket, not as the sample that ended it. */
		o->supported = true;
		o->support_ns = o->min.t_ns;
		o->seed_ns = 0;
		return;
	}
	if (onramp_owd_seeded(o)) {
		if (t_ns < o->seed_until_ns)
			return;
		onramp_owd_unseed(o);
		o->ref = *onramp_owd_lowest(o, 0, o->count, o->slope);
	}
	if (!o->supported)
		onramp_owd_guess(o, t_ns);
	else if (t_ns - o->support_ns >= ONRAMP_OWD_HOLD_NS)
		o->ref = *onramp_owd_lowest(o, 0, o->count, o->slope);
}

/* Is enough known for a report at @t_ns? */
static inline bool onramp_owd_ready(const struct onramp_owd *o, u64 t_ns)
{
	return o->samples >= ONRAMP_OWD_MIN_SAMPLES &&
	       (o->supported || onramp_owd_seeded(o) || (o->count && (s64)(t_ns - o->first_ns) >=
					   (s64)ONRAMP_OWD_MIN_NS));
}

/* Is a packet smaller than those that are large? */
static inline bool onramp_owd_small(const struct onramp_owd *o, u32 payload)
{
	return payload + payload / 32 < o->payload;
}

/*
 * Does a sample count for the baseline? On each link that stores and forwards, a packet with more
 * bytes takes longer. So only large packets count, if there are enough of them.
 */
static inline bool onramp_owd_counts(struct onramp_owd *o, u32 payload)
{
	if (onramp_owd_small(o, payload))
		return !o->sizes;
	if (payload > o->payload + o->payload / 32) {
		o->large = 0;
		o->sizes = false;
	}
	o->payload = max_t(u32, o->payload, payload);
	o->full = true;
	return true;
}

/* A bucket has ended: are there enough of large packets? */
static inline void onramp_owd_sizes(struct onramp_owd *o)
{
	if (o->full)
		o->large += o->large < ONRAMP_OWD_LARGE_MAX;
	else
		o->large -= min_t(u8, o->large, ONRAMP_OWD_LARGE_LESS);
	o->full = false;
	if (!o->sizes && o->large >= ONRAMP_OWD_LARGE_ON) {
		/* Points of smaller packets are no evidence for larger ones. */
		o->sizes = true;
		o->count = 0;
		o->open = false;
	} else if (!o->large) {
		o->sizes = false;
	}
}

/* The sample is below the baseline: is it believed? */
static inline bool onramp_owd_lower(struct onramp_owd *o,
				    const struct onramp_owd_point *p)
{
	s64 base = onramp_owd_baseline(o, p->t_ns);

	if (base - p->d_ns <= ONRAMP_OWD_DROP_NS) {
		o->ref = *p;
		return true;
	}
	if (!o->low_count || p->d_ns > o->low.d_ns)
		o->low = *p;
	if (++o->low_count < ONRAMP_OWD_CONFIRM)
		return false;
	o->low_count = 0;
	o->ref = o->low;
	return true;
}

/* A sample begins a later bucket. */
static inline void onramp_owd_advance(struct onramp_owd *o, u64 t_ns)
{
	if (o->open) {
		onramp_owd_keep(o);
		onramp_owd_close(o, t_ns);
		o->low_count = 0;
	}
	onramp_owd_sizes(o);
	/* Buckets may be longer now. */
	o->bucket = t_ns >> o->shift;
	o->open = false;
}

/**
 * onramp_owd_sample() - process one OR-ACK of any flow of the path
 * @o: path
 * @t_ns: when the packet was sent, sender's clock
 * @d_ns: rx - tx, less the wait for its own batch; any offset
 * @payload: of the packet, bytes; 1 to 65535
 * @excess_ns: delay above the baseline, ns, >= 0
 *
 * Return: false while too little is known; @excess_ns is 0 then.
 */
static inline bool onramp_owd_sample(struct onramp_owd *o, u64 t_ns, s64 d_ns,
				     u32 payload, s64 *excess_ns)
{
	struct onramp_owd_point p = { .t_ns = t_ns, .d_ns = d_ns };
	bool counts;

	*excess_ns = 0;
	if (!o->samples || (t_ns > o->ref.t_ns &&
			    t_ns - o->ref.t_ns > (u64)ONRAMP_OWD_SPAN_NS)) {
		onramp_owd_init(o);
		o->ref = p;
		o->first_ns = t_ns;
		o->bucket = t_ns >> o->shift;
	}
	counts = onramp_owd_counts(o, payload);
	if (t_ns >> o->shift > o->bucket)
		onramp_owd_advance(o, t_ns);
	if (counts && o->samples < ONRAMP_OWD_MIN_SAMPLES)
		o->samples++;

	if (counts && d_ns < onramp_owd_baseline(o, t_ns) && !onramp_owd_lower(o, &p))
		return onramp_owd_ready(o, t_ns);
	/* A sample of an earlier bucket comes too late to be a minimum. */
	if (counts && t_ns >> o->shift == o->bucket &&
	    (!o->open || d_ns - onramp_owd_line(&o->min, o->slope, t_ns) < 0)) {
		o->min = p;
		o->open = true;
	}
	if (!onramp_owd_ready(o, t_ns))
		return false;
	*excess_ns = max_t(s64, d_ns - onramp_owd_baseline(o, t_ns), 0);
	return true;
}

/* onramp_owd_proven() - return whether a drain has proved the baseline lately */
static inline bool onramp_owd_proven(const struct onramp_owd *o, u64 t_ns)
{
	return o->proof_ns && onramp_since_ns(t_ns, o->proof_ns) < ONRAMP_OWD_PROVEN_NS;
}

/* Has traffic supported the baseline since the last proof, or was there none? */
static inline bool onramp_owd_proof_first(const struct onramp_owd *o)
{
	return !o->proof_ns || o->support_ns != o->proof_ns;
}

/* How far may a proof be from the baseline? */
static inline s64 onramp_owd_proof_near(const struct onramp_owd *o, u64 t_ns)
{
	if (!o->supported)
		return ONRAMP_OWD_DROP_NS;
	if (o->sloped || onramp_owd_proof_first(o))
		return 3 * ONRAMP_OWD_DROP_NS +
		       (s64)(onramp_since_ns(t_ns, o->support_ns) >> ONRAMP_OWD_KNOWN_SHIFT);
	return ONRAMP_OWD_DROP_NS +
	       (s64)(onramp_since_ns(t_ns, o->ref.t_ns) >> ONRAMP_OWD_PROOF_SHIFT);
}

/* A proof below the baseline, which it is the new reference of. */
static inline void onramp_owd_proof_below(struct onramp_owd *o, const struct onramp_owd_point *p,
					  bool near)
{
	o->rise = 0;
	if (onramp_owd_proof_first(o)) {
		o->sloped = false;
	} else if (!near) {
		/* Those before have met a queue. */
		o->sloped = false;
		o->slope = 0;
	} else if (onramp_since_ns(p->t_ns, o->ref.t_ns) >= ONRAMP_OWD_PROOFS_NS) {
		o->sloped = true;
		o->slope = onramp_owd_slope(&o->ref, p);
	}
	o->ref = *p;
}

/*
 * A proof above the baseline, and near. If it has met no queue, the clocks drift: by as much as two
 * proofs in a row say.
 */
static inline void onramp_owd_proof_above(struct onramp_owd *o, const struct onramp_owd_point *p)
{
	u64 quarter_ns = ONRAMP_OWD_SPAN_NS / 4;
	s32 rise;

	if (onramp_owd_proof_first(o) ||
	    onramp_since_ns(p->t_ns, o->ref.t_ns) < ONRAMP_OWD_PROOFS_NS)
		return;
	rise = onramp_owd_slope(&o->ref, p);
	if (o->rise) {
		o->sloped = true;
		o->slope = min_t(s32, rise, o->rise);
	}
	o->rise = rise;
	/* Later spans would be too long; and drift changes with the temperature. */
	if (onramp_since_ns(p->t_ns, o->ref.t_ns) < 2 * quarter_ns)
		return;
	o->ref = (struct onramp_owd_point) {
		.t_ns = p->t_ns - quarter_ns,
		.d_ns = onramp_owd_baseline(o, p->t_ns - quarter_ns),
	};
}

/**
 * onramp_owd_proof() - process a packet that left after a drain of the path, see onramp_drain.h
 * @o: path
 * @t_ns: when it left, sender's clock
 * @d_ns: rx - tx; see onramp_owd_sample(), which is to be called after this
 * @payload: of the packet, bytes
 *
 * A packet far above the baseline has met a queue, of packets to other receivers or of senders that
 * take no part, or the path is longer, see onramp_path_longer(): nothing changes. One below lowers
 * the baseline at once. No proof raises it but by a slope. A smaller packet takes less time, so it
 * counts only if it is lower by ONRAMP_OWD_DROP_NS, and less that.
 *
 * Return: whether it supports the baseline.
 */
static inline bool onramp_owd_proof(struct onramp_owd *o, u64 t_ns, s64 d_ns, u32 payload)
{
	bool small = o->sizes && onramp_owd_small(o, payload);
	struct onramp_owd_point p = {
		.t_ns = t_ns, .d_ns = d_ns + (small ? ONRAMP_OWD_DROP_NS : 0),
	};
	s64 above_ns, near_ns;

	if (!o->samples || onramp_since_ns(t_ns, o->ref.t_ns) > (u64)ONRAMP_OWD_SPAN_NS)
		return false;
	near_ns = small ? 0 : onramp_owd_proof_near(o, t_ns);
	above_ns = p.d_ns - onramp_owd_baseline(o, t_ns);
	if (above_ns > near_ns)
		return false;
	onramp_owd_unseed(o);
	if (above_ns < 0)
		onramp_owd_proof_below(o, &p, above_ns >= -near_ns);
	else
		onramp_owd_proof_above(o, &p);
	o->low_count = 0;
	o->supported = true;
	o->support_ns = t_ns;
	o->proof_ns = t_ns;
	return true;
}

/* onramp_owd_least() - return what no baseline is below at @t_ns, at any drift of the clocks */
static inline s64 onramp_owd_least(const struct onramp_owd *o, u64 t_ns)
{
	return onramp_owd_line(&o->least, -ONRAMP_OWD_SLOPE_MAX, t_ns);
}

/**
 * onramp_owd_acked() - take when an OR-ACK arrived
 * @o: path, with its sample
 * @now_ns: current time
 * @took_ns: since the packet was sent
 * @d_ns: rx - tx
 *
 * The packet had arrived by then, so its delay was at most @took_ns. A sample that is below what
 * an OR-ACK has shown before is of a clock that was set.
 */
static inline void onramp_owd_acked(struct onramp_owd *o, u64 now_ns, u64 took_ns, s64 d_ns)
{
	struct onramp_owd_point p = { .t_ns = now_ns, .d_ns = d_ns - (s64)took_ns };
	s64 least_ns = onramp_owd_least(o, now_ns);

	if (!o->least.t_ns || now_ns - o->least.t_ns > (u64)ONRAMP_OWD_SPAN_NS ||
	    p.d_ns >= least_ns || d_ns < least_ns)
		o->least = p;
}

/* Has the path no support of its own that counts? */
static inline bool onramp_owd_unsure(const struct onramp_owd *o, u64 t_ns)
{
	return !o->supported || onramp_since_ns(t_ns, o->support_ns) > ONRAMP_OWD_HOLD_NS;
}

/* Has the path had a point below a line lately? */
static inline bool onramp_owd_above(const struct onramp_owd *o, const struct onramp_owd_point *at,
				    s32 slope)
{
	const struct onramp_owd_point *p = onramp_owd_lowest(o, 0, o->count, slope);

	return o->count &&
	       onramp_owd_line(at, slope, p->t_ns) - p->d_ns > ONRAMP_OWD_TOLERANCE_NS;
}

/**
 * onramp_owd_seed() - take a baseline that others know
 * @o: path, with a sample
 * @now_ns: current time
 * @at: a point of the line, within ONRAMP_OWD_SPAN_NS of @now_ns
 * @slope: of the line, Q32
 * @error_ns: by which the line may be too low
 * @left_ns: for which it counts, at most ONRAMP_OWD_HOLD_NS
 *
 * It has to be below the baseline of the path, as no delay is shorter than that of the empty path.
 * It may not be below onramp_owd_least() by more than its error: that bounds any lie by the round
 * trip without the queue.
 *
 * Return: false if the path knows better; nothing changes.
 */
static inline bool onramp_owd_seed(struct onramp_owd *o, u64 now_ns,
				   const struct onramp_owd_point *at, s32 slope, u64 error_ns,
				   u64 left_ns)
{
	s64 d_ns = onramp_owd_line(at, slope, now_ns);

	if (!o->samples || !onramp_owd_unsure(o, now_ns) ||
	    (onramp_owd_seeded(o) ? onramp_owd_above(o, at, slope) :
				    d_ns >= onramp_owd_baseline(o, now_ns)) ||
	    d_ns + (s64)error_ns < onramp_owd_least(o, now_ns))
		return false;
	o->ref = (struct onramp_owd_point) { .t_ns = now_ns, .d_ns = d_ns };
	o->slope = slope;
	o->low_count = 0;
	o->seed_ns = now_ns;
	o->seed_until_ns = now_ns + left_ns;
	o->seed_error_ns = error_ns;
	return true;
}

/**
 * onramp_owd_raise() - the route is longer: raise the baseline
 * @o: path
 * @by_ns: by this
 *
 * Points of before are forgotten.
 */
static inline void onramp_owd_raise(struct onramp_owd *o, u64 by_ns)
{
	o->ref.d_ns += (s64)by_ns;
	o->count = 0;
	o->proof_ns = 0;
}

/**
 * onramp_owd_error() - return by how much an excess may be too high, ns
 * @o: path
 * @t_ns: time of sending
 *
 * In relative mode T grows by this. A seed has its own, and wanders from when it came. Before
 * there is support it is the tolerance and 200 ppm of two buckets, then the tolerance and the
 * possible wander of the drift since the last support. The shift gives time in units of 1.07 s, at
 * most 2^34: no overflow.
 */
static inline u64 onramp_owd_error(const struct onramp_owd *o, u64 t_ns)
{
	u64 age_ns;

	if (onramp_owd_seeded(o))
		return ONRAMP_OWD_TOLERANCE_NS + o->seed_error_ns +
		       (min_t(u64, onramp_since_ns(t_ns, o->seed_ns), ONRAMP_OWD_HOLD_NS) *
			ONRAMP_OWD_WANDER_NS >> 30);
	if (!o->supported)
		return ONRAMP_OWD_TOLERANCE_NS +
		       ((2 * ONRAMP_OWD_BUCKET_NS * ONRAMP_OWD_SLOPE_MAX) >>
			ONRAMP_OWD_SLOPE_SHIFT);
	age_ns = t_ns > o->support_ns ? t_ns - o->support_ns : 0;
	return ONRAMP_OWD_TOLERANCE_NS +
	       (min_t(u64, age_ns, ONRAMP_OWD_HOLD_NS) * ONRAMP_OWD_WANDER_NS >> 30);
}

/**
 * onramp_owd_state() - return what is known of the delay of the empty path
 * @o: path, with a sample
 * @t_ns: time of sending
 * @before: the state before: support that was lost is back when there is new one, not when
 *	    a packet that left earlier is acknowledged
 *
 * Return: enum onramp_baseline_state, not ONRAMP_BASELINE_UNKNOWN.
 */
static inline u8 onramp_owd_state(const struct onramp_owd *o, u64 t_ns, u8 before)
{
	u64 hold_ns = before == ONRAMP_BASELINE_LOST ? ONRAMP_OWD_HOLD_NS / 2 :
						       ONRAMP_OWD_HOLD_NS;

	if (!onramp_owd_ready(o, t_ns))
		return ONRAMP_BASELINE_LEARNING;
	if (onramp_owd_seeded(o))
		return ONRAMP_BASELINE_SEEDED;
	if (!o->supported)
		return ONRAMP_BASELINE_UNSUPPORTED;
	return t_ns > o->support_ns && t_ns - o->support_ns > hold_ns ?
	       ONRAMP_BASELINE_LOST : ONRAMP_BASELINE_SUPPORTED;
}

/* Synchronised clocks ------------------------------------------------------ */

/**
 * onramp_threshold_ns() - widen T by the error of the clocks
 * @threshold_ns: T as configured, ns
 * @error_ns: error of a one-way delay, ns: the sum of both clocks' bounds, or
 *	      2 sigma of their difference
 *
 * Section 7.1 of the paper sets T = 2 sigma + min OWD. Here T is what the
 * operator wants with perfect clocks, and the error is added: a measured delay
 * above the sum is a true delay above T.
 *
 * Return: at most 10 s; with that, nothing pauses.
 */
static inline u64 onramp_threshold_ns(u64 threshold_ns, u64 error_ns)
{
	if (error_ns >= ONRAMP_MAX_NS)
		return ONRAMP_MAX_NS;
	return min_t(u64, threshold_ns + error_ns, ONRAMP_MAX_NS);
}

#endif /* _ONRAMP_OWD_H */
