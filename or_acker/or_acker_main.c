// SPDX-License-Identifier: GPL-2.0
/*
 * or_acker: the receiver of On-Ramp, which tells senders when packets arrived
 *
 *	NIC -> driver -> (stamp: nic_ts) -> GRO -> TCP
 *	                     |
 *	                     v
 *	SUBSCRIBE -> or_port -> flows of subscribers -> OR-ACK -> or_port -> sender
 *
 * After "On-Ramp" (Liu et al., "Breaking the Transience-Equilibrium Nexus", NSDI
 * 2021), sections 3.1 and 4.1. An OR-ACK is a UDP packet with the 5-tuple, the sequence
 * number and the receive time, before GRO, of a packet of data. It has the priority of the
 * data. There is one for about ten packets in the paper, and for 32 here.
 *
 * Differences from the paper:
 *  - only subscribers get OR-ACKs, so that hosts without On-Ramp get no datagrams;
 *    net.or_acker.mode=all is the paper's way
 *  - OR-ACKs are signed, limited in rate, and never have more bytes than what they
 *    acknowledge
 *  - they also go out after ack_bytes and ack_delay_ns, for bursts of a few packets. The end
 *    of a sender's data gets none if the sender knows the path: nothing is left to pause
 *  - any driver will do, not one that was modified
 *
 * or_acker_flow.c has the path of packets, or_acker_sub.c the subscribers, or_acker_genl.c shows
 * them, or_acker_net.c has all else; Documentation/or_acker.md the rest.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kmod.h>
#include <linux/module.h>

#include <onramp_version.h>

#include "or_acker.h"

#define CREATE_TRACE_POINTS
#include "or_acker_trace.h"

static const struct or_port_user or_acker_user = {
	.type	= OR_TYPE_SUBSCRIBE,
	.owner	= THIS_MODULE,
	.rcv	= or_acker_subscribe,
};

static int __init or_acker_init(void)
{
	int err;

	/*
	 * No soft dependency: modprobe -r would remove nic_ts as well, whoever loaded it, or
	 * complain that it is in use.
	 */
	if (!rcu_access_pointer(nic_ts_bus))
		request_module("nic_ts");
	err = or_acker_flow_init();
	if (err)
		return err;
	err = or_acker_net_register();
	if (err)
		goto flow_exit;
	err = or_port_register(&or_acker_user);
	if (err)
		goto net_unregister;
	or_acker_genl_init();
	return 0;

net_unregister:
	or_acker_net_unregister();
flow_exit:
	or_acker_flow_exit();
	return err;
}

static void __exit or_acker_exit(void)
{
	or_acker_genl_exit();
	or_port_unregister(&or_acker_user);
	or_acker_net_unregister();
	or_acker_flow_exit();
}

/* Built in, after or_port and nic_ts. */
late_initcall_sync(or_acker_init);
module_exit(or_acker_exit);

MODULE_DESCRIPTION("On-Ramp receiver: sends OR-ACKs");
MODULE_AUTHOR("The onramp authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(ONRAMP_VERSION);
