/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The wire format of On-Ramp, version 2: SUBSCRIBE, CHALLENGE and OR-ACK; and of congestion
 * notifications (CNPs) from switches, which are Mercury's.
 *
 * All are UDP datagrams from and to OR_PORT; Documentation/or-protocol.md has every
 * byte, the messages that are not sent yet, and the protocol's attackers. They are big
 * endian and end in a tag: SipHash-2-4 of the bytes before it. Its key follows from a
 * nonce that the sender of data chose, from the two addresses, and from the pre-shared
 * key if there is one. The addresses of a flow are those of its OR-ACKs, reversed. A CNP has
 * the addresses of its flow, and its tag is under the key of the fabric.
 *
 *	encode: struct -> bytes, then or_sign()
 *	decode: length, type, version, reserved bits, values -> struct; then the
 *	        caller finds or derives the key, or_verify(), or_replay_check()
 *
 *	receiver, SUBSCRIBE:
 *		or_derive() the key of its nonce, or_verify()
 *		the key of a living subscription of this address:
 *			count is new		-> renew or end it
 *		else, or_cookie_valid():	-> start it, or take it over
 *		else				-> CHALLENGE with or_cookie()
 *
 * Pure functions: every error is one enum or_error, for a counter each, and leaves
 * the output as it was. SipHash is Aumasson and Bernstein, "SipHash: a fast
 * short-input PRF", INDOCRYPT 2012.
 */
#ifndef _OR_PROTO_H
#define _OR_PROTO_H

#include <asm/byteorder.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/siphash.h>
#include <linux/string.h>
#include <linux/types.h>

/*
 * UDP port of both ends: privileged; not assigned to anybody; and below 512, where no
 * library binds sockets that want any reserved port.
 */
#define OR_PORT			299

/* High nibble of byte 0. */
#define OR_VERSION		2

/* Low nibble of byte 0. */
enum or_type {
	OR_TYPE_SUBSCRIBE = 1,	/* sender of data -> receiver */
	OR_TYPE_ACK = 2,	/* receiver -> sender of data */
	OR_TYPE_CHALLENGE = 3,	/* receiver -> sender of data */
	OR_TYPE_CNP = 4,	/* switch -> sender of data */
};

/*
 * Lengths, bytes. An OR-ACK with Ethernet, IPv4 and UDP headers has 14 + 20 + 8 + 36 = 78
 * bytes, the paper's size (section 4.1); IPv6 has 98. A CHALLENGE is shorter than the
 * SUBSCRIBE that it answers.
 */
#define OR_ACK_LEN		36
#define OR_SUBSCRIBE_LEN	44
#define OR_CHALLENGE_LEN	24
#define OR_CNP_LEN		32	/* without its addresses */
#define OR_CNP_LEN_V4		40
#define OR_CNP_LEN_V6		64
#define OR_MSG_MAX		64	/* the longest of them */
#define OR_TAG_LEN		8
#define OR_NONCE_LEN		16
#define OR_KEY_LEN		16

/* Each further connection of an OR-ACK, which no one sends yet, bytes. */
#define OR_ACK_RECORD_LEN	24

/* Byte 1, bits 6-5: addresses that the message is about, if they are not its own. */
#define OR_ADDRS_SHIFT		5
#define OR_ADDRS_V4		1
#define OR_ADDRS_V6		2

/* Transport protocols with sequence numbers that OR-ACKs can be about: TCP. */
#define OR_PROTO_TCP		6

/* Byte 1 of an OR-ACK: the timestamp is of a NIC's clock. */
#define OR_STAMP_NIC		0x80

/* Byte 1 of an OR-ACK: much of the receiver's data is from hosts without On-Ramp. */
#define OR_OTHERS		0x10

/*
 * Byte 1 of an OR-ACK: the receiver has its senders drain the path. Only for senders that
 * announce OR_CAP_DRAIN; older ones refuse the message.
 */
#define OR_DRAIN		0x08

/* Byte 1 of an OR-ACK: OR_PROTO_*. */
#define OR_PROTO_MASK		0x07

/* Largest hold time, ns: 24 bits, 16.8 ms. It stands for all longer ones. */
#define OR_HOLD_MAX_NS		0xffffffU

