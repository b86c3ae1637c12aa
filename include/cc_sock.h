/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers that paced congestion controls share: sizes on the wire, segments, pacing.
 *
 * All of it under the socket lock, unless it says otherwise.
 */
#ifndef _CC_SOCK_H
#define _CC_SOCK_H

#include <linux/if_ether.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <net/dst.h>
#include <net/tcp.h>

/* Preamble, start of frame, FCS and inter-packet gap, bytes per packet. */
#define CC_FRAMING		(8 + 4 + 12)

/*
 * Most memory of packets outstanding, bytes, with 2 KB for the rest of each. The window is an
 * int. tcp_sndbuf_expand() multiplies it by twice the memory of a packet, in an int as well.
 */
#define CC_MAX_MEMORY		(1U << 29)
#define CC_PACKET_OVERHEAD	2048

/* Packets sent in one go during a recovery where the rate asks for no more. */
#define CC_RECOVERY_SEGS	2

/*
 * A socket may have data for 2^-14 s, 61 us, at its rate in a qdisc and the NIC, or two segments.
 * TCP's own 2^-10 s are 50 round trips of a datacenter. Waiting data has its departure times, so
 * a cut would have no effect for a millisecond. A time shorter than NICs take to report
 * completions would limit the rate, so it is longer where they do, see cc_set_pacing_shift().
 */
#define CC_PACING_SHIFT		14
#define CC_PACING_SHIFT_DEFAULT	10	/* sock_init_data(), and the longest time */
#define CC_PACING_SHIFT_MOST	31	/* no time at all; unsigned long may have 32 bits */

/* cc_mss() - payload of a full packet, never 0: it is divided by */
static inline u32 cc_mss(const struct sock *sk)
{
	return max_t(u32, tcp_sk(sk)->mss_cache, 1);
}

/* cc_wire_bytes() - size on the wire of @bytes of payload, with all headers and framing */
static inline u32 cc_wire_bytes(const struct sock *sk, u32 bytes)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 header = tp->tcp_header_len + ETH_HLEN + CC_FRAMING +
		     inet_csk(sk)->icsk_af_ops->net_header_len;

	return bytes + DIV_ROUND_UP(bytes, cc_mss(sk)) * header;
}

/**
 * cc_cap() - largest rate of a flow, bytes/s
 * @sk: socket
 * @line_bps: line rate, bytes/s, below 2^38; the payload of a packet is below 2^16
 *
 * Rates count payload, which is only a part of the bytes on the wire.
 */
static inline u64 cc_cap(const struct sock *sk, u64 line_bps)
{
	u32 mss = cc_mss(sk);

	return div_u64(line_bps * mss, cc_wire_bytes(sk, mss));
}

/* cc_max_packets() - the most packets that cwnd may allow, see CC_MAX_MEMORY */
static inline u32 cc_max_packets(const struct sock *sk)
{
	return CC_MAX_MEMORY / (cc_mss(sk) + CC_PACKET_OVERHEAD);
}

/**
 * cc_pacing_shift() - the pacing shift for a device
 * @wait_us: how long its NIC waits before it reports a completion, us
 *
 * Data that has left counts as waiting until then: 2^-shift s cover that and the 61 us.
 *
 * Return: %CC_PACING_SHIFT_DEFAULT to %CC_PACING_SHIFT.
 */
static inline int cc_pacing_shift(u32 wait_us)
{
	int shift = CC_PACING_SHIFT;

	wait_us = min_t(u32, wait_us, USEC_PER_MSEC) + (USEC_PER_SEC >> CC_PACING_SHIFT);
	while (shift > CC_PACING_SHIFT_DEFAULT && (u32)(USEC_PER_SEC >> shift) < wait_us)
		shift--;
	return shift;
}

