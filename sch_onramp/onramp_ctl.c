// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: connections, and what OR-ACKs do to them
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
 *	OR-ACK, the cheap checks first:
 *	  decode -> peer of the addresses -> tag -> connection of the ports -> count
 *	  record of the sequence number, or it is not in flight
 *	  impossible by now: refuse it
 *	  delay = received - started on the wire - own batch before it
 *	    relative: above the baseline of the path (onramp_owd.h)
 *	    synced: as it is, by CLOCK_TAI or the NIC's clock; T is widened by the errors
 *	      of both hosts' clocks, and of the map to the NIC's
 *	  bound it by the round trip, choose T (onramp_path.h)
 *	  decide (onramp_core.h), publish the end of the pause
 *	  shorter than before, and a flow waits for it: its qdisc looks again
 *
 * Whatever does not pass changes nothing and is counted, each reason apart. A pause that
 * nothing renews ends by itself, so whatever fails leaves a fair queue.
 *
 * Nothing says which of two transmissions of the same data was received: OR-ACKs about
 * data that was sent again are ambiguous, and do nothing.
 *
 * Source: Liu et al., NSDI 2021, sections 3 and 4.1.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <net/inet_hashtables.h>
#include <net/pkt_sched.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "onramp_ctl.h"

#define CREATE_TRACE_POINTS
#include "onramp_trace.h"

/*
 * After so long without an OR-ACK the counts of a connection start over, jiffies: half
 * of what the counts take to wrap, see struct or_replay.
 */
#define ONRAMP_REPLAY_AGE	(30 * 60 * HZ)

/* What is looked at for closed connections with RCU held, and what is then let go of. */
#define ONRAMP_AGE_LOOK		256
#define ONRAMP_AGE_BATCH	32

/* Of so many connections, 2^16, a look takes some 10 ms of a CPU: not each second then. */
#define ONRAMP_AGE_SHIFT	16

/* Clocks of two hosts are less apart than this: 2^61 ns are 73 years. */
#define ONRAMP_OFFSET_MAX_NS	(1LL << 61)

static struct kmem_cache *onramp_ctl_cache;

/* The table of connections of a namespace. */
const struct rhashtable_params onramp_ctl_table = {
	.key_len		= sizeof(struct onramp_ctl_key),
	.key_offset		= offsetof(struct onramp_ctl, key),
	.head_offset		= offsetof(struct onramp_ctl, node),
	.automatic_shrinking	= true,
};

/**
 * onramp_ctl_cache_create() - memory for connections
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

/* onramp_ctl_cache_destroy() - no connection is left; waits for those being freed. */
void onramp_ctl_cache_destroy(void)
{
	rcu_barrier();
	kmem_cache_destroy(onramp_ctl_cache);
}

/* Gates ------------------------------------------------------------------- */

/**
 * onramp_gate_create() - of a new qdisc
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
 * onramp_gate_close() - the qdisc goes, and with it its reference
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
 * onramp_gate_set() - other settings
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
 * onramp_gate_arm() - the qdisc has a flow of a connection
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
 * onramp_gate_disarm() - the qdisc is reset or destroyed: it is not scheduled any more
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

/* A flow of the gate's qdisc that waits for this connection may go on earlier. */
static void onramp_gate_recheck(struct onramp_gate *gate, struct onramp_ctl *ctl)
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

/* Connections ------------------------------------------------------------- */

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

/* Put the time that has been paused by now into the statistics. */
static void onramp_ctl_account(struct onramp_ctl *ctl, u64 now)
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

/* The end of the pause is another one. */
static void onramp_ctl_publish(struct onramp_ctl *ctl, u64 now)
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
 * onramp_ctl_move() - the qdisc that sends for the connection is another one
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

static struct onramp_ctl *onramp_ctl_find(struct onramp_net *on,
					  const struct onramp_peer *peer, u16 sport,
					  u16 dport)
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
 * onramp_ctl_get() - the control block of the connection of a packet
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
 * onramp_ctl_own() - the socket of a connection
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

/* Closed connections ------------------------------------------------------ */

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
 * onramp_ctl_age() - onramp_net.age_work: give up control blocks of closed connections
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

/* The qdisc's side -------------------------------------------------------- */

/**
 * onramp_ctl_wait() - a flow is about to wait for the end of a pause
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
 * onramp_ctl_held() - a packet leaves that has waited for the end of a pause
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
 * onramp_ctl_size() - packets are full at another length, or the link is another one
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

/* onramp_ctl_sent_trace() - the tracepoint; the control block's lock */
void onramp_ctl_sent_trace(const struct onramp_ctl *ctl, u64 now, u64 tx_ns, u32 seq, u32 end,
			   u64 cum_ns)
{
	trace_onramp_sent(ctl, now, tx_ns, seq, end, cum_ns);
}

