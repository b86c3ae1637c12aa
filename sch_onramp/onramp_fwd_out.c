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
 *	how messages leave in the name of a guest, and come in:
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
 * follows has a place in a cache of its qdisc, which names its flow: its entry is looked up and
 * noted once in a tick, and for FIN and RST. Else an entry names the flow, so that it is not looked
 * up. Where most connections have no entry, a counter says so. A flow holds a reference of its
 * entry: its key is the entry's address.
 *
 * Here are packets that leave; onramp_fwd_in.c has those that come in, onramp_fwd_table.c the
 * entries, onramp_fwd_egress.c how they leave.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/ip.h>

#include "onramp_attach.h"
#include "onramp_flow.h"
#include "onramp_fwd_table.h"
#include "onramp_fwd_egress.h"

/* Time for which a subscription is left to a guest that sent a SUBSCRIBE, jiffies. */
#define ONRAMP_YIELD		(90 * HZ)

/* Above this many entries, track only large connections, for the sake of the CPU's caches. */
static unsigned int onramp_few_forwarded = 1 << 12;
module_param_named(few_forwarded, onramp_few_forwarded, uint, 0644);
MODULE_PARM_DESC(few_forwarded, "forwarded connections of a network namespace from which on only large ones are followed (4096)");

/* The same for a packet in the qdisc of @dev; return false if no message could leave as it does. */
static bool onramp_fwd_key_out(struct onramp_fwd_key *key, const struct sk_buff *skb,
			       struct net_device *dev)
{
	const struct ethhdr *eth = (const struct ethhdr *)skb->data;
	struct or_egress egress;

	/* Most often this host routes for it. */
	if (dev->type == ARPHRD_ETHER && ether_addr_equal(eth->h_source, dev->dev_addr))
		return true;
	if (!onramp_fwd_egress(skb, dev, &egress))
		return false;
	onramp_fwd_key_via(key, &egress);
	return true;
}

/* Are there so many entries that only large connections get one? */
static bool onramp_fwd_many(const struct onramp_net *onet)
{
	return atomic_read(&onet->n_forwarded) >= (int)READ_ONCE(onramp_few_forwarded);
}

/**
 * struct onramp_fwd_found - result of the lookup for a packet of a forwarded connection
 * @entry: its entry; NULL: On-Ramp follows @flow
 * @key: of its flow, if there is @entry
 * @flow: its flow in this qdisc; NULL: unknown
 * @headers: of onramp_tcp_headers()
 * @closed: its host has closed the connection
 * @was_closed: before this packet
 * @keeps: if there is @entry: it need not note each packet, since no RTT is measured
 */
struct onramp_fwd_found {
	struct onramp_fwd_entry	*entry;
	unsigned long		key;
	struct onramp_flow	*flow;
	u32			headers;
	bool			closed;
	bool			was_closed;
	bool			keeps;
};

/* May a connection without an entry have one? */
static noinline bool onramp_fwd_may(struct onramp_qdisc_shared *shared, const struct sk_buff *skb,
				    u64 hash, u64 now)
{
	if (!onramp_fwd_many(shared->onet) ||
	    onramp_fwd_is_large(shared->sizes, hash >> 32, skb->len, now))
		return true;
	onramp_net_count(shared->onet, ONRAMP_N_FORWARD_SMALL);
	return false;
}

/*
 * A SUBSCRIBE that a guest sends itself: leave the subscription to it. The IP header is in one
 * piece.
 */
static noinline void onramp_fwd_asks(struct onramp_net *onet, const struct sk_buff *skb,
				     struct net_device *dev)
{
	int offset = skb_network_offset(skb);
	u8 buf[OR_SUBSCRIBE_LEN];
	struct or_subscribe s;
	struct onramp_peer *peer;
	struct or_egress egress;
	struct or_addrs out;
	const u8 *msg;

	switch (skb_protocol(skb, true)) {
	case htons(ETH_P_IP):
		if (ip_hdr(skb)->protocol != IPPROTO_UDP || ip_is_fragment(ip_hdr(skb)))
			return;
		offset += ip_hdrlen(skb);
		break;
	case htons(ETH_P_IPV6):
		if (ipv6_hdr(skb)->nexthdr != IPPROTO_UDP)
			return;
		offset += sizeof(struct ipv6hdr);
		break;
	default:
		return;
	}
	if (skb->len != offset + sizeof(struct udphdr) + sizeof(buf) ||
	    !onramp_fwd_is_port(skb, offset))
		return;
	msg = skb_header_pointer(skb, offset + sizeof(struct udphdr), sizeof(buf), buf);
	if (!msg || or_subscribe_decode(msg, sizeof(buf), &s))
		return;
	rcu_read_lock();
	onramp_addrs(skb, NULL, &out);
	peer = onramp_peer_find(onet, &out);
	if (peer && READ_ONCE(peer->foreign) && !onramp_peer_is_own(peer, msg, sizeof(buf)) &&
	    onramp_fwd_egress(skb, dev, &egress) && onramp_peer_leaves_by(peer, &egress))
		onramp_peer_yield(peer, ONRAMP_YIELD);
	rcu_read_unlock();
}

