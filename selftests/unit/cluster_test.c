// SPDX-License-Identifier: GPL-2.0
/*
 * report.h, floors.h and cluster.h: messages and replays, the file of floors, and daemons of
 * several hosts that tell each other of paths whose truth is known.
 */
#include <string.h>

#include "cluster.h"
#include "core_user.h"
#include "ktap.h"

#define US	1000LL
#define SEC	1000000000LL

/* Messages ------------------------------------------------------------------ */

static struct report example(void)
{
	struct report r = {
		.session = 0x1122334455667788, .count = 7, .echo = 0xfedcba9876543210,
		.domain = 200, .clocked = true, .n = REPORT_LINES,
	};
	unsigned int i;

	for (i = 0; i < r.n; i++) {
		r.line[i] = (struct report_line) {
			.value_ns = -(s64)i * 123456789012, .slope = -100 * (int)i,
			.error_ns = 0xfffffff0 + i, .rate_mbit = 100000 + i,
			.payload = (u16)(65535 - i), .domain = (u8)(255 - i), .hops = (u8)i,
			.clean = i % 2, .data = i / 2 % 2,
		};
		memset(r.line[i].addr, (int)i + 1, 16);
	}
	return r;
}

static void report__there_and_back(void)
{
	struct report in = example(), out = { .n = 0 };
	u8 msg[REPORT_LEN] = { 0 };

	report_encode(&in, msg);
	CHECK(report_decode(msg, sizeof(msg), &out));
	CHECK_EQ(out.session, in.session);
	CHECK_EQ(out.count, 7);
	CHECK_EQ(out.echo, in.echo);
	CHECK_EQ(out.domain, 200);
	CHECK(out.clocked);
	CHECK_EQ(out.n, in.n);
	CHECK(!memcmp(out.line[15].addr, in.line[15].addr, 16));
	CHECK_EQ(out.line[15].value_ns, in.line[15].value_ns);
	CHECK_EQ(out.line[15].slope, -1500);
	CHECK_EQ(out.line[15].error_ns, 0xffffffff);
	CHECK_EQ(out.line[15].rate_mbit, 100015);
	CHECK_EQ(out.line[15].payload, 65520);
	CHECK_EQ(out.line[15].domain, 240);
	CHECK_EQ(out.line[15].hops, 15);
	CHECK(out.line[15].clean && !out.line[14].clean);
	CHECK(out.line[14].data && !out.line[13].data);
	/* What is behind the last line is 0. */
	in.n = 1;
	report_encode(&in, msg);
	CHECK_EQ(msg[REPORT_HEADER + REPORT_LINE_LEN], 0);
	CHECK_EQ(msg[REPORT_SIGNED - 1], 0);
}

static void report__refused(void)
{
	struct report in = example(), out;
	u8 msg[REPORT_LEN] = { 0 };

	report_encode(&in, msg);
	CHECK(!report_decode(msg, sizeof(msg) - 1, &out));
	CHECK(!report_decode(msg, sizeof(msg) + 1, &out));
	msg[0]++;
	CHECK(!report_decode(msg, sizeof(msg), &out));
	msg[0]--;
	msg[4]++;
	CHECK(!report_decode(msg, sizeof(msg), &out));
	msg[4]--;
	msg[5]++;
	CHECK(!report_decode(msg, sizeof(msg), &out));
	msg[5]--;
	memset(msg + 8, 0, 8);
	CHECK(!report_decode(msg, sizeof(msg), &out));
}

static void report__replays(void)
{
	struct report r = { .session = 11, .count = 5 };
	struct report_peer p = { .session = 0 };
	unsigned int i;

	/* It does not know this session. */
	CHECK_EQ(report_accept(&p, &r, 99), REPORT_GREETING);
	CHECK_EQ(report_echo(&p, 1), 11);
	CHECK_EQ(report_echo(&p, 2), 11);
	r = (struct report) { .session = 11, .count = 6, .echo = 99 };
	CHECK_EQ(report_accept(&p, &r, 99), REPORT_FRESH);
	CHECK_EQ(report_accept(&p, &r, 99), REPORT_REPLAYED);
	r.count = 5;
	CHECK_EQ(report_accept(&p, &r, 99), REPORT_REPLAYED);
	r.count = 7;
	CHECK_EQ(report_accept(&p, &r, 99), REPORT_FRESH);
	/* A daemon of before, or a new one: the current one still counts. */
	r = (struct report) { .session = 10, .count = 1, .echo = 98 };
	CHECK_EQ(report_accept(&p, &r, 99), REPORT_GREETING);
	CHECK_EQ(report_echo(&p, 1), 10);
	CHECK_EQ(report_echo(&p, 2), 11);
	r = (struct report) { .session = 11, .count = 8, .echo = 99 };
	CHECK_EQ(report_accept(&p, &r, 99), REPORT_FRESH);
	CHECK_EQ(report_echo(&p, 1), 11);
	/* It was started again, and proves it. */
	r = (struct report) { .session = 12, .count = 1, .echo = 0 };
	CHECK_EQ(report_accept(&p, &r, 99), REPORT_GREETING);
	r = (struct report) { .session = 12, .count = 2, .echo = 99 };
	CHECK_EQ(report_accept(&p, &r, 99), REPORT_FRESH);
	CHECK_EQ(report_echo(&p, 1), 12);
	/* The session before does not come back, whatever its messages echo. */
	r = (struct report) { .session = 11, .count = 9, .echo = 99 };
	CHECK_EQ(report_accept(&p, &r, 99), REPORT_REPLAYED);
	r = (struct report) { .session = 11, .count = 9, .echo = 98 };
	CHECK_EQ(report_accept(&p, &r, 99), REPORT_REPLAYED);
	CHECK_EQ(report_echo(&p, 1), 12);
	r = (struct report) { .session = 12, .count = 2, .echo = 99 };
	CHECK_EQ(report_accept(&p, &r, 99), REPORT_REPLAYED);
	/* Nor do those before that. */
	for (i = 1; i < REPORT_OVER; i++) {
		r = (struct report) { .session = 12 + i, .count = 1, .echo = 99 };
		CHECK_EQ(report_accept(&p, &r, 99), REPORT_FRESH);
	}
	for (i = 0; i < REPORT_OVER; i++) {
		r = (struct report) { .session = 11 + i, .count = 9, .echo = 99 };
		CHECK_EQ(report_accept(&p, &r, 99), REPORT_REPLAYED);
	}
	/* Its own messages come back. */
	r = (struct report) { .session = 99, .count = 1000, .echo = 99 };
	CHECK_EQ(report_accept(&p, &r, 99), REPORT_REPLAYED);
}

/* Floors -------------------------------------------------------------------- */

static void floors__there_and_back(void)
{
	struct floors in = { .n = 0 }, out;
	struct floor f = { .hops = 63, .rate_mbit = UINT32_MAX, .ns = FLOORS_MAX_NS,
			   .error_ns = BASELINE_ERROR_MAX_NS, .at_s = 400 };
	char text[FLOORS_TEXT];
	unsigned int i;

	floors_keep(&in, &f);
	f = (struct floor) { .hops = 0, .rate_mbit = 1000, .ns = 0, .at_s = 500 };
	floors_keep(&in, &f);
	floors_print(&in, 500, 1000000, text);
	CHECK(!strcmp(text, FLOORS_HEAD "63 4294967295 400000000 10000000 999900\n"
					"0 1000 0 0 1000000\n"));
	/* Started again 200 s later, by another clock. */
	CHECK_EQ(floors_parse(text, 7, 1000200, &out), 0);
	CHECK_EQ(out.n, 2);
	CHECK_EQ(out.floor[0].ns, FLOORS_MAX_NS);
	CHECK_EQ(out.floor[0].at_s, 7 - 300);
	CHECK_EQ(out.floor[1].at_s, 7 - 200);
	/* The system's clock was set back. */
	CHECK_EQ(floors_parse(text, 7, 999000, &out), 0);
	CHECK_EQ(out.floor[0].at_s, 7);
	/* All of the largest ones fit. */
	for (i = 0; i < BASELINE_CLASSES + 3; i++) {
		f = (struct floor) { .hops = 10 + i % 50, .rate_mbit = 4000000000U + i,
				     .ns = FLOORS_MAX_NS, .error_ns = BASELINE_ERROR_MAX_NS,
				     .at_s = 1000 + i };
		floors_keep(&in, &f);
	}
	CHECK_EQ(in.n, BASELINE_CLASSES);
	CHECK(floors_find(&in, 10 + 66 % 50, 4000000066U, 2000));
	/* The oldest ones went: those of 400, 500, 1000, ... */
	CHECK(!floors_find(&in, 63, UINT32_MAX, 2000));
	CHECK(!floors_find(&in, 12, 4000000002U, 2000));
	CHECK(floors_find(&in, 13, 4000000003U, 2000));
	floors_print(&in, 2000, 9000000000000, text);
	CHECK(strlen(text) < FLOORS_TEXT - 1);
	CHECK_EQ(floors_parse(text, 2000, 9000000000000, &out), 0);
	CHECK_EQ(out.n, BASELINE_CLASSES);
}

