/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How packets of a guest leave, and their answers come in
 */
#ifndef _SCH_ONRAMP_FWD_EGRESS_H
#define _SCH_ONRAMP_FWD_EGRESS_H

#include <linux/skbuff.h>
#include <or_port.h>
#include <or_proto.h>

bool onramp_fwd_egress(const struct sk_buff *skb, struct net_device *dev, struct or_egress *egress);
void onramp_fwd_egress_back(const struct sk_buff *skb, struct net_device *dev,
			    struct or_egress *egress);
bool onramp_fwd_is_port(const struct sk_buff *skb, unsigned int offset);

#endif /* _SCH_ONRAMP_FWD_EGRESS_H */
