/* SPDX-License-Identifier: GPL-2.0 */
/*
 * or_acker's decisions: pure functions on integers.
 *
 *	packet with data of a flow, or_acker_track_packet():
 *		outside the receive window?			 -> ignore it
 *		note its end, stamp and flags; credit += its bytes
 *		ack_packets (10 while the path is new, or its OR-ACKs
 *			are costly) or ack_bytes since an OR-ACK was due? -> due
 *		the first since then, and its sender has had no OR-ACK
 *			for path_interval_ns?			 -> due
 *		the first after a silence, around a drain?	 -> due
 *		the first since then, with PSH or FIN, no wait yet?	 -> none
 *		OR-ACKs are costly, and the path is not new?		 -> none
 *		the flow is not waiting?			 -> wait ack_delay_ns
 *
 *	ack_delay_ns is over, or_acker_track_waited():
 *		first packet younger than ack_delay_ns?		 -> wait on
 *		newest one has PSH or FIN, and its sender has had an
 *			OR-ACK within path_interval_ns?		 -> none
 *		else						 -> due
 *
 *	an OR-ACK is due, or_acker_admit():
 *		credit < its bytes?				 -> none
 *		bucket of the subscriber empty?			 -> none
 *		bucket of the CPU empty?			 -> none
 *		take its bytes from the credit, a token from both buckets
 *
 *	a sender has come, or a drain is over:
 *		or_acker_drain_sender(), or_acker_drain_ran()	 -> when the next one begins
 *
 * One OR-ACK for some packets is On-Ramp (Liu et al., NSDI 2021), section 4.1. The other
 * rules are not in the paper: see or_acker_main.c.
 *
 * Nothing in this file depends on the kernel but fixed-size integers, READ_ONCE() and
 * WRITE_ONCE(): it is compiled into the module, the unit tests and the fuzzer.
 */
#ifndef _OR_ACKER_CORE_H
#define _OR_ACKER_CORE_H

#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "or_proto.h"

/* Largest credit of a flow, bytes: more is not saved up. */
#define OR_ACKER_CREDIT_MAX	4096

/*
 * For this long after its first OR-ACK a sender learns the delay of the empty path, ns,
 * and has an OR-ACK for this many packets, the paper's number. With one for 32 errors are
 * above 1 us for up to 340 ms in onramp-owd, with one for 10 for up to 140 ms; the goal
 * is 200.
 *
 * So has one whose OR-ACKs are costly, for good, and none by time: they go through a program or a
 * cipher, as the data does, at both ends. With one for each packet, of 37 Mbit/s through two
 * programs on a slow CPU 20 were left.
 */
#define OR_ACKER_LEARN_NS	250000000ULL
#define OR_ACKER_LEARN_PACKETS	10

/*
 * Shares of data are updated once in this time, ns, as a shift: 8.4 ms. The sums so far
 * count for three quarters each time, 29 ms on average.
 */
#define OR_ACKER_SHARE_SHIFT	23

/* After this many of these times, 134 ms, the shares start anew. */
#define OR_ACKER_SHARE_AGES	16

/*
 * Senders without On-Ramp fill the queue from this many of 16 bytes on, and no longer below
 * the second number. Hosts with On-Ramp then have 13 of 16, whatever the others do.
 */
#define OR_ACKER_OTHERS_FROM	3
#define OR_ACKER_OTHERS_UNTIL	2

/* Shares are counted in units of this many bytes, as a shift. */
#define OR_ACKER_SHARE_UNIT_SHIFT	4

/* Queues that data of one device is told apart by: those of a port of a switch. */
#define OR_ACKER_CLASSES	8

/* The idle time of a CPU is read once in this time, ns, as a shift: 34 ms. */
#define OR_ACKER_LOAD_SHIFT	25

/* The CPU's load is unknown after this many of these times without an OR-ACK: 0.54 s. */
#define OR_ACKER_LOAD_AGES	16

/* A CPU is busy when it is idle for less than 1/16 of the time, until it is for 1/8. */
#define OR_ACKER_IDLE_FROM_SHIFT	4
#define OR_ACKER_IDLE_UNTIL_SHIFT	3

/* Longest time between two OR-ACKs of a namespace on a busy CPU, ns: 50 ms. */
#define OR_ACKER_GAP_MAX_NS	50000000U

/*
 * The cost of an OR-ACK to a sender on this host, in units of the time to send it. Sending is a
 * third of its 17,000 instructions.
 */
#define OR_ACKER_LOCAL_COST	3

/* OR-ACKs take at most this part of the time of a CPU, as a shift: 1/8. */
#define OR_ACKER_TIME_SHIFT	3

/*
 * Drains, ns: from a new sender to the first one, FIRST, or BOTH if another came up to FIRST before
 * it; and from one to the next at least, MIN. Up to the age YOUNG of the newest sender they may be
 * further apart, MAX at most.
 */
#define OR_ACKER_DRAIN_FIRST_NS		50000000ULL
#define OR_ACKER_DRAIN_BOTH_NS		20000000ULL
#define OR_ACKER_DRAIN_MIN_NS		110000000ULL
#define OR_ACKER_DRAIN_YOUNG_NS		1000000000ULL
#define OR_ACKER_DRAIN_MAX_NS		8000000000ULL

/* From then on the next one follows after 1/8 of that age, as a shift. */
#define OR_ACKER_DRAIN_AGE_SHIFT	3

