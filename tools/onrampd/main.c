// SPDX-License-Identifier: GPL-2.0
/*
 * onrampd: baselines of paths that several hosts know together, for the kernels of all of them.
 *
 *	each interval, and when a path has had its first OR-ACK:
 *		read the paths of the kernel; solve (cluster.h); seed those that know less
 *	each interval, and rarer to hosts that do not answer:
 *		REPORT (report.h) to at most 10 of the hosts that the kernel knows
 *	a REPORT came, or a path is new:
 *		soon read, solve and seed as well; tell others what they could not know before
 *	each minute, and at the end:
 *		write the floors of classes (floors.h) for the next start
 *	each second:
 *		write what it knows, for onrampctl
 *
 * The kernel forgets a seed after some seconds: if this program ends, is stopped or has lost its
 * peers, all is as without it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <jansson.h>
#include <linux/capability.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "parse.h"
#include "util.h"

#include "kernel.h"

#define ONRAMPD_PORT	2990
/* Of the cluster's key, bytes. */
#define KEY_MIN		32
#define KEY_MAX		256

/* Hosts that get a REPORT in an interval, at most. */
#define FAN_OUT		10
/* Longest time between messages to a host that does not answer, ns. */
#define SILENT_NS	(30 * NSEC_PER_SEC)
/* Messages of a host that are looked at in an interval, at most. */
#define MESSAGES_MAX	8
/* Paths are read no sooner than this after the last time, because of an event, ns. */
#define SOON_NS		(10 * NSEC_PER_MSEC)
/* Between two writings of the floors, ns. */
#define KEEP_NS		(60 * NSEC_PER_SEC)
/* Between two writings of the status, ns. */
#define STATUS_NS	NSEC_PER_SEC
/* Files in the directories of options. */
#define FLOORS_FILE	"floors"
#define STATUS_FILE	"status.json"

/**
 * struct talk - messages of and to a host; same place as in struct cluster
 * @next_ns: when the next one goes out
 * @wait_ns: time to the one after that
 * @sent: messages so far
 * @looked: messages of this interval that were looked at
 */
struct talk {
	uint64_t next_ns;
	uint64_t wait_ns;
	uint64_t sent;
	unsigned int looked;
};

static struct options {
	uint64_t interval_ns;
	uint64_t expiry_ns;
	uint64_t max_error_ns;
	uint64_t port;
	const char *key;
	const char *user;
	const char *state;
	const char *run;
	bool dry_run;
	bool json;
	uint64_t count;		/* rounds; 0: no end */
} options = {
	.interval_ns = 250 * NSEC_PER_MSEC, .expiry_ns = 3 * NSEC_PER_SEC,
	.max_error_ns = 50 * NSEC_PER_USEC, .port = ONRAMPD_PORT, .user = "nobody",
};

static struct counters {
	uint64_t sent, received, strangers, forged, replayed, refuted, seeds, refused;
} counters;

static struct cluster cluster;
static struct talk talks[CLUSTER_HOSTS];
static struct kernel *kernel;
static sd_event *loop;
static sd_event_source *round_source, *soon_source;
static uint8_t key[KEY_MAX];
static size_t key_len;
static uint64_t session, rounds, last_round_ns;
static unsigned int told;
static int sock4 = -1, sock6 = -1, state_fd = -1, run_fd = -1;
static uint64_t kept_ns, status_ns;

/* Messages ------------------------------------------------------------------ */

static bool is_v4(const uint8_t *addr)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(addr, mapped, 12);
}

static const char *show(const uint8_t *addr, char *text)
{
	return inet_ntop(is_v4(addr) ? AF_INET : AF_INET6, is_v4(addr) ? addr + 12 : addr, text,
			 INET6_ADDRSTRLEN);
}

