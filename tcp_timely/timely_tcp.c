// SPDX-License-Identifier: GPL-2.0
/*
 * TIMELY: congestion control on RTT gradients
 *
 * A flow has a rate. A segment (16 KB) leaves as one burst, the next one waits until the rate
 * allows it. When an ACK covers the end of a segment, that is a completion, and gives one RTT,
 * which timely_core.h, or timely_auto.h by the profile auto, turns into a new rate. The first names
 * the papers.
 *
 *	on ACK:   cong_control()   which segment does it complete? -> t_send;
 *	                           RTT, send rate, timely_update(), pacing
 *	on send:  TX_START         first data: C / (N + 1); idle: start over
 *	on loss:  set_state()      fallback, once in a recovery
 *
 * Pacing is done by fq or another qdisc that paces, else by TCP itself: also where
 * such a qdisc is replaced by one that does not, or the route leads past it. With the
 * parameter pacing at tcp TCP does so in any case, and the next departure follows the rate.
 *
 * Differences from the paper, because TCP is not RDMA over a lossless fabric:
 *  - Loss: a cut, so that a path without a delay signal cannot collapse. Undone
 *    when TCP finds it was spurious.
 *  - Times are those of the bus nic_ts, see timely_source.h, or TCP's own: when the
 *    stack hands the segment over (its departure time if a qdisc paces), and when
 *    it processes the ACK.
 *  - The receiver delays the ACK of a single packet. If the end of a segment is one,
 *    the RTT is taken where the ACK before it came. A sample that may still contain
 *    the delay is an upper bound, and is dropped unless it is below Tlow.
 *  - Outstanding data is limited; after a timeout TCP's own cwnd grows by the
 *    acknowledged bytes.
 *  - Lost data is repaired at one packet for each round trip at least, however low
 *    the rate: without RTTs it would not rise before all is repaired.
 *  - A flow that was idle starts over. TCP does not pace its first ten packets.
 *
 * Deployment: where all flows that share a queue use it, or have a queue of
 * their own. Loss-based flows fill the queues that TIMELY backs away from.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/inet_diag.h>
#include <linux/module.h>
#include <net/mptcp.h>
#include <net/tcp.h>

#include "cc_sock.h"
#include "nic_ts.h"
#include "or_delay.h"
#include "or_path.h"
#include "timely.h"
#include "timely_auto.h"

#define CREATE_TRACE_POINTS
#include "timely_trace.h"

/* Smallest limit on outstanding data, in segments: one moves, one is ACKed. */
#define TIMELY_MIN_SEGMENTS	2

/* A departure may be this late before TCP's timer is set anew, ns: fq's timer slack. */
#define TIMELY_TIMER_SLACK_NS	(10 * NSEC_PER_USEC)

/* struct timely_sock.flags */
#define TIMELY_F_INIT		BIT(0)	/* init() has run, release() must undo */
#define TIMELY_F_STARTED	BIT(1)	/* has sent data: C / (N + 1) was taken */
#define TIMELY_F_ACTIVE		BIT(2)	/* counted in dev->active */
#define TIMELY_F_SEGMENT	BIT(3)	/* seg_* are valid */
#define TIMELY_F_SACKED		BIT(4)	/* there was SACKed data at the last ACK */
#define TIMELY_F_RETRANS	BIT(5)	/* retrans_seq is valid */
#define TIMELY_F_NIC		BIT(6)	/* nic is valid, not dev */

/* Samples after which a flow without the bus asks for it again. */
#define TIMELY_ATTACH_SAMPLES	256

/**
 * struct timely_nic - state of a flow that is attached to the bus
 * @flow:	in the bus
 * @dev:	the device; the pointer to this struct takes its place in timely_sock
 * @sources:	where RTTs come from
 */
struct timely_nic {
	struct nic_ts_flow	*flow;
	struct line_dev	*dev;
	struct timely_sources	sources;
};

/**
 * struct timely_sock - congestion control state of a socket
 * @flow:	the controller; its @sent is tp->bytes_sent at the last decision, low half,
 *		its @count the number of RTT samples, for get_info()
 * @dev:	egress device, with a reference; NULL: unknown. See timely_sock_dev()
 * @nic:	the bus, and @dev, if %TIMELY_F_NIC is set
 * @seg_send_ns: t_send of the oldest segment not yet ACKed to its end, ns
 * @shift:	pacing shift without cc_next_shift(), less %CC_PACING_SHIFT_DEFAULT
 * @seg_seq:	its first byte
 * @seg_end:	its end
 * @part_ns:	time from t_send to the last ACK that covered a part of it, ns,
 *		saturating
 * @part_packets: packets covered by then, saturating; 0: none
 * @lost:	tp->lost when the rate last followed from it
 * @retrans_seq: snd_nxt when a retransmission was noticed, or that nothing paces:
 *		what is ACKed up to here may be either copy, or left at another time
 * @retrans:	tp->total_retrans at the last ACK, low byte: between two ACKs are fewer
 * @retry:	when to ask the bus again
 * @flags:	TIMELY_F_*
 *
 * Under the socket lock; get_info() alone reads without it.
 */
struct timely_sock {
	struct timely_flow	flow;
	union {
		struct line_dev	*dev;
		struct timely_nic	*nic;
	};
	u64			seg_send_ns:61;	/* 73 years */
	u64			shift:3;
	u32			seg_seq;
	u32			seg_end;
	u32			part_ns;
	u32			lost;
	u32			retrans_seq;
	u8			retrans;
	struct timely_retry	retry;
	u8			part_packets;
	u8			flags;
};

static struct tcp_congestion_ops timely_reno;

static struct timely_sock *timely_sk(const struct sock *sk)
{
	return inet_csk_ca(sk);
}

static struct timely_net *timely_sock_net(const struct sock *sk)
{
	return timely_net(sock_net(sk));
}

/* The place of a flow's egress device. */
static struct line_dev **timely_sock_dev(struct timely_sock *ts)
{
	return ts->flags & TIMELY_F_NIC ? &ts->nic->dev : &ts->dev;
}

static struct line_dev *timely_dev_of(const struct timely_sock *ts)
{
	return ts->flags & TIMELY_F_NIC ? ts->nic->dev : ts->dev;
}

/*
 * Line rate for a flow, bytes/s: configured, the device's, or the default; by the profile auto
 * what flows have shown, where no wire limits the device.
 */
static u64 timely_line_rate(const struct timely_sock *ts, const struct timely_conf *conf)
{
	if (conf->profile == TIMELY_PROFILE_AUTO)
		return line_rate_shown_bps(timely_dev_of(ts), conf->line_rate_bps);
	return line_rate_bps(timely_dev_of(ts), conf->line_rate_bps);
}

/* The pacing shift: of data in the host, due or not, see cc_pacing_shift(). */
static int timely_shift(const struct timely_sock *ts)
{
	return CC_PACING_SHIFT_DEFAULT + ts->shift;
}

static void timely_set_shift(struct timely_sock *ts, int shift)
{
	ts->shift = shift - CC_PACING_SHIFT_DEFAULT;
}

/* Bytes of a segment: as configured, or less where the rate is low. */
static u32 timely_segment_bytes(const struct sock *sk, const struct timely_conf *conf)
{
	if (conf->profile == TIMELY_PROFILE_AUTO)
		return timely_auto_segment(&timely_sk(sk)->flow, conf->core.segment_bytes);
	return conf->core.segment_bytes;
}

