// SPDX-License-Identifier: GPL-2.0
/*
 * nic_ts, capture: packets in, stamps out.
 *
 *	RX  driver hook, or tracepoint at the entry of GRO or of the stack
 *	    parse -> a flow, or a receiver of all packets? -> timestamp: clock, and the
 *	    NIC's timestamp in the skb -> ACK ring, callbacks
 *
 *	TX  net_dev_start_xmit  parse -> flow? -> stamp -> TX ring, or, if the driver has
 *	                        called its hook for the last one: left to the hook
 *	    driver hook         the same packet on the same CPU: a better time
 *	    net_dev_xmit        that packet is over; refused? take it back; still left?
 *	                        stamp -> TX ring
 *
 * A packet is looked up once in each direction. On RX the tracepoint skips a packet that the
 * driver hook took before; on TX it hands its lookup over to the driver hook after it. Both run
 * on one CPU, one right after the other, so the address of the skb identifies the packet.
 *
 * Tracepoints are registered and drivers' hooks switched on while flows or, for RX, receivers
 * exist; at other times they are NOPs.
 */
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/interrupt.h>
#include <linux/skbuff.h>
#include <linux/tracepoint.h>
#include <net/l3mdev.h>

#include "nic_ts_priv.h"
#include "nic_ts_trace.h"

/* Time until the next try if a probe lacked memory. */
#define NIC_TS_CAPTURE_RETRY	HZ

/**
 * struct nic_ts_handoff - a packet that a driver is being given, on this CPU
 * @skb:	compared only; NULL: none
 * @e:		its flow; NULL: it has no entry
 * @seq:	first byte
 * @end_seq:	the one behind its last
 * @left:	it is not recorded yet: the driver's hook records it, or net_dev_xmit if
 *		the driver does not call the hook for it
 *
 * Valid from net_dev_start_xmit to net_dev_xmit, all of it in one RCU section.
 */
struct nic_ts_handoff {
	const struct sk_buff	*skb;
	struct nic_ts_entry	*e;
	u32			seq;
	u32			end_seq;
	bool			left;
};

static DEFINE_PER_CPU(struct nic_ts_handoff, nic_ts_handoff);

/* The packet that the driver hook captured last on this CPU; compared only. */
static DEFINE_PER_CPU(const struct sk_buff *, nic_ts_rx_last);

static int nic_ts_copy(const void *ctx, u32 off, void *to, u32 len)
{
	return skb_copy_bits(ctx, off, to, len);
}

static void nic_ts_view_init(struct nic_ts_view *v, const struct sk_buff *skb)
{
	v->linear = skb->data;
	v->linear_len = skb_headlen(skb);
	v->len = skb->len;
	v->gso = skb_is_gso(skb);
	v->copy = nic_ts_copy;
	v->ctx = skb;
}

/* Return a driver's clock reading, or 0 if it is impossible. */
static u64 nic_ts_driver_time(struct nic_ts_dev *nd, u64 ns, u64 now_ns,
			      enum nic_ts_dev_stat refused)
{
	if (!ns)
		return 0;
	if (ns <= now_ns && now_ns - ns <= NIC_TS_MAX_DELAY_NS)
		return ns;
	nic_ts_dev_count(nd, refused);
	return 0;
}

static void nic_ts_entry_seen(struct nic_ts_entry *e)
{
	unsigned long now = jiffies;

	/* The aging work reads it locklessly; most packets write nothing. */
	if (READ_ONCE(e->last_packet) != now)
		WRITE_ONCE(e->last_packet, now);
}

/* The device that a packet belongs to when its VLAN tags are off, by one tag. */
static const struct net_device *nic_ts_vlan(const struct net_device *dev, u16 vid)
{
	struct net_device *real = (struct net_device *)dev, *vlan;

	vlan = __vlan_find_dev_deep_rcu(real, htons(ETH_P_8021Q), vid);
	if (!vlan)
		vlan = __vlan_find_dev_deep_rcu(real, htons(ETH_P_8021AD), vid);
	return vlan ?: dev;
}

