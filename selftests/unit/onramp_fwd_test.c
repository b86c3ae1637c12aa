// SPDX-License-Identifier: GPL-2.0
/* Unit tests of onramp_fwd.h: sequence numbers and times worked by hand. */
#include "onramp_fwd.h"
#include "ktap.h"

#define MS		1000000ULL
#define US		1000ULL
#define S		1000000000ULL
#define WINDOW		(1U << 30)

static struct onramp_fwd f;

static void setup(void)
{
	onramp_fwd_init(&f);
	onramp_fwd_data(&f, 1000, 2000, true, 5 * MS);
}

static void rtt__of_an_ack(void)
{
	setup();
	CHECK_EQ(f.rtt_us, U32_MAX);
	CHECK_EQ(f.timed_ns, 5 * MS);
	/* Not of its last byte. */
	CHECK(!onramp_fwd_acked(&f, 1999, 6 * MS));
	CHECK_EQ(f.rtt_us, U32_MAX);
	/* More data does not move what is measured. */
	onramp_fwd_data(&f, 2000, 3000, true, 7 * MS);
	CHECK(onramp_fwd_acked(&f, 2000, 8 * MS));
	CHECK_EQ(f.rtt_us, 3000);
	CHECK_EQ(f.timed_ns, 0);
	/* It has ended. */
	CHECK(!onramp_fwd_acked(&f, 2000, 9 * MS));
	/* An ACK of more ends it too; the shortest counts. */
	onramp_fwd_data(&f, 3000, 4000, true, 10 * MS);
	onramp_fwd_data(&f, 4000, 5000, true, 10 * MS);
	CHECK(onramp_fwd_acked(&f, 5000, 10 * MS + 40 * US));
	CHECK_EQ(f.rtt_us, 40);
	onramp_fwd_data(&f, 5000, 6000, true, 20 * MS);
	CHECK(onramp_fwd_acked(&f, 6000, 29 * MS));
	CHECK_EQ(f.rtt_us, 40);
}

static void rtt__at_least_1us(void)
{
	setup();
	CHECK(onramp_fwd_acked(&f, 2000, 5 * MS));
	CHECK_EQ(f.rtt_us, 1);
	setup();
	/* By another CPU, whose clock is behind. */
	CHECK(onramp_fwd_acked(&f, 2000, 4 * MS));
	CHECK_EQ(f.rtt_us, 1);
}

static void rtt__ack_of_the_unsent(void)
{
	setup();
	CHECK(!onramp_fwd_acked(&f, 2001, 6 * MS));
	CHECK(!onramp_fwd_acked(&f, 2000 + WINDOW, 6 * MS));
	CHECK(!onramp_fwd_acked(&f, 2000 - WINDOW, 6 * MS));
	CHECK_EQ(f.rtt_us, U32_MAX);
	CHECK(onramp_fwd_acked(&f, 2000, 6 * MS));
}

static void rtt__not_of_what_was_sent_again(void)
{
	setup();
	onramp_fwd_data(&f, 1000, 2000, true, 6 * MS);
	CHECK_EQ(f.timed_ns, 0);
	CHECK(!onramp_fwd_acked(&f, 2000, 7 * MS));
	/* Older data that is sent again does, too: an ACK of it may be of both. */
	onramp_fwd_data(&f, 2000, 3000, true, 8 * MS);
	onramp_fwd_data(&f, 1000, 1500, true, 9 * MS);
	CHECK(!onramp_fwd_acked(&f, 3000, 10 * MS));
	/* What came after it does not. */
	onramp_fwd_data(&f, 3000, 4000, true, 11 * MS);
	onramp_fwd_data(&f, 4000, 5000, true, 11 * MS);
	onramp_fwd_data(&f, 4000, 5000, true, 12 * MS);
	CHECK(onramp_fwd_acked(&f, 4000, 13 * MS));
	CHECK_EQ(f.rtt_us, 2000);
	/* Part of it again, and more: what is behind it is new from then on. */
	onramp_fwd_data(&f, 4500, 5500, true, 14 * MS);
	CHECK_EQ(f.next, 5500);
	onramp_fwd_data(&f, 4500, 5400, true, 14 * MS);
	CHECK_EQ(f.next, 5500);
}

