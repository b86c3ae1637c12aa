// SPDX-License-Identifier: GPL-2.0
/*
 * nic_ts_parse.h: packets of each kind, written byte by byte.
 */
#include <stdlib.h>

#include "ktap.h"
#include "nic_ts_parse.h"

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
	for (i = 318; i <= 321; i++) {
		begin(0x0800);
		ipv4(24, 8, 17);
		frame[frame_len + 2] = i >> 8;
		frame[frame_len + 3] = i & 0xff;
		frame_len += 8;
		CHECK_EQ(parse(&p), i == 319 || i == 320 ? NIC_TS_PARSE_PTP :
							   NIC_TS_PARSE_NOT_TCP);
	}
	/* The ports are missing. */
	begin(0x0800);
	ipv4(20, 2, 17);
	frame_len += 2;
	CHECK_EQ(parse(&p), NIC_TS_PARSE_NOT_TCP);
	begin(0x88f7);
	frame_len += 44;
	CHECK_EQ(parse(&p), NIC_TS_PARSE_PTP);
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

static const struct ktap_case cases[] = {
	KTAP_CASE(parse__ipv4),
	KTAP_CASE(parse__plain),
	KTAP_CASE(parse__options_flags_and_padding),
	KTAP_CASE(parse__ipv6_and_extensions),
	KTAP_CASE(parse__tags),
	KTAP_CASE(parse__what_is_left_alone),
	KTAP_CASE(parse__malformed),
	KTAP_CASE(parse__more_than_64_kb),
};

int main(void)
{
	return ktap_run(cases, ARRAY_SIZE(cases));
}
