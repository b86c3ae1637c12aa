// SPDX-License-Identifier: GPL-2.0
/*
 * TIMELY: congestion control on RTT gradients
 *
 * A flow has a rate, and the rate is all that is controlled. A segment (16 KB)
 * leaves as one burst, the next one waits until the rate allows it. When an
 * ACK covers the end of a segment, that is a completion, and gives one RTT:
 *
 *	rtt = t_completion - t_send - wire_bytes / line_rate
 *
 * which timely_core.h turns into a new rate:
 *
 *	             Tlow                          Thigh
 *	   increase   |   follow the gradient        |   decrease
 *	  ------------+------------------------------+-------------->  rtt
 *	   + delta    |  falling, flat: + N * delta  |  * (1 - beta *
 *	              |  rising: * (1 - beta * g)    |    (1 - Thigh / rtt))
 *
 *	on ACK:   in_ack_event()   which segments does it complete? -> t_send
 *	          cong_control()   RTT, send rate, timely_update(), pacing
 *	on send:  TX_START         first data: C / (N + 1); idle: start over
 *	on loss:  set_state()      fallback, once per RTT
 *
 * Papers: Mittal et al., "TIMELY: RTT-based Congestion Control for the
 * Datacenter", SIGCOMM 2015; Zhu et al., CoNEXT 2016 (patched mode).
 *
 * Pacing is done by fq or another qdisc that paces, else by TCP itself.
 *
 * Differences from the paper, because TCP is not RDMA over a lossless fabric:
 *  - Loss: a cut of one half once per RTT, so that a path without a delay
 *    signal cannot collapse. Undone when TCP finds it was spurious.
 *  - t_send and t_completion are TCP's own clock: when the stack hands the
 *    segment over (its departure time if a qdisc paces), and when it processes
 *    the ACK. Host jitter is in them. Another source of completions only has
 *    to fill struct timely_sock.done_*; the controller does not know.
 *  - The receiver's ACKs are software: samples with its delayed ACK timer in
 *    them are dropped.
 *  - Serialisation counts headers and framing, not only the payload.
 *  - Data outstanding is limited to what the line rate sends in 2 Thigh; after
 *    a timeout TCP's own cwnd opens again by what is acknowledged.
 *  - A flow that was idle for 20 Thigh starts over at C / (N + 1) at most.
 *  - TCP does not pace the first ten packets of a connection.
 *
 * Deployment: where all flows that share a queue use it, or have a queue of
 * their own. Loss-based flows fill the queues that TIMELY backs away from.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/if_ether.h>
#include <linux/inet_diag.h>
#include <linux/module.h>
#include <net/dst.h>
#include <net/mptcp.h>
#include <net/tcp.h>

#include "timely.h"

#define CREATE_TRACE_POINTS
#include "timely_trace.h"

/* Preamble, start of frame, FCS and inter-packet gap, bytes per packet. */
#define TIMELY_FRAMING		(8 + 4 + 12)

/* Smallest limit on outstanding data, in segments: one moves, one is ACKed. */
#define TIMELY_MIN_SEGMENTS	2

/* struct timely_sock.flags */
#define TIMELY_F_INIT		BIT(0)	/* init() has run, release() must undo */
#define TIMELY_F_STARTED	BIT(1)	/* has sent data: C / (N + 1) was taken */
#define TIMELY_F_ACTIVE		BIT(2)	/* counted in dev->active */
#define TIMELY_F_CUT		BIT(3)	/* cut_seq is valid */
#define TIMELY_F_PARTIAL	BIT(4)	/* part_* are valid */
#define TIMELY_F_RETRANS	BIT(5)	/* this ACK covers retransmitted data */
#define TIMELY_F_SACKED		BIT(6)	/* the newest segment was SACKed before */

