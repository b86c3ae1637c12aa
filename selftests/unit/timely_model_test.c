// SPDX-License-Identifier: GPL-2.0
/*
 * timely_core.h against the double-precision model of timely_model.c, over
 * random parameters and random signals.
 *
 *	timely_model_test [SEED [STEPS]]
 *
 * The model runs in open loop: it sees the rate of the core only right after the
 * two took different branches. That is allowed only where the resolution of the
 * fixed-point numbers leaves the branch open:
 *
 *  - RTTs and thresholds are whole nanoseconds on both sides: below Tlow and
 *    above Thigh must agree always.
 *  - The gradient is 0 for |rtt_diff| < 1 ns. Its sign is open while |rtt_diff| is no
 *    further from 1 ns than the rounding accumulated in it. Each update keeps 1 - alpha of
 *    the rounding so far. It adds less than 2^-16 ns (the resolution of rtt_diff) and 2^-30
 *    (that of alpha) of the step. A gradient below 2^-30 is 0 in the core.
 *  - The 80 % verdict is open within the core's units of rate (64 bytes/s) and
 *    time (16 ns) and one byte.
 *
 * How often these cases come up is counted, and must be rare.
 *
 * Limits of the comparison: at most 2^18 completions per minRTT, because s has
 * a resolution of 2^-30, and 2^-12 of an increase is what 0.1 % can bear.
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "timely_core.h"
#include "timely_user.h"
#include "timely_model.h"
#include "ktap.h"
#include "random.h"

#define DEFAULT_SEED	20150817ULL
#define DEFAULT_STEPS	2000000ULL

#define TOLERANCE	1e-3	/* relative error of the rate */
#define RARE		1e-4	/* share of the steps that may be open */
#define MOST_PER_RTT	(1ULL << 18)	/* completions per minRTT */
#define MAX_REPORTS	5
#define SEC		1000000000ULL

static u64 seed = DEFAULT_SEED;
static u64 steps_wanted = DEFAULT_STEPS;

static struct {
	u64 sets, steps, windows;
	u64 law[MODEL_PATCHED + 1];
	u64 limited, held, halved, at_floor, at_cap, inside;
	u64 open_branch, open_sign, open_verdict;
	u64 bad_rate, bad_branch, bad_diff, bad_verdict;
	double worst_rate;
} stat;

/* Random numbers ----------------------------------------------------------- */

static u64 clamp_u64(double x, u64 low, u64 high)
{
	if (!(x > (double)low))
		return low;
	return x < (double)high ? (u64)x : high;
}

/* The whole range of a parameter, or what is left of it. */
static u64 random_param(enum timely_param_id id, u64 low, u64 high)
{
	low = max_t(u64, low, timely_ranges[id].min);
	high = min_t(u64, high, timely_ranges[id].max);
	return clamp_u64(log_uniform(low ? low : 1, (double)high + 1), low, high);
}

/* One set of parameters ---------------------------------------------------- */

enum signal {
	SIGNAL_WALK,	/* random walk around the thresholds */
	SIGNAL_QUEUE,	/* a queue that fills and drains at random slopes */
	SIGNAL_EDGE,	/* within 1 ns of the thresholds, often */
	SIGNAL_WILD,	/* anything from 1 us to 10 s, and beyond */
	SIGNAL_MAX
};

struct run {
	u64 raw[TIMELY_P_MAX];
	struct timely_params p;
	struct model_params mp;
	struct timely_flow f;
	struct model m;
	u64 cap;		/* bytes/s */
	u64 now;		/* ns */
	enum signal signal;
	double rtt, slope;	/* ns; ns per ns */
	double app_share;	/* of the target that the application sends */
	double credit;		/* bytes it may send */
	double width;		/* ns, what rounding may have done to rtt_diff */
	double worst;		/* relative error of the rate so far */
};

