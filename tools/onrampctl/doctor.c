// SPDX-License-Identifier: GPL-2.0
/*
 * onrampctl doctor: facts in, findings out. Nothing here looks at the host.
 *
 *	facts = { "now": {...}, "before": {...} }	see collect.c
 *	report = { "status": "warning",
 *		   "findings": [ { "code", "severity", "subject", "summary", "why", "do",
 *				   "evidence": {...} } ],
 *		   "muted": [ the same, with "left_s" ],
 *		   "skipped": [ { "code", "reason" } ], "ok": [ code ] }
 *
 * A check is a row of DOCTOR_CHECKS and a function. It is skipped, with the reason, if facts
 * that it needs are missing; otherwise it reports a finding or none. Codes never change
 * their meaning; severities may.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

/* Frames that an interrupt may stand for, from which on RTTs suffer: tcp_nv of Linux. */
#define MAX_COALESCED_FRAMES	8
/* A full frame on the wire, with preamble and gap, bytes. */
#define WIRE_FRAME		1538
/* A smaller largest batch, of some packets, costs more CPU than it is worth, bytes. */
#define GSO_LEAST		(4 * WIRE_FRAME)
/* A smaller share than 1/n is no finding. */
#define SHARE_IMPLAUSIBLE	100
#define SHARE_BUSY		10
#define SHARE_LET_GO		10
/* Timers that are later than this show a busy CPU, ns. */
#define LATE_NS			100000
/*
 * DOCTOR_CHECK(CODE, SEVERITY, function, "what is wrong")
 *
 * The manual page onramp-doctor(7) has these, and the tests have a case for each.
 */
#define DOCTOR_CHECKS \
DOCTOR_CHECK(MODULE_VERSIONS, WARN, module_versions, \
	     "loaded modules are of different releases") \
DOCTOR_CHECK(MODULE_MISSING, CRIT, module_missing, \
	     "no module can be loaded into the running kernel") \
DOCTOR_CHECK(MODULE_REFUSED, CRIT, module_refused, \
	     "the kernel does not take the modules: signatures") \
DOCTOR_CHECK(MODULE_STUB, WARN, module_stub, \
	     "a module could not be built for this kernel") \
DOCTOR_CHECK(NEXT_KERNEL, WARN, next_kernel, \
	     "the newest kernel has no modules of onramp") \
DOCTOR_CHECK(MODULE_UNSIGNED, NOTE, module_unsigned, \
	     "modules have no signature, or none that this kernel trusts") \
DOCTOR_CHECK(PLUGIN_VERSION, WARN, plugin_version, \
	     "the plugin of tc is missing, or older than the module") \
DOCTOR_CHECK(PORT_IN_USE, CRIT, port_in_use, \
	     "another program has the UDP port of the OR protocol") \
DOCTOR_CHECK(SEND_ERRORS, CRIT, send_errors, \
	     "this host cannot send messages of the OR protocol") \
DOCTOR_CHECK(OTHER_WAY, CRIT, other_way, \
	     "messages leave by another device than the data that they are about") \
DOCTOR_CHECK(OR_PORT_BLOCKED, CRIT, or_port_blocked, \
	     "peers that never answered") \
DOCTOR_CHECK(PEER_SILENT, WARN, peer_silent, \
	     "peers that do not answer any more") \
DOCTOR_CHECK(KEY_MISMATCH, CRIT, key_mismatch, \
	     "hosts have different keys") \
DOCTOR_CHECK(OTHER_PROTOCOL, WARN, other_protocol, \
	     "a host speaks another version of the OR protocol") \
DOCTOR_CHECK(NAT, WARN, address_translation, \
	     "addresses are translated on the way") \
DOCTOR_CHECK(FORWARD_GUARD, WARN, forward_guard, \
	     "containers can speak the OR protocol in this host's name") \
DOCTOR_CHECK(FORWARD_REFUSED, WARN, forward_refused, \
	     "a container sends OR messages in this host's name") \
DOCTOR_CHECK(QDISC_ABSENT, WARN, qdisc_absent, \
	     "a device lacks the qdisc onramp") \
DOCTOR_CHECK(NOT_FOLLOWED, WARN, not_followed, \
	     "data leaves, and On-Ramp follows none of it, or uses no OR-ACK") \
DOCTOR_CHECK(TIMELY_UNUSED, WARN, timely_unused, \
	     "tcp_timely is loaded, and acts on nothing") \
DOCTOR_CHECK(MQ_ROOT, WARN, mq_root, \
	     "one qdisc in front of several queues") \
DOCTOR_CHECK(MIXED_LEAVES, WARN, mixed_leaves, \
	     "some queues of a device have another qdisc than onramp") \
DOCTOR_CHECK(MODE_OFF, NOTE, mode_off, \
	     "On-Ramp is turned off in a qdisc") \
DOCTOR_CHECK(SPEED_UNKNOWN, WARN, speed_unknown, \
	     "a device with a wire reports no speed") \
DOCTOR_CHECK(LINE_RATE, WARN, line_rate, \
	     "OR-ACKs are refused as impossible: a wrong line rate, or a wrong clock") \
DOCTOR_CHECK(GSO_SIZE, WARN, gso_size, \
	     "one batch of packets takes longer than the threshold") \
DOCTOR_CHECK(COALESCE, WARN, coalesce, \
	     "the NIC coalesces more than 8 frames into an interrupt") \
DOCTOR_CHECK(LRO, WARN, lro, \
	     "the NIC merges received packets") \
DOCTOR_CHECK(NO_STAMPS, CRIT, no_stamps, \
	     "received packets have no timestamps") \
DOCTOR_CHECK(HW_STAMPS_HELD, WARN, hw_stamps_held, \
	     "hardware timestamps are requested, and are off") \
DOCTOR_CHECK(TX_SLOTS, WARN, tx_slots, \
	     "nearly all sent packets find no slot for a hardware timestamp") \
DOCTOR_CHECK(CLOCK_MAP, WARN, clock_map, \
	     "the map of a clock is not valid any more") \
DOCTOR_CHECK(CLOCK_NIC, WARN, clock_nic, \
	     "clock nic on a device without a clock") \
DOCTOR_CHECK(CLOCK_PROMISE, WARN, clock_promise, \
	     "an error bound is promised for a clock that is not synchronised") \
DOCTOR_CHECK(TWO_DAEMONS, WARN, two_daemons, \
	     "two programs set one clock") \
DOCTOR_CHECK(RECEIVERS_UNSYNCED, WARN, receivers_unsynced, \
	     "OR-ACKs from clocks that are not synchronised, under owd synced") \
DOCTOR_CHECK(ECN_TIMELY, WARN, ecn_timely, \
	     "connections of timely negotiate ECN, and ignore it") \
DOCTOR_CHECK(MIXED_CC, WARN, mixed_cc, \
	     "loss-based flows beside timely") \
DOCTOR_CHECK(RATE_FLOOR, WARN, rate_floor, \
	     "half or more of the busy flows of timely are at their lowest rate") \
DOCTOR_CHECK(STALLED, WARN, stalled, \
	     "packets of a connection do not arrive, timeout after timeout") \
DOCTOR_CHECK(CONNECTIONS_FULL, WARN, connections_full, \
	     "flows are sent without On-Ramp: tables are full") \
DOCTOR_CHECK(RECEIVER_FULL, WARN, receiver_full, \
	     "tables of or_acker are full") \
DOCTOR_CHECK(CPU_RATE, WARN, cpu_rate, \
	     "OR-ACKs are left out: cpu_rate is reached") \
DOCTOR_CHECK(SUBSCRIBER_RATE, WARN, subscriber_rate, \
	     "OR-ACKs are left out: subscriber_rate is reached") \
DOCTOR_CHECK(CPU_BUSY, WARN, cpu_busy, \
	     "OR-ACKs are left out: a CPU of this receiver is saturated") \
DOCTOR_CHECK(LATE_TIMERS, WARN, late_timers, \
	     "paused flows resume late: a CPU is busy") \
DOCTOR_CHECK(LONG_PAUSES, WARN, long_pauses, \
	     "most pauses end with an empty queue: they are too long") \
DOCTOR_CHECK(OTHERS_FILL, WARN, others_fill, \
	     "hosts without On-Ramp fill the queue") \
DOCTOR_CHECK(EMPTY_PATH, WARN, empty_path, \
	     "data leaves, and the delay of the empty path is unknown") \
DOCTOR_CHECK(ONRAMPD_STOPPED, WARN, onrampd_stopped, \
	     "onrampd has ended, or hangs") \
DOCTOR_CHECK(ONRAMPD_KEY, WARN, onrampd_key, \
	     "daemons onrampd have different keys") \
DOCTOR_CHECK(ONRAMPD_ALONE, WARN, onrampd_alone, \
	     "no other onrampd answers") \
DOCTOR_CHECK(ONRAMPD_REFUTED, WARN, onrampd_refuted, \
	     "what another onrampd says is impossible")

static const char * const severity_names[] = { "note", "warning", "critical" };

void skip(struct doctor *d, const char *fmt, ...)
{
	char reason[200];
	va_list ap;

	if (d->skipped || d->found)
		return;
	d->skipped = true;
	va_start(ap, fmt);
	vsnprintf(reason, sizeof(reason), fmt, ap);
	va_end(ap);
	json_array_append_new(json_object_get(d->report, "skipped"),
			      json_pack("{s:s, s:s}", "code", d->code, "reason", reason));
}