/* OR-ACKs say so for this long, ns. */
#define OR_ACKER_DRAIN_ON_NS		5000000ULL

/* Senders of data of the last 10 ms, ns, are told at once: hold times of older data are cut. */
#define OR_ACKER_DRAIN_DATA_NS		10000000ULL

/*
 * After a drain the first packet of a flow has an OR-ACK at once, for this many of a sender.
 * A flow whose packets are this far apart has been silent, ns.
 */
#define OR_ACKER_DRAIN_PROBES		64
#define OR_ACKER_SILENCE_NS		20000ULL

/* Depth of a token bucket, ns at its rate: 1 ms. */
#define OR_ACKER_BURST_NS	1000000ULL

/*
 * Range of the window, bytes: the largest of TCP, and the least for a flow. With a smaller
 * one each packet would look up the socket.
 */
#define OR_ACKER_WINDOW_MAX	(1U << 30)
#define OR_ACKER_WINDOW_MIN	65536U

/* Reasons for an OR-ACK; in the order of the counters AckBy*. */
enum or_acker_why {
	OR_ACKER_WHY_PACKETS,	/* ack_packets */
	OR_ACKER_WHY_BYTES,	/* ack_bytes */
	OR_ACKER_WHY_TIME,	/* ack_delay_ns */
	OR_ACKER_WHY_PATH,	/* path_interval_ns */
	OR_ACKER_WHY_DRAIN,	/* a drain begins */
	OR_ACKER_WHY_SILENCE,	/* the first packet after a silence, around a drain */
};

/* Next step for a flow, after a packet or after its wait. */
enum or_acker_next {
	OR_ACKER_NEXT_NOTHING,
	OR_ACKER_NEXT_WAIT,	/* until or_acker_track_wait_ns() */
	OR_ACKER_NEXT_SEND,	/* an OR-ACK is due */
	OR_ACKER_NEXT_QUIET,	/* no OR-ACK: the sender has no more data */
};

/* Fate of a due OR-ACK. */
enum or_acker_verdict {
	OR_ACKER_SENT,
	OR_ACKER_NO_SUB,	/* its subscription is over */
	OR_ACKER_HELD_CREDIT,	/* fewer bytes came in than would go out */
	OR_ACKER_HELD_SUB,	/* above subscriber_rate */
	OR_ACKER_HELD_CPU,	/* above cpu_rate */
	OR_ACKER_HELD_TIME,	/* they took their part of the time of the CPU */
	OR_ACKER_NOT_SENT,	/* admitted; the stack failed to send it */
	OR_ACKER_ADMITTED,	/* none yet: it is to be sent */
};

/**
 * struct or_acker_rules - parameters in the units of the decisions
 * @ack_packets:	OR-ACK after this many packets, 1 to 255
 * @ack_bytes:		or after this many bytes of payload, > 0
 * @ack_delay_ns:	or this long after the first packet, ns
 * @path_interval_ns:	longest time without an OR-ACK to a sender of data, ns; 0: no
 *			rule depends on it
 * @sub_interval_ns:	between two OR-ACKs to one subscriber at its rate, ns, <= 1 s
 */
struct or_acker_rules {
	u32	ack_packets;
	u32	ack_bytes;
	u32	ack_delay_ns;
	u32	path_interval_ns;
	u32	sub_interval_ns;
};

/**
 * struct or_acker_path - OR-ACKs that a sender of data has received
 * @tat_ns:	time at which its token bucket is full again
 * @acked_ns:	time of the last OR-ACK to it; 0: none yet
 * @learned_ns:	end of the time in which it learns the delay of the path
 * @probes:	this many more packets that follow a silence have an OR-ACK at once
 *
 * Times are CLOCK_MONOTONIC. The caller serialises writers. or_acker_track_packet() and
 * or_acker_track_waited() read beside them: one OR-ACK more or less does not matter.
 */
struct or_acker_path {
	u64	tat_ns;
	u64	acked_ns;
	u64	learned_ns;
	u8	probes;
};

/**
 * struct or_acker_window - sequence numbers that a connection takes
 * @from:	the lowest one
 * @size:	number of them, <= 2 * OR_ACKER_WINDOW_MAX
 */
struct or_acker_window {
	u32	from;
	u32	size;
};

/**
 * struct or_acker_packet - a packet with data
 * @stamp_ns:	when it came in, CLOCK_MONOTONIC
 * @seq:	sequence number of its first byte
 * @payload:	bytes after its TCP header, > 0
 * @headers:	bytes before its payload, at least
 * @segs:	packets that it is on the wire, > 0
 * @end:	it has PSH or FIN
 * @train:	it is a train
 */
struct or_acker_packet {
	u64	stamp_ns;
	u32	seq;
	u32	payload;
	u32	headers;
	u32	segs;
	bool	end;
	bool	train;
};

/**
 * struct or_acker_track - state of a flow
 * @stamp_ns:	when its newest packet came in, CLOCK_MONOTONIC
 * @first_ns:	the same of the oldest packet of @since
 * @window:	sequence numbers that its socket takes; read locklessly
 * @seq:	behind the last byte of the newest packet
 * @since:	packets since an OR-ACK was last due
 * @bytes:	payload of these
 * @packets:	packets since the last OR-ACK
 * @in_bytes:	payload of these
 * @credit:	bytes received less bytes of OR-ACKs, <= OR_ACKER_CREDIT_MAX
 * @count:	number of the next OR-ACK
 * @limit:	value of @since at which an OR-ACK is due
 * @why:	enum or_acker_why: the reason
 * @due:	an OR-ACK is due, and is not decided on yet
 * @end:	the newest packet is the last one of a burst
 * @quiet:	no OR-ACK by time for the packets in @since
 * @costly:	an OR-ACK takes as much time of CPUs as a packet of data
 * @waiting:	the caller waits until or_acker_track_wait_ns()
 */
