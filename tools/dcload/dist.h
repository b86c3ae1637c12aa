/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DCLOAD_DIST_H
#define DCLOAD_DIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stats.h"

/* Interpolation of sizes between two knots of a distribution. */
enum dist_between {
	DIST_LINEAR,		/* uniform in the size */
	DIST_LOG,		/* uniform in its logarithm: read off a logarithmic plot */
	DIST_HARMONIC,		/* uniform in its reciprocal */
};

struct dist_knot {
	double bytes;
	double cumulative;	/* P(size <= bytes), 0 to 1 */
};

/*
 * A distribution of sizes: its cumulative distribution function at some knots,
 * rising, the last at 1. The first knot's probability is that of its very size.
 */
struct dist {
	const char *name;
	const struct dist_knot *knots;
	size_t n;
	enum dist_between between;
	struct dist_knot *own;		/* to be freed, NULL: built in */
};

#define DIST_MAX_KNOTS	10000		/* of a file */
#define DIST_MAX_BYTES	(1ULL << 40)	/* of one size */

bool dist_builtin(struct dist *d, const char *name);
void dist_uniform(struct dist *d, uint64_t min_bytes, uint64_t max_bytes);
bool dist_parse_text(struct dist *d, const char *text, char *err, size_t err_len);
bool dist_parse(struct dist *d, const char *s, char *err, size_t err_len);
void dist_free(struct dist *d);
double dist_mean(const struct dist *d);
double dist_quantile(const struct dist *d, double p);
uint64_t dist_sample(const struct dist *d, struct rng *r);
const char *dist_names(void);

#endif /* DCLOAD_DIST_H */
