// SPDX-License-Identifier: GPL-2.0
/*
 * LIPD, FIMD, AIMD: InfiniBand's ECN congestion control, for TCP
 *
 * A flow has a fixed window and a rate. Each acknowledged packet moves the rate, down if it
 * came with CE, up if it came without (lipd_core.h):
 *
 *	             lipd			fimd, ibaimd
 *	marked       delay += a packet time	rate / 2
 *	unmarked     delay taken back in	rate doubled in T_rec (fimd), or
 *	             T_rec = 1 / Rmin		Rmin more in T_rec (ibaimd)
 *
 *	on data with CE:  cwnd_event()     receiver: an ACK at once, with ECE
 *	on ACK:           cong_control()   how many marked, unmarked? -> x, pacing, window
 *	on send:          TX_START         first data: Rmax; idle for long: Rmax
 *	on loss:          set_state()      fallback, once per round trip
 *
 *	connection without ECN, MPTCP --> lipd-reno
 *
 * Paper: Santos, Turner, Janakiraman, "End-to-End Congestion Control for InfiniBand",
 * INFOCOM 2003.
 *
 * Each mark has to be echoed: TCP_CONG_NEEDS_ECN negotiates ECN in the handshake, and both
 * ends run one of these three, or another congestion control that echoes each mark.
 *
 * Pacing is done by fq or another qdisc that paces, else by TCP itself, also where such a
 * qdisc is replaced by one that does not.
 *
 * Differences from the paper, because TCP is not InfiniBand:
 *  - Loss halves the rate once per round trip, under any law. Undone when TCP finds it was
 *    spurious. Lost data is repaired at one packet for each round trip at least.
 *  - One mark of a round trip counts, or marks_per_rtt. A window of one packet has no more.
 *  - The window fills the empty path, because the path may be longer than one packet, and
 *    software batches; window_packets sets another.
 *  - At Rmax several packets leave in one go, see lipd_burst().
 *  - The delay behind a packet follows from the rate at which it left, as with InfiniBand; but
 *    data for 61 us may wait in a qdisc. With departures=moved the new rate of the ACK of the last
 *    packet in flight applies to the one that follows, as in the paper's condition 3.
 *  - Packets of any size count as one.
 *  - State persists within a connection, not from one to the next.
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
#include "lipd.h"

#define CREATE_TRACE_POINTS
#include "lipd_trace.h"

/* struct lipd_sock.flags */
#define LIPD_F_INIT	BIT(0)	/* init() has run, release() must undo */
#define LIPD_F_STARTED	BIT(1)	/* has sent data */
#define LIPD_F_CUT	BIT(2)	/* cut_seq is valid, and after snd_una */
#define LIPD_F_ROUND	BIT(3)	/* the same of round_seq: marks_left holds */

/**
 * struct lipd_sock - congestion control state of a socket
 * @x:		Rmax / R, Q32
 * @undo_x:	@x before the current recovery
 * @dev:	egress device, with a reference; NULL: unknown
 * @echo:	ECN, as receiver and as sender
 * @packets:	packets acknowledged, for get_info()
 * @marked:	of those, with CE
 * @marks_left:	marks that still count, until @round_seq is ACKed
 * @round_seq:	snd_nxt at the first mark of the current round trip
 * @cut_seq:	snd_nxt at the last loss cut: not again before it is ACKed
 * @mss:	cc_mss() that the next ones are for; 0: none yet
 * @segment_bytes: the parameter that @segment is for
 * @line_bps:	line rate that @cap_bps is for, bytes/s
 * @cap_bps:	R_max, bytes/s
 * @segment:	packets that leave in one go at R_max
 * @law:	enum lipd_law
 * @flags:	LIPD_F_*
 *
 * Under the socket lock; get_info() alone reads without it.
 */
struct lipd_sock {
	u64		x;
	u64		undo_x;
	struct line_dev	*dev;
	struct ecn_echo	echo;
	u32		packets;
	u32		marked;
	u32		marks_left;
	u32		round_seq;
	u32		cut_seq;
	u32		mss;
	u32		segment_bytes;
	u64		line_bps;
	u64		cap_bps;
	u16		segment;
	u8		law;
	u8		flags;
};

static struct tcp_congestion_ops lipd_ops[LIPD_LAWS];
static struct tcp_congestion_ops lipd_reno;