static void random_params(struct run *run)
{
	u64 *raw = run->raw;
	double t_low;

	timely_user_defaults(raw);
	run->cap = (u64)log_uniform(MBIT, 1600000.0 * MBIT);
	raw[TIMELY_P_MODE] = random_u64() & 1;
	raw[TIMELY_P_SEGMENT] = random_param(TIMELY_P_SEGMENT, 0, UINT64_MAX);
	raw[TIMELY_P_MIN_RTT] = random_param(TIMELY_P_MIN_RTT, 0, UINT64_MAX);
	if (chance(0.8))
		t_low = (double)raw[TIMELY_P_MIN_RTT] * log_uniform(0.5, 10);
	else
		t_low = log_uniform(1, 10.0 * SEC);
	raw[TIMELY_P_T_LOW] = clamp_u64(t_low, 1000, 10 * SEC);
	if (!raw[TIMELY_P_MODE] && chance(0.05))
		raw[TIMELY_P_T_LOW] = 0;
	t_low = (double)timely_t_low_ns(raw[TIMELY_P_T_LOW],
					(u32)raw[TIMELY_P_SEGMENT]);
	raw[TIMELY_P_T_HIGH] = (u64)t_low;
	if (chance(0.9))
		raw[TIMELY_P_T_HIGH] = clamp_u64(fmax(t_low, 1000) *
						 log_uniform(1, 30),
						 (u64)t_low, 10 * SEC);
	raw[TIMELY_P_RTT_FLOOR] = 0;
	if (chance(0.3))
		raw[TIMELY_P_RTT_FLOOR] = (u64)((double)raw[TIMELY_P_T_HIGH] *
						uniform(0, 1));
	raw[TIMELY_P_MIN_RATE] = random_param(TIMELY_P_MIN_RATE, 0,
					      run->cap / KBIT);
	raw[TIMELY_P_DELTA] = random_param(TIMELY_P_DELTA, 0,
					   chance(0.9) ? run->cap / KBIT / 8 :
							 UINT64_MAX);
	if (chance(0.7))
		raw[TIMELY_P_ALPHA] = random_param(TIMELY_P_ALPHA, 0, UINT64_MAX);
	if (chance(0.7))
		raw[TIMELY_P_BETA] = random_param(TIMELY_P_BETA, 0, UINT64_MAX);
	raw[TIMELY_P_BETA_PATCHED] = random_param(TIMELY_P_BETA_PATCHED, 0,
						  UINT64_MAX);
	if (chance(0.5))
		raw[TIMELY_P_HAI_THRESH] = random_param(TIMELY_P_HAI_THRESH, 0,
							UINT64_MAX);
	raw[TIMELY_P_HAI_FACTOR] = random_param(TIMELY_P_HAI_FACTOR, 0,
						UINT64_MAX);
	raw[TIMELY_P_APP_LIMITED] = chance(0.7) ? 80 : random_u64() % 101;
	raw[TIMELY_P_LOSS_BETA] = random_u64() % 1001;
}

/* The model's parameters from what the operator wrote, not from the core's. */
static void model_params(struct run *run)
{
	const u64 *raw = run->raw;
	double segment = (double)raw[TIMELY_P_SEGMENT];
	double t_low = (double)raw[TIMELY_P_T_LOW] * fmax(segment, 16384) / 16384;

	run->mp = (struct model_params) {
		.patched = raw[TIMELY_P_MODE] != 0,
		.alpha = (double)raw[TIMELY_P_ALPHA] / 1000,
		.beta = (double)raw[TIMELY_P_BETA] / 1000,
		.beta_patched = (double)raw[TIMELY_P_BETA_PATCHED] / 1000,
		.loss_beta = (double)raw[TIMELY_P_LOSS_BETA] / 1000,
		.delta = (double)raw[TIMELY_P_DELTA] * 125,
		.floor = (double)raw[TIMELY_P_MIN_RATE] * 125,
		.cap = (double)run->cap,
		.t_low = fmin(floor(t_low), 10e9),
		.t_high = (double)raw[TIMELY_P_T_HIGH],
		.min_rtt = (double)raw[TIMELY_P_MIN_RTT],
		.least_rtt = (double)raw[TIMELY_P_RTT_FLOOR],
		.segment = segment,
		.share = (double)raw[TIMELY_P_APP_LIMITED] / 100,
		.hai_after = (int)raw[TIMELY_P_HAI_THRESH],
		.hai_n = (double)raw[TIMELY_P_HAI_FACTOR],
	};
}

