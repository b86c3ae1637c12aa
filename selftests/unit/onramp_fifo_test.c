// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of onramp_fifo.h: timelines worked by hand at 10 Gbit/s, where a byte takes
 * 0.8 ns and a full frame of 1514 bytes 1230.4 ns on the wire.
 */
#include "onramp_fifo.h"
#include "ktap.h"

#define RATE_BPS	1250000000ULL
#define Q(ns)		((u64)((ns) * 256.0 + 0.5))

static u64 byte_ns;
static u64 end_q;

static void setup(void)
{
	byte_ns = onramp_byte_time(RATE_BPS, 1, 1);
	end_q = 0;
}

/* A packet leaves the qdisc at @now: when does it start on the wire, ns? */
static u64 leaves(u64 now, u32 len, u32 segs)
{
	u64 start_q = onramp_fifo_start(end_q, now);

	end_q = start_q + onramp_fifo_time(byte_ns, onramp_fifo_bytes(len, segs));
	return onramp_fifo_ns(start_q, now);
}

static void bytes__of_frames(void)
{
	CHECK_EQ(onramp_fifo_bytes(1514, 1), 1538);
	/* Shorter ones are padded. */
	CHECK_EQ(onramp_fifo_bytes(54, 1), 84);
	CHECK_EQ(onramp_fifo_bytes(60, 1), 84);
	CHECK_EQ(onramp_fifo_bytes(61, 1), 85);
	CHECK_EQ(onramp_fifo_bytes(45 * 1514, 45), 45 * 1538);
}

static void time__of_bytes(void)
{
	setup();
	CHECK_NEAR(onramp_fifo_time(byte_ns, 1538), Q(1230.4), 1);
	CHECK_EQ(onramp_fifo_time(0, 1538), 0);
	/* The slowest link and the longest batch still fit. */
	CHECK(onramp_fifo_time(1ULL << 40, (1 << 24) - 1) > 1ULL << 51);
}

static void start__idle_link(void)
{
	setup();
	CHECK_EQ(leaves(1000000, 1514, 1), 1000000);
	/* 1230.4 ns later it is idle again. */
	CHECK_EQ(leaves(1001231, 1514, 1), 1001231);
	CHECK_EQ(leaves(5000000, 1514, 1), 5000000);
}

static void start__behind_others(void)
{
	setup();
	CHECK_EQ(leaves(1000000, 45 * 1514, 45), 1000000);
	/* 45 * 1230.4 = 55368 */
	CHECK_NEAR(leaves(1000000, 1514, 1), 1055368, 1);
	CHECK_NEAR(leaves(1010000, 1514, 1), 1056598, 1);
	/* Nothing left at 1057829; this is after it. */
	CHECK_EQ(leaves(1060000, 1514, 1), 1060000);
}

/* Rounding does not add up: 10,000 packets are off by less than 50 ns. */
static void start__of_many(void)
{
	u64 start = 0;
	int i;

	setup();
	for (i = 0; i <= 10000; i++)
		start = leaves(1000000, 1514, 1);
	CHECK_NEAR(start, 1000000 + 12304000, 50);
}

static void start__lost_touch(void)
{
	setup();
	end_q = (1000000 + ONRAMP_FIFO_MAX_NS) << ONRAMP_FIFO_SHIFT;
	CHECK_EQ(leaves(1000000, 1514, 1), 1000000 + ONRAMP_FIFO_MAX_NS);
	end_q = (1000001 + ONRAMP_FIFO_MAX_NS) << ONRAMP_FIFO_SHIFT;
	CHECK_EQ(leaves(1000000, 1514, 1), 1000000);
}

/* The model's time wraps: after 2^56 ns. */
static void start__wraps(void)
{
	u64 now = (1ULL << 56) - 10;

	setup();
	end_q = (now - 100) << ONRAMP_FIFO_SHIFT;
	CHECK_EQ(leaves(now, 1514, 1), now);
	CHECK_NEAR(leaves(now, 1514, 1), now + 1230, 1);
	CHECK_NEAR(leaves(now + 20, 1514, 1), now + 2460, 1);
	CHECK_EQ(leaves(now + 10000, 1514, 1), now + 10000);
}

