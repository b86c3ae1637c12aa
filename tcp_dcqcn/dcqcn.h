/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tcp_dcqcn: shared by the parts of the module.
 *
 * dcqcn_core.h	the reaction point, integers only
 * mercury_window.h	the window that a switch tells a flow, integers only
 * ecn_echo.h	(include/) one echo for each mark, integers only
 * cc_sock.h	(include/) helpers that paced congestion controls share
 * dcqcn_tcp.c	the tcp_congestion_ops: marks in, pacing rate out
 * dcqcn_cnp.c	CNPs of switches: tag, order, socket
 * dcqcn_net.c	per network namespace: parameters, devices, counters
 * dcqcn_trace.h	tracepoints
 *
 * Locking. Per-socket state belongs to the socket lock. Everything per namespace that a
 * socket reads on an ACK is lockless: the configuration is replaced as a whole under RCU,
 * the devices are refcounted, the counters are per CPU. Writers of the configuration
 * serialise on dcqcn_net.lock. Counts of switches, and CNPs that are kept, are under
 * dcqcn_net.cnp_lock, with bottom halves off.
 *
 * A socket of the kernel may outlive what its namespace has of us. So a namespace that goes
 * gives its sockets a configuration and counters that stay, and frees its own when none of
 * them can have them any more.
 */
#ifndef _DCQCN_H
#define _DCQCN_H

#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include <line_rate_types.h>
#include <net_params_types.h>
#include <or_proto.h>

#include "dcqcn_core.h"
#include "dcqcn_params.h"

/* Indices into dcqcn_conf.raw, in the order of dcqcn_params.h. */
enum dcqcn_param_id {
#define DCQCN_PARAM(id, name, min, max, def, unit, what, source) DCQCN_P_##id,
	DCQCN_PARAMS
#undef DCQCN_PARAM
	DCQCN_P_MAX
};

/*
 * Counters per namespace, in the order of /proc/net/dcqcn: DCQCN_STAT(id, name, what). They
 * count events since the namespace was made and never reset.
 */
