// SPDX-License-Identifier: GPL-2.0
/*
 * or_port, the port: datagrams in and out
 *
 *	in	UDP -> encap_rcv of the socket -> unicast? from OR_PORT? version? type?
 *		-> the user of that type; dropped in any case
 *	out	message -> route of the data that it is about -> UDP and IP headers -> the stack
 *		message -> all headers -> device, in the name of a guest with a MAC address
 *
 * A socket of the kernel holds the port, IPv4 and IPv6 apart, while a namespace is
 * open. Nothing reads it: the encapsulation hook takes each datagram, so no queue can fill.
 * Messages are sent without it, so that sending works from softirq and takes no lock.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ip_fib.h>
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/route.h>
#include <net/udp.h>
#include <net/udp_tunnel.h>
#include <net/xfrm.h>

#include <or_port.h>
#include <or_proto.h>
#include <test_delay.h>

#include "or_port_priv.h"

/* Users -------------------------------------------------------------------- */

/* By type, which is four bits on the wire; written under the mutex. */
static const struct or_port_user __rcu *or_port_users[16];
static DEFINE_MUTEX(or_port_users_mutex);

/**
 * or_port_register() - handle a type of message
 * @user:	not to be changed until or_port_unregister()
 *
 * Context: process, may sleep.
 * Return: 0; -EINVAL: there is no such type; -EBUSY: the type has a user.
 */
int or_port_register(const struct or_port_user *user)
{
	int err = 0;

	if (!user->type || user->type >= ARRAY_SIZE(or_port_users))
		return -EINVAL;
	mutex_lock(&or_port_users_mutex);
	if (rcu_access_pointer(or_port_users[user->type]))
		err = -EBUSY;
	else
		rcu_assign_pointer(or_port_users[user->type], user);
	mutex_unlock(&or_port_users_mutex);
	return err;
}
EXPORT_SYMBOL_GPL(or_port_register);

/* or_port_unregister() - undo or_port_register(): @user is not called any more; may sleep */
void or_port_unregister(const struct or_port_user *user)
{
	mutex_lock(&or_port_users_mutex);
	RCU_INIT_POINTER(or_port_users[user->type], NULL);
	mutex_unlock(&or_port_users_mutex);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(or_port_unregister);

/* In ----------------------------------------------------------------------- */

/* The device that a datagram came in on; in a VRF skb_iif is that of the VRF. */
static int or_port_iif(struct sk_buff *skb, u16 family)
{
	return (family == AF_INET ? inet_sdif(skb) : inet6_sdif(skb)) ?: skb->skb_iif;
}

/* Write the addresses of a datagram; @skb->data is its UDP header. False: it is not unicast. */
static bool or_port_addrs(struct sk_buff *skb, struct or_addrs *addrs)
{
	memset(addrs, 0, sizeof(*addrs));
	if (skb->pkt_type != PACKET_HOST)
		return false;
	if (ip_hdr(skb)->version == 4) {
		const struct iphdr *iph = ip_hdr(skb);

		addrs->family = AF_INET;
		addrs->laddr[0] = iph->daddr;
		addrs->raddr[0] = iph->saddr;
		addrs->scope = inet_sdif(skb) ? skb->skb_iif : 0;
		return !ipv4_is_multicast(iph->daddr) &&
		       !(skb_rtable(skb) &&
			 skb_rtable(skb)->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST));
	} else {
		const struct ipv6hdr *ip6h = ipv6_hdr(skb);

		addrs->family = AF_INET6;
		memcpy(addrs->laddr, &ip6h->daddr, sizeof(addrs->laddr));
		memcpy(addrs->raddr, &ip6h->saddr, sizeof(addrs->raddr));
		if (ipv6_addr_type(&ip6h->saddr) & IPV6_ADDR_LINKLOCAL)
			addrs->scope = or_port_iif(skb, AF_INET6);
		else
			addrs->scope = inet6_sdif(skb) ? skb->skb_iif : 0;
		return !ipv6_addr_is_multicast(&ip6h->daddr);
	}
}

