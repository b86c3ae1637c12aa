/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What fuzzers share: assertions, and numbers from the input. Include it after a core, which
 * has the types.
 */
#ifndef _FUZZ_H
#define _FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#define REQUIRE(cond) do {						\
	if (!(cond)) {							\
		fprintf(stderr, "%s:%d: not true: %s\n", __FILE__,	\
			__LINE__, #cond);				\
		abort();						\
	}								\
} while (0)

struct input {
	const u8 *data;
	size_t left;
};

/* take() - return the next @bytes of the input, the highest first; 0 where there are none left */
static inline u32 take(struct input *in, int bytes)
{
	u32 value = 0;

	while (bytes-- && in->left) {
		value = value << 8 | *in->data++;
		in->left--;
	}
	return value;
}

#endif /* _FUZZ_H */