/* The MAC of a message between two addresses. */
static void sign(const uint8_t *from, const uint8_t *to, const uint8_t *msg, uint8_t *mac)
{
	uint8_t text[32 + REPORT_SIGNED];
	unsigned int len = REPORT_MAC_LEN;

	memcpy(text, from, 16);
	memcpy(text + 16, to, 16);
	memcpy(text + 32, msg, REPORT_SIGNED);
	if (!HMAC(EVP_sha256(), key, (int)key_len, text, sizeof(text), mac, &len) ||
	    len != REPORT_MAC_LEN)
		die("HMAC-SHA256 is not available in OpenSSL");
}

static void send_report(unsigned int i, int64_t now)
{
	const struct cluster_host *host = &cluster.host[i];
	struct report r = { .session = session, .count = ++talks[i].sent };
	struct sockaddr_in to4 = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)options.port),
	};
	struct sockaddr_in6 to6 = {
		.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)options.port),
		.sin6_scope_id = host->path.scope,
	};
	union {
		char space[CMSG_SPACE(sizeof(struct in6_pktinfo))];
		struct cmsghdr align;
	} control = { .space = { 0 } };
	uint8_t msg[REPORT_LEN];
	struct iovec iov = { msg, sizeof(msg) };
	struct msghdr hdr = {
		.msg_name = is_v4(host->addr) ? (void *)&to4 : (void *)&to6,
		.msg_namelen = is_v4(host->addr) ? sizeof(to4) : sizeof(to6),
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
	};
	struct cmsghdr *cmsg = &control.align;

	cluster_fill(&cluster, host, now, &r);
	report_encode(&r, msg);
	sign(host->local, host->addr, msg, msg + REPORT_SIGNED);
	if (is_v4(host->addr)) {
		struct in_pktinfo info = { .ipi_ifindex = 0 };

		memcpy(&to4.sin_addr, host->addr + 12, 4);
		memcpy(&info.ipi_spec_dst, host->local + 12, 4);
		hdr.msg_controllen = CMSG_SPACE(sizeof(info));
		cmsg->cmsg_level = IPPROTO_IP;
		cmsg->cmsg_type = IP_PKTINFO;
		cmsg->cmsg_len = CMSG_LEN(sizeof(info));
		memcpy(CMSG_DATA(cmsg), &info, sizeof(info));
	} else {
		struct in6_pktinfo info = { .ipi6_ifindex = 0 };

		memcpy(&to6.sin6_addr, host->addr, 16);
		memcpy(&info.ipi6_addr, host->local, 16);
		hdr.msg_controllen = CMSG_SPACE(sizeof(info));
		cmsg->cmsg_level = IPPROTO_IPV6;
		cmsg->cmsg_type = IPV6_PKTINFO;
		cmsg->cmsg_len = CMSG_LEN(sizeof(info));
		memcpy(CMSG_DATA(cmsg), &info, sizeof(info));
	}
	if (sendmsg(is_v4(host->addr) ? sock4 : sock6, &hdr, MSG_DONTWAIT) == REPORT_LEN)
		counters.sent++;
}

/* The hosts whose turn it is, in an order by chance, some of them. */
static void send_reports(uint64_t now)
{
	unsigned int order[CLUSTER_HOSTS], i, k, sent = 0;

	for (i = 0; i < CLUSTER_HOSTS; i++) {
		k = (unsigned int)random() % (i + 1);
		order[i] = order[k];
		order[k] = i;
	}
	for (i = 0; i < CLUSTER_HOSTS; i++) {
		struct talk *t = &talks[order[i]];

		t->looked = 0;
		if (!cluster.host[order[i]].seen)
			*t = (struct talk) { .sent = 0 };
		if (!t->wait_ns)
			t->wait_ns = options.interval_ns;
		if (!cluster.host[order[i]].seen)
			continue;
		if (sent == FAN_OUT || t->next_ns > now)
			continue;
		sent++;
		send_report(order[i], (int64_t)now);
		/* An answer makes it the interval again. */
		t->next_ns = now + t->wait_ns - options.interval_ns / 2;
		t->wait_ns = t->wait_ns * 2 < SILENT_NS ? t->wait_ns * 2 : SILENT_NS;
	}
}

