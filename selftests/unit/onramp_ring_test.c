// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of onramp_ring.h: what is recorded of a flow, found again, forgotten.
 */
#include "ktap.h"
#include "onramp_ring.h"

static struct onramp_tx rec[64];
static struct onramp_txring ring;
static u32 una;		/* 0: for most tests, all is in flight */

static void ring_setup(void)
{
	una = 0;
	ring = (struct onramp_txring) { .rec = rec, .mask = 3 };
}

/* Time of the record that has @seq as the end of a packet, 0 if there is none. */
static u64 tx_of(u32 seq)
{
	const struct onramp_tx *t = onramp_tx_covering(&ring, seq);

	return t ? t->tx_ns : 0;
}

static void txring__find(void)
{
	ring_setup();
	CHECK_EQ(tx_of(100), 0);
	onramp_tx_add(&ring, 100, 200, 1, 0, &una);
	onramp_tx_add(&ring, 200, 300, 2, 0, &una);
	onramp_tx_add(&ring, 350, 400, 3, 0, &una);
	CHECK_EQ(tx_of(100), 0);
	CHECK_EQ(tx_of(101), 1);
	CHECK_EQ(tx_of(200), 1);
	CHECK_EQ(tx_of(201), 2);
	CHECK_EQ(tx_of(300), 2);
	CHECK_EQ(tx_of(340), 0);
	CHECK_EQ(tx_of(350), 0);
	CHECK_EQ(tx_of(400), 3);
	CHECK_EQ(tx_of(401), 0);
	CHECK_EQ(tx_of(400 + (1U << 31)), 0);
	CHECK_EQ(tx_of(150 + (1U << 31)), 0);
	CHECK_EQ(ring.sent_ns, 3);
	onramp_tx_add(&ring, 400, 400, 9, 0, &una);
	CHECK_EQ(ring.count, 3);
	CHECK_EQ(ring.sent_ns, 9);
}

static void txring__forgets_the_oldest(void)
{
	u32 i;

	ring_setup();
	una = 60;
	for (i = 0; i < 6; i++)
		onramp_tx_add(&ring, i * 10, i * 10 + 10, i + 1, 0, &una);
	CHECK_EQ(tx_of(20), 0);
	CHECK_EQ(tx_of(30), 3);
	CHECK_EQ(tx_of(60), 6);
}

static void txring__wraps(void)
{
	ring_setup();
	onramp_tx_add(&ring, 0xffffff00, 0xffffff80, 1, 0, &una);
	onramp_tx_add(&ring, 0xffffff80, 0x80, 2, 0, &una);
	onramp_tx_add(&ring, 0x80, 0x100, 3, 0, &una);
	CHECK_EQ(tx_of(0xffffff80), 1);
	CHECK_EQ(tx_of(0), 2);
	CHECK_EQ(tx_of(0x80), 2);
	CHECK_EQ(tx_of(0x81), 3);
}

/* What was sent twice has no time; what the second sending added has. */
static void txring__retransmission(void)
{
	ring_setup();
	onramp_tx_add(&ring, 100, 200, 1, 0, &una);
	onramp_tx_add(&ring, 200, 300, 2, 0, &una);
	CHECK(!onramp_tx_add(&ring, 300, 400, 3, 0, &una));
	CHECK(onramp_tx_add(&ring, 200, 300, 4, 0, &una));
	CHECK_EQ(tx_of(200), 1);
	CHECK_EQ(tx_of(300), 0);
	CHECK_EQ(tx_of(400), 3);
	CHECK_EQ(ring.count, 3);
	CHECK(onramp_tx_add(&ring, 350, 450, 5, 0, &una));
	CHECK_EQ(tx_of(400), 0);
	CHECK_EQ(tx_of(401), 5);
	CHECK_EQ(tx_of(450), 5);
}

/* The ports are used again: a sequence far away is another connection. */
static void txring__another_connection(void)
{
	ring_setup();
	onramp_tx_add(&ring, 100, 200, 1, 0, &una);
	onramp_tx_add(&ring, 0x80000000, 0x80000100, 2, 0, &una);
	CHECK_EQ(ring.count, 1);
	CHECK_EQ(tx_of(200), 0);
	CHECK_EQ(tx_of(0x80000100), 2);
	ring_setup();
	onramp_tx_add(&ring, 100, 200, 1, 0, &una);
	onramp_tx_add(&ring, 200 + ONRAMP_MAX_WINDOW, 300 + ONRAMP_MAX_WINDOW, 2, 0, &una);
	CHECK_EQ(tx_of(200), 0);
	CHECK_EQ(tx_of(300 + ONRAMP_MAX_WINDOW), 2);
}

