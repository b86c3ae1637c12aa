/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections, peers and links: the part of On-Ramp that pauses flows. onramp_conn.c,
 * onramp_ack.c and onramp_peer.c describe what it does.
 *
 *	namespace	onramp_net: peers, connections, the port
 *	  peer		onramp_peer: an address, and the local one that it is reached by
 *	    connection	onramp_conn: a TCP connection, with its controller
 *	device		onramp_link: rate, and model of the queue before the wire
 *	  qdisc		onramp_qref: what connections may touch of a qdisc
 *
 * References: a flow of a qdisc holds its connection. A connection holds its peer and the
 * onramp_qref of the qdisc that last sent for it. A qdisc holds its link.
 *
 * Locks, from the outermost to the innermost; all but the first with BH disabled:
 *	RTNL		links, and their rates
 *	qdisc's lock	its flows
 *	conn->lock	controller, transmission records, conn->qref
 *	peer->lock	keys, baseline, the delay that new connections inherit
 *	qref->lock	whether the qdisc still exists
 *	onramp_net.lock	list of peers, counters of forwarded connections
 * Sending a packet takes the first two spinlocks. An OR-ACK takes those of the connection and
 * the peer, and qref->lock if a flow may go on earlier, but never the qdisc's.
 */
#ifndef _SCH_ONRAMP_CONN_H
#define _SCH_ONRAMP_CONN_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/llist.h>
#include <linux/netdevice.h>
#include <linux/prefetch.h>
#include <linux/refcount.h>
#include <linux/rhashtable.h>
#include <linux/spinlock.h>
#include <linux/tracepoint-defs.h>
#include <linux/u64_stats_sync.h>
#include <linux/workqueue.h>
#include <net/tcp.h>
#include <nic_ts.h>
#include <or_genl.h>
#include <or_path.h>
#include <or_port.h>
#include <or_proto.h>
#include <uapi/onramp.h>
#include <uapi/onramp_genl.h>

#include "onramp_core.h"
#include "onramp_drain.h"
#include "onramp_fifo.h"
#include "onramp_fwd.h"
#include "onramp_owd.h"
#include "onramp_path.h"
#include "onramp_ring.h"
#include "onramp_window.h"

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

/* Classes of one-way delay: four for each power of two, up to 2^34 ns. */
#define ONRAMP_OWD_CLASSES	(4 * 34)

/* Delays of a peer in its classes: at this many all classes are halved. */
#define ONRAMP_PEER_OWDS_MAX	32768

DECLARE_TRACEPOINT(onramp_sent);

/*
 * Counters of one qdisc: identifier, and the statistic of ONRAMP_STATS that it is added to;
 * UNSPEC: none. Those of enum onramp_verdict come first.
 */
#define ONRAMP_QREF_STATS \
	ONRAMP_QREF_STAT(LEARNING, ACKS_LEARNING) \
	ONRAMP_QREF_STAT(UNSYNCED, ACKS_UNSYNCED) \
	ONRAMP_QREF_STAT(NO_MAP, ACKS_NO_MAP) \
	ONRAMP_QREF_STAT(NOT_IN_FLIGHT, ACKS_NOT_IN_FLIGHT) \
	ONRAMP_QREF_STAT(AMBIGUOUS, ACKS_AMBIGUOUS) \
	ONRAMP_QREF_STAT(REPLAY, ACKS_REPLAY) \
	ONRAMP_QREF_STAT(OLD, ACKS_OLD) \
	ONRAMP_QREF_STAT(PAUSES, PAUSES) \
	ONRAMP_QREF_STAT(PAUSED_NS, PAUSED_NS) \
	ONRAMP_QREF_STAT(INHERITED, INHERITED) \
	ONRAMP_QREF_STAT(RECHECKS, PAUSE_SHORTER) \
	ONRAMP_QREF_STAT(HELD, HELD) \
	ONRAMP_QREF_STAT(HELD_LATE_NS, UNSPEC) \
	ONRAMP_QREF_STAT(LIMITED, ACKS_LIMITED) \
	ONRAMP_QREF_STAT(PAUSE_ENDS, PAUSE_ENDS) \
	ONRAMP_QREF_STAT(PAUSE_ENDS_EMPTY, PAUSE_ENDS_EMPTY) \
	ONRAMP_QREF_STAT(LET_GO, ACKS_LET_GO) \
	ONRAMP_QREF_STAT(LONGER, ACKS_LONGER) \
	ONRAMP_QREF_STAT(DRAINS, DRAINS) \
	ONRAMP_QREF_STAT(PROOFS, DRAIN_PROOFS) \
	ONRAMP_QREF_STAT(VOIDS, DRAIN_VOIDS)

