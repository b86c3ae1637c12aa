/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters that each CPU counts for itself with this_cpu_inc(), and that are read as sums.
 */
#ifndef _PERCPU_SUM_H
#define _PERCPU_SUM_H

#include <linux/cpumask.h>
#include <linux/percpu.h>

/**
 * percpu_sum() - return the value of a counter, over all CPUs
 * @cnt: the counter
 *
 * Context: any. Events of this moment may be missing.
 */
static inline unsigned long percpu_sum(const unsigned long __percpu *cnt)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(cnt, cpu));
	return sum;
}

#endif /* _PERCPU_SUM_H */
