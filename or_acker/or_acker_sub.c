// SPDX-License-Identifier: GPL-2.0
/*
 * or_acker, the subscribers: hosts that send data and want OR-ACKs.
 *
 *	SUBSCRIBE:
 *		decode, find the subscriber of its pair of addresses
 *		none: is it right by itself, and is there room? then make one
 *		let it start, renew or end the subscription
 *	each second: remove those whose lifetime is over
 *
 * A subscriber is in the table until its subscription ends, or until it makes room
 * for another one while no flow uses it; flows keep its memory for longer.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "or_acker.h"
#include "or_acker_trace.h"

/* As or_acker_params.h says. RT and lockdep have larger locks. */
static_assert(sizeof(struct or_acker_sub) <= 192 || sizeof(spinlock_t) > 4);

static const struct rhashtable_params or_acker_sub_params = {
	.head_offset		= offsetof(struct or_acker_sub, node),
	.key_offset		= offsetof(struct or_acker_sub, key),
	.key_len		= sizeof(struct nic_ts_key),
	.automatic_shrinking	= true,
};

/* Time of subscriptions, s, > 0. */
static u64 or_acker_now_s(void)
{
	return ktime_get_seconds() + 1;
}

/**
 * or_acker_sub_put() - drop a reference
 * @sub:	subscriber
 *
 * Context: any.
 */
void or_acker_sub_put(struct or_acker_sub *sub)
{
	if (refcount_dec_and_test(&sub->ref))
		kfree_rcu(sub, rcu);
}

static void or_acker_sub_remove(struct or_acker_net *an, struct or_acker_sub *sub)
{
	lockdep_assert_held(&an->lock);
	rhashtable_remove_fast(&an->subs, &sub->node, or_acker_sub_params);
	list_del_init(&sub->unused);
	WRITE_ONCE(sub->dead, true);
	/* Read locklessly by the works. */
	WRITE_ONCE(an->nsubs, an->nsubs - 1);
	if (!an->nsubs)
		bitmap_zero(an->laddrs, 1 << OR_ACKER_LADDR_BITS);
	or_acker_sub_put(sub);
}

/**
 * or_acker_sub_find() - the subscriber of a pair of addresses
 * @an:		namespace
 * @pair:	the addresses, of or_acker_pair()
 *
 * Context: RCU; under or_acker_net.lock it stays in the table.
 * Return: it, without a reference, or NULL.
 */
struct or_acker_sub *or_acker_sub_find(struct or_acker_net *an,
				       const struct nic_ts_key *pair)
{
	return rhashtable_lookup(&an->subs, pair, or_acker_sub_params);
}

/**
 * or_acker_sub_add() - add a subscriber without a subscription
 * @an:		namespace
 * @key:	its pair of addresses, of or_acker_pair(), which has no subscriber
 *
 * Context: or_acker_net.lock, RCU.
 * Return: it, without a reference; NULL, which is counted: no memory or no room.
 */
struct or_acker_sub *or_acker_sub_add(struct or_acker_net *an,
				      const struct nic_ts_key *key)
{
	const struct or_acker_conf *conf = rcu_dereference(an->conf);
	struct or_acker_sub *sub, *old;

	lockdep_assert_held(&an->lock);
	if (an->nsubs >= or_acker_value(conf, OR_ACKER_P_MAX_SUBSCRIBERS)) {
		old = list_first_entry_or_null(&an->unused, struct or_acker_sub,
					       unused);
		if (!old) {
			or_acker_count(an, OR_ACKER_SUBSCRIBE_FULL);
			return NULL;
		}
		or_acker_count(an, OR_ACKER_SUB_EVICTED);
		or_acker_sub_remove(an, old);
	}
	sub = kzalloc(sizeof(*sub), GFP_ATOMIC | __GFP_NOWARN);
	if (!sub)
		goto no_memory;
	sub->key = *key;
	sub->scope = or_acker_pair_scope(key);
	spin_lock_init(&sub->lock);
	refcount_set(&sub->ref, 1);
	if (rhashtable_insert_fast(&an->subs, &sub->node, or_acker_sub_params))
		goto free_sub;
	list_add_tail(&sub->unused, &an->unused);
	set_bit(or_acker_laddr_bit(key), an->laddrs);
	WRITE_ONCE(an->nsubs, an->nsubs + 1);
	or_acker_count(an, OR_ACKER_SUB_NEW);
	/* The first one has devices captured and time looked at. */
	schedule_work(&an->sync_work);
	schedule_delayed_work(&an->age_work, HZ);
	return sub;

free_sub:
	kfree(sub);
no_memory:
	or_acker_count(an, OR_ACKER_SUBSCRIBE_MEMORY);
	return NULL;
}

