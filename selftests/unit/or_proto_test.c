// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of or_proto.h: bytes written out by hand from Documentation/
 * or-protocol.md, and SipHash-2-4 against the vectors of its paper.
 */
#include <string.h>

#include "or_proto.h"
#include "ktap.h"

static const u8 nonce[OR_NONCE_LEN] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
};

static const struct or_ack ack = {
	.rx_ns = 0x0102030405060708ULL, .seq = 0x11121314, .hold_ns = 0x212223,
	.count = 0x31323334, .sport = 0x4142, .dport = 0x5152, .packets = 10,
	.clock_error = 0x61, .domain = 0x71, .protocol = OR_PROTO_TCP,
};

static const u8 ack_bytes[OR_ACK_LEN] = {
	0x22, 6, 0x61, 0x71, 0x41, 0x42, 0x51, 0x52,
	0x11, 0x12, 0x13, 0x14, 1, 2, 3, 4, 5, 6, 7, 8,
	10, 0x21, 0x22, 0x23, 0x31, 0x32, 0x33, 0x34,
};

static const struct or_subscribe sub = {
	.nonce = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	.cookie = 0x2122232425262728ULL,
	.count = 0x01020304, .lifetime_s = 0x0045, .caps = OR_CAP_RELATIVE,
};

static const u8 sub_bytes[OR_SUBSCRIBE_LEN] = {
	0x21, 0, 0, 1, 0, 0x45, 0, 0,
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 1, 2, 3, 4,
	0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
};

static const struct or_challenge challenge = {
	.cookie = 0x2122232425262728ULL, .count = 0x01020304,
};

static const u8 challenge_bytes[OR_CHALLENGE_LEN] = {
	0x23, 0, 0, 0, 1, 2, 3, 4,
	0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
};

/* 10.77.1.1 sends data to 10.77.1.2. */
static const struct or_pair pair4 = {
	.version = 4, .sender = { 10, 77, 1, 1 }, .receiver = { 10, 77, 1, 2 },
};

/*
 * Key 00 to 0f, input 00, 01, ...: appendix A of the paper for 15 bytes, and of the
 * list that its authors publish with it those around a word.
 */
static void siphash__vectors(void)
{
	static const struct {
		size_t len;
		u64 hash;
	} vectors[] = {
		{ 0, 0x726fdb47dd0e0e31ULL },
		{ 1, 0x74f839c593dc67fdULL },
		{ 7, 0xab0200f58b01d137ULL },
		{ 8, 0x93f5f5799a932462ULL },
		{ 15, 0xa129ca6149be45e5ULL },
	};
	siphash_key_t key = { { 0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL } };
	u8 in[16];
	size_t i;

	for (i = 0; i < sizeof(in); i++)
		in[i] = (u8)i;
	for (i = 0; i < ARRAY_SIZE(vectors); i++)
		CHECK(siphash(in, vectors[i].len, &key) == vectors[i].hash);
}

static void length__is_that_of_the_paper(void)
{
	CHECK_EQ(14 + 20 + 8 + OR_ACK_LEN, 78);
}

/* A receiver that has not seen a proof of an address sends it less than it got from there. */
static void length__challenge_is_below_subscribe(void)
{
	CHECK(OR_CHALLENGE_LEN < OR_SUBSCRIBE_LEN);
	CHECK(OR_ACK_LEN <= OR_MSG_MAX && OR_SUBSCRIBE_LEN <= OR_MSG_MAX);
	CHECK(OR_CNP_LEN_V4 <= OR_MSG_MAX && OR_CNP_LEN_V6 <= OR_MSG_MAX);
}

static void ack__bytes(void)
{
	struct or_ack got;
	u8 msg[OR_ACK_LEN];

	or_ack_encode(&ack, msg);
	CHECK(!memcmp(msg, ack_bytes, OR_ACK_LEN));
	memset(&got, 0, sizeof(got));
	CHECK_EQ(or_ack_decode(msg, OR_ACK_LEN, &got), OR_OK);
	CHECK(!memcmp(&got, &ack, sizeof(got)));
}

static void ack__of_a_nic(void)
{
	struct or_ack a = ack, got;
	u8 msg[OR_ACK_LEN];
	int i;

	a.nic = true;
	or_ack_encode(&a, msg);
	CHECK_EQ(msg[1], 0x86);
	for (i = 0; i < OR_ACK_LEN; i++)
		CHECK(i == 1 || msg[i] == ack_bytes[i]);
	CHECK_EQ(or_ack_decode(msg, OR_ACK_LEN, &got), OR_OK);
	CHECK(got.nic);
	CHECK_EQ(got.protocol, OR_PROTO_TCP);
	CHECK_EQ(or_ack_decode(ack_bytes, OR_ACK_LEN, &got), OR_OK);
	CHECK(!got.nic);
}

