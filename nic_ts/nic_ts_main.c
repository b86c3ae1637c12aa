// SPDX-License-Identifier: GPL-2.0
/*
 * nic_ts, the timestamp bus: namespaces, devices, the module.
 *
 *	  RX                                           TX
 *	wire -> NIC -> driver -> GRO -> TCP       TCP -> qdisc -> driver -> NIC -> wire
 *	        (1)     (2)  (3)                              (3)  (2)      (1)
 *
 *	(1) the NIC's clock; (2) patched driver; (3) tracepoints, any driver
 *
 * Where a packet is seen in several places the best stamp is kept, with the clock
 * that it is of. What is made of it, and for whom, is in include/nic_ts.h.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hashtable.h>
#include <linux/if_arp.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/dsa.h>

#include "nic_ts_priv.h"

#define CREATE_TRACE_POINTS
#include "nic_ts_trace.h"

unsigned int nic_ts_net_id __read_mostly;

/* struct nic_ts_dev by struct net_device; written under RTNL, read under RCU. */
static DEFINE_HASHTABLE(nic_ts_devs, 8);

static const char * const nic_ts_dev_stat_names[] = {
#define NIC_TS_STAT(id, name, what) #name,
	NIC_TS_DEV_STATS
#undef NIC_TS_STAT
};

static const char * const nic_ts_parse_names[NIC_TS_PARSE_MAX] = {
#define NIC_TS_PARSE(id, name, what) #name,
	NIC_TS_PARSE_RESULTS
#undef NIC_TS_PARSE
};

const char * const nic_ts_net_stat_names[NIC_TS_NET_STAT_MAX] = {
#define NIC_TS_STAT(id, name, what) #name,
	NIC_TS_NET_STATS
#undef NIC_TS_STAT
};

/**
 * nic_ts_dev_stat_name() - name of a device's counter
 * @id:		enum nic_ts_dev_stat
 * @buf:	for those that are put together
 * @size:	of @buf, 32 is enough
 */
const char *nic_ts_dev_stat_name(unsigned int id, char *buf, size_t size)
{
	if (id < NIC_TS_DEV_RX_PARSE)
		return nic_ts_dev_stat_names[id];
	if (id < NIC_TS_DEV_TX_PARSE)
		snprintf(buf, size, "Rx%s", nic_ts_parse_names[id - NIC_TS_DEV_RX_PARSE]);
	else
		snprintf(buf, size, "Tx%s", nic_ts_parse_names[id - NIC_TS_DEV_TX_PARSE]);
	return buf;
}

/**
 * nic_ts_dev_find() - a device of the stack
 * @dev:	compared only
 *
 * Context: under RCU.
 * Return: ours, or NULL.
 */
struct nic_ts_dev *nic_ts_dev_find(const struct net_device *dev)
{
	struct nic_ts_dev *nd;

	hash_for_each_possible_rcu(nic_ts_devs, nd, node, (unsigned long)dev)
		if (nd->dev == dev)
			return nd;
	return NULL;
}

/**
 * nic_ts_dev_by_index() - a device of a namespace
 * @net:	namespace
 * @ifindex:	device
 *
 * Context: RTNL.
 * Return: the device, valid as long as RTNL is held, or NULL.
 */
struct nic_ts_dev *nic_ts_dev_by_index(struct net *net, int ifindex)
{
	struct nic_ts_dev *nd = NULL;
	struct net_device *dev;

	ASSERT_RTNL();
	rcu_read_lock();
	dev = __dev_get_by_index(net, ifindex);
	if (dev)
		nd = nic_ts_dev_find(dev);
	rcu_read_unlock();
	return nd;
}

static void nic_ts_dev_free(struct rcu_head *rcu)
{
	struct nic_ts_dev *nd = container_of(rcu, struct nic_ts_dev, rcu);

	free_percpu(nd->cpu);
	kfree(nd);
}

/**
 * nic_ts_dev_put() - drop a reference
 * @nd:		device
 *
 * Context: any.
 */
void nic_ts_dev_put(struct nic_ts_dev *nd)
{
	if (refcount_dec_and_test(&nd->ref))
		call_rcu(&nd->rcu, nic_ts_dev_free);
}

/*
 * Is there a device below that sees the same packets in the same namespace? And which one's
 * clock is it that stamps them: a port of a switch (DSA) has its own.
 */