/* cc_set_pacing_shift() - as cc_pacing_shift(), but what cc_check_pacing_shift() found stays */
static inline void cc_set_pacing_shift(struct sock *sk, u32 wait_us)
{
	sk_pacing_shift_update(sk, min_t(int, READ_ONCE(sk->sk_pacing_shift),
					 cc_pacing_shift(wait_us)));
}

/**
 * cc_late_shift() - does the NIC report completions later than ACKs come?
 * @sk: socket, at an ACK
 * @shift: its pacing shift
 *
 * A NIC may not tell how long it waits, or adapt that. If twice the data that is not acknowledged
 * is less than what counts as waiting, most of that has left long ago. If it also stops TCP from
 * sending at the socket's rate, let twice as much wait. A queue before the wire never looks
 * like that: what is in it is not acknowledged.
 *
 * Return: the new pacing shift.
 */
static inline int cc_late_shift(const struct sock *sk, int shift)
{
	u32 waiting = refcount_read(&sk->sk_wmem_alloc);

	if (shift > CC_PACING_SHIFT_DEFAULT &&
	    waiting > READ_ONCE(sk->sk_pacing_rate) >> shift &&
	    waiting / 2 > (u64)tcp_sk(sk)->packets_out * cc_mss(sk))
		return shift - 1;
	return shift;
}

/* cc_check_pacing_shift() - set the pacing shift to that of cc_late_shift() */
static inline void cc_check_pacing_shift(struct sock *sk)
{
	sk_pacing_shift_update(sk, cc_late_shift(sk, READ_ONCE(sk->sk_pacing_shift)));
}

/**
 * cc_next_shift() - the pacing shift with which TCP hands over the next segment, and few more
 * @sk: socket that TCP paces, which is about to send
 * @shift: its pacing shift
 *
 * fq takes over the pacing with each packet that it passes on at once, so TCP hands over the next
 * ones ahead of their time. fq serves them by a timer that may be 10 us late. At 25 Gbit/s and
 * above that is several segments: they leave as a burst, and TCP's clock counts the delay as RTT.
 * So let one segment wait beside those that wait already, rounded up by a factor below two.
 *
 * Return: the largest one that lets the next segment leave, @shift to %CC_PACING_SHIFT_MOST.
 */
static inline int cc_next_shift(const struct sock *sk, int shift)
{
	u64 most = refcount_read(&sk->sk_wmem_alloc) + (u64)sk->sk_gso_max_segs * cc_mss(sk);
	u64 rate = READ_ONCE(sk->sk_pacing_rate);
	int next = (int)fls64(rate) - (int)fls64(most);

	if (next > 0 && rate >> next < most)
		next--;
	return clamp_t(int, next, shift, CC_PACING_SHIFT_MOST);
}

/*
 * cc_device_segs() - the device's own bound on packets in one skb, as in sk_setup_caps().
 * release() may come without the socket lock, on a socket that nobody else has.
 */
static inline u32 cc_device_segs(struct sock *sk)
{
	u32 segs = sk->sk_gso_max_segs;
	struct dst_entry *dst;

	rcu_read_lock();
	dst = __sk_dst_get(sk);
	if (dst)
		segs = max_t(u32, READ_ONCE(dst_dev_rcu(dst)->gso_max_segs), 1);
	rcu_read_unlock();
	return segs;
}

/**
 * cc_bound_segment() - let at most @packets leave in one go
 * @sk: socket
 * @packets: 1 or more
 *
 * A segment is at most one skb, whose size sk_gso_max_segs bounds. The stack sets that from the
 * device whenever the route changes.
 */
static inline void cc_bound_segment(struct sock *sk, u32 packets)
{
	if (!sk_can_gso(sk))
		return;
	packets = min(packets, cc_device_segs(sk));
	if (sk->sk_gso_max_segs != packets)
		sk->sk_gso_max_segs = packets;
}

/* cc_unbound_segment() - undo cc_bound_segment() */
static inline void cc_unbound_segment(struct sock *sk)
{
	if (sk_can_gso(sk))
		sk->sk_gso_max_segs = cc_device_segs(sk);
}

