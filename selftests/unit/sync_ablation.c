// SPDX-License-Identifier: GPL-2.0
/*
 * Huygens as published, and onrampd's bounds, on the same samples of 100 hosts: a simulation of the
 * estimators, not of hosts.
 *
 *	sync_ablation [--seed N] [--seconds N] [--hosts N]
 *
 * Each host exchanges coded pairs of PROBEs with 10 others, at random, 100 a second each way.
 * Clocks drift by up to 50 ppm, and their rates wander. 10 hosts are behind one switch. Of each
 * path the switch's link up and the receiver's link have a queue: batches of packets arrive at
 * random, at a share of 10 Gbit/s. Paths take 9 or 24 us when they are empty, and one way is up to
 * 20 ns longer. A sample's timestamps are those of a NIC, 4 ns of noise, or of software:
 * exponential, always late, and for one of 100 packets by an interrupt of up to 50 us.
 *
 * An incast: five receivers have a queue of 300 us that wanders, for the whole time. A contaminated
 * path has a queue in one direction that never ends; half of them wander, half stand still.
 *
 * The estimators:
 *
 *	huygens		coded pairs of 2 s, SVM, least squares of all hosts
 *	half		the same of the last 0.64 s, each 0.25 s
 *	lines		onrampd's clean lines of the last 64 samples, least squares of all hosts
 *	direct		onrampd, but for lines of others: each two hosts alone, no prediction
 *	bounds		onrampd: the same lines and those that are not clean, floors of classes,
 *			difference constraints of each host and those that it exchanges PROBEs with,
 *			and prediction for 10 s
 *
 * Of each two hosts that exchange PROBEs, the error of the difference of their clocks is taken four
 * times a second, just before the next result, so that it contains how the clocks wandered since.
 * The first 4 s do not count, and pairs without a result are counted apart.
 *
 * The output is KTAP. A row fails if one of 200 bounds or more is wrong: lower than the truth by
 * more than its error, which grows by 3 ppm. With an incast, or with contaminated paths, it fails
 * as well if 99 of 100 errors of the bounds are not below a tenth of Huygens'.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core_user.h"
#include "floors.h"
#include "huygens.h"
#include "ktap.h"
#include "probe.h"
#include "random.h"

#define HOSTS_MAX	100
#define GROUP		10
#define PEERS		10
#define EDGES_MAX	(HOSTS_MAX * PEERS)
#define TICK		0.25
#define SKIP		4.0
#define PAIR		0.01
/* Of the PROBEs of a pair: with timestamps of NICs, and of software. */
#define GAP_NS		(row.software ? 10000.0 : 2000.0)
#define PACKET_NS	1200.0
#define BATCH		8
#define INCAST		5
#define SHORT_NS	640e6
/* Noise of the timestamps of NICs and of clocks that wander, for a clean line. */
#define NIC_NOISE_NS	100
/* A bound that may be too high by more than this is none, as the daemon tells none then. */
#define MOST_NS		50e3
/* Samples of each way for a difference, at least. */
#define HUYGENS_MIN	PROBE_MIN
/* Of clocks, s. */
#define STEP		0.01

static unsigned int hosts = HOSTS_MAX;
static double seconds = 12;
static u64 seed = 1;

static struct row {
	const char *name;
	double load;
	double wander;		/* ppm in the square root of a second */
	bool software;
	bool incast;
	double contaminated;
} row;

enum { HUYGENS, HALF, LINES, DIRECT, BOUNDS, ESTIMATORS };

static const char *const names[ESTIMATORS] = { "huygens", "half", "lines", "direct", "bounds" };

/* Clocks and queues --------------------------------------------------------- */

static double *clock_ns[HOSTS_MAX], *clock_ppb[HOSTS_MAX];

static void make_clocks(void)
{
	unsigned int steps = (unsigned int)(seconds / STEP) + 10, i, k;

	for (i = 0; i < hosts; i++) {
		double ppb = uniform(-50e3, 50e3), ns = uniform(-1e6, 1e6);

		clock_ns[i] = malloc(steps * sizeof(double));
		clock_ppb[i] = malloc(steps * sizeof(double));
		for (k = 0; k < steps; k++) {
			clock_ns[i][k] = ns;
			clock_ppb[i][k] = ppb;
			ns += ppb * STEP;
			ppb += normal(row.wander * 1e3 * sqrt(STEP));
		}
	}
}

static void free_clocks(void)
{
	unsigned int i;

	for (i = 0; i < hosts; i++) {
		free(clock_ns[i]);
		free(clock_ppb[i]);
	}
}