static void nic_ts_dev_lower(struct net_device *dev)
{
	const struct net_device *below = NULL;
	struct net_device *lower;
	struct nic_ts_dev *nd;
	struct list_head *iter;
	bool skip = false;

	ASSERT_RTNL();
	netdev_for_each_lower_dev(dev, lower, iter) {
		skip |= net_eq(dev_net(lower), dev_net(dev));
		if (!netdev_uses_dsa(lower))
			below = below ? dev : lower;
	}
	rcu_read_lock();
	nd = nic_ts_dev_find(dev);
	if (nd) {
		/* Read locklessly with each packet, and OR-ACK. */
		WRITE_ONCE(nd->skip, skip);
		WRITE_ONCE(nd->below, below);
	}
	rcu_read_unlock();
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
 * The clock of a device goes with it, but not with a VLAN or another port that has it. What
 * a bond has is that of a port which it once had.
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
	struct nic_ts_receiver *r;
	struct hlist_node *next;
	struct nic_ts_dev *nd;

	ASSERT_RTNL();
	/* By itself: its index is gone by now. */
	rcu_read_lock();
	nd = nic_ts_dev_find(dev);
	rcu_read_unlock();
	/* The core may say more than once that a device goes. */
	if (!nd)
		return;
	hash_del_rcu(&nd->node);
	hlist_for_each_entry_safe(r, next, &nd->receivers, node) {
		hlist_del_init_rcu(&r->node);
		nic_ts_capture_put();
	}
	/* It may only move to another namespace, or we go. */
	if (dev->reg_state == NETREG_REGISTERED)
		nic_ts_hw_restore(nd);
	else
		nic_ts_dev_vanished(nd);
	nic_ts_dev_put(nd);
}

