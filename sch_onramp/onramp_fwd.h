/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A TCP connection that has no socket here, as a qdisc learns of it from its packets alone:
 * pure functions on integers.
 *
 *	data comes to the qdisc:
 *	  far from all that was seen: another connection with these ports, start over
 *	  sent before: its ACK is ambiguous, so end the measurement of the RTT (Karn)
 *	  new, and no RTT is being measured: measure that of its last byte
 *	ACK comes in: the RTT, from the qdisc until here
 *	  measured without a break at first, then every 0.27 s, until On-Ramp follows the connection
 *	OR-ACK: good if it is about data that left and no OR-ACK has named yet
 *	  what left after the last OR-ACK is in flight: TCP's ACKs are not followed
 *	FIN, RST, or silence: the connection is old
 *
 *	data leaves: the rate of the connection, pauses included, and time without data left out
 *
 *	there are many connections, and it has no state: is it large?
 *
 * Nothing in this file depends on the kernel but fixed-size integers: it is compiled into the
 * module and the unit tests.
 */
#ifndef _ONRAMP_FWD_H
#define _ONRAMP_FWD_H

#include "onramp_ring.h"

/* RTTs that are measured one after the other, before there is a break after each. */
#define ONRAMP_FWD_RTTS		8

/* Time from the end of a measurement to the next one, ns: the unit of onramp_tick(). */
#define ONRAMP_FWD_BREAK_NS	(1ULL << 28)

/* No ACK for this long: a measurement is given up, ns. */
#define ONRAMP_FWD_WAIT_NS	(1ULL << 30)

/* A connection is old after this time without data, ns: open, and after FIN or RST. */
#define ONRAMP_FWD_AGE_NS	30000000000ULL
#define ONRAMP_FWD_CLOSED_NS	2000000000ULL

/*
 * With many connections only large ones get state. A large one has this share of the bytes of all
 * that have none, since the time below began. It also has this many bytes, a batch, so that a
 * share means something.
 */
#define ONRAMP_FWD_SHARE	1024
#define ONRAMP_FWD_LARGE	(1U << 16)
#define ONRAMP_FWD_SIZES_NS	(1ULL << 28)

/* Counters of those bytes: each is that of the connections with some of the hashes. */
#define ONRAMP_FWD_SIZES	4096

/* The rate is measured over this time at least; a longer one than the second is a break; ns. */
#define ONRAMP_FWD_METER_NS	(1ULL << 20)
#define ONRAMP_FWD_METER_MAX_NS	(1ULL << 26)

/**
 * struct onramp_fwd - state of a connection, from its packets
 * @seen_ns:	when data, FIN or RST last came; 0: none has
 * @timed_ns:	when the packet came whose RTT is being measured; 0: none is
 * @looked_ns:	when the last measurement ended
 * @next:	sequence number after the last byte of data
 * @timed:	sequence number whose ACK ends the measurement
 * @rtt_us:	shortest RTT, at least 1; U32_MAX: unknown
 * @rtts:	measurements that ended, ONRAMP_FWD_RTTS at most
 * @data:	there has been data, and @next is valid
 * @closed:	its host has sent FIN or RST
 *
 * Times are CLOCK_MONOTONIC, > 0.
 */
struct onramp_fwd {
	u64	seen_ns;
	u64	timed_ns;
	u64	looked_ns;
	u32	next;
	u32	timed;
	u32	rtt_us;
	u8	rtts;
	bool	data;
	bool	closed;
};

/* onramp_fwd_init() - begin with a connection of which nothing is known */
static inline void onramp_fwd_init(struct onramp_fwd *f)
{
	*f = (struct onramp_fwd) { .rtt_us = U32_MAX };
}

/* Is @seq farther from @from than any window of TCP, to either side? */
static inline bool onramp_fwd_is_far(u32 seq, u32 from)
{
	return seq - from + ONRAMP_MAX_WINDOW > 2 * ONRAMP_MAX_WINDOW;
}

/* The measurement of an RTT has ended, with a result or without. */
static inline void onramp_fwd_looked(struct onramp_fwd *f, u64 now_ns)
{
	f->timed_ns = 0;
	f->looked_ns = now_ns;
	if (f->rtts < ONRAMP_FWD_RTTS)
		f->rtts++;
}

/* onramp_fwd_expire() - give up a measurement that no ACK ends */
static inline void onramp_fwd_expire(struct onramp_fwd *f, u64 now_ns)
{
	if (f->timed_ns && (s64)(now_ns - f->timed_ns) > (s64)ONRAMP_FWD_WAIT_NS)
		onramp_fwd_looked(f, now_ns);
}

/**
 * onramp_fwd_data() - note data that comes to the qdisc
 * @f: connection
 * @seq: sequence number of its first byte
 * @end: after the last one, not equal to @seq
 * @measure: the RTT is of interest
 * @now_ns: current time, > 0
 *
 * @f->timed_ns tells whether an ACK is waited for after that.
 */
