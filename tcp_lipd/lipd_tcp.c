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
 * Paper: Santos, Turner, Janakiraman, "End-to-End Congestion Control for InfiniBand",
 * INFOCOM 2003.
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

#include <net/tcp.h>

#include <onramp_version.h>

#include "lipd.h"

#define CREATE_TRACE_POINTS
#include "lipd_trace.h"

#define trace_cc_echo		trace_lipd_echo
#define trace_cc_fallback	trace_lipd_fallback
#define trace_cc_unpaced	trace_lipd_unpaced

/**
 * struct cc_law_sock - the laws' state of a socket
 * @x:		Rmax / R, Q32
 * @undo_x:	@x before the current recovery
 * @line_bps:	line rate that @cap_bps is for, bytes/s
 * @cap_bps:	R_max, bytes/s
 * @marks_left:	marks that still count, until @round_seq is ACKed
 * @round_seq:	snd_nxt at the first mark of the current round trip
 * @mss:	cc_mss() that the next ones are for; 0: none yet
 * @segment_bytes: the parameter that @segment is for
 * @segment:	packets that leave in one go at R_max
 * @law:	enum lipd_law
 * @in_round:	@round_seq is valid, and after snd_una
 */
struct cc_law_sock {
	u64	x;
	u64	undo_x;
	u64	line_bps;
	u64	cap_bps;
	u32	marks_left;
	u32	round_seq;
	u32	mss;
	u32	segment_bytes;
	u16	segment;
	u8	law;
	bool	in_round;
};

#include <cc_ecn.h>

static struct tcp_congestion_ops lipd_ops[LIPD_LAWS];

/* The configuration, from values that are in their ranges. */
static void lipd_build(struct cc_law_conf *conf, const u64 *raw)
{
	conf->levels = raw[CC_P_LEVELS];
	conf->discrete = raw[CC_P_RATES] == LIPD_RATES_DISCRETE;
	conf->moved = raw[CC_P_DEPARTURES] == LIPD_DEPARTURES_MOVED;
	conf->marks_per_rtt = raw[CC_P_MARKS];
	conf->idle_reset_ns = raw[CC_P_IDLE_RESET];
}

static struct lipd_params lipd_params_of(const struct cc_law_sock *ls,
					 const struct cc_conf *conf)
{
	return (struct lipd_params) {
		.law = ls->law, .levels = conf->law.levels, .discrete = conf->law.discrete,
	};
}

/* R_max of a flow, bytes/s. Divides, as for its segment, only when its inputs change. */
static u64 lipd_cap(const struct sock *sk, const struct cc_conf *conf)
{
	struct cc_law_sock *ls = cc_law_sk(sk);
	u64 line_bps = cc_line_bps(sk, conf);
	u32 mss = cc_mss(sk);

	if (likely(ls->mss == mss && ls->line_bps == line_bps &&
		   ls->segment_bytes == conf->segment_bytes))
		return ls->cap_bps;
	ls->mss = mss;
	ls->line_bps = line_bps;
	ls->segment_bytes = conf->segment_bytes;
	ls->cap_bps = cc_cap(sk, line_bps);
	ls->segment = cc_segment(sk, conf);
	return ls->cap_bps;
}

static u32 lipd_cwnd_limit(const struct sock *sk, const struct cc_conf *conf)
{
	u32 rtt_us = tcp_min_rtt(tcp_sk(sk));
	u64 cap_bps;

	if (conf->window_packets)
		return conf->window_packets;
	/* Without an RTT, TCP's own first window. */
	if (rtt_us == ~0U)
		return TCP_INIT_CWND;
	cap_bps = lipd_cap(sk, conf);
	return lipd_window(cap_bps, rtt_us, cc_mss(sk), cc_law_sk(sk)->segment);
}

/* Apply x: the rate, and how much leaves in one go. Returns the rate, bytes/s. */
static u64 lipd_pace(struct sock *sk, const struct cc_conf *conf, u64 cap_bps)
{
	const struct cc_law_sock *ls = cc_law_sk(sk);
	const struct lipd_params p = lipd_params_of(ls, conf);
	u32 share = lipd_share(ls->x, &p);
	u64 bps = lipd_of(cap_bps, share);
	u64 old_bps = sk->sk_pacing_rate;
	u64 rate = cc_set_rate(sk, bps);

	/* With nothing in flight, the next packet is with TCP. */
	if (conf->law.moved && !tcp_sk(sk)->packets_out)
		cc_move_departure(sk, old_bps, rate, 0);
	cc_bound_segment(sk, lipd_burst(ls->segment, share));
	return bps;
}

/* Set x for another reason than a mark, and say so. */
static void lipd_set_x(struct sock *sk, const struct cc_conf *conf, u64 x, enum lipd_why why,
		       u64 idle_ns)
{
	struct cc_law_sock *ls = cc_law_sk(sk);
	u64 cap_bps = lipd_cap(sk, conf);
	u64 old_x = ls->x;
	u64 bps;

	ls->x = x;
	bps = lipd_pace(sk, conf, cap_bps);
	trace_lipd_set(sk, why, old_x, x, bps, cap_bps, idle_ns);
}

static void lipd_init(struct sock *sk, const struct cc_conf *conf)
{
	struct cc_law_sock *ls = cc_law_sk(sk);

	ls->law = inet_csk(sk)->icsk_ca_ops - lipd_ops;
	ls->x = LIPD_ONE;
	lipd_pace(sk, conf, lipd_cap(sk, conf));
}