/* Longest time that the window of a CNP holds, us: 1 s. */
#define OR_CNP_HOLD_MAX_US	1000000U

/* Lifetime of a subscription, s. */
#define OR_LIFETIME_MAX_S	120

/* A cookie is valid until the period after the one that it was made in ends, s. */
#define OR_COOKIE_PERIOD_S	60

/* Capabilities of a sender of data; receivers ignore bits that they do not know. */
#define OR_CAP_RELATIVE		0x0001	/* needs no synchronised clock */
#define OR_CAP_SYNCED		0x0002	/* uses the clock error */
#define OR_CAP_DRAIN		0x0010	/* takes OR_DRAIN */
#define OR_CAP_ALL		0x0013

/*
 * Clock error: bound on |clock - true time|, one byte. Below 8: ns. Otherwise
 * (8 + low 3 bits) << (high 5 bits - 1) ns, up to code 247: 8.05 s. Encoding rounds
 * up, by less than an eighth.
 */
#define OR_CLOCK_UNSYNCED	255
#define OR_CLOCK_LAST		247

/* A sender refuses OR-ACKs of a clock that is further from its own, ns: 73 years. */
#define OR_CLOCKS_APART_NS	(1LL << 61)

/* Why a message is refused; 0 is success. For counters: one each. */
enum or_error {
	OR_OK,
	OR_ERR_SHORT,		/* fewer bytes than the message has */
	OR_ERR_LONG,		/* more */
	OR_ERR_VERSION,		/* not version 2 */
	OR_ERR_TYPE,		/* not the expected type */
	OR_ERR_RESERVED,	/* a reserved bit or code is set */
	OR_ERR_PROTOCOL,	/* not a transport protocol with sequence numbers */
	OR_ERR_VALUE,		/* a value outside its range */
	OR_ERR_UNSUPPORTED,	/* other addresses, or several connections */
	OR_ERR_TAG,		/* the tag is wrong */
	OR_ERR_REPLAY,		/* seen before */
	OR_ERR_OLD,		/* too old to know whether it was seen */
	OR_ERR_COOKIE,		/* a SUBSCRIBE whose address is not proven */
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
 * @others:	much of the data that the receiver gets is of flows that have no OR-ACKs
 * @drain:	all senders are to be silent until the queue of the path is empty
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
	bool	others;
	bool	drain;
};

/**
 * struct or_subscribe - a SUBSCRIBE
 * @nonce:	random; the key of all tags of this subscription follows from it
 * @cookie:	of the receiver's last CHALLENGE, 0: there was none
 * @count:	number of the SUBSCRIBE under this nonce, from 1 on
 * @lifetime_s:	how long OR-ACKs are wanted, 0 (no longer) to OR_LIFETIME_MAX_S
 * @caps:	OR_CAP_*, and bits of later ones
 */
struct or_subscribe {
	u8	nonce[OR_NONCE_LEN];
	u64	cookie;
	u32	count;
	u16	lifetime_s;
	u16	caps;
};

/**
 * struct or_challenge - a CHALLENGE
 * @cookie:	to be sent back in a SUBSCRIBE with the same nonce, not 0
 * @count:	of the SUBSCRIBE that it answers
 */
struct or_challenge {
	u64	cookie;
	u32	count;
};

/**
 * struct or_pair - an ordered pair of addresses
 * @version:	4 or 6
 * @zero:	0
 * @sender:	of data; IPv4 in the first four bytes, the rest 0; network byte order
 * @receiver:	likewise
 *
 * It is hashed as it lies in memory.
 */
struct or_pair {
	u8	version;
	u8	zero[3];
	u8	sender[16];
	u8	receiver[16];
};

/**
 * struct or_cnp - a congestion notification
 * @pair:	addresses of the flow
 * @count:	number of the message, of all that the switch sends; > 0
 * @window:	bytes that the flow may have in flight; > 0
 * @hold_us:	how long that holds, 1 to OR_CNP_HOLD_MAX_US
 * @from:	number of the switch in its fabric
 * @sport:	source port of the flow: of the sender of data; > 0
 * @dport:	its destination port; > 0
 * @protocol:	of the flow, OR_PROTO_TCP
 */
