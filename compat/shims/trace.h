/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events: 6.10, commit 2c92ca849fcc: __assign_str() takes the source from
 * the field's declaration. Use compat_assign_str() with the same source twice.
 */
#ifndef _ONRAMP_COMPAT_TRACE_H
#define _ONRAMP_COMPAT_TRACE_H

#ifdef COMPAT_ASSIGN_STR_HAS_ONE_ARG
#define compat_assign_str(dst, src)	__assign_str(dst)
#else
#define compat_assign_str(dst, src)	__assign_str(dst, src)
#endif

#endif /* _ONRAMP_COMPAT_TRACE_H */
