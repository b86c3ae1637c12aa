/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arithmetic of the switch buffer: admission, marks, pauses, and
 * statistics of queue lengths, as pure functions on integers.
 *
 * Byte counts are below 2^30, factors and probabilities are in units of 10^-9 and
 * below 2^34, so that a product of two of them fits into 64 bits.
 *
 * Nothing in here depends on the kernel but fixed-size integers and a few
 * divisions: it is compiled into the module and into the unit tests.
 */
#ifndef _LABQ_CORE_H
#define _LABQ_CORE_H

#include "../labnic/labnic_core.h"
#include "labq_params.h"

#define LABQ_PPB	1000000000ULL

/* Settings, in the units of LABQ_PARAMS; those of the switch and of a port. */
struct labq_config {
	s64 begin[0]
#define LABQ_X(NAME, field, ...)	; s64 field
	LABQ_PARAMS;
#undef LABQ_X
};

/* Memory that a packet is charged to. */
enum labq_pool {
	LABQ_POOL_RESERVED,	/* bytes set aside for its queue */
	LABQ_POOL_SHARED,	/* the rest of the buffer, for all */
	LABQ_POOL_HEADROOM,	/* bytes set aside for its ingress port, once paused */
};

/* Verdict on a packet. */
enum labq_verdict {
	LABQ_ENQUEUE,
	LABQ_DROP_LIMIT,	/* its queue is at the static limit */
	LABQ_DROP_DYNAMIC,	/* its queue is at the dynamic threshold */
	LABQ_DROP_FULL,		/* the shared buffer is full */
	LABQ_DROP_HEADROOM,	/* its ingress port's headroom is full */
	LABQ_DROP_RED,		/* by chance, or above red_max; it has no ECN */
	LABQ_DROP_STEP,		/* above ecn_step; it has no ECN */
	LABQ_VERDICTS
};

/* Why it is marked. */
enum labq_mark {
	LABQ_MARK_NONE,
	LABQ_MARK_STEP,
	LABQ_MARK_RED,
};

/* The shared buffer of a switch: size and use in bytes. */
struct labq_shared {
	u64 size;
	u64 used;
};

/**
 * struct labq_length - of an egress queue, in bytes
 * @bytes: all of it
 * @reserved: of that, paid by LABQ_POOL_RESERVED
 * @shared: of that, paid by LABQ_POOL_SHARED
 * @packets: in packets
 */
struct labq_length {
	u64 bytes;
	u64 reserved;
	u64 shared;
	u64 packets;
};

/**
 * struct labq_held - of an ingress port's priority, in bytes
 * @bytes: all that came in by it and is in any queue
 * @headroom: of that, paid by LABQ_POOL_HEADROOM
 * @headroom_size: its limit
 * @paused: its sender has been told to pause
 */
struct labq_held {
	u64 bytes;
	u64 headroom;
	u64 headroom_size;
	bool paused;
};

static inline u64 labq_free(const struct labq_shared *shared)
{
	return shared->used < shared->size ? shared->size - shared->used : 0;
}

/**
 * labq_threshold() - return the dynamic threshold: a factor times the free bytes
 * @shared: the buffer
 * @alpha_ppb: the factor
 *
 * Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet
 * Switches", 1998.
 *
 * Return: bytes, rounded down.
 */
static inline u64 labq_threshold(const struct labq_shared *shared, u64 alpha_ppb)
{
	u64 rest;

	return div64_u64_rem(labq_free(shared) * alpha_ppb, LABQ_PPB, &rest);
}

/* A packet that its ingress port does not want to lose: it is paused instead. */
static inline enum labq_verdict labq_admit_lossless(const struct labq_shared *shared,
						    const struct labq_held *held, u32 len,
						    enum labq_pool *pool)
{
	if (!(held->paused && held->headroom_size) && len <= labq_free(shared)) {
		*pool = LABQ_POOL_SHARED;
		return LABQ_ENQUEUE;
	}
	if (!held->headroom_size)
		return LABQ_DROP_FULL;
	*pool = LABQ_POOL_HEADROOM;
	return held->headroom + len <= held->headroom_size ? LABQ_ENQUEUE :
	       LABQ_DROP_HEADROOM;
}

/**
 * labq_admit() - let a packet into a queue, or not
 * @cfg: settings of the switch and of the egress port
 * @shared: the buffer, without the packet
 * @queue: the queue, without the packet
 * @held: of its ingress port and priority if that is lossless, or NULL
 * @len: bytes, 1 to 2^20
 * @pool: set to the memory that it is charged to
 *
 * Bytes set aside for the queue come first. After that only the buffer limits a lossless
 * packet. Three things limit another one: the static limit, the room there is, and the dynamic
 * threshold. The threshold compares the shared part of the queue, with the packet, with the
 * free part of the buffer, without it.
 *
 * Return: the verdict.
 */