/*
 * S of the profile auto: as configured, or four packets. A segment has two packets at least, and
 * those of jumbo frames are as large as S is configured.
 */
static u32 timely_auto_bytes(const struct sock *sk, const struct timely_conf *conf)
{
	return max_t(u32, conf->core.segment_bytes,
		     min_t(u32, TIMELY_AUTO_PACKETS * cc_mss(sk), TIMELY_AUTO_MESSAGE));
}

/*
 * Packets in a segment: an even number, since receivers ACK every second one
 * at once and would let a last odd one wait, and so at least two; see timely_auto_least().
 */
static u32 timely_segment_packets(const struct sock *sk, const struct timely_conf *conf)
{
	const struct timely_sock *ts = timely_sk(sk);
	u32 least = 2;

	if (conf->profile == TIMELY_PROFILE_AUTO && ts->flow.slow)
		least = timely_auto_least(&ts->flow, cc_mss(sk),
					  cc_cap(sk, timely_line_rate(ts, conf)));
	return clamp_t(u32, (timely_segment_bytes(sk, conf) / cc_mss(sk)) & ~1U,
		       least, GSO_MAX_SEGS);
}

/* What leaves at once: a segment, or the rest of a message that a flow began after idleness. */
static void timely_bound_segment(struct sock *sk, const struct timely_conf *conf)
{
	u32 packets = (timely_auto_message(&timely_sk(sk)->flow) / cc_mss(sk)) & ~1U;

	cc_bound_segment(sk, clamp_t(u32, packets, timely_segment_packets(sk, conf),
				     GSO_MAX_SEGS));
}

/*
 * Return the limit on outstanding data, in packets: static as in TIMELY section 3.3, or
 * computed from the rate.
 */
static u32 timely_cwnd_limit(const struct sock *sk, const struct timely_conf *conf, u64 line_bps)
{
	u32 mss = cc_mss(sk);
	u64 limit;
	u32 floor;

	if (conf->max_outstanding)
		limit = conf->max_outstanding;
	else if (conf->profile == TIMELY_PROFILE_AUTO)
		limit = timely_auto_window(&timely_sk(sk)->flow, timely_auto_bytes(sk, conf),
					   cc_cap(sk, line_bps));
	else
		limit = timely_outstanding(line_bps, conf->core.t_high_ns);

	limit = div_u64(min_t(u64, limit, TIMELY_MAX_OUTSTANDING), mss);
	limit = min_t(u64, limit, cc_max_packets(sk));
	floor = TIMELY_MIN_SEGMENTS * timely_segment_packets(sk, conf);
	limit = max_t(u64, limit, floor);
	return min_t(u64, limit, tcp_sk(sk)->snd_cwnd_clamp);
}

static void timely_pace(struct sock *sk)
{
	unsigned long most_bps = READ_ONCE(sk->sk_max_pacing_rate);
	struct timely_flow *f = &timely_sk(sk)->flow;
	u64 old_bps = sk->sk_pacing_rate, rate;

	/* A rate that the socket may not send is not measured: its cuts would change nothing. */
	if (most_bps != ~0UL)
		f->rate_q = min_t(u64, f->rate_q,
				  timely_bps_to_rate(max_t(u64, most_bps, TIMELY_MIN_RATE_BPS)));
	rate = max(timely_rate_bps(f), cc_repair_bps(sk));
	rate = min_t(u64, rate, most_bps);
	/* Read locklessly by the qdisc. */
	WRITE_ONCE(sk->sk_pacing_rate, rate);
	/* The next segment is with TCP: a cut delays it, a higher rate frees it. */
	if (READ_ONCE(sk->sk_pacing_status) == SK_PACING_NEEDED)
		cc_move_departure(sk, old_bps, rate, TIMELY_TIMER_SLACK_NS);
}

static void timely_set_inactive(struct timely_sock *ts)
{
	struct line_dev *dev = timely_dev_of(ts);

	if (!(ts->flags & TIMELY_F_ACTIVE))
		return;
	ts->flags &= ~TIMELY_F_ACTIVE;
	if (dev)
		atomic_dec(&dev->active);
}

/* Follow the route to its device and count the flow there. */
static void timely_set_active(struct sock *sk)
{
	struct timely_sock *ts = timely_sk(sk);
	struct line_dev **dev = timely_sock_dev(ts);
	int ifindex = cc_egress(sk);

	/* Without a route there is nothing better than the last device. */
	if (ifindex && (!*dev || (*dev)->ifindex != ifindex)) {
		timely_set_inactive(ts);
		if (*dev)
			timely_dev_put(*dev);
		*dev = timely_dev_get(timely_sock_net(sk), ifindex);
	}
	if (ts->flags & TIMELY_F_ACTIVE)
		return;
	ts->flags |= TIMELY_F_ACTIVE;
	if (*dev)
		atomic_inc(&(*dev)->active);
}

/* Active flows beside this one. */
static u32 timely_others(const struct timely_sock *ts)
{
	struct line_dev *dev = timely_dev_of(ts);
	int active = dev ? atomic_read(&dev->active) : 0;

	if (ts->flags & TIMELY_F_ACTIVE)
		active--;
	return max(active, 0);
}

/*
 * The RTTs to come cannot be compared with those so far. With @base, nor can the lowest of
 * them with the delay of the empty path, whose slowest link is not known either.
 */
static void timely_forget(struct timely_sock *ts, bool base)
{
	timely_forget_rtts(&ts->flow);
	if (base) {
		ts->flow.base_ns = 0;
		ts->flow.slow = 0;
	}
}

/* Detach the flow from the bus. */
static void timely_nic_detach(struct timely_sock *ts)
{
	struct timely_nic *nic = ts->nic;

	if (!(ts->flags & TIMELY_F_NIC))
		return;
	/* RTTs of TCP's clock cannot be compared with those of the bus. */
	if (nic->sources.used != TIMELY_SOURCE_TCP)
		timely_forget(ts, ts->flow.by_rule);
	ts->flags &= ~TIMELY_F_NIC;
	ts->dev = nic->dev;
	nic_ts_flow_detach(nic->flow);
	kfree(nic);
}

static void timely_nic_attach(struct sock *sk)
{
	struct timely_sock *ts = timely_sk(sk);
	struct timely_retry *retry = &ts->retry;
	struct nic_ts_flow *flow;
	struct timely_nic *nic;

	/* Tested without RCU, and not dereferenced: attaching tests it again. */
	if (!rcu_access_pointer(nic_ts_bus) || !timely_retry_now(retry))
		return;
	flow = nic_ts_flow_attach(sk, GFP_ATOMIC | __GFP_NOWARN);
	if (!flow)
		goto refused;
	nic = kzalloc(sizeof(*nic), GFP_ATOMIC | __GFP_NOWARN);
	if (!nic)
		goto detach;
	nic->flow = flow;
	nic->sources.used = ts->flow.count ? TIMELY_SOURCE_TCP : TIMELY_SOURCE_NONE;
	nic->dev = ts->dev;
	ts->nic = nic;
	ts->flags |= TIMELY_F_NIC;
	*retry = (struct timely_retry){};
	return;

detach:
	nic_ts_flow_detach(flow);
refused:
	timely_retry_refused(retry);
}

/*
 * Return whether to ask the bus for times. Those of a device that software makes are of this
 * host's CPU, as TCP's are; by the profile auto they are not worth their cost.
 */
