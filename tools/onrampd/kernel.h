/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel knows of paths, and what it is told: the generic netlink family "onramp". */
#ifndef ONRAMPD_KERNEL_H
#define ONRAMPD_KERNEL_H

#include "cluster.h"

struct kernel;

struct kernel *kernel_open(void);
void kernel_close(struct kernel *k);
int kernel_events_fd(const struct kernel *k);
bool kernel_events(struct kernel *k);
int kernel_read(struct kernel *k, struct cluster *c);
int kernel_seed(struct kernel *k, const struct cluster_path *path,
		const struct cluster_seed *seed, int64_t now_ns, int64_t left_ns);

#endif /* ONRAMPD_KERNEL_H */
