// SPDX-License-Identifier: GPL-2.0
/* onrampctl trace: one connection into a file, and its plot. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

/* Time between two looks unless the command line has one. */
#define STEP_NS		(10 * NSEC_PER_MSEC)
#define STEP_MIN_NS	NSEC_PER_MSEC

/* Set by a signal. */
static atomic_bool stopped;

static void on_signal(int number)
{
	(void)number;
	stopped = true;
}

/* trace_head() - the names of the columns, which end in their unit */
void trace_head(FILE *f)
{
	fputs("time_s,rate_bit_s,pacing_bit_s,delivery_bit_s,rtt_us,cwnd_packets,unacked_packets,unsent_bytes,retransmitted_packets,busy_share,receiver_share,buffer_share,delay_ns,pauses,paused_share,pause_left_ns\n",
	      f);
}

static double share(uint64_t from, uint64_t to, double all)
{
	double v = to > from && all > 0 ? (double)(to - from) / all : 0;

	/* Counters of the kernel are in steps of its clock tick. */
	return v < 1 ? v : 1;
}

/**
 * trace_line() - write a line
 * @f: file
 * @begin_ns: time 0
 * @a: look before
 * @b: look
 *
 * Columns that On-Ramp has to tell are empty if it does not follow the connection.
 */
void trace_line(FILE *f, uint64_t begin_ns, const struct look *a, const struct look *b)
{
	const struct tcp_info *from = &a->flow.info, *to = &b->flow.info;
	double ns = (double)(b->time_ns - a->time_ns), us = ns / 1e3;
	uint64_t sent = to->tcpi_bytes_sent - from->tcpi_bytes_sent;
	uint64_t pacing = to->tcpi_pacing_rate;

	fprintf(f, "%.6f,%.0f,", (double)(b->time_ns - begin_ns) / 1e9,
		ns > 0 ? (double)sent * 8e9 / ns : 0);
	/* All bits set is no limit. */
	if (pacing && pacing < UINT64_MAX / 8)
		fprintf(f, "%" PRIu64, pacing * 8);
	fprintf(f, ",%" PRIu64 ",%u,%u,%u,%u,%u,%.3f,%.3f,%.3f,",
		(uint64_t)to->tcpi_delivery_rate * 8,
		b->flow.rtt_count ? b->flow.rtt_us : to->tcpi_rtt, to->tcpi_snd_cwnd,
		to->tcpi_unacked, to->tcpi_notsent_bytes, to->tcpi_total_retrans,
		share(from->tcpi_busy_time, to->tcpi_busy_time, us),
		share(from->tcpi_rwnd_limited, to->tcpi_rwnd_limited, us),
		share(from->tcpi_sndbuf_limited, to->tcpi_sndbuf_limited, us));
	if (!a->onramp || !b->onramp) {
		fputs(",,,\n", f);
		return;
	}
	if (b->pauses.has_delay)
		fprintf(f, "%" PRIu64, b->pauses.delay_ns);
	fprintf(f, ",%" PRIu64 ",%.3f,%" PRIu64 "\n",
		look_grown(a->pauses.pauses, b->pauses.pauses),
		share(a->pauses.paused_ns, b->pauses.paused_ns, ns), b->pauses.pause_left_ns);
}

/* Name of the file as gnuplot reads it in quotes. */
static void put_quoted(FILE *f, const char *s)
{
	fputc('\'', f);
	for (; *s; s++)
		fputs(*s == '\'' ? "''" : (const char[]){ *s, '\0' }, f);
	fputc('\'', f);
}

/**
 * trace_plot() - write a program for gnuplot
 * @f: file
 * @csv: name of the file that it reads
 *
 * `gnuplot FILE.gp` makes FILE.png: rates; delay and RTT; limits, as shares of the time.
 */
void trace_plot(FILE *f, const char *csv)
{
	fputs("set datafile separator comma\n"
	      "set terminal pngcairo size 1200,1000\nset output ", f);
	put_quoted(f, csv);
	fputs(".'.png'\ndata = ", f);
	put_quoted(f, csv);
	fputs("\nset multiplot layout 3,1\nset grid\nset lmargin 10\nset rmargin 25\nset key outside right\n"
	      "set ylabel 'Gbit/s'\nset yrange [0:*]\n"
	      "plot data using 'time_s':(column('rate_bit_s')/1e9) with lines title 'rate', \\\n"
	      "     data using 'time_s':(column('pacing_bit_s')/1e9) with lines title 'pacing rate', \\\n"
	      "     data using 'time_s':(column('delivery_bit_s')/1e9) with lines title 'delivery rate'\n"
	      "set ylabel 'us'\n"
	      "plot data using 'time_s':'rtt_us' with lines title 'RTT', \\\n"
	      "     data using 'time_s':(column('delay_ns')/1e3) with lines title 'delay by OR-ACKs'\n"
	      "set ylabel 'share of time'\nset yrange [0:1]\nset xlabel 's'\n"
	      "plot data using 'time_s':'busy_share' with lines title 'data to send', \\\n"
	      "     data using 'time_s':'paused_share' with lines title 'paused', \\\n"
	      "     data using 'time_s':'receiver_share' with lines title 'receiver', \\\n"
	      "     data using 'time_s':'buffer_share' with lines title 'send buffer'\n"
	      "unset multiplot\n", f);
}

static void write_plot(const char *csv)
{
	char *path;
	FILE *f;

	if (asprintf(&path, "%s.gp", csv) < 0)
		die_unknown("out of memory");
	f = fopen(path, "we");
	if (!f)
		die_unknown("cannot write %s: %s", path, strerror(errno));
	trace_plot(f, csv);
	if (ferror(f) || fclose(f))
		die_unknown("cannot write %s: %s", path, strerror(errno));
	warning("plot: gnuplot %s makes %s.png", path, csv);
	free(path);
}

int cmd_trace(const struct ctl *ctl, int argc, char **argv)
{
	uint64_t step = ctl->interval_set ? ctl->interval_ns : STEP_NS, end;
	struct sigaction sa = { .sa_handler = on_signal };
	struct look first, a, b;
	FILE *f = stdout;

	if (ctl->json)
		die_usage("trace writes CSV: use it without --json");
	if (step < STEP_MIN_NS)
		die_usage("trace: expected an interval of 0.001 s or more");
	first = look_first(ctl, argc, argv);
	if (first.hidden)
		warning("pauses of On-Ramp are for root to see: their columns are empty");
	if (ctl->output)
		f = fopen(ctl->output, "we");
	if (!f)
		die_unknown("cannot write %s: %s", ctl->output, strerror(errno));
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	trace_head(f);
	a = first;
	b = first;
	end = first.time_ns + ctl->duration_ns;
	while (!stopped && b.time_ns < end) {
		look_sleep(step);
		if (!look_again(&b)) {
			warning("the connection was closed after %.3f s",
				(double)(b.time_ns - first.time_ns) / 1e9);
			break;
		}
		trace_line(f, first.time_ns, &a, &b);
		if (fflush(f))
			die_unknown("cannot write the trace: %s", strerror(errno));
		a = b;
	}
	if (ctl->output && fclose(f))
		die_unknown("cannot write %s: %s", ctl->output, strerror(errno));
	if (ctl->output)
		write_plot(ctl->output);
	return CTL_OK;
}
