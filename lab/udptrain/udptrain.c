// SPDX-License-Identifier: GPL-2.0
/*
 * udptrain: send datagrams at exact times, and record their arrivals.
 *
 *	udptrain FROM TO ADDR NAME=VALUE...
 *		FROM, TO	network namespaces
 *		ADDR		IPv4 address in TO
 *		count=N		datagrams (1000)
 *		frame=BYTES	of each on the wire, without check sequence (1514)
 *		gap_ps=PS	from one to the next; 0 for all at once (0)
 *		poisson=0|1	the gap is the mean of a Poisson process (0)
 *		tos=N		of the IP header, 0 to 255 (0)
 *		wait_ms=MS	from the last departure to the end of a batch (100)
 *		seed=N		(1)
 *		dev=NAME	of TO: enable its hardware time stamps
 *		json=FILE	the result
 *		csv=FILE	one line for each datagram
 *
 * The kernel keeps the times: SO_TXTIME holds every datagram back in fq (which
 * has to be the qdisc of FROM, with a flow_limit of BATCH or more), and
 * SO_TIMESTAMPING reports its arrival. Few wake-ups, and no process in the path.
 *
 * In the lab a reading of a clock takes a process 1 ns, always, so that the offset
 * between two clocks is exact.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <math.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define PORT		9		/* discard */
#define BATCH		4096		/* datagrams in the kernel at once */
#define HEADERS		(14 + 20 + 8)	/* Ethernet, IPv4, UDP */
#define LEAD_NS		1000000		/* from the decision to the first departure */
#define MAX_FRAME	9014
#define MAX_COUNT	10000000

struct settings {
	uint64_t count, frame, gap_ps, poisson, tos, wait_ms, seed;
	const char *dev, *json, *csv;
};

/* Payload: which one it is. */
struct probe {
	uint32_t index;
};

struct arrival {
	int64_t sent_ns;	/* when it was to leave; CLOCK_MONOTONIC */
	int64_t came_ns;	/* the kernel's stamp on the same clock; 0: it did not */
	int64_t hw_ns;		/* the hardware's stamp, on its clock; 0: none */
};

static void __attribute__((format(printf, 2, 3))) check(bool ok, const char *format, ...)
{
	va_list ap;

	if (ok)
		return;
	fputs("udptrain: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "%s%s\n", errno ? ": " : "", errno ? strerror(errno) : "");
	exit(1);
}

static int64_t clock_now(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* xorshift64*: any seed but 0 will do. */
static double uniform(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return ((*state * 0x2545f4914f6cdd1dULL >> 11) + 0.5) / (1ULL << 53);
}

static int socket_in(const char *netns)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	check(fd >= 0, "%s", path);
	check(!setns(fd, CLONE_NEWNET), "setns %s", netns);
	close(fd);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	check(fd >= 0, "socket");
	return fd;
}

static void set_int(int fd, int level, int name, int value)
{
	check(!setsockopt(fd, level, name, &value, sizeof(value)), "setsockopt %d", name);
}

static int sender(const char *netns, const char *addr, const struct settings *s)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct sock_txtime txtime = { .clockid = CLOCK_MONOTONIC };
	int fd = socket_in(netns);

	check(inet_pton(AF_INET, addr, &to.sin_addr) == 1, "%s is no IPv4 address", addr);
	check(!setsockopt(fd, SOL_SOCKET, SO_TXTIME, &txtime, sizeof(txtime)), "SO_TXTIME");
	set_int(fd, SOL_SOCKET, SO_SNDBUFFORCE, 512 << 20);
	set_int(fd, IPPROTO_IP, IP_TOS, s->tos);
	check(!connect(fd, (struct sockaddr *)&to, sizeof(to)), "connect %s", addr);
	return fd;
}

static int receiver(const char *netns, const struct settings *s)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct hwtstamp_config config = {
		.tx_type = HWTSTAMP_TX_OFF,
		.rx_filter = HWTSTAMP_FILTER_ALL,
	};
	struct ifreq ifr = { .ifr_data = (char *)&config };
	int fd = socket_in(netns);

	if (s->dev) {
		snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", s->dev);
		check(!ioctl(fd, SIOCSHWTSTAMP, &ifr), "hardware stamps of %s", s->dev);
	}
	set_int(fd, SOL_SOCKET, SO_RCVBUFFORCE, 512 << 20);
	set_int(fd, SOL_SOCKET, SO_TIMESTAMPING_NEW,
		SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE |
		SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE);
	check(!bind(fd, (struct sockaddr *)&any, sizeof(any)), "bind");
	return fd;
}

