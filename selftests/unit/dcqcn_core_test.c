// SPDX-License-Identifier: GPL-2.0
/*
 * dcqcn_core.h against the paper's equations in double precision, evaluated event by event,
 * and by cases worked out by hand.
 */
#include <math.h>

#include "dcqcn_core.h"
#include "ktap.h"
#include "random.h"

#define ONE	((double)Q30_ONE)
#define MBIT	125000ULL
#define GBIT	(1000 * MBIT)
#define US	1000U
#define CAP	(10 * GBIT)

static const struct dcqcn_params paper = {
	.min_bps = 10 * MBIT, .ai_bps = 40 * MBIT, .hai_bps = 200 * MBIT, .cnp_ns = 50 * US,
	.alpha_ns = 55 * US, .timer_ns = 55 * US, .bytes = 10000000, .g_shift = 8, .stages = 5,
};

static struct dcqcn_steps steps;

static struct dcqcn_flow started(void)
{
	struct dcqcn_flow f;

	dcqcn_start(&f, CAP, 1000);
	return f;
}

/* A flow at half of the line rate, with a CNP at 1000 ns. */
static struct dcqcn_flow cut(void)
{
	struct dcqcn_flow f = started();

	dcqcn_run(&f, &paper, CAP, 1000, 0, &steps);
	CHECK(dcqcn_cnp(&f, &paper, CAP, 0));
	return f;
}

/*
 * The paper: figure 7 and equations 1 to 4, in rates of bytes/s, alpha from 0 to 1, and with
 * clocks that say when they expire next.
 */
struct model {
	double rc, rt, alpha;
	double alpha_at, timer_at, cnp_at, bytes_at;
	int t, bc, on;
};

static void model_start(struct model *m)
{
	*m = (struct model){ .rc = CAP, .rt = CAP, .alpha = 1, .cnp_at = -1e18 };
}

static void model_increase(struct model *m, const struct dcqcn_params *p)
{
	if (fmax(m->t, m->bc) < p->stages)
		;
	else if (fmin(m->t, m->bc) > p->stages)
		m->rt += p->hai_bps;
	else
		m->rt += p->ai_bps;
	m->rt = fmin(m->rt, CAP);
	m->rc = (m->rt + m->rc) / 2;
}

static void model_run(struct model *m, const struct dcqcn_params *p, double now, double sent)
{
	if (!m->on)
		return;
	while (m->alpha_at <= now) {
		m->alpha *= 1 - pow(2, -p->g_shift);
		m->alpha_at += p->alpha_ns;
	}
	while (m->timer_at <= now) {
		model_increase(m, p);
		m->t++;
		m->timer_at += p->timer_ns;
	}
	while (m->bytes_at <= sent) {
		model_increase(m, p);
		m->bc++;
		m->bytes_at += p->bytes;
	}
}

static void model_reset(struct model *m, const struct dcqcn_params *p, double now, double sent)
{
	m->on = 1;
	m->t = 0;
	m->bc = 0;
	m->alpha_at = now + p->alpha_ns;
	m->timer_at = now + p->timer_ns;
	m->bytes_at = sent + p->bytes;
}

static int model_cnp(struct model *m, const struct dcqcn_params *p, double now, double sent)
{
	double g = pow(2, -p->g_shift);

	if (now - m->cnp_at < p->cnp_ns)
		return 0;
	m->cnp_at = now;
	m->rt = m->rc;
	m->rc = fmax(m->rc * (1 - m->alpha / 2), p->min_bps);
	m->rt = fmax(m->rt, m->rc);
	m->alpha = (1 - g) * m->alpha + g;
	model_reset(m, p, now, sent);
	return 1;
}

static void model_lost(struct model *m, const struct dcqcn_params *p, double now, double sent)
{
	m->rt = m->rc;
	m->rc = fmax(m->rc / 2, p->min_bps);
	m->rt = fmax(m->rt, m->rc);
	model_reset(m, p, now, sent);
}

