// SPDX-License-Identifier: GPL-2.0
/*
 * nic_ts, the timestamp bus: devices come and go, and who wants what of them.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hashtable.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/dsa.h>

#include <dev_tunnel.h>

#include "nic_ts_priv.h"

/* Our part of a device, or NULL. It stays as long as RTNL is held. */
static struct nic_ts_dev *nic_ts_dev_of(const struct net_device *dev)
{
	struct nic_ts_dev *nd;

	ASSERT_RTNL();
	rcu_read_lock();
	nd = nic_ts_dev_find(dev);
	rcu_read_unlock();
	return nd;
}

/*
 * Find out whether a device below sees the same packets in the same namespace. The one below a
 * tunnel does not. Also find the device whose clock stamps them: a port of a switch (DSA) has its
 * own.
 */
static void nic_ts_dev_lower(struct net_device *dev)
{
	const struct net_device *below = NULL;
	struct nic_ts_dev *nd = nic_ts_dev_of(dev);
	struct net_device *lower;
	struct list_head *iter;
	bool skip = false;

	netdev_for_each_lower_dev(dev, lower, iter) {
		skip |= net_eq(dev_net(lower), dev_net(dev)) && !dev_is_tunnel(dev);
		if (!netdev_uses_dsa(lower))
			below = below ? dev : lower;
	}
	if (!nd)
		return;
	/* Read locklessly with each packet, and OR-ACK. */
	WRITE_ONCE(nd->skip, skip);
	/* One with a driver has packets that none below has: netvsc, a port of a switch. */
	WRITE_ONCE(nd->skip_rx, skip && !dev->dev.parent);
	WRITE_ONCE(nd->below, below);
}

static void nic_ts_dev_add(struct net_device *dev)
{
	unsigned int n = max(dev->num_rx_queues, 1U);
	struct nic_ts_dev *nd;

	ASSERT_RTNL();
	nd = kzalloc(struct_size(nd, last_hw_ns, n), GFP_KERNEL);
	if (!nd)
		goto no_memory;
	nd->nqueues = n;
	nd->cpu = alloc_percpu(struct nic_ts_dev_cpu);
	if (!nd->cpu)
		goto free_nd;
	nd->dev = dev;
	nd->nn = nic_ts_net(dev_net(dev));
	nd->ifindex = dev->ifindex;
	nd->ether = dev->type == ARPHRD_ETHER || dev->type == ARPHRD_LOOPBACK;
	refcount_set(&nd->ref, 1);
	INIT_HLIST_HEAD(&nd->receivers);
	nic_ts_hw_dev_init(nd);
	hash_add_rcu(nic_ts_devs, &nd->node, (unsigned long)dev);
	nic_ts_dev_lower(dev);
	return;

free_nd:
	kfree(nd);
no_memory:
	netdev_warn(dev, "no memory to capture packets here\n");
}

/*
 * The clock of a device goes with it, but not while a VLAN or another port has it. A bond has the
 * clock of a port that it once had.
 */
static void nic_ts_dev_vanished(const struct nic_ts_dev *gone)
{
	struct nic_ts_dev *nd;
	int bucket;

	ASSERT_RTNL();
	if (gone->domain == NIC_TS_DOMAIN_NONE)
		return;
	hash_for_each(nic_ts_devs, bucket, nd, node)
		if (nd->domain == gone->domain && !netif_is_lag_master(nd->dev))
			return;
	nic_ts_clock_invalidate(gone->domain, NIC_TS_CLOCK_VANISHED);
}

static void nic_ts_dev_del(struct net_device *dev)
{
	/* By itself: its index is gone by now. */
	struct nic_ts_dev *nd = nic_ts_dev_of(dev);
	struct nic_ts_receiver *r;
	struct hlist_node *next;

	/* The core may announce the end of a device more than once. */
	if (!nd)
		return;
	hash_del_rcu(&nd->node);
	hlist_for_each_entry_safe(r, next, &nd->receivers, node) {
		hlist_del_init_rcu(&r->node);
		nic_ts_capture_put(false);
	}
	/* It may be moving to another namespace, or this module is unloaded. */
	if (dev->reg_state == NETREG_REGISTERED)
		nic_ts_hw_stop(nd);
	else
		nic_ts_dev_vanished(nd);
	nic_ts_dev_put(nd);
}

