// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of timely_core.h: one case per function and condition, in the
 * order of the source. Expected values are computed by hand from the equations
 * of TIMELY (Algorithm 1) and Zhu et al. (Algorithm 2); the arithmetic is in
 * the comment beside each.
 *
 * Unless a case says otherwise:
 *
 *	Tlow 50 us, Thigh 500 us, minRTT 20 us
 *	delta 10 Mbit/s = 1,250,000 bytes/s
 *	alpha 7/8, beta 0.8, beta_patched 0.008
 *	N = 5 from the fifth negative gradient on
 *	segments of 16 KB, the rule of 80 %, s = 1
 *	floor 1 Mbit/s, cap 10 Gbit/s, rate 1e8 bytes/s
 */
#include <math.h>
#include <string.h>

#include "timely_core.h"
#include "timely_user.h"
#include "ktap.h"

#define US	1000ULL
#define MS	1000000ULL
#define SEC	1000000000ULL

#define RATE	100000000ULL	/* bytes/s; a multiple of 64, the window's unit */
#define DELTA	1250000		/* bytes/s */
#define CAP	(10000 * MBIT)

static u64 raw[TIMELY_P_MAX];
static struct timely_params p;
static struct timely_flow f;
static struct timely_result r;
static u64 now;

/* What the head of this file says, whatever the module's defaults are. */
static const struct {
	enum timely_param_id id;
	u64 value;
} usual[] = {
	{ TIMELY_P_MODE, TIMELY_MODE_ORIGINAL },
	{ TIMELY_P_T_LOW, 50 * US },
	{ TIMELY_P_T_HIGH, 500 * US },
	{ TIMELY_P_MIN_RTT, 20 * US },
	{ TIMELY_P_RTT_FLOOR, 1 * US },
	{ TIMELY_P_DELTA, 10000 },
	{ TIMELY_P_MIN_RATE, 1000 },
	{ TIMELY_P_ALPHA, 875 },
	{ TIMELY_P_BETA, 800 },
	{ TIMELY_P_BETA_PATCHED, 8 },
	{ TIMELY_P_HAI_THRESH, 5 },
	{ TIMELY_P_HAI_FACTOR, 5 },
	{ TIMELY_P_SEGMENT, 16384 },
	{ TIMELY_P_APP_LIMITED, 80 },
	{ TIMELY_P_LOSS_BETA, 500 },
};

/* One more parameter that is not as usual. */
static void set(enum timely_param_id id, u64 value)
{
	CHECK(value >= timely_ranges[id].min && value <= timely_ranges[id].max);
	raw[id] = value;
	timely_user_params(raw, &p);
}

static void start(u64 bps)
{
	now = SEC;
	timely_restart(&f, &p, bps, CAP, now);
}

static void setup(void)
{
	size_t i;

	timely_user_defaults(raw);
	for (i = 0; i < ARRAY_SIZE(usual); i++)
		raw[usual[i].id] = usual[i].value;
	CHECK(timely_user_params(raw, &p));
	start(RATE);
}

/* The signal's past: last RTT and smoothed difference. */
static void history(u64 prev_rtt_ns, s64 rtt_diff_ns)
{
	f.prev_rtt_ns = prev_rtt_ns;
	f.rtt_diff_q = rtt_diff_ns * 65536;
}

static void complete_after(u64 elapsed_ns, u64 rtt_ns)
{
	now += elapsed_ns;
	timely_update(&f, &p, rtt_ns, now, CAP, &r);
}

/* A completion one minRTT after the last: s = 1. */
static void complete(u64 rtt_ns)
{
	complete_after(p.min_rtt_ns, rtt_ns);
}

static double rate(void)
{
	return (double)f.rate_q / 65536;
}

/*
 * A decrease rounds four values down to multiples of 2^-30: beta, the gradient or
 * error (up to 9 here), their product, and its product with s. That is 9 + 3 of them
 * at most, so the rate may be 2^-26 of itself too high.
 */
static void check_rate(int line, double want)
{
	double tolerance = want / (1 << 26) + 1.0 / 32768;

	if (rate() >= want - tolerance && rate() <= want + tolerance)
		return;
	ktap_fail(__FILE__, line);
	printf("the rate is %.17g, expected %.17g +- %.3g\n", rate(), want,
	       tolerance);
}

#define CHECK_RATE(want) check_rate(__LINE__, want)

static void q30_mul__rounds_down_without_overflow(void)
{
	CHECK_EQ(q30_mul(0, TIMELY_ONE), 0);
	CHECK_EQ(q30_mul(12345, 0), 0);
	/* 3 / 2 = 1.5 */
	CHECK_EQ(q30_mul(3, TIMELY_ONE / 2), 1);
	/* 2^32 / 4 = 2^30 */
	CHECK_EQ(q30_mul(1ULL << 32, TIMELY_ONE / 4), 1 << 30);
	/* (2^32 + 3) / 2 = 2^31 + 1.5 */
	CHECK_EQ(q30_mul((1ULL << 32) + 3, TIMELY_ONE / 2),
		 (1ULL << 31) + 1);
	/* 2^30 * 2^-30 = 1; one less is a fraction */
	CHECK_EQ(q30_mul(1 << 30, 1), 1);
	CHECK_EQ(q30_mul((1 << 30) - 1, 1), 0);
	/* times one is the identity, up to the largest u64 */
	CHECK(q30_mul(UINT64_MAX, TIMELY_ONE) == UINT64_MAX);
	CHECK_EQ(q30_mul(UINT64_MAX, TIMELY_ONE / 2), INT64_MAX);
}

static void timely_bps_to_rate__saturates_at_1600_gbit(void)
{
	CHECK_EQ(timely_bps_to_rate(0), 0);
	CHECK_EQ(timely_bps_to_rate(1), 65536);
	/* 1.6e12 / 8 = 2e11; 2e11 * 65536 = 13107200000000000 */
	CHECK_EQ(timely_bps_to_rate(200000000000), 13107200000000000);
	CHECK_EQ(timely_bps_to_rate(200000000001), 13107200000000000);
	CHECK_EQ(timely_bps_to_rate(UINT64_MAX), 13107200000000000);
}

static void timely_rate_bps__rounds_down(void)
{
	f.rate_q = 1000 * 65536 + 65535;
	CHECK_EQ(timely_rate_bps(&f), 1000);
	f.rate_q++;
	CHECK_EQ(timely_rate_bps(&f), 1001);
}

static void timely_permille__table(void)
{
	CHECK_EQ(timely_permille(0), 0);
	CHECK_EQ(timely_permille(1), 1073741);		/* 2^30 / 1000 = 1073741.824 */
	CHECK_EQ(timely_permille(8), 8589934);		/* 8589934.592 */
	CHECK_EQ(timely_permille(500), 1 << 29);
	CHECK_EQ(timely_permille(800), 858993459);	/* 858993459.2 */
	CHECK_EQ(timely_permille(875), 939524096);	/* 7 * 2^27 */
	CHECK_EQ(timely_permille(1000), 1 << 30);
}

static void timely_owd_counts__ends(void)
{
	/* 2 * 30 us + 50 us + 64 * 1000 / (64 MB/s) */
	CHECK(timely_owd_counts(1110000, 30000, 64000000, 1000));
	CHECK(!timely_owd_counts(1110001, 30000, 64000000, 1000));
	CHECK(timely_owd_counts(50000, 0, UINT64_MAX, 1));
	CHECK(!timely_owd_counts(50001, 0, UINT64_MAX, 1));
}

static void timely_t_low_ns__by_segment_size(void)
{
	static const struct {
		const char *name;
		u64 t_low_ns;
		u32 segment;
		u64 want;
	} rows[] = {
		{ "smallest segment", 50000, 536, 50000 },
		{ "below 16 KB", 50000, 16383, 50000 },
		{ "16 KB", 50000, 16384, 50000 },
		/* 50000 * 16385 / 16384 = 50003.05 */
		{ "a byte more", 50000, 16385, 50003 },
		{ "24 KB", 50000, 24576, 75000 },
		{ "32 KB", 50000, 32768, 100000 },
		{ "64 KB", 50000, 65536, 200000 },
		{ "512 KB", 50000, 524288, 1600000 },
		{ "Tlow 0", 0, 524288, 0 },
		{ "10 s", 10 * SEC, 16384, 10 * SEC },
		{ "never above 10 s", 10 * SEC, 32768, 10 * SEC },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ktap_row = rows[i].name;
		CHECK_EQ(timely_t_low_ns(rows[i].t_low_ns, rows[i].segment),
			 rows[i].want);
	}
}

