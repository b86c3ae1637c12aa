// SPDX-License-Identifier: GPL-2.0
/* Rows for onrampctl show, from facts alone. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show.h"

/* Number with three digits or fewer and a unit: 9, 9.8k, 74M. */
static void scaled(char *s, size_t size, double v, const char * const *units, double step)
{
	size_t i = 0;

	while (fabs(v) >= step - 0.5 && units[i + 1]) {
		v /= step;
		i++;
	}
	if (v == 0 || fabs(v) >= 9.95 || (!i && v == floor(v)))
		snprintf(s, size, "%.0f%s", v, units[i]);
	else
		snprintf(s, size, "%.1f%s", v, units[i]);
}

/**
 * show_value() - write a value for a person
 * @s: room for @size bytes
 * @size: of it
 * @v: value, NULL if it is not known
 * @look: how
 */
void show_value(char *s, size_t size, const json_t *v, enum look_as look)
{
	static const char * const counts[] = { "", "k", "M", "G", "T", "P", "E", NULL };
	static const char * const times[] = { "ns", "us", "ms", "s", NULL };
	double number = json_number_value(v);

	if (json_is_string(v)) {
		snprintf(s, size, "%s", json_string_value(v));
		return;
	}
	if (!json_is_number(v)) {
		snprintf(s, size, "%s", json_is_true(v) ? "yes" : json_is_false(v) ? "no" : "-");
		return;
	}
	switch (look) {
	case LOOK_NS:
		scaled(s, size, number, times, 1000);
		break;
	case LOOK_US:
		scaled(s, size, number, times + 1, 1000);
		break;
	case LOOK_MS:
		scaled(s, size, number, times + 2, 1000);
		break;
	case LOOK_SHARE:
		snprintf(s, size, "%.0f%%", number * 100);
		break;
	default:
		scaled(s, size, number, counts, 1000);
	}
}

/**
 * show_rate() - write a rate with its unit, or "-" if it is not known
 * @s: room for @size bytes
 * @size: of it
 * @v: bit/s, or NULL
 */
const char *show_rate(char *s, size_t size, const json_t *v)
{
	char number[32];

	show_value(number, sizeof(number), v, LOOK_RATE);
	snprintf(s, size, "%s%s", number, json_is_number(v) ? "bit/s" : "");
	return s;
}

/* Blanks between two columns, where the line is long enough. */
#define GAP	2

/* table_widths() - how wide each column is; the sum with @gap blanks between */
static size_t table_widths(const json_t *rows, const struct column *columns, size_t n,
			   size_t gap, size_t *width)
{
	size_t i, k, sum = 0;
	const json_t *row;
	char s[128];

	for (i = 0; i < n; i++) {
		width[i] = strlen(columns[i].title);
		json_array_foreach((json_t *)rows, k, row) {
			show_value(s, sizeof(s), j_get(row, columns[i].key), columns[i].look);
			if (strlen(s) > width[i])
				width[i] = strlen(s);
		}
		sum += width[i] + (i ? gap : 0);
	}
	return sum;
}

/**
 * show_fitting() - how many of the columns of a table fit
 * @rows: array of objects
 * @columns: the most important ones first
 * @n: number of columns
 * @least: this many are shown, whether they fit or not
 * @gap: blanks between two of them, at least
 * @room: characters in a line
 */
size_t show_fitting(const json_t *rows, const struct column *columns, size_t n, size_t least,
		    size_t gap, size_t room)
{
	size_t *width = xcalloc(n, sizeof(*width));

	while (n > least && table_widths(rows, columns, n, gap, width) > room)
		n--;
	free(width);
	return n;
}

/**
 * show_table() - write rows to stdout, columns as wide as they need; closer on a narrow terminal
 * @rows: array of objects
 * @columns: keys of @rows, their titles and formats
 * @n: number of columns; the first one is left-aligned, and so is text
 */
