// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of onramp_window.h: sequences of bursts, with a trip of 100 us and a least window
 * of 46336 bytes, as of a short path at 10 Gbit/s.
 */
#include "onramp_window.h"
#include "ktap.h"

#define US	1000ULL
#define AT	(1000 * US)		/* of the OR-ACK that begins a test */
#define LEAST	ONRAMP_WINDOW_LEAST
#define EACH	ONRAMP_WINDOW_EACH

static struct onramp_window w;
static struct onramp_burst a, b, c;

/* The last OR-ACK, at AT, had a delay above T and a trip of 100 us. */
static void setup(void)
{
	w = (struct onramp_window) { .least = LEAST };
	a = (struct onramp_burst) { .open = false };
	b = a;
	c = a;
	onramp_window_ack(&w, &a, 0, AT - 100 * US, AT, true);
	onramp_window_age(&w, AT);
}

static bool may(struct onramp_burst *x, u32 len, u64 now_ns)
{
	return !onramp_window_ask(&w, x, len, x->una, 20000 * US, now_ns);
}

static bool sent(struct onramp_burst *x, u32 start, u32 end, bool first, u64 now_ns)
{
	return onramp_window_sent(&w, x, start, end, first, x->una, now_ns);
}

static void bytes__of_trips(void)
{
	setup();
	CHECK_EQ(onramp_window_bytes(&w, AT), LEAST);
	CHECK_EQ(onramp_window_bytes(&w, AT + 399 * US), LEAST);
	CHECK_EQ(onramp_window_bytes(&w, AT + 400 * US), 2 * LEAST);
	/* It is bounded. */
	CHECK_EQ(onramp_window_bytes(&w, AT + 800 * US), 2 * LEAST);
	CHECK_EQ(onramp_window_bytes(&w, AT + 3600000000 * US), 2 * LEAST);
}

/* Each connection counts once, for the trip in which it sends or waits, and for the next one. */
static void bytes__of_connections(void)
{
	setup();
	sent(&a, 0, 1000, true, AT + 10 * US);
	CHECK_EQ(onramp_window_bytes(&w, AT + 10 * US), LEAST + EACH);
	sent(&a, 1000, 2000, false, AT + 11 * US);
	CHECK_EQ(onramp_window_bytes(&w, AT + 11 * US), LEAST + EACH);
	may(&b, 200000, AT + 12 * US);
	may(&b, 200000, AT + 13 * US);
	may(&c, 200000, AT + 14 * US);
	CHECK_EQ(onramp_window_bytes(&w, AT + 14 * US), LEAST + 3 * EACH);
	may(&b, 200000, AT + 100 * US);
	CHECK_EQ(w.active, 1);
	CHECK_EQ(onramp_window_bytes(&w, AT + 100 * US), LEAST + 3 * EACH);
	may(&b, 200000, AT + 200 * US);
	CHECK_EQ(onramp_window_bytes(&w, AT + 200 * US), LEAST + EACH);
	/* All have been silent for two trips. */
	onramp_window_ack(&w, &c, 0, AT + 300 * US, AT + 400 * US, true);
	CHECK_EQ(onramp_window_bytes(&w, AT + 400 * US), LEAST);
}

static void may__nothing_known(void)
{
	setup();
	w = (struct onramp_window) { .least = LEAST };
	CHECK(!onramp_window_known(&w));
	CHECK(may(&a, 65536, AT));
	sent(&a, 0, 65536, true, AT);
	CHECK(may(&b, 65536, AT));
	/* A path that has never been above T has the largest window. Only later bytes count. */
	onramp_window_ack(&w, &c, 0, AT - 100 * US, AT, false);
	CHECK(onramp_window_known(&w));
	sent(&a, 65536, 131072, false, AT);
	CHECK(may(&b, 2 * (LEAST + 2 * EACH) - 65536, AT));
	CHECK(!may(&b, 2 * (LEAST + 2 * EACH) - 65535, AT));
}

static void may__one_after_the_other(void)
{
	setup();
	/* The first one of a host is free, of any length. */
	CHECK(may(&a, 65536, AT + US));
	sent(&a, 0, 65536, true, AT + US);
	/* The rest of it too. */
	CHECK(may(&a, 65536, AT + 2 * US));
	sent(&a, 65536, 100000, false, AT + 2 * US);
	CHECK(!may(&b, 20000, AT + 3 * US));
	/* A part of it has come. */
	onramp_window_ack(&w, &a, 30000, AT - 90 * US, AT + 10 * US, true);
	CHECK(!may(&b, 20000, AT + 11 * US));
	onramp_window_ack(&w, &a, 40000, AT - 89 * US, AT + 11 * US, true);
	CHECK(may(&b, 20000, AT + 12 * US));
}

static void may__acked_by_tcp(void)
{
	setup();
	sent(&a, 0, 65536, true, AT);
	CHECK(onramp_window_ask(&w, &b, 20000, 0, 20000 * US, AT + US));
	sent(&a, 65536, 66000, false, AT + US);
	onramp_window_una(&w, &a, 66000);
	CHECK_EQ(w.cur_bytes, 0);
	CHECK(!onramp_window_ask(&w, &b, 20000, 0, 20000 * US, AT + 2 * US));
}