static struct lipd_sock *lipd_sk(const struct sock *sk)
{
	return inet_csk_ca(sk);
}

static struct lipd_net *lipd_sock_net(const struct sock *sk)
{
	return lipd_net(sock_net(sk));
}

static struct lipd_params lipd_params_of(const struct lipd_sock *ls,
					 const struct lipd_conf *conf)
{
	return (struct lipd_params) {
		.law = ls->law, .levels = conf->levels, .discrete = conf->discrete,
	};
}

/* R_max of a flow, bytes/s. Divides, as for its segment, only when its inputs change. */
static u64 lipd_cap(const struct sock *sk, const struct lipd_conf *conf)
{
	struct lipd_sock *ls = lipd_sk(sk);
	u64 line_bps = line_rate_bps(ls->dev, conf->line_rate_bps);
	u32 mss = cc_mss(sk);

	if (likely(ls->mss == mss && ls->line_bps == line_bps &&
		   ls->segment_bytes == conf->segment_bytes))
		return ls->cap_bps;
	ls->mss = mss;
	ls->line_bps = line_bps;
	ls->segment_bytes = conf->segment_bytes;
	ls->cap_bps = cc_cap(sk, line_bps);
	ls->segment = clamp_t(u32, conf->segment_bytes / mss, 1, GSO_MAX_SEGS);
	return ls->cap_bps;
}

/* The window, packets. */
static u32 lipd_cwnd_limit(const struct sock *sk, const struct lipd_conf *conf, u64 cap_bps)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 limit = conf->window_packets;
	u32 rtt_us = tcp_min_rtt(tp);

	/* Without an RTT, TCP's own first window. */
	if (!limit)
		limit = rtt_us == ~0U ? TCP_INIT_CWND :
			lipd_window(cap_bps, rtt_us, cc_mss(sk), lipd_sk(sk)->segment);
	return max(min3(limit, cc_max_packets(sk), tp->snd_cwnd_clamp), 1U);
}

/* Apply x: the rate, and how much leaves in one go. Returns the rate, bytes/s. */
static u64 lipd_pace(struct sock *sk, const struct lipd_conf *conf, u64 cap_bps)
{
	const struct lipd_sock *ls = lipd_sk(sk);
	const struct lipd_params p = lipd_params_of(ls, conf);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 share = lipd_share(ls->x, &p);
	u64 bps = lipd_of(cap_bps, share);
	u64 rate = max(bps, cc_repair_bps(sk));
	u64 old_bps = sk->sk_pacing_rate;

	rate = min_t(u64, rate, READ_ONCE(sk->sk_max_pacing_rate));
	/* Read locklessly by the qdisc. */
	WRITE_ONCE(sk->sk_pacing_rate, rate);
	/* With nothing in flight, the next packet is with TCP. */
	if (conf->moved && !tp->packets_out)
		cc_move_departure(sk, old_bps, rate, 0);
	cc_bound_segment(sk, lipd_burst(ls->segment, share));
	return bps;
}

/* The rate is the control; cwnd is a limit, but after a timeout. */
static void lipd_set_cwnd(struct sock *sk, const struct lipd_conf *conf, u64 cap_bps,
			  u32 acked)
{
	u32 limit = lipd_cwnd_limit(sk, conf, cap_bps);
	struct tcp_sock *tp = tcp_sk(sk);

	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Loss)
		limit = min(limit, tcp_snd_cwnd(tp) + acked);
	tcp_snd_cwnd_set(tp, max(limit, 1U));
}

/* Follow the route to its device. Without a route there is nothing better than the last. */
static void lipd_set_dev(struct sock *sk)
{
	struct lipd_sock *ls = lipd_sk(sk);
	int ifindex = cc_egress(sk);

	if (!ifindex || (ls->dev && ls->dev->ifindex == ifindex))
		return;
	if (ls->dev)
		lipd_dev_put(ls->dev);
	ls->dev = lipd_dev_get(lipd_sock_net(sk), ifindex);
}

/* Set x for another reason than a mark, and say so. */
static void lipd_set_x(struct sock *sk, const struct lipd_conf *conf, u64 x,
		       enum lipd_why why, u64 idle_ns)
{
	struct lipd_sock *ls = lipd_sk(sk);
	u64 cap_bps = lipd_cap(sk, conf);
	u64 old_x = ls->x;
	u64 bps;

