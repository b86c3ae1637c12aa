// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: connections
 *
 *	a flow of a qdisc sends TCP data for the first time:
 *	  find or create its onramp_conn and its peer
 *	  the path's last delay is fresh: pause for it (inherit)
 *
 *	data leaves the qdisc:
 *	  record: sequence numbers, start on the wire (onramp_fifo.h), time paused so far
 *
 * onramp_ack.c changes them by OR-ACKs, onramp_age.c ends those that are closed. This file also
 * creates and frees onramp_qdisc_shared, the part of a qdisc that connections may touch.
 */
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <net/l3mdev.h>
#include <net/pkt_sched.h>
#include <net/sock.h>
#include <net/tcp.h>

#include <or_delay.h>
#include <or_path.h>

#include "onramp_conn.h"
#include "sock_charge.h"

#define CREATE_TRACE_POINTS
#include "onramp_trace.h"

static struct kmem_cache *onramp_conn_cache;

/* The table of connections of a namespace. */
const struct rhashtable_params onramp_conn_table = {
	.key_len		= sizeof(struct onramp_conn_key),
	.key_offset		= offsetof(struct onramp_conn, key),
	.head_offset		= offsetof(struct onramp_conn, node),
	.automatic_shrinking	= true,
};

/* onramp_conn_cache_create() - create the cache of connections; return 0 or -ENOMEM */
int onramp_conn_cache_create(void)
{
	/* Two cache lines for a packet that leaves. */
	BUILD_BUG_ON(IS_ENABLED(CONFIG_64BIT) &&
		     offsetof(struct onramp_conn, cum_ns) !=
		     offsetof(struct onramp_conn, until) + 64);
	/* Locks are larger where they are debugged, and with PREEMPT_RT. */
	BUILD_BUG_ON(IS_ENABLED(CONFIG_64BIT) && sizeof(spinlock_t) == sizeof(u32) &&
		     offsetof(struct onramp_conn, meter.bps) !=
		     offsetof(struct onramp_conn, until) + 128);
	onramp_conn_cache = kmem_cache_create("onramp_conn", sizeof(struct onramp_conn), 0,
					      SLAB_HWCACHE_ALIGN, NULL);
	return onramp_conn_cache ? 0 : -ENOMEM;
}

/* onramp_conn_cache_destroy() - wait for connections that are being freed; none is left. */
void onramp_conn_cache_destroy(void)
{
	rcu_barrier();
	kmem_cache_destroy(onramp_conn_cache);
}

/* References to qdiscs -------------------------------------------------------------------- */

/**
 * onramp_shared_create() - create the onramp_qdisc_shared of a new qdisc
 * @dev: its device
 *
 * Context: may sleep.
 * Return: it, with one reference and without settings; NULL: no memory.
 */
struct onramp_qdisc_shared *onramp_shared_create(const struct net_device *dev)
{
	struct onramp_qdisc_shared *shared = kzalloc(sizeof(*shared), GFP_KERNEL);
	struct onramp_net *onet = onramp_net(dev_net(dev));

	if (!shared)
		return NULL;
	/* The port is opened for the first peer only; containers may be there before. */
	if (or_port_guard(onet->net)) {
		kfree(shared);
		return NULL;
	}
	refcount_set(&shared->refs, 1);
	shared->onet = onet;
	shared->dev = dev;
	shared->ifindex = dev->ifindex;
	spin_lock_init(&shared->lock);
	init_llist_head(&shared->recheck);
	spin_lock_bh(&onet->lock);
	list_add_rcu(&shared->list, &onet->qdiscs);
	spin_unlock_bh(&onet->lock);
	return shared;
}

static void onramp_shared_free(struct rcu_head *rcu)
{
	struct onramp_qdisc_shared *shared = container_of(rcu, struct onramp_qdisc_shared, rcu);

	kfree(rcu_dereference_protected(shared->settings, true));
	kvfree(shared->sizes);
	kvfree(shared->fwd_lines);
	kfree(shared);
}

/* onramp_shared_put() - drop a reference; NULL is allowed. Any context. */
void onramp_shared_put(struct onramp_qdisc_shared *shared)
{
	if (shared && refcount_dec_and_test(&shared->refs))
		call_rcu(&shared->rcu, onramp_shared_free);
}