enum onramp_qref_stat {
	ONRAMP_Q_VERDICTS = ONRAMP_VERDICTS - 1,
#define ONRAMP_QREF_STAT(id, stat)	ONRAMP_Q_##id,
	ONRAMP_QREF_STATS
#undef ONRAMP_QREF_STAT
	ONRAMP_Q_STATS
};

/* Verdicts on an OR-ACK of a connection: enum onramp_verdict, and those up to OLD. */
#define ONRAMP_CONN_VERDICTS	(ONRAMP_Q_OLD + 1)

/* Counters of a namespace. Those of enum or_error come first. */
#define ONRAMP_NET_STATS \
	ONRAMP_NET_STAT(NO_PEER, ACKS_NO_PEER) \
	ONRAMP_NET_STAT(NO_FLOW, ACKS_NO_FLOW) \
	ONRAMP_NET_STAT(SUBSCRIBES, SUBSCRIBES) \
	ONRAMP_NET_STAT(SUBSCRIBE_ERRORS, SUBSCRIBE_ERRORS) \
	ONRAMP_NET_STAT(PORT_ERRORS, PORT_ERRORS) \
	ONRAMP_NET_STAT(NO_MEMORY, NO_CONNECTION) \
	ONRAMP_NET_STAT(FULL, CONNECTIONS_FULL) \
	ONRAMP_NET_STAT(CHALLENGES, CHALLENGES) \
	ONRAMP_NET_STAT(CHALLENGES_REFUSED, CHALLENGES_REFUSED) \
	ONRAMP_NET_STAT(EVICTED, PEERS_EVICTED) \
	ONRAMP_NET_STAT(CLOSED, CONNECTIONS_CLOSED) \
	ONRAMP_NET_STAT(FORWARD_FULL, FORWARD_FULL) \
	ONRAMP_NET_STAT(FORWARD_YIELDS, FORWARD_YIELDS) \
	ONRAMP_NET_STAT(FORWARD_STRAYS, FORWARD_STRAYS) \
	ONRAMP_NET_STAT(FORWARD_SMALL, FORWARD_SMALL)

enum onramp_net_stat {
	ONRAMP_N_ERRORS = OR_ERRORS - 1,
#define ONRAMP_NET_STAT(id, stat)	ONRAMP_N_##id,
	ONRAMP_NET_STATS
#undef ONRAMP_NET_STAT
	ONRAMP_N_STATS
};

/**
 * struct onramp_settings - settings of a qdisc that its connections use
 * @core: of the decision; its threshold is 0 with threshold auto
 * @owd: enum onramp_owd_mode
 * @clock: enum onramp_clock, owd synced
 * @inherit: new connections start with the delay of their path
 * @bound: limit delays to what the round trip allows
 * @clock_error_ns: of that clock, owd synced
 * @rcu: to free it
 */
struct onramp_settings {
	struct onramp_ctrl_params	core;
	u8			owd;
	u8			clock;
	bool			inherit;
	bool			bound;
	u64			clock_error_ns;
	struct rcu_head		rcu;
};

/**
 * struct onramp_qref_stats - counters of a qdisc
 * @n: by enum onramp_qref_stat
 * @owd: OR-ACKs by the class of their delay
 * @pause_max_ns: longest pause
 * @held_late_max_ns: most that a packet was late after a pause
 *
 * Each has one copy, for all CPUs: 128 queues of 128 CPUs would have 21 MB of them. An OR-ACK,
 * which takes the lock of its path, adds to two.
 */
