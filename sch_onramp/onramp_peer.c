// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: hosts that data is sent to, and their subscriptions
 *
 *	first connection whose shortest RTT is below "peers" of its qdisc:
 *	  a peer with a random nonce; its work runs at once
 *	  the table is full: one that has never answered makes room for it
 *	work:
 *	  no connection for a minute: SUBSCRIBE with lifetime 0 if it has ever answered,
 *	    forget the peer
 *	  no connection, but OR-ACKs come: On-Ramp no longer follows the data. SUBSCRIBE with
 *	    lifetime 0, again while they still come
 *	  a connection again: go on where it was
 *	  SUBSCRIBE, lifetime 60 s; next
 *	    OR-ACKs came since the last one: in 20 s
 *	    else: in 0.1 s, then twice as long each time, up to 30 s
 *	  five without an OR-ACK: the peer is silent, nothing is recorded for it
 *	  each goes by the way of the data: device, VRF and mark of the peer's connection that began
 *	  last. If no route leads there, none is sent
 *	CHALLENGE, with the right tag, to the last SUBSCRIBE:
 *	  work: the same again with the cookie, at once; but only once for each SUBSCRIBE
 *	  that goes out by time, so that no peer can make this host send at its rate
 *	  the counts of the peer's OR-ACKs start over
 *
 * All times are off by up to a quarter, at random, so that hosts that started at one
 * time do not stay in step. A single OR-ACK with the right tag ends the silence.
 *
 * A nonce is used for an hour. The peer then asks for a proof of the address again. OR-ACKs
 * with the former key are good until one comes with the new one. The pre-shared key
 * may change at any time: it is asked for with each SUBSCRIBE.
 * Documentation/or-protocol.md has the rules.
 *
 * When the table is full, a new peer evicts an old one: one that has never sent a message with
 * the right tag, and that has no connection or is silent. The search goes on from the last
 * one, a few peers each time. Hosts without On-Ramp cannot evict one that has it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/etherdevice.h>
#include <linux/inetdevice.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/net_namespace.h>

#include <test_delay.h>

#include "onramp_event.h"
#include "onramp_net.h"
#include "onramp_trace.h"
#include "sock_charge.h"

/* Lifetime that a SUBSCRIBE asks for, s: three renewals. */
#define ONRAMP_LIFETIME_S	60

/* Renewal of a subscription that works, jiffies. */
#define ONRAMP_RENEW		(20 * HZ)

/* After the first SUBSCRIBE, and at most, without an OR-ACK; jiffies. */
#define ONRAMP_TRY_MIN		(HZ / 10)
#define ONRAMP_TRY_MAX		(30 * HZ)

/* SUBSCRIBEs without an OR-ACK after which a peer is silent. */
#define ONRAMP_SILENT		5

/* The port could not be opened: next attempt, jiffies. */
#define ONRAMP_PORT_RETRY	(10 * HZ)

/* A peer without a connection is forgotten after, and looked after each; jiffies. */
#define ONRAMP_PEER_AGE		(60 * HZ)
#define ONRAMP_PEER_LOOK	(5 * HZ)

/* Peers that are looked at for one that makes room, at most. */
#define ONRAMP_EVICT_LOOKS	16

/*
 * A peer without a connection sends OR-ACKs: the subscription ends after this long, jiffies. A
 * qdisc that replaces another one has the connections back by then.
 */
#define ONRAMP_UNWANTED		(HZ / 10)

/* Life of a nonce, jiffies. */
#define ONRAMP_NONCE_AGE	(60 * 60 * HZ)

/* A peer takes 1.5 KB. Connections to those beyond are sent as by fq, and counted. */
static unsigned int onramp_max_peers = 1 << 14;
module_param_named(max_peers, onramp_max_peers, uint, 0644);
MODULE_PARM_DESC(max_peers, "peers of a network namespace, at most (16384)");

struct workqueue_struct *onramp_wq;
static struct kmem_cache *onramp_peer_cache;

