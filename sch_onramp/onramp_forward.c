// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: connections without a socket here, of containers that this host forwards for
 *
 *	a qdisc has "forward on":
 *	  TCP packet that came in and is forwarded, as it leaves (after NAT):
 *	    find its entry by addresses and ports; data without one makes it, if there is room
 *	    it has a flow of its own in the qdisc, named by the entry's number
 *	    On-Ramp follows it like one of a socket, once its RTT is known to be near
 *	  TCP packet of a socket in another namespace: On-Ramp follows that socket
 *	  SUBSCRIBE of such an address itself: leave the subscription to it
 *
 *	a packet comes in by the qdisc's device, before bridge, VLAN, routing and NAT:
 *	  TCP, while the RTT of an entry is being measured: does it end that?
 *	  OR-ACK, CHALLENGE to an address for which this host subscribes, and which is not its
 *	    own: take it, if its tag is right; else let it pass
 *
 *	how messages leave in the name of a workload, and come in:
 *	  its packets have a MAC address of their own, or its socket is in another namespace: with
 *	    that address and the packets' VLAN, by this device
 *	  else: this host routes for it, and routes them
 *
 *	each second: forget entries that are old
 *
 * An entry is bounded by the module's parameter max_forwarded and by its age. Above few_forwarded
 * only large connections get one. Without an entry a packet belongs to the flow of its hash, as
 * with fq. onramp_fwd.h has the decisions.
 *
 * With many connections the cost of a packet is that of its cache misses. A connection that On-Ramp
 * follows has a slot in its qdisc, which names its flow: its entry is looked up and noted once in a
 * tick, and for FIN and RST. Else an entry names the flow, so that it is not looked up. Where most
 * connections have no entry, a counter says so. A flow holds a reference of its entry: its key is
 * the entry's address.
 *
 * The ingress hook of a device sees incoming packets once, after GRO. It is there only while a
 * qdisc of the device has "forward on". It is called with BH disabled.
 */
#include <linux/atomic.h>
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/once.h>
#include <linux/random.h>
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

/* Above this many entries, track only large connections, for the sake of the CPU's caches. */
static unsigned int onramp_few_forwarded = 1 << 12;
module_param_named(few_forwarded, onramp_few_forwarded, uint, 0644);
MODULE_PARM_DESC(few_forwarded, "forwarded connections of a network namespace from which on only large ones are followed (4096)");

/**
 * struct onramp_forwarded_key - of a connection, in the direction of its data; no padding
 * @saddr: source address; IPv4 in the first word, the rest 0
 * @daddr: destination address, likewise
 * @sport: TCP's port of the source
 * @dport: of the destination
 * @ports: both
 * @family: AF_INET or AF_INET6
 * @src: MAC address of the workload; 0: this host routes for it
 * @vlan: number of its VLAN, with VLAN_CFI_MASK; 0: there is no tag, or this host routes for it
 * @via: both
 */
struct onramp_forwarded_key {
	__be32	saddr[4];
	__be32	daddr[4];
	union {
		struct {
			__be16	sport;
			__be16	dport;
		};
		__be32	ports;
	};
	u32	family;
	union {
		struct {
			u8	src[ETH_ALEN];
			u16	vlan;
		};
		u64	via;
	};
};

/**
 * struct onramp_forwarded - a connection without a socket here
 * @node: in onramp_net.forwarded
 * @key: addresses as they are on the wire
 * @refs: the table, and flows of qdiscs
 * @lock: of all below
 * @dead: it is out of the table
 * @fresh: an RTT was measured since a qdisc last tried to have it followed
 * @followed: On-Ramp follows it, so its RTT is not measured any more
 * @far: it was counted as one to a far host
 * @track: what its packets say
 * @qref: not @dead: of the qdisc that @flow is of, to compare
 * @flow: not @dead: its flow in that qdisc; NULL: unknown
 * @rcu: to free it
 *
 * It has two cache lines.
 */
struct onramp_forwarded {
	struct rhash_head	node;
	struct onramp_forwarded_key key;
	refcount_t		refs;
	spinlock_t		lock;		/* the next ones */
	bool			dead;
	bool			fresh;
	bool			followed;
	bool			far;
	struct onramp_fwd	track;
	union {
		struct {
			const struct onramp_qref *qref;
			struct onramp_flow	*flow;
		};
		struct rcu_head	rcu;
	};
};

/* struct onramp_forwarded_sum - two hashes, in the upper half of each word */
struct onramp_forwarded_sum {
	u64	a;
	u64	b;
};

/* Numbers that nobody knows, for the words of a key. */
static struct onramp_forwarded_sum onramp_forwarded_secrets[11] __read_mostly;

static __always_inline void onramp_forwarded_add(struct onramp_forwarded_sum *sum, unsigned int i,
						 __be32 word)
{
	sum->a += onramp_forwarded_secrets[i].a * (__force u32)word;
	sum->b += onramp_forwarded_secrets[i].b * (__force u32)word;
}

static __always_inline u64 onramp_forwarded_sum64(const struct onramp_forwarded_sum *sum)
{
	return (sum->a & GENMASK_ULL(63, 32)) | sum->b >> 32;
}

/**
 * onramp_forwarded_hash64() - hash a key
 * @key: the key
 *
 * Two multilinear hashes of 32 bits: sums of the words times secret numbers. Who does not know
 * these can't choose two keys that meet, but with a probability of 2^-62, see Carter and Wegman,
 * "Universal classes of hash functions" (1979). A word that is 0 adds nothing.
 */
static __always_inline u64 onramp_forwarded_hash64(const struct onramp_forwarded_key *key)
{
	struct onramp_forwarded_sum sum = {};
	unsigned int i;

	onramp_forwarded_add(&sum, 0, key->saddr[0]);
	onramp_forwarded_add(&sum, 1, key->daddr[0]);
	onramp_forwarded_add(&sum, 2, key->ports);
	if (key->family == AF_INET6)
		for (i = 1; i < 4; i++) {
			onramp_forwarded_add(&sum, 2 * i + 1, key->saddr[i]);
			onramp_forwarded_add(&sum, 2 * i + 2, key->daddr[i]);
		}
	if (key->via) {
		onramp_forwarded_add(&sum, 9, (__force __be32)(u32)key->via);
		onramp_forwarded_add(&sum, 10, (__force __be32)(u32)(key->via >> 32));
	}
	return onramp_forwarded_sum64(&sum);
}