struct onramp_qref_stats {
	atomic64_t		n[ONRAMP_Q_STATS];
	atomic64_t		owd[ONRAMP_OWD_CLASSES];
	atomic64_t		pause_max_ns;
	atomic64_t		held_late_max_ns;
};

/* struct onramp_net_stats - of one CPU; written with BH disabled */
struct onramp_net_stats {
	struct u64_stats_sync	syncp;
	u64			n[ONRAMP_N_STATS];
};

/* Connections that a qdisc follows. */
#define ONRAMP_FOLLOWS_SOCKETS		1U	/* of sockets of its namespace */
#define ONRAMP_FOLLOWS_FORWARDED	2U	/* all others */

/**
 * struct onramp_link - a device, shared by all its qdiscs
 * @list: in the list of all links
 * @dev: the device; a qdisc on it holds it
 * @users: qdiscs
 * @follows: qdiscs that follow connections: their mode is not off
 * @follows_forwarded: those of them with "forward on"
 * @below: ONRAMP_FOLLOWS_* of the devices below it that its packets leave by
 * @auto_bps: speed of its wire, bytes/s; 0: it has none, or does not report one
 * @tunnel: the wire is that of a device below, which has a queue of its own before it
 * @fifo_q: when the last packet that left will be on the wire, see onramp_fifo.h
 * @checked: time >> ONRAMP_FIFO_CHECK_SHIFT of the last comparison with the bytes in flight
 * @forwards: qdiscs with "forward on"
 * @hook: of packets that come in by the device; while @forwards
 *
 * RTNL, except for @below, @auto_bps, @tunnel, @fifo_q and @checked, which packets read and write.
 */
struct onramp_link {
	struct list_head	list;
	struct net_device	*dev;
	unsigned int		users;
	unsigned int		follows;
	unsigned int		follows_forwarded;
	unsigned int		forwards;
	struct onramp_hook	*hook;
	u64			auto_bps;
	bool			tunnel;
	u8			below;
	atomic64_t		fifo_q ____cacheline_aligned_in_smp;
	u32			checked;
};

/* Bits of onramp_qref.flags. */
enum onramp_qref_flag {
	ONRAMP_QREF_MAPPED,	/* clock nic: the last OR-ACK found a valid map */
	ONRAMP_QREF_MAP_LOST,	/* an event to tell of: that is no longer so */
};

/**
 * struct onramp_qref - the part of a qdisc that connections may touch; it may outlive the qdisc
 * @refs: the qdisc, and connections
 * @onet: its namespace
 * @ifindex: of its device, constant
 * @flags: enum onramp_qref_flag, atomic
 * @list: in onramp_net.qrefs, while there is a qdisc
 * @dev: of the qdisc, NULL once that is gone; to compare only
 * @lock: of @sch
 * @sch: the qdisc; NULL once it is reset, until it has a connection again
 * @recheck: connections whose pause has become shorter
 * @sizes: of connections without a socket or an entry, for the qdisc alone; NULL: it never had
 *	"forward on"
 * @slots: of flows that are forwarded connections, likewise
 * @settings: replaced as a whole
 * @last_owd_ns: of the last OR-ACK that counted. This and the next fields are statistics,
 *		 written without a lock
 * @last_baseline_ns: of its path, includes the difference of the clocks
 * @last_error_ns: error bound of its delay
 * @last_threshold_ns: its T
 * @last_slack_ns: slack in its T
 * @last_swing_ns: swing in its T
 * @last_beta: Q30
 * @rcu: to free it
 * @stats: its counters
 */
struct onramp_qref {
	refcount_t		refs;
	struct onramp_net	*onet;
	int			ifindex;
	unsigned long		flags;
	struct list_head	list;
	const struct net_device	*dev;
	spinlock_t		lock;		/* sch */
	struct Qdisc		*sch;
	struct llist_head	recheck;
	struct onramp_fwd_sizes	*sizes;
	struct onramp_forwarded_slots *slots;
	struct onramp_settings __rcu	*settings;
	u64			last_owd_ns;
	s64			last_baseline_ns;
	u64			last_error_ns;
	u64			last_threshold_ns;
	u64			last_slack_ns;
	u64			last_swing_ns;
	u32			last_beta;
	struct rcu_head		rcu;
	struct onramp_qref_stats stats ____cacheline_aligned_in_smp;
};