/* Note a packet in its entry; return false: the entry has gone meanwhile. */
static bool onramp_fwd_note(struct onramp_qdisc_shared *shared, struct onramp_fwd_entry *e,
			    const struct onramp_fwd_packet *p, u64 now,
			    struct onramp_fwd_found *found)
{
	u64 timed_ns;
	bool dead;

	spin_lock(&e->lock);
	dead = e->dead;
	if (!dead) {
		timed_ns = e->track.timed_ns;
		found->was_closed = e->track.closed;
		if (p->payload)
			onramp_fwd_data(&e->track, p->seq, p->seq + p->payload, !e->followed, now);
		if (p->end)
			onramp_fwd_end(&e->track, now);
		if (unlikely(e->track.timed_ns != timed_ns))
			onramp_fwd_measure(shared->onet, e, timed_ns);
		found->closed = e->track.closed;
		found->keeps = e->followed && !e->track.closed && !e->track.timed_ns;
		found->key = onramp_fwd_flow_key(e);
		/* Flows of another qdisc may go at any time. */
		found->flow = e->shared == shared ? e->flow : NULL;
		if (!found->flow)
			refcount_inc(&e->refs);
	}
	spin_unlock(&e->lock);
	return !dead;
}

/* The same for one that has no place in the cache. */
static noinline bool onramp_fwd_enter(struct onramp_qdisc_shared *shared, const struct sk_buff *skb,
				      const struct onramp_fwd_packet *p, u64 hash,
				      u64 now, struct onramp_fwd_found *found)
{
	struct onramp_fwd_line *line = onramp_fwd_line(shared, hash);
	struct onramp_net *onet = shared->onet;
	struct onramp_fwd_entry *e = NULL;

	rcu_read_lock();
	if (onramp_fwd_may_be(onet, hash))
		e = onramp_fwd_find(onet, &p->key);
	if (!e && p->payload && !p->end && onramp_fwd_may(shared, skb, hash, now))
		e = onramp_fwd_create(onet, &p->key, hash);
	if (e && !onramp_fwd_note(shared, e, p, now, found))
		e = NULL;
	rcu_read_unlock();
	found->entry = e;
	if (!e)
		return false;
	if (found->flow && found->flow->conn && found->keeps)
		onramp_fwd_keep(line, found->flow, onramp_fwd_tag(hash, now));
	else if (found->flow)
		onramp_fwd_drop(line, found->flow);
	return true;
}

/* What onramp_fwd_short() finds. */
enum onramp_fwd_result {
	ONRAMP_FWD_NONE,		/* the packet has no entry, and gets none */
	ONRAMP_FWD_KEPT,		/* it has a flow that On-Ramp follows */
	ONRAMP_FWD_OTHER,		/* onramp_fwd_long() has to tell */
};

/* The packet's flow is in the cache. */
static void onramp_fwd_is_kept(struct onramp_fwd_found *found, struct onramp_flow *f, u32 headers)
{
	found->entry = NULL;
	found->flow = f;
	found->headers = headers;
	found->closed = false;
	found->was_closed = false;
}

/*
 * The short way of onramp_fwd_packet(), with the same checks, for a plain packet that this
 * host routes: nothing is copied into a key.
 */
static __always_inline enum onramp_fwd_result
onramp_fwd_short(struct onramp_qdisc_shared *shared, const struct net_device *dev,
		 const struct sk_buff *skb, u64 now, struct onramp_fwd_found *found)
{
	const struct tcphdr *th = onramp_fwd_plain(skb);
	const struct iphdr *iph = ip_hdr(skb);
	struct onramp_flow *f;
	u32 headers;
	__be32 flags;
	u64 hash;

	if (!th || skb->sk || !skb->skb_iif)
		return ONRAMP_FWD_OTHER;
	if (skb->transport_header != skb->network_header + sizeof(*iph) ||
	    dev->type != ARPHRD_ETHER ||
	    !ether_addr_equal(((const struct ethhdr *)skb->data)->h_source, dev->dev_addr))
		return ONRAMP_FWD_OTHER;
	flags = tcp_flag_word(th);
	headers = (ntohl(flags) >> 28 << 2) + skb_network_offset(skb) + sizeof(*iph);
	if (th->doff < sizeof(*th) / 4 || skb->len < headers ||
	    flags & (TCP_FLAG_FIN | TCP_FLAG_RST))
		return ONRAMP_FWD_OTHER;
	hash = onramp_fwd_hash_plain(iph->saddr, iph->daddr,
				     ((const union tcp_word_hdr *)th)->words[0]);
	/* Of an ACK, or with many, it is more likely that there is none. The long way makes one. */
	if ((skb->len == headers || onramp_fwd_many(shared->onet)) &&
	    !onramp_fwd_may_be(shared->onet, hash))
		return skb->len > headers && onramp_fwd_may(shared, skb, hash, now) ?
		       ONRAMP_FWD_OTHER : ONRAMP_FWD_NONE;
	if (skb->len == headers)
		headers = 0;
	f = onramp_fwd_kept(onramp_fwd_line(shared, hash),
			    onramp_fwd_tag(hash, now));
	if (!f)
		return ONRAMP_FWD_OTHER;
	onramp_fwd_is_kept(found, f, headers);
	return ONRAMP_FWD_KEPT;
}

