// SPDX-License-Identifier: GPL-2.0
/*
 * DCQCN, the congestion control of RoCE v2, for TCP
 *
 * A flow has a rate and no window. It starts at the line rate. An echo of a mark cuts the rate,
 * at most every 50 us; timers and bytes sent raise it again (dcqcn_core.h):
 *
 *	on data with CE:  cwnd_event()     receiver: an ACK at once, with ECE
 *	on ACK:           cong_control()   timers, bytes, is it a CNP? -> rate, pacing
 *	on send:          TX_START         first data: line rate; after silence: timers
 *	on loss:          set_state()      fallback, once per round trip
 *
 *	connection without ECN, MPTCP --> dcqcn-reno
 *
 * `mercury` is the same, and heeds CNPs that switches send themselves. Each has a window, which
 * limits the flow beside its rate until no CNP has come for a while (mercury_window.h):
 *
 *	on CNP of a switch:  dcqcn_told()  as an echo of a mark; window -> cwnd
 *
 * Papers: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015;
 * He et al., "Mercury", Journal of Cloud Computing 13:72, 2024.
 *
 * Each mark has to be echoed: TCP_CONG_NEEDS_ECN negotiates ECN in the handshake, and both
 * ends run this, or another congestion control that echoes each mark.
 *
 * Pacing is done by fq or another qdisc that paces, else by TCP itself, also where such a
 * qdisc is replaced by one that does not.
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

#include <linux/inet_diag.h>
#include <linux/module.h>
#include <net/inet_ecn.h>
#include <net/mptcp.h>
#include <net/tcp.h>

#include "cc_sock.h"
#include "ecn_echo.h"
#include "dcqcn.h"
#include "mercury_window.h"

#define CREATE_TRACE_POINTS
#include "dcqcn_trace.h"

/* struct dcqcn_sock.flags */
#define DCQCN_F_INIT	BIT(0)	/* init() has run, release() must undo */
#define DCQCN_F_STARTED	BIT(1)	/* has sent data */
#define DCQCN_F_CUT	BIT(2)	/* cut_seq is valid, and after snd_una */

/**
 * struct dcqcn_sock - congestion control state of a socket
 * @flow:	the reaction point
 * @undo_bps:	its rate before the current recovery, bytes/s; 0: none
 * @dev:	egress device, with a reference; NULL: unknown
 * @echo:	ECN, as receiver and as sender
 * @packets:	packets acknowledged, for get_info()
 * @marked:	of those, with CE
 * @cut_seq:	snd_nxt at the last loss cut: not again before it is ACKed
 * @told:	mercury: by a switch, as of flow.now_ns
 * @flags:	DCQCN_F_*
 *
 * Under the socket lock; get_info() alone reads without it.
 */
struct dcqcn_sock {
	struct dcqcn_flow flow;
	u64		undo_bps;
	struct line_dev	*dev;
	struct ecn_echo	echo;
	u32		packets;
	u32		marked;
	u32		cut_seq;
	struct mercury_window told;
	u8		flags;
};

/* Laws, each with a name of its own. */
enum dcqcn_law {
	DCQCN_LAW_DCQCN,
	DCQCN_LAW_MERCURY,
	DCQCN_LAWS
};

static struct tcp_congestion_ops dcqcn_ops[DCQCN_LAWS];
static struct tcp_congestion_ops dcqcn_reno;

static struct dcqcn_sock *dcqcn_sk(const struct sock *sk)
{
	return inet_csk_ca(sk);
}

static struct dcqcn_net *dcqcn_sock_net(const struct sock *sk)
{
	return dcqcn_net(sock_net(sk));
}

/* The line rate as a flow has it, bytes/s, never 0: it is divided by. */
static u64 dcqcn_cap(const struct sock *sk, const struct dcqcn_conf *conf)
{
	return max_t(u64, cc_cap(sk, line_rate_bps(dcqcn_sk(sk)->dev, conf->line_rate_bps)), 1);
}