/* onramp_shared_close() - drop the reference of a qdisc that is destroyed; NULL is allowed. RTNL */
void onramp_shared_close(struct onramp_qdisc_shared *shared)
{
	if (!shared)
		return;
	spin_lock_bh(&shared->onet->lock);
	list_del_rcu(&shared->list);
	spin_unlock_bh(&shared->onet->lock);
	or_port_unguard(shared->onet->net);
	/* Connections may still hold it; an OR-ACK reads this without a lock. */
	WRITE_ONCE(shared->dev, NULL);
	onramp_shared_put(shared);
}

/* onramp_shared_set() - replace the controller's settings; @shared frees these. RTNL */
void onramp_shared_set(struct onramp_qdisc_shared *shared, struct onramp_settings *settings)
{
	struct onramp_settings *old = rtnl_dereference(shared->settings);

	rcu_assign_pointer(shared->settings, settings);
	if (old)
		kfree_rcu(old, rcu);
}

/* onramp_shared_arm() - let connections schedule a qdisc that has a flow of one; qdisc's lock */
void onramp_shared_arm(struct onramp_qdisc_shared *shared, struct Qdisc *sch)
{
	/* It is written with both locks held. */
	if (shared->sch == sch)
		return;
	spin_lock(&shared->lock);
	WRITE_ONCE(shared->sch, sch);
	spin_unlock(&shared->lock);
}

/**
 * onramp_shared_disarm() - no longer let connections schedule the qdisc
 * @shared: of the qdisc
 *
 * The qdisc is being reset or destroyed. Its caller waits for runs that were scheduled
 * before, as it does for every user of __netif_schedule().
 *
 * Context: the qdisc's lock, or a qdisc that is not in use yet.
 */
void onramp_shared_disarm(struct onramp_qdisc_shared *shared)
{
	struct onramp_conn *conn, *next;

	spin_lock_bh(&shared->lock);
	WRITE_ONCE(shared->sch, NULL);
	spin_unlock_bh(&shared->lock);
	llist_for_each_entry_safe(conn, next, llist_del_all(&shared->recheck), recheck) {
		clear_bit(0, &conn->queued);
		onramp_conn_put(conn);
	}
}

/**
 * onramp_shared_recheck() - have the qdisc re-evaluate the flow of a connection
 * @shared: of the flow's qdisc
 * @conn: the connection, whose pause became shorter, or whose gap after one
 *
 * Context: RCU, BH disabled, without the connection's lock.
 */
void onramp_shared_recheck(struct onramp_qdisc_shared *shared, struct onramp_conn *conn)
{
	spin_lock(&shared->lock);
	if (shared->sch && !test_and_set_bit(0, &conn->queued)) {
		if (refcount_inc_not_zero(&conn->refs)) {
			onramp_shared_add(shared, ONRAMP_Q_RECHECKS, 1);
			llist_add(&conn->recheck, &shared->recheck);
			__netif_schedule(qdisc_root(shared->sch));
		} else {
			clear_bit(0, &conn->queued);
		}
	}
	spin_unlock(&shared->lock);
}

/* Connections -------------------------------------------------------------- */

/* The VLAN device that a packet of @dev is of, if it has a tag; else @dev. */
static const struct net_device *onramp_vlan_dev(const struct sk_buff *skb,
						struct net_device *dev)
{
	const struct net_device *vlan = NULL;

	if (skb_vlan_tag_present(skb))
		vlan = __vlan_find_dev_deep_rcu(dev, skb->vlan_proto, skb_vlan_tag_get_id(skb));
	return vlan && net_eq(dev_net(vlan), dev_net(dev)) ? vlan : dev;
}

/**
 * onramp_scope() - return or_addrs.scope for a packet that has no socket here
 * @skb: the packet
 * @dev: device of the qdisc that it leaves by, or that it comes in by
 * @addr: address of the peer, if that is IPv6; else NULL
 *
 * Context: RCU.
 */
u32 onramp_scope(const struct sk_buff *skb, struct net_device *dev, const struct in6_addr *addr)
{
	const struct net_device *of = onramp_vlan_dev(skb, dev);

	if (addr && ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL)
		return of->ifindex;
	return l3mdev_master_ifindex_rcu(of);
}

/*
 * The same for one that has. The qdisc's device can be below a VLAN or a bridge. A socket is bound
 * to the device of its link-local address, and to its VRF or a device in it.
 */
