/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two clocks read at one instant:
 *  - 7.2, commit eba302268a01: ktime_get_snapshot_id() reads any clock beside
 *    CLOCK_MONOTONIC_RAW, and a cross time stamp names the one it wants.
 *    ktime_get_snapshot(), now gone, knew CLOCK_REALTIME.
 *
 * compat_snapshot_mono(mono_at, raw_at): CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW, ktime_t *.
 * compat_crosststamp(xts): the system's clocks in a system_device_crosststamp *.
 */
#ifndef _ONRAMP_COMPAT_SNAPSHOT_H
#define _ONRAMP_COMPAT_SNAPSHOT_H

#ifdef COMPAT_HAS_KTIME_GET_SNAPSHOT_ID

#define compat_snapshot_mono(mono_at, raw_at) do {			\
	struct system_time_snapshot _now;				\
									\
	ktime_get_snapshot_id(CLOCK_MONOTONIC, &_now);			\
	*(mono_at) = _now.systime;					\
	*(raw_at) = _now.monoraw;					\
} while (0)

#define compat_crosststamp(xts) do {					\
	struct system_device_crosststamp *_xts = (xts);			\
	struct system_time_snapshot _now;				\
									\
	ktime_get_snapshot_id(_xts->clock_id, &_now);			\
	_xts->sys_systime = _now.systime;				\
	_xts->sys_monoraw = _now.monoraw;				\
} while (0)

#else

/* CLOCK_REALTIME may be set in between. */
#define compat_snapshot_mono(mono_at, raw_at) do {			\
	struct system_time_snapshot _now;				\
	ktime_t _real;							\
									\
	do {								\
		_real = ktime_mono_to_real(0);				\
		ktime_get_snapshot(&_now);				\
	} while (_real != ktime_mono_to_real(0));			\
	*(mono_at) = ktime_sub(_now.real, _real);			\
	*(raw_at) = _now.raw;						\
} while (0)

#define compat_crosststamp(xts) do {					\
	struct system_device_crosststamp *_xts = (xts);			\
	struct system_time_snapshot _now;				\
									\
	ktime_get_snapshot(&_now);					\
	_xts->sys_realtime = _now.real;					\
	_xts->sys_monoraw = _now.raw;					\
} while (0)

#endif

#endif /* _ONRAMP_COMPAT_SNAPSHOT_H */
