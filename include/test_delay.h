/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Delays for tests, where code goes on to use an object that is no longer in any table or list, or
 * a namespace that may be going. Code that frees it has to wait for these places.
 *
 * Nothing in modules as they are installed: the builds of `make kselftest-debug` and of some
 * mutants define ONRAMP_TEST_DELAYS.
 */
#ifndef _TEST_DELAY_H
#define _TEST_DELAY_H

#ifdef ONRAMP_TEST_DELAYS
#include <linux/delay.h>
#include <linux/random.h>

/* A namespace goes in less, ms. */
#define TEST_DELAY_MS		1000

/* test_delay() - sleep; process context */
static inline void test_delay(void)
{
	msleep(TEST_DELAY_MS);
}

/* test_delay_atomic() - spin for a millisecond, once in 64 calls; any context */
static inline void test_delay_atomic(void)
{
	if (!(get_random_u32() & 63))
		mdelay(1);
}
#else
static inline void test_delay(void)
{
}

static inline void test_delay_atomic(void)
{
}
#endif

#endif /* _TEST_DELAY_H */
