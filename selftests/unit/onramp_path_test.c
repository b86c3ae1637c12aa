// SPDX-License-Identifier: GPL-2.0
/* onramp_path.h by cases computed by hand; in the closed loop: onramp_loop_test.c. */
#include <string.h>

#include "onramp_path.h"
#include "ktap.h"

#define US	1000ULL
#define MS	1000000ULL
#define SEC	1000000000ULL

static struct onramp_path p;
static struct onramp_conn_path v;
static struct onramp_ctrl f;
static struct onramp_ctrl_params core;
static struct onramp_path_result path_res;
static struct onramp_result res;
static u64 now;
static u32 seq;
static u8 mode;

static void setup(void)
{
	memset(&p, 0, sizeof(p));
	memset(&v, 0, sizeof(v));
	onramp_ctrl_init(&f);
	now = 1000 * SEC;
	seq = 0;
	mode = ONRAMP_MODE_FINAL;
}

/* Another connection of the same path. */
static void setup_view(struct onramp_conn_path *view, struct onramp_ctrl *ctrl)
{
	memset(view, 0, sizeof(*view));
	onramp_ctrl_init(ctrl);
}

/* An OR-ACK now, for a packet that left rtt_ns ago; delays in ns. */
static void ack_to(struct onramp_conn_path *view, struct onramp_ctrl *ctrl,
		   const struct onramp_delay *set, u64 rtt_ns, s64 owd_ns, u64 cum_ns)
{
	struct onramp_delay d = *set;
	struct onramp_sample s = {
		.now_ns = now, .tx_ns = now - rtt_ns, .sent_ns = now - rtt_ns,
		.tx_cum_ns = cum_ns, .seq = ++seq,
	};

	core = (struct onramp_ctrl_params) {
		.mode = mode, .gain = ONRAMP_GAIN_DEFAULT,
		.threshold_ns = d.is_auto ? 0 : 50 * US,
		.max_pause_ns = 20 * MS, .stale_ns = SEC,
	};
	d.owd_ns = owd_ns;
	d.trip.now_ns = now;
	d.trip.out_ns = s.tx_ns;
	d.trip.tx_ns = s.tx_ns;
	onramp_path_update(&p, view, ctrl, &core, &s, &d, &path_res, &res);
}

static const struct onramp_delay by_hand = { .bound = true };
static const struct onramp_delay automatic = { .bound = true, .is_auto = true };

static void ack(const struct onramp_delay *set, u64 rtt_ns, s64 owd_ns)
{
	ack_to(&v, &f, set, rtt_ns, owd_ns, onramp_ctrl_cum_pause(&f, now - rtt_ns));
}

static void low__of_one_to_two_halves(void)
{
	struct onramp_low l = { .from_ns = 0 };

	onramp_low_add(&l, 10, 100, 7);
	CHECK_EQ(onramp_low(&l), 7);
	onramp_low_add(&l, 10, 101, 9);
	CHECK_EQ(onramp_low(&l), 7);
	/* The second half: the first one is kept, */
	onramp_low_add(&l, 10, 110, 8);
	CHECK_EQ(onramp_low(&l), 7);
	/* until the third. */
	onramp_low_add(&l, 10, 120, 10);
	CHECK_EQ(onramp_low(&l), 8);
	onramp_low_add(&l, 10, 129, -3);
	CHECK_EQ(onramp_low(&l), -3);
	/* Two halves without a value: nothing is left. */
	onramp_low_add(&l, 10, 140, 50);
	CHECK_EQ(onramp_low(&l), 50);
}

static void trip__what_is_possible(void)
{
	struct onramp_trip t = { .now_ns = 1000, .out_ns = 500, .tx_ns = 500 };

	CHECK(onramp_trip_possible(&t));
	t.tx_ns = 1000;
	CHECK(onramp_trip_possible(&t));
	t.tx_ns = 1001;
	CHECK(!onramp_trip_possible(&t));
	t.tx_ns = 499;
	CHECK(!onramp_trip_possible(&t));
	/* Held for longer than it was away, by more than clocks differ. */
	t.tx_ns = 500;
	t.hold_ns = 500;
	CHECK(onramp_trip_possible(&t));
	t.hold_ns = 502;
	CHECK(!onramp_trip_possible(&t));
	t = (struct onramp_trip) { .now_ns = 10 * MS, .out_ns = 1, .tx_ns = 1,
				   .hold_ns = 10 * MS + 10 * US };
	CHECK(onramp_trip_possible(&t));
	t.hold_ns = 10 * MS + 25 * US;
	CHECK(!onramp_trip_possible(&t));
}

/* A value of before is one for half of the time, and none of those that came since. */
static void low__starts(void)
{
	struct onramp_low l;

	onramp_low_start(&l, 100, 7);
	CHECK_EQ(onramp_low(&l), 7);
	CHECK(l.now > S64_MAX / 4);
	onramp_low_add(&l, 10, 109, 20);
	CHECK_EQ(onramp_low(&l), 7);
	CHECK_EQ(l.now, 20);
	onramp_low_add(&l, 10, 110, 30);
	CHECK_EQ(onramp_low(&l), 20);
	/* Nothing has come for longer than that. */
	onramp_low_start(&l, 100, 7);
	onramp_low_add(&l, 10, 120, 30);
	CHECK_EQ(onramp_low(&l), 30);
	/* A route that becomes longer. */
	onramp_low_start(&l, 100, 7);
	onramp_low_raise(&l, 5);
	CHECK_EQ(onramp_low(&l), 12);
}

static struct onramp_trip trip_of(u64 rtt_ns, u64 own_ns)
{
	return (struct onramp_trip) {
		.now_ns = now, .out_ns = now - rtt_ns, .tx_ns = now - rtt_ns + own_ns,
	};
}

static void trip__of_a_proof(void)
{
	struct onramp_trip t;

	setup();
	/* Of a handshake. */
	onramp_low_start(&p.rtt, now, 50 * US);
	p.wire = p.rtt;
	now += MS;
	t = trip_of(400 * US, 100 * US);
	onramp_path_trip(&p, &t);
	CHECK_EQ(onramp_low(&p.wire), 50 * US);
	CHECK_EQ(onramp_path_proven(&p, &t), 400 * US);
	CHECK_EQ(onramp_low(&p.rtt), 50 * US);
	CHECK_EQ(onramp_low(&p.wire), 300 * US);
	/* A later one that met something keeps what was measured. */
	t = trip_of(600 * US, 100 * US);
	onramp_path_proven(&p, &t);
	CHECK_EQ(onramp_low(&p.wire), 300 * US);
}

/* The lowest round trip is 20: of 120, 100 can be queue, whatever the clocks say. */
static void limit__by_the_round_trip(void)
{
	setup();
	ack(&by_hand, 20 * US, 0);
	CHECK_EQ(path_res.limit_ns, 0);
	now += MS;
	ack(&by_hand, 120 * US, 20 * MS);
	CHECK_EQ(path_res.limit_ns, 100 * US);
	CHECK(path_res.limited);
	CHECK_EQ(res.owd_ns, 100 * US);
	CHECK_EQ(res.pause_ns, 50 * US);
	now += MS;
	ack(&by_hand, 120 * US, 80 * US);
	CHECK(!path_res.limited);
	CHECK_EQ(res.owd_ns, 80 * US);
	now += MS;
	ack(&by_hand, 120 * US, -80 * (s64)US);
	CHECK_EQ(res.owd_ns, 0);
	CHECK_EQ(onramp_low(&v.owd), 0);
}

