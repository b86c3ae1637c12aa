// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: connections
 *
 *	a flow of a qdisc sends TCP data for the first time:
 *	  find or make the control block of its connection, and its peer
 *	  the path's last delay is fresh: pause for it (inherit)
 *
 *	each second, while there are connections:
 *	  closed, or its peer was evicted: its flows let go of the control block
 *
 *	data leaves the qdisc:
 *	  record: sequence numbers, start on the wire (onramp_fifo.h), time paused so far
 *
 * OR-ACKs change them: onramp_ack.c. The lifetime of gates, the controller's side of a
 * qdisc, is here, too.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <net/inet_hashtables.h>
#include <net/pkt_sched.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "onramp_conn.h"

#define CREATE_TRACE_POINTS
#include "onramp_trace.h"

/* What is looked at for closed connections with RCU held, and what is then let go of. */
#define ONRAMP_AGE_LOOK		256
#define ONRAMP_AGE_BATCH	32

/* Of so many connections, 2^16, a look takes some 10 ms of a CPU: not each second then. */
#define ONRAMP_AGE_SHIFT	16

static struct kmem_cache *onramp_ctl_cache;

/* The table of connections of a namespace. */
const struct rhashtable_params onramp_ctl_table = {
	.key_len		= sizeof(struct onramp_ctl_key),
	.key_offset		= offsetof(struct onramp_ctl, key),
	.head_offset		= offsetof(struct onramp_ctl, node),
	.automatic_shrinking	= true,
};

/**
 * onramp_ctl_cache_create() - make the cache of control blocks
 *
 * Context: the module is loaded.
 * Return: 0 or -ENOMEM.
 */
int onramp_ctl_cache_create(void)
{
	/* Two cache lines for a packet that leaves. */
	BUILD_BUG_ON(IS_ENABLED(CONFIG_64BIT) &&
		     offsetof(struct onramp_ctl, cum_ns) !=
		     offsetof(struct onramp_ctl, until) + 64);
	onramp_ctl_cache = kmem_cache_create("onramp_ctl", sizeof(struct onramp_ctl), 0,
					     SLAB_HWCACHE_ALIGN, NULL);
	return onramp_ctl_cache ? 0 : -ENOMEM;
}

/* onramp_ctl_cache_destroy() - wait for control blocks that are being freed; none is left. */
void onramp_ctl_cache_destroy(void)
{
	rcu_barrier();
	kmem_cache_destroy(onramp_ctl_cache);
}

/* Gates -------------------------------------------------------------------- */

/**
 * onramp_gate_create() - make the gate of a new qdisc
 * @dev: its device
 *
 * Context: may sleep.
 * Return: the gate, with one reference and without settings; NULL: no memory.
 */
struct onramp_gate *onramp_gate_create(const struct net_device *dev)
{
	struct onramp_gate *gate = kzalloc(sizeof(*gate), GFP_KERNEL);
	struct onramp_net *on = onramp_net(dev_net(dev));

	if (!gate)
		return NULL;
	gate->stats = netdev_alloc_pcpu_stats(struct onramp_gate_stats);
	if (!gate->stats) {
		kfree(gate);
		return NULL;
	}
	refcount_set(&gate->refs, 1);
	gate->on = on;
	gate->dev = dev;
	spin_lock_init(&gate->lock);
	init_llist_head(&gate->recheck);
	spin_lock_bh(&on->lock);
	list_add_rcu(&gate->list, &on->gates);
	spin_unlock_bh(&on->lock);
	return gate;
}

static void onramp_gate_free(struct rcu_head *rcu)
{
	struct onramp_gate *gate = container_of(rcu, struct onramp_gate, rcu);

	kfree(rcu_dereference_protected(gate->settings, true));
	free_percpu(gate->stats);
	kfree(gate);
}

/* onramp_gate_put() - drop a reference; NULL is allowed. Any context. */
void onramp_gate_put(struct onramp_gate *gate)
{
	if (gate && refcount_dec_and_test(&gate->refs))
		call_rcu(&gate->rcu, onramp_gate_free);
}

/**
 * onramp_gate_close() - give up the reference of a qdisc that goes
 * @gate: its gate, or NULL
 *
 * Context: RTNL.
 */
void onramp_gate_close(struct onramp_gate *gate)
{
	if (!gate)
		return;
	spin_lock_bh(&gate->on->lock);
	list_del_rcu(&gate->list);
	spin_unlock_bh(&gate->on->lock);
	/* Connections may keep it; an OR-ACK reads this without a lock. */
	WRITE_ONCE(gate->dev, NULL);
	onramp_gate_put(gate);
}

