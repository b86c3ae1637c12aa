// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of labnic_core.h against long double arithmetic and closed forms.
 */
#include <math.h>
#include <stdlib.h>

#include "labnic_core.h"
#include "ktap.h"

/* When the nth frame of equal length in a row ends, rounded up, from 0. */
static u64 end_of_frame(u64 n, u32 len, u64 rate_bit)
{
	long double bytes = (long double)(n - 1) * labnic_wire_bytes(len) +
			    LABNIC_PREAMBLE_BYTES + labnic_frame_bytes(len) +
			    LABNIC_FCS_BYTES;

	return ceill(bytes * 8e9L / rate_bit);
}

static void wire_bytes__padded_and_framed(void)
{
	CHECK_EQ(labnic_wire_bytes(14), 84);
	CHECK_EQ(labnic_wire_bytes(60), 84);
	CHECK_EQ(labnic_wire_bytes(61), 85);
	CHECK_EQ(labnic_wire_bytes(1514), 1538);
	CHECK_EQ(labnic_wire_bytes(9014), 9038);
}

static void rate_bit__drift(void)
{
	CHECK_EQ(labnic_rate_bit(10000000000, 0), 10000000000);
	CHECK_EQ(labnic_rate_bit(10000000000, 50000), 10000500000);
	CHECK_EQ(labnic_rate_bit(10000000000, -50000), 9999500000);
	/* towards the nominal rate */
	CHECK_EQ(labnic_rate_bit(1000, 1000000), 1001);
	CHECK_EQ(labnic_rate_bit(1000, -999999), 1000);
	CHECK_EQ(labnic_rate_bit(1600000000000, 1000000), 1601600000000);
	CHECK_EQ(labnic_rate_bit(1600000000000, -1000000), 1598400000000);
}

static void wire_send__idle(void)
{
	static const struct {
		u64 rate_bit;
		u32 len;
		u64 sfd_ns, end_ns, free_ns;
	} rows[] = {
		{ 10000000000, 1514, 7, 1221, 1230 },	/* 6.4, 1220.8, 1230.4 */
		{ 1000000000, 1514, 64, 12208, 12304 },
		{ 40000000000, 1514, 2, 306, 307 },	/* 1.6, 305.2, 307.6 */
		{ 100000000000, 1514, 1, 123, 123 },	/* 0.64, 122.08, 123.04 */
		{ 10000000000, 42, 7, 58, 67 },		/* 6.4, 57.6, 67.2 */
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct labnic_time wire = { .ns = 500, .part = 3 };
		struct labnic_slot slot;

		slot = labnic_wire_send(&wire, 1000000, rows[i].len, rows[i].rate_bit);
		CHECK_EQ(slot.sfd_ns - 1000000, rows[i].sfd_ns);
		CHECK_EQ(slot.end_ns - 1000000, rows[i].end_ns);
		CHECK_EQ(wire.ns - 1000000, rows[i].free_ns);
	}
}

static void wire_send__back_to_back_is_exact(void)
{
	static const u64 rates[] = {
		1000, 999983, 10000000, 1000000000, 2500000000, 9999999967,
		10000000000, 25000000000, 40000000000, 100000000000, 333333333333,
		1600000000000,
	};
	static const u32 lengths[] = { 1, 60, 61, 1514, 9014, 65549 };
	size_t i, j;
	u64 n;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		for (j = 0; j < ARRAY_SIZE(lengths); j++) {
			struct labnic_time wire = {};
			struct labnic_slot slot;

			for (n = 1; n <= 10000; n++) {
				slot = labnic_wire_send(&wire, 0, lengths[j], rates[i]);
				if (slot.end_ns != end_of_frame(n, lengths[j], rates[i]))
					break;
			}
			CHECK_EQ(n, 10001);
			CHECK(wire.part < rates[i]);
		}
	}
}

