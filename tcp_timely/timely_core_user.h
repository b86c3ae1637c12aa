/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The few kernel definitions that timely_core.h uses, for userspace builds
 * (unit tests, fuzzer).
 */
#ifndef _TIMELY_CORE_USER_H
#define _TIMELY_CORE_USER_H

#include <stdbool.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define min_t(type, a, b) \
	({ type _a = (a), _b = (b); _a < _b ? _a : _b; })
#define max_t(type, a, b) \
	({ type _a = (a), _b = (b); _a > _b ? _a : _b; })

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

#endif /* _TIMELY_CORE_USER_H */
