// SPDX-License-Identifier: GPL-2.0
/*
 * A TCP connection that sends until it is killed.
 *
 *	via_helper NAMESPACE FROM TO PORT [device=DEVICE] [mark=NUMBER]
 *
 * The socket is bound to FROM, and to DEVICE, and has the mark. 4000 bytes each millisecond.
 *
 *	via_helper NAMESPACE listen TO PORT [device=DEVICE]
 *
 * takes one, and what it sends.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../lib/netns.h"

static socklen_t parse(const char *text, int port, struct sockaddr_storage *addr)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;
	struct sockaddr_in *in = (struct sockaddr_in *)addr;

	memset(addr, 0, sizeof(*addr));
	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		return sizeof(*in);
	}
	if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		return sizeof(*in6);
	}
	fprintf(stderr, "via_helper: '%s' is no address\n", text);
	exit(2);
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void set_option(int fd, const char *text)
{
	unsigned int mark;

	if (!strncmp(text, "device=", 7)) {
		if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, text + 7, strlen(text + 7)))
			die(text);
	} else if (sscanf(text, "mark=%u", &mark) == 1) {
		if (setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)))
			die(text);
	} else {
		fprintf(stderr, "via_helper: what is '%s'?\n", text);
		exit(2);
	}
}

static char data[4000];

/* Take a connection, and read until it ends. */
static int take(int fd, const struct sockaddr_storage *at, socklen_t len)
{
	int one = 1, conn;

	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (const struct sockaddr *)at, len) || listen(fd, 1))
		die("listen");
	conn = accept(fd, NULL, NULL);
	if (conn < 0)
		die("accept");
	while (recv(conn, data, sizeof(data), 0) > 0)
		;
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_storage from, to;
	socklen_t len;
	int fd, i;

	if (argc < 5) {
		fprintf(stderr, "usage: see via_helper.c\n");
		return 2;
	}
	netns_enter(argv[1]);
	if (strcmp(argv[2], "listen"))
		parse(argv[2], 0, &from);
	len = parse(argv[3], atoi(argv[4]), &to);
	fd = socket(to.ss_family, SOCK_STREAM, 0);
	if (fd < 0)
		die("socket");
	for (i = 5; i < argc; i++)
		set_option(fd, argv[i]);
	if (!strcmp(argv[2], "listen"))
		return take(fd, &to, len);
	if (bind(fd, (struct sockaddr *)&from, len))
		die("bind");
	if (connect(fd, (struct sockaddr *)&to, len))
		die("connect");
	while (send(fd, data, sizeof(data), MSG_NOSIGNAL) > 0)
		usleep(1000);
	die("send");
}
