/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of labq: every change of a queue's length, how long each packet has
 * waited, and every decision with its inputs. Bytes are frames without check
 * sequence; ns is CLOCK_MONOTONIC, since the text of a trace has microseconds only;
 * netns is the inode number of the switch's network namespace.
 *
 *	echo 1 > /sys/kernel/tracing/events/labq/labq_queue/enable
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM labq

#if !defined(_LABQ_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LABQ_TRACE_H

#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/tcp.h>
#include <linux/tracepoint.h>

#include "labq.h"

TRACE_DEFINE_ENUM(LABQ_DROP_LIMIT);
TRACE_DEFINE_ENUM(LABQ_DROP_DYNAMIC);
TRACE_DEFINE_ENUM(LABQ_DROP_FULL);
TRACE_DEFINE_ENUM(LABQ_DROP_HEADROOM);
TRACE_DEFINE_ENUM(LABQ_DROP_RED);
TRACE_DEFINE_ENUM(LABQ_DROP_STEP);
TRACE_DEFINE_ENUM(LABQ_MARK_STEP);
TRACE_DEFINE_ENUM(LABQ_MARK_RED);

#ifndef _LABQ_TRACE_ONCE
#define _LABQ_TRACE_ONCE

/* Ports and sequence numbers of a TCP packet; if it is none, all stays 0. */
struct labq_trace_tcp {
	u16 sport;
	u16 dport;
	u32 end_seq;
	u32 payload;
};

/* Ends of the packet as sockaddr, for %pISpc, and what is in @tcp. */
static inline void labq_trace_tcp(const struct sk_buff *skb, void *src, void *dest,
				  struct labq_trace_tcp *tcp)
{
	struct sockaddr_in6 *src6 = src, *dest6 = dest;
	struct sockaddr_in *src4 = src, *dest4 = dest;
	u32 offset = skb_network_offset(skb), len = 0;
	const struct ipv6hdr *ip6;
	const struct tcphdr *th;
	const struct iphdr *ip;
	struct ipv6hdr _ip6;
	struct tcphdr _th;
	struct iphdr _ip;

	memset(src, 0, sizeof(*src6));
	memset(dest, 0, sizeof(*dest6));
	*tcp = (struct labq_trace_tcp) { .payload = 0 };
	ip = skb_header_pointer(skb, offset, sizeof(_ip), &_ip);
	if (!ip)
		return;
	if (ip->version == 4 && ip->protocol == IPPROTO_TCP) {
		src4->sin_family = AF_INET;
		src4->sin_addr.s_addr = ip->saddr;
		dest4->sin_family = AF_INET;
		dest4->sin_addr.s_addr = ip->daddr;
		len = ntohs(ip->tot_len) - 4 * ip->ihl;
		offset += 4 * ip->ihl;
	} else if (ip->version == 6) {
		ip6 = skb_header_pointer(skb, offset, sizeof(_ip6), &_ip6);
		if (!ip6 || ip6->nexthdr != IPPROTO_TCP)
			return;
		src6->sin6_family = AF_INET6;
		src6->sin6_addr = ip6->saddr;
		dest6->sin6_family = AF_INET6;
		dest6->sin6_addr = ip6->daddr;
		len = ntohs(ip6->payload_len);
		offset += sizeof(_ip6);
	} else {
		return;
	}
	th = skb_header_pointer(skb, offset, sizeof(_th), &_th);
	if (!th || len < 4 * th->doff)
		return;
	/* Ports have the same place in both kinds of address. */
	src4->sin_port = th->source;
	dest4->sin_port = th->dest;
	tcp->sport = ntohs(th->source);
	tcp->dport = ntohs(th->dest);
	tcp->payload = len - 4 * th->doff;
	tcp->end_seq = ntohl(th->seq) + tcp->payload;
}

#endif /* _LABQ_TRACE_ONCE */

#define labq_show_drop(verdict)						\
	__print_symbolic(verdict,					\
			 { LABQ_DROP_LIMIT, "limit" },			\
			 { LABQ_DROP_DYNAMIC, "dynamic" },		\
			 { LABQ_DROP_FULL, "full" },			\
			 { LABQ_DROP_HEADROOM, "headroom" },		\
			 { LABQ_DROP_RED, "red" },			\
			 { LABQ_DROP_STEP, "step" })

#define labq_show_mark(mark)						\
	__print_symbolic(mark,						\
			 { LABQ_MARK_STEP, "step" },			\
			 { LABQ_MARK_RED, "red" })

/* A queue is now so long, and of the shared buffer so much is used. */
TRACE_EVENT(labq_queue,

	TP_PROTO(const struct labq_port *port, u8 prio),

	TP_ARGS(port, prio),

	TP_STRUCT__entry(
		__field(u64, ns)
		__array(char, dev, IFNAMSIZ)
		__field(u32, netns)
		__field(u8, prio)
		__field(u32, bytes)
		__field(u32, packets)
		__field(u32, shared_used)
	),

	TP_fast_assign(
		__entry->ns = ktime_get_ns();
		memcpy(__entry->dev, port->dev->name, IFNAMSIZ);
		__entry->netns = dev_net(port->dev)->ns.inum;
		__entry->prio = prio;
		__entry->bytes = port->queues[prio].length.bytes;
		__entry->packets = port->queues[prio].length.packets;
		__entry->shared_used = port->sw->shared.used;
	),

	TP_printk("ns=%llu dev=%.16s netns=%u prio=%u bytes=%u packets=%u shared_used=%u",
		  __entry->ns, __entry->dev, __entry->netns, __entry->prio, __entry->bytes,
		  __entry->packets, __entry->shared_used)
);

