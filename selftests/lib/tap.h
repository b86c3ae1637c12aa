/* SPDX-License-Identifier: GPL-2.0 */
/* Programs of the tests that are one end of a tap. */
#ifndef _SELFTESTS_TAP_H
#define _SELFTESTS_TAP_H

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "netns.h"

static inline void __attribute__((noreturn)) tap_die(const char *what)
{
	perror(what);
	exit(1);
}

/*
 * tun_open() - make the device @name of the kind @kind, IFF_TUN or IFF_TAP, in this namespace
 *
 * @file is /dev/net/tun, or the character device of a macvtap. @flags go to open() beside O_RDWR.
 * Exits with 1 if it cannot.
 */
static inline int tun_open(const char *file, int flags, const char *name, short kind)
{
	struct ifreq ifr = { .ifr_flags = (short)(kind | IFF_NO_PI) };
	int fd = open(file, O_RDWR | flags);

	if (fd < 0)
		tap_die(file);
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	if (ioctl(fd, TUNSETIFF, &ifr))
		tap_die("TUNSETIFF");
	return fd;
}

/*
 * tap_open() - make the tap @name in @namespace
 *
 * It takes GSO packets, and packets without a checksum. @file and @flags: see tun_open().
 * Exits with 1 if it cannot.
 */
static inline int tap_open(const char *namespace, const char *name, const char *file, int flags)
{
	int fd;

	netns_enter(namespace);
	fd = tun_open(file, flags, name, IFF_TAP | IFF_VNET_HDR);
	if (ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6))
		tap_die("TUNSETOFFLOAD");
	return fd;
}

/* Devices that are down, and hosts that do not answer, lose packets, and are no errors. */
static inline int tap_loses(void)
{
	return errno == EIO || errno == EBADFD || errno == ECONNREFUSED;
}

/* A number of the environment, or 0. */
static inline unsigned long tap_number(const char *name)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 10) : 0;
}

/*
 * What a guest's driver may do with a packet behind a virtio_net_hdr: TAP_PAD is the length of the
 * shortest frame, TAP_GSO_SIZE that of the packets of a GSO packet.
 */
static inline ssize_t tap_change(char *buf, ssize_t len)
{
	struct virtio_net_hdr *hdr = (struct virtio_net_hdr *)buf;
	ssize_t least = tap_number("TAP_PAD");

	if (tap_number("TAP_GSO_SIZE") && hdr->gso_type)
		hdr->gso_size = tap_number("TAP_GSO_SIZE");
	if (!least || len <= (ssize_t)sizeof(*hdr) || len >= least + (ssize_t)sizeof(*hdr))
		return len;
	least += sizeof(*hdr);
	memset(buf + len, 0, least - len);
	return least;
}

/* tap_relay() - print "ready", and pass packets from each of two files to the other, for ever */
static inline void __attribute__((noreturn)) tap_relay(int one, int other)
{
	struct pollfd fds[2] = {
		{ .fd = one, .events = POLLIN },
		{ .fd = other, .events = POLLIN },
	};
	static char buf[1 << 17];
	int i;

	puts("ready");
	fflush(stdout);
	for (;;) {
		if (poll(fds, 2, -1) < 0)
			tap_die("poll");
		for (i = 0; i < 2; i++) {
			ssize_t len;

			if (!fds[i].revents)
				continue;
			len = read(fds[i].fd, buf, sizeof(buf));
			if (len < 0 && !tap_loses())
				tap_die("read");
			if (!i)
				len = tap_change(buf, len);
			if (len > 0 && write(fds[!i].fd, buf, len) < 0 && !tap_loses())
				perror("write");
		}
	}
}

#endif /* _SELFTESTS_TAP_H */
