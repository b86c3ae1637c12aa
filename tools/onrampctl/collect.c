// SPDX-License-Identifier: GPL-2.0
/*
 * Read the facts about this host, which all commands of onrampctl show.
 *
 *	version, kernel, root		of this program, of the system; may it see all
 *	modules/NAME/{version,taint}
 *	plugin/{path,interface}		of tc
 *	sysctl/NAME
 *	timely, or_acker, or_port	counters
 *	peers				of sch_onramp, by netlink; or rows of /proc/net/onramp_peers
 *	subscribers			of or_acker, by netlink
 *	devices/NAME/qdiscs/PARENT	{kind,handle,options,stats}
 *	nic_ts/DEVICE, clocks/NAME, nic_ts_stats
 *	tcp/CC				connections by congestion control
 *	data				ways of connections that send: devices, On-Ramp
 *	ip/forwarded			packets of other hosts
 *	system_clock, clock_daemons
 *	onrampd				what the daemon writes of itself
 *	package, signatures		see package.c; in the newer of two looks only
 *	hidden				what could not be looked at without root
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "collect.h"
#include "family.h"

/* Files of /proc and /sys that are larger are none of those that are read here. */
#define FILE_MAX_BYTES	(64U << 20)

const char * const ctl_modules[] = {
	"sch_onramp", "or_acker", "or_port", "nic_ts", "nic_ts_hook",
#define CTL_CONTROL(name) "tcp_" #name,
	CTL_CONTROLS
#undef CTL_CONTROL
	NULL
};

static const char * const sysctls[] = {
	"net.core.default_qdisc", "net.ipv4.tcp_congestion_control", "net.ipv4.tcp_ecn",
	"net.ipv4.timely.line_rate_mbit", "net.ipv4.timely.min_rate_kbit",
	"net.ipv4.timely.profile", "net.ipv4.timely.mode",
	"net.or_acker.mode", "net.or_acker.stamps", "net.or_acker.clock_error_ns",
	"net.or_acker.max_flows", "net.or_acker.max_subscribers", "net.or_acker.cpu_rate",
	"net.or_acker.subscriber_rate", "net.or_port.key", "net.ipv4.ip_forward",
	"net.ipv6.conf.all.forwarding", "net.ipv4.udp_l3mdev_accept",
};

/* read_file() - whole file below the root, or NULL with errno; free() it. */
static char *__printf(2, 3) read_file(const struct ctl *ctl, const char *fmt, ...)
{
	char path[PATH_MAX], *text = NULL;
	size_t used = 0, room = 0;
	va_list ap;
	int n, fd;

	n = snprintf(path, sizeof(path), "%s", ctl->root);
	if (n >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	va_start(ap, fmt);
	vsnprintf(path + n, sizeof(path) - (size_t)n, fmt, ap);
	va_end(ap);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	for (;;) {
		ssize_t got;

		if (room - used < 2) {
			room = room ? room * 2 : 4096;
			text = xrealloc(text, room, 1);
		}
		got = read(fd, text + used, room - used - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || used + (size_t)got > FILE_MAX_BYTES) {
			n = got < 0 ? errno : EFBIG;
			free(text);
			close(fd);
			errno = n;
			return NULL;
		}
		if (!got)
			break;
		used += (size_t)got;
	}
	close(fd);
	text[used] = '\0';
	/* What follows a zero byte is no text. */
	return text;
}

char *facts_file(const struct ctl *ctl, const char *path)
{
	return read_file(ctl, "%s", path);
}

/* One line, without its end. */
static char *first_line(char *text)
{
	if (text)
		text[strcspn(text, "\n")] = '\0';
	return text;
}

static void read_modules(const struct ctl *ctl, json_t *facts)
{
	const char * const *module;
	json_t *all;
	char *text;

	text = read_file(ctl, "/proc/modules");
	if (!text)
		return;
	all = json_object();
	for (module = ctl_modules; *module; module++) {
		size_t n = strlen(*module);
		const char *line = text;
		json_t *o;
		char *s;

		while (line && (strncmp(line, *module, n) || line[n] != ' ')) {
			line = strchr(line, '\n');
			line = line ? line + 1 : NULL;
		}
		if (!line)
			continue;
		o = json_object();
		s = first_line(read_file(ctl, "/sys/module/%s/version", *module));
		if (s)
			j_set(o, "version", json_string(s));
		free(s);
		s = first_line(read_file(ctl, "/sys/module/%s/taint", *module));
		if (s)
			j_set(o, "taint", json_string(s));
		free(s);
		j_set(all, *module, o);
	}
	free(text);
	j_set(facts, "modules", all);
}

/* Directories of tc's plugins, on Debian, on RHEL, and where TC_LIB_DIR says. */
static void read_plugin(const struct ctl *ctl, json_t *facts)
{
	static const char * const dirs[] = {
		"/usr/lib/*/tc", "/usr/lib/tc", "/usr/lib64/tc", "/lib/tc", "/usr/local/lib/tc",
	};
	static const char mark[] = "onramp-plugin-interface:";
	const char *own = getenv("TC_LIB_DIR"), *found = NULL;
	char pattern[PATH_MAX];
	json_t *o = json_object();
	struct stat st;
	glob_t g = {};
	size_t i;

	if (own && !*ctl->root)
		snprintf(pattern, sizeof(pattern), "%s/q_onramp.so", own);
	if (own && !*ctl->root && !glob(pattern, GLOB_NOESCAPE, NULL, &g) && g.gl_pathc)
		found = g.gl_pathv[0];
	for (i = 0; i < ARRAY_SIZE(dirs) && !found; i++) {
		snprintf(pattern, sizeof(pattern), "%s%s/q_onramp.so", ctl->root, dirs[i]);
		globfree(&g);
		if (!glob(pattern, 0, NULL, &g) && g.gl_pathc)
			found = g.gl_pathv[0];
	}
	if (found) {
		int fd = open(found, O_RDONLY | O_CLOEXEC);
		size_t size = 0;
		char *data, *p;

		j_set(o, "path", json_string(found + strlen(ctl->root)));
		if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0 && st.st_size < FILE_MAX_BYTES)
			size = (size_t)st.st_size;
		data = xcalloc(size + 1, 1);
		if (size && read(fd, data, size) == (ssize_t)size) {
			p = memmem(data, size, mark, sizeof(mark) - 1);
			if (p)
				j_set(o, "interface", json_integer(atoi(p + sizeof(mark) - 1)));
		}
		free(data);
		if (fd >= 0)
			close(fd);
	}
	globfree(&g);
	j_set(facts, "plugin", o);
}

