/* SPDX-License-Identifier: GPL-2.0 */
/*
 * or_acker: what its files share. or_acker_main.c has the outline.
 */
#ifndef _OR_ACKER_H
#define _OR_ACKER_H

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/rhashtable.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include <net_params_types.h>
#include <nic_ts.h>
#include <or_port.h>
#include <or_proto.h>

#include "or_acker_params.h"

/* OR_ACKER_P_MODE */
enum or_acker_mode {
	OR_ACKER_MODE_SUBSCRIBED,
	OR_ACKER_MODE_ALL,
};

/* OR_ACKER_P_STAMPS */
enum or_acker_stamps {
	OR_ACKER_STAMPS_SOFTWARE,
	OR_ACKER_STAMPS_HARDWARE,
};

/*
 * Counters of a namespace, /proc/net/or_acker. Row: identifier, name, what it
 * counts. The first ones run in parallel with enum or_error.
 */
#define OR_ACKER_STATS \
	OR_ACKER_STAT(SUBSCRIBE_OK, SubscribeAccepted, \
			"SUBSCRIBEs that started, renewed or ended a subscription") \
	OR_ACKER_STAT(SUBSCRIBE_SHORT, SubscribeShort, \
			"refused: truncated") \
	OR_ACKER_STAT(SUBSCRIBE_LONG, SubscribeLong, \
			"refused: bytes behind its end") \
	OR_ACKER_STAT(SUBSCRIBE_VERSION, SubscribeVersion, \
			"refused: other version; or_port finds these before") \
	OR_ACKER_STAT(SUBSCRIBE_TYPE, SubscribeType, \
			"refused: other type; or_port finds these before") \
	OR_ACKER_STAT(SUBSCRIBE_RESERVED, SubscribeReserved, \
			"refused: a reserved bit is set") \
	OR_ACKER_STAT(SUBSCRIBE_PROTOCOL, SubscribeProtocol, \
			"always 0, in the place of an error that OR-ACKs alone can have") \
	OR_ACKER_STAT(SUBSCRIBE_VALUE, SubscribeValue, \
			"refused: a value outside its range") \
	OR_ACKER_STAT(SUBSCRIBE_TAG, SubscribeTag, \
			"refused: the tag is wrong, or of another nonce than is held") \
	OR_ACKER_STAT(SUBSCRIBE_REPLAY, SubscribeReplay, \
			"refused: its count has been seen") \
	OR_ACKER_STAT(SUBSCRIBE_OLD, SubscribeOld, \
			"refused: its count is 64 or more behind") \
	OR_ACKER_STAT(SUBSCRIBE_NOTHING, SubscribeEndsNothing, \
			"in order, and would end a subscription that there is not") \
	OR_ACKER_STAT(SUBSCRIBE_FULL, SubscribeTableFull, \
			"in order, but max_subscribers have flows") \
	OR_ACKER_STAT(SUBSCRIBE_MEMORY, SubscribeNoMemory, \
			"in order, but no memory for a subscriber") \
	OR_ACKER_STAT(SUB_NEW, SubscribersNew, \
			"subscribers that were added") \
	OR_ACKER_STAT(SUB_EVICTED, SubscribersEvicted, \
			"subscribers without flows that made room for new ones") \
	OR_ACKER_STAT(SUB_EXPIRED, SubscribersExpired, \
			"subscribers whose lifetime was over") \
	OR_ACKER_STAT(FLOW_NEW, FlowsNew, \
			"flows that were added") \
	OR_ACKER_STAT(FLOW_AGED, FlowsAged, \
			"flows without data for flow_age_s") \
	OR_ACKER_STAT(FLOW_UNSUBSCRIBED, FlowsUnsubscribed, \
			"flows whose subscriber ended or expired") \
	OR_ACKER_STAT(FLOW_FULL, PacketFlowTableFull, \
			"packets with data of a subscriber whose flow found max_flows others") \
	OR_ACKER_STAT(FLOW_MEMORY, PacketNoMemory, \
			"the same, no memory for its flow") \
	OR_ACKER_STAT(NO_SUBSCRIBER, PacketNotSubscribed, \
			"packets with data whose sender is no subscriber") \
	OR_ACKER_STAT(NO_SOCKET, PacketNoSocket, \
			"packets with data of a subscriber that no connection here expects") \
	OR_ACKER_STAT(ACK, AckSent, \
			"OR-ACKs") \
	OR_ACKER_STAT(ACK_PACKETS, AckedPackets, \
			"packets that these cover, as on the wire") \
	OR_ACKER_STAT(ACK_IN_BYTES, AckedBytes, \
			"payload of these packets") \
	OR_ACKER_STAT(ACK_OUT_BYTES, AckBytes, \
			"bytes of OR-ACKs, with IP headers") \
	OR_ACKER_STAT(ACK_BY_COUNT, AckByPackets, \
			"OR-ACKs after ack_packets") \
	OR_ACKER_STAT(ACK_BY_BYTES, AckByBytes, \
			"OR-ACKs after ack_bytes") \
	OR_ACKER_STAT(ACK_BY_TIME, AckByTime, \
			"OR-ACKs after ack_delay_ns") \
	OR_ACKER_STAT(ACK_BY_PATH, AckByPath, \
			"OR-ACKs at once, the first after path_interval_ns") \
	OR_ACKER_STAT(ACK_NOT_AT_END, AckNotAtEnd, \
			"none after ack_delay_ns: all was sent, and its host had one lately") \
	OR_ACKER_STAT(STAMP_SOFTWARE, AckStampSoftware, \
			"OR-ACKs with a stamp of CLOCK_MONOTONIC") \
	OR_ACKER_STAT(STAMP_TAI, AckStampTai, \
			"OR-ACKs with a stamp of CLOCK_TAI") \
	OR_ACKER_STAT(STAMP_HARDWARE, AckStampHardware, \
			"OR-ACKs with a stamp of the NIC") \
	OR_ACKER_STAT(NO_CREDIT, AckNoCredit, \
			"not sent: fewer bytes came in than would have gone out") \
	OR_ACKER_STAT(LIMIT_SUBSCRIBER, AckLimitSubscriber, \
			"not sent: subscriber_rate") \
	OR_ACKER_STAT(LIMIT_CPU, AckLimitCpu, \
			"not sent: cpu_rate") \
	OR_ACKER_STAT(SEND_FAILED, AckSendFailed, \
			"no route, no memory, or dropped by the stack; see /proc/net/or_port") \
	OR_ACKER_STAT(NO_STAMPS, DeviceNoStamps, \
			"devices not looked at: no nic_ts, or no tracepoints in the kernel") \
	OR_ACKER_STAT(NO_HARDWARE, DeviceNoHardware, \
			"attempts to have a device stamp in hardware that failed") \
	OR_ACKER_STAT(NO_PORT, PortInUse, \
			"attempts to open the port that failed")

