/* SPDX-License-Identifier: GPL-2.0 */
/*
 * or_acker: declarations that its files share. or_acker_main.c has the outline.
 */
#ifndef _OR_ACKER_H
#define _OR_ACKER_H

#include <linux/bitmap.h>
#include <linux/hash.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/rhashtable.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include <net_params_types.h>
#include <nic_ts.h>
#include <or_genl.h>
#include <or_port.h>
#include <or_proto.h>

#include "or_acker_core.h"
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
			"refused SUBSCRIBEs: truncated") \
	OR_ACKER_STAT(SUBSCRIBE_LONG, SubscribeLong, \
			"refused SUBSCRIBEs: trailing bytes") \
	OR_ACKER_STAT(SUBSCRIBE_VERSION, SubscribeVersion, \
			"refused SUBSCRIBEs: another version; or_port finds these") \
	OR_ACKER_STAT(SUBSCRIBE_TYPE, SubscribeType, \
			"refused SUBSCRIBEs: another type; or_port finds these") \
	OR_ACKER_STAT(SUBSCRIBE_RESERVED, SubscribeReserved, \
			"refused SUBSCRIBEs: a reserved bit is set") \
	OR_ACKER_STAT(SUBSCRIBE_PROTOCOL, SubscribeProtocol, \
			"always 0: an error of OR-ACKs only") \
	OR_ACKER_STAT(SUBSCRIBE_VALUE, SubscribeValue, \
			"refused SUBSCRIBEs: a value out of range") \
	OR_ACKER_STAT(SUBSCRIBE_UNSUPPORTED, SubscribeUnsupported, \
			"refused SUBSCRIBEs: about addresses that are not its own") \
	OR_ACKER_STAT(SUBSCRIBE_TAG, SubscribeTag, \
			"refused SUBSCRIBEs: wrong tag, or another pre-shared key") \
	OR_ACKER_STAT(SUBSCRIBE_REPLAY, SubscribeReplay, \
			"refused SUBSCRIBEs: replayed") \
	OR_ACKER_STAT(SUBSCRIBE_OLD, SubscribeOld, \
			"refused SUBSCRIBEs: count 64 or more behind the newest") \
	OR_ACKER_STAT(SUBSCRIBE_COOKIE, SubscribeNoCookie, \
			"SUBSCRIBEs without a valid cookie: answered by a CHALLENGE") \
	OR_ACKER_STAT(CHALLENGE, ChallengeSent, \
			"CHALLENGEs sent") \
	OR_ACKER_STAT(CHALLENGE_LIMIT, ChallengeLimit, \
			"CHALLENGEs not sent: challenge_rate") \
	OR_ACKER_STAT(CHALLENGE_FAILED, ChallengeFailed, \
			"CHALLENGEs not sent: no route, no memory, or dropped by the stack") \
	OR_ACKER_STAT(SUBSCRIBE_NOTHING, SubscribeEndsNothing, \
			"valid SUBSCRIBEs that end an unknown subscription") \
	OR_ACKER_STAT(SUBSCRIBE_FULL, SubscribeTableFull, \
			"valid SUBSCRIBEs refused: table full, all subscribers have flows") \
	OR_ACKER_STAT(SUBSCRIBE_MEMORY, SubscribeNoMemory, \
			"valid SUBSCRIBEs refused: no memory") \
	OR_ACKER_STAT(SUB_NEW, SubscribersNew, \
			"subscribers added") \
	OR_ACKER_STAT(SUB_TAKEN, SubscribersTaken, \
			"subscriptions replaced by one with another nonce") \
	OR_ACKER_STAT(SUB_EVICTED, SubscribersEvicted, \
			"subscribers without flows evicted for new ones") \
	OR_ACKER_STAT(SUB_EXPIRED, SubscribersExpired, \
			"subscribers whose lifetime ended") \
	OR_ACKER_STAT(FLOW_NEW, FlowsNew, \
			"flows added") \
	OR_ACKER_STAT(FLOW_FORWARD, FlowsForwarded, \
			"flows added without a socket, since connection tracking knows them") \
	OR_ACKER_STAT(FLOW_AGED, FlowsAged, \
			"flows removed after flow_age_s without data") \
	OR_ACKER_STAT(FLOW_UNSUBSCRIBED, FlowsUnsubscribed, \
			"flows removed because their subscription ended") \
	OR_ACKER_STAT(FLOW_FULL, PacketFlowTableFull, \
			"packets with data of a subscriber: no flow, because the table is full") \
	OR_ACKER_STAT(FLOW_MEMORY, PacketNoMemory, \
			"packets with data of a subscriber: no flow, because there is no memory") \
	OR_ACKER_STAT(NO_SUBSCRIBER, PacketNotSubscribed, \
			"packets with data of a sender that has not subscribed") \
	OR_ACKER_STAT(BYTES_WITH, DataBytes, \
			"bytes of data of subscribers") \
	OR_ACKER_STAT(BYTES_WITHOUT, DataBytesNotSubscribed, \
			"bytes of data of senders that have not subscribed") \
	OR_ACKER_STAT(NO_SOCKET, PacketNoSocket, \
			"packets with data of a subscriber: unknown connection") \
	OR_ACKER_STAT(OUTSIDE, PacketOutsideWindow, \
			"packets with data outside of the receive window") \
	OR_ACKER_STAT(BUSY, PacketBusy, \
			"batches, and this host's own packets, not looked at: see busy_share") \
	OR_ACKER_STAT(ACK, AckSent, \
			"OR-ACKs sent") \
	OR_ACKER_STAT(ACK_PACKETS, AckedPackets, \
			"packets that OR-ACKs cover, as on the wire") \
	OR_ACKER_STAT(ACK_IN_BYTES, AckedBytes, \
			"payload of the packets that OR-ACKs cover, bytes") \
	OR_ACKER_STAT(ACK_OUT_BYTES, AckBytes, \
			"bytes of OR-ACKs, with IP headers") \
	OR_ACKER_STAT(ACK_BY_COUNT, AckByPackets, \
			"OR-ACKs sent because of ack_packets") \
	OR_ACKER_STAT(ACK_BY_BYTES, AckByBytes, \
			"OR-ACKs sent because of ack_bytes") \
	OR_ACKER_STAT(ACK_BY_TIME, AckByTime, \
			"OR-ACKs sent because of ack_delay_ns") \
	OR_ACKER_STAT(ACK_BY_PATH, AckByPath, \
			"OR-ACKs sent at once, the first after path_interval_ns") \
	OR_ACKER_STAT(ACK_BY_DRAIN, AckByDrain, \
			"OR-ACKs sent at once, since a drain begins") \
	OR_ACKER_STAT(ACK_BY_SILENCE, AckBySilence, \
			"OR-ACKs sent at once, for a packet behind a silence, around a drain") \
	OR_ACKER_STAT(ACK_DRAIN, AckDrain, \
			"OR-ACKs that have their sender drain its path") \
	OR_ACKER_STAT(DRAINS, Drains, \
			"drains: all senders of data were told") \
	OR_ACKER_STAT(ACK_NOT_AT_END, AckNotAtEnd, \
			"OR-ACKs omitted at the end of a burst, since the sender got one lately") \
	OR_ACKER_STAT(STAMP_SOFTWARE, AckStampSoftware, \
			"OR-ACKs with a timestamp of CLOCK_MONOTONIC") \
	OR_ACKER_STAT(STAMP_TAI, AckStampTai, \
			"OR-ACKs with a timestamp of CLOCK_TAI") \
	OR_ACKER_STAT(STAMP_HARDWARE, AckStampHardware, \
			"OR-ACKs with a timestamp of the NIC") \
	OR_ACKER_STAT(NO_CREDIT, AckNoCredit, \
			"OR-ACKs not sent: they would have more bytes than the data") \
	OR_ACKER_STAT(LIMIT_SUBSCRIBER, AckLimitSubscriber, \
			"OR-ACKs not sent: subscriber_rate") \
	OR_ACKER_STAT(LIMIT_CPU, AckLimitCpu, \
			"OR-ACKs not sent: cpu_rate") \
	OR_ACKER_STAT(LIMIT_TIME, AckLimitTime, \
			"OR-ACKs not sent: they took 1/8 of the time of a CPU") \
	OR_ACKER_STAT(SEND_FAILED, AckSendFailed, \
			"OR-ACKs not sent: no route, memory, or dropped; see /proc/net/or_port") \
	OR_ACKER_STAT(SEARCHES, DeviceSearches, \
			"searches for devices to capture from; each takes RTNL") \
	OR_ACKER_STAT(NO_STAMPS, DeviceNoStamps, \
			"devices not captured: no nic_ts, or no tracepoints in the kernel") \
	OR_ACKER_STAT(DEVICE_MEMORY, DeviceNoMemory, \
			"devices not captured: no memory; searched for again after 10 s") \
	OR_ACKER_STAT(NO_HARDWARE, DeviceNoHardware, \
			"failed attempts to turn on hardware timestamps of a device") \
	OR_ACKER_STAT(NO_PORT, PortInUse, \
			"failed attempts to open the port")

