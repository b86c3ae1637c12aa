/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State of one end of a labnic pair. labnic_main.c describes the model.
 *
 * Locks, outer to inner; each is taken with bottom halves off:
 *
 *	RTNL		configuration, carrier, up and down
 *	tx.lock		rings and wire of the direction this end sends in
 *	rxq.lock	of the *other* end: frames on that wire or in its RX ring
 *	pfc.lock	of the *other* end: pause frames on that wire; leaf
 *	credit.lock	of the *other* end: slots of its buffer; leaf
 *	stamps.lock	TX stamps in flight; leaf
 *	phc.lock	the hardware clock; leaf
 *
 * No lock is held while the stack is called: neither for received packets nor
 * for freed ones. The other end is reached through an RCU pointer only.
 */
#ifndef _LABNIC_H
#define _LABNIC_H

#include <linux/hrtimer.h>
#include <linux/net_tstamp.h>
#include <linux/netdevice.h>
#include <linux/ptp_clock_kernel.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/u64_stats_sync.h>

#include "labnic_core.h"
#include "labnic_credits.h"
#include "labnic_pfc.h"

/* Descriptors that must be free for a TX queue to run: data and all fragments. */
#define LABNIC_TX_DESCS		(MAX_SKB_FRAGS + 1)

/* Free descriptors at which a stopped TX queue runs again. */
#define LABNIC_TX_WAKE		(2 * LABNIC_TX_DESCS)

/**
 * struct labnic_config - one end's settings; never changed, but replaced
 *
 * One s64 for each of LABNIC_PARAMS, in the units given there.
 */
struct labnic_config {
	struct rcu_head rcu
#define LABNIC_X(NAME, field, ...)	; s64 field
	LABNIC_PARAMS;
#undef LABNIC_X
};

/* labnic_rate_of() - the line rate as it is, by the host's clock, in bit/s */
static inline u64 labnic_rate_of(const struct labnic_config *cfg)
{
	return labnic_rate_bit(cfg->rate_bit, cfg->rate_drift_ppb);
}

/* Counters, shown by ethtool -S under the same names. */

/* of a TX queue; packets and bytes as they are on the wire, without the FCS */
#define LABNIC_TXQ_STATS \
LABNIC_X(packets) \
LABNIC_X(bytes) \
LABNIC_X(posted)	/* packets that the stack handed over */ \
LABNIC_X(segmented)	/* of those, cut on the wire */ \
LABNIC_X(stopped)	/* times the ring was full */ \
LABNIC_X(woken) \
LABNIC_X(no_carrier)	/* dropped */ \
LABNIC_X(errors)	/* dropped: could not be cut, no memory */

/* of the wire in the direction this end sends in, and of TX stamps */
#define LABNIC_WIRE_STATS \
LABNIC_X(lost) \
LABNIC_X(duplicated) \
LABNIC_X(reordered) \
LABNIC_X(corrupted) \
LABNIC_X(down)		/* lost: the other end is down */ \
LABNIC_X(pauses_sent)	/* pause frames, those that end a pause as well */ \
LABNIC_X(pauses_received) \
LABNIC_X(stamps)	/* TX stamps delivered */ \
LABNIC_X(stamps_skipped) /* no slot was free */ \
LABNIC_X(stamps_missed)	/* never delivered */ \
LABNIC_X(stamps_late) \
LABNIC_X(stamps_disordered) \
LABNIC_X(tx_irqs)	/* with tx_usecs: interrupts that freed packets */

/* of an RX queue */
#define LABNIC_RXQ_STATS \
LABNIC_X(packets) \
LABNIC_X(bytes) \
LABNIC_X(irqs) \
LABNIC_X(polls) \
LABNIC_X(ring_full)	/* dropped */ \
LABNIC_X(too_long)	/* dropped */ \
LABNIC_X(bad_fcs)	/* dropped */ \
LABNIC_X(stamps) \
LABNIC_X(stamps_missed) \
LABNIC_X(stamps_disordered)

#define LABNIC_X(field)	; u64 field
struct labnic_txq_stats { LABNIC_TXQ_STATS; };
struct labnic_wire_stats { LABNIC_WIRE_STATS; };
struct labnic_rxq_stats { LABNIC_RXQ_STATS; };
#undef LABNIC_X

