// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: how packets of a guest leave, and their answers come in
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>

#include "onramp_conn.h"
#include "onramp_fwd_egress.h"

/* Is it a MAC address that is neither the device's nor that of the bridge or bond it is part of? */
static bool onramp_fwd_is_other(struct net_device *dev, const u8 *mac)
{
	const struct net_device *master;

	if (ether_addr_equal(mac, dev->dev_addr))
		return false;
	master = netdev_master_upper_dev_get_rcu(dev);
	return !master || !ether_addr_equal(mac, master->dev_addr);
}

/* The VLAN tag of a frame, as in or_egress. */
static void onramp_fwd_vlan(const struct sk_buff *skb, struct or_egress *egress)
{
	if (!skb_vlan_tag_present(skb))
		return;
	egress->vlan_proto = skb->vlan_proto;
	egress->vlan_id = skb_vlan_tag_get_id(skb);
}

/**
 * onramp_fwd_egress() - say how the packets of a guest leave
 * @skb: one of them, in a qdisc
 * @dev: device of the qdisc
 * @egress: written
 *
 * Context: the qdisc's lock.
 * Return: false if no message could leave the same way.
 */
bool onramp_fwd_egress(const struct sk_buff *skb, struct net_device *dev, struct or_egress *egress)
{
	const struct ethhdr *eth = (const struct ethhdr *)skb->data;
	bool has_sk = onramp_skb_sk(skb);

	memset(egress, 0, sizeof(*egress));
	if (dev->type != ARPHRD_ETHER)
		return !has_sk;
	ether_addr_copy(egress->src, eth->h_source);
	ether_addr_copy(egress->dst, eth->h_dest);
	onramp_fwd_vlan(skb, egress);
	rcu_read_lock();
	if (has_sk || onramp_fwd_is_other(dev, egress->src))
		egress->ifindex = dev->ifindex;
	rcu_read_unlock();
	/* No other header between Ethernet's and IP's. */
	return !egress->ifindex ||
	       (skb_network_offset(skb) == ETH_HLEN && is_valid_ether_addr(egress->src));
}

/* onramp_fwd_egress_back() - say how the packets leave whose answer comes in as @skb; RCU */
void onramp_fwd_egress_back(const struct sk_buff *skb, struct net_device *dev,
			    struct or_egress *egress)
{
	memset(egress, 0, sizeof(*egress));
	if (dev->type != ARPHRD_ETHER || !skb_mac_header_was_set(skb))
		return;
	ether_addr_copy(egress->src, eth_hdr(skb)->h_dest);
	onramp_fwd_vlan(skb, egress);
	if (onramp_fwd_is_other(dev, egress->src))
		egress->ifindex = dev->ifindex;
}

/* onramp_fwd_is_port() - return whether a datagram is from OR_PORT to OR_PORT */
bool onramp_fwd_is_port(const struct sk_buff *skb, unsigned int offset)
{
	__be16 buf[2], *ports;

	ports = skb_header_pointer(skb, offset, sizeof(buf), buf);
	return ports && ports[0] == htons(OR_PORT) && ports[1] == htons(OR_PORT);
}