static bool timely_wants_nic(const struct timely_sock *ts, const struct timely_conf *conf)
{
	const struct line_dev *dev = timely_dev_of(ts);

	/* The work that asks the device writes what it learns under RTNL only. */
	return conf->rtt_source == TIMELY_RTT_AUTO &&
	       (conf->profile == TIMELY_PROFILE_PAPER || !dev || !READ_ONCE(dev->software));
}

/* Have the bus, or not, as is configured; after idleness, anew if it forgot us. */
static void timely_set_source(struct sock *sk, const struct timely_conf *conf)
{
	struct timely_sock *ts = timely_sk(sk);

	if ((ts->flags & TIMELY_F_NIC) && (!timely_wants_nic(ts, conf) ||
					   nic_ts_flow_aged(ts->nic->flow)))
		timely_nic_detach(ts);
	if (!(ts->flags & TIMELY_F_NIC) && timely_wants_nic(ts, conf))
		timely_nic_attach(sk);
}

/*
 * Have TCP pace if the qdisc no longer does, see cc_take_pacing(): RTTs of data in flight
 * are then unknown.
 *
 * fq does not change departure times when the rate changes. With pacing=tcp TCP always
 * paces, and this function says so to TCP before it sends. fq claims the pacing at each
 * packet, so the second segment of a burst waits in fq, but no third one.
 *
 * @rs: rate sample of an ACK, or NULL
 */
static void timely_check_pacing(struct sock *sk, struct timely_net *tn,
				const struct rate_sample *rs)
{
	struct timely_sock *ts = timely_sk(sk);
	u64 ahead_ns;

	if (READ_ONCE(sk->sk_pacing_status) != SK_PACING_FQ)
		return;
	rcu_read_lock();
	if (rcu_dereference(tn->conf)->pacing == TIMELY_PACING_TCP)
		cmpxchg(&sk->sk_pacing_status, SK_PACING_FQ, SK_PACING_NEEDED);
	rcu_read_unlock();

	if (!cc_take_pacing(sk, rs, &ahead_ns))
		return;
	trace_timely_unpaced(sk, ahead_ns);
	timely_count(tn, TIMELY_STAT_UNPACED);
	ts->seg_send_ns = min_t(u64, ts->seg_send_ns, tcp_clock_ns());
	ts->retrans_seq = tcp_sk(sk)->snd_nxt;
	ts->flags |= TIMELY_F_RETRANS;
}

/* Remember the oldest segment in flight, the one the next ACKs are about. */
static void timely_set_segment(struct timely_sock *ts, u32 seq, u32 end_seq, u64 send_ns)
{
	ts->seg_seq = seq;
	ts->seg_end = end_seq;
	ts->seg_send_ns = send_ns;
	ts->part_packets = 0;
	ts->flags |= TIMELY_F_SEGMENT;
}

/*
 * An ACK covers @bytes of the remembered segment, and the one before @gap_ns ago covered what is
 * before them: so fast the path carried them.
 */
static void timely_learn_link(const struct sock *sk, const struct timely_conf *conf, u32 bytes,
			      s64 gap_ns)
{
	struct timely_sock *ts = timely_sk(sk);

	if (conf->profile == TIMELY_PROFILE_AUTO && gap_ns >= 0 &&
	    !(ts->flags & (TIMELY_F_RETRANS | TIMELY_F_SACKED)))
		timely_auto_gap(&ts->flow, bytes, gap_ns, tcp_sk(sk)->tcp_clock_cache,
				cc_cap(sk, timely_line_rate(ts, conf)));
}

/*
 * The same of the ACK that covers the segment to its end. Of one that covers all of it the first
 * two packets could not have been acknowledged earlier. The ACK of a single packet waits for
 * the next segment.
 */
static void timely_learn_end(const struct sock *sk, const struct timely_conf *conf)
{
	const struct timely_sock *ts = timely_sk(sk);
	u32 mss = cc_mss(sk), bytes = ts->seg_end - ts->seg_seq;
	u32 before = (ts->part_packets ?: 2) * mss;
	s64 time_ns = tcp_sk(sk)->tcp_clock_cache - ts->seg_send_ns;

	if (bytes > before + mss)
		timely_learn_link(sk, conf, bytes - before,
				  ts->part_packets ? time_ns - ts->part_ns : 0);
}

/* An ACK covered a part of the remembered segment: keep when, and how much. */
static void timely_set_partial(const struct sock *sk, const struct timely_conf *conf)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct timely_sock *ts = timely_sk(sk);
	s64 time_ns = tp->tcp_clock_cache - ts->seg_send_ns;
	u32 packets, mss = cc_mss(sk);

	if (!after(tp->snd_una, ts->seg_seq))
		return;
	packets = min_t(u32, (tp->snd_una - ts->seg_seq) / mss, U8_MAX);
	if (ts->part_packets && packets > ts->part_packets)
		timely_learn_link(sk, conf, (packets - ts->part_packets) * mss,
				  time_ns - ts->part_ns);
	ts->part_packets = packets;
	ts->part_ns = clamp_t(s64, time_ns, 0, U32_MAX);
}

/* The flow's state is of the other profile: begin anew, at the same rate. */
static void timely_set_profile(struct timely_sock *ts, const struct timely_conf *conf)
{
	bool by_rule = conf->profile == TIMELY_PROFILE_AUTO;

	if (ts->flow.by_rule == by_rule)
		return;
	timely_forget(ts, true);
	timely_auto_started(&ts->flow);
	ts->flow.by_rule = by_rule;
}

/* A device without a wire: by so much RTTs of a path may differ by what CPUs do for them, ns. */
#define TIMELY_WORK_NS	NSEC_PER_MSEC

/*
 * RTT of the path for a flow that has not measured it, ns; 0: unknown. It is that of the handshake,
 * or a shorter one since. Far above the lowest RTT of all connections, it has met a queue, or the
 * work of a CPU: MSG_ZEROCOPY takes longer than copies, and so does a program that wakes late.
 */
static u32 timely_path_ns(struct sock *sk)
{
	u32 us = tcp_min_rtt(tcp_sk(sk)), own_ns, lowest_ns;
	int ifindex = cc_egress(sk);
	struct or_addrs addrs;

	own_ns = us <= U32_MAX / NSEC_PER_USEC ? us * NSEC_PER_USEC : 0;
	or_path_addrs(sk, &addrs);
	or_path_report(sock_net(sk), &addrs, ifindex, OR_PATH_TCP, own_ns, OR_PATH_SEEN);
	lowest_ns = or_path_rtt(sock_net(sk), &addrs, ifindex, OR_PATH_TCP);
	if (!lowest_ns || (own_ns && or_path_near(own_ns, lowest_ns)))
		return own_ns;
	if (timely_sk(sk)->flow.unwired && own_ns && own_ns - lowest_ns < TIMELY_WORK_NS)
		return own_ns;
	return lowest_ns;
}

/* The flow takes another RTT for that of the path than before: tell of it. */
static void timely_report_path(struct sock *sk, u32 before_ns, u8 source)
{
	u32 base_ns = timely_sk(sk)->flow.base_ns;
	struct or_addrs addrs;

	/* Those of the bus are by other clocks. */
	if (base_ns == before_ns || source != TIMELY_SOURCE_TCP)
		return;
	or_path_addrs(sk, &addrs);
	or_path_report(sock_net(sk), &addrs, cc_egress(sk), OR_PATH_TCP, base_ns,
		       before_ns && base_ns > before_ns ? OR_PATH_CHANGED : OR_PATH_SEEN);
}

