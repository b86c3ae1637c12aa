// SPDX-License-Identifier: GPL-2.0
/* The parameters of tcp_lipd, see params_table.h. */
#include "../lib/params_table.h"
#include "lipd_params.h"

static const struct params_row rows[] = {
#define LIPD_PARAM(id, name, min, max, def, unit, what, source) \
	{ #name, min, max, def, unit },
	LIPD_PARAMS
#undef LIPD_PARAM
};

int main(void)
{
	params_print(rows, sizeof(rows) / sizeof(*rows));
	return 0;
}