	ls->x = x;
	bps = lipd_pace(sk, conf, cap_bps);
	trace_lipd_set(sk, why, old_x, x, bps, cap_bps, idle_ns);
}

static void lipd_release(struct sock *sk)
{
	struct lipd_sock *ls = lipd_sk(sk);

	/* MPTCP's own socket is released without ever having been set up. */
	if (!(ls->flags & LIPD_F_INIT))
		return;
	if (ls->flags & LIPD_F_STARTED)
		cc_leave_window(sk, READ_ONCE(sk->sk_pacing_rate));
	if (ls->dev)
		lipd_dev_put(ls->dev);
	cc_unbound_segment(sk);
	sk_pacing_shift_update(sk, CC_PACING_SHIFT_DEFAULT);
	memset(ls, 0, sizeof(*ls));
}

/* Run Reno, which needs no ECN, and send no ECT: the peer would not echo marks. */
static void lipd_fall_back(struct sock *sk, enum lipd_fallback reason)
{
	BUILD_BUG_ON(LIPD_STAT_MPTCP - LIPD_STAT_NO_ECN !=
		     LIPD_FALLBACK_MPTCP - LIPD_FALLBACK_NO_ECN);

	lipd_count(lipd_sock_net(sk), LIPD_STAT_NO_ECN + reason);
	trace_lipd_fallback(sk, reason);
	lipd_release(sk);
	/* Read locklessly by getsockopt() and inet_diag. */
	WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, &lipd_reno);
	INET_ECN_dontxmit(sk);
}

/* Data after none was in flight: a new flow, or one that was idle. */
static void lipd_tx_start(struct sock *sk)
{
	struct lipd_net *ln = lipd_sock_net(sk);
	struct lipd_sock *ls = lipd_sk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	const struct lipd_conf *conf;
	u64 now_ns, idle_ns;

	/* Data in SYN goes out before init(). */
	if (!(ls->flags & LIPD_F_INIT))
		return;
	/* Chosen between SYN and SYN-ACK, init() could not know yet. */
	if (!tcp_ecn_mode_any(tp)) {
		lipd_fall_back(sk, LIPD_FALLBACK_NO_ECN);
		return;
	}
	lipd_set_dev(sk);
	cc_set_pacing_shift(sk, line_tx_wait_us(ls->dev));

	rcu_read_lock();
	conf = rcu_dereference(ln->conf);
	now_ns = tp->tcp_clock_cache;
	idle_ns = now_ns - min(tp->delivered_mstamp * NSEC_PER_USEC, now_ns);
	if (!(ls->flags & LIPD_F_STARTED)) {
		ls->flags |= LIPD_F_STARTED;
		lipd_count(ln, LIPD_STAT_STARTS);
		if (line_rate_unknown(ls->dev, conf->line_rate_bps))
			lipd_count(ln, LIPD_STAT_DEFAULT_LINE);
		lipd_set_x(sk, conf, LIPD_ONE, LIPD_WHY_START, idle_ns);
	} else if (conf->idle_reset_ns && idle_ns >= conf->idle_reset_ns) {
		lipd_count(ln, LIPD_STAT_IDLE_RESETS);
		lipd_set_x(sk, conf, LIPD_ONE, LIPD_WHY_IDLE, idle_ns);
	}
	lipd_set_cwnd(sk, conf, lipd_cap(sk, conf), 0);
	rcu_read_unlock();
}

/* The receiver of data: echo each mark, see ecn_echo.h. */
static void lipd_received(struct sock *sk, bool ce)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct lipd_net *ln = lipd_sock_net(sk);
	struct lipd_sock *ls = lipd_sk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	enum ecn_echo_verdict verdict;
	u32 first;

	lipd_count(ln, ce ? LIPD_STAT_ECHO_CE : LIPD_STAT_ECHO_NO_CE);
	verdict = ecn_echo_receive(&ls->echo, ce, tp->rcv_nxt,
				   icsk->icsk_ack.pending & ICSK_ACK_TIMER, &first);
	/* AccECN counts marks in the stack. */
	if (tcp_ecn_mode_rfc3168(tp)) {
		if (verdict == ECN_ECHO_FIRST) {
			if (ce)
				tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
			else
				tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
			compat_send_ack(sk, first);
			lipd_count(ln, LIPD_STAT_ECHO_FIRST);
		}
		if (ce)
			tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
		else
			tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
	}
	if (verdict != ECN_ECHO_SAME)
		trace_lipd_echo(sk, ce, verdict == ECN_ECHO_FIRST, first);
	icsk->icsk_ack.pending |= ICSK_ACK_NOW;
}