static void may__grows_below_the_threshold(void)
{
	setup();
	sent(&a, 0, 65536, true, AT + 350 * US);
	CHECK(!may(&b, 65536, AT + 399 * US));
	CHECK(may(&b, 65536, AT + 400 * US));
}

static void may__first_come(void)
{
	setup();
	sent(&a, 0, 65536, true, AT);
	CHECK(!may(&b, 65536, AT + US));
	CHECK(!may(&c, 65536, AT + 2 * US));
	onramp_window_una(&w, &a, 65536);
	/* b was first. */
	CHECK(!may(&c, 65536, AT + 10 * US));
	CHECK(may(&b, 65536, AT + 11 * US));
	sent(&b, 0, 65536, true, AT + 11 * US);
	CHECK(!may(&c, 65536, AT + 12 * US));
	onramp_window_una(&w, &b, 65536);
	CHECK(may(&c, 65536, AT + 13 * US));
}

/* The first of those that wait asks more often. */
static void ask__how_often(void)
{
	setup();
	sent(&a, 0, 65536, true, AT);
	CHECK_EQ(onramp_window_ask(&w, &b, 65536, 0, 20000 * US, AT + US), 6250);
	CHECK_EQ(onramp_window_ask(&w, &c, 65536, 0, 20000 * US, AT + 2 * US), 25000);
	w.trip_ns = 20 * US;
	CHECK_EQ(onramp_window_ask(&w, &b, 65536, 0, 20000 * US, AT + 3 * US), 5000);
	CHECK_EQ(onramp_window_ask(&w, &c, 65536, 0, 20000 * US, AT + 4 * US), 20000);
	w.trip_ns = 10000 * US;
	CHECK_EQ(onramp_window_ask(&w, &b, 65536, 0, 20000 * US, AT + 5 * US), 100000);
	CHECK_EQ(onramp_window_ask(&w, &c, 65536, 0, 20000 * US, AT + 6 * US), 100000);
}

/* Many connections ask as often, all together, as 16 do; nobody after max_pause. */
static void ask__many(void)
{
	struct onramp_burst rest[1000] = {};
	u64 ask_ns = 0, most_ns = 20000 * US;

	setup();
	sent(&a, 0, 1000000000, true, AT);
	for (u32 i = 0; i < 1000; i++) {
		ask_ns = onramp_window_ask(&w, &rest[i], 65536, 0, most_ns, AT + 1 + i);
		if (i)
			CHECK_EQ(ask_ns, 25000 * (i + 2 > 16 ? i + 2 : 16) / 16);
	}
	/* 1.5 ms; but not beyond the end of the wait. */
	CHECK_EQ(ask_ns, 1564062);
	onramp_window_ack(&w, &c, 0, AT - 10000 * US, AT + 2 * US, true);
	CHECK_EQ(onramp_window_ask(&w, &rest[999], 65536, 0, most_ns, AT + 19000 * US),
		 1000 * US + 1000);
}

/* Clocks of two CPUs: what another one wrote may be later than now. */
static void ask__clock_behind(void)
{
	setup();
	w.above_ns = AT + 10;
	CHECK_EQ(onramp_window_bytes(&w, AT), LEAST);
	sent(&a, 0, 65536, true, AT);
	w.from_ns = AT + 20;
	CHECK(!may(&b, 65536, AT + 10));
	CHECK_EQ(w.cur_bytes, 65536);
	/* b keeps its place, and its wait has not ended. */
	onramp_window_una(&w, &a, 65536);
	w.asked_ns = AT + 20;
	CHECK(!may(&c, 65536, AT + 15));
	CHECK(may(&b, 65536, AT + 5));
}

/* A connection that was closed while it waited keeps its place for two trips. */
static void may__first_is_gone(void)
{
	setup();
	sent(&a, 0, 65536, true, AT);
	CHECK(!may(&b, 65536, AT + US));
	onramp_window_una(&w, &a, 65536);
	CHECK(!may(&c, 65536, AT + 201 * US));
	CHECK(may(&c, 65536, AT + 202 * US));
}

static void may__within_max_pause(void)
{
	setup();
	sent(&a, 0, 65536, true, AT);
	CHECK(!may(&b, 65536, AT + US));
	/* It is the first one all the time, and bytes are on the way. */
	sent(&a, 65536, 131072, false, AT + 100 * US);
	onramp_window_ack(&w, &c, 0, AT - US, AT + 101 * US, true);
	CHECK(onramp_window_ask(&w, &b, 65536, 0, 110 * US, AT + 110 * US));
	CHECK(!onramp_window_ask(&w, &b, 65536, 0, 110 * US, AT + 111 * US));
	/* The next one is the first now. */
	CHECK_EQ(w.first_ns, 0);
}

