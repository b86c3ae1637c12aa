/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arithmetic of the test NIC: the wire, random numbers and the PTP hardware
 * clock, as pure functions on integers.
 *
 * A frame of L bytes, from the destination address to the last data byte, is on
 * the wire as
 *
 *	preamble and start-of-frame delimiter	8 bytes
 *	frame, padded to 60 bytes		max(L, 60)
 *	frame check sequence			4
 *	gap to the next frame			12
 *
 * A byte takes 8 * 10^9 / rate nanoseconds. The wire's clock is a fraction with
 * the rate as its denominator, so nothing is ever rounded away: the start of the
 * nth frame in a row is exact for every n. Only what leaves this file is a whole
 * number of nanoseconds, rounded up.
 *
 * Nothing in here depends on the kernel but fixed-size integers and a few
 * divisions: it is compiled into the module and into the unit tests.
 */
#ifndef _LABNIC_CORE_H
#define _LABNIC_CORE_H

#include <linux/math64.h>
#include <linux/types.h>

#include "labnic_params.h"

#define LABNIC_PREAMBLE_BYTES	8
#define LABNIC_MIN_FRAME_BYTES	60
#define LABNIC_FCS_BYTES	4
#define LABNIC_GAP_BYTES	12

/* Bit times of one byte in nanoseconds, times the rate. */
#define LABNIC_BYTE_BIT_NS	8000000000ULL

/**
 * struct labnic_time - an instant, exact
 * @ns: nanoseconds, rounded down
 * @part: the rest, in units of 1/rate ns; 0 to rate - 1
 */
struct labnic_time {
	u64 ns;
	u64 part;
};

/**
 * struct labnic_slot - when a frame is on the wire, in ns, rounded up
 * @begin_ns: start of the preamble
 * @sfd_ns: end of the start-of-frame delimiter, the time of PTP's timestamps
 * @end_ns: end of the frame check sequence
 */
struct labnic_slot {
	u64 begin_ns;
	u64 sfd_ns;
	u64 end_ns;
};

/**
 * labnic_time_add() - @bytes later, at @rate_bit
 * @t: start
 * @bytes: 0 to 2^20
 * @rate_bit: bit/s, 1 to 1.6016 * 10^12
 *
 * The largest dividend is 2^20 * 8 * 10^9 + rate, below 2^54.
 *
 * Return: the exact instant.
 */
static inline struct labnic_time labnic_time_add(struct labnic_time t, u32 bytes,
						 u64 rate_bit)
{
	t.ns += div64_u64_rem(bytes * LABNIC_BYTE_BIT_NS + t.part, rate_bit, &t.part);
	return t;
}

/* labnic_time_ceil() - the first whole nanosecond that is not before @t. */
static inline u64 labnic_time_ceil(struct labnic_time t)
{
	return t.ns + (t.part != 0);
}

/**
 * labnic_rate_bit() - the line rate as it is, by the host's clock
 * @rate_bit: nominal, 1000 to 1.6 * 10^12 bit/s
 * @drift_ppb: frequency error of the transmitter, -10^6 to 10^6
 *
 * The product is at most 1.6 * 10^18.
 *
 * Return: bit/s, rounded towards the nominal rate.
 */
static inline u64 labnic_rate_bit(u64 rate_bit, s64 drift_ppb)
{
	if (!drift_ppb)
		return rate_bit;
	return rate_bit + div_s64((s64)rate_bit * drift_ppb, 1000000000);
}

/* labnic_frame_bytes() - what is sent between delimiter and check sequence. */
static inline u32 labnic_frame_bytes(u32 len)
{
	return len < LABNIC_MIN_FRAME_BYTES ? LABNIC_MIN_FRAME_BYTES : len;
}

/* labnic_wire_bytes() - what a frame costs of the wire, gap included. */
static inline u32 labnic_wire_bytes(u32 len)
{
	return LABNIC_PREAMBLE_BYTES + labnic_frame_bytes(len) + LABNIC_FCS_BYTES +
	       LABNIC_GAP_BYTES;
}

/**
 * labnic_wire_send() - put one frame on the wire
 * @wire: when the wire is free; then, when it is free again
 * @ready_ns: the frame can't start before; it was rounded up, so if that is the
 *	nanosecond in which the wire becomes free the frame follows without a gap
 * @len: frame in bytes, without check sequence
 * @rate_bit: bit/s
 *
 * Return: when it is there.
 */
