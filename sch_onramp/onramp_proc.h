/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /proc/net/onramp_peers
 */
#ifndef _SCH_ONRAMP_PROC_H
#define _SCH_ONRAMP_PROC_H

struct seq_file;

int onramp_peers_show(struct seq_file *seq, void *v);

#endif /* _SCH_ONRAMP_PROC_H */
