// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dcload.h"
#include "net.h"
#include "parse.h"
#include "workload.h"

/* Defaults of a kind, which its keys override. */
struct kind {
	const char *name;
	bool request;
	enum arrivals arrivals;
	const char *size;	/* NULL: must be given */
	uint64_t fanout;
	uint64_t depth;
};

static const struct kind kinds[N_WORKLOAD_KINDS] = {
	[WORKLOAD_POISSON] = { "poisson", false, ARRIVALS_POISSON, NULL, 1, 1 },
	[WORKLOAD_INCAST] = { "incast", true, ARRIVALS_POISSON, NULL, 0, 1 },
	[WORKLOAD_RPC] = { "rpc", true, ARRIVALS_CLOSED, "1000", 1, 1 },
	[WORKLOAD_STORAGE] = { "storage", true, ARRIVALS_CLOSED, "16K-128K", 1, 8 },
	[WORKLOAD_LONG] = { "long", false, ARRIVALS_CLOSED, "1", 1, 1 },
};

#define KINDS	"poisson, incast, rpc, storage or long"

/* A failure to parse: always false. */
struct message {
	char *text;
	size_t len;
};

static bool __printf(2, 3) wrong(const struct message *m, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(m->text, m->len, fmt, ap);
	va_end(ap);
	return false;
}

const char *workload_kind_name(enum workload_kind kind)
{
	return kinds[kind].name;
}

static bool host_range(const char *s, size_t n_hosts, uint64_t *first, uint64_t *last)
{
	const char *dash = strchr(s, '-');
	char text[16];

	if (!dash) {
		if (!parse_u64(s, 1, n_hosts, first))
			return false;
		*last = *first;
		return true;
	}
	snprintf(text, sizeof(text), "%.*s", (int)(dash - s), s);
	return parse_u64(text, 1, n_hosts, first) &&
	       parse_u64(dash + 1, *first, n_hosts, last);
}

/**
 * host_set_parse() - hosts as written on the command line
 * @set: result, in rising order
 * @s: "all", or numbers and ranges such as "1-4+9", from 1
 * @n_hosts: number of hosts there are
 *
 * Return: false if @s is no such set.
 */
bool host_set_parse(struct host_set *set, const char *s, size_t n_hosts)
{
	bool member[MAX_HOSTS] = { false };
	uint64_t first = 1, last = n_hosts;
	size_t i, n = 0;
	char **items;
	bool ok = true;

	if (strcmp(s, "all")) {
		items = parse_list(s, '+', &n);
		if (!items)
			return false;
		for (i = 0; i < n; i++) {
			ok = ok && host_range(items[i], n_hosts, &first, &last);
			for (; ok && first <= last; first++)
				member[first - 1] = true;
			free(items[i]);
		}
		free(items);
		if (!ok)
			return false;
	} else {
		memset(member, true, sizeof(member));
	}
	set->host = xcalloc(n_hosts, sizeof(*set->host));
	set->n = 0;
	for (i = 0; i < n_hosts; i++)
		if (member[i])
			set->host[set->n++] = (uint16_t)i;
	return true;
}

bool host_set_has(const struct host_set *set, size_t host)
{
	size_t i;

	for (i = 0; i < set->n; i++)
		if (set->host[i] == host)
			return true;
	return false;
}

static bool key_hosts(struct host_set *set, const char *key, const char *value,
		      size_t n_hosts, const struct message *m)
{
	struct host_set parsed;

	if (!host_set_parse(&parsed, value, n_hosts))
		return wrong(m, "%s=%s: expected all, or numbers of hosts from 1 to %zu, such as 1-4+9",
			     key, value, n_hosts);
	free(set->host);
	*set = parsed;
	return true;
}

static bool key_u64(uint64_t *out, const char *key, const char *value,
		    uint64_t min, uint64_t max, const struct message *m)
{
	if (parse_u64(value, min, max, out))
		return true;
	return wrong(m, "%s=%s: expected a whole number from %llu to %llu", key,
		     value, (unsigned long long)min, (unsigned long long)max);
}

static bool key_seconds(uint64_t *out, const char *key, const char *value,
			double min, double max, const struct message *m)
{
	if (parse_seconds(value, min, max, out))
		return true;
	return wrong(m, "%s=%s: expected a number of seconds from %g to %g", key,
		     value, min, max);
}

static bool key_load(struct workload *w, const char *value, const struct message *m)
{
	uint64_t billionths;

	if (!parse_seconds(value, 1e-6, 10, &billionths))
		return wrong(m, "load=%s: expected a share of the link rate from 0.000001 to 10",
			     value);
	w->load = (double)billionths / 1e9;
	return true;
}

