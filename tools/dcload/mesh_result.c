// SPDX-License-Identifier: GPL-2.0
/*
 * The result of a mesh run: time series and flows as CSV, everything else as
 * JSON, and a few lines for people.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "dcload.h"
#include "json.h"
#include "mesh.h"
#include "report.h"

static double since_start(const struct mesh *m, uint64_t ns)
{
	return m->start_ns ? ((double)ns - (double)m->start_ns) / 1e9 : NAN;
}

static size_t number_of(const struct mesh *m, const struct host *host)
{
	return (size_t)(host - m->hosts) + 1;
}

/**
 * mesh_csv_open() - begin the time series and the list of flows
 * @m: mesh
 */
void mesh_csv_open(struct mesh *m)
{
	if (m->opt->csv) {
		m->csv = json_file_open(m->opt->csv);
		fputs("t_s,flow,workload,client,server,goodput_bit_s,srtt_us,min_rtt_us,cwnd_segs,pacing_bit_s,delivery_bit_s,delivered_segs,unacked_segs,retrans_segs\n",
		      m->csv);
	}
	if (m->opt->flows_csv) {
		m->flows_csv = json_file_open(m->opt->flows_csv);
		fputs("flow,workload,client,server,bytes,start_s,fct_us,slowdown,retrans_bytes,timeouts\n",
		      m->flows_csv);
	}
}

static void csv_conn(struct mesh *m, struct conn *c, uint64_t now)
{
	struct side *s = conn_sender(c);
	struct counters cur;
	struct tcp_info ti;
	struct part *p = c->part;
	size_t end = s == &c->server;

	if (s->watch.fd < 0 || !get_counters(s->watch.fd, &cur, &ti))
		return;
	fprintf(m->csv, "%.9f,%" PRIu64 ",%s,%zu,%zu,%.0f,%u,%u,%u,%.0f,%.0f,%u,%u,%" PRIu64 "\n",
		since_start(m, now), p->number, c->class->load->w->name,
		number_of(m, c->client.host), number_of(m, c->server.host),
		bit_s(cur.bytes_acked - p->before[end].bytes_acked -
		      p->sampled_acked, m->opt->interval_ns),
		ti.tcpi_rtt, ti.tcpi_min_rtt, ti.tcpi_snd_cwnd,
		ti.tcpi_pacing_rate == UINT64_MAX ? 0 :
		(double)ti.tcpi_pacing_rate * 8,
		(double)ti.tcpi_delivery_rate * 8, ti.tcpi_delivered,
		ti.tcpi_unacked,
		cur.retrans_segs - p->before[end].retrans_segs);
	p->sampled_acked = cur.bytes_acked - p->before[end].bytes_acked;
}

/**
 * mesh_csv_step() - a line for each flow under way, if it is large enough
 * @m: mesh
 */
void mesh_csv_step(struct mesh *m)
{
	uint64_t now = loop_now(&m->loop);
	struct conn *c;

	for (c = m->conns; c; c = c->next)
		if (c->part && c->up && c->part->bytes >= m->opt->csv_min_bytes)
			csv_conn(m, c, now);
}

/**
 * mesh_csv_flow() - a line for a flow that is done
 * @m: mesh
 * @c: its connection
 * @fct_ns: its completion time
 * @slowdown: NAN if not known
 * @tcp: TCP's counters of that time
 */
void mesh_csv_flow(struct mesh *m, const struct conn *c, uint64_t fct_ns,
		   double slowdown, const struct counters *tcp)
{
	const struct part *p = c->part;

	fprintf(m->flows_csv, "%" PRIu64 ",%s,%zu,%zu,%" PRIu64 ",%.9f,%.3f,",
		p->number, c->class->load->w->name,
		number_of(m, c->client.host), number_of(m, c->server.host),
		p->bytes, since_start(m, p->exchange->start_ns),
		(double)fct_ns / 1e3);
	if (isfinite(slowdown))
		fprintf(m->flows_csv, "%.4f", slowdown);
	fprintf(m->flows_csv, ",%" PRIu64 ",", tcp->bytes_retrans);
	if (counters_timeouts())
		fprintf(m->flows_csv, "%" PRIu64, tcp->timeouts);
	fputc('\n', m->flows_csv);
}

