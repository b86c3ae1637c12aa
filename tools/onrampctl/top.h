/* SPDX-License-Identifier: GPL-2.0 */
/* The busiest connections, from two looks at all of them. */
#ifndef ONRAMPCTL_TOP_H
#define ONRAMPCTL_TOP_H

#include "why.h"

/**
 * struct table - all connections at some time
 * @time_ns:	CLOCK_MONOTONIC
 * @looks:	sorted by cookie after table_sort()
 * @n:		number of them
 * @room:	for how many there is memory
 * @hidden:	On-Ramp's part is for root to see
 */
struct table {
	uint64_t time_ns;
	struct look *looks;
	size_t n, room;
	bool hidden;
};

/**
 * struct busy - a connection between two tables
 * @look:	the newer look
 * @before:	the older one, or NULL: it is new
 * @rate:	bytes/s sent
 */
struct busy {
	const struct look *look, *before;
	double rate;
};

void table_add(struct table *t, const struct flow *f);
void table_sort(struct table *t);
size_t table_busiest(const struct table *before, const struct table *now, struct busy *out,
		     size_t n);
json_t *busy_row(const struct busy *b);

int cmd_top(const struct ctl *ctl, int argc, char **argv);

#endif /* ONRAMPCTL_TOP_H */