struct or_cnp {
	struct or_pair	pair;
	u64		count;
	u32		window;
	u32		hold_us;
	u16		from;
	u16		sport;
	u16		dport;
	u8		protocol;
};

/* Bytes -------------------------------------------------------------------- */

/* Eight bytes at once: keys, tags, timestamps. */
static inline void or_put(u8 *p, u64 value, int bytes)
{
	__be64 word = cpu_to_be64(value);

	if (bytes == sizeof(word)) {
		memcpy(p, &word, sizeof(word));
		return;
	}
	while (bytes--) {
		p[bytes] = (u8)value;
		value >>= 8;
	}
}

static inline u64 or_get(const u8 *p, int bytes)
{
	u64 value = 0;
	__be64 word;

	if (bytes == sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		return be64_to_cpu(word);
	}
	while (bytes--)
		value = value << 8 | *p++;
	return value;
}

/* Clock error -------------------------------------------------------------- */

/**
 * or_clock_encode() - encode a clock error, rounding up
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
 * or_clock_decode() - decode a clock error, ns
 * @code: 0 to OR_CLOCK_LAST
 */
static inline u64 or_clock_decode(u8 code)
{
	if (code < 8)
		return code;
	return (u64)(8 | (code & 7)) << ((code >> 3) - 1);
}

/* Keys and tags ------------------------------------------------------------ */

/* As in the paper of SipHash: two little endian words. */
static inline siphash_key_t or_siphash_key(const u8 bytes[OR_KEY_LEN])
{
	siphash_key_t key;
	__le64 words[2];

	memcpy(words, bytes, sizeof(words));
	key.key[0] = le64_to_cpu(words[0]);
	key.key[1] = le64_to_cpu(words[1]);
	return key;
}

/**
 * or_derive() - derive the key of the tags between two addresses
 * @psk: the pre-shared key, all 0 without one
 * @pair: the addresses
 * @nonce: of the SUBSCRIBE
 * @key: OR_KEY_LEN bytes, written
 *
 * Two words of SipHash-2-4 under @psk, of the addresses, the nonce and the word's number.
 */
static inline void or_derive(const u8 psk[OR_KEY_LEN], const struct or_pair *pair,
			     const u8 nonce[OR_NONCE_LEN], u8 key[OR_KEY_LEN])
{
	u8 in[sizeof(*pair) + OR_NONCE_LEN + 1];
	siphash_key_t k = or_siphash_key(psk);
	__le64 words[2];
	int i;

	memcpy(in, pair, sizeof(*pair));
	memcpy(in + sizeof(*pair), nonce, OR_NONCE_LEN);
	for (i = 0; i < 2; i++) {
		in[sizeof(in) - 1] = (u8)i;
		words[i] = cpu_to_le64(siphash(in, sizeof(in), &k));
	}
	memcpy(key, words, sizeof(words));
}

/**
 * or_tag() - compute SipHash-2-4 of a message
 * @msg: @len bytes, the last OR_TAG_LEN of which are not read
 * @len: length of the message with its tag, at least OR_TAG_LEN
 * @key: of or_derive()
 */
static inline u64 or_tag(const u8 *msg, size_t len, const u8 key[OR_KEY_LEN])
{
	siphash_key_t k = or_siphash_key(key);

	return siphash(msg, len - OR_TAG_LEN, &k);
}

/**
 * or_sign() - write the tag of an encoded message
 * @msg: @len bytes
 * @len: length of the message with its tag
 * @key: of or_derive()
 */
static inline void or_sign(u8 *msg, size_t len, const u8 key[OR_KEY_LEN])
{
	or_put(msg + len - OR_TAG_LEN, or_tag(msg, len, key), OR_TAG_LEN);
}

/**
 * or_verify() - verify the tag of a message
 * @msg: @len bytes
 * @len: length of the message with its tag
 * @key: of or_derive()
 *
 * One comparison of words: its time says nothing about the tag.
 */
static inline enum or_error or_verify(const u8 *msg, size_t len, const u8 key[OR_KEY_LEN])
{
	return or_get(msg + len - OR_TAG_LEN, OR_TAG_LEN) == or_tag(msg, len, key) ?
	       OR_OK : OR_ERR_TAG;
}

/* Cookies ------------------------------------------------------------------ */

