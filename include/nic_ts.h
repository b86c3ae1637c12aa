/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nic_ts, the timestamp bus: when packets passed the NIC.
 *
 *	drivers, tracepoints --> nic_ts.ko --> TX records and ACK stamps per flow
 *	    capture points                 --> every packet, to its receivers
 *
 * Three parties meet here, none of which needs another one to be loaded:
 *
 *	drivers, patched	nic_ts_driver_rx(), _tx(), _tx_done()
 *	users of stamps		nic_ts_flow_*(), nic_ts_rx_*(), nic_ts_hw_*(), and
 *				of clocks: nic_ts_clock_map(), nic_ts_dev_clock()
 *	the bus			nic_ts_bus_register()
 *
 * They share nic_ts_hook.ko: a static key, a pointer under RCU and a notifier chain, and no code
 * that does anything by itself. Drivers and users link against it alone; depmod and modprobe
 * load it with them. As long as nic_ts.ko is not loaded, or nobody uses timestamps, a driver's
 * hook is a NOP, and a user gets -ENODEV and works without the bus.
 *
 * nic_ts.ko can come at any time: users that want to begin then register a
 * notifier. It can go when nobody uses it: a flow that is attached, a registered
 * receiver and requested hardware stamps hold a reference on the module. So the
 * result of a call stays valid until the user gives it back, and the bus needs no
 * event for its end.
 *
 * All failures leave the user where it was without the bus. None of the calls
 * for the packet path sleeps.
 *
 * A user on the path of TCP, in short:
 *
 *	start of a flow		flow = nic_ts_flow_attach(sk, GFP_ATOMIC);
 *	an ACK came		if (flow && nic_ts_flow_rtt(flow, tp->snd_una, &rtt)
 *				    == NIC_TS_RTT_OK)
 *					use rtt.rx_ns - rtt.tx_ns
 *	after idleness		if (flow && nic_ts_flow_aged(flow)) detach, attach
 *	end of a flow		nic_ts_flow_detach(flow);
 *
 * A driver, in short (Documentation/nic_ts.md has the rules):
 *
 *	before napi_gro_receive(napi, skb)		nic_ts_driver_rx(skb, 0);
 *	before napi_gro_frags(napi)			nic_ts_driver_rx_frags(skb, 0);
 *	after the descriptor is written, before the doorbell
 *							nic_ts_driver_tx(skb, 0);
 *	at completion, with a hardware stamp		nic_ts_driver_tx_done(skb, hw_ns);
 */
#ifndef _NIC_TS_H
#define _NIC_TS_H

#include <linux/errno.h>
#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/skbuff.h>

#include "nic_ts_types.h"

struct net;
struct net_device;
struct sock;
struct nic_ts_bus;

/**
 * struct nic_ts_flow - an entry of the flow table, the part that users see
 * @bus:	the bus it belongs to, loaded as long as the flow is attached
 * @aged:	taken out of the table, see nic_ts_flow_aged()
 *
 * All users that attach to the same connection share it.
 */
struct nic_ts_flow {
	const struct nic_ts_bus	*bus;
	bool			aged;
};

/**
 * struct nic_ts_receiver - a user that gets every TCP packet of a device, with its timestamp
 * @rx:		called for each TCP packet that came in on the device, before
 *		GRO, with BH disabled, under RCU. May not sleep, may not
 *		change the packet. @skb->data is the network header.
 * @skip:	called for each packet before it is parsed, in the same context; true: it is
 *		not wanted, and costs little. It comes all the same if another receiver of
 *		the device wants it. NULL: all are wanted
 * @skips:	a word per CPU: while it is 0, @skip is not called; only with @skip
 * @net:	namespace of the device; the caller keeps it alive
 * @ifindex:	the device
 * @node:	of the bus
 * @bus:	of the bus
 *
 * If the device or the namespace goes, the calls end, and
 * nic_ts_rx_unregister() is still due.
 */
struct nic_ts_receiver {
	void (*rx)(struct nic_ts_receiver *receiver, const struct sk_buff *skb,
		   const struct nic_ts_packet *packet,
		   const struct nic_ts_stamp *stamp);
	bool (*skip)(struct nic_ts_receiver *receiver, const struct sk_buff *skb);
	u32 __percpu		*skips;
	struct net		*net;
	int			ifindex;
	struct hlist_node	node;
	const struct nic_ts_bus	*bus;
};

