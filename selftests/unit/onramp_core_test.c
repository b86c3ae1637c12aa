// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of onramp_core.h: timelines worked by hand from equations (2) to (4)
 * of the On-Ramp paper. Times in us unless they say ns.
 *
 * Unless a case says otherwise: T 50, g 1/16, max_pause 10 ms, stale after 1 s,
 * final mode, beta 1.
 */
#include <string.h>

#include "onramp_core.h"
#include "ktap.h"

#define US	1000ULL
#define MS	1000000ULL
#define BETA(x)	((u32)((x) * ONRAMP_ONE))

static struct onramp_ctrl_params p;
static struct onramp_ctrl f;
static struct onramp_result r;

static void setup(void)
{
	p = (struct onramp_ctrl_params) {
		.mode = ONRAMP_MODE_FINAL, .gain = ONRAMP_GAIN_DEFAULT,
		.threshold_ns = 50 * US, .max_pause_ns = 10 * MS,
		.stale_ns = 1000 * MS,
	};
	onramp_ctrl_init(&f);
}

/* An OR-ACK at @now for the packet of @tx that ends at @seq; what left last is it. */
static u8 ack_seq(u64 now, u64 tx, u64 tx_cum, s64 owd, u32 seq)
{
	struct onramp_sample s = {
		.now_ns = now * US, .tx_ns = tx * US, .tx_cum_ns = tx_cum * US,
		.sent_ns = tx * US, .owd_ns = owd * (s64)US, .seq = seq,
	};

	onramp_ctrl_update(&f, &p, &s, &r);
	return r.verdict;
}

static u8 ack(u64 now, u64 tx, u64 tx_cum, s64 owd)
{
	return ack_seq(now, tx, tx_cum, owd, (u32)tx);
}

static u64 cum(u64 t)
{
	return onramp_ctrl_cum_pause(&f, t * US) / US;
}

static void mul__rounds_down(void)
{
	CHECK_EQ(q30_mul(1000, ONRAMP_ONE / 2), 500);
	CHECK_EQ(q30_mul(3, ONRAMP_ONE / 2), 1);
	CHECK_EQ(q30_mul(10000000000ULL, ONRAMP_ONE), 10000000000LL);
	CHECK(q30_mul(UINT64_MAX, ONRAMP_ONE) == UINT64_MAX);
	CHECK_EQ(q30_mul(1ULL << 40, 1), 1024);
}

static void ratio__is_limited_to_one(void)
{
	CHECK_EQ(onramp_ratio(0, 1), 0);
	CHECK_EQ(onramp_ratio(1, 1), ONRAMP_ONE);
	CHECK_EQ(onramp_ratio(5, 4), ONRAMP_ONE);
	CHECK_EQ(onramp_ratio(1, 2), ONRAMP_ONE / 2);
	CHECK_EQ(onramp_ratio(30, 40), BETA(0.75));
	CHECK_NEAR(onramp_ratio(5000000000ULL, 10000000000ULL), BETA(0.5), 2);
	CHECK_NEAR(onramp_ratio(1ULL << 62, 3ULL << 61), BETA(2.0 / 3), 2);
	CHECK_EQ(onramp_ratio(0xfffffffeULL, 0xffffffffULL), ONRAMP_ONE - 1);
}

/* Paused 100 to 150, at 120 extended to 200, at 160 shortened to 170: 70 in all. */
static void cum_pause__overlap_and_shorten(void)
{
	setup();
	CHECK_EQ(cum(50), 0);
	onramp_ctrl_set_pause(&f, 100 * US, 150 * US);
	CHECK_EQ(cum(100), 0);
	CHECK_EQ(cum(120), 20);
	onramp_ctrl_set_pause(&f, 120 * US, 200 * US);
	CHECK_EQ(cum(120), 20);
	CHECK_EQ(cum(160), 60);
	onramp_ctrl_set_pause(&f, 160 * US, 170 * US);
	CHECK_EQ(cum(165), 65);
	CHECK_EQ(cum(170), 70);
	CHECK_EQ(cum(1000), 70);
	CHECK(onramp_ctrl_paused(&f, 170 * US - 1));
	CHECK(!onramp_ctrl_paused(&f, 170 * US));
}

