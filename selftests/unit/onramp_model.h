/* SPDX-License-Identifier: GPL-2.0 */
/*
 * On-Ramp in double precision, written from the equations of the paper: what the
 * fixed-point core is compared with. It shares no code with onramp_core.h: pauses
 * are a list of intervals, and the time paused up to t is how much of them lies
 * before t.
 *
 * Times are whole ns below 2^53: sums and differences of them are exact.
 */
#ifndef _ONRAMP_MODEL_H
#define _ONRAMP_MODEL_H

#include <stdbool.h>

enum model_rule { MODEL_NONE, MODEL_EQ2, MODEL_EQ4, MODEL_PRINTED };

struct model_params {
	enum model_rule rule;
	double g, t, empty, max_pause, stale;
};

/* A packet and what an OR-ACK says of it. */
struct model_packet {
	double tx, owd;
	double seq;		/* counts up, never wraps */
	double paused;		/* of the flow when it was sent */
};

#define MODEL_INTERVALS	64

struct model {
	double from[MODEL_INTERVALS], to[MODEL_INTERVALS];
	int intervals;
	double before;		/* length of intervals no longer in the list */
	double beta;
	bool has_b;
	struct model_packet b;
	double held_since;	/* negative: not held */
};

enum model_fate {
	MODEL_KEEP,		/* below the threshold */
	MODEL_PAUSE,
	MODEL_PAUSE_SHORT,
	MODEL_GO,		/* held for max_pause already */
	MODEL_NO_RULE,
	MODEL_TOO_OLD,
	MODEL_TWICE,
	MODEL_ABSURD,
};

struct model_verdict {
	enum model_fate fate;
	bool learnt;
	double margin;		/* O - beta P - T, ns */
	double want;		/* pause that is due, before limits */
	double end;		/* of the pause */
};

void model_start(struct model *m);
double model_paused(const struct model *m, double t);
double model_end(const struct model *m);
void model_pause(struct model *m, double now, double end);
struct model_verdict model_ack(struct model *m, const struct model_params *p,
			       const struct model_packet *g, double now,
			       double last_sent, double idle);

#endif /* _ONRAMP_MODEL_H */
