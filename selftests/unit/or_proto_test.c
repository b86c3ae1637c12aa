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

static const u8 ack_bytes[OR_MSG_LEN] = {
	0x12, 6, 10, 0x61, 0x41, 0x42, 0x51, 0x52,
	0x11, 0x12, 0x13, 0x14, 1, 2, 3, 4, 5, 6, 7, 8,
	0x71, 0x21, 0x22, 0x23, 0x31, 0x32, 0x33, 0x34,
};

static const struct or_subscribe sub = {
	.nonce = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	.count = 0x01020304, .lifetime_s = 0x0102, .caps = OR_CAP_RELATIVE,
};

static const u8 sub_bytes[OR_MSG_LEN] = {
	0x11, 0, 0, 1, 1, 2, 0, 0,
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 1, 2, 3, 4,
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
	CHECK_EQ(14 + 20 + 8 + OR_MSG_LEN, 78);
}

static void ack__bytes(void)
{
	struct or_ack got;
	u8 msg[OR_MSG_LEN];

	or_ack_encode(&ack, msg);
	CHECK(!memcmp(msg, ack_bytes, OR_MSG_LEN));
	memset(&got, 0, sizeof(got));
	CHECK_EQ(or_ack_decode(msg, OR_MSG_LEN, &got), OR_OK);
	CHECK(!memcmp(&got, &ack, sizeof(got)));
}

static void ack__of_a_nic(void)
{
	struct or_ack a = ack, got;
	u8 msg[OR_MSG_LEN];
	int i;

	a.nic = true;
	or_ack_encode(&a, msg);
	CHECK_EQ(msg[1], 0x86);
	for (i = 0; i < OR_MSG_LEN; i++)
		CHECK(i == 1 || msg[i] == ack_bytes[i]);
	CHECK_EQ(or_ack_decode(msg, OR_MSG_LEN, &got), OR_OK);
	CHECK(got.nic);
	CHECK_EQ(got.protocol, OR_PROTO_TCP);
	CHECK_EQ(or_ack_decode(ack_bytes, OR_MSG_LEN, &got), OR_OK);
	CHECK(!got.nic);
}

static void ack__hold_saturates(void)
{
	struct or_ack a = ack;
	u8 msg[OR_MSG_LEN];

	a.hold_ns = 0x1000000;
	or_ack_encode(&a, msg);
	CHECK_EQ(or_ack_decode(msg, OR_MSG_LEN, &a), OR_OK);
	CHECK_EQ(a.hold_ns, OR_HOLD_MAX_NS);
}

struct bad {
	const char *what;
	int at;			/* byte, -1: none */
	u8 value;
	size_t len;
	enum or_error error;
};

