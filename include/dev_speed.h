/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _DEV_SPEED_H
#define _DEV_SPEED_H

#include <linux/device.h>
#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/rtnetlink.h>
#include <linux/string.h>
#include <net/netdev_lock.h>

#include <dev_tunnel.h>

/* dev_speed_mbit() - return the speed that a device reports, Mbit/s, or 0; RTNL */
static inline u32 dev_speed_mbit(struct net_device *dev)
{
	struct ethtool_link_ksettings link = {};

	ASSERT_RTNL();
	if (__ethtool_get_link_ksettings(dev, &link) ||
	    !ethtool_validate_speed(link.base.speed) ||
	    link.base.speed == (u32)SPEED_UNKNOWN)
		return 0;
	return link.base.speed;
}

/* Makers of devices that hypervisors and clouds give to their guests; not all are in pci_ids.h. */
#define DEV_VENDOR_AMAZON	0x1d0f	/* ena */
#define DEV_VENDOR_GOOGLE	0x1ae0	/* gve */
#define DEV_VENDOR_MICROSOFT	0x1414	/* mana */
#define DEV_VENDOR_QEMU		0x1af4	/* as subsystem: e1000, rtl8139 */
#define DEV_VENDOR_VMWARE	0x15ad	/* vmxnet3; as subsystem: e1000, e1000e */
#define DEV_VENDOR_XEN		0x5853	/* as subsystem: e1000, rtl8139 */

/*
 * Does a hypervisor make the device with this parent? An emulated model of a real NIC has the
 * hypervisor's maker as its subsystem's, if at all. A virtual function (iavf, ixgbevf, mlx5) is
 * none: it reports the speed of a port with a wire.
 */
static inline bool dev_of_hypervisor(const struct device *parent)
{
	static const char * const buses[] = { "virtio", "vmbus", "xen", "vio" };
	static const u16 vendors[] = {
		DEV_VENDOR_AMAZON, DEV_VENDOR_GOOGLE, DEV_VENDOR_MICROSOFT,
		DEV_VENDOR_QEMU, DEV_VENDOR_VMWARE, DEV_VENDOR_XEN,
	};
	const struct pci_dev *pci;
	unsigned int i;

	for (i = 0; parent->bus && i < ARRAY_SIZE(buses); i++)
		if (!strcmp(parent->bus->name, buses[i]))
			return true;
	/* Of an IPU, whose other side decides. */
	if (parent->driver && !strcmp(parent->driver->name, "idpf"))
		return true;
	if (!dev_is_pci(parent))
		return false;
	pci = to_pci_dev(parent);
	for (i = 0; i < ARRAY_SIZE(vendors); i++)
		if (pci->vendor == vendors[i] || pci->subsystem_vendor == vendors[i])
			return true;
	return false;
}

/**
 * dev_wired() - does a wire limit the device?
 * @dev: device
 *
 * A device without a parent, like a veth or a tun, is made by software, and sends as fast as a
 * CPU does: its speed is a constant. That of a device which a hypervisor makes is the
 * hypervisor's choice. A device on top of others has a wire if all of them have one.
 *
 * Context: RTNL.
 */
static inline bool dev_wired(struct net_device *dev)
{
	const struct device *parent = dev->dev.parent;
	struct net_device *lower;
	struct list_head *iter;
	bool stacked = false;

	ASSERT_RTNL();
	/* The core limits the depth. */
	netdev_for_each_lower_dev(dev, lower, iter) {
		if (!dev_wired(lower))
			return false;
		stacked = true;
	}
	if (stacked)
		return true;
	return parent && !dev_of_hypervisor(parent);
}

/**
 * dev_tunnels() - does the device put its packets into others, as a tunnel?
 * @dev: device
 *
 * The tunnel's own device, or one on top of it. A tunnel may report the speed of the device that it
 * was made for, as a VXLAN does. But what it sends is routed again, and waits in another qdisc.
 *
 * Context: RTNL.
 */
static inline bool dev_tunnels(struct net_device *dev)
{
	struct net_device *lower;
	struct list_head *iter;

	ASSERT_RTNL();
	if (dev_is_tunnel(dev))
		return true;
	netdev_for_each_lower_dev(dev, lower, iter) {
		if (dev_tunnels(lower))
			return true;
	}
	return false;
}

/**
 * dev_of_software() - is the device made by software, and all that is below it?
 * @dev: device
 *
 * A veth, a tun or a bridge of these. One of a hypervisor is none.
 *
 * Context: RTNL.
 */
static inline bool dev_of_software(struct net_device *dev)
{
	struct net_device *lower;
	struct list_head *iter;

	ASSERT_RTNL();
	if (dev->dev.parent)
		return false;
	netdev_for_each_lower_dev(dev, lower, iter) {
		if (!dev_of_software(lower))
			return false;
	}
	return true;
}

/* What DIM and drivers' own algorithms let completions wait at most, us. */
#define DEV_ADAPTIVE_TX_WAIT_US	256

/**
 * struct dev_waits - how long NICs wait before an interrupt, us
 * @rx_us:	for a received packet
 * @tx_us:	for a sent one, whose memory is freed then
 */
struct dev_waits {
	u32	rx_us;
	u32	tx_us;
};

/* The waits of one device, if they are longer than @waits. */
static inline void dev_own_waits(struct net_device *dev, struct dev_waits *waits)
{
	const struct ethtool_ops *ops = dev->ethtool_ops;
	struct ethtool_coalesce coalesce = {};
	int err = 0;

	if (!ops || !ops->get_coalesce || !netif_device_present(dev))
		return;
	compat_netdev_lock_ops(dev);
	if (ops->begin)
		err = ops->begin(dev);
	if (!err) {
		err = compat_get_coalesce(dev, &coalesce);
		if (ops->complete)
			ops->complete(dev);
	}
	compat_netdev_unlock_ops(dev);
	if (err)
		return;
	/* Of a single packet there is nothing to wait for. */
	if (coalesce.rx_max_coalesced_frames != 1)
		waits->rx_us = max(waits->rx_us, coalesce.rx_coalesce_usecs);
	if (coalesce.use_adaptive_tx_coalesce)
		waits->tx_us = max_t(u32, waits->tx_us, DEV_ADAPTIVE_TX_WAIT_US);
	if (coalesce.tx_max_coalesced_frames != 1)
		waits->tx_us = max(waits->tx_us, coalesce.tx_coalesce_usecs);
}

static inline int dev_lower_waits(struct net_device *lower, struct netdev_nested_priv *priv)
{
	dev_own_waits(lower, priv->data);
	return 0;
}

/**
 * dev_get_waits() - how long a NIC waits before an interrupt
 * @dev: device; a VLAN, a bond or a bridge waits as long as the slowest below it
 * @waits: set to rx-usecs and tx-usecs of `ethtool -c`; 0 if it does not wait, or does not say
 *
 * Where the wait for received packets adapts, it is that of the moment. Where that for sent ones
 * does, it is what it may become.
 *
 * Context: RTNL.
 */
static inline void dev_get_waits(struct net_device *dev, struct dev_waits *waits)
{
	struct netdev_nested_priv priv = { .data = waits };

	ASSERT_RTNL();
	*waits = (struct dev_waits){};
	dev_own_waits(dev, waits);
	netdev_walk_all_lower_dev(dev, dev_lower_waits, &priv);
}

#endif /* _DEV_SPEED_H */
