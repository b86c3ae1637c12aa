// SPDX-License-Identifier: GPL-2.0
/* onrampctl prometheus */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "prom.h"

/* Replace a file at once: readers see the old one or the new one. */
static void write_whole(const char *path, const json_t *facts, const json_t *report)
{
	char *tmp;
	FILE *f;
	int fd;

	/* Collectors read names that end in .prom, not in this. */
	if (asprintf(&tmp, "%s.XXXXXX", path) < 0)
		unknown("out of memory");
	fd = mkstemp(tmp);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		unknown("cannot write %s: %s", path, strerror(errno));
	prom_write(f, facts, report);
	if (ferror(f) || fchmod(fd, 0644) || fclose(f) || rename(tmp, path)) {
		int err = errno;

		unlink(tmp);
		unknown("cannot write %s: %s", path, strerror(err));
	}
	free(tmp);
}

int cmd_prometheus(const struct ctl *ctl, int argc, char **argv)
{
	int64_t now_s = (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_SEC);
	json_t *facts, *muted, *report;

	if (argc)
		unknown("prometheus '%s': expected nothing more", argv[0]);
	if (ctl->json)
		unknown("prometheus has a format of its own: use it without --json");
	facts = facts_twice(ctl);
	if (!json_object_size(j_get(facts, "now/modules")))
		unknown("no module of onramp is loaded: there is nothing to write");
	muted = mute_read(ctl->state, now_s);
	report = doctor_run(facts, muted, now_s);
	if (ctl->output)
		write_whole(ctl->output, facts, report);
	else
		prom_write(stdout, facts, report);
	if (fflush(stdout) || ferror(stdout))
		unknown("cannot write to stdout");
	json_decref(report);
	json_decref(muted);
	json_decref(facts);
	return CTL_OK;
}
