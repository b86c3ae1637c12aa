/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A congestion control that counts ECN marks and paces: all of it but its law. The law says what
 * marked and other packets do to the rate.
 *
 *	on data with CE:  cwnd_event()     receiver: an ACK at once, with ECE
 *	on ACK:           cong_control()   how many marked, unmarked? -> law: rate, window
 *	on send:          TX_START         first data, or data after silence -> law
 *	on loss:          set_state()      once per round trip -> law
 *
 *	connection without ECN, MPTCP --> NAME-reno
 *
 * Each mark has to be echoed: TCP_CONG_NEEDS_ECN negotiates ECN in the handshake, and both
 * ends run this, or another congestion control that echoes each mark (ecn_echo.h).
 *
 * Pacing is done by fq or another qdisc that paces, else by TCP itself, also where such a
 * qdisc is replaced by one that does not.
 *
 * This is a template, so that modules do not depend on each other, and no call is indirect. The
 * one file of a module that includes it defines before:
 *
 *	the header of cc_ecn_types.h, with the counters that the functions below count
 *	struct cc_law_sock	state of the law in a socket
 *	trace_cc_echo, trace_cc_fallback, trace_cc_unpaced
 *				names of its tracepoints of the classes in cc_ecn_trace.h
 *
 * and after it:
 *
 *	cc_law			the law
 *	cc_words		words of parameters that have two, if there are such
 *	its struct tcp_congestion_ops, each a CC_OPS(name), which its init function gives to
 *	cc_register(), and its exit function to cc_unregister()
 */
#ifndef _CC_ECN_H
#define _CC_ECN_H

#include <linux/inet_diag.h>
#include <linux/module.h>
#include <net/inet_ecn.h>
#include <net/mptcp.h>
#include <net/tcp.h>

#include <cc_sock.h>
#include <ecn_echo.h>

/* struct cc_sock.flags */
#define CC_F_INIT	BIT(0)	/* init() has run, release() must undo */
#define CC_F_STARTED	BIT(1)	/* has sent data */
#define CC_F_CUT	BIT(2)	/* cut_seq is valid, and after snd_una */

/**
 * struct cc_sock - congestion control state of a socket
 * @law:	the law's own
 * @dev:	egress device, with a reference; NULL: unknown
 * @echo:	ECN, as receiver and as sender
 * @packets:	packets acknowledged, for get_info()
 * @marked:	of those, with CE
 * @cut_seq:	snd_nxt at the last loss cut: not again before it is ACKed
 * @flags:	CC_F_*
 *
 * Under the socket lock; get_info() alone reads without it.
 */
struct cc_sock {
	struct cc_law_sock law;
	struct line_dev	*dev;
	struct ecn_echo	echo;
	u32		packets;
	u32		marked;
	u32		cut_seq;
	u8		flags;
};

/**
 * struct cc_law - the law
 * @build:	derive its configuration from the values of the parameters; optional
 * @net_init:	a namespace begins; optional
 * @net_exit:	a namespace ends; may sleep; optional
 * @init:	begin, before any data; set the pacing rate
 * @start:	first data
 * @resume:	data after none was in flight; optional
 * @window:	most packets in flight, 1 or more
 * @acked:	an ACK of @marked packets with CE and @unmarked without; both may be 0. It sets
 *		the rate, and calls cc_set_cwnd() with @acked, and cc_bound_segment()
 * @save:	a recovery begins: keep the rate for @undo
 * @cut:	fallback on loss
 * @undo:	the recovery was spurious: restore the rate, if it is lower now. Return whether
 * @send:	TCP is about to send; optional
 * @alpha:	DCTCP's alpha, of 1024, for ss; without the socket lock; optional
 *
 * Under the socket lock, if not said otherwise, and with @conf under RCU.
 */
struct cc_law {
	void	(*build)(struct cc_law_conf *conf, const u64 *raw);
	void	(*net_init)(struct cc_net *cn);
	void	(*net_exit)(struct cc_net *cn);
	void	(*init)(struct sock *sk, const struct cc_conf *conf);
	void	(*start)(struct sock *sk, const struct cc_conf *conf);
	void	(*resume)(struct sock *sk, const struct cc_conf *conf);
	u32	(*window)(const struct sock *sk, const struct cc_conf *conf);
	void	(*acked)(struct sock *sk, const struct cc_conf *conf, u32 marked, u32 unmarked,
			 u32 acked);
	void	(*save)(struct sock *sk);
	void	(*cut)(struct sock *sk, const struct cc_conf *conf, bool timeout);
	bool	(*undo)(struct sock *sk, const struct cc_conf *conf);
	void	(*send)(struct sock *sk);
	u32	(*alpha)(const struct sock *sk);
};

