// SPDX-License-Identifier: GPL-2.0
/*
 * FAST*, for comparison in the lab; no package installs it.
 *
 * Paper: Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015,
 * section 6.1. It is the equation of TCP FAST (Jin, Wei and Low, INFOCOM 2004, equation 4), for a
 * rate in place of a window, with alpha as a rate. Once per RTT:
 *
 *	R = min(2 R, (1 - gamma) R + gamma (base RTT / RTT * R + alpha))
 *
 * base RTT is the lowest RTT of the connection. In equilibrium a flow has alpha / R of its RTT in
 * queues.
 *
 * Differences, because this is TCP in a lab:
 *  - RTTs are TCP's, from the departure in the qdisc, in us. The one of an update is the mean of
 *    the RTT before it. TIMELY's authors have them from NICs.
 *  - The window is no limit. A loss, which their lossless fabric does not have, halves the rate,
 *    once in a recovery.
 *  - gamma is FAST's 1/2; a rate begins at a tenth of the host's.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "rival.h"

/* Packets that a window has room for, more than any rate needs here. */
#define FAST_CWND	20000U

static unsigned int alpha_mbit = 10;
module_param(alpha_mbit, uint, 0644);
MODULE_PARM_DESC(alpha_mbit, "alpha, Mbit/s");

static unsigned int host_mbit = 10000;
module_param(host_mbit, uint, 0644);
MODULE_PARM_DESC(host_mbit, "rate of a host, Mbit/s");

/**
 * struct fast - state of a socket
 * @rate:	R, bytes/s on the wire
 * @sum_us:	sum of the RTTs since the last update
 * @samples:	how many
 * @base_us:	lowest RTT
 * @update_seq:	snd_nxt at the last update
 */
struct fast {
	u64	rate;
	u64	sum_us;
	u32	samples;
	u32	base_us;
	u32	update_seq;
};

/* Mbit/s as bytes/s. */
static u64 fast_bps(u32 mbit)
{
	return (u64)min_t(u32, mbit, 1000000) * 125000;
}

static void fast_update(struct fast *f)
{
	u32 rtt_us = max_t(u32, div_u64(f->sum_us, f->samples), 1);
	/* Rates are below 2^37 and RTTs below 2^20. */
	u64 target = div_u64(f->rate * f->base_us, rtt_us) + fast_bps(READ_ONCE(alpha_mbit));

	f->rate = clamp_t(u64, min(2 * f->rate, (f->rate + target) / 2), fast_bps(1),
			  fast_bps(READ_ONCE(host_mbit)));
}

static void fast_cong_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct fast *f = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	/* The ACK of the handshake comes before init(). */
	if (!f->rate)
		return;
	if (rs->rtt_us > 0 && rs->acked_sacked > 0) {
		u32 rtt_us = min_t(u32, rs->rtt_us, USEC_PER_SEC);

		f->base_us = min(f->base_us, rtt_us);
		f->sum_us += rtt_us;
		f->samples++;
	}
	if (f->samples && !before(tp->snd_una, f->update_seq)) {
		fast_update(f);
		f->sum_us = 0;
		f->samples = 0;
		f->update_seq = tp->snd_nxt;
	}
	rival_pace(sk, f->rate);
	tcp_snd_cwnd_set(tp, FAST_CWND);
}

static void fast_set_state(struct sock *sk, u8 state)
{
	struct fast *f = inet_csk_ca(sk);

	if (state == TCP_CA_Loss ||
	    (state == TCP_CA_Recovery && inet_csk(sk)->icsk_ca_state < TCP_CA_Recovery))
		f->rate = max_t(u64, f->rate / 2, fast_bps(1));
}

static void fast_init(struct sock *sk)
{
	struct fast *f = inet_csk_ca(sk);

	*f = (struct fast) {
		.rate = fast_bps(READ_ONCE(host_mbit)) / 10, .base_us = USEC_PER_SEC,
		.update_seq = tcp_sk(sk)->snd_nxt,
	};
	cc_set_pacing_shift(sk, 0);
	rival_pace(sk, f->rate);
	tcp_snd_cwnd_set(tcp_sk(sk), FAST_CWND);
}

RIVAL_MODULE(fast, "FAST*, for comparison in the lab");
