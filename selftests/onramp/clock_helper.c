// SPDX-License-Identifier: GPL-2.0
/*
 * usage: clock_helper synced|unsynced
 *	  clock_helper step NS
 *
 * Mark the system's clock as a daemon does that sets it, or as without one; its time stays. Or set
 * it by that much.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>

int main(int argc, char **argv)
{
	struct timex t = { .modes = ADJ_STATUS | ADJ_MAXERROR, .maxerror = 1000 };

	if (argc == 3 && !strcmp(argv[1], "step")) {
		long long ns = atoll(argv[2]), s = ns / 1000000000 - (ns < 0);

		t = (struct timex) {
			.modes = ADJ_SETOFFSET | ADJ_NANO,
			.time = { .tv_sec = s, .tv_usec = ns - s * 1000000000 },
		};
		if (adjtimex(&t) >= 0)
			return 0;
		perror("clock_helper: adjtimex");
		return 1;
	}
	if (argc != 2 || (strcmp(argv[1], "synced") && strcmp(argv[1], "unsynced"))) {
		fprintf(stderr, "usage: clock_helper synced|unsynced|step NS\n");
		return 2;
	}
	if (!strcmp(argv[1], "unsynced"))
		t.status = STA_UNSYNC;
	if (adjtimex(&t) < 0) {
		perror("clock_helper: adjtimex");
		return 1;
	}
	return 0;
}