static const struct cc_law cc_law;

/* Parameters that are one of two words. */
static const char * const cc_words[CC_P_MAX][2];

/* The rows of the lists. */
static const struct net_param cc_params[CC_P_MAX] = {
#define CC_PARAM(id, name, min, max, def, unit, what, source) \
	[CC_P_##id] = { __stringify(name), unit, min, max, def },
	CC_PARAM_LIST
#undef CC_PARAM
};

static const char * const cc_stat_names[CC_STAT_MAX] = {
#define CC_STAT(id, name, what) #name,
	CC_STAT_LIST
#undef CC_STAT
};

unsigned int cc_net_id __read_mostly;

/* Sockets of a namespace that is gone use these: the defaults. */
static struct cc_conf cc_gone_conf __ro_after_init;

/* Any combination of values that are in their ranges can be used. */
static const char *cc_conf_build(struct cc_conf *conf)
{
	conf->line_rate_bps = conf->raw[CC_P_LINE_RATE] * LINE_RATE_MBIT;
	conf->window_packets = conf->raw[CC_P_WINDOW];
	conf->segment_bytes = conf->raw[CC_P_SEGMENT];
	if (cc_law.build)
		cc_law.build(&conf->law, conf->raw);
	return NULL;
}

/* For cc_net.h, besides names that are the same. */
#define CC_PARAMS	CC_P_MAX
#define CC_STATS	CC_STAT_MAX
#define cc_conf_refuse(old, id, value)	NULL
#define cc_more_init(cn) \
	do { if (cc_law.net_init) cc_law.net_init(cn); } while (0)
#define cc_more_exit(cn) \
	do { if (cc_law.net_exit) cc_law.net_exit(cn); } while (0)
#include <cc_net.h>

static struct tcp_congestion_ops cc_reno;

static struct cc_sock *cc_sk(const struct sock *sk)
{
	return inet_csk_ca(sk);
}

static struct cc_law_sock *cc_law_sk(const struct sock *sk)
{
	return &cc_sk(sk)->law;
}

static struct cc_net *cc_sock_net(const struct sock *sk)
{
	return cc_net(sock_net(sk));
}

/* cc_line_bps() - line rate of a flow's device, bytes/s */
static u64 cc_line_bps(const struct sock *sk, const struct cc_conf *conf)
{
	return line_rate_bps(cc_sk(sk)->dev, conf->line_rate_bps);
}

/* cc_segment() - packets that leave in one go at the line rate, where a law bounds segments */
static u32 cc_segment(const struct sock *sk, const struct cc_conf *conf)
{
	return clamp_t(u32, conf->segment_bytes / cc_mss(sk), 1, GSO_MAX_SEGS);
}

/**
 * cc_set_rate() - apply a rate
 * @sk: socket
 * @bps: of the law, bytes/s
 *
 * Return: the pacing rate, bytes/s: at least that of a recovery, at most the socket's own limit.
 */
static u64 cc_set_rate(struct sock *sk, u64 bps)
{
	u64 rate = max(bps, cc_repair_bps(sk));

	rate = min_t(u64, rate, READ_ONCE(sk->sk_max_pacing_rate));
	/* Read locklessly by the qdisc. */
	WRITE_ONCE(sk->sk_pacing_rate, rate);
	return rate;
}

/**
 * cc_set_cwnd() - apply the window
 * @sk: socket
 * @conf: configuration
 * @acked: packets that this ACK is the first to acknowledge
 *
 * The rate is the control; cwnd is a limit, but after a timeout.
 */
static void cc_set_cwnd(struct sock *sk, const struct cc_conf *conf, u32 acked)
{
	u32 limit = cc_law.window(sk, conf);
	struct tcp_sock *tp = tcp_sk(sk);

	limit = min3(limit, cc_max_packets(sk), tp->snd_cwnd_clamp);
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Loss)
		limit = min(limit, tcp_snd_cwnd(tp) + acked);
	tcp_snd_cwnd_set(tp, max(limit, 1U));
}

/* Follow the route to its device. Without a route there is nothing better than the last. */
static void cc_set_dev(struct sock *sk)
{
	struct cc_sock *cs = cc_sk(sk);
	int ifindex = cc_egress(sk);

	if (!ifindex || (cs->dev && cs->dev->ifindex == ifindex))
		return;
	if (cs->dev)
		line_dev_drop(cs->dev);
	cs->dev = line_dev_find(&cc_sock_net(sk)->rates, ifindex);
}

