// SPDX-License-Identifier: GPL-2.0
/*
 * labq_mercury.h: cases computed by hand, and random ports against a model that has every
 * packet and reads the queue from them.
 */
#include <string.h>

#include "draw.h"
#include "ktap.h"
#include "labq_mercury.h"

/* 40 Gbit/s: 5 bytes a nanosecond. */
static const struct mercury_params params = {
	.rate = 5000000000ULL,
	.k_bytes = 200000,
	.period_ns = 10000,
};

static struct mercury_port port;

static void setup(void)
{
	memset(&port, 0, sizeof(port));
}

static void bytes__exact(void)
{
	CHECK_EQ(mercury_bytes(5000000000ULL, 1), 5);
	CHECK_EQ(mercury_bytes(5000000000ULL, 32767), 163835);
	CHECK_EQ(mercury_bytes(5000000000ULL, 32768), 163840);
	CHECK_EQ(mercury_bytes(1250000000, 0), 0);
	/* 1.25 bytes a nanosecond, rounded down */
	CHECK_EQ(mercury_bytes(1250000000, 1), 1);
	CHECK_EQ(mercury_bytes(1250000000, 4), 5);
	CHECK_EQ(mercury_bytes(1, 999999999), 0);
	CHECK_EQ(mercury_bytes(1, 1000000000), 1);
	CHECK_EQ(mercury_bytes(3, 1333333333), 3);
	CHECK_EQ(mercury_bytes(3, 1333333334), 4);
	CHECK_EQ(mercury_bytes((1ULL << 38) - 1, 999999999), 274877906943ULL - 275);
	CHECK_EQ(mercury_bytes((1ULL << 38) - 1, 1999999999), 2 * 274877906943ULL - 275);
}

/* A time for ever counts as 12 days. */
static void bytes__no_overflow(void)
{
	u64 most = (1ULL << 38) - 1;

	CHECK_EQ(mercury_bytes(most, ~0ULL), most << 20);
	CHECK_EQ(mercury_bytes(most, 1000000000ULL << 20), most << 20);
	CHECK(mercury_bytes(most, (1000000000ULL << 20) - 1) < most << 20);
}

static void bytes__as_a_product(void)
{
	u64 rate, ns;

	for (rate = 1; rate < 1ULL << 31; rate = rate * 3 + 1)
		for (ns = 1; ns < 1ULL << 32; ns = ns * 5 / 2 + 1)
			CHECK_EQ(mercury_bytes(rate, ns), rate * ns / 1000000000);
}

static void port__never_paused(void)
{
	setup();
	CHECK(!mercury_congested(&port, &params, 0));
	CHECK(!mercury_congested(&port, &params, 200000));
	CHECK(mercury_congested(&port, &params, 200001));
	/* Arrivals and departures leave it as it is. */
	mercury_arrive(&port, 1500);
	CHECK_EQ(port.rx_bytes, 0);
	mercury_depart(&port, &params, 1000000, 300000);
	CHECK_EQ(port.state, MERCURY_DETERMINED);
}

/* While a pause lasts, nobody is told anything, however long the queue is. */
static void port__paused(void)
{
	setup();
	mercury_pause(&port, 1000);
	CHECK(!mercury_congested(&port, &params, 1000000));
	/* The last bit of what was on the wire. */
	mercury_depart(&port, &params, 900000, 1000000);
	CHECK_EQ(port.state, MERCURY_UNDETERMINED);
	CHECK(!mercury_congested(&port, &params, 1000000));
}

/* rx in a pause of 10 us, after which 40 Gbit/s could send 50000 bytes; returns the state. */
static u8 pause_of_10_us(u32 rx, u64 queue)
{
	setup();
	mercury_arrive(&port, 77777);
	mercury_pause(&port, 1000);
	mercury_arrive(&port, rx - 20000);
	mercury_arrive(&port, 20000);
	mercury_resume(&port, &params, 11000, queue);
	CHECK(!port.paused);
	return port.state;
}

static void resume__by_bytes(void)
{
	CHECK_EQ(pause_of_10_us(49999, 300000), MERCURY_UNDETERMINED);
	/* Exactly C * T_pause: it can be sent in as long again. */
	CHECK_EQ(pause_of_10_us(50000, 300000), MERCURY_UNDETERMINED);
	CHECK_EQ(pause_of_10_us(50001, 300000), MERCURY_DETERMINED);
	CHECK(mercury_congested(&port, &params, 300000));
}

