/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PROBE and ECHO, for a path that has no data now: pure functions.
 *
 *	A sends two PROBEs in a row, a pair, and keeps when each of them left
 *	B keeps when they arrived, and answers the second one with an ECHO: both times of arrival
 *	A has two samples d = arrival by B's receive clock - departure by its own clock
 *
 * A pair is coded if its PROBEs arrived as far apart as they left: no packets of others came
 * between them (Huygens: Geng et al., NSDI 2018). Others have no samples. The line below the last
 * 64 samples, of two seconds at most, is the baseline of the path, as in onramp_owd.h; of half a
 * second, if all of these are on it. It is clean if a quarter of them is near it, and few pairs
 * got lost: a buffer that is full delays all packets alike, and drops some.
 *
 * A PROBE tells as well when the pair before it left, by the sender's receive clock. So B has
 * samples of the same way, and with those of its own pairs samples of both ways.
 *
 *	offset	bytes
 *	0	4	magic
 *	4	1	version, 1
 *	5	1	kind: 0 first PROBE of a pair, 1 second one, 2 ECHO
 *	6	1	domain of the sender's receive clock
 *	7	1	0
 *	8	8	session of the sender, as in its REPORTs
 *	16	8	count: of the sender's pairs to this host, from 1; ECHO: of its pair
 *	24	8	echo: session of the receiver
 *	32	8	PROBE: count of the pair before, 0: its times are not known; ECHO: 0
 *	40	8	when the first PROBE of that pair left; ECHO: when the first one arrived
 *	48	8	the same of the second one
 *	56	8	CLOCK_REALTIME less that clock
 *	64	32	HMAC-SHA256, as of a REPORT
 *	96	1304	PROBE: zeros, so that it takes as long on a link as a packet of data
 *
 * Big endian, times in ns. Two hosts exchange REPORTs first, which prove their sessions. A PROBE
 * counts if its count is above that of the last pair, an ECHO if the pair is one of the last ones
 * that had none. An ECHO has fewer bytes than the PROBEs that it answers.
 */
#ifndef ONRAMPD_PROBE_H
#define ONRAMPD_PROBE_H

#include <stddef.h>

#include "baseline_core.h"
#include "report.h"

#define PROBE_MAGIC		0x4f524451U
#define PROBE_VERSION		1
#define PROBE_SIGNED		64
#define ECHO_LEN		(PROBE_SIGNED + REPORT_MAC_LEN)
#define PROBE_LEN		1400

/* Pairs that wait for times of departure and for an ECHO. */
#define PROBE_PAIRS		8
/* Samples that are kept, and for how long, ns. */
#define PROBE_POINTS		64
#define PROBE_WINDOW_NS		2000000000LL
/* If these are too few: for so long, but all have to be near the line. */
#define PROBE_LONG_NS		16000000000LL
/* A pair's gap may differ by this, ns: noise of software. */
#define PROBE_CODED_NS		5000LL
/* Samples, and time that they cover, for a line, ns. */
#define PROBE_MIN		8
#define PROBE_SPAN_NS		500000000LL
/*
 * This part of the samples of a clean line is nearer to it than the noise, times this, and near
 * enough that its slope is known to 4 ppm.
 */
#define PROBE_PART		4
#define PROBE_NEAR		2
#define PROBE_SLOPE		250000
/* The newest samples are on a line of their own if all are within this, ns. */
#define PROBE_SHARP_NS		100
/* Of the last 32 pairs this many may get lost. */
#define PROBE_LOST		4
/* A sample this far above the lowest one is of no use, ns: products of two fit into 64 bits. */
#define PROBE_HIGH_NS		(1LL << 28)
/* Noise of the timestamps of software, ns. */
#define PROBE_NOISE_NS		1000LL

enum probe_kind { PROBE_FIRST, PROBE_SECOND, PROBE_ECHO };

/* struct probe - a message */
struct probe {
	uint8_t kind;
	uint8_t domain;
	uint64_t session;
	uint64_t count;
	uint64_t echo;
	uint64_t before;
	int64_t time_ns[2];
	int64_t utc_ns;
};

/**
 * struct probe_pair - two PROBEs
 * @count: of the pair; 0: none
 * @left_ns: CLOCK_MONOTONIC of the host that keeps it, or what the sender says; 0: not known
 * @arrived_ns: likewise
 */
struct probe_pair {
	uint64_t count;
	int64_t left_ns[2];
	int64_t arrived_ns[2];
};

/**
 * struct probe_point - a sample
 * @t_ns: own CLOCK_MONOTONIC
 * @d_ns: other host's receive clock less own CLOCK_MONOTONIC
 */
