/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOOLS_PARSE_H
#define TOOLS_PARSE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* An address as written; the scope of a link-local one is a device name,
 * to be resolved in the namespace the socket is made in.
 */
struct endpoint {
	char text[INET6_ADDRSTRLEN];
	char scope[16];
	int family;
	union {
		struct in_addr v4;
		struct in6_addr v6;
	};
	uint16_t port;		/* host order; 0: not given */
};

bool parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out);
bool parse_seconds(const char *s, double min_s, double max_s, uint64_t *out_ns);
bool parse_size(const char *s, uint64_t *out);
bool parse_bitrate(const char *s, uint64_t *out_bit_s);
bool parse_endpoint(const char *s, struct endpoint *out);
char **parse_list(const char *s, char sep, size_t *n);

#endif /* TOOLS_PARSE_H */
