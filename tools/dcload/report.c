// SPDX-License-Identifier: GPL-2.0
/*
 * Parts of a result that client and mesh share.
 */
#include <math.h>
#include <sys/utsname.h>

#include "dcload.h"
#include "report.h"

double bit_s(uint64_t bytes, uint64_t ns)
{
	return ns ? (double)bytes * 8 * (double)NSEC_PER_SEC / (double)ns : 0;
}

/**
 * put_head() - who measured, and on what
 * @w: writer, in the outermost object
 * @tool: dcload and the mode it ran in
 */
void put_head(struct json_writer *w, const char *tool)
{
	struct utsname uts;

	uname(&uts);
	json_string(w, "tool", tool);
	json_string(w, "version", DCLOAD_VERSION);
	json_string(w, "kernel", uts.release);
}

/**
 * put_interval() - when was measured
 * @w: writer
 * @start_s: begin, from the start of the run
 * @start_boot_ns: begin, on CLOCK_BOOTTIME
 * @took_ns: and for how long
 */
void put_interval(struct json_writer *w, double start_s, uint64_t start_boot_ns,
		  uint64_t took_ns)
{
	json_open(w, "interval", '{', false);
	json_double(w, "start_s", start_s);
	json_double(w, "start_boottime_s", (double)start_boot_ns / 1e9);
	json_double(w, "duration_s", (double)took_ns / 1e9);
	json_close(w, '}');
}

/**
 * put_hist() - members that describe a histogram
 * @w: writer, in an object
 * @h: histogram; an empty one has null where a number would be a lie
 * @unit: divisor of the values
 * @buckets: all its buckets as well
 */
void put_hist(struct json_writer *w, const struct hist *h, double unit,
	      bool buckets)
{
	static const struct {
		const char *key;
		double q;
	} quantiles[] = {
		{ "min", 0 }, { "p50", 0.5 }, { "p90", 0.9 }, { "p95", 0.95 },
		{ "p99", 0.99 }, { "p999", 0.999 }, { "max", 1 },
	};
	unsigned int i;

	json_u64(w, "count", h->count);
	json_double(w, "mean", h->count ? hist_mean(h) / unit : NAN);
	for (i = 0; i < ARRAY_SIZE(quantiles); i++)
		json_double(w, quantiles[i].key, h->count ?
			    hist_quantile(h, quantiles[i].q) / unit : NAN);
	if (!buckets)
		return;
	/* [upper bound, samples] of every bucket that has any */
	json_open(w, "histogram", '[', true);
	for (i = 0; i < HIST_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		json_open(w, NULL, '[', true);
		json_double(w, NULL, (double)hist_upper(i) / unit);
		json_u64(w, NULL, h->bucket[i]);
		json_close(w, ']');
	}
	json_close(w, ']');
}

/**
 * put_counters() - write an object with TCP's counters
 * @w: writer
 * @key: its name
 * @n: counters
 */
void put_counters(struct json_writer *w, const char *key,
		  const struct counters *n)
{
	json_open(w, key, '{', false);
	json_u64(w, "bytes_acked", n->bytes_acked);
	json_u64(w, "segs_out", n->segs_out);
	json_u64(w, "retrans_segs", n->retrans_segs);
	json_u64(w, "retrans_bytes", n->bytes_retrans);
	json_double(w, "timeouts", counters_timeouts() ? (double)n->timeouts : NAN);
	json_u64(w, "delivered_segs", n->delivered);
	json_u64(w, "delivered_ce_segs", n->delivered_ce);
	json_close(w, '}');
}
