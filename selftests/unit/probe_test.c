// SPDX-License-Identifier: GPL-2.0
/* probe.h: PROBEs and ECHOs of two hosts whose clocks and delays are known, and lines of them. */
#include <string.h>

#include "core_user.h"
#include "ktap.h"
#include "probe.h"
#include "random.h"

#define US	1000LL
#define MS	1000000LL
#define SEC	1000000000LL
#define D_NS	(9 * US)
#define A	1111
#define B	2222

/* Of a receive clock, the domain and what it is above CLOCK_MONOTONIC. */
#define DOMAIN	7
static const s64 clock_a = 638849216508347620, clock_b = -123456789012;

/* CLOCK_MONOTONIC of B less that of A; B is 40 ppm fast. */
static s64 ahead(s64 now)
{
	return 90000 * SEC + now / 25000;
}

static struct probe_way a, b;
static s64 now;

static void clear(void)
{
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	now = 100 * SEC;
	random_state = 5;
}

/* A message on the wire, as its receiver reads it. */
static struct probe wire(const struct probe *p)
{
	u8 msg[PROBE_LEN] = { 0 };
	struct probe out;

	probe_encode(p, msg);
	CHECK(probe_decode(msg, probe_len(p->kind), &out));
	return out;
}

/* A pair from A to B, delayed by these queues; return whether an ECHO came back. */
static bool pair(s64 first_ns, s64 second_ns)
{
	struct probe p = { .session = A, .echo = B, .domain = 3 }, echo = { .session = B }, in;
	s64 left = now + 50, arrived = left + D_NS + first_ns + ahead(left);
	bool valid, answer;

	probe_send(&a, &p, clock_a);
	in = wire(&p);
	CHECK(!probe_heard(&b, &in, A, B, arrived, clock_b, &echo, &valid) && valid);
	probe_left(&a, p.count, 0, left);
	left += 4 * US;
	arrived = left + D_NS + second_ns + ahead(left);
	p.kind = PROBE_SECOND;
	in = wire(&p);
	answer = probe_heard(&b, &in, A, B, arrived, clock_b, &echo, &valid);
	CHECK(answer && valid);
	probe_left(&a, p.count, 1, left);
	if (!answer)
		return false;
	echo.echo = A;
	echo.domain = DOMAIN;
	/* Above 2^61: a receive clock may be 36 years behind. */
	echo.utc_ns = 3000000000000000000;
	in = wire(&echo);
	return probe_echoed(&a, &in, B, A);
}

/* The truth of the way from A to B. */
static s64 truth(s64 t)
{
	return ahead(t) + clock_b + D_NS;
}

static void probe__there_and_back(void)
{
	struct probe in = {
		.kind = PROBE_SECOND, .domain = 200, .session = 0x1122334455667788,
		.count = 1ULL << 60, .echo = 0xfedcba9876543210, .before = 77,
		.time_ns = { -1, -S64_MAX + 5 }, .utc_ns = -9,
	}, out = wire(&in);

	CHECK_EQ(out.kind, PROBE_SECOND);
	CHECK_EQ(out.domain, 200);
	CHECK_EQ(out.session, in.session);
	CHECK_EQ(out.count, in.count);
	CHECK(out.echo == in.echo);
	CHECK_EQ(out.before, 77);
	CHECK_EQ(out.time_ns[0], -1);
	CHECK_EQ(out.time_ns[1], -S64_MAX + 5);
	CHECK_EQ(out.utc_ns, -9);
}

static void probe__refused(void)
{
	struct probe in = { .kind = PROBE_FIRST, .session = 1, .count = 1 }, out;
	u8 msg[PROBE_LEN] = { 0 };
	unsigned int i;

	probe_encode(&in, msg);
	CHECK(probe_decode(msg, PROBE_LEN, &out));
	CHECK(!probe_decode(msg, PROBE_LEN - 1, &out));
	/* An answer is not as long as a question. */
	CHECK(!probe_decode(msg, ECHO_LEN, &out));
	msg[5] = PROBE_ECHO;
	CHECK(probe_decode(msg, ECHO_LEN, &out));
	CHECK(!probe_decode(msg, PROBE_LEN, &out));
	CHECK(!probe_decode(msg, ECHO_LEN - 1, &out));
	msg[5] = PROBE_ECHO + 1;
	CHECK(!probe_decode(msg, PROBE_LEN, &out));
	CHECK(!probe_decode(msg, ECHO_LEN, &out));
	/* Magic, version, session, count. */
	for (i = 0; i < 24; i++) {
		probe_encode(&in, msg);
		if (i == 3 || i == 4)
			msg[i]++;
		else if (i == 15 || i == 23)
			msg[i] = 0;
		else
			continue;
		CHECK(!probe_decode(msg, PROBE_LEN, &out));
	}
	CHECK(2 * PROBE_LEN > ECHO_LEN);
}