static void timely_serialisation_ns__table(void)
{
	static const struct {
		const char *name;
		u32 bytes;
		u64 bps;
		u64 want;
	} rows[] = {
		/* TIMELY 3.1: 64 KB takes 51 us at 10 Gbit/s, 1500 B 1.2 us */
		{ "64 KB at 10 Gbit/s", 64000, 10000 * MBIT, 51200 },
		{ "64 KiB at 10 Gbit/s", 65536, 10000 * MBIT, 52428 },	/* .8 */
		{ "MTU at 10 Gbit/s", 1500, 10000 * MBIT, 1200 },
		/* 1500 / 125000 = 12 ms */
		{ "MTU at 1 Mbit/s", 1500, MBIT, 12 * MS },
		/* 524288 / 2e11 = 2621.44 ns */
		{ "512 KB at 1.6 Tbit/s", 524288, 1600000 * MBIT, 2621 },
		/* 64 / 2e11 = 0.32 ns */
		{ "64 B at 1.6 Tbit/s", 64, 1600000 * MBIT, 0 },
		{ "nothing", 0, MBIT, 0 },
		{ "largest over slowest", 16777215, 1, 16777215 * SEC },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ktap_row = rows[i].name;
		CHECK_EQ(timely_serialisation_ns(rows[i].bytes, rows[i].bps),
			 rows[i].want);
	}
}

static void timely_start_bps__c_by_n_plus_1(void)
{
	CHECK_EQ(timely_start_bps(1250000000, 0), 1250000000);
	CHECK_EQ(timely_start_bps(1250000000, 1), 625000000);
	CHECK_EQ(timely_start_bps(1250000000, 3), 312500000);
	CHECK_EQ(timely_start_bps(1250000000, 6), 178571428);	/* .57 */
	/* 2e11 / 10001 = 19998000.2 */
	CHECK_EQ(timely_start_bps(200000000000, 10000), 19998000);
	CHECK_EQ(timely_start_bps(MBIT, UINT32_MAX), 0);
	CHECK_EQ(timely_start_bps(0, 0), 0);
}

