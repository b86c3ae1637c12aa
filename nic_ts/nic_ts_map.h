/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nic_ts, clocks of NICs: pure functions on integers.
 *
 *	map	a NIC's clock -> CLOCK_MONOTONIC, and back, with an error bound:
 *		host = ref_host + (clock - ref_clock) * (1 + rate)
 *		clock = ref_clock + (host - ref_host) * (1 + inverse)
 *	track	is this hardware timestamp believable, did its clock jump?
 *
 * A linear map is what TIMELY (Mittal et al., SIGCOMM 2015), section 5, finds
 * sufficient.
 *
 * Nothing in this file depends on the kernel but fixed-size integers: it is
 * compiled into the module, the unit tests and the fuzzer.
 */
#ifndef _NIC_TS_MAP_H
#define _NIC_TS_MAP_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include "nic_ts_types.h"

/* Largest rate error of a clock, 10^-12: 500 ppm, the most that NTP slews. */
#define NIC_TS_MAX_RATE_PPT	500000000LL

/* Largest growth of the error bound, 10^-9: 500 ppm, a clock nobody measured. */
#define NIC_TS_MAX_DRIFT_PPB	500000U

/* Bounds of a map's age, ns: 1 ms, 1 hour (< 2^42); and the default. */
#define NIC_TS_MIN_AGE_NS	1000000ULL
#define NIC_TS_MAX_AGE_NS	3600000000000ULL
#define NIC_TS_DEFAULT_AGE_NS	10000000000ULL

/* Readings above are refused, so that sums of two fit into 64 bits: 146 years. */
#define NIC_TS_MAX_TIME_NS	(1ULL << 62)

/*
 * Error bound of the arithmetic below, ns: two truncations of less than 1, and
 * the rate's last bit, 2^-40 times 2^42 at most.
 */
#define NIC_TS_MAP_ROUNDING_NS	6

/**
 * struct nic_ts_map - a linear map from a clock to CLOCK_MONOTONIC
 * @ref_clock_ns:	reading of the clock, < 2^62 ns
 * @ref_host_ns:	CLOCK_MONOTONIC at that moment, < 2^62 ns
 * @max_age_ns:		furthest from @ref_clock_ns that it holds, <= 2^42 ns
 * @rate_q40:		host's rate over the clock's, less 1, signed Q40, 30 bits
 * @inverse_q40:	the clock's rate over the host's, less 1, signed Q40, 30 bits
 * @drift_q32:		growth of the error, Q32, 22 bits
 * @error_ns:		error bound at the reference, ns
 */
struct nic_ts_map {
	u64	ref_clock_ns;
	u64	ref_host_ns;
	u64	max_age_ns;
	s32	rate_q40;
	s32	inverse_q40;
	u32	drift_q32;
	u32	error_ns;
};

/*
 * 1 / (1 + r) - 1 = -r + r^2 / (1 + r), for r = @rate_q40 / 2^40. r^2 has 60 bits; of what
 * it is divided by, r is at most 0.0005. The magnitude is rounded up, as that of @rate_q40
 * was rounded down: so it is off by less than one last bit from what both stand for.
 */
static inline s32 nic_ts_map_inverse(s32 rate_q40)
{
	u64 divisor = (u64)((1LL << 40) + rate_q40);
	u64 square = (u64)((s64)rate_q40 * rate_q40);

	if (rate_q40 < 0)
		square += divisor - 1;
	return (s32)div64_u64(square, divisor) - rate_q40;
}

/**
 * nic_ts_map_init() - make a map, or say why not
 * @map:		written only if NULL is returned
 * @ref_clock_ns:	as in struct nic_ts_map
 * @ref_host_ns:	CLOCK_MONOTONIC at @ref_clock_ns, < 2^62 ns
 * @rate_ppt:		rate, 10^-12
 * @error_ns:		error bound at the reference, ns
 * @drift_ppb:		growth of the error, 10^-9
 * @max_age_ns:		furthest from @ref_clock_ns that it holds, <= 2^42 ns
 *
 * Return: NULL, or an error message with the values that are allowed.
 */