static double core_rate(const struct run *run)
{
	return (double)run->f.rate_q / 65536;
}

static void restart(struct run *run, u64 bps, bool idle)
{
	if (idle) {
		timely_restart_idle(&run->f, &run->p, bps, run->cap, run->now);
		model_start_idle(&run->m, &run->mp, (double)bps);
	} else {
		timely_restart(&run->f, &run->p, bps, run->cap, run->now);
		model_start(&run->m, &run->mp, (double)bps);
	}
	run->width = 0;
}

static void random_run(struct run *run)
{
	memset(run, 0, sizeof(*run));
	/* RTTs far below minRTT would have no gradient that Q30 can tell from 0. */
	do
		random_params(run);
	while (!timely_user_params(run->raw, &run->p) ||
	       run->p.t_high_ns < run->p.min_rtt_ns / 1000);
	model_params(run);
	run->now = 1 + random_u64() % (1ULL << 62);
	run->signal = random_u64() % SIGNAL_MAX;
	/* Steps of 1 ns are below the resolution of the gradient there. */
	if (run->signal == SIGNAL_EDGE && run->p.min_rtt_ns > SEC / 100)
		run->signal = SIGNAL_WALK;
	run->rtt = run->mp.t_low;
	run->app_share = 1;
	restart(run, (u64)log_uniform(run->mp.floor, run->mp.cap), false);
}

/* The signal --------------------------------------------------------------- */

static u64 random_gap(const struct run *run)
{
	double min_rtt = run->mp.min_rtt;
	u64 shortest = run->p.min_rtt_ns / MOST_PER_RTT + 1;
	double gap;

	if (chance(0.05))
		return 0;
	if (chance(0.5))
		gap = log_uniform((double)shortest, 2 * min_rtt);
	else if (chance(0.8))
		/* segments at the target rate */
		gap = run->mp.segment * 1e9 / core_rate(run) * uniform(0.5, 1.5);
	else
		gap = min_rtt * log_uniform(1, 100);
	return clamp_u64(gap, shortest, 10 * SEC);
}

/* An RTT that stays at the bound would be a signal without a gradient. */
static double bounce(double rtt, double low, double high)
{
	high = fmin(high, 10e9);
	low = fmin(low, high / 2);
	return rtt < low || rtt > high ? log_uniform(low, high) : rtt;
}

static u64 random_rtt(struct run *run, u64 gap)
{
	double low = fmax(run->mp.t_low, 1000), high = run->mp.t_high;
	double rtt = run->rtt;

	switch (run->signal) {
	case SIGNAL_WALK:
		rtt *= exp(uniform(-0.2, 0.2));
		rtt = bounce(rtt, low / 2, fmax(high, low) * 2);
		break;
	case SIGNAL_QUEUE:
		if (chance(0.1))
			run->slope = uniform(-1, 1) * uniform(0, 1);
		rtt += run->slope * fmin((double)gap, run->mp.min_rtt) +
		       uniform(-0.002, 0.002) * run->mp.min_rtt;
		rtt = bounce(rtt, low / 4, fmax(high, low) * 1.5);
		break;
	case SIGNAL_EDGE:
		if (chance(0.5))
			rtt = chance(0.5) ? run->mp.t_low : high;
		else
			rtt = log_uniform(low / 2, fmax(high, low) * 2);
		rtt += (double)(random_u64() % 3) - 1;
		break;
	default:
		rtt = log_uniform(1000, chance(0.9) ? 10e9 : 40e9);
		break;
	}
	run->rtt = fmax(rtt, 1);
	return (u64)run->rtt;
}

