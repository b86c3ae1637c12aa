// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: flows, the packets in them, and the table they are found in
 *
 *	table:	hash of the key -> tree of flows by key
 *	flow:	packets that leave in the order they came in: a list
 *		packets with an earlier EDT than one before them: a tree
 *
 * A flow stays in the table when its last packet has left, for the next one. When a
 * key is new, a few flows on the way to its place that have been idle for long are freed. So
 * the table does not fill with idle flows, and no timer has to walk it.
 */
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "onramp_flow.h"
#include "onramp_fwd_table.h"
#include "onramp_turn.h"

/* A flow may be forgotten once it has been idle for longer, ns. */
#define ONRAMP_GC_AGE_NS	(3 * NSEC_PER_SEC)

/* Flows that are forgotten when one is added, at most. */
#define ONRAMP_GC_MAX		8

/* After its peer was evicted a flow is not followed for this long, ns. */
#define ONRAMP_EVICTED_NS	(60 * NSEC_PER_SEC)

static struct kmem_cache *onramp_flow_cache;

/* onramp_flow_cache_create() - make the cache of flows; return 0 or -ENOMEM */
int onramp_flow_cache_create(void)
{
	BUILD_BUG_ON(offsetof(struct onramp_flow, node) > 64);
	BUILD_BUG_ON(sizeof(struct onramp_flow) > 128);
	onramp_flow_cache = kmem_cache_create("onramp_flow", sizeof(struct onramp_flow), 0,
					      SLAB_HWCACHE_ALIGN, NULL);
	return onramp_flow_cache ? 0 : -ENOMEM;
}

/* onramp_flow_cache_destroy() - undo onramp_flow_cache_create(); no flow is left. */
void onramp_flow_cache_destroy(void)
{
	kmem_cache_destroy(onramp_flow_cache);
}

/* Packets of a flow -------------------------------------------------------- */

static bool onramp_skb_earlier(struct rb_node *node, const struct rb_node *other)
{
	return onramp_cb(rb_to_skb(node))->time_to_send < onramp_cb(rb_to_skb(other))->time_to_send;
}

/* onramp_flow_reorder() - queue a packet that leaves before the last one; qdisc's lock */
void onramp_flow_reorder(struct onramp_flow *f, struct sk_buff *skb)
{
	rb_add(&skb->rbnode, &f->reordered, onramp_skb_earlier);
	f->sorts = true;
}

/**
 * onramp_flow_unlink() - take a packet out of its flow
 * @sch: the qdisc
 * @f: the flow
 * @prev: the packet before it in the list, NULL if there is none or it is in the tree
 * @skb: the packet
 *
 * Context: the qdisc's lock.
 */
void onramp_flow_unlink(struct Qdisc *sch, struct onramp_flow *f, struct sk_buff *prev,
			struct sk_buff *skb)
{
	if (prev || skb == f->head) {
		if (prev)
			prev->next = skb->next;
		else
			f->head = skb->next;
		if (f->tail == skb)
			f->tail = prev;
	} else {
		rb_erase(&skb->rbnode, &f->reordered);
		f->sorts = !RB_EMPTY_ROOT(&f->reordered);
		/* The node has been in its place. */
		skb->dev = qdisc_dev(sch);
	}
	onramp_flow_removed(sch, f, skb);
}

/* The table ---------------------------------------------------------------- */

static int onramp_key_cmp(const void *key, const struct rb_node *node)
{
	unsigned long a = *(const unsigned long *)key;
	unsigned long b = rb_entry(node, struct onramp_flow, node)->key;

	return a < b ? -1 : a > b;
}

static bool onramp_key_less(struct rb_node *node, const struct rb_node *other)
{
	return rb_entry(node, struct onramp_flow, node)->key <
	       rb_entry(other, struct onramp_flow, node)->key;
}

/* Drop the connection of a flow that goes, or that is another socket's now. */
static void onramp_flow_release(struct onramp_flow *f)
{
	if (f->conn)
		onramp_conn_put(f->conn);
	f->conn = NULL;
}

static void onramp_flow_free(struct onramp_sched *q, struct onramp_flow *f)
{
	onramp_flow_release(f);
	if (onramp_flow_forwarded(f))
		onramp_fwd_unbind(q->shared, f);
	kmem_cache_free(onramp_flow_cache, f);
}

/* Forget flows on the way to where @key belongs that have been idle for long. */
static void onramp_gc(struct onramp_sched *q, struct rb_root *root, unsigned long key)
{
	struct onramp_flow *old[ONRAMP_GC_MAX];
	struct rb_node *node = root->rb_node;
	int n = 0, i;

	while (node && n < ONRAMP_GC_MAX) {
		struct onramp_flow *f = rb_entry(node, struct onramp_flow, node);

		if (f->state == ONRAMP_IDLE && f != q->fast_flow &&
		    q->now_ns - f->idle_ns > ONRAMP_GC_AGE_NS)
			old[n++] = f;
		node = key < f->key ? node->rb_left : node->rb_right;
	}
	for (i = 0; i < n; i++) {
		if (q->last == old[i])
			q->last = &q->fast;
		rb_erase(&old[i]->node, root);
		onramp_flow_free(q, old[i]);
	}
	q->stats[ONRAMP_STATS_FLOWS] -= n;
	q->stats[ONRAMP_STATS_INACTIVE] -= n;
	q->stats[ONRAMP_STATS_GC] += n;
}

