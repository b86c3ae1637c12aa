/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sockets:
 *  - 5.16, commit 42f67eea3ba3: sk_is_tcp();
 *  - 5.19, commit 40570375356c: tcp_snd_cwnd() and tcp_snd_cwnd_set(), which catches 0.
 */
#ifndef _ONRAMP_COMPAT_SOCK_H
#define _ONRAMP_COMPAT_SOCK_H

#ifndef COMPAT_HAS_SK_IS_TCP
#define sk_is_tcp(sk) ({						\
	const struct sock *_sk = (sk);					\
									\
	(_sk->sk_family == AF_INET || _sk->sk_family == AF_INET6) &&	\
	_sk->sk_type == SOCK_STREAM && _sk->sk_protocol == IPPROTO_TCP;	\
})
#endif

#ifndef COMPAT_HAS_TCP_SND_CWND_SET
#define tcp_snd_cwnd(tp)	((tp)->snd_cwnd)
#define tcp_snd_cwnd_set(tp, val) do {					\
	u32 _cwnd = (val);						\
									\
	WARN_ON_ONCE((int)_cwnd <= 0);					\
	(tp)->snd_cwnd = _cwnd;						\
} while (0)
#endif

#endif /* _ONRAMP_COMPAT_SOCK_H */