void show_table(const json_t *rows, const struct column *columns, size_t n)
{
	size_t i, k, *width = xcalloc(n, sizeof(*width)), room = term_size().ws_col;
	size_t sum = table_widths(rows, columns, n, GAP, width), gap = room && sum > room ? 1 : GAP;
	const json_t *row;
	char s[128];

	for (k = 0; k <= json_array_size(rows); k++) {
		row = k ? json_array_get(rows, k - 1) : NULL;
		fputs(k ? "" : term(TERM_TITLE), stdout);
		for (i = 0; i < n; i++) {
			if (row)
				show_value(s, sizeof(s), j_get(row, columns[i].key),
					   columns[i].look);
			else
				snprintf(s, sizeof(s), "%s", columns[i].title);
			if (i + 1 == n && columns[i].look == LOOK_TEXT)
				fputs(s, stdout);
			else
				printf("%*s%*s", columns[i].look == LOOK_TEXT ? -(int)width[i] :
				       (int)width[i], s, i + 1 == n ? 0 : (int)gap, "");
		}
		printf("%s\n", k ? "" : term(TERM_PLAIN));
	}
	free(width);
}

static void add_to(json_t *row, const char *key, const json_t *from, const char *path)
{
	int64_t v;

	if (j_int(from, path, &v))
		j_set(row, key, json_integer(j_int_or(row, key, 0) + v));
}

static void max_of(json_t *row, const char *key, const json_t *from, const char *path)
{
	int64_t v;

	if (j_int(from, path, &v) && v >= j_int_or(row, key, INT64_MIN))
		j_set(row, key, json_integer(v));
}

static void copy(json_t *row, const char *key, const json_t *from, const char *path)
{
	const json_t *v = j_get(from, path);

	if (v)
		j_set(row, key, json_incref((json_t *)v));
}

/**
 * rows_devices() - devices with their qdiscs onramp added up
 * @facts: now
 * @all: also those that are down, loopback, or without a wire and without the qdisc
 */
json_t *rows_devices(const json_t *facts, bool all)
{
	json_t *rows = json_array(), *row;
	const json_t *dev, *q;
	const char *name, *parent;
	char path[128];

	json_object_foreach((json_t *)j_get(facts, "devices"), name, dev) {
		int64_t with = 0;

		row = json_pack("{s:s}", "device", name);
		copy(row, "up", dev, "up");
		copy(row, "speed_mbit", dev, "speed_mbit");
		if (j_int_or(dev, "speed_mbit", 0) > 0)
			j_set(row, "speed_bit_s",
			      json_integer(j_int_or(dev, "speed_mbit", 0) * 1000000));
		copy(row, "tx_queues", dev, "tx_queues");
		copy(row, "qdisc", dev, "qdiscs/root/kind");
		json_object_foreach((json_t *)j_get(dev, "qdiscs"), parent, q) {
			if (!j_is(q, "kind", "onramp"))
				continue;
			with++;
			copy(row, "mode", q, "options/mode");
			add_to(row, "flows", q, "stats/flows");
			add_to(row, "held", q, "stats/flows_throttled");
			add_to(row, "pauses", q, "stats/pauses");
			add_to(row, "paused_ns", q, "stats/paused_ns");
			add_to(row, "sent_bytes", q, "stats/sent_bytes");
			add_to(row, "dropped_packets", q, "stats/dropped_packets");
			add_to(row, "acks", q, "stats/acks");
			max_of(row, "delay_p50_ns", q, "stats/owd_p50_ns");
			max_of(row, "delay_p99_ns", q, "stats/owd_p99_ns");
			max_of(row, "threshold_ns", q, "stats/threshold_ns");
			max_of(row, "late_ns", q, "stats/held_late_ns");
		}
		j_set(row, "onramp_qdiscs", json_integer(with));
		snprintf(path, sizeof(path), "nic_ts/%s", name);
		copy(row, "stamps_rx", j_get(facts, path), "rx_source");
		copy(row, "stamps_tx", j_get(facts, path), "tx_source");
		if (all || (j_true(dev, "up") && (with || j_true(dev, "wire"))))
			json_array_append_new(rows, row);
		else
			json_decref(row);
	}
	return rows;
}

/* Time between the two looks, 0 if there was one. */
static double looked_s(const json_t *facts)
{
	int64_t from = 0, to = 0;

	if (!j_int(j_get(facts, "before"), "monotonic_ns", &from) ||
	    !j_int(j_get(facts, "now"), "monotonic_ns", &to))
		return 0;
	return (double)(to - from) / 1e9;
}

/* By how much a counter grew each second. */
static bool grew(const json_t *before, const json_t *now, const char *key, double seconds,
		 double *per_s)
{
	int64_t from, to;

	/* One that fell is of a peer that was forgotten, and added again. */
	if (seconds <= 0 || !j_int(before, key, &from) || !j_int(now, key, &to) || from > to)
		return false;
	*per_s = (double)(to - from) / seconds;
	return true;
}