/* Datagrams @first and on, @n of them, to leave at their times. */
static void send_batch(int fd, const struct arrival *arrivals, uint32_t first, unsigned int n,
		       size_t size)
{
	static struct out {
		struct probe probe;
		struct iovec iov[2];
		char control[CMSG_SPACE(sizeof(uint64_t))];
	} out[BATCH];
	static struct mmsghdr msgs[BATCH];
	static char padding[MAX_FRAME];
	unsigned int i, done;
	int sent;

	for (i = 0; i < n; i++) {
		struct msghdr *msg = &msgs[i].msg_hdr;
		struct out *o = &out[i];
		struct cmsghdr *cm;

		o->probe.index = first + i;
		o->iov[0] = (struct iovec){ &o->probe, sizeof(o->probe) };
		o->iov[1] = (struct iovec){ padding, size - sizeof(o->probe) };
		*msg = (struct msghdr){
			.msg_iov = o->iov, .msg_iovlen = 2,
			.msg_control = o->control, .msg_controllen = sizeof(o->control),
		};
		cm = CMSG_FIRSTHDR(msg);
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_TXTIME;
		cm->cmsg_len = CMSG_LEN(sizeof(uint64_t));
		memcpy(CMSG_DATA(cm), &arrivals[first + i].sent_ns, sizeof(uint64_t));
	}
	for (done = 0; done < n; done += sent) {
		sent = sendmmsg(fd, msgs + done, n - done, 0);
		check(sent > 0, "send");
	}
}

static int64_t stamp_ns(const struct __kernel_timespec *ts)
{
	return ts->tv_sec * 1000000000LL + ts->tv_nsec;
}

/* Record an arrival; @offset_ns converts timestamps of the kernel to CLOCK_MONOTONIC. */
static void arrived(struct msghdr *msg, struct arrival *a, int64_t offset_ns)
{
	struct scm_timestamping64 stamps;
	struct cmsghdr *cm;

	for (cm = CMSG_FIRSTHDR(msg); cm; cm = CMSG_NXTHDR(msg, cm)) {
		if (cm->cmsg_level != SOL_SOCKET || cm->cmsg_type != SO_TIMESTAMPING_NEW)
			continue;
		memcpy(&stamps, CMSG_DATA(cm), sizeof(stamps));
		a->came_ns = stamp_ns(&stamps.ts[0]) - offset_ns;
		a->hw_ns = stamp_ns(&stamps.ts[2]);
	}
}

/* All that have come; those that do not are lost. */
static void receive(int fd, struct arrival *arrivals, uint64_t count)
{
	int64_t before_ns = clock_now(CLOCK_MONOTONIC);
	int64_t real_ns = clock_now(CLOCK_REALTIME);
	int64_t offset_ns = real_ns - (before_ns + clock_now(CLOCK_MONOTONIC)) / 2;
	static struct in {
		struct probe probe;
		struct iovec iov;
		char control[256];
	} in[BATCH];
	static struct mmsghdr msgs[BATCH];
	int n, i;

	do {
		for (i = 0; i < BATCH; i++) {
			in[i].iov = (struct iovec){ &in[i].probe, sizeof(in[i].probe) };
			msgs[i].msg_hdr = (struct msghdr){
				.msg_iov = &in[i].iov, .msg_iovlen = 1,
				.msg_control = in[i].control,
				.msg_controllen = sizeof(in[i].control),
			};
		}
		n = recvmmsg(fd, msgs, BATCH, MSG_DONTWAIT | MSG_TRUNC, NULL);
		check(n >= 0 || errno == EAGAIN, "receive");
		errno = 0;
		for (i = 0; i < n; i++) {
			check(msgs[i].msg_len >= sizeof(struct probe) &&
			      in[i].probe.index < count, "a datagram is none of ours");
			arrived(&msgs[i].msg_hdr, &arrivals[in[i].probe.index], offset_ns);
		}
	} while (n == BATCH);
}

