// SPDX-License-Identifier: GPL-2.0
/*
 * nic_ts_map.h: maps of clocks, tracking of clocks. Expected values are worked out by hand, or by a
 * slow model.
 */
#include "ktap.h"
#include "nic_ts_map.h"

#define MS	1000000ULL
#define SEC	1000000000ULL

static void map__ranges(void)
{
	struct nic_ts_map map;

	CHECK(!nic_ts_map_init(&map, 1, 1, 0, 0, 0, NIC_TS_MIN_AGE_NS));
	CHECK(nic_ts_map_init(&map, 0, 1, 0, 0, 0, SEC));
	CHECK(nic_ts_map_init(&map, 1, 0, 0, 0, 0, SEC));
	CHECK(nic_ts_map_init(&map, 1ULL << 62, 1, 0, 0, 0, SEC));
	CHECK(nic_ts_map_init(&map, 1, 1ULL << 62, 0, 0, 0, SEC));
	CHECK(!nic_ts_map_init(&map, 1, 1, 500000000, 0, 500000, SEC));
	CHECK(!nic_ts_map_init(&map, 1, 1, -500000000, 0, 0, SEC));
	CHECK(nic_ts_map_init(&map, 1, 1, 500000001, 0, 0, SEC));
	CHECK(nic_ts_map_init(&map, 1, 1, -500000001, 0, 0, SEC));
	CHECK(nic_ts_map_init(&map, 1, 1, 0, 0, 500001, SEC));
	CHECK(nic_ts_map_init(&map, 1, 1, 0, 0, 0, NIC_TS_MIN_AGE_NS - 1));
	CHECK(nic_ts_map_init(&map, 1, 1, 0, 0, 0, NIC_TS_MAX_AGE_NS + 1));
}

/* Against long double, within the rounding that is claimed. */
static void map__model(void)
{
	static const s64 rates[] = { 0, 1, -1, 1000000, -12345678, 500000000, -500000000 };
	static const u64 ages[] = { 0, 1, 999, 1 << 20, SEC, 60 * SEC, 3600 * SEC };
	const u64 ref = 1700000000ULL * SEC, host = 5000 * SEC;
	struct nic_ts_map map;
	u64 got, clock;
	u32 i, j, err;
	int sign;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		CHECK(!nic_ts_map_init(&map, ref, host, rates[i], 100, 1000,
				       NIC_TS_MAX_AGE_NS));
		for (j = 0; j < ARRAY_SIZE(ages); j++) {
			for (sign = -1; sign <= 1; sign += 2) {
				long double age = (long double)ages[j] * sign;
				long double want = age + age * rates[i] / 1e12L;
				long double off;

				clock = sign < 0 ? ref - ages[j] : ref + ages[j];
				CHECK(nic_ts_map_apply(&map, clock, &got, &err));
				off = (long double)(s64)(got - host) - want;
				CHECK(off <= NIC_TS_MAP_ROUNDING_NS &&
				      off >= -NIC_TS_MAP_ROUNDING_NS);
				CHECK(err >= 100 + (u64)(ages[j] * 1e-6L));
				CHECK(err <= 110 + (u64)(ages[j] * 1.01e-6L));
			}
		}
	}
}

static void map__age_and_underflow(void)
{
	struct nic_ts_map map;
	u64 host;
	u32 err;

	CHECK(!nic_ts_map_init(&map, 10 * SEC, 1 * SEC, 0, 0, 0, 2 * SEC));
	CHECK(nic_ts_map_apply(&map, 12 * SEC, &host, &err));
	CHECK_EQ(host, 3 * SEC);
	CHECK(!nic_ts_map_apply(&map, 12 * SEC + 1, &host, &err));
	CHECK(!nic_ts_map_apply(&map, 8 * SEC, &host, &err));
	CHECK(nic_ts_map_apply(&map, 9 * SEC + 1, &host, &err));
	CHECK_EQ(host, 1);
	CHECK(!nic_ts_map_apply(&map, 9 * SEC, &host, &err));
	CHECK(!nic_ts_map_init(&map, 10 * SEC, SEC, 0, U32_MAX, 500000, 2 * SEC));
	CHECK(nic_ts_map_apply(&map, 12 * SEC, &host, &err));
	CHECK_EQ(err, U32_MAX);
}

