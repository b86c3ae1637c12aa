/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The device of a route:
 *  - 6.17, commit 88fe14253e18: dst_dev();
 *  - 6.18, commit caedcc5b6df1: dst_dev_rcu(), for callers under rcu_read_lock().
 */
#ifndef _ONRAMP_COMPAT_DST_DEV_H
#define _ONRAMP_COMPAT_DST_DEV_H

#ifndef COMPAT_HAS_DST_DEV
#define dst_dev(dst)		READ_ONCE((dst)->dev)
#endif

#ifndef COMPAT_HAS_DST_DEV_RCU
/* With lockdep, a caller outside of RCU is reported, as it is where the kernel has this. */
#define dst_dev_rcu(dst) ({							\
	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "dst_dev_rcu() without RCU");	\
	dst_dev(dst);								\
})
#endif

#endif /* _ONRAMP_COMPAT_DST_DEV_H */