static void resume__short_queue(void)
{
	CHECK_EQ(pause_of_10_us(20000, 200001), MERCURY_UNDETERMINED);
	CHECK(!mercury_congested(&port, &params, 200001));
	CHECK_EQ(pause_of_10_us(20000, 200000), MERCURY_DETERMINED);
	CHECK(!mercury_congested(&port, &params, 200000));
	CHECK_EQ(pause_of_10_us(90000, 1000), MERCURY_DETERMINED);
}

/* The pause is from the first PAUSE to the first RESUME. */
static void pause__repeated(void)
{
	setup();
	mercury_pause(&port, 1000);
	mercury_arrive(&port, 50001);
	mercury_pause(&port, 6000);
	CHECK_EQ(port.rx_bytes, 50001);
	mercury_resume(&port, &params, 11000, 300000);
	CHECK_EQ(port.state, MERCURY_DETERMINED);
	/* Another RESUME, with 0 bytes in a pause of 10 us: not one. */
	mercury_resume(&port, &params, 21000, 300000);
	CHECK_EQ(port.state, MERCURY_DETERMINED);
	/* The next pause begins with no bytes. */
	mercury_pause(&port, 30000);
	CHECK_EQ(port.rx_bytes, 0);
	mercury_resume(&port, &params, 31000, 300000);
	CHECK_EQ(port.state, MERCURY_UNDETERMINED);
}

/* Pauses of 0 ns, and of 1 ns with a byte more than fits. */
static void pause__flapping(void)
{
	setup();
	mercury_pause(&port, 1000);
	mercury_resume(&port, &params, 1000, 300000);
	CHECK_EQ(port.state, MERCURY_UNDETERMINED);
	mercury_pause(&port, 1000);
	mercury_arrive(&port, 1);
	mercury_resume(&port, &params, 1000, 300000);
	CHECK_EQ(port.state, MERCURY_DETERMINED);
	mercury_pause(&port, 1000);
	mercury_arrive(&port, 6);
	mercury_resume(&port, &params, 1001, 300000);
	CHECK_EQ(port.state, MERCURY_DETERMINED);
}

/* A pause of any length, with any number of bytes, leaves the port undetermined. */
static void pause__endless(void)
{
	setup();
	mercury_pause(&port, 0);
	mercury_arrive(&port, 0xffffffffU);
	mercury_resume(&port, &params, ~0ULL, 300000);
	CHECK_EQ(port.state, MERCURY_UNDETERMINED);
}

/* Undetermined from 11000 on, with 300000 bytes. */
static void undetermined(void)
{
	CHECK_EQ(pause_of_10_us(20000, 300000), MERCURY_UNDETERMINED);
}

static void look__not_before_the_period(void)
{
	undetermined();
	mercury_depart(&port, &params, 20999, 400000);
	CHECK_EQ(port.state, MERCURY_UNDETERMINED);
	CHECK(!mercury_congested(&port, &params, 400000));
	mercury_depart(&port, &params, 21000, 400000);
	CHECK_EQ(port.state, MERCURY_DETERMINED);
	CHECK(mercury_congested(&port, &params, 400000));
}

static void look__queue_falls(void)
{
	undetermined();
	mercury_depart(&port, &params, 21000, 299999);
	CHECK_EQ(port.state, MERCURY_UNDETERMINED);
	/* It is compared with the last look. */
	mercury_depart(&port, &params, 30999, 250000);
	mercury_depart(&port, &params, 31000, 299999);
	CHECK_EQ(port.state, MERCURY_DETERMINED);
}

static void look__queue_is_short(void)
{
	undetermined();
	mercury_depart(&port, &params, 21000, 200000);
	CHECK_EQ(port.state, MERCURY_DETERMINED);
	CHECK(!mercury_congested(&port, &params, 200000));
	/* It stays so. */
	mercury_depart(&port, &params, 41000, 150000);
	CHECK_EQ(port.state, MERCURY_DETERMINED);
}

