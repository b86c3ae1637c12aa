// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: devices, shared by all qdiscs on them
 *
 * All queues of a device share its wire: its rate, and the model of the queue before it, see
 * onramp_fifo.h. "The sender's own queue" of Documentation/sch_onramp.md says which devices have a
 * wire. A tunnel that reports the speed of the device below, as a VXLAN does, has that rate, but no
 * model. Its packets wait again in the qdisc of that device, which may send them in another order.
 * The model begins anew when the rate changes. It is ahead by the time on the wire of the bytes
 * that the driver has and has not completed (BQL), at most.
 *
 * A packet may pass several qdiscs: that of a VLAN, and then that of the NIC. Only one may follow
 * its connection, or each would record its data, as if it were sent twice. It is the lowest one: it
 * knows the wire, packets leave it for that, and it sees those of all devices on top of it. The
 * ones above only pace. So
 *
 *	a qdisc that follows connections comes or goes, or a device is put on another:
 *	  each device above: is there one below that the packets leave by as they are?
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <dev_speed.h>

#include "onramp_conn.h"

/* bytes/s in a Mbit/s */
#define ONRAMP_MBIT		125000ULL

/* All of them, under RTNL. */
static LIST_HEAD(onramp_links);

/*
 * The speeds of the wires, as the devices report them. Linux 7.2 and newer hold a device's lock
 * where a qdisc begins and where a device comes up, and take it to ask: so not from there.
 */
static void onramp_links_speed(struct work_struct *work)
{
	struct onramp_link *link;
	u64 bps;

	rtnl_lock();
	list_for_each_entry(link, &onramp_links, list) {
		bps = dev_wired(link->dev) ? dev_speed_mbit(link->dev) * ONRAMP_MBIT : 0;
		WRITE_ONCE(link->tunnel, dev_tunnels(link->dev));
		WRITE_ONCE(link->software, dev_of_software(link->dev));
		/* Qdiscs read it without a lock; a packet may use the former speed. */
		WRITE_ONCE(link->auto_bps, bps);
	}
	rtnl_unlock();
}

static DECLARE_WORK(onramp_links_work, onramp_links_speed);

/**
 * onramp_link_restart() - forget the packets that wait for a wire whose rate has changed
 * @link: the device
 *
 * The model then takes waiting packets for sent. So packets seem to leave too early, by the
 * length of the driver's queue, never too late.
 *
 * Context: any.
 */
void onramp_link_restart(struct onramp_link *link)
{
	atomic64_set(&link->fifo_q, ktime_get_ns() << ONRAMP_FIFO_SHIFT);
}

#ifdef CONFIG_BQL
/**
 * onramp_link_in_flight() - return the bytes that the driver has been given and has not completed
 * @link: the device
 * @bytes: set to them
 *
 * The counters are the driver's, read without its locks: the completed ones first, so that
 * bytes that complete meanwhile count as in flight.
 *
 * Context: a qdisc of the device is in use.
 * Return: false if the driver does not count them.
 */
bool onramp_link_in_flight(const struct onramp_link *link, u64 *bytes)
{
	const struct net_device *dev = link->dev;
	unsigned int i, queued, completed;
	bool counts = false;

	*bytes = 0;
	for (i = 0; i < READ_ONCE(dev->real_num_tx_queues); i++) {
		const struct dql *dql = &netdev_get_tx_queue(dev, i)->dql;

		completed = READ_ONCE(dql->num_completed);
		/*
		 * Not to be read before that. Pairs with the driver's or the device's lock, which
		 * orders the queueing of a packet before its completion. That suffices
		 * where all other CPUs see a store at once, as on x86-64 and arm64.
		 */
		smp_rmb();
		queued = READ_ONCE(dql->num_queued);
		counts |= queued;
		/* Both wrap. A queue that was reset in between has nothing in flight. */
		*bytes += max_t(s32, queued - completed, 0);
	}
	return counts;
}
#else
bool onramp_link_in_flight(const struct onramp_link *link, u64 *bytes)
{
	return false;
}
#endif

static struct onramp_link *onramp_link_find(const struct net_device *dev)
{
	struct onramp_link *link;

	ASSERT_RTNL();
	list_for_each_entry(link, &onramp_links, list)
		if (link->dev == dev)
			return link;
	return NULL;
}

/* Devices whose packets go on to one below as they are, but for a tag or a MAC address. */
static bool onramp_link_passes(const struct net_device *dev)
{
	static const char * const kinds[] = {
		"vlan", "bond", "team", "bridge", "macvlan", "macvtap", "ipvlan", "ipvtap", "vrf",
	};
	unsigned int i;

	for (i = 0; dev->rtnl_link_ops && i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(dev->rtnl_link_ops->kind, kinds[i]))
			return true;
	return false;
}

