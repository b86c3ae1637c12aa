// SPDX-License-Identifier: GPL-2.0
/*
 * The law of TIMELY's profile auto, from its code: print how much an RTT changes a rate, for each
 * of some gradients. Documentation/figures/draw draws it.
 *
 * The flow is one of eight on a link of 10 Gbit/s; the RTT of the empty path is 20 us, and RTTs
 * differ by 2 us from one to the next.
 */
#include <stdio.h>

#include "timely_law.h"

#define CAP_BPS		1250000000ULL
#define RATE_BPS	(CAP_BPS / 8)
#define SEGMENT		16384U
#define D_NS		20000U
#define V_NS		2000U
#define END_NS		110000U

static const int slopes_percent[] = { -10, 10, 30 };

int main(void)
{
	struct timely_flow flow = {
		.rate_q = RATE_BPS << TIMELY_RATE_SHIFT, .base_ns = D_NS, .dev_ns = V_NS,
	};
	u64 elapsed_ns = SEGMENT * 1000000000ULL / RATE_BPS;
	struct timely_auto a;
	unsigned int i;
	u32 rtt_ns;

	timely_auto_params(&flow, SEGMENT, CAP_BPS, &a);
	printf("# Tlow %.1f Thigh %.1f us\n", (double)a.t_low_ns / 1e3, (double)a.t_high_ns / 1e3);
	for (rtt_ns = D_NS; rtt_ns <= END_NS; rtt_ns += 500) {
		printf("%.1f", rtt_ns / 1e3);
		for (i = 0; i < sizeof(slopes_percent) / sizeof(*slopes_percent); i++) {
			struct timely_result res = { 0 };
			struct timely_flow f = flow;

			f.mean_ns = rtt_ns;
			f.slope_q = slopes_percent[i] * (1 << TIMELY_SLOPE_SHIFT) / 100;
			timely_auto_decide(&f, &a, rtt_ns, elapsed_ns, false, &res);
			printf("\t%.3f", 100.0 * ((double)f.rate_q / (double)flow.rate_q - 1));
		}
		printf("\n");
	}
	return 0;
}
