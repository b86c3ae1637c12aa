// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: connections that are closed, or whose peer was evicted
 *
 *	each second, while there are connections:
 *	  closed, or its peer was evicted: its flows let go of it
 *
 * Only this goes from connections to flows: it takes the lock of their qdisc.
 */
#include <linux/ktime.h>
#include <net/inet_hashtables.h>
#include <net/pkt_sched.h>

#include "onramp_flow.h"

/* Connections that onramp_conn_age() looks at under RCU at a time, and drops at a time. */
#define ONRAMP_AGE_LOOK		256
#define ONRAMP_AGE_BATCH	32

/* Looking at 2^16 connections takes some 10 ms of a CPU: with more, do it less often. */
#define ONRAMP_AGE_SHIFT	16

/*
 * May the connection still send data? Its socket is in TCP's table until it is closed. Look
 * for its address in the one chain that can hold it. So no reference is needed: a socket that
 * reuses its memory is nearly always in another chain.
 */
static bool onramp_conn_open(const struct onramp_conn *conn)
{
	const u32 open = TCPF_ESTABLISHED | TCPF_SYN_SENT | TCPF_SYN_RECV | TCPF_FIN_WAIT1 |
			 TCPF_CLOSE_WAIT | TCPF_CLOSING | TCPF_LAST_ACK;
	struct inet_hashinfo *table = compat_tcp_hashinfo(conn->peer->onet->net);
	const struct inet_ehash_bucket *head;
	const struct hlist_nulls_node *node;
	unsigned long addr;
	struct sock *sk;
	u32 hash;

	addr = READ_ONCE(conn->sk);
	hash = READ_ONCE(conn->hash);
	head = inet_ehash_bucket(table, hash);
begin:
	sk_nulls_for_each_rcu(sk, node, &head->chain)
		if ((unsigned long)sk == addr)
			return (1U << READ_ONCE(sk->sk_state)) & open;
	/* The walk ended in another chain, since a socket was moved there meanwhile. */
	if (get_nulls_value(node) != (hash & table->ehash_mask))
		goto begin;
	return false;
}

/* When data last left, or the connection was attached. */
static u64 onramp_conn_last(const struct onramp_conn *conn)
{
	return max(READ_ONCE(conn->ring.sent_ns), READ_ONCE(conn->seen_ns));
}

/* May the connection still send data? */
static bool onramp_conn_lives(const struct onramp_conn *conn, u64 now)
{
	/* All are written by the qdisc. Pairs with onramp_conn_own(). */
	if (smp_load_acquire(&conn->forwarded))
		return !onramp_fwd_is_old(onramp_conn_last(conn), READ_ONCE(conn->closed), now);
	/* That namespace may have a table of its own, and may go. */
	if (READ_ONCE(conn->other_netns))
		return !onramp_fwd_is_old(onramp_conn_last(conn), false, now);
	/* One that sent in the last second is open. */
	return now - READ_ONCE(conn->ring.sent_ns) < NSEC_PER_SEC || onramp_conn_open(conn);
}

/* Find up to ONRAMP_AGE_BATCH connections to drop, each with a reference; set @more. */
static unsigned int onramp_conns_closed(struct rhashtable_iter *iter, struct onramp_conn **conns,
					bool *more)
{
	u64 now = ktime_get_ns();
	unsigned int looks, n = 0;
	struct onramp_conn *conn;

	*more = true;
	rhashtable_walk_start(iter);
	for (looks = 0; looks < ONRAMP_AGE_LOOK && n < ONRAMP_AGE_BATCH; looks++) {
		conn = rhashtable_walk_next(iter);
		if (!conn) {
			*more = false;
			break;
		}
		/* The table grows: some are seen twice. */
		if (IS_ERR(conn))
			continue;
		if (!READ_ONCE(conn->peer->evicted) && onramp_conn_lives(conn, now))
			continue;
		if (refcount_inc_not_zero(&conn->refs))
			conns[n++] = conn;
	}
	rhashtable_walk_stop(iter);
	return n;
}

/*
 * Call onramp_flow_detach() for a qdisc that is in use or not. The caller holds a reference of each
 * of the connections, and RCU.
 */
static void onramp_flows_detach(struct onramp_qdisc_shared *shared, struct onramp_conn **conns,
				unsigned int n)
{
	struct Qdisc *sch = READ_ONCE(shared->sch), *root;
	unsigned int i;

	/* RCU keeps its memory, and the queue that it is of. */
	if (!sch)
		return;
	root = qdisc_root(sch);
	/* The device is down. When it was taken down the flows have gone. */
	if (root->flags & TCQ_F_BUILTIN)
		return;
	spin_lock_bh(qdisc_lock(root));
	/*
	 * Code that takes the qdisc away without the lock calls onramp_shared_disarm() first. Code
	 * that puts it below another root waits for RCU before it is used there.
	 */
	spin_lock(&shared->lock);
	if (shared->sch == sch && qdisc_root(sch) == root)
		for (i = 0; i < n; i++)
			onramp_flow_detach(qdisc_priv(sch), conns[i]);
	spin_unlock(&shared->lock);
	spin_unlock_bh(qdisc_lock(root));
}

/* Take closed connections from their flows, and drop the caller's references. */
static void onramp_conns_drop(struct onramp_net *onet, struct onramp_conn **conns, unsigned int n)
{
	struct onramp_conn *rest[ONRAMP_AGE_BATCH];
	struct onramp_qdisc_shared *shared;
	unsigned int i, left = 0;

	rcu_read_lock();
	/* Nearly always the qdisc that sent last has the flow. */
	for (i = 0; i < n; i++) {
		spin_lock_bh(&conns[i]->lock);
		shared = conns[i]->shared;
		spin_unlock_bh(&conns[i]->lock);
		/* RCU keeps it. */
		if (shared)
			onramp_flows_detach(shared, &conns[i], 1);
		if (refcount_read(&conns[i]->refs) > 1)
			rest[left++] = conns[i];
	}
	if (left)
		list_for_each_entry_rcu(shared, &onet->qdiscs, list)
			onramp_flows_detach(shared, rest, left);
	rcu_read_unlock();
	for (i = 0; i < n; i++) {
		if (refcount_read(&conns[i]->refs) == 1 && !READ_ONCE(conns[i]->peer->evicted))
			onramp_net_count(onet, ONRAMP_N_CLOSED);
		onramp_conn_put(conns[i]);
	}
}

/* onramp_conn_age() - release closed connections: onramp_net.age_work; process context */
void onramp_conn_age(struct work_struct *work)
{
	struct onramp_net *onet = container_of(to_delayed_work(work), struct onramp_net, age_work);
	struct onramp_conn *conns[ONRAMP_AGE_BATCH];
	struct rhashtable_iter iter;
	unsigned int n;
	bool more;

	rhashtable_walk_enter(&onet->conns, &iter);
	do {
		n = onramp_conns_closed(&iter, conns, &more);
		onramp_conns_drop(onet, conns, n);
		cond_resched();
	} while (more);
	rhashtable_walk_exit(&iter);
	n = atomic_read(&onet->n_conns);
	if (n)
		queue_delayed_work(onramp_wq, &onet->age_work,
				   HZ + HZ * (n >> ONRAMP_AGE_SHIFT));
}
