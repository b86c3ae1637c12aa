/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Found only where the kernel has no such header of its own: it was
 * <asm/unaligned.h> before 6.12, commit 5f60d5f6bbc1.
 */
#include <asm/unaligned.h>
