/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DCLOAD_NET_H
#define DCLOAD_NET_H

#include <linux/tcp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "parse.h"

#define CC_NAME_MAX	16	/* TCP_CA_NAME_MAX of the kernel */

struct netns {
	const char *name;	/* NULL: the one the process was started in */
	int fd;
};

/* What TCP counted of a connection, at one end. */
struct counters {
	uint64_t bytes_acked;
	uint64_t bytes_received;
	uint64_t bytes_retrans;
	uint64_t segs_out;
	uint64_t retrans_segs;
	uint64_t timeouts;		/* 0 before Linux 6.7, see counters_timeouts() */
	uint64_t delivered;
	uint64_t delivered_ce;
};

void netns_open(struct netns *ns, const char *name);
void netns_enter(const struct netns *ns);

socklen_t endpoint_sockaddr(const struct endpoint *ep, uint16_t default_port,
			    struct sockaddr_storage *ss);
void set_cc(int fd, const char *cc);
void get_cc(int fd, char cc[CC_NAME_MAX]);
bool listen_at(int fd, const struct sockaddr_storage *ss, socklen_t len);
int accept_next(int fd, struct sockaddr_storage *peer);
void set_ktls(int fd);
void set_option(int fd, int level, int name, int value, const char *what);
bool get_tcp_info(int fd, struct tcp_info *info);
bool get_counters(int fd, struct counters *out, struct tcp_info *info);
void counters_add(struct counters *sum, const struct counters *now,
		  const struct counters *then);
bool counters_timeouts(void);
size_t need_fds(size_t n, const char *what);

#endif /* DCLOAD_NET_H */
