/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nic_ts, the timestamp bus: pure functions on integers.
 *
 * Four parts, each on a structure that the caller owns:
 *
 *	parser	bytes of a packet -> connection, sequence numbers
 *	map	a NIC's clock -> CLOCK_MONOTONIC, and back, with an error bound:
 *		host = ref_host + (clock - ref_clock) * (1 + rate)
 *		clock = ref_clock + (host - ref_host) * (1 + inverse)
 *	track	is this hardware stamp believable, did its clock jump?
 *	rings	TX records and ACK stamps of a flow -> the RTT of a segment:
 *
 *		sent:    |seg 1|seg 2|seg 3|seg 4|        TX ring, by end_seq
 *		ACKs:        a1   a2         a3           ACK ring, by ack_seq
 *		una = a3: newest segment with end_seq <= una, and of the ACKs
 *		with ack_seq >= its end_seq the oldest
 *
 *		Anybody can send an ACK. Only one that ends inside of the recorded
 *		segments is taken, and only one that TCP has accepted is used.
 *
 * A linear map is what TIMELY (Mittal et al., SIGCOMM 2015), section 5, finds
 * sufficient.
 *
 * Nothing in this file depends on the kernel but fixed-size integers: it is
 * compiled into the module, the unit tests and the fuzzer.
 */
#ifndef _NIC_TS_CORE_H
#define _NIC_TS_CORE_H

#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/socket.h>
#include <linux/string.h>
#endif
#include "nic_ts_types.h"

/* Sequence numbers, modulo 2^32: a is before b. */
static inline bool nic_ts_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

/* Parser ---------------------------------------------------------------------*/

/* VLAN tags in a packet: 802.1ad around 802.1Q, and no more. */
#define NIC_TS_MAX_TAGS		2

/*
 * IPv6 extension headers that are walked. Three kinds are, and each should come
 * once, destination options twice (RFC 8200, section 4.1).
 */
#define NIC_TS_MAX_EXT		4

/*
 * What became of a packet; all but the first leave it alone. Row: identifier,
 * name of the counter, what it counts.
 */
#define NIC_TS_PARSE_RESULTS \
	NIC_TS_PARSE(OK, ParsedTcp, \
		"packets of TCP") \
	NIC_TS_PARSE(NOT_IP, SkipNotIp, \
		"packets left alone: neither IPv4 nor IPv6") \
	NIC_TS_PARSE(NOT_TCP, SkipNotTcp, \
		"left alone: another protocol than TCP") \
	NIC_TS_PARSE(ENCAP, SkipEncapsulated, \
		"left alone: a tunnel, MPLS, PPPoE, NSH or source routing") \
	NIC_TS_PARSE(FRAGMENT, SkipFragment, \
		"left alone: a fragment of an IP packet") \
	NIC_TS_PARSE(TRUNCATED, SkipTruncated, \
		"left alone: the headers end too early") \
	NIC_TS_PARSE(MALFORMED, SkipMalformed, \
		"left alone: a header contradicts itself") \
	NIC_TS_PARSE(TOO_DEEP, SkipTooDeep, \
		"left alone: more than two VLAN tags or four IPv6 extension headers")

enum nic_ts_parse {
#define NIC_TS_PARSE(id, name, what) NIC_TS_PARSE_##id,
	NIC_TS_PARSE_RESULTS
#undef NIC_TS_PARSE
	NIC_TS_PARSE_MAX
};

/**
 * struct nic_ts_view - the bytes of a packet, not all of them in one place
 * @linear:	the first @linear_len bytes
 * @linear_len:	how many may be read there
 * @len:	length of the packet, >= @linear_len
 * @gso:	it is to be cut before it is on the wire; a length field may then
 *		be 0, for more than 64 KB
 * @copy:	copies @len bytes at @off, which are inside the packet, to @to;
 *		0 if that worked
 * @ctx:	for @copy
 */
struct nic_ts_view {
	const u8	*linear;
	u32		linear_len;
	u32		len;
	bool		gso;
	int		(*copy)(const void *ctx, u32 off, void *to, u32 len);
	const void	*ctx;
};

/* @len bytes at @off: where they are, or a copy in @buf, or NULL. */
static inline const u8 *nic_ts_view_at(const struct nic_ts_view *v, u32 off,
				       u32 len, u8 *buf)
{
	if (len <= v->linear_len && off <= v->linear_len - len)
		return v->linear + off;
	if (len > v->len || off > v->len - len || !v->copy)
		return NULL;
	return v->copy(v->ctx, off, buf, len) ? NULL : buf;
}

static inline u16 nic_ts_be16(const u8 *p)
{
	return p[0] << 8 | p[1];
}

static inline u32 nic_ts_be32(const u8 *p)
{
	return (u32)nic_ts_be16(p) << 16 | nic_ts_be16(p + 2);
}

static inline enum nic_ts_parse
nic_ts_parse_tcp(const struct nic_ts_view *v, u32 off, u32 len, bool rx,
		 struct nic_ts_packet *p)
{
	u8 buf[20];
	const u8 *h;
	u32 hlen;

	if (len < 20)
		return NIC_TS_PARSE_MALFORMED;
	h = nic_ts_view_at(v, off, 20, buf);
	if (!h)
		return NIC_TS_PARSE_TRUNCATED;
	hlen = (h[12] >> 4) * 4;
	if (hlen < 20 || hlen > len)
		return NIC_TS_PARSE_MALFORMED;
	memcpy(rx ? &p->key.rport : &p->key.lport, h, 2);
	memcpy(rx ? &p->key.lport : &p->key.rport, h + 2, 2);
	p->seq = nic_ts_be32(h + 4);
	p->ack_seq = nic_ts_be32(h + 8);
	p->flags = h[13];
	p->payload = len - hlen;
	p->end_seq = p->seq + p->payload + !!(p->flags & NIC_TS_TCP_SYN) +
		     !!(p->flags & NIC_TS_TCP_FIN);
	p->l4_off = off;
	return NIC_TS_PARSE_OK;
}

