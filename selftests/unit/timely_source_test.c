// SPDX-License-Identifier: GPL-2.0
/*
 * timely_source.h: which source a flow follows, and what a completion is by the
 * bus's stamps. Expected values are worked out by hand.
 */
#include <stdlib.h>

#include "ktap.h"
#include "timely_source.h"

#define TCP	TIMELY_SOURCE_TCP
#define STACK	TIMELY_SOURCE_STACK
#define MAPPED	TIMELY_SOURCE_MAPPED
#define HW	TIMELY_SOURCE_HW

/* A full packet. */
#define MSS	1448

static struct timely_sources s;

/* So many samples of this source, of which all but the last give this. */
static enum timely_source_verdict steps(u32 n, enum timely_source source,
					enum timely_source_verdict all_but_last)
{
	enum timely_source_verdict verdict;

	while (--n) {
		verdict = timely_source_step(&s, source);
		CHECK_EQ(verdict, all_but_last);
	}
	return timely_source_step(&s, source);
}

static void start(enum timely_source source)
{
	s = (struct timely_sources){ .used = source };
}

static void source__the_first_is_taken(void)
{
	start(TIMELY_SOURCE_NONE);
	CHECK_EQ(timely_source_step(&s, STACK), TIMELY_SOURCE_CHANGED);
	CHECK_EQ(s.used, STACK);
	CHECK_EQ(steps(100, STACK, TIMELY_SOURCE_SAME), TIMELY_SOURCE_SAME);
}

static void source__a_better_one_has_to_come_twice(void)
{
	start(STACK);
	CHECK_EQ(timely_source_step(&s, HW), TIMELY_SOURCE_SKIP);
	CHECK_EQ(timely_source_step(&s, HW), TIMELY_SOURCE_CHANGED);
	CHECK_EQ(s.used, HW);

	/* Six of the old one in between are few enough, */
	start(STACK);
	CHECK_EQ(timely_source_step(&s, HW), TIMELY_SOURCE_SKIP);
	CHECK_EQ(steps(7, STACK, TIMELY_SOURCE_SAME), TIMELY_SOURCE_SAME);
	CHECK_EQ(timely_source_step(&s, HW), TIMELY_SOURCE_CHANGED);

	/* eight are too many: the second one is a first one. */
	start(STACK);
	CHECK_EQ(timely_source_step(&s, HW), TIMELY_SOURCE_SKIP);
	CHECK_EQ(steps(8, STACK, TIMELY_SOURCE_SAME), TIMELY_SOURCE_SAME);
	CHECK_EQ(timely_source_step(&s, HW), TIMELY_SOURCE_SKIP);
	CHECK_EQ(s.used, STACK);
	CHECK_EQ(timely_source_step(&s, HW), TIMELY_SOURCE_CHANGED);
}

static void source__a_worse_one_after_eight_in_a_row(void)
{
	start(HW);
	CHECK_EQ(steps(8, STACK, TIMELY_SOURCE_SKIP), TIMELY_SOURCE_CHANGED);
	CHECK_EQ(s.used, STACK);

	/* One in between begins anew. */
	start(HW);
	CHECK_EQ(steps(7, STACK, TIMELY_SOURCE_SKIP), TIMELY_SOURCE_SKIP);
	CHECK_EQ(timely_source_step(&s, HW), TIMELY_SOURCE_SAME);
	CHECK_EQ(steps(7, TCP, TIMELY_SOURCE_SKIP), TIMELY_SOURCE_SKIP);
	CHECK_EQ(s.used, HW);

	/* Two worse ones add up; the one that comes then is taken. */
	CHECK_EQ(timely_source_step(&s, MAPPED), TIMELY_SOURCE_CHANGED);
	CHECK_EQ(s.used, MAPPED);
}

