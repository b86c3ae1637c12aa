/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A window for the bursts of all connections to one host: pure functions on integers.
 *
 * A connection that was idle sends a burst before the first OR-ACK about it comes. The only
 * burst to a host never waits. While another connection to the same host has bytes of a burst
 * on the way, about which no OR-ACK has come, the next burst may begin if its first packet and
 * the bytes on the way are at most
 *
 *	W     = (least + 12 packets * n) * (1 + (now - above >= 4 * trip))
 *	least = max(32 packets, link * lowest round trip)
 *	n     = connections to the host that have sent data of a burst, or waited to, in this
 *		trip or in the one before, whichever are more
 *	above = time of the last OR-ACK of the path with a delay above T
 *	trip  = from a packet's departure until its OR-ACK, the last one
 *
 * The window follows the number of bursts so that a host's share of the link does, and long flows
 * of other hosts do not take it. Documentation/results/onramp-beside.md, "How large the window is",
 * has measurements.
 *
 * The burst that has waited longest begins first. Once it has begun, its packets do not wait
 * here; they count until its first OR-ACK, from which on pauses hold them. The last packets of a
 * burst get no OR-ACK. So bytes also leave the sum with the first OR-ACK about a packet that was
 * sent later to the same host, and after two trips in any case.
 *
 * A burst that waits asks again, since an OR-ACK does not know the qdiscs in which bursts wait. No
 * burst waits for longer than max_pause, or before the first OR-ACK of the path.
 *
 * Source: none; the paper has one connection for each pair of hosts.
 */
#ifndef _ONRAMP_WINDOW_H
#define _ONRAMP_WINDOW_H

#include "onramp_core.h"

/* Least window, bytes: OR-ACKs come for every 32nd packet. */
#define ONRAMP_WINDOW_LEAST	(32 * 1448ULL)

/*
 * W doubles after 2^this round trips without a delay above T, at most ONRAMP_WINDOW_GROWTHS times.
 * This bounds the data that leaves at once when all bursts begin together after a silence.
 */
#define ONRAMP_WINDOW_SHIFT	2
#define ONRAMP_WINDOW_GROWTHS	1

/*
 * The burst that has waited longest asks again after this share of a trip, as a shift, within
 * these bounds, ns.
 */
#define ONRAMP_ASK_SHIFT	4
#define ONRAMP_ASK_MIN_NS	5000ULL
#define ONRAMP_ASK_MAX_NS	100000ULL

/*
 * The others ask after 2^SHIFT times as long, at most ONRAMP_ASK_MAX_NS, and with n > MANY
 * connections n / MANY times as long again: so all together ask MANY times in that time, however
 * many they are.
 */
#define ONRAMP_ASK_REST_SHIFT	2
#define ONRAMP_ASK_MANY		16

/* Bytes that each connection with a burst adds to the window. */
#define ONRAMP_WINDOW_EACH	(12 * 1448ULL)

/* Bounds of a trip, ns. */
#define ONRAMP_TRIP_MIN_NS	1000ULL
#define ONRAMP_TRIP_MAX_NS	10000000ULL

/**
 * struct onramp_window - bursts on the way to a host
 * @above_ns: when the last OR-ACK came with a delay above T; 0: none yet
 * @trip_ns: from a packet's departure until its OR-ACK, the last one; 0: none yet
 * @least: window while the delay is above T, bytes
 * @from_ns: when the current epoch began; epochs are a trip long
 * @cur_bytes: bytes of bursts that left since, and are still on the way
 * @prev_bytes: the same, of the epoch before
 * @epoch: number of the current one
 * @active: connections that sent data of a burst, or asked to, in the current epoch
 * @prev_active: the same, of the epoch before
 * @first_ns: since when the burst has waited that has waited longest; 0: none
 * @asked_ns: when that one last asked
 */
struct onramp_window {
	u64	above_ns;
	u64	trip_ns;
	u64	least;
	u64	from_ns;
	u64	cur_bytes;
	u64	prev_bytes;
	u32	epoch;
	u32	active;
	u32	prev_active;
	u64	first_ns;
	u64	asked_ns;
};

