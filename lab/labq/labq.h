/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State of a switch and of its ports. labq_sch.c describes the model.
 *
 * Locks, outer to inner; each is taken with bottom halves off:
 *
 *	RTNL		settings, ports that come and go
 *	root lock	of a port's qdisc: its lists of packets
 *	switch.lock	everything else here, of all ports of the switch
 *	tx.lock		of a labnic, to have a pause frame sent
 */
#ifndef _LABQ_H
#define _LABQ_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <net/net_namespace.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include "../labnic/labnic_pfc.h"
#include "labq_core.h"
#include "labq_marks.h"
#include "labq_mercury.h"

#include <or_proto.h>

/* labq_config.signal */
enum labq_signal {
	LABQ_SIGNAL_NONE,
	LABQ_SIGNAL_MERCURY,
	LABQ_SIGNAL_TCD,
};

/* CNPs that wait at one time: those of the packets that arrive at one time. */
#define LABQ_CNPS		256

/* Packets that an input sends at once: the most. */
#define LABQ_READS_MAX		32

/**
 * struct labq_switch - all ports in one network namespace
 * @lock: see above
 * @shared: the buffer less the bytes reserved for queues and headrooms
 * @cfg: settings of scope SWITCH; the others are not used. RTNL
 * @ingress: struct labq_ingress of all ports
 * @ports: struct labq_port; RTNL
 * @indices: of ports and of ingress ports that have packets
 * @marks: of input buffers, for each priority; NULL until there are slots
 * @filled: input buffer that @filling has just filled, an event that is yet to be triggered
 * @filling: the packet, or NULL; for comparison only
 * @filling_prio: its priority
 * @net: its network namespace
 * @cnps: CNPs that wait to be sent
 * @n_cnps: their number
 * @cnp_count: count of the last one
 * @cnps_sent: so far
 * @cnps_unsent: those without a key, or a route
 * @cnp_timer: sends them
 */
struct labq_switch {
	spinlock_t lock;		/* see above */
	struct labq_shared shared;
	struct labq_config cfg;
	struct hlist_head ingress[64];
	struct list_head ports;
	DECLARE_BITMAP(indices, LABQ_MARKS_PORTS);
	struct labq_marks *marks;
	const struct sk_buff *filling;
	u8 filled;
	u8 filling_prio;
	struct net *net;
	struct or_cnp cnps[LABQ_CNPS];
	u32 n_cnps;
	u64 cnp_count;
	u64 cnps_sent;
	u64 cnps_unsent;
	struct hrtimer cnp_timer;
};

/* struct labq_ingress_prio - packets of one priority that came in by a port */
struct labq_ingress_prio {
	struct labq_held held;
	u64 max_held_bytes;
	u64 max_headroom_bytes;
	u64 pauses;
	u32 max_slots;
};

/**
 * struct labq_ingress - packets in the switch that came in by a port
 * @node: in labq_switch.ingress, until the port is gone
 * @port: the port; NULL once it is gone
 * @ifindex: of its device
 * @packets: that refer to this; they may outlive the port
 * @paused: priorities that the sender at the other end has been told to hold back
 * @index: input of struct labq_marks; LABQ_MARKS_PORTS if the switch has more ports
 * @sending: packets of its buffer that are being sent, and hold their slots
 * @ends_ns: when the transmission of each ends
 * @ends_prio: priority of each
 */
struct labq_ingress {
	struct hlist_node node;
	struct labq_port *port;
	int ifindex;
	u64 packets;
	u8 paused;
	u8 index;
	u8 sending;
	u8 ends_prio[LABQ_READS_MAX];
	u64 ends_ns[LABQ_READS_MAX];
	struct labq_ingress_prio prios[LABNIC_PRIOS];
};

/**
 * struct labq_queue - egress queue of one priority
 * @list: its packets; root lock
 * @length: their number and bytes
 * @avg: RED's length, in Q24
 * @changed_ns: @area and @hist have the time until then
 * @hist: bins, allocated as lengths come up
 * @bypassed: packets that have overtaken the first one
 * @mercury: state of the port, for this priority
 * @table: its flows, if there are @flows
 * @flows: allocated for @table
 * @stats: by verdict and mark; other counters
 */