static void look__paused_again(void)
{
	undetermined();
	mercury_pause(&port, 15000);
	mercury_depart(&port, &params, 40000, 400000);
	CHECK_EQ(port.state, MERCURY_UNDETERMINED);
	mercury_resume(&port, &params, 50000, 400000);
	mercury_depart(&port, &params, 59999, 500000);
	CHECK_EQ(port.state, MERCURY_UNDETERMINED);
	mercury_depart(&port, &params, 60000, 500000);
	CHECK_EQ(port.state, MERCURY_DETERMINED);
}

/* Above K, not in a pause, and not until max(Ton) after one. */
static void tcd__after_ton(void)
{
	setup();
	CHECK(!mercury_tcd(&port, &params, 1000, 200000, 30000));
	CHECK(mercury_tcd(&port, &params, 1000, 200001, 30000));
	mercury_pause(&port, 2000);
	CHECK(!mercury_tcd(&port, &params, 2000, 300000, 30000));
	CHECK(!mercury_tcd(&port, &params, 900000, 300000, 30000));
	mercury_resume(&port, &params, 1000000, 300000);
	CHECK(!mercury_tcd(&port, &params, 1000000, 300000, 30000));
	CHECK(!mercury_tcd(&port, &params, 1029999, 300000, 30000));
	CHECK(mercury_tcd(&port, &params, 1030000, 300000, 30000));
	CHECK(!mercury_tcd(&port, &params, 1030000, 200000, 30000));
	/* Each pause has it begin anew. */
	mercury_pause(&port, 1040000);
	mercury_resume(&port, &params, 1041000, 300000);
	CHECK(!mercury_tcd(&port, &params, 1070999, 300000, 30000));
	CHECK(mercury_tcd(&port, &params, 1071000, 300000, 30000));
}

/* Shares ------------------------------------------------------------------- */

#define PLACES	8

static struct mercury_flow flows[PLACES];
static struct mercury_table table;
static u16 buckets[4];

static void make_table(u16 places, u32 mask)
{
	mercury_table_init(&table, flows, places, buckets, mask);
}

/* 40 Gbit/s and 16 us: 80000 bytes, shared as the queue is. */
static void window__by_share(void)
{
	u16 a, b;

	make_table(PLACES, 3);
	a = mercury_flow_arrive(&table, 5, 1500);
	CHECK_EQ(mercury_window(&table, a, 80000), 80000);
	b = mercury_flow_arrive(&table, 6, 1500);
	CHECK(a != b);
	CHECK_EQ(mercury_window(&table, a, 80000), 40000);
	CHECK_EQ(mercury_flow_arrive(&table, 6, 3000), b);
	CHECK_EQ(mercury_window(&table, a, 80000), 20000);
	CHECK_EQ(mercury_window(&table, b, 80000), 60000);
	mercury_flow_depart(&table, b, 3000);
	CHECK_EQ(mercury_window(&table, b, 80000), 40000);
	mercury_flow_depart(&table, a, 1500);
	CHECK_EQ(mercury_window(&table, b, 80000), 80000);
}

static void window__bounds(void)
{
	u16 a, b;

	make_table(PLACES, 3);
	a = mercury_flow_arrive(&table, 1, 1);
	b = mercury_flow_arrive(&table, 2, 0x7ffffffe);
	/* Never 0. */
	CHECK_EQ(mercury_window(&table, a, 80000), 1);
	CHECK_EQ(mercury_window(&table, b, 0xffffffffU), 0xfffffffcU);
	CHECK_EQ(mercury_window(&table, a, 0xffffffffU), 2);
}

static void table__full(void)
{
	u16 a, b;

	make_table(2, 0);
	a = mercury_flow_arrive(&table, 1, 100);
	b = mercury_flow_arrive(&table, 2, 100);
	CHECK_EQ(mercury_flow_arrive(&table, 3, 700), MERCURY_NO_FLOW);
	CHECK_EQ(table.full, 1);
	/* It is in nobody's share. */
	CHECK_EQ(mercury_window(&table, a, 1000), 500);
	CHECK_EQ(mercury_flow_arrive(&table, 2, 200), b);
	mercury_flow_depart(&table, MERCURY_NO_FLOW, 700);
	CHECK_EQ(table.data, 400);
	CHECK(!mercury_flow_due(&table, MERCURY_NO_FLOW, 0, 0));
	mercury_flow_depart(&table, a, 100);
	CHECK_EQ(mercury_flow_arrive(&table, 3, 100), a);
	CHECK_EQ(mercury_window(&table, a, 1000), 250);
	CHECK_EQ(table.full, 1);
}

