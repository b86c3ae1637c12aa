// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "hist.h"

void hist_init(struct hist *h)
{
	memset(h, 0, sizeof(*h));
}

/**
 * hist_index() - bucket that holds a value
 * @v: any value
 *
 * Return: index below HIST_BUCKETS.
 */
unsigned int hist_index(uint64_t v)
{
	unsigned int shift;

	if (v < HIST_SUB)
		return (unsigned int)v;
	if (v >> HIST_MAX_BITS)
		return HIST_BUCKETS - 1;

	shift = 63 - (unsigned int)__builtin_clzll(v) - HIST_SUB_BITS;
	return (shift + 1) * HIST_SUB + (unsigned int)(v >> shift) - HIST_SUB;
}

/**
 * hist_lower() - smallest value of a bucket
 * @index: below HIST_BUCKETS
 */
uint64_t hist_lower(unsigned int index)
{
	unsigned int octave = index / HIST_SUB;

	if (!octave)
		return index;
	return (uint64_t)(HIST_SUB + index % HIST_SUB) << (octave - 1);
}

/**
 * hist_upper() - first value above a bucket
 * @index: below HIST_BUCKETS
 */
uint64_t hist_upper(unsigned int index)
{
	return hist_lower(index + 1);
}

void hist_add(struct hist *h, uint64_t v)
{
	if (!h->count || v < h->min)
		h->min = v;
	if (v > h->max)
		h->max = v;
	h->count++;
	h->sum += (double)v;
	h->bucket[hist_index(v)]++;
}

/**
 * hist_mean() - exact arithmetic mean
 * @h: histogram
 *
 * Return: the mean, 0 if the histogram is empty.
 */
double hist_mean(const struct hist *h)
{
	return h->count ? h->sum / (double)h->count : 0;
}

/**
 * hist_quantile() - value below or at which a share of the samples lies
 * @h: histogram
 * @q: share, 0 to 1; 0 gives the minimum, 1 the maximum, both exact
 *
 * Return: midpoint of the bucket of the sample of rank ceil(q * count), kept
 * within [min, max]; 0 if the histogram is empty.
 */
double hist_quantile(const struct hist *h, double q)
{
	uint64_t rank, seen = 0;
	unsigned int i;
	double v;

	if (!h->count)
		return 0;
	if (q <= 0)
		return (double)h->min;
	if (q >= 1)
		return (double)h->max;

	rank = (uint64_t)(q * (double)h->count);
	if ((double)rank < q * (double)h->count)
		rank++;
	for (i = 0; i < HIST_BUCKETS - 1; i++) {
		seen += h->bucket[i];
		if (seen >= rank)
			break;
	}
	/* A bucket of width one holds one value, its lower bound. */
	v = (double)(hist_lower(i) + hist_upper(i) - 1) / 2;
	if (i == HIST_BUCKETS - 1 || v > (double)h->max)
		v = (double)h->max;
	if (v < (double)h->min)
		v = (double)h->min;
	return v;
}
