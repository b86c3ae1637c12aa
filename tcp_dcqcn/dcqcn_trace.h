/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of tcp_dcqcn: every decision with all its inputs and outputs.
 *
 *	perf trace -e 'dcqcn:*'
 *	echo 1 > /sys/kernel/tracing/events/dcqcn/dcqcn_update/enable
 *
 * Times in ns, rates in bytes/s, alpha in millionths.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM dcqcn

#if !defined(_DCQCN_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _DCQCN_TRACE_H

#include <linux/in6.h>
#include <linux/tracepoint.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include <trace_sockaddr.h>

#include <cc_ecn_trace.h>
#include <or_proto.h>

#include "dcqcn.h"
#include "dcqcn_core.h"

#ifndef _DCQCN_TRACE_ENUMS
#define _DCQCN_TRACE_ENUMS

/* Why a rate was set other than by a CNP, a timer or bytes. */
enum dcqcn_why {
	DCQCN_WHY_START,		/* first data */
	DCQCN_WHY_LOSS,		/* a lost packet */
	DCQCN_WHY_TIMEOUT,	/* a retransmission timeout */
	DCQCN_WHY_UNDO,		/* the recovery was spurious */
};

/* Ends of the flow of a CNP. */
static inline void dcqcn_cnp_ends(void *src, void *dest, const struct or_cnp *cnp)
{
	unsigned int family = cnp->pair.version == 4 ? AF_INET : AF_INET6;
	__be32 addr[4];

	memcpy(addr, cnp->pair.sender, sizeof(addr));
	trace_sockaddr(src, family, addr, htons(cnp->sport));
	memcpy(addr, cnp->pair.receiver, sizeof(addr));
	trace_sockaddr(dest, family, addr, htons(cnp->dport));
}

/* Q30 to millionths */
static inline u32 dcqcn_ppm(u32 alpha)
{
	return ((u64)alpha * 1000000) >> Q30_SHIFT;
}

#endif /* _DCQCN_TRACE_ENUMS */

TRACE_DEFINE_ENUM(DCQCN_WHY_START);
TRACE_DEFINE_ENUM(DCQCN_WHY_LOSS);
TRACE_DEFINE_ENUM(DCQCN_WHY_TIMEOUT);
TRACE_DEFINE_ENUM(DCQCN_WHY_UNDO);
TRACE_DEFINE_ENUM(DCQCN_CNP_TAKEN);
TRACE_DEFINE_ENUM(DCQCN_CNP_TAG);
TRACE_DEFINE_ENUM(DCQCN_CNP_OLD);
TRACE_DEFINE_ENUM(DCQCN_CNP_MEMORY);
TRACE_DEFINE_ENUM(DCQCN_CNP_NO_FLOW);
TRACE_DEFINE_ENUM(DCQCN_CNP_BUSY);
TRACE_DEFINE_ENUM(DCQCN_CNP_KEPT);

#define dcqcn_show_why(why)					\
	__print_symbolic(why,					\
			 { DCQCN_WHY_START, "start" },		\
			 { DCQCN_WHY_LOSS, "loss" },		\
			 { DCQCN_WHY_TIMEOUT, "timeout" },	\
			 { DCQCN_WHY_UNDO, "undo" })

#define dcqcn_show_cnp(verdict)					\
	__print_symbolic(verdict,				\
			 { DCQCN_CNP_TAKEN, "taken" },		\
			 { DCQCN_CNP_TAG, "tag" },		\
			 { DCQCN_CNP_OLD, "replayed" },		\
			 { DCQCN_CNP_MEMORY, "no_memory" },	\
			 { DCQCN_CNP_NO_FLOW, "no_flow" },	\
			 { DCQCN_CNP_BUSY, "busy" },		\
			 { DCQCN_CNP_KEPT, "kept" })

/*
 * An ACK that moved a rate, or that had marks. In this order: alpha fell "decays" times; the
 * timer expired "timer" times, the byte counter "bytes" times; then a CNP, or none.
 */
