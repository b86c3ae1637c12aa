/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RTT samples from the kernel's transmit timestamps
 *
 * A sample belongs to the last byte of one write. It is
 *
 *	RTT = (time the sender's TCP processed the ACK covering that byte)
 *	    - (time the packet holding it left the sender's stack)
 *
 * Both times are stamped by the sending kernel with the same clock, whatever
 * the congestion control, so the number compares between algorithms and owes
 * nothing to their own idea of the RTT.
 *
 * "Left the stack" is when the packet (up to 64 KB, if the device does TSO) is
 * given to the device's driver (--rtt-origin driver), or when it enters the
 * device's qdisc (--rtt-origin qdisc).
 *
 * Contained: queueing and serialisation at every hop in both directions, the
 * receiver's processing, its delayed ACK and GRO, the sender's ACK reception.
 * Not contained: time in the socket buffer, TCP's own pacing, and, with origin
 * driver, the wait in the sending host's qdisc (fq's pacing included).
 *
 * TCP acknowledges in order: after a loss, the ACK of a byte waits for the bytes
 * before it to be repaired, which is no round trip. Each timestamp carries the
 * socket's count of retransmissions at that moment. If it changed between the two
 * timestamps, or the byte was transmitted twice, the sample is left out and counted
 * (excluded_retrans). So the RTTs of overflowing buffers are missing: read the maximum
 * together with that count.
 *
 * They carry the socket's counts of delivered packets as well, and of those whose ACK
 * echoed a CE mark. The ACK timestamp is made when the packet with the byte has been
 * counted. So the differences between both timestamps are of one round trip.
 */
#ifndef DCLOAD_TSTAMP_H
#define DCLOAD_TSTAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RTT_PENDING	64	/* samples one flow can have under way */

/* Counters of the socket at the time of a timestamp. */
struct rtt_stats {
	uint32_t retrans;	/* packets sent again */
	uint32_t delivered;	/* packets */
	uint32_t delivered_ce;	/* of these, with a CE mark */
};

struct rtt_pending {
	uint32_t id;		/* offset of the byte in the stream, mod 2^32 */
	struct rtt_stats tx;	/* at transmission */
	uint64_t tx_ns;		/* CLOCK_REALTIME */
	unsigned int n_tx;	/* times it was transmitted */
};

struct rtt_tracker {
	struct rtt_pending ring[RTT_PENDING];
	unsigned int head;	/* oldest */
	unsigned int count;
};

enum rtt_verdict {
	RTT_VALID,
	RTT_RETRANS,		/* something was retransmitted in between */
	RTT_NO_TX,		/* no transmit stamp: the driver gives none */
	RTT_UNKNOWN,		/* not asked for, or forgotten */
};

struct rtt_event {
	enum rtt_event_type {
		RTT_EV_TX,
		RTT_EV_ACK,
		RTT_EV_ZEROCOPY,	/* zero-copy writes ended, @id of them */
		RTT_EV_COPIED,		/* the same, after a copy */
	} type;
	uint32_t id;
	struct rtt_stats stats;
	uint64_t real_ns;
};

/* What is known of one round trip. */
struct rtt_sample {
	uint64_t rtt_ns;
	uint32_t delivered;	/* packets that were acknowledged meanwhile */
	uint32_t delivered_ce;
};

/* Tracker: pure. */
bool rtt_room(const struct rtt_tracker *t);
unsigned int rtt_expect(struct rtt_tracker *t, uint32_t id);
void rtt_transmitted(struct rtt_tracker *t, const struct rtt_event *ev);
enum rtt_verdict rtt_acked(struct rtt_tracker *t, const struct rtt_event *ev,
			   struct rtt_sample *sample, unsigned int *lost);
void rtt_read_stats(const void *attrs, size_t len, struct rtt_stats *out);

/* Socket side. */
void tstamp_enable(int fd);
long tstamp_send(int fd, const void *buf, unsigned long len, bool from_qdisc, int flags);
int tstamp_read(int fd, struct rtt_event *ev);

#endif /* DCLOAD_TSTAMP_H */
