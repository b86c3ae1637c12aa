// SPDX-License-Identifier: GPL-2.0
/*
 * usage: tcp_pair [receiver | rate | receiver-60 | rate-40]
 *
 * Keep a connection over loopback until it is killed, and write its port. It sends
 *
 *	(nothing)	1000 bytes, and then nothing
 *	receiver	always; the receiver reads 20 kB each 10 ms
 *	rate		always; paced at 1 MB/s
 *	receiver-60	each 200 ms; the receiver waits for 120 ms before it reads
 *	rate-40		each 200 ms; paced at 10 MB/s, which takes 80 ms, and then nothing
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_MS	200
/*
 * Data of each period: more than the receiver's buffer has room for; many times the 64 kB that TCP
 * sends at once.
 */
#define HELD_BYTES	400000
#define RATE_BYTES	800000

static char data[1 << 16];

static size_t part(long left)
{
	return left < (long)sizeof(data) ? (size_t)left : sizeof(data);
}

/* Write that much, and wait for the next period, for ever. */
static void send_in_periods(int fd, long bytes)
{
	struct timespec next;
	ssize_t n;
	long left;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;;) {
		for (left = bytes; left > 0; left -= n) {
			n = write(fd, data, part(left));
			if (n <= 0)
				return;
		}
		next.tv_nsec += PERIOD_MS * 1000000;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
}

/* Leave data of each period unread at first. */
static void hold(int fd)
{
	long left;
	ssize_t n;

	/* The first 1000 bytes. */
	if (recv(fd, data, 1000, MSG_WAITALL) != 1000)
		_exit(1);
	while (recv(fd, data, 1, MSG_PEEK) == 1) {
		usleep(120000);
		for (left = HELD_BYTES; left > 0; left -= n) {
			n = read(fd, data, part(left));
			if (n <= 0)
				_exit(0);
		}
	}
	_exit(0);
}

static void receive(int server, int slow, int held)
{
	int fd = accept(server, NULL, NULL);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (held)
		hold(fd);
	while (read(fd, data, slow ? 20000 : sizeof(data)) > 0)
		if (slow)
			usleep(10000);
	_exit(0);
}

int main(int argc, char **argv)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	socklen_t len = sizeof(addr);
	int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	const char *cause = argc > 1 ? argv[1] : "";
	int slow = !strcmp(cause, "receiver"), held = !strcmp(cause, "receiver-60");
	unsigned int rate = !strcmp(cause, "rate-40") ? 10000000 : 1000000;
	int room = 65536;

	/* Who started it may be killed. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (held && setsockopt(server, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)))
		return 1;
	if (bind(server, (struct sockaddr *)&addr, sizeof(addr)) || listen(server, 1) ||
	    getsockname(server, (struct sockaddr *)&addr, &len))
		return 1;
	if (*cause && !fork())
		receive(server, slow, held);
	if (!strncmp(cause, "rate", 4) &&
	    setsockopt(client, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate)))
		return 1;
	if (connect(client, (struct sockaddr *)&addr, sizeof(addr)) ||
	    write(client, data, 1000) != 1000)
		return 1;
	printf("%u\n", ntohs(addr.sin_port));
	fflush(stdout);
	if (held || !strcmp(cause, "rate-40"))
		send_in_periods(client, held ? HELD_BYTES : RATE_BYTES);
	while (*cause && write(client, data, sizeof(data)) > 0)
		;
	pause();
	return 0;
}
