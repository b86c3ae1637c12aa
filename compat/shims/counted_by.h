/* SPDX-License-Identifier: GPL-2.0 */
/*
 * __counted_by(): 6.6, commit dd06e72e68bc, and in later stable releases of 6.1. The compiler
 * includes its header before all others.
 */
#ifndef _ONRAMP_COMPAT_COUNTED_BY_H
#define _ONRAMP_COMPAT_COUNTED_BY_H

#ifndef __counted_by
#define __counted_by(member)
#endif

#endif /* _ONRAMP_COMPAT_COUNTED_BY_H */