/**
 * or_cookie() - compute the cookie that only a host at an address can know
 * @secret: of the receiver, known to nobody else
 * @pair: the addresses
 * @scope: device of a link-local address, else 0
 * @nonce: of the SUBSCRIBE
 * @period: number of the period that it is made in, see OR_COOKIE_PERIOD_S
 *
 * The receiver needs no memory of it: it computes the cookie again.
 *
 * Return: the cookie, never 0.
 */
static inline u64 or_cookie(const siphash_key_t *secret, const struct or_pair *pair,
			    u32 scope, const u8 nonce[OR_NONCE_LEN], u64 period)
{
	u8 in[sizeof(*pair) + OR_NONCE_LEN + 4 + 8];

	memcpy(in, pair, sizeof(*pair));
	memcpy(in + sizeof(*pair), nonce, OR_NONCE_LEN);
	or_put(in + sizeof(*pair) + OR_NONCE_LEN, scope, 4);
	or_put(in + sizeof(*pair) + OR_NONCE_LEN + 4, period, 8);
	return siphash(in, sizeof(in), secret) ?: 1;
}

/**
 * or_cookie_valid() - verify that a cookie is of this address and nonce, and recent
 * @cookie: of a SUBSCRIBE
 * @secret: as for or_cookie()
 * @pair: the addresses
 * @scope: device of a link-local address, else 0
 * @nonce: of the SUBSCRIBE
 * @now_s: current time, s, at least OR_COOKIE_PERIOD_S
 *
 * A cookie is valid for one to two periods.
 */
static inline bool or_cookie_valid(u64 cookie, const siphash_key_t *secret,
				   const struct or_pair *pair, u32 scope,
				   const u8 nonce[OR_NONCE_LEN], u64 now_s)
{
	u64 period = div_u64(now_s, OR_COOKIE_PERIOD_S);

	return cookie == or_cookie(secret, pair, scope, nonce, period) ||
	       cookie == or_cookie(secret, pair, scope, nonce, period - 1);
}

/* Messages ----------------------------------------------------------------- */

/*
 * Check the parts that all messages share. @fixed: length without other addresses; @record: length
 * of a record that may follow once or more often, 0: none; @flags: bits of byte 1 in use.
 */
static inline enum or_error or_check(const u8 *msg, size_t len, enum or_type type,
				     size_t fixed, size_t record, u8 flags)
{
	static const u8 room[4] = { [OR_ADDRS_V4] = 2 * 4, [OR_ADDRS_V6] = 2 * 16 };
	u8 addrs;

	/* A message of another version may have another length. */
	if (len < 1)
		return OR_ERR_SHORT;
	if (msg[0] >> 4 != OR_VERSION)
		return OR_ERR_VERSION;
	if ((msg[0] & 15) != type)
		return OR_ERR_TYPE;
	if (len < fixed)
		return OR_ERR_SHORT;
	addrs = msg[1] >> OR_ADDRS_SHIFT & 3;
	if (addrs == 3 || msg[1] & ~(flags | 3 << OR_ADDRS_SHIFT))
		return OR_ERR_RESERVED;
	if (len < fixed + room[addrs])
		return OR_ERR_SHORT;
	len -= fixed + room[addrs];
	if (len && (!record || len % record))
		return OR_ERR_LONG;
	/* The datagram's own addresses are not those of a switch's flow. */
	if (type == OR_TYPE_CNP)
		return addrs ? OR_OK : OR_ERR_VALUE;
	/* The protocol has it, but this host has not announced that it takes it. */
	return addrs || len ? OR_ERR_UNSUPPORTED : OR_OK;
}

/**
 * or_ack_encode() - encode an OR-ACK, without its tag
 * @a: its fields; values beyond their range are saturated
 * @msg: OR_ACK_LEN bytes
 */
static inline void or_ack_encode(const struct or_ack *a, u8 *msg)
{
	msg[0] = OR_VERSION << 4 | OR_TYPE_ACK;
	msg[1] = a->protocol | (a->nic ? OR_STAMP_NIC : 0) | (a->others ? OR_OTHERS : 0) |
		 (a->drain ? OR_DRAIN : 0);
	msg[2] = a->clock_error;
	msg[3] = a->domain;
	or_put(msg + 4, a->sport, 2);
	or_put(msg + 6, a->dport, 2);
	or_put(msg + 8, a->seq, 4);
	or_put(msg + 12, a->rx_ns, 8);
	msg[20] = a->packets;
	or_put(msg + 21, min_t(u32, a->hold_ns, OR_HOLD_MAX_NS), 3);
	or_put(msg + 24, a->count, 4);
	or_put(msg + 28, 0, OR_TAG_LEN);
}

