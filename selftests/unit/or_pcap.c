// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of the OR protocol for tools/or-dissector, made by or_proto.h:
 *
 *	or_pcap FILE
 *
 * writes a capture to FILE, one frame per message, over IPv4 and IPv6. To stdout it writes the
 * dissector's expected output: one line per frame, the fields of or_dissector (the test)
 * separated by "|".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "or_proto.h"
#include "random.h"

#define MAX_PAYLOAD	128

static FILE *out;

/* pcap: little endian, ns, Ethernet. */
static void put_le(u64 value, int bytes)
{
	for (; bytes--; value >>= 8)
		fputc((int)(value & 0xff), out);
}

static void put_be(u64 value, int bytes)
{
	while (bytes--)
		fputc((int)(value >> (8 * bytes) & 0xff), out);
}

static void file_header(void)
{
	put_le(0xa1b23c4d, 4);
	put_le(2, 2);
	put_le(4, 2);
	put_le(0, 8);
	put_le(65535, 4);
	put_le(1, 4);
}

static void frame(const u8 *payload, u32 len, bool v6)
{
	static u32 seconds;
	u32 size = 14 + (v6 ? 40 : 20) + 8 + len;

	put_le(seconds++, 4);
	put_le(0, 4);
	put_le(size, 4);
	put_le(size, 4);
	put_be(0x020000000002ULL, 6);
	put_be(0x020000000001ULL, 6);
	put_be(v6 ? 0x86dd : 0x0800, 2);
	if (v6) {
		put_be(0x60000000, 4);
		put_be(8 + len, 2);
		put_be(0x1140, 2);
		put_be(0xfd00000000000000ULL, 8);
		put_be(2, 8);
		put_be(0xfd00000000000000ULL, 8);
		put_be(1, 8);
	} else {
		put_be(0x4500, 2);
		put_be(28 + len, 2);
		put_be(0, 4);
		put_be(0x40110000, 4);
		put_be(0x0a000002, 4);
		put_be(0x0a000001, 4);
	}
	put_be(OR_PORT, 2);
	put_be(OR_PORT, 2);
	put_be(8 + len, 2);
	/* No checksum, which IPv6 forbids; nobody here asks. */
	put_be(0, 2);
	fwrite(payload, 1, len, out);
}

static const char *const errors[] = {
	[OR_OK] = "", [OR_ERR_SHORT] = "OR_ERR_SHORT", [OR_ERR_LONG] = "OR_ERR_LONG",
	[OR_ERR_VERSION] = "OR_ERR_VERSION", [OR_ERR_TYPE] = "OR_ERR_TYPE",
	[OR_ERR_RESERVED] = "OR_ERR_RESERVED", [OR_ERR_PROTOCOL] = "OR_ERR_PROTOCOL",
	[OR_ERR_VALUE] = "OR_ERR_VALUE", [OR_ERR_UNSUPPORTED] = "OR_ERR_UNSUPPORTED",
};

static void good_ack(const struct or_ack *a, const u8 *key, bool v6)
{
	u8 msg[OR_ACK_LEN];

	or_ack_encode(a, msg);
	or_sign(msg, sizeof(msg), key);
	frame(msg, sizeof(msg), v6);
	printf("%u|2|2|6|%u|%u|%u|%u|%u|", OR_ACK_LEN + 8, a->nic, a->others, a->drain,
	       a->packets, a->clock_error);
	if (a->clock_error != OR_CLOCK_UNSYNCED)
		printf("%" PRIu64, or_clock_decode(a->clock_error));
	printf("|%u|%u|%u|%" PRIu64 "|%u|%u|%u|||||0x%016" PRIx64 "|||||||\n", a->sport,
	       a->dport, a->seq, a->rx_ns, a->domain,
	       min_t(u32, a->hold_ns, OR_HOLD_MAX_NS), a->count,
	       or_tag(msg, sizeof(msg), key));
}

static void good_subscribe(const struct or_subscribe *s, const u8 *key, bool v6)
{
	u8 msg[OR_SUBSCRIBE_LEN];
	int i;

	or_subscribe_encode(s, msg);
	or_sign(msg, sizeof(msg), key);
	frame(msg, sizeof(msg), v6);
	printf("%u|2|1||||||||||||||%u|0x%04x|%u|", OR_SUBSCRIBE_LEN + 8, s->count, s->caps,
	       s->lifetime_s);
	for (i = 0; i < OR_NONCE_LEN; i++)
		printf("%02x", s->nonce[i]);
	printf("|0x%016" PRIx64 "|0x%016" PRIx64 "|||||||\n", s->cookie,
	       or_tag(msg, sizeof(msg), key));
}

static void good_challenge(const struct or_challenge *c, const u8 *key, bool v6)
{
	u8 msg[OR_CHALLENGE_LEN];

	or_challenge_encode(c, msg);
	or_sign(msg, sizeof(msg), key);
	frame(msg, sizeof(msg), v6);
	printf("%u|2|3||||||||||||||%u|0x0000|||0x%016" PRIx64 "|0x%016" PRIx64 "|||||||\n",
	       OR_CHALLENGE_LEN + 8, c->count, c->cookie, or_tag(msg, sizeof(msg), key));
}

