/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sysctl tables:
 *  - 6.6, commit 95d4977876a1: register_net_sysctl_sz(). Older kernels stop at
 *    an empty entry, so leave one behind the last in every table;
 *  - 6.11, commit 78eb4ea25cd5: a proc_handler is given a const table. Put
 *    COMPAT_PROC_HANDLER(fn) after it and assign compat_proc_handler(fn).
 */
#ifndef _ONRAMP_COMPAT_SYSCTL_H
#define _ONRAMP_COMPAT_SYSCTL_H

#ifndef COMPAT_HAS_REGISTER_NET_SYSCTL_SZ
#define register_net_sysctl_sz(net, path, table, size) \
	((void)(size), register_net_sysctl(net, path, table))
#endif

#ifdef COMPAT_PROC_HANDLER_IS_CONST

#define COMPAT_PROC_HANDLER(fn)		static_assert(true)
#define compat_proc_handler(fn)		fn

#else

#define COMPAT_PROC_HANDLER(fn)						\
	static int fn##_compat(struct ctl_table *ctl, int write,	\
			       void *buffer, size_t *lenp, loff_t *ppos) \
	{								\
		return fn(ctl, write, buffer, lenp, ppos);		\
	}								\
	static_assert(true)
#define compat_proc_handler(fn)		fn##_compat

#endif

#endif /* _ONRAMP_COMPAT_SYSCTL_H */
