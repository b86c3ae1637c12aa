/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _DEV_SPEED_H
#define _DEV_SPEED_H

#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>

/**
 * dev_speed_mbit() - return the speed that a device reports
 * @dev: device
 *
 * Context: RTNL.
 * Return: Mbit/s; 0 if it reports none.
 */
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

#endif /* _DEV_SPEED_H */