/* A SUBSCRIBE that is in order as far as can be said without its sender. */
static enum or_error or_acker_sub_accept(struct or_acker_net *an,
					 const struct nic_ts_key *key,
					 const struct or_subscribe *s,
					 const u8 *msg, int ifindex)
{
	struct or_subscription none = {};
	u64 now_s = or_acker_now_s();
	struct or_acker_sub *sub;
	enum or_error error;
	bool renewal;

	lockdep_assert_held(&an->lock);
	sub = or_acker_sub_find(an, key);
	if (!sub) {
		/* A subscriber is made of what is right only. */
		error = or_subscribe_accept(&none, s, msg, now_s);
		if (error)
			return error;
		if (!s->lifetime_s) {
			or_acker_count(an, OR_ACKER_SUBSCRIBE_NOTHING);
			return OR_OK;
		}
		sub = or_acker_sub_add(an, key);
		if (!sub)
			return OR_OK;
		memset(&none, 0, sizeof(none));
	}

	spin_lock(&sub->lock);
	renewal = now_s < sub->s.until_s && !memcmp(sub->s.nonce, s->nonce, OR_NONCE_LEN);
	error = or_subscribe_accept(&sub->s, s, msg, now_s);
	if (!error) {
		/* A sender that begins anew knows nothing. */
		if (!renewal)
			WRITE_ONCE(sub->path.told_ns, 0);
		sub->caps = s->caps;
		sub->ifindex = ifindex;
	}
	spin_unlock(&sub->lock);
	if (error)
		return error;
	or_acker_count(an, OR_ACKER_SUBSCRIBE_OK);
	if (!s->lifetime_s)
		or_acker_sub_remove(an, sub);
	return OR_OK;
}

/**
 * or_acker_subscribe() - a SUBSCRIBE came
 * @net:	namespace
 * @addrs:	of the message
 * @ifindex:	device it came in on
 * @msg:	its bytes
 * @len:	its length
 *
 * Context: as struct or_port_user.rcv.
 */
void or_acker_subscribe(struct net *net, const struct or_addrs *addrs, int ifindex,
			const u8 *msg, unsigned int len)
{
	struct or_acker_net *an = or_acker_net(net);
	struct nic_ts_key key = { .family = addrs->family };
	struct or_subscribe s = {};
	struct nic_ts_key pair;
	enum or_error error;

	memcpy(key.laddr, addrs->laddr, sizeof(key.laddr));
	memcpy(key.raddr, addrs->raddr, sizeof(key.raddr));
	pair = or_acker_pair(&key, addrs->scope);
	error = or_subscribe_decode(msg, len, &s);
	if (!error) {
		spin_lock(&an->lock);
		error = or_acker_sub_accept(an, &pair, &s, msg, ifindex);
		spin_unlock(&an->lock);
	}
	/* Success is counted where it is known what it did. */
	if (error)
		or_acker_count(an, OR_ACKER_SUBSCRIBE_OK + error);
	trace_or_acker_subscribe(&key, &s, error, len);
}

/**
 * or_acker_sub_key() - what an OR-ACK to a subscriber is signed with
 * @sub:	subscriber
 * @all:	mode all: without a subscription it is the nonce 0
 * @nonce:	OR_NONCE_LEN bytes, set if there is a key
 * @synced:	the subscriber has a use for a synchronised clock; set likewise
 *
 * Context: or_acker_sub.lock.
 * Return: whether it may have OR-ACKs.
 */
bool or_acker_sub_key(const struct or_acker_sub *sub, bool all, u8 *nonce, bool *synced)
{
	lockdep_assert_held(&sub->lock);
	if (or_acker_now_s() < sub->s.until_s) {
		memcpy(nonce, sub->s.nonce, OR_NONCE_LEN);
		*synced = sub->caps & OR_CAP_SYNCED;
		return true;
	}
	if (all) {
		memset(nonce, 0, OR_NONCE_LEN);
		*synced = true;
	}
	return all;
}

/**
 * or_acker_sub_age() - remove subscribers whose subscription is over
 * @an:		namespace
 * @all:	mode all: those with flows stay
 *
 * Context: process, may sleep.
 */
void or_acker_sub_age(struct or_acker_net *an, bool all)
{
	u64 now_s = or_acker_now_s();
	struct rhashtable_iter iter;
	struct or_acker_sub *sub;

	rhashtable_walk_enter(&an->subs, &iter);
	rhashtable_walk_start(&iter);
	while ((sub = rhashtable_walk_next(&iter))) {
		if (IS_ERR(sub))
			continue;
		spin_lock_bh(&an->lock);
		/* In mode all, whoever sends stays. SUBSCRIBEs hold the lock too. */
		if (!sub->dead && now_s >= sub->s.until_s && !(all && sub->nflows)) {
			or_acker_count(an, OR_ACKER_SUB_EXPIRED);
			or_acker_sub_remove(an, sub);
		}
		spin_unlock_bh(&an->lock);
	}
	rhashtable_walk_stop(&iter);
	rhashtable_walk_exit(&iter);
}

/**
 * or_acker_sub_init() - set up the subscribers of a namespace
 * @an:		namespace
 *
 * Return: 0 or -ENOMEM.
 */
int or_acker_sub_init(struct or_acker_net *an)
{
	spin_lock_init(&an->lock);
	INIT_LIST_HEAD(&an->unused);
	return rhashtable_init(&an->subs, &or_acker_sub_params);
}

static void or_acker_sub_release(void *ptr, void *arg)
{
	or_acker_sub_put(ptr);
}

/**
 * or_acker_sub_exit() - undo or_acker_sub_init()
 * @an:		namespace; no SUBSCRIBE comes any more, all flows were ended
 *
 * Context: process, may sleep.
 */
void or_acker_sub_exit(struct or_acker_net *an)
{
	rhashtable_free_and_destroy(&an->subs, or_acker_sub_release, NULL);
}
