// SPDX-License-Identifier: GPL-2.0
/* The parameters of tcp_dcqcn, see params_table.h. */
#include "../lib/params_table.h"
#include "dcqcn_params.h"

static const struct params_row rows[] = {
#define DCQCN_PARAM(id, name, min, max, def, unit, what, source) \
	{ #name, min, max, def, unit },
	DCQCN_PARAMS
#undef DCQCN_PARAM
};

int main(void)
{
	params_print(rows, sizeof(rows) / sizeof(*rows));
	return 0;
}