static void wire_send__not_before_ready(void)
{
	struct labnic_time wire = {};
	struct labnic_slot slot;

	/* 67.2 ns on the wire: ready in its last nanosecond, it waits for 0.2 ns */
	labnic_wire_send(&wire, 0, 60, 10000000000);
	slot = labnic_wire_send(&wire, 67, 60, 10000000000);
	CHECK_EQ(slot.sfd_ns, 74);	/* 67.2 + 6.4 = 73.6 */
	/* ready at the end of that, rounded up, it may have been waiting: the same */
	wire = (struct labnic_time){};
	labnic_wire_send(&wire, 0, 60, 10000000000);
	slot = labnic_wire_send(&wire, 68, 60, 10000000000);
	CHECK_EQ(slot.sfd_ns, 74);
	/* and ready after that, it starts on the nanosecond */
	wire = (struct labnic_time){};
	labnic_wire_send(&wire, 0, 60, 10000000000);
	slot = labnic_wire_send(&wire, 69, 60, 10000000000);
	CHECK_EQ(slot.sfd_ns, 76);	/* 69 + 6.4 = 75.4 */
}

/*
 * A port that posts the next packet when the last has left, its end rounded up,
 * still sends without gaps, however short the gap between frames is.
 */
static void wire_send__posted_one_by_one_is_exact(void)
{
	static const u64 rates[] = {
		10000000000, 40000000000, 100000000000, 333333333333, 1600000000000,
	};
	size_t i;
	u64 n;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		struct labnic_time wire = {};
		struct labnic_slot slot = {};

		for (n = 1; n <= 10000; n++) {
			slot = labnic_wire_send(&wire, slot.end_ns, 1514, rates[i]);
			if (slot.end_ns != end_of_frame(n, 1514, rates[i]))
				break;
		}
		CHECK_EQ(n, 10001);
	}
}

static void rng__repeats_and_streams_differ(void)
{
	struct labnic_rng a, b, c, d;
	int i, same_c = 0, same_d = 0;

	labnic_rng_seed(&a, 7, 1);
	labnic_rng_seed(&b, 7, 1);
	labnic_rng_seed(&c, 7, 2);
	labnic_rng_seed(&d, 8, 1);
	for (i = 0; i < 1000; i++) {
		u64 x = labnic_rng_next(&a);

		CHECK(x == labnic_rng_next(&b));
		same_c += x == labnic_rng_next(&c);
		same_d += x == labnic_rng_next(&d);
	}
	CHECK_EQ(same_c, 0);
	CHECK_EQ(same_d, 0);
}

static void rng_hit__probability(void)
{
	static const u64 ppb[] = { 1000, 1000000, 10000000, 500000000, 999000000 };
	const int draws = 2000000;
	struct labnic_rng rng;
	size_t i;
	int j;

	for (i = 0; i < ARRAY_SIZE(ppb); i++) {
		double p = ppb[i] / 1e9;
		int hits = 0;

		labnic_rng_seed(&rng, 1, i);
		for (j = 0; j < draws; j++)
			hits += labnic_rng_hit(&rng, ppb[i]);
		CHECK_NEAR(hits, draws * p, 4 * sqrt(draws * p * (1 - p)));
	}
}

static void rng_hit__never_and_always(void)
{
	struct labnic_rng rng, before;
	int i, hits = 0;

	labnic_rng_seed(&rng, 1, 1);
	before = rng;
	for (i = 0; i < 1000; i++)
		hits += labnic_rng_hit(&rng, 0);
	CHECK_EQ(hits, 0);
	CHECK(rng.state == before.state);
	for (i = 0; i < 100000; i++)
		hits += labnic_rng_hit(&rng, 1000000000);
	CHECK_EQ(hits, 100000);
}

static void neg_ln__table(void)
{
	u64 u = 1;
	int i;

	CHECK_EQ(labnic_neg_ln(~0ULL), 0);
	CHECK_NEAR(labnic_neg_ln(0) / 16777216., 64 * M_LN2, 1e-5);
	for (i = 0; i < 5000; i++) {
		u = labnic_mix(u + i) >> (i % 64);
		if (u == ~0ULL)
			continue;
		CHECK_NEAR(labnic_neg_ln(u) / 16777216., 64 * M_LN2 - logl(u + 1.L), 2e-6);
	}
}

