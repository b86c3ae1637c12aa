// SPDX-License-Identifier: GPL-2.0
/*
 * baseline_core.h: cases computed by hand, and random clusters against a model in double precision
 * and against the truth.
 *
 *	baseline_model_test [SEED [STEPS]]
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "baseline_core.h"
#include "baseline_model.h"
#include "ktap.h"
#include "random.h"

#define US	1000LL
#define D	(10 * US)

static unsigned long steps = 2000000;

/* Clocks of hosts in a test, ns. */
static const s64 clocks[] = { 0, 70000 * US, -123456 * US, 999 * US };

static struct baseline_line lines[BASELINE_LINES];
static unsigned int n_lines;

/* Floors of before. */
static struct baseline_floor kept[BASELINE_CLASSES];

static void keep_nothing(void)
{
	unsigned int i;

	for (i = 0; i < BASELINE_CLASSES; i++)
		kept[i] = (struct baseline_floor) { .ns = BASELINE_NONE };
}

static void line(unsigned int from, unsigned int to, s64 queue_ns, bool clean)
{
	lines[n_lines++] = (struct baseline_line) {
		.from = from, .to = to, .clean = clean,
		.value_ns = clocks[to] - clocks[from] + D + queue_ns,
		.slope = 10 * (int)(to - from), .error_ns = 1 * US,
	};
}

/* Begin with hosts 0 and 1, which know an empty path. */
static void empty_pair(void)
{
	n_lines = 0;
	line(0, 1, 0, true);
	line(1, 0, 0, true);
}

/* Of the path to host @to: true if it is known. */
static bool answer(unsigned int to, struct baseline_answer *a, bool left_out)
{
	struct baseline_line own = { .to = to };
	struct baseline_solution s;
	bool any = false;
	unsigned int i;

	baseline_solve(lines, n_lines, kept, &s);
	for (i = 0; i < BASELINE_HOSTS; i++)
		any |= s.left_out[i];
	CHECK_EQ(any, left_out);
	return baseline_answer(&s, &own, a);
}

/* The way there has a queue of 300 us, the way back none. Hosts 0 and 1 know an empty path. */
static void core__way_back(void)
{
	struct baseline_answer a;

	empty_pair();
	line(0, 2, 300 * US, false);
	line(2, 0, 0, true);
	CHECK(answer(2, &a, false));
	CHECK_EQ(a.line.value_ns, clocks[2] + D);
	CHECK_EQ(a.line.error_ns, 1 * US);
	CHECK_EQ(a.line.slope, 20);
	CHECK_EQ(a.least_ns, clocks[2] + D - 1 * US);
	/* Nobody vouches for the way back: that is a bound from below only. */
	lines[3].clean = false;
	CHECK(answer(2, &a, false));
	CHECK_EQ(a.line.value_ns, clocks[2] + D + 300 * US);
	CHECK_EQ(a.least_ns, clocks[2] + D - 1 * US);
}

/* The path from host 0 to host 2 is longer than the way back: the error shows it. */
static void core__longer_one_way(void)
{
	struct baseline_solution s;
	s64 truth = clocks[2];
	unsigned int i, j;

	n_lines = 0;
	for (i = 0; i < 4; i++)
		for (j = 0; j < 4; j++)
			if (i != j)
				line(i, j, !i && j == 2 ? 5 * US : 0, true);
	baseline_solve(lines, n_lines, kept, &s);
	CHECK_EQ(s.floor[0].ns, 2 * D);
	for (i = 0; i < 4; i++) {
		CHECK(!s.left_out[i]);
		CHECK(s.upper[i].ns + s.upper[i].error_ns >= clocks[i]);
		CHECK(s.lower[i].ns - s.lower[i].error_ns <= clocks[i]);
	}
	/* Others know better than the path itself. */
	CHECK(s.upper[2].ns + s.upper[2].error_ns <= truth + 2 * US);
	/* Of two hosts alone, half of the difference is wrong, and the class says so. */
	n_lines = 0;
	line(0, 2, 5 * US, true);
	line(2, 0, 0, true);
	kept[0] = (struct baseline_floor) { .ns = 2 * D, .firm = true };
	baseline_solve(lines, n_lines, kept, &s);
	CHECK_EQ(s.upper[2].ns, truth + 5 * US / 2);
	CHECK_EQ(s.upper[2].error_ns, 1 * US);
	keep_nothing();
	line(0, 1, 0, true);
	line(1, 0, 0, true);
	line(3, 1, 0, true);
	line(1, 3, 0, true);
	baseline_solve(lines, n_lines, kept, &s);
	CHECK_EQ(s.upper[2].error_ns, 1 * US + 5 * US / 2);
	CHECK(s.lower[2].ns - s.lower[2].error_ns <= truth);
	/* Sums of 2 D + 2, 4 and 8 us: the middle one may be 2 us too high. */
	n_lines = 0;
	line(0, 1, 8 * US, true);
	line(1, 0, 0, true);
	line(0, 2, 4 * US, true);
	line(2, 0, 0, true);
	line(1, 3, 2 * US, true);
	line(3, 1, 0, true);
	baseline_solve(lines, n_lines, kept, &s);
	CHECK_EQ(s.upper[2].error_ns, 1 * US + 1 * US);
	CHECK_EQ(s.upper[1].error_ns, 1 * US + 3 * US);
}

