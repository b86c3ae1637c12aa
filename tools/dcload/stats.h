/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DCLOAD_STATS_H
#define DCLOAD_STATS_H

#include <stddef.h>
#include <stdint.h>

double jain_index(const double *x, size_t n);

/* splitmix64: small, seedable, the same sequence on every machine. */
struct rng {
	uint64_t state;
};

uint64_t rng_next(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t bound);

#endif /* DCLOAD_STATS_H */