struct probe_point {
	int64_t t_ns;
	int64_t d_ns;
};

struct probe_points {
	struct probe_point point[PROBE_POINTS];
	unsigned int n;
	unsigned int next;
};

/**
 * struct probe_way - PROBEs to a host, and from it
 * @sent: pairs to it
 * @heard: pairs from it
 * @count: of the last pair to it
 * @session: of the host, which its pairs are counted for
 * @last: count of the last pair from it
 * @domain: of its receive clock
 * @lost: a bit for each of the last pairs to it, 1: no ECHO; the last one is bit 0
 * @echoed: session of the host that has sent an ECHO
 * @to: samples of the way to it
 * @from: samples of the way from it
 * @utc_ns: its CLOCK_REALTIME less its receive clock, not before @utc_at_ns
 * @utc_at_ns: own CLOCK_MONOTONIC; 0: not known
 */
struct probe_way {
	struct probe_pair sent[PROBE_PAIRS];
	struct probe_pair heard[PROBE_PAIRS];
	uint64_t count;
	uint64_t session;
	uint64_t last;
	uint8_t domain;
	uint32_t lost;
	uint64_t echoed;
	struct probe_points to;
	struct probe_points from;
	int64_t utc_ns;
	int64_t utc_at_ns;
};

/* Messages ------------------------------------------------------------------ */

/* probe_len() - return the bytes of a message */
static inline size_t probe_len(uint8_t kind)
{
	return kind == PROBE_ECHO ? ECHO_LEN : PROBE_LEN;
}

/* probe_encode() - write the first PROBE_SIGNED bytes of a message */
static inline void probe_encode(const struct probe *p, uint8_t *msg)
{
	uint8_t *at = msg;

	report_put(&at, PROBE_MAGIC, 4);
	report_put(&at, PROBE_VERSION, 1);
	report_put(&at, p->kind, 1);
	report_put(&at, p->domain, 1);
	report_put(&at, 0, 1);
	report_put(&at, p->session, 8);
	report_put(&at, p->count, 8);
	report_put(&at, p->echo, 8);
	report_put(&at, p->before, 8);
	report_put(&at, (uint64_t)p->time_ns[0], 8);
	report_put(&at, (uint64_t)p->time_ns[1], 8);
	report_put(&at, (uint64_t)p->utc_ns, 8);
}

/**
 * probe_decode() - read a message whose MAC is right
 * @msg: its bytes
 * @len: how many
 * @p: result
 *
 * Return: false if it is no PROBE and no ECHO.
 */
static inline bool probe_decode(const uint8_t *msg, size_t len, struct probe *p)
{
	const uint8_t *at = msg;

	if (len < ECHO_LEN || report_get(&at, 4) != PROBE_MAGIC ||
	    report_get(&at, 1) != PROBE_VERSION)
		return false;
	p->kind = (uint8_t)report_get(&at, 1);
	p->domain = (uint8_t)report_get(&at, 1);
	report_get(&at, 1);
	p->session = report_get(&at, 8);
	p->count = report_get(&at, 8);
	p->echo = report_get(&at, 8);
	p->before = report_get(&at, 8);
	p->time_ns[0] = (int64_t)report_get(&at, 8);
	p->time_ns[1] = (int64_t)report_get(&at, 8);
	p->utc_ns = (int64_t)report_get(&at, 8);
	return p->kind <= PROBE_ECHO && len == probe_len(p->kind) && p->session && p->count;
}

/* Is it a time of a receive clock? */
static inline bool probe_time(int64_t ns)
{
	return ns > -BASELINE_MAX_NS && ns < BASELINE_MAX_NS;
}

/* Samples ------------------------------------------------------------------- */

static inline struct probe_pair *probe_find(struct probe_pair *pairs, uint64_t count)
{
	struct probe_pair *pair = &pairs[count % PROBE_PAIRS];

	return count && pair->count == count ? pair : NULL;
}

static inline void probe_add(struct probe_points *points, const struct probe_point *point)
{
	points->point[points->next] = *point;
	points->next = (points->next + 1) % PROBE_POINTS;
	points->n += points->n < PROBE_POINTS;
}

