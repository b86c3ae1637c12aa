/* SPDX-License-Identifier: GPL-2.0 */
/* Attributes of netlink. */
#ifndef TOOLS_ATTR_H
#define TOOLS_ATTR_H

#include <netlink/attr.h>
#include <stdint.h>

/**
 * attr_number() - return the number of an attribute that may be absent
 * @a:		attribute of 1, 2, 4 or 8 bytes, or NULL
 * @other:	for one that is absent, or has another length
 */
static inline uint64_t attr_number(struct nlattr *a, uint64_t other)
{
	switch (a ? nla_len(a) : 0) {
	case 1:
		return nla_get_u8(a);
	case 2:
		return nla_get_u16(a);
	case 4:
		return nla_get_u32(a);
	case 8:
		return nla_get_u64(a);
	default:
		return other;
	}
}

#endif /* TOOLS_ATTR_H */