/**
 * struct onramp_burst - bytes of a connection that count in the window
 * @una: first sequence number on the way
 * @end: after the last one that counts
 * @epoch: onramp_window.epoch when it last sent
 * @active: 1 + onramp_window.epoch when it last sent or asked
 * @open: no OR-ACK has come since it began, so that more bytes count
 * @since_ns: since when its next burst waits; 0: none does
 */
struct onramp_burst {
	u32	una;
	u32	end;
	u32	epoch;
	u32	active;
	bool	open;
	u64	since_ns;
};

/**
 * onramp_window_known() - return whether there has been an OR-ACK
 * @w: window
 *
 * Until then nothing waits, and nothing need be counted.
 */
static inline bool onramp_window_known(const struct onramp_window *w)
{
	return READ_ONCE(w->trip_ns);
}

/* Time passes: forget bytes that left two trips ago. */
static inline void onramp_window_age(struct onramp_window *w, u64 now_ns)
{
	u64 age_ns = onramp_since_ns(now_ns, w->from_ns);

	if (age_ns < w->trip_ns)
		return;
	w->prev_bytes = age_ns < 2 * w->trip_ns ? w->cur_bytes : 0;
	w->prev_active = age_ns < 2 * w->trip_ns ? w->active : 0;
	w->cur_bytes = 0;
	w->active = 0;
	w->from_ns = now_ns;
	w->epoch += age_ns < 2 * w->trip_ns ? 1 : 2;
}

/* The connection has data of a burst. */
static inline void onramp_window_active(struct onramp_window *w, struct onramp_burst *b)
{
	if (b->active == w->epoch + 1)
		return;
	b->active = w->epoch + 1;
	w->active++;
}

/* Bytes of the connection that the window still counts. */
static inline u32 onramp_window_own(const struct onramp_window *w, const struct onramp_burst *b)
{
	return w->epoch - b->epoch <= 1 ? b->end - b->una : 0;
}

/* All before @seq has arrived. */
static inline void onramp_window_una(struct onramp_window *w, struct onramp_burst *b, u32 seq)
{
	u64 n;

	if ((s32)(seq - b->una) <= 0)
		return;
	if ((s32)(seq - b->end) > 0)
		seq = b->end;
	n = (u32)(seq - b->una);
	b->una = seq;
	if (w->epoch == b->epoch)
		w->cur_bytes -= min_t(u64, n, w->cur_bytes);
	else if (w->epoch - b->epoch == 1)
		w->prev_bytes -= min_t(u64, n, w->prev_bytes);
}

/* Connections that have a burst. */
static inline u32 onramp_window_bursts(const struct onramp_window *w)
{
	return max_t(u32, w->active, w->prev_active);
}

/* When the burst that has waited longest asks again, or another one, ns. */
static inline u64 onramp_window_ask_ns(const struct onramp_window *w, bool first)
{
	u64 ask_ns = clamp_t(u64, w->trip_ns >> ONRAMP_ASK_SHIFT, ONRAMP_ASK_MIN_NS,
			     ONRAMP_ASK_MAX_NS);

	if (first)
		return ask_ns;
	ask_ns = min_t(u64, ask_ns << ONRAMP_ASK_REST_SHIFT, ONRAMP_ASK_MAX_NS);
	return ask_ns * max_t(u32, onramp_window_bursts(w), ONRAMP_ASK_MANY) / ONRAMP_ASK_MANY;
}

/* onramp_window_bytes() - return W */
static inline u64 onramp_window_bytes(const struct onramp_window *w, u64 now_ns)
{
	u64 below_ns = onramp_since_ns(now_ns, w->above_ns);
	u64 growths = div64_u64(below_ns, w->trip_ns) >> ONRAMP_WINDOW_SHIFT;
	u64 bytes = w->least + onramp_window_bursts(w) * ONRAMP_WINDOW_EACH;

	return bytes * (1 + min_t(u64, growths, ONRAMP_WINDOW_GROWTHS));
}