/* That of the table: it does without @seed, since the secret numbers are as good. */
static u32 onramp_forwarded_hash(const void *data, u32 len, u32 seed)
{
	return onramp_forwarded_hash64(data);
}

/* Return 0 if it is the entry's key. */
static int onramp_forwarded_differs(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct onramp_forwarded_key *a = arg->key;
	const struct onramp_forwarded_key *b = &((const struct onramp_forwarded *)obj)->key;
	const unsigned long *x = (const unsigned long *)a, *y = (const unsigned long *)b;
	unsigned long differ = 0;
	unsigned int i;

	BUILD_BUG_ON(sizeof(*a) % sizeof(*x));
	for (i = 0; i < sizeof(*a) / sizeof(*x); i++)
		differ |= x[i] ^ y[i];
	return differ != 0;
}

static const struct rhashtable_params onramp_forwarded_table = {
	.key_len		= sizeof(struct onramp_forwarded_key),
	.key_offset		= offsetof(struct onramp_forwarded, key),
	.head_offset		= offsetof(struct onramp_forwarded, node),
	.hashfn			= onramp_forwarded_hash,
	.obj_cmpfn		= onramp_forwarded_differs,
	.automatic_shrinking	= true,
};

/* The key of an entry's flow, and back: see ONRAMP_KEY_FORWARDED. */
static unsigned long onramp_forwarded_flow_key(const struct onramp_forwarded *e)
{
	return (unsigned long)e | ONRAMP_KEY_FORWARDED;
}

static struct onramp_forwarded *onramp_forwarded_of(const struct onramp_flow *f)
{
	return (struct onramp_forwarded *)(f->key & ~ONRAMP_KEY_FORWARDED);
}

/* Slots -------------------------------------------------------------------- */

/* Cache lines of slots that a qdisc has, a power of two. */
#define ONRAMP_FORWARDED_LINES	2048

/* Slots in each. */
#define ONRAMP_FORWARDED_WAYS	4

/*
 * struct onramp_forwarded_slots - a short way from keys to their flows in a qdisc
 * @tag: hash of a key, with the time of onramp_tick() in the lowest bits; 0: none
 * @flow: its flow; it leaves the slot before it is freed
 *
 * A packet of a connection that On-Ramp follows needs its entry only to be seen, for its age: once
 * in a tick. So neither the table nor the entry need be in the caches for each packet.
 */
struct onramp_forwarded_slots {
	u64			tag[ONRAMP_FORWARDED_WAYS];
	struct onramp_flow	*flow[ONRAMP_FORWARDED_WAYS];
};

/* Those for keys with this hash. */
static struct onramp_forwarded_slots *onramp_forwarded_slots(const struct onramp_qref *qref,
							     u64 hash)
{
	return &qref->slots[hash % ONRAMP_FORWARDED_LINES];
}

/* All tags of a line have the same lowest bits of the hash: there is room for the time. */
static u64 onramp_forwarded_tag(u64 hash, u64 now)
{
	return (hash & ~GENMASK_ULL(15, 0)) | onramp_tick(now);
}

/* Give a flow a slot, but no one's of this tick, unless there are more flows than slots. */
static void onramp_forwarded_keep(struct onramp_forwarded_slots *s, struct onramp_flow *f,
				  u64 tag)
{
	unsigned int i, way = f->slot % ONRAMP_FORWARDED_WAYS;

	for (i = 0; i < ONRAMP_FORWARDED_WAYS; i++) {
		if ((u16)s->tag[i] != (u16)tag)
			way = i;
		if (s->flow[i] == f) {
			way = i;
			break;
		}
	}
	s->tag[way] = tag;
	s->flow[way] = f;
}

/* Take its slot from a flow, if it has one. */
static void onramp_forwarded_drop(struct onramp_forwarded_slots *s, const struct onramp_flow *f)
{
	unsigned int i;

	for (i = 0; i < ONRAMP_FORWARDED_WAYS; i++)
		if (s->flow[i] == f) {
			s->tag[i] = 0;
			s->flow[i] = NULL;
		}
}

/*
 * Return the flow that On-Ramp follows whose slot has the tag, or NULL. Which slot that is no CPU
 * can predict, so there is no branch for each.
 */
static __always_inline struct onramp_flow *
onramp_forwarded_kept(const struct onramp_forwarded_slots *s, u64 tag)
{
	unsigned int found;
	struct onramp_flow *f;

	BUILD_BUG_ON(ONRAMP_FORWARDED_WAYS != 4);
	found = (s->tag[0] == tag) | (s->tag[1] == tag) << 1 | (s->tag[2] == tag) << 2 |
		(s->tag[3] == tag) << 3;
	if (!found)
		return NULL;
	f = s->flow[__ffs(found)];
	return f->conn ? f : NULL;
}

/* Entries ------------------------------------------------------------------ */

/* Fields of a TCP packet. */
struct onramp_forwarded_packet {
	struct onramp_forwarded_key key;
	u32	seq;
	u32	ack_seq;
	u32	payload;
	u32	transport;	/* offset of its header from skb->data */
	bool	ack;
	bool	end;
};

/* Is it a MAC address that is neither the device's nor that of the bridge or bond it is part of? */
static bool onramp_forward_is_other(struct net_device *dev, const u8 *mac)
{
	const struct net_device *master;

	if (ether_addr_equal(mac, dev->dev_addr))
		return false;
	master = netdev_master_upper_dev_get_rcu(dev);
	return !master || !ether_addr_equal(mac, master->dev_addr);
}

/* The VLAN tag of a frame, as in or_way. */
static void onramp_forward_vlan(const struct sk_buff *skb, struct or_way *way)
{
	if (!skb_vlan_tag_present(skb))
		return;
	way->vlan_proto = skb->vlan_proto;
	way->vlan_id = skb_vlan_tag_get_id(skb);
}