/* Expired at 150; the next one is 300 to 340: 90. Ended at once at 320: 70. */
static void cum_pause__expires(void)
{
	setup();
	onramp_ctrl_set_pause(&f, 100 * US, 150 * US);
	onramp_ctrl_set_pause(&f, 300 * US, 340 * US);
	CHECK_EQ(cum(300), 50);
	CHECK_EQ(cum(500), 90);
	onramp_ctrl_set_pause(&f, 320 * US, 0);
	CHECK_EQ(cum(500), 70);
	CHECK(!onramp_ctrl_paused(&f, 320 * US));
	/* A clock that is 5 us behind changes nothing that is counted. */
	onramp_ctrl_set_pause(&f, 315 * US, 330 * US);
	CHECK_EQ(cum(320), 70);
	CHECK_EQ(cum(500), 80);
}

/*
 * B sent at 0, acked at 100 with O = 80: pause 30, to 130. G was sent at 50, before
 * the pause, acked at 140 with O = 90: P_rtt = 30, 90 - 30 - 50 = 10: to 150.
 */
static void update__two_packets_final(void)
{
	setup();
	CHECK_EQ(ack(100, 0, 0, 80), ONRAMP_PAUSED);
	CHECK_EQ(r.pause_ns, 30 * US);
	CHECK_EQ(f.until_ns, 130 * US);
	CHECK_EQ(ack(140, 50, 0, 90), ONRAMP_PAUSED);
	CHECK_EQ(r.p_bg_ns, 0);
	CHECK_EQ(r.p_rtt_ns, 30 * US);
	CHECK_EQ(f.until_ns, 150 * US);
	CHECK_EQ(f.beta, ONRAMP_ONE);
}

/* The same for the strawman: it pauses for the same queue twice, to 140 + 40. */
static void update__two_packets_strawman(void)
{
	setup();
	p.mode = ONRAMP_MODE_STRAWMAN;
	CHECK_EQ(ack(100, 0, 0, 80), ONRAMP_PAUSED);
	CHECK_EQ(f.until_ns, 130 * US);
	CHECK_EQ(ack(140, 50, 0, 90), ONRAMP_PAUSED);
	CHECK_EQ(f.until_ns, 180 * US);
}

/* G after 30 of pause; O_B - O_G = 15: beta_m = 1/2, beta = 15/16 + 1/32. */
static void update__beta(void)
{
	setup();
	ack(100, 0, 0, 80);
	CHECK_EQ(ack(250, 131, 30, 65), ONRAMP_PAUSED);
	CHECK_EQ(r.p_bg_ns, 30 * US);
	CHECK_EQ(r.beta_m, BETA(0.5));
	CHECK_EQ(f.beta, BETA(0.96875));
	CHECK_EQ(r.p_rtt_ns, 0);
	CHECK_EQ(f.until_ns, (250 + 15) * US);
}

/* The lag is weighted: P_rtt = 30, beta = 1/2: 90 - 15 - 50 = 25. */
static void update__beta_weighs_the_lag(void)
{
	setup();
	f.beta = BETA(0.5);
	ack(100, 0, 0, 80);
	CHECK_EQ(ack(140, 50, 0, 90), ONRAMP_PAUSED);
	CHECK_EQ(r.pause_ns, 25 * US);
}

/* A delay that rose although we paused: 0. One that fell by more than we paused: 1. */
static void update__beta_m_is_clamped(void)
{
	setup();
	ack(100, 0, 0, 80);
	ack(250, 131, 30, 95);
	CHECK_EQ(r.p_bg_ns, 30 * US);
	CHECK_EQ(r.beta_m, 0);
	CHECK_EQ(f.beta, BETA(0.9375));

	setup();
	f.beta = BETA(0.5);
	ack(100, 0, 0, 80);
	ack(250, 131, 30, 20);
	CHECK_EQ(r.beta_m, ONRAMP_ONE);
	CHECK_EQ(f.beta, BETA(0.53125));
	CHECK_EQ(r.verdict, ONRAMP_BELOW);
	/* exactly as much as we paused */
	setup();
	f.beta = 0;
	ack(100, 0, 0, 80);
	ack(250, 131, 30, 50);
	CHECK_EQ(r.beta_m, ONRAMP_ONE);
}

