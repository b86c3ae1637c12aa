// SPDX-License-Identifier: GPL-2.0
/* The parameters of a congestion control, whose list is included before. See params_table.h. */
#include "../params_table.h"

static const struct params_row rows[] = {
#define CC_PARAM(id, name, min, max, def, unit, what, source) \
	{ #name, min, max, def, unit },
	CC_PARAM_LIST
#undef CC_PARAM
};

int main(void)
{
	params_print(rows, sizeof(rows) / sizeof(*rows));
	return 0;
}
