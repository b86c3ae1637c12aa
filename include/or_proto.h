/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The wire format of On-Ramp: SUBSCRIBE and OR-ACK, version 1.
 *
 * Both are UDP datagrams from and to OR_PORT; Documentation/or-protocol.md has every
 * byte, and who sends what when. Both
 * have OR_MSG_LEN bytes, are big endian and end in a tag: SipHash-2-4 of the bytes
 * before it, keyed by a nonce that the sender of data chose for this ordered pair
 * of addresses. The addresses of the flow are those of the OR-ACK, reversed.
 *
 *	encode: struct -> bytes, then or_sign()
 *	decode: length, type, version, reserved bits, values -> struct; then the
 *	        caller finds the nonce, or_verify(), or_replay_check()
 *
 * Pure functions: every error is one enum or_error, for a counter each, and leaves
 * the output as it was. SipHash is Aumasson and Bernstein, "SipHash: a fast
 * short-input PRF", INDOCRYPT 2012.
 */
#ifndef _OR_PROTO_H
#define _OR_PROTO_H

#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/siphash.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include "core_user.h"
#include "siphash_user.h"
#endif

/* UDP port of both ends, from the dynamic range; nothing is registered. */
#define OR_PORT			51966

/* High nibble of byte 0. */
#define OR_VERSION		1

/* Low nibble of byte 0. */
enum or_type {
	OR_TYPE_SUBSCRIBE = 1,	/* sender of data -> receiver */
	OR_TYPE_ACK = 2,	/* receiver -> sender of data */
};

/*
 * Length of both, bytes. With Ethernet, IPv4 and UDP headers 14 + 20 + 8 + 36 = 78
 * bytes, the paper's size (section 4.1); IPv6 has 98.
 */
#define OR_MSG_LEN		36
#define OR_TAG_OFFSET		28
#define OR_NONCE_LEN		16

/* Transport protocols with sequence numbers that OR-ACKs can be about: TCP. */
#define OR_PROTO_TCP		6

/*
 * Beside the transport protocol, whose numbers from 128 on can not be told: the stamp is
 * of a NIC's clock.
 */
#define OR_STAMP_NIC		0x80

/* Largest hold time, ns: 24 bits, 16.8 ms. It stands for all longer ones. */
#define OR_HOLD_MAX_NS		0xffffffU

/* Lifetime of a subscription, s: 1 to 1 h; a nonce is used no longer than that. */
#define OR_LIFETIME_MAX_S	3600

/* Capabilities of a SUBSCRIBE; all other bits are reserved. */
#define OR_CAP_RELATIVE		0x0001	/* needs no synchronised clock */
#define OR_CAP_SYNCED		0x0002	/* uses the clock error */
#define OR_CAP_ALL		0x0003

/*
 * Clock error: bound on |clock - true time|, one byte. Below 8: ns. Otherwise
 * (8 + low 3 bits) << (high 5 bits - 1) ns, up to code 247: 8.05 s. Encoding rounds
 * up, by less than an eighth.
 */
#define OR_CLOCK_UNSYNCED	255
#define OR_CLOCK_LAST		247

/* Why a message is refused; 0 is success. For counters: one each. */
enum or_error {
	OR_OK,
	OR_ERR_SHORT,		/* fewer bytes than the message has */
	OR_ERR_LONG,		/* more */
	OR_ERR_VERSION,		/* not version 1 */
	OR_ERR_TYPE,		/* not the expected type */
	OR_ERR_RESERVED,	/* a reserved bit or code is set */
	OR_ERR_PROTOCOL,	/* not a transport protocol with sequence numbers */
	OR_ERR_VALUE,		/* a value outside its range */
	OR_ERR_TAG,		/* the tag is wrong */
	OR_ERR_REPLAY,		/* seen before */
	OR_ERR_OLD,		/* too old to know whether it was seen */
	OR_ERRORS
};

