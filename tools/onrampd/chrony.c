// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util.h"

#include "chrony.h"

static struct sockaddr_un addr = { .sun_family = AF_UNIX };
static int fd = -1;

/* chrony_path() - set the socket's path; false: it is none */
bool chrony_path(const char *path)
{
	size_t len = strlen(path);

	if (*path != '/' || len > CHRONY_PATH_MAX)
		return false;
	memcpy(addr.sun_path, path, len + 1);
	return true;
}

/* chrony_open() - connect, if chronyd is there; else chrony_sample() does it */
void chrony_open(void)
{
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		die("socket: %s", strerror(errno));
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		warning("%s: %s", addr.sun_path, strerror(errno));
}

/**
 * chrony_sample() - tell an offset
 * @utc_ns: CLOCK_REALTIME
 * @offset_ns: by which the true time was ahead of it
 *
 * Return: false if chronyd was not told; errno says why.
 */
bool chrony_sample(int64_t utc_ns, int64_t offset_ns)
{
	struct chrony_sample s = {
		.tv = {
			.tv_sec = utc_ns / (int64_t)NSEC_PER_SEC,
			.tv_usec = utc_ns % (int64_t)NSEC_PER_SEC / 1000,
		},
		.magic = CHRONY_MAGIC,
	};

	/* Both clocks go on: the resolution of 1 us of the time costs the offset nothing. */
	s.offset = (double)offset_ns * 1e-9;
	if (send(fd, &s, sizeof(s), 0) == sizeof(s))
		return true;
	/* It was started again, or for the first time. */
	return !connect(fd, (struct sockaddr *)&addr, sizeof(addr)) &&
	       send(fd, &s, sizeof(s), 0) == sizeof(s);
}