/* Host 2 sends nothing back, but both send to host 1 and it to host 0. */
static void core__way_by_another(void)
{
	struct baseline_answer a;

	empty_pair();
	line(0, 2, 300 * US, false);
	line(2, 1, 0, true);
	CHECK(answer(2, &a, false));
	CHECK_EQ(a.line.value_ns, clocks[2] + D);
	CHECK_EQ(a.line.error_ns, 2 * US);
	CHECK_EQ(a.line.slope, 10 + 10);
	/* A path that was never used, either. */
	n_lines = 2;
	line(2, 1, 0, true);
	CHECK(answer(2, &a, false));
	CHECK_EQ(a.line.value_ns, clocks[2] + D);
	CHECK(!answer(3, &a, false));
	/* Without a pair of lines nothing is known of D. */
	n_lines = 1;
	CHECK(!answer(1, &a, false));
}

/* Incast: all that comes to host 2 waits, and what it sends does not. */
static void core__incast(void)
{
	struct baseline_answer a;

	empty_pair();
	line(0, 2, 300 * US, false);
	line(1, 2, 200 * US, false);
	line(3, 2, 100 * US, false);
	line(2, 3, 0, true);
	line(3, 0, 0, true);
	CHECK(answer(2, &a, false));
	CHECK_EQ(a.line.value_ns, clocks[2] + D);
}

/* The way to host 2 has a queue that stands still, and its kernel takes it for the path. */
static void core__stands_still(void)
{
	struct baseline_answer a;

	empty_pair();
	line(0, 2, 30 * US, true);
	line(2, 0, 0, true);
	line(1, 2, 0, true);
	line(2, 1, 0, true);
	CHECK(answer(2, &a, false));
	CHECK_EQ(a.line.value_ns, clocks[2] + D);
	CHECK_EQ(a.line.error_ns, 2 * US);
	/* It may be a longer link: that is no more than 20 us and four errors of the class. */
	n_lines = 4;
	lines[2].value_ns -= 10 * US;
	CHECK(answer(2, &a, false));
	CHECK_EQ(a.line.value_ns, clocks[2] + D + 20 * US);
	CHECK(a.least_ns > clocks[2] + D);
	lines[2].value_ns += 1;
	CHECK(answer(2, &a, false));
	CHECK_EQ(a.least_ns, clocks[2] + D - 1 * US);
	/* Sums of the class differ by 5 us, so this one may be above them by 40. */
	n_lines = 0;
	line(0, 1, 40 * US, true);
	line(1, 0, 0, true);
	CHECK(!baseline_far(&lines[0], &lines[1], &(struct baseline_floor) {
		.ns = 2 * D, .error_ns = 5 * US, .firm = true }));
	lines[0].value_ns += 1;
	CHECK(baseline_far(&lines[0], &lines[1], &(struct baseline_floor) {
		.ns = 2 * D, .error_ns = 5 * US, .firm = true }));
	CHECK(!baseline_far(&lines[0], &lines[1], &(struct baseline_floor) {
		.ns = 2 * D, .error_ns = 5 * US }));
}

