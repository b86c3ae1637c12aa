// SPDX-License-Identifier: GPL-2.0
/*
 * or_acker, the subscribers: hosts that send data and want OR-ACKs.
 *
 *	SUBSCRIBE:
 *		decode, derive the key, is the tag right?	no -> counted, no answer
 *		subscriber of its pair of addresses, with that key
 *			-> renew or end the subscription
 *		is its cookie right?		-> start, or take over; if there is room
 *		else -> CHALLENGE with a cookie, if the rate allows; nothing is kept
 *	each second: remove those whose lifetime is over
 *
 * A subscriber is in the table until its subscription ends, or until it makes room
 * for another one while no flow uses it; flows keep its memory for longer.
 */
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "or_acker.h"
#include "or_acker_trace.h"

/* As or_acker_params.h says. RT and lockdep have larger locks. */
static_assert(sizeof(struct or_acker_sub) <= 256 || sizeof(spinlock_t) > 4);

static const struct rhashtable_params or_acker_sub_params = {
	.head_offset		= offsetof(struct or_acker_sub, node),
	.key_offset		= offsetof(struct or_acker_sub, key),
	.key_len		= sizeof(struct nic_ts_key),
	.automatic_shrinking	= true,
};

/* Entries of a table that the aging looks at under RCU at a time, and in one run. */
#define OR_ACKER_WALK_SLICE		256
#define OR_ACKER_WALK_MOST		4096

/* Depth of the token bucket of CHALLENGEs, ns at its rate: 100 ms. */
#define OR_ACKER_CHALLENGE_BURST_NS	(100 * NSEC_PER_MSEC)

/* or_acker_now_s() - return the time of subscriptions and cookies, s */
u64 or_acker_now_s(void)
{
	/* There is a period of cookies before the first one. */
	return ktime_get_seconds() + OR_COOKIE_PERIOD_S;
}

/* or_acker_sub_put() - drop a reference; any context */
void or_acker_sub_put(struct or_acker_sub *sub)
{
	if (!refcount_dec_and_test(&sub->ref))
		return;
	/* No flow is left, so that none sends on it. */
	or_port_route_put(&sub->route);
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
	if (sub->scope)
		WRITE_ONCE(an->nscoped, an->nscoped - 1);
	if (!an->nsubs)
		bitmap_zero(an->laddrs, 1 << OR_ACKER_LADDR_BITS);
	or_acker_sub_put(sub);
}

/**
 * or_acker_sub_find() - find the subscriber of a pair of addresses
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
	or_port_route_init(&sub->route);
	refcount_set(&sub->ref, 1);
	if (rhashtable_insert_fast(&an->subs, &sub->node, or_acker_sub_params))
		goto free_sub;
	list_add_tail(&sub->unused, &an->unused);
	set_bit(or_acker_laddr_bit(key), an->laddrs);
	WRITE_ONCE(an->nsubs, an->nsubs + 1);
	if (sub->scope)
		WRITE_ONCE(an->nscoped, an->nscoped + 1);
	or_acker_count(an, OR_ACKER_SUB_NEW);
	/*
	 * The first one has devices captured and time looked at. That takes RTNL: not for
	 * each, nor once more while the devices of the last one are still there.
	 */
	if (an->nsubs == 1) {
		if (!READ_ONCE(an->ndevs))
			or_acker_sync_soon(an);
		schedule_delayed_work(&an->age_work, HZ);
	}
	return sub;

free_sub:
	kfree(sub);
no_memory:
	or_acker_count(an, OR_ACKER_SUBSCRIBE_MEMORY);
	return NULL;
}