/* An OR-ACK, encoded and decoded again; @flags is byte 1. */
static struct or_ack ack_again(const struct or_ack *a, u8 flags)
{
	u8 msg[OR_ACK_LEN];
	struct or_ack got;

	or_ack_encode(a, msg);
	CHECK_EQ(msg[1], flags);
	CHECK_EQ(or_ack_decode(msg, OR_ACK_LEN, &got), OR_OK);
	CHECK_EQ(got.protocol, OR_PROTO_TCP);
	return got;
}

static void ack__of_others(void)
{
	struct or_ack a = ack, got;

	a.others = true;
	got = ack_again(&a, 0x16);
	CHECK(got.others && !got.nic);
	CHECK_EQ(or_ack_decode(ack_bytes, OR_ACK_LEN, &got), OR_OK);
	CHECK(!got.others);
}

static void ack__drain(void)
{
	struct or_ack a = ack, got;

	a.drain = true;
	got = ack_again(&a, 0x0e);
	CHECK(got.drain && !got.others);
	CHECK_EQ(or_ack_decode(ack_bytes, OR_ACK_LEN, &got), OR_OK);
	CHECK(!got.drain);
}

static void ack__hold_saturates(void)
{
	struct or_ack a = ack;
	u8 msg[OR_ACK_LEN];

	a.hold_ns = 0x1000000;
	or_ack_encode(&a, msg);
	CHECK_EQ(or_ack_decode(msg, OR_ACK_LEN, &a), OR_OK);
	CHECK_EQ(a.hold_ns, OR_HOLD_MAX_NS);
}

struct bad {
	const char *what;
	int at;			/* byte, -1: none */
	u8 value;
	size_t len;
	enum or_error error;
};

/* Each row of @bad must be refused by @decode, or accepted, and changes @size bytes or none. */
static void decode_bad(const struct bad *bad, size_t n, const u8 *good, size_t good_len,
		       enum or_error (*decode)(const u8 *msg, size_t len, void *to),
		       size_t size)
{
	u8 msg[512], got[64], none[64];
	size_t i;

	memset(none, 0xaa, sizeof(none));
	for (i = 0; i < n; i++) {
		ktap_row = bad[i].what;
		memset(msg, 0, sizeof(msg));
		memcpy(msg, good, good_len);
		if (bad[i].at >= 0)
			msg[bad[i].at] = bad[i].value;
		memcpy(got, none, sizeof(got));
		CHECK_EQ(decode(msg, bad[i].len, got), bad[i].error);
		CHECK(!bad[i].error == !!memcmp(got, none, size));
	}
	ktap_row = "";
}

static enum or_error decode_ack(const u8 *msg, size_t len, void *to)
{
	struct or_ack ack_to;
	enum or_error error;

	memcpy(&ack_to, to, sizeof(ack_to));
	error = or_ack_decode(msg, len, &ack_to);
	memcpy(to, &ack_to, sizeof(ack_to));
	return error;
}