struct or_acker_track {
	u64			stamp_ns;
	u64			first_ns;
	struct or_acker_window	window;
	u32			seq;
	u32			since;
	u32			bytes;
	u32			packets;
	u32			in_bytes;
	u32			credit;
	u32			count;
	u8			limit;
	u8			why;
	bool			due;
	bool			end;
	bool			quiet;
	bool			costly;
	bool			waiting;
};

/**
 * struct or_acker_report - contents of an OR-ACK
 * @seq:	behind the last byte of the newest packet
 * @hold_ns:	time since that packet arrived, ns, <= OR_HOLD_MAX_NS
 * @count:	number of the OR-ACK
 * @packets:	packets since the last OR-ACK
 * @bytes:	payload of these
 */
struct or_acker_report {
	u32	seq;
	u32	hold_ns;
	u32	count;
	u32	packets;
	u32	bytes;
};

/* Sequence numbers --------------------------------------------------------- */

/**
 * or_acker_window_of() - return the sequence numbers that a socket accepts
 * @rcv_nxt:	next one that it expects
 * @rcv_wnd:	its receive window, bytes
 *
 * TCP accepts data that ends at or behind rcv_nxt and begins in the window. Here a range of
 * the same size below it is accepted as well: retransmitted data passes the path, too. Both
 * fields may be read without the socket's lock, since @rcv_nxt + @rcv_wnd is at or behind
 * the right edge that the peer knows.
 *
 * A guessed sequence number is in it with a probability of 2^-31 times the window: 0.3 %
 * with 6 MB.
 */
static inline struct or_acker_window or_acker_window_of(u32 rcv_nxt, u32 rcv_wnd)
{
	rcv_wnd = clamp_t(u32, rcv_wnd, OR_ACKER_WINDOW_MIN, OR_ACKER_WINDOW_MAX);
	return (struct or_acker_window) {
		.from = rcv_nxt - rcv_wnd, .size = 2 * rcv_wnd,
	};
}

/**
 * or_acker_window_has() - return whether a connection accepts a packet
 * @w:		its window, as it was when the socket was last asked
 * @seq:	sequence number of the first byte
 *
 * Every byte that a peer may send lies below the right edge that it was notified, which the
 * window reached when it was set. So it is set anew about once in a window of data, and
 * when a sequence number is wrong.
 */
static inline bool or_acker_window_has(const struct or_acker_window *w, u32 seq)
{
	/* Two words, of which one can be newer: the other packets find both. */
	return seq - READ_ONCE(w->from) <= READ_ONCE(w->size);
}

/* Token buckets ------------------------------------------------------------ */

/**
 * or_acker_bucket_has() - return whether a bucket has a token
 * @tat_ns:	when it is full again
 * @now_ns:	current time
 *
 * The generic cell rate algorithm: @tat_ns is the theoretical arrival time of the next
 * token's use, and uses may be early by the depth of the bucket.
 */
static inline bool or_acker_bucket_has(u64 tat_ns, u64 now_ns)
{
	return tat_ns <= now_ns + OR_ACKER_BURST_NS;
}

/* or_acker_bucket_take() - take a token from a bucket that has one; return when it is full again */
static inline u64 or_acker_bucket_take(u64 tat_ns, u64 now_ns, u32 interval_ns)
{
	return max_t(u64, tat_ns, now_ns) + interval_ns;
}

/* Paths -------------------------------------------------------------------- */

/**
 * or_acker_acked() - return whether the sender had an OR-ACK lately, of any flow
 * @path:	of the sender
 * @r:		parameters
 * @now_ns:	current time; the OR-ACK may have been after it
 */
static inline bool or_acker_acked(const struct or_acker_path *path,
				  const struct or_acker_rules *r, u64 now_ns)
{
	return READ_ONCE(path->acked_ns) + r->path_interval_ns > now_ns;
}

/* Return whether the sender learns the delay of the empty path. */
static inline bool or_acker_learns(const struct or_acker_path *path,
				   const struct or_acker_rules *r, u64 now_ns)
{
	return r->path_interval_ns && now_ns < READ_ONCE(path->learned_ns);
}

/* After how many packets is the next OR-ACK due? */
static inline u32 or_acker_limit(const struct or_acker_track *t, const struct or_acker_path *path,
				 const struct or_acker_rules *r, u64 now_ns)
{
	if (t->costly || or_acker_learns(path, r, now_ns))
		return min_t(u32, r->ack_packets, OR_ACKER_LEARN_PACKETS);
	return r->ack_packets;
}

/* or_acker_path_drains() - the sender is told to drain its path */
static inline void or_acker_path_drains(struct or_acker_path *path)
{
	WRITE_ONCE(path->probes, OR_ACKER_DRAIN_PROBES);
}