/* labnic_count() - add to a counter of a queue or wire, whose lock is held */
#define labnic_count(owner, field, n) do {				\
	typeof(owner) _owner = (owner);					\
	u64 *_counter = &_owner->stats.field;				\
									\
	u64_stats_update_begin(&_owner->syncp);				\
	*_counter += n;							\
	u64_stats_update_end(&_owner->syncp);				\
} while (0)

/**
 * struct labnic_tx_cb - of a packet in a TX ring
 * @ready_ns: the NIC has fetched it
 * @bytes: for BQL
 * @descs: descriptors it takes
 * @cut: it is in labnic_txq.segs, too
 * @prio: priority by which it can be paused
 * @stamp: clone to stamp, holding a slot, or NULL
 */
struct labnic_tx_cb {
	u64 ready_ns;
	u32 bytes;
	u16 descs;
	bool cut;
	u8 prio;
	struct sk_buff *stamp;
};

#define LABNIC_TX_CB(skb)	((struct labnic_tx_cb *)(skb)->cb)

/**
 * struct labnic_rx_cb - of a packet on the wire or in an RX ring
 * @arrive_ns: its last bit arrives
 * @sfd_ns: its start-of-frame delimiter arrived
 * @bad_fcs: nothing but the frame check sequence would tell that it is broken
 * @credit: it holds a slot of the receiver's buffer
 * @prio: of that
 */
struct labnic_rx_cb {
	u64 arrive_ns;
	u64 sfd_ns;
	bool bad_fcs;
	bool credit;
	u8 prio;
};

#define LABNIC_RX_CB(skb)	((struct labnic_rx_cb *)(skb)->cb)

/**
 * struct labnic_stamp_cb - of a TX stamp in flight
 * @due_ns: when it is delivered
 * @raw_ns: its time on CLOCK_MONOTONIC_RAW: the two clocks drift apart
 * @miss: it is not delivered after all
 */
struct labnic_stamp_cb {
	u64 due_ns;
	u64 raw_ns;
	bool miss;
};

#define LABNIC_STAMP_CB(skb)	((struct labnic_stamp_cb *)(skb)->cb)

/**
 * struct labnic_txq - TX queue; under tx.lock
 * @ring: packets not wholly on the wire, in order
 * @segs: segments left to send of the first of them, if it had to be cut
 * @used: descriptors of these, of the packet in labnic_tx.sent, and of those that are held
 * @held_packets: have left, and wait for the TX interrupt
 * @held_bytes: their bytes
 * @held_descs: their descriptors
 * @done_packets: to report to BQL
 * @done_bytes: and their bytes
 * @pace: the next packet of a segment does not start before
 */
struct labnic_txq {
	struct sk_buff_head ring;
	struct sk_buff *segs;
	u32 used;
	u32 held_packets;
	u32 held_bytes;
	u32 held_descs;
	u32 done_packets;
	u32 done_bytes;
	struct labnic_time pace;
	struct u64_stats_sync syncp;
	struct labnic_txq_stats stats;
};

/**
 * struct labnic_sent - the packet whose last frame is on the wire, or was
 * @q: queue it is from; NULL if there is none
 * @skb: it, or NULL if the other end got it
 * @done_ns: its last bit has left
 * @bytes: for BQL
 * @descs: descriptors it takes
 */
struct labnic_sent {
	struct labnic_txq *q;
	struct sk_buff *skb;
	u64 done_ns;
	u32 bytes;
	u16 descs;
};

/**
 * struct labnic_tx - the direction this end sends in
 * @lock: protects all of it and the TX queues
 * @timer: for the next thing to happen that somebody waits for
 * @timed: it is set
 * @timer_ns: to this time
 * @running: the device is up
 * @held: packets that have left, and are freed by the TX interrupt
 * @held_packets: how many have left since the last one, those that are not in @held included
 * @irq_ns: the TX interrupt, if there are any
 * @wire: when the wire is free
 * @frame_end_ns: when the frame on it has left, which is a gap earlier
 * @sent: done by then, at the latest
 * @rate_bit: the rate that @wire is a fraction of
 * @last: queue served last
 */
