/* SPDX-License-Identifier: GPL-2.0 */
/* The ends of a connection in a tracepoint, as %pISpc prints them. */
#ifndef _TRACE_SOCKADDR_H
#define _TRACE_SOCKADDR_H

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ipv6.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <net/inet_sock.h>
#include <net/sock.h>

#include <nic_ts_types.h>

/**
 * trace_sockaddr() - fill in a sockaddr
 * @to:		room for a struct sockaddr_in6; unused bytes of it become 0
 * @family:	AF_INET or AF_INET6
 * @addr:	the address, of one or four words
 * @port:	the port
 */
static inline void trace_sockaddr(void *to, unsigned int family, const __be32 *addr,
				  __be16 port)
{
	struct sockaddr_in6 *sin6 = to;
	struct sockaddr_in *sin = to;

	memset(to, 0, sizeof(*sin6));
	if (family == AF_INET) {
		sin->sin_family = AF_INET;
		sin->sin_port = port;
		sin->sin_addr.s_addr = addr[0];
	} else {
		sin6->sin6_family = AF_INET6;
		sin6->sin6_port = port;
		memcpy(&sin6->sin6_addr, addr, sizeof(sin6->sin6_addr));
	}
}

/* trace_ends() - declare two ends in TP_STRUCT__entry() */
#define trace_ends(from, to)						\
	__array(__u8, from, sizeof(struct sockaddr_in6))		\
	__array(__u8, to, sizeof(struct sockaddr_in6))

/* trace_sock_ends() - fill in both ends of a socket's connection */
static inline void trace_sock_ends(void *local, void *remote, const struct sock *sk)
{
	const struct inet_sock *inet = inet_sk(sk);

#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		trace_sockaddr(local, AF_INET6, inet6_sk(sk)->saddr.s6_addr32,
			       inet->inet_sport);
		trace_sockaddr(remote, AF_INET6, sk->sk_v6_daddr.s6_addr32, inet->inet_dport);
		return;
	}
#endif
	trace_sockaddr(local, AF_INET, &inet->inet_saddr, inet->inet_sport);
	trace_sockaddr(remote, AF_INET, &inet->inet_daddr, inet->inet_dport);
}

/* trace_key_ends() - fill in both ends of the connection that a key names */
static inline void trace_key_ends(void *local, void *remote, const struct nic_ts_key *key)
{
	trace_sockaddr(local, key->family, key->laddr, key->lport);
	trace_sockaddr(remote, key->family, key->raddr, key->rport);
}

#endif /* _TRACE_SOCKADDR_H */
