/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Baselines that several hosts know together: pure functions on integers.
 *
 * A path's baseline, as sch_onramp learns it, is the least that a packet's time of arrival by the
 * receiver's clock was above its time of departure by the sender's. All lines here are converted to
 * the hosts' receive clocks R, so that for a path from A to B
 *
 *	b_AB = R_B - R_A + D_AB + q_AB
 *
 * with D the delay of the empty path, and q >= 0 what is left of queues that no packet found empty.
 * The kernel says of some lines that q is 0, as enough packets met no queue: they are clean.
 *
 *	b_AB + b_BA = D_AB + D_BA + q_AB + q_BA		free of clocks
 *
 * A queue that stands still looks so, too: data of one host alone arrive as fast as they leave. So
 * a line of data counts as clean only with a way back that is clean, or with which it is as short
 * as any. The floor of its class has to be of PROBEs, of three pairs of hosts, or known before.
 *
 * Two hosts whose lines are both clean know their D + D, unless it is far above that of their
 * class: then a queue stood still. Paths of one class have about the same:
 * the median of these sums is the floor of their class. Its error is by how much the
 * middle half of them is at most off. If no two lines are clean, the floor is what was known before
 * (floors.h), or the lowest sum, if that is lower; it may be too high. Two hosts of whose lines one
 * is not clean take the floor of their class, or their own sum if it is lower. D is half of it: a
 * path that is longer one way counts as that long both ways. What two hosts' sum is above the
 * lowest that the floor of their class may be counts as error: few packets may all have been late.
 *
 *	R_B - R_A <= b_AB - D		of each line whose D is not too high
 *	R_A - R_B <= D - b_AB		of each clean line
 *
 * These are difference constraints. The shortest ways from A (Bellman-Ford) are the tightest upper
 * bounds of R_B - R_A, and the shortest ways to A the tightest lower ones. With D on top that is an
 * interval for b_AB. It needs no packet that found the path empty: the way back tells, or ways by
 * other hosts do. A line's error widens its constraints.
 *
 * A way that leads back with a length below 0 refutes its lines: one is not clean though its kernel
 * said so, or a host lies. Then of all hosts on that way the lines to and from others are left out.
 * What remains are the lines of this host's own paths, there and back, which never refute each
 * other: a host that lies changes its own path, and no other one.
 *
 * Times are in ns, all at one moment.
 */
#ifndef BASELINE_CORE_H
#define BASELINE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Hosts, the first of which is this one, and lines between them. */
#define BASELINE_HOSTS		64
#define BASELINE_LINES		1024
#define BASELINE_CLASSES	64

/*
 * Largest value: receive clocks have offsets of up to 2^60 ns. A sum of lines that is larger than
 * the difference of any two clocks is no bound. Largest slope: twice that of two clocks, 200 ppm.
 * A line that is not clean is a bound now; with the largest drift of two clocks it remains one.
 */
#define BASELINE_MAX_NS		(1LL << 61)
#define BASELINE_SUM_NS		(1LL << 62)
#define BASELINE_DRIFT_MAX	858993
#define BASELINE_SLOPE_MAX	(2 * BASELINE_DRIFT_MAX)
/* Largest error of a line that is of use, ns. */
#define BASELINE_ERROR_MAX_NS	10000000LL
/* A prediction counts for this time, ns, and is wrong by that more in each of its millionths. */
#define BASELINE_PREDICT_NS	10000000000LL
#define BASELINE_SLOPE_PPM	4	/* slopes are known to this */
#define BASELINE_WANDER_PPM	(BASELINE_SLOPE_PPM + 3)
/* Two hosts of a class are no farther apart than this and four errors, ns: 2 km of fibre. */
#define BASELINE_FAR_NS		20000LL
/* A queue of this length does not count, ns: kernels take what is within that for none. */
#define BASELINE_NEAR_NS	1000LL
/* So many pairs of hosts know a floor by their data; by PROBEs one does. */
#define BASELINE_SURE		3U
/* No floor, no bound. */
#define BASELINE_NONE		INT64_MAX

