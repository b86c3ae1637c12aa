/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fractions from 0 to 1 in unsigned Q30; their resolution is 9.3e-10.
 */
#ifndef _Q30_H
#define _Q30_H

#include <linux/types.h>

/* One is 2^30: a product with a u32 fits into 62 bits. */
#define Q30_SHIFT	30
#define Q30_ONE		(1U << Q30_SHIFT)

/**
 * q30_mul() - multiply by a fraction, rounding down
 * @a: any value
 * @frac: Q30, <= 1
 *
 * The high half contributes (a >> 32) * frac * 4 without remainder, the low
 * half's product is below 2^62, and their sum is at most @a: no overflow.
 */
static inline u64 q30_mul(u64 a, u32 frac)
{
	return (((a >> 32) * frac) << 2) +
	       (((a & 0xffffffffULL) * frac) >> Q30_SHIFT);
}

#endif /* _Q30_H */