static void lipd_event(struct sock *sk, enum tcp_ca_event event)
{
	if (!(lipd_sk(sk)->flags & LIPD_F_INIT))
		return;
	if (event == CA_EVENT_ECN_IS_CE)
		lipd_received(sk, true);
	else if (event == CA_EVENT_ECN_NO_CE)
		lipd_received(sk, false);
}

COMPAT_CWND_EVENTS(lipd_event, lipd_tx_start);

static void lipd_init(struct sock *sk)
{
	struct lipd_sock *ls = lipd_sk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	const struct lipd_conf *conf;

	BUILD_BUG_ON(sizeof(struct lipd_sock) > ICSK_CA_PRIV_SIZE);

	memset(ls, 0, sizeof(*ls));
	/* Each subflow would be a flow of its own to the marks, and take a share of its own. */
	if (sk_is_mptcp(sk)) {
		lipd_fall_back(sk, LIPD_FALLBACK_MPTCP);
		return;
	}
	if (!tcp_ecn_mode_any(tp)) {
		lipd_fall_back(sk, LIPD_FALLBACK_NO_ECN);
		return;
	}

	ls->law = inet_csk(sk)->icsk_ca_ops - lipd_ops;
	ls->x = LIPD_ONE;
	ls->flags = LIPD_F_INIT;
	ecn_echo_start(&ls->echo, tp->rcv_nxt, tp->delivered, tp->delivered_ce);
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	/* fq and its like set SK_PACING_FQ themselves, at their first packet. */
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
	sk_pacing_shift_update(sk, CC_PACING_SHIFT);

	/* In the middle of a connection the start cannot wait for TX_START. */
	if (tp->packets_out) {
		lipd_tx_start(sk);
		return;
	}
	rcu_read_lock();
	conf = rcu_dereference(lipd_sock_net(sk)->conf);
	lipd_pace(sk, conf, lipd_cap(sk, conf));
	rcu_read_unlock();
}

/* TCP paces where no qdisc does any more, see cc_take_pacing(). */
static void lipd_check_pacing(struct sock *sk, struct lipd_net *ln,
			      const struct rate_sample *rs)
{
	u64 ahead_ns;

	if (READ_ONCE(sk->sk_pacing_status) != SK_PACING_FQ ||
	    !cc_take_pacing(sk, rs, &ahead_ns))
		return;
	trace_lipd_unpaced(sk, ahead_ns);
	lipd_count(ln, LIPD_STAT_UNPACED);
}

/* The fallback cut: at a timeout always, at other losses once per round trip. */
static void lipd_cut(struct sock *sk, struct lipd_net *ln, const struct lipd_conf *conf,
		     bool timeout)
{
	struct lipd_sock *ls = lipd_sk(sk);
	const struct lipd_params p = lipd_params_of(ls, conf);
	const struct tcp_sock *tp = tcp_sk(sk);

	/* Recovery may begin before cong_control() sees that snd_una has passed. */
	if (!timeout && (ls->flags & LIPD_F_CUT) && before(tp->snd_una, ls->cut_seq))
		return;
	ls->flags |= LIPD_F_CUT;
	ls->cut_seq = tp->snd_nxt;
	lipd_count(ln, timeout ? LIPD_STAT_TIMEOUT_CUTS : LIPD_STAT_LOSS_CUTS);
	lipd_set_x(sk, conf, lipd_lost(ls->x, &p),
		   timeout ? LIPD_WHY_TIMEOUT : LIPD_WHY_LOSS, 0);
}

static void lipd_set_state(struct sock *sk, u8 new_state)
{
	struct lipd_net *ln = lipd_sock_net(sk);
	struct lipd_sock *ls = lipd_sk(sk);

	if (!(ls->flags & LIPD_F_INIT) || new_state < TCP_CA_Recovery)
		return;
	if (inet_csk(sk)->icsk_ca_state < TCP_CA_Recovery)
		ls->undo_x = ls->x;
	rcu_read_lock();
	lipd_cut(sk, ln, rcu_dereference(ln->conf), new_state == TCP_CA_Loss);
	rcu_read_unlock();
	lipd_check_pacing(sk, ln, NULL);
}