/* Ends of a message, and the hops that it has made. */
static bool read_ends(struct msghdr *hdr, uint8_t *from, uint8_t *to, uint8_t *hops)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const struct sockaddr_in6 *from6 = hdr->msg_name;
	const struct sockaddr_in *from4 = hdr->msg_name;
	struct cmsghdr *cmsg;
	bool has_to = false;
	int ttl = 0;

	for (cmsg = CMSG_FIRSTHDR(hdr); cmsg; cmsg = CMSG_NXTHDR(hdr, cmsg)) {
		const void *data = CMSG_DATA(cmsg);

		if (cmsg->cmsg_level == IPPROTO_IP && cmsg->cmsg_type == IP_PKTINFO) {
			memcpy(to, mapped, 12);
			memcpy(to + 12, &((const struct in_pktinfo *)data)->ipi_addr, 4);
			has_to = true;
		} else if (cmsg->cmsg_level == IPPROTO_IPV6 && cmsg->cmsg_type == IPV6_PKTINFO) {
			memcpy(to, &((const struct in6_pktinfo *)data)->ipi6_addr, 16);
			has_to = true;
		} else if ((cmsg->cmsg_level == IPPROTO_IP && cmsg->cmsg_type == IP_TTL) ||
			   (cmsg->cmsg_level == IPPROTO_IPV6 && cmsg->cmsg_type == IPV6_HOPLIMIT)) {
			memcpy(&ttl, data, sizeof(ttl));
		}
	}
	*hops = ttl > 0 && ttl <= 64 ? (uint8_t)(64 - ttl) : REPORT_HOPS_UNKNOWN;
	if (from4->sin_family == AF_INET) {
		memcpy(from, mapped, 12);
		memcpy(from + 12, &from4->sin_addr, 4);
	} else {
		memcpy(from, &from6->sin6_addr, 16);
	}
	return has_to;
}

/* A message, the cheap checks first; return whether it is of use. */
static bool take(const uint8_t *msg, size_t len, const uint8_t *from, const uint8_t *to,
		 uint8_t hops)
{
	struct cluster_host *host = cluster_find(&cluster, from);
	struct talk *t = host ? &talks[host - cluster.host] : NULL;
	uint8_t mac[REPORT_MAC_LEN];
	struct report r;

	if (!host || len != REPORT_LEN || t->looked++ >= MESSAGES_MAX) {
		counters.strangers++;
		return false;
	}
	sign(from, to, msg, mac);
	if (CRYPTO_memcmp(mac, msg + REPORT_SIGNED, sizeof(mac)) || !report_decode(msg, len, &r)) {
		counters.forged++;
		return false;
	}
	if (cluster_report(host, &r, session, hops, (int64_t)now_ns()) == REPORT_REPLAYED) {
		counters.replayed++;
		return false;
	}
	counters.received++;
	t->wait_ns = options.interval_ns;
	if (t->next_ns > now_ns() + t->wait_ns)
		t->next_ns = 0;
	return true;
}

/* Output -------------------------------------------------------------------- */

static const char *const states[] = {
	"unknown", "learning", "unsupported", "supported", "lost", "seeded",
};

/* The kernel's baseline now. */
static int64_t path_ns(const struct cluster_path *p, uint64_t now)
{
	return cluster_at(p->baseline_ns, p->slope, (int64_t)now - p->at_ns);
}