/*
 * Set what the profile auto takes from the device. Of W: what NICs are told to wait is longest for
 * data at the receiver, which is taken to wait as long as this host, and for its ACK here: twice
 * that. The lowest RTT as a rule has some of both.
 */
static void timely_set_path(struct timely_sock *ts, const struct timely_conf *conf)
{
	const struct line_dev *dev = timely_dev_of(ts);
	/* A configured line rate is that of a wire. */
	bool wired = conf->line_rate_bps || (dev && READ_ONCE(dev->wired));
	u64 wait_ns = dev ? READ_ONCE(dev->rx_wait_us) * (u64)(3 * NSEC_PER_USEC / 2) : 0;

	timely_auto_set_wait(&ts->flow, conf->rx_wait_ns ?: wait_ns);
	if (timely_auto_set_wired(&ts->flow, wired))
		timely_forget(ts, true);
}

/* Start a flow, or start it over after @idle, at @bps or the rate that its profile derives. */
static void timely_begin(struct sock *sk, const struct timely_conf *conf, bool idle,
			 u64 bps, u64 cap_bps, u64 now_ns)
{
	struct timely_sock *ts = timely_sk(sk);
	u32 path_ns;

	if (conf->profile == TIMELY_PROFILE_PAPER) {
		if (idle)
			timely_restart_idle(&ts->flow, &conf->core, bps, cap_bps, now_ns);
		else
			timely_restart(&ts->flow, &conf->core, bps, cap_bps, now_ns);
		return;
	}
	timely_set_path(ts, conf);
	path_ns = ts->flow.base_ns ? 0 : timely_path_ns(sk);
	if (idle)
		timely_auto_resume(&ts->flow, cap_bps, path_ns, now_ns);
	else
		timely_auto_start(&ts->flow, bps, cap_bps, path_ns, now_ns);
}

/* Count a start, or a restart after idleness, from @old_bps; trace it. */
static void timely_count_start(struct sock *sk, struct timely_net *tn,
			       const struct timely_conf *conf, u64 old_bps, u64 cap_bps,
			       u32 others, u64 idle_ns)
{
	const struct timely_sock *ts = timely_sk(sk);
	u64 bps = timely_rate_bps(&ts->flow);

	if (ts->flags & TIMELY_F_STARTED) {
		timely_count(tn, TIMELY_STAT_IDLE_RESTARTS);
		trace_timely_idle(sk, old_bps, bps, cap_bps, others, idle_ns);
		return;
	}
	timely_count(tn, TIMELY_STAT_STARTS);
	trace_timely_start(sk, old_bps, bps, cap_bps, others, idle_ns);
	if (line_rate_unknown(timely_dev_of(ts), conf->line_rate_bps))
		timely_count(tn, TIMELY_STAT_DEFAULT_LINE);
}

/*
 * Data after none was in flight: a new flow takes C / (N + 1); one that was
 * idle for long takes it if it had more, or C by the profile auto.
 */
static void timely_tx_start(struct sock *sk)
{
	struct timely_net *tn = timely_sock_net(sk);
	struct timely_sock *ts = timely_sk(sk);
	u64 now_ns = tcp_sk(sk)->tcp_clock_cache;
	u64 line_bps, cap_bps, old_bps, bps, idle_ns;
	const struct timely_conf *conf;
	bool was_active, auto_law;
	struct sk_buff *skb;
	u32 others, cwnd;
	u64 restart_ns;

	/* Data in SYN goes out before init(). */
	if (!(ts->flags & TIMELY_F_INIT))
		return;
	/* Called while the first segment goes out: it is not in flight yet. */
	skb = tcp_send_head(sk);
	if (skb && tcp_rtx_queue_empty(sk))
		timely_set_segment(ts, TCP_SKB_CB(skb)->seq,
				   TCP_SKB_CB(skb)->end_seq, skb->skb_mstamp_ns);

	was_active = ts->flags & TIMELY_F_ACTIVE;
	timely_set_active(sk);
	timely_set_shift(ts, min(timely_shift(ts),
				 cc_pacing_shift(line_tx_wait_us(timely_dev_of(ts)))));

	rcu_read_lock();
	conf = rcu_dereference(tn->conf);
	timely_set_source(sk, conf);
	/* Not from the last sample on: a flow whose samples are all dropped is not idle. */
	idle_ns = now_ns - min(tcp_sk(sk)->delivered_mstamp * NSEC_PER_USEC, now_ns);
	/* A pause with data waiting is pacing, not idleness. */
	auto_law = conf->profile == TIMELY_PROFILE_AUTO;
	timely_set_profile(ts, conf);
	restart_ns = auto_law ? timely_auto_idle_ns(&ts->flow) : conf->idle_restart_ns;
	if ((ts->flags & TIMELY_F_STARTED) &&
	    (was_active || !restart_ns || idle_ns < restart_ns))
		goto unlock;

	line_bps = timely_line_rate(ts, conf);
	old_bps = timely_rate_bps(&ts->flow);
	others = timely_others(ts);
	cap_bps = cc_cap(sk, line_bps);
	bps = timely_start_bps(cap_bps, others);
	timely_begin(sk, conf, ts->flags & TIMELY_F_STARTED, bps, cap_bps, now_ns);
	timely_pace(sk);
	timely_count_start(sk, tn, conf, old_bps, cap_bps, others, idle_ns);
	ts->flags |= TIMELY_F_STARTED;
	ts->flow.sent = (u32)tcp_sk(sk)->bytes_sent;
	timely_bound_segment(sk, conf);
	cwnd = timely_cwnd_limit(sk, conf, line_bps);
	/* A start by the rule has the window of any other TCP, or its own from before. */
	if (auto_law)
		cwnd = min_t(u32, cwnd, max_t(u32, tcp_snd_cwnd(tcp_sk(sk)), TCP_INIT_CWND));
	tcp_snd_cwnd_set(tcp_sk(sk), cwnd);
unlock:
	rcu_read_unlock();
}

COMPAT_CWND_EVENT_TX_START(timely_tx_start);

static void timely_init(struct sock *sk)
{
	struct timely_sock *ts = timely_sk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	const struct timely_conf *conf;
	u64 cap_bps;

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
	ts->retrans = (u8)tp->total_retrans;
	ts->lost = tp->lost;
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	/* fq and its like set SK_PACING_FQ themselves, at their first packet. */
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);

	timely_set_shift(ts, CC_PACING_SHIFT);
	sk_pacing_shift_update(sk, CC_PACING_SHIFT);

	/* In the middle of a connection the start cannot wait for TX_START. */
	if (tp->packets_out) {
		timely_tx_start(sk);
		return;
	}

	rcu_read_lock();
	conf = rcu_dereference(timely_sock_net(sk)->conf);
	cap_bps = cc_cap(sk, timely_line_rate(ts, conf));
	timely_begin(sk, conf, false, cap_bps, cap_bps, 0);
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
	if (ts->flags & TIMELY_F_STARTED)
		cc_leave_window(sk, timely_rate_bps(&ts->flow));
	timely_set_inactive(ts);
	timely_nic_detach(ts);
	if (ts->dev)
		timely_dev_put(ts->dev);
	cc_unbound_segment(sk);
	sk_pacing_shift_update(sk, CC_PACING_SHIFT_DEFAULT);
	memset(ts, 0, sizeof(*ts));
}

