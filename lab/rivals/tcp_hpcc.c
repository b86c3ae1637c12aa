// SPDX-License-Identifier: GPL-2.0
/*
 * HPCC, for comparison in the lab; no package installs it.
 *
 * Paper: Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, algorithm 1. Each ACK
 * brings what each port on the path said as the packet left: its rate B, bytes sent, queue, time.
 * T is the base RTT:
 *
 *	u   = max of all ports: min(queue, queue before) / (B * T) +
 *				bytes sent since / (time since * B)
 *	tau = time since, of this port, T at most
 *	U   = (1 - tau / T) * U + tau / T * u
 *
 *	if U >= eta or stage >= maxStage:	W = Wc * eta / U + W_AI
 *	else:					W = Wc + W_AI
 *	once per RTT:				Wc = W; stage = 0, or + 1 if it only added
 *	rate = W / T
 *
 * eta is 0.95 and maxStage 5, as in the paper. W starts at the rate of the host * T. A link with N
 * flows has U = eta + N * W_AI / (B * T): its queue is empty while that is below 1.
 *
 * Differences, because this is TCP in a lab:
 *  - What ports say is kept beside the packet, see labq_telemetry.h. It takes no bytes on the
 *    wire. Paths have up to five switches; the ports need labq with `telemetry 1`.
 *  - The paper has no loss: it halves the window, once in a recovery.
 *  - The stack sends up to four packets in one go.
 *  - A window is whole packets, and at least one; the rate is exact.
 *  - A receiver acknowledges each packet only with the route's option quickack.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "../labq/labq_telemetry.h"
#include "rival.h"

/* Shares of a link: Q16. */
#define HPCC_ONE	(1U << 16)
#define HPCC_ETA	(HPCC_ONE / 100 * 95)
#define HPCC_MAX_STAGE	5
#define HPCC_U_MAX	(1024 * HPCC_ONE)

static unsigned int base_rtt_us = 30;
module_param(base_rtt_us, uint, 0644);
MODULE_PARM_DESC(base_rtt_us, "T, us: the longest RTT of an empty path");

static unsigned int host_mbit = 10000;
module_param(host_mbit, uint, 0644);
MODULE_PARM_DESC(host_mbit, "rate of a host, Mbit/s");

static unsigned int ai_bytes = 80;
module_param(ai_bytes, uint, 0644);
MODULE_PARM_DESC(ai_bytes, "W_AI, bytes");

/* struct hpcc_port - what a port said last: struct labq_hop */
struct hpcc_port {
	u32	ns;
	u32	tx_bytes;
	u32	queue_bytes;
};

/**
 * struct hpcc - state of a socket
 * @port:	of the last ACK
 * @w:		window, bytes on the wire
 * @wc:		Wc
 * @u:		U, Q16
 * @update_seq:	snd_nxt at the last update of Wc
 * @hops:	of @port; 0: nothing yet
 * @stage:	updates of Wc that only added
 */
struct hpcc {
	struct hpcc_port port[LABQ_TELEMETRY_HOPS];
	u32	w;
	u32	wc;
	u32	u;
	u32	update_seq;
	u8	hops;
	u8	stage;
};

static u32 hpcc_t_ns(void)
{
	return clamp_t(u32, READ_ONCE(base_rtt_us), 1, USEC_PER_SEC) * NSEC_PER_USEC;
}

/* Bytes of the host's link in T: 2^20 us of 2^17 Mbit/s are below 2^34 bytes. */
static u32 hpcc_bdp(void)
{
	return (u32)min_t(u64, (u64)READ_ONCE(host_mbit) * (hpcc_t_ns() / NSEC_PER_USEC) / 8,
			  1U << 30);
}