static void rtt__across_the_wrap(void)
{
	onramp_fwd_init(&f);
	onramp_fwd_data(&f, 0xffffff00, 0x100, true, 1 * MS);
	CHECK_EQ(f.next, 0x100);
	CHECK(!onramp_fwd_acked(&f, 0xffffffff, 2 * MS));
	CHECK(onramp_fwd_acked(&f, 0x100, 2 * MS));
	CHECK_EQ(f.rtt_us, 1000);
}

static void rtt__breaks(void)
{
	u64 now = 100 * MS;
	u32 seq = 2000, i;

	setup();
	CHECK(onramp_fwd_acked(&f, 2000, now));
	/* One after the other. */
	for (i = 1; i < ONRAMP_FWD_RTTS; i++, seq += 1000) {
		onramp_fwd_data(&f, seq, seq + 1000, true, now);
		CHECK_EQ(f.timed_ns, now);
		CHECK(onramp_fwd_acked(&f, seq + 1000, now));
	}
	/* From now on with a break. */
	onramp_fwd_data(&f, seq, seq + 1000, true, now + ONRAMP_FWD_BREAK_NS - 1);
	CHECK_EQ(f.timed_ns, 0);
	onramp_fwd_data(&f, seq + 1000, seq + 2000, true, now + ONRAMP_FWD_BREAK_NS);
	CHECK_EQ(f.timed_ns, now + ONRAMP_FWD_BREAK_NS);
	CHECK(onramp_fwd_acked(&f, seq + 2000, now + ONRAMP_FWD_BREAK_NS + MS));
	onramp_fwd_data(&f, seq + 2000, seq + 3000, true, now + ONRAMP_FWD_BREAK_NS + MS);
	CHECK_EQ(f.timed_ns, 0);
	/* The qdisc's time may be behind that of the ACK. */
	onramp_fwd_data(&f, seq + 3000, seq + 4000, true, now + ONRAMP_FWD_BREAK_NS);
	CHECK_EQ(f.timed_ns, 0);
}

static void rtt__not_wanted(void)
{
	onramp_fwd_init(&f);
	onramp_fwd_data(&f, 1000, 2000, false, 5 * MS);
	CHECK_EQ(f.timed_ns, 0);
	CHECK_EQ(f.next, 2000);
	CHECK(!onramp_fwd_acked(&f, 2000, 6 * MS));
}

static void rtt__given_up(void)
{
	setup();
	onramp_fwd_expire(&f, 5 * MS + ONRAMP_FWD_WAIT_NS);
	CHECK_EQ(f.timed_ns, 5 * MS);
	onramp_fwd_expire(&f, 6 * MS + ONRAMP_FWD_WAIT_NS);
	CHECK_EQ(f.timed_ns, 0);
	CHECK_EQ(f.rtts, 1);
	CHECK(!onramp_fwd_acked(&f, 2000, 7 * MS + ONRAMP_FWD_WAIT_NS));
	/* Not by a time before it. */
	setup();
	onramp_fwd_expire(&f, 4 * MS);
	CHECK_EQ(f.timed_ns, 5 * MS);
	/* By the next data, which is measured in its place. */
	setup();
	onramp_fwd_data(&f, 2000, 3000, true, 2 * S);
	CHECK_EQ(f.timed, 3000);
	CHECK_EQ(f.timed_ns, 2 * S);
	/* There is none to give up. */
	CHECK(onramp_fwd_acked(&f, 3000, 2 * S + MS));
	onramp_fwd_expire(&f, 9 * S);
	CHECK_EQ(f.rtts, 2);
}