static struct dcqcn_params any_params(void)
{
	return (struct dcqcn_params) {
		.min_bps = (u64)log_uniform(12500, CAP / 100),
		.ai_bps = (u64)log_uniform(MBIT, GBIT),
		.hai_bps = (u64)log_uniform(MBIT, 5 * GBIT),
		.cnp_ns = chance(0.1) ? 0 : (u32)log_uniform(1000, 1e6),
		.alpha_ns = (u32)log_uniform(1000, 1e6),
		.timer_ns = (u32)log_uniform(1000, 1e6),
		.bytes = (u32)log_uniform(1000, 1e7),
		.g_shift = (u8)(1 + random_u64() % 12),
		.stages = (u8)(1 + random_u64() % 10),
	};
}

/* Flows of ACKs, marks and losses, at any pace, with any parameters; bytes wrap. */
static void flow__is_that_of_the_model(void)
{
	unsigned int i, n;

	random_state = 2015;
	for (i = 0; i < 400; i++) {
		const struct dcqcn_params p = any_params();
		double marks = log_uniform(0.001, 0.5);
		u64 now = 1000, sent = chance(0.5) ? 0xfffffff0 : 0;
		struct dcqcn_flow f = started();
		struct model m;

		f.sent = (u32)sent;
		model_start(&m);
		for (n = 0; n < 500; n++) {
			u64 gap = (u64)log_uniform(100, chance(0.01) ? 1e6 : 3e4);

			now += gap;
			sent += (u64)(f.rate_bps * 1e-9 * gap);
			dcqcn_run(&f, &p, CAP, now, (u32)sent, &steps);
			/* Beyond what one evaluation handles the model would be ahead. */
			if (steps.timer == DCQCN_MAX_STEPS || steps.bytes == DCQCN_MAX_STEPS ||
			    steps.decays == DCQCN_MAX_STEPS)
				break;
			model_run(&m, &p, now, sent);
			if (chance(marks))
				CHECK_EQ(dcqcn_cnp(&f, &p, CAP, (u32)sent),
					 model_cnp(&m, &p, now, sent));
			if (chance(0.005)) {
				dcqcn_lost(&f, &p, CAP, (u32)sent);
				model_lost(&m, &p, now, sent);
			}
			CHECK_NEAR(f.rate_bps / m.rc, 1, 1e-3);
			CHECK_NEAR(f.target_bps / m.rt, 1, 1e-3);
			CHECK_NEAR(f.alpha / ONE, m.alpha, 1e-4);
			CHECK(f.rate_bps >= p.min_bps && f.rate_bps <= f.target_bps);
			CHECK(f.target_bps <= CAP);
			CHECK_EQ(steps.timer + steps.bytes,
				 steps.stage[0] + steps.stage[1] + steps.stage[2]);
			if (ktap_failures > 5)
				return;
		}
	}
}

static void start__at_the_line_rate(void)
{
	struct dcqcn_flow f = started();

	CHECK_EQ(f.rate_bps, CAP);
	CHECK_EQ(f.target_bps, CAP);
	CHECK_EQ(f.alpha, Q30_ONE);
	CHECK_EQ(f.limited, 0);
}

/* Before the first CNP no timer runs, alpha stays at 1, and the line rate is followed. */
static void start__no_timer_runs(void)
{
	struct dcqcn_flow f = started();

	dcqcn_run(&f, &paper, CAP, 1000 + 100 * 55 * US, 50000000, &steps);
	CHECK_EQ(f.alpha, Q30_ONE);
	CHECK_EQ(steps.timer + steps.bytes + steps.decays, 0);
	CHECK_EQ(f.timer_count, 0);
	dcqcn_run(&f, &paper, 4 * CAP, 1000 + 100 * 55 * US, 50000000, &steps);
	CHECK_EQ(f.rate_bps, 4 * CAP);
	CHECK_EQ(f.target_bps, 4 * CAP);
	dcqcn_run(&f, &paper, CAP / 2, 1000 + 100 * 55 * US, 50000000, &steps);
	CHECK_EQ(f.rate_bps, CAP / 2);
	/* What was sent before does not count later. */
	CHECK(dcqcn_cnp(&f, &paper, CAP / 2, 50000000));
	dcqcn_run(&f, &paper, CAP / 2, f.now_ns, 59999999, &steps);
	CHECK_EQ(steps.timer + steps.bytes + steps.decays, 0);
	dcqcn_run(&f, &paper, CAP / 2, f.now_ns, 60000000, &steps);
	CHECK_EQ(steps.bytes, 1);
}