/**
 * struct timely_sock - congestion control state of a socket
 * @flow:	the controller
 * @dev:	egress device, with a reference; NULL: unknown
 * @done_send_ns: t_send of the newest segment this ACK completes, ns
 * @done_bytes:	its payload, bytes; 0: no completion in this ACK
 * @part_seq:	first byte of the segment that ACKs have covered in part
 * @part_end:	its end
 * @cut_seq:	snd_nxt at the last loss cut: not again before it is ACKed
 * @undo_rate:	rate before the current recovery, units of 64 bytes/s
 * @sent:	tp->bytes_sent at the last completion, low half
 * @rtt_us:	newest RTT sample, for get_info()
 * @min_rtt_us:	smallest RTT sample, for get_info()
 * @samples:	number of RTT samples, for get_info()
 * @flags:	TIMELY_F_*
 *
 * Under the socket lock; get_info() alone reads without it.
 */
struct timely_sock {
	struct timely_flow	flow;
	struct timely_dev	*dev;
	u64			done_send_ns;
	u32			done_bytes;
	u32			part_seq;
	u32			part_end;
	u32			cut_seq;
	u32			undo_rate;
	u32			sent;
	u32			rtt_us;
	u32			min_rtt_us;
	u32			samples;
	u16			flags;
};

/*
 * in_ack_event() came before the acknowledged data left the queue, as it does
 * up to 6.15. Where it comes after, pkts_acked() has to do. A property of the
 * kernel: set once, by the first ACK that shows it.
 */
static bool timely_ack_first __read_mostly;

static struct tcp_congestion_ops timely_reno;

static struct timely_sock *timely_sk(const struct sock *sk)
{
	return inet_csk_ca(sk);
}

static struct timely_net *timely_sock_net(const struct sock *sk)
{
	return timely_net(sock_net(sk));
}

/* Line rate for a flow, bytes/s: configured, the device's, or the default. */
static u64 timely_line_rate(const struct timely_sock *ts,
			    const struct timely_conf *conf)
{
	u32 mbit = 0;

	if (conf->line_rate_bps)
		return conf->line_rate_bps;
	/* The speed work writes it under RTNL only. */
	if (ts->dev)
		mbit = READ_ONCE(ts->dev->line_mbit);
	return (mbit ?: TIMELY_DEFAULT_LINE_MBIT) * TIMELY_MBIT;
}

/* Whole packets in a segment; at least one, whatever the MSS. */
static u32 timely_segment_packets(const struct sock *sk,
				  const struct timely_conf *conf)
{
	u32 mss = max_t(u32, tcp_sk(sk)->mss_cache, 1);

	return clamp_t(u32, conf->core.segment_bytes / mss, 1, GSO_MAX_SEGS);
}

/* The device's own bound on what leaves in one go, as sk_setup_caps() has it. */
static u32 timely_device_segs(struct sock *sk)
{
	struct dst_entry *dst = __sk_dst_get(sk);

	return dst ? max_t(u32, READ_ONCE(dst_dev(dst)->gso_max_segs), 1) :
		     sk->sk_gso_max_segs;
}

/*
 * A segment is at most one skb: sk_gso_max_segs bounds what leaves in one go.
 * The stack sets it from the device whenever the route changes.
 */
static void timely_bound_segment(struct sock *sk, const struct timely_conf *conf)
{
	u32 packets;

	if (!sk_can_gso(sk))
		return;
	packets = min(timely_segment_packets(sk, conf), timely_device_segs(sk));
	if (sk->sk_gso_max_segs != packets)
		sk->sk_gso_max_segs = packets;
}

/* The static limit on outstanding data, TIMELY section 3.3, in packets. */
static u32 timely_cwnd_limit(const struct sock *sk,
			     const struct timely_conf *conf, u64 line_bps)
{
	u64 limit = conf->max_outstanding;
	u32 floor;

	/* line_bps < 2^38, 2 Thigh in us < 2^25: no overflow. */
	if (!limit)
		limit = div_u64(line_bps * div_u64(conf->core.t_high_ns, 500),
				USEC_PER_SEC);
	limit = div_u64(limit, max_t(u32, tcp_sk(sk)->mss_cache, 1));
	floor = TIMELY_MIN_SEGMENTS * timely_segment_packets(sk, conf);
	limit = max_t(u64, limit, floor);
	return min_t(u64, limit, tcp_sk(sk)->snd_cwnd_clamp);
}