static void age__after_two_trips(void)
{
	setup();
	sent(&a, 0, 65536, true, AT + 50 * US);
	/* No OR-ACK comes; the window is above least from a trip on. */
	CHECK(!may(&b, 4 * LEAST, AT + 149 * US));
	CHECK_EQ(w.prev_bytes, 65536);
	CHECK(!may(&b, 4 * LEAST, AT + 199 * US));
	CHECK(may(&b, 4 * LEAST, AT + 200 * US + 49 * US));
	CHECK_EQ(w.cur_bytes + w.prev_bytes, 0);
	/* What is forgotten is not subtracted again. */
	sent(&b, 0, 1000, true, AT + 250 * US);
	onramp_window_una(&w, &a, 65536);
	CHECK_EQ(w.cur_bytes, 1000);
}

static void ack__first_in_first_out(void)
{
	setup();
	sent(&a, 0, 65536, true, AT + 50 * US);
	sent(&b, 0, 1000, true, AT + 120 * US);
	CHECK_EQ(w.prev_bytes, 65536);
	CHECK_EQ(w.cur_bytes, 1000);
	/* A packet that left before this time says nothing of all. */
	onramp_window_ack(&w, &c, 0, AT + 60 * US, AT + 125 * US, true);
	CHECK_EQ(w.prev_bytes, 65536);
	onramp_window_ack(&w, &c, 0, AT + 120 * US, AT + 130 * US, true);
	CHECK_EQ(w.prev_bytes, 0);
	CHECK_EQ(w.cur_bytes, 1000);
}

/* After the first OR-ACK a pause holds the rest of a burst, and it does not count. */
static void sent__after_an_ack(void)
{
	setup();
	sent(&a, 0, 65536, true, AT);
	onramp_window_ack(&w, &a, 40000, AT - 50 * US, AT + 20 * US, true);
	sent(&a, 65536, 131072, false, AT + 21 * US);
	CHECK_EQ(w.cur_bytes, 25536);
	/* The next burst counts again, also where sequence numbers wrap. */
	onramp_window_una(&w, &a, 65536);
	sent(&a, 0xffffff00U, 0x100, true, AT + 22 * US);
	CHECK_EQ(w.cur_bytes, 0x200);
	onramp_window_una(&w, &a, 0x80);
	CHECK_EQ(w.cur_bytes, 0x80);
}

/* A burst that began without asking again, as with many packets of a container, has not waited. */
static void sent__without_asking(void)
{
	setup();
	sent(&a, 0, 65536, true, AT);
	CHECK(!may(&b, 65536, AT + US));
	CHECK(!may(&c, 65536, AT + 2 * US));
	sent(&b, 0, 1000, true, AT + 3 * US);
	CHECK_EQ(b.since_ns, 0);
	/* c is the first one now. */
	onramp_window_una(&w, &a, 65536);
	CHECK(may(&c, 40000, AT + 4 * US));
	/* One that waits behind another leaves that its place. */
	sent(&c, 0, 65536, true, AT + 5 * US);
	CHECK(!may(&a, 65536, AT + 6 * US));
	CHECK(!may(&b, 65536, AT + 7 * US));
	sent(&b, 1000, 2000, true, AT + 8 * US);
	CHECK_EQ(w.first_ns, AT + 6 * US);
	/* Its next burst waits in full. */
	sent(&c, 65536, 200000, true, AT + 30000 * US);
	CHECK(!may(&b, 65536, AT + 30001 * US));
}

/* All data of a burst counts until its first OR-ACK, and no other. */
static void sent__what_follows(void)
{
	setup();
	CHECK(!sent(&a, 0, 1000, false, AT));
	CHECK(sent(&a, 1000, 2000, true, AT));
	CHECK(sent(&a, 2000, 3000, false, AT + US));
	/* Sent again, it does not count, and the burst goes on. */
	CHECK(sent(&a, 2000, 3000, false, AT + 2 * US));
	CHECK_EQ(w.cur_bytes, 2000);
	onramp_window_ack(&w, &a, 2000, AT, AT + 100 * US, true);
	CHECK(!sent(&a, 3000, 4000, false, AT + 101 * US));
}

int main(void)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(bytes__of_trips),
		KTAP_CASE(bytes__of_connections),
		KTAP_CASE(may__nothing_known),
		KTAP_CASE(may__one_after_the_other),
		KTAP_CASE(may__acked_by_tcp),
		KTAP_CASE(may__grows_below_the_threshold),
		KTAP_CASE(may__first_come),
		KTAP_CASE(ask__how_often),
		KTAP_CASE(ask__many),
		KTAP_CASE(ask__clock_behind),
		KTAP_CASE(may__first_is_gone),
		KTAP_CASE(may__within_max_pause),
		KTAP_CASE(age__after_two_trips),
		KTAP_CASE(ack__first_in_first_out),
		KTAP_CASE(sent__after_an_ack),
		KTAP_CASE(sent__without_asking),
		KTAP_CASE(sent__what_follows),
	};

	return ktap_run(cases, ARRAY_SIZE(cases));
}