/**
 * struct or_ack - an OR-ACK
 * @rx_ns:	when the newest packet was received, receiver's clock, ns
 * @seq:	sequence number after its last byte
 * @hold_ns:	time until the OR-ACK was sent, <= OR_HOLD_MAX_NS
 * @count:	number of the OR-ACK within the flow, see struct or_replay
 * @sport:	source port of the flow: of the sender of data; > 0
 * @dport:	its destination port; > 0
 * @packets:	packets covered since the last OR-ACK, 1 to 255; 255 is also more
 * @clock_error: code of or_clock_encode(), or OR_CLOCK_UNSYNCED
 * @domain:	of the receiver's clock: changes when it was stepped or replaced, so
 *		that stamps of two domains must not be compared
 * @protocol:	of the flow, OR_PROTO_TCP
 * @nic:	@rx_ns is by the clock of the NIC that received the packet, and not by a
 *		clock of the host; so is what @clock_error says
 */
struct or_ack {
	u64	rx_ns;
	u32	seq;
	u32	hold_ns;
	u32	count;
	u16	sport;
	u16	dport;
	u8	packets;
	u8	clock_error;
	u8	domain;
	u8	protocol;
	bool	nic;
};

/**
 * struct or_subscribe - a SUBSCRIBE
 * @nonce:	random, the key of all tags of this subscription
 * @count:	number of the SUBSCRIBE under this nonce, from 1 on
 * @lifetime_s:	how long OR-ACKs are wanted, 0 (no longer) to OR_LIFETIME_MAX_S
 * @caps:	OR_CAP_*
 */
struct or_subscribe {
	u8	nonce[OR_NONCE_LEN];
	u32	count;
	u16	lifetime_s;
	u16	caps;
};

/* --- bytes ------------------------------------------------------------------ */

static inline void or_put(u8 *p, u64 value, int bytes)
{
	while (bytes--) {
		p[bytes] = (u8)value;
		value >>= 8;
	}
}

static inline u64 or_get(const u8 *p, int bytes)
{
	u64 value = 0;

	while (bytes--)
		value = value << 8 | *p++;
	return value;
}

/* --- clock error ------------------------------------------------------------ */

/**
 * or_clock_encode() - code of a clock error, rounded up
 * @error_ns: ns
 *
 * Return: the code; OR_CLOCK_UNSYNCED if it is above 8.05 s.
 */
static inline u8 or_clock_encode(u64 error_ns)
{
	u32 exponent = 0;

	if (error_ns > 15ULL << 29)
		return OR_CLOCK_UNSYNCED;
	/* Up, so that the shifted value is not below the error. */
	while (error_ns > 15) {
		error_ns = (error_ns >> 1) + (error_ns & 1);
		exponent++;
	}
	if (error_ns < 8)
		return (u8)error_ns;
	return (u8)((exponent + 1) << 3 | (error_ns & 7));
}

/**
 * or_clock_decode() - clock error of a code, ns
 * @code: 0 to OR_CLOCK_LAST
 */
static inline u64 or_clock_decode(u8 code)
{
	if (code < 8)
		return code;
	return (u64)(8 | (code & 7)) << ((code >> 3) - 1);
}

/* --- tag -------------------------------------------------------------------- */

/**
 * or_tag() - SipHash-2-4 of a message
 * @msg: OR_MSG_LEN bytes
 * @nonce: the key
 */
static inline u64 or_tag(const u8 *msg, const u8 nonce[OR_NONCE_LEN])
{
	siphash_key_t key = { { 0, 0 } };
	int i;

	/* As in the paper: two little endian words. */
	for (i = 0; i < OR_NONCE_LEN; i++)
		key.key[i / 8] |= (u64)nonce[i] << (8 * (i % 8));
	return siphash(msg, OR_TAG_OFFSET, &key);
}

/**
 * or_sign() - write the tag of an encoded message
 * @msg: OR_MSG_LEN bytes
 * @nonce: the key
 */
static inline void or_sign(u8 *msg, const u8 nonce[OR_NONCE_LEN])
{
	or_put(msg + OR_TAG_OFFSET, or_tag(msg, nonce), 8);
}

/**
 * or_verify() - is the tag that of the message under this nonce?
 * @msg: OR_MSG_LEN bytes
 * @nonce: the key
 *
 * One comparison of words: its time says nothing about the tag.
 */
static inline enum or_error or_verify(const u8 *msg, const u8 nonce[OR_NONCE_LEN])
{
	return or_get(msg + OR_TAG_OFFSET, 8) == or_tag(msg, nonce) ?
	       OR_OK : OR_ERR_TAG;
}