/**
 * onramp_window_ask() - ask whether a burst may begin
 * @w: window
 * @b: of its connection
 * @len: bytes of its first packet
 * @una: snd_una of the connection
 * @most_ns: longest time that it waits
 * @now_ns: current time, > 0
 *
 * Return: 0: it may; else ns after which to ask again. A burst that does not ask for two trips
 * loses its place.
 */
static inline u64 onramp_window_ask(struct onramp_window *w, struct onramp_burst *b, u32 len,
				    u32 una, u64 most_ns, u64 now_ns)
{
	u64 on_way, since_ns = b->since_ns ?: now_ns, waited_ns;
	bool fits, first;

	if (!onramp_window_known(w))
		return 0;
	onramp_window_age(w, now_ns);
	onramp_window_una(w, b, una);
	onramp_window_active(w, b);
	if (onramp_since_ns(now_ns, w->asked_ns) > 2 * w->trip_ns)
		w->first_ns = 0;
	on_way = w->cur_bytes + w->prev_bytes;
	/* No other connection's bytes are on the way, or it fits. */
	fits = on_way <= onramp_window_own(w, b) || on_way + len <= onramp_window_bytes(w, now_ns);
	waited_ns = onramp_since_ns(now_ns, since_ns);
	first = !w->first_ns || since_ns <= w->first_ns;
	if (waited_ns >= most_ns || (first && fits)) {
		if (first)
			w->first_ns = 0;
		b->since_ns = 0;
		return 0;
	}
	b->since_ns = since_ns;
	if (first) {
		w->first_ns = since_ns;
		w->asked_ns = now_ns;
	}
	return min_t(u64, onramp_window_ask_ns(w, first), most_ns - waited_ns);
}

/* A burst has begun, also one that did not ask: it waits no longer, and gives up its place. */
static inline void onramp_window_begun(struct onramp_window *w, struct onramp_burst *b)
{
	if (!b->since_ns)
		return;
	if (b->since_ns == w->first_ns)
		w->first_ns = 0;
	b->since_ns = 0;
}

/**
 * onramp_window_sent() - count data that leaves
 * @w: window
 * @b: of the connection
 * @start: its first sequence number
 * @end: after the last one
 * @first: it is the first of a burst
 * @una: snd_una of the connection
 * @now_ns: current time
 *
 * Return: data that follows is of the burst, and has to be counted, though it is not the first.
 */
static inline bool __must_check onramp_window_sent(struct onramp_window *w,
						   struct onramp_burst *b, u32 start, u32 end,
						   bool first, u32 una, u64 now_ns)
{
	onramp_window_age(w, now_ns);
	onramp_window_una(w, b, una);
	if (first)
		onramp_window_begun(w, b);
	if (first && !onramp_window_own(w, b)) {
		b->una = start;
		b->end = start;
		b->open = true;
	}
	if (b->open && (s32)(end - b->end) > 0) {
		onramp_window_active(w, b);
		w->cur_bytes += (u32)(end - b->end);
		b->end = end;
		b->epoch = w->epoch;
	}
	return b->open;
}

/**
 * onramp_window_ack() - process an OR-ACK that counted
 * @w: window
 * @b: of its connection
 * @seq: its sequence number
 * @out_ns: when its packet left the qdisc
 * @now_ns: current time
 * @above: its delay is above T
 */
static inline void onramp_window_ack(struct onramp_window *w, struct onramp_burst *b, u32 seq,
				     u64 out_ns, u64 now_ns, bool above)
{
	onramp_window_age(w, now_ns);
	onramp_window_una(w, b, seq);
	b->open = false;
	/* Also read without a lock. */
	WRITE_ONCE(w->trip_ns, clamp_t(u64, now_ns - out_ns, ONRAMP_TRIP_MIN_NS,
				       ONRAMP_TRIP_MAX_NS));
	/* First in, first out. */
	if (out_ns >= w->from_ns)
		w->prev_bytes = 0;
	if (above)
		w->above_ns = now_ns;
}

#endif /* _ONRAMP_WINDOW_H */