static void timely_clamp__floor_then_cap(void)
{
	static const struct {
		const char *name;
		u64 rate, floor, cap, want;
	} rows[] = {
		{ "inside", 500, 100, 1000, 500 },
		{ "at the floor", 100, 100, 1000, 100 },
		{ "below the floor", 99, 100, 1000, 100 },
		{ "zero", 0, 100, 1000, 100 },
		{ "at the cap", 1000, 100, 1000, 1000 },
		{ "above the cap", 1001, 100, 1000, 1000 },
		{ "floor is cap", 7, 100, 100, 100 },
		{ "cap below the floor, rate low", 10, 1000, 100, 100 },
		{ "cap below the floor, rate high", 5000, 1000, 100, 100 },
		{ "no cap below 1.6 Tbit/s", 200000000001, 100, UINT64_MAX,
		  200000000000 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ktap_row = rows[i].name;
		f.rate_q = rows[i].rate << 16;
		p.min_rate_q = rows[i].floor << 16;
		timely_clamp(&f, p.min_rate_q, rows[i].cap);
		CHECK_EQ(f.rate_q, rows[i].want << 16);
	}
}

static void timely_restart__forgets_the_signal(void)
{
	memset(&f, 0xa5, sizeof(f));
	timely_restart(&f, &p, 300000000, CAP, 77);
	CHECK_EQ(timely_rate_bps(&f), 300000000);
	CHECK_EQ(f.rtt_diff_q, 0);
	CHECK_EQ(f.prev_rtt_ns, 0);
	CHECK_EQ(f.last_ns, 77);
	CHECK_EQ(f.neg_count, 0);
	CHECK_EQ(f.app_limited, 0);
	CHECK_EQ(f.win_ns, 0);
	CHECK_EQ(f.win_sent, 0);
	CHECK_EQ(f.win_rate, 300000000 / 64);
}

static void timely_forget_rtts__leaves_the_rate(void)
{
	timely_restart(&f, &p, RATE, CAP, 77);
	history(300000, 5000);
	f.neg_count = 4;
	f.app_limited = 1;
	timely_forget_rtts(&f);
	CHECK_EQ(f.rtt_diff_q, 0);
	CHECK_EQ(f.prev_rtt_ns, 0);
	CHECK_EQ(f.neg_count, 0);
	CHECK_EQ(f.app_limited, 1);
	CHECK_EQ(f.last_ns, 77);
	CHECK_RATE(RATE);
}

static void timely_restart__clamps(void)
{
	timely_restart(&f, &p, 2 * CAP, CAP, 1);
	CHECK_EQ(timely_rate_bps(&f), CAP);
	timely_restart(&f, &p, 0, CAP, 1);
	CHECK_EQ(timely_rate_bps(&f), MBIT);
	timely_restart(&f, &p, 0, MBIT / 2, 1);
	CHECK_EQ(timely_rate_bps(&f), MBIT / 2);
}

static void timely_restart_idle__never_raises(void)
{
	static const struct {
		const char *name;
		u64 bps, cap, want;
	} rows[] = {
		{ "slower start", 30000000, CAP, 30000000 },
		{ "faster start", 300000000, CAP, RATE },
		{ "slower than the floor", 1, CAP, MBIT },
		{ "slower line", 300000000, 20000000, 20000000 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ktap_row = rows[i].name;
		start(RATE);
		timely_restart_idle(&f, &p, rows[i].bps, rows[i].cap, 77);
		CHECK_EQ(timely_rate_bps(&f), rows[i].want);
		CHECK_EQ(f.win_rate, rows[i].want / 64);
	}
}

static void timely_restart_idle__keeps_its_window(void)
{
	unsigned int limited;

	for (limited = 0; limited < 2; limited++) {
		history(100000, 5000);
		f.neg_count = 5;
		f.app_limited = limited;
		f.win_ns = 3 * MS;
		f.win_sent = 50000;
		f.win_rate = RATE / 128;
		timely_restart_idle(&f, &p, CAP, CAP, 77);
		CHECK_EQ(f.rtt_diff_q, 0);
		CHECK_EQ(f.prev_rtt_ns, 0);
		CHECK_EQ(f.last_ns, 77);
		CHECK_EQ(f.neg_count, 0);
		CHECK_EQ(f.app_limited, limited);
		CHECK_EQ(f.win_ns, 3 * MS);
		CHECK_EQ(f.win_sent, 50000);
		CHECK_EQ(f.win_rate, RATE / 128);
		complete(20000);
		CHECK_EQ(r.held, limited);
		/* The first one rises by delta. */
		CHECK_RATE(RATE + DELTA);
	}
}

/* Messages of 64 KB, each after a silence: a rate that was cut rises again, to what they need. */
static void timely_restart_idle__messages_rise(void)
{
	unsigned int message, segment;
	u64 now_ns = 1000, low_bps = 2 * MBIT, took_ns;

	timely_restart(&f, &p, low_bps, CAP, now_ns);
	f.app_limited = 1;
	for (message = 0; message < 100; message++) {
		now_ns += 20 * MS;
		timely_restart_idle(&f, &p, CAP, CAP, now_ns);
		CHECK(timely_rate_bps(&f) <= CAP);
		for (segment = 0; segment < 4; segment++) {
			took_ns = 16384 * 1000000000ULL / timely_rate_bps(&f);
			took_ns = max_t(u64, took_ns, 20000);
			timely_window(&f, &p, took_ns, 16384, 20000);
			now_ns += took_ns;
			timely_update(&f, &p, 20000, now_ns, CAP, &r);
		}
	}
	CHECK(timely_rate_bps(&f) > 10 * low_bps);
	/* It sends 64 KB in 100 us, and then nothing for so long. */
	for (message = 0; message < 100; message++) {
		now_ns += 20 * MS;
		timely_restart_idle(&f, &p, CAP, CAP, now_ns);
		timely_window(&f, &p, 10 * MS, 65536, 20000);
		timely_update(&f, &p, 20000, now_ns + 10 * MS, CAP, &r);
	}
	CHECK_EQ(r.held, 1);
}

static void timely_loss__takes_its_share(void)
{
	static const struct {
		const char *name;
		u32 permille;
		u64 want;
	} rows[] = {
		{ "nothing", 0, 100000000 },
		{ "0.1 %", 1, 99900000 },
		{ "a quarter", 250, 75000000 },
		{ "half", 500, 50000000 },
		{ "all but the floor", 1000, MBIT },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ktap_row = rows[i].name;
		set(TIMELY_P_LOSS_BETA, rows[i].permille);
		start(RATE);
		timely_loss(&f, &p, CAP);
		CHECK_RATE(rows[i].want);
	}
}

static void timely_loss__ends_hai_and_keeps_the_signal(void)
{
	history(123456, -789);
	f.neg_count = 200;
	f.app_limited = 1;
	timely_loss(&f, &p, CAP);
	CHECK_EQ(f.neg_count, 0);
	CHECK_EQ(f.prev_rtt_ns, 123456);
	CHECK_EQ(f.rtt_diff_q, -789 * 65536);
	CHECK_EQ(f.app_limited, 1);
}

static void timely_loss__respects_floor_and_cap(void)
{
	start(MBIT);
	timely_loss(&f, &p, CAP);
	CHECK_EQ(timely_rate_bps(&f), MBIT);
	/* half of 1e8 is above a cap that fell to 2e7 */
	start(RATE);
	timely_loss(&f, &p, 20000000);
	CHECK_EQ(timely_rate_bps(&f), 20000000);
}

/* 10 ms at 1e8 bytes/s allow 1,000,000 bytes, more than 10 x 16384. */
static void timely_window__share_of_the_target(void)
{
	static const struct {
		const char *name;
		u8 percent;
		u32 sent;
		u8 want;
	} rows[] = {
		{ "exactly 80 %", 80, 800000, 0 },
		{ "a byte below 80 %", 80, 799999, 1 },
		{ "nothing sent", 80, 0, 1 },
		{ "all of it", 80, 1000000, 0 },
		{ "more than allowed", 80, 0x7fffffff, 0 },
		{ "0 % switches the rule off", 0, 0, 0 },
		{ "1 %", 1, 9999, 1 },
		{ "1 %, exactly", 1, 10000, 0 },
		{ "100 %", 100, 999999, 1 },
		{ "100 %, exactly", 100, 1000000, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ktap_row = rows[i].name;
		set(TIMELY_P_APP_LIMITED, rows[i].percent);
		start(RATE);
		/* the verdict must be made, not left over */
		f.app_limited = !rows[i].want;
		timely_window(&f, &p, 10 * MS, rows[i].sent, MS);
		CHECK_EQ(f.app_limited, rows[i].want);
		CHECK_EQ(f.win_ns, 0);
		CHECK_EQ(f.win_sent, 0);
		CHECK_EQ(f.win_rate, RATE / 64);
	}
}

static void timely_window__recovers_with_the_application(void)
{
	timely_window(&f, &p, 10 * MS, 100000, MS);
	CHECK_EQ(f.app_limited, 1);
	timely_window(&f, &p, 10 * MS, 1000000, MS);
	CHECK_EQ(f.app_limited, 0);
}

static void timely_window__open_for_one_rtt(void)
{
	f.app_limited = 1;
	timely_window(&f, &p, 10 * MS - 1, 1000000, 10 * MS);
	CHECK_EQ(f.win_ns, 10 * MS - 1);
	CHECK_EQ(f.win_sent, 1000000);
	CHECK_EQ(f.app_limited, 1);
	timely_window(&f, &p, 1, 0, 10 * MS);
	CHECK_EQ(f.win_ns, 0);
	CHECK_EQ(f.app_limited, 0);
}

static void timely_window__open_below_ten_segments(void)
{
	/* 1,638,384 ns allow 163,838.4 bytes, less than 10 x 16384 = 163,840 */
	timely_window(&f, &p, 1638384, 0, 100 * US);
	CHECK_EQ(f.win_ns, 1638384);
	CHECK_EQ(f.app_limited, 0);
	/* 16 ns, 1.6 bytes, later they are there */
	timely_window(&f, &p, 16, 0, 100 * US);
	CHECK_EQ(f.win_ns, 0);
	CHECK_EQ(f.app_limited, 1);
}

static void timely_window__ten_segments_sent_close_it(void)
{
	/* allowed in 1 ms: 100,000 bytes */
	f.app_limited = 1;
	timely_window(&f, &p, MS, 163839, 100 * US);
	CHECK_EQ(f.win_sent, 163839);
	CHECK_EQ(f.app_limited, 1);
	timely_window(&f, &p, 0, 1, 100 * US);
	CHECK_EQ(f.win_sent, 0);
	CHECK_EQ(f.app_limited, 0);
}

static void timely_window__one_second_closes_it(void)
{
	/* At 1000 bytes/s, 15 units of 64, ten segments would take 171 s. */
	set(TIMELY_P_MIN_RATE, 8);
	start(1000);
	timely_window(&f, &p, SEC - 1, 767, 10 * SEC);
	CHECK_EQ(f.win_ns, SEC - 1);
	/* 80 % of 15 * 64 = 960 is 768 */
	timely_window(&f, &p, 1, 0, 10 * SEC);
	CHECK_EQ(f.win_ns, 0);
	CHECK_EQ(f.app_limited, 1);
	timely_window(&f, &p, SEC, 768, 10 * SEC);
	CHECK_EQ(f.app_limited, 0);
}

static void timely_window__long_idle(void)
{
	/* counts as one second, whose 80 % are 8e7 bytes */
	timely_window(&f, &p, 3600 * SEC, 79999999, MS);
	CHECK_EQ(f.app_limited, 1);
	timely_window(&f, &p, UINT64_MAX, 80000000, MS);
	CHECK_EQ(f.app_limited, 0);
	timely_window(&f, &p, 3600 * SEC, 0, MS);
	CHECK_EQ(f.app_limited, 1);
}

static void timely_window__lowest_target_counts(void)
{
	u32 sent;

	/* 80 % of 5e7 bytes/s over 15 ms are 600,000 bytes */
	for (sent = 599999; sent <= 600000; sent++) {
		start(RATE);
		timely_window(&f, &p, 5 * MS, 0, 15 * MS);
		f.rate_q = timely_bps_to_rate(RATE / 2);
		timely_window(&f, &p, 5 * MS, 0, 15 * MS);
		f.rate_q = timely_bps_to_rate(RATE);
		timely_window(&f, &p, 5 * MS, sent, 15 * MS);
		CHECK_EQ(f.win_ns, 0);
		CHECK_EQ(f.app_limited, sent < 600000);
		CHECK_EQ(f.win_rate, RATE / 64);
	}
}

static void timely_window__adds_up_short_gaps(void)
{
	u32 sent;
	int i;

	/*
	 * 2e11 bytes/s for 1600 x 15 ns = 24 us are 4,800,000 bytes, and 80 %
	 * of that 1600 x 2400.
	 */
	for (sent = 2399; sent <= 2400; sent++) {
		timely_restart(&f, &p, 200000000000, 200000000000, 1);
		for (i = 0; i < 1600; i++) {
			CHECK_EQ(f.win_ns, i * 15);
			timely_window(&f, &p, 15, sent, 24 * US);
		}
		CHECK_EQ(f.win_ns, 0);
		CHECK_EQ(f.app_limited, sent < 2400);
	}
}

static void timely_window__two_gigabytes_close_it(void)
{
	int i;

	/*
	 * 1.6 Tbit/s for 100 ms of RTT would be 2e10 bytes, more than the
	 * counter holds: at 2e8 bytes per ms the eleventh ms passes 2^31.
	 */
	timely_restart(&f, &p, 200000000000, 200000000000, 1);
	f.app_limited = 1;
	for (i = 0; i < 10; i++)
		timely_window(&f, &p, MS, 200000000, 100 * MS);
	CHECK_EQ(f.win_sent, 2000000000);
	CHECK_EQ(f.app_limited, 1);
	timely_window(&f, &p, MS, 200000000, 100 * MS);
	CHECK_EQ(f.win_sent, 0);
	CHECK_EQ(f.app_limited, 0);

	/* 75 % of the target: 15 ms x 1.5e8 = 2.25e9 of 3e9 bytes */
	for (i = 0; i < 15; i++)
		timely_window(&f, &p, MS, 150000000, 100 * MS);
	CHECK_EQ(f.win_sent, 0);
	CHECK_EQ(f.app_limited, 1);
}

static void timely_window__1_mbit(void)
{
	/*
	 * 125,000 bytes/s are 1953 units of 64, 124,992 bytes in the second
	 * that ends the window; 80 % of them are 99,993.6.
	 */
	start(MBIT);
	timely_window(&f, &p, SEC, 99994, MS);
	CHECK_EQ(f.app_limited, 0);
	timely_window(&f, &p, SEC, 99993, MS);
	CHECK_EQ(f.app_limited, 1);
}

static void timely_scale__table(void)
{
	static const struct {
		const char *name;
		u64 min_rtt_ns, last_ns, now_ns;
		u32 want;
	} rows[] = {
		{ "no completion before", 20000, 0, 5, 1 << 30 },
		{ "no time passed", 20000, 1000, 1000, 0 },
		{ "time went back", 20000, 1000, 999, 0 },
		{ "time went back to 0", 20000, 1000, 0, 0 },
		{ "half", 20000, 1000, 11000, 1 << 29 },
		/* 2^30 * 19999 / 20000 = 1073688136.9 */
		{ "one ns short", 20000, 1000, 20999, 1073688136 },
		{ "minRTT", 20000, 1000, 21000, 1 << 30 },
		{ "more", 20000, 1000, 21001, 1 << 30 },
		{ "an hour", 20000, 1000, 3600 * SEC, 1 << 30 },
		{ "1 ns of 1 us", 1000, 1000, 1001, 1073741 },		/* .8 */
		{ "1 ns of 10 s", 10 * SEC, 1000, 1001, 0 },		/* 0.1 */
		{ "10 ns of 10 s", 10 * SEC, 1000, 1010, 1 },		/* 1.07 */
		{ "10 s less 1 ns", 10 * SEC, 1, 10 * SEC, 1073741823 },	/* .9 */
		{ "large stamps", 20000, UINT64_MAX - 10000, UINT64_MAX, 1 << 29 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ktap_row = rows[i].name;
		p.min_rtt_ns = rows[i].min_rtt_ns;
		f.last_ns = rows[i].last_ns;
		CHECK_EQ(timely_scale(&f, &p, rows[i].now_ns), rows[i].want);
	}
}

static void timely_increase__by_n_delta_s(void)
{
	timely_increase(&f, &p, 1, TIMELY_ONE, &r);
	CHECK_RATE(RATE + DELTA);
	timely_increase(&f, &p, 5, TIMELY_ONE, &r);
	CHECK_RATE(RATE + 6 * DELTA);
	timely_increase(&f, &p, 4, TIMELY_ONE / 4, &r);
	CHECK_RATE(RATE + 7 * DELTA);
	timely_increase(&f, &p, 100, 0, &r);
	CHECK_RATE(RATE + 7 * DELTA);
}

static void timely_increase__held_when_limited(void)
{
	f.app_limited = 1;
	r.held = 0;
	timely_increase(&f, &p, 5, TIMELY_ONE, &r);
	CHECK_RATE(RATE);
	CHECK_EQ(r.held, 1);
}

static void timely_decrease__by_at_most_half(void)
{
	static const struct {
		const char *name;
		u64 cut;
		u32 scale;
		u64 want;
	} rows[] = {
		{ "nothing", 0, TIMELY_ONE, 100000000 },
		{ "a quarter", TIMELY_ONE / 4, TIMELY_ONE, 75000000 },
		{ "half", TIMELY_ONE / 2, TIMELY_ONE, 50000000 },
		{ "more than half", TIMELY_ONE / 2 + 1, TIMELY_ONE, 50000000 },
		{ "more than one", 3 * TIMELY_ONE, TIMELY_ONE, 50000000 },
		{ "2^53", 1ULL << 53, TIMELY_ONE, 50000000 },
		{ "scaled", TIMELY_ONE / 2, TIMELY_ONE / 2, 75000000 },
		/* 2048 / 8192 = 1/4: large values are not cut off before s */
		{ "large, scaled", 2048 * TIMELY_ONE, TIMELY_ONE / 8192, 75000000 },
		{ "s is 0", 1024 * TIMELY_ONE, 0, 100000000 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ktap_row = rows[i].name;
		start(RATE);
		timely_decrease(&f, rows[i].cut, rows[i].scale);
		CHECK_RATE(rows[i].want);
	}
}

/* One completion from a given past; all numbers by Algorithm 1. */
struct step {
	const char *name;
	u64 prev_rtt_ns;
	s64 rtt_diff_ns;
	u64 rtt_ns;
	enum timely_branch branch;
	double rate;
	s64 want_diff_ns;
	s64 want_gradient_ppm;
};

static void run_steps(const struct step *steps, size_t count, u64 elapsed_ns)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const struct step *s = &steps[i];

		ktap_row = s->name;
		start(RATE);
		history(s->prev_rtt_ns, s->rtt_diff_ns);
		complete_after(elapsed_ns, s->rtt_ns);
		CHECK_EQ(r.branch, s->branch);
		CHECK_RATE(s->rate);
		CHECK_EQ(r.rtt_diff_ns, s->want_diff_ns);
		/* rounded towards zero, from a gradient rounded to 2^-30 */
		CHECK_NEAR(r.gradient_ppm, s->want_gradient_ppm, 1);
		CHECK_EQ(f.prev_rtt_ns, s->rtt_ns);
		CHECK_EQ(r.held, 0);
	}
	ktap_row = NULL;
}

static void timely_update__algorithm_1(void)
{
	static const struct step steps[] = {
		/* diff 7/8 * 9999 = 8749.1, / 20000 = 0.437456; rate + delta */
		{ "below Tlow, rising", 40000, 0, 49999, TIMELY_BRANCH_LOW,
		  101250000, 8749, 437456 },
		/* diff 7/8 * -10000 = -8750, / 20000 = -0.4375 */
		{ "below Tlow, falling", 30000, 0, 20000, TIMELY_BRANCH_LOW,
		  101250000, -8750, -437500 },
		/* diff 7/8 * 400000 = 350000, / 20000 = 17.5;
		 * 1 - 0.8 * (1 - 500/1000) = 0.6
		 */
		{ "above Thigh, rising", 600000, 0, 1000000, TIMELY_BRANCH_HIGH,
		  60000000, 350000, 17500000 },
		/* diff 7/8 * -100000 = -87500; 1 - 0.8 * (1 - 500/625) = 0.84 */
		{ "above Thigh, falling", 725000, 0, 625000, TIMELY_BRANCH_HIGH,
		  84000000, -87500, -4375000 },
		/* diff 7/8 = 0.875, less than 1 ns is none;
		 * 1e8 * (1 - 0.8 / 500001) = 1e8 - 159.99968
		 */
		{ "1 ns above Thigh", 500000, 0, 500001, TIMELY_BRANCH_HIGH,
		  99999840.00032, 0, 0 },
		/* diff 7/8 * -20000 = -17500, / 20000 = -0.875; rate + delta */
		{ "falling", 200000, 0, 180000, TIMELY_BRANCH_INCREASE,
		  101250000, -17500, -875000 },
		/* diff 0 */
		{ "gradient exactly 0", 100000, 0, 100000, TIMELY_BRANCH_INCREASE,
		  101250000, 0, 0 },
		/* diff -7000/8 + 7/8 * 1000 = 0 */
		{ "gradient exactly 0 by cancellation", 100000, -7000, 101000,
		  TIMELY_BRANCH_INCREASE, 101250000, 0, 0 },
		/* diff 7/8 * 4000 = 3500, / 20000 = 0.175; 1 - 0.8 * 0.175 = 0.86 */
		{ "rising", 100000, 0, 104000, TIMELY_BRANCH_DECREASE,
		  86000000, 3500, 175000 },
		/* diff -2000/8 + 7/8 * 4000 = 3250, 0.1625; 1 - 0.13 */
		{ "rising after falling", 100000, -2000, 104000,
		  TIMELY_BRANCH_DECREASE, 87000000, 3250, 162500 },
		/* diff 8000/8 - 7/8 * 800 = 300, 0.015; 1 - 0.012 */
		{ "smoothed rise outlasts a dip", 100000, 8000, 99200,
		  TIMELY_BRANCH_DECREASE, 98800000, 300, 15000 },
		/* diff 8000/8 - 7/8 * 2400 = -1100, -0.055 */
		{ "falling after rising", 100000, 8000, 97600,
		  TIMELY_BRANCH_INCREASE, 101250000, -1100, -55000 },
		/* diff 7/8 * 12000 = 10500, 0.525; 1 - 0.42 */
		{ "less than the limit of half", 100000, 0, 112000,
		  TIMELY_BRANCH_DECREASE, 58000000, 10500, 525000 },
		/* diff 7/8 * 20000 = 17500, 0.875; 1 - 0.7 becomes 1/2 */
		{ "limit of half", 100000, 0, 120000, TIMELY_BRANCH_DECREASE,
		  50000000, 17500, 875000 },
		/* diff 7/8 * 400000 = 350000, 17.5; 1 - 14 becomes 1/2 */
		{ "gradient far above one", 100000, 0, 500000,
		  TIMELY_BRANCH_DECREASE, 50000000, 350000, 17500000 },
		/* 7/8 * 9.9995e9 = 8749562500, / 20000 = 437478, reported as 1024;
		 * 1 - 0.8 * (1 - 0.0005/10) = 0.20004 becomes 1/2
		 */
		{ "10 s above Thigh", 500000, 0, 10000000000,
		  TIMELY_BRANCH_HIGH, 50000000, 8749562500, 1024000000 },
		/* -7/8 * 9.9999e9 = -8749912500, reported as -1024 */
		{ "10 s down", 10000000000, 0, 100000, TIMELY_BRANCH_INCREASE,
		  101250000, -8749912500, -1024000000 },
	};

	run_steps(steps, ARRAY_SIZE(steps), 20000);
}

static void timely_update__thresholds_are_inside(void)
{
	static const struct step steps[] = {
		/* diff 7/8 * 4000 = 3500, 0.175; 0.86, not + delta */
		{ "rtt is Tlow, rising", 46000, 0, 50000, TIMELY_BRANCH_DECREASE,
		  86000000, 3500, 175000 },
		{ "rtt is Tlow, level", 50000, 0, 50000, TIMELY_BRANCH_INCREASE,
		  101250000, 0, 0 },
		/* 0.86 by the gradient, 1 by Thigh / rtt */
		{ "rtt is Thigh, rising", 496000, 0, 500000,
		  TIMELY_BRANCH_DECREASE, 86000000, 3500, 175000 },
		{ "rtt is Thigh, level", 500000, 0, 500000,
		  TIMELY_BRANCH_INCREASE, 101250000, 0, 0 },
	};

	run_steps(steps, ARRAY_SIZE(steps), 20000);
}

static void timely_update__tlow_is_thigh(void)
{
	static const struct step steps[] = {
		{ "below", 104999, 0, 99999, TIMELY_BRANCH_LOW,
		  101250000, -4375, -218750 },
		/* neither below nor above: the gradient, 7/8 * 4000 */
		{ "at it", 96000, 0, 100000, TIMELY_BRANCH_DECREASE,
		  86000000, 3500, 175000 },
		/* 1 - 0.8 * (1 - 100/160) = 0.7, whatever the gradient */
		{ "above, falling", 164000, 0, 160000, TIMELY_BRANCH_HIGH,
		  70000000, -3500, -175000 },
	};

	set(TIMELY_P_T_LOW, 100000);
	set(TIMELY_P_T_HIGH, 100000);
	run_steps(steps, ARRAY_SIZE(steps), 20000);
}

static void timely_update__thresholds_at_0(void)
{
	set(TIMELY_P_RTT_FLOOR, 0);
	set(TIMELY_P_T_LOW, 0);
	set(TIMELY_P_T_HIGH, 0);
	/* 1 - 0.8 * (1 - 0/1) = 0.2 becomes 1/2 */
	complete(1);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HIGH);
	CHECK_RATE(50000000);
	/* a sample of 0 is inside, and divides nothing; diff is -7/8 */
	complete(0);
	CHECK_EQ(r.branch, TIMELY_BRANCH_INCREASE);
	CHECK_RATE(51250000);
	CHECK_EQ(f.prev_rtt_ns, 1);
}

static void timely_update__thresholds_at_10_s(void)
{
	set(TIMELY_P_T_LOW, 10 * SEC);
	set(TIMELY_P_T_HIGH, 10 * SEC);
	complete(10 * SEC - 1);
	CHECK_EQ(r.branch, TIMELY_BRANCH_LOW);
	CHECK_RATE(RATE + DELTA);
	/* 20 s count as 10 s: not above Thigh. diff 7/8 * 2 = 1.75 ns */
	f.prev_rtt_ns = 10 * SEC - 2;
	f.rtt_diff_q = 0;
	complete(20 * SEC);
	CHECK_EQ(r.branch, TIMELY_BRANCH_DECREASE);
	CHECK_EQ(f.prev_rtt_ns, 10 * SEC);
}

static void timely_update__first_sample(void)
{
	/* no difference to anything: gradient 0 */
	complete(100 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_INCREASE);
	CHECK_EQ(r.rtt_diff_ns, 0);
	CHECK_EQ(r.gradient_ppm, 0);
	CHECK_EQ(f.prev_rtt_ns, 100 * US);
	CHECK_RATE(RATE + DELTA);

	start(RATE);
	complete(20 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_LOW);
	CHECK_RATE(RATE + DELTA);

	/* 1 - 0.8 * (1 - 500/1000) */
	start(RATE);
	complete(1000 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HIGH);
	CHECK_RATE(60000000);
}

static void timely_update__below_the_floor(void)
{
	/* no queue, whatever was before, and no difference to it */
	history(300 * US, 5000);
	f.neg_count = 4;
	complete(999);
	CHECK_EQ(r.branch, TIMELY_BRANCH_LOW);
	CHECK_EQ(r.rtt_diff_ns, 0);
	CHECK_EQ(f.prev_rtt_ns, 0);
	CHECK_EQ(f.neg_count, 0);
	CHECK_RATE(RATE + DELTA);
	/* nor of the next one to it */
	complete(400 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_INCREASE);
	CHECK_EQ(r.rtt_diff_ns, 0);
	CHECK_EQ(f.prev_rtt_ns, 400 * US);
	CHECK_RATE(RATE + 2 * DELTA);

	/* the floor itself is an RTT: 7/8 * (1000 - 400000) */
	complete(1000);
	CHECK_EQ(r.branch, TIMELY_BRANCH_LOW);
	CHECK_EQ(r.rtt_diff_ns, -349125);
	CHECK_EQ(f.prev_rtt_ns, 1000);

	/* a floor between the thresholds is no reason to decrease */
	set(TIMELY_P_RTT_FLOOR, 200 * US);
	start(RATE);
	history(100 * US, 5000);
	complete(0);
	CHECK_EQ(r.branch, TIMELY_BRANCH_INCREASE);
	CHECK_RATE(RATE + DELTA);
}

static void timely_update__first_sample_after_restart(void)
{
	complete(100 * US);
	complete(400 * US);
	timely_restart(&f, &p, RATE, CAP, now);
	complete(150 * US);
	CHECK_EQ(r.branch, TIMELY_BRANCH_INCREASE);
	CHECK_EQ(r.rtt_diff_ns, 0);
	CHECK_RATE(RATE + DELTA);
}

static void timely_update__ewma(void)
{
	/* d = d / 8 + 7/8 * step, steps 8000, 8000, -8000, 0 ns */
	complete(100000);
	CHECK_EQ(r.rtt_diff_ns, 0);
	complete(108000);
	CHECK_EQ(r.rtt_diff_ns, 7000);
	complete(116000);
	CHECK_EQ(r.rtt_diff_ns, 7875);		/* 875 + 7000 */
	complete(108000);
	CHECK_EQ(r.rtt_diff_ns, -6015);		/* 984.375 - 7000 = -6015.625 */
	complete(108000);
	CHECK_EQ(r.rtt_diff_ns, -751);		/* -6015.625 / 8 = -751.95 */
}

static void timely_update__less_than_1_ns_is_no_gradient(void)
{
	/* 7/8 * 8 = 7 ns, then 7/8 ns at a constant RTT: no rise any more */
	complete(100000);
	complete(100008);
	CHECK_EQ(r.branch, TIMELY_BRANCH_DECREASE);
	complete(100008);
	CHECK_EQ(r.branch, TIMELY_BRANCH_INCREASE);
	CHECK_EQ(r.gradient_ppm, 0);
	/* down by 8: 7/64 - 7 = -6.89 ns is a fall, -0.86 ns is none */
	complete(100000);
	CHECK_EQ(f.neg_count, 1);
	complete(100000);
	CHECK_EQ(f.neg_count, 0);
	CHECK_EQ(r.branch, TIMELY_BRANCH_INCREASE);
	/* 1 ns itself counts: 8 / 8 */
	history(100000, 8);
	complete(100000);
	CHECK_EQ(r.rtt_diff_ns, 1);
	CHECK_EQ(r.branch, TIMELY_BRANCH_DECREASE);
	history(100000, -8);
	complete(100000);
	CHECK_EQ(r.rtt_diff_ns, -1);
	CHECK_EQ(f.neg_count, 1);
}

static void timely_update__alpha(void)
{
	/* 1/1000: 0.001 * 4000 = 4 ns, 0.0002; 1 - 0.00016 */
	set(TIMELY_P_ALPHA, 1);
	history(100000, 0);
	complete(104000);
	CHECK_RATE(99984000);
	/* 1: the newest difference alone, 4000, 0.2; 1 - 0.16 */
	set(TIMELY_P_ALPHA, 1000);
	start(RATE);
	history(100000, -50000);
	complete(104000);
	CHECK_RATE(84000000);
}

static void timely_update__beta(void)
{
	/* 1/1000: 1 - 0.001 * 0.175 */
	set(TIMELY_P_BETA, 1);
	history(100000, 0);
	complete(104000);
	CHECK_RATE(99982500);
	/* 1 - 0.001 * (1 - 500/1000) */
	start(RATE);
	complete(1000000);
	CHECK_RATE(99950000);
	/* 1: 1 - 0.175; 1 - (1 - 500/800) = 0.625 */
	set(TIMELY_P_BETA, 1000);
	start(RATE);
	history(100000, 0);
	complete(104000);
	CHECK_RATE(82500000);
	start(RATE);
	complete(800000);
	CHECK_RATE(62500000);
}

static void timely_update__delta(void)
{
	/* 1 kbit/s = 125 bytes/s */
	set(TIMELY_P_DELTA, 1);
	complete(20000);
	CHECK_RATE(100000125);
	/* 100 Gbit/s: at once at the cap */
	set(TIMELY_P_DELTA, 100000000);
	complete(20000);
	CHECK_RATE(CAP);
}

static void timely_update__min_rtt(void)
{
	/* 1 us: 3500 / 1000 = 3.5, 1 - 2.8 becomes 1/2 */
	set(TIMELY_P_MIN_RTT, 1000);
	history(100000, 0);
	complete(104000);
	CHECK_RATE(50000000);
	CHECK_EQ(r.gradient_ppm, 3500000);
	/* 10 s: 3500 / 1e10 = 3.5e-7, 1 - 2.8e-7 */
	set(TIMELY_P_MIN_RTT, 10 * SEC);
	start(RATE);
	history(100000, 0);
	complete(104000);
	CHECK_RATE(99999972);
}

/* Falls by 10 us each: the gradient stays negative. */
static void timely_update__fifth_negative_is_hai(void)
{
	int i;

	history(300000, 0);
	for (i = 1; i <= 4; i++) {
		complete(300000 - i * 10000);
		CHECK_EQ(r.branch, TIMELY_BRANCH_INCREASE);
		CHECK_EQ(f.neg_count, i);
		CHECK_RATE(RATE + i * DELTA);
	}
	complete(250000);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HAI);
	CHECK_RATE(RATE + (4 + 5) * DELTA);
	complete(240000);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HAI);
	CHECK_RATE(RATE + (4 + 10) * DELTA);
}