/**
 * struct baseline_line - the baseline of a path
 * @from: host that sends
 * @to: host that receives
 * @class: paths of one class have the same delay while they are empty
 * @clean: packets met no queue; else the path may never have been empty
 * @data: it is of data, whose queue may have stood still
 * @value_ns: b
 * @slope: by which it grows, ns in 2^32 ns
 * @error_ns: b may be wrong by this, queues aside
 */
struct baseline_line {
	uint16_t from;
	uint16_t to;
	uint16_t class;
	bool clean;
	bool data;
	int64_t value_ns;
	int32_t slope;
	int64_t error_ns;
};

/**
 * struct baseline_bound - a bound, from lines
 * @ns: the bound, without errors; BASELINE_NONE: there is none
 * @error_ns: sum of the errors of its lines
 * @slope: sum of their slopes
 */
struct baseline_bound {
	int64_t ns;
	int64_t error_ns;
	int64_t slope;
};

/**
 * struct baseline_floor - 2 D, of a class or of two hosts
 * @ns: BASELINE_NONE: not known
 * @error_ns: 2 D may be above it by this
 * @clean: two hosts whose lines are both clean have it
 * @firm: it is clean now or was before, else it may be too high by any queue
 */
struct baseline_floor {
	int64_t ns;
	int64_t error_ns;
	bool clean;
	bool firm;
};

/**
 * struct baseline_solution - what is known of each host
 * @floor: by class
 * @pair: of this host and each other one, as their lines have it
 * @checked: the way back of these hosts tells whether the way there was empty
 * @left_out: of these hosts only the lines from and to this one count
 * @upper: of R - R of this host, by host
 * @lower: lower bound of the same
 */
struct baseline_solution {
	struct baseline_floor floor[BASELINE_CLASSES];
	struct baseline_floor pair[BASELINE_HOSTS];
	bool checked[BASELINE_HOSTS];
	bool left_out[BASELINE_HOSTS];
	struct baseline_bound upper[BASELINE_HOSTS];
	struct baseline_bound lower[BASELINE_HOSTS];
};

/**
 * struct baseline_answer - the baseline of a path of this host
 * @line: its value, slope and error; b is above value_ns - error_ns
 * @least_ns: lower bound of b, BASELINE_NONE: none
 */
struct baseline_answer {
	struct baseline_line line;
	int64_t least_ns;
};

/* baseline_valid() - return whether a line is within the limits of this file */
static inline bool baseline_valid(const struct baseline_line *line)
{
	return line->from < BASELINE_HOSTS && line->to < BASELINE_HOSTS &&
	       line->from != line->to && line->class < BASELINE_CLASSES &&
	       line->value_ns < BASELINE_MAX_NS && line->value_ns > -BASELINE_MAX_NS &&
	       line->slope <= BASELINE_SLOPE_MAX && line->slope >= -BASELINE_SLOPE_MAX &&
	       line->error_ns >= 0 && line->error_ns <= BASELINE_ERROR_MAX_NS;
}

/* Floors ------------------------------------------------------------------- */

/* The line of the way back, NULL: none. */
static inline const struct baseline_line *
baseline_back(const struct baseline_line *lines, unsigned int n,
	      const struct baseline_line *there)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (lines[i].from == there->to && lines[i].to == there->from)
			return &lines[i];
	return NULL;
}

/**
 * baseline_floors() - compute 2 D of each class
 * @lines: all, baseline_valid()
 * @n: how many, at most BASELINE_LINES
 * @kept: what was known before, by class
 * @floor: BASELINE_CLASSES results
 */
static inline void baseline_floors(const struct baseline_line *lines, unsigned int n,
				   const struct baseline_floor *kept,
				   struct baseline_floor *floor)
{
	const struct baseline_line *backs[BASELINE_LINES];
	int64_t sums[BASELINE_LINES], sum, error_ns;
	unsigned int class, i, j, k;
	bool sure;

