// SPDX-License-Identifier: GPL-2.0
/*
 * lipd_core.h against the formulas of the paper in double precision, and by cases worked
 * out by hand.
 */
#include <math.h>

#include "ktap.h"
#include "lipd_core.h"
#include "random.h"

#define ONE	((double)LIPD_ONE)
#define GBIT	125000000ULL

static const struct lipd_params lipd = { .law = LIPD_LAW_LIPD, .levels = 8 };
static const struct lipd_params fimd = { .law = LIPD_LAW_FIMD, .levels = 8 };
static const struct lipd_params aimd = { .law = LIPD_LAW_AIMD, .levels = 8 };

static u64 q(double x)
{
	return (u64)(x * ONE);
}

/* Section V and VI-B as they are printed, in rates, with R_max = 1. */
static double paper_dec(const struct lipd_params *p, double r)
{
	double r_min = 1.0 / (1 << p->levels);

	return fmax(p->law == LIPD_LAW_LIPD ? 1 / (1 / r + 1) : r / 2, r_min);
}

static double paper_inc(const struct lipd_params *p, double r)
{
	double r_min = 1.0 / (1 << p->levels);

	switch (p->law) {
	case LIPD_LAW_LIPD:
		return fmin(r / (1 - r_min), 1);
	case LIPD_LAW_FIMD:
		return fmin(r * pow(2, r_min / r), 1);
	default:
		return fmin(r + r_min * r_min / r, 1);
	}
}

static struct lipd_params any_params(void)
{
	return (struct lipd_params) {
		.law = (u8)(random_u64() % LIPD_LAWS),
		.levels = (u8)(LIPD_MIN_LEVELS + random_u64() % LIPD_MAX_LEVELS),
	};
}

static void exp2_neg__is_a_power_of_two(void)
{
	u64 e;

	CHECK_NEAR(lipd_exp2_neg(LIPD_ONE) / ONE, 0.5, 1e-8);
	CHECK_NEAR(lipd_exp2_neg(1) / ONE, 1, 1e-9);
	for (e = 1; e <= LIPD_ONE; e += LIPD_ONE / 997)
		CHECK_NEAR(lipd_exp2_neg(e) / ONE, exp2(-(double)e / ONE), 1e-8);
}

/* 37, whole and with a fraction; the largest values that there are. */
static void mul__rounds_down(void)
{
	CHECK_EQ(lipd_mul(37 * LIPD_ONE, 1U << 31), 37 * (LIPD_ONE / 2));
	CHECK_EQ(lipd_mul(37 * LIPD_ONE + 3, 1U << 31), 37 * (LIPD_ONE / 2) + 1);
	CHECK_EQ(lipd_mul(LIPD_ONE << 12, 0xffffffffU), (LIPD_ONE << 12) - (1U << 12));
}

static void marked__lipd_adds_a_packet_time(void)
{
	CHECK_EQ(lipd_marked(q(1), &lipd, 1), q(2));
	CHECK_EQ(lipd_marked(q(2.5), &lipd, 3), q(5.5));
	CHECK_EQ(lipd_marked(q(254.5), &lipd, 1), q(255.5));
	CHECK_EQ(lipd_marked(q(255.5), &lipd, 1), q(256));
	CHECK_EQ(lipd_marked(q(1), &lipd, 0xffffffffU), q(256));
}

static void marked__the_others_halve_the_rate(void)
{
	CHECK_EQ(lipd_marked(q(1), &fimd, 1), q(2));
	CHECK_EQ(lipd_marked(q(1.5), &aimd, 3), q(12));
	CHECK_EQ(lipd_marked(q(200), &fimd, 1), q(256));
	CHECK_EQ(lipd_marked(q(1), &fimd, 8), q(256));
	CHECK_EQ(lipd_marked(q(1.5), &fimd, 100), q(256));
	CHECK_EQ(lipd_marked(q(1), &aimd, 0xffffffffU), q(256));
}

static void marked__none_is_no_change(void)
{
	CHECK_EQ(lipd_marked(q(3), &lipd, 0), q(3));
	CHECK_EQ(lipd_marked(q(3), &fimd, 0), q(3));
	CHECK_EQ(lipd_unmarked(q(3), &lipd, 0), q(3));
}

