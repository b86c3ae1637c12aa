/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of or_acker: every decision with its inputs.
 *
 *	perf trace -e 'or_acker:*'
 *	echo 1 > /sys/kernel/tracing/events/or_acker/or_acker_ack/enable
 *
 * Times in ns.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM or_acker

#if !defined(_OR_ACKER_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _OR_ACKER_TRACE_H

#include <linux/in6.h>
#include <linux/tracepoint.h>
#include <net/ipv6.h>
#include <trace_sockaddr.h>

#include "or_acker.h"

#ifndef _OR_ACKER_TRACE_ONCE
#define _OR_ACKER_TRACE_ONCE

/* Result of the lookup of a packet's flow. */
enum or_acker_flow_event {
	OR_ACKER_FLOW_IS_NEW,
	OR_ACKER_FLOW_HAS_AGED,
	OR_ACKER_FLOW_LOST_SUB,		/* its sender is no subscriber any more */
	OR_ACKER_FLOW_NO_ROOM,
	OR_ACKER_FLOW_NO_MEMORY,
	OR_ACKER_FLOW_NO_SOCKET,
	OR_ACKER_FLOW_OUTSIDE,		/* the receive window does not take it */
};

#endif /* _OR_ACKER_TRACE_ONCE */

TRACE_DEFINE_ENUM(OR_OK);
TRACE_DEFINE_ENUM(OR_ERR_SHORT);
TRACE_DEFINE_ENUM(OR_ERR_LONG);
TRACE_DEFINE_ENUM(OR_ERR_VERSION);
TRACE_DEFINE_ENUM(OR_ERR_TYPE);
TRACE_DEFINE_ENUM(OR_ERR_RESERVED);
TRACE_DEFINE_ENUM(OR_ERR_PROTOCOL);
TRACE_DEFINE_ENUM(OR_ERR_VALUE);
TRACE_DEFINE_ENUM(OR_ERR_UNSUPPORTED);
TRACE_DEFINE_ENUM(OR_ERR_TAG);
TRACE_DEFINE_ENUM(OR_ERR_REPLAY);
TRACE_DEFINE_ENUM(OR_ERR_OLD);
TRACE_DEFINE_ENUM(OR_ERR_COOKIE);

#define or_acker_show_error(error)				\
	__print_symbolic(error,					\
			 { OR_OK, "ok" },			\
			 { OR_ERR_SHORT, "short" },		\
			 { OR_ERR_LONG, "long" },		\
			 { OR_ERR_VERSION, "version" },		\
			 { OR_ERR_TYPE, "type" },		\
			 { OR_ERR_RESERVED, "reserved" },	\
			 { OR_ERR_PROTOCOL, "protocol" },	\
			 { OR_ERR_VALUE, "value" },		\
			 { OR_ERR_UNSUPPORTED, "unsupported" },	\
			 { OR_ERR_TAG, "tag" },			\
			 { OR_ERR_REPLAY, "replay" },		\
			 { OR_ERR_OLD, "old" },			\
			 { OR_ERR_COOKIE, "cookie" })

TRACE_DEFINE_ENUM(OR_ACKER_FLOW_IS_NEW);
TRACE_DEFINE_ENUM(OR_ACKER_FLOW_HAS_AGED);
TRACE_DEFINE_ENUM(OR_ACKER_FLOW_LOST_SUB);
TRACE_DEFINE_ENUM(OR_ACKER_FLOW_NO_ROOM);
TRACE_DEFINE_ENUM(OR_ACKER_FLOW_NO_MEMORY);
TRACE_DEFINE_ENUM(OR_ACKER_FLOW_NO_SOCKET);
TRACE_DEFINE_ENUM(OR_ACKER_FLOW_OUTSIDE);

#define or_acker_show_event(event)				\
	__print_symbolic(event,					\
			 { OR_ACKER_FLOW_IS_NEW, "new" },	\
			 { OR_ACKER_FLOW_HAS_AGED, "aged" },	\
			 { OR_ACKER_FLOW_LOST_SUB, "unsubscribed" }, \
			 { OR_ACKER_FLOW_NO_ROOM, "table_full" }, \
			 { OR_ACKER_FLOW_NO_MEMORY, "no_memory" }, \
			 { OR_ACKER_FLOW_NO_SOCKET, "no_socket" }, \
			 { OR_ACKER_FLOW_OUTSIDE, "outside_window" })

TRACE_DEFINE_ENUM(OR_ACKER_SENT);
TRACE_DEFINE_ENUM(OR_ACKER_NO_SUB);
TRACE_DEFINE_ENUM(OR_ACKER_HELD_CREDIT);
TRACE_DEFINE_ENUM(OR_ACKER_HELD_SUB);
TRACE_DEFINE_ENUM(OR_ACKER_HELD_CPU);
TRACE_DEFINE_ENUM(OR_ACKER_HELD_TIME);
TRACE_DEFINE_ENUM(OR_ACKER_NOT_SENT);

