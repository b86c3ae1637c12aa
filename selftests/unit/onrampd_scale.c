// SPDX-License-Identifier: GPL-2.0
/*
 * onrampd in clusters of any size: what one of the hosts knows, and what that costs it.
 *
 *	onrampd_scale [--seed N] [--sample N]
 *
 * A daemon exchanges lines with the hosts that its kernel knows, and passes nothing on. So each of
 * the sampled hosts runs here with its own peers, whose kernels are computed. 40 hosts are behind
 * one switch. Each sends to half of the others there, and to 5 hosts anywhere. Clocks are years
 * apart and drift by up to 50 ppm. A share of all paths was congested from its first packet on, and
 * none of those has support.
 *
 * The output is KTAP. A row fails if a baseline that would be told is too low by more than its
 * error. Columns: paths with a queue that are told, of all; errors of these, absolute; those that
 * fail; hosts whose lines about others are left out; CPU time of a round.
 *
 * The rows: the size of the cluster, congested paths, hosts that lie by 100 us about all of their
 * paths, a partition that cuts each host off from half of the others.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cluster.h"
#include "core_user.h"
#include "ktap.h"
#include "random.h"

#define US		1000LL
#define SEC		1000000000LL
#define ROUND_NS	(SEC / 4)
#define ROUNDS		60
/* The partition begins, and all that was predicted has expired. */
#define CUT_ROUND	12
#define EXPIRED_ROUND	(CUT_ROUND + 54)
#define GROUP		40
#define FAR_PEERS	5
#define FAN_OUT		10
#define SESSION		77
#define LIE_NS		(100 * US)
/* Ethernet, IPv4 and UDP around a message, with preamble and gap, bytes. */
#define WIRE_BYTES	(REPORT_LEN + 66)

static u64 seed = 1;
static unsigned int sample = 200;

