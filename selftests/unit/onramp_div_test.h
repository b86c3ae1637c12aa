/* SPDX-License-Identifier: GPL-2.0 */
/* What onramp_div_test.c defines, and the functions it may refer to. */
#ifndef _ONRAMP_DIV_TEST_H
#define _ONRAMP_DIV_TEST_H

struct onramp_ctrl;
struct onramp_ctrl_params;
struct onramp_sample;
struct onramp_result;
struct onramp_owd;
struct onramp_drain;
struct onramp_window;
struct onramp_burst;

u64 div64_u64(u64 dividend, u64 divisor);
u64 div_u64(u64 dividend, u32 divisor);
s64 div_s64(s64 dividend, s32 divisor);
void onramp_div_flow(struct onramp_ctrl *f, const struct onramp_ctrl_params *p,
		     const struct onramp_sample *s, struct onramp_result *res);
bool onramp_div_owd(struct onramp_owd *o, u64 t_ns, s64 d_ns, u32 payload,
		    s64 *excess_ns);
bool onramp_div_drain(struct onramp_drain *d, struct onramp_owd *o, u64 t_ns);
u64 onramp_div_values(u64 a, u32 b);
u64 onramp_div_ask(struct onramp_window *w, struct onramp_burst *b, u64 now_ns);

#endif /* _ONRAMP_DIV_TEST_H */
