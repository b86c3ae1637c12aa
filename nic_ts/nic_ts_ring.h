/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nic_ts, the rings of a flow: records of its segments and ACKs -> the RTT of a segment.
 *
 *	sent:    |seg 1|seg 2|seg 3|seg 4|        TX ring, by end_seq
 *	ACKs:        a1   a2         a3           ACK ring, by ack_seq
 *	una = a3: newest segment with end_seq <= una, and of the ACKs
 *	with ack_seq >= its end_seq the oldest
 *
 * Anybody can send an ACK. Only one that ends inside of the recorded segments is taken, and
 * only one that TCP has accepted is used.
 *
 * Nothing in this file depends on the kernel but fixed-size integers: it is
 * compiled into the module, the unit tests and the fuzzer.
 */
#ifndef _NIC_TS_RING_H
#define _NIC_TS_RING_H

#include <linux/string.h>
#include "nic_ts_map.h"

/* Sequence numbers, modulo 2^32: a is before b. */
static inline bool nic_ts_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

/* Records per flow: a power of two in this range. */
#define NIC_TS_MIN_RECORDS	8U
#define NIC_TS_MAX_RECORDS	1024U

/*
 * Field by field, as the stamp has just been written: a copy in wider words would wait
 * for those stores.
 */
static inline void nic_ts_stamp_copy(struct nic_ts_stamp *to, const struct nic_ts_stamp *from)
{
	to->ns = from->ns;
	to->hw_ns = from->hw_ns;
	to->hw_domain = from->hw_domain;
	to->hw_epoch = from->hw_epoch;
	to->source = from->source;
}

/*
 * The records of a ring span less than this many bytes of sequence space, so any two of them can
 * be compared.
 */
#define NIC_TS_RING_SPAN	(1U << 30)

/* struct nic_ts_tx_record.flags */
#define NIC_TS_TX_AMBIGUOUS	0x01	/* sent again, in whole or in part */

/**
 * struct nic_ts_tx_record - a segment that was given to a driver
 * @stamp:	when
 * @seq:	first byte
 * @end_seq:	the one behind its last, != @seq
 * @flags:	NIC_TS_TX_*
 */
struct nic_ts_tx_record {
	struct nic_ts_stamp stamp;
	u32	seq;
	u32	end_seq;
	u8	flags;
};

/**
 * struct nic_ts_tx_ring - the newest segments of a flow, ascending, no overlap
 * @head:	records ever written; the next goes to @head & @mask
 * @base:	the first of them that is still valid
 * @mask:	number of records less 1, a power of two less 1
 * @max_end:	highest sequence number sent, if @head is not 0
 * @amb_end:	ACKs up to here may be late, since earlier data was sent again; if
 *		@ambiguous
 * @ambiguous:	@amb_end is valid
 * @rec:	@mask + 1 records
 */
struct nic_ts_tx_ring {
	u32	head;
	u32	base;
	u32	mask;
	u32	max_end;
	u32	amb_end;
	bool	ambiguous;
	struct nic_ts_tx_record *rec;
};

enum nic_ts_tx_result {
	NIC_TS_TX_NOTHING,	/* without a sequence number: a pure ACK */
	NIC_TS_TX_RECORDED,
	NIC_TS_TX_RETRANS,	/* sent before */
};

static inline struct nic_ts_tx_record *nic_ts_tx_at(const struct nic_ts_tx_ring *r,
						    u32 n)
{
	return &r->rec[n & r->mask];
}

/*
 * The newest record that ends at or before @end; NULL if there is none. By
 * halves: end_seq ascends.
 */
static inline struct nic_ts_tx_record *nic_ts_tx_find(const struct nic_ts_tx_ring *r,
						      u32 end)
{
	u32 lo = 0, hi = r->head - r->base, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (nic_ts_before(end, nic_ts_tx_at(r, r->base + mid)->end_seq))
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo ? nic_ts_tx_at(r, r->base + lo - 1) : NULL;
}