static inline void onramp_fwd_data(struct onramp_fwd *f, u32 seq, u32 end, bool measure,
				   u64 now_ns)
{
	if (f->data && onramp_fwd_is_far(seq, f->next))
		onramp_fwd_init(f);
	onramp_fwd_expire(f, now_ns);
	f->seen_ns = now_ns;
	if (f->data && (s32)(seq - f->next) < 0) {
		if (f->timed_ns && (s32)(seq - f->timed) < 0)
			onramp_fwd_looked(f, now_ns);
		if ((s32)(end - f->next) > 0)
			f->next = end;
		return;
	}
	f->data = true;
	f->closed = false;
	f->next = end;
	if (!measure || f->timed_ns)
		return;
	if (f->rtts >= ONRAMP_FWD_RTTS &&
	    (s64)(now_ns - f->looked_ns) < (s64)ONRAMP_FWD_BREAK_NS)
		return;
	f->timed = end;
	f->timed_ns = now_ns;
}

/* onramp_fwd_end() - note a packet with FIN or RST; @now_ns > 0 */
static inline void onramp_fwd_end(struct onramp_fwd *f, u64 now_ns)
{
	f->seen_ns = now_ns;
	f->closed = true;
}

/**
 * onramp_fwd_acked() - note an ACK that came in
 * @f: connection
 * @ack: sequence number of the next byte that the receiver expects
 * @now_ns: current time
 *
 * An ACK of data that was never sent is not of this connection.
 *
 * Return: it has ended a measurement, and f->rtt_us is known.
 */
static inline bool onramp_fwd_acked(struct onramp_fwd *f, u32 ack, u64 now_ns)
{
	u64 rtt_us;

	if (!f->timed_ns || (s32)(ack - f->timed) < 0 || (s32)(f->next - ack) < 0)
		return false;
	/* The clock of another CPU may be behind. */
	rtt_us = now_ns > f->timed_ns ? div_u64(now_ns - f->timed_ns, 1000) : 0;
	f->rtt_us = (u32)min_t(u64, f->rtt_us, max_t(u64, rtt_us, 1));
	onramp_fwd_looked(f, now_ns);
	return true;
}

/* onramp_fwd_is_old() - return whether to forget a connection; its last packet came at @seen_ns */
static inline bool onramp_fwd_is_old(u64 seen_ns, bool closed, u64 now_ns)
{
	if ((s64)(now_ns - seen_ns) < 0)
		return false;
	return now_ns - seen_ns > (closed ? ONRAMP_FWD_CLOSED_NS : ONRAMP_FWD_AGE_NS);
}

/* Large ones --------------------------------------------------------------- */

/**
 * struct onramp_fwd_sizes - bytes of connections without state, by their hash
 * @from_ns:	since when they are counted
 * @all:	of all of them
 * @bytes:	of those with the same hash, up to U32_MAX
 *
 * A filter with one stage, see Estan and Varghese, "New Directions in Traffic Measurement and
 * Accounting" (SIGCOMM 2002). It misses no large connection. A small one gets state only if
 * those with its hash are large together. At most ONRAMP_FWD_SHARE can be large at a time.
 */
struct onramp_fwd_sizes {
	u64	from_ns;
	u64	all;
	u32	bytes[ONRAMP_FWD_SIZES];
};

/**
 * onramp_fwd_is_large() - count a packet of a connection without state
 * @s: counters
 * @hash: of the connection, 32 random bits
 * @len: bytes
 * @now_ns: current time
 *
 * Return: its connection is large.
 */
static inline bool onramp_fwd_is_large(struct onramp_fwd_sizes *s, u32 hash, u32 len, u64 now_ns)
{
	u32 *bytes = &s->bytes[hash % ONRAMP_FWD_SIZES], i;

	if (onramp_since_ns(now_ns, s->from_ns) > ONRAMP_FWD_SIZES_NS) {
		for (i = 0; i < ONRAMP_FWD_SIZES; i++)
			s->bytes[i] = 0;
		s->all = 0;
		s->from_ns = now_ns;
	}
	s->all += len;
	*bytes += min_t(u32, len, U32_MAX - *bytes);
	return *bytes >= max_t(u64, ONRAMP_FWD_LARGE, div_u64(s->all, ONRAMP_FWD_SHARE));
}

/* In flight ---------------------------------------------------------------- */

/**
 * onramp_fwd_una() - return the first sequence number that may be in flight, as data leaves
 * @una: the same before; any if there was no data
 * @seq: first sequence number of the data
 * @first: there was no data
 *
 * It is moved by OR-ACKs. Far from it there is another connection, or OR-ACKs have stopped long
 * ago.
 */
static inline u32 onramp_fwd_una(u32 una, u32 seq, bool first)
{
	return first || onramp_fwd_is_far(seq, una) ? seq : una;
}