/* Packets that leave in one go at the line rate. */
static u32 dcqcn_segment(const struct sock *sk, const struct dcqcn_conf *conf)
{
	return clamp_t(u32, conf->segment_bytes / cc_mss(sk), 1, GSO_MAX_SEGS);
}

static bool dcqcn_is_mercury(const struct sock *sk)
{
	/* A process that uses the socket may change it meanwhile. */
	return READ_ONCE(inet_csk(sk)->icsk_ca_ops) == &dcqcn_ops[DCQCN_LAW_MERCURY];
}

/* Mercury's window: that of the last CNP; else C * base RTT, if that is known. */
static u32 dcqcn_mercury_limit(const struct sock *sk, const struct dcqcn_conf *conf)
{
	const struct dcqcn_sock *ds = dcqcn_sk(sk);
	u32 frame = cc_wire_bytes(sk, cc_mss(sk));

	if (ds->told.bytes)
		return mercury_packets(&ds->told, frame);
	if (!conf->base_rtt_ns)
		return S32_MAX;
	return mercury_initial(line_rate_bps(ds->dev, conf->line_rate_bps), conf->base_rtt_ns,
			       frame, dcqcn_segment(sk, conf));
}

/* The limit of packets in flight: none but of memory, unless there is a window. */
static u32 dcqcn_cwnd_limit(const struct sock *sk, const struct dcqcn_conf *conf)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 limit = conf->window_packets;

	/* Without an RTT, TCP's own first window. */
	if (!limit)
		limit = tcp_min_rtt(tp) == ~0U ? TCP_INIT_CWND : S32_MAX;
	if (dcqcn_is_mercury(sk))
		limit = min(limit, dcqcn_mercury_limit(sk, conf));
	return max(min3(limit, cc_max_packets(sk), tp->snd_cwnd_clamp), 1U);
}

/* Apply the rate, and how much leaves in one go. */
static void dcqcn_pace(struct sock *sk, const struct dcqcn_conf *conf, u64 cap_bps)
{
	u64 bps = dcqcn_sk(sk)->flow.rate_bps;
	u64 rate = max(bps, cc_repair_bps(sk));

	rate = min_t(u64, rate, READ_ONCE(sk->sk_max_pacing_rate));
	/* Read locklessly by the qdisc. */
	WRITE_ONCE(sk->sk_pacing_rate, rate);
	cc_bound_segment(sk, dcqcn_burst(dcqcn_segment(sk, conf), bps, cap_bps));
}

/* The rate is the control; cwnd is a limit, but after a timeout. */
static void dcqcn_set_cwnd(struct sock *sk, const struct dcqcn_conf *conf, u32 acked)
{
	u32 limit = dcqcn_cwnd_limit(sk, conf);
	struct tcp_sock *tp = tcp_sk(sk);

	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Loss)
		limit = min(limit, tcp_snd_cwnd(tp) + acked);
	tcp_snd_cwnd_set(tp, max(limit, 1U));
}

/* Follow the route to its device. Without a route there is nothing better than the last. */
static void dcqcn_set_dev(struct sock *sk)
{
	struct dcqcn_sock *ds = dcqcn_sk(sk);
	int ifindex = cc_egress(sk);

	if (!ifindex || (ds->dev && ds->dev->ifindex == ifindex))
		return;
	if (ds->dev)
		dcqcn_dev_put(ds->dev);
	ds->dev = dcqcn_dev_get(dcqcn_sock_net(sk), ifindex);
}

/* Apply and report a rate that was set for another reason than marks and timers. */
static void dcqcn_set(struct sock *sk, const struct dcqcn_conf *conf, enum dcqcn_why why,
		      u64 old_bps, u64 cap_bps)
{
	dcqcn_pace(sk, conf, cap_bps);
	trace_dcqcn_set(sk, why, old_bps, &dcqcn_sk(sk)->flow, cap_bps);
}