static void floors__refused(void)
{
	static const char *const wrong[] = {
		"", "onrampd floors 2\n", FLOORS_HEAD "1 1000 2 3\n", FLOORS_HEAD "1 1000 2 3 4",
		FLOORS_HEAD "64 1000 2 3 4\n", FLOORS_HEAD "1 0 2 3 4\n",
		FLOORS_HEAD "1 4294967296 2 3 4\n", FLOORS_HEAD "1 1000 400000001 3 4\n",
		FLOORS_HEAD "1 1000 -2 3 4\n", FLOORS_HEAD "1 1000 2 10000001 4\n",
		FLOORS_HEAD "1 1000 2 3 99999999999999999999\n", FLOORS_HEAD "1 1000 2  3 4\n",
		FLOORS_HEAD "1 1000 2 3 4 5\n", FLOORS_HEAD "1 1000 2 3 4\n\n",
	};
	struct floors all;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		CHECK(floors_parse(wrong[i], 1000, 1000, &all));
		CHECK_EQ(all.n, 0);
	}
	CHECK_EQ(floors_parse(FLOORS_HEAD "1 1000 2 3 4\n1 1000 2 3\n", 1000, 1000, &all), 3);
	CHECK_EQ(floors_parse(FLOORS_HEAD, 1000, 1000, &all), 0);
}

static void floors__age(void)
{
	struct floor f = { .hops = 1, .rate_mbit = 1000, .ns = 20 * US, .at_s = 50 };
	struct floors all = { .n = 0 };
	char text[FLOORS_TEXT];

	floors_keep(&all, &f);
	CHECK(floors_find(&all, 1, 1000, 50 + FLOORS_AGE_S));
	CHECK(!floors_find(&all, 1, 1000, 51 + FLOORS_AGE_S));
	CHECK(!floors_find(&all, 2, 1000, 50));
	CHECK(!floors_find(&all, 1, 1001, 50));
	floors_print(&all, 51 + FLOORS_AGE_S, 1000000000, text);
	CHECK(!strcmp(text, FLOORS_HEAD));
	/* A newer one takes its place. */
	f.ns = 30 * US;
	f.at_s = 60;
	floors_keep(&all, &f);
	CHECK_EQ(all.n, 1);
	CHECK_EQ(floors_find(&all, 1, 1000, 60)->ns, 30 * US);
	f.ns = -1;
	floors_keep(&all, &f);
	CHECK_EQ(floors_find(&all, 1, 1000, 60)->ns, 30 * US);
}

/* Daemons ------------------------------------------------------------------- */

#define HOSTS	6
#define D_NS	(9 * US)

static struct cluster c[HOSTS];
static s64 now;

/* Of each host: CLOCK_MONOTONIC at 0, its receive clock on top, as of or_acker, its rate, Q32. */
static const s64 monos[HOSTS] = { 0, 500 * SEC, 7 * SEC, 90000 * SEC, 3 * SEC, SEC };
static const s64 clocks[HOSTS] = {
	638849216508347620, 1152921504606846975, 123456789, 844330508744893855, 99 * SEC, 0,
};

static const s32 rates[HOSTS] = { 0, 100000, -150000, 214748, 0, 50000 };

static s64 mono(unsigned int h)
{
	return monos[h] + cluster_at(now, rates[h], now);
}

static const u8 *addr(unsigned int h)
{
	static u8 addrs[HOSTS][16];

	addrs[h][10] = 0xff;
	addrs[h][11] = 0xff;
	addrs[h][12] = 10;
	addrs[h][15] = (u8)(h + 1);
	return addrs[h];
}

/* A path that the kernel of host @from has: a queue of @queue_ns was never empty. */
static void path(unsigned int from, unsigned int to, s64 queue_ns, u8 state)
{
	static u64 acks;
	struct cluster_path p = {
		.known = true, .at_ns = mono(from), .state = state, .acks = acks += 1000,
		.baseline_ns = mono(to) + clocks[to] - mono(from) + D_NS + queue_ns,
		.slope = rates[to] - rates[from], .error_ns = 1100, .domain = (u8)(40 + to),
		/* Its OR-ACKs take 5 us more than an empty path. */
		.least_ns = mono(to) + clocks[to] - mono(from) - D_NS - 5 * US,
		.rate_mbit = 10000, .payload = 1448,
	};

	memcpy(p.local, addr(from), 16);
	memcpy(p.remote, addr(to), 16);
	CHECK(cluster_path(&c[from], &p));
	/* As if all had talked, and packets had come for a second. */
	cluster_find(&c[from], addr(to))->hops = 1;
	cluster_find(&c[from], addr(to))->few = false;
}

static void begin(unsigned int h)
{
	cluster_begin(&c[h]);
	cluster_clock(&c[h], (u8)(40 + h), clocks[h], mono(h) - 10 * 1000 * US);
	cluster_clock(&c[h], (u8)(40 + h), clocks[h], mono(h));
}

static void knows(unsigned int h, unsigned int subscriber)
{
	CHECK(cluster_host(&c[h], addr(subscriber), addr(h)));
}

static u64 counts;

/* A message of one daemon to another; @lie_ns is added to the line to host @about. */
static void tells(unsigned int from, unsigned int to, unsigned int about, s64 lie_ns)
{
	struct cluster_host *sender = cluster_find(&c[to], addr(from)), *receiver;
	struct report r = { .session = 1000 + from, .count = ++counts }, in;
	u8 msg[REPORT_LEN];
	unsigned int i;

	receiver = cluster_find(&c[from], addr(to));
	CHECK(sender && receiver);
	if (!sender || !receiver)
		return;
	cluster_fill(&c[from], receiver, mono(from), r.count, &r);
	for (i = 0; i < r.n; i++)
		if (!memcmp(r.line[i].addr, addr(about), 16))
			r.line[i].value_ns += lie_ns;
	report_encode(&r, msg);
	CHECK(report_decode(msg, sizeof(msg), &in));
	cluster_report(sender, &in, 1000 + to, 1, mono(to));
}

static void speak(unsigned int a, unsigned int b)
{
	tells(a, b, 0, 0);
	tells(b, a, 0, 0);
}

/* All: 1 is a host with clean paths, that to 2 has a queue, and 2 answers. */
static void all_paths(u8 state)
{
	begin(0);
	path(0, 1, 0, CLUSTER_SUPPORTED);
	path(0, 2, 400 * US, state);
	cluster_end(&c[0]);
	begin(1);
	path(1, 0, 0, CLUSTER_SUPPORTED);
	cluster_end(&c[1]);
	begin(2);
	path(2, 0, 0, CLUSTER_SUPPORTED);
	cluster_end(&c[2]);
}

static void clear(void)
{
	memset(c, 0, sizeof(c));
	now = 100 * SEC;
	all_paths(CLUSTER_UNSUPPORTED);
	/* The first messages say nothing but who they are of. */
	tells(1, 0, 0, 0);
	tells(2, 0, 0, 0);
	CHECK_EQ(cluster_find(&c[0], addr(2))->report_ns, 0);
	speak(0, 1);
	speak(0, 2);
}