static void read_sysctls(const struct ctl *ctl, json_t *facts)
{
	json_t *o = json_object();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sysctls); i++) {
		char path[128], *s, *end;
		long long v;

		snprintf(path, sizeof(path), "%s", sysctls[i]);
		for (s = path; *s; s++)
			if (*s == '.')
				*s = '/';
		s = first_line(read_file(ctl, "/proc/sys/%s", path));
		if (!s)
			continue;
		errno = 0;
		v = strtoll(s, &end, 10);
		if (*s && !*end && !errno)
			j_set(o, sysctls[i], json_integer(v));
		else
			j_set(o, sysctls[i], json_string(s));
		free(s);
	}
	j_set(facts, "sysctl", o);
}

static void read_counters(const struct ctl *ctl, json_t *facts)
{
	static const char * const files[] = {
#define CTL_CONTROL(name) #name,
		CTL_CONTROLS
#undef CTL_CONTROL
		"or_acker", "or_port"
	};
	char *text;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		text = read_file(ctl, "/proc/net/%s", files[i]);
		if (text)
			j_set(facts, files[i], text_counters(text));
		free(text);
	}
	text = read_file(ctl, "/proc/net/onramp_peers");
	if (text)
		j_set(facts, "peers", text_table(text));
	free(text);
}

/* Packets of IPv4 and IPv6 that this namespace has forwarded. */
static void read_forwarded(const struct ctl *ctl, json_t *facts)
{
	char *v4 = read_file(ctl, "/proc/net/snmp"), *v6 = read_file(ctl, "/proc/net/snmp6");
	char *values = v4 ? strstr(v4, "\nIp: ") : NULL;
	long long n;

	/* A line of names is before that of the values: ForwDatagrams is the sixth. */
	if (values && sscanf(values, " Ip: %*d %*d %*d %*d %*d %lld", &n) == 1) {
		json_t *six = text_counters(v6 ? v6 : "");

		n += j_int_or(six, "Ip6OutForwDatagrams", 0);
		json_decref(six);
		j_set(facts, "ip", json_pack("{s:I}", "forwarded", (json_int_t)n));
	}
	free(v4);
	free(v6);
}

/* Netlink has more of peers than their file, for those who may see it. */
static void read_families(json_t *facts)
{
	static const struct {
		enum family_what what;
		const char *key;
	} lists[] = {
		{ FAMILY_PATHS, "peers" }, { FAMILY_SUBSCRIBERS, "subscribers" },
	};
	json_t *stats = json_object(), *rows, *counters;
	const char *name;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		rows = json_array();
		if (!family_dump(lists[i].what, rows))
			j_set(facts, lists[i].key, json_incref(rows));
		json_decref(rows);
	}
	/* The same numbers as in /proc. */
	if (!family_stats(stats))
		json_object_foreach(stats, name, counters)
			if (strcmp(name, "sch_onramp"))
				j_set(facts, name, json_incref(counters));
	json_decref(stats);
}