static inline const char *nic_ts_map_init(struct nic_ts_map *map,
					  u64 ref_clock_ns, u64 ref_host_ns,
					  s64 rate_ppt, u32 error_ns,
					  u32 drift_ppb, u64 max_age_ns)
{
	u64 rate;

	if (!ref_clock_ns || ref_clock_ns >= NIC_TS_MAX_TIME_NS ||
	    !ref_host_ns || ref_host_ns >= NIC_TS_MAX_TIME_NS)
		return "a reference time must be above 0 and below 2^62 ns";
	if (rate_ppt < -NIC_TS_MAX_RATE_PPT || rate_ppt > NIC_TS_MAX_RATE_PPT)
		return "the rate must be within +-500000000 ppt (500 ppm)";
	if (drift_ppb > NIC_TS_MAX_DRIFT_PPB)
		return "the drift must not exceed 500000 ppb (500 ppm)";
	if (max_age_ns < NIC_TS_MIN_AGE_NS || max_age_ns > NIC_TS_MAX_AGE_NS)
		return "the largest age must be from 1000000 ns (1 ms) to 3600000000000 ns (1 h)";

	/* 5 * 10^8 < 2^29, so 2^40 / 10^12 = 2^28 / 5^12 is applied in 57 bits. */
	rate = (u64)(rate_ppt < 0 ? -rate_ppt : rate_ppt) << 28;
	rate = div64_u64(rate, 244140625);
	map->ref_clock_ns = ref_clock_ns;
	map->ref_host_ns = ref_host_ns;
	map->max_age_ns = max_age_ns;
	map->rate_q40 = rate_ppt < 0 ? -(s32)rate : (s32)rate;
	map->inverse_q40 = nic_ts_map_inverse(map->rate_q40);
	/* Rounded up: it is a bound. */
	map->drift_q32 = (u32)div64_u64((u64)drift_ppb << 32, 1000000000) + 1;
	map->error_ns = error_ns;
	return NULL;
}

/* How far two times are apart, ns. */
static inline u64 nic_ts_apart(u64 a_ns, u64 b_ns)
{
	return a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns;
}

/*
 * @age times (1 + rate), @rate_q40 below 2^30 either way. @age < 2^42, so in two parts:
 * 2^22 * 2^30 and 2^20 * 2^30. The sum or difference is 0.00051 of the age at most.
 */
static inline u64 nic_ts_map_scale(u64 age, s32 rate_q40)
{
	u64 rate = rate_q40 < 0 ? -(s64)rate_q40 : rate_q40, slew;

	slew = ((age >> 20) * rate >> 20) +
	       ((age & ((1U << 20) - 1)) * rate >> 40);
	return rate_q40 < 0 ? age - slew : age + slew;
}

/* How wrong a map can be at an age below 2^42, without roundings: 2^32 * 2^22. */
static inline u64 nic_ts_map_error(const struct nic_ts_map *map, u64 age)
{
	return map->error_ns + (((age >> 10) + 1) * map->drift_q32 >> 22) + 1;
}

/**
 * nic_ts_map_apply() - convert a reading of the clock to CLOCK_MONOTONIC
 * @map:	the map
 * @clock_ns:	reading, ns
 * @host_ns:	the result, ns
 * @error_ns:	how wrong it can be, ns, saturating
 *
 * Return: false if the map does not hold that far.
 */
static inline bool nic_ts_map_apply(const struct nic_ts_map *map, u64 clock_ns,
				    u64 *host_ns, u32 *error_ns)
{
	u64 age = nic_ts_apart(clock_ns, map->ref_clock_ns);
	bool later = clock_ns > map->ref_clock_ns;
	u64 moved;

	if (age > map->max_age_ns)
		return false;
	moved = nic_ts_map_scale(age, map->rate_q40);
	if (!later && moved >= map->ref_host_ns)
		return false;
	*host_ns = later ? map->ref_host_ns + moved : map->ref_host_ns - moved;
	*error_ns = (u32)min_t(u64, nic_ts_map_error(map, age) + NIC_TS_MAP_ROUNDING_NS,
			       U32_MAX);
	return true;
}

/**
 * nic_ts_map_invert() - convert a time of CLOCK_MONOTONIC to the clock
 * @map:	the map
 * @host_ns:	CLOCK_MONOTONIC, ns
 * @clock_ns:	the result, ns
 * @error_ns:	how wrong it can be, ns of that clock, saturating
 *
 * The other direction of nic_ts_map_apply(), which holds as far. No division. An error of
 * e + d * age of the clock becomes (e + d * age) / (1 + rate - d) here. The clock's age and its
 * second are at most 1 / 0.9995 of the host's, and d is 0.0005 at most. All that is less than
 * 2^-9 more than with the host's age.
 *
 * Return: false if the map does not hold that far.
 */
static inline bool nic_ts_map_invert(const struct nic_ts_map *map, u64 host_ns,
				     u64 *clock_ns, u32 *error_ns)
{
	u64 age = nic_ts_apart(host_ns, map->ref_host_ns);
	bool later = host_ns > map->ref_host_ns;
	u64 moved, err;

	/* The clock's is what counts; the host's is at most 0.0005 more, 2^42 is 1.2 hours. */
	if (age >= 1ULL << 42)
		return false;
	moved = nic_ts_map_scale(age, map->inverse_q40);
	if (moved > map->max_age_ns || (!later && moved >= map->ref_clock_ns))
		return false;
	*clock_ns = later ? map->ref_clock_ns + moved : map->ref_clock_ns - moved;
	err = nic_ts_map_error(map, age);
	err += (err >> 9) + 1 + NIC_TS_MAP_ROUNDING_NS;
	*error_ns = (u32)min_t(u64, err, U32_MAX);
	return true;
}

