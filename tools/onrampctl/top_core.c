// SPDX-License-Identifier: GPL-2.0
/* The busiest of many connections. Nothing here looks at the host. */
#include <stdlib.h>
#include <string.h>

#include "show.h"
#include "top.h"

/* table_add() - add a connection */
void table_add(struct table *t, const struct flow *f)
{
	if (t->n == t->room) {
		t->room = t->room ? t->room * 2 : 256;
		t->looks = xrealloc(t->looks, t->room, sizeof(*t->looks));
	}
	t->looks[t->n++] = (struct look){ .time_ns = t->time_ns, .flow = *f };
}

static int by_cookie(const void *a, const void *b)
{
	const struct look *x = a, *y = b;

	return (x->flow.cookie > y->flow.cookie) - (x->flow.cookie < y->flow.cookie);
}

/* table_sort() - make it ready for table_busiest() */
void table_sort(struct table *t)
{
	if (t->n)
		qsort(t->looks, t->n, sizeof(*t->looks), by_cookie);
}

const char * const top_keys[TOP_KEYS] = {
	[TOP_RATE] = "rate", [TOP_RTT] = "rtt", [TOP_QUEUE] = "queue", [TOP_PAUSED] = "paused",
	[TOP_RETRANS] = "retrans",
};

/* Share of the time between both looks for which it was paused; -1: not known. */
static double paused_share(const struct busy *b)
{
	double held;

	if (!b->before || !b->before->onramp || !b->look->onramp ||
	    b->look->pauses.paused_ns < b->before->pauses.paused_ns ||
	    b->look->time_ns <= b->before->time_ns)
		return -1;
	held = (double)(b->look->pauses.paused_ns - b->before->pauses.paused_ns) /
	       (double)(b->look->time_ns - b->before->time_ns);
	return held < 1 ? held : 1;
}

/* What connections are sorted by, the largest first; -1: not known, so last. */
static double key_of(const struct busy *b, enum top_key key)
{
	const struct flow *f = &b->look->flow;
	uint32_t before;

	switch (key) {
	case TOP_RTT:
		return f->rtt_count ? f->rtt_us : f->info.tcpi_rtt ?: -1.0;
	case TOP_QUEUE:
		return b->look->onramp && b->look->pauses.has_delay ?
		       (double)b->look->pauses.delay_ns : -1;
	case TOP_PAUSED:
		return paused_share(b);
	case TOP_RETRANS:
		/* Since the look before. */
		before = b->before ? b->before->flow.info.tcpi_total_retrans : 0;
		return (double)(f->info.tcpi_total_retrans - before);
	default:
		return b->rate;
	}
}

/* The largest key first, then the largest rate; of equals, the larger cookie last. */
static bool is_busier(const struct busy *a, const struct busy *b)
{
	if (a->key > b->key || a->key < b->key)
		return a->key > b->key;
	if (a->rate > b->rate || a->rate < b->rate)
		return a->rate > b->rate;
	return a->look->flow.cookie < b->look->flow.cookie;
}

/**
 * table_busiest() - find those that are first by a key
 * @before: first look, sorted; may be empty
 * @now: second one, sorted
 * @key: by which; TOP_RATE: those that sent most between the looks
 * @out: result, the first one first
 * @n: room in it
 *
 * Return: how many there are.
 */
size_t table_busiest(const struct table *before, const struct table *now, enum top_key key,
		     struct busy *out, size_t n)
{
	size_t i, k = 0, at, used = 0;
	struct busy b;

	for (i = 0; i < now->n && n; i++) {
		const struct look *l = &now->looks[i];
		uint64_t sent, old = 0, since;

		while (k < before->n && before->looks[k].flow.cookie < l->flow.cookie)
			k++;
		b = (struct busy){ .look = l };
		if (k < before->n && before->looks[k].flow.cookie == l->flow.cookie)
			b.before = &before->looks[k];
		/* One that is new has sent all of it since the look before. */
		since = b.before ? b.before->time_ns : before->time_ns;
		old = b.before ? b.before->flow.info.tcpi_bytes_sent : 0;
		sent = l->flow.info.tcpi_bytes_sent;
		if (since && l->time_ns > since && sent > old)
			b.rate = (double)(sent - old) * 1e9 / (double)(l->time_ns - since);
		b.key = key_of(&b, key);
		if (used == n && !is_busier(&b, &out[n - 1]))
			continue;
		at = used < n ? used++ : n - 1;
		for (; at && is_busier(&b, &out[at - 1]); at--)
			out[at] = out[at - 1];
		out[at] = b;
	}
	return used;
}

/**
 * busy_row() - a connection as a row of a table
 * @b: of table_busiest()
 *
 * The state of this moment stands for that part of the time of which only samples tell.
 */
json_t *busy_row(const struct busy *b)
{
	struct why_samples samples = { 0 };
	struct why_shares s;
	json_t *row = row_flow(&b->look->flow);
	enum why why;

	j_set(row, "rate_bit_s", json_integer((json_int_t)(b->rate * 8)));
	if (b->look->onramp && b->look->pauses.has_delay)
		j_set_u64(row, "delay_ns", b->look->pauses.delay_ns);
	if (!b->before)
		return row;
	if (paused_share(b) >= 0)
		j_set(row, "paused_share", json_real(paused_share(b)));
	why_sample(&samples, b->look, false);
	s = why_shares(b->before, b->look, &samples);
	why = why_dominant(&s);
	/* An idle one at this moment. */
	if (why == WHY_UNKNOWN && !samples.all && !b->look->hidden)
		why = WHY_RATE;
	j_set(row, "held_by", json_string(why_keys[why]));
	return row;
}