/* What a clock is above the true time, ns, at @t, s. */
static double theta(unsigned int i, double t)
{
	unsigned int k = (unsigned int)(t / STEP);

	return clock_ns[i][k] + clock_ppb[i][k] * (t - k * STEP);
}

/* The queue of a link: what is left of it, ns, at a time, and when the next batch comes, s. */
static struct port {
	double at, left_ns, next;
	double stands_ns;
} down[HOSTS_MAX], up[HOSTS_MAX];

static double batch_gap(void)
{
	return exponential(BATCH * PACKET_NS / row.load) * 1e-9;
}

static void make_port(struct port *p)
{
	*p = (struct port) { .next = row.load > 0 ? batch_gap() : INFINITY };
}

/* For how long a packet waits that comes at @t, no earlier than the last one. */
static double waits(struct port *p, double t)
{
	if (t < p->at)
		t = p->at;
	while (p->next <= t) {
		p->left_ns = fmax(0, p->left_ns - (p->next - p->at) * 1e9);
		p->left_ns += (double)(1 + random_u64() % (2 * BATCH - 1)) * PACKET_NS;
		p->at = p->next;
		p->next += batch_gap();
	}
	p->left_ns = fmax(0, p->left_ns - (t - p->at) * 1e9);
	p->at = t;
	return p->left_ns;
}

/* Pairs --------------------------------------------------------------------- */

/* A path: its ends, delay, queue that never ends, and recent samples by time in a ring. */
#define KEPT	256
static struct way {
	unsigned int from, to;
	double d_ns, queue_ns, wander_ns, next, sent, d[2];
	/* By the clock of @to less that of @from, of which @t is, relative. */
	struct huygens_point coded[KEPT];
	unsigned int n_coded;
	struct probe_way probe;
	struct baseline_line line;
	bool has_line;
} ways[2 * EDGES_MAX];
static unsigned int n_ways;

static double noise(void)
{
	if (!row.software)
		return normal(4);
	return exponential(400) + (chance(0.01) ? uniform(0, 50e3) : 0);
}

/* One of the two PROBEs of a pair arrives; after the second one there is a sample. */
static void arrives(struct way *w, unsigned int i, double t)
{
	double wait = w->queue_ns, limit = row.software ? 5000 : 50, left;

	if (w->from / GROUP != w->to / GROUP)
		wait += waits(&up[w->from / GROUP], t);
	wait += waits(&down[w->to], t) + down[w->to].stands_ns;
	left = t * 1e9 + theta(w->from, t) - noise();
	w->d[i] = t * 1e9 + w->d_ns + wait + theta(w->to, t) + noise() - left;
	if (!i)
		return;
	w->queue_ns = w->queue_ns ? 20e3 + fabs(w->queue_ns - 20e3 + normal(w->wander_ns)) : 0;
	if (fabs(w->d[1] - w->d[0]) > limit)
		return;
	w->coded[w->n_coded++ % KEPT] = (struct huygens_point) {
		w->sent * 1e9, fmin(w->d[0], w->d[1]),
	};
	probe_add(&w->probe.to, &(struct probe_point) {
		.t_ns = (s64)(w->sent * 1e9), .d_ns = (s64)llround(fmin(w->d[0], w->d[1])),
	});
}

static void make_ways(void)
{
	unsigned int i, k;

	n_ways = 0;
	for (i = 0; i < hosts; i++) {
		for (k = 0; k < PEERS; k++) {
			unsigned int to = (i + 1 + random_u64() % (hosts - 1)) % hosts, j;
			double d = (i / GROUP == to / GROUP ? 9e3 : 24e3) + uniform(0, 300);

			for (j = 0; j < n_ways; j++)
				if (ways[j].from == i && ways[j].to == to)
					break;
			if (j < n_ways)
				continue;
			for (j = 0; j < 2; j++) {
				struct way *w = &ways[n_ways++];

				memset(w, 0, sizeof(*w));
				w->from = j ? to : i;
				w->to = j ? i : to;
				w->d_ns = d + uniform(0, 20);
				w->next = uniform(0, PAIR);
			}
			if (chance(row.contaminated)) {
				struct way *w = &ways[n_ways - 1 - (random_u64() & 1)];

				w->queue_ns = 20e3 + exponential(200e3);
				w->wander_ns = chance(0.5) ? 2e3 : 0;
			}
		}
	}
}

static struct event {
	double t;
	unsigned int way, i;
} events[4 * EDGES_MAX];

static int by_time(const void *a, const void *b)
{
	double x = ((const struct event *)a)->t, y = ((const struct event *)b)->t;

	return x < y ? -1 : x > y;
}