void found(struct doctor *d, const struct found *f)
{
	enum severity severity = f->note ? NOTE : d->severity;
	int64_t until = 0;
	json_t *o;

	o = json_pack("{s:s, s:s, s:s?, s:s, s:s?, s:s, s:o}", "code", d->code, "severity",
		      severity_names[severity], "subject", f->subject, "summary", f->summary,
		      "why", f->why, "do", f->action, "evidence",
		      f->evidence ? f->evidence : json_object());
	if (!o)
		die_unknown("out of memory");
	d->found++;
	j_int(d->muted, d->code, &until);
	if (until > d->now_s) {
		j_set(o, "left_s", json_integer(until - d->now_s));
		json_array_append_new(json_object_get(d->report, "muted"), o);
		return;
	}
	json_array_append_new(json_object_get(d->report, "findings"), o);
	if (d->worst < (int)severity)
		d->worst = severity;
}

struct text text(const char *fmt, ...)
{
	struct text t;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t.s, sizeof(t.s), fmt, ap);
	va_end(ap);
	return t;
}

void list_add(struct list *l, const char *word)
{
	size_t used = strlen(l->s);

	if (l->n < 3)
		snprintf(l->s + used, sizeof(l->s) - used, "%s%s", l->n ? ", " : "",
			 word ? word : "?");
	else if (l->n == 3)
		snprintf(l->s + used, sizeof(l->s) - used, ", ...");
	l->n++;
}

const char *plural(int64_t n)
{
	return n == 1 ? "" : "s";
}

/* Facts --------------------------------------------------------------------- */

/* Above any counter of a host: sums and small multiples of counters fit. */
#define LARGEST		(1LL << 53)

bool num(const json_t *o, const char *path, int64_t *out)
{
	int64_t v;

	if (!j_int(o, path, &v))
		return false;
	*out = v > LARGEST ? LARGEST : v < -LARGEST ? -LARGEST : v;
	return true;
}

/* Products may be larger. */
static int64_t whole(double v)
{
	return v > LARGEST ? LARGEST : v < -LARGEST ? -LARGEST : (int64_t)v;
}

int64_t num_or(const json_t *o, const char *path, int64_t other)
{
	num(o, path, &other);
	return other;
}

/* By how much a counter grew between the two looks; false if it is not known. */
bool grew(const struct doctor *d, const char *path, int64_t *by)
{
	int64_t now, before;

	if (!num(d->now, path, &now) || !num(d->before, path, &before))
		return false;
	/* The module was loaded again, or the qdisc replaced. */
	*by = now < before ? now : now - before;
	return true;
}

int64_t grown(const struct doctor *d, const char *path)
{
	int64_t by = 0;

	grew(d, path, &by);
	return by;
}

/* By how much a statistic of all qdiscs of a device grew; names other than NULL are added. */
int64_t qdiscs_grown(const struct doctor *d, const char *name, const char *stat)
{
	const json_t *q, *dev = j_get(j_get(d->now, "devices"), name);
	const char *parent;
	int64_t sum = 0;
	char key[128];

	each_qdisc(dev, parent, q) {
		snprintf(key, sizeof(key), "devices/%s/qdiscs/%s/stats/%s", name, parent, stat);
		sum += grown(d, key);
	}
	return sum;
}

/* The same, of a statistic that each qdisc shows for the whole namespace. */
int64_t net_grown(const struct doctor *d, const char *stat)
{
	const char *name, *parent;
	const json_t *dev, *q;
	int64_t most = 0, by;
	char key[128];

	each_device(d, name, dev)
		each_qdisc(dev, parent, q) {
			snprintf(key, sizeof(key), "devices/%s/qdiscs/%s/stats/%s", name, parent,
				 stat);
			by = grown(d, key);
			if (by > most)
				most = by;
		}
	return most;
}

/* Statistic of the namespace, or the largest of all qdiscs, now. */
int64_t net_now(const struct doctor *d, const char *stat)
{
	const char *name, *parent;
	const json_t *dev, *q;
	int64_t most = 0, v;
	char key[64];

	snprintf(key, sizeof(key), "stats/%s", stat);
	each_device(d, name, dev)
		each_qdisc(dev, parent, q) {
			v = num_or(q, key, 0);
			if (v > most)
				most = v;
		}
	return most;
}

bool is_onramp(const json_t *q)
{
	return j_is(q, "kind", "onramp");
}

/* Qdiscs of that kind on a device. */
unsigned int onramps(const json_t *dev)
{
	unsigned int n = 0;
	const char *parent;
	const json_t *q;

	each_qdisc(dev, parent, q)
		n += is_onramp(q);
	return n;
}

unsigned int all_onramps(const struct doctor *d)
{
	unsigned int n = 0;
	const char *name;
	const json_t *dev;

	each_device(d, name, dev)
		n += onramps(dev);
	return n;
}

bool loaded(const struct doctor *d, const char *module)
{
	return json_is_object(json_object_get(j_get(d->now, "modules"), module));
}

/* Skip a check whose module is missing. */
bool need_module(struct doctor *d, const char *module)
{
	if (!j_get(d->now, "modules"))
		skip(d, "modules could not be listed");
	else if (!loaded(d, module))
		skip(d, "%s is not loaded", module);
	else
		return true;
	return false;
}

bool need(struct doctor *d, const char *path, const char *what)
{
	if (j_get(d->now, path))
		return true;
	skip(d, "%s could not be read", what);
	return false;
}

bool need_two(struct doctor *d)
{
	if (d->before)
		return true;
	skip(d, "it needs two readings: use --interval");
	return false;
}

/* A qdisc onramp is there, and so are its statistics. */
bool need_onramp(struct doctor *d)
{
	if (!need(d, "devices", "the list of devices"))
		return false;
	if (!all_onramps(d)) {
		skip(d, "no device has the qdisc onramp");
		return false;
	}
	return true;
}

bool uses_timely(const struct doctor *d)
{
	return j_is(d->now, "sysctl/net.ipv4.tcp_congestion_control", "timely") ||
	       num_or(d->now, "tcp/timely/connections", 0) > 0;
}

/* Modules --------------------------------------------------------------------- */

static void check_module_versions(struct doctor *d)
{
	const char *name, *first = NULL, *first_name = NULL, *version;
	json_t *module, *evidence;
	struct list l = { "", 0 };
	bool differ = false;

	if (!need(d, "modules", "/sys/module"))
		return;
	evidence = json_object();
	json_object_foreach((json_t *)j_get(d->now, "modules"), name, module) {
		version = j_str(module, "version");
		if (!version)
			continue;
		if (!first) {
			first = version;
			first_name = name;
		}
		differ |= strcmp(first, version) != 0;
		list_add(&l, text("%s %s", name, version).s);
		j_set(evidence, name, json_string(version));
	}
	if (!first)
		skip(d, "no module is loaded, or none has a version");
	if (differ) {
		found(d, &(struct found) {
			.evidence = evidence,
			.summary = text("modules of different releases: %s", l.s).s,
			.why = "some were replaced while others stayed loaded",
			.action = text("unload them all, and load them again: modprobe -r %s",
				       first_name).s,
		});
		return;
	}
	json_decref(evidence);
}

static void check_plugin_version(struct doctor *d)
{
	int64_t module = 0, plugin = 0;
	const char *name, *parent;
	const json_t *dev, *q;

	if (!need_module(d, "sch_onramp"))
		return;
	if (!j_get(d->now, "plugin")) {
		skip(d, "directories of tc could not be searched");
		return;
	}
	each_device(d, name, dev)
		each_qdisc(dev, parent, q)
			if (num_or(q, "interface", 0) > module)
				module = num_or(q, "interface", 0);
	if (!j_str(d->now, "plugin/path")) {
		found(d, &(struct found) {
			.summary = "tc has no plugin for onramp: q_onramp.so was not found",
			.why = "without it tc shows \"Unknown qdisc\", no settings, and writes invalid JSON for all devices",
			.action = "install onramp-tools, or: make install-tools; for a tc of its own, as in a container: TC_LIB_DIR",
		});
		return;
	}
	if (!num(d->now, "plugin/interface", &plugin) || plugin >= module)
		return;
	found(d, &(struct found) {
		.subject = j_str(d->now, "plugin/path"),
		.evidence = json_pack("{s:I, s:I}", "plugin_interface", plugin,
				      "module_interface", module),
		.summary = text("tc's plugin has interface %" PRId64 ", the module %" PRId64,
				plugin, module).s,
		.why = "tc does not show newer settings and statistics",
		.action = "install the tools of the module's release",
	});
}

/* The protocol ---------------------------------------------------------------- */

/* The qdisc never got the port. It tries every 10 s, so that two looks may see none. */
static bool no_port(const struct doctor *d)
{
	return net_now(d, "port_errors") && !net_now(d, "subscribes");
}