/*
 * Run the timers and the byte counter up to now. Then take marks, or a switch's
 * window, for a CNP, unless the last one is too recent.
 */
static void dcqcn_evaluate(struct sock *sk, struct dcqcn_net *dn, const struct dcqcn_conf *conf,
			   u64 cap_bps, u64 now_ns, u32 marked, u32 unmarked, bool told)
{
	struct dcqcn_sock *ds = dcqcn_sk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	struct dcqcn_flow old = ds->flow;
	struct dcqcn_steps steps;
	bool cnp = false;
	int i;

	BUILD_BUG_ON(DCQCN_STAT_HYPERS - DCQCN_STAT_RECOVERIES != DCQCN_HYPER - DCQCN_RECOVERY);

	if (mercury_pass(&ds->told, now_ns - min(now_ns, old.now_ns)))
		dcqcn_count(dn, DCQCN_STAT_CNP_ENDED);
	dcqcn_run(&ds->flow, &conf->params, cap_bps, now_ns, (u32)tp->bytes_sent, &steps);
	for (i = 0; i < DCQCN_STAGES; i++)
		if (steps.stage[i])
			dcqcn_count_many(dn, DCQCN_STAT_RECOVERIES + i, steps.stage[i]);
	if (steps.bytes)
		dcqcn_count_many(dn, DCQCN_STAT_BY_BYTES, steps.bytes);
	if (marked || told) {
		cnp = dcqcn_cnp(&ds->flow, &conf->params, cap_bps, (u32)tp->bytes_sent);
		dcqcn_count(dn, cnp ? DCQCN_STAT_CNPS : DCQCN_STAT_TOO_SOON);
	}
	dcqcn_pace(sk, conf, cap_bps);
	if (marked || told || steps.timer || steps.bytes || steps.decays ||
	    ds->flow.rate_bps != old.rate_bps)
		trace_dcqcn_update(sk, &old, &ds->flow, &steps, marked, unmarked, cnp, cap_bps,
				   tcp_snd_cwnd(tp));
}

static void dcqcn_release(struct sock *sk)
{
	struct dcqcn_sock *ds = dcqcn_sk(sk);

	/* MPTCP's own socket is released without ever having been set up. */
	if (!(ds->flags & DCQCN_F_INIT))
		return;
	if (ds->flags & DCQCN_F_STARTED)
		cc_leave_window(sk, READ_ONCE(sk->sk_pacing_rate));
	if (ds->dev)
		dcqcn_dev_put(ds->dev);
	cc_unbound_segment(sk);
	sk_pacing_shift_update(sk, CC_PACING_SHIFT_DEFAULT);
	memset(ds, 0, sizeof(*ds));
}

/* Run Reno, which needs no ECN, and send no ECT: the peer would not echo marks. */
static void dcqcn_fall_back(struct sock *sk, enum dcqcn_fallback reason)
{
	BUILD_BUG_ON(DCQCN_STAT_MPTCP - DCQCN_STAT_NO_ECN !=
		     DCQCN_FALLBACK_MPTCP - DCQCN_FALLBACK_NO_ECN);

	dcqcn_count(dcqcn_sock_net(sk), DCQCN_STAT_NO_ECN + reason);
	trace_dcqcn_fallback(sk, reason);
	dcqcn_release(sk);
	/* Read locklessly by getsockopt() and inet_diag. */
	WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, &dcqcn_reno);
	INET_ECN_dontxmit(sk);
}

