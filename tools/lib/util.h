/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code that the programs share: messages, memory, the clock. Beside it json.c writes and reads
 * JSON, and parse.c reads numbers, sizes, rates, lists and addresses.
 */
#ifndef TOOLS_UTIL_H
#define TOOLS_UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "exit.h"

#define NSEC_PER_SEC	1000000000ULL
#define NSEC_PER_MSEC	1000000ULL
#define NSEC_PER_USEC	1000ULL

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#define __printf(fmt, args)	__attribute__((format(printf, fmt, args)))

_Noreturn void __printf(2, 0) vdie(int status, const char *fmt, va_list ap);
_Noreturn void __printf(1, 2) die(const char *fmt, ...);
_Noreturn void __printf(1, 2) die_usage(const char *fmt, ...);
void __printf(1, 2) warning(const char *fmt, ...);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
uint64_t clock_ns(clockid_t id);

static inline uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

#endif /* TOOLS_UTIL_H */
