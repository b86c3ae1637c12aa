// SPDX-License-Identifier: GPL-2.0
/* onrampctl show */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "family.h"
#include "filter.h"
#include "show.h"

static bool loaded(const json_t *facts, const char *module)
{
	return json_is_object(json_object_get(j_get(facts, "now/modules"), module));
}

/* One sentence, and status 3. */
static void need(const json_t *facts, const char *module)
{
	if (!loaded(facts, module))
		die_unknown("the module %s is not loaded: there is nothing to show", module);
}

/* On a terminal a table has the first columns, as many as fit, without -v. Return how many. */
static size_t put_table(const struct ctl *ctl, const json_t *rows, const struct column *columns,
			size_t n)
{
	size_t room = term_size().ws_col;

	if (room && !ctl->verbose)
		n = show_fitting(rows, columns, n, 1, 1, room);
	show_table(rows, columns, n);
	return n;
}

/* Print rows as an array, or as a table; @none: text in place of an empty table. */
static int put(const struct ctl *ctl, json_t *rows, const struct column *columns, size_t n,
	       const char *none)
{
	size_t shown = n;

	if (ctl->resolve && !ctl->json)
		names_put(rows);
	if (ctl->json)
		j_print(rows);
	else if (!json_array_size(rows))
		warning("%s", none);
	else
		shown = put_table(ctl, rows, columns, n);
	if (shown < n)
		warning("columns left out: %zu; -v, or a wider terminal, shows them", n - shown);
	json_decref(rows);
	return CTL_OK;
}

static int show_devices(const struct ctl *ctl)
{
	static const struct column columns[] = {
		{ "DEVICE", "device", LOOK_TEXT }, { "SPEED", "speed_bit_s", LOOK_RATE },
		{ "ROOT", "qdisc", LOOK_TEXT }, { "ONRAMP", "onramp_qdiscs", LOOK_COUNT },
		{ "MODE", "mode", LOOK_TEXT }, { "FLOWS", "flows", LOOK_COUNT },
		{ "HELD", "held", LOOK_COUNT }, { "PAUSES", "pauses", LOOK_COUNT },
		{ "DELAY", "delay_p50_ns", LOOK_NS }, { "P99", "delay_p99_ns", LOOK_NS },
		{ "T", "threshold_ns", LOOK_NS }, { "LATE", "late_ns", LOOK_NS },
		{ "DROPS", "dropped_packets", LOOK_COUNT }, { "STAMPS", "stamps_rx", LOOK_TEXT },
	};
	json_t *facts = facts_twice(ctl), *rows;

	if (!json_object_size(j_get(facts, "now/modules")))
		die_unknown("no module of onramp is loaded: there is nothing to show");
	if (!j_get(facts, "now/devices"))
		die_unknown("the kernel does not tell about devices");
	rows = rows_devices(j_get(facts, "now"), ctl->verbose);
	json_decref(facts);
	return put(ctl, rows, columns, ARRAY_SIZE(columns),
		   "no device has a wire or the qdisc onramp; -v shows the others");
}

/* Only whether the kernel tells is asked for. */
static void ignore(json_t *row, void *arg)
{
	(void)arg;
	json_decref(row);
}

/* The sentence for a list that netlink refuses; status 3. */
static _Noreturn void refused(int err, const char *module, const char *what)
{
	if (err == -EPERM)
		die_unknown("cannot list %s without CAP_NET_ADMIN: run it as root", what);
	die_unknown("cannot list %s: %s is not loaded, or of another release", what, module);
}

/* The error of netlink for a list. */
static int refusal(const struct ctl *ctl, enum family_what what)
{
	return ctl->facts || *ctl->root ? -EOPNOTSUPP : family_each(what, ignore, NULL);
}

