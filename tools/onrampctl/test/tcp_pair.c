// SPDX-License-Identifier: GPL-2.0
/* A connection over loopback with 1000 bytes sent, until it is killed; writes the port. */
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	socklen_t len = sizeof(addr);
	int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	static const char data[1000];

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(server, (struct sockaddr *)&addr, sizeof(addr)) || listen(server, 1) ||
	    getsockname(server, (struct sockaddr *)&addr, &len) ||
	    connect(client, (struct sockaddr *)&addr, sizeof(addr)) ||
	    write(client, data, sizeof(data)) != sizeof(data))
		return 1;
	printf("%u\n", ntohs(addr.sin_port));
	fflush(stdout);
	alarm(30);
	pause();
	return 0;
}