/* The mark of an answer, as TCP and ICMP give theirs. */
static u32 or_port_reply_mark(struct net *net, const struct sk_buff *skb, u32 family)
{
	return family == AF_INET ? IP4_REPLY_MARK(net, skb->mark) : IP6_REPLY_MARK(net, skb->mark);
}

/* A datagram for the port, its checksum verified. Always takes it: returns 0. */
static int or_port_rcv(struct sock *sk, struct sk_buff *skb)
{
	const struct or_port_user *user;
	struct net *net = sock_net(sk);
	struct or_port_net *pn = or_port_net(net);
	struct or_addrs addrs;
	unsigned int len;
	u8 buf[OR_MSG_MAX];
	const u8 *msg;

	/* encap_rcv() is called under RCU and with BH disabled. */
	if (!or_port_addrs(skb, &addrs)) {
		or_port_count(pn, OR_PORT_RX_NOT_UNICAST);
		goto drop;
	}
	if (udp_hdr(skb)->source != htons(OR_PORT)) {
		or_port_count(pn, OR_PORT_RX_PORT);
		goto drop;
	}
	len = skb->len - sizeof(struct udphdr);
	msg = skb_header_pointer(skb, sizeof(struct udphdr),
				 min_t(unsigned int, len, OR_MSG_MAX), buf);
	if (!len || !msg) {
		or_port_count(pn, OR_PORT_RX_EMPTY);
		goto drop;
	}
	if (msg[0] >> 4 != OR_VERSION) {
		or_port_count(pn, msg[0] >> 4 == 1 ? OR_PORT_RX_VERSION_1 :
						     OR_PORT_RX_VERSION);
		goto drop;
	}
	user = rcu_dereference(or_port_users[msg[0] & 15]);
	if (!user) {
		test_delay_atomic();
		or_port_count(pn, OR_PORT_RX_TYPE);
		goto drop;
	}
	or_port_count(pn, OR_PORT_RX);
	or_port_add(pn, OR_PORT_RX_BYTES, len);
	user->rcv(net, &addrs, or_port_iif(skb, addrs.family),
		  or_port_reply_mark(net, skb, addrs.family), msg, len);
	consume_skb(skb);
	return 0;

drop:
	kfree_skb(skb);
	return 0;
}

/* Out ---------------------------------------------------------------------- */

/* Make an skb with @msg and the UDP header, and @room for the headers before it. */
static struct sk_buff *or_port_skb(const u8 *msg, unsigned int len, unsigned int room)
{
	struct sk_buff *skb;
	struct udphdr *uh;

	skb = alloc_skb(room + sizeof(*uh) + len, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, room);
	skb_reset_transport_header(skb);
	uh = skb_put(skb, sizeof(*uh));
	uh->source = htons(OR_PORT);
	uh->dest = htons(OR_PORT);
	uh->len = htons(sizeof(*uh) + len);
	skb_put_data(skb, msg, len);
	return skb;
}

/* Add the IPv4 header, without the length and the checksum of ip_local_out(). */
static void or_port_push4(struct sk_buff *skb, const struct or_addrs *addrs, u8 tos, u8 ttl)
{
	udp_set_csum(false, skb, addrs->laddr[0], addrs->raddr[0], skb->len);
	skb_push(skb, sizeof(struct iphdr));
	skb_reset_network_header(skb);
	*ip_hdr(skb) = (struct iphdr) {
		.version = 4,
		.ihl = sizeof(struct iphdr) / 4,
		.tos = tos,
		/* Never cut, so the identification says nothing: RFC 6864. */
		.frag_off = htons(IP_DF),
		.ttl = ttl,
		.protocol = IPPROTO_UDP,
		.saddr = addrs->laddr[0],
		.daddr = addrs->raddr[0],
	};
	skb->protocol = htons(ETH_P_IP);
}