const struct rhashtable_params onramp_peer_table = {
	.key_len		= sizeof(struct or_addrs),
	.key_offset		= offsetof(struct onramp_peer, addrs),
	.head_offset		= offsetof(struct onramp_peer, node),
	.automatic_shrinking	= true,
};

/* SUBSCRIBE ---------------------------------------------------------------- */

/* @delay, more or less a quarter of it. */
static unsigned long onramp_jitter(unsigned long delay)
{
	return delay - delay / 4 + (unsigned long)(((u64)get_random_u32() * (delay / 2)) >> 32);
}

/* A new nonce: its first SUBSCRIBE starts with count 1 and without a cookie. */
static void onramp_peer_renonce(struct onramp_peer *peer)
{
	get_random_bytes(peer->nonce, sizeof(peer->nonce));
	peer->count = 0;
	peer->nonce_at = jiffies;
	spin_lock_bh(&peer->lock);
	peer->cookie = 0;
	spin_unlock_bh(&peer->lock);
}

/* The key of nonce and pre-shared key, which may both have changed. */
static void onramp_peer_rekey(struct onramp_peer *peer)
{
	u8 psk[OR_KEY_LEN], key[OR_KEY_LEN];
	struct or_pair pair;

	lockdep_assert_held(&peer->lock);
	or_addrs_pair(&peer->addrs, true, &pair);
	or_port_key(peer->onet->net, psk);
	or_derive(psk, &pair, peer->nonce, key);
	if (!memcmp(peer->key, key, sizeof(key)))
		return;
	/* The peer may still hold this one. Before the first SUBSCRIBE it is none. */
	memcpy(peer->old_key, peer->key, sizeof(key));
	peer->has_old = peer->asked;
	memcpy(peer->key, key, sizeof(key));
}

/* Return whether the local address is not this host's. */
static bool onramp_addrs_foreign(struct net *net, const struct or_addrs *addrs)
{
	if (addrs->family == AF_INET)
		return inet_addr_type(net, addrs->laddr[0]) == RTN_UNICAST;
	return IS_ENABLED(CONFIG_IPV6) &&
	       !ipv6_chk_addr(net, (const struct in6_addr *)addrs->laddr, NULL, 0);
}

static void onramp_peer_subscribe(struct onramp_peer *peer, u16 lifetime_s)
{
	struct net *net = peer->onet->net;
	bool foreign = READ_ONCE(peer->forwards) && onramp_addrs_foreign(net, &peer->addrs);
	const struct onramp_conn *conn;
	struct or_subscribe s = {
		.count = ++peer->count,
		.lifetime_s = lifetime_s,
		.caps = OR_CAP_ALL,
	};
	u8 msg[OR_SUBSCRIBE_LEN];
	struct or_egress egress;
	struct or_via via;
	int err;

	memcpy(s.nonce, peer->nonce, sizeof(s.nonce));
	local_bh_disable();
	spin_lock(&peer->lock);
	onramp_peer_rekey(peer);
	s.cookie = peer->cookie;
	peer->asked = s.count;
	or_subscribe_encode(&s, msg);
	or_sign(msg, sizeof(msg), peer->key);
	egress = peer->egress;
	/* Without one, to end the subscription, as before. */
	conn = list_first_entry_or_null(&peer->conns, struct onramp_conn, of_peer);
	if (conn)
		peer->via = conn->via;
	via = peer->via;
	spin_unlock(&peer->lock);
	/* The answer may come at once. */
	WRITE_ONCE(peer->foreign, foreign);
	if (foreign && egress.ifindex)
		err = or_port_send_by(net, &peer->addrs, &egress, msg, sizeof(msg));
	else
		err = or_port_send(net, &peer->addrs, &via, foreign, msg, sizeof(msg), 0, 0);
	onramp_net_count(peer->onet, err ? ONRAMP_N_SUBSCRIBE_ERRORS : ONRAMP_N_SUBSCRIBES);
	local_bh_enable();
	trace_onramp_subscribe(&peer->addrs, s.count, s.lifetime_s, peer->tries, err);
}

