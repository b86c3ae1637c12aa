// SPDX-License-Identifier: GPL-2.0
/*
 * onramp_core.h against the double-precision model of onramp_model.c, over random
 * parameters and random sequences of events.
 *
 *	onramp_model_test [SEED [STEPS]]
 *
 * The time that a flow was paused must agree to the nanosecond, always. beta runs in
 * open loop and must agree to the rounding of Q30, which is at most 2^-29 in an
 * update and fades with 1 - g. The end of a pause must agree to what these errors and
 * whole nanoseconds make of it; the model then takes the core's, so that the next
 * comparison is as sharp. Whether to pause is open within that margin of T, which must
 * be rare.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onramp_core.h"
#include "onramp_model.h"
#include "onramp_ring.h"
#include "ktap.h"
#include "random.h"

#define DEFAULT_SEED	20210412ULL
#define DEFAULT_STEPS	2000000ULL
#define FLIGHT		64
#define MAX_REPORTS	5

static u64 seed = DEFAULT_SEED, steps_wanted = DEFAULT_STEPS;

static struct {
	u64 steps, fate[MODEL_ABSURD + 1], learnt, open, lookups, misses;
	u64 bad_cum, bad_beta, bad_fate, bad_end, bad_record;
	double worst_beta, worst_end;
} stat;

struct run {
	struct onramp_ctrl_params p;
	struct model_params mp;
	struct onramp_ctrl f;
	struct model m;
	struct onramp_tx rec[FLIGHT];
	struct onramp_txring ring;
	struct model_packet sent[FLIGHT];
	u32 seq[FLIGHT];	/* on the wire: it wraps */
	u64 first, next;	/* of the packets in flight */
	u64 now;
	u32 offset;		/* sequence number of the first byte */
	double bytes;
	double queue;		/* ns, what O wanders around */
	bool all;		/* nothing was left to send */
};

static void start(struct run *r)
{
	static const enum model_rule rules[] = { MODEL_EQ4, MODEL_EQ2, MODEL_NONE,
						 MODEL_PRINTED };

	memset(r, 0, sizeof(*r));
	r->p.mode = chance(0.6) ? ONRAMP_MODE_FINAL : chance(0.6) ? ONRAMP_MODE_PRINTED :
		    chance(0.8) ? ONRAMP_MODE_STRAWMAN : ONRAMP_MODE_OFF;
	r->p.gain = chance(0.1) ? ONRAMP_ONE : chance(0.05) ? 0 :
		    ONRAMP_ONE >> (random_u64() % 7);
	r->p.threshold_ns = (u64)log_uniform(1, 1e7);
	r->p.empty_ns = chance(0.3) ? 0 : (u64)(r->p.threshold_ns * random_unit());
	r->p.max_pause_ns = (u64)log_uniform(1e3, 1e9);
	r->p.stale_ns = (u64)log_uniform(1e6, 1e10);
	r->mp = (struct model_params) {
		.rule = rules[r->p.mode], .g = r->p.gain / 1073741824.0,
		.t = r->p.threshold_ns, .empty = r->p.empty_ns, .max_pause = r->p.max_pause_ns,
		.stale = r->p.stale_ns,
	};
	r->ring.rec = r->rec;
	r->ring.mask = FLIGHT - 1;
	r->now = 1 + random_u64() % 1000000000000ULL;
	r->offset = (u32)random_u64();
	r->queue = r->p.threshold_ns;
	onramp_ctrl_init(&r->f);
	model_start(&r->m);
}

static void check_cum(struct run *r, u64 t)
{
	u64 core = onramp_ctrl_cum_pause(&r->f, t);

	if ((double)core == model_paused(&r->m, t))
		return;
	if (stat.bad_cum++ < MAX_REPORTS)
		printf("# step %" PRIu64 ": paused %" PRIu64 " ns, model %.0f\n",
		       stat.steps, core, model_paused(&r->m, t));
}

