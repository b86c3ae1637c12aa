// SPDX-License-Identifier: GPL-2.0
/*
 * nic_ts, the flow table: one entry for each connection with a user, with its TX records and ACK
 * timestamps.
 *
 *	attach ---> entry in the table ---> packets find it, both directions
 *	                 | idle for flow_age_s
 *	                 v
 *	            out of the table, aged; the user keeps the entry
 *	detach ---> freed after a grace period, with the last user
 *
 * Only attached connections have entries, so that a SYN flood makes none.
 */
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/sock.h>

#include "nic_ts_key.h"
#include "nic_ts_priv.h"
#include "nic_ts_trace.h"

/*
 * TX records and ACK timestamps of a flow. 64 segments of 16 KB are 1 MB, which 100 Gbit/s send in
 * 80 us. 5.5 KB of memory.
 */
static unsigned int tx_records = 64;
module_param(tx_records, uint, 0444);
MODULE_PARM_DESC(tx_records, "TX records and ACK stamps per flow, 8 to 1024, rounded up to a power of two (64)");

/* 90 MB if all are used, per namespace. */
static unsigned int max_flows = 16384;
module_param(max_flows, uint, 0644);
MODULE_PARM_DESC(max_flows, "flows per network namespace (16384)");

static unsigned int flow_age_s = 300;
module_param(flow_age_s, uint, 0644);
MODULE_PARM_DESC(flow_age_s, "seconds without a packet after which a flow leaves the table, at least 1 (300)");

static struct kmem_cache *nic_ts_entry_cache __read_mostly;

/* Jiffies between two searches of a full table for idle flows. */
#define NIC_TS_FULL_WALK	HZ

/* Entries that a search looks at before it lets others run. */
#define NIC_TS_WALK_BATCH	1024

/* Makes and ends flows: users, aged, insertion and removal. */
static DEFINE_SPINLOCK(nic_ts_flow_lock);

/**
 * struct nic_ts_lookup - key of an entry, in two places
 * @key:	of the connection
 * @l3:		L3 domain
 *
 * In two VRFs there can be two connections of the same addresses and ports.
 */
struct nic_ts_lookup {
	const struct nic_ts_key	*key;
	int			l3;
};

static __always_inline u32 nic_ts_lookup_hash(const void *data, u32 len, u32 seed)
{
	const struct nic_ts_lookup *lookup = data;

	return nic_ts_key_hash(lookup->key, sizeof(*lookup->key), seed + lookup->l3);
}

static u32 nic_ts_entry_hash(const void *data, u32 len, u32 seed)
{
	const struct nic_ts_entry *e = data;

	return nic_ts_key_hash(&e->key, sizeof(e->key), seed + e->l3);
}

static __always_inline int nic_ts_entry_differs(struct rhashtable_compare_arg *arg,
						const void *obj)
{
	const struct nic_ts_lookup *lookup = arg->key;
	const struct nic_ts_entry *e = obj;

	return nic_ts_key_differs(lookup->key, &e->key) || lookup->l3 != e->l3;
}

static const struct rhashtable_params nic_ts_flow_params = {
	.head_offset		= offsetof(struct nic_ts_entry, node),
	.key_len		= sizeof(struct nic_ts_lookup),
	.hashfn			= nic_ts_lookup_hash,
	.obj_hashfn		= nic_ts_entry_hash,
	.obj_cmpfn		= nic_ts_entry_differs,
	.automatic_shrinking	= true,
};

/**
 * nic_ts_entry_find() - find the flow of a packet
 * @nn:		namespace
 * @key:	from the packet
 * @l3:		L3 domain of the device that it belongs to; 0: none
 *
 * Context: under RCU.
 * Return: the entry, without a reference, or NULL.
 */
struct nic_ts_entry *nic_ts_entry_find(struct nic_ts_net *nn,
				       const struct nic_ts_key *key, int l3)
{
	struct nic_ts_lookup lookup = { .key = key, .l3 = l3 };

	return rhashtable_lookup(&nn->flows, &lookup, nic_ts_flow_params);
}

static void nic_ts_entry_free(struct rcu_head *rcu)
{
	kmem_cache_free(nic_ts_entry_cache,
			container_of(rcu, struct nic_ts_entry, rcu));
}

/* nic_ts_entry_put() - drop a reference; any but hard interrupt */
void nic_ts_entry_put(struct nic_ts_entry *e)
{
	if (refcount_dec_and_test(&e->ref))
		call_rcu(&e->rcu, nic_ts_entry_free);
}

