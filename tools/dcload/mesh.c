// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dcload.h"
#include "mesh.h"

#define NO_IDEAL	255

/**
 * mesh_fail() - print an error and end the run
 * @m: mesh
 * @fmt: printf format of one sentence
 *
 * The result so far is still written; the exit status becomes 1. Only the
 * first failure is printed.
 */
void mesh_fail(struct mesh *m, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (!m->failed) {
		va_start(ap, fmt);
		vsnprintf(text, sizeof(text), fmt, ap);
		va_end(ap);
		warning("%s", text);
	}
	m->failed = true;
	m->loop.stop = true;
}

/* Exchanges ---------------------------------------------------------------- */

static void launch(struct class *class, struct host *client, struct part *p)
{
	struct mesh *m = class->mesh;
	const struct workload *w = class->load->w;
	struct host *server = &m->hosts[p->server];
	struct pair *pair;
	struct conn *c;

	if (w->each) {
		conn_start(conn_open(class, client, server), p);
		return;
	}
	pair = &class->pairs[(size_t)(client - m->hosts) * m->opt->n_hosts +
			     p->server];
	c = pair->idle;
	if (c) {
		pair->idle = c->next_idle;
	} else if (!w->pool || pair->conns < w->pool) {
		pair->conns++;
		c = conn_open(class, client, server);
	} else {
		if (!pair->waiting)
			pair->waiting_end = &pair->waiting;
		*pair->waiting_end = p;
		pair->waiting_end = &p->next;
		return;
	}
	conn_start(c, p);
}

static void exchange_begin(struct source *s)
{
	const struct workload *w = s->load->w;
	struct mesh *m = s->mesh;
	struct class *class = &s->load->classes[s->started % w->n_cc];
	uint64_t least = mesh_is_local(m) || w->request ? 1 : HEADER_BYTES;
	uint16_t servers[MAX_HOSTS];
	struct exchange *e;
	uint32_t i;

	if (m->pending == m->opt->max_pending) {
		mesh_fail(m, "workload %s: %llu exchanges are under way: the network does not carry the load, or --max-pending is too low",
			  w->name, (unsigned long long)m->pending);
		return;
	}
	e = xcalloc(1, sizeof(*e) + w->fanout * sizeof(e->parts[0]));
	e->source = s;
	e->start_ns = loop_now(&m->loop);
	e->open = (uint32_t)workload_pick(w, (size_t)(s->host - m->hosts), &s->rng,
					  servers);
	e->measured = m->measuring;
	for (i = 0; i < w->fanout; i++) {
		struct part *p = &e->parts[i];

		p->exchange = e;
		p->server = servers[i];
		p->bytes = dist_sample(&w->size, &s->rng);
		if (p->bytes < least)
			p->bytes = least;
		p->number = m->parts++;
		e->bytes += p->bytes;
	}
	s->started++;
	m->pending++;
	if (e->measured) {
		s->load->exchanges++;
		s->load->arrived += w->fanout;
		s->load->arrived_bytes += e->bytes;
		m->pending_measured += w->kind != WORKLOAD_LONG;
	}
	for (i = 0; i < w->fanout; i++)
		launch(class, s->host, &e->parts[i]);
}

static bool source_over(const struct source *s)
{
	const struct workload *w = s->load->w;
	struct mesh *m = s->mesh;

	return m->ending || (w->count && s->started >= w->count) ||
	       (w->stop_ns && loop_now(&m->loop) >= m->start_ns + w->stop_ns);
}

static double next_gap(struct source *s)
{
	const struct workload *w = s->load->w;

	return w->arrivals == ARRIVALS_POISSON ?
	       rng_exponential(&s->rng, w->interval_ns) : w->interval_ns;
}