/* All PROBEs up to a time, in order. */
static void samples(double until)
{
	unsigned int i, k, n;
	double t, end;

	for (t = until - TICK; t < until; t += PAIR / 2) {
		end = fmin(until, t + PAIR / 2);
		for (i = 0; i < INCAST && row.incast; i++)
			down[i].stands_ns = 50e3 + fabs(down[i].stands_ns - 50e3 + normal(20e3));
		for (i = 0, n = 0; i < n_ways; i++) {
			struct way *w = &ways[i];

			if (w->next >= end)
				continue;
			for (k = 0; k < 2; k++)
				events[n++] = (struct event) { w->next + k * GAP_NS * 1e-9, i, k };
			w->sent = w->next;
			w->next += PAIR * uniform(0.9, 1.1);
		}
		qsort(events, n, sizeof(events[0]), by_time);
		for (i = 0; i < n; i++)
			arrives(&ways[events[i].way], events[i].i, events[i].t);
	}
}

/* Estimators ---------------------------------------------------------------- */

/* Of an estimator and two hosts, those of ways 2 i and 2 i + 1. */
static struct estimate {
	bool known;
	double ns, slope, at, error_ns;
} estimates[ESTIMATORS][EDGES_MAX];

static unsigned int coded(const struct way *w, double now, double window_ns, double sign,
			  struct huygens_point *out)
{
	unsigned int i, n = 0;

	for (i = 0; i < KEPT && i < w->n_coded; i++) {
		if (now * 1e9 - w->coded[i].t > window_ns)
			continue;
		out[n++] = (struct huygens_point) {
			w->coded[i].t - now * 1e9, sign * w->coded[i].y,
		};
	}
	return n;
}

/* The clocks of all hosts by differences of two; of those that exchange PROBEs. */
static void publish(unsigned int which, const struct huygens_edge *edges, unsigned int n,
		    double now)
{
	static struct huygens_clock clocks[HOSTS_MAX];
	unsigned int i;

	huygens_clocks(edges, n, clocks, hosts);
	for (i = 0; i < n_ways / 2; i++) {
		const struct huygens_clock *from = &clocks[ways[2 * i].from];
		const struct huygens_clock *to = &clocks[ways[2 * i].to];
		struct estimate *e = &estimates[which][i];

		e->known = from->known && to->known;
		e->ns = (double)(to->ns - from->ns);
		e->slope = (to->slope - from->slope) / 4294967296.0;
		e->at = now;
	}
}

static void huygens(unsigned int which, double now, double window_ns)
{
	static struct huygens_edge edges[EDGES_MAX];
	struct huygens_point there[KEPT], back[KEPT];
	struct huygens_fit fit;
	unsigned int i, n = 0;

	for (i = 0; i < n_ways; i += 2) {
		unsigned int a = coded(&ways[i], now, window_ns, 1, there);
		unsigned int b = coded(&ways[i + 1], now, window_ns, -1, back);

		if (a < HUYGENS_MIN || b < HUYGENS_MIN)
			continue;
		huygens_svm(there, a, back, b, &fit);
		edges[n++] = (struct huygens_edge) {
			.from = ways[i].from, .to = ways[i].to,
			.ns = (s64)llround((fit.there + fit.back) / 2),
			.slope = fit.slope * 4294967296.0, .weight = 1,
		};
	}
	publish(which, edges, n, now);
}

static void all_lines(double now)
{
	unsigned int i;

	for (i = 0; i < n_ways; i++)
		ways[i].has_line = probe_line(&ways[i].probe, (s64)(now * 1e9),
					      row.software ? PROBE_NOISE_NS : NIC_NOISE_NS,
					      &ways[i].line);
}

static void least_squares_of_lines(double now)
{
	static struct huygens_edge edges[EDGES_MAX];
	unsigned int i, n = 0;

	for (i = 0; i < n_ways; i += 2) {
		const struct baseline_line *there = &ways[i].line, *back = &ways[i + 1].line;

		if (!ways[i].has_line || !ways[i + 1].has_line || !there->clean || !back->clean)
			continue;
		edges[n++] = (struct huygens_edge) {
			.from = ways[i].from, .to = ways[i].to,
			.ns = (there->value_ns - back->value_ns) / 2,
			.slope = ((double)there->slope - back->slope) / 2, .weight = 1,
		};
	}
	publish(LINES, edges, n, now);
}

/* The last answer that was no prediction. */
static struct before {
	struct baseline_answer answer;
	double at, half;
} before[EDGES_MAX];

/* Floors that each host has told last. */
static struct floor told[HOSTS_MAX][2];