/**
 * onramp_gate_set() - replace the controller's settings
 * @gate: the gate
 * @settings: what is freed with it
 *
 * Context: RTNL.
 */
void onramp_gate_set(struct onramp_gate *gate, struct onramp_settings *settings)
{
	struct onramp_settings *old = rtnl_dereference(gate->settings);

	rcu_assign_pointer(gate->settings, settings);
	if (old)
		kfree_rcu(old, rcu);
}

/**
 * onramp_gate_arm() - remember the qdisc, which has a flow of a connection
 * @gate: the gate
 * @sch: the qdisc
 *
 * Context: the qdisc's lock.
 */
void onramp_gate_arm(struct onramp_gate *gate, struct Qdisc *sch)
{
	/* It is written with both locks held. */
	if (gate->sch == sch)
		return;
	spin_lock(&gate->lock);
	WRITE_ONCE(gate->sch, sch);
	spin_unlock(&gate->lock);
}

/**
 * onramp_gate_disarm() - forget the qdisc, which is reset or destroyed
 * @gate: the gate
 *
 * What has been scheduled by then is waited for by who resets it, as for all who
 * schedule qdiscs.
 *
 * Context: the qdisc's lock, or nobody knows the qdisc.
 */
void onramp_gate_disarm(struct onramp_gate *gate)
{
	struct onramp_ctl *ctl, *next;

	spin_lock_bh(&gate->lock);
	WRITE_ONCE(gate->sch, NULL);
	spin_unlock_bh(&gate->lock);
	llist_for_each_entry_safe(ctl, next, llist_del_all(&gate->recheck), recheck) {
		clear_bit(0, &ctl->queued);
		onramp_ctl_put(ctl);
	}
}

/**
 * onramp_gate_recheck() - a flow that waits for this connection may go on earlier
 * @gate: of the flow's qdisc
 * @ctl: control block
 *
 * Context: RCU, BH disabled, without the control block's lock.
 */
void onramp_gate_recheck(struct onramp_gate *gate, struct onramp_ctl *ctl)
{
	spin_lock(&gate->lock);
	if (gate->sch && !test_and_set_bit(0, &ctl->queued)) {
		if (refcount_inc_not_zero(&ctl->refs)) {
			onramp_gate_add(gate, ONRAMP_G_RECHECKS, 1);
			llist_add(&ctl->recheck, &gate->recheck);
			__netif_schedule(qdisc_root(gate->sch));
		} else {
			clear_bit(0, &ctl->queued);
		}
	}
	spin_unlock(&gate->lock);
}

/* Connections -------------------------------------------------------------- */

/*
 * Device of a link-local address. The qdisc's can be below a VLAN or a bridge; a socket is
 * bound to the one that the address belongs to.
 */
static int onramp_scope(const struct sk_buff *skb)
{
	const struct sock *sk = skb->sk;

	if (sk && sk_fullsock(sk) && sk->sk_bound_dev_if)
		return sk->sk_bound_dev_if;
	return skb->dev->ifindex;
}

/* The addresses of what onramp_tcp_headers(). */
static void onramp_addrs(const struct sk_buff *skb, struct or_addrs *addrs)
{
	memset(addrs, 0, sizeof(*addrs));
	if (ip_hdr(skb)->version == 4) {
		addrs->family = AF_INET;
		addrs->laddr[0] = ip_hdr(skb)->saddr;
		addrs->raddr[0] = ip_hdr(skb)->daddr;
		return;
	}
	addrs->family = AF_INET6;
	memcpy(addrs->laddr, &ipv6_hdr(skb)->saddr, sizeof(addrs->laddr));
	memcpy(addrs->raddr, &ipv6_hdr(skb)->daddr, sizeof(addrs->raddr));
	if (ipv6_addr_type(&ipv6_hdr(skb)->daddr) & IPV6_ADDR_LINKLOCAL)
		addrs->scope = onramp_scope(skb);
}

static struct onramp_ctl_key onramp_ctl_key(const struct onramp_peer *peer, u16 sport,
					    u16 dport)
{
	return (struct onramp_ctl_key) {
		.peer = (unsigned long)peer, .sport = sport, .dport = dport,
	};
}

static void onramp_ctl_free(struct rcu_head *rcu)
{
	kmem_cache_free(onramp_ctl_cache, container_of(rcu, struct onramp_ctl, rcu));
}