static void check_port_in_use(struct doctor *d)
{
	int64_t errors = net_grown(d, "port_errors"), open;

	if (!loaded(d, "or_acker") && !all_onramps(d)) {
		skip(d, "nothing here uses the port");
		return;
	}
	if (num(d->now, "or_acker/PortOpen", &open) && !open) {
		found(d, &(struct found) {
			.evidence = json_pack("{s:I, s:I}", "PortOpen", (json_int_t)0, "PortInUse",
					      num_or(d->now, "or_acker/PortInUse", 0)),
			.summary = "or_acker has no UDP port 299",
			.why = "another program has it; this host sends no OR-ACKs",
			.action = "find it and stop it: ss -lunp sport = 299. or_acker tries again every 10 s",
		});
		return;
	}
	if (no_port(d))
		errors = net_now(d, "port_errors");
	if (!errors)
		return;
	found(d, &(struct found) {
		.evidence = json_pack("{s:I}", "port_errors", errors),
		.summary = text("the qdisc could not open UDP port 299, %" PRId64 " time%s",
				errors, plural(errors)).s,
		.why = "another program has it; this host cannot ask for OR-ACKs",
		.action = "find it and stop it: ss -lunp sport = 299",
	});
}

/* Peers that are silent: those that were heard once, or those that never were. */
static void silent_peers(struct doctor *d, bool heard, struct list *l, json_t *hosts,
			 int64_t *total)
{
	const json_t *peer;
	size_t i;

	json_array_foreach((json_t *)j_get(d->now, "peers"), i, peer) {
		(*total)++;
		if (!j_is(peer, "state", "silent") || !!j_get(peer, "heard_ms") != heard ||
		    (!heard && way_differs(d, peer)))
			continue;
		list_add(l, j_str(peer, "remote"));
		json_array_append(hosts, json_object_get(peer, "remote"));
	}
}

bool need_peers(struct doctor *d)
{
	if (!need_module(d, "sch_onramp"))
		return false;
	if (!j_get(d->now, "peers") && !j_true(d->now, "root")) {
		skip(d, "the list of peers is for root to see");
		return false;
	}
	if (!need(d, "peers", "the list of peers"))
		return false;
	if (!no_port(d))
		return true;
	skip(d, "no peer was asked: this host has no UDP port 299");
	return false;
}

/* Messages with a wrong tag have come, and a peer never answered: for the same reason. */
static bool keys_differ(struct doctor *d)
{
	struct list l = { "", 0 };
	json_t *hosts = json_array();
	int64_t total = 0;

	silent_peers(d, false, &l, hosts, &total);
	json_decref(hosts);
	return l.n && (net_now(d, "acks_tag") > 0 ||
		       num_or(d->now, "or_acker/SubscribeTag", 0) > 0);
}

/* Most SUBSCRIBEs did not leave this host. They are rare: two looks may see none. */
static bool cannot_send(const struct doctor *d)
{
	int64_t errors = net_grown(d, "subscribe_errors");

	if (errors)
		return errors >= net_grown(d, "subscribes");
	errors = net_now(d, "subscribe_errors");
	return errors > 0 && errors >= net_now(d, "subscribes");
}

/* Was a peer asked that has not answered, for another reason than the way of the messages? */
static bool asked_in_vain(const struct doctor *d)
{
	const json_t *peers = j_get(d->now, "peers"), *peer;
	size_t i;

	json_array_foreach((json_t *)peers, i, peer)
		if (num_or(peer, "unanswered", 0) > 0 && !way_differs(d, peer))
			return true;
	return !peers;
}

/*
 * Do SUBSCRIBEs fail now, and not only for the way of their data, which has a check of its own? If
 * none failed between the two looks, their sums tell, which have old errors as well: then a peer
 * has to wait for an answer.
 */
static bool subscribes_fail(const struct doctor *d)
{
	int64_t errors = net_grown(d, "subscribe_errors");

	if (errors)
		return errors > grown(d, "or_port/TxOtherWay");
	return cannot_send(d) && asked_in_vain(d) &&
	       net_now(d, "subscribe_errors") > num_or(d->now, "or_port/TxOtherWay", 0);
}

static void check_send_errors(struct doctor *d)
{
	int64_t acks = grown(d, "or_acker/AckSendFailed"), sent = grown(d, "or_acker/AckSent");
	int64_t challenges = grown(d, "or_acker/ChallengeFailed"), errors, other, no_route;
	bool subscribes = subscribes_fail(d), route;

	if (!loaded(d, "or_acker") && !all_onramps(d)) {
		skip(d, "nothing here uses the port");
		return;
	}
	if (!subscribes && !challenges && (acks < ENOUGH || acks < sent / SHARE_BUSY))
		return;
	errors = subscribes ? net_now(d, "subscribe_errors") : acks + challenges;
	other = grown(d, "or_port/TxNoMemory") + grown(d, "or_port/TxDropped");
	no_route = grown(d, "or_port/TxNoRoute");
	if (!other && !no_route) {
		other = num_or(d->now, "or_port/TxNoMemory", 0) +
			num_or(d->now, "or_port/TxDropped", 0);
		no_route = num_or(d->now, "or_port/TxNoRoute", 0);
	}
	route = no_route > other;
	found(d, &(struct found) {
		.evidence = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "subscribe_errors",
				      net_now(d, "subscribe_errors"), "AckSendFailed",
				      (json_int_t)acks, "ChallengeFailed", (json_int_t)challenges,
				      "TxNoRoute", num_or(d->now, "or_port/TxNoRoute", 0),
				      "TxNoMemory", num_or(d->now, "or_port/TxNoMemory", 0),
				      "TxDropped", num_or(d->now, "or_port/TxDropped", 0)),
		.summary = text("%" PRId64 " %s not sent by this host", errors, subscribes ?
				errors == 1 ? "SUBSCRIBE was" : "SUBSCRIBEs were" :
				"OR-ACKs and CHALLENGEs were").s,
		.why = route ?
		       "no route for them, or their source is no address of this host (TxNoRoute)" :
		       "the stack or a queue of this host dropped them (TxDropped, TxNoMemory)",
		.action = route ?
			  "ip rule; ip route get PEER from LOCAL ipproto udp sport 299 dport 299" :
			  "look at netfilter's OUTPUT chain, and at drops of the device: tc -s qdisc",
	});
}

/* No route by the device of the data: @way of it, or NULL. */
static void no_way(struct doctor *d, const json_t *way, int64_t n)
{
	const char *remote = way ? j_str(way, "remote") : "a peer";
	const char *device = way ? j_str(way, "device") : "the device";

	found(d, &(struct found) {
		.subject = way ? remote : NULL,
		.evidence = json_pack("{s:I, s:I, s:O?}", "TxOtherWay", (json_int_t)n,
				      "subscribe_errors", net_now(d, "subscribe_errors"), "way",
				      way),
		.summary = text("messages to %s have no route by %s, by which the data leaves",
				remote, device).s,
		.why = "a rule leads the data there, by a mark, a protocol or a port, and not UDP from port 299: nothing is sent",
		.action = text("a route or a rule for UDP port 299 by %s; see ip route get %s oif %s",
			       device, way ? remote : "PEER", way ? device : "DEVICE").s,
	});
}

static void check_other_way(struct doctor *d)
{
	const json_t *peer, *way;
	int64_t n = 0;
	bool takes;
	size_t i;

	if (!need_peers(d) || !need(d, "data", "the list of connections"))
		return;
	takes = num(d->now, "or_port/TxOtherWay", &n);
	json_array_foreach((json_t *)j_get(d->now, "peers"), i, peer) {
		const char *remote = j_str(peer, "remote");

		way = j_get(peer, "heard_ms") ? NULL : way_differs(d, peer);
		if (!way || num_or(peer, "unanswered", 0) <= 0)
			continue;
		if (takes) {
			no_way(d, way, n);
			return;
		}
		found(d, &(struct found) {
			.subject = remote,
			.evidence = json_pack("{s:O}", "way", (json_t *)way),
			.summary = text("messages to %s leave by %s, data by %s", remote,
					j_str(way, "message_device"), j_str(way, "device")).s,
			.why = "routes that depend on a mark, a protocol, a VRF or a bound socket: only the data takes them",
			.action = text("lead UDP from port 299 to port 299 the same way: ip rule add ipproto udp sport 299 dport 299 from %s lookup TABLE",
				       j_str(peer, "local") ? j_str(peer, "local") : "ADDRESS").s,
		});
		return;
	}
	if (other_way_now(d) && cannot_send(d))
		no_way(d, NULL, n);
}

/* A silent peer is in a VRF, whose datagrams the port does not get. */
static bool vrf_refuses(const struct doctor *d)
{
	const json_t *peer;
	int64_t accept;
	size_t i;

	if (!num(d->now, "sysctl/net.ipv4.udp_l3mdev_accept", &accept) || accept)
		return false;
	json_array_foreach((json_t *)j_get(d->now, "peers"), i, peer) {
		const char *remote = j_str(peer, "remote");

		/* Those of a link have a scope as well. */
		if (remote && j_is(peer, "state", "silent") && !j_get(peer, "heard_ms") &&
		    strncmp(remote, "fe80:", 5) &&
		    (num_or(peer, "scope", 0) > 0 || strchr(remote, '%')))
			return true;
	}
	return false;
}