static s64 truth(unsigned int from, unsigned int to)
{
	return mono(to) + clocks[to] - mono(from) + D_NS;
}

static struct cluster_seed *seed(unsigned int at, unsigned int to)
{
	cluster_solve(&c[at], mono(at));
	return &cluster_find(&c[at], addr(to))->seed;
}

static void cluster__congested_first(void)
{
	struct cluster_seed *s;

	clear();
	s = seed(0, 2);
	CHECK(s->known && s->wanted && !s->predicted);
	CHECK_NEAR(s->value_ns, truth(0, 2), 1);
	CHECK_NEAR(s->slope, rates[2] - rates[0], 1);
	CHECK(s->error_ns <= 2200);
	/* The own line has no slope: it is a bound at any. */
	CHECK_EQ(c[0].line[1].slope, BASELINE_DRIFT_MAX);
	CHECK(s->least_ns <= truth(0, 2) && s->least_ns >= truth(0, 2) - 5 * US);
	CHECK(!seed(0, 1)->wanted);
	/* The path has support: the kernel knows best, and of a line of ours it knows nothing. */
	all_paths(CLUSTER_SUPPORTED);
	CHECK(!seed(0, 2)->wanted);
	all_paths(CLUSTER_SEEDED);
	s = seed(0, 2);
	CHECK(s->wanted);
	CHECK_NEAR(s->value_ns, truth(0, 2), 1);
	/* One that was wrong is no evidence for the next one. */
	begin(0);
	path(0, 1, 0, CLUSTER_SUPPORTED);
	path(0, 2, -50 * US, CLUSTER_SEEDED);
	cluster_end(&c[0]);
	s = seed(0, 2);
	CHECK(s->wanted);
	CHECK_NEAR(s->value_ns, truth(0, 2), 1);
	/* Half a second later, by reports of before. */
	now += SEC / 2;
	all_paths(CLUSTER_SEEDED);
	s = seed(0, 2);
	CHECK(s->wanted);
	CHECK_NEAR(s->value_ns, truth(0, 2), 50);
}

/* All that host 2 says is gone: its clock and the empty path remain, for ten seconds. */
static void cluster__predicts(void)
{
	struct cluster_seed *s;

	clear();
	CHECK(seed(0, 2)->wanted);
	now += 4 * SEC;
	all_paths(CLUSTER_UNSUPPORTED);
	s = seed(0, 2);
	CHECK(s->wanted && s->predicted);
	CHECK_NEAR(s->value_ns, truth(0, 2), 400);
	CHECK_NEAR(s->error_ns, 1100 + 28 * US, 1);
	now += 5 * SEC;
	all_paths(CLUSTER_UNSUPPORTED);
	CHECK(seed(0, 2)->wanted);
	now += 2 * SEC;
	all_paths(CLUSTER_UNSUPPORTED);
	CHECK(!seed(0, 2)->wanted);
	/* The kernel forgets the host. */
	cluster_begin(&c[0]);
	cluster_end(&c[0]);
	CHECK(!cluster_find(&c[0], addr(2)));
}

/* The lowest delay of before, if that is all that is known, is no prediction: clocks may drift. */
static void cluster__predicts_nothing(void)
{
	clear();
	begin(0);
	path(0, 1, 0, CLUSTER_SUPPORTED);
	path(0, 4, 400 * US, CLUSTER_UNSUPPORTED);
	cluster_end(&c[0]);
	CHECK(!seed(0, 4)->wanted);
	now += SEC / 4;
	begin(0);
	path(0, 1, 0, CLUSTER_SUPPORTED);
	path(0, 4, 550 * US, CLUSTER_UNSUPPORTED);
	cluster_end(&c[0]);
	CHECK(!seed(0, 4)->wanted);
}

/* Host 2 sends host 0 no data, but both send to 3. */
static void cluster__by_another(void)
{
	clear();
	begin(0);
	path(0, 1, 0, CLUSTER_SUPPORTED);
	path(0, 2, 400 * US, CLUSTER_LOST);
	path(0, 3, 0, CLUSTER_SUPPORTED);
	cluster_end(&c[0]);
	begin(2);
	knows(2, 0);
	path(2, 3, 0, CLUSTER_SUPPORTED);
	cluster_end(&c[2]);
	speak(0, 2);
	CHECK(seed(0, 2)->wanted);
	CHECK_NEAR(seed(0, 2)->value_ns, truth(0, 2), 1);
	/* Host 3's clock is another one for 2: it was set between. */
	c[2].host[1].path.domain++;
	tells(2, 0, 0, 0);
	cluster_find(&c[0], addr(2))->before_ns = 0;
	CHECK(!seed(0, 2)->wanted);
}

static void cluster__clocks(void)
{
	clear();
	/* Host 2 has seen another clock of this one. */
	c[0].domain++;
	CHECK(!seed(0, 2)->wanted);
	c[0].domain--;
	CHECK(seed(0, 2)->wanted);
	/* Host 0 another one of 2. */
	c[0].host[1].path.domain++;
	c[0].host[1].before_ns = 0;
	CHECK(!seed(0, 2)->wanted);
	/* Nobody sends to this host: its clock is unknown, and lines to it are of no use. */
	clear();
	c[0].clocked = false;
	CHECK(!seed(0, 2)->wanted);
}

static bool refuted(unsigned int at, unsigned int host)
{
	seed(at, host);
	return cluster_find(&c[at], addr(host))->refuted;
}

static void cluster__liars(void)
{
	struct cluster_seed *s;

	/* Host 2 lies about its own path: more than that is long. */
	clear();
	tells(2, 0, 0, -100 * US);
	CHECK(!refuted(0, 2));
	/* What it lies by it adds to its own queue, and to no other's. */
	CHECK_NEAR(seed(0, 2)->value_ns, truth(0, 2) + 100 * US, 1);
	CHECK(!seed(0, 1)->wanted);
	tells(2, 0, 0, 8 * US);
	CHECK(!refuted(0, 2));
	CHECK_NEAR(seed(0, 2)->value_ns, truth(0, 2) - 8 * US, 1);
	CHECK(!seed(0, 1)->wanted);
	CHECK_NEAR(seed(0, 1)->value_ns, truth(0, 1), 1);
	/* By more than its OR-ACKs show. Nothing that it told before stays. */
	tells(2, 0, 0, 100 * US);
	CHECK(refuted(0, 2));
	CHECK(!seed(0, 2)->wanted);
	CHECK_NEAR(seed(0, 1)->value_ns, truth(0, 1), 1);
	/* Its paths are shorter than 0. */
	tells(2, 0, 0, 0);
	CHECK(seed(0, 2)->wanted);
	tells(2, 0, 0, -500 * US);
	CHECK(refuted(0, 2));
	CHECK(!seed(0, 2)->wanted);
	/* By a second, and this daemon has just begun: all that the kernel has is a seed. */
	all_paths(CLUSTER_SEEDED);
	tells(2, 0, 0, 1 * SEC);
	CHECK(refuted(0, 2));
	CHECK(!seed(0, 2)->wanted);
	/* One that is wrong refutes nobody. */
	begin(0);
	path(0, 2, -1 * SEC, CLUSTER_SEEDED);
	cluster_end(&c[0]);
	tells(2, 0, 0, 0);
	CHECK(!refuted(0, 2));
	all_paths(CLUSTER_UNSUPPORTED);
	/* A line that is no more than a bound may be too high by any queue. */
	c[2].host[0].path.state = CLUSTER_UNSUPPORTED;
	c[2].host[0].path.baseline_ns += 500 * US;
	tells(2, 0, 0, 0);
	CHECK(!refuted(0, 2));
	/* About the path of another one. */
	clear();
	begin(2);
	path(2, 0, 0, CLUSTER_SUPPORTED);
	path(2, 1, 0, CLUSTER_SUPPORTED);
	cluster_end(&c[2]);
	tells(2, 0, 1, -100 * US);
	s = seed(0, 1);
	CHECK(c[0].solution.left_out[2]);
	CHECK(!s->wanted);
	CHECK_NEAR(s->value_ns, truth(0, 1), 1);
	CHECK_NEAR(seed(0, 2)->value_ns, truth(0, 2), 1);
	/* Impossible numbers. */
	c[0].host[1].report.line[0].value_ns = S64_MAX;
	seed(0, 1);
	CHECK(c[0].host[1].refuted);
	c[0].host[1].report.line[0].value_ns = 0;
	c[0].host[1].report.line[0].slope = S32_MAX;
	now += SEC;
	seed(0, 1);
	CHECK(c[0].host[1].refuted);
}

