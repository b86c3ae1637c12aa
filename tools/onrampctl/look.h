/* SPDX-License-Identifier: GPL-2.0 */
/* One connection at a time: TCP's state, and On-Ramp's. */
#ifndef ONRAMPCTL_LOOK_H
#define ONRAMPCTL_LOOK_H

#include "sockets.h"

/**
 * struct look - a connection at some time
 * @time_ns:	CLOCK_MONOTONIC
 * @flow:	TCP's state
 * @pauses:	On-Ramp's, if @onramp
 * @onramp:	On-Ramp follows it
 * @hidden:	it is not known whether On-Ramp follows it
 */
struct look {
	uint64_t time_ns;
	struct flow flow;
	struct pauses pauses;
	bool onramp, hidden;
};

/* look.c */
struct look look_first(const struct ctl *ctl, int argc, char **argv);
bool look_again(struct look *l);
uint32_t look_device(const struct look *l);
void look_sleep(uint64_t ns);

/*
 * look_grown() - by how much a counter of On-Ramp grew: from 0, if the qdisc forgot the connection
 * meanwhile, and knows it again
 */
static inline uint64_t look_grown(uint64_t from, uint64_t to)
{
	return to >= from ? to - from : to;
}

#endif /* ONRAMPCTL_LOOK_H */
