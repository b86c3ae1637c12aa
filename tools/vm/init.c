// SPDX-License-Identifier: GPL-2.0
/*
 * PID 1 of the test VM.
 *
 *	mount the pseudo file systems, read and delete the run description
 *	run the command (output to a serial port), bounded by a timeout
 *	kill what it left, undo what would pin a module
 *	send /results as a tar stream (another one)
 *	unload every module of this project, look for anything it left behind
 *	kmemleak, where the kernel has it
 *	scan the kernel log
 *	write the verdict, as the last line on the console, and power off
 *
 * The verdict carries a number that only the host and this process know, so
 * nothing the command prints can be taken for it. Everything that can go wrong
 * is a "fault"; a run passes when the command returned 0 and no fault was seen.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <sys/io.h>
#endif

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define RUN_DIR			"/.run"
#define KLOG_CONSOLE_OFF	6
#define EXIT_OK			85	/* status of QEMU when init ended it */
#define MAX_MODULES		64
#define MAX_ARGS		256

/* Serial ports, as tools/vm/run attaches them. */
#ifdef __x86_64__
#define CONSOLE			"ttyS0"
#define OUTPUT			"ttyS1"
#define RESULTS			"ttyS2"
#else	/* the machine has a port of its own, the other two are on PCI */
#define CONSOLE			"ttyAMA0"
#define OUTPUT			"ttyS0"
#define RESULTS			"ttyS1"
#endif

/* How long a killed process may take to go. */
#define KILL_WAIT_MS		10000
/* How long a module may stay busy after its last user was killed. */
#define RMMOD_WAIT_MS		20000
/* And while sockets without a process are left: until a timer that TCP had set before. */
#define ORPHAN_WAIT_MS		130000
/* Long enough for kmemleak's grey period, see kmemleak_scan(). */
#define KMEMLEAK_WAIT_S		6

static int con = -1;		/* kernel console and verdict */
static int out = -1;		/* the command's output */
static unsigned int faults;

static char nonce[64];
static unsigned long timeout_s = 600;	/* for the command, which waits for begin_s before */
static unsigned long begin_s;
static bool interactive;
static char *cmd_argv[MAX_ARGS + 1];
static char cmd_buf[65536];

static char mod_name[MAX_MODULES][64];
static unsigned int nr_mods;

