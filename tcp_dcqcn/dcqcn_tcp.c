// SPDX-License-Identifier: GPL-2.0
/*
 * DCQCN, the congestion control of RoCE v2, for TCP
 *
 * A flow has a rate and no window. It starts at the line rate. An echo of a mark cuts the rate,
 * at most every 50 us; timers and bytes sent raise it again (dcqcn_core.h):
 *
 * `mercury` is the same, and heeds CNPs that switches send themselves. Each has a window, which
 * limits the flow beside its rate until no CNP has come for a while (mercury_window.h):
 *
 *	on CNP of a switch:  dcqcn_rcv_cnp()  as an echo of a mark; window -> cwnd
 *
 * Papers: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015;
 * He et al., "Mercury", Journal of Cloud Computing 13:72, 2024.
 *
 * Differences from the paper, because TCP is not RoCE:
 *  - There is no CNP on the wire. The receiver echoes each mark in its ACKs. The sender takes
 *    one for a CNP unless one came less than cnp_interval_ns (50 us) ago, as the notification
 *    point of the receiver's NIC would. The interval is that of ACKs' arrivals.
 *  - CNPs have no priority of their own: an echo waits where ACKs wait.
 *  - Timers are not timers: each ACK evaluates them, and the first data after silence.
 *  - Bytes sent are those that TCP has sent, retransmissions among them; data for
 *    61 us may wait in a qdisc.
 *  - Loss halves the rate once per round trip. Undone when TCP finds it was spurious. Lost
 *    data is repaired at one packet for each round trip at least.
 *  - window_packets can set a window. TCP's first ten packets have one: before there is an
 *    RTT, and after a timeout.
 *  - Several packets leave in one go at the line rate, see dcqcn_burst().
 *  - TCP does not pace the first ten packets of a connection.
 *
 * Deployment: where switches mark, and all flows that share a queue use it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <net/tcp.h>

#include <onramp_version.h>

#include "dcqcn.h"
#include "mercury_window.h"

#define CREATE_TRACE_POINTS
#include "dcqcn_trace.h"

#define trace_cc_echo		trace_dcqcn_echo
#define trace_cc_fallback	trace_dcqcn_fallback
#define trace_cc_unpaced	trace_dcqcn_unpaced

/**
 * struct cc_law_sock - DCQCN's state of a socket
 * @flow:	the reaction point
 * @undo_bps:	its rate before the current recovery, bytes/s; 0: none
 * @window:	mercury: of a switch, as of flow.now_ns
 */
struct cc_law_sock {
	struct dcqcn_flow flow;
	u64		undo_bps;
	struct mercury_window window;
};

#include <cc_ecn.h>

/* Laws, each with a name of its own. */
enum dcqcn_law {
	DCQCN_LAW_DCQCN,
	DCQCN_LAW_MERCURY,
	DCQCN_LAWS
};

static struct tcp_congestion_ops dcqcn_ops[DCQCN_LAWS];

/* The configuration, from values that are in their ranges. */
static void dcqcn_build(struct cc_law_conf *conf, const u64 *raw)
{
	conf->base_rtt_ns = raw[CC_P_BASE_RTT];
	conf->params = (struct dcqcn_params) {
		.min_bps = raw[CC_P_MIN_RATE] * LINE_RATE_MBIT / 1000,
		.ai_bps = raw[CC_P_AI] * LINE_RATE_MBIT,
		.hai_bps = raw[CC_P_HAI] * LINE_RATE_MBIT,
		.cnp_ns = raw[CC_P_CNP],
		.alpha_ns = raw[CC_P_ALPHA],
		.timer_ns = raw[CC_P_TIMER],
		.bytes = raw[CC_P_BYTES],
		.g_shift = raw[CC_P_G],
		.stages = raw[CC_P_STAGES],
	};
}

/* The line rate as a flow has it, bytes/s, never 0: it is divided by. */
static u64 dcqcn_cap(const struct sock *sk, const struct cc_conf *conf)
{
	return max_t(u64, cc_cap(sk, cc_line_bps(sk, conf)), 1);
}

static bool dcqcn_is_mercury(const struct sock *sk)
{
	/* A process that uses the socket may change it meanwhile. */
	return READ_ONCE(inet_csk(sk)->icsk_ca_ops) == &dcqcn_ops[DCQCN_LAW_MERCURY];
}

