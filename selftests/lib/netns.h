/* SPDX-License-Identifier: GPL-2.0 */
/* Programs of the tests that work in a network namespace of ip-netns(8). */
#ifndef _SELFTESTS_NETNS_H
#define _SELFTESTS_NETNS_H

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/*
 * value_or_verdict() - print @value; with @with, "OPERATOR VALUE" of test(1), print nothing
 *
 * A shell that tests the output itself makes one process more.
 *
 * Return: an exit status: 0, or 1 if it does not hold, or 2 for an unknown operator.
 */
static inline int value_or_verdict(long long value, char *const *with)
{
	static const struct { const char *name; int below, equal, above; } ops[] = {
		{ "-eq", 0, 1, 0 }, { "-ne", 1, 0, 1 }, { "-lt", 1, 0, 0 },
		{ "-le", 1, 1, 0 }, { "-gt", 0, 0, 1 }, { "-ge", 0, 1, 1 }, { }
	}, *op;
	long long other;

	if (!with) {
		printf("%lld\n", value);
		return 0;
	}
	other = strtoll(with[1], NULL, 10);
	for (op = ops; op->name; op++)
		if (!strcmp(with[0], op->name))
			return !(value < other ? op->below : value > other ? op->above : op->equal);
	fprintf(stderr, "%s: unknown operator\n", with[0]);
	return 2;
}

#endif /* _SELFTESTS_NETNS_H */