/* So is one that is near, but behind what its socket has written. What is sent again is not. */
static void txring__another_socket(void)
{
	static const struct {
		const char *name;
		u32 start, written, records;
		bool drained, resends;
	} rows[] = {
		{ "new data", 300, 500, 2, false, false },
		{ "sent again", 100, 300, 2, false, false },
		{ "the last byte again", 299, 300, 2, false, false },
		{ "another connection", 50, 299, 0, false, false },
		{ "sent again after a drain", 100, 300, 0, true, true },
		{ "another connection after a drain", 50, 299, 0, true, false },
		{ "new data after a drain", 300, 500, 0, true, true },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ktap_row = rows[i].name;
		ring_setup();
		onramp_tx_own(&ring, rows[i].start, &rows[i].written);
		CHECK_EQ(ring.count, 0);
		onramp_tx_add(&ring, 100, 200, 1, 0, &una);
		onramp_tx_add(&ring, 200, 300, 2, 0, &una);
		if (rows[i].drained)
			onramp_tx_drained(&ring, 100, true);
		onramp_tx_own(&ring, rows[i].start, &rows[i].written);
		CHECK_EQ(ring.count, rows[i].records);
		CHECK_EQ(ring.resends, rows[i].resends);
	}
}

/* Ten packets of 100 bytes, 1 ns a byte. */
static void txring__merges_back_to_back(void)
{
	const u64 byte_time = 1ULL << ONRAMP_BYTE_SHIFT;
	u32 i;

	ring_setup();
	for (i = 0; i < 10; i++)
		onramp_tx_append(&ring, i * 100, i * 100 + 100, 5000 + i * 100,
				 5000 + i * 100, 7, byte_time,
				 &una);
	CHECK_EQ(ring.count, 1);
	CHECK_EQ(ring.sent_ns, 5900);
	CHECK_EQ(tx_of(50), 5000);
	CHECK_EQ(tx_of(1000), 5000);
	CHECK_EQ(tx_of(1001), 0);
	/* A little early or late is still the same batch, more is not. */
	onramp_tx_append(&ring, 1000, 1100, 6000 + ONRAMP_TX_MERGE_NS,
			 6000 + ONRAMP_TX_MERGE_NS, 7, byte_time, &una);
	onramp_tx_append(&ring, 1100, 1200, 6100 - ONRAMP_TX_MERGE_NS,
			 6100 - ONRAMP_TX_MERGE_NS, 7, byte_time, &una);
	CHECK_EQ(ring.count, 1);
	onramp_tx_append(&ring, 1200, 1300, 6201 + ONRAMP_TX_MERGE_NS,
			 6201 + ONRAMP_TX_MERGE_NS, 7, byte_time, &una);
	CHECK_EQ(ring.count, 2);
	CHECK_EQ(tx_of(1300), 6201 + ONRAMP_TX_MERGE_NS);
	/* It is the record's start that counts: nothing adds up. */
	onramp_tx_append(&ring, 1300, 1400, 6300 - ONRAMP_TX_MERGE_NS,
			 6300 - ONRAMP_TX_MERGE_NS, 7, byte_time, &una);
	CHECK_EQ(ring.count, 3);
}

