/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Found only where the kernel has no such header of its own: hex2bin() moved to it
 * from linux/kernel.h with 6.4.
 */
#include <linux/kernel.h>
