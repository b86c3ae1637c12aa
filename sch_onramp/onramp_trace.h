/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of sch_onramp: each decision of On-Ramp with all its inputs.
 *
 *	perf trace -e 'onramp:*'
 *	echo 1 > /sys/kernel/tracing/events/onramp/onramp_ack/enable
 *
 * Times in ns of CLOCK_MONOTONIC, beta in millionths.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM onramp

#if !defined(_ONRAMP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _ONRAMP_TRACE_H

#include <linux/in6.h>
#include <linux/tracepoint.h>
#include <trace_sockaddr.h>

#include "onramp_conn.h"

/* Values that are printed as words. */
#define onramp_trace_verdicts				\
	EM(ONRAMP_BELOW, "below")			\
	EM(ONRAMP_PAUSED, "paused")			\
	EM(ONRAMP_CAPPED, "capped")			\
	EM(ONRAMP_PROGRESS, "progress")			\
	EM(ONRAMP_IS_OFF, "off")			\
	EM(ONRAMP_STALE, "stale")			\
	EM(ONRAMP_DUPLICATE, "duplicate")		\
	EM(ONRAMP_IMPLAUSIBLE, "implausible")		\
	EM(ONRAMP_Q_LEARNING, "learning")		\
	EM(ONRAMP_Q_UNSYNCED, "unsynced")		\
	EM(ONRAMP_Q_NO_MAP, "no_map")			\
	EM(ONRAMP_Q_NOT_IN_FLIGHT, "not_in_flight")	\
	EM(ONRAMP_Q_AMBIGUOUS, "ambiguous")		\
	EM(ONRAMP_Q_REPLAY, "replay")			\
	EMe(ONRAMP_Q_OLD, "old")

#define onramp_trace_reasons				\
	EM(OR_ERR_SHORT, "short")			\
	EM(OR_ERR_LONG, "long")				\
	EM(OR_ERR_VERSION, "version")			\
	EM(OR_ERR_TYPE, "type")				\
	EM(OR_ERR_RESERVED, "reserved")			\
	EM(OR_ERR_PROTOCOL, "protocol")			\
	EM(OR_ERR_VALUE, "value")			\
	EM(OR_ERR_UNSUPPORTED, "unsupported")		\
	EM(OR_ERR_TAG, "tag")				\
	EM(ONRAMP_N_NO_PEER, "no_peer")			\
	EMe(ONRAMP_N_NO_FLOW, "no_flow")

#define onramp_trace_drain_says				\
	EM(ONRAMP_DRAIN_NOTHING, "begins")		\
	EM(ONRAMP_DRAIN_PROOF, "proof")			\
	EMe(ONRAMP_DRAIN_VOID, "void")

#undef EM
#undef EMe
#define EM(a, b)	TRACE_DEFINE_ENUM(a);
#define EMe(a, b)	TRACE_DEFINE_ENUM(a);
onramp_trace_verdicts
onramp_trace_reasons
onramp_trace_drain_says
#undef EM
#undef EMe
#define EM(a, b)	{ a, b },
#define EMe(a, b)	{ a, b }

#ifndef _ONRAMP_TRACE_HELPERS
#define _ONRAMP_TRACE_HELPERS

static inline void onramp_trace_addr(void *to, const struct or_addrs *addrs,
				     bool remote, u16 port)
{
	trace_sockaddr(to, addrs->family, remote ? addrs->raddr : addrs->laddr,
		       htons(port));
}

static inline void onramp_trace_conn(void *src, void *dest, const struct onramp_conn *conn)
{
	onramp_trace_addr(src, &conn->peer->addrs, false, conn->key.sport);
	onramp_trace_addr(dest, &conn->peer->addrs, true, conn->key.dport);
}

#endif /* _ONRAMP_TRACE_HELPERS */

/*
 * An OR-ACK with the right tag for a known connection. Values that were not computed are 0.
 * owd: measured delay, base: delay of the empty path, nic: a timestamp of the NIC, slow: rate of a
 * slow path, bytes/s.
 */
