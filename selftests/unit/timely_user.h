/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters as an operator writes them, for userspace tests: ranges and
 * defaults of timely_params.h, and their conversion to struct timely_params.
 */
#ifndef _TIMELY_USER_H
#define _TIMELY_USER_H

#include "timely_core.h"
#include "timely_params.h"

enum timely_param_id {
#define TIMELY_PARAM(id, name, min, max, def, unit, what, source) TIMELY_P_##id,
	TIMELY_PARAMS
#undef TIMELY_PARAM
	TIMELY_P_MAX
};

struct timely_range {
	const char *name;
	u64 min;
	u64 max;
	u64 def;
};

static const struct timely_range timely_ranges[TIMELY_P_MAX] = {
#define TIMELY_PARAM(id, name, min, max, def, unit, what, source) \
	[TIMELY_P_##id] = { #name, min, max, def },
	TIMELY_PARAMS
#undef TIMELY_PARAM
};

/* 1 Mbit/s and 1 kbit/s in bytes/s. */
#define MBIT	125000ULL
#define KBIT	125ULL

static inline void timely_user_defaults(u64 raw[TIMELY_P_MAX])
{
	int i;

	for (i = 0; i < TIMELY_P_MAX; i++)
		raw[i] = timely_ranges[i].def;
}

/*
 * Values that are in their ranges, to the units of the core. Returns false if
 * the module would refuse the combination.
 */
static inline bool timely_user_params(const u64 raw[TIMELY_P_MAX],
				      struct timely_params *p)
{
	*p = (struct timely_params) {
		.mode = (u8)raw[TIMELY_P_MODE],
		.hai_thresh = (u8)raw[TIMELY_P_HAI_THRESH],
		.hai_factor = (u8)raw[TIMELY_P_HAI_FACTOR],
		.app_limited_percent = (u8)raw[TIMELY_P_APP_LIMITED],
		.segment_bytes = (u32)raw[TIMELY_P_SEGMENT],
		.t_low_ns = timely_t_low_ns(raw[TIMELY_P_T_LOW],
					    (u32)raw[TIMELY_P_SEGMENT]),
		.t_high_ns = raw[TIMELY_P_T_HIGH],
		.min_rtt_ns = raw[TIMELY_P_MIN_RTT],
		.rtt_floor_ns = raw[TIMELY_P_RTT_FLOOR],
		.delta_q = timely_bps_to_rate(raw[TIMELY_P_DELTA] * KBIT),
		.min_rate_q = timely_bps_to_rate(raw[TIMELY_P_MIN_RATE] * KBIT),
		.alpha = timely_permille((u32)raw[TIMELY_P_ALPHA]),
		.beta = timely_permille((u32)raw[TIMELY_P_BETA]),
		.beta_patched = timely_permille((u32)raw[TIMELY_P_BETA_PATCHED]),
		.loss_beta = timely_permille((u32)raw[TIMELY_P_LOSS_BETA]),
	};

	return p->t_low_ns <= p->t_high_ns && p->rtt_floor_ns <= p->t_high_ns &&
	       (p->mode != TIMELY_MODE_PATCHED || p->t_low_ns >= 1000);
}

#endif /* _TIMELY_USER_H */