static void send(struct run *r)
{
	struct model_packet *k = &r->sent[r->next % FLIGHT];
	u32 length = 1 + (u32)(random_u64() % 65536), from, una;

	if (r->next - r->first == FLIGHT)
		r->first++;
	from = r->offset + (u32)(u64)fmod(r->bytes, 4294967296.0);
	r->bytes += length;
	*k = (struct model_packet) {
		.tx = r->now, .seq = r->bytes,
		.paused = model_paused(&r->m, r->now),
	};
	r->seq[r->next % FLIGHT] = from + length;
	r->next++;
	/* None before it is in flight: each one is recorded. */
	una = from;
	onramp_tx_add(&r->ring, from, from + length, r->now,
		      onramp_ctrl_cum_pause(&r->f, r->now), &una);
	r->all = chance(0.1);
	r->ring.all = r->all;
}

static double random_owd(struct run *r)
{
	r->queue = fmax(0, r->queue + normal(r->p.threshold_ns / 4.0 + 10));
	if (chance(0.02))
		r->queue = log_uniform(1, 1e9);
	if (chance(0.01))
		return -log_uniform(1, 1e6);
	return chance(0.001) ? 2e10 : floor(r->queue);
}

static const u8 verdict_of[] = {
	[MODEL_KEEP] = ONRAMP_BELOW, [MODEL_PAUSE] = ONRAMP_PAUSED,
	[MODEL_PAUSE_SHORT] = ONRAMP_CAPPED, [MODEL_GO] = ONRAMP_PROGRESS,
	[MODEL_NO_RULE] = ONRAMP_IS_OFF, [MODEL_TOO_OLD] = ONRAMP_STALE,
	[MODEL_TWICE] = ONRAMP_DUPLICATE, [MODEL_ABSURD] = ONRAMP_IMPLAUSIBLE,
};

static void compare(struct run *r, const struct onramp_result *res,
		    const struct model_verdict *v, double held)
{
	double beta = r->f.beta / 1073741824.0;
	double beta_error = fabs(beta - r->m.beta);
	double fade = r->mp.g > 0 ? fmin(r->mp.g, 1) : 1;
	double width = 2 + (double)res->p_rtt_ns * 4 / 1073741824.0 / fade;
	double left = held + r->mp.max_pause - (double)r->now;

	stat.worst_beta = fmax(stat.worst_beta, beta_error * fade);
	if (beta_error > 3 / 1073741824.0 / fade) {
		if (stat.bad_beta++ < MAX_REPORTS)
			printf("# step %" PRIu64 ": beta %.10f, model %.10f, g %g\n",
			       stat.steps, beta, r->m.beta, r->mp.g);
		r->m.beta = beta;
	}
	if (verdict_of[v->fate] != res->verdict) {
		/* At T, and where the limit is what is due: open. */
		if (fabs(v->margin) <= width || fabs(v->want - left) <= width) {
			stat.open++;
			r->m.held_since = r->f.hold_ns ? (double)r->f.hold_ns : -1;
		} else if (stat.bad_fate++ < MAX_REPORTS) {
			printf("# step %" PRIu64 ": verdict %u, model %u, margin %g\n",
			       stat.steps, res->verdict, v->fate, v->margin);
		}
	}
	if (v->fate == MODEL_PAUSE || v->fate == MODEL_PAUSE_SHORT ||
	    v->fate == MODEL_GO) {
		double error = fabs((double)r->f.until_ns - v->end);

		stat.worst_end = fmax(stat.worst_end, error / width);
		if (verdict_of[v->fate] == res->verdict && error > width &&
		    stat.bad_end++ < MAX_REPORTS)
			printf("# step %" PRIu64 ": until %" PRIu64 ", model %.1f\n",
			       stat.steps, r->f.until_ns, v->end);
	}
	/* As sharp the next time. */
	if (res->verdict == ONRAMP_PAUSED || res->verdict == ONRAMP_CAPPED ||
	    res->verdict == ONRAMP_PROGRESS)
		model_pause(&r->m, r->now, r->f.until_ns);
}

