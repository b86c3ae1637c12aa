// SPDX-License-Identifier: GPL-2.0
/* See or_acker_model.h. */
#include <math.h>
#include <string.h>

#include "or_acker_model.h"

#define CREDIT_MOST	4096.0
#define BUCKET_DEPTH	1e6
#define LEARN_FOR	250e6
#define LEARN_PACKETS	10.0
#define HOLD_MOST	16777215.0

void model_start(struct model_flow *f)
{
	memset(f, 0, sizeof(*f));
}

void model_host_start(struct model_host *h)
{
	h->told = -1;
	h->first_told = -1;
}

static double segs_from(const struct model_flow *f, int i)
{
	double sum = 0;

	for (; i < f->n; i++)
		sum += f->p[i].segs;
	return sum;
}

static double bytes_from(const struct model_flow *f, int i)
{
	double sum = 0;

	for (; i < f->n; i++)
		sum += f->p[i].bytes;
	return sum;
}

static bool told_lately(const struct model_rules *r, const struct model_host *h,
			double now)
{
	return h->told >= 0 && now - h->told < r->path;
}

static bool learns(const struct model_rules *r, const struct model_host *h, double now)
{
	return r->path > 0 && h->first_told >= 0 && now - h->first_told < LEARN_FOR;
}

static double limit_at(const struct model_flow *f, const struct model_rules *r,
		       const struct model_host *h, double now)
{
	return learns(r, h, now) || f->costly ? fmin(r->packets, LEARN_PACKETS) : r->packets;
}

/* The first packet of those that wait for an OR-ACK by time. */
static int oldest(const struct model_flow *f)
{
	return f->skipped > f->decided ? f->skipped : f->decided;
}

/* No more packets to pause, or OR-ACKs take too much; and the sender knows the path. */
static bool none_by_time(const struct model_flow *f, const struct model_rules *r,
			 const struct model_host *h, double now)
{
	bool sparing = f->costly && !learns(r, h, now);

	return (f->p[f->n - 1].end || sparing) && r->path > 0 && told_lately(r, h, now);
}

static enum model_todo none_so_far(struct model_flow *f)
{
	f->skipped = f->n;
	return f->p[f->n - 1].end ? MODEL_NONE_AT_END : MODEL_NOTHING;
}

enum model_todo model_packet(struct model_flow *f, const struct model_rules *r,
			     const struct model_host *h, struct model_packet p,
			     enum model_reason *reason)
{
	bool first = oldest(f) == f->n;

	*reason = MODEL_NO_REASON;
	if (first)
		f->limit = limit_at(f, r, h, p.at);
	f->p[f->n++] = p;
	f->credit = fmin(CREDIT_MOST, f->credit + p.bytes + p.headers);

	if (segs_from(f, f->decided) >= f->limit)
		*reason = MODEL_PACKETS_DUE;
	else if (bytes_from(f, f->decided) >= r->bytes)
		*reason = MODEL_BYTES_DUE;
	else if (first && r->path > 0 && !told_lately(r, h, p.at))
		*reason = MODEL_PATH_DUE;

	if (f->queued)
		return MODEL_NOTHING;
	if (*reason != MODEL_NO_REASON) {
		f->queued = true;
		return MODEL_SEND;
	}
	if (f->waiting)
		return MODEL_NOTHING;
	if (first && none_by_time(f, r, h, p.at))
		return none_so_far(f);
	f->waiting = true;
	return MODEL_WAIT;
}

enum model_todo model_waited(struct model_flow *f, const struct model_rules *r,
			     const struct model_host *h, double now, double *until)
{
	f->waiting = false;
	if (f->queued || f->decided == f->n)
		return MODEL_NOTHING;
	*until = f->p[oldest(f)].at + r->delay;
	if (*until > now) {
		f->waiting = true;
		return MODEL_WAIT;
	}
	if (none_by_time(f, r, h, now))
		return none_so_far(f);
	return MODEL_SEND;
}

static double level(const struct model_bucket *b, double now)
{
	return fmax(0, b->level - (now - b->at));
}

static void fill(struct model_bucket *b, double now, double by)
{
	*b = (struct model_bucket) { level(b, now) + by, now };
}

struct model_ack model_due(struct model_flow *f, const struct model_rules *r,
			   struct model_host *h, struct model_bucket *cpu, double cost,
			   double now)
{
	struct model_ack ack = { .answer = MODEL_IDLE };

	if (f->decided == f->n)
		return ack;
	f->decided = f->n;
	if (f->credit < cost) {
		ack.answer = MODEL_NO_CREDIT;
	} else if (level(&h->bucket, now) > BUCKET_DEPTH) {
		ack.answer = MODEL_NO_SUB;
	} else if (level(cpu, now) > BUCKET_DEPTH) {
		ack.answer = MODEL_NO_CPU;
	} else {
		ack = (struct model_ack) {
			.answer = MODEL_YES,
			.packets = segs_from(f, f->acked),
			.bytes = bytes_from(f, f->acked),
			.seq = f->p[f->n - 1].seq + f->p[f->n - 1].bytes,
			.hold = fmin(HOLD_MOST, fmax(0, now - f->p[f->n - 1].at)),
			.count = f->acks++,
		};
		f->acked = f->n;
		f->credit -= cost;
		fill(&h->bucket, now, r->sub_interval);
		fill(cpu, now, r->cpu_interval);
		if (h->told < 0)
			h->first_told = now;
		h->told = now;
	}
	return ack;
}