/* or_acker_path_probed() - an OR-ACK is sent by OR_ACKER_WHY_SILENCE */
static inline void or_acker_path_probed(struct or_acker_path *path)
{
	u8 probes = READ_ONCE(path->probes);

	if (probes)
		WRITE_ONCE(path->probes, probes - 1);
}

/* Flows -------------------------------------------------------------------- */

/**
 * or_acker_track_init() - begin a flow without packets
 * @t:		flow
 * @window:	sequence numbers that its socket takes
 * @count:	number of its first OR-ACK
 */
static inline void or_acker_track_init(struct or_acker_track *t,
				       const struct or_acker_window *window, u32 count)
{
	*t = (struct or_acker_track) { .window = *window, .count = count };
}

/* or_acker_track_set_window() - set the window of sequence numbers that the socket has now */
static inline void or_acker_track_set_window(struct or_acker_track *t,
					     const struct or_acker_window *window)
{
	WRITE_ONCE(t->window.from, window->from);
	WRITE_ONCE(t->window.size, window->size);
}

/* or_acker_track_wait_ns() - return the time until which a flow waits */
static inline u64 or_acker_track_wait_ns(const struct or_acker_track *t,
					 const struct or_acker_rules *r)
{
	return t->first_ns + r->ack_delay_ns;
}

/* Return whether a burst of a sender that knows the path ends, or no OR-ACK comes by time. */
static inline bool or_acker_track_ends(const struct or_acker_track *t,
				       const struct or_acker_rules *r,
				       const struct or_acker_path *path, u64 now_ns)
{
	return (t->end || (t->costly && !or_acker_learns(path, r, now_ns))) &&
	       r->path_interval_ns && or_acker_acked(path, r, now_ns);
}

/**
 * or_acker_track_packet() - account for a packet of a flow
 * @t:		flow
 * @r:		parameters
 * @path:	of its sender
 * @p:		the packet, which is in the window
 *
 * Return: OR_ACKER_NEXT_SEND: the caller has or_acker_track_take() called soon.
 * OR_ACKER_NEXT_WAIT: it has or_acker_track_waited() called at or_acker_track_wait_ns().
 * OR_ACKER_NEXT_QUIET: no OR-ACK for a burst of one packet, whose sender knows the path;
 * this is decided without a wait. Else OR_ACKER_NEXT_NOTHING.
 */
static inline enum or_acker_next or_acker_track_packet(struct or_acker_track *t,
						       const struct or_acker_rules *r,
						       const struct or_acker_path *path,
						       const struct or_acker_packet *p)
{
	bool silence = !p->train && p->stamp_ns >= t->stamp_ns + OR_ACKER_SILENCE_NS;
	bool first = !t->since || t->quiet;
	bool was_due = t->due;

	t->seq = p->seq + p->payload;
	t->stamp_ns = p->stamp_ns;
	t->end = p->end;
	if (first) {
		t->first_ns = p->stamp_ns;
		t->limit = (u8)or_acker_limit(t, path, r, p->stamp_ns);
	}
	t->quiet = false;
	t->since += p->segs;
	t->packets += p->segs;
	t->bytes += p->payload;
	t->in_bytes += p->payload;
	t->credit = min_t(u32, t->credit + p->headers + p->payload, OR_ACKER_CREDIT_MAX);

	if (t->since >= t->limit || t->bytes >= r->ack_bytes) {
		t->due = true;
		t->why = t->since >= t->limit ? OR_ACKER_WHY_PACKETS :
						OR_ACKER_WHY_BYTES;
	} else if (first && r->path_interval_ns && !or_acker_acked(path, r, p->stamp_ns)) {
		t->due = true;
		t->why = OR_ACKER_WHY_PATH;
	} else if (silence && READ_ONCE(path->probes)) {
		t->due = true;
		t->why = OR_ACKER_WHY_SILENCE;
	}
	if (t->due)
		return was_due ? OR_ACKER_NEXT_NOTHING : OR_ACKER_NEXT_SEND;
	if (t->waiting)
		return OR_ACKER_NEXT_NOTHING;
	t->quiet = first && or_acker_track_ends(t, r, path, p->stamp_ns);
	if (t->quiet)
		return t->end ? OR_ACKER_NEXT_QUIET : OR_ACKER_NEXT_NOTHING;
	t->waiting = true;
	return OR_ACKER_NEXT_WAIT;
}

/**
 * or_acker_track_waited() - end the wait of a flow
 * @t:		flow
 * @r:		parameters
 * @path:	of its sender
 * @now_ns:	current time
 *
 * Return: OR_ACKER_NEXT_WAIT: wait on, until or_acker_track_wait_ns(). OR_ACKER_NEXT_SEND:
 * the caller calls or_acker_track_take(). OR_ACKER_NEXT_QUIET: no OR-ACK for the end of a
 * burst, whose sender knows the path. Else OR_ACKER_NEXT_NOTHING.
 */
static inline enum or_acker_next or_acker_track_waited(struct or_acker_track *t,
						       const struct or_acker_rules *r,
						       const struct or_acker_path *path,
						       u64 now_ns)
{
	t->waiting = false;
	if (!t->since || t->due)
		return OR_ACKER_NEXT_NOTHING;
	t->waiting = or_acker_track_wait_ns(t, r) > now_ns;
	if (t->waiting)
		return OR_ACKER_NEXT_WAIT;
	t->quiet = or_acker_track_ends(t, r, path, now_ns);
	if (!t->quiet)
		return OR_ACKER_NEXT_SEND;
	return t->end ? OR_ACKER_NEXT_QUIET : OR_ACKER_NEXT_NOTHING;
}

