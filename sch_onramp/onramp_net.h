/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Namespaces, peers and links: what On-Ramp keeps beside connections, which onramp_conn.h has.
 * onramp_conn.c, onramp_ack.c and onramp_peer.c describe what it does.
 *
 *	namespace	onramp_net: peers, connections, the port
 *	  peer		onramp_peer: an address, and the local one that it is reached by
 *	    connection	onramp_conn: a TCP connection, with its controller
 *	device		onramp_link: rate, and model of the queue before the wire
 *	  qdisc		onramp_qdisc_shared: what connections may touch of a qdisc
 *
 * References: a flow of a qdisc holds its connection. A connection holds its peer and the
 * onramp_qdisc_shared of the qdisc that last sent for it. A qdisc holds its link.
 *
 * Locks, from the outermost to the innermost; all but the first with BH disabled:
 *	RTNL		links, and their rates
 *	qdisc's lock	its flows
 *	conn->lock	controller, transmission records, conn->shared
 *	peer->lock	keys, baseline, the delay that new connections inherit
 *	shared->lock	whether the qdisc still exists
 *	onramp_net.lock	list of peers, counters of forwarded connections
 * Sending a packet takes the first two spinlocks. An OR-ACK takes those of the connection and
 * the peer, and shared->lock if a flow may go on earlier, but never the qdisc's.
 */
#ifndef _SCH_ONRAMP_NET_H
#define _SCH_ONRAMP_NET_H

#include <linux/llist.h>
#include <linux/netdevice.h>
#include <linux/refcount.h>
#include <linux/rhashtable.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
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
#include "onramp_hist.h"
#include "onramp_owd.h"
#include "onramp_path.h"
#include "onramp_window.h"

/* Delays of a peer in its classes: at this many all classes are halved. */
#define ONRAMP_PEER_OWDS_MAX	32768

/*
 * Counters of one qdisc: identifier, and the statistic of ONRAMP_STATS that it is added to;
 * UNSPEC: none. Those of enum onramp_verdict come first.
 */
#define ONRAMP_SHARED_STATS \
	ONRAMP_SHARED_STAT(LEARNING, ACKS_LEARNING) \
	ONRAMP_SHARED_STAT(UNSYNCED, ACKS_UNSYNCED) \
	ONRAMP_SHARED_STAT(NO_MAP, ACKS_NO_MAP) \
	ONRAMP_SHARED_STAT(NOT_IN_FLIGHT, ACKS_NOT_IN_FLIGHT) \
	ONRAMP_SHARED_STAT(AMBIGUOUS, ACKS_AMBIGUOUS) \
	ONRAMP_SHARED_STAT(REPLAY, ACKS_REPLAY) \
	ONRAMP_SHARED_STAT(OLD, ACKS_OLD) \
	ONRAMP_SHARED_STAT(PAUSES, PAUSES) \
	ONRAMP_SHARED_STAT(PAUSED_NS, PAUSED_NS) \
	ONRAMP_SHARED_STAT(INHERITED, INHERITED) \
	ONRAMP_SHARED_STAT(RECHECKS, PAUSE_SHORTER) \
	ONRAMP_SHARED_STAT(HELD, HELD) \
	ONRAMP_SHARED_STAT(HELD_LATE_NS, UNSPEC) \
	ONRAMP_SHARED_STAT(LIMITED, ACKS_LIMITED) \
	ONRAMP_SHARED_STAT(PAUSE_ENDS, PAUSE_ENDS) \
	ONRAMP_SHARED_STAT(PAUSE_ENDS_EMPTY, PAUSE_ENDS_EMPTY) \
	ONRAMP_SHARED_STAT(COEXIST, ACKS_LET_GO) \
	ONRAMP_SHARED_STAT(LONGER, ACKS_LONGER) \
	ONRAMP_SHARED_STAT(DRAINS, DRAINS) \
	ONRAMP_SHARED_STAT(PROOFS, DRAIN_PROOFS) \
	ONRAMP_SHARED_STAT(VOIDS, DRAIN_VOIDS)

