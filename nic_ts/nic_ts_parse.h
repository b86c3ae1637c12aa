/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nic_ts, the parser: bytes of a packet -> connection, sequence numbers.
 *
 *	Ethernet? -> up to two VLAN tags -> IPv4 | IPv6, extension headers -> TCP
 *
 * A packet that it doesn't know, or that contradicts itself, is left alone, and counted by
 * the reason.
 *
 * Nothing in this file depends on the kernel but fixed-size integers: it is
 * compiled into the module, the unit tests and the fuzzer.
 */
#ifndef _NIC_TS_PARSE_H
#define _NIC_TS_PARSE_H

#include <linux/socket.h>
#include <linux/string.h>
#include "nic_ts_types.h"

/* VLAN tags in a packet: 802.1ad around 802.1Q, and no more. */
#define NIC_TS_MAX_TAGS		2

/*
 * IPv6 extension headers that are walked. Three kinds are, and each should come
 * once, destination options twice (RFC 8200, section 4.1).
 */
#define NIC_TS_MAX_EXT		4

/*
 * Result of parsing a packet; all but the first leave it alone. Row: identifier,
 * name of the counter, its meaning.
 */
#define NIC_TS_PARSE_RESULTS \
	NIC_TS_PARSE(OK, ParsedTcp, \
		"TCP packets") \
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
		"left alone: more than two VLAN tags or four IPv6 extension headers") \
	NIC_TS_PARSE(PTP, SkipPtp, \
		"left alone: PTP, whose daemon needs the NIC's places for TX timestamps")

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
 * of both headers in the linear part, no IP options, not a fragment. Other packets, and
 * those that contradict themselves, take the slow path, which tells them apart. No struct
 * nic_ts_view, so that it need not be written for these.
 */
static __always_inline bool nic_ts_parse_plain(const u8 *linear, u32 linear_len, u32 all_len,
					       u32 off, bool rx, struct nic_ts_packet *p)
{
	const u8 *h = linear + off;
	u32 len, hlen;

	if (linear_len < 40 || off > linear_len - 40)
		return false;
	if (h[0] != 0x45 || h[9] != 6 || nic_ts_be16(h + 6) & 0x3fff)
		return false;
	len = nic_ts_be16(h + 2);
	hlen = (h[32] >> 4) * 4;
	if (len > all_len - off || hlen < 20 || len < 20 + hlen)
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

/* UDP, at @off: PTP by its ports (IEEE 1588-2019, annexes C and D), or anything else. */
static inline enum nic_ts_parse nic_ts_parse_udp(const struct nic_ts_view *v, u32 off)
{
	u8 buf[4];
	const u8 *h = nic_ts_view_at(v, off, 4, buf);

	if (h && (nic_ts_be16(h + 2) == 319 || nic_ts_be16(h + 2) == 320))
		return NIC_TS_PARSE_PTP;
	return NIC_TS_PARSE_NOT_TCP;
}

/* Not TCP: protocols that carry another packet, or hide it, and PTP. */
static inline enum nic_ts_parse nic_ts_parse_other(const struct nic_ts_view *v, u32 off, u8 proto)
{
	switch (proto) {
	case 17:
		return nic_ts_parse_udp(v, off);
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
		return nic_ts_parse_other(v, off + hlen, h[9]);
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
			return nic_ts_parse_other(v, off, proto);
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
		case 0x88f7:
			return NIC_TS_PARSE_PTP;
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
 * nic_ts_parse() - parse a packet
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
	if (proto == 0x0800 &&
	    nic_ts_parse_plain(v->linear, v->linear_len, v->len, off, rx, p))
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

#endif /* _NIC_TS_PARSE_H */