/* The first CNP halves the rate; alpha = 1 stays 1. Of the next, with alpha = 1/2, a quarter. */
static void cnp__equation_1(void)
{
	struct dcqcn_flow f = cut();

	CHECK_EQ(f.rate_bps, CAP / 2);
	CHECK_EQ(f.target_bps, CAP);
	CHECK_EQ(f.alpha, Q30_ONE);
	f.alpha = Q30_ONE / 2;
	f.cnp_wait_ns = 50 * US;
	CHECK(dcqcn_cnp(&f, &paper, CAP, 0));
	CHECK_EQ(f.rate_bps, CAP / 2 - CAP / 8);
	CHECK_EQ(f.target_bps, CAP / 2);
	/* 255/256 * 1/2 + 1/256 */
	CHECK_EQ(f.alpha, Q30_ONE / 2 + Q30_ONE / 512);
	f.alpha = 0;
	f.cnp_wait_ns = 50 * US;
	CHECK(dcqcn_cnp(&f, &paper, CAP, 0));
	CHECK_EQ(f.rate_bps, CAP / 2 - CAP / 8);
	CHECK_EQ(f.alpha, Q30_ONE / 256);
}

/* The notification point: 50 us between two, and what came too soon does not delay the next. */
static void cnp__one_per_interval(void)
{
	struct dcqcn_flow f = cut();

	dcqcn_run(&f, &paper, CAP, 1000 + 30 * US, 0, &steps);
	CHECK(!dcqcn_cnp(&f, &paper, CAP, 0));
	dcqcn_run(&f, &paper, CAP, 1000 + 50 * US - 1, 0, &steps);
	CHECK(!dcqcn_cnp(&f, &paper, CAP, 0));
	CHECK_EQ(f.rate_bps, CAP / 2);
	dcqcn_run(&f, &paper, CAP, 1000 + 50 * US, 0, &steps);
	CHECK(dcqcn_cnp(&f, &paper, CAP, 0));
	CHECK_EQ(f.rate_bps, CAP / 4);
	/* After hours it is still known that the last one is long ago. */
	dcqcn_run(&f, &paper, CAP, 1000 + 10000000000000ULL, 0, &steps);
	CHECK(dcqcn_cnp(&f, &paper, CAP, 0));
}

/* It begins everything anew. */
static void cnp__resets(void)
{
	struct dcqcn_flow f = cut();

	dcqcn_run(&f, &paper, CAP, 1000 + 54 * US, 9999999, &steps);
	CHECK_EQ(steps.timer + steps.bytes + steps.decays, 0);
	CHECK(dcqcn_cnp(&f, &paper, CAP, 9999999));
	dcqcn_run(&f, &paper, CAP, 1000 + 108 * US, 19999998, &steps);
	CHECK_EQ(steps.timer + steps.bytes + steps.decays, 0);
	dcqcn_run(&f, &paper, CAP, 1000 + 109 * US, 19999999, &steps);
	CHECK_EQ(steps.timer, 1);
	CHECK_EQ(steps.bytes, 1);
	CHECK_EQ(steps.decays, 1);
	CHECK_EQ(f.timer_count, 1);
	CHECK_EQ(f.byte_count, 1);
	CHECK(dcqcn_cnp(&f, &paper, CAP, 19999999));
	CHECK_EQ(f.timer_count, 0);
	CHECK_EQ(f.byte_count, 0);
}

static void cnp__not_below_the_least_rate(void)
{
	struct dcqcn_flow f = cut();
	unsigned int i;

	for (i = 0; i < 20; i++) {
		f.cnp_wait_ns = 50 * US;
		CHECK(dcqcn_cnp(&f, &paper, CAP, 0));
	}
	CHECK_EQ(f.rate_bps, 10 * MBIT);
	CHECK_EQ(f.target_bps, 10 * MBIT);
}

