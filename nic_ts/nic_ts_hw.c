// SPDX-License-Identifier: GPL-2.0
/*
 * nic_ts, hardware stamps: configuration, RX stamps, TX completions.
 *
 * RX: the driver writes the stamp into the skb. It counts if the device was
 * configured by us, and if it is believable.
 *
 * TX: the driver gives a stamp to skb->sk, if the skb asked for one. The TCP
 * socket is not to get it: it would find errors in its queue that it did not
 * ask for. So for one packet at a time, while the driver has it:
 *
 *	before ndo_start_xmit()	skb gets its own head, so that the flag is not
 *				seen by the copy TCP keeps; tx_flags asks;
 *				tskey = slot and generation;
 *				skb->sk = socket of the bus, owner kept in the slot
 *	stamp			goes to the error queue of the bus's socket, with
 *				tskey, by which the slot and so the segment is found
 *	skb is freed		the destructor of the bus puts owner and destructor
 *				back, and calls that one: TCP's accounting is as ever
 *
 * One packet of a flow and max_slots of a device are under way at a time: NICs
 * have 1 to 64 places for such stamps, and ptp4l needs one. Once PTP or another
 * program that asks for stamps is seen on the device, it has all of them.
 */
#include <linux/errqueue.h>
#include <linux/ethtool.h>
#include <linux/in.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/net.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/uaccess.h>
#include <net/netdev_lock.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "nic_ts_priv.h"
#include "nic_ts_trace.h"

COMPAT_DEV_HWTSTAMP(nic_ts_hwtstamp);

/*
 * TX stamps under way on one device. One: NICs with a single place have it free
 * for ptp4l most of the time.
 */
#define NIC_TS_DEFAULT_SLOTS	1

/* TX stamps under way on all devices; a power of two. */
#define NIC_TS_SLOTS		64

/**
 * struct nic_ts_slot - a TX stamp under way
 * @key:	generation and number of the slot, which the packet carries; 0: free
 * @sk:		owner of the packet, which lives as long as the packet does
 * @destructor:	its destructor
 * @e:		flow, with a reference
 * @nd:		device, with a reference
 * @seq:	first byte of the segment
 * @end_seq:	the one behind its last
 * @stamped:	the stamp came
 */
struct nic_ts_slot {
	u32			key;
	struct sock		*sk;
	void			(*destructor)(struct sk_buff *skb);
	struct nic_ts_entry	*e;
	struct nic_ts_dev	*nd;
	u32			seq;
	u32			end_seq;
	bool			stamped;
};

static struct nic_ts_slot nic_ts_slots[NIC_TS_SLOTS];
static u32 nic_ts_slot_gen;

/* Protects nic_ts_slots; taken in any context in which a driver frees packets. */
static DEFINE_SPINLOCK(nic_ts_slot_lock);

static struct socket *nic_ts_socket;

static void nic_ts_drain_work(struct work_struct *work);
static DECLARE_WORK(nic_ts_drain, nic_ts_drain_work);

/* A free slot, taken, or NULL. */
static struct nic_ts_slot *nic_ts_slot_take(struct nic_ts_dev *nd)
{
	struct nic_ts_slot *slot = NULL;
	unsigned long flags;
	u32 i;

	/* Written under RTNL. */
	if (atomic_inc_return(&nd->slots) > READ_ONCE(nd->max_slots))
		goto undo;
	spin_lock_irqsave(&nic_ts_slot_lock, flags);
	for (i = 0; i < NIC_TS_SLOTS && !slot; i++) {
		if (nic_ts_slots[i].key)
			continue;
		slot = &nic_ts_slots[i];
		/* Never 0, which is free. */
		nic_ts_slot_gen += NIC_TS_SLOTS;
		if (!nic_ts_slot_gen)
			nic_ts_slot_gen += NIC_TS_SLOTS;
		slot->key = nic_ts_slot_gen | i;
	}
	spin_unlock_irqrestore(&nic_ts_slot_lock, flags);
	if (slot)
		return slot;
undo:
	atomic_dec(&nd->slots);
	return NULL;
}

/* Free a slot; return its former contents. */
static struct nic_ts_slot nic_ts_slot_free(struct nic_ts_slot *slot)
{
	struct nic_ts_slot old;
	unsigned long flags;

