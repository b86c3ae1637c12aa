/* SPDX-License-Identifier: GPL-2.0 */
/*
 * REPORT, the message that onrampd sends to the daemons of other hosts: pure functions.
 *
 *	offset	bytes
 *	0	4	0x4f524450
 *	4	1	version, 1
 *	5	1	number of lines, 0 to 16
 *	6	1	domain of the sender's receive clock
 *	7	1	bit 0: the domain is valid, and lines are by that clock
 *	8	8	session: random, of the daemon's life, not 0
 *	16	8	count: of the session's messages, to whichever host, from 1
 *	24	8	echo: session of the receiver, as of its last REPORT; 0: none came yet
 *	32	44	each line: address (16 bytes, IPv4 mapped), value (8), slope (4),
 *			error (4), rate of the link in Mbit/s (4), payload in bytes (2), domain,
 *			hops, bit 0: clean, bit 1: by data (1 each), 0 (3); an address of 0:
 *			the value is the time there and back of all paths with as many
 *			hops and this rate
 *	736	32	HMAC-SHA256 with the cluster's key over source and destination address
 *			(16 bytes each) and all before
 *
 * Big endian, times in ns. All messages have the same length, unused bytes are 0. They are sent by
 * time, and none is an answer: to a host that sends nothing they become rare.
 *
 * Replays: a count that is not above the last one of the session is refused, and lines count only
 * if the echo is the own session. A session ends with the first lines of another one, and does not
 * come back. So no message of an earlier life of either daemon counts. A host that was forgotten,
 * and is known again, is not refused, as a count never comes again; what it sent before is taken
 * until its next message.
 */
#ifndef ONRAMPD_REPORT_H
#define ONRAMPD_REPORT_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define REPORT_MAGIC		0x4f524450U
#define REPORT_VERSION		1
#define REPORT_LINES		16
#define REPORT_HEADER		32
#define REPORT_LINE_LEN		44
#define REPORT_MAC_LEN		32
#define REPORT_SIGNED		(REPORT_HEADER + REPORT_LINES * REPORT_LINE_LEN)
#define REPORT_LEN		(REPORT_SIGNED + REPORT_MAC_LEN)

#define REPORT_CLOCKED		1
#define REPORT_CLEAN		1
#define REPORT_DATA		2
#define REPORT_HOPS_UNKNOWN	255

/* struct report_line - a path of the sender, by its receive clock, at the time of sending */
struct report_line {
	uint8_t addr[16];
	int64_t value_ns;
	int32_t slope;
	uint32_t error_ns;
	uint32_t rate_mbit;
	uint16_t payload;
	uint8_t domain;
	uint8_t hops;
	bool clean;
	bool data;
};

struct report {
	uint64_t session;
	uint64_t count;
	uint64_t echo;
	uint8_t domain;
	bool clocked;
	uint8_t n;
	struct report_line line[REPORT_LINES];
};

/* Sessions of a host that are over and that are known as such. */
#define REPORT_OVER		64

/**
 * struct report_peer - what is kept of a host's messages, for replays
 * @session: that has echoed this daemon's; 0: none has
 * @count: of its last message
 * @other: last one that has not: it has just begun, or is long over; 0: none
 * @over: sessions before @session that had echoed it, a ring
 * @n_over: how many there were
 */
struct report_peer {
	uint64_t session;
	uint64_t count;
	uint64_t other;
	uint64_t over[REPORT_OVER];
	unsigned int n_over;
};

static inline void report_put(uint8_t **at, uint64_t value, unsigned int bytes)
{
	while (bytes--)
		*(*at)++ = (uint8_t)(value >> (8 * bytes));
}

static inline uint64_t report_get(const uint8_t **at, unsigned int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | *(*at)++;
	return value;
}