/* The least rate becomes more than both. */
static void run__least_rate_is_raised(void)
{
	struct dcqcn_params p = paper;
	struct dcqcn_flow f = cut();

	f.rate_bps = 2 * GBIT;
	f.target_bps = 3 * GBIT;
	p.min_bps = 4 * GBIT;
	dcqcn_run(&f, &p, CAP, 1000, 0, &steps);
	CHECK_EQ(f.rate_bps, 4 * GBIT);
	CHECK_EQ(f.target_bps, 4 * GBIT);
}

/* (255/256)^n, and 0 in the end. */
static void alpha__decays(void)
{
	struct dcqcn_flow f = cut();
	unsigned int i;

	dcqcn_run(&f, &paper, CAP, 1000 + 55 * US, 0, &steps);
	CHECK_EQ(steps.decays, 1);
	CHECK_EQ(f.alpha, Q30_ONE - Q30_ONE / 256);
	dcqcn_run(&f, &paper, CAP, 1000 + 256 * 55 * US, 0, &steps);
	CHECK_EQ(steps.decays, 255);
	CHECK_NEAR(f.alpha / ONE, pow(255 / 256.0, 256), 1e-6);
	for (i = 2; i < 100; i++)
		dcqcn_run(&f, &paper, CAP, 1000 + i * 256ULL * 55 * US, 0, &steps);
	CHECK_EQ(f.alpha, 0);
}

/* Five halvings of the way back, F = 5: then the target rises. By hand: 10 - 5/32. */
static void increase__fast_recovery(void)
{
	struct dcqcn_flow f = cut();

	dcqcn_run(&f, &paper, CAP, 1000 + 55 * US, 0, &steps);
	CHECK_EQ(f.rate_bps, CAP * 3 / 4);
	CHECK_EQ(f.target_bps, CAP);
	dcqcn_run(&f, &paper, CAP, 1000 + 5 * 55 * US, 0, &steps);
	CHECK_EQ(steps.timer, 4);
	CHECK_EQ(steps.stage[DCQCN_RECOVERY], 4);
	CHECK_EQ(f.rate_bps, (u64)(9.84375 * GBIT));
	dcqcn_run(&f, &paper, CAP, 1000 + 6 * 55 * US, 0, &steps);
	CHECK_EQ(steps.stage[DCQCN_ADDITIVE], 1);
}

/* From 2 Gbit/s with a target of 4: 3, 3.5, 3.75, 3.875, 3.9375, then the target is 4.04. */
static void increase__additive(void)
{
	struct dcqcn_flow f = cut();

	f.rate_bps = 2 * GBIT;
	f.target_bps = 4 * GBIT;
	dcqcn_run(&f, &paper, CAP, 1000 + 6 * 55 * US, 0, &steps);
	CHECK_EQ(steps.stage[DCQCN_RECOVERY], 5);
	CHECK_EQ(steps.stage[DCQCN_ADDITIVE], 1);
	CHECK_EQ(f.target_bps, 4040 * MBIT);
	CHECK_NEAR((double)f.rate_bps / MBIT, 3988.75, 0.001);
	/* Without bytes it stays additive. */
	dcqcn_run(&f, &paper, CAP, 1000 + 16 * 55 * US, 0, &steps);
	CHECK_EQ(steps.stage[DCQCN_ADDITIVE], 10);
	CHECK_EQ(f.target_bps, 4440 * MBIT);
}

/* The byte counter alone does the same. */
static void increase__by_bytes(void)
{
	struct dcqcn_flow f = cut();

	f.rate_bps = 2 * GBIT;
	f.target_bps = 4 * GBIT;
	dcqcn_run(&f, &paper, CAP, 1000, 60000000, &steps);
	CHECK_EQ(steps.bytes, 6);
	CHECK_EQ(steps.timer, 0);
	CHECK_EQ(steps.stage[DCQCN_RECOVERY], 5);
	CHECK_EQ(f.byte_count, 6);
	CHECK_EQ(f.timer_count, 0);
	CHECK_EQ(f.target_bps, 4040 * MBIT);
}