/**
 * onramp_forward_way() - say how the packets of a workload leave
 * @skb: one of them, in a qdisc
 * @dev: device of the qdisc
 * @way: written
 *
 * Context: the qdisc's lock.
 * Return: false if no message could leave the same way.
 */
bool onramp_forward_way(const struct sk_buff *skb, struct net_device *dev, struct or_way *way)
{
	const struct ethhdr *eth = (const struct ethhdr *)skb->data;
	bool away = onramp_skb_sk(skb);

	memset(way, 0, sizeof(*way));
	if (dev->type != ARPHRD_ETHER)
		return !away;
	ether_addr_copy(way->src, eth->h_source);
	ether_addr_copy(way->dst, eth->h_dest);
	onramp_forward_vlan(skb, way);
	rcu_read_lock();
	if (away || onramp_forward_is_other(dev, way->src))
		way->ifindex = dev->ifindex;
	rcu_read_unlock();
	/* No other header between Ethernet's and IP's. */
	return !way->ifindex ||
	       (skb_network_offset(skb) == ETH_HLEN && is_valid_ether_addr(way->src));
}

/* Put the workload's part of @way into a key. */
static void onramp_forwarded_via(struct onramp_forwarded_key *key, const struct or_way *way)
{
	if (!way->ifindex)
		return;
	ether_addr_copy(key->src, way->src);
	if (way->vlan_proto)
		key->vlan = way->vlan_id | VLAN_CFI_MASK;
}

/* The same for a packet in the qdisc of @dev; return false if no message could leave as it does. */
static bool onramp_forwarded_out(struct onramp_forwarded_key *key, const struct sk_buff *skb,
				 struct net_device *dev)
{
	const struct ethhdr *eth = (const struct ethhdr *)skb->data;
	struct or_way way;

	/* Most often this host routes for it. */
	if (dev->type == ARPHRD_ETHER && ether_addr_equal(eth->h_source, dev->dev_addr))
		return true;
	if (!onramp_forward_way(skb, dev, &way))
		return false;
	onramp_forwarded_via(key, &way);
	return true;
}

/* Read TCP's header at @offset from skb->data; @len: bytes from there on. */
static __always_inline bool onramp_forwarded_tcp(const struct sk_buff *skb, unsigned int offset,
						 u32 len, struct onramp_forwarded_packet *p)
{
	const struct tcphdr *th = (const struct tcphdr *)(skb->data + offset);
	struct tcphdr buf;
	__be32 flags;
	u32 header;

	if (unlikely(offset + sizeof(*th) > skb_headlen(skb))) {
		th = skb_header_pointer(skb, offset, sizeof(buf), &buf);
		if (!th)
			return false;
	}
	flags = tcp_flag_word(th);
	header = ntohl(flags) >> 28 << 2;
	if (header < sizeof(buf) || len < header)
		return false;
	p->key.ports = ((union tcp_word_hdr *)th)->words[0];
	p->seq = ntohl(th->seq);
	p->ack_seq = ntohl(th->ack_seq);
	p->payload = len - header;
	p->transport = offset;
	p->ack = flags & TCP_FLAG_ACK;
	p->end = flags & (TCP_FLAG_FIN | TCP_FLAG_RST);
	return true;
}

/* Read a TCP packet whose IP header is in one piece; no fragment, no header between IP and TCP. */
static __always_inline bool onramp_forwarded_parse(const struct sk_buff *skb,
						   struct onramp_forwarded_packet *p)
{
	unsigned int offset = skb_network_offset(skb);
	const struct ipv6hdr *ip6h;
	const struct iphdr *iph;
	unsigned int i;
	u32 ipv6;

	p->key.via = 0;
	switch (skb_protocol(skb, true)) {
	case htons(ETH_P_IP):
		iph = ip_hdr(skb);
		if (iph->protocol != IPPROTO_TCP || ip_is_fragment(iph))
			return false;
		p->key.saddr[0] = iph->saddr;
		p->key.daddr[0] = iph->daddr;
		for (i = 1; i < ARRAY_SIZE(p->key.saddr); i++) {
			p->key.saddr[i] = 0;
			p->key.daddr[i] = 0;
		}
		p->key.family = AF_INET;
		offset += iph->ihl * 4;
		break;
	case htons(ETH_P_IPV6):
		ip6h = ipv6_hdr(skb);
		ipv6 = onramp_ipv6_headers(skb);
		if (!ipv6)
			return false;
		p->key.family = AF_INET6;
		memcpy(p->key.saddr, &ip6h->saddr, sizeof(p->key.saddr));
		memcpy(p->key.daddr, &ip6h->daddr, sizeof(p->key.daddr));
		offset += ipv6;
		break;
	default:
		return false;
	}
	return skb->len > offset && onramp_forwarded_tcp(skb, offset, skb->len - offset, p);
}

/*
 * Most packets: IPv4 without options, no fragment, and TCP, with both headers in one piece. Return
 * TCP's header; NULL: it is another packet, for onramp_forwarded_parse().
 */
static __always_inline const struct tcphdr *onramp_forwarded_plain(const struct sk_buff *skb)
{
	const struct iphdr *iph = ip_hdr(skb);
	int offset = skb_network_offset(skb);

	if (skb->protocol != htons(ETH_P_IP) || offset < 0 ||
	    offset + sizeof(*iph) + sizeof(struct tcphdr) > skb_headlen(skb))
		return NULL;
	if (*(const u8 *)iph != 0x45 || iph->protocol != IPPROTO_TCP || ip_is_fragment(iph))
		return NULL;
	return (const struct tcphdr *)(iph + 1);
}

/* onramp_forwarded_hash64() of such a packet's key, if this host routes for it. */
static __always_inline u64 onramp_forwarded_hash_plain(__be32 saddr, __be32 daddr, __be32 ports)
{
	struct onramp_forwarded_sum sum = {};

	onramp_forwarded_add(&sum, 0, saddr);
	onramp_forwarded_add(&sum, 1, daddr);
	onramp_forwarded_add(&sum, 2, ports);
	return onramp_forwarded_sum64(&sum);
}

/* Bits of a hash that onramp_net.present counts entries by: 128 KB. */
#define ONRAMP_PRESENT_BITS	17

