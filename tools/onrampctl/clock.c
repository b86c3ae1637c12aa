// SPDX-License-Identifier: GPL-2.0
/* onrampctl clock: status, sources, feed, waitsync. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <unistd.h>

#include "clock.h"
#include "collect.h"
#include "look.h"
#include "nic_ts.h"
#include "show.h"

/* Time for an answer of a daemon on this host. */
#define ANSWER_NS	(5 * NSEC_PER_SEC)
/* Shortest and longest interval of feed, ns, as nic_ts has them. */
#define FEED_MIN_NS	NSEC_PER_MSEC
#define FEED_MAX_NS	(60 * NSEC_PER_SEC)
/* Shortest time between two looks of waitsync, ns. */
#define WAIT_MIN_NS	(100 * NSEC_PER_MSEC)

static void add(json_t *o, const char *key, json_t *value)
{
	if (value)
		j_set(o, key, value);
}

/* chronyc, without asking for names of addresses. */
static json_t *chrony(const char *command, json_t *(*read)(const char *csv))
{
	char *const argv[] = { "chronyc", "-n", "-c", (char *)command, NULL };
	char *text = program_output(argv, ANSWER_NS);
	json_t *o = text ? read(text) : NULL;

	free(text);
	return o;
}

static json_t *ptp(void)
{
	char *const argv[] = {
		"pmc", "-u", "-b", "0", "GET TIME_STATUS_NP", "GET PORT_DATA_SET",
		"GET CURRENT_DATA_SET", NULL,
	};
	char *text = program_output(argv, ANSWER_NS);
	json_t *o = text ? clock_ptp(text) : NULL;

	free(text);
	return o;
}

static void add_kernel(json_t *found)
{
	json_t *kernel = facts_system_clock();
	struct timex tx = { .modes = 0 };

	if (!kernel)
		return;
	/* The kernel has 2^-16 ppm. */
	if (adjtimex(&tx) >= 0)
		j_set(kernel, "frequency_ppb",
		      json_integer((json_int_t)tx.freq * 1000 / 65536));
	j_set(found, "kernel", kernel);
}

static void add_promise(json_t *found)
{
	FILE *f = fopen("/proc/sys/net/or_acker/clock_error_ns", "re");
	long long v;

	if (!f)
		return;
	if (fscanf(f, "%lld", &v) == 1)
		j_set(found, "promised_error_ns", json_integer(v));
	fclose(f);
}

/* All that is known of the clocks, as clock_core.c has it. */
static json_t *find(const struct ctl *ctl)
{
	json_t *devices = json_object(), *maps = json_object(), *stats = json_object();
	json_t *found = json_object();

	add_kernel(found);
	add(found, "chrony", chrony("tracking", clock_tracking));
	add(found, "ptp", ptp());
	if (bus_read(devices, maps, stats))
		j_set(found, "maps", json_incref(maps));
	add_promise(found);
	add(found, "onrampd", facts_onrampd(ctl));
	j_set(found, "monotonic_ns", json_integer((json_int_t)now_ns()));
	json_decref(devices);
	json_decref(maps);
	json_decref(stats);
	return found;
}

/* What stays unknown for other users. */
static void hint(void)
{
	if (geteuid())
		warning("run it as root: ptp4l answers root only");
}

static int clock_status(const struct ctl *ctl)
{
	static const struct column columns[] = {
		{ "CLOCK", "clock", LOOK_TEXT }, { "SET-BY", "set_by", LOOK_TEXT },
		{ "STATE", "state", LOOK_TEXT }, { "REFERENCE", "reference", LOOK_TEXT },
		{ "OFFSET", "offset_ns", LOOK_NS }, { "ERROR", "error_ns", LOOK_NS },
		{ "FREQ-PPB", "frequency_ppb", LOOK_COUNT }, { "AGE", "age_ns", LOOK_NS },
	};
	json_t *found = find(ctl), *rows = clock_rows(found), *o, *problem;
	json_t *problems = clock_problems(rows, found);
	int result = !json_array_size(rows) ? CTL_UNKNOWN : json_array_size(problems) ?
		     CTL_WARNING : CTL_OK;
	size_t i;

	if (result == CTL_UNKNOWN)
		die_unknown("the kernel does not tell about its clock");
	o = json_pack("{s:s, s:O, s:O}", "status", result ? "warning" : "ok", "clocks", rows,
		      "problems", problems);
	if (j_get(found, "promised_error_ns"))
		j_set(o, "promised_error_ns",
		      json_integer(j_int_or(found, "promised_error_ns", 0)));
	if (ctl->json)
		j_print(o);
	else
		show_table(rows, columns, ARRAY_SIZE(columns));
	if (!ctl->json)
		json_array_foreach(problems, i, problem)
			printf("%s\n", json_string_value(problem));
	hint();
	json_decref(o);
	json_decref(problems);
	json_decref(rows);
	json_decref(found);
	return result;
}

