/* SPDX-License-Identifier: GPL-2.0 */
/* Programs of the tests that work in a network namespace of ip-netns(8). */
#ifndef _SELFTESTS_NETNS_H
#define _SELFTESTS_NETNS_H

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* netns_enter() - move the calling thread into namespace @name; exits with 1 if it cannot */
static inline void netns_enter(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET)) {
		perror(path);
		exit(1);
	}
	close(fd);
}

#endif /* _SELFTESTS_NETNS_H */
