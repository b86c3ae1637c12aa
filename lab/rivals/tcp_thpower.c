// SPDX-License-Identifier: GPL-2.0
/*
 * theta-PowerTCP, for comparison in the lab; no package installs it.
 *
 * Paper: Addanki et al., "PowerTCP: Pushing the Performance Limits of Datacenter Networks", NSDI
 * 2022, algorithm 2: without telemetry. tau is the base RTT, dt the time since the last ACK:
 *
 *	power    = (dRTT / dt + 1) * RTT / tau
 *	smoothed = (smoothed * (tau - dt) + power * dt) / tau
 *
 *	once per RTT:	w = gamma * (w / smoothed + beta) + (1 - gamma) * w
 *			rate = w / tau
 *
 * beta = rate of the host * tau / N, gamma 0.9. w starts at the rate of the host * tau, and is not
 * more.
 *
 * Differences, because this is TCP in a lab:
 *  - RTTs are TCP's, from the departure in the qdisc, in us. Their differences add up to the
 *    whole, so that rounding does not. ACKs of one us are one.
 *  - The paper has no loss: it halves the window, once in a recovery.
 *  - The stack sends up to four packets in one go.
 *  - A window is whole packets, and at least one; the rate is exact.
 *  - A receiver acknowledges each packet only with the route's option quickack.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "rival.h"

#define POWER_ONE	(1U << 16)	/* Q16 */
/* A power is between these: a sixteenth, and the largest that Q16 squared has room for. */
#define POWER_MIN	(POWER_ONE / 16)
#define POWER_MAX	(1024 * POWER_ONE)

static unsigned int base_rtt_us = 30;
module_param(base_rtt_us, uint, 0644);
MODULE_PARM_DESC(base_rtt_us, "tau, us: the longest RTT of an empty path");

static unsigned int host_mbit = 10000;
module_param(host_mbit, uint, 0644);
MODULE_PARM_DESC(host_mbit, "rate of a host, Mbit/s");

static unsigned int flows = 10;
module_param(flows, uint, 0644);
MODULE_PARM_DESC(flows, "N: flows that share a host's link");

static unsigned int gamma_permille = 900;
module_param(gamma_permille, uint, 0644);
MODULE_PARM_DESC(gamma_permille, "gamma, thousandths");

/**
 * struct thpower - state of a socket
 * @last_us:	time of the last RTT; 0: none yet
 * @w:		window, bytes on the wire
 * @power:	smoothed, Q16
 * @rtt_us:	the last one
 * @update_seq:	snd_nxt at the last update
 */
struct thpower {
	u64	last_us;
	u32	w;
	u32	power;
	u32	rtt_us;
	u32	update_seq;
};

static u32 thpower_tau_us(void)
{
	return clamp_t(u32, READ_ONCE(base_rtt_us), 1, USEC_PER_SEC);
}

/* Bytes of the host's link in tau: 2^20 us of 2^17 Mbit/s are below 2^34 bytes. */
static u32 thpower_bdp(void)
{
	return (u32)min_t(u64, (u64)READ_ONCE(host_mbit) * thpower_tau_us() / 8, 1U << 30);
}

/* Apply w: rate w / tau, and a window that does not limit before it does. */
static void thpower_apply(struct sock *sk)
{
	struct thpower *th = inet_csk_ca(sk);
	u64 bps = div_u64((u64)th->w * USEC_PER_SEC, thpower_tau_us());
	u32 packet = cc_wire_bytes(sk, cc_mss(sk));

	rival_pace(sk, bps);
	tcp_snd_cwnd_set(tcp_sk(sk), max_t(u32, (th->w + packet / 2) / packet, 1));
}

/* The smoothed power after one more RTT. */
static void thpower_norm(struct thpower *th, u64 now_us, u32 rtt_us)
{
	u32 tau_us = thpower_tau_us();
	s64 dt_us = (s64)(now_us - th->last_us), sum_us, part_us, power;

	if (!th->last_us) {
		th->last_us = now_us;
		th->rtt_us = rtt_us;
		return;
	}
	if (dt_us <= 0)
		return;
	/*
	 * power * dt. Packets of a batch left at one time, so that this is below 0 at the first
	 * one of the next batch: only the average has a meaning. Beyond tau all of it is new.
	 */
	sum_us = (s64)rtt_us - th->rtt_us + min_t(s64, dt_us, USEC_PER_SEC);
	part_us = min_t(s64, dt_us, tau_us);
	power = div64_s64(sum_us * rtt_us * POWER_ONE, tau_us);
	if (dt_us > tau_us)
		power = div64_s64(power, dt_us) * tau_us;
	power = div64_s64((s64)th->power * (tau_us - part_us) + power, tau_us);
	th->power = clamp_t(s64, power, POWER_MIN, POWER_MAX);
	th->last_us = now_us;
	th->rtt_us = rtt_us;
}

static void thpower_cong_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct thpower *th = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u64 w, beta;

	/* The ACK of the handshake comes before init(). */
	if (!th->w)
		return;
	if (rs->rtt_us > 0 && rs->acked_sacked > 0) {
		thpower_norm(th, tp->tcp_mstamp, min_t(u32, rs->rtt_us, USEC_PER_SEC));
		/* The data that is acknowledged was sent with the window of the last update. */
		if (!before(tp->snd_una, th->update_seq)) {
			beta = thpower_bdp() / max_t(u32, READ_ONCE(flows), 1);
			w = div_u64((u64)th->w << 16, th->power) + beta;
			w = w * gamma_permille + (u64)th->w * (1000 - gamma_permille);
			w = div_u64(w, 1000);
			th->w = clamp_t(u64, w, 1, thpower_bdp());
			th->update_seq = tp->snd_nxt;
		}
	}
	thpower_apply(sk);
}

static void thpower_set_state(struct sock *sk, u8 state)
{
	struct thpower *th = inet_csk_ca(sk);

	if (state == TCP_CA_Loss ||
	    (state == TCP_CA_Recovery && inet_csk(sk)->icsk_ca_state < TCP_CA_Recovery))
		th->w = max_t(u32, th->w / 2, 1);
}

static void thpower_init(struct sock *sk)
{
	struct thpower *th = inet_csk_ca(sk);

	*th = (struct thpower) {
		.w = thpower_bdp(), .power = POWER_ONE, .update_seq = tcp_sk(sk)->snd_nxt,
	};
	cc_set_pacing_shift(sk, 0);
	thpower_apply(sk);
}

RIVAL_MODULE(thpower, "theta-PowerTCP, for comparison in the lab");
