// SPDX-License-Identifier: GPL-2.0
/*
 * The result of a client run: time series as CSV, everything else as JSON, and
 * a few lines for people.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "dcload.h"
#include "json.h"
#include "report.h"

/* Times of the result are relative to the start of the run. */
static double since_start(const struct client *c, uint64_t ns)
{
	return ns ? (double)(ns - c->start_ns) / 1e9 : NAN;
}

/**
 * result_csv_open() - begin the time series
 * @c: client
 */
void result_csv_open(struct client *c)
{
	c->csv = json_file_open(c->opt->csv);
	fputs("t_s,flow,goodput_bit_s,rtt_mean_us,rtt_max_us,rtt_samples,retrans_segs,srtt_us,cwnd_segs,pacing_bit_s\n",
	      c->csv);
}

/**
 * result_csv_step() - one line per flow, about the time since the last step
 * @c: client
 *
 * A step without RTT samples leaves those fields empty.
 */
void result_csv_step(struct client *c)
{
	uint64_t now = now_ns(), took;
	size_t i;

	took = now - (c->step_ns ? c->step_ns : c->start_ns);
	c->step_ns = now;
	for (i = 0; i < c->n_flows; i++) {
		struct flow *f = &c->flows[i];
		struct rtt_counters *r = &f->rtt_step;
		struct counters cur;
		struct tcp_info ti;

		memset(&ti, 0, sizeof(ti));
		flow_counters(f, &cur, &ti);
		fprintf(c->csv, "%.6f,%zu,%.0f,", since_start(c, now), i,
			bit_s(cur.bytes_acked - f->step.bytes_acked, took));
		if (r->count)
			fprintf(c->csv, "%.3f,%.3f", r->sum_ns / 1e3 /
				(double)r->count, (double)r->max_ns / 1e3);
		else
			fputc(',', c->csv);
		fprintf(c->csv, ",%" PRIu64 ",%" PRIu64 ",%u,%u,%.0f\n",
			r->count, cur.retrans_segs - f->step.retrans_segs,
			ti.tcpi_rtt, ti.tcpi_snd_cwnd,
			ti.tcpi_pacing_rate == UINT64_MAX ? 0 :
			(double)ti.tcpi_pacing_rate * 8);
		f->step = cur;
		memset(r, 0, sizeof(*r));
	}
}

/**
 * result_rtt_open() - begin the list of RTT samples
 * @c: client
 */
void result_rtt_open(struct client *c)
{
	c->rtt_csv = json_file_open(c->opt->rtt_csv);
	c->start_real_ns = clock_ns(CLOCK_REALTIME);
	fputs("t_s,flow,rtt_us,delivered_segs,delivered_ce_segs\n", c->rtt_csv);
}

/**
 * result_rtt() - a line about one sample
 * @f: flow
 * @ev: timestamp of the ACK
 * @s: the sample
 */
void result_rtt(const struct flow *f, const struct rtt_event *ev,
		const struct rtt_sample *s)
{
	const struct client *c = f->client;

	fprintf(c->rtt_csv, "%.9f,%u,%.3f,%u,%u\n",
		(double)(int64_t)(ev->real_ns - c->start_real_ns) / 1e9, f->index,
		(double)s->rtt_ns / 1e3, s->delivered, s->delivered_ce);
}