/**
 * struct onramp_net - a namespace
 * @net: the namespace
 * @peers: by their addresses
 * @conns: by peer and ports
 * @lock: protects the lists, @dying and @present, and serialises dropping the last reference of a
 *	peer
 * @list: all peers; the search for one to evict starts at the first
 * @evicted: peers that are no longer in @peers, until their work ends
 * @qrefs: of its qdiscs, RCU
 * @dying: the namespace is being destroyed
 * @age_work: looks for connections that are closed, while there is any
 * @n_peers: how many
 * @n_conns: how many
 * @port_error: of the last attempt to open the port, to log it once
 * @n_forwarded: entries of @forwarded
 * @n_timed: those whose RTT is being measured
 * @forwarded: connections without a socket here, see onramp_forward.c
 * @forward_work: forgets old ones, while there is any
 * @present: number of @forwarded by some bits of their hash, see onramp_forwarded_may_be();
 *	@lock, read without; NULL: no qdisc has had "forward on"
 * @timed: number of @n_timed by some bits of the hash of their connections, likewise
 * @stats: per CPU
 */
struct onramp_net {
	struct net		*net;
	struct rhashtable	peers;
	struct rhashtable	conns;
	spinlock_t		lock;		/* lists, dying, present */
	struct list_head	list;
	struct list_head	evicted;
	struct list_head	qrefs;
	bool			dying;
	struct delayed_work	age_work;
	atomic_t		n_peers;
	atomic_t		n_conns;
	int			port_error;
	atomic_t		n_forwarded;
	atomic_t		n_timed;
	struct rhashtable	forwarded;
	struct delayed_work	forward_work;
	u8			*present;
	atomic_t		*timed;
	struct onramp_net_stats __percpu *stats;
};

/* Bits of onramp_peer.flags. */
enum onramp_peer_flag {
	ONRAMP_PEER_CHALLENGED,	/* since the last SUBSCRIBE by time, and no more until the next */
	ONRAMP_PEER_ANSWERS,	/* its work is to send the cookie */
	ONRAMP_PEER_YIELDS,	/* a workload subscribes itself, until onramp_peer.yields_until */
	ONRAMP_PEER_UNWANTED,	/* it sends OR-ACKs, and has no connection */
};

/**
 * struct onramp_peer - a host that data is sent to, and the local address
 * @node: in onramp_net.peers
 * @addrs: the key
 * @refs: the table, and connections
 * @onet: its namespace
 * @list: in onramp_net.list or onramp_net.evicted
 * @work: sends SUBSCRIBEs, and frees the peer when it is no longer needed
 * @open: @work has opened the port for it; only @work
 * @idle: it has no connection, as far as @work has seen
 * @silent: too many SUBSCRIBEs had no answer; nothing is recorded for it
 * @heard: an OR-ACK with the right tag has come since the last SUBSCRIBE
 * @answered: a message with the right tag has ever come
 * @evicted: it has made room for another peer; its connections are dropped
 * @forwards: it has or had connections without a socket of this namespace
 * @foreign: the local address is not of this host, as of the last SUBSCRIBE
 * @yields_until: jiffies, with ONRAMP_PEER_YIELDS
 * @rtt_us: shortest RTT of its connections when On-Ramp met them; U32_MAX: unknown
 * @drained: until when data waits for the last drain, see ONRAMP_DRAIN_PROBED; to read without
 *	@lock. The qdisc that changes it has the probe
 * @lost_ns: when data to it was last sent again, without @lock
 * @heard_at: jiffies of the last message with the right tag, if it has @answered
 * @flags: enum onramp_peer_flag, atomic
 * @lock: of all below, except for what only @work uses
 * @key: of tags
 * @old_key: the key before, while the peer may not know the new one
 * @has_old: @old_key is valid
 * @cookie: of the last CHALLENGE with this nonce, else 0
 * @asked: count of the last SUBSCRIBE, 0: none was sent
 * @anew: CHALLENGEs so far; after each one the counts of OR-ACKs start over
 * @has_domain: @domain is valid
 * @domain: of the peer's clock
 * @epoch: changes when delays can't be compared with earlier ones
 * @line_bps: of the link that @owd is of, bytes/s; 0: unknown
 * @owd: baseline
 * @drain: drains, that a proof for @owd comes from
 * @last_owd_ns: the path's last delay, for new connections; a decision may not have used it
 * @last_owd_at_ns: when its OR-ACK came; 0: none has
 * @last_owd_tx_ns: when its packet was sent
 * @last_error_ns: its error bound
 * @last_threshold_ns: its T
 * @last_swing_ns: swing in it
 * @last_baseline_ns: baseline of that delay
 * @last_absolute: that delay is by synchronised clocks, without a baseline
 * @baseline: enum onramp_baseline_state, as of the last OR-ACK
 * @events: bit of each enum onramp_event to tell of
 * @acks: OR-ACKs with the right tag
 * @acks_counted: OR-ACKs with a delay that a decision used
 * @way: of those connections: how their packets leave
 * @conns: its connections, that which began last first
 * @via: way of the data of the first of them, as of the last SUBSCRIBE
 * @paused_ns: sum of the pauses of its connections
 * @owds: delays of those by class, the last ones
 * @n_owds: sum of @owds
 * @path: routes, swing and slack of the path
 * @nonce: @key is derived from it, only @work
 * @count: of SUBSCRIBEs, only @work
 * @next: jiffies of the next SUBSCRIBE by time, only @work
 * @tries: SUBSCRIBEs since the last OR-ACK, written by @work only
 * @nonce_at: jiffies when the nonce was made, only @work
 * @idle_at: jiffies since when it is idle, only @work
 * @leaves: SUBSCRIBEs that ended the subscription since the last that asked for one, only @work
 * @leave_at: jiffies before which no further one is sent, with @leaves, only @work
 * @rcu: to free it
 */
