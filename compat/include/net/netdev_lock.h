/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Found only where the kernel has no such header of its own: it came with 6.15,
 * when drivers began to be called under a lock of their device's.
 */
