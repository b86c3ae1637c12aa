/* SPDX-License-Identifier: GPL-2.0 */
/*
 * or_port: the state of a namespace, and what its files use of each other.
 */
#ifndef _OR_PORT_PRIV_H
#define _OR_PORT_PRIV_H

#include <linux/init.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/seqlock.h>
#include <linux/types.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include <or_proto.h>

struct ctl_table;
struct ctl_table_header;
struct socket;

/* Counters of a namespace, /proc/net/or_port. Row: identifier, name, what it counts. */
#define OR_PORT_STATS \
	OR_PORT_STAT(RX, RxDelivered, \
			"messages delivered to the module that handles their type") \
	OR_PORT_STAT(RX_BYTES, RxBytes, \
			"payload of delivered messages, bytes") \
	OR_PORT_STAT(RX_NOT_UNICAST, RxNotUnicast, \
			"datagrams dropped: to a multicast or broadcast address") \
	OR_PORT_STAT(RX_PORT, RxOtherPort, \
			"datagrams dropped: not from port 299") \
	OR_PORT_STAT(RX_EMPTY, RxEmpty, \
			"datagrams dropped: no payload") \
	OR_PORT_STAT(RX_VERSION_1, RxVersion1, \
			"datagrams dropped: version 1, which proves nothing about its sender") \
	OR_PORT_STAT(RX_VERSION, RxOtherVersion, \
			"datagrams dropped: neither version 1 nor 2") \
	OR_PORT_STAT(RX_TYPE, RxNoUser, \
			"datagrams dropped: no loaded module handles their type") \
	OR_PORT_STAT(TX, TxSent, \
			"messages sent") \
	OR_PORT_STAT(TX_BYTES, TxBytes, \
			"payload of sent messages, bytes") \
	OR_PORT_STAT(TX_ROUTE, TxNoRoute, \
			"messages not sent: no route, or the source is no address of this host") \
	OR_PORT_STAT(TX_VIA, TxOtherWay, \
			"messages not sent: no route by the device that their data leaves by") \
	OR_PORT_STAT(TX_MEMORY, TxNoMemory, \
			"messages not sent: no memory") \
	OR_PORT_STAT(TX_DROPPED, TxDropped, \
			"messages not sent: dropped by the stack or a queue") \
	OR_PORT_STAT(FORWARD, ForwardRefused, \
			"datagrams not forwarded: from port 299, in this host's name or translated")

enum or_port_stat_id {
#define OR_PORT_STAT(id, name, what) OR_PORT_##id,
	OR_PORT_STATS
#undef OR_PORT_STAT
	OR_PORT_STAT_MAX
};

struct or_port_stats {
	unsigned long cnt[OR_PORT_STAT_MAX];
};

/**
 * struct or_port_net - the port in one namespace
 * @net:	back pointer
 * @lock:	of @users, @v4, @v6 and @warned
 * @users:	or_port_open() without or_port_close()
 * @v4:		holds the port for IPv4, while @users
 * @v6:		for IPv6; NULL if this kernel runs without it
 * @has_v4:	@v4 is there; read locklessly by senders
 * @has_v6:	@v6 is there, likewise
 * @warned:	that the port is in use has been logged since it was last free
 * @key_lock:	of @key and @fabric
 * @key:	the pre-shared key; all 0: there is none
 * @fabric:	the key of CNPs, likewise
 * @fabric_open: the port is open for @fabric; under @fabric_set
 * @fabric_set:	serialises writers of @fabric
 * @guard_lock:	of @guards and writers of @guarded
 * @guards:	or_port_guard() without or_port_unguard()
 * @guarded:	the guard is there; for /proc
 * @header:	of net.or_port
 * @table:	its table
 * @stats:	per-CPU counters
 */
struct or_port_net {
	struct net			*net;
	struct mutex			lock;	/* opening and closing */
	unsigned int			users;
	struct socket			*v4;
	struct socket			*v6;
	bool				has_v4;
	bool				has_v6;
	bool				warned;
	seqlock_t			key_lock;	/* key, fabric */
	u8				key[OR_KEY_LEN];
	u8				fabric[OR_KEY_LEN];
	bool				fabric_open;
	struct mutex			fabric_set;	/* writers of fabric */
	struct mutex			guard_lock;	/* guards */
	unsigned int			guards;
	bool				guarded;
	struct ctl_table_header		*header;
	struct ctl_table		*table;
	struct or_port_stats __percpu	*stats;
};

extern unsigned int or_port_net_id;

static inline struct or_port_net *or_port_net(const struct net *net)
{
	return net_generic(net, or_port_net_id);
}

static inline void or_port_count(const struct or_port_net *pn, enum or_port_stat_id id)
{
	this_cpu_inc(pn->stats->cnt[id]);
}

static inline void or_port_add(const struct or_port_net *pn, enum or_port_stat_id id,
			       unsigned long n)
{
	this_cpu_add(pn->stats->cnt[id], n);
}

/* or_port_key.c */
int or_port_sysctl_register(struct or_port_net *pn);
void or_port_sysctl_unregister(struct or_port_net *pn);

/* or_port_genl.c */
int or_genl_init(void);
void or_genl_exit(void);

/* or_port_udp.c */
bool or_port_is_open(const struct net *net);
void or_port_release(struct or_port_net *pn);

/* or_path.c */
int or_path_init(void);
void or_path_exit(void);

#endif /* _OR_PORT_PRIV_H */
