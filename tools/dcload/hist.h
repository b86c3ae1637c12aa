/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DCLOAD_HIST_H
#define DCLOAD_HIST_H

#include <stdint.h>

/*
 * Log-linear histogram: values below 2^HIST_SUB_BITS have a bucket each; above,
 * every power of two is cut into 2^HIST_SUB_BITS equal buckets. A bucket is at
 * most 1/128 of its lower bound wide, so its midpoint is within 0.4 % of any
 * value in it. Values of 2^HIST_MAX_BITS and more (4.8 hours in ns) share the
 * last bucket; count, sum, min and max stay exact.
 */
#define HIST_SUB_BITS	7
#define HIST_MAX_BITS	44
#define HIST_SUB	(1u << HIST_SUB_BITS)
#define HIST_BUCKETS	((HIST_MAX_BITS - HIST_SUB_BITS + 1) * HIST_SUB)

struct hist {
	uint64_t count;
	double sum;
	uint64_t min;		/* valid if count > 0 */
	uint64_t max;
	uint64_t bucket[HIST_BUCKETS];
};

void hist_init(struct hist *h);
void hist_add(struct hist *h, uint64_t v);
double hist_mean(const struct hist *h);
double hist_quantile(const struct hist *h, double q);
unsigned int hist_index(uint64_t v);
uint64_t hist_lower(unsigned int index);
uint64_t hist_upper(unsigned int index);

#endif /* DCLOAD_HIST_H */
