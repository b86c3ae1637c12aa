// SPDX-License-Identifier: GPL-2.0
/*
 * Plays a switch that sends CNPs, good and bad ones, for the tests of tcp_dcqcn.
 *
 *	dcqcn_helper FROM TO SPORT DPORT [OPTION]...
 *		from UDP port 299 of the address FROM to the sender of data TO, about the
 *		connection from TO, port SPORT, to FROM, port DPORT
 *	dcqcn_helper hold ADDRESS
 *		has the UDP port, as any program might, until it is ended
 *	dcqcn_helper sink ADDRESS PORT
 *		sends a byte on each TCP connection to there, and reads all it gets
 *	dcqcn_helper own ADDRESS PORT write|read [CC]
 *		sends to a sink with mercury, writes its own port, then has the socket in use from
 *		within write() or read(), until there is a line to read; if CC is given, it chooses
 *		that then; writes cwnd, and waits for another line
 *
 * Options, and their defaults:
 *
 *	window=BYTES	30000
 *	hold=US		1000000
 *	switch=N	1
 *	count=N		the time, us
 *	key=N		1; all bytes but the last are 0
 *	times=N		1; each has a count of its own
 *	sender=ADDRESS receiver=ADDRESS		of the flow
 *	flip=N		changes this byte of the message after it was signed
 *	len=N		sends this many bytes of it
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "or_proto.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static unsigned long long window = 30000, hold = 1000000, from_switch = 1, count, key = 1;
static unsigned long long times = 1, flip = -1ULL, len = -1ULL;
static const char *sender, *receiver;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static socklen_t parse(const char *text, struct sockaddr_storage *addr)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)addr;
	struct sockaddr_in *sin = (struct sockaddr_in *)addr;

	memset(addr, 0, sizeof(*addr));
	/* Ports have the same place in both kinds of address. */
	sin->sin_port = htons(OR_PORT);
	if (inet_pton(AF_INET, text, &sin->sin_addr) == 1) {
		sin->sin_family = AF_INET;
		return sizeof(*sin);
	}
	if (inet_pton(AF_INET6, text, &sin6->sin6_addr) == 1) {
		sin6->sin6_family = AF_INET6;
		return sizeof(*sin6);
	}
	fprintf(stderr, "dcqcn_helper: '%s' is no address\n", text);
	exit(2);
}

static int open_port(const char *address, struct sockaddr_storage *addr)
{
	socklen_t addrlen = parse(address, addr);
	int sock = socket(addr->ss_family, SOCK_DGRAM, 0);

	if (sock < 0 || bind(sock, (struct sockaddr *)addr, addrlen))
		die(address);
	return sock;
}

/* The address of a flow; its version. */
static int flow_address(u8 *to, const char *text)
{
	struct sockaddr_storage addr;

	parse(text, &addr);
	if (addr.ss_family == AF_INET) {
		memcpy(to, &((struct sockaddr_in *)&addr)->sin_addr, 4);
		return 4;
	}
	memcpy(to, &((struct sockaddr_in6 *)&addr)->sin6_addr, 16);
	return 6;
}

static void parse_options(char **argv)
{
	static const struct {
		const char *name;
		unsigned long long *value;
	} options[] = {
		{ "window=", &window }, { "hold=", &hold }, { "switch=", &from_switch },
		{ "count=", &count }, { "key=", &key }, { "times=", &times },
		{ "flip=", &flip }, { "len=", &len },
	};
	size_t i;

	for (; *argv; argv++) {
		for (i = 0; i < ARRAY_SIZE(options); i++) {
			size_t n = strlen(options[i].name);

			if (!strncmp(*argv, options[i].name, n)) {
				*options[i].value = strtoull(*argv + n, NULL, 0);
				break;
			}
		}
		if (i < ARRAY_SIZE(options))
			continue;
		if (!strncmp(*argv, "sender=", 7)) {
			sender = *argv + 7;
		} else if (!strncmp(*argv, "receiver=", 9)) {
			receiver = *argv + 9;
		} else {
			fprintf(stderr, "dcqcn_helper: what is '%s'?\n", *argv);
			exit(2);
		}
	}
}

static void *sink_one(void *arg)
{
	int sock = (int)(long)arg;
	char buf[4096];

	if (write(sock, "", 1) == 1)
		while (read(sock, buf, sizeof(buf)) > 0)
			;
	close(sock);
	return NULL;
}

static int sink(const char *address, const char *port)
{
	struct sockaddr_storage addr;
	socklen_t addrlen = parse(address, &addr);
	int sock = socket(addr.ss_family, SOCK_STREAM, 0), one = 1, conn;
	pthread_t thread;

	((struct sockaddr_in *)&addr)->sin_port = htons((u16)atoi(port));
	/* Without ECN on both sides, mercury would fall back. */
	if (sock < 0 || setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    setsockopt(sock, IPPROTO_TCP, TCP_CONGESTION, "mercury", 7) ||
	    bind(sock, (struct sockaddr *)&addr, addrlen) || listen(sock, 4))
		die(address);
	while ((conn = accept(sock, NULL, NULL)) >= 0)
		if (pthread_create(&thread, NULL, sink_one, (void *)(long)conn))
			die("pthread_create");
	return 0;
}

/* What own() does meanwhile. */
struct owner {
	int sock, fault;
	void *page;
	int writes;
	long size;
};

