// SPDX-License-Identifier: GPL-2.0
/*
 * nic_ts_ring.h: rings of segments and ACKs, the choice of timestamps. Expected values are
 * worked out by hand, or by a slow model that keeps everything.
 */
#include "ktap.h"
#include "nic_ts_ring.h"

static struct nic_ts_tx_record tx_rec[1024];
static struct nic_ts_ack_record ack_rec[1024];

static struct nic_ts_tx_ring tx_ring(u32 n)
{
	return (struct nic_ts_tx_ring){ .mask = n - 1, .rec = tx_rec };
}

static struct nic_ts_ack_ring ack_ring(u32 n)
{
	return (struct nic_ts_ack_ring){ .mask = n - 1, .rec = ack_rec };
}

static enum nic_ts_tx_result push(struct nic_ts_tx_ring *r, u32 seq, u32 len, u64 ns)
{
	struct nic_ts_stamp s = { .ns = ns };

	return nic_ts_tx_push(r, seq, seq + len, &s);
}

static enum nic_ts_ack_result ack_sent(struct nic_ts_ack_ring *r,
				       const struct nic_ts_tx_ring *t, u32 seq, u64 ns)
{
	struct nic_ts_sent sent = nic_ts_tx_sent(t);
	struct nic_ts_stamp s = { .ns = ns };

	return nic_ts_ack_push(r, &sent, seq, &s);
}

/* Of what was sent, so much that it is not looked at. */
static bool ack(struct nic_ts_ack_ring *r, u32 seq, u64 ns)
{
	struct nic_ts_sent sent = { .from = seq - NIC_TS_RING_SPAN / 2,
				    .to = seq + NIC_TS_RING_SPAN / 2 - 1 };
	struct nic_ts_stamp s = { .ns = ns };

	return nic_ts_ack_push(r, &sent, seq, &s) == NIC_TS_ACK_RECORDED;
}

static void rings__a_segment_and_its_ack(void)
{
	struct nic_ts_tx_ring t = tx_ring(8);
	struct nic_ts_ack_ring a = ack_ring(8);
	struct nic_ts_ack_record ar;
	struct nic_ts_tx_record tr;

	CHECK_EQ(nic_ts_tx_acked(&t, 100, &tr), NIC_TS_RTT_NO_TX);
	CHECK_EQ(nic_ts_ack_find(&a, 100, 100, &ar), NIC_TS_RTT_NO_ACK);
	CHECK_EQ(push(&t, 100, 0, 9), NIC_TS_TX_NOTHING);
	CHECK_EQ(push(&t, 100, 50, 10), NIC_TS_TX_RECORDED);
	CHECK_EQ(push(&t, 150, 50, 20), NIC_TS_TX_RECORDED);
	CHECK_EQ(push(&t, 200, 50, 30), NIC_TS_TX_RECORDED);
	CHECK(ack(&a, 120, 100));
	CHECK(ack(&a, 160, 110));
	CHECK(!ack(&a, 160, 115));
	CHECK(!ack(&a, 140, 116));
	CHECK(ack(&a, 210, 120));
	CHECK_EQ(nic_ts_tx_acked(&t, 149, &tr), NIC_TS_RTT_NO_TX);
	CHECK_EQ(nic_ts_tx_acked(&t, 150, &tr), NIC_TS_RTT_OK);
	CHECK_EQ(tr.seq, 100);
	CHECK_EQ(nic_ts_tx_acked(&t, 210, &tr), NIC_TS_RTT_OK);
	CHECK_EQ(tr.seq, 150);
	CHECK_EQ(tr.stamp.ns, 20);
	CHECK_EQ(nic_ts_ack_find(&a, 150, 210, &ar), NIC_TS_RTT_OK);
	CHECK_EQ(ar.stamp.ns, 110);
	CHECK_EQ(nic_ts_ack_find(&a, 210, 210, &ar), NIC_TS_RTT_OK);
	CHECK_EQ(ar.stamp.ns, 120);
	CHECK_EQ(nic_ts_ack_find(&a, 211, 211, &ar), NIC_TS_RTT_NO_ACK);
}