/**
 * or_ack_decode() - decode an OR-ACK
 * @msg: a datagram
 * @len: its length
 * @a: its fields, if it is valid; else not touched
 *
 * This does not check the tag and the count, since these need the fields. Until the caller has
 * checked both, it must not believe the message.
 */
static inline enum or_error or_ack_decode(const u8 *msg, size_t len,
					  struct or_ack *a)
{
	enum or_error error = or_check(msg, len, OR_TYPE_ACK, OR_ACK_LEN,
				       OR_ACK_RECORD_LEN,
				       OR_STAMP_NIC | OR_OTHERS | OR_DRAIN | OR_PROTO_MASK);

	if (error)
		return error;
	if ((msg[1] & OR_PROTO_MASK) != OR_PROTO_TCP)
		return OR_ERR_PROTOCOL;
	if (msg[2] > OR_CLOCK_LAST && msg[2] != OR_CLOCK_UNSYNCED)
		return OR_ERR_RESERVED;
	if (!msg[20] || !or_get(msg + 4, 2) || !or_get(msg + 6, 2))
		return OR_ERR_VALUE;
	*a = (struct or_ack) {
		.protocol = OR_PROTO_TCP,
		.nic = msg[1] & OR_STAMP_NIC,
		.others = msg[1] & OR_OTHERS,
		.drain = msg[1] & OR_DRAIN,
		.clock_error = msg[2],
		.domain = msg[3],
		.sport = (u16)or_get(msg + 4, 2),
		.dport = (u16)or_get(msg + 6, 2),
		.seq = (u32)or_get(msg + 8, 4),
		.rx_ns = or_get(msg + 12, 8),
		.packets = msg[20],
		.hold_ns = (u32)or_get(msg + 21, 3),
		.count = (u32)or_get(msg + 24, 4),
	};
	return OR_OK;
}

/**
 * or_subscribe_encode() - encode a SUBSCRIBE, without its tag
 * @s: its fields
 * @msg: OR_SUBSCRIBE_LEN bytes
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
	or_put(msg + 28, s->cookie, 8);
	or_put(msg + 36, 0, OR_TAG_LEN);
}

/**
 * or_subscribe_decode() - decode a SUBSCRIBE
 * @msg: a datagram
 * @len: its length
 * @s: its fields, if it is valid; else not touched
 *
 * Neither its tag nor its cookie is checked, see or_subscribe_accept().
 */
static inline enum or_error or_subscribe_decode(const u8 *msg, size_t len,
						struct or_subscribe *s)
{
	enum or_error error = or_check(msg, len, OR_TYPE_SUBSCRIBE, OR_SUBSCRIBE_LEN, 0, 0);

	if (error)
		return error;
	if (or_get(msg + 6, 2))
		return OR_ERR_RESERVED;
	if (or_get(msg + 4, 2) > OR_LIFETIME_MAX_S || !or_get(msg + 24, 4))
		return OR_ERR_VALUE;
	s->caps = (u16)or_get(msg + 2, 2);
	s->lifetime_s = (u16)or_get(msg + 4, 2);
	memcpy(s->nonce, msg + 8, OR_NONCE_LEN);
	s->count = (u32)or_get(msg + 24, 4);
	s->cookie = or_get(msg + 28, 8);
	return OR_OK;
}

/**
 * or_challenge_encode() - encode a CHALLENGE, without its tag
 * @c: its fields
 * @msg: OR_CHALLENGE_LEN bytes
 */
static inline void or_challenge_encode(const struct or_challenge *c, u8 *msg)
{
	msg[0] = OR_VERSION << 4 | OR_TYPE_CHALLENGE;
	msg[1] = 0;
	/* Capabilities of a receiver; there are none yet. */
	or_put(msg + 2, 0, 2);
	or_put(msg + 4, c->count, 4);
	or_put(msg + 8, c->cookie, 8);
	or_put(msg + 16, 0, OR_TAG_LEN);
}