static u32 random_sent(struct run *run, u64 gap)
{
	double sent;

	if (chance(0.02))
		run->app_share = chance(0.3) ? 1 :
				 chance(0.2) ? 0 : uniform(0.5, 1.1);
	run->credit += run->app_share * core_rate(run) * (double)gap / 1e9;
	sent = fmin(floor(run->credit), 2147483647);
	run->credit = run->credit - sent < 1 ? run->credit - sent : 0;
	return (u32)sent;
}

/* The comparison ----------------------------------------------------------- */

static void report(const struct run *run, const char *what, u64 *count)
{
	int i;

	if ((*count)++ >= MAX_REPORTS)
		return;
	printf("# set %" PRIu64 " step %" PRIu64 ": %s\n", stat.sets,
	       stat.steps, what);
	printf("#   core: rate %.9g rtt_diff %.9g negatives %u limited %u window %u ns %u bytes\n",
	       core_rate(run), (double)run->f.rtt_diff_q / 65536,
	       run->f.neg_count, run->f.app_limited, run->f.win_ns,
	       run->f.win_sent);
	printf("#  model: rate %.9g rtt_diff %.9g negatives %d limited %d window %.9g ns %.9g bytes\n",
	       run->m.rate, run->m.rtt_diff, run->m.negatives, run->m.limited,
	       run->m.win.time, run->m.win.sent);
	if (*count > 1)
		return;
	printf("#  cap %" PRIu64 " bytes/s", run->cap);
	for (i = 0; i < TIMELY_P_MAX; i++)
		printf(" %s %" PRIu64, timely_ranges[i].name, run->raw[i]);
	printf("\n");
}

static void compare_window(struct run *run, u64 gap, u32 sent, u64 rtt)
{
	struct timely_flow *f = &run->f;
	struct model *m = &run->m;
	struct model_window before = m->win;
	bool any = f->win_ns || gap, closed;
	double entitled, doubt, total;
	struct model_verdict v;

	timely_window(f, &run->p, gap, sent, rtt);
	closed = any && !f->win_ns;
	v = model_account(m, &run->mp, (double)gap, sent, (double)rtt);

	before.time = fmin(before.time + (double)gap, SEC);
	before.lowest = fmin(before.lowest, m->rate);
	total = before.sent + sent;
	entitled = v.entitled;
	doubt = entitled * (64 / before.lowest + run->worst) +
		before.lowest * 16e-9 + 1;

	stat.windows += closed;
	if (closed != v.closed) {
		stat.open_verdict++;
		if (fabs(entitled - 10 * run->mp.segment) > doubt)
			report(run, "the window closed on one side only",
			       &stat.bad_verdict);
		before.sent = total;
		m->win = closed ? (struct model_window) { .lowest = m->rate } :
				  before;
	} else if (m->limited != f->app_limited) {
		stat.open_verdict++;
		if (fabs(total - run->mp.share * entitled) > run->mp.share * doubt)
			report(run, "different verdicts on the application",
			       &stat.bad_verdict);
	}
	m->limited = f->app_limited;
	stat.limited += closed && f->app_limited;
}

static bool same_branch(u8 branch, enum model_law law)
{
	static const enum model_law laws[] = {
		[TIMELY_BRANCH_LOW] = MODEL_BELOW_TLOW,
		[TIMELY_BRANCH_HIGH] = MODEL_ABOVE_THIGH,
		[TIMELY_BRANCH_INCREASE] = MODEL_FALLING,
		[TIMELY_BRANCH_HAI] = MODEL_FALLING_HAI,
		[TIMELY_BRANCH_DECREASE] = MODEL_RISING,
		[TIMELY_BRANCH_WEIGHTED] = MODEL_PATCHED,
	};

	return laws[branch] == law;
}