/* The long way, for all others. */
static noinline bool onramp_fwd_long(struct onramp_qdisc_shared *shared, struct net_device *dev,
				     struct sk_buff *skb, u64 now, struct onramp_fwd_found *found)
{
	struct onramp_fwd_packet p;
	struct onramp_flow *f;
	u64 hash;

	/* or_port and TCP put more than this into one piece. */
	if (skb_network_offset(skb) < 0 ||
	    skb_network_offset(skb) + sizeof(struct ipv6hdr) > skb_headlen(skb))
		return false;
	if (!onramp_fwd_parse(skb, &p)) {
		onramp_fwd_asks(shared->onet, skb, dev);
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
	if (!onramp_fwd_key_out(&p.key, skb, dev))
		return false;
	hash = onramp_fwd_hash64(&p.key);
	/* Of an ACK, or with many, it is more likely that there is none. */
	if ((!p.payload || onramp_fwd_many(shared->onet)) &&
	    !onramp_fwd_may_be(shared->onet, hash)) {
		if (!p.payload)
			return false;
		f = NULL;
	} else {
		f = onramp_fwd_kept(onramp_fwd_line(shared, hash),
				    onramp_fwd_tag(hash, now));
	}
	found->headers = p.payload ? skb->len - p.payload : 0;
	if (!f || p.end)
		return onramp_fwd_enter(shared, skb, &p, hash, now, found);
	onramp_fwd_is_kept(found, f, found->headers);
	return true;
}

/*
 * Find the flow or the entry of a packet, or make an entry. Return true: it has a flow that On-Ramp
 * follows, or an entry, valid while BHs are disabled, and with a reference for
 * onramp_fwd_bind() if its flow is unknown; false: neither.
 */
static bool onramp_fwd_packet(struct onramp_qdisc_shared *shared, struct net_device *dev,
			      struct sk_buff *skb, u64 now, struct onramp_fwd_found *found)
{
	enum onramp_fwd_result res;

	if (skb->encapsulation)
		return false;
	res = onramp_fwd_short(shared, dev, skb, now, found);
	if (likely(res != ONRAMP_FWD_OTHER))
		return res == ONRAMP_FWD_KEPT;
	return onramp_fwd_long(shared, dev, skb, now, found);
}

/**
 * onramp_fwd_flow() - find the flow of a forwarded packet, and have On-Ramp follow it
 * @sch: the qdisc
 * @skb: the packet, of no connection's socket
 * @now: CLOCK_MONOTONIC, ns, or a bit earlier
 * @headers: set to the bytes before its payload; 0: it has none
 *
 * Context: the qdisc's lock.
 * Return: the flow, with its connection if On-Ramp follows it; NULL: it has no entry; the fast
 *	queue: there is no memory for the flow.
 */
struct onramp_flow *onramp_fwd_flow(struct Qdisc *sch, struct sk_buff *skb, u64 now,
				    u32 *headers)
{
	struct onramp_sched *q = qdisc_priv(sch);
	struct onramp_fwd_found found;
	struct onramp_flow *f;
	bool followed;

	if (!onramp_fwd_packet(q->shared, qdisc_dev(sch), skb, now, &found))
		return NULL;
	f = found.flow;
	if (!f) {
		f = onramp_flow_find_or_create(q, found.key, NULL);
		/* A new one takes the entry's reference. */
		onramp_fwd_bind(found.entry, q->shared, f, f && !f->bound);
		if (unlikely(!f)) {
			q->stats[ONRAMP_STATS_ALLOC_ERRORS]++;
			return &q->fast;
		}
		f->bound = true;
	}
	followed = f->conn;
	if (found.headers && !followed)
		onramp_attach_forwarded(sch, f, skb, found.entry);
	if (f->conn && (!followed || found.closed != found.was_closed))
		/* onramp_conn_lives() reads it without a lock. */
		WRITE_ONCE(f->conn->closed, found.closed);
	*headers = found.headers;
	return f;
}
