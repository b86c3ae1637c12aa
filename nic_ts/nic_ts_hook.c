// SPDX-License-Identifier: GPL-2.0
/*
 * nic_ts_hook: where drivers, users of stamps and the bus meet
 *
 *	driver   -> static key, off -> NOP
 *	                        on  -> bus under RCU -> nic_ts.ko
 *	user     -> bus under RCU, with a reference on its module, or none
 *	nic_ts.ko -> registers, and notifies waiting users
 *
 * It is apart from nic_ts.ko so that a patched driver or tcp_timely loads this,
 * which does nothing, and not that.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/mutex.h>

#include <nic_ts.h>
#include <onramp_version.h>

struct static_key_false nic_ts_driver_key = STATIC_KEY_FALSE_INIT;
EXPORT_SYMBOL_GPL(nic_ts_driver_key);

const struct nic_ts_bus __rcu *nic_ts_bus;
EXPORT_SYMBOL_GPL(nic_ts_bus);

/* Protects writing nic_ts_bus; and the chain that is notified of it. */
static DEFINE_MUTEX(nic_ts_hook_mutex);
static BLOCKING_NOTIFIER_HEAD(nic_ts_chain);

/* nic_ts_bus_register() - register the bus; return 0, or -EBUSY if there is one; may sleep */
int nic_ts_bus_register(const struct nic_ts_bus *bus)
{
	int err = 0;

	mutex_lock(&nic_ts_hook_mutex);
	if (rcu_access_pointer(nic_ts_bus))
		err = -EBUSY;
	else
		rcu_assign_pointer(nic_ts_bus, bus);
	mutex_unlock(&nic_ts_hook_mutex);

	if (!err)
		blocking_notifier_call_chain(&nic_ts_chain, NIC_TS_BUS_UP, NULL);
	return err;
}
EXPORT_SYMBOL_GPL(nic_ts_bus_register);

/**
 * nic_ts_bus_unregister() - unregister the bus
 * @bus:	as registered; none of its functions is called any more when
 *		this returns, since nobody holds its module
 *
 * Context: process, may sleep.
 */
void nic_ts_bus_unregister(const struct nic_ts_bus *bus)
{
	mutex_lock(&nic_ts_hook_mutex);
	if (rcu_access_pointer(nic_ts_bus) == bus)
		RCU_INIT_POINTER(nic_ts_bus, NULL);
	mutex_unlock(&nic_ts_hook_mutex);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(nic_ts_bus_unregister);

/**
 * nic_ts_notifier_register() - register a callback for when the bus comes
 * @nb:		called with NIC_TS_BUS_UP, in process context; at once if it is
 *		there. It may be told twice.
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int nic_ts_notifier_register(struct notifier_block *nb)
{
	int err = blocking_notifier_chain_register(&nic_ts_chain, nb);

	if (!err && rcu_access_pointer(nic_ts_bus))
		nb->notifier_call(nb, NIC_TS_BUS_UP, NULL);
	return err;
}
EXPORT_SYMBOL_GPL(nic_ts_notifier_register);

/* nic_ts_notifier_unregister() - undo it: @nb is not called any more; may sleep */
void nic_ts_notifier_unregister(struct notifier_block *nb)
{
	blocking_notifier_chain_unregister(&nic_ts_chain, nb);
}
EXPORT_SYMBOL_GPL(nic_ts_notifier_unregister);

/* nic_ts_bus_get() - return the bus, to be given back by module_put(owner), or NULL; any context */
const struct nic_ts_bus *nic_ts_bus_get(void)
{
	const struct nic_ts_bus *bus;

	rcu_read_lock();
	bus = rcu_dereference(nic_ts_bus);
	if (bus && !try_module_get(bus->owner))
		bus = NULL;
	rcu_read_unlock();
	return bus;
}
EXPORT_SYMBOL_GPL(nic_ts_bus_get);

/**
 * __nic_ts_driver_rx() - do nic_ts_driver_rx() and nic_ts_driver_rx_frags(), with the key on
 * @skb:	the packet
 * @ns:		CLOCK_MONOTONIC, ns; 0: the bus reads the clock
 * @frags:	@skb begins with its Ethernet header, all of it in fragments
 */
void __nic_ts_driver_rx(struct sk_buff *skb, u64 ns, bool frags)
{
	const struct nic_ts_bus *bus;

	rcu_read_lock();
	bus = rcu_dereference(nic_ts_bus);
	if (bus)
		bus->driver_rx(skb, ns, frags);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(__nic_ts_driver_rx);

/**
 * __nic_ts_driver_tx() - do nic_ts_driver_tx(), with the key on
 * @skb:	the packet
 * @ns:		CLOCK_MONOTONIC, ns; 0: the bus reads the clock
 */
void __nic_ts_driver_tx(struct sk_buff *skb, u64 ns)
{
	const struct nic_ts_bus *bus;

	rcu_read_lock();
	bus = rcu_dereference(nic_ts_bus);
	if (bus)
		bus->driver_tx(skb, ns);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(__nic_ts_driver_tx);

/**
 * __nic_ts_driver_tx_done() - do nic_ts_driver_tx_done(), with the key on
 * @skb:	the packet
 * @hw_ns:	time of the NIC's clock, ns
 */
void __nic_ts_driver_tx_done(struct sk_buff *skb, u64 hw_ns)
{
	const struct nic_ts_bus *bus;

	rcu_read_lock();
	bus = rcu_dereference(nic_ts_bus);
	if (bus)
		bus->driver_tx_done(skb, hw_ns);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(__nic_ts_driver_tx_done);

MODULE_DESCRIPTION("Timestamp bus: hooks for drivers");
MODULE_AUTHOR("The onramp authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(ONRAMP_VERSION);
