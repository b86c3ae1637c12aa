// SPDX-License-Identifier: GPL-2.0
/*
 * onramp_helper FROM TO ADDRESS [wait=MS] GROUP...
 *
 * Sends UDP datagrams from the network namespace FROM to ADDRESS in TO, and says which
 * of them arrived there, in the order in which they did. A GROUP begins with its name:
 *
 *	group=NAME	one socket, and so one flow
 *	n=N		datagrams (1)
 *	len=BYTES	payload of each (1000)
 *	at=US		leave so long after the start, by SO_TXTIME; negative: in the past
 *	step=US		and each so much later than the one before
 *	prio=N		SO_PRIORITY
 *	tos=N		IP_TOS, such as 2 for ECT(0)
 *	rate=BYTES	SO_MAX_PACING_RATE, bytes per second
 *	ports=N		not connected: to so many ports in turn, of which one is received
 *	sport=N		from this port
 *
 * Groups are sent one after the other, or with mix=1 one datagram of each in turn.
 * Standard output has for each datagram: its group, its number in there from 0, when it
 * arrived in microseconds after the start, and its TOS. With wait= it ends when nothing
 * has come for so long (1000); wait=0 receives nothing.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <linux/net_tstamp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "../lib/netns.h"

#define PORT		7000
#define GROUPS		256
#define PAYLOAD_MAX	60000
#define NO_TIME		LLONG_MIN

struct group {
	const char *name;
	int fd;
	long n, len, prio, tos, ports, sport;
	long long at_us, step_us;
	unsigned long rate;
};

struct payload {
	unsigned int group;
	unsigned int seq;
};

static struct group groups[GROUPS];
static int n_groups;
static long wait_ms = 1000, mix;

static void die(const char *format, ...)
{
	int err = errno;
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, ": %s\n", strerror(err));
	exit(1);
}

static long long now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void option(int fd, int level, int name, const void *value, socklen_t len)
{
	if (setsockopt(fd, level, name, value, len))
		die("setsockopt %d %d", level, name);
}

static void option_int(int fd, int level, int name, int value)
{
	option(fd, level, name, &value, sizeof(value));
}

static void parse(int argc, char **argv)
{
	struct group *g = NULL;
	int i;

	for (i = 0; i < argc; i++) {
		char *value = strchr(argv[i], '=');
		long long number;

		if (!value) {
			errno = EINVAL;
			die("%s", argv[i]);
		}
		*value++ = '\0';
		number = strtoll(value, NULL, 0);
		if (!strcmp(argv[i], "wait")) {
			wait_ms = number;
		} else if (!strcmp(argv[i], "mix")) {
			mix = number;
		} else if (!strcmp(argv[i], "group") && n_groups < GROUPS) {
			g = &groups[n_groups++];
			*g = (struct group){ .name = value, .n = 1, .len = 1000,
					     .at_us = NO_TIME };
		} else if (g && !strcmp(argv[i], "n")) {
			g->n = number;
		} else if (g && !strcmp(argv[i], "len") && number <= PAYLOAD_MAX) {
			g->len = number;
		} else if (g && !strcmp(argv[i], "at")) {
			g->at_us = number;
		} else if (g && !strcmp(argv[i], "step")) {
			g->step_us = number;
		} else if (g && !strcmp(argv[i], "prio")) {
			g->prio = number;
		} else if (g && !strcmp(argv[i], "tos")) {
			g->tos = number;
		} else if (g && !strcmp(argv[i], "rate")) {
			g->rate = number;
		} else if (g && !strcmp(argv[i], "ports")) {
			g->ports = number;
		} else if (g && !strcmp(argv[i], "sport")) {
			g->sport = number;
		} else {
			errno = EINVAL;
			die("%s=%s", argv[i], value);
		}
	}
}

static int receiver(const char *address)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, address, &sin.sin_addr);
	option_int(fd, SOL_SOCKET, SO_RCVBUFFORCE, 1 << 28);
	option_int(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
	option_int(fd, IPPROTO_IP, IP_RECVTOS, 1);
	if (bind(fd, (struct sockaddr *)&sin, sizeof(sin)))
		die("bind");
	return fd;
}

static void sender(struct group *g, const struct sockaddr_in *to)
{
	struct sock_txtime txtime = { .clockid = CLOCK_MONOTONIC };
	struct sockaddr_in from = { .sin_family = AF_INET, .sin_port = htons(g->sport) };

	g->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (g->fd < 0)
		die("socket");
	option_int(g->fd, SOL_SOCKET, SO_SNDBUFFORCE, 1 << 28);
	if (g->tos)
		option_int(g->fd, IPPROTO_IP, IP_TOS, g->tos);
	option_int(g->fd, SOL_SOCKET, SO_PRIORITY, g->prio);
	if (g->rate)
		option(g->fd, SOL_SOCKET, SO_MAX_PACING_RATE, &g->rate, sizeof(g->rate));
	if (g->at_us != NO_TIME)
		option(g->fd, SOL_SOCKET, SO_TXTIME, &txtime, sizeof(txtime));
	if (g->sport && bind(g->fd, (struct sockaddr *)&from, sizeof(from)))
		die("bind");
	if (!g->ports && connect(g->fd, (const struct sockaddr *)to, sizeof(*to)))
		die("connect");
}

static void send_one(const struct group *g, unsigned int seq, const struct sockaddr_in *to,
		     long long start_ns)
{
	static char data[PAYLOAD_MAX];
	struct payload head = { .group = g - groups, .seq = seq };
	char control[CMSG_SPACE(sizeof(unsigned long long))] = {};
	struct iovec iov = { .iov_base = data, .iov_len = g->len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct sockaddr_in port = *to;

	memcpy(data, &head, sizeof(head));
	if (g->at_us != NO_TIME) {
		unsigned long long at_ns = start_ns + (g->at_us + seq * g->step_us) * 1000;
		struct cmsghdr *cm;

		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		cm = CMSG_FIRSTHDR(&msg);
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_TXTIME;
		cm->cmsg_len = CMSG_LEN(sizeof(at_ns));
		memcpy(CMSG_DATA(cm), &at_ns, sizeof(at_ns));
	}
	if (g->ports) {
		port.sin_port = htons(PORT + seq % g->ports);
		msg.msg_name = &port;
		msg.msg_namelen = sizeof(port);
	}
	/* A full qdisc is an error of send() with IP_RECVERR only; ICMP's are left alone. */
	if (sendmsg(g->fd, &msg, 0) < 0 && errno != ECONNREFUSED && errno != ENOBUFS)
		die("send");
}