static void data__of_another_connection(void)
{
	setup();
	CHECK(onramp_fwd_acked(&f, 2000, 6 * MS));
	onramp_fwd_data(&f, 2000 + WINDOW, 3000 + WINDOW, true, 7 * MS);
	CHECK_EQ(f.rtt_us, 1000);
	setup();
	CHECK(onramp_fwd_acked(&f, 2000, 6 * MS));
	onramp_fwd_data(&f, 2001 + WINDOW, 3000 + WINDOW, true, 7 * MS);
	CHECK_EQ(f.rtt_us, U32_MAX);
	CHECK_EQ(f.next, 3000 + WINDOW);
	CHECK_EQ(f.timed_ns, 7 * MS);
	setup();
	CHECK(onramp_fwd_acked(&f, 2000, 6 * MS));
	onramp_fwd_data(&f, 2000 - WINDOW, 3000 - WINDOW, true, 7 * MS);
	CHECK_EQ(f.rtt_us, 1000);
	CHECK_EQ(f.next, 2000);
	onramp_fwd_data(&f, 1999 - WINDOW, 3000 - WINDOW, true, 7 * MS);
	CHECK_EQ(f.rtt_us, U32_MAX);
	CHECK_EQ(f.next, 3000 - WINDOW);
}

static void age__of_connections(void)
{
	setup();
	CHECK_EQ(f.seen_ns, 5 * MS);
	CHECK(!f.closed);
	CHECK(!onramp_fwd_is_old(f.seen_ns, f.closed, 5 * MS + 30 * S));
	CHECK(onramp_fwd_is_old(f.seen_ns, f.closed, 5 * MS + 30 * S + 1));
	onramp_fwd_end(&f, 6 * MS);
	CHECK_EQ(f.seen_ns, 6 * MS);
	CHECK(!onramp_fwd_is_old(f.seen_ns, f.closed, 6 * MS + 2 * S));
	CHECK(onramp_fwd_is_old(f.seen_ns, f.closed, 6 * MS + 2 * S + 1));
	/* What was lost is sent again, also after FIN; new data is a new connection. */
	onramp_fwd_data(&f, 1000, 2000, true, 7 * MS);
	CHECK_EQ(f.seen_ns, 7 * MS);
	CHECK(f.closed);
	onramp_fwd_data(&f, 2000, 3000, true, 8 * MS);
	CHECK(!f.closed);
	/* Seen by another CPU, whose clock is ahead. */
	CHECK(!onramp_fwd_is_old(9 * MS, true, 8 * MS));
}

static void flight__between_or_acks_and_what_left(void)
{
	CHECK_EQ(onramp_fwd_una(77, 1000, true), 1000);
	CHECK_EQ(onramp_fwd_una(1000, 5000, false), 1000);
	/* Sent again after its OR-ACK: that does not make it older. */
	CHECK_EQ(onramp_fwd_una(4000, 1000, false), 4000);
	CHECK_EQ(onramp_fwd_una(1000, 1000 + WINDOW, false), 1000);
	CHECK_EQ(onramp_fwd_una(1000, 1001 + WINDOW, false), 1001 + WINDOW);
	CHECK_EQ(onramp_fwd_una(1000, 999 - WINDOW, false), 999 - WINDOW);

	CHECK(!onramp_fwd_in_flight(1000, 5000, 1000));
	CHECK(onramp_fwd_in_flight(1000, 5000, 1001));
	CHECK(onramp_fwd_in_flight(1000, 5000, 5000));
	CHECK(!onramp_fwd_in_flight(1000, 5000, 5001));
	CHECK(!onramp_fwd_in_flight(1000, 5000, 999));
	CHECK(!onramp_fwd_in_flight(1000, 1000, 1000));
	CHECK(!onramp_fwd_in_flight(1000, 1000, 1001));
	CHECK(onramp_fwd_in_flight(0xffffff00, 0x100, 0x100));
	CHECK(onramp_fwd_in_flight(0xffffff00, 0x100, 0));
	CHECK(!onramp_fwd_in_flight(0xffffff00, 0x100, 0xffffff00));
}

