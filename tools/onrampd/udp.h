/* SPDX-License-Identifier: GPL-2.0 */
/* UDP with times of departure and arrival. Addresses are IPv6, mapped if they are IPv4. */
#ifndef ONRAMPD_UDP_H
#define ONRAMPD_UDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The TTL of all messages; of one that came the hops are what is missing. */
#define UDP_TTL		64

/**
 * struct udp_ends - of a message
 * @from: address of its sender
 * @to: and of its receiver
 * @scope: device of a link-local address
 * @hops: routers on its way, UDP_HOPS_UNKNOWN
 * @arrived_ns: when it arrived, CLOCK_MONOTONIC; 0: not known
 * @phc_ns: the same by the NIC's clock; 0: not known
 */
struct udp_ends {
	uint8_t from[16];
	uint8_t to[16];
	uint32_t scope;
	uint8_t hops;
	int64_t arrived_ns;
	int64_t phc_ns;
};

#define UDP_HOPS_UNKNOWN	255

bool udp_is_v4(const uint8_t *addr);
bool udp_address(const char *text, uint8_t *addr);
int udp_open(int family, uint16_t port);
bool udp_send(int fd, uint16_t port, const struct udp_ends *ends, const void *msg, size_t len,
	      bool stamp);
bool udp_left(int fd, uint32_t *id, int64_t *left_ns);
bool udp_count_again(int fd);
int64_t udp_utc_ns(void);
long udp_receive(int fd, void *msg, size_t size, struct udp_ends *ends);

#endif /* ONRAMPD_UDP_H */
