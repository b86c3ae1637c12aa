// SPDX-License-Identifier: GPL-2.0
/*
 * huygens.h: the support-vector machine against all slopes that may be the best one, and the least
 * squares against the paper's correction of loops, which has another matrix.
 */
#include <string.h>

#include "core_user.h"
#include "ktap.h"
#include "huygens.h"
#include "random.h"

/* Two hosts ----------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The margin for a slope, by sorting. */
static double margin(const struct huygens_point *there, unsigned int n,
		     const struct huygens_point *back, unsigned int m, double slope)
{
	double ys[2][64], up = 0, down = 0;
	unsigned int i, k = n < 10 ? 1 : n / 10, l = m < 10 ? 1 : m / 10;

	for (i = 0; i < n; i++)
		ys[0][i] = there[i].y - slope * there[i].t;
	for (i = 0; i < m; i++)
		ys[1][i] = back[i].y - slope * back[i].t;
	qsort(ys[0], n, sizeof(double), by_size);
	qsort(ys[1], m, sizeof(double), by_size);
	for (i = 0; i < k; i++)
		up += ys[0][i] / k;
	for (i = 0; i < l; i++)
		down += ys[1][m - 1 - i] / l;
	return up - down;
}

/* The best slope is one by which the order of two samples of a way changes. */
static double best_margin(const struct huygens_point *there, unsigned int n,
			  const struct huygens_point *back, unsigned int m)
{
	double best = -INFINITY;
	unsigned int way, i, j;

	for (way = 0; way < 2; way++) {
		const struct huygens_point *p = way ? back : there;

		for (i = 0; i < (way ? m : n); i++) {
			for (j = 0; j < i; j++) {
				double at = margin(there, n, back, m,
						   (p[i].y - p[j].y) / (p[i].t - p[j].t));

				best = at > best ? at : best;
			}
		}
	}
	return best;
}

static void huygens__svm(void)
{
	struct huygens_point there[64], back[64];
	struct huygens_fit fit;
	unsigned int round, i;

	random_state = 3;
	for (round = 0; round < 200; round++) {
		unsigned int n = 2 + random_u64() % 40, m = 2 + random_u64() % 40;
		double slope = uniform(-90e-6, 90e-6), noise = log_uniform(5, 5000);

		for (i = 0; i < n; i++) {
			there[i].t = uniform(-2e9, 0);
			there[i].y = 9000 + slope * there[i].t + exponential(noise);
		}
		for (i = 0; i < m; i++) {
			back[i].t = uniform(-2e9, 0);
			back[i].y = -9000 + slope * back[i].t - exponential(noise);
		}
		/* Some on the wrong side. */
		if (round % 2)
			there[0].y = -50000;
		huygens_svm(there, n, back, m, &fit);
		if (fabs(fit.slope) < 0.99 * HUYGENS_SLOPE) {
			CHECK_NEAR(fit.there - fit.back, best_margin(there, n, back, m), 0.01);
			CHECK_NEAR(fit.there - fit.back, margin(there, n, back, m, fit.slope),
				   0.001);
		}
		if (round % 2 || n < 20 || m < 20)
			continue;
		CHECK_NEAR((fit.there + fit.back) / 2, 0, noise);
		CHECK_NEAR(fit.slope, slope, noise * 2e-9);
	}
}

/* Two lines without noise: both are found. */
static void huygens__svm_lines(void)
{
	struct huygens_point there[50], back[50];
	struct huygens_fit fit;
	unsigned int i;

	for (i = 0; i < 50; i++) {
		there[i] = (struct huygens_point) { -40e6 * i, 12000 - 40e6 * i * 33e-6 };
		back[i] = (struct huygens_point) {
			-40e6 * i - 9e6, -4000 - (40e6 * i + 9e6) * 33e-6,
		};
		/* Four of fifty have a gross error. */
		if (i % 13 == 5)
			there[i].y -= 30000;
	}
	huygens_svm(there, 50, back, 50, &fit);
	CHECK_NEAR(fit.back, -4000, 0.01);
	CHECK(fit.there < 12000);
	for (i = 0; i < 50; i++)
		if (i % 13 == 5)
			there[i].y += 60000;
	huygens_svm(there, 50, back, 50, &fit);
	CHECK_NEAR(fit.there, 12000, 0.01);
	CHECK_NEAR(fit.slope, 33e-6, 1e-10);
}

/* All hosts ----------------------------------------------------------------- */

#define HOSTS	12
#define EDGES	30

