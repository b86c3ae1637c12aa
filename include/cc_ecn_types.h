/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A congestion control that counts ECN marks and paces: the types of its parts. See cc_ecn.h.
 *
 * This is a template. A module NAME has a header that defines these before it includes this one:
 *
 *	CC_NAME			NAME, as a string
 *	CC_PARAM_LIST		rows CC_PARAM(id, name, min, max, default, unit, what, source)
 *	CC_STAT_LIST		rows CC_STAT(id, name, what)
 *	struct cc_law_conf	its law's part of a configuration
 *	struct cc_law_net	its law's state in a network namespace; may be empty
 *	cc_net_id		name of its pernet id
 *
 * Parameters that each has: LINE_RATE (Mbit/s), WINDOW (packets), SEGMENT (bytes). Counters: see
 * cc_ecn.h.
 *
 * Locking. State of a socket belongs to the socket lock. Everything per namespace that a socket
 * reads on an ACK is lockless: the configuration is replaced as a whole under RCU, the devices are
 * refcounted, the counters are per CPU. Writers of the configuration serialise on cc_net.lock.
 *
 * A socket of the kernel may outlive its namespace. So a namespace that goes gives its sockets
 * a configuration and counters that stay, and frees its own when none of them can have them any
 * more.
 */
#ifndef _CC_ECN_TYPES_H
#define _CC_ECN_TYPES_H

#include <linux/mutex.h>
#include <linux/percpu.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include <line_rate_types.h>
#include <net_params_types.h>

/* Indices into cc_conf.raw, in the order of the list. */
enum cc_param_id {
#define CC_PARAM(id, name, min, max, def, unit, what, source) CC_P_##id,
	CC_PARAM_LIST
#undef CC_PARAM
	CC_P_MAX
};

/* Counters of a namespace, in the order of /proc/net/NAME. They never reset. */
enum cc_stat_id {
#define CC_STAT(id, name, what) CC_STAT_##id,
	CC_STAT_LIST
#undef CC_STAT
	CC_STAT_MAX
};

struct cc_stats {
	unsigned long cnt[CC_STAT_MAX];
};

/**
 * struct cc_conf - one immutable configuration of a namespace
 * @law:		the law's own
 * @line_rate_bps:	configured line rate, bytes/s; 0: the device's own
 * @window_packets:	window; 0: the law's own
 * @segment_bytes:	bytes in one go at the line rate
 * @raw:		the values as they were written
 * @rcu:		readers are on the ACK path
 */
struct cc_conf {
	struct cc_law_conf law;
	u64		line_rate_bps;
	u32		window_packets;
	u32		segment_bytes;
	u64		raw[CC_P_MAX];
	struct rcu_head	rcu;
};

/**
 * struct cc_net - the module's state in one network namespace
 * @conf:	configuration, replaced under @lock; once the namespace goes, one that stays
 * @lock:	serialises writers of @conf
 * @count:	where sockets count: @stats; once the namespace goes, nowhere. Read under RCU
 * @stats:	per-CPU counters
 * @rates:	egress devices
 * @params:	net.ipv4.NAME
 * @law:	the law's own
 */
struct cc_net {
	struct cc_conf __rcu	*conf;
	struct mutex		lock;	/* writers of conf */
	struct cc_stats __percpu *count;
	struct cc_stats __percpu *stats;
	struct line_rates	rates;
	struct net_params	params;
	struct cc_law_net	law;
};

extern unsigned int cc_net_id;

static inline struct cc_net *cc_net(const struct net *net)
{
	return net_generic(net, cc_net_id);
}

/* RCU: cc_net_pre_exit() replaces the counters, and they are freed later. */
static inline void cc_count_many(const struct cc_net *cn, enum cc_stat_id id, u32 many)
{
	rcu_read_lock();
	this_cpu_add(READ_ONCE(cn->count)->cnt[id], many);
	rcu_read_unlock();
}

static inline void cc_count(const struct cc_net *cn, enum cc_stat_id id)
{
	cc_count_many(cn, id, 1);
}

#endif /* _CC_ECN_TYPES_H */
