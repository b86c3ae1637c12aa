// SPDX-License-Identifier: GPL-2.0
/*
 * ksft_wire: "wire0", the device of a driver that has a wire of 10 Gbit/s, and loses all packets
 *
 * Where the kernel has a lock for each device's driver, it wants that: a qdisc begins under it, and
 * events of the device come under it.
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/module.h>
#include <linux/platform_device.h>

static struct platform_device *wire_parent;
static struct net_device *wire;

static netdev_tx_t wire_xmit(struct sk_buff *skb, struct net_device *dev)
{
	dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops wire_netdev_ops = {
	.ndo_start_xmit	= wire_xmit,
};

static int wire_get_link_ksettings(struct net_device *dev, struct ethtool_link_ksettings *link)
{
	link->base.speed = SPEED_10000;
	link->base.duplex = DUPLEX_FULL;
	return 0;
}

static const struct ethtool_ops wire_ethtool_ops = {
	.get_link		= ethtool_op_get_link,
	.get_link_ksettings	= wire_get_link_ksettings,
};

static void wire_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &wire_netdev_ops;
	dev->ethtool_ops = &wire_ethtool_ops;
#ifdef COMPAT_HAS_NETDEV_LOCK_OPS
	dev->request_ops_lock = true;
#endif
	eth_hw_addr_random(dev);
}

static int __init wire_init(void)
{
	int err = -ENOMEM;

	wire_parent = platform_device_register_simple("ksft_wire", PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(wire_parent))
		return PTR_ERR(wire_parent);
	wire = alloc_netdev(0, "wire%d", NET_NAME_ENUM, wire_setup);
	if (!wire)
		goto unregister_parent;
	SET_NETDEV_DEV(wire, &wire_parent->dev);
	err = register_netdev(wire);
	if (err)
		goto free_wire;
	return 0;

free_wire:
	free_netdev(wire);
unregister_parent:
	platform_device_unregister(wire_parent);
	return err;
}

static void __exit wire_exit(void)
{
	unregister_netdev(wire);
	free_netdev(wire);
	platform_device_unregister(wire_parent);
}

module_init(wire_init);
module_exit(wire_exit);

MODULE_AUTHOR("The onramp authors");
MODULE_DESCRIPTION("A device with a wire, for tests");
MODULE_LICENSE("GPL");