static void send_all(const struct sockaddr_in *to, long long start_ns)
{
	unsigned int seq;
	int i, left;

	if (mix) {
		for (seq = 0, left = 1; left; seq++) {
			for (i = left = 0; i < n_groups; i++) {
				if (seq < groups[i].n) {
					send_one(&groups[i], seq, to, start_ns);
					left = 1;
				}
			}
		}
		return;
	}
	for (i = 0; i < n_groups; i++)
		for (seq = 0; seq < groups[i].n; seq++)
			send_one(&groups[i], seq, to, start_ns);
}

static int receive_one(int fd, long long start_real_ns)
{
	struct payload head;
	char control[256];
	struct iovec iov = { .iov_base = &head, .iov_len = sizeof(head) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	long long at_ns = 0;
	struct cmsghdr *cm;
	int tos = 0;

	if (recvmsg(fd, &msg, 0) < (ssize_t)sizeof(head))
		return 0;
	for (cm = CMSG_FIRSTHDR(&msg); cm; cm = CMSG_NXTHDR(&msg, cm)) {
		if (cm->cmsg_level == SOL_SOCKET && cm->cmsg_type == SO_TIMESTAMPNS) {
			struct timespec ts;

			memcpy(&ts, CMSG_DATA(cm), sizeof(ts));
			at_ns = ts.tv_sec * 1000000000LL + ts.tv_nsec;
		} else if (cm->cmsg_level == IPPROTO_IP && cm->cmsg_type == IP_TOS) {
			tos = *(unsigned char *)CMSG_DATA(cm);
		}
	}
	if (head.group >= (unsigned int)n_groups)
		return 1;
	printf("%s %u %lld %d\n", groups[head.group].name, head.seq,
	       (at_ns - start_real_ns) / 1000, tos);
	return 1;
}

static void receive_all(int fd, long long start_real_ns)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	while (poll(&pfd, 1, wait_ms) > 0)
		while (receive_one(fd, start_real_ns))
			;
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	long long start_ns, start_real_ns;
	int i, fd;

	if (argc < 4 || inet_pton(AF_INET, argv[3], &to.sin_addr) != 1) {
		fprintf(stderr, "usage: onramp_helper FROM TO ADDRESS [wait=MS] [mix=1] group=NAME [KEY=VALUE]...\n");
		return 2;
	}
	parse(argc - 4, argv + 4);
	netns_enter(argv[2]);
	fd = receiver(argv[3]);
	netns_enter(argv[1]);
	for (i = 0; i < n_groups; i++)
		sender(&groups[i], &to);
	start_ns = now_ns(CLOCK_MONOTONIC);
	start_real_ns = now_ns(CLOCK_REALTIME);
	send_all(&to, start_ns);
	if (wait_ms)
		receive_all(fd, start_real_ns);
	return 0;
}