/* Mercury's window: that of the last CNP; else C * base RTT, if that is known. */
static u32 dcqcn_mercury_limit(const struct sock *sk, const struct cc_conf *conf)
{
	const struct cc_law_sock *ds = cc_law_sk(sk);
	u32 frame = cc_wire_bytes(sk, cc_mss(sk));

	if (ds->window.bytes)
		return mercury_packets(&ds->window, frame);
	if (!conf->law.base_rtt_ns)
		return S32_MAX;
	return mercury_initial(cc_line_bps(sk, conf), conf->law.base_rtt_ns, frame,
			       cc_segment(sk, conf));
}

/* The limit of packets in flight: none, unless there is a window. */
static u32 dcqcn_cwnd_limit(const struct sock *sk, const struct cc_conf *conf)
{
	u32 limit = conf->window_packets;

	/* Without an RTT, TCP's own first window. */
	if (!limit)
		limit = tcp_min_rtt(tcp_sk(sk)) == ~0U ? TCP_INIT_CWND : S32_MAX;
	if (dcqcn_is_mercury(sk))
		limit = min(limit, dcqcn_mercury_limit(sk, conf));
	return limit;
}

/* Apply the rate, and how much leaves in one go. */
static void dcqcn_pace(struct sock *sk, const struct cc_conf *conf, u64 cap_bps)
{
	u64 bps = cc_law_sk(sk)->flow.rate_bps;

	cc_set_rate(sk, bps);
	cc_bound_segment(sk, dcqcn_burst(cc_segment(sk, conf), bps, cap_bps));
}

/* Apply and report a rate that was set for another reason than marks and timers. */
static void dcqcn_set(struct sock *sk, const struct cc_conf *conf, enum dcqcn_why why,
		      u64 old_bps, u64 cap_bps)
{
	dcqcn_pace(sk, conf, cap_bps);
	trace_dcqcn_set(sk, why, old_bps, &cc_law_sk(sk)->flow, cap_bps);
}

/*
 * Run the timers and the byte counter up to now. Then take marks, or a switch's CNP
 * (@notified), for a CNP, unless the last one is too recent.
 */
static void dcqcn_evaluate(struct sock *sk, const struct cc_conf *conf, u64 now_ns, u32 marked,
			   u32 unmarked, bool notified)
{
	struct cc_law_sock *ds = cc_law_sk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	struct cc_net *cn = cc_sock_net(sk);
	u64 cap_bps = dcqcn_cap(sk, conf);
	struct dcqcn_flow old = ds->flow;
	struct dcqcn_steps steps;
	bool cnp = false;
	int i;

	BUILD_BUG_ON(CC_STAT_HYPERS - CC_STAT_RECOVERIES != DCQCN_HYPER - DCQCN_RECOVERY);

	if (mercury_pass(&ds->window, now_ns - min(now_ns, old.now_ns)))
		cc_count(cn, CC_STAT_CNP_ENDED);
	dcqcn_run(&ds->flow, &conf->law.params, cap_bps, now_ns, (u32)tp->bytes_sent, &steps);
	for (i = 0; i < DCQCN_STAGES; i++)
		if (steps.stage[i])
			cc_count_many(cn, CC_STAT_RECOVERIES + i, steps.stage[i]);
	if (steps.bytes)
		cc_count_many(cn, CC_STAT_BY_BYTES, steps.bytes);
	if (marked || notified) {
		cnp = dcqcn_cnp(&ds->flow, &conf->law.params, cap_bps, (u32)tp->bytes_sent);
		cc_count(cn, cnp ? CC_STAT_CNPS : CC_STAT_TOO_SOON);
	}
	dcqcn_pace(sk, conf, cap_bps);
	if (marked || notified || steps.timer || steps.bytes || steps.decays ||
	    ds->flow.rate_bps != old.rate_bps)
		trace_dcqcn_update(sk, &old, &ds->flow, &steps, marked, unmarked, cnp, cap_bps,
				   tcp_snd_cwnd(tp));
}

static void dcqcn_init(struct sock *sk, const struct cc_conf *conf)
{
	u64 cap_bps = dcqcn_cap(sk, conf);

	dcqcn_start(&cc_law_sk(sk)->flow, cap_bps, tcp_sk(sk)->tcp_clock_cache);
	dcqcn_pace(sk, conf, cap_bps);
}