struct labq_queue {
	struct qdisc_skb_head list;
	struct labq_length length;
	u64 avg;
	struct labnic_rng rng;
	u64 changed_ns;
	struct labq_area area;
	struct labq_bin *hist[LABQ_HIST_CHUNKS];
	u64 max_bytes;
	u64 max_packets;
	u64 lost_ns;
	u64 enqueued_bytes;
	u64 dequeued_packets;
	u64 dequeued_bytes;
	u64 purged_packets;
	u64 verdicts[LABQ_VERDICTS];
	u64 marks[LABQ_MARK_RED + 1];
	u32 bypassed;
	u64 marked_buffer;
	u64 unmarked_buffer;
	u64 bypasses;
	struct mercury_port mercury;
	struct mercury_table table;
	struct mercury_flow *flows;
	u64 pauses;
	u64 undetermined;
	u64 resumed_congested;
	u64 told;
	u64 untold;
	u64 marked_tcd;
	u64 unmarked_tcd;
};

/**
 * struct labq_port - of a switch: private data of the qdisc
 * @sw: the switch; NULL until it is one of its ports
 * @list: in labq_switch.ports
 * @dev: the device that the qdisc is the root of
 * @cfg: settings; those of the switch are copies
 * @ingress: packets that came in by it
 * @labnic: @dev knows priority flow control and credits
 * @index: output of struct labq_marks
 * @starved: priorities that lacked a credit since the last packet left
 * @tx_bytes: sent so far, on the wire; of telemetry
 * @watchdog: has the qdisc look again when an input is free
 * @since_ns: statistics are from then on
 */
struct labq_port {
	struct labq_switch *sw;
	struct list_head list;
	struct net_device *dev;
	struct labq_config cfg;
	struct labq_ingress *ingress;
	bool labnic;
	u8 index;
	u8 starved;
	u32 tx_bytes;
	struct qdisc_watchdog watchdog;
	u64 since_ns;
	struct labq_queue queues[LABNIC_PRIOS];
};

/**
 * struct labq_cb - of a packet in a queue
 * @ingress: that it is accounted to, or NULL
 * @came_ns: when it came, the low bits of CLOCK_MONOTONIC: 4 s
 * @bytes: its frame, of 64 KB at most
 * @prio: its priority
 * @pool: that it is charged to
 * @slot: it holds a slot of its ingress port's buffer
 * @flow: its place in labq_queue.table, or MERCURY_NO_FLOW
 *
 * A qdisc has 20 bytes in a packet.
 */
struct labq_cb {
	struct labq_ingress *ingress;
	u32 came_ns;
	u32 bytes : 24;
	u32 prio : 4;
	u32 pool : 3;
	u32 slot : 1;
	u16 flow;
} __packed __aligned(4);

static inline struct labq_cb *labq_cb(struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct labq_cb));
	return (struct labq_cb *)qdisc_skb_cb(skb)->data;
}

/* labq_main.c */
extern unsigned int labq_net_id;

/* labq_sch.c */
int labq_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free);
struct sk_buff *labq_dequeue(struct Qdisc *sch);
void labq_reset(struct Qdisc *sch);
void labq_settle(struct labq_queue *q, u64 now);
void labq_ingress_free(struct labq_switch *sw, struct labq_ingress *in);
void labq_pause_check(struct labq_switch *sw, struct labq_ingress *in, u8 prio);
void labq_pause_apply(struct labq_switch *sw, struct labq_ingress *in);
struct labq_switch *labq_switch_of(const struct net_device *dev);

/* labq_mercury.c */
void labq_signal_arrive(struct labq_port *port, struct sk_buff *skb, struct labq_cb *cb);
void labq_signal_depart(struct labq_port *port, const struct labq_cb *cb);
void labq_signal_resume(struct labq_port *port);
void labq_signal_init(struct labq_switch *sw, struct net *net);
void labq_signal_exit(struct labq_switch *sw);

/* labq_telemetry.c */
int labq_telemetry_init(void);
void labq_telemetry_exit(void);
void labq_telemetry_leave(struct labq_port *port, const struct sk_buff *skb);

/* labq_netlink.c */
void labq_defaults(struct labq_config *cfg);
int labq_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack);
int labq_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack);
void labq_destroy(struct Qdisc *sch);
int labq_dump(struct Qdisc *sch, struct sk_buff *skb);
int labq_dump_stats(struct Qdisc *sch, struct gnet_dump *d);

#endif /* _LABQ_H */
