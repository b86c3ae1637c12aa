// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_timely, generic netlink: the state of each socket; uapi/timely.h has the messages.
 *
 * There is no list of sockets that run it: a dump walks TCP's table, as inet_diag does. It
 * takes references on a few sockets of a chain under RCU, and looks at each under its own lock.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sock_diag.h>
#include <net/genetlink.h>
#include <net/inet_hashtables.h>
#include <net/tcp.h>
#include <uapi/timely.h>

#include "timely.h"

/* Sockets that are referenced at a time, and chains without one that are looked at in a row. */
#define TIMELY_GENL_BATCH	16
#define TIMELY_GENL_CHAINS	256

/* Names of the same value are those of timely_source.h. */
static_assert((int)TIMELY_SRC_TCP == (int)TIMELY_SOURCE_TCP);
static_assert((int)TIMELY_SRC_HW == (int)TIMELY_SOURCE_HW);

static const struct nla_policy timely_genl_policy[TIMELY_A_SOCK_COOKIE + 1] = {
	[TIMELY_A_SOCK_LPORT]	= { .type = NLA_U16 },
	[TIMELY_A_SOCK_RPORT]	= { .type = NLA_U16 },
	[TIMELY_A_SOCK_COOKIE]	= { .type = NLA_U64 },
};

static struct genl_family timely_genl_family;

/**
 * struct timely_walk - a dump
 * @cookie:	of the one socket that is wanted; 0: any
 * @lport:	local port, 0: any
 * @rport:	remote port, 0: any
 * @chain:	where it is in TCP's table
 * @pos:	sockets of the chain that were looked at
 */
struct timely_walk {
	u64	cookie;
	__be16	lport;
	__be16	rport;
	u32	chain;
	u32	pos;
};

static struct timely_walk *timely_walk_of(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct timely_walk) > sizeof(cb->ctx));
	return (struct timely_walk *)cb->ctx;
}

static int timely_genl_start(struct netlink_callback *cb)
{
	struct nlattr **attrs = compat_genl_dump_attrs(cb);
	struct timely_walk *w = timely_walk_of(cb);

	*w = (struct timely_walk) { .chain = 0 };
	if (!attrs)
		return 0;
	if (attrs[TIMELY_A_SOCK_COOKIE])
		w->cookie = nla_get_u64(attrs[TIMELY_A_SOCK_COOKIE]);
	if (attrs[TIMELY_A_SOCK_LPORT])
		w->lport = nla_get_be16(attrs[TIMELY_A_SOCK_LPORT]);
	if (attrs[TIMELY_A_SOCK_RPORT])
		w->rport = nla_get_be16(attrs[TIMELY_A_SOCK_RPORT]);
	return 0;
}

static u64 timely_cookie(struct sock *sk)
{
	u32 halves[2];

	sock_diag_save_cookie(sk, halves);
	return (u64)halves[1] << 32 | halves[0];
}

/* Without the socket's lock: it may be another one by the time that it is locked. */
static bool timely_genl_wants(const struct timely_walk *w, const struct net *net,
			      const struct sock *sk)
{
	return net_eq(sock_net(sk), net) && sk_fullsock(sk) && timely_runs(sk) &&
	       (!w->lport || w->lport == inet_sk(sk)->inet_sport) &&
	       (!w->rport || w->rport == inet_sk(sk)->inet_dport);
}

/**
 * struct timely_found - a socket in TCP's table
 * @sk:		the socket, with a reference
 * @pos:	sockets of the chain before it
 */
struct timely_found {
	struct sock	*sk;
	u32		pos;
};

/* The next sockets of the chain. If it changes meanwhile, some are missed or come twice. */
static unsigned int timely_genl_batch(struct timely_walk *w, struct net *net,
				      struct inet_hashinfo *table, struct timely_found *found)
{
	struct inet_ehash_bucket *head = &table->ehash[w->chain];
	const struct hlist_nulls_node *node;
	unsigned int n = 0;
	u32 pos = 0;
	struct sock *sk;

	if (hlist_nulls_empty(&head->chain))
		return 0;
	rcu_read_lock();
	sk_nulls_for_each_rcu(sk, node, &head->chain) {
		if (pos++ < w->pos)
			continue;
		if (!timely_genl_wants(w, net, sk) || !refcount_inc_not_zero(&sk->sk_refcnt))
			continue;
		found[n++] = (struct timely_found) { sk, pos - 1 };
		if (n == TIMELY_GENL_BATCH)
			break;
	}
	rcu_read_unlock();
	w->pos = pos;
	return n;
}

static int timely_put_u64(struct sk_buff *msg, int attr, u64 value)
{
	return nla_put_u64_64bit(msg, attr, value, TIMELY_A_SOCK_PAD);
}