struct onramp_peer {
	struct rhash_head	node;
	struct or_addrs		addrs;
	refcount_t		refs;
	struct onramp_net	*onet;
	struct list_head	list;
	struct delayed_work	work;
	bool			open;
	bool			idle;
	bool			silent;
	bool			heard;
	bool			answered;
	bool			evicted;
	bool			forwards;
	bool			foreign;
	u32			rtt_us;
	atomic64_t		drained;
	atomic64_t		lost_ns;
	unsigned long		yields_until;
	unsigned long		heard_at;
	unsigned long		flags;

	spinlock_t		lock;		/* the next ones */
	u64			cookie;		/* no array: a lock may have no size */
	u8			key[OR_KEY_LEN];
	u8			old_key[OR_KEY_LEN];
	u32			asked;
	u32			anew;
	bool			has_old;
	bool			has_domain;
	u8			domain;
	u32			epoch;
	u64			last_owd_ns;
	u64			last_owd_at_ns;
	u64			last_owd_tx_ns;
	u64			last_error_ns;
	u64			last_threshold_ns;
	u64			last_swing_ns;
	s64			last_baseline_ns;
	bool			last_absolute;
	u8			baseline;
	u8			events;
	u64			acks;
	u64			acks_counted;
	struct or_way		way;
	struct list_head	conns;
	struct or_via		via;
	u64			paused_ns;
	u64			line_bps;
	struct onramp_owd	owd;
	struct onramp_drain	drain;
	struct onramp_path	path;
	struct onramp_window	window;
	u32			n_owds;
	u16			owds[ONRAMP_OWD_CLASSES];

