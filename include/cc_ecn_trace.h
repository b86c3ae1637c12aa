/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints that congestion controls of cc_ecn.h share. The trace header of a module includes
 * this where its own events are, with its TRACE_SYSTEM, and defines an event of each class:
 *
 *	cc_echo, cc_fallback, cc_unpaced
 */
#ifndef _CC_ECN_TRACE_ENUMS
#define _CC_ECN_TRACE_ENUMS

#include <linux/tracepoint.h>
#include <net/sock.h>
#include <trace_sockaddr.h>

/* Why a connection runs Reno. */
enum cc_fallback {
	CC_FALLBACK_NO_ECN,
	CC_FALLBACK_MPTCP,
};

#endif /* _CC_ECN_TRACE_ENUMS */

TRACE_DEFINE_ENUM(CC_FALLBACK_NO_ECN);
TRACE_DEFINE_ENUM(CC_FALLBACK_MPTCP);

#undef cc_show_fallback
#define cc_show_fallback(reason)				\
	__print_symbolic(reason,				\
			 { CC_FALLBACK_NO_ECN, "no_ecn" },	\
			 { CC_FALLBACK_MPTCP, "mptcp" })

/* The receiver: CE has changed. first: an ACK of the packets before went out first. */
DECLARE_EVENT_CLASS(cc_echo,

	TP_PROTO(const struct sock *sk, bool ce, bool first, u32 ack),

	TP_ARGS(sk, ce, first, ack),

	TP_STRUCT__entry(
		trace_ends(saddr, daddr)
		__field(u32, ack)
		__field(bool, ce)
		__field(bool, first)
	),

	TP_fast_assign(
		trace_sock_ends(__entry->saddr, __entry->daddr, sk);
		__entry->ack = ack;
		__entry->ce = ce;
		__entry->first = first;
	),

	TP_printk("src=%pISpc dest=%pISpc ce=%d first=%d ack=%u",
		  __entry->saddr, __entry->daddr, __entry->ce, __entry->first,
		  __entry->ack)
);

/* The connection runs Reno from here on. */
DECLARE_EVENT_CLASS(cc_fallback,

	TP_PROTO(const struct sock *sk, u8 reason),

	TP_ARGS(sk, reason),

	TP_STRUCT__entry(
		trace_ends(saddr, daddr)
		__field(u8, reason)
	),

	TP_fast_assign(
		trace_sock_ends(__entry->saddr, __entry->daddr, sk);
		__entry->reason = reason;
	),

	TP_printk("src=%pISpc dest=%pISpc reason=%s", __entry->saddr, __entry->daddr,
		  cc_show_fallback(__entry->reason))
);

#include <cc_unpaced_trace.h>