/* A way over a line that is not clean rises, but not faster than two clocks may drift. */
static void core__drift(void)
{
	struct baseline_answer a;

	empty_pair();
	line(0, 2, 300 * US, false);
	lines[2].slope = BASELINE_DRIFT_MAX;
	CHECK(answer(2, &a, false));
	CHECK_EQ(a.line.slope, BASELINE_DRIFT_MAX);
	line(1, 2, 200 * US, false);
	lines[3].slope = BASELINE_DRIFT_MAX;
	CHECK(answer(2, &a, false));
	CHECK_EQ(a.line.value_ns, clocks[2] + D + 200 * US);
	CHECK_EQ(a.line.slope, BASELINE_DRIFT_MAX);
}

static void core__liars(void)
{
	struct baseline_answer a;

	empty_pair();
	line(0, 2, 300 * US, false);
	line(2, 0, 0, true);
	/* Host 3 says that packets to 2 take 100 us less than they do. */
	line(3, 0, 0, true);
	line(0, 3, 0, true);
	line(3, 2, -100 * US, true);
	CHECK(answer(2, &a, true));
	CHECK_EQ(a.line.value_ns, clocks[2] + D);
	/* Of its own path it can say what it wants, as it alone loses by that. */
	n_lines = 4;
	lines[3].value_ns += 100 * US;
	CHECK(answer(2, &a, false));
	CHECK_EQ(a.line.value_ns, clocks[2] + D - 100 * US);
	CHECK(answer(1, &a, false));
	CHECK_EQ(a.line.value_ns, clocks[1] + D);
	/* This host has seen better, and so has each host of its own paths. */
	lines[2].clean = true;
	CHECK(answer(2, &a, false));
	CHECK_EQ(a.line.value_ns, clocks[2] + D + 300 * US);
}

/* Paths of a class differ: one that is shorter, or known to be longer, has its own D. */
static void core__pairs(void)
{
	struct baseline_answer a;

	empty_pair();
	line(2, 0, -3 * US, true);
	line(0, 2, -3 * US, false);
	CHECK(answer(2, &a, false));
	CHECK_EQ(a.line.value_ns, clocks[2] + D - 3 * US);
	line(3, 0, 5 * US, true);
	line(0, 3, 5 * US, true);
	CHECK(answer(3, &a, false));
	CHECK_EQ(a.line.value_ns, clocks[3] + D + 5 * US);
	/* Less than nothing: none of it counts. */
	n_lines = 2;
	lines[0].value_ns -= 50 * US;
	CHECK(!answer(2, &a, false));
}

static void floor_is(s64 ns, s64 error_ns, bool clean)
{
	struct baseline_floor floors[BASELINE_CLASSES];

	baseline_floors(lines, n_lines, kept, floors);
	CHECK_EQ(floors[0].ns, ns);
	CHECK_EQ(floors[0].error_ns, error_ns);
	CHECK_EQ(floors[0].clean, clean);
	CHECK_EQ(floors[1].ns, BASELINE_NONE);
}

static void core__floors(void)
{
	n_lines = 0;
	line(0, 1, 40 * US, false);
	line(1, 0, 0, true);
	floor_is(2 * D + 40 * US, 0, false);
	/* Clean pairs: the lower one of two, the middle one of three. */
	line(0, 2, 8 * US, true);
	line(2, 0, 0, true);
	floor_is(2 * D + 8 * US, 0, true);
	line(0, 3, 2 * US, true);
	line(3, 0, 0, true);
	floor_is(2 * D + 2 * US, 0, true);
	line(1, 2, 4 * US, true);
	line(2, 1, 0, true);
	floor_is(2 * D + 4 * US, 2 * US, true);
	/* The third of four is above the second by the error. */
	line(1, 3, 7 * US, true);
	line(3, 1, 0, true);
	floor_is(2 * D + 4 * US, 3 * US, true);
	/* No two hosts are nearer than nothing. */
	n_lines = 2;
	lines[0].value_ns -= 1000 * US;
	floor_is(BASELINE_NONE, 0, false);
	lines[0].value_ns += 1000 * US;
	/* Both ways have to be of one class. */
	lines[1].class = 1;
	floor_is(BASELINE_NONE, 0, false);
}