	u8			nonce[OR_NONCE_LEN];
	u32			count;
	unsigned long		next;
	unsigned int		tries;
	unsigned long		nonce_at;
	unsigned long		idle_at;
	unsigned int		leaves;
	unsigned long		leave_at;
	struct rcu_head		rcu;
};

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
 * @refs: flows of qdiscs, onramp_qref.recheck, and onramp_conn_age()
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
 *	attached; @away: that
 * @meter: forwarded: its rate
 * @acked: jiffies of the last OR-ACK
 * @una: of a forwarded connection: first sequence number that no OR-ACK has named
 * @forwarded: it has no socket here
 * @away: its socket is in another namespace
 * @closed: forwarded, and its host has closed it; the qdisc's lock
 * @sk: address of its socket, to compare only, and key of its flow. Only its packets hold the
 *	socket, and they may all have left. Of a forwarded one the key of its flow
 * @hash: of the socket
 * @trip_ns: from a packet's departure from the qdisc until its OR-ACK, the last one; 0: none yet.
 *	     The qdisc reads it without @lock
 * @empty_ns: when an OR-ACK last said that the data which had left last found the path empty,
 *	      to read without @lock
 * @qref: of the qdisc that sent last
 * @waiter: key of the flow that waits for @until, or after a pause for its rate, in the qdisc of
 *	    @qref, or 0
 * @ctrl: the controller
 * @view: the connection's own measurements of its path
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
 * @recheck: in onramp_qref.recheck, which holds a reference
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
	struct onramp_qref	*qref;
	struct onramp_fwd_meter	meter;

	unsigned long		waiter;
	u64			seen_ns;
	unsigned long		acked;
	u32			una;
	bool			forwarded;
	bool			away;
	bool			closed;

	unsigned long		sk;
	u32			hash;
	u32			trip_ns;
	atomic64_t		empty_ns;
	struct onramp_ctrl	ctrl;
	struct onramp_view	view;
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

/* onramp_conn_slot() - return the number of the record that comes next; the qdisc's lock */
static inline u32 onramp_conn_slot(const struct onramp_conn *conn)
{
	return READ_ONCE(conn->ring.head) % ONRAMP_RECORDS;
}

/**
 * onramp_is_near() - return whether a host is near enough to ask it for OR-ACKs
 * @rtt_us: shortest RTT, U32_MAX: unknown
 * @near_ns: limit, 0: any host is near
 */
static inline bool onramp_is_near(u32 rtt_us, u64 near_ns)
{
	return !near_ns || (rtt_us != U32_MAX && (u64)rtt_us * NSEC_PER_USEC < near_ns);
}

/* Statistics --------------------------------------------------------------- */

/* onramp_qref_add() - add to a counter of a qdisc; any context */
static inline void onramp_qref_add(struct onramp_qref *qref, unsigned int id, u64 n)
{
	if (n)
		atomic64_add(n, &qref->stats.n[id]);
}

/* onramp_stats_max() - note a value, of which the highest is kept; any context */
static inline void onramp_stats_max(atomic64_t *max, u64 value)
{
	s64 old = atomic64_read(max);

	while (value > (u64)old && !atomic64_try_cmpxchg(max, &old, value))
		;
}

/* onramp_net_count() - count in a namespace; BH disabled */
static inline void onramp_net_count(const struct onramp_net *onet, unsigned int id)
{
	struct onramp_net_stats *stats = this_cpu_ptr(onet->stats);

	/* With PREEMPT_RT other tasks of this CPU are let in, and a count would be lost. */
	preempt_disable_nested();
	u64_stats_update_begin(&stats->syncp);
	stats->n[id]++;
	u64_stats_update_end(&stats->syncp);
	preempt_enable_nested();
}

/* onramp_conn.c */
int onramp_conn_cache_create(void);
void onramp_conn_cache_destroy(void);
extern const struct rhashtable_params onramp_conn_table;
struct onramp_qref *onramp_qref_create(const struct net_device *dev);
void onramp_qref_put(struct onramp_qref *qref);
void onramp_qref_close(struct onramp_qref *qref);
void onramp_qref_arm(struct onramp_qref *qref, struct Qdisc *sch);
void onramp_qref_disarm(struct onramp_qref *qref);
void onramp_qref_set(struct onramp_qref *qref, struct onramp_settings *settings);
struct onramp_conn *onramp_conn_find_or_create(struct onramp_qref *qref, const struct sk_buff *skb,
					       const struct or_way *way, u32 rtt_us, u64 near_ns,
					       u64 now);
u32 onramp_scope(const struct sk_buff *skb, struct net_device *dev, const struct in6_addr *addr);
void onramp_conn_own(struct onramp_conn *conn, const struct sock *sk, unsigned long key, bool away,
		     u64 now);