static void nic_ts_dev_up(struct net_device *dev)
{
	struct nic_ts_dev *nd;

	ASSERT_RTNL();
	rcu_read_lock();
	nd = nic_ts_dev_find(dev);
	rcu_read_unlock();
	if (nd && !nd->below)
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

static int nic_ts_rx_add(struct nic_ts_receiver *receiver)
{
	struct nic_ts_dev *nd;
	int err = -ENODEV;

	if (!nic_ts_capture_able())
		return -EOPNOTSUPP;
	rtnl_lock();
	nd = nic_ts_dev_by_index(receiver->net, receiver->ifindex);
	if (nd) {
		hlist_add_head_rcu(&receiver->node, &nd->receivers);
		nic_ts_capture_get();
		err = 0;
	}
	rtnl_unlock();
	return err;
}

static void nic_ts_rx_del(struct nic_ts_receiver *receiver)
{
	rtnl_lock();
	if (!hlist_unhashed(&receiver->node)) {
		hlist_del_init_rcu(&receiver->node);
		nic_ts_capture_put();
	}
	rtnl_unlock();
	synchronize_rcu();
}

static int nic_ts_hw_add(struct net *net, int ifindex)
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

static void nic_ts_hw_del(struct net *net, int ifindex)
{
	struct nic_ts_dev *nd;

	rtnl_lock();
	nd = nic_ts_dev_by_index(net, ifindex);
	if (nd)
		nic_ts_hw_put(nd, false);
	rtnl_unlock();
}

/* The device of the NIC below a stack of devices; NULL: there is none, or several. */
static const struct nic_ts_dev *nic_ts_dev_bottom(const struct net_device *dev)
{
	const struct net_device *below;
	const struct nic_ts_dev *nd;
	int level;

	for (level = 0; level <= MAX_NEST_DEV; level++) {
		nd = nic_ts_dev_find(dev);
		below = nd ? READ_ONCE(nd->below) : NULL;
		if (!below)
			return nd;
		if (below == dev)
			return NULL;
		dev = below;
	}
	return NULL;
}

static int nic_ts_dev_from_host(const struct net_device *dev, u64 host_ns, u64 *clock_ns,
				u32 *error_ns)
{
	const struct nic_ts_dev *nd;
	int err = -ENODATA;

	rcu_read_lock();
	nd = nic_ts_dev_bottom(dev);
	if (nd)
		err = nic_ts_clock_from_host(READ_ONCE(nd->domain), host_ns, clock_ns,
					     error_ns);
	rcu_read_unlock();
	return err;
}

static const struct nic_ts_bus nic_ts_this_bus = {
	.owner		= THIS_MODULE,
	.flow_attach	= nic_ts_entry_attach,
	.flow_detach	= nic_ts_entry_detach,
	.flow_rtt	= nic_ts_entry_rtt,
	.rx_register	= nic_ts_rx_add,
	.rx_unregister	= nic_ts_rx_del,
	.hw_request	= nic_ts_hw_add,
	.hw_release	= nic_ts_hw_del,
	.clock_map	= nic_ts_clock_to_host,
	.dev_clock	= nic_ts_dev_from_host,
	.driver_rx	= nic_ts_driver_saw_rx,
	.driver_tx	= nic_ts_driver_sent,
	.driver_tx_done	= nic_ts_driver_done,
};

/* What the flows of a namespace that is gone count into. */
static DEFINE_PER_CPU(struct nic_ts_net_stats, nic_ts_gone_stats);

static int __net_init nic_ts_net_init(struct net *net)
{
	struct nic_ts_net *nn = nic_ts_net(net);
	int err;

	nn->net = net;
	nn->stats = alloc_percpu_gfp(struct nic_ts_net_stats,
				     GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!nn->stats)
		return -ENOMEM;
	nn->count = nn->stats;
	err = nic_ts_flow_net_init(nn);
	if (err)
		goto free_stats;
	return 0;

free_stats:
	free_percpu(nn->stats);
	return err;
}

/*
 * A socket of the kernel holds no reference on its namespace, and may be closed in an
 * exit method that comes after this one's: from here on it is given no flow, and what it
 * counts goes nowhere. The caller waits for RCU readers before it calls any exit method.
 */
static void __net_exit nic_ts_net_pre_exit(struct net *net)
{
	struct nic_ts_net *nn = nic_ts_net(net);

	WRITE_ONCE(nn->gone, true);
	WRITE_ONCE(nn->count, &nic_ts_gone_stats);
}

static void __net_exit nic_ts_net_exit(struct net *net)
{
	struct nic_ts_net *nn = nic_ts_net(net);

	nic_ts_flow_net_exit(nn);
	free_percpu(nn->stats);
}

static struct pernet_operations nic_ts_net_ops = {
	.init	= nic_ts_net_init,
	.pre_exit = nic_ts_net_pre_exit,
	.exit	= nic_ts_net_exit,
	.id	= &nic_ts_net_id,
	.size	= sizeof(struct nic_ts_net),
};

static int __init nic_ts_module_init(void)
{
	int err;

	nic_ts_capture_init();
	err = nic_ts_flow_init();
	if (err)
		return err;
	err = nic_ts_clock_init();
	if (err)
		goto flow_exit;
	err = nic_ts_hw_init();
	if (err)
		goto clock_exit;
	err = register_pernet_subsys(&nic_ts_net_ops);
	if (err)
		goto hw_exit;
	/* Replays NETDEV_REGISTER of the devices there are. */
	err = register_netdevice_notifier(&nic_ts_netdev_nb);
	if (err)
		goto unregister_pernet;
	err = nic_ts_genl_init();
	if (err)
		goto unregister_notifier;
	err = nic_ts_bus_register(&nic_ts_this_bus);
	if (err)
		goto genl_exit;
	return 0;

genl_exit:
	nic_ts_genl_exit();
unregister_notifier:
	unregister_netdevice_notifier(&nic_ts_netdev_nb);
unregister_pernet:
	unregister_pernet_subsys(&nic_ts_net_ops);
	/* nic_ts_dev_free() */
	rcu_barrier();
hw_exit:
	nic_ts_hw_exit();
clock_exit:
	nic_ts_clock_exit();
flow_exit:
	nic_ts_flow_exit();
	return err;
}

static void __exit nic_ts_module_exit(void)
{
	nic_ts_bus_unregister(&nic_ts_this_bus);
	nic_ts_genl_exit();
	nic_ts_capture_exit();
	/* Replays NETDEV_UNREGISTER, which ends all devices. */
	unregister_netdevice_notifier(&nic_ts_netdev_nb);
	unregister_pernet_subsys(&nic_ts_net_ops);
	/* nic_ts_dev_free() */
	rcu_barrier();
	nic_ts_hw_exit();
	nic_ts_clock_exit();
	nic_ts_flow_exit();
}

module_init(nic_ts_module_init);
module_exit(nic_ts_module_exit);

MODULE_DESCRIPTION("Timestamps of packets at the NIC");
MODULE_AUTHOR("The onramp authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(ONRAMP_VERSION);
