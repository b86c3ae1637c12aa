// SPDX-License-Identifier: GPL-2.0
/* What uapi/onramp.h says of each setting: its word, kind, minimum, maximum, default. */
#include <stdio.h>
#include <uapi/onramp.h>

int main(void)
{
#define ONRAMP_X(NAME, field, KIND, min, max, def, help) \
	#field " " #KIND " " #min " " #max " " #def "\n"
	fputs(ONRAMP_PARAMS, stdout);
#undef ONRAMP_X
	return 0;
}