void onramp_conn_age(struct work_struct *work);
void onramp_conn_put(struct onramp_conn *conn);
struct onramp_conn *onramp_conn_find(struct onramp_net *onet, const struct onramp_peer *peer,
				     u16 sport, u16 dport);
void onramp_conn_account(struct onramp_conn *conn, u64 now);
void onramp_conn_publish(struct onramp_conn *conn, u64 now);
void onramp_qref_recheck(struct onramp_qref *qref, struct onramp_conn *conn);
void onramp_conn_wait(struct onramp_conn *conn, struct onramp_qref *qref, unsigned long key,
		      u64 now);
void onramp_conn_held(struct onramp_conn *conn, struct onramp_qref *qref, u64 until_ns, u64 now);
void onramp_conn_move(struct onramp_conn *conn, struct onramp_qref *qref);
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
u32 onramp_owd_class(u64 ns);
u64 onramp_owd_class_end(u32 class);

/* onramp_peer.c */
extern struct workqueue_struct *onramp_wq;
int onramp_peer_module_init(void);
void onramp_peer_module_exit(void);
struct onramp_net *onramp_net(const struct net *net);
struct onramp_peer *onramp_peer_find(struct onramp_net *onet, const struct or_addrs *addrs);
struct onramp_peer *onramp_peer_find_or_create(struct onramp_net *onet,
					       const struct or_addrs *addrs,
					       const struct or_way *way, const struct or_via *via,
					       struct sock *sk, u32 rtt_us, u64 near_ns);
void onramp_peer_put(struct onramp_peer *peer);
bool onramp_peer_verify(struct onramp_peer *peer, const u8 *msg);
void onramp_peer_unwanted(struct onramp_peer *peer);
bool onramp_peer_take(struct onramp_net *onet, const struct or_addrs *addrs, const u8 *msg,
		      unsigned int len);
bool onramp_peer_is_way(struct onramp_peer *peer, const struct or_way *way);
bool onramp_peer_is_own(struct onramp_peer *peer, const u8 *msg, unsigned int len);
void onramp_peer_yield(struct onramp_peer *peer, unsigned long delay);

/* onramp_forward.c */
struct onramp_flow;
struct onramp_forwarded;
struct onramp_forwarded_slots;

/**
 * struct onramp_seen - what a packet of a forwarded connection says
 * @entry: its entry; NULL: On-Ramp follows @flow
 * @key: of its flow, if there is @entry
 * @flow: its flow in this qdisc; NULL: unknown
 * @headers: of onramp_tcp_headers()
 * @closed: its host has closed the connection
 * @was_closed: before this packet
 * @keeps: if there is @entry: it need not note each packet, since no RTT is measured
 */
struct onramp_seen {
	struct onramp_forwarded	*entry;
	unsigned long		key;
	struct onramp_flow	*flow;
	u32			headers;
	bool			closed;
	bool			was_closed;
	bool			keeps;
};

bool onramp_forwarded_packet(struct onramp_qref *qref, struct net_device *dev, struct sk_buff *skb,
			     u64 now, struct onramp_seen *seen);
void onramp_forwarded_bind(struct onramp_forwarded *e, const struct onramp_qref *qref,
			   struct onramp_flow *f, bool fresh);
void onramp_forwarded_unbind(const struct onramp_qref *qref, const struct onramp_flow *f);
bool onramp_forwarded_try(struct onramp_forwarded *e, bool too_early, u32 *rtt_us);
bool onramp_forwarded_far(struct onramp_forwarded *e);
void onramp_forwarded_follow(struct onramp_forwarded *e);
bool onramp_forward_way(const struct sk_buff *skb, struct net_device *dev, struct or_way *way);
int onramp_forward_start(struct onramp_qref *qref, struct onramp_link *link);
void onramp_forward_stop(struct onramp_net *onet, struct onramp_link *link);
int onramp_forward_net_init(struct onramp_net *onet);
void onramp_forward_net_exit(struct onramp_net *onet);

/* onramp_netlink.c */
int onramp_put_stats(struct sk_buff *msg, struct net *net);

/* onramp_genl.c */
void onramp_genl_init(void);
void onramp_genl_exit(void);
void __onramp_peer_tell(struct onramp_peer *peer);
void __onramp_qref_tell(struct onramp_qref *qref);