static void source_expired(struct timer *t)
{
	struct source *s = container_of(t, struct source, timer);
	const struct workload *w = s->load->w;
	struct mesh *m = s->mesh;
	uint64_t i;

	if (w->arrivals == ARRIVALS_CLOSED) {
		for (i = 0; i < w->depth && !source_over(s); i++)
			exchange_begin(s);
		return;
	}
	if (source_over(s))
		return;
	exchange_begin(s);
	s->next_ns += next_gap(s);
	timer_arm(&m->loop, t, m->start_ns + (uint64_t)llround(s->next_ns));
}

static void source_begin(struct source *s)
{
	const struct workload *w = s->load->w;

	s->next_ns = (double)w->start_ns;
	/* Hosts with fixed intervals do not all begin at once. */
	if (w->arrivals == ARRIVALS_POISSON)
		s->next_ns += next_gap(s);
	else if (w->arrivals == ARRIVALS_FIXED)
		s->next_ns += w->interval_ns * rng_uniform(&s->rng);
	timer_arm(&s->mesh->loop, &s->timer,
		  s->mesh->start_ns + (uint64_t)llround(s->next_ns));
}

/**
 * mesh_ideal() - return the ideal that slowdowns of flows between two hosts refer to
 * @m: mesh
 * @client: host that starts the exchange
 * @server: the other one
 *
 * Return: NULL if there is none.
 */
const struct ideal *mesh_ideal(const struct mesh *m, const struct host *client,
			       const struct host *server)
{
	unsigned int i;

	if (!m->ideal_of)
		return NULL;
	i = m->ideal_of[(size_t)(client - m->hosts) * m->opt->n_hosts +
			(size_t)(server - m->hosts)];
	return i == NO_IDEAL ? NULL : &m->opt->ideals[i];
}

static void bin_add(struct bin *b, uint64_t fct_ns, double slowdown)
{
	hist_add(&b->fct, fct_ns);
	if (isfinite(slowdown))
		hist_add(&b->slowdown, (uint64_t)llround(slowdown * 1000));
}

static double slowdown_of(const struct mesh *m, const struct exchange *e,
			  uint16_t server, uint64_t bytes, uint64_t fct_ns)
{
	const struct ideal *ideal = mesh_ideal(m, e->source->host,
					       &m->hosts[server]);

	if (!ideal)
		return NAN;
	return (double)fct_ns / ideal_ns(ideal, e->source->load->w, bytes,
					 !mesh_is_local(m));
}

/* Add TCP's counters of a part, of each end that is in this process. */
static void count_part(struct conn *c, const struct part *p, struct counters *tcp)
{
	memset(tcp, 0, sizeof(*tcp));
	side_account(&c->client);
	counters_add(tcp, &c->client.seen, &p->before[0]);
	side_account(&c->server);
	counters_add(tcp, &c->server.seen, &p->before[1]);
}

static void record_part(struct conn *c, const struct part *p, uint64_t fct_ns)
{
	struct mesh *m = c->class->mesh;
	struct load *load = c->class->load;
	struct counters tcp;
	double slowdown;
	size_t bin = 0;

	if (!p->exchange->measured)
		return;
	load->done++;
	load->done_bytes += p->bytes;
	slowdown = slowdown_of(m, p->exchange, p->server, p->bytes, fct_ns);
	bin_add(&load->all, fct_ns, slowdown);
	while (bin < m->opt->n_bins && p->bytes > m->opt->bins[bin])
		bin++;
	bin_add(&load->bins[bin], fct_ns, slowdown);
	/* Two system calls for each flow: only if they are asked for. */
	if (m->flows_csv) {
		count_part(c, p, &tcp);
		load->retrans_flows += tcp.bytes_retrans > 0;
		load->timeout_flows += tcp.timeouts > 0;
		mesh_csv_flow(m, c, fct_ns, slowdown, &tcp);
	}
}