static inline enum labq_verdict labq_admit(const struct labq_config *cfg,
					   const struct labq_shared *shared,
					   const struct labq_length *queue,
					   const struct labq_held *held, u32 len,
					   enum labq_pool *pool)
{
	if (!held) {
		if (cfg->limit_bytes && queue->bytes + len > (u64)cfg->limit_bytes)
			return LABQ_DROP_LIMIT;
		if (cfg->limit_packets && queue->packets >= (u64)cfg->limit_packets)
			return LABQ_DROP_LIMIT;
	}
	if (queue->reserved + len <= (u64)cfg->reserved_bytes) {
		*pool = LABQ_POOL_RESERVED;
		return LABQ_ENQUEUE;
	}
	if (held)
		return labq_admit_lossless(shared, held, len, pool);
	if (len > labq_free(shared))
		return LABQ_DROP_FULL;
	if (cfg->alpha_ppb && queue->shared + len > labq_threshold(shared, cfg->alpha_ppb))
		return LABQ_DROP_DYNAMIC;
	*pool = LABQ_POOL_SHARED;
	return LABQ_ENQUEUE;
}

/* Marking ------------------------------------------------------------------ */

/* Averages have 24 bits behind the point: below 2^54. */
#define LABQ_AVG_SHIFT	24

/**
 * labq_avg() - RED's queue length after one more packet has found a queue
 * @avg: before, in Q24
 * @bytes: length that the packet found
 * @weight: it weighs 2^-weight; 0: the length itself
 *
 * Return: bytes, in Q24.
 */
static inline u64 labq_avg(u64 avg, u64 bytes, u32 weight)
{
	u64 length = bytes << LABQ_AVG_SHIFT;

	return length >= avg ? avg + ((length - avg) >> weight) :
	       avg - ((avg - length) >> weight);
}

/**
 * labq_red_ppb() - RED's probability
 * @cfg: settings; red_min below red_max
 * @avg: queue length in Q24
 *
 * 0 below red_min, from there on rising linearly to red_prob at red_max, and 1
 * from there on. Floyd and Jacobson, "Random Early Detection Gateways for
 * Congestion Avoidance", 1993, without their spreading of marks by a count of
 * packets since the last one.
 *
 * Return: in 10^-9, rounded down.
 */
static inline u64 labq_red_ppb(const struct labq_config *cfg, u64 avg)
{
	u64 bytes = avg >> LABQ_AVG_SHIFT, rest;

	if (!cfg->red_max_bytes || bytes < (u64)cfg->red_min_bytes)
		return 0;
	if (bytes >= (u64)cfg->red_max_bytes)
		return LABQ_PPB;
	return div64_u64_rem((bytes - cfg->red_min_bytes) * cfg->red_prob_ppb,
			     cfg->red_max_bytes - cfg->red_min_bytes, &rest);
}

/**
 * labq_mark() - whether a packet is marked, and why
 * @cfg: settings
 * @bytes: length of the queue that it found
 * @avg: RED's queue length in Q24
 * @rng: a stream that is advanced if there is a decision to be left to chance
 */
static inline enum labq_mark labq_mark(const struct labq_config *cfg, u64 bytes, u64 avg,
				       struct labnic_rng *rng)
{
	if (cfg->ecn_step_bytes && bytes > (u64)cfg->ecn_step_bytes)
		return LABQ_MARK_STEP;
	if (labnic_rng_hit(rng, labq_red_ppb(cfg, avg)))
		return LABQ_MARK_RED;
	return LABQ_MARK_NONE;
}

/**
 * labq_without_ecn() - return the verdict on a packet that should be marked but cannot
 * @cfg: settings
 * @mark: why
 */
static inline enum labq_verdict labq_without_ecn(const struct labq_config *cfg,
						 enum labq_mark mark)
{
	if (mark == LABQ_MARK_RED)
		return LABQ_DROP_RED;
	if (mark == LABQ_MARK_STEP && cfg->ecn_drop)
		return LABQ_DROP_STEP;
	return LABQ_ENQUEUE;
}

/* Pauses ------------------------------------------------------------------- */

/* labq_xoff() - held bytes above which an ingress port's priority is paused. */
static inline u64 labq_xoff(const struct labq_config *cfg, const struct labq_shared *shared)
{
	return cfg->xoff_bytes ? (u64)cfg->xoff_bytes :
	       labq_threshold(shared, cfg->xoff_alpha_ppb);
}