static void map__contradiction(void)
{
	struct nic_ts_map old, new;

	CHECK(!nic_ts_map_init(&old, 10 * SEC, 20 * SEC, 0, 100, 0, 10 * SEC));
	CHECK(!nic_ts_map_init(&new, 11 * SEC, 21 * SEC + 150, 0, 100, 0, 10 * SEC));
	CHECK(nic_ts_map_agrees(&old, &new));
	CHECK(!nic_ts_map_init(&new, 11 * SEC, 21 * SEC + 300, 0, 100, 0, 10 * SEC));
	CHECK(!nic_ts_map_agrees(&old, &new));
	CHECK(!nic_ts_map_init(&new, 11 * SEC, 21 * SEC - 300, 0, 100, 0, 10 * SEC));
	CHECK(!nic_ts_map_agrees(&old, &new));
	/* Out of the old one's reach. */
	CHECK(!nic_ts_map_init(&new, 30 * SEC, 21 * SEC, 0, 100, 0, 10 * SEC));
	CHECK(nic_ts_map_agrees(&old, &new));
}

/* The inverse slope: never smaller than the true one, and by less than a last bit larger. */
static void map__inverse_slope(void)
{
	s64 rate;

	CHECK_EQ(nic_ts_map_inverse(0), 0);
	CHECK_EQ(nic_ts_map_inverse(1), -1);
	for (rate = -549755814; rate <= 549755814; rate += 1234567) {
		long double one = 1LL << 40, want = -rate * one / (one + rate);
		long double more = nic_ts_map_inverse((s32)rate) - want;

		if (want < 0)
			more = -more;
		CHECK(more >= 0 && more < 1);
	}
}

/* The other direction, within the same rounding, and back again. */
static void map__inverse_model(void)
{
	static const s64 rates[] = {
		0, 1, -1, 37, -37, 1000000, -12345678, 100000000, 499999999, 500000000, -500000000,
	};
	static const u64 ages[] = {
		0, 1, 999, 1 << 20, (1 << 20) + 1, SEC, 60 * SEC + 1, 3598 * SEC,
	};
	const u64 ref = 1700000000ULL * SEC, host = 5000 * SEC;
	u64 got, back, at, apart;
	struct nic_ts_map map;
	u32 i, j, err, err_back;
	int sign;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		CHECK(!nic_ts_map_init(&map, ref, host, rates[i], 100, 1000,
				       NIC_TS_MAX_AGE_NS));
		for (j = 0; j < ARRAY_SIZE(ages); j++) {
			for (sign = -1; sign <= 1; sign += 2) {
				long double age = (long double)ages[j] * sign;
				long double off;

				at = sign < 0 ? host - ages[j] : host + ages[j];
				CHECK(nic_ts_map_invert(&map, at, &got, &err));
				off = (s64)(got - ref) - age / (1 + rates[i] / 1e12L);
				CHECK(off <= NIC_TS_MAP_ROUNDING_NS &&
				      off >= -NIC_TS_MAP_ROUNDING_NS);
				CHECK(err >= 100 + (u64)(ages[j] * 1e-6L));
				CHECK(err <= 115 + (u64)(ages[j] * 1.01e-6L));
				CHECK(nic_ts_map_apply(&map, got, &back, &err_back));
				apart = nic_ts_apart(back, at);
				CHECK(apart <= 2 * NIC_TS_MAP_ROUNDING_NS);
			}
		}
	}
}

