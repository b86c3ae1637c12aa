// SPDX-License-Identifier: GPL-2.0
/*
 * usage: tcp_pair [receiver | rate]
 *
 * A connection over loopback until it is killed; writes its port. It has sent 1000 bytes, and
 * then nothing; or it always has data, and is held by a receiver that reads 20 kB each 10 ms, or by
 * a pacing rate of 1 MB/s.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <signal.h>
#include <unistd.h>

static char data[1 << 16];

static void receive(int server, int slow)
{
	int fd = accept(server, NULL, NULL);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
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
	int slow = argc > 1 && !strcmp(argv[1], "receiver");
	unsigned int rate = 1000000;

	alarm(30);
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(server, (struct sockaddr *)&addr, sizeof(addr)) || listen(server, 1) ||
	    getsockname(server, (struct sockaddr *)&addr, &len))
		return 1;
	if (argc > 1 && !fork())
		receive(server, slow);
	if (argc > 1 && !slow &&
	    setsockopt(client, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate)))
		return 1;
	if (connect(client, (struct sockaddr *)&addr, sizeof(addr)) ||
	    write(client, data, 1000) != 1000)
		return 1;
	printf("%u\n", ntohs(addr.sin_port));
	fflush(stdout);
	while (argc > 1 && write(client, data, sizeof(data)) > 0)
		;
	pause();
	return 0;
}
