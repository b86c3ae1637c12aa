/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hardware time stamps:
 *  - 6.6, commit 66f7223039c0: ndo_hwtstamp_get() and ndo_hwtstamp_set() with a
 *    kernel_hwtstamp_config in place of two ioctls;
 *  - 6.11, commit 2111375b85ad: get_ts_info() is given a kernel_ethtool_ts_info.
 *
 * Write the callbacks as the newest kernel wants them, put COMPAT_NDO_HWTSTAMP(get,
 * set) after them, and initialize the net_device_ops with
 *
 *	compat_ndo_hwtstamp(get, set),
 *
 * To ask a device, define a function with COMPAT_DEV_HWTSTAMP(name):
 *
 *	int name(struct net_device *dev, struct kernel_hwtstamp_config *config,
 *		 bool set);
 *
 * A driver with the old interface copies from and to a process: for as long as
 * the call takes, a page is mapped into the caller's memory. A caller without
 * memory, a kernel thread, gets -EOPNOTSUPP there.
 *  - 5.15, commit a76053707dbf: ndo_eth_ioctl() for these two of ndo_do_ioctl();
 *  - 6.1, commit 97dc7cd92ac6: SKBTX_HW_TSTAMP_NETDEV, for a stamp that netdev_get_tstamp()
 *    makes out of the NIC's;
 *  - 6.13: SKBTX_HW_TSTAMP_NOBPF is the bit that asks the NIC for a stamp.
 */
#ifndef _ONRAMP_COMPAT_HWTSTAMP_H
#define _ONRAMP_COMPAT_HWTSTAMP_H

#ifdef COMPAT_HAS_NDO_ETH_IOCTL
#define compat_ndo_eth_ioctl	ndo_eth_ioctl
#else
#define compat_ndo_eth_ioctl	ndo_do_ioctl
#endif

#ifdef COMPAT_HAS_NDO_HWTSTAMP

#define COMPAT_NDO_HWTSTAMP(get, set)	static_assert(true)
#define compat_ndo_hwtstamp(get, set)	\
	.ndo_hwtstamp_get = get, .ndo_hwtstamp_set = set

#else

struct kernel_hwtstamp_config {
	int flags;
	int tx_type;
	int rx_filter;
};

#define COMPAT_NDO_HWTSTAMP(get, set)					\
	static int set##_compat(struct net_device *dev, struct ifreq *ifr, \
				int cmd)				\
	{								\
		struct kernel_hwtstamp_config kernel_config = {};	\
		struct hwtstamp_config config;				\
		int err;						\
									\
		switch (cmd) {						\
		case SIOCSHWTSTAMP:					\
			if (copy_from_user(&config, ifr->ifr_data, sizeof(config))) \
				return -EFAULT;				\
			kernel_config.flags = config.flags;		\
			kernel_config.tx_type = config.tx_type;		\
			kernel_config.rx_filter = config.rx_filter;	\
			err = set(dev, &kernel_config, NULL);		\
			break;						\
		case SIOCGHWTSTAMP:					\
			err = get(dev, &kernel_config);			\
			break;						\
		default:						\
			return -EOPNOTSUPP;				\
		}							\
		if (err)						\
			return err;					\
		config.flags = kernel_config.flags;			\
		config.tx_type = kernel_config.tx_type;			\
		config.rx_filter = kernel_config.rx_filter;		\
		return copy_to_user(ifr->ifr_data, &config, sizeof(config)) ? \
		       -EFAULT : 0;					\
	}								\
	static_assert(true)
#define compat_ndo_hwtstamp(get, set)	.compat_ndo_eth_ioctl = set##_compat

#endif

#ifdef COMPAT_HAS_NDO_HWTSTAMP
#define _COMPAT_DEV_HWTSTAMP_NDO(fn)					\
	static int fn##_ndo(struct net_device *dev,			\
			    struct kernel_hwtstamp_config *kernel_config, \
			    bool set)					\
	{								\
		const struct net_device_ops *ops = dev->netdev_ops;	\
									\
		if (!ops->ndo_hwtstamp_get || !ops->ndo_hwtstamp_set)	\
			return -ENOIOCTLCMD;				\
		return set ? ops->ndo_hwtstamp_set(dev, kernel_config, NULL) : \
			     ops->ndo_hwtstamp_get(dev, kernel_config);	\
	}