/* N became less than x: as if x were N. The middle one of these is a divisor of 0 otherwise. */
static void unmarked__of_more_than_n(void)
{
	static const struct lipd_params *const laws[] = { &lipd, &fimd, &aimd };
	static const u64 xs[] = { 300 * LIPD_ONE, 3719550787ULL << 9, 4096 * LIPD_ONE };
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(laws); i++)
		for (j = 0; j < ARRAY_SIZE(xs); j++)
			CHECK_EQ(lipd_unmarked(xs[j], laws[i], 1),
				 lipd_unmarked(q(256), laws[i], 1));
}

/* By hand: 256 - 1; 256 to one half; 256 / (1 + 1); 4 * 2^(-1/64); 4 / (1 + 1/4096). */
static void unmarked__one_packet(void)
{
	CHECK_EQ(lipd_unmarked(q(256), &lipd, 1), q(255));
	CHECK_NEAR(lipd_unmarked(q(256), &fimd, 1) / ONE, 128, 1e-5);
	CHECK_EQ(lipd_unmarked(q(256), &aimd, 1), q(128));
	CHECK_EQ(lipd_unmarked(q(4), &lipd, 1), q(4 - 4.0 / 256));
	CHECK_NEAR(lipd_unmarked(q(4), &fimd, 1) / ONE, 3.956912, 1e-6);
	CHECK_NEAR(lipd_unmarked(q(4), &aimd, 1) / ONE, 3.999024, 1e-6);
}

static void unmarked__ends_at_the_line_rate(void)
{
	CHECK_EQ(lipd_unmarked(q(1), &lipd, 1), q(1));
	CHECK_EQ(lipd_unmarked(q(1.001), &lipd, 1), q(1));
	CHECK_EQ(lipd_unmarked(q(1.001), &fimd, 1), q(1));
	CHECK_EQ(lipd_unmarked(q(1.00001), &aimd, 1), q(1));
	CHECK_EQ(lipd_unmarked(q(1), &aimd, 0xffffffffU), q(1));
}

/* A stretched ACK moves it by 256 packets: 256 * (255/256)^256 = 93.99. */
static void unmarked__bounded_work(void)
{
	double want = 256 * pow(255.0 / 256, 256);

	CHECK_NEAR(lipd_unmarked(q(256), &lipd, 256) / ONE, want, 1e-6);
	CHECK_NEAR(lipd_unmarked(q(256), &lipd, 0xffffffffU) / ONE, want, 1e-6);
	CHECK_NEAR(lipd_unmarked(q(256), &lipd, 255) / ONE, want / 255 * 256, 1e-6);
}

/* Anywhere, for all laws and all N. */
static void steps__are_those_of_the_paper(void)
{
	unsigned int i;

	random_state = 2003;
	for (i = 0; i < 200000; i++) {
		const struct lipd_params p = any_params();
		double x = log_uniform(1, 1 << p.levels), r;
		u64 state = q(x);
		u32 n = (u32)(random_u64() % 4);

		for (r = 1 / (state / ONE); n; n--) {
			if (chance(0.5)) {
				state = lipd_marked(state, &p, 1);
				r = paper_dec(&p, r);
			} else {
				state = lipd_unmarked(state, &p, 1);
				r = paper_inc(&p, r);
			}
			CHECK(state >= LIPD_ONE && state <= lipd_x_max(&p));
		}
		CHECK_NEAR(state / ONE * r, 1, 1e-7);
		if (ktap_failures > 5)
			return;
	}
}

/* Of one packet each, or all in one ACK. */
static void steps__of_one_ack_are_those_of_many(void)
{
	unsigned int i, n;

	random_state = 14;
	for (i = 0; i < 3000; i++) {
		const struct lipd_params p = any_params();
		u64 x = q(log_uniform(1, 1 << p.levels)), down = x, up = x;
		u32 packets = (u32)(random_u64() % 64);

		for (n = 0; n < packets; n++) {
			down = lipd_unmarked(down, &p, 1);
			up = lipd_marked(up, &p, 1);
		}
		CHECK_EQ(lipd_unmarked(x, &p, packets), down);
		CHECK_EQ(lipd_marked(x, &p, packets), up);
	}
}

