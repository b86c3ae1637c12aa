/* SPDX-License-Identifier: GPL-2.0 */
/*
 * In-band telemetry: what each port says of itself in the packets that leave by it.
 *
 * A packet carries nothing more. labq keeps what its ports say under the packet's connection and
 * sequence number, and the sender takes it when the ACK with this number comes, as if the receiver
 * had sent it back. So telemetry takes no bytes on the wire, which INT does, 8 for each hop.
 */
#ifndef _LABQ_TELEMETRY_H
#define _LABQ_TELEMETRY_H

#include <linux/types.h>

#define LABQ_TELEMETRY_HOPS	5

/**
 * struct labq_hop - a port, as the packet left its queue
 * @bps: line rate, bytes/s on the wire
 * @ns: when, the low bits of CLOCK_MONOTONIC: 4 s
 * @tx_bytes: that it has sent so far, on the wire; the low bits
 * @queue_bytes: in the queue behind the packet
 */
struct labq_hop {
	u64 bps;
	u32 ns;
	u32 tx_bytes;
	u32 queue_bytes;
};

/* struct labq_telemetry - of a packet, from the first switch to the last */
struct labq_telemetry {
	u32 hops;
	struct labq_hop hop[LABQ_TELEMETRY_HOPS];
};

struct sock;
bool labq_telemetry_take(const struct sock *sk, u32 ack, struct labq_telemetry *to);

#endif /* _LABQ_TELEMETRY_H */
