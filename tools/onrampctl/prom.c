// SPDX-License-Identifier: GPL-2.0
/*
 * onrampctl prometheus: facts and findings in the text format that Prometheus reads.
 *
 * Units are seconds and bytes, and counters end in _total. Labels do not multiply: statistics of
 * the qdiscs of a device are added up, so a device has as many series with one queue as with a
 * hundred. No label is about a connection or a host.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "uapi/onramp.h"

#include "prom.h"

enum kind { COUNT, GAUGE, SIGNED, PPM };

struct stat_row {
	const char *name, *help;
	enum kind kind;
};

static const struct stat_row stats[ONRAMP_STATS_MAX + 1] = {
#define ONRAMP_X(NAME, name, kind, help)	\
	[ONRAMP_STATS_##NAME] = { #name, help, kind },
	ONRAMP_STATS
#undef ONRAMP_X
};

/* A label's value, or help, where @quotes is false. */
static void put_escaped(FILE *f, const char *s, bool quotes)
{
	for (; *s; s++) {
		if (*s == '\n')
			fputs("\\n", f);
		else if (*s == '\\' || (*s == '"' && quotes))
			fprintf(f, "\\%c", *s);
		else
			fputc(*s, f);
	}
}

static void family(FILE *f, const char *name, const char *type, const char *help)
{
	fprintf(f, "# HELP %s ", name);
	put_escaped(f, help, false);
	fprintf(f, "\n# TYPE %s %s\n", name, type);
}

/* Seconds from ns, ratios from millionths. */
static void put_number(FILE *f, int64_t v, double unit)
{
	if (unit == 1)
		fprintf(f, " %" PRId64 "\n", v);
	else
		fprintf(f, " %.12g\n", (double)v * unit);
}

/* A sample with a label, or with none. */
static void sample(FILE *f, const char *name, const char *label, const char *value, int64_t v,
		   double unit)
{
	fputs(name, f);
	if (label) {
		fprintf(f, "{%s=\"", label);
		put_escaped(f, value, true);
		fputs("\"}", f);
	}
	put_number(f, v, unit);
}

/* "AckLimitCpu" is ack_limit_cpu. */
static void snake(char *out, size_t size, const char *name)
{
	size_t n = 0;

	for (; *name && n + 2 < size; name++) {
		if (isupper((unsigned char)*name) && n && out[n - 1] != '_')
			out[n++] = '_';
		out[n++] = isalnum((unsigned char)*name) ?
			   (char)tolower((unsigned char)*name) : '_';
	}
	out[n] = '\0';
}

/* Name with the unit as Prometheus has it, and the factor to that; "" is one to leave out. */
static double name_of(char *out, size_t size, const char *prefix, const struct stat_row *s)
{
	size_t n = strlen(s->name);
	double unit = 1;
	char base[64];

	snprintf(base, sizeof(base), "%s", s->name);
	*out = '\0';
	/* It contains the offset of two clocks. */
	if (s->kind == SIGNED)
		return unit;
	if (n > 3 && !strcmp(base + n - 3, "_ns")) {
		base[n - 3] = '\0';
		unit = 1e-9;
	} else if (!strcmp(base, "latency") || !strcmp(base, "next_packet_delay")) {
		unit = 1e-9;
	} else if (s->kind == PPM) {
		unit = 1e-6;
	}
	snprintf(out, size, "%s%s%s%s", prefix, base, unit == 1e-9 ? "_seconds" :
		 unit == 1e-6 ? "_ratio" : "", s->kind == COUNT ? "_total" : "");
	return unit;
}

/* Of the namespace: each qdisc shows the same. */
static bool is_net(int attr)
{
	return (attr >= ONRAMP_STATS_PEERS && attr <= ONRAMP_STATS_ACKS_NO_FLOW) ||
	       attr == ONRAMP_STATS_FORWARD_YIELDS || attr == ONRAMP_STATS_SEEDS_REFUSED ||
	       strstr(stats[attr].help, "of the namespace");
}

/* Flows, packets and counters of queues add up; of times the longest counts. */
static bool adds_up(int attr)
{
	switch (attr) {
	case ONRAMP_STATS_FLOWS:
	case ONRAMP_STATS_INACTIVE:
	case ONRAMP_STATS_FLOWS_THROTTLED:
	case ONRAMP_STATS_BAND0_PKTS:
	case ONRAMP_STATS_BAND1_PKTS:
	case ONRAMP_STATS_BAND2_PKTS:
		return true;
	default:
		return stats[attr].kind == COUNT;
	}
}