/*
 * Random sizes through many wraps, of the ring and of sequence numbers, against
 * arrays that forget nothing.
 */
static void rings__model(void)
{
	static u32 ends[20000], starts[20000], acks[20000];
	struct nic_ts_tx_ring t = tx_ring(64);
	struct nic_ts_ack_ring a = ack_ring(64);
	u32 seq = 0xfff00000, n = 0, m = 0, una, i;
	struct nic_ts_ack_record ar;
	struct nic_ts_tx_record tr;
	enum nic_ts_verdict got;

	srandom(7);
	una = seq;
	while (n < 20000) {
		u32 len = 1 + random() % 65536, want;

		starts[n] = seq;
		ends[n] = seq + len;
		CHECK_EQ(push(&t, seq, len, n + 1), NIC_TS_TX_RECORDED);
		seq += len;
		n++;
		if (random() % 3)
			continue;
		una += random() % (seq - una + 1);
		/* What is behind all records is of no use to anybody. */
		if (ack_sent(&a, &t, una, 1000 + m) == NIC_TS_ACK_RECORDED)
			acks[m++] = una;
		/* The newest that ends there; too old ones are forgotten. */
		for (want = n; want && (s32)(ends[want - 1] - una) > 0; want--)
			;
		got = nic_ts_tx_acked(&t, una, &tr);
		if (!want || n - want >= 64) {
			CHECK_EQ(got, NIC_TS_RTT_NO_TX);
			continue;
		}
		CHECK_EQ(got, NIC_TS_RTT_OK);
		CHECK_EQ(tr.seq, starts[want - 1]);
		CHECK_EQ(tr.stamp.ns, want);
		for (i = 0; i < m && (s32)(acks[i] - tr.end_seq) < 0; i++)
			;
		got = nic_ts_ack_find(&a, tr.end_seq, una, &ar);
		if (i == m || m - i > 64) {
			CHECK_EQ(got, NIC_TS_RTT_NO_ACK);
		} else {
			CHECK_EQ(got, NIC_TS_RTT_OK);
			CHECK_EQ(ar.ack_seq, acks[i]);
		}
		if (ktap_failures)
			return;
	}
	CHECK(m > 1000);
}

/* The first ACK is lost from the ring: a later one is not taken for it. */
static void rings__lost_first_ack(void)
{
	struct nic_ts_ack_ring a = ack_ring(8);
	struct nic_ts_ack_record ar;
	u32 i;

	for (i = 1; i <= 9; i++)
		CHECK(ack(&a, i * 10, i));
	CHECK_EQ(nic_ts_ack_find(&a, 10, 90, &ar), NIC_TS_RTT_NO_ACK);
	CHECK_EQ(nic_ts_ack_find(&a, 11, 90, &ar), NIC_TS_RTT_OK);
	CHECK_EQ(ar.stamp.ns, 2);
}

/* What was acknowledged before the end of a segment was. */
static void rings__the_ack_before(void)
{
	struct nic_ts_ack_ring a = ack_ring(8);
	struct nic_ts_ack_record ar;
	u32 i;

	CHECK(!nic_ts_ack_before(&a, 200, &ar));
	CHECK(ack(&a, 100, 5));
	CHECK(nic_ts_ack_before(&a, 200, &ar));
	CHECK_EQ(ar.ack_seq, 100);
	CHECK(!nic_ts_ack_before(&a, 100, &ar));
	CHECK(ack(&a, 150, 6));
	CHECK(ack(&a, 180, 7));
	CHECK(ack(&a, 230, 8));
	CHECK(nic_ts_ack_before(&a, 200, &ar));
	CHECK_EQ(ar.ack_seq, 180);
	CHECK_EQ(ar.stamp.ns, 7);
	/* One of the end alone is none of a part. */
	CHECK(nic_ts_ack_before(&a, 180, &ar));
	CHECK_EQ(ar.ack_seq, 150);
	/* Of data before it, for a segment from 180 on. */
	CHECK(nic_ts_ack_before(&a, 230, &ar));
	CHECK_EQ(ar.ack_seq, 180);

	/* Of what the ring lost last, up to where is known, but not when. */
	for (i = 1; i <= 8; i++)
		CHECK(ack(&a, 230 + i * 10, 8 + i));
	CHECK(nic_ts_ack_before(&a, 240, &ar));
	CHECK_EQ(ar.ack_seq, 230);
	CHECK_EQ(ar.stamp.ns, 0);
	CHECK(!nic_ts_ack_before(&a, 230, &ar));
}