enum or_acker_stat_id {
#define OR_ACKER_STAT(id, name, what) OR_ACKER_##id,
	OR_ACKER_STATS
#undef OR_ACKER_STAT
	OR_ACKER_STAT_MAX
};

static_assert(OR_ACKER_SUBSCRIBE_TAG - OR_ACKER_SUBSCRIBE_OK == OR_ERR_TAG);
static_assert(OR_ACKER_SUBSCRIBE_OLD - OR_ACKER_SUBSCRIBE_OK == OR_ERRORS - 1);

struct or_acker_stats {
	unsigned long cnt[OR_ACKER_STAT_MAX];
};

/**
 * struct or_acker_conf - one immutable configuration of a namespace
 * @raw:		the values as they were written
 * @sub_interval_ns:	between two OR-ACKs to one subscriber at its rate
 * @cpu_interval_ns:	between two OR-ACKs of one CPU at its rate
 * @ack_packets:	as in or_acker_params.h
 * @ack_bytes:		as there
 * @ack_delay_ns:	as there
 * @path_interval_ns:	as there
 * @clock_error:	code for the message
 * @all:		mode all
 * @hardware:		stamps of the NIC are wanted
 * @rcu:		readers are on the packet path
 */
struct or_acker_conf {
	u64		raw[OR_ACKER_P_MAX];
	u64		sub_interval_ns;
	u64		cpu_interval_ns;
	u32		ack_packets;
	u32		ack_bytes;
	u32		ack_delay_ns;
	u32		path_interval_ns;
	u8		clock_error;
	bool		all;
	bool		hardware;
	struct rcu_head	rcu;
};