/* What the receiver has held is no queue; what it claims to have held may be too much. */
/*
 * A path that is congested from its first packet on: 20 us, and a queue of 300 us at least. With a
 * seed the lowest round trip is known to contain that.
 */
static void limit__without_the_queue_that_stood(void)
{
	struct onramp_delay seeded = automatic;

	setup();
	ack(&automatic, 320 * US, 0);
	CHECK_EQ(path_res.limit_ns, 0);
	CHECK_EQ(path_res.threshold_ns, 150 * US + 160 * US);
	seeded.seeded = true;
	now += MS;
	ack(&seeded, 420 * US, 400 * US);
	CHECK_EQ(path_res.limit_ns, 400 * US);
	CHECK(!path_res.limited);
	CHECK_EQ(res.owd_ns, 400 * US);
	CHECK_EQ(path_res.back_ns, 0);
	CHECK_EQ(path_res.threshold_ns, 150 * US + 20 * US);
	now += MS;
	ack(&seeded, 470 * US, 400 * US);
	CHECK_EQ(path_res.back_ns, 50 * US);
	/* The queue falls, and with it what the lowest round trip contains. */
	now += MS;
	ack(&seeded, 120 * US, 100 * US);
	CHECK_EQ(path_res.limit_ns, 100 * US);
	now += MS;
	ack(&seeded, 420 * US, 400 * US);
	CHECK_EQ(path_res.limit_ns, 400 * US);
	now += MS;
	ack(&seeded, 20 * US, 0);
	CHECK_EQ(onramp_path_stood(&p), 0);
	CHECK_EQ(path_res.limit_ns, 0);
	/* The lowest round trip has met less of it than any packet since the seed. */
	setup();
	ack(&automatic, 320 * US, 0);
	now += MS;
	ack(&seeded, 440 * US, 400 * US);
	CHECK_EQ(onramp_path_stood(&p), 280 * US);
	CHECK_EQ(path_res.limit_ns, 400 * US);
	now += MS;
	ack(&seeded, 420 * US, 400 * US);
	CHECK_EQ(onramp_path_stood(&p), 300 * US);
	CHECK_EQ(path_res.threshold_ns, 150 * US + 20 * US);
	/* It has met none. */
	setup();
	ack(&automatic, 20 * US, 0);
	now += MS;
	ack(&seeded, 440 * US, 400 * US);
	CHECK_EQ(onramp_path_stood(&p), 0);
	CHECK_EQ(path_res.limit_ns, 420 * US);
	/* The seed may be too low by 10 us. */
	setup();
	ack(&automatic, 320 * US, 0);
	now += MS;
	seeded.error_ns = 10 * US;
	ack(&seeded, 415 * US, 400 * US);
	CHECK_EQ(onramp_path_stood(&p), 295 * US);
	/* It is too low by 80 us. */
	now += MS;
	ack(&seeded, 320 * US, 400 * US);
	CHECK_EQ(onramp_path_stood(&p), 0);
	seeded.error_ns = 0;
	/* A round trip of before the queue, and a seed that is too low. */
	setup();
	ack(&automatic, 20 * US, 0);
	now += MS;
	ack(&seeded, 320 * US, 400 * US);
	CHECK_EQ(onramp_path_stood(&p), 0);
	CHECK_EQ(path_res.limit_ns, 300 * US);
	/* Without the seed all is as before. */
	setup();
	ack(&automatic, 320 * US, 0);
	now += MS;
	ack(&seeded, 420 * US, 400 * US);
	CHECK_EQ(path_res.limit_ns, 400 * US);
	now += MS;
	ack(&automatic, 420 * US, 400 * US);
	CHECK_EQ(path_res.limit_ns, 100 * US);
}

static void limit__without_the_hold_time(void)
{
	struct onramp_delay d = by_hand;

	setup();
	ack(&d, 20 * US, 0);
	now += MS;
	d.trip.hold_ns = 512 * US;
	ack(&d, 632 * US, MS);
	CHECK_EQ(path_res.limit_ns, 101 * US);
	now += MS;
	/* Cut by less than its error. */
	d.error_ns = 2 * US;
	ack(&d, 632 * US, 103 * US);
	CHECK(!path_res.limited);
	ack(&d, 632 * US, 104 * US);
	CHECK(path_res.limited);
}

/* An OR-ACK, sooner after the packet was on the wire than after the qdisc let go of it. */
static void ack_after(u64 out_ns, u64 wire_ns, s64 owd_ns, u64 error_ns)
{
	struct onramp_sample s = { .now_ns = now, .tx_ns = now - wire_ns, .seq = ++seq };
	struct onramp_delay d = {
		.owd_ns = owd_ns, .error_ns = error_ns, .bound = true,
		.trip = { .now_ns = now, .out_ns = now - out_ns, .tx_ns = now - wire_ns },
	};

	core = (struct onramp_ctrl_params) { .threshold_ns = 50 * US, .stale_ns = SEC,
					.max_pause_ns = MS };
	onramp_path_update(&p, &v, &f, &core, &s, &d, &path_res, &res);
}

/* The wait for the own link is in no one-way delay, and allows none. */
static void limit__without_the_own_link(void)
{
	setup();
	ack(&by_hand, 20 * US, 0);
	now += MS;
	ack_after(1100 * US, 50 * US, MS, 0);
	CHECK_EQ(path_res.limit_ns, 30 * US);
	CHECK_EQ(res.owd_ns, 30 * US);
	CHECK(path_res.limited);
	/* Within the error of the baseline it changes nothing. */
	now += MS;
	ack_after(1100 * US, 50 * US, 32 * US, 2 * US);
	CHECK_EQ(res.owd_ns, 32 * US);
	CHECK(!path_res.limited);
	now += MS;
	ack_after(1100 * US, 50 * US, 35 * US, 2 * US);
	CHECK_EQ(res.owd_ns, 32 * US);
	/* The lowest is forgotten like that of the round trip. */
	now += 61 * SEC;
	ack_after(60 * US, 50 * US, 0, 0);
	now += MS;
	ack_after(1100 * US, 50 * US, MS, 0);
	CHECK_EQ(path_res.limit_ns, 0);
}

/* The round trip is from the qdisc: a model that was slow leaves it as the limit. */
static void limit__without_the_model(void)
{
	setup();
	ack(&by_hand, 20 * US, 0);
	now += MS;
	ack_after(20 * US, 3 * US, 0, 0);
	now += MS;
	ack(&by_hand, 100 * US, MS);
	CHECK_EQ(path_res.limit_ns, 80 * US);
	now += MS;
	ack(&by_hand, 20 * US, MS);
	CHECK_EQ(path_res.limit_ns, 0);
}

/* Whoever knows that clocks and links are right may do without. */
static void limit__may_be_left_out(void)
{
	struct onramp_delay d = { .bound = false };

	setup();
	ack(&d, 20 * US, 0);
	now += MS;
	ack(&d, 20 * US, 5 * MS);
	CHECK_EQ(res.owd_ns, 5 * MS);
	CHECK(!path_res.limited);
}