/*
 * The L3 domain (VRF) of a packet that is captured at @dev: that of its VLAN, bond, or
 * bridge. A packet of a device that is not found this way, as a macvlan's, seems to be in
 * none.
 */
static noinline int nic_ts_packet_l3(const struct net_device *dev, const struct sk_buff *skb,
				     u16 vid)
{
	int l3;

	if (skb_vlan_tag_present(skb))
		dev = nic_ts_vlan(dev, skb_vlan_tag_get_id(skb));
	if (vid)
		dev = nic_ts_vlan(dev, vid);
	for (; dev; dev = netdev_master_upper_dev_get_rcu((struct net_device *)dev)) {
		l3 = l3mdev_master_ifindex_rcu(dev);
		if (l3)
			return l3;
	}
	return 0;
}

/* The flow of a packet. L3 domains cost time only if a socket uses one. */
static __always_inline struct nic_ts_entry *nic_ts_packet_flow(const struct nic_ts_dev *nd,
							       const struct sk_buff *skb,
							       const struct nic_ts_packet *p)
{
	int l3 = 0;

	if (unlikely(atomic_read(&nd->nn->nl3)))
		l3 = nic_ts_packet_l3(skb->dev, skb, p->vid);
	return nic_ts_entry_find(nd->nn, &p->key, l3);
}

static void nic_ts_ack(struct nic_ts_dev *nd, struct nic_ts_entry *e, u32 ack_seq,
		       const struct nic_ts_stamp *stamp)
{
	enum nic_ts_ack_result res;
	struct nic_ts_sent sent;

	/*
	 * Without tx_lock, so that receiving does not wait for sending. Both values only grow:
	 * if they are of two moments, an ACK is refused that one of the moments would refuse.
	 */
	sent.from = READ_ONCE(e->sent.from);
	sent.to = READ_ONCE(e->sent.to);
	spin_lock(&e->ack_lock);
	res = nic_ts_ack_push(&e->ack, &sent, ack_seq, stamp);
	spin_unlock(&e->ack_lock);
	nic_ts_entry_seen(e);
	nic_ts_count_rcu(nd->nn, NIC_TS_NET_ACK_RECORDED + res);
	trace_nic_ts_ack(&e->key, nd->ifindex, ack_seq, stamp, res);
}

static void nic_ts_rx_source(struct nic_ts_dev *nd, u8 source)
{
	/* Only said, for the dump. */
	if (READ_ONCE(nd->rx_source) != source)
		WRITE_ONCE(nd->rx_source, source);
}

/* Return whether a receiver wants the packet. */
static __always_inline bool nic_ts_rx_wanted(const struct nic_ts_dev *nd,
					     const struct sk_buff *skb)
{
	struct nic_ts_receiver *r;

	hlist_for_each_entry_rcu(r, &nd->receivers, node)
		if (!r->skip || !this_cpu_read(*r->skips) || !r->skip(r, skb))
			return true;
	return false;
}

/* The long way of nic_ts_parse_in(). Not inlined: hardly any packet gets here. */
static noinline enum nic_ts_parse nic_ts_parse_in_any(const struct sk_buff *skb, bool frags,
						      struct nic_ts_packet *p)
{
	struct nic_ts_view v;

	nic_ts_view_init(&v, skb);
	return frags ? nic_ts_parse_ether(&v, true, p) :
		       nic_ts_parse_any(&v, 0, ntohs(skb->protocol), true, p);
}

static __always_inline enum nic_ts_parse nic_ts_parse_in(const struct sk_buff *skb, bool frags,
							 struct nic_ts_packet *p)
{
	if (!frags && skb->protocol == htons(ETH_P_IP) &&
	    nic_ts_parse_plain(skb->data, skb_headlen(skb), skb->len, 0, true, p))
		return NIC_TS_PARSE_OK;
	return nic_ts_parse_in_any(skb, frags, p);
}

