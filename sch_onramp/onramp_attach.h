/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Have On-Ramp follow a flow
 */
#ifndef _SCH_ONRAMP_ATTACH_H
#define _SCH_ONRAMP_ATTACH_H

#include "onramp.h"

struct onramp_fwd_entry;

void onramp_attach(struct Qdisc *sch, struct onramp_flow *f, struct sk_buff *skb);
void onramp_attach_forwarded(struct Qdisc *sch, struct onramp_flow *f, struct sk_buff *skb,
			     struct onramp_fwd_entry *e);

#endif /* _SCH_ONRAMP_ATTACH_H */
