/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nic_ts: shared by the parts of the module.
 *
 * nic_ts_parse.h	headers of a packet -> connection, sequence numbers
 * nic_ts_map.h	maps of clocks, and whether a timestamp is believable
 * nic_ts_ring.h	records of segments and ACKs -> RTTs; these three: integers only
 * nic_ts_capture.c	tracepoints and driver hooks: packets in, stamps out
 * nic_ts_flow.c	the flow table
 * nic_ts_clock.c	clocks and their maps
 * nic_ts_hw.c		hardware stamps: configuration, TX completions
 * nic_ts_genl.c	generic netlink
 * nic_ts_netdev.c	devices come and go
 * nic_ts_dev.c	devices
 * nic_ts_main.c	namespaces, the module
 * nic_ts_trace.h	tracepoints
 *
 * Locking. A packet finds its device in a hash table and its flow in an
 * rhashtable, both under RCU. The rings of a flow have a spinlock each, so that
 * sending does not wait for receiving. nic_ts_flow_lock serialises all that
 * makes and ends flows. Devices are written under RTNL. Maps are replaced under
 * the clock's lock and read under RCU. Counters are per CPU. Order:
 * RTNL, nic_ts_flow_lock, then at most one of the others.
 */
#ifndef _NIC_TS_PRIV_H
#define _NIC_TS_PRIV_H

#include <linux/net_tstamp.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/rhashtable.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include <nic_ts.h>

#include "nic_ts_parse.h"
#include "nic_ts_ring.h"

/*
 * Counters of a device, since nic_ts knows it: identifier, name, meaning; the documentation's
 * table is made from here. After these come the results of the parser, for RX and for TX.
 */
#define NIC_TS_DEV_STATS \
	NIC_TS_STAT(RX_STACK, RxStampedByStack, \
		"received TCP packets with a timestamp of the tracepoint, before GRO") \
	NIC_TS_STAT(RX_DRIVER, RxStampedByDriver, \
		"the same, with a timestamp of a patched driver") \
	NIC_TS_STAT(RX_HW, RxStampedByHardware, \
		"the same, with a timestamp of the NIC as well") \
	NIC_TS_STAT(RX_HW_NONE, RxHardwareNone, \
		"received packets that the NIC should have stamped, and did not") \
	NIC_TS_STAT(RX_HW_DISORDER, RxHardwareDisorder, \
		"refused timestamps of the NIC: older than the one before on the same queue") \
	NIC_TS_STAT(RX_HW_FUTURE, RxHardwareFuture, \
		"refused: later than software saw the packet") \
	NIC_TS_STAT(RX_HW_STALE, RxHardwareStale, \
		"refused: more than 100 ms earlier than software saw the packet") \
	NIC_TS_STAT(RX_HW_RANGE, RxHardwareRange, \
		"refused: impossible time") \
	NIC_TS_STAT(RX_CONTEXT, RxHardInterrupt, \
		"received packets left alone: in hard interrupt context") \
	NIC_TS_STAT(RX_CLOCK, RxDriverTimeRefused, \
		"times of a patched driver refused: in the future, or too old") \
	NIC_TS_STAT(TX_STACK, TxStampedByStack, \
		"segments sent with a timestamp of the tracepoint, before the driver") \
	NIC_TS_STAT(TX_DRIVER, TxStampedByDriver, \
		"segments sent with a timestamp of a patched driver") \
	NIC_TS_STAT(TX_CLOCK, TxDriverTimeRefused, \
		"times of a patched driver refused: in the future, old, or of no segment") \
	NIC_TS_STAT(TX_CONTEXT, TxHardInterrupt, \
		"sent packets left alone: in hard interrupt context") \
	NIC_TS_STAT(TX_BUSY, TxBusy, \
		"packets that the driver refused, so that they are sent again") \
	NIC_TS_STAT(TX_HW, TxStampedByHardware, \
		"segments that got their timestamp of the NIC") \
	NIC_TS_STAT(TX_HW_ASKED, TxHardwareAsked, \
		"packets for which a timestamp of the NIC was requested") \
	NIC_TS_STAT(TX_HW_NO_SLOT, TxHardwareNoSlot, \
		"not requested: tx-slots requests are under way") \
	NIC_TS_STAT(TX_HW_UNFIT, TxHardwareUnfit, \
		"not requested: the socket has its own, zero copy, or TLS in the NIC") \
	NIC_TS_STAT(TX_HW_NONE, TxHardwareNone, \
		"requested, but the driver freed the packet without a timestamp") \
	NIC_TS_STAT(TX_HW_REFUSED, TxHardwareRefused, \
		"timestamps of sent packets refused: not between software's time and now") \
	NIC_TS_STAT(TX_HW_UNMATCHED, TxHardwareUnmatched, \
		"timestamps of sent packets without a record: overwritten, or sent again") \
	NIC_TS_STAT(TX_HW_YIELDED, TxHardwareYielded, \
		"times that the TX slots were left to another program: PTP, or it asked for one") \
	NIC_TS_STAT(STEPS, ClockSteps, \
		"steps of the NIC's clock that were noticed")