/* A lowest round trip is forgotten after 60 s at most. */
static void limit__forgets(void)
{
	setup();
	ack(&by_hand, 20 * US, 0);
	now += 29 * SEC;
	ack(&by_hand, 120 * US, 0);
	now += SEC;
	ack(&by_hand, 120 * US, MS);
	CHECK_EQ(path_res.limit_ns, 100 * US);
	now += 30 * SEC;
	ack(&by_hand, 120 * US, MS);
	CHECK_EQ(path_res.limit_ns, 0);
	/* So it is where the model was slow. */
	now += MS;
	ack_after(120 * US, 3 * US, 0, 0);
	now += MS;
	ack(&by_hand, 120 * US, MS);
	CHECK_EQ(path_res.limit_ns, 0);
}

/* With nobound and T by hand, T is one of the whole delay. */
static void absolute__whole(void)
{
	struct onramp_delay d = { .absolute = true };

	setup();
	ack(&d, 620 * US, 300 * US);
	CHECK_EQ(res.owd_ns, 300 * US);
	CHECK_EQ(res.pause_ns, 250 * US);
	now += MS;
	ack(&d, 620 * US, 5 * SEC);
	CHECK_EQ(res.owd_ns, 5 * SEC);

	setup();
	d.is_auto = true;
	ack(&d, 620 * US, 300 * US);
	CHECK_EQ(res.owd_ns, 0);
}

/* T = 2 sigma + min OWD, section 7.1: what counts is the excess over that. */
static void absolute__above_the_lowest(bool is_auto)
{
	struct onramp_delay d = { .absolute = true, .bound = true, .is_auto = is_auto };

	setup();
	ack(&d, 620 * US, 300 * US);
	CHECK_EQ(res.owd_ns, 0);
	now += MS;
	ack(&d, 820 * US, 400 * US);
	CHECK_EQ(res.owd_ns, 100 * US);
	now += MS;
	ack(&d, 820 * US, 5 * SEC);
	CHECK_EQ(res.owd_ns, 200 * US);
	CHECK_EQ(path_res.limit_ns, 200 * US);
}

/* The baseline knows that the route has become longer; it never raises a delay. */
static void absolute__above_the_learned(void)
{
	struct onramp_delay d = { .absolute = true, .bound = true, .is_auto = true };

	setup();
	ack(&d, 620 * US, 300 * US);
	now += MS;
	d.learned_ns = 20 * US;
	ack(&d, 820 * US, 400 * US);
	CHECK_EQ(res.owd_ns, 100 * US);
	d.learned = true;
	now += MS;
	ack(&d, 820 * US, 400 * US);
	CHECK_EQ(res.owd_ns, 20 * US);
	d.learned_ns = 150 * US;
	now += MS;
	ack(&d, 820 * US, 400 * US);
	CHECK_EQ(res.owd_ns, 100 * US);
	/* The whole delay. */
	d.bound = false;
	d.is_auto = false;
	d.learned_ns = 0;
	now += MS;
	ack(&d, 820 * US, 400 * US);
	CHECK_EQ(res.owd_ns, 400 * US);
}

static void absolute__by_hand(void)
{
	absolute__above_the_lowest(false);
}

static void absolute__auto(void)
{
	absolute__above_the_lowest(true);
}

/* T: 64 KB, 20 us at least, 0.6 ms at most, or 16 KB; 150 us if nobody knows. */
static void auto__unit(void)
{
	CHECK_EQ(onramp_auto_unit(0), 150 * US);
	CHECK_EQ(onramp_auto_unit(onramp_byte_time(12500000000ULL, 1, 1)), 20 * US);
	CHECK_NEAR(onramp_auto_unit(onramp_byte_time(1250000000ULL, 1, 1)), 52428, 1);
	CHECK_NEAR(onramp_auto_unit(onramp_byte_time(125000000ULL, 1, 1)), 524288, 10);
	CHECK_EQ(onramp_auto_unit(onramp_byte_time(62500000ULL, 1, 1)), 600 * US);
	CHECK_NEAR(onramp_auto_unit(onramp_byte_time(12500000ULL, 1, 1)), 1310720, 100);
}

/* An OR-ACK about the batch that left at 1000 s, of its first bytes, which arrived at rx_ns. */
static void ack_train(const struct onramp_delay *set, u64 out_ns, u32 bytes, u64 rx_ns)
{
	struct onramp_delay d = *set;

	d.rx_ns = rx_ns;
	seq = bytes - 1;
	ack(&d, now - out_ns, 0);
}

/* Two OR-ACKs about one batch: bytes after the first one, ns later. */
static void train(const struct onramp_delay *set, u32 bytes, u64 took_ns)
{
	now += 20 * MS;
	ack_train(set, now - 20 * US, 1448, 7 * SEC);
	now += 20 * US;
	ack_train(set, now - 40 * US, 1448 + bytes, 7 * SEC + took_ns);
}

/* 32 KB in 8 ns each and more are of a slow link, and T has its unit. */
static void slow__by_the_arrival_of_a_batch(void)
{
	setup();
	train(&automatic, 32767, 32767 * 9);
	CHECK_EQ(p.slow_bps, 0);
	CHECK_EQ(path_res.threshold_ns, 170 * US);
	train(&automatic, 32768, 32768 * 8 - 1);
	CHECK_EQ(p.slow_bps, 0);
	CHECK_NEAR(path_res.threshold_ns, 65536 * 8 + 20 * US, 3);
	setup();
	train(&automatic, 32768, 32768 * 8);
	CHECK_EQ(p.slow_bps, 125000000);
	CHECK_EQ(path_res.threshold_ns, 65536 * 8 + 20 * US);
	/* 100 Mbit/s: as on a slow link of one's own, 16 KB. */
	setup();
	train(&automatic, 60000, 60000 * 85ULL);
	CHECK_EQ(p.slow_bps, 11764705);
	CHECK_EQ(path_res.threshold_ns, 16384 * 85 + 20 * US);
}

/* By the fastest arrival of 30 to 60 s: packets of others were between those of slower ones. */
static void slow__by_the_fastest(void)
{
	int i;

	setup();
	train(&automatic, 40000, 40000 * 20);
	CHECK_EQ(p.slow_bps, 50000000);
	train(&automatic, 40000, 40000 * 10);
	CHECK_EQ(p.slow_bps, 100000000);
	train(&automatic, 40000, 40000 * 20);
	CHECK_EQ(p.slow_bps, 100000000);
	train(&automatic, 40000, 0);
	CHECK_EQ(p.slow_bps, 0);
	for (i = 0; i < 2; i++) {
		CHECK_EQ(p.slow_bps, 0);
		now += ONRAMP_PATH_LOW_NS;
		train(&automatic, 40000, 40000 * 10);
	}
	CHECK_EQ(p.slow_bps, 100000000);
}

/* Packets of two batches, or in another order, or a clock that was set, tell nothing. */
static void slow__within_a_batch(void)
{
	setup();
	ack_train(&automatic, now - 20 * US, 1448, 7 * SEC);
	now += MS;
	ack_train(&automatic, now - 20 * US, 50000, 7 * SEC + MS);
	CHECK_EQ(p.byte.from_ns, 0);
	ack_train(&automatic, now - 20 * US, 1448, 7 * SEC + 2 * MS);
	CHECK_EQ(p.byte.from_ns, 0);
	ack_train(&automatic, now - 20 * US, 90000, 7 * SEC);
	CHECK_EQ(p.byte.from_ns, 0);
	ack_train(&automatic, now - 20 * US, 90000, 17 * SEC + MS + 1);
	CHECK_EQ(p.byte.from_ns, 0);
	ack_train(&automatic, now - 20 * US, 90000, 17 * SEC + MS);
	CHECK_EQ(p.byte.from_ns, now);
}