/* Apply W: rate W / T, and a window that does not limit before it does. */
static void hpcc_apply(struct sock *sk)
{
	struct hpcc *h = inet_csk_ca(sk);
	u32 packet = cc_wire_bytes(sk, cc_mss(sk));

	rival_pace(sk, div_u64((u64)h->w * NSEC_PER_SEC, hpcc_t_ns()));
	tcp_snd_cwnd_set(tcp_sk(sk), max_t(u32, (h->w + packet / 2) / packet, 1));
}

/* Update U by what the ports said. False: there is nothing to compare with. */
static bool hpcc_inflight(struct hpcc *h, const struct labq_telemetry *t)
{
	u32 t_ns = hpcc_t_ns(), tau_ns = t_ns, i;
	bool known = h->hops == t->hops;
	u64 most = 0;

	for (i = 0; i < t->hops; i++) {
		const struct labq_hop *hop = &t->hop[i];
		struct hpcc_port *last = &h->port[i];
		/* Times are of 32 bits: after a pause of seconds this is any number. */
		u32 since_ns = hop->ns - last->ns;
		/* Rates are below 2^36 bytes/s and times below 2^32 ns. */
		u64 line = mul_u64_u32_div(hop->bps, since_ns, NSEC_PER_SEC);
		u64 bdp = mul_u64_u32_div(hop->bps, t_ns, NSEC_PER_SEC);
		u64 u;

		if (known && line && bdp) {
			u = div64_u64((u64)min(hop->queue_bytes, last->queue_bytes) << 16, bdp) +
			    div64_u64((u64)(hop->tx_bytes - last->tx_bytes) << 16, line);
			if (u > most) {
				most = u;
				tau_ns = min(since_ns, t_ns);
			}
		}
		*last = (struct hpcc_port) { hop->ns, hop->tx_bytes, hop->queue_bytes };
	}
	h->hops = t->hops;
	if (!most)
		return false;
	most = min_t(u64, most, HPCC_U_MAX);
	h->u = (u32)div_u64((u64)h->u * (t_ns - tau_ns) + most * tau_ns, t_ns);
	return true;
}

/* W by U; once per RTT it becomes Wc. */
static void hpcc_window(struct hpcc *h, bool update)
{
	bool scale = h->u >= HPCC_ETA || h->stage >= HPCC_MAX_STAGE;
	u64 w = h->wc;

	if (scale)
		w = div_u64(w * HPCC_ETA, max_t(u32, h->u, 1));
	h->w = (u32)clamp_t(u64, w + READ_ONCE(ai_bytes), 1, hpcc_bdp());
	if (!update)
		return;
	h->wc = h->w;
	h->stage = scale ? 0 : h->stage + 1;
}

static void hpcc_cong_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct hpcc *h = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct labq_telemetry t;
	bool update;

	/* The ACK of the handshake comes before init(). */
	if (!h->w)
		return;
	if (labq_telemetry_take(sk, tp->snd_una, &t) && hpcc_inflight(h, &t)) {
		/* The data that is acknowledged was sent with the window of the last update. */
		update = !before(tp->snd_una, h->update_seq);
		hpcc_window(h, update);
		if (update)
			h->update_seq = tp->snd_nxt;
	}
	hpcc_apply(sk);
}

static void hpcc_set_state(struct sock *sk, u8 state)
{
	struct hpcc *h = inet_csk_ca(sk);

	if (state == TCP_CA_Loss ||
	    (state == TCP_CA_Recovery && inet_csk(sk)->icsk_ca_state < TCP_CA_Recovery)) {
		h->wc = max_t(u32, h->wc / 2, 1);
		h->w = h->wc;
	}
}

static void hpcc_init(struct sock *sk)
{
	struct hpcc *h = inet_csk_ca(sk);

	*h = (struct hpcc) {
		.w = hpcc_bdp(), .wc = hpcc_bdp(), .update_seq = tcp_sk(sk)->snd_nxt,
	};
	cc_set_pacing_shift(sk, 0);
	hpcc_apply(sk);
}

RIVAL_MODULE(hpcc, "HPCC, for comparison in the lab");
