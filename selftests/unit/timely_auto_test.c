// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of timely_auto.h: one case per function and condition, in the order of the
 * source. Expected values are computed by hand from the formulas in its head; the
 * arithmetic is in the comment beside each. What the law does with a network is the matter
 * of timely_star_test.c.
 *
 * Unless a case says otherwise: C is 1e9 bytes/s, segments have 16384 bytes, so that q is
 * 16,384 ns; D is 100 us, so that the base of the thresholds is, too; no v.
 */
#include <math.h>
#include <string.h>

#include "timely_auto.h"
#include "ktap.h"

#define US	1000ULL
#define SEC	1000000000ULL
#define MS	1000000ULL
#define CAP	1000000000ULL
#define SEGMENT	16384U

static struct timely_flow f;
static struct timely_result r;
static struct timely_auto a;
static u64 now;

static void start(u64 bps)
{
	memset(&f, 0, sizeof(f));
	now = SEC;
	timely_auto_start(&f, bps, CAP, 0, now);
	f.starting = 0;
	f.base_ns = 100 * US;
}

static double rate(void)
{
	return (double)f.rate_q / 65536;
}

/* Fractions of rates are rounded in Q10, Q20 and Q30. */
static void check_rate(int line, double want)
{
	double tolerance = want / (1 << 18) + 1;

	if (rate() >= want - tolerance && rate() <= want + tolerance)
		return;
	ktap_fail(__FILE__, line);
	printf("the rate is %.17g, expected %.17g +- %.3g\n", rate(), want, tolerance);
}

#define CHECK_RATE(want) check_rate(__LINE__, want)

static void update_at(u64 rtt_ns, u32 segment, u32 window, u64 cap_bps)
{
	struct timely_event event = {
		.rtt_ns = rtt_ns, .now_ns = now, .bytes = SEGMENT, .window = window,
	};

	timely_auto_update(&f, &event, segment, cap_bps, &r);
}

static void update_after(u64 elapsed_ns, u64 rtt_ns)
{
	now += elapsed_ns;
	update_at(rtt_ns, SEGMENT, 14480, CAP);
}

/* A decision: the only RTT of two D. */
static void update(u64 rtt_ns)
{
	update_after(2 * (u64)f.base_ns, rtt_ns);
}

/* So many updates with an RTT, each of which takes this branch. */
#define CHECK_UPDATES(n, rtt_ns, want)				\
	do {							\
		int left = (n);					\
								\
		while (left--) {				\
			update(rtt_ns);				\
			CHECK_EQ(r.branch, want);		\
		}						\
	} while (0)

static void floor__a_thousandth_up_to_10_mbit(void)
{
	CHECK_EQ(timely_auto_floor_bps(125000000), 125000);
	CHECK_EQ(timely_auto_floor_bps(1250000000), 1250000);
	CHECK_EQ(timely_auto_floor_bps(50000000000), 1250000);
	/* Never below what the core can have. */
	CHECK_EQ(timely_auto_floor_bps(1000), 1000);
}

static void params__table(void)
{
	/* Alone on the link, x = 1: 100 us + q / 2 + (23 + 16.384) / 6 us = 114.756 us. */
	start(CAP);
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.spread_q10, 1024);
	CHECK_EQ(a.segment_ns, 16384);
	CHECK_EQ(a.t_high_ns, 114756);
	CHECK_EQ(a.t_low_ns, 107378);
	CHECK_EQ(a.chance_ns, 6564);
	/* One of 64, x = 8: 108.192 us + 8 * 6.564 us. */
	start(CAP / 64);
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.spread_q10, 8192);
	CHECK_EQ(a.t_high_ns, 160704);
	CHECK_EQ(a.t_low_ns, 130352);
	/* v adds to Thigh. */
	f.dev_ns = 10000;
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.t_high_ns, 170704);
}

/* D below 23 us and half a segment's time makes no difference to Thigh. */
static void params__base(void)
{
	start(CAP);
	f.base_ns = 5000;
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.t_high_ns, 23000 + 16384 + 6564);
	CHECK_EQ(a.t_low_ns, (5000 + 45948) / 2);
	/* q = 65.536 us: 7/6 of 23 + 65.536 us */
	timely_auto_params(&f, 65536, CAP, &a);
	CHECK_EQ(a.t_high_ns, 23000 + 65536 + 14756);
	/* From 23 us + q / 2 on. */
	f.base_ns = 31192;
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.t_high_ns, 23000 + 16384 + 6564);
	f.base_ns = 31193;
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.t_high_ns, 23001 + 16384 + 6564);
}

/* Units of 8192 ns, rounded up, 127 of them at most. */
static void wait__of_interrupts(void)
{
	start(CAP);
	timely_auto_set_wait(&f, 0);
	CHECK_EQ(timely_auto_path_ns(&f), 100 * US);
	timely_auto_set_wait(&f, 1);
	CHECK_EQ(timely_auto_path_ns(&f), 108192);
	timely_auto_set_wait(&f, 8193);
	CHECK_EQ(timely_auto_path_ns(&f), 116384);
	timely_auto_set_wait(&f, UINT64_MAX);
	CHECK_EQ(timely_auto_path_ns(&f), 100 * US + 127 * 8192);
	/* It leaves the bit beside it alone. */
	CHECK(!f.unwired);
	/* W of 81.92 us: both thresholds are that much above the table's. */
	timely_auto_set_wait(&f, 10 * 8192);
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.t_high_ns, 114756 + 81920);
	CHECK_EQ(a.t_low_ns, 107378 + 81920);
	CHECK_EQ(a.chance_ns, 6564);
	/* It is a part of the base, not beside it. */
	f.base_ns = 1000;
	timely_auto_set_wait(&f, 8192);
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.t_high_ns, 23000 + 16384 + 6564);
}

/* Without a wire, what v is above w counts twice: 6.564 us, and 52.512 with x = 8. */
static void params__of_a_cpu(void)
{
	start(CAP);
	timely_auto_set_wired(&f, false);
	f.dev_ns = 6564;
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.t_high_ns, 106564 + 6564);
	f.dev_ns = 100000;
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.t_high_ns, 106564 + 100000 + 100000 - 6564);
	CHECK_EQ(a.chance_ns, 6564);
	f.rate_q = timely_bps_to_rate(CAP / 64);
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.t_high_ns, 152512 + 100000 + 100000 - 52512);
	/* With one it counts once. */
	timely_auto_set_wired(&f, true);
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.t_high_ns, 160704 + 100000);
}

/* Without a wire D may contain q, so that the lowest base does, too. */
static void params__base_without_a_wire(void)
{
	start(CAP);
	f.base_ns = 5000;
	timely_auto_set_wired(&f, false);
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.t_high_ns, 23000 + 16384 + 6564);
	f.base_ns = 100 * US;
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.t_high_ns, 106564);
}

/*
 * v is 40 us, so 9/4 v is 90 us, of which q is 16.384, other reasons 8 and W the rest; w is 6.564.
 * 63 are all of it, 32 a 32nd.
 */
static void params__of_a_noisy_host(void)
{
	const u64 noise_ns = 90000 - 16384 - 8000;

	start(CAP);
	f.dev_ns = 40 * US;
	f.noisy = 31;
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.t_high_ns, 114756 + 40000);
	f.noisy = 32;
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.t_high_ns, 114756 + 40000 + noise_ns / 32);
	f.noisy = 63;
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.t_high_ns, 114756 + 40000 + noise_ns);
	CHECK_EQ(a.chance_ns, 6564);
	timely_auto_set_wait(&f, 2 * 8192);
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.t_high_ns, 114756 + 40000 + noise_ns);
	f.dev_ns = 10 * US;
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.t_high_ns, 114756 + 16384 + 10000);
	/* Without a wire another rule holds. */
	timely_auto_set_wait(&f, 0);
	f.dev_ns = 40 * US;
	timely_auto_set_wired(&f, false);
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.t_high_ns, 106564 + 40000 + 40000 - 6564);
}