/*
 * The speed of the own link is unknown, and a fast path is measured: T has its unit. With noise the
 * unit is longer, up to 150 us.
 */
static void slow__unknown_and_fast(void)
{
	struct onramp_delay d = automatic;

	setup();
	train(&automatic, 40000, 32000);
	CHECK_EQ(p.slow_bps, 0);
	CHECK_NEAR(path_res.threshold_ns, 65536 * 8 / 10 + 20 * US, 1);
	/* 20 us at least, also where an interrupt stamps all of a batch. */
	train(&automatic, 40000, 4000);
	CHECK_EQ(path_res.threshold_ns, 40 * US);
	train(&automatic, 40000, 0);
	CHECK_EQ(path_res.threshold_ns, 40 * US);
	v.step_ns = 30 * US;
	ack(&automatic, 20 * US, 0);
	CHECK_EQ(path_res.threshold_ns, 80 * US);
	v.step_ns = MS;
	ack(&automatic, 20 * US, 0);
	CHECK_EQ(path_res.threshold_ns, 170 * US);
	/* A known link has its own, and is no slower for a later one of 2.5 Gbit/s. */
	setup();
	v.step_ns = MS;
	d.byte_ns = onramp_byte_time(1250000000ULL, 1, 1);
	train(&d, 40000, 128000);
	CHECK_NEAR(path_res.threshold_ns, 52428 + 20 * US, 1);
}

/* The own link may be slower still, and known. */
static void slow__as_the_own_link(void)
{
	struct onramp_delay d = automatic;

	setup();
	d.byte_ns = onramp_byte_time(125000000ULL, 1, 1);
	train(&d, 32768, 32768 * 9);
	CHECK_NEAR(path_res.threshold_ns, 65536 * 9 + 20 * US, 1);
	setup();
	d.byte_ns = onramp_byte_time(12500000ULL, 1, 1);
	train(&d, 32768, 32768 * 9);
	CHECK_NEAR(path_res.threshold_ns, 1310720 + 20 * US, 100);
}

/* The first silences may be long if all of the round trip is queue. */
static void drain__of_a_queue(void)
{
	struct onramp_owd o = {};

	setup();
	CHECK_EQ(onramp_path_drain_ns(&p, &o, 80 * MS), ONRAMP_DRAIN_MAX_NS);
	onramp_low_add(&p.rtt, ONRAMP_PATH_LOW_NS, now, 10 * MS);
	CHECK_EQ(onramp_path_drain_ns(&p, &o, 80 * MS), ONRAMP_DRAIN_FIRST_NS);
	CHECK_EQ(onramp_path_drain_ns(&p, &o, 80 * MS - 1), ONRAMP_DRAIN_MAX_NS);
	o.supported = true;
	CHECK_EQ(onramp_path_drain_ns(&p, &o, 80 * MS), ONRAMP_DRAIN_MAX_NS);
}

/* Half of the delay at which packets were lost, for round trip and unit: 20 of 150 us. */
static void lost__limits_the_unit(void)
{
	struct onramp_delay d = automatic;

	setup();
	CHECK(!onramp_path_lost(&p, now));
	ack(&automatic, 20 * US, 0);
	CHECK_EQ(path_res.threshold_ns, 170 * US);
	/* No queue explains it. */
	CHECK(!onramp_path_lost(&p, now));
	now += 10 * US;
	ack(&automatic, 120 * US, 80 * US);
	now += 10 * US;
	ack(&automatic, 30 * US, 10 * US);
	CHECK_EQ(path_res.threshold_ns, 170 * US);
	CHECK(onramp_path_lost(&p, now));
	/* The slack stays. */
	p.slack_ns = 7 * US;
	p.slack_at_ns = now;
	now += 10 * US;
	ack(&automatic, 30 * US, 10 * US);
	CHECK_EQ(path_res.threshold_ns, 47 * US);
	/* But not if a drain has proved that the delay is a queue. */
	d.proven = true;
	now += 10 * US;
	ack(&d, 30 * US, 10 * US);
	CHECK_EQ(path_res.threshold_ns, 40 * US);
	p.lost_at_ns -= ONRAMP_LOST_NS;
	ack(&d, 30 * US, 10 * US);
	CHECK_EQ(path_res.threshold_ns, 177 * US);
	p.lost_at_ns += ONRAMP_LOST_NS;
	/* What is above the delay of the loss, 80 us, has another reason. */
	p.slack_ns = 85 * US;
	ack(&d, 30 * US, 10 * US);
	CHECK_EQ(path_res.threshold_ns, 45 * US);
	/* Nor on slow links and paths. */
	p.slack_ns = 7 * US;
	d.byte_ns = ONRAMP_SLOW_BYTE;
	ack(&d, 30 * US, 10 * US);
	CHECK_EQ(path_res.threshold_ns, 47 * US);
	d.byte_ns = 0;
	p.slow_bps = 1;
	ack(&d, 30 * US, 10 * US);
	CHECK_EQ(path_res.threshold_ns, 47 * US);
	p.slow_bps = 0;
	now -= 10 * US;
	p.slack_ns = 0;
	now += ONRAMP_LOST_NS - 20 * US;
	ack(&automatic, 30 * US, 10 * US);
	CHECK_EQ(path_res.threshold_ns, 40 * US);
	now += 10 * US;
	ack(&automatic, 30 * US, 10 * US);
	CHECK_EQ(path_res.threshold_ns, 170 * US);
}

/* Less than the round trip: a pause that has begun later would be too late. */
static void lost__leaves_the_round_trip(void)
{
	setup();
	ack(&automatic, 20 * US, 0);
	now += MS;
	ack(&automatic, 40 * US, 20 * US);
	CHECK(onramp_path_lost(&p, now));
	ack(&automatic, 30 * US, 10 * US);
	CHECK_EQ(path_res.threshold_ns, 20 * US);
	/* A much deeper buffer is no limit. */
	now += 2 * MS;
	ack(&automatic, 920 * US, 900 * US);
	CHECK(onramp_path_lost(&p, now));
	ack(&automatic, 30 * US, 10 * US);
	CHECK_EQ(path_res.threshold_ns, 170 * US);
}

/* A delay of long ago explains nothing. */
static void lost__by_delays_of_just_before(void)
{
	setup();
	ack(&automatic, 20 * US, 0);
	now += MS;
	ack(&automatic, 120 * US, 100 * US);
	now += 2 * ONRAMP_PEAK_NS;
	ack(&automatic, 20 * US, 0);
	CHECK(!onramp_path_lost(&p, now));
	ack(&automatic, 120 * US, 100 * US);
	now += 4 * ONRAMP_PEAK_NS;
	CHECK(!onramp_path_lost(&p, now));
	now--;
	CHECK(onramp_path_lost(&p, now));
	CHECK_EQ(p.lost_peak_ns, 100 * US);
}