static void timely_pace(struct sock *sk)
{
	unsigned long rate = timely_rate_bps(&timely_sk(sk)->flow);

	/* Read locklessly by the qdisc. */
	WRITE_ONCE(sk->sk_pacing_rate,
		   min(rate, READ_ONCE(sk->sk_max_pacing_rate)));
}

static void timely_set_inactive(struct timely_sock *ts)
{
	if (!(ts->flags & TIMELY_F_ACTIVE))
		return;
	ts->flags &= ~TIMELY_F_ACTIVE;
	if (ts->dev)
		atomic_dec(&ts->dev->active);
}

/* Follow the route to its device and count the flow there. */
static void timely_set_active(struct sock *sk)
{
	struct timely_sock *ts = timely_sk(sk);
	struct dst_entry *dst = __sk_dst_get(sk);
	int ifindex = dst ? dst_dev(dst)->ifindex : 0;

	if (!ts->dev || ts->dev->ifindex != ifindex) {
		timely_set_inactive(ts);
		if (ts->dev)
			timely_dev_put(ts->dev);
		ts->dev = timely_dev_get(timely_sock_net(sk), ifindex);
	}
	if (ts->flags & TIMELY_F_ACTIVE)
		return;
	ts->flags |= TIMELY_F_ACTIVE;
	if (ts->dev)
		atomic_inc(&ts->dev->active);
}

/* Active flows beside this one. */
static u32 timely_others(const struct timely_sock *ts)
{
	int active = ts->dev ? atomic_read(&ts->dev->active) : 0;

	if (ts->flags & TIMELY_F_ACTIVE)
		active--;
	return max(active, 0);
}

/*
 * Data after none was in flight: a new flow takes C / (N + 1); one that was
 * idle for long takes it if it had more.
 */
static void timely_tx_start(struct sock *sk)
{
	struct timely_net *tn = timely_sock_net(sk);
	struct timely_sock *ts = timely_sk(sk);
	u64 now_ns = tcp_sk(sk)->tcp_clock_cache;
	u64 line_bps, old_bps, bps, idle_ns;
	const struct timely_conf *conf;
	bool was_active;
	u32 others;

	/* Data in SYN goes out before init(). */
	if (!(ts->flags & TIMELY_F_INIT))
		return;
	was_active = ts->flags & TIMELY_F_ACTIVE;
	timely_set_active(sk);

	rcu_read_lock();
	conf = rcu_dereference(tn->conf);
	idle_ns = now_ns - min(ts->flow.last_ns, now_ns);
	/* A pause with data waiting is pacing, not idleness. */
	if ((ts->flags & TIMELY_F_STARTED) &&
	    (was_active || !conf->idle_restart_ns ||
	     idle_ns < conf->idle_restart_ns))
		goto unlock;

	line_bps = timely_line_rate(ts, conf);
	old_bps = timely_rate_bps(&ts->flow);
	others = timely_others(ts);
	bps = timely_start_bps(line_bps, others);
	if (ts->flags & TIMELY_F_STARTED) {
		timely_restart_idle(&ts->flow, &conf->core, bps, line_bps, now_ns);
		timely_count(tn, TIMELY_STAT_IDLE_RESTARTS);
		trace_timely_idle(sk, old_bps, timely_rate_bps(&ts->flow),
				  line_bps, others, idle_ns);
	} else {
		timely_restart(&ts->flow, &conf->core, bps, line_bps, now_ns);
		timely_count(tn, TIMELY_STAT_STARTS);
		trace_timely_start(sk, old_bps, timely_rate_bps(&ts->flow),
				   line_bps, others, idle_ns);
		if (!conf->line_rate_bps &&
		    !(ts->dev && READ_ONCE(ts->dev->line_mbit)))
			timely_count(tn, TIMELY_STAT_DEFAULT_LINE);
	}
	ts->flags |= TIMELY_F_STARTED;
	ts->sent = (u32)tcp_sk(sk)->bytes_sent;
	timely_bound_segment(sk, conf);
	tcp_snd_cwnd_set(tcp_sk(sk), timely_cwnd_limit(sk, conf, line_bps));
	timely_pace(sk);
unlock:
	rcu_read_unlock();
}
COMPAT_CWND_EVENT_TX_START(timely_tx_start);