static bool by_gradient(enum model_law law)
{
	return law == MODEL_FALLING || law == MODEL_FALLING_HAI ||
	       law == MODEL_RISING;
}

static int sign_of(double rtt_diff)
{
	return (rtt_diff >= MODEL_NO_DIFF) - (rtt_diff <= -MODEL_NO_DIFF);
}

static void compare_update(struct run *run, s64 elapsed, u64 rtt)
{
	struct timely_flow *f = &run->f;
	struct model *m = &run->m;
	u64 stamp = run->now + (u64)elapsed;
	double before = core_rate(run);
	struct timely_result res;
	enum model_law law;
	double step, error;
	int sign;

	step = m->prev_rtt < 0 ? 0 : fmin((double)rtt, 10e9) - m->prev_rtt;
	step -= m->rtt_diff;
	if ((double)rtt < run->mp.least_rtt) {
		run->width = 0;
		step = 0;
	}
	run->width = (1 - run->mp.alpha) * run->width + 1.0 / 65536 +
		     (fabs(step) + run->width) / (1 << 30);

	timely_update(f, &run->p, rtt, stamp, run->cap, &res);
	law = model_completion(m, &run->mp, (double)rtt, (double)elapsed);
	if (elapsed > 0)
		run->now = stamp;

	stat.law[law]++;
	stat.held += res.held;
	if (fabs((double)res.rtt_diff_ns - m->rtt_diff) > 1 + run->width)
		report(run, "different smoothed RTT difference", &stat.bad_diff);

	sign = sign_of((double)f->rtt_diff_q / 65536);
	if (sign != sign_of(m->rtt_diff)) {
		stat.open_sign++;
		if (fabs(fabs(m->rtt_diff) - MODEL_NO_DIFF) > run->width)
			report(run, "different sign of the gradient",
			       &stat.bad_branch);
		m->negatives = f->neg_count;
		m->rate = core_rate(run);
	}
	if (!same_branch(res.branch, law)) {
		stat.open_branch++;
		if (!by_gradient(law) || res.branch < TIMELY_BRANCH_INCREASE ||
		    fabs(m->rtt_diff) > run->width +
					fmax(MODEL_NO_DIFF, run->mp.min_rtt / (1 << 30)))
			report(run, "different branches", &stat.bad_branch);
		m->rate = core_rate(run);
	}

	error = fabs(core_rate(run) - m->rate) / m->rate;
	run->worst = fmax(run->worst, error);
	stat.worst_rate = fmax(stat.worst_rate, error);
	if (!(error < TOLERANCE)) {
		report(run, "different rates", &stat.bad_rate);
		m->rate = core_rate(run);
	}

	if (core_rate(run) <= run->mp.floor)
		stat.at_floor++;
	else if (core_rate(run) >= run->mp.cap)
		stat.at_cap++;
	else
		stat.inside++;
	stat.halved += fabs(core_rate(run) / before - 0.5) < 1e-6;
}

static void one_step(struct run *run)
{
	u64 gap = random_gap(run);
	u64 rtt = random_rtt(run, gap);
	s64 elapsed = (s64)gap;

	/* stamps out of order, by up to 100 us */
	if (!gap && chance(0.3))
		elapsed = -(s64)(random_u64() % 100000);
	if (elapsed < 0 && run->now < 100000)
		elapsed = 0;

	compare_window(run, gap, random_sent(run, gap), rtt);
	compare_update(run, elapsed, rtt);
	if (chance(0.002)) {
		timely_loss(&run->f, &run->p, run->cap);
		model_loss(&run->m, &run->mp);
	}
	if (chance(0.002))
		restart(run, (u64)log_uniform(1, 2 * run->mp.cap), false);
	/* It rounds the rate to whole bytes/s: 1e-5 at 1 Mbit/s. */
	if (chance(0.002) && core_rate(run) > MBIT)
		restart(run, (u64)log_uniform(MBIT, 2 * run->mp.cap), true);
	stat.steps++;
}

