// SPDX-License-Identifier: GPL-2.0
/*
 * labq: signals to senders from a switch that knows of pauses: Mercury's windows, TCD's marks.
 *
 *	a packet was let into a queue:
 *		pauses of the port's device until now; count the bytes
 *		mercury: count it for its flow; if the port is congested, and its flow has not
 *			been told for a period, send a CNP to its sender
 *		tcd: mark it, if the port is congested
 *	a packet leaves:
 *		pauses until now; look at the queue; count it for its flow no more
 *
 * The port's state and the flows' shares are labq_mercury.h's. The device says when it was paused,
 * to the nanosecond, and a port changes nothing between two packets: so it is enough to ask
 * before each.
 *
 * CNPs are messages of the OR protocol (or_proto.h) with net.or_port.fabric_key of the switch's
 * namespace, from the receiver's address. Without a key none is sent. A CNP goes through the
 * qdisc of a port itself, so a timer sends it, at the same time. A packet causes one CNP at most,
 * and none if it is shorter than that; so the switch never sends more than it got.
 *
 * TCD: a port is congested above the same threshold, unless it is paused, or has been within
 * tcd_ton.
 */
#include <linux/hrtimer.h>
#include <linux/ipv6.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>

#include <or_port.h>
#include <or_proto.h>

#include "labq.h"
#include "labq_trace.h"

/* The paper's 200 KB at 40 Gbit/s: K of a port without one of its own, as a time, ns. */
#define LABQ_K_NS		40000

/* Headers of a CNP, before the message. */
#define LABQ_CNP_HEADERS_V4	(ETH_HLEN + sizeof(struct iphdr) + sizeof(struct udphdr))
#define LABQ_CNP_HEADERS_V6	(ETH_HLEN + sizeof(struct ipv6hdr) + sizeof(struct udphdr))

/* struct labq_flow - whose packet it is */
struct labq_flow {
	struct or_pair pair;
	__be16 sport;
	__be16 dport;
	u8 protocol;
	bool data;		/* has payload of TCP */
};

/* Find out whose packet it is. False: neither IPv4 nor IPv6. */
static bool labq_flow_of(const struct sk_buff *skb, struct labq_flow *flow)
{
	u32 offset = skb_network_offset(skb), len;
	const struct ipv6hdr *ip6;
	const struct iphdr *ip;
	const __be16 *ports;
	struct ipv6hdr _ip6;
	struct tcphdr _th;
	struct iphdr _ip;
	__be16 _ports[2];

	memset(flow, 0, sizeof(*flow));
	ip = skb_header_pointer(skb, offset, sizeof(_ip), &_ip);
	if (!ip)
		return false;
	if (ip->version == 4) {
		memcpy(flow->pair.sender, &ip->saddr, sizeof(ip->saddr));
		memcpy(flow->pair.receiver, &ip->daddr, sizeof(ip->daddr));
		flow->protocol = ip->protocol;
		len = ntohs(ip->tot_len) - 4 * ip->ihl;
		offset += 4 * ip->ihl;
	} else if (ip->version == 6) {
		ip6 = skb_header_pointer(skb, offset, sizeof(_ip6), &_ip6);
		if (!ip6)
			return false;
		memcpy(flow->pair.sender, &ip6->saddr, sizeof(ip6->saddr));
		memcpy(flow->pair.receiver, &ip6->daddr, sizeof(ip6->daddr));
		flow->protocol = ip6->nexthdr;
		len = ntohs(ip6->payload_len);
		offset += sizeof(_ip6);
	} else {
		return false;
	}
	flow->pair.version = ip->version;
	if (flow->protocol != IPPROTO_TCP && flow->protocol != IPPROTO_UDP)
		return true;
	ports = skb_header_pointer(skb, offset, sizeof(_ports), _ports);
	if (!ports)
		return true;
	flow->sport = ports[0];
	flow->dport = ports[1];
	if (flow->protocol == IPPROTO_TCP) {
		const struct tcphdr *th = skb_header_pointer(skb, offset, sizeof(_th), &_th);

		flow->data = th && len > 4 * th->doff;
	}
	return true;
}

/* The key of a flow in the table. Two flows with one key would share a window. */
static u64 labq_flow_key(const struct labq_flow *flow, bool addresses)
{
	static const siphash_key_t any = { { 0x6d657263, 0x757279 } };
	struct {
		struct or_pair pair;
		__be16 sport;
		__be16 dport;
		u32 protocol;
	} in = { .pair = flow->pair };

	if (!addresses) {
		in.sport = flow->sport;
		in.dport = flow->dport;
		in.protocol = flow->protocol;
	}
	return siphash(&in, sizeof(in), &any);
}