static void auto__adds_the_round_trip(void)
{
	struct onramp_delay d = automatic;

	setup();
	d.byte_ns = onramp_byte_time(12500000000ULL, 1, 1);
	d.error_ns = 3 * US;
	ack(&d, 20 * US, 0);
	CHECK_EQ(path_res.threshold_ns, 43 * US);
	now += MS;
	ack(&d, 500 * US, 150 * US);
	CHECK_EQ(path_res.threshold_ns, 43 * US);
	CHECK_EQ(res.pause_ns, 107 * US);
	/* Empty is half a unit and the error. */
	CHECK_EQ(core.empty_ns, 13 * US);

	/* All of a round trip up to 20 us, half of one from 40 us on. */
	setup();
	ack(&d, 15 * US, 0);
	CHECK_EQ(path_res.threshold_ns, 38 * US);
	setup();
	ack(&d, 30 * US, 0);
	CHECK_EQ(path_res.threshold_ns, 43 * US);
	setup();
	ack(&d, 200 * US, 0);
	CHECK_EQ(path_res.threshold_ns, 123 * US);
}

/* Of two connections one has a route that is 100 longer. */
static void route__is_no_queue(void)
{
	struct onramp_conn_path w;
	struct onramp_ctrl g;
	int i;

	setup();
	setup_view(&w, &g);
	for (i = 0; i < 70; i++) {
		now += MS;
		ack(&by_hand, 20 * US, 5 * US);
		ack_to(&w, &g, &by_hand, 220 * US, 105 * US,
		       onramp_ctrl_cum_pause(&g, now - 220 * US));
		if (i < 60)
			CHECK_EQ(path_res.detour_ns, 0);
	}
	CHECK_EQ(path_res.detour_ns, 105 * US);
	CHECK_EQ(res.owd_ns, 0);
	/* The queue of 60 is one on both. */
	now += MS;
	ack_to(&w, &g, &by_hand, 320 * US, 165 * US, onramp_ctrl_cum_pause(&g, now - 320 * US));
	CHECK_EQ(res.owd_ns, 60 * US);
	now += MS;
	ack(&by_hand, 80 * US, 60 * US);
	CHECK_EQ(path_res.detour_ns, 0);
	CHECK_EQ(res.owd_ns, 60 * US);
}

/* One connection alone: what never drains is a queue, and no detour. */
static void route__of_one_connection(void)
{
	int i;

	setup();
	ack(&by_hand, 20 * US, 0);
	for (i = 0; i < 300; i++) {
		now += MS;
		ack(&by_hand, 120 * US, 100 * US);
		CHECK_EQ(path_res.detour_ns, 0);
	}
}

/* The packet before a pause, and the first one after it, with a delay of @owd_ns. */
static void pause_back(const struct onramp_delay *set, u64 pause_ns, u64 owd_ns, u64 back_ns)
{
	now += 10 * MS;
	ack(set, 420 * US, 400 * US);
	/* Not the pause that follows from that. */
	onramp_ctrl_set_pause(&f, now, now);
	f.cum_ns += pause_ns;
	now += 10 * MS;
	ack(set, 20 * US + owd_ns + back_ns, (s64)owd_ns);
}

static void pause_and(const struct onramp_delay *set, u64 pause_ns, u64 owd_ns)
{
	pause_back(set, pause_ns, owd_ns, 0);
}

static void pause_of(u64 pause_ns, u64 owd_ns)
{
	pause_and(&automatic, pause_ns, owd_ns);
}

static void slack__rises_if_queues_run_empty(void)
{
	u64 unit = 150 * US;

	setup();
	ack(&automatic, 20 * US, 0);
	pause_of(unit, 10 * US);
	CHECK(path_res.returned);
	CHECK(path_res.empty);
	CHECK_EQ(p.slack_ns, unit / 4);
	pause_of(unit, 10 * US);
	CHECK_EQ(p.slack_ns, unit / 2);
	CHECK_EQ(path_res.threshold_ns, unit + 20 * US + unit / 4);
	/* A queue that has not: it falls by a third of that. */
	pause_of(unit, 110 * US);
	CHECK(path_res.returned);
	CHECK(!path_res.empty);
	CHECK_EQ(p.slack_ns, unit / 2 - unit / 12);
	/* A longer pause counts for more, */
	setup();
	ack(&automatic, 20 * US, 0);
	f.beta = ONRAMP_ONE - 1;
	pause_of(2 * unit, 10 * US);
	CHECK_NEAR(p.slack_ns, 2 * unit / 4, 1);
	/* up to four times T, */
	setup();
	ack(&automatic, 20 * US, 0);
	f.beta = ONRAMP_ONE - 1;
	pause_of(5 * MS, 10 * US);
	CHECK_EQ(p.slack_ns, unit + 20 * US);
	/* or once T while beta may not have been measured, */
	setup();
	ack(&automatic, 20 * US, 0);
	pause_of(5 * MS, 10 * US);
	CHECK_EQ(p.slack_ns, (unit + 20 * US) / 4);
	/* but less for one of ten senders, whose pause takes a tenth of that from the queue. */
	setup();
	ack(&automatic, 20 * US, 0);
	f.beta = ONRAMP_ONE / 10;
	pause_of(2 * MS, 10 * US);
	/* It was too long, which raises beta by a 16th of what is left to one. */
	CHECK_NEAR(p.slack_ns, 2 * MS / 4 * 5 / 32, US);
}

/* One that never seems to be empty, but is always the same when it should be. */
static void slack__rises_if_the_lowest_delay_is_wrong(void)
{
	int i;

	setup();
	ack(&automatic, 20 * US, 0);
	for (i = 0; i < 40; i++) {
		pause_of(5 * MS, 100 * US + i % 3 * US);
		CHECK(path_res.returned || path_res.threshold_ns > 10 * MS);
		CHECK_EQ(path_res.empty, path_res.returned && i >= ONRAMP_RETURNS_MIN);
	}
	/* Until such a pause does not come about any more. */
	CHECK(p.slack_ns > 9 * MS);
}

/* A drain has proved the baseline: a queue that others keep is no empty path, however even. */
static void slack__stays_where_the_path_is_proven(void)
{
	const struct onramp_delay proven = { .bound = true, .is_auto = true, .proven = true };
	/* T is 170 us. */
	static const struct {
		u64	owd_ns;
		bool	rises;
	} rows[] = {
		{ 172 * US, false }, { 166 * US, true }, { 100 * US, true }, { 10 * US, true },
	};
	unsigned int i, k;

	for (k = 0; k < ARRAY_SIZE(rows); k++) {
		setup();
		ack(&automatic, 20 * US, 0);
		for (i = 0; i < 10; i++)
			pause_and(&proven, 5 * MS, rows[k].owd_ns + i % 3 * US);
		CHECK_EQ(p.slack_ns > 0, rows[k].rises);
	}
	/* It is no part of T that delays are below. */
	setup();
	ack(&automatic, 20 * US, 0);
	p.slack_ns = MS;
	for (i = 0; i < 20; i++)
		pause_and(&proven, 2 * MS, 300 * US + i % 3 * US);
	CHECK_EQ(p.slack_ns, 0);
	/* Unless the way back is longer, too: a queue there is not. */
	for (k = 0; k < 2; k++) {
		setup();
		ack(&automatic, 20 * US, 0);
		for (i = 0; i < 10; i++)
			pause_back(&proven, 5 * MS, 300 * US + i % 3 * US, (140 + k * 15) * US);
		CHECK_EQ(p.slack_ns > 0, k);
	}
	/*
	 * Or round trips show no such delay, by more than that of an empty queue. A pause then
	 * counts whole: it could not change the delay, from which beta is.
	 */
	for (k = 0; k < 2; k++) {
		setup();
		ack(&automatic, 20 * US, 0);
		for (i = 0; i < 10; i++) {
			now += 10 * MS;
			ack(&proven, 420 * US, 400 * US);
			onramp_ctrl_set_pause(&f, now, now);
			f.cum_ns += 5 * MS;
			f.beta = 0;
			now += 10 * MS;
			ack(&proven, 320 * US, (s64)(370 + k * 10 + i % 3) * US);
			CHECK_EQ(path_res.over_ns, (70 + k * 10 + i % 3) * US);
		}
		CHECK_EQ(p.slack_ns > MS, k);
	}
}

