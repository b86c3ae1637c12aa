/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The queue between the qdisc and the wire, modelled: pure functions on integers.
 *
 * A packet that leaves the qdisc waits in the NIC until all packets before it are on the wire.
 * That wait is the sender's own, and no congestion of the path:
 *
 *	start = max(now, end of the packet before)
 *	end   = start + bytes on the wire * time of a byte
 *
 * The time of sending is start, so the wait is not in the one-way delay.
 *
 * A packet in a batch (GSO) is sent at
 *
 *	start + payload up to its end * time of a byte of payload
 *
 * where a byte of payload includes the share of headers in a full packet. If the headers of the
 * last packet exceed that share, the rest is added to start. So single packets of any size are
 * exact.
 *
 * The real rate of the link may differ by 100 ppm. If it is slower, the model loses its backlog,
 * and part of the wait counts as delay. If it is faster, the backlog grows. Where the driver
 * counts the bytes in flight, they bound it (onramp_fifo_bound()); beyond a limit the model
 * drops it.
 */
#ifndef _ONRAMP_FIFO_H
#define _ONRAMP_FIFO_H

#include "onramp_core.h"

/*
 * Times of the model: ns in unsigned Q8, so that rounding down does not add up to more
 * than 4 ns in 1000 packets. They wrap after 2 years, and are compared by their
 * difference.
 */
#define ONRAMP_FIFO_SHIFT	8

/*
 * Longest backlog of the model, ns: 20 ms, 25 MB at 10 Gbit/s. No NIC's ring is as long.
 */
#define ONRAMP_FIFO_MAX_NS	20000000ULL

/*
 * The bound is checked once in 2^16 ns, 66 us: a rate that is wrong by 100 ppm adds 7 ns in
 * that time.
 */
#define ONRAMP_FIFO_CHECK_SHIFT	16

/* Time that the queues of a device may keep out of the model together, ns. */
#define ONRAMP_FIFO_OWED_NS	2000ULL

/* On the wire, but not in the packet: preamble, check sequence, gap. */
#define ONRAMP_WIRE_EXTRA	24U

/* The shortest frame with these 24 bytes. */
#define ONRAMP_WIRE_MIN		84U

/**
 * onramp_fifo_bytes() - return the bytes on the wire of a packet or batch
 * @len: of all its frames without check sequences, < 2^28
 * @segs: number of frames, >= 1, < 2^16
 */
static inline u32 onramp_fifo_bytes(u32 len, u32 segs)
{
	return max_t(u32, len + segs * ONRAMP_WIRE_EXTRA, ONRAMP_WIRE_MIN);
}

/**
 * onramp_fifo_time() - return the time on the wire, Q8 ns
 * @byte_ns: time of a byte on the wire, Q20 ns, < 2^40; of onramp_byte_time()
 * @bytes: < 2^24
 */
static inline u64 onramp_fifo_time(u64 byte_ns, u32 bytes)
{
	return (byte_ns * bytes) >> (ONRAMP_BYTE_SHIFT - ONRAMP_FIFO_SHIFT);
}

/**
 * onramp_fifo_start() - return when a packet that leaves the qdisc starts on the wire
 * @end_q: end of the packet before, Q8 ns
 * @now_ns: current time
 *
 * Return: Q8 ns. The caller adds the packet's time on the wire, for the next @end_q.
 */
static inline u64 onramp_fifo_start(u64 end_q, u64 now_ns)
{
	u64 now_q = now_ns << ONRAMP_FIFO_SHIFT;
	s64 ahead = (s64)(end_q - now_q);

	if (ahead <= 0 || ahead > (s64)(ONRAMP_FIFO_MAX_NS << ONRAMP_FIFO_SHIFT))
		return now_q;
	return end_q;
}

/**
 * struct onramp_fifo_part - one queue's part in the model of its device
 * @own_q: end of the packets as this queue last wrote it, with those that it has let go since then
 * @owed_q: time of those
 *
 * All queues of a device share the end, one word. A queue need not tell the others of a packet
 * without a record at once: it owes the packet's time. With a record, or when the queue owes
 * onramp_fifo_owed_max(), it adds that to the end. So its own records are exact while no other
 * queue sends, and the model lacks at most ONRAMP_FIFO_OWED_NS of all queues together. Times
 * are in Q8 ns.
 */