#define DCQCN_STATS \
	DCQCN_STAT(STARTS, Starts, "flows that sent their first data, at the line rate") \
	DCQCN_STAT(MARKED, PacketsMarked, "acknowledged packets that came with CE") \
	DCQCN_STAT(UNMARKED, PacketsUnmarked, "acknowledged packets that came without CE") \
	DCQCN_STAT(CNPS, Cnps, \
		  "ACKs with marks that counted as a CNP, and CNPs of switches, that cut a rate") \
	DCQCN_STAT(TOO_SOON, MarksTooSoon, \
		  "ACKs with marks, and CNPs of switches, too soon after a CNP to cut a rate") \
	DCQCN_STAT(RECOVERIES, FastRecoveries, "increases toward the target rate") \
	DCQCN_STAT(ADDITIVES, AdditiveIncreases, \
		  "increases that raised the target rate by additive_mbit") \
	DCQCN_STAT(HYPERS, HyperIncreases, "increases that raised the target rate by hyper_mbit") \
	DCQCN_STAT(BY_BYTES, IncreasesByBytes, \
		  "of the increases of all three kinds, those of the byte counter") \
	DCQCN_STAT(ECHO_CE, PacketsWithCE, "received batches of data with CE, echoed by ECE") \
	DCQCN_STAT(ECHO_NO_CE, PacketsWithoutCE, "received batches of data without CE") \
	DCQCN_STAT(ECHO_FIRST, EchoFirst, \
		  "ACKs sent first, because CE changed while an ACK was delayed") \
	DCQCN_STAT(LOSS_CUTS, LossCuts, \
		  "rates halved by packet loss, at most once per round trip and flow") \
	DCQCN_STAT(TIMEOUT_CUTS, TimeoutCuts, "rates halved by a retransmission timeout") \
	DCQCN_STAT(UNDOS, Undos, "rates restored because TCP found a recovery to be spurious") \
	DCQCN_STAT(UNPACED, PacedByTcp, \
		  "times that packets left before their departure time, and TCP took over pacing") \
	DCQCN_STAT(DEFAULT_LINE, LineRateUnknown, \
		  "starts at the default line rate, because the device reports no speed") \
	DCQCN_STAT(NO_ECN, FallbackNoEcn, "connections without ECN, which run dcqcn-reno") \
	DCQCN_STAT(MPTCP, FallbackMptcp, "MPTCP subflows, which run dcqcn-reno") \
	DCQCN_STAT(CNP_TAKEN, SwitchCnps, "CNPs of switches that set a window") \
	DCQCN_STAT(CNP_ENDED, SwitchWindowsEnded, \
		  "windows of switches whose time was over, without another CNP") \
	DCQCN_STAT(CNP_BAD, SwitchCnpsMalformed, \
		  "CNPs of switches refused: malformed, or not sent to the flow's sender") \
	DCQCN_STAT(CNP_TAG, SwitchCnpsTag, \
		  "CNPs of switches refused: wrong tag, or no net.or_port.fabric_key") \
	DCQCN_STAT(CNP_OLD, SwitchCnpsReplayed, \
		  "CNPs of switches refused: not newer than the last one of that switch") \
	DCQCN_STAT(CNP_MEMORY, SwitchCnpsNoMemory, \
		  "CNPs of switches refused: no memory for the first one of a switch") \
	DCQCN_STAT(CNP_NO_FLOW, SwitchCnpsNoFlow, \
		  "CNPs of switches refused: about no connection with mercury") \
	DCQCN_STAT(CNP_BUSY, SwitchCnpsBusy, \
		  "CNPs of switches lost: connection in use for a second, or too many kept") \
	DCQCN_STAT(CNP_KEPT, SwitchCnpsKept, \
		  "CNPs of switches kept while a connection was in use; counted again later")

enum dcqcn_stat_id {
#define DCQCN_STAT(id, name, what) DCQCN_STAT_##id,
	DCQCN_STATS
#undef DCQCN_STAT
	DCQCN_STAT_MAX
};

struct dcqcn_stats {
	unsigned long cnt[DCQCN_STAT_MAX];
};

/**
 * struct dcqcn_conf - one immutable configuration of a namespace
 * @params:		in the units of dcqcn_core.h
 * @line_rate_bps:	configured line rate, bytes/s; 0: the device's own
 * @window_packets:	window; 0: none
 * @base_rtt_ns:	mercury: of the window without a CNP; 0: none
 * @segment_bytes:	bytes in one go at the line rate
 * @raw:		the values as they were written
 * @rcu:		readers are on the ACK path
 */
struct dcqcn_conf {
	struct dcqcn_params params;
	u64		line_rate_bps;
	u32		window_packets;
	u32		base_rtt_ns;
	u32		segment_bytes;
	u64		raw[DCQCN_P_MAX];
	struct rcu_head	rcu;
};

/**
 * struct dcqcn_net - the module's state in one network namespace
 * @conf:	configuration, replaced under @lock; once the namespace goes, one that stays
 * @lock:	serialises writers of @conf
 * @count:	where sockets count: @stats; once the namespace goes, nowhere. Read under RCU
 * @stats:	per-CPU counters
 * @rates:	egress devices
 * @params:	net.ipv4.dcqcn
 * @cnp_lock:	serialises the rest
 * @cnp_counts:	of each switch, by its number: count of its last CNP, u64
 * @kept:	struct dcqcn_kept by socket, %DCQCN_MAX_KEPT at most; whether a list is empty is
 *		read without the lock
 * @kept_many:	how many of them
 * @kept_work:	takes them where the flow itself does not
 */
