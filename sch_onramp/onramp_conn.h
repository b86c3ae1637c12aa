/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections, and each packet of one. onramp_net.h has what they belong to, and the locks.
 */
#ifndef _SCH_ONRAMP_CONN_H
#define _SCH_ONRAMP_CONN_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/prefetch.h>
#include <linux/tracepoint-defs.h>
#include <net/tcp.h>
#include <nic_ts.h>

#include "onramp_net.h"
#include "onramp_ring.h"

/*
 * Most connections of a namespace. Further ones are sent as by fq, and counted. One takes
 * 2.6 KB.
 */
#define ONRAMP_CONNS_MAX		(1 << 18)

/*
 * Records of a connection. Back-to-back packets share one. If more batches are in flight,
 * only some are recorded, see struct onramp_txring.
 */
#define ONRAMP_RECORDS		64

/*
 * Without an OR-ACK for this long, jiffies, nobody knows what of a forwarded connection is in
 * flight. Taking all for that would leave few records, when OR-ACKs come.
 */
#define ONRAMP_FORWARD_STALE	(HZ / 20)

DECLARE_TRACEPOINT(onramp_sent);

struct or_delay;

/* Unit of times in onramp_conn.delay, as a shift: 64 ns, so that 32 bits hold 275 s. */
#define ONRAMP_DELAY_SHIFT	6

/* struct onramp_conn_key - key of the table of connections, without padding */
struct onramp_conn_key {
	unsigned long	peer;
	u16		sport;
	u16		dport;
#if BITS_PER_LONG == 64
	u32		zero;
#endif
};

/**
 * struct onramp_conn - a TCP connection that On-Ramp follows
 * @node: in onramp_net.conns
 * @key: its peer, and its ports
 * @refs: flows of qdiscs, onramp_qdisc_shared.recheck, and onramp_conn_age()
 * @until: the end of the pause, a copy of @ctrl.until_ns to read without @lock
 * @ring: of @rec
 * @cum_ns: onramp_ctrl_cum_pause() of @ctrl from the end of the pause on
 * @byte_ns: time of a byte of payload, Q20 ns, for packets of @mss
 * @line_bps: rate of the link for @byte_ns
 * @mss: payload of its full packets
 * @waits: there is a @waiter
 * @counts: a copy of @burst.open
 * @stale: forwarded: no OR-ACK has come for long, and @una may be that of long ago
 * @lock: of all but @node to @until, and @peer
 * @peer: where it sends to
 * @seen_ns: forwarded: when its data last left a qdisc while @peer was silent, or when it was
 *	attached; @other_netns: that
 * @meter: forwarded: its rate
 * @acked: jiffies of the last OR-ACK
 * @una: of a forwarded connection: first sequence number that no OR-ACK has named
 * @forwarded: it has no socket here
 * @other_netns: its socket is in another namespace
 * @closed: forwarded, and its host has closed it; the qdisc's lock
 * @sk: address of its socket, to compare only, and key of its flow. Only its packets hold the
 *	socket, and they may all have left. Of a forwarded one the key of its flow
 * @hash: of the socket
 * @trip_ns: from a packet's departure from the qdisc until its OR-ACK, the last one; 0: none yet.
 *	     The qdisc reads it without @lock
 * @empty_ns: when an OR-ACK last said that the data which had left last found the path empty,
 *	      to read without @lock
 * @delay: for congestion controls: that of the last OR-ACK that counted, ns, and in the upper half
 *	   when its data left, in units of 64 ns. A delay of 0 counts as 1; 0: none yet
 * @shared: of the qdisc that sent last
 * @waiter: key of the flow that waits for @until, or after a pause for its rate, in the qdisc of
 *	    @shared, or 0
 * @ctrl: the controller
 * @path: the connection's own measurements of its path
 * @burst: its part of @peer->window, under both locks
 * @replay: counts of OR-ACKs
 * @anew: of the peer, when the last OR-ACK came
 * @epoch: of the peer, when the last OR-ACK came
 * @accounted_ns: part of the time paused that is in the statistics
 * @peer_ns: part of the time paused that is in @peer->paused_ns
 * @pause_from_ns: when the pause began; 0: none, or it is in the statistics
 * @pauses: number of pauses
 * @verdicts: number of OR-ACKs by verdict
 * @of_peer: in onramp_peer.conns, under the peer's lock
 * @via: way of its data, likewise
 * @ifindex: device of the qdisc that @via is of, likewise
 * @recheck: in onramp_qdisc_shared.recheck, which holds a reference
 * @queued: @recheck is in that list; bit 0, atomic
 * @rec: transmission records
 * @rcu: to free it
 */
