// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: a flow of timely_core.h under any sequence of events and
 * any parameters that the module accepts.
 *
 * Input: a head of struct fuzz_head, then one struct fuzz_event per event; what
 * is missing at the end is 0. Every field is mapped into the range that its
 * user may pass, so every input is a valid one. What must hold after each event
 * is in the check_*() functions; the sanitizers watch the arithmetic.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timely_core.h"
#include "timely_user.h"

#define MAX_EVENTS	256
#define SEC		1000000000ULL

struct fuzz_head {
	u64 params[TIMELY_P_MAX];
	u64 cap;
	u64 start;
	u64 now;
} __attribute__((packed));

struct fuzz_event {
	u8 what;
	u8 time;	/* how to read "elapsed" */
	u64 elapsed;
	u64 rtt;
	u32 sent;
} __attribute__((packed));

enum {
	EVENT_UPDATE,
	EVENT_WINDOW,
	EVENT_LOSS,
	EVENT_RESTART,
	EVENT_RESTART_IDLE,
	EVENT_CAP,
	EVENT_MAX
};

static u64 raw[TIMELY_P_MAX];
static struct timely_params p;

static void dump(const struct timely_flow *f)
{
	int i;

	for (i = 0; i < TIMELY_P_MAX; i++)
		fprintf(stderr, "%s %" PRIu64 "\n", timely_ranges[i].name, raw[i]);
	fprintf(stderr, "rate_q %" PRIu64 " rtt_diff_q %" PRId64 " prev_rtt_ns %"
		PRIu64 " neg_count %u app_limited %u win_ns %u win_sent %u win_rate %u\n",
		f->rate_q, f->rtt_diff_q, f->prev_rtt_ns, f->neg_count,
		f->app_limited, f->win_ns, f->win_sent, f->win_rate);
}

#define REQUIRE(f, cond) do {						\
	if (!(cond)) {							\
		fprintf(stderr, "%s:%d: not true: %s\n", __FILE__,	\
			__LINE__, #cond);				\
		dump(f);						\
		abort();						\
	}								\
} while (0)

static u64 into(u64 x, u64 min, u64 max)
{
	return x >= min && x <= max ? x : min + x % (max - min + 1);
}

/* Ranges of timely_params.h; combinations the module refuses are mended. */
static void make_params(const struct fuzz_head *head)
{
	int i;

	for (i = 0; i < TIMELY_P_MAX; i++)
		raw[i] = into(head->params[i], timely_ranges[i].min,
			      timely_ranges[i].max);
	if (timely_user_params(raw, &p))
		return;
	if (raw[TIMELY_P_MODE] == TIMELY_MODE_PATCHED)
		raw[TIMELY_P_T_LOW] = max_t(u64, raw[TIMELY_P_T_LOW], 1000);
	raw[TIMELY_P_T_HIGH] = timely_t_low_ns(raw[TIMELY_P_T_LOW],
					       (u32)raw[TIMELY_P_SEGMENT]);
	raw[TIMELY_P_RTT_FLOOR] = min_t(u64, raw[TIMELY_P_RTT_FLOOR],
					raw[TIMELY_P_T_HIGH]);
	if (!timely_user_params(raw, &p))
		abort();
}

/* "rate_q" after the floor and then the cap. */
static u64 bounded(u64 rate_q, u64 cap)
{
	return min_t(u64, max_t(u64, rate_q, p.min_rate_q),
		     timely_bps_to_rate(cap));
}

static void check_rate(const struct timely_flow *f, u64 cap)
{
	REQUIRE(f, f->rate_q == bounded(f->rate_q, cap));
}

/* A smoothed difference is a mean of differences of RTTs of up to 10 s. */
static void check_signal(const struct timely_flow *f)
{
	REQUIRE(f, f->rtt_diff_q <= (s64)(10 * SEC << 16));
	REQUIRE(f, f->rtt_diff_q >= -(s64)(10 * SEC << 16));
	REQUIRE(f, f->prev_rtt_ns <= 10 * SEC);
}