/* All data up to @end was sent. Forget records that are too far behind to be compared. */
static inline void nic_ts_tx_advance(struct nic_ts_tx_ring *r, u32 end)
{
	while (r->base != r->head &&
	       end - nic_ts_tx_at(r, r->base)->seq >= NIC_TS_RING_SPAN)
		r->base++;
	r->max_end = end;
}

/**
 * nic_ts_tx_push() - record a segment that goes to the driver
 * @r:		ring
 * @seq:	its first byte
 * @end_seq:	the one behind its last
 * @stamp:	when
 *
 * Data that is sent again makes all data in flight ambiguous (Karn): an ACK of later data may have
 * waited for it.
 */
static inline enum nic_ts_tx_result
nic_ts_tx_push(struct nic_ts_tx_ring *r, u32 seq, u32 end_seq,
	       const struct nic_ts_stamp *stamp)
{
	struct nic_ts_tx_record *rec;
	u32 n;

	if (seq == end_seq)
		return NIC_TS_TX_NOTHING;

	if (r->head != r->base && nic_ts_before(seq, r->max_end)) {
		for (n = r->head; n != r->base; n--) {
			rec = nic_ts_tx_at(r, n - 1);
			if (!nic_ts_before(seq, rec->end_seq))
				break;
			if (nic_ts_before(rec->seq, end_seq))
				rec->flags |= NIC_TS_TX_AMBIGUOUS;
		}
		if (nic_ts_before(r->max_end, end_seq))
			nic_ts_tx_advance(r, end_seq);
		r->amb_end = r->max_end;
		r->ambiguous = true;
		return NIC_TS_TX_RETRANS;
	}

	if (r->head - r->base > r->mask)
		r->base++;
	nic_ts_tx_advance(r, end_seq);
	rec = nic_ts_tx_at(r, r->head);
	nic_ts_stamp_copy(&rec->stamp, stamp);
	rec->seq = seq;
	rec->end_seq = end_seq;
	rec->flags = 0;
	r->head++;
	return NIC_TS_TX_RECORDED;
}

/**
 * nic_ts_tx_retract() - remove a segment that the driver did not take
 * @r:		ring
 * @seq:	its first byte
 * @end_seq:	the one behind its last
 *
 * It will come again, and that is no retransmission. Only the newest record can
 * be retracted.
 */
static inline void nic_ts_tx_retract(struct nic_ts_tx_ring *r, u32 seq, u32 end_seq)
{
	const struct nic_ts_tx_record *rec;

	if (r->head == r->base)
		return;
	rec = nic_ts_tx_at(r, r->head - 1);
	if (rec->seq != seq || rec->end_seq != end_seq || r->max_end != end_seq)
		return;
	r->head--;
	r->max_end = seq;
}

/**
 * nic_ts_tx_exact() - find the record of a segment, for a better timestamp
 * @r:		ring
 * @seq:	its first byte
 * @end_seq:	the one behind its last
 *
 * Return: its record, or NULL: overwritten, never there, or sent again since, so
 * that the stamp may be of either copy.
 */
static inline struct nic_ts_tx_record *nic_ts_tx_exact(const struct nic_ts_tx_ring *r,
						       u32 seq, u32 end_seq)
{
	struct nic_ts_tx_record *rec = nic_ts_tx_find(r, end_seq);

	if (!rec || rec->seq != seq || rec->end_seq != end_seq ||
	    rec->flags & NIC_TS_TX_AMBIGUOUS)
		return NULL;
	return rec;
}

/**
 * nic_ts_tx_acked() - find the newest segment that @una acknowledges
 * @r:		ring
 * @una:	acknowledged
 * @rec:	the newest segment that ends there or before
 *
 * Return: NIC_TS_RTT_OK, _NO_TX or _AMBIGUOUS; @rec is not set with _NO_TX.
 */
static inline enum nic_ts_verdict nic_ts_tx_acked(struct nic_ts_tx_ring *r, u32 una,
						  struct nic_ts_tx_record *rec)
{
	const struct nic_ts_tx_record *found;

