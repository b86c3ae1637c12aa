// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: the table of forwarded connections, see onramp_fwd_out.c
 */
#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/once.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "onramp_fwd_table.h"

/* Aging 2^16 entries takes some ms of a CPU: with more, do it less often. */
#define ONRAMP_FORWARD_AGE_SHIFT	16

/* An entry takes 128 bytes. Connections beyond that are sent as by fq, and counted. */
static unsigned int onramp_max_forwarded = 1 << 16;
module_param_named(max_forwarded, onramp_max_forwarded, uint, 0644);
MODULE_PARM_DESC(max_forwarded, "forwarded connections of a network namespace, at most (65536)");

/* Numbers that nobody knows, for the words of a key. */
struct onramp_fwd_sum onramp_fwd_secrets[11] __read_mostly;

/* That of the table: it does without @seed, since the secret numbers are as good. */
static u32 onramp_fwd_hash(const void *data, u32 len, u32 seed)
{
	return onramp_fwd_hash64(data);
}

/* Return 0 if it is the entry's key. */
static int onramp_fwd_differs(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct onramp_fwd_key *a = arg->key;
	const struct onramp_fwd_key *b = &((const struct onramp_fwd_entry *)obj)->key;
	const unsigned long *x = (const unsigned long *)a, *y = (const unsigned long *)b;
	unsigned long differ = 0;
	unsigned int i;

	BUILD_BUG_ON(sizeof(*a) % sizeof(*x));
	for (i = 0; i < sizeof(*a) / sizeof(*x); i++)
		differ |= x[i] ^ y[i];
	return differ != 0;
}

static const struct rhashtable_params onramp_fwd_entries = {
	.key_len		= sizeof(struct onramp_fwd_key),
	.key_offset		= offsetof(struct onramp_fwd_entry, key),
	.head_offset		= offsetof(struct onramp_fwd_entry, node),
	.hashfn			= onramp_fwd_hash,
	.obj_cmpfn		= onramp_fwd_differs,
	.automatic_shrinking	= true,
};

static void onramp_fwd_count(u8 *n, int change)
{
	if (*n != U8_MAX)
		WRITE_ONCE(*n, *n + change);
}

/* An entry with this hash is made, or has gone. A counter that is full stays so. */
static void onramp_fwd_present(struct onramp_net *onet, u64 hash, int change)
{
	spin_lock_bh(&onet->lock);
	onramp_fwd_count(&onet->present[onramp_fwd_cell(hash)], change);
	onramp_fwd_count(&onet->present[onramp_fwd_other_cell(hash)], change);
	spin_unlock_bh(&onet->lock);
}

/* onramp_fwd_find() - return the entry of a key, or NULL; RCU */
struct onramp_fwd_entry *onramp_fwd_find(struct onramp_net *onet,
					 const struct onramp_fwd_key *key)
{
	return rhashtable_lookup(&onet->forwarded, key, onramp_fwd_entries);
}

/* onramp_fwd_create() - add an entry; NULL: there is no room, or no memory; RCU */
struct onramp_fwd_entry *onramp_fwd_create(struct onramp_net *onet,
					   const struct onramp_fwd_key *key,
					   u64 hash)
{
	struct onramp_fwd_entry *e;
	int n;

	n = atomic_inc_return(&onet->n_forwarded);
	if (n > READ_ONCE(onramp_max_forwarded)) {
		onramp_net_count(onet, ONRAMP_N_FORWARD_FULL);
		goto uncount;
	}
	/* Even if this one fails: others may have come meanwhile. */
	if (n == 1)
		queue_delayed_work(onramp_wq, &onet->forward_work, HZ);
	e = kzalloc(sizeof(*e), GFP_ATOMIC | __GFP_NOWARN);
	if (!e)
		goto no_memory;
	e->key = *key;
	refcount_set(&e->refs, 1);
	spin_lock_init(&e->lock);
	onramp_fwd_init(&e->track);
	onramp_fwd_present(onet, hash, 1);
	/* Another queue was faster, or the table is growing: the next packet tries again. */
	if (rhashtable_lookup_insert_fast(&onet->forwarded, &e->node, onramp_fwd_entries)) {
		onramp_fwd_present(onet, hash, -1);
		kfree(e);
		goto no_memory;
	}
	return e;

no_memory:
	onramp_net_count(onet, ONRAMP_N_NO_MEMORY);
uncount:
	atomic_dec(&onet->n_forwarded);
	return NULL;
}