/* Below T nothing changes, a pause goes on; T itself is below. */
static void update__threshold(void)
{
	setup();
	CHECK_EQ(ack(100, 0, 0, 50), ONRAMP_BELOW);
	CHECK_EQ(f.until_ns, 0);
	ack(110, 1, 0, 90);
	CHECK_EQ(f.until_ns, 150 * US);
	CHECK_EQ(ack(120, 2, 0, 10), ONRAMP_BELOW);
	CHECK_EQ(f.until_ns, 150 * US);
	CHECK_EQ(ack(121, 3, 0, -500), ONRAMP_BELOW);
	CHECK_EQ(r.owd_ns, 0);
	/* O - beta * P_rtt is exactly T: 50 + 11 paused from 110 to 121 */
	CHECK_EQ(ack(121, 4, 0, 61), ONRAMP_BELOW);
	CHECK_EQ(ack(121, 5, 0, 62), ONRAMP_PAUSED);
	CHECK_EQ(f.until_ns, 122 * US);
}

/* Three OR-ACKs in one RTT, all sent before the pause: the pause stays what it was. */
static void update__many_acks_per_rtt(void)
{
	setup();
	ack(100, 10, 0, 90);
	CHECK_EQ(f.until_ns, 140 * US);
	ack(110, 20, 0, 90);
	CHECK_EQ(f.until_ns, 140 * US);
	ack(120, 30, 0, 90);
	CHECK_EQ(f.until_ns, 140 * US);
	CHECK_EQ(cum(500), 40);
}

static void update__out_of_order(void)
{
	struct onramp_ctrl old;

	setup();
	ack(100, 50, 0, 90);
	old = f;
	CHECK_EQ(ack(105, 40, 0, 200), ONRAMP_STALE);
	CHECK_EQ(ack_seq(105, 50, 0, 200, 50), ONRAMP_DUPLICATE);
	CHECK_EQ(ack_seq(105, 50, 0, 200, 49), ONRAMP_STALE);
	CHECK(!memcmp(&f, &old, sizeof(f)));
	/* the next packet of the same batch; its pause in force counts */
	CHECK_EQ(ack_seq(105, 50, 0, 95, 51), ONRAMP_PAUSED);
	CHECK_EQ(r.p_bg_ns, 0);
	CHECK_EQ(f.until_ns, 145 * US);
}

static void update__sequence_wraps(void)
{
	setup();
	CHECK_EQ(ack_seq(100, 50, 0, 90, 0xfffffff0), ONRAMP_PAUSED);
	CHECK_EQ(ack_seq(101, 50, 0, 95, 0x10), ONRAMP_PAUSED);
	CHECK_EQ(ack_seq(102, 50, 0, 95, 0xfffffff8), ONRAMP_STALE);
}

static void update__implausible(void)
{
	struct onramp_ctrl old;

	setup();
	ack(100, 50, 0, 90);
	old = f;
	CHECK_EQ(ack(100, 101, 0, 90), ONRAMP_IMPLAUSIBLE);
	CHECK_EQ(ack(110, 60, 11, 90), ONRAMP_IMPLAUSIBLE);
	CHECK_EQ(ack(110, 60, 0, 10000001), ONRAMP_IMPLAUSIBLE);
	CHECK_EQ(ack(2000000, 60, 0, 90), ONRAMP_STALE);
	CHECK(!memcmp(&f, &old, sizeof(f)));
	CHECK_EQ(ack(1000060, 60, 0, 10), ONRAMP_BELOW);
}

/* T is 50: a pause of less than 25 says nothing of beta. */
static void update__beta_of_short_pauses(void)
{
	setup();
	ack(100, 50, 0, 80);
	ack(250, 131, 24, 80);
	CHECK_EQ(r.p_bg_ns, 0);
	CHECK_EQ(f.beta, ONRAMP_ONE);

	setup();
	ack(100, 50, 0, 80);
	ack(250, 131, 25, 80);
	CHECK_EQ(r.p_bg_ns, 25 * US);
	CHECK_EQ(f.beta, ONRAMP_ONE - ONRAMP_GAIN_DEFAULT);
}

