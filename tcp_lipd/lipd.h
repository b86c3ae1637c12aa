/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tcp_lipd: shared by the parts of the module.
 *
 * lipd_core.h	the laws, integers only
 * ecn_echo.h	(include/) one echo for each mark, integers only
 * cc_sock.h	(include/) helpers that paced congestion controls share
 * lipd_tcp.c	the tcp_congestion_ops: marks in, pacing rate out
 * lipd_net.c	per network namespace: parameters, devices, counters
 * lipd_trace.h	tracepoints
 *
 * Locking. Per-socket state belongs to the socket lock. Everything per namespace that a
 * socket reads on an ACK is lockless: the configuration is replaced as a whole under RCU,
 * the devices are refcounted, the counters are per CPU. Writers of the configuration
 * serialise on lipd_net.lock.
 *
 * A socket of the kernel may outlive what its namespace has of us. So a namespace that goes
 * gives its sockets a configuration and counters that stay, and frees its own when none of
 * them can have them any more.
 */
#ifndef _LIPD_H
#define _LIPD_H

#include <linux/mutex.h>
#include <linux/percpu.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include <line_rate_types.h>
#include <net_params_types.h>

#include "lipd_core.h"
#include "lipd_params.h"

/* Indices into lipd_conf.raw, in the order of lipd_params.h. */
enum lipd_param_id {
#define LIPD_PARAM(id, name, min, max, def, unit, what, source) LIPD_P_##id,
	LIPD_PARAMS
#undef LIPD_PARAM
	LIPD_P_MAX
};

/*
 * Counters per namespace, in the order of /proc/net/lipd: LIPD_STAT(id, name, what). They
 * count events since the namespace was made and never reset.
 */
#define LIPD_STATS \
	LIPD_STAT(STARTS, Starts, "flows that sent their first data, at Rmax") \
	LIPD_STAT(IDLE_RESETS, IdleResets, "flows that started over after idle_reset_ns") \
	LIPD_STAT(MARKED, PacketsMarked, "acknowledged packets that came with CE") \
	LIPD_STAT(UNMARKED, PacketsUnmarked, "acknowledged packets that came without CE") \
	LIPD_STAT(DECREASES, Decreases, "ACKs with marks that counted and lowered a rate") \
	LIPD_STAT(AT_RMIN, MarkedAtRmin, \
		  "ACKs with marks that counted and found the rate at Rmin") \
	LIPD_STAT(INCREASES, Increases, "ACKs without marks that raised a rate") \
	LIPD_STAT(ECHO_CE, PacketsWithCE, "received batches of data with CE, echoed by ECE") \
	LIPD_STAT(ECHO_NO_CE, PacketsWithoutCE, "received batches of data without CE") \
	LIPD_STAT(ECHO_FIRST, EchoFirst, \
		  "ACKs sent first, because CE changed while an ACK was delayed") \
	LIPD_STAT(LOSS_CUTS, LossCuts, \
		  "rates halved by packet loss, at most once per round trip and flow") \
	LIPD_STAT(TIMEOUT_CUTS, TimeoutCuts, "rates halved by a retransmission timeout") \
	LIPD_STAT(UNDOS, Undos, "rates restored because TCP found a recovery to be spurious") \
	LIPD_STAT(UNPACED, PacedByTcp, \
		  "times that packets left before their departure time, and TCP took over pacing") \
	LIPD_STAT(DEFAULT_LINE, LineRateUnknown, \
		  "starts at the default line rate, because the device reports no speed") \
	LIPD_STAT(NO_ECN, FallbackNoEcn, "connections without ECN, which run lipd-reno") \
	LIPD_STAT(MPTCP, FallbackMptcp, "MPTCP subflows, which run lipd-reno")

enum lipd_stat_id {
#define LIPD_STAT(id, name, what) LIPD_STAT_##id,
	LIPD_STATS
#undef LIPD_STAT
	LIPD_STAT_MAX
};

struct lipd_stats {
	unsigned long cnt[LIPD_STAT_MAX];
};

/* Values of the parameter rates. */
enum lipd_rates {
	LIPD_RATES_CONTINUOUS,
	LIPD_RATES_DISCRETE,
};

/* Values of the parameter departures. */
enum lipd_departures {
	LIPD_DEPARTURES_FIXED,
	LIPD_DEPARTURES_MOVED,
};

/**
 * struct lipd_conf - one immutable configuration of a namespace
 * @line_rate_bps:	configured line rate, bytes/s; 0: the device's own
 * @idle_reset_ns:	idle time after which a flow starts over, ns; 0: never
 * @window_packets:	window; 0: from the line rate and the lowest RTT
 * @marks_per_rtt:	marks of a round trip that count; 0: all
 * @segment_bytes:	bytes in one go at Rmax
 * @levels:		log2 of N
 * @discrete:		rates are of whole delays
 * @moved:		the rate of an ACK applies to the packet that waits for its departure
 * @raw:		the values as they were written
 * @rcu:		readers are on the ACK path
 */
struct lipd_conf {
	u64		line_rate_bps;
	u64		idle_reset_ns;
	u32		window_packets;
	u32		marks_per_rtt;
	u32		segment_bytes;
	u8		levels;
	u8		discrete;
	u8		moved;
	u64		raw[LIPD_P_MAX];
	struct rcu_head	rcu;
};

/**
 * struct lipd_net - the module's state in one network namespace
 * @conf:	configuration, replaced under @lock; once the namespace goes, one that stays
 * @lock:	serialises writers of @conf
 * @count:	where sockets count: @stats; once the namespace goes, nowhere. Read under RCU
 * @stats:	per-CPU counters
 * @rates:	egress devices
 * @params:	net.ipv4.lipd
 */
struct lipd_net {
	struct lipd_conf __rcu		*conf;
	struct mutex			lock;	/* writers of conf */
	struct lipd_stats __percpu	*count;
	struct lipd_stats __percpu	*stats;
	struct line_rates		rates;
	struct net_params		params;
};

extern unsigned int lipd_net_id;

static inline struct lipd_net *lipd_net(const struct net *net)
{
	return net_generic(net, lipd_net_id);
}

/* RCU: lipd_net_pre_exit() replaces the counters, and they are freed later. */
static inline void lipd_count_many(const struct lipd_net *ln, enum lipd_stat_id id, u32 many)
{
	rcu_read_lock();
	this_cpu_add(READ_ONCE(ln->count)->cnt[id], many);
	rcu_read_unlock();
}

static inline void lipd_count(const struct lipd_net *ln, enum lipd_stat_id id)
{
	lipd_count_many(ln, id, 1);
}

struct line_dev *lipd_dev_get(struct lipd_net *ln, int ifindex);
void lipd_dev_put(struct line_dev *dev);

int lipd_net_register(void);
void lipd_net_unregister(void);

#endif /* _LIPD_H */
