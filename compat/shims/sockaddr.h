/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Addresses of sockets:
 *  - 6.19: kernel_bind() and its like are given a struct sockaddr_unsized.
 */
#ifndef _ONRAMP_COMPAT_SOCKADDR_H
#define _ONRAMP_COMPAT_SOCKADDR_H

#ifndef COMPAT_HAS_SOCKADDR_UNSIZED
#define sockaddr_unsized	sockaddr
#endif

#endif /* _ONRAMP_COMPAT_SOCKADDR_H */