/* Out of the table: idle, not used any more, or its namespace ends. */
static void nic_ts_entry_unhash(struct nic_ts_entry *e)
{
	lockdep_assert_held(&nic_ts_flow_lock);
	if (e->flow.aged)
		return;
	/* Read locklessly by nic_ts_flow_aged(). */
	WRITE_ONCE(e->flow.aged, true);
	rhashtable_remove_fast(&e->nn->flows, &e->node, nic_ts_flow_params);
	atomic_dec(&e->nn->nflows);
	if (e->l3)
		atomic_dec(&e->nn->nl3);
	nic_ts_capture_put(true);
}

static bool nic_ts_entry_key(const struct sock *sk, struct nic_ts_key *key)
{
	const struct inet_sock *inet = inet_sk(sk);

	memset(key, 0, sizeof(*key));
	key->lport = htons(inet->inet_num);
	key->rport = inet->inet_dport;
	if (!key->lport || !key->rport)
		return false;
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6 && !ipv6_addr_v4mapped(&sk->sk_v6_daddr)) {
		key->family = AF_INET6;
		memcpy(key->laddr, &sk->sk_v6_rcv_saddr, sizeof(key->laddr));
		memcpy(key->raddr, &sk->sk_v6_daddr, sizeof(key->raddr));
		return !ipv6_addr_any(&sk->sk_v6_daddr) &&
		       !ipv6_addr_any(&sk->sk_v6_rcv_saddr);
	}
#endif
	key->family = AF_INET;
	key->laddr[0] = sk->sk_rcv_saddr;
	key->raddr[0] = sk->sk_daddr;
	return key->laddr[0] && key->raddr[0];
}

/* The L3 domain that a socket is bound to, by a device in it or by its master. */
static int nic_ts_sock_l3(const struct sock *sk)
{
	int bound = READ_ONCE(sk->sk_bound_dev_if);

	return bound ? l3mdev_master_ifindex_by_index(sock_net(sk), bound) : 0;
}

static struct nic_ts_entry *nic_ts_entry_alloc(struct nic_ts_net *nn,
					       const struct nic_ts_key *key, int l3,
					       gfp_t gfp)
{
	struct nic_ts_entry *e = kmem_cache_zalloc(nic_ts_entry_cache, gfp);

	if (!e)
		return NULL;
	e->flow.bus = rcu_access_pointer(nic_ts_bus);
	e->key = *key;
	e->l3 = l3;
	refcount_set(&e->ref, 1);
	e->users = 1;
	e->nn = nn;
	e->last_packet = jiffies;
	spin_lock_init(&e->tx_lock);
	spin_lock_init(&e->ack_lock);
	e->tx.mask = tx_records - 1;
	e->tx.rec = (struct nic_ts_tx_record *)e->records;
	e->ack.mask = tx_records - 1;
	e->ack.rec = (struct nic_ts_ack_record *)(e->tx.rec + tx_records);
	return e;
}

/*
 * The table is full: look for idle flows in it, but not for each that finds it full. An
 * RCU reader that saw the namespace there: its exit cancels the work later.
 */
static void nic_ts_flow_full(struct nic_ts_net *nn)
{
	unsigned long last = READ_ONCE(nn->full_walk);

	nic_ts_count(nn, NIC_TS_NET_FULL);
	if (time_before(jiffies, last + NIC_TS_FULL_WALK))
		return;
	/* Of several callers at once, one searches. */
	if (cmpxchg(&nn->full_walk, last, jiffies) == last)
		mod_delayed_work(system_percpu_wq, &nn->age_work, 0);
}

/*
 * Return whether this connection has an entry, or the table has room for one. Takes no
 * memory and no lock, since each flow that is refused an entry calls it.
 */
static bool nic_ts_entry_room(struct nic_ts_net *nn, const struct nic_ts_key *key, int l3)
{
	bool room = false;

	/* nic_ts_net_pre_exit() sets @gone, and the table is freed later. */
	rcu_read_lock();
	if (READ_ONCE(nn->gone))
		goto unlock;
	room = atomic_read(&nn->nflows) < READ_ONCE(max_flows) ||
	       nic_ts_entry_find(nn, key, l3);
	if (!room)
		nic_ts_flow_full(nn);
unlock:
	rcu_read_unlock();
	return room;
}

