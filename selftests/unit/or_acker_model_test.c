// SPDX-License-Identifier: GPL-2.0
/*
 * or_acker_core.h against the model of or_acker_model.c, over random parameters and
 * random sequences of events: flows of two hosts, which share the bucket of a CPU.
 *
 *	or_acker_model_test [SEED [STEPS]]
 *
 * All of it are whole numbers: core and model must agree exactly, always.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "or_acker_core.h"
#include "or_acker_model.h"
#include "ktap.h"
#include "random.h"

#define DEFAULT_SEED	20210412ULL
#define DEFAULT_STEPS	2000000ULL
#define FLOWS		3
#define HOSTS		2
#define MAX_REPORTS	5

static u64 seed = DEFAULT_SEED, steps_wanted = DEFAULT_STEPS;

static struct {
	u64 steps, packets[MODEL_NONE_AT_END + 1], waits[MODEL_NONE_AT_END + 1];
	u64 reasons[MODEL_NO_REASON + 1], answers[MODEL_IDLE + 1], learning, ahead;
	u64 bad_packet, bad_wait, bad_answer, bad_report;
} stat;

static struct run {
	struct or_acker_rules r;
	u32 cpu_interval;
	struct model_rules mr;
	struct or_acker_track t[FLOWS];
	struct model_flow m[FLOWS];
	struct or_acker_path path[HOSTS];
	struct model_host host[HOSTS];
	u64 cpu_tat;
	struct model_bucket cpu;
	u64 now, until[FLOWS];
	double seq[FLOWS];
	u32 isn[FLOWS], count[FLOWS];
	double pace;		/* ns between events, mean */
	double small;		/* share of packets with a few bytes */
} run;

static struct or_acker_path *path_of(int i)
{
	return &run.path[i % HOSTS];
}

static struct model_host *host_of(int i)
{
	return &run.host[i % HOSTS];
}

static void start_flow(int i)
{
	struct or_acker_window any = { 0, ~0U };

	run.count[i] = (u32)random_u64();
	run.isn[i] = (u32)random_u64();
	run.seq[i] = 0;
	or_acker_track_init(&run.t[i], &any, run.count[i]);
	model_start(&run.m[i]);
	run.t[i].costly = chance(0.3);
	run.m[i].costly = run.t[i].costly;
}

static void start(void)
{
	int i;

	memset(&run, 0, sizeof(run));
	run.r = (struct or_acker_rules) {
		.ack_packets = chance(0.2) ? 1 :
			       (u32)log_uniform(1, chance(0.5) ? 255.9 : 10),
		.ack_bytes = (u32)log_uniform(1, 1e6),
		.ack_delay_ns = (u32)log_uniform(1e3, 1e7),
		.path_interval_ns = chance(0.3) ? 0 : (u32)log_uniform(1, 1e9),
		.sub_interval_ns = (u32)log_uniform(100, chance(0.3) ? 1e9 : 1e4),
	};
	run.cpu_interval = (u32)log_uniform(100, chance(0.3) ? 1e9 : 1e4);
	run.mr = (struct model_rules) {
		.packets = run.r.ack_packets, .bytes = run.r.ack_bytes,
		.delay = run.r.ack_delay_ns, .path = run.r.path_interval_ns,
		.sub_interval = run.r.sub_interval_ns, .cpu_interval = run.cpu_interval,
	};
	/* More than the longest interval after the boot. */
	run.now = 2000000000ULL + random_u64() % 1000000000000ULL;
	run.pace = log_uniform(100, 1e6);
	run.small = chance(0.5) ? 1 : 0.1;
	for (i = 0; i < HOSTS; i++)
		model_host_start(&run.host[i]);
	for (i = 0; i < FLOWS; i++)
		start_flow(i);
}

static void complain(u64 *bad, const char *what, int i, int got, int want)
{
	if ((*bad)++ < MAX_REPORTS)
		printf("# step %" PRIu64 ", flow %d: %s %d, model %d\n",
		       stat.steps, i, what, got, want);
}