enum or_acker_stat_id {
#define OR_ACKER_STAT(id, name, what) OR_ACKER_##id,
	OR_ACKER_STATS
#undef OR_ACKER_STAT
	OR_ACKER_STAT_MAX
};

static_assert(OR_ACKER_SUBSCRIBE_TAG - OR_ACKER_SUBSCRIBE_OK == OR_ERR_TAG);
static_assert(OR_ACKER_SUBSCRIBE_COOKIE - OR_ACKER_SUBSCRIBE_OK == OR_ERRORS - 1);

struct or_acker_stats {
	unsigned long cnt[OR_ACKER_STAT_MAX];
};

/* AckBy* are in the order of enum or_acker_why. */
static_assert(OR_ACKER_ACK_BY_SILENCE - OR_ACKER_ACK_BY_COUNT == OR_ACKER_WHY_SILENCE);

/**
 * struct or_acker_conf - one immutable configuration of a namespace
 * @raw:		the values as they were written
 * @granted:		bit of each value that the administrator of the host wrote
 * @rules:		as the decisions need them
 * @cpu_interval_ns:	between two OR-ACKs of one CPU at its rate
 * @challenge_interval_ns: between two CHALLENGEs at their rate
 * @clock_error:	code for the message
 * @clock_until:	until then, CLOCK_BOOTTIME, ns; 0: for ever
 * @all:		mode all
 * @hardware:		use timestamps of the NIC
 * @forward:		ask connection tracking where there is no socket
 * @drain:		have senders drain their paths
 * @rcu:		readers are on the packet path
 */
