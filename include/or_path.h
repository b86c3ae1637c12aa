/* SPDX-License-Identifier: GPL-2.0 */
/*
 * or_path: what all users know of the RTTs of empty paths, kept for as long as their routes.
 *
 *	a host or a connection begins	or_path_rtt()
 *	an RTT that may be the lowest	or_path_tell()
 *
 * A path leads from a local address by a device to a remote one. include/or_path_core.h has the
 * rules by which a value is kept and replaced, or_port/or_path.c the table.
 */
#ifndef _OR_PATH_H
#define _OR_PATH_H

#include <or_path_core.h>
#include <or_port.h>

u32 or_path_rtt(const struct net *net, const struct or_addrs *addrs, int ifindex,
		enum or_path_kind kind);
void or_path_tell(const struct net *net, const struct or_addrs *addrs, int ifindex,
		  enum or_path_kind kind, u64 rtt_ns, enum or_path_how how);

#endif /* _OR_PATH_H */