struct onramp_fifo_part {
	u64	own_q;
	u64	owed_q;
};

/* onramp_fifo_owed_max() - return what each of @queues of a device may owe, Q8 ns */
static inline u32 onramp_fifo_owed_max(u32 queues)
{
	return (u32)(ONRAMP_FIFO_OWED_NS << ONRAMP_FIFO_SHIFT) / queues;
}

/**
 * onramp_fifo_owe() - a packet without a record leaves the qdisc
 * @part: of its queue
 * @time_q: its time on the wire, Q8 ns
 * @max_q: of onramp_fifo_owed_max()
 * @now_ns: current time
 *
 * Return: false if the queue owes more than it may.
 */
static inline bool onramp_fifo_owe(struct onramp_fifo_part *part, u64 time_q, u32 max_q,
				   u64 now_ns)
{
	part->own_q = onramp_fifo_start(part->own_q, now_ns) + time_q;
	part->owed_q += time_q;
	return part->owed_q <= max_q;
}

/**
 * onramp_fifo_part_start() - return when the next packet of a queue starts on the wire
 * @part: of the queue
 * @end_q: end of the packets before it that all queues have told of, Q8 ns
 * @now_ns: current time
 *
 * The packets that it owes are behind the end, unless that has passed: then they are on the wire
 * already, or some of them.
 *
 * Return: Q8 ns. The caller adds the packet's time on the wire, for the next @end_q, and calls
 * onramp_fifo_settle().
 */
static inline u64 onramp_fifo_part_start(const struct onramp_fifo_part *part, u64 end_q,
					 u64 now_ns)
{
	u64 start_q = onramp_fifo_start(end_q, now_ns);

	if (start_q == now_ns << ONRAMP_FIFO_SHIFT)
		return onramp_fifo_start(part->own_q, now_ns);
	return start_q + part->owed_q;
}

/* onramp_fifo_settle() - a queue has written the end, @end_q: it owes nothing */
static inline void onramp_fifo_settle(struct onramp_fifo_part *part, u64 end_q)
{
	part->own_q = end_q;
	part->owed_q = 0;
}

/**
 * onramp_fifo_bound() - return the latest possible end of the packets in flight
 * @byte_ns: time of a byte on the wire, Q20 ns, < 2^40
 * @bytes: bytes that have left the qdisc and are not known to be sent
 * @now_ns: current time
 *
 * Drivers count the headers of a batch once or for each frame, and never the 24 bytes between
 * frames. One eighth more makes up for both, except with the shortest frames.
 *
 * Return: Q8 ns, for at most 2^23 bytes; 2^40 times 2^23.2 has 63.2 bits.
 */
static inline u64 onramp_fifo_bound(u64 byte_ns, u64 bytes, u64 now_ns)
{
	bytes = min_t(u64, bytes, 1U << 23);
	return (now_ns << ONRAMP_FIFO_SHIFT) + onramp_fifo_time(byte_ns, bytes + bytes / 8);
}

/* onramp_fifo_ns() - convert @at_q of onramp_fifo_start() for @now_ns to ns, rounding down */
static inline u64 onramp_fifo_ns(u64 at_q, u64 now_ns)
{
	return now_ns + ((at_q - (now_ns << ONRAMP_FIFO_SHIFT)) >> ONRAMP_FIFO_SHIFT);
}

/**
 * onramp_fifo_rest() - return by how much a batch exceeds its payload's share, ns
 * @time_q: of onramp_fifo_time() for the batch
 * @payload_ns: onramp_own_ns() of all its payload
 *
 * Return: 0 if it takes no longer.
 */
static inline u64 onramp_fifo_rest(u64 time_q, u64 payload_ns)
{
	u64 ns = time_q >> ONRAMP_FIFO_SHIFT;

	return ns > payload_ns ? ns - payload_ns : 0;
}

#endif /* _ONRAMP_FIFO_H */
