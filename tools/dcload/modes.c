// SPDX-License-Identifier: GPL-2.0
/*
 * The three kinds of load: long flows, incast rounds, short connections.
 */
#include <errno.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "client.h"
#include "dcload.h"

/* Long flows --------------------------------------------------------------- */

#define RATE_STEP_NS	(10 * NSEC_PER_MSEC)	/* of --rate-limit, at most */
#define RATE_BACKLOG	4			/* portions, unsent */

static void connect_at(struct flow *f, uint64_t at_ns)
{
	if (at_ns <= now_ns())
		flow_connect(f);
	else
		timer_arm(&f->client->loop, &f->timer, at_ns);
}

static void next_phase(struct timer *t)
{
	struct client *c = container_of(t, struct client, phase_timer);
	size_t i;

	c->phase = (c->phase + 1) % c->opt->n_phases;
	for (i = 0; i < c->n_flows; i++)
		flow_pause(&c->flows[i], c->phase & 1);
	timer_arm(&c->loop, t, t->at_ns + c->opt->phases_ns[c->phase]);
}

static uint64_t bulk_begin_ns(const struct client *c, size_t index)
{
	return c->start_ns + index * c->opt->start_gap_ns;
}

static void bulk_start(struct client *c)
{
	size_t i;

	for (i = 0; i < c->n_flows; i++)
		connect_at(&c->flows[i], c->opt->connect_first ? c->start_ns :
			   bulk_begin_ns(c, i));
	if (c->opt->n_phases) {
		c->phase_timer.expired = next_phase;
		timer_arm(&c->loop, &c->phase_timer,
			  c->start_ns + c->opt->phases_ns[0]);
	}
}

/* The data a rate-limited application offers at a time. */
static uint64_t rate_portion(const struct client_options *o)
{
	uint64_t portion = (uint64_t)((double)o->rate_limit_bit_s / 8 *
				      RATE_STEP_NS / NSEC_PER_SEC);

	if (portion > o->chunk)
		portion = o->chunk;
	return portion ? portion : 1;
}

/* The next ON or OFF time of a flow begins at @at_ns. */
static void on_off_arm(struct flow *f, uint64_t at_ns)
{
	const struct client_options *o = f->client->opt;
	double mean = (double)(f->paused ? o->off_ns : o->on_ns);

	timer_arm(&f->client->loop, &f->on_off,
		  at_ns + (uint64_t)rng_exponential(&f->on_off_rng, mean));
}

static void on_off_expired(struct timer *t)
{
	struct flow *f = container_of(t, struct flow, on_off);
	const struct client_options *o = f->client->opt;

	if (f->paused && o->on_cc) {
		set_cc(f->watch.fd, o->on_cc);
		set_cc(f->watch.fd, o->cc);
	}
	flow_pause(f, !f->paused);
	on_off_arm(f, t->at_ns);
}

/*
 * Bytes that the network could not take are not sent later, so the offered load never
 * exceeds the limit by more than RATE_BACKLOG portions.
 */
static void bulk_expired(struct flow *f)
{
	const struct client_options *o = f->client->opt;
	uint64_t portion = rate_portion(o);

	if (!o->rate_limit_bit_s) {
		flow_allow(f, UINT64_MAX);
		if (o->on_ns) {
			f->on_off.expired = on_off_expired;
			on_off_arm(f, now_ns());
		}
		return;
	}
	if (!f->paused && f->limit - f->written < RATE_BACKLOG * portion)
		flow_allow(f, f->limit + portion);
	timer_arm(&f->client->loop, &f->timer, f->timer.at_ns +
		  (uint64_t)((double)portion * 8 * NSEC_PER_SEC /
			     (double)o->rate_limit_bit_s));
}

static void bulk_up(struct flow *f)
{
	uint64_t at_ns = bulk_begin_ns(f->client, f->index), now = now_ns();

	/* With --connect-first the connection is there before its time. */
	if (at_ns > now) {
		timer_arm(&f->client->loop, &f->timer, at_ns);
		return;
	}
	f->timer.at_ns = now;
	bulk_expired(f);
}

const struct mode mode_bulk = {
	.name = "bulk",
	.start = bulk_start,
	.up = bulk_up,
	.expired = bulk_expired,
};