/* Returns the entry that is in the table in the end: @e, another, or none. */
static struct nic_ts_entry *nic_ts_entry_insert(struct nic_ts_net *nn,
						struct nic_ts_entry *e)
{
	struct nic_ts_lookup lookup = { .key = &e->key, .l3 = e->l3 };
	struct nic_ts_entry *found;

	lockdep_assert_held(&nic_ts_flow_lock);
	/* With BHs off this is an RCU reader, too. */
	if (READ_ONCE(nn->gone))
		return NULL;
	found = rhashtable_lookup_fast(&nn->flows, &lookup, nic_ts_flow_params);
	if (found) {
		found->users++;
		return found;
	}
	if (atomic_read(&nn->nflows) >= READ_ONCE(max_flows)) {
		nic_ts_flow_full(nn);
		return NULL;
	}
	if (rhashtable_insert_fast(&nn->flows, &e->node, nic_ts_flow_params)) {
		nic_ts_count(nn, NIC_TS_NET_NOMEM);
		return NULL;
	}
	if (atomic_inc_return(&nn->nflows) == 1)
		mod_delayed_work(system_percpu_wq, &nn->age_work, HZ);
	if (e->l3)
		atomic_inc(&nn->nl3);
	nic_ts_capture_get(true);
	return e;
}

/* nic_ts_entry_attach() - implement nic_ts_flow_attach() */
struct nic_ts_flow *nic_ts_entry_attach(const struct sock *sk, gfp_t gfp)
{
	struct nic_ts_net *nn = nic_ts_net(sock_net(sk));
	struct nic_ts_entry *e, *found;
	struct nic_ts_key key;
	int l3;

	if (!nic_ts_entry_key(sk, &key))
		return NULL;
	l3 = nic_ts_sock_l3(sk);
	if (!nic_ts_entry_room(nn, &key, l3))
		return NULL;
	e = nic_ts_entry_alloc(nn, &key, l3, gfp);
	if (!e) {
		nic_ts_count(nn, NIC_TS_NET_NOMEM);
		return NULL;
	}

	spin_lock_bh(&nic_ts_flow_lock);
	found = nic_ts_entry_insert(nn, e);
	spin_unlock_bh(&nic_ts_flow_lock);

	if (found == e) {
		nic_ts_count(nn, NIC_TS_NET_ATTACHED);
		return &e->flow;
	}
	kmem_cache_free(nic_ts_entry_cache, e);
	if (!found)
		return NULL;
	nic_ts_count(nn, NIC_TS_NET_SHARED);
	return &found->flow;
}

/* nic_ts_entry_detach() - implement nic_ts_flow_detach() */
void nic_ts_entry_detach(struct nic_ts_flow *flow)
{
	struct nic_ts_entry *e = container_of(flow, struct nic_ts_entry, flow);
	bool last;

	spin_lock_bh(&nic_ts_flow_lock);
	last = !--e->users;
	if (last)
		nic_ts_entry_unhash(e);
	spin_unlock_bh(&nic_ts_flow_lock);
	if (last)
		nic_ts_entry_put(e);
}

static void nic_ts_map_stamp(const struct nic_ts_stamp *stamp,
			     struct nic_ts_mapped *mapped)
{
	mapped->host_ns = 0;
	if (stamp->hw_ns &&
	    nic_ts_clock_to_host(stamp->hw_domain, stamp->hw_epoch, stamp->hw_ns,
				 &mapped->host_ns, &mapped->error_ns))
		mapped->host_ns = 0;
}

static enum nic_ts_verdict nic_ts_entry_records(struct nic_ts_entry *e, u32 una,
						struct nic_ts_tx_record *tx,
						struct nic_ts_ack_record *ack,
						struct nic_ts_ack_record *part,
						struct nic_ts_rtt *rtt)
{
	enum nic_ts_verdict verdict;

	spin_lock_bh(&e->tx_lock);
	verdict = nic_ts_tx_acked(&e->tx, una, tx);
	nic_ts_entry_sent(e);
	spin_unlock_bh(&e->tx_lock);
	if (verdict == NIC_TS_RTT_NO_TX)
		return verdict;
	rtt->seq = tx->seq;
	rtt->end_seq = tx->end_seq;
	rtt->part_seq = tx->seq;
	if (verdict != NIC_TS_RTT_OK)
		return verdict;

	spin_lock_bh(&e->ack_lock);
	verdict = nic_ts_ack_find(&e->ack, tx->end_seq, una, ack);
	if (nic_ts_ack_before(&e->ack, tx->end_seq, part))
		rtt->part_seq = part->ack_seq;
	spin_unlock_bh(&e->ack_lock);
	if (verdict == NIC_TS_RTT_OK)
		rtt->ack_seq = ack->ack_seq;
	return verdict;
}