/* What at least two of the hosts that @h exchanges PROBEs with have said of a class. */
static struct baseline_floor told_to(unsigned int h, unsigned int class)
{
	const struct floor *f;
	struct floor all[HOSTS_MAX];
	unsigned int i, n = 0;

	for (i = 0; i < n_ways; i++)
		if (ways[i].from == h && told[ways[i].to][class].ns)
			all[n++] = told[ways[i].to][class];
	f = floors_median(all, n);
	return f ? (struct baseline_floor) { .ns = f->ns, .error_ns = f->error_ns, .firm = true } :
		   (struct baseline_floor) { .ns = BASELINE_NONE };
}

/* Host @h as a daemon: lines of it and of those that it exchanges PROBEs with. */
static void bounds(unsigned int h, bool others, double now)
{
	static struct baseline_floor kept[BASELINE_CLASSES];
	static struct baseline_line lines[BASELINE_LINES];
	static struct baseline_solution s;
	unsigned int place[HOSTS_MAX], i, n = 0, n_places = 1;

	for (i = 0; i < BASELINE_CLASSES; i++)
		kept[i] = i < 2 && others ? told_to(h, i) :
			  (struct baseline_floor) { .ns = BASELINE_NONE };
	memset(place, 0xff, sizeof(place));
	place[h] = 0;
	for (i = 0; i < n_ways; i++)
		if (ways[i].from == h && n_places < BASELINE_HOSTS)
			place[ways[i].to] = n_places++;
	for (i = 0; i < n_ways && n < BASELINE_LINES; i++) {
		struct way *w = &ways[i];

		if (place[w->from] == ~0U || place[w->to] == ~0U || !w->has_line ||
		    (!others && w->from != h && w->to != h))
			continue;
		lines[n] = w->line;
		lines[n].from = (u16)place[w->from];
		lines[n].to = (u16)place[w->to];
		lines[n].class = w->from / GROUP != w->to / GROUP;
		n += baseline_valid(&lines[n]);
	}
	baseline_solve(lines, n, kept, &s);
	for (i = 0; i < 2 && others; i++)
		told[h][i] = (struct floor) {
			.ns = s.floor[i].clean ? s.floor[i].ns : 0, .error_ns = s.floor[i].error_ns,
		};
	/* Of two hosts, the one that has the first of both ways. */
	for (i = 0; i < n_ways; i += 2) {
		struct baseline_line own = { .from = 0, .to = (u16)place[ways[i].to] };
		struct estimate *e = &estimates[others ? BOUNDS : DIRECT][i / 2];
		struct baseline_answer answer = { .least_ns = BASELINE_NONE };
		struct before *b = &before[i / 2];
		bool known, predicted = false;
		double half = 0;

		if (ways[i].from != h)
			continue;
		own.class = ways[i].from / GROUP != ways[i].to / GROUP;
		known = baseline_answer(&s, &own, &answer);
		if (known)
			half = (double)baseline_half(&own, s.pair[own.to].ns != BASELINE_NONE ?
						     s.pair[own.to].ns : s.floor[own.class].ns);
		if (others && b->at > 0 && now - b->at < 10)
			predicted = baseline_predict(&b->answer, (s64)((now - b->at) * 1e9), known,
						     &answer);
		if (others && known && !predicted)
			*b = (struct before) { answer, now, half };
		e->known = (known || predicted) && answer.least_ns != BASELINE_NONE &&
			   answer.line.value_ns - answer.least_ns < MOST_NS;
		if (predicted)
			half = b->half;
		e->ns = (double)answer.line.value_ns - half;
		e->slope = answer.line.slope / 4294967296.0;
		e->error_ns = (double)answer.line.error_ns;
		e->at = now;
	}
}

/* Results ------------------------------------------------------------------- */

static double errors[ESTIMATORS][EDGES_MAX * 400];
static unsigned int n_errors[ESTIMATORS], n_unknown[ESTIMATORS], n_wrong, n_bounds;