static void put_parameters(struct json_writer *w, const struct client *c)
{
	const struct client_options *o = c->opt;
	size_t i;

	json_open(w, "parameters", '{', false);
	json_string(w, "mode", c->mode->name);
	json_open(w, "to", '[', true);
	for (i = 0; i < o->n_to; i++)
		json_string(w, NULL, o->to[i].text);
	json_close(w, ']');
	json_u64(w, "port", o->port);
	json_open(w, "netns", '[', true);
	for (i = 0; i < o->n_netns; i++)
		json_string(w, NULL, o->netns[i] ? o->netns[i] : "");
	json_close(w, ']');
	json_string(w, "cc", o->cc ? o->cc : "");
	json_u64(w, "flows", o->flows);
	json_double(w, "duration_s", (double)o->duration_ns / 1e9);
	json_double(w, "warmup_s", (double)o->warmup_ns / 1e9);
	json_double(w, "start_gap_s", (double)o->start_gap_ns / 1e9);
	json_bool(w, "connect_first", o->connect_first);
	json_u64(w, "rate_limit_bit_s", o->rate_limit_bit_s);
	json_u64(w, "size_bytes", o->size);
	json_u64(w, "churn_cycles", o->churn);
	json_open(w, "phases_s", '[', true);
	for (i = 0; i < o->n_phases; i++)
		json_double(w, NULL, (double)o->phases_ns[i] / 1e9);
	json_close(w, ']');
	json_double(w, "on_s", (double)o->on_ns / 1e9);
	json_double(w, "off_s", (double)o->off_ns / 1e9);
	json_string(w, "on_cc", o->on_cc ? o->on_cc : "");
	json_u64(w, "chunk_bytes", o->chunk);
	json_double(w, "rtt_sample_us", (double)o->rtt_sample_ns / 1e3);
	json_string(w, "rtt_origin", o->rtt_from_qdisc ? "qdisc" : "driver");
	json_bool(w, "zerocopy", o->zerocopy);
	json_bool(w, "sendfile", o->sendfile);
	json_bool(w, "ktls", o->ktls);
	json_double(w, "interval_s", (double)o->interval_ns / 1e9);
	if (o->dscp >= 0)
		json_u64(w, "dscp", (uint64_t)o->dscp);
	json_u64(w, "seed", o->seed);
	json_close(w, '}');
}

static void put_flow(struct json_writer *w, const struct client *c,
		     const struct flow *f)
{
	uint64_t took = c->end_ns - c->base_ns;

	json_open(w, NULL, '{', false);
	json_u64(w, "flow", f->index);
	json_string(w, "netns", f->ns->name ? f->ns->name : "");
	json_string(w, "to", f->to->text);
	json_u64(w, "local_port", f->local_port);
	json_string(w, "cc", f->cc);
	json_double(w, "up_s", since_start(c, f->up_ns));
	json_double(w, "goodput_bit_s",
		    bit_s(f->end.bytes_acked - f->base.bytes_acked, took));
	json_u64(w, "bytes_acked", f->end.bytes_acked - f->base.bytes_acked);
	json_u64(w, "bytes_acked_total", f->end.bytes_acked);
	json_u64(w, "retrans_segs", f->end.retrans_segs - f->base.retrans_segs);
	json_u64(w, "retrans_segs_total", f->end.retrans_segs);
	json_u64(w, "delivered_ce", f->end.delivered_ce - f->base.delivered_ce);
	json_u64(w, "rtt_samples", f->rtt.count);
	json_double(w, "rtt_mean_us", f->rtt.count ?
		    f->rtt.sum_ns / 1e3 / (double)f->rtt.count : NAN);
	json_u64(w, "tcp_srtt_us", f->last.tcpi_rtt);
	json_u64(w, "tcp_min_rtt_us", f->last.tcpi_min_rtt);
	json_u64(w, "tcp_cwnd_segs", f->last.tcpi_snd_cwnd);
	json_close(w, '}');
}

struct totals {
	struct counters measured;
	struct counters all;
	double jain;
};

static void sum_up(const struct client *c, struct totals *t)
{
	static const struct counters zero;
	double *x = xcalloc(c->n_flows, sizeof(*x));
	size_t i;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < c->n_flows; i++) {
		const struct flow *f = &c->flows[i];

		counters_add(&t->measured, &f->end, &f->base);
		counters_add(&t->all, &f->end, &zero);
		x[i] = (double)(f->end.bytes_acked - f->base.bytes_acked);
	}
	t->jain = jain_index(x, c->n_flows);
	free(x);
}

/*
 * "counters" is about the measured interval; "counters_total" about the whole
 * run, with connection setup and warm-up.
 */