/* Time since data was last ACKed, ns. */
static u64 lipd_idle_ns(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 now_ns = tp->tcp_clock_cache;

	return now_ns - min(tp->delivered_mstamp * NSEC_PER_USEC, now_ns);
}

static void lipd_start(struct sock *sk, const struct cc_conf *conf)
{
	lipd_set_x(sk, conf, LIPD_ONE, LIPD_WHY_START, lipd_idle_ns(sk));
}

static void lipd_resume(struct sock *sk, const struct cc_conf *conf)
{
	u64 idle_ns = lipd_idle_ns(sk);

	if (!conf->law.idle_reset_ns || idle_ns < conf->law.idle_reset_ns)
		return;
	cc_count(cc_sock_net(sk), CC_STAT_IDLE_RESETS);
	lipd_set_x(sk, conf, LIPD_ONE, LIPD_WHY_IDLE, idle_ns);
}

static void lipd_save(struct sock *sk)
{
	struct cc_law_sock *ls = cc_law_sk(sk);

	ls->undo_x = ls->x;
}

static void lipd_cut(struct sock *sk, const struct cc_conf *conf, bool timeout)
{
	const struct cc_law_sock *ls = cc_law_sk(sk);
	const struct lipd_params p = lipd_params_of(ls, conf);

	lipd_set_x(sk, conf, lipd_lost(ls->x, &p),
		   timeout ? LIPD_WHY_TIMEOUT : LIPD_WHY_LOSS, 0);
}

static bool lipd_undo(struct sock *sk, const struct cc_conf *conf)
{
	struct cc_law_sock *ls = cc_law_sk(sk);
	bool lower = ls->undo_x && ls->undo_x < ls->x;

	if (lower)
		lipd_set_x(sk, conf, ls->undo_x, LIPD_WHY_UNDO, 0);
	ls->undo_x = 0;
	return lower;
}

/* Marks that count. */
static u32 lipd_count_marks(struct sock *sk, const struct cc_conf *conf, u32 marked)
{
	struct cc_law_sock *ls = cc_law_sk(sk);

	if (!ls->in_round) {
		ls->in_round = true;
		ls->round_seq = tcp_sk(sk)->snd_nxt;
		ls->marks_left = conf->law.marks_per_rtt ?: U32_MAX;
	}
	return lipd_counted(marked, &ls->marks_left);
}

/*
 * With AccECN both kinds of packets may be among those of an ACK, in an unknown order: marks
 * count as the first ones then, so that they weigh least.
 */
static void lipd_acked(struct sock *sk, const struct cc_conf *conf, u32 marked, u32 unmarked,
		       u32 acked)
{
	struct cc_net *cn = cc_sock_net(sk);
	struct cc_law_sock *ls = cc_law_sk(sk);
	const struct lipd_params p = lipd_params_of(ls, conf);
	u64 max = lipd_x_max(&p), old_x = ls->x, cap_bps = lipd_cap(sk, conf);
	u32 counted = 0;
	u64 bps;

	cc_set_cwnd(sk, conf, acked);
	/* Later, it would be ahead again: sequence numbers wrap. */
	if (!before(tcp_sk(sk)->snd_una, ls->round_seq))
		ls->in_round = false;
	if (marked) {
		counted = lipd_count_marks(sk, conf, marked);
		if (counted)
			cc_count(cn, ls->x < max ? CC_STAT_DECREASES : CC_STAT_AT_RMIN);
		ls->x = lipd_marked(ls->x, &p, counted);
	}
	if (unmarked) {
		if (!marked && ls->x > LIPD_ONE)
			cc_count(cn, CC_STAT_INCREASES);
		ls->x = lipd_unmarked(ls->x, &p, unmarked);
	}
	/* N may have become less. */
	ls->x = min(ls->x, max);
	bps = lipd_pace(sk, conf, cap_bps);
	if (marked || ls->x != old_x)
		trace_lipd_update(sk, ls->law, marked, counted, unmarked, old_x, ls->x, bps,
				  cap_bps, tcp_snd_cwnd(tcp_sk(sk)));
}

static const char * const cc_words[CC_P_MAX][2] = {
	[CC_P_RATES] = {
		[LIPD_RATES_CONTINUOUS]	= "continuous",
		[LIPD_RATES_DISCRETE]	= "discrete",
	},
	[CC_P_DEPARTURES] = {
		[LIPD_DEPARTURES_FIXED]	= "fixed",
		[LIPD_DEPARTURES_MOVED]	= "moved",
	},
};

static const struct cc_law cc_law = {
	.build	= lipd_build,
	.init	= lipd_init,
	.start	= lipd_start,
	.resume	= lipd_resume,
	.window	= lipd_cwnd_limit,
	.acked	= lipd_acked,
	.save	= lipd_save,
	.cut	= lipd_cut,
	.undo	= lipd_undo,
};

/* One for each law, so that they can be compared in one run. */
static struct tcp_congestion_ops lipd_ops[LIPD_LAWS] __read_mostly = {
	[LIPD_LAW_LIPD]	= CC_OPS("lipd"),
	[LIPD_LAW_FIMD]	= CC_OPS("fimd"),
	[LIPD_LAW_AIMD]	= CC_OPS("ibaimd"),
};

static int __init lipd_module_init(void)
{
	return cc_register(lipd_ops, LIPD_LAWS);
}

static void __exit lipd_module_exit(void)
{
	cc_unregister(lipd_ops, LIPD_LAWS);
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