static bool same_ends(const json_t *a, const json_t *b)
{
	static const char * const keys[] = { "local", "remote", "scope" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (!json_equal((json_t *)j_get(a, keys[i]), (json_t *)j_get(b, keys[i])) &&
		    (j_get(a, keys[i]) || j_get(b, keys[i])))
			return false;
	return true;
}

/* The same object in an earlier list: mostly at the same place. */
static const json_t *earlier(const json_t *list, const json_t *object, size_t at)
{
	size_t n = json_array_size(list), i;
	const json_t *other;

	for (i = 0; i < n; i++) {
		other = json_array_get(list, (at + i) % n);
		if (same_ends(other, object))
			return other;
	}
	return NULL;
}

/**
 * rows_paths() - peers of sch_onramp
 * @facts: one look, or two: then with rates
 */
json_t *rows_paths(const json_t *facts)
{
	/* Those of /proc/net/onramp_peers are in each row. */
	static const char * const keys[] = {
		"remote", "local", "state", "connections", "rtt_us", "unanswered", "heard_ms",
	};
	const json_t *before = j_get(j_get(facts, "before"), "peers"), *peer, *old;
	json_t *rows = json_array(), *row;
	double seconds = looked_s(facts), per_s;
	int64_t connections;
	size_t i, k;

	json_array_foreach((json_t *)j_get(facts, "now/peers"), i, peer) {
		row = json_object();
		for (k = 0; k < ARRAY_SIZE(keys); k++)
			j_set(row, keys[k], json_incref(json_object_get(peer, keys[k])));
		json_object_update_missing(row, (json_t *)peer);
		json_array_append_new(rows, row);
		old = earlier(before, peer, i);
		connections = j_int_or(peer, "connections", 0);
		if (grew(old, peer, "acks", seconds, &per_s))
			j_set(row, "acks_per_s", json_real(per_s));
		/* Of the time of all its connections. */
		if (connections > 0 && grew(old, peer, "paused_ns", seconds, &per_s))
			j_set(row, "paused_share",
			      json_real(fmin(per_s / 1e9 / (double)connections, 1)));
	}
	return rows;
}

/**
 * rows_subscribers() - hosts that or_acker sends OR-ACKs to
 * @facts: one look, or two: then with rates
 */
json_t *rows_subscribers(const json_t *facts)
{
	const json_t *before = j_get(j_get(facts, "before"), "subscribers"), *subscriber;
	double seconds = looked_s(facts), per_s;
	json_t *rows = json_array(), *row;
	size_t i;

	json_array_foreach((json_t *)j_get(facts, "now/subscribers"), i, subscriber) {
		row = json_copy((json_t *)subscriber);
		json_array_append_new(rows, row);
		if (grew(earlier(before, subscriber, i), subscriber, "acks", seconds, &per_s))
			j_set(row, "acks_per_s", json_real(per_s));
	}
	return rows;
}

/**
 * rows_clocks() - the system's clock, and those that nic_ts has or had a map of
 * @facts: now
 */
json_t *rows_clocks(const json_t *facts)
{
	static const char * const keys[] = {
		"state", "error_ns", "drift_ppb", "rate_ppt", "age_ns", "max_age_ns",
	};
	json_t *rows = json_array(), *row;
	const json_t *clock = j_get(facts, "system_clock");
	const char *name;
	size_t k;

	if (clock) {
		row = json_pack("{s:s, s:s}", "clock", "system", "state",
				j_true(clock, "synchronised") ? "synchronised" : "unsynchronised");
		j_set(row, "error_ns", json_integer(j_int_or(clock, "max_error_us", 0) * 1000));
		copy(row, "tai_offset_s", clock, "tai_offset_s");
		json_array_append_new(rows, row);
	}
	json_object_foreach((json_t *)j_get(facts, "clocks"), name, clock) {
		row = json_pack("{s:s}", "clock", name);
		for (k = 0; k < ARRAY_SIZE(keys); k++)
			copy(row, keys[k], clock, keys[k]);
		json_array_append_new(rows, row);
	}
	return rows;
}

/**
 * rows_counters() - counters of a file of /proc/net, with how fast they grow
 * @facts: both looks
 * @file: its name
 * @all: also those that are 0
 */
json_t *rows_counters(const json_t *facts, const char *file, bool all)
{
	const json_t *now = j_get(j_get(facts, "now"), file);
	const json_t *before = j_get(j_get(facts, "before"), file);
	double seconds = looked_s(facts), per_s;
	json_t *rows = json_array(), *row;
	const json_t *value;
	const char *name;
	int64_t v;

	json_object_foreach((json_t *)now, name, value) {
		if (!json_is_integer(value))
			continue;
		v = json_integer_value(value);
		if (!v && !all)
			continue;
		row = json_pack("{s:s, s:I}", "name", name, "value", (json_int_t)v);
		/* One that fell is of a module that was loaded again. */
		if (grew(before, now, name, seconds, &per_s))
			j_set(row, "per_s", json_real(per_s));
		json_array_append_new(rows, row);
	}
	return rows;
}

static void put_end(json_t *row, const char *key, const char *port_key, int family,
		    const uint8_t *addr, uint16_t port)
{
	char text[INET6_ADDRSTRLEN] = "?";

	inet_ntop(family, addr, text, sizeof(text));
	j_set(row, key, json_string(text));
	j_set(row, port_key, json_integer(port));
}

/* As ss writes it. */
static void put_text(json_t *row, const char *key, int family, const uint8_t *addr, uint16_t port)
{
	char text[INET6_ADDRSTRLEN] = "?", both[INET6_ADDRSTRLEN + 16];

	inet_ntop(family, addr, text, sizeof(text));
	snprintf(both, sizeof(both), family == AF_INET6 ? "[%s]:%u" : "%s:%u", text, port);
	j_set(row, key, json_string(both));
}

/* Share of the time that a connection had data to send. */
static void put_share(json_t *row, const char *key, uint64_t part, uint64_t all)
{
	if (all)
		j_set(row, key, json_real((double)(part < all ? part : all) / (double)all));
}

/**
 * row_flow() - a connection
 * @f: connection
 *
 * Return: the row; "from" and "to" are for the table.
 */
json_t *row_flow(const struct flow *f)
{
	const struct tcp_info *t = &f->info;
	json_t *row = json_object();

	put_end(row, "local", "local_port", f->family, f->local, f->lport);
	put_end(row, "remote", "remote_port", f->family, f->remote, f->rport);
	put_text(row, "from", f->family, f->local, f->lport);
	put_text(row, "to", f->family, f->remote, f->rport);
	j_set(row, "cookie", json_integer((json_int_t)(f->cookie & INT64_MAX)));
	if (*f->cc)
		j_set(row, "congestion_control", json_string(f->cc));
	if (!f->has_info)
		return row;
	if (t->tcpi_delivery_rate)
		j_set_u64(row, "delivery_bit_s", t->tcpi_delivery_rate * 8);
	/* All bits set is no limit. */
	if (t->tcpi_pacing_rate && t->tcpi_pacing_rate < UINT64_MAX / 8)
		j_set_u64(row, "pacing_bit_s", t->tcpi_pacing_rate * 8);
	/* 0: none was measured yet. */
	if (f->rtt_count ? f->rtt_us : t->tcpi_rtt)
		j_set_u64(row, "rtt_us", f->rtt_count ? f->rtt_us : t->tcpi_rtt);
	if (f->rtt_count ? f->min_rtt_us : t->tcpi_min_rtt && t->tcpi_min_rtt != UINT32_MAX)
		j_set_u64(row, "min_rtt_us", f->rtt_count ? f->min_rtt_us : t->tcpi_min_rtt);
	j_set_u64(row, "cwnd_packets", t->tcpi_snd_cwnd);
	j_set_u64(row, "unacked_packets", t->tcpi_unacked);
	j_set_u64(row, "unsent_bytes", t->tcpi_notsent_bytes);
	j_set_u64(row, "retransmitted_packets", t->tcpi_total_retrans);
	j_set_u64(row, "sent_bytes", t->tcpi_bytes_sent);
	j_set_u64(row, "busy_us", t->tcpi_busy_time);
	put_share(row, "receiver_share", t->tcpi_rwnd_limited, t->tcpi_busy_time);
	put_share(row, "buffer_share", t->tcpi_sndbuf_limited, t->tcpi_busy_time);
	j_set(row, "application_limited", json_boolean(t->tcpi_delivery_rate_app_limited));
	if (f->rtt_count)
		j_set_u64(row, "timely_rtts", f->rtt_count);
	return row;
}
