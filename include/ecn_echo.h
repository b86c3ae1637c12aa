/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One ECN echo for each mark, on both ends of a connection, integers only.
 *
 * RFC 3168 echoes one mark per round trip. A congestion control that counts marks has both
 * ends run it: the receiver acknowledges with ECE exactly the packets that came with CE,
 *
 *	on a packet with data:	if its CE differs from the packet before, and an ACK is
 *				delayed: send that ACK first, with the old state;
 *				acknowledge the packet at once, with its own state
 *
 * and the sender takes each ACK for all packets that it is the first to acknowledge:
 *
 *	marked = delivered_ce - delivered_ce at the last ACK
 *
 * Where AccECN is negotiated, the stack counts marks itself, and the sender reads the same
 * two counters.
 *
 * Source: Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3.2; RFC 8257.
 * Differences: each packet (each batch of GRO, which never mixes CE with others) is
 * acknowledged at once, where DCTCP delays every second ACK. The window may be one packet,
 * and nothing may wait for a delayed ACK then.
 */
#ifndef _ECN_ECHO_H
#define _ECN_ECHO_H

#include <linux/minmax.h>
#include <linux/types.h>

/**
 * struct ecn_echo - state of one end
 * @rcv_nxt:	next expected byte after the last packet with data
 * @delivered:	packets acknowledged at the last ACK, low half
 * @delivered_ce: of those, with an echo
 * @ce:		the last packet came with CE
 *
 * The caller serialises all access (in a module: the socket lock).
 */
struct ecn_echo {
	u32	rcv_nxt;
	u32	delivered;
	u32	delivered_ce;
	u8	ce;
};

/* Reaction to a packet that came. */
enum ecn_echo_verdict {
	ECN_ECHO_SAME,		/* acknowledge it at once, with the same ECE as before */
	ECN_ECHO_CHANGED,	/* ... with another ECE than before */
	ECN_ECHO_FIRST,		/* the same, after the delayed ACK of the packets before */
};

/**
 * ecn_echo_start() - begin, perhaps in the middle of a connection
 * @e: state
 * @rcv_nxt: next expected byte
 * @delivered: packets acknowledged so far
 * @delivered_ce: of those, with an echo
 */
static inline void ecn_echo_start(struct ecn_echo *e, u32 rcv_nxt, u32 delivered,
				  u32 delivered_ce)
{
	*e = (struct ecn_echo){
		.rcv_nxt = rcv_nxt, .delivered = delivered, .delivered_ce = delivered_ce,
	};
}

/**
 * ecn_echo_receive() - a packet with data came
 * @e: state
 * @ce: it came with CE
 * @rcv_nxt: next expected byte, this packet included
 * @delayed: an ACK is delayed
 * @first: if ECN_ECHO_FIRST is returned, the number to acknowledge first, without ECE if
 *	   @ce is set, with it if not
 */
static inline enum ecn_echo_verdict ecn_echo_receive(struct ecn_echo *e, bool ce, u32 rcv_nxt,
						     bool delayed, u32 *first)
{
	bool changed = ce != e->ce;

	*first = e->rcv_nxt;
	e->rcv_nxt = rcv_nxt;
	e->ce = ce;
	if (!changed)
		return ECN_ECHO_SAME;
	return delayed ? ECN_ECHO_FIRST : ECN_ECHO_CHANGED;
}

/**
 * ecn_echo_take() - an ACK came: the packets that it is about
 * @e: state
 * @delivered: packets acknowledged so far, low half
 * @delivered_ce: of those, with an echo; may have wrapped, as the other may
 * @marked: packets acknowledged now that came with CE
 * @unmarked: packets acknowledged now that came without
 *
 * AccECN counts marks apart from packets and may report more of them.
 */
static inline void ecn_echo_take(struct ecn_echo *e, u32 delivered, u32 delivered_ce,
				 u32 *marked, u32 *unmarked)
{
	u32 packets = delivered - e->delivered;

	*marked = delivered_ce - e->delivered_ce;
	*unmarked = packets - min_t(u32, packets, *marked);
	e->delivered = delivered;
	e->delivered_ce = delivered_ce;
}

#endif /* _ECN_ECHO_H */