/* The flow that has been without data for longest makes room, not one that came back. */
static void table__oldest_makes_room(void)
{
	u16 at[4];
	u32 i;

	make_table(4, 1);
	for (i = 0; i < 4; i++)
		at[i] = mercury_flow_arrive(&table, i, 100);
	for (i = 0; i < 4; i++)
		mercury_flow_depart(&table, at[3 - i], 100);
	/* Empty, the longest first: 3, 2, 1, 0. */
	CHECK_EQ(mercury_flow_arrive(&table, 2, 100), at[2]);
	CHECK_EQ(mercury_flow_arrive(&table, 10, 100), at[3]);
	CHECK_EQ(mercury_flow_arrive(&table, 11, 100), at[1]);
	CHECK_EQ(mercury_flow_arrive(&table, 0, 100), at[0]);
	CHECK_EQ(mercury_flow_arrive(&table, 12, 100), MERCURY_NO_FLOW);
	CHECK_EQ(mercury_flow_arrive(&table, 10, 100), at[3]);
	/* The first one is forgotten. */
	mercury_flow_depart(&table, at[2], 100);
	CHECK_EQ(mercury_flow_arrive(&table, 3, 100), at[2]);
	CHECK_EQ(mercury_flow_arrive(&table, 2, 100), MERCURY_NO_FLOW);
}

static void due__once_per_period(void)
{
	u16 a, b;

	make_table(PLACES, 3);
	a = mercury_flow_arrive(&table, 1, 100);
	b = mercury_flow_arrive(&table, 5, 100);
	/* At time 0 as well. */
	CHECK(mercury_flow_due(&table, a, 0, 10000));
	CHECK(!mercury_flow_due(&table, a, 9999, 10000));
	CHECK(mercury_flow_due(&table, b, 9999, 10000));
	CHECK(mercury_flow_due(&table, a, 10000, 10000));
	CHECK(!mercury_flow_due(&table, a, 10001, 10000));
	/* A flow that comes and goes is the same one. */
	mercury_flow_depart(&table, a, 100);
	CHECK_EQ(mercury_flow_arrive(&table, 1, 100), a);
	CHECK(!mercury_flow_due(&table, a, 19999, 10000));
	CHECK(mercury_flow_due(&table, a, 20000, 10000));
}

/* Another flow in an old one's place has been told nothing. */
static void due__another_flow(void)
{
	u16 a;

	make_table(1, 0);
	a = mercury_flow_arrive(&table, 1, 100);
	CHECK(mercury_flow_due(&table, a, 100, 10000));
	mercury_flow_depart(&table, a, 100);
	CHECK_EQ(mercury_flow_arrive(&table, 2, 100), a);
	CHECK(mercury_flow_due(&table, a, 101, 10000));
}

/* The model: every packet in the queue. */
#define PACKETS	256
#define KEYS	12

struct packet {
	u64 key;
	u32 bytes;
	u16 at;
	bool there;
	bool counted;
};

static struct packet packets[PACKETS];

/* Bytes of the queue; of one flow; only those that the table counts. */
static u64 sum(bool counted, bool one, u64 key)
{
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < PACKETS; i++)
		if (packets[i].there && (!counted || packets[i].counted) &&
		    (!one || packets[i].key == key))
			bytes += packets[i].bytes;
	return bytes;
}

/* Flows that have a counted packet. */
static u32 busy(void)
{
	u32 n = 0;
	u64 key;

	for (key = 0; key < KEYS; key++)
		n += sum(true, true, key) != 0;
	return n;
}

static void compare_arrival(u16 places)
{
	struct packet *p;
	u64 key = draw(KEYS);
	bool room = busy() < places || sum(true, true, key);

	for (p = packets; p < packets + PACKETS && p->there; p++)
		;
	if (p == packets + PACKETS)
		return;
	*p = (struct packet){ .key = key, .bytes = 60 + draw(1455), .there = true };
	p->at = mercury_flow_arrive(&table, key, p->bytes);
	p->counted = p->at != MERCURY_NO_FLOW;
	CHECK_EQ(p->counted, room);
	if (!p->counted)
		return;
	CHECK_EQ(table.flows[p->at].key, key);
	CHECK_EQ(mercury_window(&table, p->at, 80000),
		 80000 * sum(true, true, key) / sum(true, false, 0));
}