/**
 * nic_ts_map_agrees() - return whether two maps of one clock can both be true
 * @old:	the one in use
 * @new:	the one to come
 *
 * Return: false if @old says something else about the reference of @new than @new
 * does, by more than both may be wrong: one of the clocks has jumped. True as
 * well if @old does not reach that far.
 */
static inline bool nic_ts_map_agrees(const struct nic_ts_map *old,
				     const struct nic_ts_map *new)
{
	u64 host_ns, apart;
	u32 err;

	if (!nic_ts_map_apply(old, new->ref_clock_ns, &host_ns, &err))
		return true;
	apart = nic_ts_apart(host_ns, new->ref_host_ns);
	return apart <= (u64)err + new->error_ns;
}

/*
 * Longest time from a stamp to software that sees it, ns: 100 ms. Interrupt
 * moderation and a busy host stay far below.
 */
#define NIC_TS_MAX_DELAY_NS	100000000LL

/*
 * Software's clock and the NIC's run apart by 1 in 1024, 977 ppm, at most: 500
 * ppm for NTP's slewing of the one, and what is left for the other.
 */
#define NIC_TS_TRACK_DRIFT_SHIFT 10

/* Reading two clocks cannot be compared more closely than this, ns. */
#define NIC_TS_TRACK_SLACK_NS	100

/* Unbelievable stamps in a row that make it the clock that jumped. */
#define NIC_TS_TRACK_STRIKES	4

/* Verdict on a hardware timestamp. */
enum nic_ts_hw_verdict {
	NIC_TS_HW_OK,
	NIC_TS_HW_DISORDER,	/* older than the one before on its queue */
	NIC_TS_HW_FUTURE,	/* later than software saw it */
	NIC_TS_HW_STALE,	/* far earlier than software saw it */
	NIC_TS_HW_RANGE,	/* no time at all */
};

/**
 * struct nic_ts_track - bounds of a clock's offset to CLOCK_MONOTONIC
 * @low:	smallest (host - clock) of all that were seen: no stamp is later
 *		than software sees it. ns, modulo 2^64
 * @host_ns:	when @low was seen, CLOCK_MONOTONIC, ns; 0: nothing seen yet
 * @strikes:	unbelievable stamps in a row
 */
struct nic_ts_track {
	u64	low;
	u64	host_ns;
	u8	strikes;
};

/**
 * nic_ts_track_seen() - check whether a hardware timestamp is believable
 * @t:		state
 * @hw_ns:	stamp, in the clock's time, ns
 * @host_ns:	CLOCK_MONOTONIC, when software saw it, ns
 * @last_ns:	last stamp believed of the same queue; 0: none, or not known
 * @stepped:	set if it is the clock that jumped: @t begins anew with this
 *		stamp, and all earlier ones are of another time
 *
 * host - clock is the clock's offset plus the delay until software looked. The
 * smallest one seen, let go by what the clocks may drift, bounds it from
 * below, but for stamps that were still quicker; the largest delay bounds it
 * from above.
 */
static inline enum nic_ts_hw_verdict
nic_ts_track_seen(struct nic_ts_track *t, u64 hw_ns, u64 host_ns, u64 last_ns,
		  bool *stepped)
{
	enum nic_ts_hw_verdict verdict = NIC_TS_HW_OK;
	u64 elapsed, drift, offset = host_ns - hw_ns;
	s64 above;

	*stepped = false;
	if (!hw_ns || hw_ns >= NIC_TS_MAX_TIME_NS)
		return NIC_TS_HW_RANGE;
	if (!t->host_ns)
		goto restart;

	elapsed = host_ns > t->host_ns ? host_ns - t->host_ns : 0;
	drift = (elapsed >> NIC_TS_TRACK_DRIFT_SHIFT) + NIC_TS_TRACK_SLACK_NS;
	above = (s64)(offset - t->low);
	if (above > NIC_TS_MAX_DELAY_NS + (s64)drift)
		verdict = NIC_TS_HW_STALE;
	else if (above < -NIC_TS_MAX_DELAY_NS - (s64)drift)
		verdict = NIC_TS_HW_FUTURE;
	else if (hw_ns < last_ns)
		verdict = NIC_TS_HW_DISORDER;

	if (verdict == NIC_TS_HW_OK) {
		t->strikes = 0;
		/* Drift may have raised the floor meanwhile. */
		if (above < (s64)(elapsed >> NIC_TS_TRACK_DRIFT_SHIFT)) {
			t->low = offset;
			t->host_ns = host_ns;
		}
		return NIC_TS_HW_OK;
	}
	if (++t->strikes < NIC_TS_TRACK_STRIKES)
		return verdict;
	*stepped = true;
restart:
	t->low = offset;
	t->host_ns = host_ns;
	t->strikes = 0;
	return NIC_TS_HW_OK;
}

#endif /* _NIC_TS_MAP_H */
