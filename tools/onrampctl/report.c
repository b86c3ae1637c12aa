// SPDX-License-Identifier: GPL-2.0
/* A report of doctor_run() as text. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"

static const char *mark(const char *severity)
{
	return !strcmp(severity, "critical") ? "CRIT" : !strcmp(severity, "warning") ? "WARN" :
	       "note";
}

static enum term_style style(const char *severity)
{
	return !strcmp(severity, "critical") ? TERM_CRITICAL :
	       !strcmp(severity, "warning") ? TERM_WARNING : TERM_NOTE;
}

static void left_text(char *s, size_t size, int64_t left_s)
{
	if (left_s >= 86400)
		snprintf(s, size, "%" PRId64 "d", left_s / 86400);
	else if (left_s >= 3600)
		snprintf(s, size, "%" PRId64 "h", left_s / 3600);
	else
		snprintf(s, size, "%" PRId64 "m", (left_s + 59) / 60);
}

/* All findings of a severity, the worst first. */
static size_t findings(const json_t *list, const char *severity, bool verbose)
{
	const json_t *f;
	size_t i, n = 0;

	json_array_foreach((json_t *)list, i, f) {
		if (!j_is(f, "severity", severity))
			continue;
		n++;
		printf("%s%s %-18s%s ", term(style(severity)), mark(severity), j_str(f, "code"),
		       term(TERM_PLAIN));
		term_fold(j_str(f, "summary"), 24);
		if (j_str(f, "why")) {
			printf("     why: ");
			term_fold(j_str(f, "why"), 10);
		}
		printf("     do:  ");
		term_fold(j_str(f, "do"), 10);
		if (verbose) {
			char *evidence = json_dumps(j_get(f, "evidence"), JSON_ENSURE_ASCII);

			printf("     evidence: %s\n", evidence ? evidence : "?");
			free(evidence);
		}
	}
	return n;
}

static void muted(const json_t *list)
{
	const char *last = "";
	const json_t *f;
	char left[32];
	size_t i, n = 0;

	json_array_foreach((json_t *)list, i, f) {
		if (!strcmp(last, j_str(f, "code")))
			continue;
		last = j_str(f, "code");
		left_text(left, sizeof(left), j_int_or(f, "left_s", 0));
		printf("%s%s (%s left)", n++ ? ", " : "muted: ", last, left);
	}
	if (n)
		putchar('\n');
}

/* Reasons, each with how many checks; verbose: each check. */
static void skips(const json_t *list, bool verbose)
{
	char text[4096] = "";
	const json_t *s, *other;
	size_t i, k, n = 0;

	json_array_foreach((json_t *)list, i, s) {
		const char *reason = j_str(s, "reason");
		size_t same = 0, before = 0;

		if (verbose) {
			printf("skip %-18s %s\n", j_str(s, "code"), reason);
			continue;
		}
		json_array_foreach((json_t *)list, k, other) {
			same += j_is(other, "reason", reason);
			before += k < i && j_is(other, "reason", reason);
		}
		if (before)
			continue;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? "; " : "", reason);
		if (same > 1 && n < sizeof(text))
			n += (size_t)snprintf(text + n, sizeof(text) - n, " (%zu)", same);
		if (n >= sizeof(text))
			break;
	}
	if (!n)
		return;
	printf("skipped: ");
	term_fold(text, 9);
}

static void versions(const json_t *report)
{
	const char *module = NULL, *name, *version;
	const json_t *m;

	json_object_foreach((json_t *)j_get(report, "modules"), name, m) {
		version = j_str(m, "version");
		if (version && module && strcmp(version, module))
			module = "of several releases";
		else if (version && !module)
			module = version;
	}
	printf("onrampctl %s  kernel %s  modules %s\n", j_str(report, "version"),
	       j_str(report, "kernel"),
	       module ? module : json_object_size(j_get(report, "modules")) ? "?" : "none");
}

/**
 * report_text() - write a report to stdout; if there is none, why on stderr
 * @report: of doctor_run()
 * @verbose: with evidence, and each check that was skipped
 */
void report_text(const json_t *report, bool verbose)
{
	const json_t *list = j_get(report, "findings"), *hidden;
	char text[200], note[40] = "";
	size_t i, crit, warn, notes;

	if (j_is(report, "status", "unknown") && !json_array_size(list)) {
		warning("no module of onramp is loaded: modprobe or_acker on receivers, onramp-qdisc DEVICE on senders");
		return;
	}
	versions(report);
	crit = findings(list, "critical", verbose);
	warn = findings(list, "warning", verbose);
	notes = findings(list, "note", verbose);
	muted(j_get(report, "muted"));
	skips(j_get(report, "skipped"), verbose);
	json_array_foreach((json_t *)j_get(report, "hidden"), i, hidden)
		printf("not looked at without root: %s\n", json_string_value(hidden));
	if (notes)
		snprintf(note, sizeof(note), "%zu note%s, ", notes, notes == 1 ? "" : "s");
	snprintf(text, sizeof(text),
		 "%zu critical, %zu warning%s, %s%zu ok, %zu skipped.  onrampctl doctor -v; man onramp-doctor",
		 crit, warn, warn == 1 ? "" : "s", note, json_array_size(j_get(report, "ok")),
		 json_array_size(j_get(report, "skipped")));
	term_fold(text, 0);
}