/* A statistic of all qdiscs onramp of a device; false if none has it. */
static bool device_value(const json_t *dev, const char *name, bool sum, int64_t *out)
{
	const char *parent;
	const json_t *q;
	bool any = false;
	char path[96];
	int64_t v;

	snprintf(path, sizeof(path), "stats/%s", name);
	json_object_foreach((json_t *)j_get(dev, "qdiscs"), parent, q) {
		if (!j_is(q, "kind", "onramp") || !j_int(q, path, &v))
			continue;
		if (!any)
			*out = v;
		else if (sum)
			*out = (int64_t)((uint64_t)*out + (uint64_t)v);
		else if (v > *out)
			*out = v;
		any = true;
	}
	return any;
}

static void put_devices(FILE *f, const json_t *now, const char *name, const char *metric,
			const char *type, const char *help, bool sum, double unit)
{
	const char *device;
	const json_t *dev;
	bool head = false;
	int64_t v;

	json_object_foreach((json_t *)j_get(now, "devices"), device, dev) {
		if (!device_value(dev, name, sum, &v))
			continue;
		if (!head)
			family(f, metric, type, help);
		head = true;
		sample(f, metric, "device", device, v, unit);
	}
}

static void put_net(FILE *f, const json_t *now, int attr, const char *metric, double unit)
{
	const char *device;
	const json_t *dev;
	int64_t v, most = 0;
	bool any = false;

	json_object_foreach((json_t *)j_get(now, "devices"), device, dev) {
		if (!device_value(dev, stats[attr].name, false, &v))
			continue;
		if (!any || v > most)
			most = v;
		any = true;
	}
	if (!any)
		return;
	family(f, metric, stats[attr].kind == COUNT ? "counter" : "gauge", stats[attr].help);
	sample(f, metric, NULL, NULL, most, unit);
}

static void put_qdiscs(FILE *f, const json_t *now)
{
	static const struct {
		const char *name, *metric, *type, *help;
	} basic[] = {
		{ "sent_bytes", "onramp_qdisc_sent_bytes_total", "counter", "bytes sent" },
		{ "sent_packets", "onramp_qdisc_sent_packets_total", "counter", "packets sent" },
		{ "dropped_packets", "onramp_qdisc_dropped_packets_total", "counter",
		  "packets dropped, for all reasons" },
		{ "queued_bytes", "onramp_qdisc_queued_bytes", "gauge", "bytes in the queue" },
		{ "queued_packets", "onramp_qdisc_queued_packets", "gauge",
		  "packets in the queue" },
	};
	char metric[128];
	double unit;
	size_t i;
	int attr;

	for (i = 0; i < ARRAY_SIZE(basic); i++)
		put_devices(f, now, basic[i].name, basic[i].metric, basic[i].type, basic[i].help,
			    true, 1);
	for (attr = ONRAMP_STATS_FIRST; attr <= ONRAMP_STATS_MAX; attr++) {
		unit = name_of(metric, sizeof(metric), is_net(attr) ? "onramp_net_" :
			       "onramp_qdisc_", &stats[attr]);
		if (!*metric)
			continue;
		if (is_net(attr))
			put_net(f, now, attr, metric, unit);
		else
			put_devices(f, now, stats[attr].name, metric,
				    stats[attr].kind == COUNT ? "counter" : "gauge",
				    stats[attr].help, adds_up(attr), unit);
	}
}

/* Files of /proc/net: counters, and gauges. */
static void put_file(FILE *f, const json_t *now, const char *file, const char *prefix)
{
	static const char * const gauges[] = {
		"Subscribers", "Flows", "Devices", "PortOpen", "ForwardGuard",
	};
	char metric[160], base[96], help[192];
	const json_t *v;
	const char *name;
	bool gauge;
	size_t i;

	json_object_foreach((json_t *)j_get(now, file), name, v) {
		if (!json_is_integer(v))
			continue;
		gauge = false;
		for (i = 0; i < ARRAY_SIZE(gauges); i++)
			gauge |= !strcmp(name, gauges[i]);
		snake(base, sizeof(base), name);
		snprintf(metric, sizeof(metric), "%s%s%s", prefix, base, gauge ? "" : "_total");
		snprintf(help, sizeof(help), "%s of /proc/net/%s", name, file);
		family(f, metric, gauge ? "gauge" : "counter", help);
		sample(f, metric, NULL, NULL, json_integer_value(v), 1);
	}
}

