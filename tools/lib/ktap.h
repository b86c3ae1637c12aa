/* SPDX-License-Identifier: GPL-2.0 */
/*
 * KTAP output for userspace test programs: a program lists its cases in an
 * array and ends with "return ktap_run(cases, ARRAY_SIZE(cases))".
 */
#ifndef _KTAP_H
#define _KTAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

struct ktap_case {
	const char *name;
	void (*run)(void);
};

#define KTAP_CASE(fn)	{ #fn, fn }

/* Failed checks of the case that runs. */
static unsigned int ktap_failures;

/* Row of a table that the case checks; NULL outside a table. */
static const char *ktap_row;

static inline void ktap_fail(const char *file, int line)
{
	ktap_failures++;
	printf("# %s:%d: ", file, line);
	if (ktap_row)
		printf("%s: ", ktap_row);
}

#define CHECK(cond) do {						\
	if (!(cond)) {							\
		ktap_fail(__FILE__, __LINE__);				\
		printf("%s is false\n", #cond);				\
	}								\
} while (0)

/* Integers of either sign, below 2^63. */
#define CHECK_EQ(got, want) do {					\
	long long _got = (long long)(got), _want = (long long)(want);	\
									\
	if (_got != _want) {						\
		ktap_fail(__FILE__, __LINE__);				\
		printf("%s is %lld, expected %lld\n", #got, _got, _want); \
	}								\
} while (0)

/* A double has 53 bits, which are too few for clocks in ns. */
#define CHECK_NEAR(got, want, tolerance) do {				\
	long double _got = (long double)(got);				\
	long double _want = (long double)(want);			\
	long double _tol = (long double)(tolerance);			\
									\
	if (!(_got >= _want - _tol && _got <= _want + _tol)) {		\
		ktap_fail(__FILE__, __LINE__);				\
		printf("%s is %.20Lg, expected %.20Lg +- %.3Lg\n", #got,	\
		       _got, _want, _tol);				\
	}								\
} while (0)

/* With KTAP_STOP in the environment a case that fails is the last. */
static inline int ktap_run(const struct ktap_case *cases, size_t count)
{
	unsigned int failed = 0;
	size_t i;

	/* What was checked before an abort is in the output. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("KTAP version 1\n1..%zu\n", count);
	for (i = 0; i < count; i++) {
		ktap_failures = 0;
		ktap_row = NULL;
		cases[i].run();
		printf("%s %zu %s\n", ktap_failures ? "not ok" : "ok", i + 1,
		       cases[i].name);
		failed += !!ktap_failures;
		if (failed && getenv("KTAP_STOP"))
			break;
	}
	return failed ? 1 : 0;
}

#endif /* _KTAP_H */