static u32 onramp_scope_of_socket(const struct sock *sk, const struct in6_addr *addr, int ifindex)
{
	int bound = READ_ONCE(sk->sk_bound_dev_if);

	if (addr && ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL)
		return bound ?: ifindex;
	return bound ? l3mdev_master_ifindex_by_index(sock_net(sk), bound) : 0;
}

/* The way of a packet. @sk: its socket, of this namespace, or NULL. RCU. */
static void onramp_via(const struct sk_buff *skb, const struct sock *sk, struct or_via *via)
{
	*via = (struct or_via) {
		.mark = skb->mark, .sport = tcp_hdr(skb)->source, .dport = tcp_hdr(skb)->dest,
	};
	if (sk) {
		via->oif = READ_ONCE(sk->sk_bound_dev_if);
		via->uid = sock_net_uid(sock_net(sk), sk);
	}
	/* tc may have taken it here from the device that it was routed to. */
	if (!skb_is_redirected(skb))
		via->ifindex = onramp_vlan_dev(skb, skb->dev)->ifindex;
}

/* onramp_addrs() - write the addresses of a packet in a qdisc. @sk: as above. RCU. */
void onramp_addrs(const struct sk_buff *skb, const struct sock *sk, struct or_addrs *addrs)
{
	const struct in6_addr *peer = NULL;

	memset(addrs, 0, sizeof(*addrs));
	if (ip_hdr(skb)->version == 4) {
		addrs->family = AF_INET;
		addrs->laddr[0] = ip_hdr(skb)->saddr;
		addrs->raddr[0] = ip_hdr(skb)->daddr;
	} else {
		addrs->family = AF_INET6;
		memcpy(addrs->laddr, &ipv6_hdr(skb)->saddr, sizeof(addrs->laddr));
		memcpy(addrs->raddr, &ipv6_hdr(skb)->daddr, sizeof(addrs->raddr));
		peer = &ipv6_hdr(skb)->daddr;
	}
	addrs->scope = sk ? onramp_scope_of_socket(sk, peer, skb->dev->ifindex) :
			    onramp_scope(skb, skb->dev, peer);
}

static struct onramp_conn_key onramp_conn_key(const struct onramp_peer *peer, u16 sport,
					      u16 dport)
{
	return (struct onramp_conn_key) {
		.peer = (unsigned long)peer, .sport = sport, .dport = dport,
	};
}

static void onramp_conn_free(struct rcu_head *rcu)
{
	kmem_cache_free(onramp_conn_cache, container_of(rcu, struct onramp_conn, rcu));
}

/* onramp_conn_account() - add the time paused so far to the statistics; the connection's lock */
void onramp_conn_account(struct onramp_conn *conn, u64 now)
{
	u64 total;

	lockdep_assert_held(&conn->lock);
	if (!conn->shared)
		return;
	total = onramp_ctrl_cum_pause(&conn->ctrl, now);
	onramp_shared_add(conn->shared, ONRAMP_Q_PAUSED_NS, total - conn->accounted_ns);
	conn->accounted_ns = total;
	if (!conn->pause_from_ns || onramp_ctrl_paused(&conn->ctrl, now))
		return;
	onramp_stats_max(&conn->shared->stats.pause_max_ns,
			 conn->ctrl.until_ns - conn->pause_from_ns);
	conn->pause_from_ns = 0;
}

/* onramp_conn_publish() - show the qdisc the new end of the pause; the connection's lock */
void onramp_conn_publish(struct onramp_conn *conn, u64 now)
{
	lockdep_assert_held(&conn->lock);
	atomic64_set(&conn->until, conn->ctrl.until_ns);
	conn->cum_ns = onramp_ctrl_cum_pause(&conn->ctrl, conn->ctrl.until_ns);
	if (!onramp_ctrl_paused(&conn->ctrl, now) || conn->pause_from_ns)
		return;
	conn->pause_from_ns = now;
	conn->pauses++;
	onramp_shared_add(conn->shared, ONRAMP_Q_PAUSES, 1);
}