/* Add the IPv6 header. */
static void or_port_push6(struct sk_buff *skb, const struct in6_addr *saddr,
			  const struct in6_addr *daddr, u8 tos, u8 hop_limit)
{
	struct ipv6hdr *ip6h;
	u16 len = skb->len;

	udp6_set_csum(false, skb, saddr, daddr, len);
	skb_push(skb, sizeof(*ip6h));
	skb_reset_network_header(skb);
	ip6h = ipv6_hdr(skb);
	ip6_flow_hdr(ip6h, tos, 0);
	ip6h->payload_len = htons(len);
	ip6h->nexthdr = IPPROTO_UDP;
	ip6h->hop_limit = hop_limit;
	ip6h->saddr = *saddr;
	ip6h->daddr = *daddr;
	skb->protocol = htons(ETH_P_IPV6);
}

/* A message, as or_port_send() and or_port_send_on() are given it. */
struct or_port_out {
	const struct or_addrs	*addrs;
	struct or_via		via;
	bool			about;	/* data, of which @via is the way */
	struct or_route		*route;
	bool			foreign;
	const u8		*msg;
	unsigned int		len;
	u8			tos;
	u32			priority;
};

/* How a route is looked up. */
enum or_port_lookup {
	OR_PORT_AS_MESSAGE,	/* as that of a datagram from OR_PORT to OR_PORT */
	OR_PORT_AS_DATA,	/* as that of TCP's data: by its rules for protocols and ports */
	OR_PORT_BY_DEVICE,	/* the same, and only if there is one by the device */
};

/*
 * Return a route with a reference, or an error. @oif: only one by this device, or in this VRF; 0:
 * any.
 */
static struct dst_entry *or_port_route4(struct net *net, const struct or_port_out *out, int oif,
					enum or_port_lookup how)
{
	bool data = how != OR_PORT_AS_MESSAGE;
	const struct or_addrs *addrs = out->addrs;
	struct fib_result res;
	struct flowi4 fl4, asked;
	struct rtable *rt;

	/* Fails if the source is no address of this host, and should be one. */
	flowi4_init_output(&fl4, oif, out->via.mark, out->tos, RT_SCOPE_UNIVERSE,
			   data ? IPPROTO_TCP : IPPROTO_UDP,
			   out->foreign ? FLOWI_FLAG_ANYSRC : 0, addrs->raddr[0],
			   addrs->laddr[0], data ? out->via.dport : htons(OR_PORT),
			   data ? out->via.sport : htons(OR_PORT), out->via.uid);
	/* Without a route by the device, IPv4 would take the address for one on its link. */
	asked = fl4;
	if (how == OR_PORT_BY_DEVICE &&
	    (fib_lookup(net, &asked, &res, 0) || res.type != RTN_UNICAST))
		return ERR_PTR(-ENETUNREACH);
	rt = ip_route_output_key(net, &fl4);
	if (IS_ERR(rt))
		return ERR_CAST(rt);
	if (rt->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST)) {
		ip_rt_put(rt);
		return ERR_PTR(-EACCES);
	}
	return &rt->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
static void or_port_flow6(const struct or_port_out *out, int oif, enum or_port_lookup how,
			  struct flowi6 *fl6)
{
	bool data = how != OR_PORT_AS_MESSAGE;

	*fl6 = (struct flowi6) {
		.flowi6_proto = data ? IPPROTO_TCP : IPPROTO_UDP,
		.flowi6_oif = oif,
		.flowi6_mark = out->via.mark,
		.flowlabel = ip6_make_flowinfo(out->tos, 0),
		.fl6_sport = data ? out->via.sport : htons(OR_PORT),
		.fl6_dport = data ? out->via.dport : htons(OR_PORT),
		.flowi6_uid = out->via.uid,
	};
	memcpy(&fl6->saddr, out->addrs->laddr, sizeof(fl6->saddr));
	memcpy(&fl6->daddr, out->addrs->raddr, sizeof(fl6->daddr));
}

static struct dst_entry *or_port_route6(struct net *net, const struct or_port_out *out, int oif,
					enum or_port_lookup how)
{
	struct dst_entry *dst;
	struct flowi6 fl6;
	int err;

	or_port_flow6(out, oif, how, &fl6);
	dst = ip6_route_output_flags(net, NULL, &fl6, oif ? RT6_LOOKUP_F_IFACE : 0);
	err = dst->error;
	if (err) {
		dst_release(dst);
		return ERR_PTR(err);
	}
	return dst;
}