/* Data after none was in flight: a new flow, or one that was idle while its timers ran. */
static void dcqcn_tx_start(struct sock *sk)
{
	struct dcqcn_net *dn = dcqcn_sock_net(sk);
	struct dcqcn_sock *ds = dcqcn_sk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	const struct dcqcn_conf *conf;
	u64 cap_bps;

	/* Data in SYN goes out before init(). */
	if (!(ds->flags & DCQCN_F_INIT))
		return;
	/* Chosen between SYN and SYN-ACK, init() could not know yet. */
	if (!tcp_ecn_mode_any(tp)) {
		dcqcn_fall_back(sk, DCQCN_FALLBACK_NO_ECN);
		return;
	}
	dcqcn_set_dev(sk);
	cc_set_pacing_shift(sk, line_tx_wait_us(ds->dev));

	rcu_read_lock();
	conf = rcu_dereference(dn->conf);
	cap_bps = dcqcn_cap(sk, conf);
	if (!(ds->flags & DCQCN_F_STARTED)) {
		ds->flags |= DCQCN_F_STARTED;
		dcqcn_count(dn, DCQCN_STAT_STARTS);
		if (line_rate_unknown(ds->dev, conf->line_rate_bps))
			dcqcn_count(dn, DCQCN_STAT_DEFAULT_LINE);
		dcqcn_start(&ds->flow, cap_bps, tp->tcp_clock_cache);
		dcqcn_set(sk, conf, DCQCN_WHY_START, 0, cap_bps);
	} else {
		dcqcn_evaluate(sk, dn, conf, cap_bps, tp->tcp_clock_cache, 0, 0, false);
	}
	dcqcn_set_cwnd(sk, conf, 0);
	rcu_read_unlock();
}

/* The receiver of data: echo each mark, see ecn_echo.h. */
static void dcqcn_received(struct sock *sk, bool ce)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct dcqcn_net *dn = dcqcn_sock_net(sk);
	struct dcqcn_sock *ds = dcqcn_sk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	enum ecn_echo_verdict verdict;
	u32 first;

	dcqcn_count(dn, ce ? DCQCN_STAT_ECHO_CE : DCQCN_STAT_ECHO_NO_CE);
	verdict = ecn_echo_receive(&ds->echo, ce, tp->rcv_nxt,
				   icsk->icsk_ack.pending & ICSK_ACK_TIMER, &first);
	/* AccECN counts marks in the stack. */
	if (tcp_ecn_mode_rfc3168(tp)) {
		if (verdict == ECN_ECHO_FIRST) {
			if (ce)
				tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
			else
				tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
			compat_send_ack(sk, first);
			dcqcn_count(dn, DCQCN_STAT_ECHO_FIRST);
		}
		if (ce)
			tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
		else
			tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
	}
	if (verdict != ECN_ECHO_SAME)
		trace_dcqcn_echo(sk, ce, verdict == ECN_ECHO_FIRST, first);
	icsk->icsk_ack.pending |= ICSK_ACK_NOW;
}

static void dcqcn_event(struct sock *sk, enum tcp_ca_event event)
{
	if (!(dcqcn_sk(sk)->flags & DCQCN_F_INIT))
		return;
	if (event == CA_EVENT_ECN_IS_CE)
		dcqcn_received(sk, true);
	else if (event == CA_EVENT_ECN_NO_CE)
		dcqcn_received(sk, false);
}

COMPAT_CWND_EVENTS(dcqcn_event, dcqcn_tx_start);