struct labnic_tx {
	spinlock_t lock;		/* see above */
	struct hrtimer timer;
	bool timed;
	bool running;
	u64 timer_ns;
	struct sk_buff_head held;
	u32 held_packets;
	u64 irq_ns;
	struct labnic_time wire;
	u64 frame_end_ns;
	struct labnic_sent sent;
	u64 rate_bit;
	unsigned int last;
	struct labnic_rng rng[LABNIC_RNG_TX_MAX];
	struct u64_stats_sync syncp;
	struct labnic_wire_stats stats;
};

/**
 * struct labnic_pfc - priority flow control of one end
 * @want: priorities that the other end is to hold back; under tx.lock
 * @told: priorities in the last pause frame to it; under tx.lock
 * @paused: priorities that this end holds back; written under tx.lock
 * @enabled: @want may come to be something else than 0
 * @since_ns: @paused_ns has the time until then
 * @paused_ns: time each priority has been held back; under tx.lock
 * @changed_ns: when each was held back or let go; written under tx.lock
 * @lock: protects the rest
 * @running: the device is up
 * @frames: pause frames that arrive later, in order
 * @next_ns: the first of them arrives, U64_MAX without any
 * @timer: then
 */
struct labnic_pfc {
	u8 want;
	u8 told;
	u8 paused;
	bool enabled;
	u64 since_ns;
	u64 paused_ns[LABNIC_PRIOS];
	u64 changed_ns[LABNIC_PRIOS];
	/* see above */
	spinlock_t lock ____cacheline_aligned_in_smp;
	bool running;
	struct list_head frames;
	u64 next_ns;
	struct hrtimer timer;
};

/**
 * struct labnic_credit - slots of the buffer behind this end; labnic_credit.c
 * @lock: protects all but @slots, which is read without it, and @claimed
 * @slots: of each priority; 0: the other end sends at any time
 * @waiting: the other end has something to send, and no credit
 * @claimed: the frame that the stack has keeps its slot
 * @prios: of each priority
 * @timer: a credit arrives at the other end, which waits
 */
struct labnic_credit {
	spinlock_t lock;		/* see above */
	u32 slots;
	bool waiting;
	bool claimed;
	struct labnic_credits prios[LABNIC_PRIOS];
	struct hrtimer timer;
};

/**
 * struct labnic_rxq - RX queue
 * @napi: the interrupt handler's other half
 * @timer: the interrupt; hard, since all it does is to schedule @napi
 * @lock: protects the rest
 * @wire: packets that arrive later, by time of arrival
 * @ring: packets that have arrived
 * @armed: an interrupt is under way, or @napi runs
 * @irq_ns: when @timer is to expire
 * @latency_ns: part of that which is interrupt latency
 * @last_sfd_ns: of the packet before
 */
struct labnic_rxq {
	struct napi_struct napi;
	struct hrtimer timer;
	struct labnic_priv *priv;
	/* see above */
	spinlock_t lock ____cacheline_aligned_in_smp;
	struct sk_buff_head wire;
	struct sk_buff_head ring;
	bool running;
	bool armed;
	u64 irq_ns;
	u64 latency_ns;
	u64 last_sfd_ns;
	struct labnic_rng rng[LABNIC_RNG_RX_MAX];
	struct u64_stats_sync syncp;
	struct labnic_rxq_stats stats;
};

/**
 * struct labnic_stamps - TX stamps in flight
 * @used: slots that packets and stamps take
 * @queue: stamps to deliver, by time
 * @held: a stamp that waits for the next one to overtake it
 */
struct labnic_stamps {
	spinlock_t lock;		/* see above */
	struct hrtimer timer;
	bool running;
	u32 used;
	struct sk_buff_head queue;
	struct sk_buff *held;
};

/**
 * struct labnic_priv - one end
 * @peer: the other end; NULL once one of them is on its way out
 * @cfg: settings; RTNL to replace
 * @initial: settings to start with, until it is registered
 * @link_up: both ends are up and plugged in
 * @id: number of the device since the module was loaded
 */