static void check_update(const struct timely_flow *old,
			 const struct timely_flow *f,
			 const struct timely_result *res, u64 rtt, u64 now,
			 u64 cap)
{
	u64 steps = res->branch == TIMELY_BRANCH_HAI ? p.hai_factor : 1;
	/* The cap may have changed since the last event; now it rules. */
	u64 before = bounded(old->rate_q, cap);

	check_signal(f);
	REQUIRE(f, f->last_ns == max_t(u64, old->last_ns, now));
	REQUIRE(f, res->scale_ppm <= 1000000);
	REQUIRE(f, res->gradient_ppm <= 1024000000);
	REQUIRE(f, res->gradient_ppm >= -1024000000);
	REQUIRE(f, res->held <= old->app_limited);
	REQUIRE(f, f->app_limited == old->app_limited);

	REQUIRE(f, f->rate_q >= bounded(old->rate_q / 2, cap));
	REQUIRE(f, f->rate_q <= bounded(old->rate_q + steps * p.delta_q, cap));
	if (old->app_limited || res->branch == TIMELY_BRANCH_HIGH ||
	    res->branch == TIMELY_BRANCH_DECREASE)
		REQUIRE(f, f->rate_q <= before);
	if (res->branch == TIMELY_BRANCH_LOW ||
	    res->branch == TIMELY_BRANCH_INCREASE ||
	    res->branch == TIMELY_BRANCH_HAI)
		REQUIRE(f, f->rate_q >= before);
	/* No time passed: nothing to weigh. */
	if (old->last_ns && now <= old->last_ns)
		REQUIRE(f, f->rate_q == before);

	/* Below the floor there is no queue, and nothing to compare. */
	REQUIRE(f, !f->prev_rtt_ns == (rtt < p.rtt_floor_ns));
	if (rtt < p.rtt_floor_ns) {
		REQUIRE(f, !f->rtt_diff_q && !f->neg_count);
		rtt = p.rtt_floor_ns;
	}
	switch (res->branch) {
	case TIMELY_BRANCH_LOW:
		REQUIRE(f, rtt < p.t_low_ns);
		break;
	case TIMELY_BRANCH_HIGH:
		REQUIRE(f, rtt > p.t_high_ns);
		break;
	default:
		REQUIRE(f, rtt >= p.t_low_ns);
		REQUIRE(f, rtt <= p.t_high_ns || rtt > 10 * SEC);
		if (p.mode == TIMELY_MODE_PATCHED)
			REQUIRE(f, res->branch == TIMELY_BRANCH_WEIGHTED);
		else
			REQUIRE(f, res->branch < TIMELY_BRANCH_WEIGHTED);
		break;
	}
	if (res->branch == TIMELY_BRANCH_HAI)
		REQUIRE(f, f->neg_count >= p.hai_thresh);
	if (res->branch == TIMELY_BRANCH_HAI ||
	    res->branch == TIMELY_BRANCH_INCREASE)
		REQUIRE(f, res->gradient_ppm <= 0);
}

/* Below Tlow, between the thresholds, above Thigh. */
static int zone(const struct timely_result *res)
{
	return res->branch == TIMELY_BRANCH_LOW ? 0 :
	       res->branch == TIMELY_BRANCH_HIGH ? 2 : 1;
}

/*
 * In one zone, from one state, a longer RTT never leaves a higher rate. What is below
 * the floor is not compared with the state.
 */
static void check_monotone(const struct timely_flow *old, u64 rtt, u64 other,
			   u64 now, u64 cap)
{
	struct timely_flow near = *old, far = *old;
	struct timely_result near_res, far_res;

	timely_update(&near, &p, min_t(u64, rtt, other), now, cap, &near_res);
	timely_update(&far, &p, max_t(u64, rtt, other), now, cap, &far_res);
	REQUIRE(old, zone(&near_res) <= zone(&far_res));
	if (min_t(u64, rtt, other) < p.rtt_floor_ns)
		return;
	REQUIRE(old, near.rtt_diff_q <= far.rtt_diff_q);
	if (zone(&near_res) == zone(&far_res))
		REQUIRE(old, near.rate_q >= far.rate_q);
}

static void check_window(const struct timely_flow *old,
			 const struct timely_flow *f)
{
	REQUIRE(f, f->rate_q == old->rate_q);
	REQUIRE(f, f->rtt_diff_q == old->rtt_diff_q);
	REQUIRE(f, f->win_ns < SEC);
	REQUIRE(f, f->win_sent < 1U << 31);
	REQUIRE(f, f->win_rate <= timely_rate_bps(f) >> 6);
	REQUIRE(f, f->app_limited <= 1);
	REQUIRE(f, p.app_limited_percent || f->app_limited <= old->app_limited);
}

static u64 elapsed_of(const struct fuzz_event *e)
{
	switch (e->time % 4) {
	case 0:
		return e->elapsed % (2 * p.min_rtt_ns);
	case 1:
		return e->elapsed % 1000;
	case 2:
		return e->elapsed % (20 * SEC);
	default:
		return e->elapsed;
	}
}