static void ack__bad(void)
{
	static const struct bad bad[] = {
		{ "empty", -1, 0, 0, OR_ERR_SHORT },
		{ "one byte", 1, 0xff, 1, OR_ERR_SHORT },
		{ "one byte short", -1, 0, 35, OR_ERR_SHORT },
		{ "one byte long", -1, 0, 37, OR_ERR_LONG },
		{ "version 0", 0, 0x02, 36, OR_ERR_VERSION },
		{ "version 1", 0, 0x12, 36, OR_ERR_VERSION },
		{ "version 3", 0, 0x32, 36, OR_ERR_VERSION },
		{ "another version and length", 0, 0x32, 20, OR_ERR_VERSION },
		{ "SUBSCRIBE", 0, 0x21, 36, OR_ERR_TYPE },
		{ "CHALLENGE", 0, 0x23, 36, OR_ERR_TYPE },
		{ "type 0", 0, 0x20, 36, OR_ERR_TYPE },
		{ "15 is no TCP", 1, 15, 36, OR_ERR_PROTOCOL },
		{ "15, a NIC's stamp", 1, 0x80 | 15, 36, OR_ERR_PROTOCOL },
		{ "5 is no TCP", 1, 5, 36, OR_ERR_PROTOCOL },
		{ "14: TCP, and drain", 1, 14, 36, OR_OK },
		{ "no protocol", 1, 0, 36, OR_ERR_PROTOCOL },
		{ "TCP, a NIC's stamp", 1, 0x86, 36, OR_OK },
		{ "two connections", -1, 0, 36 + 24, OR_ERR_UNSUPPORTED },
		{ "two connections and a byte", -1, 0, 36 + 25, OR_ERR_LONG },
		{ "ten connections", -1, 0, 36 + 9 * 24, OR_ERR_UNSUPPORTED },
		{ "other addresses, IPv4", 1, 0x26, 36 + 8, OR_ERR_UNSUPPORTED },
		{ "other addresses, IPv4, missing", 1, 0x26, 36, OR_ERR_SHORT },
		{ "other addresses, IPv4, cut", 1, 0x26, 36 + 7, OR_ERR_SHORT },
		{ "other addresses, IPv4, and a byte", 1, 0x26, 36 + 9, OR_ERR_LONG },
		{ "other addresses, IPv4, and two", 1, 0x26, 36 + 8 + 24, OR_ERR_UNSUPPORTED },
		{ "other addresses, IPv6", 1, 0x46, 36 + 32, OR_ERR_UNSUPPORTED },
		{ "other addresses, IPv6, cut", 1, 0x46, 36 + 8, OR_ERR_SHORT },
		{ "other addresses, neither", 1, 0x66, 36, OR_ERR_RESERVED },
		{ "no packets", 20, 0, 36, OR_ERR_VALUE },
		{ "clock code 248", 2, 248, 36, OR_ERR_RESERVED },
		{ "clock code 254", 2, 254, 36, OR_ERR_RESERVED },
		{ "clock code 247", 2, 247, 36, OR_OK },
		{ "no clock", 2, 255, 36, OR_OK },
		{ "port 00xx", 4, 0, 36, OR_OK },
		{ "tag", 30, 1, 36, OR_OK },
	};
	u8 msg[OR_ACK_LEN];
	struct or_ack got;
	size_t i;

	decode_bad(bad, ARRAY_SIZE(bad), ack_bytes, sizeof(ack_bytes), decode_ack,
		   sizeof(struct or_ack));
	ktap_row = "ports of 0";
	for (i = 4; i < 8; i += 2) {
		memcpy(msg, ack_bytes, OR_ACK_LEN);
		msg[i] = 0;
		msg[i + 1] = 0;
		CHECK_EQ(or_ack_decode(msg, OR_ACK_LEN, &got), OR_ERR_VALUE);
	}
}

static void subscribe__bytes(void)
{
	u8 msg[OR_SUBSCRIBE_LEN];
	struct or_subscribe got;

	memset(&got, 0, sizeof(got));
	or_subscribe_encode(&sub, msg);
	CHECK(!memcmp(msg, sub_bytes, OR_SUBSCRIBE_LEN));
	CHECK_EQ(or_subscribe_decode(msg, OR_SUBSCRIBE_LEN, &got), OR_OK);
	CHECK(!memcmp(&got, &sub, sizeof(got)));
}

static enum or_error decode_subscribe(const u8 *msg, size_t len, void *to)
{
	struct or_subscribe s;
	enum or_error error;

	memcpy(&s, to, sizeof(s));
	error = or_subscribe_decode(msg, len, &s);
	memcpy(to, &s, sizeof(s));
	return error;
}

static void subscribe__bad(void)
{
	static const struct bad bad[] = {
		{ "one byte short", -1, 0, 43, OR_ERR_SHORT },
		{ "as long as version 1", -1, 0, 36, OR_ERR_SHORT },
		{ "one byte long", -1, 0, 45, OR_ERR_LONG },
		{ "twice as long", -1, 0, 88, OR_ERR_LONG },
		{ "OR-ACK", 0, 0x22, 44, OR_ERR_TYPE },
		{ "version 1", 0, 0x11, 44, OR_ERR_VERSION },
		{ "version 3", 0, 0x31, 44, OR_ERR_VERSION },
		{ "byte 1, bit 0", 1, 1, 44, OR_ERR_RESERVED },
		{ "byte 1, bit 4", 1, 0x10, 44, OR_ERR_RESERVED },
		{ "byte 1, bit 7", 1, 0x80, 44, OR_ERR_RESERVED },
		{ "other addresses, IPv4", 1, 0x20, 44 + 8, OR_ERR_UNSUPPORTED },
		{ "other addresses, IPv4, missing", 1, 0x20, 44, OR_ERR_SHORT },
		{ "other addresses, IPv6", 1, 0x40, 44 + 32, OR_ERR_UNSUPPORTED },
		{ "other addresses, IPv6, and a byte", 1, 0x40, 44 + 33, OR_ERR_LONG },
		{ "other addresses, neither", 1, 0x60, 44, OR_ERR_RESERVED },
		{ "byte 6", 6, 0x80, 44, OR_ERR_RESERVED },
		{ "byte 7", 7, 1, 44, OR_ERR_RESERVED },
		{ "a capability of later", 3, 5, 44, OR_OK },
		{ "capability 15", 2, 0x80, 44, OR_OK },
		{ "120 s", 5, 120, 44, OR_OK },
		{ "121 s", 5, 121, 44, OR_ERR_VALUE },
		{ "325 s", 4, 1, 44, OR_ERR_VALUE },
	};
	u8 msg[OR_SUBSCRIBE_LEN];
	struct or_subscribe got;

	decode_bad(bad, ARRAY_SIZE(bad), sub_bytes, sizeof(sub_bytes), decode_subscribe,
		   sizeof(struct or_subscribe));
	ktap_row = "count 0";
	memcpy(msg, sub_bytes, OR_SUBSCRIBE_LEN);
	memset(msg + 24, 0, 4);
	CHECK_EQ(or_subscribe_decode(msg, OR_SUBSCRIBE_LEN, &got), OR_ERR_VALUE);
}