/**
 * or_acker_track_take() - begin to decide on an OR-ACK that is due
 * @t:		flow
 *
 * Whatever the decision, the packets so far do not make another OR-ACK due.
 *
 * Return: true if there are packets to acknowledge.
 */
static inline bool or_acker_track_take(struct or_acker_track *t)
{
	if (!t->since)
		return false;
	t->since = 0;
	t->bytes = 0;
	return true;
}

/**
 * or_acker_admit() - decide whether an OR-ACK may be sent, and pay for it
 * @t:		flow
 * @path:	of its sender, whose subscription has not ended
 * @r:		parameters
 * @cpu_tat_ns:	when the token bucket of this CPU is full again
 * @cpu_interval_ns: time in which that gets a token, ns, <= 1 s
 * @cost:	bytes of the OR-ACK with its IP header
 * @now_ns:	current time, > 0
 *
 * All three limits are asked before anything is taken: an OR-ACK that is held back by one
 * of them costs nothing of the others.
 *
 * Return: OR_ACKER_ADMITTED or OR_ACKER_HELD_*.
 */
static inline enum or_acker_verdict or_acker_admit(struct or_acker_track *t,
						   struct or_acker_path *path,
						   const struct or_acker_rules *r,
						   u64 *cpu_tat_ns, u32 cpu_interval_ns,
						   u32 cost, u64 now_ns)
{
	if (t->credit < cost)
		return OR_ACKER_HELD_CREDIT;
	if (!or_acker_bucket_has(path->tat_ns, now_ns))
		return OR_ACKER_HELD_SUB;
	if (!or_acker_bucket_has(*cpu_tat_ns, now_ns))
		return OR_ACKER_HELD_CPU;
	t->credit -= cost;
	path->tat_ns = or_acker_bucket_take(path->tat_ns, now_ns, r->sub_interval_ns);
	*cpu_tat_ns = or_acker_bucket_take(*cpu_tat_ns, now_ns, cpu_interval_ns);
	if (!path->acked_ns)
		WRITE_ONCE(path->learned_ns, now_ns + OR_ACKER_LEARN_NS);
	WRITE_ONCE(path->acked_ns, now_ns);
	return OR_ACKER_ADMITTED;
}

/**
 * or_acker_track_report() - report the packets that an admitted OR-ACK covers
 * @t:		flow; the next OR-ACK covers packets that come from here on
 * @now_ns:	current time
 */
static inline struct or_acker_report or_acker_track_report(struct or_acker_track *t,
							   u64 now_ns)
{
	struct or_acker_report report = {
		.seq = t->seq,
		/* A timestamp of a driver may be slightly ahead of the clock of this CPU. */
		.hold_ns = now_ns <= t->stamp_ns ? 0 :
			   (u32)min_t(u64, now_ns - t->stamp_ns, OR_HOLD_MAX_NS),
		.count = t->count++,
		.packets = t->packets,
		.bytes = t->in_bytes,
	};

	t->packets = 0;
	t->in_bytes = 0;
	return report;
}

/* Trains ------------------------------------------------------------------- */

/* A train has at most this many packets, so that sums fit: 2^8 * 2^16 bytes. */
#define OR_ACKER_TRAIN_MAX	255

/**
 * struct or_acker_train - single packets in a row of a flow that waits
 * @stamp_ns:	when the newest came in
 * @next_seq:	first byte of the packet that continues it
 * @segs:	packets
 * @payload:	of these, bytes
 * @segs_max:	it is full with this many packets
 * @bytes_max:	or with this many bytes of payload
 * @end:	the newest has PSH or FIN
 *
 * Packets of a train are added up here, and then accounted for as one, as with a packet that the
 * NIC has merged. It is full where the packets make an OR-ACK due, so that is not late.
 */
struct or_acker_train {
	u64	stamp_ns;
	u32	next_seq;
	u32	segs;
	u32	payload;
	u32	segs_max;
	u32	bytes_max;
	bool	end;
};

/**
 * or_acker_train_begin() - begin a train behind a packet that was accounted for
 * @train:	train
 * @t:		flow, as or_acker_track_packet() left it. It waits: the next packet needs no other
 *		decision than those about ack_packets and ack_bytes
 * @r:		parameters
 */
static inline void or_acker_train_begin(struct or_acker_train *train,
					const struct or_acker_track *t,
					const struct or_acker_rules *r)
{
	train->next_seq = t->seq;
	train->segs = 0;
	train->payload = 0;
	train->segs_max = t->due ? OR_ACKER_TRAIN_MAX : t->limit - t->since;
	train->bytes_max = t->due ? U32_MAX : r->ack_bytes - t->bytes;
}

/**
 * or_acker_train_continues() - return whether a packet of the flow belongs to a train
 * @train:	train
 * @w:		window of the flow
 * @seq:	sequence number of its first byte
 */
static inline bool or_acker_train_continues(const struct or_acker_train *train,
					    const struct or_acker_window *w, u32 seq)
{
	return seq == train->next_seq && or_acker_window_has(w, seq);
}

/**
 * or_acker_train_add() - add a packet that continues a train
 * @train:	train
 * @stamp_ns:	when it came in
 * @payload:	its bytes of payload
 * @end:	it has PSH or FIN
 *
 * Return: the train is full.
 */