static void exchange_done(struct exchange *e)
{
	struct source *s = e->source;
	struct load *load = s->load;
	struct mesh *m = s->mesh;
	uint64_t took_ns = loop_now(&m->loop) - e->start_ns;
	double slowdown = 0;
	uint64_t i;

	m->pending--;
	if (e->measured) {
		load->exchanges_done++;
		for (i = 0; load->w->request && i < load->w->fanout; i++) {
			double x = slowdown_of(m, e, e->parts[i].server, e->bytes,
					       took_ns);

			/* The farthest server sets the ideal. */
			if (!i || x < slowdown)
				slowdown = x;
		}
		if (load->w->request)
			bin_add(&load->request, took_ns, slowdown);
		if (!--m->pending_measured && m->ending && mesh_is_local(m))
			m->loop.stop = true;
	}
	free(e);
	if (load->w->arrivals == ARRIVALS_CLOSED && !source_over(s))
		exchange_begin(s);
}

/**
 * part_done() - a part is complete: its last byte was read
 * @c: its connection, which becomes idle
 */
void part_done(struct conn *c)
{
	struct part *p = c->part;
	struct exchange *e = p->exchange;
	struct mesh *m = c->class->mesh;
	struct pair *pair;

	record_part(c, p, loop_now(&m->loop) - e->start_ns);
	c->part = NULL;
	if (!c->class->load->w->each) {
		pair = &c->class->pairs[(size_t)(c->client.host - m->hosts) *
					m->opt->n_hosts + p->server];
		if (pair->waiting) {
			struct part *next = pair->waiting;

			pair->waiting = next->next;
			conn_start(c, next);
		} else {
			c->next_idle = pair->idle;
			pair->idle = c;
		}
	}
	if (!--e->open)
		exchange_done(e);
}

/* The run ------------------------------------------------------------------ */

static void measure_begin(struct timer *t)
{
	struct mesh *m = container_of(t, struct mesh, measure_timer);

	conns_account(m);
	m->base_ns = loop_now(&m->loop);
	m->start_boot_ns = clock_ns(CLOCK_BOOTTIME);
	m->measuring = true;
	timer_arm(&m->loop, &m->end_timer, m->base_ns + m->opt->duration_ns);
}

static void measure_end(struct mesh *m)
{
	conns_account(m);
	m->end_ns = loop_now(&m->loop);
	m->measuring = false;
	m->ending = true;
}

static void run_end(struct timer *t)
{
	struct mesh *m = container_of(t, struct mesh, end_timer);

	measure_end(m);
	/* Hosts elsewhere may not be done with this one. */
	if (mesh_is_local(m) && !m->pending_measured)
		m->loop.stop = true;
	else
		timer_arm(&m->loop, &m->drain_timer, m->end_ns + m->opt->drain_ns);
}

static void drain_end(struct timer *t)
{
	struct mesh *m = container_of(t, struct mesh, drain_timer);

	m->loop.stop = true;
}

static void step(struct timer *t)
{
	struct mesh *m = container_of(t, struct mesh, step_timer);

	mesh_csv_step(m);
	timer_arm(&m->loop, t, t->at_ns + m->opt->interval_ns);
}

/* A line a second, but at least 20 in a run: virtual seconds can be long. */
static uint64_t progress_period(const struct mesh *m)
{
	uint64_t ns = (m->opt->warmup_ns + m->opt->duration_ns) / 20;

	return ns < NSEC_PER_SEC ? ns : NSEC_PER_SEC;
}

static void progress(struct timer *t)
{
	struct mesh *m = container_of(t, struct mesh, progress_timer);
	bool tty = isatty(STDERR_FILENO);

	fprintf(stderr, "%sdcload: %.4g of %.4g s, %llu flows begun, %llu exchanges under way, %llu connections%s",
		tty ? "\r" : "", (double)(loop_now(&m->loop) - m->start_ns) / 1e9,
		(double)(m->opt->warmup_ns + m->opt->duration_ns) / 1e9,
		(unsigned long long)m->parts, (unsigned long long)m->pending,
		(unsigned long long)m->conns_open, tty ? "   " : "\n");
	timer_arm(&m->loop, t, t->at_ns + progress_period(m));
}