static void check_or_port_blocked(struct doctor *d)
{
	bool key = j_is(d->now, "sysctl/net.or_port.key", "set");
	struct list l = { "", 0 };
	int64_t total = 0;
	json_t *hosts;

	if (!need_peers(d))
		return;
	if (cannot_send(d)) {
		skip(d, "SUBSCRIBEs did not leave this host");
		return;
	}
	if (keys_differ(d)) {
		skip(d, "hosts have different keys");
		return;
	}
	hosts = json_array();
	silent_peers(d, false, &l, hosts, &total);
	if (l.n && vrf_refuses(d))
		found(d, &(struct found) {
			.evidence = json_pack("{s:O, s:I, s:I}", "peers", hosts, "peers_total",
					      total, "udp_l3mdev_accept", (json_int_t)0),
			.summary = text("%u of %" PRId64 " peer%s never answered (%s)", l.n, total,
					plural(total), l.s).s,
			.why = "they are in a VRF, and answers in a VRF are not taken: net.ipv4.udp_l3mdev_accept is 0",
			.action = "on both hosts: sysctl net.ipv4.udp_l3mdev_accept=1",
		});
	else if (l.n)
		found(d, &(struct found) {
			.evidence = json_pack("{s:O, s:I, s:I, s:I, s:b}", "peers", hosts,
					      "peers_total", total, "subscribes",
					      net_now(d, "subscribes"), "acks",
					      net_now(d, "acks"), "key", (int)key),
			.summary = text("%u of %" PRId64 " peer%s never answered (%s)", l.n, total,
					plural(total), l.s).s,
			.why = text("%" PRId64 " SUBSCRIBEs, no answer from %s: %s, or %s",
				    net_now(d, "subscribes"), l.n == 1 ? "it" : "these",
				    "no or_acker there, a filter", key ?
				    "another key than the one set here" :
				    "a key there and none here").s,
			.action = "there: modprobe or_acker; onrampctl doctor, which knows of keys; allow UDP from port 299 to port 299, both ways",
		});
	json_decref(hosts);
}

static void check_peer_silent(struct doctor *d)
{
	struct list l = { "", 0 };
	int64_t total = 0;
	json_t *hosts;

	if (!need_peers(d))
		return;
	hosts = json_array();
	silent_peers(d, true, &l, hosts, &total);
	if (l.n)
		found(d, &(struct found) {
			.evidence = json_pack("{s:O, s:I}", "peers", hosts, "peers_total", total),
			.summary = text("%u of %" PRId64 " peer%s stopped answering (%s)", l.n,
					total, plural(total), l.s).s,
			.why = "or_acker was unloaded there, the host is gone, or a new filter drops its messages",
			.action = "there: lsmod | grep or_acker; cat /proc/net/or_acker",
		});
	json_decref(hosts);
}

static void check_key_mismatch(struct doctor *d)
{
	int64_t in, out;

	if (!loaded(d, "or_acker") && !all_onramps(d)) {
		skip(d, "nothing here uses the port");
		return;
	}
	if (keys_differ(d)) {
		out = net_now(d, "acks_tag");
		in = num_or(d->now, "or_acker/SubscribeTag", 0);
	} else {
		if (!need_two(d))
			return;
		out = net_grown(d, "acks_tag");
		in = grown(d, "or_acker/SubscribeTag");
	}
	if (!in && !out)
		return;
	found(d, &(struct found) {
		.evidence = json_pack("{s:I, s:I}", "acks_tag", out, "SubscribeTag", in),
		.summary = text("%" PRId64 " message%s with a wrong tag", in + out,
				plural(in + out)).s,
		.why = "the sender has another key than this host, or forges messages",
		.action = "set net.or_port.key to the same value on all hosts",
	});
}

static void check_other_protocol(struct doctor *d)
{
	int64_t old, other;

	if (!need_module(d, "or_port") || !need(d, "or_port", "/proc/net/or_port") || !need_two(d))
		return;
	old = grown(d, "or_port/RxVersion1");
	other = grown(d, "or_port/RxOtherVersion");
	if (!old && !other)
		return;
	found(d, &(struct found) {
		.evidence = json_pack("{s:I, s:I}", "RxVersion1", old, "RxOtherVersion", other),
		.summary = text("%" PRId64 " message%s of another version of the OR protocol",
				old + other, plural(old + other)).s,
		.why = "that host has another release: On-Ramp between the two does nothing",
		.action = "install the same release there; tcpdump -n udp port 299 shows the host",
	});
}

static bool forwards(const struct doctor *d)
{
	return num_or(d->now, "sysctl/net.ipv4.ip_forward", 0) > 0 ||
	       num_or(d->now, "sysctl/net.ipv6.conf.all.forwarding", 0) > 0;
}

/* A host that translates addresses has to keep containers from speaking in its name. */
static void check_forward_guard(struct doctor *d)
{
	int64_t guard;

	if (!need_module(d, "or_port") || !need(d, "or_port", "/proc/net/or_port"))
		return;
	if (!num(d->now, "or_port/ForwardGuard", &guard)) {
		skip(d, "this or_port does not tell");
		return;
	}
	if (guard || !forwards(d) ||
	    (!all_onramps(d) && num_or(d->now, "or_acker/PortOpen", 0) <= 0))
		return;
	found(d, &(struct found) {
		.evidence = json_pack("{s:I}", "ForwardGuard", (json_int_t)0),
		.summary = "containers of this host can speak the OR protocol in its name",
		.why = "it forwards packets, and its kernel has no netfilter to refuse theirs",
		.action = "set net.or_port.key on all hosts; or use a kernel with CONFIG_NETFILTER",
	});
}

static void check_forward_refused(struct doctor *d)
{
	int64_t n;

	if (!need_module(d, "or_port") || !need(d, "or_port", "/proc/net/or_port") || !need_two(d))
		return;
	n = grown(d, "or_port/ForwardRefused");
	if (n)
		found(d, &(struct found) {
			.evidence = json_pack("{s:I}", "ForwardRefused", (json_int_t)n),
			.summary = text("%" PRId64 " OR message%s of a container in this host's name: refused",
					n, plural(n)).s,
			.why = "it forges them; or it has a qdisc onramp behind address translation, where On-Ramp does not work",
			.action = "find it: conntrack -L -p udp --orig-port-src 299; instead of a qdisc there, use forward on here",
		});
}

static void check_address_translation(struct doctor *d)
{
	int64_t n;

	if (!need_onramp(d) || !need_two(d))
		return;
	n = net_grown(d, "acks_unsupported");
	if (n)
		found(d, &(struct found) {
			.evidence = json_pack("{s:I}", "acks_unsupported", n),
			.summary = text("%" PRId64 " OR-ACK%s about other addresses than ours", n,
					plural(n)).s,
			.why = "a device on the way translates addresses, or joins connections",
			.action = "use On-Ramp between hosts that see each other's addresses",
		});
}

/* Qdiscs and devices ------------------------------------------------------------ */

/* The default came too late for devices that were up. */
static void default_too_late(struct doctor *d)
{
	struct list l = { "", 0 };
	json_t *names = json_array();
	const char *name;
	const json_t *dev;

	each_device(d, name, dev) {
		if (onramps(dev) || !j_true(dev, "up") || !j_true(dev, "wire"))
			continue;
		list_add(&l, name);
		json_array_append_new(names, json_string(name));
	}
	if (l.n)
		found(d, &(struct found) {
			.subject = l.n == 1 ? l.s : NULL,
			.evidence = json_pack("{s:O, s:b}", "devices", names, "default_qdisc", 1),
			.summary = text("%s: no qdisc onramp", l.s).s,
			.why = "default_qdisc was set after the device came up",
			.action = text("onramp-qdisc %s", l.n == 1 ? l.s : "DEVICE").s,
		});
	json_decref(names);
}

static void check_qdisc_absent(struct doctor *d)
{
	struct list wires = { "", 0 }, others = { "", 0 };
	const char *name;
	const json_t *dev;

	if (j_is(d->now, "sysctl/net.core.default_qdisc", "onramp")) {
		if (need(d, "devices", "the list of devices"))
			default_too_late(d);
		return;
	}
	if (!need_module(d, "sch_onramp") || !need(d, "devices", "the list of devices"))
		return;
	if (all_onramps(d))
		return;
	each_device(d, name, dev)
		if (!j_true(dev, "loopback") && data_leaves(d, name))
			list_add(j_true(dev, "wire") ? &wires : &others, name);
	if (wires.n)
		found(d, &(struct found) {
			.subject = wires.n == 1 ? wires.s : NULL,
			.evidence = json_pack("{s:s}", "devices", wires.s),
			.summary = text("%s: no qdisc onramp, and data leaves", wires.s).s,
			.why = "sch_onramp is loaded, and nothing uses it",
			.action = text("onramp-qdisc %s", wires.n == 1 ? wires.s : "DEVICE").s,
		});
	else if (others.n)
		found(d, &(struct found) {
			.subject = others.n == 1 ? others.s : NULL,
			.evidence = json_pack("{s:s}", "devices", others.s),
			.summary = text("no device here has the qdisc onramp, and data leaves by %s",
					others.s).s,
			.why = "a container has none: its host follows the data, with forward on",
			.action = text("on the host: onramp-qdisc DEVICE forward on; or here: onramp-qdisc %s",
				       others.n == 1 ? others.s : "DEVICE").s,
			.note = true,
		});
	/* A namespace that receives only needs none. */
	else if (num_or(d->now, "or_acker/Subscribers", 0) <= 0 &&
		 num_or(d->now, "or_acker/DataBytesNotSubscribed", 0) <= 0)
		found(d, &(struct found) {
			.summary = "no device here has the qdisc onramp",
			.why = "sch_onramp is loaded, and nothing uses it",
			.action = "if this host sends data: onramp-qdisc DEVICE",
			.note = true,
		});
}

