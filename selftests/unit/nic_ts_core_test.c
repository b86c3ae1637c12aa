// SPDX-License-Identifier: GPL-2.0
/*
 * nic_ts_core.h: parser, maps, clock tracking, rings. Expected values are worked
 * out by hand, or by a slow model that keeps everything.
 */
#include <stdlib.h>

#include "ktap.h"
#include "nic_ts_core.h"

#define MS	1000000ULL
#define SEC	1000000000ULL

/* Parser ---------------------------------------------------------------------*/

static u8 frame[512];
static u32 frame_len;

static void begin(u16 type)
{
	memset(frame, 0, sizeof(frame));
	frame[12] = type >> 8;
	frame[13] = type;
	frame_len = 14;
}

static void tag(u16 type)
{
	frame[frame_len + 2] = type >> 8;
	frame[frame_len + 3] = type;
	frame_len += 4;
}

/* From 1.2.3.4 to 5.6.7.8; @extra follows. */
static u8 *ipv4(u32 hlen, u32 extra, u8 proto)
{
	static const u8 addr[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	u8 *h = frame + frame_len;

	h[0] = 0x40 | hlen / 4;
	h[1] = 0xb8;
	h[2] = (hlen + extra) >> 8;
	h[3] = hlen + extra;
	h[9] = proto;
	memcpy(h + 12, addr, 8);
	frame_len += hlen;
	return h;
}

static u8 *ipv6(u32 payload, u8 proto)
{
	u8 *h = frame + frame_len;

	h[0] = 0x6b;
	h[1] = 0x80;
	h[4] = payload >> 8;
	h[5] = payload;
	h[6] = proto;
	memset(h + 8, 0x11, 16);
	memset(h + 24, 0x22, 16);
	frame_len += 40;
	return h;
}

/* Port 1000 to 2000, seq 0xfffffff0, ack 0x01020304. */
static u8 *tcp(u32 hlen, u8 flags, u32 payload)
{
	u8 *h = frame + frame_len;

	h[0] = 1000 >> 8;
	h[1] = 1000 & 255;
	h[2] = 2000 >> 8;
	h[3] = 2000 & 255;
	memset(h + 4, 0xff, 3);
	h[7] = 0xf0;
	h[8] = 1;
	h[9] = 2;
	h[10] = 3;
	h[11] = 4;
	h[12] = hlen / 4 << 4;
	h[13] = flags;
	frame_len += hlen + payload;
	return h;
}

static int copy_frame(const void *ctx, u32 off, void *to, u32 len)
{
	memcpy(to, (const u8 *)ctx + off, len);
	return 0;
}

/* The frame with its first @linear bytes in one place, in memory of that size. */
static enum nic_ts_parse parse_linear(u32 linear, bool rx, bool gso,
				      struct nic_ts_packet *p)
{
	u8 *head = malloc(linear ? linear : 1);
	struct nic_ts_view v = {
		.linear = head, .linear_len = linear, .len = frame_len, .gso = gso,
		.copy = copy_frame, .ctx = frame,
	};
	enum nic_ts_parse res;

	memcpy(head, frame, linear);
	/* All of the result is written. */
	memset(p, 0xff, sizeof(*p));
	res = nic_ts_parse_ether(&v, rx, p);
	free(head);
	return res;
}

/* However the bytes are cut, the result is the same. */
static enum nic_ts_parse parse(struct nic_ts_packet *p)
{
	struct nic_ts_packet other;
	enum nic_ts_parse res = parse_linear(frame_len, true, false, p);
	u32 n;

	for (n = 0; n < frame_len; n++) {
		CHECK_EQ(parse_linear(n, true, false, &other), res);
		if (res == NIC_TS_PARSE_OK)
			CHECK(!memcmp(&other, p, sizeof(other)));
	}
	return res;
}

static void parse__ipv4(void)
{
	struct nic_ts_packet p;

	begin(0x0800);
	ipv4(20, 20 + 100, 6);
	tcp(20, NIC_TS_TCP_ACK, 100);
	CHECK_EQ(parse(&p), NIC_TS_PARSE_OK);
	CHECK_EQ(p.key.family, AF_INET);
	CHECK_EQ(ntohl(p.key.raddr[0]), 0x01020304);
	CHECK_EQ(ntohl(p.key.laddr[0]), 0x05060708);
	CHECK_EQ(p.key.laddr[1] | p.key.laddr[2] | p.key.laddr[3], 0);
	CHECK_EQ(ntohs(p.key.rport), 1000);
	CHECK_EQ(ntohs(p.key.lport), 2000);
	CHECK_EQ(p.seq, 0xfffffff0);
	CHECK_EQ(p.end_seq, 0x54);
	CHECK_EQ(p.ack_seq, 0x01020304);
	CHECK_EQ(p.payload, 100);
	CHECK_EQ(p.l4_off, 34);
	CHECK_EQ(p.flags, NIC_TS_TCP_ACK);
	CHECK_EQ(p.tos, 0xb8);
	CHECK_EQ(parse_linear(frame_len, false, false, &p), NIC_TS_PARSE_OK);
	CHECK_EQ(ntohl(p.key.laddr[0]), 0x01020304);
	CHECK_EQ(ntohs(p.key.lport), 1000);
}

/* What all but a few packets are has a short way, with the same results. */
static void parse__plain(void)
{
	struct nic_ts_packet p;

	begin(0x0800);
	ipv4(20, 20, 6);
	tcp(20, NIC_TS_TCP_SYN, 0);
	CHECK_EQ(parse(&p), NIC_TS_PARSE_OK);
	CHECK_EQ(p.end_seq, 0xfffffff1);
	begin(0x0800);
	ipv4(20, 32 + 1, 6);
	tcp(32, NIC_TS_TCP_FIN, 1);
	CHECK_EQ(parse(&p), NIC_TS_PARSE_OK);
	CHECK_EQ(p.end_seq, 0xfffffff2);
	/* It would be TCP by all but its protocol. */
	begin(0x0800);
	ipv4(20, 20, 17);
	tcp(20, 0, 0);
	CHECK_EQ(parse(&p), NIC_TS_PARSE_NOT_TCP);
	/* Its last byte is missing. */
	begin(0x0800);
	ipv4(20, 20 + 9, 6);
	tcp(20, 0, 9);
	frame_len--;
	CHECK_EQ(parse(&p), NIC_TS_PARSE_TRUNCATED);
}

static void parse__options_flags_and_padding(void)
{
	struct nic_ts_packet p;

	begin(0x0800);
	ipv4(60, 60, 6);
	tcp(60, NIC_TS_TCP_SYN | NIC_TS_TCP_FIN, 0);
	frame_len += 7;
	CHECK_EQ(parse(&p), NIC_TS_PARSE_OK);
	CHECK_EQ(p.payload, 0);
	CHECK_EQ(p.end_seq, 0xfffffff2);
}

static void parse__ipv6_and_extensions(void)
{
	struct nic_ts_packet p;
	u32 i;

	begin(0x86dd);
	ipv6(20 + 5, 6);
	tcp(20, 0, 5);
	CHECK_EQ(parse(&p), NIC_TS_PARSE_OK);
	CHECK_EQ(p.key.family, AF_INET6);
	CHECK_EQ(ntohl(p.key.laddr[3]), 0x22222222);
	CHECK_EQ(p.payload, 5);
	CHECK_EQ(p.tos, 0xb8);
	for (i = 1; i <= NIC_TS_MAX_EXT + 1; i++) {
		u32 n;

		begin(0x86dd);
		ipv6(20 + 16 * i, 60);
		for (n = 1; n <= i; n++) {
			frame[frame_len] = n == i ? 6 : 60;
			frame[frame_len + 1] = 1;
			frame_len += 16;
		}
		tcp(20, 0, 0);
		CHECK_EQ(parse(&p), i <= NIC_TS_MAX_EXT ? NIC_TS_PARSE_OK :
							  NIC_TS_PARSE_TOO_DEEP);
	}
}

static void parse__tags(void)
{
	struct nic_ts_packet p;

	begin(0x8100);
	tag(0x0800);
	ipv4(20, 20, 6);
	tcp(20, 0, 0);
	CHECK_EQ(parse(&p), NIC_TS_PARSE_OK);
	begin(0x88a8);
	tag(0x8100);
	tag(0x86dd);
	ipv6(20, 6);
	tcp(20, 0, 0);
	CHECK_EQ(parse(&p), NIC_TS_PARSE_OK);
	CHECK_EQ(p.l4_off, 62);
	begin(0x88a8);
	tag(0x8100);
	tag(0x8100);
	tag(0x0800);
	ipv4(20, 20, 6);
	tcp(20, 0, 0);
	CHECK_EQ(parse(&p), NIC_TS_PARSE_TOO_DEEP);
}

static void parse__what_is_left_alone(void)
{
	static const u8 encap[] = { 4, 41, 47, 50, 51, 137 };
	static const u16 types[] = { 0x8847, 0x8848, 0x8864, 0x894f };
	struct nic_ts_packet p;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(encap); i++) {
		begin(0x0800);
		ipv4(20, 20, encap[i]);
		frame_len += 20;
		CHECK_EQ(parse(&p), NIC_TS_PARSE_ENCAP);
	}
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		begin(types[i]);
		frame_len += 60;
		CHECK_EQ(parse(&p), NIC_TS_PARSE_ENCAP);
	}
	begin(0x0806);
	frame_len += 28;
	CHECK_EQ(parse(&p), NIC_TS_PARSE_NOT_IP);
	begin(0x0800);
	ipv4(20, 8, 17);
	frame_len += 8;
	CHECK_EQ(parse(&p), NIC_TS_PARSE_NOT_TCP);
	begin(0x0800);
	ipv4(20, 20, 6)[6] = 0x20;
	tcp(20, 0, 0);
	CHECK_EQ(parse(&p), NIC_TS_PARSE_FRAGMENT);
	begin(0x0800);
	ipv4(20, 20, 6)[7] = 1;
	tcp(20, 0, 0);
	CHECK_EQ(parse(&p), NIC_TS_PARSE_FRAGMENT);
	/* Do not fragment is no fragment. */
	begin(0x0800);
	ipv4(20, 20, 6)[6] = 0x40;
	tcp(20, 0, 0);
	CHECK_EQ(parse(&p), NIC_TS_PARSE_OK);
	begin(0x86dd);
	ipv6(28, 44);
	frame_len += 28;
	CHECK_EQ(parse(&p), NIC_TS_PARSE_FRAGMENT);
	begin(0x86dd);
	ipv6(28, 43);
	frame[frame_len] = 6;
	frame[frame_len + 3] = 1;
	frame_len += 8;
	tcp(20, 0, 0);
	CHECK_EQ(parse(&p), NIC_TS_PARSE_ENCAP);
}