static void compare_departure(void)
{
	struct packet *p = &packets[draw(PACKETS)];

	if (!p->there)
		return;
	p->there = false;
	mercury_flow_depart(&table, p->at, p->bytes);
}

static void table__as_a_list_of_packets(void)
{
	u32 round, step;

	seed = 2024;
	for (round = 0; round < 40 && !ktap_failures; round++) {
		u16 places = (u16)(1 + draw(PLACES));

		memset(packets, 0, sizeof(packets));
		make_table(places, (1U << draw(3)) - 1);
		for (step = 0; step < 2000 && !ktap_failures; step++) {
			/* It fills, and drains. */
			if (draw(8) < (step / 200 % 2 ? 5U : 1U))
				compare_arrival(places);
			else
				compare_departure();
			CHECK_EQ(table.data, sum(true, false, 0));
		}
	}
}

/* The port as the head of the file has it, in words of its own. */
static void port__as_the_text(void)
{
	bool paused = false, determined = true, can = false;
	u64 now = 1, t0 = 0, rx = 0, queue = 0, last = 0, looked = 0;
	u32 step, kinds[4] = { 0 };

	seed = 72;
	setup();
	for (step = 0; step < 200000 && !ktap_failures; step++) {
		u32 bytes = 60 + draw(20000);

		now += draw(4000);
		switch (draw(20)) {
		case 0:
			if (!paused) {
				t0 = now;
				rx = 0;
			}
			paused = true;
			determined = false;
			mercury_pause(&port, now);
			break;
		case 1:
		case 2:
			if (paused) {
				can = rx * 1000000000 <= params.rate * (now - t0);
				determined = queue <= params.k_bytes || !can;
				last = queue;
				looked = now;
				kinds[determined]++;
			}
			paused = false;
			mercury_resume(&port, &params, now, queue);
			break;
		case 3 ... 11:
			queue += bytes;
			rx += paused ? bytes : 0;
			mercury_arrive(&port, bytes);
			break;
		default:
			if (paused || queue < bytes)
				break;
			queue -= bytes;
			if (!determined && now >= looked + params.period_ns) {
				determined = !(queue > params.k_bytes && queue < last);
				last = queue;
				looked = now;
				kinds[2 + determined]++;
			}
			mercury_depart(&port, &params, now, queue);
		}
		CHECK_EQ(mercury_congested(&port, &params, queue),
			 determined && queue > params.k_bytes);
		CHECK_EQ(port.state == MERCURY_DETERMINED, determined);
	}
	/* Each way out was taken. */
	CHECK(kinds[0] > 100 && kinds[1] > 100 && kinds[2] > 100 && kinds[3] > 100);
}

static const struct ktap_case cases[] = {
	KTAP_CASE(bytes__exact),
	KTAP_CASE(bytes__no_overflow),
	KTAP_CASE(bytes__as_a_product),
	KTAP_CASE(port__never_paused),
	KTAP_CASE(port__paused),
	KTAP_CASE(resume__by_bytes),
	KTAP_CASE(resume__short_queue),
	KTAP_CASE(pause__repeated),
	KTAP_CASE(pause__flapping),
	KTAP_CASE(pause__endless),
	KTAP_CASE(look__not_before_the_period),
	KTAP_CASE(look__queue_falls),
	KTAP_CASE(look__queue_is_short),
	KTAP_CASE(look__paused_again),
	KTAP_CASE(port__as_the_text),
	KTAP_CASE(tcd__after_ton),
	KTAP_CASE(window__by_share),
	KTAP_CASE(window__bounds),
	KTAP_CASE(table__full),
	KTAP_CASE(table__oldest_makes_room),
	KTAP_CASE(table__as_a_list_of_packets),
	KTAP_CASE(due__once_per_period),
	KTAP_CASE(due__another_flow),
};

int main(void)
{
	return ktap_run(cases, ARRAY_SIZE(cases));
}
