// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: have On-Ramp follow a flow
 */
#include <net/sock.h>
#include <net/tcp.h>

#include "onramp_attach.h"
#include "onramp_flow.h"
#include "onramp_fwd_table.h"
#include "onramp_fwd_egress.h"

/* @conn is that of a flow; @sk: its socket, NULL: forwarded; @other_netns: of another namespace */
static void onramp_follow(struct Qdisc *sch, struct onramp_flow *f, struct onramp_conn *conn,
			  const struct sock *sk, bool other_netns)
{
	struct onramp_sched *q = qdisc_priv(sch);

	/* A connection that is closed by now may have had the same addresses and ports. */
	if (conn->sk && conn->sk != f->key)
		onramp_flow_detach(q, conn);
	onramp_conn_own(conn, sk, f->key, other_netns, onramp_clock(q));
	onramp_shared_arm(q->shared, sch);
	f->conn = conn;
	f->next_record = onramp_conn_next_record(conn);
	f->waited = false;
}

/* onramp_attach() - have On-Ramp follow a socket's flow, by data of it, if it can; qdisc's lock */
void onramp_attach(struct Qdisc *sch, struct onramp_flow *f, struct sk_buff *skb)
{
	struct onramp_sched *q = qdisc_priv(sch);
	bool other_netns = !net_eq(sock_net(skb->sk), dev_net(qdisc_dev(sch)));
	u16 tick = onramp_tick(q->now_ns), tried = f->tried;
	struct onramp_conn *conn;
	struct or_egress egress;
	u32 rtt_us;

	if (onramp_too_early(tried, tick))
		return;
	/* A guest's: its address is none of this namespace, and messages leave as its data. */
	if (other_netns && (!q->forwards || !onramp_fwd_egress(skb, qdisc_dev(sch), &egress)))
		return;
	rtt_us = tcp_min_rtt(tcp_sk(skb->sk));
	/* Data before the first round trip (TFO): the next packet may know. */
	if (rtt_us == U32_MAX && q->cfg.peers)
		return;
	f->tried = tick;
	conn = onramp_conn_find_or_create(q->shared, skb, other_netns ? &egress : NULL, rtt_us,
					  q->cfg.peers, onramp_clock(q));
	if (!conn) {
		q->stats[ONRAMP_STATS_FAR] += !tried && !onramp_is_near(rtt_us, q->cfg.peers);
		return;
	}
	onramp_follow(sch, f, conn, skb->sk, other_netns);
}

/* onramp_attach_forwarded() - the same for a forwarded connection and its entry; qdisc's lock */
void onramp_attach_forwarded(struct Qdisc *sch, struct onramp_flow *f, struct sk_buff *skb,
			     struct onramp_fwd_entry *e)
{
	struct onramp_sched *q = qdisc_priv(sch);
	u16 tick = onramp_tick(q->now_ns), tried = f->tried;
	bool too_early = onramp_too_early(tried, tick);
	struct onramp_conn *conn;
	struct or_egress egress;
	u32 rtt_us;

	/* A new RTT is a reason to try again at once, but not after an eviction. */
	if (too_early && tried != tick)
		return;
	if (!onramp_fwd_try(e, too_early, &rtt_us))
		return;
	f->tried = tick;
	if (!onramp_fwd_egress(skb, qdisc_dev(sch), &egress))
		return;
	/* Before its first RTT is known, the host may be one that others have found to be near. */
	conn = onramp_conn_find_or_create(q->shared, skb, &egress, rtt_us, q->cfg.peers,
					  onramp_clock(q));
	if (!conn) {
		if (rtt_us != U32_MAX && !onramp_is_near(rtt_us, q->cfg.peers))
			q->stats[ONRAMP_STATS_FAR] += onramp_fwd_far(e);
		return;
	}
	onramp_fwd_follow(e);
	onramp_follow(sch, f, conn, NULL, false);
}
