// SPDX-License-Identifier: GPL-2.0
/*
 * usage: clock_helper synced|unsynced
 *
 * Mark the system's clock as a daemon does that sets it, or as without one; its time stays.
 */
#include <stdio.h>
#include <string.h>
#include <sys/timex.h>

int main(int argc, char **argv)
{
	struct timex t = { .modes = ADJ_STATUS | ADJ_MAXERROR, .maxerror = 1000 };

	if (argc != 2 || (strcmp(argv[1], "synced") && strcmp(argv[1], "unsynced"))) {
		fprintf(stderr, "usage: clock_helper synced|unsynced\n");
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
