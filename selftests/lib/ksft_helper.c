// SPDX-License-Identifier: GPL-2.0
/*
 * What tests do most often in a network namespace, in one process each: starting processes is
 * most of what a test costs where the CPU is emulated.
 *
 *	ksft_helper set NAMESPACE KEY VALUE [KEY VALUE]...
 *			write sysctls below /proc/sys/net, in this order; / in keys. A key after ?
 *			need not be there
 *	ksft_helper up NAMESPACE [KEY VALUE]...
 *			bring lo up before
 *	ksft_helper count FILE[,FILE]... NAMESPACE COUNTER [OPERATOR VALUE]
 *			a counter of the first /proc/net/FILE that has it, or, as test(1) does it,
 *			whether it is such
 *	ksft_helper since FILE[,FILE]... MARK NAMESPACE COUNTER [OPERATOR VALUE]
 *			the same, less its value in the file MARK, which has lines of these
 *	ksft_helper in NAMESPACE COMMAND...
 *			run it there; "cat FILE..." without another process
 *
 * Exits with 1 and a message if a key cannot be written or a file not read, with 1 if there is no
 * such counter, and with 127 if there is no such command.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netns.h"

#define LINE_MAX_BYTES	256

static int sysctl_write(const char *key, const char *value)
{
	bool optional = *key == '?';
	char path[LINE_MAX_BYTES];
	int fd, error = 0;

	snprintf(path, sizeof(path), "/proc/sys/net/%s", key + optional);
	fd = open(path, O_WRONLY);
	if (fd < 0 && errno == ENOENT && optional)
		return 0;
	if (fd < 0 || dprintf(fd, "%s\n", value) < 0)
		error = errno;
	if (fd >= 0)
		close(fd);
	if (error)
		fprintf(stderr, "%s = %s: %s\n", path, value, strerror(error));
	return error;
}

static int lo_up(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int sock = socket(AF_INET, SOCK_DGRAM, 0);

	if (sock < 0 || ioctl(sock, SIOCSIFFLAGS, &request)) {
		perror("lo");
		return 1;
	}
	close(sock);
	return 0;
}

static int set(int argc, char **argv, bool up)
{
	int i;

	netns_enter(argv[0]);
	if (up && lo_up())
		return 1;
	for (i = 1; i + 1 < argc; i += 2)
		if (sysctl_write(argv[i], argv[i + 1]))
			return 1;
	return 0;
}

/*
 * find() - a counter in a file of lines "NAME VALUE"
 *
 * Return: 0, or -1 if the file is not there or has none of that name.
 */
static int find(const char *path, const char *name, long long *value)
{
	char line[LINE_MAX_BYTES];
	size_t length = strlen(name);
	int found = -1;
	FILE *f = fopen(path, "r");

	while (found && f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, length) && line[length] == ' ' &&
		    sscanf(line + length, "%lld", value) == 1)
			found = 0;
	if (f)
		fclose(f);
	return found;
}

/* find_proc() - the same in the first of @files below /proc/net; cuts @files */
static int find_proc(char *files, const char *name, long long *value)
{
	char path[LINE_MAX_BYTES];
	char *file;

	for (file = strtok(files, ","); file; file = strtok(NULL, ",")) {
		snprintf(path, sizeof(path), "/proc/net/%s", file);
		if (!find(path, name, value))
			return 0;
	}
	return -1;
}

/* count() - a counter minus @before; @argv: NAMESPACE COUNTER [OPERATOR VALUE] */
static int count(char *files, int argc, char **argv, long long before)
{
	long long value;

	netns_enter(argv[0]);
	if (find_proc(files, argv[1], &value))
		return 1;
	return value_or_verdict(value - before, argc == 4 ? argv + 2 : NULL);
}

static int since(char *files, const char *mark, int argc, char **argv)
{
	long long before;

	return find(mark, argv[1], &before) ? 1 : count(files, argc, argv, before);
}

static int cat(char **files)
{
	char buf[65536];
	ssize_t n;
	int fd;

	for (; *files; files++) {
		fd = open(*files, O_RDONLY);
		n = fd < 0 ? -1 : 1;
		while (n > 0) {
			n = read(fd, buf, sizeof(buf));
			if (n > 0 && write(STDOUT_FILENO, buf, n) != n)
				n = -1;
		}
		if (n < 0) {
			perror(*files);
			return 1;
		}
		close(fd);
	}
	return 0;
}

static int in(const char *namespace, char **command)
{
	netns_enter(namespace);
	if (!strcmp(command[0], "cat") && command[1])
		return cat(command + 1);
	execvp(command[0], command);
	perror(command[0]);
	return 127;
}

int main(int argc, char **argv)
{
	if (argc >= 5 && argc % 2 && !strcmp(argv[1], "set"))
		return set(argc - 2, argv + 2, false);
	if (argc >= 3 && argc % 2 && !strcmp(argv[1], "up"))
		return set(argc - 2, argv + 2, true);
	if ((argc == 5 || argc == 7) && !strcmp(argv[1], "count"))
		return count(argv[2], argc - 3, argv + 3, 0);
	if ((argc == 6 || argc == 8) && !strcmp(argv[1], "since"))
		return since(argv[2], argv[3], argc - 4, argv + 4);
	if (argc >= 4 && !strcmp(argv[1], "in"))
		return in(argv[2], argv + 3);
	fprintf(stderr, "%s: see the head of ksft_helper.c\n", argv[0]);
	return 2;
}