static int show_paths(const struct ctl *ctl)
{
	/* The last seven with -v only. */
	static const struct column columns[] = {
		{ "PEER", "remote", LOOK_TEXT }, { "LOCAL", "local", LOOK_TEXT },
		{ "STATE", "state", LOOK_TEXT }, { "CONN", "connections", LOOK_COUNT },
		{ "QUEUE", "delay_ns", LOOK_NS }, { "P99", "delay_p99_ns", LOOK_NS },
		{ "T", "threshold_ns", LOOK_NS }, { "PAUSED", "paused_share", LOOK_SHARE },
		{ "OR-ACK/S", "acks_per_s", LOOK_COUNT }, { "EMPTY", "empty_rtt_ns", LOOK_NS },
		{ "BASE-ERR", "delay_error_ns", LOOK_NS }, { "BASELINE", "baseline", LOOK_TEXT },
		{ "EMPTY-ERR", "empty_error_ns", LOOK_NS },
		{ "EMPTY-AGE", "empty_age_ns", LOOK_NS }, { "BY", "empty_kind", LOOK_TEXT },
		{ "HOW", "empty_how", LOOK_TEXT }, { "LONGER", "empty_longer", LOOK_COUNT },
		{ "SHORTER", "empty_shorter", LOOK_COUNT },
		{ "SLOW", "slow_rate_bit_s", LOOK_RATE },
	}, proc_columns[] = {
		{ "PEER", "remote", LOOK_TEXT }, { "LOCAL", "local", LOOK_TEXT },
		{ "STATE", "state", LOOK_TEXT }, { "CONN", "connections", LOOK_COUNT },
		{ "RTT", "rtt_us", LOOK_US }, { "UNANSWERED", "unanswered", LOOK_COUNT },
		{ "HEARD", "heard_ms", LOOK_MS },
	};
	static const char none[] =
		"no peers: no data went to another host through the qdisc onramp";
	size_t n = ARRAY_SIZE(columns) - (ctl->verbose ? 0 : 7);
	json_t *facts = facts_twice(ctl), *rows;

	need(facts, "sch_onramp");
	if (!j_get(facts, "now/peers"))
		refused(refusal(ctl, FAMILY_PATHS), "sch_onramp", "peers");
	rows = rows_paths(facts);
	json_decref(facts);
	/* /proc has less: an older module. */
	if (!json_array_size(rows) || j_get(json_array_get(rows, 0), "acks"))
		return put(ctl, rows, columns, n, none);
	return put(ctl, rows, proc_columns, ARRAY_SIZE(proc_columns), none);
}

static int show_subscribers(const struct ctl *ctl)
{
	static const struct column columns[] = {
		{ "SUBSCRIBER", "remote", LOOK_TEXT }, { "LOCAL", "local", LOOK_TEXT },
		{ "FLOWS", "flows", LOOK_COUNT }, { "OR-ACKS", "acks", LOOK_COUNT },
		{ "OR-ACK/S", "acks_per_s", LOOK_COUNT }, { "LAST", "acked_age_ns", LOOK_NS },
		{ "LIFETIME-S", "lifetime_s", LOOK_COUNT },
	};
	json_t *facts = facts_twice(ctl), *rows;

	need(facts, "or_acker");
	if (!j_get(facts, "now/subscribers"))
		refused(refusal(ctl, FAMILY_SUBSCRIBERS), "or_acker", "subscribers");
	rows = rows_subscribers(facts);
	json_decref(facts);
	return put(ctl, rows, columns, ARRAY_SIZE(columns),
		   "no subscribers: no host asked this one for OR-ACKs");
}

static int show_clocks(const struct ctl *ctl)
{
	static const struct column columns[] = {
		{ "CLOCK", "clock", LOOK_TEXT }, { "STATE", "state", LOOK_TEXT },
		{ "ERROR", "error_ns", LOOK_NS }, { "AGE", "age_ns", LOOK_NS },
		{ "MAX-AGE", "max_age_ns", LOOK_NS }, { "DRIFT-PPB", "drift_ppb", LOOK_COUNT },
	};
	json_t *facts = facts_twice(ctl), *rows;

	need(facts, "nic_ts");
	rows = rows_clocks(j_get(facts, "now"));
	json_decref(facts);
	return put(ctl, rows, columns, ARRAY_SIZE(columns), "no clock is known");
}

