// SPDX-License-Identifier: GPL-2.0
/*
 * What the tests of tcp_timely need of the socket API and cannot do from a
 * shell. One subcommand each, see the table at the end. Every subcommand exits
 * with 0 if all it did succeeded, and names what failed otherwise.
 *
 * ADDR is a numeric address, IPv4 or IPv6. READY is a file that is created when
 * the subcommand is where it waits to be killed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/inet_diag.h>
#include <linux/sockios.h>
#include <linux/types.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../lib/netns.h"

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP	262
#endif

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define BLOCK		65536
#define STAGE_CHUNK	(1U << 20)
#define CC_MAX		16
#define IO_TIMEOUT_MS	30000	/* no progress for so long is a failure */

struct addr {
	struct sockaddr_storage ss;
	socklen_t len;
};

static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, " (%s)\n", strerror(err));
	exit(1);
}

static unsigned long number(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (!*text || *end) {
		errno = EINVAL;
		die("not all of '%s' is digits", text);
	}
	return n;
}

static struct addr address(const char *text, const char *port)
{
	struct addr a = { .len = 0 };
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)&a.ss;
	struct sockaddr_in *sin = (struct sockaddr_in *)&a.ss;

	if (inet_pton(AF_INET, text, &sin->sin_addr) == 1) {
		sin->sin_family = AF_INET;
		sin->sin_port = htons(number(port));
		a.len = sizeof(*sin);
	} else if (inet_pton(AF_INET6, text, &sin6->sin6_addr) == 1) {
		sin6->sin6_family = AF_INET6;
		sin6->sin6_port = htons(number(port));
		a.len = sizeof(*sin6);
	} else {
		errno = EINVAL;
		die("'%s' is neither IPv4 nor IPv6", text);
	}
	return a;
}

static int new_socket(int family, int protocol)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, protocol);

	if (fd < 0)
		die("socket");
	return fd;
}

static void set_int(int fd, int level, int option, int value, const char *name)
{
	if (setsockopt(fd, level, option, &value, sizeof(value)))
		die("setsockopt %s", name);
}

/* "-": whatever is the default. */
static void set_cc(int fd, const char *cc)
{
	if (!strcmp(cc, "-"))
		return;
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
		die("setsockopt TCP_CONGESTION %s", cc);
}

static void want_cc(int fd, const char *cc)
{
	char got[CC_MAX + 1] = "";
	socklen_t len = CC_MAX;

	if (!strcmp(cc, "-"))
		return;
	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, got, &len))
		die("getsockopt TCP_CONGESTION");
	errno = 0;
	if (strcmp(got, cc))
		die("the socket uses %s, not %s", got, cc);
}

/* A congestion control set on one socket, ready to be connected. */
static int cc_socket(const struct addr *a, const char *cc)
{
	int fd = new_socket(a->ss.ss_family, IPPROTO_TCP);

	set_cc(fd, cc);
	return fd;
}

static void do_connect(int fd, const struct addr *a)
{
	if (connect(fd, (const struct sockaddr *)&a->ss, a->len))
		die("connect");
}

static int do_listen(int fd, struct addr *a)
{
	set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
	if (bind(fd, (struct sockaddr *)&a->ss, a->len))
		die("bind");
	if (listen(fd, 4096))
		die("listen");
	if (getsockname(fd, (struct sockaddr *)&a->ss, &a->len))
		die("getsockname");
	return fd;
}

static int do_accept(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		die("accept");
	return fd;
}

static void wait_io(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	if (poll(&p, 1, IO_TIMEOUT_MS) <= 0) {
		errno = ETIMEDOUT;
		die("no progress for %d ms", IO_TIMEOUT_MS);
	}
}

static void send_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN) {
			wait_io(fd, POLLOUT);
			continue;
		}
		if (n < 0)
			die("send");
		data += n;
		len -= n;
	}
}

static void send_zeros(int fd, unsigned long bytes)
{
	static const char zeros[BLOCK];

	while (bytes) {
		size_t len = bytes < BLOCK ? bytes : BLOCK;

		send_all(fd, zeros, len);
		bytes -= len;
	}
}

