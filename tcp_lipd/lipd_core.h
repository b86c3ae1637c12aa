/* SPDX-License-Identifier: GPL-2.0 */
/*
 * InfiniBand's ECN, the source: LIPD, FIMD and AIMD as pure functions on integers.
 *
 * A flow has a window of few packets and a rate R between R_max and R_min = R_max / N.
 * Here its state is x = R_max / R, from 1 to N; InfiniBand's inter-packet delay is x - 1.
 * Each packet that is acknowledged moves it:
 *
 *			marked			unmarked
 *	lipd	x = min(x + 1, N)	x = max(x * (1 - 1/N), 1)
 *	fimd	x = min(2 * x, N)	x = max(x * 2^(-x/N), 1)
 *	ibaimd	x = min(2 * x, N)	x = max(x / (1 + (x/N)^2), 1)
 *
 * In rates: LIPD adds a packet time to the delay between packets for a mark, and takes it
 * back in T_rec = 1 / R_min, at any rate. FIMD halves the rate, and doubles it in
 * T_rec. AIMD halves it and adds R_min in T_rec. From R_min to R_max, without a mark:
 *
 *			N = 256, packets of 2.048 us
 *	lipd, ibaimd	(N - 1) * T_rec		133.7 ms
 *	fimd		log2(N) * T_rec		  4.2 ms
 *
 * Source: Santos, Turner, Janakiraman, "End-to-End Congestion Control for InfiniBand",
 * INFOCOM 2003, section V (conditions and functions), VI-B (N = 256, m = 2, AIMD).
 *
 * Differences from the paper, here:
 *  - N is a power of two that can be set, so that Rmin/R = x/N is a shift.
 *  - One mark of a round trip counts, unless more are asked for. A window of one packet, the
 *    paper's, has no more. In a larger one, a switch that marks all above a threshold
 *    marks as many packets as are in flight, and x + 1 for each of them would leave
 *    almost nothing of the rate.
 *  - Without ECN marks, a lost packet doubles x, once per round trip. The paper's fabric
 *    loses none.
 *  - The window that is computed has room for two segments beside the path's own packets,
 *    because software batches. The paper's is one packet.
 *  - One ACK moves x by LIPD_MAX_STEPS unmarked packets at most.
 *
 * Nothing in this file depends on the kernel but fixed-size integers, div64_u64() and
 * div_u64(): it is compiled into the module and the unit tests.
 */
#ifndef _LIPD_CORE_H
#define _LIPD_CORE_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

/*
 * x: unsigned Q32, 1 to N <= 2^12, so 45 bits. The smallest step, of AIMD at x = 1 with
 * N = 4096, is x * 2^-24, 256 units: rounding is 0.4 % of it at most, and 0.002 % with
 * N = 256.
 */
#define LIPD_SHIFT		32
#define LIPD_ONE		(1ULL << LIPD_SHIFT)

/* log2 of N: bounds, and the paper's (256 delays of InfiniBand). */
#define LIPD_MIN_LEVELS		1
#define LIPD_MAX_LEVELS		12

/* A share R / R_max = 1/x: unsigned Q31, 2^-12 to 1, so 32 bits. */
#define LIPD_SHARE_SHIFT	31
#define LIPD_SHARE_ONE		(1U << LIPD_SHARE_SHIFT)

/*
 * Unmarked packets of one ACK that count. A batch of GRO has up to 45 of Ethernet's size.
 * Each takes a step of its own, since steps get smaller.
 */
#define LIPD_MAX_STEPS		256U

/* Powers in lipd_exp2_neg(). */
#define LIPD_EXP_TERMS		9

/* Longest RTT that a window is computed from, us: 10 s. */
#define LIPD_MAX_RTT_US		10000000U

/* Packets in a window that is computed, at least. */
#define LIPD_MIN_WINDOW		2U

/* The laws; the order is that of the congestion controls in lipd_tcp.c. */
enum lipd_law {
	LIPD_LAW_LIPD,		/* linear inter-packet delay */
	LIPD_LAW_FIMD,		/* fast increase, multiplicative decrease */
	LIPD_LAW_AIMD,		/* additive increase, multiplicative decrease */
	LIPD_LAWS
};

/**
 * struct lipd_params - parameters in the units of the arithmetic
 * @law:	enum lipd_law
 * @levels:	log2 of N, %LIPD_MIN_LEVELS to %LIPD_MAX_LEVELS
 * @discrete:	rates are R_max / (1 + ipd) with a whole ipd, as InfiniBand has them
 */
struct lipd_params {
	u8	law;
	u8	levels;
	u8	discrete;
};

/* lipd_x_max() - N in Q32 */
static inline u64 lipd_x_max(const struct lipd_params *p)
{
	return LIPD_ONE << p->levels;
}

/**
 * lipd_mul() - multiply by a fraction, rounding down
 * @a: below 2^45
 * @frac: Q32, below one
 *
 * The products are below 2^45 and 2^64, and the sum is below @a: no overflow.
 */
static inline u64 lipd_mul(u64 a, u32 frac)
{
	return (a >> 32) * frac + (((a & 0xffffffffULL) * frac) >> 32);
}

/**
 * lipd_exp2_neg() - 2^-e
 * @e: Q32, above 0, up to one
 *
 * 1 - e ln2 + (e ln2)^2 / 2! - ...: after the ninth power less than 8e-9 is missing. The terms
 * fall, so that no difference is below zero.
 *
 * Return: Q32, one half to below one.
 */