static void dist__moments(void)
{
	static const struct {
		u32 kind;
		double mean, deviation;		/* in spreads */
	} rows[] = {
		{ LABNIC_DIST_CONST, 0, 0 },
		{ LABNIC_DIST_UNIFORM, .5, .288675 },
		{ LABNIC_DIST_EXPONENTIAL, 1, 1 },
		{ LABNIC_DIST_NORMAL, 0, 1 },
	};
	const int draws = 400000;
	struct labnic_rng rng;
	size_t i;
	int j;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		double sum = 0, square = 0, mean;

		labnic_rng_seed(&rng, 3, i);
		for (j = 0; j < draws; j++) {
			double x = labnic_dist_sample(&rng, rows[i].kind, 100000, 10000);

			sum += x;
			square += x * x;
		}
		mean = sum / draws;
		CHECK_NEAR(mean, 100000 + 10000 * rows[i].mean, 80);
		CHECK_NEAR(sqrt(fmax(square / draws - mean * mean, 0)),
			   10000 * rows[i].deviation, 100);
	}
}

static void dist__bounds(void)
{
	struct labnic_rng rng;
	u64 x, most = 0, least = ~0ULL;
	int i;

	labnic_rng_seed(&rng, 4, 0);
	for (i = 0; i < 100000; i++) {
		x = labnic_dist_sample(&rng, LABNIC_DIST_UNIFORM, 1000, 10);
		CHECK(x >= 1000 && x < 1010);
		x = labnic_dist_sample(&rng, LABNIC_DIST_NORMAL, 1000000000, 1000000000);
		CHECK(x <= 7000000000ULL);
		least = x < least ? x : least;
		x = labnic_dist_sample(&rng, LABNIC_DIST_EXPONENTIAL, 1000000000, 1000000000);
		CHECK(x >= 1000000000 && x <= 46000000000ULL);
		most = x > most ? x : most;
	}
	/* Negative values of the normal one become 0. */
	CHECK_EQ(least, 0);
	CHECK(most > 10000000000ULL);
}

static void phc__exact_oscillator(void)
{
	struct labnic_phc phc;

	labnic_phc_init(&phc, 1000, 77);
	CHECK_EQ(labnic_phc_at(&phc, 1000), 77);
	CHECK_EQ(labnic_phc_at(&phc, 1000000001000), 1000000000077);
	/* before it was started it ran the same */
	CHECK_EQ(labnic_phc_at(&phc, 990), 67);
}

static void phc__drift_is_what_was_set(void)
{
	static const s64 drifts[] = { 50000, -50000, 1, -1, 1000000, -1000000, 333, -777 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(drifts); i++) {
		struct labnic_phc phc;

		labnic_phc_init(&phc, 0, 0);
		labnic_phc_set_drift(&phc, 0, drifts[i], 0);
		CHECK_EQ(labnic_phc_at(&phc, 1000000000), 1000000000 + drifts[i]);
		CHECK_EQ(labnic_phc_at(&phc, 1000000000000), 1000000000000 + 1000 * drifts[i]);
		/* half a nanosecond is rounded down on either side */
		CHECK_EQ(labnic_phc_at(&phc, 500000000), 500000000 +
			 (s64)floorl(drifts[i] / 2.L));
	}
}

static void phc__change_of_drift(void)
{
	struct labnic_phc phc;
	int i;

	labnic_phc_init(&phc, 0, 0);
	labnic_phc_set_drift(&phc, 0, 100, 10);
	/* 100 t + 10 t^2 / 2 */
	CHECK_EQ(labnic_phc_at(&phc, 10000000000), 10000000000 + 1000 + 500);
	/* and rebasing on the way makes no difference */
	for (i = 1; i <= 10; i++)
		labnic_phc_rebase(&phc, i * 1000000000ULL);
	CHECK_EQ(labnic_phc_at(&phc, 20000000000), 20000000000 + 2000 + 2000);
	CHECK_EQ(phc.drift, 200 * LABNIC_FREQ_PPB);
}