/* The path to 2 was congested from its first packet on, and nobody knows another one. */
static void two_hosts(void)
{
	memset(c, 0, sizeof(c));
	now = 100 * SEC;
	begin(0);
	path(0, 2, 400 * US, CLUSTER_UNSUPPORTED);
	cluster_end(&c[0]);
	begin(2);
	path(2, 0, 0, CLUSTER_SUPPORTED);
	cluster_end(&c[2]);
	tells(2, 0, 0, 0);
	speak(0, 2);
}

static void cluster__floor_of_before(void)
{
	struct floor f = { .hops = 1, .rate_mbit = 10000, .ns = 2 * D_NS, .error_ns = 2 * US };
	struct cluster_seed *s;

	/* Two hosts know an empty path: that is kept. */
	clear();
	seed(0, 2);
	CHECK_EQ(c[0].floors.n, 1);
	CHECK_NEAR(c[0].floors.floor[0].ns, 2 * D_NS, 1);
	CHECK_EQ(c[0].floors.floor[0].hops, 1);
	CHECK_EQ(c[0].floors.floor[0].rate_mbit, 10000);
	CHECK_EQ(c[0].floors.floor[0].at_s, mono(0) / SEC);
	two_hosts();
	CHECK(!seed(0, 2)->wanted);
	f.at_s = mono(0) / SEC - FLOORS_AGE_S;
	floors_keep(&c[0].floors, &f);
	s = seed(0, 2);
	CHECK(s->wanted);
	CHECK_NEAR(s->value_ns, truth(0, 2), 1);
	CHECK_NEAR(s->error_ns, 1100 + 2 * US, 1);
	/* Of another class it says nothing, and a lowest sum is not kept. */
	c[0].floors.floor[0].hops = 2;
	c[0].host[0].before_ns = 0;
	CHECK(!seed(0, 2)->wanted);
	CHECK_EQ(c[0].floors.n, 1);
}

/* Hosts 1 and 3 know empty paths to hosts that 0 does not know. */
static void cluster__floor_told(void)
{
	static const unsigned int tellers[2] = { 1, 3 };
	struct cluster_host *told;
	struct cluster_seed *s;
	unsigned int i, k;

	two_hosts();
	begin(0);
	path(0, 2, 400 * US, CLUSTER_UNSUPPORTED);
	for (i = 0; i < 2; i++) {
		knows(0, tellers[i]);
		begin(tellers[i]);
		knows(tellers[i], 0);
		path(tellers[i], 4 + i, 0, CLUSTER_SUPPORTED);
		cluster_end(&c[tellers[i]]);
		begin(4 + i);
		path(4 + i, tellers[i], 0, CLUSTER_SUPPORTED);
		cluster_end(&c[4 + i]);
		tells(4 + i, tellers[i], 0, 0);
		speak(tellers[i], 4 + i);
		cluster_solve(&c[tellers[i]], mono(tellers[i]));
	}
	cluster_end(&c[0]);
	for (i = 0; i < 2; i++) {
		struct cluster_host *host = cluster_find(&c[0], addr(tellers[i]));

		/* One alone is no evidence. */
		s = seed(0, 2);
		CHECK(!s->wanted);
		tells(tellers[i], 0, 0, 0);
		speak(0, tellers[i]);
		for (k = 0; k < host->report.n && !cluster_no_addr(host->report.line[k].addr); k++)
			;
		CHECK(k < host->report.n);
		CHECK_NEAR(host->report.line[k].value_ns, 2 * D_NS, 1);
		/* Of two that differ the higher one counts. */
		if (i)
			host->report.line[k].value_ns -= 15 * US;
	}
	s = seed(0, 2);
	CHECK(s->wanted);
	CHECK_NEAR(s->value_ns, truth(0, 2), 1);
	/* Of another class: only one of them speaks of this one. */
	c[0].host[0].before_ns = 0;
	told = cluster_find(&c[0], addr(3));
	told->report.line[k].hops++;
	CHECK(!seed(0, 2)->wanted);
	told->report.line[k].hops--;
	told->report.line[k].rate_mbit++;
	CHECK(!seed(0, 2)->wanted);
	told->report.line[k].rate_mbit--;
	/* One of them lies about the way to this host. */
	path(0, 3, 0, CLUSTER_SUPPORTED);
	told->report.line[told->report.n++] = (struct report_line) {
		.domain = 40, .value_ns = BASELINE_MAX_NS - 1, .clean = true,
	};
	memcpy(told->report.line[told->report.n - 1].addr, addr(0), 16);
	CHECK(!seed(0, 2)->wanted);
	CHECK(told->refuted);
	told->report.n--;
	told->has_path = false;
	CHECK(seed(0, 2)->wanted);
	/* What others say now counts before what was known then, and is not kept. */
	CHECK_EQ(c[0].floors.n, 0);
	c[0].floors.floor[0] = (struct floor) {
		.hops = 1, .rate_mbit = 10000, .ns = US, .at_s = mono(0) / SEC,
	};
	c[0].floors.n = 1;
	CHECK_NEAR(seed(0, 2)->value_ns, truth(0, 2), 1);
	now += 3 * SEC;
	tells(2, 0, 0, 0);
	c[0].host[0].before_ns = 0;
	CHECK_NEAR(seed(0, 2)->value_ns, truth(0, 2) - 2 * D_NS + US, 50);
}

/* Pairs of PROBEs from a host to another for two seconds, in a queue; one below 0 is a lie. */
static void probes(unsigned int from, unsigned int to, s64 queue_ns)
{
	struct probe_way *w = &cluster_find(&c[from], addr(to))->probe;
	unsigned int i;

	for (i = 0; i < 48; i++) {
		struct probe p = { .session = 1000 + from }, echo = {
			.kind = PROBE_ECHO, .session = 1000 + to, .echo = 1000 + from,
			.domain = (u8)(40 + to),
		};

		now += 40 * 1000 * US;
		probe_send(w, &p, clocks[from]);
		probe_left(w, p.count, 0, mono(from));
		probe_left(w, p.count, 1, mono(from) + 4 * US);
		echo.count = p.count;
		echo.time_ns[0] = truth(from, to) + mono(from) + queue_ns;
		echo.time_ns[1] = echo.time_ns[0] + 4 * US;
		CHECK(probe_echoed(w, &echo, 1000 + to, 1000 + from));
	}
}

/* Host 2 sends no data: what its PROBEs say is as good. */
static void cluster__probes(void)
{
	struct cluster_path p;
	struct cluster_host *host;
	struct cluster_seed *s;

	clear();
	c[0].host[1].before_ns = 0;
	begin(2);
	knows(2, 0);
	cluster_end(&c[2]);
	host = cluster_find(&c[2], addr(0));
	/* The kernel has a path that tells more; nothing is known of the host yet. */
	CHECK(cluster_wants_probes(&c[2], host, mono(2)));
	host->peer.session = 0;
	CHECK(!cluster_wants_probes(&c[2], host, mono(2)));
	host->peer.session = 1000;
	path(2, 0, 0, CLUSTER_SUPPORTED);
	CHECK(!cluster_wants_probes(&c[2], host, mono(2)));
	/* Nobody knows yet how many packets a new path has. */
	p = host->path;
	host->from_ns = 0;
	CHECK(cluster_path(&c[2], &p));
	CHECK(cluster_wants_probes(&c[2], host, mono(2)));
	host->few = false;
	begin(2);
	knows(2, 0);
	cluster_end(&c[2]);
	CHECK(!cluster_wants_probes(&c[2], host, mono(2) + 4 * SEC));
	cluster_solve(&c[2], mono(2));
	tells(2, 0, 0, 0);
	CHECK_EQ(host->report.line[0].rate_mbit, 10000);
	CHECK(!seed(0, 2)->wanted);
	probes(2, 0, 0);
	cluster_solve(&c[2], mono(2));
	CHECK_EQ(host->probed.state, CLUSTER_SUPPORTED);
	CHECK_EQ(host->probed.rate_mbit, 10000);
	all_paths(CLUSTER_UNSUPPORTED);
	begin(2);
	knows(2, 0);
	cluster_end(&c[2]);
	speak(0, 1);
	speak(0, 2);
	s = seed(0, 2);
	CHECK(s->wanted && !s->predicted);
	CHECK_NEAR(s->value_ns, truth(0, 2), 100);
	CHECK_NEAR(s->error_ns, 1000, 200);
}

