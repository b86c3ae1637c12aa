/* SPDX-License-Identifier: GPL-2.0 */
/* Programs of the tests that are one end of a tap. */
#ifndef _SELFTESTS_TAP_H
#define _SELFTESTS_TAP_H

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "netns.h"

/*
 * tap_open() - make the tap @name in @namespace
 *
 * It takes GSO packets, and packets without a checksum.
 * @file is /dev/net/tun, or the character device of a macvtap. @flags go to open() beside O_RDWR.
 * Exits with 1 if it cannot.
 */
static inline int tap_open(const char *namespace, const char *name, const char *file, int flags)
{
	struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR };
	const char *what = file;
	int fd;

	netns_enter(namespace);
	fd = open(file, O_RDWR | flags);
	if (fd < 0)
		goto err;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	what = "TUNSETIFF";
	if (ioctl(fd, TUNSETIFF, &ifr))
		goto err;
	what = "TUNSETOFFLOAD";
	if (ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6))
		goto err;
	return fd;
err:
	perror(what);
	exit(1);
}

#endif /* _SELFTESTS_TAP_H */
