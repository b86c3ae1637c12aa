/* SPDX-License-Identifier: GPL-2.0 */
/*
 * onrampctl: declarations that its parts share.
 *
 *	collect.c	facts: the readable state of this host, one JSON object
 *	doctor.c	facts in, findings out; uses nothing else
 *	status.c	facts and findings in, out: which part acts
 *	mute.c		findings that do not count for a while
 *	report.c	findings as text
 *	family.c	netlink families onramp and timely
 *	look.c, why_core.c, top_core.c	connections: looks, reasons, the busiest
 *	clock.c		clocks, and the daemons that set them
 *	main.c		commands
 *
 * Facts that could not be read are absent, and their users say so.
 */
#ifndef ONRAMPCTL_H
#define ONRAMPCTL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include "util.h"

/* Exit status of every command, as monitoring plugins have it; or EXIT_USAGE. */
enum ctl_status {
	CTL_OK		= 0,
	CTL_WARNING	= 1,
	CTL_CRITICAL	= 2,
	CTL_UNKNOWN	= 3,	/* no modules, or it could not look */
};

/**
 * struct ctl - the command line
 * @root:	directory that /proc and /sys are below; "" is this host. Otherwise nothing is
 *		asked by netlink or ioctl, which answer for this host only
 * @facts:	file to read facts from instead of this host, or NULL
 * @state:	file with muted checks
 * @netns:	network namespace to look at, by its name for ip-netns(8), or NULL
 * @output:	file that prometheus writes, or NULL for stdout
 * @interval_ns: time between two readings of counters; 0: read once
 * @duration_ns: length of a trace, ns
 * @timeout_ns:	clock waitsync: time after which it gives up; 0: never
 * @count:	monitor: events, top: screens, clock feed: maps, after which it ends; 0: none
 * @sort:	top: key to sort by, or NULL
 * @interval_set: the command line has an interval
 * @http:	prometheus answers a request of HTTP on stdin
 * @json:	write JSON
 * @resolve:	show, top: names in place of addresses and ports, in tables
 * @verbose:	more of it
 */
struct ctl {
	const char *root;
	const char *facts;
	const char *state;
	const char *netns;
	const char *output;
	const char *sort;
	uint64_t interval_ns, duration_ns, timeout_ns, count;
	bool interval_set;
	bool http;
	bool json;
	bool resolve;
	bool verbose;
};

/* die() with status 3: it is not known how this host is. */
_Noreturn void __printf(1, 2) die_unknown(const char *fmt, ...);
size_t word_among(const char *what, const char *word, const char * const *names, size_t n);

/* term.c: colours and size of a terminal. */
enum term_style { TERM_PLAIN, TERM_TITLE, TERM_CRITICAL, TERM_WARNING, TERM_NOTE };

bool term_init(const char *when);
const char *term(enum term_style style);
struct winsize term_size(void);
void term_fold(const char *text, size_t indent);

/* json.c: values by path, keys separated by slashes. */
const json_t *j_get(const json_t *o, const char *path);
bool j_int(const json_t *o, const char *path, int64_t *out);
int64_t j_int_or(const json_t *o, const char *path, int64_t other);
const char *j_str(const json_t *o, const char *path);
bool j_is(const json_t *o, const char *path, const char *text);
bool j_true(const json_t *o, const char *path);
void j_set(json_t *o, const char *key, json_t *value);
void j_set_u64(json_t *o, const char *key, uint64_t value);
void j_print(const json_t *o);
const char *j_clean(char *out, size_t size, const char *name, size_t len);

/* text.c: files of /proc as JSON. */
json_t *text_counters(const char *text);
json_t *text_table(const char *text);

/* collect.c */
json_t *facts_collect(const struct ctl *ctl);
json_t *facts_twice(const struct ctl *ctl);

/* doctor.c */
json_t *doctor_run(const json_t *facts, const json_t *muted, int64_t now_s);
int doctor_status(const json_t *report);
size_t doctor_checks(void);
const char *doctor_code(size_t i);
const char *doctor_title(size_t i);
const char *doctor_severity(size_t i);

/* status.c */
json_t *status_run(const json_t *facts, const json_t *report);
void status_text(const json_t *status, bool verbose);

/* mute.c */
json_t *mute_read(const char *path, int64_t now_s);
void mute_write(const char *path, const json_t *muted);
bool mute_period(const char *text, int64_t *out_s);

/* report.c */
void report_text(const json_t *report, bool verbose);

#endif /* ONRAMPCTL_H */