/* No queue refutes an honest host, and no drift while the kernel has a seed. */
static void cluster__honest(void)
{
	unsigned int i;

	clear();
	for (i = 0; i < 80; i++) {
		now += SEC / 4;
		all_paths(i < 20 ? CLUSTER_UNSUPPORTED : CLUSTER_SEEDED);
		/* Of a path without support no slope is known. */
		cluster_find(&c[0], addr(2))->path.slope = 0;
		tells(2, 0, 0, 0);
		CHECK(!refuted(0, 2));
	}
}

/*
 * Host 2 says from its first message on that its clock is a second ahead, in lines or in ECHOs.
 * No seed is wrong by more than its OR-ACKs allow, whatever the kernel knows. In the middle the
 * daemon of this host begins again.
 */
static void cluster__liar_begins(void)
{
	struct cluster_host *host;
	struct cluster_seed *s;
	unsigned int row, i;

	for (row = 0; row < 24; row++) {
		bool few = row & 1, echoes = row & 2;
		u8 state = (u8)(row / 4);

		memset(c, 0, sizeof(c));
		now = 100 * SEC;
		for (i = 0; i < 24; i++) {
			/* The daemon of this host is started again. */
			if (i == 12)
				memset(&c[0], 0, sizeof(c[0]));
			now += SEC / 4;
			all_paths(state == CLUSTER_SUPPORTED ? CLUSTER_LOST : state);
			host = cluster_find(&c[0], addr(2));
			host->few = few;
			tells(1, 0, 0, 0);
			tells(2, 0, 0, echoes ? 0 : SEC);
			tells(0, 1, 0, 0);
			tells(0, 2, 0, 0);
			if (echoes && i % 8 == 7) {
				probes(0, 2, -SEC);
				all_paths(state);
				speak(0, 1);
				speak(0, 2);
			}
			s = seed(0, 2);
			CHECK(!s->wanted || s->value_ns + s->error_ns >= host->path.least_ns);
			CHECK(echoes || !host->report_ns || host->refuted);
		}
	}
}

/* Samples of both ways between two hosts for two seconds: half of them in a queue. */
static void both_ways(unsigned int a, unsigned int b)
{
	unsigned int i, k;

	for (i = 0; i < 48; i++) {
		s64 queue_ns = i % 2 * (200 + i) * US;

		now += 40 * 1000 * US;
		for (k = 0; k < 2; k++) {
			unsigned int h = k ? b : a, other = k ? a : b;
			struct probe_way *w = &cluster_find(&c[h], addr(other))->probe;
			s64 ahead = truth(h, other) - D_NS, wait = D_NS + queue_ns;

			w->domain = (u8)(40 + other);
			probe_add(&w->to, &(struct probe_point) { mono(h), ahead + wait });
			probe_add(&w->from, &(struct probe_point) { mono(h), ahead - wait });
		}
	}
}

/* Data alone, of two hosts, may have found a queue that stood still: PROBEs tell. */
static void cluster__data(void)
{
	struct cluster_host *host;
	struct cluster_path p;

	clear();
	c[0].host[1].before_ns = 0;
	host = cluster_find(&c[0], addr(1));
	cluster_solve(&c[0], mono(0));
	p = host->path;
	p.data = true;
	/* The floor is known, and the way back is clean. */
	begin(0);
	CHECK(cluster_path(&c[0], &p));
	cluster_end(&c[0]);
	host->acks_ns = mono(0);
	cluster_solve(&c[0], mono(0));
	CHECK(!cluster_wants_probes(&c[0], host, mono(0)));
	/* Both are of data. */
	begin(1);
	p = cluster_find(&c[1], addr(0))->path;
	p.data = true;
	CHECK(cluster_path(&c[1], &p));
	cluster_end(&c[1]);
	tells(1, 0, 0, 0);
	cluster_solve(&c[0], mono(0));
	CHECK(c[0].line[0].data && c[0].line[0].clean);
	memset(&c[0].floors, 0, sizeof(c[0].floors));
	cluster_solve(&c[0], mono(0));
	CHECK(cluster_wants_probes(&c[0], host, mono(0)));
	host->probed.known = true;
	host->probed.state = CLUSTER_SUPPORTED;
	CHECK(cluster_evidence(&c[0], host, mono(0)) == &host->probed);
	/* Where PROBEs have the same line, data have it more exactly. */
	host->probed.baseline_ns = host->path.baseline_ns - 2 * US;
	host->probed.at_ns = host->path.at_ns;
	host->probed.slope = host->path.slope;
	CHECK(cluster_evidence(&c[0], host, mono(0)) == &host->path);
	CHECK(!cluster_now(&c[0], host, &host->path, mono(0)).data);
	CHECK(cluster_wants_probes(&c[0], host, mono(0)));
	host->probed.baseline_ns--;
	CHECK(cluster_evidence(&c[0], host, mono(0)) == &host->probed);
	CHECK(cluster_now(&c[0], host, &host->path, mono(0)).data);
	host->probed.baseline_ns++;
	host->probed.state = CLUSTER_UNSUPPORTED;
	CHECK(cluster_now(&c[0], host, &host->path, mono(0)).data);
	c[0].solution.checked[1] = true;
	CHECK(cluster_evidence(&c[0], host, mono(0)) == &host->path);
	CHECK(!cluster_wants_probes(&c[0], host, mono(0)));
}

/* Huygens: PROBEs of both ways, and nothing of the kernel's. */
static void cluster__huygens(void)
{
	struct cluster_host *host;
	struct cluster_seed *s;
	unsigned int i;

	clear();
	c[0].host[1].before_ns = 0;
	c[0].huygens = true;
	c[2].huygens = true;
	host = cluster_find(&c[0], addr(2));
	host->acks_ns = mono(0);
	CHECK(cluster_wants_probes(&c[0], host, mono(0)));
	CHECK(cluster_wants_probes(&c[0], cluster_find(&c[0], addr(1)), mono(0)));
	CHECK(!seed(0, 2)->wanted);
	/* One way alone is not enough, nor are three samples of the other one. */
	probes(0, 2, 0);
	for (i = 0; i < 3; i++)
		probe_add(&host->probe.from, &host->probe.to.point[i + 40]);
	all_paths(CLUSTER_UNSUPPORTED);
	CHECK(!seed(0, 2)->known);
	/* Those that the others have told. */
	CHECK_EQ(c[0].n_lines, 2);
	host->probe.from.n = 0;
	both_ways(0, 2);
	all_paths(CLUSTER_UNSUPPORTED);
	cluster_solve(&c[2], mono(2));
	speak(0, 2);
	s = seed(0, 2);
	CHECK(s->known && s->wanted);
	CHECK_NEAR(s->value_ns, truth(0, 2), 100);
	CHECK_NEAR(s->slope, rates[2] - rates[0], 500);
	CHECK_EQ(c[0].n_lines, 2);
}