/* From stamps of one segment and of an ACK to times of one clock. */
static enum nic_ts_pick nic_ts_entry_pick(const struct nic_ts_stamp *tx,
					  const struct nic_ts_stamp *rx,
					  struct nic_ts_rtt *rtt)
{
	struct nic_ts_mapped tx_map = {}, rx_map = {};

	if (!nic_ts_same_clock(tx, rx)) {
		nic_ts_map_stamp(tx, &tx_map);
		nic_ts_map_stamp(rx, &rx_map);
	}
	return nic_ts_pick(tx, rx, &tx_map, &rx_map, rtt);
}

static void nic_ts_entry_count(struct nic_ts_entry *e, enum nic_ts_net_stat id)
{
	nic_ts_count(e->nn, id);
	atomic_long_inc(&e->stats[id - NIC_TS_NET_RTT_NO_TX]);
}

/* nic_ts_entry_rtt() - implement nic_ts_flow_rtt() */
enum nic_ts_verdict nic_ts_entry_rtt(struct nic_ts_flow *flow, u32 una,
				     struct nic_ts_rtt *rtt)
{
	struct nic_ts_entry *e = container_of(flow, struct nic_ts_entry, flow);
	enum nic_ts_pick pick = NIC_TS_PICK_NONE;
	struct nic_ts_ack_record ack, part;
	struct nic_ts_tx_record tx;
	enum nic_ts_verdict verdict;
	struct nic_ts_rtt of_part;

	memset(rtt, 0, sizeof(*rtt));
	verdict = nic_ts_entry_records(e, una, &tx, &ack, &part, rtt);
	if (verdict != NIC_TS_RTT_OK) {
		nic_ts_entry_count(e, NIC_TS_NET_RTT_NO_TX + verdict - NIC_TS_RTT_NO_TX);
		goto out;
	}
	pick = nic_ts_entry_pick(&tx.stamp, &ack.stamp, rtt);
	nic_ts_entry_count(e, NIC_TS_NET_RTT_HW + pick);
	if (pick == NIC_TS_PICK_NONE) {
		verdict = NIC_TS_RTT_INVALID;
		goto out;
	}
	/* Only said, for the dump. */
	WRITE_ONCE(e->tx_source, rtt->tx_source);
	WRITE_ONCE(e->rx_source, rtt->rx_source);
	if (nic_ts_before(rtt->seq, rtt->part_seq) && part.stamp.ns &&
	    nic_ts_entry_pick(&tx.stamp, &part.stamp, &of_part) == pick &&
	    of_part.tx_ns == rtt->tx_ns)
		rtt->part_ns = of_part.rx_ns;
out:
	trace_nic_ts_rtt(&e->key, una, verdict, pick, rtt);
	return verdict;
}

/**
 * nic_ts_entry_hw() - add the hardware timestamp of a sent segment
 * @e:		flow
 * @nd:		device
 * @seq:	first byte of the segment
 * @end_seq:	the one behind its last
 * @hw_ns:	the stamp
 * @now_ns:	CLOCK_MONOTONIC
 *
 * Context: BH disabled.
 */
void nic_ts_entry_hw(struct nic_ts_entry *e, struct nic_ts_dev *nd, u32 seq,
		     u32 end_seq, u64 hw_ns, u64 now_ns)
{
	enum nic_ts_hw_verdict verdict;
	struct nic_ts_tx_record *rec;
	u64 after_ns = 0;
	u16 epoch;

	spin_lock(&e->tx_lock);
	rec = nic_ts_tx_exact(&e->tx, seq, end_seq);
	if (rec)
		after_ns = rec->stamp.ns;
	spin_unlock(&e->tx_lock);

	trace_nic_ts_tx_done(&e->key, nd->ifindex, seq, end_seq, hw_ns,
			     nd->domain, rec);
	if (!rec) {
		nic_ts_dev_count(nd, NIC_TS_DEV_TX_HW_UNMATCHED);
		return;
	}
	verdict = nic_ts_clock_check(nd, hw_ns, after_ns, now_ns, 0, &epoch);
	if (verdict != NIC_TS_HW_OK) {
		nic_ts_dev_count(nd, NIC_TS_DEV_TX_HW_REFUSED);
		trace_nic_ts_hw_refused(nd->ifindex, true, hw_ns, now_ns,
					nd->domain, verdict);
		return;
	}

	/* Sent again meanwhile, or overwritten? */
	spin_lock(&e->tx_lock);
	rec = nic_ts_tx_exact(&e->tx, seq, end_seq);
	if (rec) {
		rec->stamp.hw_ns = hw_ns;
		rec->stamp.hw_domain = nd->domain;
		rec->stamp.hw_epoch = epoch;
	}
	spin_unlock(&e->tx_lock);
	nic_ts_dev_count(nd, rec ? NIC_TS_DEV_TX_HW : NIC_TS_DEV_TX_HW_UNMATCHED);
	/* Only said, for the dump. */
	if (rec && READ_ONCE(nd->tx_source) != NIC_TS_SRC_HW)
		WRITE_ONCE(nd->tx_source, NIC_TS_SRC_HW);
}