/**
 * onramp_ctl_account() - put the time that has been paused by now into the statistics
 * @ctl: control block
 * @now: CLOCK_MONOTONIC, ns
 *
 * Context: the control block's lock.
 */
void onramp_ctl_account(struct onramp_ctl *ctl, u64 now)
{
	struct onramp_gate_stats *stats;
	u64 total, length;

	lockdep_assert_held(&ctl->lock);
	if (!ctl->gate)
		return;
	total = onramp_ctrl_cum_pause(&ctl->ctrl, now);
	onramp_gate_add(ctl->gate, ONRAMP_G_PAUSED_NS, total - ctl->accounted_ns);
	ctl->accounted_ns = total;
	if (!ctl->pause_from_ns || onramp_ctrl_paused(&ctl->ctrl, now))
		return;
	length = ctl->ctrl.until_ns - ctl->pause_from_ns;
	ctl->pause_from_ns = 0;
	stats = this_cpu_ptr(ctl->gate->stats);
	u64_stats_update_begin(&stats->syncp);
	stats->pause_max_ns = max(stats->pause_max_ns, length);
	u64_stats_update_end(&stats->syncp);
}

/**
 * onramp_ctl_publish() - the end of the pause is another one: the qdisc may read it
 * @ctl: control block
 * @now: CLOCK_MONOTONIC, ns
 *
 * Context: the control block's lock.
 */
void onramp_ctl_publish(struct onramp_ctl *ctl, u64 now)
{
	lockdep_assert_held(&ctl->lock);
	atomic64_set(&ctl->until, ctl->ctrl.until_ns);
	ctl->cum_ns = onramp_ctrl_cum_pause(&ctl->ctrl, ctl->ctrl.until_ns);
	if (!onramp_ctrl_paused(&ctl->ctrl, now) || ctl->pause_from_ns)
		return;
	ctl->pause_from_ns = now;
	onramp_gate_add(ctl->gate, ONRAMP_G_PAUSES, 1);
}

/**
 * onramp_ctl_move() - have another qdisc send for the connection
 * @ctl: its control block
 * @gate: of that qdisc
 *
 * Context: the control block's lock.
 */
void onramp_ctl_move(struct onramp_ctl *ctl, struct onramp_gate *gate)
{
	lockdep_assert_held(&ctl->lock);
	if (ctl->gate == gate)
		return;
	refcount_inc(&gate->refs);
	onramp_gate_put(ctl->gate);
	ctl->gate = gate;
	WRITE_ONCE(ctl->waiter, 0);
}

/* A new connection starts with what is known of its path. */
static void onramp_ctl_inherit(struct onramp_ctl *ctl, u64 now)
{
	const struct onramp_settings *settings;
	struct onramp_peer *peer = ctl->peer;
	struct onramp_params core;
	u64 owd_ns, at_ns;

	settings = rcu_dereference_bh(ctl->gate->settings);
	if (!settings->inherit)
		return;
	spin_lock(&peer->lock);
	owd_ns = peer->last_owd_ns;
	at_ns = peer->last_owd_at_ns;
	core = settings->core;
	core.threshold_ns = core.threshold_ns ?
		onramp_threshold_ns(core.threshold_ns, peer->last_error_ns) :
		peer->last_threshold_ns;
	core.let_go = peer->path.let_go;
	spin_unlock(&peer->lock);
	if (!at_ns || !onramp_ctrl_inherit(&ctl->ctrl, &core, owd_ns, at_ns, now))
		return;
	onramp_ctl_publish(ctl, now);
	onramp_gate_add(ctl->gate, ONRAMP_G_INHERITED, 1);
	trace_onramp_inherit(ctl, now, ctl->ctrl.until_ns);
}

/**
 * onramp_ctl_find() - the control block of a connection
 * @on: namespace
 * @peer: its peer
 * @sport: port of this host
 * @dport: port of the peer
 *
 * Context: RCU.
 * Return: the control block, or NULL.
 */
struct onramp_ctl *onramp_ctl_find(struct onramp_net *on, const struct onramp_peer *peer,
				   u16 sport, u16 dport)
{
	struct onramp_ctl_key key = onramp_ctl_key(peer, sport, dport);

	return rhashtable_lookup(&on->ctls, &key, onramp_ctl_table);
}

