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
#include <netlink/errno.h>
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

#include "chrony.h"
#include "kernel.h"
#include "udp.h"

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
/* PROBEs and ECHOs of a host, likewise: 0.25 s of pairs, there and back, and as many again. */
#define PROBES_MAX	64
/* Mean time between two pairs, us, and least time between two to the same host, ns. */
#define PROBE_US	4000
#define PAIR_NS		(40 * NSEC_PER_MSEC)
/* Ethernet, IPv6 and UDP around a message, with preamble and gap, bytes. */
#define WIRE_BYTES	86
/* Bytes that were not sent and may be sent later, at most: pairs to ten hosts. */
#define CREDIT_MAX	30000
/* PROBEs whose times of departure may be to come. */
#define LEAVING		64
/* Paths are read no sooner than this after the last time, because of an event, ns. */
#define SOON_NS		(10 * NSEC_PER_MSEC)
/*
 * After its first OR-ACK a path is looked at for this long, ns, after twice the time each: a queue
 * has support after 0.1 s.
 */
#define YOUNG_NS	(500 * NSEC_PER_MSEC)
/* Between two writings of the floors, ns. */
#define KEEP_NS		(60 * NSEC_PER_SEC)
/* Between two writings of the status, ns. */
#define STATUS_NS	NSEC_PER_SEC
/* Between two samples for chronyd, ns: rounds are not in step with it. */
#define SAMPLE_NS	(900 * NSEC_PER_MSEC)
/* Files in the directories of options. */
#define FLOORS_FILE	"floors"
#define STATUS_FILE	"status.json"

/**
 * struct talk - messages of and to a host; same place as in struct cluster
 * @next_ns: when the next one goes out
 * @wait_ns: time to the one after that
 * @sent: messages so far
 * @pair_ns: when the last pair of PROBEs was sent
 * @looked: REPORTs of this interval that were looked at
 * @probed: other messages, likewise
 */
struct talk {
	uint64_t next_ns;
	uint64_t wait_ns;
	uint64_t sent;
	uint64_t pair_ns;
	unsigned int looked;
	unsigned int probed;
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
	const char *discipline;
	const char *reference;
	bool huygens;
	bool dry_run;
	bool json;
	uint64_t count;		/* rounds; 0: no end */
} options = {
	.interval_ns = 250 * NSEC_PER_MSEC, .expiry_ns = 3 * NSEC_PER_SEC,
	.max_error_ns = 50 * NSEC_PER_USEC, .port = ONRAMPD_PORT, .user = "nobody",
};

static struct counters {
	uint64_t sent, received, strangers, forged, replayed, refuted, seeds, refused;
	uint64_t probes, echoes, echoed, bytes, samples;
} counters;

static struct cluster cluster;
static struct talk talks[CLUSTER_HOSTS];
static struct kernel *kernel;
static sd_event *loop;
static sd_event_source *round_source, *soon_source;
static uint8_t key[KEY_MAX];
static size_t key_len;
static uint64_t session, reports, rounds, last_round_ns;
static unsigned int told;
static int sock4 = -1, sock6 = -1, state_fd = -1, run_fd = -1;
static uint64_t kept_ns, status_ns, earned_ns;
static int64_t credit_bytes, own_clock_ns, utc_offset_ns, utc_error_ns;
static bool utc_known;
static uint8_t own_domain;

/* Messages ------------------------------------------------------------------ */

static const char *show(const uint8_t *addr, char *text)
{
	bool v4 = udp_is_v4(addr);

	return inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? addr + 12 : addr, text, INET6_ADDRSTRLEN);
}

/* The MAC of a message between two addresses: of its first bytes. */
static void sign(const uint8_t *from, const uint8_t *to, const uint8_t *msg, size_t len,
		 uint8_t *mac)
{
	uint8_t text[32 + REPORT_SIGNED];
	unsigned int mac_len = REPORT_MAC_LEN;

	memcpy(text, from, 16);
	memcpy(text + 16, to, 16);
	memcpy(text + 32, msg, len);
	if (!HMAC(EVP_sha256(), key, (int)key_len, text, 32 + len, mac, &mac_len) ||
	    mac_len != REPORT_MAC_LEN)
		die("HMAC-SHA256 is not available in OpenSSL");
}