struct onramp_conn {
	struct rhash_head	node;
	struct onramp_conn_key	key;
	refcount_t		refs;

	/* A packet that leaves needs two lines, up to meter.bytes, and writes to one of @rec. */
	atomic64_t		until ____cacheline_aligned;
	struct onramp_txring	ring;

	u64			cum_ns;
	u64			byte_ns;
	u64			line_bps;
	u16			mss;
	u8			waits:1;
	u8			counts:1;
	u8			stale:1;
	spinlock_t		lock;		/* all but peer, and the fields above ring */
	struct onramp_peer	*peer;
	struct onramp_qdisc_shared *shared;
	struct onramp_fwd_meter	meter;

	unsigned long		waiter;
	u64			seen_ns;
	unsigned long		acked;
	u32			una;
	bool			forwarded;
	bool			other_netns;
	bool			closed;

	unsigned long		sk;
	u32			hash;
	u32			trip_ns;
	atomic64_t		empty_ns;
	atomic64_t		delay;
	struct onramp_ctrl	ctrl;
	struct onramp_conn_path	path;
	struct onramp_burst	burst;
	struct or_replay	replay;
	u32			anew;
	u32			epoch;
	u64			accounted_ns;
	u64			peer_ns;
	u64			pause_from_ns;
	u64			pauses;
	u64			verdicts[ONRAMP_CONN_VERDICTS];
	struct list_head	of_peer;
	struct or_via		via;
	int			ifindex;
	struct llist_node	recheck;
	unsigned long		queued;
	struct rcu_head		rcu;
	/* Two records have a line; none is in two. */
	struct onramp_tx	rec[ONRAMP_RECORDS] ____cacheline_aligned;
};

/* onramp_conn_prefetch() - prepare for onramp_conn_sent(): data has been queued */
static inline void onramp_conn_prefetch(const struct onramp_conn *conn)
{
	prefetchw(&conn->until);
	prefetchw(&conn->cum_ns);
}

/* onramp_conn_next_record() - return the number of the record that comes next; the qdisc's lock */
static inline u32 onramp_conn_next_record(const struct onramp_conn *conn)
{
	return READ_ONCE(conn->ring.head) % ONRAMP_RECORDS;
}

/* onramp_conn.c */
int onramp_conn_cache_create(void);
void onramp_conn_cache_destroy(void);
extern const struct rhashtable_params onramp_conn_table;
struct onramp_qdisc_shared *onramp_shared_create(const struct net_device *dev);
void onramp_shared_put(struct onramp_qdisc_shared *shared);
void onramp_shared_close(struct onramp_qdisc_shared *shared);
void onramp_shared_arm(struct onramp_qdisc_shared *shared, struct Qdisc *sch);
void onramp_shared_disarm(struct onramp_qdisc_shared *shared);
void onramp_shared_set(struct onramp_qdisc_shared *shared, struct onramp_settings *settings);
struct onramp_conn *onramp_conn_find_or_create(struct onramp_qdisc_shared *shared,
					       const struct sk_buff *skb,
					       const struct or_egress *egress, u32 rtt_us,
					       u64 near_ns, u64 now);
void onramp_addrs(const struct sk_buff *skb, const struct sock *sk, struct or_addrs *addrs);
u32 onramp_scope(const struct sk_buff *skb, struct net_device *dev, const struct in6_addr *addr);
void onramp_conn_own(struct onramp_conn *conn, const struct sock *sk, unsigned long key,
		     bool other_netns, u64 now);