/*
 * A link that is 100 ppm faster than it says and never idle: a batch leaves the qdisc when
 * the one before it starts on the wire, 55362 ns before it does so itself. Without a bound
 * the model is 600 us ahead in the end. With it, it is by an eighth of what is in flight.
 */
static void bound__of_a_faster_link(void)
{
	u64 now = 1000000, bound, ahead = 0;
	int i;

	setup();
	leaves(now, 45 * 1514, 45);
	for (i = 0; i < 100000; i++) {
		bound = onramp_fifo_bound(byte_ns, 45 * 1514, now);
		if (!(i % 2) && (s64)(end_q - bound) > 0)
			end_q = bound;
		ahead = max_t(u64, ahead, leaves(now, 45 * 1514, 45) - now);
		now += 55362;
	}
	/* 68130 bytes take 54504 ns, and an eighth more 61317; and 6 ns for each batch. */
	CHECK(ahead <= 61317 + 12);
	CHECK(ahead > 61000);
}

static void bound__of_bytes(void)
{
	setup();
	CHECK_EQ(onramp_fifo_bound(byte_ns, 0, 1000000), Q(1000000));
	/* 8000 bytes, and 1000 more, at 0.8 ns. */
	CHECK_NEAR(onramp_fifo_bound(byte_ns, 8000, 1000000), Q(1007200), 256);
	/* No overflow, and no rate. */
	CHECK(onramp_fifo_bound((1ULL << 40) - 1, ~0ULL, 1) > 1ULL << 50);
	CHECK_EQ(onramp_fifo_bound(1ULL << 40, 1ULL << 40, 1),
		 onramp_fifo_bound(1ULL << 40, 1ULL << 23, 1));
	CHECK_EQ(onramp_fifo_bound(0, 8000, 1000000), Q(1000000));
}

/* Without a rate nothing waits. */
static void start__unknown_rate(void)
{
	setup();
	byte_ns = 0;
	CHECK_EQ(leaves(1000000, 45 * 1514, 45), 1000000);
	CHECK_EQ(leaves(1000000, 1514, 1), 1000000);
}

/*
 * A packet's end on the wire is start + rest + own batch, whatever its size: of a full
 * one at 1230.4 ns, of one with 100 bytes of payload (190 in all) at 152.
 */
static void rest__of_short_packets(void)
{
	u64 payload_ns = onramp_byte_time(RATE_BPS, 1448, 1538), own, rest;

	setup();
	own = onramp_own_ns(payload_ns, 0, 1448);
	rest = onramp_fifo_rest(onramp_fifo_time(byte_ns, 1538), own);
	CHECK_NEAR(own + rest, 1230, 1);
	CHECK(rest <= 1);
	own = onramp_own_ns(payload_ns, 0, 100);
	rest = onramp_fifo_rest(onramp_fifo_time(byte_ns, 190), own);
	CHECK_NEAR(own, 84, 1);
	CHECK_NEAR(own + rest, 152, 1);
	/* Ten full ones and one of 100 bytes. */
	own = onramp_own_ns(payload_ns, 0, 14580);
	rest = onramp_fifo_rest(onramp_fifo_time(byte_ns, 10 * 1538 + 190), own);
	CHECK_NEAR(own + rest, 12304 + 152, 1);
	CHECK_EQ(onramp_fifo_rest(0, 5), 0);
}

/* Packets without a record: an ACK takes 72 ns at 10 Gbit/s. */
static void owed__by_queues(void)
{
	struct onramp_fifo_part part = {};
	u64 ack_q;
	u32 n;

	setup();
	ack_q = onramp_fifo_time(byte_ns, onramp_fifo_bytes(66, 1));
	CHECK_EQ(onramp_fifo_owed_max(1), Q(2000));
	CHECK_EQ(onramp_fifo_owed_max(64), Q(31.25));
	/* One queue tells of 27 with the 28th. */
	for (n = 0; n < 27; n++)
		CHECK(onramp_fifo_owe(&part, ack_q, onramp_fifo_owed_max(1), n * 1000000));
	CHECK(!onramp_fifo_owe(&part, ack_q, onramp_fifo_owed_max(1), n * 1000000));
	CHECK_EQ(part.owed_q, 28 * ack_q);
	onramp_fifo_settle(&part, 0);
	CHECK(onramp_fifo_owe(&part, Q(2000), onramp_fifo_owed_max(1), 1));
	/* Of 64 queues each at once, and each owes 31 ns at most. */
	onramp_fifo_settle(&part, 0);
	CHECK(!onramp_fifo_owe(&part, ack_q, onramp_fifo_owed_max(64), 1));
}

