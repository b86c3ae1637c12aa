// SPDX-License-Identifier: GPL-2.0
/* onrampctl top: the busiest connections, again and again. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "collect.h"
#include "filter.h"
#include "show.h"
#include "top.h"

/* Rows where no terminal says how many fit. */
#define ROWS		20
#define ROWS_MAX	200

/* Set by a signal. */
static atomic_bool stopped;

static void on_signal(int number)
{
	(void)number;
	stopped = true;
}

/* Keys, if both ends are a terminal. */
static const char key_letters[] = {
	[TOP_RATE] = 'r', [TOP_RTT] = 't', [TOP_QUEUE] = 'd', [TOP_PAUSED] = 'p',
	[TOP_RETRANS] = 'x',
};

static struct termios before_keys;
static bool keys;

/* Get keys at once, and do not show them. */
static void keys_on(void)
{
	struct termios raw;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
	    tcgetattr(STDIN_FILENO, &before_keys))
		return;
	raw = before_keys;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	/* In the background, this would stop us. */
	keys = tcgetpgrp(STDIN_FILENO) == getpgrp() && !tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

static void keys_off(void)
{
	if (keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &before_keys);
	keys = false;
}

/* Wait until @end_ns, or for a key that asks for something else. */
static void wait_for_key(uint64_t end_ns, enum top_key *sort)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };
	uint64_t now;
	char key;
	size_t i;

	while (!stopped && (now = now_ns()) < end_ns) {
		if (!keys) {
			look_sleep(end_ns - now);
			return;
		}
		if (poll(&fd, 1, (int)((end_ns - now) / NSEC_PER_MSEC) + 1) <= 0)
			continue;
		/* The terminal is gone. */
		if (read(STDIN_FILENO, &key, 1) != 1) {
			stopped = true;
			return;
		}
		if (key == 'q')
			stopped = true;
		for (i = 0; i < TOP_KEYS; i++)
			if (key == key_letters[i]) {
				*sort = (enum top_key)i;
				return;
			}
	}
}

struct reading {
	struct table *table;
	const struct filter *filter;
	/* Sorted by name while pauses come. */
	struct look **by_name;
};

static void on_flow(const struct flow *f, void *arg)
{
	struct reading *r = arg;

	if (filter_match(r->filter, f))
		table_add(r->table, f);
}

static int compare_keys(const struct flow_key *a, const struct flow_key *b)
{
	int by;

	if (a->lport != b->lport)
		return a->lport < b->lport ? -1 : 1;
	if (a->rport != b->rport)
		return a->rport < b->rport ? -1 : 1;
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	by = memcmp(a->remote, b->remote, sizeof(a->remote));
	return by ? by : memcmp(a->local, b->local, sizeof(a->local));
}

static int by_name(const void *a, const void *b)
{
	struct flow_key x = flow_key(&(*(struct look * const *)a)->flow),
			y = flow_key(&(*(struct look * const *)b)->flow);

	return compare_keys(&x, &y);
}

static void on_pauses(const struct pauses *p, void *arg)
{
	struct reading *r = arg;
	size_t low = 0, high = r->table->n, mid;

	while (low < high) {
		struct flow_key key;
		int by;

		mid = (low + high) / 2;
		key = flow_key(&r->by_name[mid]->flow);
		by = compare_keys(&key, &p->key);
		if (!by) {
			r->by_name[mid]->pauses = *p;
			r->by_name[mid]->onramp = true;
			return;
		}
		if (by < 0)
			low = mid + 1;
		else
			high = mid;
	}
}

static void read_table(struct table *t, const struct filter *filter)
{
	struct reading r = { .table = t, .filter = filter };
	size_t i;

	t->n = 0;
	t->time_ns = now_ns();
	if (sockets_each(on_flow, &r))
		die_unknown("the kernel does not tell about connections: modprobe tcp_diag");
	r.by_name = xcalloc(t->n, sizeof(*r.by_name));
	for (i = 0; i < t->n; i++)
		r.by_name[i] = &t->looks[i];
	if (t->n) {
		qsort(r.by_name, t->n, sizeof(*r.by_name), by_name);
		t->hidden = family_pauses_each(NULL, on_pauses, &r) == -EPERM;
		for (i = 0; i < t->n; i++)
			t->looks[i].hidden = t->hidden;
	}
	free(r.by_name);
	table_sort(t);
}