/*
 * Nearly every packet, in less than half the time of the long way: IPv4 and TCP, all
 * of both headers in the linear part, no IP options, not a fragment. What is not so, or
 * contradicts itself, goes the long way, which says what it is.
 */
static __always_inline bool nic_ts_parse_plain(const struct nic_ts_view *v, u32 off,
					       bool rx, struct nic_ts_packet *p)
{
	const u8 *h = v->linear + off;
	u32 len, hlen;

	if (v->linear_len < 40 || off > v->linear_len - 40)
		return false;
	if (h[0] != 0x45 || h[9] != 6 || nic_ts_be16(h + 6) & 0x3fff)
		return false;
	len = nic_ts_be16(h + 2);
	hlen = (h[32] >> 4) * 4;
	if (len > v->len - off || hlen < 20 || len < 20 + hlen)
		return false;

	/* All of it is written, one by one: a memset of the whole takes longer. */
	memcpy(rx ? p->key.raddr : p->key.laddr, h + 12, 4);
	memcpy(rx ? p->key.laddr : p->key.raddr, h + 16, 4);
	memset(&p->key.laddr[1], 0, 12);
	memset(&p->key.raddr[1], 0, 12);
	memcpy(rx ? &p->key.rport : &p->key.lport, h + 20, 2);
	memcpy(rx ? &p->key.lport : &p->key.rport, h + 22, 2);
	p->key.family = AF_INET;
	p->seq = nic_ts_be32(h + 24);
	p->ack_seq = nic_ts_be32(h + 28);
	p->payload = len - 20 - hlen;
	p->flags = h[33];
	p->end_seq = p->seq + p->payload + !!(p->flags & NIC_TS_TCP_SYN) +
		     !!(p->flags & NIC_TS_TCP_FIN);
	p->l4_off = off + 20;
	p->tos = h[1];
	p->vid = 0;
	return true;
}

/* Protocols that carry another packet, or hide it. */
static inline enum nic_ts_parse nic_ts_parse_other(u8 proto)
{
	switch (proto) {
	case 4:		/* IPIP */
	case 41:	/* IPv6 */
	case 47:	/* GRE */
	case 50:	/* ESP */
	case 51:	/* AH */
	case 137:	/* MPLS */
		return NIC_TS_PARSE_ENCAP;
	default:
		return NIC_TS_PARSE_NOT_TCP;
	}
}

static inline enum nic_ts_parse
nic_ts_parse_ipv4(const struct nic_ts_view *v, u32 off, bool rx,
		  struct nic_ts_packet *p)
{
	u32 hlen, len, room;
	u8 buf[20];
	const u8 *h;

	h = nic_ts_view_at(v, off, 20, buf);
	if (!h)
		return NIC_TS_PARSE_TRUNCATED;
	hlen = (h[0] & 15) * 4;
	if (h[0] >> 4 != 4 || hlen < 20)
		return NIC_TS_PARSE_MALFORMED;
	room = v->len - off;
	len = nic_ts_be16(h + 2);
	if (!len && v->gso)
		len = room;
	if (len < hlen)
		return NIC_TS_PARSE_MALFORMED;
	if (len > room)
		return NIC_TS_PARSE_TRUNCATED;
	/* More fragments, or an offset. */
	if (nic_ts_be16(h + 6) & 0x3fff)
		return NIC_TS_PARSE_FRAGMENT;
	if (h[9] != 6)
		return nic_ts_parse_other(h[9]);
	p->tos = h[1];
	p->key.family = AF_INET;
	memcpy(rx ? p->key.raddr : p->key.laddr, h + 12, 4);
	memcpy(rx ? p->key.laddr : p->key.raddr, h + 16, 4);
	return nic_ts_parse_tcp(v, off + hlen, len - hlen, rx, p);
}

static inline enum nic_ts_parse
nic_ts_parse_ipv6(const struct nic_ts_view *v, u32 off, bool rx,
		  struct nic_ts_packet *p)
{
	u32 len, room, hlen, i;
	u8 buf[40], proto;
	const u8 *h;

	h = nic_ts_view_at(v, off, 40, buf);
	if (!h)
		return NIC_TS_PARSE_TRUNCATED;
	if (h[0] >> 4 != 6)
		return NIC_TS_PARSE_MALFORMED;
	room = v->len - off - 40;
	len = nic_ts_be16(h + 4);
	if (!len && v->gso)
		len = room;
	if (len > room)
		return NIC_TS_PARSE_TRUNCATED;
	p->tos = nic_ts_be16(h) >> 4;
	p->key.family = AF_INET6;
	memcpy(rx ? p->key.raddr : p->key.laddr, h + 8, 16);
	memcpy(rx ? p->key.laddr : p->key.raddr, h + 24, 16);
	proto = h[6];
	off += 40;

	for (i = 0; i <= NIC_TS_MAX_EXT; i++) {
		if (proto == 6)
			return nic_ts_parse_tcp(v, off, len, rx, p);
		if (proto == 44)
			return NIC_TS_PARSE_FRAGMENT;
		/* Hop-by-hop options, routing, destination options. */
		if (proto != 0 && proto != 43 && proto != 60)
			return nic_ts_parse_other(proto);
		if (len < 8)
			return NIC_TS_PARSE_MALFORMED;
		h = nic_ts_view_at(v, off, 8, buf);
		if (!h)
			return NIC_TS_PARSE_TRUNCATED;
		/* On its way to somewhere else: that is not the connection's address. */
		if (proto == 43 && h[3])
			return NIC_TS_PARSE_ENCAP;
		hlen = (h[1] + 1) * 8;
		if (hlen > len)
			return NIC_TS_PARSE_MALFORMED;
		proto = h[0];
		off += hlen;
		len -= hlen;
	}
	return NIC_TS_PARSE_TOO_DEEP;
}

