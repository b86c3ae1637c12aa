/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parts of collect.c: files, rtnetlink, ethtool, nic_ts, sockets. Each adds the facts that it
 * can read, and leaves out the others.
 */
#ifndef ONRAMPCTL_COLLECT_H
#define ONRAMPCTL_COLLECT_H

#include "ctl.h"

struct nlmsghdr;

/* collect.c: { "synchronised", "max_error_us", ... } of the kernel; NULL if it does not tell. */
json_t *facts_system_clock(void);

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

/* backlog.c */
uint32_t backlog_route(int family, const uint8_t *remote);
void backlog_add(struct nlmsghdr *hdr, struct backlog *b);
bool backlog_waits(const struct backlog *b);
bool backlog_now(uint32_t ifindex);

/* ethtool.c: speed, coalescing and LRO of a device, as far as its driver tells. */
void ethtool_read(json_t *dev, const char *name);
int ethtool_phc(const char *name);

/* bus.c: devices and clocks of nic_ts; false if the module is not loaded. */
bool bus_read(json_t *devices, json_t *clocks, json_t *stats);

/* sockets.c: connections by congestion control; false if the kernel does not tell. */
bool sockets_read(json_t *tcp, int64_t min_rate_kbit);

#endif /* ONRAMPCTL_COLLECT_H */
