/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /proc/net/onramp_peers
 */
#ifndef _SCH_ONRAMP_PROC_H
#define _SCH_ONRAMP_PROC_H

#include <linux/rhashtable-types.h>
#include <linux/seq_file_net.h>

/* struct onramp_peers_iter - how far the file has been read */
struct onramp_peers_iter {
	struct seq_net_private p;
	struct rhashtable_iter rht;
};

extern const struct seq_operations onramp_peers_ops;

#endif /* _SCH_ONRAMP_PROC_H */