struct labnic_priv {
	struct net_device *dev;
	struct net_device __rcu *peer;
	struct labnic_config __rcu *cfg;
	const struct labnic_config *initial;
	bool link_up;
	u32 id;
	int hwtstamp_tx;
	int hwtstamp_rx;

	struct labnic_tx tx ____cacheline_aligned_in_smp;
	struct labnic_pfc pfc;
	struct labnic_credit credit;
	struct labnic_stamps stamps;
	struct labnic_txq *txqs;
	struct labnic_rxq *rxqs;

	spinlock_t phc_lock;		/* phc */
	struct labnic_phc phc;
	struct ptp_clock *ptp;
	struct ptp_clock_info ptp_info;
};

/* labnic_main.c */
int labnic_config_set(struct labnic_priv *priv, const struct labnic_config *cfg,
		      struct netlink_ext_ack *extack);

/* labnic_tx.c */
netdev_tx_t labnic_start_xmit(struct sk_buff *skb, struct net_device *dev);
void labnic_tx_init(struct labnic_priv *priv);
void labnic_tx_start(struct labnic_priv *priv);
void labnic_tx_stop(struct labnic_priv *priv);
void labnic_tx_kick(struct labnic_priv *priv);
void labnic_tx_limit(struct labnic_priv *priv);
void labnic_tx_seed(struct labnic_priv *priv, u64 seed);

/* labnic_pfc.c */
void labnic_pfc_init(struct labnic_priv *priv);
void labnic_pfc_start(struct labnic_priv *priv);
void labnic_pfc_stop(struct labnic_priv *priv);
void labnic_pfc_link(struct labnic_priv *priv);
void labnic_pfc_receive(struct labnic_priv *priv, u64 now);
int labnic_pfc_send(struct labnic_priv *priv, const struct labnic_config *cfg,
		    struct labnic_priv *peer, u64 now);
u64 labnic_pfc_retry_ns(u64 now);
void labnic_pfc_read(struct labnic_priv *priv, u64 *paused_ns);

/* labnic_credit.c */
void labnic_credit_init(struct labnic_priv *priv);
void labnic_credit_stop(struct labnic_priv *priv);
u8 labnic_credit_none(struct labnic_priv *peer, u64 now, bool wait);
bool labnic_credit_take(struct labnic_priv *peer, u8 prio);
void labnic_credit_give(struct labnic_priv *priv, u8 prio, u64 free_ns);

/* labnic_rx.c */
void labnic_rx_init(struct labnic_priv *priv);
void labnic_rx_start(struct labnic_priv *priv);
void labnic_rx_stop(struct labnic_priv *priv);
void labnic_rx_cut(struct labnic_priv *priv);
void labnic_rx_seed(struct labnic_priv *priv, u64 seed);
bool labnic_rx_arrive(struct labnic_priv *priv, struct sk_buff *skb);

/* labnic_ptp.c */
u64 labnic_raw_from_mono(u64 mono_ns);
u64 labnic_phc_from_raw(struct labnic_priv *priv, u64 raw_ns);
int labnic_ptp_init(struct labnic_priv *priv);
void labnic_ptp_exit(struct labnic_priv *priv);
int labnic_ptp_index(const struct labnic_priv *priv);
void labnic_stamps_init(struct labnic_priv *priv);
void labnic_stamps_start(struct labnic_priv *priv);
void labnic_stamps_stop(struct labnic_priv *priv);
struct sk_buff *labnic_stamp_get(struct labnic_priv *priv, struct sk_buff *skb,
				 u32 slots);
void labnic_stamp_put(struct labnic_priv *priv, struct sk_buff *stamp);
void labnic_stamp_sent(struct labnic_priv *priv, const struct labnic_config *cfg,
		       struct sk_buff *stamp, u64 sfd_ns);
int labnic_hwtstamp_get(struct net_device *dev, struct kernel_hwtstamp_config *config);
int labnic_hwtstamp_set(struct net_device *dev, struct kernel_hwtstamp_config *config,
			struct netlink_ext_ack *extack);

/* labnic_ethtool.c */
extern const struct ethtool_ops labnic_ethtool_ops;

#endif /* _LABNIC_H */