	for (i = 0; i < n; i++)
		backs[i] = lines[i].from < lines[i].to ? baseline_back(lines, n, &lines[i]) : NULL;
	for (class = 0; class < BASELINE_CLASSES; class++) {
		floor[class] = kept[class];
		for (i = 0, k = 0, sure = false; i < n; i++) {
			if (lines[i].class != class || !backs[i] || backs[i]->class != class)
				continue;
			sum = lines[i].value_ns + backs[i]->value_ns;
			/* No path is shorter than 0. */
			if (sum < 0)
				continue;
			if (sum < floor[class].ns)
				floor[class] = (struct baseline_floor) { .ns = sum };
			if (!lines[i].clean || !backs[i]->clean)
				continue;
			sure = sure || (!lines[i].data && !backs[i]->data);
			for (j = k++; j && sums[j - 1] > sum; j--)
				sums[j] = sums[j - 1];
			sums[j] = sum;
		}
		if (!sure && k < BASELINE_SURE)
			continue;
		/* Some who lie move the lowest and the highest, not these three. */
		sum = sums[(k - 1) / 2];
		error_ns = sums[3 * (k - 1) / 4] - sum;
		if (sum - sums[(k - 1) / 4] > error_ns)
			error_ns = sum - sums[(k - 1) / 4];
		floor[class] = (struct baseline_floor) {
			.ns = sum, .error_ns = error_ns, .clean = true, .firm = true,
		};
		if (floor[class].error_ns > BASELINE_ERROR_MAX_NS)
			floor[class].error_ns = BASELINE_ERROR_MAX_NS;
	}
}

/*
 * Are two clean lines far above the floor of their class? A queue that stands still makes a line
 * that looks clean.
 */
static inline bool baseline_far(const struct baseline_line *line, const struct baseline_line *back,
				const struct baseline_floor *floor)
{
	const struct baseline_floor *f = &floor[line->class];

	return back && line->clean && back->clean && f->firm &&
	       line->value_ns + back->value_ns > f->ns + 4 * f->error_ns + BASELINE_FAR_NS;
}

/* Does the way back tell whether a path was empty? If it is clean, or both are as short as any. */
static inline bool baseline_checked(const struct baseline_line *line,
				    const struct baseline_line *back,
				    const struct baseline_floor *floor)
{
	const struct baseline_floor *f = &floor[line->class];

	return back && f->firm && (back->clean || line->value_ns + back->value_ns <=
						  f->ns + f->error_ns + BASELINE_NEAR_NS);
}

/* Was the path empty? */
static inline bool baseline_empty(const struct baseline_line *line,
				  const struct baseline_line *back,
				  const struct baseline_floor *floor)
{
	return line->clean && (!line->data || baseline_checked(line, back, floor)) &&
	       !baseline_far(line, back, floor);
}

/* 2 D of a line's two hosts. */
static inline struct baseline_floor baseline_pair(const struct baseline_line *line,
						  const struct baseline_line *back,
						  const struct baseline_floor *floor)
{
	struct baseline_floor own = { .ns = BASELINE_NONE };
	int64_t low_ns;

	if (back) {
		own.ns = line->value_ns + back->value_ns;
		own.clean = line->clean && back->clean && !baseline_far(line, back, floor);
		own.firm = own.clean && (!line->data || !back->data || floor[line->class].firm);
		/*
		 * What is above the floor of the class may be of one way alone: that is longer, or
		 * few packets came, and all of them late.
		 */
		low_ns = floor[line->class].ns - floor[line->class].error_ns;
		if (own.clean && floor[line->class].firm && own.ns > low_ns)
			own.error_ns = own.ns - low_ns;
	}
	return own.clean || own.ns < floor[line->class].ns ? own : floor[line->class];
}

/* D of a line; both of a pair make the sum, whatever that is. */
static inline int64_t baseline_half(const struct baseline_line *line, int64_t pair_ns)
{
	return line->from < line->to ? pair_ns / 2 : pair_ns - pair_ns / 2;
}

/* Bounds ------------------------------------------------------------------- */

/**
 * struct baseline_edge - R of @to is above that of @from by no more than that
 * @from: host
 * @to: host
 * @ns: the length
 * @error_ns: and its error
 * @slope: by which the length grows
 */
struct baseline_edge {
	uint16_t from;
	uint16_t to;
	int64_t ns;
	int64_t error_ns;
	int64_t slope;
};