/* PROBEs to host 2 found the path empty, then data fill it: their line counts for a while. */
static void cluster__probes_before_data(void)
{
	struct cluster_host *host;
	struct cluster_seed *s;
	unsigned int i;

	clear();
	c[0].host[1].before_ns = 0;
	host = cluster_find(&c[0], addr(2));
	probes(0, 2, 0);
	begin(2);
	knows(2, 0);
	cluster_end(&c[2]);
	begin(0);
	path(0, 1, 0, CLUSTER_SUPPORTED);
	knows(0, 2);
	cluster_end(&c[0]);
	host->report_ns = mono(0);
	cluster_solve(&c[0], mono(0));
	CHECK_EQ(host->probed.state, CLUSTER_SUPPORTED);
	for (i = 0; i < 4; i++) {
		begin(0);
		path(0, 1, 0, CLUSTER_SUPPORTED);
		path(0, 2, 400 * US, CLUSTER_UNSUPPORTED);
		/* OR-ACKs come. */
		host->acks_ns = mono(0);
		cluster_end(&c[0]);
		host->report_ns = mono(0);
		/* They may still find gaps between the data. */
		CHECK(cluster_wants_probes(&c[0], host, mono(0)));
		cluster_solve(&c[0], mono(0));
		CHECK_EQ(c[0].line[1].to, 2);
		CHECK(c[0].line[1].clean);
		CHECK_NEAR(c[0].line[1].value_ns, truth(0, 2) - clocks[0], 100);
		CHECK_NEAR(c[0].line[1].error_ns, 1000 + i * 7000 * 2, 500);
		now += 2 * SEC;
	}
	/* Data that found it empty count more. */
	begin(0);
	path(0, 2, 0, CLUSTER_SUPPORTED);
	CHECK(cluster_evidence(&c[0], host, mono(0)) == &host->path);
	/* So do data in a queue, if PROBEs met one as well. */
	host->path.state = CLUSTER_UNSUPPORTED;
	CHECK(cluster_evidence(&c[0], host, mono(0)) == &host->probed);
	host->probed.state = CLUSTER_UNSUPPORTED;
	CHECK(cluster_evidence(&c[0], host, mono(0)) == &host->path);
	host->probed.state = CLUSTER_SUPPORTED;
	/* Host 2 has another clock, or ten seconds are over since its last PROBE was two old. */
	host->path.domain++;
	cluster_solve(&c[0], mono(0));
	CHECK(!host->probed.known);
	host->path.domain--;
	host->probed.known = true;
	now += 5 * SEC;
	host->path.state = CLUSTER_UNSUPPORTED;
	cluster_solve(&c[0], mono(0));
	CHECK(!host->probed.known);
	/* No more OR-ACKs: the path is idle, though its data found it empty. */
	host->path.state = CLUSTER_SUPPORTED;
	host->report_ns = mono(0);
	host->report.n = 0;
	host->acks_ns = mono(0) - SEC;
	CHECK(!cluster_wants_probes(&c[0], host, mono(0)));
	CHECK(cluster_wants_probes(&c[0], host, mono(0) + 1));
	s = seed(0, 2);
	CHECK(!s->wanted);
}

/* The way back is of smaller packets, which take less time on each link. */
static void cluster__small_packets(void)
{
	clear();
	c[2].host[0].path.payload = 400;
	tells(2, 0, 0, 0);
	CHECK_NEAR(seed(0, 2)->error_ns, 1100 + 1000 * 8 / 10 * 3, 1);
}

static void cluster__many_hosts(void)
{
	struct report r = { .count = 3 };
	unsigned int i;

	memset(c, 0, sizeof(c));
	now = 100 * SEC;
	begin(0);
	for (i = 0; i < CLUSTER_HOSTS + 5; i++) {
		struct cluster_path p = {
			.known = true, .state = CLUSTER_UNSUPPORTED, .at_ns = mono(0),
			.remote = { [0] = 0xfc, [15] = (u8)(i + 1) },
			.local = { [0] = 0xfc, [15] = 0xff },
		};

		CHECK_EQ(cluster_path(&c[0], &p), i < CLUSTER_HOSTS);
	}
	cluster_end(&c[0]);
	cluster_fill(&c[0], &c[0].host[20], mono(0), r.count, &r);
	CHECK_EQ(r.n, REPORT_LINES);
	CHECK_EQ(r.line[0].addr[15], 21);
	CHECK_EQ(r.line[1].addr[15], 3 * 15 % CLUSTER_HOSTS + 1);
	/* Lines of seeds are none of this host's own. */
	for (i = 0; i < CLUSTER_HOSTS; i++)
		c[0].host[i].path.state = CLUSTER_SEEDED;
	cluster_fill(&c[0], &c[0].host[20], mono(0), r.count, &r);
	CHECK_EQ(r.n, 0);
	/* Nor are those of a few packets. */
	for (i = 0; i < CLUSTER_HOSTS; i++)
		c[0].host[i].path.state = CLUSTER_LEARNING;
	cluster_fill(&c[0], &c[0].host[20], mono(0), r.count, &r);
	CHECK_EQ(r.n, 0);
}

/* A receive clock that is not CLOCK_MONOTONIC: its rate is known by two readings. */
static void cluster__own_rate(void)
{
	struct cluster *a = &c[0];
	s64 offset = clocks[0], at;
	const s32 slope = 214748;
	unsigned int i;

	memset(c, 0, sizeof(c));
	cluster_begin(a);
	cluster_clock(a, 7, offset, SEC);
	CHECK(a->clock_read && !a->clocked);
	/* Several subscribers are read in a row. */
	cluster_clock(a, 7, offset, SEC + 1000);
	CHECK(!a->clocked);
	for (at = SEC + 10 * 1000 * US; at < 3 * SEC; at += 250 * 1000 * US) {
		cluster_begin(a);
		/* With the noise of a map. */
		cluster_clock(a, 7, cluster_at(offset, slope, at - SEC) + at / 1000 % 2 * 20, at);
		CHECK(a->clocked);
		CHECK_NEAR(cluster_clock_at(a, at + 250 * 1000 * US),
			   cluster_at(offset, slope, at + 250 * 1000 * US - SEC), 550);
	}
	CHECK_NEAR(a->clock_slope, slope, 500);
	/* It goes on at another rate. */
	offset = cluster_at(offset, slope, at - SEC);
	for (i = 0; i < 8; i++) {
		cluster_clock(a, 7, cluster_at(offset, -slope / 2, i * SEC / 4), at + i * SEC / 4);
		CHECK(a->clocked);
	}
	CHECK_NEAR(a->clock_slope, -slope / 2, 10);
	at += 2 * SEC;
	offset = cluster_at(offset, -slope / 2, 2 * SEC) - cluster_at(0, slope, at - SEC);
	/* It is set, or it is another one. */
	cluster_clock(a, 7, cluster_at(offset, slope, at - SEC) + 1000 * US, at);
	CHECK(!a->clocked);
	at += 10 * 1000 * US;
	cluster_clock(a, 7, cluster_at(offset, slope, at - SEC) + 1000 * US, at);
	CHECK(a->clocked);
	at += 10 * 1000 * US;
	cluster_begin(a);
	CHECK(!cluster_clock(a, 8, cluster_at(offset, slope, at - SEC) + 1000 * US, at));
	cluster_end(a);
	CHECK(a->clock_read && !a->clocked);
	CHECK_EQ(a->domain, 8);
	cluster_own_clock(a, 9, offset);
	CHECK(a->clocked);
	CHECK_EQ(cluster_clock_at(a, at + SEC), offset);
	/* A subscriber again. */
	cluster_begin(a);
	cluster_clock(a, 8, offset, at + SEC);
	cluster_end(a);
	CHECK(a->clock_read && !a->clocked);
	CHECK_EQ(a->domain, 8);
}

/* A host that was forgotten, and is known again, gets no count of PROBEs twice. */
static void cluster__known_again(void)
{
	struct cluster *a = &c[0];
	struct probe p;
	unsigned int i;

	memset(c, 0, sizeof(c));
	cluster_begin(a);
	for (i = 0; i < 3; i++)
		probe_send(&cluster_host(a, addr(1), addr(0))->probe, &p, 0);
	CHECK_EQ(p.count, 3);
	probe_send(&cluster_host(a, addr(2), addr(0))->probe, &p, 0);
	CHECK_EQ(p.count, 1);
	cluster_end(a);
	/* The other one stays. */
	cluster_begin(a);
	cluster_host(a, addr(2), addr(0));
	cluster_end(a);
	CHECK(!cluster_find(a, addr(1)));
	cluster_begin(a);
	probe_send(&cluster_host(a, addr(1), addr(0))->probe, &p, 0);
	CHECK_EQ(p.count, 4);
	probe_send(&cluster_host(a, addr(2), addr(0))->probe, &p, 0);
	CHECK_EQ(p.count, 2);
}