static void timely_init(struct sock *sk)
{
	struct timely_sock *ts = timely_sk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	const struct timely_conf *conf;
	u64 line_bps;

	BUILD_BUG_ON(sizeof(struct timely_sock) > ICSK_CA_PRIV_SIZE);

	/*
	 * Each MPTCP subflow would chase the others' queues, and its scheduler
	 * does not cut the data into our segments. Reno, as DCTCP does where
	 * ECN is missing.
	 */
	if (sk_is_mptcp(sk)) {
		timely_count(timely_sock_net(sk), TIMELY_STAT_MPTCP);
		WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, &timely_reno);
		return;
	}

	memset(ts, 0, sizeof(*ts));
	ts->flags = TIMELY_F_INIT;
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	/* fq and its like set SK_PACING_FQ themselves, at their first packet. */
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);

	/* In the middle of a connection the start cannot wait for TX_START. */
	if (tp->packets_out) {
		timely_tx_start(sk);
		return;
	}

	rcu_read_lock();
	conf = rcu_dereference(timely_sock_net(sk)->conf);
	line_bps = timely_line_rate(ts, conf);
	timely_restart(&ts->flow, &conf->core, line_bps, line_bps, 0);
	timely_bound_segment(sk, conf);
	rcu_read_unlock();
	timely_pace(sk);
}

static void timely_release(struct sock *sk)
{
	struct timely_sock *ts = timely_sk(sk);

	/* MPTCP's own socket is released without ever having been set up. */
	if (!(ts->flags & TIMELY_F_INIT))
		return;
	timely_set_inactive(ts);
	if (ts->dev)
		timely_dev_put(ts->dev);
	if (sk_can_gso(sk))
		sk->sk_gso_max_segs = timely_device_segs(sk);
	memset(ts, 0, sizeof(*ts));
}

/* Size on the wire of @bytes of payload, with all headers and framing. */
static u32 timely_wire_bytes(const struct sock *sk, u32 bytes)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 header = tp->tcp_header_len + ETH_HLEN + TIMELY_FRAMING +
		     inet_csk(sk)->icsk_af_ops->net_header_len;

	return bytes + DIV_ROUND_UP(bytes, max_t(u32, tp->mss_cache, 1)) * header;
}

/*
 * Before the acknowledged data leaves the queue: find the newest segment that
 * this ACK covers to its end. A segment that earlier ACKs covered in part has
 * lost its head by now, so its first byte is kept in part_seq.
 */
static void timely_in_ack_event(struct sock *sk, u32 flags)
{
	struct timely_sock *ts = timely_sk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb = tcp_rtx_queue_head(sk);
	struct tcp_skb_cb *scb;
	u32 seq;

	if (!skb || !before(TCP_SKB_CB(skb)->seq, tp->snd_una))
		return;
	/* Once true it stays so: no write, no shared line to bounce. */
	if (!READ_ONCE(timely_ack_first))
		WRITE_ONCE(timely_ack_first, true);

	for (; skb; skb = skb_rb_next(skb)) {
		scb = TCP_SKB_CB(skb);
		if (!before(scb->seq, tp->snd_una))
			break;

		seq = scb->seq;
		if ((ts->flags & TIMELY_F_PARTIAL) && ts->part_end == scb->end_seq)
			seq = ts->part_seq;
		if (before(tp->snd_una, scb->end_seq)) {
			ts->part_seq = seq;
			ts->part_end = scb->end_seq;
			ts->flags |= TIMELY_F_PARTIAL;
			return;
		}

		if (scb->sacked & TCPCB_RETRANS)
			ts->flags |= TIMELY_F_RETRANS;
		if (scb->sacked & TCPCB_SACKED_ACKED)
			ts->flags |= TIMELY_F_SACKED;
		else
			ts->flags &= ~TIMELY_F_SACKED;
		ts->done_send_ns = skb->skb_mstamp_ns;
		ts->done_bytes = scb->end_seq - seq;
	}
	ts->flags &= ~TIMELY_F_PARTIAL;
}

