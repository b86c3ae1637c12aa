// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_dcqcn: congestion notifications (CNPs) that switches send
 *
 *	or_port -> decode -> tag, by the fabric's key -> newer than the switch's last one?
 *		-> the socket of the flow -> dcqcn_cnp_ops.rcv()
 *
 * While a process uses the connection, it has the congestion control: it may write, or choose
 * another one. Then the CNP is kept beside the connection, until the flow itself takes it before
 * its next data, or a work item does.
 *
 * Anybody may send anything to the port: until the tag is verified, a message costs a SipHash
 * and no memory. Each switch with the key has 8 bytes of memory in a namespace, and there are
 * 65536 of them at most. CNPs of DCQCN_MAX_KEPT connections are kept.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>
#include <linux/string.h>
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#include <net/tcp.h>

#include <or_port.h>
#include <or_proto.h>

#include "dcqcn.h"
#include "dcqcn_trace.h"

/* Of the congestion control. Set before the first CNP comes. */
static const struct dcqcn_cnp_ops *cnp_ops __read_mostly;

/* Add to the kept CNPs, under cnp_lock. The caller's reference on the socket goes with it. */
static void dcqcn_cnp_add(struct cc_net *cn, struct dcqcn_kept *kept)
{
	hash_add(cn->law.kept, &kept->node, (unsigned long)kept->sk);
	cn->law.kept_many++;
}

/* The kept CNPs of a socket, under cnp_lock. */
static struct dcqcn_kept *dcqcn_cnp_find(struct cc_net *cn, const struct sock *sk)
{
	struct dcqcn_kept *kept;

	hash_for_each_possible(cn->law.kept, kept, node, (unsigned long)sk)
		if (kept->sk == sk)
			return kept;
	return NULL;
}

/**
 * dcqcn_cnp_keep() - keep a CNP until its connection is not in use
 * @cn: namespace
 * @sk: TCP socket, with slock held, in use by a process
 * @cnp: CNP; takes the place of one that is kept
 * @now_ns: tcp_clock_ns()
 *
 * Context: bottom halves off.
 * Return: %DCQCN_CNP_KEPT, or %DCQCN_CNP_BUSY if there is no room.
 */
enum dcqcn_cnp_verdict dcqcn_cnp_keep(struct cc_net *cn, struct sock *sk,
				      const struct or_cnp *cnp, u64 now_ns)
{
	enum dcqcn_cnp_verdict verdict = DCQCN_CNP_BUSY;
	struct dcqcn_kept *kept;

	spin_lock(&cn->law.cnp_lock);
	kept = dcqcn_cnp_find(cn, sk);
	if (!kept) {
		if (cn->law.kept_many >= DCQCN_MAX_KEPT)
			goto unlock;
		kept = kzalloc(sizeof(*kept), GFP_ATOMIC | __GFP_NOWARN);
		if (!kept)
			goto unlock;
		sock_hold(sk);
		kept->sk = sk;
		dcqcn_cnp_add(cn, kept);
	}
	kept->cnp = *cnp;
	kept->at_ns = now_ns;
	kept->many++;
	schedule_delayed_work(&cn->law.kept_work, 1);
	verdict = DCQCN_CNP_KEPT;
unlock:
	spin_unlock(&cn->law.cnp_lock);
	return verdict;
}

/**
 * dcqcn_cnp_unkeep() - take the kept CNPs of a connection
 * @cn: namespace
 * @sk: TCP socket, locked
 *
 * Return: for the caller to give to dcqcn_cnp_free(); NULL: nothing.
 */
struct dcqcn_kept *dcqcn_cnp_unkeep(struct cc_net *cn, const struct sock *sk)
{
	struct dcqcn_kept *kept;

	spin_lock_bh(&cn->law.cnp_lock);
	kept = dcqcn_cnp_find(cn, sk);
	if (kept) {
		hash_del(&kept->node);
		cn->law.kept_many--;
	}
	spin_unlock_bh(&cn->law.cnp_lock);
	return kept;
}

/* dcqcn_cnp_free() - free a kept CNP. It may have the last reference on its socket. */
void dcqcn_cnp_free(struct dcqcn_kept *kept)
{
	sock_put(kept->sk);
	kfree(kept);
}