/* Why the bus is not asked. */
static void timely_count_unattached(const struct sock *sk, const struct timely_conf *conf)
{
	const struct timely_sock *ts = timely_sk(sk);
	struct timely_net *tn = timely_sock_net(sk);

	if (timely_wants_nic(ts, conf))
		timely_count(tn, rcu_access_pointer(nic_ts_bus) ? TIMELY_STAT_NO_FLOW :
								   TIMELY_STAT_NO_BUS);
	else if (conf->rtt_source == TIMELY_RTT_AUTO)
		timely_count(tn, TIMELY_STAT_SOFTWARE);
}

/*
 * Measure by timestamps of the bus: those of the ACK that completed the segment, not of
 * its processing. Returns false if the bus has none for the completed segment.
 */
static bool timely_measure_nic(const struct sock *sk, struct timely_completion *done)
{
	const struct timely_sock *ts = timely_sk(sk);
	struct timely_net *tn = timely_sock_net(sk);
	enum nic_ts_verdict verdict;
	struct nic_ts_rtt rtt;

	verdict = nic_ts_flow_rtt(ts->nic->flow, tcp_sk(sk)->snd_una, &rtt);
	if (verdict != NIC_TS_RTT_OK) {
		timely_count(tn, TIMELY_STAT_NO_TX + verdict - NIC_TS_RTT_NO_TX);
		return false;
	}
	/* The bus did not see the segment leave: this is an older one. */
	if (before(rtt.end_seq, ts->seg_end)) {
		timely_count(tn, TIMELY_STAT_NIC_OLD);
		return false;
	}
	timely_measured_by(&rtt, ts->seg_seq, ts->seg_end, cc_mss(sk), done);
	return true;
}

/*
 * Measure by TCP's clock. The ACK covers the remembered segment to its end. The newest
 * completed segment is
 *  - the last one that TCP took a timestamp from, if all of that is acknowledged:
 *    the queue is empty, or its head was sent at another time;
 *  - else the remembered one: the timestamp is that of the head.
 * The ACK may cover a part of the head, which is newer still. Then measure that part: ACKs
 * before this one may have been lost, and the remembered segment arrived earlier; or another
 * segment was between them, whose departure is unknown now; or the last packet of the
 * remembered segment waited at the receiver for the first one of the head, and by the time
 * of the ACK before it the RTT would be as old as the head is late.
 * The size of a segment that an ACK covers together with older ones is unknown; it is at
 * most a whole segment.
 */
static void timely_measure_tcp(const struct sock *sk, const struct rate_sample *rs,
			       const struct sk_buff *head, u32 whole,
			       struct timely_completion *done)
{
	const struct timely_sock *ts = timely_sk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 mss = cc_mss(sk);
	u32 covered = ts->part_packets * mss;
	bool known = covered && ts->part_ns < U32_MAX &&
		     ts->seg_end - ts->seg_seq <= covered + mss;
	u32 left, part;
	u64 send_us;

	done->bound = rs->is_ack_delayed;
	done->source = TIMELY_SOURCE_TCP;
	send_us = tp->tcp_mstamp - rs->rtt_us;
	if (div_u64(ts->seg_send_ns, NSEC_PER_USEC) != send_us &&
	    !(head && tcp_skb_timestamp_us(head) == send_us)) {
		done->time_ns = tp->tcp_clock_cache - send_us * NSEC_PER_USEC;
		done->bytes = min(tp->snd_una - ts->seg_end, whole);
		return;
	}
	if (head && tcp_skb_timestamp_us(head) == send_us) {
		left = TCP_SKB_CB(head)->end_seq - tp->snd_una;
		part = min(left < whole ? whole - left : 0, tp->snd_una - ts->seg_end);
		if (part || TCP_SKB_CB(head)->end_seq - ts->seg_end > whole) {
			done->time_ns = tp->tcp_clock_cache - head->skb_mstamp_ns;
			done->bytes = part ?: min(tp->snd_una - ts->seg_end, whole);
			/*
			 * The receiver may have delayed the ACK of a single packet. With the
			 * last one of the remembered segment it is the second one.
			 */
			done->bound |= done->bytes <= mss && !(part && known);
			return;
		}
	}

	done->time_ns = tp->tcp_clock_cache - ts->seg_send_ns;
	done->bytes = ts->seg_end - ts->seg_seq;
	if (done->bytes > covered + mss)
		return;
	/* One packet was left, and its ACK was perhaps delayed. */
	if (known) {
		done->time_ns = ts->part_ns;
		done->bytes = min(done->bytes, covered);
		done->bound = false;
	} else {
		done->bound = true;
	}
}

static void timely_measure(const struct sock *sk, const struct timely_conf *conf,
			   const struct rate_sample *rs, const struct sk_buff *head,
			   u32 whole, struct timely_completion *done)
{
	const struct timely_sock *ts = timely_sk(sk);

	done->ambiguous = rs->rtt_us < 0 || (ts->flags & TIMELY_F_RETRANS);
	done->sacked = tcp_sk(sk)->sacked_out || (ts->flags & TIMELY_F_SACKED);
	if (done->ambiguous || done->sacked)
		return;
	if (!(ts->flags & TIMELY_F_NIC))
		timely_count_unattached(sk, conf);
	else if (timely_measure_nic(sk, done))
		return;
	timely_measure_tcp(sk, rs, head, whole, done);
}

/*
 * Return whether this ACK completes a segment. The covered data has left the queue, and a
 * segment that is covered in part has lost its head. So the oldest segment is remembered
 * from ACK to ACK.
 */
static bool timely_completion(struct sock *sk, const struct timely_conf *conf,
			      const struct rate_sample *rs,
			      struct timely_completion *done)
{
	struct timely_sock *ts = timely_sk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 whole = (u32)sk->sk_gso_max_segs * tp->mss_cache;
	struct sk_buff *head = tcp_rtx_queue_head(sk);
	struct tcp_skb_cb *scb;
	u32 end = ts->seg_end;
	bool completed;
	u32 seq;

	/*
	 * TCP falls back to its timestamp option here, so that rs->rtt_us does
	 * not tell. Any retransmission makes all that was in flight ambiguous.
	 */
	if (ts->retrans != (u8)tp->total_retrans) {
		ts->retrans = (u8)tp->total_retrans;
		ts->retrans_seq = tp->snd_nxt;
		ts->flags |= TIMELY_F_RETRANS;
	}

	completed = (ts->flags & TIMELY_F_SEGMENT) && !before(tp->snd_una, end);

	if (completed) {
		timely_measure(sk, conf, rs, head, whole, done);
		timely_learn_end(sk, conf);
	}

	if (tp->sacked_out)
		ts->flags |= TIMELY_F_SACKED;
	else
		ts->flags &= ~TIMELY_F_SACKED;
	if (!before(tp->snd_una, ts->retrans_seq))
		ts->flags &= ~TIMELY_F_RETRANS;

	if (!head) {
		ts->flags &= ~TIMELY_F_SEGMENT;
		return completed;
	}
	if (completed || !(ts->flags & TIMELY_F_SEGMENT)) {
		scb = TCP_SKB_CB(head);
		seq = scb->seq;
		/*
		 * If this ACK covers a part of it, that part is gone, and it began where the
		 * last one ended, or later: then TCP has measured by its timestamp.
		 */
		if (completed && seq == tp->snd_una && rs->rtt_us >= 0 &&
		    tcp_skb_timestamp_us(head) == tp->tcp_mstamp - rs->rtt_us)
			seq = scb->end_seq - min(scb->end_seq - end,
						 max(whole, scb->end_seq - seq));
		timely_set_segment(ts, seq, scb->end_seq, head->skb_mstamp_ns);
	}
	timely_set_partial(sk, conf);
	return completed;
}

