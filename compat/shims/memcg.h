/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that is charged to another cgroup than that of the current task:
 *  - 5.13, commit c74d40e8b5e2: modules may use set_active_memcg() and cgroup_get_e_css(), so
 *    compat_active_memcg is 1. Before, nobody is charged.
 */
#ifndef _ONRAMP_COMPAT_MEMCG_H
#define _ONRAMP_COMPAT_MEMCG_H

#if defined(COMPAT_EXPORTS_INT_ACTIVE_MEMCG) && defined(COMPAT_EXPORTS_CGROUP_GET_E_CSS)
#define compat_active_memcg	1
#else
#define compat_active_memcg	0
#endif

#endif /* _ONRAMP_COMPAT_MEMCG_H */
