// SPDX-License-Identifier: GPL-2.0
/*
 * Swift, for comparison in the lab; no package installs it.
 *
 * Paper: Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the
 * Datacenter", SIGCOMM 2020, algorithm 1 and section 3.5. w is the window in packets:
 *
 *	target = base + hops * hop + clamp(a / sqrt(w) + b, 0, fs_range)
 *		 a = fs_range / (1 / sqrt(fs_min) - 1 / sqrt(fs_max)), b = -a / sqrt(fs_max)
 *
 *	delay < target:	w += ai / w * acked if w >= 1, else ai * acked
 *	else, once per RTT:	w *= max(1 - beta * (delay - target) / delay, 1 - max_mdf)
 *	loss, once per RTT:	w *= 1 - max_mdf
 *	timeouts in a row:	w = min
 *	w < 1:		a packet each RTT / w
 *
 * ai, beta, max_mdf, fs_min and fs_max are the paper's. It prints neither base, hop nor fs_range:
 * they are parameters of the module.
 *
 * Differences, because this is TCP in a lab:
 *  - delay is TCP's RTT, from the departure in the qdisc, in us. Hosts of the lab take no time for
 *    a packet, so there is no window of the endpoint.
 *  - A window of a packet and more is paced as TCP paces CUBIC's, at 6/5 of w / srtt, in batches of
 *    up to four.
 *  - A receiver acknowledges each packet only with the route's option quickack.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/math.h>

#include "rival.h"

/* Windows and shares: Q16. */
#define SWIFT_ONE	(1U << 16)
#define SWIFT_MIN	(SWIFT_ONE / 1000)
#define SWIFT_AI	SWIFT_ONE		/* 1.0 */
#define SWIFT_BETA	(SWIFT_ONE / 10 * 8)	/* 0.8 */
#define SWIFT_MAX_MDF	(SWIFT_ONE / 2)		/* 0.5 */
#define SWIFT_FS_MIN	(SWIFT_ONE / 10)	/* 0.1 */
#define SWIFT_FS_MAX	(100 * SWIFT_ONE)
#define SWIFT_RETX_RESET	3

static unsigned int base_us = 25;
module_param(base_us, uint, 0644);
MODULE_PARM_DESC(base_us, "base target, us");

static unsigned int hop_us = 1;
module_param(hop_us, uint, 0644);
MODULE_PARM_DESC(hop_us, "more for each hop, us");

static unsigned int hops = 2;
module_param(hops, uint, 0644);
MODULE_PARM_DESC(hops, "hops of a path");

static unsigned int fs_range_us = 50;
module_param(fs_range_us, uint, 0644);
MODULE_PARM_DESC(fs_range_us, "most that the target grows by for small windows, us; 0: none");

static unsigned int max_packets = 1024;
module_param(max_packets, uint, 0644);
MODULE_PARM_DESC(max_packets, "largest window, packets");

/**
 * struct swift - state of a socket
 * @w:		window, packets, Q16
 * @decrease_us: when @w fell last
 * @timeouts:	in a row
 */
struct swift {
	u64	decrease_us;
	u32	w;
	u32	timeouts;
};

/* 1 / sqrt(w), Q16: 2^16 / sqrt(w / 2^16) is 2^32 / sqrt(w * 2^16). */
static u64 swift_inv_sqrt(u32 w)
{
	return div64_u64(1ULL << 32, max_t(u32, int_sqrt64((u64)w << 16), 1));
}

static u32 swift_target_us(u32 w)
{
	u64 low = swift_inv_sqrt(SWIFT_FS_MAX), all = swift_inv_sqrt(SWIFT_FS_MIN) - low;
	u64 here = swift_inv_sqrt(w), scaled;

	here = here > low ? here - low : 0;
	scaled = min_t(u64, div64_u64(fs_range_us * here, all), fs_range_us);
	return base_us + hops * hop_us + (u32)scaled;
}

static u32 swift_srtt_us(const struct tcp_sock *tp)
{
	return max_t(u32, tp->srtt_us >> 3, 1);
}

/* May the window fall? Once per RTT. */
static bool swift_can_decrease(const struct swift *sw, const struct tcp_sock *tp)
{
	return tp->tcp_mstamp - sw->decrease_us >= swift_srtt_us(tp);
}

static void swift_scale(struct swift *sw, const struct tcp_sock *tp, u32 factor)
{
	sw->w = ((u64)sw->w * factor) >> 16;
	sw->decrease_us = tp->tcp_mstamp;
}

/* Apply the window: cwnd, and the rate that spaces packets. */
static void swift_apply(struct sock *sk)
{
	struct swift *sw = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u64 bps;

	sw->w = clamp_t(u32, sw->w, SWIFT_MIN, max_packets << 16);
	tcp_snd_cwnd_set(tp, DIV_ROUND_UP(sw->w, SWIFT_ONE));
	bps = div_u64(((u64)sw->w * cc_wire_bytes(sk, cc_mss(sk)) >> 16) * USEC_PER_SEC,
		      swift_srtt_us(tp));
	if (sw->w >= SWIFT_ONE)
		bps += bps / 5;
	rival_pace(sk, bps);
}

static void swift_cong_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct swift *sw = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 delay, target, factor;

	/* The ACK of the handshake comes before init(). */
	if (!sw->w)
		return;
	if (rs->rtt_us > 0 && rs->acked_sacked > 0) {
		sw->timeouts = 0;
		delay = (u32)rs->rtt_us;
		target = swift_target_us(sw->w);
		if (delay < target) {
			/* TCP's rule: a window that is not used does not grow. */
			if (sw->w < SWIFT_ONE)
				sw->w += SWIFT_AI * rs->acked_sacked;
			else if (tcp_is_cwnd_limited(sk))
				sw->w += (u32)div_u64(((u64)SWIFT_AI << 16) * rs->acked_sacked,
						      sw->w);
		} else if (swift_can_decrease(sw, tp)) {
			factor = (u32)div_u64((u64)SWIFT_BETA * (delay - target), delay);
			factor = SWIFT_ONE - factor;
			swift_scale(sw, tp, max_t(u32, factor, SWIFT_ONE - SWIFT_MAX_MDF));
		}
	}
	swift_apply(sk);
}

static void swift_set_state(struct sock *sk, u8 state)
{
	struct swift *sw = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (state == TCP_CA_Loss && ++sw->timeouts >= SWIFT_RETX_RESET)
		sw->w = SWIFT_MIN;
	else if ((state == TCP_CA_Loss || state == TCP_CA_Recovery) && swift_can_decrease(sw, tp))
		swift_scale(sw, tp, SWIFT_ONE - SWIFT_MAX_MDF);
}

static void swift_init(struct sock *sk)
{
	struct swift *sw = inet_csk_ca(sk);

	*sw = (struct swift) { .w = TCP_INIT_CWND << 16 };
	cc_set_pacing_shift(sk, 0);
	swift_apply(sk);
}

RIVAL_MODULE(swift, "Swift, for comparison in the lab");