static void timely_update__positive_resets_hai(void)
{
	int i;

	history(300000, 0);
	for (i = 1; i <= 5; i++)
		complete(300000 - i * 10000);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HAI);
	/* about -10000/8 + 7/8 * 10000 = 7500 */
	complete(260000);
	CHECK_EQ(r.branch, TIMELY_BRANCH_DECREASE);
	CHECK_EQ(f.neg_count, 0);
	/* four more are not hyperactive, the fifth is */
	for (i = 1; i <= 4; i++) {
		complete(260000 - i * 20000);
		CHECK_EQ(r.branch, TIMELY_BRANCH_INCREASE);
	}
	complete(160000);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HAI);
}

static void timely_update__zero_resets_hai(void)
{
	int i;

	/* alpha 1: the gradient is exactly 0 when the RTT repeats */
	set(TIMELY_P_ALPHA, 1000);
	history(300000, 0);
	for (i = 1; i <= 4; i++)
		complete(300000 - i * 10000);
	CHECK_EQ(f.neg_count, 4);
	complete(260000);
	CHECK_EQ(r.branch, TIMELY_BRANCH_INCREASE);
	CHECK_EQ(f.neg_count, 0);
	complete(250000);
	CHECK_EQ(r.branch, TIMELY_BRANCH_INCREASE);
	CHECK_EQ(f.neg_count, 1);
	CHECK_RATE(RATE + 6 * DELTA);
}

