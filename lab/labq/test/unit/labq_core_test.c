// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of labq_core.h: rows computed by hand, closed forms, and a model that keeps
 * every length it has seen.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "labq_core.h"
#include "ktap.h"

#define FRAME	1514

static void threshold__factor_of_what_is_free(void)
{
	static const struct {
		u64 size, used, alpha_ppb, want;
	} rows[] = {
		{ 1000000, 0, 1000000000, 1000000 },
		{ 1000000, 400000, 1000000000, 600000 },
		{ 1000000, 400000, 500000000, 300000 },
		{ 1000001, 0, 7812500, 7812 },		/* 1/128 */
		{ 1000, 1000, 16000000000, 0 },
		{ 1000, 2000, 16000000000, 0 },		/* made smaller meanwhile */
		{ 536870912, 0, 16000000000, 8589934592 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct labq_shared shared = { rows[i].size, rows[i].used };

		CHECK_EQ(labq_threshold(&shared, rows[i].alpha_ppb), rows[i].want);
	}
}

/*
 * Queues that nothing leaves end at alpha * B / (1 + n * alpha) each (Choudhury and
 * Hahne), to within a packet.
 */
static void admit__dynamic_threshold_fixed_point(void)
{
	static const u64 alphas_ppb[] = { 125000000, 500000000, 1000000000, 8000000000 };
	const u64 size = 10000000;
	size_t i;
	u64 n, k;

	for (i = 0; i < ARRAY_SIZE(alphas_ppb); i++) {
		for (n = 1; n <= 8; n++) {
			struct labq_config cfg = { .alpha_ppb = alphas_ppb[i] };
			struct labq_length queues[8] = {};
			struct labq_shared shared = { .size = size };
			double alpha = alphas_ppb[i] / 1e9;
			enum labq_pool pool;

			for (k = 0; k < 100000; k++) {
				struct labq_length *q = &queues[k % n];

				if (labq_admit(&cfg, &shared, q, NULL, FRAME, &pool))
					continue;
				q->bytes += FRAME;
				q->shared += FRAME;
				shared.used += FRAME;
			}
			for (k = 0; k < n; k++)
				CHECK_NEAR(queues[k].bytes, alpha * size / (1 + n * alpha),
					   FRAME + alpha * FRAME);
		}
	}
}

static void admit__limits(void)
{
	static const struct {
		const char *name;
		struct labq_config cfg;
		struct labq_shared shared;
		struct labq_length queue;
		enum labq_verdict want;
		enum labq_pool pool;
	} rows[] = {
		{ "nothing in the way", {}, { 1514, 0 }, {},
		  LABQ_ENQUEUE, LABQ_POOL_SHARED },
		{ "one byte too few", {}, { 1513, 0 }, {}, LABQ_DROP_FULL, 0 },
		{ "one byte used", {}, { 3028, 1515 }, {}, LABQ_DROP_FULL, 0 },
		{ "at the limit", { .limit_bytes = 3028 }, { 9999, 1514 },
		  { .bytes = 1514, .shared = 1514, .packets = 1 },
		  LABQ_ENQUEUE, LABQ_POOL_SHARED },
		{ "above the limit", { .limit_bytes = 3027 }, { 9999, 1514 },
		  { .bytes = 1514, .shared = 1514, .packets = 1 }, LABQ_DROP_LIMIT, 0 },
		{ "last packet", { .limit_packets = 2 }, { 9999, 1514 },
		  { .bytes = 1514, .shared = 1514, .packets = 1 },
		  LABQ_ENQUEUE, LABQ_POOL_SHARED },
		{ "one packet more", { .limit_packets = 2 }, { 9999, 3028 },
		  { .bytes = 3028, .shared = 3028, .packets = 2 }, LABQ_DROP_LIMIT, 0 },
		{ "at the threshold", { .alpha_ppb = 1000000000 }, { 4542, 1514 },
		  { .bytes = 1514, .shared = 1514, .packets = 1 },
		  LABQ_ENQUEUE, LABQ_POOL_SHARED },
		{ "above the threshold", { .alpha_ppb = 1000000000 }, { 4541, 1514 },
		  { .bytes = 1514, .shared = 1514, .packets = 1 }, LABQ_DROP_DYNAMIC, 0 },
		{ "reserved, buffer full", { .reserved_bytes = 1514 }, { 10, 10 }, {},
		  LABQ_ENQUEUE, LABQ_POOL_RESERVED },
		{ "what others pay for leaves the reserve alone", { .reserved_bytes = 1514 },
		  { 1514, 1514 }, { .bytes = 1514, .shared = 1514, .packets = 1 },
		  LABQ_ENQUEUE, LABQ_POOL_RESERVED },
		{ "more than is reserved", { .reserved_bytes = 1513 }, { 10, 10 }, {},
		  LABQ_DROP_FULL, 0 },
		{ "the static limit is for reserved bytes, too",
		  { .reserved_bytes = 9999, .limit_bytes = 1513 }, { 10, 0 }, {},
		  LABQ_DROP_LIMIT, 0 },
		{ "reserved bytes are none of the threshold's",
		  { .alpha_ppb = 1000000000, .reserved_bytes = 3028 }, { 1514, 0 },
		  { .bytes = 3028, .reserved = 3028, .packets = 2 },
		  LABQ_ENQUEUE, LABQ_POOL_SHARED },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		enum labq_pool pool = 0;

		ktap_row = rows[i].name;
		CHECK_EQ(labq_admit(&rows[i].cfg, &rows[i].shared, &rows[i].queue, NULL,
				    FRAME, &pool), rows[i].want);
		if (rows[i].want == LABQ_ENQUEUE)
			CHECK_EQ(pool, rows[i].pool);
	}
}

static void admit__lossless(void)
{
	static const struct {
		const char *name;
		struct labq_shared shared;
		struct labq_held held;
		enum labq_verdict want;
		enum labq_pool pool;
	} rows[] = {
		{ "room", { 1514, 0 }, {}, LABQ_ENQUEUE, LABQ_POOL_SHARED },
		{ "no room", { 1513, 0 }, {}, LABQ_DROP_FULL, 0 },
		{ "paused, no headroom", { 1514, 0 }, { .paused = true },
		  LABQ_ENQUEUE, LABQ_POOL_SHARED },
		{ "not paused, headroom", { 1514, 0 }, { .headroom_size = 1514 },
		  LABQ_ENQUEUE, LABQ_POOL_SHARED },
		{ "not paused, no room", { 0, 0 }, { .headroom_size = 1514 },
		  LABQ_ENQUEUE, LABQ_POOL_HEADROOM },
		{ "paused", { 1514, 0 }, { .headroom_size = 1514, .paused = true },
		  LABQ_ENQUEUE, LABQ_POOL_HEADROOM },
		{ "paused, headroom full", { 1514, 0 },
		  { .headroom = 1, .headroom_size = 1514, .paused = true },
		  LABQ_DROP_HEADROOM, 0 },
	};
	/* None of these is for it. */
	const struct labq_config cfg = {
		.limit_bytes = 1, .limit_packets = 1, .alpha_ppb = 1,
	};
	const struct labq_length queue = { .bytes = 3028, .shared = 3028, .packets = 2 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		enum labq_pool pool = 0;

		ktap_row = rows[i].name;
		CHECK_EQ(labq_admit(&cfg, &rows[i].shared, &queue, &rows[i].held, FRAME,
				    &pool), rows[i].want);
		if (rows[i].want == LABQ_ENQUEUE)
			CHECK_EQ(pool, rows[i].pool);
	}
}

static void avg__weight(void)
{
	u64 avg = 0;
	int i;

	CHECK_EQ(labq_avg(77, 1000, 0) >> LABQ_AVG_SHIFT, 1000);
	for (i = 1; i <= 1000; i++) {
		avg = labq_avg(avg, 100000, 9);
		CHECK_NEAR(avg / 16777216., 100000 * (1 - pow(511 / 512., i)), .001);
	}
	for (i = 1; i <= 1000; i++)
		avg = labq_avg(avg, 0, 9);
	CHECK_NEAR(avg / 16777216., 100000 * (1 - pow(511 / 512., 1000)) *
		   pow(511 / 512., 1000), .001);
	/* The largest length there is. */
	CHECK_EQ(labq_avg(0, 1ULL << 29, 0) >> LABQ_AVG_SHIFT, 1 << 29);
}

static void red__probability(void)
{
	struct labq_config cfg = {
		.red_min_bytes = 5000, .red_max_bytes = 15000, .red_prob_ppb = 100000000,
	};

	CHECK_EQ(labq_red_ppb(&cfg, 4999ULL << LABQ_AVG_SHIFT), 0);
	CHECK_EQ(labq_red_ppb(&cfg, 5000ULL << LABQ_AVG_SHIFT), 0);
	CHECK_EQ(labq_red_ppb(&cfg, 10000ULL << LABQ_AVG_SHIFT), 50000000);
	CHECK_EQ(labq_red_ppb(&cfg, 14999ULL << LABQ_AVG_SHIFT), 99990000);
	CHECK_EQ(labq_red_ppb(&cfg, 15000ULL << LABQ_AVG_SHIFT), 1000000000);
	cfg.red_max_bytes = 0;
	CHECK_EQ(labq_red_ppb(&cfg, 1ULL << 50), 0);
	cfg = (struct labq_config){
		.red_max_bytes = 536870912, .red_prob_ppb = 1000000000,
	};
	CHECK_EQ(labq_red_ppb(&cfg, 536870911ULL << LABQ_AVG_SHIFT), 999999998);
}

static void mark__step_and_red(void)
{
	struct labq_config step = { .ecn_step_bytes = 3000 };
	struct labq_config red = { .red_max_bytes = 10000, .red_prob_ppb = 500000000 };
	struct labnic_rng rng, before;
	int i, hits = 0;

	labnic_rng_seed(&rng, 1, 0);
	before = rng;
	CHECK_EQ(labq_mark(&step, 3000, 0, &rng), LABQ_MARK_NONE);
	CHECK_EQ(labq_mark(&step, 3001, 0, &rng), LABQ_MARK_STEP);
	/* What is not left to chance does not move it. */
	CHECK(rng.state == before.state);
	for (i = 0; i < 100000; i++)
		hits += labq_mark(&red, 0, 5000ULL << LABQ_AVG_SHIFT, &rng) == LABQ_MARK_RED;
	CHECK_NEAR(hits, 25000, 600);
}

static void without_ecn__dropped_by_red_only(void)
{
	struct labq_config cfg = {};

	CHECK_EQ(labq_without_ecn(&cfg, LABQ_MARK_STEP), LABQ_ENQUEUE);
	CHECK_EQ(labq_without_ecn(&cfg, LABQ_MARK_RED), LABQ_DROP_RED);
	cfg.ecn_drop = 1;
	CHECK_EQ(labq_without_ecn(&cfg, LABQ_MARK_STEP), LABQ_DROP_STEP);
	CHECK_EQ(labq_without_ecn(&cfg, LABQ_MARK_NONE), LABQ_ENQUEUE);
}

/* labq_pause() with so much held, and so much of it in the headroom. */
static bool pause_at(const struct labq_config *cfg, u64 xoff, u64 bytes, u64 headroom,
		     bool paused)
{
	struct labq_held held = { .bytes = bytes, .headroom = headroom };

	return labq_pause(cfg, xoff, &held, paused);
}

static void pause__static_and_dynamic(void)
{
	struct labq_config cfg = { .xoff_bytes = 15000, .xon_bytes = 12000 };
	struct labq_shared shared = { 1000000, 200000 };
	u64 xoff = labq_xoff(&cfg, &shared);

	CHECK_EQ(xoff, 15000);
	CHECK(!pause_at(&cfg, xoff, 15000, 0, false));
	CHECK(pause_at(&cfg, xoff, 15001, 0, false));
	CHECK(pause_at(&cfg, xoff, 12001, 0, true));
	CHECK(!pause_at(&cfg, xoff, 12000, 0, true));

	cfg = (struct labq_config){ .xoff_alpha_ppb = 125000000, .xon_offset_bytes = 3000 };
	xoff = labq_xoff(&cfg, &shared);
	CHECK_EQ(xoff, 100000);
	CHECK(!pause_at(&cfg, xoff, 100000, 0, false));
	CHECK(pause_at(&cfg, xoff, 100001, 0, false));
	CHECK(pause_at(&cfg, xoff, 97001, 0, true));
	CHECK(!pause_at(&cfg, xoff, 97000, 0, true));
	/* What is in the headroom has to leave first, but never begins a pause. */
	CHECK(pause_at(&cfg, xoff, 1500, 1, true));
	CHECK(!pause_at(&cfg, xoff, 1500, 1, false));
	/* Nothing held, and yet no room: what would end the pause? */
	CHECK(!pause_at(&cfg, 0, 0, 0, true));
	CHECK(!pause_at(&cfg, 0, 0, 0, false));
}

static void hist_chunk__every_length_has_one_bin(void)
{
	u32 last_chunk = 0, last_bin = 0;
	u64 bytes;

	for (bytes = 0; bytes < 1 << 20; bytes++) {
		u32 bin, chunk = labq_hist_chunk(bytes, &bin);
		bool same = chunk == last_chunk && bin == last_bin;
		bool next = chunk == last_chunk ? bin == last_bin + 1 :
			    chunk == last_chunk + 1 && !bin && last_bin == 255;

		if (!(same || next) || bin >= LABQ_HIST_BINS || (same && bytes && bytes < 512))
			break;
		last_chunk = chunk;
		last_bin = bin;
	}
	CHECK_EQ(bytes, 1 << 20);
	CHECK_EQ(labq_hist_chunk((1 << 30) - 1, &last_bin), LABQ_HIST_CHUNKS - 1);
	CHECK_EQ(last_bin, LABQ_HIST_BINS - 1);
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* One nanosecond each: the percentile is an element of the sorted lengths. */
static void percentile_model(u64 unit, u64 count, double slack)
{
	struct labq_bin *chunks[LABQ_HIST_CHUNKS] = {};
	u64 *lengths = calloc(count, sizeof(*lengths));
	u64 i;

	for (i = 0; i < count; i++) {
		struct labq_bin *bin;
		u32 at, chunk;

		lengths[i] = labnic_mix(i) % 250 * unit;
		chunk = labq_hist_chunk(lengths[i], &at);
		if (!chunks[chunk])
			chunks[chunk] = calloc(LABQ_HIST_BINS, sizeof(*bin));
		bin = &chunks[chunk][at];
		bin->ns++;
		bin->bytes = bin->bytes > lengths[i] ? bin->bytes : lengths[i];
	}
	qsort(lengths, count, sizeof(*lengths), compare);
	for (i = 1; i <= count; i += count / 1000)
		CHECK_NEAR(labq_percentile(chunks, i), lengths[i - 1],
			   slack * lengths[i - 1]);
	for (i = 0; i < LABQ_HIST_CHUNKS; i++)
		free(chunks[i]);
	free(lengths);
}

static void percentile__full_frames_are_exact(void)
{
	percentile_model(FRAME, 20000, 0);
}

static void percentile__others_within_resolution(void)
{
	percentile_model(1, 20000, 0);
	percentile_model(7001, 20000, 1 / 256.);
	percentile_model(2000003, 20000, 1 / 256.);
}

static void percentile__of_nothing(void)
{
	struct labq_bin *chunks[LABQ_HIST_CHUNKS] = {};

	CHECK_EQ(labq_percentile(chunks, 0), 0);
	CHECK_EQ(labq_percentile(chunks, 1), 0);
}

static void area__mean(void)
{
	struct labq_area area = {};
	u64 ns = 0, sum = 0;
	int i;

	CHECK_EQ(labq_area_mean(&area, 0), 0);
	/* 1 for 3 ns, 0 for 1 ns */
	labq_area_add(&area, 1, 3);
	labq_area_add(&area, 0, 1);
	CHECK_EQ(labq_area_mean(&area, 4), 750);

	area = (struct labq_area){};
	for (i = 0; i < 100000; i++) {
		u64 bytes = labnic_mix(i) % 1000000, dt = labnic_mix(i + 1) % 5000;

		labq_area_add(&area, bytes, dt);
		sum += bytes * dt;
		ns += dt;
	}
	CHECK_EQ(labq_area_mean(&area, ns), sum * 1000 / ns);

	/* The longest queue there is, for a quarter of a minute, and then not. */
	area = (struct labq_area){};
	labq_area_add(&area, 1 << 29, 15000000000);
	CHECK_NEAR(labq_area_mean(&area, 15000000000) / 1000., 1 << 29, 1);
	CHECK_NEAR(labq_area_mean(&area, 30000000000) / 1000., 1 << 28, 1);
}

static const struct ktap_case cases[] = {
	KTAP_CASE(threshold__factor_of_what_is_free),
	KTAP_CASE(admit__dynamic_threshold_fixed_point),
	KTAP_CASE(admit__limits),
	KTAP_CASE(admit__lossless),
	KTAP_CASE(avg__weight),
	KTAP_CASE(red__probability),
	KTAP_CASE(mark__step_and_red),
	KTAP_CASE(without_ecn__dropped_by_red_only),
	KTAP_CASE(pause__static_and_dynamic),
	KTAP_CASE(hist_chunk__every_length_has_one_bin),
	KTAP_CASE(percentile__full_frames_are_exact),
	KTAP_CASE(percentile__others_within_resolution),
	KTAP_CASE(percentile__of_nothing),
	KTAP_CASE(area__mean),
};

int main(void)
{
	return ktap_run(cases, ARRAY_SIZE(cases));
}
