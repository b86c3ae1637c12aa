// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

/* Output that is longer is none of the programs that are asked here. */
#define OUTPUT_MAX	(1U << 20)

static _Noreturn void child(char *const argv[], int out)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0)
		_exit(127);
	setenv("LC_ALL", "C", 1);
	execvp(argv[0], argv);
	_exit(127);
}

/* Read until the end, the time @until of CLOCK_MONOTONIC, or OUTPUT_MAX; false if it is no end. */
static bool read_all(int fd, uint64_t until, char **out)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t used = 0, room = 4096;
	uint64_t now;
	ssize_t got;

	*out = xrealloc(NULL, room, 1);
	for (;;) {
		now = now_ns();
		if (now >= until || used >= OUTPUT_MAX)
			return false;
		if (poll(&p, 1, (int)((until - now) / NSEC_PER_MSEC) + 1) <= 0)
			continue;
		if (room - used < 2) {
			room *= 2;
			*out = xrealloc(*out, room, 1);
		}
		got = read(fd, *out + used, room - used - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return false;
		if (!got)
			break;
		used += (size_t)got;
	}
	(*out)[used] = '\0';
	return true;
}

/**
 * program_output() - run a program, and return its output
 * @argv: its name, looked up in PATH, and arguments
 * @timeout_ns: time after which it is ended
 *
 * Return: stdout; NULL if there is no such program, it failed, or took longer. free() it.
 */
char *program_output(char *const argv[], uint64_t timeout_ns)
{
	uint64_t until = now_ns() + timeout_ns;
	int fds[2], status = 0;
	char *out = NULL;
	pid_t pid;
	bool good;

	if (pipe2(fds, O_CLOEXEC))
		return NULL;
	pid = fork();
	if (!pid)
		child(argv, fds[1]);
	close(fds[1]);
	good = pid > 0 && read_all(fds[0], until, &out);
	close(fds[0]);
	if (pid > 0 && !good)
		kill(pid, SIGKILL);
	if (pid > 0)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	if (good && WIFEXITED(status) && !WEXITSTATUS(status))
		return out;
	free(out);
	return NULL;
}