static json_t *row_of(const struct cluster_host *host, uint64_t now)
{
	const struct cluster_path *p = &host->path;
	const struct cluster_seed *s = &host->seed;
	int64_t baseline = path_ns(p, now);
	char local[INET6_ADDRSTRLEN], remote[INET6_ADDRSTRLEN];
	bool reports = cluster_reports(host, (int64_t)now);
	json_t *row;

	row = json_pack("{s:s, s:s, s:b, s:b, s:b}", "local", show(host->local, local),
			"remote", show(host->addr, remote), "reports", reports,
			"refuted", host->refuted, "left_out",
			cluster.solution.left_out[host - cluster.host + 1]);
	if (host->hops != REPORT_HOPS_UNKNOWN)
		json_object_set_new(row, "hops", json_integer(host->hops));
	if (!host->has_path || !p->known)
		return row;
	json_object_set_new(row, "baseline", json_string(states[p->state % ARRAY_SIZE(states)]));
	json_object_set_new(row, "baseline_ns", json_integer(baseline));
	if (!s->known)
		return row;
	json_object_set_new(row, "wanted", json_boolean(s->wanted));
	json_object_set_new(row, "predicted", json_boolean(s->predicted));
	json_object_set_new(row, "seed_ns", json_integer(s->value_ns));
	json_object_set_new(row, "lower_by_ns", json_integer(baseline - s->value_ns));
	json_object_set_new(row, "error_ns", json_integer(s->error_ns));
	json_object_set_new(row, "slope_ppb", json_integer((s->slope * 1000000000LL) >> 32));
	if (s->least_ns != BASELINE_NONE)
		json_object_set_new(row, "least_ns", json_integer(s->least_ns));
	return row;
}

static json_t *paths_of(uint64_t now)
{
	json_t *paths = json_array();
	unsigned int i;

	for (i = 0; i < CLUSTER_HOSTS; i++)
		if (cluster.host[i].seen)
			json_array_append_new(paths, row_of(&cluster.host[i], now));
	return json_pack("{s:I, s:I, s:o}", "time_ns", (json_int_t)now,
			 "lines", (json_int_t)cluster.n_lines, "paths", paths);
}

static void print_json(uint64_t now)
{
	json_t *all = paths_of(now);

	json_dumpf(all, stdout, JSON_COMPACT);
	json_decref(all);
	puts("");
}

static void print_text(uint64_t now)
{
	char text[INET6_ADDRSTRLEN], why[64];
	unsigned int i;

	printf("%-24s %-12s %14s %12s %10s\n", "PATH TO", "BASELINE", "LOWER BY, us",
	       "ERROR, us", "SEED");
	for (i = 0; i < CLUSTER_HOSTS; i++) {
		const struct cluster_host *h = &cluster.host[i];
		const struct cluster_path *p = &h->path;

		if (!h->seen)
			continue;
		snprintf(why, sizeof(why), "%s", !h->has_path || !p->known ? "no path" :
			 h->refuted ? "refuted" : !h->seed.known ? "unknown" :
			 !h->seed.wanted ? "not needed" : h->seed.predicted ? "predicted" : "yes");
		printf("%-24s %-12s ", show(h->addr, text),
		       h->has_path ? states[p->state % ARRAY_SIZE(states)] : "-");
		if (h->has_path && p->known && h->seed.known)
			printf("%14.1f %12.1f %10s\n",
			       (double)(path_ns(p, now) - h->seed.value_ns) / 1e3,
			       (double)h->seed.error_ns / 1e3, why);
		else
			printf("%14s %12s %10s\n", "-", "-", why);
	}
	puts("");
}

/* What outlives this program -------------------------------------------------- */

static int64_t unix_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec;
}

static int64_t mono_s(void)
{
	return (int64_t)(now_ns() / NSEC_PER_SEC);
}

/* One that cannot be read is as none: paths are learned again. */
static void read_floors(void)
{
	int fd = openat(state_fd, FLOORS_FILE, O_RDONLY | O_CLOEXEC);
	char text[FLOORS_TEXT];
	unsigned int line;
	ssize_t len;

	if (fd < 0) {
		if (errno != ENOENT)
			warning("%s/" FLOORS_FILE ": %s", options.state, strerror(errno));
		return;
	}
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[len < 0 ? 0 : len] = 0;
	kept_ns = now_ns();
	line = floors_parse(text, mono_s(), unix_s(), &cluster.floors);
	if (line)
		warning("%s/" FLOORS_FILE ": line %u is wrong: none of it is used", options.state,
			line);
}