enum nic_ts_dev_stat {
#define NIC_TS_STAT(id, name, what) NIC_TS_DEV_##id,
	NIC_TS_DEV_STATS
#undef NIC_TS_STAT
	NIC_TS_DEV_RX_PARSE,
	NIC_TS_DEV_TX_PARSE = NIC_TS_DEV_RX_PARSE + NIC_TS_PARSE_MAX,
	NIC_TS_DEV_STAT_MAX = NIC_TS_DEV_TX_PARSE + NIC_TS_PARSE_MAX
};

/* RX_HW_DISORDER... and enum nic_ts_hw_verdict run in parallel. */
static_assert(NIC_TS_DEV_RX_HW_RANGE - NIC_TS_DEV_RX_HW_DISORDER ==
	      NIC_TS_HW_RANGE - NIC_TS_HW_DISORDER);

/* Counters of a namespace, since it was made or the module was loaded. */
#define NIC_TS_NET_STATS \
	NIC_TS_STAT(ATTACHED, FlowsAttached, \
		"connections that got an entry in the flow table") \
	NIC_TS_STAT(SHARED, FlowsShared, \
		"connections that had an entry already, and share it with another user") \
	NIC_TS_STAT(FULL, FlowsRefusedFull, \
		"connections refused: the table has max_flows entries") \
	NIC_TS_STAT(NOMEM, FlowsRefusedNoMemory, \
		"connections refused: no memory") \
	NIC_TS_STAT(AGED, FlowsAged, \
		"entries without a packet for flow_age_s, which left the table") \
	NIC_TS_STAT(TX_RECORDED, TxRecorded, \
		"segments recorded as sent") \
	NIC_TS_STAT(TX_RETRANS, TxRetransmitted, \
		"segments sent again: data in flight gives no RTT") \
	NIC_TS_STAT(ACK_RECORDED, AcksRecorded, \
		"ACKs recorded, each the first that covers its sequence number") \
	NIC_TS_STAT(ACK_OLD, AcksOld, \
		"ACKs of data that was acknowledged before, or has no record any more") \
	NIC_TS_STAT(ACK_UNSENT, AcksUnsent, \
		"ACKs of data that was not seen going out") \
	NIC_TS_STAT(TX_HW_LATE, TxHardwareLate, \
		"timestamps of the NIC that came late or twice; in the initial namespace") \
	NIC_TS_STAT(RTT_NO_TX, RttNoSegment, \
		"failed requests for an RTT: no record of the segment") \
	NIC_TS_STAT(RTT_NO_ACK, RttNoAck, \
		"failed requests for an RTT: no record of the ACK") \
	NIC_TS_STAT(RTT_AMBIGUOUS, RttAmbiguous, \
		"failed requests for an RTT: the segment was sent more than once") \
	NIC_TS_STAT(RTT_HW, RttHardware, \
		"RTTs between two timestamps of one NIC") \
	NIC_TS_STAT(RTT_MAPPED, RttMapped, \
		"RTTs with one timestamp of the NIC, converted to CLOCK_MONOTONIC by a map") \
	NIC_TS_STAT(RTT_SW, RttSoftware, \
		"RTTs between two software timestamps") \
	NIC_TS_STAT(RTT_REJECTED, RttHardwareRejected, \
		"RTTs between software timestamps, since those of the NIC contradict them") \
	NIC_TS_STAT(RTT_INVALID, RttInvalid, \
		"failed requests for an RTT: the timestamps contradict each other")