static void probe__samples(void)
{
	clear();
	CHECK(pair(0, 0));
	CHECK_EQ(a.to.n, 1);
	CHECK_EQ(a.to.point[0].t_ns, now + 50);
	CHECK_EQ(a.to.point[0].d_ns, truth(now + 50));
	CHECK_EQ(a.domain, DOMAIN);
	CHECK_EQ(a.utc_ns, 3000000000000000000);
	/* The shorter delay of both counts, if they are alike. */
	now += 40 * MS;
	CHECK(pair(4 * US, 0));
	CHECK_EQ(a.to.n, 2);
	CHECK_EQ(a.to.point[1].t_ns, now + 50 + 4 * US);
	CHECK_EQ(a.to.point[1].d_ns, truth(now + 50 + 4 * US));
	now += 40 * MS;
	CHECK(pair(0, 6 * US));
	CHECK(pair(6 * US, 0));
	CHECK_EQ(a.to.n, 2);
	now += 40 * MS;
	CHECK(pair(100 * US, 104 * US));
	CHECK_EQ(a.to.n, 3);
	/* B knows when those before the last one left, by A's receive clock. */
	CHECK_EQ(b.from.n, 2);
	CHECK_EQ(b.from.point[0].t_ns, 100 * SEC + 50 + D_NS + ahead(100 * SEC + 50));
	CHECK_EQ(b.from.point[0].d_ns, clock_a - D_NS - ahead(100 * SEC + 50));
	CHECK_EQ(b.to.n, 0);
}

static void probe__replays(void)
{
	struct probe first = { .session = A, .echo = B, .domain = 3 }, second;
	struct probe echo = { .domain = DOMAIN };
	struct probe other;
	bool valid;

	clear();
	CHECK(pair(0, 0));
	probe_send(&a, &first, clock_a);
	second = first;
	second.kind = PROBE_SECOND;
	CHECK_EQ(first.count, 2);
	/* The second one of a pair alone. */
	CHECK(!probe_heard(&b, &second, A, B, 5, 0, &echo, &valid) && !valid);
	/* Sessions of before. */
	other = first;
	other.session++;
	CHECK(!probe_heard(&b, &other, A, B, 5, 0, &echo, &valid) && !valid);
	other = first;
	other.echo++;
	CHECK(!probe_heard(&b, &other, A, B, 5, 0, &echo, &valid) && !valid);
	CHECK(!probe_heard(&b, &first, A, B, 5, 0, &echo, &valid) && valid);
	CHECK(!probe_heard(&b, &first, A, B, 6, 0, &echo, &valid) && !valid);
	CHECK(probe_heard(&b, &second, A, B, 9, 0, &echo, &valid) && valid);
	CHECK_EQ(echo.time_ns[0], 5);
	CHECK_EQ(echo.time_ns[1], 9);
	/* An answer to each question, once. */
	CHECK(!probe_heard(&b, &second, A, B, 9, 0, &echo, &valid) && !valid);
	echo.session = B;
	echo.echo = A + 1;
	CHECK(!probe_echoed(&a, &echo, B, A));
	echo.echo = A;
	CHECK(!probe_echoed(&a, &echo, B + 1, A));
	echo.count = 3;
	CHECK(!probe_echoed(&a, &echo, B, A));
	echo.count = 2;
	echo.time_ns[0] = BASELINE_MAX_NS;
	CHECK(!probe_echoed(&a, &echo, B, A));
	echo.time_ns[0] = 5;
	CHECK(probe_echoed(&a, &echo, B, A));
	CHECK(!probe_echoed(&a, &echo, B, A));
	CHECK_EQ(a.to.n, 1);
	/* Times of departure may come late, and twice. */
	probe_left(&a, 2, 0, 3);
	CHECK_EQ(a.to.n, 1);
	probe_left(&a, 2, 1, 7);
	probe_left(&a, 2, 1, 7);
	CHECK_EQ(a.to.n, 2);
	/* The host was started again, and counts from 1 on. */
	first.session = A + 1;
	first.count = 1;
	CHECK(!probe_heard(&b, &first, A + 1, B, 5, 0, &echo, &valid) && valid);
	/* Its clock is another one. */
	echo = (struct probe) { .kind = PROBE_ECHO, .session = B, .echo = A, .domain = DOMAIN + 1 };
	probe_send(&a, &first, 0);
	echo.count = first.count;
	CHECK(probe_echoed(&a, &echo, B, A));
	CHECK_EQ(a.to.n, 0);
}