/* A file of a directory: the whole text or that of before, also if the power fails. */
static bool write_file(int dir, const char *name, const char *text)
{
	int fd = openat(dir, ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), err = 0;
	size_t len = strlen(text);

	if (fd < 0)
		return false;
	if (write(fd, text, len) != (ssize_t)len || fsync(fd) || renameat(dir, ".new", dir, name))
		err = errno;
	close(fd);
	errno = err;
	return !err;
}

/* Say once why, until it works again. */
static void written(bool done, bool *failed, const char *dir, const char *name)
{
	if (!done && !*failed)
		warning("%s/%s: %s", dir, name, strerror(errno));
	*failed = !done;
}

static void write_floors(void)
{
	static bool failed;
	char text[FLOORS_TEXT];

	kept_ns = now_ns();
	if (state_fd < 0 || options.dry_run)
		return;
	floors_print(&cluster.floors, mono_s(), unix_s(), text);
	written(write_file(state_fd, FLOORS_FILE, text), &failed, options.state, FLOORS_FILE);
}

static json_t *floors_of(void)
{
	const struct floors *all = &cluster.floors;
	json_t *rows = json_array();
	unsigned int i;

	for (i = 0; i < all->n; i++) {
		const struct floor *f = &all->floor[i];
		json_t *row = json_object();

		json_object_set_new(row, "hops", json_integer(f->hops));
		json_object_set_new(row, "rate_mbit", json_integer(f->rate_mbit));
		json_object_set_new(row, "floor_ns", json_integer(f->ns));
		json_object_set_new(row, "error_ns", json_integer(f->error_ns));
		json_object_set_new(row, "age_s", json_integer(mono_s() - f->at_s));
		json_array_append_new(rows, row);
	}
	return rows;
}

static json_t *counters_of(void)
{
	const struct {
		const char *name;
		uint64_t n;
	} all[] = {
		{ "sent", counters.sent }, { "received", counters.received },
		{ "strangers", counters.strangers }, { "forged", counters.forged },
		{ "replayed", counters.replayed }, { "refuted", counters.refuted },
		{ "seeds", counters.seeds }, { "refused", counters.refused },
	};
	json_t *o = json_object();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		json_object_set_new(o, all[i].name, json_integer((json_int_t)all[i].n));
	return o;
}

/* For onrampctl: what --dry-run --json prints, floors and counters. */
static void write_status(void)
{
	static bool failed;
	json_t *o;
	char *text;

	status_ns = now_ns();
	if (run_fd < 0)
		return;
	o = paths_of(last_round_ns);
	json_object_set_new(o, "key", json_boolean(key_len));
	json_object_set_new(o, "floors", floors_of());
	json_object_set_new(o, "counters", counters_of());
	text = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	written(text && write_file(run_fd, STATUS_FILE, text), &failed, options.run, STATUS_FILE);
	free(text);
}

/* Rounds -------------------------------------------------------------------- */

static void seed(uint64_t now)
{
	unsigned int i;

	for (i = 0; i < CLUSTER_HOSTS; i++) {
		const struct cluster_host *h = &cluster.host[i];

		counters.refuted += h->refuted;
		if (!h->seen || !h->seed.wanted || h->seed.error_ns > (int64_t)options.max_error_ns)
			continue;
		if (kernel_seed(kernel, &h->path, &h->seed, (int64_t)now,
				(int64_t)options.expiry_ns))
			counters.refused++;
		else
			counters.seeds++;
	}
}

/* Read, solve, seed. */
static void work(void)
{
	uint64_t now;

	if (kernel_read(kernel, &cluster))
		return;
	now = now_ns();
	last_round_ns = now;
	cluster_solve(&cluster, (int64_t)now);
	if (!options.dry_run)
		seed(now);
}

/* What others can use of this host: its paths, and its clock. */
static unsigned int known(void)
{
	unsigned int i, n = cluster.clocked;

	for (i = 0; i < CLUSTER_HOSTS; i++)
		n += cluster.host[i].has_path && cluster.host[i].path.known;
	return n;
}

