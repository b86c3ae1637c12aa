// SPDX-License-Identifier: GPL-2.0
/*
 * A program that packets pass through, by NFQUEUE: accepts all.
 *
 *	nfqueue_helper NAMESPACE QUEUE
 *
 * Runs until it is ended.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_queue.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/netns.h"

static unsigned int queue;
static int sock;

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* Send a message with one attribute. */
static void tell(int type, int attr, const void *data, size_t len)
{
	struct {
		struct nlmsghdr	nlh;
		struct nfgenmsg	nfg;
		struct nlattr	nla;
		char		data[64];
	} msg = {
		.nlh = {
			.nlmsg_len = NLMSG_LENGTH(sizeof(struct nfgenmsg)) + NLA_HDRLEN +
				     NLA_ALIGN(len),
			.nlmsg_type = NFNL_SUBSYS_QUEUE << 8 | type,
			.nlmsg_flags = NLM_F_REQUEST,
		},
		.nfg = { .nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0,
			 .res_id = htons(queue) },
		.nla = { .nla_len = NLA_HDRLEN + len, .nla_type = attr },
	};

	memcpy(msg.data, data, len);
	if (send(sock, &msg, msg.nlh.nlmsg_len, 0) < 0)
		die("send");
}

static void accept_packet(const struct nlmsghdr *nlh)
{
	const struct nlattr *nla = (void *)((char *)NLMSG_DATA(nlh) + sizeof(struct nfgenmsg));
	const char *end = (const char *)nlh + nlh->nlmsg_len;

	for (; (const char *)nla < end;
	     nla = (void *)((char *)nla + NLA_ALIGN(nla->nla_len))) {
		const struct nfqnl_msg_packet_hdr *hdr = (void *)((char *)nla + NLA_HDRLEN);
		struct nfqnl_msg_verdict_hdr verdict = { .verdict = htonl(NF_ACCEPT) };

		if ((nla->nla_type & NLA_TYPE_MASK) != NFQA_PACKET_HDR)
			continue;
		verdict.id = hdr->packet_id;
		tell(NFQNL_MSG_VERDICT, NFQA_VERDICT_HDR, &verdict, sizeof(verdict));
		return;
	}
}

int main(int argc, char **argv)
{
	struct nfqnl_msg_config_cmd bind = { .command = NFQNL_CFG_CMD_BIND };
	struct nfqnl_msg_config_params params = { .copy_mode = NFQNL_COPY_META };
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK };
	static char buf[1 << 16] __attribute__((aligned(8)));

	if (argc != 3) {
		fputs("usage: nfqueue_helper NAMESPACE QUEUE\n", stderr);
		return 2;
	}
	netns_enter(argv[1]);
	queue = atoi(argv[2]);
	sock = socket(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER);
	if (sock < 0 || connect(sock, (void *)&addr, sizeof(addr)))
		die("netlink");
	tell(NFQNL_MSG_CONFIG, NFQA_CFG_CMD, &bind, sizeof(bind));
	tell(NFQNL_MSG_CONFIG, NFQA_CFG_PARAMS, &params, sizeof(params));
	for (;;) {
		ssize_t len = recv(sock, buf, sizeof(buf), 0);
		struct nlmsghdr *nlh = (void *)buf;

		/* It was too slow: packets were lost. */
		if (len < 0 && errno == ENOBUFS)
			continue;
		if (len < 0)
			die("recv");
		for (; NLMSG_OK(nlh, (size_t)len); nlh = NLMSG_NEXT(nlh, len)) {
			if (nlh->nlmsg_type == NLMSG_ERROR) {
				errno = -((struct nlmsgerr *)NLMSG_DATA(nlh))->error;
				die("NFQUEUE");
			}
			if (nlh->nlmsg_type == (NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_PACKET))
				accept_packet(nlh);
		}
	}
}
