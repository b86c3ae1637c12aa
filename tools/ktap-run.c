// SPDX-License-Identifier: GPL-2.0
/*
 * Run test programs in kselftest layout and nest their output in one KTAP report.
 *
 *	ktap-run [-t SECONDS] DIR [COLLECTION[:PROGRAM]...]
 *	ktap-run [-t SECONDS] -c FILE
 *
 * The first form runs what DIR/kselftest-list.txt names ("collection:program",
 * one per line), each in DIR/collection, for at most as long as "timeout=" in
 * DIR/collection/settings says. The second runs shell commands from FILE, one
 * per line: "name seconds command". -t overrides the time limit of all; so does
 * $TEST_TIMEOUT_S.
 *
 * A program's output comes two columns to the right, so it can't be mistaken
 * for the report's own. Its line says "ok" for exit status 0, "ok ... # SKIP"
 * for 4, "not ok" otherwise. When a program ends, whatever it left running is
 * killed. The exit status is 0 if every program ended with 0 or 4.
 *
 * tools/ktap judges the report; only it looks into a program's own results.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KSFT_SKIP		4
#define DEFAULT_TIMEOUT_S	45	/* as the kernel's own runner */
#define MAX_TESTS		4096
#define TICK_MS			100

struct test {
	char *name;		/* as in the report */
	char *dir;		/* where to run, NULL for here */
	char *command;		/* for the shell, or a program in dir */
	long timeout_s;		/* 0: none */
};

static struct test tests[MAX_TESTS];
static unsigned int nr_tests;
static long override_s = -1;

static void __attribute__((noreturn)) die(const char *what, const char *arg)
{
	fprintf(stderr, "ktap-run: %s: %s\n", arg, what);
	exit(2);
}

static char *xasprintf(const char *fmt, const char *a, const char *b)
{
	char *s;

	if (asprintf(&s, fmt, a, b) < 0)
		die("out of memory", fmt);
	return s;
}

static long parse_seconds(const char *s, const char *where)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(s, &end, 10);
	if (errno || end == s || *end || v < 0 || v > 1000000)
		die("the time limit must be 0 to 1000000 seconds", where);
	return v;
}

static long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static long settings_timeout(const char *dir)
{
	char *path = xasprintf("%s/%s", dir, "settings");
	long v = DEFAULT_TIMEOUT_S;
	char line[256];
	FILE *f;

	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (!strncmp(line, "timeout=", 8))
			v = parse_seconds(line + 8, path);
	}
	if (f)
		fclose(f);
	free(path);
	return v;
}

static struct test *new_test(const char *where)
{
	if (nr_tests == MAX_TESTS)
		die("too many tests", where);
	return &tests[nr_tests++];
}

static bool wanted(const char *test, char *const sel[], int nr)
{
	int i;

	for (i = 0; i < nr; i++) {
		size_t len = strlen(sel[i]);

		if (!strncmp(test, sel[i], len) &&
		    (!test[len] || (test[len] == ':' && !strchr(sel[i], ':'))))
			return true;
	}
	return !nr;
}

static void read_kselftest_list(const char *top, char *const sel[], int nr)
{
	char *path = xasprintf("%s/%s", top, "kselftest-list.txt");
	char line[1024], *prog;
	int i, before;
	struct test *t;
	FILE *f;

	f = fopen(path, "re");
	if (!f)
		die(strerror(errno), path);
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (!line[0])
			continue;
		prog = strchr(line, ':');
		if (!prog || prog == line || !prog[1])
			die("expected collection:program", path);
		if (!wanted(line, sel, nr))
			continue;
		t = new_test(path);
		t->name = xasprintf("%s%s", line, "");
		*prog++ = '\0';
		t->dir = xasprintf("%s/%s", top, line);
		t->command = xasprintf("./%s%s", prog, "");
		t->timeout_s = settings_timeout(t->dir);
	}
	fclose(f);

	/* A name that selects nothing is a mistake, not an empty run. */
	for (i = 0; i < nr; i++) {
		for (before = 0; before < (int)nr_tests; before++)
			if (wanted(tests[before].name, sel + i, 1))
				break;
		if (before == (int)nr_tests)
			die("no such test in kselftest-list.txt", sel[i]);
	}
	free(path);
}

static void read_commands(const char *path)
{
	char line[4096], *name, *limit, *command, *save;
	struct test *t;
	FILE *f;

	f = fopen(path, "re");
	if (!f)
		die(strerror(errno), path);
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\r\n")] = '\0';
		name = strtok_r(line, " \t", &save);
		if (!name || name[0] == '#')
			continue;
		limit = strtok_r(NULL, " \t", &save);
		command = strtok_r(NULL, "", &save);
		if (!limit || !command)
			die("expected: name seconds command", path);
		t = new_test(path);
		t->name = xasprintf("%s%s", name, "");
		t->command = xasprintf("%s%s", command, "");
		t->timeout_s = parse_seconds(limit, path);
	}
	fclose(f);
}

/* Copies what there is to read; false at the end of the stream. */
static bool forward(int fd, bool *bol)
{
	char buf[4096];
	ssize_t n, i;

	n = read(fd, buf, sizeof(buf));
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	for (i = 0; i < n; i++) {
		if (*bol)
			fputs("  ", stdout);
		putchar(buf[i]);
		*bol = buf[i] == '\n';
	}
	fflush(stdout);
	return n > 0;
}

