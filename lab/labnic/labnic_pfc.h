/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Priority flow control and credits of the test NIC, for labq, the buffer of a switch
 * port. Both read the priority and the size of a packet by the functions here.
 */
#ifndef _LABNIC_PFC_H
#define _LABNIC_PFC_H

#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>

/* Priorities of IEEE 802.1Q; 7 is the highest. */
#define LABNIC_PRIOS		8

/**
 * labnic_skb_len() - bytes of the frame, without its check sequence and padding
 * @skb: a packet that is being sent, its data starting at the Ethernet header
 */
static inline u32 labnic_skb_len(const struct sk_buff *skb)
{
	return skb->len + (skb_vlan_tag_present(skb) ? VLAN_HLEN : 0);
}

/**
 * labnic_skb_prio() - the priority that a packet is queued and paused by
 * @skb: a packet that is being sent, its data starting at the Ethernet header
 *
 * The class selector, which is the upper three bits of the DSCP, of IPv4 and IPv6;
 * of anything else the PCP of its outer VLAN tag; 0 without one.
 *
 * Return: 0 to 7.
 */
static inline u8 labnic_skb_prio(const struct sk_buff *skb)
{
	const struct ethhdr *eth;
	struct ethhdr _eth;
	u32 offset = ETH_HLEN;
	int pcp = -1;
	__be16 proto;

	eth = skb_header_pointer(skb, 0, sizeof(_eth), &_eth);
	if (!eth)
		return 0;
	proto = eth->h_proto;
	if (skb_vlan_tag_present(skb))
		pcp = skb_vlan_tag_get_prio(skb);
	while (eth_type_vlan(proto)) {
		struct vlan_hdr _vlan;
		const struct vlan_hdr *vlan = skb_header_pointer(skb, offset, sizeof(_vlan),
								 &_vlan);

		if (!vlan)
			break;
		if (pcp < 0)
			pcp = ntohs(vlan->h_vlan_TCI) >> VLAN_PRIO_SHIFT;
		proto = vlan->h_vlan_encapsulated_proto;
		offset += VLAN_HLEN;
	}
	if (proto == htons(ETH_P_IP) || proto == htons(ETH_P_IPV6)) {
		u8 _start[2];
		const u8 *start = skb_header_pointer(skb, offset, sizeof(_start), _start);

		/* IPv6 has the version in front of it, IPv4 a whole byte. */
		if (start)
			return proto == htons(ETH_P_IP) ? start[1] >> 5 :
			       start[0] >> 1 & 7;
	}
	return max(pcp, 0);
}

bool labnic_is(const struct net_device *dev);
void labnic_pfc_enable(struct net_device *dev, bool on);
void labnic_pfc_set(struct net_device *dev, u8 prios);
u8 labnic_pfc_paused(const struct net_device *dev);
bool labnic_pfc_state(const struct net_device *dev, u8 prio, u64 *since_ns);
u64 labnic_rate_bytes(const struct net_device *dev);
void labnic_credit_set(struct net_device *dev, u32 slots);
void labnic_credit_claim(struct net_device *dev);
void labnic_credit_return(struct net_device *dev, u8 prio, u64 free_ns);
u8 labnic_credit_lacks(const struct net_device *dev);
u64 labnic_tx_ends_ns(struct net_device *dev, u32 len);
bool labnic_may_cut_through(const struct net_device *in, const struct net_device *out);

#endif /* _LABNIC_PFC_H */
