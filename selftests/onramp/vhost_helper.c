// SPDX-License-Identifier: GPL-2.0
/*
 * vhost-net for a virtual machine, without the machine. The rings of a virtio network card are in
 * this process's memory, where a guest has them in its own, and the kernel's vhost-net sends and
 * receives for them by the host's tap. What fills and empties them is not a guest's driver but this
 * program, from and to a tap in the guest's namespace, with their virtio_net_hdr.
 *
 *	vhost_helper GUEST_NAMESPACE GUEST_TAP HOST_NAMESPACE HOST_TAP
 *
 * Makes the taps, prints "ready", and runs until it is ended. /dev/vhost-net has to be there.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/vhost.h>
#include <linux/virtio_ring.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../lib/tap.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define NR_BUFFERS	32		/* a power of two */
#define BUFFER		(1 << 17)	/* a batch of 64 KB, with its headers */
#define RING		(1 << 14)	/* room for a ring of so many */

enum { RX, TX, NR_RINGS };		/* as the guest sees it */

struct ring {
	struct vring	vring;
	char		*buffers;
	__u16	used;		/* of those that vhost has used, how many were seen */
	int		kick, call;
};

static void ring_to_vhost(int vhost, struct ring *r, unsigned int index, char *memory)
{
	struct vhost_vring_state num = { index, NR_BUFFERS }, base = { index, 0 };
	struct vhost_vring_addr addr = { .index = index };
	struct vhost_vring_file kick = { .index = index }, call = { .index = index };
	unsigned int i;

	vring_init(&r->vring, NR_BUFFERS, memory, 4096);
	r->buffers = memory + RING;
	for (i = 0; i < NR_BUFFERS; i++) {
		r->vring.desc[i].addr = (uintptr_t)(r->buffers + i * BUFFER);
		r->vring.desc[i].len = BUFFER;
		r->vring.desc[i].flags = index == RX ? VRING_DESC_F_WRITE : 0;
	}
	r->kick = eventfd(0, EFD_NONBLOCK);
	r->call = eventfd(0, EFD_NONBLOCK);
	if (r->kick < 0 || r->call < 0)
		tap_die("eventfd");
	addr.desc_user_addr = (uintptr_t)r->vring.desc;
	addr.avail_user_addr = (uintptr_t)r->vring.avail;
	addr.used_user_addr = (uintptr_t)r->vring.used;
	kick.fd = r->kick;
	call.fd = r->call;
	if (ioctl(vhost, VHOST_SET_VRING_NUM, &num) || ioctl(vhost, VHOST_SET_VRING_BASE, &base) ||
	    ioctl(vhost, VHOST_SET_VRING_ADDR, &addr) ||
	    ioctl(vhost, VHOST_SET_VRING_KICK, &kick) || ioctl(vhost, VHOST_SET_VRING_CALL, &call))
		tap_die("a ring of vhost-net");
}

/* vhost may use buffer @i. */
static void ring_add(struct ring *r, __u16 i)
{
	struct vring_avail *avail = r->vring.avail;
	__u16 idx = avail->idx;

	avail->ring[idx % NR_BUFFERS] = i;
	__atomic_store_n(&avail->idx, idx + 1, __ATOMIC_RELEASE);
}

static void ring_kick(struct ring *r)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!(r->vring.used->flags & VRING_USED_F_NO_NOTIFY) && eventfd_write(r->kick, 1))
		tap_die("kick");
}

/* Is there a buffer that vhost has used? */
static bool ring_used(struct ring *r, struct vring_used_elem *elem)
{
	struct vring_used *used = r->vring.used;

	if (r->used == __atomic_load_n(&used->idx, __ATOMIC_ACQUIRE))
		return false;
	*elem = used->ring[r->used++ % NR_BUFFERS];
	return true;
}

static struct ring rings[NR_RINGS];
static __u16 unused[NR_BUFFERS];	/* of those to send */
static unsigned int nr_unused;