static inline bool or_acker_train_add(struct or_acker_train *train, u64 stamp_ns, u32 payload,
				      bool end)
{
	train->stamp_ns = stamp_ns;
	train->next_seq += payload;
	train->end = end;
	train->segs++;
	train->payload += payload;
	return train->segs >= train->segs_max || train->payload >= train->bytes_max;
}

/**
 * or_acker_train_packet() - return the packets of a train as one, to be accounted for
 * @train:	train with packets
 * @t:		flow
 * @headers:	bytes before the payload of each, at least
 *
 * If another CPU had a newer packet of the flow, that one stays the newest.
 */
static inline struct or_acker_packet or_acker_train_packet(const struct or_acker_train *train,
							   const struct or_acker_track *t,
							   u32 headers)
{
	bool newest = train->stamp_ns >= t->stamp_ns;

	return (struct or_acker_packet) {
		.stamp_ns = newest ? train->stamp_ns : t->stamp_ns,
		.seq = (newest ? train->next_seq : t->seq) - train->payload,
		.payload = train->payload,
		.headers = train->segs * headers,
		.segs = train->segs,
		.end = newest ? train->end : t->end,
		.train = true,
	};
}

/* Drains ------------------------------------------------------------------- */

/**
 * struct or_acker_drain - when a receiver has its senders drain their paths
 * @new_ns:	when a sender last came that knows nothing
 * @last_ns:	when the last drain began; 0: there was none
 * @next_ns:	when the next one is to begin; 0: none is
 * @until_ns:	OR-ACKs say so before that; read locklessly
 *
 * Times are CLOCK_MONOTONIC. The caller serialises all calls but or_acker_drain_on(). On 32 bits
 * that may see half of an update, and one OR-ACK is wrong: senders limit how often they drain.
 */
struct or_acker_drain {
	u64	new_ns;
	u64	last_ns;
	u64	next_ns;
	u64	until_ns;
};

/* Have the next drain begin at that time, if that is earlier. Return whether it is. */
static inline bool or_acker_drain_at(struct or_acker_drain *d, u64 at_ns)
{
	if (d->next_ns && d->next_ns <= at_ns)
		return false;
	d->next_ns = at_ns;
	return true;
}

/**
 * or_acker_drain_sender() - a sender has come that does not know its path
 * @d:		drains
 * @now_ns:	current time, > 0
 *
 * Senders that come together have filled a queue before they know their paths. For a single one a
 * silence costs more than it tells, if all that it sends takes some tens of ms.
 *
 * Return: @d->next_ns is another time now: the caller calls or_acker_drain_run() then.
 */
static inline bool or_acker_drain_sender(struct or_acker_drain *d, u64 now_ns)
{
	bool both = now_ns < d->new_ns + OR_ACKER_DRAIN_FIRST_NS;
	u64 at_ns = now_ns + (both ? OR_ACKER_DRAIN_BOTH_NS : OR_ACKER_DRAIN_FIRST_NS);

	d->new_ns = now_ns;
	/* After a drain since the sender before it, MIN is the longer one. */
	return or_acker_drain_at(d, max_t(u64, at_ns, d->last_ns + OR_ACKER_DRAIN_MIN_NS));
}

/**
 * or_acker_drain_run() - the time of a drain has come
 * @d:		drains
 * @now_ns:	current time
 * @on:		drains are on; else there are no more until or_acker_drain_sender()
 */
static inline void or_acker_drain_run(struct or_acker_drain *d, u64 now_ns, bool on)
{
	d->next_ns = 0;
	WRITE_ONCE(d->until_ns, on ? now_ns + OR_ACKER_DRAIN_ON_NS : 0);
}

/**
 * or_acker_drain_ran() - all senders were told
 * @d:		drains
 * @from_ns:	@now_ns of or_acker_drain_run()
 * @able:	number of senders that take OR_DRAIN; 0: there are no more drains until
 *		or_acker_drain_sender()
 * @notified:	those of them that were told; 0: none has data, and no drain has begun
 *
 * While senders are new the gaps double. The longer a sender has measured the rate of its clock
 * against the receiver's, the better it knows it. With an error e in each drain it is wrong by
 * e / 8 if it extrapolates by an eighth of the time measured.
 *
 * Return: as or_acker_drain_sender().
 */
static inline bool or_acker_drain_ran(struct or_acker_drain *d, u64 from_ns, u32 able, u32 notified)
{
	u64 age_ns = from_ns > d->new_ns ? from_ns - d->new_ns : 0;
	u64 gap_ns = clamp_t(u64, age_ns, OR_ACKER_DRAIN_MIN_NS, OR_ACKER_DRAIN_YOUNG_NS);

	gap_ns = max_t(u64, gap_ns, age_ns >> OR_ACKER_DRAIN_AGE_SHIFT);
	if (notified) {
		d->last_ns = from_ns;
		/* Of a sender that came meanwhile: too early. */
		d->next_ns = 0;
	} else {
		WRITE_ONCE(d->until_ns, 0);
	}
	return able && or_acker_drain_at(d, from_ns + min_t(u64, gap_ns, OR_ACKER_DRAIN_MAX_NS));
}

/* or_acker_drain_on() - return whether OR-ACKs have senders drain their paths; any context */
static inline bool or_acker_drain_on(const struct or_acker_drain *d, u64 now_ns)
{
	return now_ns < READ_ONCE(d->until_ns);
}