/* onramp_conn_move() - note that the qdisc of @shared now sends for it; the connection's lock */
void onramp_conn_move(struct onramp_conn *conn, struct onramp_qdisc_shared *shared)
{
	lockdep_assert_held(&conn->lock);
	if (conn->shared == shared)
		return;
	spin_lock(&conn->peer->lock);
	if (conn->ifindex != shared->ifindex) {
		conn->ifindex = shared->ifindex;
		conn->via.ifindex = shared->ifindex;
	}
	spin_unlock(&conn->peer->lock);
	refcount_inc(&shared->refs);
	onramp_shared_put(conn->shared);
	/* onramp_conn_sent() compares it without the lock. */
	WRITE_ONCE(conn->shared, shared);
	conn->waits = false;
	WRITE_ONCE(conn->waiter, 0);
}

/* Start a new connection with the last delay of its path. */
static void onramp_conn_inherit(struct onramp_conn *conn, u64 now)
{
	const struct onramp_settings *settings;
	struct onramp_peer *peer = conn->peer;
	struct onramp_ctrl_params core;
	u64 owd_ns, at_ns;

	settings = rcu_dereference_bh(conn->shared->settings);
	if (!settings->inherit)
		return;
	spin_lock(&peer->lock);
	owd_ns = peer->last_owd_ns;
	at_ns = peer->last_owd_at_ns;
	core = settings->core;
	core.threshold_ns = core.threshold_ns ?
		onramp_threshold_ns(core.threshold_ns, peer->last_error_ns) :
		peer->last_threshold_ns;
	core.coexist_share = peer->path.coexist_share;
	spin_unlock(&peer->lock);
	if (!at_ns || !onramp_ctrl_inherit(&conn->ctrl, &core, owd_ns, at_ns, now))
		return;
	onramp_conn_publish(conn, now);
	onramp_shared_add(conn->shared, ONRAMP_Q_INHERITED, 1);
	trace_onramp_inherit(conn, now, conn->ctrl.until_ns);
}

/**
 * onramp_conn_find() - find a connection by its peer and ports
 * @onet: namespace
 * @peer: its peer
 * @sport: port of this host
 * @dport: port of the peer
 *
 * Context: RCU.
 * Return: the connection, or NULL.
 */
struct onramp_conn *onramp_conn_find(struct onramp_net *onet, const struct onramp_peer *peer,
				     u16 sport, u16 dport)
{
	struct onramp_conn_key key = onramp_conn_key(peer, sport, dport);

	return rhashtable_lookup(&onet->conns, &key, onramp_conn_table);
}

/**
 * onramp_conn_delay() - write the delay that the last OR-ACK of a socket's connection told
 * @sk: a TCP socket
 * @now_ns: CLOCK_MONOTONIC, ns
 * @delay: written if true
 *
 * Context: RCU. An or_delay_fn.
 * Return: whether there is one.
 */
bool onramp_conn_delay(const struct sock *sk, u64 now_ns, struct or_delay *delay)
{
	struct onramp_net *onet = onramp_net(sock_net(sk));
	const struct in6_addr *raddr = NULL;
	const struct onramp_peer *peer;
	struct onramp_conn *conn;
	struct or_addrs addrs;
	u64 last;

	or_path_addrs(sk, &addrs);
	if (addrs.family == AF_INET6)
		raddr = (const struct in6_addr *)addrs.raddr;
	addrs.scope = onramp_scope_of_socket(sk, raddr, 0);
	peer = onramp_peer_find(onet, &addrs);
	if (!peer)
		return false;
	conn = onramp_conn_find(onet, peer, ntohs(inet_sk(sk)->inet_sport),
				ntohs(inet_sk(sk)->inet_dport));
	if (!conn)
		return false;
	last = (u64)atomic64_read(&conn->delay);
	delay->age_ns = (u64)((u32)(now_ns >> ONRAMP_DELAY_SHIFT) - (u32)(last >> 32)) <<
			ONRAMP_DELAY_SHIFT;
	delay->queue_ns = (u32)last;
	return delay->queue_ns;
}