/* Keep on with it, but for its CNP if a newer one came meanwhile. */
static void dcqcn_cnp_again(struct cc_net *cn, struct dcqcn_kept *kept)
{
	struct dcqcn_kept *newer;

	spin_lock_bh(&cn->law.cnp_lock);
	newer = dcqcn_cnp_find(cn, kept->sk);
	if (newer)
		newer->many += kept->many;
	else
		dcqcn_cnp_add(cn, kept);
	spin_unlock_bh(&cn->law.cnp_lock);
	if (newer)
		dcqcn_cnp_free(kept);
}

/* A connection may neither send nor get an ACK, or have lost its congestion control. */
static void dcqcn_cnp_work(struct work_struct *work)
{
	struct cc_net *cn = container_of(to_delayed_work(work), struct cc_net, law.kept_work);
	struct dcqcn_kept *kept;
	struct hlist_node *next;
	unsigned int i;
	bool more;

	for (i = 0; i < HASH_SIZE(cn->law.kept); i++) {
		HLIST_HEAD(list);

		/* The socket's lock is taken before this one. */
		spin_lock_bh(&cn->law.cnp_lock);
		hlist_move_list(&cn->law.kept[i], &list);
		hlist_for_each_entry(kept, &list, node)
			cn->law.kept_many--;
		spin_unlock_bh(&cn->law.cnp_lock);
		hlist_for_each_entry_safe(kept, next, &list, node) {
			if (cnp_ops->retry(kept)) {
				dcqcn_cnp_free(kept);
			} else if (tcp_clock_ns() - kept->at_ns > DCQCN_MAX_KEPT_NS) {
				cc_count_many(cn, CC_STAT_CNP_BUSY, kept->many);
				dcqcn_cnp_free(kept);
			} else {
				dcqcn_cnp_again(cn, kept);
			}
		}
		cond_resched();
	}
	spin_lock_bh(&cn->law.cnp_lock);
	more = cn->law.kept_many;
	spin_unlock_bh(&cn->law.cnp_lock);
	if (more)
		schedule_delayed_work(&cn->law.kept_work, 1);
}

/* dcqcn_cnp_net_init() - a namespace begins */
void dcqcn_cnp_net_init(struct cc_net *cn)
{
	spin_lock_init(&cn->law.cnp_lock);
	xa_init(&cn->law.cnp_counts);
	hash_init(cn->law.kept);
	INIT_DELAYED_WORK(&cn->law.kept_work, dcqcn_cnp_work);
}

/* dcqcn_cnp_net_exit() - a namespace ends; no message comes any more. May sleep */
void dcqcn_cnp_net_exit(struct cc_net *cn)
{
	struct dcqcn_kept *kept;
	struct hlist_node *next;
	unsigned long from;
	u64 *newest;
	int i;

	cancel_delayed_work_sync(&cn->law.kept_work);
	/* Sockets of the kernel, and where the module goes: no flow has its congestion control. */
	hash_for_each_safe(cn->law.kept, i, next, kept, node)
		dcqcn_cnp_free(kept);
	xa_for_each(&cn->law.cnp_counts, from, newest)
		kfree(newest);
	xa_destroy(&cn->law.cnp_counts);
}

/* Is it newer than the last CNP of its switch? */
static enum dcqcn_cnp_verdict dcqcn_cnp_order(struct cc_net *cn, const struct or_cnp *cnp)
{
	enum dcqcn_cnp_verdict verdict = DCQCN_CNP_TAKEN;
	u64 *newest;

	spin_lock(&cn->law.cnp_lock);
	newest = xa_load(&cn->law.cnp_counts, cnp->from);
	if (!newest) {
		newest = kzalloc(sizeof(*newest), GFP_ATOMIC | __GFP_NOWARN);
		if (!newest || xa_err(xa_store(&cn->law.cnp_counts, cnp->from, newest,
					       GFP_ATOMIC | __GFP_NOWARN))) {
			kfree(newest);
			verdict = DCQCN_CNP_MEMORY;
			goto unlock;
		}
	}
	if (or_cnp_accept(newest, cnp->count))
		verdict = DCQCN_CNP_OLD;
unlock:
	spin_unlock(&cn->law.cnp_lock);
	return verdict;
}

/* The socket of the flow, with a reference; NULL: there is none. */
static struct sock *dcqcn_cnp_sock(struct net *net, const struct or_cnp *cnp, int ifindex)
{
	struct sock *sk;

