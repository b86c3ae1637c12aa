/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tcp_timely: declarations that the files of the module share.
 *
 * timely_core.h	the algorithm, integers only
 * timely_auto.h	the same with parameters that follow from the path, in layers: it names them
 * timely_source.h	which clock an RTT is taken from, integers only
 * timely_main.c	loading and unloading
 * timely_tcp.c		the tcp_congestion_ops: samples in, pacing rate out
 * timely_net.c		per network namespace: parameters, devices, counters
 * timely_genl.c	the state of each socket, by netlink
 * timely_trace.h	tracepoints
 *
 * Locking. Per-socket state belongs to the socket lock. Everything per
 * namespace that a socket reads on an ACK is lockless: the configuration is
 * replaced as a whole under RCU, the devices are refcounted, the counters are
 * per CPU. Writers of the configuration serialise on timely_net.lock.
 *
 * A kernel socket may outlive the state that its namespace has here: it holds no reference
 * on the namespace, and its owner may close it in an exit method that runs after ours. So
 * a namespace that exits gives its sockets a static configuration and static counters, and
 * frees its own ones once no socket can use them.
 */
#ifndef _TIMELY_H
#define _TIMELY_H

#include <linux/mutex.h>
#include <linux/percpu.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include <line_rate_types.h>
#include <net_params_types.h>

#include "timely_core.h"
#include "timely_params.h"
#include "timely_source.h"

/* Largest limit on outstanding data, bytes: the largest window that TCP can be offered. */
#define TIMELY_MAX_OUTSTANDING		(1U << 30)

/* Indices into timely_conf.raw, in the order of timely_params.h. */
enum timely_param_id {
#define TIMELY_PARAM(id, name, min, max, def, unit, what, source) TIMELY_P_##id,
	TIMELY_PARAMS
#undef TIMELY_PARAM
	TIMELY_P_MAX
};

/*
 * Counters per namespace, in the order of /proc/net/timely. They count events
 * since the namespace was made and never reset.
 */
#define TIMELY_STATS \
	TIMELY_STAT(STARTS, Starts) \
	TIMELY_STAT(IDLE_RESTARTS, IdleRestarts) \
	TIMELY_STAT(COMPLETIONS, Completions) \
	TIMELY_STAT(LOW, BranchLow) \
	TIMELY_STAT(HIGH, BranchHigh) \
	TIMELY_STAT(INCREASE, BranchIncrease) \
	TIMELY_STAT(HAI, BranchHai) \
	TIMELY_STAT(DECREASE, BranchDecrease) \
	TIMELY_STAT(WEIGHTED, BranchWeighted) \
	TIMELY_STAT(START, BranchStart) \
	TIMELY_STAT(PROBE, BranchProbe) \
	TIMELY_STAT(AVERAGE, BranchAverage) \
	TIMELY_STAT(HELD, HeldAppLimited) \
	TIMELY_STAT(FLOOR, BelowFloor) \
	TIMELY_STAT(DROP_RETRANS, DropRetransmitted) \
	TIMELY_STAT(DROP_SACKED, DropSacked) \
	TIMELY_STAT(DROP_DELAYED, DropDelayedAck) \
	TIMELY_STAT(DROP_SOURCE, DropOtherSource) \
	TIMELY_STAT(RTT_TCP, RttTcp) \
	TIMELY_STAT(RTT_STACK, RttStack) \
	TIMELY_STAT(RTT_DRIVER, RttDriver) \
	TIMELY_STAT(RTT_MAPPED, RttMapped) \
	TIMELY_STAT(RTT_HW, RttHardware) \
	TIMELY_STAT(OWD, OwdUsed) \
	TIMELY_STAT(NO_OWD, OwdUnknown) \
	TIMELY_STAT(SOFTWARE, FallbackSoftware) \
	TIMELY_STAT(NO_BUS, FallbackNoBus) \
	TIMELY_STAT(NO_FLOW, FallbackNoFlow) \
	TIMELY_STAT(NO_TX, FallbackNoSegment) \
	TIMELY_STAT(NO_ACK, FallbackNoAck) \
	TIMELY_STAT(NIC_AMBIGUOUS, FallbackAmbiguous) \
	TIMELY_STAT(NIC_INVALID, FallbackInvalid) \
	TIMELY_STAT(NIC_OLD, FallbackOld) \
	TIMELY_STAT(SOURCE_CHANGES, SourceChanges) \
	TIMELY_STAT(LOSS_CUTS, LossCuts) \
	TIMELY_STAT(TIMEOUT_CUTS, TimeoutCuts) \
	TIMELY_STAT(UNDOS, Undos) \
	TIMELY_STAT(UNPACED, PacedByTcp) \
	TIMELY_STAT(DEFAULT_LINE, LineRateUnknown) \
	TIMELY_STAT(LINE_RISES, LineRateRises) \
	TIMELY_STAT(MPTCP, MptcpRefused)

enum timely_stat_id {
#define TIMELY_STAT(id, name) TIMELY_STAT_##id,
	TIMELY_STATS
#undef TIMELY_STAT
	TIMELY_STAT_MAX
};

/* Enum timely_branch and TIMELY_STAT_LOW... run in parallel. */
static_assert(TIMELY_STAT_AVERAGE - TIMELY_STAT_LOW == TIMELY_BRANCH_AVERAGE);
/* So do enum timely_source and TIMELY_STAT_RTT_TCP..., */
static_assert(TIMELY_STAT_RTT_HW - TIMELY_STAT_RTT_TCP ==
	      TIMELY_SOURCE_HW - TIMELY_SOURCE_TCP);
