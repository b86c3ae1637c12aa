/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of nic_ts: every decision with its inputs.
 *
 *	perf trace -e 'nic_ts:*'
 *	echo 1 > /sys/kernel/tracing/events/nic_ts/nic_ts_rtt/enable
 *
 * Times in ns, of the clock that "domain" names.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nic_ts

#if !defined(_NIC_TS_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _NIC_TS_TRACE_H

#include <linux/in6.h>
#include <linux/tracepoint.h>
#include <net/ipv6.h>
#include <trace_sockaddr.h>

#include "nic_ts_ring.h"

TRACE_DEFINE_ENUM(NIC_TS_SRC_STACK);
TRACE_DEFINE_ENUM(NIC_TS_SRC_DRIVER);
TRACE_DEFINE_ENUM(NIC_TS_SRC_HW);

#define nic_ts_show_source(source)				\
	__print_symbolic(source,				\
			 { NIC_TS_SRC_NONE, "none" },		\
			 { NIC_TS_SRC_STACK, "stack" },		\
			 { NIC_TS_SRC_DRIVER, "driver" },	\
			 { NIC_TS_SRC_HW, "hardware" })

TRACE_DEFINE_ENUM(NIC_TS_TX_NOTHING);
TRACE_DEFINE_ENUM(NIC_TS_TX_RECORDED);
TRACE_DEFINE_ENUM(NIC_TS_TX_RETRANS);

#define nic_ts_show_tx(result)					\
	__print_symbolic(result,				\
			 { NIC_TS_TX_NOTHING, "nothing" },	\
			 { NIC_TS_TX_RECORDED, "recorded" },	\
			 { NIC_TS_TX_RETRANS, "retransmitted" })

#define nic_ts_show_ack(result)					\
	__print_symbolic(result,				\
			 { NIC_TS_ACK_RECORDED, "recorded" },	\
			 { NIC_TS_ACK_OLD, "old" },		\
			 { NIC_TS_ACK_UNSENT, "unsent" })

TRACE_DEFINE_ENUM(NIC_TS_RTT_OK);
TRACE_DEFINE_ENUM(NIC_TS_RTT_NO_TX);
TRACE_DEFINE_ENUM(NIC_TS_RTT_NO_ACK);
TRACE_DEFINE_ENUM(NIC_TS_RTT_AMBIGUOUS);
TRACE_DEFINE_ENUM(NIC_TS_RTT_INVALID);

#define nic_ts_show_verdict(verdict)				\
	__print_symbolic(verdict,				\
			 { NIC_TS_RTT_OK, "ok" },		\
			 { NIC_TS_RTT_NO_TX, "no_segment" },	\
			 { NIC_TS_RTT_NO_ACK, "no_ack" },	\
			 { NIC_TS_RTT_AMBIGUOUS, "ambiguous" },	\
			 { NIC_TS_RTT_INVALID, "invalid" })

TRACE_DEFINE_ENUM(NIC_TS_HW_OK);
TRACE_DEFINE_ENUM(NIC_TS_HW_DISORDER);
TRACE_DEFINE_ENUM(NIC_TS_HW_FUTURE);
TRACE_DEFINE_ENUM(NIC_TS_HW_STALE);
TRACE_DEFINE_ENUM(NIC_TS_HW_RANGE);

#define nic_ts_show_hw(verdict)					\
	__print_symbolic(verdict,				\
			 { NIC_TS_HW_OK, "ok" },		\
			 { NIC_TS_HW_DISORDER, "disorder" },	\
			 { NIC_TS_HW_FUTURE, "future" },	\
			 { NIC_TS_HW_STALE, "stale" },		\
			 { NIC_TS_HW_RANGE, "range" })

TRACE_DEFINE_ENUM(NIC_TS_CLOCK_UNSET);
TRACE_DEFINE_ENUM(NIC_TS_CLOCK_VALID);
TRACE_DEFINE_ENUM(NIC_TS_CLOCK_EXPIRED);
TRACE_DEFINE_ENUM(NIC_TS_CLOCK_STEPPED);
TRACE_DEFINE_ENUM(NIC_TS_CLOCK_SUSPENDED);
TRACE_DEFINE_ENUM(NIC_TS_CLOCK_VANISHED);
TRACE_DEFINE_ENUM(NIC_TS_CLOCK_WITHDRAWN);

