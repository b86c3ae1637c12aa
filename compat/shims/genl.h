/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic netlink:
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

#endif /* _ONRAMP_COMPAT_GENL_H */