static int on_round(sd_event_source *source, uint64_t usec, void *arg)
{
	uint64_t interval_us = options.interval_ns / NSEC_PER_USEC;

	(void)usec;
	(void)arg;
	work();
	told = known();
	if (key_len)
		send_reports(now_ns());
	if (options.dry_run) {
		if (options.json)
			print_json(last_round_ns);
		else
			print_text(last_round_ns);
		fflush(stdout);
	}
	sd_notifyf(0, "STATUS=%u hosts' lines, %llu seeds, %llu refused; REPORTs: %llu sent, %llu taken",
		   cluster.n_lines, (unsigned long long)counters.seeds,
		   (unsigned long long)counters.refused, (unsigned long long)counters.sent,
		   (unsigned long long)counters.received);
	if (now_ns() - kept_ns >= KEEP_NS)
		write_floors();
	if (now_ns() - status_ns >= STATUS_NS)
		write_status();
	if (options.count && ++rounds >= options.count)
		return sd_event_exit(loop, 0);
	/* Others' rounds are not in step with this host's. */
	sd_event_source_set_time_relative(source, interval_us - interval_us / 8 +
					  (uint64_t)random() % (interval_us / 4 + 1));
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int on_soon(sd_event_source *source, uint64_t usec, void *arg)
{
	unsigned int i;

	(void)source;
	(void)usec;
	(void)arg;
	work();
	if (!key_len || known() <= told)
		return 0;
	told = known();
	for (i = 0; i < CLUSTER_HOSTS; i++)
		if (cluster.host[i].report_ns)
			talks[i].next_ns = 0;
	send_reports(now_ns());
	return 0;
}

/* Not at once for each of many. */
static int soon(void)
{
	int enabled = SD_EVENT_OFF;

	sd_event_source_get_enabled(soon_source, &enabled);
	if (enabled != SD_EVENT_OFF)
		return 0;
	sd_event_source_set_time_relative(soon_source, SOON_NS / NSEC_PER_USEC);
	return sd_event_source_set_enabled(soon_source, SD_EVENT_ONESHOT);
}

static int on_message(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct sockaddr_in6 name;
	uint8_t msg[REPORT_LEN + 1], from[16], to[16], hops;
	char control[256] __attribute__((aligned(8)));
	struct iovec iov = { msg, sizeof(msg) };
	struct msghdr hdr = {
		.msg_name = &name, .msg_namelen = sizeof(name), .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	ssize_t len = recvmsg(fd, &hdr, MSG_DONTWAIT);

	(void)source;
	(void)events;
	(void)arg;
	if (len >= 0 && read_ends(&hdr, from, to, &hops))
		return take(msg, (size_t)len, from, to, hops) ? soon() : 0;
	return 0;
}

/* A new path. */
static int on_kernel(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	(void)source;
	(void)fd;
	(void)events;
	(void)arg;
	return kernel_events(kernel) ? soon() : 0;
}

/* Start --------------------------------------------------------------------- */

/* The key of the cluster. systemd makes it readable by an ACL, which shows as the group's right. */
static void read_key(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t len;

	if (fd < 0 || fstat(fd, &st))
		die("%s: %s", path, strerror(errno));
	if (st.st_mode & 037)
		die("%s: mode %o: expected 400, 600, 440 or 640", path, st.st_mode & 07777);
	len = read(fd, key, sizeof(key));
	close(fd);
	while (len > 0 && key[len - 1] == '\n')
		len--;
	if (len < KEY_MIN)
		die("%s: %zd bytes: expected at least %d, as of 'openssl rand -hex 32'", path,
		    len, KEY_MIN);
	key_len = (size_t)len;
}

static int open_socket(int family)
{
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1, ttl = 64;
	in_port_t port = htons((uint16_t)options.port);
	struct sockaddr_in any4 = { .sin_family = family, .sin_port = port };
	struct sockaddr_in6 any6 = { .sin6_family = family, .sin6_port = port };

	if (fd < 0 && family == AF_INET6)
		return -1;
	if (fd < 0)
		die("UDP socket: %s", strerror(errno));
	if (family == AF_INET ?
	    setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &one, sizeof(one)) ||
	    setsockopt(fd, IPPROTO_IP, IP_RECVTTL, &one, sizeof(one)) ||
	    setsockopt(fd, IPPROTO_IP, IP_TTL, &ttl, sizeof(ttl)) :
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one)) ||
	    setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &one, sizeof(one)) ||
	    setsockopt(fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, &one, sizeof(one)) ||
	    setsockopt(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, &ttl, sizeof(ttl)))
		die("UDP socket: %s", strerror(errno));
	if (bind(fd, family == AF_INET ? (struct sockaddr *)&any4 : (struct sockaddr *)&any6,
		 family == AF_INET ? sizeof(any4) : sizeof(any6)))
		die("UDP port %llu: %s", (unsigned long long)options.port, strerror(errno));
	return fd;
}

