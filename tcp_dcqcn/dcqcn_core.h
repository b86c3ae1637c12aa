/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DCQCN, the reaction point: pure functions on integers.
 *
 * A flow has a current rate RC, a target rate RT, and alpha, an estimate of congestion. It
 * starts at the line rate with alpha = 1. A congestion notification (CNP) cuts it:
 *
 *	RT = RC,  RC = RC * (1 - alpha/2),  alpha = (1 - g) * alpha + g
 *	T = BC = 0, all timers and the byte counter begin anew
 *
 * Without a CNP alpha falls, every alpha_timer (55 us): alpha = (1 - g) * alpha.
 *
 * The rate rises whenever the increase timer (55 us) expires, which counts T, and whenever the
 * byte counter (10 MB sent) expires, which counts BC:
 *
 *	max(T, BC) < F		fast recovery:				RC = (RT + RC) / 2
 *	min(T, BC) > F		hyper increase:		RT += R_HAI,	RC = (RT + RC) / 2
 *	otherwise		additive increase:	RT += R_AI,	RC = (RT + RC) / 2
 *
 * T and BC do not count the event itself yet: F fast recoveries, then the first additive
 * increase.
 *
 * The notification point sends a CNP for the first marked packet, and no other one within 50 us
 * for the same flow.
 *
 * Source: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015,
 * sections 3.1 (equations 1 to 4, figure 7) and 5.2 (values of the parameters).
 *
 * Differences from the paper, here:
 *  - The sender takes each echo of a mark, and has the notification point's interval itself.
 *  - Timers are evaluated when the caller says what time it is (at ACKs and before data after
 *    silence), and RC changes only then. The increases are as many as without that delay.
 *  - If both the timer and the byte counter expired since, the timer's increases come first.
 *  - One evaluation makes DCQCN_MAX_STEPS increases at most; the next one makes the others.
 *  - Before the first CNP no timer runs, as in a NIC that has no rate limiter for the flow yet.
 *  - A lost packet halves RC, once per round trip. The paper's fabric loses none.
 *  - RC does not fall below a least rate.
 *
 * Nothing in this file depends on the kernel but fixed-size integers and div64_u64(): it is
 * compiled into the module and the unit tests.
 */
#ifndef _DCQCN_CORE_H
#define _DCQCN_CORE_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "q30.h"

/* Expiries of one timer that one evaluation handles: 56 ms of 55 us. */
#define DCQCN_MAX_STEPS		1024U

/*
 * Time that is not handled yet, ns: the most. 2^31, so that sums are below 2^32. Timers are
 * at most DCQCN_MAX_TIMER_NS, and an evaluation adds at most DCQCN_MAX_ELAPSED_NS.
 */
#define DCQCN_MAX_PENDING_NS	(1U << 31)
#define DCQCN_MAX_ELAPSED_NS	(1U << 30)
#define DCQCN_MAX_TIMER_NS	1000000000U

/* Highest rate, bytes/s: 1.6 Tbit/s are 2e11. RT + RC and RC * 2 stay far below 2^64. */
#define DCQCN_MAX_BPS		(1ULL << 38)

/* T and BC stop here; more expiries change nothing. */
#define DCQCN_MAX_COUNT		255U

/**
 * struct dcqcn_params - parameters in the units of the arithmetic
 * @min_bps:	least RC, bytes/s, 1 or more
 * @ai_bps:	R_AI, bytes/s
 * @hai_bps:	R_HAI, bytes/s
 * @cnp_ns:	interval of CNPs, ns; 0: each echo is one
 * @alpha_ns:	alpha's timer, ns, 1 to %DCQCN_MAX_TIMER_NS
 * @timer_ns:	increase timer, ns, 1 to %DCQCN_MAX_TIMER_NS
 * @bytes:	byte counter, bytes, 1 to 2^31
 * @g_shift:	-log2 of g, 1 to 16
 * @stages:	F, below %DCQCN_MAX_COUNT
 */
struct dcqcn_params {
	u64	min_bps;
	u64	ai_bps;
	u64	hai_bps;
	u32	cnp_ns;
	u32	alpha_ns;
	u32	timer_ns;
	u32	bytes;
	u8	g_shift;
	u8	stages;
};

/**
 * struct dcqcn_flow - the reaction point of a flow
 * @rate_bps:	RC, bytes/s
 * @target_bps:	RT, bytes/s
 * @now_ns:	time of the last evaluation
 * @alpha_wait_ns: time that alpha's timer has run since it last expired, ns
 * @timer_wait_ns: the same of the increase timer
 * @cnp_wait_ns: time since the last CNP, ns; ends at %DCQCN_MAX_PENDING_NS
 * @sent:	bytes sent when the byte counter last expired, modulo 2^32
 * @alpha:	Q30, 0 to 1
 * @timer_count: T
 * @byte_count:	BC
 * @limited:	there was a CNP or a loss: timers run
 *
 * The caller serialises all access (in a module: the socket lock).
 */
