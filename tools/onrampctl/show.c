// SPDX-License-Identifier: GPL-2.0
/* onrampctl show */
#include <stdio.h>
#include <string.h>

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
		unknown("the module %s is not loaded: there is nothing to show", module);
}

/* Rows as an array, or as a table; @none where there are none, for who reads it. */
static int put(const struct ctl *ctl, json_t *rows, const struct column *columns, size_t n,
	       const char *none)
{
	if (ctl->json)
		j_print(rows);
	else if (json_array_size(rows))
		show_table(rows, columns, n);
	else
		warning("%s", none);
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
		unknown("no module of onramp is loaded: there is nothing to show");
	if (!j_get(facts, "now/devices"))
		unknown("the kernel does not tell about devices");
	rows = rows_devices(j_get(facts, "now"), ctl->verbose);
	json_decref(facts);
	return put(ctl, rows, columns, ARRAY_SIZE(columns),
		   "no device has a wire or the qdisc onramp; -v shows the others");
}

static int show_paths(const struct ctl *ctl)
{
	static const struct column columns[] = {
		{ "PEER", "remote", LOOK_TEXT }, { "LOCAL", "local", LOOK_TEXT },
		{ "STATE", "state", LOOK_TEXT }, { "CONN", "connections", LOOK_COUNT },
		{ "RTT", "rtt_us", LOOK_US }, { "UNANSWERED", "unanswered", LOOK_COUNT },
		{ "HEARD", "heard_ms", LOOK_MS },
	};
	json_t *facts = facts_twice(ctl), *rows;

	need(facts, "sch_onramp");
	if (!j_get(facts, "now/peers"))
		unknown("this release of sch_onramp has no list of peers");
	rows = rows_paths(j_get(facts, "now"));
	json_decref(facts);
	return put(ctl, rows, columns, ARRAY_SIZE(columns),
		   "no peers: no data went to another host through the qdisc onramp");
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
};

static void on_flow(const struct flow *f, void *arg)
{
	struct listing *l = arg;

	if (filter_match(l->filter, f))
		json_array_append_new(l->rows, row_flow(f));
}

static int show_flows(const struct ctl *ctl, int argc, char **argv)
{
	static const struct column columns[] = {
		{ "FLOW", "from", LOOK_TEXT }, { "TO", "to", LOOK_TEXT },
		{ "CC", "congestion_control", LOOK_TEXT },
		{ "DELIVERY", "delivery_bit_s", LOOK_RATE },
		{ "PACING", "pacing_bit_s", LOOK_RATE }, { "RTT", "rtt_us", LOOK_US },
		{ "MIN-RTT", "min_rtt_us", LOOK_US }, { "CWND", "cwnd_packets", LOOK_COUNT },
		{ "RETRANS", "retransmitted_packets", LOOK_COUNT },
		{ "RECEIVER", "receiver_share", LOOK_SHARE },
		{ "BUFFER", "buffer_share", LOOK_SHARE },
	};
	struct listing l = { .rows = json_array() };
	struct filter *filter = NULL;
	char error[FILTER_ERROR];

	if (ctl->facts || *ctl->root)
		unknown("connections are not among the facts: use show flows without --facts and --root");
	if (argc) {
		filter = filter_parse(argc, argv, error);
		if (!filter)
			unknown("%s", error);
	}
	l.filter = filter;
	if (sockets_each(on_flow, &l))
		unknown("the kernel does not tell about connections: modprobe tcp_diag");
	filter_free(filter);
	return put(ctl, l.rows, columns, ARRAY_SIZE(columns), "no such connection");
}

int cmd_show(const struct ctl *ctl, int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(const struct ctl *ctl);
	} what[] = {
		{ "devices", show_devices }, { "paths", show_paths }, { "timely", show_timely },
		{ "clocks", show_clocks },
	};
	struct ctl once = *ctl;
	size_t i;

	if (argc && !strcmp(argv[0], "flows"))
		return show_flows(ctl, argc - 1, argv + 1);
	/* Only counters are worth a second look. */
	if (!argc || strcmp(argv[0], "timely"))
		once.interval_ns = 0;
	for (i = 0; argc && i < ARRAY_SIZE(what); i++) {
		if (strcmp(argv[0], what[i].name))
			continue;
		if (argc > 1)
			unknown("show %s '%s': expected nothing more", argv[0], argv[1]);
		return what[i].run(&once);
	}
	unknown("show '%s': expected devices, paths, flows, timely or clocks",
		argc ? argv[0] : "");
}
