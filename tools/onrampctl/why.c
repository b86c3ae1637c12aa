// SPDX-License-Identifier: GPL-2.0
/* onrampctl why: the limits of a connection. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "collect.h"
#include "show.h"
#include "why.h"

/* Looks in an interval, and the shortest time between two of them, ns. */
#define SAMPLES		50
#define SAMPLE_MIN_NS	(2 * NSEC_PER_MSEC)

/* One sentence for the largest share. */
static const char * const meanings[WHYS] = {
	[WHY_RECEIVER] = "the receiver does not read fast enough, or its buffer is too small",
	[WHY_PATH] = "On-Ramp pauses it: packets find a queue above T on the way there",
	[WHY_BUFFER] = "the send buffer is too small for the path: SO_SNDBUF, net.ipv4.tcp_wmem",
	[WHY_LOSS] = "packets are lost on the way, and TCP sends them again",
	[WHY_QDISC] = "the device of this host is saturated: packets wait in its qdisc",
	[WHY_RATE] = "the congestion control sends at its own rate or window",
	[WHY_APPLICATION] = "the application gives it no more data to send",
	[WHY_UNKNOWN] = "it is not known",
};

/* Other connections of this host to the same one. */
struct others {
	struct flow_key key;
	unsigned int all, held;
};

static void on_other(const struct pauses *p, void *arg)
{
	struct others *o = arg;

	if (p->key.lport == o->key.lport && p->key.rport == o->key.rport &&
	    !memcmp(p->key.local, o->key.local, sizeof(p->key.local)))
		return;
	o->all++;
	o->held += p->pause_left_ns > 0;
}

/* The path of a connection, in @scope, among all of them, or NULL; owned by the caller. */
static json_t *path_of(const json_t *flow, uint32_t scope)
{
	json_t *rows = json_array(), *row, *path = NULL;
	size_t i;

	if (!family_dump(FAMILY_PATHS, rows))
		json_array_foreach(rows, i, row)
			if (j_str(flow, "remote") && j_str(flow, "local") &&
			    j_is(row, "remote", j_str(flow, "remote")) &&
			    j_is(row, "local", j_str(flow, "local")) &&
			    j_int_or(row, "scope", 0) == scope)
				path = row;
	json_incref(path);
	json_decref(rows);
	return path;
}

static json_t *report(const struct look *a, const struct look *b,
		      const struct why_samples *samples, const struct others *others)
{
	struct why_shares s = why_shares(a, b, samples);
	double seconds = (double)(b->time_ns - a->time_ns) / 1e9;
	uint64_t sent = b->flow.info.tcpi_bytes_sent - a->flow.info.tcpi_bytes_sent;
	json_t *o = row_flow(&b->flow), *shares = json_object(), *path;
	char device[IF_NAMESIZE];
	size_t i;

	for (i = 0; i < WHYS; i++)
		j_set(shares, why_keys[i], json_real(s.of[i]));
	j_set(o, "shares", shares);
	j_set(o, "dominant", json_string(why_keys[why_dominant(&s)]));
	j_set(o, "meaning", json_string(meanings[why_dominant(&s)]));
	j_set(o, "interval_s", json_real(seconds));
	j_set(o, "samples", json_integer(samples->all));
	if (seconds > 0)
		j_set(o, "rate_bit_s", json_integer((json_int_t)((double)sent * 8 / seconds)));
	if (if_indextoname(look_device(b), device))
		j_set(o, "device", json_string(device));
	j_set(o, "followed_by_onramp", json_boolean(b->onramp));
	if (!b->onramp)
		return o;
	j_set_u64(o, "pauses", look_grown(a->pauses.pauses, b->pauses.pauses));
	j_set_u64(o, "paused_ns", look_grown(a->pauses.paused_ns, b->pauses.paused_ns));
	path = path_of(o, b->pauses.key.scope);
	if (path)
		j_set(o, "path", path);
	j_set(o, "same_host", json_pack("{s:i, s:i}", "connections", (int)others->all, "paused",
					(int)others->held));
	return o;
}

static const char *shown(char *s, size_t size, const json_t *o, const char *key, enum look_as look)
{
	show_value(s, size, j_get(o, key), look);
	return s;
}