/* The same route behind IPsec, whose policies are asked for a message. */
static struct dst_entry *or_port_xfrm6(struct net *net, const struct or_port_out *out,
				       struct dst_entry *dst, u32 *cookie)
{
	struct flowi6 fl6;

	or_port_flow6(out, out->via.oif ?: out->addrs->scope, OR_PORT_AS_MESSAGE, &fl6);
	dst = xfrm_lookup_route(net, dst, flowi6_to_flowi(&fl6), NULL, 0);
	if (!IS_ERR(dst))
		*cookie = rt6_get_cookie(container_of(dst, struct rt6_info, dst));
	return dst;
}

#else
static struct dst_entry *or_port_route6(struct net *net, const struct or_port_out *out, int oif,
					enum or_port_lookup how)
{
	return ERR_PTR(-EAFNOSUPPORT);
}

static struct dst_entry *or_port_xfrm6(struct net *net, const struct or_port_out *out,
				       struct dst_entry *dst, u32 *cookie)
{
	return dst;
}
#endif

static struct dst_entry *or_port_route_by(struct net *net, const struct or_port_out *out, int oif,
					  enum or_port_lookup how)
{
	return out->addrs->family == AF_INET ? or_port_route4(net, out, oif, how) :
					       or_port_route6(net, out, oif, how);
}

/* dst_release(), unless it is an error. */
static void or_port_dst_put(struct dst_entry *dst)
{
	if (!IS_ERR(dst))
		dst_release(dst);
}

/*
 * Return whether packets sent to @dev leave by the device @ifindex: it is this one, or on top of
 * it, as a VLAN, a bond or a bridge is.
 */
static bool or_port_leaves_by(struct net *net, struct net_device *dev, int ifindex)
{
	struct net_device *below;

	if (dev->ifindex == ifindex)
		return true;
	below = dev_get_by_index_rcu(net, ifindex);
	if (!below)
		return false;
	/* A VRF whose device has a qdisc has the data before the VRF's own devices. */
	if (netif_is_l3_master(below))
		return l3mdev_master_ifindex_rcu(dev) == ifindex;
	return netdev_has_upper_dev_all_rcu(below, dev) ||
	       (netif_is_ovs_port(below) && netif_is_ovs_master(dev));
}

/* The device that routes by @ifindex name: a port of a bond or a bridge has none. 0: it is gone. */
static int or_port_routed_dev(struct net *net, int ifindex)
{
	struct net_device *dev = dev_get_by_index_rcu(net, ifindex), *master;

	if (!dev)
		return 0;
	for (;;) {
		master = netdev_master_upper_dev_get_rcu(dev);
		if (!master || netif_is_l3_master(master))
			return dev->ifindex;
		dev = master;
	}
}

/* The device of data is unknown: take the route of the data if that has another one. */
static struct dst_entry *or_port_route_of_data(struct net *net, const struct or_port_out *out,
					       struct dst_entry *own)
{
	struct dst_entry *dst = or_port_route_by(net, out, out->via.oif ?: out->addrs->scope,
						 OR_PORT_AS_DATA);

	if (IS_ERR(dst) || (!IS_ERR(own) && dst_dev(own) == dst_dev(dst))) {
		or_port_dst_put(dst);
		return own;
	}
	or_port_dst_put(own);
	return dst;
}

/*
 * The route of a message, by the device @ifindex of its data. A lookup for data may not find it
 * either: rules can ask for the device that it came in by, or for a mark that it has no more. Then
 * a message takes any route by that device. -EXDEV: there is none.
 */
static struct dst_entry *or_port_route_by_data(struct net *net, const struct or_port_out *out,
					       struct dst_entry *own, int ifindex)
{
	static const enum or_port_lookup how[] = { OR_PORT_AS_DATA, OR_PORT_BY_DEVICE };
	int oif[] = { out->via.oif ?: out->addrs->scope, or_port_routed_dev(net, ifindex) };
	int err = PTR_ERR_OR_ZERO(own);
	struct dst_entry *dst = own;
	bool other = false;
	unsigned int i;

