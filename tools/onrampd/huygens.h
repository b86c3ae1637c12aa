/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Huygens, as published (Geng et al., "Exploiting a Natural Network Effect for Scalable,
 * Fine-grained Clock Synchronization", NSDI 2018): pure functions in double precision.
 *
 * Samples are of coded pairs of PROBEs (probe.h), as other clock less own clock:
 *
 *	way there	y = arrival - departure = theta + D + queue	above theta
 *	way back	y = departure - arrival = theta - D - queue	below theta
 *
 * A line between both kinds is theta, the difference of the clocks. The paper takes the one of a
 * linear support-vector machine with a soft margin. Its margin is vertical here, as slopes are
 * below 1e-3:
 *
 *	maximise over the slope a:  (mean of the lowest k of y - a t, way there) -
 *				    (mean of the highest k of y - a t, way back)
 *
 * That is the distance of two reduced hulls (nu-SVM, nu = k / n). With k = 1 they are the hulls of
 * both kinds. With a larger k, up to k - 1 samples may be on the wrong side. The distance is
 * concave in a, and its derivative is a difference of mean times, so halving intervals finds it.
 *
 * The differences of a loop of hosts add up to 0. The least squares of all differences is the same
 * as the paper's correction A'(AA')^-1 A of the loops: L phi = B' delta, L the Laplacian of the
 * graph of hosts. Differences are up to 2^62 ns: those along a tree are taken off first.
 */
#ifndef ONRAMPD_HUYGENS_H
#define ONRAMPD_HUYGENS_H

#include <math.h>

#include "baseline_core.h"

/* Samples of a way, and hosts, at most. */
#define HUYGENS_POINTS	512
#define HUYGENS_HOSTS	128
/* A part of the samples may be on the wrong side: one of 10. */
#define HUYGENS_SOFT	10
/* Largest slope: of two clocks. */
#define HUYGENS_SLOPE	400e-6
/* Halvings of that: to 1e-16. */
#define HUYGENS_STEPS	42

/* struct huygens_point - a sample, ns */
struct huygens_point {
	double t;
	double y;
};

/**
 * struct huygens_fit - two lines at the edges of the margin
 * @there: the upper one, at time 0
 * @back: the lower one
 * @slope: of both
 */
struct huygens_fit {
	double there;
	double back;
	double slope;
};

/**
 * struct huygens_edge - the difference of two hosts' clocks
 * @from: host
 * @to: host
 * @ns: clock of @to less that of @from
 * @slope: its slope, Q32
 * @weight: of its squares, above 0
 */
struct huygens_edge {
	unsigned int from;
	unsigned int to;
	int64_t ns;
	double slope;
	double weight;
};

/**
 * struct huygens_clock - a host's clock less that of host 0
 * @known: there is a way to it
 * @ns: now
 * @slope: Q32
 * @error_ns: mean square error of the differences that it is in
 */
struct huygens_clock {
	bool known;
	int64_t ns;
	double slope;
	double error_ns;
};

/* Two hosts ----------------------------------------------------------------- */

/* The mean of the lowest @k of sign * (y - slope * t), and the mean time of these. */
static inline double huygens_lowest(const struct huygens_point *points, unsigned int n, double sign,
				    double slope, unsigned int k, double *t)
{
	double low[HUYGENS_POINTS / HUYGENS_SOFT + 1], at[HUYGENS_POINTS / HUYGENS_SOFT + 1], y;
	double sum = 0;
	unsigned int i, j, m = 0;

	for (i = 0; i < n; i++) {
		y = sign * (points[i].y - slope * points[i].t);
		if (m == k && y >= low[m - 1])
			continue;
		for (j = m < k ? m++ : m - 1; j && low[j - 1] > y; j--) {
			low[j] = low[j - 1];
			at[j] = at[j - 1];
		}
		low[j] = y;
		at[j] = points[i].t;
	}
	for (i = 0, *t = 0; i < m; i++) {
		sum += low[i];
		*t += at[i] / m;
	}
	return sign * sum / m;
}

/**
 * huygens_svm() - fit the line between both kinds of samples
 * @there: samples of the way there
 * @n_there: how many, 1 to HUYGENS_POINTS
 * @back: of the way back
 * @n_back: how many
 * @fit: result
 */
static inline void huygens_svm(const struct huygens_point *there, unsigned int n_there,
			       const struct huygens_point *back, unsigned int n_back,
			       struct huygens_fit *fit)
{
	unsigned int k_there = n_there / HUYGENS_SOFT + !(n_there / HUYGENS_SOFT);
	unsigned int k_back = n_back / HUYGENS_SOFT + !(n_back / HUYGENS_SOFT), step;
	double low = -HUYGENS_SLOPE, high = HUYGENS_SLOPE, t_there, t_back;

	for (step = 0; step < HUYGENS_STEPS; step++) {
		fit->slope = (low + high) / 2;
		fit->there = huygens_lowest(there, n_there, 1, fit->slope, k_there, &t_there);
		fit->back = huygens_lowest(back, n_back, -1, fit->slope, k_back, &t_back);
		if (t_back > t_there)
			low = fit->slope;
		else
			high = fit->slope;
	}
}

/* All hosts ----------------------------------------------------------------- */

/* The clocks along a tree from host 0. */
static inline void huygens_tree(const struct huygens_edge *edges, unsigned int n,
				struct huygens_clock *clocks, unsigned int hosts)
{
	bool changed = true;
	unsigned int i;

	for (i = 0; i < hosts; i++)
		clocks[i] = (struct huygens_clock) { .known = !i };
	while (changed) {
		changed = false;
		for (i = 0; i < n; i++) {
			struct huygens_clock *from = &clocks[edges[i].from];
			struct huygens_clock *to = &clocks[edges[i].to];

			if (from->known == to->known)
				continue;
			changed = true;
			if (from->known)
				*to = (struct huygens_clock) {
					.known = true, .ns = from->ns + edges[i].ns,
					.slope = from->slope + edges[i].slope,
				};
			else
				*from = (struct huygens_clock) {
					.known = true, .ns = to->ns - edges[i].ns,
					.slope = to->slope - edges[i].slope,
				};
		}
	}
}

/* What is left of an edge without its clocks. */
static inline double huygens_left(const struct huygens_edge *e, const struct huygens_clock *clocks,
				  double *slope)
{
	*slope = e->slope - (clocks[e->to].slope - clocks[e->from].slope);
	return (double)(e->ns - (clocks[e->to].ns - clocks[e->from].ns));
}

/* Solve m x = r and m y = s for a symmetric positive matrix, the results in r and s: Cholesky. */
static inline void huygens_cholesky(double m[HUYGENS_HOSTS][HUYGENS_HOSTS], unsigned int n,
				    double *r, double *s)
{
	unsigned int i, j, k;

	for (i = 0; i < n; i++) {
		for (j = 0; j <= i; j++) {
			double sum = m[i][j];

			for (k = 0; k < j; k++)
				sum -= m[i][k] * m[j][k];
			m[i][j] = i == j ? sqrt(sum) : sum / m[j][j];
		}
		for (k = 0; k < i; k++) {
			r[i] -= m[i][k] * r[k];
			s[i] -= m[i][k] * s[k];
		}
		r[i] /= m[i][i];
		s[i] /= m[i][i];
	}
	for (i = n; i--; ) {
		for (k = i + 1; k < n; k++) {
			r[i] -= m[k][i] * r[k];
			s[i] -= m[k][i] * s[k];
		}
		r[i] /= m[i][i];
		s[i] /= m[i][i];
	}
}

/**
 * huygens_clocks() - compute all clocks, by the least squares of all differences
 * @edges: differences of two hosts
 * @n: how many
 * @clocks: result, by host
 * @hosts: how many, at most HUYGENS_HOSTS
 */
static inline void huygens_clocks(const struct huygens_edge *edges, unsigned int n,
				  struct huygens_clock *clocks, unsigned int hosts)
{
	static double m[HUYGENS_HOSTS][HUYGENS_HOSTS];
	double r[HUYGENS_HOSTS] = { 0 }, s[HUYGENS_HOSTS] = { 0 };
	unsigned int i, j, count[HUYGENS_HOSTS] = { 0 };

	huygens_tree(edges, n, clocks, hosts);
	for (i = 0; i < hosts; i++)
		for (j = 0; j < hosts; j++)
			m[i][j] = 0;
	/* Host 0 stays, and hosts without a way to it. */
	for (i = 0; i < hosts; i++)
		m[i][i] = !i || !clocks[i].known;
	for (i = 0; i < n; i++) {
		unsigned int from = edges[i].from, to = edges[i].to;
		double slope, ns = huygens_left(&edges[i], clocks, &slope);
		double weight = edges[i].weight;

		if (!clocks[from].known || !clocks[to].known)
			continue;
		if (from) {
			m[from][from] += weight;
			r[from] -= weight * ns;
			s[from] -= weight * slope;
		}
		if (to) {
			m[to][to] += weight;
			r[to] += weight * ns;
			s[to] += weight * slope;
		}
		if (from && to) {
			m[from][to] -= weight;
			m[to][from] -= weight;
		}
	}
	huygens_cholesky(m, hosts, r, s);
	for (i = 1; i < hosts; i++) {
		clocks[i].ns += (int64_t)llround(r[i]);
		clocks[i].slope += s[i];
	}
	for (i = 0; i < n; i++) {
		double slope, ns = huygens_left(&edges[i], clocks, &slope);

		clocks[edges[i].from].error_ns += ns * ns;
		clocks[edges[i].to].error_ns += ns * ns;
		count[edges[i].from]++;
		count[edges[i].to]++;
	}
	for (i = 0; i < hosts; i++)
		if (count[i])
			clocks[i].error_ns = sqrt(clocks[i].error_ns / count[i]);
}

/* The difference of two hosts' clocks, by the lines there and back. */
static inline struct huygens_edge huygens_edge(const struct baseline_line *l,
					       const struct baseline_line *back)
{
	return (struct huygens_edge) {
		.from = l->from, .to = l->to, .ns = (l->value_ns - back->value_ns) / 2,
		.slope = ((double)l->slope - back->slope) / 2, .weight = 1,
	};
}

/**
 * huygens_solve() - compute the clocks of all hosts, in place of baseline_solve()
 * @lines: all, baseline_valid(), at most one from a host to another
 * @n: how many, at most BASELINE_LINES
 * @kept: floors that were known before, by class
 * @s: result; both bounds are the clock, as nothing is known of its error but what loops say
 */
static inline void huygens_solve(const struct baseline_line *lines, unsigned int n,
				 const struct baseline_floor *kept,
				 struct baseline_solution *s)
{
	struct huygens_edge edges[BASELINE_LINES];
	struct huygens_clock clocks[BASELINE_HOSTS];
	unsigned int i, k = 0;

	baseline_floors(lines, n, kept, s->floor);
	for (i = 0; i < BASELINE_HOSTS; i++) {
		s->pair[i] = (struct baseline_floor) { .ns = BASELINE_NONE };
		s->left_out[i] = false;
	}
	for (i = 0; i < n; i++) {
		const struct baseline_line *l = &lines[i], *back = baseline_back(lines, n, l);

		if (!l->from)
			s->pair[l->to] = baseline_pair(l, back, s->floor);
		if (!back || l->from > l->to)
			continue;
		edges[k++] = huygens_edge(l, back);
	}
	huygens_clocks(edges, k, clocks, BASELINE_HOSTS);
	for (i = 0; i < BASELINE_HOSTS; i++) {
		struct baseline_bound bound = { .ns = BASELINE_NONE };

		if (clocks[i].known && clocks[i].error_ns < BASELINE_ERROR_MAX_NS)
			bound = (struct baseline_bound) {
				.ns = clocks[i].ns, .slope = llround(clocks[i].slope),
				.error_ns = llround(2 * clocks[i].error_ns),
			};
		s->upper[i] = bound;
		s->lower[i] = bound;
	}
}

#endif /* ONRAMPD_HUYGENS_H */