/* Drop a sample. Returns 0: without a sample the window does not grow. */
static u32 timely_drop(const struct sock *sk, struct timely_net *tn,
		       enum timely_drop reason, s64 rtt_ns)
{
	timely_count(tn, TIMELY_STAT_DROP_RETRANS + reason);
	trace_timely_drop(sk, reason, rtt_ns);
	return 0;
}

/* Return whether this RTT is of the source that the flow follows. */
static bool timely_follow(struct sock *sk, struct timely_net *tn, u8 source)
{
	struct timely_sock *ts = timely_sk(sk);
	u8 before;

	if (!(ts->flags & TIMELY_F_NIC))
		return true;
	before = ts->nic->sources.used;
	switch (timely_source_step(&ts->nic->sources, source)) {
	case TIMELY_SOURCE_SKIP:
		return false;
	case TIMELY_SOURCE_CHANGED:
		timely_forget(ts, ts->flow.by_rule);
		if (before != TIMELY_SOURCE_NONE)
			timely_count(tn, TIMELY_STAT_SOURCE_CHANGES);
		break;
	case TIMELY_SOURCE_SAME:
		break;
	}
	return true;
}

/* Tlow of a flow, ns. */
static u64 timely_t_low(const struct sock *sk, const struct timely_conf *conf, u64 cap_bps)
{
	struct timely_auto a;

	if (conf->profile == TIMELY_PROFILE_PAPER)
		return conf->core.t_low_ns;
	timely_auto_params(&timely_sk(sk)->flow, timely_auto_bytes(sk, conf), cap_bps, &a);
	return a.t_low_ns;
}

/* Return the bytes that were sent since the last decision. */
static u32 timely_sent(struct sock *sk)
{
	struct timely_sock *ts = timely_sk(sk);
	u32 sent = (u32)tcp_sk(sk)->bytes_sent - ts->flow.sent;

	ts->flow.sent += sent;
	return sent;
}

/* Does a flow that C alone limits get it? Then C is not the device's line rate. */
static void timely_show_line(struct sock *sk, struct timely_net *tn, u64 cap_bps, u64 now_ns,
			     u64 elapsed_ns, u32 sent_bytes)
{
	struct line_dev *dev = timely_dev_of(timely_sk(sk));
	u32 mbit;

	if (!dev)
		return;
	mbit = line_dev_show(dev, cap_bps, now_ns, elapsed_ns, sent_bytes);
	if (!mbit)
		return;
	timely_count(tn, TIMELY_STAT_LINE_RISES);
	trace_timely_line(sk, dev->ifindex, mbit);
}

/*
 * Return the queue of the way there, ns, as an OR-ACK told it about data that left lately; 0: none
 * did. They stop where On-Ramp no longer follows the flow, and RTTs count again.
 */
static u32 timely_queue_ns(const struct sock *sk, struct timely_net *tn,
			   const struct timely_conf *conf, u64 rtt_ns)
{
	struct or_delay delay;

	if (conf->signal != TIMELY_SIGNAL_OWD)
		return 0;
	if (!or_delay(sk, tcp_sk(sk)->tcp_clock_cache, &delay) ||
	    !timely_owd_counts(delay.age_ns, rtt_ns, timely_rate_bps(&timely_sk(sk)->flow),
			       cc_mss(sk))) {
		timely_count(tn, TIMELY_STAT_NO_OWD);
		return 0;
	}
	timely_count(tn, TIMELY_STAT_OWD);
	return delay.queue_ns;
}

/* By the profile auto: the window of a start in bytes is at most 2^30. */
static void timely_complete_auto(struct sock *sk, struct timely_net *tn,
				 const struct timely_conf *conf, u64 rtt_ns, u32 queue_ns,
				 u64 now_ns, u32 bytes, u64 cap_bps,
				 struct timely_result *res)
{
	const struct timely_params *p = &conf->core;
	struct timely_sock *ts = timely_sk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 window = (u64)tcp_snd_cwnd(tp) * cc_mss(sk), elapsed_ns = now_ns - ts->flow.last_ns;
	u32 sent = 0;
	bool due;
	struct timely_event event = {
		.rtt_ns = max(rtt_ns, p->rtt_floor_ns), .now_ns = now_ns,
		.bytes = bytes, .queue_ns = queue_ns,
		.window = min_t(u64, window, TIMELY_MAX_OUTSTANDING),
	};

	due = !ts->flow.starting && timely_auto_due(&ts->flow, now_ns);
	if (ts->flow.starting || due)
		sent = timely_sent(sk);
	if (ts->flow.starting)
		timely_auto_sent(&ts->flow, sent);
	else if (due)
		timely_auto_account(&ts->flow, p, cap_bps, elapsed_ns, sent, rtt_ns,
				    !tp->app_limited &&
				    tp->chrono_type != TCP_CHRONO_RWND_LIMITED,
				    tp->is_cwnd_limited);
	timely_auto_update(&ts->flow, &event, timely_auto_bytes(sk, conf), cap_bps, res);
	if (due && !conf->line_rate_bps && timely_auto_at_cap(&ts->flow, cap_bps, res))
		timely_show_line(sk, tn, cap_bps, now_ns, elapsed_ns, sent);
}

/* By the profile paper. */
static void timely_complete_paper(struct sock *sk, const struct timely_conf *conf,
				  u64 rtt_ns, u32 queue_ns, u64 now_ns, u64 cap_bps,
				  struct timely_result *res)
{
	const struct timely_params *p = &conf->core;
	struct timely_sock *ts = timely_sk(sk);
	u32 lowest_ns = min_t(u64, max_t(u64, rtt_ns, 1), U32_MAX);

	rtt_ns = timely_way_there(rtt_ns, p->min_rtt_ns, queue_ns);

	timely_window(&ts->flow, p, now_ns - min(ts->flow.last_ns, now_ns), timely_sent(sk),
		      rtt_ns);
	timely_update(&ts->flow, p, rtt_ns, now_ns, cap_bps, res);
	/* get_info() reads it without the socket lock. */
	if (!ts->flow.base_ns || lowest_ns < ts->flow.base_ns)
		WRITE_ONCE(ts->flow.base_ns, lowest_ns);
}

/* Count a decision. */
static void timely_count_result(struct timely_net *tn, const struct timely_result *res)
{
	timely_count(tn, TIMELY_STAT_COMPLETIONS);
	timely_count(tn, TIMELY_STAT_LOW + res->branch);
	if (res->held)
		timely_count(tn, TIMELY_STAT_HELD);
}