/* What led to a change says nothing about the next one. */
static void source__a_change_begins_anew(void)
{
	start(STACK);
	CHECK_EQ(steps(7, TCP, TIMELY_SOURCE_SKIP), TIMELY_SOURCE_SKIP);
	CHECK_EQ(timely_source_step(&s, HW), TIMELY_SOURCE_SKIP);
	CHECK_EQ(timely_source_step(&s, HW), TIMELY_SOURCE_CHANGED);
	CHECK_EQ(steps(8, STACK, TIMELY_SOURCE_SKIP), TIMELY_SOURCE_CHANGED);
	CHECK_EQ(s.used, STACK);

	start(STACK);
	CHECK_EQ(timely_source_step(&s, MAPPED), TIMELY_SOURCE_SKIP);
	CHECK_EQ(timely_source_step(&s, MAPPED), TIMELY_SOURCE_CHANGED);
	CHECK_EQ(timely_source_step(&s, HW), TIMELY_SOURCE_SKIP);
	CHECK_EQ(s.used, MAPPED);
	CHECK_EQ(timely_source_step(&s, HW), TIMELY_SOURCE_CHANGED);
}

/* NICs that stamp every third segment: one change, and nothing but their stamps. */
static void source__every_third_is_stamped(void)
{
	u32 used = 0, changes = 0, i;

	start(TIMELY_SOURCE_NONE);
	for (i = 0; i < 3000; i++) {
		switch (timely_source_step(&s, i % 3 == 2 ? HW : STACK)) {
		case TIMELY_SOURCE_CHANGED:
			changes++;
			break;
		case TIMELY_SOURCE_SAME:
			used++;
			break;
		case TIMELY_SOURCE_SKIP:
			break;
		}
	}
	CHECK_EQ(s.used, HW);
	CHECK_EQ(changes, 2);
	CHECK(used >= 990);
}

/* Whatever comes: never more than seven in a row without a sample. */
static void source__never_silent(void)
{
	u32 silent = 0, most = 0, i;

	srandom(11);
	start(TIMELY_SOURCE_NONE);
	for (i = 0; i < 1000000; i++) {
		/* In spells, of which some have two sources, and some all. */
		u32 spell = i / 50 % 7;
		enum timely_source source = TCP + (spell * 3 + random() % (1 + spell % 5)) %
						  (HW - TCP + 1);

		if (timely_source_step(&s, source) == TIMELY_SOURCE_SKIP)
			silent++;
		else
			silent = 0;
		if (silent > most)
			most = silent;
	}
	/* Seven worse ones, and one better one that is not yet believed. */
	CHECK(most >= 7);
	CHECK(most <= 2 * TIMELY_SOURCE_PATIENCE);
}

static void source__of_stamps(void)
{
	static const struct {
		u32 domain;
		u8 tx, rx;
		enum timely_source source;
	} rows[] = {
		{ NIC_TS_DOMAIN_PHC(3), NIC_TS_SRC_HW, NIC_TS_SRC_HW, HW },
		{ NIC_TS_DOMAIN_MONO, NIC_TS_SRC_HW, NIC_TS_SRC_HW, MAPPED },
		{ NIC_TS_DOMAIN_MONO, NIC_TS_SRC_STACK, NIC_TS_SRC_HW, MAPPED },
		{ NIC_TS_DOMAIN_MONO, NIC_TS_SRC_HW, NIC_TS_SRC_DRIVER, MAPPED },
		{ NIC_TS_DOMAIN_MONO, NIC_TS_SRC_DRIVER, NIC_TS_SRC_DRIVER,
		  TIMELY_SOURCE_DRIVER },
		{ NIC_TS_DOMAIN_MONO, NIC_TS_SRC_STACK, NIC_TS_SRC_DRIVER, STACK },
		{ NIC_TS_DOMAIN_MONO, NIC_TS_SRC_DRIVER, NIC_TS_SRC_STACK, STACK },
		{ NIC_TS_DOMAIN_MONO, NIC_TS_SRC_STACK, NIC_TS_SRC_STACK, STACK },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct nic_ts_rtt rtt = {
			.domain = rows[i].domain, .tx_source = rows[i].tx,
			.rx_source = rows[i].rx,
		};

		CHECK_EQ(timely_source_of(&rtt), rows[i].source);
	}
}