static void sleep_ms(unsigned long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

/* Until everything written has been acknowledged. */
static void drain(int fd)
{
	int queued, last = -1, waited_ms = 0;

	for (;;) {
		if (ioctl(fd, SIOCOUTQ, &queued))
			die("SIOCOUTQ");
		if (!queued)
			return;
		waited_ms = queued == last ? waited_ms + 1 : 0;
		last = queued;
		if (waited_ms > IO_TIMEOUT_MS) {
			errno = ETIMEDOUT;
			die("%d bytes are not acknowledged", queued);
		}
		sleep_ms(1);
	}
}

static void ready(const char *file)
{
	int fd = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

	if (fd < 0)
		die("cannot create %s", file);
	close(fd);
}

static void __attribute__((noreturn)) wait_forever(void)
{
	for (;;)
		pause();
}

/* xorshift64*: a stream that a receiver can check without being sent it twice. */
static void fill_pattern(__u64 *state, char *data, size_t len)
{
	__u64 x = *state;
	size_t i;

	for (i = 0; i + sizeof(x) <= len; i += sizeof(x)) {
		x ^= x >> 12;
		x ^= x << 25;
		x ^= x >> 27;
		memcpy(data + i, &x, sizeof(x));
	}
	*state = x;
}

#define PATTERN_SEED	0x2545f4914f6cdd1dULL

/* Subcommands -------------------------------------------------------------- */

static int run(int argc, char **argv);

/* user UID COMMAND...: give up root, then run a subcommand or a program. */
static int cmd_user(int argc, char **argv)
{
	unsigned long uid = number(argv[0]);

	if (setgroups(0, NULL) || setresgid(uid, uid, uid) ||
	    setresuid(uid, uid, uid))
		die("cannot become user %lu", uid);
	return run(argc - 1, argv + 1);
}

/* cc NAME: an unconnected socket can use it. */
static int cmd_cc(int argc, char **argv)
{
	int fd = new_socket(AF_INET, IPPROTO_TCP);

	(void)argc;
	set_cc(fd, argv[0]);
	want_cc(fd, argv[0]);
	return 0;
}

/* hold CC READY: a socket that only chose its congestion control. */
static int cmd_hold(int argc, char **argv)
{
	int fd = new_socket(AF_INET, IPPROTO_TCP);

	(void)argc;
	set_cc(fd, argv[0]);
	ready(argv[1]);
	wait_forever();
}

/* hold-pair CC READY: a connection over loopback that has carried data. */
static int cmd_hold_pair(int argc, char **argv)
{
	struct addr a = address("127.0.0.1", "0");
	int listener = do_listen(new_socket(AF_INET, IPPROTO_TCP), &a);
	int fd = cc_socket(&a, argv[0]);

	(void)argc;
	do_connect(fd, &a);
	do_accept(listener);
	send_zeros(fd, 1000);
	drain(fd);
	ready(argv[1]);
	wait_forever();
}

/* inherit CC: what a listener has chosen, its connections have. */
static int cmd_inherit(int argc, char **argv)
{
	struct addr a = address("127.0.0.1", "0");
	int listener = new_socket(AF_INET, IPPROTO_TCP);
	int fd = new_socket(AF_INET, IPPROTO_TCP), child;
	char byte;

	(void)argc;
	set_cc(listener, argv[0]);
	do_listen(listener, &a);
	do_connect(fd, &a);
	child = do_accept(listener);
	want_cc(child, argv[0]);
	send_zeros(child, 20000);
	if (recv(fd, &byte, 1, 0) != 1)
		die("recv");
	return 0;
}

/* stall-listen ADDR PORT READY: accept nothing, read nothing. */
static int cmd_stall_listen(int argc, char **argv)
{
	struct addr a = address(argv[0], argv[1]);
	int fd = new_socket(a.ss.ss_family, IPPROTO_TCP);

	(void)argc;
	set_int(fd, SOL_SOCKET, SO_RCVBUF, 4096, "SO_RCVBUF");
	do_listen(fd, &a);
	ready(argv[2]);
	wait_forever();
}

/* stall ADDR PORT CC N READY: N connections with data that cannot leave. */
static int cmd_stall(int argc, char **argv)
{
	struct addr a = address(argv[0], argv[1]);
	static const char zeros[BLOCK];
	unsigned long i, n = number(argv[3]);
	struct linger linger = { .l_onoff = 1, .l_linger = 0 };

	(void)argc;
	for (i = 0; i < n; i++) {
		int fd = cc_socket(&a, argv[2]);

		/* What cannot leave is dropped when the socket is closed. */
		if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger,
			       sizeof(linger)))
			die("setsockopt SO_LINGER");
		do_connect(fd, &a);
		while (send(fd, zeros, BLOCK, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
			;
		if (errno != EAGAIN)
			die("send");
	}
	ready(argv[4]);
	wait_forever();
}

/*
 * bursts ADDR PORT CC BYTES PAUSE_MS COUNT: COUNT times BYTES, each time until
 * all of it is acknowledged, with a pause between.
 */
static int cmd_bursts(int argc, char **argv)
{
	struct addr a = address(argv[0], argv[1]);
	unsigned long bytes = number(argv[3]), pause_ms = number(argv[4]);
	unsigned long i, count = number(argv[5]);
	int fd = cc_socket(&a, argv[2]);

	(void)argc;
	set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
	do_connect(fd, &a);
	want_cc(fd, argv[2]);
	for (i = 0; i < count; i++) {
		if (i)
			sleep_ms(pause_ms);
		send_zeros(fd, bytes);
		drain(fd);
	}
	return 0;
}

/*
 * trickle ADDR PORT CC BYTES INTERVAL_MS COUNT BULK: COUNT times BYTES, one each
 * interval whatever becomes of it, then BULK at once.
 */
static int cmd_trickle(int argc, char **argv)
{
	struct addr a = address(argv[0], argv[1]);
	unsigned long bytes = number(argv[3]), count = number(argv[5]), i;
	unsigned long interval_ms = number(argv[4]);
	int fd = cc_socket(&a, argv[2]);
	struct timespec at;

	(void)argc;
	set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
	do_connect(fd, &a);
	clock_gettime(CLOCK_MONOTONIC, &at);
	for (i = 0; i < count; i++) {
		send_zeros(fd, bytes);
		at.tv_nsec += interval_ms * 1000000L;
		at.tv_sec += at.tv_nsec / 1000000000L;
		at.tv_nsec %= 1000000000L;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	}
	send_zeros(fd, number(argv[6]));
	drain(fd);
	return 0;
}

/* paced ADDR PORT CC BYTES_S BYTES: with SO_MAX_PACING_RATE. */
static int cmd_paced(int argc, char **argv)
{
	struct addr a = address(argv[0], argv[1]);
	int fd = cc_socket(&a, argv[2]);

	(void)argc;
	set_int(fd, SOL_SOCKET, SO_MAX_PACING_RATE, number(argv[3]),
		"SO_MAX_PACING_RATE");
	do_connect(fd, &a);
	send_zeros(fd, number(argv[4]));
	drain(fd);
	return 0;
}

/* many ADDR PORT CC N BYTES READY: N connections that have each sent BYTES. */
static int cmd_many(int argc, char **argv)
{
	struct addr a = address(argv[0], argv[1]);
	unsigned long i, n = number(argv[3]), bytes = number(argv[4]);
	struct rlimit rl = { n + 100, n + 100 };
	int *fd = calloc(n, sizeof(*fd));

	(void)argc;
	if (!fd)
		die("calloc");
	if (setrlimit(RLIMIT_NOFILE, &rl))
		die("cannot have %lu open files", n);
	for (i = 0; i < n; i++) {
		fd[i] = cc_socket(&a, argv[2]);
		do_connect(fd[i], &a);
		send_zeros(fd[i], bytes);
	}
	for (i = 0; i < n; i++) {
		want_cc(fd[i], argv[2]);
		drain(fd[i]);
	}
	ready(argv[5]);
	wait_forever();
}

/* receive ADDR PORT BYTES READY: take exactly the pattern, then end of file. */
static int cmd_receive(int argc, char **argv)
{
	static char want[BLOCK], got[BLOCK];
	struct addr a = address(argv[0], argv[1]);
	unsigned long done = 0, bytes = number(argv[2]);
	__u64 state = PATTERN_SEED;
	int listener, fd;

	(void)argc;
	listener = do_listen(new_socket(a.ss.ss_family, IPPROTO_TCP), &a);
	ready(argv[3]);
	wait_io(listener, POLLIN);
	fd = do_accept(listener);
	while (done < bytes) {
		size_t len = bytes - done < BLOCK ? bytes - done : BLOCK, at;

		fill_pattern(&state, want, BLOCK);
		for (at = 0; at < len;) {
			ssize_t n;

			wait_io(fd, POLLIN);
			n = recv(fd, got + at, len - at, 0);
			if (n <= 0)
				die("the data ends after %lu of %lu bytes",
				    done + at, bytes);
			at += n;
		}
		errno = 0;
		if (memcmp(want, got, len))
			die("wrong data between byte %lu and %lu", done,
			    done + len);
		done += len;
	}
	wait_io(fd, POLLIN);
	errno = 0;
	if (recv(fd, got, 1, 0))
		die("there is more data than was sent");
	return 0;
}

/* send ADDR PORT CC BYTES: the other end of it. */
static int cmd_send(int argc, char **argv)
{
	static char data[BLOCK];
	struct addr a = address(argv[0], argv[1]);
	unsigned long bytes = number(argv[3]);
	int fd = cc_socket(&a, argv[2]);
	__u64 state = PATTERN_SEED;

	(void)argc;
	do_connect(fd, &a);
	want_cc(fd, argv[2]);
	while (bytes) {
		size_t len = bytes < BLOCK ? bytes : BLOCK;

		fill_pattern(&state, data, BLOCK);
		send_all(fd, data, len);
		bytes -= len;
	}
	drain(fd);
	return 0;
}

/*
 * stages ADDR PORT CC FILE BYTES...: send so many bytes, without copying them, until all
 * is acknowledged; make FILE, and go on with the next when it is gone.
 */
static int cmd_stages(int argc, char **argv)
{
	struct addr a = address(argv[0], argv[1]);
	int zeros = memfd_create("zeros", 0), fd = cc_socket(&a, argv[2]), i;

	if (zeros < 0 || ftruncate(zeros, STAGE_CHUNK))
		die("memfd");
	do_connect(fd, &a);
	want_cc(fd, argv[2]);
	for (i = 4; i < argc; i++) {
		unsigned long left = number(argv[i]);

		while (left) {
			off_t from = 0;
			ssize_t n;

			wait_io(fd, POLLOUT);
			n = sendfile(fd, zeros, &from,
				     left < STAGE_CHUNK ? left : STAGE_CHUNK);
			if (n <= 0)
				die("sendfile");
			left -= n;
		}
		drain(fd);
		ready(argv[3]);
		while (!access(argv[3], F_OK))
			sleep_ms(10);
	}
	return 0;
}

/* window ADDR PORT CC1 CC2 BYTES: cwnd and ssthresh before and after the change. */
static int cmd_window(int argc, char **argv)
{
	struct addr a = address(argv[0], argv[1]);
	int fd = cc_socket(&a, argv[2]);
	struct tcp_info before, after;
	socklen_t len = sizeof(before);

	(void)argc;
	do_connect(fd, &a);
	send_zeros(fd, number(argv[4]));
	drain(fd);
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &before, &len))
		die("TCP_INFO");
	set_cc(fd, argv[3]);
	len = sizeof(after);
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &after, &len))
		die("TCP_INFO");
	printf("%u %u %u %u\n", before.tcpi_snd_cwnd, before.tcpi_snd_ssthresh,
	       after.tcpi_snd_cwnd, after.tcpi_snd_ssthresh);
	return 0;
}