/* Lines of data: what is clean may be a queue that stands still. */
static void core__data(void)
{
	struct baseline_answer a;
	unsigned int i;

	n_lines = 0;
	line(0, 1, 0, true);
	line(1, 0, 0, true);
	line(0, 2, 12 * US, true);
	line(2, 0, 0, true);
	line(3, 2, 30 * US, true);
	line(0, 3, 300 * US, false);
	for (i = 0; i < n_lines; i++)
		lines[i].data = true;
	/* Two pairs are too few. */
	floor_is(2 * D, 0, false);
	CHECK(!answer(2, &a, false));
	/* PROBEs of one are enough, */
	lines[0].data = false;
	lines[1].data = false;
	floor_is(2 * D, 0, true);
	CHECK(answer(2, &a, false));
	CHECK_EQ(a.line.value_ns, clocks[2] + D + 12 * US);
	CHECK_EQ(a.line.error_ns, 1 * US + 2 * 6 * US);
	/* and so is what was known before. */
	lines[0].data = true;
	lines[1].data = true;
	kept[0] = (struct baseline_floor) { .ns = 2 * D, .firm = true };
	floor_is(2 * D, 0, false);
	CHECK(answer(2, &a, false));
	CHECK_EQ(a.line.value_ns, clocks[2] + D + 12 * US);
	/* A way back with no more of a queue than is noise tells as well. */
	lines[0].clean = false;
	lines[0].value_ns += 1 * US;
	CHECK(answer(1, &a, false));
	CHECK_EQ(a.line.value_ns, clocks[1] + D);
	lines[0].value_ns += 1;
	CHECK(answer(1, &a, false));
	CHECK_EQ(a.line.value_ns, clocks[1] + D + 1 * US + 1);
	lines[0].value_ns -= 1 * US + 1;
	lines[0].clean = true;
	keep_nothing();
	/* Or data of three. The line from host 3 has no way back, so it is not believed. */
	line(1, 2, 0, true);
	line(2, 1, 0, true);
	lines[6].data = true;
	lines[7].data = true;
	floor_is(2 * D, 0, true);
	CHECK(answer(3, &a, false));
	CHECK_EQ(a.line.value_ns, clocks[3] + D + 300 * US);
	lines[4].data = false;
	CHECK(answer(3, &a, false));
	CHECK(a.line.value_ns < clocks[3] + D);
}

/* The way there has a queue, and no two hosts know an empty path: what was known before counts. */
static void core__kept(void)
{
	struct baseline_answer a;

	n_lines = 0;
	line(0, 2, 300 * US, false);
	line(2, 0, 0, true);
	CHECK(answer(2, &a, false));
	CHECK_EQ(a.line.value_ns, clocks[2] + D + 300 * US);
	kept[0] = (struct baseline_floor) { .ns = 2 * D, .error_ns = 3 * US, .firm = true };
	floor_is(2 * D, 3 * US, false);
	CHECK(answer(2, &a, false));
	CHECK_EQ(a.line.value_ns, clocks[2] + D);
	CHECK_EQ(a.line.error_ns, 1 * US + 2 * 1500);
	/* A path that has no line takes it, too. */
	lines[0].to = 3;
	CHECK(answer(2, &a, false));
	CHECK_EQ(a.line.value_ns, clocks[2] + D);
	lines[0].to = 2;
	/* It is wrong if two lines show a lower one, clean or not, or if two clean ones do. */
	kept[0].ns = 2 * D + 301 * US;
	floor_is(2 * D + 300 * US, 0, false);
	lines[0].clean = true;
	kept[0].ns = 2 * D;
	floor_is(2 * D + 300 * US, 0, true);
	keep_nothing();
}

static void core__valid(void)
{
	struct baseline_line l = { .to = 1 };

	CHECK(baseline_valid(&l));
	l.value_ns = BASELINE_MAX_NS - 1;
	l.error_ns = BASELINE_ERROR_MAX_NS;
	CHECK(baseline_valid(&l));
	l.error_ns++;
	CHECK(!baseline_valid(&l));
	l.error_ns = -1;
	CHECK(!baseline_valid(&l));
	l.error_ns = 0;
	l.value_ns++;
	CHECK(!baseline_valid(&l));
	l.value_ns = -BASELINE_MAX_NS;
	CHECK(!baseline_valid(&l));
	l.value_ns++;
	l.slope = BASELINE_SLOPE_MAX;
	CHECK(baseline_valid(&l));
	l.slope++;
	CHECK(!baseline_valid(&l));
	l.slope = -BASELINE_SLOPE_MAX - 1;
	CHECK(!baseline_valid(&l));
	l.slope = 0;
	l.class = BASELINE_CLASSES - 1;
	l.to = BASELINE_HOSTS - 1;
	CHECK(baseline_valid(&l));
	l.to++;
	CHECK(!baseline_valid(&l));
	l.to = 0;
	CHECK(!baseline_valid(&l));
	l.from = BASELINE_HOSTS;
	CHECK(!baseline_valid(&l));
	l.from = 1;
	l.class++;
	CHECK(!baseline_valid(&l));
}

