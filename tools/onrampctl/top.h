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

/* What connections can be sorted by. */
enum top_key { TOP_RATE, TOP_RTT, TOP_QUEUE, TOP_PAUSED, TOP_RETRANS, TOP_KEYS };

extern const char * const top_keys[TOP_KEYS];

/**
 * struct busy - a connection between two tables
 * @look:	the newer look
 * @before:	the older one, or NULL: it is new
 * @rate:	bytes/s sent
 * @key:	by which it was sorted
 */
struct busy {
	const struct look *look, *before;
	double rate, key;
};

void table_add(struct table *t, const struct flow *f);
void table_sort(struct table *t);
size_t table_busiest(const struct table *before, const struct table *now, enum top_key key,
		     struct busy *out, size_t n);
json_t *busy_row(const struct busy *b);

int cmd_top(const struct ctl *ctl, int argc, char **argv);

#endif /* ONRAMPCTL_TOP_H */