struct dcqcn_flow {
	u64	rate_bps;
	u64	target_bps;
	u64	now_ns;
	u32	alpha_wait_ns;
	u32	timer_wait_ns;
	u32	cnp_wait_ns;
	u32	sent;
	u32	alpha;
	u8	timer_count;
	u8	byte_count;
	u8	limited;
};

/* Kinds of increases. */
enum dcqcn_stage {
	DCQCN_RECOVERY,
	DCQCN_ADDITIVE,
	DCQCN_HYPER,
	DCQCN_STAGES
};

/**
 * struct dcqcn_steps - what one evaluation did
 * @decays:	how often alpha's timer expired
 * @timer:	increases by the timer
 * @bytes:	increases by the byte counter
 * @stage:	increases of each stage
 */
struct dcqcn_steps {
	u32	decays;
	u32	timer;
	u32	bytes;
	u32	stage[DCQCN_STAGES];
};

/**
 * dcqcn_start() - begin at the line rate
 * @f: flow
 * @cap_bps: line rate, bytes/s, up to %DCQCN_MAX_BPS
 * @now_ns: time
 */
static inline void dcqcn_start(struct dcqcn_flow *f, u64 cap_bps, u64 now_ns)
{
	*f = (struct dcqcn_flow){
		.rate_bps = cap_bps, .target_bps = cap_bps, .now_ns = now_ns,
		.cnp_wait_ns = DCQCN_MAX_PENDING_NS, .alpha = Q30_ONE,
	};
}

/* Keep RT at most at the line rate, and RC between the least rate and that. */
static inline void dcqcn_bound(struct dcqcn_flow *f, const struct dcqcn_params *p, u64 cap_bps)
{
	f->target_bps = min_t(u64, f->target_bps, cap_bps);
	f->rate_bps = min_t(u64, max_t(u64, f->rate_bps, p->min_bps), cap_bps);
	f->target_bps = max_t(u64, f->target_bps, f->rate_bps);
}

/* g * @a, rounded up, so that alpha reaches 0. */
static inline u32 dcqcn_part(u32 a, u8 g_shift)
{
	return (a + (1U << g_shift) - 1) >> g_shift;
}

/* Figure 7: the stage that T and BC are in. */
static inline enum dcqcn_stage dcqcn_stage(const struct dcqcn_flow *f,
					   const struct dcqcn_params *p)
{
	u8 most = max_t(u8, f->timer_count, f->byte_count);
	u8 least = min_t(u8, f->timer_count, f->byte_count);

	if (most < p->stages)
		return DCQCN_RECOVERY;
	return least > p->stages ? DCQCN_HYPER : DCQCN_ADDITIVE;
}

/* One expiry, which @count (T or BC) counts. */
static inline void dcqcn_increase(struct dcqcn_flow *f, const struct dcqcn_params *p,
				  u64 cap_bps, u8 *count, struct dcqcn_steps *steps)
{
	enum dcqcn_stage stage;

	stage = dcqcn_stage(f, p);
	*count = min_t(u32, *count + 1U, DCQCN_MAX_COUNT);
	if (stage == DCQCN_ADDITIVE)
		f->target_bps += p->ai_bps;
	else if (stage == DCQCN_HYPER)
		f->target_bps += p->hai_bps;
	f->target_bps = min_t(u64, f->target_bps, cap_bps);
	/* Rounded up: else the last byte/s would never come back. */
	f->rate_bps = (f->target_bps + f->rate_bps + 1) / 2;
	steps->stage[stage]++;
}

/* Time went on; a clock that runs back does not. */
static inline void dcqcn_pass(struct dcqcn_flow *f, u64 now_ns)
{
	u32 elapsed_ns = 0;

	if (now_ns > f->now_ns) {
		elapsed_ns = (u32)min_t(u64, now_ns - f->now_ns, DCQCN_MAX_ELAPSED_NS);
		f->now_ns = now_ns;
	}
	f->cnp_wait_ns = min_t(u32, f->cnp_wait_ns + elapsed_ns, DCQCN_MAX_PENDING_NS);
	f->alpha_wait_ns = min_t(u32, f->alpha_wait_ns + elapsed_ns, DCQCN_MAX_PENDING_NS);
	f->timer_wait_ns = min_t(u32, f->timer_wait_ns + elapsed_ns, DCQCN_MAX_PENDING_NS);
}

