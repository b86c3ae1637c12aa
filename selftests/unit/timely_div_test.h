/* SPDX-License-Identifier: GPL-2.0 */
/* What timely_div_test.c defines, and the functions it may refer to. */
#ifndef _TIMELY_DIV_TEST_H
#define _TIMELY_DIV_TEST_H

struct timely_flow;
struct timely_params;
struct timely_result;

u64 div64_u64(u64 dividend, u64 divisor);
s64 div64_s64(s64 dividend, s64 divisor);
void timely_div_flow(struct timely_flow *f, const struct timely_params *p,
		     u64 bps, u64 now_ns, struct timely_result *res);
u64 timely_div_values(u32 a, u64 b);

#endif /* _TIMELY_DIV_TEST_H */
