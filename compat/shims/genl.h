/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic netlink:
 *  - 6.1, commit 45dca1575964: GENL_REQ_ATTR_CHECK(), whose answer names the missing attribute;
 *  - 6.7, commit 44ec98ea5ea9, and in later stable releases: GENL_MCAST_CAP_NET_ADMIN for
 *    GENL_UNS_ADMIN_PERM, which a multicast group shared with operations;
 *  - 6.6: a dump has a genl_info, which has the attributes of its request.
 *    Use compat_genl_dump_attrs() for those.
 */
#ifndef _ONRAMP_COMPAT_GENL_H
#define _ONRAMP_COMPAT_GENL_H

#ifdef COMPAT_HAS_GENL_INFO_DUMP
#define compat_genl_dump_attrs(cb)	(genl_info_dump(cb)->attrs)
#else
#define compat_genl_dump_attrs(cb)	(genl_dumpit_info(cb)->attrs)
#endif

#ifndef COMPAT_HAS_GENL_REQ_ATTR_CHECK
#define GENL_REQ_ATTR_CHECK(info, attr)	(!(info)->attrs[attr])
#endif

#ifndef COMPAT_HAS_GENL_MCAST_CAP_NET_ADMIN
#define GENL_MCAST_CAP_NET_ADMIN	GENL_UNS_ADMIN_PERM
#endif

#endif /* _ONRAMP_COMPAT_GENL_H */