/* Counters of nic_ts, each of all devices: the first device names them. */
static void put_bus(FILE *f, const json_t *now)
{
	const json_t *devices = j_get(now, "nic_ts"), *first, *dev, *v;
	char metric[160], base[96], help[192];
	const char *device, *other, *name;
	json_t *done = json_object();
	int64_t value;

	json_object_foreach((json_t *)devices, device, first) {
		json_object_foreach((json_t *)first, name, v) {
			/* Others have small letters. */
			if (!json_is_integer(v) || !isupper((unsigned char)*name) ||
			    json_object_get(done, name))
				continue;
			j_set(done, name, json_true());
			snake(base, sizeof(base), name);
			snprintf(metric, sizeof(metric), "onramp_nic_ts_%s_total", base);
			snprintf(help, sizeof(help), "%s of nic_ts devices", name);
			family(f, metric, "counter", help);
			json_object_foreach((json_t *)devices, other, dev)
				if (j_int(dev, name, &value))
					sample(f, metric, "device", other, value, 1);
		}
	}
	json_decref(done);
}

static void put_info(FILE *f, const json_t *now)
{
	const char *name, *version = j_str(now, "version"), *kernel = j_str(now, "kernel");
	const json_t *module;

	family(f, "onramp_info", "gauge", "releases of onrampctl and of the kernel");
	fputs("onramp_info{kernel=\"", f);
	put_escaped(f, kernel ? kernel : "", true);
	fputs("\",version=\"", f);
	put_escaped(f, version ? version : "", true);
	fputs("\"} 1\n", f);
	if (!json_object_size(j_get(now, "modules")))
		return;
	family(f, "onramp_module_info", "gauge", "loaded modules");
	json_object_foreach((json_t *)j_get(now, "modules"), name, module) {
		fputs("onramp_module_info{module=\"", f);
		put_escaped(f, name, true);
		fputs("\",version=\"", f);
		put_escaped(f, j_str(module, "version") ? j_str(module, "version") : "", true);
		fputs("\"} 1\n", f);
	}
}

/* What is known of the RTTs of empty paths; by netlink only. */
static void put_empty_paths(FILE *f, const json_t *now)
{
	static const char * const hows[] = { "proof", "seen", "changed", "unknown" };
	int64_t n[ARRAY_SIZE(hows)] = { 0 }, error, most = 0;
	const json_t *peer;
	bool any = false;
	size_t i, k;

	json_array_foreach((json_t *)j_get(now, "peers"), k, peer) {
		any |= !!j_get(peer, "acks");
		for (i = 0; i < ARRAY_SIZE(hows) - 1; i++)
			if (j_is(peer, "empty_how", hows[i]))
				break;
		n[i]++;
		if (j_int(peer, "empty_error_ns", &error) && error > most)
			most = error;
	}
	if (!any)
		return;
	family(f, "onramp_path_empty_rtts", "gauge",
	       "hosts that data is sent to, by how the RTT of the empty path is known");
	for (i = 0; i < ARRAY_SIZE(hows); i++)
		sample(f, "onramp_path_empty_rtts", "how", hows[i], n[i], 1);
	family(f, "onramp_path_empty_error_seconds", "gauge",
	       "largest error of an RTT of an empty path: it may be too low by this");
	sample(f, "onramp_path_empty_error_seconds", NULL, NULL, most, 1e-9);
}

static void put_peers(FILE *f, const json_t *now)
{
	static const char * const states[] = { "asked", "subscribed", "silent" };
	const json_t *peer;
	int64_t n;
	size_t i, k;

	if (!j_get(now, "peers"))
		return;
	family(f, "onramp_path_peers", "gauge", "hosts that data is sent to, by whether they answer");
	for (i = 0; i < ARRAY_SIZE(states); i++) {
		n = 0;
		json_array_foreach((json_t *)j_get(now, "peers"), k, peer)
			n += j_is(peer, "state", states[i]);
		sample(f, "onramp_path_peers", "state", states[i], n, 1);
	}
	put_empty_paths(f, now);
}

static void put_clocks(FILE *f, const json_t *now)
{
	const json_t *clocks = j_get(now, "clocks"), *clock;
	const char *name;
	int64_t v;

	if (j_get(now, "system_clock")) {
		family(f, "onramp_system_clock_synchronised", "gauge",
		       "1 if the kernel holds the system's clock for synchronised");
		sample(f, "onramp_system_clock_synchronised", NULL, NULL,
		       j_true(now, "system_clock/synchronised"), 1);
	}
	if (!json_object_size(clocks))
		return;
	family(f, "onramp_clock_map_valid", "gauge", "1 if the clock has a valid map");
	json_object_foreach((json_t *)clocks, name, clock)
		sample(f, "onramp_clock_map_valid", "clock", name, j_is(clock, "state", "valid"),
		       1);
	family(f, "onramp_clock_map_age_seconds", "gauge", "age of the clock's map");
	json_object_foreach((json_t *)clocks, name, clock)
		if (j_int(clock, "age_ns", &v))
			sample(f, "onramp_clock_map_age_seconds", "clock", name, v, 1e-9);
}