static void dcqcn_init(struct sock *sk)
{
	struct dcqcn_sock *ds = dcqcn_sk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	const struct dcqcn_conf *conf;
	u64 cap_bps;

	BUILD_BUG_ON(sizeof(struct dcqcn_sock) > ICSK_CA_PRIV_SIZE);

	memset(ds, 0, sizeof(*ds));
	/* Each subflow would take a share of its own, beginning at the line rate. */
	if (sk_is_mptcp(sk)) {
		dcqcn_fall_back(sk, DCQCN_FALLBACK_MPTCP);
		return;
	}
	if (!tcp_ecn_mode_any(tp)) {
		dcqcn_fall_back(sk, DCQCN_FALLBACK_NO_ECN);
		return;
	}

	ds->flags = DCQCN_F_INIT;
	ecn_echo_start(&ds->echo, tp->rcv_nxt, tp->delivered, tp->delivered_ce);
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	/* fq and its like set SK_PACING_FQ themselves, at their first packet. */
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
	sk_pacing_shift_update(sk, CC_PACING_SHIFT);

	/* In the middle of a connection the start cannot wait for TX_START. */
	if (tp->packets_out) {
		dcqcn_tx_start(sk);
		return;
	}
	rcu_read_lock();
	conf = rcu_dereference(dcqcn_sock_net(sk)->conf);
	cap_bps = dcqcn_cap(sk, conf);
	dcqcn_start(&ds->flow, cap_bps, tp->tcp_clock_cache);
	dcqcn_pace(sk, conf, cap_bps);
	rcu_read_unlock();
}

/* TCP paces where no qdisc does any more, see cc_take_pacing(). */
static void dcqcn_check_pacing(struct sock *sk, struct dcqcn_net *dn,
			       const struct rate_sample *rs)
{
	u64 ahead_ns;

	if (READ_ONCE(sk->sk_pacing_status) != SK_PACING_FQ ||
	    !cc_take_pacing(sk, rs, &ahead_ns))
		return;
	trace_dcqcn_unpaced(sk, ahead_ns);
	dcqcn_count(dn, DCQCN_STAT_UNPACED);
}

/* The fallback cut: at a timeout always, at other losses once per round trip. */
static void dcqcn_cut(struct sock *sk, struct dcqcn_net *dn, const struct dcqcn_conf *conf,
		      bool timeout)
{
	struct dcqcn_sock *ds = dcqcn_sk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 cap_bps = dcqcn_cap(sk, conf);
	u64 old_bps;

	/* Recovery may begin before cong_control() sees that snd_una has passed. */
	if (!timeout && (ds->flags & DCQCN_F_CUT) && before(tp->snd_una, ds->cut_seq))
		return;
	ds->flags |= DCQCN_F_CUT;
	ds->cut_seq = tp->snd_nxt;
	dcqcn_count(dn, timeout ? DCQCN_STAT_TIMEOUT_CUTS : DCQCN_STAT_LOSS_CUTS);
	/* Until then the timers ran. */
	dcqcn_evaluate(sk, dn, conf, cap_bps, tp->tcp_clock_cache, 0, 0, false);
	old_bps = ds->flow.rate_bps;
	dcqcn_lost(&ds->flow, &conf->params, cap_bps, (u32)tp->bytes_sent);
	dcqcn_set(sk, conf, timeout ? DCQCN_WHY_TIMEOUT : DCQCN_WHY_LOSS, old_bps, cap_bps);
}

static void dcqcn_set_state(struct sock *sk, u8 new_state)
{
	struct dcqcn_net *dn = dcqcn_sock_net(sk);
	struct dcqcn_sock *ds = dcqcn_sk(sk);

	if (!(ds->flags & DCQCN_F_INIT) || new_state < TCP_CA_Recovery)
		return;
	if (inet_csk(sk)->icsk_ca_state < TCP_CA_Recovery)
		ds->undo_bps = ds->flow.rate_bps;
	rcu_read_lock();
	dcqcn_cut(sk, dn, rcu_dereference(dn->conf), new_state == TCP_CA_Loss);
	rcu_read_unlock();
	dcqcn_check_pacing(sk, dn, NULL);
}