/* Load of a CPU ------------------------------------------------------------ */

/**
 * struct or_acker_load - idle time of a CPU, and cost of its OR-ACKs
 * @at_ns:	CLOCK_MONOTONIC at which the idle time was last read; 0: not yet
 * @idle_ns:	idle time of the CPU until then, ns
 * @spent_ns:	time that OR-ACKs have taken since then, ns
 * @acks:	number of these OR-ACKs
 * @users:	number of namespaces that sent them
 * @round:	number of readings, so that a namespace counts once for each
 * @cost_ns:	CPU time of one OR-ACK, averaged over some 100 ms; 0: unknown
 * @each_ns:	time of an OR-ACK of each namespace that sends some; 0: the CPU is not busy
 * @busy:	the CPU has hardly any idle time
 *
 * Callers are serialised. @each_ns may be read meanwhile.
 */
struct or_acker_load {
	u64	at_ns;
	u64	idle_ns;
	u64	spent_ns;
	u32	acks;
	u32	users;
	u32	round;
	u32	cost_ns;
	u32	each_ns;
	bool	busy;
};

/* Return the age of the last reading, in units of 2^OR_ACKER_LOAD_SHIFT ns. */
static inline u64 or_acker_load_ages(const struct or_acker_load *l, u64 now_ns)
{
	u64 at_ns = READ_ONCE(l->at_ns);

	return now_ns > at_ns ? (now_ns - at_ns) >> OR_ACKER_LOAD_SHIFT : 0;
}

/**
 * or_acker_cost_ns() - return the time that an OR-ACK takes of this host
 * @ns:		time that it took to send it
 * @local:	it went to a sender on this host, which takes time as well
 *
 * Return: ns, at most OR_ACKER_BURST_NS: an interrupt meanwhile is no part of its cost.
 */
static inline u32 or_acker_cost_ns(u64 ns, bool local)
{
	if (local)
		ns *= OR_ACKER_LOCAL_COST;
	return (u32)min_t(u64, ns, OR_ACKER_BURST_NS);
}

/**
 * or_acker_time_take() - take the time of an OR-ACK from a bucket of time
 * @tat_ns:	when it was full again
 * @now_ns:	current time
 * @cost_ns:	of or_acker_cost_ns()
 *
 * On a link with a packet each 200 us, each has an OR-ACK. The time of a slow CPU is needed
 * for the data, and a queue of such a link grows by less than T meanwhile.
 *
 * Return: when it is full again now.
 */
static inline u64 or_acker_time_take(u64 tat_ns, u64 now_ns, u32 cost_ns)
{
	return or_acker_bucket_take(tat_ns, now_ns, cost_ns << OR_ACKER_TIME_SHIFT);
}

/**
 * or_acker_load_spent() - an OR-ACK was sent
 * @l:		load of the CPU
 * @cost_ns:	of or_acker_cost_ns()
 * @round:	@l->round at the last OR-ACK of its namespace on this CPU; updated
 */
static inline void or_acker_load_spent(struct or_acker_load *l, u32 cost_ns, u32 *round)
{
	l->spent_ns += cost_ns;
	l->acks++;
	if (*round != l->round) {
		*round = l->round;
		l->users++;
	}
}

/**
 * or_acker_load_update() - look at the idle time of a CPU
 * @l:		load of the CPU
 * @now_ns:	current time, > 0
 * @idle_ns:	idle time of the CPU since ever, ns; it may be too old, or step back
 *
 * The paper has an OR-ACK for 10 packets, which the receiver's NIC makes one by one. Where
 * batches of 64 KB arrive as one packet, over veth, virtio or with GRO in hardware, an
 * OR-ACK for each costs a third as much as the batch. As long as the CPU has idle time
 * that takes nothing from anybody. Without, it takes throughput, and the CPU is the
 * bottleneck rather than a link.
 *
 * @spent_ns is counted for at most 0.6 s and fits in 32 bits. A cost is below 2^20 ns,
 * and its product with users below 2^52.
 */
static inline void or_acker_load_update(struct or_acker_load *l, u64 now_ns, u64 idle_ns)
{
	u64 ages = or_acker_load_ages(l, now_ns);
	u64 elapsed_ns = now_ns - l->at_ns;
	u64 idled_ns = idle_ns > l->idle_ns ? idle_ns - l->idle_ns : 0;
	u32 cost_ns;

	if (!ages)
		return;
	if (!l->at_ns || ages > OR_ACKER_LOAD_AGES) {
		l->busy = false;
	} else {
		l->busy = idled_ns < elapsed_ns >> (l->busy ? OR_ACKER_IDLE_UNTIL_SHIFT :
							      OR_ACKER_IDLE_FROM_SHIFT);
		if (l->acks) {
			cost_ns = (u32)l->spent_ns / l->acks;
			l->cost_ns = l->cost_ns ? l->cost_ns - l->cost_ns / 4 + cost_ns / 4 :
						  cost_ns;
		}
	}
	WRITE_ONCE(l->each_ns, !l->busy ? 0 :
		   (u32)min_t(u64, (u64)l->cost_ns * max_t(u32, l->users, 1),
			      OR_ACKER_GAP_MAX_NS));
	l->idle_ns = idle_ns;
	l->spent_ns = 0;
	l->acks = 0;
	l->users = 0;
	l->round++;
	WRITE_ONCE(l->at_ns, now_ns);
}

