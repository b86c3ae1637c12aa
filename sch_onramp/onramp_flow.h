/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flows: how a packet finds its flow, and comes in and leaves
 */
#ifndef _SCH_ONRAMP_FLOW_H
#define _SCH_ONRAMP_FLOW_H

#include "onramp.h"

int onramp_flow_cache_create(void);
void onramp_flow_cache_destroy(void);
struct onramp_flow *__onramp_flow_find_or_create(struct onramp_sched *q, unsigned long key,
						 struct sock *sk);
void onramp_flow_reorder(struct onramp_flow *f, struct sk_buff *skb);
void onramp_flow_unlink(struct Qdisc *sch, struct onramp_flow *f, struct sk_buff *prev,
			struct sk_buff *skb);
struct onramp_flow *onramp_flow_find(struct onramp_sched *q, unsigned long key);
void onramp_flow_detach(struct onramp_sched *q, struct onramp_conn *conn);
void onramp_flows_release(struct onramp_sched *q);
struct rb_root *onramp_table_alloc(const struct Qdisc *sch, u64 buckets);
struct rb_root *onramp_table_swap(struct onramp_sched *q, struct rb_root *table, u64 buckets);
void onramp_table_free(struct rb_root *table);
void onramp_purge(struct Qdisc *sch);
void onramp_trim(struct Qdisc *sch);

/**
 * onramp_flow_sk() - return the socket that is the flow of a packet
 * @skb: the packet; it is orphaned if its socket is not one that sends at a rate
 *
 * Connection requests, listeners and sockets in TIME-WAIT do not send at a rate: their
 * packets belong to the flow of a hash. So do those of a socket that is not connected, which
 * may send to many destinations. Sockets are at even addresses, so an odd key is a hash.
 *
 * Context: the qdisc's lock.
 * Return: the socket, whose address is the key; NULL: the flow is a forwarded connection, or the
 *	key is that of onramp_flow_hash_key().
 */
static inline struct sock *onramp_flow_sk(struct sk_buff *skb)
{
	const u32 none = TCPF_CLOSE | TCPF_LISTEN | TCPF_TIME_WAIT | TCPF_NEW_SYN_RECV;
	struct sock *sk = skb->sk;

	if (likely(sk && !((1U << READ_ONCE(sk->sk_state)) & none)))
		return sk;
	if (!sk || !sk_fullsock(sk) || READ_ONCE(sk->sk_state) == TCP_LISTEN)
		skb_orphan(skb);
	return NULL;
}

/* onramp_flow_acks_key() - return the key of a connection's pure ACKs, no address of a socket */
static inline unsigned long onramp_flow_acks_key(const struct sock *sk)
{
	return (unsigned long)sk | ONRAMP_KEY_ACKS;
}

/* onramp_flow_hash_key() - return the odd key of a packet without an own socket; qdisc's lock */
static inline unsigned long onramp_flow_hash_key(const struct onramp_sched *q, struct sk_buff *skb)
{
	return (unsigned long)(skb_get_hash(skb) & q->cfg.orphan_mask) << ONRAMP_KEY_SHIFT |
	       ONRAMP_KEY_HASH;
}

/**
 * onramp_flow_find_or_create() - find or create a flow
 * @q: the qdisc
 * @key: of the flow
 * @sk: its socket, or NULL
 *
 * Context: the qdisc's lock.
 * Return: the flow, or NULL if there is no memory for it.
 */
static inline struct onramp_flow *
onramp_flow_find_or_create(struct onramp_sched *q, unsigned long key, struct sock *sk)
{
	struct onramp_flow *f = q->last;

	if (f->key == key && (!sk || f->hash == sk->sk_hash))
		return f;
	return __onramp_flow_find_or_create(q, key, sk);
}

/* onramp_flow_peek() - return the packet that leaves next, or NULL; it stays. Qdisc's lock */
static inline struct sk_buff *onramp_flow_peek(const struct onramp_flow *f)
{
	struct sk_buff *skb;

	if (likely(!f->sorts))
		return f->head;
	skb = skb_rb_first(&f->reordered);
	if (f->head && onramp_cb(f->head)->time_to_send <= onramp_cb(skb)->time_to_send)
		return f->head;
	return skb;
}

/* onramp_flow_added() - account for a packet that is in its flow now */
static inline void onramp_flow_added(struct Qdisc *sch, struct onramp_flow *f,
				     struct sk_buff *skb)
{
	struct onramp_sched *q = qdisc_priv(sch);

	f->qlen++;
	q->stats[ONRAMP_STATS_BAND0_PKTS + onramp_cb(skb)->band]++;
	qdisc_qstats_backlog_inc(sch, skb);
	qdisc_qlen_inc(sch);
}

/**
 * onramp_flow_add() - queue a packet
 * @sch: the qdisc
 * @f: the flow
 * @skb: the packet, with its onramp_cb
 *
 * Packets of the same time keep their order.
 *
 * Context: the qdisc's lock.
 */
static inline void onramp_flow_add(struct Qdisc *sch, struct onramp_flow *f, struct sk_buff *skb)
{
	onramp_flow_added(sch, f, skb);
	if (f->head && onramp_cb(skb)->time_to_send < onramp_cb(f->tail)->time_to_send) {
		onramp_flow_reorder(f, skb);
		return;
	}
	if (f->head)
		f->tail->next = skb;
	else
		f->head = skb;
	f->tail = skb;
	skb->next = NULL;
}

/* onramp_flow_removed() - account for a packet that has left its flow */
static inline void onramp_flow_removed(struct Qdisc *sch, struct onramp_flow *f,
				       struct sk_buff *skb)
{
	struct onramp_sched *q = qdisc_priv(sch);

	skb_mark_not_on_list(skb);
	if (!--f->qlen && f != &q->fast)
		q->stats[ONRAMP_STATS_INACTIVE]++;
	q->stats[ONRAMP_STATS_BAND0_PKTS + onramp_cb(skb)->band]--;
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_qlen_dec(sch);
}

/* onramp_flow_remove() - take the packet of onramp_flow_peek() out of its flow; the qdisc's lock */
static inline void onramp_flow_remove(struct Qdisc *sch, struct onramp_flow *f,
				      struct sk_buff *skb)
{
	if (unlikely(skb != f->head)) {
		onramp_flow_unlink(sch, f, NULL, skb);
		return;
	}
	/* f->tail is not looked at while there is no f->head. */
	f->head = skb->next;
	onramp_flow_removed(sch, f, skb);
}

#endif /* _SCH_ONRAMP_FLOW_H */