static void ack__bad(void)
{
	static const struct bad bad[] = {
		{ "empty", -1, 0, 0, OR_ERR_SHORT },
		{ "one byte short", -1, 0, 35, OR_ERR_SHORT },
		{ "one byte long", -1, 0, 37, OR_ERR_LONG },
		{ "version 0", 0, 0x02, 36, OR_ERR_VERSION },
		{ "version 2", 0, 0x22, 36, OR_ERR_VERSION },
		{ "another version and length", 0, 0x22, 20, OR_ERR_VERSION },
		{ "SUBSCRIBE", 0, 0x11, 36, OR_ERR_TYPE },
		{ "type 0", 0, 0x10, 36, OR_ERR_TYPE },
		{ "UDP", 1, 17, 36, OR_ERR_PROTOCOL },
		{ "UDP, a NIC's stamp", 1, 0x80 | 17, 36, OR_ERR_PROTOCOL },
		{ "SCTP", 1, 132, 36, OR_ERR_PROTOCOL },
		{ "TCP with bit 6", 1, 0x46, 36, OR_ERR_PROTOCOL },
		{ "TCP, a NIC's stamp", 1, 0x86, 36, OR_OK },
		{ "no packets", 2, 0, 36, OR_ERR_VALUE },
		{ "clock code 248", 3, 248, 36, OR_ERR_RESERVED },
		{ "clock code 254", 3, 254, 36, OR_ERR_RESERVED },
		{ "clock code 247", 3, 247, 36, OR_OK },
		{ "no clock", 3, 255, 36, OR_OK },
		{ "port 00xx", 4, 0, 36, OR_OK },
		{ "tag", 30, 1, 36, OR_OK },
	};
	u8 msg[OR_MSG_LEN + 1];
	struct or_ack got, none;
	size_t i;

	memset(&none, 0xaa, sizeof(none));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		ktap_row = bad[i].what;
		memcpy(msg, ack_bytes, OR_MSG_LEN);
		msg[OR_MSG_LEN] = 0;
		if (bad[i].at >= 0)
			msg[bad[i].at] = bad[i].value;
		got = none;
		CHECK_EQ(or_ack_decode(msg, bad[i].len, &got), bad[i].error);
		CHECK(!bad[i].error == !!memcmp(&got, &none, sizeof(got)));
	}
	ktap_row = "ports of 0";
	for (i = 4; i < 8; i += 2) {
		memcpy(msg, ack_bytes, OR_MSG_LEN);
		msg[i] = 0;
		msg[i + 1] = 0;
		CHECK_EQ(or_ack_decode(msg, OR_MSG_LEN, &got), OR_ERR_VALUE);
	}
}

static void subscribe__bytes(void)
{
	struct or_subscribe got;
	u8 msg[OR_MSG_LEN];

	or_subscribe_encode(&sub, msg);
	CHECK(!memcmp(msg, sub_bytes, OR_MSG_LEN));
	CHECK_EQ(or_subscribe_decode(msg, OR_MSG_LEN, &got), OR_OK);
	CHECK(!memcmp(&got, &sub, sizeof(got)));
}

static void subscribe__bad(void)
{
	static const struct bad bad[] = {
		{ "one byte short", -1, 0, 35, OR_ERR_SHORT },
		{ "one byte long", -1, 0, 37, OR_ERR_LONG },
		{ "OR-ACK", 0, 0x12, 36, OR_ERR_TYPE },
		{ "version 3", 0, 0x31, 36, OR_ERR_VERSION },
		{ "byte 1", 1, 1, 36, OR_ERR_RESERVED },
		{ "byte 6", 6, 0x80, 36, OR_ERR_RESERVED },
		{ "byte 7", 7, 1, 36, OR_ERR_RESERVED },
		{ "capability 2", 3, 4, 36, OR_ERR_RESERVED },
		{ "capability 15", 2, 0x80, 36, OR_ERR_RESERVED },
		{ "3600 s", 4, 0x0e, 36, OR_OK },
		{ "3842 s", 4, 0x0f, 36, OR_ERR_VALUE },
	};
	struct or_subscribe got, none;
	u8 msg[OR_MSG_LEN + 1];
	size_t i;

	memset(&none, 0xaa, sizeof(none));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		ktap_row = bad[i].what;
		memcpy(msg, sub_bytes, OR_MSG_LEN);
		msg[OR_MSG_LEN] = 0;
		if (bad[i].at >= 0)
			msg[bad[i].at] = bad[i].value;
		got = none;
		CHECK_EQ(or_subscribe_decode(msg, bad[i].len, &got), bad[i].error);
		CHECK(!bad[i].error == !!memcmp(&got, &none, sizeof(got)));
	}
	ktap_row = "count 0";
	memcpy(msg, sub_bytes, OR_MSG_LEN);
	memset(msg + 24, 0, 4);
	CHECK_EQ(or_subscribe_decode(msg, OR_MSG_LEN, &got), OR_ERR_VALUE);
}