/* v stays near 40 us. Up to q and 7/4 v above D + W an update is noise, from there on a queue. */
static void noisy__or_a_queue(void)
{
	int i;

	start(CAP);
	f.mean_ns = 150 * US;
	f.dev_ns = 40 * US;
	update(150 * US);
	CHECK_EQ(f.noisy, 1);
	for (i = 0; i < 100; i++) {
		f.dev_ns = 40 * US;
		update(150 * US);
		f.base_ns = 100 * US;
	}
	CHECK_EQ(f.noisy, 63);
	f.dev_ns = 40 * US;
	f.mean_ns = 185 * US;
	update(185 * US);
	/* v is 38.75 us now, and 7/4 of that 67.8; q is 16.4. */
	CHECK_EQ(f.noisy, 62);
	timely_auto_set_wait(&f, 8192);
	f.dev_ns = 40 * US;
	f.mean_ns = 185 * US;
	update_after(300 * US, 185 * US);
	CHECK_EQ(f.noisy, 63);
	for (i = 0; i < 100; i++) {
		f.base_ns = 100 * US;
		f.unseen = 0;	/* D is right, */
		f.neg_count = 0;	/* and cuts help. */
		f.dev_ns = 40 * US;
		f.mean_ns = 500 * US;
		update_after(300 * US, 500 * US);
	}
	CHECK_EQ(f.noisy, 0);
	/* The slope beside it has its sign and its range. */
	f.slope_q = -TIMELY_SLOPE_MAX;
	CHECK_EQ(f.slope_q, -TIMELY_SLOPE_MAX);
	CHECK_EQ(f.noisy, 0);
	f.noisy = 63;
	f.slope_q = TIMELY_SLOPE_MAX;
	CHECK_EQ(f.slope_q, TIMELY_SLOPE_MAX);
	CHECK_EQ(f.noisy, 63);
}

static void wire__known_or_not(void)
{
	start(CAP);
	CHECK(!timely_auto_set_wired(&f, true));
	CHECK(!f.unwired);
	CHECK(timely_auto_set_wired(&f, false));
	CHECK(!timely_auto_set_wired(&f, false));
	timely_auto_set_wait(&f, UINT64_MAX);
	timely_auto_set_wait(&f, 0);
	CHECK(f.unwired);
	CHECK(timely_auto_set_wired(&f, true));
	CHECK(!f.unwired);
}

/* Without a wire, D is the lowest RTT with serialisation, and all others are without it. */
static void rtts__without_a_wire(void)
{
	start(CAP);
	timely_auto_set_wired(&f, false);
	f.base_ns = 0;
	/* A segment takes 16.384 us at C. */
	update_at(60 * US, SEGMENT, 14480, CAP);
	CHECK_EQ(f.base_ns, 60 * US);
	CHECK_EQ(f.avg_ns, 60 * US);
	f.samples = 0;
	update_at(100 * US, SEGMENT, 14480, CAP);
	CHECK_EQ(f.base_ns, 60 * US);
	CHECK_EQ(f.avg_ns, 100 * US - 16384);
	f.samples = 0;
	/* Not below D. */
	update_at(70 * US, SEGMENT, 14480, CAP);
	CHECK_EQ(f.avg_ns, 60 * US);
	f.samples = 0;
	/* r = 3: of L, C / 2, all of the 32.768 us. */
	f.rate_q = timely_bps_to_rate(CAP / 10);
	f.slow = 24;
	CHECK_EQ(timely_auto_link_bps(&f, CAP), CAP / 2);
	update_at(100 * US, SEGMENT, 14480, CAP);
	CHECK_EQ(f.avg_ns, 100 * US - 32768);
	/* With a wire what is more than at C, which the caller has taken out. */
	timely_auto_set_wired(&f, true);
	f.samples = 0;
	update_at(100 * US, SEGMENT, 14480, CAP);
	CHECK_EQ(f.avg_ns, 100 * US - 16384);
}

/* Decisions wait for two RTTs with W; the step is that of two D. */
static void wait__of_decisions(void)
{
	start(CAP / 64);
	timely_auto_set_wait(&f, 10 * 8192);
	CHECK(!timely_auto_due(&f, now + 2 * (100 * US + 81920) - 1));
	CHECK(timely_auto_due(&f, now + 2 * (100 * US + 81920)));
	update_after(2 * (100 * US + 81920), 120 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_LOW);
	CHECK_EQ(r.wait_ns, 81920);
	CHECK_NEAR(rate(), CAP / 64.0 + CAP / 500.0 / 8 * 100 / 23, CAP / 500.0 / 8 / 100);
	/* Hyperactive near D, up to 100 us + 60.7 us / 8, not near D + W. */
	f.neg_count = 200;
	update_after(2 * (100 * US + 81920), 102 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HAI);
	f.neg_count = 200;
	update_after(2 * (100 * US + 81920), 140 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_LOW);
}

static void params__ends(void)
{
	static const u64 caps[] = { 1, 125000, CAP, TIMELY_MAX_RATE_BPS };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(caps); i++) {
		start(0);
		f.rate_q = 0;
		f.base_ns = UINT32_MAX;
		f.dev_ns = TIMELY_AUTO_DEV_MAX;
		timely_auto_params(&f, (1 << 24) - 1, caps[i], &a);
		CHECK(a.t_high_ns <= TIMELY_MAX_RTT_NS && a.t_high_ns >= UINT32_MAX);
		CHECK(a.t_low_ns <= a.t_high_ns);
	}
	/* The line has become slower than the rate. */
	start(CAP);
	timely_auto_params(&f, SEGMENT, CAP / 4, &a);
	CHECK_EQ(a.spread_q10, 1024);
}

static void segment__by_rate(void)
{
	/* 250 us of 10 MB/s are 2500 bytes, of 100 MB/s more than a segment. */
	start(10000000);
	CHECK_EQ(timely_auto_segment(&f, SEGMENT), 2500);
	start(100000000);
	CHECK_EQ(timely_auto_segment(&f, SEGMENT), SEGMENT);
}

static struct timely_params eighty = {
	.segment_bytes = SEGMENT,
	.app_limited_percent = 80,
};

/* 1/16 of D: 312.5 us, and 2^24 ns at most. */
static void segment__by_path(void)
{
	start(10000000);
	f.base_ns = 5000 * US;
	CHECK_EQ(timely_auto_segment(&f, SEGMENT), 3125);
	f.base_ns = 4000 * US - 1;
	CHECK_EQ(timely_auto_segment(&f, SEGMENT), 2500);
	f.base_ns = UINT32_MAX;
	CHECK_EQ(timely_auto_segment(&f, SEGMENT), 65536);
	start(1000000);
	f.base_ns = UINT32_MAX;
	CHECK_EQ(timely_auto_segment(&f, SEGMENT), 16777);
	start(CAP);
	f.base_ns = 400 * US;
	CHECK_EQ(timely_auto_segment(&f, SEGMENT), 25000);
	CHECK_EQ(timely_auto_segment(&f, 100000), 100000);
	timely_auto_start(&f, TIMELY_MAX_RATE_BPS, TIMELY_MAX_RATE_BPS, 0, now);
	f.base_ns = UINT32_MAX;
	CHECK_EQ(timely_auto_segment(&f, SEGMENT), 65536);
}

/* Of 64 KB where it is not the rate that limits; of a slow flow as before. */
static void segment__of_what_the_rate_does_not_limit(void)
{
	start(CAP);
	f.under = 2;
	CHECK_EQ(timely_auto_segment(&f, SEGMENT), SEGMENT);
	f.under = 3;
	CHECK_EQ(timely_auto_segment(&f, SEGMENT), 65536);
	CHECK_EQ(timely_auto_segment(&f, 100000), 100000);
	start(10000000);
	f.under = 3;
	CHECK_EQ(timely_auto_segment(&f, SEGMENT), 2500);
	timely_auto_start(&f, CAP, CAP, 0, now);
	CHECK_EQ(f.under, 3);
	timely_auto_loss(&f, &eighty, TIMELY_ONE, CAP);
	CHECK_EQ(f.under, 0);
}

/*
 * At 1e8 bytes/s 1.6384 ms are ten segments of 16 KB, 5.24288 ms 32 of them; 6.5536 and 20.97152 ms
 * those of 64 KB. Tlow is 114.3 us.
 */
