// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client.h"
#include "dcload.h"

static const struct mode *const modes[] = {
	[MODE_BULK] = &mode_bulk,
	[MODE_ROUNDS] = &mode_rounds,
	[MODE_CHURN] = &mode_churn,
};

/**
 * client_fail() - print an error and end the run
 * @c: client
 * @fmt: printf format of one sentence
 *
 * The result so far is still written; the exit status becomes 1. Only the
 * first failure is printed.
 */
void client_fail(struct client *c, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (!c->failed) {
		va_start(ap, fmt);
		vsnprintf(text, sizeof(text), fmt, ap);
		va_end(ap);
		warning("%s", text);
	}
	c->failed = true;
	c->loop.stop = true;
}

static void measure_begin(struct timer *t)
{
	struct client *c = container_of(t, struct client, measure_timer);
	size_t i;

	c->base_ns = now_ns();
	c->base_boot_ns = clock_ns(CLOCK_BOOTTIME);
	for (i = 0; i < c->n_flows; i++)
		flow_counters(&c->flows[i], &c->flows[i].base, NULL);
	c->measuring = true;
	if (c->opt->duration_ns)
		timer_arm(&c->loop, &c->end_timer,
			  c->base_ns + c->opt->duration_ns);
}

static void measure_end(struct client *c)
{
	char cc[CC_NAME_MAX];
	size_t i;

	c->end_ns = now_ns();
	if (!c->measuring) {
		c->base_ns = c->end_ns;
		c->base_boot_ns = clock_ns(CLOCK_BOOTTIME);
	}
	for (i = 0; i < c->n_flows; i++) {
		struct flow *f = &c->flows[i];

		if (flow_counters(f, &f->end, &f->last)) {
			get_cc(f->watch.fd, cc);
			if (strcmp(cc, f->cc))
				client_fail(c, "flow %u changed from congestion control %s to %s while it ran",
					    f->index, f->cc, cc);
		}
		if (!c->measuring)
			f->base = f->end;
		if (!f->up_ns && c->opt->mode != MODE_CHURN &&
		    !c->loop.interrupted)
			client_fail(c, "flow %u never got a connection to %s",
				    f->index, f->to->text);
	}
}

static void run_end(struct timer *t)
{
	struct client *c = container_of(t, struct client, end_timer);

	if (c->opt->mode == MODE_CHURN)
		client_fail(c, "%llu of %llu cycles done when --duration ended",
			    (unsigned long long)c->cycles_done,
			    (unsigned long long)c->opt->churn);
	c->loop.stop = true;
}

static void step(struct timer *t)
{
	struct client *c = container_of(t, struct client, step_timer);

	result_csv_step(c);
	timer_arm(&c->loop, t, t->at_ns + c->opt->interval_ns);
}

static uint64_t bytes_acked(struct client *c)
{
	struct counters now;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < c->n_flows; i++) {
		flow_counters(&c->flows[i], &now, NULL);
		sum += now.bytes_acked;
	}
	return sum;
}

static void progress(struct timer *t)
{
	struct client *c = container_of(t, struct client, progress_timer);
	uint64_t bytes = bytes_acked(c), total;
	bool tty = isatty(STDERR_FILENO);

	total = c->opt->warmup_ns + c->opt->duration_ns;
	fprintf(stderr, "%sdcload: %.0f", tty ? "\r" : "",
		(double)(now_ns() - c->start_ns) / 1e9);
	if (c->opt->duration_ns)
		fprintf(stderr, " of %.4g", (double)total / 1e9);
	fprintf(stderr, " s, %.1f Mbit/s", (double)(bytes - c->progress_bytes) *
		8 / 1e6);
	if (c->opt->mode == MODE_CHURN)
		fprintf(stderr, ", %llu of %llu cycles",
			(unsigned long long)c->cycles_done,
			(unsigned long long)c->opt->churn);
	if (c->opt->mode == MODE_ROUNDS)
		fprintf(stderr, ", %llu rounds", (unsigned long long)c->rounds);
	fputs(tty ? "   " : "\n", stderr);
	c->progress_bytes = bytes;
	timer_arm(&c->loop, t, t->at_ns + NSEC_PER_SEC);
}

/* Memory that is zero because nobody wrote to it is one page, many times. */
static void data_init(struct client *c)
{
	const struct client_options *o = c->opt;

	c->buf = xcalloc(o->chunk, 1);
	memset(c->buf, 0, o->chunk);
	if (!o->sendfile)
		return;
	c->file = memfd_create("dcload", MFD_CLOEXEC);
	if (c->file < 0 || write(c->file, c->buf, o->chunk) != (ssize_t)o->chunk)
		die("cannot make a file of %llu bytes in memory: %s",
		    (unsigned long long)o->chunk, strerror(errno));
}

/**
 * client_run() - open the flows, measure, write the result
 * @o: options
 *
 * Return: exit status.
 */
int client_run(const struct client_options *o)
{
	struct client *c = xcalloc(1, sizeof(*c));
	char flows[32];
	size_t i;

	c->opt = o;
	c->mode = modes[o->mode];
	c->n_flows = o->flows;
	data_init(c);
	hist_init(&c->rtt);
	hist_init(&c->completion);
	hist_init(&c->flow_completion);
	snprintf(flows, sizeof(flows), "%zu flows", c->n_flows);
	need_fds(c->n_flows + o->n_netns, flows);
	loop_init(&c->loop);
	c->netns = xcalloc(o->n_netns, sizeof(*c->netns));
	for (i = 0; i < o->n_netns; i++)
		netns_open(&c->netns[i], o->netns[i]);
	c->flows = xcalloc(c->n_flows, sizeof(*c->flows));
	for (i = 0; i < c->n_flows; i++)
		flow_init(&c->flows[i], c, (unsigned int)i);
	if (o->csv)
		result_csv_open(c);

	c->start_ns = now_ns();
	if (o->rtt_csv)
		result_rtt_open(c);
	c->measure_timer.expired = measure_begin;
	c->end_timer.expired = run_end;
	c->step_timer.expired = step;
	c->progress_timer.expired = progress;
	if (o->warmup_ns)
		timer_arm(&c->loop, &c->measure_timer,
			  c->start_ns + o->warmup_ns);
	else
		measure_begin(&c->measure_timer);
	if (o->interval_ns)
		timer_arm(&c->loop, &c->step_timer,
			  c->start_ns + o->interval_ns);
	if (o->progress)
		timer_arm(&c->loop, &c->progress_timer,
			  c->start_ns + NSEC_PER_SEC);
	c->mode->start(c);

	loop_run(&c->loop);

	measure_end(c);
	if (o->progress && isatty(STDERR_FILENO))
		fputc('\n', stderr);
	for (i = 0; i < c->n_flows; i++)
		flow_close(&c->flows[i], true);
	result_write(c);
	return c->failed;
}