static inline struct labnic_slot labnic_wire_send(struct labnic_time *wire,
						  u64 ready_ns, u32 len, u64 rate_bit)
{
	u32 frame = LABNIC_PREAMBLE_BYTES + labnic_frame_bytes(len) + LABNIC_FCS_BYTES;
	struct labnic_slot slot;

	if (ready_ns > labnic_time_ceil(*wire)) {
		wire->ns = ready_ns;
		wire->part = 0;
	}
	slot.begin_ns = labnic_time_ceil(*wire);
	slot.sfd_ns = labnic_time_ceil(labnic_time_add(*wire, LABNIC_PREAMBLE_BYTES,
						       rate_bit));
	*wire = labnic_time_add(*wire, frame, rate_bit);
	slot.end_ns = labnic_time_ceil(*wire);
	*wire = labnic_time_add(*wire, LABNIC_GAP_BYTES, rate_bit);
	return slot;
}

/**
 * labnic_cut_through_ns() - when a frame can be passed on by its receiver
 * @slot: when it is on the wire
 * @cut_ns: time that the receiver needs from its first bit on; 0: it waits for the last
 *
 * Return: ns, without the propagation delay.
 */
static inline u64 labnic_cut_through_ns(const struct labnic_slot *slot, u64 cut_ns)
{
	return cut_ns && slot->begin_ns + cut_ns < slot->end_ns ? slot->begin_ns + cut_ns :
	       slot->end_ns;
}

/* Random numbers ----------------------------------------------------------- */

/*
 * One stream for each purpose: turning one fault on does not move the others.
 * A stream is a counter in steps of an odd constant, each value of it mixed.
 */
struct labnic_rng {
	u64 state;
};

/* of the direction an end sends in */
enum {
	LABNIC_RNG_HOST,
	LABNIC_RNG_LOSS,
	LABNIC_RNG_DUPLICATE,
	LABNIC_RNG_REORDER,
	LABNIC_RNG_CORRUPT,
	LABNIC_RNG_CORRUPT_BIT,
	LABNIC_RNG_STAMP_MISS,
	LABNIC_RNG_STAMP_LATE,
	LABNIC_RNG_STAMP_DISORDER,
	LABNIC_RNG_TX_MAX,
	/* Each RX queue has these, from here on, in steps of LABNIC_RNG_RX_MAX. */
	LABNIC_RNG_RXQ = 64,
};

/* of an RX queue */
enum {
	LABNIC_RNG_IRQ,
	LABNIC_RNG_RX_MISS,
	LABNIC_RNG_RX_DISORDER,
	LABNIC_RNG_RX_MAX,
};