void onramp_conn_put(struct onramp_conn *conn);
bool onramp_conn_delay(const struct sock *sk, u64 now_ns, struct or_delay *delay);
struct onramp_conn *onramp_conn_find(struct onramp_net *onet, const struct onramp_peer *peer,
				     u16 sport, u16 dport);
void onramp_conn_account(struct onramp_conn *conn, u64 now);
void onramp_conn_publish(struct onramp_conn *conn, u64 now);
void onramp_shared_recheck(struct onramp_qdisc_shared *shared, struct onramp_conn *conn);
void onramp_conn_wait(struct onramp_conn *conn, struct onramp_qdisc_shared *shared,
		      unsigned long key, u64 now);
void onramp_conn_held(struct onramp_conn *conn, struct onramp_qdisc_shared *shared, u64 until_ns,
		      u64 now);
void onramp_conn_move(struct onramp_conn *conn, struct onramp_qdisc_shared *shared);
void onramp_conn_size(struct onramp_conn *conn, u32 mss, u32 headers, u64 line_bps);
u64 onramp_conn_ask(struct onramp_conn *conn, const struct sock *sk, u32 len, u64 most_ns,
		    u64 now);
void onramp_conn_burst(struct onramp_conn *conn, const struct sock *sk, u32 seq, u32 end,
		       bool first, u64 now);
void onramp_conn_look(struct onramp_conn *conn, u32 seq);
void onramp_conn_again(struct onramp_conn *conn, u64 now);
void onramp_conn_sent_trace(const struct onramp_conn *conn, u64 now, u64 tx_ns, u32 seq, u32 end,
			    u64 cum_ns);

/* onramp_ack.c */
void onramp_conn_rcv(struct net *net, const struct or_addrs *addrs, int ifindex, u32 mark,
		     const u8 *msg, unsigned int len);
bool onramp_conn_take(struct onramp_net *onet, const struct or_addrs *addrs, const u8 *msg,
		      unsigned int len);

/* onramp_age.c */
void onramp_conn_age(struct work_struct *work);

/* onramp_netlink.c */
int onramp_put_stats(struct sk_buff *msg, struct net *net);

/* onramp_genl.c */
void onramp_genl_init(void);
void onramp_genl_exit(void);

/* Each packet -------------------------------------------------------------- */

/**
 * onramp_skb_sk() - return the TCP socket of a packet of a connection
 * @skb: the packet
 *
 * A packet of a virtual machine may belong to the socket of its tap or macvtap, of no family.
 *
 * Return: the socket; NULL: a forwarded connection.
 */
static inline struct sock *onramp_skb_sk(const struct sk_buff *skb)
{
	return likely(skb->sk) && likely(skb->sk->sk_family != AF_UNSPEC) ? skb->sk : NULL;
}

/**
 * onramp_ipv6_headers() - return the length of the headers from IPv6's to TCP's
 * @skb: a packet of IPv6, whose header is in one piece
 *
 * Before Linux 7.0 a batch of more than 64 KB (BIG TCP) has a hop-by-hop header with its length,
 * which is taken out when the batch is cut into packets. No other extension header counts.
 *
 * Return: bytes; 0: TCP does not follow.
 */
static inline u32 onramp_ipv6_headers(const struct sk_buff *skb)
{
	const struct ipv6hdr *ip6h = ipv6_hdr(skb);
	const u8 *jumbo;
	u8 buf[8];

	if (likely(ip6h->nexthdr == IPPROTO_TCP))
		return sizeof(*ip6h);
	if (ip6h->nexthdr != IPPROTO_HOPOPTS || !skb_is_gso(skb))
		return 0;
	jumbo = skb_header_pointer(skb, skb_network_offset(skb) + sizeof(*ip6h), sizeof(buf), buf);
	if (!jumbo || jumbo[0] != IPPROTO_TCP || jumbo[1] || jumbo[2] != IPV6_TLV_JUMBO)
		return 0;
	return sizeof(*ip6h) + sizeof(buf);
}