static void ack(struct run *r)
{
	u64 flight = r->next - r->first, which = r->first;
	const struct onramp_tx *t;
	struct onramp_result res;
	struct onramp_sample s;
	struct model_verdict v;
	struct model_packet g;
	double held;

	if (!flight)
		return;
	/* In order, or lost before, or too late, or once more. */
	if (chance(0.1))
		which += random_u64() % flight;
	g = r->sent[which % FLIGHT];
	g.owd = random_owd(r);
	stat.lookups++;
	t = onramp_tx_covering(&r->ring, r->seq[which % FLIGHT]);
	if (!t || (double)t->tx_ns != g.tx || (double)t->cum_ns != g.paused) {
		stat.bad_record++;
		return;
	}
	s = (struct onramp_sample) {
		.now_ns = r->now, .tx_ns = t->tx_ns, .tx_cum_ns = t->cum_ns,
		.sent_ns = r->ring.sent_ns, .idle_ns = onramp_tx_idle_ns(&r->ring, r->now),
		.owd_ns = (s64)g.owd,
		.seq = r->seq[which % FLIGHT],
	};
	if (chance(0.002)) {
		s.tx_ns += 1ULL << 40;
		g.tx += 1099511627776.0;
	}
	held = r->m.held_since;
	onramp_ctrl_update(&r->f, &r->p, &s, &res);
	v = model_ack(&r->m, &r->mp, &g, r->now, r->ring.sent_ns,
		      r->all ? fmax(0, (double)r->now - (double)r->ring.sent_ns) : 0);
	if (r->m.held_since >= 0)
		held = r->m.held_since;
	stat.fate[v.fate]++;
	stat.learnt += v.learnt;
	if (v.learnt != !!res.p_bg_ns)
		stat.bad_fate++;
	compare(r, &res, &v, held);
	if (which == r->first && chance(0.7))
		r->first++;
}

static void run_all(void)
{
	u64 left = 0;
	static struct run r;

	random_state = seed;
	for (; stat.steps < steps_wanted; stat.steps++) {
		if (!left--) {
			start(&r);
			left = 2000;
		}
		r.now += (u64)log_uniform(1, chance(0.01) ? 1e9 :
					  r.p.threshold_ns + 100.0);
		if (r.next == r.first && chance(0.8))
			r.now = max_t(u64, r.now, r.f.until_ns);
		check_cum(&r, r.now);
		check_cum(&r, r.now + random_u64() % 1000000);
		if (chance(0.01)) {
			onramp_ctrl_forget(&r.f);
			r.m.has_b = false;
		}
		if (!onramp_ctrl_paused(&r.f, r.now) && chance(0.6))
			send(&r);
		else
			ack(&r);
		check_cum(&r, r.now);
	}
}

static void model__paused_time_is_exact(void)
{
	CHECK_EQ(stat.bad_cum, 0);
}

static void model__beta(void)
{
	printf("# beta learnt %" PRIu64 " times, worst error times g %.3g\n",
	       stat.learnt, stat.worst_beta);
	CHECK(stat.learnt > stat.steps / 100);
	CHECK_EQ(stat.bad_beta, 0);
}

static void model__verdicts(void)
{
	int i;

	for (i = 0; i <= MODEL_ABSURD; i++) {
		printf("# fate %d: %" PRIu64 "\n", i, stat.fate[i]);
		CHECK(stat.fate[i] > stat.steps / 100000);
	}
	printf("# open: %" PRIu64 "\n", stat.open);
	CHECK(stat.open < stat.steps / 1000);
	CHECK_EQ(stat.bad_fate, 0);
}

static void model__end_of_pause(void)
{
	printf("# worst error of an end: %.2g of what is allowed\n", stat.worst_end);
	CHECK_EQ(stat.bad_end, 0);
}

static void model__records(void)
{
	CHECK(stat.lookups > stat.steps / 10);
	CHECK_EQ(stat.bad_record, 0);
}

int main(int argc, char **argv)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(model__paused_time_is_exact),
		KTAP_CASE(model__beta),
		KTAP_CASE(model__verdicts),
		KTAP_CASE(model__end_of_pause),
		KTAP_CASE(model__records),
	};

	if (argc > 1)
		seed = strtoull(argv[1], NULL, 10);
	if (argc > 2)
		steps_wanted = strtoull(argv[2], NULL, 10);
	run_all();
	printf("# seed %" PRIu64 ", %" PRIu64 " steps\n", seed, stat.steps);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