/* A new one for @peer, whose reference it takes; charged to the cgroup of @sk, or NULL: to none. */
static struct onramp_conn *onramp_conn_create(struct onramp_peer *peer,
					      struct onramp_qdisc_shared *shared, struct sock *sk,
					      u16 sport, u16 dport, u64 now)
{
	struct onramp_net *onet = peer->onet;
	struct onramp_conn *conn;
	int n;

	n = atomic_inc_return(&onet->n_conns);
	if (n > ONRAMP_CONNS_MAX) {
		onramp_net_count(onet, ONRAMP_N_FULL);
		goto uncount;
	}
	if (n == 1)
		queue_delayed_work(onramp_wq, &onet->age_work, HZ);
	conn = sock_charged_zalloc(onramp_conn_cache, sk);
	if (!conn) {
		onramp_net_count(onet, ONRAMP_N_NO_MEMORY);
		goto uncount;
	}
	conn->key = onramp_conn_key(peer, sport, dport);
	refcount_set(&conn->refs, 1);
	INIT_LIST_HEAD(&conn->of_peer);
	conn->peer = peer;
	spin_lock_init(&conn->lock);
	onramp_ctrl_init(&conn->ctrl);
	conn->acked = jiffies;
	conn->ring.rec = conn->rec;
	conn->ring.mask = ONRAMP_RECORDS - 1;

	spin_lock(&conn->lock);
	onramp_conn_move(conn, shared);
	onramp_conn_inherit(conn, now);
	spin_unlock(&conn->lock);

	/* Another qdisc was faster, or the table is growing: the next packet tries again. */
	if (rhashtable_lookup_insert_fast(&onet->conns, &conn->node, onramp_conn_table)) {
		onramp_net_count(onet, ONRAMP_N_NO_MEMORY);
		goto free;
	}
	return conn;

free:
	onramp_shared_put(shared);
	kmem_cache_free(onramp_conn_cache, conn);
uncount:
	atomic_dec(&onet->n_conns);
	return NULL;
}

/* Have messages about the connection's peer take the way of its data. */
static void onramp_conn_via(struct onramp_conn *conn, const struct or_via *via, int ifindex)
{
	struct onramp_peer *peer = conn->peer;

	spin_lock(&peer->lock);
	conn->via = *via;
	conn->ifindex = ifindex;
	list_move(&conn->of_peer, &peer->conns);
	spin_unlock(&peer->lock);
}

/**
 * onramp_conn_find_or_create() - find or create the connection of a packet
 * @shared: of the qdisc
 * @skb: a packet that onramp_tcp_headers() accepts
 * @egress: how it leaves, if its socket is not of this namespace; else NULL
 * @rtt_us: shortest RTT of the connection, U32_MAX: it has not seen any
 * @near_ns: only hosts below this RTT are asked for OR-ACKs, 0: all are
 * @now: CLOCK_MONOTONIC, ns
 *
 * The caller calls onramp_conn_own() with the result.
 *
 * Context: the qdisc's lock.
 * Return: it, referenced, or NULL: On-Ramp does not follow the connection.
 */
struct onramp_conn *onramp_conn_find_or_create(struct onramp_qdisc_shared *shared,
					       const struct sk_buff *skb,
					       const struct or_egress *egress, u32 rtt_us,
					       u64 near_ns, u64 now)
{
	struct onramp_net *onet = shared->onet;
	u16 sport = ntohs(tcp_hdr(skb)->source), dport = ntohs(tcp_hdr(skb)->dest);
	/* Its cgroup pays; for a forwarded connection none does. */
	struct sock *payer = skb->sk && sk_fullsock(skb->sk) ? skb->sk : NULL;
	/* Of this namespace. */
	const struct sock *sk = egress ? NULL : payer;
	struct onramp_conn *conn;
	struct onramp_peer *peer;
	struct or_addrs addrs;
	struct or_via via;

	/* When the table is full, do not look up each connection. */
	if (atomic_read(&onet->n_conns) >= ONRAMP_CONNS_MAX) {
		onramp_net_count(onet, ONRAMP_N_FULL);
		return NULL;
	}
	rcu_read_lock();
	onramp_addrs(skb, sk, &addrs);
	onramp_via(skb, sk, &via);
	peer = onramp_peer_find_or_create(onet, &addrs, egress, &via, payer, rtt_us, near_ns);
	if (!peer) {
		rcu_read_unlock();
		return NULL;
	}
	conn = onramp_conn_find(onet, peer, sport, dport);
	if (conn && !refcount_inc_not_zero(&conn->refs))
		conn = NULL;
	else if (conn)
		onramp_peer_put(peer);
	else
		conn = onramp_conn_create(peer, shared, payer, sport, dport, now);
	if (conn)
		onramp_conn_via(conn, &via, shared->ifindex);
	rcu_read_unlock();
	if (!conn)
		onramp_peer_put(peer);
	return conn;
}