static void nic_ts_dev_up(struct net_device *dev)
{
	struct nic_ts_dev *nd = nic_ts_dev_of(dev);

	/* It is missing if memory lacked when it was registered. */
	if (!nd)
		nic_ts_dev_add(dev);
	else if (!nd->below)
		nic_ts_hw_dev_clock(nd);
}

static int nic_ts_netdev_event(struct notifier_block *nb, unsigned long event,
			       void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);

	switch (event) {
	case NETDEV_REGISTER:
		nic_ts_dev_add(dev);
		break;
	case NETDEV_UNREGISTER:
		nic_ts_dev_del(dev);
		break;
	case NETDEV_UP:
		nic_ts_dev_up(dev);
		break;
	case NETDEV_CHANGEUPPER:
		nic_ts_dev_lower(((struct netdev_notifier_changeupper_info *)ptr)->upper_dev);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block nic_ts_netdev_nb = {
	.notifier_call = nic_ts_netdev_event,
};

/**
 * nic_ts_dev_rx_register() - give a receiver the packets of its device
 * @receiver:	@net and @ifindex say which
 *
 * Context: process; takes RTNL.
 * Return: 0, -ENODEV, or -EOPNOTSUPP: packets cannot be captured on this kernel.
 */
int nic_ts_dev_rx_register(struct nic_ts_receiver *receiver)
{
	struct nic_ts_dev *nd;
	int err = -ENODEV;

	if (!nic_ts_capture_able())
		return -EOPNOTSUPP;
	rtnl_lock();
	nd = nic_ts_dev_by_index(receiver->net, receiver->ifindex);
	if (nd) {
		hlist_add_head_rcu(&receiver->node, &nd->receivers);
		nic_ts_capture_get(false);
		err = 0;
	}
	rtnl_unlock();
	return err;
}

/**
 * nic_ts_dev_rx_unregister() - undo that; none of its callbacks runs when this returns
 * @receiver:	registered, or its device is gone
 *
 * Context: process; takes RTNL, waits for RCU readers.
 */
void nic_ts_dev_rx_unregister(struct nic_ts_receiver *receiver)
{
	rtnl_lock();
	if (!hlist_unhashed(&receiver->node)) {
		hlist_del_init_rcu(&receiver->node);
		nic_ts_capture_put(false);
	}
	rtnl_unlock();
	synchronize_rcu();
}

/* nic_ts_dev_hw_request() - have a NIC take timestamps; 0, -ENODEV or an error; takes RTNL */
int nic_ts_dev_hw_request(struct net *net, int ifindex)
{
	struct nic_ts_dev *nd;
	const char *why = NULL;
	int err = -ENODEV;

	rtnl_lock();
	nd = nic_ts_dev_by_index(net, ifindex);
	if (nd)
		err = nic_ts_hw_get(nd, false, &why);
	rtnl_unlock();
	return err;
}

/* nic_ts_dev_hw_release() - undo nic_ts_dev_hw_request(); the device may be gone; takes RTNL */
void nic_ts_dev_hw_release(struct net *net, int ifindex)
{
	struct nic_ts_dev *nd;

	rtnl_lock();
	nd = nic_ts_dev_by_index(net, ifindex);
	if (nd)
		nic_ts_hw_put(nd, false);
	rtnl_unlock();
}

/**
 * nic_ts_dev_init() - begin with the devices that exist, and follow all that come and go
 *
 * Context: process; the notifier replays NETDEV_REGISTER.
 * Return: 0 or a negative errno.
 */
int nic_ts_dev_init(void)
{
	return register_netdevice_notifier(&nic_ts_netdev_nb);
}

/**
 * nic_ts_dev_exit() - undo nic_ts_dev_init()
 *
 * The notifier replays NETDEV_UNREGISTER, which ends all devices. They are freed after a
 * grace period: the caller waits with rcu_barrier().
 *
 * Context: process.
 */
void nic_ts_dev_exit(void)
{
	unregister_netdevice_notifier(&nic_ts_netdev_nb);
}