TRACE_EVENT(dcqcn_update,

	TP_PROTO(const struct sock *sk, const struct dcqcn_flow *old,
		 const struct dcqcn_flow *new, const struct dcqcn_steps *steps, u32 marked,
		 u32 unmarked, bool cnp, u64 cap_bps, u32 cwnd),

	TP_ARGS(sk, old, new, steps, marked, unmarked, cnp, cap_bps, cwnd),

	TP_STRUCT__entry(
		trace_ends(saddr, daddr)
		__field(u64, bps)
		__field(u64, old_bps)
		__field(u64, target_bps)
		__field(u64, old_target_bps)
		__field(u64, cap_bps)
		__field(u32, alpha)
		__field(u32, old_alpha)
		__field(u32, decays)
		__field(u32, timer)
		__field(u32, bytes)
		__field(u32, marked)
		__field(u32, unmarked)
		__field(u32, cwnd)
		__field(u8, t)
		__field(u8, bc)
		__field(bool, cnp)
	),

	TP_fast_assign(
		trace_sock_ends(__entry->saddr, __entry->daddr, sk);
		__entry->bps = new->rate_bps;
		__entry->old_bps = old->rate_bps;
		__entry->target_bps = new->target_bps;
		__entry->old_target_bps = old->target_bps;
		__entry->cap_bps = cap_bps;
		__entry->alpha = dcqcn_ppm(new->alpha);
		__entry->old_alpha = dcqcn_ppm(old->alpha);
		__entry->decays = steps->decays;
		__entry->timer = steps->timer;
		__entry->bytes = steps->bytes;
		__entry->marked = marked;
		__entry->unmarked = unmarked;
		__entry->cwnd = cwnd;
		__entry->t = new->timer_count;
		__entry->bc = new->byte_count;
		__entry->cnp = cnp;
	),

	TP_printk("src=%pISpc dest=%pISpc marked=%u unmarked=%u decays=%u timer=%u bytes=%u cnp=%d T=%u BC=%u rate=%llu old_rate=%llu target=%llu old_target=%llu alpha=%u old_alpha=%u cap=%llu cwnd=%u",
		  __entry->saddr, __entry->daddr, __entry->marked, __entry->unmarked,
		  __entry->decays, __entry->timer, __entry->bytes, __entry->cnp,
		  __entry->t, __entry->bc, __entry->bps, __entry->old_bps,
		  __entry->target_bps, __entry->old_target_bps, __entry->alpha,
		  __entry->old_alpha, __entry->cap_bps, __entry->cwnd)
);

/* A rate set for another reason. */
TRACE_EVENT(dcqcn_set,

	TP_PROTO(const struct sock *sk, u8 why, u64 old_bps, const struct dcqcn_flow *new,
		 u64 cap_bps),

	TP_ARGS(sk, why, old_bps, new, cap_bps),

	TP_STRUCT__entry(
		trace_ends(saddr, daddr)
		__field(u64, bps)
		__field(u64, old_bps)
		__field(u64, target_bps)
		__field(u64, cap_bps)
		__field(u32, alpha)
		__field(u8, why)
	),

	TP_fast_assign(
		trace_sock_ends(__entry->saddr, __entry->daddr, sk);
		__entry->bps = new->rate_bps;
		__entry->old_bps = old_bps;
		__entry->target_bps = new->target_bps;
		__entry->cap_bps = cap_bps;
		__entry->alpha = dcqcn_ppm(new->alpha);
		__entry->why = why;
	),

	TP_printk("src=%pISpc dest=%pISpc why=%s rate=%llu old_rate=%llu target=%llu alpha=%u cap=%llu",
		  __entry->saddr, __entry->daddr, dcqcn_show_why(__entry->why),
		  __entry->bps, __entry->old_bps, __entry->target_bps, __entry->alpha,
		  __entry->cap_bps)
);

/* The receiver: CE has changed. */
DEFINE_EVENT(cc_echo, dcqcn_echo,
	TP_PROTO(const struct sock *sk, bool ce, bool first, u32 ack),
	TP_ARGS(sk, ce, first, ack));

/* The connection runs dcqcn-reno from here on. */
DEFINE_EVENT(cc_fallback, dcqcn_fallback,
	TP_PROTO(const struct sock *sk, u8 reason),
	TP_ARGS(sk, reason));

/* TCP paces from here on. */
DEFINE_EVENT(cc_unpaced, dcqcn_unpaced,
	TP_PROTO(const struct sock *sk, u64 ahead_ns),
	TP_ARGS(sk, ahead_ns));

/* A CNP of a switch, and what became of it; cwnd in packets if it was taken. */
TRACE_EVENT(dcqcn_cnp,

	TP_PROTO(const struct or_cnp *cnp, u8 verdict, u32 cwnd),

	TP_ARGS(cnp, verdict, cwnd),

	TP_STRUCT__entry(
		trace_ends(saddr, daddr)
		__field(u64, count)
		__field(u32, window)
		__field(u32, hold_us)
		__field(u32, cwnd)
		__field(u16, from)
		__field(u8, verdict)
	),

	TP_fast_assign(
		dcqcn_cnp_ends(__entry->saddr, __entry->daddr, cnp);
		__entry->count = cnp->count;
		__entry->window = cnp->window;
		__entry->hold_us = cnp->hold_us;
		__entry->cwnd = cwnd;
		__entry->from = cnp->from;
		__entry->verdict = verdict;
	),

	TP_printk("src=%pISpc dest=%pISpc switch=%u count=%llu window=%u hold_us=%u verdict=%s cwnd=%u",
		  __entry->saddr, __entry->daddr, __entry->from, __entry->count,
		  __entry->window, __entry->hold_us, dcqcn_show_cnp(__entry->verdict),
		  __entry->cwnd)
);

#endif /* _DCQCN_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE dcqcn_trace
#include <trace/define_trace.h>
