// SPDX-License-Identifier: GPL-2.0
/*
 * Many TCP connections that do next to nothing.
 *
 *	connect_helper serve NAMESPACE PORT	accept what comes, until it is killed
 *	connect_helper NAMESPACE ADDRESS PORT COUNT [EACH]
 *
 * The second one connects to COUNT addresses from ADDRESS on, EACH times (1). It sends a byte on
 * each connection, and writes "ready". For each line of its input it sends a byte on all of them,
 * and writes "sent". It keeps them until it is killed, or its input ends.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/netns.h"

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void many_files(void)
{
	struct rlimit limit = { 1 << 18, 1 << 18 };

	if (setrlimit(RLIMIT_NOFILE, &limit))
		die("RLIMIT_NOFILE");
}

/* Until it is killed. */
static void serve(int port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct epoll_event event = { .events = EPOLLIN }, events[64];
	int listener, set, fd, one = 1, n, i;
	char buffer[4096];

	set = epoll_create1(0);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (listener < 0 || bind(listener, (struct sockaddr *)&in, sizeof(in)) ||
	    listen(listener, 4096))
		die("listen");
	event.data.fd = listener;
	epoll_ctl(set, EPOLL_CTL_ADD, listener, &event);
	for (;;) {
		n = epoll_wait(set, events, 64, -1);
		for (i = 0; i < n; i++) {
			fd = events[i].data.fd;
			if (fd != listener) {
				if (read(fd, buffer, sizeof(buffer)) <= 0)
					close(fd);
				continue;
			}
			while ((fd = accept(listener, NULL, NULL)) >= 0) {
				event.data.fd = fd;
				epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
			}
			if (errno != EAGAIN && errno != ECONNABORTED)
				die("accept");
		}
	}
}

static int send_all(const int *fds, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (send(fds[i], "x", 1, MSG_NOSIGNAL) != 1)
			return -1;
	return 0;
}

static int open_one(const struct sockaddr_in *in)
{
	int fd, tries = 0;

	for (;;) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		if (fd < 0)
			die("socket");
		if (!connect(fd, (const struct sockaddr *)in, sizeof(*in)))
			break;
		/* The server may be on its way. */
		if (errno != ECONNREFUSED || tries++ == 200)
			die("connect");
		close(fd);
		usleep(50000);
	}
	if (send_all(&fd, 1))
		die("send");
	return fd;
}

int main(int argc, char **argv)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	int count, each, *fds, i, n;
	char line[16];

	setvbuf(stdout, NULL, _IOLBF, 0);
	many_files();
	if (argc == 4 && !strcmp(argv[1], "serve")) {
		netns_enter(argv[2]);
		serve(atoi(argv[3]));
		return 0;
	}
	if (argc < 5 || inet_pton(AF_INET, argv[2], &in.sin_addr) != 1) {
		fprintf(stderr, "usage: see connect_helper.c\n");
		return 2;
	}
	netns_enter(argv[1]);
	in.sin_port = htons(atoi(argv[3]));
	count = atoi(argv[4]);
	each = argc > 5 ? atoi(argv[5]) : 1;
	n = count * each;
	fds = calloc(n, sizeof(*fds));
	if (!fds)
		die("memory");
	for (i = 0; i < n; i++) {
		/* The server's queue has room for 4096, and it may have the same CPU. */
		if (i % 1024 == 1023)
			usleep(50000);
		fds[i] = open_one(&in);
		if (i % each == each - 1)
			in.sin_addr.s_addr = htonl(ntohl(in.sin_addr.s_addr) + 1);
	}
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		if (send_all(fds, n))
			die("send");
		puts("sent");
	}
	return 0;
}
