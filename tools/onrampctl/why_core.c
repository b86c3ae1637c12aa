// SPDX-License-Identifier: GPL-2.0
/* Shares of the time of a connection, from looks at it. Nothing here looks at the host. */
#include <string.h>

#include "why.h"

/* Keys of JSON, and words of text. */
const char * const why_keys[WHYS] = {
	"receiver", "path", "send_buffer", "loss", "qdisc", "own_rate", "application", "unknown",
};

const char * const why_names[WHYS] = {
	"receiver", "path", "send buffer", "loss", "this host's qdisc", "own rate", "application",
	"unknown",
};

/* States of TCP that repair a loss: TCP_CA_Recovery and TCP_CA_Loss of the kernel. */
#define CA_RECOVERY	3
#define CA_LOSS		4

/* A timer has found a loss: the connection has waited for it since the last acknowledged data. */
static void blame_loss(struct why_samples *s)
{
	int i;

	for (i = 0; i < WHYS; i++) {
		s->of[i] -= s->stalled[i];
		s->of[WHY_LOSS] += s->stalled[i];
	}
	memset(s->stalled, 0, sizeof(s->stalled));
}

/**
 * why_sample() - count a look between the first and the last one
 * @s: counts
 * @look: look
 * @backlog: packets that may leave at once wait in the qdisc of its device
 *
 * Time in which it was idle or paused is known exactly, so that these looks do not count. Until a
 * timer tells TCP of a loss, the connection only seems to wait for ACKs: these looks count as loss
 * once it did.
 */
void why_sample(struct why_samples *s, const struct look *look, bool backlog)
{
	const struct tcp_info *t = &look->flow.info;
	enum why why;

	if (!look->flow.has_info)
		return;
	s->looks++;
	/* The chronograph of the receiver's window may go on: it is looked at when an ACK comes. */
	if (t->tcpi_retransmits && !t->tcpi_probes && t->tcpi_ca_state >= CA_LOSS)
		s->timeouts++;
	if (!t->tcpi_unacked && !t->tcpi_notsent_bytes)
		return;
	if (look->onramp && look->pauses.pause_left_ns)
		return;
	if (t->tcpi_ca_state >= CA_RECOVERY)
		why = WHY_LOSS;
	else if (backlog)
		why = WHY_QDISC;
	else if (t->tcpi_notsent_bytes || t->tcpi_unacked >= t->tcpi_snd_cwnd)
		why = WHY_RATE;
	else
		/* All of it is under way, and more would be allowed. */
		why = WHY_APPLICATION;
	if (s->acked != t->tcpi_bytes_acked)
		memset(s->stalled, 0, sizeof(s->stalled));
	s->acked = t->tcpi_bytes_acked;
	if (t->tcpi_ca_state >= CA_LOSS)
		blame_loss(s);
	else if (why == WHY_RATE || why == WHY_APPLICATION)
		s->stalled[why]++;
	s->all++;
	s->of[why]++;
}

/* Take a part of what is left. */
static double take(double v, double *rest)
{
	v = v < 0 ? 0 : v > *rest ? *rest : v;
	*rest -= v;
	return v;
}

/* Counters do not fall. */
static double grown(uint64_t from, uint64_t to)
{
	return to > from ? (double)(to - from) : 0;
}

/**
 * why_shares() - tell what held a connection between two looks
 * @a: first look
 * @b: second one
 * @samples: looks between them
 *
 * TCP's chronographs have the time with data to send, and of that the time for which the
 * receiver's window or the send buffer was the limit. While TCP's timer waits for a lost packet,
 * that time is loss. On-Ramp has the time paused. The rest of the time with data is split as the
 * samples are. A buffer that is full of packets that On-Ramp or the
 * qdisc holds, or that are to be sent again, is no reason.
 *
 * Return: shares, which add up to 1.
 */
struct why_shares why_shares(const struct look *a, const struct look *b,
			     const struct why_samples *samples)
{
	const struct tcp_info *from = &a->flow.info, *to = &b->flow.info;
	double all = (double)(b->time_ns - a->time_ns), rest, receiver;
	double rate = samples->of[WHY_RATE], application = samples->of[WHY_APPLICATION];
	struct why_shares s = { 0 };

	if (b->time_ns <= a->time_ns || !a->flow.has_info || !b->flow.has_info) {
		s.of[WHY_UNKNOWN] = 1;
		return s;
	}
	rest = 1;
	s.of[WHY_APPLICATION] = take(1 - grown(from->tcpi_busy_time, to->tcpi_busy_time) * 1e3 /
				     all, &rest);
	receiver = grown(from->tcpi_rwnd_limited, to->tcpi_rwnd_limited) * 1e3 / all;
	if (samples->looks)
		receiver *= 1 - (double)samples->timeouts / samples->looks;
	s.of[WHY_RECEIVER] = take(receiver, &rest);
	if (a->onramp && b->onramp)
		s.of[WHY_PATH] = take(grown(a->pauses.paused_ns, b->pauses.paused_ns) / all,
				      &rest);
	if (samples->all && !b->hidden) {
		double sampled = rest;

		s.of[WHY_LOSS] = take(sampled * samples->of[WHY_LOSS] / samples->all, &rest);
		s.of[WHY_QDISC] = take(sampled * samples->of[WHY_QDISC] / samples->all, &rest);
	}
	s.of[WHY_BUFFER] = take(grown(from->tcpi_sndbuf_limited, to->tcpi_sndbuf_limited) * 1e3 /
				all, &rest);
	if (b->hidden || rate + application <= 0) {
		s.of[WHY_UNKNOWN] = rest;
		return s;
	}
	s.of[WHY_RATE] = rest * rate / (rate + application);
	s.of[WHY_APPLICATION] += rest * application / (rate + application);
	return s;
}

/* why_dominant() - the largest share */
enum why why_dominant(const struct why_shares *s)
{
	enum why best = WHY_RECEIVER, i;

	for (i = 0; i < WHYS; i++)
		if (s->of[i] > s->of[best])
			best = i;
	return best;
}

/**
 * why_percent() - round shares so that they add up to 100
 * @s: shares
 * @percent: result
 */
void why_percent(const struct why_shares *s, int percent[WHYS])
{
	double left[WHYS];
	int sum = 0, i, most;

	for (i = 0; i < WHYS; i++) {
		percent[i] = (int)(s->of[i] * 100);
		left[i] = s->of[i] * 100 - percent[i];
		sum += percent[i];
	}
	for (; sum < 100; sum++) {
		most = 0;
		for (i = 1; i < WHYS; i++)
			if (left[i] > left[most])
				most = i;
		percent[most]++;
		left[most] = -1;
	}
}
