/* SPDX-License-Identifier: GPL-2.0 */
/* Reasons for which a connection is not faster: shares of the time between two looks at it. */
#ifndef ONRAMPCTL_WHY_H
#define ONRAMPCTL_WHY_H

#include "look.h"

/* Reasons, in the order in which they are tried for a share of the time. */
enum why {
	WHY_RECEIVER,		/* the receiver's window was full */
	WHY_PATH,		/* paused by On-Ramp: a queue on the path */
	WHY_BUFFER,		/* the send buffer was too small */
	WHY_LOSS,		/* TCP repaired a loss */
	WHY_QDISC,		/* the queue of this host's device was not empty */
	WHY_RATE,		/* the congestion control's rate or window */
	WHY_APPLICATION,	/* no data to send */
	WHY_UNKNOWN,
	WHYS,
};

/**
 * struct why_samples - looks between the first and the last one, while the connection had data
 *	under way or to send, and was not paused
 * @all:	number of them
 * @of:		of those, the ones for which this is the reason
 * @stalled:	of @of, the ones since the last data was acknowledged
 * @acked:	bytes acknowledged at the last of them
 * @looks:	number of all looks, also those without data or in a pause
 * @timeouts:	of @looks, the ones in which TCP's timer waited for a lost packet
 */
struct why_samples {
	unsigned int all, of[WHYS], stalled[WHYS];
	uint64_t acked;
	unsigned int looks, timeouts;
};

/**
 * struct why_shares - of the time, each 0 to 1, together 1
 */
struct why_shares {
	double of[WHYS];
};

void why_sample(struct why_samples *s, const struct look *look, bool backlog);
struct why_shares why_shares(const struct look *a, const struct look *b,
			     const struct why_samples *samples);
enum why why_dominant(const struct why_shares *s);
void why_percent(const struct why_shares *s, int percent[WHYS]);

extern const char * const why_keys[WHYS];
extern const char * const why_names[WHYS];

int cmd_why(const struct ctl *ctl, int argc, char **argv);

#endif /* ONRAMPCTL_WHY_H */