/*
 * The same from what is left, for kernels that call in_ack_event() late. The
 * sample's stamp is that of the newest data acknowledged; if the head of the
 * queue has the very same one, it was covered in part: no completion.
 */
static void timely_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct timely_sock *ts = timely_sk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *head;
	u64 send_us;

	if (READ_ONCE(timely_ack_first) || sample->rtt_us < 0 ||
	    !sample->pkts_acked)
		return;

	send_us = tp->tcp_mstamp - sample->rtt_us;
	head = tcp_rtx_queue_head(sk);
	if (head && tcp_skb_timestamp_us(head) == send_us)
		return;
	if (tp->sacked_out || inet_csk(sk)->icsk_ca_state != TCP_CA_Open)
		ts->flags |= TIMELY_F_SACKED;
	ts->done_send_ns = send_us * NSEC_PER_USEC;
	ts->done_bytes = min_t(u32, sample->pkts_acked, sk->sk_gso_max_segs) *
			 tp->mss_cache;
}

static void timely_drop(const struct sock *sk, struct timely_net *tn,
			enum timely_drop reason, s64 rtt_ns)
{
	timely_count(tn, TIMELY_STAT_DROP_FLOOR + reason);
	trace_timely_drop(sk, reason, rtt_ns);
}

/* The completion that in_ack_event() found, if any: the heart of it. */
static void timely_complete(struct sock *sk, struct timely_net *tn,
			    const struct timely_conf *conf, u64 line_bps,
			    const struct rate_sample *rs)
{
	struct timely_sock *ts = timely_sk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct timely_params *p = &conf->core;
	u64 now_ns = tp->tcp_clock_cache;
	u64 serialisation_ns, prev_rtt_ns, old_bps;
	struct timely_result res;
	u32 wire, sent;
	s64 rtt_ns;

	BUILD_BUG_ON(TIMELY_STAT_DROP_RETRANS - TIMELY_STAT_DROP_FLOOR !=
		     TIMELY_DROP_RETRANS);
	BUILD_BUG_ON(TIMELY_STAT_DROP_SACKED - TIMELY_STAT_DROP_FLOOR !=
		     TIMELY_DROP_SACKED);
	BUILD_BUG_ON(TIMELY_STAT_DROP_DELAYED - TIMELY_STAT_DROP_FLOOR !=
		     TIMELY_DROP_DELAYED);

	if (ts->flags & TIMELY_F_RETRANS)
		return timely_drop(sk, tn, TIMELY_DROP_RETRANS, 0);
	if (ts->flags & TIMELY_F_SACKED)
		return timely_drop(sk, tn, TIMELY_DROP_SACKED, 0);

	wire = timely_wire_bytes(sk, ts->done_bytes);
	serialisation_ns = timely_serialisation_ns(wire, line_bps);
	rtt_ns = (s64)(now_ns - ts->done_send_ns) - (s64)serialisation_ns;
	if (rtt_ns < (s64)p->rtt_floor_ns)
		return timely_drop(sk, tn, TIMELY_DROP_FLOOR, rtt_ns);
	if (rs->is_ack_delayed)
		return timely_drop(sk, tn, TIMELY_DROP_DELAYED, rtt_ns);

	sent = (u32)tp->bytes_sent - ts->sent;
	ts->sent += sent;
	timely_window(&ts->flow, p, now_ns - min(ts->flow.last_ns, now_ns),
		      sent, rtt_ns);

	prev_rtt_ns = ts->flow.prev_rtt_ns;
	old_bps = timely_rate_bps(&ts->flow);
	timely_update(&ts->flow, p, rtt_ns, now_ns, line_bps, &res);

	timely_count(tn, TIMELY_STAT_COMPLETIONS);
	timely_count(tn, TIMELY_STAT_LOW + res.branch);
	if (res.held)
		timely_count(tn, TIMELY_STAT_HELD);
	trace_timely_update(sk, rtt_ns, serialisation_ns, prev_rtt_ns,
			    ts->done_bytes, old_bps,
			    timely_rate_bps(&ts->flow), line_bps, &res,
			    ts->flow.neg_count);

	/* get_info() reads these without the socket lock. */
	WRITE_ONCE(ts->rtt_us, max_t(u32, div_u64(rtt_ns, NSEC_PER_USEC), 1));
	if (!ts->samples || ts->rtt_us < ts->min_rtt_us)
		WRITE_ONCE(ts->min_rtt_us, ts->rtt_us);
	WRITE_ONCE(ts->samples, ts->samples + 1);
}