/* Called by TCP when it finds that a recovery was for nothing. */
static u32 lipd_undo_cwnd(struct sock *sk)
{
	struct lipd_net *ln = lipd_sock_net(sk);
	struct lipd_sock *ls = lipd_sk(sk);

	if (ls->undo_x && ls->undo_x < ls->x) {
		ls->flags &= ~LIPD_F_CUT;
		lipd_count(ln, LIPD_STAT_UNDOS);
		rcu_read_lock();
		lipd_set_x(sk, rcu_dereference(ln->conf), ls->undo_x, LIPD_WHY_UNDO, 0);
		rcu_read_unlock();
	}
	ls->undo_x = 0;
	return max(tcp_snd_cwnd(tcp_sk(sk)), tcp_sk(sk)->prior_cwnd);
}

/*
 * The packets that this ACK is the first to acknowledge. With AccECN both kinds may be among
 * them, in an unknown order: marks count as the first ones then, so that they weigh least.
 */
static void lipd_update(struct sock *sk, struct lipd_net *ln, const struct lipd_conf *conf,
			u64 cap_bps)
{
	struct lipd_sock *ls = lipd_sk(sk);
	const struct lipd_params p = lipd_params_of(ls, conf);
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 max = lipd_x_max(&p), old_x = ls->x;
	u32 marked, unmarked, counted = 0;
	u64 bps;

	ecn_echo_take(&ls->echo, tp->delivered, tp->delivered_ce, &marked, &unmarked);
	/* get_info() reads them without the socket lock. */
	WRITE_ONCE(ls->packets, ls->packets + marked + unmarked);
	if (marked) {
		WRITE_ONCE(ls->marked, ls->marked + marked);
		lipd_count_many(ln, LIPD_STAT_MARKED, marked);
		if (!(ls->flags & LIPD_F_ROUND)) {
			ls->flags |= LIPD_F_ROUND;
			ls->round_seq = tp->snd_nxt;
			ls->marks_left = conf->marks_per_rtt ?: U32_MAX;
		}
		counted = lipd_counted(marked, &ls->marks_left);
		if (counted)
			lipd_count(ln, ls->x < max ? LIPD_STAT_DECREASES : LIPD_STAT_AT_RMIN);
		ls->x = lipd_marked(ls->x, &p, counted);
	}
	if (unmarked) {
		lipd_count_many(ln, LIPD_STAT_UNMARKED, unmarked);
		if (!marked && ls->x > LIPD_ONE)
			lipd_count(ln, LIPD_STAT_INCREASES);
		ls->x = lipd_unmarked(ls->x, &p, unmarked);
	}
	/* N may have become less. */
	ls->x = min(ls->x, max);
	bps = lipd_pace(sk, conf, cap_bps);
	if (marked || ls->x != old_x)
		trace_lipd_update(sk, ls->law, marked, counted, unmarked, old_x, ls->x, bps,
				  cap_bps, tcp_snd_cwnd(tp));
}

static void lipd_cong_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct lipd_net *ln = lipd_sock_net(sk);
	struct lipd_sock *ls = lipd_sk(sk);
	const struct lipd_conf *conf;
	u64 cap_bps;

	/* The ACK of the handshake comes before init(). */
	if (!(ls->flags & LIPD_F_INIT))
		return;

	rcu_read_lock();
	conf = rcu_dereference(ln->conf);
	cap_bps = lipd_cap(sk, conf);

	/* Later, they would be ahead again: sequence numbers wrap. */
	if (!before(tcp_sk(sk)->snd_una, ls->cut_seq))
		ls->flags &= ~LIPD_F_CUT;
	if (!before(tcp_sk(sk)->snd_una, ls->round_seq))
		ls->flags &= ~LIPD_F_ROUND;
	if (rs->losses > 0 && inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery)
		lipd_cut(sk, ln, conf, false);
	lipd_check_pacing(sk, ln, rs);
	cc_check_pacing_shift(sk);
	lipd_set_cwnd(sk, conf, cap_bps, rs->acked_sacked);
	lipd_update(sk, ln, conf, cap_bps);
	rcu_read_unlock();
}

COMPAT_CONG_CONTROL(lipd_cong_control);

