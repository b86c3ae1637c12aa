/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tcp_timely: where the times of a completion come from, integers only.
 *
 *	the bus (nic_ts):  segment, its timestamp and that of its ACK --> time, bytes
 *	TCP:               its own clock, where the bus has no answer
 *
 * TIMELY follows differences of RTTs, and RTTs of two sources differ by the delays between
 * them: interrupts, the socket's backlog, the qdisc. That difference would look like a
 * queue. So a flow stays with one source:
 *
 *	                      twice within 8 completions
 *	   source in use  --------------------------------->  a better one
 *	         ^                                                 |
 *	         +-------------------------------------------------+
 *	                   8 completions in a row without
 *
 * RTTs of another source give no sample meanwhile. The first RTT after a change gives no
 * difference.
 */
#ifndef _TIMELY_SOURCE_H
#define _TIMELY_SOURCE_H

#include "nic_ts_types.h"

/* Sources of an RTT; later ones are better. */
enum timely_source {
	TIMELY_SOURCE_NONE,	/* no RTT so far */
	TIMELY_SOURCE_TCP,	/* TCP's clock */
	TIMELY_SOURCE_STACK,	/* the bus, tracepoints: before GRO, after the qdisc */
	TIMELY_SOURCE_DRIVER,	/* the bus, both times by patched drivers */
	TIMELY_SOURCE_MAPPED,	/* the bus, one or both by a NIC, mapped to the host */
	TIMELY_SOURCE_HW,	/* the bus, both by a NIC's clock */
};

/* Values of the parameter rtt_source. */
enum timely_rtt_source {
	TIMELY_RTT_AUTO,
	TIMELY_RTT_TCP,
};

/*
 * Completions after which a flow changes its source. NICs give timestamps to some segments
 * only, and the bus requests one for each flow at a time: with two or three segments
 * in flight that is every second or third.
 */
#define TIMELY_SOURCE_PATIENCE	8

/**
 * struct timely_sources - which source a flow follows
 * @used:	enum timely_source
 * @worse:	completions in a row whose source was worse
 * @better:	completions for which a better one that was seen is remembered
 */
struct timely_sources {
	u8	used;
	u8	worse;
	u8	better;
};

/* Decisions about a sample. */
enum timely_source_verdict {
	TIMELY_SOURCE_SAME,	/* of the source in use */
	TIMELY_SOURCE_CHANGED,	/* of the one that is in use from here on */
	TIMELY_SOURCE_SKIP,	/* of another one: no sample */
};

/**
 * timely_source_step() - process the source of a completion's time
 * @s:		state of the flow
 * @source:	enum timely_source, not NONE
 */
static inline enum timely_source_verdict
timely_source_step(struct timely_sources *s, enum timely_source source)
{
	bool again = s->better;

	if (s->better)
		s->better--;
	if (source == s->used) {
		s->worse = 0;
		return TIMELY_SOURCE_SAME;
	}
	if (source < s->used) {
		if (++s->worse < TIMELY_SOURCE_PATIENCE)
			return TIMELY_SOURCE_SKIP;
	} else {
		s->better = TIMELY_SOURCE_PATIENCE;
		if (s->used != TIMELY_SOURCE_NONE && !again)
			return TIMELY_SOURCE_SKIP;
	}
	s->used = source;
	s->worse = 0;
	s->better = 0;
	return TIMELY_SOURCE_CHANGED;
}

/*
 * A flow that the bus refused asks again later and later: its first occasion is the next
 * one, then every second, fourth, ... 32nd. An occasion is data after none was in flight,
 * or some hundreds of samples.
 */
#define TIMELY_RETRY_MAX	5

/**
 * struct timely_retry - when a flow asks for the bus again
 * @refused:	refusals in a row, up to TIMELY_RETRY_MAX
 * @wait:	occasions to let go by
 */
struct timely_retry {
	u8	refused:3;
	u8	wait:5;
};