static void put_result(struct json_writer *w, const struct client *c,
		       const struct totals *t)
{
	uint64_t took = c->end_ns - c->base_ns;
	size_t i;

	json_open(w, NULL, '{', false);
	put_head(w, "dcload client");
	put_parameters(w, c);
	json_bool(w, "interrupted", c->loop.interrupted);
	json_bool(w, "failed", c->failed);
	json_string(w, "cc", c->flows[0].cc);
	put_interval(w, since_start(c, c->base_ns), c->base_boot_ns, took);
	json_double(w, "goodput_bit_s", bit_s(t->measured.bytes_acked, took));
	json_double(w, "jain", t->jain);
	put_counters(w, "counters", &t->measured);
	put_counters(w, "counters_total", &t->all);

	json_open(w, "rtt_us", '{', false);
	put_hist(w, &c->rtt, 1e3, true);
	json_u64(w, "asked", c->rtt_asked);
	json_u64(w, "excluded_retrans", c->rtt_retrans);
	json_u64(w, "without_tx_stamp", c->rtt_no_tx);
	json_u64(w, "lost", c->rtt_lost);
	json_close(w, '}');

	if (c->opt->zerocopy) {
		json_open(w, "zerocopy", '{', false);
		json_u64(w, "writes", c->zerocopy.writes);
		json_u64(w, "done", c->zerocopy.done);
		json_u64(w, "copied", c->zerocopy.copied);
		json_u64(w, "refused", c->zerocopy.refused);
		json_close(w, '}');
	}
	if (c->opt->mode == MODE_ROUNDS) {
		json_open(w, "rounds", '{', false);
		json_u64(w, "unstamped", c->unstamped);
		json_open(w, "completion_us", '{', false);
		put_hist(w, &c->completion, 1e3, false);
		json_close(w, '}');
		json_open(w, "flow_completion_us", '{', false);
		put_hist(w, &c->flow_completion, 1e3, false);
		json_close(w, '}');
		json_close(w, '}');
	}
	if (c->opt->mode == MODE_CHURN) {
		json_open(w, "churn", '{', false);
		json_u64(w, "done", c->cycles_done);
		json_u64(w, "failed", c->cycles_failed);
		json_open(w, "cycle_us", '{', false);
		put_hist(w, &c->completion, 1e3, false);
		json_close(w, '}');
		json_close(w, '}');
	}

	json_open(w, "flows", '[', false);
	for (i = 0; i < c->n_flows; i++)
		put_flow(w, c, &c->flows[i]);
	json_close(w, ']');
	json_close(w, '}');
	json_finish(w);
}

static void print_summary(const struct client *c, const struct totals *t)
{
	uint64_t took = c->end_ns - c->base_ns;

	printf("%s, %zu flow%s, %.3f s: %.2f Mbit/s", c->flows[0].cc,
	       c->n_flows, c->n_flows == 1 ? "" : "s", (double)took / 1e9,
	       bit_s(t->measured.bytes_acked, took) / 1e6);
	if (isfinite(t->jain))
		printf(", Jain %.4f", t->jain);
	printf(", %" PRIu64 " retransmitted, %" PRIu64 " CE\n",
	       t->measured.retrans_segs, t->measured.delivered_ce);
	if (c->rtt.count)
		printf("RTT us: mean %.1f p50 %.1f p90 %.1f p99 %.1f p99.9 %.1f max %.1f (%llu samples, %llu excluded)\n",
		       hist_mean(&c->rtt) / 1e3,
		       hist_quantile(&c->rtt, 0.5) / 1e3,
		       hist_quantile(&c->rtt, 0.9) / 1e3,
		       hist_quantile(&c->rtt, 0.99) / 1e3,
		       hist_quantile(&c->rtt, 0.999) / 1e3,
		       (double)c->rtt.max / 1e3,
		       (unsigned long long)c->rtt.count,
		       (unsigned long long)c->rtt_retrans);
	else if (c->rtt_no_tx)
		printf("RTT: the device's driver gives no transmit stamps; try --rtt-origin qdisc\n");
	if (c->completion.count)
		printf("%s completion us: mean %.1f p50 %.1f p99 %.1f max %.1f (%" PRIu64 ")\n",
		       c->opt->mode == MODE_CHURN ? "Cycle" : "Round",
		       hist_mean(&c->completion) / 1e3,
		       hist_quantile(&c->completion, 0.5) / 1e3,
		       hist_quantile(&c->completion, 0.99) / 1e3,
		       (double)c->completion.max / 1e3, c->completion.count);
}

/**
 * result_write() - write the results
 * @c: client, its run over
 */
void result_write(struct client *c)
{
	struct json_writer w;
	struct totals t;
	FILE *f;

	if (c->csv)
		json_file_close(c->csv, c->opt->csv);
	if (c->rtt_csv)
		json_file_close(c->rtt_csv, c->opt->rtt_csv);
	sum_up(c, &t);
	if (c->opt->json) {
		f = json_file_open(c->opt->json);
		json_begin(&w, f);
		put_result(&w, c, &t);
		json_file_close(f, c->opt->json);
	}
	/* Standard output is for one of the two; no connection, nothing to say. */
	if (c->n_up && (!c->opt->json || strcmp(c->opt->json, "-")))
		print_summary(c, &t);
}
