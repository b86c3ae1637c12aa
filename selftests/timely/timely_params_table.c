// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the module's own list of parameters, one "name min max default" per
 * line, so that the tests cannot disagree with it about what the values are.
 */
#include <stddef.h>
#include <stdio.h>

#include "timely_params.h"

static const struct {
	const char *name;
	unsigned long long min, max, def;
} params[] = {
#define TIMELY_PARAM(id, name, min, max, def, unit, what, source) \
	{ #name, min, max, def },
	TIMELY_PARAMS
#undef TIMELY_PARAM
};

int main(void)
{
	size_t i;

	for (i = 0; i < sizeof(params) / sizeof(*params); i++)
		printf("%s %llu %llu %llu\n", params[i].name, params[i].min,
		       params[i].max, params[i].def);
	return 0;
}