static void labq_mercury_params(const struct labq_port *port, struct mercury_params *p)
{
	p->rate = port->labnic ? labnic_rate_bytes(port->dev) : 0;
	p->k_bytes = port->cfg.signal_k_bytes ?: mercury_bytes(p->rate, LABQ_K_NS);
	p->period_ns = port->cfg.signal_period_ns;
}

/* The port follows the pauses of its device. */
static void labq_mercury_follow(struct labq_port *port, const struct mercury_params *p, u8 prio)
{
	struct labq_queue *q = &port->queues[prio];
	struct mercury_port *m = &q->mercury;
	u64 at_ns, rx = m->rx_bytes;
	bool paused;

	if (!port->labnic)
		return;
	paused = labnic_pfc_state(port->dev, prio, &at_ns);
	if (paused == m->paused)
		return;
	if (paused) {
		mercury_pause(m, at_ns);
		q->pauses++;
	} else {
		mercury_resume(m, p, at_ns, q->length.bytes);
		if (m->state == MERCURY_UNDETERMINED)
			q->undetermined++;
		else if (q->length.bytes > p->k_bytes)
			q->resumed_congested++;
	}
	trace_labq_state(port, prio, m, rx);
}

/* The places of a queue's flows, made for its first packet. */
static bool labq_mercury_table(struct labq_port *port, struct labq_queue *q)
{
	u16 places = port->cfg.signal_flows;
	u32 buckets = roundup_pow_of_two(places);
	struct mercury_flow *flows;

	if (q->flows)
		return true;
	flows = kzalloc(places * sizeof(*flows) + buckets * sizeof(u16),
			GFP_ATOMIC | __GFP_NOWARN);
	if (!flows)
		return false;
	q->flows = flows;
	mercury_table_init(&q->table, flows, places, (u16 *)(flows + places), buckets - 1);
	return true;
}

/* A flow of a congested port is to have a window: a CNP waits to be sent. */
static void labq_mercury_notify(struct labq_port *port, struct labq_queue *q, u8 prio,
				const struct labq_flow *flow, u16 place, u64 rate)
{
	const struct labq_config *cfg = &port->cfg;
	struct labq_switch *sw = port->sw;
	struct or_cnp *cnp;
	u64 bdp;

	lockdep_assert_held(&sw->lock);
	bdp = clamp_t(u64, mercury_bytes(rate, cfg->signal_rtt_ns), 1, U32_MAX);
	if (flow->protocol != IPPROTO_TCP || sw->n_cnps == LABQ_CNPS) {
		q->untold++;
		return;
	}
	cnp = &sw->cnps[sw->n_cnps++];
	*cnp = (struct or_cnp) {
		.pair = flow->pair,
		.window = mercury_window(&q->table, place, bdp),
		.hold_us = DIV_ROUND_UP_ULL(cfg->signal_hold_ns, NSEC_PER_USEC),
		.from = cfg->signal_switch,
		.sport = ntohs(flow->sport),
		.dport = ntohs(flow->dport),
		.protocol = OR_PROTO_TCP,
	};
	q->told++;
	trace_labq_cnp(port, prio, cnp, q->table.flows[place].data, q->table.data);
	if (sw->n_cnps == 1)
		hrtimer_start(&sw->cnp_timer, ns_to_ktime(ktime_get_ns()),
			      HRTIMER_MODE_ABS_SOFT);
}