/**
 * struct or_acker_sub - a host that sends data and wants OR-ACKs
 * @node:	in or_acker_net.subs, as long as it is not @dead
 * @key:	the pair of addresses; ports 0
 * @lock:	of @s, @caps, @tat_ns, writers of @told_ns and @learned_ns; inside that of
 *		a flow
 * @s:		its subscription; none in mode all
 * @caps:	OR_CAP_*
 * @tat_ns:	CLOCK_MONOTONIC at which its token bucket is full again
 * @told_ns:	CLOCK_MONOTONIC of the last OR-ACK to it, 0: there was none; read
 *		locklessly
 * @learned_ns:	CLOCK_MONOTONIC until which it learns the delay of the path; read
 *		locklessly
 * @scope:	device of a link-local address, else 0
 * @ifindex:	device that its SUBSCRIBE came in on; 0: there was none
 * @ref:	one for the table, one for each flow
 * @nflows:	flows that point here; under or_acker_net.lock
 * @unused:	in or_acker_net.unused while @nflows is 0
 * @dead:	out of the table; written under or_acker_net.lock, read locklessly
 * @rcu:	looked up under RCU
 */
struct or_acker_sub {
	struct rhash_head	node;
	struct nic_ts_key	key;
	spinlock_t		lock;	/* subscription and bucket */
	struct or_subscription	s;
	u16			caps;
	u64			tat_ns;
	u64			told_ns;
	u64			learned_ns;
	u32			scope;
	int			ifindex;
	refcount_t		ref;
	u32			nflows;
	struct list_head	unused;
	bool			dead;
	struct rcu_head		rcu;
};

/**
 * struct or_acker_flow - a connection that data comes in on
 * @node:	in or_acker_net.flows, as long as it is not @dead
 * @key:	the connection
 * @an:		its namespace
 * @sub:	its sender, with a reference
 * @lock:	of all that follows but the lists; packets of a flow mostly come
 *		in on one CPU, so it is rarely waited for
 * @stamp_ns:	newest packet: CLOCK_MONOTONIC before GRO
 * @hw_ns:	the NIC's stamp of it, 0: none
 * @first_ns:	@stamp_ns of the oldest packet of @since
 * @hw_domain:	of @hw_ns
 * @hw_epoch:	of @hw_ns
 * @seq:	behind the last byte of the newest packet
 * @since:	packets since an OR-ACK was last due
 * @bytes:	payload of these
 * @packets:	packets since the last OR-ACK
 * @in_bytes:	payload of these
 * @credit:	bytes that came in less those that went out, up to
 *		OR_ACKER_CREDIT_MAX
 * @count:	number of the next OR-ACK
 * @seen:	jiffies of the newest packet
 * @priority:	skb->priority of OR-ACKs
 * @tos:	of the newest packet
 * @due:	in the list of flows to send for, of some CPU
 * @limit:	of @since, then an OR-ACK is due
 * @end:	the newest packet is the last that its sender had
 * @quiet:	for @since there is no OR-ACK by time
 * @waiting:	in the list of flows that wait for a timer, of some CPU
 * @dead:	out of the table
 * @why:	enum or_acker_stat_id: what made it due
 * @due_node:	under or_acker_cpu.lock
 * @wait_node:	under or_acker_cpu.lock
 * @wait_ns:	CLOCK_MONOTONIC until which it waits; by who takes it off the list
 * @rcu:	looked up under RCU
 */
struct or_acker_flow {
	struct rhash_head	node;
	struct nic_ts_key	key;
	struct or_acker_net	*an;
	struct or_acker_sub	*sub;

	spinlock_t		lock;	/* see above */
	u64			stamp_ns;
	u64			hw_ns;
	u64			first_ns;
	u32			hw_domain;
	u16			hw_epoch;
	u32			seq;
	u32			since;
	u32			bytes;
	u32			packets;
	u32			in_bytes;
	u32			credit;
	u32			count;
	unsigned long		seen;
	u32			priority;
	u8			tos;
	u8			limit;
	bool			due;
	bool			end;
	bool			quiet;
	bool			waiting;
	bool			dead;
	u8			why;

	struct list_head	due_node;
	struct list_head	wait_node;
	u64			wait_ns;
	struct rcu_head		rcu;
};

/* More than this is not saved up. */
#define OR_ACKER_CREDIT_MAX	4096

/*
 * For so long after its first OR-ACK a sender learns the delay of the empty path, ns, and
 * has one for so many packets, the paper's number. With one for 32 errors are above 1 us
 * for up to 340 ms in onramp-owd, with one for 10 for up to 140 ms; the goal is 200.
 */
#define OR_ACKER_LEARN_NS	(250 * NSEC_PER_MSEC)
#define OR_ACKER_LEARN_PACKETS	10

/* What fits into an empty token bucket, ns at its rate: 1 ms. */
#define OR_ACKER_BURST_NS	NSEC_PER_MSEC