/**
 * struct nic_ts_bus - functions of nic_ts.ko, which those below call
 * @owner:		nic_ts.ko
 * @flow_attach:	see nic_ts_flow_attach()
 * @flow_detach:	see nic_ts_flow_detach()
 * @flow_rtt:		see nic_ts_flow_rtt()
 * @rx_register:	see nic_ts_rx_register()
 * @rx_unregister:	see nic_ts_rx_unregister()
 * @hw_request:		see nic_ts_hw_request()
 * @hw_release:		see nic_ts_hw_release()
 * @clock_map:		see nic_ts_clock_map()
 * @dev_clock:		see nic_ts_dev_clock()
 * @driver_rx:		see nic_ts_driver_rx()
 * @driver_tx:		see nic_ts_driver_tx()
 * @driver_tx_done:	see nic_ts_driver_tx_done()
 */
struct nic_ts_bus {
	struct module	*owner;

	struct nic_ts_flow *(*flow_attach)(const struct sock *sk, gfp_t gfp);
	void (*flow_detach)(struct nic_ts_flow *flow);
	enum nic_ts_verdict (*flow_rtt)(struct nic_ts_flow *flow, u32 una,
					struct nic_ts_rtt *rtt);
	int (*rx_register)(struct nic_ts_receiver *receiver);
	void (*rx_unregister)(struct nic_ts_receiver *receiver);
	int (*hw_request)(struct net *net, int ifindex);
	void (*hw_release)(struct net *net, int ifindex);
	int (*clock_map)(u32 domain, u16 epoch, u64 ns, u64 *host_ns,
			 u32 *error_ns);
	int (*dev_clock)(const struct net_device *dev, u64 host_ns,
			 struct nic_ts_stamp *clock, u32 *error_ns);

	void (*driver_rx)(struct sk_buff *skb, u64 ns, bool frags);
	void (*driver_tx)(struct sk_buff *skb, u64 ns);
	void (*driver_tx_done)(struct sk_buff *skb, u64 hw_ns);
};

/* Exported by nic_ts_hook.ko. */
extern struct static_key_false nic_ts_driver_key;
extern const struct nic_ts_bus __rcu *nic_ts_bus;

int nic_ts_bus_register(const struct nic_ts_bus *bus);
void nic_ts_bus_unregister(const struct nic_ts_bus *bus);
int nic_ts_notifier_register(struct notifier_block *nb);
void nic_ts_notifier_unregister(struct notifier_block *nb);
const struct nic_ts_bus *nic_ts_bus_get(void);
void __nic_ts_driver_rx(struct sk_buff *skb, u64 ns, bool frags);
void __nic_ts_driver_tx(struct sk_buff *skb, u64 ns);
void __nic_ts_driver_tx_done(struct sk_buff *skb, u64 hw_ns);

/* Events of the notifier chain; the data pointer is NULL. */
#define NIC_TS_BUS_UP	1	/* nic_ts.ko is there */

/* Drivers ------------------------------------------------------------------ */

/*
 * Do hooks for received packets call the bus? PREEMPT_RT has no tracepoint that it can use.
 * Elsewhere the call behind a hook begins with one, by which a packet takes 65 instructions less.
 * Tests of the hooks define it as 1.
 */
#ifndef NIC_TS_DRIVER_RX
#define NIC_TS_DRIVER_RX	IS_ENABLED(CONFIG_PREEMPT_RT)
#endif

/**
 * nic_ts_driver_rx() - capture a packet that is about to go up the stack
 * @skb:	the packet, @skb->dev and @skb->protocol set, @skb->data at the
 *		network header, as eth_type_trans() leaves it
 * @ns:		CLOCK_MONOTONIC (ktime_get_ns()) when the driver noticed it, ns;
 *		0: the bus reads the clock, if the packet is of interest
 *
 * To be called directly before napi_gro_receive() or netif_receive_skb(), once
 * for each packet on the wire. A hardware stamp in skb_hwtstamps(skb) has to be
 * there by then.
 *
 * Context: BH disabled, from the driver's poll function.
 */
static inline void nic_ts_driver_rx(struct sk_buff *skb, u64 ns)
{
	if (NIC_TS_DRIVER_RX && static_branch_unlikely(&nic_ts_driver_key))
		__nic_ts_driver_rx(skb, ns, false);
}

/**
 * nic_ts_driver_rx_frags() - capture a packet before napi_gro_frags(napi)
 * @skb:	of napi_get_frags(), filled: the packet from its Ethernet header on, all of it
 *		in fragments
 * @ns:		CLOCK_MONOTONIC, ns; 0: the bus reads the clock
 *
 * Context: BH disabled, from the driver's poll function.
 */
static inline void nic_ts_driver_rx_frags(struct sk_buff *skb, u64 ns)
{
	if (NIC_TS_DRIVER_RX && static_branch_unlikely(&nic_ts_driver_key))
		__nic_ts_driver_rx(skb, ns, true);
}

