// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: or_proto.h fed with any bytes, as a datagram from anybody.
 *
 * Whatever is accepted must encode to the bytes that it was decoded from; whatever is
 * refused must leave no trace. The rest of the input is a series of counts for the
 * replay window, compared with a list of what was accepted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "or_proto.h"
#include "fuzz.h"

#define MAX_COUNTS	256

static void fuzz_ack(const u8 *data, size_t size)
{
	struct or_ack a, none;
	u8 msg[OR_ACK_LEN];
	enum or_error error;

	/* No good message is all 0. */
	memset(&none, 0, sizeof(none));
	a = none;
	error = or_ack_decode(data, size, &a);
	REQUIRE(error < OR_ERR_TAG);
	REQUIRE(!error == !!memcmp(&a, &none, sizeof(a)));
	if (error)
		return;
	REQUIRE(size == OR_ACK_LEN);
	REQUIRE(a.packets && a.sport && a.dport);
	REQUIRE(a.hold_ns <= OR_HOLD_MAX_NS);
	REQUIRE(a.clock_error == OR_CLOCK_UNSYNCED ||
		or_clock_encode(or_clock_decode(a.clock_error)) == a.clock_error);
	or_ack_encode(&a, msg);
	REQUIRE(!memcmp(msg, data, OR_ACK_LEN - OR_TAG_LEN));
}

static void fuzz_challenge(const u8 *data, size_t size)
{
	struct or_challenge c, none;
	u8 msg[OR_CHALLENGE_LEN];
	enum or_error error;

	/* No good message is all 0. */
	memset(&none, 0, sizeof(none));
	c = none;
	error = or_challenge_decode(data, size, &c);
	REQUIRE(error < OR_ERR_TAG);
	REQUIRE(!error == !!memcmp(&c, &none, sizeof(c)));
	if (error)
		return;
	REQUIRE(size == OR_CHALLENGE_LEN);
	REQUIRE(c.cookie && c.count);
	or_challenge_encode(&c, msg);
	/* Capabilities of later are not kept. */
	REQUIRE(!memcmp(msg, data, 2));
	REQUIRE(!memcmp(msg + 4, data + 4, OR_CHALLENGE_LEN - OR_TAG_LEN - 4));
}

static void fuzz_subscribe(const u8 *data, size_t size)
{
	struct or_subscription sub = { .until_s = 0 }, old;
	struct or_subscribe s, none;
	siphash_key_t secret = { { 1, 2 } };
	struct or_pair pair = { .version = 4 };
	u8 msg[OR_SUBSCRIBE_LEN], key[OR_KEY_LEN], psk[OR_KEY_LEN] = { 0 };
	enum or_error error;

	/* No good message is all 0. */
	memset(&none, 0, sizeof(none));
	s = none;
	error = or_subscribe_decode(data, size, &s);
	REQUIRE(error < OR_ERR_TAG);
	REQUIRE(!error == !!memcmp(&s, &none, sizeof(s)));
	if (error)
		return;
	REQUIRE(size == OR_SUBSCRIBE_LEN);
	REQUIRE(s.lifetime_s <= OR_LIFETIME_MAX_S);
	or_subscribe_encode(&s, msg);
	REQUIRE(!memcmp(msg, data, OR_SUBSCRIBE_LEN - OR_TAG_LEN));

	/* Nobody finds a tag or a cookie by chance. */
	or_derive(psk, &pair, s.nonce, key);
	REQUIRE(or_verify(data, size, key));
	REQUIRE(!or_cookie_valid(s.cookie, &secret, &pair, 0, s.nonce, 1000));
	or_sign(msg, sizeof(msg), key);
	REQUIRE(!or_verify(msg, sizeof(msg), key));

	/* Without a proof it changes nothing; with one, once. */
	old = sub;
	REQUIRE(or_subscribe_accept(&sub, &s, key, false, 1) == OR_ERR_COOKIE);
	REQUIRE(!memcmp(&sub, &old, sizeof(sub)));
	REQUIRE(or_subscribe_accept(&sub, &s, key, true, 1) == OR_OK);
	if (!s.lifetime_s)
		return;
	REQUIRE(sub.until_s == 1ULL + s.lifetime_s);
	REQUIRE(or_subscribe_accept(&sub, &s, key, true, 1) == OR_ERR_REPLAY);
}

static void fuzz_cnp(const u8 *data, size_t size)
{
	u8 msg[OR_CNP_LEN_V6], key[OR_KEY_LEN] = { 7 };
	struct or_cnp c, none;
	enum or_error error;
	u64 newest = 0;

	/* No good message is all 0. */
	memset(&none, 0, sizeof(none));
	c = none;
	error = or_cnp_decode(data, size, &c);
	REQUIRE(error < OR_ERR_TAG);
	REQUIRE(!error == !!memcmp(&c, &none, sizeof(c)));
	if (error)
		return;
	REQUIRE(size == (c.pair.version == 4 ? OR_CNP_LEN_V4 : OR_CNP_LEN_V6));
	REQUIRE(c.window && c.sport && c.dport && c.count);
	REQUIRE(c.hold_us && c.hold_us <= OR_CNP_HOLD_MAX_US);
	REQUIRE(or_cnp_encode(&c, msg) == size);
	REQUIRE(!memcmp(msg, data, size - OR_TAG_LEN));

	/* Nobody finds a tag by chance; each is accepted once. */
	REQUIRE(or_verify(data, size, key));
	or_sign(msg, size, key);
	REQUIRE(!or_verify(msg, size, key));
	REQUIRE(or_cnp_accept(&newest, c.count) == OR_OK);
	REQUIRE(or_cnp_accept(&newest, c.count) == OR_ERR_REPLAY);
}

/* Two bytes each: how far the count is from the highest one so far. */
static void fuzz_replay(const u8 *data, size_t size)
{
	u32 accepted[MAX_COUNTS], newest = 0, count;
	struct or_replay w = { 0 };
	enum or_error error;
	size_t n = 0, i;
	bool seen;

	if (size < 4)
		return;
	newest = (u32)or_get(data, 4);
	for (data += 4, size -= 4; size >= 2 && n < MAX_COUNTS; data += 2, size -= 2) {
		count = newest + (u32)(s32)(((int)or_get(data, 2) - 0x8000) / 64);
		for (seen = false, i = 0; i < n; i++)
			seen |= accepted[i] == count;
		error = or_replay_check(&w, count);
		REQUIRE(or_replay_accept(&w, count) == error);
		/* Whatever came of it: not once more. */
		REQUIRE(or_replay_check(&w, count));
		if (!n) {
			REQUIRE(!error);
			newest = count;
		}
		if ((s32)(count - newest) > 0)
			newest = count;
		if (newest - count >= 64)
			REQUIRE(error == OR_ERR_OLD);
		else
			REQUIRE(error == (seen ? OR_ERR_REPLAY : OR_OK));
		REQUIRE(w.newest == newest);
		if (!error)
			accepted[n++] = count;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u8 *exact = malloc(size ? size : 1);

	/* A buffer of just that size: reading beyond it is seen. */
	memcpy(exact, data, size);
	fuzz_ack(exact, size);
	fuzz_subscribe(exact, size);
	fuzz_challenge(exact, size);
	fuzz_cnp(exact, size);
	fuzz_replay(exact, size);
	free(exact);
	return 0;
}