static void check_mq_root(struct doctor *d)
{
	const char *name;
	const json_t *dev;
	int64_t queues;

	if (!need_onramp(d))
		return;
	each_device(d, name, dev) {
		if (!is_onramp(j_get(dev, "qdiscs/root")) || !num(dev, "tx_queues", &queues) ||
		    queues < 2)
			continue;
		found(d, &(struct found) {
			.subject = name,
			.evidence = json_pack("{s:I}", "tx_queues", (json_int_t)queues),
			.summary = text("%s: %" PRId64 " queues behind one qdisc (root onramp)",
					name, queues).s,
			.why = "all CPUs that send take the lock of that qdisc",
			.action = text("onramp-qdisc %s; sysctl net.core.default_qdisc=onramp",
				       name).s,
		});
	}
}

static void check_mixed_leaves(struct doctor *d)
{
	const char *name, *parent, *kind;
	const json_t *dev, *q;

	if (!need_onramp(d))
		return;
	each_device(d, name, dev) {
		unsigned int with = onramps(dev), other = 0;

		kind = NULL;
		if (!j_is(dev, "qdiscs/root/kind", "mq"))
			continue;
		each_qdisc(dev, parent, q) {
			if (!strcmp(parent, "root") || is_onramp(q) || !strchr(parent, ':') ||
			    !strncmp(parent, "ffff:", 5))
				continue;
			other++;
			kind = j_str(q, "kind");
		}
		if (!with || !other)
			continue;
		found(d, &(struct found) {
			.subject = name,
			.evidence = json_pack("{s:I, s:I, s:s?}", "queues_onramp", (json_int_t)with,
					      "queues_other", (json_int_t)other, "kind", kind),
			.summary = text("%s: %u of %u queues have %s instead of onramp", name,
					other, with + other, kind ? kind : "another qdisc").s,
			.why = "a flow is paused or not by the queue that it is sent from",
			.action = text("onramp-qdisc %s", name).s,
		});
	}
}

static void check_mode_off(struct doctor *d)
{
	const char *name, *parent;
	const json_t *dev, *q;

	if (!need_onramp(d))
		return;
	each_device(d, name, dev) {
		unsigned int off = 0;

		each_qdisc(dev, parent, q)
			off += j_is(q, "options/mode", "off");
		if (off)
			found(d, &(struct found) {
				.subject = name,
				.evidence = json_pack("{s:I}", "qdiscs", (json_int_t)off),
				.summary = text("%s: mode off", name).s,
				.why = "it was turned off, and works as fq",
				.action = text("onramp-qdisc %s mode final", name).s,
			});
	}
}

/* Speed of a device in Mbit/s, as reported or as set. */
static int64_t speed_of(const json_t *dev)
{
	int64_t mbit = num_or(dev, "speed_mbit", 0), set;
	const char *parent;
	const json_t *q;

	each_qdisc(dev, parent, q)
		if (num(q, "options/line_rate_bytes_s", &set) && set > 0)
			return set / 125000;
	return mbit;
}

/* A NIC that a hypervisor emulates: many have no speed, and that is no fault. */
static bool is_virtual(const json_t *dev)
{
	static const char * const drivers[] = {
		"virtio_net", "hv_netvsc", "vif", "xen_netfront", "vmxnet3", "ena", "gve", "mana",
		"ibmveth", "idpf",
	};
	static const char * const buses[] = { "virtio", "vmbus", "xen", "vio" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(drivers); i++)
		if (j_is(dev, "driver", drivers[i]))
			return true;
	for (i = 0; i < ARRAY_SIZE(buses); i++)
		if (j_is(dev, "bus", buses[i]))
			return true;
	return false;
}

static void check_speed_unknown(struct doctor *d)
{
	int64_t line = num_or(d->now, "sysctl/net.ipv4.timely.line_rate_mbit", 0);
	const char *name;
	const json_t *dev;

	if (!need(d, "devices", "the list of devices"))
		return;
	if (!all_onramps(d) && !uses_timely(d)) {
		skip(d, "neither onramp nor timely is used");
		return;
	}
	each_device(d, name, dev) {
		bool timely = !onramps(dev);

		if (!j_true(dev, "up") || !j_true(dev, "wire") || !j_true(dev, "carrier") ||
		    speed_of(dev) > 0)
			continue;
		if (timely && (!uses_timely(d) || line > 0))
			continue;
		found(d, &(struct found) {
			.subject = name,
			.evidence = json_pack("{s:I}", "speed_mbit", (json_int_t)0),
			.summary = text("%s: the device reports no speed", name).s,
			.why = timely ?
			       "timely begins with 10 Gbit/s; with profile paper no flow has more" :
			       is_virtual(dev) ?
			       "a hypervisor's NIC does not have the rate of a wire" :
			       "OR-ACKs cannot be checked against the rate of the link",
			.action = timely ? "sysctl net.ipv4.timely.line_rate_mbit=MBIT" :
				  text("%sonramp-qdisc %s line_rate RATE", is_virtual(dev) ?
				       "if the rate of this VM is known: " : "", name).s,
			.note = is_virtual(dev),
		});
	}
}

static void check_line_rate(struct doctor *d)
{
	const char *name;
	const json_t *dev;

	if (!need_onramp(d) || !need_two(d))
		return;
	each_device(d, name, dev) {
		int64_t bad = qdiscs_grown(d, name, "acks_implausible");
		int64_t good = qdiscs_grown(d, name, "acks");

		if (bad < ENOUGH || bad < (bad + good) / SHARE_IMPLAUSIBLE)
			continue;
		found(d, &(struct found) {
			.subject = name,
			.evidence = json_pack("{s:I, s:I}", "acks_implausible", (json_int_t)bad,
					      "acks", (json_int_t)good),
			.summary = text("%s: %" PRId64 " of %" PRId64 " OR-ACKs refused as impossible",
					name, bad, bad + good).s,
			.why = "line_rate is below the real rate, or a clock is wrong",
			.action = text("ethtool %s | grep Speed; onramp-qdisc %s line_rate RATE; with owd synced: chronyc tracking",
					name, name).s,
		});
	}
}

static void check_gso_size(struct doctor *d)
{
	const char *name, *parent;
	const json_t *dev, *q;

	if (!need_onramp(d))
		return;
	each_device(d, name, dev) {
		int64_t mbit = speed_of(dev), bytes, threshold = 0, t, burst, fits;
		struct text smaller;

		if (mbit <= 0 || !num(dev, "gso_max_bytes", &bytes) || bytes <= 0)
			continue;
		each_qdisc(dev, parent, q)
			if (num(q, "options/threshold_ns", &t) && t > 0 &&
			    (!threshold || t < threshold))
				threshold = t;
		burst = whole((double)bytes * 8000 / (double)mbit);
		/* A batch that takes half of the threshold. */
		fits = whole((double)threshold * (double)mbit / 16000);
		if (!threshold || burst <= threshold)
			continue;
		smaller = fits < GSO_LEAST ? text("%s", "") :
			  text("; or ip link set %s gso_max_size %" PRId64, name, fits);
		found(d, &(struct found) {
			.subject = name,
			.evidence = json_pack("{s:I, s:I, s:I}", "gso_max_bytes", (json_int_t)bytes,
					      "speed_mbit", (json_int_t)mbit, "threshold_ns",
					      (json_int_t)threshold),
			.summary = text("%s: a batch of %" PRId64 " bytes takes %" PRId64
					" us, the threshold is %" PRId64 " us", name, bytes,
					burst / 1000, threshold / 1000).s,
			.why = "one batch of one flow alone looks like a queue",
			.action = text("onramp-qdisc %s threshold auto%s", name, smaller.s).s,
		});
	}
}

static bool has_users(const struct doctor *d)
{
	return loaded(d, "or_acker") || uses_timely(d);
}

static void check_coalesce(struct doctor *d)
{
	bool read = false;
	const char *name;
	const json_t *dev;

	if (!need(d, "devices", "the list of devices"))
		return;
	if (!has_users(d)) {
		skip(d, "neither or_acker nor timely is used");
		return;
	}
	each_device(d, name, dev) {
		int64_t frames = 0, us = 0, most, mbit = speed_of(dev);
		bool by_frames, by_us;

		if (!j_true(dev, "up") || !j_true(dev, "wire"))
			continue;
		by_frames = num(dev, "coalesce/rx_frames", &frames) && frames > 0;
		by_us = num(dev, "coalesce/rx_us", &us) && us > 0 && mbit > 0;
		read |= by_frames || j_get(dev, "coalesce");
		most = by_us ? whole((double)us * (double)mbit / (8 * WIRE_FRAME)) : 0;
		/* Whichever comes first. */
		if (by_frames && (!by_us || frames < most))
			most = frames;
		if (most <= MAX_COALESCED_FRAMES)
			continue;
		found(d, &(struct found) {
			.subject = name,
			.evidence = json_pack("{s:I, s:I, s:I, s:I}", "rx_frames",
					      (json_int_t)frames, "rx_us", (json_int_t)us,
					      "speed_mbit", (json_int_t)mbit, "frames_at_once",
					      (json_int_t)most),
			.summary = text("%s: up to %" PRId64 " full frames for one interrupt", name,
					most).s,
			.why = "the wait looks like a queue to timely and to On-Ramp",
			.action = text("ethtool -C %s adaptive-rx off rx-usecs %" PRId64
				       " rx-frames %d", name,
				       mbit > 0 ? MAX_COALESCED_FRAMES * WIRE_FRAME * 8 / mbit : 5,
				       MAX_COALESCED_FRAMES).s,
		});
	}
	if (!read)
		skip(d, "no device reports its coalescing");
}