	/* More is acknowledged than was seen going out. */
	if (r->head != r->base && nic_ts_before(r->max_end, una))
		nic_ts_tx_advance(r, una);
	found = nic_ts_tx_find(r, una);
	if (!found)
		return NIC_TS_RTT_NO_TX;
	*rec = *found;
	if (r->ambiguous && nic_ts_before(r->amb_end, rec->end_seq))
		r->ambiguous = false;
	return r->ambiguous || (rec->flags & NIC_TS_TX_AMBIGUOUS) ?
	       NIC_TS_RTT_AMBIGUOUS : NIC_TS_RTT_OK;
}

/**
 * struct nic_ts_ack_record - an ACK that acknowledged more than all before it
 * @stamp:	when it came in
 * @ack_seq:	up to where
 */
struct nic_ts_ack_record {
	struct nic_ts_stamp stamp;
	u32	ack_seq;
};

/**
 * struct nic_ts_ack_ring - the newest such ACKs of a flow, ascending
 * @head:	as in struct nic_ts_tx_ring
 * @base:	as in struct nic_ts_tx_ring
 * @mask:	as in struct nic_ts_tx_ring
 * @floor:	@ack_seq of the newest one that is lost; if @lost
 * @lost:	@floor is valid
 * @rec:	@mask + 1 records
 */
struct nic_ts_ack_ring {
	u32	head;
	u32	base;
	u32	mask;
	u32	floor;
	bool	lost;
	struct nic_ts_ack_record *rec;
};

static inline struct nic_ts_ack_record *
nic_ts_ack_at(const struct nic_ts_ack_ring *r, u32 n)
{
	return &r->rec[n & r->mask];
}

static inline void nic_ts_ack_drop(struct nic_ts_ack_ring *r)
{
	r->floor = nic_ts_ack_at(r, r->base)->ack_seq;
	r->lost = true;
	r->base++;
}

/**
 * struct nic_ts_sent - the segments that have a record
 * @from:	first byte of the oldest
 * @to:		highest sequence number sent; @from: nothing has a record
 *
 * @to - @from < NIC_TS_RING_SPAN.
 */
struct nic_ts_sent {
	u32	from;
	u32	to;
};

/* nic_ts_tx_sent() - return the range of recorded segments */
static inline struct nic_ts_sent nic_ts_tx_sent(const struct nic_ts_tx_ring *r)
{
	return (struct nic_ts_sent){
		.from = r->head != r->base ? nic_ts_tx_at(r, r->base)->seq : r->max_end,
		.to = r->max_end,
	};
}

/* Is @seq the end of a part of the data that was sent? */
static inline bool nic_ts_sent_covers(const struct nic_ts_sent *sent, u32 seq)
{
	return seq - sent->from - 1 < sent->to - sent->from;
}

/* Result of recording an ACK. */
enum nic_ts_ack_result {
	NIC_TS_ACK_RECORDED,
	NIC_TS_ACK_OLD,		/* says nothing that an earlier one did not */
	NIC_TS_ACK_UNSENT,	/* of data that was not seen going out */
};

/**
 * nic_ts_ack_push() - record an ACK
 * @r:		ring
 * @sent:	segments that have a record
 * @ack_seq:	up to where
 * @stamp:	when
 *
 * An ACK outside of @sent says nothing about a segment that could be asked for, and to
 * compare others with it would be wrong: it is refused. Without that one forged ACK of
 * data up to 2 GB ahead would make all that come after it old.
 */
static inline enum nic_ts_ack_result
nic_ts_ack_push(struct nic_ts_ack_ring *r, const struct nic_ts_sent *sent, u32 ack_seq,
		const struct nic_ts_stamp *stamp)
{
	struct nic_ts_ack_record *rec;
	u32 newest;

	if (!nic_ts_sent_covers(sent, ack_seq))
		return sent->from == sent->to || nic_ts_before(sent->to, ack_seq) ?
		       NIC_TS_ACK_UNSENT : NIC_TS_ACK_OLD;
	if (r->head != r->base) {
		newest = nic_ts_ack_at(r, r->head - 1)->ack_seq;
		if (!nic_ts_sent_covers(sent, newest)) {
			/* All are of data without a record. */
			r->base = r->head;
			r->lost = false;
		} else if (!nic_ts_before(newest, ack_seq)) {
			return NIC_TS_ACK_OLD;
		}
	}
	if (r->head - r->base > r->mask)
		nic_ts_ack_drop(r);
	while (r->base != r->head &&
	       ack_seq - nic_ts_ack_at(r, r->base)->ack_seq >= NIC_TS_RING_SPAN)
		nic_ts_ack_drop(r);
	rec = nic_ts_ack_at(r, r->head);
	nic_ts_stamp_copy(&rec->stamp, stamp);
	rec->ack_seq = ack_seq;
	r->head++;
	return NIC_TS_ACK_RECORDED;
}