/* OR-ACKs ----------------------------------------------------------------- */

/* Class of a delay for the histogram: its two bits below the highest one. */
static u32 onramp_owd_class(u64 ns)
{
	u32 log;

	if (ns < 4)
		return ns;
	log = fls64(ns) - 1;
	return min_t(u32, 4 * (log - 1) + ((ns >> (log - 2)) & 3), ONRAMP_OWD_CLASSES - 1);
}

/**
 * onramp_owd_class_end() - the highest delay of a class of the histogram, ns
 * @class: its number
 */
u64 onramp_owd_class_end(u32 class)
{
	u32 log = class / 4 + 1;

	if (class < 4)
		return class;
	return (1ULL << log) + ((u64)(class % 4 + 1) << (log - 2)) - 1;
}

/* The excess over what an empty path takes; ONRAMP_BELOW, or why there is none. */
static u8 onramp_delay_relative(struct onramp_ctl *ctl, const struct or_ack *ack,
				u32 payload, struct onramp_delay *d)
{
	struct onramp_peer *peer = ctl->peer;
	u64 tx_ns = d->trip.tx_ns;
	s64 d_ns = (s64)(ack->rx_ns - tx_ns);

	if (d_ns > ONRAMP_OFFSET_MAX_NS || d_ns < -ONRAMP_OFFSET_MAX_NS)
		return ONRAMP_IMPLAUSIBLE;
	lockdep_assert_held(&peer->lock);
	if (!peer->has_domain || peer->domain != ack->domain) {
		onramp_owd_init(&peer->owd);
		peer->has_domain = true;
		peer->domain = ack->domain;
		peer->last_owd_at_ns = 0;
		peer->epoch++;
	}
	if (ctl->epoch != peer->epoch) {
		ctl->epoch = peer->epoch;
		onramp_ctrl_forget(&ctl->ctrl);
		onramp_view_forget(&ctl->view);
	}
	if (!onramp_owd_sample(&peer->owd, tx_ns, d_ns, payload, &d->owd_ns))
		return ONRAMP_G_LEARNING;
	d->baseline_ns = onramp_owd_baseline(&peer->owd, tx_ns);
	d->error_ns = onramp_owd_error(&peer->owd, tx_ns);
	return ONRAMP_BELOW;
}

/*
 * The delay itself, by the time that both clocks are synchronised to; ONRAMP_BELOW, or why
 * there is none.
 *
 * A receiver that says how far its clock is off means CLOCK_TAI or, of a stamp of its NIC,
 * the clock of that, which PTP keeps to TAI too, unless all NICs have a time of their own.
 * So CLOCK_TAI is compared with stamps of both kinds, and the clock of the NIC only with
 * those of NICs.
 */
static u8 onramp_delay_synced(const struct onramp_gate *gate,
			      const struct onramp_settings *settings,
			      const struct or_ack *ack, struct onramp_delay *d)
{
	u64 tx_ns = d->trip.tx_ns, at_ns;
	u32 map_error_ns = 0;

	if (ack->clock_error == OR_CLOCK_UNSYNCED)
		return ONRAMP_G_UNSYNCED;
	if (settings->clock == ONRAMP_CLOCK_SYSTEM) {
		at_ns = ktime_to_ns(ktime_mono_to_any(ns_to_ktime(tx_ns), TK_OFFS_TAI));
	} else {
		if (!ack->nic)
			return ONRAMP_G_UNSYNCED;
		/* Without a lock: the qdisc may be going. */
		if (nic_ts_dev_clock(READ_ONCE(gate->dev), tx_ns, &at_ns, &map_error_ns))
			return ONRAMP_G_NO_MAP;
	}
	d->owd_ns = (s64)(ack->rx_ns - at_ns);
	d->error_ns = or_clock_decode(ack->clock_error) + settings->clock_error_ns +
		      map_error_ns;
	return ONRAMP_BELOW;
}

/*
 * The delay, and what follows from it for the connection; an enum onramp_verdict, or why
 * there is no delay. The path is locked from the one to the other: what a pause has done is
 * compared with what has left since.
 */
static u8 onramp_ctl_path(struct onramp_ctl *ctl, const struct onramp_settings *settings,
			  const struct or_ack *ack, u32 payload, struct onramp_params *core,
			  struct onramp_sample *s, struct onramp_delay *d,
			  struct onramp_trust *trust, struct onramp_result *res)
{
	struct onramp_peer *peer = ctl->peer;
	u8 verdict;