/* A clock that is as far from the map as that allows is within the inverse's error. */
static void map__inverse_bound(void)
{
	static const s64 rates[] = { 0, 77777, -77777, 500000000, -500000000 };
	static const u32 drifts[] = { 0, 1, 1000, 500000 };
	static const u32 errors[] = { 0, 100, 1000000, 2000000000 };
	static const u64 ages[] = { 0, 1, SEC, 60 * SEC, 1800 * SEC };
	const u32 total = ARRAY_SIZE(rates) * ARRAY_SIZE(drifts) * ARRAY_SIZE(errors) *
			  ARRAY_SIZE(ages) * 4;
	const u64 ref = 1700000000ULL * SEC, host = 500000 * SEC;
	u32 n, err, bad = 0, checked = 0;
	u64 got, clock, most, at;
	struct nic_ts_map map;

	for (n = 0; n < total; n++) {
		int sign = n & 1 ? 1 : -1, end = n & 2 ? 1 : -1;
		s64 rate = rates[n / 4 % ARRAY_SIZE(rates)];
		u32 drift = drifts[n / 20 % ARRAY_SIZE(drifts)];
		u32 error = errors[n / 80 % ARRAY_SIZE(errors)];
		u64 age = ages[n / 320 % ARRAY_SIZE(ages)];

		CHECK(!nic_ts_map_init(&map, ref, host, rate, error, drift,
				       NIC_TS_MAX_AGE_NS));
		clock = sign < 0 ? ref - age : ref + age;
		most = error + age * drift / 1000000000;
		at = host + (s64)(sign * (age + age * (rate / 1e12L))) + end * (s64)most;
		CHECK(nic_ts_map_invert(&map, at, &got, &err));
		bad += nic_ts_apart(got, clock) > err;
		checked += err < U32_MAX;
		/* And no more careful than it has to be. */
		CHECK(err == U32_MAX || err <= most + most / 250 + (age >> 31) + 20);
	}
	CHECK_EQ(bad, 0);
	CHECK(checked > 1500);
}

static void map__inverse_range(void)
{
	struct nic_ts_map map;
	u64 clock;
	s64 rate;
	u32 err;

	CHECK(!nic_ts_map_init(&map, SEC, 10 * SEC, 0, 0, 0, 2 * SEC));
	CHECK(nic_ts_map_invert(&map, 12 * SEC, &clock, &err));
	CHECK_EQ(clock, 3 * SEC);
	CHECK(!nic_ts_map_invert(&map, 12 * SEC + 1, &clock, &err));
	CHECK(!nic_ts_map_invert(&map, 8 * SEC, &clock, &err));
	CHECK(nic_ts_map_invert(&map, 9 * SEC + 1, &clock, &err));
	CHECK_EQ(clock, 1);
	CHECK(!nic_ts_map_invert(&map, 9 * SEC, &clock, &err));
	CHECK(!nic_ts_map_invert(&map, 0, &clock, &err));
	/* Where the products would wrap, to a time nearby for some of the rates. */
	for (rate = -500000000; rate <= 500000000; rate += 3333333) {
		CHECK(!nic_ts_map_init(&map, SEC, 1, rate, 0, 0, NIC_TS_MAX_AGE_NS));
		CHECK(!nic_ts_map_invert(&map, UINT64_MAX, &clock, &err));
	}

	/* As far as the clock is from its reference, not the host. */
	CHECK(!nic_ts_map_init(&map, SEC, 10 * SEC, 500000000, 0, 0, 2 * SEC));
	CHECK(nic_ts_map_invert(&map, 12 * SEC + 900000, &clock, &err));
	CHECK(!nic_ts_map_invert(&map, 12 * SEC + 1001000, &clock, &err));
	CHECK(!nic_ts_map_init(&map, SEC, 10 * SEC, -500000000, 0, 0, 2 * SEC));
	CHECK(!nic_ts_map_invert(&map, 12 * SEC, &clock, &err));
	CHECK(nic_ts_map_invert(&map, 12 * SEC - 1001000, &clock, &err));

	/* At the end of all times that there are. */
	CHECK(!nic_ts_map_init(&map, NIC_TS_MAX_TIME_NS - 1, NIC_TS_MAX_TIME_NS - 1,
			       -500000000, U32_MAX, 500000, NIC_TS_MAX_AGE_NS));
	CHECK(nic_ts_map_invert(&map, NIC_TS_MAX_TIME_NS + 3598 * SEC, &clock, &err));
	CHECK_EQ(err, U32_MAX);
}

static void track__delays_are_believed(void)
{
	/* A clock that is ahead of the host's by a lot, or behind it. */
	static const u64 offsets[] = { 1700000000ULL * SEC, -(4 * SEC) };
	struct nic_ts_track t;
	u64 host, delay;
	bool stepped;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		memset(&t, 0, sizeof(t));
		host = 100 * SEC;
		for (n = 0; n < 10000; n++) {
			host += 100000;
			delay = (n * 7919 % 1000) * 90000;
			CHECK_EQ(nic_ts_track_seen(&t, host + offsets[i] - delay, host, 0,
						   &stepped), NIC_TS_HW_OK);
			CHECK(!stepped);
		}
	}
}