/* Index of the first ACK that reaches @seq, from the oldest; their number if none. */
static inline u32 nic_ts_ack_index(const struct nic_ts_ack_ring *r, u32 seq)
{
	u32 lo = 0, hi = r->head - r->base, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (nic_ts_before(nic_ts_ack_at(r, r->base + mid)->ack_seq, seq))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/**
 * nic_ts_ack_find() - find the first ACK that covered a segment
 * @r:		ring
 * @end_seq:	end of the segment
 * @una:	snd_una, which TCP has accepted, at or after @end_seq
 * @rec:	the ACK
 *
 * The ACK that acknowledged @una is one that covered the segment, so the first of them
 * is not after @una. If it is, the one of TCP was not seen, or was refused because a
 * forged one had been taken: the remaining ACKs are too late, or not TCP's.
 *
 * Return: NIC_TS_RTT_OK, or _NO_ACK: not seen, or the first one is lost.
 */
static inline enum nic_ts_verdict nic_ts_ack_find(const struct nic_ts_ack_ring *r,
						  u32 end_seq, u32 una,
						  struct nic_ts_ack_record *rec)
{
	u32 i = nic_ts_ack_index(r, end_seq);

	if (i == r->head - r->base)
		return NIC_TS_RTT_NO_ACK;
	if (!i && r->lost && !nic_ts_before(r->floor, end_seq))
		return NIC_TS_RTT_NO_ACK;
	if (nic_ts_before(una, nic_ts_ack_at(r, r->base + i)->ack_seq))
		return NIC_TS_RTT_NO_ACK;
	*rec = *nic_ts_ack_at(r, r->base + i);
	return NIC_TS_RTT_OK;
}

/**
 * nic_ts_ack_before() - find the last ACK that did not cover a segment's end
 * @r:		ring
 * @end_seq:	that end
 * @rec:	the ACK: of a part of the segment, or of data before it
 *
 * Return: false if there was none; or it is lost, but for its @ack_seq: then the
 * time in @rec is 0.
 */
static inline bool nic_ts_ack_before(const struct nic_ts_ack_ring *r, u32 end_seq,
				     struct nic_ts_ack_record *rec)
{
	u32 i = nic_ts_ack_index(r, end_seq);

	memset(rec, 0, sizeof(*rec));
	if (i)
		*rec = *nic_ts_ack_at(r, r->base + i - 1);
	else if (r->lost && nic_ts_before(r->floor, end_seq))
		rec->ack_seq = r->floor;
	else
		return false;
	return true;
}

/*
 * A mapped stamp is used if it is known better than this, ns. Software stamps are
 * wrong by some microseconds, to one side; a mapped one of that quality is none.
 */
#define NIC_TS_MAP_USEFUL_NS	5000U

/* Timestamps that an RTT was taken from. */
enum nic_ts_pick {
	NIC_TS_PICK_HW,		/* both of one NIC's clock */
	NIC_TS_PICK_MAPPED,	/* one or both by a map */
	NIC_TS_PICK_SW,		/* both software's */
	NIC_TS_PICK_REJECTED,	/* software's, since the hardware's made no sense */
	NIC_TS_PICK_NONE,	/* not even these did */
};

/**
 * struct nic_ts_mapped - a hardware stamp taken to CLOCK_MONOTONIC
 * @host_ns:	the result, ns; 0: there is no stamp, or no valid map
 * @error_ns:	error bound, ns
 */
struct nic_ts_mapped {
	u64	host_ns;
	u32	error_ns;
};

/* Return whether both have timestamps of one clock of a NIC, without a step between them. */
static inline bool nic_ts_same_clock(const struct nic_ts_stamp *a,
				     const struct nic_ts_stamp *b)
{
	return a->hw_ns && b->hw_ns && a->hw_domain == b->hw_domain &&
	       a->hw_epoch == b->hw_epoch;
}

/* Take the times of software. */
static inline void nic_ts_pick_software(const struct nic_ts_stamp *tx,
					const struct nic_ts_stamp *rx, struct nic_ts_rtt *rtt)
{
	rtt->tx_ns = tx->ns;
	rtt->rx_ns = rx->ns;
	rtt->domain = NIC_TS_DOMAIN_MONO;
	rtt->error_ns = 0;
	rtt->tx_source = tx->source;
	rtt->rx_source = rx->source;
}

/* Take a time of the NIC if its map is useful. Returns the error bound of the map, ns. */
static inline u64 nic_ts_pick_mapped(const struct nic_ts_mapped *map, u64 *ns, u8 *source)
{
	if (!map->host_ns || map->error_ns > NIC_TS_MAP_USEFUL_NS)
		return 0;
	*ns = map->host_ns;
	*source = NIC_TS_SRC_HW;
	return map->error_ns;
}

/**
 * nic_ts_pick() - choose the times of a segment and of its ACK, of one clock
 * @tx:		timestamps of the segment
 * @rx:		timestamps of the ACK
 * @tx_map:	the NIC's time in @tx, mapped to CLOCK_MONOTONIC
 * @rx_map:	the NIC's time in @rx, mapped to CLOCK_MONOTONIC
 * @rtt:	times, domain, error and sources are written
 *
 * The times of the NIC have to lie within those of software: a segment is posted before it
 * is sent, and an ACK arrives before software sees it. Others are refused.
 */
static inline enum nic_ts_pick
nic_ts_pick(const struct nic_ts_stamp *tx, const struct nic_ts_stamp *rx,
	    const struct nic_ts_mapped *tx_map, const struct nic_ts_mapped *rx_map,
	    struct nic_ts_rtt *rtt)
{
	bool hw = tx->hw_ns || rx->hw_ns;
	u64 sw_ns, slack_ns, error_ns;

	if (rx->ns < tx->ns)
		return NIC_TS_PICK_NONE;
	sw_ns = rx->ns - tx->ns;
	slack_ns = (sw_ns >> NIC_TS_TRACK_DRIFT_SHIFT) + NIC_TS_TRACK_SLACK_NS;
	nic_ts_pick_software(tx, rx, rtt);

	if (nic_ts_same_clock(tx, rx)) {
		if (rx->hw_ns < tx->hw_ns || rx->hw_ns - tx->hw_ns > sw_ns + slack_ns)
			return NIC_TS_PICK_REJECTED;
		rtt->tx_ns = tx->hw_ns;
		rtt->rx_ns = rx->hw_ns;
		rtt->domain = tx->hw_domain;
		rtt->tx_source = NIC_TS_SRC_HW;
		rtt->rx_source = NIC_TS_SRC_HW;
		return NIC_TS_PICK_HW;
	}

	error_ns = nic_ts_pick_mapped(tx_map, &rtt->tx_ns, &rtt->tx_source);
	error_ns += nic_ts_pick_mapped(rx_map, &rtt->rx_ns, &rtt->rx_source);
	/* No map, or a poor one: that is not a fault of the timestamps. */
	if (rtt->tx_source != NIC_TS_SRC_HW && rtt->rx_source != NIC_TS_SRC_HW)
		return NIC_TS_PICK_SW;
	rtt->error_ns = (u32)error_ns;
	slack_ns += error_ns;
	if (rtt->tx_ns + slack_ns >= tx->ns && rtt->rx_ns <= rx->ns + slack_ns &&
	    rtt->rx_ns >= rtt->tx_ns)
		return NIC_TS_PICK_MAPPED;
	nic_ts_pick_software(tx, rx, rtt);
	return hw ? NIC_TS_PICK_REJECTED : NIC_TS_PICK_SW;
}

#endif /* _NIC_TS_RING_H */