static void dcqcn_first_data(struct sock *sk, const struct cc_conf *conf)
{
	u64 cap_bps = dcqcn_cap(sk, conf);

	dcqcn_start(&cc_law_sk(sk)->flow, cap_bps, tcp_sk(sk)->tcp_clock_cache);
	dcqcn_set(sk, conf, DCQCN_WHY_START, 0, cap_bps);
}

/* The timers ran while the flow was idle. */
static void dcqcn_resume(struct sock *sk, const struct cc_conf *conf)
{
	dcqcn_evaluate(sk, conf, tcp_sk(sk)->tcp_clock_cache, 0, 0, false);
}

static void dcqcn_save(struct sock *sk)
{
	struct cc_law_sock *ds = cc_law_sk(sk);

	ds->undo_bps = ds->flow.rate_bps;
}

static void dcqcn_cut(struct sock *sk, const struct cc_conf *conf, bool timeout)
{
	struct cc_law_sock *ds = cc_law_sk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 cap_bps = dcqcn_cap(sk, conf);
	u64 old_bps;

	/* Until then the timers ran. */
	dcqcn_evaluate(sk, conf, tp->tcp_clock_cache, 0, 0, false);
	old_bps = ds->flow.rate_bps;
	dcqcn_lost(&ds->flow, &conf->law.params, cap_bps, (u32)tp->bytes_sent);
	dcqcn_set(sk, conf, timeout ? DCQCN_WHY_TIMEOUT : DCQCN_WHY_LOSS, old_bps, cap_bps);
}

static bool dcqcn_undo_cut(struct sock *sk, const struct cc_conf *conf)
{
	struct cc_law_sock *ds = cc_law_sk(sk);
	u64 old_bps = ds->flow.rate_bps;
	bool lower = ds->undo_bps > old_bps;

	if (lower) {
		dcqcn_undo(&ds->flow, ds->undo_bps);
		dcqcn_set(sk, conf, DCQCN_WHY_UNDO, old_bps, dcqcn_cap(sk, conf));
	}
	ds->undo_bps = 0;
	return lower;
}

/* Cut the rate, and set the window, by a CNP that came at @at_ns. Under RCU. */
static void dcqcn_notify(struct sock *sk, const struct cc_conf *conf, const struct or_cnp *cnp,
			 u64 at_ns)
{
	u64 now_ns = max(tcp_clock_ns(), tcp_sk(sk)->tcp_clock_cache);
	struct cc_law_sock *ds = cc_law_sk(sk);

	dcqcn_evaluate(sk, conf, now_ns, 0, 0, true);
	mercury_notify(&ds->window, cnp->window, cnp->hold_us);
	/* The time that it was kept. */
	if (mercury_pass(&ds->window, now_ns - min(now_ns, at_ns)))
		cc_count(cc_sock_net(sk), CC_STAT_CNP_ENDED);
	cc_set_cwnd(sk, conf, 0);
}

/* Is it a flow that CNPs of switches are for? */
static bool dcqcn_heeds_cnps(const struct sock *sk)
{
	return dcqcn_is_mercury(sk) && (cc_sk(sk)->flags & CC_F_STARTED);
}

/* Obey the CNPs that came while a process used the connection. */
static void dcqcn_take_kept(struct sock *sk, const struct dcqcn_kept *kept)
{
	struct cc_net *cn = cc_sock_net(sk);

	if (!dcqcn_heeds_cnps(sk)) {
		cc_count_many(cn, CC_STAT_CNP_NO_FLOW, kept->many);
		return;
	}
	rcu_read_lock();
	dcqcn_notify(sk, rcu_dereference(cn->conf), &kept->cnp, kept->at_ns);
	rcu_read_unlock();
	cc_count_many(cn, CC_STAT_CNP_TAKEN, kept->many);
	trace_dcqcn_cnp(&kept->cnp, DCQCN_CNP_TAKEN, tcp_snd_cwnd(tcp_sk(sk)));
}

/* Before data is sent: obey a CNP that is kept. */
static void dcqcn_check_kept(struct sock *sk)
{
	struct cc_net *cn = cc_sock_net(sk);
	struct dcqcn_kept *kept;

	if (!dcqcn_cnp_is_kept(cn, sk))
		return;
	kept = dcqcn_cnp_unkeep(cn, sk);
	if (!kept)
		return;
	dcqcn_take_kept(sk, kept);
	dcqcn_cnp_free(kept);
}

