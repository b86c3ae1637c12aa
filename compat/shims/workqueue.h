/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The workqueue of work that runs on the CPU that queued it:
 *  - 6.17, commit 128ea9f6ccfb, and later releases of 6.12: system_percpu_wq for system_wq,
 *    whose users later kernels warn of.
 */
#ifndef _ONRAMP_COMPAT_WORKQUEUE_H
#define _ONRAMP_COMPAT_WORKQUEUE_H

#ifndef COMPAT_HAS_SYSTEM_PERCPU_WQ
#define system_percpu_wq	system_wq
#endif

#endif /* _ONRAMP_COMPAT_WORKQUEUE_H */