/* Noise of software, and queues that half of the pairs meet. */
static void probe__line(void)
{
	struct baseline_line line;
	unsigned int i;

	clear();
	for (i = 0; i < 50; i++) {
		s64 queue = chance(0.5) ? (s64)exponential(300e3) : 0;

		CHECK(!probe_line(&a, now, PROBE_NOISE_NS, &line) || i >= 13);
		pair(queue + (s64)exponential(300), queue + (s64)exponential(300));
		now += 40 * MS;
	}
	CHECK(probe_line(&a, now, PROBE_NOISE_NS, &line));
	CHECK(line.clean);
	CHECK_NEAR(line.value_ns, truth(now), 1000);
	CHECK_NEAR(line.slope, 4294967296.0 / 25000, 2000);
	CHECK(line.error_ns >= 1000 && line.error_ns < 3000);
	/* What is older than two seconds does not count. */
	CHECK(!probe_line(&a, now + 2 * SEC, PROBE_NOISE_NS, &line));
}

/* On a slow link PROBEs are rare: older samples count as well, if all of them are near a line. */
static void probe__rare(void)
{
	struct baseline_line line;
	unsigned int i;

	clear();
	for (i = 0; i < 12; i++) {
		CHECK(!probe_line(&a, now, PROBE_NOISE_NS, &line) || i >= PROBE_MIN);
		pair((s64)exponential(300), (s64)exponential(300));
		now += 1200 * MS;
	}
	CHECK(probe_line(&a, now, PROBE_NOISE_NS, &line));
	CHECK(line.clean);
	CHECK_NEAR(line.value_ns, truth(now), 1000);
	/* Its clock may have wandered since the last one. */
	CHECK(line.error_ns >= 1000 + 1200 * 7 && line.error_ns < 1000 + 1200 * 7 + 4000);
	pair(9000, 9000);
	now += MS;
	CHECK(probe_line(&a, now, PROBE_NOISE_NS, &line));
	CHECK(!line.clean);
	CHECK(!probe_line(&a, now + 3 * SEC, PROBE_NOISE_NS, &line));
	/* Sixteen seconds ago is too long. */
	clear();
	for (i = 0; i < PROBE_MIN; i++) {
		now += 1900 * MS;
		pair(0, 0);
	}
	now += MS;
	CHECK(probe_line(&a, now, PROBE_NOISE_NS, &line));
	clear();
	for (i = 0; i < PROBE_MIN; i++) {
		pair(0, 0);
		now += i ? 1900 * MS : 5 * SEC;
	}
	now -= 1800 * MS;
	CHECK(!probe_line(&a, now, PROBE_NOISE_NS, &line));
	/* Delays that rise as fast as they may, sixteen seconds ago: nothing overflows. */
	clear();
	for (i = 0; i < 26; i++) {
		s64 late = i < 13 ? 0 : (i - 12) * (i - 12) * 1500 * US;

		probe_add(&a.to, &(struct probe_point) { now - 15 * SEC + i * 40 * MS, late });
	}
	probe_add(&a.to, &(struct probe_point) { now, 260 * MS });
	CHECK(probe_line(&a, now, PROBE_NOISE_NS, &line));
	CHECK(!line.clean);
}

/* A clock's rate changes by 10 ppm: the newest samples count, if they are on a line. */
static void probe__wanders(void)
{
	struct baseline_line line;
	unsigned int i;

	clear();
	for (i = 0; i < 50; i++) {
		s64 ahead_ns = i < 25 ? 0 : (i - 25) * 400;

		pair(ahead_ns, ahead_ns);
		now += 40 * MS;
	}
	CHECK(probe_line(&a, now, PROBE_NOISE_NS, &line));
	CHECK(line.clean);
	CHECK_NEAR(line.value_ns, truth(now) + 25 * 400, 20);
	CHECK_NEAR(line.slope, 4294967296.0 / 20000, 2000);
}

/* A host that does not know this one yet answers no pair, and none is lost. */
static void probe__first_echo(void)
{
	struct baseline_line line;
	unsigned int i;

	clear();
	for (i = 0; i < 40; i++) {
		struct probe p = { .session = A, .echo = B };

		if (i < 12)
			probe_send(&a, &p, 0);
		else
			CHECK(pair(0, 0));
		now += 40 * MS;
	}
	CHECK_EQ(probe_lost(&a), 0);
	CHECK(probe_line(&a, now, PROBE_NOISE_NS, &line));
	CHECK(line.clean);
	/* Later ones are. */
	for (i = 0; i < 20; i++) {
		struct probe p = { .session = A, .echo = B };

		if (i < 10)
			probe_send(&a, &p, 0);
		else
			pair(0, 0);
		now += 40 * MS;
	}
	CHECK_EQ(probe_lost(&a), 10);
	CHECK(probe_line(&a, now, PROBE_NOISE_NS, &line));
	CHECK(!line.clean);
}