/*
 * A drain has proved the baseline, but pauses do not move a level delay: no queue, so they count
 * whole. Neither of the two alone says so.
 */
static void slack__rises_where_pauses_move_nothing(void)
{
	const struct onramp_delay proven = { .bound = true, .is_auto = true, .proven = true };
	static const struct {
		u32	beta;
		u64	step_ns;
		bool	rises;
	} rows[] = {
		{ ONRAMP_ONE / 65, 0, true }, { ONRAMP_ONE / 32, 0, false },
		{ 0, 300 * US, false },
	};
	unsigned int i, k;

	for (k = 0; k < ARRAY_SIZE(rows); k++) {
		setup();
		ack(&automatic, 20 * US, 0);
		now += 20 * MS;
		for (i = 0; i < 6; i++) {
			now += MS;
			ack(&proven, 9600 * US, (s64)(9 * MS + i % 2 * rows[k].step_ns));
			onramp_ctrl_set_pause(&f, now, now);
		}
		f.beta = rows[k].beta;
		f.cum_ns += 5 * MS;
		now += 10 * MS;
		ack(&proven, 9600 * US, 9 * MS);
		CHECK(path_res.returned);
		CHECK_EQ(path_res.empty, rows[k].rises);
		CHECK_EQ(p.slack_ns, rows[k].rises ? 2 * 170 * US : 0);
	}
}

/* A route that is longer now: the delay is the same before a pause and after it. */
static void slack__rises_where_delays_stay(void)
{
	u64 unit = 150 * US;
	int i, before;

	for (before = 0; before < 8; before++) {
		setup();
		ack(&automatic, 20 * US, 0);
		now += 20 * MS;
		for (i = 0; i < before; i++) {
			now += MS;
			ack(&automatic, 9600 * US, 9 * MS + i % 2 * unit / 8);
			onramp_ctrl_set_pause(&f, now, now);
		}
		now += MS;
		ack(&automatic, 9600 * US, 9 * MS);
		onramp_ctrl_set_pause(&f, now, now);
		f.cum_ns += 5 * MS;
		now += 10 * MS;
		ack(&automatic, 9600 * US, 9 * MS + unit / 8);
		CHECK(path_res.returned);
		CHECK_EQ(path_res.empty, before >= ONRAMP_LEVEL_MIN);
		CHECK_EQ(p.slack_ns, before >= ONRAMP_LEVEL_MIN ? 2 * (unit + 20 * US) : 0);
	}
	/* One that is another one in between begins anew. */
	setup();
	ack(&automatic, 20 * US, 0);
	now += 20 * MS;
	for (i = 0; i < 12; i++) {
		now += MS;
		ack(&automatic, 9600 * US, 9 * MS - (i == 9 ? MS : 0));
		onramp_ctrl_set_pause(&f, now, now);
	}
	f.cum_ns += 5 * MS;
	now += 10 * MS;
	ack(&automatic, 9600 * US, 9 * MS);
	CHECK(path_res.returned);
	CHECK(!path_res.empty);
}

/* Queues that differ are queues. */
static void slack__stays_where_queues_do_not_run_empty(void)
{
	int i;

	setup();
	ack(&automatic, 20 * US, 0);
	for (i = 0; i < 100; i++)
		pause_of(5 * MS, 300 * US + i * 37 % 10 * 60 * US);
	CHECK(p.slack_ns < 150 * US);
}

/* Others of the path have sent meanwhile: the queue is not what the pause has left. */
static void slack__by_the_first_packet_of_the_path(void)
{
	struct onramp_conn_path w;
	struct onramp_ctrl g;

	setup();
	setup_view(&w, &g);
	ack(&automatic, 20 * US, 0);
	now += 10 * MS;
	ack(&automatic, 420 * US, 400 * US);
	f.cum_ns += 200 * US;
	now += MS;
	ack_to(&w, &g, &automatic, 20 * US + 100, 0, 0);
	ack(&automatic, 20 * US, 0);
	CHECK(!path_res.returned);
	CHECK_EQ(p.slack_ns, 0);
}

static void slack__is_bounded_and_forgotten(void)
{
	int i;

	setup();
	ack(&automatic, 20 * US, 0);
	for (i = 0; i < 200; i++)
		onramp_path_return(&p, MS, true, false);
	CHECK_EQ(p.slack_ns, ONRAMP_SLACK_MAX_NS);
	now += ONRAMP_SLACK_AGE_NS;
	ack(&automatic, 20 * US, 0);
	CHECK(p.slack_ns < ONRAMP_SLACK_MAX_NS);
	for (i = 0; i < 16; i++) {
		now += ONRAMP_SLACK_AGE_NS;
		ack(&automatic, 20 * US, 0);
	}
	CHECK(p.slack_ns < ONRAMP_SLACK_MAX_NS / 2);
	CHECK(p.slack_ns > ONRAMP_SLACK_MAX_NS / 4);
}

/* By hand: the threshold is as it was set. */
static void slack__is_for_auto(void)
{
	setup();
	ack(&by_hand, 20 * US, 0);
	p.slack_ns = MS;
	now += MS;
	ack(&by_hand, 220 * US, 150 * US);
	CHECK_EQ(path_res.threshold_ns, 50 * US);
	CHECK_EQ(res.pause_ns, 100 * US);
}

/* Batches that take long on a later link make the unit longer. */
static void step__makes_the_unit(void)
{
	int i;

	setup();
	mode = ONRAMP_MODE_OFF;
	for (i = 0; i < 200; i++) {
		now += MS;
		ack(&automatic, i % 2 ? 520 * US : 20 * US, i % 2 * 500 * US);
	}
	CHECK_NEAR(v.step_ns, 500 * US, US);
	CHECK_NEAR(core.empty_ns, 500 * US, US);
	/* Steps that the round trip does not show are the clocks'. */
	setup();
	mode = ONRAMP_MODE_OFF;
	for (i = 0; i < 200; i++) {
		now += MS;
		ack(&automatic, 20 * US, i % 2 * 500 * US);
	}
	CHECK_EQ(v.step_ns, 0);
	CHECK_EQ(core.empty_ns, 75 * US);
}

/* OR-ACKs one ms apart, each of 100 us above T: what is left of the pause. */
static u64 pause_after(int ms, bool others)
{
	struct onramp_delay d = by_hand;

	d.others = others;
	while (ms--) {
		now += MS;
		ack(&d, 220 * US, 150 * US);
	}
	return res.pause_ns;
}

