// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: connections without a socket here, of containers that this host forwards for
 *
 *	a qdisc has "forward on":
 *	  TCP packet that came in and is forwarded, as it leaves (after NAT):
 *	    find its entry by addresses and ports; data without one makes it, if there is room
 *	    it has a flow of its own in the qdisc, named by the entry's number
 *	    On-Ramp follows it like one of a socket, once its RTT is known to be near
 *
 *	a packet comes in, before routing and NAT:
 *	  TCP, while the RTT of an entry is being measured: does it end that?
 *	  OR-ACK, CHALLENGE to an address for which this host subscribes, and which is not its
 *	    own: take it, if its tag is right; else let it pass
 *	  SUBSCRIBE of such an address itself: leave the subscription to it
 *
 *	each second: forget entries that are old
 *
 * An entry is bounded by the module's parameter max_forwarded and by its age. Without an
 * entry a packet belongs to the flow of its hash, as with fq. onramp_fwd.h has the decisions.
 *
 * Netfilter sees incoming packets once per IP packet, after GRO. The hook is there only while
 * a qdisc of the namespace has "forward on". It is called in softirqs, and in a process for a
 * packet that a program behind NFQUEUE had to judge first.
 */
#include <linux/atomic.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/ip.h>

#include "onramp.h"

/* Time for which a subscription is left to a workload that sent a SUBSCRIBE, jiffies. */
#define ONRAMP_YIELD		(90 * HZ)

/* Aging 2^16 entries takes some ms of a CPU: with more, do it less often. */
#define ONRAMP_FORWARD_AGE_SHIFT	16

/* An entry takes 128 bytes. Connections beyond that are sent as by fq, and counted. */
static unsigned int onramp_max_forwarded = 1 << 16;
module_param_named(max_forwarded, onramp_max_forwarded, uint, 0644);
MODULE_PARM_DESC(max_forwarded, "forwarded connections of a network namespace, at most (65536)");

/* Numbers of entries: none comes twice, or with 32 bits not within 2^30. */
static atomic64_t onramp_forwarded_id = ATOMIC64_INIT(0);

/* struct onramp_forwarded_key - of a connection, in the direction of its data; no padding */
struct onramp_forwarded_key {
	__be32	saddr[4];
	__be32	daddr[4];
	__be16	sport;
	__be16	dport;
	u32	family;
};

/**
 * struct onramp_forwarded - a connection without a socket here
 * @node: in onramp_net.forwarded
 * @key: addresses as they are on the wire
 * @flow_key: of its flow in any qdisc
 * @lock: of all below
 * @track: what its packets say
 * @dead: it is out of the table
 * @fresh: an RTT was measured since a qdisc last tried to have it followed
 * @followed: On-Ramp follows it, so its RTT is not measured any more
 * @far: it was counted as one to a far host
 * @rcu: to free it
 */
struct onramp_forwarded {
	struct rhash_head	node;
	struct onramp_forwarded_key key;
	unsigned long		flow_key;
	spinlock_t		lock;		/* the next ones */
	struct onramp_fwd	track;
	bool			dead;
	bool			fresh;
	bool			followed;
	bool			far;
	struct rcu_head		rcu;
};

static const struct rhashtable_params onramp_forwarded_table = {
	.key_len		= sizeof(struct onramp_forwarded_key),
	.key_offset		= offsetof(struct onramp_forwarded, key),
	.head_offset		= offsetof(struct onramp_forwarded, node),
	.automatic_shrinking	= true,
};

/* Entries ------------------------------------------------------------------ */

/* What is read of a TCP packet. */
struct onramp_forwarded_packet {
	struct onramp_forwarded_key key;
	u32	seq;
	u32	ack_seq;
	u32	payload;
	bool	ack;
	bool	end;
};

/* Read TCP's header at @offset from skb->data; @len: bytes from there on. */
static bool onramp_forwarded_tcp(const struct sk_buff *skb, unsigned int offset, u32 len,
				 struct onramp_forwarded_packet *p)
{
	const struct tcphdr *th;
	struct tcphdr buf;

