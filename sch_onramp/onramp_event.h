/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A peer as netlink and /proc show it, and its events
 */
#ifndef _SCH_ONRAMP_EVENT_H
#define _SCH_ONRAMP_EVENT_H

#include "onramp_net.h"

struct seq_file;

int onramp_put_u64(struct sk_buff *msg, int attr, u64 value);
int onramp_put_addrs(struct sk_buff *msg, const struct or_addrs *addrs);
u8 onramp_path_state(const struct onramp_peer *peer);
int onramp_put_path(struct sk_buff *msg, struct onramp_peer *peer);
int onramp_peers_show(struct seq_file *seq, void *v);
void __onramp_peer_notify(struct onramp_peer *peer);
void __onramp_shared_notify(struct onramp_qdisc_shared *shared);

/* onramp_peer_notify() - tell of a peer's events, if any; no hard interrupt, without its lock */
static inline void onramp_peer_notify(struct onramp_peer *peer)
{
	if (unlikely(READ_ONCE(peer->events)))
		__onramp_peer_notify(peer);
}

/* onramp_peer_report_rtt() - tell of a round trip of the path, ns; its lock */
static inline void onramp_peer_report_rtt(const struct onramp_peer *peer, s64 rtt_ns,
					  enum or_path_how how)
{
	or_path_report(peer->onet->net, &peer->addrs, peer->via.ifindex, OR_PATH_ACK, (u64)rtt_ns,
		       how);
}

#endif /* _SCH_ONRAMP_EVENT_H */