/*
 * The pause of 30 took 3, but the queue is empty: it was too long, and beta must not be
 * smaller for it. Below T it may have been empty.
 */
static void update__beta_of_an_empty_queue(void)
{
	setup();
	p.empty_ns = 10 * US;
	f.beta = ONRAMP_ONE / 2;
	ack(100, 50, 0, 12);
	onramp_ctrl_set_pause(&f, 100 * US, 130 * US);
	ack(250, 131, 30, 9);
	CHECK_EQ(r.beta_m, ONRAMP_ONE);
	CHECK_EQ(f.beta, ONRAMP_ONE / 2 + ONRAMP_GAIN_DEFAULT / 2);

	setup();
	p.empty_ns = 10 * US;
	f.beta = ONRAMP_ONE / 2;
	ack(100, 50, 0, 16);
	onramp_ctrl_set_pause(&f, 100 * US, 130 * US);
	ack(250, 131, 30, 10);
	CHECK_EQ(r.beta_m, ONRAMP_ONE / 5);
	CHECK_EQ(f.beta, ONRAMP_ONE / 2);
	/* At T it was not. */
	setup();
	p.empty_ns = 10 * US;
	f.beta = ONRAMP_ONE / 2;
	ack(100, 50, 0, 56);
	onramp_ctrl_set_pause(&f, 100 * US, 130 * US);
	ack(250, 131, 30, 50);
	CHECK_EQ(r.beta_m, ONRAMP_ONE / 5);
	CHECK(f.beta < ONRAMP_ONE / 2);
}

/* B was sent more than 1 s ago: what the delay did since has other reasons. */
static void update__old_reference(void)
{
	setup();
	ack(100, 0, 0, 80);
	CHECK_EQ(ack(1000100, 1000001, 30, 10), ONRAMP_BELOW);
	CHECK_EQ(r.p_bg_ns, 0);
	CHECK_EQ(f.beta, ONRAMP_ONE);

	setup();
	ack(100, 0, 0, 80);
	onramp_ctrl_forget(&f);
	ack(250, 131, 30, 65);
	CHECK_EQ(r.p_bg_ns, 0);
}

static void update__off(void)
{
	setup();
	p.mode = ONRAMP_MODE_OFF;
	CHECK_EQ(ack(100, 0, 0, 80000), ONRAMP_IS_OFF);
	CHECK_EQ(f.until_ns, 0);
	CHECK_EQ(onramp_ctrl_inherit(&f, &p, 80 * US, 100 * US, 100 * US), 0);
}

/*
 * (3) and (4) as printed, T = 50, g = 1/16. What the final mode leaves out counts: a pause of 20,
 * below T / 2; an empty queue; O_G below T; time without data does not.
 *
 *	B: O = 80, G: O = 75 after a pause of 20: beta_m = 5 / 20, beta = 15/16 + 1/64 = 0.953125
 *	then P_rtt = 32, O = 100: 100 - 50 - 0.953125 * 32 = 19.5
 *	O_B = 12, O_G = 9 after a pause of 30: beta_m = 0.1, beta = 15/16 * 1/2 + 0.1 / 16 = 0.475
 *	O_B = 20, O_G = 10 after a pause of 40, 2 s later: beta_m = 0.25, beta = 0.484375
 */