/* Queues that a device uses, from sysfs; 0 if that is another namespace's. */
static unsigned int tx_queues(const struct ctl *ctl, const char *name, int64_t ifindex)
{
	char path[PATH_MAX], *s;
	struct dirent *entry;
	unsigned int n = 0;
	DIR *dir;

	s = first_line(read_file(ctl, "/sys/class/net/%s/ifindex", name));
	if (!s || atoi(s) != ifindex) {
		free(s);
		return 0;
	}
	free(s);
	snprintf(path, sizeof(path), "%s/sys/class/net/%s/queues", ctl->root, name);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((entry = readdir(dir)))
		n += !strncmp(entry->d_name, "tx-", 3);
	closedir(dir);
	return n;
}

static void read_devices(const struct ctl *ctl, json_t *facts)
{
	json_t *devices = json_object(), *dev;
	unsigned int queues;
	const char *name;

	if (!rtnl_devices(devices)) {
		json_decref(devices);
		return;
	}
	json_object_foreach(devices, name, dev) {
		ethtool_read(dev, name);
		queues = tx_queues(ctl, name, j_int_or(dev, "ifindex", 0));
		if (queues)
			j_set_u64(dev, "tx_queues", queues);
	}
	j_set(facts, "devices", devices);
}

static void read_bus(json_t *facts)
{
	json_t *devices = json_object(), *clocks = json_object(), *stats = json_object();

	if (bus_read(devices, clocks, stats)) {
		j_set(facts, "nic_ts", json_incref(devices));
		j_set(facts, "clocks", json_incref(clocks));
		j_set(facts, "nic_ts_stats", json_incref(stats));
	}
	json_decref(devices);
	json_decref(clocks);
	json_decref(stats);
}

json_t *facts_system_clock(void)
{
	struct timex tx = { .modes = 0 };
	int state = adjtimex(&tx);

	if (state < 0)
		return NULL;
	return json_pack("{s:b, s:I, s:I, s:I}", "synchronised",
			 state != TIME_ERROR && !(tx.status & STA_UNSYNC), "max_error_us",
			 (json_int_t)tx.maxerror, "estimated_error_us", (json_int_t)tx.esterror,
			 "tai_offset_s", (json_int_t)tx.tai);
}

/* facts_onrampd() - what onrampd has written, owned by the caller; NULL: it does not run */
json_t *facts_onrampd(const struct ctl *ctl)
{
	char *text = read_file(ctl, "/run/onrampd/status.json");
	json_t *o = text ? json_loads(text, 0, NULL) : NULL;

	free(text);
	if (json_is_object(o))
		return o;
	json_decref(o);
	return NULL;
}

/* arg_after() - the argument behind an option, in a command line with zero bytes; or NULL */
static const char *arg_after(const char *cmd, size_t len, const char *option)
{
	const char *p = cmd, *end = cmd + len;

	while (p < end) {
		bool here = !strcmp(p, option);

		p += strlen(p) + 1;
		if (here)
			return p < end ? p : "";
	}
	return NULL;
}

/* Return whether a process sets the system's clock. */
static bool sets_clock(const char *comm, const char *cmd, size_t len)
{
	static const char * const daemons[] = {
		"chronyd", "ntpd", "openntpd", "systemd-timesyn",
	};
	const char *clock;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(daemons); i++)
		if (!strcmp(comm, daemons[i]))
			return true;
	if (strcmp(comm, "phc2sys"))
		return false;
	clock = arg_after(cmd, len, "-c");
	if (clock)
		return !strcmp(clock, "CLOCK_REALTIME");
	/* By itself -a leaves the system's clock alone. */
	return !arg_after(cmd, len, "-a") || arg_after(cmd, len, "-r");
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char * const *)a, *(const char * const *)b);
}

/* Names, one for each program: daemons fork. */
static void read_daemons(const struct ctl *ctl, json_t *facts)
{
	char path[PATH_MAX], *names[64];
	json_t *list = json_array();
	struct dirent *entry;
	size_t i, n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/proc", ctl->root);
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		char *comm, *cmd;

		if (entry->d_name[strspn(entry->d_name, "0123456789")])
			continue;
		comm = first_line(read_file(ctl, "/proc/%s/comm", entry->d_name));
		if (!comm)
			continue;
		/* The kernel ends it with a zero byte, and read_file() with one more. */
		cmd = read_file(ctl, "/proc/%s/cmdline", entry->d_name);
		if (n < ARRAY_SIZE(names) && cmd) {
			size_t len = 0;

			while (cmd[len])
				len += strlen(cmd + len) + 1;
			if (sets_clock(comm, cmd, len))
				names[n++] = xstrdup(comm);
		}
		free(comm);
		free(cmd);
	}
	closedir(dir);
	qsort(names, n, sizeof(names[0]), by_text);
	for (i = 0; i < n; i++) {
		/* chronyd runs as two processes. */
		if (!i || strcmp(names[i], names[i - 1]))
			json_array_append_new(list, json_string(names[i]));
	}
	for (i = 0; i < n; i++)
		free(names[i]);
	j_set(facts, "clock_daemons", list);
}