/* A new one for @peer, whose reference it takes. */
static struct onramp_ctl *onramp_ctl_create(struct onramp_peer *peer,
					    struct onramp_gate *gate, u16 sport,
					    u16 dport, u64 now)
{
	struct onramp_net *on = peer->on;
	struct onramp_ctl *ctl;
	int n;

	n = atomic_inc_return(&on->n_ctls);
	if (n > ONRAMP_CTLS_MAX) {
		onramp_net_count(on, ONRAMP_N_FULL);
		goto uncount;
	}
	if (n == 1)
		queue_delayed_work(onramp_wq, &on->age_work, HZ);
	ctl = kmem_cache_zalloc(onramp_ctl_cache, GFP_ATOMIC | __GFP_NOWARN);
	if (!ctl) {
		onramp_net_count(on, ONRAMP_N_NO_MEMORY);
		goto uncount;
	}
	ctl->key = onramp_ctl_key(peer, sport, dport);
	refcount_set(&ctl->refs, 1);
	ctl->peer = peer;
	spin_lock_init(&ctl->lock);
	onramp_ctrl_init(&ctl->ctrl);
	ctl->acked = jiffies;
	ctl->ring.rec = ctl->rec;
	ctl->ring.mask = ONRAMP_RECORDS - 1;

	spin_lock(&ctl->lock);
	onramp_ctl_move(ctl, gate);
	onramp_ctl_inherit(ctl, now);
	spin_unlock(&ctl->lock);

	/* Another qdisc may have been faster, or the table may be growing: later then. */
	if (rhashtable_lookup_insert_fast(&on->ctls, &ctl->node, onramp_ctl_table)) {
		onramp_net_count(on, ONRAMP_N_NO_MEMORY);
		goto free;
	}
	return ctl;

free:
	onramp_gate_put(gate);
	kmem_cache_free(onramp_ctl_cache, ctl);
uncount:
	atomic_dec(&on->n_ctls);
	return NULL;
}

/**
 * onramp_ctl_get() - find or make the control block of a packet's connection
 * @gate: of the qdisc
 * @skb: a packet that onramp_tcp_headers()
 * @rtt_us: shortest RTT of the connection, U32_MAX: it has not seen any
 * @near_ns: hosts from here on are not asked, 0: all are
 * @now: CLOCK_MONOTONIC, ns
 *
 * The caller calls onramp_ctl_own() with what this returns.
 *
 * Context: the qdisc's lock.
 * Return: it, referenced, or NULL: then the flow does without one.
 */
struct onramp_ctl *onramp_ctl_get(struct onramp_gate *gate, const struct sk_buff *skb,
				  u32 rtt_us, u64 near_ns, u64 now)
{
	struct onramp_net *on = gate->on;
	u16 sport = ntohs(tcp_hdr(skb)->source), dport = ntohs(tcp_hdr(skb)->dest);
	struct onramp_peer *peer;
	struct or_addrs addrs;
	struct onramp_ctl *ctl;

	/* The many that find no place must not all look for it. */
	if (atomic_read(&on->n_ctls) >= ONRAMP_CTLS_MAX) {
		onramp_net_count(on, ONRAMP_N_FULL);
		return NULL;
	}
	onramp_addrs(skb, &addrs);
	peer = onramp_peer_get(on, &addrs, rtt_us, near_ns);
	if (!peer)
		return NULL;
	rcu_read_lock();
	ctl = onramp_ctl_find(on, peer, sport, dport);
	if (ctl && !refcount_inc_not_zero(&ctl->refs))
		ctl = NULL;
	else if (ctl)
		onramp_peer_put(peer);
	else
		ctl = onramp_ctl_create(peer, gate, sport, dport, now);
	rcu_read_unlock();
	if (!ctl)
		onramp_peer_put(peer);
	return ctl;
}

/**
 * onramp_ctl_own() - set the socket of a connection
 * @ctl: control block
 * @sk: the socket
 *
 * Context: the qdisc's lock.
 */
void onramp_ctl_own(struct onramp_ctl *ctl, const struct sock *sk)
{
	/*
	 * Read without a lock by onramp_ctl_open(). One of the former socket and one of this
	 * are of none: then the connection passes for closed, and its next data asks again.
	 */
	WRITE_ONCE(ctl->hash, sk->sk_hash);
	WRITE_ONCE(ctl->sk, (unsigned long)sk);
}

/**
 * onramp_ctl_put() - drop a reference
 * @ctl: control block
 *
 * Context: any with BH disabled, or RTNL.
 */
