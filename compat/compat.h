/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included before everything else in every file of every module, so that the
 * modules are written against the newest kernel's interfaces only.
 *
 * COMPAT_* flags are found by compat/probe in the target's headers; nothing
 * asks for a version number, since distributions backport. One file for each
 * interface, so that dropping an old kernel means deleting files.
 */
#ifndef _ONRAMP_COMPAT_H
#define _ONRAMP_COMPAT_H

#ifndef COMPAT_HAS_GENL_SMALL_OPS
#error "onramp needs Linux 5.10 or newer"
#endif

/* Assembler files are given the flags, but no C. stub.c also builds where a shim does not. */
#if !defined(__ASSEMBLY__) && !defined(ONRAMP_STUB)
#include "shims/counted_by.h"
#include "shims/tcp_ca.h"
#include "shims/sysctl.h"
#include "shims/timer.h"
#include "shims/dst_dev.h"
#include "shims/coalesce.h"
#include "shims/genl.h"
#include "shims/trace.h"
#include "shims/hwtstamp.h"
#include "shims/memcg.h"
#include "shims/preempt.h"
#include "shims/qdisc.h"
#include "shims/rbtree.h"
#include "shims/rtnl.h"
#include "shims/snapshot.h"
#include "shims/sock.h"
#include "shims/sockaddr.h"
#include "shims/tcp_hash.h"
#include "shims/udp_tunnel.h"
#include "shims/uninitialized.h"
#include "shims/workqueue.h"
#endif

#endif /* _ONRAMP_COMPAT_H */