static void cc_release(struct sock *sk)
{
	struct cc_sock *cs = cc_sk(sk);

	/* MPTCP's own socket is released without ever having been set up. */
	if (!(cs->flags & CC_F_INIT))
		return;
	if (cs->flags & CC_F_STARTED)
		cc_leave_window(sk, READ_ONCE(sk->sk_pacing_rate));
	if (cs->dev)
		line_dev_drop(cs->dev);
	cc_unbound_segment(sk);
	sk_pacing_shift_update(sk, CC_PACING_SHIFT_DEFAULT);
	memset(cs, 0, sizeof(*cs));
}

/* Run Reno, which needs no ECN, and send no ECT: the peer would not echo marks. */
static void cc_fall_back(struct sock *sk, enum cc_fallback reason)
{
	BUILD_BUG_ON(CC_STAT_MPTCP - CC_STAT_NO_ECN != CC_FALLBACK_MPTCP - CC_FALLBACK_NO_ECN);

	cc_count(cc_sock_net(sk), CC_STAT_NO_ECN + reason);
	trace_cc_fallback(sk, reason);
	cc_release(sk);
	/* Read locklessly by getsockopt() and inet_diag. */
	WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, &cc_reno);
	INET_ECN_dontxmit(sk);
}

/* Data after none was in flight: a new flow, or one that was idle. */
static void cc_tx_start(struct sock *sk)
{
	struct cc_net *cn = cc_sock_net(sk);
	struct cc_sock *cs = cc_sk(sk);
	const struct cc_conf *conf;

	/* Data in SYN goes out before init(). */
	if (!(cs->flags & CC_F_INIT))
		return;
	/* Chosen between SYN and SYN-ACK, init() could not know yet. */
	if (!tcp_ecn_mode_any(tcp_sk(sk))) {
		cc_fall_back(sk, CC_FALLBACK_NO_ECN);
		return;
	}
	cc_set_dev(sk);
	cc_set_pacing_shift(sk, line_tx_wait_us(cs->dev));

	rcu_read_lock();
	conf = rcu_dereference(cn->conf);
	if (!(cs->flags & CC_F_STARTED)) {
		cs->flags |= CC_F_STARTED;
		cc_count(cn, CC_STAT_STARTS);
		if (line_rate_unknown(cs->dev, conf->line_rate_bps))
			cc_count(cn, CC_STAT_DEFAULT_LINE);
		cc_law.start(sk, conf);
	} else if (cc_law.resume && !tcp_sk(sk)->packets_out) {
		/* After a timeout all data counts as lost, but it is not idleness. */
		cc_law.resume(sk, conf);
	}
	cc_set_cwnd(sk, conf, 0);
	rcu_read_unlock();
}

/* The receiver of data: echo each mark, see ecn_echo.h. */
static void cc_received(struct sock *sk, bool ce)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct cc_net *cn = cc_sock_net(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	enum ecn_echo_verdict verdict;
	u32 first;

	cc_count(cn, ce ? CC_STAT_ECHO_CE : CC_STAT_ECHO_NO_CE);
	verdict = ecn_echo_receive(&cc_sk(sk)->echo, ce, tp->rcv_nxt,
				   icsk->icsk_ack.pending & ICSK_ACK_TIMER, &first);
	/* AccECN counts marks in the stack. */
	if (tcp_ecn_mode_rfc3168(tp)) {
		if (verdict == ECN_ECHO_FIRST) {
			if (ce)
				tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
			else
				tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
			compat_send_ack(sk, first);
			cc_count(cn, CC_STAT_ECHO_FIRST);
		}
		if (ce)
			tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
		else
			tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
	}
	if (verdict != ECN_ECHO_SAME)
		trace_cc_echo(sk, ce, verdict == ECN_ECHO_FIRST, first);
	icsk->icsk_ack.pending |= ICSK_ACK_NOW;
}

static void cc_event(struct sock *sk, enum tcp_ca_event event)
{
	if (!(cc_sk(sk)->flags & CC_F_INIT))
		return;
	if (event == CA_EVENT_ECN_IS_CE)
		cc_received(sk, true);
	else if (event == CA_EVENT_ECN_NO_CE)
		cc_received(sk, false);
}

COMPAT_CWND_EVENTS(cc_event, cc_tx_start);