static void update__printed(void)
{
	struct onramp_sample s = {
		.now_ns = 100 * US, .owd_ns = 120 * US, .idle_ns = 60 * US, .seq = 1,
	};

	setup();
	p.mode = ONRAMP_MODE_PRINTED;
	ack(100, 50, 0, 80);
	CHECK_EQ(ack(250, 131, 20, 75), ONRAMP_PAUSED);
	CHECK_EQ(r.p_bg_ns, 20 * US);
	CHECK_EQ(r.beta_m, BETA(0.25));
	CHECK_EQ(f.beta, BETA(0.953125));
	CHECK_EQ(r.p_rtt_ns, 10 * US);
	CHECK_NEAR(r.pause_ns, 15469, 1);
	onramp_ctrl_set_pause(&f, 250 * US, 272 * US);
	CHECK_EQ(ack(280, 132, 20, 100), ONRAMP_PAUSED);
	CHECK_EQ(r.p_bg_ns, 0);
	CHECK_EQ(r.p_rtt_ns, 32 * US);
	CHECK_EQ(r.pause_ns, 19500);

	setup();
	p.mode = ONRAMP_MODE_PRINTED;
	p.empty_ns = 10 * US;
	f.beta = ONRAMP_ONE / 2;
	ack(100, 50, 0, 12);
	onramp_ctrl_set_pause(&f, 100 * US, 130 * US);
	CHECK_EQ(ack(250, 131, 30, 9), ONRAMP_BELOW);
	CHECK_NEAR(r.beta_m, BETA(0.1), 1);
	CHECK_NEAR(f.beta, BETA(0.475), 2);

	setup();
	p.mode = ONRAMP_MODE_PRINTED;
	f.beta = ONRAMP_ONE / 2;
	ack(100, 50, 0, 20);
	onramp_ctrl_set_pause(&f, 100 * US, 140 * US);
	CHECK_EQ(ack(2000100, 2000050, 40, 10), ONRAMP_BELOW);
	CHECK_EQ(r.beta_m, BETA(0.25));
	CHECK_EQ(f.beta, BETA(0.484375));

	setup();
	p.mode = ONRAMP_MODE_PRINTED;
	onramp_ctrl_update(&f, &p, &s, &r);
	CHECK_EQ(r.pause_ns, 70 * US);
}

/* max_pause 100: held from 100 on, so not beyond 200, whatever comes. */
static void update__progress(void)
{
	struct onramp_sample s = { .owd_ns = 500 * US };
	u64 t;

	setup();
	p.mode = ONRAMP_MODE_STRAWMAN;
	p.max_pause_ns = 100 * US;
	for (t = 100; t < 300; t += 10) {
		s.now_ns = t * US;
		s.tx_ns = (t - 99) * US;
		s.sent_ns = 99 * US;
		s.seq++;
		onramp_ctrl_update(&f, &p, &s, &r);
		CHECK_EQ(r.verdict, t < 200 ? ONRAMP_CAPPED : ONRAMP_PROGRESS);
		CHECK_EQ(f.until_ns, (t < 200 ? 200 : t) * US);
	}
	CHECK_EQ(cum(1000), 100);
	/* A packet has left: the next one may be held again. */
	s.now_ns = 300 * US;
	s.tx_ns = 250 * US;
	s.sent_ns = 250 * US;
	onramp_ctrl_update(&f, &p, &s, &r);
	CHECK_EQ(r.verdict, ONRAMP_CAPPED);
	CHECK_EQ(f.until_ns, 400 * US);
}

/*
 * Sent at 0, acked at 100, O = 120. A flow that has had something to send pauses for 70. Nothing
 * was left to send since 40: 60 of that are over. With a pause of 80 in that time 80 are, times
 * beta. The strawman knows of neither.
 */
static void update__idle(void)
{
	struct onramp_sample s = {
		.now_ns = 100 * US, .owd_ns = 120 * US, .seq = 1,
	};

	setup();
	onramp_ctrl_update(&f, &p, &s, &r);
	CHECK_EQ(r.pause_ns, 70 * US);
	setup();
	s.idle_ns = 60 * US;
	onramp_ctrl_update(&f, &p, &s, &r);
	CHECK_EQ(r.verdict, ONRAMP_PAUSED);
	CHECK_EQ(r.pause_ns, 10 * US);
	CHECK_EQ(f.until_ns, 110 * US);
	setup();
	s.idle_ns = 70 * US;
	onramp_ctrl_update(&f, &p, &s, &r);
	CHECK_EQ(r.verdict, ONRAMP_BELOW);
	CHECK_EQ(f.until_ns, 0);
	/* Pauses and idle time are mostly the same time. */
	setup();
	onramp_ctrl_set_pause(&f, 10 * US, 90 * US);
	s.owd_ns = 150 * US;
	onramp_ctrl_update(&f, &p, &s, &r);
	CHECK_EQ(r.pause_ns, 20 * US);
	setup();
	f.beta = ONRAMP_ONE / 2;
	onramp_ctrl_set_pause(&f, 10 * US, 90 * US);
	onramp_ctrl_update(&f, &p, &s, &r);
	CHECK_EQ(r.pause_ns, 30 * US);
	setup();
	p.mode = ONRAMP_MODE_STRAWMAN;
	onramp_ctrl_update(&f, &p, &s, &r);
	CHECK_EQ(r.pause_ns, 100 * US);
}