/* --- messages --------------------------------------------------------------- */

/* What both have in common. */
static inline enum or_error or_check(const u8 *msg, size_t len, enum or_type type)
{
	/* A message of another version may have another length. */
	if (len < 1)
		return OR_ERR_SHORT;
	if (msg[0] >> 4 != OR_VERSION)
		return OR_ERR_VERSION;
	if ((msg[0] & 15) != type)
		return OR_ERR_TYPE;
	if (len != OR_MSG_LEN)
		return len < OR_MSG_LEN ? OR_ERR_SHORT : OR_ERR_LONG;
	return OR_OK;
}

/**
 * or_ack_encode() - bytes of an OR-ACK, without its tag
 * @a: what it says; values beyond their range are saturated
 * @msg: OR_MSG_LEN bytes
 */
static inline void or_ack_encode(const struct or_ack *a, u8 *msg)
{
	msg[0] = OR_VERSION << 4 | OR_TYPE_ACK;
	msg[1] = a->protocol | (a->nic ? OR_STAMP_NIC : 0);
	msg[2] = a->packets;
	msg[3] = a->clock_error;
	or_put(msg + 4, a->sport, 2);
	or_put(msg + 6, a->dport, 2);
	or_put(msg + 8, a->seq, 4);
	or_put(msg + 12, a->rx_ns, 8);
	msg[20] = a->domain;
	or_put(msg + 21, min_t(u32, a->hold_ns, OR_HOLD_MAX_NS), 3);
	or_put(msg + 24, a->count, 4);
	or_put(msg + OR_TAG_OFFSET, 0, 8);
}

/**
 * or_ack_decode() - an OR-ACK of bytes
 * @msg: a datagram
 * @len: its length
 * @a: what it says, if it is valid; else not touched
 *
 * Its tag and its count are not checked: what they are checked against depends on
 * what it says. Until then nothing it says is to be believed.
 */
static inline enum or_error or_ack_decode(const u8 *msg, size_t len,
					  struct or_ack *a)
{
	enum or_error error = or_check(msg, len, OR_TYPE_ACK);

	if (error)
		return error;
	if ((msg[1] & ~OR_STAMP_NIC) != OR_PROTO_TCP)
		return OR_ERR_PROTOCOL;
	if (msg[3] > OR_CLOCK_LAST && msg[3] != OR_CLOCK_UNSYNCED)
		return OR_ERR_RESERVED;
	if (!msg[2] || !or_get(msg + 4, 2) || !or_get(msg + 6, 2))
		return OR_ERR_VALUE;
	*a = (struct or_ack) {
		.protocol = OR_PROTO_TCP,
		.nic = msg[1] & OR_STAMP_NIC,
		.packets = msg[2],
		.clock_error = msg[3],
		.sport = (u16)or_get(msg + 4, 2),
		.dport = (u16)or_get(msg + 6, 2),
		.seq = (u32)or_get(msg + 8, 4),
		.rx_ns = or_get(msg + 12, 8),
		.domain = msg[20],
		.hold_ns = (u32)or_get(msg + 21, 3),
		.count = (u32)or_get(msg + 24, 4),
	};
	return OR_OK;
}

/**
 * or_subscribe_encode() - bytes of a SUBSCRIBE, without its tag
 * @s: what it says
 * @msg: OR_MSG_LEN bytes
 */
static inline void or_subscribe_encode(const struct or_subscribe *s, u8 *msg)
{
	msg[0] = OR_VERSION << 4 | OR_TYPE_SUBSCRIBE;
	msg[1] = 0;
	or_put(msg + 2, s->caps, 2);
	or_put(msg + 4, s->lifetime_s, 2);
	or_put(msg + 6, 0, 2);
	memcpy(msg + 8, s->nonce, OR_NONCE_LEN);
	or_put(msg + 24, s->count, 4);
	or_put(msg + OR_TAG_OFFSET, 0, 8);
}

/**
 * or_subscribe_decode() - a SUBSCRIBE of bytes
 * @msg: a datagram
 * @len: its length
 * @s: what it says, if it is valid; else not touched
 *
 * The tag is not checked, see or_subscribe_accept().
 */