/*
 * info ADDR PORT CC BYTES: send zeros, then print what TCP_CC_INFO says when all
 * is acknowledged: enabled, number of samples, newest and smallest RTT in us.
 */
static int cmd_info(int argc, char **argv)
{
	struct addr a = address(argv[0], argv[1]);
	int fd = cc_socket(&a, argv[2]);
	struct tcpvegas_info info;
	socklen_t len = sizeof(info);

	(void)argc;
	do_connect(fd, &a);
	want_cc(fd, argv[2]);
	send_zeros(fd, number(argv[3]));
	drain(fd);
	if (getsockopt(fd, IPPROTO_TCP, TCP_CC_INFO, &info, &len))
		die("TCP_CC_INFO");
	if (len != sizeof(info)) {
		errno = EPROTO;
		die("TCP_CC_INFO has %u bytes", len);
	}
	printf("%u %u %u %u\n", info.tcpv_enabled, info.tcpv_rttcnt,
	       info.tcpv_rtt, info.tcpv_minrtt);
	return 0;
}

/*
 * switch ADDR PORT CC1 CC2 TIMES BYTES: change between two congestion controls
 * under traffic, BYTES between two changes; ends with CC2.
 */
static int cmd_switch(int argc, char **argv)
{
	struct addr a = address(argv[0], argv[1]);
	unsigned long i, times = number(argv[4]), bytes = number(argv[5]);
	int fd = cc_socket(&a, argv[2]);

	(void)argc;
	do_connect(fd, &a);
	for (i = 0; i < times; i++) {
		const char *cc = argv[i & 1 ? 3 : 2];

		set_cc(fd, cc);
		want_cc(fd, cc);
		send_zeros(fd, bytes);
	}
	set_cc(fd, argv[3]);
	send_zeros(fd, bytes);
	drain(fd);
	return 0;
}

