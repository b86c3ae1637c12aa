// SPDX-License-Identifier: GPL-2.0
/*
 * The device of a virtual machine, without the machine: frames go from a tap, which is the guest's
 * network card, to the host's tap or macvtap and back, with their virtio_net_hdr. So the host gets
 * from a socket of the tap what vhost-net gives it from a guest: GSO packets without a checksum.
 *
 *	tap_helper GUEST_NAMESPACE GUEST_TAP HOST_NAMESPACE HOST_TAP [FILE]
 *
 * FILE: character device of a macvtap. Makes the taps, prints "ready", and runs until it is ended.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/tap.h"

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

int main(int argc, char **argv)
{
	static char buf[1 << 17];
	struct pollfd fds[2];
	int i;

	if (argc < 5) {
		fprintf(stderr, "usage: tap_helper NAMESPACE TAP NAMESPACE TAP [FILE]\n");
		return 2;
	}
	fds[0].fd = tap_open(argv[1], argv[2], "/dev/net/tun", 0);
	fds[1].fd = tap_open(argv[3], argv[4], argc > 5 ? argv[5] : "/dev/net/tun", 0);
	fds[0].events = POLLIN;
	fds[1].events = POLLIN;
	puts("ready");
	fflush(stdout);
	for (;;) {
		if (poll(fds, 2, -1) < 0)
			die("poll");
		for (i = 0; i < 2; i++) {
			ssize_t len;

			if (!(fds[i].revents & POLLIN))
				continue;
			len = read(fds[i].fd, buf, sizeof(buf));
			/* While a device is down. */
			if (len < 0 && errno != EIO && errno != EBADFD)
				die("read");
			/* A device that is down loses it. */
			if (len > 0 && write(fds[!i].fd, buf, len) < 0 && errno != EIO)
				perror("write");
		}
	}
}
