// SPDX-License-Identifier: GPL-2.0
/*
 * onrampctl status: does each part of On-Ramp, and TIMELY, act on this host's data? Facts and
 * doctor's report in, one line for each part out.
 *
 *	{ "version", "kernel", "status": "ok",
 *	  "parts": { "sender": { "state": "acting", "acting": true, "reason", "code", "do" } } }
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"

/*
 * State of a part: acting; idle, with nothing to act on; inactive, although there is something;
 * absent, its module is not loaded.
 */
enum part_state { ABSENT, IDLE, INACTIVE, ACTING };

static const char * const state_names[] = { "absent", "idle", "inactive", "acting" };
static const char * const state_words[] = { "absent", "idle", "NOT ACTING", "acting" };

/* Codes of doctor that explain why a part does nothing, the most likely reason first. */
static const char * const timely_codes[] = { "TIMELY_UNUSED", NULL };

static const char * const sender_codes[] = {
	"PORT_IN_USE", "QDISC_ABSENT", "MODE_OFF", "SEND_ERRORS", "OTHER_WAY", "KEY_MISMATCH",
	"OTHER_PROTOCOL", "NAT", "NOT_FOLLOWED", "LINE_RATE", "CLOCK_NIC", "RECEIVERS_UNSYNCED",
	"CONNECTIONS_FULL", "OR_PORT_BLOCKED", "PEER_SILENT", NULL,
};

static const char * const receiver_codes[] = {
	"PORT_IN_USE", "NO_STAMPS", "KEY_MISMATCH", "OTHER_PROTOCOL", "RECEIVER_FULL", "CPU_RATE",
	"SUBSCRIBER_RATE", "CPU_BUSY", NULL,
};

struct part {
	const json_t *now, *before, *report;
	const char *module;
	const char * const *codes;
	json_t *out;
	enum part_state state;
	bool critical, muted, note;
};

static int64_t grown(const struct part *p, const char *path)
{
	int64_t now = j_int_or(p->now, path, 0), before = j_int_or(p->before, path, 0);

	return now < before ? now : now - before;
}

/* Statistic of all qdiscs onramp: how much it grew. */
static int64_t qdiscs_grown(const struct part *p, const char *stat)
{
	const char *name, *parent;
	const json_t *dev, *q;
	int64_t sum = 0;
	char key[128];

	json_object_foreach((json_t *)j_get(p->now, "devices"), name, dev)
		json_object_foreach((json_t *)j_get(dev, "qdiscs"), parent, q) {
			snprintf(key, sizeof(key), "devices/%s/qdiscs/%s/stats/%s", name, parent,
				 stat);
			if (j_is(q, "kind", "onramp"))
				sum += grown(p, key);
		}
	return sum;
}

static double per_s(const struct part *p, int64_t n)
{
	int64_t ns = grown(p, "monotonic_ns");

	return p->before && ns > 0 ? (double)n * 1e9 / (double)ns : 0;
}

static void set_state(struct part *p, enum part_state state)
{
	p->state = state;
	j_set(p->out, "state", json_string(state_names[state]));
	j_set(p->out, "acting", json_boolean(state == ACTING));
}

static void __printf(3, 4) say(struct part *p, enum part_state state, const char *fmt, ...)
{
	char reason[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reason, sizeof(reason), fmt, ap);
	va_end(ap);
	set_state(p, state);
	j_set(p->out, "reason", json_string(reason));
}

static const json_t *finding(const json_t *list, const char *code)
{
	const json_t *f;
	size_t i;

	json_array_foreach((json_t *)list, i, f)
		if (j_is(f, "code", code) && j_str(f, "summary") && j_str(f, "do"))
			return f;
	return NULL;
}

/* A finding of doctor is the reason. Returns false if none is. */
static bool blame(struct part *p)
{
	const json_t *f = NULL;
	size_t i;

	for (i = 0; p->codes[i] && !f; i++) {
		f = finding(j_get(p->report, "findings"), p->codes[i]);
		if (f)
			break;
		f = finding(j_get(p->report, "muted"), p->codes[i]);
		p->muted = f;
	}
	if (!f)
		return false;
	p->critical = j_is(f, "severity", "critical");
	p->note = j_is(f, "severity", "note");
	say(p, INACTIVE, "%s", j_str(f, "summary"));
	j_set(p->out, "code", json_string(j_str(f, "code")));
	j_set(p->out, "do", json_string(j_str(f, "do")));
	return true;
}

static void look_timely(struct part *p)
{
	int64_t n = j_int_or(p->now, "tcp/timely/connections", 0);
	int64_t rtts = grown(p, "timely/Completions");

	if (p->before && rtts > 0)
		say(p, ACTING, "%" PRId64 " connection%s, %.0f RTTs/s", n, n == 1 ? "" : "s",
		    per_s(p, rtts));
	else if (!blame(p))
		say(p, IDLE, n ? "%" PRId64 " connection%s, and no data leaves" :
		    "no connection uses it", n, n == 1 ? "" : "s");
}

/* Connections that send, to near and far hosts; those that are followed. */
static void count_data(const struct part *p, int64_t *all, int64_t *followed)
{
	const json_t *row;
	size_t i;

	*all = *followed = 0;
	json_array_foreach((json_t *)j_get(p->now, "data"), i, row) {
		*all += j_int_or(row, "connections", 0);
		if (j_true(row, "followed"))
			*followed += j_int_or(row, "connections", 0);
	}
}

/* On-Ramp waits for something that comes by itself. */
static bool learns(const struct part *p)
{
	return qdiscs_grown(p, "acks_learning") > 0;
}