static void measured__table(void)
{
	static const struct {
		const char *name;
		struct nic_ts_rtt rtt;
		u32 seq, end_seq;
		struct {
			s64 time_ns;
			u32 bytes;
			u8 source;
			bool bound;
		} m;
	} rows[] = {
#define SW	.domain = NIC_TS_DOMAIN_MONO, .tx_source = NIC_TS_SRC_STACK, \
		.rx_source = NIC_TS_SRC_STACK
#define NIC	.domain = NIC_TS_DOMAIN_PHC0, .tx_source = NIC_TS_SRC_HW, \
		.rx_source = NIC_TS_SRC_HW
		{ "a segment, acknowledged as a whole",
		  { SW, .tx_ns = 1000, .rx_ns = 41000, .seq = 0, .end_seq = 10 * MSS,
		    .part_seq = 0 },
		  0, 10 * MSS, { 40000, 10 * MSS, STACK, false } },
		{ "two packets at its end",
		  { SW, .tx_ns = 1000, .rx_ns = 41000, .seq = 0, .end_seq = 10 * MSS,
		    .part_seq = 8 * MSS, .part_ns = 39000 },
		  0, 10 * MSS, { 40000, 10 * MSS, STACK, false } },
		{ "one packet at its end: the ACK before it",
		  { SW, .tx_ns = 1000, .rx_ns = 40041000, .seq = 0, .end_seq = 11 * MSS,
		    .part_seq = 10 * MSS, .part_ns = 39000 },
		  0, 11 * MSS, { 38000, 10 * MSS, STACK, false } },
		{ "when that came is not known: a bound",
		  { SW, .tx_ns = 1000, .rx_ns = 40041000, .seq = 0, .end_seq = 11 * MSS,
		    .part_seq = 10 * MSS },
		  0, 11 * MSS, { 40040000, 11 * MSS, STACK, true } },
		{ "a segment of one packet: a bound",
		  { SW, .tx_ns = 1000, .rx_ns = 41000, .seq = 0, .end_seq = 100,
		    .part_seq = 0 },
		  0, 100, { 40000, 100, STACK, true } },
		{ "a segment of one packet, acknowledged with the one before it",
		  { SW, .tx_ns = 1000, .rx_ns = 41000, .seq = 3 * MSS, .end_seq = 4 * MSS,
		    .part_seq = 2 * MSS },
		  3 * MSS, 4 * MSS, { 40000, MSS, STACK, false } },
		{ "a segment of one packet, acknowledged alone",
		  { SW, .tx_ns = 1000, .rx_ns = 41000, .seq = 3 * MSS, .end_seq = 4 * MSS,
		    .part_seq = 3 * MSS },
		  3 * MSS, 4 * MSS, { 40000, MSS, STACK, true } },
		{ "sequence numbers wrap",
		  { SW, .tx_ns = 1000, .rx_ns = 41000, .seq = 0xffffff00,
		    .end_seq = 0xffffff00U + 11 * MSS, .part_seq = 0xffffff00U + 10 * MSS,
		    .part_ns = 31000 },
		  0xffffff00, 0xffffff00U + 11 * MSS, { 30000, 10 * MSS, STACK, false } },
		{ "cut by software: the last packet waits for all of the segment",
		  { SW, .tx_ns = 1000, .rx_ns = 41000, .seq = 8 * MSS, .end_seq = 10 * MSS,
		    .part_seq = 8 * MSS },
		  0, 10 * MSS, { 40000, 10 * MSS, STACK, false } },
		{ "cut by software, and sequence numbers wrap",
		  { SW, .tx_ns = 1000, .rx_ns = 41000, .seq = 2 * MSS - 256,
		    .end_seq = 4 * MSS - 256, .part_seq = 2 * MSS - 256 },
		  0xffffff00, 4 * MSS - 256, { 40000, 4 * MSS, STACK, false } },
		{ "cut by software: of a newer segment no more is known",
		  { SW, .tx_ns = 1000, .rx_ns = 41000, .seq = 18 * MSS, .end_seq = 20 * MSS,
		    .part_seq = 18 * MSS },
		  0, 10 * MSS, { 40000, 2 * MSS, STACK, false } },
		{ "the bus saw more go in one piece than TCP remembers",
		  { SW, .tx_ns = 1000, .rx_ns = 41000, .seq = 0, .end_seq = 10 * MSS,
		    .part_seq = 0 },
		  4 * MSS, 10 * MSS, { 40000, 10 * MSS, STACK, false } },
		{ "a NIC stamps the last packet",
		  { NIC, .tx_ns = 1000, .rx_ns = 31000, .seq = 0, .end_seq = 10 * MSS,
		    .part_seq = 8 * MSS, .part_ns = 29000 },
		  0, 10 * MSS, { 30000, MSS, HW, false } },
		{ "which may be short",
		  { NIC, .tx_ns = 1000, .rx_ns = 31000, .seq = 0, .end_seq = 9 * MSS + 7,
		    .part_seq = 0 },
		  0, 9 * MSS + 7, { 30000, 7, HW, false } },
		{ "the packet before the stamped one: nothing to serialise",
		  { NIC, .tx_ns = 1000, .rx_ns = 40031000, .seq = 0, .end_seq = 11 * MSS,
		    .part_seq = 10 * MSS, .part_ns = 29000 },
		  0, 11 * MSS, { 28000, 0, HW, false } },
		{ "an ACK from within the packet before the stamped one",
		  { NIC, .tx_ns = 1000, .rx_ns = 40031000, .seq = 0, .end_seq = 9 * MSS + 7,
		    .part_seq = 9 * MSS - 500, .part_ns = 29000 },
		  0, 9 * MSS + 7, { 28000, 0, HW, false } },
		{ "the host's clock, and an ACK by the NIC",
		  { .domain = NIC_TS_DOMAIN_MONO, .tx_source = NIC_TS_SRC_STACK,
		    .rx_source = NIC_TS_SRC_HW, .tx_ns = 1000, .rx_ns = 31000, .seq = 0,
		    .end_seq = 10 * MSS, .part_seq = 0 },
		  0, 10 * MSS, { 30000, 10 * MSS, MAPPED, false } },
	};
	struct timely_completion m;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ktap_row = rows[i].name;
		timely_measured_by(&rows[i].rtt, rows[i].seq, rows[i].end_seq, MSS, &m);
		CHECK_EQ(m.time_ns, rows[i].m.time_ns);
		CHECK_EQ(m.bytes, rows[i].m.bytes);
		CHECK_EQ(m.source, rows[i].m.source);
		CHECK_EQ(m.bound, rows[i].m.bound);
	}
	ktap_row = NULL;
}