/* What the guest's network card has got goes to the guest. */
static void received(int guest)
{
	struct ring *r = &rings[RX];
	struct vring_used_elem elem;
	bool any = false;

	while (ring_used(r, &elem)) {
		/* A device that is down, or has no room, loses it. */
		if (write(guest, r->buffers + elem.id * BUFFER, elem.len) < 0 && errno != EIO &&
		    errno != EAGAIN)
			perror("write");
		ring_add(r, elem.id);
		any = true;
	}
	if (any)
		ring_kick(r);
}

static void sent(void)
{
	struct vring_used_elem elem;

	while (ring_used(&rings[TX], &elem))
		unused[nr_unused++] = elem.id;
}

/* What the guest sends goes to its network card. */
static void send_all(int guest)
{
	struct ring *r = &rings[TX];
	bool any = false;

	while (nr_unused) {
		__u16 i = unused[nr_unused - 1];
		ssize_t len = read(guest, r->buffers + i * BUFFER, BUFFER);

		/* Nothing is there; or the device is down. */
		if (len < 0 && errno != EAGAIN && errno != EIO && errno != EBADFD)
			tap_die("read");
		if (len <= 0)
			break;
		nr_unused--;
		r->vring.desc[i].len = len;
		ring_add(r, i);
		any = true;
	}
	if (any)
		ring_kick(r);
}

int main(int argc, char **argv)
{
	size_t size = RING + (size_t)NR_BUFFERS * BUFFER;
	struct vhost_memory *table;
	struct pollfd fds[3];
	__u64 features = 0;
	unsigned int i;
	char *memory;
	int vhost, guest, host;

	if (argc != 5) {
		fprintf(stderr, "usage: vhost_helper NAMESPACE TAP NAMESPACE TAP\n");
		return 2;
	}
	guest = tap_open(argv[1], argv[2], "/dev/net/tun", O_NONBLOCK);
	host = tap_open(argv[3], argv[4], "/dev/net/tun", O_NONBLOCK);
	vhost = open("/dev/vhost-net", O_RDWR);
	if (vhost < 0)
		tap_die("/dev/vhost-net");
	memory = mmap(NULL, NR_RINGS * size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	table = calloc(1, sizeof(*table) + sizeof(table->regions[0]));
	if (memory == MAP_FAILED || !table)
		tap_die("memory");
	/* The guest's physical addresses are this process's. */
	table->nregions = 1;
	table->regions[0].guest_phys_addr = (uintptr_t)memory;
	table->regions[0].userspace_addr = (uintptr_t)memory;
	table->regions[0].memory_size = NR_RINGS * size;
	/* No features: the header is as tun has it, and a packet is in one buffer. */
	if (ioctl(vhost, VHOST_SET_OWNER) || ioctl(vhost, VHOST_SET_FEATURES, &features) ||
	    ioctl(vhost, VHOST_SET_MEM_TABLE, table))
		tap_die("vhost-net");
	for (i = 0; i < NR_RINGS; i++)
		ring_to_vhost(vhost, &rings[i], i, memory + i * size);
	for (i = 0; i < NR_BUFFERS; i++) {
		ring_add(&rings[RX], i);
		unused[nr_unused++] = i;
	}
	for (i = 0; i < NR_RINGS; i++) {
		struct vhost_vring_file backend = { i, host };

		if (ioctl(vhost, VHOST_NET_SET_BACKEND, &backend))
			tap_die("VHOST_NET_SET_BACKEND");
	}
	ring_kick(&rings[RX]);
	puts("ready");
	fflush(stdout);
	fds[0] = (struct pollfd){ rings[RX].call, POLLIN };
	fds[1] = (struct pollfd){ rings[TX].call, POLLIN };
	for (;;) {
		eventfd_t n;

		/* Without room nothing is read. */
		fds[2] = (struct pollfd){ nr_unused ? guest : -1, POLLIN };
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0)
			tap_die("poll");
		for (i = 0; i < NR_RINGS; i++)
			if (fds[i].revents)
				eventfd_read(fds[i].fd, &n);
		received(guest);
		sent();
		send_all(guest);
	}
}
