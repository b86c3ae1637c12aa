// SPDX-License-Identifier: GPL-2.0
/*
 * stat_helper NAMESPACE DEVICE NAME [KIND|OPERATOR VALUE]: print a statistic of the first onramp at
 * DEVICE, or of the first qdisc of KIND, by its name in tc's JSON. With OPERATOR compare it with
 * VALUE as test(1) does. tc and awk take five times as many instructions for this, and tests wait
 * for statistics.
 *
 * Exits with 1 for an unknown qdisc or statistic, or if the comparison fails.
 */
#include <linux/gen_stats.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/netns.h"
#include "uapi/onramp.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Of onramp, by attribute. */
static const char * const own_names[] = {
#define ONRAMP_X(NAME, name, ...) \
	[ONRAMP_STATS_##NAME] = #name,
	ONRAMP_STATS
#undef ONRAMP_X
};

/* Of any qdisc. */
#define BASIC(field, size) \
	{ #field, TCA_STATS_BASIC, offsetof(struct gnet_stats_basic, field), size }
#define QUEUE(field) \
	{ #field, TCA_STATS_QUEUE, offsetof(struct gnet_stats_queue, field), sizeof(__u32) }
static const struct {
	const char *name;
	unsigned short attr;
	size_t offset, size;
} fields[] = {
	BASIC(bytes, sizeof(__u64)),
	BASIC(packets, sizeof(__u32)),
	QUEUE(qlen),
	QUEUE(backlog),
	QUEUE(drops),
	QUEUE(requeues),
	QUEUE(overlimits),
};

static const char *kind, *name;
static char *const *with;

static int own_attr(void)
{
	int i;

	for (i = ONRAMP_STATS_FIRST; i <= ONRAMP_STATS_MAX; i++)
		if (!strcmp(name, own_names[i]))
			return i;
	return 0;
}

static const struct rtattr *attr_of(const void *from, size_t size, unsigned short type)
{
	const struct rtattr *a = from;

	for (; RTA_OK(a, size); a = RTA_NEXT(a, size))
		if ((a->rta_type & NLA_TYPE_MASK) == type)
			return a;
	return NULL;
}

static const struct rtattr *inner(const struct rtattr *nest, unsigned short type)
{
	return nest ? attr_of(RTA_DATA(nest), RTA_PAYLOAD(nest), type) : NULL;
}

static int print(const struct rtattr *a, size_t offset, size_t size)
{
	const char *from = a ? RTA_DATA(a) : NULL;
	__u32 half;
	__s64 value;

	if (!a || RTA_PAYLOAD(a) < offset + size)
		return 1;
	if (size == sizeof(half)) {
		memcpy(&half, from + offset, sizeof(half));
		value = half;
	} else {
		memcpy(&value, from + offset, sizeof(value));
	}
	return value_or_verdict(value, with);
}

static int print_stat(const struct rtattr *stats)
{
	size_t i;

	if (!strcmp(kind, "onramp") && own_attr())
		return print(inner(inner(stats, TCA_STATS_APP), (unsigned short)own_attr()), 0,
			     sizeof(__u64));
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (!strcmp(name, fields[i].name))
			return print(inner(stats, fields[i].attr), fields[i].offset,
				     fields[i].size);
	return 1;
}

/* its_one() - is this the qdisc? Sets @stats. */
static bool its_one(const struct nlmsghdr *msg, int ifindex, const struct rtattr **stats)
{
	const struct tcmsg *tcm = NLMSG_DATA(msg);
	size_t size = msg->nlmsg_len - NLMSG_LENGTH(sizeof(*tcm));
	const struct rtattr *a;

	if (msg->nlmsg_type != RTM_NEWQDISC || tcm->tcm_ifindex != ifindex)
		return false;
	a = attr_of(tcm + 1, size, TCA_KIND);
	*stats = attr_of(tcm + 1, size, TCA_STATS2);
	return a && !strcmp(RTA_DATA(a), kind);
}

static int search(int fd, int ifindex)
{
	static char buf[1 << 16];
	int status = -1;

	for (;;) {
		ssize_t received = recv(fd, buf, sizeof(buf), 0);
		const struct nlmsghdr *msg = (const void *)buf;
		size_t size = received < 0 ? 0 : (size_t)received;

		if (received <= 0)
			return 1;
		for (; NLMSG_OK(msg, size); msg = NLMSG_NEXT(msg, size)) {
			const struct rtattr *stats;

			if (msg->nlmsg_type == NLMSG_DONE || msg->nlmsg_type == NLMSG_ERROR)
				return status != 0;
			if (status < 0 && its_one(msg, ifindex, &stats))
				status = print_stat(stats);
		}
	}
}

int main(int argc, char **argv)
{
	struct {
		struct nlmsghdr head;
		struct tcmsg tcm;
	} ask = {
		.head = { .nlmsg_len = sizeof(ask), .nlmsg_type = RTM_GETQDISC,
			  .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
	};
	int fd;

	if (argc < 4 || argc > 6) {
		fprintf(stderr, "usage: %s NAMESPACE DEVICE NAME [KIND|OPERATOR VALUE]\n", argv[0]);
		return 1;
	}
	name = argv[3];
	with = argc == 6 ? argv + 4 : NULL;
	kind = argc == 5 ? argv[4] : "onramp";
	netns_enter(argv[1]);
	ask.tcm.tcm_ifindex = (int)if_nametoindex(argv[2]);
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0 || send(fd, &ask, sizeof(ask), 0) < 0) {
		perror("netlink");
		return 1;
	}
	return search(fd, ask.tcm.tcm_ifindex);
}