/* Inlined: for the tracepoints' packets, which are most, the last three are constants. */
static __always_inline void nic_ts_rx(const struct sk_buff *skb, u64 ns, u8 source, bool frags)
{
	struct nic_ts_dev *nd = nic_ts_dev_find(skb->dev);
	struct nic_ts_entry *e = NULL;
	struct nic_ts_stamp stamp = {};
	struct nic_ts_receiver *r;
	struct nic_ts_packet p __uninitialized;
	enum nic_ts_parse res;
	bool wanted;
	u64 now_ns;

	if (!nd || READ_ONCE(nd->skip_rx) ||
	    (!atomic_read(&nd->nn->nflows) && hlist_empty(&nd->receivers)))
		return;
	/* The locks below are not taken with interrupts off. */
	if (in_hardirq()) {
		nic_ts_dev_count(nd, NIC_TS_DEV_RX_CONTEXT);
		return;
	}
	wanted = nic_ts_rx_wanted(nd, skb);
	if (!wanted && !atomic_read(&nd->nn->nflows))
		return;

	res = nic_ts_parse_in(skb, frags, &p);
	nic_ts_dev_count(nd, NIC_TS_DEV_RX_PARSE + res);
	if (res != NIC_TS_PARSE_OK) {
		if (res == NIC_TS_PARSE_PTP && READ_ONCE(nd->hw_tx))
			nic_ts_hw_yield(nd);
		return;
	}
	if ((p.flags & NIC_TS_TCP_ACK) && !(p.flags & NIC_TS_TCP_RST) &&
	    atomic_read(&nd->nn->nflows))
		e = nic_ts_packet_flow(nd, skb, &p);
	if (!e && !wanted)
		return;

	now_ns = ktime_get_ns();
	stamp.ns = nic_ts_driver_time(nd, ns, now_ns, NIC_TS_DEV_RX_CLOCK) ?: now_ns;
	stamp.source = source;
	nic_ts_dev_count(nd, source == NIC_TS_SRC_DRIVER ? NIC_TS_DEV_RX_DRIVER :
							   NIC_TS_DEV_RX_STACK);
	/* Read locklessly: a packet more or less as it is switched. */
	if (READ_ONCE(nd->hw_rx))
		nic_ts_hw_rx_stamp(nd, skb, &stamp);
	nic_ts_rx_source(nd, stamp.hw_ns ? NIC_TS_SRC_HW : source);

	if (e)
		nic_ts_ack(nd, e, p.ack_seq, &stamp);
	if (!wanted)
		return;
	hlist_for_each_entry_rcu(r, &nd->receivers, node)
		r->rx(r, skb, &p, &stamp);
}

/**
 * nic_ts_driver_saw_rx() - implement nic_ts_driver_rx() and nic_ts_driver_rx_frags()
 * @skb:	the packet
 * @ns:		CLOCK_MONOTONIC, ns; 0: read the clock
 * @frags:	@skb begins with its Ethernet header, all of it in fragments
 *
 * Context: BH disabled.
 */
void nic_ts_driver_saw_rx(struct sk_buff *skb, u64 ns, bool frags)
{
	nic_ts_rx(skb, ns, NIC_TS_SRC_DRIVER, frags);
	this_cpu_write(nic_ts_rx_last, skb);
}

/* All tracepoints on the way in: one call for each packet from the driver. */
static void nic_ts_probe_rx(void *data, const struct sk_buff *skb)
{
	if (this_cpu_read(nic_ts_rx_last) == skb) {
		this_cpu_write(nic_ts_rx_last, NULL);
		return;
	}
#if defined(CONFIG_NET_CLS_ACT) && defined(CONFIG_NET_REDIRECT)
	/* An ifb gives it back to its device. */
	if (unlikely(skb->tc_skip_classify && skb->from_ingress))
		return;
#endif
	rcu_read_lock();
	nic_ts_rx(skb, 0, NIC_TS_SRC_STACK, false);
	rcu_read_unlock();
}

/* The long way of nic_ts_parse_out(). Not inlined: few packets get here. */
static noinline enum nic_ts_parse nic_ts_parse_out_any(const struct nic_ts_dev *nd,
						       const struct sk_buff *skb,
						       struct nic_ts_packet *p)
{
	struct nic_ts_view v;