/* and the verdicts of the bus and TIMELY_STAT_NO_TX... */
static_assert(TIMELY_STAT_NIC_INVALID - TIMELY_STAT_NO_TX ==
	      NIC_TS_RTT_INVALID - NIC_TS_RTT_NO_TX);

/* Values of the parameter profile. */
enum timely_profile {
	TIMELY_PROFILE_AUTO,	/* parameters that follow from the path: timely_auto.h */
	TIMELY_PROFILE_PAPER,	/* those of net.ipv4.timely, the paper's by default */
};

/* Values of the parameter signal. */
enum timely_signal {
	TIMELY_SIGNAL_RTT,	/* of the whole way */
	TIMELY_SIGNAL_OWD,	/* of the way there, where OR-ACKs tell */
};

/* Values of the parameter pacing. */
enum timely_pacing {
	TIMELY_PACING_QDISC,	/* a qdisc that can, else TCP */
	TIMELY_PACING_TCP,	/* TCP, above any qdisc */
};

struct timely_stats {
	unsigned long cnt[TIMELY_STAT_MAX];
};

/**
 * struct timely_conf - one immutable configuration of a namespace
 * @profile:		enum timely_profile
 * @core:		parameters in the units of timely_core.h
 * @line_rate_bps:	configured line rate, bytes/s; 0: the device's own
 * @max_outstanding:	limit on outstanding data, bytes; 0: from the line rate
 * @idle_restart_ns:	idle time after which a flow starts over, ns; 0: never
 * @rx_wait_ns:		W, ns; 0: from the device
 * @rtt_source:		enum timely_rtt_source
 * @signal:		enum timely_signal
 * @pacing:		enum timely_pacing
 * @raw:		the values as they were written
 * @rcu:		readers are on the ACK path
 */
struct timely_conf {
	enum timely_profile	profile;
	struct timely_params	core;
	u64			line_rate_bps;
	u64			max_outstanding;
	u64			idle_restart_ns;
	u64			rx_wait_ns;
	enum timely_rtt_source	rtt_source;
	enum timely_signal	signal;
	enum timely_pacing	pacing;
	u64			raw[TIMELY_P_MAX];
	struct rcu_head		rcu;
};

/**
 * struct timely_net - the module's state in one network namespace
 * @conf:	configuration, replaced under @lock; once the namespace goes, one that stays
 * @lock:	serialises writers of @conf
 * @count:	where sockets count: @stats; once the namespace goes, nowhere. Read under RCU
 * @stats:	per-CPU counters
 * @rates:	egress devices
 * @params:	net.ipv4.timely
 */
struct timely_net {
	struct timely_conf __rcu	*conf;
	struct mutex			lock;	/* writers of conf */
	struct timely_stats __percpu	*count;
	struct timely_stats __percpu	*stats;
	struct line_rates		rates;
	struct net_params		params;
};

extern unsigned int timely_net_id;

static inline struct timely_net *timely_net(const struct net *net)
{
	return net_generic(net, timely_net_id);
}

/* RCU: timely_net_pre_exit() replaces the counters, and they are freed later. */
static inline void timely_count(const struct timely_net *tn, enum timely_stat_id id)
{
	rcu_read_lock();
	this_cpu_inc(READ_ONCE(tn->count)->cnt[id]);
	rcu_read_unlock();
}

/**
 * timely_outstanding() - return the bytes that the line rate sends in 2 Thigh
 * @line_bps: line rate, bytes/s, below 2^38
 * @t_high_ns: Thigh, ns, at most 10 s: 2 Thigh in us are below 2^25
 *
 * The static limit on outstanding data, TIMELY section 3.3.
 */
static inline u64 timely_outstanding(u64 line_bps, u64 t_high_ns)
{
	return div_u64(line_bps * div_u64(t_high_ns, 500), USEC_PER_SEC);
}

struct line_dev *timely_dev_get(struct timely_net *tn, int ifindex);
void timely_dev_put(struct line_dev *dev);

int timely_net_register(void);
void timely_net_unregister(void);

/**
 * struct timely_snapshot - state of a socket, for netlink
 * @rate_bps:	target rate, bytes/s of payload
 * @rtt_ns:	newest RTT, profile auto: their mean; 0: none since it started over
 * @min_rtt_ns:	lowest RTT; 0: none
 * @line_bps:	line rate, bytes/s
 * @rtts:	number of RTTs
 * @gradient_ppm: smoothed gradient, millionths
 * @source:	enum timely_source
 * @by_rule:	profile auto
 * @app_limited: it sends less than its rate
 */
struct timely_snapshot {
	u64	rate_bps;
	u64	rtt_ns;
	u64	min_rtt_ns;
	u64	line_bps;
	u32	rtts;
	s32	gradient_ppm;
	u8	source;
	bool	by_rule;
	bool	app_limited;
};

/* timely_tcp.c */
int timely_tcp_register(void);
void timely_tcp_unregister(void);
bool timely_runs(const struct sock *sk);
bool timely_sock_snapshot(struct sock *sk, struct timely_snapshot *snap);

/* timely_genl.c */
int timely_genl_register(void);
void timely_genl_unregister(void);

#endif /* _TIMELY_H */