/* Any bit of message, tag or key that is another one. */
static void tag__of_every_bit(void)
{
	u8 msg[OR_MSG_LEN], key[OR_NONCE_LEN];
	int i;

	memcpy(msg, ack_bytes, OR_MSG_LEN);
	or_sign(msg, nonce);
	CHECK_EQ(or_verify(msg, nonce), OR_OK);
	for (i = 0; i < OR_MSG_LEN * 8; i++) {
		msg[i / 8] ^= (u8)(1 << i % 8);
		CHECK_EQ(or_verify(msg, nonce), OR_ERR_TAG);
		msg[i / 8] ^= (u8)(1 << i % 8);
	}
	for (i = 0; i < OR_NONCE_LEN * 8; i++) {
		memcpy(key, nonce, sizeof(key));
		key[i / 8] ^= (u8)(1 << i % 8);
		CHECK_EQ(or_verify(msg, key), OR_ERR_TAG);
	}
	CHECK_EQ(or_verify(msg, nonce), OR_OK);
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

/* A SUBSCRIBE with this count, lifetime and nonce, signed by a key. */
static enum or_error subscribe(struct or_subscription *s, u8 first, u32 count,
			       u16 lifetime, u8 key_first, u64 now)
{
	struct or_subscribe m = { .count = count, .lifetime_s = lifetime,
				  .nonce = { first } };
	u8 key[OR_NONCE_LEN] = { key_first }, msg[OR_MSG_LEN];

	or_subscribe_encode(&m, msg);
	or_sign(msg, key);
	CHECK_EQ(or_subscribe_decode(msg, OR_MSG_LEN, &m), OR_OK);
	return or_subscribe_accept(s, &m, msg, now);
}

static void subscription__belongs_to_who_knows_the_nonce(void)
{
	struct or_subscription s = { .until_s = 0 }, old;

	CHECK_EQ(subscribe(&s, 1, 1, 60, 2, 1000), OR_ERR_TAG);
	CHECK_EQ(s.until_s, 0);
	CHECK_EQ(subscribe(&s, 1, 1, 60, 1, 1000), OR_OK);
	CHECK_EQ(s.until_s, 1060);
	old = s;
	/* replayed; by a stranger; with a nonce of his own */
	CHECK_EQ(subscribe(&s, 1, 1, 60, 1, 1010), OR_ERR_REPLAY);
	CHECK_EQ(subscribe(&s, 1, 2, 60, 9, 1010), OR_ERR_TAG);
	CHECK_EQ(subscribe(&s, 9, 1, 60, 9, 1010), OR_ERR_TAG);
	CHECK(!memcmp(&s, &old, sizeof(s)));
	CHECK_EQ(subscribe(&s, 1, 2, 60, 1, 1010), OR_OK);
	CHECK_EQ(s.until_s, 1070);
	/* a new nonce from who knows the old one: counts start over */
	CHECK_EQ(subscribe(&s, 3, 1, 60, 1, 1020), OR_OK);
	CHECK_EQ(s.until_s, 1080);
	CHECK_EQ(s.nonce[0], 3);
	CHECK_EQ(subscribe(&s, 3, 2, 0, 3, 1030), OR_OK);
	CHECK_EQ(s.until_s, 0);
	/* over: anybody may begin */
	CHECK_EQ(subscribe(&s, 9, 1, 60, 9, 1040), OR_OK);
	CHECK_EQ(subscribe(&s, 4, 1, 60, 4, 1099), OR_ERR_TAG);
	CHECK_EQ(subscribe(&s, 4, 1, 60, 4, 1100), OR_OK);
}

int main(void)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(siphash__vectors),
		KTAP_CASE(length__is_that_of_the_paper),
		KTAP_CASE(ack__bytes),
	KTAP_CASE(ack__of_a_nic),
		KTAP_CASE(ack__hold_saturates),
		KTAP_CASE(ack__bad),
		KTAP_CASE(subscribe__bytes),
		KTAP_CASE(subscribe__bad),
		KTAP_CASE(tag__of_every_bit),
		KTAP_CASE(clock_error__rounds_up),
		KTAP_CASE(replay__window),
		KTAP_CASE(replay__wraps),
		KTAP_CASE(subscription__belongs_to_who_knows_the_nonce),
	};

	return ktap_run(cases, ARRAY_SIZE(cases));
}