/* Note that the peer does not answer, or that nothing is known against it any more. */
static void onramp_peer_set_silent(struct onramp_peer *peer, bool silent)
{
	bool was = READ_ONCE(peer->silent);

	/* Read without a lock when a packet leaves. */
	WRITE_ONCE(peer->silent, silent);
	if (!silent || was)
		return;
	spin_lock_bh(&peer->lock);
	WRITE_ONCE(peer->events, peer->events | BIT(ONRAMP_EVENT_SILENT));
	spin_unlock_bh(&peer->lock);
	onramp_peer_notify(peer);
}

/* Open the port, once for each peer: it is counted. */
static bool onramp_peer_open(struct onramp_peer *peer)
{
	struct onramp_net *onet = peer->onet;
	int err;

	if (peer->open)
		return true;
	err = or_port_open(onet->net);
	if (!err) {
		peer->open = true;
		return true;
	}
	onramp_net_count(onet, ONRAMP_N_PORT_ERRORS);
	trace_onramp_subscribe(&peer->addrs, 0, 0, 0, err);
	if (xchg(&onet->port_error, err) != err)
		pr_warn("cannot open UDP port %d (error %d): flows are sent without On-Ramp, as by fq\n",
			OR_PORT, err);
	return false;
}

/* Keep a peer with connections subscribed. Returns the delay until the next run, jiffies. */
static unsigned long onramp_peer_keep(struct onramp_peer *peer)
{
	bool heard = READ_ONCE(peer->heard), idle = peer->idle;
	unsigned long delay;

	WRITE_ONCE(peer->idle, false);
	clear_bit(ONRAMP_PEER_UNWANTED, &peer->flags);
	peer->leaves = 0;

	if (test_bit(ONRAMP_PEER_YIELDS, &peer->flags)) {
		unsigned long until = READ_ONCE(peer->yields_until);

		onramp_peer_set_silent(peer, true);
		if (time_before(jiffies, until))
			return until - jiffies;
		clear_bit(ONRAMP_PEER_YIELDS, &peer->flags);
	}
	/* An answer to a CHALLENGE does not move the next SUBSCRIBE by time. */
	if (peer->open && test_and_clear_bit(ONRAMP_PEER_ANSWERS, &peer->flags)) {
		onramp_peer_subscribe(peer, ONRAMP_LIFETIME_S);
		return time_after(peer->next, jiffies) ? peer->next - jiffies : 0;
	}
	/* The last SUBSCRIBE still holds, or the peer was asked often enough. */
	if (idle && time_after(peer->next, jiffies))
		return peer->next - jiffies;
	if (!onramp_peer_open(peer)) {
		onramp_peer_set_silent(peer, true);
		return onramp_jitter(ONRAMP_PORT_RETRY);
	}
	if (time_after(jiffies, peer->nonce_at + ONRAMP_NONCE_AGE))
		onramp_peer_renonce(peer);
	/* Shown without a lock. */
	WRITE_ONCE(peer->tries, heard ? 0 : peer->tries + 1);
	WRITE_ONCE(peer->heard, false);
	onramp_peer_set_silent(peer, peer->tries > ONRAMP_SILENT);
	clear_bit(ONRAMP_PEER_CHALLENGED, &peer->flags);
	onramp_peer_subscribe(peer, ONRAMP_LIFETIME_S);
	delay = heard ? ONRAMP_RENEW :
			min_t(unsigned long, ONRAMP_TRY_MIN << min(peer->tries - 1, 16U),
			      ONRAMP_TRY_MAX);
	delay = onramp_jitter(delay);
	peer->next = jiffies + delay;
	return delay;
}

/*
 * End the subscription of a peer without a connection if it sends OR-ACKs all the same: the qdisc
 * is gone or off, or no longer follows its data. The message may be lost, so it is repeated while
 * they come. Returns the delay until the next run, jiffies.
 */