static void parse__malformed(void)
{
	struct nic_ts_packet p;
	u32 full, n;

	begin(0x0800);
	ipv4(16, 20, 6);
	tcp(20, 0, 0);
	CHECK_EQ(parse(&p), NIC_TS_PARSE_MALFORMED);
	begin(0x0800);
	ipv4(20, 20, 6)[0] = 0x65;
	tcp(20, 0, 0);
	CHECK_EQ(parse(&p), NIC_TS_PARSE_MALFORMED);
	begin(0x86dd);
	ipv6(20, 6)[0] = 0x45;
	tcp(20, 0, 0);
	CHECK_EQ(parse(&p), NIC_TS_PARSE_MALFORMED);
	begin(0x0800);
	ipv4(20, 20, 6);
	tcp(16, 0, 0);
	frame_len += 4;
	CHECK_EQ(parse(&p), NIC_TS_PARSE_MALFORMED);
	begin(0x0800);
	ipv4(20, 20, 6);
	tcp(24, 0, 0);
	CHECK_EQ(parse(&p), NIC_TS_PARSE_MALFORMED);
	begin(0x0800);
	ipv4(20, 19, 6);
	tcp(20, 0, 0);
	CHECK_EQ(parse(&p), NIC_TS_PARSE_MALFORMED);
	begin(0x86dd);
	ipv6(8, 60);
	frame[frame_len] = 6;
	frame[frame_len + 1] = 1;
	frame_len += 8;
	CHECK_EQ(parse(&p), NIC_TS_PARSE_MALFORMED);
	/* Cut anywhere, it is truncated, and nothing behind the end is read. */
	begin(0x8100);
	tag(0x0800);
	ipv4(20, 20 + 9, 6);
	tcp(20, 0, 9);
	full = frame_len;
	for (n = 0; n < full; n++) {
		frame_len = n;
		CHECK_EQ(parse(&p), NIC_TS_PARSE_TRUNCATED);
	}
	begin(0x86dd);
	ipv6(20 + 9, 6);
	tcp(20, 0, 9);
	full = frame_len;
	for (n = 0; n < full; n++) {
		frame_len = n;
		CHECK_EQ(parse(&p), NIC_TS_PARSE_TRUNCATED);
	}
}