static int todo_of(enum or_acker_next next)
{
	switch (next) {
	case OR_ACKER_NEXT_SEND:	return MODEL_SEND;
	case OR_ACKER_NEXT_WAIT:	return MODEL_WAIT;
	case OR_ACKER_NEXT_QUIET:	return MODEL_NONE_AT_END;
	default:			return MODEL_NOTHING;
	}
}

static int reason_of(u8 why)
{
	return why == OR_ACKER_WHY_PACKETS ? MODEL_PACKETS_DUE :
	       why == OR_ACKER_WHY_BYTES ? MODEL_BYTES_DUE :
	       why == OR_ACKER_WHY_PATH ? MODEL_PATH_DUE : MODEL_NO_REASON;
}

static void packet(int i)
{
	struct or_acker_packet p = {
		/* A stamp may be of a moment ago, or of a clock that is a little ahead. */
		.stamp_ns = run.now - random_u64() % 1000 + (chance(0.05) ? 2000 : 0),
		.payload = chance(run.small) ? 1 + random_u64() % 8 : 1448,
		.headers = chance(0.5) ? 40 : 60,
		.segs = 1, .end = chance(0.2),
	};
	enum model_reason reason;
	enum model_todo todo;
	enum or_acker_next next;

	if (chance(0.1)) {
		p.segs = 1 + random_u64() % 45;
		p.payload *= p.segs;
	}
	/* Twice, sometimes. */
	if (chance(0.05))
		run.seq[i] = fmax(0, run.seq[i] - (double)p.payload);
	p.seq = run.isn[i] + (u32)(u64)fmod(run.seq[i], 4294967296.0);
	next = or_acker_track_packet(&run.t[i], &run.r, path_of(i), &p);
	todo = model_packet(&run.m[i], &run.mr, host_of(i), (struct model_packet) {
		.at = p.stamp_ns, .bytes = p.payload, .headers = p.headers,
		.segs = p.segs, .seq = run.seq[i], .end = p.end,
	}, &reason);
	run.seq[i] += p.payload;
	stat.packets[todo]++;
	stat.reasons[reason]++;
	stat.learning += run.m[i].limit < run.mr.packets;
	if (todo_of(next) != (int)todo)
		complain(&stat.bad_packet, "what follows it", i, next, todo);
	if (reason != MODEL_NO_REASON && reason_of(run.t[i].why) != (int)reason)
		complain(&stat.bad_packet, "reason", i, run.t[i].why, reason);
	if (next == OR_ACKER_NEXT_WAIT)
		run.until[i] = or_acker_track_wait_ns(&run.t[i], &run.r);
}

/* @queued: behind the poll, else by the timer. */
static void due(int i, bool queued)
{
	static const int answers[] = {
		[OR_ACKER_ADMITTED] = MODEL_YES, [OR_ACKER_HELD_CREDIT] = MODEL_NO_CREDIT,
		[OR_ACKER_HELD_SUB] = MODEL_NO_SUB, [OR_ACKER_HELD_CPU] = MODEL_NO_CPU,
	};
	u32 cost = chance(0.5) ? 64 : 84;
	struct or_acker_report report;
	struct model_ack ack;
	int answer = MODEL_IDLE;
	u32 seq;

	if (queued) {
		run.t[i].due = false;
		run.m[i].queued = false;
	}
	ack = model_due(&run.m[i], &run.mr, host_of(i), &run.cpu, cost, run.now);
	if (or_acker_track_take(&run.t[i]))
		answer = answers[or_acker_admit(&run.t[i], path_of(i), &run.r,
						&run.cpu_tat, run.cpu_interval, cost,
						run.now)];
	stat.answers[ack.answer]++;
	if (answer != (int)ack.answer) {
		complain(&stat.bad_answer, "answer", i, answer, ack.answer);
		return;
	}
	if (answer != MODEL_YES)
		return;
	stat.ahead += run.t[i].stamp_ns > run.now;
	report = or_acker_track_report(&run.t[i], run.now);
	seq = run.isn[i] + (u32)(u64)fmod(ack.seq, 4294967296.0);
	if (report.packets != ack.packets || report.bytes != ack.bytes ||
	    report.hold_ns != ack.hold || report.seq != seq ||
	    report.count != run.count[i] + (u32)ack.count)
		complain(&stat.bad_report, "hold", i, report.hold_ns, (int)ack.hold);
}