/* The long way of nic_ts_parse(). */
static inline enum nic_ts_parse nic_ts_parse_any(const struct nic_ts_view *v, u32 off,
						 u16 proto, bool rx,
						 struct nic_ts_packet *p)
{
	u32 tags = 0;
	const u8 *h;
	u8 buf[4];

	memset(p, 0, sizeof(*p));
	for (;;) {
		switch (proto) {
		case 0x0800:
			return nic_ts_parse_ipv4(v, off, rx, p);
		case 0x86dd:
			return nic_ts_parse_ipv6(v, off, rx, p);
		case 0x8100:	/* 802.1Q */
		case 0x88a8:	/* 802.1ad */
			if (tags++ == NIC_TS_MAX_TAGS)
				return NIC_TS_PARSE_TOO_DEEP;
			h = nic_ts_view_at(v, off, 4, buf);
			if (!h)
				return NIC_TS_PARSE_TRUNCATED;
			if (tags == 1)
				p->vid = nic_ts_be16(h) & 0xfff;
			proto = nic_ts_be16(h + 2);
			off += 4;
			break;
		case 0x8847:	/* MPLS */
		case 0x8848:
		case 0x8864:	/* PPPoE */
		case 0x894f:	/* NSH */
			return NIC_TS_PARSE_ENCAP;
		default:
			return NIC_TS_PARSE_NOT_IP;
		}
	}
}

/**
 * nic_ts_parse() - what a packet is
 * @v:		its bytes
 * @off:	where to begin: behind the EtherType that @proto is
 * @proto:	EtherType, host byte order
 * @rx:		it came in: the destination is this host; else it goes out
 * @p:		the result, valid with NIC_TS_PARSE_OK only
 *
 * Checksums are not looked at: a packet that TCP will drop can leave a stamp,
 * which has to be plausible to be used.
 */
static __always_inline enum nic_ts_parse
nic_ts_parse(const struct nic_ts_view *v, u32 off, u16 proto, bool rx,
	     struct nic_ts_packet *p)
{
	if (proto == 0x0800 && nic_ts_parse_plain(v, off, rx, p))
		return NIC_TS_PARSE_OK;
	return nic_ts_parse_any(v, off, proto, rx, p);
}

/* From the Ethernet header on. */
static inline enum nic_ts_parse nic_ts_parse_ether(const struct nic_ts_view *v,
						   bool rx,
						   struct nic_ts_packet *p)
{
	const u8 *h;
	u8 buf[2];

	h = nic_ts_view_at(v, 12, 2, buf);
	if (!h)
		return NIC_TS_PARSE_TRUNCATED;
	return nic_ts_parse(v, 14, nic_ts_be16(h), rx, p);
}

/* Map ------------------------------------------------------------------------*/

/* Largest rate error of a clock, 10^-12: 500 ppm, what NTP may slew. */
#define NIC_TS_MAX_RATE_PPT	500000000LL

/* Largest growth of the error bound, 10^-9: 500 ppm, a clock nobody measured. */
#define NIC_TS_MAX_DRIFT_PPB	500000U

/* Bounds of a map's age, ns: 1 ms, 1 hour (< 2^42); and the default. */
#define NIC_TS_MIN_AGE_NS	1000000ULL
#define NIC_TS_MAX_AGE_NS	3600000000000ULL
#define NIC_TS_DEFAULT_AGE_NS	10000000000ULL

/* Readings above are refused, so that sums of two fit into 64 bits: 146 years. */
#define NIC_TS_MAX_TIME_NS	(1ULL << 62)

/*
 * What the arithmetic below may be off, ns: two truncations of less than 1, and
 * the rate's last bit, 2^-40 times 2^42 at most.
 */
#define NIC_TS_MAP_ROUNDING_NS	6

/**
 * struct nic_ts_map - a linear map from a clock to CLOCK_MONOTONIC
 * @ref_clock_ns:	reading of the clock, < 2^62 ns
 * @ref_host_ns:	CLOCK_MONOTONIC at that moment, < 2^62 ns
 * @max_age_ns:		furthest from @ref_clock_ns that it holds, <= 2^42 ns
 * @rate_q40:		host's rate over the clock's, less 1, signed Q40, 30 bits
 * @inverse_q40:	the clock's rate over the host's, less 1, signed Q40, 30 bits
 * @drift_q32:		growth of the error, Q32, 22 bits
 * @error_ns:		error bound at the reference, ns
 */
struct nic_ts_map {
	u64	ref_clock_ns;
	u64	ref_host_ns;
	u64	max_age_ns;
	s32	rate_q40;
	s32	inverse_q40;
	u32	drift_q32;
	u32	error_ns;
};

/*
 * 1 / (1 + r) - 1 = -r + r^2 / (1 + r), for r = @rate_q40 / 2^40. r^2 has 60 bits; of what
 * it is divided by, r is at most 0.0005. The magnitude is rounded up, as that of @rate_q40
 * was rounded down: so it is off by less than one last bit from what both stand for.
 */
static inline s32 nic_ts_map_inverse(s32 rate_q40)
{
	u64 divisor = (u64)((1LL << 40) + rate_q40);
	u64 square = (u64)((s64)rate_q40 * rate_q40);

	if (rate_q40 < 0)
		square += divisor - 1;
	return (s32)div64_u64(square, divisor) - rate_q40;
}

/**
 * nic_ts_map_init() - make a map, or say why not
 * @map:		written only if NULL is returned
 * @ref_clock_ns:	as in struct nic_ts_map
 * @ref_host_ns:	as there
 * @rate_ppt:		rate, 10^-12
 * @error_ns:		as there
 * @drift_ppb:		growth of the error, 10^-9
 * @max_age_ns:		as there
 *
 * Return: NULL, or what was wrong and what is allowed.
 */