static void onramp_fwd_put(struct onramp_fwd_entry *e)
{
	if (refcount_dec_and_test(&e->refs))
		kfree_rcu(e, rcu);
}

/**
 * onramp_fwd_bind() - note the flow of an entry
 * @e: the entry, with a reference
 * @shared: of the flow's qdisc
 * @f: the flow; NULL: there is no memory for it
 * @fresh: it is a new one, and keeps the reference
 *
 * Context: the qdisc's lock.
 */
void onramp_fwd_bind(struct onramp_fwd_entry *e, const struct onramp_qdisc_shared *shared,
		     struct onramp_flow *f, bool fresh)
{
	spin_lock(&e->lock);
	if (!e->dead && f) {
		e->shared = shared;
		e->flow = f;
	}
	spin_unlock(&e->lock);
	if (!fresh)
		onramp_fwd_put(e);
}

/* onramp_fwd_unbind() - undo that, for a flow that is freed; the lock of its qdisc, if in use */
void onramp_fwd_unbind(const struct onramp_qdisc_shared *shared, const struct onramp_flow *f)
{
	struct onramp_fwd_entry *e = onramp_fwd_of(f);

	onramp_fwd_drop(onramp_fwd_line(shared, onramp_fwd_hash64(&e->key)), f);

	spin_lock_bh(&e->lock);
	/* It may have one in another qdisc by now. */
	if (!e->dead && e->flow == f)
		e->flow = NULL;
	spin_unlock_bh(&e->lock);
	onramp_fwd_put(e);
}

/* onramp_fwd_timed() - count the RTTs that are being measured; @was: that of @e; its lock */
void onramp_fwd_timed(struct onramp_net *onet, const struct onramp_fwd_entry *e, bool was)
{
	bool is = e->track.timed_ns;

	if (was == is)
		return;
	atomic_add(is ? 1 : -1, onramp_fwd_timed_cell(onet,
						      onramp_fwd_hash64(&e->key)));
	atomic_add(is ? 1 : -1, &onet->n_timed);
}

/**
 * onramp_fwd_measure() - a packet begins a measurement, or ends one
 * @onet: the namespace
 * @e: the entry
 * @timed_ns: since when it was measured; a begin has the exact time
 *
 * Context: the entry's lock.
 */
void onramp_fwd_measure(struct onramp_net *onet, struct onramp_fwd_entry *e, u64 timed_ns)
{
	if (e->track.timed_ns)
		e->track.timed_ns = ktime_get_ns();
	onramp_fwd_timed(onet, e, timed_ns);
}

/**
 * onramp_fwd_try() - return whether to try to have a connection followed
 * @e: its entry
 * @too_early: the last attempt was a short time ago
 * @rtt_us: set to its shortest RTT, U32_MAX: unknown
 *
 * Context: the qdisc's lock.
 */
bool onramp_fwd_try(struct onramp_fwd_entry *e, bool too_early, u32 *rtt_us)
{
	bool try;

	spin_lock(&e->lock);
	try = !too_early || e->fresh;
	e->fresh = false;
	/* Data sent meanwhile may not have been noted. */
	if (e->followed)
		e->track.data = false;
	e->followed = false;
	*rtt_us = e->track.rtt_us;
	spin_unlock(&e->lock);
	return try;
}

/* onramp_fwd_far() - return whether to count the connection as a far one; the qdisc's lock */
bool onramp_fwd_far(struct onramp_fwd_entry *e)
{
	bool first;

	spin_lock(&e->lock);
	first = !e->far;
	e->far = true;
	spin_unlock(&e->lock);
	return first;
}

/* onramp_fwd_follow() - note that On-Ramp follows the connection; the qdisc's lock */
void onramp_fwd_follow(struct onramp_fwd_entry *e)
{
	spin_lock(&e->lock);
	e->followed = true;
	spin_unlock(&e->lock);
}