struct or_acker_conf {
	u64		raw[OR_ACKER_P_MAX];
	unsigned long	granted;
	struct or_acker_rules rules;
	u32		cpu_interval_ns;
	u32		challenge_interval_ns;
	u8		clock_error;
	u64		clock_until;
	bool		all;
	bool		hardware;
	bool		forward;
	bool		drain;
	struct rcu_head	rcu;
};

/* An OR-ACK was sent: or_acker_sub.clock has its domain. */
#define OR_ACKER_CLOCK		0x100

/**
 * struct or_acker_sub - a host that sends data and wants OR-ACKs
 * @node:	in or_acker_net.subs, as long as it is not @dead
 * @key:	the pair of addresses, of or_acker_pair()
 * @lock:	of @s, @caps, @acks, @all_key; writers of @path, @newest; inside that of a flow
 * @nflows:	flows that point here; under or_acker_net.lock, read locklessly
 * @s:		its subscription; none in mode all
 * @caps:	OR_CAP_*; read locklessly
 * @clock:	OR_ACKER_CLOCK and the domain of its last OR-ACK, or 0; without a lock
 * @all_keyed:	@all_key is set
 * @all_key:	of OR-ACKs in mode all without a subscription, or_acker_sub_all_key()
 * @dead:	out of the table; written under or_acker_net.lock, read locklessly
 * @path:	knowledge of the sender about its path; read locklessly
 * @scope:	device of a link-local address, else that of its VRF or 0; constant
 * @ifindex:	device that its SUBSCRIBE came in on; 0: there was none
 * @acks:	OR-ACKs to it; under @lock
 * @newest:	its flow that the last of these was about, as long as that lives; RCU
 * @ref:	one for the table, one for each flow
 * @route:	of OR-ACKs
 * @unused:	in or_acker_net.unused while @nflows is 0
 * @rcu:	looked up under RCU
 */