#define nic_ts_show_clock(state)				\
	__print_symbolic(state,					\
			 { NIC_TS_CLOCK_UNSET, "unset" },	\
			 { NIC_TS_CLOCK_VALID, "valid" },	\
			 { NIC_TS_CLOCK_EXPIRED, "expired" },	\
			 { NIC_TS_CLOCK_STEPPED, "stepped" },	\
			 { NIC_TS_CLOCK_SUSPENDED, "suspended" }, \
			 { NIC_TS_CLOCK_VANISHED, "vanished" },	\
			 { NIC_TS_CLOCK_WITHDRAWN, "withdrawn" })

/* A segment of a flow goes to a driver, or its driver's better time came. */
TRACE_EVENT(nic_ts_tx,

	TP_PROTO(const struct nic_ts_key *key, int ifindex, u32 seq, u32 end_seq,
		 u64 ns, u8 source, int result),

	TP_ARGS(key, ifindex, seq, end_seq, ns, source, result),

	TP_STRUCT__entry(
		trace_ends(local, remote)
		__field(int, ifindex)
		__field(u32, seq)
		__field(u32, end_seq)
		__field(u64, ns)
		__field(u8, source)
		__field(int, result)
	),

	TP_fast_assign(
		trace_key_ends(__entry->local, __entry->remote, key);
		__entry->ifindex = ifindex;
		__entry->seq = seq;
		__entry->end_seq = end_seq;
		__entry->ns = ns;
		__entry->source = source;
		__entry->result = result;
	),

	TP_printk("local=%pISpc remote=%pISpc ifindex=%d seq=%u end_seq=%u ns=%llu source=%s result=%s",
		  __entry->local, __entry->remote, __entry->ifindex,
		  __entry->seq, __entry->end_seq, __entry->ns,
		  nic_ts_show_source(__entry->source),
		  nic_ts_show_tx(__entry->result))
);

/* A packet of a flow came in; old: it acknowledges nothing new. */
TRACE_EVENT(nic_ts_ack,

	TP_PROTO(const struct nic_ts_key *key, int ifindex, u32 ack_seq,
		 const struct nic_ts_stamp *stamp, enum nic_ts_ack_result result),

	TP_ARGS(key, ifindex, ack_seq, stamp, result),

	TP_STRUCT__entry(
		trace_ends(local, remote)
		__field(int, ifindex)
		__field(u32, ack_seq)
		__field(u64, ns)
		__field(u64, hw_ns)
		__field(u32, hw_domain)
		__field(u16, hw_epoch)
		__field(u8, source)
		__field(u8, result)
	),

	TP_fast_assign(
		trace_key_ends(__entry->local, __entry->remote, key);
		__entry->ifindex = ifindex;
		__entry->ack_seq = ack_seq;
		__entry->ns = stamp->ns;
		__entry->hw_ns = stamp->hw_ns;
		__entry->hw_domain = stamp->hw_domain;
		__entry->hw_epoch = stamp->hw_epoch;
		__entry->source = stamp->source;
		__entry->result = result;
	),

	TP_printk("local=%pISpc remote=%pISpc ifindex=%d ack_seq=%u ns=%llu source=%s hw_ns=%llu domain=%u epoch=%u result=%s",
		  __entry->local, __entry->remote, __entry->ifindex,
		  __entry->ack_seq, __entry->ns,
		  nic_ts_show_source(__entry->source), __entry->hw_ns,
		  __entry->hw_domain, __entry->hw_epoch,
		  nic_ts_show_ack(__entry->result))
);