static void check_lro(struct doctor *d)
{
	const char *name;
	const json_t *dev;

	if (!need(d, "devices", "the list of devices"))
		return;
	if (!has_users(d)) {
		skip(d, "neither or_acker nor timely is used");
		return;
	}
	/* A bond has the flag by default, whatever its NICs do. */
	each_device(d, name, dev)
		if (j_true(dev, "up") && j_true(dev, "wire") && j_true(dev, "lro"))
			found(d, &(struct found) {
				.subject = name,
				.evidence = json_pack("{s:b}", "lro", 1),
				.summary = text("%s: large receive offload is on", name).s,
				.why = "packets are merged before they get a timestamp",
				.action = text("ethtool -K %s lro off gro on", name).s,
			});
}

/* Timestamps and clocks ----------------------------------------------------------- */

static void check_no_stamps(struct doctor *d)
{
	bool bus = loaded(d, "nic_ts");
	int64_t n;

	if (!need_module(d, "or_acker") || !need(d, "or_acker", "/proc/net/or_acker"))
		return;
	n = num_or(d->now, "or_acker/DeviceNoStamps", 0);
	/* Without a subscriber there is no device, either. */
	if (!n || num_or(d->now, "or_acker/Devices", 0) ||
	    (!num_or(d->now, "or_acker/Subscribers", 0) &&
	     !j_is(d->now, "sysctl/net.or_acker.mode", "all")))
		return;
	found(d, &(struct found) {
		.evidence = json_pack("{s:I, s:b}", "DeviceNoStamps", (json_int_t)n, "nic_ts",
				      bus),
		.summary = "this host sends no OR-ACKs: packets have no timestamps before GRO",
		.why = bus ? "the kernel lacks the tracepoints, as with PREEMPT_RT" :
		       "nic_ts is not loaded",
		.action = bus ? "use a kernel with tracepoints and without PREEMPT_RT" :
			  "modprobe nic_ts",
	});
}

static void check_hw_stamps_held(struct doctor *d)
{
	bool asked = j_is(d->now, "sysctl/net.or_acker.stamps", "hardware");
	const json_t *bus;
	bool any = false;
	const char *name;

	if (!asked) {
		skip(d, "hardware timestamps are not requested");
		return;
	}
	if (!need(d, "nic_ts", "the state of nic_ts"))
		return;
	json_object_foreach((json_t *)j_get(d->now, "nic_ts"), name, bus) {
		if (!j_get(bus, "phc") || num_or(bus, "users", 0) == 0)
			continue;
		any = true;
		if (!j_is(bus, "hw", "off"))
			continue;
		found(d, &(struct found) {
			.subject = name,
			.evidence = json_pack("{s:s, s:I, s:I}", "hw", "off", "phc",
					      num_or(bus, "phc", 0), "DeviceNoHardware",
					      num_or(d->now, "or_acker/DeviceNoHardware", 0)),
			.summary = text("%s: hardware timestamps are requested, and off", name).s,
			.why = "another program has the NIC stamp some packets only (ptp4l?)",
			.action = text("nic_ts device %s hw on says why; have that program ask for all packets (rx_filter all)",
					name).s,
		});
	}
	if (!any)
		skip(d, "no device in use has a hardware clock");
}

/* The bus has given the places of a NIC up, as ptp4l needs them. */
static void tx_slots_left(struct doctor *d, const char *name, const json_t *bus)
{
	int64_t n = num_or(bus, "TxHardwareYielded", 0);

	if (n <= 0 || num_or(bus, "users", 0) <= 0 || j_is(bus, "hw", "off"))
		return;
	found(d, &(struct found) {
		.subject = name,
		.evidence = json_pack("{s:I, s:I}", "tx_slots", (json_int_t)0,
				      "TxHardwareYielded", (json_int_t)n),
		.summary = text("%s: timestamps of sent packets are left to another program",
				name).s,
		.why = "ptp4l or the like needs them: those of RTTs are of software",
		.action = text("on a NIC with more places: nic_ts device %s tx-slots N", name).s,
		.note = true,
	});
}

static void check_tx_slots(struct doctor *d)
{
	const json_t *bus;
	bool any = false;
	const char *name;
	char key[128];

	if (!need(d, "nic_ts", "the state of nic_ts") || !need_two(d))
		return;
	json_object_foreach((json_t *)j_get(d->now, "nic_ts"), name, bus) {
		int64_t none, asked;

		if (num_or(bus, "tx_slots", 0) == 0) {
			tx_slots_left(d, name, bus);
			continue;
		}
		any = true;
		snprintf(key, sizeof(key), "nic_ts/%s/TxHardwareNoSlot", name);
		none = grown(d, key);
		snprintf(key, sizeof(key), "nic_ts/%s/TxHardwareAsked", name);
		asked = grown(d, key);
		/* Samples are enough; one in ten is. */
		if (none < ENOUGH || none < asked * 9)
			continue;
		found(d, &(struct found) {
			.subject = name,
			.evidence = json_pack("{s:I, s:I, s:I}", "TxHardwareNoSlot",
					      (json_int_t)none, "TxHardwareAsked",
					      (json_int_t)asked, "tx_slots",
					      num_or(bus, "tx_slots", 0)),
			.summary = text("%s: %" PRId64 " of %" PRId64 " packets found no slot",
					name, none, none + asked).s,
			.why = "RTTs by the NIC's clock become rare",
			.action = text("nic_ts device %s tx-slots N, as many as the NIC has",
				       name).s,
		});
	}
	if (!any)
		skip(d, "no device stamps sent packets in hardware");
}

/* Has a device the clock "phcN"? */
static bool clock_is_there(const struct doctor *d, const char *clock)
{
	const char *name;
	const json_t *dev;
	char phc[32];

	each_device(d, name, dev) {
		snprintf(phc, sizeof(phc), "phc%" PRId64, num_or(dev, "phc", -1));
		if (!strcmp(phc, clock))
			return true;
	}
	return false;
}

static void check_clock_map(struct doctor *d)
{
	static const char * const bad[] = { "expired", "stepped", "suspended", "vanished" };
	const json_t *clock;
	const char *name;
	size_t i;

	if (!need(d, "clocks", "the clocks of nic_ts"))
		return;
	if (!json_object_size(j_get(d->now, "clocks"))) {
		skip(d, "no clock has a map");
		return;
	}
	json_object_foreach((json_t *)j_get(d->now, "clocks"), name, clock)
		for (i = 0; i < ARRAY_SIZE(bad); i++) {
			if (!j_is(clock, "state", bad[i]))
				continue;
			/* Its NIC is gone, and so are all timestamps of it. */
			if (!strcmp(bad[i], "vanished") && j_get(d->now, "devices") &&
			    !clock_is_there(d, name))
				continue;
			found(d, &(struct found) {
				.subject = name,
				.evidence = json_pack("{s:s, s:I}", "state", bad[i], "age_ns",
						      num_or(clock, "age_ns", 0)),
				.summary = text("%s: its map is %s", name, bad[i]).s,
				.why = "no program renewed it; timestamps of that clock are not used",
				.action = text("nic_ts clock %s feed", name).s,
			});
		}
}

/* clock_unset() - no program sets the system's clock; if that is not known, the check skips */
static bool clock_unset(struct doctor *d)
{
	return need(d, "system_clock", "the state of the system's clock") &&
	       !j_true(d->now, "system_clock/synchronised");
}

/* With owd synced by the NIC's clock, which the device does not have. */
static bool lacks_clock(const json_t *dev)
{
	const char *parent;
	const json_t *q;

	if (num_or(dev, "phc", 0) >= 0)
		return false;
	each_qdisc(dev, parent, q)
		if (j_is(q, "options/clock", "nic") && j_is(q, "options/owd", "synced"))
			return true;
	return false;
}

static void check_clock_nic(struct doctor *d)
{
	const char *name;
	const json_t *dev;

	if (!need_onramp(d))
		return;
	each_device(d, name, dev)
		if (lacks_clock(dev))
			found(d, &(struct found) {
				.subject = name,
				.evidence = json_pack("{s:I, s:s}", "phc", (json_int_t)-1, "clock",
						      "nic"),
				.summary = text("%s: clock nic, and the device has no clock",
						name).s,
				.why = "no OR-ACK can be used without timestamps of that clock",
				.action = text("onramp-qdisc %s clock system; or owd relative",
					       name).s,
			});
}

/* A remedy for a clock that is not synchronised: is its daemon gone, or without a source? */
static struct text clock_action(const struct doctor *d, const char *otherwise)
{
	const char *daemon = json_string_value(json_array_get(j_get(d->now, "clock_daemons"), 0));