/* The ONRAMP_FOLLOWS_* of the devices below @dev, in its namespace, that its packets leave by. */
static u8 onramp_link_below(struct net_device *dev)
{
	const struct onramp_link *link;
	struct net_device *lower;
	struct list_head *iter;
	u8 below = 0;

	if (!onramp_link_passes(dev))
		return 0;
	netdev_for_each_lower_dev(dev, lower, iter) {
		if (!net_eq(dev_net(lower), dev_net(dev)))
			continue;
		link = onramp_link_find(lower);
		if (link && link->follows)
			below |= ONRAMP_FOLLOWS_SOCKETS;
		if (link && link->follows_forwarded)
			below |= ONRAMP_FOLLOWS_FORWARDED;
		below |= onramp_link_below(lower);
	}
	return below;
}

/* Look again at the devices below @dev. */
static void onramp_link_restack(struct net_device *dev)
{
	struct onramp_link *link = onramp_link_find(dev);

	/* Qdiscs read it without a lock: one packet more or less is recorded twice. */
	if (link)
		WRITE_ONCE(link->below, onramp_link_below(dev));
}

static int onramp_upper_restack(struct net_device *upper, struct netdev_nested_priv *priv)
{
	onramp_link_restack(upper);
	return 0;
}

/* The same for each device above @dev. */
static void onramp_links_restack(struct net_device *dev)
{
	struct netdev_nested_priv priv = {};

	rcu_read_lock();
	netdev_walk_all_upper_dev_rcu(dev, onramp_upper_restack, &priv);
	rcu_read_unlock();
}

/* onramp_link_follow() - note that a qdisc follows ONRAMP_FOLLOWS_* @is, no longer @was; RTNL */
void onramp_link_follow(struct onramp_link *link, u8 was, u8 is)
{
	bool followed = link->follows, forwarded = link->follows_forwarded;

	ASSERT_RTNL();
	link->follows += !!(is & ONRAMP_FOLLOWS_SOCKETS) - !!(was & ONRAMP_FOLLOWS_SOCKETS);
	link->follows_forwarded += !!(is & ONRAMP_FOLLOWS_FORWARDED) -
				   !!(was & ONRAMP_FOLLOWS_FORWARDED);
	if (followed != !!link->follows || forwarded != !!link->follows_forwarded)
		onramp_links_restack(link->dev);
}

/* onramp_link_find_or_create() - return the link of a qdisc's device, or NULL: no memory; RTNL */
struct onramp_link *onramp_link_find_or_create(struct net_device *dev)
{
	struct onramp_link *link = onramp_link_find(dev);

	if (!link) {
		link = kzalloc(sizeof(*link), GFP_KERNEL);
		if (!link)
			return NULL;
		link->dev = dev;
		link->tunnel = dev_tunnels(dev);
		list_add(&link->list, &onramp_links);
		schedule_work(&onramp_links_work);
		onramp_link_restack(dev);
	}
	link->users++;
	return link;
}

/* onramp_link_put() - drop the reference of a qdisc that sends no more; NULL is allowed. RTNL. */
void onramp_link_put(struct onramp_link *link)
{
	ASSERT_RTNL();
	if (!link || --link->users)
		return;
	list_del(&link->list);
	kfree(link);
}

static int onramp_link_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct onramp_link *link;

	/* @dev has a device on top of it that it had not, or the reverse. */
	if (event == NETDEV_CHANGEUPPER) {
		const struct netdev_notifier_changeupper_info *info = ptr;

		onramp_link_restack(info->upper_dev);
		onramp_links_restack(info->upper_dev);
		return NOTIFY_DONE;
	}
	link = onramp_link_find(dev);
	if (link && (event == NETDEV_UP || event == NETDEV_CHANGE))
		schedule_work(&onramp_links_work);
	return NOTIFY_DONE;
}

static struct notifier_block onramp_link_notifier = {
	.notifier_call	= onramp_link_event,
};

/* onramp_link_module_init() - register the notifier; return 0 or an error */
int onramp_link_module_init(void)
{
	return register_netdevice_notifier(&onramp_link_notifier);
}

/* onramp_link_module_exit() - undo onramp_link_module_init(); no qdisc is left */
void onramp_link_module_exit(void)
{
	unregister_netdevice_notifier(&onramp_link_notifier);
	cancel_work_sync(&onramp_links_work);
}