static void challenge__bytes(void)
{
	u8 msg[OR_CHALLENGE_LEN];
	struct or_challenge got;

	memset(&got, 0, sizeof(got));
	or_challenge_encode(&challenge, msg);
	CHECK(!memcmp(msg, challenge_bytes, OR_CHALLENGE_LEN));
	CHECK_EQ(or_challenge_decode(msg, OR_CHALLENGE_LEN, &got), OR_OK);
	CHECK_EQ(got.count, challenge.count);
	CHECK(got.cookie == challenge.cookie);
}

static enum or_error decode_challenge(const u8 *msg, size_t len, void *to)
{
	struct or_challenge c;
	enum or_error error;

	memcpy(&c, to, sizeof(c));
	error = or_challenge_decode(msg, len, &c);
	memcpy(to, &c, sizeof(c));
	return error;
}

static void challenge__bad(void)
{
	static const struct bad bad[] = {
		{ "one byte short", -1, 0, 23, OR_ERR_SHORT },
		{ "one byte long", -1, 0, 25, OR_ERR_LONG },
		{ "SUBSCRIBE", 0, 0x21, 24, OR_ERR_TYPE },
		{ "version 1", 0, 0x13, 24, OR_ERR_VERSION },
		{ "byte 1, bit 0", 1, 1, 24, OR_ERR_RESERVED },
		{ "other addresses, IPv4", 1, 0x20, 24 + 8, OR_ERR_UNSUPPORTED },
		{ "a capability of later", 3, 1, 24, OR_OK },
	};
	u8 msg[OR_CHALLENGE_LEN];
	struct or_challenge got;

	decode_bad(bad, ARRAY_SIZE(bad), challenge_bytes, sizeof(challenge_bytes),
		   decode_challenge, sizeof(struct or_challenge));
	ktap_row = "count 0";
	memcpy(msg, challenge_bytes, sizeof(msg));
	memset(msg + 4, 0, 4);
	CHECK_EQ(or_challenge_decode(msg, sizeof(msg), &got), OR_ERR_VALUE);
	ktap_row = "no cookie";
	memcpy(msg, challenge_bytes, sizeof(msg));
	memset(msg + 8, 0, 8);
	CHECK_EQ(or_challenge_decode(msg, sizeof(msg), &got), OR_ERR_VALUE);
}

static const struct or_cnp cnp = {
	.pair = { .version = 4, .sender = { 10, 0, 0, 1 }, .receiver = { 10, 0, 0, 2 } },
	.count = 0x1122334455667788ULL, .window = 0x01020304, .hold_us = 55, .from = 0x0506,
	.sport = 0xabcd, .dport = 0x1389, .protocol = OR_PROTO_TCP,
};

/* All but the tag. */
static const u8 cnp_bytes[OR_CNP_LEN_V4] = {
	0x24, 0x26, 0x05, 0x06, 0xab, 0xcd, 0x13, 0x89, 0x01, 0x02, 0x03, 0x04,
	0, 0, 0, 55, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
	10, 0, 0, 1, 10, 0, 0, 2,
};

static void cnp__bytes(void)
{
	u8 msg[OR_CNP_LEN_V6];
	struct or_cnp got;

	memset(&got, 0, sizeof(got));
	CHECK_EQ(or_cnp_encode(&cnp, msg), OR_CNP_LEN_V4);
	CHECK(!memcmp(msg, cnp_bytes, OR_CNP_LEN_V4));
	CHECK_EQ(or_cnp_decode(msg, OR_CNP_LEN_V4, &got), OR_OK);
	CHECK(!memcmp(&got, &cnp, sizeof(got)));
}