/* Chance, of a number that stays for the whole run. */
static u64 mix(u64 a, u64 b, u64 what)
{
	u64 x = a * 0x9e3779b97f4a7c15ULL ^ b * 0xc2b2ae3d27d4eb4fULL ^
		(what + seed * 1000) * 0x165667b19e3779f9ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

static double share(u64 a, u64 b, u64 what)
{
	return (double)(mix(a, b, what) >> 11) / 9007199254740992.0;
}

/* The cluster --------------------------------------------------------------- */

static struct row {
	const char *name;
	u64 hosts;
	double congested;
	double liars;
	bool cut;
} row;

static s32 rate(u64 h)
{
	return (s32)((share(h, 0, 1) - 0.5) * 2 * 214748);
}

static s64 mono(u64 h, s64 now)
{
	return cluster_at((s64)(mix(h, 0, 2) % (1000 * SEC)) + now, rate(h), now);
}

static s64 offset(u64 h)
{
	return (s64)(mix(h, 0, 3) >> 4);
}

static bool near(u64 a, u64 b)
{
	return a / GROUP == b / GROUP;
}

static bool lies(u64 h)
{
	return share(h, 0, 4) < row.liars;
}

static bool sends(u64 a, u64 b)
{
	return a != b && share(a, b, 5) < 0.5;
}

static u64 far_peer(u64 a, unsigned int i)
{
	return mix(a, i, 6) % row.hosts;
}

static bool congested(u64 a, u64 b)
{
	return share(a, b, 7) < row.congested;
}

/* Delay of the empty path: one way may be 0.2 us longer, and cables differ by 0.3. */
static s64 delay(u64 a, u64 b)
{
	u64 low = a < b ? a : b, high = a < b ? b : a;

	return (near(a, b) ? 9 : 24) * US + (s64)(300 * share(low, high, 8)) +
	       (s64)(200 * share(a, b, 9));
}

/* The line that the kernel of @a has of its path to @b, by receive clocks. */
static s64 line(u64 a, u64 b, s64 now)
{
	s64 queue_ns = congested(a, b) ? (s64)(-400e3 * log(1 - share(a, b, 10))) : 0;

	return mono(b, now) + offset(b) - mono(a, now) - offset(a) + delay(a, b) + queue_ns +
	       (s64)(500 * share(a, b, 11));
}

static void addr(u64 h, u8 *out)
{
	memset(out, 0, 16);
	out[0] = 0xfc;
	memcpy(out + 8, &h, 8);
	/* Never all 0. */
	out[7] = 1;
}

static u8 domain(u64 h)
{
	return (u8)mix(h, 0, 12);
}

/* A daemon ------------------------------------------------------------------ */

static struct cluster c;
static u64 peers[CLUSTER_HOSTS];
static unsigned int n_peers;

static void find_peers(u64 a)
{
	u64 first = a / GROUP * GROUP, b;
	unsigned int i;

	n_peers = 0;
	for (b = first; b < first + GROUP && b < row.hosts; b++)
		if (sends(a, b) || sends(b, a))
			peers[n_peers++] = b;
	for (i = 0; i < FAR_PEERS; i++) {
		b = far_peer(a, i);
		if (b != a && !near(a, b))
			peers[n_peers++] = b;
	}
}

static bool has_path(u64 a, u64 b)
{
	unsigned int i;

	if (near(a, b))
		return sends(a, b);
	for (i = 0; i < FAR_PEERS; i++)
		if (far_peer(a, i) == b)
			return true;
	/* Half of what is sent far is answered with data. */
	return share(a, b, 13) < 0.5;
}

static void kernel(u64 a, s64 now)
{
	static u64 acks;
	unsigned int i;
	u8 own[16];

	addr(a, own);
	cluster_begin(&c);
	cluster_own_clock(&c, domain(a), offset(a));
	for (i = 0; i < n_peers; i++) {
		u64 b = peers[i];
		struct cluster_path p = {
			/* Nothing is known of the slope of a path that has no support. */
			.known = true, .at_ns = mono(a, now), .acks = ++acks,
			.slope = congested(a, b) ? 0 : rate(b) - rate(a),
			.baseline_ns = line(a, b, now) + offset(a), .error_ns = 1100,
			.domain = domain(b), .rate_mbit = 10000, .payload = 1448,
			.least_ns = mono(b, now) + offset(b) - mono(a, now) - delay(b, a) - 10 * US,
			.state = congested(a, b) ? CLUSTER_UNSUPPORTED : CLUSTER_SUPPORTED,
		};

		memcpy(p.local, own, 16);
		addr(b, p.remote);
		if (has_path(a, b))
			cluster_path(&c, &p);
		else
			cluster_host(&c, p.remote, own);
	}
	cluster_end(&c);
}

static void put(struct report *r, u64 from, u64 to, s64 now)
{
	struct report_line *l = &r->line[r->n];

	if (r->n == REPORT_LINES || !has_path(from, to))
		return;
	*l = (struct report_line) {
		.value_ns = line(from, to, now) - (lies(from) ? LIE_NS : 0),
		.slope = congested(from, to) ? BASELINE_DRIFT_MAX : rate(to) - rate(from),
		.error_ns = 1100, .rate_mbit = 10000,
		.payload = 1448, .domain = domain(to), .hops = near(from, to) ? 1 : 3,
		.clean = !congested(from, to),
	};
	addr(to, l->addr);
	r->n++;
}

/* What peer @b says to host @a: the line to it, and others in turn. */
static void message(u64 a, u64 b, u64 count, s64 now)
{
	struct report r = {
		.session = b + 1000, .count = count, .echo = SESSION, .domain = domain(b),
		.clocked = true,
	};
	u64 first = b / GROUP * GROUP, i;
	struct cluster_host *host;
	u8 from[16];

	put(&r, b, a, now);
	for (i = 0; i < GROUP; i++) {
		u64 to = first + (count * (REPORT_LINES - 1) + i) % GROUP;

		if (to != a && to < row.hosts)
			put(&r, b, to, now);
	}
	addr(b, from);
	host = cluster_find(&c, from);
	if (host)
		cluster_report(host, &r, SESSION, near(a, b) ? 1 : 3, mono(a, now));
}

/* Results ------------------------------------------------------------------- */

static double errors[4000000];
static unsigned int n_errors;
static struct result {
	u64 wanted, told, wrong, left_out, peers, rounds;
	double solve_ns;
} result;

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double quantile(double q)
{
	qsort(errors, n_errors, sizeof(errors[0]), by_size);
	return n_errors ? errors[(unsigned int)(q * (n_errors - 1))] / 1000 : NAN;
}

/* Paths of honest hosts to honest hosts that have a queue of 10 us or more. */
static void look(u64 a, s64 now, bool judged)
{
	unsigned int i;

	for (i = 0; i < n_peers; i++) {
		u64 b = peers[i];
		s64 truth = mono(b, now) + offset(b) - mono(a, now) + delay(a, b);
		struct cluster_host *host;
		double error;
		u8 to[16];

		addr(b, to);
		host = cluster_find(&c, to);
		if (!host)
			continue;
		result.peers += judged;
		result.left_out += judged && c.solution.left_out[host - c.host + 1];
		if (lies(b) || !host->has_path || !congested(a, b) ||
		    line(a, b, now) + offset(a) - truth < 10 * US)
			continue;
		result.wanted += judged;
		if (!host->seed.wanted || host->seed.error_ns > 50 * US)
			continue;
		result.told += judged;
		error = (double)(host->seed.value_ns - truth);
		if (judged && n_errors < ARRAY_SIZE(errors))
			errors[n_errors++] = fabs(error);
		/* Too low by more than it says: On-Ramp would pause for nothing. */
		result.wrong += judged && -error > (double)host->seed.error_ns;
	}
}

static void run(u64 a)
{
	unsigned int rounds = row.cut ? EXPIRED_ROUND : ROUNDS, t, i;
	struct timespec begin, end;

	memset(&c, 0, sizeof(c));
	find_peers(a);
	for (t = 0; t < rounds; t++) {
		s64 now = (t + 1) * ROUND_NS;

		kernel(a, now);
		for (i = 0; i < n_peers; i++) {
			if (row.cut && t >= CUT_ROUND && peers[i] % 2 != a % 2)
				continue;
			if (uniform(0, 1) < (double)FAN_OUT / n_peers)
				message(a, peers[i], t + 1, now - 20 * US);
		}
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
		cluster_solve(&c, mono(a, now));
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
		result.solve_ns += (double)(end.tv_sec - begin.tv_sec) * 1e9 +
				   (double)(end.tv_nsec - begin.tv_nsec);
		result.rounds++;
		look(a, now, t >= rounds - 8);
	}
}

static bool measure(unsigned int nr, const struct row *r)
{
	unsigned int i;

	row = *r;
	random_state = seed;
	n_errors = 0;
	result = (struct result) { .wanted = 0 };
	for (i = 0; i < sample && i < row.hosts; i++) {
		u64 a = row.hosts <= sample ? i : mix(i, 0, 20) % row.hosts;

		if (!lies(a))
			run(a);
	}
	printf("# %-30s %8.1f %8.2f %8.2f %8.2f %8.3f %8.1f %8.0f\n", row.name,
	       100.0 * (double)result.told / (double)(result.wanted ? result.wanted : 1),
	       quantile(0.5), quantile(0.99), quantile(1),
	       100.0 * (double)result.wrong / (double)(result.told ? result.told : 1),
	       100.0 * (double)result.left_out / (double)(result.peers ? result.peers : 1),
	       result.solve_ns / (double)result.rounds / 1000);
	printf("%s %u %s\n", result.wrong || !result.told ? "not ok" : "ok", nr, row.name);
	fflush(stdout);
	return result.wrong || !result.told;
}

int main(int argc, char **argv)
{
	static const struct row rows[] = {
		{ "10 hosts", 10, 0.3, 0, false },
		{ "1,000 hosts", 1000, 0.3, 0, false },
		{ "100,000 hosts", 100000, 0.3, 0, false },
		{ "100,000, 60 % congested", 100000, 0.6, 0, false },
		{ "100,000, 90 % congested", 100000, 0.9, 0, false },
		{ "1,000, 1 % lie", 1000, 0.3, 0.01, false },
		{ "1,000, 10 % lie", 1000, 0.3, 0.1, false },
		{ "1,000, 16 s after a partition", 1000, 0.3, 0, true },
	};
	bool failed = false;
	unsigned int i;

	for (i = 1; i + 1 < (unsigned int)argc; i += 2) {
		if (!strcmp(argv[i], "--seed"))
			seed = strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--sample"))
			sample = (unsigned int)strtoul(argv[i + 1], NULL, 0);
		else
			break;
	}
	if (i != (unsigned int)argc || !sample) {
		fprintf(stderr, "usage: onrampd_scale [--seed N] [--sample N]\n");
		return 255;
	}
	printf("KTAP version 1\n1..%u\n", (unsigned int)ARRAY_SIZE(rows));
	printf("# %-30s %8s %8s %8s %8s %8s %8s %8s\n", "cluster", "told, %", "p50, us", "p99, us",
	       "max, us", "wrong, %", "out, %", "CPU, us");
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		failed |= measure(i + 1, &rows[i]);
	printf("# messages of a host: %d a second, %.0f kbit/s each way, in a cluster of any size\n",
	       FAN_OUT * 4, FAN_OUT * 4 * WIRE_BYTES * 8 / 1e3);
	printf("# memory of a daemon's tables: %zu KB\n", sizeof(struct cluster) / 1024);
	return failed;
}