static void put_parameters(struct json_writer *w, const struct mesh *m)
{
	const struct mesh_options *o = m->opt;
	size_t i;

	json_open(w, "parameters", '{', false);
	json_open(w, "workloads", '[', false);
	for (i = 0; i < o->n_workloads; i++)
		json_string(w, NULL, o->specs[i]);
	json_close(w, ']');
	json_open(w, "hosts", '[', true);
	for (i = 0; i < o->n_hosts; i++)
		json_string(w, NULL, o->hosts[i].text);
	json_close(w, ']');
	json_u64(w, "self", o->self);
	json_u64(w, "port", o->port);
	json_double(w, "duration_s", (double)o->duration_ns / 1e9);
	json_double(w, "warmup_s", (double)o->warmup_ns / 1e9);
	json_double(w, "drain_s", (double)o->drain_ns / 1e9);
	json_u64(w, "link_bit_s", o->link_bit_s);
	json_open(w, "ideals", '[', true);
	for (i = 0; i < o->n_ideals; i++) {
		json_open(w, NULL, '{', true);
		json_string(w, "pairs", o->ideal_specs[i] ? o->ideal_specs[i] : "all");
		json_double(w, "bit_s", o->ideals[i].bit_s);
		json_double(w, "rtt_us", o->ideals[i].rtt_ns / 1e3);
		json_close(w, '}');
	}
	json_close(w, ']');
	json_bool(w, "connect_first", o->connect_first);
	json_u64(w, "chunk_bytes", o->chunk);
	json_u64(w, "rcvlowat_bytes", o->lowat);
	json_u64(w, "seed", o->seed);
	json_close(w, '}');
}

static void put_bin(struct json_writer *w, const struct bin *b)
{
	json_open(w, "fct_us", '{', false);
	put_hist(w, &b->fct, 1e3, false);
	json_close(w, '}');
	json_open(w, "slowdown", '{', false);
	put_hist(w, &b->slowdown, 1e3, false);
	json_close(w, '}');
}

static void put_bins(struct json_writer *w, const struct mesh *m,
		     const struct load *load)
{
	const struct mesh_options *o = m->opt;
	size_t i;

	json_open(w, "bins", '[', false);
	for (i = 0; i <= o->n_bins; i++) {
		json_open(w, NULL, '{', false);
		json_u64(w, "above_bytes", i ? o->bins[i - 1] : 0);
		json_double(w, "up_to_bytes",
			    i < o->n_bins ? (double)o->bins[i] : NAN);
		put_bin(w, &load->bins[i]);
		json_close(w, '}');
	}
	json_close(w, ']');
}

static void put_offered(struct json_writer *w, const struct mesh *m,
			const struct load *load)
{
	const struct workload *wl = load->w;
	uint64_t took = m->end_ns - m->base_ns;
	size_t n = wl->load_at_to ? wl->to.n : wl->from.n;

	json_open(w, "offered", '{', false);
	json_u64(w, "exchanges", load->exchanges);
	json_u64(w, "flows", load->arrived);
	json_double(w, "bytes", wl->kind == WORKLOAD_LONG ? NAN :
		    (double)load->arrived_bytes);
	json_double(w, "size_mean_bytes", wl->kind == WORKLOAD_LONG ? NAN :
		    dist_mean(&wl->size));
	json_double(w, "interval_s", wl->arrivals == ARRIVALS_CLOSED ? NAN :
		    wl->interval_ns / 1e9);
	/* Of this process's hosts only, so it is known if these are all. */
	json_double(w, "load", m->opt->link_bit_s && mesh_is_local(m) &&
		    wl->kind != WORKLOAD_LONG ?
		    bit_s(load->arrived_bytes, took) /
		    ((double)m->opt->link_bit_s * (double)n) : NAN);
	json_close(w, '}');
}

static void put_load(struct json_writer *w, const struct mesh *m,
		     const struct load *load)
{
	const struct workload *wl = load->w;
	size_t i;

	json_open(w, NULL, '{', false);
	json_string(w, "name", wl->name);
	json_string(w, "kind", workload_kind_name(wl->kind));
	json_open(w, "cc", '[', true);
	for (i = 0; i < wl->n_cc; i++)
		json_string(w, NULL, load->classes[i].found_cc);
	json_close(w, ']');
	put_offered(w, m, load);
	json_u64(w, "flows_done", load->done);
	json_u64(w, "flows_unfinished", load->arrived - load->done);
	json_u64(w, "bytes_done", load->done_bytes);
	json_double(w, "flows_with_retrans", m->flows_csv ?
		    (double)load->retrans_flows : NAN);
	json_double(w, "flows_with_timeouts", m->flows_csv && counters_timeouts() ?
		    (double)load->timeout_flows : NAN);
	json_double(w, "goodput_bit_s", bit_s(load->measured.bytes_received,
					      m->end_ns - m->base_ns));
	put_counters(w, "counters", &load->measured);
	put_counters(w, "counters_total", &load->total);
	put_bin(w, &load->all);
	put_bins(w, m, load);
	if (wl->request) {
		json_open(w, "requests", '{', false);
		json_u64(w, "done", load->exchanges_done);
		json_u64(w, "unfinished", load->exchanges - load->exchanges_done);
		json_open(w, "rct_us", '{', false);
		put_hist(w, &load->request.fct, 1e3, false);
		json_close(w, '}');
		json_open(w, "slowdown", '{', false);
		put_hist(w, &load->request.slowdown, 1e3, false);
		json_close(w, '}');
		json_close(w, '}');
	}
	json_close(w, '}');
}