static void timely_update__hai_counts_every_completion(void)
{
	/* four falling above Thigh, the fifth between the thresholds */
	history(1000000, 0);
	complete(900000);
	complete(800000);
	complete(700000);
	complete(600000);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HIGH);
	CHECK_EQ(f.neg_count, 4);
	complete(400000);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HAI);
	/* below Tlow it is delta, hyperactive or not */
	start(RATE);
	f.neg_count = 5;
	history(100000, 0);
	complete(40000);
	CHECK_EQ(r.branch, TIMELY_BRANCH_LOW);
	CHECK_EQ(f.neg_count, 6);
	CHECK_RATE(RATE + DELTA);
}

static void timely_update__hai_thresh(void)
{
	int i;

	set(TIMELY_P_HAI_THRESH, 1);
	history(300000, 0);
	complete(299000);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HAI);

	set(TIMELY_P_HAI_THRESH, 255);
	start(RATE);
	history(400000, 0);
	for (i = 1; i <= 300; i++) {
		complete(400000 - i * 1000);
		CHECK_EQ(r.branch, i < 255 ? TIMELY_BRANCH_INCREASE :
					     TIMELY_BRANCH_HAI);
		/* the counter stops at its largest value */
		CHECK_EQ(f.neg_count, i < 255 ? i : 255);
	}
}

