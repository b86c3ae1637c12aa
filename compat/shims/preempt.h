/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Preemption:
 *  - 5.11, commit 15115830c887: in_hardirq() for in_irq();
 *  - 6.1, commit 555bb4ccd1fe: preempt_disable_nested(), for sections where a lock has disabled
 *    preemption unless it sleeps, as with PREEMPT_RT.
 */
#ifndef _ONRAMP_COMPAT_PREEMPT_H
#define _ONRAMP_COMPAT_PREEMPT_H

#ifndef COMPAT_HAS_IN_HARDIRQ
#define in_hardirq()		in_irq()
#endif

#ifndef COMPAT_HAS_PREEMPT_DISABLE_NESTED
#define preempt_disable_nested() do {					\
	if (IS_ENABLED(CONFIG_PREEMPT_RT))				\
		preempt_disable();					\
	else								\
		lockdep_assert_preemption_disabled();			\
} while (0)
#define preempt_enable_nested() do {					\
	if (IS_ENABLED(CONFIG_PREEMPT_RT))				\
		preempt_enable();					\
} while (0)
#endif

#endif /* _ONRAMP_COMPAT_PREEMPT_H */