/**
 * nic_ts_driver_tx() - capture a packet that is in the ring, before the NIC is told
 * @skb:	the packet as ndo_start_xmit() was given it, not freed yet
 * @ns:		CLOCK_MONOTONIC, ns; 0: the bus reads the clock
 *
 * To be called once for each packet that was accepted, from ndo_start_xmit().
 *
 * Context: BH disabled.
 */
static inline void nic_ts_driver_tx(struct sk_buff *skb, u64 ns)
{
	if (static_branch_unlikely(&nic_ts_driver_key))
		__nic_ts_driver_tx(skb, ns);
}

/**
 * nic_ts_driver_tx_done() - report when the NIC sent a packet
 * @skb:	the packet as ndo_start_xmit() was given it, not freed yet
 * @hw_ns:	the NIC's clock, ns; 0 is ignored
 *
 * For NICs that stamp completions whether or not a socket asked. Where the
 * stamp goes to skb_tstamp_tx() nothing is to be done: the bus gets it there.
 *
 * Context: BH disabled.
 */
static inline void nic_ts_driver_tx_done(struct sk_buff *skb, u64 hw_ns)
{
	if (static_branch_unlikely(&nic_ts_driver_key))
		__nic_ts_driver_tx_done(skb, hw_ns);
}

/* Users -------------------------------------------------------------------- */

/**
 * nic_ts_flow_attach() - record timestamps of a connection's segments and ACKs
 * @sk:		a TCP socket with both ends known; it is not kept
 * @gfp:	GFP_ATOMIC or GFP_KERNEL
 *
 * Capture begins as soon as the tracepoints are registered, which happens
 * asynchronously for the first user: segments of the first milliseconds may
 * have no record. All users that attach to a connection share one entry.
 *
 * Context: any but hard interrupt.
 * Return: the flow, or NULL: no bus, no memory, table full, or not an address
 * the bus knows. Counted there.
 */
static inline struct nic_ts_flow *nic_ts_flow_attach(const struct sock *sk,
						     gfp_t gfp)
{
	const struct nic_ts_bus *bus = nic_ts_bus_get();
	struct nic_ts_flow *flow;

	if (!bus)
		return NULL;
	flow = bus->flow_attach(sk, gfp);
	if (!flow)
		module_put(bus->owner);
	return flow;
}

/**
 * nic_ts_flow_detach() - drop the flow of nic_ts_flow_attach()
 * @flow:	the flow, or NULL
 *
 * Context: any but hard interrupt.
 */
static inline void nic_ts_flow_detach(struct nic_ts_flow *flow)
{
	const struct nic_ts_bus *bus;

	if (!flow)
		return;
	bus = flow->bus;
	bus->flow_detach(flow);
	module_put(bus->owner);
}

/**
 * nic_ts_flow_rtt() - measure the RTT of the newest segment that an ACK completes
 * @flow:	attached
 * @una:	acknowledged up to here, snd_una
 * @rtt:	filled in with NIC_TS_RTT_OK; of the others, @rtt->seq and
 *		@rtt->end_seq with NIC_TS_RTT_NO_ACK, _AMBIGUOUS and _INVALID
 *
 * It takes the newest segment that ends at or before @una, and the first ACK that covered its
 * end. So it does not matter how long ACKs waited in a backlog, or that GRO merged them. Both
 * timestamps are of one clock, the best one that both have: the NIC's; else the NIC's, taken to
 * CLOCK_MONOTONIC by a valid map; else software's.
 *
 * It finds the same segment again until a newer one is complete. A user that wants each segment
 * once compares @rtt->end_seq.
 *
 * Context: any but hard interrupt; takes spinlocks of the flow.
 */
static inline enum nic_ts_verdict nic_ts_flow_rtt(struct nic_ts_flow *flow,
						  u32 una,
						  struct nic_ts_rtt *rtt)
{
	return flow->bus->flow_rtt(flow, una, rtt);
}

/**
 * nic_ts_flow_aged() - return whether the entry has been given to others
 * @flow:	attached
 *
 * An entry that saw no packet for flow_age_s seconds leaves the table; it has
 * to be detached, and attached anew. Worth asking after idleness.
 */
static inline bool nic_ts_flow_aged(const struct nic_ts_flow *flow)
{
	/* Set once, by the bus, from its aging work. */
	return READ_ONCE(flow->aged);
}