/* More than F of both were: T = 6 and BC = 5 is additive, BC = 6 is hyper. */
static void increase__hyper(void)
{
	struct dcqcn_flow f = cut();

	f.rate_bps = 2 * GBIT;
	f.target_bps = 4 * GBIT;
	dcqcn_run(&f, &paper, CAP, 1000 + 6 * 55 * US, 60000000, &steps);
	CHECK_EQ(steps.stage[DCQCN_RECOVERY], 5);
	CHECK_EQ(steps.stage[DCQCN_ADDITIVE], 7);
	CHECK_EQ(steps.stage[DCQCN_HYPER], 0);
	CHECK_EQ(f.target_bps, 4280 * MBIT);
	dcqcn_run(&f, &paper, CAP, 1000 + 6 * 55 * US, 70000000, &steps);
	CHECK_EQ(steps.stage[DCQCN_HYPER], 1);
	CHECK_EQ(f.target_bps, 4480 * MBIT);
}

/* T does not wrap: 300 expiries are not those of a flow that has just recovered. */
static void increase__counts_do_not_wrap(void)
{
	struct dcqcn_flow f = cut();

	dcqcn_run(&f, &paper, CAP, 1000 + 257 * 55 * US, 0, &steps);
	CHECK_EQ(steps.timer, 257);
	CHECK_EQ(f.timer_count, 255);
	CHECK_EQ(steps.stage[DCQCN_RECOVERY], 5);
}

/* The line rate is reached, to the byte/s, and not exceeded; one that falls is followed. */
static void increase__ends_at_the_line_rate(void)
{
	struct dcqcn_flow f = cut();

	dcqcn_run(&f, &paper, CAP, 1000 + 100 * 55 * US, 0, &steps);
	CHECK_EQ(f.rate_bps, CAP);
	CHECK_EQ(f.target_bps, CAP);
	dcqcn_run(&f, &paper, CAP / 4, 1000 + 100 * 55 * US, 0, &steps);
	CHECK_EQ(f.rate_bps, CAP / 4);
	CHECK_EQ(f.target_bps, CAP / 4);
	dcqcn_run(&f, &paper, MBIT, 1000 + 100 * 55 * US, 0, &steps);
	CHECK_EQ(f.rate_bps, MBIT);
}

/* A step at a time, or all at once; beyond DCQCN_MAX_STEPS the next evaluation goes on. */
static void run__late_is_the_same(void)
{
	struct dcqcn_flow once = cut(), often = cut();
	unsigned int i;

	for (i = 1; i <= 1500; i++)
		dcqcn_run(&often, &paper, CAP, 1000 + i * 55ULL * US, 0, &steps);
	dcqcn_run(&once, &paper, CAP, 1000 + 1500 * 55ULL * US, 0, &steps);
	CHECK_EQ(steps.timer, DCQCN_MAX_STEPS);
	CHECK_EQ(steps.decays, DCQCN_MAX_STEPS);
	CHECK(once.alpha > often.alpha);
	dcqcn_run(&once, &paper, CAP, 1000 + 1500 * 55ULL * US, 0, &steps);
	CHECK_EQ(steps.timer, 1500 - DCQCN_MAX_STEPS);
	CHECK_EQ(once.alpha, often.alpha);
	CHECK_EQ(once.rate_bps, often.rate_bps);
}

/* Of bytes as well. */
static void run__bounded_work(void)
{
	struct dcqcn_params p = paper;
	struct dcqcn_flow f = cut();

	p.bytes = 1000;
	dcqcn_run(&f, &p, CAP, 1000, 2000000000, &steps);
	CHECK_EQ(steps.bytes, DCQCN_MAX_STEPS);
	CHECK_EQ(f.sent, 1000 * DCQCN_MAX_STEPS);
}