#define or_acker_show_verdict(verdict)				\
	__print_symbolic(verdict,				\
			 { OR_ACKER_SENT, "sent" },		\
			 { OR_ACKER_NO_SUB, "unsubscribed" },	\
			 { OR_ACKER_HELD_CREDIT, "no_credit" },	\
			 { OR_ACKER_HELD_SUB, "limit_subscriber" }, \
			 { OR_ACKER_HELD_CPU, "limit_cpu" },	\
			 { OR_ACKER_HELD_TIME, "limit_time" },	\
			 { OR_ACKER_NOT_SENT, "failed" })

/* A SUBSCRIBE was received. Its fields are valid with error=ok and errors from tag on. */
TRACE_EVENT(or_acker_subscribe,

	TP_PROTO(const struct nic_ts_key *key, const struct or_subscribe *s,
		 enum or_error error, unsigned int len),

	TP_ARGS(key, s, error, len),

	TP_STRUCT__entry(
		trace_ends(local, remote)
		__field(u32, count)
		__field(u32, len)
		__field(u16, lifetime_s)
		__field(u16, caps)
		__field(int, error)
	),

	TP_fast_assign(
		trace_key_ends(__entry->local, __entry->remote, key);
		__entry->count = s->count;
		__entry->len = len;
		__entry->lifetime_s = s->lifetime_s;
		__entry->caps = s->caps;
		__entry->error = error;
	),

	TP_printk("local=%pISpc remote=%pISpc lifetime=%u caps=%#x count=%u len=%u error=%s",
		  __entry->local, __entry->remote, __entry->lifetime_s,
		  __entry->caps, __entry->count, __entry->len,
		  or_acker_show_error(__entry->error))
);

/* A flow begins or ends, or a packet is of none. */
TRACE_EVENT(or_acker_flow,

	TP_PROTO(const struct nic_ts_key *key, enum or_acker_flow_event event,
		 unsigned int flows),

	TP_ARGS(key, event, flows),

	TP_STRUCT__entry(
		trace_ends(local, remote)
		__field(int, event)
		__field(u32, flows)
	),

	TP_fast_assign(
		trace_key_ends(__entry->local, __entry->remote, key);
		__entry->event = event;
		__entry->flows = flows;
	),

	TP_printk("local=%pISpc remote=%pISpc event=%s flows=%u",
		  __entry->local, __entry->remote,
		  or_acker_show_event(__entry->event), __entry->flows)
);

/* An OR-ACK was due. rx_ns, hold_ns, domain, count: only with verdict=sent, failed. */
TRACE_EVENT(or_acker_ack,

	TP_PROTO(const struct nic_ts_key *key, const struct or_ack *ack,
		 enum or_acker_verdict verdict, u32 packets, u32 credit, int err),

	TP_ARGS(key, ack, verdict, packets, credit, err),

	TP_STRUCT__entry(
		trace_ends(local, remote)
		__field(u64, rx_ns)
		__field(u32, seq)
		__field(u32, hold_ns)
		__field(u32, count)
		__field(u32, packets)
		__field(u32, credit)
		__field(u8, domain)
		__field(bool, drain)
		__field(int, verdict)
		__field(int, err)
	),

	TP_fast_assign(
		trace_key_ends(__entry->local, __entry->remote, key);
		__entry->rx_ns = ack->rx_ns;
		__entry->seq = ack->seq;
		__entry->hold_ns = ack->hold_ns;
		__entry->count = ack->count;
		__entry->packets = packets;
		__entry->credit = credit;
		__entry->domain = ack->domain;
		__entry->drain = ack->drain;
		__entry->verdict = verdict;
		__entry->err = err;
	),

	TP_printk("local=%pISpc remote=%pISpc seq=%u rx=%llu hold=%u domain=%u packets=%u count=%u credit=%u drain=%d verdict=%s err=%d",
		  __entry->local, __entry->remote, __entry->seq, __entry->rx_ns,
		  __entry->hold_ns, __entry->domain, __entry->packets,
		  __entry->count, __entry->credit, __entry->drain,
		  or_acker_show_verdict(__entry->verdict), __entry->err)
);

/* All senders of data were told to drain their paths; or none, then no drain has begun. */
TRACE_EVENT(or_acker_drain,

	TP_PROTO(const struct or_acker_drain *d, u32 able, u32 notified, u64 from_ns),

	TP_ARGS(d, able, notified, from_ns),

	TP_STRUCT__entry(
		__field(u64, from_ns)
		__field(u64, new_ns)
		__field(u64, next_ns)
		__field(u32, able)
		__field(u32, notified)
	),

	TP_fast_assign(
		__entry->from_ns = from_ns;
		__entry->new_ns = d->new_ns;
		__entry->next_ns = d->next_ns;
		__entry->able = able;
		__entry->notified = notified;
	),

	TP_printk("from=%llu new=%llu next=%llu able=%u notified=%u",
		  __entry->from_ns, __entry->new_ns, __entry->next_ns,
		  __entry->able, __entry->notified)
);

#endif /* _OR_ACKER_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE or_acker_trace
#include <trace/define_trace.h>
