/* SPDX-License-Identifier: GPL-2.0 */
/*
 * or_port, the UDP port of the OR protocol: one for each network namespace, shared
 * by the sender of data (sch_onramp) and the receiver (or_acker), since a host is
 * often both.
 *
 *	user	or_port_register(&user)		one for each type of message
 *		or_port_open(net)		-> user.rcv() for each message that arrives
 *		or_port_send(net, ...)
 *		or_port_close(net)
 *		or_port_unregister(&user)
 *
 * or_port takes messages before any socket sees them. It drops those without a user, counts them
 * in /proc/net/or_port, and never answers. net.or_port.key is the pre-shared key of a namespace,
 * for both sides; net.or_port.fabric_key that of congestion notifications.
 * include/or_proto.h has the format.
 */
#ifndef _OR_PORT_H
#define _OR_PORT_H

#include <linux/build_bug.h>
#include <linux/if_ether.h>
#include <linux/module.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include <or_proto.h>

struct dst_entry;
struct net;

/**
 * struct or_addrs - the two ends of a message, as this host sees them
 * @laddr:	address of this host; IPv4 in the first word, the rest 0
 * @raddr:	address of the peer, likewise
 * @family:	AF_INET or AF_INET6
 * @scope:	index of the device, for link-local IPv6 addresses; else that of the VRF in which
 *		the peer is, 0: in none
 *
 * Addresses in network byte order. There is no padding: it is hashed and compared
 * as it lies in memory.
 */
struct or_addrs {
	__be32	laddr[4];
	__be32	raddr[4];
	u32	family;
	u32	scope;
};

static_assert(sizeof(struct or_addrs) == 40);

/**
 * or_addrs_pair() - write the pair of addresses of data, for keys and cookies
 * @addrs:	of a message
 * @sends:	this host is the sender of data
 * @pair:	written
 */
static inline void or_addrs_pair(const struct or_addrs *addrs, bool sends, struct or_pair *pair)
{
	*pair = (struct or_pair) { .version = addrs->family == AF_INET ? 4 : 6 };
	memcpy(pair->sender, sends ? addrs->laddr : addrs->raddr, sizeof(pair->sender));
	memcpy(pair->receiver, sends ? addrs->raddr : addrs->laddr, sizeof(pair->receiver));
}

/**
 * struct or_egress - how packets of a guest leave for which this host does not route
 * @ifindex:	of the device, Ethernet; 0: this host routes for it
 * @vlan_proto:	of the frame's VLAN tag, ETH_P_8021Q or ETH_P_8021AD; 0: it has none
 * @vlan_id:	of the tag
 * @src:	MAC address of the guest
 * @dst:	that of the next hop
 */
struct or_egress {
	int	ifindex;
	__be16	vlan_proto;
	u16	vlan_id;
	u8	src[ETH_ALEN];
	u8	dst[ETH_ALEN];
};

/**
 * struct or_via - the way of the data that messages are about: they take no other
 * @oif:	device that its socket is bound to; 0: none, or unknown
 * @ifindex:	device that the data leaves by, or the VLAN device on it; 0: unknown. Messages leave
 *		by this one or one that is on top of it, or are not sent
 * @mark:	of its packets; messages are routed by it, and have none themselves
 * @uid:	of its socket's owner, for rules of routing
 * @sport:	port of this host, likewise; 0: unknown
 * @dport:	port of the peer, likewise
 *
 * All 0: the addresses and their scope are all that is known. There is no padding.
 */
struct or_via {
	int	oif;
	int	ifindex;
	u32	mark;
	kuid_t	uid;
	__be16	sport;
	__be16	dport;
};

static_assert(sizeof(struct or_via) == 20);

/**
 * struct or_route - the route of the last message between two addresses of or_addrs
 * @lock:	of all that follows
 * @via:	see or_port_route_via()
 * @tos:	type of service or traffic class that it is for
 * @cookie:	of @dst
 * @dst:	with a reference; NULL: none
 *
 * A sender of many messages keeps it, see or_port_send_on(). It is looked up again when the
 * kernel's routes or addresses have changed.
 */
struct or_route {
	spinlock_t		lock;	/* see above */
	struct or_via		via;
	u8			tos;
	u32			cookie;
	struct dst_entry	*dst;
};

/**
 * struct or_port_user - handler of a type of message
 * @type:	enum or_type
 * @owner:	module of @rcv
 * @rcv:	called for each message of the type, under RCU with BH disabled:
 *		@addrs of it; @ifindex of the device it came in on; @mark for an answer, as
 *		net.ipv4.fwmark_reflect says; @msg with
 *		min(@len, OR_MSG_MAX) bytes that may be read; @len as received, which
 *		may be wrong, at least 1. Its version and type are right, the UDP
 *		checksum is, and nothing else has been checked.
 */
struct or_port_user {
	u8		type;
	struct module	*owner;
	void (*rcv)(struct net *net, const struct or_addrs *addrs, int ifindex, u32 mark,
		    const u8 *msg, unsigned int len);
};

int or_port_register(const struct or_port_user *user);
void or_port_unregister(const struct or_port_user *user);
int or_port_guard(struct net *net);
void or_port_unguard(struct net *net);
int or_port_open(struct net *net);
void or_port_close(struct net *net);
int or_port_send(struct net *net, const struct or_addrs *addrs, const struct or_via *via,
		 bool foreign, const u8 *msg, unsigned int len, u8 tos, u32 priority);
int or_port_send_on(struct net *net, const struct or_addrs *addrs, struct or_route *route,
		    const u8 *msg, unsigned int len, u8 tos, u32 priority);
void or_port_route_init(struct or_route *route);
void or_port_route_via(struct or_route *route, const struct or_via *via);
void or_port_route_put(struct or_route *route);
int or_port_send_by(struct net *net, const struct or_addrs *addrs, const struct or_egress *egress,
		    const u8 *msg, unsigned int len);
void or_port_key(const struct net *net, u8 *key);
bool or_port_fabric_key(const struct net *net, u8 *key);

#endif /* _OR_PORT_H */