static void timely_update__hai_factor(void)
{
	set(TIMELY_P_HAI_FACTOR, 1);
	f.neg_count = 4;
	history(300000, 0);
	complete(290000);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HAI);
	CHECK_RATE(RATE + DELTA);

	set(TIMELY_P_HAI_FACTOR, 100);
	start(RATE);
	f.neg_count = 4;
	history(300000, 0);
	complete(290000);
	CHECK_RATE(RATE + 100 * DELTA);
}

static void timely_update__scaled_by_elapsed_time(void)
{
	/* s = 1/2: delta / 2 */
	complete_after(10000, 20000);
	CHECK_RATE(RATE + DELTA / 2);
	CHECK_EQ(r.scale_ppm, 500000);
	/* N * delta / 4 */
	start(RATE);
	f.neg_count = 4;
	history(300000, 0);
	complete_after(5000, 290000);
	CHECK_EQ(r.scale_ppm, 250000);
	CHECK_RATE(RATE + 5 * DELTA / 4);
	/* 1 - 0.8 * 0.175 / 2 = 0.93 */
	start(RATE);
	history(100000, 0);
	complete_after(10000, 104000);
	CHECK_RATE(93000000);
	/* 1 - 0.8 * (1 - 500/1000) / 2 = 0.8 */
	start(RATE);
	complete_after(10000, 1000000);
	CHECK_RATE(80000000);
	/* 7/8 * 40000 = 35000, 1.75: 1 - 1.4 / 4 = 0.65, s before the limit */
	start(RATE);
	history(100000, 0);
	complete_after(5000, 140000);
	CHECK_RATE(65000000);
	/* 1 - 1.4 / 2 becomes 1/2 */
	start(RATE);
	history(100000, 0);
	complete_after(10000, 140000);
	CHECK_RATE(50000000);
	/* more than a minRTT is not more than one update */
	start(RATE);
	complete_after(SEC, 20000);
	CHECK_RATE(RATE + DELTA);
	CHECK_EQ(r.scale_ppm, 1000000);
}

static void timely_update__updates_in_one_min_rtt_sum_to_one(void)
{
	/* uneven gaps of 20 us in all */
	complete_after(1000, 20000);
	complete_after(12000, 20000);
	complete_after(0, 20000);
	complete_after(7000, 20000);
	CHECK_RATE(RATE + DELTA);
}

static void timely_update__no_time_passed(void)
{
	history(100000, 0);
	complete_after(0, 104000);
	CHECK_EQ(r.branch, TIMELY_BRANCH_DECREASE);
	CHECK_EQ(r.scale_ppm, 0);
	CHECK_RATE(RATE);
	/* the sample counts in the gradient all the same */
	CHECK_EQ(r.rtt_diff_ns, 3500);
	CHECK_EQ(f.prev_rtt_ns, 104000);
}

static void timely_update__time_went_back(void)
{
	u64 last = f.last_ns;

	timely_update(&f, &p, 20000, last - 500, CAP, &r);
	CHECK_EQ(r.scale_ppm, 0);
	CHECK_EQ(f.last_ns, last);
	CHECK_RATE(RATE);
	/* 10 us after the latest, not 10.5 after the one that went back */
	timely_update(&f, &p, 20000, last + 10000, CAP, &r);
	CHECK_EQ(r.scale_ppm, 500000);
	CHECK_RATE(RATE + DELTA / 2);
}

static void timely_update__no_time_of_a_first_completion(void)
{
	timely_restart(&f, &p, RATE, CAP, 0);
	timely_update(&f, &p, 20000, 1, CAP, &r);
	CHECK_EQ(r.scale_ppm, 1000000);
	CHECK_RATE(RATE + DELTA);
}

static void timely_update__rtt_above_10_s(void)
{
	set(TIMELY_P_T_HIGH, 8 * SEC);
	complete(11 * SEC);
	CHECK_EQ(f.prev_rtt_ns, 10 * SEC);
	/* 1 - 0.8 * (1 - 8/10) = 0.84 */
	CHECK_RATE(84000000);
	/* counts as 10 s again: level */
	complete(UINT64_MAX);
	CHECK_EQ(f.prev_rtt_ns, 10 * SEC);
	CHECK_EQ(r.rtt_diff_ns, 0);
	CHECK_RATE(70560000);		/* 8.4e7 * 0.84 */
}

static void timely_update__rtt_of_1_us(void)
{
	/* diff 7/8 * 100 = 87.5, / 1000 = 0.0875; 1 - 0.07 */
	set(TIMELY_P_T_LOW, 500);
	set(TIMELY_P_T_HIGH, 10000);
	set(TIMELY_P_MIN_RTT, 1000);
	history(900, 0);
	complete(1000);
	CHECK_EQ(r.branch, TIMELY_BRANCH_DECREASE);
	CHECK_RATE(93000000);
}

static void timely_update__rtt_of_10_s(void)
{
	/* diff 7/8 s, / 5 s = 0.175; 1 - 0.14 */
	set(TIMELY_P_T_HIGH, 10 * SEC);
	set(TIMELY_P_MIN_RTT, 5 * SEC);
	history(9 * SEC, 0);
	complete(10 * SEC);
	CHECK_EQ(r.branch, TIMELY_BRANCH_DECREASE);
	CHECK_RATE(86000000);
}