enum onramp_shared_stat {
	ONRAMP_Q_VERDICTS = ONRAMP_VERDICTS - 1,
#define ONRAMP_SHARED_STAT(id, stat)	ONRAMP_Q_##id,
	ONRAMP_SHARED_STATS
#undef ONRAMP_SHARED_STAT
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
	ONRAMP_NET_STAT(FORWARD_SMALL, FORWARD_SMALL) \
	ONRAMP_NET_STAT(SEEDS, SEEDS) \
	ONRAMP_NET_STAT(SEEDS_REFUSED, SEEDS_REFUSED)

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
 * @bound: limit delays by the round trip
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
 * struct onramp_shared_stats - counters of a qdisc
 * @n: by enum onramp_shared_stat
 * @owd: OR-ACKs by the class of their delay
 * @pause_max_ns: longest pause
 * @held_late_max_ns: most that a packet was late after a pause
 *
 * Each has one copy, for all CPUs: 128 queues of 128 CPUs would have 21 MB of them. An OR-ACK,
 * which takes the lock of its path, adds to two.
 */
struct onramp_shared_stats {
	atomic64_t		n[ONRAMP_Q_STATS];
	atomic64_t		owd[ONRAMP_OWD_CLASSES];
	atomic64_t		pause_max_ns;
	atomic64_t		held_late_max_ns;
};

/* struct onramp_net_stats - of one CPU */
struct onramp_net_stats {
	unsigned long		n[ONRAMP_N_STATS];
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
 * @software: it is made by software, so that a CPU sends for it
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
	bool			software;
	u8			below;
	atomic64_t		fifo_q ____cacheline_aligned_in_smp;
	u32			checked;
};

/* Bits of onramp_qdisc_shared.flags. */
enum onramp_shared_flag {
	ONRAMP_SHARED_MAPPED,	/* clock nic: the last OR-ACK found a valid map */
	ONRAMP_SHARED_MAP_LOST,	/* an event to tell of: that is no longer so */
};

/**
 * struct onramp_qdisc_shared - state that a qdisc and its connections share; may outlive the qdisc
 * @refs: the qdisc, and connections
 * @onet: its namespace
 * @ifindex: of its device, constant
 * @flags: enum onramp_shared_flag, atomic
 * @list: in onramp_net.qdiscs, while there is a qdisc
 * @dev: of the qdisc, NULL once that is gone; to compare only
 * @lock: of @sch
 * @sch: the qdisc; NULL once it is reset, until it has a connection again
 * @recheck: connections whose pause has become shorter
 * @sizes: of connections without a socket or an entry, for the qdisc alone; NULL: it never had
 *	"forward on"
 * @fwd_lines: cache of flows that are forwarded connections, likewise
 * @settings: replaced as a whole
 * @last_owd_ns: of the last OR-ACK that counted. This and the next fields are statistics,
 *		 written without a lock
 * @last_baseline_ns: of its path, includes the difference of the clocks
 * @last_error_ns: error bound of its delay
 * @last_threshold_ns: its T
 * @last_slack_ns: slack in its T
 * @last_beta: Q30
 * @rcu: to free it
 * @stats: its counters
 */
struct onramp_qdisc_shared {
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
	struct onramp_fwd_line *fwd_lines;
	struct onramp_settings __rcu	*settings;
	u64			last_owd_ns;
	s64			last_baseline_ns;
	u64			last_error_ns;
	u64			last_threshold_ns;
	u64			last_slack_ns;
	u32			last_beta;
	struct rcu_head		rcu;
	struct onramp_shared_stats stats ____cacheline_aligned_in_smp;
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
 * @qdiscs: of its qdiscs, RCU
 * @dying: the namespace is being destroyed
 * @age_work: looks for connections that are closed, while there is any
 * @n_peers: how many
 * @n_conns: how many
 * @port_error: of the last attempt to open the port, to log it once
 * @n_forwarded: entries of @forwarded
 * @n_timed: those whose RTT is being measured
 * @forwarded: connections without a socket here, see onramp_fwd_out.c
 * @forward_work: forgets old ones, while there is any
 * @present: number of @forwarded by some bits of their hash, see onramp_fwd_may_be();
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
	struct list_head	qdiscs;
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
	ONRAMP_PEER_YIELDS,	/* a guest subscribes itself, until onramp_peer.yields_until */
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
 * @last_baseline_ns: baseline of that delay
 * @last_absolute: that delay is by synchronised clocks, without a baseline
 * @baseline: enum onramp_baseline_state, as of the last OR-ACK
 * @events: bit of each enum onramp_event to tell of
 * @acks: OR-ACKs with the right tag
 * @acks_counted: OR-ACKs with a delay that a decision used
 * @egress: of those connections: how their packets leave
 * @conns: its connections, the newest first
 * @via: way of the data of the first of them, as of the last SUBSCRIBE
 * @paused_ns: sum of the pauses of its connections
 * @owds: delays of those by class, the last ones
 * @n_owds: sum of @owds
 * @path: routes and slack of the path
 * @window: bursts on the way to the host
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
	s64			last_baseline_ns;
	bool			last_absolute;
	u8			baseline;
	u8			events;
	u64			acks;
	u64			acks_counted;
	struct or_egress	egress;
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

/* onramp_shared_add() - add to a counter of a qdisc; any context */
static inline void onramp_shared_add(struct onramp_qdisc_shared *shared, unsigned int id, u64 n)
{
	if (n)
		atomic64_add(n, &shared->stats.n[id]);
}

/* onramp_stats_max() - note a value, of which the highest is kept; any context */
static inline void onramp_stats_max(atomic64_t *max, u64 value)
{
	s64 old = atomic64_read(max);

	while (value > (u64)old && !atomic64_try_cmpxchg(max, &old, value))
		;
}

/* onramp_net_count() - count in a namespace; any context */
static inline void onramp_net_count(const struct onramp_net *onet, unsigned int id)
{
	this_cpu_inc(onet->stats->n[id]);
}

extern unsigned int onramp_net_id;

/* onramp_net() - return the state of a namespace */
static inline struct onramp_net *onramp_net(const struct net *net)
{
	return net_generic(net, onramp_net_id);
}

/* onramp_peer.c */
extern struct workqueue_struct *onramp_wq;
extern const struct rhashtable_params onramp_peer_table;
int onramp_peer_cache_create(void);
void onramp_peer_cache_destroy(void);
void onramp_peers_exit(struct onramp_net *onet);
void onramp_peer_rcv(struct net *net, const struct or_addrs *addrs, int ifindex, u32 mark,
		     const u8 *msg, unsigned int len);
struct onramp_peer *onramp_peer_find(struct onramp_net *onet, const struct or_addrs *addrs);
struct onramp_peer *onramp_peer_find_or_create(struct onramp_net *onet,
					       const struct or_addrs *addrs,
					       const struct or_egress *egress,
					       const struct or_via *via, struct sock *sk,
					       u32 rtt_us, u64 near_ns);
void onramp_peer_put(struct onramp_peer *peer);
bool onramp_peer_verify(struct onramp_peer *peer, const u8 *msg);
void onramp_peer_unwanted(struct onramp_peer *peer);
bool onramp_peer_take(struct onramp_net *onet, const struct or_addrs *addrs, const u8 *msg,
		      unsigned int len);
bool onramp_peer_leaves_by(struct onramp_peer *peer, const struct or_egress *egress);
bool onramp_peer_is_own(struct onramp_peer *peer, const u8 *msg, unsigned int len);
void onramp_peer_yield(struct onramp_peer *peer, unsigned long delay);

/* onramp_link.c */
int onramp_link_module_init(void);
void onramp_link_module_exit(void);
struct onramp_link *onramp_link_find_or_create(struct net_device *dev);
void onramp_link_put(struct onramp_link *link);
void onramp_link_follow(struct onramp_link *link, u8 was, u8 is);
void onramp_link_restart(struct onramp_link *link);
bool onramp_link_in_flight(const struct onramp_link *link, u64 *bytes);

/* onramp_walk_next() - rhashtable_walk_next(), after a rest if the CPU is needed; may sleep */
static inline void *onramp_walk_next(struct rhashtable_iter *iter)
{
	if (need_resched()) {
		rhashtable_walk_stop(iter);
		cond_resched();
		rhashtable_walk_start(iter);
	}
	return rhashtable_walk_next(iter);
}

#endif /* _SCH_ONRAMP_NET_H */