static void parse__more_than_64_kb(void)
{
	struct nic_ts_packet p;

	begin(0x0800);
	ipv4(20, -20, 6);
	tcp(20, 0, 200);
	CHECK_EQ(parse_linear(frame_len, false, false, &p), NIC_TS_PARSE_MALFORMED);
	CHECK_EQ(parse_linear(frame_len, false, true, &p), NIC_TS_PARSE_OK);
	CHECK_EQ(p.payload, 200);
	begin(0x86dd);
	ipv6(0, 6);
	tcp(20, 0, 200);
	CHECK_EQ(parse_linear(frame_len, false, false, &p), NIC_TS_PARSE_MALFORMED);
	CHECK_EQ(parse_linear(frame_len, false, true, &p), NIC_TS_PARSE_OK);
	CHECK_EQ(p.payload, 200);
}

/* Map ------------------------------------------------------------------------*/

static void map__ranges(void)
{
	struct nic_ts_map map;

	CHECK(!nic_ts_map_init(&map, 1, 1, 0, 0, 0, NIC_TS_MIN_AGE_NS));
	CHECK(nic_ts_map_init(&map, 0, 1, 0, 0, 0, SEC));
	CHECK(nic_ts_map_init(&map, 1, 0, 0, 0, 0, SEC));
	CHECK(nic_ts_map_init(&map, 1ULL << 62, 1, 0, 0, 0, SEC));
	CHECK(nic_ts_map_init(&map, 1, 1ULL << 62, 0, 0, 0, SEC));
	CHECK(!nic_ts_map_init(&map, 1, 1, 500000000, 0, 500000, SEC));
	CHECK(!nic_ts_map_init(&map, 1, 1, -500000000, 0, 0, SEC));
	CHECK(nic_ts_map_init(&map, 1, 1, 500000001, 0, 0, SEC));
	CHECK(nic_ts_map_init(&map, 1, 1, -500000001, 0, 0, SEC));
	CHECK(nic_ts_map_init(&map, 1, 1, 0, 0, 500001, SEC));
	CHECK(nic_ts_map_init(&map, 1, 1, 0, 0, 0, NIC_TS_MIN_AGE_NS - 1));
	CHECK(nic_ts_map_init(&map, 1, 1, 0, 0, 0, NIC_TS_MAX_AGE_NS + 1));
}