TRACE_EVENT(onramp_ack,

	TP_PROTO(const struct onramp_conn *conn, const struct or_ack *ack,
		 const struct onramp_sample *s, const struct onramp_delay *d,
		 const struct onramp_path_result *path_res, const struct onramp_result *res,
		 u8 verdict),

	TP_ARGS(conn, ack, s, d, path_res, res, verdict),

	TP_STRUCT__entry(
		trace_ends(src, dest)
		__field(u64, now_ns)
		__field(u64, rx_ns)
		__field(u64, tx_ns)
		__field(s64, owd_ns)
		__field(s64, baseline_ns)
		__field(u64, threshold_ns)
		__field(u64, limit_ns)
		__field(u64, detour_ns)
		__field(u64, stretch_ns)
		__field(u64, p_bg_ns)
		__field(u64, p_rtt_ns)
		__field(u64, pause_ns)
		__field(u32, beta_m)
		__field(u32, beta)
		__field(u32, seq)
		__field(u32, hold_ns)
		__field(u32, coexist_share)
		__field(u32, slow_bps)
		__field(u8, packets)
		__field(u8, nic)
		__field(u8, verdict)
	),

	TP_fast_assign(
		onramp_trace_conn(__entry->src, __entry->dest, conn);
		__entry->coexist_share = onramp_ppm(path_res->coexist_share);
		/* Not locked any more. */
		__entry->slow_bps = READ_ONCE(conn->peer->path.slow_bps);
		__entry->now_ns = s->now_ns;
		__entry->rx_ns = ack->rx_ns;
		__entry->tx_ns = s->tx_ns;
		__entry->owd_ns = d->owd_ns;
		__entry->baseline_ns = d->baseline_ns;
		__entry->threshold_ns = path_res->threshold_ns;
		__entry->limit_ns = path_res->limit_ns;
		__entry->detour_ns = path_res->detour_ns;
		__entry->stretch_ns = path_res->stretch_ns;
		__entry->p_bg_ns = res->p_bg_ns;
		__entry->p_rtt_ns = res->p_rtt_ns;
		__entry->pause_ns = res->pause_ns;
		__entry->beta_m = onramp_ppm(res->beta_m);
		__entry->beta = onramp_ppm(conn->ctrl.beta);
		__entry->seq = ack->seq;
		__entry->hold_ns = ack->hold_ns;
		__entry->packets = ack->packets;
		__entry->nic = ack->nic;
		__entry->verdict = verdict;
	),

	TP_printk("src=%pISpc dest=%pISpc verdict=%s seq=%u packets=%u nic=%u now=%llu tx=%llu rx=%llu hold=%u base=%lld owd=%lld threshold=%llu p_bg=%llu beta_m=%u beta=%u p_rtt=%llu pause=%llu limit=%llu detour=%llu coexist=%u stretch=%llu slow=%u",
		  __entry->src, __entry->dest,
		  __print_symbolic(__entry->verdict, onramp_trace_verdicts),
		  __entry->seq, __entry->packets, __entry->nic, __entry->now_ns,
		  __entry->tx_ns, __entry->rx_ns, __entry->hold_ns,
		  __entry->baseline_ns, __entry->owd_ns, __entry->threshold_ns,
		  __entry->p_bg_ns, __entry->beta_m, __entry->beta,
		  __entry->p_rtt_ns, __entry->pause_ns, __entry->limit_ns,
		  __entry->detour_ns, __entry->coexist_share,
		  __entry->stretch_ns, __entry->slow_bps)
);

/* The first packet of a path after a pause: did it find the queue empty? */
TRACE_EVENT(onramp_pause_end,

	TP_PROTO(const struct onramp_conn *conn, u64 now_ns, bool empty, u64 owd_ns,
		 u64 slack_ns),

	TP_ARGS(conn, now_ns, empty, owd_ns, slack_ns),

	TP_STRUCT__entry(
		trace_ends(src, dest)
		__field(u64, now_ns)
		__field(u64, owd_ns)
		__field(u64, slack_ns)
		__field(u8, empty)
	),

	TP_fast_assign(
		onramp_trace_conn(__entry->src, __entry->dest, conn);
		__entry->now_ns = now_ns;
		__entry->owd_ns = owd_ns;
		__entry->slack_ns = slack_ns;
		__entry->empty = empty;
	),

	TP_printk("src=%pISpc dest=%pISpc now=%llu empty=%u owd=%llu slack=%llu",
		  __entry->src, __entry->dest, __entry->now_ns, __entry->empty,
		  __entry->owd_ns, __entry->slack_ns)
);

