// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: devices, shared by all qdiscs on them
 *
 * What all queues of a device have in common is the wire: its rate, and the model of what
 * waits for it, see onramp_fifo.h.
 */
#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "onramp_ctl.h"

/* bytes/s in a Mbit/s */
#define ONRAMP_MBIT		125000ULL

/* All of them, under RTNL. */
static LIST_HEAD(onramp_links);

/* The speed that the device says it has. */
static void onramp_link_speed(struct onramp_link *link)
{
	struct ethtool_link_ksettings settings = {};
	u64 bps = 0;

	ASSERT_RTNL();
	if (!__ethtool_get_link_ksettings(link->dev, &settings) &&
	    ethtool_validate_speed(settings.base.speed) &&
	    settings.base.speed != (u32)SPEED_UNKNOWN)
		bps = settings.base.speed * ONRAMP_MBIT;
	/* Read by who sends; any speed that there was will do for a packet. */
	WRITE_ONCE(link->auto_bps, bps);
}

static struct onramp_link *onramp_link_find(const struct net_device *dev)
{
	struct onramp_link *link;

	ASSERT_RTNL();
	list_for_each_entry(link, &onramp_links, list)
		if (link->dev == dev)
			return link;
	return NULL;
}

/**
 * onramp_link_get() - a qdisc is made
 * @dev: on this device, which it holds
 *
 * Context: RTNL.
 * Return: what is shared, or NULL for lack of memory.
 */
struct onramp_link *onramp_link_get(struct net_device *dev)
{
	struct onramp_link *link = onramp_link_find(dev);

	if (!link) {
		link = kzalloc(sizeof(*link), GFP_KERNEL);
		if (!link)
			return NULL;
		link->dev = dev;
		onramp_link_speed(link);
		list_add(&link->list, &onramp_links);
	}
	link->users++;
	return link;
}

/* onramp_link_put() - a qdisc goes, and does not send any more; NULL is allowed. RTNL. */
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
	struct onramp_link *link = onramp_link_find(netdev_notifier_info_to_dev(ptr));

	if (link && (event == NETDEV_UP || event == NETDEV_CHANGE))
		onramp_link_speed(link);
	return NOTIFY_DONE;
}

static struct notifier_block onramp_link_notifier = {
	.notifier_call	= onramp_link_event,
};

/* onramp_link_module_init() - returns 0 or an error */
int onramp_link_module_init(void)
{
	return register_netdevice_notifier(&onramp_link_notifier);
}

/* onramp_link_module_exit() - no qdisc is left */
void onramp_link_module_exit(void)
{
	unregister_netdevice_notifier(&onramp_link_notifier);
}