static void load_begin(struct mesh *m)
{
	const struct mesh_options *o = m->opt;
	size_t i, k;

	if (m->start_ns || m->to_connect || m->waiting_start)
		return;
	m->start_ns = loop_now(&m->loop);
	timer_arm(&m->loop, &m->measure_timer, m->start_ns + o->warmup_ns);
	if (!o->warmup_ns) {
		timer_cancel(&m->loop, &m->measure_timer);
		measure_begin(&m->measure_timer);
	}
	if (o->interval_ns)
		timer_arm(&m->loop, &m->step_timer, m->start_ns + o->interval_ns);
	if (o->progress)
		timer_arm(&m->loop, &m->progress_timer,
			  m->start_ns + progress_period(m));
	for (i = 0; i < o->n_workloads; i++)
		for (k = 0; k < o->workloads[i].from.n; k++)
			if (m->loads[i].sources[k].host->ns)
				source_begin(&m->loads[i].sources[k]);
}

static void start_expired(struct timer *t)
{
	struct mesh *m = container_of(t, struct mesh, start_timer);

	m->waiting_start = false;
	load_begin(m);
}

/**
 * mesh_conn_up() - a connection was made
 * @c: connection
 */
void mesh_conn_up(struct conn *c)
{
	struct mesh *m = c->class->mesh;
	struct pair *pair;

	if (c->part)
		return;
	/* Made by --connect-first: the others have a part waiting. */
	pair = &c->class->pairs[(size_t)(c->client.host - m->hosts) *
				m->opt->n_hosts + (size_t)(c->server.host - m->hosts)];
	c->next_idle = pair->idle;
	pair->idle = c;
	if (!--m->to_connect)
		load_begin(m);
}

static void connect_class(struct mesh *m, struct class *class)
{
	const struct workload *w = class->load->w;
	size_t i, k;

	for (i = 0; i < w->from.n; i++) {
		struct host *client = &m->hosts[w->from.host[i]];

		for (k = 0; client->ns && k < w->to.n; k++) {
			struct host *server = &m->hosts[w->to.host[k]];

			if (server == client)
				continue;
			class->pairs[(size_t)(client - m->hosts) * m->opt->n_hosts +
				     w->to.host[k]].conns++;
			m->to_connect++;
			conn_open(class, client, server);
		}
	}
}

static void connect_first(struct mesh *m)
{
	size_t i, k;

	for (i = 0; i < m->opt->n_workloads; i++)
		for (k = 0; k < m->opt->workloads[i].n_cc; k++)
			if (!m->opt->workloads[i].each)
				connect_class(m, &m->loads[i].classes[k]);
}

static void init_hosts(struct mesh *m)
{
	const struct mesh_options *o = m->opt;
	size_t n_ns = o->n_netns ? o->n_netns : 1, i;

	m->netns = xcalloc(n_ns, sizeof(*m->netns));
	for (i = 0; i < n_ns; i++)
		netns_open(&m->netns[i], o->n_netns ? o->netns[i] : NULL);
	m->hosts = xcalloc(o->n_hosts, sizeof(*m->hosts));
	for (i = 0; i < o->n_hosts; i++) {
		m->hosts[i].addr = &o->hosts[i];
		if (mesh_is_local(m))
			m->hosts[i].ns = &m->netns[o->n_netns ? i : 0];
		else if (i + 1 == o->self)
			m->hosts[i].ns = &m->netns[0];
	}
}

static void init_ideals(struct mesh *m)
{
	const struct mesh_options *o = m->opt;
	size_t n = o->n_hosts, i, a, b;

	if (!o->n_ideals)
		return;
	m->ideal_of = xcalloc(n * n, 1);
	memset(m->ideal_of, NO_IDEAL, n * n);
	for (i = o->n_ideals; i--; ) {
		const struct ideal *ideal = &o->ideals[i];

		for (a = 0; a < ideal->src.n; a++)
			for (b = 0; b < ideal->dst.n; b++)
				m->ideal_of[ideal->src.host[a] * n +
					    ideal->dst.host[b]] = (unsigned char)i;
	}
}