static void waited(int i)
{
	enum or_acker_next next;
	enum model_todo todo;
	double until = 0;

	next = or_acker_track_waited(&run.t[i], &run.r, path_of(i), run.now);
	todo = model_waited(&run.m[i], &run.mr, host_of(i), run.now, &until);
	stat.waits[todo]++;
	if (todo_of(next) != (int)todo)
		complain(&stat.bad_wait, "after a wait", i, next, todo);
	if (next == OR_ACKER_NEXT_WAIT) {
		run.until[i] = or_acker_track_wait_ns(&run.t[i], &run.r);
		if ((double)run.until[i] != until)
			complain(&stat.bad_wait, "wait on for", i,
				 (int)(run.until[i] - run.now), (int)(until - run.now));
	}
	if (next == OR_ACKER_NEXT_SEND) {
		/* Another CPU may be in between. */
		if (chance(0.2))
			packet(i);
		due(i, false);
	}
}

static void run_all(void)
{
	u64 left = 0;
	int i;

	random_state = seed;
	for (; stat.steps < steps_wanted; stat.steps++) {
		if (!left--) {
			start();
			left = 3000;
		}
		run.now += (u64)exponential(run.pace);
		/* A sender begins anew: it has been told nothing. */
		if (chance(0.0005)) {
			i = random_u64() % HOSTS;
			run.path[i].acked_ns = 0;
			run.host[i].told = -1;
		}
		i = random_u64() % FLOWS;
		if (run.m[i].n == MODEL_PACKETS)
			start_flow(i);
		if (run.m[i].queued && chance(0.6)) {
			due(i, true);
		} else if (run.m[i].waiting && chance(0.5)) {
			run.now = max_t(u64, run.now, run.until[i]);
			waited(i);
		} else {
			packet(i);
		}
	}
}

static void model__packets(void)
{
	int i;

	CHECK(stat.packets[MODEL_SEND] > stat.steps / 100);
	CHECK(stat.packets[MODEL_WAIT] > stat.steps / 100);
	CHECK(stat.packets[MODEL_NONE_AT_END] > stat.steps / 1000);
	for (i = 0; i <= MODEL_PATH_DUE; i++) {
		printf("# reason %d: %" PRIu64 "\n", i, stat.reasons[i]);
		CHECK(stat.reasons[i] > stat.steps / 1000);
	}
	printf("# while a path was new: %" PRIu64 "\n", stat.learning);
	CHECK(stat.learning > stat.steps / 1000);
	CHECK_EQ(stat.bad_packet, 0);
}

static void model__waits(void)
{
	int i;

	for (i = 0; i <= MODEL_NONE_AT_END; i++) {
		printf("# after a wait %d: %" PRIu64 "\n", i, stat.waits[i]);
		CHECK(stat.waits[i] > stat.steps / 1000);
	}
	CHECK_EQ(stat.bad_wait, 0);
}

static void model__limits(void)
{
	int i;

	for (i = 0; i <= MODEL_NO_CPU; i++) {
		printf("# answer %d: %" PRIu64 "\n", i, stat.answers[i]);
		CHECK(stat.answers[i] > stat.steps / 10000);
	}
	CHECK_EQ(stat.bad_answer, 0);
}

static void model__reports(void)
{
	CHECK(stat.ahead > stat.steps / 100000);
	CHECK_EQ(stat.bad_report, 0);
}

int main(int argc, char **argv)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(model__packets),
		KTAP_CASE(model__waits),
		KTAP_CASE(model__limits),
		KTAP_CASE(model__reports),
	};

	if (argc > 1)
		seed = strtoull(argv[1], NULL, 10);
	if (argc > 2)
		steps_wanted = strtoull(argv[2], NULL, 10);
	run_all();
	printf("# seed %" PRIu64 ", %" PRIu64 " steps\n", seed, stat.steps);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