static u32 lipd_ssthresh(struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

/* As many as sk_gso_max_segs allows; but a retransmission does not wait behind new data. */
static u32 lipd_min_tso_segs(struct sock *sk)
{
	/* TCP is about to send, and asks nothing else of us before it does. */
	if (lipd_sk(sk)->flags & LIPD_F_INIT)
		lipd_check_pacing(sk, lipd_sock_net(sk), NULL);
	if (inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery)
		return min_t(u32, sk->sk_gso_max_segs, CC_RECOVERY_SEGS);
	return sk->sk_gso_max_segs;
}

COMPAT_MIN_TSO_SEGS(lipd_min_tso_segs);

/*
 * INET_DIAG_DCTCPINFO, which ss shows: whether the last data came with CE; bytes of marked and
 * of all acknowledged packets since lipd was chosen, which wrap. There is no alpha. Without
 * the socket lock.
 */
static size_t lipd_get_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	const struct lipd_sock *ls = lipd_sk(sk);
	u32 mss = cc_mss(sk);

	/* As DCTCP: ss asks for VEGASINFO, and takes any. */
	if (!(ext & (1 << (INET_DIAG_DCTCPINFO - 1))) &&
	    !(ext & (1 << (INET_DIAG_VEGASINFO - 1))))
		return 0;
	memset(&info->dctcp, 0, sizeof(info->dctcp));
	info->dctcp.dctcp_enabled = 1;
	/* data_race: the value shown may be old, and nothing depends on it */
	info->dctcp.dctcp_ce_state = data_race(ls->echo.ce);
	info->dctcp.dctcp_ab_ecn = READ_ONCE(ls->marked) * mss;
	info->dctcp.dctcp_ab_tot = READ_ONCE(ls->packets) * mss;
	*attr = INET_DIAG_DCTCPINFO;
	return sizeof(info->dctcp);
}

#define LIPD_OPS(ops_name)						\
	{								\
		.name		= ops_name,				\
		.owner		= THIS_MODULE,				\
		.flags		= TCP_CONG_NON_RESTRICTED | TCP_CONG_NEEDS_ECN, \
		.init		= lipd_init,				\
		.release	= lipd_release,				\
		.ssthresh	= lipd_ssthresh,			\
		.undo_cwnd	= lipd_undo_cwnd,			\
		.set_state	= lipd_set_state,			\
		compat_cwnd_events(lipd_event, lipd_tx_start),		\
		.cong_control	= compat_cong_control(lipd_cong_control), \
		compat_min_tso_segs(lipd_min_tso_segs),			\
		.get_info	= lipd_get_info,			\
	}

/* One for each law, so that they can be compared in one run. */
static struct tcp_congestion_ops lipd_ops[LIPD_LAWS] __read_mostly = {
	[LIPD_LAW_LIPD]	= LIPD_OPS("lipd"),
	[LIPD_LAW_FIMD]	= LIPD_OPS("fimd"),
	[LIPD_LAW_AIMD]	= LIPD_OPS("ibaimd"),
};

/* Runs where these cannot; never registered, so never chosen. */
static struct tcp_congestion_ops lipd_reno __read_mostly = {
	.name		= "lipd-reno",
	.owner		= THIS_MODULE,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
};

static int __init lipd_module_init(void)
{
	int err, i;

	err = lipd_net_register();
	if (err)
		return err;
	for (i = 0; i < LIPD_LAWS; i++) {
		err = tcp_register_congestion_control(&lipd_ops[i]);
		if (err)
			goto unregister;
	}
	return 0;

unregister:
	while (i--)
		tcp_unregister_congestion_control(&lipd_ops[i]);
	lipd_net_unregister();
	return err;
}

static void __exit lipd_module_exit(void)
{
	int i;

	for (i = 0; i < LIPD_LAWS; i++)
		tcp_unregister_congestion_control(&lipd_ops[i]);
	lipd_net_unregister();
}

module_init(lipd_module_init);
module_exit(lipd_module_exit);

MODULE_DESCRIPTION("LIPD, FIMD: InfiniBand's ECN congestion control");
MODULE_AUTHOR("The onramp authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(ONRAMP_VERSION);
/* The kernel asks for tcp_NAME, as it is in a socket option. */
MODULE_ALIAS("tcp_fimd");
MODULE_ALIAS("tcp_ibaimd");
