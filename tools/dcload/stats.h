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
void rng_seed(struct rng *r, uint64_t seed, uint64_t a, uint64_t b);
uint64_t rng_below(struct rng *r, uint64_t bound);
double rng_uniform(struct rng *r);
double rng_exponential(struct rng *r, double mean);

#endif /* DCLOAD_STATS_H */