/* Around the thresholds, about as often as anywhere. */
static u64 rtt_of(const struct fuzz_event *e)
{
	switch ((e->time >> 2) % 8) {
	case 0:
		return p.t_low_ns + e->rtt % 3;
	case 1:
		return p.t_high_ns + e->rtt % 3;
	case 2:
		return max_t(u64, p.t_low_ns, 1) - 1;
	case 3:
		return p.t_low_ns + e->rtt % (p.t_high_ns - p.t_low_ns + 1);
	case 4:
		return e->rtt;
	default:
		return e->rtt % (10 * SEC + 2);
	}
}

static void one_event(struct timely_flow *f, const struct fuzz_event *e, u64 *now,
		      u64 *cap)
{
	struct timely_flow old = *f;
	struct timely_result res;
	u64 rtt = rtt_of(e), elapsed = elapsed_of(e), stamp;

	switch (e->what % EVENT_MAX) {
	case EVENT_UPDATE:
		/* the topmost bit sends time back */
		stamp = e->time & 0x80 ? *now - min_t(u64, *now, elapsed) :
					 *now + elapsed;
		check_monotone(&old, rtt, e->rtt, stamp, *cap);
		timely_update(f, &p, rtt, stamp, *cap, &res);
		check_update(&old, f, &res, rtt, stamp, *cap);
		*now = max_t(u64, *now, stamp);
		break;
	case EVENT_WINDOW:
		timely_window(f, &p, elapsed, e->sent & 0x7fffffff, rtt);
		check_window(&old, f);
		break;
	case EVENT_LOSS:
		timely_loss(f, &p, *cap);
		REQUIRE(f, f->rate_q <= bounded(old.rate_q, *cap));
		REQUIRE(f, !f->neg_count);
		break;
	case EVENT_RESTART:
		timely_restart(f, &p, e->rtt, *cap, *now);
		REQUIRE(f, !f->rtt_diff_q && !f->prev_rtt_ns && !f->neg_count);
		REQUIRE(f, !f->app_limited && !f->win_ns && !f->win_sent);
		break;
	case EVENT_RESTART_IDLE:
		timely_restart_idle(f, &p, e->rtt, *cap, *now);
		REQUIRE(f, f->rate_q <= bounded(old.rate_q, *cap));
		REQUIRE(f, !f->rtt_diff_q && !f->prev_rtt_ns && !f->neg_count);
		REQUIRE(f, f->app_limited == old.app_limited && f->win_rate <= old.win_rate);
		REQUIRE(f, f->win_ns == old.win_ns && f->win_sent == old.win_sent);
		break;
	case EVENT_CAP:
		/* seen by the next event that changes the rate */
		*cap = into(e->rtt, 1, TIMELY_MAX_RATE_BPS);
		return;
	}
	if (e->what % EVENT_MAX != EVENT_WINDOW)
		check_rate(f, *cap);
}

static void check_values(const struct fuzz_head *head)
{
	u32 a = (u32)head->start, b = (u32)head->now & 0xffffff;
	u64 rate = into(head->cap, 1, TIMELY_MAX_RATE_BPS);
	struct timely_flow none = { 0 };

	REQUIRE(&none, timely_start_bps(rate, a) <= rate);
	REQUIRE(&none, timely_serialisation_ns(b, rate) <= b * SEC);
	REQUIRE(&none, q30_mul(head->now, a & 0x3fffffff) <= head->now);
	REQUIRE(&none, q30_mul(head->now, TIMELY_ONE) == head->now);
	REQUIRE(&none, p.t_low_ns >= raw[TIMELY_P_T_LOW]);
	REQUIRE(&none, p.t_low_ns <= 10 * SEC);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fuzz_head head = { 0 };
	struct fuzz_event e;
	struct timely_flow f;
	u64 now, cap;
	size_t n;
	int i;

	n = size < sizeof(head) ? size : sizeof(head);
	memcpy(&head, data, n);
	data += n;
	size -= n;

	make_params(&head);
	check_values(&head);
	cap = raw[TIMELY_P_LINE_RATE] ? raw[TIMELY_P_LINE_RATE] * MBIT :
					into(head.cap, 1, TIMELY_MAX_RATE_BPS);
	/* Half of the clock's range is 292 years; it does not wrap. */
	now = head.now >> 1;
	timely_restart(&f, &p, head.start, cap, now);
	check_rate(&f, cap);

	for (i = 0; i < MAX_EVENTS && size; i++) {
		memset(&e, 0, sizeof(e));
		n = size < sizeof(e) ? size : sizeof(e);
		memcpy(&e, data, n);
		data += n;
		size -= n;
		if (now > UINT64_MAX / 2 + (UINT64_MAX >> 2))
			break;
		if (e.time % 4 == 3)
			e.elapsed >>= 2;
		one_event(&f, &e, &now, &cap);
	}
	return 0;
}
