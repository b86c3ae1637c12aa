/* SPDX-License-Identifier: GPL-2.0 */
/* Samples for chronyd, as a reference clock of kind SOCK (refclock in chrony.conf(5)). */
#ifndef ONRAMPD_CHRONY_H
#define ONRAMPD_CHRONY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/un.h>

#define CHRONY_PREFIX	"chrony:"
#define CHRONY_PATH_MAX	(sizeof(((struct sockaddr_un *)0)->sun_path) - 1)
#define CHRONY_MAGIC	0x534f434b

/**
 * struct chrony_sample - a message
 * @tv: CLOCK_REALTIME
 * @offset: by which the true time is ahead of it, s
 * @pulse: 0: the offset is that of the whole time, not of a second
 * @leap: 0: no leap second
 * @unused: 0
 * @magic: CHRONY_MAGIC
 */
struct chrony_sample {
	struct timeval tv;
	double offset;
	int pulse;
	int leap;
	int unused;
	int magic;
};

bool chrony_path(const char *path);
void chrony_open(void);
bool chrony_sample(int64_t utc_ns, int64_t offset_ns);

#endif /* ONRAMPD_CHRONY_H */