struct or_acker_sub {
	struct rhash_head	node;
	struct nic_ts_key	key;
	spinlock_t		lock;	/* subscription and bucket */
	u32			nflows;
	struct or_subscription	s;
	u16			caps;
	u16			clock;
	bool			all_keyed;
	u8			all_key[OR_KEY_LEN];
	bool			dead;
	struct or_acker_path	path;
	u64			acks;
	struct or_acker_flow __rcu *newest;
	u32			scope;
	int			ifindex;
	refcount_t		ref;
	struct or_route		route;
	struct list_head	unused;
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
 * @track:	input of the decisions; its @due and @waiting say that the flow is in the
 *		list of that name, of some CPU
 * @hw_ns:	timestamp of the NIC of the newest packet, ns; 0: none
 * @hw_domain:	of @hw_ns
 * @hw_epoch:	of @hw_ns
 * @tos:	of the newest packet
 * @class:	of the newest packet, of or_acker_class_of()
 * @local:	a socket of this host sent the newest packet
 * @dead:	out of the table
 * @priority:	skb->priority of OR-ACKs
 * @wait_cpu:	CPU in whose list of waiting flows it is, if it is in one
 * @last_packet:	jiffies of the newest packet
 * @link:	of the newest packet, with a reference; NULL: of this host, or none yet
 * @due_node:	under or_acker_cpu.lock
 * @wait_node:	under or_acker_cpu.lock
 * @wait_ns:	CLOCK_MONOTONIC until which it waits; written by the CPU that takes it off the list
 * @rcu:	looked up under RCU
 */
struct or_acker_flow {
	struct rhash_head	node;
	struct nic_ts_key	key;
	struct or_acker_net	*an;
	struct or_acker_sub	*sub;

	spinlock_t		lock;	/* see above */
	struct or_acker_track	track;
	u64			hw_ns;
	u32			hw_domain;
	u16			hw_epoch;
	u8			tos;
	u8			class;
	bool			local;
	bool			dead;
	u32			priority;
	int			wait_cpu;
	unsigned long		last_packet;
	struct or_acker_link	*link;