/* The fallback cut: at a timeout always, at other losses once per RTT. */
static void timely_cut(struct sock *sk, struct timely_net *tn,
		       const struct timely_conf *conf, bool timeout)
{
	struct timely_sock *ts = timely_sk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 old_bps = timely_rate_bps(&ts->flow);

	if (!timeout && (ts->flags & TIMELY_F_CUT) &&
	    before(tp->snd_una, ts->cut_seq))
		return;
	ts->flags |= TIMELY_F_CUT;
	ts->cut_seq = tp->snd_nxt;
	timely_loss(&ts->flow, &conf->core, timely_line_rate(ts, conf));
	timely_count(tn, timeout ? TIMELY_STAT_TIMEOUT_CUTS :
				   TIMELY_STAT_LOSS_CUTS);
	trace_timely_loss(sk, timeout, false, old_bps,
			  timely_rate_bps(&ts->flow));
	timely_pace(sk);
}

static void timely_set_state(struct sock *sk, u8 new_state)
{
	struct timely_net *tn = timely_sock_net(sk);
	struct timely_sock *ts = timely_sk(sk);

	if (!(ts->flags & TIMELY_F_INIT) || new_state < TCP_CA_Recovery)
		return;
	if (inet_csk(sk)->icsk_ca_state < TCP_CA_Recovery)
		ts->undo_rate = (u32)(timely_rate_bps(&ts->flow) >> 6);
	rcu_read_lock();
	timely_cut(sk, tn, rcu_dereference(tn->conf), new_state == TCP_CA_Loss);
	rcu_read_unlock();
}

/* Called by TCP when it finds that a recovery was for nothing. */
static u32 timely_undo_cwnd(struct sock *sk)
{
	struct timely_net *tn = timely_sock_net(sk);
	struct timely_sock *ts = timely_sk(sk);
	u64 old_bps = timely_rate_bps(&ts->flow);
	u64 bps = (u64)ts->undo_rate << 6;

	if (bps > old_bps) {
		ts->flow.rate_q = timely_bps_to_rate(bps);
		ts->flags &= ~TIMELY_F_CUT;
		timely_count(tn, TIMELY_STAT_UNDOS);
		trace_timely_loss(sk, false, true, old_bps, bps);
		timely_pace(sk);
	}
	ts->undo_rate = 0;
	return max(tcp_snd_cwnd(tcp_sk(sk)), tcp_sk(sk)->prior_cwnd);
}

/* The rate is the control; cwnd is the static limit, but after a timeout. */
static void timely_set_cwnd(struct sock *sk, const struct timely_conf *conf,
			    u64 line_bps, const struct rate_sample *rs)
{
	u32 limit = timely_cwnd_limit(sk, conf, line_bps);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd = tcp_snd_cwnd(tp);

	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Loss)
		limit = min_t(u32, limit, cwnd + max(rs->acked_sacked, 0));
	if (cwnd != limit)
		tcp_snd_cwnd_set(tp, max_t(u32, limit, 1));
}