static inline u64 labnic_mix(u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static inline void labnic_rng_seed(struct labnic_rng *rng, u64 seed, u32 stream)
{
	rng->state = labnic_mix(labnic_mix(seed) + stream);
}

static inline u64 labnic_rng_next(struct labnic_rng *rng)
{
	rng->state += 0x9e3779b97f4a7c15ULL;
	return labnic_mix(rng->state);
}

/**
 * labnic_rng_hit() - an event of probability @ppb / 10^9
 * @rng: the stream; it is not advanced if @ppb is 0
 * @ppb: 0 (never) to 10^9 (always)
 */
static inline bool labnic_rng_hit(struct labnic_rng *rng, u64 ppb)
{
	if (!ppb)
		return false;
	return ((labnic_rng_next(rng) >> 32) * 1000000000ULL >> 32) < ppb;
}

/*
 * labnic_neg_ln() - -ln((u + 1) / 2^64) in Q24, 0 to 44.4.
 *
 * The integer part of the binary logarithm is the number of leading zeros, each
 * further bit the carry of a squaring. 20 of them leave an error below 10^-6.
 */
static inline u64 labnic_neg_ln(u64 u)
{
	u64 log2 = 0, x;
	int i;

	if (u == ~0ULL)
		return 0;
	u++;
	/* 64 - log2(u), in Q20 */
	log2 = 64ULL << 20;
	for (i = 63; !(u >> i & 1); i--)
		;
	log2 -= (u64)i << 20;
	x = i > 31 ? u >> (i - 31) : u << (31 - i);
	for (i = 19; i >= 0; i--) {
		x = x * x >> 31;
		if (x >> 32) {
			x >>= 1;
			log2 -= 1ULL << i;
		}
	}
	/* times ln(2), 2977044471 / 2^32; from Q20 to Q24 */
	return log2 * 2977044471ULL >> 28;
}

/**
 * labnic_dist_sample() - a time from a distribution
 * @rng: the stream; a constant does not advance it
 * @kind: enum labnic_dist_kind
 * @base_ns: 0 to 10^9
 * @spread_ns: 0 to 10^9
 *
 * The normal one is the sum of twelve uniform numbers less six: no value is more
 * than six deviations away. X is in Q24 and below 2^30, so products fit.
 *
 * Return: base + spread * X in ns, not below 0.
 */
static inline u64 labnic_dist_sample(struct labnic_rng *rng, u32 kind, u64 base_ns,
				     u64 spread_ns)
{
	s64 sum = 0;
	u64 draw;
	int i;

	switch (kind) {
	case LABNIC_DIST_UNIFORM:
		return base_ns + ((labnic_rng_next(rng) >> 40) * spread_ns >> 24);
	case LABNIC_DIST_EXPONENTIAL:
		return base_ns + (labnic_neg_ln(labnic_rng_next(rng)) * spread_ns >> 24);
	case LABNIC_DIST_NORMAL:
		for (i = 0; i < 6; i++) {
			draw = labnic_rng_next(rng);
			sum += (s64)(draw >> 40) + (s64)(draw & 0xffffff);
		}
		sum -= 6LL << 24;
		if (sum < 0) {
			draw = (u64)-sum * spread_ns >> 24;
			return draw < base_ns ? base_ns - draw : 0;
		}
		return base_ns + ((u64)sum * spread_ns >> 24);
	default:
		return base_ns;
	}
}

/* PTP hardware clock ------------------------------------------------------- */

/*
 * Deviations of frequency are in units of 10^-15. A value in ppb or in 2^-16 ppm is
 * exact, or cut by less than one unit (0.1 ns in a day).
 */
#define LABNIC_FREQ_ONE		1000000000000000ULL
#define LABNIC_FREQ_PPB		1000000LL
/* Oscillator and adjustment together stay within 1 %. */
#define LABNIC_FREQ_MAX		(LABNIC_FREQ_PPB * 10000000LL)
#define LABNIC_ADJ_MAX_PPB	5000000

/**
 * struct labnic_phc_line - the clock, from an instant on
 * @raw_ns: that instant, on the clock the hardware clock is compared with
 * @phc_ns: the hardware clock then
 * @part: and the rest of it, in units of 10^-15 ns; below 10^15
 * @freq: its deviation then
 * @change: and the change of that per second, in 10^-9
 */
struct labnic_phc_line {
	u64 raw_ns;
	u64 phc_ns;
	u64 part;
	s64 freq;
	s64 change;
};

/**
 * struct labnic_phc - hardware clock
 * @now: the line that holds now
 * @before: the one that held before the last adjustment, for stamps of packets
 *	that were on the wire before it
 * @drift: deviation of the oscillator at the start of @now
 * @change_ppb: its change per second
 * @adj: deviation asked for by adjfine()
 */
struct labnic_phc {
	struct labnic_phc_line now;
	struct labnic_phc_line before;
	s64 drift;
	s64 change_ppb;
	s64 adj;
};

static inline s64 labnic_freq_clamp(s64 freq)
{
	return freq > LABNIC_FREQ_MAX ? LABNIC_FREQ_MAX :
	       freq < -LABNIC_FREQ_MAX ? -LABNIC_FREQ_MAX : freq;
}

/* What deviation @freq has become @dt ns later, at @change_ppb per second. */
static inline s64 labnic_freq_after(s64 freq, s64 change_ppb, u64 dt)
{
	/* 10^-9 per second is 10^6 units in 10^9 ns; a day is below 10^14 ns */
	return labnic_freq_clamp(freq + div_s64((s64)dt * change_ppb, 1000));
}

/**
 * labnic_phc_line_at() - the hardware clock on a line
 * @line: the line
 * @raw_ns: not before the start of the line, and at most 100 days after it
 * @part: where to put the rest, in units of 10^-15 ns
 *
 * A deviation that changes linearly acts as the one in the middle.
 *
 * Return: ns, rounded down.
 */
static inline u64 labnic_phc_line_at(const struct labnic_phc_line *line, u64 raw_ns,
				     u64 *part)
{
	u64 dt = raw_ns - line->raw_ns;
	s64 freq = labnic_freq_after(line->freq, line->change, dt >> 1);
	u64 size = freq < 0 ? -freq : freq;
	u64 ns = mul_u64_u64_div_u64(dt, size, LABNIC_FREQ_ONE);
	/* It is below 10^15, so the low 64 bits have all of it. */
	u64 rest = dt * size - ns * LABNIC_FREQ_ONE;

	if (freq < 0) {
		if (rest > line->part) {
			*part = line->part + LABNIC_FREQ_ONE - rest;
			ns++;
		} else {
			*part = line->part - rest;
		}
		return line->phc_ns + dt - ns;
	}
	*part = line->part + rest;
	if (*part >= LABNIC_FREQ_ONE) {
		*part -= LABNIC_FREQ_ONE;
		ns++;
	}
	return line->phc_ns + dt + ns;
}

/**
 * labnic_phc_at() - read the hardware clock
 * @phc: the clock
 * @raw_ns: now, or the time of a packet shortly before or after
 *
 * Return: ns.
 */
static inline u64 labnic_phc_at(const struct labnic_phc *phc, u64 raw_ns)
{
	u64 part;

	if ((s64)(raw_ns - phc->now.raw_ns) >= 0)
		return labnic_phc_line_at(&phc->now, raw_ns, &part);
	if ((s64)(raw_ns - phc->before.raw_ns) >= 0)
		return labnic_phc_line_at(&phc->before, raw_ns, &part);
	return phc->before.phc_ns - (phc->before.raw_ns - raw_ns);
}

/* labnic_phc_rebase() - start a new line where the clock is at @raw_ns. */
static inline void labnic_phc_rebase(struct labnic_phc *phc, u64 raw_ns)
{
	u64 part, ns = labnic_phc_line_at(&phc->now, raw_ns, &part);

	phc->drift = labnic_freq_after(phc->drift, phc->change_ppb,
				       raw_ns - phc->now.raw_ns);
	phc->before = phc->now;
	phc->now.raw_ns = raw_ns;
	phc->now.phc_ns = ns;
	phc->now.part = part;
	phc->now.freq = labnic_freq_clamp(phc->drift + phc->adj);
	phc->now.change = phc->change_ppb;
}

/* labnic_phc_set() - the clock reads @phc_ns at @raw_ns. */
static inline void labnic_phc_set(struct labnic_phc *phc, u64 raw_ns, u64 phc_ns)
{
	labnic_phc_rebase(phc, raw_ns);
	phc->now.phc_ns = phc_ns;
	phc->now.part = 0;
}

/* labnic_phc_step() - step the clock by @delta_ns. */
static inline void labnic_phc_step(struct labnic_phc *phc, u64 raw_ns, s64 delta_ns)
{
	labnic_phc_rebase(phc, raw_ns);
	phc->now.phc_ns += delta_ns;
}

/* labnic_phc_init() - it reads @phc_ns at @raw_ns, and has an exact oscillator. */
static inline void labnic_phc_init(struct labnic_phc *phc, u64 raw_ns, u64 phc_ns)
{
	*phc = (struct labnic_phc){
		.now = { .raw_ns = raw_ns, .phc_ns = phc_ns },
	};
	phc->before = phc->now;
}

/**
 * labnic_phc_set_drift() - the oscillator is off from now on
 * @phc: the clock
 * @raw_ns: now
 * @drift_ppb: by so much
 * @change_ppb: and by so much more each second
 */
static inline void labnic_phc_set_drift(struct labnic_phc *phc, u64 raw_ns,
					s64 drift_ppb, s64 change_ppb)
{
	labnic_phc_rebase(phc, raw_ns);
	phc->drift = drift_ppb * LABNIC_FREQ_PPB;
	phc->change_ppb = change_ppb;
	phc->now.freq = labnic_freq_clamp(phc->drift + phc->adj);
	phc->now.change = change_ppb;
}

/**
 * labnic_phc_adjust() - slew the clock
 * @phc: the clock
 * @raw_ns: now
 * @scaled_ppm: parts per million times 2^16, within LABNIC_ADJ_MAX_PPB
 */
static inline void labnic_phc_adjust(struct labnic_phc *phc, u64 raw_ns, s64 scaled_ppm)
{
	labnic_phc_rebase(phc, raw_ns);
	/* 10^9 / 2^16 is 5^9 / 2^7 */
	phc->adj = div_s64(scaled_ppm * 1953125, 128);
	phc->now.freq = labnic_freq_clamp(phc->drift + phc->adj);
}

#endif /* _LABNIC_CORE_H */