/**
 * onramp_tcp_headers() - return the length of the headers of a TCP connection's data
 * @skb: a packet in a qdisc
 *
 * Packets in a tunnel, encrypted ones, and those with other extension headers do not count: their
 * outermost headers are not the connection's own. The receiver would not see them either.
 *
 * Return: bytes before its payload; 0: it is no such packet, or has no payload.
 */
static inline u32 onramp_tcp_headers(const struct sk_buff *skb)
{
	u32 transport = skb->network_header, headers, ipv6;

	if (skb->encapsulation || !skb_transport_header_was_set(skb))
		return 0;
	switch (skb_protocol(skb, true)) {
	case htons(ETH_P_IP):
		if (ip_hdr(skb)->protocol != IPPROTO_TCP || ip_is_fragment(ip_hdr(skb)))
			return 0;
		transport += ip_hdrlen(skb);
		break;
	case htons(ETH_P_IPV6):
		ipv6 = onramp_ipv6_headers(skb);
		if (!ipv6)
			return 0;
		transport += ipv6;
		break;
	default:
		return 0;
	}
	if (transport != skb->transport_header)
		return 0;
	headers = skb_transport_offset(skb) + tcp_hdrlen(skb);
	return skb->len > headers ? headers : 0;
}

/* Return until when data of a connection waits: for the end of its pause, and for a drain. */
static inline u64 onramp_conn_until(const struct onramp_conn *conn)
{
	return max_t(u64, atomic64_read(&conn->until), atomic64_read(&conn->peer->drained));
}

/* Return whether a drain has begun, and no data has left since. */
static inline bool onramp_conn_probes(const struct onramp_conn *conn)
{
	return unlikely(!(atomic64_read(&conn->peer->drained) & ONRAMP_DRAIN_PROBED));
}

/* Return whether a packet that leaves now is the probe; all others wait on, on all CPUs. */
static inline bool onramp_conn_probe(const struct onramp_conn *conn, u64 now)
{
	struct onramp_peer *peer = conn->peer;
	/* Pairs with onramp_conn_drain(). */
	s64 probe_ns = atomic64_read_acquire(&peer->drained);

	return !(probe_ns & ONRAMP_DRAIN_PROBED) && (s64)now >= probe_ns &&
	       atomic64_try_cmpxchg(&peer->drained, &probe_ns,
				    (probe_ns + READ_ONCE(peer->drain.rest_ns)) |
				    ONRAMP_DRAIN_PROBED);
}

/**
 * onramp_conn_drained_ns() - return the part of the last time in which all data to the host was
 *			      silent
 * @conn: a connection to the host
 * @now: CLOCK_MONOTONIC, ns
 * @ns: length of that time
 *
 * Context: any. Beside an OR-ACK that begins a silence it may be wrong, by that.
 */
static inline u64 onramp_conn_drained_ns(const struct onramp_conn *conn, u64 now, u64 ns)
{
	return onramp_drain_part_ns(atomic64_read(&conn->peer->drained),
				    READ_ONCE(conn->peer->drain.silent_ns), now, ns);
}

/* onramp_cum_ns() - call onramp_ctrl_cum_pause() for a connection; its lock */
static inline u64 onramp_cum_ns(const struct onramp_conn *conn, u64 now)
{
	if (likely((s64)now >= atomic64_read(&conn->until)))
		return conn->cum_ns;
	return onramp_ctrl_cum_pause(&conn->ctrl, now);
}

/*
 * Return whether new data from @seq on is the first of a burst. The qdisc also asks without the
 * connection's lock: if it sees old values, one packet waits that should not, or the reverse.
 */
static inline bool onramp_conn_first(const struct onramp_conn *conn, u32 seq)
{
	return !READ_ONCE(conn->ring.count) ||
	       (READ_ONCE(conn->ring.all) && (s32)(seq - READ_ONCE(conn->ring.next)) >= 0);
}

/**
 * onramp_conn_sent() - record data that leaves a qdisc
 * @conn: its connection
 * @shared: of the qdisc
 * @skb: the packet
 * @headers: of onramp_tcp_headers(), not 0
 * @line_bps: of the link, bytes/s; 0: unknown
 * @start_q: of onramp_fifo_start()
 * @time_q: of onramp_fifo_time()
 * @queued_ns: when the packet came to the qdisc, or its EDT
 * @more: other packets of its flow are in the qdisc
 * @now: CLOCK_MONOTONIC, ns
 *
 * Context: the qdisc's lock.
 */
