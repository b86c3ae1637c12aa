/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Preemption:
 *  - 5.11, commit 15115830c887: in_hardirq() for in_irq().
 */
#ifndef _ONRAMP_COMPAT_PREEMPT_H
#define _ONRAMP_COMPAT_PREEMPT_H

#ifndef COMPAT_HAS_IN_HARDIRQ
#define in_hardirq()		in_irq()
#endif

#endif /* _ONRAMP_COMPAT_PREEMPT_H */