/* A completion event: the heart of it. Returns the packets by which the window may open. */
static u32 timely_complete(struct sock *sk, struct timely_net *tn,
			   const struct timely_conf *conf, u64 line_bps,
			   const struct timely_completion *done)
{
	struct timely_sock *ts = timely_sk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct timely_params *p = &conf->core;
	u64 now_ns = tp->tcp_clock_cache;
	u64 serialisation_ns = 0, prev_rtt_ns, old_bps, cap_bps;
	u32 path_ns, queue_ns;
	struct timely_result res;
	s64 rtt_ns;

	/* As of enum timely_branch, see timely.h. */
	BUILD_BUG_ON(TIMELY_STAT_DROP_SOURCE - TIMELY_STAT_DROP_RETRANS != TIMELY_DROP_SOURCE);

	if (done->ambiguous)
		return timely_drop(sk, tn, TIMELY_DROP_RETRANS, 0);
	if (done->sacked)
		return timely_drop(sk, tn, TIMELY_DROP_SACKED, 0);

	timely_set_profile(ts, conf);
	timely_count(tn, TIMELY_STAT_RTT_TCP + done->source - TIMELY_SOURCE_TCP);
	cap_bps = cc_cap(sk, line_bps);
	if (conf->profile == TIMELY_PROFILE_AUTO)
		timely_set_path(ts, conf);
	if (conf->profile == TIMELY_PROFILE_PAPER || !ts->flow.unwired)
		serialisation_ns = timely_serialisation_ns(cc_wire_bytes(sk, done->bytes),
							   line_bps);
	rtt_ns = done->time_ns - (s64)serialisation_ns;
	/*
	 * A token bucket passes a segment faster than the line rate, and then there is no
	 * queue. Without a sample the rate would never rise.
	 */
	rtt_ns = max_t(s64, rtt_ns, 0);
	if (rtt_ns < (s64)p->rtt_floor_ns)
		timely_count(tn, TIMELY_STAT_FLOOR);
	else if (done->bound && rtt_ns >= (s64)timely_t_low(sk, conf, cap_bps))
		return timely_drop(sk, tn, TIMELY_DROP_DELAYED, rtt_ns);
	if (!timely_follow(sk, tn, done->source))
		return timely_drop(sk, tn, TIMELY_DROP_SOURCE, rtt_ns);

	old_bps = timely_rate_bps(&ts->flow);
	queue_ns = timely_queue_ns(sk, tn, conf, done->time_ns);
	if (conf->profile == TIMELY_PROFILE_AUTO) {
		path_ns = ts->flow.base_ns;
		prev_rtt_ns = ts->flow.mean_ns;
		timely_complete_auto(sk, tn, conf, rtt_ns, queue_ns, now_ns, done->bytes, cap_bps,
				     &res);
		timely_report_path(sk, path_ns, done->source);
	} else {
		prev_rtt_ns = ts->flow.prev_rtt_ns;
		timely_complete_paper(sk, conf, rtt_ns, queue_ns, now_ns, cap_bps, &res);
	}
	timely_count_result(tn, &res);
	trace_timely_update(sk, rtt_ns, queue_ns, serialisation_ns, prev_rtt_ns,
			    done->bytes, old_bps, timely_rate_bps(&ts->flow),
			    cap_bps, &res, ts->flow.neg_count, done->source);

	/* get_info() reads it without the socket lock. */
	WRITE_ONCE(ts->flow.count, ts->flow.count + 1);
	return timely_auto_opening(&res, sk->sk_gso_max_segs, tcp_snd_cwnd(tp));
}

/*
 * The bus may have come while the flow was busy, or is not to be used any more.
 *
 * @samples: before the completion; unchanged, it was dropped
 */
static void timely_review_source(struct sock *sk, const struct timely_conf *conf, u32 samples)
{
	const struct timely_sock *ts = timely_sk(sk);

	if (ts->flags & TIMELY_F_NIC ? !timely_wants_nic(ts, conf) :
				       ts->flow.count != samples &&
				       !(ts->flow.count % TIMELY_ATTACH_SAMPLES))
		timely_set_source(sk, conf);
}

/*
 * Return the RTT of the newest packet that arrived, less its whole segment's time, ns: TCP does not
 * tell which packet of a segment it is. It left after the lost ones, and met the same queue. It is
 * by TCP's clock. Where the bus measures D, it seems longer, and the rate is cut by more.
 */
static u64 timely_newest_rtt(const struct sock *sk, const struct timely_conf *conf,
			     u64 line_bps, u64 cap_bps)
{
	const struct timely_flow *f = &timely_sk(sk)->flow;
	u64 rtt_ns = (u64)tcp_sk(sk)->rack.rtt_us * NSEC_PER_USEC;
	u32 bytes = timely_segment_bytes(sk, conf);
	u64 own_ns = timely_auto_own_ns(f, bytes, cap_bps);

	if (!f->unwired)
		own_ns += timely_serialisation_ns(cc_wire_bytes(sk, bytes), line_bps);
	return rtt_ns - min(rtt_ns, own_ns);
}

/*
 * The answer to losses.
 *
 * @state: which TCP enters for them; TCP_CA_Open: it has found more in its recovery
 */
static void timely_cut(struct sock *sk, struct timely_net *tn,
		       const struct timely_conf *conf, u8 state)
{
	struct timely_sock *ts = timely_sk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 line_bps = timely_line_rate(ts, conf), cap_bps = cc_cap(sk, line_bps);
	u64 old_bps = timely_rate_bps(&ts->flow), rtt_ns = 0, cut = TIMELY_ONE;
	bool timeout = state == TCP_CA_Loss;
	u32 lost = tp->lost - ts->lost;

	ts->lost = tp->lost;
	if (conf->profile == TIMELY_PROFILE_AUTO) {
		/* A full queue loses many, which TCP finds one after the other. */
		if (state == TCP_CA_Recovery)
			rtt_ns = timely_newest_rtt(sk, conf, line_bps, cap_bps);
		if (!timeout)
			cut = timely_auto_lost(&ts->flow, lost, tp->packets_out, rtt_ns,
					       timely_auto_bytes(sk, conf), cap_bps);
		timely_auto_loss(&ts->flow, &conf->core, cut, cap_bps);
	} else if (state != TCP_CA_Open) {
		timely_loss(&ts->flow, &conf->core, cap_bps);
	} else {
		return;
	}
	timely_count(tn, timeout ? TIMELY_STAT_TIMEOUT_CUTS :
				   TIMELY_STAT_LOSS_CUTS);
	trace_timely_loss(sk, timeout, false, lost, rtt_ns, old_bps,
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
		ts->flow.before = timely_coarse_rate(&ts->flow);
	rcu_read_lock();
	timely_cut(sk, tn, rcu_dereference(tn->conf), new_state);
	rcu_read_unlock();
	timely_check_pacing(sk, tn, NULL);
}

/* Called by TCP when it finds that a recovery was for nothing. */
static u32 timely_undo_cwnd(struct sock *sk)
{
	struct timely_net *tn = timely_sock_net(sk);
	struct timely_sock *ts = timely_sk(sk);
	u64 old_bps = timely_rate_bps(&ts->flow);
	u64 rate_q = timely_coarse_to_rate(ts->flow.before);

	if (rate_q > ts->flow.rate_q) {
		ts->flow.rate_q = rate_q;
		timely_count(tn, TIMELY_STAT_UNDOS);
		trace_timely_loss(sk, false, true, 0, 0, old_bps,
				  timely_rate_bps(&ts->flow));
		timely_pace(sk);
	}
	ts->flow.before = 0;
	ts->flow.doubted = 0;
	return max(tcp_snd_cwnd(tcp_sk(sk)), tcp_sk(sk)->prior_cwnd);
}

/*
 * The rate is the control; cwnd is a limit, but after a timeout, and while a start by the
 * rule opens it. By the rule it opens with each decision that is no cut.
 *
 * @packets: by which it may open
 */
static void timely_set_cwnd(struct sock *sk, const struct timely_conf *conf,
			    u64 line_bps, const struct rate_sample *rs, u32 packets)
{
	struct timely_flow *f = &timely_sk(sk)->flow;
	u32 limit = timely_cwnd_limit(sk, conf, line_bps);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd = tcp_snd_cwnd(tp);

	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Loss)
		cwnd += rs->acked_sacked;
	else if (conf->profile == TIMELY_PROFILE_AUTO)
		/* Of lone packets no RTT above Tlow counts: after a timeout it would stay shut. */
		cwnd = max_t(u32, cwnd + packets, 2 * TIMELY_MIN_SEGMENTS);
	else
		cwnd = limit;
	if (cwnd >= limit && !timely_auto_message(f))
		timely_auto_started(f);
	tcp_snd_cwnd_set(tp, max(min(cwnd, limit), 1U));
}

