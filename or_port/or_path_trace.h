/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of or_port.
 *
 *	echo 1 > /sys/kernel/tracing/events/or_port/or_path/enable
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM or_port

#if !defined(_OR_PATH_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _OR_PATH_TRACE_H

#include <linux/tracepoint.h>
#include <trace_sockaddr.h>

TRACE_DEFINE_ENUM(OR_PATH_TCP);
TRACE_DEFINE_ENUM(OR_PATH_ACK);
TRACE_DEFINE_ENUM(OR_PATH_SEEN);
TRACE_DEFINE_ENUM(OR_PATH_PROOF);
TRACE_DEFINE_ENUM(OR_PATH_CHANGED);

/* The RTT of an empty path was learned, or became another. Times in ns; before=0: unknown. */
TRACE_EVENT(or_path,

	TP_PROTO(const struct or_addrs *key, u8 kind, u32 before_ns, u32 rtt_ns, u8 how),

	TP_ARGS(key, kind, before_ns, rtt_ns, how),

	TP_STRUCT__entry(
		trace_ends(src, dest)
		__field(int, ifindex)
		__field(u8, kind)
		__field(u32, before_ns)
		__field(u32, rtt_ns)
		__field(u8, how)
	),

	TP_fast_assign(
		trace_sockaddr(__entry->src, key->family, key->laddr, 0);
		trace_sockaddr(__entry->dest, key->family, key->raddr, 0);
		__entry->ifindex = key->scope;
		__entry->kind = kind;
		__entry->before_ns = before_ns;
		__entry->rtt_ns = rtt_ns;
		__entry->how = how;
	),

	TP_printk("src=%pISc dest=%pISc ifindex=%d kind=%s before=%u rtt=%u how=%s",
		  __entry->src, __entry->dest, __entry->ifindex,
		  __print_symbolic(__entry->kind, { OR_PATH_TCP, "tcp" },
				   { OR_PATH_ACK, "or_ack" }),
		  __entry->before_ns, __entry->rtt_ns,
		  __print_symbolic(__entry->how, { OR_PATH_SEEN, "seen" },
				   { OR_PATH_PROOF, "proof" }, { OR_PATH_CHANGED, "changed" }))
);

#endif /* _OR_PATH_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE or_path_trace
#include <trace/define_trace.h>
