// SPDX-License-Identifier: GPL-2.0
/*
 * What the tests of labnic need and no shell command does.
 *
 *	labnic_helper udp NETNS ADDR DEV NETNS ADDR DEV [NAME=VALUE]...
 *		send datagrams from the first end to the second, with time stamps,
 *		and print what became of them, "name value" on each line
 *		  count=N	datagrams (100)
 *		  size=BYTES	of each (1472)
 *		  gso=N		so many in one write, for the NIC to cut (1)
 *		  gap_us=US	between writes (0)
 *		  hw=0|1	hardware stamps (1)
 *		  wait_ms=MS	silence that ends it (200)
 *	labnic_helper flood NETNS ADDR US
 *		send datagrams for ever, whatever happens to them, eight and then a pause
 *	labnic_helper phc N
 *		/dev/ptpN and CLOCK_MONOTONIC_RAW at one instant, in ns
 *	labnic_helper hits SEED STREAM PPB N
 *		how many of N draws are hits
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/ptp_clock.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "labnic_core.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT	103
#endif

#define PORT		7000
#define MAX_COUNT	1000000

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static void check(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static void enter(const char *netns)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(path, O_RDONLY);
	check(fd >= 0, path);
	check(!setns(fd, CLONE_NEWNET), "setns");
	close(fd);
}

static struct sockaddr_in address(const char *text)
{
	struct sockaddr_in sa = { .sin_family = AF_INET, .sin_port = htons(PORT) };

	check(inet_pton(AF_INET, text, &sa.sin_addr) == 1, text);
	return sa;
}

static void hwtstamp(int fd, const char *dev)
{
	struct hwtstamp_config config = {
		.tx_type = HWTSTAMP_TX_ON,
		.rx_filter = HWTSTAMP_FILTER_ALL,
	};
	struct ifreq ifr = { .ifr_data = (void *)&config };

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", dev);
	check(!ioctl(fd, SIOCSHWTSTAMP, &ifr), "SIOCSHWTSTAMP");
	check(config.rx_filter == HWTSTAMP_FILTER_ALL, "RX filter");
}

/* A socket in a namespace, bound to ADDR. */
static int open_socket(const char *netns, const char *addr, const char *dev, int stamps, int hw)
{
	struct sockaddr_in sa = address(addr);
	int big = 512 << 20, fd;

	enter(netns);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	check(fd >= 0, "socket");
	check(!bind(fd, (void *)&sa, sizeof(sa)), "bind");
	check(!setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &big, sizeof(big)), "SO_RCVBUFFORCE");
	check(!setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &big, sizeof(big)), "SO_SNDBUFFORCE");
	if (hw)
		hwtstamp(fd, dev);
	check(!setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &stamps, sizeof(stamps)),
	      "SO_TIMESTAMPING");
	return fd;
}

struct record {
	s64 tx_hw, rx_hw;
	int arrived;
};

static struct record *records;

static struct result {
	u64 sent, received, duplicates, late;
	u64 tx_hw, tx_sw, rx_hw;
	u64 tx_disorder, rx_disorder;
	s64 first_rx, last_rx;
	s64 last_seq, last_id;
} result = { .last_seq = -1, .last_id = -1 };

static s64 to_ns(const struct timespec *ts)
{
	return ts->tv_sec * 1000000000LL + ts->tv_nsec;
}

static const struct scm_timestamping *find_stamps(struct msghdr *msg, s64 *id)
{
	const struct scm_timestamping *stamps = NULL;
	struct cmsghdr *c;

	*id = -1;
	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPING)
			stamps = (void *)CMSG_DATA(c);
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR)
			*id = ((struct sock_extended_err *)CMSG_DATA(c))->ee_data;
	}
	return stamps;
}