static void phc__rebasing_loses_nothing(void)
{
	struct labnic_phc often, once;
	u64 at = 0;
	int i;

	labnic_phc_init(&often, 0, 0);
	labnic_phc_init(&once, 0, 0);
	labnic_phc_set_drift(&often, 0, -12345, 0);
	labnic_phc_set_drift(&once, 0, -12345, 0);
	for (i = 0; i < 100000; i++) {
		at += 1 + (labnic_mix(i) & 0xfffff);
		labnic_phc_rebase(&often, at);
	}
	CHECK_EQ(labnic_phc_at(&often, at), labnic_phc_at(&once, at));
}

static void phc__adjfine(void)
{
	struct labnic_phc phc;

	labnic_phc_init(&phc, 0, 0);
	labnic_phc_adjust(&phc, 0, 50LL << 16);
	CHECK_EQ(labnic_phc_at(&phc, 1000000000), 1000050000);
	/* against the oscillator */
	labnic_phc_set_drift(&phc, 1000000000, -50000, 0);
	CHECK_EQ(labnic_phc_at(&phc, 2000000000), 2000050000);
	/* it replaces, and does not add up */
	labnic_phc_adjust(&phc, 2000000000, -(100LL << 16));
	CHECK_EQ(labnic_phc_at(&phc, 3000000000), 2999900000 + 0);
}

static void phc__step_and_set(void)
{
	struct labnic_phc phc;

	labnic_phc_init(&phc, 0, 0);
	labnic_phc_step(&phc, 1000, -5000);
	CHECK_EQ((s64)labnic_phc_at(&phc, 2000), -3000);
	labnic_phc_set(&phc, 3000, 1700000000000000000);
	CHECK_EQ(labnic_phc_at(&phc, 3500), 1700000000000000500);
	/* a packet of before the step has a stamp of before the step */
	CHECK_EQ((s64)labnic_phc_at(&phc, 2999), -2001);
}

static void phc__limits(void)
{
	struct labnic_phc phc;

	labnic_phc_init(&phc, 0, 0);
	labnic_phc_set_drift(&phc, 0, 1000000, 1000);
	/* 1 % is never exceeded, in 100 days either */
	labnic_phc_rebase(&phc, 8640000000000000);
	CHECK_EQ(phc.drift, LABNIC_FREQ_MAX);
	CHECK(labnic_phc_at(&phc, 8640000000000000) <= 8640000000000000 / 100 * 101);
	CHECK(labnic_phc_at(&phc, 8640000000000000) >= 8640000000000000);
}

static const struct ktap_case cases[] = {
	KTAP_CASE(wire_bytes__padded_and_framed),
	KTAP_CASE(rate_bit__drift),
	KTAP_CASE(wire_send__idle),
	KTAP_CASE(wire_send__back_to_back_is_exact),
	KTAP_CASE(wire_send__not_before_ready),
	KTAP_CASE(wire_send__posted_one_by_one_is_exact),
	KTAP_CASE(rng__repeats_and_streams_differ),
	KTAP_CASE(rng_hit__probability),
	KTAP_CASE(rng_hit__never_and_always),
	KTAP_CASE(neg_ln__table),
	KTAP_CASE(dist__moments),
	KTAP_CASE(dist__bounds),
	KTAP_CASE(phc__exact_oscillator),
	KTAP_CASE(phc__drift_is_what_was_set),
	KTAP_CASE(phc__change_of_drift),
	KTAP_CASE(phc__rebasing_loses_nothing),
	KTAP_CASE(phc__adjfine),
	KTAP_CASE(phc__step_and_set),
	KTAP_CASE(phc__limits),
};

int main(void)
{
	return ktap_run(cases, ARRAY_SIZE(cases));
}