static void rings__retransmission(void)
{
	struct nic_ts_tx_ring t = tx_ring(8);
	struct nic_ts_tx_record tr;

	push(&t, 100, 50, 1);
	push(&t, 150, 50, 2);
	push(&t, 200, 50, 3);
	CHECK_EQ(push(&t, 150, 50, 4), NIC_TS_TX_RETRANS);
	CHECK_EQ(tx_rec[0].flags, 0);
	CHECK_EQ(tx_rec[1].flags, NIC_TS_TX_AMBIGUOUS);
	CHECK_EQ(tx_rec[2].flags, 0);
	/* All that was in flight is. */
	CHECK_EQ(nic_ts_tx_acked(&t, 150, &tr), NIC_TS_RTT_AMBIGUOUS);
	CHECK_EQ(nic_ts_tx_acked(&t, 250, &tr), NIC_TS_RTT_AMBIGUOUS);
	CHECK(!nic_ts_tx_exact(&t, 150, 200));
	CHECK(nic_ts_tx_exact(&t, 200, 250));
	CHECK(!nic_ts_tx_exact(&t, 200, 240));
	push(&t, 250, 50, 5);
	CHECK_EQ(nic_ts_tx_acked(&t, 299, &tr), NIC_TS_RTT_AMBIGUOUS);
	CHECK_EQ(nic_ts_tx_acked(&t, 300, &tr), NIC_TS_RTT_OK);
	CHECK_EQ(tr.stamp.ns, 5);
}

static void rings__retract(void)
{
	struct nic_ts_tx_ring t = tx_ring(8);
	struct nic_ts_tx_record tr;

	nic_ts_tx_retract(&t, 1, 2);
	push(&t, 100, 50, 1);
	push(&t, 150, 50, 2);
	nic_ts_tx_retract(&t, 100, 150);
	CHECK_EQ(nic_ts_tx_acked(&t, 200, &tr), NIC_TS_RTT_OK);
	CHECK_EQ(tr.stamp.ns, 2);
	nic_ts_tx_retract(&t, 150, 200);
	CHECK_EQ(push(&t, 150, 50, 9), NIC_TS_TX_RECORDED);
	CHECK_EQ(nic_ts_tx_acked(&t, 200, &tr), NIC_TS_RTT_OK);
	CHECK_EQ(tr.stamp.ns, 9);
}

/* After a gap as wide as half of the sequence space nothing old is compared. */
static void rings__gaps(void)
{
	struct nic_ts_tx_ring t = tx_ring(64);
	struct nic_ts_ack_ring a = ack_ring(64);
	struct nic_ts_ack_record ar;
	struct nic_ts_tx_record tr;
	u32 i, seq = 0;

	for (i = 0; i < 40; i++) {
		CHECK_EQ(push(&t, seq, 1000, i + 1), NIC_TS_TX_RECORDED);
		CHECK_EQ(nic_ts_tx_acked(&t, seq + 1000, &tr), NIC_TS_RTT_OK);
		CHECK_EQ(tr.stamp.ns, i + 1);
		CHECK_EQ(ack_sent(&a, &t, seq + 1000, i), NIC_TS_ACK_RECORDED);
		CHECK_EQ(nic_ts_ack_find(&a, seq + 1000, seq + 1000, &ar), NIC_TS_RTT_OK);
		CHECK_EQ(ar.stamp.ns, i);
		seq += 0x30000000;
	}
}

