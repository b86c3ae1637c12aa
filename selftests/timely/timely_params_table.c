// SPDX-License-Identifier: GPL-2.0
/* The parameters of tcp_timely, see params_table.h. */
#include "../lib/params_table.h"
#include "timely_params.h"

static const struct params_row rows[] = {
#define TIMELY_PARAM(id, name, min, max, def, unit, what, source) \
	{ #name, min, max, def, unit },
	TIMELY_PARAMS
#undef TIMELY_PARAM
};

int main(void)
{
	params_print(rows, sizeof(rows) / sizeof(*rows));
	return 0;
}