static void timely_cong_control(struct sock *sk, u32 ack, int flag,
				const struct rate_sample *rs)
{
	struct timely_net *tn = timely_sock_net(sk);
	struct timely_sock *ts = timely_sk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct timely_conf *conf;
	u64 line_bps;

	/* The ACK of the handshake comes before init(). */
	if (!(ts->flags & TIMELY_F_INIT))
		return;

	rcu_read_lock();
	conf = rcu_dereference(tn->conf);
	line_bps = timely_line_rate(ts, conf);

	if (rs->losses > 0 && inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery)
		timely_cut(sk, tn, conf, false);
	if (ts->done_bytes) {
		timely_complete(sk, tn, conf, line_bps, rs);
		timely_bound_segment(sk, conf);
		ts->done_bytes = 0;
	}
	ts->flags &= ~(TIMELY_F_RETRANS | TIMELY_F_SACKED);
	timely_set_cwnd(sk, conf, line_bps, rs);
	timely_pace(sk);
	rcu_read_unlock();

	/* All delivered and nothing waiting: no longer one of the N. */
	if (!tp->packets_out && tp->write_seq == tp->snd_nxt)
		timely_set_inactive(ts);
}
COMPAT_CONG_CONTROL(timely_cong_control);

static u32 timely_ssthresh(struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

/* A whole segment at once, even where the rate would have TCP cut smaller. */
static u32 timely_min_tso_segs(struct sock *sk)
{
	return sk->sk_gso_max_segs;
}

/* As for BBR: cwnd is not the bottleneck, leave room to fill it. */
static u32 timely_sndbuf_expand(struct sock *sk)
{
	return 3;
}

/* INET_DIAG_VEGASINFO: last RTT, smallest RTT, number of samples. */
static size_t timely_get_info(struct sock *sk, u32 ext, int *attr,
			      union tcp_cc_info *info)
{
	const struct timely_sock *ts = timely_sk(sk);
	u32 samples = READ_ONCE(ts->samples);

	if (!(ext & (1 << (INET_DIAG_VEGASINFO - 1))))
		return 0;
	info->vegas.tcpv_enabled = samples != 0;
	info->vegas.tcpv_rttcnt = samples;
	info->vegas.tcpv_rtt = READ_ONCE(ts->rtt_us);
	info->vegas.tcpv_minrtt = READ_ONCE(ts->min_rtt_us);
	*attr = INET_DIAG_VEGASINFO;
	return sizeof(struct tcpvegas_info);
}

static struct tcp_congestion_ops timely_ops __read_mostly = {
	.name		= "timely",
	.owner		= THIS_MODULE,
	.flags		= TCP_CONG_NON_RESTRICTED,
	.init		= timely_init,
	.release	= timely_release,
	.ssthresh	= timely_ssthresh,
	.undo_cwnd	= timely_undo_cwnd,
	.set_state	= timely_set_state,
	compat_cwnd_event_tx_start(timely_tx_start),
	.in_ack_event	= timely_in_ack_event,
	.pkts_acked	= timely_pkts_acked,
	.cong_control	= compat_cong_control(timely_cong_control),
	.min_tso_segs	= timely_min_tso_segs,
	.sndbuf_expand	= timely_sndbuf_expand,
	.get_info	= timely_get_info,
};

/* What an MPTCP subflow runs instead; never registered, so never chosen. */
static struct tcp_congestion_ops timely_reno __read_mostly = {
	.name		= "timely-reno",
	.owner		= THIS_MODULE,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
};

static int __init timely_module_init(void)
{
	int err;

	err = timely_net_register();
	if (err)
		return err;
	err = tcp_register_congestion_control(&timely_ops);
	if (err)
		goto unregister_net;
	return 0;

unregister_net:
	timely_net_unregister();
	return err;
}

static void __exit timely_module_exit(void)
{
	tcp_unregister_congestion_control(&timely_ops);
	timely_net_unregister();
}

module_init(timely_module_init);
module_exit(timely_module_exit);

MODULE_DESCRIPTION("TIMELY: RTT-gradient congestion control");
MODULE_AUTHOR("The onramp authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(ONRAMP_VERSION);