static void run(int tx, int rx, const struct settings *s, struct arrival *arrivals)
{
	int64_t start = clock_now(CLOCK_MONOTONIC) + LEAD_NS, at;
	uint64_t state = s->seed * 2 + 1, i, n;
	double gap_ns = s->gap_ps / 1e3, after_ns = 0;
	struct timespec ts;

	for (i = 0; i < s->count;) {
		/* The next batch is handed over while this one is on its way. */
		for (n = 0; n < BATCH / 2 && i < s->count; n++, i++) {
			arrivals[i].sent_ns = start + (int64_t)after_ns;
			after_ns += s->poisson ? -log(uniform(&state)) * gap_ns : gap_ns;
		}
		send_batch(tx, arrivals, i - n, n, s->frame - HEADERS);
		at = i < s->count ? arrivals[i - n / 2].sent_ns :
				    arrivals[i - 1].sent_ns + (int64_t)s->wait_ms * 1000000;
		ts = (struct timespec){ at / 1000000000, at % 1000000000 };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		receive(rx, arrivals, s->count);
	}
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* One-way delays, in ns; and the rate of the hardware clock against the kernel's. */
static void report(FILE *f, const struct settings *s, const struct arrival *arrivals)
{
	const struct arrival *first = NULL, *last = NULL;
	int64_t *owd = calloc(s->count, sizeof(*owd));
	uint64_t i, n = 0;
	double sum = 0;

	check(owd, "memory");
	for (i = 0; i < s->count; i++) {
		const struct arrival *a = &arrivals[i];

		if (!a->came_ns)
			continue;
		if (!first || a->came_ns < first->came_ns)
			first = a;
		if (!last || a->came_ns > last->came_ns)
			last = a;
		owd[n] = a->came_ns - a->sent_ns;
		sum += owd[n++];
	}
	check(n > 0, "nothing arrived");
	qsort(owd, n, sizeof(*owd), compare);
	fprintf(f, "{\n\t\"sent\": %" PRIu64 ",\n\t\"received\": %" PRIu64 ",\n", s->count, n);
	fprintf(f, "\t\"owd_ns\": { \"mean\": %.3f, \"min\": %" PRId64 ", \"p50\": %" PRId64
		", \"p99\": %" PRId64 ", \"max\": %" PRId64 " },\n",
		sum / n, owd[0], owd[n / 2], owd[n * 99 / 100], owd[n - 1]);
	fprintf(f, "\t\"first_to_last_ns\": %" PRId64, last->came_ns - first->came_ns);
	if (first->hw_ns && last->hw_ns && last != first)
		fprintf(f, ",\n\t\"hw_clock_ppm\": %.6f",
			((double)(last->hw_ns - first->hw_ns) /
			 (last->came_ns - first->came_ns) - 1) * 1e6);
	fputs("\n}\n", f);
	free(owd);
}

static void series(FILE *f, const struct settings *s, const struct arrival *arrivals)
{
	uint64_t i;

	fputs("index,sent_ns,came_ns,hw_ns\n", f);
	for (i = 0; i < s->count; i++)
		fprintf(f, "%" PRIu64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "\n", i,
			arrivals[i].sent_ns, arrivals[i].came_ns, arrivals[i].hw_ns);
}

static void parse(struct settings *s, const char *word)
{
	const struct {
		const char *name;
		uint64_t *value;
		uint64_t min, max;
	} numbers[] = {
		{ "count", &s->count, 1, MAX_COUNT },
		{ "frame", &s->frame, HEADERS + sizeof(struct probe), MAX_FRAME },
		{ "gap_ps", &s->gap_ps, 0, 1000000000000 },
		{ "poisson", &s->poisson, 0, 1 },
		{ "tos", &s->tos, 0, 255 },
		{ "wait_ms", &s->wait_ms, 1, 10000 },
		{ "seed", &s->seed, 0, INT64_MAX },
	};
	const struct {
		const char *name;
		const char **value;
	} texts[] = { { "dev", &s->dev }, { "json", &s->json }, { "csv", &s->csv } };
	const char *value = strchr(word, '=');
	char *end;
	size_t i, len;

	errno = 0;
	check(value++, "'%s': expected NAME=VALUE", word);
	len = value - 1 - word;
	for (i = 0; i < ARRAY_SIZE(texts); i++)
		if (strlen(texts[i].name) == len && !strncmp(texts[i].name, word, len)) {
			*texts[i].value = value;
			return;
		}
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		uint64_t v;

		if (strlen(numbers[i].name) != len || strncmp(numbers[i].name, word, len))
			continue;
		v = strtoull(value, &end, 10);
		check(*value >= '0' && *value <= '9' && !*end && v >= numbers[i].min &&
		      v <= numbers[i].max, "%s must be from %" PRIu64 " to %" PRIu64
		      ", not '%s'", numbers[i].name, numbers[i].min, numbers[i].max, value);
		*numbers[i].value = v;
		return;
	}
	check(false, "unknown setting '%s'", word);
}

static void write_to(const char *path, const struct settings *s, const struct arrival *a,
		     void (*print)(FILE *, const struct settings *, const struct arrival *))
{
	FILE *f = fopen(path, "w");

	check(f, "%s", path);
	print(f, s, a);
	check(!fclose(f), "%s", path);
}

int main(int argc, char **argv)
{
	struct settings s = { .count = 1000, .frame = 1514, .wait_ms = 100, .seed = 1 };
	struct arrival *arrivals;
	int tx, rx, i;

	errno = 0;
	check(argc >= 4, "usage: udptrain FROM TO ADDR [NAME=VALUE]...");
	for (i = 4; i < argc; i++)
		parse(&s, argv[i]);
	arrivals = calloc(s.count, sizeof(*arrivals));
	check(arrivals, "memory");
	rx = receiver(argv[2], &s);
	tx = sender(argv[1], argv[3], &s);
	run(tx, rx, &s, arrivals);
	if (s.json)
		write_to(s.json, &s, arrivals, report);
	else
		report(stdout, &s, arrivals);
	if (s.csv)
		write_to(s.csv, &s, arrivals, series);
	free(arrivals);
	return 0;
}
