/* SPDX-License-Identifier: GPL-2.0 */
/*
 * struct tcp_congestion_ops:
 *  - 6.10, commit 57bfc7605ca5: cong_control() is given the ACK number and flags;
 *  - 7.1: CA_EVENT_TX_START left cwnd_event() for cwnd_event_tx_start();
 *  - BBRv3, which distributions add: tso_segs() in place of min_tso_segs(). Trees that have both
 *    ask min_tso_segs() unless tso_segs() is set.
 *
 * Write a callback as the newest kernel wants it, put COMPAT_CONG_CONTROL(fn),
 * COMPAT_MIN_TSO_SEGS(fn), COMPAT_CWND_EVENT_TX_START(fn) or, for both kinds of events,
 * COMPAT_CWND_EVENTS(event_fn, fn) after it, and initialize the structure with
 *
 *	.cong_control	= compat_cong_control(fn),
 *	compat_min_tso_segs(fn),
 *	compat_cwnd_event_tx_start(fn),
 *	compat_cwnd_events(event_fn, fn),
 *
 * ECN of a connection:
 *  - after 6.12: AccECN, and with it tcp_ecn_mode_any() and tcp_ecn_mode_rfc3168();
 *  - between 6.1 and 6.12: __tcp_send_ack() is given flags; compat_send_ack() has none.
 */
#ifndef _ONRAMP_COMPAT_TCP_CA_H
#define _ONRAMP_COMPAT_TCP_CA_H

#ifdef COMPAT_CONG_CONTROL_HAS_ACK_FLAG

#define COMPAT_CONG_CONTROL(fn)		static_assert(true)
#define compat_cong_control(fn)		fn

#else

/* The ACK has been taken into snd_una by now; its flags are not to be had. */
#define COMPAT_CONG_CONTROL(fn)						\
	static void fn##_compat(struct sock *sk, const struct rate_sample *rs) \
	{								\
		fn(sk, tcp_sk(sk)->snd_una, 0, rs);			\
	}								\
	static_assert(true)
#define compat_cong_control(fn)		fn##_compat

#endif

#if defined(COMPAT_HAS_MIN_TSO_SEGS) || !defined(COMPAT_HAS_TSO_SEGS)

#define COMPAT_MIN_TSO_SEGS(fn)		static_assert(true)
#define compat_min_tso_segs(fn)		.min_tso_segs = fn

#else

/*
 * tso_segs() replaces TCP's own number and is not only a minimum of it. So take the larger one, as
 * TCP does with min_tso_segs(): tcp_tso_autosize() of 5.18 and later, which is not exported.
 * TCP limits the result to sk_gso_max_segs.
 */
#define COMPAT_MIN_TSO_SEGS(fn)						\
	static u32 fn##_compat(struct sock *sk, unsigned int mss_now)	\
	{								\
		u8 log = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_tso_rtt_log); \
		unsigned long max_bytes = sk->sk_gso_max_size, bytes;	\
		u32 shift = tcp_min_rtt(tcp_sk(sk)) >> log;		\
		u32 min_segs = fn(sk);	/* first, it may set sk_pacing_rate */ \
									\
		bytes = READ_ONCE(sk->sk_pacing_rate) >> READ_ONCE(sk->sk_pacing_shift); \
		if (shift < BITS_PER_TYPE(sk->sk_gso_max_size))		\
			bytes += max_bytes >> shift;			\
		return max_t(u32, min(bytes, max_bytes) / mss_now, min_segs); \
	}								\
	static_assert(true)
#define compat_min_tso_segs(fn)		.tso_segs = fn##_compat

#endif

#ifdef COMPAT_HAS_CWND_EVENT_TX_START

#define COMPAT_CWND_EVENT_TX_START(fn)	static_assert(true)
#define compat_cwnd_event_tx_start(fn)	.cwnd_event_tx_start = fn
#define COMPAT_CWND_EVENTS(event_fn, fn)	static_assert(true)
#define compat_cwnd_events(event_fn, fn)				\
	.cwnd_event = event_fn, .cwnd_event_tx_start = fn

#else

#define COMPAT_CWND_EVENT_TX_START(fn)					\
	static void fn##_compat(struct sock *sk, enum tcp_ca_event event) \
	{								\
		if (event == CA_EVENT_TX_START)				\
			fn(sk);						\
	}								\
	static_assert(true)
#define compat_cwnd_event_tx_start(fn)	.cwnd_event = fn##_compat

#define COMPAT_CWND_EVENTS(event_fn, fn)				\
	static void fn##_compat(struct sock *sk, enum tcp_ca_event event) \
	{								\
		if (event == CA_EVENT_TX_START)				\
			fn(sk);						\
		else							\
			event_fn(sk, event);				\
	}								\
	static_assert(true)
#define compat_cwnd_events(event_fn, fn)	.cwnd_event = fn##_compat

#endif

#ifndef COMPAT_HAS_TCP_ECN_MODE
#define tcp_ecn_mode_any(tp)		((tp)->ecn_flags & TCP_ECN_OK)
#define tcp_ecn_mode_rfc3168(tp)	tcp_ecn_mode_any(tp)
#endif

#ifdef COMPAT_SEND_ACK_HAS_FLAGS
#define compat_send_ack(sk, rcv_nxt)	__tcp_send_ack(sk, rcv_nxt, 0)
#else
#define compat_send_ack(sk, rcv_nxt)	__tcp_send_ack(sk, rcv_nxt)
#endif

#endif /* _ONRAMP_COMPAT_TCP_CA_H */
