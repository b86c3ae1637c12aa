/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of tcp_timely: every decision with all its inputs and outputs.
 *
 *	perf trace -e 'timely:*'
 *	echo 1 > /sys/kernel/tracing/events/timely/timely_update/enable
 *
 * Times in ns, rates in bytes/s.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM timely

#if !defined(_TIMELY_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TIMELY_TRACE_H

#include <linux/in6.h>
#include <linux/tracepoint.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include <trace_sockaddr.h>

#include "timely_core.h"
#include "timely_source.h"

#ifndef _TIMELY_TRACE_ENUMS
#define _TIMELY_TRACE_ENUMS

/* Why a completion gave no sample. */
enum timely_drop {
	TIMELY_DROP_RETRANS,	/* a retransmission among the acknowledged data, or unpaced */
	TIMELY_DROP_SACKED,	/* the segment was SACKed before */
	TIMELY_DROP_DELAYED,	/* the receiver may have delayed the ACK */
	TIMELY_DROP_SOURCE,	/* not of the source that the flow follows */
};

#endif /* _TIMELY_TRACE_ENUMS */

/* The words that traces show; user space learns the numbers by TRACE_DEFINE_ENUM(). */
#define TIMELY_SHOW_SOURCE		\
	EM(SOURCE_TCP, "tcp")		\
	EM(SOURCE_STACK, "stack")	\
	EM(SOURCE_DRIVER, "driver")	\
	EM(SOURCE_MAPPED, "mapped")	\
	EMe(SOURCE_HW, "hardware")

#define TIMELY_SHOW_BRANCH		\
	EM(BRANCH_LOW, "low")		\
	EM(BRANCH_HIGH, "high")		\
	EM(BRANCH_INCREASE, "increase")	\
	EM(BRANCH_HAI, "hai")		\
	EM(BRANCH_DECREASE, "decrease")	\
	EM(BRANCH_WEIGHTED, "weighted")	\
	EM(BRANCH_START, "start")	\
	EM(BRANCH_PROBE, "probe")	\
	EMe(BRANCH_AVERAGE, "average")

#define TIMELY_SHOW_DROP		\
	EM(DROP_RETRANS, "retransmitted") \
	EM(DROP_SACKED, "sacked")	\
	EM(DROP_DELAYED, "delayed_ack")	\
	EMe(DROP_SOURCE, "other_source")

#undef EM
#undef EMe
#define EM(id, word)	TRACE_DEFINE_ENUM(TIMELY_##id);
#define EMe(id, word)	TRACE_DEFINE_ENUM(TIMELY_##id);
TIMELY_SHOW_SOURCE
TIMELY_SHOW_BRANCH
TIMELY_SHOW_DROP
#undef EM
#undef EMe
#define EM(id, word)	{ TIMELY_##id, word },
#define EMe(id, word)	{ TIMELY_##id, word }

/* One completion event. gradient, scale: in millionths. */
TRACE_EVENT(timely_update,

	TP_PROTO(const struct sock *sk, u64 rtt_ns, u32 queue_ns, u64 serialisation_ns,
		 u64 prev_rtt_ns, u32 bytes, u64 old_bps, u64 new_bps,
		 u64 cap_bps, const struct timely_result *res, u8 neg_count,
		 u8 source),

	TP_ARGS(sk, rtt_ns, queue_ns, serialisation_ns, prev_rtt_ns, bytes, old_bps,
		new_bps, cap_bps, res, neg_count, source),

	TP_STRUCT__entry(
		trace_ends(saddr, daddr)
		__field(u64, rtt_ns)
		__field(u64, serialisation_ns)
		__field(u64, prev_rtt_ns)
		__field(s64, rtt_diff_ns)
		__field(s64, gradient)
		__field(u64, old_bps)
		__field(u64, new_bps)
		__field(u64, cap_bps)
		__field(u64, link_bps)
		__field(u32, bytes)
		__field(u32, queue_ns)
		__field(u32, wait_ns)
		__field(u32, scale)
		__field(u8, branch)
		__field(u8, held)
		__field(u8, neg_count)
		__field(u8, source)
	),

	TP_fast_assign(
		trace_sock_ends(__entry->saddr, __entry->daddr, sk);
		__entry->rtt_ns = rtt_ns;
		__entry->serialisation_ns = serialisation_ns;
		__entry->prev_rtt_ns = prev_rtt_ns;
		__entry->rtt_diff_ns = res->rtt_diff_ns;
		__entry->gradient = res->gradient_ppm;
		__entry->old_bps = old_bps;
		__entry->new_bps = new_bps;
		__entry->cap_bps = cap_bps;
		__entry->link_bps = res->link_bps;
		__entry->bytes = bytes;
		__entry->queue_ns = queue_ns;
		__entry->wait_ns = res->wait_ns;
		__entry->scale = res->scale_ppm;
		__entry->branch = res->branch;
		__entry->held = res->held;
		__entry->neg_count = neg_count;
		__entry->source = source;
	),

	TP_printk("src=%pISpc dest=%pISpc branch=%s source=%s rtt=%llu prev_rtt=%llu serialisation=%llu bytes=%u rtt_diff=%lld gradient=%lld scale=%u negative=%u held=%u rate=%llu old_rate=%llu cap=%llu link=%llu wait=%u queue=%u",
		  __entry->saddr, __entry->daddr,
		  __print_symbolic(__entry->branch, TIMELY_SHOW_BRANCH),
		  __print_symbolic(__entry->source, TIMELY_SHOW_SOURCE), __entry->rtt_ns,
		  __entry->prev_rtt_ns, __entry->serialisation_ns,
		  __entry->bytes, __entry->rtt_diff_ns, __entry->gradient,
		  __entry->scale, __entry->neg_count, __entry->held,
		  __entry->new_bps, __entry->old_bps, __entry->cap_bps,
		  __entry->link_bps, __entry->wait_ns, __entry->queue_ns)
);

