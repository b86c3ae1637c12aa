/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers for tests: the same for a seed on every machine. */
#ifndef _RANDOM_H
#define _RANDOM_H

#include <math.h>

#include "user/core_user.h"

static u64 random_state;

/* A Weyl sequence through a 64-bit finaliser: one word of state, any seed. */
static inline u64 random_u64(void)
{
	u64 z = random_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* [0, 1) */
static inline double random_unit(void)
{
	return (double)(random_u64() >> 11) / 9007199254740992.0;
}

static inline bool chance(double probability)
{
	return random_unit() < probability;
}

static inline double uniform(double low, double high)
{
	return low + (high - low) * random_unit();
}

static inline double log_uniform(double low, double high)
{
	return high <= low ? low : low * exp(random_unit() * log(high / low));
}

static inline double exponential(double mean)
{
	return -mean * log(1 - random_unit());
}

/* Sum of twelve uniform numbers: near enough to a normal one, without tails. */
static inline double normal(double sigma)
{
	double sum = -6;
	int i;

	for (i = 0; i < 12; i++)
		sum += random_unit();
	return sum * sigma;
}

#endif /* _RANDOM_H */