static void *use_socket(void *arg)
{
	struct owner *o = arg;

	/* The page is absent: the kernel waits for it with the socket locked. */
	if ((o->writes ? send(o->sock, o->page, (size_t)o->size, 0) :
	     recv(o->sock, o->page, (size_t)o->size, 0)) < 1)
		die("own");
	return NULL;
}

static int own(char **argv)
{
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_api api = { .api = UFFD_API };
	struct sockaddr_storage addr;
	socklen_t addrlen = parse(argv[0], &addr), size = sizeof(addr);
	struct uffdio_zeropage zero = { 0 };
	static char data[200000];
	struct tcp_info info;
	struct uffd_msg fault;
	struct owner o = { .writes = !strcmp(argv[2], "write") };
	const char *cc = argv[3];
	pthread_t thread;
	char line[16];
	int queued;

	o.size = sysconf(_SC_PAGESIZE);
	o.sock = socket(addr.ss_family, SOCK_STREAM, 0);
	((struct sockaddr_in *)&addr)->sin_port = htons((u16)atoi(argv[1]));
	if (o.sock < 0 || setsockopt(o.sock, IPPROTO_TCP, TCP_CONGESTION, "mercury", 7) ||
	    connect(o.sock, (struct sockaddr *)&addr, addrlen) ||
	    send(o.sock, data, sizeof(data), 0) != sizeof(data) ||
	    getsockname(o.sock, (struct sockaddr *)&addr, &size))
		die("connection");
	/* All is acknowledged: nothing moves but by us. */
	do {
		usleep(1000);
		if (ioctl(o.sock, TIOCOUTQ, &queued))
			die("TIOCOUTQ");
	} while (queued);

	o.fault = (int)syscall(__NR_userfaultfd, O_CLOEXEC);
	o.page = mmap(NULL, (size_t)o.size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	reg.range.start = (unsigned long)o.page;
	reg.range.len = (unsigned long)o.size;
	if (o.fault < 0 || o.page == MAP_FAILED || ioctl(o.fault, UFFDIO_API, &api) ||
	    ioctl(o.fault, UFFDIO_REGISTER, &reg) ||
	    pthread_create(&thread, NULL, use_socket, &o))
		die("userfaultfd");
	if (read(o.fault, &fault, sizeof(fault)) != sizeof(fault))
		die("fault");
	printf("%u\n", ntohs(((struct sockaddr_in *)&addr)->sin_port));
	fflush(stdout);

	if (!fgets(line, sizeof(line), stdin))
		return 1;
	zero.range = reg.range;
	if (ioctl(o.fault, UFFDIO_ZEROPAGE, &zero) || pthread_join(thread, NULL))
		die("UFFDIO_ZEROPAGE");
	size = sizeof(info);
	if ((cc && setsockopt(o.sock, IPPROTO_TCP, TCP_CONGESTION, cc, (socklen_t)strlen(cc))) ||
	    getsockopt(o.sock, IPPROTO_TCP, TCP_INFO, &info, &size))
		die("TCP_INFO");
	printf("%u\n", info.tcpi_snd_cwnd);
	fflush(stdout);
	return !fgets(line, sizeof(line), stdin);
}

int main(int argc, char **argv)
{
	struct sockaddr_storage from, to;
	u8 msg[256] = { 0 }, k[OR_KEY_LEN] = { 0 };
	struct or_cnp cnp = { .protocol = OR_PROTO_TCP };
	struct timespec now;
	socklen_t addrlen;
	int sock;

	if (argc == 3 && !strcmp(argv[1], "hold")) {
		open_port(argv[2], &from);
		pause();
		return 0;
	}
	if (argc == 4 && !strcmp(argv[1], "sink"))
		return sink(argv[2], argv[3]);
	if ((argc == 5 || argc == 6) && !strcmp(argv[1], "own"))
		return own(argv + 2);
	if (argc < 5) {
		fprintf(stderr, "usage: dcqcn_helper FROM TO SPORT DPORT [OPTION]...\n");
		return 2;
	}
	parse_options(argv + 5);
	sock = open_port(argv[1], &from);
	addrlen = parse(argv[2], &to);
	cnp.pair.version = (u8)flow_address(cnp.pair.sender, sender ? sender : argv[2]);
	flow_address(cnp.pair.receiver, receiver ? receiver : argv[1]);
	cnp.sport = (u16)strtoul(argv[3], NULL, 0);
	cnp.dport = (u16)strtoul(argv[4], NULL, 0);
	cnp.window = (u32)window;
	cnp.hold_us = (u32)hold;
	cnp.from = (u16)from_switch;
	k[OR_KEY_LEN - 1] = (u8)key;
	if (!count) {
		clock_gettime(CLOCK_REALTIME, &now);
		count = now.tv_sec * 1000000ULL + now.tv_nsec / 1000;
	}
	for (; times--; count++) {
		size_t size;

		cnp.count = count;
		size = or_cnp_encode(&cnp, msg);
		or_sign(msg, size, k);
		if (flip < sizeof(msg))
			msg[flip] ^= 1;
		if (len < sizeof(msg))
			size = len;
		if (sendto(sock, msg, size, 0, (struct sockaddr *)&to, addrlen) < 0)
			die("sendto");
	}
	return 0;
}