/* Subscribers have two clocks, in any order: the own one is one of them, and stays. */
static void cluster__two_clocks(void)
{
	struct cluster *a = &c[0];
	unsigned int i;
	s64 at;

	memset(c, 0, sizeof(c));
	for (i = 0; i < 8; i++) {
		at = SEC + i * 250 * 1000 * US;
		cluster_begin(a);
		CHECK_EQ(cluster_clock(a, 7 + i % 2, clocks[i % 2], at), !(i % 2));
		CHECK_EQ(cluster_clock(a, 8 - i % 2, clocks[!(i % 2)], at + 1000), i % 2);
		CHECK_EQ(cluster_clock(a, 9, clocks[2], at + 2000), false);
		cluster_end(a);
		CHECK_EQ(a->domain, 7);
		CHECK_EQ(a->clocked, i > 0);
		CHECK_EQ(cluster_clock_at(a, at), i ? clocks[0] : 0);
	}
	/* Its subscriber is gone: the first one of the others. */
	for (i = 0; i < 2; i++, at += 250 * 1000 * US) {
		cluster_begin(a);
		cluster_clock(a, 8, clocks[1], at + SEC);
		cluster_clock(a, 9, clocks[2], at + SEC);
		cluster_end(a);
		CHECK_EQ(a->domain, 8);
		CHECK_EQ(a->clocked, i > 0);
	}
	CHECK_EQ(cluster_clock_at(a, at), clocks[1]);
}

/* The NIC's time of arrival counts, if it is one. */
static void cluster__arrived(void)
{
	struct cluster *a = &c[0];
	/* Both near 2^62, as clocks that are hidden: sums wrap. */
	const s64 phc = -(3LL << 61), arrived = SEC + 3 * US, nic = arrived - 3 * US;
	const s64 stamp = nic + clocks[0] - phc;

	memset(c, 0, sizeof(c));
	cluster_begin(a);
	cluster_clock(a, 7, clocks[0], SEC - 10 * 1000 * US);
	cluster_clock(a, 7, clocks[0], SEC);
	CHECK_EQ(cluster_arrived(a, arrived, stamp), arrived);
	a->phc = true;
	a->phc_ns = phc;
	CHECK_EQ(cluster_arrived(a, arrived, stamp), nic);
	CHECK_EQ(cluster_arrived(a, arrived, 0), arrived);
	CHECK_EQ(cluster_arrived(a, 0, stamp), 0);
	/* As far as the map may be off, and no farther. */
	CHECK_EQ(cluster_arrived(a, nic - 2 * US, stamp), nic);
	CHECK_EQ(cluster_arrived(a, nic - 2 * US - 1, stamp), nic - 2 * US - 1);
	CHECK_EQ(cluster_arrived(a, nic + 1000 * US, stamp), nic);
	CHECK_EQ(cluster_arrived(a, nic + 1000 * US + 1, stamp), nic + 1000 * US + 1);
	/* The clock is not known, or that of software. */
	cluster_begin(a);
	a->phc = true;
	CHECK_EQ(cluster_arrived(a, arrived, stamp), arrived);
	cluster_begin(a);
	cluster_clock(a, 7, clocks[0], SEC);
	CHECK_EQ(cluster_arrived(a, arrived, stamp), arrived);
}

/* By how much the receive clock of host 2 is ahead of that of host 0. */
static s64 ahead(void)
{
	return mono(2) + clocks[2] - mono(0) - clocks[0];
}

/* Queues both ways between hosts 0 and 2. */
static void queues(s64 there_ns, s64 back_ns)
{
	begin(2);
	path(2, 0, back_ns, CLUSTER_UNSUPPORTED);
	cluster_end(&c[2]);
	tells(2, 0, 0, 0);
	begin(0);
	path(0, 1, 0, CLUSTER_SUPPORTED);
	path(0, 2, there_ns, CLUSTER_UNSUPPORTED);
	cluster_end(&c[0]);
	cluster_solve(&c[0], mono(0));
}

/* Clocks of hosts, by bounds; as both ways get a queue, what was known before remains. */
static void cluster__ahead(void)
{
	struct cluster_host *host;
	s64 error, before;
	unsigned int i;

	clear();
	seed(0, 2);
	host = cluster_find(&c[0], addr(2));
	CHECK(host->clock.known);
	CHECK_NEAR(cluster_ahead(host, mono(0), &error), ahead(), 1);
	CHECK(error >= 2100 && error <= 2200);
	for (i = 0; i < 6; i++) {
		now += SEC / 2;
		queues(400 * US, 300 * US);
		before = error;
		CHECK_NEAR(cluster_ahead(host, mono(0), &error), ahead(), 100);
		CHECK_NEAR(error, before + 4000, 5);
	}
	/* The clock was set, and both ways still have queues: bounds of before contradict that. */
	queues(1400 * US, -700 * US);
	CHECK_NEAR(cluster_ahead(host, mono(0), &error), ahead() + 1050 * US, 10 * US);
	CHECK(error > 300 * US);
	/* Both ways are clean again: no bound of before counts. */
	begin(2);
	path(2, 0, -1000 * US, CLUSTER_SUPPORTED);
	cluster_end(&c[2]);
	begin(0);
	path(0, 2, 1000 * US, CLUSTER_SUPPORTED);
	cluster_end(&c[0]);
	tells(2, 0, 0, 0);
	seed(0, 2);
	CHECK_NEAR(cluster_ahead(host, mono(0), &error), ahead() + 1000 * US, 100);
	CHECK(error <= 2200);
	/* Nothing is known any more. */
	now += 11 * SEC;
	all_paths(CLUSTER_UNSUPPORTED);
	cluster_solve(&c[0], mono(0));
	CHECK(!host->clock.known);
}

/*
 * Host 2's clock is off by this: x2 where w01 (x1 - 400)^2 + w02 (x2 + 300)^2 + w12 (x2 - x1)^2 is
 * least. Of two lines one is too high: half of that is the error of a clock.
 */
static s64 off_by(void)
{
	const struct baseline_floor *f = &c[0].solution.floor[c[0].line[0].class];
	s64 sum = f->ns - 600;	/* which is the median */
	double w01 = cluster_weight(f, sum + 800), w02 = cluster_weight(f, sum + 600);
	double w12 = cluster_weight(f, sum);

	CHECK(w01 < w02 && w02 < w12);
	return (s64)((400 * w01 * w12 - 300 * w02 * (w01 + w12)) /
		     ((w01 + w12) * (w02 + w12) - w12 * w12));
}

/* A sum of two lines that is above the floor of its class. */
static void cluster__weight(void)
{
	struct baseline_floor f = { .ns = 20000, .error_ns = 50 };

	CHECK(cluster_weight(&f, 90000) >= 1);
	f.firm = true;
	CHECK(cluster_weight(&f, 19900) >= 1);
	CHECK_NEAR(cluster_weight(&f, 19950 + CLUSTER_HIGH_NS) * 1000, 500, 1);
	CHECK_NEAR(cluster_weight(&f, 19950 + 10 * CLUSTER_HIGH_NS) * 10000, 99, 1);
}