/* A queue lets a packet of @bytes go at @now, as onramp_to_wire() does. */
static u64 queue_leaves(struct onramp_fifo_part *part, u64 now, u64 time_q)
{
	u64 start_q = onramp_fifo_part_start(part, end_q, now);

	end_q = start_q + time_q;
	onramp_fifo_settle(part, end_q);
	return onramp_fifo_ns(start_q, now);
}

static void owed__alone(void)
{
	struct onramp_fifo_part part = {};

	setup();
	CHECK_EQ(queue_leaves(&part, 1000000, Q(1000)), 1000000);
	CHECK(onramp_fifo_owe(&part, Q(500), Q(2000), 1000100));
	/* No other queue sends: exact. */
	CHECK_EQ(queue_leaves(&part, 1000200, Q(1000)), 1001500);
	/* A packet that it owes was sent long ago, and another one half a microsecond ago. */
	CHECK(onramp_fifo_owe(&part, Q(700), Q(2000), 2000000));
	CHECK_EQ(queue_leaves(&part, 3000000, Q(1000)), 3000000);
	CHECK(onramp_fifo_owe(&part, Q(700), Q(2000), 4000000));
	CHECK_EQ(queue_leaves(&part, 4000500, Q(1000)), 4000700);
	/* It tells of packets without a record of their own. */
	CHECK(!onramp_fifo_owe(&part, Q(2001), Q(2000), 5000000));
	CHECK_EQ(queue_leaves(&part, 5000000, 0), 5002001);
	CHECK_EQ(end_q, Q(5002001));
}

static void owed__beside_another(void)
{
	struct onramp_fifo_part a = {}, b = {};

	setup();
	CHECK_EQ(queue_leaves(&a, 1000000, Q(1000)), 1000000);
	CHECK(onramp_fifo_owe(&a, Q(500), Q(1000), 1000100));
	/* The other queue does not know of that yet. */
	CHECK_EQ(queue_leaves(&b, 1000200, Q(3000)), 1001000);
	CHECK_EQ(queue_leaves(&a, 1000300, Q(1000)), 1004500);
	CHECK_EQ(queue_leaves(&b, 1000400, Q(1000)), 1005500);
	/* All of it is on the wire. */
	CHECK(onramp_fifo_owe(&a, Q(500), Q(1000), 1006700));
	CHECK_EQ(queue_leaves(&b, 1007000, Q(100)), 1007000);
	CHECK_EQ(queue_leaves(&a, 1008000, Q(100)), 1008000);
	/* The other's is, and half of this one's. */
	CHECK(onramp_fifo_owe(&a, Q(500), Q(1000), 1009000));
	CHECK_EQ(queue_leaves(&b, 1009000, Q(100)), 1009000);
	CHECK_EQ(queue_leaves(&a, 1009300, Q(100)), 1009500);
}

int main(void)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(bytes__of_frames),
		KTAP_CASE(time__of_bytes),
		KTAP_CASE(start__idle_link),
		KTAP_CASE(start__behind_others),
		KTAP_CASE(start__of_many),
		KTAP_CASE(start__lost_touch),
		KTAP_CASE(start__wraps),
		KTAP_CASE(bound__of_a_faster_link),
		KTAP_CASE(bound__of_bytes),
		KTAP_CASE(start__unknown_rate),
		KTAP_CASE(rest__of_short_packets),
		KTAP_CASE(owed__by_queues),
		KTAP_CASE(owed__alone),
		KTAP_CASE(owed__beside_another),
	};

	return ktap_run(cases, ARRAY_SIZE(cases));
}