enum nic_ts_net_stat {
#define NIC_TS_STAT(id, name, what) NIC_TS_NET_##id,
	NIC_TS_NET_STATS
#undef NIC_TS_STAT
	NIC_TS_NET_STAT_MAX
};

/* NIC_TS_NET_RTT_* run in parallel to the verdicts, then to the picks. */
static_assert(NIC_TS_NET_RTT_AMBIGUOUS - NIC_TS_NET_RTT_NO_TX ==
	      NIC_TS_RTT_AMBIGUOUS - NIC_TS_RTT_NO_TX);
static_assert(NIC_TS_NET_RTT_INVALID - NIC_TS_NET_RTT_HW == NIC_TS_PICK_NONE);
/* So do NIC_TS_NET_ACK_* and enum nic_ts_ack_result. */
static_assert(NIC_TS_NET_ACK_UNSENT - NIC_TS_NET_ACK_RECORDED == NIC_TS_ACK_UNSENT);

/* Those of them that each flow has for itself as well, from RTT_NO_TX on. */
#define NIC_TS_FLOW_STATS	(NIC_TS_NET_RTT_INVALID - NIC_TS_NET_RTT_NO_TX + 1)

struct nic_ts_net_stats {
	unsigned long cnt[NIC_TS_NET_STAT_MAX];
};

/**
 * struct nic_ts_net - the module's state in one network namespace
 * @flows:	the flow table
 * @nflows:	entries in it; read for every packet
 * @nl3:	of these, how many are of sockets in an L3 domain (VRF)
 * @full_walk:	jiffies when the table was last searched for idle flows because it
 *		was full
 * @count:	where events are counted: @stats; once the namespace goes, nowhere. Read
 *		under RCU
 * @stats:	per-CPU counters
 * @age_work:	takes idle flows out
 * @net:	back pointer
 * @gone:	the namespace goes: no more flows. Read under RCU
 */
struct nic_ts_net {
	struct rhashtable	flows;
	atomic_t		nflows;
	atomic_t		nl3;
	unsigned long		full_walk;
	struct nic_ts_net_stats __percpu *count;
	struct nic_ts_net_stats __percpu *stats;
	struct delayed_work	age_work;
	struct net		*net;
	bool			gone;
};

/**
 * struct nic_ts_dev_cpu - of a device, on one CPU
 * @cnt:	counters
 * @track:	bounds of its clock's offset, as seen on this CPU; BH is disabled
 * @epoch:	of that clock, when @track was begun
 */
struct nic_ts_dev_cpu {
	unsigned long		cnt[NIC_TS_DEV_STAT_MAX];
	struct nic_ts_track	track;
	u16			epoch;
};

