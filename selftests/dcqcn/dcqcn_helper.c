// SPDX-License-Identifier: GPL-2.0
/*
 * Plays a switch that sends CNPs, good and bad ones, for the tests of tcp_dcqcn.
 *
 *	dcqcn_helper FROM TO SPORT DPORT [OPTION]...
 *		from UDP port 299 of the address FROM to the sender of data TO, about the
 *		connection from TO, port SPORT, to FROM, port DPORT
 *	dcqcn_helper hold ADDRESS
 *		has the UDP port, as any program might, until it is ended
 *
 * Options: window=BYTES (30000) hold=US (1000000) switch=N (1) count=N (the time, us)
 * key=N (1; all bytes but the last are 0) times=N (1), each with a count of its own
 * sender=ADDRESS receiver=ADDRESS: of the flow; flip=N: a byte of the message is changed after
 * it was signed; len=N: so many bytes of it are sent.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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
