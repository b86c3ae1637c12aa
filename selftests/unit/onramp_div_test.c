// SPDX-License-Identifier: GPL-2.0
/*
 * Compiled for 32 bits, never run: a 32-bit kernel has no library function for the
 * "/" of 64-bit numbers, so the cores must divide through the kernel's functions. The
 * object must refer to those and to no __udivdi3 or the like.
 */
#define div64_u64 onramp_user_div64_u64
#define div_u64 onramp_user_div_u64
#define div_s64 onramp_user_div_s64
#include "user/core_user.h"
#undef div64_u64
#undef div_u64
#undef div_s64
#include "onramp_div_test.h"
#include "onramp_drain.h"
#include "onramp_owd.h"
#include "onramp_window.h"

/* External, so that everything they call is compiled. */
void onramp_div_flow(struct onramp_ctrl *f, const struct onramp_ctrl_params *p,
		     const struct onramp_sample *s, struct onramp_result *res)
{
	onramp_ctrl_update(f, p, s, res);
	onramp_ctrl_inherit(f, p, s->tx_ns, s->now_ns, s->sent_ns);
}

bool onramp_div_owd(struct onramp_owd *o, u64 t_ns, s64 d_ns, u32 payload,
		    s64 *excess_ns)
{
	return onramp_owd_sample(o, t_ns, d_ns, payload, excess_ns);
}

bool onramp_div_drain(struct onramp_drain *d, struct onramp_owd *o, u64 t_ns)
{
	return onramp_drain_begin(d, t_ns, ONRAMP_DRAIN_MAX_NS) &&
	       onramp_owd_proof(o, t_ns, 0, 1448);
}

u64 onramp_div_values(u64 a, u32 b)
{
	return onramp_byte_time(a, b, b) + onramp_own_ns(a, b, b);
}

u64 onramp_div_ask(struct onramp_window *w, struct onramp_burst *b, u64 now_ns)
{
	return onramp_window_ask(w, b, 1448, 0, 20000000, now_ns);
}