/*
 * The receiver has its senders drain the path: silent: no data leaves for that time, ns; proof: the
 * first packet after it showed the empty path, or void: it did not. base: delay of the empty path
 * before and now, d: of the packet; with the clocks' difference.
 */
TRACE_EVENT(onramp_drain,

	TP_PROTO(const struct onramp_conn *conn, u64 now_ns, u8 says, s64 d_ns, s64 before_ns,
		 s64 after_ns),

	TP_ARGS(conn, now_ns, says, d_ns, before_ns, after_ns),

	TP_STRUCT__entry(
		trace_ends(src, dest)
		__field(u64, now_ns)
		__field(u64, rtt_ns)
		__field(s64, d_ns)
		__field(s64, before_ns)
		__field(s64, after_ns)
		__field(u32, silent_ns)
		__field(u8, says)
	),

	TP_fast_assign(
		onramp_trace_conn(__entry->src, __entry->dest, conn);
		__entry->now_ns = now_ns;
		__entry->rtt_ns = conn->peer->drain.rtt_ns;
		__entry->d_ns = d_ns;
		__entry->before_ns = before_ns;
		__entry->after_ns = after_ns;
		__entry->silent_ns = conn->peer->drain.silent_ns;
		__entry->says = says;
	),

	TP_printk("src=%pISpc dest=%pISpc now=%llu %s silent=%u rtt=%llu d=%lld base=%lld after=%lld",
		  __entry->src, __entry->dest, __entry->now_ns,
		  __print_symbolic(__entry->says, onramp_trace_drain_says),
		  __entry->silent_ns, __entry->rtt_ns, __entry->d_ns, __entry->before_ns,
		  __entry->after_ns)
);

/*
 * Another program told a baseline. base: that of the path until now; after: from now on, the same
 * if the seed was refused with the error. Both are the receiver's clock less the sender's, ns, at
 * now.
 */
TRACE_EVENT(onramp_seed,

	TP_PROTO(const struct or_addrs *addrs, u64 now_ns, const struct or_genl_seed *seed,
		 s64 before_ns, s64 after_ns, int error),

	TP_ARGS(addrs, now_ns, seed, before_ns, after_ns, error),

	TP_STRUCT__entry(
		__array(__u8, to, sizeof(struct sockaddr_in6))
		__field(u64, now_ns)
		__field(s64, before_ns)
		__field(s64, after_ns)
		__field(u64, error_ns)
		__field(u64, left_ns)
		__field(s32, slope)
		__field(int, error)
	),

	TP_fast_assign(
		onramp_trace_addr(__entry->to, addrs, true, 0);
		__entry->now_ns = now_ns;
		__entry->before_ns = before_ns;
		__entry->after_ns = after_ns;
		__entry->error_ns = seed->error_ns;
		__entry->left_ns = seed->left_ns;
		__entry->slope = seed->slope;
		__entry->error = error;
	),

	TP_printk("to=%pISc now=%llu base=%lld after=%lld slope=%d within=%llu left=%llu error=%d",
		  __entry->to, __entry->now_ns, __entry->before_ns, __entry->after_ns,
		  __entry->slope, __entry->error_ns, __entry->left_ns, __entry->error)
);

/* An OR-ACK that is not believed, or of no use. */
TRACE_EVENT(onramp_reject,

	TP_PROTO(const struct or_addrs *addrs, unsigned int len, unsigned int reason),

	TP_ARGS(addrs, len, reason),

	TP_STRUCT__entry(
		__array(__u8, from, sizeof(struct sockaddr_in6))
		__field(u32, len)
		__field(u32, reason)
	),

	TP_fast_assign(
		onramp_trace_addr(__entry->from, addrs, true, OR_PORT);
		__entry->len = len;
		__entry->reason = reason;
	),

	TP_printk("from=%pISpc reason=%s len=%u", __entry->from,
		  __print_symbolic(__entry->reason, onramp_trace_reasons), __entry->len)
);