/**
 * onramp_fwd_in_flight() - return whether an OR-ACK is about data in flight
 * @una: first sequence number that no OR-ACK has named
 * @next: after the last byte that left
 * @seq: of the OR-ACK: after the last byte of a packet
 */
static inline bool onramp_fwd_in_flight(u32 una, u32 next, u32 seq)
{
	return seq - una - 1 < next - una;
}

/* Rate --------------------------------------------------------------------- */

/*
 * Highest rate after a pause, in times of the measured one. A rate grows by 1/16 of the gap to
 * it, see onramp_release_bps(). So it nearly doubles in the time that an OR-ACK takes. TCP's
 * sk_pacing_rate has the same effect: it is several times a connection's share of the path.
 */
#define ONRAMP_FWD_PACING	16

/* A rate over this time, ns, with more than 9/8 of the link's shows that the link is faster. */
#define ONRAMP_FWD_LONG_NS	(1ULL << 26)

/**
 * struct onramp_fwd_meter - rate at which a connection's data leaves
 * @from_ns:	begin of the present measurement; 0: there was no data
 * @bytes:	that left since
 * @bps:	result of the last one, bytes/s; 0: unknown
 * @long_ns:	the same over ONRAMP_FWD_LONG_NS: begin,
 * @long_bytes:	bytes in measurements that have ended,
 * @long_bps:	result
 */
struct onramp_fwd_meter {
	u64	from_ns;
	u64	bytes;
	u64	bps;
	u64	long_ns;
	u64	long_bytes;
	u64	long_bps;
};

/**
 * onramp_fwd_is_break() - return whether a connection had no data, for longer than a full window
 *			   makes it wait
 * @queued_ns: when the data came to the qdisc that leaves now
 * @sent_ns: when the data before left
 * @trip_ns: from there until its OR-ACK, the last one
 *
 * That time says nothing of the rate that it may have: counted, it made a large response after
 * some idle milliseconds slow for as long.
 */
static inline bool onramp_fwd_is_break(u64 queued_ns, u64 sent_ns, u32 trip_ns)
{
	s64 idle_ns = queued_ns - sent_ns;

	/* The first comparison spares most packets the cache line that @trip_ns is in. */
	return idle_ns > (s64)ONRAMP_FWD_METER_NS && idle_ns > (s64)(ONRAMP_FWD_METER_NS + trip_ns);
}

/* onramp_fwd_meter_break() - begin anew with the next data that leaves */
static inline void onramp_fwd_meter_break(struct onramp_fwd_meter *m)
{
	m->from_ns = 0;
}

/**
 * onramp_fwd_meter_add() - note data that leaves
 * @m: meter
 * @len: bytes
 * @now_ns: current time, > 0
 */
static inline void onramp_fwd_meter_add(struct onramp_fwd_meter *m, u32 len, u64 now_ns)
{
	u64 ns = onramp_since_ns(now_ns, m->from_ns);

	if (!m->from_ns || ns > ONRAMP_FWD_METER_MAX_NS) {
		*m = (struct onramp_fwd_meter) { .from_ns = now_ns, .long_ns = now_ns };
		return;
	}
	m->bytes += len;
	if (ns < ONRAMP_FWD_METER_NS)
		return;
	/* Below 2^60, at 8 Tbit/s. */
	m->bps = div64_u64(m->bytes * 1000000000ULL, ns);
	m->long_bytes += m->bytes;
	m->bytes = 0;
	m->from_ns = now_ns;
	ns = onramp_since_ns(now_ns, m->long_ns);
	if (ns < ONRAMP_FWD_LONG_NS)
		return;
	/* It lasts at most twice as long: at 8 Tbit/s below 2^59. */
	m->long_bps = div64_u64(m->long_bytes * (1000000000ULL >> 9), ns >> 9);
	m->long_bytes = 0;
	m->long_ns = now_ns;
}

/**
 * onramp_fwd_pacing_bps() - return the highest rate after a pause, bytes/s
 * @m: meter
 * @line_bps: of the link; 0: unknown
 *
 * In place of TCP's sk_pacing_rate. Only its window limits the data that a connection without a
 * socket has in the queue. That queue may never become empty after a pause, so all data leaves at
 * this rate. A line_rate that is too low would be the connection's rate for good.
 *
 * Return: the rate; U64_MAX: no limit, since none was measured.
 */
static inline u64 onramp_fwd_pacing_bps(const struct onramp_fwd_meter *m, u64 line_bps)
{
	if (!m->bps)
		return ~0ULL;
	/* The link is faster than its device, or line_rate, says. A burst shows no such thing. */
	if (m->long_bps > line_bps + line_bps / 8)
		line_bps = 0;
	/* Below 2^63, see above. */
	return min_t(u64, ONRAMP_FWD_PACING * m->bps, line_bps ?: ~0ULL);
}

#endif /* _ONRAMP_FWD_H */