static void say(const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if (n > (int)sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	if (con >= 0 && write(con, line, n) != n)
		faults++;
}

#define fault(fmt, ...)							\
do {									\
	faults++;							\
	say("vm-fault: " fmt, ##__VA_ARGS__);				\
} while (0)

static long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static void sleep_ms(unsigned int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

/* Whole file into buf, NUL terminated; -1 with errno if it can't be opened. */
static ssize_t slurp(const char *path, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n = 0;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	while (len < size - 1) {
		n = read(fd, buf + len, size - 1 - len);
		if (n <= 0)
			break;
		len += n;
	}
	close(fd);
	buf[len] = '\0';
	return n < 0 ? -1 : (ssize_t)len;
}

static int spit(const char *path, const char *text)
{
	ssize_t n;
	int fd;

	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = write(fd, text, strlen(text));
	close(fd);
	return n < 0 ? -1 : 0;
}

static int open_serial(const char *path, bool raw)
{
	struct termios tio;
	int fd;

	fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (tcgetattr(fd, &tio))
		goto err;
	if (raw)
		cfmakeraw(&tio);
	tio.c_cflag |= CLOCAL;
	cfsetspeed(&tio, B115200);
	if (tcsetattr(fd, TCSANOW, &tio))
		goto err;
	return fd;
err:
	close(fd);
	return -1;
}

static void mount_all(void)
{
	static const struct {
		const char *type, *dir, *data;
		bool optional;
	} fs[] = {
		{ "devtmpfs",	"/dev",			"mode=0755", false },
		{ "proc",	"/proc",		NULL, false },
		{ "sysfs",	"/sys",			NULL, false },
		{ "devpts",	"/dev/pts",		"mode=0620,ptmxmode=0666", false },
		{ "tmpfs",	"/dev/shm",		"mode=1777", false },
		{ "tmpfs",	"/run",			"mode=0755", false },
		{ "tmpfs",	"/tmp",			"mode=1777", false },
		{ "cgroup2",	"/sys/fs/cgroup",	NULL, true },
		{ "debugfs",	"/sys/kernel/debug",	NULL, true },
		{ "tracefs",	"/sys/kernel/tracing",	NULL, true },
		{ "bpf",	"/sys/fs/bpf",		NULL, true },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fs); i++) {
		mkdir(fs[i].dir, 0755);
		if (mount(fs[i].type, fs[i].dir, fs[i].type, 0, fs[i].data) &&
		    errno != EBUSY && !fs[i].optional)
			fault("mount %s: %s", fs[i].dir, strerror(errno));
	}
	/*
	 * A page fault in a file maps its neighbours, 64 KB by default. Programs that run for
	 * milliseconds use few of them: to start and end one takes a tenth less with 16 KB.
	 */
	spit("/sys/kernel/debug/fault_around_bytes", "16384");
	symlink("/proc/self/fd", "/dev/fd");
	symlink("/proc/self/fd/0", "/dev/stdin");
	symlink("/proc/self/fd/1", "/dev/stdout");
	symlink("/proc/self/fd/2", "/dev/stderr");
}

/* /.run/conf: "key value" lines; /.run/argv: NUL terminated arguments. */
static bool read_run(void)
{
	char buf[4096], *line, *save = NULL;
	ssize_t n, i;
	int argc = 0;

	if (slurp(RUN_DIR "/conf", buf, sizeof(buf)) < 0)
		return false;
	for (line = strtok_r(buf, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *val = strchr(line, ' ');

		if (!val)
			return false;
		*val++ = '\0';
		if (!strcmp(line, "nonce"))
			snprintf(nonce, sizeof(nonce), "%s", val);
		else if (!strcmp(line, "timeout_s"))
			timeout_s = strtoul(val, NULL, 10);
		else if (!strcmp(line, "begin_s"))
			begin_s = strtoul(val, NULL, 10);
		else if (!strcmp(line, "interactive"))
			interactive = !strcmp(val, "1");
		else if (!strcmp(line, "test_timeout_s"))
			setenv("TEST_TIMEOUT_S", val, 1);
		else
			return false;
	}

	n = slurp(RUN_DIR "/argv", cmd_buf, sizeof(cmd_buf));
	if (n <= 0 || n == sizeof(cmd_buf) - 1 || cmd_buf[n - 1])
		return false;
	for (i = 0; i < n; i += strlen(cmd_buf + i) + 1) {
		if (argc == MAX_ARGS)
			return false;
		cmd_argv[argc++] = cmd_buf + i;
	}

	unlink(RUN_DIR "/conf");
	unlink(RUN_DIR "/argv");
	rmdir(RUN_DIR);
	return nonce[0] && argc;
}

/* List our modules, which the host put into extra/; names as the kernel spells them. */
static void list_modules(void)
{
	char path[256];
	struct utsname uts;
	struct dirent *de;
	DIR *dir;
	char *p;

	uname(&uts);
	snprintf(path, sizeof(path), "/lib/modules/%s/extra", uts.release);
	dir = opendir(path);
	if (!dir)
		return;
	while ((de = readdir(dir))) {
		size_t len = strlen(de->d_name);

		if (len < 4 || len >= sizeof(mod_name[0]) ||
		    strcmp(de->d_name + len - 3, ".ko"))
			continue;
		if (nr_mods == MAX_MODULES) {
			fault("more than %d modules in %s", MAX_MODULES, path);
			break;
		}
		snprintf(mod_name[nr_mods], sizeof(mod_name[0]), "%.*s",
			 (int)len - 3, de->d_name);
		for (p = mod_name[nr_mods]; *p; p++)
			if (*p == '-')
				*p = '_';
		nr_mods++;
	}
	closedir(dir);
}

static bool has_line_starting(const char *path, const char *word, bool prefix)
{
	size_t len = strlen(word);
	char line[1024];
	bool found = false;
	FILE *f;

	f = fopen(path, "re");
	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f))
		found = !strncmp(line, word, len) &&
			(prefix || isspace((unsigned char)line[len]));
	fclose(f);
	return found;
}

static pid_t spawn(char *const argv[], int fd_in, int fd_out, bool ctty)
{
	sigset_t set;
	pid_t pid;
	int err;

	pid = fork();
	if (pid)
		return pid;
	sigemptyset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	setsid();
	dup2(fd_in, 0);
	dup2(fd_out, 1);
	dup2(fd_out, 2);
	if (ctty)
		ioctl(0, TIOCSCTTY, 0);
	if (chdir("/"))
		_exit(126);
	execvp(argv[0], argv);
	err = errno;
	dprintf(2, "%s: %s\n", argv[0], strerror(err));
	_exit(err == ENOENT ? 127 : 126);
}

/* Reaps orphans as well. Returns the shell's idea of the status. */
static int wait_for(pid_t pid, unsigned long limit_s)
{
	long long end = now_ms() + limit_s * 1000LL;
	struct timespec tick = { 0, 200 * 1000000L };
	sigset_t set;
	int status;
	pid_t p;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (;;) {
		while ((p = waitpid(-1, &status, WNOHANG)) > 0)
			if (p == pid)
				return WIFEXITED(status) ? WEXITSTATUS(status) :
				       128 + WTERMSIG(status);
		if (limit_s && now_ms() >= end)
			return -1;
		sigtimedwait(&set, NULL, &tick);
	}
}

static int run_quiet(char *const argv[], int fd_out, unsigned long limit_s)
{
	int null, status;
	pid_t pid;

	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid = spawn(argv, null, fd_out >= 0 ? fd_out : null, false);
	close(null);
	if (pid < 0)
		return -1;
	status = wait_for(pid, limit_s);
	if (status < 0)
		kill(pid, SIGKILL);
	return status;
}

static int run_command(void)
{
	int null, status;
	pid_t pid;

	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	pid = spawn(cmd_argv, interactive ? out : null, out, interactive);
	close(null);
	if (pid < 0) {
		fault("fork: %s", strerror(errno));
		return 126;
	}
	status = wait_for(pid, interactive ? 0 : begin_s + timeout_s);
	if (status < 0) {
		/* Where everything hangs, into the log the host will show. */
		spit("/proc/sysrq-trigger", "w");
		fault("the command did not finish within %lu s", timeout_s);
		status = 124;
	}
	return status;
}

/* Every process descends from this one, so no child left means all gone. */
static void kill_leftovers(void)
{
	long long end = now_ms() + KILL_WAIT_MS;
	pid_t pid;

	do {
		kill(-1, SIGKILL);
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0)
			return;
		sleep_ms(10);
	} while (now_ms() < end);
	spit("/proc/sysrq-trigger", "w");
	fault("a process of the command can not be killed");
}

