// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: packets that come in by the device of a qdisc with "forward on", see onramp_fwd_out.c
 *
 * The ingress hook of a device sees incoming packets once, after GRO. It is there only while a
 * qdisc of the device has "forward on". It is called with BH disabled.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/netfilter.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/udp.h>

#include "onramp_fwd_table.h"
#include "onramp_fwd_egress.h"

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

/* Put the guest's part into the key of a packet to which @skb may be the answer. */
static void onramp_fwd_key_in(struct onramp_fwd_key *key, const struct sk_buff *skb,
			      struct net_device *dev)
{
	struct or_egress egress;

	/* Most often this host routes for it. */
	if (dev->type == ARPHRD_ETHER && skb_mac_header_was_set(skb) &&
	    ether_addr_equal(eth_hdr(skb)->h_dest, dev->dev_addr))
		return;
	onramp_fwd_egress_back(skb, dev, &egress);
	onramp_fwd_key_via(key, &egress);
}

/* Make the key that of the other direction, without the guest's part. */
static __always_inline void onramp_fwd_key_turn(struct onramp_fwd_key *key)
{
	unsigned int i, words = key->family == AF_INET6 ? ARRAY_SIZE(key->saddr) : 1;

	for (i = 0; i < words; i++)
		swap(key->saddr[i], key->daddr[i]);
	key->ports = (__force __be32)rol32((__force u32)key->ports, 16);
}

/* The ACK of data whose RTT may be being measured: does it end that? */
static noinline void onramp_fwd_in_acked(struct onramp_net *onet,
					 const struct onramp_fwd_packet *p)
{
	struct onramp_fwd_entry *e = onramp_fwd_find(onet, &p->key);
	bool timed;

	if (!e)
		return;
	spin_lock_bh(&e->lock);
	timed = e->track.timed_ns;
	if (onramp_fwd_acked(&e->track, p->ack_seq, ktime_get_ns()))
		e->fresh = true;
	onramp_fwd_timed(onet, e, timed);
	spin_unlock_bh(&e->lock);
}

/*
 * A TCP packet: the ACK of data whose RTT is being measured? Of connections to far hosts some
 * always is, and most packets are of others: a counter for some bits of their hash says so.
 */
static noinline void onramp_fwd_in_tcp(struct onramp_net *onet, const struct sk_buff *skb,
				       struct net_device *dev)
{
	const struct tcphdr *th = onramp_fwd_plain(skb);
	const struct iphdr *iph = ip_hdr(skb);
	struct onramp_fwd_packet p;
	__be32 ports;
	u64 hash;

	/* A plain packet of a connection that this host routes: no key is needed to look. */
	if (likely(th) && dev->type == ARPHRD_ETHER && skb_mac_header_was_set(skb) &&
	    ether_addr_equal(eth_hdr(skb)->h_dest, dev->dev_addr)) {
		ports = ((const union tcp_word_hdr *)th)->words[0];
		ports = (__force __be32)rol32((__force u32)ports, 16);
		hash = onramp_fwd_hash_plain(iph->daddr, iph->saddr, ports);
		if (!atomic_read(onramp_fwd_timed_cell(onet, hash)))
			return;
	}
	if (!onramp_fwd_parse(skb, &p) || !p.ack)
		return;
	onramp_fwd_key_turn(&p.key);
	onramp_fwd_key_in(&p.key, skb, dev);
	if (atomic_read(onramp_fwd_timed_cell(onet, onramp_fwd_hash64(&p.key))))
		onramp_fwd_in_acked(onet, &p);
}