	for (i = 0; ; i++) {
		if (!IS_ERR(dst)) {
			if (or_port_leaves_by(net, dst_dev(dst), ifindex))
				return dst;
			other = true;
		}
		or_port_dst_put(dst);
		if (i == ARRAY_SIZE(how))
			return ERR_PTR(other ? -EXDEV : err);
		dst = or_port_route_by(net, out, oif[i], how[i]);
	}
}

/* The route of a message: its own, if that is the way of the data. */
static struct dst_entry *or_port_route_find(struct net *net, const struct or_port_out *out)
{
	struct dst_entry *own;

	own = or_port_route_by(net, out, out->via.oif ?: out->addrs->scope, OR_PORT_AS_MESSAGE);
	/* A rule may forbid messages. */
	if (!out->about || own == ERR_PTR(-EACCES))
		return own;
	return out->via.ifindex ? or_port_route_by_data(net, out, own, out->via.ifindex) :
				  or_port_route_of_data(net, out, own);
}

/*
 * Return the route that is kept, if it still holds; without a reference, under RCU. Otherwise @via
 * is the way to look one up by.
 */
static struct dst_entry *or_port_route_kept(struct or_route *route, u8 tos, struct or_via *via)
{
	struct dst_entry *dst;

	spin_lock(&route->lock);
	*via = route->via;
	dst = route->dst;
	if (dst && (route->tos != tos ||
		    (dst->obsolete && !dst->ops->check(dst, route->cookie))))
		dst = NULL;
	spin_unlock(&route->lock);
	return dst;
}

/* Keep a route, and its reference. It may be used until the end of this RCU section. */
static void or_port_route_keep(struct or_route *route, const struct or_via *via,
			       struct dst_entry *dst, u32 cookie, u8 tos)
{
	struct dst_entry *old = dst;

	spin_lock(&route->lock);
	/* The way may have changed meanwhile. */
	if (!memcmp(&route->via, via, sizeof(*via))) {
		old = route->dst;
		route->dst = dst;
		route->cookie = cookie;
		route->tos = tos;
	}
	spin_unlock(&route->lock);
	dst_release(old);
}

/* or_port_route_init() - begin to keep a route */
void or_port_route_init(struct or_route *route)
{
	*route = (struct or_route) {};
	spin_lock_init(&route->lock);
}
EXPORT_SYMBOL_GPL(or_port_route_init);

/**
 * or_port_route_via() - set the way of the messages that a route is for
 * @route:	the route; it is looked up again if that is another way than before
 * @via:	the way
 *
 * Context: BH disabled.
 */
void or_port_route_via(struct or_route *route, const struct or_via *via)
{
	struct dst_entry *old = NULL;

	spin_lock(&route->lock);
	if (memcmp(&route->via, via, sizeof(*via))) {
		route->via = *via;
		old = route->dst;
		route->dst = NULL;
	}
	spin_unlock(&route->lock);
	dst_release(old);
}
EXPORT_SYMBOL_GPL(or_port_route_via);

/* or_port_route_put() - drop a route; nobody sends on it any more */
void or_port_route_put(struct or_route *route)
{
	dst_release(route->dst);
	route->dst = NULL;
}
EXPORT_SYMBOL_GPL(or_port_route_put);

/* Count a message that the stack dropped: a queue, or netfilter. @err: of the stack. */
static int or_port_handed(struct or_port_net *pn, int err)
{
	if (!net_xmit_eval(err))
		return 0;
	or_port_count(pn, OR_PORT_TX_DROPPED);
	return err < 0 ? err : -ENOBUFS;
}

/* Count a message that was sent. @err: why it was not, which is counted. */
static int or_port_sent(struct or_port_net *pn, int err, unsigned int len)
{
	if (err)
		return err;
	or_port_count(pn, OR_PORT_TX);
	or_port_add(pn, OR_PORT_TX_BYTES, len);
	return 0;
}

/* The route of a message. @owned: it has a reference for the packet. */
static struct dst_entry *or_port_route(struct net *net, struct or_port_out *out, bool *owned)
{
	struct dst_entry *dst;
	u32 cookie = 0;