/* Against long double, within the rounding that is claimed. */
static void map__model(void)
{
	static const s64 rates[] = { 0, 1, -1, 1000000, -12345678, 500000000, -500000000 };
	static const u64 ages[] = { 0, 1, 999, 1 << 20, SEC, 60 * SEC, 3600 * SEC };
	const u64 ref = 1700000000ULL * SEC, host = 5000 * SEC;
	struct nic_ts_map map;
	u64 got, clock;
	u32 i, j, err;
	int sign;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		CHECK(!nic_ts_map_init(&map, ref, host, rates[i], 100, 1000,
				       NIC_TS_MAX_AGE_NS));
		for (j = 0; j < ARRAY_SIZE(ages); j++) {
			for (sign = -1; sign <= 1; sign += 2) {
				long double age = (long double)ages[j] * sign;
				long double want = age + age * rates[i] / 1e12L;
				long double off;

				clock = sign < 0 ? ref - ages[j] : ref + ages[j];
				CHECK(nic_ts_map_apply(&map, clock, &got, &err));
				off = (long double)(s64)(got - host) - want;
				CHECK(off <= NIC_TS_MAP_ROUNDING_NS &&
				      off >= -NIC_TS_MAP_ROUNDING_NS);
				CHECK(err >= 100 + (u64)(ages[j] * 1e-6L));
				CHECK(err <= 110 + (u64)(ages[j] * 1.01e-6L));
			}
		}
	}
}

