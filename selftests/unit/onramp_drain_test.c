// SPDX-License-Identifier: GPL-2.0
/* onramp_drain.h: each branch, by cases computed by hand, and what a receiver can cost. */
#include <stdlib.h>

#include "onramp_drain.h"
#include "ktap.h"
#include "random.h"

#define US	1000ULL
#define MS	1000000ULL
#define SEC	1000000000ULL

#define START	(1000 * SEC)

static struct onramp_drain begun(u64 rtt_ns)
{
	struct onramp_drain d = { .rtt_ns = rtt_ns };

	CHECK(onramp_drain_begin(&d, START, ONRAMP_DRAIN_MAX_NS));
	return d;
}

static void drain__lengths(void)
{
	struct onramp_drain d = begun(800 * US);

	CHECK_EQ(d.silent_ns, 1200 * US);
	CHECK_EQ(d.probe_ns, START + MS);
	CHECK_EQ(d.rest_ns, 200 * US);
	CHECK(d.awaits);
	/* The lowest bit of the probe's time says that it has left. */
	d = begun(801);
	CHECK(!(d.probe_ns & ONRAMP_DRAIN_PROBED));
	CHECK_EQ(d.silent_ns, 1201);
}

static void drain__round_trip(void)
{
	struct onramp_drain d = {};

	CHECK(!onramp_drain_begin(&d, START, ONRAMP_DRAIN_MAX_NS));
	CHECK_EQ(d.from_ns, 0);
	d.rtt_ns = 18 * MS;
	CHECK(onramp_drain_begin(&d, START, ONRAMP_DRAIN_MAX_NS));
	CHECK_EQ(d.silent_ns, 27 * MS);
	d = (struct onramp_drain) { .rtt_ns = 18 * MS + 2 };
	CHECK(!onramp_drain_begin(&d, START, ONRAMP_DRAIN_MAX_NS));
	/* The first ones of a path. */
	CHECK(onramp_drain_begin(&d, START, ONRAMP_DRAIN_FIRST_NS));
	CHECK_EQ(d.silent_ns, 27 * MS + 3);
	d = (struct onramp_drain) { .rtt_ns = 66 * MS };
	CHECK(onramp_drain_begin(&d, START, ONRAMP_DRAIN_FIRST_NS));
	d = (struct onramp_drain) { .rtt_ns = 67 * MS };
	CHECK(!onramp_drain_begin(&d, START, ONRAMP_DRAIN_FIRST_NS));
	d.rtt_ns = ~0ULL / 2;
	CHECK(!onramp_drain_begin(&d, START, ONRAMP_DRAIN_MAX_NS));
}

static void again(struct onramp_drain d, u64 after_ns)
{
	CHECK(!onramp_drain_begin(&d, START + after_ns - 1, ONRAMP_DRAIN_MAX_NS));
	CHECK_EQ(d.from_ns, START);
	CHECK(onramp_drain_begin(&d, START + after_ns, ONRAMP_DRAIN_MAX_NS));
	CHECK_EQ(d.from_ns, START + after_ns);
}

static void drain__not_too_often(void)
{
	struct onramp_drain d = begun(20 * US);

	again(d, 100 * MS);
	/* By the length of the last one, not of the next. */
	d.rtt_ns = 10 * MS;
	again(d, 100 * MS);
	d = begun(10 * MS);
	d.rtt_ns = 20 * US;
	again(d, 64 * 15 * MS);
	/* Time that runs back. */
	CHECK(!onramp_drain_begin(&d, START - SEC, ONRAMP_DRAIN_MAX_NS));
}

static void drain__rarer_where_it_is_useless(void)
{
	struct onramp_drain d = begun(10 * MS);

	onramp_drain_end(&d, 0);
	again(d, 64 * 15 * MS);
	onramp_drain_end(&d, 0);
	again(d, 512 * 15 * MS);
	onramp_drain_end(&d, 0);
	again(d, 512 * 15 * MS);
	/* The queue was more than the path, or not. */
	onramp_drain_end(&d, 5 * MS - 1);
	again(d, 64 * 15 * MS);
	onramp_drain_end(&d, 5 * MS);
	again(d, 512 * 15 * MS);
	d.rtt_ns = 10 * MS + 1;
	again(d, 64 * 15 * MS);
	onramp_drain_end(&d, 0);
	CHECK_EQ(d.path_ns, 5 * MS);
}