/* Ask the host at an address to prove that it is there: no more bytes than it sent. */
static void or_acker_challenge(struct or_acker_net *an, const struct or_addrs *addrs, u32 mark,
			       const struct or_challenge *c, const u8 *key)
{
	const struct or_via via = { .mark = mark };
	const struct or_acker_conf *conf = rcu_dereference(an->conf);
	u64 now_ns = ktime_get_ns();
	u8 msg[OR_CHALLENGE_LEN];
	s64 tat_ns, old_ns;

	static_assert(OR_CHALLENGE_LEN <= OR_SUBSCRIBE_LEN);
	/* A token bucket without a lock. Whoever loses the race has had its turn next. */
	tat_ns = atomic64_read(&an->challenge_tat_ns);
	do {
		if (tat_ns > (s64)(now_ns + OR_ACKER_CHALLENGE_BURST_NS)) {
			or_acker_count(an, OR_ACKER_CHALLENGE_LIMIT);
			return;
		}
		old_ns = tat_ns;
		tat_ns = atomic64_cmpxchg(&an->challenge_tat_ns, old_ns,
					  max_t(s64, old_ns, now_ns) +
					  conf->challenge_interval_ns);
	} while (tat_ns != old_ns);
	or_challenge_encode(c, msg);
	or_sign(msg, sizeof(msg), key);
	if (or_port_send(an->net, addrs, &via, false, msg, sizeof(msg), 0, 0))
		or_acker_count(an, OR_ACKER_CHALLENGE_FAILED);
	else
		or_acker_count(an, OR_ACKER_CHALLENGE);
}

/* A SUBSCRIBE with the right tag under @key. @proven: so is its address. */
static enum or_error or_acker_sub_accept(struct or_acker_net *an,
					 const struct nic_ts_key *pair,
					 const struct or_subscribe *s,
					 const u8 *key, bool proven, int ifindex, u32 mark)
{
	const struct or_via via = { .mark = mark };
	u64 now_s = or_acker_now_s();
	struct or_acker_sub *sub;
	enum or_error error;
	bool renewal;

	lockdep_assert_held(&an->lock);
	sub = or_acker_sub_find(an, pair);
	renewal = sub && or_subscription_lives(&sub->s, key, now_s);
	if (!renewal && !s->lifetime_s) {
		or_acker_count(an, OR_ACKER_SUBSCRIBE_NOTHING);
		return OR_OK;
	}
	/* An address that is not proven leaves no state. */
	if (!renewal && !proven)
		return OR_ERR_COOKIE;
	if (!sub) {
		sub = or_acker_sub_add(an, pair);
		if (!sub)
			return OR_OK;
	}

	spin_lock(&sub->lock);
	if (!renewal && now_s < sub->s.until_s)
		or_acker_count(an, OR_ACKER_SUB_TAKEN);
	error = or_subscribe_accept(&sub->s, s, key, proven, now_s);
	if (!error) {
		/* A sender that begins anew knows nothing. */
		if (!renewal)
			WRITE_ONCE(sub->path.acked_ns, 0);
		WRITE_ONCE(sub->caps, s->caps);
		sub->ifindex = ifindex;
		/* A flow has its socket's. */
		if (!sub->nflows)
			or_port_route_via(&sub->route, &via);
	}
	spin_unlock(&sub->lock);
	if (error)
		return error;
	or_acker_count(an, OR_ACKER_SUBSCRIBE_OK);
	if (!s->lifetime_s)
		or_acker_sub_remove(an, sub);
	else if (!renewal && s->caps & OR_CAP_DRAIN)
		or_acker_drain_new(an);
	return OR_OK;
}

/*
 * Would or_acker_sub_accept() find a subscription with this key? Asked without the lock of
 * the tables, which a flood of SUBSCRIBEs without a cookie does not get to take.
 */
static bool or_acker_sub_known(struct or_acker_net *an, const struct nic_ts_key *pair,
			       const u8 *key)
{
	struct or_acker_sub *sub = or_acker_sub_find(an, pair);
	bool known = false;

	if (sub) {
		spin_lock(&sub->lock);
		known = or_subscription_lives(&sub->s, key, or_acker_now_s());
		spin_unlock(&sub->lock);
	}
	return known;
}

