/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TIMELY in double precision, written from the equations of the papers: what
 * the fixed-point core is compared with. It shares no code and no constant
 * with timely_core.h.
 *
 * Units: bytes/s, nanoseconds, fractions. A double holds every integer number
 * of nanoseconds up to 10 s exactly, so the comparisons of an RTT with Tlow
 * and Thigh are exact; everything else has 53 significant bits.
 */
#ifndef _TIMELY_MODEL_H
#define _TIMELY_MODEL_H

#include <stdbool.h>

#define MODEL_NO_DIFF	1.0	/* ns, smaller RTT differences are none */

struct model_params {
	bool patched;
	double alpha, beta, beta_patched, loss_beta;
	double delta;		/* bytes/s */
	double floor, cap;	/* bytes/s */
	double t_low, t_high;	/* ns */
	double min_rtt;		/* ns */
	double least_rtt;	/* ns, below there is no queue */
	double segment;		/* bytes */
	double share;		/* of the target, to count as not limited */
	int hai_after;		/* completions */
	double hai_n;
};

enum model_law {
	MODEL_BELOW_TLOW,
	MODEL_ABOVE_THIGH,
	MODEL_FALLING,		/* gradient <= 0, N = 1 */
	MODEL_FALLING_HAI,	/* gradient <= 0, hyperactive */
	MODEL_RISING,		/* gradient > 0 */
	MODEL_PATCHED,		/* between the thresholds, Zhu et al. */
};

/* The open window of the 80 % rule. */
struct model_window {
	double time;		/* ns */
	double sent;		/* bytes */
	double lowest;		/* lowest target seen in it, bytes/s */
};

struct model {
	double rate;		/* bytes/s */
	double rtt_diff;	/* ns */
	double prev_rtt;	/* ns, negative: none */
	int negatives;		/* completions in a row with gradient < 0 */
	bool limited;
	struct model_window win;
};

struct model_verdict {
	bool closed;		/* the window closed, the flags below are new */
	double entitled;	/* bytes the lowest target let the flow send */
};

void model_start(struct model *m, const struct model_params *p, double rate);
void model_start_idle(struct model *m, const struct model_params *p,
		      double rate);
void model_loss(struct model *m, const struct model_params *p);
struct model_verdict model_account(struct model *m,
				   const struct model_params *p, double elapsed,
				   double sent, double rtt);
enum model_law model_completion(struct model *m, const struct model_params *p,
				double rtt, double elapsed);

#endif /* _TIMELY_MODEL_H */
