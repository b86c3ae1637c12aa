/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The few kernel definitions that labnic_core.h uses, for the unit tests.
 */
#ifndef _LABNIC_CORE_USER_H
#define _LABNIC_CORE_USER_H

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

#define U64_MAX		0xffffffffffffffffULL

static inline u64 div64_u64_rem(u64 dividend, u64 divisor, u64 *remainder)
{
	*remainder = dividend % divisor;
	return dividend / divisor;
}

static inline s64 div_s64(s64 dividend, int divisor)
{
	return dividend / divisor;
}

/* Long multiplication and division, so that it holds on 32 bits as well. */
static inline u64 mul_u64_u64_div_u64(u64 a, u64 b, u64 c)
{
	u64 hi = 0, lo = 0, quotient = 0, rest = 0;
	int i;

	for (i = 63; i >= 0; i--) {
		hi = hi << 1 | lo >> 63;
		lo <<= 1;
		if (b >> i & 1) {
			lo += a;
			hi += lo < a;
		}
	}
	for (i = 127; i >= 0; i--) {
		bool carry = rest >> 63;

		rest = rest << 1 | ((i >= 64 ? hi >> (i - 64) : lo >> i) & 1);
		quotient <<= 1;
		if (carry || rest >= c) {
			rest -= c;
			quotient |= 1;
		}
	}
	return quotient;
}

#endif /* _LABNIC_CORE_USER_H */
