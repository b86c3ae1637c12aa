// SPDX-License-Identifier: GPL-2.0
/*
 * Reports of chronyc and pmc as JSON, and what follows from them. Nothing here looks at the host.
 *
 *	found = { "kernel": { "synchronised", "max_error_us", "frequency_ppb", "tai_offset_s" },
 *		  "chrony": clock_tracking(), "chrony_sources": clock_sources(),
 *		  "ptp": clock_ptp(), "maps": NAME -> as bus_read() has them,
 *		  "promised_error_ns" }
 *
 * Each member is absent if it is not known. Newer releases of these programs may write more
 * columns or lines: they are left out.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "parse.h"

/* Columns of `chronyc -c tracking`. */
enum {
	T_ID, T_NAME, T_STRATUM, T_TIME, T_OFFSET, T_LAST, T_RMS, T_FREQUENCY, T_RESIDUAL, T_SKEW,
	T_DELAY, T_DISPERSION, T_INTERVAL, T_LEAP, T_COLUMNS,
};

/* Columns of `chronyc -c sources`. */
enum {
	S_MODE, S_STATE, S_NAME, S_STRATUM, S_POLL, S_REACH, S_AGE, S_OFFSET, S_LAST, S_ERROR,
	S_COLUMNS,
};

#define COLUMN_MAX	96

/* Read the first @n columns of a line; false if it has fewer. */
static bool columns(const char *line, char (*out)[COLUMN_MAX], size_t n)
{
	size_t i, len;

	for (i = 0; i < n; i++) {
		len = strcspn(line, ",\n");
		j_clean(out[i], COLUMN_MAX, line, len);
		line += len;
		if (*line != ',')
			return i + 1 == n;
		line++;
	}
	return true;
}