static void drain__proof(void)
{
	struct onramp_drain d = begun(800 * US);

	CHECK_EQ(onramp_drain_acked(&d, START + MS - 1), ONRAMP_DRAIN_NOTHING);
	CHECK(d.awaits);
	CHECK_EQ(onramp_drain_acked(&d, START + MS), ONRAMP_DRAIN_PROOF);
	/* The first one only. */
	CHECK(!d.awaits);
	CHECK_EQ(onramp_drain_acked(&d, START + MS + 1), ONRAMP_DRAIN_NOTHING);
	d = begun(800 * US);
	CHECK_EQ(onramp_drain_acked(&d, START + 1200 * US - 1), ONRAMP_DRAIN_PROOF);
	d = begun(800 * US);
	CHECK_EQ(onramp_drain_acked(&d, START + 1200 * US), ONRAMP_DRAIN_VOID);
	CHECK_EQ(onramp_drain_acked(&d, START + 1200 * US + 1), ONRAMP_DRAIN_NOTHING);
	/* There was none. */
	d = (struct onramp_drain) {};
	CHECK_EQ(onramp_drain_acked(&d, START), ONRAMP_DRAIN_NOTHING);
}

static void drain__silence_after_a_packet(void)
{
	struct onramp_drain d = begun(800 * US);

	CHECK_EQ(onramp_drain_after_ns(&d, START - 800 * US), 1200 * US);
	CHECK_EQ(onramp_drain_after_ns(&d, START), 1200 * US);
	CHECK_EQ(onramp_drain_after_ns(&d, START + MS), 200 * US);
	CHECK_EQ(onramp_drain_after_ns(&d, START + 1200 * US), 0);
	CHECK_EQ(onramp_drain_after_ns(&d, START + SEC), 0);
	d = (struct onramp_drain) {};
	CHECK_EQ(onramp_drain_after_ns(&d, START), 0);
}

static void drain__part_of_a_time(void)
{
	const u64 end = START + 1200 * US;
	const u32 silent = 1200 * US;

	/* Before it, in it, over it, after it. */
	CHECK_EQ(onramp_drain_part_ns(end, silent, START, SEC), 0);
	CHECK_EQ(onramp_drain_part_ns(end, silent, START + 200 * US, SEC), 200 * US);
	CHECK_EQ(onramp_drain_part_ns(end, silent, START + 200 * US, 50 * US), 50 * US);
	CHECK_EQ(onramp_drain_part_ns(end, silent, end, SEC), silent);
	CHECK_EQ(onramp_drain_part_ns(end, silent, end + 300 * US, SEC), silent);
	CHECK_EQ(onramp_drain_part_ns(end, silent, end + 300 * US, 400 * US), 100 * US);
	CHECK_EQ(onramp_drain_part_ns(end, silent, end + 300 * US, 300 * US), 0);
	CHECK_EQ(onramp_drain_part_ns(end, silent, end + 300 * US, 0), 0);
	CHECK_EQ(onramp_drain_part_ns(ONRAMP_DRAIN_PROBED, 0, START, SEC), 0);
}

/*
 * A receiver that always sets the bit, and makes round trips as long as it likes. Silences are at
 * most 1/64 of any time that begins with one, and one more.
 */
static void malice(u64 most)
{
	struct onramp_drain d = {};
	u64 now_ns = START, silent_ns = 0, most_ns = 0;
	int i;

	random_state = 1;
	for (i = 0; i < 1000000; i++) {
		now_ns += (u64)log_uniform(US, 10 * MS);
		/* While it is silent there are no OR-ACKs but of data of before. */
		d.rtt_ns = (u64)log_uniform(10 * US, (double)most);
		if (chance(0.1))
			onramp_drain_end(&d, chance(0.5) ? (u64)log_uniform(US, 30 * MS) : 0);
		if (!onramp_drain_begin(&d, now_ns, most))
			continue;
		silent_ns += d.silent_ns;
		most_ns = max_t(u64, most_ns, silent_ns - (now_ns - START) / 64);
		CHECK(silent_ns <= (now_ns - START) / 64 + most);
	}
	printf("# silent for %.2f %% of %llu s\n", 100.0 * silent_ns / (now_ns - START),
	       (unsigned long long)((now_ns - START) / SEC));
}

static void drain__malice(void)
{
	malice(ONRAMP_DRAIN_MAX_NS);
	malice(ONRAMP_DRAIN_FIRST_NS);
}

int main(void)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(drain__lengths),
		KTAP_CASE(drain__round_trip),
		KTAP_CASE(drain__not_too_often),
		KTAP_CASE(drain__rarer_where_it_is_useless),
		KTAP_CASE(drain__proof),
		KTAP_CASE(drain__silence_after_a_packet),
		KTAP_CASE(drain__part_of_a_time),
		KTAP_CASE(drain__malice),
	};

	return ktap_run(cases, ARRAY_SIZE(cases));
}