static void account__what_limits(void)
{
	static const struct {
		const char *name;
		u8 under, waits, full;
		u32 after_us, sent, under_then, limited_then, mean_us;
	} table[] = {
		{ "the application", 0, 0, 0, 1639, 131000, 1, 1, 0 },
		{ "the application, by far", 0, 0, 0, 1639, 65500, 3, 1, 0 },
		{ "not as far", 0, 0, 0, 1639, 65600, 1, 1, 0 },
		{ "80 %", 2, 0, 0, 1639, 131200, 2, 0, 0 },
		{ "92 % of 32 segments", 2, 0, 0, 5243, 482360, 0, 0, 0 },
		{ "less", 2, 0, 0, 5243, 482350, 3, 0, 0 },
		{ "the CPU", 0, 1, 0, 1639, 131000, 1, 0, 0 },
		{ "the CPU, three times", 2, 1, 0, 1639, 131000, 3, 0, 0 },
		{ "saturates", 3, 1, 0, 6554, 520000, 3, 0, 0 },
		{ "the CPU, by far", 0, 1, 0, 1639, 75300, 3, 0, 0 },
		{ "not as far, 46 %", 0, 1, 0, 1639, 75500, 1, 0, 0 },
		{ "the CPU, finer", 0, 1, 0, 5243, 482350, 1, 0, 0 },
		{ "the rate", 2, 1, 0, 5243, 482360, 0, 0, 0 },
		{ "the window, by far", 0, 1, 1, 1639, 65500, 3, 0, 0 },
		{ "the window", 2, 1, 1, 1639, 131000, 2, 0, 0 },
		{ "of the application's", 2, 0, 1, 1639, 131000, 2, 1, 0 },
		{ "full, and the rate", 2, 1, 1, 5243, 482360, 0, 0, 0 },
		{ "too early to tell", 2, 1, 0, 1630, 100000, 2, 0, 0 },
		{ "too early for 92 %", 2, 1, 0, 5240, 430000, 2, 0, 0 },
		{ "large: too early", 3, 0, 0, 6550, 100000, 3, 0, 0 },
		{ "large: below 96 %", 3, 1, 0, 20972, 2013300, 3, 0, 115 },
		{ "large: the rate, a queue", 3, 1, 0, 20972, 2013320, 0, 0, 115 },
		{ "large: the rate, no queue", 3, 1, 0, 20972, 2013320, 3, 0, 114 },
		{ "large: below 90 %", 3, 0, 0, 6554, 524300, 3, 1, 115 },
		{ "large: full", 3, 1, 1, 6554, 100000, 3, 0, 115 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		ktap_row = table[i].name;
		start(100000000);
		f.under = table[i].under;
		f.mean_ns = table[i].mean_us * US;
		timely_auto_account(&f, &eighty, CAP, (u64)table[i].after_us * US, table[i].sent,
				    100 * US, table[i].waits, table[i].full);
		CHECK_EQ(f.under, table[i].under_then);
		CHECK_EQ(f.app_limited, table[i].limited_then);
	}
	ktap_row = NULL;
}

/* What the rate allows is summed up while the rate changes. */
static void account__rates_of_a_window(void)
{
	start(100000000);
	timely_auto_account(&f, &eighty, CAP, 1000 * US, 80000, 100 * US, true, false);
	CHECK_EQ(f.win_ns, 1000 * US);
	CHECK_EQ(f.win_sent, 80000);
	CHECK_EQ(f.win_allowed, 100000);
	f.rate_q = timely_bps_to_rate(50000000);
	timely_auto_account(&f, &eighty, CAP, 1000 * US, 80000, 100 * US, true, false);
	CHECK_EQ(f.win_allowed, 150000);
	CHECK_EQ(f.under, 0);
	/* 240,000 of 350,000 bytes: less than 80 %. Of the lowest rate it would be 160 %. */
	f.rate_q = timely_bps_to_rate(200000000);
	timely_auto_account(&f, &eighty, CAP, 1000 * US, 80000, 100 * US, true, false);
	CHECK_EQ(f.under, 1);
	CHECK_EQ(f.win_ns, 0);
	CHECK_EQ(f.win_sent, 0);
	CHECK_EQ(f.win_allowed, 0);
}

/* An RTT, a second, 2 GB; the largest numbers. */
static void account__length_of_a_window(void)
{
	/* 32 segments, but no RTT. */
	start(100000000);
	timely_auto_account(&f, &eighty, CAP, 6000 * US, 600000, 6000 * US + 1, true, false);
	CHECK_EQ(f.win_ns, 6000 * US);
	timely_auto_account(&f, &eighty, CAP, 16, 0, 6000 * US, true, false);
	CHECK_EQ(f.win_ns, 0);
	/* A second, with less than ten segments. */
	start(0);
	f.rate_q = timely_bps_to_rate(1000);
	timely_auto_account(&f, &eighty, CAP, SEC - 16, 10, 2 * SEC, true, false);
	CHECK_EQ(f.win_ns, SEC - 16);
	timely_auto_account(&f, &eighty, CAP, 5 * SEC, 10, 2 * SEC, true, false);
	CHECK_EQ(f.win_ns, 0);
	CHECK_EQ(f.under, 3);
	/* 2 GB. */
	start(CAP);
	timely_auto_account(&f, &eighty, CAP, 16, 2147483647, SEC, true, false);
	CHECK_EQ(f.win_sent, 2147483647);
	timely_auto_account(&f, &eighty, CAP, 16, 2147483647, SEC, true, false);
	CHECK_EQ(f.win_sent, 0);
	CHECK_EQ(f.under, 0);
	/* 4.3e9 bytes are 2^32 - 1, not 5e6. 1.6 Tbit/s for a second does not overflow. */
	start(CAP);
	f.rate_q = timely_bps_to_rate(4300000000);
	timely_auto_account(&f, &eighty, TIMELY_MAX_RATE_BPS, SEC, 10000000, SEC, false, false);
	CHECK_EQ(f.app_limited, 1);
	start(CAP);
	f.rate_q = timely_bps_to_rate(TIMELY_MAX_RATE_BPS);
	timely_auto_account(&f, &eighty, TIMELY_MAX_RATE_BPS, SEC, 10000000, SEC, false, false);
	CHECK_EQ(f.app_limited, 1);
}

static void window__twice_thigh(void)
{
	/* 2 * (114.756 + 16.384) us + 1 us of 1e9 bytes/s, and two segments */
	start(CAP);
	CHECK_EQ(timely_auto_window(&f, SEGMENT, CAP), 263000 + 2 * SEGMENT);
	/* x = 1000^0.5 in Q10 is 32381; 108.192 us + 6.564 us * 31.62 = 315.7 us; 665 us of 1e6
	 * bytes/s, and two times 250 us.
	 */
	start(1);
	CHECK_EQ(timely_rate_bps(&f), 1000000);
	CHECK_EQ(timely_auto_window(&f, SEGMENT, CAP), 665 + 2 * 250);
}

/* By half, or by a segment; in the start by what is acknowledged, unless there is a queue. */
static void window__opens(void)
{
	static const struct {
		u8 branch, queued;
		u32 window, opening;
	} table[] = {
		{ TIMELY_BRANCH_LOW,		0, 10,  10 },
		{ TIMELY_BRANCH_LOW,		0, 100, 50 },
		{ TIMELY_BRANCH_INCREASE,	0, 100, 50 },
		{ TIMELY_BRANCH_HAI,		0, 100, 50 },
		{ TIMELY_BRANCH_START,		0, 100, 10 },
		{ TIMELY_BRANCH_START,		1, 100, 0 },
		{ TIMELY_BRANCH_HIGH,		0, 100, 0 },
		{ TIMELY_BRANCH_DECREASE,	0, 100, 0 },
		{ TIMELY_BRANCH_PROBE,		0, 100, 0 },
		{ TIMELY_BRANCH_AVERAGE,	0, 100, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		start(CAP);
		r.queued = table[i].queued;
		r.branch = table[i].branch;
		CHECK_EQ(timely_auto_opening(&r, 10, table[i].window), table[i].opening);
	}
}

static void idle__ten_rtts(void)
{
	start(CAP);
	CHECK_EQ(timely_auto_idle_ns(&f), 1000 * US);
	f.base_ns = 10 * US;
	CHECK_EQ(timely_auto_idle_ns(&f), 200 * US);
}

static void start__at_what_is_asked(void)
{
	start(CAP / 2);
	CHECK_RATE(CAP / 2.0);
	start(2 * CAP);
	CHECK_RATE(CAP);
	start(0);
	CHECK_RATE(CAP / 1000.0);
	f.mean_ns = 5;
	f.dev_ns = 7;
	f.base_ns = 9;
	f.app_limited = 1;
	timely_auto_start(&f, CAP, CAP, 0, now);
	CHECK(f.starting && f.by_rule && !f.app_limited && !f.mean_ns && !f.slope_q);
	/* The path is the same. */
	CHECK_EQ(f.base_ns, 9);
	timely_auto_start(&f, CAP, CAP, 7, now);
	CHECK_EQ(f.base_ns, 9);
	/* Of a new one there is the RTT of the handshake. */
	f.base_ns = 0;
	timely_auto_start(&f, CAP, CAP, 7, now);
	CHECK_EQ(f.base_ns, 7);
	CHECK_EQ(f.dev_ns, 7);
}

/* The start ends with the first RTT above Tlow: what the window sends in that time. */
static void start__ends_with_a_queue(void)
{
	start(CAP);
	f.starting = 1;
	update_after(50 * US, 100 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_START);
	CHECK(f.starting);
	CHECK_RATE(CAP);
	/* Tlow is 103.232 us, D and 1/8 of it are 112.5 us. */
	update_after(50 * US, 112500);
	CHECK(f.starting);
	/* 14480 bytes / (200 + 16.384) us */
	update_after(50 * US, 200 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_START);
	CHECK(!f.starting);
	CHECK_RATE(14480 / 216.384e-6);
	/* It is an end of the start, and no raise. */
	start(10000000);
	f.starting = 1;
	update_after(50 * US, 200 * US);
	CHECK_RATE(10000000);
	/* A new flow has no message. */
	timely_auto_start(&f, CAP, CAP, 0, now);
	CHECK_EQ(timely_auto_message(&f), 0);
	CHECK(!r.held && r.queued);
	update_after(50 * US, 100 * US);
	CHECK(!r.queued);
}

/* After idleness at C, and RTTs of the first 64 KB do not end the start. */
static void idle__a_message_at_once(void)
{
	struct timely_params p = { .loss_beta = TIMELY_ONE / 4 };

	start(CAP / 100);
	timely_auto_resume(&f, CAP, 7, now);
	CHECK(f.starting);
	CHECK_RATE(CAP);
	CHECK_EQ(timely_auto_message(&f), 65536);
	timely_auto_sent(&f, 65535);
	update_after(50 * US, 200 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_START);
	CHECK(f.starting && r.queued);
	CHECK_RATE(CAP);
	CHECK_EQ(timely_auto_message(&f), 1);
	timely_auto_sent(&f, 1448);
	CHECK_EQ(timely_auto_message(&f), 0);
	update_after(50 * US, 200 * US);
	CHECK(!f.starting);
	CHECK_RATE(14480 / 216.384e-6);

	/* What ends the start leaves nothing that counts as sent. */
	timely_auto_resume(&f, CAP, 7, now);
	timely_auto_started(&f);
	CHECK(!f.starting && !timely_auto_message(&f) && !f.win_sent);
	timely_auto_resume(&f, CAP, 7, now);
	timely_auto_loss(&f, &p, TIMELY_ONE, CAP);
	CHECK(!f.starting && !f.win_sent);
	/* A flow that does not start goes on. */
	f.win_sent = 5;
	timely_auto_started(&f);
	CHECK(f.win_sent == 5 && !timely_auto_message(&f));
}

static void loss__takes_its_share(void)
{
	struct timely_params p = { .loss_beta = TIMELY_ONE / 4 };

	start(CAP);
	f.starting = 1;
	f.neg_count = 70;
	timely_auto_loss(&f, &p, TIMELY_ONE, CAP);
	CHECK_RATE(CAP * 0.75);
	CHECK(!f.starting && !f.neg_count);
}

/* Without a queue it is that of the window, and by a queue of Thigh more than all that may be. */
static void loss__takes_what_is_lost(void)
{
	struct timely_params p = { .loss_beta = TIMELY_ONE / 2 };
	struct timely_auto a;
	u64 room_ns;

	start(CAP / 4);
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(timely_auto_lost(&f, 1, 64, 0, SEGMENT, CAP), TIMELY_ONE / 64);
	CHECK_EQ(timely_auto_lost(&f, 3, 64, a.t_high_ns, SEGMENT, CAP), 3 * TIMELY_ONE / 64);
	CHECK_EQ(timely_auto_lost(&f, 5, 4, 0, SEGMENT, CAP), TIMELY_ONE);
	CHECK_EQ(timely_auto_lost(&f, 1, 0, 0, SEGMENT, CAP), TIMELY_ONE);
	/* A quarter of what Thigh is above D. */
	room_ns = a.t_high_ns - timely_auto_path_ns(&f);
	CHECK_EQ(timely_auto_lost(&f, 1, 64, a.t_high_ns + room_ns / 4, SEGMENT, CAP),
		 TIMELY_ONE / 64 + (room_ns / 4 << TIMELY_FRAC_SHIFT) / room_ns);
	CHECK_EQ(timely_auto_lost(&f, 1, 64, ~0ULL, SEGMENT, CAP), TIMELY_ONE);
	CHECK_RATE(CAP / 4.0);

	f.starting = 1;
	timely_auto_loss(&f, &p, TIMELY_ONE / 64, CAP);
	CHECK_RATE(CAP / 4.0 * 63 / 64);
	CHECK(!f.starting);
	timely_auto_loss(&f, &p, TIMELY_ONE, CAP);
	CHECK_RATE(CAP / 8.0 * 63 / 64);
	p.loss_beta = 0;
	timely_auto_loss(&f, &p, TIMELY_ONE, CAP);
	CHECK_RATE(CAP / 8.0 * 63 / 64);
}

static void sample(u64 rtt_ns)
{
	struct timely_event event = { .rtt_ns = rtt_ns, .bytes = SEGMENT };

	timely_auto_sample(&f, timely_auto_rtt(&f, &event, CAP));
}

static void sample__lowest_and_mean(void)
{
	start(CAP);
	f.base_ns = 0;
	sample(50000);
	CHECK_EQ(f.base_ns, 50000);
	CHECK_EQ(f.avg_ns, 50000);
	CHECK_EQ(f.dev_ns, 0);
	sample(53200);
	CHECK_EQ(f.base_ns, 50000);
	CHECK_EQ(f.avg_ns, 51600);
	/* 3200 / 32 */
	CHECK_EQ(f.dev_ns, 100);
	sample(48000);
	CHECK_EQ(f.base_ns, 48000);
	CHECK_EQ(f.avg_ns, 50400);
	/* 100 + (3600 - 100) / 32 */
	CHECK_EQ(f.dev_ns, 209);
	CHECK_EQ(f.samples, 3);
}

/* A queue of the way there alone: D, and no more of the RTT than that. D is of whole RTTs. */
static void sample__way_there(void)
{
	struct timely_event event = { .rtt_ns = 90000, .bytes = SEGMENT, .queue_ns = 5000 };

	start(CAP);
	f.base_ns = 0;
	CHECK_EQ(timely_auto_rtt(&f, &event, CAP), 90000);
	CHECK_EQ(f.base_ns, 90000);
	f.base_ns = 50000;
	CHECK_EQ(timely_auto_rtt(&f, &event, CAP), 55000);
	event.queue_ns = 60000;
	CHECK_EQ(timely_auto_rtt(&f, &event, CAP), 90000);
	event.queue_ns = UINT32_MAX;
	CHECK_EQ(timely_auto_rtt(&f, &event, CAP), 90000);
	event.queue_ns = 0;
	CHECK_EQ(timely_auto_rtt(&f, &event, CAP), 90000);
	event.queue_ns = 1;
	event.rtt_ns = 40000;
	CHECK_EQ(timely_auto_rtt(&f, &event, CAP), 40000);
	CHECK_EQ(f.base_ns, 40000);
}

/* 1000 RTTs in a mean: the first ones do not weigh for ever, and nothing overflows. */
static void sample__many(void)
{
	int i;

	start(CAP);
	f.base_ns = 0;
	for (i = 0; i < 1000; i++)
		timely_auto_sample(&f, UINT32_MAX - (i & 1));
	CHECK_NEAR(f.avg_ns, UINT32_MAX - 0.5, 2);
	for (i = 0; i < 2000; i++)
		timely_auto_sample(&f, i & 1 ? UINT32_MAX : 1);
	CHECK_EQ(f.dev_ns & ~TIMELY_AUTO_DEV_MAX, 0);
	CHECK(f.dev_ns > TIMELY_AUTO_DEV_MAX / 2);
}

static void update__waits_for_two_rtts(void)
{
	start(CAP / 2);
	update_after(199 * US, 150 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_AVERAGE);
	CHECK_RATE(CAP / 2.0);
	CHECK(!timely_auto_due(&f, now));
	CHECK(timely_auto_due(&f, now + 1000));
	update_after(1 * US, 350 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HIGH);
	/* the mean, 250 us; v = 200 us / 32; x = sqrt(2) in Q10 is 1448 / 1024. */
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(f.mean_ns, 250 * US);
	start(CAP / 2);
	f.dev_ns = 6250;
	timely_auto_params(&f, SEGMENT, CAP, &a);
	update_after(200 * US, 250 * US);
	CHECK_RATE(CAP / 2.0 * (1 - 0.3 * 0.8 * (1 - (double)a.t_high_ns / 250e3)));
}

/* C / 500 / x, times 100 us / 23 us: D is 100 us. */
static void update__step(void)
{
	start(CAP / 64);
	update(100 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_LOW);
	CHECK_NEAR(rate(), CAP / 64.0 + CAP / 500.0 / 8 * 100 / 23, CAP / 500.0 / 8 / 100);
	/* Short paths have one step, and very long ones eight. */
	start(CAP / 64);
	f.base_ns = 10 * US;
	update(10 * US);
	CHECK_RATE(CAP / 64.0 + CAP / 500.0 / 8);
	start(CAP / 64);
	f.base_ns = 1000 * US;
	update(1000 * US);
	CHECK_RATE(CAP / 64.0 + CAP / 500.0 / 8 * 8);
	/* Not where the application limits. */
	start(CAP / 64);
	f.app_limited = 1;
	update(100 * US);
	CHECK(r.held);
	CHECK_RATE(CAP / 64.0);
}

static void update__thigh(void)
{
	start(CAP);
	/* 1 - 0.3 * (1 - 114.756 / 200) */
	update(200 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HIGH);
	CHECK_RATE(CAP * (1 - 0.3 * (1 - 114756 / 200e3)));
	CHECK_EQ(f.base_ns, 100 * US);
}

/* What two updates within an RTT take is no more than one takes in all of it. */
static void update__scale(void)
{
	start(CAP);
	update(400 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HIGH);
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_RATE(CAP * (1 - 0.3 / 2 * (1 - 114756 / 400e3)));
	CHECK_EQ(r.scale_ppm, 500000);
	/* No update counts for more than an RTT. */
	start(CAP);
	update_after(2000 * US, 400 * US);
	CHECK_EQ(r.scale_ppm, 1000000);
	CHECK_RATE(CAP * (1 - 0.3 * (1 - 114756 / 400e3)));

	/* A gradient of 4 us in 20 us, a quarter of it, less v / 4; Tlow is 51, Thigh 92 us. */
	start(CAP / 64);
	f.base_ns = 10 * US;
	f.mean_ns = 66 * US;
	update_after(20 * US, 70 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_DECREASE);
	CHECK_NEAR(rate(), CAP / 64.0 * (1 - 0.3 * 20 / 70 * (0.05 - 0.25 * 0.125 / 20)), 30);
}

static void update__gradient(void)
{
	/* Between Tlow, 130.352 us, and Thigh, 160.704 us: flat raises. */
	start(CAP / 64);
	update(132 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_INCREASE);
	CHECK_NEAR(rate(), CAP / 64.0 + CAP / 500.0 / 8 * 100 / 23, CAP / 500.0 / 8 / 100);

	/* 8 us in 200 us are 0.04, a quarter of it counts; v is 8 us / 32 = 250 ns. */
	start(CAP / 64);
	f.mean_ns = 130 * US;
	update(138 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_DECREASE);
	CHECK_NEAR((double)r.gradient_ppm, 10000, 2);
	CHECK_NEAR(rate(), CAP / 64.0 * (1 - 0.3 * (0.01 - 0.25 * 0.25 / 200)), 30);

	/* A quarter of v, 20.3125 us, is noise. The slope is 0.75 * 0.1 + 0.25 * 30 / 200. */
	start(CAP / 64);
	f.mean_ns = 140 * US;
	f.dev_ns = 20 * US;
	f.slope_q = 104858;
	update(170 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_DECREASE);
	CHECK_NEAR(rate(), CAP / 64.0 * (1 - 0.3 * (0.1125 - 0.25 * 20.3125 / 200)), 300);

	/* Falling raises. */
	start(CAP / 64);
	f.mean_ns = 142 * US;
	update(134 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_INCREASE);
	CHECK_NEAR((double)r.gradient_ppm, -10000, 2);

	/* So does a fall after a rise: the gradient is still positive. */
	start(CAP / 64);
	f.mean_ns = 142 * US;
	f.slope_q = 1 << 17;
	update(141 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_INCREASE);
	CHECK(r.gradient_ppm > 0);

	/* Thigh is 160.954 us: so does a rise since an RTT more than 2.5 times as long ago. */
	start(CAP / 64);
	f.mean_ns = 130 * US;
	update_after(402 * US, 138 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_DECREASE);
	start(CAP / 64);
	f.mean_ns = 130 * US;
	update_after(403 * US, 138 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_INCREASE);
	CHECK(rate() > CAP / 64.0);

	/* An application-limited flow is not the cause. */
	start(CAP / 64);
	f.mean_ns = 130 * US;
	f.app_limited = 1;
	update(138 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_DECREASE);
	CHECK(r.held);
	CHECK_RATE(CAP / 64.0);
}

/* The rate after 200 us with that RTT and v, from CAP / 2, by the formulas in doubles. */
static void check_rise(double rtt_us, double dev_us, double least, double most)
{
	double room_ns, empty_ns, share;
	struct timely_flow then;

	start(CAP / 2);
	f.dev_ns = dev_us * US;
	f.mean_ns = rtt_us * US;
	update(rtt_us * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_LOW);
	then = f;
	then.rate_q = timely_bps_to_rate(CAP / 2);
	timely_auto_params(&then, SEGMENT, CAP, &a);
	empty_ns = a.t_low_ns - 100e3;
	room_ns = a.t_low_ns - rtt_us * US;
	share = fmin(room_ns / empty_ns * 200e3 / (1 << 21), room_ns / 8 / (200e3 + rtt_us * US));
	CHECK(share >= least && share <= most);
	CHECK_NEAR(rate(), CAP / 2.0 * (1 + share), CAP / 1e5);
}

/* Of itself: by the time, by that and the room, and by the room alone. */
static void update__rise(void)
{
	check_rise(100, 800, .0953, .0955);
	check_rise(200, 800, .06, .08);
	check_rise(100, 100, .02, .03);
	/* Not where the application limits. */
	start(CAP / 2);
	f.dev_ns = 400 * US;
	f.app_limited = 1;
	update(100 * US);
	CHECK(r.held);
	CHECK_RATE(CAP / 2.0);
}

/* The rate after an RTT of a flow at CAP / 8 that has had room at CAP / 2. */
static double returned(u64 rtt_ns, bool returns)
{
	start(CAP / 8);
	f.goes_back = returns;
	f.before = CAP / 2 / 8192;
	f.mean_ns = (u32)rtt_ns;
	update(rtt_ns);
	CHECK_EQ(r.branch, TIMELY_BRANCH_LOW);
	return rate();
}

/* To 7/8 of CAP / 2, by half of the way where all of the room is empty. */
static void update__returns(void)
{
	const struct timely_params p = { .loss_beta = TIMELY_ONE / 4 };
	double goal = (CAP / 2 / 8192 - CAP / 2 / 8192 / 8) * 8192.0;
	double without = returned(100 * US, false);

	CHECK(without < CAP / 7.0);
	CHECK_NEAR(returned(100 * US, true), without + (goal - without) / 2, CAP / 1e5);
	/* Half of the room. */
	start(CAP / 8);
	timely_auto_params(&f, SEGMENT, CAP, &a);
	without = returned((100 * US + a.t_low_ns) / 2, false);
	CHECK_NEAR(returned((100 * US + a.t_low_ns) / 2, true),
		   without + (goal - without) / 4, CAP / 1e5);
	/* Not further. */
	start(CAP / 2);
	f.goes_back = 1;
	f.before = CAP / 2 / 8192;
	f.mean_ns = 100 * US;
	update(100 * US);
	CHECK(rate() > CAP / 2.0 && rate() < CAP * 0.6);
	/* And not where the application limits the flow. */
	start(CAP / 8);
	f.goes_back = 1;
	f.before = CAP / 2 / 8192;
	f.mean_ns = 100 * US;
	f.app_limited = 1;
	update(100 * US);
	CHECK_RATE(CAP / 8.0);
	/* A loss and a start end it. */
	timely_auto_loss(&f, &p, TIMELY_ONE, CAP);
	CHECK(!f.goes_back);
	f.goes_back = 1;
	timely_auto_start(&f, CAP, CAP, 0, now);
	CHECK(!f.goes_back);
}

/* R' is the highest rate with room; a run of cuts takes 1/8 of it. */
static void update__remembers(void)
{
	u32 before;

	/* A rate of a start, without room, is none; nor is one before a loss. */
	start(CAP / 64);
	f.before = 5;
	f.mean_ns = 130 * US;
	update(138 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_DECREASE);
	CHECK(f.doubted);
	CHECK(!f.goes_back);
	CHECK_EQ(f.before, 5);
	f.before = CAP / 8192;
	update(100 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_LOW);
	CHECK(f.goes_back);
	CHECK(!f.doubted);
	CHECK_EQ(f.before, timely_coarse_rate(&f));
	/* It follows a rate that rises. */
	update(100 * US);
	before = f.before;
	CHECK_EQ(before, timely_coarse_rate(&f));
	/* A run goes on between Tlow and Thigh. */
	update(400 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HIGH);
	f.mean_ns = 150 * US;
	f.slope_q = 0;
	update(145 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_INCREASE);
	CHECK(f.doubted);
	update(400 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HIGH);
	CHECK_EQ(f.before, before);
	f.rate_q /= 2;
	update(100 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_LOW);
	CHECK(!f.doubted);
	CHECK_EQ(f.before, before - before / 8);
	/* Which it keeps without another one. */
	update(100 * US);
	CHECK_EQ(f.before, before - before / 8);

	/* After idleness it is the rate with which the start ends; a new flow has none. */
	start(CAP);
	timely_auto_resume(&f, CAP, 0, now);
	CHECK(f.goes_back);
	CHECK_EQ(f.before, 0);
	timely_auto_sent(&f, TIMELY_AUTO_MESSAGE);
	update_after(US, 400 * US);
	CHECK(!f.starting);
	CHECK(rate() < CAP / 8.0);
	CHECK_EQ(f.before, timely_coarse_rate(&f));
	start(CAP);
	f.starting = 1;
	f.before = 5;
	update_after(US, 400 * US);
	CHECK(!f.starting);
	CHECK_EQ(f.before, 5);
}

/* The rate after a run of cuts with RTTs of up to @rtt_ns, of a flow that has had room at CAP. */
static double after_run(u64 rtt_ns)
{
	update(rtt_ns);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HIGH);
	update(200 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HIGH);
	f.rate_q = timely_bps_to_rate(CAP / 4);
	f.dev_ns = 0;
	update(100 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_LOW);
	return rate();
}

/* Thigh is 114.756 us. A run with an RTT above 5/2 of it takes nothing of R'. */
static void update__burst_of_others(void)
{
	u32 most;
	double less;

	start(CAP);
	f.goes_back = 1;
	most = timely_coarse_rate(&f);
	f.before = most;
	less = after_run(288 * US);
	CHECK_EQ(f.before, most);
	/* The next run is judged by itself. */
	f.rate_q = timely_bps_to_rate(CAP);
	less -= after_run(285 * US);
	CHECK_EQ(f.before, most - most / 8);
	CHECK_NEAR(less, CAP / 16.0, CAP / 500.0);
}

/* 200 us are 12 of 128 units of 2^14 ns: the eleventh. */
static void update__hai(void)
{
	start(CAP / 64);
	CHECK_UPDATES(10, 100 * US, TIMELY_BRANCH_LOW);
	update(100 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HAI);
	/* The longest updates are 16: the eighth. */
	start(CAP / 64);
	f.base_ns = 200 * US;
	CHECK_UPDATES(7, 200 * US, TIMELY_BRANCH_LOW);
	update(200 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HAI);
	start(CAP / 64);
	f.neg_count = 120;
	update(100 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HAI);
	CHECK_NEAR(rate(), CAP / 64.0 + 8 * CAP / 500.0 / 8 * 100 / 23, CAP / 500.0 / 8 / 100);
	/* From an eighth of the way to Thigh on, 107.6 us, it is an increase as any other. */
	start(CAP / 64);
	f.neg_count = 200;
	update(106 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HAI);
	update(110 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_LOW);
	update(102 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HAI);
	/* A decision that is none of them ends it. */
	update(140 * US);
	update(100 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_LOW);
	/* A fast flow's updates count one each. */
	start(CAP / 64);
	f.base_ns = 5 * US;
	CHECK_UPDATES(127, 5 * US, TIMELY_BRANCH_LOW);
	update(5 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HAI);
}

/* A flow in a run of cuts that has led from @before to @bps, with an RTT of 200 us. */
static void cut(u64 bps)
{
	start(bps);
	f.mean_ns = 200 * US;
	f.doubted = 1;
}

/* It begins with a cut of either kind, and ends with an RTT below Tlow, a loss, or a start. */
static void update__run_of_cuts(void)
{
	struct timely_params p = { .loss_beta = TIMELY_ONE / 4 };

	start(CAP / 64);
	f.mean_ns = 130 * US;
	update(138 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_DECREASE);
	CHECK(f.doubted);
	start(CAP / 64);
	f.mean_ns = 600 * US;
	update(600 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HIGH);
	CHECK(f.doubted);
	update(100 * US);
	CHECK(!f.doubted);
	cut(CAP / 3);
	timely_auto_loss(&f, &p, TIMELY_ONE, CAP);
	CHECK(!f.doubted);
	cut(CAP / 3);
	timely_auto_start(&f, CAP, CAP, 0, now);
	CHECK(!f.doubted);
}

static void update__cuts_in_vain(void)
{
	double before = 0;
	int i, n;

	/* A route that becomes longer costs little time. */
	start(CAP);
	f.mean_ns = 100 * US;
	r.branch = TIMELY_BRANCH_START;
	for (n = 0; n < 100 && r.branch != TIMELY_BRANCH_PROBE; n++) {
		before = rate();
		update(200 * US);
	}
	CHECK(n > 8 && n < 30);
	CHECK_EQ(f.base_ns, 200 * US);
	CHECK_RATE(before);
	CHECK(rate() < CAP / 2.0);
	for (i = 0; i < 1000; i++) {
		update(200 * US);
		CHECK(r.branch != TIMELY_BRANCH_HIGH);
	}
	CHECK_RATE(CAP);

	/* Eight updates with the same RTT, each of which cuts 12 %. */
	cut(CAP / 3);
	for (i = 1; i < 8; i++) {
		update(200 * US);
		CHECK_EQ(r.branch, TIMELY_BRANCH_HIGH);
		CHECK_EQ(f.base_ns, 100 * US);
	}
	update(200 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_PROBE);
	CHECK_EQ(f.base_ns, 200 * US);

	/* Thigh is 119.4 us at first and 124 at last: 28 (1 - Thigh / 150) are 5, and then 4. */
	cut(CAP / 3);
	f.mean_ns = 150 * US;
	for (n = 1; n < 100; n++) {
		update(150 * US);
		if (r.branch != TIMELY_BRANCH_HIGH)
			break;
	}
	CHECK_EQ(r.branch, TIMELY_BRANCH_PROBE);
	CHECK(n > 12 && n <= 16);
	/* Nothing at 122 us: it is below one unit. */
	cut(CAP / 3);
	f.mean_ns = 122 * US;
	CHECK_UPDATES(20, 122 * US, TIMELY_BRANCH_HIGH);
	CHECK_EQ(f.neg_count, 0);

	/* By s: 28 * 200 / 1000 (1 - 119.4 / 1000) are 4. */
	cut(CAP / 3);
	f.mean_ns = 1000 * US;
	update(1000 * US);
	CHECK_EQ(f.neg_count, 4);

	/* Any other one in between, and they count from 0. */
	cut(CAP / 3);
	for (i = 0; i < 7; i++)
		update(200 * US);
	f.mean_ns = 115 * US;
	update(115 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_INCREASE);
	CHECK_EQ(f.neg_count, 0);
	cut(CAP / 3);
	f.neg_count = 7;
	f.slope_q = 1 << 20;
	update(200 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HIGH);
	CHECK_EQ(f.neg_count, 0);

	/* Time below Tlow does not count for the other, either way. */
	start(CAP / 3);
	f.neg_count = 60;
	f.mean_ns = 200 * US;
	update(200 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HIGH);
	CHECK_EQ(f.neg_count, 8);
	f.neg_count = 8;
	update(100 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_LOW);
	CHECK_EQ(f.neg_count, 12);

	/* A queue that drains, or grows, by a tenth of the time. */
	cut(CAP / 9);
	f.slope_q = -(1 << 20) / 10;
	f.mean_ns = 2200 * US;
	CHECK_UPDATES(90, f.mean_ns - 20 * US, TIMELY_BRANCH_HIGH);
	cut(CAP / 9);
	f.slope_q = (1 << 20) / 10;
	CHECK_UPDATES(90, f.mean_ns + 20 * US, TIMELY_BRANCH_HIGH);

	/* On a long path an RTT within an eighth of D does, whatever the cuts; 1126 us are not. */
	start(CAP);
	f.base_ns = 1000 * US;
	f.mean_ns = 1125 * US;
	CHECK_UPDATES(7, 1125 * US, TIMELY_BRANCH_HIGH);
	update(1125 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_PROBE);
	CHECK_EQ(f.base_ns, 1125 * US);
	start(CAP);
	f.base_ns = 1000 * US;
	f.mean_ns = 1126 * US;
	CHECK_UPDATES(15, 1126 * US, TIMELY_BRANCH_HIGH);

	/* Less than a unit of each update is cut. */
	cut(CAP / 3);
	f.dev_ns = 90 * US;
	for (i = 0; i < 20; i++) {
		f.dev_ns = 90 * US;
		update(215 * US);
		CHECK_EQ(r.branch, TIMELY_BRANCH_HIGH);
	}
	CHECK(rate() > CAP / 4.0);
}

/*
 * Updates for @ms, or until one of them is of this branch, all with this RTT, which v keeps from
 * being a queue, and at the same rate.
 */
static void updates(unsigned int ms, int branch, u64 rtt_ns)
{
	u64 end = now + ms * MS, rate_q = f.rate_q;

	do {
		f.rate_q = rate_q;
		f.dev_ns = (u32)rtt_ns;
		f.noisy = 0;
		update(rtt_ns);
	} while (now < end && r.branch != branch);
}

static void updates_for(unsigned int ms, u64 rtt_ns)
{
	updates(ms, -1, rtt_ns);
}

/*
 * Windows of 33.554 ms of this host's clock: the first one ends at 1006.6 ms. An RTT
 * within an eighth of D, or within 3/2 q, 24.576 us, shows that D is right.
 */
static void update__no_rtt_near_the_path(void)
{
	start(CAP);
	updates_for(30, 150 * US);
	CHECK_EQ(f.base_ns, 100 * US);
	updates(20, TIMELY_BRANCH_PROBE, 150 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_PROBE);
	CHECK_EQ(f.base_ns, 150 * US);
	CHECK_RATE(CAP);
	/* A shorter one is right at once. */
	update(101 * US);
	CHECK_EQ(f.base_ns, 101 * US);

	/* One RTT in the window. */
	start(CAP);
	updates_for(20, 150 * US);
	update(124 * US);
	updates_for(30, 150 * US);
	CHECK_EQ(f.base_ns, 100 * US);
	start(CAP);
	updates_for(20, 150 * US);
	update(125 * US);
	updates_for(30, 150 * US);
	CHECK_EQ(f.base_ns, 150 * US);
	/* Within an eighth of a long path; and of W. */
	start(CAP);
	f.base_ns = 800 * US;
	updates_for(80, 900 * US);
	CHECK_EQ(f.base_ns, 800 * US);
	updates_for(80, 901 * US);
	CHECK_EQ(f.base_ns, 901 * US);
	start(CAP);
	timely_auto_set_wait(&f, 8192);
	updates_for(80, 132 * US);
	CHECK_EQ(f.base_ns, 100 * US);
	updates_for(80, 133 * US);
	CHECK_EQ(f.base_ns, 133 * US);

	/* One of many; one that was fast in the window before the last one; and longer ago. */
	start(CAP / 9);
	updates_for(80, 150 * US);
	CHECK_EQ(f.base_ns, 100 * US);
	start(CAP / 8);
	update(150 * US);
	f.rate_q = timely_bps_to_rate(CAP / 9);
	updates_for(45, 150 * US);
	CHECK_EQ(f.base_ns, 150 * US);
	start(CAP / 9);
	f.wide = 2;
	updates_for(45, 150 * US);
	CHECK_EQ(f.base_ns, 150 * US);
	start(CAP / 9);
	f.wide = 1;
	updates_for(45, 150 * US);
	CHECK_EQ(f.base_ns, 100 * US);
	/* One of many after 63 windows. */
	start(CAP / 9);
	updates(10000, TIMELY_BRANCH_PROBE, 150 * US);
	CHECK_EQ(f.base_ns, 150 * US);
	CHECK_NEAR((double)now / MS, 1006.633 + 63 * 33.554, 1);

	/* Not where RTTs are of an application's few messages. */
	start(CAP);
	f.app_limited = 1;
	updates_for(80, 150 * US);
	CHECK_EQ(f.base_ns, 100 * US);
	/* A new D is right at first. */
	cut(CAP / 3);
	f.unseen = 50;
	updates(80, TIMELY_BRANCH_PROBE, 200 * US);
	CHECK_EQ(f.unseen, 0);
	/* A start is a new path. */
	f.wide = 3;
	f.unseen = 63;
	timely_auto_start(&f, CAP, CAP, 0, now);
	CHECK_EQ(f.wide, 0);
	CHECK_EQ(f.unseen, 0);
}

static void update__by_at_most_half(void)
{
	start(CAP);
	f.dev_ns = 0;
	f.slope_q = TIMELY_SLOPE_MAX;
	f.mean_ns = 109 * US;
	f.base_ns = 100 * US;
	update(109 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_DECREASE);
	CHECK_RATE(CAP / 2.0);
}

/* So many gaps between ACKs of two packets, each @ns; time goes on by no round number. */
static void gaps(int n, u64 ns)
{
	while (n--) {
		now += ns + 1009;
		timely_auto_gap(&f, 2896, ns, now, CAP);
	}
}

/* Two packets at C / @slower, ns. */
static u64 pair_ns(double slower)
{
	return (u64)(2896 * 1e9 / CAP * slower);
}

static double slower(void)
{
	return (double)CAP / (double)timely_auto_link_bps(&f, CAP);
}

/* At the line's rate, and where others' packets double the gaps, L is C. */
static void gap__of_the_line(void)
{
	int i;

	start(CAP / 100);
	CHECK_EQ(timely_auto_link_bps(&f, CAP), CAP);
	gaps(1000, pair_ns(1));
	CHECK_EQ(timely_auto_link_bps(&f, CAP), CAP);
	for (i = 0; i < 1000; i++) {
		gaps(1, pair_ns(1.9));
		CHECK_EQ(timely_auto_link_bps(&f, CAP), CAP);
	}
}

/*
 * A slower link is known after 400 gaps, of 100 segments of 16 KB, within a fourth, and half of it
 * after 100; one that is no more is forgotten.
 */
static void gap__of_a_slower_link(void)
{
	static const double links[] = { 4, 10, 25, 100 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(links); i++) {
		start(CAP / 2000);
		gaps(100, pair_ns(links[i]));
		CHECK(slower() > 0.4 * (links[i] - 1));
		gaps(300, pair_ns(links[i]));
		CHECK(slower() > 0.75 * (links[i] - 1));
		gaps(1000, pair_ns(links[i]));
		CHECK(slower() > 0.85 * (links[i] - 1) && slower() < 1.05 * (links[i] - 1));
		gaps(1200, 0);
		CHECK_EQ(timely_auto_link_bps(&f, CAP), CAP);
	}
}

/* A host that delays makes a gap longer and the next one shorter: only their sum counts. */
static void gap__noise(void)
{
	int i;

	start(CAP / 100);
	for (i = 0; i < 1000; i++) {
		gaps(1, pair_ns(7));
		gaps(6, 0);
		CHECK_EQ(timely_auto_link_bps(&f, CAP), CAP);
	}
	for (i = 0; i < 100; i++) {
		gaps(1, pair_ns(30));
		gaps(29, 0);
		CHECK_EQ(timely_auto_link_bps(&f, CAP), CAP);
	}
	for (i = 0; i < 300; i++) {
		gaps(1, 0);
		gaps(1, pair_ns(20));
	}
	CHECK(slower() > 6 && slower() < 13);
}

/* However long a gap is, it alone makes no slow link; and no number of them overflows. */
static void gap__ends(void)
{
	start(CAP / 100);
	gaps(1, 10 * SEC);
	CHECK_EQ(timely_auto_link_bps(&f, CAP), CAP);
	gaps(5000, 10 * SEC);
	CHECK(slower() > 99 && slower() < 101);
	gaps(5000, 0);
	CHECK_EQ(timely_auto_link_bps(&f, CAP), CAP);
}

/* A segment's time at L is no queue. D is as measured, and the least that is left. */
static void rtt__without_own_time(void)
{
	u64 own;

	start(CAP / 100);
	gaps(200, pair_ns(10));
	own = timely_serialisation_ns(SEGMENT, timely_auto_link_bps(&f, CAP)) -
	      timely_serialisation_ns(SEGMENT, CAP);
	CHECK(own > 80 * US);
	f.dev_ns = 0;
	update(150 * US + own);
	CHECK_EQ(f.mean_ns, 150 * US);
	CHECK_EQ(f.base_ns, 100 * US);
	update(100 * US + own / 2);
	CHECK_EQ(f.mean_ns, 100 * US);
	update(60 * US);
	CHECK_EQ(f.base_ns, 60 * US);
	CHECK_EQ(f.mean_ns, 60 * US);
	CHECK_EQ(r.link_bps, timely_auto_link_bps(&f, CAP));
}

/*
 * x, delta and q are of the slow link, as if it were the host's; but q is 250 us at most, or that
 * of the host.
 */
static void params__of_a_slower_link(void)
{
	struct timely_auto a, same;
	u64 link_bps, rate_q;

	start(CAP / 100);
	gaps(2000, pair_ns(10));
	link_bps = timely_auto_link_bps(&f, CAP);
	CHECK(link_bps < CAP / 8);
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.link_bps, link_bps);
	rate_q = f.rate_q;
	timely_auto_increase(&f, &a, false, 0, &r);
	rate_q = f.rate_q - rate_q;
	f.slow = 0;
	f.rate_q = timely_bps_to_rate(CAP / 100);
	timely_auto_params(&f, SEGMENT, link_bps, &same);
	CHECK_EQ(a.spread_q10, same.spread_q10);
	CHECK_EQ(a.segment_ns, same.segment_ns);
	CHECK_EQ(a.t_high_ns, same.t_high_ns);
	timely_auto_increase(&f, &same, false, 0, &r);
	CHECK_EQ(f.rate_q - timely_bps_to_rate(CAP / 100), rate_q);

	start(CAP / 1000);
	gaps(2000, pair_ns(200));
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.segment_ns, 250 * US);
	/* At C it takes 1.3 ms. */
	timely_auto_params(&f, SEGMENT, CAP / 100, &a);
	CHECK_EQ(a.segment_ns, timely_serialisation_ns(SEGMENT, CAP / 100));
}