/**
 * or_acker_subscribe() - receive a SUBSCRIBE
 * @net:	namespace
 * @addrs:	of the message
 * @ifindex:	device it came in on
 * @mark:	for an answer
 * @msg:	its bytes
 * @len:	its length
 *
 * Context: as struct or_port_user.rcv.
 */
void or_acker_subscribe(struct net *net, const struct or_addrs *addrs, int ifindex, u32 mark,
			const u8 *msg, unsigned int len)
{
	struct nic_ts_key key = { .family = addrs->family };
	struct or_acker_net *an = or_acker_net(net);
	u8 psk[OR_KEY_LEN], tag_key[OR_KEY_LEN];
	struct or_challenge challenge = {};
	u64 now_s = or_acker_now_s();
	struct or_subscribe s = {};
	struct nic_ts_key owner;
	struct or_pair pair;
	enum or_error error;
	bool proven;

	memcpy(key.laddr, addrs->laddr, sizeof(key.laddr));
	memcpy(key.raddr, addrs->raddr, sizeof(key.raddr));
	owner = or_acker_pair(&key, addrs->scope);
	error = or_subscribe_decode(msg, len, &s);
	if (error)
		goto out;
	or_addrs_pair(addrs, false, &pair);
	or_port_key(net, psk);
	or_derive(psk, &pair, s.nonce, tag_key);
	error = or_verify(msg, OR_SUBSCRIBE_LEN, tag_key);
	if (error)
		goto out;
	proven = s.cookie && or_cookie_valid(s.cookie, &an->secret, &pair, addrs->scope,
					     s.nonce, now_s);
	if (proven || or_acker_sub_known(an, &owner, tag_key)) {
		spin_lock(&an->lock);
		error = or_acker_sub_accept(an, &owner, &s, tag_key, proven, ifindex, mark);
		spin_unlock(&an->lock);
	} else if (s.lifetime_s) {
		error = OR_ERR_COOKIE;
	} else {
		or_acker_count(an, OR_ACKER_SUBSCRIBE_NOTHING);
	}
	if (error == OR_ERR_COOKIE) {
		challenge.count = s.count;
		challenge.cookie = or_cookie(&an->secret, &pair, addrs->scope, s.nonce,
					     div_u64(now_s, OR_COOKIE_PERIOD_S));
		or_acker_challenge(an, addrs, mark, &challenge, tag_key);
	}
out:
	/* Success is counted where its effect is known. */
	if (error)
		or_acker_count(an, OR_ACKER_SUBSCRIBE_OK + error);
	trace_or_acker_subscribe(&key, &s, error, len);
}

/* The key in mode all: of the nonce 0, without a pre-shared key. It never changes. */
static const u8 *or_acker_sub_all_key(struct or_acker_sub *sub)
{
	static const u8 none[OR_KEY_LEN];
	struct or_addrs addrs = { .family = sub->key.family };
	struct or_pair pair;

	lockdep_assert_held(&sub->lock);
	if (sub->all_keyed)
		return sub->all_key;
	memcpy(addrs.laddr, sub->key.laddr, sizeof(addrs.laddr));
	memcpy(addrs.raddr, sub->key.raddr, sizeof(addrs.raddr));
	or_addrs_pair(&addrs, false, &pair);
	or_derive(none, &pair, none, sub->all_key);
	sub->all_keyed = true;
	return sub->all_key;
}

/**
 * or_acker_sub_key() - copy the key of OR-ACKs to a subscriber
 * @sub:	subscriber
 * @all:	mode all: a subscription is not needed
 * @key:	OR_KEY_LEN bytes, set if the subscriber may have OR-ACKs
 * @caps:	OR_CAP_* of the subscriber; set likewise
 *
 * Context: or_acker_sub.lock.
 * Return: whether it may have OR-ACKs.
 */
