/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Forwarded connections: their entries, the cache of their flows, and how a packet finds them.
 * onramp_fwd_out.c describes them.
 */
#ifndef _SCH_ONRAMP_FWD_TABLE_H
#define _SCH_ONRAMP_FWD_TABLE_H

#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/tcp.h>
#include <net/ip.h>

#include "onramp.h"

/**
 * struct onramp_fwd_key - of a connection, in the direction of its data; no padding
 * @saddr: source address; IPv4 in the first word, the rest 0
 * @daddr: destination address, likewise
 * @ports: TCP's port of the source, and of the destination
 * @family: AF_INET or AF_INET6
 * @src: MAC address of the guest; 0: this host routes for it
 * @vlan: number of its VLAN, with VLAN_CFI_MASK; 0: there is no tag, or this host routes for it
 * @via: both
 */
struct onramp_fwd_key {
	__be32	saddr[4];
	__be32	daddr[4];
	__be32	ports;
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
 * struct onramp_fwd_entry - a connection without a socket here
 * @node: in onramp_net.forwarded
 * @key: addresses as they are on the wire
 * @refs: the table, and flows of qdiscs
 * @lock: of all below
 * @dead: it is out of the table
 * @fresh: an RTT was measured since a qdisc last tried to have it followed
 * @followed: On-Ramp follows it, so its RTT is not measured any more
 * @far: it was counted as one to a far host
 * @track: what its packets say
 * @shared: not @dead: of the qdisc that @flow is of, to compare
 * @flow: not @dead: its flow in that qdisc; NULL: unknown
 * @rcu: to free it
 *
 * It has two cache lines.
 */
struct onramp_fwd_entry {
	struct rhash_head	node;
	struct onramp_fwd_key key;
	refcount_t		refs;
	spinlock_t		lock;		/* the next ones */
	bool			dead;
	bool			fresh;
	bool			followed;
	bool			far;
	struct onramp_fwd	track;
	union {
		struct {
			const struct onramp_qdisc_shared *shared;
			struct onramp_flow	*flow;
		};
		struct rcu_head	rcu;
	};
};

/* struct onramp_fwd_sum - two hashes, in the upper half of each word */
struct onramp_fwd_sum {
	u64	a;
	u64	b;
};

extern struct onramp_fwd_sum onramp_fwd_secrets[11];

static __always_inline void onramp_fwd_add(struct onramp_fwd_sum *sum, unsigned int i,
					   __be32 word)
{
	sum->a += onramp_fwd_secrets[i].a * (__force u32)word;
	sum->b += onramp_fwd_secrets[i].b * (__force u32)word;
}

static __always_inline u64 onramp_fwd_sum64(const struct onramp_fwd_sum *sum)
{
	return (sum->a & GENMASK_ULL(63, 32)) | sum->b >> 32;
}

/**
 * onramp_fwd_hash64() - hash a key
 * @key: the key
 *
 * Two multilinear hashes of 32 bits: sums of the words times secret numbers. Who does not know
 * these can't choose two keys that meet, but with a probability of 2^-62, see Carter and Wegman,
 * "Universal classes of hash functions" (1979). A word that is 0 adds nothing.
 */
static __always_inline u64 onramp_fwd_hash64(const struct onramp_fwd_key *key)
{
	struct onramp_fwd_sum sum = {};
	unsigned int i;

	onramp_fwd_add(&sum, 0, key->saddr[0]);
	onramp_fwd_add(&sum, 1, key->daddr[0]);
	onramp_fwd_add(&sum, 2, key->ports);
	if (key->family == AF_INET6)
		for (i = 1; i < 4; i++) {
			onramp_fwd_add(&sum, 2 * i + 1, key->saddr[i]);
			onramp_fwd_add(&sum, 2 * i + 2, key->daddr[i]);
		}
	if (key->via) {
		onramp_fwd_add(&sum, 9, (__force __be32)(u32)key->via);
		onramp_fwd_add(&sum, 10, (__force __be32)(u32)(key->via >> 32));
	}
	return onramp_fwd_sum64(&sum);
}

/* The key of an entry's flow, and back: see ONRAMP_KEY_FORWARDED. */
static inline unsigned long onramp_fwd_flow_key(const struct onramp_fwd_entry *e)
{
	return (unsigned long)e | ONRAMP_KEY_FORWARDED;
}

static inline struct onramp_fwd_entry *onramp_fwd_of(const struct onramp_flow *f)
{
	return (struct onramp_fwd_entry *)(f->key & ~ONRAMP_KEY_FORWARDED);
}

/* The cache ---------------------------------------------------------------- */

/* Cache lines that a qdisc has for it, a power of two. */
#define ONRAMP_FWD_LINES	2048

/* Places in each. */
#define ONRAMP_FWD_WAYS	4

/*
 * struct onramp_fwd_line - a cache line: a short way from keys to their flows in a qdisc
 * @tag: hash of a key, with the time of onramp_tick() in the lowest bits; 0: none
 * @flow: its flow; it leaves its place before it is freed
 *
 * A packet of a connection that On-Ramp follows needs its entry only to be seen, for its age: once
 * in a tick. So neither the table nor the entry need be in the caches for each packet.
 */
struct onramp_fwd_line {
	u64			tag[ONRAMP_FWD_WAYS];
	struct onramp_flow	*flow[ONRAMP_FWD_WAYS];
};

/* Those for keys with this hash. */
static inline struct onramp_fwd_line *
onramp_fwd_line(const struct onramp_qdisc_shared *shared, u64 hash)
{
	return &shared->fwd_lines[hash % ONRAMP_FWD_LINES];
}

/* All tags of a line have the same lowest bits of the hash: there is room for the time. */
static inline u64 onramp_fwd_tag(u64 hash, u64 now)
{
	return (hash & ~GENMASK_ULL(15, 0)) | onramp_tick(now);
}

/* Give a flow a place, but no one's of this tick, unless there are more flows than places. */
static inline void onramp_fwd_keep(struct onramp_fwd_line *s, struct onramp_flow *f,
				   u64 tag)
{
	unsigned int i, way = f->next_record % ONRAMP_FWD_WAYS;

	for (i = 0; i < ONRAMP_FWD_WAYS; i++) {
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

/* Take its place from a flow, if it has one. */
static inline void onramp_fwd_drop(struct onramp_fwd_line *s,
				   const struct onramp_flow *f)
{
	unsigned int i;

	for (i = 0; i < ONRAMP_FWD_WAYS; i++)
		if (s->flow[i] == f) {
			s->tag[i] = 0;
			s->flow[i] = NULL;
		}
}

/*
 * Return the flow that On-Ramp follows whose place has the tag, or NULL. Which place that is no CPU
 * can predict, so there is no branch for each.
 */
static __always_inline struct onramp_flow *
onramp_fwd_kept(const struct onramp_fwd_line *s, u64 tag)
{
	unsigned int found;
	struct onramp_flow *f;

	BUILD_BUG_ON(ONRAMP_FWD_WAYS != 4);
	found = (s->tag[0] == tag) | (s->tag[1] == tag) << 1 | (s->tag[2] == tag) << 2 |
		(s->tag[3] == tag) << 3;
	if (!found)
		return NULL;
	f = s->flow[__ffs(found)];
	return f->conn ? f : NULL;
}

/* Packets ------------------------------------------------------------------ */

/* Fields of a TCP packet. */
struct onramp_fwd_packet {
	struct onramp_fwd_key key;
	u32	seq;
	u32	ack_seq;
	u32	payload;
	u32	transport;	/* offset of its header from skb->data */
	bool	ack;
	bool	end;
};

/* Put the guest's part of @egress into a key. */
static inline void onramp_fwd_key_via(struct onramp_fwd_key *key, const struct or_egress *egress)
{
	if (!egress->ifindex)
		return;
	ether_addr_copy(key->src, egress->src);
	if (egress->vlan_proto)
		key->vlan = egress->vlan_id | VLAN_CFI_MASK;
}

/* Read TCP's header at @offset from skb->data; @len: bytes from there on. */
static __always_inline bool onramp_fwd_tcp(const struct sk_buff *skb, unsigned int offset,
					   u32 len, struct onramp_fwd_packet *p)
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
static __always_inline bool onramp_fwd_parse(const struct sk_buff *skb,
					     struct onramp_fwd_packet *p)
{
	unsigned int offset = skb_network_offset(skb);
	u32 ipv6, len = skb->len - offset, own;
	const struct ipv6hdr *ip6h;
	const struct iphdr *iph;
	unsigned int i;

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
		own = ntohs(iph->tot_len);
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
		own = sizeof(*ip6h) + ntohs(ip6h->payload_len);
		offset += ipv6;
		break;
	default:
		return false;
	}
	/* A short frame is padded, and a bridge leaves it so. */
	if (!skb_is_gso(skb))
		len = min(len, own);
	own = offset - skb_network_offset(skb);
	return len > own && onramp_fwd_tcp(skb, offset, len - own, p);
}

/*
 * Most packets: IPv4 without options, no fragment, and TCP, with both headers in one piece. Return
 * TCP's header; NULL: it is another packet, for onramp_fwd_parse().
 */
static __always_inline const struct tcphdr *onramp_fwd_plain(const struct sk_buff *skb)
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

/* onramp_fwd_hash64() of such a packet's key, if this host routes for it. */
static __always_inline u64 onramp_fwd_hash_plain(__be32 saddr, __be32 daddr, __be32 ports)
{
	struct onramp_fwd_sum sum = {};

	onramp_fwd_add(&sum, 0, saddr);
	onramp_fwd_add(&sum, 1, daddr);
	onramp_fwd_add(&sum, 2, ports);
	return onramp_fwd_sum64(&sum);
}

/* The table ---------------------------------------------------------------- */

/* Bits of a hash that onramp_net.present counts entries by: 128 KB. */
#define ONRAMP_PRESENT_BITS	17

/* Which of the counters is one of a hash? */
static inline u32 onramp_fwd_cell(u64 hash)
{
	return hash >> (64 - ONRAMP_PRESENT_BITS);
}

/* And which is the other one? It is in the same cache line. */
static inline u32 onramp_fwd_other_cell(u64 hash)
{
	return onramp_fwd_cell(hash) ^ (((u32)hash >> 16 & 63) ?: 1);
}

/*
 * May there be an entry with this hash? With many connections most have none, and a look into the
 * table is a cache miss for the bucket, and one for each entry in it. With 4,096 entries one
 * counter alone would say yes for 1 of 32 hashes that have none; both do so for about 1 of 200.
 */
static __always_inline bool onramp_fwd_may_be(const struct onramp_net *onet, u64 hash)
{
	return READ_ONCE(onet->present[onramp_fwd_cell(hash)]) &&
	       READ_ONCE(onet->present[onramp_fwd_other_cell(hash)]);
}

/* Counters of the RTTs that are being measured, by some bits of a hash: 8 KB. */
#define ONRAMP_TIMED_BITS	11

static inline atomic_t *onramp_fwd_timed_cell(const struct onramp_net *onet, u64 hash)
{
	return &onet->timed[hash >> (64 - ONRAMP_TIMED_BITS)];
}

int onramp_fwd_alloc(struct onramp_qdisc_shared *shared);
int onramp_fwd_net_init(struct onramp_net *onet);
void onramp_fwd_net_exit(struct onramp_net *onet);
struct onramp_fwd_entry *onramp_fwd_find(struct onramp_net *onet,
					 const struct onramp_fwd_key *key);
struct onramp_fwd_entry *onramp_fwd_create(struct onramp_net *onet,
					   const struct onramp_fwd_key *key,
					   u64 hash);
void onramp_fwd_bind(struct onramp_fwd_entry *e, const struct onramp_qdisc_shared *shared,
		     struct onramp_flow *f, bool fresh);
void onramp_fwd_unbind(const struct onramp_qdisc_shared *shared, const struct onramp_flow *f);
void onramp_fwd_timed(struct onramp_net *onet, const struct onramp_fwd_entry *e, bool was);
void onramp_fwd_measure(struct onramp_net *onet, struct onramp_fwd_entry *e, u64 timed_ns);
bool onramp_fwd_try(struct onramp_fwd_entry *e, bool too_early, u32 *rtt_us);
bool onramp_fwd_far(struct onramp_fwd_entry *e);
void onramp_fwd_follow(struct onramp_fwd_entry *e);

#endif /* _SCH_ONRAMP_FWD_TABLE_H */