	nic_ts_view_init(&v, skb);
	return nd->ether ? nic_ts_parse_ether(&v, false, p) :
			   nic_ts_parse_any(&v, skb_network_offset(skb), ntohs(skb->protocol),
					    false, p);
}

static __always_inline enum nic_ts_parse nic_ts_parse_out(const struct nic_ts_dev *nd,
							  const struct sk_buff *skb,
							  struct nic_ts_packet *p)
{
	u32 linear_len = skb_headlen(skb), off = 0;
	__be16 proto = 0;

	if (!nd->ether) {
		proto = skb->protocol;
		off = skb_network_offset(skb);
	} else if (linear_len >= ETH_HLEN) {
		proto = ((const struct ethhdr *)skb->data)->h_proto;
		off = ETH_HLEN;
	}
	if (proto == htons(ETH_P_IP) &&
	    nic_ts_parse_plain(skb->data, linear_len, skb->len, off, false, p))
		return NIC_TS_PARSE_OK;
	return nic_ts_parse_out_any(nd, skb, p);
}

/* The flow of a packet that goes out, if it is a segment. */
static __always_inline struct nic_ts_entry *nic_ts_tx_find_flow(struct nic_ts_dev *nd,
								const struct sk_buff *skb,
								struct nic_ts_packet *p)
{
	enum nic_ts_parse res = nic_ts_parse_out(nd, skb, p);

	nic_ts_dev_count(nd, NIC_TS_DEV_TX_PARSE + res);
	if (READ_ONCE(nd->hw_tx) && (res == NIC_TS_PARSE_PTP || nic_ts_hw_of_another(skb)))
		nic_ts_hw_yield(nd);
	/* Pure ACKs and resets are no segments. */
	if (res != NIC_TS_PARSE_OK || p->seq == p->end_seq)
		return NULL;
	return nic_ts_packet_flow(nd, skb, p);
}

/*
 * Record a segment that goes out; returns whether it has a record. Inlined: for the tracepoint's
 * packets, which are most, the last one is a constant.
 */
static __always_inline bool nic_ts_tx(struct nic_ts_dev *nd, struct nic_ts_entry *e, u32 seq,
				      u32 end_seq, u64 ns, u8 source)
{
	struct nic_ts_stamp stamp = { .ns = ns, .source = source };
	enum nic_ts_tx_result res;

	spin_lock(&e->tx_lock);
	res = nic_ts_tx_push(&e->tx, seq, end_seq, &stamp);
	nic_ts_entry_sent(e);
	spin_unlock(&e->tx_lock);
	nic_ts_entry_seen(e);
	nic_ts_count_rcu(nd->nn, res == NIC_TS_TX_RETRANS ? NIC_TS_NET_TX_RETRANS :
							    NIC_TS_NET_TX_RECORDED);
	nic_ts_dev_count(nd, source == NIC_TS_SRC_DRIVER ? NIC_TS_DEV_TX_DRIVER :
							   NIC_TS_DEV_TX_STACK);
	if (READ_ONCE(nd->tx_source) < source)
		WRITE_ONCE(nd->tx_source, source);
	trace_nic_ts_tx(&e->key, nd->ifindex, seq, end_seq, ns, source, res);
	return res == NIC_TS_TX_RECORDED;
}

/* The device, if its packets are to be recorded. */
static __always_inline struct nic_ts_dev *nic_ts_tx_dev(const struct net_device *dev)
{
	struct nic_ts_dev *nd = nic_ts_dev_find(dev);

	if (!nd || READ_ONCE(nd->skip) || !atomic_read(&nd->nn->nflows))
		return NULL;
	if (in_hardirq()) {
		nic_ts_dev_count(nd, NIC_TS_DEV_TX_CONTEXT);
		return NULL;
	}
	return nd;
}