void onramp_ctl_put(struct onramp_ctl *ctl)
{
	struct onramp_net *on = ctl->peer->on;

	if (!refcount_dec_and_test(&ctl->refs))
		return;
	rhashtable_remove_fast(&on->ctls, &ctl->node, onramp_ctl_table);
	atomic_dec(&on->n_ctls);
	/* An OR-ACK that has found it may still be at work. */
	spin_lock_bh(&ctl->lock);
	onramp_ctl_account(ctl, ktime_get_ns());
	onramp_gate_put(ctl->gate);
	ctl->gate = NULL;
	spin_unlock_bh(&ctl->lock);
	onramp_peer_put(ctl->peer);
	call_rcu(&ctl->rcu, onramp_ctl_free);
}

/* Closed connections ------------------------------------------------------- */

/*
 * May the connection send data, again or for the first time? Its socket is in TCP's table
 * from before it does until it is closed. In there it is looked for by its address, and
 * only in the one chain that it can be in: nothing keeps it alive for this, and what now
 * has its memory does not pass for it.
 */
static bool onramp_ctl_open(const struct onramp_ctl *ctl)
{
	const u32 open = TCPF_ESTABLISHED | TCPF_SYN_SENT | TCPF_SYN_RECV | TCPF_FIN_WAIT1 |
			 TCPF_CLOSE_WAIT | TCPF_CLOSING | TCPF_LAST_ACK;
	struct inet_hashinfo *table = ctl->peer->on->net->ipv4.tcp_death_row.hashinfo;
	const struct inet_ehash_bucket *head;
	const struct hlist_nulls_node *node;
	unsigned long addr;
	struct sock *sk;
	u32 hash;

	addr = READ_ONCE(ctl->sk);
	hash = READ_ONCE(ctl->hash);
	head = inet_ehash_bucket(table, hash);
begin:
	sk_nulls_for_each_rcu(sk, node, &head->chain)
		if ((unsigned long)sk == addr)
			return (1U << READ_ONCE(sk->sk_state)) & open;
	/* It was moved to another chain while its chain was gone along: the wrong end. */
	if (get_nulls_value(node) != (hash & table->ehash_mask))
		goto begin;
	return false;
}

/* Up to ONRAMP_AGE_BATCH that are to go, each with a reference; sets @more. */
static unsigned int onramp_ctls_closed(struct rhashtable_iter *iter, struct onramp_ctl **ctls,
				       bool *more)
{
	u64 now = ktime_get_ns();
	unsigned int looks, n = 0;
	struct onramp_ctl *ctl;

	*more = true;
	rhashtable_walk_start(iter);
	for (looks = 0; looks < ONRAMP_AGE_LOOK && n < ONRAMP_AGE_BATCH; looks++) {
		ctl = rhashtable_walk_next(iter);
		if (!ctl) {
			*more = false;
			break;
		}
		/* The table grows: some are seen twice. */
		if (IS_ERR(ctl))
			continue;
		/* Written with its lock, of the last second: it is open without a look. */
		if (!READ_ONCE(ctl->peer->evicted) &&
		    (now - READ_ONCE(ctl->ring.sent_ns) < NSEC_PER_SEC || onramp_ctl_open(ctl)))
			continue;
		if (refcount_inc_not_zero(&ctl->refs))
			ctls[n++] = ctl;
	}
	rhashtable_walk_stop(iter);
	return n;
}

/* Flows let go of those that are closed, and so does the caller. */
static void onramp_ctls_drop(struct onramp_net *on, struct onramp_ctl **ctls, unsigned int n)
{
	struct onramp_ctl *rest[ONRAMP_AGE_BATCH];
	struct onramp_gate *gate;
	unsigned int i, left = 0;

	rcu_read_lock();
	/* Nearly always it is the qdisc that sent last whose flow has it. */
	for (i = 0; i < n; i++) {
		spin_lock_bh(&ctls[i]->lock);
		gate = ctls[i]->gate;
		spin_unlock_bh(&ctls[i]->lock);
		/* RCU keeps it. */
		if (gate)
			onramp_flows_detach(gate, &ctls[i], 1);
		if (refcount_read(&ctls[i]->refs) > 1)
			rest[left++] = ctls[i];
	}
	if (left)
		list_for_each_entry_rcu(gate, &on->gates, list)
			onramp_flows_detach(gate, rest, left);
	rcu_read_unlock();
	for (i = 0; i < n; i++) {
		local_bh_disable();
		if (refcount_read(&ctls[i]->refs) == 1) {
			if (!READ_ONCE(ctls[i]->peer->evicted))
				onramp_net_count(on, ONRAMP_N_CLOSED);
			trace_onramp_closed(ctls[i]);
		}
		onramp_ctl_put(ctls[i]);
		local_bh_enable();
	}
}