static void dcqcn_acked(struct sock *sk, const struct cc_conf *conf, u32 marked, u32 unmarked,
			u32 acked)
{
	dcqcn_evaluate(sk, conf, tcp_sk(sk)->tcp_clock_cache, marked, unmarked, false);
	cc_set_cwnd(sk, conf, acked);
}

/* Of 1024, as DCTCP's. */
static u32 dcqcn_alpha(const struct sock *sk)
{
	/* data_race: the value shown may be old, and nothing depends on it */
	return data_race(cc_law_sk(sk)->flow.alpha) >> (Q30_SHIFT - 10);
}

/* Try again to give a flow its CNP: see dcqcn_cnp_ops.retry. */
static bool dcqcn_rcv_kept(const struct dcqcn_kept *kept)
{
	struct sock *sk = kept->sk;
	bool done = false;

	local_bh_disable();
	bh_lock_sock(sk);
	if (!sock_owned_by_user(sk)) {
		dcqcn_take_kept(sk, kept);
		done = true;
	}
	bh_unlock_sock(sk);
	local_bh_enable();
	return done;
}

/*
 * A CNP of a switch came: see dcqcn_cnp_ops.rcv. A process that has the socket may be about to give
 * it another congestion control. Then the socket's state is not ours to touch, and the CNP is kept.
 */
static enum dcqcn_cnp_verdict dcqcn_rcv_cnp(struct sock *sk, const struct or_cnp *cnp, u32 *cwnd)
{
	struct cc_net *cn = cc_sock_net(sk);
	enum dcqcn_cnp_verdict verdict = DCQCN_CNP_NO_FLOW;
	u64 now_ns = tcp_clock_ns();

	bh_lock_sock(sk);
	if (sock_owned_by_user(sk)) {
		if (dcqcn_is_mercury(sk))
			verdict = dcqcn_cnp_keep(cn, sk, cnp, now_ns);
		goto unlock;
	}
	if (!dcqcn_heeds_cnps(sk))
		goto unlock;
	rcu_read_lock();
	dcqcn_notify(sk, rcu_dereference(cn->conf), cnp, now_ns);
	rcu_read_unlock();
	*cwnd = tcp_snd_cwnd(tcp_sk(sk));
	verdict = DCQCN_CNP_TAKEN;
unlock:
	bh_unlock_sock(sk);
	return verdict;
}

static const struct dcqcn_cnp_ops dcqcn_cnp_ops = {
	.rcv		= dcqcn_rcv_cnp,
	.retry		= dcqcn_rcv_kept,
};

static const struct cc_law cc_law = {
	.build		= dcqcn_build,
	.net_init	= dcqcn_cnp_net_init,
	.net_exit	= dcqcn_cnp_net_exit,
	.init		= dcqcn_init,
	.start		= dcqcn_first_data,
	.resume		= dcqcn_resume,
	.window		= dcqcn_cwnd_limit,
	.acked		= dcqcn_acked,
	.save		= dcqcn_save,
	.cut		= dcqcn_cut,
	.undo		= dcqcn_undo_cut,
	.send		= dcqcn_check_kept,
	.alpha		= dcqcn_alpha,
};

/* One for each law. */
static struct tcp_congestion_ops dcqcn_ops[DCQCN_LAWS] __read_mostly = {
	[DCQCN_LAW_DCQCN]	= CC_OPS("dcqcn"),
	[DCQCN_LAW_MERCURY]	= CC_OPS("mercury"),
};

static int __init dcqcn_module_init(void)
{
	int err;

	err = cc_register(dcqcn_ops, DCQCN_LAWS);
	if (err)
		return err;
	/* Last: it looks for sockets that have one of them. */
	err = dcqcn_cnp_register(&dcqcn_cnp_ops);
	if (err)
		cc_unregister(dcqcn_ops, DCQCN_LAWS);
	return err;
}

static void __exit dcqcn_module_exit(void)
{
	dcqcn_cnp_unregister();
	cc_unregister(dcqcn_ops, DCQCN_LAWS);
}

/* Built in, after or_port. */
late_initcall_sync(dcqcn_module_init);
module_exit(dcqcn_module_exit);

MODULE_DESCRIPTION("DCQCN, Mercury: congestion control of RoCE v2");
MODULE_AUTHOR("The onramp authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(ONRAMP_VERSION);
/* The kernel asks for tcp_NAME, as it is in a socket option. */
MODULE_ALIAS("tcp_mercury");
