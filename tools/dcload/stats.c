// SPDX-License-Identifier: GPL-2.0
#include <math.h>

#include "stats.h"

/**
 * jain_index() - fairness of an allocation (Jain, Chiu, Hawe 1984)
 * @x: share of each of @n parties, not negative
 * @n: number of parties
 *
 * Return: 1 if all shares are equal, 1/n if one party has everything; NAN if @n or all
 * shares are 0.
 */
double jain_index(const double *x, size_t n)
{
	double sum = 0, squares = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		sum += x[i];
		squares += x[i] * x[i];
	}
	if (squares <= 0)
		return NAN;
	return sum * sum / ((double)n * squares);
}

uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/**
 * rng_below() - uniform random number
 * @r: generator
 * @bound: more than 0 and below 2^32, so that the modulo's bias is negligible
 *
 * Return: a number in [0, @bound).
 */
uint64_t rng_below(struct rng *r, uint64_t bound)
{
	return rng_next(r) % bound;
}

/**
 * rng_seed() - begin one of many independent sequences
 * @r: generator
 * @seed: of the run
 * @a: number of the sequence, first part
 * @b: second part
 */
void rng_seed(struct rng *r, uint64_t seed, uint64_t a, uint64_t b)
{
	r->state = seed;
	r->state = rng_next(r) ^ a;
	r->state = rng_next(r) ^ b;
	r->state = rng_next(r);
}

/**
 * rng_uniform() - uniform random number in (0, 1]
 * @r: generator
 */
double rng_uniform(struct rng *r)
{
	return ldexp((double)((rng_next(r) >> 11) + 1), -53);
}

/**
 * rng_exponential() - exponentially distributed random number
 * @r: generator
 * @mean: its mean, the unit of the result
 */
double rng_exponential(struct rng *r, double mean)
{
	return -mean * log(rng_uniform(r));
}
