// SPDX-License-Identifier: GPL-2.0
/*
 * One end of a WireGuard tunnel, with keys for tests.
 *
 *	wg_helper NAMESPACE DEVICE END REMOTE
 *
 * END is 0 or 1. The tunnel takes all of IPv4, and its packets go to the other end at REMOTE.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/wireguard.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/netns.h"

#define PORT	51820

/* Of X25519, made for this program. */
static const unsigned char private[2][WG_KEY_LEN] = {
	{ 0x80, 0xe2, 0xe6, 0xff, 0x7e, 0xa4, 0x44, 0x50, 0xb9, 0xf1, 0xf1, 0x86,
	  0xa8, 0x08, 0xbf, 0x34, 0xb5, 0x10, 0xc0, 0x2e, 0x58, 0x46, 0xef, 0x8f,
	  0xa3, 0x15, 0xd7, 0x27, 0x8d, 0x1b, 0xfe, 0x45 },
	{ 0x28, 0x9a, 0x4d, 0x29, 0x9d, 0xdb, 0xcf, 0x08, 0xc7, 0x49, 0xd4, 0xe7,
	  0x98, 0x9a, 0xfb, 0xc8, 0x97, 0x97, 0xf0, 0x0f, 0x5a, 0x64, 0x1f, 0xb3,
	  0x4d, 0xf8, 0x23, 0x4e, 0x53, 0xce, 0x71, 0x7b },
};

static const unsigned char public[2][WG_KEY_LEN] = {
	{ 0x43, 0x08, 0x75, 0x70, 0x49, 0x5a, 0xe5, 0xd1, 0x44, 0x77, 0x02, 0x86,
	  0x03, 0x64, 0xc4, 0x3c, 0x13, 0xf4, 0xae, 0x42, 0x79, 0x14, 0xa7, 0x61,
	  0x38, 0x9e, 0xf0, 0x01, 0x7d, 0x45, 0xdc, 0x08 },
	{ 0x05, 0x72, 0xc4, 0x16, 0xaf, 0x0a, 0xeb, 0x3e, 0xa8, 0xf4, 0xa1, 0xe8,
	  0x6b, 0x8c, 0x8a, 0x48, 0xda, 0xb9, 0xf3, 0xc1, 0x81, 0x03, 0xb3, 0x4a,
	  0xda, 0x26, 0x5f, 0x87, 0x36, 0xa7, 0x3c, 0x5d },
};

static union {
	struct nlmsghdr	nlh;
	char		bytes[4096];
} msg;

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static void begin(int type, int cmd, int version)
{
	struct genlmsghdr *genl = NLMSG_DATA(&msg.nlh);

	memset(&msg, 0, sizeof(msg));
	msg.nlh.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	msg.nlh.nlmsg_type = type;
	msg.nlh.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	genl->cmd = cmd;
	genl->version = version;
}

/* Add an attribute; without data it is a nest, to be closed. */
static struct nlattr *put(int type, const void *data, size_t len)
{
	struct nlattr *nla = (void *)(msg.bytes + msg.nlh.nlmsg_len);

	nla->nla_type = data ? type : type | NLA_F_NESTED;
	nla->nla_len = NLA_HDRLEN + len;
	if (data)
		memcpy(nla + 1, data, len);
	msg.nlh.nlmsg_len += NLA_ALIGN(nla->nla_len);
	return nla;
}

static void close_nest(struct nlattr *nla)
{
	nla->nla_len = msg.bytes + msg.nlh.nlmsg_len - (char *)nla;
}

/* Send it; return the number of the family that an answer names. */
static int ask(int sock, const char *what)
{
	int family = 0;

	if (send(sock, &msg, msg.nlh.nlmsg_len, 0) < 0)
		die(what);
	for (;;) {
		struct nlattr *nla = (void *)(msg.bytes + NLMSG_LENGTH(GENL_HDRLEN));

		if (recv(sock, &msg, sizeof(msg), 0) < 0)
			die(what);
		if (msg.nlh.nlmsg_type == NLMSG_ERROR) {
			errno = -((struct nlmsgerr *)NLMSG_DATA(&msg.nlh))->error;
			if (errno)
				die(what);
			return family;
		}
		for (; (char *)nla < msg.bytes + msg.nlh.nlmsg_len;
		     nla = (void *)((char *)nla + NLA_ALIGN(nla->nla_len)))
			if (nla->nla_type == CTRL_ATTR_FAMILY_ID)
				family = *(__u16 *)(nla + 1);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in remote = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	const __u16 family = AF_INET, port = PORT;
	struct nlattr *peers, *peer, *all, *one;
	const struct in_addr any = {};
	const __u8 bits = 0;
	int sock, end;

	if (argc != 5 || inet_pton(AF_INET, argv[4], &remote.sin_addr) != 1) {
		fputs("usage: wg_helper NAMESPACE DEVICE END REMOTE\n", stderr);
		return 2;
	}
	netns_enter(argv[1]);
	end = atoi(argv[3]) & 1;
	sock = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	if (sock < 0)
		die("netlink");
	begin(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);
	put(CTRL_ATTR_FAMILY_NAME, WG_GENL_NAME, sizeof(WG_GENL_NAME));
	begin(ask(sock, "wireguard"), WG_CMD_SET_DEVICE, WG_GENL_VERSION);
	put(WGDEVICE_A_IFNAME, argv[2], strlen(argv[2]) + 1);
	put(WGDEVICE_A_PRIVATE_KEY, private[end], WG_KEY_LEN);
	put(WGDEVICE_A_LISTEN_PORT, &port, sizeof(port));
	peers = put(WGDEVICE_A_PEERS, NULL, 0);
	peer = put(0, NULL, 0);
	put(WGPEER_A_PUBLIC_KEY, public[!end], WG_KEY_LEN);
	put(WGPEER_A_ENDPOINT, &remote, sizeof(remote));
	all = put(WGPEER_A_ALLOWEDIPS, NULL, 0);
	one = put(0, NULL, 0);
	put(WGALLOWEDIP_A_FAMILY, &family, sizeof(family));
	put(WGALLOWEDIP_A_IPADDR, &any, sizeof(any));
	put(WGALLOWEDIP_A_CIDR_MASK, &bits, sizeof(bits));
	close_nest(one);
	close_nest(all);
	close_nest(peer);
	close_nest(peers);
	ask(sock, argv[2]);
	return 0;
}