/* Devices with the qdisc, and what they did since the look before. */
static json_t *device_rows(json_t *now, const json_t *before, double seconds)
{
	json_t *facts = json_pack("{s:O}", "devices", now), *rows, *row;
	const json_t *old = NULL;
	size_t i, k;

	rows = rows_devices(facts, false);
	json_decref(facts);
	json_array_foreach(rows, i, row) {
		static const struct {
			const char *key, *rate;
			double unit;
		} rates[] = {
			{ "sent_bytes", "rate_bit_s", 8 }, { "pauses", "pauses_per_s", 1 },
		};
		int64_t from, to;

		json_array_foreach((json_t *)before, k, old)
			if (j_is(old, "device", j_str(row, "device")))
				break;
		if (k == json_array_size(before))
			old = NULL;
		for (k = 0; k < ARRAY_SIZE(rates); k++)
			if (j_int(old, rates[k].key, &from) && j_int(row, rates[k].key, &to) &&
			    to >= from && seconds > 0)
				j_set(row, rates[k].rate,
				      json_real((double)(to - from) * rates[k].unit / seconds));
	}
	return rows;
}

static json_t *read_devices(const json_t *before, double seconds)
{
	json_t *devices = json_object(), *rows, *dev;
	const char *name;

	if (rtnl_devices(devices))
		json_object_foreach(devices, name, dev)
			ethtool_read(dev, name);
	rows = device_rows(devices, before, seconds);
	json_decref(devices);
	return rows;
}

static const char *value(char *s, size_t size, const json_t *o, const char *key,
			 enum look_as look)
{
	show_value(s, size, j_get(o, key), look);
	return s;
}

static void print_devices(const json_t *rows)
{
	char a[32], b[32], c[32], d[32], e[32], t[32];
	const json_t *row;
	size_t i;

	json_array_foreach((json_t *)rows, i, row) {
		if (!j_int_or(row, "onramp_qdiscs", 0))
			continue;
		printf("%s %s", j_str(row, "device"),
		       show_rate(a, sizeof(a), j_get(row, "rate_bit_s")));
		/* A virtual device has no speed. */
		if (j_get(row, "speed_bit_s"))
			printf(" of %s", show_rate(b, sizeof(b), j_get(row, "speed_bit_s")));
		printf("  held %s  pauses %s%s  delay p99 %s (T %s)\n",
		       value(c, sizeof(c), row, "held", LOOK_COUNT),
		       value(d, sizeof(d), row, "pauses_per_s", LOOK_COUNT),
		       j_get(row, "pauses_per_s") ? "/s" : "",
		       value(e, sizeof(e), row, "delay_p99_ns", LOOK_NS),
		       value(t, sizeof(t), row, "threshold_ns", LOOK_NS));
	}
}

/* Columns that a line of 80 characters has, and those for which there is room beside them. */
#define COLUMNS_LEAST	7

static void print_flows(const json_t *rows, size_t room)
{
	static const struct column columns[] = {
		{ "FLOW", "from", LOOK_TEXT }, { "TO", "to", LOOK_TEXT },
		{ "RATE", "rate_bit_s", LOOK_RATE }, { "RTT", "rtt_us", LOOK_US },
		{ "QUEUE", "delay_ns", LOOK_NS }, { "PAUSED", "paused_share", LOOK_SHARE },
		{ "HELD-BY", "held_by", LOOK_TEXT },
		{ "CC", "congestion_control", LOOK_TEXT }, { "MIN-RTT", "min_rtt_us", LOOK_US },
		{ "RETRANS", "retransmitted_packets", LOOK_COUNT },
		{ "CWND", "cwnd_packets", LOOK_COUNT }, { "PACING", "pacing_bit_s", LOOK_RATE },
		{ "DELIVERY", "delivery_bit_s", LOOK_RATE },
		{ "UNSENT", "unsent_bytes", LOOK_COUNT },
	};

	show_table(rows, columns,
		   show_fitting(rows, columns, ARRAY_SIZE(columns), COLUMNS_LEAST, 2, room));
}