static inline const char *nic_ts_map_init(struct nic_ts_map *map,
					  u64 ref_clock_ns, u64 ref_host_ns,
					  s64 rate_ppt, u32 error_ns,
					  u32 drift_ppb, u64 max_age_ns)
{
	u64 rate;

	if (!ref_clock_ns || ref_clock_ns >= NIC_TS_MAX_TIME_NS ||
	    !ref_host_ns || ref_host_ns >= NIC_TS_MAX_TIME_NS)
		return "a reference time must be above 0 and below 2^62 ns";
	if (rate_ppt < -NIC_TS_MAX_RATE_PPT || rate_ppt > NIC_TS_MAX_RATE_PPT)
		return "the rate must be within +-500000000 ppt (500 ppm)";
	if (drift_ppb > NIC_TS_MAX_DRIFT_PPB)
		return "the drift must not exceed 500000 ppb (500 ppm)";
	if (max_age_ns < NIC_TS_MIN_AGE_NS || max_age_ns > NIC_TS_MAX_AGE_NS)
		return "the largest age must be from 1000000 ns (1 ms) to 3600000000000 ns (1 h)";

	/* 5 * 10^8 < 2^29, so 2^40 / 10^12 = 2^28 / 5^12 is applied in 57 bits. */
	rate = (u64)(rate_ppt < 0 ? -rate_ppt : rate_ppt) << 28;
	rate = div64_u64(rate, 244140625);
	map->ref_clock_ns = ref_clock_ns;
	map->ref_host_ns = ref_host_ns;
	map->max_age_ns = max_age_ns;
	map->rate_q40 = rate_ppt < 0 ? -(s32)rate : (s32)rate;
	map->inverse_q40 = nic_ts_map_inverse(map->rate_q40);
	/* Rounded up: it is a bound. */
	map->drift_q32 = (u32)div64_u64((u64)drift_ppb << 32, 1000000000) + 1;
	map->error_ns = error_ns;
	return NULL;
}

/* How far two times are apart, ns. */
static inline u64 nic_ts_apart(u64 a_ns, u64 b_ns)
{
	return a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns;
}

/*
 * @age times (1 + rate), @rate_q40 below 2^30 either way. @age < 2^42, so in two parts:
 * 2^22 * 2^30 and 2^20 * 2^30. What is added or taken is 0.00051 of the age at most.
 */
static inline u64 nic_ts_map_scale(u64 age, s32 rate_q40)
{
	u64 rate = rate_q40 < 0 ? -(s64)rate_q40 : rate_q40, slew;

	slew = ((age >> 20) * rate >> 20) +
	       ((age & ((1U << 20) - 1)) * rate >> 40);
	return rate_q40 < 0 ? age - slew : age + slew;
}

/* How wrong a map can be at an age below 2^42, without roundings: 2^32 * 2^22. */
static inline u64 nic_ts_map_error(const struct nic_ts_map *map, u64 age)
{
	return map->error_ns + (((age >> 10) + 1) * map->drift_q32 >> 22) + 1;
}

/**
 * nic_ts_map_apply() - a reading of the clock as CLOCK_MONOTONIC
 * @map:	the map
 * @clock_ns:	reading, ns
 * @host_ns:	the result, ns
 * @error_ns:	how wrong it can be, ns, saturating
 *
 * Return: false if the map does not hold that far.
 */
static inline bool nic_ts_map_apply(const struct nic_ts_map *map, u64 clock_ns,
				    u64 *host_ns, u32 *error_ns)
{
	u64 age = nic_ts_apart(clock_ns, map->ref_clock_ns);
	bool later = clock_ns > map->ref_clock_ns;
	u64 moved;

	if (age > map->max_age_ns)
		return false;
	moved = nic_ts_map_scale(age, map->rate_q40);
	if (!later && moved >= map->ref_host_ns)
		return false;
	*host_ns = later ? map->ref_host_ns + moved : map->ref_host_ns - moved;
	*error_ns = (u32)min_t(u64, nic_ts_map_error(map, age) + NIC_TS_MAP_ROUNDING_NS,
			       U32_MAX);
	return true;
}

/**
 * nic_ts_map_invert() - what the clock shows at a time of CLOCK_MONOTONIC
 * @map:	the map
 * @host_ns:	CLOCK_MONOTONIC, ns
 * @clock_ns:	the result, ns
 * @error_ns:	how wrong it can be, ns of that clock, saturating
 *
 * The other direction of nic_ts_map_apply(), which holds as far. No division. If that is
 * wrong by e + d * age of the clock, this is by (e + d * age) / (1 + rate - d): the clock's
 * age and its second are at most 1 / 0.9995 of the host's, and d is 0.0005 at most. All
 * that is less than 2^-9 more than with the host's age.
 *
 * Return: false if the map does not hold that far.
 */
static inline bool nic_ts_map_invert(const struct nic_ts_map *map, u64 host_ns,
				     u64 *clock_ns, u32 *error_ns)
{
	u64 age = nic_ts_apart(host_ns, map->ref_host_ns);
	bool later = host_ns > map->ref_host_ns;
	u64 moved, err;

	/* The clock's is what counts; the host's is at most 0.0005 more, 2^42 is 1.2 hours. */
	if (age >= 1ULL << 42)
		return false;
	moved = nic_ts_map_scale(age, map->inverse_q40);
	if (moved > map->max_age_ns || (!later && moved >= map->ref_clock_ns))
		return false;
	*clock_ns = later ? map->ref_clock_ns + moved : map->ref_clock_ns - moved;
	err = nic_ts_map_error(map, age);
	err += (err >> 9) + 1 + NIC_TS_MAP_ROUNDING_NS;
	*error_ns = (u32)min_t(u64, err, U32_MAX);
	return true;
}

/**
 * nic_ts_map_agrees() - can two maps of one clock both be true?
 * @old:	the one in use
 * @new:	the one to come
 *
 * Return: false if @old says something else about the reference of @new than @new
 * does, by more than both may be wrong: one of the clocks has jumped. True as
 * well if @old does not reach that far.
 */