static void cnp__bytes_v6(void)
{
	struct or_cnp six = cnp, got;
	u8 msg[OR_CNP_LEN_V6];
	int i;

	six.pair.version = 6;
	for (i = 0; i < 16; i++) {
		six.pair.sender[i] = (u8)(0x20 + i);
		six.pair.receiver[i] = (u8)(0x40 + i);
	}
	memset(&got, 0, sizeof(got));
	CHECK_EQ(or_cnp_encode(&six, msg), OR_CNP_LEN_V6);
	CHECK_EQ(msg[1], 0x46);
	CHECK(!memcmp(msg + 2, cnp_bytes + 2, 22));
	CHECK(!memcmp(msg + 24, six.pair.sender, 16) && !memcmp(msg + 40, six.pair.receiver, 16));
	CHECK_EQ(or_cnp_decode(msg, OR_CNP_LEN_V6, &got), OR_OK);
	CHECK(!memcmp(&got, &six, sizeof(got)));
}

static enum or_error decode_cnp(const u8 *msg, size_t len, void *to)
{
	struct or_cnp c;
	enum or_error error;

	memcpy(&c, to, sizeof(c));
	error = or_cnp_decode(msg, len, &c);
	memcpy(to, &c, sizeof(c));
	return error;
}

static void cnp__bad(void)
{
	static const struct bad bad[] = {
		{ "as it is", -1, 0, 40, OR_OK },
		{ "nothing", -1, 0, 0, OR_ERR_SHORT },
		{ "one byte short", -1, 0, 39, OR_ERR_SHORT },
		{ "one byte long", -1, 0, 41, OR_ERR_LONG },
		{ "IPv4's length and IPv6", 1, 0x46, 40, OR_ERR_SHORT },
		{ "IPv6's length and IPv4", -1, 0, 64, OR_ERR_LONG },
		{ "IPv6", 1, 0x46, 64, OR_OK },
		{ "no addresses", 1, 0x06, 32, OR_ERR_VALUE },
		{ "addresses of neither kind", 1, 0x66, 64, OR_ERR_RESERVED },
		{ "OR-ACK", 0, 0x22, 40, OR_ERR_TYPE },
		{ "version 1", 0, 0x14, 40, OR_ERR_VERSION },
		{ "byte 1, bit 7", 1, 0xa6, 40, OR_ERR_RESERVED },
		{ "byte 1, bit 4", 1, 0x36, 40, OR_ERR_RESERVED },
		{ "UDP", 1, 0x31 & 0x2f, 40, OR_ERR_PROTOCOL },
		{ "switch 0", 2, 0, 40, OR_OK },
		{ "hold 0", 15, 0, 40, OR_ERR_VALUE },
		{ "hold of 16 s", 12, 1, 40, OR_ERR_VALUE },
	};
	static const struct {
		const char *what;
		int at, bytes;
		u64 value;
		enum or_error error;
	} values[] = {
		{ "source port 0", 4, 2, 0, OR_ERR_VALUE },
		{ "destination port 0", 6, 2, 0, OR_ERR_VALUE },
		{ "window 0", 8, 4, 0, OR_ERR_VALUE },
		{ "window 1", 8, 4, 1, OR_OK },
		{ "hold of 1 s", 12, 4, 1000000, OR_OK },
		{ "hold of more than 1 s", 12, 4, 1000001, OR_ERR_VALUE },
		{ "count 0", 16, 8, 0, OR_ERR_VALUE },
	};
	u8 msg[OR_CNP_LEN_V4];
	struct or_cnp got;
	size_t i;

	decode_bad(bad, ARRAY_SIZE(bad), cnp_bytes, sizeof(cnp_bytes), decode_cnp,
		   sizeof(struct or_cnp));
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		ktap_row = values[i].what;
		memcpy(msg, cnp_bytes, sizeof(msg));
		or_put(msg + values[i].at, values[i].value, values[i].bytes);
		CHECK_EQ(or_cnp_decode(msg, sizeof(msg), &got), values[i].error);
	}
	ktap_row = "";
}

/* Counts must grow, by any step: the largest one comes last. */
static void cnp__in_order(void)
{
	u64 newest = 0;

	CHECK_EQ(or_cnp_accept(&newest, 5), OR_OK);
	CHECK_EQ(or_cnp_accept(&newest, 5), OR_ERR_REPLAY);
	CHECK_EQ(or_cnp_accept(&newest, 4), OR_ERR_OLD);
	CHECK_EQ(or_cnp_accept(&newest, 6), OR_OK);
	CHECK_EQ(or_cnp_accept(&newest, 1ULL << 63), OR_OK);
	CHECK_EQ(or_cnp_accept(&newest, 7), OR_ERR_OLD);
	CHECK_EQ(or_cnp_accept(&newest, ~0ULL), OR_OK);
	CHECK_EQ(newest, ~0ULL);
}