/* Half of C is what others' packets look like, and no slow link. */
static void params__of_half_a_link(void)
{
	struct timely_auto a;

	start(CAP / 100);
	/* r = 3 */
	f.slow = 24;
	CHECK_EQ(timely_auto_link_bps(&f, CAP), CAP / 2);
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.link_bps, CAP);
	CHECK_EQ(timely_auto_least(&f, 1448, CAP), 2);
	f.slow++;
	timely_auto_params(&f, SEGMENT, CAP, &a);
	CHECK_EQ(a.link_bps, timely_auto_link_bps(&f, CAP));
	CHECK(a.link_bps > CAP / 4);
}

/* Segments tell how fast a slow link is, if they have four packets. */
static void least__packets_of_a_slower_link(void)
{
	start(CAP / 1000);
	CHECK_EQ(timely_auto_least(&f, 1448, CAP), 2);
	gaps(2000, pair_ns(10));
	CHECK_EQ(timely_auto_least(&f, 1448, CAP), 4);
	/* These take more than 250 us. */
	gaps(4000, pair_ns(100));
	CHECK_EQ(timely_auto_least(&f, 1448, CAP), 2);
}

/* What a flow sends, the path carries. */
static void link__carries_the_rate(void)
{
	start(CAP / 3);
	gaps(500, pair_ns(50));
	CHECK_EQ(timely_auto_link_bps(&f, CAP), timely_rate_bps(&f));
	f.rate_q = timely_bps_to_rate(CAP);
	CHECK_EQ(timely_auto_link_bps(&f, CAP), CAP);
}

