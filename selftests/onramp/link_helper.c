// SPDX-License-Identifier: GPL-2.0
/*
 * Limit the batches of IPv4 that a device sends, and those that it merges, as ip(8) does since 6.3.
 *
 *	link_helper NAMESPACE DEVICE BYTES
 *
 * Exits with 4 if the kernel has no such limits: before 6.3.
 */
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/netns.h"

/* Of if_link.h, which may be older. */
#define GSO_IPV4_MAX_SIZE	63
#define GRO_IPV4_MAX_SIZE	64

static struct {
	struct nlmsghdr nlh;
	struct ifinfomsg link;
	struct {
		struct rtattr rta;
		__u32 bytes;
	} limits[2];
} request;

static char answer[32768];

/* Send the request; its answer is in @answer. */
static void ask(int fd, int type, int flags, size_t len)
{
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)answer;
	const struct nlmsgerr *err = NLMSG_DATA(nlh);

	request.nlh.nlmsg_type = type;
	request.nlh.nlmsg_flags = NLM_F_REQUEST | flags;
	request.nlh.nlmsg_len = len;
	if (send(fd, &request, len, 0) < 0 || recv(fd, answer, sizeof(answer), 0) < 0) {
		perror("link_helper: rtnetlink");
		exit(1);
	}
	if (nlh->nlmsg_type == NLMSG_ERROR && err->error) {
		fprintf(stderr, "link_helper: %s\n", strerror(-err->error));
		exit(1);
	}
}

static int has_limits(void)
{
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)answer;
	const struct rtattr *rta = IFLA_RTA(NLMSG_DATA(nlh));
	int left = IFLA_PAYLOAD(nlh);

	for (; RTA_OK(rta, left); rta = RTA_NEXT(rta, left))
		if (rta->rta_type == GSO_IPV4_MAX_SIZE)
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	size_t plain = offsetof(typeof(request), limits);
	int fd, i;

	if (argc != 4) {
		fputs("usage: link_helper NAMESPACE DEVICE BYTES\n", stderr);
		return 2;
	}
	netns_enter(argv[1]);
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	request.link.ifi_index = if_nametoindex(argv[2]);
	ask(fd, RTM_GETLINK, 0, plain);
	if (!has_limits())
		return 4;
	for (i = 0; i < 2; i++) {
		request.limits[i].rta.rta_len = RTA_LENGTH(sizeof(__u32));
		request.limits[i].rta.rta_type = i ? GRO_IPV4_MAX_SIZE : GSO_IPV4_MAX_SIZE;
		request.limits[i].bytes = strtoul(argv[3], NULL, 0);
	}
	ask(fd, RTM_NEWLINK, NLM_F_ACK, sizeof(request));
	return 0;
}