static int show_timely(const struct ctl *ctl)
{
	static const struct column columns[] = {
		{ "COUNTER", "name", LOOK_TEXT }, { "TOTAL", "value", LOOK_COUNT },
		{ "PER-S", "per_s", LOOK_COUNT },
	};
	json_t *facts = facts_twice(ctl), *rows;

	need(facts, "tcp_timely");
	rows = rows_counters(facts, "timely", ctl->verbose || ctl->json);
	json_decref(facts);
	return put(ctl, rows, columns, ARRAY_SIZE(columns),
		   "no connection has used timely in this network namespace");
}

struct listing {
	const struct filter *filter;
	json_t *rows;
	json_t *index;		/* name of a connection, or "cookie N" -> row */
};

/* One key for a connection; addresses and ports are as JSON has them. */
static const char *name_of(char *s, size_t size, const json_t *row)
{
	snprintf(s, size, "%s %" PRId64 " %s %" PRId64, j_str(row, "local") ?: "?",
		 j_int_or(row, "local_port", 0), j_str(row, "remote") ?: "?",
		 j_int_or(row, "remote_port", 0));
	return s;
}

static void on_flow(const struct flow *f, void *arg)
{
	struct listing *l = arg;
	char name[128];
	json_t *row;

	if (!filter_match(l->filter, f))
		return;
	row = row_flow(f);
	json_array_append_new(l->rows, row);
	json_object_set(l->index, name_of(name, sizeof(name), row), row);
	snprintf(name, sizeof(name), "cookie %" PRIu64, f->cookie & INT64_MAX);
	json_object_set(l->index, name, row);
}

struct joining {
	const struct listing *l;
	enum family_what what;
	const char *key;	/* of the member */
};

/* What a family knows of a connection, as a member of its row, if it has one. */
static void on_known(json_t *o, void *arg)
{
	const struct joining *j = arg;
	char name[128];
	json_t *row;

	if (j->what == FAMILY_TIMELY)
		snprintf(name, sizeof(name), "cookie %" PRId64, j_int_or(o, "cookie", 0));
	else
		name_of(name, sizeof(name), o);
	row = json_object_get(j->l->index, name);
	if (!row) {
		json_decref(o);
		return;
	}
	json_object_del(o, "local");
	json_object_del(o, "remote");
	json_object_del(o, "local_port");
	json_object_del(o, "remote_port");
	json_object_del(o, "cookie");
	j_set(row, j->key, o);
}

static void join(struct listing *l, enum family_what what, const char *key)
{
	struct joining j = { l, what, key };

	family_each(what, on_known, &j);
}

/* Connections that match, with all that is known of them. */
static json_t *list_flows(const struct ctl *ctl, int argc, char **argv)
{
	struct listing l = { .rows = json_array(), .index = json_object() };
	struct filter *filter = NULL;
	char error[FILTER_ERROR];

	if (ctl->facts || *ctl->root)
		die_usage("connections are not among the facts: use it without --facts and --root");
	if (argc) {
		filter = filter_parse(argc, argv, error);
		if (!filter)
			die_usage("%s", error);
	}
	l.filter = filter;
	if (sockets_each(on_flow, &l))
		die_unknown("the kernel does not tell about connections: modprobe tcp_diag");
	filter_free(filter);
	if (json_array_size(l.rows)) {
		join(&l, FAMILY_FLOWS, "onramp");
		join(&l, FAMILY_TIMELY, "timely");
	}
	json_decref(l.index);
	return l.rows;
}