/* A completion that gave no sample. rtt: 0 where none was computed. */
TRACE_EVENT(timely_drop,

	TP_PROTO(const struct sock *sk, u8 reason, s64 rtt_ns),

	TP_ARGS(sk, reason, rtt_ns),

	TP_STRUCT__entry(
		trace_ends(saddr, daddr)
		__field(s64, rtt_ns)
		__field(u8, reason)
	),

	TP_fast_assign(
		trace_sock_ends(__entry->saddr, __entry->daddr, sk);
		__entry->rtt_ns = rtt_ns;
		__entry->reason = reason;
	),

	TP_printk("src=%pISpc dest=%pISpc reason=%s rtt=%lld",
		  __entry->saddr, __entry->daddr,
		  __print_symbolic(__entry->reason, TIMELY_SHOW_DROP), __entry->rtt_ns)
);

/* A rate set without an RTT sample. active: N; idle: ns since data was last ACKed. */
DECLARE_EVENT_CLASS(timely_rate,

	TP_PROTO(const struct sock *sk, u64 old_bps, u64 new_bps, u64 cap_bps,
		 u32 active, u64 idle_ns),

	TP_ARGS(sk, old_bps, new_bps, cap_bps, active, idle_ns),

	TP_STRUCT__entry(
		trace_ends(saddr, daddr)
		__field(u64, old_bps)
		__field(u64, new_bps)
		__field(u64, cap_bps)
		__field(u64, idle_ns)
		__field(u32, active)
	),

	TP_fast_assign(
		trace_sock_ends(__entry->saddr, __entry->daddr, sk);
		__entry->old_bps = old_bps;
		__entry->new_bps = new_bps;
		__entry->cap_bps = cap_bps;
		__entry->idle_ns = idle_ns;
		__entry->active = active;
	),

	TP_printk("src=%pISpc dest=%pISpc rate=%llu old_rate=%llu cap=%llu active=%u idle=%llu",
		  __entry->saddr, __entry->daddr, __entry->new_bps,
		  __entry->old_bps, __entry->cap_bps, __entry->active,
		  __entry->idle_ns)
);

/* First data of a flow: C / (N + 1). */
DEFINE_EVENT(timely_rate, timely_start,
	TP_PROTO(const struct sock *sk, u64 old_bps, u64 new_bps, u64 cap_bps,
		 u32 active, u64 idle_ns),
	TP_ARGS(sk, old_bps, new_bps, cap_bps, active, idle_ns)
);

/* Data after idle_restart_ns without any in flight: C / (N + 1) at most. */
DEFINE_EVENT(timely_rate, timely_idle,
	TP_PROTO(const struct sock *sk, u64 old_bps, u64 new_bps, u64 cap_bps,
		 u32 active, u64 idle_ns),
	TP_ARGS(sk, old_bps, new_bps, cap_bps, active, idle_ns)
);

/* The fallback cut, and its undo. */
TRACE_EVENT(timely_loss,

	TP_PROTO(const struct sock *sk, bool timeout, bool undo, u32 lost, u64 rtt_ns,
		 u64 old_bps, u64 new_bps),

	TP_ARGS(sk, timeout, undo, lost, rtt_ns, old_bps, new_bps),

	TP_STRUCT__entry(
		trace_ends(saddr, daddr)
		__field(u64, old_bps)
		__field(u64, new_bps)
		__field(u64, rtt_ns)
		__field(u32, lost)
		__field(bool, timeout)
		__field(bool, undo)
	),

	TP_fast_assign(
		trace_sock_ends(__entry->saddr, __entry->daddr, sk);
		__entry->old_bps = old_bps;
		__entry->new_bps = new_bps;
		__entry->rtt_ns = rtt_ns;
		__entry->lost = lost;
		__entry->timeout = timeout;
		__entry->undo = undo;
	),

	TP_printk("src=%pISpc dest=%pISpc event=%s lost=%u rtt=%llu rate=%llu old_rate=%llu",
		  __entry->saddr, __entry->daddr,
		  __entry->undo ? "undo" : __entry->timeout ? "timeout" : "loss",
		  __entry->lost, __entry->rtt_ns, __entry->new_bps, __entry->old_bps)
);

#include <cc_unpaced_trace.h>

/* TCP paces from here on. */
DEFINE_EVENT(cc_unpaced, timely_unpaced,
	TP_PROTO(const struct sock *sk, u64 ahead_ns),
	TP_ARGS(sk, ahead_ns));

/* A device without a wire counts as faster, since a flow gets all of its line rate. */
TRACE_EVENT(timely_line,

	TP_PROTO(const struct sock *sk, int ifindex, u32 line_mbit),

	TP_ARGS(sk, ifindex, line_mbit),

	TP_STRUCT__entry(
		trace_ends(saddr, daddr)
		__field(int, ifindex)
		__field(u32, line_mbit)
	),

	TP_fast_assign(
		trace_sock_ends(__entry->saddr, __entry->daddr, sk);
		__entry->ifindex = ifindex;
		__entry->line_mbit = line_mbit;
	),

	TP_printk("src=%pISpc dest=%pISpc ifindex=%d line_mbit=%u",
		  __entry->saddr, __entry->daddr, __entry->ifindex, __entry->line_mbit)
);

#endif /* _TIMELY_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE timely_trace
#include <trace/define_trace.h>