/* A user asked for an RTT; pick: which stamps of the two it was taken from. */
TRACE_EVENT(nic_ts_rtt,

	TP_PROTO(const struct nic_ts_key *key, u32 una, int verdict, int pick,
		 const struct nic_ts_rtt *rtt),

	TP_ARGS(key, una, verdict, pick, rtt),

	TP_STRUCT__entry(
		trace_ends(local, remote)
		__field(u32, una)
		__field(int, verdict)
		__field(int, pick)
		__field(u32, seq)
		__field(u32, end_seq)
		__field(u32, ack_seq)
		__field(u64, tx_ns)
		__field(u64, rx_ns)
		__field(u32, error_ns)
		__field(u32, domain)
		__field(u8, tx_source)
		__field(u8, rx_source)
	),

	TP_fast_assign(
		trace_key_ends(__entry->local, __entry->remote, key);
		__entry->una = una;
		__entry->verdict = verdict;
		__entry->pick = pick;
		__entry->seq = rtt->seq;
		__entry->end_seq = rtt->end_seq;
		__entry->ack_seq = rtt->ack_seq;
		__entry->tx_ns = rtt->tx_ns;
		__entry->rx_ns = rtt->rx_ns;
		__entry->error_ns = rtt->error_ns;
		__entry->domain = rtt->domain;
		__entry->tx_source = rtt->tx_source;
		__entry->rx_source = rtt->rx_source;
	),

	TP_printk("local=%pISpc remote=%pISpc una=%u verdict=%s rtt=%lld seq=%u end_seq=%u ack_seq=%u tx=%llu tx_source=%s rx=%llu rx_source=%s domain=%u error=%u pick=%d",
		  __entry->local, __entry->remote, __entry->una,
		  nic_ts_show_verdict(__entry->verdict),
		  (s64)(__entry->rx_ns - __entry->tx_ns), __entry->seq,
		  __entry->end_seq, __entry->ack_seq, __entry->tx_ns,
		  nic_ts_show_source(__entry->tx_source), __entry->rx_ns,
		  nic_ts_show_source(__entry->rx_source), __entry->domain,
		  __entry->error_ns, __entry->pick)
);

/* A hardware stamp that is not believed; host: when software saw it. */
TRACE_EVENT(nic_ts_hw_refused,

	TP_PROTO(int ifindex, bool tx, u64 hw_ns, u64 host_ns, u32 domain, int verdict),

	TP_ARGS(ifindex, tx, hw_ns, host_ns, domain, verdict),

	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(bool, tx)
		__field(u64, hw_ns)
		__field(u64, host_ns)
		__field(u32, domain)
		__field(int, verdict)
	),

	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->tx = tx;
		__entry->hw_ns = hw_ns;
		__entry->host_ns = host_ns;
		__entry->domain = domain;
		__entry->verdict = verdict;
	),

	TP_printk("ifindex=%d dir=%s hw_ns=%llu domain=%u host_ns=%llu verdict=%s",
		  __entry->ifindex, __entry->tx ? "tx" : "rx", __entry->hw_ns,
		  __entry->domain, __entry->host_ns,
		  nic_ts_show_hw(__entry->verdict))
);

/* A TX hardware stamp found its segment; or not, if found is 0. */
TRACE_EVENT(nic_ts_tx_done,

	TP_PROTO(const struct nic_ts_key *key, int ifindex, u32 seq, u32 end_seq,
		 u64 hw_ns, u32 domain, bool found),

	TP_ARGS(key, ifindex, seq, end_seq, hw_ns, domain, found),

	TP_STRUCT__entry(
		trace_ends(local, remote)
		__field(int, ifindex)
		__field(u32, seq)
		__field(u32, end_seq)
		__field(u64, hw_ns)
		__field(u32, domain)
		__field(bool, found)
	),

	TP_fast_assign(
		trace_key_ends(__entry->local, __entry->remote, key);
		__entry->ifindex = ifindex;
		__entry->seq = seq;
		__entry->end_seq = end_seq;
		__entry->hw_ns = hw_ns;
		__entry->domain = domain;
		__entry->found = found;
	),

	TP_printk("local=%pISpc remote=%pISpc ifindex=%d seq=%u end_seq=%u hw_ns=%llu domain=%u found=%d",
		  __entry->local, __entry->remote, __entry->ifindex,
		  __entry->seq, __entry->end_seq, __entry->hw_ns,
		  __entry->domain, __entry->found)
);

/* A clock got its map, or lost it. */
TRACE_EVENT(nic_ts_clock,

	TP_PROTO(u32 domain, int state),

	TP_ARGS(domain, state),

	TP_STRUCT__entry(
		__field(u32, domain)
		__field(int, state)
	),

	TP_fast_assign(
		__entry->domain = domain;
		__entry->state = state;
	),

	TP_printk("domain=%u state=%s", __entry->domain,
		  nic_ts_show_clock(__entry->state))
);

#endif /* _NIC_TS_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE nic_ts_trace
#include <trace/define_trace.h>
