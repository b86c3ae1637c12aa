/* SPDX-License-Identifier: GPL-2.0 */
/*
 * struct tcp_congestion_ops:
 *  - 6.10, commit 57bfc7605ca5: cong_control() is given the ACK number and flags;
 *  - 7.1: CA_EVENT_TX_START left cwnd_event() for cwnd_event_tx_start().
 *
 * Write a callback as the newest kernel wants it, put COMPAT_CONG_CONTROL(fn) or
 * COMPAT_CWND_EVENT_TX_START(fn) after it, and initialize the structure with
 *
 *	.cong_control	= compat_cong_control(fn),
 *	compat_cwnd_event_tx_start(fn),
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

#else

#define COMPAT_CWND_EVENT_TX_START(fn)					\
	static void fn##_compat(struct sock *sk, enum tcp_ca_event event) \
	{								\
		if (event == CA_EVENT_TX_START)				\
			fn(sk);						\
	}								\
	static_assert(true)
#define compat_cwnd_event_tx_start(fn)	.cwnd_event = fn##_compat

#endif

#endif /* _ONRAMP_COMPAT_TCP_CA_H */
