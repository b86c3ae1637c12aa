/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Generic netlink family "timely": the state of tcp_timely in each socket.
 *
 *	TIMELY_CMD_SOCK_GET	dump: sockets of the namespace that run it
 *
 * It takes CAP_NET_ADMIN in the user namespace that owns the network namespace, and changes
 * nothing. Ports and cookie are filters in a request. The cookie is that of inet_diag, which has
 * all else of a socket.
 *
 * Attributes are added at the end, and readers skip unknown ones.
 * Documentation/netlink/specs/timely.yaml has the same in YAML, Documentation/netlink.md in words.
 */
#ifndef _UAPI_TIMELY_H
#define _UAPI_TIMELY_H

#define TIMELY_GENL_NAME	"timely"
#define TIMELY_GENL_VERSION	1

enum timely_genl_cmd {
	TIMELY_CMD_UNSPEC,
	TIMELY_CMD_SOCK_GET,
};

/* Where its RTTs come from; later ones are better. */
enum timely_genl_source {
	TIMELY_SRC_NONE,	/* no RTT so far */
	TIMELY_SRC_TCP,		/* TCP's clock */
	TIMELY_SRC_STACK,	/* nic_ts: tracepoints */
	TIMELY_SRC_DRIVER,	/* nic_ts: patched drivers */
	TIMELY_SRC_MAPPED,	/* nic_ts: NICs, mapped to the host's clock */
	TIMELY_SRC_HW,		/* nic_ts: NICs */
};

enum timely_sock_attr {
	TIMELY_A_SOCK_UNSPEC,
	TIMELY_A_SOCK_PAD,

	TIMELY_A_SOCK_FAMILY,		/* u16: AF_INET, AF_INET6 */
	TIMELY_A_SOCK_LOCAL,		/* 4 or 16 bytes */
	TIMELY_A_SOCK_REMOTE,		/* 4 or 16 bytes */

	/* In a request filters. */
	TIMELY_A_SOCK_LPORT,		/* be16 */
	TIMELY_A_SOCK_RPORT,		/* be16 */
	TIMELY_A_SOCK_COOKIE,		/* u64 */

	TIMELY_A_SOCK_RATE,		/* u64: target rate, bytes/s of payload */
	TIMELY_A_SOCK_RTT_NS,		/* u64: newest RTT, profile auto: their mean, ns */
	TIMELY_A_SOCK_MIN_RTT_NS,	/* u64: lowest RTT, ns */
	TIMELY_A_SOCK_RTTS,		/* u32: number of RTTs; wraps */
	TIMELY_A_SOCK_GRADIENT,		/* s32: smoothed RTT gradient, millionths */
	TIMELY_A_SOCK_SOURCE,		/* u8, enum timely_genl_source */
	TIMELY_A_SOCK_AUTO,		/* u8: 1 profile auto, 0 paper */
	TIMELY_A_SOCK_APP_LIMITED,	/* u8: 1 it sends less than its rate */
	TIMELY_A_SOCK_LINE_RATE,	/* u64: of its device, bytes/s */

	__TIMELY_A_SOCK_MAX,
};

#define TIMELY_A_SOCK_MAX	(__TIMELY_A_SOCK_MAX - 1)

#endif /* _UAPI_TIMELY_H */
