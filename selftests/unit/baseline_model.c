// SPDX-License-Identifier: GPL-2.0
#include <math.h>

#include "baseline_model.h"

static double ways[MODEL_HOSTS][MODEL_HOSTS];

/* The value that as many of the pairs' sums are above as below, or one fewer. */
static double model_floor(const struct model_line *lines, int n, int class)
{
	double sums[MODEL_LINES], lowest = INFINITY;
	int i, j, below, same, pairs = 0;

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
	for (i = 0; i < pairs; i++) {
		for (j = 0, below = 0, same = 0; j < pairs; j++) {
			below += sums[j] < sums[i];
			same += sums[j] == sums[i];
		}
		if (below <= (pairs - 1) / 2 && below + same > (pairs - 1) / 2)
			return sums[i];
	}
	return lowest;
}

/* D of a line, in whole ns. */
static double model_half(const struct model_line *lines, int n,
			 const struct baseline_model *m, const struct model_line *l)
{
	double pair = m->floor_ns[l->class], sum;
	int i;

	for (i = 0; i < n; i++) {
		const struct model_line *b = &lines[i];

		if (b->from != l->to || b->to != l->from)
			continue;
		sum = l->ns + b->ns;
		pair = l->clean && b->clean ? sum : fmin(pair, sum);
	}
	return l->from < l->to ? trunc(pair / 2) : pair - trunc(pair / 2);
}

static void model_edge(int from, int to, double ns)
{
	ways[from][to] = fmin(ways[from][to], ns);
}

static int model_ways(const struct model_line *lines, int n,
		      const struct baseline_model *m, int own)
{
	int i, j, k;

	for (i = 0; i < MODEL_HOSTS; i++)
		for (j = 0; j < MODEL_HOSTS; j++)
			ways[i][j] = i == j ? 0 : INFINITY;
	for (i = 0; i < n; i++) {
		const struct model_line *l = &lines[i];
		double d = model_half(lines, n, m, l);

		if (isinf(d) || (own && l->from && l->to))
			continue;
		model_edge(l->from, l->to, l->ns - d + l->error_ns);
		if (l->clean)
			model_edge(l->to, l->from, d - l->ns + l->error_ns);
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
	int i;

	for (i = 0; i < MODEL_CLASSES; i++)
		m->floor_ns[i] = model_floor(lines, n, i);
	m->own = !model_ways(lines, n, m, 0);
	if (m->own)
		model_ways(lines, n, m, 1);
	for (i = 0; i < MODEL_HOSTS; i++) {
		m->upper_ns[i] = ways[0][i];
		m->lower_ns[i] = -ways[i][0];
	}
}