/**
 * or_acker_load_gap() - time between two OR-ACKs of a namespace
 * @l:		load of the CPU
 * @share:	OR-ACKs take at most 1 / @share of the time of a busy CPU
 *
 * Sending is measured. What it takes to receive, where receiver and sender are on one host, is
 * estimated from that.
 *
 * Return: ns; 0: no limit.
 */
static inline u32 or_acker_load_gap(const struct or_acker_load *l, u32 share)
{
	return (u32)min_t(u64, (u64)l->each_ns * share, OR_ACKER_GAP_MAX_NS);
}

/* Senders of the data ------------------------------------------------------ */

/**
 * struct or_acker_share - data of flows that have OR-ACKs, and of those that have none
 * @at_ns:	time of the last update; 0: never
 * @with:	data of the former until then, in units of or_acker_share_units()
 * @without:	data of the latter, likewise
 * @with_now:	recent data of the former; older data counts less
 * @without_now: the same of the latter
 * @others:	a large part is of the latter
 *
 * There is one for each queue: of a device, and of a class of or_acker_class_of().
 */
struct or_acker_share {
	u64	at_ns;
	u32	with;
	u32	without;
	u64	with_now;
	u64	without_now;
	bool	others;
};

/**
 * or_acker_class_of() - return the class of a packet, which stands for its queue in a switch
 * @pcp:	priority of its VLAN tag, 0 to 7; 0 also without a tag
 * @tos:	its TOS or traffic class
 *
 * A port of a switch has up to eight queues. It selects one by the priority of the tag where
 * senders set one, else by the class selector of the DSCP, its upper three bits. Two DSCPs of
 * one selector may have two queues, but in two classes they would not be compared if they share
 * one. That is the worse error: it pauses flows for a queue that others fill.
 */
static inline u32 or_acker_class_of(u32 pcp, u8 tos)
{
	return pcp ? pcp : tos >> 5;
}

/* or_acker_share_units() - return bytes in the units of shares, rounded up */
static inline u32 or_acker_share_units(u32 bytes)
{
	return (bytes + (1U << OR_ACKER_SHARE_UNIT_SHIFT) - 1) >> OR_ACKER_SHARE_UNIT_SHIFT;
}

/* Return the age of the last update, in units of 2^OR_ACKER_SHARE_SHIFT ns. */
static inline u64 or_acker_share_ages(const struct or_acker_share *s, u64 now_ns)
{
	u64 at_ns = READ_ONCE(s->at_ns);

	/* Another CPU may have updated it since now_ns. */
	return now_ns > at_ns ? (now_ns - at_ns) >> OR_ACKER_SHARE_SHIFT : 0;
}

/**
 * or_acker_share_update() - update the share of flows without OR-ACKs
 * @s:		share
 * @now_ns:	time, > 0
 * @with:	data of flows that have OR-ACKs, since ever; may wrap
 * @without:	data of flows that have none, since ever; may wrap
 *
 * If senders without On-Ramp keep the queue full, pauses of the others do not shorten it:
 * the former take the link, and the latter get nothing. Only the receiver sees both. A sum
 * has the data of OR_ACKER_SHARE_AGES and the rest of the former sum: below 2^32 units at
 * 1.6 Tbit/s, and 2^36 multiplied by 16. What one update adds is less than 2^31 units, so that
 * the difference of two sums of 32 bits is right.
 *
 * Callers are serialised; at_ns and others may be read meanwhile.
 */
static inline void or_acker_share_update(struct or_acker_share *s, u64 now_ns,
					 u32 with, u32 without)
{
	u64 ages = or_acker_share_ages(s, now_ns);
	u64 total;

	if (!ages)
		return;
	/* Data since the last update may be old. */
	if (!s->at_ns || ages > OR_ACKER_SHARE_AGES) {
		s->with_now = 0;
		s->without_now = 0;
	} else {
		for (; ages; ages--) {
			s->with_now -= s->with_now / 4;
			s->without_now -= s->without_now / 4;
		}
		s->with_now += with - s->with;
		s->without_now += without - s->without;
	}
	WRITE_ONCE(s->at_ns, now_ns);
	s->with = with;
	s->without = without;
	total = s->with_now + s->without_now;
	WRITE_ONCE(s->others, total && s->without_now * 16 >=
		   total * (s->others ? OR_ACKER_OTHERS_UNTIL : OR_ACKER_OTHERS_FROM));
}

/**
 * or_acker_hide_ns() - hide how far an unsynchronised clock is
 * @rx_ns:	its timestamp
 * @random:	the same for all timestamps of a namespace
 *
 * OR-ACKs shall not tell how long the host, or its NIC, has been up. A sender takes clocks that
 * are at most OR_CLOCKS_APART_NS = 2^61 ns from its CLOCK_MONOTONIC. The receiver's
 * CLOCK_MONOTONIC is near 0, and a NIC's clock may have TAI, which is 2^61 ns in 2043. So a time
 * is taken off: added to TAI, it would be too much.
 *
 * Return: @rx_ns less 2^59 to 2^59 + 2^60 - 1, ns; it may wrap. Right for TAI until 2061.
 */
static inline u64 or_acker_hide_ns(u64 rx_ns, u64 random)
{
	return rx_ns - (1ULL << 59) - (random >> 4);
}

#endif /* _OR_ACKER_CORE_H */
