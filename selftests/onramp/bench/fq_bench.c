// SPDX-License-Identifier: GPL-2.0
/*
 * fq_bench: the kernel's fq as a module, for a fair comparison
 *
 * The lab's kernel has fq built in. This is the same fq, compiled as onramp is. It has as
 * many buckets as the others are given, since tc knows no options of a qdisc of this name.
 */
#include <linux/log2.h>
#include <linux/string.h>
#include <net/pkt_sched.h>

static int fq_bench_register(struct Qdisc_ops *ops)
{
	strscpy(ops->id, "fq_bench", sizeof(ops->id));
	return register_qdisc(ops);
}

#undef ilog2
#define ilog2(n)		18
#define register_qdisc		fq_bench_register

#include "sch_fq.c"
