// SPDX-License-Identifier: GPL-2.0
/* or_path_core.h: each branch, by cases computed by hand. */
#include "or_path_core.h"
#include "ktap.h"

#define US	1000U
#define SEC	1000000000ULL

#define START	(1000 * SEC)

/* A value of 80 us: RTTs up to 90 us are near it. */
static struct or_path_rtt known(void)
{
	struct or_path_rtt p = {};

	CHECK(or_path_add(&p, START, 80 * US, OR_PATH_SEEN));
	return p;
}

static void path__first(void)
{
	struct or_path_rtt p = known();

	CHECK_EQ(p.rtt_ns, 80 * US);
	CHECK_EQ(p.seen_ns, START);
	CHECK_EQ(p.how, OR_PATH_SEEN);
	CHECK_EQ(or_path_error(&p), 0);
	CHECK_EQ(p.longer + p.shorter, 0);
}

static void path__near(void)
{
	CHECK(or_path_near(90 * US, 80 * US));
	CHECK(!or_path_near(90 * US + 1, 80 * US));
	CHECK(or_path_near(1, 80 * US));
	/* No sum that wraps. */
	CHECK(or_path_near(U32_MAX, U32_MAX - 1));
}

static void path__shorter(void)
{
	struct or_path_rtt p = known();

	CHECK(!or_path_add(&p, START + 1, 72 * US, OR_PATH_SEEN));
	CHECK_EQ(p.rtt_ns, 72 * US);
	CHECK_EQ(p.shorter, 0);
	CHECK(or_path_add(&p, START + 2, 60 * US, OR_PATH_PROOF));
	CHECK_EQ(p.rtt_ns, 60 * US);
	CHECK_EQ(p.how, OR_PATH_PROOF);
	CHECK_EQ(p.shorter, 1);
	CHECK_EQ(p.longer, 0);
	/* Somebody who only looked knows less of it. */
	CHECK(!or_path_add(&p, START + 3, 59 * US, OR_PATH_SEEN));
	CHECK_EQ(p.how, OR_PATH_SEEN);
}

static void path__right(void)
{
	struct or_path_rtt p = known();

	CHECK(!or_path_add(&p, START + 1, 90 * US + 1, OR_PATH_SEEN));
	CHECK_EQ(or_path_error(&p), 10 * US + 1);
	CHECK_EQ(p.seen_ns, START);
	CHECK(!or_path_add(&p, START + 2, 90 * US, OR_PATH_SEEN));
	CHECK_EQ(p.rtt_ns, 80 * US);
	CHECK_EQ(p.seen_ns, START + 2);
	CHECK_EQ(or_path_error(&p), 0);
	CHECK(!or_path_add(&p, START + 3, 90 * US, OR_PATH_PROOF));
	CHECK_EQ(p.how, OR_PATH_PROOF);
	CHECK(!or_path_add(&p, START + 4, 90 * US, OR_PATH_CHANGED));
	CHECK_EQ(p.rtt_ns, 80 * US);
	CHECK_EQ(p.how, OR_PATH_PROOF);
}

/* A longer route: the lowest RTT of a minute, also if somebody has proofs of it. */
static void longer(enum or_path_how how)
{
	struct or_path_rtt p = known();
	u64 t;

	for (t = 1; t < 61; t += 20) {
		CHECK(!or_path_add(&p, START + t * SEC, (200 - (u32)t) * US, how));
		CHECK_EQ(p.rtt_ns, 80 * US);
	}
	CHECK_EQ(or_path_error(&p), (200 - 41 - 80) * US);
	CHECK(!or_path_add(&p, START + 61 * SEC - 1, 500 * US, how));
	CHECK(or_path_add(&p, START + 61 * SEC, 500 * US, how));
	CHECK_EQ(p.rtt_ns, 159 * US);
	CHECK_EQ(p.how, how);
	CHECK_EQ(p.seen_ns, START + 61 * SEC);
	CHECK_EQ(p.longer, 1);
	CHECK_EQ(p.shorter, 0);
	CHECK_EQ(or_path_error(&p), 0);
	/* The next minute begins anew. */
	CHECK(!or_path_add(&p, START + 62 * SEC, 500 * US, how));
}

static void path__longer(void)
{
	longer(OR_PATH_SEEN);
	longer(OR_PATH_PROOF);
}

/* One RTT near the value ends all doubts. */
static void path__one_is_enough(void)
{
	struct or_path_rtt p = known();
	u64 t;

	for (t = 1; t < 600; t++)
		CHECK(!or_path_add(&p, START + t * SEC, t % 50 ? 999 * US : 85 * US,
				   OR_PATH_SEEN));
	CHECK_EQ(p.rtt_ns, 80 * US);
}

/* Looks at a full queue that are apart are no minute of doubts. */
static void path__gaps(void)
{
	struct or_path_rtt p = known();
	u64 t;

	for (t = 1; t < 100; t++)
		CHECK(!or_path_add(&p, START + t * OR_PATH_GAP_NS, (1000 + (u32)t) * US,
				   OR_PATH_SEEN));
	CHECK_EQ(p.rtt_ns, 80 * US);
	/* Of this one alone. */
	CHECK_EQ(or_path_error(&p), (1099 - 80) * US);
	CHECK(!or_path_add(&p, p.last_ns + OR_PATH_GAP_NS - 1, 2000 * US, OR_PATH_SEEN));
	CHECK_EQ(or_path_error(&p), (1099 - 80) * US);
}

static void path__changed(void)
{
	struct or_path_rtt p = known();

	CHECK(!or_path_add(&p, START + 1, 150 * US, OR_PATH_SEEN));
	/* That RTT itself, not the lowest of those that were doubts. */
	CHECK(or_path_add(&p, START + 2, 300 * US, OR_PATH_CHANGED));
	CHECK_EQ(p.rtt_ns, 300 * US);
	CHECK_EQ(p.how, OR_PATH_CHANGED);
	CHECK_EQ(p.longer, 1);
	CHECK_EQ(or_path_error(&p), 0);
	CHECK(or_path_add(&p, START + 3, 80 * US, OR_PATH_SEEN));
	CHECK_EQ(p.shorter, 1);
}

static void path__lower_kind(void)
{
	struct or_path_rtt rtts[OR_PATH_KINDS] = {};

	rtts[OR_PATH_ACK] = known();
	CHECK_EQ(or_path_lower_kind(rtts), OR_PATH_ACK);
	rtts[OR_PATH_TCP] = known();
	CHECK_EQ(or_path_lower_kind(rtts), OR_PATH_TCP);
	CHECK(!or_path_add(&rtts[OR_PATH_ACK], START + 1, 80 * US - 1, OR_PATH_SEEN));
	CHECK_EQ(or_path_lower_kind(rtts), OR_PATH_ACK);
	rtts[OR_PATH_ACK].rtt_ns = 0;
	CHECK_EQ(or_path_lower_kind(rtts), OR_PATH_TCP);
}

int main(void)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(path__first),
		KTAP_CASE(path__near),
		KTAP_CASE(path__shorter),
		KTAP_CASE(path__right),
		KTAP_CASE(path__longer),
		KTAP_CASE(path__one_is_enough),
		KTAP_CASE(path__gaps),
		KTAP_CASE(path__changed),
		KTAP_CASE(path__lower_kind),
	};

	return ktap_run(cases, ARRAY_SIZE(cases));
}
