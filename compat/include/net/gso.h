/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Found only where the kernel has no such header of its own: skb_gso_segment() moved to it
 * from linux/netdevice.h with 6.5.
 */
#include <linux/netdevice.h>