/**
 * onramp_conn_own() - set the socket of a connection
 * @conn: the connection
 * @sk: the socket; NULL: it has none here
 * @key: of its flow: the address of the socket, or of the entry
 * @other_netns: the socket is one of another namespace
 * @now: CLOCK_MONOTONIC, ns
 *
 * Context: the qdisc's lock.
 */
void onramp_conn_own(struct onramp_conn *conn, const struct sock *sk, unsigned long key,
		     bool other_netns, u64 now)
{
	WRITE_ONCE(conn->seen_ns, now);
	/*
	 * onramp_conn_open() reads both without a lock. If it sees one value of the former socket
	 * and one of this, it takes the connection for closed; the next data starts it again.
	 */
	if (sk) {
		WRITE_ONCE(conn->hash, sk->sk_hash);
		WRITE_ONCE(conn->other_netns, other_netns);
	}
	WRITE_ONCE(conn->sk, key);
	/* Pairs with onramp_conn_lives(), which reads the time of this packet after it. */
	smp_store_release(&conn->forwarded, !sk);
}

/* onramp_conn_put() - drop a reference; any context but hard interrupts */
void onramp_conn_put(struct onramp_conn *conn)
{
	struct onramp_net *onet = conn->peer->onet;

	if (!refcount_dec_and_test(&conn->refs))
		return;
	rhashtable_remove_fast(&onet->conns, &conn->node, onramp_conn_table);
	atomic_dec(&onet->n_conns);
	/* An OR-ACK that has found it may still use it. */
	spin_lock_bh(&conn->lock);
	onramp_conn_account(conn, ktime_get_ns());
	spin_lock(&conn->peer->lock);
	conn->peer->paused_ns += conn->accounted_ns - conn->peer_ns;
	list_del_init(&conn->of_peer);
	spin_unlock(&conn->peer->lock);
	onramp_shared_put(conn->shared);
	WRITE_ONCE(conn->shared, NULL);
	spin_unlock_bh(&conn->lock);
	onramp_peer_put(conn->peer);
	call_rcu(&conn->rcu, onramp_conn_free);
}

/* The qdisc's side --------------------------------------------------------- */

/**
 * onramp_conn_wait() - announce that a flow is about to wait for the end of a pause, or after one
 * @conn: its connection
 * @shared: of its qdisc
 * @key: of the flow
 * @now: CLOCK_MONOTONIC, ns
 *
 * A change of @conn->until and of @conn->empty_ns after this is told to the qdisc.
 *
 * Context: the qdisc's lock.
 */
void onramp_conn_wait(struct onramp_conn *conn, struct onramp_qdisc_shared *shared,
		      unsigned long key, u64 now)
{
	spin_lock(&conn->lock);
	onramp_conn_move(conn, shared);
	conn->waits = true;
	WRITE_ONCE(conn->waiter, key);
	if (conn->ctrl.until_ns > now)
		trace_onramp_hold(conn, now, conn->ctrl.until_ns);
	spin_unlock(&conn->lock);
}

/**
 * onramp_conn_held() - account for a packet that leaves after it waited for the end of a pause
 * @conn: its connection
 * @shared: of its qdisc
 * @until_ns: the end
 * @now: CLOCK_MONOTONIC, ns
 *
 * Context: the qdisc's lock.
 */
void onramp_conn_held(struct onramp_conn *conn, struct onramp_qdisc_shared *shared, u64 until_ns,
		      u64 now)
{
	u64 late_ns = onramp_since_ns(now, until_ns);

	onramp_shared_add(shared, ONRAMP_Q_HELD, 1);
	onramp_shared_add(shared, ONRAMP_Q_HELD_LATE_NS, late_ns);
	onramp_stats_max(&shared->stats.held_late_max_ns, late_ns);
	trace_onramp_release(conn, now, until_ns);
}

/**
 * onramp_conn_size() - change the length of full packets, or the rate of the link
 * @conn: the connection
 * @mss: payload of its full packets
 * @headers: bytes before that
 * @line_bps: of the link, bytes/s; 0: unknown
 *
 * Times by two models of the wire can't be compared, so records by the former one and the
 * baseline of the path are forgotten.
 *
 * Context: the connection's lock.
 */
