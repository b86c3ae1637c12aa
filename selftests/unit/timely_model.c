// SPDX-License-Identifier: GPL-2.0
/* TIMELY in double precision; see timely_model.h. */
#include <math.h>

#include "timely_model.h"

#define LONGEST_RTT	10e9	/* ns: range of the signal */
#define LONGEST_WINDOW	1e9	/* ns */
#define MOST_SENT	2147483648.0	/* bytes that settle a window */

static double between(double x, double low, double high)
{
	return fmin(fmax(x, low), high);
}

/* Floor first: a link slower than the floor wins. */
static void bound(struct model *m, const struct model_params *p)
{
	m->rate = fmin(fmax(m->rate, p->floor), p->cap);
}

static void new_window(struct model *m)
{
	m->win = (struct model_window) { .lowest = m->rate };
}

void model_start(struct model *m, const struct model_params *p, double rate)
{
	*m = (struct model) { .rate = rate, .prev_rtt = -1 };
	bound(m, p);
	new_window(m);
}

/* After idle: no faster than before. Who limits it is found out without the silence. */
void model_start_idle(struct model *m, const struct model_params *p,
		      double rate)
{
	struct model was = *m;

	model_start(m, p, fmin(rate, m->rate));
	m->limited = was.limited;
	m->win = was.win;
}

void model_loss(struct model *m, const struct model_params *p)
{
	m->rate *= 1 - p->loss_beta;
	m->negatives = 0;
	bound(m, p);
}

/*
 * TIMELY section 5: the target may rise if the application sends at 80 % of it
 * or more. Decided over an RTT (at most one second, or 2 GB) in which ten
 * segments either were sent or could have been.
 */
struct model_verdict model_account(struct model *m,
				   const struct model_params *p, double elapsed,
				   double sent, double rtt)
{
	struct model_window *w = &m->win;
	struct model_verdict v = { false, 0 };
	double rtt_or_second = fmin(rtt, LONGEST_WINDOW);

	w->time = fmin(w->time + elapsed, LONGEST_WINDOW);
	w->sent += sent;
	w->lowest = fmin(w->lowest, m->rate);
	v.entitled = w->lowest * w->time / 1e9;

	v.closed = (w->time >= rtt_or_second || w->sent >= MOST_SENT) &&
		   (fmax(w->sent, v.entitled) >= 10 * p->segment ||
		    w->time >= LONGEST_WINDOW);
	if (v.closed) {
		m->limited = w->sent < p->share * v.entitled;
		new_window(m);
	}
	return v;
}

/*
 * Algorithm 1 of TIMELY, Algorithm 2 of Zhu et al. Each update counts for the
 * part of a minRTT that passed since the last one (TIMELY section 5), and none
 * takes more than half of the rate.
 */
enum model_law model_completion(struct model *m, const struct model_params *p,
				double rtt, double elapsed)
{
	double part = between(elapsed / p->min_rtt, 0, 1);
	double gradient, raise = 0, loss = 0;
	enum model_law law;

	rtt = fmin(rtt, LONGEST_RTT);
	if (rtt < p->least_rtt) {
		/* No RTT: nothing is compared with it, nor it with anything. */
		rtt = p->least_rtt;
		m->rtt_diff = 0;
		m->prev_rtt = -1;
	} else {
		m->rtt_diff *= 1 - p->alpha;
		if (m->prev_rtt >= 0)
			m->rtt_diff += p->alpha * (rtt - m->prev_rtt);
		m->prev_rtt = rtt;
	}
	gradient = fabs(m->rtt_diff) < MODEL_NO_DIFF ? 0 : m->rtt_diff / p->min_rtt;
	m->negatives = gradient < 0 ? m->negatives + 1 : 0;

	if (rtt < p->t_low) {
		law = MODEL_BELOW_TLOW;
		raise = p->delta;
	} else if (rtt > p->t_high) {
		law = MODEL_ABOVE_THIGH;
		loss = p->beta * (1 - p->t_high / rtt);
	} else if (p->patched) {
		double w = between(2 * gradient + 0.5, 0, 1);

		law = MODEL_PATCHED;
		raise = p->delta * (1 - w);
		loss = p->beta_patched * w * (rtt / p->t_low - 1);
	} else if (gradient > 0) {
		law = MODEL_RISING;
		loss = p->beta * gradient;
	} else if (m->negatives >= p->hai_after) {
		law = MODEL_FALLING_HAI;
		raise = p->hai_n * p->delta;
	} else {
		law = MODEL_FALLING;
		raise = p->delta;
	}

	m->rate *= 1 - fmin(part * loss, 0.5);
	if (!m->limited)
		m->rate += part * raise;
	bound(m, p);
	return law;
}
