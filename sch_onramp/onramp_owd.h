/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One-way delay without synchronised clocks: pure functions on integers.
 *
 * The receiver's clock minus the sender's is offset + drift * t, so what can be
 * measured of a packet sent at t is
 *
 *	d(t) = rx - tx = offset + drift * t + delay of the empty path + queue
 *
 * Everything but the queue is a slowly turning line below all samples. This file
 * keeps that line, the baseline, for each path, and
 *
 *	excess = max(0, d(t) - baseline(t))
 *
 * is what the threshold T applies to.
 *
 *	time is cut into buckets of 17 ms; a bucket leaves its lowest sample
 *	at the end of a bucket:
 *		hull = lower convex hull of the last 32 such points
 *		edge = that edge of the hull which spans the mean of their times
 *		       (below all points, with the least sum of distances to them)
 *		if 14 of the newest 16 points lie within 1 us of a line of the known
 *		slope above the baseline (a longer route):
 *			baseline = that line; older points are forgotten
 *		else, if half of the points lie within 1 us of the edge (support):
 *			baseline = the line through them, below all points
 *		else, if no baseline ever had support:
 *			baseline = the lowest the points allow at 100 ppm, no slope
 *		else:
 *			baseline stays: its slope, and its level for up to 10 s
 *	a sample below the baseline takes it down at once; if it is lower by more
 *	than 8 us, only with two more that say the same within 17 ms
 *
 * Why support: a queue that drains leaves a floor, on which many bucket minima
 * meet within the noise of the stamps. A queue that stands, as On-Ramp itself
 * makes it stand near T, leaves minima that wander. The first is evidence for a
 * line, the second is none.
 *
 * Limits:
 *  - A queue that stands still, to 1 us, for 14 of 16 buckets, as a full buffer
 *    does under an overload that no sender reacts to, is taken for a longer
 *    path. One that moves but never drains is told apart from the path for 10 s;
 *    after that the lowest samples are believed. Who needs more must drain the
 *    queue now and then: if all senders of a path pause for an excess delay when
 *    10 s have passed without support, the floor shows, as in BBR's ProbeRTT.
 *    Nothing here does so.
 *  - A longer route counts as queue until 14 buckets have shown it (0.3 s), a step
 *    of a clock likewise. Both stay within max_pause. The domain of a receiver's
 *    clock is in every OR-ACK: if it changes, the caller starts over.
 *  - While the baseline has no support its error grows; see onramp_owd_error().
 *
 * The idea of a line below all samples is that of Moon, Skelly and Towsley,
 * "Estimation and Removal of Clock Skew from Network Delay Measurements", INFOCOM
 * 1999.
 */
#ifndef _ONRAMP_OWD_H
#define _ONRAMP_OWD_H

#include "onramp_core.h"

/* Length of a bucket, ns: 2^24 = 16.8 ms. */
#define ONRAMP_OWD_BUCKET_SHIFT	24
#define ONRAMP_OWD_BUCKET_NS	(1ULL << ONRAMP_OWD_BUCKET_SHIFT)

/* Points that are kept: 32 buckets are 537 ms < 2^30 ns. A power of two. */
#define ONRAMP_OWD_POINTS	32U

/* Points that show a new route alone, all but two of them: 268 ms. */
#define ONRAMP_OWD_RECENT	16U

/*
 * Samples before an excess is reported, and buckets, unless there is support: at
 * 80 % load there is no queue for a fifth of the time, but one busy period of 64 KB
 * bursts at 10 Gbit/s can fill a whole bucket.
 */
#define ONRAMP_OWD_MIN_SAMPLES	16U
#define ONRAMP_OWD_MIN_BUCKETS	4U

/*
 * Points that must support a line: half of them, of less than twice this number as
 * many, of even less all but one.
 */
#define ONRAMP_OWD_SUPPORT	12U

/* A point this close to a line supports it, ns: the noise of a minimum. */
#define ONRAMP_OWD_TOLERANCE_NS	1000

/* A sample this far below the baseline needs ONRAMP_OWD_CONFIRM of its kind. */
#define ONRAMP_OWD_DROP_NS	8000
#define ONRAMP_OWD_CONFIRM	3

/* How long a baseline without support is kept, ns: 10 s. */
#define ONRAMP_OWD_HOLD_NS	10000000000ULL

/*
 * Slope: ns per ns in signed Q32, resolution 2.3e-10. 200 ppm of drift is what
 * two clocks of +-100 ppm can have, twice what Ethernet allows: 858993 < 2^20.
 * Times evaluated are within 2^35 ns (34 s) of the reference: products < 2^55.
 */