/* What was known a second ago, between clocks that drift apart by 50 ppm. */
static void core__predict(void)
{
	const struct baseline_answer before = {
		.line = { .value_ns = 500 * US, .slope = 214748, .error_ns = 1 * US },
	};
	const struct baseline_answer queue = {
		.line = { .value_ns = 900 * US, .error_ns = 2 * US }, .least_ns = BASELINE_NONE,
	};
	struct baseline_answer now = { .line.value_ns = 0 };

	CHECK(baseline_predict(&before, 1000000000, false, &now));
	CHECK_NEAR(now.line.value_ns, 550 * US, 5);
	CHECK_EQ(now.line.error_ns, 8 * US);
	CHECK_EQ(now.line.slope, 214748);
	CHECK_EQ(now.least_ns, BASELINE_NONE);
	now = queue;
	CHECK(baseline_predict(&before, 1000000000, true, &now));
	CHECK_NEAR(now.line.value_ns, 550 * US, 5);
	/* Not below what is possible, */
	now = queue;
	now.least_ns = 600 * US;
	CHECK(baseline_predict(&before, 1000000000, true, &now));
	CHECK_EQ(now.line.value_ns, 600 * US);
	/* nor above what is known. */
	now = queue;
	now.line.value_ns = 552 * US - 100;
	CHECK(!baseline_predict(&before, 1000000000, true, &now));
	CHECK_EQ(now.line.value_ns, 552 * US - 100);
}

/* Clocks as far apart as can be, and lines whose sum is farther than that: nothing overflows. */
static void core__extremes(void)
{
	struct baseline_solution s;
	unsigned int i;

	n_lines = 0;
	for (i = 0; i < BASELINE_HOSTS - 1; i++) {
		lines[n_lines++] = (struct baseline_line) {
			.from = i, .to = i + 1, .value_ns = BASELINE_MAX_NS - 1,
			.slope = BASELINE_SLOPE_MAX, .error_ns = BASELINE_ERROR_MAX_NS,
		};
		lines[n_lines++] = (struct baseline_line) {
			.from = i + 1, .to = i, .value_ns = 2 - BASELINE_MAX_NS,
			.slope = -BASELINE_SLOPE_MAX, .error_ns = BASELINE_ERROR_MAX_NS,
			.clean = true,
		};
	}
	baseline_solve(lines, n_lines, kept, &s);
	CHECK(!s.left_out[1]);
	CHECK_EQ(s.floor[0].ns, 1);
	CHECK_EQ(s.upper[1].ns, BASELINE_MAX_NS - 1);
	CHECK_EQ(s.upper[2].ns, BASELINE_SUM_NS - 2);
	CHECK_EQ(s.upper[3].ns, BASELINE_NONE);
}

/*
 * A random cluster: clean lines have no queue, and errors within what they say. The floors of some
 * classes were known before.
 */
static void cluster(bool honest)
{
	unsigned int hosts = 2 + random_u64() % 12, i, j;
	s64 clock_ns[16], d_ns[4];

	for (i = 0; i < 4; i++)
		d_ns[i] = (s64)log_uniform(1e3, 1e5);
	keep_nothing();
	for (i = 0; i < 4; i++)
		if (chance(0.5))
			kept[i] = (struct baseline_floor) {
				.ns = 2 * d_ns[i] + (honest ? 0 : (s64)uniform(-1e3, 1e3)),
				.error_ns = (s64)uniform(0, 5e3), .firm = true,
			};
	for (i = 0; i < hosts; i++)
		clock_ns[i] = (s64)uniform(-1e12, 1e12);
	n_lines = 0;
	for (i = 0; i < hosts; i++) {
		for (j = 0; j < hosts; j++) {
			struct baseline_line *l = &lines[n_lines];

			if (i == j || chance(0.5))
				continue;
			*l = (struct baseline_line) {
				.from = i, .to = j, .class = (i ^ j) % 4 * !chance(0.01),
				.clean = chance(0.6), .error_ns = (s64)log_uniform(10, 2e3),
			};
			l->value_ns = clock_ns[j] - clock_ns[i] + d_ns[(i ^ j) % 4];
			if (!l->clean)
				l->value_ns += (s64)exponential(1e5);
			if (!honest && chance(0.03))
				l->value_ns -= (s64)uniform(-1e5, 1e5);
			n_lines++;
		}
	}
}