	spin_lock_irqsave(&nic_ts_slot_lock, flags);
	old = *slot;
	slot->key = 0;
	spin_unlock_irqrestore(&nic_ts_slot_lock, flags);
	return old;
}

/* The packet is sent, or dropped, and leaves its place as it found it. */
static void nic_ts_tx_destructor(struct sk_buff *skb)
{
	u32 key = skb_shinfo(skb)->tskey;
	struct nic_ts_slot old;

	/* Unloading the module waits for readers before its code goes. */
	rcu_read_lock();
	old = nic_ts_slot_free(&nic_ts_slots[key & (NIC_TS_SLOTS - 1)]);
	if (!old.stamped)
		nic_ts_dev_count(old.nd, NIC_TS_DEV_TX_HW_NONE);
	clear_bit(0, &old.e->asked);
	nic_ts_entry_put(old.e);
	atomic_dec(&old.nd->slots);
	nic_ts_dev_put(old.nd);

	skb->sk = old.sk;
	skb->destructor = old.destructor;
	old.destructor(skb);
	module_put(THIS_MODULE);
	rcu_read_unlock();
}

/* Return whether TCP alone uses the packet's owner. */
static bool nic_ts_tx_fit(const struct sk_buff *skb)
{
	const struct sock *sk = skb->sk;

	if (!sk || !skb->destructor || !sk_fullsock(sk) ||
	    sk->sk_protocol != IPPROTO_TCP)
		return false;
	/* The application asked for a stamp of this one, and is to get it. */
	if (skb_shinfo(skb)->tx_flags)
		return false;
	/* TLS in the NIC looks at the owner. */
#ifdef CONFIG_SOCK_VALIDATE_XMIT
	if (sk->sk_validate_xmit_skb)
		return false;
#endif
	/* Copying user pages to own the head would cost more than it is worth. */
	return !skb_shared(skb) && !skb_zcopy((struct sk_buff *)skb);
}

/**
 * nic_ts_hw_ask() - request a hardware timestamp for a packet, if a slot is free
 * @nd:		device that is about to be given it
 * @e:		its flow
 * @skb:	the packet
 * @seq:	first byte
 * @end_seq:	the one behind its last
 *
 * Context: BH disabled, under RCU.
 */
void nic_ts_hw_ask(struct nic_ts_dev *nd, struct nic_ts_entry *e,
		   struct sk_buff *skb, u32 seq, u32 end_seq)
{
	struct nic_ts_slot *slot;

	/* The driver was busy, and is given it again: it has asked already. */
	if (skb->destructor == nic_ts_tx_destructor)
		return;
	if (test_and_set_bit(0, &e->asked))
		return;
	if (!nic_ts_tx_fit(skb)) {
		nic_ts_dev_count(nd, NIC_TS_DEV_TX_HW_UNFIT);
		goto not_asked;
	}
	slot = nic_ts_slot_take(nd);
	if (!slot) {
		nic_ts_dev_count(nd, NIC_TS_DEV_TX_HW_NO_SLOT);
		goto not_asked;
	}
	if (skb_unclone(skb, GFP_ATOMIC)) {
		nic_ts_dev_count(nd, NIC_TS_DEV_TX_HW_UNFIT);
		goto free_slot;
	}
	if (!try_module_get(THIS_MODULE))
		goto free_slot;

	refcount_inc(&e->ref);
	refcount_inc(&nd->ref);
	slot->e = e;
	slot->nd = nd;
	slot->seq = seq;
	slot->end_seq = end_seq;
	slot->stamped = false;
	slot->sk = skb->sk;
	slot->destructor = skb->destructor;
	skb_shinfo(skb)->tskey = slot->key;
	skb_shinfo(skb)->tx_flags |= SKBTX_HW_TSTAMP_NOBPF;
	skb->sk = nic_ts_socket->sk;
	skb->destructor = nic_ts_tx_destructor;
	nic_ts_dev_count(nd, NIC_TS_DEV_TX_HW_ASKED);
	return;

free_slot:
	/* No packet carries its key. */
	nic_ts_slot_free(slot);
	atomic_dec(&nd->slots);
not_asked:
	clear_bit(0, &e->asked);
}