/* The first occasion after a refusal is used, then every 2nd, 4th, ... 32nd. */
static void retry__later_and_later(void)
{
	static const u32 asked[] = { 0, 1, 3, 7, 15, 31, 63, 95, 127, 159, 191 };
	struct timely_retry r = {};
	u32 i, n = 0;

	for (i = 0; i < 200; i++) {
		if (!timely_retry_now(&r))
			continue;
		CHECK(n < ARRAY_SIZE(asked));
		CHECK_EQ(i, asked[n]);
		n++;
		timely_retry_refused(&r);
	}
	CHECK_EQ(n, ARRAY_SIZE(asked));
	/* Without a refusal every occasion is. */
	r = (struct timely_retry){};
	for (i = 0; i < 10; i++)
		CHECK(timely_retry_now(&r));
}

static const struct ktap_case cases[] = {
	KTAP_CASE(source__the_first_is_taken),
	KTAP_CASE(source__a_better_one_has_to_come_twice),
	KTAP_CASE(source__a_worse_one_after_eight_in_a_row),
	KTAP_CASE(source__a_change_begins_anew),
	KTAP_CASE(source__every_third_is_stamped),
	KTAP_CASE(source__never_silent),
	KTAP_CASE(source__of_stamps),
	KTAP_CASE(measured__table),
	KTAP_CASE(retry__later_and_later),
};

int main(void)
{
	return ktap_run(cases, ARRAY_SIZE(cases));
}