	struct list_head	due_node;
	struct list_head	wait_node;
	u64			wait_ns;
	struct rcu_head		rcu;
};

/**
 * struct or_acker_cpu - one CPU of a namespace
 * @lock:	of all that follows; inside those of flow and subscriber; taken by this
 *		CPU only, but after it went offline
 * @due:	flows to send an OR-ACK for, in @tasklet
 * @waiting:	flows with packets that made none due, oldest first
 * @timer:	runs when the first of @waiting is old enough
 * @armed:	@timer is
 * @away:	on another CPU, which took it when this one went offline
 * @tasklet:	sends for @due, behind the driver's poll
 * @tat_ns:	CLOCK_MONOTONIC at which its token bucket is full again
 * @busy_tat_ns: likewise, of its part of busy_share; under the lock of the CPU's load
 * @time_tat_ns: likewise, of the time that all its OR-ACKs may take
 * @round:	see or_acker_load_spent(); likewise
 *
 * Namespaces share none of it. A flow of one with a long ack_delay_ns is in front of no
 * flow of another one, and each has tokens of its own.
 */
struct or_acker_cpu {
	spinlock_t		lock;	/* lists, timer, bucket */
	struct list_head	due;
	struct list_head	waiting;
	struct hrtimer		timer;
	bool			armed;
	bool			away;
	struct tasklet_struct	tasklet;
	u64			tat_ns;
	u64			busy_tat_ns;
	u64			time_tat_ns;
	u32			round;
};

/**
 * struct or_acker_tap - a device whose packets are captured
 * @receiver:	registered at the bus, once for all namespaces
 * @list:	of all of them
 * @devs:	struct or_acker_dev, one for each namespace; read under RCU
 */
struct or_acker_tap {
	struct nic_ts_receiver	receiver;
	struct list_head	list;
	struct hlist_head	devs;
};

/**
 * struct or_acker_data - data that a CPU received from a device for a namespace
 * @with:	of flows that have OR-ACKs, by class, in units of or_acker_share_units()
 * @without:	of senders that have not subscribed, likewise
 */
struct or_acker_data {
	u32	with[OR_ACKER_CLASSES];
	u32	without[OR_ACKER_CLASSES];
};

/**
 * struct or_acker_link - shares of the data that a namespace receives from a device
 * @ref:	one of its or_acker_dev, one of each flow whose newest packet came from it
 * @lock:	of updates of @share, taken by the CPU that finds it free; inside that of a flow
 * @share:	by class; @at_ns and @others of each are read locklessly
 * @tick:	by class: jiffies when data of a sender that has not subscribed last updated @share
 * @data:	the sums that @share is made of
 */
struct or_acker_link {
	refcount_t			ref;
	spinlock_t			lock;	/* share */
	struct or_acker_share		share[OR_ACKER_CLASSES];
	u32				tick[OR_ACKER_CLASSES];
	struct or_acker_data __percpu	*data;
};

/**
 * struct or_acker_dev - a device whose packets a namespace sees
 * @node:	or_acker_tap.devs
 * @an:		the namespace; the device may be in another one, below a VLAN of it
 * @tap:	the device, NULL: not registered
 * @link:	shares of its data, with a reference
 * @net:	namespace of the device
 * @ifindex:	the device
 * @list:	or_acker_net.devs
 * @hw:		hardware timestamps were requested
 * @keep:	the work has found it again
 * @soft:	no driver of a NIC has made it: it may be on top of another one, unknown here
 * @costly:	what goes through it goes through a program or a cipher: TUN, WireGuard, xfrm
 */
struct or_acker_dev {
	struct hlist_node	node;
	struct or_acker_net	*an;
	struct or_acker_tap	*tap;
	struct or_acker_link	*link;
	struct net		*net;
	int			ifindex;
	struct list_head	list;
	bool			hw;
	bool			keep;
	bool			soft;
	bool			costly;
};

/* struct or_acker_walk - how far or_acker_walk() has looked at a table; @on: it is in one */
struct or_acker_walk {
	struct rhashtable_iter	iter;
	bool			on;
};

/* Bits of or_acker_net.laddrs. */
#define OR_ACKER_LADDR_BITS	9

/**
 * struct or_acker_net - the module's state in one network namespace
 * @net:	back pointer
 * @list:	of all namespaces
 * @conf:	configuration, replaced under @conf_lock
 * @conf_lock:	serialises writers of @conf, and openers of the port
 * @stats:	per-CPU counters
 * @cpus:	lists, timers and token buckets
 * @laddrs:	bit of or_acker_laddr_bit() for each local address that has a subscriber,
 *		or had one since there was none; set under @lock, read locklessly
 * @all:	mode all, so that each address may have one; likewise, under @conf_lock
 * @lock:	adds to and removes from the tables
 * @subs:	struct or_acker_sub by pair of addresses
 * @flows:	struct or_acker_flow by connection
 * @sub_walk:	of @subs, by @age_work
 * @flow_walk:	of @flows, likewise
 * @nsubs:	in @subs; under @lock, read locklessly
 * @nscoped:	those of @nsubs with a scope, likewise
 * @nflows:	in @flows, likewise
 * @unused:	subscribers without flows, oldest first; under @lock
 * @secret:	of cookies and of first counts; constant
 * @rx_random:	hides unsynchronised clocks, see or_acker_hide_ns(); constant
 * @domain_base:	domain of CLOCK_MONOTONIC; constant
 * @challenge_tat_ns: CLOCK_MONOTONIC at which the token bucket of CHALLENGEs is full again
 * @drain:	when drains begin; under @lock, @until_ns of it is read locklessly
 * @drain_able:	subscribers that take OR_DRAIN, of those that @drain_work has seen in this run
 * @drain_notified:	those of them that it has notified
 * @devs:	struct or_acker_dev; by @sync_work
 * @ndevs:	in @devs, for /proc
 * @incomplete:	a device is missing in @devs, most likely for lack of memory; by @sync_work,
 *		which searches again
 * @sync_work:	registers at devices after a subscription
 * @age_work:	ends flows and subscriptions
 * @drain_work:	begins drains; while there are subscribers that take OR_DRAIN
 * @open:	the port is; by @age_work
 * @exiting:	the namespace, or the module, goes: no more devices
 * @params:	net.or_acker
 */
struct or_acker_net {
	struct net			*net;
	struct list_head		list;
	struct or_acker_conf __rcu	*conf;
	struct mutex			conf_lock;	/* writers of conf, openers */
	struct or_acker_stats __percpu	*stats;
	struct or_acker_cpu __percpu	*cpus;
	DECLARE_BITMAP(laddrs, 1 << OR_ACKER_LADDR_BITS);
	bool				all;
	spinlock_t			lock;		/* writers of the tables */
	struct rhashtable		subs;
	struct rhashtable		flows;
	struct or_acker_walk		sub_walk;
	struct or_acker_walk		flow_walk;
	unsigned int			nsubs;
	unsigned int			nscoped;
	unsigned int			nflows;
	struct list_head		unused;
	siphash_key_t			secret;
	u64				rx_random;
	u8				domain_base;
	atomic64_t			challenge_tat_ns;
	struct or_acker_drain		drain;
	u32				drain_able;
	u32				drain_notified;
	struct list_head		devs;
	unsigned int			ndevs;
	bool				incomplete;
	struct delayed_work		sync_work;
	struct delayed_work		age_work;
	struct delayed_work		drain_work;
	bool				open;
	bool				exiting;
	struct net_params		params;
};

/* or_acker_laddr_bit() - return the bit for the local address of a packet or a subscriber */
static inline unsigned int or_acker_laddr_bit(const struct nic_ts_key *key)
{
	return hash_32((__force u32)(key->laddr[0] ^ key->laddr[1] ^ key->laddr[2] ^
				     key->laddr[3]), OR_ACKER_LADDR_BITS);
}

/**
 * or_acker_pair() - return the key of the subscriber of a connection
 * @key:	a connection, or a pair of addresses
 * @scope:	index of the device of a link-local address; else of the VRF that it is in, or 0
 *
 * Hosts have the same link-local addresses on each VLAN of a device, and any in each VRF. So the
 * index is part of the key, in the place of the ports.
 */
static inline struct nic_ts_key or_acker_pair(const struct nic_ts_key *key, u32 scope)
{
	struct nic_ts_key pair = *key;

	pair.lport = (__force __be16)(scope >> 16);
	pair.rport = (__force __be16)(scope & 0xffff);
	return pair;
}

/* or_acker_pair_scope() - return the @scope that or_acker_pair() was given */
static inline u32 or_acker_pair_scope(const struct nic_ts_key *pair)
{
	return (__force u32)pair->lport << 16 | (__force u32)pair->rport;
}

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

/**
 * struct or_acker_host - values of the initial network namespace, which limit the others
 * @value:		of parameters that or_acker_limits_host() names; of others 0
 * @cpu_interval_ns:	of its cpu_rate
 *
 * Written under its or_acker_net.conf_lock, read locklessly.
 */
struct or_acker_host {
	u32	value[OR_ACKER_P_MAX];
	u32	cpu_interval_ns;
};

extern struct or_acker_host or_acker_host;

/**
 * or_acker_limits_host() - return whether a parameter limits the use of the host by a namespace
 * @id:		the parameter
 *
 * Its value is at most that of the initial network namespace, in all namespaces in which
 * the administrator of the host has not written another one.
 */
static inline bool or_acker_limits_host(unsigned int id)
{
	return id == OR_ACKER_P_MAX_SUBSCRIBERS || id == OR_ACKER_P_MAX_FLOWS ||
	       id == OR_ACKER_P_CPU_RATE;
}

/* or_acker_value() - return a parameter of a namespace, within the host's limit; any context */
static inline u64 or_acker_value(const struct or_acker_conf *conf, unsigned int id)
{
	if (!or_acker_limits_host(id) || conf->granted & BIT(id))
		return conf->raw[id];
	return min_t(u64, conf->raw[id], READ_ONCE(or_acker_host.value[id]));
}

/* or_acker_cpu_interval_ns() - return conf->cpu_interval_ns, within the host's limit */
static inline u32 or_acker_cpu_interval_ns(const struct or_acker_conf *conf)
{
	if (conf->granted & BIT(OR_ACKER_P_CPU_RATE))
		return conf->cpu_interval_ns;
	return max(conf->cpu_interval_ns, READ_ONCE(or_acker_host.cpu_interval_ns));
}

/* or_acker_sync_soon() - schedule or_acker_sync(); any but NMI */
static inline void or_acker_sync_soon(struct or_acker_net *an)
{
	mod_delayed_work(system_percpu_wq, &an->sync_work, 0);
}

/* or_acker_drain_arm() - have the work run at @an->drain.next_ns, not earlier; or_acker_net.lock */
static inline void or_acker_drain_arm(struct or_acker_net *an)
{
	u64 now_ns = ktime_get_ns();
	u64 wait_ns = an->drain.next_ns > now_ns ? an->drain.next_ns - now_ns : 0;

	lockdep_assert_held(&an->lock);
	mod_delayed_work(system_percpu_wq, &an->drain_work, nsecs_to_jiffies(wait_ns) + 1);
}

/* or_acker_drain_new() - a sender has come that does not know its path; or_acker_net.lock */
static inline void or_acker_drain_new(struct or_acker_net *an)
{
	lockdep_assert_held(&an->lock);
	if (or_acker_drain_sender(&an->drain, ktime_get_ns()))
		or_acker_drain_arm(an);
}

/**
 * struct or_acker_clock - the clock of the timestamps in OR-ACKs
 * @ns:		it less CLOCK_MONOTONIC
 * @phc_ns:	it less the NIC's clock, if @nic
 * @nic:	it is by a NIC's clock
 */
struct or_acker_clock {
	s64	ns;
	s64	phc_ns;
	bool	nic;
};

/* or_acker_flow.c */
void or_acker_rx(struct nic_ts_receiver *receiver, const struct sk_buff *skb,
		 const struct nic_ts_packet *packet, const struct nic_ts_stamp *stamp);
bool or_acker_clock_read(const struct or_acker_net *an, u8 domain, int ifindex,
			 struct or_acker_clock *clock);
bool or_acker_skip(struct nic_ts_receiver *receiver, const struct sk_buff *skb);
u32 __percpu *or_acker_skips(void);
bool or_acker_notify(struct or_acker_sub *sub);
bool or_acker_age(struct or_acker_net *an);
struct or_acker_link *or_acker_link_alloc(void);
void or_acker_link_put(struct or_acker_link *link);
void or_acker_tracker_get(struct or_acker_net *an);
int or_acker_tables_init(struct or_acker_net *an);
void or_acker_trains_void(void);
void or_acker_tables_exit(struct or_acker_net *an);
int or_acker_flow_init(void);
void or_acker_flow_exit(void);

/* or_acker_sub.c */
void or_acker_subscribe(struct net *net, const struct or_addrs *addrs, int ifindex, u32 mark,
			const u8 *msg, unsigned int len);
u64 or_acker_now_s(void);
struct or_acker_sub *or_acker_sub_find(struct or_acker_net *an,
				       const struct nic_ts_key *pair);
struct or_acker_sub *or_acker_sub_add(struct or_acker_net *an,
				      const struct nic_ts_key *key);
void or_acker_sub_put(struct or_acker_sub *sub);
bool or_acker_sub_key(struct or_acker_sub *sub, bool all, u8 *key, u16 *caps);
bool or_acker_sub_age(struct or_acker_net *an);
bool or_acker_walk(struct or_acker_walk *w, struct rhashtable *table,
		   void (*look)(struct or_acker_net *an, void *entry), struct or_acker_net *an);
void or_acker_walk_exit(struct or_acker_walk *w);
int or_acker_sub_init(struct or_acker_net *an);
void or_acker_sub_exit(struct or_acker_net *an);

/* or_acker_drain.c */
void or_acker_drain_work(struct work_struct *work);

/* or_acker_net.c */
void or_acker_sync(struct or_acker_net *an);
int or_acker_net_register(void);
void or_acker_net_unregister(void);
int or_acker_put_stats(struct sk_buff *msg, struct net *net);

/* or_acker_genl.c */
void or_acker_genl_init(void);
void or_acker_genl_exit(void);

#endif /* _OR_ACKER_H */