static inline void onramp_conn_sent(struct onramp_conn *conn, struct onramp_qdisc_shared *shared,
				    const struct sk_buff *skb, u32 headers, u64 line_bps,
				    u64 start_q, u64 time_q, u64 queued_ns, bool more, u64 now)
{
	const struct sock *sk = onramp_skb_sk(skb);
	const struct tcp_sock *tp = likely(sk) ? tcp_sk(sk) : NULL;
	u32 seq = ntohl(tcp_hdr(skb)->seq), payload = skb->len - headers, mss;
	const u32 *una = &conn->una;
	u64 tx_ns, cum_ns;
	bool first, drained;

	/* Without answers a record is of no use. */
	if (READ_ONCE(conn->peer->silent)) {
		/* But the next SUBSCRIBE has to leave by the same device. */
		if (unlikely(READ_ONCE(conn->shared) != shared)) {
			spin_lock(&conn->lock);
			onramp_conn_move(conn, shared);
			spin_unlock(&conn->lock);
		}
		/* onramp_conn_lives() reads it without a lock. */
		if (!tp)
			WRITE_ONCE(conn->seen_ns, now);
		return;
	}
	spin_lock(&conn->lock);
	if (unlikely(conn->shared != shared))
		onramp_conn_move(conn, shared);
	/* onramp_recheck() reads it without the lock. */
	if (unlikely(conn->waits)) {
		conn->waits = false;
		WRITE_ONCE(conn->waiter, 0);
	}
	mss = skb_shinfo(skb)->gso_size ?: max_t(u32, payload, conn->mss);
	if (unlikely(mss != conn->mss || line_bps != conn->line_bps))
		onramp_conn_size(conn, mss, headers, line_bps);
	if (likely(tp))
		onramp_tx_own(&conn->ring, seq, &tp->write_seq);
	first = onramp_conn_first(conn, seq);
	if (unlikely(first || conn->counts) && onramp_window_known(&conn->peer->window))
		onramp_conn_burst(conn, sk, seq, seq + payload, first, now);
	tx_ns = onramp_fifo_ns(start_q, now) +
		onramp_fifo_rest(time_q, onramp_own_ns(conn->byte_ns, seq, seq + payload));
	cum_ns = onramp_cum_ns(conn, now);
	/* On fast links others' first packets prove the path soon, and small buffers lose less. */
	drained = onramp_tx_drained(&conn->ring, (u64)atomic64_read(&conn->peer->drained),
				    line_bps <= ONRAMP_SLOW_LINK_BPS);
	if (likely(tp)) {
		una = &tp->snd_una;
	} else {
		/* The time of a silence says nothing of the rate either. */
		if (unlikely(drained || onramp_fwd_is_break(queued_ns, conn->ring.sent_ns,
							    conn->trip_ns)))
			onramp_fwd_meter_break(&conn->meter);
		onramp_fwd_meter_add(&conn->meter, skb->len, now);
		/* Once in a while is enough for a field with cache lines of its own. */
		if (unlikely(conn->meter.from_ns == now))
			onramp_conn_look(conn, seq);
		if (conn->stale)
			una = &seq;
	}
	if (unlikely(onramp_tx_append(&conn->ring, seq, seq + payload, now, tx_ns, cum_ns,
				      conn->byte_ns, una)))
		onramp_conn_again(conn, now);
	/* Only a packet with PSH can be the last that was written. */
	conn->ring.all = tcp_hdr(skb)->psh &&
			 (likely(tp) ? READ_ONCE(tp->write_seq) == seq + payload : !more);
	if (tracepoint_enabled(onramp_sent))
		onramp_conn_sent_trace(conn, now, tx_ns, seq, seq + payload, cum_ns);
	spin_unlock(&conn->lock);
}

#endif /* _SCH_ONRAMP_CONN_H */