/* Counters of onrampd, and how many hosts it hears. */
static void put_onrampd(FILE *f, const json_t *now)
{
	static const char * const helps[][2] = {
		{ "sent", "messages of onrampd that were sent" },
		{ "received", "messages of other daemons that were used" },
		{ "strangers", "messages of hosts that the kernel does not know, or too many" },
		{ "forged", "messages with another key" },
		{ "replayed", "messages that came twice, or late" },
		{ "refuted", "rounds in which a host's lines contradicted its OR-ACKs" },
		{ "seeds", "baselines that the kernel was told" },
		{ "refused", "baselines that the kernel did not take" },
		{ "probes", "PROBEs that were sent" },
		{ "echoes", "pairs of PROBEs that were answered" },
		{ "echoed", "answers to pairs of PROBEs" },
		{ "samples", "times of the reference that chronyd was told" },
	};
	const json_t *status = j_get(now, "onrampd"), *path;
	int64_t hosts = 0, heard = 0, v;
	char name[96];
	size_t i;

	if (!status)
		return;
	for (i = 0; i < ARRAY_SIZE(helps); i++) {
		if (!j_int(j_get(status, "counters"), helps[i][0], &v))
			continue;
		snprintf(name, sizeof(name), "onramp_onrampd_%s_total", helps[i][0]);
		family(f, name, "counter", helps[i][1]);
		sample(f, name, NULL, NULL, v, 1);
	}
	json_array_foreach((json_t *)j_get(status, "paths"), i, path) {
		hosts++;
		heard += j_true(path, "reports");
	}
	family(f, "onramp_onrampd_hosts", "gauge", "hosts that onrampd knows, by whether it hears theirs");
	sample(f, "onramp_onrampd_hosts", "state", "heard", heard, 1);
	sample(f, "onramp_onrampd_hosts", "state", "silent", hosts - heard, 1);
	if (j_int(now, "monotonic_ns", &v)) {
		family(f, "onramp_onrampd_age_seconds", "gauge", "time since the last round of onrampd");
		sample(f, "onramp_onrampd_age_seconds", NULL, NULL,
		       v - j_int_or(status, "time_ns", v), 1e-9);
	}
}

/* All codes, so that an alert can tell "no finding" from "not looked". */
static void put_findings(FILE *f, const json_t *report)
{
	const json_t *finding, *skip;
	int64_t n, notes;
	size_t i, k;

	family(f, "onramp_doctor_findings", "gauge",
	       "findings of onrampctl doctor that are not muted; a check that was skipped has none");
	for (i = 0; i < doctor_checks(); i++) {
		bool skipped = false;

		json_array_foreach((json_t *)j_get(report, "skipped"), k, skip)
			skipped |= j_is(skip, "code", doctor_code(i));
		if (skipped)
			continue;
		n = 0;
		notes = 0;
		json_array_foreach((json_t *)j_get(report, "findings"), k, finding) {
			if (!j_is(finding, "code", doctor_code(i)))
				continue;
			/* Some are notes where nothing is wrong. */
			if (j_is(finding, "severity", doctor_severity(i)))
				n++;
			else
				notes++;
		}
		fprintf(f, "onramp_doctor_findings{code=\"%s\",severity=\"%s\"} %" PRId64 "\n",
			doctor_code(i), doctor_severity(i), n);
		if (notes)
			fprintf(f, "onramp_doctor_findings{code=\"%s\",severity=\"note\"} %" PRId64
				"\n", doctor_code(i), notes);
	}
}

/**
 * prom_write() - write facts and findings
 * @f: file
 * @facts: of facts_twice()
 * @report: of doctor_run() on them
 */
void prom_write(FILE *f, const json_t *facts, const json_t *report)
{
	static const struct {
		const char *file, *prefix;
	} controls[] = {
#define CTL_CONTROL(name) { #name, "onramp_" #name "_" },
		CTL_CONTROLS
#undef CTL_CONTROL
	};
	const json_t *now = j_get(facts, "now");
	size_t i;

	put_info(f, now);
	put_findings(f, report);
	put_qdiscs(f, now);
	put_peers(f, now);
	put_clocks(f, now);
	for (i = 0; i < ARRAY_SIZE(controls); i++)
		put_file(f, now, controls[i].file, controls[i].prefix);
	put_file(f, now, "or_acker", "onramp_acker_");
	put_file(f, now, "or_port", "onramp_port_");
	put_bus(f, now);
	put_onrampd(f, now);
}
