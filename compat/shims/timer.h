/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Timers:
 *  - 6.2, commit 9b13df3fb64e: timer_delete_sync() for del_timer_sync();
 *  - 6.2, commit f571faf6e443: timer_shutdown_sync(). Without it a timer that
 *    rearms itself must be told to stop first;
 *  - 6.13, commit 908a1d775422: hrtimer_setup() sets the function as well;
 *  - 6.16, commit 41cb08555c41: timer_container_of() for from_timer().
 */
#ifndef _ONRAMP_COMPAT_TIMER_H
#define _ONRAMP_COMPAT_TIMER_H

#ifndef COMPAT_HAS_TIMER_DELETE_SYNC
#define timer_delete_sync(timer)	del_timer_sync(timer)
#endif

#ifndef COMPAT_HAS_TIMER_SHUTDOWN_SYNC
#define timer_shutdown_sync(timer)	timer_delete_sync(timer)
#endif

#ifndef COMPAT_HAS_HRTIMER_SETUP
#define hrtimer_setup(timer, fn, clock, mode) do {			\
	struct hrtimer *_timer = (timer);				\
									\
	hrtimer_init(_timer, clock, mode);				\
	_timer->function = fn;						\
} while (0)
#endif

#ifndef COMPAT_HAS_TIMER_CONTAINER_OF
#define timer_container_of(var, timer, field)	from_timer(var, timer, field)
#endif

#endif /* _ONRAMP_COMPAT_TIMER_H */
