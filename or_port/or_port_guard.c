// SPDX-License-Identifier: GPL-2.0
/*
 * or_port, the guard: what this host forwards does not speak the OR protocol in its name
 *
 * A host that translates addresses gives its own address to the datagrams of its containers, and
 * leaves their source port as it is where it can. So every receiver would take a container that
 * sends from OR_PORT for this host. The answers are translated for the container: it would get
 * this host's OR-ACKs, and this host could not subscribe.
 *
 *	datagram from OR_PORT that came in by a device and is about to leave, after all translation
 *		its source is an address of this host		-> drop
 *		its source was translated			-> drop
 *		it came to OR_PORT, and its destination was translated	-> drop
 *
 * A container with an address that is not translated may speak the protocol itself. A message
 * whose addresses are translated is worth nothing to its receiver: the tag covers them.
 *
 * A translation that was there before the guard would go on taking the answers to this host. So
 * that of a dropped datagram expires at once.
 *
 * Only the kernel's own translation is seen: not one by tc or eBPF behind this hook.
 */
#include <linux/export.h>
#include <linux/in.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/mutex.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#if IS_ENABLED(CONFIG_NF_CONNTRACK)
#include <net/netfilter/nf_conntrack.h>
#endif

#include <or_port.h>
#include <or_proto.h>

#include "or_port_priv.h"

#if IS_ENABLED(CONFIG_NETFILTER)

/* Behind all translation, and before connection tracking keeps a new connection. */
#define OR_PORT_GUARD_PRIORITY	(INT_MAX - 1)

/* Ends of a datagram from OR_PORT as it is about to leave; IPv4 in the first word, the rest 0. */
struct or_port_ends {
	union nf_inet_addr	saddr;
	union nf_inet_addr	daddr;
	__be16			dport;
};

#if IS_ENABLED(CONFIG_NF_CONNTRACK)

/*
 * Return whether the source of a datagram from OR_PORT was translated, or its destination, and it
 * came to OR_PORT. Such a translation ends here.
 */
static bool or_port_guard_translated(const struct sk_buff *skb, const struct or_port_ends *ends)
{
	const __be16 port = htons(OR_PORT);
	const struct nf_conntrack_tuple *came;
	enum ip_conntrack_info ctinfo;
	struct nf_conn *ct;
	bool from, to;

	ct = nf_ct_get(skb, &ctinfo);
	if (!ct)
		return false;
	came = &ct->tuplehash[CTINFO2DIR(ctinfo)].tuple;
	from = !nf_inet_addr_cmp(&came->src.u3, &ends->saddr) || came->src.u.udp.port != port;
	to = came->dst.u.udp.port == port &&
	     (!nf_inet_addr_cmp(&came->dst.u3, &ends->daddr) || ends->dport != port);
	if (!from && !to)
		return false;
	/* Read without a lock by the next lookup, which removes the entry. */
	if (nf_ct_is_confirmed(ct))
		WRITE_ONCE(ct->timeout, nfct_time_stamp);
	return true;
}
#else
static bool or_port_guard_translated(const struct sk_buff *skb, const struct or_port_ends *ends)
{
	return false;
}
#endif

/* The ports of a datagram at @offset from skb->data; return whether its source is OR_PORT. */
static bool or_port_guard_ports(const struct sk_buff *skb, int offset, struct or_port_ends *ends)
{
	__be16 buf[2], *ports;

	ports = skb_header_pointer(skb, offset, sizeof(buf), buf);
	if (!ports || ports[0] != htons(OR_PORT))
		return false;
	ends->dport = ports[1];
	return true;
}

static unsigned int or_port_guard_drop(const struct net *net)
{
	or_port_count(or_port_net(net), OR_PORT_FORWARD);
	return NF_DROP;
}