static void put_hosts(struct json_writer *w, const struct mesh *m)
{
	uint64_t took = m->end_ns - m->base_ns;
	size_t i;

	json_open(w, "hosts", '[', false);
	for (i = 0; i < m->opt->n_hosts; i++) {
		const struct host *h = &m->hosts[i];

		if (!h->ns)
			continue;
		json_open(w, NULL, '{', true);
		json_u64(w, "host", i + 1);
		json_string(w, "addr", h->addr->text);
		json_string(w, "netns", h->ns->name ? h->ns->name : "");
		json_double(w, "sent_bit_s", bit_s(h->measured.bytes_acked, took));
		json_double(w, "received_bit_s",
			    bit_s(h->measured.bytes_received, took));
		json_u64(w, "segs_out", h->measured.segs_out);
		json_u64(w, "retrans_segs", h->measured.retrans_segs);
		json_double(w, "timeouts", counters_timeouts() ?
			    (double)h->measured.timeouts : NAN);
		json_close(w, '}');
	}
	json_close(w, ']');
}

static void put_result(struct json_writer *w, const struct mesh *m)
{
	size_t i;

	json_open(w, NULL, '{', false);
	put_head(w, "dcload mesh");
	put_parameters(w, m);
	json_bool(w, "interrupted", m->loop.interrupted);
	json_bool(w, "failed", m->failed);
	/* Where the completion of a flow one way is seen. */
	json_string(w, "fct_until", mesh_is_local(m) ? "received" : "acknowledged");
	put_interval(w, since_start(m, m->base_ns), m->start_boot_ns, m->end_ns - m->base_ns);
	json_open(w, "cost", '{', true);
	json_u64(w, "flows", m->parts);
	json_u64(w, "connections", m->conns_made);
	json_u64(w, "wakeups", m->wakeups);
	json_close(w, '}');
	json_open(w, "workloads", '[', false);
	for (i = 0; i < m->opt->n_workloads; i++)
		put_load(w, m, &m->loads[i]);
	json_close(w, ']');
	put_hosts(w, m);
	json_close(w, '}');
	json_finish(w);
}

static void print_load(const struct mesh *m, const struct load *load)
{
	const struct hist *h = load->w->request ? &load->request.fct :
			       &load->all.fct;

	printf("%s: %" PRIu64 " flows, %" PRIu64 " unfinished, %.1f Mbit/s, %" PRIu64 " retransmitted",
	       load->w->name, load->done, load->arrived - load->done,
	       bit_s(load->measured.bytes_received, m->end_ns - m->base_ns) / 1e6,
	       load->measured.retrans_segs);
	if (h->count)
		printf("; %s us: mean %.1f p50 %.1f p99 %.1f max %.1f",
		       load->w->request ? "RCT" : "FCT", hist_mean(h) / 1e3,
		       hist_quantile(h, 0.5) / 1e3, hist_quantile(h, 0.99) / 1e3,
		       (double)h->max / 1e3);
	putchar('\n');
}

/**
 * mesh_result_write() - write the results
 * @m: mesh, its run over
 */
void mesh_result_write(struct mesh *m)
{
	struct json_writer w;
	size_t i;
	FILE *f;

	if (m->csv)
		json_file_close(m->csv, m->opt->csv);
	if (m->flows_csv)
		json_file_close(m->flows_csv, m->opt->flows_csv);
	if (m->opt->json) {
		f = json_file_open(m->opt->json);
		json_begin(&w, f);
		put_result(&w, m);
		json_file_close(f, m->opt->json);
	}
	/* Standard output is for one of the two. */
	if (m->opt->json && !strcmp(m->opt->json, "-"))
		return;
	for (i = 0; i < m->opt->n_workloads; i++)
		print_load(m, &m->loads[i]);
}