/* A flow of a qdisc meets a pause, or its pause is over and a packet leaves. */
DECLARE_EVENT_CLASS(onramp_until,

	TP_PROTO(const struct onramp_conn *conn, u64 now_ns, u64 until_ns),

	TP_ARGS(conn, now_ns, until_ns),

	TP_STRUCT__entry(
		trace_ends(src, dest)
		__field(u64, now_ns)
		__field(u64, until_ns)
	),

	TP_fast_assign(
		onramp_trace_conn(__entry->src, __entry->dest, conn);
		__entry->now_ns = now_ns;
		__entry->until_ns = until_ns;
	),

	TP_printk("src=%pISpc dest=%pISpc now=%llu until=%llu", __entry->src,
		  __entry->dest, __entry->now_ns, __entry->until_ns)
);

#define DEFINE_UNTIL_EVENT(name)						\
DEFINE_EVENT(onramp_until, name,						\
	TP_PROTO(const struct onramp_conn *conn, u64 now_ns, u64 until_ns),	\
	TP_ARGS(conn, now_ns, until_ns))

DEFINE_UNTIL_EVENT(onramp_hold);
DEFINE_UNTIL_EVENT(onramp_release);

/* A new connection starts with the delay of its path. */
DEFINE_UNTIL_EVENT(onramp_inherit);

/* A pause became shorter while a flow waited for it. */
DEFINE_UNTIL_EVENT(onramp_shorter);

/* A gap after a pause, which was over at until, ends: the path is empty. */
DEFINE_UNTIL_EVENT(onramp_go_on);

/* Data is sent again, and a queue explains its loss: peak is its highest delay just before. */
TRACE_EVENT(onramp_lost,

	TP_PROTO(const struct onramp_conn *conn, u64 now_ns, u64 peak_ns),

	TP_ARGS(conn, now_ns, peak_ns),

	TP_STRUCT__entry(
		trace_ends(src, dest)
		__field(u64, now_ns)
		__field(u64, peak_ns)
	),

	TP_fast_assign(
		onramp_trace_conn(__entry->src, __entry->dest, conn);
		__entry->now_ns = now_ns;
		__entry->peak_ns = peak_ns;
	),

	TP_printk("src=%pISpc dest=%pISpc now=%llu peak=%llu", __entry->src, __entry->dest,
		  __entry->now_ns, __entry->peak_ns)
);

/* Data leaves: tx is when it starts on the wire by the model. */
TRACE_EVENT(onramp_sent,

	TP_PROTO(const struct onramp_conn *conn, u64 now_ns, u64 tx_ns, u32 start, u32 end,
		 u64 cum_ns),

	TP_ARGS(conn, now_ns, tx_ns, start, end, cum_ns),

	TP_STRUCT__entry(
		trace_ends(src, dest)
		__field(u64, now_ns)
		__field(u64, tx_ns)
		__field(u64, cum_ns)
		__field(u32, start)
		__field(u32, end)
	),

	TP_fast_assign(
		onramp_trace_conn(__entry->src, __entry->dest, conn);
		__entry->now_ns = now_ns;
		__entry->tx_ns = tx_ns;
		__entry->cum_ns = cum_ns;
		__entry->start = start;
		__entry->end = end;
	),

	TP_printk("src=%pISpc dest=%pISpc now=%llu tx=%llu start=%u end=%u cum_pause=%llu",
		  __entry->src, __entry->dest, __entry->now_ns, __entry->tx_ns,
		  __entry->start, __entry->end, __entry->cum_ns)
);

/* A SUBSCRIBE: tries since the last OR-ACK; error of sending it, or of the port. */
TRACE_EVENT(onramp_subscribe,

	TP_PROTO(const struct or_addrs *addrs, u32 count, u16 lifetime_s,
		 unsigned int tries, int error),

	TP_ARGS(addrs, count, lifetime_s, tries, error),

	TP_STRUCT__entry(
		__array(__u8, to, sizeof(struct sockaddr_in6))
		__field(u32, count)
		__field(u16, lifetime_s)
		__field(u32, tries)
		__field(int, error)
	),

	TP_fast_assign(
		onramp_trace_addr(__entry->to, addrs, true, OR_PORT);
		__entry->count = count;
		__entry->lifetime_s = lifetime_s;
		__entry->tries = tries;
		__entry->error = error;
	),

	TP_printk("to=%pISpc count=%u lifetime=%u tries=%u error=%d", __entry->to,
		  __entry->count, __entry->lifetime_s, __entry->tries, __entry->error)
);

#endif /* _ONRAMP_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE onramp_trace
#include <trace/define_trace.h>
