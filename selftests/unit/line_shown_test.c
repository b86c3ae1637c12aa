// SPDX-License-Identifier: GPL-2.0
/* Tests of include/line_shown.h: what flows show about a line rate. */
#include "line_shown.h"

#include "ktap.h"

#define US		1000ULL
#define MS		1000000ULL
#define SEC		1000000000ULL
/* A line rate, bytes/s. */
#define CAP		1250000000ULL

static struct line_shown shown;
static u64 now_ns;

static void start(u64 ns)
{
	shown = (struct line_shown) {};
	now_ns = ns;
}

/* Looks for some time, each after every_ns, with a share of what CAP allows. Returns the rises. */
static u32 looks(u64 for_ns, u64 every_ns, double share)
{
	u64 end_ns = now_ns + for_ns;
	u32 rises = 0;

	while (now_ns < end_ns) {
		now_ns += every_ns;
		rises += line_shown_add(&shown, CAP, now_ns, every_ns,
					(u32)(CAP * share * every_ns / SEC));
	}
	return rises;
}

static void shown__after_16_ms(void)
{
	start(5 * SEC);
	CHECK_EQ(looks(15 * MS, 100 * US, 1), 0);
	CHECK_EQ(looks(4 * MS, 100 * US, 1), 1);
	/* And again each 17 ms. */
	CHECK_EQ(looks(168 * MS, 100 * US, 1), 10);
}

static void shown__nearly_all(void)
{
	start(5 * SEC);
	CHECK(looks(SEC, 100 * US, 0.95) >= 58);
	now_ns += 10 * MS;
	CHECK_EQ(looks(SEC, 100 * US, 0.93), 0);
	CHECK(looks(SEC, 100 * US, 0.95) >= 58);
}

/* Between two looks that count there may be two times of a look, and 2 ms. */
static void shown__gaps(void)
{
	u32 rises = 0, i;

	start(5 * SEC);
	for (i = 0; i < 1000; i++) {
		now_ns += 4 * MS;
		/* All of the time's bytes: only the gap is wrong. */
		rises += line_shown_add(&shown, CAP, now_ns, 100 * US, CAP / 250);
	}
	CHECK_EQ(rises, 0);
	start(5 * SEC);
	for (i = 0; i < 1000; i++) {
		now_ns += 2 * MS;
		rises += line_shown_add(&shown, CAP, now_ns, 100 * US, CAP / 500);
	}
	CHECK(rises > 100);
	/* What was shown before a gap is forgotten. */
	start(5 * SEC);
	CHECK_EQ(looks(15 * MS, 100 * US, 1), 0);
	now_ns += 10 * MS;
	CHECK_EQ(looks(15 * MS, 100 * US, 1), 0);
	CHECK_EQ(looks(4 * MS, 100 * US, 1), 1);
}

/* Paths with long RTTs. */
static void shown__seldom(void)
{
	start(5 * SEC);
	CHECK(looks(SEC, 50 * MS, 1) >= 15);
	CHECK(looks(20 * SEC, 2 * SEC, 1) >= 8);
	CHECK_EQ(looks(SEC, 50 * MS, 0.9), 0);
	/* More than the arithmetic holds counts as 68 s. */
	start(5 * SEC);
	line_shown_add(&shown, 1ULL << 37, now_ns, MS, 1);
	CHECK(!line_shown_add(&shown, 1ULL << 37, now_ns + 100 * SEC, 100 * SEC, 0xffffffff));
	start(5 * SEC);
	line_shown_add(&shown, 1000, now_ns, MS, 1);
	CHECK(line_shown_add(&shown, 1000, now_ns + 100 * SEC, 100 * SEC, 70000));
}

/* Units of time wrap after 52 days. */
static void shown__wraps(void)
{
	start((1ULL << (32 + LINE_SHOWN_SHIFT)) - 50 * MS);
	CHECK_EQ(looks(168 * MS, 100 * US, 1), 10);
}

/* Two flows of a device, of which one is a unit of time behind, with half of it each. */
static void shown__behind(void)
{
	u32 rises = 0, i;

	start(5 * SEC);
	for (i = 0; i < 850; i++) {
		now_ns += 200 * US;
		rises += line_shown_add(&shown, CAP, now_ns, 200 * US, CAP / 10000);
		rises += line_shown_add(&shown, CAP, now_ns - 1100 * US, 200 * US, CAP / 10000);
	}
	CHECK_EQ(rises, 10);
}

static void rise__table(void)
{
	static const struct {
		const char *name;
		u32 mbit, most, want;
	} rows[] = {
		{ "10 Gbit/s", 10000, 1600000, 12501 },
		{ "1 Mbit/s", 1, 1600000, 2 },
		{ "nearly all", 1500000, 1600000, 1600000 },
		{ "all", 1600000, 1600000, 1600000 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ktap_row = rows[i].name;
		CHECK_EQ(line_shown_rise(rows[i].mbit, rows[i].most), rows[i].want);
	}
	ktap_row = NULL;
}

int main(void)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(shown__after_16_ms),
		KTAP_CASE(shown__nearly_all),
		KTAP_CASE(shown__gaps),
		KTAP_CASE(shown__seldom),
		KTAP_CASE(shown__wraps),
		KTAP_CASE(shown__behind),
		KTAP_CASE(rise__table),
	};

	return ktap_run(cases, ARRAY_SIZE(cases));
}