/* onramp_flow.c */
void onramp_flows_detach(struct onramp_qref *qref, struct onramp_conn **conns, unsigned int n);

/* onramp_link.c */
int onramp_link_module_init(void);
void onramp_link_module_exit(void);
struct onramp_link *onramp_link_find_or_create(struct net_device *dev);
void onramp_link_put(struct onramp_link *link);
void onramp_link_follow(struct onramp_link *link, u8 was, u8 is);
void onramp_link_restart(struct onramp_link *link);
bool onramp_link_in_flight(const struct onramp_link *link, u64 *bytes);

/**
 * onramp_peer_tell() - tell of the events of a peer, if there are any
 * @peer: the peer
 *
 * Context: any but hard interrupts, without the peer's lock.
 */
static inline void onramp_peer_tell(struct onramp_peer *peer)
{
	if (unlikely(READ_ONCE(peer->events)))
		__onramp_peer_tell(peer);
}

/* onramp_peer_tell_rtt() - tell of a round trip of the path, ns; its lock */
static inline void onramp_peer_tell_rtt(const struct onramp_peer *peer, s64 rtt_ns,
					enum or_path_how how)
{
	or_path_tell(peer->onet->net, &peer->addrs, peer->via.ifindex, OR_PATH_ACK, (u64)rtt_ns,
		     how);
}

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
		if (ip_hdr(skb)->protocol != IPPROTO_TCP)
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
 * @qref: of the qdisc
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
static inline void onramp_conn_sent(struct onramp_conn *conn, struct onramp_qref *qref,
				    const struct sk_buff *skb, u32 headers, u64 line_bps,
				    u64 start_q, u64 time_q, u64 queued_ns, bool more, u64 now)
{
	const struct sock *sk = onramp_skb_sk(skb);
	const struct tcp_sock *tp = likely(sk) ? tcp_sk(sk) : NULL;
	u32 seq = ntohl(tcp_hdr(skb)->seq), payload = skb->len - headers, mss;
	const u32 *una = &conn->una;
	u64 tx_ns, cum_ns;
	bool first;

	/* Without answers a record is of no use. */
	if (READ_ONCE(conn->peer->silent)) {
		/* But the next SUBSCRIBE has to leave by the same device. */
		if (unlikely(READ_ONCE(conn->qref) != qref)) {
			spin_lock(&conn->lock);
			onramp_conn_move(conn, qref);
			spin_unlock(&conn->lock);
		}
		/* onramp_conn_lives() reads it without a lock. */
		if (!tp)
			WRITE_ONCE(conn->seen_ns, now);
		return;
	}
	spin_lock(&conn->lock);
	if (unlikely(conn->qref != qref))
		onramp_conn_move(conn, qref);
	/* onramp_recheck() reads it without the lock. */
	if (unlikely(conn->waits)) {
		conn->waits = false;
		WRITE_ONCE(conn->waiter, 0);
	}
	mss = skb_shinfo(skb)->gso_size ?: max_t(u32, payload, conn->mss);
	if (unlikely(mss != conn->mss || line_bps != conn->line_bps))
		onramp_conn_size(conn, mss, headers, line_bps);
	first = onramp_conn_first(conn, seq);
	if (unlikely(first || conn->counts) && onramp_window_known(&conn->peer->window))
		onramp_conn_burst(conn, sk, seq, seq + payload, first, now);
	tx_ns = onramp_fifo_ns(start_q, now) +
		onramp_fifo_rest(time_q, onramp_own_ns(conn->byte_ns, seq, seq + payload));
	cum_ns = onramp_cum_ns(conn, now);
	if (likely(tp)) {
		una = &tp->snd_una;
	} else {
		/* The time of a silence says nothing of the rate either. */
		if (unlikely(onramp_fwd_is_break(queued_ns, conn->ring.sent_ns,
						 conn->trip_ns) ||
			     conn->ring.sent_ns < (u64)atomic64_read(&conn->peer->drained)))
			onramp_fwd_meter_break(&conn->meter);
		onramp_fwd_meter_add(&conn->meter, skb->len, now);
		/* Once in a while is enough for what has lines of its own. */
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