static void map__age_and_underflow(void)
{
	struct nic_ts_map map;
	u64 host;
	u32 err;

	CHECK(!nic_ts_map_init(&map, 10 * SEC, 1 * SEC, 0, 0, 0, 2 * SEC));
	CHECK(nic_ts_map_apply(&map, 12 * SEC, &host, &err));
	CHECK_EQ(host, 3 * SEC);
	CHECK(!nic_ts_map_apply(&map, 12 * SEC + 1, &host, &err));
	CHECK(!nic_ts_map_apply(&map, 8 * SEC, &host, &err));
	CHECK(nic_ts_map_apply(&map, 9 * SEC + 1, &host, &err));
	CHECK_EQ(host, 1);
	CHECK(!nic_ts_map_apply(&map, 9 * SEC, &host, &err));
	CHECK(!nic_ts_map_init(&map, 10 * SEC, SEC, 0, U32_MAX, 500000, 2 * SEC));
	CHECK(nic_ts_map_apply(&map, 12 * SEC, &host, &err));
	CHECK_EQ(err, U32_MAX);
}

static void map__contradiction(void)
{
	struct nic_ts_map old, new;

	CHECK(!nic_ts_map_init(&old, 10 * SEC, 20 * SEC, 0, 100, 0, 10 * SEC));
	CHECK(!nic_ts_map_init(&new, 11 * SEC, 21 * SEC + 150, 0, 100, 0, 10 * SEC));
	CHECK(nic_ts_map_agrees(&old, &new));
	CHECK(!nic_ts_map_init(&new, 11 * SEC, 21 * SEC + 300, 0, 100, 0, 10 * SEC));
	CHECK(!nic_ts_map_agrees(&old, &new));
	CHECK(!nic_ts_map_init(&new, 11 * SEC, 21 * SEC - 300, 0, 100, 0, 10 * SEC));
	CHECK(!nic_ts_map_agrees(&old, &new));
	/* Out of the old one's reach. */
	CHECK(!nic_ts_map_init(&new, 30 * SEC, 21 * SEC, 0, 100, 0, 10 * SEC));
	CHECK(nic_ts_map_agrees(&old, &new));
}

/* The inverse slope: never smaller than the true one, and by less than a last bit larger. */
static void map__inverse_slope(void)
{
	s64 rate;

	CHECK_EQ(nic_ts_map_inverse(0), 0);
	CHECK_EQ(nic_ts_map_inverse(1), -1);
	for (rate = -549755814; rate <= 549755814; rate += 1234567) {
		long double one = 1LL << 40, want = -rate * one / (one + rate);
		long double more = nic_ts_map_inverse((s32)rate) - want;

		if (want < 0)
			more = -more;
		CHECK(more >= 0 && more < 1);
	}
}

/* The other direction, within the same rounding, and back again. */
static void map__inverse_model(void)
{
	static const s64 rates[] = {
		0, 1, -1, 37, -37, 1000000, -12345678, 100000000, 499999999, 500000000, -500000000,
	};
	static const u64 ages[] = {
		0, 1, 999, 1 << 20, (1 << 20) + 1, SEC, 60 * SEC + 1, 3598 * SEC,
	};
	const u64 ref = 1700000000ULL * SEC, host = 5000 * SEC;
	u64 got, back, at, apart;
	struct nic_ts_map map;
	u32 i, j, err, err_back;
	int sign;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		CHECK(!nic_ts_map_init(&map, ref, host, rates[i], 100, 1000,
				       NIC_TS_MAX_AGE_NS));
		for (j = 0; j < ARRAY_SIZE(ages); j++) {
			for (sign = -1; sign <= 1; sign += 2) {
				long double age = (long double)ages[j] * sign;
				long double off;

				at = sign < 0 ? host - ages[j] : host + ages[j];
				CHECK(nic_ts_map_invert(&map, at, &got, &err));
				off = (s64)(got - ref) - age / (1 + rates[i] / 1e12L);
				CHECK(off <= NIC_TS_MAP_ROUNDING_NS &&
				      off >= -NIC_TS_MAP_ROUNDING_NS);
				CHECK(err >= 100 + (u64)(ages[j] * 1e-6L));
				CHECK(err <= 115 + (u64)(ages[j] * 1.01e-6L));
				CHECK(nic_ts_map_apply(&map, got, &back, &err_back));
				apart = nic_ts_apart(back, at);
				CHECK(apart <= 2 * NIC_TS_MAP_ROUNDING_NS);
			}
		}
	}
}