/* Called by TCP when it finds that a recovery was for nothing. */
static u32 dcqcn_undo_cwnd(struct sock *sk)
{
	struct dcqcn_net *dn = dcqcn_sock_net(sk);
	struct dcqcn_sock *ds = dcqcn_sk(sk);
	u64 old_bps = ds->flow.rate_bps;
	const struct dcqcn_conf *conf;

	if (ds->undo_bps > old_bps) {
		ds->flags &= ~DCQCN_F_CUT;
		dcqcn_count(dn, DCQCN_STAT_UNDOS);
		rcu_read_lock();
		conf = rcu_dereference(dn->conf);
		dcqcn_undo(&ds->flow, ds->undo_bps);
		dcqcn_set(sk, conf, DCQCN_WHY_UNDO, old_bps, dcqcn_cap(sk, conf));
		rcu_read_unlock();
	}
	ds->undo_bps = 0;
	return max(tcp_snd_cwnd(tcp_sk(sk)), tcp_sk(sk)->prior_cwnd);
}

/* The packets that this ACK is the first to acknowledge. */
static void dcqcn_update(struct sock *sk, struct dcqcn_net *dn, const struct dcqcn_conf *conf,
			 u64 cap_bps)
{
	struct dcqcn_sock *ds = dcqcn_sk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 marked, unmarked;

	ecn_echo_take(&ds->echo, tp->delivered, tp->delivered_ce, &marked, &unmarked);
	/* get_info() reads them without the socket lock. */
	WRITE_ONCE(ds->packets, ds->packets + marked + unmarked);
	if (marked) {
		WRITE_ONCE(ds->marked, ds->marked + marked);
		dcqcn_count_many(dn, DCQCN_STAT_MARKED, marked);
	}
	if (unmarked)
		dcqcn_count_many(dn, DCQCN_STAT_UNMARKED, unmarked);
	dcqcn_evaluate(sk, dn, conf, cap_bps, tp->tcp_clock_cache, marked, unmarked, false);
}

/* Cut the rate, and set the window, by a CNP that came at @at_ns. Under RCU. */
static void dcqcn_obey(struct sock *sk, struct dcqcn_net *dn, const struct dcqcn_conf *conf,
		       const struct or_cnp *cnp, u64 at_ns)
{
	u64 now_ns = max(tcp_clock_ns(), tcp_sk(sk)->tcp_clock_cache);
	struct dcqcn_sock *ds = dcqcn_sk(sk);

	dcqcn_evaluate(sk, dn, conf, dcqcn_cap(sk, conf), now_ns, 0, 0, true);
	mercury_told(&ds->told, cnp->window, cnp->hold_us);
	/* The time that it was kept. */
	if (mercury_pass(&ds->told, now_ns - min(now_ns, at_ns)))
		dcqcn_count(dn, DCQCN_STAT_CNP_ENDED);
	dcqcn_set_cwnd(sk, conf, 0);
}

/* Is it a flow that CNPs of switches are for? */
static bool dcqcn_heeds_cnps(const struct sock *sk)
{
	return dcqcn_is_mercury(sk) && (dcqcn_sk(sk)->flags & DCQCN_F_STARTED);
}

/* Obey what was kept while a process used the connection. */
static void dcqcn_take_kept(struct sock *sk, const struct dcqcn_kept *kept)
{
	struct dcqcn_net *dn = dcqcn_sock_net(sk);

	if (!dcqcn_heeds_cnps(sk)) {
		dcqcn_count_many(dn, DCQCN_STAT_CNP_NO_FLOW, kept->many);
		return;
	}
	rcu_read_lock();
	dcqcn_obey(sk, dn, rcu_dereference(dn->conf), &kept->cnp, kept->at_ns);
	rcu_read_unlock();
	dcqcn_count_many(dn, DCQCN_STAT_CNP_TAKEN, kept->many);
	trace_dcqcn_cnp(&kept->cnp, DCQCN_CNP_TAKEN, tcp_snd_cwnd(tcp_sk(sk)));
}

/* At an ACK, and before data is sent. */
static void dcqcn_check_kept(struct sock *sk, struct dcqcn_net *dn)
{
	struct dcqcn_kept *kept;

	if (!dcqcn_cnp_is_kept(dn, sk))
		return;
	kept = dcqcn_cnp_unkeep(dn, sk);
	if (!kept)
		return;
	dcqcn_take_kept(sk, kept);
	dcqcn_cnp_free(kept);
}