static unsigned long onramp_peer_leave(struct onramp_peer *peer)
{
	if (!test_bit(ONRAMP_PEER_UNWANTED, &peer->flags))
		return ONRAMP_PEER_LOOK;
	if (peer->leaves && time_before(jiffies, peer->leave_at))
		return peer->leave_at - jiffies;
	clear_bit(ONRAMP_PEER_UNWANTED, &peer->flags);
	onramp_peer_subscribe(peer, 0);
	peer->leave_at = jiffies + min_t(unsigned long, ONRAMP_TRY_MIN << min(peer->leaves, 16U),
					 ONRAMP_TRY_MAX);
	peer->leaves++;
	/* Its next connection asks at once. */
	peer->next = jiffies;
	peer->tries = 0;
	WRITE_ONCE(peer->heard, false);
	return ONRAMP_PEER_LOOK;
}

/* Peers -------------------------------------------------------------------- */

static void onramp_peer_free(struct rcu_head *rcu)
{
	kmem_cache_free(onramp_peer_cache, container_of(rcu, struct onramp_peer, rcu));
}

/* Free a peer that is in no list. Its work does not run, or calls this. */
static void onramp_peer_drop(struct onramp_peer *peer)
{
	struct onramp_net *onet = peer->onet;

	/* Its work may have been queued again since it began. */
	cancel_delayed_work(&peer->work);
	if (peer->open) {
		/* A peer that never answered has no subscription to end. */
		if (READ_ONCE(peer->answered) && !peer->leaves)
			onramp_peer_subscribe(peer, 0);
		or_port_close(onet->net);
	}
	call_rcu(&peer->rcu, onramp_peer_free);
}

/* Take a peer out of the table, if only that holds it. */
static bool onramp_peer_unlink(struct onramp_peer *peer, bool dying)
{
	struct onramp_net *onet = peer->onet;
	bool gone;

	spin_lock_bh(&onet->lock);
	gone = onet->dying == dying && refcount_dec_if_one(&peer->refs);
	if (gone) {
		list_del(&peer->list);
		if (!peer->evicted) {
			rhashtable_remove_fast(&onet->peers, &peer->node, onramp_peer_table);
			atomic_dec(&onet->n_peers);
		}
	}
	spin_unlock_bh(&onet->lock);
	return gone;
}

/* May the peer be evicted? It has never answered, and has no connection or is silent. */
static bool onramp_peer_evictable(const struct onramp_peer *peer)
{
	return !READ_ONCE(peer->answered) &&
	       (refcount_read(&peer->refs) == 1 || READ_ONCE(peer->silent));
}

/*
 * Evict one of the next peers, to make room. It is not found from then on. onramp_conn_age()
 * drops its connections, and then its work frees it.
 */
static bool onramp_peer_evict(struct onramp_net *onet)
{
	struct onramp_peer *peer;
	unsigned int looks;
	bool found = false;

	spin_lock_bh(&onet->lock);
	for (looks = 0; looks < ONRAMP_EVICT_LOOKS && !found; looks++) {
		peer = list_first_entry_or_null(&onet->list, struct onramp_peer, list);
		if (!peer)
			break;
		found = onramp_peer_evictable(peer);
		list_move_tail(&peer->list, found ? &onet->evicted : &onet->list);
	}
	if (found) {
		WRITE_ONCE(peer->evicted, true);
		rhashtable_remove_fast(&onet->peers, &peer->node, onramp_peer_table);
		atomic_dec(&onet->n_peers);
		onramp_net_count(onet, ONRAMP_N_EVICTED);
		mod_delayed_work(onramp_wq, &peer->work, 0);
	}
	spin_unlock_bh(&onet->lock);
	return found;
}

/* Return whether a peer without a connection has had none for long. */
static bool onramp_peer_is_old(struct onramp_peer *peer)
{
	if (!peer->idle) {
		peer->idle_at = jiffies;
		WRITE_ONCE(peer->idle, true);
	}
	return time_after(jiffies, peer->idle_at + ONRAMP_PEER_AGE);
}