/* nic_ts_hw_of_another() - return whether another program wants the packet's NIC timestamp */
bool nic_ts_hw_of_another(const struct sk_buff *skb)
{
	return skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP_NOBPF &&
	       skb->destructor != nic_ts_tx_destructor;
}

/* A stamp, with the number of its slot. */
static void nic_ts_tx_stamp(u32 key, u64 hw_ns)
{
	struct nic_ts_slot *slot = &nic_ts_slots[key & (NIC_TS_SLOTS - 1)];
	struct nic_ts_entry *e = NULL;
	struct nic_ts_dev *nd = NULL;
	u32 seq = 0, end_seq = 0;
	unsigned long flags;

	/* With a reference: the packet may be freed at any time. */
	spin_lock_irqsave(&nic_ts_slot_lock, flags);
	if (slot->key == key && !slot->stamped) {
		slot->stamped = true;
		e = slot->e;
		nd = slot->nd;
		seq = slot->seq;
		end_seq = slot->end_seq;
		refcount_inc(&e->ref);
		refcount_inc(&nd->ref);
	}
	spin_unlock_irqrestore(&nic_ts_slot_lock, flags);
	if (!e) {
		/* Of no device any more. */
		nic_ts_count(nic_ts_net(&init_net), NIC_TS_NET_TX_HW_LATE);
		return;
	}
	nic_ts_entry_hw(e, nd, seq, end_seq, hw_ns, ktime_get_ns());
	nic_ts_entry_put(e);
	nic_ts_dev_put(nd);
}

static void nic_ts_drain_queue(void)
{
	struct sk_buff *skb;

	local_bh_disable();
	while ((skb = skb_dequeue(&nic_ts_socket->sk->sk_error_queue))) {
		u64 hw_ns = ktime_to_ns(skb_hwtstamps(skb)->hwtstamp);

		/* Only timestamps that this module requested. */
		if (hw_ns && SKB_EXT_ERR(skb)->ee.ee_origin == SO_EE_ORIGIN_TIMESTAMPING)
			nic_ts_tx_stamp(SKB_EXT_ERR(skb)->ee.ee_data, hw_ns);
		kfree_skb(skb);
	}
	local_bh_enable();
}

static void nic_ts_drain_work(struct work_struct *work)
{
	nic_ts_drain_queue();
}

/* The error queue of the bus's socket got something. */
static void nic_ts_error_report(struct sock *sk)
{
	if (in_hardirq() || irqs_disabled())
		schedule_work(&nic_ts_drain);
	else
		nic_ts_drain_queue();
}

/**
 * nic_ts_hw_rx_stamp() - read the timestamp that the NIC wrote into a received packet
 * @nd:		device
 * @skb:	packet
 * @stamp:	has software's time; gets the NIC's if that is believable
 *
 * Context: BH disabled, in the poll function of the packet's queue.
 */
void nic_ts_hw_rx_stamp(struct nic_ts_dev *nd, const struct sk_buff *skb,
			struct nic_ts_stamp *stamp)
{
	struct skb_shared_hwtstamps *hwts = skb_hwtstamps((struct sk_buff *)skb);
	u64 hw_ns = ktime_to_ns(hwts->hwtstamp);
	u64 *last_ns = NULL, unknown = 0;
	enum nic_ts_hw_verdict verdict;
	u16 epoch;

	if (hw_ns && skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP_NETDEV)
		hw_ns = ktime_to_ns(netdev_get_tstamp(skb->dev, hwts, false));
	if (!hw_ns) {
		nic_ts_dev_count(nd, NIC_TS_DEV_RX_HW_NONE);
		return;
	}
	if (skb_rx_queue_recorded(skb) && skb_get_rx_queue(skb) < nd->nqueues)
		last_ns = &nd->last_hw_ns[skb_get_rx_queue(skb)];
	else if (nd->nqueues == 1)
		last_ns = &nd->last_hw_ns[0];
	else
		last_ns = &unknown;