/* More was acknowledged than was seen going out: that is no retransmission. */
static void rings__unseen_segments(void)
{
	struct nic_ts_tx_ring t = tx_ring(8);
	struct nic_ts_tx_record tr;

	push(&t, 1000, 100, 1);
	CHECK_EQ(nic_ts_tx_acked(&t, 5000, &tr), NIC_TS_RTT_OK);
	CHECK_EQ(push(&t, 4000, 100, 2), NIC_TS_TX_RETRANS);
	CHECK_EQ(push(&t, 5000, 100, 3), NIC_TS_TX_RECORDED);
	CHECK_EQ(nic_ts_tx_acked(&t, 5100, &tr), NIC_TS_RTT_OK);
	CHECK_EQ(tr.stamp.ns, 3);
}

/* One ACK of what was not sent, however far ahead or behind, changes nothing. */
static void rings__forged_acks(void)
{
	static const u32 bases[] = { 1000, 0x7ffffff0, 0xfffffff0 };
	static const u32 off[] = {
		301, 302, 65536, NIC_TS_RING_SPAN, 0x7ffffffe, 0x7fffffff, 0x80000000,
		0x80000001, 0xc0000000, 0xfffffff0, 0xffffffff, 0,
	};
	struct nic_ts_ack_record ar, before[8];
	struct nic_ts_tx_record tr;
	u32 b, i, n;

	for (b = 0; b < ARRAY_SIZE(bases); b++) {
		struct nic_ts_tx_ring t = tx_ring(8);
		struct nic_ts_ack_ring a = ack_ring(8), was;
		u32 base = bases[b];

		/* Nothing was sent, so nothing can be acknowledged. */
		for (i = 0; i < ARRAY_SIZE(off); i++)
			CHECK_EQ(ack_sent(&a, &t, base + off[i], 1), NIC_TS_ACK_UNSENT);
		CHECK_EQ(a.head, 0);

		for (i = 0; i < 3; i++)
			push(&t, base + 100 * i, 100, 10 + i);
		for (n = 0; n < 4; n++) {
			was = a;
			memcpy(before, ack_rec, sizeof(before));
			for (i = 0; i < ARRAY_SIZE(off); i++)
				CHECK_EQ(ack_sent(&a, &t, base + off[i], 99),
					 off[i] - 301 < 0x80000000 - 301 + 300 ?
					 NIC_TS_ACK_UNSENT : NIC_TS_ACK_OLD);
			CHECK(!memcmp(&was, &a, sizeof(a)));
			CHECK(!memcmp(before, ack_rec, sizeof(before)));
			if (n == 3)
				break;
			CHECK_EQ(ack_sent(&a, &t, base + 100 * (n + 1), 20 + n),
				 NIC_TS_ACK_RECORDED);
			CHECK_EQ(nic_ts_tx_acked(&t, base + 100 * (n + 1), &tr),
				 NIC_TS_RTT_OK);
			CHECK_EQ(nic_ts_ack_find(&a, tr.end_seq, base + 100 * (n + 1), &ar),
				 NIC_TS_RTT_OK);
			CHECK_EQ(ar.stamp.ns, 20 + n);
		}
		/* The end of the last segment may be acknowledged, and the first byte. */
		CHECK_EQ(ack_sent(&a, &t, base + 300, 30), NIC_TS_ACK_OLD);
		CHECK_EQ(ack_sent(&a, &t, base + 1, 30), NIC_TS_ACK_OLD);
	}
}