/* then CC1 CC2 ADDR PORT BYTES1 BYTES2: one switch, once all is acknowledged. */
static int cmd_then(int argc, char **argv)
{
	struct addr a = address(argv[2], argv[3]);
	int fd = cc_socket(&a, argv[0]);

	(void)argc;
	do_connect(fd, &a);
	send_zeros(fd, number(argv[4]));
	drain(fd);
	set_cc(fd, argv[1]);
	send_zeros(fd, number(argv[5]));
	drain(fd);
	return 0;
}

/* falls ADDR PORT CC GOT BYTES: CC becomes GOT in the handshake. */
static int cmd_falls(int argc, char **argv)
{
	struct addr a = address(argv[0], argv[1]);
	int fd = cc_socket(&a, argv[2]);

	(void)argc;
	do_connect(fd, &a);
	send_zeros(fd, number(argv[4]));
	drain(fd);
	want_cc(fd, argv[3]);
	return 0;
}

/* fallen ADDR PORT CC1 CC2 GOT BYTES: CC2 becomes GOT with data in flight. */
static int cmd_fallen(int argc, char **argv)
{
	struct addr a = address(argv[0], argv[1]);
	int fd = cc_socket(&a, argv[2]);

	(void)argc;
	do_connect(fd, &a);
	send_zeros(fd, number(argv[5]));
	set_cc(fd, argv[3]);
	want_cc(fd, argv[4]);
	send_zeros(fd, number(argv[5]));
	drain(fd);
	return 0;
}