static void nic_ts_probe_start_xmit(void *data, const struct sk_buff *skb,
				    const struct net_device *dev)
{
	struct nic_ts_handoff *h = this_cpu_ptr(&nic_ts_handoff);
	struct nic_ts_packet p __uninitialized;
	struct nic_ts_dev *nd;

	h->skb = skb;
	h->e = NULL;
	h->left = false;
	rcu_read_lock();
	nd = nic_ts_tx_dev(dev);
	if (!nd)
		goto out;
	h->e = nic_ts_tx_find_flow(nd, skb, &p);
	if (!h->e)
		goto out;
	h->seq = p.seq;
	h->end_seq = p.end_seq;
	/*
	 * A driver that has called its hook for the last segment will for this one: its
	 * time is better, and to read the clock twice costs more than all the rest.
	 */
	h->left = READ_ONCE(nd->tx_hook) && !READ_ONCE(nd->hw_tx);
	if (h->left)
		goto out;
	if (!nic_ts_tx(nd, h->e, p.seq, p.end_seq, ktime_get_ns(), NIC_TS_SRC_STACK))
		h->e = NULL;
	/*
	 * The tracepoint promises not to change the packet. Asking for a stamp does, as
	 * the stack might have: nobody has looked at it for this device yet. See
	 * nic_ts_hw_ask().
	 */
	else if (READ_ONCE(nd->hw_tx))
		nic_ts_hw_ask(nd, h->e, (struct sk_buff *)skb, p.seq, p.end_seq);
out:
	rcu_read_unlock();
}

/* The driver has not called its hook for a segment that it has taken. Not inlined: rare. */
static noinline void nic_ts_tx_late(struct nic_ts_handoff *h, const struct net_device *dev)
{
	struct nic_ts_dev *nd = nic_ts_tx_dev(dev);

	h->left = false;
	if (!nd)
		return;
	WRITE_ONCE(nd->tx_hook, false);
	nic_ts_tx(nd, h->e, h->seq, h->end_seq, ktime_get_ns(), NIC_TS_SRC_STACK);
}

static void nic_ts_probe_xmit(void *data, struct sk_buff *skb, int rc,
			      struct net_device *dev, unsigned int len)
{
	struct nic_ts_handoff *h = this_cpu_ptr(&nic_ts_handoff);
	struct nic_ts_dev *nd;

	if (h->skb != skb)
		return;
	h->skb = NULL;
	if (!h->e || (likely(dev_xmit_complete(rc)) && !h->left))
		return;
	rcu_read_lock();
	if (dev_xmit_complete(rc)) {
		nic_ts_tx_late(h, dev);
	} else {
		if (!h->left) {
			spin_lock(&h->e->tx_lock);
			nic_ts_tx_retract(&h->e->tx, h->seq, h->end_seq);
			nic_ts_entry_sent(h->e);
			spin_unlock(&h->e->tx_lock);
		}
		h->left = false;
		nd = nic_ts_dev_find(dev);
		if (nd)
			nic_ts_dev_count(nd, NIC_TS_DEV_TX_BUSY);
	}
	rcu_read_unlock();
}

/* Replace the time that the tracepoint has just recorded by the driver's. */
static void nic_ts_tx_improve(struct nic_ts_dev *nd, struct nic_ts_entry *e,
			      u32 seq, u32 end_seq, u64 ns)
{
	struct nic_ts_tx_record *rec;

	spin_lock(&e->tx_lock);
	rec = nic_ts_tx_exact(&e->tx, seq, end_seq);
	if (rec && ns >= rec->stamp.ns) {
		rec->stamp.ns = ns;
		rec->stamp.source = NIC_TS_SRC_DRIVER;
	}
	spin_unlock(&e->tx_lock);
	nic_ts_dev_count(nd, rec ? NIC_TS_DEV_TX_DRIVER : NIC_TS_DEV_TX_CLOCK);
	if (READ_ONCE(nd->tx_source) < NIC_TS_SRC_DRIVER)
		WRITE_ONCE(nd->tx_source, NIC_TS_SRC_DRIVER);
	trace_nic_ts_tx(&e->key, nd->ifindex, seq, end_seq, ns, NIC_TS_SRC_DRIVER,
			NIC_TS_TX_RECORDED);
}

/**
 * nic_ts_driver_sent() - implement nic_ts_driver_tx()
 * @skb:	the packet
 * @ns:		CLOCK_MONOTONIC, ns; 0: read the clock
 *
 * Context: BH disabled.
 */