/* 100 measured 20 ago leave 80 - 50; after 50 nothing, and nothing if stale. */
static void inherit__while_fresh(void)
{
	setup();
	CHECK_EQ(onramp_ctrl_inherit(&f, &p, 100 * US, 480 * US, 500 * US), 30 * US);
	CHECK_EQ(f.until_ns, 530 * US);
	CHECK_EQ(f.beta, ONRAMP_ONE);
	setup();
	p.mode = ONRAMP_MODE_STRAWMAN;
	CHECK_EQ(onramp_ctrl_inherit(&f, &p, 100 * US, 480 * US, 500 * US), 30 * US);
	setup();
	CHECK_EQ(onramp_ctrl_inherit(&f, &p, 100 * US, 450 * US, 500 * US), 0);
	CHECK_EQ(onramp_ctrl_inherit(&f, &p, 100 * US, 501 * US, 500 * US), 0);
	p.stale_ns = 10 * US;
	CHECK_EQ(onramp_ctrl_inherit(&f, &p, 100 * US, 489 * US, 500 * US), 0);
	CHECK_EQ(onramp_ctrl_inherit(&f, &p, 100 * US, 490 * US, 500 * US), 40 * US);
	setup();
	CHECK_EQ(onramp_ctrl_inherit(&f, &p, ONRAMP_MAX_NS + 1, 500 * US, 500 * US), 0);
	CHECK_EQ(onramp_ctrl_inherit(&f, &p, ONRAMP_MAX_NS, 500 * US, 500 * US), 10 * MS);
	CHECK_EQ(f.until_ns, 500 * US + 10 * MS);
}

/* 1448 of 1538 bytes at 10 Gbit/s: 1230.4 ns for one packet, 64 KB in 55.7 us. */
static void own_ns__of_a_batch(void)
{
	u64 q = onramp_byte_time(1250000000, 1448, 1538);

	CHECK_NEAR(onramp_own_ns(q, 1000, 2448), 1230, 1);
	CHECK_NEAR(onramp_own_ns(q, 0xffffff00, 0xffffff00 + 65160), 55368, 2);
	CHECK_EQ(onramp_own_ns(q, 5, 5), 0);
	CHECK_EQ(onramp_own_ns(onramp_byte_time(0, 1448, 1538), 0, 1448), 0);
	CHECK_EQ(onramp_own_ns(onramp_byte_time(1250000000, 0, 1), 0, 1448), 0);
	/* saturated: 1 ms per byte, 2^20 bytes */
	CHECK_EQ(onramp_byte_time(1, 1, 66000), 1LL << 40);
	CHECK_EQ(onramp_own_ns(1ULL << 40, 0, 1U << 31), 1LL << 40);
}

int main(void)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(mul__rounds_down),
		KTAP_CASE(ratio__is_limited_to_one),
		KTAP_CASE(cum_pause__overlap_and_shorten),
		KTAP_CASE(cum_pause__expires),
		KTAP_CASE(update__two_packets_final),
		KTAP_CASE(update__two_packets_strawman),
		KTAP_CASE(update__beta),
		KTAP_CASE(update__beta_weighs_the_lag),
		KTAP_CASE(update__beta_m_is_clamped),
		KTAP_CASE(update__threshold),
		KTAP_CASE(update__many_acks_per_rtt),
		KTAP_CASE(update__out_of_order),
		KTAP_CASE(update__sequence_wraps),
		KTAP_CASE(update__implausible),
		KTAP_CASE(update__beta_of_short_pauses),
		KTAP_CASE(update__beta_of_an_empty_queue),
		KTAP_CASE(update__old_reference),
		KTAP_CASE(update__off),
		KTAP_CASE(update__printed),
		KTAP_CASE(update__progress),
		KTAP_CASE(update__idle),
		KTAP_CASE(inherit__while_fresh),
		KTAP_CASE(own_ns__of_a_batch),
	};

	return ktap_run(cases, ARRAY_SIZE(cases));
}