/* Nobody is large at first, and only who has a share is later. */
static void large__share_of_all(void)
{
	static struct onramp_fwd_sizes s;
	u32 i;

	CHECK(!onramp_fwd_is_large(&s, 7, 65535, 5 * MS));
	CHECK(onramp_fwd_is_large(&s, 7, 1, 5 * MS));
	/* Its hash is not that of another. */
	CHECK(!onramp_fwd_is_large(&s, 8, 1000, 5 * MS));
	CHECK(onramp_fwd_is_large(&s, 7 + 4096, 1, 5 * MS));
	/* 100 MB of others: 100000 bytes are a share of it, 65540 are none. */
	for (i = 0; i < 1000; i++)
		onramp_fwd_is_large(&s, 100 + i, 100000, 6 * MS);
	CHECK_EQ(s.all, 100066537);
	CHECK(!onramp_fwd_is_large(&s, 7, 3, 6 * MS));
	CHECK(onramp_fwd_is_large(&s, 7, 40000, 6 * MS));
	/* Over 2^28 ns, and from the first packet after that. */
	CHECK(onramp_fwd_is_large(&s, 7, 1, 1 << 28));
	CHECK_EQ(s.from_ns, 0);
	CHECK(!onramp_fwd_is_large(&s, 7, 1000, 1 + (1 << 28)));
	CHECK_EQ(s.all, 1000);
	CHECK_EQ(s.from_ns, 1 + (1 << 28));
	CHECK(!onramp_fwd_is_large(&s, 100, 60000, 2 + (1 << 28)));
}

/* A counter does not wrap. */
static void large__at_any_rate(void)
{
	static struct onramp_fwd_sizes s;

	onramp_fwd_is_large(&s, 1, U32_MAX - 1, 5 * MS);
	CHECK(onramp_fwd_is_large(&s, 1, 1, 5 * MS));
	CHECK(onramp_fwd_is_large(&s, 1, 70000, 5 * MS));
	CHECK_EQ(s.bytes[1], U32_MAX);
	CHECK_EQ(s.all, 70000 + (u64)U32_MAX);
}

static void meter__rates(void)
{
	struct onramp_fwd_meter m = {};
	u64 now = S;
	int i;

	CHECK_EQ(onramp_fwd_pacing_bps(&m, 0), ~0ULL);
	/* 1500 bytes each 12 us: 125 MB/s. */
	for (i = 0; i < 1000; i++, now += 12 * US)
		onramp_fwd_meter_add(&m, 1500, now);
	CHECK_EQ(m.bps, 125000000);
	CHECK_EQ(onramp_fwd_pacing_bps(&m, 0), 2000000000);
	CHECK_EQ(onramp_fwd_pacing_bps(&m, 12500000000), 2000000000);
	CHECK_EQ(onramp_fwd_pacing_bps(&m, 200000000), 200000000);
	/* The link is faster than it says, if that lasts. */
	CHECK_EQ(onramp_fwd_pacing_bps(&m, 62500000), 62500000);
	for (i = 0; i < 5000; i++, now += 12 * US)
		onramp_fwd_meter_add(&m, 1500, now);
	CHECK_EQ(m.long_bps, 125000000);
	CHECK_EQ(onramp_fwd_pacing_bps(&m, 62500000), 2000000000);
	CHECK_EQ(onramp_fwd_pacing_bps(&m, 111000000), 2000000000);
	CHECK_EQ(onramp_fwd_pacing_bps(&m, 111111112), 111111112);
	/* Not by what was before. */
	for (i = 0; i < 12000; i++, now += 24 * US)
		onramp_fwd_meter_add(&m, 1500, now);
	CHECK_EQ(m.long_bps, 62500000);
	CHECK_EQ(onramp_fwd_pacing_bps(&m, 62500000), 62500000);
	for (i = 0; i < 1000; i++, now += 12 * US)
		onramp_fwd_meter_add(&m, 1500, now);
	CHECK_EQ(m.bps, 125000000);
	/* A pause of 20 ms counts. */
	now += 20 * MS - 12 * US;
	onramp_fwd_meter_add(&m, 1500, now);
	CHECK(m.bps < 12500000);
	CHECK(m.bps > 0);
	/* Silence says nothing of the rate that it may have. */
	now += ONRAMP_FWD_METER_MAX_NS + 1;
	onramp_fwd_meter_add(&m, 1500, now);
	CHECK_EQ(m.bps, 0);
	CHECK_EQ(onramp_fwd_pacing_bps(&m, 200000000), ~0ULL);
	/* The first packet begins the time. */
	onramp_fwd_meter_add(&m, 1000, now + ONRAMP_FWD_METER_NS - 1);
	CHECK_EQ(m.bps, 0);
	onramp_fwd_meter_add(&m, 1000, now + ONRAMP_FWD_METER_NS);
	CHECK_EQ(m.bps, 2000 * S / ONRAMP_FWD_METER_NS);
	/* A millisecond at 8 Tbit/s. */
	m = (struct onramp_fwd_meter) { .from_ns = S, .bytes = 1000000000 };
	onramp_fwd_meter_add(&m, 0, S + ONRAMP_FWD_METER_NS);
	CHECK_NEAR(m.bps, 953674316406, 1);
}