/* report_encode() - write the first REPORT_SIGNED bytes of a message */
static inline void report_encode(const struct report *r, uint8_t *msg)
{
	uint8_t *at = msg;
	unsigned int i;

	memset(msg, 0, REPORT_SIGNED);
	report_put(&at, REPORT_MAGIC, 4);
	report_put(&at, REPORT_VERSION, 1);
	report_put(&at, r->n, 1);
	report_put(&at, r->domain, 1);
	report_put(&at, r->clocked ? REPORT_CLOCKED : 0, 1);
	report_put(&at, r->session, 8);
	report_put(&at, r->count, 8);
	report_put(&at, r->echo, 8);
	for (i = 0; i < r->n; i++) {
		const struct report_line *l = &r->line[i];

		memcpy(at, l->addr, sizeof(l->addr));
		at += sizeof(l->addr);
		report_put(&at, (uint64_t)l->value_ns, 8);
		report_put(&at, (uint32_t)l->slope, 4);
		report_put(&at, l->error_ns, 4);
		report_put(&at, l->rate_mbit, 4);
		report_put(&at, l->payload, 2);
		report_put(&at, l->domain, 1);
		report_put(&at, l->hops, 1);
		report_put(&at, (l->clean ? REPORT_CLEAN : 0) | (l->data ? REPORT_DATA : 0), 1);
		at += 3;
	}
}

/**
 * report_decode() - read a message whose MAC is right
 * @msg: its bytes
 * @len: how many
 * @r: result
 *
 * Return: false if it is no REPORT.
 */
static inline bool report_decode(const uint8_t *msg, size_t len, struct report *r)
{
	const uint8_t *at = msg;
	unsigned int i;
	uint8_t flags;

	if (len != REPORT_LEN || report_get(&at, 4) != REPORT_MAGIC ||
	    report_get(&at, 1) != REPORT_VERSION)
		return false;
	r->n = (uint8_t)report_get(&at, 1);
	r->domain = (uint8_t)report_get(&at, 1);
	r->clocked = report_get(&at, 1) & REPORT_CLOCKED;
	r->session = report_get(&at, 8);
	r->count = report_get(&at, 8);
	r->echo = report_get(&at, 8);
	if (r->n > REPORT_LINES || !r->session)
		return false;
	for (i = 0; i < r->n; i++) {
		struct report_line *l = &r->line[i];

		memcpy(l->addr, at, sizeof(l->addr));
		at += sizeof(l->addr);
		l->value_ns = (int64_t)report_get(&at, 8);
		l->slope = (int32_t)(uint32_t)report_get(&at, 4);
		l->error_ns = (uint32_t)report_get(&at, 4);
		l->rate_mbit = (uint32_t)report_get(&at, 4);
		l->payload = (uint16_t)report_get(&at, 2);
		l->domain = (uint8_t)report_get(&at, 1);
		l->hops = (uint8_t)report_get(&at, 1);
		flags = (uint8_t)report_get(&at, 1);
		l->clean = flags & REPORT_CLEAN;
		l->data = flags & REPORT_DATA;
		at += 3;
	}
	return true;
}

/* What to do with a message. */
enum report_verdict {
	REPORT_REPLAYED,	/* nothing */
	REPORT_GREETING,	/* echo its session, no more */
	REPORT_FRESH,		/* take its lines */
};

/* Has another session of this host begun since? */
static inline bool report_is_over(const struct report_peer *p, uint64_t session)
{
	unsigned int i;

	for (i = 0; i < REPORT_OVER; i++)
		if (p->over[i] == session)
			return true;
	return false;
}

/**
 * report_accept() - check a message for replays
 * @p: of its sender
 * @r: the message
 * @session: of this daemon
 */
static inline enum report_verdict report_accept(struct report_peer *p, const struct report *r,
						uint64_t session)
{
	if (r->session == session || report_is_over(p, r->session) ||
	    (r->session == p->session && r->count <= p->count))
		return REPORT_REPLAYED;
	/* It does not know of this session: it may be long over, so the current one stays. */
	if (r->echo != session) {
		if (r->session != p->session)
			p->other = r->session;
		return REPORT_GREETING;
	}
	if (p->session && p->session != r->session)
		p->over[p->n_over++ % REPORT_OVER] = p->session;
	p->session = r->session;
	p->count = r->count;
	p->other = 0;
	return REPORT_FRESH;
}

/* report_echo() - return what to echo in its @turn: each of two sessions, if there are two */
static inline uint64_t report_echo(const struct report_peer *p, uint64_t turn)
{
	return p->other && (!p->session || turn % 2) ? p->other : p->session;
}

#endif /* ONRAMPD_REPORT_H */