	if (!onramp_trip_possible(&d->trip))
		return ONRAMP_IMPLAUSIBLE;
	spin_lock(&peer->lock);
	if (d->absolute)
		verdict = onramp_delay_synced(ctl->gate, settings, ack, d);
	else if (ctl->line_bps != peer->line_bps)
		/* Another connection has seen that the rate is another one. */
		verdict = ONRAMP_G_LEARNING;
	else
		verdict = onramp_delay_relative(ctl, ack, payload, d);
	if (verdict != ONRAMP_BELOW)
		goto unlock;
	onramp_path_update(&peer->path, &ctl->view, &ctl->ctrl, core, s, d, trust, res);
	verdict = res->verdict;
	/* For new connections, if it is newer than what they would get otherwise. */
	if ((s64)(s->tx_ns - peer->last_owd_tx_ns) > 0) {
		peer->last_owd_ns = max_t(s64, s->owd_ns, 0);
		peer->last_owd_tx_ns = s->tx_ns;
		peer->last_owd_at_ns = s->now_ns;
		peer->last_error_ns = d->error_ns;
		peer->last_threshold_ns = trust->threshold_ns;
	}
	WRITE_ONCE(ctl->gate->last_slack_ns, peer->path.slack_ns);
	WRITE_ONCE(ctl->gate->last_swing_ns, trust->swing_ns);
unlock:
	spin_unlock(&peer->lock);
	return verdict;
}

/* For people: what an OR-ACK that counted has said. */
static void onramp_ctl_note(struct onramp_ctl *ctl, const struct onramp_delay *d,
			    const struct onramp_trust *trust, const struct onramp_result *res)
{
	struct onramp_gate *gate = ctl->gate;
	struct onramp_gate_stats *stats = this_cpu_ptr(gate->stats);

	WRITE_ONCE(gate->last_owd_ns, res->owd_ns);
	WRITE_ONCE(gate->last_baseline_ns, d->baseline_ns);
	WRITE_ONCE(gate->last_error_ns, d->error_ns);
	WRITE_ONCE(gate->last_threshold_ns, trust->threshold_ns);
	WRITE_ONCE(gate->last_beta, ctl->ctrl.beta);
	u64_stats_update_begin(&stats->syncp);
	stats->owd[onramp_owd_class(res->owd_ns)]++;
	stats->n[ONRAMP_G_LIMITED] += trust->limited;
	stats->n[ONRAMP_G_LET_GO] += trust->let_go > 0;
	stats->n[ONRAMP_G_PAUSE_ENDS] += trust->returned;
	stats->n[ONRAMP_G_PAUSE_ENDS_EMPTY] += trust->empty;
	u64_stats_update_end(&stats->syncp);
}

/*
 * Payload of the packet that ends at @seq: all of a batch are full ones but the last. A
 * record that holds several batches may have others as well, and full ones in it
 * then pass for smaller ones, see onramp_tx_append().
 */
static u32 onramp_ctl_payload(const struct onramp_ctl *ctl, const struct onramp_tx *tx,
			      u32 seq)
{
	return ctl->mss ? ((seq - tx->start - 1) % ctl->mss) + 1 : 1;
}

static bool onramp_counted(u8 verdict)
{
	return verdict <= ONRAMP_IS_OFF;
}