/* Whatever comes, the rate stays between its limits, and nothing overflows. */
static void update__wild(void)
{
	static const u64 rtts[] = { 0, 1, 1000, 50 * US, 10 * SEC, UINT64_MAX };
	static const u64 caps[] = { 1000, 125000, CAP, TIMELY_MAX_RATE_BPS };
	static const u64 steps[] = { 0, 1, 20 * US, 3 * SEC, 1000 * SEC };
	u32 random = 1;
	size_t i, c;

	for (c = 0; c < ARRAY_SIZE(caps); c++) {
		memset(&f, 0, sizeof(f));
		now = 1;
		timely_auto_start(&f, caps[c], caps[c], 0, now);
		for (i = 0; i < 20000; i++) {
			random = random * 1664525 + 1013904223;
			now += steps[(random >> 8) % ARRAY_SIZE(steps)];
			f.app_limited = !(random >> 12 & 7);
			timely_auto_gap(&f, random >> 21 & 1 ? 536 : (1 << 24) - 1,
					rtts[(random >> 13) % ARRAY_SIZE(rtts)], now, caps[c]);
			update_at(rtts[(random >> 16) % ARRAY_SIZE(rtts)],
				  random >> 20 & 1 ? 1 << 19 : 536, 1 << 30, caps[c]);
			CHECK(timely_rate_bps(&f) <= caps[c]);
			CHECK(timely_rate_bps(&f) >= min_t(u64, caps[c], 1000));
			CHECK(timely_auto_window(&f, 1 << 19, caps[c]) > 0);
			if (ktap_failures)
				return;
		}
	}
}