static bool genuine(const struct udp_ends *ends, const uint8_t *msg, size_t len)
{
	uint8_t mac[REPORT_MAC_LEN];

	sign(ends->from, ends->to, msg, len, mac);
	return !CRYPTO_memcmp(mac, msg + len, sizeof(mac));
}

static int socket_to(const struct cluster_host *host)
{
	return udp_is_v4(host->addr) ? sock4 : sock6;
}

/* Sign @head bytes of a message, and send @len. */
static bool send_to(const struct cluster_host *host, uint8_t *msg, size_t head, size_t len,
		    bool stamp)
{
	struct udp_ends ends = { .scope = host->path.scope };

	memcpy(ends.from, host->local, 16);
	memcpy(ends.to, host->addr, 16);
	sign(host->local, host->addr, msg, head, msg + head);
	credit_bytes -= (int64_t)(len + WIRE_BYTES);
	counters.bytes += len + WIRE_BYTES;
	return udp_send(socket_to(host), (uint16_t)options.port, &ends, msg, len, stamp);
}

static void send_report(unsigned int i, int64_t now)
{
	const struct cluster_host *host = &cluster.host[i];
	struct report r = { .session = session, .count = ++reports };
	uint8_t msg[REPORT_LEN];

	cluster_fill(&cluster, host, now, ++talks[i].sent, &r);
	report_encode(&r, msg);
	counters.sent += send_to(host, msg, REPORT_SIGNED, sizeof(msg), false);
}

/* Bytes that may be sent in a time: 0.03 % of the slowest link; 0 if none is known. */
static int64_t allowed_bytes(uint64_t ns)
{
	uint64_t rate_mbit = 0;
	unsigned int i;

	for (i = 0; i < CLUSTER_HOSTS; i++) {
		uint32_t mbit = cluster.host[i].seen ?
				cluster_rate(&cluster, &cluster.host[i]) : 0;

		if (mbit && (!rate_mbit || mbit < rate_mbit))
			rate_mbit = mbit;
	}
	/* Mbit/s are bytes in 8 us; 3 of 10000. */
	return (int64_t)(ns / NSEC_PER_USEC * rate_mbit * 3 / 80000);
}

/* How many hosts get a REPORT in an interval: on slow links PROBEs need half of what is allowed. */
static unsigned int fan_out(void)
{
	int64_t allowed = allowed_bytes(options.interval_ns), n;

	if (!allowed)
		return FAN_OUT;
	n = allowed / 2 / (REPORT_LEN + WIRE_BYTES);
	return n < 1 ? 1 : n < FAN_OUT ? (unsigned int)n : FAN_OUT;
}

/* The hosts whose turn it is, in an order by chance, some of them. */
static void send_reports(uint64_t now)
{
	unsigned int order[CLUSTER_HOSTS], i, k, sent = 0, most = fan_out();

	for (i = 0; i < CLUSTER_HOSTS; i++) {
		k = (unsigned int)random() % (i + 1);
		order[i] = order[k];
		order[k] = i;
	}
	for (i = 0; i < CLUSTER_HOSTS; i++) {
		struct talk *t = &talks[order[i]];

		t->looked = 0;
		t->probed = 0;
		if (!cluster.host[order[i]].seen)
			*t = (struct talk) { .sent = 0 };
		if (!t->wait_ns)
			t->wait_ns = options.interval_ns;
		if (!cluster.host[order[i]].seen)
			continue;
		if (sent == most || t->next_ns > now)
			continue;
		sent++;
		send_report(order[i], (int64_t)now);
		/* An answer makes it the interval again. */
		t->next_ns = now + t->wait_ns - options.interval_ns / 2;
		t->wait_ns = t->wait_ns * 2 < SILENT_NS ? t->wait_ns * 2 : SILENT_NS;
	}
}