/* Return a datagram's payload, or NULL if its length or checksum is wrong. */
static const u8 *onramp_fwd_in_payload(struct sk_buff *skb, unsigned int offset, u8 pf,
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

/* A datagram to a guest's address or to a host's: return whether it is a message to take. */
static bool onramp_fwd_in_message(struct onramp_net *onet, struct sk_buff *skb,
				  struct net_device *dev, unsigned int offset, u8 pf,
				  struct or_addrs *back)
{
	struct onramp_peer *peer;
	u8 buf[OR_MSG_MAX];
	unsigned int len;
	struct or_egress egress;
	const u8 *msg;

	back->scope = onramp_scope(skb, dev, pf == NFPROTO_IPV6 ?
				   (const struct in6_addr *)back->raddr : NULL);
	peer = onramp_peer_find(onet, back);
	/* With that flag it is an answer to the guest's own. */
	if (!peer || !READ_ONCE(peer->foreign) || test_bit(ONRAMP_PEER_YIELDS, &peer->flags))
		return false;
	/* It has to come in as the guest's other packets do. */
	onramp_fwd_egress_back(skb, dev, &egress);
	if (!onramp_peer_leaves_by(peer, &egress))
		return false;
	msg = onramp_fwd_in_payload(skb, offset, pf, buf, &len);
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
static bool onramp_fwd_in_pull(struct sk_buff *skb, unsigned int len)
{
	return likely(skb_headlen(skb) >= len) || (!skb_shared(skb) && pskb_may_pull(skb, len));
}

static bool onramp_fwd_in4(struct onramp_net *onet, struct sk_buff *skb,
			   struct net_device *dev)
{
	const struct iphdr *iph;
	struct or_addrs back;

	if (!onramp_fwd_in_pull(skb, sizeof(*iph)))
		return false;
	iph = ip_hdr(skb);
	if (iph->protocol == IPPROTO_TCP && atomic_read(&onet->n_timed))
		onramp_fwd_in_tcp(onet, skb, dev);
	if (iph->protocol != IPPROTO_UDP || !onramp_fwd_is_port(skb, sizeof(*iph)))
		return false;
	/* IP has not looked at it yet. */
	if (iph->version != 4 || iph->ihl != sizeof(*iph) / 4 || ip_is_fragment(iph) ||
	    ntohs(iph->tot_len) != skb->len || ip_fast_csum((const u8 *)iph, iph->ihl))
		return false;
	back = (struct or_addrs) {
		.laddr = { iph->daddr }, .raddr = { iph->saddr }, .family = AF_INET,
	};
	return onramp_fwd_in_message(onet, skb, dev, sizeof(*iph), NFPROTO_IPV4, &back);
}

static bool onramp_fwd_in6(struct onramp_net *onet, struct sk_buff *skb,
			   struct net_device *dev)
{
	struct or_addrs back = { .family = AF_INET6 };
	const struct ipv6hdr *ip6h;

	if (!IS_ENABLED(CONFIG_IPV6) || !onramp_fwd_in_pull(skb, sizeof(*ip6h)))
		return false;
	ip6h = ipv6_hdr(skb);
	if (atomic_read(&onet->n_timed) && onramp_ipv6_headers(skb))
		onramp_fwd_in_tcp(onet, skb, dev);
	if (ip6h->nexthdr != IPPROTO_UDP || !onramp_fwd_is_port(skb, sizeof(*ip6h)))
		return false;
	if (ip6h->version != 6 || ntohs(ip6h->payload_len) + sizeof(*ip6h) != skb->len)
		return false;
	memcpy(back.laddr, &ip6h->daddr, sizeof(back.laddr));
	memcpy(back.raddr, &ip6h->saddr, sizeof(back.raddr));
	return onramp_fwd_in_message(onet, skb, dev, sizeof(*ip6h), NFPROTO_IPV6, &back);
}

/* A frame that comes in, from its IP header on. It may be for a guest's MAC address. */
static unsigned int onramp_fwd_in(void *priv, struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	struct net_device *dev = skb->dev;
	struct onramp_net *onet = priv;
	bool taken = false;

	if (skb->pkt_type != PACKET_HOST && skb->pkt_type != PACKET_OTHERHOST)
		return NF_ACCEPT;
	if (skb->protocol == htons(ETH_P_IP))
		taken = onramp_fwd_in4(onet, skb, dev);
	else if (skb->protocol == htons(ETH_P_IPV6))
		taken = onramp_fwd_in6(onet, skb, dev);
	if (!taken)
		return NF_ACCEPT;
	consume_skb(skb);
	return NF_STOLEN;
}

static int onramp_fwd_register(struct onramp_net *onet, struct onramp_link *link)
{
	struct onramp_hook *hook = kzalloc(sizeof(*hook), GFP_KERNEL);
	int err;

	if (!hook)
		return -ENOMEM;
	hook->ops.hook = onramp_fwd_in;
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

static void onramp_fwd_unregister(struct onramp_net *onet, struct onramp_link *link)
{
	nf_unregister_net_hook(onet->net, &link->hook->ops);
	kfree_rcu(link->hook, rcu);
	link->hook = NULL;
}
#else
static int onramp_fwd_register(struct onramp_net *onet, struct onramp_link *link)
{
	return -EOPNOTSUPP;
}

static void onramp_fwd_unregister(struct onramp_net *onet, struct onramp_link *link)
{
}
#endif

/**
 * onramp_fwd_start() - begin to look at packets that come in: a qdisc forwards
 * @shared: of the qdisc
 * @link: of its device
 *
 * Calls are counted.
 *
 * Context: RTNL.
 * Return: 0; -ENOMEM; -EOPNOTSUPP: the kernel has no ingress hook.
 */
int onramp_fwd_start(struct onramp_qdisc_shared *shared, struct onramp_link *link)
{
	int err;

	ASSERT_RTNL();
	err = onramp_fwd_alloc(shared);
	if (err)
		return err;
	if (!link->forwards)
		err = onramp_fwd_register(shared->onet, link);
	if (!err)
		link->forwards++;
	return err;
}

/* onramp_fwd_stop() - undo a successful onramp_fwd_start(); RTNL */
void onramp_fwd_stop(struct onramp_net *onet, struct onramp_link *link)
{
	ASSERT_RTNL();
	if (!--link->forwards)
		onramp_fwd_unregister(onet, link);
}