/* labq_signal_arrive() - a packet was let into a queue, whose length has it; switch.lock */
void labq_signal_arrive(struct labq_port *port, struct sk_buff *skb, struct labq_cb *cb)
{
	struct labq_queue *q = &port->queues[cb->prio];
	const struct labq_config *cfg = &port->cfg;
	struct mercury_params p;
	struct labq_flow flow;
	u32 shortest;
	u64 now;

	lockdep_assert_held(&port->sw->lock);
	cb->flow = MERCURY_NO_FLOW;
	if (!cfg->signal)
		return;
	now = ktime_get_ns();
	labq_mercury_params(port, &p);
	labq_mercury_follow(port, &p, cb->prio);
	mercury_arrive(&q->mercury, cb->bytes);
	if (cfg->signal == LABQ_SIGNAL_TCD) {
		if (!mercury_tcd(&q->mercury, &p, now, q->length.bytes, cfg->tcd_ton_ns))
			return;
		if (INET_ECN_set_ce(skb))
			q->marked_tcd++;
		else
			q->unmarked_tcd++;
		return;
	}
	if (!labq_flow_of(skb, &flow) || !labq_mercury_table(port, q))
		return;
	cb->flow = mercury_flow_arrive(&q->table, labq_flow_key(&flow, cfg->signal_addresses),
				       cb->bytes);
	shortest = flow.pair.version == 4 ? LABQ_CNP_HEADERS_V4 + OR_CNP_LEN_V4 :
		   LABQ_CNP_HEADERS_V6 + OR_CNP_LEN_V6;
	if (cb->bytes < shortest || (flow.protocol == IPPROTO_TCP && !flow.data))
		return;
	if (mercury_congested(&q->mercury, &p, q->length.bytes) &&
	    mercury_flow_due(&q->table, cb->flow, now, p.period_ns))
		labq_mercury_notify(port, q, cb->prio, &flow, cb->flow, p.rate);
}

/* labq_signal_depart() - a packet has left its queue, or was dropped from it; switch.lock */
void labq_signal_depart(struct labq_port *port, const struct labq_cb *cb)
{
	struct labq_queue *q = &port->queues[cb->prio];
	struct mercury_params p;

	lockdep_assert_held(&port->sw->lock);
	mercury_flow_depart(&q->table, cb->flow, cb->bytes);
	if (port->cfg.signal != LABQ_SIGNAL_MERCURY)
		return;
	labq_mercury_params(port, &p);
	mercury_depart(&q->mercury, &p, ktime_get_ns(), q->length.bytes);
}

/* labq_signal_resume() - a port is about to send: has a pause ended? switch.lock */
void labq_signal_resume(struct labq_port *port)
{
	struct mercury_params p;
	int prio;

	lockdep_assert_held(&port->sw->lock);
	if (!port->cfg.signal)
		return;
	labq_mercury_params(port, &p);
	for (prio = 0; prio < LABNIC_PRIOS; prio++)
		labq_mercury_follow(port, &p, prio);
}

/* Send the CNPs that wait. */
static enum hrtimer_restart labq_cnp_timer(struct hrtimer *timer)
{
	struct labq_switch *sw = container_of(timer, struct labq_switch, cnp_timer);
	struct or_addrs addrs;
	struct or_cnp cnp;
	u8 key[OR_KEY_LEN], msg[OR_CNP_LEN_V6], prio;
	bool keyed = or_port_fabric_key(sw->net, key);
	size_t len;
	u32 i, n;

	/* Sending one may cause others: these have a turn of their own. */
	spin_lock(&sw->lock);
	n = sw->n_cnps;
	prio = sw->cfg.signal_prio;
	for (i = 0; i < n; i++) {
		cnp = sw->cnps[i];
		/* Above all that were sent before, also by a module that was here before. */
		sw->cnp_count = max(sw->cnp_count + 1, ktime_get_real_ns() / NSEC_PER_USEC);
		cnp.count = sw->cnp_count;
		spin_unlock(&sw->lock);
		memset(&addrs, 0, sizeof(addrs));
		addrs.family = cnp.pair.version == 4 ? AF_INET : AF_INET6;
		memcpy(addrs.laddr, cnp.pair.receiver, sizeof(addrs.laddr));
		memcpy(addrs.raddr, cnp.pair.sender, sizeof(addrs.raddr));
		len = or_cnp_encode(&cnp, msg);
		or_sign(msg, len, key);
		if (!keyed || or_port_send(sw->net, &addrs, NULL, true, msg, len, prio << 5, 0))
			sw->cnps_unsent++;
		else
			sw->cnps_sent++;
		spin_lock(&sw->lock);
	}
	sw->n_cnps -= n;
	memmove(sw->cnps, sw->cnps + n, sw->n_cnps * sizeof(sw->cnps[0]));
	n = sw->n_cnps;
	spin_unlock(&sw->lock);
	if (!n)
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, 1);
	return HRTIMER_RESTART;
}

/* labq_signal_init() - a switch begins */
void labq_signal_init(struct labq_switch *sw, struct net *net)
{
	sw->net = net;
	hrtimer_setup(&sw->cnp_timer, labq_cnp_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
}

/* labq_signal_exit() - a switch ends; it has no ports */
void labq_signal_exit(struct labq_switch *sw)
{
	hrtimer_cancel(&sw->cnp_timer);
}