/* Nothing but C limits a flow. */
static void at_cap__table(void)
{
	static const struct {
		const char *name;
		u8 branch, held;
		double rate;
		bool want;
	} rows[] = {
		{ "C, below Tlow", TIMELY_BRANCH_LOW, 0, 1, true },
		{ "hyperactive", TIMELY_BRANCH_HAI, 0, 1, true },
		{ "nearly C", TIMELY_BRANCH_LOW, 0, 0.88, true },
		{ "less", TIMELY_BRANCH_LOW, 0, 0.87, false },
		{ "a queue drains", TIMELY_BRANCH_INCREASE, 0, 1, false },
		{ "a queue", TIMELY_BRANCH_HIGH, 0, 1, false },
		{ "the start", TIMELY_BRANCH_START, 0, 1, false },
		{ "the application", TIMELY_BRANCH_LOW, true, 1, false },
	};
	const u64 cap_bps = 1250000000;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct timely_result res = { .branch = rows[i].branch, .held = rows[i].held };
		struct timely_flow f = {
			.rate_q = timely_bps_to_rate((u64)(cap_bps * rows[i].rate)),
		};

		ktap_row = rows[i].name;
		CHECK_EQ(timely_auto_at_cap(&f, cap_bps, &res), rows[i].want);
	}
	ktap_row = NULL;
}