/** timely_retry_now() - return whether to use an occasion to ask the bus again */
static inline bool timely_retry_now(struct timely_retry *r)
{
	if (!r->wait)
		return true;
	r->wait--;
	return false;
}

/** timely_retry_refused() - remember that the bus had no room */
static inline void timely_retry_refused(struct timely_retry *r)
{
	r->wait = (1 << r->refused) - 1;
	if (r->refused < TIMELY_RETRY_MAX)
		r->refused++;
}

/** timely_source_of() - return the source of a measurement of the bus */
static inline enum timely_source timely_source_of(const struct nic_ts_rtt *rtt)
{
	if (rtt->domain != NIC_TS_DOMAIN_MONO)
		return TIMELY_SOURCE_HW;
	if (rtt->tx_source == NIC_TS_SRC_HW || rtt->rx_source == NIC_TS_SRC_HW)
		return TIMELY_SOURCE_MAPPED;
	if (rtt->tx_source == NIC_TS_SRC_DRIVER && rtt->rx_source == NIC_TS_SRC_DRIVER)
		return TIMELY_SOURCE_DRIVER;
	return TIMELY_SOURCE_STACK;
}

/**
 * struct timely_completion - the newest segment that an ACK completes
 * @time_ns:	from when it was sent to its ACK, ns
 * @bytes:	payload whose serialisation is part of @time_ns
 * @source:	enum timely_source
 * @bound:	the receiver may have delayed the ACK: an upper bound
 * @ambiguous:	retransmitted, or left at another time: no RTT
 * @sacked:	around SACKed data: no RTT
 */
struct timely_completion {
	s64	time_ns;
	u32	bytes;
	u8	source;
	bool	bound;
	bool	ambiguous;
	bool	sacked;
};

/*
 * Return the bytes sent from rtt->tx_ns on, up to @end_seq. Software hands a segment to the
 * driver as a whole. If GSO cuts it into packets, the bus sees each of them, one right after
 * the other, and the last one waits for all of TCP's segment, which begins at @seq. A NIC
 * timestamps the last packet of a segment.
 */
static inline u32 timely_sent_since(const struct nic_ts_rtt *rtt, u32 seq, u32 end_seq, u32 mss)
{
	u32 bytes = rtt->end_seq - rtt->seq;

	if (rtt->tx_source == NIC_TS_SRC_HW)
		return (bytes - 1) % mss + 1;
	if (rtt->end_seq == end_seq && (s32)(rtt->seq - seq) > 0)
		return end_seq - seq;
	return bytes;
}

/**
 * timely_measured_by() - convert a measurement of the bus to a completion
 * @rtt:	of the newest segment that is acknowledged
 * @seq:	first byte of TCP's own segment, the oldest in flight
 * @end_seq:	the one behind its last; at or before @rtt->end_seq
 * @mss:	payload of a full packet, bytes, not 0
 * @m:		its first four fields are set
 *
 * A receiver acknowledges two packets at once, and a single one perhaps later. If the
 * segment ends with a single packet, take the ACK of the data before it.
 */
static inline void timely_measured_by(const struct nic_ts_rtt *rtt, u32 seq,
				      u32 end_seq, u32 mss, struct timely_completion *m)
{
	u32 rest = rtt->end_seq - rtt->part_seq;

	m->source = timely_source_of(rtt);
	m->time_ns = rtt->rx_ns - rtt->tx_ns;
	m->bytes = timely_sent_since(rtt, seq, end_seq, mss);
	m->bound = rest <= mss;
	if (m->bound && rtt->part_ns) {
		/* Of a packet that a NIC sent before its stamp nothing remains. */
		m->time_ns = rtt->part_ns - rtt->tx_ns;
		m->bytes -= min_t(u32, rest, m->bytes);
		m->bound = false;
	}
}

#endif /* _TIMELY_SOURCE_H */