void onramp_conn_size(struct onramp_conn *conn, u32 mss, u32 headers, u64 line_bps)
{
	struct onramp_peer *peer = conn->peer;

	lockdep_assert_held(&conn->lock);
	if (conn->line_bps != line_bps)
		conn->ring.count = 0;
	spin_lock(&peer->lock);
	if (peer->line_bps != line_bps) {
		peer->line_bps = line_bps;
		/* As after a change of the clock. */
		peer->has_domain = false;
		peer->last_owd_at_ns = 0;
	}
	spin_unlock(&peer->lock);
	conn->mss = min(mss, 65535U);
	conn->line_bps = line_bps;
	conn->byte_ns = onramp_byte_time(line_bps, conn->mss,
					 conn->mss + headers + ONRAMP_WIRE_EXTRA);
}

/* The first byte that its host does not know to have arrived. */
static u32 onramp_conn_una(const struct onramp_conn *conn, const struct sock *sk)
{
	return likely(sk) ? READ_ONCE(tcp_sk(sk)->snd_una) : conn->una;
}

/**
 * onramp_conn_ask() - ask whether a burst may begin
 * @conn: the connection
 * @sk: its socket; NULL: forwarded
 * @len: bytes of its first packet
 * @most_ns: longest time that it waits
 * @now: CLOCK_MONOTONIC, ns
 *
 * Context: the qdisc's lock.
 * Return: 0: it may; else ns after which to ask again.
 */
u64 onramp_conn_ask(struct onramp_conn *conn, const struct sock *sk, u32 len, u64 most_ns,
		    u64 now)
{
	struct onramp_peer *peer = conn->peer;
	u64 ask_ns = 0;

	if (READ_ONCE(peer->silent))
		return 0;
	spin_lock(&conn->lock);
	spin_lock(&peer->lock);
	/* Beside hosts without On-Ramp nothing is held. */
	if (!peer->path.coexist_share)
		ask_ns = onramp_window_ask(&peer->window, &conn->burst, len,
					   onramp_conn_una(conn, sk), most_ns, now);
	spin_unlock(&peer->lock);
	spin_unlock(&conn->lock);
	return ask_ns;
}

/**
 * onramp_conn_burst() - count data of a burst that leaves
 * @conn: the connection
 * @sk: its socket; NULL: forwarded
 * @seq: first sequence number
 * @end: after the last one
 * @first: it is the first of the burst
 * @now: CLOCK_MONOTONIC, ns
 *
 * Context: the connection's lock.
 */
void onramp_conn_burst(struct onramp_conn *conn, const struct sock *sk, u32 seq, u32 end,
		       bool first, u64 now)
{
	struct onramp_peer *peer = conn->peer;

	lockdep_assert_held(&conn->lock);
	spin_lock(&peer->lock);
	conn->counts = onramp_window_sent(&peer->window, &conn->burst, seq, end, first,
					  onramp_conn_una(conn, sk), now);
	spin_unlock(&peer->lock);
}

/*
 * onramp_conn_look() - see what of a forwarded connection may be in flight, as data from @seq on
 * leaves. The connection's lock.
 */
void onramp_conn_look(struct onramp_conn *conn, u32 seq)
{
	lockdep_assert_held(&conn->lock);
	conn->una = onramp_fwd_una(conn->una, seq, !conn->ring.sent_ns);
	conn->stale = time_after(jiffies, conn->acked + ONRAMP_FORWARD_STALE);
}

/*
 * onramp_conn_again() - data that has been sent before leaves: see whether the path has lost it.
 * The connection's lock.
 */
void onramp_conn_again(struct onramp_conn *conn, u64 now)
{
	struct onramp_peer *peer = conn->peer;

	lockdep_assert_held(&conn->lock);
	spin_lock(&peer->lock);
	atomic64_set(&peer->lost_ns, now);
	if (onramp_path_lost(&peer->path, now))
		trace_onramp_lost(conn, now, peer->path.lost_peak_ns);
	spin_unlock(&peer->lock);
}

/* onramp_conn_sent_trace() - call the tracepoint; the connection's lock */
void onramp_conn_sent_trace(const struct onramp_conn *conn, u64 now, u64 tx_ns, u32 seq, u32 end,
			    u64 cum_ns)
{
	trace_onramp_sent(conn, now, tx_ns, seq, end, cum_ns);
}