	verdict = nic_ts_clock_check(nd, hw_ns, 0, stamp->ns, *last_ns, &epoch);
	if (verdict != NIC_TS_HW_OK) {
		nic_ts_dev_count(nd, NIC_TS_DEV_RX_HW_DISORDER + verdict -
				     NIC_TS_HW_DISORDER);
		trace_nic_ts_hw_refused(nd->ifindex, false, hw_ns, stamp->ns,
					nd->domain, verdict);
		return;
	}
	*last_ns = hw_ns;
	stamp->hw_ns = hw_ns;
	stamp->hw_domain = nd->domain;
	stamp->hw_epoch = epoch;
	nic_ts_dev_count(nd, NIC_TS_DEV_RX_HW);
}

/* Configuration ------------------------------------------------------------ */

/* nic_ts_hw_dev_init() - find the clock of a device that has just been registered; RTNL */
void nic_ts_hw_dev_init(struct nic_ts_dev *nd)
{
	ASSERT_RTNL();
	nd->domain = NIC_TS_DOMAIN_NONE;
	nd->max_slots = NIC_TS_DEFAULT_SLOTS;
	nic_ts_hw_dev_clock(nd);
}

/**
 * nic_ts_hw_dev_clock() - find the clock of a device, if none is known yet
 * @nd:		device
 *
 * A driver may have had no clock yet when it registered.
 *
 * Context: RTNL.
 */
void nic_ts_hw_dev_clock(struct nic_ts_dev *nd)
{
	struct kernel_ethtool_ts_info info = { .cmd = ETHTOOL_GET_TS_INFO, .phc_index = -1 };
	const struct ethtool_ops *ops = nd->dev->ethtool_ops;

	ASSERT_RTNL();
	if (nd->domain != NIC_TS_DOMAIN_NONE)
		return;
	if (!ops || !ops->get_ts_info || ops->get_ts_info(nd->dev, &info))
		return;
	/* Read locklessly by nic_ts_dev_from_host(). */
	if (info.phc_index >= 0 && info.phc_index <= NIC_TS_DOMAIN_PHC_MAX)
		WRITE_ONCE(nd->domain, NIC_TS_DOMAIN_PHC(info.phc_index));
}

static int nic_ts_hw_start(struct nic_ts_dev *nd, const char **why)
{
	struct kernel_hwtstamp_config cfg = {}, before;
	bool tx_was_on, tx;
	int err;

	nic_ts_hw_dev_clock(nd);
	if (nd->domain == NIC_TS_DOMAIN_NONE) {
		*why = "the device has no clock of its own";
		return -EOPNOTSUPP;
	}
	err = nic_ts_hwtstamp(nd->dev, &cfg, false);
	if (err) {
		*why = "the device does not tell how it stamps";
		return err;
	}
	before = cfg;
	tx_was_on = cfg.tx_type != HWTSTAMP_TX_OFF;
	if (cfg.rx_filter != HWTSTAMP_FILTER_ALL &&
	    (cfg.rx_filter != HWTSTAMP_FILTER_NONE || tx_was_on)) {
		*why = "some packets are stamped for somebody else (ptp4l?): have it ask for all";
		return -EBUSY;
	}
	if (cfg.rx_filter != HWTSTAMP_FILTER_ALL || !tx_was_on) {
		cfg.rx_filter = HWTSTAMP_FILTER_ALL;
		cfg.tx_type = HWTSTAMP_TX_ON;
		err = nic_ts_hwtstamp(nd->dev, &cfg, true);
		if (err) {
			*why = "the device cannot stamp all packets";
			return err;
		}
		if (cfg.rx_filter != HWTSTAMP_FILTER_ALL) {
			*why = "the device cannot stamp all packets that come in";
			nic_ts_hwtstamp(nd->dev, &before, true);
			return -EOPNOTSUPP;
		}
	}
	nd->hw_tx_on = cfg.tx_type != HWTSTAMP_TX_OFF;
	if (!tx_was_on) {
		nd->hw_own = true;
		clear_bit(0, &nd->hw_yielded);
	}
	/* If a program had it on already, such as ptp4l, it needs the slots itself. */
	tx = nd->hw_own && !test_bit(0, &nd->hw_yielded) && cfg.tx_type == HWTSTAMP_TX_ON;
	WRITE_ONCE(nd->hw_tx, tx);
	WRITE_ONCE(nd->hw_rx, true);
	return 0;
}

