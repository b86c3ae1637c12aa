/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queueing disciplines:
 *  - 7.x: struct qdisc_skb_cb has the number of segments beside the length. Who cuts a
 *    packet sets both with compat_qdisc_skb_len(segment, length);
 *  - 7.x: the queue length is read without the qdisc's lock, and changed by
 *    qdisc_qlen_inc() and qdisc_qlen_dec();
 *  - after 6.1, qdisc_drop_reason(), whose reasons have moved from SKB_DROP_REASON_FQ_*
 *    to QDISC_DROP_*. compat_qdisc_drop(skb, sch, to_free, FLOW_LIMIT) gives the one
 *    that there is, or none.
 */
#ifndef _ONRAMP_COMPAT_QDISC_H
#define _ONRAMP_COMPAT_QDISC_H

#ifdef COMPAT_HAS_QDISC_PKT_SEGS
#define compat_qdisc_skb_len(skb, len) do {				\
	struct qdisc_skb_cb *_cb = qdisc_skb_cb(skb);			\
									\
	_cb->pkt_len = len;						\
	_cb->pkt_segs = 1;						\
} while (0)
#else
#define compat_qdisc_skb_len(skb, len)	(qdisc_skb_cb(skb)->pkt_len = (len))
#endif

#ifndef COMPAT_HAS_QDISC_QLEN_INC
#define qdisc_qlen_inc(sch)		((sch)->q.qlen++)
#define qdisc_qlen_dec(sch)		((sch)->q.qlen--)
#endif

#if defined(COMPAT_HAS_QDISC_DROP_REASON) && defined(COMPAT_HAS_QDISC_DROP_FLOW_LIMIT)
#define compat_qdisc_drop(skb, sch, to_free, why)			\
	qdisc_drop_reason(skb, sch, to_free, QDISC_DROP_##why)
#elif defined(COMPAT_HAS_QDISC_DROP_REASON) && defined(COMPAT_HAS_SKB_DROP_REASON_FQ)
#define compat_qdisc_drop(skb, sch, to_free, why)			\
	qdisc_drop_reason(skb, sch, to_free, SKB_DROP_REASON_FQ_##why)
#else
#define compat_qdisc_drop(skb, sch, to_free, why)	qdisc_drop(skb, sch, to_free)
#endif

#endif /* _ONRAMP_COMPAT_QDISC_H */