/* List the facts that only root can read. */
static void read_hidden(const struct ctl *ctl, json_t *facts)
{
	json_t *hidden = json_array();
	char *first = read_file(ctl, "/proc/1/comm");

	j_set(facts, "root", json_boolean(!geteuid()));
	if (!first) {
		json_array_append_new(hidden, json_string("processes of others"));
		json_object_del(facts, "clock_daemons");
	}
	free(first);
	j_set(facts, "hidden", hidden);
}

/* Lowest rate of timely's flows, kbit/s: as set, or by profile auto; 0: without timely. */
static int64_t timely_floor_kbit(const json_t *facts)
{
	int64_t set = j_int_or(facts, "sysctl/net.ipv4.timely.min_rate_kbit", 0), fastest = 0;
	const json_t *dev;
	const char *name;

	if (!set || !j_is(facts, "sysctl/net.ipv4.timely.profile", "auto"))
		return set;
	json_object_foreach((json_t *)j_get(facts, "devices"), name, dev)
		fastest = MAX(fastest, j_int_or(dev, "speed_mbit", 0));
	/* A thousandth of the line rate, 10 Mbit/s at most. */
	return fastest ? MIN(fastest, 10000) : 10000;
}

/**
 * facts_collect() - read all that is readable, once
 * @ctl: where
 *
 * Return: the facts, owned by the caller.
 */
json_t *facts_collect(const struct ctl *ctl)
{
	json_t *facts = json_object(), *tcp, *data, *clock, *onrampd;
	struct utsname name;
	char *kernel;

	j_set(facts, "version", json_string(ONRAMPCTL_VERSION));
	kernel = first_line(read_file(ctl, "/proc/sys/kernel/osrelease"));
	j_set(facts, "kernel", json_string(kernel ? kernel : !uname(&name) ? name.release : "?"));
	free(kernel);
	j_set(facts, "time_ms", json_integer((json_int_t)(clock_ns(CLOCK_REALTIME) /
							  NSEC_PER_MSEC)));
	j_set(facts, "monotonic_ns", json_integer((json_int_t)now_ns()));
	read_modules(ctl, facts);
	read_plugin(ctl, facts);
	read_sysctls(ctl, facts);
	read_counters(ctl, facts);
	read_forwarded(ctl, facts);
	read_daemons(ctl, facts);
	onrampd = facts_onrampd(ctl);
	if (onrampd)
		j_set(facts, "onrampd", onrampd);
	read_hidden(ctl, facts);
	if (*ctl->root)
		return facts;
	read_families(facts);
	read_devices(ctl, facts);
	read_bus(facts);
	tcp = json_object();
	if (sockets_read(tcp, timely_floor_kbit(facts)))
		j_set(facts, "tcp", json_incref(tcp));
	json_decref(tcp);
	data = json_array();
	if (data_read(data))
		j_set(facts, "data", json_incref(data));
	json_decref(data);
	clock = facts_system_clock();
	if (clock)
		j_set(facts, "system_clock", clock);
	return facts;
}

/**
 * facts_twice() - read all that is readable, or a file that has it
 * @ctl: where, and the time between two looks
 *
 * Return: { "before": facts or null, "now": facts }, owned by the caller.
 */
json_t *facts_twice(const struct ctl *ctl)
{
	json_t *before = NULL, *now, *facts;
	json_error_t error;

	if (ctl->facts) {
		facts = json_load_file(ctl->facts, 0, &error);
		if (!facts)
			die_unknown("%s, line %d: %s", ctl->facts, error.line, error.text);
		if (!json_is_object(json_object_get(facts, "now")))
			die_unknown("%s has no facts: expected the output of 'onrampctl facts'",
				    ctl->facts);
		return facts;
	}
	if (ctl->interval_ns) {
		struct timespec ts = {
			.tv_sec = (time_t)(ctl->interval_ns / NSEC_PER_SEC),
			.tv_nsec = (long)(ctl->interval_ns % NSEC_PER_SEC),
		};

		before = facts_collect(ctl);
		while (nanosleep(&ts, &ts) && errno == EINTR)
			;
	}
	now = facts_collect(ctl);
	package_read(ctl, now);
	facts = json_pack("{s:o?, s:o}", "before", before, "now", now);
	if (!facts)
		die_unknown("out of memory");
	return facts;
}