/* The tag is of the addresses, too: a CNP of one pair is worthless for another. */
static void cnp__tag_of_addresses(void)
{
	static const u8 key[OR_KEY_LEN] = { 1, 2, 3 };
	u8 msg[OR_CNP_LEN_V4];
	int i;

	memcpy(msg, cnp_bytes, sizeof(msg));
	or_sign(msg, sizeof(msg), key);
	CHECK_EQ(or_verify(msg, sizeof(msg), key), OR_OK);
	for (i = 0; i < OR_CNP_LEN_V4; i++) {
		msg[i] ^= 0x10;
		CHECK_EQ(or_verify(msg, sizeof(msg), key), OR_ERR_TAG);
		msg[i] ^= 0x10;
	}
}

/* Any bit of message, tag or key that is another one. */
static void tag__of_every_bit(void)
{
	u8 msg[OR_ACK_LEN], key[OR_KEY_LEN];
	int i;

	memcpy(msg, ack_bytes, OR_ACK_LEN);
	or_sign(msg, sizeof(msg), nonce);
	CHECK_EQ(or_verify(msg, sizeof(msg), nonce), OR_OK);
	for (i = 0; i < OR_ACK_LEN * 8; i++) {
		msg[i / 8] ^= (u8)(1 << i % 8);
		CHECK_EQ(or_verify(msg, sizeof(msg), nonce), OR_ERR_TAG);
		msg[i / 8] ^= (u8)(1 << i % 8);
	}
	for (i = 0; i < OR_KEY_LEN * 8; i++) {
		memcpy(key, nonce, sizeof(key));
		key[i / 8] ^= (u8)(1 << i % 8);
		CHECK_EQ(or_verify(msg, sizeof(msg), key), OR_ERR_TAG);
	}
	CHECK_EQ(or_verify(msg, sizeof(msg), nonce), OR_OK);
}

/* The bytes that go in, written out. */
static void key__by_hand(void)
{
	siphash_key_t psk_key = { { 0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL } };
	u8 in[53] = { 4, 0, 0, 0, 10, 77, 1, 1 }, key[OR_KEY_LEN];
	u64 word;
	int i;

	in[20] = 10;
	in[21] = 77;
	in[22] = 1;
	in[23] = 2;
	memset(in + 36, 0x5a, 16);
	or_derive(nonce, &pair4, in + 36, key);
	for (i = 0; i < 2; i++) {
		in[52] = (u8)i;
		word = siphash(in, sizeof(in), &psk_key);
		CHECK_EQ(key[8 * i], (u8)word);
		CHECK_EQ(key[8 * i + 7], (u8)(word >> 56));
	}
}

/* Another pre-shared key, address or nonce, by any bit, is another key. */
static void key__of_every_bit(void)
{
	u8 psk[OR_KEY_LEN] = { 0 }, n[OR_NONCE_LEN] = { 0 };
	u8 key[OR_KEY_LEN], other[OR_KEY_LEN];
	struct or_pair pair = pair4;
	size_t i;

	or_derive(psk, &pair, n, key);
	for (i = 0; i < sizeof(pair) * 8; i++) {
		((u8 *)&pair)[i / 8] ^= (u8)(1 << i % 8);
		or_derive(psk, &pair, n, other);
		CHECK(memcmp(key, other, 8) && memcmp(key + 8, other + 8, 8));
		((u8 *)&pair)[i / 8] ^= (u8)(1 << i % 8);
	}
	for (i = 0; i < OR_KEY_LEN * 8; i++) {
		psk[i / 8] ^= (u8)(1 << i % 8);
		or_derive(psk, &pair, n, other);
		CHECK(memcmp(key, other, 8) && memcmp(key + 8, other + 8, 8));
		psk[i / 8] ^= (u8)(1 << i % 8);
		n[i / 8] ^= (u8)(1 << i % 8);
		or_derive(psk, &pair, n, other);
		CHECK(memcmp(key, other, 8) && memcmp(key + 8, other + 8, 8));
		n[i / 8] ^= (u8)(1 << i % 8);
	}
	CHECK(memcmp(key, key + 8, 8));
}

