/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the modules of On-Ramp show by generic netlink: family "onramp", which or_port has, since
 * it is below all of them.
 *
 *	module	or_genl_register(&user)		its objects by command, its counters
 *		or_genl_notify(net, ...)	an event
 *		or_genl_unregister(&user)
 *
 * Objects are in hash tables of a namespace. or_port checks requests, walks the tables, and keeps
 * a module loaded while it does. A module finds one object, and writes one into a message.
 * include/uapi/onramp_genl.h has the format.
 */
#ifndef _OR_GENL_H
#define _OR_GENL_H

#include <linux/module.h>
#include <linux/rhashtable.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/netlink.h>
#include <uapi/onramp_genl.h>

struct net;

/**
 * struct or_genl_filter - names an object, or objects of a dump
 * @has:	bit of each attribute of the request; those of the addresses are the same for
 *		all commands
 * @family:	AF_INET or AF_INET6; 0: any
 * @laddr:	local address; IPv4 in the first word, the rest 0
 * @raddr:	remote address, likewise
 * @lbits:	bits of @laddr that have to be equal
 * @rbits:	bits of @raddr, likewise
 * @scope:	device of a link-local address, or VRF; 0: none, in a dump any
 * @lport:	local port
 * @rport:	remote port
 * @ifindex:	device
 * @state:	enum onramp_path_state
 */
struct or_genl_filter {
	u64	has;
	u32	family;
	__be32	laddr[4];
	__be32	raddr[4];
	u8	lbits;
	u8	rbits;
	u32	scope;
	__be16	lport;
	__be16	rport;
	u32	ifindex;
	u8	state;
};

/* or_genl_has() - return whether the request has an attribute */
static inline bool or_genl_has(const struct or_genl_filter *filter, unsigned int attr)
{
	return filter->has & BIT_ULL(attr);
}

/**
 * or_genl_matches() - return whether a pair of addresses is one that a filter is for
 * @filter:	the filter
 * @family:	AF_INET or AF_INET6
 * @laddr:	local address, as in struct or_genl_filter
 * @raddr:	remote address
 * @scope:	device of a link-local address, or 0
 */
static inline bool or_genl_matches(const struct or_genl_filter *filter, u32 family,
				   const __be32 *laddr, const __be32 *raddr, u32 scope)
{
	return (!filter->family || filter->family == family) &&
	       (!filter->scope || filter->scope == scope) &&
	       ipv6_prefix_equal((const struct in6_addr *)laddr,
				 (const struct in6_addr *)filter->laddr, filter->lbits) &&
	       ipv6_prefix_equal((const struct in6_addr *)raddr,
				 (const struct in6_addr *)filter->raddr, filter->rbits);
}

/**
 * struct or_genl_seed - a baseline that a request tells
 * @baseline_ns: at @at_ns, ns
 * @at_ns:	CLOCK_MONOTONIC, ns
 * @slope:	Q32
 * @domain:	of the receiver's clock
 * @error_ns:	the baseline may be too low by this, ns
 * @left_ns:	until it expires, ns
 */
struct or_genl_seed {
	s64	baseline_ns;
	u64	at_ns;
	s32	slope;
	u8	domain;
	u64	error_ns;
	u64	left_ns;
};

/* or_genl_object.put() returns this for an object that the filter excludes. */
#define OR_GENL_SKIP	1

/**
 * struct or_genl_object - a kind of objects
 * @cmd:	ONRAMP_CMD_*_GET
 * @table:	return the table of a namespace
 * @find:	return the object of the name in @filter, or NULL; under RCU
 * @put:	write an object's attributes; under RCU. 0, -EMSGSIZE, or OR_GENL_SKIP before
 *		anything is written. @filter is NULL for the one object of a request
 * @seed:	PATH_SEED: take a baseline; under RCU. 0, or -errno and a text
 */
struct or_genl_object {
	u8			cmd;
	struct rhashtable *(*table)(struct net *net);
	const void *(*find)(struct net *net, const struct or_genl_filter *filter);
	int (*put)(struct net *net, struct sk_buff *msg, const void *object,
		   const struct or_genl_filter *filter);
	int (*seed)(struct net *net, const void *object, const struct or_genl_seed *seed,
		    struct netlink_ext_ack *extack);
};

/**
 * struct or_genl_user - a module
 * @owner:	the module
 * @name:	of the module
 * @version:	of the module
 * @stats:	write its counters of a namespace with or_genl_put_stat(); 0 or -EMSGSIZE
 * @objects:	kinds of objects, the last one without a table
 * @list:	of all users
 */
struct or_genl_user {
	struct module		*owner;
	const char		*name;
	const char		*version;
	int (*stats)(struct sk_buff *msg, struct net *net);
	const struct or_genl_object *objects;
	struct list_head	list;
};

void or_genl_register(struct or_genl_user *user);
void or_genl_unregister(struct or_genl_user *user);
int or_genl_put_stat(struct sk_buff *msg, const char *name, u64 value);
int or_genl_put_name(struct sk_buff *msg, u32 family, const __be32 *laddr, const __be32 *raddr,
		     u32 scope);
bool or_genl_has_listeners(struct net *net);
void or_genl_notify(struct net *net, u8 cmd,
		    int (*put)(struct sk_buff *msg, const void *event), const void *event);

/**
 * or_genl_scope() - return or_addrs.scope for a request about one object
 * @net:	namespace
 * @filter:	of the request; its scope may name any device in the VRF of an address
 *
 * Context: any.
 */
static inline u32 or_genl_scope(struct net *net, const struct or_genl_filter *filter)
{
	if (!filter->scope || (filter->family == AF_INET6 &&
			       ipv6_addr_type((const struct in6_addr *)filter->raddr) &
			       IPV6_ADDR_LINKLOCAL))
		return filter->scope;
	return l3mdev_master_ifindex_by_index(net, filter->scope);
}

#endif /* _OR_GENL_H */
