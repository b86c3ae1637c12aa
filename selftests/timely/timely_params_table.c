// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the module's own list of parameters, one "name min max default [words]"
 * per line, so that the tests cannot disagree with it about what the values are.
 * A parameter with words is written and read as one of them.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "timely_params.h"

static const struct {
	const char *name;
	unsigned long long min, max, def;
	const char *unit;
} params[] = {
#define TIMELY_PARAM(id, name, min, max, def, unit, what, source) \
	{ #name, min, max, def, unit },
	TIMELY_PARAMS
#undef TIMELY_PARAM
};

/* The n-th of "word|word|..." */
static void print_word(const char *words, unsigned long long n)
{
	while (n--)
		words = strchr(words, '|') + 1;
	printf(" %.*s", (int)strcspn(words, "|"), words);
}

int main(void)
{
	size_t i;

	for (i = 0; i < sizeof(params) / sizeof(*params); i++) {
		printf("%s %llu %llu", params[i].name, params[i].min, params[i].max);
		if (strchr(params[i].unit, '|')) {
			print_word(params[i].unit, params[i].def);
			printf(" %s\n", params[i].unit);
		} else {
			printf(" %llu\n", params[i].def);
		}
	}
	return 0;
}