/**
 * nic_ts_rx_register() - receive every TCP packet that comes in on a device
 * @receiver:	with @rx, @net and @ifindex set; not to be touched until
 *		nic_ts_rx_unregister()
 *
 * Context: process, may sleep; takes RTNL.
 * Return: 0; -ENODEV: no bus, or no such device; -ENOMEM; -EOPNOTSUPP: this
 * kernel lacks the tracepoints.
 */
static inline int nic_ts_rx_register(struct nic_ts_receiver *receiver)
{
	const struct nic_ts_bus *bus = nic_ts_bus_get();
	int err;

	if (!bus)
		return -ENODEV;
	receiver->bus = bus;
	err = bus->rx_register(receiver);
	if (err)
		module_put(bus->owner);
	return err;
}

/**
 * nic_ts_rx_unregister() - undo a successful nic_ts_rx_register()
 * @receiver:	no call to it is under way any more when this returns
 *
 * Context: process, may sleep; takes RTNL.
 */
static inline void nic_ts_rx_unregister(struct nic_ts_receiver *receiver)
{
	const struct nic_ts_bus *bus = receiver->bus;

	bus->rx_unregister(receiver);
	module_put(bus->owner);
}

/**
 * nic_ts_hw_request() - have a device take hardware timestamps
 * @net:	namespace of the device
 * @ifindex:	the device
 *
 * Switches on stamps of all packets, both ways, if the device can; requests
 * are counted. Administrators have NIC_TS_CMD_DEV_SET for the same.
 *
 * Context: process, may sleep; takes RTNL.
 * Return: 0; -ENODEV: no bus, or no such device; -EOPNOTSUPP: it cannot, or not
 * for all packets; -EBUSY: it is configured for somebody else; or an error of
 * the driver.
 */
static inline int nic_ts_hw_request(struct net *net, int ifindex)
{
	const struct nic_ts_bus *bus = nic_ts_bus_get();
	int err;

	if (!bus)
		return -ENODEV;
	err = bus->hw_request(net, ifindex);
	if (err)
		module_put(bus->owner);
	return err;
}

/**
 * nic_ts_hw_release() - undo a successful nic_ts_hw_request()
 * @net:	namespace of the device
 * @ifindex:	device; it may be gone by now
 *
 * The last one restores the configuration that the first one found, unless
 * somebody changed it meanwhile.
 *
 * Context: process, may sleep; takes RTNL.
 */
static inline void nic_ts_hw_release(struct net *net, int ifindex)
{
	const struct nic_ts_bus *bus;

	/* The request holds the module, so the bus is there. */
	rcu_read_lock();
	bus = rcu_dereference(nic_ts_bus);
	rcu_read_unlock();
	bus->hw_release(net, ifindex);
	module_put(bus->owner);
}

/**
 * nic_ts_clock_map() - convert a hardware timestamp to CLOCK_MONOTONIC
 * @stamp:	with a hardware stamp
 * @host_ns:	where the result goes, ns
 * @error_ns:	and how wrong it can be, ns
 *
 * Context: any.
 * Return: 0; -ENODATA: there is no stamp, or its clock has no valid map.
 */
static inline int nic_ts_clock_map(const struct nic_ts_stamp *stamp,
				   u64 *host_ns, u32 *error_ns)
{
	const struct nic_ts_bus *bus;
	int err = -ENODATA;

	rcu_read_lock();
	bus = rcu_dereference(nic_ts_bus);
	if (bus && stamp->hw_ns)
		err = bus->clock_map(stamp->hw_domain, stamp->hw_epoch,
				     stamp->hw_ns, host_ns, error_ns);
	rcu_read_unlock();
	return err;
}

/**
 * nic_ts_dev_clock() - return the time that the clock of a device's NIC shows
 * @dev:	the device; it is compared, not dereferenced, and may be gone
 * @host_ns:	the time, CLOCK_MONOTONIC, ns
 * @clock:	where the result goes, as a hardware timestamp of then
 * @error_ns:	and how wrong it can be, ns
 *
 * The NIC is that below VLANs and the like: as long as each device of the stack has one
 * other below it.
 *
 * Context: any but hard interrupt.
 * Return: 0; -ENODATA: no bus, @dev has no NIC with a clock or several NICs, or that clock
 * has no map which is valid at @host_ns.
 */
static inline int nic_ts_dev_clock(const struct net_device *dev, u64 host_ns,
				   struct nic_ts_stamp *clock, u32 *error_ns)
{
	const struct nic_ts_bus *bus;
	int err = -ENODATA;

	rcu_read_lock();
	bus = rcu_dereference(nic_ts_bus);
	if (bus)
		err = bus->dev_clock(dev, host_ns, clock, error_ns);
	rcu_read_unlock();
	return err;
}

#endif /* _NIC_TS_H */