/* Clean lines of three hosts, with noise: their mean is nearer than the tightest bounds. */
static void cluster__mean(void)
{
	struct cluster_host *host;
	s64 error, off;

	clear();
	begin(0);
	path(0, 1, 800, CLUSTER_SUPPORTED);
	path(0, 2, 0, CLUSTER_SUPPORTED);
	cluster_end(&c[0]);
	begin(1);
	path(1, 0, 0, CLUSTER_SUPPORTED);
	path(1, 2, 0, CLUSTER_SUPPORTED);
	cluster_end(&c[1]);
	begin(2);
	path(2, 0, 600, CLUSTER_SUPPORTED);
	path(2, 1, 0, CLUSTER_SUPPORTED);
	cluster_end(&c[2]);
	speak(1, 2);
	speak(0, 1);
	speak(0, 2);
	cluster_solve(&c[0], mono(0));
	host = cluster_find(&c[0], addr(2));
	CHECK_EQ(c[0].n_lines, 6);
	off = off_by();
	CHECK_NEAR(cluster_ahead(host, mono(0), &error), ahead() + off, 2);
	/* One that is outside of the bounds is not believed. */
	host->clock.mean_ns += 1000 * US;
	CHECK_NEAR(cluster_ahead(host, mono(0), &error), host->clock.ns[CLUSTER_MOST], 1);
	CHECK_EQ(error, host->clock.ns[CLUSTER_MOST] - host->clock.ns[CLUSTER_LEAST]);
	/* Without clean lines the middle of the bounds goes on. */
	cluster_solve(&c[0], mono(0));
	now += SEC / 2;
	begin(1);
	path(1, 0, 0, CLUSTER_SUPPORTED);
	path(1, 2, 200 * US, CLUSTER_UNSUPPORTED);
	cluster_end(&c[1]);
	begin(2);
	path(2, 0, 200 * US, CLUSTER_UNSUPPORTED);
	path(2, 1, 0, CLUSTER_SUPPORTED);
	cluster_end(&c[2]);
	tells(2, 0, 0, 0);
	tells(1, 0, 0, 0);
	begin(0);
	path(0, 1, 0, CLUSTER_SUPPORTED);
	path(0, 2, 200 * US, CLUSTER_UNSUPPORTED);
	cluster_end(&c[0]);
	cluster_solve(&c[0], mono(0));
	CHECK_NEAR(cluster_ahead(host, mono(0), &error), host->clock.ns[CLUSTER_LEAST] + error, 1);
	CHECK_NEAR(cluster_ahead(host, mono(0), &error), ahead(), 5);
}

/* A path had support, then no data: its line gets worse, and PROBEs are of use. */
static void cluster__rests(void)
{
	struct cluster_host *host;
	struct cluster_path p;
	unsigned int i;

	clear();
	host = cluster_find(&c[0], addr(1));
	CHECK(!cluster_wants_probes(&c[0], host, mono(0)));
	CHECK_EQ(cluster_youngest(&c[0], mono(0) + SEC), SEC);
	p = host->path;
	for (i = 0; i < 6; i++) {
		now += 2 * SEC;
		begin(0);
		p.at_ns = mono(0);
		p.baseline_ns = truth(0, 1);
		CHECK(cluster_path(&c[0], &p));
		cluster_end(&c[0]);
		host->report_ns = mono(0);
		CHECK(cluster_wants_probes(&c[0], host, mono(0)));
		cluster_solve(&c[0], mono(0));
		CHECK_EQ(c[0].line[0].to, 1);
		CHECK_EQ(c[0].line[0].clean, i < 5);
		if (i < 5)
			CHECK_NEAR(c[0].line[0].error_ns, 1100 + (i + 1) * 14 * US, 5);
		else
			CHECK_EQ(c[0].line[0].slope, BASELINE_DRIFT_MAX);
	}
	/* What PROBEs say counts more. */
	probes(0, 1, 0);
	cluster_solve(&c[0], mono(0));
	CHECK(c[0].line[0].clean);
	CHECK_NEAR(c[0].line[0].error_ns, 1000, 200);
	/* A few packets come, then as many as before. */
	p.acks += 239;
	p.at_ns = mono(0);
	p.baseline_ns = truth(0, 1);
	begin(0);
	CHECK(cluster_path(&c[0], &p));
	cluster_end(&c[0]);
	cluster_solve(&c[0], mono(0));
	CHECK_NEAR(c[0].line[0].error_ns, 1000, 200);
	CHECK(cluster_wants_probes(&c[0], host, mono(0)));
	now += SEC / 10;
	p.acks += 240;
	p.at_ns = mono(0);
	p.baseline_ns = truth(0, 1);
	begin(0);
	CHECK(cluster_path(&c[0], &p));
	cluster_end(&c[0]);
	host->report_ns = mono(0);
	cluster_solve(&c[0], mono(0));
	CHECK(!cluster_wants_probes(&c[0], host, mono(0)));
	CHECK_EQ(c[0].line[0].error_ns, 1100);
	/* The other one is gone. Another one begins, without an OR-ACK yet. */
	CHECK(mono(0) - host->first_ns > 10 * SEC);
	CHECK_EQ(cluster_youngest(&c[0], mono(0)), mono(0) - host->first_ns);
	path(0, 3, 0, CLUSTER_LEARNING);
	CHECK_EQ(cluster_youngest(&c[0], mono(0)), 0);
	cluster_find(&c[0], addr(3))->path.acks = 0;
	CHECK_EQ(cluster_youngest(&c[0], mono(0)), mono(0) - host->first_ns);
}

/* CLOCK_REALTIME of host 2, which is the reference. */
static void cluster__utc(void)
{
	const s64 utc = 1700000000 * SEC, fast = 321 * US;
	s64 offset, error;
	struct cluster_host *host;

	clear();
	seed(0, 2);
	host = cluster_find(&c[0], addr(2));
	CHECK(!cluster_utc(&c[0], mono(0), utc, &offset, &error));
	host->path.state = CLUSTER_SUPPORTED;
	CHECK(!cluster_wants_probes(&c[0], host, mono(0)));
	memcpy(c[0].reference, addr(2), 16);
	CHECK(cluster_wants_probes(&c[0], host, mono(0)));
	CHECK(!cluster_utc(&c[0], mono(0), utc, &offset, &error));
	/* As its ECHO says it: CLOCK_REALTIME less its receive clock. */
	host->probe.utc_ns = utc + mono(0) + fast - mono(2) - clocks[2];
	host->probe.utc_at_ns = mono(0);
	host->probe.domain = 42;
	CHECK(cluster_utc(&c[0], mono(0), utc, &offset, &error));
	CHECK_NEAR(offset, fast, 1);
	CHECK(error >= 2100 && error <= 2200);
	CHECK(cluster_utc(&c[0], mono(0) + SEC / 10, utc, &offset, &error));
	CHECK_NEAR(error, 2125 + 20 * US + 800, 20);
	CHECK(!cluster_utc(&c[0], mono(0) + SEC / 4, utc, &offset, &error));
	host->probe.domain = 41;
	CHECK(!cluster_utc(&c[0], mono(0), utc, &offset, &error));
	host->probe.domain = 42;
	host->refuted = true;
	CHECK(!cluster_utc(&c[0], mono(0), utc, &offset, &error));
	host->refuted = false;
	c[0].clocked = false;
	CHECK(!cluster_utc(&c[0], mono(0), utc, &offset, &error));
}

int main(void)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(report__there_and_back),
		KTAP_CASE(report__refused),
		KTAP_CASE(report__replays),
		KTAP_CASE(floors__there_and_back),
		KTAP_CASE(floors__refused),
		KTAP_CASE(floors__age),
		KTAP_CASE(cluster__congested_first),
		KTAP_CASE(cluster__predicts),
		KTAP_CASE(cluster__predicts_nothing),
		KTAP_CASE(cluster__by_another),
		KTAP_CASE(cluster__clocks),
		KTAP_CASE(cluster__liars),
		KTAP_CASE(cluster__floor_of_before),
		KTAP_CASE(cluster__floor_told),
		KTAP_CASE(cluster__probes),
		KTAP_CASE(cluster__honest),
		KTAP_CASE(cluster__liar_begins),
		KTAP_CASE(cluster__probes_before_data),
		KTAP_CASE(cluster__huygens),
		KTAP_CASE(cluster__small_packets),
		KTAP_CASE(cluster__many_hosts),
		KTAP_CASE(cluster__own_rate),
		KTAP_CASE(cluster__two_clocks),
		KTAP_CASE(cluster__known_again),
		KTAP_CASE(cluster__arrived),
		KTAP_CASE(cluster__ahead),
		KTAP_CASE(cluster__weight),
		KTAP_CASE(cluster__mean),
		KTAP_CASE(cluster__data),
		KTAP_CASE(cluster__rests),
		KTAP_CASE(cluster__utc),
	};

	return ktap_run(cases, ARRAY_SIZE(cases));
}
