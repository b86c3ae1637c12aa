/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The few kernel definitions that the pure cores use, for userspace builds (unit tests,
 * fuzzers). These builds search this directory before that of the system. The directories here
 * have the names of the kernel's headers.
 */
#ifndef _CORE_USER_H
#define _CORE_USER_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define cpu_to_be64(x)	htobe64(x)
#define be64_to_cpu(x)	be64toh(x)
#define cpu_to_le64(x)	htole64(x)
#define le64_to_cpu(x)	le64toh(x)

#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, val) __atomic_store_n(&(x), val, __ATOMIC_RELAXED)

#define __must_check __attribute__((__warn_unused_result__))

#ifndef __always_inline
#define __always_inline	inline __attribute__((always_inline))
#endif

#define U32_MAX		0xffffffffU
#define U64_MAX		0xffffffffffffffffULL
#define S32_MAX		0x7fffffff
#define S64_MAX		0x7fffffffffffffffLL

#define min_t(type, a, b) \
	({ type _a = (a), _b = (b); _a < _b ? _a : _b; })
#define max_t(type, a, b) \
	({ type _a = (a), _b = (b); _a > _b ? _a : _b; })

#define clamp_t(type, val, lo, hi) \
	min_t(type, max_t(type, val, lo), hi)

static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

/* A bit of the result at a time. */
static inline u32 int_sqrt64(u64 a)
{
	u64 root = 0, bit = a ? 1ULL << ((fls64(a) - 1) & ~1) : 0;

	for (; bit; bit >>= 2) {
		if (a >= root + bit) {
			a -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return (u32)root;
}

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

static inline s64 div64_s64(s64 dividend, s64 divisor)
{
	return dividend / divisor;
}

static inline s64 div_s64(s64 dividend, s32 divisor)
{
	return dividend / divisor;
}

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

static inline u64 div64_u64_rem(u64 dividend, u64 divisor, u64 *remainder)
{
	*remainder = dividend % divisor;
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

#endif /* _CORE_USER_H */