static inline bool nic_ts_map_agrees(const struct nic_ts_map *old,
				     const struct nic_ts_map *new)
{
	u64 host_ns, apart;
	u32 err;

	if (!nic_ts_map_apply(old, new->ref_clock_ns, &host_ns, &err))
		return true;
	apart = nic_ts_apart(host_ns, new->ref_host_ns);
	return apart <= (u64)err + new->error_ns;
}

/* Track ----------------------------------------------------------------------*/

/*
 * Longest time from a stamp to software that sees it, ns: 100 ms. Interrupt
 * moderation and a busy host stay far below.
 */
#define NIC_TS_MAX_DELAY_NS	100000000LL

/*
 * Software's clock and the NIC's run apart by 1 in 1024, 977 ppm, at most: 500
 * ppm for NTP's slewing of the one, and what is left for the other.
 */
#define NIC_TS_TRACK_DRIFT_SHIFT 10

/* Reading two clocks cannot be compared more closely than this, ns. */
#define NIC_TS_TRACK_SLACK_NS	100

/* Unbelievable stamps in a row that make it the clock that jumped. */
#define NIC_TS_TRACK_STRIKES	4

/* What became of a hardware stamp. */
enum nic_ts_hw_verdict {
	NIC_TS_HW_OK,
	NIC_TS_HW_DISORDER,	/* older than the one before on its queue */
	NIC_TS_HW_FUTURE,	/* later than software saw it */
	NIC_TS_HW_STALE,	/* far earlier than software saw it */
	NIC_TS_HW_RANGE,	/* no time at all */
};

/**
 * struct nic_ts_track - what a clock's offset to CLOCK_MONOTONIC can be
 * @low:	smallest (host - clock) of all that were seen: no stamp is later
 *		than software sees it. ns, modulo 2^64
 * @host_ns:	when @low was seen, CLOCK_MONOTONIC, ns; 0: nothing seen yet
 * @strikes:	unbelievable stamps in a row
 */
struct nic_ts_track {
	u64	low;
	u64	host_ns;
	u8	strikes;
};

/**
 * nic_ts_track_seen() - software sees a hardware stamp: is it believable?
 * @t:		state
 * @hw_ns:	stamp, in the clock's time, ns
 * @host_ns:	CLOCK_MONOTONIC, when software saw it, ns
 * @last_ns:	last stamp believed of the same queue; 0: none, or not known
 * @stepped:	set if it is the clock that jumped: @t begins anew with this
 *		stamp, and all earlier ones are of another time
 *
 * host - clock is the clock's offset plus the delay until software looked. The
 * smallest one seen, let go by what the clocks may drift, bounds it from
 * below, but for stamps that were still quicker; the largest delay bounds it
 * from above.
 */
static inline enum nic_ts_hw_verdict
nic_ts_track_seen(struct nic_ts_track *t, u64 hw_ns, u64 host_ns, u64 last_ns,
		  bool *stepped)
{
	enum nic_ts_hw_verdict verdict = NIC_TS_HW_OK;
	u64 elapsed, drift, offset = host_ns - hw_ns;
	s64 above;

	*stepped = false;
	if (!hw_ns || hw_ns >= NIC_TS_MAX_TIME_NS)
		return NIC_TS_HW_RANGE;
	if (!t->host_ns)
		goto restart;

	elapsed = host_ns > t->host_ns ? host_ns - t->host_ns : 0;
	drift = (elapsed >> NIC_TS_TRACK_DRIFT_SHIFT) + NIC_TS_TRACK_SLACK_NS;
	above = (s64)(offset - t->low);
	if (above > NIC_TS_MAX_DELAY_NS + (s64)drift)
		verdict = NIC_TS_HW_STALE;
	else if (above < -NIC_TS_MAX_DELAY_NS - (s64)drift)
		verdict = NIC_TS_HW_FUTURE;
	else if (hw_ns < last_ns)
		verdict = NIC_TS_HW_DISORDER;

	if (verdict == NIC_TS_HW_OK) {
		t->strikes = 0;
		/* Drift may have raised the floor meanwhile. */
		if (above < (s64)(elapsed >> NIC_TS_TRACK_DRIFT_SHIFT)) {
			t->low = offset;
			t->host_ns = host_ns;
		}
		return NIC_TS_HW_OK;
	}
	if (++t->strikes < NIC_TS_TRACK_STRIKES)
		return verdict;
	*stepped = true;
restart:
	t->low = offset;
	t->host_ns = host_ns;
	t->strikes = 0;
	return NIC_TS_HW_OK;
}

/* Rings ----------------------------------------------------------------------*/

/* Records per flow: a power of two in this range. */
#define NIC_TS_MIN_RECORDS	8U
#define NIC_TS_MAX_RECORDS	1024U

/*
 * Field by field, as the stamp has just been written: a copy in wider words would wait
 * for those stores.
 */
static inline void nic_ts_stamp_copy(struct nic_ts_stamp *to, const struct nic_ts_stamp *from)
{
	to->ns = from->ns;
	to->hw_ns = from->hw_ns;
	to->hw_domain = from->hw_domain;
	to->hw_epoch = from->hw_epoch;
	to->source = from->source;
}

/*
 * What a ring holds spans less than this many bytes of sequence space, so that
 * comparing any two is right.
 */
#define NIC_TS_RING_SPAN	(1U << 30)

/* struct nic_ts_tx_record.flags */
#define NIC_TS_TX_AMBIGUOUS	0x01	/* sent again, in whole or in part */

/**
 * struct nic_ts_tx_record - a segment that was given to a driver
 * @stamp:	when
 * @cum_pause_ns: pauses of the flow until then, in sum
 * @seq:	first byte
 * @end_seq:	the one behind its last, != @seq
 * @flags:	NIC_TS_TX_*
 */
struct nic_ts_tx_record {
	struct nic_ts_stamp stamp;
	u64	cum_pause_ns;
	u32	seq;
	u32	end_seq;
	u8	flags;
};