/*
 * State that an operator undoes before rmmod: named namespaces, and a default congestion
 * control or qdisc that pins its module.
 */
static char boot_cc[64], boot_qdisc[64];

static void save_defaults(void)
{
	slurp("/proc/sys/net/ipv4/tcp_congestion_control", boot_cc, sizeof(boot_cc));
	slurp("/proc/sys/net/core/default_qdisc", boot_qdisc, sizeof(boot_qdisc));
}

/*
 * A TCP socket lives on without its process while it has data to send, 100 s and more where the
 * path is gone, and with it its namespace and its congestion control. Give up after one retry.
 */
static void forget_closed(const char *netns)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int there = open(netns, O_RDONLY | O_CLOEXEC);

	if (home >= 0 && there >= 0 && !setns(there, CLONE_NEWNET)) {
		spit("/proc/sys/net/ipv4/tcp_orphan_retries", "1");
		if (setns(home, CLONE_NEWNET))
			fault("the namespace of init: %s", strerror(errno));
	}
	close(there);
	close(home);
}

/* TCP sockets without a process, of all namespaces. */
static unsigned long orphans(void)
{
	char text[1024], *at;

	if (slurp("/proc/net/sockstat", text, sizeof(text)) < 0)
		return 0;
	at = strstr(text, " orphan ");
	return at ? strtoul(at + strlen(" orphan "), NULL, 10) : 0;
}