void nic_ts_driver_sent(struct sk_buff *skb, u64 ns)
{
	struct nic_ts_handoff *h = this_cpu_ptr(&nic_ts_handoff);
	struct nic_ts_packet p __uninitialized;
	struct nic_ts_entry *e;
	struct nic_ts_dev *nd;
	u64 now_ns;

	if (h->skb == skb && !h->e)
		return;
	nd = nic_ts_tx_dev(skb->dev);
	if (!nd)
		return;
	now_ns = ktime_get_ns();
	ns = nic_ts_driver_time(nd, ns, now_ns, NIC_TS_DEV_TX_CLOCK) ?: now_ns;
	if (!READ_ONCE(nd->tx_hook))
		WRITE_ONCE(nd->tx_hook, true);
	if (h->skb != skb) {
		e = nic_ts_tx_find_flow(nd, skb, &p);
		if (e)
			nic_ts_tx(nd, e, p.seq, p.end_seq, ns, NIC_TS_SRC_DRIVER);
	} else if (h->left) {
		h->left = false;
		if (!nic_ts_tx(nd, h->e, h->seq, h->end_seq, ns, NIC_TS_SRC_DRIVER))
			h->e = NULL;
	} else {
		nic_ts_tx_improve(nd, h->e, h->seq, h->end_seq, ns);
	}
}

/**
 * nic_ts_driver_done() - implement nic_ts_driver_tx_done()
 * @skb:	the packet
 * @hw_ns:	time of the NIC's clock, ns
 *
 * Context: any but hard interrupt.
 */
void nic_ts_driver_done(struct sk_buff *skb, u64 hw_ns)
{
	struct nic_ts_dev *nd = nic_ts_tx_dev(skb->dev);
	struct nic_ts_entry *e;
	struct nic_ts_packet p __uninitialized;
	enum nic_ts_parse res;
	struct nic_ts_view v;

	/* Written once, when the driver has a clock. */
	if (!nd || !hw_ns || READ_ONCE(nd->domain) == NIC_TS_DOMAIN_NONE)
		return;
	/* Counted when it went out. */
	nic_ts_view_init(&v, skb);
	res = nic_ts_parse_ether(&v, false, &p);
	if (res != NIC_TS_PARSE_OK || p.seq == p.end_seq)
		return;
	e = nic_ts_packet_flow(nd, skb, &p);
	if (e)
		nic_ts_entry_hw(e, nd, p.seq, p.end_seq, hw_ns, ktime_get_ns());
}

/* On and off --------------------------------------------------------------- */

/**
 * struct nic_ts_probe - a tracepoint of the kernel
 * @name:	its name
 * @fn:		function that it calls
 * @tx:		it is for flows, and not for receivers
 * @tp:		NULL: this kernel has none of that name
 * @registered:	@fn is; by the work only
 */
struct nic_ts_probe {
	const char		*name;
	void			*fn;
	bool			tx;
	struct tracepoint	*tp;
	bool			registered;
};

/* In this order: the probe that ends a handoff is registered before the one that begins it. */
static struct nic_ts_probe nic_ts_probes[] = {
	{ "net_dev_xmit", nic_ts_probe_xmit, .tx = true },
	{ "napi_gro_receive_entry", nic_ts_probe_rx },
	{ "napi_gro_frags_entry", nic_ts_probe_rx },
	{ "netif_receive_skb_entry", nic_ts_probe_rx },
	{ "netif_receive_skb_list_entry", nic_ts_probe_rx },
	{ "netif_rx_entry", nic_ts_probe_rx },
	{ "net_dev_start_xmit", nic_ts_probe_start_xmit, .tx = true },
};

static bool nic_ts_capture_ended;
/* Used by the work only: which probes are on, and whether one lacked memory. */
static bool nic_ts_capture_rx_is_on;
static bool nic_ts_capture_tx_is_on;
static bool nic_ts_capture_incomplete;