/**
 * struct nic_ts_dev - a device
 * @node:	in the hash table, by @dev
 * @dev:	compared; to be dereferenced under RTNL, or with a packet at hand
 * @nn:		its namespace
 * @cpu:	per CPU
 * @ref:	one for the table, one per TX hardware stamp under way
 * @receivers:	struct nic_ts_receiver; written under RTNL, read under RCU
 * @ifindex:	fixed
 * @domain:	of its clock; NIC_TS_DOMAIN_NONE: it has none
 * @below:	the one device that it is stacked on; @dev: there are several; NULL:
 *		none. Compared only. Written under RTNL, read locklessly
 * @skip:	stacked on a device of the same namespace, which sees the same
 *		packets, closer to the wire
 * @skip_rx:	the same for packets that come in: a device with a driver has its own
 * @ether:	packets that go out begin with an Ethernet header
 * @hw_rx:	stamps of all packets are on
 * @hw_tx:	stamps on demand are on
 * @tx_hook:	its driver has called nic_ts_driver_tx() for the last segment
 * @rx_source:	best source seen, enum nic_ts_source
 * @tx_source:	the same
 * @slots:	TX hardware stamps asked for and not answered
 * @max_slots:	how many of these there may be
 * @hw_users:	requests for hardware stamps; RTNL
 * @hw_netlink:	one of them is the administrator's; RTNL
 * @hw_own:	the bus turned TX stamps on; RTNL
 * @hw_tx_on:	TX stamps were on, or the bus turned them on, when @hw_users began; RTNL
 * @hw_yielded:	another program that uses TX stamps was seen; bit 0, atomic
 * @rcu:	looked up under RCU
 * @nqueues:	entries of @last_hw_ns
 * @last_hw_ns:	last stamp believed, per RX queue; written by its poll function
 */
struct nic_ts_dev {
	struct hlist_node	node;
	struct net_device	*dev;
	struct nic_ts_net	*nn;
	struct nic_ts_dev_cpu __percpu *cpu;
	refcount_t		ref;
	struct hlist_head	receivers;
	int			ifindex;
	u32			domain;
	const struct net_device	*below;
	bool			skip;
	bool			skip_rx;
	bool			ether;
	bool			hw_rx;
	bool			hw_tx;
	bool			tx_hook;
	u8			rx_source;
	u8			tx_source;
	atomic_t		slots;
	u32			max_slots;
	u32			hw_users;
	bool			hw_netlink;
	bool			hw_own;
	bool			hw_tx_on;
	unsigned long		hw_yielded;
	struct rcu_head		rcu;
	u32			nqueues;
	u64			last_hw_ns[] __counted_by(nqueues);
};

/**
 * struct nic_ts_entry - a flow
 * @flow:	the part that users see
 * @node:	in the flow table
 * @key:	by which it is found, with @l3
 * @l3:		ifindex of the L3 master (VRF) that its sockets are bound to; 0: none
 * @ref:	one for all users, one per TX hardware stamp under way
 * @users:	number of users attached; nic_ts_flow_lock
 * @nn:		its namespace; valid while there are users
 * @last_packet:	jiffies of its last packet
 * @asked:	a TX hardware stamp is under way; bit 0, atomic
 * @tx_lock:	protects @tx, and writing @sent
 * @tx:		segments
 * @sent:	nic_ts_tx_sent() of @tx, read without the lock for each ACK
 * @ack_lock:	protects @ack
 * @ack:	ACKs
 * @stats:	results of nic_ts_flow_rtt() so far, from NIC_TS_NET_RTT_NO_TX on
 * @tx_source:	of the newest RTT, enum nic_ts_source; for dumps only
 * @rx_source:	of the newest RTT
 * @rcu:	looked up under RCU
 * @records:	of @tx, then of @ack
 */
struct nic_ts_entry {
	struct nic_ts_flow	flow;
	struct rhash_head	node;
	struct nic_ts_key	key;
	int			l3;
	refcount_t		ref;
	u32			users;
	struct nic_ts_net	*nn;
	unsigned long		last_packet;
	unsigned long		asked;
	spinlock_t		tx_lock ____cacheline_aligned_in_smp;	/* tx */
	struct nic_ts_tx_ring	tx;
	struct nic_ts_sent	sent;
	spinlock_t		ack_lock ____cacheline_aligned_in_smp;	/* ack */
	struct nic_ts_ack_ring	ack;
	atomic_long_t		stats[NIC_TS_FLOW_STATS];
	u8			tx_source;
	u8			rx_source;
	struct rcu_head		rcu;
	u8			records[] __aligned(8);
};

