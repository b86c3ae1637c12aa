/* SPDX-License-Identifier: GPL-2.0 */
/*
 * struct tcp_congestion_ops:
 *  - 6.10, commit 57bfc7605ca5: cong_control() is given the ACK number and flags;
 *  - 7.1: CA_EVENT_TX_START left cwnd_event() for cwnd_event_tx_start().
 *
 * Write a callback as the newest kernel wants it, put COMPAT_CONG_CONTROL(fn),
 * COMPAT_CWND_EVENT_TX_START(fn) or, for both kinds of events, COMPAT_CWND_EVENTS(event_fn, fn)
 * after it, and initialize the structure with
 *
 *	.cong_control	= compat_cong_control(fn),
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