#define ONRAMP_OWD_SLOPE_SHIFT	32
#define ONRAMP_OWD_SLOPE_MAX	858993
#define ONRAMP_OWD_SPAN_NS	(1LL << 35)

/* How far the drift may wander without support: 3 ppm, ns of error per 2^30 ns. */
#define ONRAMP_OWD_WANDER_NS	3000ULL

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
 * @low_count:	samples far below the baseline, in the open bucket
 * @open:	the open bucket has a sample, @min
 * @supported:	the baseline has had support
 * @support_ns:	when it had it last
 * @bucket:	number of the open bucket: time >> ONRAMP_OWD_BUCKET_SHIFT
 * @low:	the highest of the samples that @low_count counts
 * @min:	lowest sample of the open bucket
 * @point:	ring of the last buckets' lowest samples
 *
 * The caller serialises all access. 608 bytes, one for each path, not each flow.
 */
struct onramp_owd {
	struct onramp_owd_point ref;
	s32	slope;
	u8	samples;
	u8	count;
	u8	head;
	u8	low_count;
	bool	open;
	bool	supported;
	u64	support_ns;
	u64	bucket;
	struct onramp_owd_point low;
	struct onramp_owd_point min;
	struct onramp_owd_point point[ONRAMP_OWD_POINTS];
};

/**
 * onramp_owd_init() - nothing is known of a path
 * @o: path
 */
static inline void onramp_owd_init(struct onramp_owd *o)
{
	*o = (struct onramp_owd) { .count = 0 };
}

/* Line through @ref with @slope at @t_ns; farther away than 34 s it is flat. */
static inline s64 onramp_owd_line(const struct onramp_owd_point *ref, s32 slope,
				  u64 t_ns)
{
	s64 span = (s64)(t_ns - ref->t_ns);

	span = clamp_t(s64, span, -ONRAMP_OWD_SPAN_NS, ONRAMP_OWD_SPAN_NS);
	return ref->d_ns + ((span * slope) >> ONRAMP_OWD_SLOPE_SHIFT);
}

/**
 * onramp_owd_baseline() - d of an empty path
 * @o: path
 * @t_ns: time of sending
 */
static inline s64 onramp_owd_baseline(const struct onramp_owd *o, u64 t_ns)
{
	return onramp_owd_line(&o->ref, o->slope, t_ns);
}

/* The @i-th oldest of the last @n points. */
static inline const struct onramp_owd_point *
onramp_owd_point(const struct onramp_owd *o, u32 n, u32 i)
{
	return &o->point[(o->head - n + i) % ONRAMP_OWD_POINTS];
}

/*
 * Slope from @a to @b, Q32. Points are less than 2^30 ns apart and after the
 * first comparison d differs by less than 2^18: below 2^50, divided once.
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
	return (s32)div_s64(d * (1LL << ONRAMP_OWD_SLOPE_SHIFT), (s32)t);
}

/*
 * Does @b lie on or above the straight line from @a to @c? Times differ by less
 * than 2^30; d is limited to 2^31, 2 s, around that of @a: below 2^62.
 */
static inline bool onramp_owd_above(const struct onramp_owd_point *a,
				    const struct onramp_owd_point *b,
				    const struct onramp_owd_point *c)
{
	s64 db = clamp_t(s64, b->d_ns - a->d_ns, -(1LL << 31), 1LL << 31);
	s64 dc = clamp_t(s64, c->d_ns - a->d_ns, -(1LL << 31), 1LL << 31);

	return db * (s64)(c->t_ns - a->t_ns) >= dc * (s64)(b->t_ns - a->t_ns);
}

/*
 * The edge of the lower hull of the last @n >= 2 points that spans the mean of
 * their times: its later end in @ref, its slope returned.
 */
static inline s32 onramp_owd_edge(const struct onramp_owd *o, u32 n,
				  struct onramp_owd_point *ref)
{
	const struct onramp_owd_point *first = onramp_owd_point(o, n, 0), *p;
	const struct onramp_owd_point *hull[ONRAMP_OWD_POINTS];
	u64 mean = 0;
	u32 i, k = 0;

	for (i = 0; i < n; i++) {
		p = onramp_owd_point(o, n, i);
		mean += p->t_ns - first->t_ns;
		while (k > 1 && onramp_owd_above(hull[k - 2], hull[k - 1], p))
			k--;
		hull[k++] = p;
	}
	mean = div_u64(mean, n);
	for (i = 1; i < k - 1 && hull[i]->t_ns - first->t_ns < mean; i++)
		;
	*ref = *hull[i];
	return onramp_owd_slope(hull[i - 1], hull[i]);
}

