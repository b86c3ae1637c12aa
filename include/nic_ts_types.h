/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nic_ts: types of a packet, a timestamp and a flow. Integers only, so that the
 * unit tests and the fuzzer are built from the same text.
 */
#ifndef _NIC_TS_TYPES_H
#define _NIC_TS_TYPES_H

#include <linux/types.h>
#include <uapi/nic_ts.h>

/**
 * struct nic_ts_key - a TCP connection as one of its ends sees it
 * @laddr:	address of this host; IPv4 in the first word, the rest 0
 * @raddr:	address of the peer
 * @lport:	port of this host
 * @rport:	port of the peer
 * @family:	AF_INET or AF_INET6; an IPv4-mapped address is AF_INET
 *
 * Addresses and ports in network byte order. There is no padding: it is hashed
 * and compared as it lies in memory, in words of 64 bits.
 */
struct nic_ts_key {
	__be32	laddr[4];
	__be32	raddr[4];
	__be16	lport;
	__be16	rport;
	u32	family;
} __attribute__((aligned(8)));

/**
 * struct nic_ts_packet - the headers of a TCP packet
 * @key:	its connection, from the side of this host
 * @seq:	sequence number of its first byte
 * @end_seq:	the one behind its last; SYN and FIN count
 * @ack_seq:	acknowledged, if @flags has NIC_TS_TCP_ACK
 * @payload:	bytes after the TCP header
 * @l4_off:	offset of the TCP header from where parsing began, bytes
 * @flags:	the 13th byte of the TCP header, NIC_TS_TCP_*
 * @tos:	type of service or traffic class
 * @vid:	of the outermost VLAN tag among the bytes that were parsed; 0: none
 */
struct nic_ts_packet {
	struct nic_ts_key key;
	u32	seq;
	u32	end_seq;
	u32	ack_seq;
	u32	payload;
	u32	l4_off;
	u8	flags;
	u8	tos;
	u16	vid;
};

/* Flags of TCP's header, byte 13 (RFC 9293). */
#define NIC_TS_TCP_FIN	0x01
#define NIC_TS_TCP_SYN	0x02
#define NIC_TS_TCP_RST	0x04
#define NIC_TS_TCP_PSH	0x08
#define NIC_TS_TCP_ACK	0x10

/**
 * struct nic_ts_stamp - when a packet passed a capture point
 * @ns:		CLOCK_MONOTONIC; never 0. With @source NIC_TS_SRC_STACK where the
 *		bus saw it, with NIC_TS_SRC_DRIVER where the driver did
 * @hw_ns:	the NIC's own stamp, in @hw_domain; 0: none, or one that was
 *		rejected
 * @hw_domain:	NIC_TS_DOMAIN_PHC(n) or, without @hw_ns, NIC_TS_DOMAIN_NONE
 * @hw_epoch:	changes when that clock is known to have jumped: stamps of two
 *		epochs belong to two domains
 * @source:	of @ns
 */
struct nic_ts_stamp {
	u64	ns;
	u64	hw_ns;
	u32	hw_domain;
	u16	hw_epoch;
	u8	source;
};

/* Result of nic_ts_flow_rtt(). */
enum nic_ts_verdict {
	NIC_TS_RTT_OK,
	NIC_TS_RTT_NO_TX,	/* no record of the segment: overwritten, or never seen */
	NIC_TS_RTT_NO_ACK,	/* no stamp of the ACK: overwritten, or never seen */
	NIC_TS_RTT_AMBIGUOUS,	/* retransmitted: which copy was acknowledged? */
	NIC_TS_RTT_INVALID,	/* the ACK is older than the segment */
	NIC_TS_RTT_VERDICTS,
};

/**
 * struct nic_ts_rtt - a segment, and the ACK that first covered its end
 * @tx_ns:	when it was sent, in @domain; by hardware, the last of its packets
 * @rx_ns:	when the ACK came in, in @domain, >= @tx_ns
 * @error_ns:	how wrong @rx_ns - @tx_ns can be by a clock map that was used; 0
 *		if both stamps are of one clock
 * @domain:	of both, NIC_TS_DOMAIN_*
 * @seq:	first byte of the segment
 * @end_seq:	the one behind its last
 * @ack_seq:	acknowledged by that ACK
 * @part_seq:	acknowledged up to here before that ACK came, within the segment or before it;
 *		not known: @seq
 * @part_ns:	of a part of the segment, when the ACK of that came in, in @domain, >= @tx_ns;
 *		0: not known
 * @tx_source:	where @tx_ns was taken, enum nic_ts_source
 * @rx_source:	where @rx_ns was taken
 *
 * A segment is the data of one skb for the driver: up to 64 KB with TSO, one packet without. A
 * receiver delays the ACK of a single packet, and not that of two, which may be segments of their
 * own. So @rx_ns - @tx_ns is an upper bound if @end_seq - @part_seq is one packet; @part_ns -
 * @tx_ns is the RTT of the data before that.
 */
struct nic_ts_rtt {
	u64	tx_ns;
	u64	rx_ns;
	u64	part_ns;
	u32	error_ns;
	u32	domain;
	u32	seq;
	u32	end_seq;
	u32	ack_seq;
	u32	part_seq;
	u8	tx_source;
	u8	rx_source;
};

#endif /* _NIC_TS_TYPES_H */
