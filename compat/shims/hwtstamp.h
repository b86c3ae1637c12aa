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
 */
#ifndef _ONRAMP_COMPAT_HWTSTAMP_H
#define _ONRAMP_COMPAT_HWTSTAMP_H

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
#define compat_ndo_hwtstamp(get, set)	.ndo_eth_ioctl = set##_compat

#endif

#ifndef COMPAT_HAS_KERNEL_ETHTOOL_TS_INFO
#define kernel_ethtool_ts_info	ethtool_ts_info
#endif

#endif /* _ONRAMP_COMPAT_HWTSTAMP_H */