/* Condition 1 of section V: f_inc(f_dec(r)) <= r, in x the other way round. */
static void condition_1__a_mark_weighs_more(void)
{
	unsigned int i;

	random_state = 1;
	for (i = 0; i < 100000; i++) {
		struct lipd_params p = any_params();
		u64 x = q(log_uniform(1, 1 << p.levels)), after;

		/* The limiting case is equality; rounding is in the last bits. */
		after = lipd_unmarked(lipd_marked(x, &p, 1), &p, 1);
		CHECK(after + (1U << p.levels) >= x || x > lipd_x_max(&p) / 2);
	}
}

/* Packet times from @x until @to, an ACK every x packet times. */
static double recovery(const struct lipd_params *p, u64 x, u64 to)
{
	double t = 0;

	while (x > to) {
		t += x / ONE;
		x = lipd_unmarked(x, p, 1);
	}
	return t;
}

/*
 * Condition 3: LIPD and FIMD recover from a mark in T_rec = 256 packet times at any rate,
 * and AIMD's recovery grows with the rate that was lost: half of it in T_rec for each R_min.
 */
static void condition_3__recovery_takes_t_rec(void)
{
	static const double rates[] = { 2, 4, 10, 60, 120 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		u64 x = q(rates[i]);

		/* The last step goes beyond: one ACK more or less. */
		CHECK_NEAR(recovery(&lipd, lipd_marked(x, &lipd, 1), x), 256, rates[i] + 2);
		CHECK_NEAR(recovery(&fimd, lipd_marked(x, &fimd, 1), x), 256, 2 * rates[i]);
		CHECK_NEAR(recovery(&aimd, lipd_marked(x, &aimd, 1), x),
			   256 * 128 / rates[i], 2 * rates[i] + 128);
	}
}

/*
 * Section VI-B: 133.7 ms and 4.2 ms, of packets of 2.048 us. These are N - 1 times N packets, and
 * log2 N times N. Step by step, an ACK after each packet: within 1 %.
 */
static void recovery__from_r_min_to_r_max(void)
{
	CHECK_NEAR(recovery(&lipd, q(256), q(1)), 255 * 256, 255 * 2.56);
	CHECK_NEAR(recovery(&fimd, q(256), q(1)), 8 * 256, 8 * 2.56);
	CHECK_NEAR(recovery(&aimd, q(256), q(1)), 255 * 256, 255 * 2.56);
}

/* Of 2, 3 and 1 marks of a round trip in which four count: 2, 2 and none. */
static void counted__of_a_round_trip(void)
{
	u32 left = 4;

	CHECK_EQ(lipd_counted(2, &left), 2);
	CHECK_EQ(lipd_counted(3, &left), 2);
	CHECK_EQ(lipd_counted(1, &left), 0);
	CHECK_EQ(left, 0);
	left = U32_MAX;
	CHECK_EQ(lipd_counted(1000, &left), 1000);
	CHECK_EQ(lipd_counted(0, &left), 0);
	CHECK_EQ(left, U32_MAX - 1000);
}

static void lost__doubles_x(void)
{
	CHECK_EQ(lipd_lost(q(1), &lipd), q(2));
	CHECK_EQ(lipd_lost(q(3.5), &fimd), q(7));
	CHECK_EQ(lipd_lost(q(129), &aimd), q(256));
}

static void share__is_one_by_x(void)
{
	struct lipd_params p = lipd;
	u64 x;

	CHECK_EQ(lipd_share(q(1), &p), LIPD_SHARE_ONE);
	CHECK_EQ(lipd_share(q(256), &p), LIPD_SHARE_ONE / 256);
	CHECK_EQ(lipd_share(q(2.5), &p), (u32)(LIPD_SHARE_ONE / 2.5));
	p.levels = 12;
	CHECK_EQ(lipd_share(q(4096), &p), LIPD_SHARE_ONE / 4096);
	for (x = LIPD_ONE; x <= q(4096); x += x / 99)
		CHECK_NEAR(lipd_share(x, &p) / (double)LIPD_SHARE_ONE * (x / ONE), 1, 2e-6);
}