/*
 * cc_repair_bps() - the least rate of a recovery, bytes/s; 0 outside of one
 *
 * While TCP repairs losses there may be no signal to raise the rate, and at the lowest rate each
 * packet would wait for a millisecond. So send at least one packet for each round trip, as with
 * any window. The newest RTT of loss detection includes retransmissions. As the queue grows, so
 * does the RTT.
 */
static inline u64 cc_repair_bps(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (inet_csk(sk)->icsk_ca_state < TCP_CA_Recovery || !tp->rack.rtt_us)
		return 0;
	return div_u64((u64)cc_mss(sk) * USEC_PER_SEC, tp->rack.rtt_us);
}

/*
 * cc_egress() - the device that a socket's route leads to; 0: it has none. Any context: in
 * process context only RCU keeps that device.
 */
static inline int cc_egress(struct sock *sk)
{
	struct dst_entry *dst;
	int ifindex = 0;

	rcu_read_lock();
	dst = __sk_dst_get(sk);
	if (dst)
		ifindex = dst_dev_rcu(dst)->ifindex;
	rcu_read_unlock();
	return ifindex;
}

/* Longest wait for a departure, ns, and the rates of cc_wait_ns(), bytes/s. */
#define CC_MAX_WAIT_NS		10000000000ULL
#define CC_MAX_WAIT_BPS		(1ULL << 38)

/**
 * cc_wait_ns() - the time until a departure, when the rate changes
 * @wait_ns: time until then at the old rate, ns; more than 10 s counts as 10 s
 * @old_bps: that rate, bytes/s; none at all, or above 2^38, is TCP's own: nothing changes
 * @new_bps: the new one, bytes/s; 0 counts as 1
 *
 * Both rates lose as many bits as the product would have beyond 63.
 *
 * Return: the time in which the new rate sends the remaining bytes, ns, at most 10 s.
 */
static inline u64 cc_wait_ns(u64 wait_ns, u64 old_bps, u64 new_bps)
{
	int shift;

	wait_ns = min_t(u64, wait_ns, CC_MAX_WAIT_NS);
	if (!old_bps || old_bps > CC_MAX_WAIT_BPS)
		return wait_ns;
	shift = max_t(int, fls64(wait_ns) + fls64(old_bps) - 63, 0);
	new_bps = max_t(u64, new_bps >> shift, 1);
	return min_t(u64, div64_u64(wait_ns * (old_bps >> shift), new_bps), CC_MAX_WAIT_NS);
}

/**
 * cc_move_departure() - let a new rate apply to the next packet, which TCP still has
 * @sk: socket, locked
 * @old_bps: rate by which its departure was computed, bytes/s
 * @new_bps: the new one, bytes/s
 * @slack_ns: how much too late or too early TCP's timer may stay, ns
 *
 * TCP gives a packet its departure time when the one before it leaves. Call this only while TCP
 * has not handed the next packet to anybody. Where no qdisc paces, TCP's timer waits for that
 * time. One that fires too early is an interrupt for nothing: TCP sets it again.
 */
static inline void cc_move_departure(struct sock *sk, u64 old_bps, u64 new_bps, u64 slack_ns)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u64 now_ns = tp->tcp_clock_cache;
	u64 due_ns, expires_ns;

	if (tp->tcp_wstamp_ns <= now_ns)
		return;
	due_ns = now_ns + cc_wait_ns(tp->tcp_wstamp_ns - now_ns, old_bps, new_bps);
	tp->tcp_wstamp_ns = due_ns;
	expires_ns = ktime_to_ns(hrtimer_get_expires(&tp->pacing_timer));
	/* The timer has a reference on the socket. If it was not running, TCP starts it. */
	if (hrtimer_is_queued(&tp->pacing_timer) &&
	    (expires_ns > due_ns + slack_ns || expires_ns + slack_ns < due_ns) &&
	    hrtimer_try_to_cancel(&tp->pacing_timer) > 0)
		hrtimer_start(&tp->pacing_timer, ns_to_ktime(due_ns),
			      HRTIMER_MODE_ABS_PINNED_SOFT);
}