/**
 * struct or_acker_cpu - one CPU
 * @lock:	of the lists; taken by this CPU only, but after it went offline
 * @due:	flows to send an OR-ACK for, in @tasklet
 * @waiting:	flows with packets that made none due, oldest first
 * @timer:	runs when the first of @waiting is old enough
 * @armed:	@timer is
 * @tasklet:	sends for @due, behind the driver's poll
 * @tat_ns:	CLOCK_MONOTONIC at which its token bucket is full again
 */
struct or_acker_cpu {
	spinlock_t		lock;	/* of the lists */
	struct list_head	due;
	struct list_head	waiting;
	struct hrtimer		timer;
	bool			armed;
	struct tasklet_struct	tasklet;
	u64			tat_ns;
};

/**
 * struct or_acker_dev - a device whose packets a namespace sees
 * @receiver:	registered at the bus
 * @an:		the namespace; the device may be in another one, below a VLAN of it
 * @list:	or_acker_net.devs
 * @hw:		hardware stamps were requested
 * @keep:	the work has found it again
 */
struct or_acker_dev {
	struct nic_ts_receiver	receiver;
	struct or_acker_net	*an;
	struct list_head	list;
	bool			hw;
	bool			keep;
};

/**
 * struct or_acker_net - the module's state in one network namespace
 * @net:	back pointer
 * @list:	of all namespaces
 * @conf:	configuration, replaced under @conf_lock
 * @conf_lock:	serialises writers of @conf
 * @stats:	per-CPU counters
 * @lock:	adds to and removes from the tables
 * @subs:	struct or_acker_sub by pair of addresses
 * @flows:	struct or_acker_flow by connection
 * @nsubs:	in @subs; under @lock, read locklessly
 * @nflows:	in @flows, likewise
 * @unused:	subscribers without flows, oldest first; under @lock
 * @devs:	struct or_acker_dev; by @sync_work
 * @ndevs:	in @devs, for /proc
 * @sync_work:	registers at devices, when somebody subscribed
 * @age_work:	ends flows and subscriptions
 * @open:	the port is; by @age_work
 * @exiting:	the namespace, or the module, goes: no more devices
 * @params:	net.or_acker
 */
struct or_acker_net {
	struct net			*net;
	struct list_head		list;
	struct or_acker_conf __rcu	*conf;
	struct mutex			conf_lock;	/* writers of conf */
	struct or_acker_stats __percpu	*stats;
	spinlock_t			lock;		/* writers of the tables */
	struct rhashtable		subs;
	struct rhashtable		flows;
	unsigned int			nsubs;
	unsigned int			nflows;
	struct list_head		unused;
	struct list_head		devs;
	unsigned int			ndevs;
	struct work_struct		sync_work;
	struct delayed_work		age_work;
	bool				open;
	bool				exiting;
	struct net_params		params;
};

extern unsigned int or_acker_net_id;

static inline struct or_acker_net *or_acker_net(const struct net *net)
{
	return net_generic(net, or_acker_net_id);
}

static inline void or_acker_count(const struct or_acker_net *an,
				  enum or_acker_stat_id id)
{
	this_cpu_inc(an->stats->cnt[id]);
}

static inline void or_acker_add(const struct or_acker_net *an,
				enum or_acker_stat_id id, unsigned long n)
{
	this_cpu_add(an->stats->cnt[id], n);
}

/* or_acker_flow.c */
void or_acker_rx(struct nic_ts_receiver *receiver, const struct sk_buff *skb,
		 const struct nic_ts_packet *packet, const struct nic_ts_stamp *stamp);
void or_acker_age(struct or_acker_net *an);
int or_acker_tables_init(struct or_acker_net *an);
void or_acker_tables_exit(struct or_acker_net *an);
int or_acker_flow_init(void);
void or_acker_flow_exit(void);

/* or_acker_sub.c */
void or_acker_subscribe(struct net *net, const struct or_addrs *addrs, int ifindex,
			const u8 *msg, unsigned int len);
struct or_acker_sub *or_acker_sub_find(struct or_acker_net *an,
				       const struct nic_ts_key *pair);
struct or_acker_sub *or_acker_sub_add(struct or_acker_net *an,
				      const struct nic_ts_key *key);
void or_acker_sub_put(struct or_acker_sub *sub);
bool or_acker_sub_key(const struct or_acker_sub *sub, bool all, u8 *nonce, bool *synced);
void or_acker_sub_age(struct or_acker_net *an, bool all);
int or_acker_sub_init(struct or_acker_net *an);
void or_acker_sub_exit(struct or_acker_net *an);

/* or_acker_net.c */
void or_acker_sync(struct or_acker_net *an);
int or_acker_net_register(void);
void or_acker_net_unregister(void);

#endif /* _OR_ACKER_H */