/* Which of the counters is one of a hash? */
static u32 onramp_forwarded_cell(u64 hash)
{
	return hash >> (64 - ONRAMP_PRESENT_BITS);
}

/* And which is the other one? It is in the same cache line. */
static u32 onramp_forwarded_other_cell(u64 hash)
{
	return onramp_forwarded_cell(hash) ^ (((u32)hash >> 16 & 63) ?: 1);
}

/*
 * May there be an entry with this hash? With many connections most have none, and a look into the
 * table is a cache miss for the bucket, and one for each entry in it. With 4,096 entries one
 * counter alone would say yes for 1 of 32 hashes that have none; both do so for about 1 of 200.
 */
static __always_inline bool onramp_forwarded_may_be(const struct onramp_net *onet, u64 hash)
{
	return READ_ONCE(onet->present[onramp_forwarded_cell(hash)]) &&
	       READ_ONCE(onet->present[onramp_forwarded_other_cell(hash)]);
}

static void onramp_forwarded_count(u8 *n, int change)
{
	if (*n != U8_MAX)
		WRITE_ONCE(*n, *n + change);
}

/* An entry with this hash is made, or has gone. A counter that is full stays so. */
static void onramp_forwarded_present(struct onramp_net *onet, u64 hash, int change)
{
	spin_lock_bh(&onet->lock);
	onramp_forwarded_count(&onet->present[onramp_forwarded_cell(hash)], change);
	onramp_forwarded_count(&onet->present[onramp_forwarded_other_cell(hash)], change);
	spin_unlock_bh(&onet->lock);
}

static struct onramp_forwarded *onramp_forwarded_find(struct onramp_net *onet,
						      const struct onramp_forwarded_key *key)
{
	return rhashtable_lookup(&onet->forwarded, key, onramp_forwarded_table);
}