extern unsigned int nic_ts_net_id;

static inline struct nic_ts_net *nic_ts_net(const struct net *net)
{
	return net_generic(net, nic_ts_net_id);
}

/* Under RCU: nic_ts_net_pre_exit() replaces the counters, and they are freed later. */
static inline void nic_ts_count_rcu(const struct nic_ts_net *nn, enum nic_ts_net_stat id)
{
	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "no RCU section");
	this_cpu_inc(READ_ONCE(nn->count)->cnt[id]);
}

static inline void nic_ts_count(const struct nic_ts_net *nn, enum nic_ts_net_stat id)
{
	rcu_read_lock();
	nic_ts_count_rcu(nn, id);
	rcu_read_unlock();
}

/* Publish the range of recorded segments, for ACKs; nic_ts_ack() reads it without the lock. */
static inline void nic_ts_entry_sent(struct nic_ts_entry *e)
{
	struct nic_ts_sent sent = nic_ts_tx_sent(&e->tx);

	lockdep_assert_held(&e->tx_lock);
	/* Most often one of them is unchanged. */
	WRITE_ONCE(e->sent.from, sent.from);
	WRITE_ONCE(e->sent.to, sent.to);
}

static inline void nic_ts_dev_count(const struct nic_ts_dev *nd,
				    enum nic_ts_dev_stat id)
{
	this_cpu_inc(nd->cpu->cnt[id]);
}

/* After the last user, capturing stays on this long: flows come and go. */
#define NIC_TS_CAPTURE_LINGER	HZ

/**
 * struct nic_ts_users - who needs captured packets
 * @all:	flows in tables, and receivers
 * @flows:	the former alone
 * @work:	switches capturing on and off, for them
 */
struct nic_ts_users {
	atomic_t		all;
	atomic_t		flows;
	struct delayed_work	work;
};

extern struct nic_ts_users nic_ts_users;

/**
 * nic_ts_capture_get() - add a user of captured packets
 * @flow:	of those that go out, too
 *
 * Context: any but hard interrupt.
 */
static inline void nic_ts_capture_get(bool flow)
{
	bool first = atomic_inc_return(&nic_ts_users.all) == 1;

	if (flow)
		first |= atomic_inc_return(&nic_ts_users.flows) == 1;
	if (first)
		mod_delayed_work(system_percpu_wq, &nic_ts_users.work, 0);
}

/**
 * nic_ts_capture_put() - remove a user of captured packets
 * @flow:	as it was added
 *
 * Context: any but hard interrupt.
 */
static inline void nic_ts_capture_put(bool flow)
{
	bool last = flow && atomic_dec_and_test(&nic_ts_users.flows);

	last |= atomic_dec_and_test(&nic_ts_users.all);
	if (last)
		mod_delayed_work(system_percpu_wq, &nic_ts_users.work, NIC_TS_CAPTURE_LINGER);
}

/* nic_ts_main.c */
extern const char * const nic_ts_net_stat_names[NIC_TS_NET_STAT_MAX];

/* nic_ts_dev.c */
/* By struct net_device; written under RTNL, read under RCU. */
#define NIC_TS_DEVS_BITS	8
extern DECLARE_HASHTABLE(nic_ts_devs, NIC_TS_DEVS_BITS);
struct nic_ts_dev *nic_ts_dev_find(const struct net_device *dev);
struct nic_ts_dev *nic_ts_dev_by_index(struct net *net, int ifindex);
void nic_ts_dev_put(struct nic_ts_dev *nd);
const char *nic_ts_dev_stat_name(unsigned int id, char *buf, size_t size);
int nic_ts_dev_from_host(const struct net_device *dev, u64 host_ns, struct nic_ts_stamp *clock,
			 u32 *error_ns);

