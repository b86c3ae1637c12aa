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

void netns_open(struct netns *ns, const char *name);
void netns_enter(const struct netns *ns);

socklen_t endpoint_sockaddr(const struct endpoint *ep, uint16_t default_port,
			    struct sockaddr_storage *ss);
void set_cc(int fd, const char *cc);
void get_cc(int fd, char cc[CC_NAME_MAX]);
void set_option(int fd, int level, int name, int value, const char *what);
bool get_tcp_info(int fd, struct tcp_info *info);

#endif /* DCLOAD_NET_H */
