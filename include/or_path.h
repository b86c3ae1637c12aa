/* SPDX-License-Identifier: GPL-2.0 */
/*
 * or_path: what all users know of the RTTs of empty paths, kept for as long as their routes.
 *
 *	a host or a connection begins	or_path_rtt()
 *	an RTT that may be the lowest	or_path_report()
 *	all that is known of it		or_path_lower()
 *
 * A path leads from a local address by a device to a remote one. include/or_path_core.h has the
 * rules by which a value is kept and replaced, or_port/or_path.c the table.
 */
#ifndef _OR_PATH_H
#define _OR_PATH_H

#include <linux/ipv6.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>

#include <or_path_core.h>
#include <or_port.h>

u32 or_path_rtt(const struct net *net, const struct or_addrs *addrs, int ifindex,
		enum or_path_kind kind);
void or_path_report(const struct net *net, const struct or_addrs *addrs, int ifindex,
		    enum or_path_kind kind, u64 rtt_ns, enum or_path_how how);
bool or_path_lower(const struct net *net, const struct or_addrs *addrs, int ifindex,
		   struct or_path_rtt *rtt, enum or_path_kind *kind);

/**
 * or_path_addrs() - write the addresses of a socket's connection
 * @sk: a TCP socket
 * @addrs: written; its scope is 0
 */
static inline void or_path_addrs(const struct sock *sk, struct or_addrs *addrs)
{
	*addrs = (struct or_addrs) { .family = AF_INET };
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6 && !ipv6_addr_v4mapped(&sk->sk_v6_daddr)) {
		addrs->family = AF_INET6;
		memcpy(addrs->laddr, &inet6_sk(sk)->saddr, sizeof(addrs->laddr));
		memcpy(addrs->raddr, &sk->sk_v6_daddr, sizeof(addrs->raddr));
		return;
	}
#endif
	addrs->laddr[0] = inet_sk(sk)->inet_saddr;
	addrs->raddr[0] = sk->sk_daddr;
}

#endif /* _OR_PATH_H */
