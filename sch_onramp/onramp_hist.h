/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The histogram of delays
 */
#ifndef _SCH_ONRAMP_HIST_H
#define _SCH_ONRAMP_HIST_H

#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/types.h>

/* Classes of one-way delay: four for each power of two, up to 2^34 ns. */
#define ONRAMP_OWD_CLASSES	(4 * 34)

/**
 * onramp_owd_class() - return the class of a delay in the histogram
 * @ns: the delay
 *
 * Return: < ONRAMP_OWD_CLASSES: its highest bit, and the two bits below that.
 */
static inline u32 onramp_owd_class(u64 ns)
{
	u32 log;

	if (ns < 4)
		return ns;
	log = fls64(ns) - 1;
	return min_t(u32, 4 * (log - 1) + ((ns >> (log - 2)) & 3), ONRAMP_OWD_CLASSES - 1);
}

/* onramp_owd_class_end() - return the highest delay of a class of the histogram, ns */
static inline u64 onramp_owd_class_end(u32 class)
{
	u32 log = class / 4 + 1;

	if (class < 4)
		return class;
	return (1ULL << log) + ((u64)(class % 4 + 1) << (log - 2)) - 1;
}

#endif /* _SCH_ONRAMP_HIST_H */