/* A clock that is as far from the map as that allows is within the inverse's error. */
static void map__inverse_bound(void)
{
	static const s64 rates[] = { 0, 77777, -77777, 500000000, -500000000 };
	static const u32 drifts[] = { 0, 1, 1000, 500000 };
	static const u32 errors[] = { 0, 100, 1000000, 2000000000 };
	static const u64 ages[] = { 0, 1, SEC, 60 * SEC, 1800 * SEC };
	const u32 total = ARRAY_SIZE(rates) * ARRAY_SIZE(drifts) * ARRAY_SIZE(errors) *
			  ARRAY_SIZE(ages) * 4;
	const u64 ref = 1700000000ULL * SEC, host = 500000 * SEC;
	u32 n, err, bad = 0, checked = 0;
	u64 got, clock, most, at;
	struct nic_ts_map map;

	for (n = 0; n < total; n++) {
		int sign = n & 1 ? 1 : -1, end = n & 2 ? 1 : -1;
		s64 rate = rates[n / 4 % ARRAY_SIZE(rates)];
		u32 drift = drifts[n / 20 % ARRAY_SIZE(drifts)];
		u32 error = errors[n / 80 % ARRAY_SIZE(errors)];
		u64 age = ages[n / 320 % ARRAY_SIZE(ages)];

		CHECK(!nic_ts_map_init(&map, ref, host, rate, error, drift,
				       NIC_TS_MAX_AGE_NS));
		clock = sign < 0 ? ref - age : ref + age;
		most = error + age * drift / 1000000000;
		at = host + (s64)(sign * (age + age * (rate / 1e12L))) + end * (s64)most;
		CHECK(nic_ts_map_invert(&map, at, &got, &err));
		bad += nic_ts_apart(got, clock) > err;
		checked += err < U32_MAX;
		/* And no more careful than it has to be. */
		CHECK(err == U32_MAX || err <= most + most / 250 + (age >> 31) + 20);
	}
	CHECK_EQ(bad, 0);
	CHECK(checked > 1500);
}

static void map__inverse_range(void)
{
	struct nic_ts_map map;
	u64 clock;
	s64 rate;
	u32 err;

	CHECK(!nic_ts_map_init(&map, SEC, 10 * SEC, 0, 0, 0, 2 * SEC));
	CHECK(nic_ts_map_invert(&map, 12 * SEC, &clock, &err));
	CHECK_EQ(clock, 3 * SEC);
	CHECK(!nic_ts_map_invert(&map, 12 * SEC + 1, &clock, &err));
	CHECK(!nic_ts_map_invert(&map, 8 * SEC, &clock, &err));
	CHECK(nic_ts_map_invert(&map, 9 * SEC + 1, &clock, &err));
	CHECK_EQ(clock, 1);
	CHECK(!nic_ts_map_invert(&map, 9 * SEC, &clock, &err));
	CHECK(!nic_ts_map_invert(&map, 0, &clock, &err));
	/* Where the products would wrap, to a time nearby for some of the rates. */
	for (rate = -500000000; rate <= 500000000; rate += 3333333) {
		CHECK(!nic_ts_map_init(&map, SEC, 1, rate, 0, 0, NIC_TS_MAX_AGE_NS));
		CHECK(!nic_ts_map_invert(&map, UINT64_MAX, &clock, &err));
	}

	/* As far as the clock is from its reference, not the host. */
	CHECK(!nic_ts_map_init(&map, SEC, 10 * SEC, 500000000, 0, 0, 2 * SEC));
	CHECK(nic_ts_map_invert(&map, 12 * SEC + 900000, &clock, &err));
	CHECK(!nic_ts_map_invert(&map, 12 * SEC + 1001000, &clock, &err));
	CHECK(!nic_ts_map_init(&map, SEC, 10 * SEC, -500000000, 0, 0, 2 * SEC));
	CHECK(!nic_ts_map_invert(&map, 12 * SEC, &clock, &err));
	CHECK(nic_ts_map_invert(&map, 12 * SEC - 1001000, &clock, &err));

	/* At the end of all times that there are. */
	CHECK(!nic_ts_map_init(&map, NIC_TS_MAX_TIME_NS - 1, NIC_TS_MAX_TIME_NS - 1,
			       -500000000, U32_MAX, 500000, NIC_TS_MAX_AGE_NS));
	CHECK(nic_ts_map_invert(&map, NIC_TS_MAX_TIME_NS + 3598 * SEC, &clock, &err));
	CHECK_EQ(err, U32_MAX);
}