bool or_acker_sub_key(struct or_acker_sub *sub, bool all, u8 *key, u16 *caps)
{
	lockdep_assert_held(&sub->lock);
	if (or_acker_now_s() < sub->s.until_s) {
		memcpy(key, sub->s.key, OR_KEY_LEN);
		*caps = sub->caps;
		return true;
	}
	if (all) {
		memcpy(key, or_acker_sub_all_key(sub), OR_KEY_LEN);
		*caps = OR_CAP_SYNCED;
	}
	return all;
}

/*
 * Look at the next OR_ACKER_WALK_SLICE entries of a table. Return whether there are more. Not
 * inlined: a test counts the calls.
 */
static noinline bool or_acker_walk_slice(struct or_acker_walk *w,
					 void (*look)(struct or_acker_net *an, void *entry),
					 struct or_acker_net *an)
{
	unsigned int looks;
	void *entry = w;

	rhashtable_walk_start(&w->iter);
	for (looks = 0; entry && looks < OR_ACKER_WALK_SLICE; looks++) {
		entry = rhashtable_walk_next(&w->iter);
		if (!IS_ERR_OR_NULL(entry))
			look(an, entry);
	}
	rhashtable_walk_stop(&w->iter);
	return entry;
}

/**
 * or_acker_walk() - look at some entries of a table, and later at the next ones
 * @w:		where the last call ended
 * @table:	the table
 * @look:	called for each entry, under RCU; may remove it
 * @an:		for @look
 *
 * If the table is resized, the walk begins anew: entries are seen twice rather than left out.
 *
 * Context: process, may sleep; one at a time for each @w.
 * Return: the walk came to the end of the table; the next call begins another one.
 */
bool or_acker_walk(struct or_acker_walk *w, struct rhashtable *table,
		   void (*look)(struct or_acker_net *an, void *entry), struct or_acker_net *an)
{
	unsigned int looks = 0;
	bool more;

	if (!w->on)
		rhashtable_walk_enter(table, &w->iter);
	w->on = true;
	do {
		more = or_acker_walk_slice(w, look, an);
		looks += OR_ACKER_WALK_SLICE;
		cond_resched();
	} while (more && looks < OR_ACKER_WALK_MOST);
	if (!more)
		or_acker_walk_exit(w);
	return !more;
}

/* or_acker_walk_exit() - end a walk, wherever it is; process context */
void or_acker_walk_exit(struct or_acker_walk *w)
{
	if (w->on)
		rhashtable_walk_exit(&w->iter);
	w->on = false;
}

static void or_acker_sub_look(struct or_acker_net *an, void *entry)
{
	struct or_acker_sub *sub = entry;
	bool all = rcu_dereference(an->conf)->all;

	spin_lock_bh(&an->lock);
	/* In mode all, active senders stay. SUBSCRIBEs hold the lock, too. */
	if (!sub->dead && or_acker_now_s() >= sub->s.until_s && !(all && sub->nflows)) {
		or_acker_count(an, OR_ACKER_SUB_EXPIRED);
		or_acker_sub_remove(an, sub);
	}
	spin_unlock_bh(&an->lock);
}

/**
 * or_acker_sub_age() - remove some of the subscribers whose subscription is over
 * @an:		namespace
 *
 * In mode all, those with flows stay.
 *
 * Context: process, may sleep; the work of the aging only.
 * Return: see or_acker_walk().
 */
bool or_acker_sub_age(struct or_acker_net *an)
{
	return or_acker_walk(&an->sub_walk, &an->subs, or_acker_sub_look, an);
}

/* or_acker_sub_init() - set up the subscribers of a namespace; return 0 or -ENOMEM */
int or_acker_sub_init(struct or_acker_net *an)
{
	spin_lock_init(&an->lock);
	get_random_bytes(&an->secret, sizeof(an->secret));
	get_random_bytes(&an->domain_base, sizeof(an->domain_base));
	an->rx_random = get_random_u64();
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
	or_acker_walk_exit(&an->sub_walk);
	rhashtable_free_and_destroy(&an->subs, or_acker_sub_release, NULL);
}