/* Incast rounds ------------------------------------------------------------ */

#define WATCHDOG_NS	(50 * NSEC_PER_MSEC)

static void round_begin(struct client *c)
{
	size_t i;

	c->round_open = c->n_flows;
	c->round_last_ns = 0;
	c->round_measured = c->measuring;
	c->round_real_ns = clock_ns(CLOCK_REALTIME);
	for (i = 0; i < c->n_flows; i++) {
		c->flows[i].done = false;
		flow_allow(&c->flows[i], c->flows[i].limit + c->opt->size);
	}
}

static void round_done(struct flow *f, uint64_t real_ns)
{
	struct client *c = f->client;
	uint64_t took_ns;

	if (f->done)
		return;
	f->done = true;
	took_ns = real_ns > c->round_real_ns ? real_ns - c->round_real_ns : 0;
	if (took_ns > c->round_last_ns)
		c->round_last_ns = took_ns;
	/* A round counts if all of it lies in the measured interval. */
	if (c->round_measured)
		hist_add(&c->flow_completion, took_ns);
	if (--c->round_open)
		return;
	if (c->round_measured) {
		hist_add(&c->completion, c->round_last_ns);
		c->rounds++;
	}
	round_begin(c);
}

static void rounds_acked(struct flow *f, uint32_t id, uint64_t real_ns)
{
	if (f->written == f->limit && id == (uint32_t)(f->limit - 1))
		round_done(f, real_ns);
}

/* Stamps can be lost when memory is short; a round must end all the same. */
static void rounds_watchdog(struct timer *t)
{
	struct client *c = container_of(t, struct client, watchdog);
	int queued;
	size_t i;

	for (i = 0; i < c->n_flows; i++) {
		struct flow *f = &c->flows[i];

		if (f->state != FLOW_UP || f->done || f->written < f->limit ||
		    !f->limit)
			continue;
		if (ioctl(f->watch.fd, SIOCOUTQ, &queued) || queued)
			continue;
		if (f->polled != f->written) {
			/* Its timestamp may be on the way: try once more. */
			f->polled = f->written;
			continue;
		}
		c->unstamped++;
		round_done(f, clock_ns(CLOCK_REALTIME));
	}
	timer_arm(&c->loop, t, now_ns() + WATCHDOG_NS);
}

static void rounds_start(struct client *c)
{
	size_t i;

	for (i = 0; i < c->n_flows; i++) {
		c->flows[i].stamp_last = true;
		flow_connect(&c->flows[i]);
	}
	c->watchdog.expired = rounds_watchdog;
	timer_arm(&c->loop, &c->watchdog, c->start_ns + WATCHDOG_NS);
}

static void rounds_up(struct flow *f)
{
	if (f->client->n_up == f->client->n_flows)
		round_begin(f->client);
}

const struct mode mode_rounds = {
	.name = "rounds",
	.start = rounds_start,
	.up = rounds_up,
	.acked = rounds_acked,
};

/* Short connections -------------------------------------------------------- */

static void cycle_begin(struct flow *f)
{
	struct client *c = f->client;

	if (c->cycles_started == c->opt->churn)
		return;
	c->cycles_started++;
	flow_connect(f);
}

static void churn_start(struct client *c)
{
	size_t i;

	for (i = 0; i < c->n_flows; i++)
		cycle_begin(&c->flows[i]);
}

static void churn_up(struct flow *f)
{
	flow_allow(f, f->client->opt->size);
}

static void churn_written(struct flow *f)
{
	shutdown(f->watch.fd, SHUT_WR);
}

static void churn_closed(struct flow *f)
{
	struct client *c = f->client;

	if (f->written < f->limit) {
		c->cycles_failed++;
		client_fail(c, "flow %u: closed by the receiver after %llu bytes",
			    f->index, (unsigned long long)f->written);
		return;
	}
	hist_add(&c->completion, now_ns() - f->connect_ns);
	flow_close(f, false);
	if (++c->cycles_done == c->opt->churn)
		c->loop.stop = true;
	else
		cycle_begin(f);
}

const struct mode mode_churn = {
	.name = "churn",
	.start = churn_start,
	.up = churn_up,
	.written = churn_written,
	.closed = churn_closed,
};
