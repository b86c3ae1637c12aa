// SPDX-License-Identifier: GPL-2.0
/*
 * The device of a virtual machine, without the machine: frames go from a tap, which is the guest's
 * network card, to the host's tap or macvtap and back, with their virtio_net_hdr. So the host gets
 * from a socket of the tap what vhost-net gives it from a guest: GSO packets without a checksum.
 *
 *	tap_helper GUEST_NAMESPACE GUEST_TAP HOST_NAMESPACE HOST_TAP [FILE]
 *
 * FILE: character device of a macvtap. tap_change() says what the environment may ask for. Makes
 * the taps, prints "ready", and runs until it is ended.
 */
#define _GNU_SOURCE
#include <stdio.h>

#include "../lib/tap.h"

int main(int argc, char **argv)
{
	int guest, host;

	if (argc < 5) {
		fprintf(stderr, "usage: tap_helper NAMESPACE TAP NAMESPACE TAP [FILE]\n");
		return 2;
	}
	guest = tap_open(argv[1], argv[2], "/dev/net/tun", 0);
	host = tap_open(argv[3], argv[4], argc > 5 ? argv[5] : "/dev/net/tun", 0);
	tap_relay(guest, host);
}