/* The queue never ends: it wanders; or it stands, and the buffer is full. */
static void probe__unclean(void)
{
	struct baseline_line line;
	double queue = 300e3;
	unsigned int i;

	clear();
	for (i = 0; i < 50; i++) {
		queue = fabs(queue + normal(40e3));
		pair((s64)queue, (s64)queue);
		now += 40 * MS;
	}
	CHECK(probe_line(&a, now, PROBE_NOISE_NS, &line));
	CHECK(!line.clean);
	CHECK_EQ(line.slope, BASELINE_DRIFT_MAX);
	CHECK(line.value_ns > truth(now));
	/* It falls at first, and then ends: no line goes on like that. */
	clear();
	for (i = 0; i < 50; i++) {
		s64 queue_ns = (i < 25 ? 25 - i : 0) * 50 * US + 2 * US + i % 3 * 200;

		pair(queue_ns, queue_ns);
		now += 40 * MS;
		if (!probe_line(&a, now, PROBE_NOISE_NS, &line))
			continue;
		CHECK(line.value_ns > truth(now));
		CHECK(line.clean == (i > 49));
	}
	/* At any drift of the clocks, up to now. */
	CHECK_NEAR(line.value_ns, truth(now) + 2 * US + 40 * MS / 5000, 2 * US);
	clear();
	for (i = 0; i < 50; i++) {
		struct probe p = { .session = A, .echo = B };

		if (i % 4)
			pair(300 * US, 300 * US);
		else
			probe_send(&a, &p, 0);
		now += 40 * MS;
	}
	CHECK(probe_line(&a, now, PROBE_NOISE_NS, &line));
	CHECK(!line.clean);
	/* Packets of others come between both of each pair. */
	clear();
	for (i = 0; i < 50; i++) {
		pair(300 * US, 300 * US + 12 * US);
		now += 40 * MS;
	}
	CHECK_EQ(a.to.n, 0);
	/* All in too short a time. */
	clear();
	for (i = 0; i < 50; i++) {
		pair(0, 0);
		now += 5 * MS;
	}
	CHECK(!probe_line(&a, now, PROBE_NOISE_NS, &line));
	/* Clocks do not drift by 1000 ppm. */
	clear();
	for (i = 0; i < 50; i++) {
		pair(i * 40 * US, i * 40 * US);
		now += 40 * MS;
	}
	CHECK(probe_line(&a, now, PROBE_NOISE_NS, &line));
	CHECK(!line.clean);
}

/* Of all lines through two points that are below all others, the one with the least sum. */
static void probe__least_sum(void)
{
	unsigned int round, i, j, k, n;

	random_state = 9;
	for (round = 0; round < 200; round++) {
		struct probe_way w = { .domain = 0 };
		struct probe_point *p = w.to.point;
		struct baseline_line line;
		double best = INFINITY, best_value = 0, end = 3e9;

		n = 12 + random_u64() % (PROBE_POINTS - 12);
		for (i = 0; i < n; i++) {
			struct probe_point q = {
				.t_ns = (s64)uniform(1e9 + 1, 3e9),
			};

			q.d_ns = (s64)(5e15 + (double)q.t_ns * 30e-6 + exponential(500));
			probe_add(&w.to, &q);
		}
		for (i = 0; i < n; i++) {
			for (j = 0; j < n; j++) {
				double s, sum = 0;

				if (p[i].t_ns >= p[j].t_ns)
					continue;
				s = (double)(p[j].d_ns - p[i].d_ns) /
				    (double)(p[j].t_ns - p[i].t_ns);
				for (k = 0; k < n; k++) {
					double up = (double)(p[k].d_ns - p[i].d_ns) -
						    s * (double)(p[k].t_ns - p[i].t_ns);

					if (up < -0.01)
						break;
					sum += up;
				}
				if (k < n || sum >= best)
					continue;
				best = sum;
				best_value = (double)(p[i].d_ns - 5000000000000000) +
					     s * (end - (double)p[i].t_ns);
			}
		}
		CHECK(probe_line(&w, (s64)end, PROBE_NOISE_NS, &line));
		CHECK_NEAR(line.value_ns - 5000000000000000, best_value, 2);
	}
}

int main(void)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(probe__there_and_back),
		KTAP_CASE(probe__refused),
		KTAP_CASE(probe__samples),
		KTAP_CASE(probe__replays),
		KTAP_CASE(probe__line),
		KTAP_CASE(probe__rare),
		KTAP_CASE(probe__wanders),
		KTAP_CASE(probe__first_echo),
		KTAP_CASE(probe__unclean),
		KTAP_CASE(probe__least_sum),
	};

	return ktap_run(cases, ARRAY_SIZE(cases));
}