static const struct ktap_case cases[] = {
	KTAP_CASE(floor__a_thousandth_up_to_10_mbit),
	KTAP_CASE(params__table),
	KTAP_CASE(params__base),
	KTAP_CASE(wait__of_interrupts),
	KTAP_CASE(params__of_a_cpu),
	KTAP_CASE(params__base_without_a_wire),
	KTAP_CASE(params__of_a_noisy_host),
	KTAP_CASE(noisy__or_a_queue),
	KTAP_CASE(wire__known_or_not),
	KTAP_CASE(rtts__without_a_wire),
	KTAP_CASE(wait__of_decisions),
	KTAP_CASE(params__ends),
	KTAP_CASE(segment__by_rate),
	KTAP_CASE(segment__by_path),
	KTAP_CASE(segment__of_what_the_rate_does_not_limit),
	KTAP_CASE(account__what_limits),
	KTAP_CASE(account__rates_of_a_window),
	KTAP_CASE(account__length_of_a_window),
	KTAP_CASE(window__twice_thigh),
	KTAP_CASE(window__opens),
	KTAP_CASE(idle__ten_rtts),
	KTAP_CASE(start__at_what_is_asked),
	KTAP_CASE(start__ends_with_a_queue),
	KTAP_CASE(idle__a_message_at_once),
	KTAP_CASE(loss__takes_its_share),
	KTAP_CASE(loss__takes_what_is_lost),
	KTAP_CASE(sample__lowest_and_mean),
	KTAP_CASE(sample__way_there),
	KTAP_CASE(sample__many),
	KTAP_CASE(update__waits_for_two_rtts),
	KTAP_CASE(update__step),
	KTAP_CASE(update__thigh),
	KTAP_CASE(update__scale),
	KTAP_CASE(update__gradient),
	KTAP_CASE(update__rise),
	KTAP_CASE(update__returns),
	KTAP_CASE(update__remembers),
	KTAP_CASE(update__burst_of_others),
	KTAP_CASE(update__hai),
	KTAP_CASE(update__run_of_cuts),
	KTAP_CASE(update__cuts_in_vain),
	KTAP_CASE(update__no_rtt_near_the_path),
	KTAP_CASE(update__by_at_most_half),
	KTAP_CASE(gap__of_the_line),
	KTAP_CASE(gap__of_a_slower_link),
	KTAP_CASE(gap__noise),
	KTAP_CASE(gap__ends),
	KTAP_CASE(rtt__without_own_time),
	KTAP_CASE(params__of_a_slower_link),
	KTAP_CASE(least__packets_of_a_slower_link),
	KTAP_CASE(params__of_half_a_link),
	KTAP_CASE(link__carries_the_rate),
	KTAP_CASE(update__wild),
	KTAP_CASE(at_cap__table),
};

int main(void)
{
	return ktap_run(cases, ARRAY_SIZE(cases));
}