/* late ADDR PORT CC GOT BYTES: CC is set while the SYN is on its way, and becomes GOT. */
static int cmd_late(int argc, char **argv)
{
	struct addr a = address(argv[0], argv[1]);
	int fd = cc_socket(&a, "cubic"), flags, err = 0;
	struct pollfd pollfd = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(err);

	(void)argc;
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		die("O_NONBLOCK");
	if (!connect(fd, (const struct sockaddr *)&a.ss, a.len) || errno != EINPROGRESS)
		die("connect does not take time");
	set_cc(fd, argv[2]);
	want_cc(fd, argv[2]);
	if (poll(&pollfd, 1, IO_TIMEOUT_MS) != 1 ||
	    getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) || err)
		die("connect");
	if (fcntl(fd, F_SETFL, flags))
		die("F_SETFL");
	send_zeros(fd, number(argv[4]));
	drain(fd);
	want_cc(fd, argv[3]);
	return 0;
}

/*
 * reconnect ADDR PORT CC BYTES TIMES: connect, send, disconnect with AF_UNSPEC,
 * with the same socket.
 */
static int cmd_reconnect(int argc, char **argv)
{
	struct addr a = address(argv[0], argv[1]);
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	unsigned long i, bytes = number(argv[3]), times = number(argv[4]);
	int fd = cc_socket(&a, argv[2]);

	(void)argc;
	for (i = 0; i < times; i++) {
		do_connect(fd, &a);
		want_cc(fd, argv[2]);
		send_zeros(fd, bytes);
		/* Every other time with data still on its way. */
		if (i & 1)
			drain(fd);
		if (connect(fd, &none, sizeof(none)))
			die("connect AF_UNSPEC");
	}
	return 0;
}

