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
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/netns.h"

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
	static char buf[1 << 16];
	struct pollfd fds[2];
	int i;

	if (argc != 5) {
		fputs("usage: tun_helper NAMESPACE DEVICE LOCAL REMOTE\n", stderr);
		return 2;
	}
	local = host_addr(argv[3]);
	remote = host_addr(argv[4]);
	netns_enter(argv[1]);
	fds[0].fd = tun_open(argv[2]);
	fds[1].fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fds[1].fd < 0 || bind(fds[1].fd, (void *)&local, sizeof(local)) ||
	    connect(fds[1].fd, (void *)&remote, sizeof(remote)))
		die("socket");
	fds[0].events = POLLIN;
	fds[1].events = POLLIN;
	puts("ready");
	fflush(stdout);
	for (;;) {
		if (poll(fds, 2, -1) < 0)
			die("poll");
		for (i = 0; i < 2; i++) {
			ssize_t len;

			if (!fds[i].revents)
				continue;
			/* A device that is down, and a host that does not answer, are errors. */
			len = read(fds[i].fd, buf, sizeof(buf));
			if (len > 0 && write(fds[!i].fd, buf, len) < 0 && errno != EIO &&
			    errno != ECONNREFUSED)
				perror("write");
		}
	}
}