	if (!daemon)
		return text("start chronyd, or another time daemon%s", otherwise);
	return text("%s runs, and has no source: %s%s", daemon,
		    !strcmp(daemon, "chronyd") ? "chronyc sources; chronyc tracking" :
		    !strncmp(daemon, "systemd-timesyn", 15) ? "timedatectl timesync-status" :
		    !strcmp(daemon, "ntpd") ? "ntpq -p" : "see its log", otherwise);
}

static const char *clock_why(const struct doctor *d)
{
	return json_array_size(j_get(d->now, "clock_daemons")) ?
	       "the kernel's clock is marked as not synchronised, although its daemon runs" :
	       "the kernel's clock is marked as not synchronised: its daemon is gone";
}

static void check_clock_promise(struct doctor *d)
{
	int64_t promised = num_or(d->now, "sysctl/net.or_acker.clock_error_ns", 0), v;
	const char *where = "net.or_acker.clock_error_ns", *name, *parent;
	const json_t *dev, *q;

	each_device(d, name, dev)
		each_qdisc(dev, parent, q)
			if (j_is(q, "options/owd", "synced") &&
			    !j_is(q, "options/clock", "nic") &&
			    num(q, "options/clock_error_ns", &v)) {
				promised = v ? v : 1;
				where = "owd synced of the qdisc";
			}
	if (!promised) {
		skip(d, "no error bound is promised");
		return;
	}
	if (!clock_unset(d))
		return;
	found(d, &(struct found) {
		.subject = where,
		.evidence = json_pack("{s:I, s:b, s:I}", "promised_ns", (json_int_t)promised,
				      "synchronised", 0, "max_error_us",
				      num_or(d->now, "system_clock/max_error_us", 0)),
		.summary = text("%s promises a clock within %" PRId64 " ns, and nothing sets it",
				where, promised).s,
		.why = clock_why(d),
		.action = clock_action(d, "; or set the promise to 0").s,
	});
}

static void check_two_daemons(struct doctor *d)
{
	struct list l = { "", 0 };
	const json_t *name;
	size_t i;

	if (!need(d, "clock_daemons", "the list of processes"))
		return;
	json_array_foreach((json_t *)j_get(d->now, "clock_daemons"), i, name)
		list_add(&l, json_string_value(name));
	if (l.n > 1)
		found(d, &(struct found) {
			.subject = "CLOCK_REALTIME",
			.evidence = json_pack("{s:O}", "daemons", j_get(d->now, "clock_daemons")),
			.summary = text("%u programs set the system's clock: %s", l.n, l.s).s,
			.why = "each one takes the corrections of the other for errors",
			.action = "stop all but one",
		});
}

static void check_receivers_unsynced(struct doctor *d)
{
	const char *name;
	const json_t *dev;

	if (!need_onramp(d) || !need_two(d))
		return;
	each_device(d, name, dev) {
		int64_t bad = qdiscs_grown(d, name, "acks_unsynced");
		int64_t no_map = qdiscs_grown(d, name, "acks_no_map");

		if (bad + no_map < ENOUGH || lacks_clock(dev))
			continue;
		found(d, &(struct found) {
			.subject = name,
			.evidence = json_pack("{s:I, s:I}", "acks_unsynced", (json_int_t)bad,
					      "acks_no_map", (json_int_t)no_map),
			.summary = text("%s: %" PRId64 " OR-ACKs without a synchronised clock",
					name, bad + no_map).s,
			.why = bad ? "receivers, or this host, promise no synchronised clock" :
			       "this host has no valid map of the NIC's clock",
			.action = bad ?
				"on receivers: sysctl net.or_acker.clock_error_ns=NS" :
				"nic_ts clock phcN feed",
		});
	}
}

/* TCP ------------------------------------------------------------------------------ */

static void check_ecn_timely(struct doctor *d)
{
	int64_t ecn = 0;

	if (!uses_timely(d)) {
		skip(d, "timely is not used");
		return;
	}
	if (!need(d, "sysctl/net.ipv4.tcp_ecn", "net.ipv4.tcp_ecn"))
		return;
	num(d->now, "sysctl/net.ipv4.tcp_ecn", &ecn);
	/* 2, the default, is on only if the other host asks. */
	if (ecn != 1)
		return;
	found(d, &(struct found) {
		.subject = "net.ipv4.tcp_ecn",
		.evidence = json_pack("{s:I}", "tcp_ecn", (json_int_t)ecn),
		.summary = "connections of timely negotiate ECN, and ignore it",
		.why = "switches mark their packets instead of dropping them, and timely does not react",
		.action = "sysctl net.ipv4.tcp_ecn=0",
	});
}

static void check_mixed_cc(struct doctor *d)
{
	static const char * const loss[] = {
		"cubic", "reno", "bic", "htcp", "highspeed", "hybla", "westwood", "yeah",
		"illinois", "scalable", "veno",
	};
	struct list l = { "", 0 };
	int64_t n = 0, m;
	json_t *evidence;
	char key[64];
	size_t i;

	if (!need(d, "tcp", "the list of connections"))
		return;
	if (!num_or(d->now, "tcp/timely/connections", 0)) {
		skip(d, "no connection uses timely");
		return;
	}
	evidence = json_object();
	for (i = 0; i < ARRAY_SIZE(loss); i++) {
		snprintf(key, sizeof(key), "tcp/%s/bulk", loss[i]);
		m = num_or(d->now, key, 0);
		if (m <= 0)
			continue;
		n += m;
		list_add(&l, loss[i]);
		j_set(evidence, loss[i], json_integer(m));
	}
	if (!n) {
		json_decref(evidence);
		return;
	}
	j_set(evidence, "timely", json_integer(num_or(d->now, "tcp/timely/connections", 0)));
	found(d, &(struct found) {
		.evidence = evidence,
		.summary = text("%" PRId64 " busy connection%s with %s beside timely", n, plural(n),
				l.s).s,
		.why = "they fill the queue that timely keeps empty, and take its share",
		.action = "sysctl net.ipv4.tcp_congestion_control=timely, and restart programs that use another one",
	});
}

static void check_rate_floor(struct doctor *d)
{
	int64_t busy = 0, floor = 0;

	if (!need(d, "tcp", "the list of connections"))
		return;
	num(d->now, "tcp/timely/busy", &busy);
	if (!busy) {
		skip(d, "no connection of timely is busy");
		return;
	}
	num(d->now, "tcp/timely/at_floor", &floor);
	if (!floor || floor * 2 < busy)
		return;
	found(d, &(struct found) {
		.evidence = json_pack("{s:I, s:I, s:I}", "busy", (json_int_t)busy, "at_floor",
				      (json_int_t)floor, "min_rate_kbit",
				      num_or(d->now, "sysctl/net.ipv4.timely.min_rate_kbit", 0)),
		.summary = text("%" PRId64 " of %" PRId64 " busy flows are at the lowest rate",
				floor, busy).s,
		.why = "more flows than the path has room for, or long RTTs without a queue",
		.action = "if NICs wait before interrupts and the host can't see it, set rx_wait_ns; with profile paper compare t_low_ns with the RTT of an idle path",
	});
}

static void check_stalled(struct doctor *d)
{
	int64_t n = 0, mtu = 0;
	const char *cc;
	const json_t *o;

	if (!need(d, "tcp", "the list of connections"))
		return;
	json_object_foreach((json_t *)j_get(d->now, "tcp"), cc, o) {
		int64_t stalled = num_or(o, "stalled", 0);

		if (stalled <= 0)
			continue;
		n += stalled;
		if (num_or(o, "stalled_packet_bytes", 0) > mtu)
			mtu = num_or(o, "stalled_packet_bytes", 0);
	}
	if (n)
		found(d, &(struct found) {
			.evidence = json_pack("{s:I, s:I}", "connections", (json_int_t)n,
					      "packet_bytes", (json_int_t)mtu),
			.summary = text("%" PRId64 " connection%s: no packet with data has arrived for 3 timeouts or more",
					n, plural(n)).s,
			.why = "a link on the way takes smaller packets only, and does not say so; or the host is gone",
			.action = text("ping -M do -s %" PRId64 " HOST: if smaller ones pass, lower the MTU of the route, or sysctl net.ipv4.tcp_mtu_probing=1",
				       mtu > 28 ? mtu - 28 : 1472).s,
		});
}

/* Limits --------------------------------------------------------------------------- */

static void check_connections_full(struct doctor *d)
{
	int64_t n;

	if (!need_onramp(d) || !need_two(d))
		return;
	n = net_grown(d, "connections_full");
	if (n)
		found(d, &(struct found) {
			.evidence = json_pack("{s:I, s:I, s:I}", "connections_full", (json_int_t)n,
					      "connections", net_now(d, "connections"), "peers",
					      net_now(d, "peers")),
			.summary = text("%" PRId64 " flow%s sent without On-Ramp: too many connections or peers",
					n, plural(n)).s,
			.why = "tables have their largest size",
			.action = "see LIMITS in tc-onramp(8); peers near leaves out far hosts",
		});
}