static void print_path(const json_t *o)
{
	char a[32], b[32], c[32], d[32], e[32];
	int64_t pauses = j_int_or(o, "pauses", 0), n = j_int_or(o, "same_host/connections", 0);
	json_t *mean = json_integer(pauses ? j_int_or(o, "paused_ns", 0) / pauses : 0);

	show_value(a, sizeof(a), mean, LOOK_NS);
	json_decref(mean);
	printf("path      queue %s now (T %s, p99 %s), %" PRId64 " pause%s",
	       shown(b, sizeof(b), o, "path/delay_ns", LOOK_NS),
	       shown(c, sizeof(c), o, "path/threshold_ns", LOOK_NS),
	       shown(d, sizeof(d), o, "path/delay_p99_ns", LOOK_NS), pauses,
	       pauses == 1 ? "" : "s");
	if (pauses)
		printf(", mean %s", a);
	if (j_get(o, "path/slow_rate_bit_s"))
		printf("; slowest link %s",
		       shown(e, sizeof(e), o, "path/slow_rate_bit_s", LOOK_RATE));
	if (j_str(o, "path/baseline"))
		printf("; baseline %s", j_str(o, "path/baseline"));
	if (j_str(o, "path/baseline") && j_get(o, "path/delay_error_ns"))
		printf(", +-%s", shown(e, sizeof(e), o, "path/delay_error_ns", LOOK_NS));
	putchar('\n');
	if (n)
		printf("          %" PRId64 " other connection%s of this host %s to the same host, %"
		       PRId64 " of them paused now\n", n, n == 1 ? "" : "s",
		       n == 1 ? "goes" : "go", j_int_or(o, "same_host/paused", 0));
	else
		puts("          no other connection of this host goes to the same host");
}

static void print_report(const json_t *o, const struct why_shares *s)
{
	int percent[WHYS], i, k, best;
	bool done[WHYS] = { false };
	char rate[32], pacing[32];

	why_percent(s, percent);
	printf("%s -> %s  %s%s, last %.1f s: %s, pacing rate %s\n", j_str(o, "from"),
	       j_str(o, "to"), j_str(o, "congestion_control") ? j_str(o, "congestion_control") : "?",
	       j_true(o, "followed_by_onramp") ? " + onramp" : "",
	       json_real_value(j_get(o, "interval_s")),
	       show_rate(rate, sizeof(rate), j_get(o, "rate_bit_s")),
	       show_rate(pacing, sizeof(pacing), j_get(o, "pacing_bit_s")));
	printf("held by ");
	/* The largest first. */
	for (k = 0; k < WHYS; k++) {
		best = -1;
		for (i = 0; i < WHYS; i++)
			if (!done[i] && (best < 0 || s->of[i] > s->of[best]))
				best = i;
		done[best] = true;
		if (percent[best])
			printf("  %s %d%%", why_names[best], percent[best]);
	}
	printf("\n          %s\n", j_str(o, "meaning"));
	if (j_true(o, "followed_by_onramp"))
		print_path(o);
}

int cmd_why(const struct ctl *ctl, int argc, char **argv)
{
	struct look a = look_first(ctl, argc, argv), b = a;
	struct others others = { .key = flow_key(&a.flow) };
	uint64_t step = ctl->interval_ns / SAMPLES, end = a.time_ns + ctl->interval_ns;
	uint32_t ifindex = look_device(&a);
	struct why_samples samples = { 0 };
	struct why_shares s;
	json_t *o;

	if (!ctl->interval_ns)
		die_usage("why takes time: expected an interval above 0");
	if (a.hidden)
		warning("pauses of On-Ramp are for root to see: their share is unknown");
	if (step < SAMPLE_MIN_NS)
		step = SAMPLE_MIN_NS;
	do {
		look_sleep(step);
		if (!look_again(&b))
			die_unknown("the connection was closed");
		why_sample(&samples, &b, backlog_now(ifindex));
	} while (b.time_ns < end);
	if (b.onramp)
		family_pauses_each(&others.key, on_other, &others);
	s = why_shares(&a, &b, &samples);
	o = report(&a, &b, &samples, &others);
	if (ctl->json)
		j_print(o);
	else
		print_report(o, &s);
	json_decref(o);
	return CTL_OK;
}