/* Track ----------------------------------------------------------------------*/

static void track__delays_are_believed(void)
{
	/* A clock that is ahead of the host's by a lot, or behind it. */
	static const u64 offsets[] = { 1700000000ULL * SEC, -(4 * SEC) };
	struct nic_ts_track t;
	u64 host, delay;
	bool stepped;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		memset(&t, 0, sizeof(t));
		host = 100 * SEC;
		for (n = 0; n < 10000; n++) {
			host += 100000;
			delay = (n * 7919 % 1000) * 90000;
			CHECK_EQ(nic_ts_track_seen(&t, host + offsets[i] - delay, host, 0,
						   &stepped), NIC_TS_HW_OK);
			CHECK(!stepped);
		}
	}
}

/*
 * The host's clock slewed by 500 ppm for ten minutes, either way; a jump after
 * that is noticed as it would have been before.
 */
static void track__drift_is_no_step(void)
{
	struct nic_ts_track t;
	u64 host, hw;
	bool stepped;
	int sign, n;

	for (sign = -1; sign <= 1; sign += 2) {
		memset(&t, 0, sizeof(t));
		host = 100 * SEC;
		hw = 50 * SEC;
		for (n = 0; n < 60000; n++) {
			host += 10 * MS;
			hw += 10 * MS + sign * 5000;
			CHECK_EQ(nic_ts_track_seen(&t, hw, host, 0, &stepped), NIC_TS_HW_OK);
			CHECK(!stepped);
		}
		hw += sign * 150LL * MS;
		CHECK_EQ(nic_ts_track_seen(&t, hw, host, 0, &stepped),
			 sign < 0 ? NIC_TS_HW_STALE : NIC_TS_HW_FUTURE);
	}
}

static void track__one_is_refused_four_are_a_step(void)
{
	static const s64 jumps[] = { 1000000000LL, -1000000000LL, 110000000LL, -110000000LL };
	struct nic_ts_track t;
	u64 host, hw;
	bool stepped;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(jumps); i++) {
		enum nic_ts_hw_verdict want = jumps[i] > 0 ? NIC_TS_HW_FUTURE :
							     NIC_TS_HW_STALE;

		memset(&t, 0, sizeof(t));
		host = 100 * SEC;
		hw = 50 * SEC;
		CHECK_EQ(nic_ts_track_seen(&t, hw, host, 0, &stepped), NIC_TS_HW_OK);
		CHECK_EQ(nic_ts_track_seen(&t, hw + jumps[i], host, 0, &stepped), want);
		CHECK_EQ(nic_ts_track_seen(&t, hw + 1000, host + 1000, 0, &stepped),
			 NIC_TS_HW_OK);
		for (n = 1; n <= NIC_TS_TRACK_STRIKES; n++) {
			enum nic_ts_hw_verdict got;

			got = nic_ts_track_seen(&t, hw + n * 1000 + jumps[i],
						host + n * 1000, 0, &stepped);
			CHECK_EQ(stepped, n == NIC_TS_TRACK_STRIKES);
			CHECK_EQ(got, stepped ? NIC_TS_HW_OK : want);
		}
		CHECK_EQ(nic_ts_track_seen(&t, hw + MS + jumps[i], host + MS, 0, &stepped),
			 NIC_TS_HW_OK);
	}
}

