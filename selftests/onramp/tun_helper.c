// SPDX-License-Identifier: GPL-2.0
/*
 * A VPN of userspace, without encryption: packets go from a TUN device to a UDP socket and back, as
 * with OpenVPN or Tailscale.
 *
 *	tun_helper NAMESPACE DEVICE LOCAL REMOTE
 *
 * LOCAL and REMOTE: IPv4 addresses of the hosts. Makes the device, prints "ready", and runs until
 * it is ended.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/if_tun.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#include "../lib/tap.h"

#define PORT	1194

static struct sockaddr_in host_addr(const char *text)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(PORT) };

	if (inet_pton(AF_INET, text, &addr.sin_addr) != 1) {
		fprintf(stderr, "'%s': expected an IPv4 address\n", text);
		exit(2);
	}
	return addr;
}

int main(int argc, char **argv)
{
	struct sockaddr_in local, remote;
	int device, sock;

	if (argc != 5) {
		fputs("usage: tun_helper NAMESPACE DEVICE LOCAL REMOTE\n", stderr);
		return 2;
	}
	local = host_addr(argv[3]);
	remote = host_addr(argv[4]);
	netns_enter(argv[1]);
	device = tun_open("/dev/net/tun", 0, argv[2], IFF_TUN);
	sock = socket(AF_INET, SOCK_DGRAM, 0);
	if (sock < 0 || bind(sock, (void *)&local, sizeof(local)) ||
	    connect(sock, (void *)&remote, sizeof(remote)))
		tap_die("socket");
	tap_relay(device, sock);
}
