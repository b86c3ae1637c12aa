/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks of onrampctl doctor: what their files share.
 *
 *	doctor.c		runs them, and has most of them
 *	doctor_data.c		whether anything acts on the data that leaves, and knows its path
 *	doctor_onrampd.c	the daemon of the cluster
 *	doctor_package.c	modules that are not loaded, or will not be
 */
#ifndef ONRAMPCTL_DOCTOR_H
#define ONRAMPCTL_DOCTOR_H

#include "ctl.h"

/* Fewer events than this between two readings give no share. */
#define ENOUGH			20

enum severity { NOTE, WARN, CRIT };

/**
 * struct doctor - a run
 * @now:	facts
 * @before:	facts some time before, or NULL
 * @muted:	code -> seconds since 1970 at which that ends
 * @now_s:	seconds since 1970
 * @report:	result
 * @code:	of the check that runs
 * @severity:	likewise
 * @found:	findings of it
 * @skipped:	it has given a reason for being skipped
 * @worst:	worst severity of findings that are not muted, -1: none
 */
struct doctor {
	const json_t *now, *before, *muted;
	int64_t now_s;
	json_t *report;
	const char *code;
	enum severity severity;
	unsigned int found;
	bool skipped;
	int worst;
};

/**
 * struct found - a finding
 * @subject:	device, file or host that it is about, or NULL
 * @evidence:	object with the values that show it; taken over
 * @summary:	the fault, with numbers; owned by the caller, as the next two
 * @why:	reason
 * @action:	remedy
 * @note:	here it is a note, whatever the severity of the check
 */
struct found {
	const char *subject;
	json_t *evidence;
	const char *summary, *why, *action;
	bool note;
};

/* Text of a finding, on the stack of the check. */
struct text {
	char s[512];
};

/* A list in a sentence: the first three of them. */
struct list {
	char s[256];
	unsigned int n;
};

#define each_device(d, name, dev) \
	json_object_foreach((json_t *)j_get((d)->now, "devices"), name, dev)
#define each_qdisc(dev, parent, q) \
	json_object_foreach((json_t *)j_get(dev, "qdiscs"), parent, q)

/* doctor.c */
void __printf(2, 3) skip(struct doctor *d, const char *fmt, ...);
void found(struct doctor *d, const struct found *f);
struct text __printf(1, 2) text(const char *fmt, ...);
void list_add(struct list *l, const char *word);
const char *plural(int64_t n);
bool num(const json_t *o, const char *path, int64_t *out);
int64_t num_or(const json_t *o, const char *path, int64_t other);
bool grew(const struct doctor *d, const char *path, int64_t *by);
int64_t grown(const struct doctor *d, const char *path);
int64_t qdiscs_grown(const struct doctor *d, const char *name, const char *stat);
int64_t net_grown(const struct doctor *d, const char *stat);
int64_t net_now(const struct doctor *d, const char *stat);
bool is_onramp(const json_t *q);
unsigned int onramps(const json_t *dev);
unsigned int all_onramps(const struct doctor *d);
bool loaded(const struct doctor *d, const char *module);
bool need_module(struct doctor *d, const char *module);
bool need(struct doctor *d, const char *path, const char *what);
bool need_two(struct doctor *d);
bool need_onramp(struct doctor *d);
bool need_peers(struct doctor *d);
bool uses_timely(const struct doctor *d);

/* doctor_data.c */
bool other_way_now(const struct doctor *d);
const json_t *way_differs(const struct doctor *d, const json_t *peer);
bool data_leaves(const struct doctor *d, const char *device);
void check_not_followed(struct doctor *d);
void check_timely_unused(struct doctor *d);
void check_empty_path(struct doctor *d);
void check_onrampd_stopped(struct doctor *d);
void check_onrampd_key(struct doctor *d);
void check_onrampd_alone(struct doctor *d);
void check_onrampd_refuted(struct doctor *d);

/* doctor_package.c */
void check_module_missing(struct doctor *d);
void check_module_refused(struct doctor *d);
void check_module_stub(struct doctor *d);
void check_module_unsigned(struct doctor *d);
void check_next_kernel(struct doctor *d);

#endif /* ONRAMPCTL_DOCTOR_H */