/*
 * Have packets left before their departure time? A packet that waits for it in a qdisc
 * is charged to the socket. If the packets that are due later have more payload than the charge,
 * some have left. Read the charge before the clock: a packet that left in between was due.
 */
static inline bool cc_left_early(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 waiting = refcount_read(&sk->sk_wmem_alloc);
	const struct sk_buff *skb;
	u64 now_ns = tcp_clock_ns();
	u32 due = 0;

	/* Sorted by departure. A qdisc holds two or three of them. */
	list_for_each_entry_reverse(skb, &tp->tsorted_sent_queue, tcp_tsorted_anchor) {
		if (skb->skb_mstamp_ns <= now_ns)
			break;
		due += skb->len;
		if (due > waiting)
			return true;
	}
	return false;
}

/**
 * cc_take_pacing() - have TCP pace where no qdisc does
 * @sk: socket
 * @rs: of an ACK, or NULL
 * @ahead_ns: if true is returned, how far departure times were ahead of the clock
 *
 * fq sets SK_PACING_FQ when it first sees a socket, and nobody clears it: neither a qdisc that
 * replaces fq, nor a route that leads past it. Then TCP sets departure times that nobody obeys,
 * ever farther ahead of the clock, takes them for send times, and finds RTTs below zero. When fq
 * comes back, it holds or drops all packets.
 *
 * So let TCP pace again, until a qdisc sets SK_PACING_FQ anew, and set the departure times back
 * to the clock. RTTs of data in flight are unknown.
 *
 * Return: whether TCP took over.
 */
static inline bool cc_take_pacing(struct sock *sk, const struct rate_sample *rs,
				  u64 *ahead_ns)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb;
	u64 now_ns;

	if (tp->tcp_wstamp_ns <= tp->tcp_clock_cache)
		return false;
	/* TCP cuts RTTs below zero off at zero. */
	if (!(rs && !rs->rtt_us) && !cc_left_early(sk))
		return false;

	now_ns = tcp_clock_ns();
	*ahead_ns = tp->tcp_wstamp_ns - min(tp->tcp_wstamp_ns, now_ns);
	cmpxchg(&sk->sk_pacing_status, SK_PACING_FQ, SK_PACING_NEEDED);
	tp->tcp_wstamp_ns = min(tp->tcp_wstamp_ns, now_ns);
	/* Loss detection compares them with packets that are sent from here on. */
	list_for_each_entry_reverse(skb, &tp->tsorted_sent_queue, tcp_tsorted_anchor) {
		if (skb->skb_mstamp_ns <= now_ns)
			break;
		skb->skb_mstamp_ns = now_ns;
	}
	tp->rack.mstamp = min(tp->rack.mstamp, div_u64(now_ns, NSEC_PER_USEC));
	return true;
}

/**
 * cc_leave_window() - leave a window to the next congestion control
 * @sk: socket
 * @bps: rate, bytes/s, below 2^38
 *
 * A congestion control without a rate cannot use the limit beside a rate as its window. So it
 * starts with the data that the rate sends in a round trip, and without slow start.
 */
static inline void cc_leave_window(struct sock *sk, u64 bps)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u64 packets;

	/* 2^28 KB/s times 2^29 us. */
	packets = div_u64(bps, MSEC_PER_SEC) * (tp->srtt_us >> 3);
	packets = div_u64(packets, MSEC_PER_SEC * cc_mss(sk));
	packets = clamp_t(u64, packets, TCP_INIT_CWND, S32_MAX);
	tp->snd_ssthresh = packets;
	tcp_snd_cwnd_set(tp, min_t(u64, tcp_snd_cwnd(tp), packets));
}

#endif /* _CC_SOCK_H */
