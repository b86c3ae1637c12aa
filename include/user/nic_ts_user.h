/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What nic_ts_types.h and the pure headers of nic_ts use besides core_user.h, for userspace
 * builds (unit tests, fuzzer).
 */
#ifndef _NIC_TS_USER_H
#define _NIC_TS_USER_H

#include <arpa/inet.h>
#include <linux/types.h>
#include <string.h>
#include <sys/socket.h>

#include "core_user.h"

#ifndef __always_inline
#define __always_inline	inline __attribute__((always_inline))
#endif

#endif /* _NIC_TS_USER_H */