	th = skb_header_pointer(skb, offset, sizeof(buf), &buf);
	if (!th || th->doff < sizeof(buf) / 4 || len < 4U * th->doff)
		return false;
	p->key.sport = th->source;
	p->key.dport = th->dest;
	p->seq = ntohl(th->seq);
	p->ack_seq = ntohl(th->ack_seq);
	p->payload = len - 4 * th->doff;
	p->ack = th->ack;
	p->end = th->fin || th->rst;
	return true;
}

/* Read a TCP packet whose IP header is in one piece; no fragment, no header between IP and TCP. */
static bool onramp_forwarded_parse(const struct sk_buff *skb, struct onramp_forwarded_packet *p)
{
	unsigned int offset = skb_network_offset(skb);
	const struct ipv6hdr *ip6h;
	const struct iphdr *iph;

	memset(&p->key, 0, sizeof(p->key));
	switch (skb_protocol(skb, true)) {
	case htons(ETH_P_IP):
		iph = ip_hdr(skb);
		if (iph->protocol != IPPROTO_TCP || ip_is_fragment(iph))
			return false;
		p->key.family = AF_INET;
		p->key.saddr[0] = iph->saddr;
		p->key.daddr[0] = iph->daddr;
		offset += ip_hdrlen(skb);
		break;
	case htons(ETH_P_IPV6):
		ip6h = ipv6_hdr(skb);
		if (ip6h->nexthdr != IPPROTO_TCP)
			return false;
		p->key.family = AF_INET6;
		memcpy(p->key.saddr, &ip6h->saddr, sizeof(p->key.saddr));
		memcpy(p->key.daddr, &ip6h->daddr, sizeof(p->key.daddr));
		offset += sizeof(*ip6h);
		break;
	default:
		return false;
	}
	return skb->len > offset && onramp_forwarded_tcp(skb, offset, skb->len - offset, p);
}

static struct onramp_forwarded *onramp_forwarded_find(struct onramp_net *onet,
						      const struct onramp_forwarded_key *key)
{
	return rhashtable_lookup(&onet->forwarded, key, onramp_forwarded_table);
}