/* fastopen ADDR PORT CC BYTES: twice, so that the second SYN carries data. */
static int cmd_fastopen(int argc, char **argv)
{
	struct addr a = address(argv[0], argv[1]);
	unsigned long bytes = number(argv[3]);
	char *data = calloc(1, bytes);
	struct tcp_info info;
	socklen_t len;
	int i, fd = -1;

	(void)argc;
	if (!data)
		die("calloc");
	for (i = 0; i < 2; i++) {
		ssize_t n;

		if (fd >= 0)
			close(fd);
		fd = cc_socket(&a, argv[2]);
		n = sendto(fd, data, bytes, MSG_FASTOPEN | MSG_NOSIGNAL,
			   (struct sockaddr *)&a.ss, a.len);
		if (n < 0)
			die("sendto MSG_FASTOPEN");
		send_all(fd, data, bytes - n);
		drain(fd);
		want_cc(fd, argv[2]);
	}
	len = sizeof(info);
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		die("getsockopt TCP_INFO");
	errno = 0;
	if (!(info.tcpi_options & TCPI_OPT_SYN_DATA))
		die("no data of the SYN was acknowledged by the SYN/ACK");
	return 0;
}

/* fastopen-listen ADDR PORT READY: a server that takes data in a SYN. */
static int __attribute__((noreturn))
cmd_fastopen_listen(int argc, char **argv)
{
	struct addr a = address(argv[0], argv[1]);
	int fd = new_socket(a.ss.ss_family, IPPROTO_TCP);
	static char data[BLOCK];

	(void)argc;
	set_int(fd, IPPROTO_TCP, TCP_FASTOPEN, 16, "TCP_FASTOPEN");
	do_listen(fd, &a);
	ready(argv[2]);
	for (;;) {
		int child = do_accept(fd);

		while (recv(child, data, sizeof(data), 0) > 0)
			;
		close(child);
	}
}

/* mptcp CC GOT BYTES: over loopback, both ends speak MPTCP; CC becomes GOT. */
static int cmd_mptcp(int argc, char **argv)
{
	struct addr a = address("127.0.0.1", "0");
	int listener = new_socket(AF_INET, IPPROTO_MPTCP);
	int fd = new_socket(AF_INET, IPPROTO_MPTCP), child;
	unsigned long at, bytes = number(argv[2]);
	static char data[BLOCK];
	pid_t pid;
	ssize_t n;
	int status;

	(void)argc;
	do_listen(listener, &a);
	set_cc(fd, argv[0]);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		close(fd);
		child = do_accept(listener);
		for (at = 0; at < bytes; at += n) {
			n = recv(child, data, sizeof(data), 0);
			if (n <= 0)
				die("recv");
		}
		/* Holds the connection until the client has looked at it. */
		if (recv(child, data, sizeof(data), 0))
			die("recv");
		exit(0);
	}
	do_connect(fd, &a);
	want_cc(fd, argv[1]);
	send_zeros(fd, bytes);
	status = system("ss -Htni");
	if (status)
		die("ss");
	close(fd);
	if (waitpid(pid, &status, 0) != pid || status)
		die("the MPTCP server failed");
	return 0;
}

/*
 * pass NETNS1 NETNS2 ADDR PORT CC BYTES: a socket is born in the first
 * namespace and passed with SCM_RIGHTS to a process in the second, which
 * connects it and sends.
 */
static int cmd_pass(int argc, char **argv)
{
	struct addr a = address(argv[2], argv[3]);
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { .buf = { 0 } };
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.buf, .msg_controllen = sizeof(control.buf),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	int pair[2], fd, status;
	pid_t pid;

	(void)argc;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		die("socketpair");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		netns_enter(argv[0]);
		fd = cc_socket(&a, argv[4]);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
		if (sendmsg(pair[0], &msg, 0) != 1)
			die("sendmsg");
		exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		die("the process in %s failed", argv[0]);
	netns_enter(argv[1]);
	if (recvmsg(pair[1], &msg, MSG_CMSG_CLOEXEC) != 1 ||
	    msg.msg_controllen < sizeof(*cmsg))
		die("recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	do_connect(fd, &a);
	want_cc(fd, argv[4]);
	send_zeros(fd, number(argv[5]));
	drain(fd);
	return 0;
}

/* tap NAME READY: a tap device with a carrier, for as long as this runs. */
static int cmd_tap(int argc, char **argv)
{
	struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI };
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	(void)argc;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", argv[0]);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &ifr))
		die("cannot make the tap device %s", argv[0]);
	ready(argv[1]);
	wait_forever();
}