/* Does a line count? */
static inline bool baseline_counts(const struct baseline_line *l,
				   const struct baseline_solution *s)
{
	return !l->from || !l->to || (!s->left_out[l->from] && !s->left_out[l->to]);
}

/* The edges of all lines, at most two of each; return how many. */
static inline unsigned int baseline_edges(const struct baseline_line *lines, unsigned int n,
					  struct baseline_solution *s,
					  struct baseline_edge *edges)
{
	unsigned int i, k = 0;

	for (i = 0; i < n; i++) {
		const struct baseline_line *l = &lines[i];
		const struct baseline_line *back = baseline_back(lines, n, l);
		struct baseline_floor pair = baseline_pair(l, back, s->floor);
		int64_t error_ns = l->error_ns + pair.error_ns / 2, ns;

		if (!l->from) {
			s->pair[l->to] = pair;
			s->checked[l->to] = baseline_checked(l, back, s->floor);
		}
		if (pair.ns == BASELINE_NONE || !baseline_counts(l, s))
			continue;
		ns = l->value_ns - baseline_half(l, pair.ns);
		if (pair.firm)
			edges[k++] = (struct baseline_edge) {
				.from = l->from, .to = l->to, .ns = ns, .error_ns = error_ns,
				.slope = l->slope,
			};
		if (baseline_empty(l, back, s->floor))
			edges[k++] = (struct baseline_edge) {
				.from = l->to, .to = l->from, .ns = -ns, .error_ns = error_ns,
				.slope = -(int64_t)l->slope,
			};
	}
	return k;
}

/* Let a bound at the end of an edge be no more than that at its begin and the edge. */
static inline bool baseline_relax(const struct baseline_edge *edge, bool back,
				  struct baseline_bound *bounds)
{
	const struct baseline_bound *from = &bounds[back ? edge->to : edge->from];
	struct baseline_bound *to = &bounds[back ? edge->from : edge->to], next;

	if (from->ns == BASELINE_NONE)
		return false;
	next = (struct baseline_bound) {
		.ns = from->ns + edge->ns, .error_ns = from->error_ns + edge->error_ns,
		.slope = from->slope + edge->slope,
	};
	if (next.ns >= BASELINE_SUM_NS || next.ns <= -BASELINE_SUM_NS ||
	    (to->ns != BASELINE_NONE && next.ns + next.error_ns >= to->ns + to->error_ns))
		return false;
	*to = next;
	return true;
}

/* Leave out the hosts of a circle that the last edges of ways make, if there is one. */
static inline bool baseline_circle(const struct baseline_edge *edges, const int *last, bool back,
				   bool *left_out)
{
	unsigned int i, steps, at;

	for (i = 0; i < BASELINE_HOSTS; i++) {
		for (at = i, steps = 0; last[at] >= 0 && steps < BASELINE_HOSTS; steps++)
			at = back ? edges[last[at]].to : edges[last[at]].from;
		if (last[at] < 0)
			continue;
		for (steps = 0; steps < BASELINE_HOSTS; steps++) {
			left_out[at] = at;
			at = back ? edges[last[at]].to : edges[last[at]].from;
		}
		return true;
	}
	return false;
}

/*
 * The shortest ways from this host to all, or with @back from all to it. Return false if one leads
 * in a circle of a length below 0, whose hosts are left out from now on.
 */
static inline bool baseline_shortest(const struct baseline_edge *edges, unsigned int n, bool back,
				     struct baseline_bound *bounds, bool *left_out)
{
	int last[BASELINE_HOSTS];
	bool changed = true;
	unsigned int i;

	for (i = 0; i < BASELINE_HOSTS; i++) {
		bounds[i] = (struct baseline_bound) { .ns = BASELINE_NONE };
		last[i] = -1;
	}
	bounds[0].ns = 0;
	while (changed) {
		changed = false;
		for (i = 0; i < n; i++) {
			if (!baseline_relax(&edges[i], back, bounds))
				continue;
			last[back ? edges[i].from : edges[i].to] = (int)i;
			changed = true;
		}
		if (changed && baseline_circle(edges, last, back, left_out))
			return false;
	}
	return true;
}