/* Add an entry; NULL: there is no room, or no memory. */
static struct onramp_forwarded *onramp_forwarded_create(struct onramp_net *onet,
							const struct onramp_forwarded_key *key)
{
	struct onramp_forwarded *e;
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
	e->flow_key = (unsigned long)atomic64_inc_return(&onramp_forwarded_id) << 1 | 1 |
		      ONRAMP_KEY_FORWARDED;
	spin_lock_init(&e->lock);
	onramp_fwd_init(&e->track);
	/* Another queue was faster, or the table is growing: the next packet tries again. */
	if (rhashtable_lookup_insert_fast(&onet->forwarded, &e->node, onramp_forwarded_table)) {
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

/* Count the measurements of RTTs that are under way. */
static void onramp_forwarded_timed(struct onramp_net *onet, bool was, bool is)
{
	if (was != is)
		atomic_add(is ? 1 : -1, &onet->n_timed);
}

/**
 * onramp_forwarded_packet() - find or make the entry of a packet, and note the packet
 * @qref: of the qdisc
 * @skb: the packet, without a socket
 * @now: CLOCK_MONOTONIC, ns
 * @key: set to that of its flow, if there is an entry
 * @closed: set to whether its host has closed the connection, if there is an entry
 *
 * Context: the qdisc's lock.
 * Return: the entry, valid while BHs are disabled; NULL: it has none.
 */
struct onramp_forwarded *onramp_forwarded_packet(struct onramp_qref *qref,
						 const struct sk_buff *skb, u64 now,
						 unsigned long *key, bool *closed)
{
	struct onramp_net *onet = qref->onet;
	struct onramp_forwarded_packet p;
	struct onramp_forwarded *e;
	bool timed;

	/* What this host sends itself has come in by no device. */
	if (skb->sk || !skb->skb_iif || skb->encapsulation)
		return NULL;
	/* Set by IP, and not by a bridge. Those who read headers expect them in one piece. */
	if (!skb_transport_header_was_set(skb) ||
	    skb_network_header_len(skb) < sizeof(struct iphdr) ||
	    skb_transport_offset(skb) + (int)sizeof(struct tcphdr) > (int)skb_headlen(skb))
		return NULL;
	if (!onramp_forwarded_parse(skb, &p))
		return NULL;
	rcu_read_lock();
	e = onramp_forwarded_find(onet, &p.key);
	if (!e && p.payload && !p.end)
		e = onramp_forwarded_create(onet, &p.key);
	if (e) {
		spin_lock(&e->lock);
		timed = e->track.timed_ns;
		if (p.payload)
			onramp_fwd_data(&e->track, p.seq, p.seq + p.payload,
					!e->followed && !e->dead, now);
		if (p.end)
			onramp_fwd_end(&e->track, now);
		onramp_forwarded_timed(onet, timed, e->track.timed_ns);
		*closed = e->track.closed;
		spin_unlock(&e->lock);
		*key = e->flow_key;
	}
	rcu_read_unlock();
	return e;
}

/**
 * onramp_forwarded_try() - return whether to try to have a connection followed
 * @e: its entry
 * @too_early: the last attempt was a short time ago
 * @rtt_us: set to its shortest RTT, U32_MAX: unknown
 *
 * Context: the qdisc's lock.
 */
bool onramp_forwarded_try(struct onramp_forwarded *e, bool too_early, u32 *rtt_us)
{
	bool try;

	spin_lock(&e->lock);
	try = !too_early || e->fresh;
	e->fresh = false;
	e->followed = false;
	*rtt_us = e->track.rtt_us;
	spin_unlock(&e->lock);
	return try;
}

/* onramp_forwarded_far() - return whether to count the connection as a far one; the qdisc's lock */
bool onramp_forwarded_far(struct onramp_forwarded *e)
{
	bool first;

	spin_lock(&e->lock);
	first = !e->far;
	e->far = true;
	spin_unlock(&e->lock);
	return first;
}

/* onramp_forwarded_follow() - note that On-Ramp follows the connection; the qdisc's lock */
void onramp_forwarded_follow(struct onramp_forwarded *e)
{
	spin_lock(&e->lock);
	e->followed = true;
	spin_unlock(&e->lock);
}

/* Forget an entry if it is old. */
static void onramp_forwarded_age_one(struct onramp_net *onet, struct onramp_forwarded *e, u64 now)
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
	onramp_forwarded_timed(onet, timed, e->track.timed_ns);
	spin_unlock_bh(&e->lock);
	if (!old)
		return;
	rhashtable_remove_fast(&onet->forwarded, &e->node, onramp_forwarded_table);
	atomic_dec(&onet->n_forwarded);
	kfree_rcu(e, rcu);
}

static void onramp_forwarded_age(struct work_struct *work)
{
	struct onramp_net *onet = container_of(to_delayed_work(work), struct onramp_net,
					       forward_work);
	struct rhashtable_iter iter;
	struct onramp_forwarded *e;
	unsigned int n;

	rhashtable_walk_enter(&onet->forwarded, &iter);
	rhashtable_walk_start(&iter);
	while ((e = rhashtable_walk_next(&iter))) {
		/* The table grows: some are seen twice. */
		if (!IS_ERR(e))
			onramp_forwarded_age_one(onet, e, ktime_get_ns());
		if (need_resched()) {
			rhashtable_walk_stop(&iter);
			cond_resched();
			rhashtable_walk_start(&iter);
		}
	}
	rhashtable_walk_stop(&iter);
	rhashtable_walk_exit(&iter);
	n = atomic_read(&onet->n_forwarded);
	if (n)
		queue_delayed_work(onramp_wq, &onet->forward_work,
				   HZ + HZ * (n >> ONRAMP_FORWARD_AGE_SHIFT));
}

/* Packets that come in ----------------------------------------------------- */

#if IS_ENABLED(CONFIG_NETFILTER)

/* A TCP packet: the ACK of data whose RTT is being measured? */
static void onramp_forward_acked(struct onramp_net *onet, const struct sk_buff *skb)
{
	struct onramp_forwarded_packet p;
	struct onramp_forwarded_key key;
	struct onramp_forwarded *e;
	bool timed;

	if (!onramp_forwarded_parse(skb, &p) || !p.ack)
		return;
	key = (struct onramp_forwarded_key) {
		.sport = p.key.dport, .dport = p.key.sport, .family = p.key.family,
	};
	memcpy(key.saddr, p.key.daddr, sizeof(key.saddr));
	memcpy(key.daddr, p.key.saddr, sizeof(key.daddr));
	e = onramp_forwarded_find(onet, &key);
	if (!e)
		return;
	spin_lock_bh(&e->lock);
	timed = e->track.timed_ns;
	if (onramp_fwd_acked(&e->track, p.ack_seq, ktime_get_ns()))
		e->fresh = true;
	onramp_forwarded_timed(onet, timed, e->track.timed_ns);
	spin_unlock_bh(&e->lock);
}

/* Does a qdisc of this kind send to that device? What comes in by it is of other hosts. */
static bool onramp_forward_outside(struct onramp_net *onet, const struct net_device *dev)
{
	const struct onramp_qref *qref;

	list_for_each_entry_rcu(qref, &onet->qrefs, list)
		if (qref->ifindex == dev->ifindex)
			return true;
	return false;
}

/* Returns whether a message to or from @peer is taken. */
static bool onramp_forward_take(struct onramp_net *onet, struct onramp_peer *peer,
				const struct net_device *in, const struct or_addrs *back,
				const u8 *msg, unsigned int len)
{
	struct or_subscribe s;

	switch (msg[0] & 15) {
	case OR_TYPE_ACK:
		return onramp_conn_take(onet, back, msg, len);
	case OR_TYPE_CHALLENGE:
		return onramp_peer_take(onet, back, msg, len);
	case OR_TYPE_SUBSCRIBE:
		if (!or_subscribe_decode(msg, len, &s) && !onramp_forward_outside(onet, in))
			onramp_peer_yield(peer, ONRAMP_YIELD);
	}
	return false;
}

/*
 * A message from one workload's address to another's, or to a host's. @out: as this host would
 * send it; the way back is the other one. Returns whether it is taken.
 */
static bool onramp_forward_message(struct onramp_net *onet, struct sk_buff *skb,
				   const struct nf_hook_state *state, unsigned int offset,
				   const struct or_addrs *out, const struct or_addrs *back)
{
	const struct udphdr *uh;
	struct onramp_peer *peer;
	u8 buf[OR_MSG_MAX], type;
	unsigned int len;
	struct udphdr hdr;
	const u8 *msg;
	bool taken;

	uh = skb_header_pointer(skb, offset, sizeof(hdr), &hdr);
	if (!uh || uh->source != htons(OR_PORT) || uh->dest != htons(OR_PORT))
		return false;
	len = ntohs(uh->len);
	if (len <= sizeof(hdr) || skb->len - offset < len)
		return false;
	len -= sizeof(hdr);
	msg = skb_header_pointer(skb, offset + sizeof(hdr), min_t(unsigned int, len, OR_MSG_MAX),
				 buf);
	if (!msg || msg[0] >> 4 != OR_VERSION)
		return false;
	type = msg[0] & 15;
	peer = onramp_peer_find(onet, type == OR_TYPE_SUBSCRIBE ? out : back);
	if (!peer || !READ_ONCE(peer->foreign))
		return false;
	/* Answers to the workload's own. */
	if (type != OR_TYPE_SUBSCRIBE && test_bit(ONRAMP_PEER_YIELDS, &peer->flags))
		return false;
	if (uh->check && nf_checksum(skb, state->hook, offset, IPPROTO_UDP, state->pf))
		return false;
	local_bh_disable();
	taken = onramp_forward_take(onet, peer, state->in, back, msg, len);
	local_bh_enable();
	return taken;
}

static unsigned int onramp_forward_in4(void *priv, struct sk_buff *skb,
				       const struct nf_hook_state *state)
{
	struct onramp_net *onet = onramp_net(state->net);
	const struct iphdr *iph = ip_hdr(skb);
	struct or_addrs out, back;

	if (skb->pkt_type != PACKET_HOST)
		return NF_ACCEPT;
	if (iph->protocol == IPPROTO_TCP && atomic_read(&onet->n_timed))
		onramp_forward_acked(onet, skb);
	if (iph->protocol != IPPROTO_UDP || ip_is_fragment(iph))
		return NF_ACCEPT;
	out = (struct or_addrs) {
		.laddr = { iph->saddr }, .raddr = { iph->daddr }, .family = AF_INET,
	};
	back = (struct or_addrs) {
		.laddr = { iph->daddr }, .raddr = { iph->saddr }, .family = AF_INET,
	};
	if (!onramp_forward_message(onet, skb, state, skb_network_offset(skb) + ip_hdrlen(skb),
				    &out, &back))
		return NF_ACCEPT;
	consume_skb(skb);
	return NF_STOLEN;
}

#if IS_ENABLED(CONFIG_IPV6)
static unsigned int onramp_forward_in6(void *priv, struct sk_buff *skb,
				       const struct nf_hook_state *state)
{
	struct onramp_net *onet = onramp_net(state->net);
	const struct ipv6hdr *ip6h = ipv6_hdr(skb);
	struct or_addrs out = { .family = AF_INET6 }, back = { .family = AF_INET6 };

	if (skb->pkt_type != PACKET_HOST)
		return NF_ACCEPT;
	if (ip6h->nexthdr == IPPROTO_TCP && atomic_read(&onet->n_timed))
		onramp_forward_acked(onet, skb);
	if (ip6h->nexthdr != IPPROTO_UDP)
		return NF_ACCEPT;
	memcpy(out.laddr, &ip6h->saddr, sizeof(out.laddr));
	memcpy(out.raddr, &ip6h->daddr, sizeof(out.raddr));
	memcpy(back.laddr, &ip6h->daddr, sizeof(back.laddr));
	memcpy(back.raddr, &ip6h->saddr, sizeof(back.raddr));
	if (!onramp_forward_message(onet, skb, state, skb_network_offset(skb) + sizeof(*ip6h),
				    &out, &back))
		return NF_ACCEPT;
	consume_skb(skb);
	return NF_STOLEN;
}
#endif

/*
 * After the table raw, where an administrator may drop a packet, and before connection
 * tracking: addresses are those on the wire, as the qdisc sees them, and messages make no
 * entries there.
 */
static const struct nf_hook_ops onramp_forward_hooks[] = {
	{
		.hook		= onramp_forward_in4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_PRE_ROUTING,
		.priority	= NF_IP_PRI_RAW + 1,
	},
#if IS_ENABLED(CONFIG_IPV6)
	{
		.hook		= onramp_forward_in6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_PRE_ROUTING,
		.priority	= NF_IP6_PRI_RAW + 1,
	},
#endif
};

static int onramp_forward_register(struct net *net)
{
	return nf_register_net_hooks(net, onramp_forward_hooks, ARRAY_SIZE(onramp_forward_hooks));
}

static void onramp_forward_unregister(struct net *net)
{
	nf_unregister_net_hooks(net, onramp_forward_hooks, ARRAY_SIZE(onramp_forward_hooks));
}
#else
static int onramp_forward_register(struct net *net)
{
	return -EOPNOTSUPP;
}

static void onramp_forward_unregister(struct net *net)
{
}
#endif

/**
 * onramp_forward_start() - begin to look at packets that come in: a qdisc forwards
 * @onet: namespace
 *
 * Calls are counted.
 *
 * Context: RTNL.
 * Return: 0; -ENOMEM; -EOPNOTSUPP: the kernel has no netfilter.
 */
int onramp_forward_start(struct onramp_net *onet)
{
	int err = 0;

	ASSERT_RTNL();
	if (!onet->n_forwards)
		err = onramp_forward_register(onet->net);
	if (!err)
		onet->n_forwards++;
	return err;
}

/* onramp_forward_stop() - undo a successful onramp_forward_start(); RTNL */
void onramp_forward_stop(struct onramp_net *onet)
{
	ASSERT_RTNL();
	if (!--onet->n_forwards)
		onramp_forward_unregister(onet->net);
}

/**
 * onramp_forward_net_init() - make the table of a new namespace
 * @onet: namespace
 *
 * Return: 0 or -ENOMEM.
 */
int onramp_forward_net_init(struct onramp_net *onet)
{
	INIT_DELAYED_WORK(&onet->forward_work, onramp_forwarded_age);
	return rhashtable_init(&onet->forwarded, &onramp_forwarded_table);
}

static void onramp_forwarded_free(void *ptr, void *arg)
{
	kfree(ptr);
}

/* onramp_forward_net_exit() - undo that; no qdisc is left, and RCU has passed since */
void onramp_forward_net_exit(struct onramp_net *onet)
{
	cancel_delayed_work_sync(&onet->forward_work);
	rhashtable_free_and_destroy(&onet->forwarded, onramp_forwarded_free, NULL);
}