static void txring__merges_no_more_than_that(void)
{
	const u64 byte_time = 1ULL << ONRAMP_BYTE_SHIFT;

	/* A gap in the sequence, which is a retransmission or lost to another queue. */
	ring_setup();
	onramp_tx_append(&ring, 100, 200, 5000, 5000, 7, byte_time, &una);
	onramp_tx_append(&ring, 210, 310, 5110, 5110, 7, byte_time, &una);
	CHECK_EQ(ring.count, 2);
	CHECK_EQ(tx_of(205), 0);
	/* A pause in between, be it of no length on the wire. */
	ring_setup();
	onramp_tx_append(&ring, 100, 200, 5000, 5000, 7, byte_time, &una);
	onramp_tx_append(&ring, 200, 300, 5100, 5100, 8, byte_time, &una);
	CHECK_EQ(ring.count, 2);
	/* The one before was sent again: its time is 0. */
	ring_setup();
	onramp_tx_append(&ring, 100, 200, 5000, 5000, 7, byte_time, &una);
	onramp_tx_append(&ring, 100, 200, 1, 1, 7, byte_time, &una);
	CHECK_EQ(tx_of(200), 0);
	onramp_tx_append(&ring, 200, 300, 100, 100, 7, byte_time, &una);
	CHECK_EQ(tx_of(300), 100);
	CHECK_EQ(tx_of(200), 0);
	/* What was merged was sent. */
	ring_setup();
	onramp_tx_append(&ring, 100, 200, 5000, 5000, 7, byte_time, &una);
	onramp_tx_append(&ring, 200, 300, 5100, 5100, 7, byte_time, &una);
	onramp_tx_append(&ring, 200, 300, 6000, 6000, 7, byte_time, &una);
	CHECK_EQ(tx_of(300), 0);
	/* The record is as long as it may be. */
	ring_setup();
	onramp_tx_append(&ring, 0, ONRAMP_TX_MERGE_BYTES, 5000, 5000, 7, byte_time, &una);
	onramp_tx_append(&ring, ONRAMP_TX_MERGE_BYTES, ONRAMP_TX_MERGE_BYTES + 1,
			 5000 + ONRAMP_TX_MERGE_BYTES,

			 5000 + ONRAMP_TX_MERGE_BYTES, 7, byte_time, &una);
	CHECK_EQ(ring.count, 2);
	/* Without a rate there is no telling. */
	ring_setup();
	onramp_tx_append(&ring, 100, 200, 5000, 5000, 7, 0, &una);
	onramp_tx_append(&ring, 200, 300, 5000, 5000, 7, 0, &una);
	CHECK_EQ(ring.count, 2);
}

/* Known but unusable is told apart from unknown. */
static void txring__covering(void)
{
	ring_setup();
	onramp_tx_add(&ring, 100, 200, 1, 0, &una);
	onramp_tx_add(&ring, 200, 300, 2, 0, &una);
	onramp_tx_add(&ring, 100, 200, 3, 0, &una);
	CHECK(onramp_tx_covering(&ring, 150) && !onramp_tx_covering(&ring, 150)->tx_ns);
	CHECK(onramp_tx_covering(&ring, 250) && onramp_tx_covering(&ring, 250)->tx_ns == 2);
	CHECK(!onramp_tx_covering(&ring, 100));
	CHECK(!onramp_tx_covering(&ring, 301));
}

/*
 * Batch number i is of bytes 10 i to 10 i + 10 and of time i + 1. Sends those from
 * @from to @to - 1, with @flight in flight.
 */
static void send_batches(u32 from, u32 to, u32 flight)
{
	u32 i;

	for (i = from; i < to; i++) {
		una = i < flight ? 0 : (i - flight) * 10;
		onramp_tx_add(&ring, i * 10, i * 10 + 10, i + 1, 0, &una);
	}
}

/* How many of the batches @from to @to - 1 are known; each one with its own time. */
static u32 batches_known(u32 from, u32 to)
{
	u32 i, n = 0;

	for (i = from; i < to; i++) {
		if (!tx_of(i * 10 + 10))
			continue;
		n++;
		CHECK_EQ(tx_of(i * 10 + 10), i + 1);
		CHECK_EQ(tx_of(i * 10 + 1), i + 1);
	}
	return n;
}

/* However many are in flight, some are known, all over the window. */
static void txring__more_than_it_has_room_for(void)
{
	u32 flight, i;

	for (flight = 64; flight <= 5000; flight = flight * 5 / 3) {
		ring_setup();
		ring.mask = 63;
		send_batches(0, 4 * flight, flight);
		for (i = 0; i < 4; i++)
			CHECK(batches_known(3 * flight + i * flight / 4,
					    3 * flight + (i + 1) * flight / 4) >= 3);
	}
}

/* With room for all, all are known; also after there were more. */
static void txring__room_for_all(void)
{
	ring_setup();
	ring.mask = 63;
	send_batches(0, 1000, 15);
	CHECK_EQ(batches_known(936, 1000), 64);
	send_batches(1000, 4000, 1500);
	CHECK(batches_known(2500, 4000) < 64);
	send_batches(4000, 5000, 15);
	CHECK_EQ(batches_known(4936, 5000), 64);
}

/* It is not the memory of another connection that decides. */
static void txring__room_after_another_connection(void)
{
	ring_setup();
	ring.mask = 63;
	send_batches(0, 2000, 1000);
	CHECK(ring.shift);
	una = 0x80000000;
	onramp_tx_add(&ring, 0x80000000, 0x80000100, 9, 0, &una);
	CHECK_EQ(ring.shift, 0);
	CHECK_EQ(tx_of(0x80000100), 9);
}

