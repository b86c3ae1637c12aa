/* SPDX-License-Identifier: GPL-2.0 */
/*
 * __uninitialized: 6.9, "Compiler Attributes: Add __uninitialized macro", and in later stable
 * releases. Without it a variable is zeroed where the kernel was configured so.
 */
#ifndef _ONRAMP_COMPAT_UNINITIALIZED_H
#define _ONRAMP_COMPAT_UNINITIALIZED_H

#ifndef COMPAT_HAS_UNINITIALIZED
#define __uninitialized
#endif

#endif /* _ONRAMP_COMPAT_UNINITIALIZED_H */
