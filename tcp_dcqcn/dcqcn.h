/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tcp_dcqcn: what cc_ecn_types.h makes its types of, and CNPs of switches.
 *
 * dcqcn_core.h	the reaction point, integers only
 * mercury_window.h	the window that a switch gives a flow, integers only
 * dcqcn_tcp.c	the law as cc_ecn.h takes it: marks in, pacing rate out
 * dcqcn_cnp.c	CNPs of switches: tag, order, socket
 * dcqcn_trace.h	tracepoints
 * cc_ecn.h	(include/) all the rest of a congestion control that counts marks
 *
 * Locking, besides that of cc_ecn_types.h: counts of switches, and CNPs that are kept, are under
 * cc_law_net.cnp_lock, with bottom halves off.
 */
#ifndef _DCQCN_H
#define _DCQCN_H

#include <linux/hashtable.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <or_proto.h>

#include "dcqcn_core.h"
#include "dcqcn_params.h"

#define CC_NAME		"dcqcn"
#define cc_net_id	dcqcn_net_id

/* Counters of /proc/net/dcqcn. */
#define CC_STAT_LIST \
	CC_STAT(STARTS, Starts, "flows that sent their first data, at the line rate") \
	CC_STAT(MARKED, PacketsMarked, "acknowledged packets that came with CE") \
	CC_STAT(UNMARKED, PacketsUnmarked, "acknowledged packets that came without CE") \
	CC_STAT(CNPS, Cnps, \
		  "ACKs with marks that counted as a CNP, and CNPs of switches, that cut a rate") \
	CC_STAT(TOO_SOON, MarksTooSoon, \
		  "ACKs with marks, and CNPs of switches, too soon after a CNP to cut a rate") \
	CC_STAT(RECOVERIES, FastRecoveries, "increases toward the target rate") \
	CC_STAT(ADDITIVES, AdditiveIncreases, \
		  "increases that raised the target rate by additive_mbit") \
	CC_STAT(HYPERS, HyperIncreases, "increases that raised the target rate by hyper_mbit") \
	CC_STAT(BY_BYTES, IncreasesByBytes, \
		  "of the increases of all three kinds, those of the byte counter") \
	CC_STAT(ECHO_CE, PacketsWithCE, "received batches of data with CE, echoed by ECE") \
	CC_STAT(ECHO_NO_CE, PacketsWithoutCE, "received batches of data without CE") \
	CC_STAT(ECHO_FIRST, EchoFirst, \
		  "ACKs sent first, because CE changed while an ACK was delayed") \
	CC_STAT(LOSS_CUTS, LossCuts, \
		  "rates halved by packet loss, at most once per round trip and flow") \
	CC_STAT(TIMEOUT_CUTS, TimeoutCuts, "rates halved by a retransmission timeout") \
	CC_STAT(UNDOS, Undos, "rates restored because TCP found a recovery to be spurious") \
	CC_STAT(UNPACED, PacedByTcp, \
		  "times that packets left before their departure time, and TCP took over pacing") \
	CC_STAT(DEFAULT_LINE, LineRateUnknown, \
		  "starts at the default line rate, because the device reports no speed") \
	CC_STAT(NO_ECN, FallbackNoEcn, "connections without ECN, which run dcqcn-reno") \
	CC_STAT(MPTCP, FallbackMptcp, "MPTCP subflows, which run dcqcn-reno") \
	CC_STAT(CNP_TAKEN, SwitchCnps, "CNPs of switches that set a window") \
	CC_STAT(CNP_ENDED, SwitchWindowsEnded, \
		  "windows of switches whose time was over, without another CNP") \
	CC_STAT(CNP_BAD, SwitchCnpsMalformed, \
		  "CNPs of switches refused: malformed, or not sent to the flow's sender") \
	CC_STAT(CNP_TAG, SwitchCnpsTag, \
		  "CNPs of switches refused: wrong tag, or no net.or_port.fabric_key") \
	CC_STAT(CNP_OLD, SwitchCnpsReplayed, \
		  "CNPs of switches refused: not newer than the last one of that switch") \
	CC_STAT(CNP_MEMORY, SwitchCnpsNoMemory, \
		  "CNPs of switches refused: no memory for the first one of a switch") \
	CC_STAT(CNP_NO_FLOW, SwitchCnpsNoFlow, \
		  "CNPs of switches refused: about no connection with mercury") \
	CC_STAT(CNP_BUSY, SwitchCnpsBusy, \
		  "CNPs of switches lost: connection in use for a second, or too many kept") \
	CC_STAT(CNP_KEPT, SwitchCnpsKept, \
		  "CNPs of switches kept while a connection was in use; counted again later")

/**
 * struct cc_law_conf - DCQCN's part of a configuration
 * @params:		in the units of dcqcn_core.h
 * @base_rtt_ns:	mercury: of the window without a CNP; 0: none
 */
struct cc_law_conf {
	struct dcqcn_params params;
	u32		base_rtt_ns;
};

/**
 * struct cc_law_net - CNPs of switches in one network namespace
 * @cnp_lock:	serialises the rest
 * @cnp_counts:	of each switch, by its number: count of its last CNP, u64
 * @kept:	struct dcqcn_kept by socket, %DCQCN_MAX_KEPT at most; whether a list is empty is
 *		read without the lock
 * @kept_many:	how many of them
 * @kept_work:	takes them where the flow itself does not
 */
struct cc_law_net {
	spinlock_t		cnp_lock;	/* cnp_counts, kept, kept_many */
	struct xarray		cnp_counts;
	DECLARE_HASHTABLE(kept, 6);
	unsigned int		kept_many;
	struct delayed_work	kept_work;
};

#include <cc_ecn_types.h>

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
 * @node:	in cc_law_net.kept
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

/**
 * struct dcqcn_cnp_ops - how a connection handles its CNPs
 * @rcv: take the CNP of a switch and set the last argument to the limit of packets in flight, or
 *	keep it by dcqcn_cnp_keep(); bottom halves off
 * @retry: take one that was kept; false: a process still uses the connection. Process context
 */
struct dcqcn_cnp_ops {
	enum dcqcn_cnp_verdict (*rcv)(struct sock *sk, const struct or_cnp *cnp, u32 *cwnd);
	bool (*retry)(const struct dcqcn_kept *kept);
};

/* dcqcn_cnp.c */
void dcqcn_cnp_net_init(struct cc_net *cn);
void dcqcn_cnp_net_exit(struct cc_net *cn);
enum dcqcn_cnp_verdict dcqcn_cnp_keep(struct cc_net *cn, struct sock *sk,
				      const struct or_cnp *cnp, u64 now_ns);
struct dcqcn_kept *dcqcn_cnp_unkeep(struct cc_net *cn, const struct sock *sk);
void dcqcn_cnp_free(struct dcqcn_kept *kept);
int dcqcn_cnp_register(const struct dcqcn_cnp_ops *ops);
void dcqcn_cnp_unregister(void);

/* dcqcn_cnp_is_kept() - may there be a CNP to take? No lock; one that is missed comes later. */
static inline bool dcqcn_cnp_is_kept(const struct cc_net *cn, const struct sock *sk)
{
	return !hlist_empty(&cn->law.kept[hash_ptr(sk, HASH_BITS(cn->law.kept))]);
}

#endif /* _DCQCN_H */
