/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of TCP connections:
 *  - 6.1, commit d1e5e6408b30: a namespace may have one of its own, and before all share one:
 *    compat_tcp_hashinfo(net);
 *  - 6.18: __inet_lookup_established() and __inet6_lookup_established() find the table
 *    of the namespace by themselves. Use compat_inet_lookup_established() and
 *    compat_inet6_lookup_established() with the newer arguments.
 */
#ifndef _ONRAMP_COMPAT_TCP_HASH_H
#define _ONRAMP_COMPAT_TCP_HASH_H

#ifdef COMPAT_HAS_PERNET_HASHINFO
#define compat_tcp_hashinfo(net)	((net)->ipv4.tcp_death_row.hashinfo)
#else
#define compat_tcp_hashinfo(net)	(&tcp_hashinfo)
#endif

#ifdef COMPAT_INET_LOOKUP_HAS_HASHINFO
#define compat_inet_lookup_established(ns, ...) ({			\
	struct net *_net = (ns);					\
									\
	__inet_lookup_established(_net, compat_tcp_hashinfo(_net),	\
				  __VA_ARGS__);				\
})
#define compat_inet6_lookup_established(ns, ...) ({			\
	struct net *_net = (ns);					\
									\
	__inet6_lookup_established(_net, compat_tcp_hashinfo(_net),	\
				   __VA_ARGS__);			\
})
#else
#define compat_inet_lookup_established	__inet_lookup_established
#define compat_inet6_lookup_established	__inet6_lookup_established
#endif

#endif /* _ONRAMP_COMPAT_TCP_HASH_H */