/* Nor where in the ring it ended: the oldest ones are known until others make room. */
static void txring__room_for_the_oldest(void)
{
	u32 used, i;

	for (used = 0; used < 64; used++) {
		ring_setup();
		ring.mask = 63;
		for (i = 0; i < used; i++)
			onramp_tx_add(&ring, 0x80000000 + i, 0x80000001 + i, 9, 0, &una);
		for (i = 0; i < 80; i++) {
			send_batches(i, i + 1, 1000);
			CHECK(batches_known(0, 6));
		}
	}
}

/* What was not recorded is not new when it is sent again. */
static void txring__retransmission_of_what_is_unknown(void)
{
	u32 i, missing = 0;

	ring_setup();
	ring.mask = 63;
	send_batches(0, 1000, 1000);
	for (i = 0; i < 1000; i++) {
		missing += !tx_of(i * 10 + 10);
		onramp_tx_add(&ring, i * 10, i * 10 + 10, 5000 + i, 0, &una);
		CHECK_EQ(tx_of(i * 10 + 10), 0);
	}
	CHECK(missing > 900);
	/* Those after the newest record, until one of them would have its turn. */
	for (i = 0; i < 100 * 64; i++) {
		u32 start = (900 + i % 100) * 10;

		onramp_tx_add(&ring, start, start + 10, 9000 + i, 0, &una);
		CHECK_EQ(tx_of(start + 10), 0);
	}
}

/* After a silence of the path data has the time of its last copy, also if that is sent again. */
static void txring__drained(void)
{
	ring_setup();
	onramp_tx_add(&ring, 100, 200, 10, 0, &una);
	onramp_tx_add(&ring, 200, 300, 20, 0, &una);
	CHECK(!onramp_tx_drained(&ring, 20, true));
	CHECK_EQ(tx_of(200), 10);
	CHECK(onramp_tx_drained(&ring, 21, true));
	/* It is evidence of loss all the same. */
	CHECK(onramp_tx_add(&ring, 100, 200, 30, 0, &una));
	CHECK_EQ(tx_of(200), 30);
	CHECK_EQ(tx_of(300), 0);
	CHECK(onramp_tx_add(&ring, 250, 300, 40, 0, &una));
	CHECK_EQ(tx_of(300), 40);
	CHECK(!onramp_tx_add(&ring, 300, 400, 50, 0, &una));
	CHECK(!onramp_tx_add(&ring, 400, 500, 60, 0, &una));
	CHECK(onramp_tx_add(&ring, 100, 200, 70, 0, &una));
	CHECK_EQ(tx_of(200), 0);
	/* Half of the numbers later. */
	CHECK(!onramp_tx_add(&ring, 0x80000200, 0x80000300, 80, 0, &una));
	/* On a fast link records stay. */
	ring_setup();
	onramp_tx_add(&ring, 100, 200, 10, 0, &una);
	CHECK(onramp_tx_drained(&ring, 21, false));
	CHECK_EQ(tx_of(200), 10);
	/* Nothing was recorded, so nothing is known to have left before. */
	ring_setup();
	CHECK(onramp_tx_drained(&ring, 80, true));
	CHECK(!onramp_tx_add(&ring, 0xffffff00, 0xffffff80, 90, 0, &una));
}

/* Idle since what was sent last, if that was all; not while that waits for the wire. */
static void txring__idle(void)
{
	struct onramp_txring q = { .sent_ns = 500 };

	CHECK_EQ(onramp_tx_idle_ns(&q, 800), 0);
	q.all = true;
	CHECK_EQ(onramp_tx_idle_ns(&q, 800), 300);
	CHECK_EQ(onramp_tx_idle_ns(&q, 500), 0);
	CHECK_EQ(onramp_tx_idle_ns(&q, 400), 0);
}

static const struct ktap_case cases[] = {
	KTAP_CASE(txring__idle),
	KTAP_CASE(txring__drained),
	KTAP_CASE(txring__find),
	KTAP_CASE(txring__forgets_the_oldest),
	KTAP_CASE(txring__wraps),
	KTAP_CASE(txring__retransmission),
	KTAP_CASE(txring__another_connection),
	KTAP_CASE(txring__another_socket),
	KTAP_CASE(txring__merges_back_to_back),
	KTAP_CASE(txring__merges_no_more_than_that),
	KTAP_CASE(txring__covering),
	KTAP_CASE(txring__more_than_it_has_room_for),
	KTAP_CASE(txring__room_for_all),
	KTAP_CASE(txring__room_after_another_connection),
	KTAP_CASE(txring__room_for_the_oldest),
	KTAP_CASE(txring__retransmission_of_what_is_unknown),
};

int main(void)
{
	return ktap_run(cases, ARRAY_SIZE(cases));
}