/* Keep the lowest round trip of the last half a minute for those who come later. */
static void onramp_peer_keep_rtt(struct onramp_peer *peer)
{
	spin_lock_bh(&peer->lock);
	onramp_peer_report_rtt(peer, peer->path.rtt.now, OR_PATH_SEEN);
	spin_unlock_bh(&peer->lock);
}

static void onramp_peer_work(struct work_struct *work)
{
	struct onramp_peer *peer = container_of(to_delayed_work(work), struct onramp_peer,
						work);
	unsigned long delay = ONRAMP_PEER_LOOK;

	/* Without a connection it has no other one. */
	if (!peer->idle)
		onramp_peer_keep_rtt(peer);
	if (READ_ONCE(peer->evicted)) {
		if (onramp_peer_unlink(peer, false)) {
			test_delay();
			onramp_peer_drop(peer);
			return;
		}
	} else if (refcount_read(&peer->refs) > 1) {
		delay = onramp_peer_keep(peer);
	} else {
		if (onramp_peer_is_old(peer) && onramp_peer_unlink(peer, false)) {
			test_delay();
			onramp_peer_drop(peer);
			return;
		}
		delay = onramp_peer_leave(peer);
	}
	queue_delayed_work(onramp_wq, &peer->work, delay);
}

/* onramp_peer_find() - find the peer of a pair of addresses; return it, or NULL. RCU */
struct onramp_peer *onramp_peer_find(struct onramp_net *onet, const struct or_addrs *addrs)
{
	return rhashtable_lookup(&onet->peers, addrs, onramp_peer_table);
}

/* The cgroup of the first connection pays, as with pages of a file; @sk: of that, or NULL. */
static struct onramp_peer *onramp_peer_create(struct onramp_net *onet,
					      const struct or_addrs *addrs,
					      const struct or_egress *egress,
					      const struct or_via *via, struct sock *sk,
					      u32 rtt_us)
{
	struct onramp_peer *peer;
	int err;

	if (atomic_inc_return(&onet->n_peers) > READ_ONCE(onramp_max_peers) &&
	    !onramp_peer_evict(onet)) {
		onramp_net_count(onet, ONRAMP_N_FULL);
		goto uncount;
	}
	peer = sock_charged_zalloc(onramp_peer_cache, sk);
	if (!peer)
		goto no_memory;
	peer->addrs = *addrs;
	/* The table's, and the caller's. */
	refcount_set(&peer->refs, 2);
	peer->onet = onet;
	peer->rtt_us = rtt_us;
	peer->forwards = egress;
	if (egress)
		peer->egress = *egress;
	INIT_DELAYED_WORK(&peer->work, onramp_peer_work);
	spin_lock_init(&peer->lock);
	atomic64_set(&peer->drained, ONRAMP_DRAIN_PROBED);
	INIT_LIST_HEAD(&peer->conns);
	/* The work may run before its first connection is there. */
	peer->via = *via;
	get_random_bytes(peer->nonce, sizeof(peer->nonce));
	peer->nonce_at = jiffies;
	peer->next = jiffies;
	/* No message has the right tag before the first SUBSCRIBE: nobody knows this key. */
	get_random_bytes(peer->key, sizeof(peer->key));
	onramp_owd_init(&peer->owd);

	spin_lock_bh(&onet->lock);
	err = onet->dying ? -ESHUTDOWN :
	      rhashtable_lookup_insert_fast(&onet->peers, &peer->node, onramp_peer_table);
	if (!err)
		list_add_tail(&peer->list, &onet->list);
	spin_unlock_bh(&onet->lock);
	if (err)
		goto free;
	queue_delayed_work(onramp_wq, &peer->work, 0);
	return peer;

free:
	kmem_cache_free(onramp_peer_cache, peer);
no_memory:
	onramp_net_count(onet, ONRAMP_N_NO_MEMORY);
uncount:
	atomic_dec(&onet->n_peers);
	return NULL;
}

