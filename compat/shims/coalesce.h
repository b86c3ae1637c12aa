/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ethtool:
 *  - 5.15, commit f3ccfda19319: get_coalesce() fills a second structure. Ask a device with
 *    compat_get_coalesce(dev, coalesce), which only has the first one.
 */
#ifndef _ONRAMP_COMPAT_COALESCE_H
#define _ONRAMP_COMPAT_COALESCE_H

#ifdef COMPAT_HAS_KERNEL_ETHTOOL_COALESCE
#define compat_get_coalesce(dev, coalesce) ({				\
	struct kernel_ethtool_coalesce _kernel_coalesce = {};		\
	struct net_device *_dev = (dev);				\
									\
	_dev->ethtool_ops->get_coalesce(_dev, coalesce, &_kernel_coalesce, NULL); \
})
#else
#define compat_get_coalesce(dev, coalesce) ({				\
	struct net_device *_dev = (dev);				\
									\
	_dev->ethtool_ops->get_coalesce(_dev, coalesce);		\
})
#endif

#endif /* _ONRAMP_COMPAT_COALESCE_H */
