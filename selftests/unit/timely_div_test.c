// SPDX-License-Identifier: GPL-2.0
/*
 * Compiled for 32 bits, never run: a 32-bit kernel has no library function for
 * the "/" of 64-bit numbers, so the core must divide through div64_u64() and
 * div64_s64() only. The object must refer to these and to no __udivdi3 or the like.
 */
#define div64_u64 timely_user_div64_u64
#define div64_s64 timely_user_div64_s64
#include "user/core_user.h"
#undef div64_u64
#undef div64_s64
#include "timely_div_test.h"
#include "timely_auto.h"

/* External, so that everything they call is compiled. */
void timely_div_flow(struct timely_flow *f, const struct timely_params *p,
		     u64 bps, u64 now_ns, struct timely_result *res)
{
	struct timely_event event = { now_ns, now_ns, (u32)bps, (u32)now_ns, (u32)bps };
	u64 cut;

	timely_restart(f, p, bps, bps, now_ns);
	timely_restart_idle(f, p, bps, bps, now_ns);
	timely_loss(f, p, bps);
	timely_window(f, p, now_ns, (u32)now_ns, now_ns);
	timely_update(f, p, now_ns, now_ns, bps, res);
	timely_auto_start(f, bps, bps, (u32)bps, now_ns);
	cut = timely_auto_lost(f, (u32)bps, (u32)now_ns, now_ns, (u32)bps, bps);
	timely_auto_loss(f, p, cut, bps);
	timely_auto_gap(f, (u32)bps, now_ns, now_ns, bps);
	timely_auto_update(f, &event, (u32)bps, bps, res);
}

u64 timely_div_values(u32 a, u64 b)
{
	struct timely_flow f = { .rate_q = b };

	return timely_auto_window(&f, a, b) + timely_auto_idle_ns(&f) + timely_permille(a) +
	       timely_t_low_ns(b, a) + timely_serialisation_ns(a, b) + timely_start_bps(b, a);
}