/* How many of the last @n points lie within the tolerance of a line? */
static inline u32 onramp_owd_support(const struct onramp_owd *o, u32 n,
				     const struct onramp_owd_point *ref, s32 slope)
{
	const struct onramp_owd_point *p;
	u32 i, support = 0;
	s64 above;

	for (i = 0; i < n; i++) {
		p = onramp_owd_point(o, n, i);
		above = p->d_ns - onramp_owd_line(ref, slope, p->t_ns);
		support += above <= ONRAMP_OWD_TOLERANCE_NS &&
			   above >= -ONRAMP_OWD_TOLERANCE_NS;
	}
	return support;
}

/* Put the lowest sample of the open bucket into the ring, forget old points. */
static inline void onramp_owd_keep(struct onramp_owd *o)
{
	const struct onramp_owd_point *oldest;

	o->point[o->head] = o->min;
	o->head = (o->head + 1) % ONRAMP_OWD_POINTS;
	o->count = min_t(u8, o->count + 1, ONRAMP_OWD_POINTS);
	for (; o->count > 1; o->count--) {
		oldest = onramp_owd_point(o, o->count, 0);
		if (o->min.t_ns - oldest->t_ns <
		    ONRAMP_OWD_POINTS * ONRAMP_OWD_BUCKET_NS)
			break;
	}
}

/* Keep the slope, and put the line through the lowest of the last @n points. */
static inline void onramp_owd_anchor(struct onramp_owd *o, u32 n)
{
	const struct onramp_owd_point *p;
	u32 i;

	o->ref = *onramp_owd_point(o, n, 0);
	for (i = 1; i < n; i++) {
		p = onramp_owd_point(o, n, i);
		if (p->d_ns < onramp_owd_baseline(o, p->t_ns))
			o->ref = *p;
	}
}

/*
 * No slope yet: each point says how high the baseline can be at @t_ns at most, if the
 * clocks part as fast as two ordinary ones do. Rather too high than too low: the
 * excess is then too small, and nobody is paused for it.
 */
static inline void onramp_owd_guess(struct onramp_owd *o, u64 t_ns)
{
	const struct onramp_owd_point *p;
	s64 d_ns;
	u32 i;

	for (i = 0; i < o->count; i++) {
		p = onramp_owd_point(o, o->count, i);
		d_ns = onramp_owd_line(p, ONRAMP_OWD_SLOPE_MAX / 2, t_ns);
		if (!i || d_ns < o->ref.d_ns)
			o->ref.d_ns = d_ns;
	}
	o->ref.t_ns = t_ns;
}

/*
 * A better slope for a line: least squares over the points that support it. An
 * edge of the hull may be as short as a bucket, and stamps have noise.
 *
 * Times are in units of 1024 ns around the mean, < 2^20, residuals within the
 * tolerance, < 2^10: sums of 32 products are below 2^45 and 2^35, the latter in
 * Q32 and ns below 2^57.
 */