/* Unhash idle entries; with @all, all entries. */
static void nic_ts_flow_age(struct nic_ts_net *nn, bool all)
{
	unsigned long age = max(READ_ONCE(flow_age_s), 1U) * HZ;
	struct rhashtable_iter iter;
	struct nic_ts_entry *e;
	unsigned int n = 0;

	rhashtable_walk_enter(&nn->flows, &iter);
	rhashtable_walk_start(&iter);
	while ((e = rhashtable_walk_next(&iter))) {
		if (!(++n % NIC_TS_WALK_BATCH)) {
			rhashtable_walk_stop(&iter);
			cond_resched();
			rhashtable_walk_start(&iter);
		}
		/* The table is resized: some may come twice. */
		if (IS_ERR(e))
			continue;
		if (!all && time_before(jiffies, READ_ONCE(e->last_packet) + age))
			continue;
		spin_lock_bh(&nic_ts_flow_lock);
		if (!e->flow.aged) {
			nic_ts_entry_unhash(e);
			nic_ts_count(nn, NIC_TS_NET_AGED);
		}
		spin_unlock_bh(&nic_ts_flow_lock);
	}
	rhashtable_walk_stop(&iter);
	rhashtable_walk_exit(&iter);
}

static void nic_ts_age_work(struct work_struct *work)
{
	struct nic_ts_net *nn = container_of(to_delayed_work(work),
					     struct nic_ts_net, age_work);

	nic_ts_flow_age(nn, false);
	if (atomic_read(&nn->nflows))
		schedule_delayed_work(&nn->age_work,
				      max(READ_ONCE(flow_age_s) / 4, 1U) * HZ);
}

/* nic_ts_flow_net_init() - make an empty table; return 0 or a negative errno */
int nic_ts_flow_net_init(struct nic_ts_net *nn)
{
	atomic_set(&nn->nflows, 0);
	atomic_set(&nn->nl3, 0);
	nn->full_walk = jiffies - NIC_TS_FULL_WALK;
	INIT_DELAYED_WORK(&nn->age_work, nic_ts_age_work);
	return rhashtable_init(&nn->flows, &nic_ts_flow_params);
}

/**
 * nic_ts_flow_net_exit() - end the table
 * @nn:		namespace: its devices are gone, or the module's hooks are; it gives
 *		no more flows, and those that sockets of the kernel have leave the table
 */
void nic_ts_flow_net_exit(struct nic_ts_net *nn)
{
	cancel_delayed_work_sync(&nn->age_work);
	nic_ts_flow_age(nn, true);
	rhashtable_destroy(&nn->flows);
}

/** nic_ts_flow_init() - make the cache of flows */
int __init nic_ts_flow_init(void)
{
	if (tx_records < NIC_TS_MIN_RECORDS || tx_records > NIC_TS_MAX_RECORDS) {
		pr_err("tx_records=%u: expected %u to %u\n", tx_records,
		       NIC_TS_MIN_RECORDS, NIC_TS_MAX_RECORDS);
		return -EINVAL;
	}
	tx_records = roundup_pow_of_two(tx_records);
	nic_ts_entry_cache =
		kmem_cache_create("nic_ts_flow",
				  sizeof(struct nic_ts_entry) + tx_records *
				  (sizeof(struct nic_ts_tx_record) +
				   sizeof(struct nic_ts_ack_record)),
				  0, SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT, NULL);
	return nic_ts_entry_cache ? 0 : -ENOMEM;
}

/** nic_ts_flow_exit() - undo nic_ts_flow_init() */
void nic_ts_flow_exit(void)
{
	/* nic_ts_entry_free() */
	rcu_barrier();
	kmem_cache_destroy(nic_ts_entry_cache);
}