static int show_sources(const struct ctl *ctl)
{
	static const struct column columns[] = {
		{ "SOURCE", "source", LOOK_TEXT }, { "KIND", "kind", LOOK_TEXT },
		{ "DAEMON", "daemon", LOOK_TEXT }, { "STATE", "state", LOOK_TEXT },
		{ "STRATUM", "stratum", LOOK_COUNT }, { "ANSWERS/8", "answers", LOOK_COUNT },
		{ "AGE-S", "age_s", LOOK_COUNT }, { "OFFSET", "offset_ns", LOOK_NS },
		{ "ERROR", "error_ns", LOOK_NS }, { "PATH", "path_delay_ns", LOOK_NS },
	};
	json_t *found = json_object(), *rows, *row;
	int result = CTL_WARNING;
	size_t i;

	add(found, "chrony_sources", chrony("sources", clock_sources));
	add(found, "ptp", ptp());
	hint();
	if (!json_object_size(found))
		die_unknown("neither chronyd nor ptp4l answers: no daemon runs, or chronyc and pmc are not installed");
	rows = clock_source_rows(found);
	json_array_foreach(rows, i, row)
		if (j_is(row, "state", "selected") || j_is(row, "state", "slave"))
			result = CTL_OK;
	if (ctl->json)
		j_print(rows);
	else if (json_array_size(rows))
		show_table(rows, columns, ARRAY_SIZE(columns));
	else
		warning("the daemons have no sources");
	json_decref(rows);
	json_decref(found);
	return result;
}

/* The clock of a device, or the clock's own name. */
static void clock_name(char *s, size_t size, const char *word)
{
	int phc;

	if (!strncmp(word, "phc", 3)) {
		snprintf(s, size, "%s", word);
		return;
	}
	phc = ethtool_phc(word);
	if (phc < 0)
		die_usage("feed '%s': expected phcN, or a device that has a clock", word);
	snprintf(s, size, "phc%d", phc);
}

static int clock_feed(const struct ctl *ctl, int argc, char **argv)
{
	char name[32], interval[32], count[32];
	char *words[9] = {
		"onrampctl", "clock", name, "feed", "interval", interval, "count", count, NULL,
	};

	if (argc != 1)
		die_usage("feed: expected a clock phcN, or a device that has one");
	if (ctl->json)
		die_usage("feed writes nothing: use it without --json");
	if (ctl->interval_ns < FEED_MIN_NS || ctl->interval_ns > FEED_MAX_NS)
		die_usage("expected an interval of 0.001 to 60 s");
	clock_name(name, sizeof(name), argv[0]);
	snprintf(interval, sizeof(interval), "%" PRIu64,
		 (uint64_t)(ctl->interval_ns / NSEC_PER_MSEC));
	snprintf(count, sizeof(count), "%" PRIu64, ctl->count);
	nic_ts_as = (struct nic_ts_as){ "onrampctl", CTL_UNKNOWN };
	return nic_ts_main(ARRAY_SIZE(words) - 1, words);
}

static void put_waited(const struct ctl *ctl, const struct wait_for *wanted, const json_t *row,
		       bool reached, double seconds)
{
	const char *error = strcmp(wanted->clock, "ptp") ? "error_ns" : "offset_ns";
	const char *state = j_str(row, "state");
	char s[32];
	json_t *o;

	show_value(s, sizeof(s), j_get(row, error), LOOK_NS);
	if (!ctl->json) {
		printf("%s: %s, %s %s, after %.1f s\n", wanted->clock, state ? state : "unknown",
		       strcmp(wanted->clock, "ptp") ? "error" : "offset", s, seconds);
		return;
	}
	o = json_pack("{s:s, s:b, s:s, s:f}", "clock", wanted->clock, "reached", reached, "state",
		      state ? state : "unknown", "waited_s", seconds);
	if (j_get(row, error))
		j_set(o, error, json_integer(j_int_or(row, error, 0)));
	if (wanted->error_ns != UINT64_MAX)
		j_set_u64(o, "wanted_error_ns", wanted->error_ns);
	j_print(o);
	json_decref(o);
}

static int clock_wait(const struct ctl *ctl, int argc, char **argv)
{
	uint64_t start = now_ns(), end = start + ctl->timeout_ns, now;
	struct wait_for wanted;
	const json_t *row;
	json_t *found, *rows;
	char error[160];
	bool reached;

	if (!clock_wanted(argc, argv, &wanted, error, sizeof(error)))
		die_usage("%s", error);
	if (ctl->interval_ns < WAIT_MIN_NS)
		die_usage("expected an interval of 0.1 s or more");
	for (;;) {
		found = find(ctl);
		rows = clock_rows(found);
		json_decref(found);
		reached = clock_reached(rows, &wanted, &row);
		now = now_ns();
		if (reached || (ctl->timeout_ns && now >= end))
			break;
		json_decref(rows);
		look_sleep(ctl->timeout_ns && end - now < ctl->interval_ns ? end - now :
			   ctl->interval_ns);
	}
	if (!reached)
		hint();
	put_waited(ctl, &wanted, row, reached, (double)(now - start) / 1e9);
	json_decref(rows);
	return reached ? CTL_OK : CTL_WARNING;
}

int cmd_clock(const struct ctl *ctl, int argc, char **argv)
{
	static const char * const names[] = { "status", "sources", "feed", "waitsync" };
	const char *what = argc ? argv[0] : "";
	size_t i = word_among("clock", what, names, ARRAY_SIZE(names));

	if (i < ARRAY_SIZE(names))
		what = names[i];
	if (ctl->facts || *ctl->root)
		die_usage("daemons are not among the facts: use clock without --facts and --root");
	if (!strcmp(what, "feed"))
		return clock_feed(ctl, argc - 1, argv + 1);
	if (!strcmp(what, "waitsync"))
		return clock_wait(ctl, argc - 1, argv + 1);
	if (argc > 1)
		die_usage("clock %s '%s': expected nothing more", what, argv[1]);
	if (!strcmp(what, "status"))
		return clock_status(ctl);
	if (!strcmp(what, "sources"))
		return show_sources(ctl);
	die_usage("clock '%s': expected status, sources, feed or waitsync", what);
}