static int show_flows(const struct ctl *ctl, int argc, char **argv)
{
	static const struct column columns[] = {
		{ "FLOW", "from", LOOK_TEXT }, { "TO", "to", LOOK_TEXT },
		{ "CC", "congestion_control", LOOK_TEXT },
		{ "DELIVERY", "delivery_bit_s", LOOK_RATE }, { "RTT", "rtt_us", LOOK_US },
		{ "QUEUE", "onramp/delay_ns", LOOK_NS },
		{ "PAUSES", "onramp/pauses", LOOK_COUNT },
		{ "PAUSED", "onramp/paused_ns", LOOK_NS },
		{ "RETRANS", "retransmitted_packets", LOOK_COUNT },
		{ "PACING", "pacing_bit_s", LOOK_RATE }, { "MIN-RTT", "min_rtt_us", LOOK_US },
		{ "CWND", "cwnd_packets", LOOK_COUNT },
		{ "RECEIVER", "receiver_share", LOOK_SHARE },
		{ "BUFFER", "buffer_share", LOOK_SHARE },
	};

	return put(ctl, list_flows(ctl, argc, argv), columns, ARRAY_SIZE(columns),
		   argc ? "no connection matches" : "no connections");
}

/* Connections of timely, with its own state. */
static int show_timely_flows(const struct ctl *ctl, int argc, char **argv)
{
	static const struct column columns[] = {
		{ "FLOW", "from", LOOK_TEXT }, { "TO", "to", LOOK_TEXT },
		{ "RATE", "timely/rate_bit_s", LOOK_RATE },
		{ "LINE", "timely/line_rate_bit_s", LOOK_RATE },
		{ "RTT", "timely/rtt_ns", LOOK_NS }, { "MIN-RTT", "timely/min_rtt_ns", LOOK_NS },
		{ "RTTS", "timely/rtts", LOOK_COUNT },
		{ "GRADIENT", "timely/gradient", LOOK_SHARE },
		{ "SOURCE", "timely/source", LOOK_TEXT },
	};
	int err = ctl->facts || *ctl->root ? 0 : family_each(FAMILY_TIMELY, ignore, NULL);
	json_t *rows, *mine = json_array(), *row;
	size_t i;

	if (err)
		refused(err, "tcp_timely", "connections of timely");
	rows = list_flows(ctl, argc, argv);
	json_array_foreach(rows, i, row)
		if (j_get(row, "timely"))
			json_array_append(mine, row);
	json_decref(rows);
	return put(ctl, mine, columns, ARRAY_SIZE(columns),
		   argc ? "no connection of timely matches" : "no connections of timely");
}

int cmd_show(const struct ctl *ctl, int argc, char **argv)
{
	static const char * const names[] = {
		"devices", "paths", "flows", "subscribers", "timely", "clocks",
	};
	/* Those with rates look twice. */
	static const struct {
		int (*run)(const struct ctl *ctl);
		bool twice;
	} what[ARRAY_SIZE(names)] = {
		{ show_devices }, { show_paths, true }, {}, { show_subscribers, true },
		{ show_timely, true }, { show_clocks },
	};
	static const char * const flows = "flows";
	struct ctl looks = *ctl;
	size_t i = ARRAY_SIZE(names);

	if (argc)
		i = word_among("show", argv[0], names, ARRAY_SIZE(names));
	if (i == ARRAY_SIZE(names))
		die_usage("show '%s': expected devices, paths, flows, subscribers, timely or clocks",
			  argc ? argv[0] : "");
	if (!what[i].run)
		return show_flows(ctl, argc - 1, argv + 1);
	if (argc > 1 && what[i].run == show_timely &&
	    !word_among("show timely", argv[1], &flows, 1))
		return show_timely_flows(ctl, argc - 2, argv + 2);
	if (argc > 1)
		die_usage("show %s '%s': expected nothing more", names[i], argv[1]);
	if (!what[i].twice)
		looks.interval_ns = 0;
	return what[i].run(&looks);
}