struct dcqcn_net {
	struct dcqcn_conf __rcu		*conf;
	struct mutex			lock;	/* writers of conf */
	struct dcqcn_stats __percpu	*count;
	struct dcqcn_stats __percpu	*stats;
	struct line_rates		rates;
	struct net_params		params;
	spinlock_t			cnp_lock;	/* cnp_counts, kept, kept_many */
	struct xarray			cnp_counts;
	DECLARE_HASHTABLE(kept, 6);
	unsigned int			kept_many;
	struct delayed_work		kept_work;
};

extern unsigned int dcqcn_net_id;

static inline struct dcqcn_net *dcqcn_net(const struct net *net)
{
	return net_generic(net, dcqcn_net_id);
}

/* RCU: dcqcn_net_pre_exit() replaces the counters, and they are freed later. */
static inline void dcqcn_count_many(const struct dcqcn_net *dn, enum dcqcn_stat_id id, u32 many)
{
	rcu_read_lock();
	this_cpu_add(READ_ONCE(dn->count)->cnt[id], many);
	rcu_read_unlock();
}

static inline void dcqcn_count(const struct dcqcn_net *dn, enum dcqcn_stat_id id)
{
	dcqcn_count_many(dn, id, 1);
}

struct line_dev *dcqcn_dev_get(struct dcqcn_net *dn, int ifindex);
void dcqcn_dev_put(struct line_dev *dev);

int dcqcn_net_register(void);
void dcqcn_net_unregister(void);

/* Verdicts about a CNP of a switch. */
enum dcqcn_cnp_verdict {
	DCQCN_CNP_TAKEN,
	DCQCN_CNP_TAG,		/* wrong tag, or no key */
	DCQCN_CNP_OLD,		/* not newer than the last one of the switch */
	DCQCN_CNP_MEMORY,	/* none for the count of a switch */
	DCQCN_CNP_NO_FLOW,	/* no connection, or not with mercury */
	DCQCN_CNP_BUSY,		/* a process uses the connection, and it cannot be kept */
	DCQCN_CNP_KEPT,		/* a process uses the connection: later */
};

/* Most connections of a namespace with a kept CNP, and how long it is kept at most. */
#define DCQCN_MAX_KEPT		1024U
#define DCQCN_MAX_KEPT_NS	NSEC_PER_SEC

/**
 * struct dcqcn_kept - CNPs that came while a process used the connection
 * @node:	in dcqcn_net.kept
 * @sk:		the connection, with a reference
 * @cnp:	the last one
 * @at_ns:	when it came, by tcp_clock_ns()
 * @many:	how many came
 */
struct dcqcn_kept {
	struct hlist_node	node;
	struct sock		*sk;
	struct or_cnp		cnp;
	u64			at_ns;
	u32			many;
};

/* dcqcn_tcp.c */
enum dcqcn_cnp_verdict dcqcn_told(struct sock *sk, const struct or_cnp *cnp, u32 *cwnd);
bool dcqcn_told_late(const struct dcqcn_kept *kept);

/* dcqcn_cnp.c */
void dcqcn_cnp_net_init(struct dcqcn_net *dn);
void dcqcn_cnp_net_exit(struct dcqcn_net *dn);
enum dcqcn_cnp_verdict dcqcn_cnp_keep(struct dcqcn_net *dn, struct sock *sk,
				      const struct or_cnp *cnp, u64 now_ns);
struct dcqcn_kept *dcqcn_cnp_unkeep(struct dcqcn_net *dn, const struct sock *sk);
void dcqcn_cnp_free(struct dcqcn_kept *kept);
int dcqcn_cnp_register(void);
void dcqcn_cnp_unregister(void);

/* dcqcn_cnp_is_kept() - may there be a CNP to take? No lock; one that is missed comes later. */
static inline bool dcqcn_cnp_is_kept(const struct dcqcn_net *dn, const struct sock *sk)
{
	return !hlist_empty(&dn->kept[hash_ptr(sk, HASH_BITS(dn->kept))]);
}

#endif /* _DCQCN_H */