/**
 * struct nic_ts_tx_ring - the newest segments of a flow, ascending, no overlap
 * @head:	records ever written; the next goes to @head & @mask
 * @base:	the first of them that is still valid
 * @mask:	number of records less 1, a power of two less 1
 * @max_end:	highest sequence number sent, if @head is not 0
 * @amb_end:	what ends up to here may be acknowledged late, since something
 *		before was sent again; if @ambiguous
 * @ambiguous:	@amb_end is valid
 * @rec:	@mask + 1 records
 */
struct nic_ts_tx_ring {
	u32	head;
	u32	base;
	u32	mask;
	u32	max_end;
	u32	amb_end;
	bool	ambiguous;
	struct nic_ts_tx_record *rec;
};

enum nic_ts_tx_result {
	NIC_TS_TX_NOTHING,	/* without a sequence number: a pure ACK */
	NIC_TS_TX_RECORDED,
	NIC_TS_TX_RETRANS,	/* sent before */
};

static inline struct nic_ts_tx_record *nic_ts_tx_at(const struct nic_ts_tx_ring *r,
						    u32 n)
{
	return &r->rec[n & r->mask];
}

/*
 * The newest record that ends at or before @end; NULL if there is none. By
 * halves: end_seq ascends.
 */
static inline struct nic_ts_tx_record *nic_ts_tx_find(const struct nic_ts_tx_ring *r,
						      u32 end)
{
	u32 lo = 0, hi = r->head - r->base, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (nic_ts_before(end, nic_ts_tx_at(r, r->base + mid)->end_seq))
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo ? nic_ts_tx_at(r, r->base + lo - 1) : NULL;
}

/* All up to @end was sent; what is too far behind to be compared is forgotten. */
static inline void nic_ts_tx_advance(struct nic_ts_tx_ring *r, u32 end)
{
	while (r->base != r->head &&
	       end - nic_ts_tx_at(r, r->base)->seq >= NIC_TS_RING_SPAN)
		r->base++;
	r->max_end = end;
}

/**
 * nic_ts_tx_push() - a segment goes to the driver
 * @r:		ring
 * @seq:	its first byte
 * @end_seq:	the one behind its last
 * @stamp:	when
 * @cum_pause_ns: pauses of the flow until then
 *
 * What was sent before makes all that is in flight ambiguous (Karn): an ACK of
 * something later may have waited for it.
 */
static inline enum nic_ts_tx_result
nic_ts_tx_push(struct nic_ts_tx_ring *r, u32 seq, u32 end_seq,
	       const struct nic_ts_stamp *stamp, u64 cum_pause_ns)
{
	struct nic_ts_tx_record *rec;
	u32 n;

	if (seq == end_seq)
		return NIC_TS_TX_NOTHING;

	if (r->head != r->base && nic_ts_before(seq, r->max_end)) {
		for (n = r->head; n != r->base; n--) {
			rec = nic_ts_tx_at(r, n - 1);
			if (!nic_ts_before(seq, rec->end_seq))
				break;
			if (nic_ts_before(rec->seq, end_seq))
				rec->flags |= NIC_TS_TX_AMBIGUOUS;
		}
		if (nic_ts_before(r->max_end, end_seq))
			nic_ts_tx_advance(r, end_seq);
		r->amb_end = r->max_end;
		r->ambiguous = true;
		return NIC_TS_TX_RETRANS;
	}

	if (r->head - r->base > r->mask)
		r->base++;
	nic_ts_tx_advance(r, end_seq);
	rec = nic_ts_tx_at(r, r->head);
	nic_ts_stamp_copy(&rec->stamp, stamp);
	rec->cum_pause_ns = cum_pause_ns;
	rec->seq = seq;
	rec->end_seq = end_seq;
	rec->flags = 0;
	r->head++;
	return NIC_TS_TX_RECORDED;
}

/**
 * nic_ts_tx_retract() - the driver did not take a segment after all
 * @r:		ring
 * @seq:	its first byte
 * @end_seq:	the one behind its last
 *
 * It will come again, and that is no retransmission. Only the newest record can
 * be retracted.
 */
static inline void nic_ts_tx_retract(struct nic_ts_tx_ring *r, u32 seq, u32 end_seq)
{
	const struct nic_ts_tx_record *rec;

	if (r->head == r->base)
		return;
	rec = nic_ts_tx_at(r, r->head - 1);
	if (rec->seq != seq || rec->end_seq != end_seq || r->max_end != end_seq)
		return;
	r->head--;
	r->max_end = seq;
}

/**
 * nic_ts_tx_exact() - the record of a segment, for a better stamp
 * @r:		ring
 * @seq:	its first byte
 * @end_seq:	the one behind its last
 *
 * Return: its record, or NULL: overwritten, never there, or sent again since, so
 * that the stamp may be of either copy.
 */
static inline struct nic_ts_tx_record *nic_ts_tx_exact(const struct nic_ts_tx_ring *r,
						       u32 seq, u32 end_seq)
{
	struct nic_ts_tx_record *rec = nic_ts_tx_find(r, end_seq);

	if (!rec || rec->seq != seq || rec->end_seq != end_seq ||
	    rec->flags & NIC_TS_TX_AMBIGUOUS)
		return NULL;
	return rec;
}

/**
 * nic_ts_tx_acked() - all up to @una is acknowledged: which segment is it?
 * @r:		ring
 * @una:	acknowledged
 * @rec:	the newest segment that ends there or before
 *
 * Return: NIC_TS_RTT_OK, _NO_TX or _AMBIGUOUS; @rec is not set with _NO_TX.
 */
static inline enum nic_ts_verdict nic_ts_tx_acked(struct nic_ts_tx_ring *r, u32 una,
						  struct nic_ts_tx_record *rec)
{
	const struct nic_ts_tx_record *found;

	/* More is acknowledged than was seen going out. */
	if (r->head != r->base && nic_ts_before(r->max_end, una))
		nic_ts_tx_advance(r, una);
	found = nic_ts_tx_find(r, una);
	if (!found)
		return NIC_TS_RTT_NO_TX;
	*rec = *found;
	if (r->ambiguous && nic_ts_before(r->amb_end, rec->end_seq))
		r->ambiguous = false;
	return r->ambiguous || (rec->flags & NIC_TS_TX_AMBIGUOUS) ?
	       NIC_TS_RTT_AMBIGUOUS : NIC_TS_RTT_OK;
}

