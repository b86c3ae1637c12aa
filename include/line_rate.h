/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Line rates of the egress devices of a network namespace.
 *
 *	NETDEV_REGISTER    --> line_dev, speed unknown
 *	NETDEV_UP, _CHANGE --> work --> ethtool --> line_dev.line_mbit, .rx_wait_us, .tx_wait_us
 *	line_rates_ask()   --> work, if that was a second ago
 *	NETDEV_UNREGISTER  --> no longer found; freed with its last flow
 *
 * Included by the one file of a module that has a struct line_rates in each namespace. Its
 * notifier of devices calls line_rates_event().
 */
#ifndef _LINE_RATE_H
#define _LINE_RATE_H

#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include <dev_speed.h>
#include <line_rate_types.h>

/**
 * line_rates_ask() - have devices asked again, if that was long ago
 * @rates: of the namespace of the socket
 *
 * No event tells of `ethtool -C`. Context: any.
 */
static inline void line_rates_ask(struct line_rates *rates)
{
	rcu_read_lock();
	if (!READ_ONCE(rates->gone) &&
	    time_after(jiffies, READ_ONCE(rates->asked) + LINE_RATE_ASK)) {
		WRITE_ONCE(rates->asked, jiffies);
		schedule_work(&rates->work);
	}
	rcu_read_unlock();
}

/**
 * line_dev_find() - the egress device of a flow
 * @rates: of the namespace of the socket
 * @ifindex: device in that namespace
 *
 * Context: any.
 * Return: the device with a reference, or NULL if it is not known (any more).
 */
static struct line_dev *line_dev_find(struct line_rates *rates, int ifindex)
{
	struct line_dev *dev;

	line_rates_ask(rates);
	rcu_read_lock();
	dev = xa_load(&rates->devs, ifindex);
	if (dev && !refcount_inc_not_zero(&dev->ref))
		dev = NULL;
	rcu_read_unlock();
	return dev;
}

/* line_dev_drop() - drop the reference of line_dev_find(). Any context. */
static void line_dev_drop(struct line_dev *dev)
{
	if (refcount_dec_and_test(&dev->ref))
		kfree_rcu(dev, rcu);
}

static void line_rates_speed(struct line_rates *rates, struct line_dev *dev)
{
	struct net_device *netdev;
	struct dev_waits waits;
	u32 mbit;

	ASSERT_RTNL();
	netdev = __dev_get_by_index(rates->net, dev->ifindex);
	if (!netdev)
		return;
	mbit = min_t(u32, dev_speed_mbit(netdev), LINE_RATE_MAX_MBIT);
	/* It is another one, and so is what flows have shown. */
	if (mbit != dev->line_mbit)
		WRITE_ONCE(dev->shown_mbit, 0);
	WRITE_ONCE(dev->line_mbit, mbit);
	WRITE_ONCE(dev->wired, mbit && dev_wired(netdev));
	WRITE_ONCE(dev->software, dev_of_software(netdev));
	dev_get_waits(netdev, &waits);
	WRITE_ONCE(dev->rx_wait_us, waits.rx_us);
	WRITE_ONCE(dev->tx_wait_us, waits.tx_us);
}

static void line_rates_work(struct work_struct *work)
{
	struct line_rates *rates = container_of(work, struct line_rates, work);
	struct line_dev *dev;
	unsigned long ifindex;

	WRITE_ONCE(rates->asked, jiffies);
	rtnl_lock();
	xa_for_each(&rates->devs, ifindex, dev)
		line_rates_speed(rates, dev);
	rtnl_unlock();
}

static void line_rates_add(struct line_rates *rates, int ifindex)
{
	struct line_dev *dev;

	ASSERT_RTNL();
	if (xa_load(&rates->devs, ifindex))
		return;
	dev = kzalloc(sizeof(*dev), GFP_KERNEL_ACCOUNT);
	if (!dev)
		return;
	refcount_set(&dev->ref, 1);
	dev->ifindex = ifindex;
	/* Flows on a device that could not be stored have the default rate. */
	if (xa_err(xa_store(&rates->devs, ifindex, dev, GFP_KERNEL_ACCOUNT)))
		kfree(dev);
}

static void line_rates_del(struct line_rates *rates, int ifindex)
{
	struct line_dev *dev = xa_erase(&rates->devs, ifindex);

	if (dev)
		line_dev_drop(dev);
}

/**
 * line_rates_event() - something happened to a device
 * @rates: of the device's namespace
 * @event: NETDEV_*, those of no interest included
 * @netdev: the device
 *
 * Context: a notifier of devices, RTNL.
 */
static void line_rates_event(struct line_rates *rates, unsigned long event,
			     const struct net_device *netdev)
{
	switch (event) {
	case NETDEV_REGISTER:
		line_rates_add(rates, netdev->ifindex);
		break;
	case NETDEV_UP:
		/* It is missing if memory lacked when it was registered. */
		line_rates_add(rates, netdev->ifindex);
		fallthrough;
	case NETDEV_CHANGE:
		/* Drivers may not be asked from here under all locks; see the work. */
		schedule_work(&rates->work);
		break;
	case NETDEV_UNREGISTER:
		line_rates_del(rates, netdev->ifindex);
		break;
	}
}

/* line_rates_init() - begin without a device. Process context. */
static void line_rates_init(struct line_rates *rates, struct net *net)
{
	rates->net = net;
	rates->asked = jiffies;
	rates->gone = false;
	xa_init(&rates->devs);
	INIT_WORK(&rates->work, line_rates_work);
}

/* line_rates_stop() - an RCU grace period before line_rates_exit(). */
static void line_rates_stop(struct line_rates *rates)
{
	/* Sockets may still be there. */
	WRITE_ONCE(rates->gone, true);
}

/*
 * line_rates_exit() - forget all devices. Process context, may sleep; no more events come:
 * the notifier is gone, or all devices of the namespace are.
 */
static void line_rates_exit(struct line_rates *rates)
{
	struct line_dev *dev;
	unsigned long ifindex;

	cancel_work_sync(&rates->work);
	xa_for_each(&rates->devs, ifindex, dev)
		line_rates_del(rates, ifindex);
	xa_destroy(&rates->devs);
}

#endif /* _LINE_RATE_H */