static inline u32 lipd_exp2_neg(u64 e)
{
	/* ln(2)^k / k! in Q32, k = 9 to 1 */
	static const u32 term[LIPD_EXP_TERMS] = {
		437, 5676, 65510, 661577, 5726720, 41309550, 238388332, 1031764991,
		2977044472U,
	};
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < LIPD_EXP_TERMS; i++)
		sum = term[i] - ((sum * e) >> 32);
	return (u32)min_t(u64, LIPD_ONE - ((sum * e) >> 32), 0xffffffffULL);
}

/**
 * lipd_counted() - marked packets that count
 * @marked: how many came back
 * @left: how many of this round trip still count; becomes less
 */
static inline u32 lipd_counted(u32 marked, u32 *left)
{
	marked = min_t(u32, marked, *left);
	*left -= marked;
	return marked;
}

/**
 * lipd_marked() - packets were acknowledged that came with CE
 * @x: Q32
 * @p: parameters
 * @packets: how many count
 *
 * f_dec of section V, for each of them.
 *
 * Return: the new x, Q32.
 */
static inline u64 lipd_marked(u64 x, const struct lipd_params *p, u32 packets)
{
	u64 max = lipd_x_max(p);

	/* More of them than that lead to N from anywhere. */
	packets = min_t(u32, packets, 1U << p->levels);
	if (p->law == LIPD_LAW_LIPD)
		x += packets * LIPD_ONE;
	else
		x <<= min_t(u32, packets, p->levels);
	return min_t(u64, x, max);
}

/* f_inc of section V: one packet. */
static inline u64 lipd_step(u64 x, const struct lipd_params *p)
{
	u64 e, square;

	switch (p->law) {
	case LIPD_LAW_FIMD:
		return lipd_mul(x, lipd_exp2_neg(x >> p->levels));
	case LIPD_LAW_AIMD:
		/* x/N in Q31, its square in Q62, one plus that in Q30: the quotient is Q32. */
		e = x >> (p->levels + 1);
		square = e * e;
		square = div_u64(square, (u32)((1U << 30) + (square >> 32)));
		return x - lipd_mul(x, (u32)square);
	default:
		return x - (x >> p->levels);
	}
}

/**
 * lipd_unmarked() - packets were acknowledged that came without CE
 * @x: Q32
 * @p: parameters
 * @packets: how many; more than LIPD_MAX_STEPS count as so many
 *
 * Return: the new x, Q32.
 */
static inline u64 lipd_unmarked(u64 x, const struct lipd_params *p, u32 packets)
{
	/* N may have become less: x/N is one at most. */
	x = min_t(u64, x, lipd_x_max(p));
	for (packets = min_t(u32, packets, LIPD_MAX_STEPS); packets && x > LIPD_ONE; packets--)
		x = lipd_step(x, p);
	return max_t(u64, x, LIPD_ONE);
}

/**
 * lipd_lost() - the fallback cut on packet loss, for all laws
 * @x: Q32
 * @p: parameters
 *
 * The caller makes sure that it is called at most once per round trip.
 *
 * Return: the new x, Q32.
 */
static inline u64 lipd_lost(u64 x, const struct lipd_params *p)
{
	return min_t(u64, 2 * x, lipd_x_max(p));
}

/**
 * lipd_share() - the share of R_max that is sent
 * @x: Q32
 * @p: parameters
 *
 * Only this is rounded to whole delays where rates are discrete; x itself moves by less
 * than one.
 *
 * Return: R / R_max, Q31.
 */
static inline u32 lipd_share(u64 x, const struct lipd_params *p)
{
	if (p->discrete)
		x = (x + LIPD_ONE / 2) & ~(LIPD_ONE - 1);
	return (u32)div64_u64(1ULL << (LIPD_SHARE_SHIFT + LIPD_SHIFT), x);
}

/**
 * lipd_of() - a share of a rate, rounded down
 * @a: below 2^63
 * @share: Q31, at most one
 */
static inline u64 lipd_of(u64 a, u32 share)
{
	return (a >> LIPD_SHARE_SHIFT) * share +
	       (((a & (LIPD_SHARE_ONE - 1)) * share) >> LIPD_SHARE_SHIFT);
}

/**
 * lipd_burst() - packets that leave in one go
 * @packets: at R_max, below 2^16
 * @share: Q31
 *
 * InfiniBand has the delay behind each packet. Software sends several at once to save work,
 * of which there is less at a lower rate.
 *
 * Return: 1 to @packets.
 */
static inline u32 lipd_burst(u32 packets, u32 share)
{
	return max_t(u32, (u32)lipd_of(packets, share), 1);
}

/**
 * lipd_window() - packets that fill an empty path
 * @max_bps: R_max, bytes/s, below 2^38
 * @rtt_us: RTT of the empty path, us; more than LIPD_MAX_RTT_US counts as that
 * @mss: payload of a packet, bytes, 1 or more
 * @burst: packets that leave in one go at R_max
 *
 * This is the data that R_max sends in the RTT, and two bursts: one on its way out, one whose ACK
 * is on its way back. 2^38 * 2^24 < 2^63.
 */
static inline u32 lipd_window(u64 max_bps, u32 rtt_us, u32 mss, u32 burst)
{
	u64 bytes = div_u64(max_bps * min_t(u32, rtt_us, LIPD_MAX_RTT_US), 1000000);

	return (u32)min_t(u64, max_t(u64, div_u64(bytes + mss - 1, mss) + 2ULL * burst,
				     LIPD_MIN_WINDOW), S32_MAX);
}

#endif /* _LIPD_CORE_H */
