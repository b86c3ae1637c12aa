/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The few kernel definitions that the pure cores use, for userspace builds
 * (unit tests, fuzzers).
 */
#ifndef _CORE_USER_H
#define _CORE_USER_H

#include <endian.h>
#include <linux/types.h>
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

#define U32_MAX		0xffffffffU
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

static inline u64 div_u64(u64 dividend, u32 divisor)
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

#endif /* _CORE_USER_H */