/* The sample of a coded pair: the shorter delay; false: a time is missing, or its gap changed. */
static inline bool probe_sample(const struct probe_pair *pair, bool own_left,
				struct probe_point *point)
{
	int64_t d_ns[2], gap_ns;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		if (!pair->left_ns[i] || !pair->arrived_ns[i])
			return false;
		d_ns[i] = pair->arrived_ns[i] - pair->left_ns[i];
	}
	gap_ns = d_ns[1] - d_ns[0];
	i = gap_ns < 0;
	*point = (struct probe_point) {
		.t_ns = own_left ? pair->left_ns[i] : pair->arrived_ns[i],
		/* By other clock less own, whichever way it went. */
		.d_ns = own_left ? d_ns[i] : -d_ns[i],
	};
	return gap_ns <= PROBE_CODED_NS && gap_ns >= -PROBE_CODED_NS;
}

/* A pair to the host may be complete: take its sample, once. */
static inline void probe_complete(struct probe_way *w, struct probe_pair *pair)
{
	struct probe_point point;

	if (!probe_sample(pair, true, &point))
		return;
	probe_add(&w->to, &point);
	/* Its times of departure are told yet. */
	pair->arrived_ns[0] = 0;
}

/* Another clock: forget what was by the one before. */
static inline void probe_clock(struct probe_way *w, uint8_t domain)
{
	if (w->domain == domain)
		return;
	w->domain = domain;
	w->utc_at_ns = 0;
	w->to.n = 0;
	w->to.next = 0;
	w->from.n = 0;
	w->from.next = 0;
}

/**
 * probe_send() - begin a pair
 * @w: way to a host
 * @p: first PROBE: session, echo and clock are the caller's, the rest is set here
 * @clock_ns: own receive clock less CLOCK_MONOTONIC
 */
static inline void probe_send(struct probe_way *w, struct probe *p, int64_t clock_ns)
{
	const struct probe_pair *before = probe_find(w->sent, w->count);
	struct probe_pair *pair = &w->sent[++w->count % PROBE_PAIRS];

	w->lost = w->lost << 1 | (pair->count && !pair->arrived_ns[1]);
	*pair = (struct probe_pair) { .count = w->count };
	p->kind = PROBE_FIRST;
	p->count = w->count;
	p->before = 0;
	if (!before || !before->left_ns[0] || !before->left_ns[1])
		return;
	p->before = before->count;
	p->time_ns[0] = before->left_ns[0] + clock_ns;
	p->time_ns[1] = before->left_ns[1] + clock_ns;
}

/* probe_left() - a PROBE has left, the first or the second one of a pair */
static inline void probe_left(struct probe_way *w, uint64_t count, unsigned int i, int64_t left_ns)
{
	struct probe_pair *pair = probe_find(w->sent, count);

	if (!pair)
		return;
	pair->left_ns[i] = left_ns;
	probe_complete(w, pair);
}

/**
 * probe_heard() - take a PROBE
 * @w: way of its sender
 * @p: PROBE
 * @session: of the sender, as its REPORTs have proved it
 * @own: session of this daemon
 * @now_ns: when it arrived, CLOCK_MONOTONIC
 * @clock_ns: own receive clock less CLOCK_MONOTONIC
 * @echo: answer; its session and clock are the caller's
 *
 * Return: true if @echo is to be sent. @valid is set to whether the message counts.
 */
static inline bool probe_heard(struct probe_way *w, const struct probe *p, uint64_t session,
			       uint64_t own, int64_t now_ns, int64_t clock_ns,
			       struct probe *echo, bool *valid)
{
	struct probe_pair *pair = &w->heard[p->count % PROBE_PAIRS], *before;
	struct probe_point point;

	*valid = p->session == session && p->echo == own;
	if (!*valid)
		return false;
	if (w->session != session) {
		w->session = session;
		w->last = 0;
	}
	if (p->kind == PROBE_FIRST) {
		*valid = p->count > w->last;
		if (!*valid)
			return false;
		w->last = p->count;
		probe_clock(w, p->domain);
		*pair = (struct probe_pair) { .count = p->count, .arrived_ns = { now_ns } };
		before = probe_find(w->heard, p->before);
		if (!before || !probe_time(p->time_ns[0]) || !probe_time(p->time_ns[1]))
			return false;
		before->left_ns[0] = p->time_ns[0];
		before->left_ns[1] = p->time_ns[1];
		if (probe_sample(before, false, &point))
			probe_add(&w->from, &point);
		before->count = 0;
		return false;
	}
	*valid = p->count == w->last && pair->count == p->count && !pair->arrived_ns[1];
	if (!*valid)
		return false;
	pair->arrived_ns[1] = now_ns;
	echo->kind = PROBE_ECHO;
	echo->count = p->count;
	echo->before = 0;
	echo->time_ns[0] = pair->arrived_ns[0] + clock_ns;
	echo->time_ns[1] = now_ns + clock_ns;
	return true;
}