static inline enum or_error or_subscribe_decode(const u8 *msg, size_t len,
						struct or_subscribe *s)
{
	enum or_error error = or_check(msg, len, OR_TYPE_SUBSCRIBE);

	if (error)
		return error;
	if (msg[1] || or_get(msg + 6, 2) || or_get(msg + 2, 2) & ~(u64)OR_CAP_ALL)
		return OR_ERR_RESERVED;
	if (or_get(msg + 4, 2) > OR_LIFETIME_MAX_S || !or_get(msg + 24, 4))
		return OR_ERR_VALUE;
	s->caps = (u16)or_get(msg + 2, 2);
	s->lifetime_s = (u16)or_get(msg + 4, 2);
	memcpy(s->nonce, msg + 8, OR_NONCE_LEN);
	s->count = (u32)or_get(msg + 24, 4);
	return OR_OK;
}

/* --- replay window ---------------------------------------------------------- */

/**
 * struct or_replay - which counts have been seen
 * @newest:	highest count
 * @seen:	bit i: newest - i
 *
 * All 0: nothing yet. A receiver starts the counts of a flow at its time in us and
 * adds one for each OR-ACK, of which a flow has fewer than one per us: when it has
 * forgotten a flow and starts again, it is ahead of all that it used before. Half of
 * the numbers are 35 minutes; a flow whose last OR-ACK is older starts over with
 * an empty window, since one of that age is not about a sequence in flight.
 */
struct or_replay {
	u32	newest;
	u64	seen;
};

/**
 * or_replay_check() - may a count be accepted?
 * @w: window, not changed
 * @count: of the message
 */
static inline enum or_error or_replay_check(const struct or_replay *w, u32 count)
{
	u32 behind = w->newest - count;

	if (!w->seen || (s32)(count - w->newest) > 0)
		return OR_OK;
	if (behind >= 64)
		return OR_ERR_OLD;
	return w->seen >> behind & 1 ? OR_ERR_REPLAY : OR_OK;
}

/**
 * or_replay_accept() - check a count, and remember it if it is good
 * @w: window, changed only on success
 * @count: of a message whose tag is right
 */
static inline enum or_error or_replay_accept(struct or_replay *w, u32 count)
{
	enum or_error error = or_replay_check(w, count);
	u32 ahead = count - w->newest;

	if (error)
		return error;
	if (!w->seen || (s32)ahead > 0) {
		w->seen = !w->seen || ahead >= 64 ? 1 : w->seen << ahead | 1;
		w->newest = count;
	} else {
		w->seen |= 1ULL << (w->newest - count);
	}
	return OR_OK;
}

/* --- subscriptions ---------------------------------------------------------- */

/**
 * struct or_subscription - what a receiver knows of a sender of data
 * @nonce:	key of its tags
 * @replay:	counts of its SUBSCRIBEs
 * @until_s:	when it ends, s; 0: there is none
 */
struct or_subscription {
	u8	nonce[OR_NONCE_LEN];
	struct or_replay replay;
	u64	until_s;
};

/**
 * or_subscribe_accept() - let a SUBSCRIBE start, renew or end a subscription
 * @sub: subscription of the address that it came from; changed only on success
 * @s: decoded SUBSCRIBE
 * @msg: its bytes
 * @now_s: current time, s, > 0
 *
 * While a subscription lives, only who knows its nonce may change it: the tag is
 * keyed by the nonce that is held, also for a new nonce. Otherwise it is keyed by
 * the nonce in the message, and only says that the bytes are whole.
 */
static inline enum or_error or_subscribe_accept(struct or_subscription *sub,
						const struct or_subscribe *s,
						const u8 *msg, u64 now_s)
{
	bool lives = now_s < sub->until_s;
	struct or_replay replay = { 0 };
	enum or_error error;

	error = or_verify(msg, lives ? sub->nonce : s->nonce);
	if (error)
		return error;
	if (lives && !memcmp(sub->nonce, s->nonce, OR_NONCE_LEN))
		replay = sub->replay;
	error = or_replay_accept(&replay, s->count);
	if (error)
		return error;
	memcpy(sub->nonce, s->nonce, OR_NONCE_LEN);
	sub->replay = replay;
	sub->until_s = s->lifetime_s ? now_s + s->lifetime_s : 0;
	return OR_OK;
}

#endif /* _OR_PROTO_H */