/* As root: be options.user, with CAP_NET_ADMIN alone. The unit of systemd never is root. */
static void drop_root(void)
{
	struct __user_cap_header_struct hdr = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2] = {
		{ .effective = 1U << CAP_NET_ADMIN, .permitted = 1U << CAP_NET_ADMIN },
	};
	const struct passwd *pw = getpwnam(options.user);
	uint64_t uid = pw ? pw->pw_uid : 0, gid = pw ? pw->pw_gid : 0;

	if (geteuid())
		return;
	if (!pw && parse_u64(options.user, 1, UINT32_MAX - 1, &uid))
		gid = uid;
	if (!uid)
		die("--user %s: expected a user other than root", options.user);
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setgroups(0, NULL) ||
	    setresgid((gid_t)gid, (gid_t)gid, (gid_t)gid) ||
	    setresuid((uid_t)uid, (uid_t)uid, (uid_t)uid) || syscall(SYS_capset, &hdr, caps) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		die("cannot give up root: %s", strerror(errno));
}

static const char usage[] =
	"usage: onrampd [OPTION]...\n"
	"\n"
	"Tell the kernel how long empty paths are, by what several hosts know together.\n"
	"\n"
	"  -k, --key FILE        key of the cluster, 32 bytes or more, the same on all hosts;\n"
	"                        without one this host's own paths alone count\n"
	"  -n, --dry-run         print what it would tell, and tell nothing\n"
	"  -j, --json            with --dry-run: a line of JSON each time\n"
	"  -c, --count N         end after N rounds\n"
	"  -i, --interval SEC    time between rounds, 0.05 to 10 (0.25)\n"
	"  -e, --expiry SEC      for which the kernel believes it, 0.1 to 10 (3)\n"
	"  -m, --max-error SEC   tell nothing that may be wrong by more, up to 0.01 (0.00005)\n"
	"  -p, --port N          UDP port, the same on all hosts (2990)\n"
	"  -r, --run DIR         write DIR/status.json each second, for onrampctl\n"
	"  -s, --state DIR       keep the delays of classes of paths in DIR/floors\n"
	"  -u, --user NAME       user to be, if root starts it (nobody)\n"
	"  -h, --help            this text\n"
	"  -V, --version         version\n";

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "key", required_argument, NULL, 'k' }, { "dry-run", no_argument, NULL, 'n' },
		{ "json", no_argument, NULL, 'j' }, { "count", required_argument, NULL, 'c' },
		{ "interval", required_argument, NULL, 'i' },
		{ "expiry", required_argument, NULL, 'e' },
		{ "max-error", required_argument, NULL, 'm' },
		{ "port", required_argument, NULL, 'p' }, { "user", required_argument, NULL, 'u' },
		{ "state", required_argument, NULL, 's' }, { "run", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, 'V' }, { NULL },
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "k:njc:i:e:m:p:r:s:u:hV", longs, NULL)) != -1) {
		switch (opt) {
		case 'k':
			options.key = optarg;
			break;
		case 'n':
			options.dry_run = true;
			break;
		case 'j':
			options.json = true;
			break;
		case 'c':
			if (!parse_u64(optarg, 1, UINT64_MAX, &options.count))
				die_usage("--count %s: expected a number from 1 on", optarg);
			break;
		case 'i':
			if (!parse_seconds(optarg, 0.05, 10, &options.interval_ns))
				die_usage("--interval %s: expected 0.05 to 10 seconds", optarg);
			break;
		case 'e':
			if (!parse_seconds(optarg, 0.1, 10, &options.expiry_ns))
				die_usage("--expiry %s: expected 0.1 to 10 seconds", optarg);
			break;
		case 'm':
			if (!parse_seconds(optarg, 0, 0.01, &options.max_error_ns))
				die_usage("--max-error %s: expected 0 to 0.01 seconds", optarg);
			break;
		case 'p':
			if (!parse_u64(optarg, 1, 65535, &options.port))
				die_usage("--port %s: expected 1 to 65535", optarg);
			break;
		case 'r':
			options.run = optarg;
			break;
		case 's':
			options.state = optarg;
			break;
		case 'u':
			options.user = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		case 'V':
			printf("onrampd %s\n", ONRAMPD_VERSION);
			exit(0);
		default:
			exit(EXIT_USAGE);
		}
	}
	if (optind < argc)
		die_usage("unexpected argument '%s'", argv[optind]);
	if (options.json && !options.dry_run)
		die_usage("--json: expected --dry-run, too");
	if (options.dry_run && options.run)
		die_usage("--run: expected no --dry-run");
}