/**
 * nic_ts_hw_stop() - use a device's hardware timestamps no more
 * @nd:		device
 *
 * The device goes on stamping, as after ptp4l: a program may have asked for the same
 * configuration meanwhile, which nothing tells, and needs its timestamps.
 *
 * Context: RTNL.
 */
void nic_ts_hw_stop(struct nic_ts_dev *nd)
{
	ASSERT_RTNL();
	/* Read locklessly with each packet. */
	WRITE_ONCE(nd->hw_rx, false);
	WRITE_ONCE(nd->hw_tx, false);
}

/**
 * nic_ts_hw_yield() - leave a device's places for TX timestamps to another program
 * @nd:		device
 *
 * Until the administrator sets the number of slots again. A timestamp that ptp4l does not get
 * is a fault of its port, and no synchronisation for 16 s, by its defaults.
 *
 * Context: any but hard interrupt.
 */
void nic_ts_hw_yield(struct nic_ts_dev *nd)
{
	if (test_and_set_bit(0, &nd->hw_yielded))
		return;
	/* Read locklessly: a packet more may ask as it is switched. */
	WRITE_ONCE(nd->hw_tx, false);
	nic_ts_dev_count(nd, NIC_TS_DEV_TX_HW_YIELDED);
}

/**
 * nic_ts_hw_get() - add a user of hardware timestamps
 * @nd:		device
 * @netlink:	the administrator's, of which there is one at most
 * @why:	set if it is refused for a reason
 *
 * Context: RTNL, of a process that has memory (old drivers take a user's pointer).
 * Return: 0 or a negative errno.
 */
int nic_ts_hw_get(struct nic_ts_dev *nd, bool netlink, const char **why)
{
	int err;

	ASSERT_RTNL();
	if (netlink && nd->hw_netlink)
		return 0;
	if (!nd->hw_users) {
		err = nic_ts_hw_start(nd, why);
		if (err)
			return err;
	}
	nd->hw_users++;
	if (netlink)
		nd->hw_netlink = true;
	return 0;
}

/* nic_ts_hw_put() - remove a user of hardware timestamps, as of nic_ts_hw_get(); RTNL */
void nic_ts_hw_put(struct nic_ts_dev *nd, bool netlink)
{
	ASSERT_RTNL();
	if (netlink) {
		if (!nd->hw_netlink)
			return;
		nd->hw_netlink = false;
	}
	if (nd->hw_users && !--nd->hw_users)
		nic_ts_hw_stop(nd);
}

/** nic_ts_hw_init() - make the socket that receives TX timestamps */
int __init nic_ts_hw_init(void)
{
	struct sock *sk;
	int err;

	err = sock_create_kern(&init_net, PF_INET, SOCK_DGRAM, IPPROTO_UDP,
			       &nic_ts_socket);
	if (err)
		return err;
	sk = nic_ts_socket->sk;
	lock_sock(sk);
	/* Timestamps without the packet, and with the key of its slot. */
	WRITE_ONCE(sk->sk_tsflags, SOF_TIMESTAMPING_TX_HARDWARE |
		   SOF_TIMESTAMPING_RAW_HARDWARE | SOF_TIMESTAMPING_OPT_ID |
		   SOF_TIMESTAMPING_OPT_TSONLY);
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_error_report = nic_ts_error_report;
	write_unlock_bh(&sk->sk_callback_lock);
	release_sock(sk);
	return 0;
}

/** nic_ts_hw_exit() - free the socket; packets that have it hold the module */
void nic_ts_hw_exit(void)
{
	struct sock *sk = nic_ts_socket->sk;

	/*
	 * A PHY that still has a copy of a packet finds a dead socket, and reports nothing. One
	 * that found it alive has reported after a grace period.
	 */
	lock_sock(sk);
	sock_set_flag(sk, SOCK_DEAD);
	release_sock(sk);
	synchronize_rcu();
	cancel_work_sync(&nic_ts_drain);
	skb_queue_purge(&sk->sk_error_queue);
	sock_release(nic_ts_socket);
}