/**
 * or_challenge_decode() - decode a CHALLENGE
 * @msg: a datagram
 * @len: its length
 * @c: its fields, if it is valid; else not touched
 *
 * The tag is not checked.
 */
static inline enum or_error or_challenge_decode(const u8 *msg, size_t len,
						struct or_challenge *c)
{
	enum or_error error = or_check(msg, len, OR_TYPE_CHALLENGE, OR_CHALLENGE_LEN, 0, 0);

	if (error)
		return error;
	if (!or_get(msg + 4, 4) || !or_get(msg + 8, 8))
		return OR_ERR_VALUE;
	c->count = (u32)or_get(msg + 4, 4);
	c->cookie = or_get(msg + 8, 8);
	return OR_OK;
}

/* Bytes of an address of a flow. */
static inline size_t or_cnp_addr_len(const struct or_pair *pair)
{
	return pair->version == 4 ? 4 : 16;
}

/**
 * or_cnp_encode() - encode a CNP, without its tag
 * @c: its fields
 * @msg: OR_CNP_LEN_V6 bytes
 *
 * Return: its length, OR_CNP_LEN_V4 or OR_CNP_LEN_V6.
 */
static inline size_t or_cnp_encode(const struct or_cnp *c, u8 *msg)
{
	size_t n = or_cnp_addr_len(&c->pair), len = OR_CNP_LEN + 2 * n;

	msg[0] = OR_VERSION << 4 | OR_TYPE_CNP;
	msg[1] = (u8)((c->pair.version == 4 ? OR_ADDRS_V4 : OR_ADDRS_V6) << OR_ADDRS_SHIFT |
		      c->protocol);
	or_put(msg + 2, c->from, 2);
	or_put(msg + 4, c->sport, 2);
	or_put(msg + 6, c->dport, 2);
	or_put(msg + 8, c->window, 4);
	or_put(msg + 12, c->hold_us, 4);
	or_put(msg + 16, c->count, 8);
	memcpy(msg + 24, c->pair.sender, n);
	memcpy(msg + 24 + n, c->pair.receiver, n);
	or_put(msg + len - OR_TAG_LEN, 0, OR_TAG_LEN);
	return len;
}

/**
 * or_cnp_decode() - decode a CNP
 * @msg: a datagram
 * @len: its length
 * @c: its fields, if it is valid; else not touched
 *
 * Neither the tag nor the count is checked, see or_verify() and or_cnp_accept().
 */
static inline enum or_error or_cnp_decode(const u8 *msg, size_t len, struct or_cnp *c)
{
	enum or_error error = or_check(msg, len, OR_TYPE_CNP, OR_CNP_LEN, 0, 15);
	size_t n;

	if (error)
		return error;
	if ((msg[1] & 15) != OR_PROTO_TCP)
		return OR_ERR_PROTOCOL;
	if (!or_get(msg + 4, 2) || !or_get(msg + 6, 2) || !or_get(msg + 8, 4) ||
	    !or_get(msg + 12, 4) || or_get(msg + 12, 4) > OR_CNP_HOLD_MAX_US ||
	    !or_get(msg + 16, 8))
		return OR_ERR_VALUE;
	*c = (struct or_cnp) {
		.pair.version = (msg[1] >> OR_ADDRS_SHIFT & 3) == OR_ADDRS_V4 ? 4 : 6,
		.protocol = OR_PROTO_TCP,
		.from = (u16)or_get(msg + 2, 2),
		.sport = (u16)or_get(msg + 4, 2),
		.dport = (u16)or_get(msg + 6, 2),
		.window = (u32)or_get(msg + 8, 4),
		.hold_us = (u32)or_get(msg + 12, 4),
		.count = or_get(msg + 16, 8),
	};
	n = or_cnp_addr_len(&c->pair);
	memcpy(c->pair.sender, msg + 24, n);
	memcpy(c->pair.receiver, msg + 24 + n, n);
	return OR_OK;
}

/**
 * or_cnp_accept() - accept the messages of a switch in order only, each once
 * @newest: count of the last one accepted, 0: none; changed only on success
 * @count: of a message whose tag is right
 *
 * A window that was overtaken by another one is worth nothing.
 */
