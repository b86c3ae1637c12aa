/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prints a module's own list of parameters, one "name min max default [words]" per line,
 * so that the tests cannot disagree with it about what the values are. A parameter with
 * words is written and read as one of them.
 */
#ifndef _PARAMS_TABLE_H
#define _PARAMS_TABLE_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct params_row {
	const char *name;
	unsigned long long min, max, def;
	const char *unit;
};

/* The n-th of "word|word|..." */
static void params_print_word(const char *words, unsigned long long n)
{
	while (n--)
		words = strchr(words, '|') + 1;
	printf("%.*s", (int)strcspn(words, "|"), words);
}

static void params_print(const struct params_row *rows, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		printf("%s %llu %llu ", rows[i].name, rows[i].min, rows[i].max);
		if (strchr(rows[i].unit, '|')) {
			params_print_word(rows[i].unit, rows[i].def);
			printf(" %s\n", rows[i].unit);
		} else {
			printf("%llu\n", rows[i].def);
		}
	}
}

#endif /* _PARAMS_TABLE_H */