static inline s32 onramp_owd_refine(const struct onramp_owd *o, u32 n,
				    const struct onramp_owd_point *ref, s32 slope)
{
	s64 t[ONRAMP_OWD_POINTS], r[ONRAMP_OWD_POINTS], mean = 0, tr = 0, tt = 0;
	const struct onramp_owd_point *p;
	u32 i, k = 0;

	for (i = 0; i < n; i++) {
		p = onramp_owd_point(o, n, i);
		r[k] = p->d_ns - onramp_owd_line(ref, slope, p->t_ns);
		if (r[k] > ONRAMP_OWD_TOLERANCE_NS ||
		    r[k] < -ONRAMP_OWD_TOLERANCE_NS)
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

/* If enough of all points lie on a line, it is the baseline. */
static inline bool onramp_owd_fit(struct onramp_owd *o)
{
	struct onramp_owd_point ref;
	u32 n = o->count, enough;
	s32 slope;

	/* Two points are on any line. */
	if (n < 3)
		return false;
	enough = clamp_t(u32, n - 1, 3, max_t(u32, n / 2, ONRAMP_OWD_SUPPORT));
	slope = onramp_owd_edge(o, n, &ref);
	if (onramp_owd_support(o, n, &ref, slope) < enough)
		return false;
	o->slope = onramp_owd_refine(o, n, &ref, slope);
	onramp_owd_anchor(o, n);
	return true;
}

/*
 * If the newest points lie on a line of the known slope above the baseline, the
 * route is another: the drift of the clocks has nothing to do with it.
 */
static inline bool onramp_owd_reroute(struct onramp_owd *o)
{
	struct onramp_owd_point old = o->ref;
	s64 rise;

	if (!o->supported || o->count <= ONRAMP_OWD_RECENT)
		return false;
	onramp_owd_anchor(o, ONRAMP_OWD_RECENT);
	rise = o->ref.d_ns - onramp_owd_line(&old, o->slope, o->ref.t_ns);
	if (rise > ONRAMP_OWD_TOLERANCE_NS &&
	    onramp_owd_support(o, ONRAMP_OWD_RECENT, &o->ref, o->slope) >=
	    ONRAMP_OWD_RECENT - 2) {
		o->count = ONRAMP_OWD_RECENT;
		return true;
	}
	o->ref = old;
	return false;
}

/* A bucket has ended: find the baseline again. */
static inline void onramp_owd_close(struct onramp_owd *o, u64 t_ns)
{
	if (onramp_owd_reroute(o) || onramp_owd_fit(o)) {
		/* The evidence is as old as the bucket, not as what ended it. */
		o->supported = true;
		o->support_ns = o->min.t_ns;
	} else if (!o->supported) {
		onramp_owd_guess(o, t_ns);
	} else if (t_ns - o->support_ns >= ONRAMP_OWD_HOLD_NS) {
		onramp_owd_anchor(o, o->count);
	}
}

/* Is enough known for a report? */
static inline bool onramp_owd_ready(const struct onramp_owd *o)
{
	return o->samples >= ONRAMP_OWD_MIN_SAMPLES &&
	       (o->supported || o->count >= ONRAMP_OWD_MIN_BUCKETS);
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

/**
 * onramp_owd_sample() - one OR-ACK of any flow of the path
 * @o: path
 * @t_ns: when the packet was sent, sender's clock
 * @d_ns: rx - tx, less the wait for its own batch; any offset
 * @excess_ns: delay above the baseline, ns, >= 0
 *
 * Return: false while too little is known; @excess_ns is 0 then.
 */
static inline bool onramp_owd_sample(struct onramp_owd *o, u64 t_ns, s64 d_ns,
				     s64 *excess_ns)
{
	struct onramp_owd_point p = { .t_ns = t_ns, .d_ns = d_ns };
	u64 bucket = t_ns >> ONRAMP_OWD_BUCKET_SHIFT;

	*excess_ns = 0;
	if (!o->samples || (bucket > o->bucket && t_ns - o->ref.t_ns >
			    (u64)ONRAMP_OWD_SPAN_NS)) {
		onramp_owd_init(o);
		o->ref = p;
		o->bucket = bucket;
	}
	if (bucket > o->bucket) {
		if (o->open) {
			onramp_owd_keep(o);
			onramp_owd_close(o, t_ns);
		}
		o->bucket = bucket;
		o->open = false;
		o->low_count = 0;
	}
	if (o->samples < ONRAMP_OWD_MIN_SAMPLES)
		o->samples++;

	if (d_ns < onramp_owd_baseline(o, t_ns) && !onramp_owd_lower(o, &p))
		return onramp_owd_ready(o);
	/* A sample of an earlier bucket comes too late to be a minimum. */
	if (bucket == o->bucket &&
	    (!o->open || d_ns - onramp_owd_line(&o->min, o->slope, t_ns) < 0)) {
		o->min = p;
		o->open = true;
	}
	if (!onramp_owd_ready(o))
		return false;
	*excess_ns = max_t(s64, d_ns - onramp_owd_baseline(o, t_ns), 0);
	return true;
}

/**
 * onramp_owd_error() - how far an excess may be too high, ns
 * @o: path
 * @t_ns: time of sending
 *
 * What T is widened by in relative mode. Before there is support: 200 ppm over
 * two buckets and the tolerance. After: the tolerance, and what the drift may have
 * wandered since the last support; the quotient of the shift is time in units of
 * 1.07 s, at most 2^34: no overflow.
 */
static inline u64 onramp_owd_error(const struct onramp_owd *o, u64 t_ns)
{
	u64 age_ns;

	if (!o->supported)
		return ONRAMP_OWD_TOLERANCE_NS +
		       ((2 * ONRAMP_OWD_BUCKET_NS * ONRAMP_OWD_SLOPE_MAX) >>
			ONRAMP_OWD_SLOPE_SHIFT);
	age_ns = t_ns > o->support_ns ? t_ns - o->support_ns : 0;
	return ONRAMP_OWD_TOLERANCE_NS +
	       (min_t(u64, age_ns, ONRAMP_OWD_HOLD_NS) * ONRAMP_OWD_WANDER_NS >> 30);
}

/* --- synchronised clocks ---------------------------------------------------- */

/**
 * onramp_threshold_ns() - T, widened by what is not known of the clocks
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