/* A forged ACK of what is in flight gives no RTT, and real ones go on after it. */
static void rings__forged_in_flight(void)
{
	struct nic_ts_tx_ring t = tx_ring(8);
	struct nic_ts_ack_ring a = ack_ring(8);
	struct nic_ts_ack_record ar;
	struct nic_ts_tx_record tr;

	push(&t, 1000, 100, 1);
	push(&t, 1100, 100, 2);
	push(&t, 1200, 100, 3);
	CHECK_EQ(ack_sent(&a, &t, 1250, 4), NIC_TS_ACK_RECORDED);
	CHECK_EQ(ack_sent(&a, &t, 1100, 50), NIC_TS_ACK_OLD);
	CHECK_EQ(nic_ts_tx_acked(&t, 1100, &tr), NIC_TS_RTT_OK);
	CHECK_EQ(nic_ts_ack_find(&a, tr.end_seq, 1100, &ar), NIC_TS_RTT_NO_ACK);
	CHECK_EQ(ack_sent(&a, &t, 1300, 60), NIC_TS_ACK_RECORDED);
	CHECK_EQ(nic_ts_tx_acked(&t, 1300, &tr), NIC_TS_RTT_OK);
	CHECK_EQ(nic_ts_ack_find(&a, tr.end_seq, 1300, &ar), NIC_TS_RTT_OK);
	CHECK_EQ(ar.stamp.ns, 60);
}

/*
 * ACKs went unseen while more than 2 GB were sent: what was seen before is not what the
 * next one is compared with, and is not taken for the first one of what is sent then.
 */
static void rings__stale_acks(void)
{
	struct nic_ts_tx_ring t = tx_ring(8);
	struct nic_ts_ack_ring a = ack_ring(8);
	struct nic_ts_ack_record ar;
	struct nic_ts_tx_record tr;
	u32 seq, i;

	push(&t, 1000, 100, 1);
	for (i = 1; i <= 10; i++)
		CHECK_EQ(ack_sent(&a, &t, 1000 + 10 * i, 1), NIC_TS_ACK_RECORDED);
	for (seq = 1100; seq - 1100 < 0x90000000; seq += 0x10000000)
		push(&t, seq, 0x10000000, 3);
	push(&t, seq, 100, 4);
	CHECK_EQ(ack_sent(&a, &t, seq + 100, 9), NIC_TS_ACK_RECORDED);
	CHECK_EQ(nic_ts_tx_acked(&t, seq + 100, &tr), NIC_TS_RTT_OK);
	CHECK_EQ(nic_ts_ack_find(&a, tr.end_seq, seq + 100, &ar), NIC_TS_RTT_OK);
	CHECK_EQ(ar.stamp.ns, 9);
	/* One that ends before all records, when none was seen yet. */
	a = ack_ring(8);
	CHECK_EQ(ack_sent(&a, &t, nic_ts_tx_sent(&t).from, 9), NIC_TS_ACK_OLD);
	CHECK_EQ(ack_sent(&a, &t, nic_ts_tx_sent(&t).from + 1, 9), NIC_TS_ACK_RECORDED);
}