static void good_cnp(const struct or_cnp *c, const u8 *key, bool v6)
{
	u8 msg[OR_CNP_LEN_V6];
	u32 len = (u32)or_cnp_encode(c, msg);
	int i;

	or_sign(msg, len, key);
	frame(msg, len, v6);
	printf("%u|2|4|6|||||||%u|%u||||||||||0x%016" PRIx64 "||%u|%u|%u|%" PRIu64 "|", len + 8,
	       c->sport, c->dport, or_tag(msg, len, key), c->from, c->window, c->hold_us,
	       c->count);
	if (c->pair.version == 4) {
		for (i = 0; i < 4; i++)
			printf("%s%u", i ? "." : "", c->pair.sender[i]);
		puts("|");
	} else {
		putchar('|');
		for (i = 0; i < 16; i++)
			printf("%s%02x", i && i % 2 == 0 ? ":" : "", c->pair.receiver[i]);
		putchar('\n');
	}
}

/* Only the error is compared of what is refused. */
static void bad(const u8 *msg, u32 len)
{
	struct or_subscribe s;
	struct or_challenge c;
	struct or_cnp n;
	struct or_ack a;
	enum or_error error = or_ack_decode(msg, len, &a);

	if (error == OR_ERR_TYPE)
		error = or_subscribe_decode(msg, len, &s);
	if (error == OR_ERR_TYPE)
		error = or_challenge_decode(msg, len, &c);
	if (error == OR_ERR_TYPE)
		error = or_cnp_decode(msg, len, &n);
	frame(msg, len, false);
	printf("refused %s\n", errors[error]);
}

static void random_cnp(struct or_cnp *c, bool v6)
{
	u64 r = random_u64();
	int i;

	*c = (struct or_cnp) {
		.pair.version = v6 ? 6 : 4, .count = random_u64() | 1,
		.window = (u32)r | 1, .hold_us = 1 + (u32)(r >> 32) % OR_CNP_HOLD_MAX_US,
		.from = (u16)(r >> 16), .sport = (u16)(r >> 24) | 1, .dport = (u16)(r >> 40) | 1,
		.protocol = OR_PROTO_TCP,
	};
	/* No group of IPv6 begins with 0, and none is short. */
	for (i = 0; i < (v6 ? 16 : 4); i++) {
		c->pair.sender[i] = (u8)random_u64() | 0x10;
		c->pair.receiver[i] = (u8)random_u64() | 0x10;
	}
}

static void random_ack(struct or_ack *a, u8 *nonce)
{
	u64 r = random_u64();
	int i;

	for (i = 0; i < OR_NONCE_LEN; i++)
		nonce[i] = (u8)random_u64();
	*a = (struct or_ack) {
		.rx_ns = random_u64(), .seq = (u32)r, .hold_ns = (u32)(r >> 38),
		.count = (u32)random_u64(), .sport = (u16)(r >> 8) | 1,
		.dport = (u16)(r >> 24) | 1, .packets = (u8)(r >> 40) | 1,
		.clock_error = (u8)(r >> 48) > OR_CLOCK_LAST ?
			       OR_CLOCK_UNSYNCED : (u8)(r >> 48),
		.domain = (u8)(r >> 56), .protocol = OR_PROTO_TCP, .nic = r >> 37 & 1,
		.others = r >> 36 & 1, .drain = r >> 35 & 1,
	};
}

int main(int argc, char **argv)
{
	struct or_subscribe s = { .count = 1 };
	struct or_challenge c = { .count = 1 };
	u8 msg[MAX_PAYLOAD], nonce[OR_NONCE_LEN];
	struct or_cnp n;
	struct or_ack a;
	int i;

	if (argc != 2) {
		fprintf(stderr, "usage: or_pcap FILE\n");
		return 2;
	}
	out = fopen(argv[1], "wb");
	if (!out) {
		perror(argv[1]);
		return 2;
	}
	file_header();
	for (i = 0; i < 200; i++) {
		random_ack(&a, nonce);
		good_ack(&a, nonce, i % 2);
		s = (struct or_subscribe) {
			.count = (u32)random_u64() | 1, .caps = (u16)(i % 8),
			.cookie = i % 3 ? random_u64() : 0,
			.lifetime_s = (u16)(random_u64() % (OR_LIFETIME_MAX_S + 1)),
		};
		memcpy(s.nonce, nonce, OR_NONCE_LEN);
		good_subscribe(&s, nonce, i % 2);
		c = (struct or_challenge) {
			.count = (u32)random_u64() | 1, .cookie = random_u64() | 1,
		};
		good_challenge(&c, nonce, i % 2);
		random_cnp(&n, i % 3 == 0);
		good_cnp(&n, nonce, i % 2);
	}
	/* Each byte of the first ones replaced by anything, at any length. */
	for (i = 0; i < 1200; i++) {
		u32 len = OR_ACK_LEN;

		memset(msg, 0, sizeof(msg));
		or_ack_encode(&a, msg);
		if (i % 4 == 1) {
			or_subscribe_encode(&s, msg);
			len = OR_SUBSCRIBE_LEN;
		} else if (i % 4 == 2) {
			or_challenge_encode(&c, msg);
			len = OR_CHALLENGE_LEN;
		} else if (i % 4 == 3) {
			len = (u32)or_cnp_encode(&n, msg);
		}
		/* As later versions may have them: other addresses, several connections. */
		if (i % 7 == 0)
			msg[1] |= (u8)((1 + i / 7 % 2) << OR_ADDRS_SHIFT);
		else
			msg[random_u64() % 8] = (u8)random_u64();
		if (i % 5 == 0)
			len = 1 + (u32)(random_u64() % MAX_PAYLOAD);
		else if (i % 5 == 1)
			len += i / 5 % 2 ? 8 : OR_ACK_RECORD_LEN;
		bad(msg, len);
	}
	return fclose(out) ? 2 : 0;
}