/* A packet leaves its queue, for the wire; that long it has waited. */
TRACE_EVENT(labq_wait,

	TP_PROTO(const struct labq_port *port, struct sk_buff *skb),

	TP_ARGS(port, skb),

	TP_STRUCT__entry(
		__field(u64, ns)
		__array(char, dev, IFNAMSIZ)
		__field(u32, netns)
		__field(u8, prio)
		__field(u32, len)
		__field(u32, waited_ns)
		__array(u8, src, sizeof(struct sockaddr_in6))
		__array(u8, dest, sizeof(struct sockaddr_in6))
		__field(u16, sport)
		__field(u16, dport)
		__field(u32, end_seq)
		__field(u32, payload)
	),

	TP_fast_assign(
		struct labq_trace_tcp tcp;

		labq_trace_tcp(skb, __entry->src, __entry->dest, &tcp);
		__entry->ns = ktime_get_ns();
		memcpy(__entry->dev, port->dev->name, IFNAMSIZ);
		__entry->netns = dev_net(port->dev)->ns.inum;
		__entry->prio = labq_cb(skb)->prio;
		__entry->len = labq_cb(skb)->bytes;
		__entry->waited_ns = (u32)__entry->ns - labq_cb(skb)->came_ns;
		__entry->sport = tcp.sport;
		__entry->dport = tcp.dport;
		__entry->end_seq = tcp.end_seq;
		__entry->payload = tcp.payload;
	),

	TP_printk("ns=%llu dev=%.16s netns=%u prio=%u len=%u waited=%u src=%pISpc dest=%pISpc payload=%u end_seq=%u",
		  __entry->ns, __entry->dev, __entry->netns, __entry->prio, __entry->len,
		  __entry->waited_ns, __entry->src, __entry->dest, __entry->payload,
		  __entry->end_seq)
);

/* The inputs of labq_admit() and labq_mark(), and what they said. */
DECLARE_EVENT_CLASS(labq_decision,

	TP_PROTO(const struct labq_port *port, const struct labq_ingress *in, u8 prio,
		 u32 len, int what, u64 avg),

	TP_ARGS(port, in, prio, len, what, avg),

	TP_STRUCT__entry(
		__field(u64, ns)
		__array(char, dev, IFNAMSIZ)
		__field(u32, netns)
		__field(int, iif)
		__field(u8, prio)
		__field(u8, what)
		__field(u32, len)
		__field(u32, bytes)
		__field(u32, packets)
		__field(u32, reserved)
		__field(u32, shared)
		__field(u32, shared_used)
		__field(u32, shared_size)
		__field(u32, held)
		__field(u32, headroom)
		__field(u32, avg)
	),

	TP_fast_assign(
		const struct labq_length *length = &port->queues[prio].length;

		__entry->ns = ktime_get_ns();
		memcpy(__entry->dev, port->dev->name, IFNAMSIZ);
		__entry->netns = dev_net(port->dev)->ns.inum;
		__entry->iif = in ? in->ifindex : 0;
		__entry->prio = prio;
		__entry->what = what;
		__entry->len = len;
		__entry->bytes = length->bytes;
		__entry->packets = length->packets;
		__entry->reserved = length->reserved;
		__entry->shared = length->shared;
		__entry->shared_used = port->sw->shared.used;
		__entry->shared_size = port->sw->shared.size;
		__entry->held = in ? in->prios[prio].held.bytes : 0;
		__entry->headroom = in ? in->prios[prio].held.headroom : 0;
		__entry->avg = avg >> LABQ_AVG_SHIFT;
	),

	TP_printk("ns=%llu dev=%.16s netns=%u iif=%d prio=%u why=%s len=%u bytes=%u packets=%u reserved=%u shared=%u shared_used=%u shared_size=%u held=%u headroom=%u avg=%u",
		  __entry->ns, __entry->dev, __entry->netns, __entry->iif, __entry->prio,
		  labq_show_drop(__entry->what), __entry->len, __entry->bytes,
		  __entry->packets, __entry->reserved, __entry->shared,
		  __entry->shared_used, __entry->shared_size, __entry->held,
		  __entry->headroom, __entry->avg)
);

/* A packet was dropped; lengths are without it. */
DEFINE_EVENT(labq_decision, labq_drop,

	TP_PROTO(const struct labq_port *port, const struct labq_ingress *in, u8 prio,
		 u32 len, int what, u64 avg),

	TP_ARGS(port, in, prio, len, what, avg)
);