/* A decimal number times @factor, in @key of @o; left out if it is none, or has no such range. */
static void put_scaled(json_t *o, const char *key, const char *text, double factor)
{
	double v;
	char *end;

	v = strtod(text, &end) * factor;
	if (end != text && !*end && isfinite(v) && fabs(v) < 0x1p53)
		j_set(o, key, json_integer(llround(v)));
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

/**
 * clock_tracking() - read `chronyc -c tracking`
 * @csv: its output
 *
 * Return: { "reference", "stratum", "offset_ns": of the system's clock to chrony's estimate of the
 *	time, "error_ns": the largest error that it may have, "frequency_ppb", "skew_ppb", "leap" }.
 */
json_t *clock_tracking(const char *csv)
{
	char c[T_COLUMNS][COLUMN_MAX];
	int64_t offset, delay, dispersion;
	json_t *o;

	if (!columns(csv, c, T_COLUMNS))
		return NULL;
	o = json_object();
	j_set(o, "reference", json_string(*c[T_NAME] ? c[T_NAME] : c[T_ID]));
	put_scaled(o, "stratum", c[T_STRATUM], 1);
	/* chronyc counts what the clock is to be corrected by, which has the other sign. */
	put_scaled(o, "offset_ns", c[T_OFFSET], -1e9);
	put_scaled(o, "root_delay_ns", c[T_DELAY], 1e9);
	put_scaled(o, "root_dispersion_ns", c[T_DISPERSION], 1e9);
	put_scaled(o, "frequency_ppb", c[T_FREQUENCY], 1000);
	put_scaled(o, "skew_ppb", c[T_SKEW], 1000);
	j_set(o, "leap", json_string(c[T_LEAP]));
	/* As chronyd itself tells the kernel. */
	if (j_int(o, "offset_ns", &offset) && j_int(o, "root_delay_ns", &delay) &&
	    j_int(o, "root_dispersion_ns", &dispersion))
		j_set(o, "error_ns", json_integer(llabs(offset) + delay / 2 + dispersion));
	return o;
}

static const char *source_mode(char c)
{
	return c == '^' ? "server" : c == '=' ? "peer" : c == '#' ? "refclock" : "unknown";
}

static const char *source_state(char c)
{
	switch (c) {
	case '*': return "selected";
	case '+': return "combined";
	case '-': return "not combined";
	case '?': return "unusable";
	case 'x': return "falseticker";
	case '~': return "too variable";
	}
	return "unknown";
}

/**
 * clock_sources() - read `chronyc -c sources`
 * @csv: its output
 *
 * Return: an array, with a row for each source.
 */
json_t *clock_sources(const char *csv)
{
	json_t *rows = json_array(), *o;
	char c[S_COLUMNS][COLUMN_MAX];
	uint64_t poll;

	for (; *csv; csv = next_line(csv)) {
		if (!columns(csv, c, S_COLUMNS))
			continue;
		o = json_pack("{s:s, s:s, s:s, s:s}", "daemon", "chronyd", "source", c[S_NAME],
			      "kind", source_mode(*c[S_MODE]), "state", source_state(*c[S_STATE]));
		put_scaled(o, "stratum", c[S_STRATUM], 1);
		if (parse_u64(c[S_POLL] + (*c[S_POLL] == '-'), 0, 32, &poll))
			j_set(o, "poll_s", json_real(ldexp(1, *c[S_POLL] == '-' ? -(int)poll :
							   (int)poll)));
		/* Of the last eight requests, a bit each, in octal. */
		j_set(o, "answers",
		      json_integer(__builtin_popcountl(strtoul(c[S_REACH], NULL, 8) & 0xff)));
		/* All bits set: never. */
		if (strcmp(c[S_AGE], "4294967295"))
			put_scaled(o, "age_s", c[S_AGE], 1);
		put_scaled(o, "offset_ns", c[S_OFFSET], 1e9);
		put_scaled(o, "error_ns", c[S_ERROR], 1e9);
		json_array_append_new(rows, o);
	}
	return rows;
}

/* Lower case, and the words of IEEE 1588. */
static void put_state(json_t *o, const char *word)
{
	char s[32];
	size_t i;

	for (i = 0; word[i] && i + 1 < sizeof(s); i++)
		s[i] = word[i] == '_' ? ' ' : (char)tolower((unsigned char)word[i]);
	s[i] = '\0';
	j_set(o, "state", json_string(s));
}

struct ptp {
	json_t *o, *ports, *port;
	char own[64];		/* identity of this clock */
	char set[64];		/* data set whose lines are read */
};

static void ptp_value(struct ptp *p, const char *key, const char *value)
{
	static const struct {
		const char *set, *key, *name;
	} numbers[] = {
		{ "TIME_STATUS_NP", "master_offset", "offset_ns" },
		{ "CURRENT_DATA_SET", "meanPathDelay", "path_delay_ns" },
		{ "CURRENT_DATA_SET", "stepsRemoved", "steps" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!strcmp(p->set, numbers[i].set) && !strcmp(key, numbers[i].key))
			put_scaled(p->o, numbers[i].name, value, 1);
	if (!strcmp(p->set, "TIME_STATUS_NP") && !strcmp(key, "gmIdentity"))
		j_set(p->o, "grandmaster", json_string(value));
	if (strcmp(p->set, "PORT_DATA_SET"))
		return;
	if (!strcmp(key, "portIdentity")) {
		p->port = json_pack("{s:s}", "port", value);
		json_array_append_new(p->ports, p->port);
	} else if (!strcmp(key, "portState") && p->port) {
		put_state(p->port, value);
	}
}

/* The state of the clock is that of the port that takes the time, if there is one. */
static void ptp_state(struct ptp *p)
{
	static const char * const order[] = { "slave", "uncalibrated", "faulty", "listening" };
	bool self = j_is(p->o, "grandmaster", p->own);
	const json_t *port;
	size_t i, k;

	for (k = 0; k < ARRAY_SIZE(order); k++)
		json_array_foreach(p->ports, i, port)
			if (j_is(port, "state", order[k])) {
				j_set(p->o, "state", json_string(order[k]));
				return;
			}
	j_set(p->o, "state", json_string(self ? "grandmaster" : "unknown"));
}

/**
 * clock_ptp() - read what pmc says of ptp4l
 * @text: output of pmc for TIME_STATUS_NP, PORT_DATA_SET and CURRENT_DATA_SET
 *
 * Return: { "state", "grandmaster", "offset_ns", "path_delay_ns", "steps", "ports": [ { "port",
 *	"state" } ] }; NULL if nobody answered.
 */
json_t *clock_ptp(const char *text)
{
	struct ptp p = { .o = json_object(), .ports = json_array() };
	char a[64], b[64], c[64];
	bool any = false;
	char line[256];

	for (; *text; text = next_line(text)) {
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
		if (sscanf(line, " %63s seq %*d RESPONSE MANAGEMENT %63s", a, b) == 2) {
			any = true;
			p.port = NULL;
			snprintf(p.set, sizeof(p.set), "%s", b);
			snprintf(p.own, sizeof(p.own), "%.*s", (int)strcspn(a, "-"), a);
		} else if (*p.set && sscanf(line, " %63s %63s %63s", a, b, c) == 2) {
			char key[64], value[64];

			ptp_value(&p, j_clean(key, sizeof(key), a, sizeof(a)),
				  j_clean(value, sizeof(value), b, sizeof(b)));
		}
	}
	if (!any) {
		json_decref(p.o);
		json_decref(p.ports);
		return NULL;
	}
	ptp_state(&p);
	j_set(p.o, "ports", p.ports);
	return p.o;
}

static void copy(json_t *row, const char *key, const json_t *from)
{
	const json_t *v = j_get(from, key);

	if (v)
		j_set(row, key, json_incref((json_t *)v));
}

static json_t *system_row(const json_t *found)
{
	static const char * const keys[] = {
		"reference", "stratum", "offset_ns", "leap", "skew_ppb",
	};
	const json_t *kernel = j_get(found, "kernel"), *chrony = j_get(found, "chrony");
	json_t *row = json_pack("{s:s, s:s}", "clock", "system", "state",
				j_true(kernel, "synchronised") ? "synchronised" :
				"unsynchronised");
	size_t i;

	if (chrony)
		j_set(row, "set_by", json_string("chronyd"));
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		copy(row, keys[i], chrony);
	/* chronyd's bound has nanoseconds; that of the kernel is in whole microseconds. */
	if (chrony && j_get(chrony, "error_ns") && j_true(kernel, "synchronised"))
		copy(row, "error_ns", chrony);
	else if (j_get(kernel, "max_error_us"))
		j_set(row, "error_ns",
		      json_integer(j_int_or(kernel, "max_error_us", 0) * 1000));
	copy(row, "frequency_ppb", kernel);
	copy(row, "tai_offset_s", kernel);
	return row;
}

static json_t *ptp_row(const json_t *ptp)
{
	json_t *row = json_pack("{s:s, s:s}", "clock", "ptp", "set_by", "ptp4l");

	copy(row, "state", ptp);
	copy(row, "offset_ns", ptp);
	copy(row, "path_delay_ns", ptp);
	copy(row, "ports", ptp);
	if (j_str(ptp, "grandmaster"))
		j_set(row, "reference", json_string(j_str(ptp, "grandmaster")));
	return row;
}

/**
 * clock_onrampd() - what state onrampd is in
 * @status: its own, of facts_onrampd()
 * @now_ns: CLOCK_MONOTONIC
 *
 * Return: "stopped": it has written nothing for a while; "alone": no other host's daemon is heard;
 * "telling": it tells the kernel of a path; "ready".
 */
const char *clock_onrampd(const json_t *status, int64_t now_ns)
{
	bool heard = false, tells = false;
	const json_t *path;
	size_t i;

	if (now_ns - j_int_or(status, "time_ns", 0) > CLOCK_ONRAMPD_NS)
		return "stopped";
	json_array_foreach((json_t *)j_get(status, "paths"), i, path) {
		heard |= j_true(path, "reports");
		tells |= j_true(path, "wanted");
	}
	return !heard ? "alone" : tells ? "telling" : "ready";
}

/* It keeps the differences of clocks, and sets none. */
static json_t *onrampd_row(const json_t *found)
{
	const json_t *status = j_get(found, "onrampd"), *path;
	int64_t now_ns = j_int_or(found, "monotonic_ns", 0), error, most = -1;
	size_t i;
	json_t *row = json_pack("{s:s, s:s, s:s}", "clock", "paths", "set_by", "onrampd", "state",
				clock_onrampd(status, now_ns));

	json_array_foreach((json_t *)j_get(status, "paths"), i, path)
		if (j_true(path, "wanted") && j_int(path, "error_ns", &error) && error > most)
			most = error;
	if (most >= 0)
		j_set(row, "error_ns", json_integer(most));
	j_set(row, "age_ns", json_integer(now_ns - j_int_or(status, "time_ns", now_ns)));
	return row;
}

/**
 * clock_rows() - the clocks of a host
 * @found: see above
 *
 * Return: an array: the system's clock, that of ptp4l, those that nic_ts has a map of, and what
 * onrampd knows of those of other hosts.
 */
json_t *clock_rows(const json_t *found)
{
	static const char * const keys[] = {
		"state", "error_ns", "age_ns", "max_age_ns", "drift_ppb", "rate_ppt",
	};
	json_t *rows = json_array(), *row;
	const json_t *map;
	const char *name;
	size_t i;

	if (j_get(found, "kernel"))
		json_array_append_new(rows, system_row(found));
	if (j_get(found, "ptp"))
		json_array_append_new(rows, ptp_row(j_get(found, "ptp")));
	json_object_foreach((json_t *)j_get(found, "maps"), name, map) {
		row = json_pack("{s:s, s:s, s:s}", "clock", name, "set_by", "nic_ts", "reference",
				"monotonic");
		for (i = 0; i < ARRAY_SIZE(keys); i++)
			copy(row, keys[i], map);
		json_array_append_new(rows, row);
	}
	if (j_get(found, "onrampd"))
		json_array_append_new(rows, onrampd_row(found));
	return rows;
}

/**
 * clock_source_rows() - where the daemons take the time from
 * @found: see above
 *
 * Return: an array: sources of chronyd, and the grandmaster of ptp4l, a row for each port.
 */
json_t *clock_source_rows(const json_t *found)
{
	const json_t *ptp = j_get(found, "ptp"), *port, *source;
	json_t *rows = json_array(), *row;
	size_t i;

	json_array_foreach((json_t *)j_get(found, "chrony_sources"), i, source)
		json_array_append(rows, (json_t *)source);
	json_array_foreach((json_t *)j_get(ptp, "ports"), i, port) {
		row = json_pack("{s:s, s:s}", "daemon", "ptp4l", "kind", "ptp");
		j_set(row, "source", json_string(j_str(ptp, "grandmaster") ?: "?"));
		copy(row, "port", port);
		copy(row, "state", port);
		/* Only the port that takes the time has an offset. */
		if (j_is(port, "state", "slave") || j_is(port, "state", "uncalibrated")) {
			copy(row, "offset_ns", ptp);
			copy(row, "path_delay_ns", ptp);
		}
		json_array_append_new(rows, row);
	}
	return rows;
}

static void problem(json_t *list, const char *clock, const char *what)
{
	char s[160];

	snprintf(s, sizeof(s), "%s: %s", clock, what);
	json_array_append_new(list, json_string(s));
}

/* The state in which a clock can be relied on. */
static bool is_good(const json_t *row)
{
	return j_is(row, "state", "synchronised") || j_is(row, "state", "slave") ||
	       j_is(row, "state", "grandmaster") || j_is(row, "state", "valid") ||
	       j_is(row, "state", "ready") || j_is(row, "state", "telling");
}

/**
 * clock_problems() - say what is wrong with clocks
 * @rows: of clock_rows()
 * @found: the same
 *
 * Return: an array of sentences. A map that was never set is none.
 */
json_t *clock_problems(const json_t *rows, const json_t *found)
{
	int64_t promised = j_int_or(found, "promised_error_ns", 0), error;
	json_t *list = json_array(), *row;
	size_t i;

	json_array_foreach((json_t *)rows, i, row) {
		const char *clock = j_str(row, "clock"), *state = j_str(row, "state");
		char text[128];

		if (!clock || j_is(row, "state", "unset"))
			continue;
		if (!is_good(row)) {
			if (!strcmp(clock, "system"))
				snprintf(text, sizeof(text), "no daemon has synchronised it");
			else if (!strcmp(clock, "paths"))
				snprintf(text, sizeof(text), "onrampd is %s: onrampctl doctor",
					 state);
			else if (!strcmp(clock, "ptp"))
				snprintf(text, sizeof(text), "ptp4l is %s", state ? state : "?");
			else
				snprintf(text, sizeof(text), "its map is %s: onrampctl clock feed %.16s",
					 state ? state : "?", clock);
			problem(list, clock, text);
		}
		if (strcmp(clock, "system") || promised <= 0)
			continue;
		if (!is_good(row) || (j_int(row, "error_ns", &error) && error > promised)) {
			snprintf(text, sizeof(text),
				 "net.or_acker.clock_error_ns promises %lld ns, which does not hold",
				 (long long)promised);
			problem(list, clock, text);
		}
	}
	return list;
}

/* A time such as 10us, as ns. */
static bool parse_time(const char *s, uint64_t *out)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "ns", 1 }, { "us", NSEC_PER_USEC }, { "ms", NSEC_PER_MSEC },
		{ "s", NSEC_PER_SEC },
	};
	size_t digits = strspn(s, "0123456789"), i;
	char number[16];
	uint64_t v;

	if (!digits || digits >= sizeof(number))
		return false;
	memcpy(number, s, digits);
	number[digits] = '\0';
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(s + digits, units[i].name) &&
		    parse_u64(number, 1, 100 * NSEC_PER_SEC / units[i].ns, &v)) {
			*out = v * units[i].ns;
			return true;
		}
	return false;
}