/* Add an entry; NULL: there is no room, or no memory. */
static struct onramp_forwarded *onramp_forwarded_create(struct onramp_net *onet,
							const struct onramp_forwarded_key *key,
							u64 hash)
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
	refcount_set(&e->refs, 1);
	spin_lock_init(&e->lock);
	onramp_fwd_init(&e->track);
	onramp_forwarded_present(onet, hash, 1);
	/* Another queue was faster, or the table is growing: the next packet tries again. */
	if (rhashtable_lookup_insert_fast(&onet->forwarded, &e->node, onramp_forwarded_table)) {
		onramp_forwarded_present(onet, hash, -1);
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

static void onramp_forwarded_put(struct onramp_forwarded *e)
{
	if (refcount_dec_and_test(&e->refs))
		kfree_rcu(e, rcu);
}

/**
 * onramp_forwarded_bind() - note the flow of an entry
 * @e: the entry, with a reference
 * @qref: of the flow's qdisc
 * @f: the flow; NULL: there is no memory for it
 * @fresh: it is a new one, and keeps the reference
 *
 * Context: the qdisc's lock.
 */
void onramp_forwarded_bind(struct onramp_forwarded *e, const struct onramp_qref *qref,
			   struct onramp_flow *f, bool fresh)
{
	spin_lock(&e->lock);
	if (!e->dead && f) {
		e->qref = qref;
		e->flow = f;
	}
	spin_unlock(&e->lock);
	if (!fresh)
		onramp_forwarded_put(e);
}

/**
 * onramp_forwarded_unbind() - undo that, for a flow that is freed
 * @qref: of its qdisc
 * @f: the flow, of a forwarded connection
 *
 * Context: the qdisc's lock, or a qdisc that is not in use.
 */
void onramp_forwarded_unbind(const struct onramp_qref *qref, const struct onramp_flow *f)
{
	struct onramp_forwarded *e = onramp_forwarded_of(f);

	onramp_forwarded_drop(onramp_forwarded_slots(qref, onramp_forwarded_hash64(&e->key)), f);

	spin_lock_bh(&e->lock);
	/* It may have one in another qdisc by now. */
	if (!e->dead && e->flow == f)
		e->flow = NULL;
	spin_unlock_bh(&e->lock);
	onramp_forwarded_put(e);
}

/* Are there so many entries that only large connections get one? */
static bool onramp_forwarded_many(const struct onramp_net *onet)
{
	return atomic_read(&onet->n_forwarded) >= (int)READ_ONCE(onramp_few_forwarded);
}

/* May a connection without an entry have one? */
static noinline bool onramp_forwarded_may(struct onramp_qref *qref, const struct sk_buff *skb,
					  u64 hash, u64 now)
{
	if (!onramp_forwarded_many(qref->onet) ||
	    onramp_fwd_is_large(qref->sizes, hash >> 32, skb->len, now))
		return true;
	onramp_net_count(qref->onet, ONRAMP_N_FORWARD_SMALL);
	return false;
}

/* Counters of the RTTs that are being measured, by some bits of a hash: 8 KB. */
#define ONRAMP_TIMED_BITS	11

static atomic_t *onramp_forwarded_timed_cell(const struct onramp_net *onet, u64 hash)
{
	return &onet->timed[hash >> (64 - ONRAMP_TIMED_BITS)];
}

/* Count the measurements of RTTs that are under way; @was: that of @e was, before. Its lock. */
static void onramp_forwarded_timed(struct onramp_net *onet, const struct onramp_forwarded *e,
				   bool was)
{
	bool is = e->track.timed_ns;

	if (was == is)
		return;
	atomic_add(is ? 1 : -1, onramp_forwarded_timed_cell(onet,
							    onramp_forwarded_hash64(&e->key)));
	atomic_add(is ? 1 : -1, &onet->n_timed);
}

/* A packet begins a measurement or ends the one since @timed_ns: a begin has the exact time. */
static noinline void onramp_forwarded_measure(struct onramp_net *onet, struct onramp_forwarded *e,
					      u64 timed_ns)
{
	if (e->track.timed_ns)
		e->track.timed_ns = ktime_get_ns();
	onramp_forwarded_timed(onet, e, timed_ns);
}

/* Is a datagram from OR_PORT to OR_PORT? */
static bool onramp_forward_is_port(const struct sk_buff *skb, unsigned int offset)
{
	__be16 buf[2], *ports;

	ports = skb_header_pointer(skb, offset, sizeof(buf), buf);
	return ports && ports[0] == htons(OR_PORT) && ports[1] == htons(OR_PORT);
}

/* The peer's address, as onramp_scope() wants it. */
static const struct in6_addr *onramp_forward_addr6(const struct or_addrs *addrs)
{
	return addrs->family == AF_INET6 ? (const struct in6_addr *)addrs->raddr : NULL;
}

/*
 * A SUBSCRIBE that a workload sends itself: leave the subscription to it. The IP header is in one
 * piece.
 */
static noinline void onramp_forward_asks(struct onramp_net *onet, const struct sk_buff *skb,
					 struct net_device *dev)
{
	struct or_addrs out = { .family = AF_INET };
	int offset = skb_network_offset(skb);
	u8 buf[OR_SUBSCRIBE_LEN];
	struct or_subscribe s;
	struct onramp_peer *peer;
	struct or_way way;
	const u8 *msg;

	switch (skb_protocol(skb, true)) {
	case htons(ETH_P_IP):
		if (ip_hdr(skb)->protocol != IPPROTO_UDP || ip_is_fragment(ip_hdr(skb)))
			return;
		offset += ip_hdrlen(skb);
		out.laddr[0] = ip_hdr(skb)->saddr;
		out.raddr[0] = ip_hdr(skb)->daddr;
		break;
	case htons(ETH_P_IPV6):
		if (ipv6_hdr(skb)->nexthdr != IPPROTO_UDP)
			return;
		offset += sizeof(struct ipv6hdr);
		out.family = AF_INET6;
		memcpy(out.laddr, &ipv6_hdr(skb)->saddr, sizeof(out.laddr));
		memcpy(out.raddr, &ipv6_hdr(skb)->daddr, sizeof(out.raddr));
		break;
	default:
		return;
	}
	if (skb->len != offset + sizeof(struct udphdr) + sizeof(buf) ||
	    !onramp_forward_is_port(skb, offset))
		return;
	msg = skb_header_pointer(skb, offset + sizeof(struct udphdr), sizeof(buf), buf);
	if (!msg || or_subscribe_decode(msg, sizeof(buf), &s))
		return;
	rcu_read_lock();
	out.scope = onramp_scope(skb, dev, onramp_forward_addr6(&out));
	peer = onramp_peer_find(onet, &out);
	if (peer && READ_ONCE(peer->foreign) && !onramp_peer_is_own(peer, msg, sizeof(buf)) &&
	    onramp_forward_way(skb, dev, &way) && onramp_peer_is_way(peer, &way))
		onramp_peer_yield(peer, ONRAMP_YIELD);
	rcu_read_unlock();
}

/* Note a packet in its entry; return false: the entry has gone meanwhile. */
static bool onramp_forwarded_note(struct onramp_qref *qref, struct onramp_forwarded *e,
				  const struct onramp_forwarded_packet *p, u64 now,
				  struct onramp_seen *seen)
{
	u64 timed_ns;
	bool dead;

	spin_lock(&e->lock);
	dead = e->dead;
	if (!dead) {
		timed_ns = e->track.timed_ns;
		seen->was_closed = e->track.closed;
		if (p->payload)
			onramp_fwd_data(&e->track, p->seq, p->seq + p->payload, !e->followed, now);
		if (p->end)
			onramp_fwd_end(&e->track, now);
		if (unlikely(e->track.timed_ns != timed_ns))
			onramp_forwarded_measure(qref->onet, e, timed_ns);
		seen->closed = e->track.closed;
		seen->keeps = e->followed && !e->track.closed && !e->track.timed_ns;
		seen->key = onramp_forwarded_flow_key(e);
		/* Flows of another qdisc may go at any time. */
		seen->flow = e->qref == qref ? e->flow : NULL;
		if (!seen->flow)
			refcount_inc(&e->refs);
	}
	spin_unlock(&e->lock);
	return !dead;
}

/* The same for one that has no slot. */
static noinline bool onramp_forwarded_enter(struct onramp_qref *qref, const struct sk_buff *skb,
					    const struct onramp_forwarded_packet *p, u64 hash,
					    u64 now, struct onramp_seen *seen)
{
	struct onramp_forwarded_slots *slots = onramp_forwarded_slots(qref, hash);
	struct onramp_net *onet = qref->onet;
	struct onramp_forwarded *e = NULL;

	rcu_read_lock();
	if (onramp_forwarded_may_be(onet, hash))
		e = onramp_forwarded_find(onet, &p->key);
	if (!e && p->payload && !p->end && onramp_forwarded_may(qref, skb, hash, now))
		e = onramp_forwarded_create(onet, &p->key, hash);
	if (e && !onramp_forwarded_note(qref, e, p, now, seen))
		e = NULL;
	rcu_read_unlock();
	seen->entry = e;
	if (!e)
		return false;
	if (seen->flow && seen->flow->conn && seen->keeps)
		onramp_forwarded_keep(slots, seen->flow, onramp_forwarded_tag(hash, now));
	else if (seen->flow)
		onramp_forwarded_drop(slots, seen->flow);
	return true;
}

/* What onramp_forwarded_short() finds. */
enum onramp_forwarded_result {
	ONRAMP_FORWARDED_NONE,		/* the packet has no entry, and gets none */
	ONRAMP_FORWARDED_KEPT,		/* it has a flow that On-Ramp follows */
	ONRAMP_FORWARDED_OTHER,		/* onramp_forwarded_long() has to tell */
};

/* The packet's flow is in a slot. */
static void onramp_forwarded_is_kept(struct onramp_seen *seen, struct onramp_flow *f, u32 headers)
{
	seen->entry = NULL;
	seen->flow = f;
	seen->headers = headers;
	seen->closed = false;
	seen->was_closed = false;
}

/*
 * The short way of onramp_forwarded_packet(), with the same checks, for a plain packet that this
 * host routes: nothing is copied into a key.
 */
static __always_inline enum onramp_forwarded_result
onramp_forwarded_short(struct onramp_qref *qref, const struct net_device *dev,
		       const struct sk_buff *skb, u64 now, struct onramp_seen *seen)
{
	const struct tcphdr *th = onramp_forwarded_plain(skb);
	const struct iphdr *iph = ip_hdr(skb);
	struct onramp_flow *f;
	u32 headers;
	__be32 flags;
	u64 hash;

	if (!th || skb->sk || !skb->skb_iif)
		return ONRAMP_FORWARDED_OTHER;
	if (skb->transport_header != skb->network_header + sizeof(*iph) ||
	    dev->type != ARPHRD_ETHER ||
	    !ether_addr_equal(((const struct ethhdr *)skb->data)->h_source, dev->dev_addr))
		return ONRAMP_FORWARDED_OTHER;
	flags = tcp_flag_word(th);
	headers = (ntohl(flags) >> 28 << 2) + skb_network_offset(skb) + sizeof(*iph);
	if (th->doff < sizeof(*th) / 4 || skb->len < headers ||
	    flags & (TCP_FLAG_FIN | TCP_FLAG_RST))
		return ONRAMP_FORWARDED_OTHER;
	hash = onramp_forwarded_hash_plain(iph->saddr, iph->daddr,
					   ((const union tcp_word_hdr *)th)->words[0]);
	/* Of an ACK, or with many, it is more likely that there is none. The long way makes one. */
	if ((skb->len == headers || onramp_forwarded_many(qref->onet)) &&
	    !onramp_forwarded_may_be(qref->onet, hash))
		return skb->len > headers && onramp_forwarded_may(qref, skb, hash, now) ?
		       ONRAMP_FORWARDED_OTHER : ONRAMP_FORWARDED_NONE;
	if (skb->len == headers)
		headers = 0;
	f = onramp_forwarded_kept(onramp_forwarded_slots(qref, hash),
				  onramp_forwarded_tag(hash, now));
	if (!f)
		return ONRAMP_FORWARDED_OTHER;
	onramp_forwarded_is_kept(seen, f, headers);
	return ONRAMP_FORWARDED_KEPT;
}

/* The long way, for all others. */
static noinline bool onramp_forwarded_long(struct onramp_qref *qref, struct net_device *dev,
					   struct sk_buff *skb, u64 now, struct onramp_seen *seen)
{
	struct onramp_forwarded_packet p;
	struct onramp_flow *f;
	u64 hash;

	/* or_port and TCP put more than this into one piece. */
	if (skb_network_offset(skb) < 0 ||
	    skb_network_offset(skb) + sizeof(struct ipv6hdr) > skb_headlen(skb))
		return false;
	if (!onramp_forwarded_parse(skb, &p)) {
		onramp_forward_asks(qref->onet, skb, dev);
		return false;
	}
	/* This host's own packets came in by no device. A tap's socket has no family. */
	if (skb->sk ? skb->sk->sk_family != AF_UNSPEC : !skb->skb_iif)
		return false;
	/* IP has set where TCP's header is, also a guest's, and it is in one piece. */
	if (!skb_transport_header_was_set(skb) ||
	    skb_transport_offset(skb) != (int)p.transport ||
	    p.transport + sizeof(struct tcphdr) > skb_headlen(skb))
		return false;
	if (!onramp_forwarded_out(&p.key, skb, dev))
		return false;
	hash = onramp_forwarded_hash64(&p.key);
	/* Of an ACK, or with many, it is more likely that there is none. */
	if ((!p.payload || onramp_forwarded_many(qref->onet)) &&
	    !onramp_forwarded_may_be(qref->onet, hash)) {
		if (!p.payload)
			return false;
		f = NULL;
	} else {
		f = onramp_forwarded_kept(onramp_forwarded_slots(qref, hash),
					  onramp_forwarded_tag(hash, now));
	}
	seen->headers = p.payload ? skb->len - p.payload : 0;
	if (!f || p.end)
		return onramp_forwarded_enter(qref, skb, &p, hash, now, seen);
	onramp_forwarded_is_kept(seen, f, seen->headers);
	return true;
}

/**
 * onramp_forwarded_packet() - find the flow or the entry of a packet, or make an entry
 * @qref: of the qdisc
 * @dev: its device
 * @skb: the packet, of no connection's socket
 * @now: CLOCK_MONOTONIC, ns, or a bit earlier
 * @seen: written
 *
 * Context: the qdisc's lock.
 * Return: true: it has a flow that On-Ramp follows, or an entry, valid while BHs are disabled, and
 *	with a reference for onramp_forwarded_bind() if its flow is unknown; false: neither.
 */
bool onramp_forwarded_packet(struct onramp_qref *qref, struct net_device *dev, struct sk_buff *skb,
			     u64 now, struct onramp_seen *seen)
{
	enum onramp_forwarded_result res;

	if (skb->encapsulation)
		return false;
	res = onramp_forwarded_short(qref, dev, skb, now, seen);
	if (likely(res != ONRAMP_FORWARDED_OTHER))
		return res == ONRAMP_FORWARDED_KEPT;
	return onramp_forwarded_long(qref, dev, skb, now, seen);
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
	/* What was sent meanwhile may not have been noted. */
	if (e->followed)
		e->track.data = false;
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
	onramp_forwarded_timed(onet, e, timed);
	spin_unlock_bh(&e->lock);
	if (!old)
		return;
	rhashtable_remove_fast(&onet->forwarded, &e->node, onramp_forwarded_table);
	onramp_forwarded_present(onet, onramp_forwarded_hash64(&e->key), -1);
	atomic_dec(&onet->n_forwarded);
	onramp_forwarded_put(e);
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

#if IS_ENABLED(CONFIG_NETFILTER) && IS_ENABLED(CONFIG_NETFILTER_INGRESS)

/*
 * Behind an administrator's chains with the priority "filter", 0, which may drop packets. So also
 * behind flowtables with that priority, which keep the packets that they forward.
 */
#define ONRAMP_HOOK_PRIORITY	1

/* struct onramp_hook - of a device, see onramp_link.hook */
struct onramp_hook {
	struct nf_hook_ops	ops;
	struct rcu_head		rcu;
};

/* The way of a workload's packets whose answer comes in as @skb. */
static void onramp_forward_way_back(const struct sk_buff *skb, struct net_device *dev,
				    struct or_way *way)
{
	memset(way, 0, sizeof(*way));
	if (dev->type != ARPHRD_ETHER || !skb_mac_header_was_set(skb))
		return;
	ether_addr_copy(way->src, eth_hdr(skb)->h_dest);
	onramp_forward_vlan(skb, way);
	if (onramp_forward_is_other(dev, way->src))
		way->ifindex = dev->ifindex;
}

/* Put the workload's part into the key of a packet to which @skb may be the answer. */
static void onramp_forwarded_in(struct onramp_forwarded_key *key, const struct sk_buff *skb,
				struct net_device *dev)
{
	struct or_way way;

	/* Most often this host routes for it. */
	if (dev->type == ARPHRD_ETHER && skb_mac_header_was_set(skb) &&
	    ether_addr_equal(eth_hdr(skb)->h_dest, dev->dev_addr))
		return;
	onramp_forward_way_back(skb, dev, &way);
	onramp_forwarded_via(key, &way);
}

/* Make the key that of the other direction, without the workload's part. */
static __always_inline void onramp_forwarded_turn(struct onramp_forwarded_key *key)
{
	unsigned int i, words = key->family == AF_INET6 ? ARRAY_SIZE(key->saddr) : 1;

	for (i = 0; i < words; i++)
		swap(key->saddr[i], key->daddr[i]);
	key->ports = (__force __be32)rol32((__force u32)key->ports, 16);
}

/* The ACK of data whose RTT may be being measured: does it end that? */
static noinline void onramp_forward_ends(struct onramp_net *onet,
					 const struct onramp_forwarded_packet *p)
{
	struct onramp_forwarded *e = onramp_forwarded_find(onet, &p->key);
	bool timed;

	if (!e)
		return;
	spin_lock_bh(&e->lock);
	timed = e->track.timed_ns;
	if (onramp_fwd_acked(&e->track, p->ack_seq, ktime_get_ns()))
		e->fresh = true;
	onramp_forwarded_timed(onet, e, timed);
	spin_unlock_bh(&e->lock);
}

/*
 * A TCP packet: the ACK of data whose RTT is being measured? Of connections to far hosts some
 * always is, and most packets are of others: a counter for some bits of their hash says so.
 */
static noinline void onramp_forward_acked(struct onramp_net *onet, const struct sk_buff *skb,
					  struct net_device *dev)
{
	const struct tcphdr *th = onramp_forwarded_plain(skb);
	const struct iphdr *iph = ip_hdr(skb);
	struct onramp_forwarded_packet p;
	__be32 ports;
	u64 hash;

	/* A plain packet of a connection that this host routes: no key is needed to look. */
	if (likely(th) && dev->type == ARPHRD_ETHER && skb_mac_header_was_set(skb) &&
	    ether_addr_equal(eth_hdr(skb)->h_dest, dev->dev_addr)) {
		ports = ((const union tcp_word_hdr *)th)->words[0];
		ports = (__force __be32)rol32((__force u32)ports, 16);
		hash = onramp_forwarded_hash_plain(iph->daddr, iph->saddr, ports);
		if (!atomic_read(onramp_forwarded_timed_cell(onet, hash)))
			return;
	}
	if (!onramp_forwarded_parse(skb, &p) || !p.ack)
		return;
	onramp_forwarded_turn(&p.key);
	onramp_forwarded_in(&p.key, skb, dev);
	if (atomic_read(onramp_forwarded_timed_cell(onet, onramp_forwarded_hash64(&p.key))))
		onramp_forward_ends(onet, &p);
}

/* Return a datagram's payload, or NULL if its length or checksum is wrong. */
static const u8 *onramp_forward_payload(struct sk_buff *skb, unsigned int offset, u8 pf,
					u8 *buf, unsigned int *len)
{
	struct udphdr hdr, *uh;

	uh = skb_header_pointer(skb, offset, sizeof(hdr), &hdr);
	*len = uh ? ntohs(uh->len) : 0;
	/* A packet of several datagrams goes to its receiver. */
	if (*len <= sizeof(hdr) || skb->len != offset + *len || skb_is_gso(skb))
		return NULL;
	if (uh->check && nf_checksum(skb, NF_INET_PRE_ROUTING, offset, IPPROTO_UDP, pf))
		return NULL;
	*len -= sizeof(hdr);
	return skb_header_pointer(skb, offset + sizeof(hdr), min_t(unsigned int, *len, OR_MSG_MAX),
				  buf);
}

/* A datagram to a workload's address or to a host's: return whether it is a message to take. */
static bool onramp_forward_message(struct onramp_net *onet, struct sk_buff *skb,
				   struct net_device *dev, unsigned int offset, u8 pf,
				   struct or_addrs *back)
{
	struct onramp_peer *peer;
	u8 buf[OR_MSG_MAX];
	unsigned int len;
	struct or_way way;
	const u8 *msg;

	back->scope = onramp_scope(skb, dev, onramp_forward_addr6(back));
	peer = onramp_peer_find(onet, back);
	/* With that flag it is an answer to the workload's own. */
	if (!peer || !READ_ONCE(peer->foreign) || test_bit(ONRAMP_PEER_YIELDS, &peer->flags))
		return false;
	/* It has to come in as the workload's other packets do. */
	onramp_forward_way_back(skb, dev, &way);
	if (!onramp_peer_is_way(peer, &way))
		return false;
	msg = onramp_forward_payload(skb, offset, pf, buf, &len);
	if (!msg || msg[0] >> 4 != OR_VERSION)
		return false;
	switch (msg[0] & 15) {
	case OR_TYPE_ACK:
		return onramp_conn_take(onet, back, msg, len);
	case OR_TYPE_CHALLENGE:
		return onramp_peer_take(onet, back, msg, len);
	}
	return false;
}

/* Have the first bytes of a packet in one piece; a packet socket may hold it as well. */
static bool onramp_forward_pull(struct sk_buff *skb, unsigned int len)
{
	return likely(skb_headlen(skb) >= len) || (!skb_shared(skb) && pskb_may_pull(skb, len));
}

static bool onramp_forward_in4(struct onramp_net *onet, struct sk_buff *skb,
			       struct net_device *dev)
{
	const struct iphdr *iph;
	struct or_addrs back;

	if (!onramp_forward_pull(skb, sizeof(*iph)))
		return false;
	iph = ip_hdr(skb);
	if (iph->protocol == IPPROTO_TCP && atomic_read(&onet->n_timed))
		onramp_forward_acked(onet, skb, dev);
	if (iph->protocol != IPPROTO_UDP || !onramp_forward_is_port(skb, sizeof(*iph)))
		return false;
	/* IP has not looked at it yet. */
	if (iph->version != 4 || iph->ihl != sizeof(*iph) / 4 || ip_is_fragment(iph) ||
	    ntohs(iph->tot_len) != skb->len || ip_fast_csum((const u8 *)iph, iph->ihl))
		return false;
	back = (struct or_addrs) {
		.laddr = { iph->daddr }, .raddr = { iph->saddr }, .family = AF_INET,
	};
	return onramp_forward_message(onet, skb, dev, sizeof(*iph), NFPROTO_IPV4, &back);
}

static bool onramp_forward_in6(struct onramp_net *onet, struct sk_buff *skb,
			       struct net_device *dev)
{
	struct or_addrs back = { .family = AF_INET6 };
	const struct ipv6hdr *ip6h;

	if (!IS_ENABLED(CONFIG_IPV6) || !onramp_forward_pull(skb, sizeof(*ip6h)))
		return false;
	ip6h = ipv6_hdr(skb);
	if (atomic_read(&onet->n_timed) && onramp_ipv6_headers(skb))
		onramp_forward_acked(onet, skb, dev);
	if (ip6h->nexthdr != IPPROTO_UDP || !onramp_forward_is_port(skb, sizeof(*ip6h)))
		return false;
	if (ip6h->version != 6 || ntohs(ip6h->payload_len) + sizeof(*ip6h) != skb->len)
		return false;
	memcpy(back.laddr, &ip6h->daddr, sizeof(back.laddr));
	memcpy(back.raddr, &ip6h->saddr, sizeof(back.raddr));
	return onramp_forward_message(onet, skb, dev, sizeof(*ip6h), NFPROTO_IPV6, &back);
}

/* A frame that comes in, from its IP header on. It may be for a workload's MAC address. */
static unsigned int onramp_forward_in(void *priv, struct sk_buff *skb,
				      const struct nf_hook_state *state)
{
	struct net_device *dev = skb->dev;
	struct onramp_net *onet = priv;
	bool taken = false;

	if (skb->pkt_type != PACKET_HOST && skb->pkt_type != PACKET_OTHERHOST)
		return NF_ACCEPT;
	if (skb->protocol == htons(ETH_P_IP))
		taken = onramp_forward_in4(onet, skb, dev);
	else if (skb->protocol == htons(ETH_P_IPV6))
		taken = onramp_forward_in6(onet, skb, dev);
	if (!taken)
		return NF_ACCEPT;
	consume_skb(skb);
	return NF_STOLEN;
}

static int onramp_forward_register(struct onramp_net *onet, struct onramp_link *link)
{
	struct onramp_hook *hook = kzalloc(sizeof(*hook), GFP_KERNEL);
	int err;

	if (!hook)
		return -ENOMEM;
	hook->ops.hook = onramp_forward_in;
	hook->ops.priv = onet;
	hook->ops.dev = link->dev;
	hook->ops.pf = NFPROTO_NETDEV;
	hook->ops.hooknum = NF_NETDEV_INGRESS;
	hook->ops.priority = ONRAMP_HOOK_PRIORITY;
	err = nf_register_net_hook(onet->net, &hook->ops);
	if (err)
		kfree(hook);
	else
		link->hook = hook;
	return err;
}

static void onramp_forward_unregister(struct onramp_net *onet, struct onramp_link *link)
{
	nf_unregister_net_hook(onet->net, &link->hook->ops);
	kfree_rcu(link->hook, rcu);
	link->hook = NULL;
}
#else
static int onramp_forward_register(struct onramp_net *onet, struct onramp_link *link)
{
	return -EOPNOTSUPP;
}

static void onramp_forward_unregister(struct onramp_net *onet, struct onramp_link *link)
{
}
#endif

/**
 * onramp_forward_start() - begin to look at packets that come in: a qdisc forwards
 * @qref: of the qdisc
 * @link: of its device
 *
 * Calls are counted. The qdisc does not use @qref->sizes, @qref->slots, onramp_net.present and
 * onramp_net.timed before.
 *
 * Context: RTNL.
 * Return: 0; -ENOMEM; -EOPNOTSUPP: the kernel has no ingress hook.
 */
int onramp_forward_start(struct onramp_qref *qref, struct onramp_link *link)
{
	int err = 0;

	ASSERT_RTNL();
	if (!qref->sizes)
		qref->sizes = kvzalloc(sizeof(*qref->sizes), GFP_KERNEL);
	if (!qref->slots)
		qref->slots = kvcalloc(ONRAMP_FORWARDED_LINES, sizeof(*qref->slots), GFP_KERNEL);
	if (!qref->onet->present)
		qref->onet->present = kvzalloc(1 << ONRAMP_PRESENT_BITS, GFP_KERNEL);
	if (!qref->onet->timed)
		qref->onet->timed = kvcalloc(1 << ONRAMP_TIMED_BITS, sizeof(*qref->onet->timed),
					     GFP_KERNEL);
	if (!qref->sizes || !qref->slots || !qref->onet->present || !qref->onet->timed)
		return -ENOMEM;
	if (!link->forwards)
		err = onramp_forward_register(qref->onet, link);
	if (!err)
		link->forwards++;
	return err;
}

/* onramp_forward_stop() - undo a successful onramp_forward_start(); RTNL */
void onramp_forward_stop(struct onramp_net *onet, struct onramp_link *link)
{
	ASSERT_RTNL();
	if (!--link->forwards)
		onramp_forward_unregister(onet, link);
}

/**
 * onramp_forward_net_init() - make the table of a new namespace
 * @onet: namespace
 *
 * Return: 0 or -ENOMEM.
 */
int onramp_forward_net_init(struct onramp_net *onet)
{
	get_random_once(onramp_forwarded_secrets, sizeof(onramp_forwarded_secrets));
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
	kvfree(onet->present);
	kvfree(onet->timed);
}
