/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DCLOAD_LOOP_H
#define DCLOAD_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct watch {
	int fd;
	void (*ready)(struct watch *w, uint32_t events);
};

struct timer {
	uint64_t at_ns;
	size_t slot;		/* place in the heap + 1, 0: not armed */
	void (*expired)(struct timer *t);
};

struct loop {
	int epfd;
	struct watch signals;
	struct watch clock;	/* timerfd of the first timer */
	uint64_t clock_at_ns;	/* what it is set to, 0: nothing */
	uint64_t now_ns;	/* of this callback, 0: not asked for yet */
	struct timer **heap;
	size_t n_timers;
	size_t heap_size;
	bool stop;
	bool interrupted;	/* by SIGINT or SIGTERM */
};

void loop_init(struct loop *l);
void loop_run(struct loop *l);
uint64_t loop_now(struct loop *l);
void loop_add(struct loop *l, struct watch *w, uint32_t events);
void loop_modify(struct loop *l, struct watch *w, uint32_t events);
void timer_arm(struct loop *l, struct timer *t, uint64_t at_ns);
void timer_cancel(struct loop *l, struct timer *t);
void watch_close(struct watch *w);

#endif /* DCLOAD_LOOP_H */
