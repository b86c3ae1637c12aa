/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A class of tracepoints for each user of cc_take_pacing(). The trace header of a module includes
 * this where its own events are.
 */
#include <linux/tracepoint.h>
#include <net/sock.h>
#include <trace_sockaddr.h>

/* Packets left before their departure time: TCP paces from here on. */
DECLARE_EVENT_CLASS(cc_unpaced,

	TP_PROTO(const struct sock *sk, u64 ahead_ns),

	TP_ARGS(sk, ahead_ns),

	TP_STRUCT__entry(
		trace_ends(saddr, daddr)
		__field(u64, ahead_ns)
	),

	TP_fast_assign(
		trace_sock_ends(__entry->saddr, __entry->daddr, sk);
		__entry->ahead_ns = ahead_ns;
	),

	TP_printk("src=%pISpc dest=%pISpc ahead=%llu",
		  __entry->saddr, __entry->daddr, __entry->ahead_ns)
);
