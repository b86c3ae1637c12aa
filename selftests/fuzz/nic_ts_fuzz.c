// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: the pure headers of nic_ts on any packet, map and sequence of events.
 *
 * Input: one byte says what the rest is. A packet: where its linear part ends,
 * then the frame. A map and readings: struct fuzz_map, then u64 each. A flow:
 * struct fuzz_event each. A clock: struct fuzz_stamp each. What must hold is in
 * the must() lines; the sanitizers watch the arithmetic and the memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nic_ts_parse.h"
#include "nic_ts_ring.h"

#define must(cond) do {							\
	if (!(cond)) {							\
		fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #cond); \
		abort();						\
	}								\
} while (0)

#define RECORDS	8

struct fuzz_map {
	u64 clock;
	u64 host;
	s64 rate;
	u32 error;
	u32 drift;
	u64 age;
} __attribute__((packed));

struct fuzz_event {
	u8 what;
	u32 seq;
	u16 len;
} __attribute__((packed));

struct fuzz_stamp {
	u64 hw;
	u32 elapsed;
	u32 last;
} __attribute__((packed));

/* A structure from the input; what is missing is 0. */
static void take(void *to, size_t size, const u8 **data, size_t *left)
{
	size_t n = size < *left ? size : *left;

	memset(to, 0, size);
	memcpy(to, *data, n);
	*data += n;
	*left -= n;
}

static int copy_bytes(const void *ctx, u32 off, void *to, u32 len)
{
	memcpy(to, (const u8 *)ctx + off, len);
	return 0;
}

static void fuzz_packet(const u8 *data, size_t size)
{
	struct nic_ts_packet whole, cut;
	struct nic_ts_view v = {};
	enum nic_ts_parse res;
	u32 linear;
	u8 *frame;
	bool rx;

	if (size < 2)
		return;
	linear = data[0];
	rx = data[1] & 1;
	v.gso = data[1] & 2;
	data += 2;
	size -= 2;
	/* Memory of that size and no more. */
	frame = malloc(size + 1);
	memcpy(frame, data, size);
	frame = realloc(frame, size ? size : 1);

	v.linear = frame;
	v.linear_len = size;
	v.len = size;
	res = nic_ts_parse_ether(&v, rx, &whole);
	must(res < NIC_TS_PARSE_MAX);
	if (res == NIC_TS_PARSE_OK) {
		must(whole.l4_off + 20 <= size);
		must(whole.payload <= size - whole.l4_off - 20);
		must(whole.end_seq - whole.seq - whole.payload <= 2);
		must(whole.key.family == AF_INET || whole.key.family == AF_INET6);
	}
	v.copy = copy_bytes;
	v.ctx = frame;
	v.linear_len = linear < size ? linear : size;
	must(nic_ts_parse_ether(&v, rx, &cut) == res);
	if (res == NIC_TS_PARSE_OK)
		must(!memcmp(&whole, &cut, sizeof(cut)));
	free(frame);
}

/* The other direction: as the model, back to where it came from, and within its bound. */
static void fuzz_inverse(const struct nic_ts_map *map, const struct fuzz_map *in, u64 host)
{
	u64 clock, back;
	__int128 want;
	u32 err, e;
	s64 age;

	if (!nic_ts_map_invert(map, host, &clock, &err))
		return;
	age = (s64)(host - in->host);
	must(nic_ts_apart(clock, in->clock) <= in->age);
	want = (__int128)in->clock +
	       (__int128)age * 1000000000000LL / (1000000000000LL + in->rate);
	must(want - (__int128)clock <= NIC_TS_MAP_ROUNDING_NS);
	must((__int128)clock - want <= NIC_TS_MAP_ROUNDING_NS);
	want = in->error + (__int128)nic_ts_apart(clock, in->clock) * in->drift / 1000000000;
	must(err == U32_MAX || err >= want);
	if (nic_ts_map_apply(map, clock, &back, &e))
		must(nic_ts_apart(back, host) <= 2 * NIC_TS_MAP_ROUNDING_NS);
}

static void fuzz_readings(const u8 *data, size_t size)
{
	struct nic_ts_map map, before;
	u64 clock, host, last_clock = 0, last_host = 0;
	struct fuzz_map in;
	u32 err;

	take(&in, sizeof(in), &data, &size);
	memset(&map, 0x55, sizeof(map));
	before = map;
	if (nic_ts_map_init(&map, in.clock, in.host, in.rate, in.error, in.drift, in.age)) {
		must(!memcmp(&map, &before, sizeof(map)));
		return;
	}
	must(nic_ts_map_agrees(&map, &map));
	while (size) {
		__int128 want;
		s64 age;

		take(&clock, sizeof(clock), &data, &size);
		/* Half of them near the reference. */
		if (clock & 1)
			clock = in.clock + (s64)(clock % (2 * in.age)) - (s64)in.age;
		fuzz_inverse(&map, &in, clock - in.clock + in.host);
		if (!nic_ts_map_apply(&map, clock, &host, &err))
			continue;
		age = (s64)(clock - in.clock);
		must((u64)llabs(age) <= in.age);
		want = (__int128)in.host + age + (__int128)age * in.rate / 1000000000000LL;
		must(want - (__int128)host <= NIC_TS_MAP_ROUNDING_NS);
		must((__int128)host - want <= NIC_TS_MAP_ROUNDING_NS);
		want = in.error + (__int128)llabs(age) * in.drift / 1000000000;
		must(err == U32_MAX || err >= want);
		if (last_host && clock >= last_clock)
			must(host + NIC_TS_MAP_ROUNDING_NS >= last_host);
		last_clock = clock;
		last_host = host;
	}
}