/* Most packets are of this host, which came in by no device, or no datagrams. */
static unsigned int or_port_guard4(void *priv, struct sk_buff *skb,
				   const struct nf_hook_state *state)
{
	const struct iphdr *iph = ip_hdr(skb);
	struct or_port_ends ends = {};

	if (!skb->skb_iif || iph->protocol != IPPROTO_UDP || iph->frag_off & htons(IP_OFFSET))
		return NF_ACCEPT;
	if (!or_port_guard_ports(skb, skb_network_offset(skb) + ip_hdrlen(skb), &ends))
		return NF_ACCEPT;
	ends.saddr.ip = iph->saddr;
	ends.daddr.ip = iph->daddr;
	if (!or_port_guard_translated(skb, &ends) && !__ip_dev_find(state->net, iph->saddr, false))
		return NF_ACCEPT;
	return or_port_guard_drop(state->net);
}

#if IS_ENABLED(CONFIG_IPV6)
static unsigned int or_port_guard6(void *priv, struct sk_buff *skb,
				   const struct nf_hook_state *state)
{
	const struct ipv6hdr *ip6h = ipv6_hdr(skb);
	struct or_port_ends ends = {};
	unsigned int offset = 0;
	unsigned short frag;

	if (!skb->skb_iif || ip6h->nexthdr == IPPROTO_TCP)
		return NF_ACCEPT;
	/* Behind any other headers. */
	if (ipv6_find_hdr(skb, &offset, IPPROTO_UDP, &frag, NULL) < 0 || frag ||
	    !or_port_guard_ports(skb, offset, &ends))
		return NF_ACCEPT;
	ends.saddr.in6 = ip6h->saddr;
	ends.daddr.in6 = ip6h->daddr;
	if (!or_port_guard_translated(skb, &ends) &&
	    !ipv6_chk_addr(state->net, &ip6h->saddr, NULL, 0))
		return NF_ACCEPT;
	return or_port_guard_drop(state->net);
}
#endif

static const struct nf_hook_ops or_port_guard_ops[] = {
	{
		.hook		= or_port_guard4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_POST_ROUTING,
		.priority	= OR_PORT_GUARD_PRIORITY,
	},
#if IS_ENABLED(CONFIG_IPV6)
	{
		.hook		= or_port_guard6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_POST_ROUTING,
		.priority	= OR_PORT_GUARD_PRIORITY,
	},
#endif
};

static int or_port_guard_register(struct net *net)
{
	return nf_register_net_hooks(net, or_port_guard_ops, ARRAY_SIZE(or_port_guard_ops));
}

static void or_port_guard_unregister(struct net *net)
{
	nf_unregister_net_hooks(net, or_port_guard_ops, ARRAY_SIZE(or_port_guard_ops));
}
#else
static int or_port_guard_register(struct net *net)
{
	return -EOPNOTSUPP;
}

static void or_port_guard_unregister(struct net *net)
{
}
#endif

/**
 * or_port_guard() - refuse to forward datagrams from the port in the name of this host
 * @net:	namespace
 *
 * Calls are counted, all but the first do nothing. An open port has it. A user that will open the
 * port only when it needs it calls this before: what was translated by then would be in its way.
 * A kernel without netfilter, and so without translation, does without; /proc/net/or_port says so.
 *
 * Context: process, may sleep. RTNL may be held.
 * Return: 0 or -ENOMEM.
 */
int or_port_guard(struct net *net)
{
	struct or_port_net *pn = or_port_net(net);
	int err = 0;

	mutex_lock(&pn->guard_lock);
	if (!pn->guards) {
		err = or_port_guard_register(net);
		WRITE_ONCE(pn->guarded, !err);
		if (err == -EOPNOTSUPP)
			err = 0;
	}
	if (!err)
		pn->guards++;
	mutex_unlock(&pn->guard_lock);
	return err;
}
EXPORT_SYMBOL_GPL(or_port_guard);

/* or_port_unguard() - undo a successful or_port_guard(); process, may sleep. RTNL may be held */
void or_port_unguard(struct net *net)
{
	struct or_port_net *pn = or_port_net(net);

	mutex_lock(&pn->guard_lock);
	if (!WARN_ON_ONCE(!pn->guards) && !--pn->guards && pn->guarded) {
		or_port_guard_unregister(net);
		WRITE_ONCE(pn->guarded, false);
	}
	mutex_unlock(&pn->guard_lock);
}
EXPORT_SYMBOL_GPL(or_port_unguard);