#else
#define _COMPAT_DEV_HWTSTAMP_NDO(fn)					\
	static int fn##_ndo(struct net_device *dev,			\
			    struct kernel_hwtstamp_config *kernel_config, \
			    bool set)					\
	{								\
		return -ENOIOCTLCMD;					\
	}
#endif

#ifndef COMPAT_HAS_NETDEV_LOCK_OPS
#define compat_netdev_lock_ops(dev)	((void)(dev))
#define compat_netdev_unlock_ops(dev)	((void)(dev))
#else
#define compat_netdev_lock_ops(dev)	netdev_lock_ops(dev)
#define compat_netdev_unlock_ops(dev)	netdev_unlock_ops(dev)
#endif

/*
 * Uses <linux/mm.h>, <linux/mman.h>, <linux/netdevice.h>, <linux/sockios.h>,
 * <linux/uaccess.h> and <net/netdev_lock.h>.
 */
#define COMPAT_DEV_HWTSTAMP(fn)						\
	_COMPAT_DEV_HWTSTAMP_NDO(fn##_by)				\
									\
	static int fn##_ioctl(struct net_device *dev,			\
				struct kernel_hwtstamp_config *kernel_config, \
				bool set)				\
	{								\
		struct hwtstamp_config config = {			\
			.flags		= kernel_config->flags,		\
			.tx_type	= kernel_config->tx_type,	\
			.rx_filter	= kernel_config->rx_filter,	\
		};							\
		struct ifreq ifr = {};					\
		unsigned long addr;					\
		int err;						\
									\
		if (!dev->netdev_ops->compat_ndo_eth_ioctl || !current->mm)	\
			return -EOPNOTSUPP;				\
		addr = vm_mmap(NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE, \
			       MAP_PRIVATE | MAP_ANONYMOUS, 0);		\
		if (IS_ERR_VALUE(addr))					\
			return (int)addr;				\
		strscpy(ifr.ifr_name, dev->name, sizeof(ifr.ifr_name));	\
		ifr.ifr_data = (void __user *)addr;			\
		err = -EFAULT;						\
		if (!copy_to_user(ifr.ifr_data, &config, sizeof(config))) \
			err = dev->netdev_ops->compat_ndo_eth_ioctl(dev, &ifr,	\
				set ? SIOCSHWTSTAMP : SIOCGHWTSTAMP);	\
		if (!err && copy_from_user(&config, ifr.ifr_data, sizeof(config))) \
			err = -EFAULT;					\
		vm_munmap(addr, PAGE_SIZE);				\
		if (err)						\
			return err;					\
		kernel_config->flags = config.flags;			\
		kernel_config->tx_type = config.tx_type;		\
		kernel_config->rx_filter = config.rx_filter;		\
		return 0;						\
	}								\
									\
	static int fn(struct net_device *dev,				\
		      struct kernel_hwtstamp_config *kernel_config, bool set) \
	{								\
		int err;						\
									\
		if (!netif_device_present(dev))				\
			return -ENODEV;					\
		compat_netdev_lock_ops(dev);				\
		err = fn##_by_ndo(dev, kernel_config, set);		\
		if (err == -ENOIOCTLCMD)				\
			err = fn##_ioctl(dev, kernel_config, set);	\
		compat_netdev_unlock_ops(dev);				\
		return err;						\
	}								\
	static_assert(true)

#ifndef COMPAT_HAS_SKBTX_HW_TSTAMP_NOBPF
#define SKBTX_HW_TSTAMP_NOBPF	SKBTX_HW_TSTAMP
#endif

#ifndef COMPAT_HAS_NETDEV_GET_TSTAMP
#define SKBTX_HW_TSTAMP_NETDEV		0
#define netdev_get_tstamp(dev, hwtstamps, cycles)	((hwtstamps)->hwtstamp)
#endif

#ifndef COMPAT_HAS_KERNEL_ETHTOOL_TS_INFO
#define kernel_ethtool_ts_info	ethtool_ts_info
#endif

#endif /* _ONRAMP_COMPAT_HWTSTAMP_H */
