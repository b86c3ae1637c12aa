// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_dcqcn: congestion notifications (CNPs) that switches send
 *
 *	or_port -> decode -> tag, by the fabric's key -> newer than the switch's last one?
 *		-> the socket of the flow -> dcqcn_told()
 *
 * Anybody may send anything to the port: until the tag is verified, a message costs a SipHash
 * and no memory. Each switch with the key has 8 bytes of memory in a namespace, and there are
 * 65536 of them at most.
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

/* dcqcn_cnp_net_init() - a namespace begins */
void dcqcn_cnp_net_init(struct dcqcn_net *dn)
{
	spin_lock_init(&dn->cnp_lock);
	xa_init(&dn->cnp_counts);
}

/* dcqcn_cnp_net_exit() - a namespace ends; no message comes any more */
void dcqcn_cnp_net_exit(struct dcqcn_net *dn)
{
	unsigned long from;
	u64 *newest;

	xa_for_each(&dn->cnp_counts, from, newest)
		kfree(newest);
	xa_destroy(&dn->cnp_counts);
}

/* Is it newer than the last CNP of its switch? */
static enum dcqcn_cnp_verdict dcqcn_cnp_order(struct dcqcn_net *dn, const struct or_cnp *cnp)
{
	enum dcqcn_cnp_verdict verdict = DCQCN_CNP_TAKEN;
	u64 *newest;

	spin_lock(&dn->cnp_lock);
	newest = xa_load(&dn->cnp_counts, cnp->from);
	if (!newest) {
		newest = kzalloc(sizeof(*newest), GFP_ATOMIC | __GFP_NOWARN);
		if (!newest || xa_err(xa_store(&dn->cnp_counts, cnp->from, newest,
					       GFP_ATOMIC | __GFP_NOWARN))) {
			kfree(newest);
			verdict = DCQCN_CNP_MEMORY;
			goto unlock;
		}
	}
	if (or_cnp_accept(newest, cnp->count))
		verdict = DCQCN_CNP_OLD;
unlock:
	spin_unlock(&dn->cnp_lock);
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
	verdict = dcqcn_cnp_order(dcqcn_net(net), cnp);
	if (verdict != DCQCN_CNP_TAKEN)
		return verdict;
	sk = dcqcn_cnp_sock(net, cnp, ifindex);
	if (!sk)
		return DCQCN_CNP_NO_FLOW;
	verdict = dcqcn_told(sk, cnp->window, cnp->hold_us, cwnd);
	sock_gen_put(sk);
	return verdict;
}

/* Under RCU, with bottom halves off. */
static void dcqcn_cnp_rcv(struct net *net, const struct or_addrs *addrs, int ifindex,
			  const u8 *msg, unsigned int len)
{
	static const enum dcqcn_stat_id stats[] = {
		[DCQCN_CNP_TAKEN] = DCQCN_STAT_CNP_TAKEN,
		[DCQCN_CNP_TAG] = DCQCN_STAT_CNP_TAG,
		[DCQCN_CNP_OLD] = DCQCN_STAT_CNP_OLD,
		[DCQCN_CNP_MEMORY] = DCQCN_STAT_CNP_MEMORY,
		[DCQCN_CNP_NO_FLOW] = DCQCN_STAT_CNP_NO_FLOW,
		[DCQCN_CNP_BUSY] = DCQCN_STAT_CNP_BUSY,
	};
	struct dcqcn_net *dn = dcqcn_net(net);
	enum dcqcn_cnp_verdict verdict;
	struct or_cnp cnp;
	u32 cwnd = 0;

	/* The sender of the flow is whom it was sent to. */
	if (or_cnp_decode(msg, len, &cnp) ||
	    cnp.pair.version != (addrs->family == AF_INET ? 4 : 6) ||
	    memcmp(cnp.pair.sender, addrs->laddr, sizeof(cnp.pair.sender))) {
		dcqcn_count(dn, DCQCN_STAT_CNP_BAD);
		return;
	}
	verdict = dcqcn_cnp_take(net, &cnp, ifindex, msg, len, &cwnd);
	dcqcn_count(dn, stats[verdict]);
	trace_dcqcn_cnp(&cnp, verdict, cwnd);
}

static const struct or_port_user dcqcn_cnp_user = {
	.type	= OR_TYPE_CNP,
	.owner	= THIS_MODULE,
	.rcv	= dcqcn_cnp_rcv,
};

/**
 * dcqcn_cnp_register() - take CNPs in all namespaces that have a fabric's key
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int __init dcqcn_cnp_register(void)
{
	return or_port_register(&dcqcn_cnp_user);
}

/* dcqcn_cnp_unregister() - undo dcqcn_cnp_register(); process context, may sleep */
void dcqcn_cnp_unregister(void)
{
	or_port_unregister(&dcqcn_cnp_user);
}