/**
 * labq_pause() - whether an ingress port's priority is to be paused from now on
 * @cfg: settings of the ingress port
 * @xoff: from labq_xoff()
 * @held: bytes that it holds
 * @paused: it is at present
 *
 * Before it resumes, its headroom has to be empty: of what is on its way when the
 * next pause begins, all must find room there. It never stays paused without holding
 * anything: nothing would end it.
 */
static inline bool labq_pause(const struct labq_config *cfg, u64 xoff,
			      const struct labq_held *held, bool paused)
{
	u64 bytes = held->bytes;

	if (!paused)
		return bytes > xoff;
	if (!bytes)
		return false;
	if (held->headroom)
		return true;
	return cfg->xoff_bytes ? bytes > (u64)cfg->xon_bytes :
	       bytes + cfg->xon_offset_bytes > xoff;
}

/* Statistics --------------------------------------------------------------- */

/*
 * A histogram of lengths, by the time for which they were so. Lengths below 256
 * bytes have a bin each; above, each power of two is divided into 256. A bin keeps
 * the largest length that it has seen, so percentiles are exact as long as a bin
 * sees one length only, and never off by more than 1/256. With frames of 1514
 * bytes that is up to 388 kB.
 */
#define LABQ_HIST_BITS		8
#define LABQ_HIST_BINS		(1 << LABQ_HIST_BITS)
/* Lengths below 2^30: one chunk of bins for 0 to 255, and 22 octaves. */
#define LABQ_HIST_CHUNKS	(30 - LABQ_HIST_BITS + 1)

/**
 * struct labq_bin - of a histogram
 * @ns: time
 * @bytes: the largest length seen
 */
struct labq_bin {
	u64 ns;
	u64 bytes;
};

/**
 * labq_hist_chunk() - which chunk a length is in
 * @bytes: below 2^30
 * @bin: where to put which of its bins it is
 */
static inline u32 labq_hist_chunk(u64 bytes, u32 *bin)
{
	u32 chunk = 0;

	while (bytes >> chunk >= 2 * LABQ_HIST_BINS)
		chunk++;
	*bin = bytes >> chunk & (LABQ_HIST_BINS - 1);
	return bytes >= LABQ_HIST_BINS ? chunk + 1 : 0;
}

/**
 * labq_percentile() - the length that is not exceeded for a part of the time
 * @chunks: LABQ_HIST_CHUNKS pointers to LABQ_HIST_BINS bins each, or NULL
 * @rank_ns: that part; at most the sum of all bins
 *
 * Return: bytes.
 */
static inline u64 labq_percentile(struct labq_bin *const *chunks, u64 rank_ns)
{
	u64 sum = 0, bytes = 0;
	int i, j;

	for (i = 0; i < LABQ_HIST_CHUNKS; i++) {
		for (j = 0; chunks[i] && j < LABQ_HIST_BINS; j++) {
			if (!chunks[i][j].ns)
				continue;
			bytes = chunks[i][j].bytes;
			sum += chunks[i][j].ns;
			if (sum >= rank_ns)
				return bytes;
		}
	}
	return bytes;
}

/**
 * struct labq_area - a length summed up over time, exact
 * @byte_us: bytes times microseconds; 2^64 of them are 18 TB s
 * @byte_ns: the rest, below 1000
 */
struct labq_area {
	u64 byte_us;
	u64 byte_ns;
};

/**
 * labq_area_add() - so long it was so much
 * @area: the sum
 * @bytes: below 2^30
 * @ns: any
 */
static inline void labq_area_add(struct labq_area *area, u64 bytes, u64 ns)
{
	while (bytes && ns) {
		/* The product of the two stays below 2^62. */
		u64 part = ns >> 32 ? 1ULL << 32 : ns;

		area->byte_us += div64_u64_rem(bytes * part + area->byte_ns, 1000,
					       &area->byte_ns);
		ns -= part;
	}
}

/**
 * labq_area_mean() - the mean over some time
 * @area: the sum; above 17 MB s to 4 digits, and right up to 18 GB s
 * @ns: the time
 *
 * Return: in 1/1000 of a byte, rounded down; 0 if no time has passed.
 */
static inline u64 labq_area_mean(const struct labq_area *area, u64 ns)
{
	u64 rest;

	if (!ns)
		return 0;
	/* 2^44 bytes times us, less than 2^30 bytes at a time, are 16 ms at least. */
	if (area->byte_us >> 44)
		return div64_u64_rem(area->byte_us * 1000,
				     div64_u64_rem(ns, 1000, &rest), &rest);
	return div64_u64_rem(area->byte_us * 1000000 + area->byte_ns * 1000, ns, &rest);
}

#endif /* _LABQ_CORE_H */