static void timely_update__1600_gbit(void)
{
	const u64 cap = 200000000000;

	/* 2e11 * 0.86 = 1.72e11 */
	timely_restart(&f, &p, cap, cap, SEC);
	history(100000, 0);
	timely_update(&f, &p, 104000, SEC + 20000, cap, &r);
	CHECK_RATE(172000000000);
	/* N * delta = 100 * 100 Gbit/s stop at the cap */
	set(TIMELY_P_DELTA, 100000000);
	set(TIMELY_P_HAI_FACTOR, 100);
	f.neg_count = 4;
	history(300000, 0);
	timely_update(&f, &p, 200000, SEC + 40000, cap, &r);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HAI);
	CHECK_EQ(timely_rate_bps(&f), cap);
}

static void timely_update__1_mbit(void)
{
	set(TIMELY_P_MIN_RATE, 8);
	/* 125000 * 0.86 = 107500 */
	start(MBIT);
	history(100000, 0);
	complete(104000);
	CHECK_RATE(107500);
	/* a line of 1 Mbit/s caps what delta adds */
	timely_update(&f, &p, 20000, now + 20000, MBIT, &r);
	CHECK_EQ(timely_rate_bps(&f), MBIT);
}

static void timely_update__floor(void)
{
	set(TIMELY_P_MIN_RATE, 8);
	/* 8 kbit/s = 1000 bytes/s; half of 1500 is less */
	start(1500);
	complete(100 * US);
	CHECK_RATE(1500 + DELTA);
	start(1500);
	complete(10 * SEC);
	CHECK_EQ(timely_rate_bps(&f), 1000);
	complete(10 * SEC);
	CHECK_EQ(timely_rate_bps(&f), 1000);
}

static void timely_update__cap(void)
{
	start(CAP - 1);
	complete(20000);
	CHECK_EQ(f.rate_q, CAP << 16);
	/* the line became slower: at once, whatever the branch */
	timely_update(&f, &p, 104000, now, RATE, &r);
	CHECK_EQ(timely_rate_bps(&f), RATE);
	/* even below the floor */
	timely_update(&f, &p, 104000, now, 500, &r);
	CHECK_EQ(timely_rate_bps(&f), 500);
}

static void timely_update__limited_flow_only_falls(void)
{
	f.app_limited = 1;
	complete(20000);
	CHECK_EQ(r.branch, TIMELY_BRANCH_LOW);
	CHECK_EQ(r.held, 1);
	CHECK_RATE(RATE);

	history(200000, 0);
	complete(180000);
	CHECK_EQ(r.branch, TIMELY_BRANCH_INCREASE);
	CHECK_EQ(r.held, 1);
	CHECK_RATE(RATE);

	f.neg_count = 4;
	complete(160000);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HAI);
	CHECK_EQ(r.held, 1);
	CHECK_RATE(RATE);

	history(100000, 0);
	complete(104000);
	CHECK_EQ(r.branch, TIMELY_BRANCH_DECREASE);
	CHECK_EQ(r.held, 0);
	CHECK_RATE(86000000);

	start(RATE);
	f.app_limited = 1;
	complete(1000000);
	CHECK_EQ(r.branch, TIMELY_BRANCH_HIGH);
	CHECK_EQ(r.held, 0);
	CHECK_RATE(60000000);
}

/*
 * A gradient above 1024 that a small s brings back below the limit of half:
 * 8388608000 / 4096000 = 2048, s = 500 / 4096000 = 1/8192, 1 - 2048/8192.
 */
static void timely_update__large_gradient_is_exact(void)
{
	set(TIMELY_P_ALPHA, 1000);
	set(TIMELY_P_BETA, 1000);
	set(TIMELY_P_T_HIGH, 10 * SEC);
	set(TIMELY_P_MIN_RTT, 4096000);
	history(100000, 0);
	complete_after(500, 8388708000);
	CHECK_EQ(r.branch, TIMELY_BRANCH_DECREASE);
	CHECK_RATE(75000000);
	CHECK_EQ(r.gradient_ppm, 1024000000);
}

/*
 * alpha 1: gradient = (rtt - prev) / 20000. At 100 us, with Tlow 50 us, the
 * error (rtt - Tlow) / Tlow is 1. So
 * rate = 1e8 * (1 - 0.008 * w) + 1,250,000 * (1 - w), w = 2 * gradient + 1/2.
 */
static void timely_update__patched_weight(void)
{
	static const struct step steps[] = {
		{ "gradient -1", 120000, 0, 100000, TIMELY_BRANCH_WEIGHTED,
		  101250000, -20000, -1000000 },		/* w = 0 */
		{ "gradient below -1/4", 105001, 0, 100000, TIMELY_BRANCH_WEIGHTED,
		  101250000, -5001, -250050 },			/* w = 0 */
		{ "gradient -1/4", 105000, 0, 100000, TIMELY_BRANCH_WEIGHTED,
		  101250000, -5000, -250000 },			/* w = 0 */
		/* w = 1/4: 1e8 - 200,000 + 937,500 */
		{ "gradient -1/8", 102500, 0, 100000, TIMELY_BRANCH_WEIGHTED,
		  100737500, -2500, -125000 },
		/* w = 1/2: 1e8 - 400,000 + 625,000 */
		{ "gradient 0", 100000, 0, 100000, TIMELY_BRANCH_WEIGHTED,
		  100225000, 0, 0 },
		/* w = 3/4: 1e8 - 600,000 + 312,500 */
		{ "gradient 1/8", 97500, 0, 100000, TIMELY_BRANCH_WEIGHTED,
		  99712500, 2500, 125000 },
		/* w = 1: 1e8 - 800,000 */
		{ "gradient 1/4", 95000, 0, 100000, TIMELY_BRANCH_WEIGHTED,
		  99200000, 5000, 250000 },
		{ "gradient above 1/4", 94999, 0, 100000, TIMELY_BRANCH_WEIGHTED,
		  99200000, 5001, 250050 },
		{ "gradient 1", 80000, 0, 100000, TIMELY_BRANCH_WEIGHTED,
		  99200000, 20000, 1000000 },
	};

	set(TIMELY_P_MODE, TIMELY_MODE_PATCHED);
	set(TIMELY_P_ALPHA, 1000);
	run_steps(steps, ARRAY_SIZE(steps), 20000);
}

static void timely_update__patched_error(void)
{
	static const struct step steps[] = {
		/* error 0, w = 1/2: + 625,000 */
		{ "rtt is Tlow", 50000, 0, 50000, TIMELY_BRANCH_WEIGHTED,
		  100625000, 0, 0 },
		/* error 9, w = 1/2: - 3,600,000 + 625,000 */
		{ "rtt is Thigh", 500000, 0, 500000, TIMELY_BRANCH_WEIGHTED,
		  97025000, 0, 0 },
		/* error 9, w = 1: - 7,200,000 */
		{ "rtt is Thigh, rising", 495000, 0, 500000,
		  TIMELY_BRANCH_WEIGHTED, 92800000, 5000, 250000 },
		/* outside the thresholds as in Algorithm 1, with beta 0.8 */
		{ "below Tlow", 44999, 0, 49999, TIMELY_BRANCH_LOW,
		  101250000, 5000, 250000 },
		{ "above Thigh", 1005000, 0, 1000000, TIMELY_BRANCH_HIGH,
		  60000000, -5000, -250000 },
	};

	set(TIMELY_P_MODE, TIMELY_MODE_PATCHED);
	set(TIMELY_P_ALPHA, 1000);
	run_steps(steps, ARRAY_SIZE(steps), 20000);
}

/*
 * Gradient 0: rate * 0.008 * 1/2 * error = delta * 1/2 at
 * error = 1,250,000 / (0.008 * 1e8) = 1.5625, rtt = 50 us * 2.5625 = 128.125 us.
 */
static void timely_update__patched_fixed_point(void)
{
	int i;

	set(TIMELY_P_MODE, TIMELY_MODE_PATCHED);
	for (i = 0; i < 1000; i++)
		complete(128125);
	/* 1000 times the rounding of one update */
	CHECK_NEAR(rate(), RATE, 1000.0 * RATE / (1 << 26));
}

static void timely_update__patched_limit_of_half(void)
{
	set(TIMELY_P_MODE, TIMELY_MODE_PATCHED);
	set(TIMELY_P_ALPHA, 1000);
	set(TIMELY_P_BETA_PATCHED, 1000);
	/* error 9, w = 1: 1 - 9 becomes 1/2 */
	history(495000, 0);
	complete(500000);
	CHECK_RATE(50000000);
	/* error 9, w = 1/2: 1 - 4.5 becomes 1/2, then + 625,000 */
	start(RATE);
	history(500000, 0);
	complete(500000);
	CHECK_RATE(50625000);
}

static void timely_update__patched_scaled(void)
{
	/* s = 1/2, gradient 0, error 1: 1e8 - 200,000 + 312,500 */
	set(TIMELY_P_MODE, TIMELY_MODE_PATCHED);
	history(100000, 0);
	complete_after(10000, 100000);
	CHECK_RATE(100112500);
}