static void check_rings(const struct nic_ts_tx_ring *t, const struct nic_ts_ack_ring *a)
{
	u32 n;

	must(t->head - t->base <= RECORDS);
	must(a->head - a->base <= RECORDS);
	for (n = t->base; n != t->head; n++) {
		const struct nic_ts_tx_record *rec = nic_ts_tx_at(t, n);

		must(rec->seq != rec->end_seq);
		if (n + 1 != t->head)
			must(!nic_ts_before(nic_ts_tx_at(t, n + 1)->seq, rec->end_seq));
	}
	for (n = a->base; n != a->head && n + 1 != a->head; n++)
		must(nic_ts_before(nic_ts_ack_at(a, n)->ack_seq,
				   nic_ts_ack_at(a, n + 1)->ack_seq));
}

/* Whatever came before, the ACK of all that was sent is taken, or was. */
static void check_alive(const struct nic_ts_tx_ring *t, const struct nic_ts_ack_ring *a)
{
	struct nic_ts_sent sent = nic_ts_tx_sent(t);
	struct nic_ts_ack_record rec[RECORDS];
	struct nic_ts_stamp stamp = {};
	struct nic_ts_ack_ring copy = *a;

	if (sent.from == sent.to)
		return;
	memcpy(rec, a->rec, sizeof(rec));
	copy.rec = rec;
	if (nic_ts_ack_push(&copy, &sent, sent.to, &stamp) == NIC_TS_ACK_OLD)
		must(a->head != a->base &&
		     nic_ts_ack_at(a, a->head - 1)->ack_seq == sent.to);
	else
		must(nic_ts_ack_at(&copy, copy.head - 1)->ack_seq == sent.to);
}

static void fuzz_ack(const struct nic_ts_tx_ring *t, struct nic_ts_ack_ring *a, u32 seq,
		     const struct nic_ts_stamp *stamp)
{
	struct nic_ts_sent sent = nic_ts_tx_sent(t);
	struct nic_ts_ack_ring was = *a;

	must(sent.to - sent.from < NIC_TS_RING_SPAN);
	if (nic_ts_ack_push(a, &sent, seq, stamp) == NIC_TS_ACK_RECORDED) {
		must(nic_ts_before(sent.from, seq));
		must(!nic_ts_before(sent.to, seq));
	} else {
		must(!memcmp(&was, a, sizeof(was)));
	}
	check_alive(t, a);
}

static void fuzz_flow(const u8 *data, size_t size)
{
	struct nic_ts_tx_record tx_rec[RECORDS], tr;
	struct nic_ts_ack_record ack_rec[RECORDS] = {}, ar;
	struct nic_ts_tx_ring t = { .mask = RECORDS - 1, .rec = tx_rec };
	struct nic_ts_ack_ring a = { .mask = RECORDS - 1, .rec = ack_rec };
	struct nic_ts_stamp stamp = { .ns = 1 };
	struct fuzz_event e;
	u32 next = 0;

	while (size) {
		take(&e, sizeof(e), &data, &size);
		stamp.ns++;
		switch (e.what % 6) {
		case 0:	/* what TCP does */
			nic_ts_tx_push(&t, next, next + e.len, &stamp);
			next += e.len;
			break;
		case 1:	/* anything */
			nic_ts_tx_push(&t, e.seq, e.seq + e.len, &stamp);
			break;
		case 2:
			fuzz_ack(&t, &a, next - e.len, &stamp);
			break;
		case 3:
			fuzz_ack(&t, &a, e.seq, &stamp);
			break;
		case 4:
			nic_ts_tx_retract(&t, next - e.len, next);
			break;
		case 5:
			if (nic_ts_tx_acked(&t, e.seq, &tr) == NIC_TS_RTT_NO_TX)
				break;
			must(!nic_ts_before(e.seq, tr.end_seq));
			if (nic_ts_ack_find(&a, tr.end_seq, e.seq, &ar) == NIC_TS_RTT_OK) {
				must(!nic_ts_before(ar.ack_seq, tr.end_seq));
				must(!nic_ts_before(e.seq, ar.ack_seq));
			}
			if (nic_ts_ack_before(&a, tr.end_seq, &ar))
				must(nic_ts_before(ar.ack_seq, tr.end_seq));
			break;
		}
		check_rings(&t, &a);
	}
}

static void fuzz_clock(const u8 *data, size_t size)
{
	struct nic_ts_track t = {};
	u64 host = 1000000000;
	struct fuzz_stamp s;
	u32 refused = 0;
	bool stepped;

	while (size) {
		take(&s, sizeof(s), &data, &size);
		host += s.elapsed;
		if (nic_ts_track_seen(&t, s.hw, host, s.last, &stepped) == NIC_TS_HW_OK) {
			must(s.hw && s.hw < NIC_TS_MAX_TIME_NS);
			refused = 0;
		} else {
			must(!stepped);
			/* What is no time at all says nothing about the clock. */
			refused += s.hw && s.hw < NIC_TS_MAX_TIME_NS;
		}
		must(refused < NIC_TS_TRACK_STRIKES);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	if (!size)
		return 0;
	switch (data[0] & 3) {
	case 0:
		fuzz_packet(data + 1, size - 1);
		break;
	case 1:
		fuzz_readings(data + 1, size - 1);
		break;
	case 2:
		fuzz_flow(data + 1, size - 1);
		break;
	case 3:
		fuzz_clock(data + 1, size - 1);
		break;
	}
	return 0;
}