static inline enum or_error or_cnp_accept(u64 *newest, u64 count)
{
	if (count <= *newest)
		return count == *newest ? OR_ERR_REPLAY : OR_ERR_OLD;
	*newest = count;
	return OR_OK;
}

/* Replay window ------------------------------------------------------------ */

/**
 * struct or_replay - which counts have been seen
 * @newest:	highest count
 * @bitmap:	bit i: the count newest - i was seen
 *
 * All 0: nothing yet. A receiver starts the counts of a flow at its time in us plus a secret
 * number of the flow, and adds one for each OR-ACK. A flow has fewer than one OR-ACK per us. So a
 * receiver that has forgotten a flow starts ahead of all counts that it used before.
 *
 * Half of the numbers are 35 minutes. A flow whose last OR-ACK is older starts over with an empty
 * window, since one of that age is not about a sequence in flight. So does each flow to a receiver
 * that has sent a CHALLENGE: it has forgotten the secret numbers, too, if its module was loaded
 * again.
 */
struct or_replay {
	u32	newest;
	u64	bitmap;
};

/**
 * or_replay_check() - check whether a count may be accepted
 * @w: window, not changed
 * @count: of the message
 */
static inline enum or_error or_replay_check(const struct or_replay *w, u32 count)
{
	u32 behind = w->newest - count;

	if (!w->bitmap || (s32)(count - w->newest) > 0)
		return OR_OK;
	if (behind >= 64)
		return OR_ERR_OLD;
	return w->bitmap >> behind & 1 ? OR_ERR_REPLAY : OR_OK;
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
	if (!w->bitmap || (s32)ahead > 0) {
		w->bitmap = !w->bitmap || ahead >= 64 ? 1 : w->bitmap << ahead | 1;
		w->newest = count;
	} else {
		w->bitmap |= 1ULL << (w->newest - count);
	}
	return OR_OK;
}

/* Subscriptions ------------------------------------------------------------ */

/**
 * struct or_subscription - a receiver's state of a sender of data
 * @key:	of its tags, or_derive()
 * @replay:	counts of its SUBSCRIBEs
 * @until_s:	when it ends, s; 0: there is none
 */
struct or_subscription {
	u8	key[OR_KEY_LEN];
	struct or_replay replay;
	u64	until_s;
};

/**
 * or_subscription_lives() - return whether a subscription with this key exists
 * @sub: subscription of an address
 * @key: of a SUBSCRIBE from there
 * @now_s: current time, s, > 0
 */
static inline bool or_subscription_lives(const struct or_subscription *sub,
					 const u8 key[OR_KEY_LEN], u64 now_s)
{
	return now_s < sub->until_s && !memcmp(sub->key, key, OR_KEY_LEN);
}

/**
 * or_subscribe_accept() - let a SUBSCRIBE start, take over, renew or end a subscription
 * @sub: subscription of the address that it came from; changed only on success
 * @s: decoded SUBSCRIBE, whose tag is right under @key
 * @key: its key
 * @proven: its cookie is valid
 * @now_s: current time, s, > 0
 *
 * The address of a subscription has been proven when it started. So the key is enough to
 * renew it. Another key needs a cookie, and no more than that: a host that lost its nonce
 * is never locked out by a subscription in its name.
 *
 * Return: OR_OK, OR_ERR_COOKIE, OR_ERR_REPLAY or OR_ERR_OLD.
 */
static inline enum or_error or_subscribe_accept(struct or_subscription *sub,
						const struct or_subscribe *s,
						const u8 key[OR_KEY_LEN], bool proven,
						u64 now_s)
{
	bool renewal = or_subscription_lives(sub, key, now_s);
	struct or_replay replay = { 0 };
	enum or_error error;

	if (!renewal && !proven)
		return OR_ERR_COOKIE;
	if (renewal)
		replay = sub->replay;
	error = or_replay_accept(&replay, s->count);
	if (error)
		return error;
	memcpy(sub->key, key, OR_KEY_LEN);
	sub->replay = replay;
	sub->until_s = s->lifetime_s ? now_s + s->lifetime_s : 0;
	return OR_OK;
}

#endif /* _OR_PROTO_H */