static void cc_init(struct sock *sk)
{
	struct cc_sock *cs = cc_sk(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	BUILD_BUG_ON(sizeof(struct cc_sock) > ICSK_CA_PRIV_SIZE);

	memset(cs, 0, sizeof(*cs));
	/* Each subflow would be a flow of its own to the marks, and take a share of its own. */
	if (sk_is_mptcp(sk)) {
		cc_fall_back(sk, CC_FALLBACK_MPTCP);
		return;
	}
	if (!tcp_ecn_mode_any(tp)) {
		cc_fall_back(sk, CC_FALLBACK_NO_ECN);
		return;
	}

	cs->flags = CC_F_INIT;
	ecn_echo_start(&cs->echo, tp->rcv_nxt, tp->delivered, tp->delivered_ce);
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	/* fq and its like set SK_PACING_FQ themselves, at their first packet. */
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
	sk_pacing_shift_update(sk, CC_PACING_SHIFT);

	rcu_read_lock();
	cc_law.init(sk, rcu_dereference(cc_sock_net(sk)->conf));
	rcu_read_unlock();
	/* In the middle of a connection the start cannot wait for TX_START. */
	if (tp->packets_out)
		cc_tx_start(sk);
}

/* TCP paces where no qdisc does any more, see cc_take_pacing(). */
static void cc_check_pacing(struct sock *sk, const struct rate_sample *rs)
{
	u64 ahead_ns;

	if (READ_ONCE(sk->sk_pacing_status) != SK_PACING_FQ ||
	    !cc_take_pacing(sk, rs, &ahead_ns))
		return;
	trace_cc_unpaced(sk, ahead_ns);
	cc_count(cc_sock_net(sk), CC_STAT_UNPACED);
}

/* The fallback cut: at a timeout always, at other losses once per round trip. */
static void cc_cut(struct sock *sk, const struct cc_conf *conf, bool timeout)
{
	struct cc_sock *cs = cc_sk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	/* Recovery may begin before cong_control() sees that snd_una has passed. */
	if (!timeout && (cs->flags & CC_F_CUT) && before(tp->snd_una, cs->cut_seq))
		return;
	cs->flags |= CC_F_CUT;
	cs->cut_seq = tp->snd_nxt;
	cc_count(cc_sock_net(sk), timeout ? CC_STAT_TIMEOUT_CUTS : CC_STAT_LOSS_CUTS);
	cc_law.cut(sk, conf, timeout);
}

static void cc_set_state(struct sock *sk, u8 new_state)
{
	if (!(cc_sk(sk)->flags & CC_F_INIT) || new_state < TCP_CA_Recovery)
		return;
	if (inet_csk(sk)->icsk_ca_state < TCP_CA_Recovery)
		cc_law.save(sk);
	rcu_read_lock();
	cc_cut(sk, rcu_dereference(cc_sock_net(sk)->conf), new_state == TCP_CA_Loss);
	rcu_read_unlock();
	cc_check_pacing(sk, NULL);
}

/* Called by TCP when it finds that a recovery was for nothing. */
static u32 cc_undo_cwnd(struct sock *sk)
{
	struct cc_net *cn = cc_sock_net(sk);

	rcu_read_lock();
	if (cc_law.undo(sk, rcu_dereference(cn->conf))) {
		cc_sk(sk)->flags &= ~CC_F_CUT;
		cc_count(cn, CC_STAT_UNDOS);
	}
	rcu_read_unlock();
	return max(tcp_snd_cwnd(tcp_sk(sk)), tcp_sk(sk)->prior_cwnd);
}

/* The packets that this ACK is the first to acknowledge. */
static void cc_acked(struct sock *sk, struct cc_net *cn, const struct cc_conf *conf, u32 acked)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct cc_sock *cs = cc_sk(sk);
	u32 marked, unmarked;

	ecn_echo_take(&cs->echo, tp->delivered, tp->delivered_ce, &marked, &unmarked);
	/* get_info() reads them without the socket lock. */
	WRITE_ONCE(cs->packets, cs->packets + marked + unmarked);
	if (marked) {
		WRITE_ONCE(cs->marked, cs->marked + marked);
		cc_count_many(cn, CC_STAT_MARKED, marked);
	}
	if (unmarked)
		cc_count_many(cn, CC_STAT_UNMARKED, unmarked);
	cc_law.acked(sk, conf, marked, unmarked, acked);
}