	*owned = false;
	dst = out->route ? or_port_route_kept(out->route, out->tos, &out->via) : NULL;
	if (dst)
		return dst;
	dst = or_port_route_find(net, out);
	if (!IS_ERR(dst) && out->addrs->family != AF_INET)
		dst = or_port_xfrm6(net, out, dst, &cookie);
	if (IS_ERR(dst))
		return dst;
	*owned = !out->route;
	if (out->route)
		or_port_route_keep(out->route, &out->via, dst, cookie, out->tos);
	return dst;
}

/* The same as or_port_send(), under RCU with BH disabled. */
static int or_port_send_routed(struct net *net, struct or_port_net *pn, struct or_port_out *out)
{
	bool v4 = out->addrs->family == AF_INET, owned;
	struct dst_entry *dst;
	struct sk_buff *skb;

	dst = or_port_route(net, out, &owned);
	if (IS_ERR(dst)) {
		or_port_count(pn, PTR_ERR(dst) == -EXDEV ? OR_PORT_TX_VIA : OR_PORT_TX_ROUTE);
		return PTR_ERR(dst);
	}
	skb = or_port_skb(out->msg, out->len, LL_RESERVED_SPACE(dst_dev(dst)) + dst->header_len +
			  (v4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr)));
	if (!skb) {
		or_port_count(pn, OR_PORT_TX_MEMORY);
		if (owned)
			dst_release(dst);
		return -ENOMEM;
	}
	/* No mark: it led the route, and rules for it, such as masquerading, are for the data. */
	skb->priority = out->priority;
	if (owned)
		skb_dst_set(skb, dst);
	else
		skb_dst_set_noref(skb, dst);
	if (v4) {
		or_port_push4(skb, out->addrs, out->tos, ip4_dst_hoplimit(dst));
		return or_port_handed(pn, ip_local_out(net, NULL, skb));
	}
#if IS_ENABLED(CONFIG_IPV6)
	or_port_push6(skb, (const struct in6_addr *)out->addrs->laddr,
		      (const struct in6_addr *)out->addrs->raddr, out->tos,
		      ip6_dst_hoplimit(dst));
	return or_port_handed(pn, ip6_local_out(net, NULL, skb));
#else
	return -EAFNOSUPPORT;
#endif
}

static int or_port_send_out(struct net *net, struct or_port_out *out)
{
	struct or_port_net *pn = or_port_net(net);
	int err;

	/* A message more or less while it is opened or closed. */
	if (!READ_ONCE(pn->has_v4))
		return -ENOTCONN;
	if (out->addrs->family != AF_INET && !READ_ONCE(pn->has_v6))
		return -EAFNOSUPPORT;

	out->tos &= ~INET_ECN_MASK;
	local_bh_disable();
	rcu_read_lock();
	err = or_port_send_routed(net, pn, out);
	rcu_read_unlock();
	local_bh_enable();
	return or_port_sent(pn, err, out->len);
}

/**
 * or_port_send() - send a message
 * @net:	namespace
 * @addrs:	from @addrs->laddr to @addrs->raddr
 * @via:	way of the data that it is about; NULL: the addresses say enough
 * @foreign:	@addrs->laddr is of a guest that this host forwards for. Otherwise it has to be
 *		an address of this host
 * @msg:	@len bytes
 * @len:	length of the message
 * @tos:	type of service or traffic class; its ECN bits are not used
 * @priority:	skb->priority
 *
 * Context: BH disabled, or process. Not from ndo_start_xmit() or under a lock of a
 * qdisc: the message goes through both.
 * Return: 0 or an error.
 * -ENOTCONN: the namespace is not open. -EAFNOSUPPORT: it is without IPv6. -ENOBUFS: the stack
 * dropped the message. -EINVAL: the source is no address of this host. -EXDEV: no route leaves by
 * the device of @via. -ENOMEM, and other errors of routing.
 */
int or_port_send(struct net *net, const struct or_addrs *addrs, const struct or_via *via,
		 bool foreign, const u8 *msg, unsigned int len, u8 tos, u32 priority)
{
	struct or_port_out out = {
		.addrs = addrs, .foreign = foreign, .msg = msg, .len = len, .tos = tos,
		.priority = priority,
	};

	if (via) {
		out.via = *via;
		out.about = true;
	}
	return or_port_send_out(net, &out);
}
EXPORT_SYMBOL_GPL(or_port_send);

