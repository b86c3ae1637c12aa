/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parts of collect.c: files, rtnetlink, ethtool, nic_ts, sockets. Each adds the facts that it
 * can read, and leaves out the others.
 */
#ifndef ONRAMPCTL_COLLECT_H
#define ONRAMPCTL_COLLECT_H

#include "ctl.h"

struct nlmsghdr;

/* collect.c: modules of this tree; the last one is NULL. */
extern const char * const ctl_modules[];

/* collect.c: { "synchronised", "max_error_us", ... } of the kernel; NULL if it does not tell. */
json_t *facts_system_clock(void);

/* collect.c: the status of onrampd; NULL if it does not run. */
json_t *facts_onrampd(const struct ctl *ctl);

/* A whole file below the root, or NULL with errno; free() it. */
char *facts_file(const struct ctl *ctl, const char *path);

/* package.c: what is installed, and what the kernel wants of a signature. */
void package_read(const struct ctl *ctl, json_t *facts);

/* Netlink, see netlink.c. */
typedef void (*netlink_fn)(struct nlmsghdr *hdr, void *arg);
int netlink_dump(int protocol, int type, const void *header, size_t len, netlink_fn fn, void *arg);
int netlink_get(int protocol, int type, const void *header, size_t len, netlink_fn fn, void *arg);

/* rtnl.c: devices and their qdiscs; false if they could not be read. */
bool rtnl_devices(json_t *devices);
/* One message of it. */
void rtnl_add(struct nlmsghdr *hdr, json_t *devices);

/**
 * struct backlog - queue of a device
 * @ifindex:	device
 * @packets:	in its root qdisc and all below it
 * @ready:	flows of fq and onramp that may send at once
 * @paced:	it has fq or onramp
 */
struct backlog {
	uint32_t ifindex;
	uint64_t packets, ready;
	bool paced;
};

/**
 * struct route - packets, as rules of routing see them
 * @family:	AF_INET or AF_INET6
 * @local:	source address, 4 or 16 bytes, or NULL; @remote destination
 * @oif:	device that the socket is bound to, or 0
 * @mark:	of the socket
 * @protocol:	IPPROTO_TCP or IPPROTO_UDP, 0: any
 * @lport:	port, host order; @rport likewise
 */
struct route {
	int family;
	const uint8_t *local, *remote;
	uint32_t oif, mark;
	uint8_t protocol;
	uint16_t lport, rport;
};

/* backlog.c */
uint32_t route_device(const struct route *r);
uint32_t backlog_route(int family, const uint8_t *remote);
void backlog_add(struct nlmsghdr *hdr, struct backlog *b);
bool backlog_waits(const struct backlog *b);
bool backlog_now(uint32_t ifindex);

/* ethtool.c: speed, coalescing and LRO of a device, as far as its driver tells. */
void ethtool_read(json_t *dev, const char *name);
int ethtool_phc(const char *name);

/* bus.c: devices and clocks of nic_ts; false if the module is not loaded. */
bool bus_read(json_t *devices, json_t *clocks, json_t *stats);

/* data.c: where the data of connections leaves; false if the kernel does not tell. */
bool data_read(json_t *rows);

/* sockets.c: connections by congestion control; false if the kernel does not tell. */
bool sockets_read(json_t *tcp, int64_t min_rate_kbit);

#endif /* ONRAMPCTL_COLLECT_H */