/* Rows for connections, of those of a terminal; of 0: in a pipe. */
static size_t rows_for_flows(size_t rows, size_t used)
{
	if (!rows)
		return ROWS;
	return rows <= used + 1 ? 1 : rows - used < ROWS_MAX ? rows - used : ROWS_MAX;
}

static void put_screen(const struct ctl *ctl, const struct table *before, const struct table *now,
		       enum top_key sort, const json_t *devices, bool terminal)
{
	json_t *rows = json_array(), *row, *screen;
	struct winsize size = terminal ? term_size() : (struct winsize) { 0 };
	struct busy busiest[ROWS_MAX];
	size_t i, n, lines = 3;

	json_array_foreach((json_t *)devices, i, row)
		lines += j_int_or(row, "onramp_qdiscs", 0) > 0;
	n = table_busiest(before, now, sort, busiest, rows_for_flows(size.ws_row, lines));
	for (i = 0; i < n; i++)
		json_array_append_new(rows, busy_row(&busiest[i]));
	if (ctl->json) {
		screen = json_pack("{s:I, s:I, s:O, s:O}", "time_ms",
				   (json_int_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_MSEC),
				   "connections", (json_int_t)now->n, "devices", devices, "flows",
				   rows);
		json_dumpf(screen, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
		putchar('\n');
		json_decref(screen);
	} else {
		/* Home, and clear below: nothing flickers. Long lines are cut, not wrapped. */
		if (terminal)
			fputs("\033[H\033[J\033[?7l", stdout);
		print_devices(devices);
		printf("%zu connection%s by %s%s%s\n", now->n, now->n == 1 ? "" : "s",
		       top_keys[sort], now->hidden ? "; pauses are for root to see" : "",
		       keys ? "; q ends, r t d p x sort" : "");
		if (ctl->resolve)
			names_put(rows);
		if (json_array_size(rows))
			print_flows(rows, size.ws_col);
		fputs(terminal ? "\033[?7h" : "\n", stdout);
	}
	json_decref(rows);
	if (fflush(stdout) || ferror(stdout))
		die_unknown("cannot write to stdout");
}

int cmd_top(const struct ctl *ctl, int argc, char **argv)
{
	bool terminal = !ctl->json && isatty(STDOUT_FILENO);
	struct sigaction sa = { .sa_handler = on_signal };
	struct table tables[2] = { 0 };
	json_t *devices = NULL, *next;
	struct filter *filter = NULL;
	enum top_key sort = TOP_RATE;
	char error[FILTER_ERROR];
	uint64_t seen = 0;

	if (ctl->sort)
		sort = (enum top_key)word_among("sort", ctl->sort, top_keys, TOP_KEYS);
	if (sort == TOP_KEYS)
		die_usage("sort '%s': expected rate, rtt, queue, paused or retrans", ctl->sort);
	if (ctl->facts || *ctl->root)
		die_usage("connections are not among the facts: use it without --facts and --root");
	if (ctl->interval_ns < 100 * NSEC_PER_MSEC)
		die_usage("top: expected an interval of 0.1 s or more");
	if (argc) {
		filter = filter_parse(argc, argv, error);
		if (!filter)
			die_usage("%s", error);
	}
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	read_table(&tables[0], filter);
	devices = read_devices(NULL, 0);
	if (terminal)
		keys_on();
	atexit(keys_off);
	while (!stopped && (!ctl->count || seen < ctl->count)) {
		struct table *before = &tables[seen % 2], *now = &tables[(seen + 1) % 2];

		wait_for_key(before->time_ns + ctl->interval_ns, &sort);
		if (stopped)
			break;
		read_table(now, filter);
		next = read_devices(devices, (double)(now->time_ns - before->time_ns) / 1e9);
		json_decref(devices);
		devices = next;
		put_screen(ctl, before, now, sort, devices, terminal);
		seen++;
	}
	keys_off();
	json_decref(devices);
	filter_free(filter);
	free(tables[0].looks);
	free(tables[1].looks);
	return CTL_OK;
}