/* Is @egress that of the guest's packets? The next hop may have another MAC address. */
static bool onramp_egress_same(const struct or_egress *guest, const struct or_egress *egress)
{
	if (!guest->ifindex)
		return !egress->ifindex;
	return guest->vlan_proto == egress->vlan_proto && guest->vlan_id == egress->vlan_id &&
	       ether_addr_equal(guest->src, egress->src);
}

/*
 * May data from @addrs leave by @egress, in the name of that address? Not in this host's own; and
 * not if another guest has proven the address, while it has answers. @peer: of @addrs, or NULL.
 */
static bool onramp_peer_may_leave(struct onramp_net *onet, const struct or_addrs *addrs,
				  struct onramp_peer *peer, const struct or_egress *egress)
{
	bool may;

	if (egress->ifindex && !onramp_addrs_foreign(onet->net, addrs))
		return false;
	if (!peer)
		return true;
	spin_lock(&peer->lock);
	may = onramp_egress_same(&peer->egress, egress) || !READ_ONCE(peer->forwards) ||
	      !peer->answered || READ_ONCE(peer->silent);
	if (may) {
		peer->egress = *egress;
		WRITE_ONCE(peer->forwards, true);
	}
	spin_unlock(&peer->lock);
	return may;
}

/**
 * onramp_peer_find_or_create() - find or create the peer of a pair of addresses
 * @onet: namespace
 * @addrs: the addresses
 * @egress: of a connection without a socket of this namespace: how its packets leave; else NULL
 * @via: way of its data, for a new peer
 * @sk: socket whose cgroup a new peer is charged to; NULL: nobody's
 * @rtt_us: shortest RTT of a connection between them, U32_MAX: it has not seen any
 * @near_ns: only a host with a connection below this RTT becomes a peer, 0: any does
 *
 * Context: BH disabled.
 * Return: it, referenced, or NULL: it is not near, or for lack of memory or room.
 */
struct onramp_peer *onramp_peer_find_or_create(struct onramp_net *onet,
					       const struct or_addrs *addrs,
					       const struct or_egress *egress,
					       const struct or_via *via, struct sock *sk,
					       u32 rtt_us, u64 near_ns)
{
	struct onramp_peer *peer;

	rcu_read_lock();
	peer = onramp_peer_find(onet, addrs);
	if (egress && !onramp_peer_may_leave(onet, addrs, peer, egress)) {
		rcu_read_unlock();
		onramp_net_count(onet, ONRAMP_N_FORWARD_STRAYS);
		return NULL;
	}
	/* Two writers at once: the next connection mends it. */
	if (peer && rtt_us < READ_ONCE(peer->rtt_us))
		WRITE_ONCE(peer->rtt_us, rtt_us);
	if (!onramp_is_near(peer ? READ_ONCE(peer->rtt_us) : rtt_us, near_ns)) {
		peer = NULL;
		goto unlock;
	}
	if (rtt_us != U32_MAX)
		or_path_report(onet->net, addrs, via->ifindex, OR_PATH_TCP,
			       (u64)rtt_us * NSEC_PER_USEC, OR_PATH_SEEN);
	if (!peer)
		peer = onramp_peer_create(onet, addrs, egress, via, sk, rtt_us);
	else if (!refcount_inc_not_zero(&peer->refs))
		peer = NULL;
	else if (READ_ONCE(peer->idle))
		mod_delayed_work(onramp_wq, &peer->work, 0);
unlock:
	rcu_read_unlock();
	return peer;
}

/* onramp_peer_put() - drop a reference; its work does the rest later. Any context. */
void onramp_peer_put(struct onramp_peer *peer)
{
	/* The table's is left. */
	refcount_dec(&peer->refs);
}

/* Note a message with the right tag. */
static void onramp_peer_answered(struct onramp_peer *peer)
{
	lockdep_assert_held(&peer->lock);
	/* Both are shown without the lock. */
	WRITE_ONCE(peer->heard_at, jiffies);
	if (!peer->answered)
		WRITE_ONCE(peer->answered, true);
}

