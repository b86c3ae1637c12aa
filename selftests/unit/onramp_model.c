// SPDX-License-Identifier: GPL-2.0
/* See onramp_model.h. */
#include <math.h>
#include <string.h>

#include "onramp_model.h"

#define BELIEVABLE	10e9	/* ns */

void model_start(struct model *m)
{
	memset(m, 0, sizeof(*m));
	m->beta = 1;
	m->held_since = -1;
}

double model_paused(const struct model *m, double t)
{
	double sum = m->before;
	int i;

	for (i = 0; i < m->intervals; i++)
		sum += fmax(0, fmin(t, m->to[i]) - m->from[i]);
	return sum;
}

double model_end(const struct model *m)
{
	return m->intervals ? m->to[m->intervals - 1] : 0;
}

/* From @now on: what was planned is void. */
void model_pause(struct model *m, double now, double end)
{
	int last = m->intervals - 1;

	if (last >= 0)
		m->to[last] = fmin(m->to[last], now);
	if (m->intervals == MODEL_INTERVALS) {
		m->before += m->to[0] - m->from[0];
		memmove(m->from, m->from + 1, sizeof(m->from) - sizeof(m->from[0]));
		memmove(m->to, m->to + 1, sizeof(m->to) - sizeof(m->to[0]));
		m->intervals--;
	}
	m->from[m->intervals] = now;
	m->to[m->intervals++] = fmax(now, end);
}

struct model_verdict model_ack(struct model *m, const struct model_params *p,
			       const struct model_packet *packet, double now,
			       double last_sent, double idle)
{
	struct model_verdict v = { .fate = MODEL_KEEP, .margin = -INFINITY, .want = -INFINITY };
	struct model_packet g = *packet;
	double p_bg, p_rtt, lag, limit;

	if (g.owd > BELIEVABLE || g.tx > now || g.paused > model_paused(m, now)) {
		v.fate = MODEL_ABSURD;
		return v;
	}
	if (now - g.tx > p->stale ||
	    (m->has_b && (g.tx < m->b.tx ||
			  (g.tx == m->b.tx && g.seq < m->b.seq)))) {
		v.fate = MODEL_TOO_OLD;
		return v;
	}
	if (m->has_b && g.tx == m->b.tx && g.seq == m->b.seq) {
		v.fate = MODEL_TWICE;
		return v;
	}
	g.owd = fmax(0, g.owd);
	p_bg = g.paused - m->b.paused;
	if (m->has_b && p_bg > 0 && (p->rule == MODEL_PRINTED ||
				     (p_bg >= floor(p->t / 2) && g.tx - m->b.tx <= p->stale))) {
		double beta_m = fmin(1, fmax(0, (m->b.owd - g.owd) / p_bg));
		bool printed = p->rule == MODEL_PRINTED;

		if (g.owd < p->empty && !printed)
			beta_m = 1;
		if (printed || g.owd < p->empty || g.owd >= p->t || beta_m >= m->beta)
			m->beta = (1 - p->g) * m->beta + p->g * beta_m;
		v.learnt = true;
	}
	m->has_b = true;
	m->b = g;

	if (p->rule == MODEL_NONE) {
		v.fate = MODEL_NO_RULE;
		return v;
	}
	p_rtt = model_paused(m, now) - g.paused;
	lag = p->rule == MODEL_EQ4 ? fmax(m->beta * p_rtt, idle) :
	      p->rule == MODEL_PRINTED ? m->beta * p_rtt : 0;
	v.want = g.owd - p->t - lag;
	v.margin = v.want;
	if (v.want <= 0)
		return v;

	/* No packet is held for longer than max_pause. */
	if (m->held_since < 0 || last_sent > m->held_since)
		m->held_since = now;
	limit = m->held_since + p->max_pause;
	v.end = fmin(now + v.want, fmax(limit, now));
	v.fate = v.end >= now + v.want ? MODEL_PAUSE :
		 limit > now ? MODEL_PAUSE_SHORT : MODEL_GO;
	return v;
}