static int open_dir(const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	return fd;
}

static void check(int err, const char *what)
{
	if (err < 0)
		die("%s: %s", what, strerror(-err));
}

static void begin(void)
{
	sigset_t signals;
	unsigned int seed32;

	if (getrandom(&session, sizeof(session), 0) != sizeof(session) ||
	    getrandom(&seed32, sizeof(seed32), 0) != sizeof(seed32))
		die("getrandom: %s", strerror(errno));
	session |= 1;
	srandom(seed32);
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	check(sd_event_default(&loop), "sd-event");
	check(sd_event_add_signal(loop, NULL, SIGTERM, NULL, NULL), "SIGTERM");
	check(sd_event_add_signal(loop, NULL, SIGINT, NULL, NULL), "SIGINT");
	check(sd_event_set_watchdog(loop, true), "watchdog");
	check(sd_event_add_io(loop, NULL, kernel_events_fd(kernel), EPOLLIN, on_kernel, NULL),
	      "netlink");
	check(sd_event_add_time_relative(loop, &round_source, CLOCK_MONOTONIC, 0, 1000, on_round,
					 NULL), "timer");
	check(sd_event_add_time_relative(loop, &soon_source, CLOCK_MONOTONIC, 0, 1000, on_soon,
					 NULL), "timer");
	check(sd_event_source_set_enabled(soon_source, SD_EVENT_OFF), "timer");
	if (sock4 >= 0)
		check(sd_event_add_io(loop, NULL, sock4, EPOLLIN, on_message, NULL), "UDP");
	if (sock6 >= 0)
		check(sd_event_add_io(loop, NULL, sock6, EPOLLIN, on_message, NULL), "UDP");
}

int main(int argc, char **argv)
{
	int status;

	parse(argc, argv);
	if (options.key)
		read_key(options.key);
	if (key_len) {
		sock4 = open_socket(AF_INET);
		sock6 = open_socket(AF_INET6);
	}
	if (options.state)
		state_fd = open_dir(options.state);
	if (options.run)
		run_fd = open_dir(options.run);
	drop_root();
	if (state_fd >= 0)
		read_floors();
	kernel = kernel_open();
	if (!kernel)
		die("netlink family onramp: not there: load sch_onramp");
	begin();
	sd_notify(0, "READY=1");
	status = sd_event_loop(loop);
	sd_notify(0, "STOPPING=1");
	write_floors();
	if (run_fd >= 0)
		unlinkat(run_fd, STATUS_FILE, 0);
	sd_event_unref(loop);
	kernel_close(kernel);
	OPENSSL_cleanse(key, sizeof(key));
	return status < 0 ? 1 : status;
}
