// SPDX-License-Identifier: GPL-2.0
/*
 * fq_bench: the kernel's fq as a module, for a fair comparison
 *
 * The lab's kernel has fq built in. This is the same fq, compiled as onramp is. It has as
 * many buckets as the others are given, since tc knows no options of a qdisc of this name.
 *
 *	echo N >/sys/module/fq_bench/parameters/orphans		orphan_mask N - 1, of new qdiscs
 */
#include <linux/log2.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <net/pkt_sched.h>

/* Flows of packets without a socket, a power of two; fq has 1,024 of itself. */
static unsigned int orphans = 1024;
module_param(orphans, uint, 0644);
MODULE_PARM_DESC(orphans, "flows of packets without a socket, a power of two (1024)");

static int fq_bench_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack);

static int fq_bench_register(struct Qdisc_ops *ops)
{
	ops->init = fq_bench_init;
	strscpy(ops->id, "fq_bench", sizeof(ops->id));
	return register_qdisc(ops);
}

#undef ilog2
#define ilog2(n)		18
#define register_qdisc		fq_bench_register

#include "sch_fq.c"

static int fq_bench_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct fq_sched_data *q = qdisc_priv(sch);
	int err = fq_init(sch, opt, extack);

	q->orphan_mask = orphans - 1;
	return err;
}