/* Pauses become shorter while others fill the queue, and longer again. */
static void let_go__while_others_fill_the_queue(void)
{
	setup();
	ack(&by_hand, 20 * US, 0);
	CHECK_EQ(pause_after(1, false), 100 * US);
	CHECK_EQ(path_res.coexist_share, 0);
	/* 2^25 ns from all to nothing. */
	CHECK_NEAR(pause_after(10, true), 70 * US, US);
	CHECK_NEAR(path_res.coexist_share, 0.298 * ONRAMP_ONE, ONRAMP_ONE / 1000);
	CHECK_EQ(pause_after(30, true), 0);
	CHECK_EQ(res.verdict, ONRAMP_BELOW);
	CHECK_EQ(path_res.coexist_share, ONRAMP_ONE);
	CHECK_EQ(pause_after(100, true), 0);
	CHECK_NEAR(pause_after(10, false), 30 * US, US);
	CHECK_EQ(pause_after(30, false), 100 * US);
	CHECK_EQ(path_res.coexist_share, 0);
	/* A long silence is one step. */
	CHECK_EQ(pause_after(40, true), 0);
	now += 10 * MS;
	CHECK_NEAR(pause_after(1, false), 33 * US, US);
	now += SEC / 2;
	CHECK_EQ(pause_after(1, false), 100 * US);
}

/* What is not above T is not let go. */
static void let_go__counts_above_the_threshold(void)
{
	struct onramp_delay d = by_hand;

	setup();
	d.others = true;
	ack(&d, 20 * US, 0);
	pause_after(40, true);
	now += MS;
	ack(&d, 60 * US, 40 * US);
	CHECK_EQ(p.coexist_share, ONRAMP_ONE);
	CHECK_EQ(path_res.coexist_share, 0);
}

/*
 * The path has an RTT of 20 us and no queue for 10 ms. 150 us for a link of unknown speed, and the
 * round trip: 4 * 170 us are much.
 */
static void setup_short(void)
{
	int i;

	setup();
	for (i = 0; i < 10; i++) {
		ack(&automatic, 20 * US, 0);
		now += MS;
	}
}

/* An OR-ACK of a path that is longer by there and back. */
static void ack_longer(const struct onramp_delay *set, u64 there_ns, u64 back_ns)
{
	u64 rtt_ns = 20 * US + there_ns + back_ns;

	/* Packets stay in order. */
	now = max_t(u64, now, p.last_tx_ns + rtt_ns) + MS;
	ack(set, rtt_ns, there_ns);
}

/* What both ways have become longer by is no queue; what the way there is beyond that is. */
static void longer__is_no_queue(void)
{
	setup_short();
	ack_longer(&automatic, 13 * MS, 10 * MS);
	CHECK_EQ(path_res.stretch_ns, 10 * MS);
	CHECK_EQ(res.owd_ns, 3 * MS);
	CHECK_EQ(path_res.threshold_ns, 170 * US + 20 * MS);
	CHECK_EQ(res.pause_ns, 0);
	ack_longer(&automatic, 10 * MS - 7, 10 * MS);
	CHECK_EQ(path_res.stretch_ns, 10 * MS - 7);
	CHECK_EQ(res.owd_ns, 0);
	/* The lowest. */
	ack_longer(&automatic, 12 * MS, 11 * MS);
	CHECK_EQ(path_res.stretch_ns, 10 * MS - 7);
	CHECK_EQ(res.owd_ns, 2 * MS + 7);
	/* By hand T stays. */
	ack_longer(&by_hand, 11 * MS, 11 * MS);
	CHECK_EQ(path_res.stretch_ns, 10 * MS - 7);
	CHECK_EQ(path_res.threshold_ns, 50 * US);
	CHECK_EQ(res.owd_ns, MS + 7);
	CHECK(res.pause_ns > 0);
}

/* A queue is on one way, or has not begun just now. */
static void longer__by_much_both_ways_at_once(void)
{
	struct onramp_delay d = automatic;
	int i;

	setup_short();
	ack_longer(&automatic, 10 * MS, 600 * US);
	CHECK_EQ(path_res.stretch_ns, 0);
	setup_short();
	ack_longer(&automatic, 600 * US, 10 * MS);
	CHECK_EQ(path_res.stretch_ns, 0);
	setup_short();
	ack_longer(&automatic, 679 * US, 679 * US);
	CHECK_EQ(path_res.stretch_ns, 0);
	setup_short();
	ack_longer(&automatic, 680 * US, 680 * US);
	CHECK_EQ(path_res.stretch_ns, 680 * US);
	setup_short();
	d.bound = false;
	ack_longer(&d, 10 * MS, 10 * MS);
	CHECK_EQ(path_res.stretch_ns, 0);
	/* Both queues have been there for a while, and grow to less than four times that. */
	setup_short();
	for (i = 0; i < 140; i++)
		ack_longer(&automatic, 600 * US, 600 * US);
	ack_longer(&automatic, 2400 * US - 4, 2400 * US - 4);
	CHECK_EQ(path_res.stretch_ns, 0);
	ack_longer(&automatic, 2400 * US, 2400 * US);
	CHECK_EQ(path_res.stretch_ns, 2400 * US);
	/* Of a path that was silent, nothing is known. */
	setup_short();
	now += 134 * MS;
	ack_longer(&automatic, 10 * MS, 10 * MS);
	CHECK_EQ(path_res.stretch_ns, 0);
	setup();
	ack_longer(&automatic, 10 * MS, 10 * MS);
	CHECK_EQ(path_res.stretch_ns, 0);
}

/* Then pauses are for the whole delay again. */
static void longer__ends(void)
{
	/* One of two queues drains, */
	setup_short();
	ack_longer(&automatic, 12 * MS, 12 * MS);
	ack_longer(&automatic, 9 * MS, 15 * MS);
	CHECK_EQ(path_res.stretch_ns, 9 * MS);
	ack_longer(&automatic, 15 * MS, 6 * MS);
	CHECK_EQ(path_res.stretch_ns, 0);
	CHECK_EQ(res.owd_ns, 15 * MS);
	CHECK(res.pause_ns > 0);
	ack_longer(&automatic, 15 * MS, 6 * MS);
	CHECK_EQ(path_res.stretch_ns, 0);
	/* or the filter knows the new path. */
	setup_short();
	ack_longer(&automatic, 10 * MS, 10 * MS);
	now = max_t(u64, now, p.last_tx_ns + 20 * MS) + MS;
	ack(&automatic, 20 * US + 20 * MS, 0);
	CHECK_EQ(path_res.stretch_ns, 0);
	CHECK_EQ(path_res.threshold_ns, 170 * US);
	/* Where the route changes back and again, it counts again. */
	setup_short();
	ack_longer(&automatic, 10 * MS, 10 * MS);
	ack_longer(&automatic, 0, 0);
	CHECK_EQ(path_res.stretch_ns, 0);
	ack_longer(&automatic, 10 * MS, 10 * MS);
	CHECK_EQ(path_res.stretch_ns, 10 * MS);
}

static struct onramp_owd owd;

/* The first packet after a drain comes back now, of a path that is longer by there and back. */
static bool probe_longer(s64 there_ns, s64 back_ns, u64 wait_ns)
{
	u64 rtt_ns = (u64)(20 * (s64)US + there_ns + back_ns);
	struct onramp_delay d = {
		.trip = { .now_ns = now, .out_ns = now - rtt_ns - wait_ns, .tx_ns = now - rtt_ns },
	};
	s64 excess_ns;

	onramp_owd_init(&owd);
	onramp_owd_sample(&owd, now - 2 * MS, 7, 1448, &excess_ns);
	return onramp_path_longer(&p, &owd, &d, 7 + there_ns);
}

