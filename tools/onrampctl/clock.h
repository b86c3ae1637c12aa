/* SPDX-License-Identifier: GPL-2.0 */
/*
 * onrampctl clock: the clocks of this host, as their own daemons report them.
 *
 *	clock_core.c	reports of chronyc and pmc in, rows out; uses nothing else
 *	clock.c		runs chronyc and pmc, and asks the kernel
 *	program.c	runs a program
 */
#ifndef ONRAMPCTL_CLOCK_H
#define ONRAMPCTL_CLOCK_H

#include "ctl.h"

/* onrampd writes its status each second; one that is older than this has stopped, ns. */
#define CLOCK_ONRAMPD_NS	10000000000LL

/**
 * struct wait_for - what clock waitsync waits for
 * @clock:	"system", "ptp" or "phcN"
 * @error_ns:	largest error bound allowed; UINT64_MAX: any
 */
struct wait_for {
	const char *clock;
	uint64_t error_ns;
};

/* Reports as JSON, owned by the caller; NULL if there is nothing in them. */
json_t *clock_tracking(const char *csv);
json_t *clock_sources(const char *csv);
json_t *clock_ptp(const char *text);

json_t *clock_rows(const json_t *found);
json_t *clock_source_rows(const json_t *found);
json_t *clock_problems(const json_t *rows, const json_t *found);
const char *clock_onrampd(const json_t *status, int64_t now_ns);
bool clock_wanted(int argc, char **argv, struct wait_for *out, char *error, size_t size);
bool clock_reached(const json_t *rows, const struct wait_for *wanted, const json_t **row);

char *program_output(char *const argv[], uint64_t timeout_ns);

int cmd_clock(const struct ctl *ctl, int argc, char **argv);

#endif /* ONRAMPCTL_CLOCK_H */
