/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _DEV_TUNNEL_H
#define _DEV_TUNNEL_H

#include <linux/netdevice.h>

/**
 * dev_is_tunnel() - is it the device of a tunnel, which puts packets into other ones?
 * @dev: device
 *
 * VXLAN, Geneve, GRE, bareudp. Such a device may be linked to one below it, as a VXLAN that was
 * made with "dev" is. That one sees the tunnel's packets, and not those in them.
 *
 * Context: any.
 */
static inline bool dev_is_tunnel(const struct net_device *dev)
{
	/* Who asks it for a packet's outer headers. */
	return dev->netdev_ops->ndo_fill_metadata_dst;
}

#endif /* _DEV_TUNNEL_H */
