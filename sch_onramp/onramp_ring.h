/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When the data of a flow was sent: pure functions on integers.
 *
 *	data leaves the qdisc:
 *	  starts on the wire when the newest record ends there: extend that record
 *	  otherwise: a new one, unless too many are in flight
 *	  sent before: records that it overlaps lose their time (Karn)
 *	the path was silent since the flow last sent (a drain): forget all records
 *
 *	OR-ACK: the record that has the sequence number
 *
 * Nothing in this file depends on the kernel but fixed-size integers and READ_ONCE(): it is
 * compiled into the module, the unit tests and the fuzzer.
 */
#ifndef _ONRAMP_RING_H
#define _ONRAMP_RING_H

#include "onramp_core.h"

/* More than TCP's largest window: so far back lies another connection. */
#define ONRAMP_MAX_WINDOW	(1U << 30)

/*
 * A packet joins the record before it if it starts on the wire within this many ns of that
 * record's end, and the record does not get longer than two batches, bytes.
 */
#define ONRAMP_TX_MERGE_NS	16
#define ONRAMP_TX_MERGE_BYTES	(1U << 17)

/**
 * struct onramp_tx - when a range of sequence numbers was sent
 * @tx_ns:	start on the wire, by the model of it; 0: unusable, part of the range was
 *		sent more than once
 * @cum_ns:	onramp_ctrl_cum_pause() then
 * @start:	first sequence number
 * @end:	after the last one
 * @wait_ns:	from the qdisc to @tx_ns, ONRAMP_FIFO_MAX_NS and a batch at most
 */
struct onramp_tx {
	u64	tx_ns;
	u64	cum_ns;
	u32	start;
	u32	end;
	u32	wait_ns;
};

/*
 * If more than three quarters of a full ring are in flight, it keeps every second record; at
 * less than one quarter it records more again. The rest of the ring is for OR-ACKs that come
 * later than the ACK. Halving and doubling stay between these bounds.
 */
#define ONRAMP_TX_MANY		3
#define ONRAMP_TX_FEW		1

/* Of 2^12 batches of 64 KB fewer than one is in flight, at any window. */
#define ONRAMP_TX_SHIFT_MAX	12

/**
 * struct onramp_txring - records of a flow, in order of sequence
 * @rec:	the records, @mask + 1 of them
 * @mask:	a power of two less one, >= 3
 * @head:	where the next one goes, counts up
 * @count:	valid records, <= @mask + 1
 * @skipped:	packets that were not recorded since the newest record, < 2^@shift
 * @all:	the flow had no more to send when it last sent; read without the lock
 * @shift:	one of 2^@shift is recorded, <= ONRAMP_TX_SHIFT_MAX
 * @resends:	what has left since the last drain had left before, too
 * @top:	sequence number after all that had left before the last drain, if @resends
 * @next:	sequence number after the last packet sent, if there is a record
 * @una:	snd_una when it was last read
 * @base:	not after the start of any record, nor much before that of the oldest
 * @sent_ns:	when anything was last sent
 * @end_ns:	about when the newest record ends on the wire, if there is one
 *
 * A packet that does not join the newest record reads these fields only, and no record.
 *
 * If all records were in flight, the ring would forget each one before its OR-ACK comes, and
 * the flow would never pause. So it keeps every second record, and records every second packet
 * from then on. OR-ACKs about the others do nothing, but some always find a record.
 */
struct onramp_txring {
	struct onramp_tx *rec;
	u32	mask;
	u32	head;
	u32	count;
	u16	skipped;
	bool	all;
	u8	shift : 4;
	u8	resends : 1;
	u32	top;
	u32	next;
	u32	una;
	u32	base;
	u64	sent_ns;
	u64	end_ns;
};

/* The @i-th newest record, from 0 on; @i < r->count. */
static inline struct onramp_tx *onramp_tx_at(const struct onramp_txring *r,
					     u32 i)
{
	return &r->rec[(r->head - 1 - i) & r->mask];
}

/*
 * Newest first: how many records end after @seq? Binary search, since records
 * do not overlap and none is further than half the sequence space from another.
 */