static void timely_update__patched_limited_flow_only_falls(void)
{
	/* gradient 0, error 1: 1e8 - 400,000 */
	set(TIMELY_P_MODE, TIMELY_MODE_PATCHED);
	f.app_limited = 1;
	history(100000, 0);
	complete(100000);
	CHECK_EQ(r.held, 1);
	CHECK_RATE(99600000);
}

static void timely_update__patched_has_no_hai(void)
{
	int i;

	set(TIMELY_P_MODE, TIMELY_MODE_PATCHED);
	set(TIMELY_P_ALPHA, 1000);
	history(300000, 0);
	/* gradient -1/2: w = 0, + delta every time */
	for (i = 1; i <= 10; i++) {
		complete(300000 - i * 10000);
		CHECK_EQ(r.branch, TIMELY_BRANCH_WEIGHTED);
		CHECK_RATE(RATE + i * DELTA);
	}
}

/*
 *	error = (2,049,000 - 1000) / 1000 = 2048
 *	s = 1,000,000 / 1,024,000,000 = 1/1024
 *	gradient = -192,000,000 / 1,024,000,000 = -0.1875, w = 0.125
 *	rate = 1e8 * (1 - 2048 * 0.125 / 1024) + 1,250,000 * 0.875 / 1024 = 7.5e7 + 1068.1
 */
static void timely_update__patched_large_error_is_exact(void)
{
	set(TIMELY_P_MODE, TIMELY_MODE_PATCHED);
	set(TIMELY_P_ALPHA, 1000);
	set(TIMELY_P_BETA_PATCHED, 1000);
	set(TIMELY_P_T_LOW, 1000);
	set(TIMELY_P_T_HIGH, 10 * SEC);
	set(TIMELY_P_MIN_RTT, 1024000000);
	history(194049000, 0);
	complete_after(MS, 2049000);
	CHECK_EQ(r.branch, TIMELY_BRANCH_WEIGHTED);
	CHECK_RATE(75001068.115234375);
}

/* What must hold after any completion; the sanitizers watch the arithmetic. */
static void check_corner(u64 bps, u64 rtt_ns, u64 cap)
{
	u64 floor_q, cap_q = timely_bps_to_rate(cap);
	u64 before;
	int i;

	floor_q = p.min_rate_q < cap_q ? p.min_rate_q : cap_q;
	timely_restart(&f, &p, bps, cap, 1);
	for (i = 0; i < 8; i++) {
		before = f.rate_q;
		timely_window(&f, &p, i * p.min_rtt_ns, i * 200000000, rtt_ns);
		timely_update(&f, &p, i & 1 ? p.rtt_floor_ns : rtt_ns,
			      1 + i * p.min_rtt_ns / 2, cap, &r);
		CHECK(f.rate_q >= floor_q && f.rate_q <= cap_q);
		CHECK(f.rate_q >= before / 2);
		CHECK(!f.app_limited || f.rate_q <= before);
		CHECK(r.scale_ppm <= 1000000);
	}
}

static void timely_update__every_parameter_at_its_ends(void)
{
	static const u64 rates[] = { 0, 1000, MBIT, RATE, 200000000000 };
	static const u64 rtts[] = { 0, 1, 1000, 50000, 10 * SEC, 10 * SEC + 1,
				    UINT64_MAX };
	static const u64 caps[] = { 1, MBIT, 200000000000 };
	/* One parameter at its end, or all of them. */
	unsigned int id, end, i, j, k, tried = 0;

	for (id = 0; id <= TIMELY_P_MAX; id++) {
		for (end = 0; end < 2; end++) {
			timely_user_defaults(raw);
			for (i = 0; i < TIMELY_P_MAX; i++)
				if (i == id || id == TIMELY_P_MAX)
					raw[i] = end ? timely_ranges[i].max :
						       timely_ranges[i].min;
			ktap_row = id < TIMELY_P_MAX ? timely_ranges[id].name :
						       "all parameters";
			/* Tlow may not be above Thigh, nor the floor of the RTT */
			if (id == TIMELY_P_T_LOW || id == TIMELY_P_SEGMENT ||
			    id == TIMELY_P_RTT_FLOOR)
				raw[TIMELY_P_T_HIGH] = 10 * SEC;
			if (id == TIMELY_P_T_HIGH && !end) {
				raw[TIMELY_P_T_LOW] = 0;
				raw[TIMELY_P_RTT_FLOOR] = 0;
			}
			CHECK(timely_user_params(raw, &p));
			for (i = 0; i < ARRAY_SIZE(rates); i++)
				for (j = 0; j < ARRAY_SIZE(rtts); j++)
					for (k = 0; k < ARRAY_SIZE(caps); k++)
						check_corner(rates[i], rtts[j],
							     caps[k]);
			tried++;
		}
	}
	ktap_row = NULL;
	CHECK_EQ(tried, 2 * (TIMELY_P_MAX + 1));
}

#define CASE(fn) static void case_##fn(void) { setup(); fn(); }
#define CASES \
	X(q30_mul__rounds_down_without_overflow) \
	X(timely_bps_to_rate__saturates_at_1600_gbit) \
	X(timely_rate_bps__rounds_down) \
	X(timely_permille__table) \
	X(timely_owd_counts__ends) \
	X(timely_t_low_ns__by_segment_size) \
	X(timely_serialisation_ns__table) \
	X(timely_start_bps__c_by_n_plus_1) \
	X(timely_clamp__floor_then_cap) \
	X(timely_restart__forgets_the_signal) \
	X(timely_forget_rtts__leaves_the_rate) \
	X(timely_restart__clamps) \
	X(timely_restart_idle__never_raises) \
	X(timely_restart_idle__keeps_its_window) \
	X(timely_restart_idle__messages_rise) \
	X(timely_loss__takes_its_share) \
	X(timely_loss__ends_hai_and_keeps_the_signal) \
	X(timely_loss__respects_floor_and_cap) \
	X(timely_window__share_of_the_target) \
	X(timely_window__recovers_with_the_application) \
	X(timely_window__open_for_one_rtt) \
	X(timely_window__open_below_ten_segments) \
	X(timely_window__ten_segments_sent_close_it) \
	X(timely_window__one_second_closes_it) \
	X(timely_window__long_idle) \
	X(timely_window__lowest_target_counts) \
	X(timely_window__adds_up_short_gaps) \
	X(timely_window__two_gigabytes_close_it) \
	X(timely_window__1_mbit) \
	X(timely_scale__table) \
	X(timely_increase__by_n_delta_s) \
	X(timely_increase__held_when_limited) \
	X(timely_decrease__by_at_most_half) \
	X(timely_update__algorithm_1) \
	X(timely_update__thresholds_are_inside) \
	X(timely_update__tlow_is_thigh) \
	X(timely_update__thresholds_at_0) \
	X(timely_update__thresholds_at_10_s) \
	X(timely_update__below_the_floor) \
	X(timely_update__first_sample) \
	X(timely_update__first_sample_after_restart) \
	X(timely_update__ewma) \
	X(timely_update__less_than_1_ns_is_no_gradient) \
	X(timely_update__alpha) \
	X(timely_update__beta) \
	X(timely_update__delta) \
	X(timely_update__min_rtt) \
	X(timely_update__fifth_negative_is_hai) \
	X(timely_update__positive_resets_hai) \
	X(timely_update__zero_resets_hai) \
	X(timely_update__hai_counts_every_completion) \
	X(timely_update__hai_thresh) \
	X(timely_update__hai_factor) \
	X(timely_update__scaled_by_elapsed_time) \
	X(timely_update__updates_in_one_min_rtt_sum_to_one) \
	X(timely_update__no_time_passed) \
	X(timely_update__time_went_back) \
	X(timely_update__no_time_of_a_first_completion) \
	X(timely_update__rtt_above_10_s) \
	X(timely_update__rtt_of_1_us) \
	X(timely_update__rtt_of_10_s) \
	X(timely_update__1600_gbit) \
	X(timely_update__1_mbit) \
	X(timely_update__floor) \
	X(timely_update__cap) \
	X(timely_update__limited_flow_only_falls) \
	X(timely_update__large_gradient_is_exact) \
	X(timely_update__patched_weight) \
	X(timely_update__patched_error) \
	X(timely_update__patched_fixed_point) \
	X(timely_update__patched_limit_of_half) \
	X(timely_update__patched_scaled) \
	X(timely_update__patched_limited_flow_only_falls) \
	X(timely_update__patched_has_no_hai) \
	X(timely_update__patched_large_error_is_exact) \
	X(timely_update__every_parameter_at_its_ends)

#define X(fn) CASE(fn)
CASES
#undef X

int main(void)
{
	static const struct ktap_case cases[] = {
#define X(fn) { #fn, case_##fn },
		CASES
#undef X
	};

	return ktap_run(cases, ARRAY_SIZE(cases));
}