/**
 * or_port_send_on() - send one of many messages between the same two addresses
 * @net:	namespace
 * @addrs:	from @addrs->laddr, an address of this host, to @addrs->raddr
 * @route:	kept for these addresses
 * @msg:	@len bytes
 * @len:	length of the message
 * @tos:	as with or_port_send()
 * @priority:	skb->priority
 *
 * Context, return: as or_port_send().
 */
int or_port_send_on(struct net *net, const struct or_addrs *addrs, struct or_route *route,
		    const u8 *msg, unsigned int len, u8 tos, u32 priority)
{
	struct or_port_out out = {
		.addrs = addrs, .about = true, .route = route, .msg = msg, .len = len, .tos = tos,
		.priority = priority,
	};

	return or_port_send_out(net, &out);
}
EXPORT_SYMBOL_GPL(or_port_send_on);

/* Add the IP header of a message that needs no route, as the guest's kernel would. */
static void or_port_push_ip(struct sk_buff *skb, const struct or_addrs *addrs)
{
	if (addrs->family != AF_INET) {
		or_port_push6(skb, (const struct in6_addr *)addrs->laddr,
			      (const struct in6_addr *)addrs->raddr, 0, IPV6_DEFAULT_HOPLIMIT);
		return;
	}
	or_port_push4(skb, addrs, 0, IPDEFTTL);
	ip_hdr(skb)->tot_len = htons(skb->len);
	ip_send_check(ip_hdr(skb));
}

/* The same as or_port_send_by(), under RCU with BH disabled. */
static int or_port_send_link(struct net *net, struct or_port_net *pn, const struct or_addrs *addrs,
			     const struct or_egress *egress, const u8 *msg, unsigned int len)
{
	struct net_device *dev = dev_get_by_index_rcu(net, egress->ifindex);
	struct sk_buff *skb;

	if (!dev || !(READ_ONCE(dev->flags) & IFF_UP) || dev->type != ARPHRD_ETHER) {
		or_port_count(pn, OR_PORT_TX_ROUTE);
		return -ENODEV;
	}
	skb = or_port_skb(msg, len, LL_RESERVED_SPACE(dev) + sizeof(struct ipv6hdr));
	if (!skb) {
		or_port_count(pn, OR_PORT_TX_MEMORY);
		return -ENOMEM;
	}
	or_port_push_ip(skb, addrs);
	skb->dev = dev;
	if (dev_hard_header(skb, dev, ntohs(skb->protocol), egress->dst, egress->src,
			    skb->len) < 0) {
		or_port_count(pn, OR_PORT_TX_ROUTE);
		kfree_skb(skb);
		return -EINVAL;
	}
	if (egress->vlan_proto)
		__vlan_hwaccel_put_tag(skb, egress->vlan_proto, egress->vlan_id);
	return or_port_handed(pn, dev_queue_xmit(skb));
}

/**
 * or_port_send_by() - send a message in the name of a guest that this host does not route for
 * @net:	namespace of the device
 * @addrs:	from @addrs->laddr to @addrs->raddr
 * @egress:	as the guest's own packets leave, @egress->ifindex not 0
 * @msg:	@len bytes
 * @len:	length of the message
 *
 * Context: as or_port_send().
 * Return: 0; -ENOTCONN: the namespace is not open; -ENODEV: the device is gone, or down;
 * -ENOMEM; -ENOBUFS: the stack dropped it.
 */
int or_port_send_by(struct net *net, const struct or_addrs *addrs, const struct or_egress *egress,
		    const u8 *msg, unsigned int len)
{
	struct or_port_net *pn = or_port_net(net);
	int err;

	if (!READ_ONCE(pn->has_v4))
		return -ENOTCONN;
	local_bh_disable();
	rcu_read_lock();
	err = or_port_send_link(net, pn, addrs, egress, msg, len);
	rcu_read_unlock();
	local_bh_enable();
	return or_port_sent(pn, err, len);
}
EXPORT_SYMBOL_GPL(or_port_send_by);