/**
 * baseline_solve() - compute the floors, and the bounds of all hosts' clocks
 * @lines: all, baseline_valid(), at most one from a host to another
 * @n: how many, at most BASELINE_LINES
 * @kept: floors that were known before, by class
 * @s: result
 */
static inline void baseline_solve(const struct baseline_line *lines, unsigned int n,
				  const struct baseline_floor *kept,
				  struct baseline_solution *s)
{
	struct baseline_edge edges[2 * BASELINE_LINES];
	unsigned int i, k;

	baseline_floors(lines, n, kept, s->floor);
	for (i = 0; i < BASELINE_HOSTS; i++) {
		s->pair[i] = (struct baseline_floor) { .ns = BASELINE_NONE };
		s->checked[i] = false;
		s->left_out[i] = false;
	}
	/* At least one host more each time: what is left out makes no such circle. */
	for (i = 0; i < BASELINE_HOSTS; i++) {
		k = baseline_edges(lines, n, s, edges);
		if (baseline_shortest(edges, k, false, s->upper, s->left_out) &&
		    baseline_shortest(edges, k, true, s->lower, s->left_out))
			break;
	}
	for (i = 0; i < BASELINE_HOSTS; i++) {
		if (s->lower[i].ns == BASELINE_NONE)
			continue;
		s->lower[i].ns = -s->lower[i].ns;
		s->lower[i].slope = -s->lower[i].slope;
	}
}

/* Answers ------------------------------------------------------------------ */

/**
 * baseline_answer() - compute the baseline of a path of this host
 * @s: solution
 * @own: the path, from host 0; of its line only the class counts
 * @answer: result
 *
 * The upper bound is the answer: with that no queue is believed that is not there.
 *
 * Return: false if nothing is known.
 */
static inline bool baseline_answer(const struct baseline_solution *s,
				   const struct baseline_line *own,
				   struct baseline_answer *answer)
{
	struct baseline_floor pair = s->pair[own->to];
	int64_t d_ns, slope;

	if (pair.ns == BASELINE_NONE)
		pair = s->floor[own->class];
	if (pair.ns == BASELINE_NONE || s->upper[own->to].ns == BASELINE_NONE)
		return false;
	d_ns = baseline_half(own, pair.ns);
	answer->line = *own;
	answer->line.value_ns = s->upper[own->to].ns + d_ns;
	answer->line.error_ns = s->upper[own->to].error_ns + pair.error_ns / 2;
	slope = s->upper[own->to].slope;
	answer->line.slope = slope < BASELINE_DRIFT_MAX ? (int32_t)slope : BASELINE_DRIFT_MAX;
	answer->least_ns = BASELINE_NONE;
	if (s->lower[own->to].ns != BASELINE_NONE)
		answer->least_ns = s->lower[own->to].ns - s->lower[own->to].error_ns + d_ns;
	return true;
}

/**
 * baseline_predict() - let a line that was known before be the answer, if that is lower
 * @before: the last answer that no prediction was in
 * @age_ns: since then, at most BASELINE_PREDICT_NS
 * @known: there is one now, @now
 * @now: bounds and answer of now; the result
 *
 * Under a queue into a host the ways by which it is known may go one by one. The delay of the empty
 * path and the clocks remain, whose rates wander.
 *
 * Return: whether @now is a prediction.
 */
static inline bool baseline_predict(const struct baseline_answer *before, int64_t age_ns,
				    bool known, struct baseline_answer *now)
{
	struct baseline_line line = before->line;

	line.value_ns += (age_ns * line.slope) >> 32;
	line.error_ns += age_ns / 1000000 * BASELINE_WANDER_PPM;
	if (known && now->least_ns != BASELINE_NONE && line.value_ns < now->least_ns)
		line.value_ns = now->least_ns;
	if (known &&
	    line.value_ns + line.error_ns >= now->line.value_ns + now->line.error_ns)
		return false;
	if (!known)
		now->least_ns = BASELINE_NONE;
	now->line = line;
	return true;
}

#endif /* BASELINE_CORE_H */