static void timely_cong_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct timely_net *tn = timely_sock_net(sk);
	struct timely_sock *ts = timely_sk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct timely_conf *conf;
	struct timely_completion done;
	u32 samples = ts->flow.count;
	bool completed;
	u32 opening = 0;
	u64 line_bps;

	/* The ACK of the handshake comes before init(). */
	if (!(ts->flags & TIMELY_F_INIT))
		return;

	rcu_read_lock();
	conf = rcu_dereference(tn->conf);
	line_bps = timely_line_rate(ts, conf);

	if (tp->lost != ts->lost && inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery)
		timely_cut(sk, tn, conf, TCP_CA_Open);
	timely_check_pacing(sk, tn, rs);
	timely_set_shift(ts, cc_late_shift(sk, timely_shift(ts)));
	/* Retransmissions do not ask timely_min_tso_segs(). */
	sk_pacing_shift_update(sk, timely_shift(ts));
	completed = timely_completion(sk, conf, rs, &done);
	if (completed) {
		opening = timely_complete(sk, tn, conf, line_bps, &done);
		timely_review_source(sk, conf, samples);
	}
	if (completed || inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery)
		timely_pace(sk);
	if (completed)
		timely_bound_segment(sk, conf);
	if (completed || inet_csk(sk)->icsk_ca_state == TCP_CA_Loss)
		timely_set_cwnd(sk, conf, line_bps, rs, opening);
	rcu_read_unlock();

	/* All data is delivered and none waits: the flow is not one of the N now. */
	if (!tp->packets_out && tp->write_seq == tp->snd_nxt)
		timely_set_inactive(ts);
}

COMPAT_CONG_CONTROL(timely_cong_control);

static u32 timely_ssthresh(struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

/*
 * Have TCP send whole segments, even at rates at which it would send smaller ones. Not
 * during a recovery: TCP limits the data of a socket in a qdisc in proportion to the skb
 * that it is about to send. With segments of new data in fq a retransmission of one packet
 * would wait until it times out.
 */
static u32 timely_min_tso_segs(struct sock *sk)
{
	const struct timely_sock *ts = timely_sk(sk);

	if (!(ts->flags & TIMELY_F_INIT))
		return sk->sk_gso_max_segs;
	/* TCP is about to send, and asks nothing else of us before it does. */
	timely_check_pacing(sk, timely_sock_net(sk), NULL);
	if (inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery) {
		sk_pacing_shift_update(sk, timely_shift(ts));
		return min_t(u32, sk->sk_gso_max_segs, CC_RECOVERY_SEGS);
	}
	sk_pacing_shift_update(sk, READ_ONCE(sk->sk_pacing_status) == SK_PACING_NEEDED ?
				   cc_next_shift(sk, timely_shift(ts)) : timely_shift(ts));
	return sk->sk_gso_max_segs;
}

COMPAT_MIN_TSO_SEGS(timely_min_tso_segs);

/*
 * INET_DIAG_VEGASINFO: number of samples, smallest RTT, and the newest one, or 0
 * if there was none since the flow last started over. Without the socket lock.
 */
static size_t timely_get_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	const struct timely_sock *ts = timely_sk(sk);
	u32 samples = READ_ONCE(ts->flow.count);

	if (!(ext & (1 << (INET_DIAG_VEGASINFO - 1))))
		return 0;
	info->vegas.tcpv_enabled = samples != 0;
	info->vegas.tcpv_rttcnt = samples;
	/* data_race: the value may be old, or torn, and is for display only */
	info->vegas.tcpv_rtt = div_u64(data_race(ts->flow.by_rule ? ts->flow.mean_ns :
						 ts->flow.prev_rtt_ns), NSEC_PER_USEC);
	info->vegas.tcpv_minrtt = samples ? max_t(u32, READ_ONCE(ts->flow.base_ns) /
						  NSEC_PER_USEC, 1) : 0;
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
	.cong_control	= compat_cong_control(timely_cong_control),
	compat_min_tso_segs(timely_min_tso_segs),
	.get_info	= timely_get_info,
};

/* Reno, for MPTCP subflows. It is never registered, so users cannot choose it. */
static struct tcp_congestion_ops timely_reno __read_mostly = {
	.name		= "timely-reno",
	.owner		= THIS_MODULE,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
};

/**
 * timely_runs() - return whether a socket uses this module
 * @sk: a full TCP socket
 *
 * Context: any; without the socket lock it may be wrong afterwards.
 */
bool timely_runs(const struct sock *sk)
{
	return READ_ONCE(inet_csk(sk)->icsk_ca_ops) == &timely_ops;
}

/* The smoothed gradient in millionths: profile paper normalises it by min_rtt_ns. */
static s32 timely_gradient_ppm(const struct timely_flow *f, const struct timely_conf *conf)
{
	const s64 most = 1 << 30;
	s64 diff_ns;

	if (f->by_rule)
		return clamp_t(s64, (s64)f->slope_q * 1000000 / (1LL << TIMELY_SLOPE_SHIFT), -most,
			       most);
	/* RTTs are below 10 s, 2^34 ns. */
	diff_ns = f->rtt_diff_q / (1LL << TIMELY_DIFF_SHIFT);
	return clamp_t(s64, div64_s64(diff_ns * 1000000, max_t(s64, conf->core.min_rtt_ns, 1)),
		       -most, most);
}

/**
 * timely_sock_snapshot() - copy the state of a socket, for netlink
 * @sk: a full TCP socket
 * @snap: written
 *
 * Context: the socket lock.
 * Return: false if it does not use this module, or not any more.
 */
bool timely_sock_snapshot(struct sock *sk, struct timely_snapshot *snap)
{
	const struct timely_sock *ts = timely_sk(sk);
	const struct timely_flow *f = &ts->flow;
	const struct timely_conf *conf;

	if (!timely_runs(sk) || !(ts->flags & TIMELY_F_INIT))
		return false;
	rcu_read_lock();
	conf = rcu_dereference(timely_sock_net(sk)->conf);
	*snap = (struct timely_snapshot) {
		.rate_bps = timely_rate_bps(f),
		.rtt_ns = f->by_rule ? f->mean_ns : f->prev_rtt_ns,
		.min_rtt_ns = f->base_ns, .line_bps = timely_line_rate(ts, conf),
		.rtts = f->count, .gradient_ppm = timely_gradient_ppm(f, conf),
		.source = ts->flags & TIMELY_F_NIC ? ts->nic->sources.used :
			  f->count ? TIMELY_SOURCE_TCP : TIMELY_SOURCE_NONE,
		.by_rule = f->by_rule, .app_limited = f->app_limited,
	};
	rcu_read_unlock();
	return true;
}

/* timely_tcp_register() - let sockets choose it; process context; return 0 or a negative errno */
int __init timely_tcp_register(void)
{
	return tcp_register_congestion_control(&timely_ops);
}

/* timely_tcp_unregister() - undo timely_tcp_register(); no socket uses it any more */
void timely_tcp_unregister(void)
{
	tcp_unregister_congestion_control(&timely_ops);
}
