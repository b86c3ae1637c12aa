// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the module's own list of parameters, one "name min max default [words]" per line,
 * so that the tests cannot disagree with it about what the values are.
 */
#include <stdio.h>
#include <string.h>

#include "lipd_params.h"

/* A parameter with words is written and read as one of them. */
static void print_param(const char *name, unsigned long long min, unsigned long long max,
			unsigned long long def, const char *unit)
{
	const char *bar = strchr(unit, '|');

	printf("%s %llu %llu ", name, min, max);
	if (bar)
		printf("%.*s %s\n", (int)(def ? strlen(bar + 1) : (size_t)(bar - unit)),
		       def ? bar + 1 : unit, unit);
	else
		printf("%llu\n", def);
}

int main(void)
{
	static const struct {
		const char *name;
		unsigned long long min, max, def;
		const char *unit;
	} params[] = {
#define LIPD_PARAM(id, name, min, max, def, unit, what, source) \
		{ #name, min, max, def, unit },
		LIPD_PARAMS
#undef LIPD_PARAM
	};
	size_t i;

	for (i = 0; i < sizeof(params) / sizeof(*params); i++)
		print_param(params[i].name, params[i].min, params[i].max, params[i].def,
			    params[i].unit);
	return 0;
}