/* Forget an entry if it is old. */
static void onramp_fwd_age_one(struct onramp_net *onet, struct onramp_fwd_entry *e, u64 now)
{
	bool timed, old;

	spin_lock_bh(&e->lock);
	timed = e->track.timed_ns;
	onramp_fwd_expire(&e->track, now);
	old = !e->dead && onramp_fwd_is_old(e->track.seen_ns, e->track.closed, now);
	if (old) {
		e->dead = true;
		e->track.timed_ns = 0;
	}
	onramp_fwd_timed(onet, e, timed);
	spin_unlock_bh(&e->lock);
	if (!old)
		return;
	rhashtable_remove_fast(&onet->forwarded, &e->node, onramp_fwd_entries);
	onramp_fwd_present(onet, onramp_fwd_hash64(&e->key), -1);
	atomic_dec(&onet->n_forwarded);
	onramp_fwd_put(e);
}

static void onramp_fwd_age(struct work_struct *work)
{
	struct onramp_net *onet = container_of(to_delayed_work(work), struct onramp_net,
					       forward_work);
	struct rhashtable_iter iter;
	struct onramp_fwd_entry *e;
	unsigned int n;

	rhashtable_walk_enter(&onet->forwarded, &iter);
	rhashtable_walk_start(&iter);
	while ((e = onramp_walk_next(&iter))) {
		/* The table grows: some are seen twice. */
		if (!IS_ERR(e))
			onramp_fwd_age_one(onet, e, ktime_get_ns());
	}
	rhashtable_walk_stop(&iter);
	rhashtable_walk_exit(&iter);
	n = atomic_read(&onet->n_forwarded);
	if (n)
		queue_delayed_work(onramp_wq, &onet->forward_work,
				   HZ + HZ * (n >> ONRAMP_FORWARD_AGE_SHIFT));
}

/**
 * onramp_fwd_alloc() - allocate the tables with which a qdisc and its namespace follow connections
 * @shared: of the qdisc
 *
 * The qdisc does not use @shared->sizes, @shared->fwd_lines, onramp_net.present and
 * onramp_net.timed before.
 *
 * Context: RTNL.
 * Return: 0 or -ENOMEM.
 */
int onramp_fwd_alloc(struct onramp_qdisc_shared *shared)
{
	if (!shared->sizes)
		shared->sizes = kvzalloc(sizeof(*shared->sizes), GFP_KERNEL);
	if (!shared->fwd_lines)
		shared->fwd_lines = kvcalloc(ONRAMP_FWD_LINES, sizeof(*shared->fwd_lines),
					     GFP_KERNEL);
	if (!shared->onet->present)
		shared->onet->present = kvzalloc(1 << ONRAMP_PRESENT_BITS, GFP_KERNEL);
	if (!shared->onet->timed)
		shared->onet->timed = kvcalloc(1 << ONRAMP_TIMED_BITS, sizeof(*shared->onet->timed),
					       GFP_KERNEL);
	if (!shared->sizes || !shared->fwd_lines || !shared->onet->present || !shared->onet->timed)
		return -ENOMEM;
	return 0;
}

/* onramp_fwd_net_init() - make the table of a new namespace; return 0 or -ENOMEM */
int onramp_fwd_net_init(struct onramp_net *onet)
{
	get_random_once(onramp_fwd_secrets, sizeof(onramp_fwd_secrets));
	INIT_DELAYED_WORK(&onet->forward_work, onramp_fwd_age);
	return rhashtable_init(&onet->forwarded, &onramp_fwd_entries);
}

static void onramp_fwd_free(void *ptr, void *arg)
{
	kfree(ptr);
}

/* onramp_fwd_net_exit() - undo that; no qdisc is left, and RCU has passed since */
void onramp_fwd_net_exit(struct onramp_net *onet)
{
	cancel_delayed_work_sync(&onet->forward_work);
	rhashtable_free_and_destroy(&onet->forwarded, onramp_fwd_free, NULL);
	kvfree(onet->present);
	kvfree(onet->timed);
}