/* Silence of hours does not overflow, nor does a clock that runs back. */
static void run__time_is_bounded(void)
{
	struct dcqcn_flow f = cut();

	dcqcn_run(&f, &paper, CAP, 5000000000000ULL, 0, &steps);
	CHECK_EQ(f.timer_wait_ns, DCQCN_MAX_ELAPSED_NS - DCQCN_MAX_STEPS * 55 * US);
	dcqcn_run(&f, &paper, CAP, 10000000000000ULL, 0, &steps);
	dcqcn_run(&f, &paper, CAP, 15000000000000ULL, 0, &steps);
	CHECK_EQ(f.timer_wait_ns, DCQCN_MAX_PENDING_NS - DCQCN_MAX_STEPS * 55 * US);
	CHECK_EQ(f.cnp_wait_ns, DCQCN_MAX_PENDING_NS);
	f = cut();
	dcqcn_run(&f, &paper, CAP, 500, 0, &steps);
	CHECK_EQ(steps.timer, 0);
	CHECK_EQ(f.now_ns, 1000);
}

/* Half, and a target to come back to; alpha is the marks' alone, and so is the interval. */
static void lost__halves(void)
{
	struct dcqcn_flow f = cut();

	f.alpha = 12345;
	f.timer_count = 7;
	f.cnp_wait_ns = 77;
	dcqcn_lost(&f, &paper, CAP, 5000);
	CHECK_EQ(f.rate_bps, CAP / 4);
	CHECK_EQ(f.target_bps, CAP / 2);
	CHECK_EQ(f.alpha, 12345);
	CHECK_EQ(f.timer_count, 0);
	CHECK_EQ(f.sent, 5000);
	CHECK_EQ(f.cnp_wait_ns, 77);
	f.rate_bps = 11 * MBIT;
	dcqcn_lost(&f, &paper, CAP, 5000);
	CHECK_EQ(f.rate_bps, 10 * MBIT);
	f = started();
	dcqcn_lost(&f, &paper, CAP, 0);
	CHECK_EQ(f.limited, 1);
}

static void undo__never_lowers(void)
{
	struct dcqcn_flow f = cut();

	dcqcn_undo(&f, CAP / 4);
	CHECK_EQ(f.rate_bps, CAP / 2);
	f.target_bps = CAP / 2;
	dcqcn_undo(&f, CAP);
	CHECK_EQ(f.rate_bps, CAP);
	CHECK_EQ(f.target_bps, CAP);
}

static void burst__shrinks_with_the_rate(void)
{
	CHECK_EQ(dcqcn_burst(11, CAP, CAP), 11);
	CHECK_EQ(dcqcn_burst(11, CAP / 2, CAP), 5);
	CHECK_EQ(dcqcn_burst(11, CAP / 12, CAP), 1);
	CHECK_EQ(dcqcn_burst(11, MBIT, CAP), 1);
	CHECK_EQ(dcqcn_burst(65535, DCQCN_MAX_BPS, DCQCN_MAX_BPS), 65535);
}

static const struct ktap_case cases[] = {
	KTAP_CASE(flow__is_that_of_the_model),
	KTAP_CASE(start__at_the_line_rate),
	KTAP_CASE(start__no_timer_runs),
	KTAP_CASE(cnp__equation_1),
	KTAP_CASE(cnp__one_per_interval),
	KTAP_CASE(cnp__resets),
	KTAP_CASE(cnp__not_below_the_least_rate),
	KTAP_CASE(run__least_rate_is_raised),
	KTAP_CASE(alpha__decays),
	KTAP_CASE(increase__fast_recovery),
	KTAP_CASE(increase__additive),
	KTAP_CASE(increase__by_bytes),
	KTAP_CASE(increase__hyper),
	KTAP_CASE(increase__counts_do_not_wrap),
	KTAP_CASE(increase__ends_at_the_line_rate),
	KTAP_CASE(run__late_is_the_same),
	KTAP_CASE(run__bounded_work),
	KTAP_CASE(run__time_is_bounded),
	KTAP_CASE(lost__halves),
	KTAP_CASE(undo__never_lowers),
	KTAP_CASE(burst__shrinks_with_the_rate),
};

int main(void)
{
	return ktap_run(cases, ARRAY_SIZE(cases));
}