/* T is 170 us. A queue of others is on one way, or no longer than that. */
static void longer__by_a_drain(void)
{
	setup_short();
	CHECK(!probe_longer(170 * US, 170 * US, 0));
	CHECK_EQ(onramp_owd_baseline(&owd, now), 7);
	CHECK_EQ(onramp_low(&p.rtt), 20 * US);
	CHECK(probe_longer(170 * US, 170 * US + 2, 0));
	CHECK_EQ(onramp_owd_baseline(&owd, now), 7 + 170 * US);
	CHECK_EQ(onramp_low(&p.rtt), 360 * US + 2);
	CHECK_EQ(onramp_low(&p.wire), 360 * US + 2);
	/* Its own link does not make a path longer. */
	setup_short();
	CHECK(!probe_longer(170 * US, 170 * US, 5 * MS));
	CHECK(!probe_longer(901 * US, 300 * US, 0));
	CHECK(!probe_longer(300 * US, 901 * US, 0));
	CHECK(!probe_longer(-MS, 2 * MS, 0));
	CHECK(!probe_longer(2 * MS, -MS, 0));
	CHECK(probe_longer(900 * US, 300 * US, 0));
	setup_short();
	CHECK(probe_longer(300 * US, 900 * US, 0));
	CHECK_EQ(onramp_owd_baseline(&owd, now), 7 + 300 * US);
	/* A clock was set, by as much as may be. */
	CHECK(!probe_longer(1LL << 62, MS - (1LL << 62), 0));
	CHECK(!probe_longer(-(1LL << 62), MS + (1LL << 62), 0));
	/* The path is slow: T is longer. */
	setup_short();
	onramp_low_add(&p.byte, ONRAMP_PATH_LOW_NS, now, 8 << ONRAMP_BYTE_SHIFT);
	CHECK(!probe_longer(500 * US, 500 * US, 0));
	/* Its round trip is not known, or no longer. */
	setup();
	CHECK(!probe_longer(MS, MS, 0));
	setup_short();
	now += 60 * SEC;
	CHECK(!probe_longer(MS, MS, 0));
}

/* The time of an OR-ACK is before that of the one that was processed before it. */
static void back__lowest_is_kept(void)
{
	struct onramp_low l = { .from_ns = 0 };

	onramp_low_add(&l, 10, 100, 7);
	onramp_low_add(&l, 10, 110, 50);
	onramp_low_add(&l, 10, 109, 60);
	CHECK_EQ(onramp_low(&l), 7);
	CHECK_EQ(l.from_ns, 110);
	onramp_low_add(&l, 10, 109, 3);
	CHECK_EQ(onramp_low(&l), 3);
	/* It begins no half. */
	onramp_low_add(&l, 10, 120, 70);
	onramp_low_add(&l, 10, 130, 80);
	CHECK_EQ(onramp_low(&l), 70);
}

static void back__lets_nothing_go(void)
{
	setup();
	ack(&by_hand, 20 * US, 0);
	pause_after(10, false);
	onramp_path_others(&p, now - 1, true);
	CHECK_EQ(p.coexist_share, 0);
	/* Time counts once: 32 ns in 2^25 are 2^10 in Q30. */
	onramp_path_others(&p, now + 32, true);
	CHECK_EQ(p.coexist_share, 1 << 10);
	p.coexist_share = ONRAMP_ONE;
	onramp_path_others(&p, now + 31, false);
	CHECK_EQ(p.coexist_share, ONRAMP_ONE);
}

static void back__keeps_slack(void)
{
	setup();
	ack(&automatic, 20 * US, 0);
	p.slack_ns = MS;
	p.slack_at_ns = now;
	onramp_path_age(&p, now - 1);
	CHECK_EQ(p.slack_ns, MS);
	CHECK_EQ(p.slack_at_ns, now);
}

static void back__becomes_longer(void)
{
	setup();
	ack(&automatic, 20 * US, 0);
	now--;
	ack(&automatic, 20 * US + 20 * MS, 10 * MS);
	CHECK_EQ(path_res.stretch_ns, 10 * MS);
	now--;
	ack(&automatic, 20 * US + 20 * MS, 10 * MS);
	CHECK_EQ(path_res.stretch_ns, 10 * MS);
}

static void back__is_no_detour(void)
{
	struct onramp_ctrl other;
	struct onramp_conn_path view;

	setup();
	ack(&by_hand, 200 * US, 0);
	setup_view(&view, &other);
	ack_to(&view, &other, &by_hand, 300 * US, 100 * US, 0);
	CHECK_EQ(path_res.detour_ns, 0);
	now--;
	ack_to(&view, &other, &by_hand, 300 * US, 100 * US, 0);
	CHECK_EQ(path_res.detour_ns, 0);
}

int main(void)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(low__of_one_to_two_halves),
		KTAP_CASE(low__starts),
		KTAP_CASE(trip__what_is_possible),
		KTAP_CASE(trip__of_a_proof),
		KTAP_CASE(limit__by_the_round_trip),
		KTAP_CASE(limit__without_the_queue_that_stood),
		KTAP_CASE(limit__without_the_hold_time),
		KTAP_CASE(limit__without_the_own_link),
		KTAP_CASE(limit__without_the_model),
		KTAP_CASE(limit__may_be_left_out),
		KTAP_CASE(limit__forgets),
		KTAP_CASE(absolute__whole),
		KTAP_CASE(absolute__above_the_learned),
		KTAP_CASE(absolute__by_hand),
		KTAP_CASE(absolute__auto),
		KTAP_CASE(auto__unit),
		KTAP_CASE(auto__adds_the_round_trip),
		KTAP_CASE(slow__by_the_arrival_of_a_batch),
		KTAP_CASE(slow__by_the_fastest),
		KTAP_CASE(slow__within_a_batch),
		KTAP_CASE(slow__unknown_and_fast),
		KTAP_CASE(slow__as_the_own_link),
		KTAP_CASE(drain__of_a_queue),
		KTAP_CASE(lost__limits_the_unit),
		KTAP_CASE(lost__leaves_the_round_trip),
		KTAP_CASE(lost__by_delays_of_just_before),
		KTAP_CASE(route__is_no_queue),
		KTAP_CASE(route__of_one_connection),
		KTAP_CASE(slack__rises_if_queues_run_empty),
		KTAP_CASE(slack__rises_if_the_lowest_delay_is_wrong),
		KTAP_CASE(slack__stays_where_the_path_is_proven),
		KTAP_CASE(slack__rises_where_pauses_move_nothing),
		KTAP_CASE(slack__rises_where_delays_stay),
		KTAP_CASE(slack__stays_where_queues_do_not_run_empty),
		KTAP_CASE(slack__by_the_first_packet_of_the_path),
		KTAP_CASE(slack__is_bounded_and_forgotten),
		KTAP_CASE(slack__is_for_auto),
		KTAP_CASE(step__makes_the_unit),
		KTAP_CASE(let_go__while_others_fill_the_queue),
		KTAP_CASE(let_go__counts_above_the_threshold),
		KTAP_CASE(longer__is_no_queue),
		KTAP_CASE(longer__by_much_both_ways_at_once),
		KTAP_CASE(longer__ends),
		KTAP_CASE(longer__by_a_drain),
		KTAP_CASE(back__lowest_is_kept),
		KTAP_CASE(back__lets_nothing_go),
		KTAP_CASE(back__keeps_slack),
		KTAP_CASE(back__becomes_longer),
		KTAP_CASE(back__is_no_detour),
	};

	return ktap_run(cases, ARRAY_SIZE(cases));
}