/* Good for the period that it is made in and the next one; for this address and nonce. */
static void cookie__of_one_address_and_time(void)
{
	siphash_key_t secret = { { 1, 2 } }, other = { { 1, 3 } };
	struct or_pair pair = pair4;
	u8 n[OR_NONCE_LEN] = { 7 };
	u64 cookie, now = 100 * OR_COOKIE_PERIOD_S;

	cookie = or_cookie(&secret, &pair, 0, n, 100);
	CHECK(cookie != 0);
	CHECK(!or_cookie_valid(cookie, &secret, &pair, 0, n, now - 1));
	CHECK(or_cookie_valid(cookie, &secret, &pair, 0, n, now));
	CHECK(or_cookie_valid(cookie, &secret, &pair, 0, n, now + 2 * OR_COOKIE_PERIOD_S - 1));
	CHECK(!or_cookie_valid(cookie, &secret, &pair, 0, n, now + 2 * OR_COOKIE_PERIOD_S));
	CHECK(!or_cookie_valid(cookie ^ 1, &secret, &pair, 0, n, now));
	CHECK(!or_cookie_valid(cookie ^ 1ULL << 63, &secret, &pair, 0, n, now));
	CHECK(!or_cookie_valid(0, &secret, &pair, 0, n, now));
	CHECK(!or_cookie_valid(cookie, &other, &pair, 0, n, now));
	CHECK(!or_cookie_valid(cookie, &secret, &pair, 2, n, now));
	pair.sender[3] ^= 1;
	CHECK(!or_cookie_valid(cookie, &secret, &pair, 0, n, now));
	pair = pair4;
	pair.receiver[3] ^= 1;
	CHECK(!or_cookie_valid(cookie, &secret, &pair, 0, n, now));
	n[15] ^= 1;
	CHECK(!or_cookie_valid(cookie, &secret, &pair4, 0, n, now));
}

static void clock_error__rounds_up(void)
{
	u64 error, got;

	CHECK_EQ(or_clock_encode(0), 0);
	CHECK_EQ(or_clock_encode(7), 7);
	CHECK_EQ(or_clock_encode(8), 8);
	CHECK_EQ(or_clock_encode(15), 15);
	CHECK_EQ(or_clock_encode(16), 16);
	CHECK_EQ(or_clock_decode(16), 16);
	CHECK_EQ(or_clock_decode(or_clock_encode(17)), 18);
	CHECK_EQ(or_clock_encode(15ULL << 29), OR_CLOCK_LAST);
	CHECK_EQ(or_clock_decode(OR_CLOCK_LAST), 15LL << 29);
	CHECK_EQ(or_clock_encode((15ULL << 29) + 1), OR_CLOCK_UNSYNCED);
	CHECK_EQ(or_clock_encode(UINT64_MAX), OR_CLOCK_UNSYNCED);
	for (error = 1; error < 15ULL << 29; error += 1 + error / 37) {
		got = or_clock_decode(or_clock_encode(error));
		CHECK(got >= error && got - error <= error / 8);
	}
}

static void replay__window(void)
{
	struct or_replay w = { 0 };

	CHECK_EQ(or_replay_accept(&w, 1000), OR_OK);
	CHECK_EQ(or_replay_accept(&w, 1000), OR_ERR_REPLAY);
	CHECK_EQ(or_replay_accept(&w, 1002), OR_OK);
	CHECK_EQ(or_replay_accept(&w, 1001), OR_OK);
	CHECK_EQ(or_replay_accept(&w, 1001), OR_ERR_REPLAY);
	CHECK_EQ(or_replay_accept(&w, 939), OR_OK);
	CHECK_EQ(or_replay_accept(&w, 938), OR_ERR_OLD);
	CHECK_EQ(or_replay_accept(&w, 1002 + 63), OR_OK);
	CHECK_EQ(or_replay_accept(&w, 1002), OR_ERR_REPLAY);
	CHECK_EQ(or_replay_accept(&w, 1001), OR_ERR_OLD);
	CHECK_EQ(or_replay_accept(&w, 1065 + 64), OR_OK);
	CHECK_EQ(or_replay_accept(&w, 1065), OR_ERR_OLD);
	CHECK_EQ(or_replay_accept(&w, 1066), OR_OK);
}

static void replay__wraps(void)
{
	struct or_replay w = { 0 };

	CHECK_EQ(or_replay_accept(&w, 0xfffffffe), OR_OK);
	CHECK_EQ(or_replay_accept(&w, 1), OR_OK);
	CHECK_EQ(or_replay_accept(&w, 0xffffffff), OR_OK);
	CHECK_EQ(or_replay_accept(&w, 0), OR_OK);
	CHECK_EQ(or_replay_accept(&w, 0xfffffffe), OR_ERR_REPLAY);
	CHECK_EQ(or_replay_accept(&w, 0x80000000), OR_OK);
	CHECK_EQ(or_replay_accept(&w, 1), OR_ERR_OLD);
}