static void nic_ts_capture_on(bool tx)
{
	struct nic_ts_probe *p;
	int i, err;

	for (i = 0; i < ARRAY_SIZE(nic_ts_probes); i++) {
		p = &nic_ts_probes[i];
		if (!p->tp || p->registered || (p->tx && !tx))
			continue;
		err = tracepoint_probe_register(p->tp, p->fn, NULL);
		/* Users without timestamps fall back. */
		if (err)
			pr_warn_ratelimited("tracepoint %s: error %d\n", p->name, err);
		else
			p->registered = true;
		nic_ts_capture_incomplete |= err == -ENOMEM;
	}
}

static void nic_ts_capture_off(bool rx)
{
	struct nic_ts_probe *p;
	int i, cpu;

	for (i = ARRAY_SIZE(nic_ts_probes) - 1; i >= 0; i--) {
		p = &nic_ts_probes[i];
		if (!p->registered || (!p->tx && !rx))
			continue;
		tracepoint_probe_unregister(p->tp, p->fn, NULL);
		p->registered = false;
	}
	tracepoint_synchronize_unregister();
	for_each_possible_cpu(cpu) {
		per_cpu(nic_ts_handoff, cpu).skb = NULL;
		if (rx)
			per_cpu(nic_ts_rx_last, cpu) = NULL;
	}
}

/* @rx: for flows and receivers; @tx: for flows, so that it is @rx as well. */
static void nic_ts_capture_set(bool rx, bool tx)
{
	if (rx == nic_ts_capture_rx_is_on && tx == nic_ts_capture_tx_is_on &&
	    !nic_ts_capture_incomplete)
		return;
	nic_ts_capture_incomplete = false;
	if (!rx)
		static_branch_disable(&nic_ts_driver_key);
	if (!tx)
		nic_ts_capture_off(!rx);
	if (rx) {
		nic_ts_capture_on(tx);
		static_branch_enable(&nic_ts_driver_key);
	}
	nic_ts_capture_rx_is_on = rx;
	nic_ts_capture_tx_is_on = tx;
}

static void nic_ts_capture_work(struct work_struct *work)
{
	bool ended = READ_ONCE(nic_ts_capture_ended);

	nic_ts_capture_set(atomic_read(&nic_ts_users.all) && !ended,
			   atomic_read(&nic_ts_users.flows) && !ended);
	if (nic_ts_capture_incomplete)
		schedule_delayed_work(to_delayed_work(work), NIC_TS_CAPTURE_RETRY);
}

struct nic_ts_users nic_ts_users = {
	.work = __DELAYED_WORK_INITIALIZER(nic_ts_users.work, nic_ts_capture_work, 0),
};

/** nic_ts_capture_able() - return whether this kernel has a tracepoint for RX and for TX */
bool nic_ts_capture_able(void)
{
	return nic_ts_probes[1].tp && nic_ts_probes[ARRAY_SIZE(nic_ts_probes) - 1].tp;
}

static void nic_ts_probe_find(struct tracepoint *tp, void *data)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(nic_ts_probes); i++)
		if (!strcmp(tp->name, nic_ts_probes[i].name))
			nic_ts_probes[i].tp = tp;
}

/** nic_ts_capture_init() - find the tracepoints, where they can be used */
int __init nic_ts_capture_init(void)
{
	int i;

	/* Probes run with preemption off, and our locks sleep there. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT)) {
		pr_info("PREEMPT_RT: only patched drivers give timestamps, no tracepoints\n");
		return 0;
	}
	for_each_kernel_tracepoint(nic_ts_probe_find, NULL);
	for (i = 0; i < ARRAY_SIZE(nic_ts_probes); i++)
		if (!nic_ts_probes[i].tp)
			pr_info("this kernel lacks the tracepoint %s\n",
				nic_ts_probes[i].name);
	return 0;
}

/** nic_ts_capture_exit() - end capturing; nothing calls into the module any more */
void nic_ts_capture_exit(void)
{
	/* With the work stopped, the last word is here. */
	WRITE_ONCE(nic_ts_capture_ended, true);
	cancel_delayed_work_sync(&nic_ts_users.work);
	nic_ts_capture_set(false, false);
}