/**
 * struct nic_ts_ack_record - an ACK that acknowledged more than all before it
 * @stamp:	when it came in
 * @ack_seq:	up to where
 */
struct nic_ts_ack_record {
	struct nic_ts_stamp stamp;
	u32	ack_seq;
};

/**
 * struct nic_ts_ack_ring - the newest such ACKs of a flow, ascending
 * @head:	as in struct nic_ts_tx_ring
 * @base:	as there
 * @mask:	as there
 * @floor:	@ack_seq of the newest one that is lost; if @lost
 * @lost:	@floor is valid
 * @rec:	@mask + 1 records
 */
struct nic_ts_ack_ring {
	u32	head;
	u32	base;
	u32	mask;
	u32	floor;
	bool	lost;
	struct nic_ts_ack_record *rec;
};

static inline struct nic_ts_ack_record *
nic_ts_ack_at(const struct nic_ts_ack_ring *r, u32 n)
{
	return &r->rec[n & r->mask];
}

static inline void nic_ts_ack_drop(struct nic_ts_ack_ring *r)
{
	r->floor = nic_ts_ack_at(r, r->base)->ack_seq;
	r->lost = true;
	r->base++;
}

/**
 * struct nic_ts_sent - the segments that have a record
 * @from:	first byte of the oldest
 * @to:		highest sequence number sent; @from: nothing has a record
 *
 * @to - @from < NIC_TS_RING_SPAN.
 */
struct nic_ts_sent {
	u32	from;
	u32	to;
};

/**
 * nic_ts_tx_sent() - what an ACK can be about
 * @r:		ring
 */
static inline struct nic_ts_sent nic_ts_tx_sent(const struct nic_ts_tx_ring *r)
{
	return (struct nic_ts_sent){
		.from = r->head != r->base ? nic_ts_tx_at(r, r->base)->seq : r->max_end,
		.to = r->max_end,
	};
}

/* Is @seq the end of a part of what was sent? */
static inline bool nic_ts_sent_covers(const struct nic_ts_sent *sent, u32 seq)
{
	return seq - sent->from - 1 < sent->to - sent->from;
}

/* What became of an ACK. */
enum nic_ts_ack_result {
	NIC_TS_ACK_RECORDED,
	NIC_TS_ACK_OLD,		/* says nothing that an earlier one did not */
	NIC_TS_ACK_UNSENT,	/* of what was not seen going out */
};

/**
 * nic_ts_ack_push() - an ACK came in
 * @r:		ring
 * @sent:	segments that have a record
 * @ack_seq:	up to where
 * @stamp:	when
 *
 * An ACK outside of @sent says nothing about a segment that could be asked for, and to
 * compare others with it would be wrong: it is refused. Without that one forged ACK of
 * data up to 2 GB ahead would make all that come after it old.
 */
static inline enum nic_ts_ack_result
nic_ts_ack_push(struct nic_ts_ack_ring *r, const struct nic_ts_sent *sent, u32 ack_seq,
		const struct nic_ts_stamp *stamp)
{
	struct nic_ts_ack_record *rec;
	u32 newest;

	if (!nic_ts_sent_covers(sent, ack_seq))
		return sent->from == sent->to || nic_ts_before(sent->to, ack_seq) ?
		       NIC_TS_ACK_UNSENT : NIC_TS_ACK_OLD;
	if (r->head != r->base) {
		newest = nic_ts_ack_at(r, r->head - 1)->ack_seq;
		if (!nic_ts_sent_covers(sent, newest)) {
			/* All are of what has no record any more. */
			r->base = r->head;
			r->lost = false;
		} else if (!nic_ts_before(newest, ack_seq)) {
			return NIC_TS_ACK_OLD;
		}
	}
	if (r->head - r->base > r->mask)
		nic_ts_ack_drop(r);
	while (r->base != r->head &&
	       ack_seq - nic_ts_ack_at(r, r->base)->ack_seq >= NIC_TS_RING_SPAN)
		nic_ts_ack_drop(r);
	rec = nic_ts_ack_at(r, r->head);
	nic_ts_stamp_copy(&rec->stamp, stamp);
	rec->ack_seq = ack_seq;
	r->head++;
	return NIC_TS_ACK_RECORDED;
}