static int timely_put_name(struct sk_buff *msg, struct sock *sk)
{
	const struct inet_sock *inet = inet_sk(sk);
	int err;

#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6 && !ipv6_addr_v4mapped(&sk->sk_v6_daddr))
		err = nla_put_u16(msg, TIMELY_A_SOCK_FAMILY, AF_INET6) ?:
		      nla_put_in6_addr(msg, TIMELY_A_SOCK_LOCAL, &sk->sk_v6_rcv_saddr) ?:
		      nla_put_in6_addr(msg, TIMELY_A_SOCK_REMOTE, &sk->sk_v6_daddr);
	else
#endif
		err = nla_put_u16(msg, TIMELY_A_SOCK_FAMILY, AF_INET) ?:
		      nla_put_in_addr(msg, TIMELY_A_SOCK_LOCAL, inet->inet_rcv_saddr) ?:
		      nla_put_in_addr(msg, TIMELY_A_SOCK_REMOTE, inet->inet_daddr);
	return err ?: nla_put_be16(msg, TIMELY_A_SOCK_LPORT, inet->inet_sport) ?:
	       nla_put_be16(msg, TIMELY_A_SOCK_RPORT, inet->inet_dport) ?:
	       timely_put_u64(msg, TIMELY_A_SOCK_COOKIE, timely_cookie(sk));
}

static int timely_put_snapshot(struct sk_buff *msg, const struct timely_snapshot *v)
{
	if (timely_put_u64(msg, TIMELY_A_SOCK_RATE, v->rate_bps) ||
	    (v->rtt_ns && timely_put_u64(msg, TIMELY_A_SOCK_RTT_NS, v->rtt_ns)) ||
	    (v->min_rtt_ns && timely_put_u64(msg, TIMELY_A_SOCK_MIN_RTT_NS, v->min_rtt_ns)) ||
	    nla_put_u32(msg, TIMELY_A_SOCK_RTTS, v->rtts) ||
	    nla_put_s32(msg, TIMELY_A_SOCK_GRADIENT, v->gradient_ppm) ||
	    nla_put_u8(msg, TIMELY_A_SOCK_SOURCE, v->source) ||
	    nla_put_u8(msg, TIMELY_A_SOCK_AUTO, v->by_rule) ||
	    nla_put_u8(msg, TIMELY_A_SOCK_APP_LIMITED, v->app_limited) ||
	    timely_put_u64(msg, TIMELY_A_SOCK_LINE_RATE, v->line_bps))
		return -EMSGSIZE;
	return 0;
}

/* One socket: 0, or -EMSGSIZE. */
static int timely_genl_put(struct sk_buff *skb, struct netlink_callback *cb, struct sock *sk)
{
	const struct timely_walk *w = timely_walk_of(cb);
	struct timely_snapshot snap;
	bool runs;
	void *hdr;

	/* Before it is locked: it takes no lock. */
	if (w->cookie && w->cookie != timely_cookie(sk))
		return 0;
	lock_sock(sk);
	runs = timely_sock_snapshot(sk, &snap);
	release_sock(sk);
	if (!runs)
		return 0;
	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			  &timely_genl_family, NLM_F_MULTI, TIMELY_CMD_SOCK_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (timely_put_name(skb, sk) || timely_put_snapshot(skb, &snap)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

static int timely_genl_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct net *net = sock_net(cb->skb->sk);
	struct inet_hashinfo *table = compat_tcp_hashinfo(net);
	struct timely_walk *w = timely_walk_of(cb);
	struct timely_found found[TIMELY_GENL_BATCH];
	unsigned int n, i;
	bool full = false;

	while (!full && w->chain <= table->ehash_mask) {
		n = timely_genl_batch(w, net, table, found);
		for (i = 0; i < n; i++) {
			/* The next part begins with the socket that did not fit. */
			if (!full && timely_genl_put(skb, cb, found[i].sk)) {
				full = true;
				w->pos = found[i].pos;
			}
			sock_gen_put(found[i].sk);
		}
		if (full || n == TIMELY_GENL_BATCH)
			continue;
		w->pos = 0;
		if (++w->chain % TIMELY_GENL_CHAINS == 0)
			cond_resched();
	}
	return skb->len;
}

static const struct genl_ops timely_genl_ops[] = {
	{
		.cmd	= TIMELY_CMD_SOCK_GET,
		.flags	= GENL_UNS_ADMIN_PERM,
		.policy	= timely_genl_policy,
		.maxattr = TIMELY_A_SOCK_COOKIE,
		.start	= timely_genl_start,
		.dumpit	= timely_genl_dumpit,
	},
};

static struct genl_family timely_genl_family __ro_after_init = {
	.name		= TIMELY_GENL_NAME,
	.version	= TIMELY_GENL_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.ops		= timely_genl_ops,
	.n_ops		= ARRAY_SIZE(timely_genl_ops),
};

/* timely_genl_register() - register the family; process context */
int __init timely_genl_register(void)
{
	return genl_register_family(&timely_genl_family);
}

/* timely_genl_unregister() - undo timely_genl_register(); no dump is open any more */
void timely_genl_unregister(void)
{
	genl_unregister_family(&timely_genl_family);
}