/* nic_ts_netdev.c */
int nic_ts_dev_init(void);
void nic_ts_dev_exit(void);
int nic_ts_dev_rx_register(struct nic_ts_receiver *receiver);
void nic_ts_dev_rx_unregister(struct nic_ts_receiver *receiver);
int nic_ts_dev_hw_request(struct net *net, int ifindex);
void nic_ts_dev_hw_release(struct net *net, int ifindex);

/* nic_ts_capture.c */
int nic_ts_capture_init(void);
void nic_ts_capture_exit(void);
bool nic_ts_capture_able(void);
void nic_ts_driver_saw_rx(struct sk_buff *skb, u64 ns, bool frags);
void nic_ts_driver_sent(struct sk_buff *skb, u64 ns);
void nic_ts_driver_done(struct sk_buff *skb, u64 hw_ns);

/* nic_ts_flow.c */
int nic_ts_flow_init(void);
void nic_ts_flow_exit(void);
int nic_ts_flow_net_init(struct nic_ts_net *nn);
void nic_ts_flow_net_exit(struct nic_ts_net *nn);
struct nic_ts_entry *nic_ts_entry_find(struct nic_ts_net *nn,
				       const struct nic_ts_key *key, int l3);
void nic_ts_entry_put(struct nic_ts_entry *e);
struct nic_ts_flow *nic_ts_entry_attach(const struct sock *sk, gfp_t gfp);
void nic_ts_entry_detach(struct nic_ts_flow *flow);
enum nic_ts_verdict nic_ts_entry_rtt(struct nic_ts_flow *flow, u32 una,
				     struct nic_ts_rtt *rtt);
void nic_ts_entry_hw(struct nic_ts_entry *e, struct nic_ts_dev *nd, u32 seq,
		     u32 end_seq, u64 hw_ns, u64 now_ns);

/* nic_ts_clock.c */
int nic_ts_clock_init(void);
void nic_ts_clock_exit(void);
int nic_ts_clock_set(u32 domain, const struct nic_ts_map *map);
int nic_ts_clock_invalidate(u32 domain, enum nic_ts_clock_state why);
u16 nic_ts_clock_epoch(u32 domain);
int nic_ts_clock_to_host(u32 domain, u16 epoch, u64 ns, u64 *host_ns,
			 u32 *error_ns);
int nic_ts_clock_from_host(u32 domain, u64 host_ns, struct nic_ts_stamp *stamp, u32 *error_ns);
enum nic_ts_clock_state nic_ts_clock_show(u32 domain, struct nic_ts_map *map);
bool nic_ts_clock_known(u32 domain);
enum nic_ts_hw_verdict nic_ts_clock_check(struct nic_ts_dev *nd, u64 hw_ns,
					  u64 after_ns, u64 now_ns, u64 last_ns,
					  u16 *epoch);

/* nic_ts_hw.c */
int nic_ts_hw_init(void);
void nic_ts_hw_exit(void);
void nic_ts_hw_dev_init(struct nic_ts_dev *nd);
void nic_ts_hw_dev_clock(struct nic_ts_dev *nd);
int nic_ts_hw_get(struct nic_ts_dev *nd, bool netlink, const char **why);
void nic_ts_hw_put(struct nic_ts_dev *nd, bool netlink);
void nic_ts_hw_stop(struct nic_ts_dev *nd);
void nic_ts_hw_yield(struct nic_ts_dev *nd);
bool nic_ts_hw_of_another(const struct sk_buff *skb);
void nic_ts_hw_rx_stamp(struct nic_ts_dev *nd, const struct sk_buff *skb,
			struct nic_ts_stamp *stamp);
void nic_ts_hw_ask(struct nic_ts_dev *nd, struct nic_ts_entry *e,
		   struct sk_buff *skb, u32 seq, u32 end_seq);

/* nic_ts_genl.c */
int nic_ts_genl_init(void);
void nic_ts_genl_exit(void);

#endif /* _NIC_TS_PRIV_H */