/*
 * The host's clock slewed by 500 ppm for ten minutes, either way; a jump after
 * that is noticed as it would have been before.
 */
static void track__drift_is_no_step(void)
{
	struct nic_ts_track t;
	u64 host, hw;
	bool stepped;
	int sign, n;

	for (sign = -1; sign <= 1; sign += 2) {
		memset(&t, 0, sizeof(t));
		host = 100 * SEC;
		hw = 50 * SEC;
		for (n = 0; n < 60000; n++) {
			host += 10 * MS;
			hw += 10 * MS + sign * 5000;
			CHECK_EQ(nic_ts_track_seen(&t, hw, host, 0, &stepped), NIC_TS_HW_OK);
			CHECK(!stepped);
		}
		hw += sign * 150LL * MS;
		CHECK_EQ(nic_ts_track_seen(&t, hw, host, 0, &stepped),
			 sign < 0 ? NIC_TS_HW_STALE : NIC_TS_HW_FUTURE);
	}
}

static void track__one_is_refused_four_are_a_step(void)
{
	static const s64 jumps[] = { 1000000000LL, -1000000000LL, 110000000LL, -110000000LL };
	struct nic_ts_track t;
	u64 host, hw;
	bool stepped;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(jumps); i++) {
		enum nic_ts_hw_verdict want = jumps[i] > 0 ? NIC_TS_HW_FUTURE :
							     NIC_TS_HW_STALE;

		memset(&t, 0, sizeof(t));
		host = 100 * SEC;
		hw = 50 * SEC;
		CHECK_EQ(nic_ts_track_seen(&t, hw, host, 0, &stepped), NIC_TS_HW_OK);
		CHECK_EQ(nic_ts_track_seen(&t, hw + jumps[i], host, 0, &stepped), want);
		CHECK_EQ(nic_ts_track_seen(&t, hw + 1000, host + 1000, 0, &stepped),
			 NIC_TS_HW_OK);
		for (n = 1; n <= NIC_TS_TRACK_STRIKES; n++) {
			enum nic_ts_hw_verdict got;

			got = nic_ts_track_seen(&t, hw + n * 1000 + jumps[i],
						host + n * 1000, 0, &stepped);
			CHECK_EQ(stepped, n == NIC_TS_TRACK_STRIKES);
			CHECK_EQ(got, stepped ? NIC_TS_HW_OK : want);
		}
		CHECK_EQ(nic_ts_track_seen(&t, hw + MS + jumps[i], host + MS, 0, &stepped),
			 NIC_TS_HW_OK);
	}
}

static void track__order_and_range(void)
{
	struct nic_ts_track t = {};
	bool stepped;

	CHECK_EQ(nic_ts_track_seen(&t, 50 * SEC, 100 * SEC, 0, &stepped), NIC_TS_HW_OK);
	CHECK_EQ(nic_ts_track_seen(&t, 50 * SEC + 5, 100 * SEC + 9, 50 * SEC + 6, &stepped),
		 NIC_TS_HW_DISORDER);
	CHECK_EQ(nic_ts_track_seen(&t, 50 * SEC + 6, 100 * SEC + 9, 50 * SEC + 6, &stepped),
		 NIC_TS_HW_OK);
	CHECK_EQ(nic_ts_track_seen(&t, 0, 100 * SEC, 0, &stepped), NIC_TS_HW_RANGE);
	CHECK_EQ(nic_ts_track_seen(&t, ~0ULL, 100 * SEC, 0, &stepped), NIC_TS_HW_RANGE);
}

static const struct ktap_case cases[] = {
	KTAP_CASE(map__ranges),
	KTAP_CASE(map__model),
	KTAP_CASE(map__age_and_underflow),
	KTAP_CASE(map__contradiction),
	KTAP_CASE(map__inverse_slope),
	KTAP_CASE(map__inverse_model),
	KTAP_CASE(map__inverse_bound),
	KTAP_CASE(map__inverse_range),
	KTAP_CASE(track__delays_are_believed),
	KTAP_CASE(track__drift_is_no_step),
	KTAP_CASE(track__one_is_refused_four_are_a_step),
	KTAP_CASE(track__order_and_range),
};

int main(void)
{
	return ktap_run(cases, ARRAY_SIZE(cases));
}
