/* SPDX-License-Identifier: GPL-2.0 */
/* TCP connections of the network namespace, by inet_diag. */
#ifndef ONRAMPCTL_SOCKETS_H
#define ONRAMPCTL_SOCKETS_H

#include <linux/inet_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "family.h"

/**
 * struct flow - a connection
 * @family:	AF_INET or AF_INET6
 * @local:	address, 4 or 16 bytes; @remote likewise
 * @lport:	port, host order; @rport likewise
 * @diag_family: family of the socket, by which the kernel finds it with @diag_id
 * @ifindex:	device that the socket is bound to, or 0
 * @mark:	of its packets; 0 also if only root can see it
 * @cookie:	of the socket
 * @cc:		congestion control, "" if unknown
 * @info:	TCP's own state; fields that an older kernel lacks are 0
 * @has_info:	@info is valid
 * @rtt_count:	TIMELY's number of RTTs, 0 for others
 * @rtt_us:	its newest RTT; @min_rtt_us its smallest
 */
struct flow {
	int family;
	uint8_t local[16], remote[16];
	uint16_t lport, rport;
	uint8_t diag_family;
	struct inet_diag_sockid diag_id;
	uint32_t ifindex, mark;
	uint64_t cookie;
	char cc[16];
	struct tcp_info info;
	bool has_info;
	uint32_t rtt_count, rtt_us, min_rtt_us;
};

typedef void (*flow_fn)(const struct flow *f, void *arg);

int sockets_each(flow_fn fn, void *arg);
int sockets_again(struct flow *f);
struct flow_key flow_key(const struct flow *f);
bool flow_is_loopback(const struct flow *f);

#endif /* ONRAMPCTL_SOCKETS_H */