/* A SUBSCRIBE with this count and lifetime, whose key begins with @first. */
static enum or_error subscribe(struct or_subscription *s, u8 first, u32 count,
			       u16 lifetime, bool proven, u64 now)
{
	struct or_subscribe m = { .count = count, .lifetime_s = lifetime };
	u8 key[OR_KEY_LEN] = { first };

	return or_subscribe_accept(s, &m, key, proven, now);
}

static void subscription__starts_with_a_proof(void)
{
	struct or_subscription s = { .until_s = 0 };

	CHECK_EQ(subscribe(&s, 1, 1, 60, false, 1000), OR_ERR_COOKIE);
	CHECK_EQ(s.until_s, 0);
	CHECK_EQ(subscribe(&s, 1, 1, 60, true, 1000), OR_OK);
	CHECK_EQ(s.until_s, 1060);
	CHECK_EQ(s.key[0], 1);
}

static void subscription__is_renewed_by_its_key(void)
{
	struct or_subscription s = { .until_s = 0 }, old;

	CHECK_EQ(subscribe(&s, 1, 1, 60, true, 1000), OR_OK);
	old = s;
	/* replayed; replayed with its cookie; by a stranger */
	CHECK_EQ(subscribe(&s, 1, 1, 60, false, 1010), OR_ERR_REPLAY);
	CHECK_EQ(subscribe(&s, 1, 1, 60, true, 1010), OR_ERR_REPLAY);
	CHECK_EQ(subscribe(&s, 9, 2, 60, false, 1010), OR_ERR_COOKIE);
	CHECK_EQ(subscribe(&s, 9, 2, 0, false, 1010), OR_ERR_COOKIE);
	CHECK(!memcmp(&s, &old, sizeof(s)));
	CHECK_EQ(subscribe(&s, 1, 2, 60, false, 1010), OR_OK);
	CHECK_EQ(s.until_s, 1070);
	CHECK_EQ(subscribe(&s, 1, 3, 0, false, 1020), OR_OK);
	CHECK_EQ(s.until_s, 0);
	/* It is over: from the start again. */
	CHECK_EQ(subscribe(&s, 1, 4, 60, false, 1020), OR_ERR_COOKIE);
	CHECK_EQ(subscribe(&s, 1, 4, 60, true, 1020), OR_OK);
	CHECK_EQ(subscribe(&s, 1, 5, 60, false, 1080), OR_ERR_COOKIE);
}

/* A host that lost its nonce is not locked out, and its counts start over. */
static void subscription__is_taken_over_with_a_proof(void)
{
	struct or_subscription s = { .until_s = 0 };

	CHECK_EQ(subscribe(&s, 1, 500, 60, true, 1000), OR_OK);
	CHECK_EQ(subscribe(&s, 2, 1, 120, true, 1001), OR_OK);
	CHECK_EQ(s.key[0], 2);
	CHECK_EQ(s.until_s, 1121);
	CHECK_EQ(subscribe(&s, 1, 501, 60, false, 1002), OR_ERR_COOKIE);
	CHECK_EQ(subscribe(&s, 2, 2, 60, false, 1002), OR_OK);
}

int main(void)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(siphash__vectors),
		KTAP_CASE(length__is_that_of_the_paper),
		KTAP_CASE(length__challenge_is_below_subscribe),
		KTAP_CASE(ack__bytes),
		KTAP_CASE(ack__of_a_nic),
		KTAP_CASE(ack__of_others),
		KTAP_CASE(ack__drain),
		KTAP_CASE(ack__hold_saturates),
		KTAP_CASE(ack__bad),
		KTAP_CASE(subscribe__bytes),
		KTAP_CASE(subscribe__bad),
		KTAP_CASE(challenge__bytes),
		KTAP_CASE(challenge__bad),
		KTAP_CASE(cnp__bytes),
		KTAP_CASE(cnp__bytes_v6),
		KTAP_CASE(cnp__bad),
		KTAP_CASE(cnp__in_order),
		KTAP_CASE(cnp__tag_of_addresses),
		KTAP_CASE(tag__of_every_bit),
		KTAP_CASE(key__by_hand),
		KTAP_CASE(key__of_every_bit),
		KTAP_CASE(cookie__of_one_address_and_time),
		KTAP_CASE(clock_error__rounds_up),
		KTAP_CASE(replay__window),
		KTAP_CASE(replay__wraps),
		KTAP_CASE(subscription__starts_with_a_proof),
		KTAP_CASE(subscription__is_renewed_by_its_key),
		KTAP_CASE(subscription__is_taken_over_with_a_proof),
	};

	return ktap_run(cases, ARRAY_SIZE(cases));
}