static void pick__table(void)
{
	const u32 phc0 = NIC_TS_DOMAIN_PHC(0), phc1 = NIC_TS_DOMAIN_PHC(1);
	static const struct nic_ts_mapped none;
	const struct {
		const char *name;
		struct nic_ts_stamp tx, rx;
		struct nic_ts_mapped tx_map, rx_map;
		enum nic_ts_pick pick;
		u32 domain;
		u64 rtt;
		u32 error;
	} rows[] = {
		{ "software", { .ns = 1000, .source = 1 }, { .ns = 51000, .source = 1 },
		  none, none, NIC_TS_PICK_SW, NIC_TS_DOMAIN_MONO, 50000, 0 },
		{ "hardware", { 1000, 9000, phc0, 1, 1 }, { 51000, 39000, phc0, 1, 1 },
		  none, none, NIC_TS_PICK_HW, phc0, 30000, 0 },
		{ "two clocks", { 1000, 9000, phc0, 1, 1 }, { 51000, 39000, phc1, 1, 1 },
		  none, none, NIC_TS_PICK_SW, NIC_TS_DOMAIN_MONO, 50000, 0 },
		{ "two epochs", { 1000, 9000, phc0, 1, 1 }, { 51000, 39000, phc0, 2, 1 },
		  none, none, NIC_TS_PICK_SW, NIC_TS_DOMAIN_MONO, 50000, 0 },
		{ "longer than software's", { 1000, 9000, phc0, 1, 1 },
		  { 51000, 59300, phc0, 1, 1 },
		  none, none, NIC_TS_PICK_REJECTED, NIC_TS_DOMAIN_MONO, 50000, 0 },
		{ "negative", { 1000, 9000, phc0, 1, 1 }, { 51000, 8999, phc0, 1, 1 },
		  none, none, NIC_TS_PICK_REJECTED, NIC_TS_DOMAIN_MONO, 50000, 0 },
		{ "RX alone, no map", { .ns = 1000, .source = 1 },
		  { 51000, 39000, phc0, 1, 1 },
		  none, none, NIC_TS_PICK_SW, NIC_TS_DOMAIN_MONO, 50000, 0 },
		{ "RX alone, map", { .ns = 1000, .source = 1 },
		  { 51000, 39000, phc0, 1, 1 },
		  none, { 41000, 200 }, NIC_TS_PICK_MAPPED, NIC_TS_DOMAIN_MONO, 40000, 200 },
		{ "RX alone, poor map", { .ns = 1000, .source = 1 },
		  { 51000, 39000, phc0, 1, 1 },
		  none, { 41000, 5001 }, NIC_TS_PICK_SW, NIC_TS_DOMAIN_MONO, 50000, 0 },
		{ "mapped into the future", { .ns = 1000, .source = 1 },
		  { 51000, 39000, phc0, 1, 1 },
		  none, { 51500, 200 }, NIC_TS_PICK_REJECTED, NIC_TS_DOMAIN_MONO, 50000, 0 },
		{ "mapped to before it was sent", { .ns = 1000, .source = 1 },
		  { 51000, 39000, phc0, 1, 1 },
		  none, { 900, 200 }, NIC_TS_PICK_REJECTED, NIC_TS_DOMAIN_MONO, 50000, 0 },
		{ "two NICs, two maps", { 1000, 9000, phc0, 1, 1 },
		  { 51000, 39000, phc1, 1, 1 },
		  { 2000, 100 }, { 41000, 200 }, NIC_TS_PICK_MAPPED, NIC_TS_DOMAIN_MONO,
		  39000, 300 },
		{ "TX alone, map", { 1000, 9000, phc0, 1, 1 }, { .ns = 51000, .source = 2 },
		  { 2000, 100 }, none, NIC_TS_PICK_MAPPED, NIC_TS_DOMAIN_MONO, 49000, 100 },
	};
	struct nic_ts_rtt rtt;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ktap_row = rows[i].name;
		memset(&rtt, 0, sizeof(rtt));
		CHECK_EQ(nic_ts_pick(&rows[i].tx, &rows[i].rx, &rows[i].tx_map,
				     &rows[i].rx_map, &rtt), rows[i].pick);
		CHECK_EQ(rtt.domain, rows[i].domain);
		CHECK_EQ(rtt.rx_ns - rtt.tx_ns, rows[i].rtt);
		CHECK_EQ(rtt.error_ns, rows[i].error);
	}
	ktap_row = NULL;
	CHECK_EQ(nic_ts_pick(&(struct nic_ts_stamp){ .ns = 5 },
			     &(struct nic_ts_stamp){ .ns = 4 }, &none, &none, &rtt),
		 NIC_TS_PICK_NONE);
}

static const struct ktap_case cases[] = {
	KTAP_CASE(rings__a_segment_and_its_ack),
	KTAP_CASE(rings__model),
	KTAP_CASE(rings__lost_first_ack),
	KTAP_CASE(rings__the_ack_before),
	KTAP_CASE(rings__retransmission),
	KTAP_CASE(rings__retract),
	KTAP_CASE(rings__gaps),
	KTAP_CASE(rings__unseen_segments),
	KTAP_CASE(rings__forged_acks),
	KTAP_CASE(rings__forged_in_flight),
	KTAP_CASE(rings__stale_acks),
	KTAP_CASE(pick__table),
};

int main(void)
{
	return ktap_run(cases, ARRAY_SIZE(cases));
}