static void dcqcn_cong_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct dcqcn_net *dn = dcqcn_sock_net(sk);
	struct dcqcn_sock *ds = dcqcn_sk(sk);
	const struct dcqcn_conf *conf;

	/* The ACK of the handshake comes before init(). */
	if (!(ds->flags & DCQCN_F_INIT))
		return;

	rcu_read_lock();
	conf = rcu_dereference(dn->conf);

	/* Later, it would be ahead again: sequence numbers wrap. */
	if (!before(tcp_sk(sk)->snd_una, ds->cut_seq))
		ds->flags &= ~DCQCN_F_CUT;
	if (rs->losses > 0 && inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery)
		dcqcn_cut(sk, dn, conf, false);
	dcqcn_check_pacing(sk, dn, rs);
	cc_check_pacing_shift(sk);
	dcqcn_update(sk, dn, conf, dcqcn_cap(sk, conf));
	dcqcn_check_kept(sk, dn);
	dcqcn_set_cwnd(sk, conf, rs->acked_sacked);
	rcu_read_unlock();
}

COMPAT_CONG_CONTROL(dcqcn_cong_control);

/**
 * dcqcn_told_late() - try again to tell a flow its window
 * @kept: CNP that was kept
 *
 * Context: process.
 * Return: whether it is done with; false: a process still uses the connection.
 */
bool dcqcn_told_late(const struct dcqcn_kept *kept)
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

/**
 * dcqcn_told() - a switch told a flow its window
 * @sk: TCP socket
 * @cnp: what it said
 * @cwnd: set to the limit of packets in flight, if it was taken
 *
 * A process that has the socket may be about to give it another congestion control. Then the
 * socket's state is not ours to touch, and the CNP is kept.
 *
 * Context: bottom halves off.
 * Return: the verdict on it.
 */
enum dcqcn_cnp_verdict dcqcn_told(struct sock *sk, const struct or_cnp *cnp, u32 *cwnd)
{
	struct dcqcn_net *dn = dcqcn_sock_net(sk);
	enum dcqcn_cnp_verdict verdict = DCQCN_CNP_NO_FLOW;
	u64 now_ns = tcp_clock_ns();

	bh_lock_sock(sk);
	if (sock_owned_by_user(sk)) {
		if (dcqcn_is_mercury(sk))
			verdict = dcqcn_cnp_keep(dn, sk, cnp, now_ns);
		goto unlock;
	}
	if (!dcqcn_heeds_cnps(sk))
		goto unlock;
	rcu_read_lock();
	dcqcn_obey(sk, dn, rcu_dereference(dn->conf), cnp, now_ns);
	rcu_read_unlock();
	*cwnd = tcp_snd_cwnd(tcp_sk(sk));
	verdict = DCQCN_CNP_TAKEN;
unlock:
	bh_unlock_sock(sk);
	return verdict;
}