static inline u32 onramp_tx_after(const struct onramp_txring *r, u32 seq)
{
	u32 low = 0, high = r->count, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if ((s32)(onramp_tx_at(r, mid)->end - seq) > 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Part of @start to @end is sent again: which of the two was received is unknown. */
static inline void onramp_tx_spoil(struct onramp_txring *r, u32 start, u32 end)
{
	u32 i, n = onramp_tx_after(r, start);

	for (i = 0; i < n; i++)
		if ((s32)(onramp_tx_at(r, i)->start - end) < 0)
			onramp_tx_at(r, i)->tx_ns = 0;
}

/* Are more than @quarters of the ring's length in flight? */
static inline bool onramp_tx_in_flight(struct onramp_txring *r, u32 quarters,
				       const u32 *una)
{
	u32 i = (r->mask + 1) / 4 * quarters, end;

	if (i >= r->count)
		return false;
	end = onramp_tx_at(r, i)->end;
	if ((s32)(end - r->una) <= 0)
		return false;
	/* It is in a cache line of another CPU: read it only if it matters. */
	r->una = READ_ONCE(*una);
	return (s32)(end - r->una) > 0;
}

/* Shall the next packet be recorded? Adapts the share of packets that are. */
static inline bool onramp_tx_wanted(struct onramp_txring *r, const u32 *una)
{
	u32 i;

	if (!r->count) {
		r->shift = 0;
		r->skipped = 0;
		r->una = READ_ONCE(*una);
		return true;
	}
	if (r->shift && ++r->skipped < 1U << r->shift)
		return false;
	r->skipped = 0;
	/* Once in a quarter of the ring, as long as the last quarter of it lasts. */
	if (r->head & (r->mask >> 2))
		return true;
	if (r->count > r->mask - (r->mask >> 2) && r->shift < ONRAMP_TX_SHIFT_MAX &&
	    onramp_tx_in_flight(r, ONRAMP_TX_MANY, una)) {
		r->count /= 2;
		for (i = 1; i < r->count; i++)
			*onramp_tx_at(r, i) = *onramp_tx_at(r, 2 * i);
		r->shift++;
	} else if (r->shift && !onramp_tx_in_flight(r, ONRAMP_TX_FEW, una)) {
		r->shift--;
	}
	return true;
}

/* Forget records more than the largest window before @end. */
static inline void onramp_tx_forget(struct onramp_txring *r, u32 end)
{
	while (r->count) {
		r->base = onramp_tx_at(r, r->count - 1)->start;
		if (end - r->base <= ONRAMP_MAX_WINDOW)
			return;
		r->count--;
	}
}

/**
 * onramp_tx_add() - record a packet or batch that leaves
 * @r: ring
 * @start: its first sequence number
 * @end: after its last one; nothing is recorded if it is empty
 * @tx_ns: time, > 0
 * @cum_ns: onramp_ctrl_cum_pause() of that time
 * @una: the connection's first unacknowledged sequence number; it may change meanwhile
 *
 * Return: whether part of it has been sent before.
 */
static inline bool onramp_tx_add(struct onramp_txring *r, u32 start, u32 end,
				 u64 tx_ns, u64 cum_ns, const u32 *una)
{
	bool again = false;

	r->sent_ns = max_t(u64, r->sent_ns, tx_ns);
	if ((s32)(end - start) <= 0)
		return false;
	if (r->resends) {
		again = (s32)(start - r->top) < 0;
		r->resends = again;
	}
	/* A number farther back is of another connection with these ports. */
	if (r->count && r->next - start - 1 < ONRAMP_MAX_WINDOW) {
		onramp_tx_spoil(r, start, end);
		if ((s32)(end - r->next) <= 0)
			return true;
		start = r->next;
		again = true;
	}
	r->next = end;
	if (end - r->base > ONRAMP_MAX_WINDOW)
		onramp_tx_forget(r, end);
	if (!r->count)
		r->base = start;
	if (!onramp_tx_wanted(r, una))
		return again;
	r->rec[r->head++ & r->mask] = (struct onramp_tx) {
		.tx_ns = tx_ns, .cum_ns = cum_ns, .start = start, .end = end,
	};
	r->count = min_t(u32, r->count + 1, r->mask + 1);
	return again;
}

/* Does a packet that starts on the wire at @tx_ns follow one that ends at @end_ns at once? */
static inline bool onramp_tx_follows(u64 tx_ns, u64 end_ns)
{
	return tx_ns - end_ns + ONRAMP_TX_MERGE_NS <= 2 * ONRAMP_TX_MERGE_NS;
}

/**
 * onramp_tx_append() - record a packet, and put back-to-back packets into one record
 * @r: ring
 * @start: first sequence number of the packet or batch
 * @end: after its last one
 * @out_ns: the qdisc hands it to the driver, > 0
 * @tx_ns: it starts on the wire, >= @out_ns
 * @cum_ns: onramp_ctrl_cum_pause() of that time
 * @byte_time: of onramp_byte_time()
 * @una: see onramp_tx_add()
 *
 * A packet that starts on the wire when the one before it ends can join its batch:
 * onramp_own_ns() gives its time. So a ring covers as many bytes without GSO as with it.
 *
 * Return: whether part of it has been sent before.
 */
static inline bool onramp_tx_append(struct onramp_txring *r, u32 start, u32 end,
				    u64 out_ns, u64 tx_ns, u64 cum_ns, u64 byte_time,
				    const u32 *una)
{
	struct onramp_tx *t;
	u64 next_ns;
	u32 head = r->head;
	bool again;

	if (r->count && byte_time && (s32)(end - start) > 0 &&
	    onramp_tx_follows(tx_ns, r->end_ns)) {
		t = onramp_tx_at(r, 0);
		next_ns = t->tx_ns + onramp_own_ns(byte_time, t->start, start);
		if (t->end == start && t->tx_ns && t->cum_ns == cum_ns &&
		    end - t->start <= ONRAMP_TX_MERGE_BYTES &&
		    onramp_tx_follows(tx_ns, next_ns)) {
			t->end = end;
			r->next = end;
			r->sent_ns = max_t(u64, r->sent_ns, tx_ns);
			r->end_ns = t->tx_ns + onramp_own_ns(byte_time, t->start, end);
			return false;
		}
	}
	again = onramp_tx_add(r, start, end, tx_ns, cum_ns, una);
	if (r->head != head)
		onramp_tx_at(r, 0)->wait_ns = (u32)min_t(u64, tx_ns - out_ns, U32_MAX);
	r->end_ns = tx_ns + onramp_own_ns(byte_time, start, end);
	return again;
}

/**
 * onramp_tx_own() - forget all records if they are of another connection that had the same ports
 * @r: ring
 * @start: first sequence number of the data that is to be recorded
 * @written: sequence number after what its socket has written
 *
 * A connection sends nothing that it has not written. The number that the next one begins with may
 * be less than what the former one has sent.
 */
static inline void onramp_tx_own(struct onramp_txring *r, u32 start, const u32 *written)
{
	/* It is in a cache line of another CPU: read it only if it matters. */
	if ((s32)(start - r->next) >= 0 || (s32)(READ_ONCE(*written) - r->next) >= 0)
		return;
	r->count = 0;
	r->resends = false;
}

/**
 * onramp_tx_drained() - forget all records if a drain of the path has begun since the last packet
 * @r: ring
 * @drained_ns: end of the last silence, or before that when its probe may leave
 * @slow: the link is; else the records stay
 *
 * To be called before a packet is recorded. All that left before the silence has arrived or is
 * lost. So if the probe is sent again, as it often is where the queue overflowed, an OR-ACK about
 * it is of its last copy.
 *
 * Return: whether one has.
 */
static inline bool onramp_tx_drained(struct onramp_txring *r, u64 drained_ns, bool slow)
{
	if (r->sent_ns >= drained_ns)
		return false;
	if (!slow)
		return true;
	if (r->count) {
		r->top = r->next;
		r->resends = true;
	}
	r->count = 0;
	return true;
}

/**
 * onramp_tx_idle_ns() - return the time for which the flow has had nothing to send
 * @r: ring
 * @now_ns: current time
 *
 * Return: ns; 0: it has data, or its last packet is not on the wire yet.
 */
static inline u64 onramp_tx_idle_ns(const struct onramp_txring *r, u64 now_ns)
{
	return r->all && now_ns > r->sent_ns ? now_ns - r->sent_ns : 0;
}

/**
 * onramp_tx_covering() - find the record of the packet that ends at a sequence number
 * @r: ring
 * @seq: sequence number after its last byte
 *
 * Return: the record, whose tx_ns is 0 if it is unusable; NULL if there is none.
 */
static inline const struct onramp_tx *
onramp_tx_covering(const struct onramp_txring *r, u32 seq)
{
	/* Ends at or after seq means: ends after seq - 1. */
	u32 n = onramp_tx_after(r, seq - 1);
	const struct onramp_tx *t;

	if (!n)
		return NULL;
	t = onramp_tx_at(r, n - 1);
	/* For a number far away the search ends anywhere. */
	return seq - 1 - t->start < t->end - t->start ? t : NULL;
}

#endif /* _ONRAMP_RING_H */