/* The first ECHO of a session: pairs of before had none since they were not proven. */
static inline void probe_answers(struct probe_way *w, uint64_t session, uint64_t count)
{
	unsigned int i;

	for (i = 0; i < PROBE_PAIRS; i++)
		if (w->sent[i].count < count)
			w->sent[i].count = 0;
	w->lost = 0;
	w->echoed = session;
}

/* probe_echoed() - take an ECHO; false: it does not count */
static inline bool probe_echoed(struct probe_way *w, const struct probe *p, uint64_t session,
				uint64_t own)
{
	struct probe_pair *pair = probe_find(w->sent, p->count);

	if (p->session != session || p->echo != own || !pair || pair->arrived_ns[1] ||
	    !probe_time(p->time_ns[0]) || !probe_time(p->time_ns[1]))
		return false;
	if (w->echoed != session)
		probe_answers(w, session, p->count);
	probe_clock(w, p->domain);
	pair->arrived_ns[0] = p->time_ns[0];
	pair->arrived_ns[1] = p->time_ns[1];
	/* A receive clock may be hidden by 2^60 ns and more. */
	if (p->utc_ns < BASELINE_SUM_NS && p->utc_ns > -BASELINE_SUM_NS) {
		w->utc_ns = p->utc_ns;
		w->utc_at_ns = pair->left_ns[0];
	}
	probe_complete(w, pair);
	return true;
}

/* Lines --------------------------------------------------------------------- */

/* Those of a window, by time, less the lowest one; return how many, and that one. */
static inline unsigned int probe_recent(const struct probe_points *points, int64_t window_ns,
					int64_t now_ns, struct probe_point *out, int64_t *low_ns)
{
	unsigned int i, k, n = 0;

	*low_ns = INT64_MAX;
	for (i = 0; i < points->n; i++) {
		const struct probe_point *p = &points->point[i];

		if (now_ns - p->t_ns <= window_ns && p->t_ns <= now_ns && p->d_ns < *low_ns)
			*low_ns = p->d_ns;
	}
	for (i = 0; i < points->n; i++) {
		struct probe_point p = points->point[i];

		if (now_ns - p.t_ns > window_ns || p.t_ns > now_ns ||
		    p.d_ns - *low_ns >= PROBE_HIGH_NS)
			continue;
		p.t_ns -= now_ns;
		p.d_ns -= *low_ns;
		for (k = n++; k && out[k - 1].t_ns > p.t_ns; k--)
			out[k] = out[k - 1];
		out[k] = p;
	}
	return n;
}

/* Is b above the line from a to c, or on it? Of times < 2^34 and delays < 2^28: below 2^62. */
static inline bool probe_above(const struct probe_point *a, const struct probe_point *b,
			       const struct probe_point *c)
{
	return (b->d_ns - a->d_ns) * (c->t_ns - a->t_ns) >=
	       (c->d_ns - a->d_ns) * (b->t_ns - a->t_ns);
}

/* The corners of the lower hull of points that are sorted by time; return how many. */
static inline unsigned int probe_hull(const struct probe_point *points, unsigned int n,
				      struct probe_point *hull)
{
	unsigned int i, k = 0;

	for (i = 0; i < n; i++) {
		while (k > 1 && probe_above(&hull[k - 2], &hull[k - 1], &points[i]))
			k--;
		if (k == 1 && hull[0].t_ns == points[i].t_ns) {
			if (points[i].d_ns < hull[0].d_ns)
				hull[0] = points[i];
			continue;
		}
		hull[k++] = points[i];
	}
	return k;
}

/* The distance above a line that k points are within. */
static inline int64_t probe_near(const struct probe_point *points, unsigned int n,
				 const struct probe_point *on, int64_t slope, unsigned int k)
{
	int64_t above[PROBE_POINTS], ns;
	unsigned int i, j;

	for (i = 0; i < n; i++) {
		ns = points[i].d_ns - on->d_ns -
		     (((points[i].t_ns - on->t_ns) * slope) >> 32);
		for (j = i; j && above[j - 1] > ns; j--)
			above[j] = above[j - 1];
		above[j] = ns;
	}
	return above[k - 1];
}

static inline unsigned int probe_lost(const struct probe_way *w)
{
	unsigned int i, n = 0;

	for (i = 0; i < 32; i++)
		n += w->lost >> i & 1;
	return n;
}

/**
 * struct probe_fit - the line below points
 * @on: a point of it
 * @slope: Q32
 * @near_ns: as many as were asked for are within that
 */
struct probe_fit {
	struct probe_point on;
	int64_t slope;
	int64_t near_ns;
};