/* Take one message; returns whether there was one. */
static int take(int fd, int flags)
{
	static char data[65536];
	char control[512];
	struct iovec iov = { data, sizeof(data) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	const struct scm_timestamping *stamps;
	u32 seq;
	s64 id;

	if (recvmsg(fd, &msg, flags) < 0)
		return 0;
	stamps = find_stamps(&msg, &id);
	if (flags & MSG_ERRQUEUE) {
		if (!stamps || id < 0 || id >= MAX_COUNT)
			return 1;
		if (stamps->ts[2].tv_sec || stamps->ts[2].tv_nsec) {
			result.tx_hw++;
			records[id].tx_hw = to_ns(&stamps->ts[2]);
			result.tx_disorder += id < result.last_id;
			result.last_id = id;
		} else if (stamps->ts[0].tv_sec || stamps->ts[0].tv_nsec) {
			result.tx_sw++;
		}
		return 1;
	}
	memcpy(&seq, data, sizeof(seq));
	if (seq >= MAX_COUNT)
		return 1;
	result.received++;
	result.duplicates += records[seq].arrived++ > 0;
	result.late += seq < result.last_seq;
	result.last_seq = seq;
	if (stamps && (stamps->ts[2].tv_sec || stamps->ts[2].tv_nsec)) {
		s64 ns = to_ns(&stamps->ts[2]);

		result.rx_hw++;
		records[seq].rx_hw = ns;
		if (!result.first_rx)
			result.first_rx = ns;
		result.rx_disorder += ns <= result.last_rx;
		result.last_rx = ns;
	}
	return 1;
}

static int cmd_udp(int argc, char **argv)
{
	int count = 100, size = 1472, gso = 1, gap_us = 0, hw = 1, wait_ms = 200;
	struct { const char *name; int *value; } options[] = {
		{ "count", &count }, { "size", &size }, { "gso", &gso }, { "gap_us", &gap_us },
		{ "hw", &hw }, { "wait_ms", &wait_ms },
	};
	int stamps = SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE |
		     SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_TX_SOFTWARE |
		     SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_ID |
		     SOF_TIMESTAMPING_OPT_TSONLY | SOF_TIMESTAMPING_OPT_CMSG;
	s64 owd, owd_min = INT64_MAX, owd_max = INT64_MIN;
	struct sockaddr_in to;
	struct pollfd fds[2];
	char *data;
	int i, j, a, b;

	check(argc >= 8, "udp: too few arguments");
	for (i = 8; i < argc; i++) {
		char *equal = strchr(argv[i], '=');
		size_t k;

		for (k = 0; equal && k < ARRAY_SIZE(options); k++)
			if (!strncmp(argv[i], options[k].name, equal - argv[i]) &&
			    !options[k].name[equal - argv[i]])
				break;
		if (!equal || k == ARRAY_SIZE(options)) {
			fprintf(stderr, "unknown option %s\n", argv[i]);
			return 1;
		}
		*options[k].value = atoi(equal + 1);
	}
	check(count > 0 && count <= MAX_COUNT && gso > 0 && size >= 4 && size * gso <= 65000,
	      "udp: value out of range");
	records = calloc(MAX_COUNT, sizeof(*records));
	data = calloc(gso, size);
	check(records && data, "memory");
	a = open_socket(argv[2], argv[3], argv[4], stamps, hw);
	b = open_socket(argv[5], argv[6], argv[7], stamps, hw);
	to = address(argv[6]);
	check(!connect(a, (void *)&to, sizeof(to)), "connect");
	if (gso > 1)
		check(!setsockopt(a, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size)), "UDP_SEGMENT");

	for (i = 0; i < count; i += gso) {
		for (j = 0; j < gso; j++) {
			u32 seq = i + j;

			memcpy(data + j * size, &seq, sizeof(seq));
		}
		while (send(a, data, size * gso, 0) < 0) {
			check(errno == EAGAIN || errno == ENOBUFS, "send");
			usleep(100);
		}
		result.sent += gso;
		while (take(b, 0))
			;
		if (gap_us)
			usleep(gap_us);
		while (take(a, MSG_ERRQUEUE))
			;
	}
	fds[0] = (struct pollfd){ .fd = a, .events = 0 };
	fds[1] = (struct pollfd){ .fd = b, .events = POLLIN };
	while (poll(fds, 2, wait_ms) > 0)
		while (take(b, 0) | take(a, MSG_ERRQUEUE))
			;
	for (i = 0; i < count; i++) {
		if (!records[i].tx_hw || !records[i].rx_hw)
			continue;
		owd = records[i].rx_hw - records[i].tx_hw;
		owd_min = owd < owd_min ? owd : owd_min;
		owd_max = owd > owd_max ? owd : owd_max;
	}
	printf("sent %" PRIu64 "\nreceived %" PRIu64 "\nduplicates %" PRIu64 "\nlate %" PRIu64
	       "\ntx_hw %" PRIu64 "\ntx_sw %" PRIu64 "\nrx_hw %" PRIu64
	       "\ntx_disorder %" PRIu64 "\nrx_disorder %" PRIu64 "\nspan_ns %" PRId64 "\n",
	       result.sent, result.received, result.duplicates, result.late, result.tx_hw,
	       result.tx_sw, result.rx_hw, result.tx_disorder, result.rx_disorder,
	       result.last_rx - result.first_rx);
	if (owd_min <= owd_max)
		printf("owd_min_ns %" PRId64 "\nowd_max_ns %" PRId64 "\n", owd_min, owd_max);
	return 0;
}

static int __attribute__((noreturn)) cmd_flood(int argc, char **argv)
{
	struct sockaddr_in to;
	char data[1400] = {};
	int fd, i;

	check(argc == 5, "flood: NETNS ADDR US");
	enter(argv[2]);
	to = address(argv[3]);
	for (;;) {
		fd = socket(AF_INET, SOCK_DGRAM, 0);
		check(fd >= 0, "socket");
		for (i = 0; i < 8; i++)
			sendto(fd, data, sizeof(data), 0, (void *)&to, sizeof(to));
		close(fd);
		usleep(strtoul(argv[4], NULL, 0));
	}
}

static int cmd_phc(int argc, char **argv)
{
	struct ptp_sys_offset_precise offset = {};
	char path[64];
	int fd;

	check(argc == 3, "phc: N");
	snprintf(path, sizeof(path), "/dev/ptp%s", argv[2]);
	fd = open(path, O_RDWR);
	check(fd >= 0, path);
	check(!ioctl(fd, PTP_SYS_OFFSET_PRECISE, &offset), "PTP_SYS_OFFSET_PRECISE");
	printf("%lld %lld\n",
	       (long long)offset.device.sec * 1000000000LL + offset.device.nsec,
	       (long long)offset.sys_monoraw.sec * 1000000000LL + offset.sys_monoraw.nsec);
	return 0;
}

static int cmd_hits(int argc, char **argv)
{
	struct labnic_rng rng;
	long long n, hits = 0;

	check(argc == 6, "hits: SEED STREAM PPB N");
	labnic_rng_seed(&rng, strtoull(argv[2], NULL, 0), strtoul(argv[3], NULL, 0));
	for (n = atoll(argv[5]); n > 0; n--)
		hits += labnic_rng_hit(&rng, strtoull(argv[4], NULL, 0));
	printf("%lld\n", hits);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} commands[] = {
		{ "udp", cmd_udp }, { "flood", cmd_flood }, { "phc", cmd_phc },
		{ "hits", cmd_hits },
	};
	size_t i;

	for (i = 0; argc > 1 && i < ARRAY_SIZE(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc, argv);
	fprintf(stderr, "usage: labnic_helper udp|flood|phc|hits ...\n");
	return 1;
}