/* Solve m x = r, by Gauss with pivots. */
static void gauss(double m[EDGES][EDGES], unsigned int n, double *r)
{
	unsigned int i, j, k;

	for (i = 0; i < n; i++) {
		unsigned int best = i;
		double t;

		for (j = i; j < n; j++)
			if (fabs(m[j][i]) > fabs(m[best][i]))
				best = j;
		for (k = 0; k < n; k++) {
			t = m[i][k];
			m[i][k] = m[best][k];
			m[best][k] = t;
		}
		t = r[i];
		r[i] = r[best];
		r[best] = t;
		for (j = 0; j < n; j++) {
			double by = m[j][i] / m[i][i];

			if (j == i)
				continue;
			for (k = i; k < n; k++)
				m[j][k] -= by * m[i][k];
			r[j] -= by * r[i];
		}
	}
	for (i = 0; i < n; i++)
		r[i] /= m[i][i];
}

/*
 * The paper: delta' = delta - A'(AA')^-1 A delta, with a row of A for each of a base of the loops.
 * The first HOSTS - 1 edges are a tree, each of which leads from a lower host to the next one, so
 * each other edge makes a loop with those between its ends.
 */
static void loops(const struct huygens_edge *edges, unsigned int n, double *corrected)
{
	static double a[EDGES][EDGES], m[EDGES][EDGES];
	double r[EDGES];
	unsigned int i, j, k, n_loops = n - (HOSTS - 1);

	memset(a, 0, sizeof(a));
	for (i = 0; i < n_loops; i++) {
		const struct huygens_edge *e = &edges[HOSTS - 1 + i];
		unsigned int low = e->from < e->to ? e->from : e->to;
		unsigned int high = e->from < e->to ? e->to : e->from;

		a[i][HOSTS - 1 + i] = 1;
		for (j = low; j < high; j++)
			a[i][j] = e->from < e->to ? -1 : 1;
	}
	for (i = 0; i < n_loops; i++) {
		r[i] = 0;
		for (k = 0; k < n; k++)
			r[i] += a[i][k] * (double)edges[k].ns;
		for (j = 0; j < n_loops; j++) {
			m[i][j] = 0;
			for (k = 0; k < n; k++)
				m[i][j] += a[i][k] * a[j][k];
		}
	}
	gauss(m, n_loops, r);
	for (k = 0; k < n; k++) {
		corrected[k] = (double)edges[k].ns;
		for (i = 0; i < n_loops; i++)
			corrected[k] -= a[i][k] * r[i];
	}
}

static void huygens__loops(void)
{
	struct huygens_clock clocks[HOSTS + 2];
	struct huygens_edge edges[EDGES];
	double corrected[EDGES];
	unsigned int round, i;

	random_state = 4;
	for (round = 0; round < 100; round++) {
		for (i = 0; i < EDGES; i++) {
			struct huygens_edge *e = &edges[i];

			e->from = i < HOSTS - 1 ? i : random_u64() % HOSTS;
			e->to = i < HOSTS - 1 ? i + 1 :
				(e->from + 1 + random_u64() % (HOSTS - 1)) % HOSTS;
			e->ns = ((int64_t)e->to - (int64_t)e->from) * 1000000 +
				(int64_t)normal(chance(0.1) ? 100000 : 1000);
			e->slope = (double)e->ns;
			e->weight = 1 + round % 3;
		}
		loops(edges, EDGES, corrected);
		huygens_clocks(edges, EDGES, clocks, HOSTS + 2);
		for (i = 0; i < EDGES; i++) {
			const struct huygens_edge *e = &edges[i];

			CHECK_NEAR(clocks[e->to].ns - clocks[e->from].ns, corrected[i], 1.5);
			CHECK_NEAR(clocks[e->to].slope - clocks[e->from].slope, corrected[i], 1e-3);
		}
		CHECK(!clocks[HOSTS].known && !clocks[HOSTS + 1].known);
		CHECK_EQ(clocks[0].ns, 0);
	}
}

/* Clocks are years apart, and differences keep their ns. */
static void huygens__far_apart(void)
{
	struct huygens_edge edges[3] = {
		{ .from = 1, .to = 0, .ns = -(1LL << 60), .weight = 1 },
		{ .from = 1, .to = 2, .ns = -(1LL << 60) - 77, .weight = 1 },
		{ .from = 2, .to = 0, .ns = 77 + 30, .weight = 1 },
	};
	struct huygens_clock clocks[3];

	huygens_clocks(edges, 3, clocks, 3);
	CHECK_EQ(clocks[1].ns, (1LL << 60) - 10);
	CHECK_EQ(clocks[2].ns, -77 - 20);
	/* Each edge is 10 ns off. */
	CHECK_NEAR(clocks[1].error_ns, 10, 0.01);
	/* One that hardly counts has all of it. */
	edges[1].weight = 1e-6;
	huygens_clocks(edges, 3, clocks, 3);
	CHECK_EQ(clocks[1].ns, 1LL << 60);
	CHECK_EQ(clocks[2].ns, -77 - 30);
}

int main(void)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(huygens__svm),
		KTAP_CASE(huygens__svm_lines),
		KTAP_CASE(huygens__loops),
		KTAP_CASE(huygens__far_apart),
	};

	return ktap_run(cases, ARRAY_SIZE(cases));
}