	if (cnp->pair.version == 4) {
		__be32 laddr, raddr;

		memcpy(&laddr, cnp->pair.sender, sizeof(laddr));
		memcpy(&raddr, cnp->pair.receiver, sizeof(raddr));
		sk = compat_inet_lookup_established(net, raddr, htons(cnp->dport), laddr,
						    cnp->sport, ifindex, 0);
#if IS_ENABLED(CONFIG_IPV6)
	} else {
		struct in6_addr laddr, raddr;

		memcpy(&laddr, cnp->pair.sender, sizeof(laddr));
		memcpy(&raddr, cnp->pair.receiver, sizeof(raddr));
		sk = compat_inet6_lookup_established(net, &raddr, htons(cnp->dport), &laddr,
						     cnp->sport, ifindex, 0);
#else
	} else {
		sk = NULL;
#endif
	}
	if (sk && !sk_fullsock(sk)) {
		sock_gen_put(sk);
		sk = NULL;
	}
	return sk;
}

/* A CNP whose format is right. */
static enum dcqcn_cnp_verdict dcqcn_cnp_take(struct net *net, const struct or_cnp *cnp,
					     int ifindex, const u8 *msg, unsigned int len,
					     u32 *cwnd)
{
	enum dcqcn_cnp_verdict verdict;
	u8 key[OR_KEY_LEN];
	struct sock *sk;
	bool good;

	good = or_port_fabric_key(net, key) && !or_verify(msg, len, key);
	memzero_explicit(key, sizeof(key));
	if (!good)
		return DCQCN_CNP_TAG;
	verdict = dcqcn_cnp_order(cc_net(net), cnp);
	if (verdict != DCQCN_CNP_TAKEN)
		return verdict;
	sk = dcqcn_cnp_sock(net, cnp, ifindex);
	if (!sk)
		return DCQCN_CNP_NO_FLOW;
	verdict = cnp_ops->rcv(sk, cnp, cwnd);
	sock_gen_put(sk);
	return verdict;
}

/* Under RCU, with bottom halves off. */
static void dcqcn_cnp_rcv(struct net *net, const struct or_addrs *addrs, int ifindex, u32 mark,
			  const u8 *msg, unsigned int len)
{
	static const enum cc_stat_id stats[] = {
		[DCQCN_CNP_TAKEN] = CC_STAT_CNP_TAKEN,
		[DCQCN_CNP_TAG] = CC_STAT_CNP_TAG,
		[DCQCN_CNP_OLD] = CC_STAT_CNP_OLD,
		[DCQCN_CNP_MEMORY] = CC_STAT_CNP_MEMORY,
		[DCQCN_CNP_NO_FLOW] = CC_STAT_CNP_NO_FLOW,
		[DCQCN_CNP_BUSY] = CC_STAT_CNP_BUSY,
		[DCQCN_CNP_KEPT] = CC_STAT_CNP_KEPT,
	};
	struct cc_net *cn = cc_net(net);
	enum dcqcn_cnp_verdict verdict;
	struct or_cnp cnp;
	u32 cwnd = 0;

	/* The sender of the flow is whom it was sent to. */
	if (or_cnp_decode(msg, len, &cnp) ||
	    cnp.pair.version != (addrs->family == AF_INET ? 4 : 6) ||
	    memcmp(cnp.pair.sender, addrs->laddr, sizeof(cnp.pair.sender))) {
		cc_count(cn, CC_STAT_CNP_BAD);
		return;
	}
	verdict = dcqcn_cnp_take(net, &cnp, ifindex, msg, len, &cwnd);
	cc_count(cn, stats[verdict]);
	trace_dcqcn_cnp(&cnp, verdict, cwnd);
}

static const struct or_port_user dcqcn_cnp_user = {
	.type	= OR_TYPE_CNP,
	.owner	= THIS_MODULE,
	.rcv	= dcqcn_cnp_rcv,
};

/**
 * dcqcn_cnp_register() - take CNPs in all namespaces that have a fabric's key
 * @ops: what connections do with them
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int __init dcqcn_cnp_register(const struct dcqcn_cnp_ops *ops)
{
	cnp_ops = ops;
	return or_port_register(&dcqcn_cnp_user);
}

/* dcqcn_cnp_unregister() - undo dcqcn_cnp_register(); process context, may sleep */
void dcqcn_cnp_unregister(void)
{
	or_port_unregister(&dcqcn_cnp_user);
}