/* Initialise a flow that is new, or whose key now belongs to another socket. */
static void onramp_flow_begin(struct onramp_sched *q, struct onramp_flow *f, struct sock *sk)
{
	f->credit = q->cfg.initial_quantum;
	f->hash = sk ? sk->sk_hash : 0;
	f->time_next_packet = 0;
	f->rated = false;
	onramp_flow_release(f);
	f->tried = 0;
}

/* onramp_flow_find() - return the flow of a key, or NULL; the qdisc's lock */
struct onramp_flow *onramp_flow_find(struct onramp_sched *q, unsigned long key)
{
	struct rb_node *node = rb_find(&key, &q->table[hash_long(key, q->table_log)],
				       onramp_key_cmp);

	return node ? rb_entry(node, struct onramp_flow, node) : NULL;
}

/**
 * onramp_flow_detach() - take a connection from its flow
 * @q: the qdisc
 * @conn: connection, of which the caller holds a reference
 *
 * A flow that waits for the end of a pause keeps it until then. If the peer was evicted, the
 * flow does not get a connection again for a while, so that others have their turn.
 *
 * Context: the qdisc's lock.
 */
void onramp_flow_detach(struct onramp_sched *q, struct onramp_conn *conn)
{
	struct onramp_flow *f = onramp_flow_find(q, READ_ONCE(conn->sk));

	if (!f || f->conn != conn || f->state == ONRAMP_THROTTLED)
		return;
	f->conn = NULL;
	f->tried = READ_ONCE(conn->peer->evicted) ?
		onramp_tick(ktime_get_ns() + ONRAMP_EVICTED_NS) : 0;
	refcount_dec(&conn->refs);
}

/**
 * onramp_flows_release() - take connections from flows, after a change of settings
 * @q: the qdisc
 *
 * With On-Ramp off from all flows, else from those whose peer is not near any more, and with
 * forward off from those without a socket of this namespace.
 *
 * Context: the qdisc's lock.
 */
void onramp_flows_release(struct onramp_sched *q)
{
	u64 i, n = q->table ? 1ULL << q->table_log : 0;
	struct onramp_flow *f, *next;

	for (i = 0; i < n; i++) {
		rbtree_postorder_for_each_entry_safe(f, next, &q->table[i], node) {
			if (q->cfg.mode != ONRAMP_MODE_OFF && f->conn &&
			    (q->forwards || !(onramp_flow_forwarded(f) || f->conn->other_netns)) &&
			    onramp_is_near(READ_ONCE(f->conn->peer->rtt_us), q->cfg.peers))
				continue;
			onramp_flow_release(f);
			f->tried = 0;
		}
	}
}

/**
 * __onramp_flow_find_or_create() - find or create a flow that was not the last one
 * @q: the qdisc
 * @key: of the flow
 * @sk: its socket, or NULL
 *
 * Context: the qdisc's lock.
 * Return: the flow, or NULL if there is no memory for it.
 */
struct onramp_flow *__onramp_flow_find_or_create(struct onramp_sched *q, unsigned long key,
						 struct sock *sk)
{
	struct rb_root *root = &q->table[hash_long(key, q->table_log)];
	struct rb_node *node = rb_find(&key, root, onramp_key_cmp);
	struct onramp_flow *f;

	if (node) {
		f = rb_entry(node, struct onramp_flow, node);
		q->last = f;
		/* The socket is gone, and another one has its memory. */
		if (sk && f->hash != sk->sk_hash) {
			if (f->state == ONRAMP_THROTTLED)
				onramp_unthrottle(q, f);
			onramp_flow_begin(q, f, sk);
		}
		return f;
	}
	onramp_gc(q, root, key);
	f = kmem_cache_zalloc(onramp_flow_cache, GFP_ATOMIC | __GFP_NOWARN);
	if (!f)
		return NULL;
	f->key = key;
	f->state = ONRAMP_IDLE;
	f->idle_ns = q->now_ns;
	onramp_flow_begin(q, f, sk);
	rb_add(&f->node, root, onramp_key_less);
	q->last = f;
	q->stats[ONRAMP_STATS_FLOWS]++;
	q->stats[ONRAMP_STATS_INACTIVE]++;
	return f;
}

/* onramp_table_alloc() - make an empty table of a power of two @buckets, or NULL; may sleep */
struct rb_root *onramp_table_alloc(const struct Qdisc *sch, u64 buckets)
{
	/* An empty tree is a pointer that is NULL. */
	return kvzalloc_node(buckets * sizeof(struct rb_root),
			     GFP_KERNEL | __GFP_RETRY_MAYFAIL,
			     netdev_queue_numa_node_read(sch->dev_queue));
}

