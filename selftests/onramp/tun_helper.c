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
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/tap.h"

#define PORT	1194

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static struct sockaddr_in host_addr(const char *text)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(PORT) };

	if (inet_pton(AF_INET, text, &addr.sin_addr) != 1) {
		fprintf(stderr, "'%s': expected an IPv4 address\n", text);
		exit(2);
	}
	return addr;
}

static int tun_open(const char *name)
{
	struct ifreq ifr = { .ifr_flags = IFF_TUN | IFF_NO_PI };
	int fd = open("/dev/net/tun", O_RDWR);

	if (fd < 0)
		die("/dev/net/tun");
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	if (ioctl(fd, TUNSETIFF, &ifr))
		die("TUNSETIFF");
	return fd;
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
	device = tun_open(argv[2]);
	sock = socket(AF_INET, SOCK_DGRAM, 0);
	if (sock < 0 || bind(sock, (void *)&local, sizeof(local)) ||
	    connect(sock, (void *)&remote, sizeof(remote)))
		die("socket");
	tap_relay(device, sock);
}