/* A connection had nothing to send for a trip of 100 us and a millisecond, and more. */
static void meter__breaks(void)
{
	struct onramp_fwd_meter m = {};
	const u64 most = ONRAMP_FWD_METER_NS + 100 * US;

	CHECK(!onramp_fwd_is_break(S + most, S, 100 * US));
	CHECK(onramp_fwd_is_break(S + most + 1, S, 100 * US));
	CHECK(!onramp_fwd_is_break(S + ONRAMP_FWD_METER_NS, S, 0));
	CHECK(onramp_fwd_is_break(S + ONRAMP_FWD_METER_NS + 1, S, 0));
	/* It came before the last data left, and a pause held it. */
	CHECK(!onramp_fwd_is_break(S, S + 20 * MS, 100 * US));
	/* 64 KB after 30 ms: the rate is not that of 30 ms. */
	onramp_fwd_meter_add(&m, 2000, S);
	onramp_fwd_meter_add(&m, 64000, S + 30 * MS);
	CHECK(m.bps > 0);
	onramp_fwd_meter_break(&m);
	onramp_fwd_meter_add(&m, 64000, S + 60 * MS);
	CHECK_EQ(m.bps, 0);
	onramp_fwd_meter_add(&m, 64000, S + 60 * MS + ONRAMP_FWD_METER_NS);
	CHECK_EQ(m.bps, 64000 * S / ONRAMP_FWD_METER_NS);
}

/* Queues of one device read the clock one after the other, and not in that order. */
static void back__is_no_time(void)
{
	static struct onramp_fwd_sizes s;
	struct onramp_fwd_meter m = {};

	onramp_fwd_meter_add(&m, 2000, S);
	onramp_fwd_meter_add(&m, 1000, S + 1);
	onramp_fwd_meter_add(&m, 1000, S - 1);
	CHECK_EQ(m.bytes, 2000);
	CHECK_EQ(m.from_ns, S);
	/* The longer time began after that, too. */
	m.from_ns = S - 2 * ONRAMP_FWD_METER_NS;
	onramp_fwd_meter_add(&m, 1000, S - 1);
	CHECK_EQ(m.long_bytes, 3000);
	CHECK_EQ(m.long_ns, S);

	CHECK(!onramp_fwd_is_large(&s, 7, 65535, S));
	CHECK(onramp_fwd_is_large(&s, 7, 1, S - 1));
}

int main(void)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(rtt__of_an_ack),
		KTAP_CASE(rtt__at_least_1us),
		KTAP_CASE(rtt__ack_of_the_unsent),
		KTAP_CASE(rtt__not_of_what_was_sent_again),
		KTAP_CASE(rtt__across_the_wrap),
		KTAP_CASE(rtt__breaks),
		KTAP_CASE(rtt__not_wanted),
		KTAP_CASE(rtt__given_up),
		KTAP_CASE(data__of_another_connection),
		KTAP_CASE(age__of_connections),
		KTAP_CASE(flight__between_or_acks_and_what_left),
		KTAP_CASE(large__share_of_all),
		KTAP_CASE(large__at_any_rate),
		KTAP_CASE(meter__rates),
		KTAP_CASE(meter__breaks),
		KTAP_CASE(back__is_no_time),
	};

	return ktap_run(cases, ARRAY_SIZE(cases));
}