/**
 * dcqcn_run() - alpha's timer, the increase timer and the byte counter, until now
 * @f: flow
 * @p: parameters
 * @cap_bps: line rate, bytes/s, up to %DCQCN_MAX_BPS
 * @now_ns: time
 * @sent: bytes sent so far, modulo 2^32
 * @steps: expired timers and counters
 */
static inline void dcqcn_run(struct dcqcn_flow *f, const struct dcqcn_params *p, u64 cap_bps,
			     u64 now_ns, u32 sent, struct dcqcn_steps *steps)
{
	*steps = (struct dcqcn_steps){ 0 };
	dcqcn_pass(f, now_ns);
	if (!f->limited) {
		f->rate_bps = cap_bps;
		f->target_bps = cap_bps;
		return;
	}
	for (; f->alpha_wait_ns >= p->alpha_ns && steps->decays < DCQCN_MAX_STEPS;
	     steps->decays++) {
		f->alpha_wait_ns -= p->alpha_ns;
		f->alpha -= dcqcn_part(f->alpha, p->g_shift);
	}
	for (; f->timer_wait_ns >= p->timer_ns && steps->timer < DCQCN_MAX_STEPS;
	     steps->timer++) {
		f->timer_wait_ns -= p->timer_ns;
		dcqcn_increase(f, p, cap_bps, &f->timer_count, steps);
	}
	for (; sent - f->sent >= p->bytes && steps->bytes < DCQCN_MAX_STEPS; steps->bytes++) {
		f->sent += p->bytes;
		dcqcn_increase(f, p, cap_bps, &f->byte_count, steps);
	}
	dcqcn_bound(f, p, cap_bps);
}

/* All timers, the byte counter, and the stages begin anew. */
static inline void dcqcn_reset(struct dcqcn_flow *f, u32 sent)
{
	f->limited = 1;
	f->timer_count = 0;
	f->byte_count = 0;
	f->alpha_wait_ns = 0;
	f->timer_wait_ns = 0;
	f->sent = sent;
}

/**
 * dcqcn_cnp() - a mark was echoed
 * @f: flow, after dcqcn_run()
 * @p: parameters
 * @cap_bps: line rate, bytes/s, up to %DCQCN_MAX_BPS
 * @sent: bytes sent so far, modulo 2^32
 *
 * Equation 1.
 *
 * Return: whether that is a CNP, or comes too soon after one, and changes nothing.
 */
static inline bool dcqcn_cnp(struct dcqcn_flow *f, const struct dcqcn_params *p, u64 cap_bps,
			     u32 sent)
{
	if (f->cnp_wait_ns < p->cnp_ns)
		return false;
	f->cnp_wait_ns = 0;
	f->target_bps = f->rate_bps;
	f->rate_bps -= q30_mul(f->rate_bps, f->alpha / 2);
	f->alpha += (Q30_ONE >> p->g_shift) - dcqcn_part(f->alpha, p->g_shift);
	dcqcn_reset(f, sent);
	dcqcn_bound(f, p, cap_bps);
	return true;
}

/**
 * dcqcn_lost() - the fallback cut on packet loss
 * @f: flow, after dcqcn_run()
 * @p: parameters
 * @cap_bps: line rate, bytes/s
 * @sent: bytes sent so far, modulo 2^32
 *
 * A CNP with alpha = 1 that leaves alpha as it is. The caller makes sure that it is called at
 * most once per round trip.
 */
static inline void dcqcn_lost(struct dcqcn_flow *f, const struct dcqcn_params *p, u64 cap_bps,
			      u32 sent)
{
	f->target_bps = f->rate_bps;
	f->rate_bps /= 2;
	dcqcn_reset(f, sent);
	dcqcn_bound(f, p, cap_bps);
}

/* dcqcn_undo() - a recovery was spurious: return to the rate that it began with, bytes/s */
static inline void dcqcn_undo(struct dcqcn_flow *f, u64 bps)
{
	f->rate_bps = max_t(u64, f->rate_bps, bps);
	f->target_bps = max_t(u64, f->target_bps, f->rate_bps);
}

/**
 * dcqcn_burst() - packets that leave in one go
 * @packets: at the line rate, below 2^16
 * @bps: rate, bytes/s, at most @cap_bps
 * @cap_bps: line rate, bytes/s, 1 or more
 *
 * Return: 1 to @packets.
 */
static inline u32 dcqcn_burst(u32 packets, u64 bps, u64 cap_bps)
{
	return max_t(u32, (u32)div64_u64(packets * bps, cap_bps), 1);
}

#endif /* _DCQCN_CORE_H */
