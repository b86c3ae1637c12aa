// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
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

/* Edge triggered, so that it need not be read; run_timers() does the work. */
static void clock_ready(struct watch *w, uint32_t events)
{
	struct loop *l = container_of(w, struct loop, clock);

	(void)events;
	l->clock_at_ns = 0;
}

/**
 * loop_now() - the time, asked for once in a callback
 * @l: loop
 *
 * Return: CLOCK_MONOTONIC in ns.
 */
uint64_t loop_now(struct loop *l)
{
	if (!l->now_ns)
		l->now_ns = now_ns();
	return l->now_ns;
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

	l->clock.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (l->clock.fd < 0)
		die("cannot create a timer: %s", strerror(errno));
	l->clock.ready = clock_ready;
	loop_add(l, &l->clock, EPOLLIN | EPOLLET);
}

void loop_add(struct loop *l, struct watch *w, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = w };

	if (epoll_ctl(l->epfd, EPOLL_CTL_ADD, w->fd, &ev))
		die("cannot watch a descriptor: %s", strerror(errno));
}

/**
 * watch_close() - stop watching, and close the descriptor
 * @w: watch; it may be closed already
 */
void watch_close(struct watch *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
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
	while (l->n_timers && !l->stop && l->heap[0]->at_ns <= loop_now(l)) {
		struct timer *t = l->heap[0];

		timer_cancel(l, t);
		t->expired(t);
		l->now_ns = 0;
	}
}

/*
 * A timeout of epoll_wait() may be late by 0.1 % or 50 us, whichever is more;
 * a timerfd is exact.
 */
static void set_clock(struct loop *l)
{
	struct itimerspec at = { 0 };

	if (!l->n_timers || l->heap[0]->at_ns == l->clock_at_ns)
		return;
	l->clock_at_ns = l->heap[0]->at_ns;
	at.it_value.tv_sec = (time_t)(l->clock_at_ns / NSEC_PER_SEC);
	at.it_value.tv_nsec = (long)(l->clock_at_ns % NSEC_PER_SEC);
	if (timerfd_settime(l->clock.fd, TFD_TIMER_ABSTIME, &at, NULL))
		die("cannot set a timer: %s", strerror(errno));
}

/**
 * loop_run() - serve events until stop is set
 * @l: loop
 *
 * A callback must not free a watch other than its own: its event may be waiting
 * in the batch at hand.
 */
void loop_run(struct loop *l)
{
	struct epoll_event ev[LOOP_BATCH];
	int i, n;

	while (!l->stop) {
		run_timers(l);
		set_clock(l);
		if (l->stop)
			break;
		n = epoll_wait(l->epfd, ev, LOOP_BATCH, -1);
		if (n < 0 && errno != EINTR)
			die("waiting for events failed: %s", strerror(errno));
		for (i = 0; i < n && !l->stop; i++) {
			struct watch *w = ev[i].data.ptr;

			l->now_ns = 0;
			w->ready(w, ev[i].events);
		}
		if (n < 0)
			l->now_ns = 0;
	}
}