/*
 * Of all lines below all points it is the one with the least sum of distances: the edge of the
 * hull at the mean time (Moon et al., INFOCOM 1999).
 */
static inline void probe_fit(const struct probe_point *points, unsigned int n, unsigned int need,
			     struct probe_fit *fit)
{
	struct probe_point hull[PROBE_POINTS];
	int64_t mean_ns = 0;
	unsigned int i, k;

	for (i = 0; i < n; i++)
		mean_ns += points[i].t_ns;
	mean_ns /= (int64_t)n;
	k = probe_hull(points, n, hull);
	for (i = 1; i + 1 < k && hull[i].t_ns <= mean_ns; i++)
		;
	fit->on = hull[i - 1];
	fit->slope = (hull[i].d_ns - fit->on.d_ns) * (1LL << 32) / (hull[i].t_ns - fit->on.t_ns);
	/* Far more than that of any clock, and 2^62 in the longest time. */
	if (fit->slope > 1LL << 28 || fit->slope < -(1LL << 28))
		fit->slope = fit->slope > 0 ? 1LL << 28 : -(1LL << 28);
	fit->near_ns = probe_near(points, n, &fit->on, fit->slope, need);
}

/* The newest points that a line may be of: how many older ones there are. */
static inline unsigned int probe_older(const struct probe_point *points, unsigned int n)
{
	unsigned int i = n;

	while (i && (n - i < PROBE_MIN ||
		     points[n - 1].t_ns - points[i].t_ns < PROBE_SPAN_NS))
		i--;
	return i;
}

/**
 * probe_line() - compute the baseline of the way to a host
 * @w: way
 * @now_ns: CLOCK_MONOTONIC
 * @noise_ns: of timestamps, the error of the best line
 * @line: value, slope, error and whether it is clean are set: other clock less own CLOCK_MONOTONIC
 *
 * Rates of clocks wander: if the newest samples alone are on a line, older ones do not count.
 *
 * A line that is not clean is a bound at any drift of the clocks: it rises by the most that they
 * may.
 *
 * Return: false if there are not enough samples.
 */
static inline bool probe_line(const struct probe_way *w, int64_t now_ns, int64_t noise_ns,
			      struct baseline_line *line)
{
	struct probe_point points[PROBE_POINTS];
	unsigned int i, n, need, older;
	int64_t low_ns, age_ns = 0;
	struct probe_fit fit;

	n = probe_recent(&w->to, PROBE_WINDOW_NS, now_ns, points, &low_ns);
	need = n / PROBE_PART > PROBE_MIN ? n / PROBE_PART : PROBE_MIN;
	if (n && n < PROBE_MIN) {
		n = probe_recent(&w->to, PROBE_LONG_NS, now_ns, points, &low_ns);
		need = n;
		age_ns = -points[n - 1].t_ns;
	}
	if (n < PROBE_MIN || points[n - 1].t_ns - points[0].t_ns < PROBE_SPAN_NS)
		return false;
	older = probe_older(points, n);
	probe_fit(points + older, n - older, n - older, &fit);
	if (fit.near_ns > PROBE_SHARP_NS) {
		older = 0;
		probe_fit(points, n, need, &fit);
	}
	line->clean = fit.near_ns <= PROBE_NEAR * noise_ns &&
		      fit.near_ns <= (points[n - 1].t_ns - points[older].t_ns) / PROBE_SLOPE &&
		      fit.slope <= BASELINE_SLOPE_MAX && fit.slope >= -BASELINE_SLOPE_MAX &&
		      probe_lost(w) <= PROBE_LOST;
	if (line->clean) {
		line->value_ns = low_ns + fit.on.d_ns - ((fit.on.t_ns * fit.slope) >> 32);
		line->slope = (int32_t)fit.slope;
		/* It is known at the mean time, and used a second later. */
		line->error_ns = noise_ns + 2 * fit.near_ns +
				 age_ns / 1000000 * BASELINE_WANDER_PPM;
		return true;
	}
	/* The slope is that of a queue. What is left is a bound, at any drift of the clocks. */
	line->value_ns = INT64_MAX;
	for (i = 0; i < n; i++) {
		int64_t at_ns = low_ns + points[i].d_ns -
				((points[i].t_ns * BASELINE_DRIFT_MAX) >> 32);

		if (at_ns < line->value_ns)
			line->value_ns = at_ns;
	}
	line->slope = BASELINE_DRIFT_MAX;
	line->error_ns = noise_ns;
	return true;
}

#endif /* ONRAMPD_PROBE_H */