/* Index of the first ACK that reaches @seq, from the oldest; their number if none. */
static inline u32 nic_ts_ack_index(const struct nic_ts_ack_ring *r, u32 seq)
{
	u32 lo = 0, hi = r->head - r->base, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (nic_ts_before(nic_ts_ack_at(r, r->base + mid)->ack_seq, seq))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/**
 * nic_ts_ack_find() - the first ACK that covered a segment
 * @r:		ring
 * @end_seq:	end of the segment
 * @una:	what TCP has accepted as acknowledged, at or after @end_seq
 * @rec:	the ACK
 *
 * The ACK that acknowledged @una is one that covered the segment, so the first of them
 * is not after @una. If it is, the one of TCP was not seen, or was refused because a
 * forged one had been taken: what is left is too late, or not TCP's.
 *
 * Return: NIC_TS_RTT_OK, or _NO_ACK: not seen, or the first one is lost.
 */
static inline enum nic_ts_verdict nic_ts_ack_find(const struct nic_ts_ack_ring *r,
						  u32 end_seq, u32 una,
						  struct nic_ts_ack_record *rec)
{
	u32 i = nic_ts_ack_index(r, end_seq);

	if (i == r->head - r->base)
		return NIC_TS_RTT_NO_ACK;
	if (!i && r->lost && !nic_ts_before(r->floor, end_seq))
		return NIC_TS_RTT_NO_ACK;
	if (nic_ts_before(una, nic_ts_ack_at(r, r->base + i)->ack_seq))
		return NIC_TS_RTT_NO_ACK;
	*rec = *nic_ts_ack_at(r, r->base + i);
	return NIC_TS_RTT_OK;
}

/**
 * nic_ts_ack_part() - the last ACK that covered only a part of a segment
 * @r:		ring
 * @seq:	first byte of the segment
 * @end_seq:	the one behind its last
 * @rec:	the ACK
 *
 * Return: false if there was none; or it is lost, but for its @ack_seq: then the
 * time in @rec is 0.
 */
static inline bool nic_ts_ack_part(const struct nic_ts_ack_ring *r, u32 seq,
				   u32 end_seq, struct nic_ts_ack_record *rec)
{
	u32 i = nic_ts_ack_index(r, end_seq);

	memset(rec, 0, sizeof(*rec));
	if (i)
		*rec = *nic_ts_ack_at(r, r->base + i - 1);
	else if (r->lost && nic_ts_before(r->floor, end_seq))
		rec->ack_seq = r->floor;
	else
		return false;
	return nic_ts_before(seq, rec->ack_seq);
}

/*
 * A mapped stamp is used if it is known better than this, ns. Software stamps are
 * wrong by some microseconds, to one side; a mapped one of that quality is none.
 */
#define NIC_TS_MAP_USEFUL_NS	5000U

/* Which stamps an RTT was taken from. */
enum nic_ts_pick {
	NIC_TS_PICK_HW,		/* both of one NIC's clock */
	NIC_TS_PICK_MAPPED,	/* one or both by a map */
	NIC_TS_PICK_SW,		/* both software's */
	NIC_TS_PICK_REJECTED,	/* software's, since the hardware's made no sense */
	NIC_TS_PICK_NONE,	/* not even these did */
};

/**
 * struct nic_ts_mapped - a hardware stamp taken to CLOCK_MONOTONIC
 * @host_ns:	the result, ns; 0: there is no stamp, or no valid map
 * @error_ns:	error bound, ns
 */
struct nic_ts_mapped {
	u64	host_ns;
	u32	error_ns;
};

/* Two hardware stamps of one clock that did not jump between them. */
static inline bool nic_ts_same_clock(const struct nic_ts_stamp *a,
				     const struct nic_ts_stamp *b)
{
	return a->hw_ns && b->hw_ns && a->hw_domain == b->hw_domain &&
	       a->hw_epoch == b->hw_epoch;
}

/**
 * nic_ts_pick() - times of a segment and of its ACK, of one clock
 * @tx:		stamp of the segment
 * @rx:		stamp of the ACK
 * @tx_map:	@tx's hardware stamp, mapped
 * @rx_map:	@rx's hardware stamp, mapped
 * @rtt:	times, domain, error and sources are written
 *
 * What the NIC measured lies inside of what software did: a segment is posted
 * before it is sent, an ACK comes in before it is seen. What does not is not
 * believed.
 */
static inline enum nic_ts_pick
nic_ts_pick(const struct nic_ts_stamp *tx, const struct nic_ts_stamp *rx,
	    const struct nic_ts_mapped *tx_map, const struct nic_ts_mapped *rx_map,
	    struct nic_ts_rtt *rtt)
{
	bool hw = tx->hw_ns || rx->hw_ns;
	u64 sw_ns, slack_ns, error_ns = 0;

	if (rx->ns < tx->ns)
		return NIC_TS_PICK_NONE;
	sw_ns = rx->ns - tx->ns;
	slack_ns = (sw_ns >> NIC_TS_TRACK_DRIFT_SHIFT) + NIC_TS_TRACK_SLACK_NS;

	if (nic_ts_same_clock(tx, rx)) {
		if (rx->hw_ns >= tx->hw_ns &&
		    rx->hw_ns - tx->hw_ns <= sw_ns + slack_ns) {
			rtt->tx_ns = tx->hw_ns;
			rtt->rx_ns = rx->hw_ns;
			rtt->domain = tx->hw_domain;
			rtt->error_ns = 0;
			rtt->tx_source = NIC_TS_SRC_HW;
			rtt->rx_source = NIC_TS_SRC_HW;
			return NIC_TS_PICK_HW;
		}
		goto software;
	}

	rtt->domain = NIC_TS_DOMAIN_MONO;
	rtt->tx_ns = tx->ns;
	rtt->tx_source = tx->source;
	rtt->rx_ns = rx->ns;
	rtt->rx_source = rx->source;
	if (tx_map->host_ns && tx_map->error_ns <= NIC_TS_MAP_USEFUL_NS) {
		rtt->tx_ns = tx_map->host_ns;
		rtt->tx_source = NIC_TS_SRC_HW;
		error_ns = tx_map->error_ns;
	}
	if (rx_map->host_ns && rx_map->error_ns <= NIC_TS_MAP_USEFUL_NS) {
		rtt->rx_ns = rx_map->host_ns;
		rtt->rx_source = NIC_TS_SRC_HW;
		error_ns += rx_map->error_ns;
	}
	if (rtt->tx_source != NIC_TS_SRC_HW && rtt->rx_source != NIC_TS_SRC_HW) {
		/* No map, or a poor one: that is no fault of the stamps. */
		hw = false;
		goto software;
	}
	rtt->error_ns = (u32)error_ns;
	slack_ns += error_ns;
	if (rtt->tx_ns + slack_ns >= tx->ns && rtt->rx_ns <= rx->ns + slack_ns &&
	    rtt->rx_ns >= rtt->tx_ns)
		return NIC_TS_PICK_MAPPED;

software:
	rtt->tx_ns = tx->ns;
	rtt->rx_ns = rx->ns;
	rtt->domain = NIC_TS_DOMAIN_MONO;
	rtt->error_ns = 0;
	rtt->tx_source = tx->source;
	rtt->rx_source = rx->source;
	return hw ? NIC_TS_PICK_REJECTED : NIC_TS_PICK_SW;
}

#endif /* _NIC_TS_CORE_H */