static void check_receiver_full(struct doctor *d)
{
	int64_t subs, flows;

	if (!need_module(d, "or_acker") || !need(d, "or_acker", "/proc/net/or_acker") ||
	    !need_two(d))
		return;
	subs = grown(d, "or_acker/SubscribeTableFull");
	flows = grown(d, "or_acker/PacketFlowTableFull");
	if (!subs && !flows)
		return;
	found(d, &(struct found) {
		.evidence = json_pack("{s:I, s:I, s:I, s:I}", "SubscribeTableFull",
				      (json_int_t)subs, "PacketFlowTableFull", (json_int_t)flows,
				      "Subscribers", num_or(d->now, "or_acker/Subscribers", 0),
				      "Flows", num_or(d->now, "or_acker/Flows", 0)),
		.summary = text("%" PRId64 " SUBSCRIBEs and %" PRId64 " packets found a full table",
				subs, flows).s,
		.why = "more senders or connections than max_subscribers, max_flows",
		.action = "sysctl net.or_acker.max_flows=N net.or_acker.max_subscribers=N",
	});
}

/* OR-ACKs that were left out by a limit. */
static void acker_limit(struct doctor *d, const char *counter, const char *sysctl)
{
	char key[64];
	int64_t n;

	if (!need_module(d, "or_acker") || !need(d, "or_acker", "/proc/net/or_acker") ||
	    !need_two(d))
		return;
	snprintf(key, sizeof(key), "or_acker/%s", counter);
	n = grown(d, key);
	if (n)
		found(d, &(struct found) {
			.evidence = json_pack("{s:I, s:I}", counter, (json_int_t)n, "AckSent",
					      grown(d, "or_acker/AckSent")),
			.summary = text("%" PRId64 " OR-ACK%s not sent: net.or_acker.%s", n,
					plural(n), sysctl).s,
			.why = "senders see less of the path",
			.action = text("sysctl net.or_acker.%s=N; fewer OR-ACKs: ack_packets",
				       sysctl).s,
		});
}

static void check_cpu_rate(struct doctor *d)
{
	acker_limit(d, "AckLimitCpu", "cpu_rate");
}

static void check_subscriber_rate(struct doctor *d)
{
	acker_limit(d, "AckLimitSubscriber", "subscriber_rate");
}

static void check_cpu_busy(struct doctor *d)
{
	int64_t n, all;

	if (!need_module(d, "or_acker") || !need(d, "or_acker", "/proc/net/or_acker") ||
	    !need_two(d))
		return;
	n = grown(d, "or_acker/PacketBusy");
	all = n + grown(d, "or_acker/AckedPackets");
	if (n < ENOUGH || n < all / SHARE_BUSY)
		return;
	found(d, &(struct found) {
		.evidence = json_pack("{s:I, s:I}", "PacketBusy", (json_int_t)n, "packets",
				      (json_int_t)all),
		.summary = text("%" PRId64 " of %" PRId64 " packets came to a saturated CPU", n,
				all).s,
		.why = "the CPU is the bottleneck, and not the network",
		.action = "spread flows over CPUs: more receive queues, or RPS; mpstat -P ALL 1",
	});
}

static void check_late_timers(struct doctor *d)
{
	const char *name, *parent;
	const json_t *dev, *q;
	char key[128];

	if (!need_onramp(d) || !need_two(d))
		return;
	each_device(d, name, dev) {
		int64_t late = 0, v;

		each_qdisc(dev, parent, q) {
			snprintf(key, sizeof(key), "devices/%s/qdiscs/%s/stats/held", name, parent);
			/* The average of a qdisc that holds nothing is an old one. */
			if (grown(d, key) >= ENOUGH && num(q, "stats/held_late_ns", &v) && v > late)
				late = v;
		}
		if (late > LATE_NS)
			found(d, &(struct found) {
				.subject = name,
				.evidence = json_pack("{s:I}", "held_late_ns", (json_int_t)late),
				.summary = text("%s: flows resume %" PRId64 " us after their pause",
						name, late / 1000).s,
				.why = "timers are late: the CPU is busy with interrupts or softirqs",
				.action = "spread interrupts over CPUs; mpstat -P ALL 1, column %soft",
			});
	}
}

/* By how much a statistic of a device's qdiscs grew whose threshold is not auto. */
static int64_t fixed_grown(const struct doctor *d, const char *name, const json_t *dev,
			   const char *stat)
{
	int64_t sum = 0, threshold;
	const char *parent;
	const json_t *q;
	char key[128];

	each_qdisc(dev, parent, q) {
		snprintf(key, sizeof(key), "devices/%s/qdiscs/%s/stats/%s", name, parent, stat);
		if (!num(q, "options/threshold_ns", &threshold) || threshold)
			sum += grown(d, key);
	}
	return sum;
}

/* By auto such pauses raise the threshold: the first seconds of a path are no fault. */
static void check_long_pauses(struct doctor *d)
{
	const char *name;
	const json_t *dev;

	if (!need_onramp(d) || !need_two(d))
		return;
	each_device(d, name, dev) {
		int64_t ends = fixed_grown(d, name, dev, "pause_ends");
		int64_t empty = fixed_grown(d, name, dev, "pause_ends_empty");

		if (ends < ENOUGH || empty * 2 <= ends)
			continue;
		found(d, &(struct found) {
			.subject = name,
			.evidence = json_pack("{s:I, s:I}", "pause_ends", (json_int_t)ends,
					      "pause_ends_empty", (json_int_t)empty),
			.summary = text("%s: %" PRId64 " of %" PRId64
					" pauses ended with an empty queue", name, empty, ends).s,
			.why = "the threshold is too low for this path; auto raises it in some seconds",
			.action = text("onramp-qdisc %s threshold auto", name).s,
		});
	}
}

static void check_others_fill(struct doctor *d)
{
	const char *name;
	const json_t *dev;

	if (!need_onramp(d) || !need_two(d))
		return;
	each_device(d, name, dev) {
		int64_t n = qdiscs_grown(d, name, "acks_let_go");
		int64_t acks = qdiscs_grown(d, name, "acks");

		if (n < ENOUGH || n < acks / SHARE_LET_GO)
			continue;
		found(d, &(struct found) {
			.subject = name,
			.evidence = json_pack("{s:I, s:I}", "acks_let_go", (json_int_t)n, "acks",
					      (json_int_t)acks),
			.summary = text("%s: %" PRId64 " of %" PRId64
					" OR-ACKs from queues that others fill", name, n, acks).s,
			.why = "other hosts on that path have no On-Ramp; this one steps back",
			.action = "set it on these hosts as well",
		});
	}
}

/* Running --------------------------------------------------------------------------- */

static const struct check {
	const char *code;
	enum severity severity;
	void (*run)(struct doctor *d);
	const char *title;
} checks[] = {
#define DOCTOR_CHECK(code, severity, function, title) { #code, severity, check_##function, title },
	DOCTOR_CHECKS
#undef DOCTOR_CHECK
};

size_t doctor_checks(void)
{
	return ARRAY_SIZE(checks);
}

const char *doctor_code(size_t i)
{
	return checks[i].code;
}

const char *doctor_title(size_t i)
{
	return checks[i].title;
}

const char *doctor_severity(size_t i)
{
	return severity_names[checks[i].severity];
}

/* Checks that need no loaded module. */
static bool is_of_package(void (*run)(struct doctor *d))
{
	return run == check_module_missing || run == check_module_refused ||
	       run == check_module_stub || run == check_next_kernel;
}

/**
 * doctor_run() - run all checks
 * @facts: of facts_twice()
 * @muted: code -> seconds since 1970, or NULL
 * @now_s: seconds since 1970
 *
 * Return: the report, owned by the caller.
 */
json_t *doctor_run(const json_t *facts, const json_t *muted, int64_t now_s)
{
	struct doctor d = {
		.now = j_get(facts, "now"), .before = j_get(facts, "before"), .muted = muted,
		.now_s = now_s, .worst = -1,
	};
	bool any = json_object_size(j_get(d.now, "modules")) > 0;
	size_t i;

	d.report = json_pack("{s:s?, s:s?, s:O?, s:[], s:[], s:[], s:[], s:O?}",
			     "version", j_str(d.now, "version"), "kernel", j_str(d.now, "kernel"),
			     "modules", j_get(d.now, "modules"), "findings", "muted", "skipped",
			     "ok", "hidden", j_get(d.now, "hidden"));
	if (!d.report)
		die_unknown("out of memory");
	for (i = 0; i < ARRAY_SIZE(checks); i++) {
		d.code = checks[i].code;
		d.severity = checks[i].severity;
		d.found = 0;
		d.skipped = false;
		if (any || is_of_package(checks[i].run))
			checks[i].run(&d);
		else
			skip(&d, "no module of onramp is loaded");
		if (!d.found && !d.skipped)
			json_array_append_new(json_object_get(d.report, "ok"),
					      json_string(d.code));
	}
	/* A reason for which no module is loaded is all that there is to know. */
	j_set(d.report, "status", json_string(d.worst == CRIT ? "critical" : !any ? "unknown" :
					      d.worst == WARN ? "warning" : "ok"));
	return d.report;
}

/**
 * doctor_status() - return the exit status of a report
 * @report: of doctor_run()
 *
 * Return: enum ctl_status. Notes and muted findings count as nothing.
 */
int doctor_status(const json_t *report)
{
	return j_is(report, "status", "ok") ? CTL_OK :
	       j_is(report, "status", "warning") ? CTL_WARNING :
	       j_is(report, "status", "critical") ? CTL_CRITICAL : CTL_UNKNOWN;
}