static u32 dcqcn_ssthresh(struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

/* As many as sk_gso_max_segs allows; but a retransmission does not wait behind new data. */
static u32 dcqcn_min_tso_segs(struct sock *sk)
{
	/* TCP is about to send, and asks nothing else of us before it does. */
	if (dcqcn_sk(sk)->flags & DCQCN_F_INIT) {
		dcqcn_check_pacing(sk, dcqcn_sock_net(sk), NULL);
		dcqcn_check_kept(sk, dcqcn_sock_net(sk));
	}
	if (inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery)
		return min_t(u32, sk->sk_gso_max_segs, CC_RECOVERY_SEGS);
	return sk->sk_gso_max_segs;
}

COMPAT_MIN_TSO_SEGS(dcqcn_min_tso_segs);

/*
 * INET_DIAG_DCTCPINFO, which ss shows: whether the last data came with CE; alpha, of 1024 as
 * DCTCP's; bytes of marked and of all acknowledged packets since this was chosen, which
 * wrap. Without the socket lock.
 */
static size_t dcqcn_get_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	const struct dcqcn_sock *ds = dcqcn_sk(sk);
	u32 mss = cc_mss(sk);

	/* As DCTCP: ss asks for VEGASINFO, and takes any. */
	if (!(ext & (1 << (INET_DIAG_DCTCPINFO - 1))) &&
	    !(ext & (1 << (INET_DIAG_VEGASINFO - 1))))
		return 0;
	memset(&info->dctcp, 0, sizeof(info->dctcp));
	info->dctcp.dctcp_enabled = 1;
	/* data_race: the value shown may be old, and nothing depends on it */
	info->dctcp.dctcp_ce_state = data_race(ds->echo.ce);
	/* data_race: the same */
	info->dctcp.dctcp_alpha = data_race(ds->flow.alpha) >> (Q30_SHIFT - 10);
	info->dctcp.dctcp_ab_ecn = READ_ONCE(ds->marked) * mss;
	info->dctcp.dctcp_ab_tot = READ_ONCE(ds->packets) * mss;
	*attr = INET_DIAG_DCTCPINFO;
	return sizeof(info->dctcp);
}

#define DCQCN_OPS(ops_name)						\
	{								\
		.name		= ops_name,				\
		.owner		= THIS_MODULE,				\
		.flags		= TCP_CONG_NON_RESTRICTED | TCP_CONG_NEEDS_ECN, \
		.init		= dcqcn_init,				\
		.release	= dcqcn_release,				\
		.ssthresh	= dcqcn_ssthresh,			\
		.undo_cwnd	= dcqcn_undo_cwnd,			\
		.set_state	= dcqcn_set_state,			\
		compat_cwnd_events(dcqcn_event, dcqcn_tx_start),		\
		.cong_control	= compat_cong_control(dcqcn_cong_control), \
		compat_min_tso_segs(dcqcn_min_tso_segs),			\
		.get_info	= dcqcn_get_info,			\
	}

/* One for each law. */
static struct tcp_congestion_ops dcqcn_ops[DCQCN_LAWS] __read_mostly = {
	[DCQCN_LAW_DCQCN]	= DCQCN_OPS("dcqcn"),
	[DCQCN_LAW_MERCURY]	= DCQCN_OPS("mercury"),
};

/* Runs where it cannot; never registered, so never chosen. */
static struct tcp_congestion_ops dcqcn_reno __read_mostly = {
	.name		= "dcqcn-reno",
	.owner		= THIS_MODULE,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
};

static int __init dcqcn_module_init(void)
{
	int err, i;

	err = dcqcn_net_register();
	if (err)
		return err;
	for (i = 0; i < DCQCN_LAWS; i++) {
		err = tcp_register_congestion_control(&dcqcn_ops[i]);
		if (err)
			goto unregister;
	}
	/* Last: it looks for sockets that have one of them. */
	err = dcqcn_cnp_register();
	if (err)
		goto unregister;
	return 0;

unregister:
	while (i--)
		tcp_unregister_congestion_control(&dcqcn_ops[i]);
	dcqcn_net_unregister();
	return err;
}

static void __exit dcqcn_module_exit(void)
{
	int i;

	dcqcn_cnp_unregister();
	for (i = 0; i < DCQCN_LAWS; i++)
		tcp_unregister_congestion_control(&dcqcn_ops[i]);
	dcqcn_net_unregister();
}

module_init(dcqcn_module_init);
module_exit(dcqcn_module_exit);

MODULE_DESCRIPTION("DCQCN, Mercury: congestion control of RoCE v2");
MODULE_AUTHOR("The onramp authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(ONRAMP_VERSION);
/* The kernel asks for tcp_NAME, as it is in a socket option. */
MODULE_ALIAS("tcp_mercury");