/* onramp_peer_verify() - return whether the tag of OR_ACK_LEN bytes is right; BH disabled */
bool onramp_peer_verify(struct onramp_peer *peer, const u8 *msg)
{
	bool ok;

	spin_lock(&peer->lock);
	ok = !or_verify(msg, OR_ACK_LEN, peer->key);
	if (ok)
		peer->has_old = false;
	else if (peer->has_old)
		ok = !or_verify(msg, OR_ACK_LEN, peer->old_key);
	if (ok) {
		onramp_peer_answered(peer);
		if (!peer->acks++ || READ_ONCE(peer->silent))
			WRITE_ONCE(peer->events, peer->events | BIT(ONRAMP_EVENT_HEARD));
	}
	spin_unlock(&peer->lock);
	/* The sending side reads it without a lock, so it is written only if it changes. */
	if (ok && !READ_ONCE(peer->heard)) {
		WRITE_ONCE(peer->heard, true);
		WRITE_ONCE(peer->silent, false);
	}
	return ok;
}

/**
 * onramp_peer_unwanted() - note an OR-ACK of a peer about data that no qdisc follows
 * @peer: the peer
 *
 * If it has no connection at all, and none soon, its work ends the subscription.
 *
 * Context: RCU, BH disabled.
 */
void onramp_peer_unwanted(struct onramp_peer *peer)
{
	struct onramp_net *onet = peer->onet;

	if (refcount_read(&peer->refs) > 1 || test_bit(ONRAMP_PEER_UNWANTED, &peer->flags) ||
	    test_and_set_bit(ONRAMP_PEER_UNWANTED, &peer->flags))
		return;
	spin_lock(&onet->lock);
	/* A peer that is unlinked has no reference. Its work is cancelled after that. */
	if (!onet->dying && refcount_read(&peer->refs) == 1)
		mod_delayed_work(onramp_wq, &peer->work, ONRAMP_UNWANTED);
	else
		clear_bit(ONRAMP_PEER_UNWANTED, &peer->flags);
	spin_unlock(&onet->lock);
}

/* Is it of this peer, and about its last SUBSCRIBE? Then keep the cookie. */
static bool onramp_peer_challenged(struct onramp_peer *peer, const u8 *msg,
				   const struct or_challenge *c)
{
	bool ok;

	spin_lock(&peer->lock);
	ok = peer->asked && c->count == peer->asked &&
	     !or_verify(msg, OR_CHALLENGE_LEN, peer->key);
	if (ok) {
		peer->cookie = c->cookie;
		onramp_peer_answered(peer);
	}
	ok = ok && !test_and_set_bit(ONRAMP_PEER_CHALLENGED, &peer->flags);
	/* Read without the lock when an OR-ACK comes. */
	if (ok)
		WRITE_ONCE(peer->anew, peer->anew + 1);
	spin_unlock(&peer->lock);
	return ok;
}

/**
 * onramp_peer_take() - take a CHALLENGE, if it answers a SUBSCRIBE of this host
 * @onet: namespace
 * @addrs: ends of the message
 * @msg: its first OR_MSG_MAX bytes, or all if it has fewer
 * @len: its length
 *
 * It is answered by the peer's work, which has the nonce; one reference more keeps the work from
 * letting the peer go meanwhile.
 *
 * Context: RCU, BH disabled.
 * Return: whether it is taken.
 */
bool onramp_peer_take(struct onramp_net *onet, const struct or_addrs *addrs, const u8 *msg,
		      unsigned int len)
{
	struct onramp_peer *peer;
	struct or_challenge c;

	if (or_challenge_decode(msg, len, &c))
		goto refuse;
	peer = onramp_peer_find(onet, addrs);
	if (!peer || !refcount_inc_not_zero(&peer->refs))
		goto refuse;
	if (!onramp_peer_challenged(peer, msg, &c)) {
		onramp_peer_put(peer);
		goto refuse;
	}
	onramp_net_count(onet, ONRAMP_N_CHALLENGES);
	set_bit(ONRAMP_PEER_ANSWERS, &peer->flags);
	mod_delayed_work(onramp_wq, &peer->work, 0);
	onramp_peer_put(peer);
	return true;

refuse:
	onramp_net_count(onet, ONRAMP_N_CHALLENGES_REFUSED);
	return false;
}

