/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of tcp_lipd: every decision with all its inputs and outputs.
 *
 *	perf trace -e 'lipd:*'
 *	echo 1 > /sys/kernel/tracing/events/lipd/lipd_update/enable
 *
 * Times in ns, rates in bytes/s, x = Rmax / R in millionths.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lipd

#if !defined(_LIPD_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LIPD_TRACE_H

#include <linux/in6.h>
#include <linux/tracepoint.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include <trace_sockaddr.h>

#include <cc_ecn_trace.h>

#include "lipd_core.h"

TRACE_DEFINE_ENUM(LIPD_LAW_LIPD);
TRACE_DEFINE_ENUM(LIPD_LAW_FIMD);
TRACE_DEFINE_ENUM(LIPD_LAW_AIMD);

#define lipd_show_law(law)					\
	__print_symbolic(law,					\
			 { LIPD_LAW_LIPD, "lipd" },		\
			 { LIPD_LAW_FIMD, "fimd" },		\
			 { LIPD_LAW_AIMD, "ibaimd" })

#ifndef _LIPD_TRACE_ENUMS
#define _LIPD_TRACE_ENUMS

/* Why a rate was set other than by a mark or its absence. */
enum lipd_why {
	LIPD_WHY_START,		/* first data */
	LIPD_WHY_IDLE,		/* data after idle_reset_ns */
	LIPD_WHY_LOSS,		/* a lost packet */
	LIPD_WHY_TIMEOUT,	/* a retransmission timeout */
	LIPD_WHY_UNDO,		/* the recovery was spurious */
};

/* Q32 to millionths; x is below 2^45. */
static inline u64 lipd_ppm(u64 x)
{
	return ((x >> 12) * 1000000) >> 20;
}

#endif /* _LIPD_TRACE_ENUMS */

TRACE_DEFINE_ENUM(LIPD_WHY_START);
TRACE_DEFINE_ENUM(LIPD_WHY_IDLE);
TRACE_DEFINE_ENUM(LIPD_WHY_LOSS);
TRACE_DEFINE_ENUM(LIPD_WHY_TIMEOUT);
TRACE_DEFINE_ENUM(LIPD_WHY_UNDO);

#define lipd_show_why(why)					\
	__print_symbolic(why,					\
			 { LIPD_WHY_START, "start" },		\
			 { LIPD_WHY_IDLE, "idle" },		\
			 { LIPD_WHY_LOSS, "loss" },		\
			 { LIPD_WHY_TIMEOUT, "timeout" },	\
			 { LIPD_WHY_UNDO, "undo" })

/* An ACK that moved x, or that had marks. */
TRACE_EVENT(lipd_update,

	TP_PROTO(const struct sock *sk, u8 law, u32 marked, u32 counted, u32 unmarked,
		 u64 old_x, u64 x, u64 bps, u64 cap_bps, u32 cwnd),

	TP_ARGS(sk, law, marked, counted, unmarked, old_x, x, bps, cap_bps, cwnd),

	TP_STRUCT__entry(
		trace_ends(saddr, daddr)
		__field(u64, old_x)
		__field(u64, x)
		__field(u64, bps)
		__field(u64, cap_bps)
		__field(u32, marked)
		__field(u32, counted)
		__field(u32, unmarked)
		__field(u32, cwnd)
		__field(u8, law)
	),

	TP_fast_assign(
		trace_sock_ends(__entry->saddr, __entry->daddr, sk);
		__entry->old_x = lipd_ppm(old_x);
		__entry->x = lipd_ppm(x);
		__entry->counted = counted;
		__entry->bps = bps;
		__entry->cap_bps = cap_bps;
		__entry->marked = marked;
		__entry->unmarked = unmarked;
		__entry->cwnd = cwnd;
		__entry->law = law;
	),

	TP_printk("src=%pISpc dest=%pISpc law=%s marked=%u counted=%u unmarked=%u x=%llu old_x=%llu rate=%llu cap=%llu cwnd=%u",
		  __entry->saddr, __entry->daddr, lipd_show_law(__entry->law),
		  __entry->marked, __entry->counted, __entry->unmarked, __entry->x,
		  __entry->old_x, __entry->bps, __entry->cap_bps, __entry->cwnd)
);

/* A rate set for another reason. idle: ns since data was last ACKed. */
TRACE_EVENT(lipd_set,

	TP_PROTO(const struct sock *sk, u8 why, u64 old_x, u64 x, u64 bps, u64 cap_bps,
		 u64 idle_ns),

	TP_ARGS(sk, why, old_x, x, bps, cap_bps, idle_ns),

	TP_STRUCT__entry(
		trace_ends(saddr, daddr)
		__field(u64, old_x)
		__field(u64, x)
		__field(u64, bps)
		__field(u64, cap_bps)
		__field(u64, idle_ns)
		__field(u8, why)
	),

	TP_fast_assign(
		trace_sock_ends(__entry->saddr, __entry->daddr, sk);
		__entry->old_x = lipd_ppm(old_x);
		__entry->x = lipd_ppm(x);
		__entry->bps = bps;
		__entry->cap_bps = cap_bps;
		__entry->idle_ns = idle_ns;
		__entry->why = why;
	),

	TP_printk("src=%pISpc dest=%pISpc why=%s x=%llu old_x=%llu rate=%llu cap=%llu idle=%llu",
		  __entry->saddr, __entry->daddr, lipd_show_why(__entry->why),
		  __entry->x, __entry->old_x, __entry->bps, __entry->cap_bps,
		  __entry->idle_ns)
);

/* The receiver: CE has changed. */
DEFINE_EVENT(cc_echo, lipd_echo,
	TP_PROTO(const struct sock *sk, bool ce, bool first, u32 ack),
	TP_ARGS(sk, ce, first, ack));

/* The connection runs lipd-reno from here on. */
DEFINE_EVENT(cc_fallback, lipd_fallback,
	TP_PROTO(const struct sock *sk, u8 reason),
	TP_ARGS(sk, reason));

/* TCP paces from here on. */
DEFINE_EVENT(cc_unpaced, lipd_unpaced,
	TP_PROTO(const struct sock *sk, u64 ahead_ns),
	TP_ARGS(sk, ahead_ns));

#endif /* _LIPD_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE lipd_trace
#include <trace/define_trace.h>