/* Open and closed ---------------------------------------------------------- */

static int or_port_socket(struct net *net, int family, struct socket **sockp)
{
	struct sockaddr_storage addr = { .ss_family = family };
	struct socket *sock;
	int err, len;

	err = sock_create_kern(net, family, SOCK_DGRAM, IPPROTO_UDP, &sock);
	if (err)
		return err;
	if (family == AF_INET6) {
		err = ip6_sock_set_v6only(sock->sk);
		if (err)
			goto release;
		((struct sockaddr_in6 *)&addr)->sin6_port = htons(OR_PORT);
		len = sizeof(struct sockaddr_in6);
	} else {
		((struct sockaddr_in *)&addr)->sin_port = htons(OR_PORT);
		len = sizeof(struct sockaddr_in);
	}

	/* Before it is bound, so that nothing gets into its queue. */
	WRITE_ONCE(udp_sk(sock->sk)->encap_rcv, or_port_rcv);
	WRITE_ONCE(udp_sk(sock->sk)->encap_type, 1);
	compat_udp_tunnel_encap_enable(sock->sk);
	err = kernel_bind(sock, (struct sockaddr_unsized *)&addr, len);
	if (err)
		goto release;
	*sockp = sock;
	return 0;

release:
	/* Users try again and again. */
	if (err == -EADDRINUSE && !or_port_net(net)->warned) {
		or_port_net(net)->warned = true;
		pr_notice("UDP port %d over IPv%c is in use by a program: On-Ramp stays off in network namespace %u until the program ends\n",
			  OR_PORT, family == AF_INET ? '4' : '6', net->ns.inum);
	}
	sock_release(sock);
	return err;
}

/* or_port_release() - give up the port; its lock, or nobody else knows the namespace */
void or_port_release(struct or_port_net *pn)
{
	/* Read locklessly by senders. */
	WRITE_ONCE(pn->has_v4, false);
	WRITE_ONCE(pn->has_v6, false);
	if (pn->v6)
		sock_release(pn->v6);
	if (pn->v4)
		sock_release(pn->v4);
	pn->v6 = NULL;
	pn->v4 = NULL;
}

/**
 * or_port_open() - take the port in a namespace
 * @net:	namespace
 *
 * Calls are counted, all but the first do nothing. Without IPv6 in the kernel
 * it is open for IPv4 alone.
 *
 * Context: process, may sleep.
 * Return: 0; -EADDRINUSE: a program has the port, which is logged; or an error of
 * creating a socket.
 */
int or_port_open(struct net *net)
{
	struct or_port_net *pn = or_port_net(net);
	int err;

	mutex_lock(&pn->lock);
	if (pn->users)
		goto opened;
	err = or_port_guard(net);
	if (err)
		goto unlock;
	err = or_port_socket(net, AF_INET, &pn->v4);
	if (err)
		goto unguard;
	err = or_port_socket(net, AF_INET6, &pn->v6);
	if (err && err != -EAFNOSUPPORT) {
		or_port_release(pn);
		goto unguard;
	}
	pn->warned = false;
	WRITE_ONCE(pn->has_v4, true);
	WRITE_ONCE(pn->has_v6, !!pn->v6);
opened:
	pn->users++;
	err = 0;
unlock:
	mutex_unlock(&pn->lock);
	return err;

unguard:
	or_port_unguard(net);
	goto unlock;
}
EXPORT_SYMBOL_GPL(or_port_open);

/* or_port_close() - undo a successful or_port_open(); process, may sleep */
void or_port_close(struct net *net)
{
	struct or_port_net *pn = or_port_net(net);

	mutex_lock(&pn->lock);
	if (!WARN_ON_ONCE(!pn->users) && !--pn->users) {
		or_port_release(pn);
		or_port_unguard(net);
	}
	mutex_unlock(&pn->lock);
}
EXPORT_SYMBOL_GPL(or_port_close);

/* or_port_is_open() - return whether a namespace has the port, see or_port_open() */
bool or_port_is_open(const struct net *net)
{
	return READ_ONCE(or_port_net(net)->has_v4);
}
