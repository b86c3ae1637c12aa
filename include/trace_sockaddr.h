/* SPDX-License-Identifier: GPL-2.0 */
/* An end of a connection in a tracepoint, as %pISpc prints it. */
#ifndef _TRACE_SOCKADDR_H
#define _TRACE_SOCKADDR_H

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/socket.h>
#include <linux/string.h>

/**
 * trace_sockaddr() - fill in a sockaddr
 * @to:		room for a struct sockaddr_in6; what is not used of it becomes 0
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

#endif /* _TRACE_SOCKADDR_H */