/* onramp_peer_rcv() - take a CHALLENGE; RCU, BH disabled */
void onramp_peer_rcv(struct net *net, const struct or_addrs *addrs, int ifindex, u32 mark,
		     const u8 *msg, unsigned int len)
{
	onramp_peer_take(onramp_net(net), addrs, msg, len);
}

/**
 * onramp_peer_leaves_by() - return whether a frame is of the guest that a peer is asked for
 * @peer: the peer
 * @egress: of the frame, as the guest sends; an ipvlan's has the MAC address of the device, so
 *	@egress->ifindex need not be set
 *
 * Context: BH disabled.
 */
bool onramp_peer_leaves_by(struct onramp_peer *peer, const struct or_egress *egress)
{
	bool same;

	spin_lock(&peer->lock);
	same = onramp_egress_same(&peer->egress, egress);
	spin_unlock(&peer->lock);
	return same;
}

/* onramp_peer_is_own() - return whether a SUBSCRIBE to a peer is this host's own; BH disabled */
bool onramp_peer_is_own(struct onramp_peer *peer, const u8 *msg, unsigned int len)
{
	bool own;

	spin_lock(&peer->lock);
	own = !or_verify(msg, len, peer->key);
	spin_unlock(&peer->lock);
	return own;
}

/**
 * onramp_peer_yield() - leave a subscription to the guest whose address it is of
 * @peer: the peer
 * @delay: for this long, jiffies
 *
 * Two that subscribe in one name would take the subscription from each other all the time.
 *
 * Context: RCU, BH disabled.
 */
void onramp_peer_yield(struct onramp_peer *peer, unsigned long delay)
{
	WRITE_ONCE(peer->yields_until, jiffies + delay);
	WRITE_ONCE(peer->silent, true);
	set_bit(ONRAMP_PEER_YIELDS, &peer->flags);
	onramp_net_count(peer->onet, ONRAMP_N_FORWARD_YIELDS);
}

/* onramp_peers_exit() - free all peers of a namespace without devices; process context */
void onramp_peers_exit(struct onramp_net *onet)
{
	struct onramp_peer *peer, *next;

	spin_lock_bh(&onet->lock);
	onet->dying = true;
	list_splice_init(&onet->evicted, &onet->list);
	spin_unlock_bh(&onet->lock);
	/*
	 * No work unlinks a peer from here on: the list stays as it is. One that did so before
	 * still uses the namespace, and its peer is in no list.
	 */
	flush_workqueue(onramp_wq);
	list_for_each_entry_safe(peer, next, &onet->list, list) {
		cancel_delayed_work_sync(&peer->work);
		if (WARN_ON_ONCE(!onramp_peer_unlink(peer, true)))
			continue;
		onramp_peer_drop(peer);
	}
}

/* onramp_peer_cache_create() - create the cache of peers, and the workqueue; 0 or -ENOMEM */
int onramp_peer_cache_create(void)
{
	onramp_peer_cache = kmem_cache_create("onramp_peer", sizeof(struct onramp_peer), 0, 0,
					      NULL);
	if (!onramp_peer_cache)
		return -ENOMEM;
	onramp_wq = alloc_workqueue("onramp", WQ_UNBOUND, 0);
	if (onramp_wq)
		return 0;
	kmem_cache_destroy(onramp_peer_cache);
	return -ENOMEM;
}

/* onramp_peer_cache_destroy() - undo that; no namespace has peers any more */
void onramp_peer_cache_destroy(void)
{
	destroy_workqueue(onramp_wq);
	/* onramp_peer_free() */
	rcu_barrier();
	kmem_cache_destroy(onramp_peer_cache);
}