static bool asks(const struct part *p)
{
	const json_t *peer;
	size_t i;

	json_array_foreach((json_t *)j_get(p->now, "peers"), i, peer)
		if (j_is(peer, "state", "asked"))
			return true;
	return false;
}

static void look_sender(struct part *p)
{
	int64_t acks = qdiscs_grown(p, "acks"), pauses = qdiscs_grown(p, "pauses"), all, followed;

	count_data(p, &all, &followed);
	if (p->before && acks > 0) {
		say(p, ACTING, "%" PRId64 " of %" PRId64 " connections followed, %.0f OR-ACKs/s, %.0f pauses/s",
		    followed, all, per_s(p, acks), per_s(p, pauses));
		return;
	}
	if (learns(p)) {
		say(p, IDLE, "it learns the delay of an empty path");
		return;
	}
	if (blame(p)) {
		/* Turned off, or without the qdisc: nothing is lost while nothing is sent. */
		if (p->note && !all)
			set_state(p, IDLE);
		return;
	}
	if (!all)
		say(p, IDLE, "no data leaves");
	else if (asks(p))
		say(p, IDLE, "hosts were asked for OR-ACKs, and have not answered yet");
	else if (followed)
		say(p, IDLE, "%" PRId64 " of %" PRId64 " connections followed, and no OR-ACK yet",
		    followed, all);
	else
		say(p, IDLE, "data goes to far hosts only, or is little: see peers in tc-onramp(8)");
}

static void look_receiver(struct part *p)
{
	int64_t sent = grown(p, "or_acker/AckSent"), subs = 0;

	j_int(p->now, "or_acker/Subscribers", &subs);
	if (p->before && sent > 0)
		say(p, ACTING, "%" PRId64 " subscriber%s, %.0f OR-ACKs/s", subs,
		    subs == 1 ? "" : "s", per_s(p, sent));
	else if (blame(p))
		return;
	else if (!subs && grown(p, "or_acker/DataBytesNotSubscribed") > 0)
		say(p, IDLE, "data comes from hosts that have not subscribed: no qdisc onramp there, or a filter");
	else if (subs && grown(p, "or_acker/PacketNoSocket") > 0)
		say(p, INACTIVE, "packets of subscribers belong to no connection of this namespace");
	else if (subs)
		say(p, IDLE, "%" PRId64 " subscriber%s, and no data comes", subs,
		    subs == 1 ? "" : "s");
	else
		say(p, IDLE, "no host has subscribed");
}

/* Why a module is not loaded, as far as doctor knows. */
static void absent(struct part *p)
{
	static const char * const codes[] = { "MODULE_MISSING", "MODULE_REFUSED", NULL };
	const json_t *f = NULL;
	size_t i;

	for (i = 0; codes[i] && !f; i++)
		f = finding(j_get(p->report, "findings"), codes[i]);
	say(p, ABSENT, f ? "%s is not loaded: %s" : "%s is not loaded", p->module,
	    f ? j_str(f, "summary") : "");
	if (f) {
		j_set(p->out, "code", json_string(j_str(f, "code")));
		j_set(p->out, "do", json_string(j_str(f, "do")));
	}
}

static const struct {
	const char *name, *module;
	const char * const *codes;
	void (*run)(struct part *p);
} parts[] = {
	{ "timely", "tcp_timely", timely_codes, look_timely },
	{ "sender", "sch_onramp", sender_codes, look_sender },
	{ "receiver", "or_acker", receiver_codes, look_receiver },
};

/**
 * status_run() - tell which part acts
 * @facts: of facts_twice()
 * @report: of doctor_run() on the same facts
 *
 * Return: as at the head of this file, owned by the caller.
 */
json_t *status_run(const json_t *facts, const json_t *report)
{
	const json_t *now = j_get(facts, "now");
	json_t *all = json_object(), *out;
	bool any = false, inactive = false, critical = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		struct part p = {
			.now = now, .before = j_get(facts, "before"), .report = report,
			.module = parts[i].module, .codes = parts[i].codes, .out = json_object(),
		};

		if (!json_is_object(json_object_get(j_get(now, "modules"), p.module)))
			absent(&p);
		else
			parts[i].run(&p);
		any |= p.state != ABSENT;
		inactive |= p.state == INACTIVE && !p.muted;
		critical |= p.state == INACTIVE && p.critical && !p.muted;
		j_set(all, parts[i].name, p.out);
	}
	out = json_pack("{s:s?, s:s?, s:s, s:o}", "version", j_str(now, "version"), "kernel",
			j_str(now, "kernel"), "status", !any ? "unknown" : critical ? "critical" :
			inactive ? "warning" : "ok", "parts", all);
	if (!out)
		die_unknown("out of memory");
	return out;
}

/**
 * status_text() - write one line for each part
 * @status: of status_run()
 * @verbose: with the remedy
 */
void status_text(const json_t *status, bool verbose)
{
	const json_t *part;
	const char *name;
	size_t i;

	json_object_foreach((json_t *)j_get(status, "parts"), name, part) {
		bool marked = j_is(part, "state", state_names[INACTIVE]);

		for (i = 0; i < ARRAY_SIZE(state_names); i++)
			if (j_is(part, "state", state_names[i]))
				printf("%-9s %s%-11s%s ", name, marked ? term(TERM_WARNING) : "",
				       state_words[i], marked ? term(TERM_PLAIN) : "");
		term_fold(j_str(part, "reason"), 22);
		if (verbose && j_str(part, "do")) {
			printf("%21s do: ", "");
			term_fold(j_str(part, "do"), 26);
		}
	}
}