static bool key_interval(struct workload *w, const char *value,
			 const struct message *m)
{
	uint64_t ns;

	if (!key_seconds(&ns, "interval", value, 1e-6, 3600, m))
		return false;
	w->interval_ns = (double)ns;
	return true;
}

static bool key_arrivals(struct workload *w, const char *value,
			 const struct message *m)
{
	static const char *const names[] = {
		[ARRIVALS_POISSON] = "poisson",
		[ARRIVALS_FIXED] = "fixed",
		[ARRIVALS_CLOSED] = "closed",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(value, names[i])) {
			w->arrivals = (enum arrivals)i;
			return true;
		}
	}
	return wrong(m, "arrivals=%s: expected poisson, fixed or closed", value);
}

static void names_free(char **names, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

static bool key_cc(struct workload *w, const char *value, const struct message *m)
{
	size_t n, i;
	char **cc = parse_list(value, '+', &n);
	bool ok = cc;

	for (i = 0; ok && i < n; i++)
		ok = strlen(cc[i]) < CC_NAME_MAX;
	if (cc) {
		names_free(w->cc, w->n_cc);
		w->cc = cc;
		w->n_cc = n;
	}
	return ok || wrong(m, "cc=%s: expected names of 1 to %d characters, joined by +",
			   value, CC_NAME_MAX - 1);
}

static bool key_choice(bool *out, const char *key, const char *value,
		       const char *no, const char *yes, const struct message *m)
{
	*out = !strcmp(value, yes);
	if (*out || !strcmp(value, no))
		return true;
	return wrong(m, "%s=%s: expected %s or %s", key, value, no, yes);
}

static bool key_size(struct workload *w, const char *value, const struct message *m)
{
	char text[256];
	struct dist d;

	if (w->kind == WORKLOAD_LONG)
		return wrong(m, "size=%s: flows of kind long have no size", value);
	if (!dist_parse(&d, value, text, sizeof(text)))
		return wrong(m, "size=%s: %s", value, text);
	dist_free(&w->size);
	w->size = d;
	return true;
}

static bool key_request(struct workload *w, const char *key, const char *value,
			const struct message *m)
{
	uint64_t v;

	if (!w->request)
		return wrong(m, "%s=%s: kind %s has no requests", key, value,
			     workload_kind_name(w->kind));
	if (!strcmp(key, "fanout"))
		return key_u64(&w->fanout, key, value, 1, MAX_HOSTS - 1, m);
	if (!parse_size(value, &v) || v > 1 << 30)
		return wrong(m, "request=%s: expected a number of bytes from 1 to 1G",
			     value);
	w->request_bytes = v;
	return true;
}

static bool key_dscp(struct workload *w, const char *value, const struct message *m)
{
	uint64_t v;

	if (!key_u64(&v, "dscp", value, 0, 63, m))
		return false;
	w->dscp = (int)v;
	return true;
}

static bool apply(struct workload *w, const char *key, const char *value,
		  size_t n_hosts, const struct message *m)
{
	if (!strcmp(key, "name")) {
		free(w->name);
		w->name = xstrdup(value);
		return true;
	}
	if (!strcmp(key, "size"))
		return key_size(w, value, m);
	if (!strcmp(key, "load"))
		return key_load(w, value, m);
	if (!strcmp(key, "interval"))
		return key_interval(w, value, m);
	if (!strcmp(key, "arrivals"))
		return key_arrivals(w, value, m);
	if (!strcmp(key, "at"))
		return key_choice(&w->load_at_to, key, value, "from", "to", m);
	if (!strcmp(key, "depth"))
		return key_u64(&w->depth, key, value, 1, 65536, m);
	if (!strcmp(key, "fanout") || !strcmp(key, "request"))
		return key_request(w, key, value, m);
	if (!strcmp(key, "count"))
		return key_u64(&w->count, key, value, 1, 1000000000, m);
	if (!strcmp(key, "start"))
		return key_seconds(&w->start_ns, key, value, 0, 86400, m);
	if (!strcmp(key, "stop"))
		return key_seconds(&w->stop_ns, key, value, 1e-6, 86400, m);
	if (!strcmp(key, "from"))
		return key_hosts(&w->from, key, value, n_hosts, m);
	if (!strcmp(key, "to"))
		return key_hosts(&w->to, key, value, n_hosts, m);
	if (!strcmp(key, "conn"))
		return key_choice(&w->each, key, value, "pool", "each", m);
	if (!strcmp(key, "pool"))
		return key_u64(&w->pool, key, value, 1, 65536, m);
	if (!strcmp(key, "cc"))
		return key_cc(w, value, m);
	if (!strcmp(key, "dscp"))
		return key_dscp(w, value, m);
	return wrong(m, "unknown key %s: expected one of name, size, load, interval, arrivals, at, depth, fanout, request, count, start, stop, from, to, conn, pool, cc, dscp",
		     key);
}

static bool defaults(struct workload *w, const char *kind, size_t n_hosts,
		     const struct message *m)
{
	const struct kind *k;
	char text[64];
	int i;

	for (i = 0; i < N_WORKLOAD_KINDS; i++)
		if (!strcmp(kind, kinds[i].name))
			break;
	if (i == N_WORKLOAD_KINDS)
		return wrong(m, "unknown kind '%s': expected " KINDS, kind);
	k = &kinds[i];
	w->kind = (enum workload_kind)i;
	w->name = xstrdup(kind);
	w->request = k->request;
	w->request_bytes = 100;
	w->arrivals = k->arrivals;
	w->fanout = k->fanout;
	w->depth = k->depth;
	w->dscp = -1;
	if (w->kind == WORKLOAD_LONG)
		dist_uniform(&w->size, ENDLESS_BYTES, ENDLESS_BYTES);
	else if (k->size)
		dist_parse(&w->size, k->size, text, sizeof(text));
	return host_set_parse(&w->from, "all", n_hosts) &&
	       host_set_parse(&w->to, "all", n_hosts);
}

/* Servers a client can have: itself is none. */
static size_t others(const struct workload *w, size_t client)
{
	return w->to.n - host_set_has(&w->to, client);
}

static bool check(struct workload *w, bool loop_given, const struct message *m)
{
	size_t i, least = MAX_HOSTS;

	if (!w->size.n)
		return wrong(m, "kind %s needs a size", workload_kind_name(w->kind));
	if (!w->fanout)
		return wrong(m, "kind incast needs a fanout");
	for (i = 0; i < w->from.n; i++)
		if (others(w, w->from.host[i]) < least)
			least = others(w, w->from.host[i]);
	if (least < w->fanout)
		return wrong(m, "fanout %llu: host %u has only %zu other hosts to send to",
			     (unsigned long long)w->fanout, w->from.host[0] + 1U, least);
	/* Saying how often is saying that the loop is open. */
	if ((w->load > 0 || w->interval_ns > 0) && w->arrivals == ARRIVALS_CLOSED) {
		if (loop_given)
			return wrong(m, "arrivals=closed excludes load and interval");
		w->arrivals = ARRIVALS_POISSON;
	}
	if (w->load > 0 && w->interval_ns > 0)
		return wrong(m, "load and interval exclude each other");
	if (w->arrivals != ARRIVALS_CLOSED && w->load <= 0 &&
	    w->interval_ns <= 0)
		return wrong(m, "load=SHARE or interval=SECONDS is needed, or arrivals=closed");
	if (w->kind == WORKLOAD_LONG && w->arrivals != ARRIVALS_CLOSED)
		return wrong(m, "flows of kind long never end: they have depth, no load or interval");
	if (w->stop_ns && w->stop_ns <= w->start_ns)
		return wrong(m, "stop must come after start");
	if (w->pool && w->each)
		return wrong(m, "pool=N goes with conn=pool");
	return true;
}

/**
 * workload_parse() - read a workload's specification
 * @w: result, to be given to workload_free(), also on error
 * @spec: "KIND" or "KIND:KEY=VALUE,..."
 * @n_hosts: hosts there are, at most MAX_HOSTS
 * @err: result: the error
 * @err_len: its length
 *
 * Return: false if @spec is no workload.
 */
bool workload_parse(struct workload *w, const char *spec, size_t n_hosts,
		    char *err, size_t err_len)
{
	const struct message m = { err, err_len };
	size_t kind_len = strcspn(spec, ":"), n = 0, i;
	bool ok, loop_given = false;
	char **items = NULL;
	char kind[32];

	memset(w, 0, sizeof(*w));
	snprintf(kind, sizeof(kind), "%.*s", (int)kind_len, spec);
	ok = defaults(w, kind, n_hosts, &m);
	if (ok && spec[kind_len]) {
		items = parse_list(spec + kind_len + 1, ',', &n);
		if (!items)
			return wrong(&m, "an item is empty: expected KIND:KEY=VALUE,...");
	}
	for (i = 0; i < n; i++) {
		char *value = strchr(items[i], '=');

		if (ok && (!value || !value[1]))
			ok = wrong(&m, "%s: expected KEY=VALUE", items[i]);
		if (ok) {
			*value++ = '\0';
			loop_given |= !strcmp(items[i], "arrivals");
			ok = apply(w, items[i], value, n_hosts, &m);
		}
		free(items[i]);
	}
	free(items);
	if (!w->cc) {
		w->cc = xcalloc(1, sizeof(*w->cc));
		w->n_cc = 1;
	}
	return ok && check(w, loop_given, &m);
}

void workload_free(struct workload *w)
{
	names_free(w->cc, w->n_cc);
	free(w->name);
	free(w->from.host);
	free(w->to.host);
	dist_free(&w->size);
}

/**
 * workload_mean_bytes() - data of one exchange that its load counts, on average
 * @w: workload
 *
 * Requests are left out, as they go the other way.
 */
double workload_mean_bytes(const struct workload *w)
{
	return dist_mean(&w->size) * (double)w->fanout;
}

/**
 * workload_finish() - from a load, compute the interval
 * @w: workload
 * @link_bit_s: rate of a host's link, 0 if not known
 * @err: result: the error
 * @err_len: its length
 *
 * A load is that of the links of "from" hosts: out of them one way, into them
 * with requests. With at=to it is that of "to" hosts, of which there may be more
 * or fewer.
 *
 * Return: false if there is a load, but no link rate.
 */
bool workload_finish(struct workload *w, uint64_t link_bit_s, char *err,
		     size_t err_len)
{
	const struct message m = { err, err_len };
	double per_s;

	if (w->load <= 0)
		return true;
	if (!link_bit_s)
		return wrong(&m, "load=%g needs --link-rate", w->load);
	per_s = w->load * (double)link_bit_s / 8 / workload_mean_bytes(w);
	if (w->load_at_to)
		per_s *= (double)w->to.n / (double)w->from.n;
	if (per_s > 1e8)
		return wrong(&m, "load=%g means %.3g arrivals a second at each host; 1e8 are allowed",
			     w->load, per_s);
	w->interval_ns = 1e9 / per_s;
	return true;
}

/**
 * workload_pick() - choose the servers of an exchange
 * @w: workload
 * @client: host that starts it
 * @r: generator
 * @servers: result, fanout different hosts other than @client
 *
 * Return: fanout.
 */
size_t workload_pick(const struct workload *w, size_t client, struct rng *r,
		     uint16_t *servers)
{
	uint16_t pool[MAX_HOSTS];
	size_t n = 0, i;

	for (i = 0; i < w->to.n; i++)
		if (w->to.host[i] != client)
			pool[n++] = w->to.host[i];
	/* The first steps of a Fisher-Yates shuffle. */
	for (i = 0; i < w->fanout; i++) {
		size_t j = i + (size_t)rng_below(r, n - i);

		servers[i] = pool[j];
		pool[j] = pool[i];
	}
	return i;
}

/**
 * ideal_parse() - ideal of pairs of hosts, as written on the command line
 * @ideal: result
 * @s: "SRC:DST:RATE:RTT_US", SRC and DST sets of hosts
 * @n_hosts: hosts there are
 *
 * Return: false if @s is none.
 */
bool ideal_parse(struct ideal *ideal, const char *s, size_t n_hosts)
{
	uint64_t bit_s, us_ns;
	char **items;
	size_t n, i;
	bool ok;

	items = parse_list(s, ':', &n);
	if (!items)
		return false;
	ok = n == 4 && host_set_parse(&ideal->src, items[0], n_hosts) &&
	     host_set_parse(&ideal->dst, items[1], n_hosts) &&
	     parse_bitrate(items[2], &bit_s) &&
	     parse_seconds(items[3], 0, 1e7, &us_ns);
	if (ok) {
		ideal->bit_s = (double)bit_s;
		ideal->rtt_ns = (double)us_ns / 1e6;
	}
	for (i = 0; i < n; i++)
		free(items[i]);
	free(items);
	return ok;
}

/**
 * ideal_ns() - completion time on an empty network
 * @ideal: rate and RTT
 * @w: workload
 * @bytes: of the flow, or of all responses together
 * @acked: a flow one way is over when its receiver's answer is back
 *
 *	one way		RTT / 2 + bytes / rate
 *	acked		RTT + bytes / rate
 *	request		RTT + (request + bytes) / rate
 *
 * and one RTT more if the connection is made for it. TCP's slow start is not in
 * it: a transport could do without.
 */
double ideal_ns(const struct ideal *ideal, const struct workload *w,
		uint64_t bytes, bool acked)
{
	double ns = w->request || acked ? ideal->rtt_ns : ideal->rtt_ns / 2;

	if (w->each)
		ns += ideal->rtt_ns;
	if (w->request)
		bytes += w->request_bytes;
	return ns + (double)bytes * 8e9 / ideal->bit_s;
}