static void model(struct baseline_model *m)
{
	static struct model_line in[MODEL_LINES];
	unsigned int i;

	for (i = 0; i < n_lines; i++)
		in[i] = (struct model_line) {
			.from = lines[i].from, .to = lines[i].to, .class = lines[i].class,
			.clean = lines[i].clean, .ns = (double)lines[i].value_ns,
			.error_ns = (double)lines[i].error_ns,
		};
	for (i = 0; i < BASELINE_CLASSES; i++) {
		m->floor_ns[i] = kept[i].ns == BASELINE_NONE ? (double)INFINITY :
				 (double)kept[i].ns;
		m->floor_error_ns[i] = (double)kept[i].error_ns;
		m->firm[i] = kept[i].firm;
	}
	baseline_model(in, (int)n_lines, m);
}

static void model__same(void)
{
	static struct baseline_solution s;
	struct baseline_model m;
	bool any;
	unsigned int i;
	unsigned long run, runs = steps / 10000;

	for (run = 0; run < runs; run++) {
		cluster(run % 2);
		baseline_solve(lines, n_lines, kept, &s);
		for (i = 0; i < BASELINE_HOSTS; i++)
			m.left_out[i] = s.left_out[i];
		model(&m);
		CHECK(m.fits);
		for (i = 0, any = false; i < BASELINE_HOSTS; i++) {
			any |= s.left_out[i];
			CHECK(!s.left_out[i] || m.circled[i]);
		}
		CHECK_EQ(!any, !!m.all_fit);
		for (i = 0; i < BASELINE_CLASSES; i++) {
			CHECK_EQ(s.floor[i].ns == BASELINE_NONE, !!isinf(m.floor_ns[i]));
			if (s.floor[i].ns == BASELINE_NONE)
				continue;
			CHECK_NEAR(s.floor[i].ns, m.floor_ns[i], 0);
			CHECK_NEAR(s.floor[i].error_ns, m.floor_error_ns[i], 0);
		}
		for (i = 0; i < BASELINE_HOSTS; i++) {
			CHECK_EQ(s.upper[i].ns == BASELINE_NONE, !!isinf(m.upper_ns[i]));
			CHECK_EQ(s.lower[i].ns == BASELINE_NONE, !!isinf(m.lower_ns[i]));
			if (s.upper[i].ns != BASELINE_NONE)
				CHECK_NEAR(s.upper[i].ns + s.upper[i].error_ns, m.upper_ns[i], 0);
			if (s.lower[i].ns != BASELINE_NONE)
				CHECK_NEAR(s.lower[i].ns - s.lower[i].error_ns, m.lower_ns[i], 0);
		}
		if (ktap_failures)
			return;
	}
}

int main(int argc, char **argv)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(core__way_back),
		KTAP_CASE(core__longer_one_way),
		KTAP_CASE(core__way_by_another),
		KTAP_CASE(core__incast),
		KTAP_CASE(core__stands_still),
		KTAP_CASE(core__drift),
		KTAP_CASE(core__liars),
		KTAP_CASE(core__pairs),
		KTAP_CASE(core__floors),
		KTAP_CASE(core__data),
		KTAP_CASE(core__kept),
		KTAP_CASE(core__valid),
		KTAP_CASE(core__predict),
		KTAP_CASE(core__extremes),
		KTAP_CASE(model__same),
	};

	keep_nothing();
	random_state = argc > 1 ? strtoull(argv[1], NULL, 0) : 20150817;
	if (argc > 2)
		steps = strtoul(argv[2], NULL, 0);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
