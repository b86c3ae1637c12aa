// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "dcload.h"
#include "loop.h"

#define LOOP_BATCH	64

static void signal_ready(struct watch *w, uint32_t events)
{
	struct loop *l = container_of(w, struct loop, signals);
	struct signalfd_siginfo info;

	(void)events;
	if (read(w->fd, &info, sizeof(info)) == sizeof(info)) {
		l->interrupted = true;
		l->stop = true;
	}
}

/**
 * loop_init() - make an event loop that SIGINT and SIGTERM stop
 * @l: loop
 */
void loop_init(struct loop *l)
{
	sigset_t set;

	memset(l, 0, sizeof(*l));
	l->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (l->epfd < 0)
		die("cannot create an epoll instance: %s", strerror(errno));

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	l->signals.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l->signals.fd < 0)
		die("cannot create a signalfd: %s", strerror(errno));
	l->signals.ready = signal_ready;
	loop_add(l, &l->signals, EPOLLIN);
}

void loop_add(struct loop *l, struct watch *w, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = w };

	if (epoll_ctl(l->epfd, EPOLL_CTL_ADD, w->fd, &ev))
		die("cannot watch a descriptor: %s", strerror(errno));
}

void loop_modify(struct loop *l, struct watch *w, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = w };

	if (epoll_ctl(l->epfd, EPOLL_CTL_MOD, w->fd, &ev))
		die("cannot watch a descriptor: %s", strerror(errno));
}

static void heap_place(struct loop *l, size_t i, struct timer *t)
{
	l->heap[i] = t;
	t->slot = i + 1;
}

static void heap_up(struct loop *l, size_t i)
{
	struct timer *t = l->heap[i];

	while (i) {
		size_t parent = (i - 1) / 2;

		if (l->heap[parent]->at_ns <= t->at_ns)
			break;
		heap_place(l, i, l->heap[parent]);
		i = parent;
	}
	heap_place(l, i, t);
}

static void heap_down(struct loop *l, size_t i)
{
	struct timer *t = l->heap[i];

	for (;;) {
		size_t c = 2 * i + 1;

		if (c >= l->n_timers)
			break;
		if (c + 1 < l->n_timers &&
		    l->heap[c + 1]->at_ns < l->heap[c]->at_ns)
			c++;
		if (t->at_ns <= l->heap[c]->at_ns)
			break;
		heap_place(l, i, l->heap[c]);
		i = c;
	}
	heap_place(l, i, t);
}

/**
 * timer_cancel() - disarm a timer; one not armed is left alone
 * @l: loop
 * @t: timer
 */
void timer_cancel(struct loop *l, struct timer *t)
{
	struct timer *last;
	size_t i;

	if (!t->slot)
		return;
	i = t->slot - 1;
	t->slot = 0;
	last = l->heap[--l->n_timers];
	if (last == t)
		return;
	heap_place(l, i, last);
	heap_up(l, i);
	heap_down(l, last->slot - 1);
}

/**
 * timer_arm() - have a timer expire, once
 * @l: loop
 * @t: timer, its expired() set; if armed already, it is moved
 * @at_ns: when, CLOCK_MONOTONIC; the past means as soon as possible
 */
void timer_arm(struct loop *l, struct timer *t, uint64_t at_ns)
{
	timer_cancel(l, t);
	if (l->n_timers == l->heap_size) {
		l->heap_size = l->heap_size ? 2 * l->heap_size : 64;
		l->heap = xrealloc(l->heap, l->heap_size, sizeof(*l->heap));
	}
	t->at_ns = at_ns;
	l->heap[l->n_timers++] = t;
	heap_up(l, l->n_timers - 1);
}

static void run_timers(struct loop *l)
{
	uint64_t now = now_ns();

	while (l->n_timers && l->heap[0]->at_ns <= now && !l->stop) {
		struct timer *t = l->heap[0];

		timer_cancel(l, t);
		t->expired(t);
	}
}

/**
 * loop_run() - serve events until somebody sets stop
 * @l: loop
 *
 * A callback must not free a watch other than its own: its event may be waiting
 * in the batch at hand.
 */
void loop_run(struct loop *l)
{
	struct epoll_event ev[LOOP_BATCH];
	struct timespec ts;
	int i, n;

	while (!l->stop) {
		struct timespec *timeout = NULL;

		if (l->n_timers) {
			uint64_t now = now_ns(), at = l->heap[0]->at_ns;
			uint64_t wait = at > now ? at - now : 0;

			ts.tv_sec = (time_t)(wait / NSEC_PER_SEC);
			ts.tv_nsec = (long)(wait % NSEC_PER_SEC);
			timeout = &ts;
		}
		n = epoll_pwait2(l->epfd, ev, LOOP_BATCH, timeout, NULL);
		if (n < 0 && errno != EINTR)
			die("waiting for events failed: %s", strerror(errno));
		for (i = 0; i < n && !l->stop; i++) {
			struct watch *w = ev[i].data.ptr;

			w->ready(w, ev[i].events);
		}
		run_timers(l);
	}
}