/**
 * onramp_ctl_age() - give up control blocks of closed connections: onramp_net.age_work
 * @work: in the namespace
 *
 * Context: process.
 */
void onramp_ctl_age(struct work_struct *work)
{
	struct onramp_net *on = container_of(to_delayed_work(work), struct onramp_net, age_work);
	struct onramp_ctl *ctls[ONRAMP_AGE_BATCH];
	struct rhashtable_iter iter;
	unsigned int n;
	bool more;

	rhashtable_walk_enter(&on->ctls, &iter);
	do {
		n = onramp_ctls_closed(&iter, ctls, &more);
		onramp_ctls_drop(on, ctls, n);
		cond_resched();
	} while (more);
	rhashtable_walk_exit(&iter);
	n = atomic_read(&on->n_ctls);
	if (n)
		queue_delayed_work(onramp_wq, &on->age_work,
				   HZ + HZ * (n >> ONRAMP_AGE_SHIFT));
}

/* The qdisc's side --------------------------------------------------------- */

/**
 * onramp_ctl_wait() - announce that a flow is about to wait for the end of a pause
 * @ctl: its control block
 * @gate: of its qdisc
 * @key: of the flow
 * @now: CLOCK_MONOTONIC, ns
 *
 * What @ctl->until is after this is either what it waits for, or its qdisc is told of
 * the change.
 *
 * Context: the qdisc's lock.
 */
void onramp_ctl_wait(struct onramp_ctl *ctl, struct onramp_gate *gate, unsigned long key,
		     u64 now)
{
	spin_lock(&ctl->lock);
	onramp_ctl_move(ctl, gate);
	WRITE_ONCE(ctl->waiter, key);
	trace_onramp_hold(ctl, now, ctl->ctrl.until_ns);
	spin_unlock(&ctl->lock);
}

/**
 * onramp_ctl_held() - account for a packet that leaves after it waited for the end of a pause
 * @ctl: its control block
 * @gate: of its qdisc
 * @now: CLOCK_MONOTONIC, ns
 *
 * Context: the qdisc's lock.
 */
void onramp_ctl_held(struct onramp_ctl *ctl, struct onramp_gate *gate, u64 now)
{
	u64 until_ns = atomic64_read(&ctl->until), late_ns;
	struct onramp_gate_stats *stats;

	/* The end may be another one by now. */
	late_ns = now > until_ns ? now - until_ns : 0;
	stats = this_cpu_ptr(gate->stats);
	u64_stats_update_begin(&stats->syncp);
	stats->n[ONRAMP_G_HELD]++;
	stats->n[ONRAMP_G_HELD_LATE_NS] += late_ns;
	stats->held_late_max_ns = max(stats->held_late_max_ns, late_ns);
	u64_stats_update_end(&stats->syncp);
	trace_onramp_release(ctl, now, until_ns);
}

/**
 * onramp_ctl_size() - change the length of full packets, or the rate of the link
 * @ctl: control block
 * @mss: payload of its full packets
 * @headers: bytes before that
 * @line_bps: of the link, bytes/s; 0: unknown
 *
 * Times by two models of the wire can't be compared: what was recorded by the former one is
 * forgotten, and the baseline of the path with it.
 *
 * Context: the control block's lock.
 */
void onramp_ctl_size(struct onramp_ctl *ctl, u32 mss, u32 headers, u64 line_bps)
{
	struct onramp_peer *peer = ctl->peer;

	lockdep_assert_held(&ctl->lock);
	if (ctl->line_bps != line_bps)
		ctl->ring.count = 0;
	spin_lock(&peer->lock);
	if (peer->line_bps != line_bps) {
		peer->line_bps = line_bps;
		/* As with another clock. */
		peer->has_domain = false;
		peer->last_owd_at_ns = 0;
	}
	spin_unlock(&peer->lock);
	ctl->mss = min(mss, 65535U);
	ctl->line_bps = line_bps;
	ctl->byte_ns = onramp_byte_time(line_bps, ctl->mss,
					ctl->mss + headers + ONRAMP_WIRE_EXTRA);
}

/* onramp_ctl_sent_trace() - call the tracepoint; the control block's lock */
void onramp_ctl_sent_trace(const struct onramp_ctl *ctl, u64 now, u64 tx_ns, u32 seq, u32 end,
			   u64 cum_ns)
{
	trace_onramp_sent(ctl, now, tx_ns, seq, end, cum_ns);
}