static void track__order_and_range(void)
{
	struct nic_ts_track t = {};
	bool stepped;

	CHECK_EQ(nic_ts_track_seen(&t, 50 * SEC, 100 * SEC, 0, &stepped), NIC_TS_HW_OK);
	CHECK_EQ(nic_ts_track_seen(&t, 50 * SEC + 5, 100 * SEC + 9, 50 * SEC + 6, &stepped),
		 NIC_TS_HW_DISORDER);
	CHECK_EQ(nic_ts_track_seen(&t, 50 * SEC + 6, 100 * SEC + 9, 50 * SEC + 6, &stepped),
		 NIC_TS_HW_OK);
	CHECK_EQ(nic_ts_track_seen(&t, 0, 100 * SEC, 0, &stepped), NIC_TS_HW_RANGE);
	CHECK_EQ(nic_ts_track_seen(&t, ~0ULL, 100 * SEC, 0, &stepped), NIC_TS_HW_RANGE);
}

/* Rings ----------------------------------------------------------------------*/

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

	return nic_ts_tx_push(r, seq, seq + len, &s, ns / 2);
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
	CHECK_EQ(tr.cum_pause_ns, 10);
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

/* What was acknowledged of a segment before its end was. */
static void rings__a_part_of_a_segment(void)
{
	struct nic_ts_ack_ring a = ack_ring(8);
	struct nic_ts_ack_record ar;
	u32 i;

	CHECK(!nic_ts_ack_part(&a, 100, 200, &ar));
	CHECK(ack(&a, 100, 5));
	CHECK(!nic_ts_ack_part(&a, 100, 200, &ar));
	CHECK(ack(&a, 150, 6));
	CHECK(ack(&a, 180, 7));
	CHECK(ack(&a, 230, 8));
	CHECK(nic_ts_ack_part(&a, 100, 200, &ar));
	CHECK_EQ(ar.ack_seq, 180);
	CHECK_EQ(ar.stamp.ns, 7);
	/* One of the end alone is none of a part. */
	CHECK(nic_ts_ack_part(&a, 100, 180, &ar));
	CHECK_EQ(ar.ack_seq, 150);
	CHECK(!nic_ts_ack_part(&a, 180, 230, &ar));

	/* Of what the ring lost last, up to where is known, but not when. */
	for (i = 1; i <= 8; i++)
		CHECK(ack(&a, 230 + i * 10, 8 + i));
	CHECK(nic_ts_ack_part(&a, 200, 240, &ar));
	CHECK_EQ(ar.ack_seq, 230);
	CHECK_EQ(ar.stamp.ns, 0);
	CHECK(!nic_ts_ack_part(&a, 180, 230, &ar));
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

/* Pick -----------------------------------------------------------------------*/

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
	KTAP_CASE(parse__ipv4),
	KTAP_CASE(parse__plain),
	KTAP_CASE(parse__options_flags_and_padding),
	KTAP_CASE(parse__ipv6_and_extensions),
	KTAP_CASE(parse__tags),
	KTAP_CASE(parse__what_is_left_alone),
	KTAP_CASE(parse__malformed),
	KTAP_CASE(parse__more_than_64_kb),
	KTAP_CASE(map__ranges),
	KTAP_CASE(map__model),
	KTAP_CASE(map__age_and_underflow),
	KTAP_CASE(map__contradiction),
	KTAP_CASE(map__inverse_slope),
	KTAP_CASE(map__inverse_model),
	KTAP_CASE(map__inverse_bound),
	KTAP_CASE(map__inverse_range),
	KTAP_CASE(track__delays_are_believed),
	KTAP_CASE(track__drift_is_no_step),
	KTAP_CASE(track__one_is_refused_four_are_a_step),
	KTAP_CASE(track__order_and_range),
	KTAP_CASE(rings__a_segment_and_its_ack),
	KTAP_CASE(rings__model),
	KTAP_CASE(rings__lost_first_ack),
	KTAP_CASE(rings__a_part_of_a_segment),
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