/* A page that takes @ms to read from, the first time; in a child, as it waits. */
static const char *slow_page(unsigned long ms)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_zeropage zero = { 0 };
	long size = sysconf(_SC_PAGESIZE);
	struct uffd_msg msg;
	char *page;
	int fd;

	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		die("mmap");
	fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		die("userfaultfd");
	reg.range.start = (unsigned long)page;
	reg.range.len = size;
	if (ioctl(fd, UFFDIO_REGISTER, &reg))
		die("UFFDIO_REGISTER");
	switch (fork()) {
	case -1:
		die("fork");
	case 0:
		if (read(fd, &msg, sizeof(msg)) != sizeof(msg))
			die("no fault was reported");
		sleep_ms(ms);
		zero.range = reg.range;
		if (ioctl(fd, UFFDIO_ZEROPAGE, &zero))
			die("UFFDIO_ZEROPAGE");
		_exit(0);
	}
	close(fd);
	return page;
}

/*
 * owned ADDR PORT CC MS ROUNDS: send some segments, and own the socket for MS while
 * their ACKs come in, by way of a send() whose data takes that long to read.
 */
static int cmd_owned(int argc, char **argv)
{
	struct addr a = address(argv[0], argv[1]);
	unsigned long ms = number(argv[3]), rounds = number(argv[4]);
	int fd = cc_socket(&a, argv[2]), status;
	const char *page;

	(void)argc;
	do_connect(fd, &a);
	want_cc(fd, argv[2]);
	while (rounds--) {
		page = slow_page(ms);
		send_zeros(fd, 40000);
		if (send(fd, page, 1000, MSG_NOSIGNAL) != 1000)
			die("send from a slow page");
		if (wait(&status) < 0 || status)
			die("the page was not filled");
		drain(fd);
	}
	return 0;
}

static const struct {
	const char *name;
	int args;		/* at least */
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "bursts",		6, cmd_bursts },
	{ "cc",			1, cmd_cc },
	{ "fallen",		6, cmd_fallen },
	{ "falls",		5, cmd_falls },
	{ "fastopen",		4, cmd_fastopen },
	{ "fastopen-listen",	3, cmd_fastopen_listen },
	{ "hold",		2, cmd_hold },
	{ "hold-pair",		2, cmd_hold_pair },
	{ "inherit",		1, cmd_inherit },
	{ "late",		5, cmd_late },
	{ "many",		6, cmd_many },
	{ "mptcp",		3, cmd_mptcp },
	{ "owned",		5, cmd_owned },
	{ "paced",		5, cmd_paced },
	{ "pass",		6, cmd_pass },
	{ "receive",		4, cmd_receive },
	{ "reconnect",		5, cmd_reconnect },
	{ "send",		4, cmd_send },
	{ "info",		4, cmd_info },
	{ "stages",		5, cmd_stages },
	{ "stall",		5, cmd_stall },
	{ "stall-listen",	3, cmd_stall_listen },
	{ "switch",		6, cmd_switch },
	{ "then",		6, cmd_then },
	{ "tap",		2, cmd_tap },
	{ "trickle",		7, cmd_trickle },
	{ "user",		2, cmd_user },
	{ "window",		5, cmd_window },
};

/* Anything that is not a subcommand is a program. */
static int run(int argc, char **argv)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(argv[0], commands[i].name))
			continue;
		if (argc - 1 < commands[i].args) {
			errno = EINVAL;
			die("%s takes %d arguments", argv[0], commands[i].args);
		}
		return commands[i].run(argc - 1, argv + 1);
	}
	execvp(argv[0], argv);
	die("%s", argv[0]);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		errno = EINVAL;
		die("timely_helper: a subcommand is needed");
	}
	return run(argc - 1, argv + 1);
}
