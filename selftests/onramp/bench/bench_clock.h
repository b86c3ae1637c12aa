/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What benchmarks of the lab measure with: CPU time and random numbers.
 *
 * In user-mode Linux the clock is the CPU time of this thread, so other work of the machine does
 * not matter. Elsewhere it is the kernel's, which counts instructions in a VM with icount.
 */
#ifndef _BENCH_CLOCK_H
#define _BENCH_CLOCK_H

#include <linux/ktime.h>
#include <linux/types.h>

#ifdef CONFIG_UML
/*
 * The kernel is a process, and virtual time stands still while it computes: ask the
 * real machine. CLOCK_THREAD_CPUTIME_ID.
 */
static u64 bench_clock(void)
{
	struct { long s; long ns; } t = { 0, 0 };
	long ret;

	asm volatile("syscall" : "=a" (ret) : "0" (228L), "D" (3L), "S" (&t)
		     : "rcx", "r11", "memory");
	return ret ? 0 : t.s * 1000000000UL + t.ns;
}
#else
static u64 bench_clock(void)
{
	return ktime_get_ns();
}
#endif

static u64 bench_state;

/* Begin with the same random numbers, for each qdisc. */
static void bench_random_begin(void)
{
	bench_state = 88172645463325252ULL;
}

/* xorshift64* */
static u32 bench_random(u32 below)
{
	bench_state ^= bench_state >> 12;
	bench_state ^= bench_state << 25;
	bench_state ^= bench_state >> 27;
	return ((bench_state * 2685821657736338717ULL >> 32) * below) >> 32;
}

#endif /* _BENCH_CLOCK_H */