static void compare(void)
{
	struct run run;
	u64 left;

	random_state = seed;
	while (stat.steps < steps_wanted) {
		stat.sets++;
		random_run(&run);
		for (left = (u64)log_uniform(50, 5000); left; left--)
			one_step(&run);
	}
	printf("# seed %" PRIu64 ": %" PRIu64 " steps, %" PRIu64
	       " sets of parameters, %" PRIu64 " windows\n", seed, stat.steps,
	       stat.sets, stat.windows);
	printf("# Tlow %" PRIu64 ", Thigh %" PRIu64 ", falling %" PRIu64
	       ", HAI %" PRIu64 ", rising %" PRIu64 ", patched %" PRIu64 "\n",
	       stat.law[MODEL_BELOW_TLOW], stat.law[MODEL_ABOVE_THIGH],
	       stat.law[MODEL_FALLING], stat.law[MODEL_FALLING_HAI],
	       stat.law[MODEL_RISING], stat.law[MODEL_PATCHED]);
	printf("# between floor and cap %" PRIu64 ", at the floor %" PRIu64
	       ", at the cap %" PRIu64 ", halved %" PRIu64 "\n", stat.inside,
	       stat.at_floor, stat.at_cap, stat.halved);
	printf("# app limited verdicts %" PRIu64 ", increases held %" PRIu64 "\n",
	       stat.limited, stat.held);
}

/* The cases ---------------------------------------------------------------- */

static void core__rate_as_the_model(void)
{
	printf("# largest relative error %.3g\n", stat.worst_rate);
	CHECK(stat.worst_rate < TOLERANCE);
	CHECK_EQ(stat.bad_rate, 0);
}

static void core__rtt_diff_as_the_model(void)
{
	CHECK_EQ(stat.bad_diff, 0);
}

static void core__branch_as_the_model(void)
{
	printf("# within a rounding width: sign %" PRIu64 ", branch %" PRIu64 "\n",
	       stat.open_sign, stat.open_branch);
	CHECK_EQ(stat.bad_branch, 0);
	CHECK((double)stat.open_sign < RARE * (double)stat.steps);
	CHECK((double)stat.open_branch < RARE * (double)stat.steps);
}

static void core__app_limited_as_the_model(void)
{
	printf("# within a rounding width: %" PRIu64 "\n", stat.open_verdict);
	CHECK_EQ(stat.bad_verdict, 0);
	CHECK((double)stat.open_verdict < RARE * (double)stat.steps);
}

/* A comparison of nothing would always pass. */
static void model__every_law_was_compared(void)
{
	unsigned int i;

	CHECK(stat.steps >= steps_wanted);
	for (i = 0; i <= MODEL_PATCHED; i++)
		CHECK(stat.law[i] >= stat.steps / 200);
	CHECK(stat.inside >= stat.steps / 4);
	CHECK(stat.halved >= stat.steps / 1000);
	CHECK(stat.held >= stat.steps / 100);
	CHECK(stat.limited >= stat.windows / 20);
	CHECK(stat.windows - stat.limited >= stat.windows / 20);
}

static bool parse(const char *text, u64 *value)
{
	char *end;

	*value = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end;
}

int main(int argc, char **argv)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(core__rate_as_the_model),
		KTAP_CASE(core__rtt_diff_as_the_model),
		KTAP_CASE(core__branch_as_the_model),
		KTAP_CASE(core__app_limited_as_the_model),
		KTAP_CASE(model__every_law_was_compared),
	};

	if (argc > 3 || (argc > 1 && !parse(argv[1], &seed)) ||
	    (argc > 2 && !parse(argv[2], &steps_wanted))) {
		fprintf(stderr, "usage: %s [SEED [STEPS]], both whole numbers\n",
			argv[0]);
		return 2;
	}
	compare();
	return ktap_run(cases, ARRAY_SIZE(cases));
}