static void init_load(struct mesh *m, size_t index, uint16_t *port)
{
	const struct mesh_options *o = m->opt;
	struct load *load = &m->loads[index];
	const struct workload *w = &o->workloads[index];
	size_t i;

	load->w = w;
	load->classes = xcalloc(w->n_cc, sizeof(*load->classes));
	for (i = 0; i < w->n_cc; i++) {
		struct class *class = &load->classes[i];

		class->mesh = m;
		class->load = load;
		class->cc = w->cc[i];
		class->port = (*port)++;
		if (!w->each)
			class->pairs = xcalloc(o->n_hosts * o->n_hosts,
					       sizeof(*class->pairs));
	}
	load->sources = xcalloc(w->from.n, sizeof(*load->sources));
	for (i = 0; i < w->from.n; i++) {
		struct source *s = &load->sources[i];

		s->timer.expired = source_expired;
		s->mesh = m;
		s->load = load;
		s->host = &m->hosts[w->from.host[i]];
		/* By number of the host, so that each may be a process. */
		rng_seed(&s->rng, o->seed, index, w->from.host[i]);
	}
}

static void init_timers(struct mesh *m)
{
	m->start_timer.expired = start_expired;
	m->measure_timer.expired = measure_begin;
	m->end_timer.expired = run_end;
	m->drain_timer.expired = drain_end;
	m->step_timer.expired = step;
	m->progress_timer.expired = progress;
}

static void init_fds(struct mesh *m, size_t classes)
{
	const struct mesh_options *o = m->opt;
	size_t listeners = classes * (o->self ? 1 : o->n_hosts) + o->n_netns;
	size_t most = need_fds(1 << 20, NULL);

	if (most <= listeners)
		most = need_fds(listeners + 2, "listeners of all hosts");
	/* Both ends of a connection, or one. */
	m->max_conns = (most - listeners) / (o->self ? 1 : 2);
}

static void when_to_begin(struct mesh *m)
{
	const struct mesh_options *o = m->opt;
	uint64_t real_ns = clock_ns(CLOCK_REALTIME);

	if (o->start_at_ns && o->start_at_ns < real_ns)
		die_usage("--start-at: %.3f is %.3f s ago", (double)o->start_at_ns / 1e9,
			  (double)(real_ns - o->start_at_ns) / 1e9);
	if (o->start_at_ns) {
		m->waiting_start = true;
		timer_arm(&m->loop, &m->start_timer, loop_now(&m->loop) +
			  o->start_at_ns - real_ns);
	}
	if (o->connect_first)
		connect_first(m);
	load_begin(m);
}

/**
 * mesh_run() - play the hosts, measure, write the result
 * @o: options
 *
 * Return: exit status.
 */
int mesh_run(const struct mesh_options *o)
{
	struct mesh *m = xcalloc(1, sizeof(*m));
	uint16_t port = (uint16_t)o->port;
	size_t i, classes = 0;

	m->opt = o;
	m->buf = xcalloc(o->chunk, 1);
	for (i = 0; i < o->n_workloads; i++)
		classes += o->workloads[i].n_cc;
	if (o->port + classes > 65536)
		die_usage("--port %llu: the %zu ports from there on are needed",
			  (unsigned long long)o->port, classes);
	init_fds(m, classes);
	loop_init(&m->loop);
	init_hosts(m);
	init_ideals(m);
	init_timers(m);
	m->loads = xcalloc(o->n_workloads, sizeof(*m->loads));
	for (i = 0; i < o->n_workloads; i++)
		init_load(m, i, &port);
	mesh_csv_open(m);
	mesh_listen(m);
	when_to_begin(m);

	loop_run(&m->loop);

	if (!m->ending)
		measure_end(m);
	if (o->progress && isatty(STDERR_FILENO))
		fputc('\n', stderr);
	conns_account(m);
	mesh_result_write(m);
	conns_abort(m);
	return m->failed;
}
