// SPDX-License-Identifier: GPL-2.0
#include <math.h>

#include "baseline_model.h"

static double ways[MODEL_HOSTS][MODEL_HOSTS];

/* The value that has @at others below it, with those that are the same in any order. */
static double model_nth(const double *sums, int n, int at)
{
	int i, j, below, same;

	for (i = 0; i < n; i++) {
		for (j = 0, below = 0, same = 0; j < n; j++) {
			below += sums[j] < sums[i];
			same += sums[j] == sums[i];
		}
		if (below <= at && below + same > at)
			return sums[i];
	}
	return INFINITY;
}

static void model_floor(const struct model_line *lines, int n, int class,
			struct baseline_model *m)
{
	double sums[MODEL_LINES], lowest = INFINITY;
	int i, j, pairs = 0;

	for (i = 0; i < n; i++) {
		for (j = 0; j < n; j++) {
			const struct model_line *a = &lines[i], *b = &lines[j];

			if (a->from != b->to || a->to != b->from || a->from >= a->to ||
			    a->class != class || b->class != class)
				continue;
			if (a->ns + b->ns < 0)
				continue;
			lowest = fmin(lowest, a->ns + b->ns);
			if (a->clean && b->clean)
				sums[pairs++] = a->ns + b->ns;
		}
	}
	if (pairs) {
		m->floor_ns[class] = model_nth(sums, pairs, (pairs - 1) / 2);
		m->floor_error_ns[class] =
			fmin(1e7, fmax(model_nth(sums, pairs, 3 * (pairs - 1) / 4) -
				       m->floor_ns[class],
				       m->floor_ns[class] -
				       model_nth(sums, pairs, (pairs - 1) / 4)));
		m->firm[class] = 1;
	} else if (lowest < m->floor_ns[class]) {
		m->floor_ns[class] = lowest;
		m->floor_error_ns[class] = 0;
		m->firm[class] = 0;
	}
}

/* Do two clean lines claim a path that is 20 us longer than their class, errors aside? */
static int model_far(const struct baseline_model *m, const struct model_line *a,
		     const struct model_line *b)
{
	return a->clean && b->clean && m->firm[a->class] &&
	       a->ns + b->ns - m->floor_ns[a->class] > 4 * m->floor_error_ns[a->class] + 20000;
}

/* D of a line, in whole ns, its error, and whether it is firm. */
static double model_half(const struct model_line *lines, int n,
			 const struct baseline_model *m, const struct model_line *l,
			 double *error_ns, int *firm)
{
	double pair = m->floor_ns[l->class], sum;
	int i;

	*error_ns = trunc(m->floor_error_ns[l->class] / 2);
	*firm = m->firm[l->class];
	for (i = 0; i < n; i++) {
		const struct model_line *b = &lines[i];
		int clean;

		if (b->from != l->to || b->to != l->from)
			continue;
		sum = l->ns + b->ns;
		clean = l->clean && b->clean && !model_far(m, l, b);
		if (clean || sum < pair) {
			pair = sum;
			*error_ns = clean && m->firm[l->class] ?
				    trunc(fmax(sum - m->floor_ns[l->class] +
					       m->floor_error_ns[l->class], 0) / 2) : 0;
			*firm = clean;
		}
	}
	return l->from < l->to ? trunc(pair / 2) : pair - trunc(pair / 2);
}

static void model_edge(int from, int to, double ns)
{
	ways[from][to] = fmin(ways[from][to], ns);
}

static int model_ways(const struct model_line *lines, int n,
		      const struct baseline_model *m, const int *left_out)
{
	int i, j, k;

	for (i = 0; i < MODEL_HOSTS; i++)
		for (j = 0; j < MODEL_HOSTS; j++)
			ways[i][j] = i == j ? 0 : INFINITY;
	for (i = 0; i < n; i++) {
		const struct model_line *l = &lines[i];
		int firm;
		double error, d = model_half(lines, n, m, l, &error, &firm);
		int clean = l->clean;

		for (j = 0; j < n; j++)
			if (lines[j].from == l->to && lines[j].to == l->from)
				clean &= !model_far(m, l, &lines[j]);

		if (isinf(d) ||
		    (l->from && l->to && (left_out[l->from] || left_out[l->to])))
			continue;
		error += l->error_ns;
		if (firm)
			model_edge(l->from, l->to, l->ns - d + error);
		if (clean)
			model_edge(l->to, l->from, d - l->ns + error);
	}
	for (k = 0; k < MODEL_HOSTS; k++)
		for (i = 0; i < MODEL_HOSTS; i++)
			for (j = 0; j < MODEL_HOSTS; j++)
				model_edge(i, j, ways[i][k] + ways[k][j]);
	/* Only circles that this host can come to, and those that lead to it. */
	for (i = 0; i < MODEL_HOSTS; i++)
		if (ways[i][i] < 0 && (!isinf(ways[0][i]) || !isinf(ways[i][0])))
			return 0;
	return 1;
}

void baseline_model(const struct model_line *lines, int n, struct baseline_model *m)
{
	static const int none[MODEL_HOSTS];
	int i;

	for (i = 0; i < MODEL_CLASSES; i++)
		model_floor(lines, n, i, m);
	m->all_fit = model_ways(lines, n, m, none);
	for (i = 0; i < MODEL_HOSTS; i++)
		m->circled[i] = ways[i][i] < 0;
	m->fits = model_ways(lines, n, m, m->left_out);
	for (i = 0; i < MODEL_HOSTS; i++) {
		m->upper_ns[i] = ways[0][i];
		m->lower_ns[i] = -ways[i][0];
	}
}