/* The nearest whole delay, and x itself is left alone. */
static void share__discrete(void)
{
	const struct lipd_params p = { .levels = 8, .discrete = 1 };

	CHECK_EQ(lipd_share(q(1), &p), LIPD_SHARE_ONE);
	CHECK_EQ(lipd_share(q(1.49), &p), LIPD_SHARE_ONE);
	CHECK_EQ(lipd_share(q(1.5), &p), LIPD_SHARE_ONE / 2);
	CHECK_EQ(lipd_share(q(4.4), &p), LIPD_SHARE_ONE / 4);
	CHECK_EQ(lipd_share(q(255.6), &p), LIPD_SHARE_ONE / 256);
	CHECK_EQ(lipd_share(q(256), &p), LIPD_SHARE_ONE / 256);
}

static void of__a_share_of_a_rate(void)
{
	CHECK_EQ(lipd_of(10 * GBIT, LIPD_SHARE_ONE), 10 * GBIT);
	CHECK_EQ(lipd_of(10 * GBIT, LIPD_SHARE_ONE / 256), 10 * GBIT / 256);
	CHECK_EQ(lipd_of(200000000001ULL, LIPD_SHARE_ONE / 2), 100000000000ULL);
	CHECK_EQ(lipd_of(200000000001ULL, LIPD_SHARE_ONE), 200000000001ULL);
}

static void burst__shrinks_with_the_rate(void)
{
	CHECK_EQ(lipd_burst(11, LIPD_SHARE_ONE), 11);
	CHECK_EQ(lipd_burst(11, LIPD_SHARE_ONE / 2), 5);
	CHECK_EQ(lipd_burst(11, LIPD_SHARE_ONE / 11), 1);
	CHECK_EQ(lipd_burst(11, LIPD_SHARE_ONE / 256), 1);
	CHECK_EQ(lipd_burst(1, LIPD_SHARE_ONE), 1);
}

/* 10 Gbit/s for 20 us are 25000 bytes: 18 packets of 1448, and two bursts of 11. */
static void window__fills_the_empty_path(void)
{
	CHECK_EQ(lipd_window(10 * GBIT, 20, 1448, 11), 18 + 22);
	CHECK_EQ(lipd_window(10 * GBIT, 0, 1448, 11), 22);
	CHECK_EQ(lipd_window(GBIT, 1, 9000, 0), 2);
	CHECK_EQ(lipd_window(GBIT, 1, 9000, 1), 3);
	/* The longest RTT at the highest rate does not overflow. */
	CHECK_EQ(lipd_window(200000000000ULL, LIPD_MAX_RTT_US, 9000, 1), 222222223 + 2);
	CHECK_EQ(lipd_window(200000000000ULL, 0xffffffffU, 9000, 1), 222222223 + 2);
	CHECK_EQ(lipd_window(200000000000ULL, 0xffffffffU, 1, 1), S32_MAX);
}

static const struct ktap_case cases[] = {
	KTAP_CASE(exp2_neg__is_a_power_of_two),
	KTAP_CASE(mul__rounds_down),
	KTAP_CASE(marked__lipd_adds_a_packet_time),
	KTAP_CASE(marked__the_others_halve_the_rate),
	KTAP_CASE(marked__none_is_no_change),
	KTAP_CASE(unmarked__one_packet),
	KTAP_CASE(unmarked__of_more_than_n),
	KTAP_CASE(unmarked__ends_at_the_line_rate),
	KTAP_CASE(unmarked__bounded_work),
	KTAP_CASE(steps__are_those_of_the_paper),
	KTAP_CASE(steps__of_one_ack_are_those_of_many),
	KTAP_CASE(condition_1__a_mark_weighs_more),
	KTAP_CASE(condition_3__recovery_takes_t_rec),
	KTAP_CASE(recovery__from_r_min_to_r_max),
	KTAP_CASE(counted__of_a_round_trip),
	KTAP_CASE(lost__doubles_x),
	KTAP_CASE(share__is_one_by_x),
	KTAP_CASE(share__discrete),
	KTAP_CASE(of__a_share_of_a_rate),
	KTAP_CASE(burst__shrinks_with_the_rate),
	KTAP_CASE(window__fills_the_empty_path),
};

int main(void)
{
	return ktap_run(cases, ARRAY_SIZE(cases));
}