static pid_t start(const struct test *t, int fd_out)
{
	int null, err;
	pid_t pid;

	pid = fork();
	if (pid)
		return pid;
	setpgid(0, 0);
	null = open("/dev/null", O_RDONLY);
	dup2(null, 0);
	dup2(fd_out, 1);
	dup2(fd_out, 2);
	if (t->dir) {
		if (chdir(t->dir)) {
			perror(t->dir);
			_exit(126);
		}
		execl(t->command, t->command, (char *)NULL);
		err = errno;
		perror(t->command);
	} else {
		execl("/bin/sh", "sh", "-c", t->command, (char *)NULL);
		err = errno;
		perror("/bin/sh");
	}
	_exit(err == ENOENT ? 127 : 126);
}

/* Children of this process, by /proc, as it adopts every orphan. */
static bool kill_children(void)
{
	char path[64], line[4096], *pid, *save;
	bool any = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fgets(line, sizeof(line), f))
		for (pid = strtok_r(line, " ", &save); pid;
		     pid = strtok_r(NULL, " ", &save))
			if (atoi(pid) > 1 && !kill(atoi(pid), SIGKILL))
				any = true;
	fclose(f);
	return any;
}

static void reap_leftovers(pid_t pgrp)
{
	long long end = now_ms() + 5000;

	kill(-pgrp, SIGKILL);
	while (kill_children() && now_ms() < end) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		usleep(1000);
	}
}

/* Returns a wait status, or -1 after the time limit. */
static int run(const struct test *t)
{
	long limit_s = override_s >= 0 ? override_s : t->timeout_s;
	long long end = now_ms() + limit_s * 1000LL;
	bool bol = true, open = true, over = false;
	int fds[2], status = 0;
	struct pollfd pfd;
	pid_t pid, p;

	if (pipe2(fds, O_CLOEXEC) || fcntl(fds[0], F_SETFL, O_NONBLOCK))
		die(strerror(errno), "pipe");
	pid = start(t, fds[1]);
	if (pid < 0)
		die(strerror(errno), "fork");
	close(fds[1]);

	for (;;) {
		pfd = (struct pollfd){ .fd = open ? fds[0] : -1, .events = POLLIN };
		poll(&pfd, 1, TICK_MS);
		if (pfd.revents)
			open = forward(fds[0], &bol);
		while ((p = waitpid(-1, &status, WNOHANG)) > 0)
			if (p == pid)
				goto ended;
		if (limit_s && now_ms() >= end) {
			over = true;
			break;
		}
	}
ended:
	reap_leftovers(pid);
	/* Bounded: a writer that could not be killed must not hold us up. */
	end = now_ms() + 1000;
	while (open && now_ms() < end) {
		pfd = (struct pollfd){ .fd = fds[0], .events = POLLIN };
		if (poll(&pfd, 1, TICK_MS) > 0)
			open = forward(fds[0], &bol);
	}
	close(fds[0]);
	if (!bol)
		putchar('\n');
	return over ? -1 : status;
}

/* Run a test and print its result. Returns whether it passed or was skipped. */
static bool run_and_report(unsigned int number, const struct test *test)
{
	const char *name = test->name;
	long long began = now_ms();
	int status;

	printf("# %s\n", name);
	fflush(stdout);
	status = run(test);
	printf("# %s took %.1f s\n", name, (now_ms() - began) / 1e3);
	if (status == -1)
		printf("not ok %u %s # TIMEOUT after %ld s\n", number, name,
		       override_s >= 0 ? override_s : test->timeout_s);
	else if (WIFSIGNALED(status))
		printf("not ok %u %s # killed by signal %d\n", number, name, WTERMSIG(status));
	else if (WEXITSTATUS(status) == KSFT_SKIP)
		printf("ok %u %s # SKIP\n", number, name);
	else if (WEXITSTATUS(status))
		printf("not ok %u %s # exit status %d\n", number, name, WEXITSTATUS(status));
	else
		printf("ok %u %s\n", number, name);
	fflush(stdout);
	return !status ||
	       (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == KSFT_SKIP);
}

int main(int argc, char **argv)
{
	const char *commands = NULL, *env = getenv("TEST_TIMEOUT_S");
	bool failed = false;
	unsigned int i;
	int opt;

	if (env)
		override_s = parse_seconds(env, "TEST_TIMEOUT_S");
	while ((opt = getopt(argc, argv, "t:c:")) != -1) {
		switch (opt) {
		case 't':
			override_s = parse_seconds(optarg, "-t");
			break;
		case 'c':
			commands = optarg;
			break;
		default:
			return 2;
		}
	}
	if (!commands == !(argc - optind)) {
		fputs("usage: ktap-run [-t SECONDS] DIR [COLLECTION[:PROGRAM]...] | -c FILE\n",
		      stderr);
		return 2;
	}
	if (commands)
		read_commands(commands);
	else
		read_kselftest_list(argv[optind], argv + optind + 1,
				    argc - optind - 1);

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	printf("KTAP version 1\n1..%u\n", nr_tests);
	for (i = 0; i < nr_tests; i++)
		failed |= !run_and_report(i + 1, &tests[i]);
	return failed;
}