static void restore_defaults(void)
{
	char path[300];
	struct dirent *de;
	DIR *dir;

	if (boot_cc[0])
		spit("/proc/sys/net/ipv4/tcp_congestion_control", boot_cc);
	if (boot_qdisc[0])
		spit("/proc/sys/net/core/default_qdisc", boot_qdisc);
	forget_closed("/proc/self/ns/net");

	dir = opendir("/run/netns");
	if (!dir)
		return;
	while ((de = readdir(dir))) {
		if (de->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/run/netns/%s", de->d_name);
		forget_closed(path);
		umount2(path, MNT_DETACH);
		unlink(path);
	}
	closedir(dir);
}

static void send_results(void)
{
	char *argv[9] = { "busybox", "tar", "-cz", "-C", "/results", "-f", "-",
			 ".", NULL };
	struct dirent *de;
	bool empty = true;
	int fd, status;
	DIR *dir;

	dir = opendir("/results");
	while (dir && (de = readdir(dir)))
		if (strcmp(de->d_name, ".") && strcmp(de->d_name, ".."))
			empty = false;
	if (dir)
		closedir(dir);
	if (empty)
		return;
	fd = open_serial("/dev/" RESULTS, true);
	if (fd < 0) {
		fault(RESULTS ": %s", strerror(errno));
		return;
	}
	status = run_quiet(argv, fd, 120);
	if (status)
		fault("tar of /results: status %d", status);
	tcdrain(fd);
	close(fd);
}

static void unload_modules(void)
{
	long long start = now_ms(), end = start + RMMOD_WAIT_MS;
	unsigned int i, left;
	bool progress;

	/* Repeated, as one of our modules may use another. */
	do {
		left = 0;
		progress = false;
		for (i = 0; i < nr_mods; i++) {
			if (!has_line_starting("/proc/modules", mod_name[i], false))
				continue;
			if (!syscall(SYS_delete_module, mod_name[i], O_NONBLOCK)) {
				progress = true;
				continue;
			}
			if (errno != EAGAIN && errno != EBUSY &&
			    errno != EWOULDBLOCK) {
				fault("rmmod %s: %s", mod_name[i], strerror(errno));
				end = 0;
			}
			left++;
		}
		if (left && !progress)
			sleep_ms(100);
	} while (left && (now_ms() < end ||
			  (end && now_ms() < start + ORPHAN_WAIT_MS && orphans())));
}

/* A module's stem: tcp_timely registers things called "timely". */
static void check_left(const char *mod)
{
	static const char * const where[] = {
		"/sys/module/%s", "/proc/sys/net/%s", "/proc/sys/net/ipv4/%s",
		"/proc/sys/net/ipv6/%s", "/proc/sys/net/core/%s", "/proc/net/%s",
		"/proc/%s", "/sys/kernel/debug/%s", "/sys/kernel/tracing/events/%s",
	};
	const char *stem = strchr(mod, '_');
	const char *name[2] = { mod, stem ? stem + 1 : NULL };
	char path[256], refs[32];
	size_t i, j;

	if (has_line_starting("/proc/modules", mod, false)) {
		snprintf(path, sizeof(path), "/sys/module/%s/refcnt", mod);
		if (slurp(path, refs, sizeof(refs)) < 0)
			refs[0] = '\0';
		refs[strcspn(refs, "\n")] = '\0';
		fault("module %s can not be unloaded: %s references, %lu TCP sockets without a process",
		      mod, refs[0] ? refs : "unknown", orphans());
		return;
	}
	for (i = 0; i < ARRAY_SIZE(name); i++) {
		if (!name[i] || !name[i][0])
			continue;
		for (j = 0; j < ARRAY_SIZE(where); j++) {
			snprintf(path, sizeof(path), where[j], name[i]);
			if (!access(path, F_OK))
				fault("module %s left %s behind", mod, path);
		}
		if (has_line_starting("/proc/slabinfo", name[i], true))
			fault("module %s left a slab cache behind", mod);
	}
}

static void check_kmemleak(void)
{
	static const char path[] = "/sys/kernel/debug/kmemleak";
	char buf[8192], *line, *save = NULL;

	if (access(path, F_OK))
		return;
	/* An object is reported when two scans in a row find no reference. */
	spit(path, "scan");
	sleep_ms(KMEMLEAK_WAIT_S * 1000);
	spit(path, "scan");
	if (slurp(path, buf, sizeof(buf)) <= 0)
		return;
	fault("kmemleak found leaks");
	for (line = strtok_r(buf, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		say("vm-kmemleak: %s", line);
}

/* Words that a healthy kernel never prints. */
static const char * const bad_log[] = {
	"WARNING:", "BUG:", "kernel BUG at", "Oops", "Kernel panic",
	"general protection", "Call Trace:", "cut here",
	"possible circular locking", "possible recursive locking",
	"inconsistent lock state", "suspicious RCU usage", "held lock freed",
	"bad unlock balance", "lock held when returning", "held lock changed",
	"possible irq lock inversion", "unsafe locking scenario",
	"Invalid wait context", "DEBUG_LOCKS_WARN_ON",
	"KASAN:", "KFENCE:", "UBSAN:", "KCSAN:", "KMSAN:", "suspected memory leaks",
	"blocked for more than", "self-detected stall", "detected stalls",
	"rcu_preempt kthread", "soft lockup", "hard LOCKUP", "scheduling while atomic",
	"sleeping function called from invalid context",
	"refcount_t:", "unregister_netdevice: waiting", "page allocation failure",
	"Out of memory", "oom-kill", "list_add corruption", "list_del corruption",
	"Object already free", "Poison overwritten", "Redzone overwritten",
	"Objects remaining", "bad page state", "Bad page state", "segfault at",
	"traps:", "disagrees about version of symbol", "Unknown symbol",
	"NETDEV WATCHDOG", "leaked reference", "still has", "Attempt to release",
};

/*
 * KCSAN reports races in all of the kernel. A race without a function of our modules in either
 * stack is the kernel's: it is printed, and does not fail the run. A stack counts up to an
 * interrupt, a softirq, or the transmission of a packet.
 */
static struct {
	char lines[1 << 14];
	size_t len;
	bool ours;
	bool others;
} race;

static bool race_others(const char *msg)
{
	static const char * const from[] = {
		" asm_", " handle_softirqs+", " ip_local_out+", " ip6_local_out+",
		" __dev_queue_xmit+",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(from); i++)
		if (strstr(msg, from[i]))
			return true;
	return false;
}

static void race_end(void)
{
	char *line, *save = NULL;

	if (!race.len)
		return;
	line = strtok_r(race.lines, "\n", &save);
	if (!race.ours) {
		say("vm-race: %s", line);
	} else {
		fault("kernel log: %s", line);
		for (; line; line = strtok_r(NULL, "\n", &save))
			say("vm-report: %s", line);
	}
	race.len = 0;
	race.ours = false;
	race.others = false;
}

/* Process a line of a report. Returns true if it is the headline of a race. */
static bool race_line(const char *msg)
{
	bool begins = strstr(msg, "BUG: KCSAN: ");
	char ours[80];
	unsigned int i;
	int n;

	if (begins)
		race_end();
	else if (!race.len)
		return false;
	n = snprintf(race.lines + race.len, sizeof(race.lines) - race.len, "%s\n", msg);
	if (n > 0 && (size_t)n < sizeof(race.lines) - race.len)
		race.len += n;
	/* "read to 0x... of 8 bytes by task 1 on cpu 0:" */
	if (strstr(msg, " by task ") || strstr(msg, " by interrupt "))
		race.others = false;
	race.others |= race_others(msg);
	for (i = 0; i < nr_mods; i++) {
		snprintf(ours, sizeof(ours), "[%s]", mod_name[i]);
		race.ours |= !race.others && strstr(msg, ours);
	}
	if (strstr(msg, "Reported by Kernel Concurrency Sanitizer"))
		race_end();
	return begins;
}

/* The kernel shows the stack of an allocation that it was told to fail. */
static bool forced_trace(const char *msg)
{
	static bool forced;

	if (strstr(msg, "FAULT_INJECTION: forcing a failure")) {
		forced = true;
	} else if (forced && strstr(msg, "Call Trace:")) {
		forced = false;
		return true;
	}
	return false;
}

/*
 * Only records of the kernel itself (facility 0) count. Records that a
 * process writes to /dev/kmsg get another facility, so a test can annotate the log freely.
 */
static void scan_log(void)
{
	char buf[8192 + 1], *msg, *end;
	unsigned int shown = 0;
	size_t i;
	ssize_t n;
	int fd;

	fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		fault("/dev/kmsg: %s", strerror(errno));
		return;
	}
	for (;;) {
		n = read(fd, buf, sizeof(buf) - 1);
		if (n < 0 && errno == EPIPE) {
			fault("the kernel log overflowed, it can not be checked");
			continue;
		}
		if (n <= 0)
			break;
		buf[n] = '\0';
		msg = strchr(buf, ';');
		if (!msg || strtoul(buf, NULL, 10) >> 3)
			continue;
		end = strchr(++msg, '\n');
		if (end)
			*end = '\0';
		if (forced_trace(msg) || race_line(msg))
			continue;
		for (i = 0; i < ARRAY_SIZE(bad_log); i++)
			if (strstr(msg, bad_log[i]))
				break;
		if (i == ARRAY_SIZE(bad_log))
			continue;
		if (shown++ < 20)
			fault("kernel log: %s", msg);
	}
	if (n < 0 && errno != EAGAIN)
		fault("/dev/kmsg: %s", strerror(errno));
	race_end();
	close(fd);
}

#ifdef __x86_64__
/* QEMU's isa-debug-exit ends with twice what is written, plus one. */
static bool exit_qemu(void)
{
	const unsigned short port = 0xf4;

	if (ioperm(port, 1, 1))
		return false;
	outb((EXIT_OK - 1) / 2, port);
	return true;
}
#elif defined(__aarch64__)
/* SYS_EXIT of Arm's semihosting, which QEMU takes from userspace with userspace=on. */
static bool exit_qemu(void)
{
	/* ADP_Stopped_ApplicationExit, and the status */
	static const unsigned long block[2] = { 0x20026, EXIT_OK };

	asm volatile("mov x0, #0x18\n\t"
		     "mov x1, %0\n\t"
		     "hlt #0xf000" : : "r" (block) : "x0", "x1", "memory");
	return true;
}
#endif

static void power_off(void)
{
	tcdrain(con);
	/* A poweroff would make the kernel print below the verdict. */
	if (!exit_qemu())
		reboot(RB_POWER_OFF);
	/* QEMU acts on it a little later. */
	for (;;)
		pause();
}

static void finish(int status)
{
	klogctl(KLOG_CONSOLE_OFF, NULL, 0);
	say("vm-verdict: %s status %d faults %u", nonce, status, faults);
	power_off();
}

int main(void)
{
	char *lo_up[6] = { "ip", "link", "set", "lo", "up", NULL };
	sigset_t set;
	unsigned int i;
	int status;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);

	setenv("PATH", "/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin", 1);
	setenv("HOME", "/root", 1);
	setenv("ONRAMP_VM", "1", 1);
	mount_all();
	con = open_serial("/dev/" CONSOLE, false);
	if (!read_run()) {
		/* All that a probe boot wants to see. */
		say("vm-probe: init runs");
		power_off();
	}
	out = open_serial("/dev/" OUTPUT, !interactive);
	if (out < 0) {
		fault(OUTPUT ": %s", strerror(errno));
		finish(126);
	}
	sethostname("vm", 2);
	mkdir("/results", 0755);
	list_modules();
	save_defaults();
	if (run_quiet(lo_up, -1, 60))
		fault("the loopback device does not come up");

	status = run_command();

	tcdrain(out);
	kill_leftovers();
	restore_defaults();
	send_results();
	unload_modules();
	for (i = 0; i < nr_mods; i++)
		check_left(mod_name[i]);
	check_kmemleak();
	scan_log();
	finish(status);
}