/* What it says of the connection is to be believed; what does it say? */
static u8 onramp_ctl_decide(struct onramp_ctl *ctl, const struct or_ack *ack)
{
	struct onramp_sample s = { .now_ns = ktime_get_ns(), .seq = ack->seq };
	struct onramp_delay d = {
		.rx_ns = ack->rx_ns, .byte_ns = ctl->byte_ns, .others = ack->others,
	};
	const struct onramp_settings *settings;
	struct onramp_trust trust = {};
	struct onramp_result res = {};
	struct onramp_params core;
	const struct onramp_tx *tx;
	u8 verdict;

	settings = rcu_dereference(ctl->gate->settings);
	core = settings->core;
	tx = onramp_tx_covering(&ctl->ring, ack->seq);
	if (!tx) {
		verdict = ONRAMP_G_NOT_IN_FLIGHT;
		goto out;
	}
	if (!tx->tx_ns) {
		verdict = ONRAMP_G_AMBIGUOUS;
		goto out;
	}
	s.tx_ns = tx->tx_ns + onramp_own_ns(ctl->byte_ns, tx->start, ack->seq);
	s.tx_cum_ns = tx->cum_ns;
	s.sent_ns = ctl->ring.sent_ns;
	s.idle_ns = onramp_tx_idle_ns(&ctl->ring, s.now_ns);
	d.trip = (struct onramp_trip) {
		.now_ns = s.now_ns, .out_ns = tx->tx_ns - tx->wait_ns, .tx_ns = s.tx_ns,
		.hold_ns = ack->hold_ns,
	};
	d.absolute = settings->owd == ONRAMP_OWD_SYNCED;
	d.is_auto = !core.threshold_ns;
	d.bound = settings->bound;
	onramp_ctl_account(ctl, s.now_ns);
	verdict = onramp_ctl_path(ctl, settings, ack, onramp_ctl_payload(ctl, tx, ack->seq),
				  &core, &s, &d, &trust, &res);
	onramp_ctl_publish(ctl, s.now_ns);
	if (!onramp_counted(verdict))
		goto out;
	onramp_ctl_note(ctl, &d, &trust, &res);
	if (trust.returned)
		trace_onramp_pause_end(ctl, s.now_ns, trust.empty, res.owd_ns,
				       READ_ONCE(ctl->gate->last_slack_ns));
out:
	trace_onramp_ack(ctl, ack, &s, &d, &trust, &res, verdict);
	return verdict;
}

/* An OR-ACK with the right tag for this connection. */
static void onramp_ctl_ack(struct onramp_ctl *ctl, const struct or_ack *ack)
{
	struct onramp_gate *recheck = NULL;
	enum or_error error;
	u64 until_ns;
	u8 verdict;
	u32 anew;

	spin_lock(&ctl->lock);
	/* Nothing was ever sent, or the last flow is gone. */
	if (!ctl->gate) {
		spin_unlock(&ctl->lock);
		onramp_net_count(ctl->peer->on, ONRAMP_N_NO_FLOW);
		return;
	}
	/* A receiver that asked for a proof may be a new one, and count from anywhere. */
	anew = READ_ONCE(ctl->peer->anew);
	if (ctl->anew != anew || time_after(jiffies, ctl->acked + ONRAMP_REPLAY_AGE))
		ctl->replay = (struct or_replay) { .newest = 0 };
	error = or_replay_accept(&ctl->replay, ack->count);
	if (error) {
		struct onramp_sample s = { .now_ns = ktime_get_ns() };
		struct onramp_trust trust = {};
		struct onramp_delay d = {};
		struct onramp_result res = {};

		verdict = error == OR_ERR_REPLAY ? ONRAMP_G_REPLAY : ONRAMP_G_OLD;
		trace_onramp_ack(ctl, ack, &s, &d, &trust, &res, verdict);
	} else {
		ctl->acked = jiffies;
		ctl->anew = anew;
		until_ns = ctl->ctrl.until_ns;
		verdict = onramp_ctl_decide(ctl, ack);
		if (ctl->waiter && ctl->ctrl.until_ns < until_ns) {
			recheck = ctl->gate;
			trace_onramp_shorter(ctl, until_ns, ctl->ctrl.until_ns);
		}
	}
	onramp_gate_add(ctl->gate, verdict, 1);
	spin_unlock(&ctl->lock);
	/* RCU keeps it, whoever drops the connection now. */
	if (recheck)
		onramp_gate_recheck(recheck, ctl);
}

/**
 * onramp_ctl_rcv() - an OR-ACK
 * @net: namespace
 * @addrs: ends of the message
 * @ifindex: of the device that it came in on
 * @msg: its first OR_MSG_MAX bytes, or all if it has fewer
 * @len: its length
 *
 * Context: RCU, BH disabled.
 */
void onramp_ctl_rcv(struct net *net, const struct or_addrs *addrs, int ifindex,
		    const u8 *msg, unsigned int len)
{
	struct onramp_net *on = onramp_net(net);
	struct onramp_peer *peer;
	struct onramp_ctl *ctl;
	unsigned int reason;
	struct or_ack ack;

	reason = or_ack_decode(msg, len, &ack);
	if (reason)
		goto reject;
	reason = ONRAMP_N_NO_PEER;
	peer = onramp_peer_find(on, addrs);
	if (!peer)
		goto reject;
	reason = OR_ERR_TAG;
	if (!onramp_peer_verify(peer, msg))
		goto reject;
	reason = ONRAMP_N_NO_FLOW;
	ctl = onramp_ctl_find(on, peer, ack.sport, ack.dport);
	if (!ctl)
		goto reject;
	onramp_ctl_ack(ctl, &ack);
	return;

reject:
	onramp_net_count(on, reason);
	trace_onramp_reject(addrs, len, reason);
}