/**
 * clock_wanted() - read the arguments of clock waitsync: [CLOCK] [within ERROR]
 * @argc: number of them
 * @argv: words
 * @out: result
 * @error: on failure a sentence that says what was expected
 * @size: room at @error
 */
bool clock_wanted(int argc, char **argv, struct wait_for *out, char *error, size_t size)
{
	uint64_t n;

	*out = (struct wait_for){ .clock = "system", .error_ns = UINT64_MAX };
	if (argc && strcmp(argv[0], "within")) {
		out->clock = argv[0];
		if (strcmp(argv[0], "system") && strcmp(argv[0], "ptp") &&
		    (strncmp(argv[0], "phc", 3) ||
		     !parse_u64(argv[0] + 3, 0, UINT32_MAX, &n))) {
			snprintf(error, size, "clock '%s': expected system, ptp or phcN",
				 argv[0]);
			return false;
		}
		argc--;
		argv++;
	}
	if (!argc)
		return true;
	if (argc != 2 || strcmp(argv[0], "within")) {
		snprintf(error, size, "waitsync '%s': expected [system|ptp|phcN] [within ERROR]",
			 argv[0]);
		return false;
	}
	if (!parse_time(argv[1], &out->error_ns)) {
		snprintf(error, size,
			 "error '%s': expected a number and ns, us, ms or s, 1ns to 100s", argv[1]);
		return false;
	}
	return true;
}

/**
 * clock_reached() - tell whether a clock is as good as it is to be
 * @rows: of clock_rows()
 * @wanted: clock, and its error
 * @row: set to the row of that clock, or NULL
 *
 * The error of ptp4l is the offset that it measured last.
 */
bool clock_reached(const json_t *rows, const struct wait_for *wanted, const json_t **row)
{
	json_t *o;
	int64_t v;
	size_t i;

	*row = NULL;
	json_array_foreach((json_t *)rows, i, o)
		if (j_is(o, "clock", wanted->clock))
			*row = o;
	if (!*row || !is_good(*row))
		return false;
	if (wanted->error_ns == UINT64_MAX || j_is(*row, "state", "grandmaster"))
		return true;
	return j_int(*row, strcmp(wanted->clock, "ptp") ? "error_ns" : "offset_ns", &v) &&
	       (uint64_t)llabs(v) <= wanted->error_ns;
}