static void judge(double t)
{
	unsigned int which, i;

	for (which = 0; which < ESTIMATORS; which++) {
		for (i = 0; i < n_ways / 2; i++) {
			const struct way *w = &ways[2 * i];
			const struct estimate *e = &estimates[which][i];
			double truth = theta(w->to, t) - theta(w->from, t), error;
			bool hit = w->from < INCAST || w->to < INCAST;

			if (row.incast && !hit)
				continue;
			if (!e->known) {
				n_unknown[which]++;
				continue;
			}
			error = e->ns + e->slope * (t - e->at) * 1e9 - truth;
			errors[which][n_errors[which]++] = fabs(error);
			/* Half of the difference of both ways is in it. */
			if (which == BOUNDS) {
				n_bounds++;
				/* As the kernel has it, it grows by 3 ppm. */
				n_wrong += -error > e->error_ns + 3000 * TICK;
			}
		}
	}
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static bool measure(unsigned int nr, const struct row *r)
{
	unsigned int which, i, tick;
	double p99[ESTIMATORS];
	bool failed;

	row = *r;
	random_state = seed;
	make_clocks();
	for (i = 0; i < hosts; i++) {
		make_port(&down[i]);
		make_port(&up[i]);
		if (row.incast && i < INCAST)
			down[i].stands_ns = 300e3;
	}
	make_ways();
	memset(estimates, 0, sizeof(estimates));
	memset(told, 0, sizeof(told));
	memset(before, 0, sizeof(before));
	memset(n_errors, 0, sizeof(n_errors));
	memset(n_unknown, 0, sizeof(n_unknown));
	n_wrong = 0;
	n_bounds = 0;
	for (tick = 1; tick * TICK <= seconds; tick++) {
		double now = tick * TICK;

		samples(now);
		if (now > SKIP)
			judge(now);
		if (tick % 8 == 0)
			huygens(HUYGENS, now, 2e9);
		huygens(HALF, now, SHORT_NS);
		all_lines(now);
		least_squares_of_lines(now);
		for (i = 0; i < hosts; i++) {
			bounds(i, false, now);
			bounds(i, true, now);
		}
	}
	free_clocks();
	for (which = 0; which < ESTIMATORS; which++) {
		double *e = errors[which];
		unsigned int n = n_errors[which];

		qsort(e, n, sizeof(*e), by_size);
		p99[which] = n ? e[(unsigned int)(0.99 * (n - 1))] / 1e3 : NAN;
		printf("# %-34s %-8s %10.3f %10.3f %10.3f %8.2f", row.name, names[which],
		       n ? e[n / 2] / 1e3 : NAN, p99[which], n ? e[n - 1] / 1e3 : NAN,
		       100.0 * n_unknown[which] / (n + n_unknown[which]));
		if (which == BOUNDS)
			printf(" %8.3f", 100.0 * n_wrong / (n_bounds ? n_bounds : 1));
		puts("");
	}
	failed = !n_bounds || 200 * n_wrong > n_bounds ||
		 ((row.incast || row.contaminated > 0) && 10 * p99[BOUNDS] > p99[HUYGENS]);
	printf("%s %u %s\n", failed ? "not ok" : "ok", nr, row.name);
	fflush(stdout);
	return failed;
}

int main(int argc, char **argv)
{
	static const struct row rows[] = {
		{ "NIC, no load", 0, 0.03, false, false, 0 },
		{ "NIC, 40 %", 0.4, 0.03, false, false, 0 },
		{ "NIC, 80 %", 0.8, 0.03, false, false, 0 },
		{ "NIC, 80 %, wander 0.3", 0.8, 0.3, false, false, 0 },
		{ "NIC, 40 %, 5 % contaminated", 0.4, 0.03, false, false, 0.05 },
		{ "NIC, 40 %, incast", 0.4, 0.03, false, true, 0 },
		{ "software, no load", 0, 0.03, true, false, 0 },
		{ "software, 40 %", 0.4, 0.03, true, false, 0 },
		{ "software, 80 %", 0.8, 0.03, true, false, 0 },
		{ "software, 80 %, wander 0.3", 0.8, 0.3, true, false, 0 },
		{ "software, 40 %, 5 % contaminated", 0.4, 0.03, true, false, 0.05 },
		{ "software, 40 %, incast", 0.4, 0.03, true, true, 0 },
	};
	bool failed = false;
	unsigned int i;

	for (i = 1; i + 1 < (unsigned int)argc; i += 2) {
		if (!strcmp(argv[i], "--seed"))
			seed = strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--seconds"))
			seconds = strtod(argv[i + 1], NULL);
		else if (!strcmp(argv[i], "--hosts"))
			hosts = (unsigned int)strtoul(argv[i + 1], NULL, 0);
		else
			break;
	}
	if (i != (unsigned int)argc || seconds <= SKIP || seconds > 100 || hosts < 2 * GROUP ||
	    hosts > HOSTS_MAX) {
		fprintf(stderr, "usage: sync_ablation [--seed N] [--seconds N] [--hosts N]\n");
		return 255;
	}
	printf("KTAP version 1\n1..%u\n", (unsigned int)ARRAY_SIZE(rows));
	printf("# %-34s %-8s %10s %10s %10s %8s %8s\n", "clocks", "", "p50, us", "p99, us",
	       "max, us", "none, %", "wrong, %");
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		failed |= measure(i + 1, &rows[i]);
	return failed;
}