static void cc_cong_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct cc_net *cn = cc_sock_net(sk);
	struct cc_sock *cs = cc_sk(sk);
	const struct cc_conf *conf;

	/* The ACK of the handshake comes before init(). */
	if (!(cs->flags & CC_F_INIT))
		return;

	rcu_read_lock();
	conf = rcu_dereference(cn->conf);
	/* Later, it would be ahead again: sequence numbers wrap. */
	if (!before(tcp_sk(sk)->snd_una, cs->cut_seq))
		cs->flags &= ~CC_F_CUT;
	if (rs->losses > 0 && inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery)
		cc_cut(sk, conf, false);
	cc_check_pacing(sk, rs);
	cc_check_pacing_shift(sk);
	cc_acked(sk, cn, conf, rs->acked_sacked);
	rcu_read_unlock();
}

COMPAT_CONG_CONTROL(cc_cong_control);

static u32 cc_ssthresh(struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

/* As many as sk_gso_max_segs allows; but a retransmission does not wait behind new data. */
static u32 cc_min_tso_segs(struct sock *sk)
{
	/* TCP is about to send, and asks nothing else of us before it does. */
	if (cc_sk(sk)->flags & CC_F_INIT) {
		cc_check_pacing(sk, NULL);
		if (cc_law.send)
			cc_law.send(sk);
	}
	if (inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery)
		return min_t(u32, sk->sk_gso_max_segs, CC_RECOVERY_SEGS);
	return sk->sk_gso_max_segs;
}

COMPAT_MIN_TSO_SEGS(cc_min_tso_segs);

/*
 * INET_DIAG_DCTCPINFO, which ss shows: whether the last data came with CE; alpha, of 1024 as
 * DCTCP's; bytes of marked and of all acknowledged packets since this was chosen, which
 * wrap. Without the socket lock.
 */
static size_t cc_get_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	const struct cc_sock *cs = cc_sk(sk);
	u32 mss = cc_mss(sk);

	/* As DCTCP: ss asks for VEGASINFO, and takes any. */
	if (!(ext & (1 << (INET_DIAG_DCTCPINFO - 1))) &&
	    !(ext & (1 << (INET_DIAG_VEGASINFO - 1))))
		return 0;
	memset(&info->dctcp, 0, sizeof(info->dctcp));
	info->dctcp.dctcp_enabled = 1;
	/* data_race: the value shown may be old, and nothing depends on it */
	info->dctcp.dctcp_ce_state = data_race(cs->echo.ce);
	if (cc_law.alpha)
		info->dctcp.dctcp_alpha = cc_law.alpha(sk);
	info->dctcp.dctcp_ab_ecn = READ_ONCE(cs->marked) * mss;
	info->dctcp.dctcp_ab_tot = READ_ONCE(cs->packets) * mss;
	*attr = INET_DIAG_DCTCPINFO;
	return sizeof(info->dctcp);
}

#define CC_OPS(ops_name)						\
	{								\
		.name		= ops_name,				\
		.owner		= THIS_MODULE,				\
		.flags		= TCP_CONG_NON_RESTRICTED | TCP_CONG_NEEDS_ECN, \
		.init		= cc_init,				\
		.release	= cc_release,				\
		.ssthresh	= cc_ssthresh,				\
		.undo_cwnd	= cc_undo_cwnd,				\
		.set_state	= cc_set_state,				\
		compat_cwnd_events(cc_event, cc_tx_start),		\
		.cong_control	= compat_cong_control(cc_cong_control),	\
		compat_min_tso_segs(cc_min_tso_segs),			\
		.get_info	= cc_get_info,				\
	}

/* Runs where they cannot; never registered, so never chosen. */
static struct tcp_congestion_ops cc_reno __read_mostly = {
	.name		= CC_NAME "-reno",
	.owner		= THIS_MODULE,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
};

/**
 * cc_unregister() - undo cc_register()
 * @ops: congestion controls
 * @many: how many of them were registered
 *
 * Context: process, may sleep; no socket uses the module any more.
 */
static void cc_unregister(struct tcp_congestion_ops *ops, int many)
{
	while (many--)
		tcp_unregister_congestion_control(&ops[many]);
	cc_net_unregister();
}

/**
 * cc_register() - set up all namespaces, and register congestion controls
 * @ops: each a CC_OPS()
 * @many: how many
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
static int __init cc_register(struct tcp_congestion_ops *ops, int many)
{
	int err, i;

	cc_conf_defaults(&cc_gone_conf);
	err = cc_net_register();
	if (err)
		return err;
	for (i = 0; i < many; i++) {
		err = tcp_register_congestion_control(&ops[i]);
		if (err) {
			cc_unregister(ops, i);
			return err;
		}
	}
	return 0;
}

#endif /* _CC_ECN_H */