/* A packet was marked; lengths are without it. */
DEFINE_EVENT_PRINT(labq_decision, labq_mark,

	TP_PROTO(const struct labq_port *port, const struct labq_ingress *in, u8 prio,
		 u32 len, int what, u64 avg),

	TP_ARGS(port, in, prio, len, what, avg),

	TP_printk("ns=%llu dev=%.16s netns=%u iif=%d prio=%u why=%s len=%u bytes=%u packets=%u avg=%u",
		  __entry->ns, __entry->dev, __entry->netns, __entry->iif, __entry->prio,
		  labq_show_mark(__entry->what), __entry->len, __entry->bytes,
		  __entry->packets, __entry->avg)
);

/* The sender at the other end of a port is told to pause a priority, or to resume. */
TRACE_EVENT(labq_pause,

	TP_PROTO(const struct labq_port *port, u8 prio, bool paused, u64 xoff),

	TP_ARGS(port, prio, paused, xoff),

	TP_STRUCT__entry(
		__field(u64, ns)
		__array(char, dev, IFNAMSIZ)
		__field(u32, netns)
		__field(u8, prio)
		__field(bool, paused)
		__field(u32, held)
		__field(u32, xoff)
		__field(u32, headroom)
		__field(u32, shared_used)
		__field(u32, shared_size)
	),

	TP_fast_assign(
		const struct labq_held *held = &port->ingress->prios[prio].held;

		__entry->ns = ktime_get_ns();
		memcpy(__entry->dev, port->dev->name, IFNAMSIZ);
		__entry->netns = dev_net(port->dev)->ns.inum;
		__entry->prio = prio;
		__entry->paused = paused;
		__entry->held = held->bytes;
		__entry->xoff = min_t(u64, xoff, U32_MAX);
		__entry->headroom = held->headroom;
		__entry->shared_used = port->sw->shared.used;
		__entry->shared_size = port->sw->shared.size;
	),

	TP_printk("ns=%llu dev=%.16s netns=%u prio=%u %s held=%u xoff=%u headroom=%u shared_used=%u shared_size=%u",
		  __entry->ns, __entry->dev, __entry->netns, __entry->prio,
		  __entry->paused ? "pause" : "resume", __entry->held, __entry->xoff,
		  __entry->headroom, __entry->shared_used, __entry->shared_size)
);

/* A pause of the port began or ended; Mercury's state of it, and what came during the pause. */
TRACE_EVENT(labq_state,

	TP_PROTO(const struct labq_port *port, u8 prio, const struct mercury_port *m, u64 rx),

	TP_ARGS(port, prio, m, rx),

	TP_STRUCT__entry(
		__field(u64, ns)
		__array(char, dev, IFNAMSIZ)
		__field(u32, netns)
		__field(u8, prio)
		__field(bool, paused)
		__field(bool, determined)
		__field(u64, rx)
		__field(u32, bytes)
	),

	TP_fast_assign(
		__entry->ns = ktime_get_ns();
		memcpy(__entry->dev, port->dev->name, IFNAMSIZ);
		__entry->netns = dev_net(port->dev)->ns.inum;
		__entry->prio = prio;
		__entry->paused = m->paused;
		__entry->determined = m->state == MERCURY_DETERMINED;
		__entry->rx = m->paused ? 0 : rx;
		__entry->bytes = port->queues[prio].length.bytes;
	),

	TP_printk("ns=%llu dev=%.16s netns=%u prio=%u %s determined=%d rx=%llu bytes=%u",
		  __entry->ns, __entry->dev, __entry->netns, __entry->prio,
		  __entry->paused ? "paused" : "resumed", __entry->determined,
		  __entry->rx, __entry->bytes)
);

/* A flow of a congested port is told its window; data: its bytes in the queue, and all flows'. */
TRACE_EVENT(labq_cnp,

	TP_PROTO(const struct labq_port *port, u8 prio, const struct or_cnp *cnp, u32 data,
		 u64 all),

	TP_ARGS(port, prio, cnp, data, all),

	TP_STRUCT__entry(
		__field(u64, ns)
		__array(char, dev, IFNAMSIZ)
		__field(u32, netns)
		__field(u8, prio)
		__field(u16, sport)
		__field(u16, dport)
		__field(u32, window)
		__field(u32, data)
		__field(u64, all)
		__field(u32, bytes)
	),

	TP_fast_assign(
		__entry->ns = ktime_get_ns();
		memcpy(__entry->dev, port->dev->name, IFNAMSIZ);
		__entry->netns = dev_net(port->dev)->ns.inum;
		__entry->prio = prio;
		__entry->sport = cnp->sport;
		__entry->dport = cnp->dport;
		__entry->window = cnp->window;
		__entry->data = data;
		__entry->all = all;
		__entry->bytes = port->queues[prio].length.bytes;
	),

	TP_printk("ns=%llu dev=%.16s netns=%u prio=%u sport=%u dport=%u window=%u data=%u of=%llu bytes=%u",
		  __entry->ns, __entry->dev, __entry->netns, __entry->prio, __entry->sport,
		  __entry->dport, __entry->window, __entry->data, __entry->all, __entry->bytes)
);

#endif /* _LABQ_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE labq_trace
#include <trace/define_trace.h>