/* A REPORT; return whether it is of use. */
static bool take_report(struct cluster_host *host, struct talk *t, const uint8_t *msg, size_t len,
			uint8_t hops)
{
	struct report r;

	if (!report_decode(msg, len, &r)) {
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

/* Own session, the host's, and own receive clock. */
static void put_clock(const struct cluster_host *host, struct probe *p)
{
	p->session = session;
	p->echo = host->peer.session;
	p->domain = cluster.domain;
	p->utc_ns = udp_utc_ns() - cluster_clock_at(&cluster, (int64_t)now_ns());
}

/* A PROBE or an ECHO. */
static void take_probe(struct cluster_host *host, const uint8_t *msg, size_t len,
		       int64_t arrived_ns)
{
	uint8_t answer[ECHO_LEN];
	struct probe p, echo;
	bool valid;

	if (!probe_decode(msg, len, &p)) {
		counters.forged++;
		return;
	}
	if (p.kind == PROBE_ECHO) {
		valid = probe_echoed(&host->probe, &p, host->peer.session, session);
		counters.echoed += valid;
	} else if (!arrived_ns || !cluster.clocked) {
		return;
	} else if (probe_heard(&host->probe, &p, host->peer.session, session, arrived_ns,
			       cluster_clock_at(&cluster, arrived_ns), &echo, &valid)) {
		put_clock(host, &echo);
		probe_encode(&echo, answer);
		counters.echoes += send_to(host, answer, PROBE_SIGNED, sizeof(answer), false);
	}
	counters.replayed += !valid;
}

/* A message, the cheap checks first; return whether it is of use for lines. */
static bool take(const uint8_t *msg, size_t len, const struct udp_ends *ends)
{
	struct cluster_host *host = cluster_find(&cluster, ends->from);
	struct talk *t = host ? &talks[host - cluster.host] : NULL;
	bool report = len == REPORT_LEN;

	if (!host || (!report && len != PROBE_LEN && len != ECHO_LEN) ||
	    (report ? t->looked++ >= MESSAGES_MAX : t->probed++ >= PROBES_MAX)) {
		counters.strangers++;
		return false;
	}
	if (!genuine(ends, msg, report ? REPORT_SIGNED : PROBE_SIGNED)) {
		counters.forged++;
		return false;
	}
	if (report)
		return take_report(host, t, msg, len, ends->hops);
	take_probe(host, msg, len, cluster_arrived(&cluster, ends->arrived_ns, ends->phc_ns));
	return false;
}

/* Probes -------------------------------------------------------------------- */

/**
 * struct leaving - PROBEs whose times of departure are to come, of a socket
 * @host: place of the receiver in struct cluster
 * @count: of the pair
 * @n: number of the next one, as the kernel counts them
 */
static struct leaving {
	struct {
		uint8_t host;
		uint64_t count;
	} probe[LEAVING];
	uint32_t n;
} leaving4, leaving6;

static bool send_probe(struct cluster_host *host, struct probe *p)
{
	struct leaving *l = udp_is_v4(host->addr) ? &leaving4 : &leaving6;
	uint8_t msg[PROBE_LEN] = { 0 };

	probe_encode(p, msg);
	if (!send_to(host, msg, PROBE_SIGNED, sizeof(msg), true)) {
		/* Whether the kernel has counted it is unknown: let both begin again. */
		udp_count_again(socket_to(host));
		l->n = 0;
		return false;
	}
	l->probe[l->n % LEAVING].host = (uint8_t)(host - cluster.host);
	l->probe[l->n++ % LEAVING].count = p->count;
	counters.probes++;
	return true;
}

static void read_left(int fd)
{
	struct leaving *l = fd == sock4 ? &leaving4 : &leaving6;
	int64_t left_ns;
	uint32_t id;

	while (udp_left(fd, &id, &left_ns)) {
		struct cluster_host *host;

		if (!left_ns || l->n - id > LEAVING || l->n == id)
			continue;
		host = &cluster.host[l->probe[id % LEAVING].host];
		/* Pairs are of even and odd numbers: both are sent, or the count begins again. */
		probe_left(&host->probe, l->probe[id % LEAVING].count, id % 2, left_ns);
	}
}

/* Bytes that may be sent by now. */
static void earn(uint64_t now)
{
	credit_bytes += allowed_bytes(now - earned_ns);
	if (credit_bytes > CREDIT_MAX)
		credit_bytes = CREDIT_MAX;
	/* A REPORT in each interval is more than that on the slowest links. */
	if (credit_bytes < -CREDIT_MAX)
		credit_bytes = -CREDIT_MAX;
	earned_ns = now;
}

/* A pair to the next host that PROBEs are of use to, if there is credit. */
static int on_probe(sd_event_source *source, uint64_t usec, void *arg)
{
	static unsigned int next;
	uint64_t now = now_ns(), wait_us = PAIR_NS / NSEC_PER_USEC;
	unsigned int i;

	(void)usec;
	(void)arg;
	earn(now);
	for (i = 0; i < CLUSTER_HOSTS && credit_bytes > 0 && cluster.clocked; i++) {
		struct cluster_host *host = &cluster.host[next];
		struct talk *t = &talks[next];
		struct probe p;

		next = (next + 1) % CLUSTER_HOSTS;
		if (t->pair_ns + PAIR_NS > now ||
		    !cluster_wants_probes(&cluster, host, (int64_t)now))
			continue;
		wait_us = PROBE_US;
		put_clock(host, &p);
		/* It says when the last pair left. */
		probe_send(&host->probe, &p, cluster_clock_at(&cluster, (int64_t)t->pair_ns));
		t->pair_ns = now;
		if (!send_probe(host, &p))
			break;
		p.kind = PROBE_SECOND;
		send_probe(host, &p);
		break;
	}
	sd_event_source_set_time_relative(source, wait_us * 3 / 4 +
					  (uint64_t)random() % (wait_us / 2));
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

/* Output -------------------------------------------------------------------- */

static const char *const states[] = {
	"unknown", "learning", "unsupported", "supported", "lost", "seeded",
};

static json_t *row_of(const struct cluster_host *host, uint64_t now)
{
	const struct cluster_path *p = &host->path;
	const struct cluster_seed *s = &host->seed;
	int64_t baseline = cluster_baseline(p, (int64_t)now), error;
	char local[INET6_ADDRSTRLEN], remote[INET6_ADDRSTRLEN];
	bool reports = cluster_reports(host, (int64_t)now);
	json_t *row;

	row = json_pack("{s:s, s:s, s:b, s:b, s:b}", "local", show(host->local, local),
			"remote", show(host->addr, remote), "reports", reports,
			"refuted", host->refuted, "left_out",
			cluster.solution.left_out[host - cluster.host + 1]);
	if (host->probe.to.n)
		json_object_set_new(row, "probe_samples", json_integer(host->probe.to.n));
	if (host->probed.known)
		json_object_set_new(row, "probed", json_string(states[host->probed.state]));
	if (host->hops != REPORT_HOPS_UNKNOWN)
		json_object_set_new(row, "hops", json_integer(host->hops));
	if (host->clock.known) {
		json_object_set_new(row, "ahead_ns",
				    json_integer(cluster_ahead(host, (int64_t)now, &error)));
		json_object_set_new(row, "ahead_error_ns", json_integer(error));
	}
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
	json_t *paths = json_array(), *all;
	unsigned int i;

	for (i = 0; i < CLUSTER_HOSTS; i++)
		if (cluster.host[i].seen)
			json_array_append_new(paths, row_of(&cluster.host[i], now));
	all = json_pack("{s:I, s:I, s:I, s:o}", "time_ns", (json_int_t)now,
			"lines", (json_int_t)cluster.n_lines,
			"sent_bytes", (json_int_t)counters.bytes, "paths", paths);
	/* It less CLOCK_MONOTONIC, modulo 2^64 as it is hidden. */
	if (cluster.clocked)
		json_object_set_new(all, "clock_ns",
				    json_integer(cluster_clock_at(&cluster, (int64_t)now)));
	if (options.discipline && utc_known)
		json_object_set_new(all, "reference",
				    json_pack("{s:I, s:I}", "ahead_ns", (json_int_t)utc_offset_ns,
					      "error_ns", (json_int_t)utc_error_ns));
	return all;
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
			       (double)(cluster_baseline(p, (int64_t)now) - h->seed.value_ns) / 1e3,
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
	/* Of a write that is too short. */
	errno = ENOSPC;
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
		{ "probes", counters.probes }, { "echoes", counters.echoes },
		{ "echoed", counters.echoed }, { "samples", counters.samples },
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

/* Clocks -------------------------------------------------------------------- */

/* A sample for chronyd, if the bound is small enough. */
static void discipline(void)
{
	static uint64_t sent_ns;
	static bool failed;
	uint64_t now = now_ns();
	int64_t utc_ns = udp_utc_ns(), offset_ns, error_ns;

	if (!options.discipline || now - sent_ns < SAMPLE_NS)
		return;
	utc_known = cluster_utc(&cluster, (int64_t)now, utc_ns, &offset_ns, &error_ns) &&
		    error_ns <= (int64_t)options.max_error_ns;
	if (!utc_known)
		return;
	utc_offset_ns = offset_ns;
	utc_error_ns = error_ns;
	sent_ns = now;
	if (options.dry_run)
		return;
	if (chrony_sample((int64_t)now + utc_ns, offset_ns)) {
		counters.samples++;
		failed = false;
	} else if (!failed) {
		/* Say once why, until it works again. */
		warning("%s: %s", options.discipline, strerror(errno));
		failed = true;
	}
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

/* Work again after some time, unless that is to be sooner anyway. */
static int soon(uint64_t after_ns)
{
	static uint64_t at_ns;
	int enabled = SD_EVENT_OFF;

	sd_event_source_get_enabled(soon_source, &enabled);
	if (enabled != SD_EVENT_OFF && at_ns <= now_ns() + after_ns)
		return 0;
	at_ns = now_ns() + after_ns;
	sd_event_source_set_time_relative(soon_source, after_ns / NSEC_PER_USEC);
	return sd_event_source_set_enabled(soon_source, SD_EVENT_ONESHOT);
}

/* Read, solve, seed. */
static void work(void)
{
	uint64_t now, age_ns;
	int err;

	err = kernel_read(kernel, &cluster);
	/* If the modules are loaded again their family has another number. */
	if (err == -NLE_OBJ_NOTFOUND)
		die("netlink family onramp is gone: its modules were unloaded");
	if (err)
		return;
	/* Nobody sends to this host, so or_acker has no clock: one that nobody knows will do. */
	if (!cluster.clock_read && key_len)
		cluster_own_clock(&cluster, own_domain, own_clock_ns);
	/* The rate of a clock is known by its next reading. */
	if (cluster.clock_read && !cluster.clocked)
		soon(SOON_NS);
	now = now_ns();
	/* At its first OR-ACK a path has no baseline in the kernel, and soon maybe a wrong one. */
	age_ns = (uint64_t)cluster_youngest(&cluster, (int64_t)now);
	if (age_ns < YOUNG_NS)
		soon(age_ns > SOON_NS ? age_ns : SOON_NS);
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
		n += (cluster.host[i].has_path && cluster.host[i].path.known) ||
		     cluster.host[i].probed.known;
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
	if (options.json)
		print_json(last_round_ns);
	else if (options.dry_run)
		print_text(last_round_ns);
	fflush(stdout);
	sd_notifyf(0, "STATUS=%u hosts' lines, %llu seeds, %llu refused; REPORTs: %llu sent, %llu taken",
		   cluster.n_lines, (unsigned long long)counters.seeds,
		   (unsigned long long)counters.refused, (unsigned long long)counters.sent,
		   (unsigned long long)counters.received);
	discipline();
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

static int on_message(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	uint8_t msg[PROBE_LEN + 1];
	struct udp_ends ends;
	long len;

	(void)source;
	(void)arg;
	if (events & EPOLLERR)
		read_left(fd);
	len = udp_receive(fd, msg, sizeof(msg), &ends);
	return len >= 0 && take(msg, (size_t)len, &ends) ? soon(SOON_NS) : 0;
}

/* A new path. */
static int on_kernel(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	(void)source;
	(void)fd;
	(void)events;
	(void)arg;
	return kernel_events(kernel) ? soon(SOON_NS) : 0;
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
	"  -j, --json            print a line of JSON each time\n"
	"  -c, --count N         end after N rounds\n"
	"  -d, --discipline chrony:SOCKET\n"
	"                        tell chronyd the time of the reference, as a SOCK reference clock\n"
	"  -R, --reference ADDR  host whose CLOCK_REALTIME that is\n"
	"  -E, --estimator NAME  bounds, or huygens: clocks by PROBEs alone, to compare with (bounds)\n"
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
		{ "estimator", required_argument, NULL, 'E' },
		{ "discipline", required_argument, NULL, 'd' },
		{ "reference", required_argument, NULL, 'R' },
		{ "expiry", required_argument, NULL, 'e' },
		{ "max-error", required_argument, NULL, 'm' },
		{ "port", required_argument, NULL, 'p' }, { "user", required_argument, NULL, 'u' },
		{ "state", required_argument, NULL, 's' }, { "run", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, 'V' }, { NULL },
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "k:njc:d:i:e:E:m:p:r:R:s:u:hV", longs, NULL)) != -1) {
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
		case 'd':
			if (strncmp(optarg, CHRONY_PREFIX, strlen(CHRONY_PREFIX)) ||
			    !chrony_path(optarg + strlen(CHRONY_PREFIX)))
				die_usage("--discipline %s: expected chrony: and a path of at most %zu bytes",
					  optarg, CHRONY_PATH_MAX);
			options.discipline = optarg;
			break;
		case 'R':
			if (!udp_address(optarg, cluster.reference))
				die_usage("--reference %s: expected an address of a host", optarg);
			options.reference = optarg;
			break;
		case 'i':
			if (!parse_seconds(optarg, 0.05, 10, &options.interval_ns))
				die_usage("--interval %s: expected 0.05 to 10 seconds", optarg);
			break;
		case 'e':
			if (!parse_seconds(optarg, 0.1, 10, &options.expiry_ns))
				die_usage("--expiry %s: expected 0.1 to 10 seconds", optarg);
			break;
		case 'E':
			options.huygens = !strcmp(optarg, "huygens");
			if (!options.huygens && strcmp(optarg, "bounds"))
				die_usage("--estimator %s: expected bounds or huygens", optarg);
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
	if (options.huygens && !options.key)
		die_usage("--estimator huygens: expected --key, too");
	if (!options.discipline != !options.reference)
		die_usage("--discipline, --reference: expected both, or none");
	if (options.discipline && !options.key)
		die_usage("--discipline %s: expected --key, too", options.discipline);
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
	own_domain = (uint8_t)random();
	own_clock_ns = (int64_t)((uint64_t)random() << 28);
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
	earned_ns = now_ns();
	if (key_len)
		check(sd_event_add_time_relative(loop, NULL, CLOCK_MONOTONIC, PROBE_US, 100,
						 on_probe, NULL), "timer");
	if (sock4 >= 0)
		check(sd_event_add_io(loop, NULL, sock4, EPOLLIN, on_message, NULL), "UDP");
	if (sock6 >= 0)
		check(sd_event_add_io(loop, NULL, sock6, EPOLLIN, on_message, NULL), "UDP");
}

int main(int argc, char **argv)
{
	int status;

	parse(argc, argv);
	cluster.huygens = options.huygens;
	if (options.key)
		read_key(options.key);
	if (key_len) {
		sock4 = udp_open(AF_INET, (uint16_t)options.port);
		sock6 = udp_open(AF_INET6, (uint16_t)options.port);
	}
	if (options.state)
		state_fd = open_dir(options.state);
	if (options.run)
		run_fd = open_dir(options.run);
	/* Root may reach the socket where another user cannot. */
	if (options.discipline)
		chrony_open();
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