/**
 * onramp_table_swap() - move all flows to another table
 * @q: the qdisc
 * @table: the other one, of onramp_table_alloc()
 * @buckets: its size
 *
 * Context: the qdisc's lock.
 * Return: the former table, for onramp_table_free(); NULL if there was none.
 */
struct rb_root *onramp_table_swap(struct onramp_sched *q, struct rb_root *table, u64 buckets)
{
	u64 i, n = q->table ? 1ULL << q->table_log : 0;
	struct rb_root *old = q->table;
	u32 log = ilog2(buckets);

	for (i = 0; i < n; i++) {
		struct rb_node *node;

		while ((node = rb_first(&old[i]))) {
			struct onramp_flow *f = rb_entry(node, struct onramp_flow, node);

			rb_erase(node, &old[i]);
			rb_add(node, &table[hash_long(f->key, log)], onramp_key_less);
		}
	}
	q->table = table;
	q->table_log = log;
	return old;
}

/* onramp_table_free() - free a table without flows, or NULL; may sleep. */
void onramp_table_free(struct rb_root *table)
{
	kvfree(table);
}

/* Dropping packets -------------------------------------------------- */

static void onramp_flow_purge(struct Qdisc *sch, struct onramp_flow *f)
{
	struct onramp_sched *q = qdisc_priv(sch);
	struct sk_buff *skb;

	while ((skb = onramp_flow_peek(f))) {
		onramp_flow_remove(sch, f, skb);
		rtnl_kfree_skbs(skb, skb);
		q->stats[ONRAMP_STATS_PURGED]++;
	}
}

/*
 * onramp_purge() - drop all packets and forget all flows; the bands and the tree of throttled flows
 * still name them. The qdisc's lock and RTNL.
 */
void onramp_purge(struct Qdisc *sch)
{
	struct onramp_sched *q = qdisc_priv(sch);
	u64 i, n = q->table ? 1ULL << q->table_log : 0;
	struct onramp_flow *f, *next;

	onramp_flow_purge(sch, &q->fast);
	for (i = 0; i < n; i++) {
		rbtree_postorder_for_each_entry_safe(f, next, &q->table[i], node) {
			onramp_flow_purge(sch, f);
			onramp_flow_free(q, f);
		}
		q->table[i] = RB_ROOT;
	}
	q->last = &q->fast;
	q->stats[ONRAMP_STATS_FLOWS] = 0;
	q->stats[ONRAMP_STATS_INACTIVE] = 0;
	q->stats[ONRAMP_STATS_FLOWS_THROTTLED] = 0;
}

static bool onramp_band_full(const struct onramp_sched *q, u8 band)
{
	return q->stats[ONRAMP_STATS_BAND0_PKTS + band] > q->cfg.limit;
}

/* Drop the oldest packet of a flow that is in a band with too many. */
static unsigned int onramp_flow_trim(struct Qdisc *sch, struct onramp_flow *f)
{
	struct onramp_sched *q = qdisc_priv(sch);
	struct sk_buff *skb, *prev = NULL;
	unsigned int len;

	for (skb = f->head; skb; prev = skb, skb = skb->next)
		if (onramp_band_full(q, onramp_cb(skb)->band))
			break;
	if (!skb) {
		prev = NULL;
		skb_rbtree_walk(skb, &f->reordered)
			if (onramp_band_full(q, onramp_cb(skb)->band))
				break;
	}
	if (!skb)
		return 0;
	len = qdisc_pkt_len(skb);
	onramp_flow_unlink(sch, f, prev, skb);
	rtnl_qdisc_drop(skb, sch);
	q->stats[ONRAMP_STATS_CHANGE_DROPS]++;
	return len;
}

/* At most one packet of each flow. */
static unsigned int onramp_trim_round(struct Qdisc *sch, u8 band)
{
	struct onramp_sched *q = qdisc_priv(sch);
	unsigned int bytes = onramp_flow_trim(sch, &q->fast);
	u64 i, n = 1ULL << q->table_log;
	struct onramp_flow *f, *next;

	for (i = 0; i < n && onramp_band_full(q, band); i++)
		rbtree_postorder_for_each_entry_safe(f, next, &q->table[i], node)
			bytes += onramp_flow_trim(sch, f);
	return bytes;
}

/*
 * onramp_trim() - drop packets until no band has more than its limit: one of each flow in turn, so
 * that none loses more than others. The qdisc's lock and RTNL.
 */
void onramp_trim(struct Qdisc *sch)
{
	struct onramp_sched *q = qdisc_priv(sch);
	u64 before = q->stats[ONRAMP_STATS_CHANGE_DROPS];
	unsigned int bytes = 0;
	u8 band;

	for (band = 0; band < ONRAMP_BANDS; band++)
		while (onramp_band_full(q, band))
			bytes += onramp_trim_round(sch, band);
	/* A qdisc that is being made has no place in the tree to tell from. */
	if (q->stats[ONRAMP_STATS_CHANGE_DROPS] != before)
		qdisc_tree_reduce_backlog(sch, q->stats[ONRAMP_STATS_CHANGE_DROPS] - before,
					  bytes);
}
