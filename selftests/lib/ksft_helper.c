// SPDX-License-Identifier: GPL-2.0
/*
 * What tests do most often in a network namespace, in one process each: starting processes is
 * most of what a test costs where the CPU is emulated.
 *
 *	ksft_helper set NAMESPACE KEY VALUE [KEY VALUE]...
 *			write sysctls below /proc/sys/net, in this order; / in keys
 *	ksft_helper count FILE[,FILE]... NAMESPACE COUNTER
 *			a counter of the first /proc/net/FILE that has it
 *	ksft_helper since FILE[,FILE]... MARK NAMESPACE COUNTER
 *			the same, less its value in the file MARK, which has lines of these
 *
 * Exits with 1 and a message if a key cannot be written, and with 1 if there is no such counter.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "netns.h"

#define LINE_MAX_BYTES	256

static int sysctl_write(const char *key, const char *value)
{
	char path[LINE_MAX_BYTES];
	int fd, error = 0;

	snprintf(path, sizeof(path), "/proc/sys/net/%s", key);
	fd = open(path, O_WRONLY);
	if (fd < 0 || dprintf(fd, "%s\n", value) < 0)
		error = errno;
	if (fd >= 0)
		close(fd);
	if (error)
		fprintf(stderr, "%s = %s: %s\n", path, value, strerror(error));
	return error;
}

static int set(int argc, char **argv)
{
	int i;

	netns_enter(argv[0]);
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

/* count() - print the value of a counter minus @before */
static int count(char *files, const char *namespace, const char *name, long long before)
{
	long long value;

	netns_enter(namespace);
	if (find_proc(files, name, &value))
		return 1;
	printf("%lld\n", value - before);
	return 0;
}

static int since(char *files, const char *mark, const char *namespace, const char *name)
{
	long long before;

	return find(mark, name, &before) ? 1 : count(files, namespace, name, before);
}

int main(int argc, char **argv)
{
	if (argc >= 5 && argc % 2 && !strcmp(argv[1], "set"))
		return set(argc - 2, argv + 2);
	if (argc == 5 && !strcmp(argv[1], "count"))
		return count(argv[2], argv[3], argv[4], 0);
	if (argc == 6 && !strcmp(argv[1], "since"))
		return since(argv[2], argv[3], argv[4], argv[5]);
	fprintf(stderr, "%s: see the head of ksft_helper.c\n", argv[0]);
	return 2;
}
